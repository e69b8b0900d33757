//! The state of one AEGIS instance a lane: its functions `Update`, `Init`, keystream and `Finalize`
//! (draft-irtf-cfrg-aegis-aead-18, 3, 4 and 5).

use lanelock_isa::{AesRounds, Block};
use zeroize::Zeroize;

/// Which family: 128 (AEGIS-128L and 128X) or 256 (AEGIS-256 and 256X), the bits of the key.
#[derive(Clone, Copy)]
pub(super) struct AegisFamily<const BITS: usize>;

/// What sets the families apart. A *word* of the state is one block a lane.
pub(super) trait Core: Copy {
    /// A key or a nonce.
    type Key: Copy + AsMut<[Block]> + Zeroize;
    /// One value for each word of the state.
    type Words<T: Copy>: Copy + AsRef<[T]> + AsMut<[T]>;
    /// One value for each word that an update absorbs.
    type Rate<T: Copy>: Copy + AsRef<[T]> + AsMut<[T]>;
    /// Blocks of a key or a nonce.
    const KEY: usize;
    /// Words that an update absorbs.
    const RATE: usize;
    /// The word that `Finalize` mixes with the lengths.
    const COUNTED: usize;

    /// A key of zeros.
    fn key() -> Self::Key;
    /// The same value for each word.
    fn words<T: Copy>(value: T) -> Self::Words<T>;
    /// The same value for each absorbed word.
    fn rate<T: Copy>(value: T) -> Self::Rate<T>;

    /// `Init`. Lanes have a context where there are several.
    fn init<S: AesRounds>(
        s: S,
        key: &Self::Key,
        nonce: &Self::Key,
        context: Option<S::V>,
    ) -> Self::Words<S::V>;

    /// `Update` with `early` ^ `late`, where `early` may be known before the state is and `late` not.
    ///
    /// In the draft, S'_0 = AESRound(S_7, S_0 ^ M). The round is AESENC, which adds its key last,
    /// but needs it when it starts: S_0 ^ M as a key would have to be there four cycles before it is
    /// used. Here the key is `early`, and S_0 ^ `late` is added to the result: computed during the
    /// round.
    fn update<S: AesRounds>(
        s: S,
        v: Self::Words<S::V>,
        early: Self::Rate<S::V>,
        late: Self::Rate<S::V>,
    ) -> Self::Words<S::V>;

    /// What the next message block is encrypted with.
    fn keystream<S: AesRounds>(s: S, v: Self::Words<S::V>) -> Self::Rate<S::V>;

    /// The tag of each lane: one block (the other is zero), or two if it is `long`.
    fn tag<S: AesRounds>(s: S, v: Self::Words<S::V>, long: bool) -> [S::V; 2];
}

impl Core for AegisFamily<128> {
    type Key = [Block; 1];
    type Words<T: Copy> = [T; 8];
    type Rate<T: Copy> = [T; 2];
    const KEY: usize = 1;
    const RATE: usize = 2;
    const COUNTED: usize = 2;

    fn key() -> [Block; 1] {
        [[0; 16]]
    }

    #[inline(always)]
    fn words<T: Copy>(value: T) -> [T; 8] {
        [value; 8]
    }

    #[inline(always)]
    fn rate<T: Copy>(value: T) -> [T; 2] {
        [value; 2]
    }

    #[inline(always)]
    fn init<S: AesRounds>(
        s: S,
        [key]: &[Block; 1],
        [nonce]: &[Block; 1],
        context: Option<S::V>,
    ) -> [S::V; 8] {
        let (key, nonce, c0, c1) = (s.splat(key), s.splat(nonce), s.splat(&C0), s.splat(&C1));
        let mixed = s.xor(key, nonce);
        let (k0, k1) = (s.xor(key, c0), s.xor(key, c1));
        // S_0 to S_7 of the draft; the nonce and the key are the message of ten updates.
        let mut v = [mixed, c1, c0, c1, mixed, k0, k1, k0];
        if let Some(context) = context {
            // The draft adds the context to words 3 and 7 before each update. Here both have it
            // already; as round key of the update it goes into the new words as well, ready for the
            // next one.
            v[3] = s.xor(v[3], context);
            v[7] = s.xor(v[7], context);
            for _ in 0..10 {
                let [s0, s1, s2, s3, s4, s5, s6, s7] = v;
                v = s.rounds(
                    [s7, s0, s1, s2, s3, s4, s5, s6],
                    [nonce, s1, s2, context, key, s5, s6, context],
                );
                v[0] = s.xor(v[0], s0);
                v[3] = s.xor(v[3], s3);
                v[4] = s.xor(v[4], s4);
                v[7] = s.xor(v[7], s7);
            }
            v[3] = s.xor(v[3], context);
            v[7] = s.xor(v[7], context);
        } else {
            for _ in 0..10 {
                v = Self::update(s, v, [nonce, key], [s.zero(); 2]);
            }
        }
        v
    }

    #[inline(always)]
    fn update<S: AesRounds>(
        s: S,
        [s0, s1, s2, s3, s4, s5, s6, s7]: [S::V; 8],
        early: [S::V; 2],
        late: [S::V; 2],
    ) -> [S::V; 8] {
        let mut v = s
            .rounds([s7, s0, s1, s2, s3, s4, s5, s6], [early[0], s1, s2, s3, early[1], s5, s6, s7]);
        v[0] = s.xor(v[0], s.xor(s0, late[0]));
        v[4] = s.xor(v[4], s.xor(s4, late[1]));
        v
    }

    #[inline(always)]
    fn keystream<S: AesRounds>(s: S, [_, s1, s2, s3, _, s5, s6, s7]: [S::V; 8]) -> [S::V; 2] {
        [s.xor(s.xor(s1, s6), s.and(s2, s3)), s.xor(s.xor(s2, s5), s.and(s6, s7))]
    }

    #[inline(always)]
    fn tag<S: AesRounds>(
        s: S,
        [s0, s1, s2, s3, s4, s5, s6, s7]: [S::V; 8],
        long: bool,
    ) -> [S::V; 2] {
        let low = s.xor(s.xor(s0, s1), s.xor(s2, s3));
        let high = s.xor(s.xor(s4, s5), s6);
        if long { [low, s.xor(high, s7)] } else { [s.xor(low, high), s.zero()] }
    }
}

impl Core for AegisFamily<256> {
    type Key = [Block; 2];
    type Words<T: Copy> = [T; 6];
    type Rate<T: Copy> = [T; 1];
    const KEY: usize = 2;
    const RATE: usize = 1;
    const COUNTED: usize = 3;

    fn key() -> [Block; 2] {
        [[0; 16]; 2]
    }

    #[inline(always)]
    fn words<T: Copy>(value: T) -> [T; 6] {
        [value; 6]
    }

    #[inline(always)]
    fn rate<T: Copy>(value: T) -> [T; 1] {
        [value]
    }

    #[inline(always)]
    fn init<S: AesRounds>(
        s: S,
        [k0, k1]: &[Block; 2],
        [n0, n1]: &[Block; 2],
        context: Option<S::V>,
    ) -> [S::V; 6] {
        let (k0, k1, c0, c1) = (s.splat(k0), s.splat(k1), s.splat(&C0), s.splat(&C1));
        let (kn0, kn1) = (s.xor(k0, s.splat(n0)), s.xor(k1, s.splat(n1)));
        // S_0 to S_5 of the draft; both halves of the key, alone and with the nonce, are the message
        // of 16 updates.
        let mut v = [kn0, kn1, c1, c0, s.xor(k0, c0), s.xor(k1, c1)];
        if let Some(context) = context {
            // The draft adds the context to words 3 and 5 before each update: as in the 128 family.
            v[3] = s.xor(v[3], context);
            v[5] = s.xor(v[5], context);
            for _ in 0..4 {
                for m in [k0, k1, kn0, kn1] {
                    let [s0, s1, s2, s3, s4, s5] = v;
                    v = s.rounds([s5, s0, s1, s2, s3, s4], [m, s1, s2, context, s4, context]);
                    v[0] = s.xor(v[0], s0);
                    v[3] = s.xor(v[3], s3);
                    v[5] = s.xor(v[5], s5);
                }
            }
            v[3] = s.xor(v[3], context);
            v[5] = s.xor(v[5], context);
        } else {
            for _ in 0..4 {
                for m in [k0, k1, kn0, kn1] {
                    v = Self::update(s, v, [m], [s.zero()]);
                }
            }
        }
        v
    }

    #[inline(always)]
    fn update<S: AesRounds>(
        s: S,
        [s0, s1, s2, s3, s4, s5]: [S::V; 6],
        [early]: [S::V; 1],
        [late]: [S::V; 1],
    ) -> [S::V; 6] {
        let mut v = s.rounds([s5, s0, s1, s2, s3, s4], [early, s1, s2, s3, s4, s5]);
        v[0] = s.xor(v[0], s.xor(s0, late));
        v
    }

    #[inline(always)]
    fn keystream<S: AesRounds>(s: S, [_, s1, s2, s3, s4, s5]: [S::V; 6]) -> [S::V; 1] {
        [s.xor(s.xor(s1, s4), s.xor(s5, s.and(s2, s3)))]
    }

    #[inline(always)]
    fn tag<S: AesRounds>(s: S, [s0, s1, s2, s3, s4, s5]: [S::V; 6], long: bool) -> [S::V; 2] {
        let low = s.xor(s.xor(s0, s1), s2);
        let high = s.xor(s.xor(s3, s4), s5);
        if long { [low, high] } else { [s.xor(low, high), s.zero()] }
    }
}

/// `C0` and `C1`: the Fibonacci numbers modulo 256.
const C0: Block = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 121, 98];
const C1: Block = [219, 61, 24, 85, 109, 194, 47, 241, 32, 17, 49, 66, 115, 181, 40, 221];
