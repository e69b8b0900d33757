//! Arithmetic modulo each number against `num-bigint`, at every level.

use alloc::{vec, vec::Vec};
use lanelock_isa::{LimbKernel, Limbs};
use num_bigint::BigUint;

use super::order::{OrderP256, OrderP384, OrderP521};
use super::{Element, Modulus};
use super::{p256::FieldP256, p384::FieldP384, p521::FieldP521};
use crate::digits::{DIGIT_BITS, digits_from_bytes, digits_to_bytes};

/// What is computed of two numbers below 4 m.
const RESULTS: usize = 12;

/// Each computation of a pair of numbers, one pair a lane.
struct Compute<'a, M, const D: usize> {
    pairs: &'a [[[u64; D]; 2]],
    results: &'a mut Vec<[[u64; D]; RESULTS]>,
    modulus: core::marker::PhantomData<M>,
}

impl<M: Modulus<D>, const D: usize> LimbKernel for Compute<'_, M, D> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        for pairs in self.pairs.chunks(S::LANES) {
            let a = Element::<S, M, D>::gather(s, pairs.len(), |lane| &pairs[lane][0]);
            let b = Element::gather(s, pairs.len(), |lane| &pairs[lane][1]);
            let below = Element::select(a.below(&M::NUMBER), &Element::one(s), &Element::zero(s));
            let results = [
                a.times(&b),
                a.square(),
                (a.sum() + b.sum()).digits(),
                (a.sum() - b.sum()).plus_moduli::<4>().digits(),
                a.product(&b).plus_product(&b, &b).reduce().digits(),
                a.sum().double().double().digits(),
                a.into_form(),
                a.into_form().inverse().out_of_form(),
                a.out_of_form(),
                Element::select(a.is_zero(), &b, &a),
                below,
                (a.sum() + b.sum().double()).plus_moduli::<3>().trimmed(),
            ];
            let first = self.results.len();
            self.results.resize(first + pairs.len(), [[0; D]; RESULTS]);
            for (at, result) in results.iter().enumerate() {
                result.scatter(|lane, digits| {
                    if lane < pairs.len() {
                        self.results[first + lane][at] = digits;
                    }
                });
            }
        }
    }
}

fn digits<const D: usize>(number: &BigUint) -> [u64; D] {
    let mut digits = [0; D];
    digits_from_bytes(&number.to_bytes_be(), &mut digits);
    digits
}

fn number(digits: &[u64]) -> BigUint {
    let mut bytes = vec![0; (DIGIT_BITS * digits.len()).div_ceil(8)];
    digits_to_bytes(digits, &mut bytes);
    BigUint::from_bytes_be(&bytes)
}

/// Pairs of edge values in every lane, then random ones.
fn pairs(m: &BigUint, seed: u64) -> Vec<[BigUint; 2]> {
    let one = BigUint::from(1_u8);
    let all = (&one << m.bits()) - &one;
    let edges = [
        BigUint::ZERO,
        one.clone(),
        BigUint::from(2_u8),
        m - &one,
        m.clone(),
        m + &one,
        all,
        m * 4_u8 - &one,
    ];
    let mut pairs = Vec::new();
    for shift in 0..edges.len() {
        for (i, edge) in edges.iter().enumerate() {
            pairs.push([edge.clone(), edges[(i + shift) % edges.len()].clone()]);
        }
    }
    let mut random = lanelock_testkit::Rng::new(seed);
    for _ in 0..203 {
        let mut pair = || {
            let mut bytes = vec![0; m.to_bytes_be().len() + 1];
            random.fill(&mut bytes);
            BigUint::from_bytes_be(&bytes) % (m * 4_u8)
        };
        pairs.push([pair(), pair()]);
    }
    pairs
}

fn against_a_library<M: Modulus<D>, const D: usize>(name: &str) {
    let m = number(&M::NUMBER);
    let r = BigUint::from(1_u8) << (DIGIT_BITS * D);
    assert!(r >= &m * 16_u8);
    assert_eq!(number(&M::ONE), &r % &m);
    assert_eq!(number(&M::SQUARE), &r * &r % &m);
    let numbers = pairs(&m, 17);
    let pairs: Vec<[[u64; D]; 2]> = numbers.iter().map(|[a, b]| [digits(a), digits(b)]).collect();
    for level in crate::level::test_levels() {
        let mut results = Vec::new();
        level.run(Compute {
            pairs: &pairs,
            results: &mut results,
            modulus: core::marker::PhantomData::<M>,
        });
        for ([a, b], got) in numbers.iter().zip(&results) {
            let case = format!("{name}, {level}, {a} and {b}");
            let got: Vec<BigUint> = got.iter().map(|digits| number(digits)).collect();
            let product = |at: usize| {
                assert!(got[at] < &m * 4_u8, "{case}");
                &got[at] * &r % &m
            };
            assert_eq!(product(0), a * b % &m, "{case}");
            assert_eq!(product(1), a * a % &m, "{case}");
            assert_eq!(got[2], a + b, "{case}");
            assert_eq!(got[3], a + &m * 4_u8 - b, "{case}");
            assert_eq!(product(4), (a * b + b * b) % &m, "{case}");
            assert_eq!(got[5], a * 4_u8, "{case}");
            assert_eq!(&got[6] % &m, a * &r % &m, "{case}");
            assert_eq!(got[7], a.modpow(&(&m - 2_u8), &m), "{case}");
            assert!(got[8] < m, "{case}");
            assert_eq!(&got[8] * &r % &m, a % &m, "{case}");
            assert_eq!(got[9], if *a == BigUint::ZERO { b } else { a }.clone(), "{case}");
            assert_eq!(got[10], if *a < m { &r % &m } else { BigUint::ZERO }, "{case}");
            assert_eq!(&got[11] % &m, (a + b * 2_u8) % &m, "{case}");
            if M::TRIMMED < 8 {
                assert!(&got[11] * 1000_u32 < &m * 2001_u32, "{case}");
            }
        }
    }
}

#[test]
fn orders() {
    against_a_library::<OrderP256, 5>("order of P-256");
    against_a_library::<OrderP384, 8>("order of P-384");
    against_a_library::<OrderP521, 11>("order of P-521");
}

#[test]
fn primes() {
    against_a_library::<FieldP256, 5>("P-256");
    against_a_library::<FieldP384, 8>("P-384");
    against_a_library::<FieldP521, 11>("P-521");
}
