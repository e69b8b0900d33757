//! Keccak-f[1600] as a sponge: SHA-3, SHAKE (FIPS 202) and TurboSHAKE (RFC 9861).

use lanelock_isa::{PortableWords, Words};

use crate::compression::{Compression, shape};

/// The sponge on Keccak-p[1600, `ROUNDS`] with blocks of `RATE` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sponge<const RATE: usize, const ROUNDS: usize = 24>;

impl<const RATE: usize, const ROUNDS: usize> Compression for Sponge<RATE, ROUNDS> {
    shape!(u64, state 25, words 25, block RATE);
    const BIG_ENDIAN: bool = false;
    const PAIRED: bool = false;

    #[inline(always)]
    fn take<S: Words<u64>>(s: S, state: &mut [S::V; 25], words: [S::V; 25]) {
        const { assert!(RATE.is_multiple_of(8) && RATE < 200) }
        for at in 0..RATE / 8 {
            state[at] = s.xor(state[at], words[at]);
        }
        permute::<S, ROUNDS>(s, state);
    }
}

/// Keccak-p[1600, `ROUNDS`] (FIPS 202, 3.3). Word x + 5y of the state is lane (x, y) of the standard.
#[inline(always)]
pub(crate) fn permute<S: Words<u64>, const ROUNDS: usize>(s: S, a: &mut [S::V; 25]) {
    for constant in &CONSTANTS[24 - ROUNDS..] {
        // θ
        let mut c = [a[0]; 5];
        for x in 0..5 {
            c[x] = s.xor3(s.xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
        }
        for x in 0..5 {
            let d = s.xor(c[(x + 4) % 5], s.rotate_left::<1>(c[(x + 1) % 5]));
            for y in 0..5 {
                a[x + 5 * y] = s.xor(a[x + 5 * y], d);
            }
        }
        // ρ and π: where each word of the result comes from, and how far it is turned.
        let b = *a;
        macro_rules! row {
            ($to:literal: $($from:literal $by:literal),+) => {{
                let row = [$(s.rotate_left::<$by>(b[$from])),+];
                // χ
                for x in 0..5 {
                    a[$to + x] = s.xor_and_not(row[x], row[(x + 1) % 5], row[(x + 2) % 5]);
                }
            }};
        }
        row!(0: 0 0, 6 44, 12 43, 18 21, 24 14);
        row!(5: 3 28, 9 20, 10 3, 16 45, 22 61);
        row!(10: 1 1, 7 6, 13 25, 19 8, 20 18);
        row!(15: 4 27, 5 36, 11 10, 17 15, 23 56);
        row!(20: 2 62, 8 55, 14 39, 15 41, 21 2);
        // ι
        a[0] = s.xor(a[0], s.splat(*constant));
    }
}

/// The permutation of one state.
#[inline(never)]
pub(crate) fn permute_one<const ROUNDS: usize>(state: &mut [u64; 25]) {
    let mut words = state.map(|word| [word]);
    permute::<_, ROUNDS>(PortableWords::<1>::new(), &mut words);
    *state = words.map(|[word]| word);
}

/// The constants of ι (FIPS 202, 3.2.5), of 24 rounds.
const CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
