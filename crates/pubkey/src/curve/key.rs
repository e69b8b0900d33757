//! Keys of curves as numbers, as bytes and in SEC 1's form: what signatures and agreements have in common.

use alloc::{vec, vec::Vec};
use core::fmt;
use std::sync::OnceLock;

use lanelock_core::parts::passed;
use lanelock_isa::LimbLevel;
use zeroize::{Zeroize, Zeroizing};

use super::{Curve, Job, Work, run};
use crate::{
    Error, Random,
    digits::{digits_from_bytes, digits_to_bytes},
    secret::Secret,
};

/// A number of big-endian bytes, of which there are [`Curve::BYTES`].
pub(crate) fn number<C: Curve>(what: &'static str, bytes: &[u8]) -> Result<C::Number, Error> {
    if bytes.len() != C::BYTES {
        return Err(Error::Length { what, got: bytes.len(), expected: C::BYTES });
    }
    let mut number = C::ZERO;
    digits_from_bytes(bytes, number.as_mut());
    Ok(number)
}

/// The number as [`Curve::BYTES`] big-endian bytes.
pub(crate) fn bytes<C: Curve>(number: &C::Number) -> Vec<u8> {
    let mut bytes = vec![0; C::BYTES];
    digits_to_bytes(number.as_ref(), &mut bytes);
    bytes
}

/// Whether `a` < `b`, in a time that does not depend on them.
pub(crate) fn below<N: AsRef<[u64]>>(a: &N, b: &N) -> bool {
    borrow(a, b) == 1
}

/// 1 where `a` < `b`, else 0.
fn borrow<N: AsRef<[u64]>>(a: &N, b: &N) -> u64 {
    let mut borrow = 0;
    for (a, b) in a.as_ref().iter().zip(b.as_ref()) {
        borrow = a.wrapping_sub(*b).wrapping_sub(borrow) >> 63;
    }
    borrow
}

/// Whether 0 < `number` < n, in a time that does not depend on it.
pub(crate) fn is_scalar<C: Curve>(number: &C::Number) -> bool {
    let any = number.as_ref().iter().fold(0, |any, digit| any | digit);
    passed(((any | any.wrapping_neg()) >> 63) & borrow(number, &C::ORDER))
}

/// The number of the first bits of `bytes`, as many as the order has: `bits2int` of RFC 6979, section 2.3.2.
pub(crate) fn number_of_bits<C: Curve>(bytes: &[u8]) -> C::Number {
    let mut number = C::ZERO;
    let digits = number.as_mut();
    if let Some(bytes) = bytes.get(..C::BYTES) {
        digits_from_bytes(bytes, digits);
        let shift = 8 * C::BYTES - C::BITS;
        for j in 0..digits.len() {
            let next = digits.get(j + 1).copied().unwrap_or(0);
            digits[j] = (digits[j] | next << 52) >> shift & ((1 << 52) - 1);
        }
    } else {
        digits_from_bytes(bytes, digits);
    }
    number
}

/// A point of the curve, not infinite.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PublicPoint<C: Curve>(pub(crate) [C::Number; 2]);

impl<C: Curve> PublicPoint<C> {
    /// The point of these bytes: SEC 1, 2.3.4, with or without compression.
    pub(crate) fn from_sec1(bytes: &[u8]) -> Result<Self, Error> {
        const OFF: Error = Error::Key("the point is not on the curve");
        let (&tag, coordinates) = bytes.split_first().ok_or(Error::Key("no point"))?;
        let expected = match tag {
            2 | 3 => 1 + C::BYTES,
            4 => 1 + 2 * C::BYTES,
            0 => return Err(Error::Key("the point is infinite")),
            _ => return Err(Error::Key("a point of an unknown form")),
        };
        if bytes.len() != expected {
            return Err(Error::Length { what: "a point", got: bytes.len(), expected });
        }
        let coordinate = |bytes: &[u8]| {
            let coordinate = number::<C>("a coordinate", bytes)?;
            let below = below(&coordinate, &C::PRIME);
            below.then_some(coordinate).ok_or(Error::Key("a coordinate is not below the prime"))
        };
        let x = coordinate(&coordinates[..C::BYTES])?;
        if tag == 4 {
            let y = coordinate(&coordinates[C::BYTES..])?;
            C::on_curve([&x, &y]).then_some(Self([x, y])).ok_or(OFF)
        } else {
            Ok(Self([x, C::y_of(&x, tag == 3).ok_or(OFF)?]))
        }
    }

    /// The point without compression: SEC 1, 2.3.3.
    pub(crate) fn to_sec1(self) -> Vec<u8> {
        let mut sec1 = vec![4];
        sec1.extend(self.0.iter().flat_map(bytes::<C>));
        sec1
    }

    /// The point with compression.
    pub(crate) fn to_sec1_compressed(self) -> Vec<u8> {
        let mut sec1 = vec![2 + u8::from(self.0[1].as_ref()[0] & 1 == 1)];
        sec1.extend(bytes::<C>(&self.0[0]));
        sec1
    }
}

impl<C: Curve> fmt::Debug for PublicPoint<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", C::NAME)?;
        self.to_sec1().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// A private key: a scalar from 1 to n - 1, and its point once it has been asked for.
#[derive(Clone)]
pub(crate) struct PrivateScalar<C: Curve> {
    secret: Secret,
    public: OnceLock<PublicPoint<C>>,
    pub(crate) level: LimbLevel,
}

impl<C: Curve> PrivateScalar<C> {
    pub(crate) fn new(level: LimbLevel, number: &C::Number) -> Result<Self, Error> {
        if !is_scalar::<C>(number) {
            return Err(Error::Key("the private number is not from 1 to the order less 1"));
        }
        let secret = Zeroizing::new(number.as_ref().to_vec()).into();
        Ok(Self { secret, public: OnceLock::new(), level })
    }

    pub(crate) fn from_bytes(level: LimbLevel, bytes: &[u8]) -> Result<Self, Error> {
        Self::new(level, &Zeroizing::new(number::<C>("a private key", bytes)?))
    }

    /// A key of random bits: FIPS 186-5, A.2.2.
    pub(crate) fn generate(level: LimbLevel, random: &mut dyn Random) -> Result<Self, Error> {
        Self::new(level, &*random_scalar::<C>(random)?)
    }

    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(bytes::<C>(&*self.number()))
    }

    /// The number.
    pub(crate) fn number(&self) -> Zeroizing<C::Number> {
        let mut number = Zeroizing::new(C::ZERO);
        number.as_mut().copy_from_slice(&self.secret);
        number
    }

    /// The key in memory that is neither swapped out nor dumped.
    pub(crate) fn lock(&self) -> Result<Self, Error> {
        Ok(Self { secret: self.secret.lock()?, ..self.clone() })
    }

    pub(crate) fn public(&self) -> PublicPoint<C> {
        *self.public.get_or_init(|| {
            let mut jobs = [base_job::<C>(&self.number())];
            run::<C>(self.level, Work::Base, &mut jobs);
            let point = PublicPoint(jobs[0].point);
            jobs.zeroize();
            point
        })
    }

    /// Keys, with their points, which are computed side by side.
    pub(crate) fn generate_all(
        level: LimbLevel,
        count: usize,
        random: &mut dyn Random,
    ) -> Vec<Result<Self, Error>> {
        let keys: Vec<_> = (0..count).map(|_| Self::generate(level, random)).collect();
        let mut jobs: Vec<_> =
            keys.iter().flatten().map(|key| base_job::<C>(&key.number())).collect();
        run::<C>(level, Work::Base, &mut jobs);
        for (key, job) in keys.iter().flatten().zip(&jobs) {
            let _ = key.public.set(PublicPoint(job.point));
        }
        jobs.zeroize();
        keys
    }
}

/// Never the number.
impl<C: Curve> fmt::Debug for PrivateScalar<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "private key of {}", C::NAME)
    }
}

/// A multiplication of the base point.
pub(crate) fn base_job<C: Curve>(scalar: &C::Number) -> Job<C::Number> {
    Job { base: *scalar, scalar: C::ONE, point: [C::ZERO; 2], expected: C::ZERO, valid: false }
}

/// A number from 1 to n - 1: FIPS 186-5, A.2.2.
fn random_scalar<C: Curve>(random: &mut dyn Random) -> Result<Zeroizing<C::Number>, Error> {
    // Of the curves here one number in 2^32 or fewer are above the order; a source that gives 32 of these is broken.
    const TRIES: usize = 32;
    let mut bytes = Zeroizing::new(vec![0; C::BYTES]);
    for _ in 0..TRIES {
        random.fill(&mut bytes)?;
        let number = Zeroizing::new(number_of_bits::<C>(&bytes));
        if is_scalar::<C>(&number) {
            return Ok(number);
        }
    }
    Err(Error::Random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{P256, P521};

    #[test]
    fn first_bits() {
        let of = |first: &[u8]| bytes::<P521>(&number_of_bits::<P521>(first));
        let mut expected = vec![0; 66];
        expected[60..].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        assert_eq!(of(&[1, 2, 3, 4, 5, 6]), expected);
        // The first 521 bits of 528 and more.
        let ones = [0xff; 80];
        let mut expected = vec![0xff; 66];
        expected[0] = 1;
        assert_eq!(of(&ones), expected);
        assert_eq!(of(&ones[..66]), expected);
        assert_eq!(bytes::<P256>(&number_of_bits::<P256>(&ones)), vec![0xff; 32]);
    }

    /// A source of the same bytes again and again.
    struct Same(u8);

    impl rand_core::TryRng for Same {
        type Error = core::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("keys take bytes")
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            unreachable!("keys take bytes")
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            bytes.fill(self.0);
            Ok(())
        }
    }

    impl rand_core::TryCryptoRng for Same {}

    #[test]
    fn random_numbers_are_scalars() {
        assert_eq!(random_scalar::<P256>(&mut Same(0)).unwrap_err(), Error::Random);
        assert_eq!(random_scalar::<P256>(&mut Same(0xff)).unwrap_err(), Error::Random);
        let number = random_scalar::<P256>(&mut Same(7)).unwrap();
        assert_eq!(bytes::<P256>(&number), vec![7; 32]);
    }
}
