//! SHA-NI: the SHA extensions of x86-64.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_blend_epi16, _mm_extract_epi32, _mm_loadu_si128,
    _mm_set_epi8, _mm_set_epi32, _mm_sha1msg1_epu32, _mm_sha1msg2_epu32, _mm_sha1nexte_epu32,
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

#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn store<T, const N: usize>(v: __m128i, dst: &mut [T; N]) {
    const { assert!(size_of::<[T; N]>() == 16) }
    // SAFETY: the reference covers the 16 bytes written.
    unsafe { _mm_storeu_si128(dst.as_mut_ptr().cast(), v) }
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
    let (halves, _) = state.as_chunks_mut::<4>();
    // Named with the highest word first: D, C, B, A and H, G, F, E.
    let cdab = _mm_shuffle_epi32::<0b10_11_00_01>(load(&halves[0]));
    let efgh = _mm_shuffle_epi32::<0b00_01_10_11>(load(&halves[1]));
    let mut abef = _mm_alignr_epi8::<8>(cdab, efgh);
    let mut cdgh = _mm_blend_epi16::<0b1111_0000>(efgh, cdab);
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
    let feba = _mm_shuffle_epi32::<0b00_01_10_11>(abef);
    let dchg = _mm_shuffle_epi32::<0b10_11_00_01>(cdgh);
    store(_mm_blend_epi16::<0b1111_0000>(feba, dchg), &mut halves[0]);
    store(_mm_alignr_epi8::<8>(dchg, feba), &mut halves[1]);
}

/// SHA-1. The instructions want A, B, C, D and the words of the message with the highest first.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) fn sha1(state: &mut [u32; 5], blocks: &[[u8; 64]], beside: &mut impl BesideRounds) {
    let Some((first, [fifth])) = state.split_first_chunk_mut::<4>() else { return };
    let mut abcd = _mm_shuffle_epi32::<0b00_01_10_11>(load(first));
    let mut e = _mm_set_epi32(fifth.cast_signed(), 0, 0, 0);
    let reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for block in blocks {
        let (abcd_before, e_before) = (abcd, e);
        let mut m = message(block, reversed);
        // E of the next four rounds is A of the last four, rotated.
        let mut before = abcd;
        // Written out: a compiler that leaves the loop keeps the words of the message in memory.
        macro_rules! quarter {
            ($quarter:literal: $($group:literal)+) => {
                beside.quarter();
                $(
                    let at = $group % 4;
                    let e_w = if $group == 0 {
                        _mm_add_epi32(e, m[0])
                    } else {
                        _mm_sha1nexte_epu32(before, m[at])
                    };
                    before = abcd;
                    abcd = _mm_sha1rnds4_epu32::<$quarter>(abcd, e_w);
                    if $group < 16 {
                        // The words 16 rounds ahead.
                        let sum = _mm_sha1msg1_epu32(m[at], m[(at + 1) % 4]);
                        let sum = _mm_xor_si128(sum, m[(at + 2) % 4]);
                        m[at] = _mm_sha1msg2_epu32(sum, m[(at + 3) % 4]);
                    }
                )+
            };
        }
        quarter!(0: 0 1 2 3 4);
        quarter!(1: 5 6 7 8 9);
        quarter!(2: 10 11 12 13 14);
        quarter!(3: 15 16 17 18 19);
        e = _mm_sha1nexte_epu32(before, e_before);
        abcd = _mm_add_epi32(abcd, abcd_before);
    }
    store(_mm_shuffle_epi32::<0b00_01_10_11>(abcd), first);
    *fifth = _mm_extract_epi32::<3>(e).cast_unsigned();
}
