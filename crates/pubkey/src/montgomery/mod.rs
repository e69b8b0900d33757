//! Arithmetic modulo odd numbers of any size, a modulus and its operands in each lane.
//!
//! A number of `D` digits of 52 bits is `D` vectors: digit `j` of every lane's number is vector `j`. Products are
//! those of Montgomery: `multiply(a, b)` is `a * b / R` modulo `m`, where `R` is 2^(52 `D`). `D` is such that
//! `R` > 64 `m`, and results are below 2 `m`, not `m`: the comparison that others make after each product is made
//! once, at the end (C. Walter, "Montgomery exponentiation needs no final subtractions", 1999).
//!
//! Products are summed in columns in memory, [`TILE`] rows at once: `TILE` digits of one factor stay in registers
//! with the columns that they add to, while the digits of the other factor pass. So a step of 2 `TILE`
//! multiplications loads two vectors and stores one. Where a reduction has to wait for its quotients
//! ([`quotients`]), the next rows of the product stand beside it in program order.

mod groups;
mod registers;
#[cfg(test)]
mod tests;
mod tiles;

use alloc::{vec, vec::Vec};
use lanelock_isa::{LimbKernel, LimbLevel, Limbs, MOST_LIMBS, Part};
use zeroize::Zeroizing;

use registers::{CHOSEN_PER_TILE, Choice, POWERS, REGISTERS, WINDOW_BITS, in_registers};
use tiles::{
    HALF, HALVES, PRODUCT, SQUARE, TILE, add_rows_from, double, normalise, quotients, reduce_first,
    rows, tile_of,
};

use crate::{
    Error,
    digits::{DIGIT, DIGIT_BITS, Digits, bits_of, gather, scatter},
    level::for_few,
    secret::Secret,
};

/// Digits of a number modulo one of `bits` bits: so many that `R` > 64 `m`, in pairs of tiles.
pub(crate) const fn digits_for(bits: usize) -> usize {
    (bits + 6).div_ceil(DIGIT_BITS).next_multiple_of(2 * TILE)
}

/// An odd modulus, and what products modulo it need.
#[derive(Clone)]
pub(crate) struct Modulus {
    bits: usize,
    digits: Secret,
    /// `R` modulo m: 1 in Montgomery's form.
    one: Secret,
    /// `R`^2 modulo m: brings a number into that form.
    square: Secret,
    /// `R`^3 modulo m: brings the upper half of a number of twice the digits into that form.
    cube: Secret,
}

impl Modulus {
    /// Moduli of exactly `bits` bits each, which have to be odd and above 1, as digits.
    pub(crate) fn new_all(level: LimbLevel, bits: usize, numbers: &[Digits]) -> Vec<Self> {
        let mut moduli: Vec<Self> = Vec::with_capacity(numbers.len());
        for number in numbers {
            debug_assert!(number.len() == digits_for(bits) && number[0] & 1 == 1);
            let zero = || Digits::default().into();
            let digits = number.clone().into();
            moduli.push(Self { bits, digits, one: zero(), square: zero(), cube: zero() });
        }
        level.run(SetUp { moduli: &mut moduli });
        moduli
    }

    /// A modulus of exactly `bits` bits, odd and above 1.
    pub(crate) fn new(level: LimbLevel, bits: usize, number: &Digits) -> Self {
        let mut all = Self::new_all(level, bits, core::slice::from_ref(number));
        all.remove(0)
    }

    /// Bits of the number.
    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// The number itself.
    pub(crate) fn digits(&self) -> &[u64] {
        &self.digits
    }

    /// `R`^2 modulo the number: [`multiply_all`] with it brings another number into Montgomery's form.
    pub(crate) fn square(&self) -> &[u64] {
        &self.square
    }

    /// The same in memory that is neither swapped out nor dumped.
    pub(crate) fn lock(&self) -> Result<Self, Error> {
        Ok(Self {
            bits: self.bits,
            digits: self.digits.lock()?,
            one: self.one.lock()?,
            square: self.square.lock()?,
            cube: self.cube.lock()?,
        })
    }
}

/// -1/m modulo 2^52 of an odd m, by Newton's iteration.
fn negative_inverse(m: u64) -> u64 {
    // m * m = 1 modulo 8; each step doubles the bits that are right: 3, 6, 12, 24, 48, 96.
    let mut inverse = m;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg() & DIGIT
}

/// A product to compute: `a` * `b` / `R` modulo `modulus`.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    pub(crate) modulus: &'a Modulus,
    /// Below `R`, as many digits as the modulus.
    pub(crate) a: &'a [u64],
    /// Below 2 m, as many digits as the modulus.
    pub(crate) b: &'a [u64],
}

/// The products, below their moduli. All moduli have as many digits.
pub(crate) fn multiply_all(level: LimbLevel, products: &[Product<'_>]) -> Vec<Digits> {
    let mut results = results(products.iter().map(|product| product.modulus));
    if groups::multiply_all(level, products, &mut results) {
        return results;
    }
    let level = for_few(level, products.len());
    level.run(Products { all: products, results: &mut results });
    results
}

/// A power to compute, with an exponent that is secret.
#[derive(Clone, Copy)]
pub(crate) struct Power<'a> {
    pub(crate) modulus: &'a Modulus,
    /// Up to twice the digits of the modulus.
    pub(crate) base: &'a [u64],
    /// Words of 64 bits, the lowest first.
    pub(crate) exponent: &'a [u64],
}

/// The powers, below their moduli, with exponents of at most `bits` bits. All moduli have as many digits.
///
/// Time and addresses depend on the count of the powers, of digits and of `bits` alone.
pub(crate) fn power_all(level: LimbLevel, bits: usize, powers: &[Power<'_>]) -> Vec<Digits> {
    let mut results = results(powers.iter().map(|power| power.modulus));
    if groups::power_all(level, bits, powers, &mut results) {
        return results;
    }
    let level = for_few(level, powers.len());
    level.run(Powers { bits, all: powers, results: &mut results });
    results
}

/// As [`power_all`], with exponents that are public: no multiplication where no lane has a bit.
pub(crate) fn public_power_all(level: LimbLevel, powers: &[Power<'_>]) -> Vec<Digits> {
    let mut results = results(powers.iter().map(|power| power.modulus));
    if groups::public_power_all(level, powers, &mut results) {
        return results;
    }
    let level = for_few(level, powers.len());
    level.run(PublicPowers { all: powers, results: &mut results });
    results
}

fn results<'a>(moduli: impl Iterator<Item = &'a Modulus>) -> Vec<Digits> {
    moduli.map(|modulus| Zeroizing::new(vec![0; modulus.digits.len()])).collect()
}

/// The moduli of the lanes, and room for a product.
struct Lanes<S: Limbs> {
    s: S,
    modulus: Vec<S::V>,
    k0: S::V,
    /// Sums of columns.
    sums: Vec<S::V>,
    /// Twice a number that is squared.
    twice: Vec<S::V>,
}

impl<S: Limbs> Lanes<S> {
    /// Lanes of the moduli; those that are left over repeat the first.
    #[inline(always)]
    fn new(s: S, moduli: &[&Modulus]) -> Self {
        let digits = moduli[0].digits.len();
        let zero = s.splat(0);
        let mut lanes = Self {
            s,
            modulus: vec![zero; digits],
            k0: zero,
            sums: vec![zero; 2 * digits + 1],
            twice: vec![zero; digits],
        };
        let mut numbers: [&[u64]; MOST_LIMBS] = [&moduli[0].digits; MOST_LIMBS];
        let mut k0 = [negative_inverse(moduli[0].digits[0]); MOST_LIMBS];
        for (i, modulus) in moduli.iter().enumerate() {
            numbers[i] = &modulus.digits;
            k0[i] = negative_inverse(modulus.digits[0]);
        }
        gather(s, &numbers, &mut lanes.modulus);
        lanes.k0 = s.load(&k0);
        lanes
    }

    /// `result` = `a` * `b` / `R`, below 2 m if `a` * `b` < m * `R`.
    #[inline(always)]
    fn multiply(&mut self, result: &mut [S::V], a: &[S::V], b: &[S::V]) {
        self.s.call(Reduced::<_, PRODUCT>(self, result, [a, b, b]));
    }

    /// `result` = `a`^2 / `R`, below 2 m if `a`^2 < m * `R`: three quarters of the products.
    #[inline(always)]
    fn square(&mut self, result: &mut [S::V], a: &[S::V]) {
        let mut twice = core::mem::take(&mut self.twice);
        double(self.s, &mut twice, a);
        self.s.call(Reduced::<_, SQUARE>(self, result, [a, &twice, &twice]));
        self.twice = twice;
    }

    /// `result` = `a` divided by the root of `R`.
    #[inline(always)]
    fn divide_by_root(&mut self, result: &mut [S::V], a: &[S::V]) {
        self.s.call(Reduced::<_, HALF>(self, result, [a; 3]));
    }

    /// [`HALVES`], in registers where the number fits: code that should stand in few places.
    #[inline(always)]
    fn multiply_halves(&mut self, result: &mut [S::V], a: &[S::V], factor: &[S::V]) {
        let (b, c) = factor.split_at(self.modulus.len());
        if S::LANES > 1 && self.modulus.len() == REGISTERS {
            let numbers = [a, b, c, &self.modulus];
            in_registers::<S, HALVES>(self.s, result, numbers, self.k0, None);
        } else {
            self.reduced::<HALVES>(result, [a, b, c], None);
        }
    }

    /// The same for [`square`](Self::square), with a part of a choice.
    #[inline(always)]
    fn square_unrolled(&mut self, result: &mut [S::V], a: &[S::V], choice: &mut Choice<'_, S>) {
        if S::LANES > 1 && self.modulus.len() == REGISTERS {
            double(self.s, &mut self.twice, a);
            let numbers = [a, &self.twice, &self.twice, &self.modulus];
            in_registers::<S, SQUARE>(self.s, result, numbers, self.k0, Some(choice));
        } else {
            let mut twice = core::mem::take(&mut self.twice);
            double(self.s, &mut twice, a);
            self.reduced::<SQUARE>(result, [a, &twice, &twice], Some(choice));
            self.twice = twice;
        }
    }

    /// A product of one of the kinds, and the choice of some digits after each tile.
    ///
    /// Quotients wait for each other, and what waits longest comes first: those of the next tile as soon as the
    /// columns that they take are whole, then the rest of this tile's reduction and rows of the product.
    #[inline(always)]
    fn reduced<const KIND: u8>(
        &mut self,
        result: &mut [S::V],
        [a, b, c]: [&[S::V]; 3],
        mut choice: Option<&mut Choice<'_, S>>,
    ) {
        let s = self.s;
        let digits = self.modulus.len();
        // Digits that are reduced.
        let end = if KIND == HALVES || KIND == HALF { digits / 2 } else { digits };
        let (m, sums) = (&self.modulus[..digits], &mut self.sums[..]);
        let numbers = [&a[..digits], &b[..digits], &c[..digits]];
        sums.fill(s.splat(0));
        rows::<S, KIND>(s, sums, numbers, 0);
        if TILE < end {
            rows::<S, KIND>(s, sums, numbers, TILE);
        }
        let (mut q, mut carry) = quotients(s, tile_of::<S>(sums, 0), m, self.k0);
        for at in (TILE..=end).step_by(TILE) {
            let (columns, window) = reduce_first(s, &sums[at..], m, &q, carry);
            let rest = &m[2 * TILE..];
            if at == end {
                for (sum, column) in sums[at..].iter_mut().zip(columns) {
                    *sum = column;
                }
                add_rows_from(s, &mut sums[at + TILE..], rest, &q, window);
            } else {
                let (next, next_carry) = quotients(s, columns, m, self.k0);
                add_rows_from(s, &mut sums[at + TILE..], rest, &q, window);
                (q, carry) = (next, next_carry);
                if at + TILE < end {
                    rows::<S, KIND>(s, sums, numbers, at + TILE);
                }
            }
            if let Some(choice) = &mut choice {
                choice.take::<CHOSEN_PER_TILE>(s);
            }
        }
        normalise(s, result, &sums[end..]);
    }

    /// Subtracts the modulus where the number is not below it, once.
    #[inline(always)]
    fn subtract_once(&mut self, number: &mut [S::V]) {
        let s = self.s;
        let difference = &mut self.twice[..number.len()];
        let mut borrow = s.splat(0);
        for ((difference, &number), &m) in difference.iter_mut().zip(&*number).zip(&self.modulus) {
            let digit = s.sub(s.sub(number, m), borrow);
            borrow = s.shift_right::<63>(digit);
            *difference = s.and(digit, s.splat(DIGIT));
        }
        let below = s.sub(s.splat(0), borrow);
        for (number, &difference) in number.iter_mut().zip(&*difference) {
            *number = s.select(below, *number, difference);
        }
    }

    /// Three numbers, zero.
    #[inline(always)]
    fn numbers(&self) -> [Vec<S::V>; 3] {
        let zero = vec![self.s.splat(0); self.modulus.len()];
        [zero.clone(), zero.clone(), zero]
    }

    /// Wipes the numbers and the room for products.
    #[inline(always)]
    fn wipe(mut self, numbers: [Vec<S::V>; 3]) {
        for mut number in numbers {
            self.s.wipe(&mut number);
        }
        self.s.wipe(&mut self.modulus);
        self.s.wipe(&mut self.sums);
        self.s.wipe(&mut self.twice);
    }
}

/// [`Lanes::reduced`] as a function of its own.
struct Reduced<'a, S: Limbs, const KIND: u8>(&'a mut Lanes<S>, &'a mut [S::V], [&'a [S::V]; 3]);

impl<S: Limbs, const KIND: u8> Part<S> for Reduced<'_, S, KIND> {
    type Out = ();

    #[inline(always)]
    fn run(self, _s: S) {
        self.0.reduced::<KIND>(self.1, self.2, None);
    }
}

/// Fills in what products modulo these moduli, all of as many bits, need.
struct SetUp<'a> {
    moduli: &'a mut [Modulus],
}

impl LimbKernel for SetUp<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        for moduli in self.moduli.chunks_mut(S::LANES) {
            set_up(s, moduli);
        }
    }
}

#[inline(always)]
fn set_up<S: Limbs>(s: S, moduli: &mut [Modulus]) {
    let all: Vec<&Modulus> = moduli.iter().collect();
    let mut lanes = Lanes::new(s, &all);
    let (bits, digits) = (moduli[0].bits, lanes.modulus.len());
    let [mut number, mut other, spare] = lanes.numbers();

    // R modulo m, from the power of two below m.
    number[(bits - 1) / DIGIT_BITS] = s.splat(1 << ((bits - 1) % DIGIT_BITS));
    for _ in bits - 1..DIGIT_BITS * digits {
        double(s, &mut other, &number);
        core::mem::swap(&mut number, &mut other);
        lanes.subtract_once(&mut number);
    }
    let mut results: Vec<Digits> = results(moduli.iter());
    scatter(s, &number, &mut results);
    for (modulus, result) in moduli.iter_mut().zip(&results) {
        modulus.one = result.clone().into();
    }

    // R times 2 to the power of R's bits: a squaring doubles the power.
    let exponent = DIGIT_BITS * digits;
    for bit in (0..=exponent.ilog2()).rev() {
        lanes.square(&mut other, &number);
        core::mem::swap(&mut number, &mut other);
        lanes.subtract_once(&mut number);
        if exponent >> bit & 1 == 1 {
            double(s, &mut other, &number);
            core::mem::swap(&mut number, &mut other);
            lanes.subtract_once(&mut number);
        }
    }
    scatter(s, &number, &mut results);
    for (modulus, result) in moduli.iter_mut().zip(&results) {
        modulus.square = result.clone().into();
    }

    lanes.square(&mut other, &number);
    lanes.subtract_once(&mut other);
    scatter(s, &other, &mut results);
    for (modulus, result) in moduli.iter_mut().zip(&results) {
        modulus.cube = result.clone().into();
    }
    lanes.wipe([number, other, spare]);
}

struct Products<'a> {
    all: &'a [Product<'a>],
    results: &'a mut [Digits],
}

impl LimbKernel for Products<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        for (products, results) in self.all.chunks(S::LANES).zip(self.results.chunks_mut(S::LANES))
        {
            let moduli: Vec<&Modulus> = products.iter().map(|product| product.modulus).collect();
            let mut lanes = Lanes::new(s, &moduli);
            let [mut a, mut b, mut result] = lanes.numbers();
            let (mut first, mut second) =
                ([products[0].a; MOST_LIMBS], [products[0].b; MOST_LIMBS]);
            for (lane, product) in products.iter().enumerate() {
                first[lane] = product.a;
                second[lane] = product.b;
            }
            gather(s, &first, &mut a);
            gather(s, &second, &mut b);
            lanes.multiply(&mut result, &a, &b);
            lanes.subtract_once(&mut result);
            scatter(s, &result, results);
            lanes.wipe([a, b, result]);
        }
    }
}

struct Powers<'a> {
    bits: usize,
    all: &'a [Power<'a>],
    results: &'a mut [Digits],
}

impl LimbKernel for Powers<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        let mut table: Vec<S::V> = Vec::new();
        for (powers, results) in self.all.chunks(S::LANES).zip(self.results.chunks_mut(S::LANES)) {
            let moduli: Vec<&Modulus> = powers.iter().map(|power| power.modulus).collect();
            let mut lanes = Lanes::new(s, &moduli);
            let digits = lanes.modulus.len();
            let [mut base, mut other, mut result] = lanes.numbers();
            into_form(&mut lanes, powers, &mut base);

            let size = 2 * digits;
            table.resize(POWERS * size, s.splat(0));
            one_of(s, powers, &mut table[..digits]);
            table[size..size + digits].copy_from_slice(&base);
            for power in table[..2 * size].chunks_exact_mut(size) {
                let (whole, half) = power.split_at_mut(digits);
                lanes.divide_by_root(half, whole);
            }
            let mut factor = vec![s.splat(0); size];

            // First the table, then the windows of the exponent: one loop, since square and product are long when
            // they are unrolled.
            let count = self.bits.div_ceil(WINDOW_BITS);
            let mut masks = [s.matching(base[0], base[0]); POWERS];
            for step in 2..POWERS + (count - 1) * (WINDOW_BITS + 1) {
                let is_square;
                let mut done = 0;
                if let Some(step) = step.checked_sub(POWERS) {
                    let (window, step) =
                        (count - 1 - step / (WINDOW_BITS + 1), step % (WINDOW_BITS + 1));
                    is_square = step < WINDOW_BITS;
                    if window == count - 1 && step == 0 {
                        masks_of(s, &mut masks, windows(s, powers, window));
                        let table = &table[..];
                        let mut choice = Choice { table, masks: &masks, chosen: &mut factor, done };
                        while choice.done < digits {
                            choice.take::<TILE>(s);
                        }
                        result.copy_from_slice(&factor[..digits]);
                    }
                    if step == 0 {
                        masks_of(s, &mut masks, windows(s, powers, window - 1));
                    }
                    done = step * size / WINDOW_BITS;
                } else {
                    is_square = step % 2 == 0;
                    let from = if is_square { step / 2 } else { step - 1 };
                    result.copy_from_slice(&table[from * size..][..digits]);
                    factor.copy_from_slice(&table[size..2 * size]);
                }
                if is_square {
                    let table = &table[..];
                    let mut choice = Choice { table, masks: &masks, chosen: &mut factor, done };
                    lanes.square_unrolled(&mut other, &result, &mut choice);
                } else {
                    lanes.multiply_halves(&mut other, &result, &factor);
                }
                core::mem::swap(&mut other, &mut result);
                if step < POWERS {
                    let (whole, half) = table[step * size..][..size].split_at_mut(digits);
                    whole.copy_from_slice(&result);
                    lanes.divide_by_root(half, whole);
                }
            }
            s.wipe(&mut factor);
            // The choices of the last window, which are bits of the exponent, are overwritten.
            masks = [s.matching(base[0], base[0]); POWERS];
            core::hint::black_box(&masks);
            out_of_form(&mut lanes, &result, &mut other);
            scatter(s, &other, results);
            lanes.wipe([base, other, result]);
        }
        s.wipe(&mut table);
    }
}

struct PublicPowers<'a> {
    all: &'a [Power<'a>],
    results: &'a mut [Digits],
}

impl LimbKernel for PublicPowers<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        for (powers, results) in self.all.chunks(S::LANES).zip(self.results.chunks_mut(S::LANES)) {
            let moduli: Vec<&Modulus> = powers.iter().map(|power| power.modulus).collect();
            let mut lanes = Lanes::new(s, &moduli);
            let [mut base, mut one, mut factor] = lanes.numbers();
            let [mut result, mut other, _] = lanes.numbers();
            into_form(&mut lanes, powers, &mut base);
            one_of(s, powers, &mut one);

            let bits = powers.iter().map(|power| bits_of(power.exponent)).max().unwrap_or(0);
            result.copy_from_slice(&one);
            for bit in (0..bits).rev() {
                if bit + 1 < bits {
                    lanes.square(&mut other, &result);
                    core::mem::swap(&mut other, &mut result);
                }
                let mut masks = [0; MOST_LIMBS];
                for (mask, power) in masks.iter_mut().zip(powers) {
                    let word = power.exponent.get(bit / 64).copied().unwrap_or(0);
                    *mask = (word >> (bit % 64) & 1).wrapping_neg();
                }
                if masks == [0; MOST_LIMBS] {
                    continue;
                }
                let mask = s.load(&masks);
                for ((factor, &base), &one) in factor.iter_mut().zip(&base).zip(&one) {
                    *factor = s.select(mask, base, one);
                }
                if bit + 1 < bits {
                    lanes.multiply(&mut other, &result, &factor);
                    core::mem::swap(&mut other, &mut result);
                } else {
                    result.copy_from_slice(&factor);
                }
            }
            out_of_form(&mut lanes, &result, &mut factor);
            scatter(s, &factor, results);
            s.wipe(&mut other);
            lanes.wipe([base, factor, result]);
        }
    }
}

/// Bits of the exponents, a window of each.
#[inline(always)]
fn windows<S: Limbs>(s: S, powers: &[Power<'_>], window: usize) -> S::V {
    let (word, shift) = (window * WINDOW_BITS / 64, window * WINDOW_BITS % 64);
    let mut bits = [0; MOST_LIMBS];
    for (bits, power) in bits.iter_mut().zip(powers) {
        let low = power.exponent.get(word).copied().unwrap_or(0);
        let high = power.exponent.get(word + 1).copied().unwrap_or(0);
        *bits = (low >> shift | high << 1 << (63 - shift)) & (POWERS as u64 - 1);
    }
    s.load(&bits)
}

/// The lanes that want each power.
#[inline(always)]
fn masks_of<S: Limbs>(s: S, masks: &mut [S::M; POWERS], windows: S::V) {
    for (mask, index) in masks.iter_mut().zip(0..) {
        *mask = s.matching(windows, s.splat(index));
    }
}

/// 1 in Montgomery's form.
#[inline(always)]
fn one_of<S: Limbs>(s: S, powers: &[Power<'_>], one: &mut [S::V]) {
    let mut numbers: [&[u64]; MOST_LIMBS] = [&powers[0].modulus.one; MOST_LIMBS];
    for (number, power) in numbers.iter_mut().zip(powers) {
        *number = &power.modulus.one;
    }
    gather(s, &numbers, one);
}

/// `result` = the bases in Montgomery's form, below 4 m.
#[inline(always)]
fn into_form<S: Limbs>(lanes: &mut Lanes<S>, powers: &[Power<'_>], result: &mut [S::V]) {
    let s = lanes.s;
    let digits = result.len();
    let [mut half, mut factor, mut upper] = lanes.numbers();
    let mut bases: [&[u64]; MOST_LIMBS] = [&[]; MOST_LIMBS];
    let mut factors = bases;
    let mut more = false;
    for (lane, power) in powers.iter().enumerate() {
        bases[lane] = power.base.get(digits..).unwrap_or(&[]);
        factors[lane] = &power.modulus.cube;
        more |= !bases[lane].is_empty();
    }
    if more {
        gather(s, &bases, &mut half);
        gather(s, &factors, &mut factor);
        lanes.multiply(&mut upper, &half, &factor);
    }
    for (lane, power) in powers.iter().enumerate() {
        bases[lane] = &power.base[..digits.min(power.base.len())];
        factors[lane] = &power.modulus.square;
    }
    gather(s, &bases, &mut half);
    gather(s, &factors, &mut factor);
    lanes.multiply(result, &half, &factor);
    for (upper, &lower) in upper.iter_mut().zip(&*result) {
        *upper = s.add(*upper, lower);
    }
    normalise(s, result, &upper);
    lanes.s.wipe(&mut half);
    lanes.s.wipe(&mut upper);
}

/// `result` = `number` out of Montgomery's form, below m.
#[inline(always)]
fn out_of_form<S: Limbs>(lanes: &mut Lanes<S>, number: &[S::V], result: &mut [S::V]) {
    let s = lanes.s;
    let mut one = vec![s.splat(0); number.len()];
    one[0] = s.splat(1);
    lanes.multiply(result, number, &one);
    lanes.subtract_once(result);
}
