//! Limbs on x86-64: AVX-512 IFMA, which multiplies digits of 52 bits, in vectors of 256 and 512 bits.

use core::arch::x86_64::{__m256i, __m512i, __mmask8};

use super::groups::{pattern, pattern_lanes};
use super::{GroupKernel, LimbGroups, LimbKernel, Limbs, too_few};
use crate::part::Part;
use crate::policy::has_features;
use crate::vectors::sealed::Sealed;
use crate::x86::align_stack;

/// Makes a token: its detection, its entry and its [`Limbs`].
macro_rules! limbs {
    (
        $(#[$doc:meta])*
        $token:ident, lanes $lanes:literal of $v:ty, leaves $leaf:ident,
        enable $enable:literal, detect [$($feature:tt),+] $(, groups $groups:ident)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(());

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;
            /// Limbs in a vector.
            pub(crate) const LANES: usize = $lanes;

            pub(crate) fn detect() -> Option<Self> {
                (has_features!($($feature),+)).then_some(Self(()))
            }

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: LimbKernel>(self, kernel: K) -> K::Out {
                enter!($token, self, kernel, LimbKernel, enable $enable, frame align_stack, |s, kernel| kernel.run(s))
            }
            $(
                /// The same of a kernel whose numbers lie in groups of lanes.
                pub(crate) fn $groups<K: GroupKernel>(self, kernel: K) -> K::Out {
                    enter!(
                        $token, self, kernel, GroupKernel, enable $enable,
                        frame align_stack, |s, kernel| kernel.run(s)
                    )
                }
            )?
        }

        impl Sealed for $token {}

        impl Limbs for $token {
            type V = $v;
            type M = __mmask8;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn in_groups<K: GroupKernel>(self, kernel: K) -> Option<K::Out> {
                Some(kernel.run(self))
            }

            call_part! { $token, enable $enable }

            #[inline(always)]
            fn load(self, src: &[u64]) -> $v {
                let Some(limbs) = src.first_chunk::<$lanes>() else { too_few() };
                // SAFETY: the token proves the features.
                unsafe { $leaf::load(limbs) }
            }

            #[inline(always)]
            fn store(self, v: $v, dst: &mut [u64]) {
                let Some(limbs) = dst.first_chunk_mut::<$lanes>() else { too_few() };
                // SAFETY: the token proves the features.
                unsafe { $leaf::store(v, limbs) }
            }

            forward! { $leaf:
                fn splat(word: u64) -> $v;
                fn add(a: $v, b: $v) -> $v;
                fn sub(a: $v, b: $v) -> $v;
                fn and(a: $v, b: $v) -> $v;
                fn or(a: $v, b: $v) -> $v;
                fn xor(a: $v, b: $v) -> $v;
                fn shift_left<const N: u32>(v: $v) -> $v;
                fn shift_right<const N: u32>(v: $v) -> $v;
                fn mul_low(sum: $v, a: $v, b: $v) -> $v;
                fn mul_high(sum: $v, a: $v, b: $v) -> $v;
                fn equal(a: $v, b: $v) -> $v;
                fn select(mask: $v, a: $v, b: $v) -> $v;
                fn matching(a: $v, b: $v) -> __mmask8;
                fn blend(choice: __mmask8, a: $v, b: $v) -> $v;
                fn here(v: $v) -> $v;
                fn next_lane(low: $v, high: $v) -> $v;
                fn lookup(table: &[u64; 16], index: $v) -> $v;
            }
        }

        impl LimbGroups for $token {
            #[inline(always)]
            fn load_bytes(self, src: &[u8]) -> $v {
                let Some(bytes) = src.first_chunk::<{ 8 * $lanes }>() else { too_few() };
                // SAFETY: the token proves the features.
                unsafe { $leaf::load_bytes(bytes) }
            }

            forward! { $leaf:
                fn splat_groups(words: [u64; 2]) -> $v;
                fn pick<const A: usize, const B: usize, const C: usize, const D: usize>(a: $v, b: $v) -> $v;
                fn even_lanes(a: $v, b: $v) -> $v;
                fn odd_lanes(a: $v, b: $v) -> $v;
                fn arrange<const FROM: i32, const KEPT: u8>(v: $v) -> $v;
                fn spread<const WHOLE: bool>(v: $v) -> $v;
                fn first<const WHOLE: bool>(v: $v) -> $v;
                fn next<const WHOLE: bool>(v: $v) -> $v;
                fn previous<const WHOLE: bool>(v: $v) -> $v;
            }
        }
    };
}

limbs! {
    /// AVX-512 IFMA in vectors of 256 bits: four limbs an instruction.
    Ifma256, lanes 4 of __m256i, leaves ymm,
    enable "avx2,avx512f,avx512vl,avx512ifma",
    detect ["avx2", "avx512f", "avx512vl", "avx512ifma"]
}

limbs! {
    /// AVX-512 IFMA: eight limbs an instruction.
    Ifma512, lanes 8 of __m512i, leaves zmm,
    enable "avx512f,avx512ifma",
    detect ["avx512f", "avx512ifma"], groups run_groups
}

/// The leaves of one width, by the names of the intrinsics.
macro_rules! leaves {
    (
        $name:ident, $v:ty, in $register:ident, lanes $lanes:literal, enable $enable:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident,
        $shift_left:ident, $shift_right:ident, $low:ident, $high:ident, $equal:ident, $all_ones:ident,
        $logic:ident, $blend:ident, $align:ident, $permute:ident, $permute_some:ident, $arrange:ident, $unpack_low:ident, $unpack_high:ident
    ) => {
        mod $name {
            use core::arch::x86_64::{
                $add, $align, $all_ones, $and, $blend, $equal, $high, $load, $logic, $low, $or, $permute,
                $permute_some, $arrange, $unpack_low, $unpack_high, $shift_left, $shift_right, $splat, $store, $sub, $xor, *,
            };

            use super::{pattern, pattern_lanes};

            leaves! { @ $v, $enable:
                fn add = $add(a, b);
                fn sub = $sub(a, b);
                fn and = $and(a, b);
                fn or = $or(a, b);
                fn xor = $xor(a, b);
                fn mul_low = $low(sum, a, b);
                fn mul_high = $high(sum, a, b);
                fn even_lanes = $unpack_low(a, b);
                fn odd_lanes = $unpack_high(a, b);
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn splat(word: u64) -> $v {
                $splat(word.cast_signed())
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn load(src: &[u64; $lanes]) -> $v {
                // SAFETY: the reference covers the bytes read.
                unsafe { $load(src.as_ptr().cast()) }
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn load_bytes(src: &[u8; 8 * $lanes]) -> $v {
                // SAFETY: the reference covers the bytes read.
                unsafe { $load(src.as_ptr().cast()) }
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn store(v: $v, dst: &mut [u64; $lanes]) {
                // SAFETY: the reference covers the bytes written.
                unsafe { $store(dst.as_mut_ptr().cast(), v) }
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn shift_left<const N: u32>(v: $v) -> $v {
                const { assert!(N < 64) }
                $shift_left(v, _mm_cvtsi32_si128(N.cast_signed()))
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn shift_right<const N: u32>(v: $v) -> $v {
                const { assert!(N < 64) }
                $shift_right(v, _mm_cvtsi32_si128(N.cast_signed()))
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn equal(a: $v, b: $v) -> $v {
                $all_ones($equal(a, b), splat(u64::MAX))
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn select(mask: $v, a: $v, b: $v) -> $v {
                $logic::<0xca>(mask, a, b)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn matching(a: $v, b: $v) -> __mmask8 {
                $equal(a, b)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn blend(choice: __mmask8, a: $v, b: $v) -> $v {
                $blend(b, choice, a)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn here(mut v: $v) -> $v {
                // SAFETY: no instruction. That it may access memory, as far as the compiler knows, keeps other
                // accesses in their places.
                unsafe { core::arch::asm!("/* {0} */", inout($register) v, options(nostack, preserves_flags)) };
                v
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn next_lane(low: $v, high: $v) -> $v {
                $align::<1>(high, low)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn lookup(table: &[u64; 16], index: $v) -> $v {
                let (parts, _) = table.as_chunks::<$lanes>();
                let two = |at: usize| $permute(load(&parts[at]), index, load(&parts[at + 1]));
                if parts.len() == 2 {
                    return two(0);
                }
                let upper = equal(and(index, splat(8)), splat(8));
                select(upper, two(2), two(0))
            }

            /// A choice of lanes that the compiler does not know, or it would make one instruction that leaves lanes
            /// out into two, or into one that takes longer.
            #[inline]
            #[target_feature(enable = $enable)]
            fn lanes(mut lanes: __mmask8) -> __mmask8 {
                // SAFETY: no instruction.
                unsafe {
                    core::arch::asm!(
                        "/* {0} */",
                        inout(kreg) lanes,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                lanes
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn splat_groups([low, high]: [u64; 2]) -> $v {
                if $lanes == 4 { splat(low) } else { $blend(splat(low), 0xf0, splat(high)) }
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn pick<const A: usize, const B: usize, const C: usize, const D: usize>(
                a: $v,
                b: $v,
            ) -> $v {
                let index = const { &pattern::<$lanes>([A, B, C, D]) };
                $permute_some(const { pattern_lanes([A, B, C, D]) }, a, load(index), b)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn arrange<const FROM: i32, const KEPT: u8>(v: $v) -> $v {
                const { assert!(0 <= FROM && FROM < 256 && KEPT < 16) }
                if KEPT == 0b1111 {
                    return $arrange::<FROM>(0xff, v);
                }
                $arrange::<FROM>(lanes(KEPT * 0x11), v)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn spread<const WHOLE: bool>(v: $v) -> $v {
                if WHOLE {
                    return $permute(v, splat(0), v);
                }
                arrange::<0b00_00_00_00, 0b1111>(v)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn first<const WHOLE: bool>(v: $v) -> $v {
                $blend(splat(0), lanes(if WHOLE { 1 } else { 0x11 }), v)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn next<const WHOLE: bool>(v: $v) -> $v {
                if WHOLE {
                    return $align::<1>(splat(0), v);
                }
                arrange::<0b00_11_10_01, 0b0111>(v)
            }

            #[inline]
            #[target_feature(enable = $enable)]
            pub(super) fn previous<const WHOLE: bool>(v: $v) -> $v {
                if WHOLE {
                    return $align::<{ $lanes - 1 }>(v, splat(0));
                }
                arrange::<0b10_01_00_00, 0b1110>(v)
            }
        }
    };
    (@ $v:ty, $enable:literal: $(fn $name:ident = $leaf:ident($($argument:ident),+);)+) => {$(
        #[inline]
        #[target_feature(enable = $enable)]
        pub(super) fn $name($($argument: $v),+) -> $v {
            $leaf($($argument),+)
        }
    )+};
}

leaves! {
    ymm, __m256i, in ymm_reg, lanes 4, enable "avx2,avx512f,avx512vl,avx512ifma",
    _mm256_set1_epi64x, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_add_epi64, _mm256_sub_epi64,
    _mm256_and_si256, _mm256_or_si256, _mm256_xor_si256, _mm256_sll_epi64, _mm256_srl_epi64,
    _mm256_madd52lo_epu64, _mm256_madd52hi_epu64, _mm256_cmpeq_epi64_mask, _mm256_maskz_mov_epi64,
    _mm256_ternarylogic_epi64, _mm256_mask_mov_epi64, _mm256_alignr_epi64,
    _mm256_permutex2var_epi64, _mm256_maskz_permutex2var_epi64, _mm256_maskz_permutex_epi64, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64
}

leaves! {
    zmm, __m512i, in zmm_reg, lanes 8, enable "avx512f,avx512ifma",
    _mm512_set1_epi64, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_add_epi64, _mm512_sub_epi64,
    _mm512_and_si512, _mm512_or_si512, _mm512_xor_si512, _mm512_sll_epi64, _mm512_srl_epi64,
    _mm512_madd52lo_epu64, _mm512_madd52hi_epu64, _mm512_cmpeq_epi64_mask, _mm512_maskz_mov_epi64,
    _mm512_ternarylogic_epi64, _mm512_mask_mov_epi64, _mm512_alignr_epi64,
    _mm512_permutex2var_epi64, _mm512_maskz_permutex2var_epi64, _mm512_maskz_permutex_epi64, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64
}
