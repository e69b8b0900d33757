//! 128-bit leaves: one block a vector, 32 registers (`v0` to `v31`).

use core::arch::aarch64::{
    uint8x16_t, uint64x2_t, vaddq_u32, vaddq_u64, vaesdq_u8, vaeseq_u8, vaesimcq_u8, vaesmcq_u8,
    vandq_u8, vandq_u64, vcgtq_u8, vcltq_u64, vcombine_u64, vcreate_u64, vdupq_n_s64, vdupq_n_u8,
    vdupq_n_u32, vdupq_n_u64, veor3q_u8, veorq_u8, vextq_u8, vgetq_lane_u64, vld1q_u8,
    vmull_high_p64, vmull_p64, vnegq_s64, vqtbl1q_u8, vreinterpretq_p64_u8, vreinterpretq_s32_u8,
    vreinterpretq_s64_u8, vreinterpretq_u8_p128, vreinterpretq_u8_s32, vreinterpretq_u8_u32,
    vreinterpretq_u8_u64, vreinterpretq_u32_u8, vreinterpretq_u64_u8, vrev64q_u8, vshlq_u64,
    vshrq_n_s32, vst1q_u8,
};

use crate::Block;

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load(src: &Block) -> uint8x16_t {
    // SAFETY: the reference covers the 16 bytes read.
    unsafe { vld1q_u8(src.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn store(v: uint8x16_t, dst: &mut Block) {
    // SAFETY: the reference covers the 16 bytes written.
    unsafe { vst1q_u8(dst.as_mut_ptr(), v) }
}

#[inline]
#[target_feature(enable = "neon")]
#[expect(clippy::cast_possible_truncation, reason = "at most 16")]
pub(super) fn keep(v: uint8x16_t, bytes: usize) -> uint8x16_t {
    // Byte *i* stays where `bytes` > *i*: a comparison, so no branch and no table depends on `bytes`.
    let count = vdupq_n_u8(bytes.min(16) as u8);
    let place = load(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    vandq_u8(v, vcgtq_u8(count, place))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn zero() -> uint8x16_t {
    vdupq_n_u8(0)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn splat_halves(low: u64, high: u64) -> uint8x16_t {
    vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn xor(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    veorq_u8(a, b)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn xor3(a: uint8x16_t, b: uint8x16_t, c: uint8x16_t) -> uint8x16_t {
    xor(xor(a, b), c)
}

#[inline]
#[target_feature(enable = "neon,sha3")]
pub(super) fn eor3(a: uint8x16_t, b: uint8x16_t, c: uint8x16_t) -> uint8x16_t {
    veor3q_u8(a, b, c)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn and(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vandq_u8(a, b)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn add_words(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

/// The 16 bytes in reverse order.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn reverse(v: uint8x16_t) -> uint8x16_t {
    swap_halves(vrev64q_u8(v))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn swap_halves(v: uint8x16_t) -> uint8x16_t {
    vextq_u8::<8>(v, v)
}

/// Sixteen bytes of `$low` and `$high`, from byte `N` of them on, for any `N` from 0 to 16. The
/// instruction takes a constant, and the language has no arithmetic on constant parameters.
macro_rules! from_byte {
    ($n:expr, $low:expr, $high:expr, $($number:literal)*) => {
        match $n {
            0 => $low,
            $($number => vextq_u8::<$number>($low, $high),)*
            _ => $high,
        }
    };
    ($n:expr, $low:expr, $high:expr) => {
        from_byte!($n, $low, $high, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn bytes_up<const N: i32>(v: uint8x16_t) -> uint8x16_t {
    const { assert!(N >= 0 && N <= 16) }
    from_byte!(16 - N, zero(), v)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn bytes_down<const N: i32>(v: uint8x16_t) -> uint8x16_t {
    const { assert!(N >= 0 && N <= 16) }
    from_byte!(N, v, zero())
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn shift_left<const N: u32>(v: uint8x16_t) -> uint8x16_t {
    const { assert!(N < 64) }
    vreinterpretq_u8_u64(vshlq_u64(
        vreinterpretq_u64_u8(v),
        vdupq_n_s64(i64::from(N.cast_signed())),
    ))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn shift_right<const N: u32>(v: uint8x16_t) -> uint8x16_t {
    const { assert!(N < 64) }
    // A negative count shifts to the right.
    let count = vdupq_n_s64(-i64::from(N.cast_signed()));
    vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(v), count))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn shift_left_by(v: uint8x16_t, counts: uint8x16_t) -> uint8x16_t {
    let shifted = vshlq_u64(vreinterpretq_u64_u8(v), vreinterpretq_s64_u8(counts));
    vreinterpretq_u8_u64(vandq_u64(shifted, below_64(counts)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn shift_right_by(v: uint8x16_t, counts: uint8x16_t) -> uint8x16_t {
    let shifted = vshlq_u64(vreinterpretq_u64_u8(v), vnegq_s64(vreinterpretq_s64_u8(counts)));
    vreinterpretq_u8_u64(vandq_u64(shifted, below_64(counts)))
}

/// All bits of the halves whose count is less than 64: USHL reads the lowest byte of a count alone.
#[inline]
#[target_feature(enable = "neon")]
fn below_64(counts: uint8x16_t) -> uint64x2_t {
    vcltq_u64(vreinterpretq_u64_u8(counts), vdupq_n_u64(64))
}

/// The highest word in the lowest, and that of the low half in the lowest of the high half: their
/// highest bits are what a doubling carries over.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn carries(v: uint8x16_t) -> uint8x16_t {
    vextq_u8::<12>(v, v)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn double(v: uint8x16_t, carries: &mut uint8x16_t) -> uint8x16_t {
    // v * x = (v << 1) ^ (0x87 if bit 127 was set), where the shift of two halves by addition loses
    // bit 63. The arithmetic shift makes the highest bit of a word a mask: of bit 127 for 0x87 in the
    // low half, of bit 63 for a 1 in the high half. In a chain of doublings the next bits to leave the
    // halves are the next lower ones of the first block: `carries` moves up by one. A word has 32 such
    // bits, and reductions change lower ones only.
    let carry = vreinterpretq_u8_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u8(*carries)));
    *carries = add_words(*carries, *carries);
    let halves = vreinterpretq_u64_u8(v);
    let doubled = vreinterpretq_u8_u64(vaddq_u64(halves, halves));
    xor(doubled, and(carry, splat_halves(0x87, 1)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn counters_add(c: uint8x16_t, n: u64) -> uint8x16_t {
    let n = splat_halves(n, 0);
    vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(c), vreinterpretq_u64_u8(n)))
}

/// `v` through an empty `asm!` that has a register as operand: see
/// [`Blocks::here`](crate::Blocks::here).
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn here(mut v: uint8x16_t) -> uint8x16_t {
    // SAFETY: assembly without instructions does nothing.
    unsafe {
        // Not `pure`, so it is kept and in order; `nomem`, so loads and stores may move across it.
        core::arch::asm!(
            "/* {0:v} */", inout(vreg) v, options(nomem, nostack, preserves_flags)
        );
    }
    v
}

// Both instructions of a round in one leaf, so that nothing comes between them.

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn encrypt_round(v: uint8x16_t, before: uint8x16_t) -> uint8x16_t {
    vaesmcq_u8(vaeseq_u8(v, before))
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn encrypt_last_round(v: uint8x16_t, before: uint8x16_t) -> uint8x16_t {
    vaeseq_u8(v, before)
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn decrypt_round(v: uint8x16_t, before: uint8x16_t) -> uint8x16_t {
    vaesimcq_u8(vaesdq_u8(v, before))
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn decrypt_last_round(v: uint8x16_t, before: uint8x16_t) -> uint8x16_t {
    vaesdq_u8(v, before)
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn inv_mix_columns(block: Block) -> Block {
    let mut result = [0; 16];
    store(vaesimcq_u8(load(&block)), &mut result);
    result
}

/// SubWord of the last word in all words, with RotWord and the round constant if `ROTATE`.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn sub_last_words<const ROTATE: bool>(k: uint8x16_t, constant: u8) -> uint8x16_t {
    // The order of bytes for all four words: 13, 14, 15, 12 (RotWord) or 12 to 15. All columns of the
    // state being equal, ShiftRows does nothing; AESE has no MixColumns, and with a key of zero
    // SubBytes is left.
    let order = vdupq_n_u32(if ROTATE { 0x0c0f_0e0d } else { 0x0f0e_0d0c });
    let words = vqtbl1q_u8(k, vreinterpretq_u8_u32(order));
    let constant = vdupq_n_u32(if ROTATE { constant.into() } else { 0 });
    xor(vaeseq_u8(words, zero()), vreinterpretq_u8_u32(constant))
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn clmul_low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_p64(low(a), low(b)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn clmul_high(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_high_p64(vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b)))
}

// PMULL multiplies low halves and PMULL2 high ones: the others are moved first.

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn clmul_low_high(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    clmul_low(a, swap_halves(b))
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn clmul_high_low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    clmul_low(swap_halves(a), b)
}

#[inline]
#[target_feature(enable = "neon")]
fn low(v: uint8x16_t) -> u64 {
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(v))
}

/// In software: there is no instruction for it.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn times_matrix(v: uint8x16_t, matrix: uint8x16_t) -> uint8x16_t {
    let (mut block, mut by) = ([0; 16], [0; 16]);
    store(v, &mut block);
    store(matrix, &mut by);
    load(&crate::matrix::times_matrix(&block, &by))
}
