//! Columns in memory, to which some rows of a product or of a reduction are added at once.

use lanelock_isa::Limbs;

use crate::digits::{DIGIT, DIGIT_SHIFT};

/// Rows of a product that are added at once.
pub(super) const TILE: usize = 5;
/// The columns that a digit times a tile adds to.
pub(super) const WINDOW: usize = TILE + 1;

/// Kinds of products: of `a` and `b`.
pub(super) const PRODUCT: u8 = 0;
/// Of `a` and `a`, where `b` is twice `a`.
pub(super) const SQUARE: u8 = 1;
/// Of `a` and `b`, where `c` is `b` divided by the root of `R`. The lower half of `a` times `c` and the upper half times
/// `b` have only half the digits more than a result, so that half of a reduction is enough (this is "almost half
/// Montgomery multiplication" in the literature of AVX-512 IFMA). Results are below 4 m if `a` is below 2 m, `b` below
/// 4 m and `c` below 2 m.
pub(super) const HALVES: u8 = 2;
/// `a` divided by the root of `R`: half of a reduction.
pub(super) const HALF: u8 = 3;

/// The digits of a number that a tile holds.
#[inline(always)]
pub(super) fn tile_of<S: Limbs>(number: &[S::V], at: usize) -> [S::V; TILE] {
    *number[at..].first_chunk().expect("whole tiles")
}

/// Adds a digit times a tile to the columns that begin with the digit's.
#[inline(always)]
pub(super) fn add_row<S: Limbs>(s: S, window: &mut [S::V; WINDOW], x: S::V, tile: &[S::V; TILE]) {
    for t in 0..TILE {
        window[t] = s.mul_low(window[t], x, tile[t]);
    }
    for t in 0..TILE {
        window[t + 1] = s.mul_high(window[t + 1], x, tile[t]);
    }
}

/// The window a column further; what leaves it has been stored. (A loop that moves the columns would keep them in
/// memory.)
#[inline(always)]
pub(super) fn next_window<V: Copy>(window: [V; WINDOW], column: V) -> [V; WINDOW] {
    let [_, a, b, c, d, e] = window;
    [a, b, c, d, e, column]
}

/// Adds the digits of `x` times a tile to the columns, of which the first ones are in `window` already.
#[inline(always)]
pub(super) fn add_rows_from<S: Limbs>(
    s: S,
    sums: &mut [S::V],
    x: &[S::V],
    tile: &[S::V; TILE],
    mut window: [S::V; WINDOW],
) {
    let count = x.len();
    let sums = &mut sums[..count + WINDOW];
    for j in 0..count {
        add_row(s, &mut window, x[j], tile);
        sums[j] = window[0];
        window = next_window(window, sums[j + WINDOW]);
    }
    for (sum, column) in sums[count..].iter_mut().zip(window) {
        *sum = column;
    }
}

/// The columns that a window begins with.
#[inline(always)]
pub(super) fn window_at<S: Limbs>(sums: &[S::V]) -> [S::V; WINDOW] {
    *sums.first_chunk().expect("a column more than the digits")
}

/// Adds `x` times a tile to the columns.
#[inline(always)]
pub(super) fn add_rows<S: Limbs>(s: S, sums: &mut [S::V], x: &[S::V], tile: &[S::V; TILE]) {
    let window = window_at::<S>(sums);
    add_rows_from(s, sums, x, tile, window);
}

/// Adds the products of the tile at `at` with itself and, twice, with the digits above it.
#[inline(always)]
pub(super) fn square_rows<S: Limbs>(
    s: S,
    sums: &mut [S::V],
    a: &[S::V],
    twice: &[S::V],
    at: usize,
) {
    let tile = tile_of::<S>(a, at);
    let mut cross = [s.splat(0); 2 * TILE];
    for i in 0..TILE {
        for j in i + 1..TILE {
            cross[i + j] = s.mul_low(cross[i + j], tile[i], tile[j]);
            cross[i + j + 1] = s.mul_high(cross[i + j + 1], tile[i], tile[j]);
        }
    }
    let sums = &mut sums[2 * at..];
    let own: &mut [S::V; 2 * TILE] = sums.first_chunk_mut().expect("two columns a digit");
    for i in 0..TILE {
        let low = s.add(own[2 * i], s.shift_left::<1>(cross[2 * i]));
        let high = s.add(own[2 * i + 1], s.shift_left::<1>(cross[2 * i + 1]));
        own[2 * i] = s.mul_low(low, tile[i], tile[i]);
        own[2 * i + 1] = s.mul_high(high, tile[i], tile[i]);
    }
    // The first digit above the tile, twice, without the bit that comes from the tile.
    let Some((&first, _)) = a[at + TILE..].split_first() else { return };
    let first = s.and(s.shift_left::<1>(first), s.splat(DIGIT));
    let sums = &mut sums[TILE..];
    let mut window = window_at::<S>(sums);
    add_row(s, &mut window, first, &tile);
    sums[0] = window[0];
    window = next_window(window, sums[WINDOW]);
    add_rows_from(s, &mut sums[1..], &twice[at + TILE + 1..], &tile, window);
}

/// Adds the rows of the product that the tile of `a` at `at` makes.
#[inline(always)]
pub(super) fn rows<S: Limbs, const KIND: u8>(
    s: S,
    sums: &mut [S::V],
    [a, b, c]: [&[S::V]; 3],
    at: usize,
) {
    match KIND {
        SQUARE => square_rows(s, sums, a, b, at),
        HALVES => {
            add_rows(s, &mut sums[at..], c, &tile_of::<S>(a, at));
            add_rows(s, &mut sums[at..], b, &tile_of::<S>(a, a.len() / 2 + at));
        }
        HALF if at == 0 => sums[..a.len()].copy_from_slice(a),
        HALF => (),
        _ => add_rows(s, &mut sums[at..], b, &tile_of::<S>(a, at)),
    }
}

/// The digits of the quotient that make the columns multiples of 2^52, and what they carry into the next.
#[inline(always)]
pub(super) fn quotients<S: Limbs>(
    s: S,
    mut columns: [S::V; TILE],
    m: &[S::V],
    k0: S::V,
) -> ([S::V; TILE], S::V) {
    let zero = s.splat(0);
    let m = tile_of::<S>(m, 0);
    let mut q = [zero; TILE];
    let mut carry = zero;
    for t in 0..TILE {
        let column = s.add(columns[t], carry);
        q[t] = s.mul_low(zero, column, k0);
        carry = s.shift_right::<DIGIT_SHIFT>(s.mul_low(column, m[0], q[t]));
        for j in 1..TILE - t {
            columns[t + j] = s.mul_high(columns[t + j], m[j - 1], q[t]);
            columns[t + j] = s.mul_low(columns[t + j], m[j], q[t]);
        }
    }
    (q, carry)
}

/// Adds the first digits of the modulus times the quotient's to the columns that begin with those after
/// [`quotients`]: returns a tile of columns, which are whole then, and the window after them.
#[inline(always)]
pub(super) fn reduce_first<S: Limbs>(
    s: S,
    sums: &[S::V],
    m: &[S::V],
    q: &[S::V; TILE],
    carry: S::V,
) -> ([S::V; TILE], [S::V; WINDOW]) {
    let mut window = window_at::<S>(sums);
    window[0] = s.add(window[0], carry);
    let (first, second) = (tile_of::<S>(m, 0), tile_of::<S>(m, TILE));
    for j in 0..TILE {
        for t in 0..TILE {
            if j + t >= TILE {
                window[j + t - TILE] = s.mul_low(window[j + t - TILE], first[j], q[t]);
            }
            if j + t + 1 >= TILE {
                window[j + t + 1 - TILE] = s.mul_high(window[j + t + 1 - TILE], first[j], q[t]);
            }
        }
    }
    let mut columns = [s.splat(0); TILE];
    for j in 0..TILE {
        add_row(s, &mut window, second[j], q);
        columns[j] = window[0];
        window = next_window(window, sums[j + WINDOW]);
    }
    (columns, window)
}

/// Sums of columns as digits of 52 bits. What is left over is zero where the number fits.
#[inline(always)]
pub(super) fn normalise<S: Limbs>(s: S, digits: &mut [S::V], sums: &[S::V]) {
    let mut carry = s.splat(0);
    for (digit, &sum) in digits.iter_mut().zip(sums) {
        let sum = s.add(sum, carry);
        carry = s.shift_right::<DIGIT_SHIFT>(sum);
        *digit = s.and(sum, s.splat(DIGIT));
    }
}

/// Twice the number.
#[inline(always)]
pub(super) fn double<S: Limbs>(s: S, twice: &mut [S::V], a: &[S::V]) {
    let mut low = s.splat(0);
    for (twice, &digit) in twice.iter_mut().zip(a) {
        let shifted = s.and(s.shift_left::<1>(digit), s.splat(DIGIT));
        *twice = s.or(shifted, s.shift_right::<{ DIGIT_SHIFT - 1 }>(low));
        low = digit;
    }
}
