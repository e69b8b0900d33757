//! ParallelHash (NIST SP 800-185, 6): the hash of a tree whose leaves have the size that the caller wants.

use core::{fmt, num::NonZeroUsize};

use lanelock_isa::LevelError;
use zeroize::ZeroizeOnDrop;

use crate::{
    algorithm::Keccak,
    cshake::{Custom, custom, left_encode, right_encode},
    hash::Output,
    levels::Levels,
    tree::Leaves,
};

/// ParallelHash on blocks of `RATE` bytes, whose leaves have digests of `DIGEST` bytes: [`ParallelHash128`],
/// [`ParallelHash256`].
///
/// Leaves are hashed side by side, on one core. So [`update`](Self::update) is fastest with 64 leaves or more at
/// once, and leaves of some KiB. A message has one digest for each size of leaves, for each length of digests, and
/// for each customisation.
///
/// ```
/// use std::num::NonZeroUsize;
/// use lanelock::hash::ParallelHash128;
///
/// # fn main() -> Result<(), lanelock::LevelError> {
/// let leaf = NonZeroUsize::new(8192).expect("not zero");
/// let mut hash = ParallelHash128::new(leaf, b"films")?;
/// hash.update(&[7; 100_000]);
/// let mut digest = [0; 32];
/// hash.finish(&mut digest);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ParallelHash<const RATE: usize, const DIGEST: usize> {
    root: Custom<RATE>,
    // cSHAKE without a name and a customisation is SHAKE (3.3).
    leaves: Leaves<Keccak<RATE, 24, 0x1f, DIGEST>>,
}

/// ParallelHash128.
pub type ParallelHash128 = ParallelHash<168, 32>;
/// ParallelHash256.
pub type ParallelHash256 = ParallelHash<136, 64>;

impl<const RATE: usize, const DIGEST: usize> ParallelHash<RATE, DIGEST> {
    /// The bytes of a leaf (B of the standard), and what the digests are for, which may be empty.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(leaf: NonZeroUsize, customization: &[u8]) -> Result<Self, LevelError> {
        Ok(Self::with_levels(Levels::best()?, leaf, customization))
    }

    /// The same at these levels.
    pub fn with_levels(levels: Levels, leaf: NonZeroUsize, customization: &[u8]) -> Self {
        let mut root = custom(levels.one, b"ParallelHash", customization);
        left_encode(&mut root, leaf.get() as u64);
        Self { root, leaves: Leaves::new(levels, leaf.get()) }
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.leaves.update(data, &mut self.root);
    }

    /// The digest of all that was taken, of any length.
    pub fn finish(self, digest: &mut [u8]) {
        self.end(digest.len() as u64 * 8).read(digest);
    }

    /// ParallelHashXOF: output of any length, which does not depend on how much of it is read.
    pub fn output(self) -> Output<RATE, 24> {
        self.end(0)
    }

    /// The output of so many bits.
    fn end(mut self, bits: u64) -> Output<RATE, 24> {
        let leaves = self.leaves.end(&mut self.root);
        right_encode(&mut self.root, leaves);
        right_encode(&mut self.root, bits);
        self.root.output()
    }
}

impl<const RATE: usize, const DIGEST: usize> ZeroizeOnDrop for ParallelHash<RATE, DIGEST> {}

impl<const RATE: usize, const DIGEST: usize> fmt::Debug for ParallelHash<RATE, DIGEST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if RATE == 168 { "ParallelHash128" } else { "ParallelHash256" })
    }
}
