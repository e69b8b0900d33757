//! AES (FIPS 197) as a cipher of the modes.

use lanelock_isa::{AesClmul, Beside, Block, LAST, double_constant};

use super::{Cipher, CipherKeys, ExpandLanes, SameKey, Schedule, SizedCipher};

/// AES (FIPS 197) with keys of `BITS` bits: 128, 192 or 256.
#[derive(Clone, Copy, Debug)]
pub enum Aes<const BITS: usize> {}

/// AES (FIPS 197) with a key of any size: what kernels are compiled for.
///
/// A schedule has the round keys of rounds 0 to 13 in their places and that of the last round in place
/// [`LAST`](lanelock_isa::LAST), whatever the size of the key.
#[derive(Clone, Copy, Debug)]
pub enum AnyAes {}

/// The round keys of a cipher as those of AES.
#[derive(Clone, Copy)]
struct AesKeys<K>(K);

impl<S: AesClmul, K: CipherKeys<S, AnyAes>> lanelock_isa::RoundKeys<S> for AesKeys<K> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> S::K {
        self.0.get(s, round, vector)
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.rounds()
    }
}

macro_rules! key_sizes {
    ($($bits:literal, $name:literal;)+) => {
        $(
            impl SizedCipher for Aes<$bits> {
                const NAME: &'static str = $name;
                type KeyBytes = [u8; $bits / 8];
                type TwoKeys = [u8; 2 * $bits / 8];
                type Cipher = AnyAes;
            }
        )+
    };
}

key_sizes! {
    128, "Aes128";
    192, "Aes192";
    256, "Aes256";
}

impl Cipher for AnyAes {
    const ROUND_KEYS: usize = LAST + 1;
    const NO_KEYS: [Block; LAST + 1] = [[0; 16]; LAST + 1];
    type Rounds<T: Copy> = [T; LAST + 1];
    type RoundKey<S: AesClmul> = S::K;
    type Begun<S: AesClmul> = lanelock_isa::Begun<S::State, S::K>;

    #[inline(always)]
    fn rounds(key_bytes: usize) -> usize {
        6 + key_bytes / 4
    }

    fn name(rounds: usize) -> &'static str {
        match rounds {
            10 => Aes::<128>::NAME,
            12 => Aes::<192>::NAME,
            _ => Aes::<256>::NAME,
        }
    }

    #[inline(always)]
    fn places<T: Copy>(value: T) -> [T; LAST + 1] {
        [value; LAST + 1]
    }

    #[inline(always)]
    fn uses(place: usize, rounds: usize) -> bool {
        place < 10 || place == LAST || place < rounds
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
    fn expand<S: AesClmul>(s: S, key: &[u8], keys: &mut [Block; LAST + 1]) {
        match key.len() {
            16 => expand::<S, 11>(s, key, keys),
            24 => expand::<S, 13>(s, key, keys),
            _ => expand::<S, 15>(s, key, keys),
        }
    }

    /// The round keys of the equivalent inverse cipher (FIPS 197, 5.3.5): reversed, all but
    /// the ends unmixed.
    #[inline(always)]
    fn invert<S: AesClmul>(s: S, encrypt: Schedule<'_, Self>, decrypt: &mut [Block; LAST + 1]) {
        match encrypt.rounds {
            10 => invert::<S, 10>(s, encrypt.keys, decrypt),
            12 => invert::<S, 12>(s, encrypt.keys, decrypt),
            _ => invert::<S, 14>(s, encrypt.keys, decrypt),
        }
    }

    #[inline(always)]
    fn encrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt::<N>(v, AesKeys(keys))
    }

    #[inline(always)]
    fn decrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.decrypt::<N>(v, AesKeys(keys))
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
        s.encrypt_whitened::<N>(v, AesKeys(keys))
    }

    #[inline(always)]
    fn encrypt_whitened_xor<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        next: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt_whitened_xor::<N>(v, next, AesKeys(keys))
    }

    #[inline(always)]
    fn encrypt_xor<S: AesClmul, const N: usize>(
        s: S,
        early: [S::V; N],
        late: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        s.encrypt_xor::<N>(early, late, AesKeys(keys))
    }

    #[inline(always)]
    fn begin<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [Self::Begun<S>; N] {
        s.encrypt_begin::<N>(whitened, AesKeys(keys))
    }

    #[inline(always)]
    fn join<S: AesClmul>(s: S, mask: S::V, keys: impl CipherKeys<S, Self>, vector: usize) -> S::V {
        s.join(mask, keys.get(s, LAST, vector))
    }

    #[inline(always)]
    fn end<S: AesClmul>(
        s: S,
        begun: Self::Begun<S>,
        joined: S::V,
        keys: impl CipherKeys<S, Self>,
        vector: usize,
    ) -> S::V {
        s.encrypt_end(begun, keys.get(s, LAST, vector), joined)
    }

    #[inline(always)]
    fn begin_decrypt<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [Self::Begun<S>; N] {
        s.decrypt_begin::<N>(whitened, AesKeys(keys))
    }

    #[inline(always)]
    fn begin_beside<S: AesClmul, const ENCRYPT: bool, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
        beside: &mut impl Beside<S>,
    ) -> [Self::Begun<S>; N] {
        s.begin_beside::<ENCRYPT, N>(whitened, AesKeys(keys), beside)
    }

    #[inline(always)]
    fn end_decrypt<S: AesClmul>(
        s: S,
        begun: Self::Begun<S>,
        joined: S::V,
        keys: impl CipherKeys<S, Self>,
        vector: usize,
    ) -> S::V {
        s.decrypt_end(begun, keys.get(s, LAST, vector), joined)
    }
}

/// The key expansion of a key with `R` round keys, the last one moved to its place.
#[inline(always)]
fn expand<S: AesClmul, const R: usize>(s: S, key: &[u8], keys: &mut [Block; LAST + 1]) {
    if let Some(first) = keys.first_chunk_mut::<R>() {
        s.expand(key, first);
    }
    keys[LAST] = keys[R - 1];
}

/// The round keys of decryption, of a key with so many rounds.
#[inline(always)]
fn invert<S: AesClmul, const ROUNDS: usize>(
    s: S,
    encrypt: &[Block; LAST + 1],
    decrypt: &mut [Block; LAST + 1],
) {
    decrypt[0] = encrypt[LAST];
    decrypt[LAST] = encrypt[0];
    for round in 1..ROUNDS {
        decrypt[round] = s.inv_mix_columns(encrypt[ROUNDS - round]);
    }
}

impl ExpandLanes for AnyAes {
    #[inline(always)]
    fn key_bytes(rounds: usize) -> usize {
        4 * (rounds - 6)
    }

    #[inline(always)]
    fn expand_lanes<S: AesClmul>(
        s: S,
        rounds: usize,
        first: S::V,
        second: S::V,
    ) -> SameKey<'static, S, Self> {
        let mut keys = [s.as_keys(first); LAST + 1];
        let mut constant = 1;
        if rounds == 10 {
            let mut k = first;
            for round in 1..11 {
                k = s.next_round_key::<true>(k, k, constant);
                keys[if round == 10 { LAST } else { round }] = s.as_keys(k);
                constant = double_constant(constant);
            }
        } else {
            let (mut a, mut b) = (first, second);
            keys[1] = s.as_keys(b);
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
        }
        SameKey::of(keys, rounds)
    }
}
