//! The SHA-1 and SHA-256 instructions of Armv8.

use core::arch::aarch64::{
    uint32x4_t, vaddq_u32, vdupq_n_u32, vgetq_lane_u32, vld1q_u8, vld1q_u32, vreinterpretq_u32_u8,
    vrev32q_u8, vsha1cq_u32, vsha1h_u32, vsha1mq_u32, vsha1pq_u32, vsha1su0q_u32, vsha1su1q_u32,
    vsha256h2q_u32, vsha256hq_u32, vsha256su0q_u32, vsha256su1q_u32, vst1q_u32,
};

use super::{BesideRounds, Sealed, ShaKernel, ShaRounds, sha};
use crate::policy::has_features;

sha! {
    /// SHA1C, SHA256H and their like: four rounds an instruction.
    NeonSha2, enable "neon,sha2", detect ["neon", "sha2"]
}

#[inline]
#[target_feature(enable = "neon,sha2")]
fn load(src: &[u32; 4]) -> uint32x4_t {
    // SAFETY: the reference covers the 16 bytes read.
    unsafe { vld1q_u32(src.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon,sha2")]
fn store(v: uint32x4_t, dst: &mut [u32; 4]) {
    // SAFETY: the reference covers the 16 bytes written.
    unsafe { vst1q_u32(dst.as_mut_ptr(), v) }
}

/// The words of a message.
#[inline]
#[target_feature(enable = "neon,sha2")]
fn message(block: &[u8; 64]) -> [uint32x4_t; 4] {
    let (rows, _) = block.as_chunks::<16>();
    let mut m = [vdupq_n_u32(0); 4];
    for at in 0..4 {
        // SAFETY: the reference covers the 16 bytes read.
        let bytes = unsafe { vld1q_u8(rows[at].as_ptr()) };
        m[at] = vreinterpretq_u32_u8(vrev32q_u8(bytes));
    }
    m
}

/// SHA-256.
#[inline]
#[target_feature(enable = "neon,sha2")]
pub(super) fn sha256(
    k: &[[u32; 16]; 4],
    state: &mut [u32; 8],
    blocks: &[[u8; 64]],
    beside: &mut impl BesideRounds,
) {
    let (halves, _) = state.as_chunks_mut::<4>();
    let (mut abcd, mut efgh) = (load(&halves[0]), load(&halves[1]));
    let (k, _) = k.as_flattened().as_chunks::<4>();
    for block in blocks {
        let (abcd_before, efgh_before) = (abcd, efgh);
        let mut m = message(block);
        for quarter in 0..4 {
            beside.quarter();
            for at in 0..4 {
                let wk = vaddq_u32(m[at], load(&k[4 * quarter + at]));
                let before = abcd;
                abcd = vsha256hq_u32(abcd, efgh, wk);
                efgh = vsha256h2q_u32(efgh, before, wk);
                if quarter < 3 {
                    // The words 16 rounds ahead.
                    let (next, before, last) = (m[(at + 1) % 4], m[(at + 2) % 4], m[(at + 3) % 4]);
                    m[at] = vsha256su1q_u32(vsha256su0q_u32(m[at], next), before, last);
                }
            }
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    store(abcd, &mut halves[0]);
    store(efgh, &mut halves[1]);
}

/// SHA-1.
#[inline]
#[target_feature(enable = "neon,sha2")]
pub(super) fn sha1(state: &mut [u32; 5], blocks: &[[u8; 64]], beside: &mut impl BesideRounds) {
    /// FIPS 180-4, 4.2.1
    const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];
    let [a, b, c, d, mut e] = *state;
    let mut abcd = load(&[a, b, c, d]);
    for block in blocks {
        let (abcd_before, e_before) = (abcd, e);
        let mut m = message(block);
        for group in 0..20 {
            if group % 5 == 0 {
                beside.quarter();
            }
            let at = group % 4;
            let wk = vaddq_u32(m[at], vdupq_n_u32(K[group / 5]));
            let next_e = vsha1h_u32(vgetq_lane_u32::<0>(abcd));
            abcd = match group / 5 {
                0 => vsha1cq_u32(abcd, e, wk),
                2 => vsha1mq_u32(abcd, e, wk),
                _ => vsha1pq_u32(abcd, e, wk),
            };
            e = next_e;
            if group < 16 {
                // The words 16 rounds ahead.
                let sum = vsha1su0q_u32(m[at], m[(at + 1) % 4], m[(at + 2) % 4]);
                m[at] = vsha1su1q_u32(sum, m[(at + 3) % 4]);
            }
        }
        abcd = vaddq_u32(abcd, abcd_before);
        e = e.wrapping_add(e_before);
    }
    let mut words = [0; 4];
    store(abcd, &mut words);
    let [a, b, c, d] = words;
    *state = [a, b, c, d, e];
}
