//! AES (FIPS 197) for one buffer: the key and its modes, one file a mode.
//!
//! Every mode works in place, on any alignment, and at the level that the key was made with.

mod cbc;
mod ctr;
mod ecb;
mod schedule;

use core::fmt;

use lanelock_isa::{AesLevel, Block, Blocks, Kernel, SameKey};
use zeroize::{Zeroize, ZeroizeOnDrop};

pub use ctr::{CounterBits, CtrStream};

/// An AES key with `R` round keys: [`Aes128`], [`Aes192`] or [`Aes256`].
///
/// Holds the round keys of both directions and the level. Zeroised on drop.
#[derive(Clone)]
pub struct Aes<const R: usize> {
    encrypt: [Block; R],
    decrypt: [Block; R],
    level: AesLevel,
}

/// AES with a 128-bit key: 10 rounds.
pub type Aes128 = Aes<11>;
/// AES with a 192-bit key: 12 rounds.
pub type Aes192 = Aes<13>;
/// AES with a 256-bit key: 14 rounds.
pub type Aes256 = Aes<15>;

macro_rules! constructors {
    ($rounds:literal, $bytes:literal) => {
        impl Aes<$rounds> {
            /// Expands `key` at the best level: see [`AesLevel::best`].
            ///
            /// # Panics
            /// If the environment variable `LANELOCK_LEVEL` names a level that is not available;
            /// programs that want an error call [`AesLevel::best`] first.
            pub fn new(key: &[u8; $bytes]) -> Self {
                Self::with_level(key, default_level())
            }

            /// Expands `key` at `level`: for tests and benchmarks, or where the level is policy.
            pub fn with_level(key: &[u8; $bytes], level: AesLevel) -> Self {
                Self::expand(key, level)
            }
        }
    };
}

constructors!(11, 16);
constructors!(13, 24);
constructors!(15, 32);

impl<const R: usize> Aes<R> {
    /// The level that this key runs at.
    pub fn level(&self) -> AesLevel {
        self.level
    }

    pub(crate) fn encrypt_keys(&self) -> &[Block; R] {
        &self.encrypt
    }
}

impl<const R: usize> Drop for Aes<R> {
    fn drop(&mut self) {
        self.encrypt.zeroize();
        self.decrypt.zeroize();
    }
}

impl<const R: usize> ZeroizeOnDrop for Aes<R> {}

impl<const R: usize> fmt::Debug for Aes<R> {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aes{}({})", (R - 7) * 32, self.level)
    }
}

/// [`AesLevel::best`], once a process: keys are made on hot paths too.
fn default_level() -> AesLevel {
    static LEVEL: std::sync::OnceLock<AesLevel> = std::sync::OnceLock::new();
    *LEVEL.get_or_init(|| AesLevel::best().unwrap_or_else(|error| panic!("{error}")))
}

/// All round keys in the form of level `S`, each for all lanes of a vector.
#[inline(always)]
pub(crate) fn broadcast<S: Blocks, const R: usize>(s: S, keys: &[Block; R]) -> [S::K; R] {
    let mut k = [s.key(&keys[0]); R];
    for round in 1..R {
        k[round] = s.key(&keys[round]);
    }
    k
}

/// Vectors in flight in the modes that are parallel within a buffer: twice what covers the latency
/// of an AES round (4 cycles) on processors that start one 512-bit or two narrower rounds a cycle.
const FLIGHT: usize = 8;

/// A mode that is parallel within a buffer, written for any number of vectors.
trait Mode {
    /// Processes groups of `N` vectors from `data` while a whole group is left, and returns the
    /// blocks done. What the next call must know (counter, previous ciphertext) stays in `self`.
    fn groups<S: Blocks, const N: usize, const R: usize>(
        &mut self,
        s: S,
        keys: SameKey<S::K, R>,
        data: &mut [Block],
    ) -> usize;
}

/// Runs a mode over `data`: many vectors in flight, then single vectors, then single blocks.
struct InFlight<'a, M, const R: usize> {
    mode: &'a mut M,
    keys: &'a [Block; R],
    data: &'a mut [Block],
}

impl<M: Mode, const R: usize> Kernel for InFlight<'_, M, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: Blocks>(self, s: S) {
        let Self { mode, keys, mut data } = self;
        if data.len() >= S::WIDTH {
            let keys = broadcast(s, keys);
            let done = mode.groups::<S, FLIGHT, R>(s, SameKey(keys), data);
            data = &mut data[done..];
            let done = mode.groups::<S, 1, R>(s, SameKey(keys), data);
            data = &mut data[done..];
        }
        if !data.is_empty() {
            let s = s.narrow();
            mode.groups::<S::Narrow, 1, R>(s, SameKey(broadcast(s, keys)), data);
        }
    }
}
