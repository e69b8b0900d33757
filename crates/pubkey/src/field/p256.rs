//! The prime of P-256 (SP 800-186, 3.2.1.3): p = 2^256 - 2^224 + 2^192 + 2^96 - 1.

use lanelock_isa::Limbs;

use super::{Columns, DIGIT_SHIFT, Modulus, digits_of};

/// The prime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldP256;

impl Modulus<5> for FieldP256 {
    const NUMBER: [u64; 5] =
        digits_of("ffffffff 00000001 00000000 00000000 00000000 ffffffff ffffffff ffffffff");
    const TRIMMED: u64 = 3;

    /// p is -1 modulo 2^52, so a column is its own quotient q: adding q p clears it, and adds
    /// q (2^96 + 2^192 + 2^256 - 2^224) to those above.
    #[inline(always)]
    fn eliminate<S: Limbs>(s: S, columns: &mut Columns<S::V, 5>, i: usize) {
        let q = columns.at(i);
        let (at_44, at_36) = (s.splat(1 << 44), s.splat(1 << 36));
        let top = s.splat((1 << 48) - (1 << 16));
        let next = s.add(columns.at(i + 1), s.shift_right::<DIGIT_SHIFT>(q));
        columns.set(i + 1, s.mul_low(next, q, at_44));
        columns.set(i + 2, s.mul_high(columns.at(i + 2), q, at_44));
        columns.set(i + 3, s.mul_low(columns.at(i + 3), q, at_36));
        let high = s.mul_high(columns.at(i + 4), q, at_36);
        columns.set(i + 4, s.mul_low(high, q, top));
        columns.set(i + 5, s.mul_high(columns.at(i + 5), q, top));
    }

    /// Subtracts p as often as 2^256 is in the number, or once less: carries below can add one.
    #[inline(always)]
    fn trim<S: Limbs>(s: S, columns: [S::V; 5]) -> [S::V; 5] {
        let [a, b, c, d, e] = columns;
        let times = s.shift_right::<48>(e);
        let e = s.and(e, s.splat((1 << 48) - 1));
        [
            s.add(a, times),
            s.sub(b, s.shift_left::<44>(times)),
            c,
            s.sub(d, s.shift_left::<36>(times)),
            s.add(e, s.shift_left::<16>(times)),
        ]
    }
}
