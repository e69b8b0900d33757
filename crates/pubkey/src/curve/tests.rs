//! Multiples of points against additions with big numbers, at every level.

#![allow(clippy::unnecessary_wraps, reason = "points are optional here")]

use alloc::{vec, vec::Vec};
use lanelock_isa::LimbLevel;
use num_bigint::BigUint;

use super::*;
use crate::digits::{DIGIT_BITS, digits_from_bytes, digits_to_bytes};
use crate::level::test_levels;

fn digits<C: Curve>(number: &BigUint) -> C::Number {
    let mut digits = C::ZERO;
    digits_from_bytes(&number.to_bytes_be(), digits.as_mut());
    digits
}

fn number<N: AsRef<[u64]>>(digits: &N) -> BigUint {
    let mut bytes = vec![0; (DIGIT_BITS * digits.as_ref().len()).div_ceil(8)];
    digits_to_bytes(digits.as_ref(), &mut bytes);
    BigUint::from_bytes_be(&bytes)
}

/// A point with big numbers, or nothing if it is infinite.
type Plain = Option<[BigUint; 2]>;

fn add<C: Curve>(a: &Plain, b: &Plain) -> Plain {
    let p = number(&C::PRIME);
    let (Some([x1, y1]), Some([x2, y2])) = (a, b) else { return a.clone().or(b.clone()) };
    let (dividend, divisor) = if x1 != x2 {
        (&p + y2 - y1, &p + x2 - x1)
    } else if y1 == y2 {
        (x1 * x1 * 3_u8 + &p - 3_u8, y1 * 2_u8)
    } else {
        return None;
    };
    let slope = dividend * divisor.modpow(&(&p - 2_u8), &p) % &p;
    let x = (&slope * &slope + &p * 2_u8 - x1 - x2) % &p;
    let y = (slope * (&p + x1 - &x) + &p - y1) % &p;
    Some([x, y])
}

fn times<C: Curve>(scalar: &BigUint, point: &Plain) -> Plain {
    let mut result = None;
    for bit in (0..scalar.bits()).rev() {
        result = add::<C>(&result, &result);
        if scalar.bit(bit) {
            result = add::<C>(&result, point);
        }
    }
    result
}

fn base<C: Curve>() -> Plain {
    let mut jobs = [job::<C>(&BigUint::from(1_u8), &BigUint::from(1_u8), &None)];
    C::multiply(LimbLevel::available()[0], Work::Base, &mut jobs);
    Some(jobs[0].point.map(|number_of| number(&number_of)))
}

fn job<C: Curve>(base: &BigUint, scalar: &BigUint, point: &Plain) -> Job<C::Number> {
    let [x, y] = point.clone().unwrap_or([BigUint::ZERO, BigUint::ZERO]);
    Job {
        base: digits::<C>(base),
        scalar: digits::<C>(scalar),
        point: [digits::<C>(&x), digits::<C>(&y)],
        expected: C::ZERO,
        valid: false,
    }
}

/// Scalars at the edges, where additions would meet equal points if they could, and random ones.
fn scalars<C: Curve>() -> Vec<BigUint> {
    let n = number(&C::ORDER);
    let mut scalars: Vec<BigUint> = (1..70_u32).map(BigUint::from).collect();
    scalars.extend((1..70_u32).map(|less| &n - less));
    scalars.extend((0..C::BITS).map(|bit| BigUint::from(1_u8) << bit));
    scalars.extend([&n >> 1_u8, (&n >> 1_u8) + 1_u8]);
    let mut random = lanelock_testkit::Rng::new(2);
    for _ in 0..2 {
        let mut bytes = vec![0; C::BYTES];
        random.fill(&mut bytes);
        scalars.push(BigUint::from_bytes_be(&bytes) % &n);
    }
    scalars
}

fn multiples_of<C: Curve>() {
    let g = base::<C>();
    assert!(C::on_curve(g.clone().unwrap().each_ref().map(|n| digits::<C>(n)).each_ref()));
    let h = times::<C>(&BigUint::from(0x1_2345_6789_u64), &g);
    let scalars = scalars::<C>();
    // Small scalars and powers of two by those before them, the others one by one.
    let expected = |point: &Plain| -> Vec<Plain> {
        let mut all: Vec<Plain> = Vec::new();
        let minus = point.clone().map(|[x, y]| [x, number(&C::PRIME) - y]);
        for (i, scalar) in scalars.iter().enumerate() {
            let next = match i {
                0 | 138 => point.clone(),
                1..69 => add::<C>(&all[i - 1], point),
                69 => minus.clone(),
                70..138 => add::<C>(&all[i - 1], &minus),
                i if i < 138 + C::BITS => add::<C>(&all[i - 1], &all[i - 1]),
                _ => times::<C>(scalar, point),
            };
            all.push(next);
        }
        all
    };
    let of_base = expected(&g);
    let of_point = expected(&h);
    for level in test_levels() {
        for (work, expected) in [(Work::Base, &of_base), (Work::Point, &of_point)] {
            let mut jobs: Vec<_> =
                scalars.iter().map(|scalar| job::<C>(scalar, scalar, &h)).collect();
            C::multiply(level, work, &mut jobs);
            for ((job, expected), scalar) in jobs.iter().zip(expected).zip(&scalars) {
                let case = format!("{}, {level}, {work:?}, {scalar}", C::NAME);
                assert!(job.valid, "{case}");
                assert_eq!(Some(job.point.map(|n| number(&n))), *expected, "{case}");
            }
        }
    }
}

/// u G + v P with all relations that the last addition can meet.
fn both_of<C: Curve>() {
    let n = number(&C::ORDER);
    let g = base::<C>();
    let one = BigUint::from(1_u8);
    let mut cases: Vec<(BigUint, BigUint, Plain, Plain)> = Vec::new();
    for times_g in [1_u32, 2, 5, 77] {
        let point = times::<C>(&BigUint::from(times_g), &g);
        for scalar in [1_u32, 2, 3, 30] {
            let (v, sum) = (BigUint::from(scalar), BigUint::from(times_g * scalar));
            // Infinite, equal, opposite, and two others.
            let twice = times::<C>(&(&sum * 2_u8), &g);
            cases.push((sum.clone(), v.clone(), point.clone(), twice));
            cases.push((&n - &sum, v.clone(), point.clone(), None));
            cases.push((BigUint::ZERO, v.clone(), point.clone(), times::<C>(&sum, &g)));
            cases.push((&n - &sum + &one, v.clone(), point.clone(), g.clone()));
            cases.push((one.clone(), v, point.clone(), times::<C>(&(&sum + &one), &g)));
        }
    }
    for level in test_levels() {
        for wrong in [0_u8, 1] {
            let mut jobs: Vec<_> = cases
                .iter()
                .map(|(u, v, point, sum)| {
                    let mut job = job::<C>(u, v, point);
                    let x = sum.clone().map_or(BigUint::ZERO, |[x, _]| x);
                    job.expected = digits::<C>(&((x + wrong) % &n));
                    job
                })
                .collect();
            C::multiply(level, Work::Both, &mut jobs);
            for (job, (u, v, _, sum)) in jobs.iter().zip(&cases) {
                let right = sum.is_some() && wrong == 0;
                assert_eq!(job.valid, right, "{}, {level}, {u}, {v}", C::NAME);
            }
        }
    }
}

#[test]
fn multiples() {
    multiples_of::<P256>();
    multiples_of::<P384>();
    multiples_of::<P521>();
}

#[test]
fn both() {
    both_of::<P256>();
    both_of::<P384>();
    both_of::<P521>();
}

#[test]
fn roots() {
    fn of<C: Curve>() {
        let g = base::<C>().unwrap();
        let [x, y] = g.each_ref().map(|n| digits::<C>(n));
        let odd = y.as_ref()[0] & 1 == 1;
        assert_eq!(C::y_of(&x, odd), Some(y));
        let other = C::y_of(&x, !odd).unwrap();
        assert_eq!(number(&other) + number(&y), number(&C::PRIME));
        assert!(C::on_curve([&x, &other]));
        assert!(!C::on_curve([&y, &x]));
        assert!(!C::on_curve([&C::ZERO, &C::ZERO]));
        let squares = (0_u8..32).filter(|&x| {
            let x = digits::<C>(&BigUint::from(x));
            let root = C::y_of(&x, false);
            assert!(root.is_none_or(|y| C::on_curve([&x, &y])));
            root.is_some()
        });
        assert!((8..24).contains(&squares.count()));
    }
    of::<P256>();
    of::<P384>();
    of::<P521>();
}
