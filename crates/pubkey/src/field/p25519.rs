//! Numbers modulo p = 2^255 - 19, in five digits of 51 bits: those of Curve25519.
//!
//! 2^255 is 19 modulo p, so that the upper half of a product is folded by a small factor, and digits of 51 bits
//! (not 52, as the multiplier has them) make that place a border of digits. What it costs is that the upper half
//! of each product of digits counts twice. What it brings is that nothing has to be carried from digit to digit in
//! a chain: a factor may have digits of 52 bits, and one step that carries in all digits at once ([`Sums::carried`])
//! is enough after any sum of a few products.
//!
//! So sums are taken before the carry: a sum and a difference of two products cost as many carries as the products.

use lanelock_isa::{Limbs, Part};

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
        let mut number = [s.splat(0); DIGITS];
        for k in 0..DIGITS {
            number[k] = s.splat(digits[k]);
        }
        Self(number)
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
        product(s, self.0, other.0, bias(s))
    }

    /// The square.
    #[inline(always)]
    pub(crate) fn squared(self, s: S) -> Sums<S> {
        square(s, self.0, [s.splat(0); DIGITS])
    }

    /// As [`times_biased`](Self::times_biased).
    #[inline(always)]
    pub(crate) fn squared_biased(self, s: S) -> Sums<S> {
        square(s, self.0, bias(s))
    }

    /// The number times one below 2^32.
    #[inline(always)]
    pub(crate) fn times_small(self, s: S, factor: u32) -> Sums<S> {
        let (a, factor) = (self.0, s.splat(factor.into()));
        let zero = s.splat(0);
        let mut sums = [zero; DIGITS];
        for k in 1..DIGITS {
            sums[k] = twice(s, s.mul_high(zero, a[k - 1], factor));
        }
        sums[0] = s.mul_low(zero, s.mul_high(zero, a[4], factor), s.splat(2 * FOLD));
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

impl<S: Limbs> Part<S> for PowerOf250Ones<S> {
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
        let (mut carries, mut digits) = (self.0, self.0);
        for k in 0..DIGITS {
            carries[k] = s.shift_right::<BITS>(carries[k]);
            digits[k] = s.and(digits[k], s.splat(DIGIT));
        }
        digits[0] = s.mul_low(digits[0], carries[4], s.splat(FOLD));
        for k in 1..DIGITS {
            digits[k] = s.add(digits[k], carries[k - 1]);
        }
        Element(digits)
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

/// [`BIAS`] times p.
#[inline(always)]
fn bias<S: Limbs>(s: S) -> [S::V; DIGITS] {
    Element::splat(s, const { multiple_of_p(BIAS) }).0
}

/// The digits of p times a factor.
const fn multiple_of_p(factor: u64) -> [u64; DIGITS] {
    let mut digits = P;
    let mut k = 0;
    while k < DIGITS {
        digits[k] *= factor;
        k += 1;
    }
    digits
}

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
    upper[4] = s.mul_high(s.add(upper[4], bias[4]), a[4], b[4]);
    let mut low = [s.splat(0); DIGITS];
    for i in 1..DIGITS {
        for j in DIGITS - i..DIGITS {
            low[i + j - 5] = s.mul_low(low[i + j - 5], a[i], b[j]);
        }
    }
    for k in 0..DIGITS - 1 {
        upper[k] = s.add(twice(s, upper[k]), low[k]);
    }
    let mut sums = upper;
    for k in 0..DIGITS {
        sums[k] = nine_times(s, sums[k]);
    }
    for i in 0..DIGITS - 1 {
        for j in 0..DIGITS - 1 - i {
            sums[i + j + 1] = s.mul_high(sums[i + j + 1], a[i], b[j]);
        }
    }
    // Lower halves of products go on from the upper columns meanwhile.
    upper[0] = lowest(s, upper[0], a[0], b[0]);
    for i in 0..DIGITS {
        for j in usize::from(i == 0)..DIGITS - i {
            upper[i + j] = s.mul_low(upper[i + j], a[i], b[j]);
        }
    }
    sums[0] = upper[0];
    for k in 1..DIGITS {
        sums[k] = s.add(twice(s, sums[k]), upper[k]);
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
    let u9 = high(high(twice(bias[4]), 4, 4), 4, 4);
    let u5 = high(high(twice(s.add(u5, low(low(bias[0], 1, 4), 2, 3))), 2, 2), 2, 2);
    let u6 = low(twice(low(s.add(u6, bias[1]), 2, 4)), 3, 3);
    let u7 = twice(high(low(s.add(u7, bias[2]), 3, 4), 3, 3));
    let u8 = low(twice(s.add(u8, bias[3])), 4, 4);

    // 19 times a column is 2 (2 * 4 + 1) + 1 times.
    let four = |v| s.shift_left::<2>(v);
    // The fourth is summed apart from its fold: what it carries goes to the lowest, which waits for it.
    let own4 = low(low(twice(high(high(zero, 0, 3), 1, 2)), 0, 4), 1, 3);
    let t2 = s.add(twice(high(four(u7), 0, 1)), u7);
    let t3 = s.add(twice(high(four(u8), 0, 2)), u8);
    let t0 = lowest(s, u5, a[0], a[0]);
    let t1 = s.add(twice(high(low(nine_times(s, u6), 0, 1), 0, 0)), u6);
    let t2 = s.add(twice(low(t2, 0, 2)), u7);
    let t3 = s.add(twice(high(low(low(t3, 0, 3), 1, 2), 1, 1)), u8);
    let t4 = s.add(twice(s.add(nine_times(s, u9), own4)), low(u9, 2, 2));
    Sums([t0, t1, low(t2, 1, 1), t3, t4])
}

#[cfg(test)]
mod tests;
