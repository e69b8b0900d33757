//! What the units of a level can do: rounds on registers, nothing else.

use std::hint::black_box;

use lanelock::AesLevel;
use lanelock_isa::{Block, Blocks, Kernel, SameKey};

use crate::{
    clock::{self, float},
    workload::Workload,
};

/// Vectors in flight: enough for two instructions a cycle of four cycles latency, and some more.
const VECTORS: usize = 12;

/// Encryptions of each vector in one call.
const TURNS: usize = 64;

/// A shorter chain is not bound by its latency: the processor begins the next message while it waits
/// for this one.
const LONG_CHAIN: usize = 256;

/// What a level can do at most, measured.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cycles per byte of AES with 10, 12 and 14 rounds, without loads, stores and modes.
    pub aes: [f64; 3],
    /// Cycles of one block alone, with 10, 12 and 14 rounds: what a chain takes.
    pub chain: [f64; 3],
}

impl Limits {
    /// Measures them: a tenth of a second.
    pub fn measure(level: AesLevel) -> Self {
        let cycles = |run: &mut dyn FnMut()| clock::measure(31, 5, run).cycles;
        let bytes = float(TURNS * VECTORS * 16);
        let width = level.run(Width);
        let aes = |cycles: f64| cycles / bytes / float(width);
        // A chain goes on from call to call: the processor would overlap the ends of separate ones.
        let mut block = [0x5a; 16];
        let chain = |cycles: f64| cycles / float(TURNS);
        Self {
            aes: [
                aes(cycles(&mut || {
                    level.run(Rounds::<VECTORS, 11>([0x5a; 16]));
                })),
                aes(cycles(&mut || {
                    level.run(Rounds::<VECTORS, 13>([0x5a; 16]));
                })),
                aes(cycles(&mut || {
                    level.run(Rounds::<VECTORS, 15>([0x5a; 16]));
                })),
            ],
            chain: [
                chain(cycles(&mut || block = level.run(Narrow(Rounds::<1, 11>(block))))),
                chain(cycles(&mut || block = level.run(Narrow(Rounds::<1, 13>(block))))),
                chain(cycles(&mut || block = level.run(Narrow(Rounds::<1, 15>(block))))),
            ],
        }
    }

    /// The fewest cycles per byte that `workload` can take at the level, where a formula is known.
    pub fn cycles_per_byte(&self, workload: &Workload) -> Option<f64> {
        let size = match workload.key_bits {
            128 => 0,
            192 => 1,
            256 => 2,
            _ => return None,
        };
        let (aes, chain) = (self.aes[size], self.chain[size] / 16.0);
        let blocks = workload.size / 16;
        Some(match (workload.algorithm, workload.operation) {
            ("ecb" | "ctr", _) | ("cbc", "decrypt") => aes,
            ("cbc", _) => chains(aes, chain, workload.streams, blocks)?,
            // One block in ten.
            ("cbcs", "decrypt") => aes / 10.0,
            ("cbcs", _) => chains(aes, chain, workload.streams, blocks / 10)? / 10.0,
            _ => return None,
        })
    }
}

/// `streams` chains side by side: bound by latency as long as they are few.
fn chains(aes: f64, chain: f64, streams: usize, blocks: usize) -> Option<f64> {
    let latency = chain / float(streams);
    (latency <= aes || blocks >= LONG_CHAIN).then(|| aes.max(latency))
}

struct Width;

impl Kernel for Width {
    type Out = usize;

    #[inline(always)]
    fn run<S: Blocks>(self, _: S) -> usize {
        S::WIDTH
    }
}

/// `TURNS` encryptions of each of `N` vectors, each of its own result.
struct Rounds<const N: usize, const R: usize>(Block);

impl<const N: usize, const R: usize> Kernel for Rounds<N, R> {
    type Out = Block;

    #[inline(always)]
    fn run<S: Blocks>(self, s: S) -> Block {
        let key: Block = black_box([0x5a; 16]);
        let keys = SameKey([s.key(&key); R]);
        let mut v = [s.load(&[self.0; 4]); N];
        for _ in 0..TURNS {
            v = s.encrypt::<N, R>(v, keys);
        }
        let mut out = [[0; 16]; 4];
        for v in v {
            s.store(v, &mut out);
            black_box(out);
        }
        out[0]
    }
}

/// The kernel on single blocks.
struct Narrow<K>(K);

impl<K: Kernel> Kernel for Narrow<K> {
    type Out = K::Out;

    #[inline(always)]
    fn run<S: Blocks>(self, s: S) -> K::Out {
        self.0.run(s.narrow())
    }
}
