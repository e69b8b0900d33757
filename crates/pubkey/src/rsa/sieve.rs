//! Which numbers have small divisors: most of those that are not prime are found out by them.

use alloc::{vec, vec::Vec};
use std::sync::OnceLock;
use zeroize::Zeroizing;

use super::number;

/// The primes are below it: a test of a number by a power takes as long as tens of thousands of primes.
const LIMIT: usize = 1 << 14;
/// Groups that are taken at once: of each, a word waits for the word before.
const AT_ONCE: usize = 4;

/// Odd primes, in groups whose products fit into a word.
pub(super) struct Sieve {
    primes: Vec<Prime>,
    groups: Vec<Group>,
}

struct Prime {
    /// 1 / prime modulo 2^64
    inverse: u64,
    /// The greatest quotient of a word.
    most: u64,
}

struct Group {
    product: u64,
    /// -1 / product modulo 2^64
    negative_inverse: u64,
    /// The end of its primes.
    end: usize,
}

impl Sieve {
    /// The sieve, which is made once a process.
    pub(super) fn shared() -> &'static Self {
        static SIEVE: OnceLock<Sieve> = OnceLock::new();
        SIEVE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut is_composite = vec![false; LIMIT];
        let mut sieve = Self { primes: Vec::new(), groups: Vec::new() };
        let mut product = 1_u64;
        for n in (3..LIMIT).step_by(2) {
            if is_composite[n] {
                continue;
            }
            is_composite.iter_mut().skip(n * n).step_by(n).for_each(|composite| *composite = true);
            let n = n as u64;
            product = product.checked_mul(n).unwrap_or_else(|| {
                sieve.close(product);
                n
            });
            let inverse = number::inverse_of_word(n);
            sieve.primes.push(Prime { inverse, most: u64::MAX / n });
        }
        sieve.close(product);
        sieve
    }

    /// A group of the primes since the last one.
    fn close(&mut self, product: u64) {
        let negative_inverse = number::inverse_of_word(product).wrapping_neg();
        self.groups.push(Group { product, negative_inverse, end: self.primes.len() });
    }

    /// Whether no prime of the sieve divides the number.
    ///
    /// The time tells how far a number gets, and of one that passes nothing.
    pub(super) fn passes(&self, number: &[u64]) -> bool {
        let words: Zeroizing<Vec<u64>> = number::words(number);
        let mut start = 0;
        for groups in self.groups.chunks(AT_ONCE) {
            let mut rests = [0; AT_ONCE];
            for &word in words.iter() {
                for (rest, group) in rests.iter_mut().zip(groups) {
                    *rest = group.next(*rest, word);
                }
            }
            for (rest, group) in rests.iter().zip(groups) {
                let primes = &self.primes[start..group.end];
                // A multiple of an odd number, times its inverse, is the quotient; what is none gives something
                // greater.
                if primes.iter().any(|prime| rest.wrapping_mul(prime.inverse) <= prime.most) {
                    return false;
                }
                start = group.end;
            }
        }
        true
    }
}

impl Group {
    /// The sum of what comes from the lower words and a word, divided by 2^64 modulo the product. Of all words that is
    /// a word that the same primes divide as the number: the number times a power of 2^-64.
    #[inline]
    fn next(&self, rest: u64, word: u64) -> u64 {
        let (sum, carry) = rest.overflowing_add(word);
        let quotient = sum.wrapping_mul(self.negative_inverse);
        let product = u128::from(quotient) * u128::from(self.product) + u128::from(sum);
        // At most the product of the primes, and one more if the sum was above a word.
        (product >> 64) as u64 + u64::from(carry)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::digits::digits_from_bytes;

    #[test]
    fn finds_every_small_divisor() {
        let sieve = Sieve::shared();
        assert_eq!(sieve.primes.len(), 1899); // of the 1900 primes below 2^14
        let mut digits = vec![0; 21];
        let mut passes = |number: &BigUint| {
            digits_from_bytes(&number.to_bytes_be(), &mut digits);
            sieve.passes(&digits)
        };
        // 2^1279 - 1 is prime, and 2^1024 - 105 is the greatest prime of 1024 bits.
        let prime = (BigUint::from(1_u8) << 1024) - 105_u8;
        assert!(passes(&prime));
        let prime = prime >> 16;
        for n in (3_u32..1 << 14).step_by(2) {
            let product = (&prime | BigUint::from(1_u8)) * n;
            assert!(!passes(&product), "{n}");
        }
        // Products of primes just above the limit.
        assert!(passes(&(BigUint::from(16411_u32) * BigUint::from(16417_u32))));
        let random = lanelock_testkit::Rng::from_env("sieve");
        for i in 0..2000 {
            let mut bytes = random.fork(i).bytes(128);
            bytes[127] |= 1;
            let number = BigUint::from_bytes_be(&bytes);
            let has = (3_u32..1 << 14).step_by(2).any(|n| &number % n == BigUint::ZERO);
            assert_eq!(passes(&number), !has);
        }
    }
}
