//! KMAC (NIST SP 800-185, 4).

use core::fmt;

use lanelock_core::{Error, parts::authenticate_wiping};
use lanelock_isa::{LevelError, ShaLevel};
use zeroize::ZeroizeOnDrop;

use crate::{
    cshake::{Custom, byte_pad, custom, right_encode},
    hash::Output,
    levels::Levels,
};

/// KMAC (4.3) on blocks of `RATE` bytes: [`Kmac128`], [`Kmac256`].
///
/// A message has one tag for each length of tags, and for each customisation. Zeroised on drop.
///
/// ```
/// use lanelock::hash::Kmac256;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mac = Kmac256::new(&[7; 32], b"invoices")?;
/// mac.update(b"a message");
/// let mut tag = [0; 32];
/// mac.clone().finish(&mut tag);
/// mac.verify(&tag)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Kmac<const RATE: usize>(Custom<RATE>);

/// KMAC128.
pub type Kmac128 = Kmac<168>;
/// KMAC256.
pub type Kmac256 = Kmac<136>;

impl<const RATE: usize> Kmac<RATE> {
    /// A key of any length, and what its tags are for, which may be empty.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(key: &[u8], customization: &[u8]) -> Result<Self, LevelError> {
        Ok(Self::with_level(Levels::best()?.one, key, customization))
    }

    /// The same at `level`.
    pub fn with_level(level: ShaLevel, key: &[u8], customization: &[u8]) -> Self {
        let mut hash = custom(level, b"KMAC", customization);
        byte_pad(&mut hash, &[key]);
        Self(hash)
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The tag of all that was taken, of any length.
    pub fn finish(mut self, tag: &mut [u8]) {
        right_encode(&mut self.0, tag.len() as u64 * 8);
        self.0.output().read(tag);
    }

    /// Compares a tag of at most 64 bytes in constant time.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is another one, [`Error::TagLength`] if it is empty or longer.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        let mut expected = [0; 64];
        let Some(expected) = expected.get_mut(..tag.len()) else { return Err(Error::TagLength) };
        if tag.is_empty() {
            return Err(Error::TagLength);
        }
        self.finish(expected);
        authenticate_wiping(expected, tag, &mut [])
    }

    /// KMACXOF: output of any length, which does not depend on how much of it is read.
    pub fn output(mut self) -> Output<RATE, 24> {
        right_encode(&mut self.0, 0);
        self.0.output()
    }
}

impl<const RATE: usize> ZeroizeOnDrop for Kmac<RATE> {}

impl<const RATE: usize> fmt::Debug for Kmac<RATE> {
    /// Says which algorithm it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if RATE == 168 { "Kmac128" } else { "Kmac256" })
    }
}
