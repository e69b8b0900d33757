//! Products and powers against num-bigint.

#![expect(clippy::cast_possible_truncation, reason = "small sizes")]

use lanelock_testkit::Rng;
use num_bigint::BigUint;

use super::*;
use crate::{
    digits::{digits_from_bytes, digits_to_bytes},
    level::test_levels,
};

/// Numbers that come again.
struct Numbers(Rng);

impl Numbers {
    /// A number of exactly `bits` bits; one in four is all ones, one in four is a power of two and one.
    fn number(&mut self, bits: usize) -> BigUint {
        match self.0.below(4) {
            0 => (BigUint::from(1_u8) << bits) - 1_u8,
            1 => (BigUint::from(1_u8) << (bits - 1)) + 1_u8,
            _ => {
                let bytes = self.0.bytes(bits.div_ceil(8));
                let mut number = BigUint::from_bytes_be(&bytes) >> (8 * bytes.len() - bits);
                number.set_bit(bits as u64 - 1, true);
                number.set_bit(0, true);
                number
            }
        }
    }

    /// A number below another: now and then 0, 1 and the greatest.
    fn below(&mut self, limit: &BigUint) -> BigUint {
        match self.0.below(8) {
            0 => BigUint::ZERO,
            1 => BigUint::from(1_u8),
            2 => limit - 1_u8,
            _ => self.number(limit.bits() as usize) % limit,
        }
    }
}

fn digits(number: &BigUint, count: usize) -> Digits {
    let mut digits = Zeroizing::new(vec![0; count]);
    digits_from_bytes(&number.to_bytes_be(), &mut digits);
    digits
}

fn number(digits: &[u64]) -> BigUint {
    let mut bytes = vec![0; (DIGIT_BITS * digits.len()).div_ceil(8)];
    digits_to_bytes(digits, &mut bytes);
    BigUint::from_bytes_be(&bytes)
}

/// Products and public powers of the sizes that have all lanes.
#[test]
fn whole_moduli_against_a_library() {
    let seed = Rng::from_env("montgomery, whole moduli");
    for level in test_levels() {
        let mut numbers = Numbers(seed.clone());
        for bits in [2048, 2070, 3072, 3114, 4096, 4154] {
            for count in [1, 2, 3, 4] {
                let (values, moduli) = check_products(level, bits, count, &mut numbers);
                let operands: Vec<BigUint> = values.iter().map(|m| numbers.below(m)).collect();
                let bases: Vec<Digits> =
                    operands.iter().map(|base| digits(base, digits_for(bits))).collect();

                // No exponent, 1, one in two words and that of most keys, another one for each number.
                let exponents: Vec<Vec<u64>> = (0..count)
                    .map(|i| [vec![], vec![1], vec![3, 1], vec![65_537]][(i + count) % 4].clone())
                    .collect();
                let powers: Vec<Power<'_>> = moduli
                    .iter()
                    .zip(&bases)
                    .zip(&exponents)
                    .map(|((modulus, base), exponent)| Power { modulus, base, exponent })
                    .collect();
                for (((result, base), exponent), m) in public_power_all(level, &powers)
                    .iter()
                    .zip(&operands)
                    .zip(&exponents)
                    .zip(&values)
                {
                    let words = exponent.iter().rev();
                    let exponent = words.fold(BigUint::ZERO, |e, &word| (e << 64) + word);
                    assert_eq!(number(result), base.modpow(&exponent, m), "{level}, {bits} bits");
                }
            }
        }
    }
}

/// Few numbers lie in groups of lanes. Where a carry goes further than is computed there, they say so; other results
/// are right.
#[test]
fn groups_notice_carries_that_go_on() {
    let seed = Rng::from_env("montgomery, carries");
    let bits = 1024;
    let n = digits_for(bits);
    let one = BigUint::from(1_u8);
    let r = &one << (DIGIT_BITS * n);
    for level in test_levels() {
        // Multiples of this one have zeros where lanes meet, which are what carries have to go through.
        let m = (&one << (bits - 1)) + 1_u8;
        let modulus = Modulus::new(level, bits, &digits(&m, n));
        let mut numbers = Numbers(seed.clone());
        let (mut done, mut not_done) = (0, 0);
        for i in 0..200_u32 {
            let [a, b] = match i % 2 {
                0 => [numbers.below(&r), numbers.below(&m)],
                _ => [&one << i, &m - 1_u8],
            };
            let (a_digits, b_digits) = (digits(&a, n), digits(&b, n));
            let product = [Product { modulus: &modulus, a: &a_digits, b: &b_digits }];
            let mut result = [digits(&BigUint::ZERO, n)];
            if groups::multiply_all(level, &product, &mut result) {
                done += 1;
                assert_eq!(number(&result[0]) * &r % &m, &a * &b % &m, "{level}");
            } else {
                not_done += 1;
            }
            assert_eq!(number(&multiply_all(level, &product)[0]) * &r % &m, a * b % &m, "{level}");
        }
        if level.width() == 1 {
            assert_eq!(done, 0);
        } else {
            assert!(done > 10 && not_done > 10, "{level}: {done}, {not_done}");
        }
    }
}

#[test]
fn against_a_library() {
    let sizes = [8, 63, 64, 250, 255, 256, 260, 261, 511, 512, 1024, 1030, 1034, 1536, 1554, 2048];
    let seed = Rng::from_env("montgomery");
    for level in test_levels() {
        let mut numbers = Numbers(seed.clone());
        for bits in sizes {
            for count in [1, 2, 3, 8, 11] {
                check(level, bits, count, bits, &mut numbers);
            }
        }
    }
}

/// Both ways that products go, in registers and in memory, with any number of operations: full groups, and what is left
/// of them.
#[test]
fn any_number_at_once() {
    let seed = Rng::from_env("montgomery, any number");
    for level in test_levels() {
        let mut numbers = Numbers(seed.clone());
        for bits in [250, 1024, 1536] {
            for count in 1..=17 {
                check(level, bits, count, 40, &mut numbers);
            }
        }
    }
}

/// So many products, and powers with exponents of so many bits, at once.
fn check(level: LimbLevel, bits: usize, count: usize, exponent_bits: usize, numbers: &mut Numbers) {
    let n = digits_for(bits);
    let (values, moduli) = check_products(level, bits, count, numbers);

    // Bases up to the square of the modulus, exponents from 0 to all bits.
    let operands: Vec<[BigUint; 2]> = values
        .iter()
        .map(|m| [numbers.below(&(m * m)), numbers.below(m) >> (bits - exponent_bits)])
        .collect();
    let as_digits: Vec<(Digits, Vec<u64>)> =
        operands.iter().map(|[a, e]| (digits(a, 2 * n), e.to_u64_digits())).collect();
    let powers: Vec<Power<'_>> = moduli
        .iter()
        .zip(&as_digits)
        .map(|(modulus, (base, exponent))| Power { modulus, base, exponent })
        .collect();
    let secret = power_all(level, bits, &powers);
    let public = public_power_all(level, &powers);
    for (((secret, public), [base, exponent]), m) in
        secret.iter().zip(&public).zip(&operands).zip(&values)
    {
        let expected = base.modpow(exponent, m);
        assert_eq!(number(secret), expected, "{level}, {bits} bits");
        assert_eq!(number(public), expected, "{level}, {bits} bits");
    }
}

/// So many products at once; gives the moduli.
fn check_products(
    level: LimbLevel,
    bits: usize,
    count: usize,
    numbers: &mut Numbers,
) -> (Vec<BigUint>, Vec<Modulus>) {
    let n = digits_for(bits);
    let values: Vec<BigUint> = (0..count).map(|_| numbers.number(bits)).collect();
    let moduli: Vec<Digits> = values.iter().map(|m| digits(m, n)).collect();
    let moduli = Modulus::new_all(level, bits, &moduli);
    let r = BigUint::from(1_u8) << (DIGIT_BITS * n);
    let operands: Vec<[BigUint; 2]> =
        values.iter().map(|m| [numbers.below(&r), numbers.below(m)]).collect();
    let as_digits: Vec<[Digits; 2]> =
        operands.iter().map(|[a, b]| [digits(a, n), digits(b, n)]).collect();
    let products: Vec<Product<'_>> =
        moduli.iter().zip(&as_digits).map(|(modulus, [a, b])| Product { modulus, a, b }).collect();
    for (((result, [a, b]), m), modulus) in
        multiply_all(level, &products).iter().zip(&operands).zip(&values).zip(&moduli)
    {
        assert_eq!(number(modulus.square()), &r * &r % m);
        assert_eq!(number(result) * &r % m, a * b % m, "{level}, {bits} bits");
        assert!(number(result) < *m);
    }
    (values, moduli)
}
