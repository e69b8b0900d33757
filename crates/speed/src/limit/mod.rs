//! What the hardware could do at most, measured in the same run, by two measures.
//!
//! **The busiest units** ([`Limits::cycles_per_byte`]): how fast the units of a level take AES rounds and
//! carry-less products from registers, what a chain of rounds waits for, and how fast memory is read and
//! written. No loads, shuffles or additions of an algorithm are counted here.
//!
//! With *A* = cycles per byte of AES with all rounds of the key size, *L* = cycles of one block alone
//! over 16, *C* = cycles per byte of one product for each vector, *M*(a, c) = cycles per byte of *a*
//! rounds and *c* products for each vector, mixed:
//!
//! | row | limit |
//! |---|---|
//! | ECB, CTR, CBC decryption, XTS, OCB3 | *A* |
//! | CBC encryption, CMAC | max(*A* x blocks of all chains, *L* x blocks of the longest): a chain waits for each block |
//! | CBCS 1:9 | the same of one block in ten; and reading and writing one block in ten |
//! | CCM | two encryptions a block, one of them in a chain |
//! | GHASH, POLYVAL, GMAC | 3*C*: Karatsuba; reductions are few |
//! | GCM, opening GCM-SIV | *M*(rounds, 3 1/4): with a reduction, of two products, for each eight vectors |
//! | sealing GCM-SIV | *A* + 3*C*: the tag is needed before the first counter block |
//! | AEGIS-128 | max(8 rounds, latency of a round) for each 32 bytes of a lane |
//! | AEGIS-256 | max(6 rounds, latency of a round) for each 16 bytes of a lane |
//! | CRC | 2*C* (one fold a vector), and reading |
//! | KW, KWP | 12*L*: six steps for each 8 bytes, all in a chain |
//!
//! Whatever does not fit into the caches is held to the speed of memory as well. The processor begins the
//! next message before a chain has ended, by so many blocks as it can hold: these are taken off the longest
//! chain. A single short chain has no limit for that reason, and neither have key expansions.
//!
//! **The whole mix of instructions** ([`Limits::mix_cycles_per_byte`]): the loads, stores, counters, shuffles and
//! additions of a mode with its rounds and products, in an order in which nothing waits. For chains *A* is
//! replaced by that of the mix. It is known for keys of 128 and 256 bits and the modes that are bound by
//! throughput.
//!
//! A figure that is better than a limit says that the limit is wrong. The [crate] has an example.

mod kernels;
mod mixes;

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
use mixes::Mix;

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
    /// AES with so many rounds and 3 1/4 carry-less products, a vector.
    Mix(usize),
    /// The whole mix of a mode with so many rounds, a block.
    Instructions(u8, usize),
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
        let Workload { algorithm, operation, key_bits, size, .. } = *workload;
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
        let chains = |stride| self.chains(workload, rounds, stride, aes());
        let mut walk = Walk::Change;
        let units = match (algorithm, operation) {
            ("ecb" | "ctr" | "xts" | "ocb3", _) | ("cbc", "decrypt") => aes(),
            ("cbc", _) => chains(1)?,
            ("cbcs", _) => {
                walk = Walk::ChangeTenth;
                if operation == "decrypt" { aes() / 10.0 } else { chains(10)? }
            }
            ("cmac", _) => {
                walk = Walk::Read;
                chains(1)?
            }
            ("ccm", _) => chains(1)?.max(2.0 * aes()),
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

    /// Cycles per byte of a schedule that does everything in time: chains side by side, of which one block in
    /// `stride` is encrypted, at `units` cycles per encrypted byte where all lanes are busy. The longest chain
    /// waits for each of its blocks, but for those that the processor begins before the call.
    fn chains(&self, workload: &Workload, rounds: usize, stride: usize, units: f64) -> Option<f64> {
        let lengths = workload.lengths();
        let blocks = |length: usize| (length / 16).div_ceil(stride);
        let all: usize = lengths.now().iter().map(|length| blocks(*length)).sum();
        let longest = lengths.now().iter().map(|length| blocks(*length)).max()?;
        if all == 0 {
            return None;
        }
        let busy = 16.0 * units * float(all);
        let one_block = self.cycles(Quantity::Chain(rounds));
        if longest < 2 * OVERLAP && one_block * float(longest) > busy {
            return None;
        }
        let waiting = one_block * float(longest.saturating_sub(OVERLAP));
        Some(busy.max(waiting) / float(workload.bytes()))
    }

    /// The fewest cycles per byte that `workload` can take at the level with all the instructions that it needs,
    /// where they are known.
    pub fn mix_cycles_per_byte(&self, workload: &Workload) -> Option<f64> {
        let Workload { algorithm, operation, key_bits, .. } = *workload;
        let rounds = match key_bits {
            128 => 10,
            256 => 14,
            _ => return None,
        };
        let mix = |mode| self.cycles(Quantity::Instructions(mode, rounds)) / 16.0;
        let chains = |stride, mode| self.chains(workload, rounds, stride, mix(mode));
        let cycles = match (algorithm, operation) {
            ("ctr", _) => mix(mixes::CTR),
            ("cbc", "decrypt") => mix(mixes::CBC_DECRYPT),
            ("cbc", _) => chains(1, mixes::LANES)?,
            ("cbcs", "decrypt") => mix(mixes::TENTH) / 10.0,
            ("cbcs", _) => chains(10, mixes::TENTH)?,
            ("xts", _) => mix(mixes::XTS),
            ("ocb3", _) => mix(mixes::OCB),
            ("gcm", _) | ("gcm-siv", "open") => mix(mixes::GCM),
            ("gcm-siv", _) => mix(mixes::CTR) + mix(mixes::HASH),
            ("ghash" | "polyval" | "gmac", _) => mix(mixes::HASH),
            ("cmac", _) => chains(1, mixes::LANES_MAC)?,
            ("ccm", _) => {
                let mac = chains(1, mixes::LANES_MAC)?;
                mac.max(mix(mixes::LANES_MAC) + mix(mixes::CTR))
            }
            _ => return None,
        };
        Some(cycles.max(self.cycles_per_byte(workload)?))
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
                self.cycles(Quantity::Aes(rounds)) + 3.25 * self.cycles(Quantity::Product)
            }
            // Thirteen products to half of the rounds of eight vectors.
            Quantity::Mix(10) => cycles(level, Both::<8, 13, 5>) / float(8 * (TURNS / 5)) * 2.0,
            Quantity::Mix(12) => cycles(level, Both::<8, 13, 6>) / float(8 * (TURNS / 6)) * 2.0,
            Quantity::Mix(_) => cycles(level, Both::<8, 13, 7>) / float(8 * (TURNS / 7)) * 2.0,
            Quantity::Instructions(mode, rounds) => self.instructions(mode, rounds),
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

/// Cycles a block of a walk.
macro_rules! walk {
    ($limits:expr, $mode:expr, $vectors:literal, $keys:literal) => {{
        let mut blocks = vec![[0x5a; 16]; mixes::BLOCKS];
        let level = $limits.level;
        let walk = || {
            black_box(level.run(Mix::<{ $mode }, $vectors, $keys>(black_box(&mut blocks[..]))));
        };
        let cycles = clock::measure(31, passes(level), walk).cycles;
        cycles / float(mixes::processed($mode, $vectors, $limits.width))
    }};
}

impl Limits {
    /// Cycles a block of the mix of a mode: of groups of eight vectors, or of four where masks and products
    /// take many registers and a level may have few.
    fn instructions(&self, mode: u8, rounds: usize) -> f64 {
        macro_rules! modes {
            ($($mode:ident)*; $($either:ident)*) => {
                match (mode, rounds) {
                    $(
                        (mixes::$mode, 10) => walk!(self, mixes::$mode, 8, 11),
                        (mixes::$mode, _) => walk!(self, mixes::$mode, 8, 15),
                    )*
                    $(
                        (mixes::$either, 10) => {
                            walk!(self, mixes::$either, 4, 11).min(walk!(self, mixes::$either, 8, 11))
                        }
                        (mixes::$either, _) => {
                            walk!(self, mixes::$either, 4, 15).min(walk!(self, mixes::$either, 8, 15))
                        }
                    )*
                    _ => f64::NAN,
                }
            };
        }
        modes!(CTR CBC_DECRYPT HASH LANES LANES_MAC TENTH; XTS OCB GCM)
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
