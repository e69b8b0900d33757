//! AES (FIPS 197) as a cipher of the modes.

use lanelock_isa::{Beside, Block, Clmul};

use super::{Cipher, ExpandLanes, RoundKeys};

/// AES (FIPS 197) with `R` round keys: 11, 13 or 15 for keys of 128, 192 or 256 bits.
#[derive(Clone, Copy, Debug)]
pub enum Aes<const R: usize> {}

/// The round keys of a cipher as those of AES.
struct AesKeys<K, const R: usize>(K);

impl<K: Copy, const R: usize> Clone for AesKeys<K, R> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Copy, const R: usize> Copy for AesKeys<K, R> {}

impl<S, K, const R: usize> lanelock_isa::RoundKeys<S> for AesKeys<K, R>
where
    S: Clmul,
    K: RoundKeys<S, Aes<R>>,
    Aes<R>: AesKeySize,
{
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> S::K {
        self.0.get(s, round, vector)
    }
}

/// What depends on the size of a key of [`Aes`].
pub trait AesKeySize {
    /// See [`Cipher::NAME`].
    const NAME: &'static str;
    /// See [`Cipher::KeyBytes`].
    type KeyBytes: AsRef<[u8]>;
    /// See [`Cipher::TwoKeys`].
    type TwoKeys: AsRef<[u8]>;
}

macro_rules! key_sizes {
    ($($rounds:literal, $bytes:literal, $name:literal;)+) => {
        $(
            impl AesKeySize for Aes<$rounds> {
                const NAME: &'static str = $name;
                type KeyBytes = [u8; $bytes];
                type TwoKeys = [u8; 2 * $bytes];
            }
        )+
    };
}

key_sizes! {
    11, 16, "Aes128";
    13, 24, "Aes192";
    15, 32, "Aes256";
}

impl<const R: usize> Cipher for Aes<R>
where
    Self: AesKeySize,
{
    const NAME: &'static str = <Self as AesKeySize>::NAME;
    const KEY_BYTES: usize = 4 * (R - 7);
    type KeyBytes = <Self as AesKeySize>::KeyBytes;
    type TwoKeys = <Self as AesKeySize>::TwoKeys;
    type Rounds<T: Copy> = [T; R];
    type RoundKey<S: Clmul> = S::K;

    #[inline(always)]
    fn rounds<T: Copy>(value: T) -> [T; R] {
        [value; R]
    }

    #[inline(always)]
    fn round_key<S: Clmul>(s: S, key: &Block) -> S::K {
        s.key(key)
    }

    #[inline(always)]
    fn lane_keys<S: Clmul>(s: S, keys: S::V) -> S::K {
        s.as_keys(keys)
    }

    #[inline(always)]
    fn expand<S: Clmul>(s: S, key: &[u8], schedule: &mut [Block; R]) {
        s.expand(key, schedule);
    }

    /// The round keys of the equivalent inverse cipher (FIPS 197, 5.3.5): reversed, all but
    /// the ends unmixed.
    #[inline(always)]
    fn invert<S: Clmul>(s: S, encrypt: &[Block; R], decrypt: &mut [Block; R]) {
        let last = R - 1;
        decrypt[0] = encrypt[last];
        decrypt[last] = encrypt[0];
        for round in 1..last {
            decrypt[round] = s.inv_mix_columns(encrypt[last - round]);
        }
    }

    #[inline(always)]
    fn encrypt<S: Clmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl RoundKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt::<N, R>(v, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn decrypt<S: Clmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl RoundKeys<S, Self>,
    ) -> [S::V; N] {
        s.decrypt::<N, R>(v, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn encrypt_beside<S: Clmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl RoundKeys<S, Self>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N] {
        s.encrypt_beside::<N, R>(v, AesKeys::<_, R>(keys), beside)
    }
}

impl ExpandLanes for Aes<11> {
    #[inline(always)]
    fn expand_lanes<S: Clmul>(s: S, mut k: S::V, _: S::V) -> [S::K; 11] {
        let mut keys = [s.as_keys(k); 11];
        let mut constant = 1;
        for round in 1..11 {
            k = s.xor(running_xor(s, k), s.sub_last_words::<true>(k, constant));
            keys[round] = s.as_keys(k);
            constant = double(constant);
        }
        keys
    }
}

impl ExpandLanes for Aes<15> {
    #[inline(always)]
    fn expand_lanes<S: Clmul>(s: S, mut a: S::V, mut b: S::V) -> [S::K; 15] {
        let mut keys = [s.as_keys(a); 15];
        keys[1] = s.as_keys(b);
        let mut constant = 1;
        for round in 2..15 {
            if round % 2 == 0 {
                a = s.xor(running_xor(s, a), s.sub_last_words::<true>(b, constant));
                keys[round] = s.as_keys(a);
                constant = double(constant);
            } else {
                b = s.xor(running_xor(s, b), s.sub_last_words::<false>(a, 0));
                keys[round] = s.as_keys(b);
            }
        }
        keys
    }
}

/// Doubles a round constant in GF(2^8) (FIPS 197, 5.2).
#[inline(always)]
fn double(constant: u8) -> u8 {
    (constant << 1) ^ if constant & 0x80 == 0 { 0 } else { 0x1b }
}

/// Each word = the exclusive or of it and all words below.
#[inline(always)]
fn running_xor<S: Clmul>(s: S, v: S::V) -> S::V {
    let v = s.xor(v, s.bytes_up::<4>(v));
    s.xor(v, s.bytes_up::<8>(v))
}
