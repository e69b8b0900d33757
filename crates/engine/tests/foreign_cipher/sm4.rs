//! SM4 (GB/T 32907), written as an application would write a cipher of its own: over the public trait
//! alone. Word by word, and with a table whose look-ups depend on secrets: for tests.

use lanelock::{
    Block, SizedCipher,
    cipher::{Cipher, CipherKeys, Schedule},
};
use lanelock_isa::{AesClmul, MOST_LANES};

/// SM4: 32 rounds, each with a key of one word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sm4 {}

impl SizedCipher for Sm4 {
    const NAME: &'static str = "Sm4";
    type KeyBytes = [u8; 16];
    type TwoKeys = [u8; 32];
    type Cipher = Self;
}

impl Cipher for Sm4 {
    const ROUND_KEYS: usize = 8;
    const NO_KEYS: [Block; 8] = [[0; 16]; 8];
    /// Four round keys to a block.
    type Rounds<T: Copy> = [T; 8];
    type RoundKey<S: AesClmul> = S::V;
    type Begun<S: AesClmul> = S::V;

    fn name(_: usize) -> &'static str {
        Self::NAME
    }

    #[inline(always)]
    fn places<T: Copy>(value: T) -> [T; 8] {
        [value; 8]
    }

    #[inline(always)]
    fn round_key<S: AesClmul>(s: S, key: &Block) -> S::V {
        s.splat(key)
    }

    #[inline(always)]
    fn lane_keys<S: AesClmul>(_: S, keys: S::V) -> S::V {
        keys
    }

    #[inline(always)]
    fn expand<S: AesClmul>(_: S, key: &[u8], keys: &mut [Block; 8]) {
        expand(key, keys);
    }

    /// Decryption is encryption with the round keys in the other order.
    #[inline(always)]
    fn invert<S: AesClmul>(_: S, encrypt: Schedule<'_, Self>, decrypt: &mut [Block; 8]) {
        let words = encrypt.keys.as_flattened().chunks_exact(4).rev();
        for (to, word) in decrypt.as_flattened_mut().chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(word);
        }
    }

    #[inline(always)]
    fn encrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        let mut vector = 0;
        v.map(|v| {
            let mut blocks = [[0; 16]; MOST_LANES];
            s.store(v, &mut blocks);
            for round in 0..8 {
                let mut words = [[0; 16]; MOST_LANES];
                s.store(keys.get(s, round, vector), &mut words);
                blocks.iter_mut().zip(&words).take(S::WIDTH).for_each(four_rounds);
            }
            blocks.iter_mut().for_each(reverse_words);
            vector += 1;
            s.load(&blocks)
        })
    }

    #[inline(always)]
    fn decrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        Self::encrypt(s, v, keys)
    }

    #[inline(always)]
    fn begin<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        Self::encrypt(s, whitened, keys)
    }

    #[inline(always)]
    fn end<S: AesClmul>(
        s: S,
        begun: S::V,
        joined: S::V,
        _: impl CipherKeys<S, Self>,
        _: usize,
    ) -> S::V {
        s.xor(begun, joined)
    }

    #[inline(always)]
    fn begin_decrypt<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        Self::decrypt(s, whitened, keys)
    }

    #[inline(always)]
    fn end_decrypt<S: AesClmul>(
        s: S,
        begun: S::V,
        joined: S::V,
        _: impl CipherKeys<S, Self>,
        _: usize,
    ) -> S::V {
        s.xor(begun, joined)
    }
}

/// The schedule of encryption.
pub(crate) fn expand(key: &[u8], schedule: &mut [Block; 8]) {
    let (words, _) = key.as_chunks();
    let mut state = [0, 1, 2, 3].map(|i| u32::from_be_bytes(words[i]) ^ FAMILY_KEY[i]);
    for (i, to) in schedule.as_flattened_mut().chunks_exact_mut(4).enumerate() {
        let [a, b, c, d] = state;
        let t = substitute(b ^ c ^ d ^ constant(i));
        let word = a ^ t ^ t.rotate_left(13) ^ t.rotate_left(23);
        to.copy_from_slice(&word.to_be_bytes());
        state = [b, c, d, word];
    }
}

/// One block under the schedule of one key: for the references of tests.
pub(crate) fn crypt(schedule: &[Block; 8], mut block: Block) -> Block {
    for keys in schedule {
        four_rounds((&mut block, keys));
    }
    reverse_words(&mut block);
    block
}

fn four_rounds((block, keys): (&mut Block, &Block)) {
    let mut x = words(block);
    for (i, key) in words(keys).into_iter().enumerate() {
        let t = substitute(x[(i + 1) % 4] ^ x[(i + 2) % 4] ^ x[(i + 3) % 4] ^ key);
        x[i] ^= [2, 10, 18, 24].into_iter().fold(t, |sum, n| sum ^ t.rotate_left(n));
    }
    for (to, word) in block.chunks_exact_mut(4).zip(x) {
        to.copy_from_slice(&word.to_be_bytes());
    }
}

fn words(block: &Block) -> [u32; 4] {
    let (words, _) = block.as_chunks();
    [0, 1, 2, 3].map(|i| u32::from_be_bytes(words[i]))
}

fn reverse_words(block: &mut Block) {
    *block = u128::from_be_bytes(*block).to_le_bytes();
    block.chunks_exact_mut(4).for_each(<[u8]>::reverse);
}

/// The family key FK.
const FAMILY_KEY: [u32; 4] = [0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];

/// The round constant CK: its bytes are 7 * (4 * i + j) modulo 256.
fn constant(i: usize) -> u32 {
    u32::from_be_bytes([0, 1, 2, 3].map(|j| (7 * (4 * i + j)).to_le_bytes()[0]))
}

fn substitute(word: u32) -> u32 {
    u32::from_be_bytes(word.to_be_bytes().map(|byte| S_BOX[usize::from(byte)]))
}

/// The inverse in GF(2^8) modulo x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1 between two times the same affine
/// map.
const S_BOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0_u8;
    loop {
        table[x as usize] = affine(inverse(affine(x)));
        if x == 255 {
            break table;
        }
        x += 1;
    }
};

const fn affine(x: u8) -> u8 {
    let (mut y, mut bit) = (0, 0);
    while bit < 8 {
        if (0xa7_u8.rotate_left(bit) & x).count_ones() % 2 == 1 {
            y |= 1 << bit;
        }
        bit += 1;
    }
    y ^ 0xd3
}

/// x^254.
const fn inverse(x: u8) -> u8 {
    let (mut power, mut i) = (1, 0);
    while i < 254 {
        power = product(power, x);
        i += 1;
    }
    power
}

const fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b > 0 {
        sum ^= if b & 1 == 1 { a } else { 0 };
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0xf5 };
        b >>= 1;
    }
    sum
}
