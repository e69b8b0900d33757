//! The prime of P-521 (SP 800-186, 3.2.1.5): p = 2^521 - 1.

use lanelock_isa::Limbs;

use super::{Columns, DIGIT, DIGIT_SHIFT, Modulus, digits_of};

/// The prime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldP521;

impl Modulus<11> for FieldP521 {
    const NUMBER: [u64; 11] = digits_of(
        "01ff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff \
         ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff",
    );

    /// A column is its own quotient q: adding q p clears it and adds 2 q ten columns above. No multiplication.
    #[inline(always)]
    fn eliminate<S: Limbs>(s: S, columns: &mut Columns<S::V, 11>, i: usize) {
        let column = columns.at(i);
        let q = s.and(column, s.splat(DIGIT));
        columns.set(i + 1, s.add(columns.at(i + 1), s.shift_right::<DIGIT_SHIFT>(column)));
        columns.set(i + 10, s.add(columns.at(i + 10), s.add(q, q)));
    }
}
