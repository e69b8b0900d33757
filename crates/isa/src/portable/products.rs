//! Carry-less products without an instruction for them, in constant time.

use crate::Block;

pub(super) fn from_halves([low, high]: [u64; 2]) -> Block {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

/// The carry-less product. Its high half is the low half of the product of the reversed factors,
/// reversed.
pub(super) fn clmul(a: u64, b: u64) -> Block {
    // Reversing both factors reverses the 127 bits of the product; one shift aligns them.
    let high = clmul_low_half(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    from_halves([clmul_low_half(a, b), high])
}

/// The low half of the carry-less product, in constant time: ordinary products of numbers with every
/// fourth bit, where carries cannot reach the next such bit below bit 64 (T. Pornin, BearSSL).
fn clmul_low_half(a: u64, b: u64) -> u64 {
    // Bits at places that are equal modulo 4: in an integer product of two such numbers each place
    // of the same kind gets a sum of at most 16 ones, of which the lowest bit is the exclusive or.
    // The sum needs five bits only at the top place (16 ones), whose carry leaves the 64 bits.
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let mut product = 0;
    for k in 0..4 {
        let mut sum = 0;
        for i in 0..4 {
            // Places i and j of the factors meet at i + j = k modulo 4.
            let j = (k + 4 - i) % 4;
            sum ^= (a & (EVERY_FOURTH << i)).wrapping_mul(b & (EVERY_FOURTH << j));
        }
        product |= sum & (EVERY_FOURTH << k);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_their_definition() {
        let mut a = 0x0123_4567_89ab_cdef_u64;
        let mut b = u64::MAX;
        for _ in 0..500 {
            let expected =
                (0..64).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ (u128::from(a) << i));
            assert_eq!(clmul(a, b), expected.to_le_bytes(), "{a:#x} * {b:#x}");
            (a, b) = (b.rotate_left(7) ^ a, a.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }
}
