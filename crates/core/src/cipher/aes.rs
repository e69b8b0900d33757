//! AES (FIPS 197) as a cipher of the modes.

use lanelock_isa::{AesClmul, Beside, Block, double_constant};

use super::{Cipher, CipherKeys, ExpandLanes};

/// AES (FIPS 197) with `R` round keys: 11, 13 or 15 for keys of 128, 192 or 256 bits.
#[derive(Clone, Copy, Debug)]
pub enum Aes<const R: usize> {}

/// The round keys of a cipher as those of AES.
#[derive(Clone, Copy)]
struct AesKeys<K, const R: usize>(K);

impl<S, K, const R: usize> lanelock_isa::RoundKeys<S> for AesKeys<K, R>
where
    S: AesClmul,
    K: CipherKeys<S, Aes<R>>,
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
    const ROUND_KEYS: usize = R;
    type KeyBytes = <Self as AesKeySize>::KeyBytes;
    type TwoKeys = <Self as AesKeySize>::TwoKeys;
    type Rounds<T: Copy> = [T; R];
    type RoundKey<S: AesClmul> = S::K;
    type Begun<S: AesClmul> = lanelock_isa::Begun<S::State, S::K>;

    #[inline(always)]
    fn rounds<T: Copy>(value: T) -> [T; R] {
        [value; R]
    }

    #[inline(always)]
    fn round_key<S: AesClmul>(s: S, key: &Block) -> S::K {
        s.key(key)
    }

    #[inline(always)]
    fn lane_keys<S: AesClmul>(s: S, keys: S::V) -> S::K {
        s.as_keys(keys)
    }

    #[inline(always)]
    fn expand<S: AesClmul>(s: S, key: &[u8], schedule: &mut [Block; R]) {
        s.expand(key, schedule);
    }

    /// The round keys of the equivalent inverse cipher (FIPS 197, 5.3.5): reversed, all but
    /// the ends unmixed.
    #[inline(always)]
    fn invert<S: AesClmul>(s: S, encrypt: &[Block; R], decrypt: &mut [Block; R]) {
        let last = R - 1;
        decrypt[0] = encrypt[last];
        decrypt[last] = encrypt[0];
        for round in 1..last {
            decrypt[round] = s.inv_mix_columns(encrypt[last - round]);
        }
    }

    #[inline(always)]
    fn encrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt::<N, R>(v, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn decrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.decrypt::<N, R>(v, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn encrypt_beside<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N] {
        s.encrypt_beside::<N, R>(v, AesKeys::<_, R>(keys), beside)
    }

    #[inline(always)]
    fn whiten<S: AesClmul>(s: S, v: S::V, keys: impl CipherKeys<S, Self>, vector: usize) -> S::V {
        s.whiten(v, keys.get(s, 0, vector))
    }

    #[inline(always)]
    fn encrypt_whitened<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt_whitened::<N, R>(v, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn encrypt_whitened_xor<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        next: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt_whitened_xor::<N, R>(v, next, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn encrypt_xor<S: AesClmul, const N: usize>(
        s: S,
        early: [S::V; N],
        late: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt_xor::<N, R>(early, late, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn begin<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [Self::Begun<S>; N] {
        s.encrypt_begin::<N, R>(whitened, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn join<S: AesClmul>(s: S, mask: S::V, keys: impl CipherKeys<S, Self>, vector: usize) -> S::V {
        s.join(mask, keys.get(s, R - 1, vector))
    }

    #[inline(always)]
    fn end<S: AesClmul>(
        s: S,
        begun: Self::Begun<S>,
        joined: S::V,
        keys: impl CipherKeys<S, Self>,
        vector: usize,
    ) -> S::V {
        s.encrypt_end(begun, keys.get(s, R - 1, vector), joined)
    }

    #[inline(always)]
    fn begin_decrypt<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [Self::Begun<S>; N] {
        s.decrypt_begin::<N, R>(whitened, AesKeys::<_, R>(keys))
    }

    #[inline(always)]
    fn end_decrypt<S: AesClmul>(
        s: S,
        begun: Self::Begun<S>,
        joined: S::V,
        keys: impl CipherKeys<S, Self>,
        vector: usize,
    ) -> S::V {
        s.decrypt_end(begun, keys.get(s, R - 1, vector), joined)
    }
}

impl ExpandLanes for Aes<11> {
    #[inline(always)]
    fn expand_lanes<S: AesClmul>(s: S, mut k: S::V, _: S::V) -> [S::K; 11] {
        let mut keys = [s.as_keys(k); 11];
        let mut constant = 1;
        for round in 1..11 {
            k = s.next_round_key::<true>(k, k, constant);
            keys[round] = s.as_keys(k);
            constant = double_constant(constant);
        }
        keys
    }
}

impl ExpandLanes for Aes<15> {
    #[inline(always)]
    fn expand_lanes<S: AesClmul>(s: S, mut a: S::V, mut b: S::V) -> [S::K; 15] {
        let mut keys = [s.as_keys(a); 15];
        keys[1] = s.as_keys(b);
        let mut constant = 1;
        for round in 2..15 {
            if round % 2 == 0 {
                a = s.next_round_key::<true>(a, b, constant);
                keys[round] = s.as_keys(a);
                constant = double_constant(constant);
            } else {
                b = s.next_round_key::<false>(b, a, 0);
                keys[round] = s.as_keys(b);
            }
        }
        keys
    }
}
