//! Columns in registers, and the choice of a power from a table beside them.

use lanelock_isa::Limbs;

use super::tiles::{HALVES, SQUARE, TILE};
use crate::digits::{DIGIT, DIGIT_SHIFT};

/// Bits of an exponent that cost one multiplication.
pub(super) const WINDOW_BITS: usize = 5;
/// The powers in a table: those with exponents of [`WINDOW_BITS`].
pub(super) const POWERS: usize = 1 << WINDOW_BITS;

/// The choice of a power in each lane, whose digits are taken while other work is done, from a table that is read
/// whole.
pub(super) struct Choice<'a, S: Limbs> {
    /// The digits of all powers, those of one behind those of another: the number, then the same divided by the root of
    /// `R`.
    pub(super) table: &'a [S::V],
    /// The lanes that want each power.
    pub(super) masks: &'a [S::M; POWERS],
    /// Digits of the powers that are wanted.
    pub(super) chosen: &'a mut [S::V],
    /// How many of them have been taken.
    pub(super) done: usize,
}

impl<S: Limbs> Choice<'_, S> {
    /// Takes some digits.
    #[inline(always)]
    pub(super) fn take<const N: usize>(&mut self, s: S) {
        let mut digits = [s.splat(0); N];
        let powers = self.table.chunks_exact(self.chosen.len());
        for (power, &mask) in powers.zip(self.masks) {
            let power: &[S::V; N] = power[self.done..].first_chunk().expect("whole powers");
            for t in 0..N {
                digits[t] = s.blend(mask, power[t], digits[t]);
            }
        }
        self.chosen[self.done..][..N].copy_from_slice(&digits);
        self.done += N;
    }
}

/// Digits that are chosen after each tile of a square, so that the squares of a window choose all.
pub(super) const CHOSEN_PER_TILE: usize = 2 * TILE / WINDOW_BITS;
/// Digits that are chosen at once beside a square in registers, which take no more.
const CHOSEN: usize = 4;
/// Rows of a square in which these are chosen from all powers.
const CHOSEN_IN: usize = 8;
/// From the first digit that is chosen beside a square, in the first power, to the last of them in the last.
const SPAN: usize = (POWERS - 1) * 2 * REGISTERS + 2 * CHOSEN;

/// Digits of a number whose columns fit into registers: that is half of an RSA modulus of 2048 bits.
pub(super) const REGISTERS: usize = 20;

/// Writes a statement for each digit: of loops, the compiler unrolls some too late to keep columns in registers.
macro_rules! each_digit {
    ($j:ident => $body:expr) => {
        each_digit!(@ $j => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    (@ $j:ident => $body:expr; $($digit:literal)+) => {$({
        const $j: usize = $digit;
        $body;
    })+};
}

/// A product of the kinds [`SQUARE`] and [`HALVES`] with all columns in registers.
///
/// Each digit of `a` takes its row of the product, then the quotient that makes the lowest column a multiple of 2^52,
/// then leaves that column.
/// Beside a square, digits of a power are chosen from the table, whose reads would take a fifth of a square by
/// themselves.
#[inline(always)]
pub(super) fn in_registers<S: Limbs, const KIND: u8>(
    s: S,
    result: &mut [S::V],
    [a, b, c, m]: [&[S::V]; 4],
    k0: S::V,
    choice: Option<&mut Choice<'_, S>>,
) {
    const { assert!(KIND == SQUARE || KIND == HALVES) }
    let of = |number| <&[S::V; REGISTERS]>::try_from(number).expect("all have as many digits");
    let (a, b, c, m): (&[S::V; REGISTERS], _, _, _) = (of(a), of(b), of(c), of(m));
    let result: &mut [S::V; REGISTERS] = result.try_into().expect("all have as many digits");
    let mut beside = choice.map(|choice| {
        let at = choice.done;
        choice.done += 2 * CHOSEN;
        let table: &[S::V; SPAN] = choice.table[at..].first_chunk().expect("whole powers");
        let chosen: &mut [S::V; 2 * CHOSEN] =
            choice.chosen[at..].first_chunk_mut().expect("digits that are not chosen");
        (table, choice.masks, chosen)
    });
    let mut chosen = [s.splat(0); CHOSEN];
    let mut sums = [s.splat(0); REGISTERS + 1];
    if KIND == HALVES {
        for i in 0..REGISTERS / 2 {
            sums = row::<S, KIND>(s, sums, [a, b, c, m], k0, i);
        }
    }
    each_digit!(I => if KIND == SQUARE {
        sums = row::<S, KIND>(s, sums, [a, b, c, m], k0, I);
        if let (Some((table, masks, beside)), true) = (&mut beside, I < 2 * CHOSEN_IN) {
            for i in 0..POWERS / CHOSEN_IN {
                let power = I % CHOSEN_IN * (POWERS / CHOSEN_IN) + i;
                for t in 0..CHOSEN {
                    let digit = table[2 * REGISTERS * power + I / CHOSEN_IN * CHOSEN + t];
                    chosen[t] = s.blend(masks[power], digit, chosen[t]);
                }
            }
            // Or the compiler would read the table first, into other memory, and choose last.
            chosen[0] = s.here(chosen[0]);
            if I % CHOSEN_IN == CHOSEN_IN - 1 {
                beside[I / CHOSEN_IN * CHOSEN..][..CHOSEN].copy_from_slice(&chosen);
            }
        }
    });
    each_digit!(J => {
        sums[J + 1] = s.add(sums[J + 1], s.shift_right::<DIGIT_SHIFT>(sums[J]));
        result[J] = s.and(sums[J], s.splat(DIGIT));
    });
}

/// Row `i`; in a square it is a literal, so that all indices are constants: see [`in_registers`].
#[inline(always)]
fn row<S: Limbs, const KIND: u8>(
    s: S,
    mut sums: [S::V; REGISTERS + 1],
    [a, b, c, m]: [&[S::V; REGISTERS]; 4],
    k0: S::V,
    i: usize,
) -> [S::V; REGISTERS + 1] {
    let x = a[i];
    // Of a square: the digit itself, then twice those above it, the first without the bit that comes from it: of the sum,
    // multiplications take 52 bits.
    each_digit!(J => if KIND != SQUARE || J + 1 > i {
        let y = if KIND == SQUARE && J == i {
            x
        } else if KIND == SQUARE && J == i + 1 {
            s.add(a[J], a[J])
        } else if KIND == HALVES {
            c[J]
        } else {
            b[J]
        };
        sums[J] = s.mul_low(sums[J], x, y);
        sums[J + 1] = s.mul_high(sums[J + 1], x, y);
    });
    if KIND == HALVES {
        let x = a[i + REGISTERS / 2];
        each_digit!(J => {
            sums[J] = s.mul_low(sums[J], x, b[J]);
            sums[J + 1] = s.mul_high(sums[J + 1], x, b[J]);
        });
    }
    let q = s.mul_low(s.splat(0), sums[0], k0);
    each_digit!(J => {
        sums[J] = s.mul_low(sums[J], m[J], q);
        sums[J + 1] = s.mul_high(sums[J + 1], m[J], q);
    });
    let carry = s.shift_right::<DIGIT_SHIFT>(sums[0]);
    let mut next = [s.splat(0); REGISTERS + 1];
    each_digit!(J => next[J] = sums[J + 1]);
    next[0] = s.add(next[0], carry);
    next
}
