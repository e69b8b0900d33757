//! The walk over a window: all lanes side by side, step by step.
//!
//! A step takes one block of every lane, but each lane's blocks lie in a buffer of its own: the
//! blocks of a step have to be brought into vectors and back, a transposition. There are two ways.
//!
//! - *Row by row*: the next block of each lane is loaded (16 bytes) and inserted into a vector; the
//!   result is split and stored again. One load and one store for each block, at any distance.
//! - *Square by square*, where the blocks of a lane are contiguous: 64 bytes of each of four lanes (at
//!   `vaes512`) are loaded as vectors and transposed in registers. One load and one store for four
//!   blocks, and eight shuffles for 16 blocks each way.
//!
//! Both move the next blocks in, and the last ones out, while the current ones are encrypted: what is
//! loaded does not depend on the rounds, and shuffles, loads and stores use other units than they do.
//!
//! Squares that come wait in registers, where there are few lanes, or in memory. Memory costs a store and a load for
//! each block, which shows where the round keys of all lanes are loaded, too.

use lanelock_isa::{AesClmul, Beside, Row, Window};

use super::kind::{ChainKind, Lane};
use crate::cipher::{Cipher, CipherKeys, STEPS};

/// The most vectors in flight: `MOST_LANES` at four lanes a vector. The numbers of vectors that have a
/// kernel (1, 2, 3, 4, 8) were chosen by the sweep `lanelock-lab lanes`, see `docs/performance.md`.
pub(super) const MOST_VECTORS: usize = 8;

/// With fewer squares than these, row by row is faster: the first square is loaded, and the last one
/// stored, with no rounds to overlap with.
const FEW_SQUARES: usize = 3;

/// How far to advance: `runs` runs of `run` blocks, their starts `period` blocks apart.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    pub(super) runs: usize,
    pub(super) run: usize,
    pub(super) period: usize,
}

impl Steps {
    /// The blocks from the first to the last that is taken.
    #[inline(always)]
    pub(super) fn blocks(self) -> usize {
        (self.runs - 1) * self.period + self.run
    }
}

/// Squares on their way in and out: row *j* of the square of vector *i* is `[j][i]`. One half is in
/// use, the other half is exchanged in the meantime; where squares that come are in registers, both hold results.
pub(super) type Squares<V> = [[[V; MOST_VECTORS]; 4]; 2];

/// Whether a walk over so many blocks without gaps goes square by square.
#[inline(always)]
pub(super) fn has_squares(width: usize, blocks: usize) -> bool {
    width > 1 && blocks >= FEW_SQUARES * width
}

/// Takes the steps of a window. `full` if the lanes fill all `N` vectors.
#[inline(always)]
pub(super) fn walk<S, K, const N: usize, const P: usize, C: Cipher>(
    s: S,
    state: &mut [[S::V; N]; P],
    keys: impl CipherKeys<S, C>,
    window: &mut Window<'_, K::Data<'_>, N>,
    squares: &mut Squares<S::V>,
    steps: Steps,
    full: bool,
) where
    S: AesClmul,
    K: ChainKind<P>,
{
    // The common cases first: single blocks in a row of full vectors.
    if K::PATTERNS && steps.run < steps.period {
        if steps.run > 1 {
            by_rows::<S, K, N, P, C, false, false>(s, state, keys, window, 0, steps);
        } else if full {
            by_rows::<S, K, N, P, C, true, true>(s, state, keys, window, 0, steps);
        } else {
            by_rows::<S, K, N, P, C, true, false>(s, state, keys, window, 0, steps);
        }
    } else {
        let blocks = steps.blocks();
        let mut done = 0;
        if has_squares(S::WIDTH, blocks) {
            // Squares as far as they go, then single rows.
            let turns = blocks / S::WIDTH;
            if const { N <= S::WIDTH } {
                by_squares_in_registers::<S, K, N, P, C>(s, state, keys, window, squares, turns);
            } else {
                by_squares::<S, K, N, P, C>(s, state, keys, window, squares, turns);
            }
            done = turns * S::WIDTH;
        }
        if done < blocks {
            let steps = Steps { runs: blocks - done, run: 1, period: 1 };
            by_rows::<S, K, N, P, C, true, false>(s, state, keys, window, done, steps);
        }
    }
}

/// Takes steps from block `start` on, row by row. `SINGLE` if runs are one block long, `FULL` if the
/// lanes fill all `N` vectors: conditions that cost too much inside the loop.
///
/// The blocks of the next step are gathered before the current one is encrypted: loads and inserts
/// overlap with the rounds.
#[inline(always)]
fn by_rows<S, K, const N: usize, const P: usize, C: Cipher, const SINGLE: bool, const FULL: bool>(
    s: S,
    state: &mut [[S::V; N]; P],
    keys: impl CipherKeys<S, C>,
    window: &mut Window<'_, K::Data<'_>, N>,
    start: usize,
    steps: Steps,
) where
    S: AesClmul,
    K: ChainKind<P>,
{
    let last = start + steps.blocks() - 1;
    let mut data = gather(s, window, start);
    let (mut at, mut number) = (start, 0);
    for _ in 0..steps.runs * steps.run {
        let next = if SINGLE || number + 1 == steps.run {
            number = 0;
            at + 1 + steps.period - steps.run
        } else {
            number += 1;
            at + 1
        };
        // The last step has no next one. Its last block is gathered again, and not used: that is
        // inside the window, and cheaper than a branch.
        let row = window.rows(next.min(last), 1);
        let mut coming = Gather { row, data };
        let output = K::step::<S, N, C>(s, data, state, keys, &mut coming);
        let next_data = coming.data;
        Lane::write_row::<S, N, FULL>(s, window, at, output);
        (at, data) = (next, next_data);
    }
}

/// The next row, a vector behind each round.
struct Gather<'w, V, D, const N: usize> {
    row: Row<'w, D, N>,
    data: [V; N],
}

impl<S: AesClmul, D, const N: usize> Beside<S> for Gather<'_, S::V, D, N> {
    #[inline(always)]
    fn step(&mut self, s: S, round: usize) {
        if round <= N {
            self.data[round - 1] = s.gather(self.row, round - 1);
        }
    }
}

/// Block `at` of each lane.
#[inline(always)]
fn gather<S: AesClmul, D, const N: usize>(s: S, window: &Window<'_, D, N>, at: usize) -> [S::V; N] {
    let row = window.rows(at, 1);
    let mut data = [s.gather(row, 0); N];
    for i in 1..N {
        data[i] = s.gather(row, i);
    }
    data
}

/// Takes the first `turns * S::WIDTH` steps, square by square.
///
/// While one half of `squares` goes through the steps, what came out of the other half is written and
/// the next squares take its place, some vectors at each step.
#[inline(always)]
#[expect(
    clippy::manual_memcpy,
    reason = "a call that stays one would take vectors from the registers"
)]
fn by_squares<S, K, const N: usize, const P: usize, C: Cipher>(
    s: S,
    state: &mut [[S::V; N]; P],
    keys: impl CipherKeys<S, C>,
    window: &mut Window<'_, K::Data<'_>, N>,
    squares: &mut Squares<S::V>,
    turns: usize,
) where
    S: AesClmul,
    K: ChainKind<P>,
{
    // In `S::WIDTH` steps all `N` squares of the other half have to be exchanged: so many in each step.
    let at_once = N.div_ceil(S::WIDTH);
    // In both halves: what the first turn writes, where there is no result yet, is what is there.
    for half in &mut *squares {
        for i in 0..N {
            take(s, window, half, 0, i);
        }
    }
    for turn in 0..turns {
        // The last turn has no next one, and reads its own again: cheaper than branches.
        let (before, next) = (turn.saturating_sub(1), (turn + 1).min(turns - 1));
        let [even, odd] = &mut *squares;
        // The halves change places after each square, by index instead of by copying.
        let (now, other) = if turn % 2 == 0 { (even, odd) } else { (odd, even) };
        for j in 0..S::WIDTH {
            let mut data = [now[j][0]; N];
            for i in 1..N {
                data[i] = now[j][i];
            }
            let mut exchange = Exchange {
                window: &mut *window,
                squares: &mut *other,
                first: j * at_once,
                before,
                next,
            };
            let output = K::step::<S, N, C>(s, data, state, keys, &mut exchange);
            if K::Data::WRITES {
                for i in 0..N {
                    now[j][i] = output[i];
                }
            }
        }
    }
    for i in 0..N {
        put(s, window, &squares[(turns - 1) % 2], turns - 1, i);
    }
}

/// The same where a step has at most one vector to exchange: squares stay in registers from when they are read until
/// their last row is used. A vector takes its next one when as many rows of the others have gone, so that the registers
/// are those of one square for each vector. Results go through memory all the same: stored at once, they would make what
/// is loaded next wait.
#[inline(always)]
fn by_squares_in_registers<S, K, const N: usize, const P: usize, C: Cipher>(
    s: S,
    state: &mut [[S::V; N]; P],
    keys: impl CipherKeys<S, C>,
    window: &mut Window<'_, K::Data<'_>, N>,
    results: &mut Squares<S::V>,
    turns: usize,
) where
    S: AesClmul,
    K: ChainKind<P>,
{
    let mut squares = [s.gather_square(window.rows(0, S::WIDTH), 0); N];
    for i in 1..N {
        squares[i] = s.gather_square(window.rows(0, S::WIDTH), i);
    }
    // What the first turn writes, where there is no result yet, is what is there.
    for i in 0..N {
        for j in 0..S::WIDTH {
            results[1][j][i] = squares[i][j];
        }
    }
    for turn in 0..turns {
        let (before, next) = (turn.saturating_sub(1), (turn + 1).min(turns - 1));
        let [even, odd] = &mut *results;
        let (now, other) = if turn % 2 == 0 { (even, odd) } else { (odd, even) };
        let mut coming = squares;
        // Written out: in a loop that stays one, squares would live in memory.
        macro_rules! steps {
            ($($j:literal)+) => {$(
                if const { $j < S::WIDTH } {
                    let mut data = [squares[0][$j]; N];
                    for i in 1..N {
                        data[i] = squares[i][$j];
                    }
                    let mut exchange = ExchangeOne {
                        window: &mut *window,
                        results: &*other,
                        coming: &mut coming,
                        vector: $j,
                        before,
                        next,
                    };
                    let output = K::step::<S, N, C>(s, data, state, keys, &mut exchange);
                    if K::Data::WRITES {
                        for i in 0..N {
                            now[$j][i] = output[i];
                        }
                    }
                }
            )+};
        }
        steps!(0 1 2 3);
        squares = coming;
    }
    for i in 0..N {
        put(s, window, &results[(turns - 1) % 2], turns - 1, i);
    }
}

/// One vector, if there is one of this number: the results of its last square go out, and its next square comes.
struct ExchangeOne<'x, 'w, V, D, const N: usize> {
    window: &'x mut Window<'w, D, N>,
    results: &'x [[V; MOST_VECTORS]; 4],
    coming: &'x mut [[V; 4]; N],
    vector: usize,
    before: usize,
    next: usize,
}

/// The rounds behind which [`ExchangeOne`] takes a square in and puts one out: apart from each other, so that the
/// shuffles of one do not wait for those of the other.
const COMES: usize = STEPS / 3;
const GOES: usize = 2 * STEPS / 3;

impl<S: AesClmul, D: Lane, const N: usize> Beside<S> for ExchangeOne<'_, '_, S::V, D, N> {
    #[inline(always)]
    fn step(&mut self, s: S, round: usize) {
        let i = self.vector;
        if i < N && round == COMES {
            let rows = self.window.rows(self.next * S::WIDTH, S::WIDTH);
            self.coming[i] = s.gather_square(rows, i);
        } else if i < N && round == GOES {
            put(s, self.window, self.results, self.before, i);
        }
    }
}

/// Squares of which the results go out, before the next ones take their places: in a step as many as are half of the
/// places between its rounds, or fewer.
struct Exchange<'x, 'w, V, D, const N: usize> {
    window: &'x mut Window<'w, D, N>,
    squares: &'x mut [[V; MOST_VECTORS]; 4],
    /// The first vector whose square is exchanged in this step.
    first: usize,
    /// The numbers of the squares that go and come.
    before: usize,
    next: usize,
}

impl<S: AesClmul, D: Lane, const N: usize> Beside<S> for Exchange<'_, '_, S::V, D, N> {
    #[inline(always)]
    fn step(&mut self, s: S, round: usize) {
        let (number, comes) = ((round - 1) / 2, round.is_multiple_of(2));
        let i = self.first + number;
        if number < N.div_ceil(S::WIDTH) && i < N {
            if comes {
                take(s, self.window, self.squares, self.next, i);
            } else {
                put(s, self.window, self.squares, self.before, i);
            }
        }
    }
}

/// Reads square number `turn` of vector `i`.
#[inline(always)]
fn take<S: AesClmul, D, const N: usize>(
    s: S,
    window: &Window<'_, D, N>,
    squares: &mut [[S::V; MOST_VECTORS]; 4],
    turn: usize,
    i: usize,
) {
    let square = s.gather_square(window.rows(turn * S::WIDTH, S::WIDTH), i);
    for j in 0..S::WIDTH {
        squares[j][i] = square[j];
    }
}

/// Writes square number `turn` of vector `i`.
#[inline(always)]
fn put<S: AesClmul, D: Lane, const N: usize>(
    s: S,
    window: &mut Window<'_, D, N>,
    squares: &[[S::V; MOST_VECTORS]; 4],
    turn: usize,
    i: usize,
) {
    if D::WRITES {
        let mut square = [squares[0][i]; 4];
        for j in 1..S::WIDTH {
            square[j] = squares[j][i];
        }
        D::write_square(s, window, turn * S::WIDTH, i, square);
    }
}
