//! Products and powers of few numbers, whose digits lie along the vectors.
//!
//! In lanes, a number takes as long alone as beside seven others. Here a group of lanes holds digits of one number: digit
//! `j` is in vector `j % B`, in lane `j / B` of the group. So a number that moves on by a digit is the next vectors under
//! the names of those before, and one lane that moves. Two numbers share a vector of eight lanes, the primes of a key for
//! instance, or one has it all.
//!
//! What a lane carries into the next one after a product goes on there through two digits, since more would take longer
//! than the rest of the carries. Whether it would have gone further is kept, and then all is computed again in lanes.
//! Of a number that nobody chose, as those that are blinded are, that has a chance of one in 2^90 a product; numbers that
//! were chosen for it, in a signature to verify, take the time of both.

mod product;

use alloc::{vec, vec::Vec};
use lanelock_core::parts::passed;
use lanelock_isa::{GroupKernel, LimbGroups, LimbKernel, LimbLevel, Limbs, Part, wipe_stack};
use zeroize::{Zeroize, Zeroizing};

use super::{
    Modulus, Power, Product, negative_inverse,
    registers::{POWERS, WINDOW_BITS},
};
use crate::digits::{DIGIT, DIGIT_SHIFT, Digits, bits_of};
use product::{Groups, Line, Number};

/// As [`multiply_all`](super::multiply_all). `false` if it has to be computed in lanes: there are too many products, or
/// the level has no groups or none for this size, or a carry went further than it does here.
pub(super) fn multiply_all(
    level: LimbLevel,
    products: &[Product<'_>],
    results: &mut [Digits],
) -> bool {
    products.len() <= FEW && run(level, Products { all: products, results })
}

/// As [`power_all`](super::power_all), or `false`.
pub(super) fn power_all(
    level: LimbLevel,
    bits: usize,
    powers: &[Power<'_>],
    results: &mut [Digits],
) -> bool {
    powers.len() <= FEW_POWERS && run(level, Powers { bits, all: powers, results })
}

/// As [`public_power_all`](super::public_power_all), or `false`.
pub(super) fn public_power_all(
    level: LimbLevel,
    powers: &[Power<'_>],
    results: &mut [Digits],
) -> bool {
    powers.len() <= FEW && run(level, PublicPowers { all: powers, results })
}

/// So many products or public powers take less time here than in lanes, which take as long for any number of them.
const FEW: usize = 3;
/// So many secret powers: those modulo both primes of a key.
const FEW_POWERS: usize = 2;

/// Runs a kernel of groups.
struct InGroups<K>(K);

impl<K: GroupKernel<Out = bool>> LimbKernel for InGroups<K> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> bool {
        s.in_groups(self.0).unwrap_or(false)
    }
}

fn run(level: LimbLevel, kernel: impl GroupKernel<Out = bool>) -> bool {
    let done = level.run(InGroups(kernel));
    // Products are called from frames with tables and constants of their own.
    wipe_stack::<{ 16 << 10 }>();
    done
}

struct Products<'a> {
    all: &'a [Product<'a>],
    results: &'a mut [Digits],
}

impl GroupKernel for Products<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: LimbGroups>(self, s: S) -> bool {
        let Self { all, results } = self;
        match (S::LANES, all[0].modulus.digits.len()) {
            (_, 20) => s.call(SomeProducts::<5, 5, false> { all, results }),
            (_, 30) => s.call(SomeProducts::<8, 6, false> { all, results }),
            (8, 40) => s.call(SomeProducts::<5, 5, true> { all, results }),
            (8, 60) => s.call(SomeProducts::<8, 4, true> { all, results }),
            (_, 40) | (8, 80) => s.call(SomeProducts::<10, 10, true> { all, results }),
            (_, 60) => s.call(SomeProducts::<15, 15, true> { all, results }),
            (_, 80) => s.call(SomeProducts::<20, 20, true> { all, results }),
            _ => false,
        }
    }
}

struct Powers<'a> {
    bits: usize,
    all: &'a [Power<'a>],
    results: &'a mut [Digits],
}

impl GroupKernel for Powers<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: LimbGroups>(self, s: S) -> bool {
        let Self { bits, all, results } = self;
        match all[0].modulus.digits.len() {
            20 => s.call(SomePowers::<5, 5> { bits, all, results }),
            30 => s.call(SomePowers::<8, 6> { bits, all, results }),
            40 => s.call(SomePowers::<10, 10> { bits, all, results }),
            _ => false,
        }
    }
}

struct PublicPowers<'a> {
    all: &'a [Power<'a>],
    results: &'a mut [Digits],
}

impl GroupKernel for PublicPowers<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: LimbGroups>(self, s: S) -> bool {
        let Self { all, results } = self;
        match (S::LANES, all[0].modulus.digits.len()) {
            (8, 40) => s.call(SomePublicPowers::<5, 5> { all, results }),
            (8, 60) => s.call(SomePublicPowers::<8, 4> { all, results }),
            (_, 40) | (8, 80) => s.call(SomePublicPowers::<10, 10> { all, results }),
            (_, 60) => s.call(SomePublicPowers::<15, 15> { all, results }),
            (_, 80) => s.call(SomePublicPowers::<20, 20> { all, results }),
            _ => false,
        }
    }
}

struct SomeProducts<'a, const B: usize, const LAST: usize, const WHOLE: bool> {
    all: &'a [Product<'a>],
    results: &'a mut [Digits],
}

impl<S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool> Part<S>
    for SomeProducts<'_, B, LAST, WHOLE>
{
    type Out = bool;

    #[inline(always)]
    fn run(self, s: S) -> bool {
        let numbers = Groups::<S, B, LAST, WHOLE>::NUMBERS;
        let mut overflow = s.splat(0);
        for (products, results) in self.all.chunks(numbers).zip(self.results.chunks_mut(numbers)) {
            let two = [&products[0], &products[products.len() - 1]];
            let mut groups = Groups::<S, B, LAST, WHOLE>::of(s, two.map(|product| product.modulus));
            let a = groups.number(two.map(|product| product.a));
            let b = Groups::<S, B, LAST, WHOLE>::lines(two.map(|product| product.b));
            let result = groups.multiply(&a, &b);
            groups.put(&result, two.map(|product| product.modulus), results);
            overflow = s.or(overflow, groups.overflow);
        }
        !is_any(s, overflow)
    }
}

struct SomePowers<'a, const B: usize, const LAST: usize> {
    bits: usize,
    all: &'a [Power<'a>],
    results: &'a mut [Digits],
}

impl<S: LimbGroups, const B: usize, const LAST: usize> Part<S> for SomePowers<'_, B, LAST> {
    type Out = bool;

    #[inline(always)]
    fn run(self, s: S) -> bool {
        let numbers = Groups::<S, B, LAST, false>::NUMBERS;
        let mut overflow = s.splat(0);
        let mut table: Vec<Number<S, B>> = vec![[s.splat(0); B]; POWERS];
        for (powers, results) in self.all.chunks(numbers).zip(self.results.chunks_mut(numbers)) {
            let two = [&powers[0], &powers[powers.len() - 1]];
            let moduli = two.map(|power| power.modulus);
            let mut groups = Groups::<S, B, LAST, false>::of(s, moduli);
            table[0] = groups.number(moduli.map(|modulus| &*modulus.one));
            table[1] = groups.in_form(two);
            let base = Groups::<S, B, LAST, false>::lines_of(s, &table[1]);
            for at in 2..POWERS {
                table[at] = if at % 2 == 0 {
                    groups.square(&table[at / 2])
                } else {
                    groups.multiply(&table[at - 1], &base)
                };
            }
            let mut windows = (0..self.bits.div_ceil(WINDOW_BITS)).rev();
            let mut result = [s.splat(0); B];
            if let Some(window) = windows.next() {
                result = choose(s, &table, window_of(s, two, window));
            }
            for window in windows {
                for _ in 0..WINDOW_BITS {
                    result = groups.square_inlined(&result);
                }
                let factor = choose(s, &table, window_of(s, two, window));
                let factor = Groups::<S, B, LAST, false>::lines_of(s, &factor);
                result = groups.multiply_inlined(&result, &factor);
            }
            let result = groups.out_of_form(&result);
            groups.put(&result, moduli, results);
            overflow = s.or(overflow, groups.overflow);
        }
        s.wipe(table.as_flattened_mut());
        !is_any(s, overflow)
    }
}

struct SomePublicPowers<'a, const B: usize, const LAST: usize> {
    all: &'a [Power<'a>],
    results: &'a mut [Digits],
}

impl<S: LimbGroups, const B: usize, const LAST: usize> Part<S> for SomePublicPowers<'_, B, LAST> {
    type Out = bool;

    #[inline(always)]
    fn run(self, s: S) -> bool {
        let mut overflow = s.splat(0);
        for (power, result) in self.all.iter().zip(self.results.chunks_mut(1)) {
            let two = [power; 2];
            let mut groups = Groups::<S, B, LAST, true>::of(s, [power.modulus; 2]);
            let base = groups.in_form(two);
            let lines = Groups::<S, B, LAST, true>::lines_of(s, &base);
            let bits = bits_of(power.exponent);
            let mut number = if bits == 0 { groups.number([&*power.modulus.one; 2]) } else { base };
            for bit in (0..bits.saturating_sub(1)).rev() {
                let factor = Groups::<S, B, LAST, true>::lines_of(s, &number);
                number = groups.multiply_inlined(&number, &factor);
                if power.exponent[bit / 64] >> (bit % 64) & 1 == 1 {
                    number = groups.multiply(&number, &lines);
                }
            }
            let number = groups.out_of_form(&number);
            groups.put(&number, [power.modulus; 2], result);
            overflow = s.or(overflow, groups.overflow);
        }
        !is_any(s, overflow)
    }
}

impl<S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool>
    Groups<S, B, LAST, WHOLE>
{
    /// Groups of the moduli, of which there is one if there is one group.
    #[inline(always)]
    fn of(s: S, moduli: [&Modulus; 2]) -> Self {
        let k0 = moduli.map(|modulus| negative_inverse(modulus.digits[0]));
        let folds = [0, 1].map(|group| inverse_powers(&moduli[group].digits, k0[group]));
        let zero = s.splat(0);
        let mut groups = Self {
            s,
            modulus: [zero; B],
            fold: [[zero; B]; 2],
            k0: if WHOLE { s.splat(k0[0]) } else { s.splat_groups(k0) },
            overflow: zero,
        };
        groups.modulus = groups.number(moduli.map(|modulus| &*modulus.digits));
        for power in 0..2 {
            groups.fold[power] = groups.number([&folds[0][power], &folds[1][power]]);
        }
        groups
    }

    /// The digits of the numbers as lines.
    #[inline(always)]
    fn lines(numbers: [&[u64]; 2]) -> Zeroizing<Lines<B>> {
        let mut lines = Zeroizing::new(Lines::default());
        for (group, number) in numbers.into_iter().take(Self::NUMBERS).enumerate() {
            into_lines(&mut lines.0, 4 * group, number);
        }
        lines
    }

    #[inline(always)]
    fn number(&self, numbers: [&[u64]; 2]) -> Number<S, B> {
        let lines = Self::lines(numbers);
        let mut number = [self.s.splat(0); B];
        for (v, line) in number.iter_mut().zip(&lines.0) {
            *v = self.s.load(&line.0);
        }
        number
    }

    #[inline(always)]
    fn lines_of(s: S, number: &Number<S, B>) -> Zeroizing<Lines<B>> {
        let mut lines = Zeroizing::new(Lines::default());
        for (&v, line) in number.iter().zip(&mut lines.0) {
            s.store(v, &mut line.0);
        }
        lines
    }

    /// Writes the numbers, below four times the moduli, as results below them.
    #[inline(always)]
    fn put(&self, number: &Number<S, B>, moduli: [&Modulus; 2], results: &mut [Digits]) {
        let lines = Self::lines_of(self.s, number);
        for (group, (result, modulus)) in results.iter_mut().zip(moduli).enumerate() {
            out_of_lines(&lines.0, 4 * group, result);
            for _ in 0..3 {
                subtract_once(result, &modulus.digits);
            }
        }
    }

    /// The bases in Montgomery's form, below 8 m.
    #[inline(always)]
    fn in_form(&mut self, powers: [&Power<'_>; 2]) -> Number<S, B> {
        let s = self.s;
        let digits = Self::DIGITS;
        let lower = powers.map(|power| &power.base[..digits.min(power.base.len())]);
        let upper = powers.map(|power| power.base.get(digits..).unwrap_or(&[]));
        let square = self.number(powers.map(|power| &*power.modulus.square));
        let mut form = self.multiply(&square, &Self::lines(lower));
        if upper.iter().any(|upper| !upper.is_empty()) {
            let cube = self.number(powers.map(|power| &*power.modulus.cube));
            let product = self.multiply(&cube, &Self::lines(upper));
            for k in 0..B {
                form[k] = s.add(form[k], product[k]);
            }
            form = self.normalise(form);
        }
        form
    }

    /// The number out of Montgomery's form, below 4 m.
    #[inline(always)]
    fn out_of_form(&mut self, number: &Number<S, B>) -> Number<S, B> {
        self.multiply(number, &Self::lines([&[1], &[1]]))
    }
}

/// Puts a number's digits into lines, its first ones into lane `first` of them.
#[inline(never)]
fn into_lines(lines: &mut [Line], first: usize, number: &[u64]) {
    for (lane, digits) in number.chunks(lines.len()).enumerate() {
        for (line, &digit) in lines.iter_mut().zip(digits) {
            line.0[first + lane] = digit;
        }
    }
}

/// The reverse of [`into_lines`].
#[inline(never)]
fn out_of_lines(lines: &[Line], first: usize, number: &mut [u64]) {
    for (lane, digits) in number.chunks_mut(lines.len()).enumerate() {
        for (line, digit) in lines.iter().zip(digits) {
            *digit = line.0[first + lane];
        }
    }
}

/// Digits in memory that are wiped.
#[derive(Clone, Copy)]
struct Lines<const B: usize>([Line; B]);

impl<const B: usize> Default for Lines<B> {
    #[inline(always)]
    fn default() -> Self {
        Self([Line([0; 8]); B])
    }
}

impl<const B: usize> Zeroize for Lines<B> {
    #[inline(always)]
    fn zeroize(&mut self) {
        for line in &mut self.0 {
            line.0.zeroize();
        }
    }
}

impl<const B: usize> core::ops::Deref for Lines<B> {
    type Target = [Line; B];

    #[inline(always)]
    fn deref(&self) -> &[Line; B] {
        &self.0
    }
}

/// 1 / 2^52 and 1 / 2^104 modulo `m`: of a number `x`, (`x` + q m) / 2^52 where q makes the lowest digit zero.
fn inverse_powers(m: &[u64], k0: u64) -> [Digits; 2] {
    let mut number: Digits = Zeroizing::new(vec![0; m.len()]);
    number[0] = 1;
    [(); 2].map(|()| {
        let q = number[0].wrapping_mul(k0) & DIGIT;
        let mut carry = 0;
        for j in 0..m.len() {
            let sum = u128::from(m[j]) * u128::from(q) + u128::from(number[j]) + carry;
            if j > 0 {
                number[j - 1] = low(sum);
            }
            carry = sum >> DIGIT_SHIFT;
        }
        number[m.len() - 1] = low(carry);
        number.clone()
    })
}

/// The power of the table that each group's window says. The table is read whole.
#[inline(always)]
fn choose<S: LimbGroups, const B: usize>(
    s: S,
    table: &[Number<S, B>],
    window: S::V,
) -> Number<S, B> {
    let mut chosen = [s.splat(0); B];
    for (power, at) in table.iter().zip(0..) {
        let wanted = s.matching(window, s.splat(at));
        for k in 0..B {
            chosen[k] = s.blend(wanted, power[k], chosen[k]);
        }
    }
    chosen
}

/// Bits of the exponents, a window of each, in the lanes of its group.
#[inline(always)]
fn window_of<S: LimbGroups>(s: S, powers: [&Power<'_>; 2], window: usize) -> S::V {
    let (word, shift) = (window * WINDOW_BITS / 64, window * WINDOW_BITS % 64);
    s.splat_groups(powers.map(|power| {
        let at = |word: usize| power.exponent.get(word).copied().unwrap_or(0);
        (at(word) >> shift | at(word + 1) << 1 << (63 - shift)) & (POWERS as u64 - 1)
    }))
}

/// Whether any bit is set, which may be known.
#[inline(always)]
fn is_any<S: Limbs>(s: S, v: S::V) -> bool {
    let mut words = [0; 8];
    s.store(v, &mut words);
    let any = words.iter().fold(0, |any, word| any | word);
    passed((any | any.wrapping_neg()) >> 63)
}

/// Subtracts `m` where the number is not below it.
fn subtract_once(number: &mut [u64], m: &[u64]) {
    let mut borrow = 0;
    for (&digit, &m) in number.iter().zip(m) {
        borrow = digit.wrapping_sub(m).wrapping_sub(borrow) >> 63;
    }
    let not_below = core::hint::black_box(borrow).wrapping_sub(1);
    let mut borrow = 0;
    for (digit, &m) in number.iter_mut().zip(m) {
        let difference = digit.wrapping_sub(m & not_below).wrapping_sub(borrow);
        borrow = difference >> 63;
        *digit = difference & DIGIT;
    }
}

/// The digit of a sum.
#[expect(clippy::cast_possible_truncation, reason = "the lowest digit")]
fn low(sum: u128) -> u64 {
    sum as u64 & DIGIT
}
