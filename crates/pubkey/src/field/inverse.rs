//! Inverses, all lanes in the same steps: D. J. Bernstein and B.-Y. Yang, "Fast constant-time gcd computation and modular
//! inversion" (2019), with the start at delta = 1/2.
//!
//! A step takes (delta, f, g), with f odd, to (1 - delta, g, (g - f) / 2) if delta > 0 and g is odd, else to
//! (1 + delta, f, (g + (g mod 2) f) / 2). What it does depends on the lowest bit of g alone, so [`STEPS`] steps need the
//! lowest digits of f and g, and are together a matrix of whole numbers up to 2^[`STEPS`]; f and g become its product
//! with them, divided by 2^[`STEPS`]. From f = m and g = a the gcd remains: g = 0, and f = 1 or -1. The same matrices,
//! modulo m, take d = 0 and e = 1 to d = f / a.
//!
//! Numbers are signed here: two's complements in D digits of 52 bits, so that bit 51 of the highest is the sign. d and e
//! are divided by 2^52, as Montgomery's form makes easy, and begin with the power of two that this takes too much.

use lanelock_isa::{Limbs, Part};

use super::{Element, Modulus, power_of_two};
use crate::digits::{DIGIT, DIGIT_BITS, DIGIT_SHIFT};

/// Steps that one matrix takes: its numbers, which have a sign, are digits.
const STEPS: usize = DIGIT_BITS - 1;

/// So many matrices bring g to 0 for any m of so many bits: the bound of P. Wuille, "Bounds on divsteps iterations in
/// safegcd" (2021), for delta = 1/2.
const fn matrices<const D: usize>(m: &[u64; D]) -> usize {
    let bits = DIGIT_BITS * (D - 1) + (64 - m[D - 1].leading_zeros() as usize);
    ((45_907 * bits + 30_179) / 19_929 + 1).div_ceil(STEPS)
}

/// The inverse of an element as a function of its own: see [`Element::inverse`].
pub(super) struct Inverse<'a, S: Limbs, M, const D: usize>(pub(super) &'a Element<S, M, D>);

impl<S: Limbs, M: Modulus<D>, const D: usize> Part<S> for Inverse<'_, S, M, D> {
    type Out = Element<S, M, D>;

    #[inline(always)]
    fn run(self, s: S) -> Element<S, M, D> {
        let count = const { matrices(&M::NUMBER) };
        // R, and 2 for each division.
        let start = const { &power_of_two(&M::NUMBER, DIGIT_BITS * D + matrices(&M::NUMBER)) };
        let mut f = *Element::<S, M, D>::splat(s, &M::NUMBER).digits();
        let mut g = *self.0.out_of_form().digits();
        let mut d = [s.splat(0); D];
        let mut e = *Element::<S, M, D>::splat(s, start).digits();
        // -(delta + 1/2)
        let mut zeta = s.splat(u64::MAX);
        for _ in 0..count {
            let [u, v, q, r] = steps(s, &mut zeta, f[0], g[0]);
            (f, g) = (
                divided(s, combined(s, [u, v], [&f, &g])),
                divided(s, combined(s, [q, r], [&f, &g])),
            );
            (d, e) = (
                reduced::<S, M, D>(s, combined(s, [u, v], [&d, &e])),
                reduced::<S, M, D>(s, combined(s, [q, r], [&d, &e])),
            );
        }
        // f is 1 or -1, and d from -2 m to 2 m.
        let negative = mask::<S, { DIGIT_SHIFT - 1 }>(s, f[D - 1]);
        for digit in &mut d {
            *digit = s.sub(s.xor(*digit, negative), negative);
        }
        let mut columns = Element::<S, M, D>::new(s, d).sum().plus_moduli::<2>().columns;
        // A d that was below zero had 2^(52 D) too much, or, with its sign changed, too little.
        carry(s, &mut columns);
        Element::new(s, columns).times(&Element::one(s))
    }
}

/// All ones where bit `N`, above which there is none, is set.
#[inline(always)]
fn mask<S: Limbs, const N: u32>(s: S, v: S::V) -> S::V {
    unknown::<S>(s.sub(s.splat(0), s.shift_right::<N>(v)))
}

/// The same, of which the compiler does not know that it is a mask: where a vector is one word, it made branches of
/// additions that a mask leaves out.
#[inline(always)]
fn unknown<S: Limbs>(mask: S::V) -> S::V {
    if S::LANES == 1 { core::hint::black_box(mask) } else { mask }
}

/// [`STEPS`] steps from the lowest digits of f and g: the matrix, by rows.
#[inline(always)]
fn steps<S: Limbs>(s: S, zeta: &mut S::V, mut f: S::V, mut g: S::V) -> [S::V; 4] {
    let (zero, one) = (s.splat(0), s.splat(1));
    let [mut u, mut v, mut q, mut r] = [one, zero, zero, one];
    for _ in 0..STEPS {
        let positive = mask::<S, 63>(s, *zeta);
        let odd = unknown::<S>(s.sub(zero, s.and(g, one)));
        // g -+ f, where g is odd.
        let signed = |x| s.and(s.sub(s.xor(x, positive), positive), odd);
        g = s.add(g, signed(f));
        q = s.add(q, signed(u));
        r = s.add(r, signed(v));
        // f + (g - f) is g.
        let swap = s.and(positive, odd);
        *zeta = s.sub(s.xor(*zeta, swap), one);
        f = s.add(f, s.and(g, swap));
        u = s.add(u, s.and(q, swap));
        v = s.add(v, s.and(r, swap));
        g = s.shift_right::<1>(g);
        u = s.add(u, u);
        v = s.add(v, v);
    }
    [u, v, q, r]
}

/// The lowest column, and D columns above it, of u a + v b modulo 2^(52 (D + 1)).
type Combined<V, const D: usize> = (V, [V; D]);

/// A row of the matrix times two numbers.
#[inline(always)]
fn combined<S: Limbs, const D: usize>(
    s: S,
    row: [S::V; 2],
    numbers: [&[S::V; D]; 2],
) -> Combined<S::V, D> {
    let zero = s.splat(0);
    let mut lowest = zero;
    // So that nothing falls below zero: what a column has more its neighbour has less.
    let mut columns = [zero; D];
    for j in 0..D {
        let more: u64 = if j < D - 1 { 1 << 60 } else { 0 };
        columns[j] = s.splat(more.wrapping_sub(if j > 0 { 1 << 8 } else { 0 }));
    }
    for (factor, number) in row.into_iter().zip(numbers) {
        // Multiplications take 52 bits of the factor: 2^52 too much if it is negative.
        let negative = mask::<S, 63>(s, factor);
        lowest = s.mul_low(lowest, factor, number[0]);
        for j in 0..D {
            let mut column = s.mul_high(columns[j], factor, number[j]);
            if j + 1 < D {
                column = s.mul_low(column, factor, number[j + 1]);
            }
            columns[j] = s.sub(column, s.and(number[j], negative));
        }
        // And a negative number has 2^(52 D) too much.
        let negative = mask::<S, { DIGIT_SHIFT - 1 }>(s, number[D - 1]);
        columns[D - 1] = s.sub(columns[D - 1], s.and(factor, negative));
    }
    (lowest, columns)
}

/// Divides by 2^[`STEPS`] what is a multiple of it.
#[inline(always)]
fn divided<S: Limbs, const D: usize>(s: S, (lowest, mut columns): Combined<S::V, D>) -> [S::V; D] {
    for column in &mut columns {
        *column = s.add(*column, *column);
    }
    columns[0] = s.add(columns[0], s.shift_right::<{ DIGIT_SHIFT - 1 }>(lowest));
    carry(s, &mut columns);
    columns
}

/// Divides by 2^52 modulo m.
#[inline(always)]
fn reduced<S: Limbs, M: Modulus<D>, const D: usize>(
    s: S,
    (lowest, mut columns): Combined<S::V, D>,
) -> [S::V; D] {
    let quotient = s.mul_low(s.splat(0), lowest, s.splat(M::K0));
    let lowest = s.mul_low(lowest, quotient, s.splat(M::NUMBER[0]));
    columns[0] = s.add(columns[0], s.shift_right::<DIGIT_SHIFT>(lowest));
    for j in 0..D {
        columns[j] = s.mul_high(columns[j], quotient, s.splat(M::NUMBER[j]));
        if j + 1 < D {
            columns[j] = s.mul_low(columns[j], quotient, s.splat(M::NUMBER[j + 1]));
        }
    }
    carry(s, &mut columns);
    columns
}

/// Brings columns to digits, modulo 2^(52 D).
#[inline(always)]
fn carry<S: Limbs, const D: usize>(s: S, columns: &mut [S::V; D]) {
    for j in 0..D {
        if j + 1 < D {
            columns[j + 1] = s.add(columns[j + 1], s.shift_right::<DIGIT_SHIFT>(columns[j]));
        }
        columns[j] = s.and(columns[j], s.splat(DIGIT));
    }
}
