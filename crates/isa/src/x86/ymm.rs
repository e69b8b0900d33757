//! 256-bit leaves: two blocks a vector, 16 registers (`ymm0` to `ymm15`).
//!
//! AVX2 shuffles bytes within each 16-byte half only, which is what blocks need; `permute2x128` moves
//! whole blocks between the halves.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_set_epi64x, _mm_xor_si128,
    _mm256_add_epi32, _mm256_add_epi64, _mm256_aesdec_epi128, _mm256_aesdeclast_epi128,
    _mm256_aesenc_epi128, _mm256_aesenclast_epi128, _mm256_and_si256, _mm256_blend_epi32,
    _mm256_broadcastsi128_si256, _mm256_bslli_epi128, _mm256_bsrli_epi128, _mm256_castsi128_si256,
    _mm256_castsi256_si128, _mm256_clmulepi64_epi128, _mm256_cmpgt_epi8, _mm256_extracti128_si256,
    _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_permute2x128_si256, _mm256_set_epi32,
    _mm256_set_epi64x, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_sll_epi64, _mm256_sllv_epi64,
    _mm256_srai_epi32, _mm256_srl_epi64, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    _mm256_zextsi128_si256,
};

use crate::Block;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(src: &[Block; 2]) -> __m256i {
    // SAFETY: the reference covers the 32 bytes read.
    unsafe { _mm256_loadu_si256(src.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(v: __m256i, dst: &mut [Block; 2]) {
    // SAFETY: the reference covers the 32 bytes written.
    unsafe { _mm256_storeu_si256(dst.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn one(block: &Block) -> __m128i {
    // SAFETY: the reference covers the 16 bytes read.
    unsafe { _mm_loadu_si128(core::ptr::from_ref(block).cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn gather([a, b]: [&Block; 2]) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one(a)), one(b))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn join([a, b]: [__m128i; 2]) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn split(v: __m256i) -> [__m128i; 2] {
    [_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v)]
}

/// Rows and columns exchanged: block *j* of vector *i* becomes block *i* of vector *j*.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn turn([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    // 0x20: the low blocks of both; 0x31: the high blocks.
    [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
}

/// Lane *i* = both lanes of vector *i* added.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sums([a, b]: [__m256i; 2]) -> __m256i {
    // Blocks 0 of `a` and 1 of `b` stay where they are; 0x21: the high block of `a` and the low one of `b`.
    _mm256_xor_si256(_mm256_blend_epi32::<0xf0>(a, b), _mm256_permute2x128_si256::<0x21>(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat(block: &Block) -> __m256i {
    _mm256_broadcastsi128_si256(one(block))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn with_lane(v: __m256i, lane: usize, block: &Block) -> __m256i {
    if lane == 0 {
        _mm256_inserti128_si256::<0>(v, one(block))
    } else {
        _mm256_inserti128_si256::<1>(v, one(block))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shift_in(before: __m256i, v: __m256i) -> __m256i {
    // The high block of `before`, then the low block of `v`.
    _mm256_permute2x128_si256::<0x21>(before, v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn counters(first: &Block) -> __m256i {
    // Reversed, the counter is a little-endian number whose low half is the first half of the lane.
    _mm256_add_epi64(reverse(splat(first)), _mm256_set_epi64x(0, 1, 0, 0))
}

#[inline]
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_wrap, reason = "the addition is modulo 2^64")]
pub(super) fn counters_add(c: __m256i, n: u64) -> __m256i {
    _mm256_add_epi64(c, _mm256_set_epi64x(0, n as i64, 0, n as i64))
}

/// The 16 bytes of each block in reverse order.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn reverse(v: __m256i) -> __m256i {
    let order = _mm256_setr_epi8(
        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, //
        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
    );
    _mm256_shuffle_epi8(v, order)
}

#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) fn aesenc(v: __m256i, k: __m256i) -> __m256i {
    _mm256_aesenc_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) fn aesenclast(v: __m256i, k: __m256i) -> __m256i {
    _mm256_aesenclast_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) fn aesdec(v: __m256i, k: __m256i) -> __m256i {
    _mm256_aesdec_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) fn aesdeclast(v: __m256i, k: __m256i) -> __m256i {
    _mm256_aesdeclast_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn zero() -> __m256i {
    _mm256_setzero_si256()
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn in_first_lane(v: __m128i) -> __m256i {
    _mm256_zextsi128_si256(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sum_lanes(v: __m256i) -> __m128i {
    _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn and(a: __m256i, b: __m256i) -> __m256i {
    _mm256_and_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_words(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_halves(v: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0x4e>(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bytes_up<const N: i32>(v: __m256i) -> __m256i {
    _mm256_bslli_epi128::<N>(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bytes_down<const N: i32>(v: __m256i) -> __m256i {
    _mm256_bsrli_epi128::<N>(v)
}

#[inline]
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_wrap, reason = "a count of bits")]
pub(super) fn shift_left<const N: u32>(v: __m256i) -> __m256i {
    _mm256_sll_epi64(v, _mm_cvtsi32_si128(N as i32))
}

#[inline]
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_wrap, reason = "a count of bits")]
pub(super) fn shift_right<const N: u32>(v: __m256i) -> __m256i {
    _mm256_srl_epi64(v, _mm_cvtsi32_si128(N as i32))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shift_left_by(v: __m256i, counts: __m256i) -> __m256i {
    _mm256_sllv_epi64(v, counts)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shift_right_by(v: __m256i, counts: __m256i) -> __m256i {
    _mm256_srlv_epi64(v, counts)
}

// The immediate chooses half *i* of `a` and half *j* of `b`: *i* + 16 * *j*.

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
pub(super) fn clmul_low(a: __m256i, b: __m256i) -> __m256i {
    _mm256_clmulepi64_epi128::<0x00>(a, b)
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
pub(super) fn clmul_high(a: __m256i, b: __m256i) -> __m256i {
    _mm256_clmulepi64_epi128::<0x11>(a, b)
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
pub(super) fn clmul_low_high(a: __m256i, b: __m256i) -> __m256i {
    _mm256_clmulepi64_epi128::<0x10>(a, b)
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
pub(super) fn clmul_high_low(a: __m256i, b: __m256i) -> __m256i {
    _mm256_clmulepi64_epi128::<0x01>(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_truncation, reason = "at most 32")]
pub(super) fn keep(v: __m256i, bytes: usize) -> __m256i {
    // Byte *i* stays where `bytes` > *i*: a comparison, so no branch and no table depends on `bytes`.
    let count = _mm256_set1_epi8(bytes.min(32) as i8);
    let place = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31,
    );
    _mm256_and_si256(v, _mm256_cmpgt_epi8(count, place))
}

#[inline]
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_wrap, reason = "bits are bits")]
pub(super) fn splat_halves(low: u64, high: u64) -> __m256i {
    _mm256_broadcastsi128_si256(_mm_set_epi64x(high as i64, low as i64))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat_narrow(v: __m128i) -> __m256i {
    _mm256_broadcastsi128_si256(v)
}

/// In software: this level has no GFNI.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn times_matrix(v: __m256i, matrix: __m256i) -> __m256i {
    let (mut blocks, mut matrices) = ([[0; 16]; 2], [[0; 16]; 2]);
    store(v, &mut blocks);
    store(matrix, &mut matrices);
    for (block, matrix) in blocks.iter_mut().zip(&matrices) {
        *block = crate::matrix::times_matrix(block, matrix);
    }
    load(&blocks)
}

/// SubWord of the last word in all words, with RotWord and the round constant if `ROTATE`.
#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) fn sub_last_words<const ROTATE: bool>(k: __m256i, constant: u8) -> __m256i {
    // See the 128-bit form: of AESENCLAST only SubBytes and the key are left.
    let order = if ROTATE { 0x0c0f_0e0d } else { 0x0f0e_0d0c };
    let words = _mm256_shuffle_epi8(k, _mm256_set1_epi32(order));
    _mm256_aesenclast_epi128(words, _mm256_set1_epi32(if ROTATE { constant.into() } else { 0 }))
}

/// `v` through an empty `asm!` that has a register as operand: see
/// [`Blocks::here`](crate::Blocks::here).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn here(mut v: __m256i) -> __m256i {
    // SAFETY: assembly without instructions does nothing.
    unsafe {
        // Not `pure`, so it is kept and in order; `nomem`, so loads and stores may move across it.
        core::arch::asm!(
            "/* {0} */", inout(ymm_reg) v, options(nomem, nostack, preserves_flags)
        );
    }
    v
}

/// The highest word in the lowest, and that of the low half in the lowest of the high half: their
/// highest bits are what a doubling carries over.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn carries(v: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0x13>(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn double(v: __m256i, carries: &mut __m256i) -> __m256i {
    // See the 128-bit form.
    let carry = _mm256_srai_epi32::<31>(*carries);
    *carries = _mm256_add_epi32(*carries, *carries);
    let fold = _mm256_set_epi32(0, 1, 0, 0x87, 0, 1, 0, 0x87);
    _mm256_xor_si256(_mm256_add_epi64(v, v), _mm256_and_si256(carry, fold))
}
