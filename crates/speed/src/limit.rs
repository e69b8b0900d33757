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
        let chain = |cycles: f64| cycles / float(TURNS);
        Self {
            aes: [
                aes(cycles(&mut || level.run(Rounds::<VECTORS, 11>))),
                aes(cycles(&mut || level.run(Rounds::<VECTORS, 13>))),
                aes(cycles(&mut || level.run(Rounds::<VECTORS, 15>))),
            ],
            chain: [
                chain(cycles(&mut || level.run(Narrow(Rounds::<1, 11>)))),
                chain(cycles(&mut || level.run(Narrow(Rounds::<1, 13>)))),
                chain(cycles(&mut || level.run(Narrow(Rounds::<1, 15>)))),
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
        let many = workload.streams > 1;
        Some(match (workload.algorithm, workload.operation) {
            ("ecb" | "ctr", _) | ("cbc", "decrypt") => aes,
            ("cbc", _) => chains(aes, chain, workload.streams),
            // One block in ten.
            ("cbcs", "decrypt") => aes / 10.0,
            ("cbcs", _) if many => chains(aes, chain, workload.streams) / 10.0,
            ("cbcs", _) => chain / 10.0,
            _ => return None,
        })
    }
}

/// `streams` chains side by side: bound by latency as long as they are few.
fn chains(aes: f64, chain: f64, streams: usize) -> f64 {
    aes.max(chain / float(streams))
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
struct Rounds<const N: usize, const R: usize>;

impl<const N: usize, const R: usize> Kernel for Rounds<N, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: Blocks>(self, s: S) {
        let key: Block = black_box([0x5a; 16]);
        let keys = SameKey([s.key(&key); R]);
        let mut v = [s.load(&[key; 4]); N];
        for _ in 0..TURNS {
            v = s.encrypt::<N, R>(v, keys);
        }
        for v in v {
            let mut out = [[0; 16]; 4];
            s.store(v, &mut out);
            black_box(out);
        }
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
