//! What both methods are tried on: code that leaks, as it is written by mistake, and code that does not.

use std::{array, hint::black_box};

/// Compares tags and stops at the first byte that differs.
#[inline(never)]
pub(crate) fn compare_until_different(expected: &[u8; 16], tag: &[u8; 16]) -> bool {
    // Without the black box, the compiler would compare all bytes at once.
    expected.iter().zip(tag).all(|(a, b)| black_box(a == b))
}

/// Substitutes bytes by a table, each depending on the one before: as AES with tables does.
#[inline(never)]
pub(crate) fn look_up(table: &[u32; 256], secret: &[u8; 16]) -> u32 {
    secret.iter().fold(0, |sum, &byte| {
        let [low, ..] = sum.to_le_bytes();
        table[usize::from(low ^ byte)]
    })
}

/// A table whose entries do not move the next look-up: the same bytes look up the same place.
pub(crate) fn table() -> [u32; 256] {
    array::from_fn(|at| u32::try_from(at).unwrap_or_default() << 8)
}

/// Does more if the lowest bit of a key is set.
#[inline(never)]
pub(crate) fn branch_on_bit(key: &[u8; 16]) -> u32 {
    let bits = |key: &[u8; 16]| key.iter().map(|byte| byte.count_ones()).sum();
    if key[0] & 1 == 1 { bits(black_box(key)) } else { 0 }
}

/// Multiplies once more for each bit of a scalar that is set: as a ladder does that was not written with care.
#[inline(never)]
pub(crate) fn multiply_where_set(scalar: &[u8; 32]) -> u64 {
    let bits = scalar.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
    bits.fold(3, |power: u64, bit| {
        let square = black_box(power.wrapping_mul(power));
        if bit == 1 { black_box(square.wrapping_mul(3)) } else { square }
    })
}

/// Compares tags as it should be done: the control. The result is secret.
#[inline(never)]
pub(crate) fn compare_all(expected: &[u8; 16], tag: &[u8; 16]) -> u8 {
    expected.iter().zip(tag).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)))
}
