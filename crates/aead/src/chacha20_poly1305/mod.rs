//! ChaCha20-Poly1305 (RFC 8439, 2.8) and XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha).
//!
//! Block 0 of the key stream is the key of Poly1305, the others encrypt the text. Poly1305 then takes the AAD and the
//! ciphertext, each with zeros to the end of a block, and both lengths.

mod batch;
mod stream;

use core::fmt;

use lanelock_chacha::parts::{
    Accumulator, Beginning, FEW, LimbPowers, Powers, STATE, State, block_of, default_level,
    hchacha, rows_are_fast, state, xor_stream,
};
use lanelock_core::{
    Error, InOut,
    parts::{ZeroizeOnDrop, authenticate_beside, copy_tag},
};
use lanelock_isa::{Block, HashLevel, LevelError, WordKernel, Words, wipe, wipe_stack};

use super::{Aead, Opener, Sealer};

pub use stream::ChaChaStream;

/// The most bytes of text: block 0 is not for text, and the counter has 32 bits (RFC 8439, 2.8).
const MOST_BYTES: u64 = ((1 << 32) - 1) * STATE as u64;

/// Bytes that are encrypted before Poly1305 takes them: whole groups of two vectors at every level, and few enough
/// to stay in the nearest cache.
const PIECE: usize = 8 << 10;

/// ChaCha20-Poly1305 with nonces of `NONCE` bytes: [`ChaCha20Poly1305`], [`XChaCha20Poly1305`].
///
/// - Tags have 16 bytes.
/// - A message has at most 256 GiB - 64 bytes.
/// - With nonces of 12 bytes that are chosen at random, a key should seal at most 2^32 messages: see
///   [`KeyUsage::random_nonces`](crate::KeyUsage::random_nonces). Those of 24 bytes may be random for any number of
///   messages.
///
/// ```
/// use lanelock::aead::{Aead, XChaCha20Poly1305};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = XChaCha20Poly1305::new(&[7; 32])?;
/// let sealed = key.seal_vec(&[1; 24], b"header", b"text")?;
/// assert_eq!(key.open_vec(&[1; 24], b"header", &sealed)?, b"text");
/// # Ok(())
/// # }
/// ```
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct ChaChaPoly<const NONCE: usize> {
    key: [u8; 32],
    level: HashLevel,
}

/// ChaCha20-Poly1305 (RFC 8439): nonces of 12 bytes.
pub type ChaCha20Poly1305 = ChaChaPoly<12>;
/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha): nonces of 24 bytes.
pub type XChaCha20Poly1305 = ChaChaPoly<24>;

impl<const NONCE: usize> ChaChaPoly<NONCE> {
    const NAME: &str = match NONCE {
        12 => "ChaCha20Poly1305",
        24 => "XChaCha20Poly1305",
        _ => panic!("nonces have 12 or 24 bytes"),
    };

    /// With a key, at the best level: see [`HashLevel::best`].
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(key: &[u8; 32]) -> Result<Self, LevelError> {
        Ok(Self::with_level(key, default_level()?))
    }

    /// The same at `level`: for tests and benchmarks, or where the level is policy.
    pub fn with_level(key: &[u8; 32], level: HashLevel) -> Self {
        Self { key: *key, level }
    }

    /// The level that this key runs at.
    pub fn level(&self) -> HashLevel {
        self.level
    }

    /// Seals a message piece by piece.
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<ChaChaStream<'_>>, Error> {
        Self::check(nonce, 0, 16)?;
        Ok(Sealer::new(ChaChaStream::new(self.start(nonce), self.level), 16))
    }

    /// Opens a message piece by piece.
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<ChaChaStream<'_>>, Error> {
        Self::check(nonce, 0, 16)?;
        Ok(Opener::new(ChaChaStream::new(self.start(nonce), self.level), 16))
    }

    fn check(nonce: &[u8], text: usize, tag: usize) -> Result<(), Error> {
        if nonce.len() != NONCE {
            Err(Error::NonceLength)
        } else if tag != 16 {
            Err(Error::TagLength)
        } else if text as u64 > MOST_BYTES {
            Err(Error::MessageLength)
        } else {
            Ok(())
        }
    }

    /// The state of block 0.
    fn start(&self, nonce: &[u8]) -> State {
        let mut start = self.before(nonce);
        if NONCE == 24 {
            let block = block_of(&start);
            behind(&mut start, &block, nonce);
        }
        start
    }

    /// What the state of block 0 is made of, which with nonces of 12 bytes is that state.
    #[inline(always)]
    fn before(&self, nonce: &[u8]) -> State {
        let Some((counter, rest)) = nonce.split_first_chunk() else { unreachable!() };
        let (counter, nonce) = match (rest.first_chunk(), nonce.first_chunk()) {
            (Some(rest), _) if NONCE == 24 => (u32::from_le_bytes(*counter), rest),
            (_, Some(nonce)) => (0, nonce),
            _ => unreachable!(),
        };
        state(&self.key, counter, nonce)
    }

    #[inline(always)]
    fn run<const SEAL: bool>(&self, nonce: &[u8], aad: &[u8], data: &mut InOut<'_, '_>) -> Block {
        let mut state = self.start(nonce);
        let tag = self.level.run(OneShot::<SEAL> { state: &mut state, aad, data });
        wipe(&mut state);
        tag
    }
}

/// With nonces of 24 bytes: the state of block 0, from the one before and its block of key stream.
#[inline(always)]
fn behind(start: &mut State, block: &State, nonce: &[u8]) {
    let mut key = hchacha(start, block);
    let mut short = [0; 12];
    short[4..].copy_from_slice(&nonce[16..]);
    *start = state(&key, 0, &short);
    wipe(&mut key);
}

/// The last block for Poly1305: the lengths of AAD and text in bytes.
#[inline(always)]
fn lengths(aad: u64, text: u64) -> Block {
    (u128::from(text) << 64 | u128::from(aad)).to_le_bytes()
}

impl<const NONCE: usize> Aead for ChaChaPoly<NONCE> {
    fn tag_length(&self) -> usize {
        16
    }

    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        Self::check(nonce, data.len(), tag.len())?;
        copy_tag(&self.run::<true>(nonce, aad, &mut data), tag);
        Ok(())
    }

    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        Self::check(nonce, data.len(), tag.len())?;
        let mut full = self.run::<false>(nonce, aad, &mut data);
        let result = authenticate_beside(&mut full, tag, data.get_out());
        if result.is_err() {
            // The kernel's frame has as many vectors as key stream and sums need, and calls another one for the sums.
            wipe_stack::<{ 24 << 10 }>();
        }
        result
    }
}

/// A whole message. Returns the tag.
struct OneShot<'a, 'i, 'o, const SEAL: bool> {
    state: &'a mut State,
    aad: &'a [u8],
    data: &'a mut InOut<'i, 'o>,
}

impl<const SEAL: bool> WordKernel for OneShot<'_, '_, '_, SEAL> {
    type Word = u32;
    type Out = Block;

    #[inline(always)]
    fn run<S: Words<u32>>(self, s: S) -> Block {
        let (text, short) = (self.data.len(), self.aad.len() < FEW);
        if short && rows_are_fast::<S>() && text <= Beginning::<S, 4>::BYTES {
            let beginning = Beginning::in_rows(s, self.state);
            self.short(s, &beginning)
        } else if short && rows_are_fast::<S>() && text <= Beginning::<S, 8>::BYTES {
            let beginning = Beginning::in_pairs_of_rows(s, self.state);
            self.short(s, &beginning)
        } else {
            let beginning = Beginning::in_lanes(s, self.state);
            self.long(s, &beginning)
        }
    }
}

impl<const SEAL: bool> OneShot<'_, '_, '_, SEAL> {
    /// A message that is not longer than its beginning, with AAD of fewer bytes than [`FEW`].
    #[inline(always)]
    fn short<S: Words<u32>, const N: usize>(self, s: S, beginning: &Beginning<S, N>) -> Block {
        let Self { aad, data, .. } = self;
        let d = s.wide();
        let lengths = lengths(aad.len() as u64, data.len() as u64);
        let mut key = beginning.key();
        let (mut sum, mut powers) = (Accumulator::new(&key), LimbPowers::none());
        wipe(&mut key);
        sum.take_few(d, &mut powers, aad);
        if !SEAL {
            sum.take_few(d, &mut powers, data.get_in());
        }
        beginning.apply(data.reborrow());
        if SEAL {
            sum.take_few(d, &mut powers, data.get_out());
        }
        sum.take(&[lengths]);
        sum.tag()
    }

    /// Any message.
    #[inline(always)]
    fn long<S: Words<u32>>(self, s: S, beginning: &Beginning<S, 16>) -> Block {
        let Self { state, aad, data } = self;
        let d = s.wide();
        let lengths = lengths(aad.len() as u64, data.len() as u64);
        let mut key = beginning.key();
        let (mut sum, mut powers) = (Accumulator::new(&key), Powers::none());
        wipe(&mut key);
        // Before there is anything to take: meanwhile the processor goes on with the text.
        sum.prepare(d, powers.in_limbs(), data.len());
        sum.take_padded(d, &mut powers, aad);

        let mut first = true;
        let count = data.len().min(Beginning::<S, 16>::BYTES + PIECE);
        let (mut piece, mut rest) = data.reborrow().split_at(count);
        loop {
            if !SEAL {
                sum.take_padded(d, &mut powers, piece.get_in());
            }
            let mut text = piece.reborrow();
            if first {
                let (begun, behind) = text.split_at(count.min(Beginning::<S, 16>::BYTES));
                beginning.apply(begun);
                text = behind;
                first = false;
            }
            xor_stream(s, state, text);
            if SEAL {
                sum.take_padded(d, &mut powers, piece.get_out());
            }
            if rest.is_empty() {
                break;
            }
            let count = rest.len().min(PIECE);
            (piece, rest) = rest.split_at(count);
        }
        sum.take(&[lengths]);
        sum.tag()
    }
}

impl<const NONCE: usize> Drop for ChaChaPoly<NONCE> {
    fn drop(&mut self) {
        wipe(&mut self.key);
    }
}

impl<const NONCE: usize> ZeroizeOnDrop for ChaChaPoly<NONCE> {}

impl<const NONCE: usize> fmt::Debug for ChaChaPoly<NONCE> {
    /// Says which algorithm it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", Self::NAME, self.level)
    }
}
