//! 128-bit leaves: one block a vector, 16 registers (`xmm0` to `xmm15`; 32 where the caller has
//! AVX-512).
//!
//! What works on lanes is trivial here: a vector has one.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_aesdec_si128, _mm_aesdeclast_si128,
    _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aesimc_si128, _mm_and_si128, _mm_bslli_si128,
    _mm_bsrli_si128, _mm_clmulepi64_si128, _mm_cmpgt_epi8, _mm_cvtsi32_si128, _mm_loadu_si128,
    _mm_set_epi32, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi32, _mm_setr_epi8, _mm_setzero_si128,
    _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_sll_epi64, _mm_srai_epi32, _mm_srl_epi64,
    _mm_storeu_si128, _mm_xor_si128,
};

use crate::Block;

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn load(src: &[Block; 1]) -> __m128i {
    // SAFETY: the reference covers the 16 bytes read.
    unsafe { _mm_loadu_si128(src.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn store(v: __m128i, dst: &mut [Block; 1]) {
    // SAFETY: the reference covers the 16 bytes written.
    unsafe { _mm_storeu_si128(dst.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn gather([block]: [&Block; 1]) -> __m128i {
    load(core::array::from_ref(block))
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn join([v]: [__m128i; 1]) -> __m128i {
    v
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn split(v: __m128i) -> [__m128i; 1] {
    [v]
}

/// Rows and columns exchanged: block *j* of vector *i* becomes block *i* of vector *j*.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn turn(v: [__m128i; 1]) -> [__m128i; 1] {
    v
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn sums([v]: [__m128i; 1]) -> __m128i {
    v
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn splat(block: &Block) -> __m128i {
    gather([block])
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn with_lane(_: __m128i, _: usize, block: &Block) -> __m128i {
    splat(block)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn xor(a: __m128i, b: __m128i) -> __m128i {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn shift_in(before: __m128i, _: __m128i) -> __m128i {
    // With one lane the block before is the whole vector before.
    before
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn counters(first: &Block) -> __m128i {
    reverse(gather([first]))
}

#[inline]
#[target_feature(enable = "sse4.1")]
#[expect(clippy::cast_possible_wrap, reason = "the addition is modulo 2^64")]
pub(super) fn counters_add(c: __m128i, n: u64) -> __m128i {
    _mm_add_epi64(c, _mm_set_epi64x(0, n as i64))
}

/// The 16 bytes in reverse order.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn reverse(v: __m128i) -> __m128i {
    _mm_shuffle_epi8(v, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
}

#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn aesenc(v: __m128i, k: __m128i) -> __m128i {
    _mm_aesenc_si128(v, k)
}

#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn aesenclast(v: __m128i, k: __m128i) -> __m128i {
    _mm_aesenclast_si128(v, k)
}

#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn aesdec(v: __m128i, k: __m128i) -> __m128i {
    _mm_aesdec_si128(v, k)
}

#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn aesdeclast(v: __m128i, k: __m128i) -> __m128i {
    _mm_aesdeclast_si128(v, k)
}

#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn inv_mix_columns(block: &Block) -> Block {
    let mut result = [[0; 16]];
    store(_mm_aesimc_si128(gather([block])), &mut result);
    result[0]
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn zero() -> __m128i {
    _mm_setzero_si128()
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn in_first_lane(v: __m128i) -> __m128i {
    v
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn sum_lanes(v: __m128i) -> __m128i {
    v
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn and(a: __m128i, b: __m128i) -> __m128i {
    _mm_and_si128(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn add_words(a: __m128i, b: __m128i) -> __m128i {
    _mm_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn swap_halves(v: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0x4e>(v)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn bytes_up<const N: i32>(v: __m128i) -> __m128i {
    _mm_bslli_si128::<N>(v)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn bytes_down<const N: i32>(v: __m128i) -> __m128i {
    _mm_bsrli_si128::<N>(v)
}

#[inline]
#[target_feature(enable = "sse4.1")]
#[expect(clippy::cast_possible_wrap, reason = "a count of bits")]
pub(super) fn shift_left<const N: u32>(v: __m128i) -> __m128i {
    _mm_sll_epi64(v, _mm_cvtsi32_si128(N as i32))
}

#[inline]
#[target_feature(enable = "sse4.1")]
#[expect(clippy::cast_possible_wrap, reason = "a count of bits")]
pub(super) fn shift_right<const N: u32>(v: __m128i) -> __m128i {
    _mm_srl_epi64(v, _mm_cvtsi32_si128(N as i32))
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn shift_left_by(v: __m128i, counts: __m128i) -> __m128i {
    _mm_sll_epi64(v, counts)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn shift_right_by(v: __m128i, counts: __m128i) -> __m128i {
    _mm_srl_epi64(v, counts)
}

// The immediate chooses half *i* of `a` and half *j* of `b`: *i* + 16 * *j*.

#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn clmul_low(a: __m128i, b: __m128i) -> __m128i {
    _mm_clmulepi64_si128::<0x00>(a, b)
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn clmul_high(a: __m128i, b: __m128i) -> __m128i {
    _mm_clmulepi64_si128::<0x11>(a, b)
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn clmul_low_high(a: __m128i, b: __m128i) -> __m128i {
    _mm_clmulepi64_si128::<0x10>(a, b)
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn clmul_high_low(a: __m128i, b: __m128i) -> __m128i {
    _mm_clmulepi64_si128::<0x01>(a, b)
}

/// SubWord of the last word in all words, with RotWord and the round constant if `ROTATE`.
#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn sub_last_words<const ROTATE: bool>(k: __m128i, constant: u8) -> __m128i {
    // The order of bytes for all four words: 13, 14, 15, 12 (RotWord) or 12 to 15. All columns of the
    // state being equal, ShiftRows does nothing; AESENCLAST has no MixColumns: SubBytes is left.
    let order = if ROTATE { 0x0c0f_0e0d } else { 0x0f0e_0d0c };
    let words = _mm_shuffle_epi8(k, _mm_set1_epi32(order));
    _mm_aesenclast_si128(words, _mm_set1_epi32(if ROTATE { constant.into() } else { 0 }))
}

#[inline]
#[target_feature(enable = "sse4.1")]
#[expect(clippy::cast_possible_truncation, reason = "at most 16")]
pub(super) fn keep(v: __m128i, bytes: usize) -> __m128i {
    // Byte *i* stays where `bytes` > *i*: a comparison, so no branch and no table depends on `bytes`.
    let count = _mm_set1_epi8(bytes.min(16) as i8);
    let place = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm_and_si128(v, _mm_cmpgt_epi8(count, place))
}

#[inline]
#[target_feature(enable = "sse4.1")]
#[expect(clippy::cast_possible_wrap, reason = "bits are bits")]
pub(super) fn splat_halves(low: u64, high: u64) -> __m128i {
    _mm_set_epi64x(high as i64, low as i64)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn splat_narrow(v: __m128i) -> __m128i {
    v
}

/// In software: this level has no GFNI.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn times_matrix(v: __m128i, matrix: __m128i) -> __m128i {
    let (mut blocks, mut matrices) = ([[0; 16]; 1], [[0; 16]; 1]);
    store(v, &mut blocks);
    store(matrix, &mut matrices);
    for (block, matrix) in blocks.iter_mut().zip(&matrices) {
        *block = crate::matrix::times_matrix(block, matrix);
    }
    load(&blocks)
}

/// `v` through an empty `asm!` that has a register as operand: see
/// [`Blocks::here`](crate::Blocks::here).
#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn here(mut v: __m128i) -> __m128i {
    // SAFETY: assembly without instructions does nothing.
    unsafe {
        // Not `pure`, so it is kept and in order; `nomem`, so loads and stores may move across it.
        core::arch::asm!(
            "/* {0} */", inout(xmm_reg) v, options(nomem, nostack, preserves_flags)
        );
    }
    v
}

/// The highest word in the lowest, and that of the low half in the lowest of the high half: their
/// highest bits are what a doubling carries over.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn carries(v: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0x13>(v)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn double(v: __m128i, carries: &mut __m128i) -> __m128i {
    // v * x = (v << 1) ^ (0x87 if bit 127 was set), where the shift of two halves by addition loses
    // bit
    // 63. The arithmetic shift makes the highest bit of a word a mask: of bit 127 for 0x87 in the low
    // half, of bit 63 for a 1 in the high half. In a chain of doublings the next bits to leave the
    // halves are the next lower ones of the first block: `carries` moves up by one, and no doubling
    // needs a shuffle of the block just made. A word has 32 such bits, and reductions change lower
    // ones only.
    let carry = _mm_srai_epi32::<31>(*carries);
    *carries = _mm_add_epi32(*carries, *carries);
    let fold = _mm_set_epi32(0, 1, 0, 0x87);
    _mm_xor_si128(_mm_add_epi64(v, v), _mm_and_si128(carry, fold))
}
