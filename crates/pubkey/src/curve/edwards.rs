//! The curve edwards25519 (RFC 8032, 5.1): -x^2 + y^2 = 1 + d x^2 y^2, a point in each lane.
//!
//! Formulas are those of H. Hisil, K. Wong, G. Carter, E. Dawson, "Twisted Edwards curves revisited", 2008, for
//! a = -1: they hold for all points. A sum of points comes as four factors ([`Factors`]); their products are the
//! coordinates, of which the next formula takes those that it needs: [`Extended`] to add, [`Projective`] to double.

use alloc::{vec, vec::Vec};

use lanelock_isa::{Limbs, Part};

use super::edwards_scalar::{
    MULTIPLES, Scalar, WINDOW_BITS, WINDOWS, digit, shifted_left, windows,
};
use crate::field::p25519::{DIGITS, Element, Sums};

/// -121665 / 121666
const D: [u64; DIGITS] = [
    0x3_4dca_1359_78a3,
    0x1_a828_3b15_6ebd,
    0x5_e7a2_6001_c029,
    0x7_39c6_63a0_3cbb,
    0x5_2036_cee2_b6ff,
];
/// 2 d
const D2: [u64; DIGITS] = [
    0x6_9b94_26b2_f159,
    0x3_5050_762a_dd7a,
    0x3_cf44_c003_8052,
    0x6_738c_c740_7977,
    0x2_406d_9dc5_6dff,
];
/// 2^((p - 1) / 4), a square root of -1
const ROOT: [u64; DIGITS] = [
    0x6_1b27_4a0e_a0b0,
    0x0_d5a5_fc8f_189d,
    0x7_ef5e_9cbd_0c60,
    0x7_8595_a680_4c9e,
    0x2_b832_4804_fc1d,
];
/// A point (X : Y : Z) with T = X Y / Z.
#[derive(Clone, Copy)]
pub(crate) struct Extended<S: Limbs> {
    /// Y + X
    plus: Element<S>,
    /// Y - X
    minus: Element<S>,
    z: Element<S>,
    t: Element<S>,
}

/// A point (X : Y : Z), to be doubled.
#[derive(Clone, Copy)]
struct Projective<S: Limbs> {
    x: Element<S>,
    y: Element<S>,
    /// X + Y
    sum: Element<S>,
    z: Element<S>,
}

/// A point of a table.
#[derive(Clone, Copy)]
struct Cached<S: Limbs> {
    /// Y + X
    plus: Element<S>,
    /// Y - X
    minus: Element<S>,
    /// 2 Z
    z2: Element<S>,
    /// 2 d T
    t2d: Element<S>,
}

/// A point of a table that all lanes share, with Z = 1.
#[derive(Clone, Copy)]
pub(crate) struct Affine<S: Limbs> {
    /// y + x
    pub(crate) plus: Element<S>,
    /// y - x
    pub(crate) minus: Element<S>,
    /// 2 d x y
    pub(crate) t2d: Element<S>,
}

/// A point as factors: X = E F, Y = G H, Z = F G, T = E H.
#[derive(Clone, Copy)]
struct Factors<S: Limbs> {
    e: Element<S>,
    f: Element<S>,
    g: Element<S>,
    h: Element<S>,
}

impl<S: Limbs> Extended<S> {
    /// The neutral element (0, 1).
    #[inline(always)]
    pub(crate) fn neutral(s: S) -> Self {
        let (zero, one) = (Element::splat(s, ZERO), Element::splat(s, ONE));
        Self { plus: one, minus: one, z: one, t: zero }
    }

    /// The point of these coordinates.
    #[inline(always)]
    pub(crate) fn affine(s: S, x: Element<S>, y: Element<S>) -> Self {
        Self { plus: y.add(s, x), minus: y.sub(s, x), z: Element::splat(s, ONE), t: x.mul(s, y) }
    }

    /// The opposite point.
    #[inline(always)]
    pub(crate) fn negative(self, s: S) -> Self {
        let t = Element::splat(s, ZERO).sub(s, self.t);
        Self { plus: self.minus, minus: self.plus, t, ..self }
    }

    /// The sum of both.
    #[inline(always)]
    pub(crate) fn add(self, s: S, other: Self) -> Self {
        self.plus_cached(s, other.cached(s)).extended(s)
    }

    /// The sum with a point of a shared table.
    #[inline(always)]
    pub(crate) fn plus_affine(self, s: S, other: Affine<S>) -> Self {
        let z = self.z.plus(s, self.z).biased(s);
        self.plus_any(s, other.plus, other.minus, other.t2d, z).extended(s)
    }

    /// The points with Z = 1, reduced. One inversion for all of them: of the product of all Z, out of which each takes
    /// its own.
    #[inline(always)]
    pub(crate) fn affine_all(s: S, points: &[Self]) -> Vec<Affine<S>> {
        let mut product = Element::splat(s, ONE);
        let mut before = Vec::new();
        for point in points {
            before.push(product);
            product = product.mul(s, point.z);
        }
        let mut inverse = product.inverted(s);
        let d2 = Element::splat(s, D2);
        let mut all = Vec::new();
        for (point, before) in points.iter().zip(before).rev() {
            let own = inverse.mul(s, before);
            inverse = inverse.mul(s, point.z);
            let t2d = point.t.mul(s, d2);
            all.push(Affine {
                plus: Element(point.plus.mul(s, own).reduced(s)),
                minus: Element(point.minus.mul(s, own).reduced(s)),
                t2d: Element(t2d.mul(s, own).reduced(s)),
            });
        }
        all.reverse();
        all
    }

    #[inline(always)]
    fn cached(self, s: S) -> Cached<S> {
        let t2d = self.t.mul(s, Element::splat(s, D2));
        Cached { plus: self.plus, minus: self.minus, z2: self.z.add(s, self.z), t2d }
    }

    #[inline(always)]
    fn projective(self, s: S) -> Projective<S> {
        // Twice all coordinates.
        Projective {
            x: self.plus.sub(s, self.minus),
            y: self.plus.add(s, self.minus),
            sum: self.plus.add(s, self.plus),
            z: self.z.add(s, self.z),
        }
    }

    #[inline(always)]
    fn plus_cached(self, s: S, other: Cached<S>) -> Factors<S> {
        self.plus_any(s, other.plus, other.minus, other.t2d, self.z.times_biased(s, other.z2))
    }

    /// The sum with a point of which 2 Z1 Z2 is `z`, biased.
    #[inline(always)]
    fn plus_any(
        self,
        s: S,
        plus: Element<S>,
        minus: Element<S>,
        t2d: Element<S>,
        z: Sums<S>,
    ) -> Factors<S> {
        let b = self.plus.times_biased(s, plus);
        let a = self.minus.times(s, minus);
        let t = self.t.times(s, t2d);
        Factors {
            e: b.minus(s, a).carried(s),
            f: z.minus(s, t).carried(s),
            g: z.plus(s, t).carried(s),
            h: b.plus(s, a).carried(s),
        }
    }

    /// 2^`times` times the point; at least once doubled.
    #[inline(always)]
    pub(crate) fn doubled(self, s: S, times: u32) -> Self {
        s.call(Doubled { point: self, times })
    }

    /// The encoding (RFC 8032, 5.1.2) in words of 64 bits.
    #[inline(always)]
    pub(crate) fn encoded(self, s: S) -> [S::V; 4] {
        let inverse = self.z.add(s, self.z).inverted(s);
        let x = self.plus.sub(s, self.minus).mul(s, inverse).to_words(s);
        let mut words = self.plus.add(s, self.minus).mul(s, inverse).to_words(s);
        words[3] = s.or(words[3], s.shift_left::<63>(x[0]));
        words
    }

    /// The coordinate u = (1 + y) / (1 - y) of the point of Curve25519 that belongs to this one (RFC 7748, 4.1), and 0
    /// of the neutral element.
    #[inline(always)]
    pub(crate) fn montgomery(self, s: S) -> [S::V; 4] {
        let (y, z) = (self.plus.add(s, self.minus), self.z.add(s, self.z));
        z.add(s, y).mul(s, z.sub(s, y).inverted(s)).to_words(s)
    }

    /// The point of an encoding, and all ones where it is one (RFC 8032, 5.1.3).
    #[inline(always)]
    pub(crate) fn decoded(s: S, words: [S::V; 4]) -> (Self, S::V) {
        let one = Element::splat(s, ONE);
        let y = Element::from_words(s, words);
        let sign = s.shift_right::<63>(words[3]);
        let [w0, w1, w2, w3] = words;
        let below_p = y.equals_words(s, [w0, w1, w2, s.and(w3, s.splat(u64::MAX >> 1))]);

        // x^2 = u / v
        let square = y.square(s);
        let (u, v) = (square.sub(s, one), square.mul(s, Element::splat(s, D)).add(s, one));
        let v3 = v.square(s).mul(s, v);
        let v7 = v3.square(s).mul(s, v);
        let root = u.mul(s, v7).power_for_roots(s).mul(s, v3).mul(s, u);
        let (check, zero) = (root.square(s).mul(s, v), Element::splat(s, ZERO));
        let is_root = check.sub(s, u).is_zero(s);
        let is_other = check.add(s, u).is_zero(s);
        let x = Element::select(s, is_root, root, root.mul(s, Element::splat(s, ROOT)));

        // The root that is odd or even as the sign says; 0 has no other.
        let parity = s.and(x.to_words(s)[0], s.splat(1));
        let differs = s.sub(s.splat(0), s.xor(parity, sign));
        let x = Element::select(s, differs, zero.sub(s, x), x);
        let signed_zero = s.and(x.is_zero(s), s.sub(s.splat(0), sign));
        let valid = s.and(below_p, s.or(is_root, is_other));
        let valid = s.and(valid, s.xor(signed_zero, s.splat(u64::MAX)));
        (Self::affine(s, x, y), valid)
    }

    /// The point times a scalar below the order. No branch and no address depends on it.
    #[inline(always)]
    pub(crate) fn times(self, s: S, scalar: Scalar<S>) -> Self {
        let first = self.cached(s);
        let mut table = vec![first; MULTIPLES];
        let mut multiple = self;
        for entry in &mut table[1..] {
            multiple = multiple.plus_cached(s, first).extended(s);
            *entry = multiple.cached(s);
        }
        let mut words = shifted_left::<S, 1, 63>(s, windows(s, scalar));
        let mut sum = Self::neutral(s);
        for window in 0..WINDOWS {
            if window > 0 {
                sum = sum.doubled(s, WINDOW_BITS);
            }
            let [amount, negative] = digit(s, s.shift_right::<{ 64 - WINDOW_BITS }>(words[3]));
            words = shifted_left::<S, 5, 59>(s, words);
            sum = sum.plus_cached(s, Cached::chosen(s, &table, amount, negative)).extended(s);
        }
        sum
    }
}

/// A point doubled some times: a function of its own, since more than one place has it.
struct Doubled<S: Limbs> {
    point: Extended<S>,
    times: u32,
}

impl<S: Limbs> Part<S> for Doubled<S> {
    type Out = Extended<S>;

    #[inline(always)]
    fn run(self, s: S) -> Extended<S> {
        let mut point = self.point.projective(s);
        for _ in 1..self.times {
            point = point.doubled(s).projective(s);
        }
        point.doubled(s).extended(s)
    }
}

impl<S: Limbs> Projective<S> {
    #[inline(always)]
    fn doubled(self, s: S) -> Factors<S> {
        let a = self.x.squared_biased(s);
        let b = self.y.squared(s);
        let c = self.z.squared(s);
        let sum = self.sum.squared(s);
        let (h, g) = (a.plus(s, b), a.minus(s, b));
        Factors {
            e: h.minus(s, sum).carried(s),
            f: c.plus(s, c).plus(s, g).carried(s),
            g: g.carried(s),
            h: h.carried(s),
        }
    }
}

impl<S: Limbs> Factors<S> {
    #[inline(always)]
    fn extended(self, s: S) -> Extended<S> {
        let y = self.g.times_biased(s, self.h);
        let x = self.e.times(s, self.f);
        Extended {
            plus: y.plus(s, x).carried(s),
            minus: y.minus(s, x).carried(s),
            z: self.f.mul(s, self.g),
            t: self.e.mul(s, self.h),
        }
    }

    #[inline(always)]
    fn projective(self, s: S) -> Projective<S> {
        let y = self.g.times(s, self.h);
        let x = self.e.times(s, self.f);
        Projective {
            sum: x.plus(s, y).carried(s),
            x: x.carried(s),
            y: y.carried(s),
            z: self.f.mul(s, self.g),
        }
    }
}

impl<S: Limbs> Cached<S> {
    /// The multiple of each lane: of the point `amount` times, or of its opposite; the neutral element for 0.
    #[inline(always)]
    fn chosen(s: S, table: &[Self], amount: S::V, negative: S::V) -> Self {
        let (zero, one) = (Element::splat(s, ZERO), Element::splat(s, ONE));
        let two = Element::splat(s, [2, 0, 0, 0, 0]);
        let mut chosen = Self { plus: one, minus: one, z2: two, t2d: zero };
        for (entry, multiple) in table.iter().zip(1..) {
            let mask = s.equal(amount, s.splat(multiple));
            chosen.plus = Element::select(s, mask, entry.plus, chosen.plus);
            chosen.minus = Element::select(s, mask, entry.minus, chosen.minus);
            chosen.z2 = Element::select(s, mask, entry.z2, chosen.z2);
            chosen.t2d = Element::select(s, mask, entry.t2d, chosen.t2d);
        }
        Self {
            plus: Element::select(s, negative, chosen.minus, chosen.plus),
            minus: Element::select(s, negative, chosen.plus, chosen.minus),
            t2d: Element::select(s, negative, zero.sub(s, chosen.t2d), chosen.t2d),
            ..chosen
        }
    }
}

impl<S: Limbs> Affine<S> {
    /// The neutral element.
    #[inline(always)]
    pub(crate) fn neutral(s: S) -> Self {
        let (zero, one) = (Element::splat(s, ZERO), Element::splat(s, ONE));
        Self { plus: one, minus: one, t2d: zero }
    }

    /// The opposite point where the mask has ones. The point is reduced.
    #[inline(always)]
    pub(crate) fn negative_if(self, s: S, mask: S::V) -> Self {
        Self {
            plus: Element::select(s, mask, self.minus, self.plus),
            minus: Element::select(s, mask, self.plus, self.minus),
            t2d: Element::select(s, mask, self.t2d.reduced_negative(s), self.t2d),
        }
    }
}

const ZERO: [u64; DIGITS] = [0; DIGITS];
const ONE: [u64; DIGITS] = [1, 0, 0, 0, 0];
