//! KangarooTwelve (RFC 9861): the hash of a tree, whose leaves take lanes.

use core::fmt;

use lanelock_isa::LevelError;
use zeroize::ZeroizeOnDrop;

use crate::{
    algorithm::Keccak,
    cshake::encode,
    hash::{Hash, Output},
    levels::Levels,
    tree::Leaves,
};

/// Bytes of a leaf.
const LEAF: usize = 8192;

/// KangarooTwelve on blocks of `RATE` bytes, whose leaves have digests of `DIGEST` bytes: [`Kt128`], [`Kt256`].
///
/// A long message is a tree of one level: pieces of 8192 bytes are hashed side by side, on one core. So
/// [`update`](Self::update) is fastest with 512 KiB or more at once.
///
/// ```
/// use lanelock::hash::Kt128;
///
/// # fn main() -> Result<(), lanelock::LevelError> {
/// let mut hash = Kt128::new()?;
/// hash.update(&[7; 100_000]);
/// let mut digest = [0; 32];
/// hash.finish(b"").read(&mut digest);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KangarooTwelve<const RATE: usize, const DIGEST: usize> {
    /// The final node: the first piece, then the digests of the others.
    root: Hash<Keccak<RATE, 12, SINGLE, DIGEST>>,
    /// The pieces behind the first.
    leaves: Leaves<Keccak<RATE, 12, CHAINED, DIGEST>>,
}

/// KT128: 128 bits of strength.
pub type Kt128 = KangarooTwelve<168, 32>;
/// KT256: 256 bits of strength.
pub type Kt256 = KangarooTwelve<136, 64>;

// The bytes of domain separation (3.2).
const SINGLE: u8 = 0x07;
const CHAINED: u8 = 0x0b;
const FINAL: u8 = 0x06;

impl<const RATE: usize, const DIGEST: usize> KangarooTwelve<RATE, DIGEST> {
    /// Nothing is hashed yet.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new() -> Result<Self, LevelError> {
        Levels::best().map(Self::with_levels)
    }

    /// The same at these levels.
    pub fn with_levels(levels: Levels) -> Self {
        Self { root: Hash::with_level(levels.one), leaves: Leaves::new(levels, LEAF) }
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, mut data: &[u8]) {
        if self.leaves.is_empty() {
            // Only bytes of the message are in the root, a piece at most.
            let first = usize::try_from(self.root.length()).unwrap_or(LEAF);
            let (now, later) = data.split_at(data.len().min(LEAF - first));
            self.root.update(now);
            if later.is_empty() {
                return;
            }
            self.root.update(&[3, 0, 0, 0, 0, 0, 0, 0]);
            data = later;
        }
        self.leaves.update(data, &mut self.root);
    }

    /// The output for all that was taken, of which as much is read as is wanted. `customization` may be empty.
    pub fn finish(mut self, customization: &[u8]) -> Output<RATE, 12> {
        let length = customization.len() as u64;
        self.update(customization);
        length_encode(length, |bytes| self.update(bytes));
        if self.leaves.is_empty() {
            return self.root.output();
        }
        let leaves = self.leaves.end(&mut self.root);
        length_encode(leaves, |bytes| self.root.update(bytes));
        self.root.update(&[0xff, 0xff]);
        self.root.with_domain::<FINAL>().output()
    }
}

/// `length_encode` (3.3): the bytes of a number without leading zeros, none for zero, and how many there are.
fn length_encode(number: u64, mut take: impl FnMut(&[u8])) {
    if number == 0 {
        return take(&[0]);
    }
    encode(number, |bytes, count| {
        take(bytes);
        take(&[count]);
    });
}

impl<const RATE: usize, const DIGEST: usize> ZeroizeOnDrop for KangarooTwelve<RATE, DIGEST> {}

impl<const RATE: usize, const DIGEST: usize> fmt::Debug for KangarooTwelve<RATE, DIGEST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if RATE == 168 { "Kt128" } else { "Kt256" })
    }
}
