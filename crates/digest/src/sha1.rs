//! SHA-1 (FIPS 180-4), for protocols that still need it.

use lanelock_isa::{BesideRounds, ShaRounds, Words};

use crate::compression::{Compression, shape, unrolled};

/// The compression function of SHA-1.
#[derive(Clone, Copy, Debug)]
pub struct Sha1Blocks;

/// FIPS 180-4, 5.3.1
pub(crate) const INITIAL: [u32; 5] =
    [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

impl Compression for Sha1Blocks {
    shape!(u32, state 5, words 16, block 64);
    const PAIRED: bool = true;
    const BESIDE_INSTRUCTIONS: [usize; 2] = [5, 3];

    /// One block of each lane (FIPS 180-4, 6.1.2).
    #[inline(always)]
    fn take<S: Words<u32>>(s: S, state: &mut [S::V; 5], mut w: [S::V; 16]) {
        let before = *state;
        unrolled!(T in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19] {
            round::<S, T>(s, state, &mut w, 0x5a82_7999);
        });
        unrolled!(T in [20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39] {
            round::<S, T>(s, state, &mut w, 0x6ed9_eba1);
        });
        unrolled!(T in [40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59] {
            round::<S, T>(s, state, &mut w, 0x8f1b_bcdc);
        });
        unrolled!(T in [60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79] {
            round::<S, T>(s, state, &mut w, 0xca62_c1d6);
        });
        for (word, before) in state.iter_mut().zip(before) {
            *word = s.add(*word, before);
        }
    }

    #[inline(always)]
    fn by_instructions<S: ShaRounds>(
        s: S,
        state: &mut [u32; 5],
        blocks: &[u8],
        beside: &mut impl BesideRounds,
    ) -> bool {
        s.sha1(state, blocks.as_chunks().0, beside)
    }
}

#[inline(always)]
fn round<S: Words<u32>, const T: usize>(s: S, state: &mut [S::V; 5], w: &mut [S::V; 16], k: u32) {
    let word = w[T % 16];
    let [a, b, c, d, e] = *state;
    // FIPS 180-4, 4.1.1
    let mixed = match T / 20 {
        0 => s.choose(b, c, d),
        2 => s.majority(b, c, d),
        _ => s.xor3(b, c, d),
    };
    let sum = s.add(s.add(e, s.add(word, s.splat(k))), mixed);
    *state = [s.add(sum, s.rotate_left::<5>(a)), a, s.rotate_left::<30>(b), c, d];
    if T < 64 {
        // The word 16 rounds ahead.
        let mix = s.xor3(word, w[(T + 2) % 16], w[(T + 8) % 16]);
        w[T % 16] = s.rotate_left::<1>(s.xor(mix, w[(T + 13) % 16]));
    }
}
