//! SM3 (GB/T 32905-2016, ISO/IEC 10118-3:2018).

use lanelock_isa::Words;

use crate::compression::{Compression, shape, unrolled};

/// The compression function of SM3.
#[derive(Clone, Copy, Debug)]
pub struct Sm3Blocks;

/// 4.1 of the standard.
pub(crate) const INITIAL: [u32; 8] = [
    0x7380_166f,
    0x4914_b2b9,
    0x1724_42d7,
    0xda8a_0600,
    0xa96f_30bc,
    0x1631_38aa,
    0xe38d_ee4d,
    0xb0fb_0e4e,
];

/// T of the standard (4.2), turned as far as each round wants it.
const CONSTANTS: [[u32; 16]; 4] = {
    let mut constants = [[0; 16]; 4];
    let mut t = 0;
    let mut constant: u32 = 0x79cc_4519;
    while t < 64 {
        if t == 16 {
            constant = 0x7a87_9d8a_u32.rotate_left(16);
        }
        constants[t / 16][t % 16] = constant;
        constant = constant.rotate_left(1);
        t += 1;
    }
    constants
};

impl Compression for Sm3Blocks {
    shape!(u32, state 8, words 16, block 64);
    const PAIRED: bool = true;

    /// One block of each lane (5.3 of the standard).
    #[inline(always)]
    fn take<S: Words<u32>>(s: S, state: &mut [S::V; 8], mut w: [S::V; 16]) {
        let before = *state;
        let [first, later @ ..] = &CONSTANTS;
        unrolled!(T in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] {
            round::<_, false>(s, state, &mut w, T, first[T]);
        });
        for constants in later {
            unrolled!(T in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] {
                round::<_, true>(s, state, &mut w, T, constants[T]);
            });
        }
        for (word, before) in state.iter_mut().zip(before) {
            *word = s.xor(*word, before);
        }
    }
}

/// Round `t`, or one that is `t` modulo 16 and `LATER` than the first 16. No functions as parameters: optimisers do
/// not inline all of them.
#[inline(always)]
fn round<S: Words<u32>, const LATER: bool>(
    s: S,
    state: &mut [S::V; 8],
    w: &mut [S::V; 16],
    t: usize,
    constant: u32,
) {
    let (word, four_on) = (w[t % 16], w[(t + 4) % 16]);
    let [a, b, c, d, e, f, g, h] = *state;
    let (ff, gg) = if LATER {
        (s.majority(a, b, c), s.choose(e, f, g))
    } else {
        (s.xor3(a, b, c), s.xor3(e, f, g))
    };
    let a12 = s.rotate_left::<12>(a);
    let ss1 = s.rotate_left::<7>(s.add(a12, s.add(e, s.splat(constant))));
    let ss2 = s.xor(ss1, a12);
    let tt1 = s.add(s.add(ff, s.add(d, s.xor(word, four_on))), ss2);
    let tt2 = s.add(s.add(gg, s.add(h, word)), ss1);
    *state = [tt1, a, s.rotate_left::<9>(b), c, p0(s, tt2), e, s.rotate_left::<19>(f), g];
    // The word 16 rounds ahead.
    let mix = s.xor3(word, w[(t + 7) % 16], s.rotate_left::<15>(w[(t + 13) % 16]));
    let p1 = s.xor3(mix, s.rotate_left::<15>(mix), s.rotate_left::<23>(mix));
    w[t % 16] = s.xor3(p1, s.rotate_left::<7>(w[(t + 3) % 16]), w[(t + 10) % 16]);
}

#[inline(always)]
fn p0<S: Words<u32>>(s: S, v: S::V) -> S::V {
    s.xor3(v, s.rotate_left::<9>(v), s.rotate_left::<17>(v))
}
