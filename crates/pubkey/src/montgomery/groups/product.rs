//! Products modulo numbers in groups of lanes.

use lanelock_isa::{LimbGroups, NONE, Part};

use crate::digits::{DIGIT, DIGIT_SHIFT};

macro_rules! each {
    ($i:ident => $body:expr) => { each!(@ $i => $body; 0 1 2 3 4 5 6 7 8 9) };
    (@ $i:ident => $body:expr; $($digit:literal)+) => {$({
        const $i: usize = $digit;
        $body
    })+};
}

/// The digits of a vector's lanes in memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [u64; 8]);

/// A number: digit `j` in vector `j % B`, in lane `j / B` of its group.
pub(super) type Number<S, const B: usize> = [<S as lanelock_isa::Limbs>::V; B];

/// The moduli of the groups, and what products modulo them need.
///
/// A number has `B` digits in each lane of its group, of which the last one's are only `LAST`.
#[derive(Clone, Copy)]
pub(super) struct Groups<S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool> {
    pub(super) s: S,
    pub(super) modulus: Number<S, B>,
    /// 1 / 2^52 and 1 / 2^104 modulo the modulus.
    pub(super) fold: [Number<S, B>; 2],
    /// -1 / modulus modulo 2^52.
    pub(super) k0: S::V,
    /// Carries that went on through two digits of another lane: see [`normalise`](Self::normalise).
    pub(super) overflow: S::V,
}

/// Columns that numbers are added to: those of the digits, and the two above them.
type Window<S, const B: usize> = (Number<S, B>, [<S as lanelock_isa::Limbs>::V; 2]);

/// Column `k`.
#[inline(always)]
fn column<S: LimbGroups, const B: usize>(window: &mut Window<S, B>, k: usize) -> &mut S::V {
    if k < B { &mut window.0[k] } else { &mut window.1[k - B] }
}

impl<S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool>
    Groups<S, B, LAST, WHOLE>
{
    /// Lanes of a group.
    pub(super) const LANES: usize = if WHOLE { S::LANES } else { 4 };
    /// Numbers in a vector.
    pub(super) const NUMBERS: usize = S::LANES / Self::LANES;
    /// Digits of a number, an even number of them.
    pub(super) const DIGITS: usize = (Self::LANES - 1) * B + LAST;
    /// Whether a product has columns apart from those that are reduced, so that its rows need not wait for what is
    /// reduced. There are registers for both where a number has few digits in a lane.
    const APART: bool = B < 8;

    /// As [`multiply_inlined`](Self::multiply_inlined), by a call, which takes longer: for what is done some tens of times.
    #[inline(always)]
    pub(super) fn multiply(&mut self, a: &Number<S, B>, b: &[Line; B]) -> Number<S, B> {
        self.s.call(Times(self, a, b))
    }

    /// As [`square_inlined`](Self::square_inlined), by a call.
    #[inline(always)]
    pub(super) fn square(&mut self, a: &Number<S, B>) -> Number<S, B> {
        self.s.call(Square(self, a))
    }

    /// `a` * `b` / `R`, where `b` is given as lines: below 4 m, if `a` * `b` < m * `R`.
    #[inline(always)]
    pub(super) fn multiply_inlined(&mut self, a: &Number<S, B>, b: &[Line; B]) -> Number<S, B> {
        let s = self.s;
        let zero = s.splat(0);
        let (mut product, mut sums) = (([zero; B], [zero; 2]), ([zero; B], [zero; 2]));
        for i in (0..Self::DIGITS - 2).step_by(2) {
            self.add_rows(
                &mut product,
                &mut sums,
                a,
                [Self::digit(s, b, i), Self::digit(s, b, i + 1)],
            );
            self.fold(&mut sums);
        }
        let last = [Self::digit(s, b, Self::DIGITS - 2), Self::digit(s, b, Self::DIGITS - 1)];
        self.add_rows(&mut product, &mut sums, a, last);
        self.reduce(&mut sums);
        if Self::APART {
            for k in 0..B {
                sums.0[k] = s.add(sums.0[k], product.0[k]);
            }
        }
        self.normalise(sums.0)
    }

    /// Digit `i` of each group's number in all lanes of it.
    #[inline(always)]
    fn digit(s: S, b: &[Line; B], i: usize) -> S::V {
        let (line, lane) = (&b[i % B].0, i / B);
        if WHOLE { s.splat(line[lane]) } else { s.splat_groups([line[lane], line[4 + lane]]) }
    }

    /// Adds two digits times a number to the columns. Where the product has columns of its own, the two that are whole
    /// then are added to the others.
    #[inline(always)]
    fn add_rows(
        &self,
        product: &mut Window<S, B>,
        sums: &mut Window<S, B>,
        a: &Number<S, B>,
        x: [S::V; 2],
    ) {
        let s = self.s;
        let window = if Self::APART { &mut *product } else { &mut *sums };
        for (i, x) in x.into_iter().enumerate() {
            for k in 0..B {
                let column = column::<S, B>(window, k + i);
                *column = s.mul_low(*column, a[k], x);
            }
            for k in 0..B {
                let column = column::<S, B>(window, k + i + 1);
                *column = s.mul_high(*column, a[k], x);
            }
        }
        if Self::APART {
            for k in 0..2 {
                sums.0[k] = s.add(sums.0[k], product.0[k]);
            }
            let old = *product;
            for k in 0..B {
                product.0[k] = if k + 2 < B { old.0[k + 2] } else { old.1[k + 2 - B] };
            }
            product.1 = [s.splat(0); 2];
        }
    }

    /// Divides the columns by 2^104: the two lowest digits times 1 / 2^104 and 1 / 2^52 are added to those above them.
    /// This takes no quotients, which would have to be computed first, but leaves a digit more than the modulus has.
    #[inline(always)]
    pub(super) fn fold(&self, window: &mut Window<S, B>) {
        let s = self.s;
        let (old, old_above) = *window;
        let x = s.spread::<WHOLE>(old[0]);
        let second = s.add(old[1], Self::carry(s, old[0]));
        let y = s.spread::<WHOLE>(second);
        // What the lanes above have in these vectors is in the uppermost columns then.
        let upper = [
            s.add(old_above[0], s.next::<WHOLE>(old[0])),
            s.add(old_above[1], s.next::<WHOLE>(second)),
        ];
        let (columns, above) = window;
        for k in 0..B {
            let column = if k + 2 < B { old[k + 2] } else { upper[k + 2 - B] };
            let column = if k == 0 { s.add(column, Self::carry(s, second)) } else { column };
            columns[k] = s.mul_low(column, self.fold[1][k], x);
        }
        for k in 0..B {
            columns[k] = s.mul_low(columns[k], self.fold[0][k], y);
        }
        for k in 0..B - 1 {
            columns[k + 1] = s.mul_high(columns[k + 1], self.fold[1][k], x);
        }
        for k in 0..B - 1 {
            columns[k + 1] = s.mul_high(columns[k + 1], self.fold[0][k], y);
        }
        let highest = s.mul_high(s.splat(0), self.fold[1][B - 1], x);
        *above = [s.mul_high(highest, self.fold[0][B - 1], y), s.splat(0)];
    }

    /// What a digit of the first lane carries.
    #[inline(always)]
    fn carry(s: S, lowest: S::V) -> S::V {
        s.first::<WHOLE>(s.shift_right::<DIGIT_SHIFT>(lowest))
    }

    /// The same for the last two digits, of which the second one is reduced by Montgomery's quotient: that leaves a
    /// number with as many digits as the modulus.
    #[inline(always)]
    pub(super) fn reduce(&self, (columns, above): &mut Window<S, B>) {
        let s = self.s;
        let x = s.spread::<WHOLE>(columns[0]);
        let (lowest, carry) = (columns[0], Self::carry(s, columns[0]));
        for k in 0..B {
            let column =
                if k + 1 < B { columns[k + 1] } else { s.add(above[0], s.next::<WHOLE>(lowest)) };
            columns[k] =
                s.mul_low(if k == 0 { s.add(column, carry) } else { column }, self.fold[0][k], x);
        }
        let q = s.spread::<WHOLE>(s.mul_low(s.splat(0), columns[0], self.k0));
        for k in 0..B - 1 {
            columns[k + 1] = s.mul_high(columns[k + 1], self.fold[0][k], x);
        }
        above[0] = s.mul_high(above[1], self.fold[0][B - 1], x);
        for k in 0..B {
            columns[k] = s.mul_low(columns[k], self.modulus[k], q);
        }
        let (lowest, carry) = (columns[0], Self::carry(s, columns[0]));
        for k in 0..B {
            let column =
                if k + 1 < B { columns[k + 1] } else { s.add(above[0], s.next::<WHOLE>(lowest)) };
            columns[k] =
                s.mul_high(if k == 0 { s.add(column, carry) } else { column }, self.modulus[k], q);
        }
    }

    /// Sums of columns as digits of 52 bits.
    ///
    /// What a lane carries into another one, a few bits, goes on there through two digits; what would have to go further
    /// is kept in `overflow`.
    #[inline(always)]
    pub(super) fn normalise(&mut self, mut number: Number<S, B>) -> Number<S, B> {
        let s = self.s;
        let mut carry = s.splat(0);
        for digit in &mut number {
            let sum = s.add(*digit, carry);
            carry = s.shift_right::<DIGIT_SHIFT>(sum);
            *digit = s.and(sum, s.splat(DIGIT));
        }
        carry = s.previous::<WHOLE>(carry);
        for digit in &mut number[..2] {
            let sum = s.add(*digit, carry);
            carry = s.shift_right::<DIGIT_SHIFT>(sum);
            *digit = s.and(sum, s.splat(DIGIT));
        }
        self.overflow = s.or(self.overflow, carry);
        number
    }

    /// `a`^2 / `R`, in groups of four lanes.
    ///
    /// With `A`, `B`, `C`, `D` what the lanes have of a number, in units of so many digits the square is
    /// `A`^2, 2 `AB`, `B`^2 + 2 `AC`, 2 `BC` + 2 `AD`, `C`^2 + 2 `BD`, 2 `CD`, `D`^2: a lane computes each of these ten
    /// products, four of which are squares, in place of sixteen.
    #[inline(always)]
    pub(super) fn square_inlined(&mut self, a: &Number<S, B>) -> Number<S, B> {
        const { assert!(!WHOLE, "the lanes of a square are arranged in fours") }
        let s = self.s;
        let (low, high) = self.square_columns(a);
        let mut sums = (low, [s.splat(0); 2]);
        for _ in 0..Self::DIGITS / 2 - 1 {
            self.fold(&mut sums);
        }
        self.reduce(&mut sums);
        let mut sums = sums.0;
        let skip = B - LAST;
        for k in 0..B {
            if k + skip < B {
                sums[k + skip] = s.add(sums[k + skip], high[k]);
            } else {
                sums[k + skip - B] = s.add(sums[k + skip - B], s.previous::<false>(high[k]));
            }
        }
        self.normalise(sums)
    }

    /// The columns of a square: the lower half and the upper half.
    #[inline(always)]
    pub(super) fn square_columns(&self, a: &Number<S, B>) -> (Number<S, B>, Number<S, B>) {
        let s = self.s;
        let zero = [s.splat(0); B];
        // A, C, B, D, then what makes AB, CD, BC, AD with it, then what makes BD, AC with that.
        let (mut x, mut y, mut z) = (zero, zero, zero);
        for k in 0..B {
            x[k] = s.arrange::<0b11_01_10_00, 0b1111>(a[k]);
            y[k] = s.arrange::<0b00_10_11_01, 0b1111>(a[k]);
            z[k] = s.arrange::<0b00_00_01_00, 0b0110>(a[k]);
        }
        let mut odd = [zero; 2];
        each!(I => if I < B {
            Self::add_part::<I>(s, &mut odd, &x, &y, 0);
        });
        let (mut low, mut high) = (zero, zero);
        for k in 0..B {
            let first = s.even_lanes(odd[0][k], odd[1][k]);
            let second = s.odd_lanes(odd[0][k], odd[1][k]);
            let first = s.add(first, s.arrange::<0b11_10_01_00, 0b1100>(second));
            let l = s.previous::<false>(first);
            let h = s.pick::<3, 4, 5, NONE>(first, second);
            low[k] = s.add(l, l);
            high[k] = s.add(h, h);
        }
        let mut even = [zero; 2];
        each!(I => if I < B {
            Self::add_part::<I>(s, &mut even, &z, &y, 0);
            Self::add_part::<I>(s, &mut even, &x, &x, I + 1);
        });
        for k in 0..B {
            even[0][k] = s.add(even[0][k], even[0][k]);
            even[1][k] = s.add(even[1][k], even[1][k]);
        }
        for i in 0..B {
            let low = &mut even[2 * i / B][2 * i % B];
            *low = s.mul_low(*low, x[i], x[i]);
            let high = &mut even[(2 * i + 1) / B][(2 * i + 1) % B];
            *high = s.mul_high(*high, x[i], x[i]);
        }
        for k in 0..B {
            low[k] = s.add(low[k], s.even_lanes(even[0][k], even[1][k]));
            high[k] = s.add(high[k], s.odd_lanes(even[0][k], even[1][k]));
        }
        (low, high)
    }

    /// Adds digit `I` of `b` times the digits of `a` from `from` on to the columns.
    #[inline(always)]
    fn add_part<const I: usize>(
        s: S,
        columns: &mut [Number<S, B>; 2],
        a: &Number<S, B>,
        b: &Number<S, B>,
        from: usize,
    ) {
        for k in from..B {
            let column = &mut columns[(k + I) / B][(k + I) % B];
            *column = s.mul_low(*column, a[k], b[I]);
        }
        for k in from..B {
            let column = &mut columns[(k + I + 1) / B][(k + I + 1) % B];
            *column = s.mul_high(*column, a[k], b[I]);
        }
    }
}

/// [`Groups::multiply`]
struct Times<'a, S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool>(
    &'a mut Groups<S, B, LAST, WHOLE>,
    &'a Number<S, B>,
    &'a [Line; B],
);

impl<S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool> Part<S>
    for Times<'_, S, B, LAST, WHOLE>
{
    type Out = Number<S, B>;

    #[inline(always)]
    fn run(self, _s: S) -> Number<S, B> {
        self.0.multiply_inlined(self.1, self.2)
    }
}

/// [`Groups::square`]
struct Square<'a, S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool>(
    &'a mut Groups<S, B, LAST, WHOLE>,
    &'a Number<S, B>,
);

impl<S: LimbGroups, const B: usize, const LAST: usize, const WHOLE: bool> Part<S>
    for Square<'_, S, B, LAST, WHOLE>
{
    type Out = Number<S, B>;

    #[inline(always)]
    fn run(self, _s: S) -> Number<S, B> {
        self.0.square_inlined(self.1)
    }
}
