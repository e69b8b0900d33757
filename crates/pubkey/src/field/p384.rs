//! The prime of P-384 (SP 800-186, 3.2.1.4): p = 2^384 - 2^128 - 2^96 + 2^32 - 1.

use lanelock_isa::Limbs;

use super::{Columns, DIGIT, DIGIT_SHIFT, Modulus, digits_of};

/// The prime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldP384;

impl Modulus<8> for FieldP384 {
    const NUMBER: [u64; 8] = digits_of(
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff \
         ffffffff fffffffe ffffffff 00000000 00000000 ffffffff",
    );

    /// -1/p is 2^32 + 1 modulo 2^52, so the quotient q of a column x is x + 2^32 x. What q p adds above the column is
    /// q 2^384 - q t, with t = 2^128 + 2^96. Sums of columns cannot fall below zero, so q t is replaced by
    /// (2^52 - 1 - q) t - (2^52 - 1) t. Of the last term all columns together have (R - 1) t, which begins with
    /// [`prepare`](Modulus::prepare) and ends with [`finish`](Modulus::finish).
    #[inline(always)]
    fn eliminate<S: Limbs>(s: S, columns: &mut Columns<S::V, 8>, i: usize) {
        let digit = s.splat(DIGIT);
        let column = columns.at(i);
        let q = s.and(s.add(column, s.shift_left::<32>(column)), digit);
        let rest = s.xor(q, digit);
        // x + q (2^32 - 1) is a multiple of 2^52.
        let at_32 = s.splat(1 << 32);
        let cleared = s.sub(s.mul_low(column, q, at_32), q);
        let next = s.add(columns.at(i + 1), s.shift_right::<DIGIT_SHIFT>(cleared));
        let next = s.mul_high(next, q, at_32);
        let (at_44, at_24, at_20) = (s.splat(1 << 44), s.splat(1 << 24), s.splat(1 << 20));
        columns.set(i + 1, s.mul_low(next, rest, at_44));
        let second = s.mul_high(columns.at(i + 2), rest, at_44);
        columns.set(i + 2, s.mul_low(second, rest, at_24));
        columns.set(i + 3, s.mul_high(columns.at(i + 3), rest, at_24));
        columns.set(i + 7, s.mul_low(columns.at(i + 7), q, at_20));
        columns.set(i + 8, s.mul_high(columns.at(i + 8), q, at_20));
    }

    /// Adds t.
    #[inline(always)]
    fn prepare<S: Limbs>(s: S, columns: &mut Columns<S::V, 8>) {
        columns.set(1, s.add(columns.at(1), s.splat(1 << 44)));
        columns.set(2, s.add(columns.at(2), s.splat(1 << 24)));
    }

    /// Subtracts t from what is left after the division by R. A digit that 2^44 or 2^24 is subtracted from borrows
    /// from the next.
    #[inline(always)]
    fn finish<S: Limbs>(s: S, columns: [S::V; 8]) -> [S::V; 8] {
        const ONE: u64 = 1 << DIGIT_SHIFT;
        let terms = [0, ONE - (1 << 44), ONE - 1 - (1 << 24), ONE - 1, ONE - 1, ONE - 1, ONE - 1];
        let mut result = columns;
        for (column, term) in result.iter_mut().zip(terms) {
            *column = s.add(*column, s.splat(term));
        }
        result[7] = s.sub(result[7], s.splat(1));
        result
    }
}
