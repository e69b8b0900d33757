//! Vectors of 16-byte blocks: how they are loaded and stored, and arithmetic of their bits.
//!
//! What only some work needs is in traits of their own: rounds of AES, carry-less products, rows of
//! many buffers. [`AesClmul`] is all of them.

mod aes;
mod clmul;
mod window;

pub use aes::{AesRounds, Begun, Beside, LAST, RoundKeys, STEPS, double_constant};
pub use clmul::Clmul;
pub use window::{LaneBuffers, MOST_LANES, Row, RowMut, Window, Windows};

use crate::Ways;
use crate::{
    Block, Part,
    block::{copy_part, halves, padded},
};

/// An algorithm that is generic over the level: one body, compiled once per level.
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait Kernel {
    /// What the algorithm returns.
    type Out;
    /// Whether vectors may be spilled to the stack, whose frame is aligned for them. Where it matters that a call is short,
    /// a kernel that has registers enough says no.
    const SPILLS: bool = true;
    /// The body.
    fn run<S: AesClmul>(self, s: S) -> Self::Out;
}

/// What every level can do: AES, carry-less products, and rows of many buffers.
pub trait AesClmul: AesRounds + Clmul + Windows {}

impl<S: AesRounds + Clmul + Windows> AesClmul for S {}

/// The most blocks of a vector.
pub const WIDEST: usize = 4;

pub(crate) mod sealed {
    /// Only this crate adds levels, so that each holds the contract of its token.
    #[expect(unnameable_types, reason = "sealed: being unnameable is its purpose")]
    pub trait Sealed {}
}

/// Vectors of 16-byte blocks at one level.
///
/// `V` holds [`WIDTH`](Blocks::WIDTH) blocks; block *i* of a vector is called its lane *i*.
/// Slices that are shorter than an operation needs make it panic; they never make it read or write
/// elsewhere.
pub trait Blocks: Copy + sealed::Sealed {
    /// A vector of `WIDTH` blocks.
    type V: Copy;
    /// The same instruction set at one block a vector, for tails and for few chains.
    type Narrow: AesClmul;
    /// The same instruction set at two blocks a vector, or at one if it has no more: for states that
    /// are two blocks wide.
    type Pair: AesClmul;
    /// Blocks in a vector.
    const WIDTH: usize;
    /// Vectors of independent work that are worth having in flight, at most 8: with a latency of four
    /// cycles a round and two rounds started a cycle, 4 * 2 fill the units.
    const VECTORS: usize;

    /// The narrow form of this level.
    fn narrow(self) -> Self::Narrow;
    /// The form of this level for pairs.
    fn pair(self) -> Self::Pair;
    /// Which of two ways a kernel takes where processors differ.
    fn ways(self) -> Ways;

    /// Calls a part of a kernel, as a function with this level's instructions.
    fn call<P: Part<Self>>(self, part: P) -> P::Out;
    /// Runs a part of a kernel where it stands: inlined, and at the portable level, where few operations are
    /// much code, as a function.
    #[inline(always)]
    fn run_part<P: Part<Self>>(self, part: P) -> P::Out {
        part.run(self)
    }

    /// `v` through an empty `asm!`: the optimiser keeps such blocks in the order of the program, so
    /// what makes `v` comes before it and what uses `v` behind it. Orders instructions; changes no
    /// value.
    fn here(self, v: Self::V) -> Self::V;

    /// Loads the first `WIDTH` blocks of `src`.
    fn load(self, src: &[Block]) -> Self::V;
    /// Stores to the first `WIDTH` blocks of `dst`.
    fn store(self, v: Self::V, dst: &mut [Block]);
    /// Lane *i* = `src[at + i * stride]`.
    #[inline(always)]
    fn load_strided(self, src: &[Block], at: usize, stride: usize) -> Self::V {
        let mut blocks = [&src[at]; WIDEST];
        for i in 0..Self::WIDTH {
            blocks[i] = &src[at + i * stride];
        }
        self.load_each(&blocks)
    }
    /// `dst[at + i * stride]` = lane *i*.
    #[inline(always)]
    fn store_strided(self, v: Self::V, dst: &mut [Block], at: usize, stride: usize) {
        let lanes = self.lanes(v);
        for i in 0..Self::WIDTH {
            self.narrow().store(lanes[i], core::slice::from_mut(&mut dst[at + i * stride]));
        }
    }
    /// The lanes, each as a vector of the narrow form. Only the first `WIDTH` of them count.
    fn lanes(self, v: Self::V) -> [<Self::Narrow as Blocks>::V; WIDEST];
    /// The vector whose [`lanes`](Blocks::lanes) are the first `WIDTH` of these.
    fn join_lanes(self, lanes: [<Self::Narrow as Blocks>::V; WIDEST]) -> Self::V;
    /// Lane *i* = `blocks[i]`, for blocks that lie anywhere.
    fn load_each(self, blocks: &[&Block]) -> Self::V;

    /// The first bytes of a vector from `src`, at most `16 * WIDTH`, and zeros behind them. This body is for vectors of
    /// one block or two; levels with wider ones have their own.
    #[inline(always)]
    fn load_part(self, src: &[u8]) -> Self::V {
        const { assert!(Self::WIDTH <= 2) };
        if src.len() == 16 * Self::WIDTH {
            return self.load(src.as_chunks().0);
        }
        if Self::WIDTH == 1 {
            let [low, high] = halves(&padded(src));
            return self.splat_halves(low, high);
        }
        // One copy of the code for a part of a block.
        let n = self.narrow();
        let blocks = src.split_at_checked(16);
        let last = n.load_part(blocks.map_or(src, |(_, behind)| behind));
        if let Some((first, _)) = blocks {
            self.join_lanes([n.load(first.as_chunks().0), last, last, last])
        } else {
            self.in_first_lane(last)
        }
    }
    /// Stores the first `dst.len()` bytes of a vector, at most `16 * WIDTH`. This body is as that of
    /// [`load_part`](Blocks::load_part).
    #[inline(always)]
    fn store_part(self, v: Self::V, dst: &mut [u8]) {
        const { assert!(Self::WIDTH <= 2) };
        if dst.len() == 16 * Self::WIDTH {
            return self.store(v, dst.as_chunks_mut().0);
        }
        let n = self.narrow();
        if Self::WIDTH == 1 {
            let mut block = [[0; 16]];
            self.store(v, &mut block);
            return copy_part(&block[0], dst);
        }
        let [first, second, ..] = self.lanes(v);
        let (mut last, mut behind) = (first, dst);
        if behind.len() >= 16 {
            let (block, rest) = behind.split_at_mut(16);
            n.store(first, block.as_chunks_mut().0);
            (last, behind) = (second, rest);
        }
        n.store_part(last, behind);
    }
    /// The first `bytes` bytes of a vector, and zeros behind them.
    fn keep(self, v: Self::V, bytes: usize) -> Self::V;

    /// All lanes zero.
    fn zero(self) -> Self::V;
    /// All lanes = `block`.
    fn splat(self, block: &Block) -> Self::V;
    /// All lanes = the block of these halves, as little-endian numbers: for blocks that are computed,
    /// which would go through memory otherwise.
    fn splat_halves(self, low: u64, high: u64) -> Self::V;
    /// All lanes = `v`.
    fn splat_narrow(self, v: <Self::Narrow as Blocks>::V) -> Self::V;
    /// The last lane as a vector of the narrow form, without the way through memory that
    /// [`last_lane`](Blocks::last_lane) takes.
    #[inline(always)]
    fn last_narrow(self, v: Self::V) -> <Self::Narrow as Blocks>::V {
        self.lanes(v)[Self::WIDTH - 1]
    }
    /// `v` in the first lane, zero in the others.
    fn in_first_lane(self, v: <Self::Narrow as Blocks>::V) -> Self::V;
    /// The exclusive or of all lanes.
    fn sum_lanes(self, v: Self::V) -> <Self::Narrow as Blocks>::V;

    /// Bitwise exclusive or.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise exclusive or of three vectors, which some instruction sets have.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Adds the 32-bit little-endian words of each block, modulo 2^32.
    fn add_words(self, a: Self::V, b: Self::V) -> Self::V;
    /// The 16 bytes of each block in reverse order.
    fn reverse(self, v: Self::V) -> Self::V;
    /// The two halves of each block exchanged.
    fn swap_halves(self, v: Self::V) -> Self::V;
    /// Each block moved up by `N` bytes (byte 0 goes to byte `N`), zeros behind it.
    fn bytes_up<const N: i32>(self, v: Self::V) -> Self::V;
    /// Each block moved down by `N` bytes (byte `N` goes to byte 0), zeros behind it.
    fn bytes_down<const N: i32>(self, v: Self::V) -> Self::V;
    /// Each half of a block, as a little-endian number, shifted left by `N` bits.
    fn shift_left<const N: u32>(self, v: Self::V) -> Self::V;
    /// Each half of a block, as a little-endian number, shifted right by `N` bits.
    fn shift_right<const N: u32>(self, v: Self::V) -> Self::V;
    /// Like [`shift_left`](Blocks::shift_left), block by block by the number of bits that stands in
    /// both halves of the block of `counts`. 64 and more give zero.
    fn shift_left_by(self, v: Self::V, counts: Self::V) -> Self::V;
    /// Like [`shift_right`](Blocks::shift_right), with counts as
    /// [`shift_left_by`](Blocks::shift_left_by) takes them.
    fn shift_right_by(self, v: Self::V, counts: Self::V) -> Self::V;

    /// Twice each block: a little-endian polynomial over GF(2) times x, modulo
    /// x^128 + x^7 + x^2 + x + 1. `carries` comes from [`carries`](Blocks::carries) of the first block
    /// of a chain of at most 31 doublings, of which each leaves there what the next needs.
    fn double(self, v: Self::V, carries: &mut Self::V) -> Self::V;
    /// What [`double`](Blocks::double) needs to begin with `v`.
    fn carries(self, v: Self::V) -> Self::V;

    /// Lane 0 = the last lane of `before`, lane *i* = lane *i - 1* of `v`: the previous ciphertext
    /// blocks in CBC decryption.
    fn shift_in(self, before: Self::V, v: Self::V) -> Self::V;
    /// A vector with `block` in its last lane, for the first [`shift_in`](Blocks::shift_in).
    #[inline(always)]
    fn in_last_lane(self, block: &Block) -> Self::V {
        // In every lane: `shift_in` reads the last one only, and a broadcast is one load.
        self.splat(block)
    }
    /// Lane `lane`, by way of memory.
    #[inline(always)]
    fn lane(self, v: Self::V, lane: usize) -> Block {
        let mut blocks = [[0; 16]; WIDEST];
        self.store(v, &mut blocks);
        blocks[lane]
    }
    /// `v` with `block` in lane `lane`, which is less than `WIDTH`.
    #[inline(always)]
    fn with_lane(self, v: Self::V, lane: usize, block: &Block) -> Self::V {
        if Self::WIDTH == 1 {
            return self.load(core::slice::from_ref(block));
        }
        let mut blocks = [[0; 16]; WIDEST];
        self.store(v, &mut blocks);
        blocks[lane] = *block;
        self.load(&blocks)
    }
    /// The last lane.
    #[inline(always)]
    fn last_lane(self, v: Self::V) -> Block {
        self.lane(v, Self::WIDTH - 1)
    }

    /// Running counters: lane *i* stands for the big-endian number `first` + *i*. Only the low 64
    /// bits count; the caller splits a run where they would wrap.
    fn counters(self, first: &Block) -> Self::V;
    /// Running counters: each lane on its own, from its counter block.
    fn lane_counters(self, blocks: Self::V) -> Self::V;
    /// Adds `n` to every running counter.
    fn counters_add(self, c: Self::V, n: u64) -> Self::V;
    /// The counter blocks, big-endian, as the cipher takes them.
    fn counter_blocks(self, c: Self::V) -> Self::V;
}
