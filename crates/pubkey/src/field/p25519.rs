//! Numbers modulo p = 2^255 - 19, in five digits of 51 bits: those of Curve25519.
//!
//! 2^255 is 19 modulo p, so that the upper half of a product is folded by a small factor, and digits of 51 bits
//! (not 52, as the multiplier has them) make that place a border of digits. What it costs is that the upper half
//! of each product of digits counts twice. What it brings is that nothing has to be carried from digit to digit in
//! a chain: a factor may have digits of 52 bits, and one step that carries in all digits at once ([`Sums::carried`])
//! is enough after any sum of a few products.
//!
//! So sums are taken before the carry: a sum and a difference of two products cost as many carries as the products.

use lanelock_isa::{LimbPart, Limbs, MOST_LIMBS};
use zeroize::Zeroizing;

/// Digits of a number.
pub(crate) const DIGITS: usize = 5;
/// Bits of a digit.
const BITS: u32 = 51;
/// The bits of a digit.
const DIGIT: u64 = (1 << BITS) - 1;
/// 2^255 modulo p.
const FOLD: u64 = 19;

/// The digits of p.
const P: [u64; DIGITS] = [DIGIT - 18, DIGIT, DIGIT, DIGIT, DIGIT];

/// A number in each lane, in digits below 2^52: what products take. It may be above p.
#[derive(Clone, Copy)]
pub(crate) struct Element<S: Limbs>(pub(crate) [S::V; DIGITS]);

/// Sums of columns in each lane, in words of 64 bits.
///
/// Those of a product are below 267 * 2^52, biased ones below 571 * 2^52.
#[derive(Clone, Copy)]
pub(crate) struct Sums<S: Limbs>([S::V; DIGITS]);

impl<S: Limbs> Element<S> {
    /// The number of these digits, which have to be below 2^52, in every lane.
    #[inline(always)]
    pub(crate) fn splat(s: S, digits: [u64; DIGITS]) -> Self {
        Self(digits.map(|digit| s.splat(digit)))
    }

    /// The low 255 bits of a number in words of 64 bits, the lowest first.
    #[inline(always)]
    pub(crate) fn from_words(s: S, words: [S::V; 4]) -> Self {
        let [w0, w1, w2, w3] = words;
        let digit = |v| s.and(v, s.splat(DIGIT));
        Self([
            digit(w0),
            digit(s.or(s.shift_right::<51>(w0), s.shift_left::<13>(w1))),
            digit(s.or(s.shift_right::<38>(w1), s.shift_left::<26>(w2))),
            digit(s.or(s.shift_right::<25>(w2), s.shift_left::<39>(w3))),
            digit(s.shift_right::<12>(w3)),
        ])
    }

    /// The number below p, in words of 64 bits, the lowest first.
    #[inline(always)]
    pub(crate) fn to_words(self, s: S) -> [S::V; 4] {
        let [d0, d1, d2, d3, d4] = self.reduced(s);
        [
            s.or(d0, s.shift_left::<51>(d1)),
            s.or(s.shift_right::<13>(d1), s.shift_left::<38>(d2)),
            s.or(s.shift_right::<26>(d2), s.shift_left::<25>(d3)),
            s.or(s.shift_right::<39>(d3), s.shift_left::<12>(d4)),
        ]
    }

    /// The digits of the number below p.
    #[inline(always)]
    pub(crate) fn reduced(self, s: S) -> [S::V; DIGITS] {
        // Below 2^255 + 38, and so below 2 p.
        let (mut digits, carry) = propagated(s, self.0, s.splat(0));
        digits[0] = s.mul_low(digits[0], carry, s.splat(FOLD));
        // It is not below p where 19 more reach 2^255; then those 19 without 2^255 are what is left.
        let (_, above) = propagated(s, digits, s.splat(FOLD));
        let fold = s.mul_low(s.splat(0), above, s.splat(FOLD));
        propagated(s, digits, fold).0
    }

    /// This and the other.
    #[inline(always)]
    pub(crate) fn plus(self, s: S, other: Self) -> Sums<S> {
        Sums::of(self).plus(s, Sums::of(other))
    }

    /// This without the other.
    #[inline(always)]
    pub(crate) fn minus(self, s: S, other: Self) -> Sums<S> {
        // 4 p has digits above those of any element.
        let mut sums = self.0;
        for k in 0..DIGITS {
            sums[k] = s.sub(s.add(sums[k], s.splat(4 * P[k])), other.0[k]);
        }
        Sums(sums)
    }

    /// The sum, carried.
    #[inline(always)]
    pub(crate) fn add(self, s: S, other: Self) -> Self {
        self.plus(s, other).carried(s)
    }

    /// The difference, carried.
    #[inline(always)]
    pub(crate) fn sub(self, s: S, other: Self) -> Self {
        self.minus(s, other).carried(s)
    }

    /// The product, carried.
    #[inline(always)]
    pub(crate) fn mul(self, s: S, other: Self) -> Self {
        self.times(s, other).carried(s)
    }

    /// The square, carried.
    #[inline(always)]
    pub(crate) fn square(self, s: S) -> Self {
        self.squared(s).carried(s)
    }

    /// The product.
    #[inline(always)]
    pub(crate) fn times(self, s: S, other: Self) -> Sums<S> {
        product(s, self.0, other.0, [s.splat(0); DIGITS])
    }

    /// The product and a multiple of p that is above each column of another: [`Sums::minus`] may follow.
    #[inline(always)]
    pub(crate) fn times_biased(self, s: S, other: Self) -> Sums<S> {
        product(s, self.0, other.0, P.map(|digit| s.splat(BIAS * digit)))
    }

    /// The square.
    #[inline(always)]
    pub(crate) fn squared(self, s: S) -> Sums<S> {
        square(s, self.0, [s.splat(0); DIGITS])
    }

    /// As [`times_biased`](Self::times_biased).
    #[inline(always)]
    pub(crate) fn squared_biased(self, s: S) -> Sums<S> {
        square(s, self.0, P.map(|digit| s.splat(BIAS * digit)))
    }

    /// The number times one below 2^32.
    #[inline(always)]
    pub(crate) fn times_small(self, s: S, factor: u32) -> Sums<S> {
        let (a, factor) = (self.0, s.splat(factor.into()));
        let zero = s.splat(0);
        let high = a.map(|digit| s.mul_high(zero, digit, factor));
        let mut sums = [zero; DIGITS];
        for k in 1..DIGITS {
            sums[k] = s.add(high[k - 1], high[k - 1]);
        }
        sums[0] = s.mul_low(zero, high[4], s.splat(2 * FOLD));
        for k in 0..DIGITS {
            sums[k] = s.mul_low(sums[k], a[k], factor);
        }
        Sums(sums)
    }

    /// The digits of `a` where the mask has ones, those of `b` elsewhere.
    #[inline(always)]
    pub(crate) fn select(s: S, mask: S::V, a: Self, b: Self) -> Self {
        let mut chosen = b;
        for k in 0..DIGITS {
            chosen.0[k] = s.select(mask, a.0[k], b.0[k]);
        }
        chosen
    }

    /// -1 times a number that is [reduced](Self::reduced).
    #[inline(always)]
    pub(crate) fn reduced_negative(self, s: S) -> Self {
        let mut digits = self.0;
        for k in 0..DIGITS {
            digits[k] = s.sub(s.splat(2 * P[k]), digits[k]);
        }
        Self(digits)
    }

    /// All ones where the number below p has these words.
    #[inline(always)]
    pub(crate) fn equals_words(self, s: S, words: [S::V; 4]) -> S::V {
        let own = self.to_words(s);
        let mut differences = s.splat(0);
        for k in 0..4 {
            differences = s.or(differences, s.xor(own[k], words[k]));
        }
        s.equal(differences, s.splat(0))
    }

    /// All ones where the number is 0 modulo p.
    #[inline(always)]
    pub(crate) fn is_zero(self, s: S) -> S::V {
        self.equals_words(s, [s.splat(0); 4])
    }

    /// 1 divided by the number, and 0 of 0.
    #[inline(always)]
    pub(crate) fn inverted(self, s: S) -> Self {
        // The power p - 2 = 2^255 - 21 = (2^250 - 1) 2^5 + 11
        let (power, eleventh) = self.power_of_250_ones(s);
        power.squared_times(s, 5).mul(s, eleventh)
    }

    /// The power (p - 5) / 8 = 2^252 - 3.
    #[inline(always)]
    pub(crate) fn power_for_roots(self, s: S) -> Self {
        // (2^250 - 1) 2^2 + 1
        let (power, _) = self.power_of_250_ones(s);
        power.squared_times(s, 2).mul(s, self)
    }

    /// Squared so many times.
    #[inline(always)]
    fn squared_times(self, s: S, times: u32) -> Self {
        let mut power = self;
        for _ in 0..times {
            power = power.square(s);
        }
        power
    }

    /// The powers 2^250 - 1 and 11.
    #[inline(always)]
    fn power_of_250_ones(self, s: S) -> (Self, Self) {
        s.call(PowerOf250Ones(self))
    }
}

/// The powers 2^250 - 1 and 11 of a number: a function of its own, since inversions and roots have it.
struct PowerOf250Ones<S: Limbs>(Element<S>);

impl<S: Limbs> LimbPart<S> for PowerOf250Ones<S> {
    type Out = (Element<S>, Element<S>);

    #[inline(always)]
    fn run(self, s: S) -> Self::Out {
        let number = self.0;
        let second = number.square(s);
        let ninth = second.squared_times(s, 2).mul(s, number);
        let eleventh = ninth.mul(s, second);
        let five_ones = eleventh.square(s).mul(s, ninth);
        // Each step has as many ones as the last, and those that it adds: 10, 20, 40, 50, 100, 200, 250. One loop
        // for all of them is one copy of the code.
        let mut powers = [five_ones; CHAIN.len() + 1];
        for (step, (squarings, other)) in CHAIN.into_iter().enumerate() {
            let power = powers[step].squared_times(s, squarings);
            powers[step + 1] = power.mul(s, powers[other]);
        }
        let power = powers[CHAIN.len()];
        for power in &mut powers {
            s.wipe(&mut power.0);
        }
        (power, eleventh)
    }
}

/// Steps from the power of five ones to that of 250: so many squarings, and a product with the power of which step.
const CHAIN: [(u32, usize); 7] = [(5, 0), (10, 1), (20, 2), (10, 1), (50, 4), (100, 5), (50, 4)];

impl<S: Limbs> Sums<S> {
    /// A number as sums.
    #[inline(always)]
    pub(crate) fn of(number: Element<S>) -> Self {
        Self(number.0)
    }

    /// Both.
    #[inline(always)]
    pub(crate) fn plus(self, s: S, other: Self) -> Self {
        let mut sums = self.0;
        for k in 0..DIGITS {
            sums[k] = s.add(sums[k], other.0[k]);
        }
        Self(sums)
    }

    /// This, of which a part is biased, without the other, which is a product that is not.
    #[inline(always)]
    pub(crate) fn minus(self, s: S, other: Self) -> Self {
        let mut sums = self.0;
        for k in 0..DIGITS {
            sums[k] = s.sub(sums[k], other.0[k]);
        }
        Self(sums)
    }

    /// A multiple of p more, which is above each column of a product.
    #[inline(always)]
    pub(crate) fn biased(self, s: S) -> Self {
        let mut sums = self.0;
        for k in 0..DIGITS {
            sums[k] = s.add(sums[k], s.splat(2 * FOLD * BIAS * P[k]));
        }
        Self(sums)
    }

    /// The sum as a number. Sums below 2^63 leave at most 2^12 above the digits, and 19 times as much above the
    /// lowest.
    #[inline(always)]
    pub(crate) fn carried(self, s: S) -> Element<S> {
        let carries = self.0.map(|sum| s.shift_right::<BITS>(sum));
        let mut digits = self.0.map(|sum| s.and(sum, s.splat(DIGIT)));
        digits[0] = s.mul_low(digits[0], carries[4], s.splat(FOLD));
        for k in 1..DIGITS {
            digits[k] = s.add(digits[k], carries[k - 1]);
        }
        Element(digits)
    }
}

/// Numbers of 32 little-endian bytes, one a lane, as words of 64 bits. Wiped when dropped.
pub(crate) struct LaneWords(Zeroizing<[[u64; MOST_LIMBS]; 4]>);

impl LaneWords {
    /// Zero in all lanes.
    pub(crate) fn new() -> Self {
        Self(Zeroizing::new([[0; MOST_LIMBS]; 4]))
    }

    /// Takes a number for each lane, from the first on; the lanes that are left over keep theirs.
    #[inline(always)]
    pub(crate) fn set<'a>(&mut self, numbers: impl IntoIterator<Item = &'a [u8; 32]>) {
        for (lane, number) in numbers.into_iter().enumerate() {
            let (words, _) = number.as_chunks::<8>();
            for (lanes, word) in self.0.iter_mut().zip(words) {
                lanes[lane] = u64::from_le_bytes(*word);
            }
        }
    }

    /// The numbers of the lanes, from the first on.
    #[inline(always)]
    pub(crate) fn get<'a>(&self, numbers: impl IntoIterator<Item = &'a mut [u8; 32]>) {
        for (lane, number) in numbers.into_iter().enumerate() {
            let (words, _) = number.as_chunks_mut::<8>();
            for (lanes, word) in self.0.iter().zip(words) {
                *word = lanes[lane].to_le_bytes();
            }
        }
    }

    /// As vectors.
    #[inline(always)]
    pub(crate) fn load<S: Limbs>(&self, s: S) -> [S::V; 4] {
        let [a, b, c, d] = &*self.0;
        [s.load(a), s.load(b), s.load(c), s.load(d)]
    }

    /// Numbers of 64 bytes as vectors of both halves, the lower first.
    #[inline(always)]
    pub(crate) fn load_wide<S: Limbs>(&mut self, s: S, numbers: &[[u8; 64]]) -> [[S::V; 4]; 2] {
        [0, 1].map(|half| {
            self.set(numbers.iter().map(|number| &number.as_chunks().0[half]));
            self.load(s)
        })
    }

    /// From vectors.
    #[inline(always)]
    pub(crate) fn store<S: Limbs>(&mut self, s: S, words: [S::V; 4]) {
        for (lanes, word) in self.0.iter_mut().zip(words) {
            s.store(word, lanes);
        }
    }
}

/// Carries from the lowest digit to the highest: digits of 51 bits, and what is above them.
#[inline(always)]
fn propagated<S: Limbs>(
    s: S,
    mut digits: [S::V; DIGITS],
    mut carry: S::V,
) -> ([S::V; DIGITS], S::V) {
    for digit in &mut digits {
        let sum = s.add(*digit, carry);
        carry = s.shift_right::<BITS>(sum);
        *digit = s.and(sum, s.splat(DIGIT));
    }
    (digits, carry)
}

/// What a column of the upper half begins with for a biased product, in units of p's digits. It counts 2 * 19 times:
/// 608 * 2^51 is above the columns of a product.
const BIAS: u64 = 16;

/// Twice the vector.
#[inline(always)]
fn twice<S: Limbs>(s: S, v: S::V) -> S::V {
    s.add(v, v)
}

/// Nine times the vector.
#[inline(always)]
fn nine_times<S: Limbs>(s: S, v: S::V) -> S::V {
    s.add(s.shift_left::<3>(v), v)
}

/// The lowest column, which no upper half adds to: 19 times column 5, and the product of the lowest digits. (The
/// compiler would find a multiplication by 19, which takes five instructions, were that product not in between.)
#[inline(always)]
fn lowest<S: Limbs>(s: S, fifth: S::V, a: S::V, b: S::V) -> S::V {
    let sum = s.mul_low(s.shift_left::<4>(fifth), a, b);
    s.add(sum, s.add(twice(s, fifth), fifth))
}

/// The product of `a` and `b`, and 38 times `bias`.
///
/// Column k + 5 of the upper half counts 19 times in column k, which is twice nine times and once: as the upper
/// halves of products of digits count twice, the first part is added to those.
#[inline(always)]
fn product<S: Limbs>(s: S, a: [S::V; DIGITS], b: [S::V; DIGITS], bias: [S::V; DIGITS]) -> Sums<S> {
    let mut upper = bias;
    for i in 0..DIGITS {
        for j in DIGITS - 1 - i..DIGITS {
            upper[i + j - 4] = s.mul_high(upper[i + j - 4], a[i], b[j]);
        }
    }
    for k in 0..DIGITS - 1 {
        upper[k] = twice(s, upper[k]);
    }
    upper[4] = s.mul_high(s.add(upper[4], bias[4]), a[4], b[4]);
    for i in 1..DIGITS {
        for j in DIGITS - i..DIGITS {
            upper[i + j - 5] = s.mul_low(upper[i + j - 5], a[i], b[j]);
        }
    }
    let mut sums = upper.map(|column| nine_times(s, column));
    for i in 0..DIGITS - 1 {
        for j in 0..DIGITS - 1 - i {
            sums[i + j + 1] = s.mul_high(sums[i + j + 1], a[i], b[j]);
        }
    }
    for k in 1..DIGITS {
        sums[k] = s.add(twice(s, sums[k]), upper[k]);
    }
    sums[0] = lowest(s, upper[0], a[0], b[0]);
    for i in 0..DIGITS {
        for j in usize::from(i == 0)..DIGITS - i {
            sums[i + j] = s.mul_low(sums[i + j], a[i], b[j]);
        }
    }
    Sums(sums)
}

/// The square of `a`, and 38 times `bias`: as [`product`], with products of unlike digits once, which count twice.
#[inline(always)]
fn square<S: Limbs>(s: S, a: [S::V; DIGITS], bias: [S::V; DIGITS]) -> Sums<S> {
    let zero = s.splat(0);
    let high = |sum, i: usize, j: usize| s.mul_high(sum, a[i], a[j]);
    let low = |sum, i: usize, j: usize| s.mul_low(sum, a[i], a[j]);
    let twice = |v| twice(s, v);

    // Halves of the columns: in the innermost sums what counts four times.
    let u5 = twice(high(high(zero, 0, 4), 1, 3));
    let u6 = twice(high(high(zero, 1, 4), 2, 3));
    let u7 = twice(high(zero, 2, 4));
    let u8 = twice(high(zero, 3, 4));
    let u5 = high(high(twice(low(low(s.add(u5, bias[0]), 1, 4), 2, 3)), 2, 2), 2, 2);
    let u6 = low(twice(low(s.add(u6, bias[1]), 2, 4)), 3, 3);
    let u7 = twice(high(low(s.add(u7, bias[2]), 3, 4), 3, 3));
    let u8 = low(twice(s.add(u8, bias[3])), 4, 4);
    let u9 = high(high(twice(bias[4]), 4, 4), 4, 4);

    // 19 times a column is 2 (2 * 4 + 1) + 1 times.
    let four = |v| s.shift_left::<2>(v);
    let t2 = s.add(twice(high(four(u7), 0, 1)), u7);
    let t3 = s.add(twice(high(four(u8), 0, 2)), u8);
    let t4 = s.add(twice(high(high(four(u9), 0, 3), 1, 2)), u9);
    let t0 = lowest(s, u5, a[0], a[0]);
    let t1 = s.add(twice(high(low(nine_times(s, u6), 0, 1), 0, 0)), u6);
    let t2 = s.add(twice(low(t2, 0, 2)), u7);
    let t3 = s.add(twice(high(low(low(t3, 0, 3), 1, 2), 1, 1)), u8);
    let t4 = s.add(twice(low(low(t4, 0, 4), 1, 3)), u9);
    Sums([t0, t1, low(t2, 1, 1), t3, low(t4, 2, 2)])
}

#[cfg(test)]
mod tests {
    use lanelock_isa::LimbKernel;
    use lanelock_testkit::Rng;
    use num_bigint::BigUint;

    use super::*;
    use crate::level::test_levels;

    type Digits = [u64; DIGITS];

    fn p() -> BigUint {
        (BigUint::from(1_u8) << 255) - 19_u8
    }

    fn number(digits: &[u64]) -> BigUint {
        digits.iter().rev().fold(BigUint::ZERO, |number, &digit| (number << BITS) + digit)
    }

    /// Digits below 2^52, often at the bounds of what a carry leaves and of what a product takes.
    fn digits(rng: &mut Rng) -> Digits {
        core::array::from_fn(|k| match rng.below(8) {
            0 => 0,
            1 => 1,
            2 => P[k],
            3 => DIGIT,
            4 => (1 << 52) - 1,
            5 => DIGIT + 1,
            6 => rng.next_u64() >> 12,
            _ => rng.next_u64() >> 13,
        })
    }

    /// What is computed from each pair of numbers: results as words, or as digits that have to be below 2^52.
    struct Pairs<'a> {
        pairs: &'a [[Digits; 2]],
        results: &'a mut Vec<Results>,
    }

    #[derive(Default, Clone, Debug)]
    struct Results {
        words: [u64; 4],
        from_words: Digits,
        add: Digits,
        sub: Digits,
        mul: Digits,
        square: Digits,
        small: Digits,
        inverted: Digits,
        root_power: Digits,
        /// a b + a^2 + a b, all biased where they can be
        most: Digits,
        /// a b - a^2
        least: Digits,
        /// a^2 - a b
        other: Digits,
        product_words: Digits,
        square_words: Digits,
        biased_words: Digits,
    }

    impl LimbKernel for Pairs<'_> {
        type Out = ();

        #[inline(always)]
        fn run<S: Limbs>(self, s: S) {
            for pairs in self.pairs.chunks(S::LANES) {
                let load = |which: usize| {
                    Element::<S>(core::array::from_fn(|k| {
                        let mut lanes = [0; MOST_LIMBS];
                        for (lane, pair) in lanes.iter_mut().zip(pairs) {
                            *lane = pair[which][k];
                        }
                        s.load(&lanes)
                    }))
                };
                let (a, b) = (load(0), load(1));
                let mut results: Vec<Results> = vec![Results::default(); pairs.len()];
                let mut store = |v: &[S::V], take: fn(&mut Results) -> &mut [u64]| {
                    for (k, &v) in v.iter().enumerate() {
                        let mut lanes = [0; MOST_LIMBS];
                        s.store(v, &mut lanes);
                        for (result, lane) in results.iter_mut().zip(lanes) {
                            take(result)[k] = lane;
                        }
                    }
                };
                let words = a.to_words(s);
                store(&words, |r| &mut r.words);
                store(&Element::from_words(s, words).0, |r| &mut r.from_words);
                store(&a.add(s, b).0, |r| &mut r.add);
                store(&a.sub(s, b).0, |r| &mut r.sub);
                store(&a.mul(s, b).0, |r| &mut r.mul);
                store(&a.square(s).0, |r| &mut r.square);
                let small = Sums::of(b).plus(s, a.times_small(s, 121_665));
                store(&small.carried(s).0, |r| &mut r.small);
                store(&a.inverted(s).0, |r| &mut r.inverted);
                store(&a.power_for_roots(s).0, |r| &mut r.root_power);
                let (product, square) = (a.times(s, b), a.squared(s));
                let (product_biased, square_biased) = (a.times_biased(s, b), a.squared_biased(s));
                let most = product_biased.plus(s, square_biased).plus(s, product_biased);
                store(&most.carried(s).0, |r| &mut r.most);
                store(&product_biased.minus(s, square).carried(s).0, |r| &mut r.least);
                store(&square_biased.minus(s, product).carried(s).0, |r| &mut r.other);
                store(&product.0, |r| &mut r.product_words);
                store(&square.0, |r| &mut r.square_words);
                store(&product_biased.0, |r| &mut r.biased_words);
                self.results.extend(results);
            }
        }
    }

    #[test]
    fn against_a_library() {
        let mut rng = Rng::from_env("p25519");
        let p = p();
        let most = [(1 << 52) - 1; DIGITS];
        let mut pairs = vec![[most; 2], [most, [0; DIGITS]], [[0; DIGITS], most], [P, P]];
        // Around p and 2^255: what is reduced once, twice or not at all.
        for low in 0..64 {
            let around = [DIGIT - 40 + low, DIGIT, DIGIT, DIGIT, DIGIT];
            pairs.push([around, [low, 0, 0, 0, 0]]);
            pairs.push([[low, 0, 0, 0, 1 << 51], around]);
        }
        pairs.extend((0..400).map(|_| [digits(&mut rng), digits(&mut rng)]));
        for level in test_levels() {
            let mut results = Vec::new();
            level.run(Pairs { pairs: &pairs, results: &mut results });
            for ([a, b], r) in pairs.iter().zip(&results) {
                let (a, b) = (&number(a), &number(b));
                let what = format!("{level}: {a:x} {b:x}");
                let (ab, aa) = (a * b, a * a);
                let far = &p << 20_u8;
                for (result, expected) in [
                    (&r.from_words, a.clone()),
                    (&r.add, a + b),
                    (&r.sub, &far + a - b),
                    (&r.mul, ab.clone()),
                    (&r.square, aa.clone()),
                    (&r.small, b + a * 121_665_u32),
                    (&r.inverted, a.modpow(&(&p - 2_u8), &p)),
                    (&r.root_power, a.modpow(&((&p - 5_u8) >> 3_u8), &p)),
                    (&r.most, &ab * 2_u8 + &aa),
                    (&r.least, &far * &p + &ab - &aa),
                    (&r.other, &far * &p + &aa - &ab),
                ] {
                    assert!(result.iter().all(|&digit| digit < 1 << 52), "{what}");
                    assert_eq!(number(result) % &p, expected % &p, "{what}");
                }
                let words: Vec<u8> = r.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                assert_eq!(BigUint::from_bytes_le(&words), a % &p, "{what}");
                for k in 0..DIGITS {
                    assert!(
                        r.product_words[k] < 267 << 52 && r.square_words[k] < 267 << 52,
                        "{what}"
                    );
                    assert!(r.biased_words[k] < 571 << 52, "{what}");
                    assert!(r.biased_words[k] - r.product_words[k] >= 267 << 52, "{what}");
                }
            }
        }
    }
}
