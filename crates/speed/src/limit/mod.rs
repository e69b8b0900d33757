//! What the hardware could do at most, measured in the same run, by two measures.
//!
//! **The busiest units** ([`Limits::cycles_per_byte`]): how fast the units of a level take AES rounds and
//! carry-less products from registers, what a chain of rounds waits for, and how fast memory is read and
//! written. No loads, shuffles or additions of an algorithm are counted here.
//!
//! With *A* = cycles per byte of AES with all rounds of the key size (to encrypt or to decrypt, whichever takes less:
//! both use the same units), *L* = cycles of one block alone
//! over 16, *C* = cycles per byte of one product for each vector, *M*(a, c) = cycles per byte of *a*
//! rounds and *c* products for each vector, mixed:
//!
//! | row | limit |
//! |---|---|
//! | ECB, CTR, CBC decryption, XTS, OCB3 | *A* |
//! | CBC encryption, CMAC | max(*A* x blocks of all chains, *L* x blocks of the longest): a chain waits for each block |
//! | CBCS 1:9 | the same of one block in ten; and reading and writing one block in ten |
//! | CCM | two encryptions a block, one of them in a chain |
//! | GHASH, POLYVAL, GMAC | 3*C*: no form has fewer products; reductions are few |
//! | GCM, opening GCM-SIV | *M*(rounds, 3 1/4): with a reduction, of two products, for each eight vectors |
//! | sealing GCM-SIV | *A* + 3*C*: the tag is needed before the first counter block |
//! | AEGIS-128 | max(8 rounds, latency of a round) for each 32 bytes of a lane |
//! | AEGIS-256 | max(6 rounds, latency of a round) for each 16 bytes of a lane |
//! | CRC | 2*C* (one fold a vector), and reading |
//! | CRC of 32 bits, long, where matrices over GF(2) are fast | of twelve vectors eight by four matrices each, four by 2*C* |
//! | hashes of many messages, HMAC, PBKDF2, KangarooTwelve | the additions, rotations and functions of all rounds, a vector |
//! | many records of CBC with HMAC | the hashes, then CBC encryption: both take the units of vectors |
//! | one record, where there are instructions for its hash | max(*L*, these): two chains side by side |
//! | one message, where there are instructions for its hash | these in their order, from the first cache |
//! | KW, KWP | 12*L*: six steps for each 8 bytes, all in a chain |
//! | public keys, batches that fill the lanes | the multiply-adds of numbers: the head of `pubkey.rs` beside this file counts them |
//!
//! Whatever does not fit into the caches is held to the speed of memory as well. The processor begins the
//! next message before a chain has ended, by so many blocks as it can hold: these are taken off the longest
//! chain. A single short chain has no limit for that reason, and neither have key expansions.
//!
//! **The whole mix of instructions** ([`Limits::mix_cycles_per_byte`]): the loads, stores, counters, shuffles and
//! additions of a mode with its rounds and products, in an order in which nothing waits. For chains *A* is
//! replaced by that of the mix; squares of blocks are turned for the next group and the last one beside the rounds of
//! this one. Groups of several sizes are measured, and the fastest counts. It is known for keys of 128 and 256 bits and
//! the modes that are bound by throughput; GCM and GHASH have the form of products that the engine takes on this
//! processor. For hashes of many messages it is the rounds with reading the blocks and changing rows of words into
//! columns.
//!
//! A figure that is better than a limit says that the limit is wrong. The [crate] has an example.

mod hashes;
mod kernels;
mod mixes;
mod pubkey;

pub use pubkey::multiply_adds;

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    hint::black_box,
    marker::PhantomData,
};

use lanelock::{
    AesLevel,
    hash::{
        HashLevel, ShaLevel,
        algorithm::{self, Algorithm},
        compression::Compression,
    },
};
use lanelock_isa::{Block, Kernel};

use crate::{
    clock::{self, float},
    workload::{DERIVED, ITERATIONS, Kind, Workload, hash_levels, limb_levels},
};
use hashes::{BlocksOf, Instructions, OneMessage, RoundsOf, has_instructions};
use kernels::{
    Both, Change, ChangeTenth, FOLDS, Fold, KernelPair, ManyCiphers, Narrow, Products, Read,
    Rounds, TURNS, Width,
};
use mixes::Mix;
use pubkey::MultiplyAdds;

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

/// From so many bytes on a CRC of 32 bits is computed by matrices, where they are fast.
const LONG_CRC: usize = 3 << 10;

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
    /// Moving a CRC of 32 bits on by matrices and products, a vector.
    Fold,
    /// A round, a vector of so many blocks.
    Round(usize),
    /// Until the result of a round is there.
    Latency,
    /// The rounds of a hash for one block of each lane of a vector, without reading it or with that.
    Hash(Inner, bool),
    /// A block of one message by instructions for its hash.
    OneMessage(Inner),
    /// A multiply-add of digits of big numbers, a vector.
    MultiplyAdd,
    /// A walk through so many bytes of memory.
    Walk(Walk, usize),
}

/// The rounds of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Inner {
    Sha1,
    Sha256,
    Sha512,
    Sm3,
    Sha3,
    Shake128,
    TurboShake128,
}

/// Cycles of all ciphers of a vector: twelve of them or eight, encrypted or decrypted, by units that are the
/// same for both.
macro_rules! both_ways {
    ($level:expr, $keys:literal) => {{
        let encrypted = cycles($level, ManyCiphers::<12, $keys, true>) / 12.0;
        encrypted.min(cycles($level, ManyCiphers::<8, $keys, false>) / 8.0)
    }};
}

/// How a row hashes: so many messages with so many blocks each.
#[derive(Clone, Copy, Debug)]
struct Hashing {
    inner: Inner,
    messages: usize,
    blocks: usize,
    /// Whether the messages take lanes.
    lanes: bool,
    /// Whether there are instructions for one message.
    instructions: bool,
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
        if let Some(hashing) = self.hashing(workload) {
            let hash = self.hash(workload, hashing, false)?;
            return match algorithm.strip_prefix("cbc-hmac-") {
                Some(_) => Self::record(workload, hashing, hash, |cbc| self.cycles_per_byte(cbc)),
                None => Some(hash),
            };
        }
        if workload.kind().is_some_and(Kind::has_public_keys) {
            let vectors = pubkey::vectors(workload, limb_levels(self.level))?;
            return Some(vectors * self.cycles(Quantity::MultiplyAdd) / float(workload.bytes()));
        }
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
                let may = matches!(algorithm, "crc-32" | "crc-32c") && size >= LONG_CRC;
                if may && self.level.ways().matrices_are_fast() {
                    per_byte(Quantity::Fold)
                } else {
                    2.0 * product()
                }
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
        if let Some(hashing) = self.hashing(workload) {
            let hash = self.hash(workload, hashing, true)?;
            return match algorithm.strip_prefix("cbc-hmac-") {
                Some(_) => {
                    Self::record(workload, hashing, hash, |cbc| self.mix_cycles_per_byte(cbc))
                }
                None => Some(hash),
            };
        }
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
            ("gcm", _) => mix(mixes::GCM),
            ("gcm-siv", "open") => mix(mixes::GCM_SIV),
            ("gcm-siv", _) => mix(mixes::CTR) + mix(mixes::POLYVAL),
            ("ghash" | "gmac", _) => mix(mixes::GHASH),
            ("polyval", _) => mix(mixes::POLYVAL),
            ("cmac", _) => chains(1, mixes::LANES_MAC)?,
            ("ccm", _) => {
                let mac = chains(1, mixes::LANES_MAC)?;
                mac.max(mix(mixes::LANES_MAC) + mix(mixes::CTR))
            }
            _ => return None,
        };
        Some(cycles.max(self.cycles_per_byte(workload)?))
    }

    /// How the messages of `workload` are hashed, if it is about hashes.
    fn hashing(&self, workload: &Workload) -> Option<Hashing> {
        let Workload { algorithm, operation, size, streams, .. } = *workload;
        // A block ends with the length in eight bytes or 16, or with one byte at least.
        let padded = |size: usize, end: usize, block: usize| (size + end).div_ceil(block);
        let (inner, blocks) = match (algorithm, operation) {
            ("sha-1", _) => (Inner::Sha1, padded(size, 9, 64)),
            ("sha-256", _) => (Inner::Sha256, padded(size, 9, 64)),
            ("sm3", _) => (Inner::Sm3, padded(size, 9, 64)),
            ("sha-512", _) => (Inner::Sha512, padded(size, 17, 128)),
            ("sha3-256", _) => (Inner::Sha3, padded(size, 1, 136)),
            ("shake128", _) => (Inner::Shake128, padded(size, 1, 168)),
            // The key is in the states before, and the outer hash has one block.
            ("hmac-sha-256", _) => (Inner::Sha256, padded(size, 9, 64) + 1),
            // Behind the 13 bytes of a header.
            ("cbc-hmac-sha-1", _) => (Inner::Sha1, padded(size + 13, 9, 64) + 1),
            ("cbc-hmac-sha-256", _) => (Inner::Sha256, padded(size + 13, 9, 64) + 1),
            ("pbkdf2-sha-256", _) => {
                (Inner::Sha256, 2 * ITERATIONS.get() as usize * size.div_ceil(DERIVED))
            }
            // Leaves of 49 blocks side by side, and as much more for the root as one of their digests a leaf.
            ("kt128", _) => (Inner::TurboShake128, padded(size, 1, 168)),
            _ => return None,
        };
        let levels = hash_levels(self.level);
        let (fewest, instructions) = match inner {
            Inner::Sha1 => shape::<algorithm::Sha1>(self.level),
            Inner::Sha256 => shape::<algorithm::Sha256>(self.level),
            Inner::Sha512 => shape::<algorithm::Sha512>(self.level),
            Inner::Sm3 => shape::<algorithm::Sm3>(self.level),
            _ => shape::<algorithm::Sha3_256>(self.level),
        };
        // One message that is a tree has a chain for each lane.
        let (messages, blocks) = match inner {
            Inner::TurboShake128 => {
                let lanes = levels.lanes.width() / 2;
                (lanes, blocks.div_ceil(lanes))
            }
            _ => (streams, blocks),
        };
        Some(Hashing { inner, messages, blocks, lanes: messages >= fewest, instructions })
    }

    /// Cycles per byte of messages in lanes, or one behind the other where that is faster.
    fn hash(&self, workload: &Workload, hashing: Hashing, mix: bool) -> Option<f64> {
        let Hashing { inner, messages, blocks, .. } = hashing;
        if hashing.lanes {
            let lanes = hash_levels(self.level).lanes.width();
            let lanes = if inner.has_long_words() { lanes / 2 } else { lanes };
            let vectors = messages.div_ceil(lanes) * blocks;
            let one = self.cycles(Quantity::Hash(inner, false));
            // What is hashed a thousand times is in registers.
            let derives = workload.operation == "derive";
            let one = if mix && !derives {
                one.max(self.cycles(Quantity::Hash(inner, true)))
            } else {
                one
            };
            return Some(one * float(vectors) / float(workload.bytes()));
        }
        // Messages that are short begin before the one before has ended.
        let long = blocks >= LONG_HASH && !mix && hashing.instructions;
        let cycles = long.then(|| self.cycles(Quantity::OneMessage(inner)))?;
        Some(cycles * float(messages * blocks) / float(workload.bytes()))
    }

    /// Cycles per byte of records whose hashes take `hash`: many are hashed and then encrypted, which use the same
    /// units. Hash and cipher of one are two chains, which do not wait for each other.
    fn record(
        workload: &Workload,
        hashing: Hashing,
        hash: f64,
        cipher: impl Fn(&Workload) -> Option<f64>,
    ) -> Option<f64> {
        let mac = if hashing.inner == Inner::Sha1 { 20 } else { 32 };
        let padded = (workload.size + mac + 1).next_multiple_of(16);
        let cbc = Workload { algorithm: "cbc", operation: "encrypt", size: padded, ..*workload };
        let cipher = cipher(&cbc)? * float(padded) / float(workload.size);
        Some(if hashing.lanes { hash + cipher } else { hash.max(cipher) })
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
        // Each of twelve vectors in each turn; ciphers have ten rounds or more in a turn, and a vector is meant.
        let rounds = |cycles: f64| cycles / float(12 * TURNS);
        let ciphers = |cycles: f64| cycles / float(TURNS / 10);
        match quantity {
            Quantity::Aes(rounds) => ciphers(match rounds {
                10 => both_ways!(level, 11),
                12 => both_ways!(level, 13),
                _ => both_ways!(level, 15),
            }),
            // The first key and the text can be added to the last key: then a chain waits for its rounds alone.
            Quantity::Chain(count) => ciphers(match count {
                10 => latency(level, |b| Narrow(ManyCiphers::<1, 11, true>(b))),
                12 => latency(level, |b| Narrow(ManyCiphers::<1, 13, true>(b))),
                _ => latency(level, |b| Narrow(ManyCiphers::<1, 15, true>(b))),
            })
            .min(float(count) * self.cycles(Quantity::Latency)),
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
            Quantity::Fold => cycles(level, Fold) / float(12 * FOLDS),
            Quantity::Round(1) => rounds(cycles(level, |b| Narrow(Rounds::<12>(b)))),
            Quantity::Round(2) => rounds(cycles(level, |b| KernelPair(Rounds::<12>(b)))),
            Quantity::Round(_) => rounds(cycles(level, Rounds::<12>)),
            Quantity::Latency => latency(level, |b| Narrow(Rounds::<1>(b))) / float(TURNS),
            Quantity::Hash(inner, true) => self.lanes_of_hash(inner, true),
            // Compilers arrange one loop better than another; rounds alone take no more than with reading.
            Quantity::Hash(inner, false) => {
                self.lanes_of_hash(inner, false).min(self.cycles(Quantity::Hash(inner, true)))
            }
            Quantity::OneMessage(Inner::Sha1) => one_message::<algorithm::Sha1>(level),
            Quantity::OneMessage(_) => one_message::<algorithm::Sha256>(level),
            Quantity::MultiplyAdd => {
                let limbs = limb_levels(level);
                let call = || {
                    black_box(limbs.run(MultiplyAdds));
                };
                clock::measure(WINDOWS, passes(level), call).cycles / float(pubkey::MULTIPLY_ADDS)
            }
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
                clock::measure(WINDOWS, passes(level), &mut step).cycles
            }
        }
    }
}

impl Inner {
    /// Whether words have 64 bits.
    fn has_long_words(self) -> bool {
        !matches!(self, Self::Sha1 | Self::Sha256 | Self::Sm3)
    }
}

/// Blocks of each message that are measured.
const BLOCKS_AT_ONCE: usize = 4;

/// Shorter messages overlap.
const LONG_HASH: usize = 64;

impl Limits {
    fn lanes_of_hash(&self, inner: Inner, reads: bool) -> f64 {
        match inner {
            Inner::Sha1 => self.rounds_of(hashes::Sha1, reads),
            Inner::Sha256 => self.rounds_of(hashes::Sha256, reads),
            Inner::Sha512 => self.rounds_of(hashes::Sha512, reads),
            Inner::Sm3 => self.rounds_of(hashes::Sm3, reads),
            Inner::Sha3 => self.rounds_of(hashes::Sha3, reads),
            Inner::Shake128 => self.rounds_of(hashes::Shake128, reads),
            Inner::TurboShake128 => self.rounds_of(hashes::TurboShake128, reads),
        }
    }

    /// Cycles of a block of each lane of a vector.
    fn rounds_of<I: Instructions>(&self, _: I, reads: bool) -> f64 {
        let level: HashLevel = hash_levels(self.level).lanes;
        let rows = vec![[0x5a; 168 * BLOCKS_AT_ONCE]; lanelock_isa::MOST_WORDS];
        let bytes = I::WORDS * size_of::<I::Word>() * BLOCKS_AT_ONCE;
        let rows: Vec<&[u8]> = rows.iter().map(|row| &row[..bytes]).collect();
        let call = || {
            black_box(if reads {
                level.run(BlocksOf::<I>(black_box(&rows), PhantomData))
            } else {
                level.run(RoundsOf::<I>(BLOCKS_AT_ONCE, PhantomData))
            });
        };
        clock::measure(WINDOWS, passes(self.level), call).cycles / float(BLOCKS_AT_ONCE)
    }
}

/// How many messages take lanes at least, and whether there are instructions for one.
fn shape<A: Algorithm>(level: AesLevel) -> (usize, bool) {
    let levels = hash_levels(level);
    (<A::Compression as Compression>::fewest_lanes(levels), has_instructions::<A>(levels.one))
}

/// Cycles of a block of one message.
fn one_message<A: Algorithm>(level: AesLevel) -> f64 {
    let one: ShaLevel = hash_levels(level).one;
    let blocks = vec![0x5a; 64 * LONG_HASH];
    let mut state = A::initial();
    let call = || {
        one.run(OneMessage::<A> { state: &mut state, blocks: black_box(&blocks) });
    };
    clock::measure(WINDOWS, passes(level), call).cycles / float(LONG_HASH)
}

/// Cycles a block of a walk.
macro_rules! walk {
    ($limits:expr, $mode:expr, $vectors:literal, $keys:literal) => {{
        let mut blocks = vec![[0x5a; 16]; mixes::BLOCKS];
        let level = $limits.level;
        let walk = || {
            black_box(level.run(Mix::<{ $mode }, $vectors, $keys>(black_box(&mut blocks[..]))));
        };
        let cycles = clock::measure(WINDOWS, passes(level), walk).cycles;
        cycles / float(mixes::processed($mode, $vectors, $limits.width))
    }};
}

impl Limits {
    /// Cycles a block of the mix of a mode: of the groups that a level takes fastest, which has many registers or
    /// few, and looks far ahead or not.
    fn instructions(&self, mode: u8, rounds: usize) -> f64 {
        macro_rules! modes {
            ($($mode:ident: $($vectors:literal)*;)*) => {
                match (mode, rounds) {
                    $(
                        (mixes::$mode, 10) => {
                            f64::INFINITY $(.min(walk!(self, mixes::$mode, $vectors, 11)))*
                        }
                        (mixes::$mode, _) => {
                            f64::INFINITY $(.min(walk!(self, mixes::$mode, $vectors, 15)))*
                        }
                    )*
                    _ => f64::NAN,
                }
            };
        }
        modes! {
            CTR: 4 8;
            CBC_DECRYPT: 4 8;
            XTS: 4 8;
            OCB: 4 8;
            GCM: 4 6 8;
            GHASH: 8 12;
            POLYVAL: 8 12;
            GCM_SIV: 4 6 8;
            LANES: 4 8;
            LANES_MAC: 4 8;
            TENTH: 3 8;
        }
    }
}

/// Cycles of one call of a kernel.
fn cycles<K: Kernel<Out = Block>>(level: AesLevel, kernel: impl Fn(Block) -> K) -> f64 {
    clock::measure(WINDOWS, passes(level), || {
        black_box(level.run(kernel([0x5a; 16])));
    })
    .cycles
}

/// Cycles of one call of a kernel whose result is the next call's input, so that they cannot overlap.
fn latency<K: Kernel<Out = Block>>(level: AesLevel, kernel: impl Fn(Block) -> K) -> f64 {
    let mut block = [0x5a; 16];
    clock::measure(WINDOWS, passes(level), || block = level.run(kernel(block))).cycles
}

/// Windows of each pass.
const WINDOWS: usize = 101;

/// The portable level is slow, and so slow that there is little noise.
fn passes(level: AesLevel) -> usize {
    if level.name() == "portable" { 2 } else { 5 }
}
