//! Multiples of points: of the base point by a table that is made once, of any point by a table a lane, and their sum.

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;
use lanelock_core::parts::passed;
use lanelock_isa::{LimbKernel, Limbs, MOST_LIMBS};
use zeroize::Zeroize;

use super::weierstrass::{MULTIPLES, Point, WINDOW, Weierstrass, windows};
use crate::digits::DIGIT_BITS;
use crate::field::{Element, Modulus};

/// What is multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// The base point: gives a point.
    Base,
    /// A point: gives a point.
    Point,
    /// Both: says whether x of the sum is a number modulo the order.
    Both,
}

/// Scalars, below the order, and a point.
#[derive(Clone, Copy, Debug)]
pub struct Job<N> {
    /// What the base point is multiplied with; not 0, but for [`Work::Both`].
    pub(crate) base: N,
    /// What the point is multiplied with; not 0.
    pub(crate) scalar: N,
    /// On the curve. With [`Work::Base`] and [`Work::Point`] the result is here.
    pub(crate) point: [N; 2],
    /// x modulo the order, for [`Work::Both`].
    pub(crate) expected: N,
    /// The result is not infinite, and what was expected.
    pub(crate) valid: bool,
}

impl<N: Zeroize> Zeroize for Job<N> {
    fn zeroize(&mut self) {
        self.base.zeroize();
        self.scalar.zeroize();
        self.point[0].zeroize();
        self.point[1].zeroize();
        self.expected.zeroize();
    }
}

/// All multiplications, as many at once as there are lanes.
pub(crate) struct Multiply<'a, C, const D: usize> {
    pub(crate) curve: PhantomData<C>,
    pub(crate) work: Work,
    /// Of [`super::table`].
    pub(crate) table: &'a [u64],
    pub(crate) jobs: &'a mut [Job<[u64; D]>],
}

impl<C: Weierstrass<D>, const D: usize> LimbKernel for Multiply<'_, C, D> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        let mut room = Room::new(s, C::BITS);
        for jobs in self.jobs.chunks_mut(S::LANES) {
            side_by_side::<S, C, D>(s, self.work, self.table, jobs, &mut room);
        }
        room.wipe(s);
    }
}

/// A point, and all ones where it is infinite.
type Summand<S, F, const D: usize> = (Point<S, F, D>, <S as Limbs>::V);

/// Room for what depends on a lane's numbers.
struct Room<S: Limbs, F, const D: usize> {
    /// Digits of scalars.
    digits: Vec<S::V>,
    /// Multiples of points.
    multiples: Vec<Point<S, F, D>>,
}

impl<S: Limbs, F: Modulus<D>, const D: usize> Room<S, F, D> {
    #[inline(always)]
    fn new(s: S, bits: usize) -> Self {
        Self { digits: vec![s.splat(0); bits], multiples: vec![Point::zero(s); MULTIPLES] }
    }

    #[inline(always)]
    fn wipe(mut self, s: S) {
        s.wipe(&mut self.digits);
        for point in &mut self.multiples {
            point.wipe();
        }
    }
}

#[inline(always)]
fn side_by_side<S: Limbs, C: Weierstrass<D>, const D: usize>(
    s: S,
    work: Work,
    table: &[u64],
    jobs: &mut [Job<[u64; D]>],
    room: &mut Room<S, C::Field, D>,
) {
    let count = jobs.len();
    let zero = s.splat(0);
    let mut base = Point::zero(s);
    let mut base_infinite = s.equal(zero, zero);
    if work != Work::Point {
        let (scalar, odd) = even::<S, C::Order, D>(s, count, |lane| &jobs[lane].base);
        let digits = &mut room.digits[..windows(C::BITS, C::BASE_WINDOW)];
        split(s, scalar, C::BASE_WINDOW, digits);
        (base, base_infinite) = multiple_of_base::<S, C, D>(s, table, digits, odd);
    }
    let mut result = base;
    if work != Work::Base {
        let (scalar, odd) = even::<S, C::Order, D>(s, count, |lane| &jobs[lane].scalar);
        let digits = &mut room.digits[..windows(C::BITS, WINDOW)];
        split(s, scalar, WINDOW, digits);
        let x = Element::gather(s, count, |lane| &jobs[lane].point[0]).into_form();
        let y = Element::gather(s, count, |lane| &jobs[lane].point[1]).into_form();
        let point = Point { x, y, z: Element::one(s) }.negative_where(odd);
        let with = (work == Work::Both).then_some((base, base_infinite));
        result = multiple::<S, C, D>(&point, digits, &mut room.multiples, with);
    }
    if work == Work::Both {
        let valid = is_expected::<S, C, D>(s, &result, count, |lane| &jobs[lane].expected);
        put(s, valid, jobs);
    } else {
        let inverse = result.z.inverse();
        let square = inverse.square_times(1);
        let x = result.x.multiply(&square).out_of_form();
        let y = result.y.multiply(&square).multiply(&inverse).out_of_form();
        put(s, s.xor(inverse.out_of_form().is_zero(), s.splat(u64::MAX)), jobs);
        x.scatter(|lane, x| jobs.get_mut(lane).into_iter().for_each(|job| job.point[0] = x));
        y.scatter(|lane, y| jobs.get_mut(lane).into_iter().for_each(|job| job.point[1] = y));
    }
}

/// Puts a mask into the jobs.
#[inline(always)]
fn put<S: Limbs, N>(s: S, valid: S::V, jobs: &mut [Job<N>]) {
    let mut words = [0; MOST_LIMBS];
    s.store(valid, &mut words);
    for (job, word) in jobs.iter_mut().zip(words) {
        job.valid = passed(word);
    }
}

/// The scalars where they are even, the order less the scalars where not, and all ones there.
#[inline(always)]
fn even<'a, S: Limbs, M: Modulus<D>, const D: usize>(
    s: S,
    count: usize,
    of: impl Fn(usize) -> &'a [u64; D],
) -> (Element<S, M, D>, S::V) {
    let scalar = Element::gather(s, count, of);
    let odd = s.sub(s.splat(0), s.and(scalar.digits()[0], s.splat(1)));
    (Element::select(odd, &scalar.negative::<1>(), &scalar), odd)
}

/// Splits the scalars into digits of `width` bits from -2^(`width` - 1) to 2^(`width` - 1), the lowest first: words
/// whose bit 63 is the sign.
#[inline(always)]
fn split<S: Limbs, M: Modulus<D>, const D: usize>(
    s: S,
    scalar: Element<S, M, D>,
    width: usize,
    digits: &mut [S::V],
) {
    let mut scalars = [[0; D]; MOST_LIMBS];
    scalar.scatter(|lane, scalar| scalars[lane] = scalar);
    let mut words = [0; MOST_LIMBS];
    for (i, digit) in digits.iter_mut().enumerate() {
        for (word, scalar) in words.iter_mut().zip(&scalars).take(S::LANES) {
            *word = signed_digit(scalar, i, width);
        }
        *digit = s.load(&words);
    }
    scalars.zeroize();
    words.zeroize();
}

/// The digit `i` of a scalar: its `width` bits, and 1 more if the bit below is set, less 2^`width` if the highest is.
#[inline(always)]
fn signed_digit<const D: usize>(scalar: &[u64; D], i: usize, width: usize) -> u64 {
    // The bits and the one below them.
    let bits = if i == 0 { scalar[0] << 1 } else { bits_at(scalar, i * width - 1) };
    let bits = bits & ((2 << width) - 1);
    let sign = bits >> width;
    let value = (bits + 1) >> 1;
    let mask = sign.wrapping_neg();
    let size = (value ^ mask).wrapping_sub(mask).wrapping_add(mask & (1 << width));
    size | sign << 63
}

/// Bits of a number from bit `at` on, 12 or more of them.
#[inline(always)]
fn bits_at<const D: usize>(number: &[u64; D], at: usize) -> u64 {
    let (j, shift) = (at / DIGIT_BITS, at % DIGIT_BITS);
    if j >= D {
        return 0;
    }
    let next = number.get(j + 1).copied().unwrap_or(0);
    number[j] >> shift | next << (DIGIT_BITS - shift)
}

/// The multiples of the base point by the digits of scalars, negative where `odd` has ones; and all ones where they are
/// infinite.
#[inline(always)]
fn multiple_of_base<S: Limbs, C: Weierstrass<D>, const D: usize>(
    s: S,
    table: &[u64],
    digits: &[S::V],
    odd: S::V,
) -> Summand<S, C::Field, D> {
    let zero = s.splat(0);
    let one = Element::one(s);
    let entries = const {
        assert!(C::BASE_WINDOW > 4, "whole parts of 16 entries");
        1 << (C::BASE_WINDOW - 1)
    };
    let mut point = Point::zero(s);
    let mut infinite = s.equal(zero, zero);
    for (&digit, table) in digits.iter().zip(table.chunks_exact(2 * D * entries)) {
        let (size, negative) = size_and_sign(s, digit, odd);
        let index = s.sub(size, s.splat(1));
        let mut found = [[zero; D]; 2];
        for (found, row) in found.as_flattened_mut().iter_mut().zip(table.chunks_exact(entries)) {
            let (parts, _) = row.as_chunks::<16>();
            for (part, i) in parts.iter().zip(0..) {
                let here = s.equal(s.shift_right::<4>(index), s.splat(i));
                *found = s.select(here, s.lookup(part, index), *found);
            }
        }
        let [x, y] = found;
        let entry = Point { x: Element::new(s, x), y: Element::new(s, y), z: one };
        let entry = entry.negative_where(negative);
        let sum = point.add_affine(&entry.x, &entry.y);
        let sum = Point::select(infinite, &entry, &sum);
        let skip = s.equal(size, zero);
        point = Point::select(skip, &point, &sum);
        infinite = s.and(infinite, skip);
    }
    (point, infinite)
}

/// The size of a digit, and all ones where it is negative and `odd` is not, or the other way.
#[inline(always)]
fn size_and_sign<S: Limbs>(s: S, digit: S::V, odd: S::V) -> (S::V, S::V) {
    let size = s.and(digit, s.splat(u64::MAX >> 1));
    (size, s.xor(s.sub(s.splat(0), s.shift_right::<63>(digit)), odd))
}

/// The multiples of a point by the digits of scalars, which are not 0; and where `with` has a point that is not
/// infinite, that is added.
#[inline(always)]
fn multiple<S: Limbs, C: Weierstrass<D>, const D: usize>(
    point: &Point<S, C::Field, D>,
    digits: &[S::V],
    multiples: &mut [Point<S, C::Field, D>],
    with: Option<Summand<S, C::Field, D>>,
) -> Point<S, C::Field, D> {
    let s = point.x.s;
    let zero = s.splat(0);
    multiples[0] = *point;
    multiples[1] = point.double_times(1);
    for i in 2..MULTIPLES {
        multiples[i] = multiples[i - 1].add_affine(&point.x, &point.y);
    }
    let mut result = Point::zero(s);
    let mut infinite = s.equal(zero, zero);
    // The last step adds the other point.
    for step in 0..digits.len() + usize::from(with.is_some()) {
        let digit = digits.len().checked_sub(step + 1).map(|i| digits[i]);
        let doublings = match digit {
            _ if step == 0 => 0,
            Some(_) => WINDOW,
            None => 1,
        };
        let doubled = result.double_times(doublings);
        let (entry, skip) = match (digit, with) {
            (Some(digit), _) => {
                result = doubled;
                let (size, negative) = size_and_sign(s, digit, zero);
                let mut entry = Point::zero(s);
                for (multiple, i) in multiples.iter().zip(1..) {
                    entry = Point::select(s.equal(size, s.splat(i)), multiple, &entry);
                }
                (entry.negative_where(negative), s.equal(size, zero))
            }
            (None, Some(with)) => with,
            (None, None) => break,
        };
        let added = result.add(&entry);
        let mut sum = added.point;
        if digit.is_none() {
            let same_x = added.h.out_of_form().is_zero();
            let same_y = added.r.out_of_form().is_zero();
            sum = Point::select(s.and(same_x, same_y), &doubled, &sum);
        }
        let sum = Point::select(infinite, &entry, &sum);
        result = Point::select(skip, &result, &sum);
        infinite = s.and(infinite, skip);
    }
    result
}

/// All ones where the point is not infinite and its x modulo the order is the expected number.
#[inline(always)]
fn is_expected<'a, S: Limbs, C: Weierstrass<D>, const D: usize>(
    s: S,
    point: &Point<S, C::Field, D>,
    count: usize,
    of: impl Fn(usize) -> &'a [u64; D],
) -> S::V {
    let expected = Element::<S, C::Field, D>::gather(s, count, of);
    let order = Element::splat(s, &C::Order::NUMBER);
    let more = (expected.sum() + order.sum()).digits();
    let square = point.z.square_times(1);
    let is_more = s.and(is_x(point, &square, &more), more.below(&C::Field::NUMBER));
    let infinite = point.z.out_of_form().is_zero();
    let is_expected = is_x(point, &square, &expected);
    s.and(s.or(is_expected, is_more), s.xor(infinite, s.splat(u64::MAX)))
}

/// All ones where `x` is that of the point, whose z has this square.
#[inline(always)]
fn is_x<S: Limbs, M: Modulus<D>, const D: usize>(
    point: &Point<S, M, D>,
    square: &Element<S, M, D>,
    x: &Element<S, M, D>,
) -> S::V {
    let difference = (point.x.sum() - x.into_form().multiply(square).sum()).plus_moduli::<2>();
    difference.digits().out_of_form().is_zero()
}
