//! HKDF (RFC 5869): keys from a secret that is not uniform.

use lanelock_core::Error;
use lanelock_isa::LevelError;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    algorithm::{Algorithm, Bytes},
    hmac::HmacKey,
    levels::Levels,
};

/// A pseudorandom key, from which keys are derived. Zeroised on drop.
///
/// ```
/// use lanelock::hash::{Hkdf, algorithm::Sha256};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let secret = Hkdf::<Sha256>::extract(b"salt", &[7; 32])?;
/// let (mut key, mut iv) = ([0; 16], [0; 12]);
/// secret.expand(b"key", &mut key)?;
/// secret.expand(b"iv", &mut iv)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Hkdf<A: Algorithm>(HmacKey<A>);

impl<A: Algorithm> ZeroizeOnDrop for Hkdf<A> {}

impl<A: Algorithm> Hkdf<A> {
    /// The most bytes of output keying material.
    pub const MOST_BYTES: usize = 255 * size_of::<A::Digest>();

    /// HKDF-Extract (2.2): from input keying material, and a salt, which may be empty.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn extract(salt: &[u8], secret: &[u8]) -> Result<Self, LevelError> {
        Ok(Self::extract_with(Levels::best()?, salt, secret))
    }

    /// The same at these levels.
    pub fn extract_with(levels: Levels, salt: &[u8], secret: &[u8]) -> Self {
        let mut key = HmacKey::<A>::with_levels(levels, salt).tag(secret);
        let made = Self(HmacKey::with_levels(levels, key.as_ref()));
        key.zeroize();
        made
    }

    /// From a pseudorandom key that exists.
    ///
    /// # Errors
    /// As [`extract`](Self::extract).
    pub fn from_key(key: &[u8]) -> Result<Self, LevelError> {
        Ok(Self(HmacKey::new(key)?))
    }

    /// HKDF-Expand (2.3): fills `output` with keying material for the purpose `info`.
    ///
    /// # Errors
    /// [`Error::OutputLength`] for more than [`MOST_BYTES`](Self::MOST_BYTES).
    pub fn expand(&self, info: &[u8], output: &mut [u8]) -> Result<(), Error> {
        if output.len() > Self::MOST_BYTES {
            return Err(Error::OutputLength);
        }
        let mut block = A::Digest::ZERO;
        for (piece, number) in output.chunks_mut(size_of::<A::Digest>()).zip(1..=255) {
            let mut hmac = self.0.start();
            if number > 1 {
                hmac.update(block.as_ref());
            }
            hmac.update(info);
            hmac.update(&[number]);
            block = hmac.finish();
            piece.copy_from_slice(&block.as_ref()[..piece.len()]);
        }
        block.zeroize();
        Ok(())
    }
}
