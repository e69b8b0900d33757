//! Words on AArch64: one token and its leaves.

use core::arch::aarch64::{uint32x4_t, uint64x2_t};

use super::{Products, Word, WordKernel, Words, too_few};
use crate::policy::{Processor, Ways, has_features};
use crate::vectors::sealed::Sealed;

words! {
    /// Advanced SIMD: four words of 32 bits an instruction.
    NeonWords, bytes 16, enable "neon", detect ["neon"],
    words u32 as uint32x4_t, lanes 4, leaves neon32;
    words u64 as uint64x2_t, lanes 2, leaves neon64;
    products as uint64x2_t, leaves neon64;
}

// A negative count shifts to the right; the compiler makes forms with a constant of them.

/// 128 bits as four words of 32.
mod neon32 {
    use core::arch::aarch64::{
        uint32x4_t, vaddq_u32, vandq_u32, vbicq_u32, vbslq_u32, vdupq_n_s32, vdupq_n_u32,
        veorq_u32, vextq_u32, vld1q_u8, vld1q_u32, vorrq_u32, vreinterpretq_u8_u32,
        vreinterpretq_u32_u8, vreinterpretq_u32_u64, vreinterpretq_u64_u32, vrev32q_u8, vshlq_u32,
        vst1q_u8, vst1q_u32, vtrn1q_u32, vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
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
    pub(super) fn load_bytes(src: &[u8; 16]) -> uint32x4_t {
        // SAFETY: the reference covers the 16 bytes read.
        vreinterpretq_u32_u8(unsafe { vld1q_u8(src.as_ptr()) })
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn store_bytes(v: uint32x4_t, dst: &mut [u8; 16]) {
        // SAFETY: the reference covers the 16 bytes written.
        unsafe { vst1q_u8(dst.as_mut_ptr(), vreinterpretq_u8_u32(v)) }
    }

    /// Rows and columns exchanged: word *j* of vector *i* becomes word *i* of vector *j*.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn turn(&[a, b, c, d]: &[uint32x4_t; 4]) -> [uint32x4_t; 4] {
        let even = [vtrn1q_u32(a, b), vtrn1q_u32(c, d)].map(|v| vreinterpretq_u64_u32(v));
        let odd = [vtrn2q_u32(a, b), vtrn2q_u32(c, d)].map(|v| vreinterpretq_u64_u32(v));
        [
            vreinterpretq_u32_u64(vtrn1q_u64(even[0], even[1])),
            vreinterpretq_u32_u64(vtrn1q_u64(odd[0], odd[1])),
            vreinterpretq_u32_u64(vtrn2q_u64(even[0], even[1])),
            vreinterpretq_u32_u64(vtrn2q_u64(odd[0], odd[1])),
        ]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn swap_bytes(v: uint32x4_t) -> uint32x4_t {
        vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(v)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn splat_row(row: &[u8; 16]) -> uint32x4_t {
        load_bytes(row)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn next_words<const N: usize>(v: uint32x4_t) -> uint32x4_t {
        match N % 4 {
            1 => vextq_u32::<1>(v, v),
            2 => vextq_u32::<2>(v, v),
            3 => vextq_u32::<3>(v, v),
            _ => v,
        }
    }

    /// One block has one row in each vector.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn turn_rows(rows: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
        rows
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

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn xor3(a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
        xor(xor(a, b), c)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn choose(mask: uint32x4_t, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        vbslq_u32(mask, a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn majority(a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
        choose(xor(a, b), c, a)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn xor_and_not(a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
        xor(a, and_not(b, c))
    }

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

/// 128 bits as two words of 64.
mod neon64 {
    use core::arch::aarch64::{
        uint64x2_t, vaddq_u64, vandq_u64, vbicq_u64, vbslq_u64, vdupq_n_s64, vdupq_n_u64,
        veorq_u64, vextq_u64, vld1q_u8, vld1q_u64, vmovn_u64, vmull_u32, vorrq_u64,
        vreinterpretq_u8_u64, vreinterpretq_u64_u8, vrev64q_u8, vshlq_u64, vst1q_u8, vst1q_u64,
        vtrn1q_u64, vtrn2q_u64,
    };

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn splat(word: u64) -> uint64x2_t {
        vdupq_n_u64(word)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn load(src: &[u64; 2]) -> uint64x2_t {
        // SAFETY: the reference covers the 16 bytes read.
        unsafe { vld1q_u64(src.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn store(v: uint64x2_t, dst: &mut [u64; 2]) {
        // SAFETY: the reference covers the 16 bytes written.
        unsafe { vst1q_u64(dst.as_mut_ptr(), v) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn load_bytes(src: &[u8; 16]) -> uint64x2_t {
        // SAFETY: the reference covers the 16 bytes read.
        vreinterpretq_u64_u8(unsafe { vld1q_u8(src.as_ptr()) })
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn store_bytes(v: uint64x2_t, dst: &mut [u8; 16]) {
        // SAFETY: the reference covers the 16 bytes written.
        unsafe { vst1q_u8(dst.as_mut_ptr(), vreinterpretq_u8_u64(v)) }
    }

    /// Rows and columns exchanged: word *j* of vector *i* becomes word *i* of vector *j*.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn turn(&[a, b]: &[uint64x2_t; 2]) -> [uint64x2_t; 2] {
        [vtrn1q_u64(a, b), vtrn2q_u64(a, b)]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn swap_bytes(v: uint64x2_t) -> uint64x2_t {
        vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(v)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn splat_row(row: &[u8; 16]) -> uint64x2_t {
        load_bytes(row)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn next_words<const N: usize>(v: uint64x2_t) -> uint64x2_t {
        if N % 2 == 1 { vextq_u64::<1>(v, v) } else { v }
    }

    /// One block has one row in each vector.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn turn_rows(rows: [uint64x2_t; 4]) -> [uint64x2_t; 4] {
        rows
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn add(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        vaddq_u64(a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn xor(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        veorq_u64(a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn and(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        vandq_u64(a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn and_not(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        vbicq_u64(b, a)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn xor3(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        xor(xor(a, b), c)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn choose(mask: uint64x2_t, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        vbslq_u64(mask, a, b)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn majority(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        choose(xor(a, b), c, a)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn xor_and_not(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
        xor(a, and_not(b, c))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn rotate_left<const N: u32>(v: uint64x2_t) -> uint64x2_t {
        let n = i64::from(N);
        // All bits of the second go if N is 0.
        vorrq_u64(vshlq_u64(v, vdupq_n_s64(n)), vshlq_u64(v, vdupq_n_s64(n - 64)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn times(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        vmull_u32(vmovn_u64(a), vmovn_u64(b))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn unzip(a: uint64x2_t, b: uint64x2_t) -> [uint64x2_t; 2] {
        turn(&[a, b])
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn shift_right<const N: u32>(v: uint64x2_t) -> uint64x2_t {
        vshlq_u64(v, vdupq_n_s64(-i64::from(N)))
    }
}
