//! Numbers of a fixed size modulo a fixed number, in registers: one number a lane.
//!
//! A number has `D` digits of 52 bits: P-256 5, P-384 8, P-521 11. Products are those of Montgomery: the product of
//! `a` and `b` is `a` `b` / `R` modulo `m`, with `R` = 2^(52 `D`). One body sums the columns of a product or of a
//! square; what makes the lower half of the columns zero is a leaf of the modulus ([`Modulus::eliminate`]), since
//! the primes of curves have forms that need few multiplications for it.
//!
//! Two types say what state digits are in. An [`Element`] has digits of 52 bits, so it can be multiplied. A [`Sum`]
//! has columns that carry into one another: sums, differences and products as they come. Carries are propagated once,
//! when a sum becomes an element.
//!
//! Loops here are `for` loops: a closure that is given to the standard library, as `from_fn` takes it, need not be
//! inlined, and would then be compiled without the level's instructions.
//!
//! Numbers are not reduced below `m` on the way. **Bounds**: all moduli have `R` >= 16 `m`. A product of numbers below
//! `x m` and `y m` is below (`x y` / 16 + 1) `m`, and an element has to be below 16 `m`. Who adds and subtracts
//! keeps account of these factors.

mod inverse;
pub(crate) mod order;
pub(crate) mod p25519;
pub(crate) mod p256;
pub(crate) mod p384;
pub(crate) mod p521;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use core::marker::PhantomData;
use core::ops::{Add, Sub};

use lanelock_isa::{Limbs, MOST_LIMBS, Part};
use zeroize::Zeroize;

use crate::digits::{DIGIT, DIGIT_BITS, DIGIT_SHIFT};

/// Does `$body` for each `$i` below `$n`, written out: indices are constants, so columns stay in registers.
macro_rules! unrolled {
    ($i:ident below $n:ident $body:block) => {
        unrolled! { @ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 }
    };
    (@ $i:ident, $n:ident, $body:block, $($at:literal)+) => {{
        const { assert!($n <= 11) }
        $(
            if const { $at < $n } {
                let $i: usize = $at;
                $body
            }
        )+
    }};
}

/// An odd number, of which numbers of `D` digits are the residues. `R` is at least 16 times the number.
pub(crate) trait Modulus<const D: usize>: Copy + 'static {
    /// The number.
    const NUMBER: [u64; D];
    /// -1/m modulo 2^52
    const K0: u64 = negative_inverse(Self::NUMBER[0]);
    /// `R` modulo m: 1 in Montgomery's form.
    const ONE: [u64; D] = power_of_two(&Self::NUMBER, DIGIT_BITS * D);
    /// `R`^2 modulo m: brings a number into that form.
    const SQUARE: [u64; D] = power_of_two(&Self::NUMBER, 2 * DIGIT_BITS * D);
    /// How many times the modulus [`Sum::trimmed`] numbers and sums of five products are below: formulas add so many
    /// before they subtract one.
    const TRIMMED: u64 = 8;

    /// Makes column `i` a multiple of 2^52 by a multiple of the modulus that begins there, and carries it into
    /// column `i` + 1. Columns below `i` have gone that way before.
    ///
    /// This one is for any number; primes of a form have leaves of their own.
    #[inline(always)]
    fn eliminate<S: Limbs>(s: S, columns: &mut Columns<S::V, D>, i: usize) {
        let column = columns.at(i);
        let q = s.mul_low(s.splat(0), column, s.splat(Self::K0));
        let column = s.mul_low(column, s.splat(Self::NUMBER[0]), q);
        columns.set(i + 1, s.add(columns.at(i + 1), s.shift_right::<DIGIT_SHIFT>(column)));
        unrolled! { j below D {
            if j > 0 {
                columns.set(i + j, s.mul_low(columns.at(i + j), s.splat(Self::NUMBER[j]), q));
            }
            columns.set(i + j + 1, s.mul_high(columns.at(i + j + 1), s.splat(Self::NUMBER[j]), q));
        } }
    }

    /// What comes before the first column is eliminated.
    #[inline(always)]
    fn prepare<S: Limbs>(_s: S, _columns: &mut Columns<S::V, D>) {}

    /// What comes after the last column is eliminated.
    #[inline(always)]
    fn finish<S: Limbs>(_s: S, columns: [S::V; D]) -> [S::V; D] {
        columns
    }

    /// Brings a number below 16 m, to which [`Sum::plus_moduli`] has been added, below 2.1 m if `R` is only little more
    /// than 16 m; where `R` is much more, numbers may stay as they are.
    #[inline(always)]
    fn trim<S: Limbs>(_s: S, columns: [S::V; D]) -> [S::V; D] {
        columns
    }
}

/// The sums of the digits' products that have the same weight, 2 `D` of them.
#[derive(Clone, Copy)]
pub(crate) struct Columns<V, const D: usize> {
    halves: [[V; D]; 2],
}

impl<V: Copy, const D: usize> Columns<V, D> {
    #[inline(always)]
    pub(crate) fn at(&self, k: usize) -> V {
        self.halves[k / D][k % D]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, k: usize, column: V) {
        self.halves[k / D][k % D] = column;
    }
}

/// Numbers modulo `M`, one a lane, in digits of 52 bits.
pub(crate) struct Element<S: Limbs, M, const D: usize> {
    pub(crate) s: S,
    digits: [S::V; D],
    modulus: PhantomData<M>,
}

/// Numbers modulo `M`, one a lane, whose digits carry into one another.
pub(crate) struct Sum<S: Limbs, M, const D: usize> {
    s: S,
    columns: [S::V; D],
    modulus: PhantomData<M>,
}

/// Products, or sums of products, that have not been reduced.
pub(crate) struct Product<S: Limbs, M, const D: usize> {
    s: S,
    columns: Columns<S::V, D>,
    modulus: PhantomData<M>,
}

impl<S: Limbs, M, const D: usize> Clone for Element<S, M, D> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Limbs, M, const D: usize> Copy for Element<S, M, D> {}
impl<S: Limbs, M, const D: usize> Clone for Sum<S, M, D> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Limbs, M, const D: usize> Copy for Sum<S, M, D> {}

impl<S: Limbs, M: Modulus<D>, const D: usize> Element<S, M, D> {
    /// Whether products are functions of their own. A formula of a dozen long ones would be more code than the first
    /// cache holds.
    const CALLS: bool = D > 8 || S::LANES == 1 && D > 5;

    /// Vectors of digits, each below 2^52.
    #[inline(always)]
    pub(crate) fn new(s: S, digits: [S::V; D]) -> Self {
        Self { s, digits, modulus: PhantomData }
    }

    /// The vectors of digits.
    #[inline(always)]
    pub(crate) fn digits(&self) -> &[S::V; D] {
        &self.digits
    }

    /// The number, the same in every lane.
    #[inline(always)]
    pub(crate) fn splat(s: S, number: &[u64; D]) -> Self {
        let mut digits = [s.splat(0); D];
        for j in 0..D {
            digits[j] = s.splat(number[j]);
        }
        Self::new(s, digits)
    }

    /// 0
    #[inline(always)]
    pub(crate) fn zero(s: S) -> Self {
        Self::new(s, [s.splat(0); D])
    }

    /// 1 in Montgomery's form.
    #[inline(always)]
    pub(crate) fn one(s: S) -> Self {
        Self::splat(s, &M::ONE)
    }

    /// The number that `of` gives for each of `count` lanes; lanes that are left over repeat the first.
    #[inline(always)]
    pub(crate) fn gather<'a>(s: S, count: usize, of: impl Fn(usize) -> &'a [u64; D]) -> Self {
        let mut words = [[0; MOST_LIMBS]; D];
        for lane in 0..S::LANES {
            let number = of(if lane < count { lane } else { 0 });
            for (words, &digit) in words.iter_mut().zip(number) {
                words[lane] = digit;
            }
        }
        let mut digits = [s.splat(0); D];
        for j in 0..D {
            digits[j] = s.load(&words[j]);
        }
        words.zeroize();
        Self::new(s, digits)
    }

    /// The numbers of the lanes.
    #[inline(always)]
    pub(crate) fn scatter(&self, mut take: impl FnMut(usize, [u64; D])) {
        let mut words = [[0; MOST_LIMBS]; D];
        for (words, &digit) in words.iter_mut().zip(&self.digits) {
            self.s.store(digit, words);
        }
        for lane in 0..S::LANES {
            take(lane, core::array::from_fn(|j| words[j][lane]));
        }
        words.zeroize();
    }

    /// Overwrites the digits: see [`Limbs::wipe`].
    #[inline(always)]
    pub(crate) fn wipe(&mut self) {
        self.s.wipe(&mut self.digits);
    }

    /// The product with another.
    #[inline(always)]
    pub(crate) fn product(&self, other: &Self) -> Product<S, M, D> {
        let s = self.s;
        let mut columns = Columns { halves: [[s.splat(0); D]; 2] };
        add_product(s, &mut columns, &self.digits, &other.digits);
        Product { s, columns, modulus: PhantomData }
    }

    /// The product with another, reduced: by a call, where it is long.
    #[inline(always)]
    pub(crate) fn times_reduced(&self, other: &Self) -> Sum<S, M, D> {
        if Self::CALLS { self.s.call(Times(self, other)) } else { self.product(other).reduce() }
    }

    /// The product with another, reduced and brought to digits.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Self {
        self.times_reduced(other).digits()
    }

    /// The square, not reduced: three fifths of the multiplications of a product.
    #[inline(always)]
    pub(crate) fn squared(&self) -> Product<S, M, D> {
        let s = self.s;
        let a = &self.digits;
        let mut columns = Columns { halves: [[s.splat(0); D]; 2] };
        unrolled! { i below D {
            for j in i + 1..D {
                columns.set(i + j, s.mul_low(columns.at(i + j), a[i], a[j]));
                columns.set(i + j + 1, s.mul_high(columns.at(i + j + 1), a[i], a[j]));
            }
        } }
        unrolled! { i below D {
            let (low, high) = (columns.at(2 * i), columns.at(2 * i + 1));
            columns.set(2 * i, s.mul_low(s.add(low, low), a[i], a[i]));
            columns.set(2 * i + 1, s.mul_high(s.add(high, high), a[i], a[i]));
        } }
        Product { s, columns, modulus: PhantomData }
    }

    /// The square, reduced: by a call, where it is long.
    #[inline(always)]
    pub(crate) fn square_reduced(&self) -> Sum<S, M, D> {
        if Self::CALLS { self.s.call(Square(self)) } else { self.squared().reduce() }
    }

    /// The square.
    #[inline(always)]
    pub(crate) fn square(&self) -> Self {
        self.square_reduced().digits()
    }

    /// As [`times`](Self::times), always by a call: where a few cycles are no matter.
    #[inline(always)]
    pub(crate) fn multiply(&self, other: &Self) -> Self {
        self.s.call(Times(self, other)).digits()
    }

    /// The power with the exponent 2^`count`.
    #[inline(always)]
    pub(crate) fn square_times(&self, count: usize) -> Self {
        self.s.call(Squares(self, count))
    }

    /// The element as a sum of one.
    #[inline(always)]
    pub(crate) fn sum(self) -> Sum<S, M, D> {
        Sum { s: self.s, columns: self.digits, modulus: PhantomData }
    }

    /// `K` m - the number, which is at most `K` m.
    #[inline(always)]
    pub(crate) fn negative<const K: u64>(self) -> Self {
        (Self::zero(self.s).sum() - self.sum()).plus_moduli::<K>().digits()
    }

    /// Into Montgomery's form: below 2 m.
    #[inline(always)]
    pub(crate) fn into_form(self) -> Self {
        self.multiply(&Self::splat(self.s, &M::SQUARE))
    }

    /// Out of Montgomery's form: below m.
    #[inline(always)]
    pub(crate) fn out_of_form(self) -> Self {
        let mut one = [0; D];
        one[0] = 1;
        self.multiply(&Self::splat(self.s, &one)).subtract_once()
    }

    /// Subtracts the modulus where the number is not below it, once.
    #[inline(always)]
    pub(crate) fn subtract_once(self) -> Self {
        let (difference, below) = self.minus_constant(&M::NUMBER);
        Self::select(below, &self, &difference)
    }

    /// Whether the numbers, as they are, are below a constant: all ones or zero.
    #[inline(always)]
    pub(crate) fn below(&self, constant: &[u64; D]) -> S::V {
        self.minus_constant(constant).1
    }

    /// The difference, and all ones where it is negative.
    #[inline(always)]
    fn minus_constant(&self, constant: &[u64; D]) -> (Self, S::V) {
        let s = self.s;
        let mut difference = Self::zero(s);
        let mut borrow = s.splat(0);
        for j in 0..D {
            let digit = s.sub(s.sub(self.digits[j], s.splat(constant[j])), borrow);
            borrow = s.shift_right::<63>(digit);
            difference.digits[j] = s.and(digit, s.splat(DIGIT));
        }
        (difference, s.sub(s.splat(0), borrow))
    }

    /// All ones in the lanes where the number, as it is, is 0.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> S::V {
        let s = self.s;
        let any = self.digits.iter().fold(s.splat(0), |any, &digit| s.or(any, digit));
        s.equal(any, s.splat(0))
    }

    /// `a` where the mask has ones, `b` elsewhere.
    #[inline(always)]
    pub(crate) fn select(mask: S::V, a: &Self, b: &Self) -> Self {
        let s = a.s;
        let mut digits = b.digits;
        for j in 0..D {
            digits[j] = s.select(mask, a.digits[j], b.digits[j]);
        }
        Self::new(s, digits)
    }

    /// The power with a public exponent, by windows of four bits. The number is in Montgomery's form, below 2 m.
    #[inline(always)]
    pub(crate) fn power(&self, exponent: &[u64; D]) -> Self {
        let mut powers = [Self::one(self.s); 16];
        for i in 1..16 {
            powers[i] = powers[i - 1].multiply(self);
        }
        let mut result = powers[0];
        let mut squarings = 0;
        for &digit in exponent.iter().rev() {
            for window in (0..DIGIT_BITS / 4).rev() {
                let bits = (digit >> (4 * window) & 15) as usize;
                squarings += 4;
                if bits != 0 {
                    result = result.square_times(squarings).multiply(&powers[bits]);
                    squarings = 0;
                }
            }
        }
        let result = result.square_times(squarings);
        for power in &mut powers {
            power.wipe();
        }
        result
    }

    /// The inverse of a number in Montgomery's form, which has no divisor in common with the modulus: below 2 m. 0 for 0.
    #[inline(always)]
    pub(crate) fn inverse(&self) -> Self {
        self.s.call(inverse::Inverse(self))
    }
}

impl<S: Limbs, M: Modulus<D>, const D: usize> Product<S, M, D> {
    /// Divides by `R`.
    #[inline(always)]
    pub(crate) fn reduce(mut self) -> Sum<S, M, D> {
        M::prepare(self.s, &mut self.columns);
        unrolled! { i below D {
            M::eliminate(self.s, &mut self.columns, i);
        } }
        let columns = M::finish(self.s, self.columns.halves[1]);
        Sum { s: self.s, columns, modulus: PhantomData }
    }

    /// Adds another product before the one reduction of both.
    #[inline(always)]
    pub(crate) fn plus_product(mut self, a: &Element<S, M, D>, b: &Element<S, M, D>) -> Self {
        add_product(self.s, &mut self.columns, &a.digits, &b.digits);
        self
    }
}

/// A product as a function of its own.
struct Times<'a, S: Limbs, M, const D: usize>(&'a Element<S, M, D>, &'a Element<S, M, D>);

impl<S: Limbs, M: Modulus<D>, const D: usize> Part<S> for Times<'_, S, M, D> {
    type Out = Sum<S, M, D>;

    #[inline(always)]
    fn run(self, _s: S) -> Sum<S, M, D> {
        self.0.product(self.1).reduce()
    }
}

/// A square as a function of its own.
struct Square<'a, S: Limbs, M, const D: usize>(&'a Element<S, M, D>);

impl<S: Limbs, M: Modulus<D>, const D: usize> Part<S> for Square<'_, S, M, D> {
    type Out = Sum<S, M, D>;

    #[inline(always)]
    fn run(self, _s: S) -> Sum<S, M, D> {
        self.0.squared().reduce()
    }
}

/// Squarings as a function of their own.
struct Squares<'a, S: Limbs, M, const D: usize>(&'a Element<S, M, D>, usize);

impl<S: Limbs, M: Modulus<D>, const D: usize> Part<S> for Squares<'_, S, M, D> {
    type Out = Element<S, M, D>;

    #[inline(always)]
    fn run(self, _s: S) -> Element<S, M, D> {
        let mut result = *self.0;
        for _ in 0..self.1 {
            result = result.squared().reduce().digits();
        }
        result
    }
}

/// Adds the product of `a` and `b` to the columns.
#[inline(always)]
fn add_product<S: Limbs, const D: usize>(
    s: S,
    columns: &mut Columns<S::V, D>,
    a: &[S::V; D],
    b: &[S::V; D],
) {
    unrolled! { i below D {
        for j in 0..D {
            columns.set(i + j, s.mul_low(columns.at(i + j), a[i], b[j]));
            columns.set(i + j + 1, s.mul_high(columns.at(i + j + 1), a[i], b[j]));
        }
    } }
}

impl<S: Limbs, M: Modulus<D>, const D: usize> Sum<S, M, D> {
    /// The number in digits of 52 bits. Columns are below 2^63, and the number is not negative.
    #[inline(always)]
    pub(crate) fn digits(self) -> Element<S, M, D> {
        let s = self.s;
        let mut digits = self.columns;
        for j in 0..D - 1 {
            digits[j + 1] = s.add(digits[j + 1], s.shift_right::<DIGIT_SHIFT>(digits[j]));
            digits[j] = s.and(digits[j], s.splat(DIGIT));
        }
        Element { s, digits, modulus: PhantomData }
    }

    /// The digits of a sum with [`plus_moduli`](Self::plus_moduli), reduced a little where that is needed: see
    /// [`Modulus::trim`].
    #[inline(always)]
    pub(crate) fn trimmed(self) -> Element<S, M, D> {
        Self { columns: M::trim(self.s, self.columns), ..self }.digits()
    }

    /// Twice the number.
    #[inline(always)]
    pub(crate) fn double(self) -> Self {
        self + self
    }

    /// The number and `K` times the modulus, in columns from which sums below 2^60 can be subtracted: a
    /// product that has been reduced is below 2^58.
    #[inline(always)]
    pub(crate) fn plus_moduli<const K: u64>(self) -> Self {
        self.plus_columns(const { &multiple(&M::NUMBER, K) })
    }

    /// The number and [`Modulus::TRIMMED`] times the modulus, in such columns.
    #[inline(always)]
    pub(crate) fn plus_trimmed(self) -> Self {
        self.plus_columns(const { &multiple(&M::NUMBER, M::TRIMMED) })
    }

    #[inline(always)]
    fn plus_columns(mut self, columns: &[u64; D]) -> Self {
        for j in 0..D {
            self.columns[j] = self.s.add(self.columns[j], self.s.splat(columns[j]));
        }
        self
    }
}

impl<S: Limbs, M, const D: usize> Add for Sum<S, M, D> {
    type Output = Self;

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for j in 0..D {
            self.columns[j] = self.s.add(self.columns[j], other.columns[j]);
        }
        self
    }
}

/// The columns of a difference can be below zero until [`Sum::plus_moduli`] is added.
impl<S: Limbs, M, const D: usize> Sub for Sum<S, M, D> {
    type Output = Self;

    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for j in 0..D {
            self.columns[j] = self.s.sub(self.columns[j], other.columns[j]);
        }
        self
    }
}

/// -1/m modulo 2^52 of an odd m, by Newton's iteration.
const fn negative_inverse(m: u64) -> u64 {
    // m * m = 1 modulo 8; each step doubles the bits that are right: 3, 6, 12, 24, 48, 96.
    let mut inverse = m;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg() & DIGIT
}

/// 2^`exponent` modulo m.
const fn power_of_two<const D: usize>(m: &[u64; D], exponent: usize) -> [u64; D] {
    let mut one = [0; D];
    one[0] = 1;
    shifted(&one, m, exponent)
}

/// `number` times 2^`bits` modulo m, of a number below m.
pub(crate) const fn shifted<const D: usize>(
    number: &[u64; D],
    m: &[u64; D],
    bits: usize,
) -> [u64; D] {
    let mut number = *number;
    let mut bit = 0;
    while bit < bits {
        let mut twice = [0; D];
        let mut difference = [0; D];
        let (mut carry, mut borrow) = (0, 0);
        let mut j = 0;
        while j < D {
            let digit = 2 * number[j] + carry;
            carry = digit >> DIGIT_BITS;
            twice[j] = digit & DIGIT;
            let digit = twice[j].wrapping_sub(m[j]).wrapping_sub(borrow);
            borrow = digit >> 63;
            difference[j] = digit & DIGIT;
            j += 1;
        }
        number = if borrow == 0 { difference } else { twice };
        bit += 1;
    }
    number
}

/// `k` times m, in columns that can be subtracted from: each but the last has 2^60 more, each but the first 2^8
/// less.
const fn multiple<const D: usize>(m: &[u64; D], k: u64) -> [u64; D] {
    let mut columns = [0; D];
    let mut carry = 0;
    let mut j = 0;
    while j < D {
        let digit = k * m[j] + carry;
        carry = digit >> DIGIT_BITS;
        columns[j] = digit & DIGIT;
        if j < D - 1 {
            columns[j] += 1 << (DIGIT_BITS + 8);
        } else {
            assert!(carry == 0);
        }
        if j > 0 {
            columns[j] = columns[j].wrapping_sub(1 << 8);
        }
        j += 1;
    }
    columns
}

/// The digits of a number that is written as words of 32 bits, the highest first, as standards print them.
pub(crate) const fn digits_of<const D: usize>(hex: &str) -> [u64; D] {
    let bytes = hex.as_bytes();
    let mut digits = [0; D];
    let mut bit = 0;
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        let nibble = match bytes[at] {
            b' ' => continue,
            digit @ b'0'..=b'9' => digit - b'0',
            letter @ b'a'..=b'f' => letter - b'a' + 10,
            _ => panic!("not a hexadecimal digit"),
        };
        digits[bit / DIGIT_BITS] |= (nibble as u64) << (bit % DIGIT_BITS);
        bit += 4;
    }
    digits
}
