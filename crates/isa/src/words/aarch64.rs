//! Words on AArch64: one token and its leaves.

use core::arch::aarch64::uint32x4_t;

use super::{WordKernel, Words, too_few};
use crate::policy::has_features;
use crate::vectors::sealed::Sealed;

words! {
    /// Advanced SIMD: four words an instruction.
    NeonWords, lanes 4, uint32x4_t, leaves neon, enable "neon", detect ["neon"]
}

/// 128-bit leaves.
mod neon {
    use core::arch::aarch64::{
        uint32x4_t, vaddq_u32, vandq_u32, vbicq_u32, vdupq_n_s32, vdupq_n_u32, veorq_u32,
        vld1q_u32, vorrq_u32, vreinterpretq_u8_u32, vreinterpretq_u32_u8, vrev32q_u8, vshlq_u32,
        vst1q_u32,
    };

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn splat(word: u32) -> uint32x4_t {
        vdupq_n_u32(word)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn load(src: &[u32; 4]) -> uint32x4_t {
        // SAFETY: the reference covers the 16 bytes read.
        unsafe { vld1q_u32(src.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn store(v: uint32x4_t, dst: &mut [u32; 4]) {
        // SAFETY: the reference covers the 16 bytes written.
        unsafe { vst1q_u32(dst.as_mut_ptr(), v) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn swap_bytes(v: uint32x4_t) -> uint32x4_t {
        vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(v)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn add(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        vaddq_u32(a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn xor(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        veorq_u32(a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn and(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        vandq_u32(a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn and_not(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        vbicq_u32(b, a)
    }

    // A negative count shifts to the right; the compiler makes forms with a constant of them.

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn rotate_left<const N: u32>(v: uint32x4_t) -> uint32x4_t {
        let (left, right) = (vdupq_n_s32(N.cast_signed()), vdupq_n_s32(N.cast_signed() - 32));
        vorrq_u32(vshlq_u32(v, left), vshlq_u32(v, right)) // all bits of the second go if N is 0
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn shift_right<const N: u32>(v: uint32x4_t) -> uint32x4_t {
        vshlq_u32(v, vdupq_n_s32(-N.cast_signed()))
    }
}
