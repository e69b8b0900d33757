//! The kinds of chain: what a step of each does with a block of every lane.
//!
//! Registers of a step with 8 vectors and a 128-bit key common to all: CBC and CBC-MAC have 8
//! states, 11 keys, and the 8 blocks that were gathered for the next step: 27 of 32. Where each lane
//! has its own key, keys are operands in memory.

use core::ops::Deref;

use lanelock_isa::{AesClmul, Block, Row, SharedWindow, Window};

use crate::cipher::{Cipher, CipherKeys};

/// A kind of chain whose state is `P` blocks. It is no more than its step: a mode that has chains implements
/// it beside its other code.
pub trait ChainKind<const P: usize>: 'static {
    /// How a lane borrows the blocks of a chain.
    type Data<'d>: Lane;
    /// Whether chains of this kind may leave out blocks: see [`Pattern`](crate::Pattern).
    const PATTERNS: bool = false;

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

    /// Takes the next block of each lane; returns what stands in its place, if the kind writes.
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        state: &mut [[S::V; N]; P],
        keys: impl CipherKeys<S, C>,
    ) -> [S::V; N];
}

/// CBC and CBCS encryption. The state is the last ciphertext block.
pub(crate) struct Cbc;

impl ChainKind<1> for Cbc {
    type Data<'d> = &'d mut [Block];
    const PATTERNS: bool = true;

    #[inline(always)]
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        state: &mut [[S::V; N]; 1],
        keys: impl CipherKeys<S, C>,
    ) -> [S::V; N] {
        // C_j = E(K, P_j ^ C_(j-1)).
        state[0] = C::encrypt_xor::<_, N>(s, data, state[0], keys);
        state[0]
    }
}

/// CBC-MAC: CBC encryption of which only the last block is kept.
pub struct CmacBlocks;

impl ChainKind<1> for CmacBlocks {
    type Data<'d> = &'d [Block];

    #[inline(always)]
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        state: &mut [[S::V; N]; 1],
        keys: impl CipherKeys<S, C>,
    ) -> [S::V; N] {
        Cbc::step::<S, N, C>(s, data, state, keys)
    }
}

/// The blocks of a chain, borrowed to be overwritten or only to be read.
pub trait Lane: Default + Deref<Target = [Block]> {
    /// A window on lanes of this sort.
    type Window<'w, const N: usize>: LaneWindow<N>
    where
        Self: 'w;

    /// A window on the first `blocks` blocks of each of `lanes`, for vectors of `width` lanes.
    fn window<const N: usize>(
        width: usize,
        blocks: usize,
        lanes: &mut [Self],
    ) -> Self::Window<'_, N>;

    /// Leaves the first `blocks` blocks behind, or all if there are not so many.
    fn skip(&mut self, blocks: usize);
}

impl Lane for &mut [Block] {
    type Window<'w, const N: usize>
        = Window<'w, N>
    where
        Self: 'w;

    #[inline(always)]
    fn window<const N: usize>(width: usize, blocks: usize, lanes: &mut [Self]) -> Window<'_, N> {
        Window::new(width, blocks, lanes)
    }

    #[inline(always)]
    fn skip(&mut self, blocks: usize) {
        let blocks = blocks.min(self.len());
        *self = &mut core::mem::take(self)[blocks..];
    }
}

impl Lane for &[Block] {
    type Window<'w, const N: usize>
        = SharedWindow<'w, N>
    where
        Self: 'w;

    #[inline(always)]
    fn window<const N: usize>(
        width: usize,
        blocks: usize,
        lanes: &mut [Self],
    ) -> SharedWindow<'_, N> {
        SharedWindow::new(width, blocks, lanes)
    }

    #[inline(always)]
    fn skip(&mut self, blocks: usize) {
        *self = &self[blocks.min(self.len())..];
    }
}

/// A window on lanes, whether they can be written or not.
pub trait LaneWindow<const N: usize> {
    /// Whether writing does anything.
    const WRITES: bool;

    /// Blocks `at` to `at + count - 1` of every lane.
    fn rows(&self, at: usize, count: usize) -> Row<'_, '_, N>;

    /// Block `at` of every lane = `v`; `FULL` if the last vector has all its lanes.
    fn write_row<S: AesClmul, const FULL: bool>(&mut self, s: S, at: usize, v: [S::V; N]);

    /// Blocks `at` to `at + S::WIDTH - 1` of the lanes of vector number `vector`, as
    /// [`scatter_square`](lanelock_isa::Windows::scatter_square) takes them: one vector for each row.
    fn write_square<S: AesClmul>(&mut self, s: S, at: usize, vector: usize, square: [S::V; 4]);
}

impl<const N: usize> LaneWindow<N> for Window<'_, N> {
    const WRITES: bool = true;

    #[inline(always)]
    fn rows(&self, at: usize, count: usize) -> Row<'_, '_, N> {
        self.rows(at, count)
    }

    #[inline(always)]
    fn write_row<S: AesClmul, const FULL: bool>(&mut self, s: S, at: usize, v: [S::V; N]) {
        let in_last = self.in_last();
        let mut row = self.row_mut(S::WIDTH, at);
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
    fn write_square<S: AesClmul>(&mut self, s: S, at: usize, vector: usize, square: [S::V; 4]) {
        let in_last = self.in_last();
        let mut rows = self.rows_mut(S::WIDTH, at, S::WIDTH);
        if vector + 1 < N || in_last == S::WIDTH {
            s.scatter_square(square, &mut rows, vector);
        } else {
            s.scatter_square_last(square, &mut rows, in_last);
        }
    }
}

impl<const N: usize> LaneWindow<N> for SharedWindow<'_, N> {
    const WRITES: bool = false;

    #[inline(always)]
    fn rows(&self, at: usize, count: usize) -> Row<'_, '_, N> {
        self.rows(at, count)
    }

    #[inline(always)]
    fn write_row<S: AesClmul, const FULL: bool>(&mut self, _: S, _: usize, _: [S::V; N]) {}

    #[inline(always)]
    fn write_square<S: AesClmul>(&mut self, _: S, _: usize, _: usize, _: [S::V; 4]) {}
}
