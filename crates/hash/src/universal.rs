//! GHASH (NIST SP 800-38D, 6.4) and POLYVAL (RFC 8452, 3) as hashes of their own: bytes come piece by
//! piece, are padded with zeros to whole blocks, and the result is one block. The arithmetic is in
//! `field`.

use core::fmt;

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks, Kernel, LevelError, StackDepth};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::field::{Powers, convert, hash_bytes, times_x};
use lanelock_core::parts::{SetUp, default_level};

/// A universal hash, bytes piece by piece: [`Ghash`], whose blocks are `REVERSED`, or [`Polyval`].
///
/// Whoever knows the hash of a message can find the key: a universal hash authenticates only under
/// encryption, or with a key for each message.
#[derive(Clone)]
pub struct UniversalHash<const REVERSED: bool> {
    powers: Powers,
    level: AesLevel,
    state: HashState<REVERSED>,
}

/// GHASH (NIST SP 800-38D, 6.4).
pub type Ghash = UniversalHash<true>;

/// POLYVAL (RFC 8452, 3).
pub type Polyval = UniversalHash<false>;

impl Ghash {
    /// A hash with key `h`, at the best level: see [`AesLevel::best`].
    ///
    /// # Errors
    /// As [`Aes128::new`](lanelock_core::Aes128::new).
    pub fn new(h: &Block) -> Result<Self, LevelError> {
        Self::expand_if(h, default_level())
    }

    /// A hash with key `h` at `level`.
    pub fn with_level(h: &Block, level: AesLevel) -> Self {
        Self::expand(h, level)
    }
}

impl Polyval {
    /// A hash with key `h`, at the best level: see [`AesLevel::best`].
    ///
    /// # Errors
    /// As [`Aes128::new`](lanelock_core::Aes128::new).
    pub fn new(h: &Block) -> Result<Self, LevelError> {
        Self::expand_if(h, default_level())
    }

    /// A hash with key `h` at `level`.
    pub fn with_level(h: &Block, level: AesLevel) -> Self {
        Self::expand(h, level)
    }
}

impl<const REVERSED: bool> SetUp for UniversalHash<REVERSED> {
    const DEPTH: StackDepth = StackDepth::KiB1;

    const NONE: Self =
        Self { powers: Powers::NONE, level: AesLevel::PORTABLE, state: HashState::empty() };

    /// `key` is a block.
    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.level = level;
        let mut h = [0; 16];
        h.copy_from_slice(key);
        if REVERSED {
            h.reverse();
            h = times_x(h);
        }
        level.run(Fill { powers: &mut self.powers, key: &h });
        h.zeroize();
    }
}

impl<const REVERSED: bool> UniversalHash<REVERSED> {
    /// The level that this hash runs at.
    pub fn level(&self) -> AesLevel {
        self.level
    }

    /// Hashes more bytes: pieces of any length continue one another.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(&self.powers, self.level, bytes);
    }

    /// Completes a block with zeros, if one is begun: between AAD and text, for instance.
    pub fn pad(&mut self) {
        self.state.pad(&self.powers, self.level);
    }

    /// Starts anew with the same key.
    pub fn reset(&mut self) {
        self.state.wipe();
    }

    /// The hash of all bytes, padded with zeros to whole blocks. What is hashed next starts anew.
    pub fn finish(&mut self) -> Block {
        self.pad();
        let hash = self.state.hash;
        self.reset();
        hash
    }
}

impl<const REVERSED: bool> Drop for UniversalHash<REVERSED> {
    fn drop(&mut self) {
        self.level.wipe_stack(StackDepth::KiB2);
    }
}

impl<const REVERSED: bool> ZeroizeOnDrop for UniversalHash<REVERSED> {}

impl<const REVERSED: bool> fmt::Debug for UniversalHash<REVERSED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UniversalHash({})", self.level)
    }
}

/// The hash of some bytes, and the start of a block that is not complete. Zeroised on drop.
#[derive(Clone)]
pub struct HashState<const REVERSED: bool> {
    pub hash: Block,
    part: Block,
    filled: usize,
}

impl<const REVERSED: bool> HashState<REVERSED> {
    pub const fn empty() -> Self {
        Self { hash: [0; 16], part: [0; 16], filled: 0 }
    }

    pub fn update(&mut self, powers: &Powers, level: AesLevel, mut bytes: &[u8]) {
        if self.filled > 0 {
            // First what completes a block that has begun; then whole blocks; the rest is kept in
            // `part`.
            let (now, later) = bytes.split_at(bytes.len().min(16 - self.filled));
            self.part[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
            if self.filled < 16 {
                return;
            }
            self.pad(powers, level);
        }
        let (whole, rest) = bytes.split_at(bytes.len() / 16 * 16);
        self.absorb(powers, level, whole);
        self.part[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    pub fn pad(&mut self, powers: &Powers, level: AesLevel) {
        if self.filled > 0 {
            let part = self.part;
            self.absorb(powers, level, &part[..self.filled]);
            self.filled = 0;
        }
    }

    /// The state of no bytes; nothing stays of those that came.
    pub fn wipe(&mut self) {
        self.hash.zeroize();
        self.part.zeroize();
        self.filled = 0;
    }

    fn absorb(&mut self, powers: &Powers, level: AesLevel, bytes: &[u8]) {
        if !bytes.is_empty() {
            level.run(HashUpdate::<REVERSED> { powers, hash: &mut self.hash, bytes });
        }
    }
}

impl<const REVERSED: bool> Drop for HashState<REVERSED> {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// Fills a table of powers.
pub struct Fill<'a> {
    pub powers: &'a mut Powers,
    pub key: &'a Block,
}

impl Kernel for Fill<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        self.powers.fill(s, *self.key);
    }
}

struct HashUpdate<'a, const REVERSED: bool> {
    powers: &'a Powers,
    hash: &'a mut Block,
    bytes: &'a [u8],
}

impl<const REVERSED: bool> Kernel for HashUpdate<'_, REVERSED> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let n = s.narrow();
        let state = core::slice::from_mut(self.hash);
        let y = convert::<_, REVERSED>(n, n.load(state));
        let y = hash_bytes::<S, REVERSED>(s, self.powers, y, self.bytes);
        n.store(convert::<_, REVERSED>(n, y), state);
    }
}
