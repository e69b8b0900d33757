//! KangarooTwelve (RFC 9861): the hash of a tree, whose leaves take lanes.

use core::fmt;

use lanelock_isa::LevelError;
use zeroize::ZeroizeOnDrop;

use crate::{
    algorithm::Keccak,
    hash::{Hash, Output},
    kmac::encode,
    lanes::{HashJob, hash_all},
    levels::Levels,
};

/// Bytes of a leaf.
const LEAF: usize = 8192;
/// Leaves that are hashed side by side.
const AT_ONCE: usize = 64;

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
    levels: Levels,
    /// The final node: the first piece, then the digests of the others.
    root: Hash<Keccak<RATE, 12, SINGLE, DIGEST>>,
    /// The piece that is not complete, and the bytes of it. The first is in the root.
    leaf: Hash<Keccak<RATE, 12, CHAINED, DIGEST>>,
    filled: usize,
    /// Pieces that are complete, or begun.
    pieces: u64,
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
        Self {
            levels,
            root: Hash::with_level(levels.one),
            leaf: Hash::with_level(levels.one),
            filled: 0,
            pieces: 1,
        }
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            if self.filled == LEAF {
                self.begin_leaf();
            }
            if self.filled == 0 && self.pieces > 1 && data.len() >= 2 * LEAF {
                data = self.leaves(data);
                continue;
            }
            let (now, later) = data.split_at(data.len().min(LEAF - self.filled));
            if self.pieces == 1 {
                self.root.update(now);
            } else {
                self.leaf.update(now);
            }
            self.filled += now.len();
            data = later;
        }
    }

    /// Begins another piece, behind one that is complete.
    fn begin_leaf(&mut self) {
        if self.pieces == 1 {
            self.root.update(&[3, 0, 0, 0, 0, 0, 0, 0]);
        } else {
            self.end_leaf();
        }
        self.pieces += 1;
        self.filled = 0;
    }

    fn end_leaf(&mut self) {
        let leaf = core::mem::replace(&mut self.leaf, Hash::with_level(self.levels.one));
        self.root.update(&leaf.finish());
    }

    /// Takes whole pieces, where one has just begun, and gives the rest, which is not empty: the last one stays
    /// open.
    fn leaves<'d>(&mut self, data: &'d [u8]) -> &'d [u8] {
        let count = ((data.len() - 1) / LEAF).min(AT_ONCE);
        let (leaves, rest) = data.split_at(count * LEAF);
        let mut jobs = [HashJob::<Keccak<RATE, 12, CHAINED, DIGEST>>::new(&[]); AT_ONCE];
        for (job, leaf) in jobs.iter_mut().zip(leaves.chunks_exact(LEAF)) {
            job.message = leaf;
        }
        hash_all(self.levels, &mut jobs[..count]);
        for job in &jobs[..count] {
            self.root.update(&job.digest);
        }
        self.pieces += count as u64;
        rest
    }

    /// The output for all that was taken, of which as much is read as is wanted. `customization` may be empty.
    pub fn finish(mut self, customization: &[u8]) -> Output<RATE, 12> {
        let length = customization.len() as u64;
        self.update(customization);
        length_encode(length, |bytes| self.update(bytes));
        if self.pieces == 1 {
            return self.root.output();
        }
        self.end_leaf();
        let leaves = self.pieces - 1;
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
