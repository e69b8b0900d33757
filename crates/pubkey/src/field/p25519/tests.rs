//! Every operation against a library of big numbers, at the bounds of digits.

use lanelock_isa::{LimbKernel, MOST_LIMBS};
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
                assert!(r.product_words[k] < 267 << 52 && r.square_words[k] < 267 << 52, "{what}");
                assert!(r.biased_words[k] < 571 << 52, "{what}");
                assert!(r.biased_words[k] - r.product_words[k] >= 267 << 52, "{what}");
            }
        }
    }
}
