//! Numbers as digits of 52 bits: from and to bytes, into lanes and out of them.

use alloc::vec::Vec;
use lanelock_isa::{Limbs, MOST_LIMBS};
use zeroize::Zeroizing;

/// Bits of a digit.
pub(crate) const DIGIT_BITS: usize = 52;
/// The same for shifts.
pub(crate) const DIGIT_SHIFT: u32 = 52;
/// The bits of a digit.
pub(crate) const DIGIT: u64 = (1 << DIGIT_BITS) - 1;

/// A number in digits, the lowest first; wiped when dropped.
pub(crate) type Digits = Zeroizing<Vec<u64>>;

/// The digits of a big-endian number; the rest of `digits` is zero. The number has to fit.
pub(crate) fn digits_from_bytes(bytes: &[u8], digits: &mut [u64]) {
    digits.fill(0);
    for (i, &byte) in bytes.iter().rev().enumerate() {
        let (digit, shift) = (8 * i / DIGIT_BITS, 8 * i % DIGIT_BITS);
        if digit >= digits.len() {
            debug_assert_eq!(byte, 0);
            continue;
        }
        digits[digit] |= u64::from(byte) << shift & DIGIT;
        if shift > DIGIT_BITS - 8 && digit + 1 < digits.len() {
            digits[digit + 1] |= u64::from(byte) >> (DIGIT_BITS - shift);
        }
    }
}

/// The number as big-endian bytes, which have to have room for it.
#[expect(clippy::cast_possible_truncation, reason = "a byte of a digit")]
pub(crate) fn digits_to_bytes(digits: &[u64], bytes: &mut [u8]) {
    for (i, byte) in bytes.iter_mut().rev().enumerate() {
        let (digit, shift) = (8 * i / DIGIT_BITS, 8 * i % DIGIT_BITS);
        let at = |digit: usize| digits.get(digit).copied().unwrap_or(0);
        *byte = (at(digit) >> shift) as u8;
        if shift > DIGIT_BITS - 8 {
            *byte |= (at(digit + 1) << (DIGIT_BITS - shift)) as u8;
        }
    }
}

/// Bits of a number in words of 64 bits, the lowest first.
pub(crate) fn bits_of(words: &[u64]) -> usize {
    let Some(last) = words.iter().rposition(|&word| word != 0) else { return 0 };
    64 * last + 64 - words[last].leading_zeros() as usize
}

/// Numbers of the lanes as vectors: digit `j` of each in vector `j`, zero above their ends.
#[inline(always)]
pub(crate) fn gather<S: Limbs>(s: S, numbers: &[&[u64]; MOST_LIMBS], vectors: &mut [S::V]) {
    for (j, vector) in vectors.iter_mut().enumerate() {
        let mut words = [0; MOST_LIMBS];
        for lane in 0..S::LANES {
            words[lane] = numbers[lane].get(j).copied().unwrap_or(0);
        }
        *vector = s.load(&words);
    }
}

/// The numbers of the first lanes.
#[inline(always)]
pub(crate) fn scatter<S: Limbs>(s: S, vectors: &[S::V], numbers: &mut [Digits]) {
    let mut words = [0; MOST_LIMBS];
    for (j, &vector) in vectors.iter().enumerate() {
        s.store(vector, &mut words);
        for (number, &word) in numbers.iter_mut().zip(&words) {
            number[j] = word;
        }
    }
    zeroize::Zeroize::zeroize(&mut words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits() {
        let mut rng = lanelock_testkit::Rng::from_env("digits");
        for length in 1..40 {
            let bytes = rng.bytes(length);
            let number = num_bigint::BigUint::from_bytes_be(&bytes);
            let mut digits = vec![0; (8 * length).div_ceil(DIGIT_BITS)];
            digits_from_bytes(&bytes, &mut digits);
            for (j, &digit) in digits.iter().enumerate() {
                let expected: num_bigint::BigUint =
                    (&number >> (DIGIT_BITS * j)) & num_bigint::BigUint::from(DIGIT);
                assert_eq!(num_bigint::BigUint::from(digit), expected);
            }
            let mut back = vec![0; length];
            digits_to_bytes(&digits, &mut back);
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn zeros_before_a_number() {
        let mut digits = [1; 2];
        digits_from_bytes(&[&[0; 30][..], &[9, 7]].concat(), &mut digits);
        assert_eq!(digits, [0x907, 0]);
    }
}
