//! The multiples of a base point, in a table that is made once a process, and the checks of one point. Their kernels
//! run at the portable level alone: nothing fills lanes.

use alloc::vec::Vec;
use core::marker::PhantomData;

use lanelock_isa::{LimbKernel, Limbs, PortableLimbs};

use super::weierstrass::{Point, Weierstrass, right_side, windows};
use crate::field::{Element, Modulus};

/// For each digit of a scalar the multiples 1 to 2^(w - 1) of the base point times the digit's weight 2^(w i), in
/// Montgomery's form, below p: 2 D digits of x and y, each of all multiples.
pub(crate) fn multiples_of_base<C: Weierstrass<D>, const D: usize>() -> Vec<u64> {
    Table { curve: PhantomData::<C> }.run(PortableLimbs::new())
}

struct Table<C, const D: usize> {
    curve: PhantomData<C>,
}

impl<C: Weierstrass<D>, const D: usize> LimbKernel for Table<C, D> {
    type Out = Vec<u64>;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> Vec<u64> {
        let multiples = 1 << (C::BASE_WINDOW - 1);
        let mut table = Vec::new();
        let [mut x, mut y] =
            C::BASE.map(|number| Element::<S, C::Field, D>::splat(s, &number).into_form());
        for _ in 0..windows(C::BITS, C::BASE_WINDOW) {
            // The multiples, and behind them the base of the next digit.
            let mut points = Vec::with_capacity(multiples + 1);
            points.push(Point { x, y, z: Element::one(s) });
            for i in 1..=multiples {
                let last: &Point<S, C::Field, D> = &points[i - 1];
                let next = if i == 1 || i == multiples {
                    last.double_times(1)
                } else {
                    last.add_affine(&x, &y)
                };
                points.push(next);
            }
            // One inversion for all: of the product of every Z.
            let mut products = Vec::with_capacity(points.len());
            let mut product = points[0].z;
            for point in &points {
                products.push(product);
                product = product.multiply(&point.z);
            }
            let mut inverse = product.inverse();
            let mut affine = Vec::with_capacity(points.len());
            for (point, before) in points.iter().zip(&products).rev() {
                let own = inverse.multiply(before);
                inverse = inverse.multiply(&point.z);
                let square = own.square_times(1);
                let x = point.x.multiply(&square).subtract_once();
                affine.push((x, point.y.multiply(&square).multiply(&own).subtract_once()));
            }
            (x, y) = affine[0];
            let first = table.len();
            table.resize(first + 2 * D * multiples, 0);
            for (i, (x, y)) in affine[1..].iter().rev().enumerate() {
                for (coordinate, number) in [x, y].into_iter().enumerate() {
                    number.scatter(|lane, digits| {
                        for (j, digit) in digits.into_iter().enumerate().filter(|_| lane == 0) {
                            table[first + (coordinate * D + j) * multiples + i] = digit;
                        }
                    });
                }
            }
        }
        table
    }
}

/// Whether (x, y), both below p, is a point of the curve.
pub(crate) fn on_curve<C: Weierstrass<D>, const D: usize>([x, y]: [&[u64; D]; 2]) -> bool {
    Check { curve: PhantomData::<C>, x, y: Some(y), odd: false }.run(PortableLimbs::new()).is_some()
}

/// y of a point of the curve by x, which is below p, and by whether y is odd.
pub(crate) fn y_of<C: Weierstrass<D>, const D: usize>(x: &[u64; D], odd: bool) -> Option<[u64; D]> {
    Check { curve: PhantomData::<C>, x, y: None, odd }.run(PortableLimbs::new())
}

/// Finds y, or checks it.
struct Check<'a, C, const D: usize> {
    curve: PhantomData<C>,
    x: &'a [u64; D],
    y: Option<&'a [u64; D]>,
    odd: bool,
}

impl<C: Weierstrass<D>, const D: usize> LimbKernel for Check<'_, C, D> {
    type Out = Option<[u64; D]>;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> Option<[u64; D]> {
        let x = Element::<S, C::Field, D>::splat(s, self.x).into_form();
        let square = right_side::<S, C, D>(s, &x);
        let y = match self.y {
            Some(y) => Element::splat(s, y).into_form(),
            // p is 3 modulo 4: the root of a square is its power with the exponent (p + 1) / 4.
            None => {
                square.multiply(&Element::one(s)).power(&const { root_exponent(&C::Field::NUMBER) })
            }
        };
        let difference = (square.sum() - y.square_times(1).sum()).plus_moduli::<2>().digits();
        let mut plain = [0; D];
        y.out_of_form().scatter(|lane, digits| {
            if lane == 0 {
                plain = digits;
            }
        });
        if self.y.is_none() && (plain[0] & 1 == 1) != self.odd {
            y.negative::<2>().out_of_form().scatter(|lane, digits| {
                if lane == 0 {
                    plain = digits;
                }
            });
        }
        let mut is_root = false;
        difference.out_of_form().scatter(|lane, digits| is_root |= lane == 0 && digits == [0; D]);
        is_root.then_some(plain)
    }
}

/// (p + 1) / 4
const fn root_exponent<const D: usize>(p: &[u64; D]) -> [u64; D] {
    assert!(p[0] & 3 == 3);
    let mut exponent = [0; D];
    let mut carry = 1;
    let mut j = 0;
    let mut sum = *p;
    while j < D {
        sum[j] += carry;
        carry = sum[j] >> 52;
        sum[j] &= (1 << 52) - 1;
        j += 1;
    }
    j = 0;
    while j < D {
        let next = if j + 1 < D { sum[j + 1] } else { 0 };
        exponent[j] = sum[j] >> 2 | (next & 3) << 50;
        j += 1;
    }
    exponent
}
