//! 512-bit leaves: four blocks a vector, 32 registers (`zmm0` to `zmm31`).
//!
//! Loads and stores of part of a vector have a mask of bytes; masked bytes cannot fault.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _bzhi_u64, _mm_loadu_si128, _mm_set_epi64x, _mm_xor_si128,
    _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_xor_si256, _mm512_add_epi32,
    _mm512_add_epi64, _mm512_aesdec_epi128, _mm512_aesdeclast_epi128, _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128, _mm512_alignr_epi64, _mm512_and_si512, _mm512_broadcast_i32x4,
    _mm512_bslli_epi128, _mm512_bsrli_epi128, _mm512_castsi128_si512, _mm512_castsi256_si512,
    _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_clmulepi64_epi128,
    _mm512_extracti64x2_epi64, _mm512_extracti64x4_epi64, _mm512_gf2p8affine_epi64_epi8,
    _mm512_inserti64x2, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_blend_epi64,
    _mm512_mask_broadcast_i32x4, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
    _mm512_maskz_mov_epi8, _mm512_permutex_epi64, _mm512_set_epi32, _mm512_set_epi64,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_shuffle_epi32,
    _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_sllv_epi64, _mm512_srai_epi32,
    _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_xor_si512,
    _mm512_zextsi128_si512,
};

use crate::Block;

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(src: &[Block; 4]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes read.
    unsafe { _mm512_loadu_si512(src.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(v: __m512i, dst: &mut [Block; 4]) {
    // SAFETY: the reference covers the 64 bytes written.
    unsafe { _mm512_storeu_si512(dst.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn one(block: &Block) -> __m128i {
    // SAFETY: the reference covers the 16 bytes read.
    unsafe { _mm_loadu_si128(core::ptr::from_ref(block).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn gather([a, b, c, d]: [&Block; 4]) -> __m512i {
    let v = _mm512_castsi128_si512(one(a));
    let v = _mm512_inserti64x2::<1>(v, one(b));
    let v = _mm512_inserti64x2::<2>(v, one(c));
    _mm512_inserti64x2::<3>(v, one(d))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn join([a, b, c, d]: [__m128i; 4]) -> __m512i {
    let low = super::ymm::join([a, b]);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), super::ymm::join([c, d]))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn split(v: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(v),
        _mm512_extracti64x2_epi64::<1>(v),
        _mm512_extracti64x2_epi64::<2>(v),
        _mm512_extracti64x2_epi64::<3>(v),
    ]
}

/// Rows and columns exchanged: block *j* of vector *i* becomes block *i* of vector *j*.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn turn([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // Each shuffle takes two blocks of each operand, chosen by pairs of bits: 0x44 = blocks 0 and 1
    // of both, 0xee = 2 and 3, 0x88 = 0 and 2, 0xdd = 1 and 3. Eight shuffles, in two steps of four.
    let ab_low = _mm512_shuffle_i64x2::<0x44>(a, b);
    let ab_high = _mm512_shuffle_i64x2::<0xee>(a, b);
    let cd_low = _mm512_shuffle_i64x2::<0x44>(c, d);
    let cd_high = _mm512_shuffle_i64x2::<0xee>(c, d);
    [
        _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low),
        _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low),
        _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
        _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
    ]
}

/// The halves of `a` added in the low half, those of `b` in the high one.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(_mm512_mask_blend_epi64(0xf0, a, b), _mm512_alignr_epi64::<4>(b, a))
}

/// Lane *i* = all lanes of vector *i* added.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sums([a, b, c, d]: [__m512i; 4]) -> __m512i {
    // Halves first: what stays where it is takes a blend, so that one shuffle adds up a pair, and three are enough
    // where turning the square takes eight. Where few units shuffle, that is what the sums cost.
    let (ac, bd) = (halves(a, c), halves(b, d));
    let neighbours = _mm512_permutex_epi64::<0x4e>(_mm512_mask_blend_epi64(0x33, ac, bd));
    _mm512_xor_si512(_mm512_mask_blend_epi64(0xcc, ac, bd), neighbours)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat(block: &Block) -> __m512i {
    _mm512_broadcast_i32x4(one(block))
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn with_lane(v: __m512i, lane: usize, block: &Block) -> __m512i {
    _mm512_mask_broadcast_i32x4(v, 0xf << (4 * lane), one(block))
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn xor(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shift_in(before: __m512i, v: __m512i) -> __m512i {
    // Of the 16 halves of `before` and then `v`, those from number 6 on: the last block of `before`,
    // then three of `v`.
    _mm512_alignr_epi64::<6>(v, before)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn counters(first: &Block) -> __m512i {
    // Reversed, the counter is a little-endian number whose low half is the first half of the lane.
    _mm512_add_epi64(reverse(splat(first)), _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0))
}

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(clippy::cast_possible_wrap, reason = "the addition is modulo 2^64")]
pub(super) fn counters_add(c: __m512i, n: u64) -> __m512i {
    let n = n as i64;
    _mm512_add_epi64(c, _mm512_set_epi64(0, n, 0, n, 0, n, 0, n))
}

/// The 16 bytes of each block in reverse order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn reverse(v: __m512i) -> __m512i {
    const LOW: i64 = 0x0001_0203_0405_0607;
    const HIGH: i64 = 0x0809_0a0b_0c0d_0e0f;
    let order = _mm512_set_epi64(LOW, HIGH, LOW, HIGH, LOW, HIGH, LOW, HIGH);
    _mm512_shuffle_epi8(v, order)
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) fn aesenc(v: __m512i, k: __m512i) -> __m512i {
    _mm512_aesenc_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) fn aesenclast(v: __m512i, k: __m512i) -> __m512i {
    _mm512_aesenclast_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) fn aesdec(v: __m512i, k: __m512i) -> __m512i {
    _mm512_aesdec_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) fn aesdeclast(v: __m512i, k: __m512i) -> __m512i {
    _mm512_aesdeclast_epi128(v, k)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn zero() -> __m512i {
    _mm512_setzero_si512()
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn in_first_lane(v: __m128i) -> __m512i {
    _mm512_zextsi128_si512(v)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sum_lanes(v: __m512i) -> __m128i {
    let half: __m256i =
        _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v));
    _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn and(a: __m512i, b: __m512i) -> __m512i {
    _mm512_and_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_words(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn swap_halves(v: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0x4e>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn bytes_up<const N: i32>(v: __m512i) -> __m512i {
    _mm512_bslli_epi128::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn bytes_down<const N: i32>(v: __m512i) -> __m512i {
    _mm512_bsrli_epi128::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shift_left<const N: u32>(v: __m512i) -> __m512i {
    _mm512_slli_epi64::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shift_right<const N: u32>(v: __m512i) -> __m512i {
    _mm512_srli_epi64::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shift_left_by(v: __m512i, counts: __m512i) -> __m512i {
    _mm512_sllv_epi64(v, counts)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shift_right_by(v: __m512i, counts: __m512i) -> __m512i {
    _mm512_srlv_epi64(v, counts)
}

// The immediate chooses half *i* of `a` and half *j* of `b`: *i* + 16 * *j*.

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn clmul_low(a: __m512i, b: __m512i) -> __m512i {
    _mm512_clmulepi64_epi128::<0x00>(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn clmul_high(a: __m512i, b: __m512i) -> __m512i {
    _mm512_clmulepi64_epi128::<0x11>(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn clmul_low_high(a: __m512i, b: __m512i) -> __m512i {
    _mm512_clmulepi64_epi128::<0x10>(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn clmul_high_low(a: __m512i, b: __m512i) -> __m512i {
    _mm512_clmulepi64_epi128::<0x01>(a, b)
}

/// A mask of the first `bytes` bytes.
#[inline]
#[target_feature(enable = "bmi2")]
#[expect(clippy::cast_possible_truncation, reason = "64 at most")]
fn first(bytes: usize) -> u64 {
    // No branch, since no processor foresees lengths that are random.
    _bzhi_u64(u64::MAX, bytes.min(64) as u32)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(super) fn load_part(src: &[u8]) -> __m512i {
    if src.len() > 64 {
        crate::block::too_long();
    }
    let mask = first(src.len());
    // SAFETY: the mask selects bytes of the reference only; the others are neither read nor can
    // they fault.
    unsafe { _mm512_maskz_loadu_epi8(mask, src.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(super) fn store_part(v: __m512i, dst: &mut [u8]) {
    if dst.len() > 64 {
        crate::block::too_long();
    }
    let mask = first(dst.len());
    // SAFETY: the mask selects bytes of the reference only; the others are neither written nor can
    // they fault.
    unsafe { _mm512_mask_storeu_epi8(dst.as_mut_ptr().cast(), mask, v) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(super) fn keep(v: __m512i, bytes: usize) -> __m512i {
    _mm512_maskz_mov_epi8(first(bytes), v)
}

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(clippy::cast_possible_wrap, reason = "bits are bits")]
pub(super) fn splat_halves(low: u64, high: u64) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x(high as i64, low as i64))
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat_narrow(v: __m128i) -> __m512i {
    _mm512_broadcast_i32x4(v)
}

#[inline]
#[target_feature(enable = "avx512f,gfni")]
pub(super) fn times_matrix(v: __m512i, matrix: __m512i) -> __m512i {
    _mm512_gf2p8affine_epi64_epi8::<0>(v, matrix)
}

/// SubWord of the last word in all words, with RotWord and the round constant if `ROTATE`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn sub_last_words<const ROTATE: bool>(k: __m512i, constant: u8) -> __m512i {
    // See the 128-bit form: of AESENCLAST only SubBytes and the key are left.
    let order = if ROTATE { 0x0c0f_0e0d } else { 0x0f0e_0d0c };
    let words = _mm512_shuffle_epi8(k, _mm512_set1_epi32(order));
    _mm512_aesenclast_epi128(words, _mm512_set1_epi32(if ROTATE { constant.into() } else { 0 }))
}

/// `v` through an empty `asm!` that has a register as operand: see
/// [`Blocks::here`](crate::Blocks::here).
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn here(mut v: __m512i) -> __m512i {
    // SAFETY: assembly without instructions does nothing.
    unsafe {
        // Not `pure`, so it is kept and in order; `nomem`, so loads and stores may move across it.
        core::arch::asm!(
            "/* {0} */", inout(zmm_reg) v, options(nomem, nostack, preserves_flags)
        );
    }
    v
}

/// The highest word in the lowest, and that of the low half in the lowest of the high half: their
/// highest bits are what a doubling carries over.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn carries(v: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0x13>(v)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn double(v: __m512i, carries: &mut __m512i) -> __m512i {
    // See the 128-bit form.
    let carry = _mm512_srai_epi32::<31>(*carries);
    *carries = _mm512_add_epi32(*carries, *carries);
    let fold = _mm512_set_epi32(0, 1, 0, 0x87, 0, 1, 0, 0x87, 0, 1, 0, 0x87, 0, 1, 0, 0x87);
    _mm512_xor_si512(_mm512_add_epi64(v, v), _mm512_and_si512(carry, fold))
}
