//! What single numbers need beside the products of the lanes: comparisons, sums, remainders, inverses.
//!
//! Numbers are digits of 52 bits, the lowest first. But for [`inverse_of_public`], no branch and no address depends
//! on their values.

use alloc::{vec, vec::Vec};
use core::hint::black_box;
use lanelock_core::parts::passed;
use zeroize::Zeroizing;

use crate::digits::{DIGIT, DIGIT_BITS, Digits};

/// A number of `count` digits, zero.
pub(super) fn zero(count: usize) -> Digits {
    Zeroizing::new(vec![0; count])
}

/// The number with another count of digits, which has to have room for it.
pub(super) fn resized(number: &[u64], count: usize) -> Digits {
    debug_assert!(number.iter().skip(count).all(|&digit| digit == 0));
    let mut digits = zero(count);
    for (digit, &from) in digits.iter_mut().zip(number) {
        *digit = from;
    }
    digits
}

/// All ones if `a` < `b`, else zero; the shorter one is followed by zeros.
pub(super) fn less(a: &[u64], b: &[u64]) -> u64 {
    let mut borrow = 0_u64;
    for j in 0..a.len().max(b.len()) {
        let at = |number: &[u64]| number.get(j).copied().unwrap_or(0);
        borrow = at(a).wrapping_sub(at(b)).wrapping_sub(borrow) >> 63;
    }
    black_box(borrow).wrapping_neg()
}

/// Whether the numbers are the same, which may be known.
pub(super) fn is_equal(a: &[u64], b: &[u64]) -> bool {
    let mut difference = 0;
    for j in 0..a.len().max(b.len()) {
        let at = |number: &[u64]| number.get(j).copied().unwrap_or(0);
        difference |= at(a) ^ at(b);
    }
    passed((black_box(difference | difference.wrapping_neg()) >> 63) ^ 1)
}

/// Whether `a` is less than `b`, which may be known.
pub(super) fn is_less(a: &[u64], b: &[u64]) -> bool {
    passed(less(a, b))
}

/// `a` += `b`, which has to fit.
pub(super) fn add(a: &mut [u64], b: &[u64]) {
    let mut carry = 0;
    for (j, a) in a.iter_mut().enumerate() {
        let sum = *a + b.get(j).copied().unwrap_or(0) + carry;
        carry = sum >> DIGIT_BITS;
        *a = sum & DIGIT;
    }
    debug_assert_eq!(carry, 0);
}

/// `a` -= `b`, modulo 2 to the power of the bits of `a`'s digits.
pub(super) fn subtract(a: &mut [u64], b: &[u64]) {
    let mut borrow = 0;
    for (j, a) in a.iter_mut().enumerate() {
        let difference = a.wrapping_sub(b.get(j).copied().unwrap_or(0)).wrapping_sub(borrow);
        borrow = difference >> 63;
        *a = difference & DIGIT;
    }
}

/// `a` -= `b` where `a` is not below it; all ones if it is.
fn subtract_once(a: &mut [u64], b: &[u64]) -> u64 {
    let is_less = less(a, b);
    subtract_where(!is_less, a, b);
    is_less
}

/// `a` * `b`, in as many digits as both have.
pub(super) fn multiply(a: &[u64], b: &[u64]) -> Digits {
    let mut product = zero(a.len() + b.len());
    for (i, &a) in a.iter().enumerate() {
        let mut carry = 0_u128;
        for (j, &b) in b.iter().enumerate() {
            let sum = u128::from(a) * u128::from(b) + u128::from(product[i + j]) + carry;
            product[i + j] = low(sum);
            carry = sum >> DIGIT_BITS;
        }
        product[i + b.len()] = low(carry);
    }
    product
}

/// The quotient and the remainder of `a` by `m`, bit by bit.
pub(super) fn divide(a: &[u64], m: &[u64]) -> (Digits, Digits) {
    let (mut quotient, mut rest) = (zero(a.len()), zero(m.len() + 1));
    for (quotient, &digit) in quotient.iter_mut().zip(a).rev() {
        for bit in (0..DIGIT_BITS).rev() {
            let mut carry = digit >> bit & 1;
            for rest in rest.iter_mut() {
                let twice = *rest << 1 | carry;
                carry = twice >> DIGIT_BITS;
                *rest = twice & DIGIT;
            }
            let is_less = subtract_once(&mut rest, m);
            *quotient |= (1 & !is_less) << bit;
        }
    }
    (quotient, resized(&rest, m.len()))
}

/// The remainder of `a` by `m`.
pub(super) fn remainder(a: &[u64], m: &[u64]) -> Digits {
    divide(a, m).1
}

/// The greatest common divisor of numbers of at most `bits` bits, by halves and differences.
pub(super) fn greatest_common_divisor(a: &[u64], b: &[u64], bits: usize) -> Digits {
    let (mut a, mut b) = (resized(a, a.len()), resized(b, a.len()));
    let mut zeros = 0;
    // Each step halves one of them, or both.
    for _ in 0..2 * bits {
        let (a_odd, b_odd) = (mask_of(a[0] & 1), mask_of(b[0] & 1));
        let (both, a_less) = (a_odd & b_odd, less(&a, &b));
        let (from_a, from_b) = (both & !a_less, both & a_less);
        subtract_where(from_a, &mut a, &b);
        subtract_where(from_b, &mut b, &a);
        let (a_odd, b_odd) = (mask_of(a[0] & 1), mask_of(b[0] & 1));
        // Both are even at the beginning alone: one of the factors that they share.
        zeros += 1 & !a_odd & !b_odd & !both;
        halve_where(!a_odd, &mut a);
        halve_where(!b_odd, &mut b);
    }
    // One is zero now, and the other the odd part.
    for (a, b) in a.iter_mut().zip(b.iter()) {
        *a |= b;
    }
    for step in 0..2 * bits as u64 {
        let double = !mask_of(less_word(step, zeros) ^ 1);
        let mut carry = 0;
        for a in a.iter_mut() {
            let twice = (*a << 1 | carry) & double | *a & !double;
            carry = twice >> DIGIT_BITS & double;
            *a = twice & DIGIT;
        }
    }
    a
}

/// All ones of 1, zero of 0.
fn mask_of(bit: u64) -> u64 {
    black_box(bit).wrapping_neg()
}

/// 1 if `a` < `b`, both below 2^63.
fn less_word(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) >> 63
}

/// `a` -= `b` where the mask has ones.
fn subtract_where(mask: u64, a: &mut [u64], b: &[u64]) {
    let mut borrow = 0;
    for (j, a) in a.iter_mut().enumerate() {
        let b = b.get(j).copied().unwrap_or(0) & mask;
        let difference = a.wrapping_sub(b).wrapping_sub(borrow);
        borrow = difference >> 63;
        *a = difference & DIGIT;
    }
}

/// Exchanges numbers of one length where the mask has ones.
pub(super) fn swap_where(mask: u64, a: &mut [u64], b: &mut [u64]) {
    for (a, b) in a.iter_mut().zip(b) {
        let difference = (*a ^ *b) & mask;
        *a ^= difference;
        *b ^= difference;
    }
}

/// `a` /= 2 where the mask has ones.
fn halve_where(mask: u64, a: &mut [u64]) {
    for j in 0..a.len() {
        let above = a.get(j + 1).copied().unwrap_or(0);
        let half = a[j] >> 1 | (above & 1) << (DIGIT_BITS - 1);
        a[j] = half & mask | a[j] & !mask;
    }
}

/// The number as words of 64 bits.
pub(super) fn words(number: &[u64]) -> Zeroizing<Vec<u64>> {
    let mut words = Zeroizing::new(vec![0; (DIGIT_BITS * number.len()).div_ceil(64)]);
    for (j, &digit) in number.iter().enumerate() {
        let (word, shift) = (DIGIT_BITS * j / 64, DIGIT_BITS * j % 64);
        words[word] |= digit << shift;
        if shift > 64 - DIGIT_BITS {
            words[word + 1] |= digit >> (64 - shift);
        }
    }
    words
}

#[expect(clippy::cast_possible_truncation, reason = "a digit of a sum")]
fn low(sum: u128) -> u64 {
    sum as u64 & DIGIT
}

/// The inverse of `number` modulo the odd `modulus`, both of which may be known: the time depends on them.
///
/// By divsteps (D. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and modular inversion", 2019) with as
/// many zeros at once as there are. `None` if there is no inverse.
pub(super) fn inverse_of_public(number: &[u64], modulus: &[u64]) -> Option<Vec<u64>> {
    let m = limbs(modulus);
    let length = m.len();
    let inverse = inverse_of_word(m[0].cast_unsigned());
    let (mut f, mut g) = (m.clone(), limbs(number));
    g.resize(length, 0);
    let (mut d, mut e) = (vec![0_i64; length], vec![0_i64; length]);
    e[0] = 1;
    let mut eta = -1;
    let mut used = length;
    while g[..used].iter().any(|&limb| limb != 0) {
        let steps = divsteps(&mut eta, f[0].cast_unsigned(), g[0].cast_unsigned());
        steps.update_inverse(&mut d, &mut e, &m, inverse);
        steps.update(&mut f[..used], &mut g[..used]);
        let (top, under) = (used - 1, used.wrapping_sub(2));
        let is_sign = |limb: i64| limb == limb >> 63;
        if used > 1 && is_sign(f[top]) && is_sign(g[top]) {
            f[under] |= f[top] << LIMB_BITS;
            g[under] |= g[top] << LIMB_BITS;
            used -= 1;
        }
    }
    // f is the greatest common divisor or its negative, and d times the number is f.
    let (f, is_negative) = (&f[..used], f[used - 1] < 0);
    let (sign, rest) = if is_negative { (-1, LIMB) } else { (0, 0) };
    let unit = match f {
        [only] => *only == 2 * sign + 1,
        [first, middle @ .., top] => {
            *first == (2 * sign + 1) & LIMB
                && middle.iter().all(|&limb| limb == rest)
                && *top == sign
        }
        [] => false,
    };
    if !unit {
        return None;
    }
    if is_negative {
        negate(&mut d);
    }
    while d[length - 1] < 0 {
        add_limbs(&mut d, &m);
    }
    let mut digits = vec![0; modulus.len()];
    for (j, digit) in digits.iter_mut().enumerate() {
        let (limb, shift) = (DIGIT_BITS * j / LIMB_BITS, DIGIT_BITS * j % LIMB_BITS);
        let at = |limb: usize| d.get(limb).copied().unwrap_or(0).cast_unsigned();
        *digit = at(limb) >> shift;
        if shift > LIMB_BITS - DIGIT_BITS {
            *digit |= at(limb + 1) << (LIMB_BITS - shift);
        }
        *digit &= DIGIT;
    }
    let mut digits = Zeroizing::new(digits);
    let _ = subtract_once(&mut digits, modulus);
    Some(digits.to_vec())
}

/// How many divsteps are done at once.
const STEPS: u32 = 62;
/// Bits of limbs: as many.
const LIMB_BITS: usize = STEPS as usize;
const LIMB: i64 = (1 << LIMB_BITS) - 1;

/// The number in limbs, the highest of which has a sign.
fn limbs(number: &[u64]) -> Vec<i64> {
    let mut limbs = vec![0_i64; DIGIT_BITS * number.len() / LIMB_BITS + 1];
    for (j, &digit) in number.iter().enumerate() {
        let (limb, shift) = (DIGIT_BITS * j / LIMB_BITS, DIGIT_BITS * j % LIMB_BITS);
        limbs[limb] |= (digit << shift).cast_signed() & LIMB;
        if shift > LIMB_BITS - DIGIT_BITS {
            limbs[limb + 1] |= (digit >> (LIMB_BITS - shift)).cast_signed();
        }
    }
    limbs
}

/// 1/m modulo 2^64 of an odd m.
pub(super) fn inverse_of_word(m: u64) -> u64 {
    let mut inverse = m;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(inverse)));
    }
    inverse
}

fn negate(number: &mut [i64]) {
    let mut carry = 0;
    let top = number.len() - 1;
    for limb in &mut number[..top] {
        let negative = carry - *limb;
        carry = negative >> LIMB_BITS;
        *limb = negative & LIMB;
    }
    number[top] = carry - number[top];
}

fn add_limbs(number: &mut [i64], other: &[i64]) {
    let mut carry = 0;
    let top = number.len() - 1;
    for (limb, other) in number[..top].iter_mut().zip(other) {
        let sum = *limb + other + carry;
        carry = sum >> LIMB_BITS;
        *limb = sum & LIMB;
    }
    number[top] += other[top] + carry;
}

/// What 62 divsteps do: (f, g) becomes (u f + v g, q f + r g) / 2^62.
struct Steps {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

fn divsteps(eta: &mut i64, mut f: u64, mut g: u64) -> Steps {
    let (mut u, mut v, mut q, mut r) = (1_u64, 0_u64, 0_u64, 1_u64);
    let mut left = STEPS;
    loop {
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            break;
        }
        if *eta < 0 {
            *eta = -*eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // So much of f is added to g that as many of its low bits are zero as can be cancelled before the next
        // exchange, six at most.
        let limit = (*eta + 1).min(i64::from(left)).min(6);
        let mask = u64::MAX >> (64 - limit);
        let factor = f.wrapping_mul(g).wrapping_mul(f.wrapping_mul(f).wrapping_sub(2)) & mask;
        g = g.wrapping_add(f.wrapping_mul(factor));
        q = q.wrapping_add(u.wrapping_mul(factor));
        r = r.wrapping_add(v.wrapping_mul(factor));
    }
    Steps { u: u.cast_signed(), v: v.cast_signed(), q: q.cast_signed(), r: r.cast_signed() }
}

impl Steps {
    fn update(&self, f: &mut [i64], g: &mut [i64]) {
        let (mut f_sum, mut g_sum) = (0_i128, 0_i128);
        for j in 0..f.len() {
            f_sum += product(self.u, f[j]) + product(self.v, g[j]);
            g_sum += product(self.q, f[j]) + product(self.r, g[j]);
            if j > 0 {
                f[j - 1] = low_limb(f_sum);
                g[j - 1] = low_limb(g_sum);
            }
            f_sum >>= LIMB_BITS;
            g_sum >>= LIMB_BITS;
        }
        let top = f.len() - 1;
        f[top] = low_word(f_sum);
        g[top] = low_word(g_sum);
    }

    /// The same for the factors of the number that make f and g, modulo `m`; both stay between -2 m and m.
    fn update_inverse(&self, d: &mut [i64], e: &mut [i64], m: &[i64], inverse: u64) {
        let top = m.len() - 1;
        let (d_sign, e_sign) = (d[top] >> 63, e[top] >> 63);
        let mut d_factor = (self.u & d_sign) + (self.v & e_sign);
        let mut e_factor = (self.q & d_sign) + (self.r & e_sign);
        let (mut d_sum, mut e_sum) = (0_i128, 0_i128);
        for j in 0..m.len() {
            d_sum += product(self.u, d[j]) + product(self.v, e[j]);
            e_sum += product(self.q, d[j]) + product(self.r, e[j]);
            if j == 0 {
                let quotient = |sum: i128, factor: i64| {
                    inverse
                        .wrapping_mul(low_word(sum).cast_unsigned())
                        .wrapping_add(factor.cast_unsigned())
                        .cast_signed()
                        & LIMB
                };
                d_factor -= quotient(d_sum, d_factor);
                e_factor -= quotient(e_sum, e_factor);
            }
            d_sum += product(m[j], d_factor);
            e_sum += product(m[j], e_factor);
            if j > 0 {
                d[j - 1] = low_limb(d_sum);
                e[j - 1] = low_limb(e_sum);
            }
            d_sum >>= LIMB_BITS;
            e_sum >>= LIMB_BITS;
        }
        d[top] = low_word(d_sum);
        e[top] = low_word(e_sum);
    }
}

fn product(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

#[expect(clippy::cast_possible_truncation, reason = "a limb of a sum")]
fn low_limb(sum: i128) -> i64 {
    sum as i64 & LIMB
}

#[expect(clippy::cast_possible_truncation, reason = "the word that a sum fits")]
fn low_word(sum: i128) -> i64 {
    sum as i64
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::digits::{digits_from_bytes, digits_to_bytes};

    fn big(digits: &[u64]) -> BigUint {
        let mut bytes = vec![0; (DIGIT_BITS * digits.len()).div_ceil(8)];
        digits_to_bytes(digits, &mut bytes);
        BigUint::from_bytes_be(&bytes)
    }

    fn number(random: &mut lanelock_testkit::Rng, bits: usize) -> Digits {
        let mut bytes = random.bytes(bits.div_ceil(8));
        bytes[0] &= 0xff >> (8 * bytes.len() - bits);
        let mut digits = zero(bits.div_ceil(DIGIT_BITS) + 1);
        digits_from_bytes(&bytes, &mut digits);
        digits
    }

    fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        a
    }

    #[test]
    fn against_a_library() {
        let mut random = lanelock_testkit::Rng::from_env("numbers");
        for bits_of_m in [3, 52, 53, 61, 62, 63, 104, 124, 125, 300, 1024] {
            for _ in 0..20 {
                let mut m = number(&mut random, bits_of_m);
                m[0] |= 1;
                m[(bits_of_m - 1) / DIGIT_BITS] |= 1 << ((bits_of_m - 1) % DIGIT_BITS);
                let (a, b) = (number(&mut random, 2 * bits_of_m), number(&mut random, bits_of_m));
                let (big_a, big_b, big_m) = (big(&a), big(&b), big(&m));
                let mut swapped = [a.clone(), a.clone()];
                swapped[1][0] ^= 1;
                let [x, y] = &mut swapped;
                swap_where(0, x, y);
                assert_eq!(big(x), big_a);
                swap_where(u64::MAX, x, y);
                assert_eq!((x[0] ^ 1, big(y)), (y[0], big_a.clone()));
                assert_eq!(less(&b, &m) != 0, big_b < big_m);
                assert_eq!(less(&m, &m), 0);
                assert_eq!(is_equal(&a, &b), big_a == big_b);
                assert_eq!(big(&multiply(&a, &b)), &big_a * &big_b);
                let (quotient, rest) = divide(&a, &m);
                assert_eq!(big(&quotient), &big_a / &big_m);
                assert_eq!(big(&rest), &big_a % &big_m);
                for (b, shift) in [(&b, 0), (&b, 1), (&rest, 5)] {
                    let factor = [(b[0] | 1) << shift & 0xfff];
                    let (a, b) = (
                        multiply(&b[..b.len() - 1], &factor),
                        multiply(&rest[..rest.len() - 1], &factor),
                    );
                    let divisor = greatest_common_divisor(&a, &b, bits_of_m + 12);
                    assert_eq!(big(&divisor), gcd(big(&a), big(&b)));
                }
                let mut sum = resized(&rest, m.len() + 1);
                add(&mut sum, &m);
                assert_eq!(big(&sum), big(&rest) + &big_m);
                subtract(&mut sum, &rest);
                assert!(is_equal(&sum, &m));
                let bytes: Vec<u8> = words(&a).iter().flat_map(|word| word.to_le_bytes()).collect();
                assert_eq!(BigUint::from_bytes_le(&bytes), big_a);
                let inverse = inverse_of_public(&rest, &m).map(|inverse| big(&inverse));
                assert_eq!(inverse, big(&rest).modinv(&big_m), "{big_a} modulo {big_m}");
            }
        }
        assert_eq!(inverse_of_public(&[2], &[15]), Some(vec![8]));
        assert_eq!(inverse_of_public(&[3], &[15]), None);
        assert_eq!(inverse_of_public(&[0], &[15]), None);
        assert_eq!(inverse_of_public(&[14], &[15]), Some(vec![14]));
    }
}
