//! AEGIS (draft-irtf-cfrg-aegis-aead-18): a state of several AES blocks that every message block goes
//! through, one AES round each.
//!
//! AEGIS-128L absorbs two blocks an update, AEGIS-256 one. AEGIS-128X and AEGIS-256X are `D` such
//! states side by side, in the lanes of vectors, which share the message out among them.

mod family;
mod kernels;
mod stream;

use core::fmt;

use lanelock_isa::{AesLevel, Block, LevelError, StackDepth, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Aead, LONGEST_TAG, Opener, Sealer};
use family::{AegisFamily, Core};
use kernels::{AegisMessage, InLanes, Lengths, Mac, MacParts};
use lanelock_core::{
    Error, InOut,
    parts::{InOutBlocks, authenticate, authenticate_wiping, copy_ok, default_level},
};

pub use stream::{AegisMacStream, AegisStream};

/// An AEGIS key: of AEGIS-128L (`Aegis<128, 1>`) or AEGIS-128X (`Aegis<128, D>`), or of AEGIS-256 or
/// AEGIS-256X in the same way (draft-irtf-cfrg-aegis-aead). The degree `D` is 1, 2 or 4.
///
/// Key and nonce have 16 bytes (128) or 32 (256). Tags have 32 bytes, or 16 if the key is
/// [made for them](Self::with_tag_length). The draft allows both and recommends none. With 16 bytes,
/// about 2^64 attempts find a message that opens under two keys; with 32 bytes that is not feasible.
///
/// A nonce must not be used twice with one key, whatever the length of the tag: both messages would
/// be open. Random nonces are safe for 2^48 messages of a key of AEGIS-128L or 128X, and without limit
/// for AEGIS-256 and 256X. A message and its AAD may have 2^61 - 1 bytes each.
///
/// The variants are different algorithms: both sides must use the same one. Zeroised on drop.
///
/// ```
/// use lanelock::aead::{Aead, Aegis128X4};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aegis128X4::new(&[7; 16])?;
/// let sealed = key.seal_vec(&[1; 16], b"header", b"message")?;
/// assert_eq!(sealed.len(), 7 + 32);
/// assert_eq!(key.open_vec(&[1; 16], b"header", &sealed)?, b"message");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[expect(private_bounds, reason = "there are no other families")]
pub struct Aegis<const BITS: usize, const D: usize>
where
    AegisFamily<BITS>: Core,
{
    key: <AegisFamily<BITS> as Core>::Key,
    level: AesLevel,
    tag_length: usize,
}

/// AEGIS-128L.
pub type Aegis128L = Aegis<128, 1>;
/// AEGIS-128X with two states.
pub type Aegis128X2 = Aegis<128, 2>;
/// AEGIS-128X with four states.
pub type Aegis128X4 = Aegis<128, 4>;
/// AEGIS-256.
pub type Aegis256 = Aegis<256, 1>;
/// AEGIS-256X with two states.
pub type Aegis256X2 = Aegis<256, 2>;
/// AEGIS-256X with four states.
pub type Aegis256X4 = Aegis<256, 4>;

macro_rules! constructors {
    ($bits:literal, $bytes:literal) => {
        impl<const D: usize> Aegis<$bits, D> {
            /// A key at the best level: see [`AesLevel::best`].
            ///
            /// # Errors
            /// As [`Aes128::new`](lanelock_core::Aes128::new).
            pub fn new(key: &[u8; $bytes]) -> Result<Self, LevelError> {
                Ok(Self::with_level(key, default_level()?))
            }

            /// A key at `level`: for tests and benchmarks, or where the level is policy.
            pub fn with_level(key: &[u8; $bytes], level: AesLevel) -> Self {
                const { assert!(matches!(D, 1 | 2 | 4), "AEGIS has the degrees 1, 2 and 4") };
                let none = AegisFamily::<$bits>::key();
                let mut aegis = Self { key: none, level, tag_length: LONGEST_TAG };
                aegis.key.as_flattened_mut().copy_from_slice(key);
                aegis
            }
        }
    };
}

constructors!(128, 16);
constructors!(256, 32);

#[expect(private_bounds, reason = "there are no other families")]
impl<const BITS: usize, const D: usize> Aegis<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    /// This key with tags of 16 or 32 bytes. Other lengths have other tags, not shorter ones.
    ///
    /// # Errors
    /// [`Error::TagLength`]
    pub fn with_tag_length(mut self, bytes: usize) -> Result<Self, Error> {
        check_tag_length(bytes)?;
        self.tag_length = bytes;
        // A move would leave the key where it is now; this one is wiped there.
        copy_ok(&self)
    }

    /// The level that this key runs at.
    pub fn level(&self) -> AesLevel {
        self.level
    }

    /// Seals a message piece by piece.
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<AegisStream<BITS, D>>, Error> {
        Ok(Sealer::new(AegisStream::new(self, &parse_nonce(nonce)?), self.tag_length))
    }

    /// Opens a message piece by piece.
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<AegisStream<BITS, D>>, Error> {
        Ok(Opener::new(AegisStream::new(self, &parse_nonce(nonce)?), self.tag_length))
    }

    /// The MAC of `data`: AEGISMAC-128L and so on. Here, and only here, a nonce may serve for many
    /// messages; it may be all zeros. Use a key of its own, since sealing with that key and nonce is
    /// no MAC. It is no hash function and derives no keys.
    ///
    /// # Errors
    /// [`Error::NonceLength`], [`Error::TagLength`] if `tag` has not the length of the key's tags,
    /// [`Error::MessageLength`].
    pub fn mac(&self, nonce: &[u8], data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        let nonce = parse_nonce::<BITS>(nonce)?;
        if tag.len() != self.tag_length {
            return Err(Error::TagLength);
        }
        let lengths =
            Lengths([bits(data.len()).ok_or(Error::MessageLength)?, 8 * tag.len() as u64]);
        let parts = MacParts::new(tag.len() == LONGEST_TAG);
        let key = &self.key;
        let mac = Mac::<AegisFamily<BITS>, D> { key, nonce: &nonce, data, lengths, parts };
        let mut full = self.level.run(InLanes::<_, D>(mac));
        tag.copy_from_slice(&full.as_flattened()[..tag.len()]);
        wipe(full.as_flattened_mut());
        Ok(())
    }

    /// Checks the MAC of `data`, in constant time.
    ///
    /// # Errors
    /// As [`mac`](Self::mac), and [`Error::Authentication`] if the tag is wrong.
    pub fn verify_mac(&self, nonce: &[u8], data: &[u8], tag: &[u8]) -> Result<(), Error> {
        let mut expected = [0; LONGEST_TAG];
        let expected = expected.get_mut(..tag.len()).ok_or(Error::TagLength)?;
        self.mac(nonce, data, expected)?;
        authenticate_wiping(expected, tag, &mut [])
    }

    /// The MAC of data that comes piece by piece: see [`mac`](Self::mac).
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn mac_stream(&self, nonce: &[u8]) -> Result<AegisMacStream<BITS, D>, Error> {
        Ok(AegisMacStream::new(self, &parse_nonce(nonce)?))
    }

    /// Seals or opens a message; `tag` is zero before, and is cut to the length of the key's tags by the
    /// caller.
    fn crypt<const ENCRYPT: bool>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_, '_>,
        tag: &mut [Block; 2],
    ) -> Result<(), Error> {
        let nonce = parse_nonce::<BITS>(nonce)?;
        let lengths = Lengths([
            bits(aad.len()).ok_or(Error::AadLength)?,
            bits(data.len()).ok_or(Error::MessageLength)?,
        ]);
        let rate = 16 * D * <AegisFamily<BITS> as Core>::RATE;
        let whole = data.len() / rate * rate;
        let (text, rest) = data.split_at(whole);
        self.level.run(InLanes::<_, D>(AegisMessage::<AegisFamily<BITS>, D, ENCRYPT> {
            key: &self.key,
            nonce: &nonce,
            aad,
            text: InOutBlocks::split(text).0,
            rest,
            lengths,
            long: self.tag_length == LONGEST_TAG,
            tag,
        }));
        Ok(())
    }
}

impl<const BITS: usize, const D: usize> Aead for Aegis<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    fn tag_length(&self) -> usize {
        self.tag_length
    }

    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        if tag.len() != self.tag_length {
            return Err(Error::TagLength);
        }
        let mut full = [[0; 16]; 2];
        self.crypt::<true>(nonce, aad, data, &mut full)?;
        tag.copy_from_slice(&full.as_flattened()[..tag.len()]);
        Ok(())
    }

    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        if tag.len() != self.tag_length {
            return Err(Error::TagLength);
        }
        let mut full = [[0; 16]; 2];
        self.crypt::<false>(nonce, aad, data.reborrow(), &mut full)?;
        // What does not fill an update goes through memory.
        let whole = data.len().is_multiple_of(16 * D * <AegisFamily<BITS> as Core>::RATE);
        let depth = if whole { StackDepth::KiB0 } else { StackDepth::KiB1 };
        authenticate(
            self.level,
            depth,
            &mut full.as_flattened_mut()[..tag.len()],
            tag,
            data.get_out(),
        )
    }
}

impl<const BITS: usize, const D: usize> Drop for Aegis<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    fn drop(&mut self) {
        self.key.zeroize();
        self.level.wipe_stack(StackDepth::KiB2);
    }
}

impl<const BITS: usize, const D: usize> ZeroizeOnDrop for Aegis<BITS, D> where
    AegisFamily<BITS>: Core
{
}

impl<const BITS: usize, const D: usize> fmt::Debug for Aegis<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    /// Says which variant it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", name::<BITS, D>(), self.level)
    }
}

fn name<const BITS: usize, const D: usize>() -> &'static str {
    match (BITS, D) {
        (128, 1) => "Aegis128L",
        (128, 2) => "Aegis128X2",
        (128, _) => "Aegis128X4",
        (_, 1) => "Aegis256",
        (_, 2) => "Aegis256X2",
        _ => "Aegis256X4",
    }
}

fn parse_nonce<const BITS: usize>(nonce: &[u8]) -> Result<<AegisFamily<BITS> as Core>::Key, Error>
where
    AegisFamily<BITS>: Core,
{
    if nonce.len() != 16 * <AegisFamily<BITS> as Core>::KEY {
        return Err(Error::NonceLength);
    }
    let mut blocks = AegisFamily::<BITS>::key();
    for (block, bytes) in blocks.as_mut().iter_mut().zip(nonce.as_chunks().0) {
        *block = *bytes;
    }
    Ok(blocks)
}

fn check_tag_length(bytes: usize) -> Result<(), Error> {
    if matches!(bytes, 16 | LONGEST_TAG) { Ok(()) } else { Err(Error::TagLength) }
}

/// The most bytes of a message, and of its AAD (`P_MAX`, `A_MAX`): their bits fit a word.
const MOST: u64 = (1 << 61) - 1;

fn bits(bytes: usize) -> Option<u64> {
    let bytes = bytes as u64;
    (bytes <= MOST).then_some(8 * bytes)
}
