//! 128-bit leaves: one block a vector.

use core::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_aesdec_si128, _mm_aesdeclast_si128, _mm_aesenc_si128,
    _mm_aesenclast_si128, _mm_aesimc_si128, _mm_loadu_si128, _mm_set_epi64x, _mm_setr_epi8,
    _mm_setzero_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm_xor_si128,
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
pub(super) fn store_one(v: __m128i, dst: &mut Block) {
    store(v, core::array::from_mut(dst));
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn gather([block]: [&Block; 1]) -> __m128i {
    load(core::array::from_ref(block))
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn split(v: __m128i) -> [__m128i; 1] {
    [v]
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn broadcast(block: &Block) -> __m128i {
    gather([block])
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn xor(a: __m128i, b: __m128i) -> __m128i {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn shift_in(before: __m128i, _: __m128i) -> __m128i {
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

/// `SubBytes` by AESENCLAST with a zero key, after the inverse of its `ShiftRows` (S. Gueron: no
/// AESKEYGENASSIST, which is slow microcode on many processors).
#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn sub_words(words: &Block) -> Block {
    let unshift = _mm_setr_epi8(0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3);
    let shifted = _mm_shuffle_epi8(gather([words]), unshift);
    let mut result = [[0; 16]];
    store(_mm_aesenclast_si128(shifted, _mm_setzero_si128()), &mut result);
    result[0]
}

#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn inv_mix_columns(block: &Block) -> Block {
    let mut result = [[0; 16]];
    store(_mm_aesimc_si128(gather([block])), &mut result);
    result[0]
}
