//! Block ciphers as types: what a mode has to know of the cipher that it runs over.

mod aes;
mod key;
mod round_keys;
mod schedule;

pub use aes::{Aes, AnyAes};
pub use key::Key;
#[doc(hidden)]
pub use key::{EncryptKey, Schedules};
pub use lanelock_isa::STEPS;
pub use round_keys::{CipherKeys, LaneKeys, OwnKeys, SameKey};
pub use schedule::Schedule;

use lanelock_isa::{AesClmul, Beside, Block};

/// A block cipher with keys of one size: the parameter of keys and AEADs, such as [`Aes<128>`](Aes).
pub trait SizedCipher: Copy + Send + Sync + 'static {
    /// The name of its keys, such as `Aes128`.
    const NAME: &'static str;
    /// The bytes of a key: an array.
    type KeyBytes: AsRef<[u8]>;
    /// The bytes of two keys, one behind the other, as XTS takes them.
    type TwoKeys: AsRef<[u8]>;
    /// What kernels are compiled for: one cipher for all key sizes.
    type Cipher: Cipher;
}

/// A block cipher with blocks of 16 bytes, on vectors of blocks, with keys of any size that it has.
///
/// Modes are written over it and know nothing else of a cipher: one that implements this and
/// [`SizedCipher`] runs in all of them. The implementation has no state: what it derives from a key is a
/// [`Schedule`], for one direction.
///
/// All functions are `#[inline(always)]`, like the bodies of kernels (see `lanelock_isa`), and take
/// the same time for all keys of a size and all texts.
pub trait Cipher: Copy + Send + Sync + 'static {
    /// The places for round keys in a schedule.
    const ROUND_KEYS: usize;
    /// Zeros in each place.
    const NO_KEYS: Self::Rounds<Block>;
    /// A value for each place: an array.
    type Rounds<T: Copy>: Copy + AsRef<[T]> + AsMut<[T]>;
    /// A round key in the form that the rounds take at level `S`.
    type RoundKey<S: AesClmul>: Copy;
    /// Blocks on their way through the cipher, up to its end: see [`begin`](Self::begin).
    type Begun<S: AesClmul>: Copy;

    /// The rounds of a key of so many bytes, where a cipher has keys of several sizes.
    #[inline(always)]
    fn rounds(_key_bytes: usize) -> usize {
        0
    }
    /// The name of keys with so many rounds: see [`SizedCipher::NAME`].
    fn name(rounds: usize) -> &'static str;
    /// The same value for each place.
    fn places<T: Copy>(value: T) -> Self::Rounds<T>;
    /// Whether keys with so many rounds have a round key in this place; for 0 rounds, whether all keys have.
    #[inline(always)]
    fn uses(_place: usize, _rounds: usize) -> bool {
        true
    }
    /// A round key for all lanes.
    fn round_key<S: AesClmul>(s: S, key: &Block) -> Self::RoundKey<S>;
    /// A round key for each lane.
    fn lane_keys<S: AesClmul>(s: S, keys: S::V) -> Self::RoundKey<S>;

    /// Makes the schedule of encryption from the bytes of a key, of a size that the cipher has: in place, since
    /// a schedule that is returned leaves copies behind.
    fn expand<S: AesClmul>(s: S, key: &[u8], keys: &mut Self::Rounds<Block>);
    /// Makes the schedule of decryption from that of encryption.
    fn invert<S: AesClmul>(s: S, encrypt: Schedule<'_, Self>, decrypt: &mut Self::Rounds<Block>);

    /// Encrypts `N` vectors, side by side.
    fn encrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N];
    /// Decrypts `N` vectors, with the schedule of decryption.
    fn decrypt<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N];

    /// What of the cipher may be done with a part of the input before the rest is there: an exclusive or
    /// with a key, where the cipher begins with one. Then `encrypt(a ^ b)` is
    /// `encrypt_whitened(whiten(a) ^ b)`.
    #[inline(always)]
    fn whiten<S: AesClmul>(_: S, v: S::V, _: impl CipherKeys<S, Self>, _vector: usize) -> S::V {
        v
    }
    /// [`encrypt`](Self::encrypt) behind [`whiten`](Self::whiten).
    #[inline(always)]
    fn encrypt_whitened<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        Self::encrypt(s, v, keys)
    }
    /// [`encrypt_whitened`](Self::encrypt_whitened), and exclusive or with `next`, which is there early: a
    /// cipher that ends with the exclusive or of a key adds both at once.
    #[inline(always)]
    fn encrypt_whitened_xor<S: AesClmul, const N: usize>(
        s: S,
        v: [S::V; N],
        next: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        let mut v = Self::encrypt_whitened(s, v, keys);
        for i in 0..N {
            v[i] = s.xor(v[i], next[i]);
        }
        v
    }
    /// Encrypts `early ^ late`: `late` is the part that may arrive last, such as the state of a chain.
    #[inline(always)]
    fn encrypt_xor<S: AesClmul, const N: usize>(
        s: S,
        early: [S::V; N],
        late: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; N] {
        let mut v = late;
        for i in 0..N {
            v[i] = s.xor(v[i], Self::whiten(s, early[i], keys, i));
        }
        Self::encrypt_whitened(s, v, keys)
    }
    /// [`encrypt_whitened`](Self::encrypt_whitened), with other work between the rounds: see
    /// [`begin_beside`](Self::begin_beside).
    #[inline(always)]
    fn encrypt_beside<S: AesClmul, const N: usize>(
        s: S,
        mut v: [S::V; N],
        keys: impl CipherKeys<S, Self>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N] {
        let begun = Self::begin_beside::<S, true, N>(s, v, keys, beside);
        for i in 0..N {
            v[i] = Self::end(s, begun[i], Self::join(s, s.zero(), keys, i), keys, i);
        }
        v
    }

    /// The beginning of an encryption, for modes that add a mask behind the cipher and have work of their
    /// own for each vector: `encrypt(v) ^ mask` is `end(begin(whiten(v)), join(mask))`. A cipher with
    /// nothing to save has `Begun` = `S::V`, encrypts here and adds the mask in [`end`](Self::end).
    fn begin<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [Self::Begun<S>; N];
    /// A mask, joined with what the cipher adds at its end.
    #[inline(always)]
    fn join<S: AesClmul>(_: S, mask: S::V, _: impl CipherKeys<S, Self>, _vector: usize) -> S::V {
        mask
    }
    /// The end of what [`begin`](Self::begin) began for vector number `vector`.
    fn end<S: AesClmul>(
        s: S,
        begun: Self::Begun<S>,
        joined: S::V,
        keys: impl CipherKeys<S, Self>,
        vector: usize,
    ) -> S::V;
    /// The beginning of a decryption, with the schedule of decryption: see [`begin`](Self::begin).
    fn begin_decrypt<S: AesClmul, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
    ) -> [Self::Begun<S>; N];
    /// [`begin`](Self::begin), or [`begin_decrypt`](Self::begin_decrypt), with other work between the rounds or behind
    /// them: at least [`STEPS`] steps of it, from step 1 on.
    #[inline(always)]
    fn begin_beside<S: AesClmul, const ENCRYPT: bool, const N: usize>(
        s: S,
        whitened: [S::V; N],
        keys: impl CipherKeys<S, Self>,
        beside: &mut impl Beside<S>,
    ) -> [Self::Begun<S>; N] {
        let begun = if ENCRYPT {
            Self::begin(s, whitened, keys)
        } else {
            Self::begin_decrypt(s, whitened, keys)
        };
        for step in 1..=STEPS {
            beside.step(s, step);
        }
        begun
    }
    /// The end of a decryption: see [`end`](Self::end).
    fn end_decrypt<S: AesClmul>(
        s: S,
        begun: Self::Begun<S>,
        joined: S::V,
        keys: impl CipherKeys<S, Self>,
        vector: usize,
    ) -> S::V;
}

/// A cipher whose key expansion can be done for each lane with a key of its own.
pub trait ExpandLanes: Cipher {
    /// The bytes of keys with so many rounds: 16 or 32.
    fn key_bytes(rounds: usize) -> usize;

    /// The schedule of the key in each lane: `first` has its first 16 bytes, `second` those behind them, if
    /// there are any.
    fn expand_lanes<S: AesClmul>(
        s: S,
        rounds: usize,
        first: S::V,
        second: S::V,
    ) -> SameKey<'static, S, Self>;
}
