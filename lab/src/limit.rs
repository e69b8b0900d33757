//! What the AES units of a level can do: rounds on registers, nothing else.

use lanelock::AesLevel;
use lanelock_isa::{Blocks, Kernel, SameKey};

use crate::clock;

/// Vectors in flight: enough for two instructions a cycle of four cycles latency, and some more.
const VECTORS: usize = 12;

/// Encryptions of each vector in one call.
const TURNS: usize = 64;

/// Cycles per byte of AES-128 without loads, stores and modes.
pub fn cycles_per_byte(level: AesLevel) -> f64 {
    let mut bytes = 0;
    let mut best = f64::INFINITY;
    for _ in 0..6 {
        let cycles = clock::cycles(if level.name() == "portable" { 3 } else { 51 }, || {
            bytes = level.run(Rounds);
        });
        best = best.min(cycles / bytes as f64);
    }
    best
}

struct Rounds;

impl Kernel for Rounds {
    type Out = usize;

    #[inline(always)]
    fn run<S: Blocks>(self, s: S) -> usize {
        let key = std::hint::black_box([0x5a; 16]);
        let keys = SameKey([s.key(&key); 11]);
        let mut v = [s.load(&[key; 4]); VECTORS];
        for _ in 0..TURNS {
            v = s.encrypt::<VECTORS, 11>(v, keys);
        }
        for v in v {
            let mut out = [[0; 16]; 4];
            s.store(v, &mut out);
            std::hint::black_box(out);
        }
        TURNS * VECTORS * S::WIDTH * 16
    }
}
