//! cSHAKE and KMAC (NIST SP 800-185).

use core::fmt;

use lanelock_core::{Error, parts::authenticate_wiping};
use lanelock_isa::{LevelError, ShaLevel};
use zeroize::ZeroizeOnDrop;

use crate::{
    algorithm::Keccak,
    hash::{Hash, Output},
    levels::Levels,
};

/// The sponge of cSHAKE (3.3).
type Custom<const RATE: usize> = Hash<Keccak<RATE, 24, 0x04, 32>>;

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
        let mut hash = Custom::<RATE>::with_level(level);
        byte_pad::<RATE>(&mut hash, &[b"KMAC", customization]);
        byte_pad::<RATE>(&mut hash, &[key]);
        Self(hash)
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The tag of all that was taken, of any length.
    pub fn finish(mut self, tag: &mut [u8]) {
        encode(tag.len() as u64 * 8, |bytes, count| {
            self.0.update(bytes);
            self.0.update(&[count]);
        });
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
        self.0.update(&[0, 1]); // right_encode(0)
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

/// `bytepad` of the encodings of these strings (2.3.2, 2.3.3): whole blocks.
fn byte_pad<const RATE: usize>(hash: &mut Custom<RATE>, strings: &[&[u8]]) {
    let left = |hash: &mut Custom<RATE>, number| {
        encode(number, |bytes, count| {
            hash.update(&[count]);
            hash.update(bytes);
        });
    };
    left(hash, RATE as u64);
    for string in strings {
        left(hash, string.len() as u64 * 8);
        hash.update(string);
    }
    while !hash.length().is_multiple_of(RATE as u64) {
        hash.update(&[0]);
    }
}

/// The bytes of a number without leading zeros, at least one, and how many there are (2.3.1).
pub(crate) fn encode(number: u64, mut take: impl FnMut(&[u8], u8)) {
    let bytes = number.to_be_bytes();
    for (zeros, count) in (0..8).zip((1..=8).rev()) {
        if bytes[zeros] != 0 || count == 1 {
            return take(&bytes[zeros..], count);
        }
    }
}
