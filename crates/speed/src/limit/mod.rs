//! What the hardware could do at most, measured in the same run: how fast the units of a level take
//! AES rounds and carry-less products from registers, what a chain of rounds waits for, and how fast
//! memory is read and written. No loads, shuffles or additions of an algorithm are counted here.
//!
//! With *A* = cycles per byte of AES with all rounds of the key size, *L* = cycles of one block alone
//! over 16, *C* = cycles per byte of one product for each vector, *M*(a, c) = cycles per byte of *a*
//! rounds and *c* products for each vector, mixed, and *s* = streams:
//!
//! | row | limit |
//! |---|---|
//! | ECB, CTR, CBC decryption, XTS, OCB3 | *A* |
//! | CBC encryption, CMAC | max(*A*, *L*/*s*): a chain waits for each block |
//! | CBCS 1:9 | a tenth of CBC: one block in ten; and reading and writing one block in ten |
//! | CCM | max(2*A*, *L*/*s*): two encryptions a block, one of them in a chain |
//! | GHASH, POLYVAL, GMAC | 3*C*: Karatsuba; reductions are few |
//! | GCM, opening GCM-SIV | *M*(rounds, 3) |
//! | sealing GCM-SIV | *A* + 3*C*: the tag is needed before the first counter block |
//! | AEGIS-128 | max(8 rounds, latency of a round) for each 32 bytes of a lane |
//! | AEGIS-256 | max(6 rounds, latency of a round) for each 16 bytes of a lane |
//! | CRC | 2*C* (one fold a vector), and reading |
//! | KW, KWP | 12*L*: six steps for each 8 bytes, all in a chain |
//!
//! Whatever does not fit into the caches is held to the speed of memory as well. The processor begins the
//! next message before a chain has ended, by so many blocks as it can hold: these are taken off *L*.
//! Short chains have no limit for that reason, and neither have key expansions: see [`Limits::cycles_per_byte`]. The [crate] has an example.

mod kernels;

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    hint::black_box,
};

use lanelock::AesLevel;
use lanelock_isa::{Block, Kernel};

use crate::{
    clock::{self, float},
    workload::Workload,
};
use kernels::{
    Both, Change, ChangeTenth, KernelPair, ManyCiphers, Narrow, Products, Read, Rounds, TURNS,
    Width,
};

/// A shorter chain is not bound by its latency: the processor begins the next message before this one
/// has ended.
const LONG_CHAIN: usize = 256;

/// So many blocks of the next message at most are begun before a chain has ended: the processors of
/// today hold some 500 instructions that wait, and a block has ten or more.
const OVERLAP: usize = 48;

/// What fits into the first two levels of every cache: memory is no limit there, but for reading alone
/// and for changing few bytes.
const CACHED: usize = 256 << 10;

const SHORTEST_WALK: usize = 8 << 10;

/// What a level can do at most.
#[derive(Clone, Debug)]
pub struct Limits {
    level: AesLevel,
    /// Blocks in a vector.
    width: usize,
    /// What has been measured, in cycles, and in which round.
    known: RefCell<HashMap<Quantity, (f64, u32)>>,
    round: Cell<u32>,
}

/// What is measured once, when it is first needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Quantity {
    /// AES with so many rounds, a vector.
    Aes(usize),
    /// The same for one block alone, which the next one waits for.
    Chain(usize),
    /// AES with so many rounds and three carry-less products, a vector.
    Mix(usize),
    /// A carry-less product, a vector.
    Product,
    /// A round, a vector of so many blocks.
    Round(usize),
    /// Until the result of a round is there.
    Latency,
    /// A walk through so many bytes of memory.
    Walk(Walk, usize),
}

/// A way through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Walk {
    Read,
    Change,
    ChangeTenth,
}

impl Limits {
    /// The limits of a level. Each is measured when it is first asked for, in some milliseconds.
    pub fn measure(level: AesLevel) -> Self {
        Self { level, width: level.run(Width), known: RefCell::default(), round: Cell::new(0) }
    }

    /// The fewest cycles per byte that `workload` can take at the level, where a formula is known.
    pub fn cycles_per_byte(&self, workload: &Workload) -> Option<f64> {
        let Workload { algorithm, operation, key_bits, size, streams, .. } = *workload;
        let rounds = match key_bits {
            192 => 12,
            256 => 14,
            _ => 10,
        };
        let per_byte = |quantity| self.cycles(quantity) / float(16 * self.width);
        let aes = || per_byte(Quantity::Aes(rounds));
        let mix = || per_byte(Quantity::Mix(rounds));
        let product = || per_byte(Quantity::Product);
        let chain = || self.cycles(Quantity::Chain(rounds)) / 16.0;
        // Chains side by side, one for each stream, that encrypt so many blocks.
        let chains = |blocks: usize| {
            let (aes, latency) = (aes(), chain() / float(streams));
            if latency <= aes {
                return Some(aes);
            }
            let waiting = float(blocks.saturating_sub(OVERLAP)) / float(blocks);
            (blocks >= LONG_CHAIN).then(|| aes.max(latency * waiting))
        };
        let blocks = size / 16;
        let mut walk = Walk::Change;
        let units = match (algorithm, operation) {
            ("ecb" | "ctr" | "xts" | "ocb3", _) | ("cbc", "decrypt") => aes(),
            ("cbc", _) => chains(blocks)?,
            ("cbcs", _) => {
                walk = Walk::ChangeTenth;
                if operation == "decrypt" { aes() / 10.0 } else { chains(blocks / 10)? / 10.0 }
            }
            ("cmac", _) => {
                walk = Walk::Read;
                chains(blocks)?
            }
            ("ccm", _) => chains(blocks)?.max(2.0 * aes()),
            ("ghash" | "polyval" | "gmac", _) => {
                walk = Walk::Read;
                3.0 * product()
            }
            ("gcm", _) | ("gcm-siv", "open") => mix(),
            ("gcm-siv", _) => aes() + 3.0 * product(),
            ("aegis-128l", _) => self.aegis(1, 8, 32),
            ("aegis-128x2", _) => self.aegis(2, 8, 32),
            ("aegis-128x4", _) => self.aegis(4, 8, 32),
            ("aegis-256", _) => self.aegis(1, 6, 16),
            ("aegis-256x2", _) => self.aegis(2, 6, 16),
            ("aegis-256x4", _) => self.aegis(4, 6, 16),
            // Without instructions for products there are other ways.
            ("crc-32" | "crc-32c" | "crc-64-nvme" | "crc-64-xz", _)
                if self.level.name() != "portable" =>
            {
                walk = Walk::Read;
                2.0 * product()
            }
            ("kw" | "kwp", _) if size / 8 * 6 >= LONG_CHAIN => 12.0 * chain(),
            _ => return None,
        };
        let few_bytes = walk == Walk::ChangeTenth || algorithm.starts_with("crc");
        if !few_bytes && workload.bytes() <= CACHED {
            return Some(units);
        }
        // The call itself must not count.
        let bytes = workload.bytes().max(SHORTEST_WALK);
        Some(units.max(self.cycles(Quantity::Walk(walk, bytes)) / float(bytes)))
    }

    /// Cycles per byte of AEGIS with so many lanes: a step is `rounds` rounds in each of them, all at
    /// once, and takes `bytes`.
    fn aegis(&self, lanes: usize, rounds: usize, bytes: usize) -> f64 {
        let vectors = lanes.div_ceil(self.width);
        let round = self.cycles(Quantity::Round(lanes.min(self.width)));
        let latency = self.cycles(Quantity::Latency);
        latency.max(float(rounds * vectors) * round) / float(lanes * bytes)
    }

    /// From now on, what is asked for is measured once more, and the lower figure counts: other
    /// programs only ever make it higher.
    pub fn measure_again(&self) {
        self.round.set(self.round.get() + 1);
    }

    fn cycles(&self, quantity: Quantity) -> f64 {
        let (round, known) = (self.round.get(), self.known.borrow().get(&quantity).copied());
        let cycles = match known {
            Some((cycles, of)) if of == round => return cycles,
            Some((cycles, _)) => cycles.min(self.measured(quantity)),
            None => self.measured(quantity),
        };
        self.known.borrow_mut().insert(quantity, (cycles, round));
        cycles
    }

    fn measured(&self, quantity: Quantity) -> f64 {
        let level = self.level;
        // Each of twelve vectors in each turn; ciphers have ten rounds or more in a turn.
        let rounds = |cycles: f64| cycles / float(12 * TURNS);
        let ciphers = |cycles: f64| cycles / float(12 * TURNS / 10);
        let chain = |cycles: f64| cycles / float(TURNS / 10);
        match quantity {
            Quantity::Aes(10) => ciphers(cycles(level, ManyCiphers::<12, 11>)),
            Quantity::Aes(12) => ciphers(cycles(level, ManyCiphers::<12, 13>)),
            Quantity::Aes(_) => ciphers(cycles(level, ManyCiphers::<12, 15>)),
            Quantity::Chain(10) => chain(latency(level, |b| Narrow(ManyCiphers::<1, 11>(b)))),
            Quantity::Chain(12) => chain(latency(level, |b| Narrow(ManyCiphers::<1, 13>(b)))),
            Quantity::Chain(_) => chain(latency(level, |b| Narrow(ManyCiphers::<1, 15>(b)))),
            // One set of units for both.
            Quantity::Mix(rounds) if level.name() == "portable" => {
                self.cycles(Quantity::Aes(rounds)) + 3.0 * self.cycles(Quantity::Product)
            }
            // So many vectors that there are three products to all rounds. With few registers fewer
            // vectors can be better, or more products than are needed.
            Quantity::Mix(10) => {
                let one = cycles(level, Both::<10, 3, 1>);
                one.min(cycles(level, Both::<10, 6, 2>)) / float(TURNS)
            }
            Quantity::Mix(12) => {
                let one = cycles(level, Both::<12, 3, 1>);
                let one = one.min(1.5 * cycles(level, Both::<8, 2, 1>)) / float(TURNS);
                one.min(1.2 * self.cycles(Quantity::Mix(10)))
            }
            Quantity::Mix(_) => {
                let one = cycles(level, Both::<14, 3, 1>);
                let one = one.min(2.0 * cycles(level, Both::<7, 3, 2>)) / float(TURNS);
                one.min(14.0 / 12.0 * self.cycles(Quantity::Mix(12)))
            }
            Quantity::Product => rounds(cycles(level, Products::<12>)),
            Quantity::Round(1) => rounds(cycles(level, |b| Narrow(Rounds::<12>(b)))),
            Quantity::Round(2) => rounds(cycles(level, |b| KernelPair(Rounds::<12>(b)))),
            Quantity::Round(_) => rounds(cycles(level, Rounds::<12>)),
            Quantity::Latency => latency(level, |b| Narrow(Rounds::<1>(b))) / float(TURNS),
            Quantity::Walk(walk, bytes) => {
                let mut data = vec![[0x5a; 16]; bytes.div_ceil(16)];
                let data = &mut data[..];
                let mut step = || match walk {
                    Walk::Read => {
                        black_box(level.run(Read(black_box(&*data))));
                    }
                    Walk::Change => level.run(Change(&mut *data)),
                    Walk::ChangeTenth => level.run(ChangeTenth(&mut *data)),
                };
                clock::measure(31, passes(level), &mut step).cycles
            }
        }
    }
}

/// Cycles of one call of a kernel.
fn cycles<K: Kernel<Out = Block>>(level: AesLevel, kernel: impl Fn(Block) -> K) -> f64 {
    clock::measure(31, passes(level), || {
        black_box(level.run(kernel([0x5a; 16])));
    })
    .cycles
}

/// Cycles of one call of a kernel whose result is the next call's input, so that they cannot overlap.
fn latency<K: Kernel<Out = Block>>(level: AesLevel, kernel: impl Fn(Block) -> K) -> f64 {
    let mut block = [0x5a; 16];
    clock::measure(31, passes(level), || block = level.run(kernel(block))).cycles
}

/// The portable level is slow, and so slow that there is little noise.
fn passes(level: AesLevel) -> usize {
    if level.name() == "portable" { 2 } else { 5 }
}
