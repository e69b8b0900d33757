//! Points of curves y^2 = x^3 - 3 x + b of prime order, one a lane, and their multiples.
//!
//! Points are in Jacobian coordinates: x = X / Z^2, y = Y / Z^3, all in Montgomery's form. Formulas are those of
//! `dbl-2001-b`, `add-2007-bl` without its squarings and `madd` (Explicit-Formulas Database), arranged so that numbers
//! stay small. With p for the modulus of the field and T for [`Modulus::TRIMMED`], X < T p, Y <= T p, and where T is 3,
//! X < 2.1 p and Z < 3.2 p; bounds in comments are those of T = 3, where `R` is 16 p.
//!
//! **Exceptions.** The formulas of a sum are wrong if one point is infinite or both are equal. What is infinite is known
//! from the digits of the scalars, and chosen by masks. Equal points do not meet: scalars k < n are split into digits
//! between -2^(w-1) and 2^(w-1), and are made even first, by n - k and the negative point where k is odd.
//!
//! - Multiples of any point go from the highest digit down. A sum of 2^w k' P and d P, k' not zero, has equal points
//!   only if 2^w k' = d + n, since |d| < 2^w k' < 2 n. Then d is negative and the digit is the last, or the scalar was
//!   above n; so k = n - 2 |d|, which is odd.
//! - Multiples of the base point go from the lowest digit up. A sum of s G and t G, t = d 2^(w i), has |s| < |t|, and
//!   |s| + |t| < n but for the highest digit; so equal points have s = t - n or t + n, and k = 2 t - n or 2 t + n, which
//!   is odd.
//! - Opposite points have the sum 0 or n, which no scalar is; and the formulas are right for them: Z is 0.
//!
//! The sum of a multiple of the base point and one of another, which a signature's verification needs, can have equal
//! points; it is made once, and twice the point stands beside it.

use lanelock_isa::{Limbs, Part};

use crate::field::{Element, Modulus};

/// Bits of a digit of a scalar that any point is multiplied with.
pub(crate) const WINDOW: usize = 5;
/// The multiples in the table of such a point.
pub(crate) const MULTIPLES: usize = 1 << (WINDOW - 1);

/// What makes a curve.
pub(crate) trait Weierstrass<const D: usize>: Copy + 'static {
    /// Coordinates.
    type Field: Modulus<D>;
    /// Scalars.
    type Order: Modulus<D>;
    /// Bits of p, and of n, which is near a power of two.
    const BITS: usize;
    /// The coefficient b.
    const B: [u64; D];
    /// The base point.
    const BASE: [[u64; D]; 2];
    /// Bits of a digit of a scalar that the base point is multiplied with.
    const BASE_WINDOW: usize;
}

/// Digits of so many bits of a scalar of `bits` bits.
pub(crate) const fn windows(bits: usize, width: usize) -> usize {
    (bits + 1).div_ceil(width)
}

/// A point a lane.
pub(crate) struct Point<S: Limbs, F, const D: usize> {
    pub(crate) x: Element<S, F, D>,
    pub(crate) y: Element<S, F, D>,
    pub(crate) z: Element<S, F, D>,
}

impl<S: Limbs, F, const D: usize> Clone for Point<S, F, D> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Limbs, F, const D: usize> Copy for Point<S, F, D> {}

/// A sum of points, and what is 0 if they had the same x or the same y.
pub(crate) struct Added<S: Limbs, F, const D: usize> {
    pub(crate) point: Point<S, F, D>,
    /// The difference of x.
    pub(crate) h: Element<S, F, D>,
    /// The difference of y.
    pub(crate) r: Element<S, F, D>,
}

impl<S: Limbs, F: Modulus<D>, const D: usize> Point<S, F, D> {
    /// Not a point: all coordinates are 0.
    #[inline(always)]
    pub(crate) fn zero(s: S) -> Self {
        let zero = Element::zero(s);
        Self { x: zero, y: zero, z: zero }
    }

    /// 2^`count` times the point.
    #[inline(always)]
    pub(crate) fn double_times(&self, count: usize) -> Self {
        self.x.s.call(Double(self, count))
    }

    /// Twice the point.
    #[inline(always)]
    fn double(&self) -> Self {
        let Self { x, y, z } = *self;
        let delta = z.square(); // 1.7
        let gamma = y.square_reduced(); // 1.6
        let twice_gamma = gamma.double().digits(); // 3.2
        let alpha = {
            let difference = (x.sum() - delta.sum()).plus_moduli::<2>().digits(); // 4.1
            let sum = x.sum() + delta.sum();
            difference.times(&(sum.double() + sum).digits()) // 4.1 * 11.4: 4
        };
        let four_beta = x.times(&gamma.double().double().digits()); // 2.1 * 6.4: 1.9
        let square = alpha.square_reduced(); // 2
        let result_x = (square - four_beta.sum().double()).plus_moduli::<4>().trimmed();
        let result_z = y.times_reduced(&z).double().digits(); // 3.2
        let rest = (four_beta.sum() - result_x.sum()).plus_trimmed().digits(); // 4.9
        let eighth = twice_gamma.square_reduced().double(); // 8 gamma^2: 3.3
        let result_y = (alpha.times_reduced(&rest) - eighth).plus_moduli::<4>().trimmed();
        Self { x: result_x, y: result_y, z: result_z }
    }

    /// The sum with another point, if neither is infinite and they are not the same.
    #[inline(always)]
    pub(crate) fn add(&self, other: &Self) -> Added<S, F, D> {
        self.x.s.call(Add(self, other))
    }

    #[inline(always)]
    fn add_inlined(&self, other: &Self) -> Added<S, F, D> {
        let own = self.z.square(); // 1.7
        let others = other.z.square();
        let u = self.x.times(&others); // 1.3
        let h = (u.sum() - other.x.times(&own).sum()).plus_moduli::<2>().digits(); // 3.3
        let v = self.y.times(&other.z.times(&others)); // 1.3
        let r = {
            let other = other.y.times(&self.z.times(&own));
            (v.sum() - other.sum()).plus_moduli::<2>().digits()
        };
        let z = self.z.times(&other.z).times(&h); // 1.4
        Added { point: Self::sum_of(&u, &v, z, &h, &r), h, r }
    }

    /// The sum with another point, whose coordinates are given as they are; likewise.
    #[inline(always)]
    pub(crate) fn add_affine(&self, x: &Element<S, F, D>, y: &Element<S, F, D>) -> Self {
        self.x.s.call(AddAffine(self, x, y))
    }

    #[inline(always)]
    fn add_affine_inlined(&self, x: &Element<S, F, D>, y: &Element<S, F, D>) -> Self {
        let own = self.z.square();
        let h = (self.x.sum() - x.times(&own).sum()).plus_moduli::<2>().digits(); // 4.1
        let other = y.times(&self.z.times(&own));
        let r = (self.y.sum() - other.sum()).plus_moduli::<2>().digits(); // 5
        let z = self.z.times(&h); // 1.9
        Self::sum_of(&self.x, &self.y, z, &h, &r)
    }

    /// What sums have in common, by the first point as if both had the same Z, and by h and r, the differences of x and
    /// y. (X, -Y, -Z) is the same point as (X, Y, Z) with the differences taken the other way.
    #[inline(always)]
    fn sum_of(
        u: &Element<S, F, D>,
        v: &Element<S, F, D>,
        z: Element<S, F, D>,
        h: &Element<S, F, D>,
        r: &Element<S, F, D>,
    ) -> Self {
        let square = h.square(); // 2.1
        let cube = h.times(&square); // 1.6
        let w = u.times(&square); // 1.3
        let x = (r.square_reduced() + cube.sum() - w.sum().double()).plus_moduli::<3>().trimmed();
        let rest = (w.sum() - x.sum()).plus_trimmed().digits(); // 4.3
        let y = r.product(&rest).plus_product(v, &cube.negative::<2>()).reduce().digits(); // 2.8
        Self { x, y, z }
    }

    /// The negative points where the mask has ones.
    #[inline(always)]
    pub(crate) fn negative_where(&self, mask: S::V) -> Self {
        let negative = (Element::zero(self.y.s).sum() - self.y.sum()).plus_trimmed().digits();
        Self { y: Element::select(mask, &negative, &self.y), ..*self }
    }

    /// `a` where the mask has ones, `b` elsewhere.
    #[inline(always)]
    pub(crate) fn select(mask: S::V, a: &Self, b: &Self) -> Self {
        Self {
            x: Element::select(mask, &a.x, &b.x),
            y: Element::select(mask, &a.y, &b.y),
            z: Element::select(mask, &a.z, &b.z),
        }
    }

    /// Overwrites the coordinates.
    #[inline(always)]
    pub(crate) fn wipe(&mut self) {
        self.x.wipe();
        self.y.wipe();
        self.z.wipe();
    }
}

/// [`Point::double_times`]
struct Double<'a, S: Limbs, F, const D: usize>(&'a Point<S, F, D>, usize);

impl<S: Limbs, F: Modulus<D>, const D: usize> Part<S> for Double<'_, S, F, D> {
    type Out = Point<S, F, D>;

    #[inline(always)]
    fn run(self, _s: S) -> Point<S, F, D> {
        let mut point = *self.0;
        for _ in 0..self.1 {
            point = point.double();
        }
        point
    }
}

/// [`Point::add`]
struct Add<'a, S: Limbs, F, const D: usize>(&'a Point<S, F, D>, &'a Point<S, F, D>);

impl<S: Limbs, F: Modulus<D>, const D: usize> Part<S> for Add<'_, S, F, D> {
    type Out = Added<S, F, D>;

    #[inline(always)]
    fn run(self, _s: S) -> Added<S, F, D> {
        self.0.add_inlined(self.1)
    }
}

/// [`Point::add_affine`]
struct AddAffine<'a, S: Limbs, F, const D: usize>(
    &'a Point<S, F, D>,
    &'a Element<S, F, D>,
    &'a Element<S, F, D>,
);

impl<S: Limbs, F: Modulus<D>, const D: usize> Part<S> for AddAffine<'_, S, F, D> {
    type Out = Point<S, F, D>;

    #[inline(always)]
    fn run(self, _s: S) -> Point<S, F, D> {
        self.0.add_affine_inlined(self.1, self.2)
    }
}

/// x^3 - 3 x + b, of x in Montgomery's form below 2 p.
#[inline(always)]
pub(crate) fn right_side<S: Limbs, C: Weierstrass<D>, const D: usize>(
    s: S,
    x: &Element<S, C::Field, D>,
) -> Element<S, C::Field, D> {
    let b = Element::splat(s, &C::B).into_form();
    let cube = x.square_times(1).multiply(x);
    (cube.sum() - (x.sum().double() + x.sum()) + b.sum()).plus_moduli::<6>().trimmed()
}
