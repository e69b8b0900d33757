//! ChaCha20 as a cipher of its own.

use core::fmt;

use lanelock_core::{Error, InOut};
use lanelock_isa::{HashLevel, LevelError, WordKernel, Words, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    blocks::{STATE, State, block_of, forward, state, xor_stream},
    level::default_level,
};

/// ChaCha20 (RFC 8439): a stream cipher, without authentication.
///
/// Zeroised on drop.
///
/// ```
/// use lanelock::ChaCha20;
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = ChaCha20::new(&[7; 32])?;
/// let mut text = *b"attack at dawn";
/// key.apply(&[1; 12], 0, &mut text)?; // no nonce twice
/// key.apply(&[1; 12], 0, &mut text)?;
/// assert_eq!(&text, b"attack at dawn");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ChaCha20 {
    key: [u8; 32],
    level: HashLevel,
}

impl ChaCha20 {
    /// With a key.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(key: &[u8; 32]) -> Result<Self, LevelError> {
        Ok(Self::with_level(key, default_level()?))
    }

    /// The same at `level`.
    pub fn with_level(key: &[u8; 32], level: HashLevel) -> Self {
        Self { key: *key, level }
    }

    /// The level that it runs on.
    pub fn level(&self) -> HashLevel {
        self.level
    }

    /// Encrypts or decrypts `data` in place with the key stream of `nonce` from block `counter` on.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the counter would pass 2^32: at most 256 GiB from block 0. Nothing is written
    /// then.
    pub fn apply(&self, nonce: &[u8; 12], counter: u32, data: &mut [u8]) -> Result<(), Error> {
        self.apply_inout(nonce, counter, data.into())
    }

    /// [`apply`](Self::apply), in place or from one buffer to another.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_inout(
        &self,
        nonce: &[u8; 12],
        counter: u32,
        data: InOut<'_, '_>,
    ) -> Result<(), Error> {
        if data.len().div_ceil(STATE) as u64 + u64::from(counter) > 1 << 32 {
            return Err(Error::MessageLength);
        }
        let mut state = state(&self.key, counter, nonce);
        self.level.run(Apply { state: &mut state, data });
        wipe(&mut state);
        Ok(())
    }
}

impl Drop for ChaCha20 {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

impl ZeroizeOnDrop for ChaCha20 {}

impl fmt::Debug for ChaCha20 {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChaCha20({})", self.level)
    }
}

struct Apply<'a, 'i, 'o> {
    state: &'a mut State,
    data: InOut<'i, 'o>,
}

impl WordKernel for Apply<'_, '_, '_> {
    type Word = u32;
    type Out = ();

    #[inline(always)]
    fn run<S: Words<u32>>(self, s: S) {
        xor_stream(s, self.state, self.data);
    }
}

/// Key stream of which pieces are used. Zeroised on drop.
pub struct Cursor {
    /// The next block.
    state: State,
    /// The block before, of which the last `left` bytes are not used yet.
    block: State,
    left: usize,
    level: HashLevel,
}

impl Cursor {
    /// From a block on.
    pub fn new(state: State, level: HashLevel) -> Self {
        Self { state, block: [0; STATE], left: 0, level }
    }

    /// Exclusive-ors the next bytes of the key stream over `data`.
    pub fn apply(&mut self, data: InOut<'_, '_>) {
        let now = self.left.min(data.len());
        let (mut begun, data) = data.split_at(now);
        begun.xor_in2out(&self.block[STATE - self.left..][..now]);
        self.left -= now;
        let whole = data.len() / STATE * STATE;
        let (data, mut rest) = data.split_at(whole);
        if whole > 0 {
            self.level.run(Apply { state: &mut self.state, data });
        }
        if !rest.is_empty() {
            self.block = block_of(&self.state);
            forward(&mut self.state, 1);
            rest.xor_in2out(&self.block[..rest.len()]);
            self.left = STATE - rest.len();
        }
    }

    /// Wipes it: no other method may follow.
    pub fn wipe(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.block);
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for Cursor {}
