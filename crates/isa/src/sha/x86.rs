//! SHA-NI: the SHA extensions of x86-64.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_loadu_si128, _mm_set_epi8,
    _mm_set_epi32, _mm_sha1msg1_epu32, _mm_sha1msg2_epu32, _mm_sha1nexte_epu32,
    _mm_sha1rnds4_epu32, _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32,
    _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_storeu_si128, _mm_xor_si128,
};

use super::{BesideRounds, Sealed, ShaKernel, ShaRounds, sha};
use crate::policy::has_features;

sha! {
    /// SHA-NI: two rounds of SHA-256 or four of SHA-1 an instruction.
    ShaNi, enable "sha,ssse3,sse4.1", detect ["sha", "ssse3", "sse4.1"]
}

#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn load<T, const N: usize>(src: &[T; N]) -> __m128i {
    const { assert!(size_of::<[T; N]>() == 16) }
    // SAFETY: the reference covers the 16 bytes read.
    unsafe { _mm_loadu_si128(src.as_ptr().cast()) }
}

/// The words of a vector, the lowest first.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn words(v: __m128i) -> [u32; 4] {
    let mut words = [0; 4];
    // SAFETY: the reference covers the 16 bytes written.
    unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), v) }
    words
}

/// Four blocks of 16 bytes of a message, in the order of `places`.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn message(block: &[u8; 64], places: __m128i) -> [__m128i; 4] {
    let (rows, _) = block.as_chunks::<16>();
    let mut m = [places; 4];
    for at in 0..4 {
        m[at] = _mm_shuffle_epi8(load(&rows[at]), places);
    }
    m
}

/// SHA-256. The instructions want the state as A, B, E, F and C, D, G, H, the highest word first.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) fn sha256(
    k: &[[u32; 16]; 4],
    state: &mut [u32; 8],
    blocks: &[[u8; 64]],
    beside: &mut impl BesideRounds,
) {
    let [a, b, c, d, e, f, g, h] = state.map(u32::cast_signed);
    let (mut abef, mut cdgh) = (_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h));
    let big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let (k, _) = k.as_flattened().as_chunks::<4>();
    for block in blocks {
        let (abef_before, cdgh_before) = (abef, cdgh);
        let mut m = message(block, big_endian);
        for quarter in 0..4 {
            beside.quarter();
            for at in 0..4 {
                // Four rounds: two with the lower half, two with the upper.
                let wk = _mm_add_epi32(m[at], load(&k[4 * quarter + at]));
                cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
                abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32::<0b11_10>(wk));
                if quarter < 3 {
                    // The words 16 rounds ahead.
                    let (next, before, last) = (m[(at + 1) % 4], m[(at + 2) % 4], m[(at + 3) % 4]);
                    let seven_back = _mm_alignr_epi8::<4>(last, before);
                    let sum = _mm_add_epi32(_mm_sha256msg1_epu32(m[at], next), seven_back);
                    m[at] = _mm_sha256msg2_epu32(sum, last);
                }
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    let ([f, e, b, a], [h, g, d, c]) = (words(abef), words(cdgh));
    *state = [a, b, c, d, e, f, g, h];
}

/// SHA-1. The instructions want A, B, C, D and the words of the message with the highest first.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) fn sha1(state: &mut [u32; 5], blocks: &[[u8; 64]], beside: &mut impl BesideRounds) {
    let [a, b, c, d, e] = state.map(u32::cast_signed);
    let mut abcd = _mm_set_epi32(a, b, c, d);
    let mut e = _mm_set_epi32(e, 0, 0, 0);
    let reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for block in blocks {
        let (abcd_before, e_before) = (abcd, e);
        let mut m = message(block, reversed);
        // E of the next four rounds is A of the last four, rotated.
        let mut before = abcd;
        for group in 0..20 {
            if group % 5 == 0 {
                beside.quarter();
            }
            let at = group % 4;
            let e_w = if group == 0 {
                _mm_add_epi32(e, m[0])
            } else {
                _mm_sha1nexte_epu32(before, m[at])
            };
            before = abcd;
            abcd = match group / 5 {
                0 => _mm_sha1rnds4_epu32::<0>(abcd, e_w),
                1 => _mm_sha1rnds4_epu32::<1>(abcd, e_w),
                2 => _mm_sha1rnds4_epu32::<2>(abcd, e_w),
                _ => _mm_sha1rnds4_epu32::<3>(abcd, e_w),
            };
            if group < 16 {
                // The words 16 rounds ahead.
                let sum = _mm_sha1msg1_epu32(m[at], m[(at + 1) % 4]);
                let sum = _mm_xor_si128(sum, m[(at + 2) % 4]);
                m[at] = _mm_sha1msg2_epu32(sum, m[(at + 3) % 4]);
            }
        }
        e = _mm_sha1nexte_epu32(before, e_before);
        abcd = _mm_add_epi32(abcd, abcd_before);
    }
    let [d, c, b, a] = words(abcd);
    *state = [a, b, c, d, _mm_extract_epi32::<3>(e).cast_unsigned()];
}
