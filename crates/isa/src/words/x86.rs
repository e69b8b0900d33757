//! Words on x86-64: one token for each vector width, leaves for its bits and for its words of each size.

use core::arch::x86_64::{__m256i, __m512i};

use super::{Products, Word, WordKernel, Words, too_few};
use crate::limbs::{GroupKernel, Ifma512};
use crate::policy::{Processor, Ways, has_features};
use crate::vectors::sealed::Sealed;
use crate::x86::align_stack;

words! {
    /// AVX2: eight words of 32 bits an instruction.
    Avx2Words, bytes 32, frame align_stack, enable "avx2", detect ["avx2"],
    words u32 as __m256i, lanes 8, leaves ymm32;
    words u64 as __m256i, lanes 4, leaves ymm64;
    products as __m256i, leaves ymm64;
}

words! {
    /// AVX-512 F and BW: sixteen words of 32 bits an instruction.
    Avx512Words, bytes 64, frame align_stack, enable "avx512f,avx512bw", detect ["avx512f", "avx512bw"],
    words u32 as __m512i, lanes 16, leaves zmm32;
    words u64 as __m512i, lanes 8, leaves zmm64;
    products as __m512i, leaves zmm64;
    limbs Ifma512;
}

/// 256 bits, whatever their words are.
mod ymm {
    use core::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_andnot_si256,
        _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_permute2x128_si256,
        _mm256_storeu_si256, _mm256_xor_si256,
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load<W, const N: usize>(src: &[W; N]) -> __m256i {
        const { assert!(size_of::<[W; N]>() == 32) }
        // SAFETY: the reference covers the 32 bytes read.
        unsafe { _mm256_loadu_si256(src.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn store<W, const N: usize>(v: __m256i, dst: &mut [W; N]) {
        const { assert!(size_of::<[W; N]>() == 32) }
        // SAFETY: the reference covers the 32 bytes written.
        unsafe { _mm256_storeu_si256(dst.as_mut_ptr().cast(), v) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn splat_row(row: &[u8; 16]) -> __m256i {
        // SAFETY: the reference covers the 16 bytes read.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(row.as_ptr().cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn turn_rows([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        [
            _mm256_permute2x128_si256::<0x20>(a, b),
            _mm256_permute2x128_si256::<0x20>(c, d),
            _mm256_permute2x128_si256::<0x31>(a, b),
            _mm256_permute2x128_si256::<0x31>(c, d),
        ]
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

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        xor(xor(a, b), c)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn choose(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        xor(and(mask, a), and_not(mask, b))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn majority(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        xor(and(xor(a, b), xor(b, c)), b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn xor_and_not(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        xor(a, and_not(b, c))
    }
}

// Counts of shifts are in a register, since the language has no arithmetic on constant parameters for the forms
// that take a constant; the compiler makes those of them.

/// 256 bits as eight words of 32.
mod ymm32 {
    use core::arch::x86_64::{
        __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_or_si256, _mm256_permute2x128_si256,
        _mm256_set1_epi32, _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_shuffle_epi32,
        _mm256_sll_epi32, _mm256_srl_epi32, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
        _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    };

    pub(super) use super::ymm::{
        and, and_not, choose, load, load as load_bytes, majority, splat_row, store,
        store as store_bytes, turn_rows, xor, xor_and_not, xor3,
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn splat(word: u32) -> __m256i {
        _mm256_set1_epi32(word.cast_signed())
    }

    /// Rows and columns exchanged: word *j* of vector *i* becomes word *i* of vector *j*.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn turn(rows: &[__m256i; 8]) -> [__m256i; 8] {
        let mut v = [splat(0); 8];
        for half in 0..2 {
            let [a, b, c, d] = rows.as_chunks().0[half];
            let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
            v[4 * half] = _mm256_unpacklo_epi64(ab, cd);
            v[4 * half + 1] = _mm256_unpackhi_epi64(ab, cd);
            let (ab, cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
            v[4 * half + 2] = _mm256_unpacklo_epi64(ab, cd);
            v[4 * half + 3] = _mm256_unpackhi_epi64(ab, cd);
        }
        let mut out = v;
        for at in 0..4 {
            out[at] = _mm256_permute2x128_si256::<0x20>(v[at], v[4 + at]);
            out[4 + at] = _mm256_permute2x128_si256::<0x31>(v[at], v[4 + at]);
        }
        out
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
    pub(super) fn next_words<const N: usize>(v: __m256i) -> __m256i {
        match N % 4 {
            1 => _mm256_shuffle_epi32::<0b00_11_10_01>(v),
            2 => _mm256_shuffle_epi32::<0b01_00_11_10>(v),
            3 => _mm256_shuffle_epi32::<0b10_01_00_11>(v),
            _ => v,
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi32(a, b)
    }

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

/// 256 bits as four words of 64.
mod ymm64 {
    use core::arch::x86_64::{
        __m256i, _mm_cvtsi32_si128, _mm256_add_epi64, _mm256_mul_epu32, _mm256_or_si256,
        _mm256_permute2x128_si256, _mm256_permute4x64_epi64, _mm256_set1_epi64x, _mm256_setr_epi8,
        _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_sll_epi64, _mm256_srl_epi64,
        _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
    };

    pub(super) use super::ymm::{
        and, and_not, choose, load, load as load_bytes, majority, splat_row, store,
        store as store_bytes, turn_rows, xor, xor_and_not, xor3,
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn splat(word: u64) -> __m256i {
        _mm256_set1_epi64x(word.cast_signed())
    }

    /// Rows and columns exchanged: word *j* of vector *i* becomes word *i* of vector *j*.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn turn(&[a, b, c, d]: &[__m256i; 4]) -> [__m256i; 4] {
        let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
        let (ab1, cd1) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab, cd),
            _mm256_permute2x128_si256::<0x20>(ab1, cd1),
            _mm256_permute2x128_si256::<0x31>(ab, cd),
            _mm256_permute2x128_si256::<0x31>(ab1, cd1),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn swap_bytes(v: __m256i) -> __m256i {
        let order = _mm256_setr_epi8(
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, // places within 16 bytes
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
        );
        _mm256_shuffle_epi8(v, order)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn next_words<const N: usize>(v: __m256i) -> __m256i {
        if N % 2 == 1 { _mm256_shuffle_epi32::<0b01_00_11_10>(v) } else { v }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi64(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn times(a: __m256i, b: __m256i) -> __m256i {
        _mm256_mul_epu32(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn unzip(a: __m256i, b: __m256i) -> [__m256i; 2] {
        const MIDDLE_EXCHANGED: i32 = 0b11_01_10_00;
        [
            _mm256_permute4x64_epi64::<MIDDLE_EXCHANGED>(_mm256_unpacklo_epi64(a, b)),
            _mm256_permute4x64_epi64::<MIDDLE_EXCHANGED>(_mm256_unpackhi_epi64(a, b)),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn rotate_left<const N: u32>(v: __m256i) -> __m256i {
        let left = _mm_cvtsi32_si128(N.cast_signed());
        let right = _mm_cvtsi32_si128((64 - N).cast_signed()); // all bits go if that is 64
        _mm256_or_si256(_mm256_sll_epi64(v, left), _mm256_srl_epi64(v, right))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn shift_right<const N: u32>(v: __m256i) -> __m256i {
        _mm256_srl_epi64(v, _mm_cvtsi32_si128(N.cast_signed()))
    }
}

/// 512 bits, whatever their words are.
mod zmm {
    use core::arch::x86_64::{
        __m512i, _mm_loadu_si128, _mm512_and_si512, _mm512_andnot_si512, _mm512_broadcast_i32x4,
        _mm512_loadu_si512, _mm512_shuffle_i32x4, _mm512_storeu_si512, _mm512_ternarylogic_epi64,
        _mm512_xor_si512,
    };

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn load<W, const N: usize>(src: &[W; N]) -> __m512i {
        const { assert!(size_of::<[W; N]>() == 64) }
        // SAFETY: the reference covers the 64 bytes read.
        unsafe { _mm512_loadu_si512(src.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn store<W, const N: usize>(v: __m512i, dst: &mut [W; N]) {
        const { assert!(size_of::<[W; N]>() == 64) }
        // SAFETY: the reference covers the 64 bytes written.
        unsafe { _mm512_storeu_si512(dst.as_mut_ptr().cast(), v) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn splat_row(row: &[u8; 16]) -> __m512i {
        // SAFETY: the reference covers the 16 bytes read.
        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(row.as_ptr().cast()) })
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

    // The constants are truth tables: bit 4a + 2b + c is the result for the bits a, b and c.

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        _mm512_ternarylogic_epi64::<0b1001_0110>(a, b, c)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn choose(mask: __m512i, a: __m512i, b: __m512i) -> __m512i {
        _mm512_ternarylogic_epi64::<0b1100_1010>(mask, a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn majority(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        _mm512_ternarylogic_epi64::<0b1110_1000>(a, b, c)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn xor_and_not(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        _mm512_ternarylogic_epi64::<0b1101_0010>(a, b, c)
    }

    /// Rows and columns of 16 bytes exchanged.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn turn_rows([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        const EVEN: i32 = 0b10_00_10_00;
        const ODD: i32 = 0b11_01_11_01;
        let (ab, cd) = (_mm512_shuffle_i32x4::<EVEN>(a, b), _mm512_shuffle_i32x4::<EVEN>(c, d));
        let (ab1, cd1) = (_mm512_shuffle_i32x4::<ODD>(a, b), _mm512_shuffle_i32x4::<ODD>(c, d));
        [
            _mm512_shuffle_i32x4::<EVEN>(ab, cd),
            _mm512_shuffle_i32x4::<EVEN>(ab1, cd1),
            _mm512_shuffle_i32x4::<ODD>(ab, cd),
            _mm512_shuffle_i32x4::<ODD>(ab1, cd1),
        ]
    }
}

/// 512 bits as sixteen words of 32.
mod zmm32 {
    use core::arch::x86_64::{
        __m512i, _mm_cvtsi32_si128, _mm512_add_epi32, _mm512_rolv_epi32, _mm512_set1_epi32,
        _mm512_set4_epi32, _mm512_shuffle_epi8, _mm512_shuffle_epi32, _mm512_srl_epi32,
        _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
    };

    pub(super) use super::zmm::{
        and, and_not, choose, load, load as load_bytes, majority, splat_row, store,
        store as store_bytes, turn_rows, xor, xor_and_not, xor3,
    };

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn splat(word: u32) -> __m512i {
        _mm512_set1_epi32(word.cast_signed())
    }

    /// Rows and columns exchanged: word *j* of vector *i* becomes word *i* of vector *j*.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn turn(rows: &[__m512i; 16]) -> [__m512i; 16] {
        // Word j of 16 bytes of four rows each, then the 16 bytes themselves.
        let mut v = [[splat(0); 4]; 4];
        for quarter in 0..4 {
            let [a, b, c, d] = rows.as_chunks().0[quarter];
            let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
            v[0][quarter] = _mm512_unpacklo_epi64(ab, cd);
            v[1][quarter] = _mm512_unpackhi_epi64(ab, cd);
            let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
            v[2][quarter] = _mm512_unpacklo_epi64(ab, cd);
            v[3][quarter] = _mm512_unpackhi_epi64(ab, cd);
        }
        let mut out = [splat(0); 16];
        for at in 0..4 {
            let turned = turn_rows(v[at]);
            for part in 0..4 {
                out[4 * part + at] = turned[part];
            }
        }
        out
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
    pub(super) fn next_words<const N: usize>(v: __m512i) -> __m512i {
        match N % 4 {
            1 => _mm512_shuffle_epi32::<0b00_11_10_01>(v),
            2 => _mm512_shuffle_epi32::<0b01_00_11_10>(v),
            3 => _mm512_shuffle_epi32::<0b10_01_00_11>(v),
            _ => v,
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi32(a, b)
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

/// 512 bits as eight words of 64.
mod zmm64 {
    use core::arch::x86_64::{
        __m512i, _mm_cvtsi32_si128, _mm512_add_epi64, _mm512_mul_epu32, _mm512_permutex2var_epi64,
        _mm512_rolv_epi64, _mm512_set1_epi64, _mm512_set4_epi32, _mm512_setr_epi64,
        _mm512_shuffle_epi8, _mm512_shuffle_epi32, _mm512_srl_epi64, _mm512_unpackhi_epi64,
        _mm512_unpacklo_epi64,
    };

    pub(super) use super::zmm::{
        and, and_not, choose, load, load as load_bytes, majority, splat_row, store,
        store as store_bytes, turn_rows, xor, xor_and_not, xor3,
    };

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn splat(word: u64) -> __m512i {
        _mm512_set1_epi64(word.cast_signed())
    }

    /// Rows and columns exchanged: word *j* of vector *i* becomes word *i* of vector *j*.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn turn(rows: &[__m512i; 8]) -> [__m512i; 8] {
        let mut v = [[splat(0); 4]; 2];
        for pair in 0..4 {
            let (a, b) = (rows[2 * pair], rows[2 * pair + 1]);
            v[0][pair] = _mm512_unpacklo_epi64(a, b);
            v[1][pair] = _mm512_unpackhi_epi64(a, b);
        }
        let mut out = [splat(0); 8];
        for at in 0..2 {
            let turned = turn_rows(v[at]);
            for part in 0..4 {
                out[2 * part + at] = turned[part];
            }
        }
        out
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn swap_bytes(v: __m512i) -> __m512i {
        // The places of bytes within 16, the highest first.
        let order = _mm512_set4_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607);
        _mm512_shuffle_epi8(v, order)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn next_words<const N: usize>(v: __m512i) -> __m512i {
        if N % 2 == 1 { _mm512_shuffle_epi32::<0b01_00_11_10>(v) } else { v }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi64(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn times(a: __m512i, b: __m512i) -> __m512i {
        _mm512_mul_epu32(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn unzip(a: __m512i, b: __m512i) -> [__m512i; 2] {
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        [_mm512_permutex2var_epi64(a, even, b), _mm512_permutex2var_epi64(a, odd, b)]
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn rotate_left<const N: u32>(v: __m512i) -> __m512i {
        _mm512_rolv_epi64(v, _mm512_set1_epi64(N.into()))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn shift_right<const N: u32>(v: __m512i) -> __m512i {
        _mm512_srl_epi64(v, _mm_cvtsi32_si128(N.cast_signed()))
    }
}
