//! Folding by matrices, for polynomials of 32 bits where that is faster than by products.
//!
//! The bytes at the same place in four vectors of 64 bytes are 32 bits, and as polynomials mod P they
//! make up every remainder, if the four vectors are well chosen. So moving the message on by x^n is a
//! matrix of 32 by 32 bits, 16 of 8 by 8, that takes such four bytes to the same four places further
//! on: all four vectors cost 16 matrix products, where folding costs 8 carry-less ones.
//!
//! A *window* of 12 vectors has two such fours, and four vectors that are folded by products, since the
//! processor has units for both.

use lanelock_isa::{AesClmul, Block, Kernel};

use super::{
    fold::{Folder, Update},
    polynomial::{MOST_LANES, Polynomial},
};

/// The register `value` after `data`: one window at least, and worth it from [`WORTH_IT`] bytes on.
/// The vectors of the level have 64 bytes.
pub(super) struct UpdateByMatrices<'a> {
    pub(super) matrices: &'a Matrices,
    pub(super) update: Update<'a>,
}

impl Kernel for UpdateByMatrices<'_> {
    type Out = u64;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> u64 {
        let Update { polynomial, value, data } = self.update;
        assert!(S::WIDTH == MOST_LANES, "the matrices are for vectors of 64 bytes");
        let folder = Folder { s, polynomial };
        let mut rest = data.as_chunks().0;
        let v = folder.windows(self.matrices, folder.register(value), &mut rest);
        let v = folder.fold_8(v, &mut rest);
        folder.finish(v, data)
    }
}

/// From so many bytes on, matrices are faster.
pub(super) const WORTH_IT: usize = 4 * WINDOW * 64;

/// Vectors in a window.
const WINDOW: usize = 12;

/// The places of one four. Seen from the last, their distances make the polynomials independent for
/// both of the CRCs here, which [`Matrices::new`] checks.
const FOUR: [usize; 4] = [0, 2, 3, 4];

/// The places of the other four: the same distances.
const OTHER_FOUR: [usize; 4] = [5, 7, 8, 9];

/// The places of the vectors that are folded.
const FOLDED: [usize; 4] = [1, 6, 10, 11];

/// How a window moves onto the next one.
pub(super) struct Matrices {
    /// Row *i*, column *j*: what byte *j* of four adds to byte *i*.
    four: [[u64; 4]; 4],
    /// The factors that move the halves of a block.
    folded: Block,
}

impl Matrices {
    /// For a polynomial of 32 bits.
    ///
    /// # Panics
    /// If the bytes of four vectors are not independent.
    pub(super) const fn new(polynomial: &Polynomial) -> Self {
        // Column 8 *j* + *b* of the first matrix is bit *b* of byte *j* as a polynomial mod P, and of
        // the second the same a window further away. Row reduction of both by the first leaves what
        // is sought in the second. Each number is a row: the first matrix low, the second high.
        let mut rows = [0_u64; 32];
        let mut j = 0;
        while j < 4 {
            let n = 512 * (FOUR[3] - FOUR[j]) + 32;
            let (mut near, mut far) = (polynomial.power(n), polynomial.power(n + 512 * WINDOW));
            let mut column = 8 * j + 8;
            while column > 8 * j {
                column -= 1;
                let mut row = 0;
                while row < 32 {
                    rows[row] |= (near >> row & 1) << column | (far >> row & 1) << (32 + column);
                    row += 1;
                }
                (near, far) = (polynomial.times_x(near), polynomial.times_x(far));
            }
            j += 1;
        }
        let mut pivot = 0;
        while pivot < 32 {
            let mut found = pivot;
            while rows[found] >> pivot & 1 == 0 {
                found += 1;
            }
            rows.swap(pivot, found);
            let mut row = 0;
            while row < 32 {
                if row != pivot && rows[row] >> pivot & 1 == 1 {
                    rows[row] ^= rows[pivot];
                }
                row += 1;
            }
            pivot += 1;
        }
        let mut four = [[0; 4]; 4];
        let mut row = 0;
        while row < 32 {
            let mut j = 0;
            while j < 4 {
                // Bit b of a product belongs to byte 7 - b of the matrix.
                four[row / 8][j] |= (rows[row] >> (32 + 8 * j) & 0xff) << (8 * (7 - row % 8));
                j += 1;
            }
            row += 1;
        }
        Self { four, folded: polynomial.factors(512 * WINDOW) }
    }
}

impl<S: AesClmul> Folder<'_, S> {
    /// Takes the first window of a message, with the register added to its start, moves it over all
    /// whole windows, and leaves the end of it.
    #[inline(always)]
    fn windows(&self, m: &Matrices, value: S::V, rest: &mut &[Block]) -> [S::V; 8] {
        let s = self.s;
        let length = WINDOW * S::WIDTH;
        let (window, after) = rest.split_at(length);
        *rest = after;
        let mut four = self.at(window, FOUR);
        let mut other_four = self.at(window, OTHER_FOUR);
        let mut folded = self.at(window, FOLDED);
        four[0] = s.xor(four[0], value);
        // Registers: 16 matrices, 12 running vectors, the factors of those that are folded: 29 of
        // the 32 at `vaes512`, and three for temporaries.
        let mut matrices = [[value; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                matrices[i][j] = s.splat_halves(m.four[i][j], m.four[i][j]);
            }
        }
        let factors = s.splat(&m.folded);
        while rest.len() >= length {
            let (window, after) = rest.split_at(length);
            four = self.times(&matrices, four, self.at(window, FOUR));
            other_four = self.times(&matrices, other_four, self.at(window, OTHER_FOUR));
            let data = self.at(window, FOLDED);
            for i in 0..4 {
                folded[i] = s.xor(self.product(folded[i], factors), data[i]);
            }
            *rest = after;
        }
        // The end: the 12 vectors in the order of the message, of which the first four are folded
        // onto the next four; the last eight stand for all.
        let mut v = [value; WINDOW];
        for i in 0..4 {
            (v[FOUR[i]], v[OTHER_FOUR[i]], v[FOLDED[i]]) = (four[i], other_four[i], folded[i]);
        }
        let factors = s.splat(self.polynomial.fold(4 * S::WIDTH));
        let mut end = [value; 8];
        for i in 0..8 {
            end[i] = if i < 4 { s.xor(self.product(v[i], factors), v[4 + i]) } else { v[4 + i] };
        }
        end
    }

    /// The vectors at these places of a window.
    #[inline(always)]
    fn at(&self, window: &[Block], places: [usize; 4]) -> [S::V; 4] {
        let mut v = [self.s.load(&window[places[0] * S::WIDTH..]); 4];
        for i in 1..4 {
            v[i] = self.s.load(&window[places[i] * S::WIDTH..]);
        }
        v
    }

    /// A matrix of matrices times four vectors, and four vectors added.
    #[inline(always)]
    fn times(&self, m: &[[S::V; 4]; 4], [a, b, c, d]: [S::V; 4], mut sum: [S::V; 4]) -> [S::V; 4] {
        let s = self.s;
        for i in 0..4 {
            // Four products that do not wait for one another, added as a tree.
            let ab = s.xor(s.times_matrix(a, m[i][0]), s.times_matrix(b, m[i][1]));
            let cd = s.xor(s.times_matrix(c, m[i][2]), s.times_matrix(d, m[i][3]));
            sum[i] = s.xor(s.xor(ab, sum[i]), cd);
        }
        sum
    }
}
