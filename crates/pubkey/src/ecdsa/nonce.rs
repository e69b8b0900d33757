//! The nonces of signatures: RFC 6979, section 3.2, and hedged by random bytes, section 3.6.

use alloc::{vec, vec::Vec};

use lanelock_digest::{
    HmacKey, Levels,
    algorithm::{Algorithm, Bytes},
};
use zeroize::Zeroizing;

use crate::{
    Error, Hash,
    curve::{
        Curve,
        key::{below, bytes, is_scalar, number_of_bits},
    },
};

/// What a nonce is made of.
pub(super) struct Source<'a, C: Curve> {
    pub(super) key: &'a C::Number,
    /// The number of the digest, of as many bits as the order has.
    pub(super) digest: &'a C::Number,
    /// Random bytes, or none.
    pub(super) random: &'a [u8],
    /// How many nonces have led to no signature.
    pub(super) rejected: usize,
}

impl<C: Curve> Source<'_, C> {
    /// The nonce, from 1 to n - 1.
    pub(super) fn nonce(&self, hash: Hash) -> Result<Zeroizing<C::Number>, Error> {
        use lanelock_digest::algorithm::{Sha1, Sha224, Sha256, Sha384, Sha512};
        let levels = Levels::best()?;
        Ok(match hash {
            Hash::Sha1 => self.with::<Sha1>(levels),
            Hash::Sha224 => self.with::<Sha224>(levels),
            Hash::Sha256 => self.with::<Sha256>(levels),
            Hash::Sha384 => self.with::<Sha384>(levels),
            Hash::Sha512 => self.with::<Sha512>(levels),
        })
    }

    fn with<A: Algorithm>(&self, levels: Levels) -> Zeroizing<C::Number> {
        let mut digest = *self.digest;
        if !below(&digest, &C::ORDER) {
            subtract(digest.as_mut(), C::ORDER.as_ref());
        }
        let key = Zeroizing::new(bytes::<C>(self.key));
        let seed = Zeroizing::new([&key[..], &bytes::<C>(&digest)[..], self.random].concat());
        let mut generator = Generator::<A>::new(levels, &seed);
        let mut left = self.rejected;
        loop {
            let bytes = generator.bytes(C::BYTES);
            let nonce = Zeroizing::new(number_of_bits::<C>(&bytes));
            if is_scalar::<C>(&nonce) {
                if left == 0 {
                    return nonce;
                }
                left -= 1;
            }
            generator.update(&[]);
        }
    }
}

/// `HMAC_DRBG` as RFC 6979 has it.
struct Generator<A: Algorithm> {
    levels: Levels,
    key: HmacKey<A>,
    v: Zeroizing<Vec<u8>>,
}

impl<A: Algorithm> Generator<A> {
    fn new(levels: Levels, seed: &[u8]) -> Self {
        let length = A::Digest::ZERO.as_ref().len();
        let key = HmacKey::with_levels(levels, &vec![0; length]);
        let mut generator = Self { levels, key, v: Zeroizing::new(vec![1; length]) };
        generator.mix(0, seed);
        generator.mix(1, seed);
        generator
    }

    /// Steps d and e, or f and g; and those after a number that was refused.
    fn mix(&mut self, step: u8, seed: &[u8]) {
        let mut hmac = self.key.start();
        hmac.update(&self.v);
        hmac.update(&[step]);
        hmac.update(seed);
        let key = Zeroizing::new(hmac.finish().as_ref().to_vec());
        self.key = HmacKey::with_levels(self.levels, &key);
        self.next();
    }

    fn update(&mut self, seed: &[u8]) {
        self.mix(0, seed);
    }

    fn next(&mut self) {
        let v = self.key.tag(&self.v);
        self.v.copy_from_slice(v.as_ref());
    }

    /// As many bytes, or more.
    fn bytes(&mut self, count: usize) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(count + self.v.len()));
        while bytes.len() < count {
            self.next();
            bytes.extend(self.v.iter());
        }
        bytes
    }
}

/// `a` -= `b`, which is not above.
fn subtract(a: &mut [u64], b: &[u64]) {
    let mut borrow = 0;
    for (a, b) in a.iter_mut().zip(b) {
        let digit = a.wrapping_sub(*b).wrapping_sub(borrow);
        borrow = digit >> 63;
        *a = digit & ((1 << 52) - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_borrow_goes_on() {
        let mut difference = [0, 0, 5];
        subtract(&mut difference, &[1, 0, 2]);
        assert_eq!(difference, [(1 << 52) - 1, (1 << 52) - 1, 2]);
    }
}
