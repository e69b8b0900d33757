//! SHA-2 (FIPS 180-4): one algorithm on words of 32 and of 64 bits.

use core::marker::PhantomData;

use lanelock_isa::{BesideRounds, ShaRounds, Word, Words};

use crate::compression::{Compression, read, shape, unrolled};

/// The compression function of SHA-2 on words `W`: of SHA-256 on `u32`, of SHA-512 on `u64`.
#[derive(Clone, Copy, Debug)]
pub struct Sha2<W>(PhantomData<W>);

impl Compression for Sha2<u32> {
    shape!(u32, state 8, words 16, block 64);
    const PAIRED: bool = true;
    const BESIDE_INSTRUCTIONS: [usize; 2] = [usize::MAX, 6];

    #[inline(always)]
    fn take<S: Words<u32>>(s: S, state: &mut [S::V; 8], mut w: [S::V; 16]) {
        take(s, state, &mut w, None);
    }

    #[inline(always)]
    fn steps<S: Words<u32>>(s: S, state: &mut [S::V; 8], rows: &[&[u8]], steps: usize) {
        take_all(s, state, rows, steps);
    }

    #[inline(always)]
    fn by_instructions<S: ShaRounds>(
        s: S,
        state: &mut [u32; 8],
        blocks: &[u8],
        beside: &mut impl BesideRounds,
    ) -> bool {
        s.sha256(&K32, state, blocks.as_chunks().0, beside)
    }
}

impl Compression for Sha2<u64> {
    shape!(u64, state 8, words 16, block 128);
    const PAIRED: bool = true;

    #[inline(always)]
    fn take<S: Words<u64>>(s: S, state: &mut [S::V; 8], mut w: [S::V; 16]) {
        take(s, state, &mut w, None);
    }

    #[inline(always)]
    fn steps<S: Words<u64>>(s: S, state: &mut [S::V; 8], rows: &[&[u8]], steps: usize) {
        take_all(s, state, rows, steps);
    }
}

/// What differs between the two sizes of words (FIPS 180-4, 4.1.2 and 4.1.3).
trait Sha2Word: Word {
    /// The constants of the rounds, 16 rounds in a row.
    const K: &'static [[Self; 16]];

    /// Σ0
    fn upper_0<S: Words<Self>>(s: S, v: S::V) -> S::V;
    /// Σ1
    fn upper_1<S: Words<Self>>(s: S, v: S::V) -> S::V;
    /// σ0
    fn lower_0<S: Words<Self>>(s: S, v: S::V) -> S::V;
    /// σ1
    fn lower_1<S: Words<Self>>(s: S, v: S::V) -> S::V;
}

/// Functions of rotations to the right and shifts of words of `$bits` bits.
macro_rules! sums {
    ($bits:literal, $($name:ident: $a:literal, $b:literal, $how:ident $c:literal;)+) => {
        $(
            #[inline(always)]
            fn $name<S: Words<Self>>(s: S, v: S::V) -> S::V {
                s.xor3(s.rotate_left::<{ $bits - $a }>(v), s.rotate_left::<{ $bits - $b }>(v), sums!(@$how s v $bits $c))
            }
        )+
    };
    (@rotate $s:ident $v:ident $bits:literal $c:literal) => { $s.rotate_left::<{ $bits - $c }>($v) };
    (@shift $s:ident $v:ident $bits:literal $c:literal) => { $s.shift_right::<$c>($v) };
}

impl Sha2Word for u32 {
    const K: &'static [[Self; 16]] = &K32;

    sums! {
        32,
        upper_0: 2, 13, rotate 22;
        upper_1: 6, 11, rotate 25;
        lower_0: 7, 18, shift 3;
        lower_1: 17, 19, shift 10;
    }
}

impl Sha2Word for u64 {
    const K: &'static [[Self; 16]] = &K64;

    sums! {
        64,
        upper_0: 28, 34, rotate 39;
        upper_1: 14, 18, rotate 41;
        lower_0: 1, 8, shift 7;
        lower_1: 19, 61, shift 6;
    }
}

/// The first `steps` blocks of each lane's row.
#[inline(always)]
fn take_all<W: Sha2Word, S: Words<W>>(s: S, state: &mut [S::V; 8], rows: &[&[u8]], steps: usize) {
    if steps == 0 {
        return;
    }
    let mut w = [state[0]; 16];
    read(s, rows, 0, &mut w, true);
    for number in 1..=steps {
        take(s, state, &mut w, (number < steps).then_some((rows, number * 16 * W::BYTES)));
    }
}

/// One block of each lane (FIPS 180-4, 6.2.2 and 6.4.2). Then `w` has the words of the next one, if there is one.
#[inline(always)]
fn take<W: Sha2Word, S: Words<W>>(
    s: S,
    state: &mut [S::V; 8],
    w: &mut [S::V; 16],
    next: Option<(&[&[u8]], usize)>,
) {
    let before = *state;
    let Some((last, first)) = W::K.split_last() else { return };
    for k in first {
        unrolled!(T in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] {
            round(s, state, w[T], k[T]);
            // The word 16 rounds ahead.
            let early = s.add(w[T], W::lower_0(s, w[(T + 1) % 16]));
            let late = s.add(w[(T + 9) % 16], W::lower_1(s, w[(T + 14) % 16]));
            w[T] = s.add(early, late);
        });
    }
    // The next words are made beside rounds that make none: turning them takes units that rounds leave free.
    let words = *w;
    if let Some((rows, at)) = next {
        read(s, rows, at, w, true);
    }
    unrolled!(T in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] { round(s, state, words[T], last[T]) });
    for (word, before) in state.iter_mut().zip(before) {
        *word = s.add(*word, before);
    }
}

#[inline(always)]
fn round<W: Sha2Word, S: Words<W>>(s: S, state: &mut [S::V; 8], w: S::V, k: W) {
    let [a, b, c, d, e, f, g, h] = *state;
    // As few additions as there can be: in lanes they take units, and hardly wait for one another.
    let known = s.add(s.add(h, s.add(w, s.splat(k))), s.choose(e, f, g));
    let sum = s.add(known, W::upper_1(s, e));
    let other = s.add(s.majority(a, b, c), W::upper_0(s, a));
    *state = [s.add(sum, other), a, b, c, s.add(d, sum), e, f, g];
}

/// FIPS 180-4, 4.2.3: the first 64 bits of the fractions of the cube roots of the first 80 primes.
const K64: [[u64; 16]; 5] = [
    [
        0x428a_2f98_d728_ae22,
        0x7137_4491_23ef_65cd,
        0xb5c0_fbcf_ec4d_3b2f,
        0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538,
        0x59f1_11f1_b605_d019,
        0x923f_82a4_af19_4f9b,
        0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242,
        0x1283_5b01_4570_6fbe,
        0x2431_85be_4ee4_b28c,
        0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f,
        0x80de_b1fe_3b16_96b1,
        0x9bdc_06a7_25c7_1235,
        0xc19b_f174_cf69_2694,
    ],
    [
        0xe49b_69c1_9ef1_4ad2,
        0xefbe_4786_384f_25e3,
        0x0fc1_9dc6_8b8c_d5b5,
        0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275,
        0x4a74_84aa_6ea6_e483,
        0x5cb0_a9dc_bd41_fbd4,
        0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab,
        0xa831_c66d_2db4_3210,
        0xb003_27c8_98fb_213f,
        0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2,
        0xd5a7_9147_930a_a725,
        0x06ca_6351_e003_826f,
        0x1429_2967_0a0e_6e70,
    ],
    [
        0x27b7_0a85_46d2_2ffc,
        0x2e1b_2138_5c26_c926,
        0x4d2c_6dfc_5ac4_2aed,
        0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de,
        0x766a_0abb_3c77_b2a8,
        0x81c2_c92e_47ed_aee6,
        0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364,
        0xa81a_664b_bc42_3001,
        0xc24b_8b70_d0f8_9791,
        0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218,
        0xd699_0624_5565_a910,
        0xf40e_3585_5771_202a,
        0x106a_a070_32bb_d1b8,
    ],
    [
        0x19a4_c116_b8d2_d0c8,
        0x1e37_6c08_5141_ab53,
        0x2748_774c_df8e_eb99,
        0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63,
        0x4ed8_aa4a_e341_8acb,
        0x5b9c_ca4f_7763_e373,
        0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc,
        0x78a5_636f_4317_2f60,
        0x84c8_7814_a1f0_ab72,
        0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28,
        0xa450_6ceb_de82_bde9,
        0xbef9_a3f7_b2c6_7915,
        0xc671_78f2_e372_532b,
    ],
    [
        0xca27_3ece_ea26_619c,
        0xd186_b8c7_21c0_c207,
        0xeada_7dd6_cde0_eb1e,
        0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba,
        0x0a63_7dc5_a2c8_98a6,
        0x113f_9804_bef9_0dae,
        0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84,
        0x32ca_ab7b_40c7_2493,
        0x3c9e_be0a_15c9_bebc,
        0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6,
        0x597f_299c_fc65_7e2a,
        0x5fcb_6fab_3ad6_faec,
        0x6c44_198c_4a47_5817,
    ],
];

/// FIPS 180-4, 4.2.2: the first 32 bits of those of the first 64 primes.
const K32: [[u32; 16]; 4] = {
    let mut k = [[0; 16]; 4];
    let mut t = 0;
    while t < 64 {
        k[t / 16][t % 16] = (K64[t / 16][t % 16] >> 32) as u32;
        t += 1;
    }
    k
};

/// The first 64 bits of the fractions of the square roots of the first 16 primes: the initial value of SHA-512
/// (FIPS 180-4, 5.3.5), then that of SHA-384 (5.3.4).
const ROOTS: [u64; 16] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
    0xcbbb_9d5d_c105_9ed8,
    0x629a_292a_367c_d507,
    0x9159_015a_3070_dd17,
    0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31,
    0x8eb4_4a87_6858_1511,
    0xdb0c_2e0d_64f9_8fa7,
    0x47b5_481d_befa_4fa4,
];

/// The initial values of FIPS 180-4, 5.3.
pub(crate) mod initial {
    use super::ROOTS;

    pub(crate) const SHA_512: [u64; 8] = half(0);
    pub(crate) const SHA_384: [u64; 8] = half(8);
    pub(crate) const SHA_512_224: [u64; 8] = [
        0x8c3d_37c8_1954_4da2,
        0x73e1_9966_89dc_d4d6,
        0x1dfa_b7ae_32ff_9c82,
        0x679d_d514_582f_9fcf,
        0x0f6d_2b69_7bd4_4da8,
        0x77e3_6f73_04c4_8942,
        0x3f9d_85a8_6a1d_36c8,
        0x1112_e6ad_91d6_92a1,
    ];
    pub(crate) const SHA_512_256: [u64; 8] = [
        0x2231_2194_fc2b_f72c,
        0x9f55_5fa3_c84c_64c2,
        0x2393_b86b_6f53_b151,
        0x9638_7719_5940_eabd,
        0x9628_3ee2_a88e_ffe3,
        0xbe5e_1e25_5386_3992,
        0x2b01_99fc_2c85_b8aa,
        0x0eb7_2ddc_81c5_2ca2,
    ];
    /// The first 32 bits of those of SHA-512.
    pub(crate) const SHA_256: [u32; 8] = words(SHA_512, 32);
    /// The second 32 bits of those of SHA-384.
    pub(crate) const SHA_224: [u32; 8] = words(SHA_384, 0);

    const fn half(from: usize) -> [u64; 8] {
        let mut words = [0; 8];
        let mut at = 0;
        while at < 8 {
            words[at] = ROOTS[from + at];
            at += 1;
        }
        words
    }

    const fn words(of: [u64; 8], shift: u32) -> [u32; 8] {
        let mut words = [0; 8];
        let mut at = 0;
        while at < 8 {
            words[at] = (of[at] >> shift & 0xffff_ffff) as u32;
            at += 1;
        }
        words
    }
}
