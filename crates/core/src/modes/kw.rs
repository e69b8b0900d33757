//! Key wrap: KW and KWP (NIST SP 800-38F; RFC 3394, RFC 5649).
//!
//! W (SP 800-38F, 6.1) keeps a check value A and the halves R_1 to R_n of the key. Six times over
//! all i: B = E(K, A || R_i); A = t ^ the first half of B, with t = 1, 2, ... the number of the
//! step; R_i = the second half of B. Every step needs the A of the one before: one block at a time. A stays
//! in a register, since a block whose halves were just stored would have to wait for both.

use alloc::{vec, vec::Vec};

use lanelock_isa::{AesClmul, AesLevel, Blocks as _, Kernel, StackDepth, wipe};
use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater, ConstantTimeLess};
use zeroize::Zeroizing;

use crate::{
    Error,
    cipher::{Cipher, Key, SameKey, Schedule, SizedCipher},
    key_object,
    public::{self, verdict},
    set_up::SetUp,
};

/// The check value of KW (RFC 3394, 2.2.3.1).
const CHECK: [u8; 8] = [0xa6; 8];

/// The start of the check value of KWP; the length follows (RFC 5649, 3).
const CHECK_PADDED: [u8; 4] = [0xa6, 0x59, 0x59, 0xa6];

/// A key that wraps keys (NIST SP 800-38F): [`Aes128KeyWrap`](crate::Aes128KeyWrap),
/// [`Aes192KeyWrap`](crate::Aes192KeyWrap), [`Aes256KeyWrap`](crate::Aes256KeyWrap). Zeroised on drop.
///
/// - KW (RFC 3394): [`wrap`](Self::wrap) takes at least 16 bytes, a multiple of 8, and adds 8.
/// - KWP (RFC 5649): [`wrap_padded`](Self::wrap_padded) takes 1 to 2^32 - 1 bytes; the result is the
///   next multiple of 8, and 8 more.
///
/// Both are deterministic and authenticated: what does not unwrap is an error, and nothing of it comes
/// out.
///
/// ```
/// use lanelock::Aes256KeyWrap;
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes256KeyWrap::new(&[7; 32])?;
/// let wrapped = key.wrap(&[1; 16])?;
/// assert_eq!(wrapped.len(), 16 + 8);
/// assert_eq!(*key.unwrap(&wrapped)?, [1; 16]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KeyWrap<C: SizedCipher>(Key<C>);

key_object!(KeyWrap, "KeyWrap", 0);

impl<C: SizedCipher> SetUp for KeyWrap<C> {
    const DEPTH: StackDepth = Key::<C>::DEPTH;

    const NONE: Self = Self(Key::NONE);

    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.0.set(key, level);
    }
}

impl<C: SizedCipher> KeyWrap<C> {
    /// Wraps `key` with KW.
    ///
    /// # Errors
    /// [`Error::MessageLength`] unless it has at least 16 bytes, a multiple of 8.
    pub fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, Error> {
        let mut wrapped = vec![0; key.len() + 8];
        self.wrap_to(key, &mut wrapped)?;
        Ok(wrapped)
    }

    /// Wraps `key` with KW into `wrapped`.
    ///
    /// # Errors
    /// As [`wrap`](Self::wrap), and [`Error::OutputLength`] if `wrapped` has not 8 bytes more.
    pub fn wrap_to(&self, key: &[u8], wrapped: &mut [u8]) -> Result<(), Error> {
        if key.len() < 16 || !key.len().is_multiple_of(8) {
            return Err(Error::MessageLength);
        }
        if wrapped.len() != key.len() + 8 {
            return Err(Error::OutputLength);
        }
        wrapped[..8].copy_from_slice(&CHECK);
        wrapped[8..].copy_from_slice(key);
        self.forwards(wrapped);
        Ok(())
    }

    /// Unwraps a key that KW has wrapped, into memory that is zeroised on drop.
    ///
    /// # Errors
    /// [`Error::MessageLength`] unless `wrapped` has at least 24 bytes, a multiple of 8;
    /// [`Error::Authentication`] if it is not what this key has wrapped.
    pub fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let (check, key) = wrapped_parts(wrapped)?;
        let mut key = Zeroizing::new(key.to_vec());
        self.recover(*check, &mut key)?;
        Ok(key)
    }

    /// Unwraps a key that KW has wrapped into `key`, which the caller zeroises.
    ///
    /// # Errors
    /// As [`unwrap`](Self::unwrap), and [`Error::OutputLength`] if `key` has not 8 bytes less. `key` is zero if what was
    /// wrapped is not authentic.
    pub fn unwrap_to(&self, wrapped: &[u8], key: &mut [u8]) -> Result<(), Error> {
        let (check, rest) = wrapped_parts(wrapped)?;
        if key.len() != rest.len() {
            return Err(Error::OutputLength);
        }
        key.copy_from_slice(rest);
        self.recover(*check, key)
    }

    /// Wraps `key` with KWP.
    ///
    /// # Errors
    /// [`Error::MessageLength`] unless it has 1 to 2^32 - 1 bytes.
    pub fn wrap_padded(&self, key: &[u8]) -> Result<Vec<u8>, Error> {
        let mut wrapped = vec![0; key.len().next_multiple_of(8) + 8];
        self.wrap_padded_to(key, &mut wrapped)?;
        Ok(wrapped)
    }

    /// Wraps `key` with KWP into `wrapped`.
    ///
    /// # Errors
    /// As [`wrap_padded`](Self::wrap_padded), and [`Error::OutputLength`] if `wrapped` has not the next
    /// multiple of 8 bytes, and 8 more.
    pub fn wrap_padded_to(&self, key: &[u8], wrapped: &mut [u8]) -> Result<(), Error> {
        let Ok(length @ 1..) = u32::try_from(key.len()) else {
            return Err(Error::MessageLength);
        };
        if wrapped.len() != key.len().next_multiple_of(8) + 8 {
            return Err(Error::OutputLength);
        }
        wrapped[..4].copy_from_slice(&CHECK_PADDED);
        wrapped[4..8].copy_from_slice(&length.to_be_bytes());
        wrapped[8..8 + key.len()].copy_from_slice(key);
        wrapped[8 + key.len()..].fill(0);
        match wrapped.first_chunk_mut::<16>() {
            Some(block) if key.len() <= 8 => self.0.encrypt_block(block),
            _ => self.forwards(wrapped),
        }
        Ok(())
    }

    /// Unwraps a key that KWP has wrapped, into memory that is zeroised on drop.
    ///
    /// # Errors
    /// [`Error::MessageLength`] unless `wrapped` has at least 16 bytes, a multiple of 8;
    /// [`Error::Authentication`] if it is not what this key has wrapped.
    pub fn unwrap_padded(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        if wrapped.len() < 16 || !wrapped.len().is_multiple_of(8) {
            return Err(Error::MessageLength);
        }
        let mut state = Zeroizing::new(wrapped.to_vec());
        match state.first_chunk_mut::<16>() {
            Some(block) if wrapped.len() == 16 => self.0.decrypt_block(block),
            _ => {
                if let Some((check, key)) = state.split_first_chunk_mut() {
                    self.backwards(check, key);
                }
            }
        }
        // Nobody is told whether check value, length or padding is wrong, not by the time either.
        let length = state[4..8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        // Up to seven bytes of padding, all zero. For a length beyond the key it is a very large number.
        let padding = (state.len() as u64 - 8).wrapping_sub(length);
        let not_zero = state.iter().rev().zip(0..7).fold(0, |sum, (byte, behind)| {
            sum | u8::conditional_select(&0, byte, padding.ct_gt(&behind))
        });
        let right = state[..4].ct_eq(&CHECK_PADDED) & padding.ct_lt(&8) & not_zero.ct_eq(&0);
        if verdict(right) {
            #[expect(clippy::cast_possible_truncation, reason = "no longer than the wrapped key")]
            let length = public::length(length as usize);
            Ok(Zeroizing::new(state[8..][..length].to_vec()))
        } else {
            Err(Error::Authentication)
        }
    }

    /// Unwraps what stands in `key` behind its check value. Zero if that is wrong.
    fn recover(&self, mut check: [u8; 8], key: &mut [u8]) -> Result<(), Error> {
        self.backwards(&mut check, key);
        if verdict(check.ct_eq(&CHECK)) {
            Ok(())
        } else {
            wipe(key);
            Err(Error::Authentication)
        }
    }

    /// The wrapping function W (SP 800-38F, 6.1) on check value and key.
    fn forwards(&self, state: &mut [u8]) {
        let keys = self.0.encrypt_keys();
        if let Some((check, key)) = state.split_first_chunk_mut() {
            self.level().run(Steps::<_, true> { keys, check, key });
        }
    }

    /// The inverse of [`forwards`](Self::forwards) (SP 800-38F, 6.1).
    fn backwards(&self, check: &mut [u8; 8], key: &mut [u8]) {
        let keys = self.0.decrypt_keys();
        self.level().run(Steps::<_, false> { keys, check, key });
    }
}

/// Check value and key of what KW has wrapped: 24 bytes or more, a multiple of 8.
fn wrapped_parts(wrapped: &[u8]) -> Result<(&[u8; 8], &[u8]), Error> {
    match wrapped.split_first_chunk() {
        Some(parts) if wrapped.len() >= 24 && wrapped.len().is_multiple_of(8) => Ok(parts),
        _ => Err(Error::MessageLength),
    }
}

/// All steps of W, or of its inverse.
struct Steps<'a, C: Cipher, const FORWARDS: bool> {
    keys: Schedule<'a, C>,
    check: &'a mut [u8; 8],
    key: &'a mut [u8],
}

impl<C: Cipher, const FORWARDS: bool> Kernel for Steps<'_, C, FORWARDS> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let s = s.narrow();
        let keys = SameKey::new(s, self.keys);
        let (check, (key, _)) = (self.check, self.key.as_chunks_mut::<8>());
        let mut block = [[0; 16]];
        // A, and zeros in the other half.
        let mut a = s.splat_halves(u64::from_le_bytes(*check), 0);
        let steps = 6 * key.len() as u64;
        let mut number = if FORWARDS { 1 } else { steps };
        for _ in 0..6 {
            for i in 0..key.len() {
                let i = if FORWARDS { i } else { key.len() - 1 - i };
                // A waits for the block before, R_i and t are there: all of them that the cipher's ends
                // can take along is joined with the keys there.
                let r = u64::from_le_bytes(key[i]);
                let b = if FORWARDS {
                    let t = s.splat_halves(number.swap_bytes(), 0);
                    let early = C::whiten(s, s.splat_halves(0, r), keys, 0);
                    let [begun] = C::begin::<_, 1>(s, [s.xor(a, early)], keys);
                    C::end(s, begun, C::join(s, t, keys, 0), keys, 0)
                } else {
                    let early = C::whiten(s, s.splat_halves(number.swap_bytes(), r), keys, 0);
                    let [begun] = C::begin_decrypt::<_, 1>(s, [s.xor(a, early)], keys);
                    C::end_decrypt(s, begun, C::join(s, s.zero(), keys, 0), keys, 0)
                };
                s.store(b, &mut block);
                key[i].copy_from_slice(&block[0][8..]);
                a = s.bytes_down::<8>(s.bytes_up::<8>(b));
                number = if FORWARDS { number + 1 } else { number - 1 };
            }
        }
        s.store(a, &mut block);
        check.copy_from_slice(&block[0][..8]);
        wipe(block.as_flattened_mut());
    }
}
