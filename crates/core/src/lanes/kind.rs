//! The kinds of chain: what a step of each does with a block of every lane.
//!
//! Registers of a step with 8 vectors and a 128-bit key common to all: CBC and CBC-MAC have 8
//! states, 11 keys, and the 8 blocks that were gathered for the next step: 27 of 32. Where each lane
//! has its own key, keys are operands in memory.

use core::ops::Deref;

use lanelock_isa::{AesClmul, Beside, Block, LaneBuffers, Window};

use crate::cipher::{Cipher, CipherKeys};

/// A kind of chain whose state is `P` blocks. It is no more than its step: a mode that has chains implements
/// it beside its other code.
pub trait ChainKind<const P: usize>: 'static {
    /// How a lane borrows the blocks of a chain.
    type Data<'d>: Lane;
    /// Whether chains of this kind may leave out blocks: see [`Pattern`](crate::Pattern).
    const PATTERNS: bool = false;

    /// The same blocks, borrowed for a shorter time.
    fn reborrow<'s>(data: &'s mut Self::Data<'_>) -> Self::Data<'s>;

    /// The state in the form that the steps use, from the blocks of the lanes.
    #[inline(always)]
    fn enter<S: AesClmul, const N: usize>(_: S, state: [[S::V; N]; P]) -> [[S::V; N]; P] {
        state
    }

    /// The inverse of [`enter`](Self::enter).
    #[inline(always)]
    fn leave<S: AesClmul, const N: usize>(_: S, state: [[S::V; N]; P]) -> [[S::V; N]; P] {
        state
    }

    /// Takes the next block of each lane; returns what stands in its place, if the kind writes. Other work is done
    /// between the rounds.
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        state: &mut [[S::V; N]; P],
        keys: impl CipherKeys<S, C>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N];
}

/// CBC and CBCS encryption. The state is the last ciphertext block.
pub(crate) struct Cbc;

impl ChainKind<1> for Cbc {
    type Data<'d> = &'d mut [Block];
    const PATTERNS: bool = true;

    fn reborrow<'s>(data: &'s mut Self::Data<'_>) -> Self::Data<'s> {
        data
    }

    #[inline(always)]
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        [state]: &mut [[S::V; N]; 1],
        keys: impl CipherKeys<S, C>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N] {
        // C_j = E(K, P_j ^ C_(j-1)).
        for i in 0..N {
            state[i] = s.xor(state[i], C::whiten(s, data[i], keys, i));
        }
        let begun = C::begin_beside::<S, true, N>(s, *state, keys, beside);
        for i in 0..N {
            state[i] = C::end(s, begun[i], C::join(s, s.zero(), keys, i), keys, i);
        }
        *state
    }
}

/// CBC-MAC: CBC encryption of which only the last block is kept.
pub struct CmacBlocks;

impl ChainKind<1> for CmacBlocks {
    type Data<'d> = &'d [Block];

    fn reborrow<'s>(data: &'s mut Self::Data<'_>) -> Self::Data<'s> {
        data
    }

    #[inline(always)]
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        state: &mut [[S::V; N]; 1],
        keys: impl CipherKeys<S, C>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N] {
        Cbc::step::<S, N, C>(s, data, state, keys, beside)
    }
}

/// The blocks of a chain, borrowed to be overwritten or only to be read.
pub trait Lane: Deref<Target = [Block]> + Sized {
    /// Whether the blocks are overwritten.
    const WRITES: bool;

    /// They take a lane.
    fn seat(self, buffers: &mut LaneBuffers<Self>, lane: usize);

    /// Block `at` of every lane = `v`, if lanes are written; `FULL` if the last vector has all its lanes.
    #[inline(always)]
    fn write_row<S: AesClmul, const N: usize, const FULL: bool>(
        _: S,
        _: &mut Window<'_, Self, N>,
        _: usize,
        _: [S::V; N],
    ) {
    }

    /// Blocks `at` to `at + S::WIDTH - 1` of the lanes of vector number `vector`, as
    /// [`scatter_square`](lanelock_isa::Windows::scatter_square) takes them: one vector for each row. Nothing, if
    /// lanes are not written.
    #[inline(always)]
    fn write_square<S: AesClmul, const N: usize>(
        _: S,
        _: &mut Window<'_, Self, N>,
        _: usize,
        _: usize,
        _: [S::V; 4],
    ) {
    }
}

impl Lane for &mut [Block] {
    const WRITES: bool = true;

    #[inline(always)]
    fn seat(self, buffers: &mut LaneBuffers<Self>, lane: usize) {
        buffers.seat(lane, self);
    }

    #[inline(always)]
    fn write_row<S: AesClmul, const N: usize, const FULL: bool>(
        s: S,
        window: &mut Window<'_, Self, N>,
        at: usize,
        v: [S::V; N],
    ) {
        let in_last = window.in_last();
        let mut row = window.row_mut(S::WIDTH, at);
        for i in 0..N - 1 {
            s.scatter(v[i], &mut row, i);
        }
        if FULL {
            s.scatter(v[N - 1], &mut row, N - 1);
        } else {
            s.scatter_last(v[N - 1], &mut row, in_last);
        }
    }

    #[inline(always)]
    fn write_square<S: AesClmul, const N: usize>(
        s: S,
        window: &mut Window<'_, Self, N>,
        at: usize,
        vector: usize,
        square: [S::V; 4],
    ) {
        let in_last = window.in_last();
        let mut rows = window.rows_mut(S::WIDTH, at, S::WIDTH);
        if vector + 1 < N || in_last == S::WIDTH {
            s.scatter_square(square, &mut rows, vector);
        } else {
            s.scatter_square_last(square, &mut rows, in_last);
        }
    }
}

impl Lane for &[Block] {
    const WRITES: bool = false;

    #[inline(always)]
    fn seat(self, buffers: &mut LaneBuffers<Self>, lane: usize) {
        buffers.seat(lane, self);
    }
}
