//! Words on x86-64: one token and a few leaves for each vector width.

use core::arch::x86_64::{__m256i, __m512i};

use super::{WordKernel, Words, too_few};
use crate::policy::has_features;
use crate::vectors::sealed::Sealed;
use crate::x86::align_stack;

words! {
    /// AVX2: eight words an instruction.
    Avx2Words, lanes 8, __m256i, leaves ymm, frame align_stack, enable "avx2", detect ["avx2"]
}

words! {
    /// AVX-512 F and BW: sixteen words an instruction.
    Avx512Words, lanes 16, __m512i, leaves zmm, frame align_stack,
    enable "avx512f,avx512bw", detect ["avx512f", "avx512bw"]
}

/// 256-bit leaves.
mod ymm {
    use core::arch::x86_64::{
        __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256,
        _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi32, _mm256_setr_epi8,
        _mm256_shuffle_epi8, _mm256_sll_epi32, _mm256_srl_epi32, _mm256_storeu_si256,
        _mm256_xor_si256,
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn splat(word: u32) -> __m256i {
        _mm256_set1_epi32(word.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load(src: &[u32; 8]) -> __m256i {
        // SAFETY: the reference covers the 32 bytes read.
        unsafe { _mm256_loadu_si256(src.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn store(v: __m256i, dst: &mut [u32; 8]) {
        // SAFETY: the reference covers the 32 bytes written.
        unsafe { _mm256_storeu_si256(dst.as_mut_ptr().cast(), v) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn swap_bytes(v: __m256i) -> __m256i {
        let order = _mm256_setr_epi8(
            3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, // places within 16 bytes
            3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,
        );
        _mm256_shuffle_epi8(v, order)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi32(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn xor(a: __m256i, b: __m256i) -> __m256i {
        _mm256_xor_si256(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn and(a: __m256i, b: __m256i) -> __m256i {
        _mm256_and_si256(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn and_not(a: __m256i, b: __m256i) -> __m256i {
        _mm256_andnot_si256(a, b)
    }

    // Counts in a register, since the language has no arithmetic on constant parameters for the forms
    // that take a constant; the compiler makes those of them.

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn rotate_left<const N: u32>(v: __m256i) -> __m256i {
        let left = _mm_cvtsi32_si128(N.cast_signed());
        let right = _mm_cvtsi32_si128((32 - N).cast_signed()); // all bits go if that is 32
        _mm256_or_si256(_mm256_sll_epi32(v, left), _mm256_srl_epi32(v, right))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn shift_right<const N: u32>(v: __m256i) -> __m256i {
        _mm256_srl_epi32(v, _mm_cvtsi32_si128(N.cast_signed()))
    }
}

/// 512-bit leaves.
mod zmm {
    use core::arch::x86_64::{
        __m512i, _mm_cvtsi32_si128, _mm512_add_epi32, _mm512_and_si512, _mm512_andnot_si512,
        _mm512_loadu_si512, _mm512_rolv_epi32, _mm512_set1_epi32, _mm512_set4_epi32,
        _mm512_shuffle_epi8, _mm512_srl_epi32, _mm512_storeu_si512, _mm512_xor_si512,
    };

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn splat(word: u32) -> __m512i {
        _mm512_set1_epi32(word.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn load(src: &[u32; 16]) -> __m512i {
        // SAFETY: the reference covers the 64 bytes read.
        unsafe { _mm512_loadu_si512(src.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn store(v: __m512i, dst: &mut [u32; 16]) {
        // SAFETY: the reference covers the 64 bytes written.
        unsafe { _mm512_storeu_si512(dst.as_mut_ptr().cast(), v) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn swap_bytes(v: __m512i) -> __m512i {
        // The places of bytes within 16, the highest first.
        let order = _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
        _mm512_shuffle_epi8(v, order)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi32(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn xor(a: __m512i, b: __m512i) -> __m512i {
        _mm512_xor_si512(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn and(a: __m512i, b: __m512i) -> __m512i {
        _mm512_and_si512(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn and_not(a: __m512i, b: __m512i) -> __m512i {
        _mm512_andnot_si512(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn rotate_left<const N: u32>(v: __m512i) -> __m512i {
        _mm512_rolv_epi32(v, _mm512_set1_epi32(N.cast_signed()))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn shift_right<const N: u32>(v: __m512i) -> __m512i {
        _mm512_srl_epi32(v, _mm_cvtsi32_si128(N.cast_signed()))
    }
}
