//! Blocks as bit planes, and the steps of AES on them.

use super::s_box::{Planes, inv_sub_bytes, sub_bytes};
use crate::Block;

/// Transposes the 8x8 bit matrix whose row *i* is byte *i*: single bits of 2x2 squares are exchanged,
/// then 2x2 squares of 4x4 ones, then 4x4 ones.
fn transpose8(mut x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

/// Blocks to bit planes; blocks beyond `W` are zero.
#[inline(never)]
pub(super) fn slice<const W: usize>(blocks: &[Block; W]) -> Planes {
    let mut p = [0; 8];
    // Eight bytes have eight bits of each plane: after the transposition byte *b* is those of plane
    // *b*.
    for (i, half) in blocks.as_flattened().as_chunks::<8>().0.iter().enumerate() {
        let bits = transpose8(u64::from_le_bytes(*half)).to_le_bytes();
        for (plane, byte) in p.iter_mut().zip(bits) {
            *plane |= u64::from(byte) << (8 * i);
        }
    }
    p
}

/// Bit planes to blocks.
#[inline(never)]
pub(super) fn unslice<const W: usize>(p: &Planes) -> [Block; W] {
    let mut blocks = [[0; 16]; W];
    for (i, half) in blocks.as_flattened_mut().as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let bits = core::array::from_fn(|b| p[b].to_le_bytes()[i]);
        *half = transpose8(u64::from_le_bytes(bits)).to_le_bytes();
    }
    blocks
}

pub(super) fn add_key(p: &mut Planes, key: &Planes) {
    for (p, k) in p.iter_mut().zip(key) {
        *p ^= k;
    }
}

#[inline(never)]
pub(super) fn encrypt_round(p: &mut Planes, mix: bool, key: &Planes) {
    sub_bytes(p);
    for plane in p.iter_mut() {
        *plane = shift_rows(*plane);
    }
    if mix {
        mix_columns(p);
    }
    add_key(p, key);
}

#[inline(never)]
pub(super) fn decrypt_round(p: &mut Planes, mix: bool, key: &Planes) {
    for plane in p.iter_mut() {
        *plane = inv_shift_rows(*plane);
    }
    inv_sub_bytes(p);
    if mix {
        inv_mix_columns(p);
    }
    add_key(p, key);
}

/// Rotates every 16-bit group of `x` right by `n` bits: columns of one block by `n` / 4.
fn rotate_columns(x: u64, n: u32) -> u64 {
    let low = u64::from(0xffff_u16 >> n) * 0x0001_0001_0001_0001;
    ((x >> n) & low) | ((x << (16 - n)) & !low)
}

/// Row *r* of the state is bits *r* mod 4; it moves left by *r* columns.
fn shift_rows(x: u64) -> u64 {
    (x & 0x1111_1111_1111_1111)
        | rotate_columns(x & 0x2222_2222_2222_2222, 4)
        | rotate_columns(x & 0x4444_4444_4444_4444, 8)
        | rotate_columns(x & 0x8888_8888_8888_8888, 12)
}

fn inv_shift_rows(x: u64) -> u64 {
    (x & 0x1111_1111_1111_1111)
        | rotate_columns(x & 0x2222_2222_2222_2222, 12)
        | rotate_columns(x & 0x4444_4444_4444_4444, 8)
        | rotate_columns(x & 0x8888_8888_8888_8888, 4)
}

/// The byte below in the same column: row *r* takes row *r* + 1.
fn down1(x: u64) -> u64 {
    ((x >> 1) & 0x7777_7777_7777_7777) | ((x & 0x1111_1111_1111_1111) << 3)
}

/// The byte two below in the same column.
fn down2(x: u64) -> u64 {
    ((x >> 2) & 0x3333_3333_3333_3333) | ((x & 0x3333_3333_3333_3333) << 2)
}

/// Multiplies every byte by 2 in GF(2^8), modulus x^8 + x^4 + x^3 + x + 1.
fn double(p: &Planes) -> Planes {
    let [a, b, c, d, e, f, g, h] = *p;
    [h, a ^ h, b, c ^ h, d ^ h, e, f, g]
}

/// 2a + 3b + c + d for each column, as 2(a + b) + b + (c + d).
fn mix_columns(p: &mut Planes) {
    let below: Planes = core::array::from_fn(|i| down1(p[i]));
    let pair: Planes = core::array::from_fn(|i| p[i] ^ below[i]);
    let doubled = double(&pair);
    for i in 0..8 {
        p[i] = doubled[i] ^ below[i] ^ down2(pair[i]);
    }
}

/// `MixColumns` after multiplying the columns by 4y^2 + 5 (FIPS 197, 5.3.3, factored).
pub(super) fn inv_mix_columns(p: &mut Planes) {
    // a + 4 * (a + a''), with a'' two below: the product of a column by 4y^2 + 5.
    let pair: Planes = core::array::from_fn(|i| p[i] ^ down2(p[i]));
    let four = double(&double(&pair));
    for i in 0..8 {
        p[i] ^= four[i];
    }
    mix_columns(p);
}

/// The key expansion of FIPS 197, 5.2.
#[inline(never)]
pub(super) fn expand<const R: usize>(key: &[u8], keys: &mut [Block; R]) {
    let words = keys.as_flattened_mut().as_chunks_mut::<4>().0;
    let (first, _) = key.as_chunks::<4>();
    let key_words = first.len();
    words[..key_words].copy_from_slice(first);
    let mut round_constant = 1_u8;
    for i in key_words..words.len() {
        let mut word = words[i - 1];
        if i % key_words == 0 {
            word.rotate_left(1);
            word = sub_word(word);
            word[0] ^= round_constant;
            round_constant =
                (round_constant << 1) ^ if round_constant & 0x80 != 0 { 0x1b } else { 0 };
        } else if key_words == 8 && i % key_words == 4 {
            word = sub_word(word);
        }
        let before = words[i - key_words];
        words[i] = core::array::from_fn(|b| word[b] ^ before[b]);
    }
}

/// SubWord: the S-box on four bytes.
pub(super) fn sub_word(word: [u8; 4]) -> [u8; 4] {
    let mut p = slice(&[core::array::from_fn(|i| word[i % 4])]);
    sub_bytes(&mut p);
    let [[a, b, c, d, ..]] = unslice::<1>(&p);
    [a, b, c, d]
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test input")]
pub(super) mod tests {
    use super::*;

    /// Multiplication in GF(2^8), by the definition (FIPS 197, 4.2).
    pub(in super::super) fn multiply(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b != 0 {
            if b & 1 != 0 {
                product ^= a;
            }
            a = (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 };
            b >>= 1;
        }
        product
    }

    pub(in super::super) fn on_bytes(f: impl Fn(&mut Planes), bytes: [Block; 4]) -> [Block; 4] {
        let mut p = slice(&bytes);
        f(&mut p);
        unslice(&p)
    }

    #[test]
    fn linear_layers_are_their_definitions() {
        let input: [Block; 4] =
            core::array::from_fn(|i| core::array::from_fn(|j| (i * 53 + j * 29 + 7) as u8));
        let rows = on_bytes(|p| p.iter_mut().for_each(|x| *x = shift_rows(*x)), input);
        let mixed = on_bytes(mix_columns, input);
        for block in 0..4 {
            for column in 0..4 {
                for row in 0..4 {
                    let at = |r: usize| input[block][4 * column + (row + r) % 4];
                    assert_eq!(
                        rows[block][4 * column + row],
                        input[block][4 * ((column + row) % 4) + row]
                    );
                    assert_eq!(
                        mixed[block][4 * column + row],
                        multiply(at(0), 2) ^ multiply(at(1), 3) ^ at(2) ^ at(3)
                    );
                }
            }
        }
        assert_eq!(on_bytes(inv_mix_columns, mixed), input);
        assert_eq!(on_bytes(|p| p.iter_mut().for_each(|x| *x = inv_shift_rows(*x)), rows), input);
    }
}
