//! New keys: FIPS 186-5, appendix A.1.3, with probable primes.
//!
//! A number that is drawn has to be odd and at least 2^(bits - 1/2), and none of its divisors is a small prime
//! ([`sieve`](super::sieve)). Then it is tested with random bases (Miller and Rabin; appendix B.3.1): in each lane of a
//! pass a number or, of one that has passed, another base. Every number is drawn anew, so all are independent, and
//! the first two that pass are the primes.
//!
//! What is seen of numbers that were refused tells nothing about the primes. Of the primes themselves no branch and no
//! address depends but on the zeros in which p - 1 and q - 1 end (`trailing_zeros`), and on verdicts: that a prime has
//! passed a test, that both are far enough from each other.

use alloc::{vec, vec::Vec};
use zeroize::Zeroizing;

use super::{
    Class, Components, PrivateKey,
    number::{self, inverse_of_public, zero},
    sieve::Sieve,
};
use crate::{
    Error, Operation, Random,
    digits::{DIGIT, DIGIT_BITS, Digits, digits_from_bytes, digits_to_bytes},
    level::default_level,
    montgomery::{Modulus, Power, Product, digits_for, multiply_all, power_all},
};
use lanelock_isa::LimbLevel;

/// Rounds of Miller and Rabin that a prime passes: FIPS 186-5, table B.1, has no more for any size.
const ROUNDS: usize = 5;
/// The square root of 2, of which 2^63 is a half: rounded up.
const ROOT: u64 = 0xb504_f333_f9de_6485;
/// Bits that have to differ in the upper part of both primes: FIPS 186-5, appendix A.1.3, step 5.4.
const DIFFERENT_BITS: usize = 100;

/// A key to generate.
#[derive(Clone, Debug)]
pub struct Generate {
    level: LimbLevel,
    bits: usize,
    e: u64,
}

impl Generate {
    /// A key with a modulus of `bits` bits, a multiple of 16 from 2048 to 8192, and the exponent 65537.
    ///
    /// # Errors
    /// [`Error::Key`] if there are no keys of that size; [`Error::Level`] if `LANELOCK_LEVEL` has a mistake.
    pub fn new(bits: usize) -> Result<Self, Error> {
        if !(2048..=8192).contains(&bits) || !bits.is_multiple_of(16) {
            return Err(Error::Key(
                "keys are generated with a multiple of 16 bits from 2048 to 8192",
            ));
        }
        Ok(Self { level: default_level()?, bits, e: 65537 })
    }

    /// The same with another public exponent, which is odd and above 2^16 (FIPS 186-5, appendix A.1.1).
    ///
    /// # Errors
    /// [`Error::Key`] if it is not.
    pub fn with_exponent(mut self, e: u64) -> Result<Self, Error> {
        if e & 1 == 0 || e < 1 << 16 {
            return Err(Error::Key("the public exponent is even or below 65537"));
        }
        self.e = e;
        Ok(self)
    }

    /// The same on another level, which is that of the key as well.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.level = level;
        self
    }
}

impl PrivateKey {
    /// A new key with a modulus of `bits` bits and the exponent 65537: see [`Generate`], which makes many at once.
    ///
    /// # Errors
    /// As [`Generate::new`]; [`Error::Random`] if the source of random numbers fails.
    pub fn generate(bits: usize, random: &mut dyn Random) -> Result<Self, Error> {
        Generate::run(&[&Generate::new(bits)?], random).pop().unwrap_or(Err(Error::Random))
    }
}

impl Operation for Generate {
    type Output = PrivateKey;
    type Class = Class;

    fn class(&self) -> Class {
        Class { level: self.level, bits: self.bits }
    }

    fn lanes(class: Class) -> usize {
        class.level.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<PrivateKey, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let mut source = Source::new(random);
        match primes(first.class(), operations, &mut source) {
            Ok(primes) => operations
                .iter()
                .zip(primes)
                .map(|(operation, primes)| operation.key(&primes, &mut source))
                .collect(),
            Err(error) => operations.iter().map(|_| Err(error.clone())).collect(),
        }
    }
}

/// A number that may be prime.
struct Candidate {
    /// Which operation it is for.
    operation: usize,
    modulus: Modulus,
    /// The bases that it has passed.
    passed: usize,
}

/// Two primes for each operation.
fn primes(
    class: Class,
    operations: &[&Generate],
    source: &mut Source<'_>,
) -> Result<Vec<[Digits; 2]>, Error> {
    let Class { level, bits } = class;
    let bits = bits / 2;
    let sieve = Sieve::shared();
    let mut found: Vec<Vec<Digits>> = operations.iter().map(|_| Vec::new()).collect();
    let mut likely: Vec<Candidate> = Vec::new();
    while let Some(lacking) = found.iter().position(|primes| primes.len() < 2) {
        // The lanes: first the bases that likely primes still have to pass, then new numbers.
        let bases: usize = likely.iter().map(|candidate| ROUNDS - candidate.passed).sum();
        let width = level.width();
        let fresh = bases.next_multiple_of(width).max(width) - bases;
        // Where many keys are wanted, those that lack primes take turns.
        let wanting: Vec<usize> =
            (lacking..found.len()).filter(|&at| found[at].len() < 2).collect();
        let mut numbers = Vec::with_capacity(fresh);
        while numbers.len() < fresh {
            let number = source.candidate(bits)?;
            if sieve.passes(&number) {
                numbers.push(number);
            }
        }
        let mut candidates = core::mem::take(&mut likely);
        let moduli = Modulus::new_all(level, bits, &numbers);
        candidates.extend(
            moduli.into_iter().zip(wanting.iter().cycle()).map(|(modulus, &operation)| Candidate {
                operation,
                modulus,
                passed: 0,
            }),
        );
        let lanes: Vec<usize> = candidates
            .iter()
            .enumerate()
            .flat_map(|(at, candidate)| {
                let rounds = if candidate.passed == 0 { 1 } else { ROUNDS - candidate.passed };
                core::iter::repeat_n(at, rounds)
            })
            .collect();
        let moduli: Vec<&Modulus> = lanes.iter().map(|&at| &candidates[at].modulus).collect();
        let results = miller_rabin(level, bits, &moduli, source)?;
        let mut failed = vec![false; candidates.len()];
        for (&at, is_passed) in lanes.iter().zip(results) {
            candidates[at].passed += 1;
            failed[at] |= !is_passed;
        }
        for (candidate, is_failed) in candidates.into_iter().zip(failed) {
            let Candidate { operation, passed, .. } = candidate;
            let primes = &mut found[operation];
            if is_failed || primes.len() == 2 {
                continue;
            }
            let prime = candidate.modulus.digits();
            if passed < ROUNDS {
                if inverse_of_order(prime, operations[operation].e, source)?.is_some() {
                    likely.push(candidate);
                }
            } else if primes.first().is_none_or(|other| are_apart(other, prime, bits)) {
                primes.push(Zeroizing::new(prime.to_vec()));
            }
        }
        likely.retain(|candidate| found[candidate.operation].len() < 2);
    }
    Ok(found
        .into_iter()
        .map(|primes| {
            let mut primes = primes.into_iter();
            match (primes.next(), primes.next()) {
                (Some(p), Some(q)) => [p, q],
                _ => unreachable!("no operation lacks a prime"),
            }
        })
        .collect())
}

/// Whether the moduli pass a round with a random base each.
fn miller_rabin(
    level: LimbLevel,
    bits: usize,
    moduli: &[&Modulus],
    source: &mut Source<'_>,
) -> Result<Vec<bool>, Error> {
    // w - 1 = 2^a m
    let mut orders = Vec::with_capacity(moduli.len());
    let mut bases = Vec::with_capacity(moduli.len());
    for modulus in moduli {
        let mut order = Zeroizing::new(modulus.digits().to_vec());
        order[0] -= 1;
        bases.push(source.base(bits, &order)?);
        let zeros = trailing_zeros(&order);
        orders.push((number::words(&shifted(&order, zeros)), zeros, order));
    }
    let powers: Vec<Power<'_>> = moduli
        .iter()
        .zip(&bases)
        .zip(&orders)
        .map(|((modulus, base), (exponent, ..))| Power { modulus, base, exponent })
        .collect();
    let mut results = power_all(level, bits, &powers);
    let mut passed: Vec<bool> = results
        .iter()
        .zip(&orders)
        .map(|(result, (.., order))| {
            number::is_equal(result, &[1]) || number::is_equal(result, order)
        })
        .collect();
    // Of composites that have no small divisors hardly any gets to the squares without having failed: a square is
    // computed for all of them while one might pass.
    let most = orders.iter().map(|(_, zeros, _)| *zeros).max().unwrap_or(0);
    for square in 1..most {
        if orders.iter().zip(&passed).all(|((_, zeros, _), &passed)| passed || *zeros <= square) {
            break;
        }
        let forms: Vec<Product<'_>> = moduli
            .iter()
            .zip(&results)
            .map(|(modulus, a)| Product { modulus, a, b: modulus.square() })
            .collect();
        let forms = multiply_all(level, &forms);
        let squares: Vec<Product<'_>> = moduli
            .iter()
            .zip(results.iter().zip(&forms))
            .map(|(modulus, (a, b))| Product { modulus, a, b })
            .collect();
        results = multiply_all(level, &squares);
        for ((passed, result), (_, zeros, order)) in passed.iter_mut().zip(&results).zip(&orders) {
            *passed |= square < *zeros && number::is_equal(result, order);
        }
    }
    Ok(passed)
}

/// Both primes, the greater one first, in a time that does not depend on which it is.
fn greater_first([p, q]: [&[u64]; 2]) -> [Digits; 2] {
    let [mut greater, mut other] = [p, q].map(|prime| Zeroizing::new(prime.to_vec()));
    number::swap_where(number::less(p, q), &mut greater, &mut other);
    [greater, other]
}

/// Whether the difference of the primes is at least 2^(bits - 99), which may be known: of 2^98 pairs one is nearer.
fn are_apart(p: &[u64], q: &[u64], bits: usize) -> bool {
    let [mut greater, other] = greater_first([p, q]);
    number::subtract(&mut greater, &other);
    !number::is_equal(&shifted(&greater, bits - DIFFERENT_BITS + 1), &[])
}

/// The zeros in which a number ends.
///
/// This is the one thing of a prime that time tells: for w - 1, by the length of an exponent and how many squares are
/// computed. With it a + 1 low bits of a prime are known where there are a zeros, three on average; to find the others
/// by lattices takes half of all (D. Coppersmith, 1997).
fn trailing_zeros(number: &[u64]) -> usize {
    let zeros = number.iter().take_while(|&&digit| digit == 0).count();
    number.get(zeros).map_or(0, |digit| DIGIT_BITS * zeros + digit.trailing_zeros() as usize)
}

/// The number shifted to the right.
fn shifted(number: &[u64], by: usize) -> Digits {
    let (digits, bits) = (by / DIGIT_BITS, by % DIGIT_BITS);
    let at = |digit: usize| number.get(digit).copied().unwrap_or(0);
    let mut result = zero(number.len());
    for (j, result) in result.iter_mut().enumerate() {
        *result = (at(j + digits) >> bits | at(j + digits + 1) << (DIGIT_BITS - bits)) & DIGIT;
    }
    result
}

/// -1 / (p - 1) modulo e, if there is an inverse.
fn inverse_of_order(
    prime: &[u64],
    e: u64,
    source: &mut Source<'_>,
) -> Result<Option<Digits>, Error> {
    let mut order = Zeroizing::new(prime.to_vec());
    order[0] -= 1;
    negative_inverse(&order, e, source)
}

/// -1 / x modulo e of a secret x, if there is one: by that of a product with a random number, which may be seen.
fn negative_inverse(x: &[u64], e: u64, source: &mut Source<'_>) -> Result<Option<Digits>, Error> {
    let e = [e & DIGIT, e >> DIGIT_BITS];
    let rest = number::remainder(x, &e);
    let mask = loop {
        let mask = number::remainder(&[source.word()? & DIGIT, source.word()? & DIGIT], &e);
        if inverse_of_public(&mask, &e).is_some() {
            break mask;
        }
    };
    let masked = number::remainder(&number::multiply(&rest, &mask), &e);
    let Some(inverse) = inverse_of_public(&masked, &e) else { return Ok(None) };
    let mut negative = number::resized(&e, e.len());
    number::subtract(&mut negative, &number::remainder(&number::multiply(&inverse, &mask), &e));
    Ok(Some(negative))
}

impl Generate {
    /// The key of two primes.
    fn key(&self, primes: &[Digits; 2], source: &mut Source<'_>) -> Result<PrivateKey, Error> {
        let [p, q] = greater_first(primes.each_ref().map(|prime| &***prime));
        let [mut p1, mut q1] = [p.clone(), q.clone()];
        p1[0] -= 1;
        q1[0] -= 1;
        // d = (1 + k lcm) / e with k = -1/lcm modulo e, which makes the sum a multiple of e.
        let (multiple, _) = number::divide(
            &number::multiply(&p1, &q1),
            &number::greatest_common_divisor(&p1, &q1, self.bits / 2),
        );
        let e = [self.e & DIGIT, self.e >> DIGIT_BITS];
        let factor = negative_inverse(&multiple, self.e, source)?.ok_or(Error::Fault)?;
        let mut sum = number::multiply(&factor, &multiple);
        number::add(&mut sum, &[1]);
        let (d, _) = number::divide(&sum, &e);

        let (dp, dq) = (number::remainder(&d, &p1), number::remainder(&d, &q1));
        let modulus = Modulus::new(self.level, self.bits / 2, &p);
        let mut exponent = p.clone();
        exponent[0] -= 2;
        let power = Power { modulus: &modulus, base: &q, exponent: &number::words(&exponent) };
        let qinv = power_all(self.level, self.bits / 2, &[power]).swap_remove(0);

        let bytes = |number: &[u64]| {
            let mut bytes = Zeroizing::new(vec![0; (DIGIT_BITS * number.len()).div_ceil(8)]);
            digits_to_bytes(number, &mut bytes);
            bytes
        };
        let key = PrivateKey::new(&Components {
            n: &bytes(&number::multiply(&p, &q)),
            e: &self.e.to_be_bytes(),
            d: &bytes(&d),
            p: &bytes(&p),
            q: &bytes(&q),
            dp: &bytes(&dp),
            dq: &bytes(&dq),
            qinv: &bytes(&qinv),
        })?;
        Ok(key.with_level(self.level))
    }
}

/// Random bytes, of which many are drawn at once.
struct Source<'a> {
    random: &'a mut dyn Random,
    bytes: Zeroizing<Vec<u8>>,
    /// How many of them have been used.
    used: usize,
}

/// Bytes that are drawn at once.
const DRAW: usize = 4096;

impl<'a> Source<'a> {
    fn new(random: &'a mut dyn Random) -> Self {
        Self { random, bytes: Zeroizing::new(vec![0; DRAW]), used: DRAW }
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.used + count > self.bytes.len() {
            self.random.fill(&mut self.bytes)?;
            self.used = 0;
        }
        self.used += count;
        Ok(&self.bytes[self.used - count..self.used])
    }

    fn word(&mut self) -> Result<u64, Error> {
        Ok(u64::from_be_bytes(*self.take(8)?.first_chunk().ok_or(Error::Random)?))
    }

    /// An odd number of so many bits, whole bytes of them, at least 2^(bits - 1/2).
    fn candidate(&mut self, bits: usize) -> Result<Digits, Error> {
        let top = loop {
            let top = self.word()? | 1 << 63;
            if top >= ROOT {
                break top;
            }
        };
        let mut bytes = Zeroizing::new(vec![0; bits / 8]);
        bytes[..8].copy_from_slice(&top.to_be_bytes());
        bytes[8..].copy_from_slice(self.take(bits / 8 - 8)?);
        let mut number = zero(digits_for(bits));
        digits_from_bytes(&bytes, &mut number);
        number[0] |= 1;
        Ok(number)
    }

    /// A number from 2 to w - 2, where `order` is w - 1, of so many bits.
    fn base(&mut self, bits: usize, order: &[u64]) -> Result<Digits, Error> {
        loop {
            let mut number = zero(order.len());
            digits_from_bytes(self.take(bits / 8)?, &mut number);
            if number::less(&number, order) != 0 && number::less(&[1], &number) != 0 {
                return Ok(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn primes_that_are_near_each_other() {
        const BITS: usize = 1024;
        let digits = |number: &BigUint| {
            let mut digits = zero(digits_for(BITS));
            digits_from_bytes(&number.to_bytes_be(), &mut digits);
            digits
        };
        let p = (BigUint::from(3_u8) << (BITS - 2)) + 1_u8;
        let least = BigUint::from(1_u8) << (BITS - DIFFERENT_BITS + 1);
        for (difference, apart) in [
            (BigUint::ZERO, false),
            (BigUint::from(2_u8), false),
            (&least - 1_u8, false),
            (least.clone(), true),
            (&least << 90, true),
        ] {
            let [p, q] = [digits(&p), digits(&(&p - &difference))];
            assert_eq!(are_apart(&p, &q, BITS), apart, "{difference}");
            assert_eq!(are_apart(&q, &p, BITS), apart, "-{difference}");
        }
    }

    #[test]
    fn zeros_at_the_end() {
        for zeros in [0_usize, 1, 51, 52, 53, 104, 200] {
            let number: BigUint = BigUint::from(5_u8) << zeros;
            let mut digits = zero(digits_for(1024));
            digits_from_bytes(&number.to_bytes_be(), &mut digits);
            assert_eq!(trailing_zeros(&digits), zeros);
            assert!(number::is_equal(&shifted(&digits, zeros), &[5]));
        }
    }
}
