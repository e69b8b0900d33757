//! AES on vectors of blocks: a level supplies single rounds, and everything that loops over rounds is
//! here.
//!
//! E(K, P) = K_r ^ SR(SB(... K_1 ^ MC(SR(SB(P ^ K_0))) ...)), r = 10, 12 or 14 (FIPS 197, 5.1).
//! Instruction sets cut this at different places: a round of x86 adds its key at the end (AESENC), one
//! of Arm at the beginning (AESE). So a round gets the keys on both of its sides ([`AesRounds::K`] `before`
//! and `after`) and adds one of them; the keys at the ends of the cipher are added by
//! [`whiten`](AesRounds::whiten) or [`enter`](AesRounds::enter), and by the last round with
//! [`join`](AesRounds::join).
//!
//! # Keys of all sizes
//! All have rounds 1 to 9 and a last one; whether there are rounds 10 and 11, then 12 and 13, are two
//! branches, which a processor foresees. Kernels for each size would be three times the code.
//!
//! # Order of the rounds
//! A round has a latency of several cycles, and one or two start in a cycle (Zen 5: 4 cycles, 2 started,
//! at any width; measured). One vector alone uses an eighth of that. So the loops here take round 1 of
//! all `N` vectors, then round 2: with `N` = 8 the next round of a vector starts when its last one has
//! ended. To the optimiser the vectors are independent, and left alone it finishes one after the other;
//! the processor would then have to look past all rounds of one to find the next.
//! [`order`](AesRounds::order) keeps the order.

use super::Blocks;
use crate::Block;

/// All rounds but the last, written out. LLVM unrolls a loop only up to a limit of its size, which the work between two
/// rounds may exceed; in a loop that stays one, arrays of vectors are indexed by a variable and therefore live
/// in memory.
macro_rules! each_round {
    ($keys:ident, $round:ident, $body:block) => {
        each_round!(@ $round, $body, 1 2 3 4 5 6 7 8 9);
        if $keys.rounds() > 10 {
            each_round!(@ $round, $body, 10 11);
            if $keys.rounds() > 12 {
                each_round!(@ $round, $body, 12 13);
            }
        }
    };
    (@ $round:ident, $body:block, $($number:literal)*) => {
        $({
            let $round = $number;
            $body
        })*
    };
}

/// The place of the last round key. It is the same for keys of all sizes, so that it is a constant of the
/// kernels: AES-128 and AES-192 have no keys in places 10 or 12 to 13.
pub const LAST: usize = 14;

/// The round keys of `N` vectors.
pub trait RoundKeys<S: AesRounds>: Copy {
    /// The key of `round` (0 is the whitening key, [`LAST`] that of the last round) for vector number `vector`.
    fn get(&self, s: S, round: usize, vector: usize) -> S::K;
    /// The rounds: 10, 12 or 14 (FIPS 197, table 3).
    fn rounds(&self) -> usize;
}

/// One key for all lanes, kept in registers; `R` is a round key more than there are rounds.
impl<S: AesRounds, const R: usize> RoundKeys<S> for [S::K; R] {
    #[inline(always)]
    fn get(&self, _: S, round: usize, _: usize) -> S::K {
        self[if round == LAST { R - 1 } else { round }]
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        R - 1
    }
}

/// The places for other work between the rounds of [`AesRounds::begin_beside`]: AES-128 has so many.
pub const STEPS: usize = 9;

/// Work that is done between the rounds of a cipher: see [`AesRounds::begin_beside`].
pub trait Beside<S: AesRounds> {
    /// What belongs behind round `round`, from 1 to [`STEPS`]. `#[inline(always)]`, like a kernel.
    fn step(&mut self, s: S, round: usize);
}

/// No other work.
impl<S: AesRounds> Beside<S> for () {
    #[inline(always)]
    fn step(&mut self, _: S, _: usize) {}
}

/// The blocks of a vector on their way through the cipher: see [`AesRounds::encrypt_begin`].
#[derive(Clone, Copy, Debug)]
pub struct Begun<State, K> {
    pub(crate) state: State,
    /// The key before the last round, which the last round adds where rounds add theirs first.
    pub(crate) before: K,
}

/// AES (FIPS 197) at one level.
///
/// A level supplies rounds; the ciphers are made of them here.
pub trait AesRounds: Blocks {
    /// A round key in the form that the rounds take: a vector, or bit planes at the portable level.
    type K: Copy;
    /// Blocks between two rounds: a vector, or bit planes at the portable level.
    type State: Copy;

    /// One round key for all lanes.
    #[inline(always)]
    fn key(self, key: &Block) -> Self::K {
        self.as_keys(self.splat(key))
    }
    /// A round key for each lane, from `WIDTH` blocks.
    #[inline(always)]
    fn lane_keys(self, keys: &[Block]) -> Self::K {
        self.as_keys(self.load(keys))
    }
    /// The blocks of a vector as a round key for each lane.
    fn as_keys(self, v: Self::V) -> Self::K;

    /// Adds round key 0 if that can be done ahead of [`enter`](AesRounds::enter), which does it otherwise: for
    /// a part of the input that is there before the rest. Further parts may be added by
    /// [`xor`](Blocks::xor) before or behind this.
    fn whiten(self, v: Self::V, first: Self::K) -> Self::V;
    /// The state before round 1, from blocks that [`whiten`](AesRounds::whiten) was applied to with the same
    /// key.
    fn enter(self, whitened: Self::V, first: Self::K) -> Self::State;
    /// A text that is to be added behind the cipher, joined with the last round key where one operation
    /// then adds both. Further texts may be added by [`xor`](Blocks::xor) before or behind this.
    fn join(self, text: Self::V, last: Self::K) -> Self::V;
    /// A round of encryption: SubBytes, ShiftRows and MixColumns, with `before` added before them or
    /// `after` behind them, whichever the rounds of this level do.
    fn encrypt_round(self, v: Self::State, before: Self::K, after: Self::K) -> Self::State;
    /// The last round of encryption: SubBytes and ShiftRows, with `before` added where rounds of this
    /// level begin with that, then `last` and what was [joined](AesRounds::join) with it.
    fn encrypt_last_round(
        self,
        v: Self::State,
        before: Self::K,
        last: Self::K,
        joined: Self::V,
    ) -> Self::V;
    /// Like [`encrypt_round`](AesRounds::encrypt_round), of the equivalent inverse cipher (FIPS 197, 5.3.5).
    fn decrypt_round(self, v: Self::State, before: Self::K, after: Self::K) -> Self::State;
    /// Like [`encrypt_last_round`](AesRounds::encrypt_last_round), of the equivalent inverse cipher.
    fn decrypt_last_round(
        self,
        v: Self::State,
        before: Self::K,
        last: Self::K,
        joined: Self::V,
    ) -> Self::V;
    /// [`here`](Blocks::here) for a state.
    fn order(self, v: Self::State) -> Self::State;

    /// One encryption round on each lane as a function of its own: SubBytes, ShiftRows, MixColumns,
    /// exclusive or with `key`.
    fn round(self, v: Self::V, key: Self::V) -> Self::V;
    /// One encryption [`round`](AesRounds::round) on each lane of `N` vectors.
    #[inline(always)]
    fn rounds<const N: usize>(self, mut v: [Self::V; N], keys: [Self::V; N]) -> [Self::V; N] {
        for i in 0..N {
            v[i] = self.round(v[i], keys[i]);
        }
        v
    }

    /// Encrypts `N` vectors.
    #[inline(always)]
    fn encrypt<const N: usize>(
        self,
        mut v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N] {
        let first = round_key::<_, N>(self, keys, 0);
        for i in 0..N {
            v[i] = self.whiten(v[i], first[i]);
        }
        let begun = self.begin::<true, N>(v, first, &keys, &mut ());
        end::<_, true, N>(self, begun, [self.zero(); N], keys)
    }
    /// Encrypts `x ^ y` lane by lane: `y` is the part that may arrive late (the
    /// chain), `x` the part that is there early (the plaintext).
    #[inline(always)]
    fn encrypt_xor<const N: usize>(
        self,
        x: [Self::V; N],
        y: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N] {
        let first = round_key::<_, N>(self, keys, 0);
        let mut v = y;
        for i in 0..N {
            // (x ^ K_0) ^ y: the first exclusive or does not need `y`, the chain. So only one
            // operation stands between the arrival of `y` and the first round.
            let early = self.whiten(x[i], first[i]);
            v[i] = self.xor(v[i], early);
        }
        let begun = self.begin::<true, N>(v, first, &keys, &mut ());
        end::<_, true, N>(self, begun, [self.zero(); N], keys)
    }
    /// Like [`encrypt`](AesRounds::encrypt), for vectors that [`whiten`](AesRounds::whiten) was applied to.
    #[inline(always)]
    fn encrypt_whitened<const N: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N] {
        let first = round_key::<_, N>(self, keys, 0);
        let begun = self.begin::<true, N>(v, first, &keys, &mut ());
        end::<_, true, N>(self, begun, [self.zero(); N], keys)
    }
    /// [`encrypt_whitened`](AesRounds::encrypt_whitened), and exclusive or with `next`, which is there
    /// early and is [joined](AesRounds::join) with the last round key. So a chain whose ciphertext is not
    /// needed (CBC-MAC) has no exclusive or between the last round of a block and the first of the next:
    /// one cycle a block less.
    #[inline(always)]
    fn encrypt_whitened_xor<const N: usize>(
        self,
        v: [Self::V; N],
        next: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N] {
        let first = round_key::<_, N>(self, keys, 0);
        let begun = self.begin::<true, N>(v, first, &keys, &mut ());
        end::<_, true, N>(self, begun, next, keys)
    }
    /// Decrypts `N` vectors with round keys of the equivalent inverse cipher (FIPS 197, 5.3.5).
    #[inline(always)]
    fn decrypt<const N: usize>(
        self,
        mut v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N] {
        let first = round_key::<_, N>(self, keys, 0);
        for i in 0..N {
            v[i] = self.whiten(v[i], first[i]);
        }
        let begun = self.begin::<false, N>(v, first, &keys, &mut ());
        end::<_, false, N>(self, begun, [self.zero(); N], keys)
    }

    /// An encryption up to its last round, which [`encrypt_end`](AesRounds::encrypt_end) does, of vectors that
    /// [`whiten`](AesRounds::whiten) was applied to: for modes that add a mask behind the cipher, which the last
    /// round can bring along, and that have work of their own for each vector. The rounds stay in order,
    /// vector beside vector, however many registers the mode needs; the compiler would finish one vector
    /// after the other then.
    #[inline(always)]
    fn encrypt_begin<const N: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Begun<Self::State, Self::K>; N] {
        self.begin_beside::<true, N>(v, keys, &mut ())
    }
    /// The end of what [`encrypt_begin`](AesRounds::encrypt_begin) began, with a text that was
    /// [joined](AesRounds::join) with the last round key.
    #[inline(always)]
    fn encrypt_end(
        self,
        v: Begun<Self::State, Self::K>,
        last: Self::K,
        joined: Self::V,
    ) -> Self::V {
        self.encrypt_last_round(v.state, v.before, last, joined)
    }
    /// A decryption up to its last round: see [`encrypt_begin`](AesRounds::encrypt_begin).
    #[inline(always)]
    fn decrypt_begin<const N: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Begun<Self::State, Self::K>; N] {
        self.begin_beside::<false, N>(v, keys, &mut ())
    }
    /// [`encrypt_begin`](AesRounds::encrypt_begin), or [`decrypt_begin`](AesRounds::decrypt_begin), with other work
    /// between the rounds: it fills the units that AES leaves free.
    #[inline(always)]
    fn begin_beside<const ENCRYPT: bool, const N: usize>(
        self,
        mut v: [Self::V; N],
        keys: impl RoundKeys<Self>,
        beside: &mut impl Beside<Self>,
    ) -> [Begun<Self::State, Self::K>; N] {
        for v in &mut v {
            *v = self.here(*v);
        }
        self.begin::<ENCRYPT, N>(v, round_key::<_, N>(self, keys, 0), &keys, beside)
    }
    /// The end of what [`decrypt_begin`](AesRounds::decrypt_begin) began.
    #[inline(always)]
    fn decrypt_end(
        self,
        v: Begun<Self::State, Self::K>,
        last: Self::K,
        joined: Self::V,
    ) -> Self::V {
        self.decrypt_last_round(v.state, v.before, last, joined)
    }

    /// All rounds but the last, of whitened vectors, with other work between them. Each key is asked for once: to
    /// read it can cost as much as a round. `first` are those of round 0.
    #[inline(always)]
    fn begin<const ENCRYPT: bool, const N: usize>(
        self,
        whitened: [Self::V; N],
        first: [Self::K; N],
        keys: &impl RoundKeys<Self>,
        beside: &mut impl Beside<Self>,
    ) -> [Begun<Self::State, Self::K>; N] {
        let mut begun = enter::<_, N>(self, whitened, first);
        each_round!(keys, round, {
            for i in 0..N {
                let Begun { state, before } = begun[i];
                let after = keys.get(self, round, i);
                let next = if ENCRYPT {
                    self.encrypt_round(state, before, after)
                } else {
                    self.decrypt_round(state, before, after)
                };
                // Otherwise the compiler takes one vector through all rounds, then the next, or the second
                // instruction of the last round behind the branch.
                let ordered = N > 1 || matches!(round, 9 | 11 | 13);
                begun[i] =
                    Begun { state: if ordered { self.order(next) } else { next }, before: after };
            }
            // Behind the N rounds and before the next N, so that what the step begins, such as carry-less
            // products in another unit, goes on while the rounds are in flight.
            if round <= STEPS {
                beside.step(self, round);
            }
        });
        begun
    }

    /// SubWord of the last word of each block, in all its words; after RotWord and with `constant` added
    /// to its first byte if `ROTATE` (FIPS 197, 5.2). For keys that are expanded side by side.
    fn sub_last_words<const ROTATE: bool>(self, v: Self::V, constant: u8) -> Self::V;
    /// A step of the key expansion (FIPS 197, 5.2) in each lane: the four words behind those of `last`, from the
    /// words `key` that stand one key's length before them. `ROTATE` and `constant` are those of
    /// [`sub_last_words`](AesRounds::sub_last_words).
    #[inline(always)]
    fn next_round_key<const ROTATE: bool>(
        self,
        key: Self::V,
        last: Self::V,
        constant: u8,
    ) -> Self::V {
        self.xor(running_xor(self, key), self.sub_last_words::<ROTATE>(last, constant))
    }
    /// `InvMixColumns` of one block: turns an encryption round key into a decryption round key.
    fn inv_mix_columns(self, block: Block) -> Block;
    /// The key expansion of FIPS 197, 5.2, for a key of 4 * (`R` - 7) bytes: in place, since a schedule
    /// that is returned leaves copies behind.
    #[inline(always)]
    fn expand<const R: usize>(self, key: &[u8], keys: &mut [Block; R]) {
        expand(self.narrow(), key, keys);
    }
}

/// Round key `round` of each vector.
#[inline(always)]
fn round_key<S: AesRounds, const N: usize>(
    s: S,
    keys: impl RoundKeys<S>,
    round: usize,
) -> [S::K; N] {
    let mut k = [keys.get(s, round, 0); N];
    for i in 1..N {
        k[i] = keys.get(s, round, i);
    }
    k
}

/// The states before round 1.
#[inline(always)]
fn enter<S: AesRounds, const N: usize>(
    s: S,
    whitened: [S::V; N],
    first: [S::K; N],
) -> [Begun<S::State, S::K>; N] {
    let mut begun = [Begun { state: s.enter(whitened[0], first[0]), before: first[0] }; N];
    for i in 1..N {
        begun[i] = Begun { state: s.enter(whitened[i], first[i]), before: first[i] };
    }
    begun
}

/// The last round, and exclusive or with `text`.
#[inline(always)]
fn end<S: AesRounds, const ENCRYPT: bool, const N: usize>(
    s: S,
    begun: [Begun<S::State, S::K>; N],
    text: [S::V; N],
    keys: impl RoundKeys<S>,
) -> [S::V; N] {
    let mut v = text;
    for i in 0..N {
        let last = keys.get(s, LAST, i);
        let joined = s.join(text[i], last);
        v[i] = if ENCRYPT {
            s.encrypt_end(begun[i], last, joined)
        } else {
            s.decrypt_end(begun[i], last, joined)
        };
    }
    v
}

/// The key expansion of FIPS 197, 5.2, with one block a vector. SubWord is
/// [`sub_last_words`](AesRounds::sub_last_words): without AESKEYGENASSIST, which is slow microcode on many
/// processors of x86 and which Arm lacks (S. Gueron, A. Langley, Y. Lindell, A. Pridgen).
#[inline(always)]
fn expand<S: AesRounds, const R: usize>(s: S, key: &[u8], keys: &mut [Block; R]) {
    let first = s.load(key.as_chunks().0);
    let mut constant = 1;
    s.store(first, keys);
    match R {
        11 => {
            // Round key i from i - 1, as words w0 to w3: w0' = w0 ^ SubWord(RotWord(w3)) ^ Rcon_i,
            // w1' = w1 ^ w0', w2' = w2 ^ w1', w3' = w3 ^ w2'. The last three are running sums of the
            // old words, with the new term added to each: hence `running_xor` and all four words of
            // `sub_last_words`.
            let mut k = first;
            for round in 1..R {
                k = s.next_round_key::<true>(k, k, constant);
                s.store(k, &mut keys[round..]);
                constant = double_constant(constant);
            }
        }
        13 => {
            // Six words a turn: four in `a`, two in the high half of `b`. Two turns are three round
            // keys: `a`, then `b` and half of the next `a`, then the other half and the next `b`.
            let mut a = first;
            let mut b = s.bytes_up::<8>(s.bytes_down::<8>(s.load(key[8..].as_chunks().0)));
            for turn in 0..8 {
                let low = s.bytes_down::<8>(b);
                // `sub_last_words` reads word 3: the last of the six.
                let next = s.next_round_key::<true>(a, b, constant);
                if turn % 2 == 0 {
                    s.store(s.xor(low, s.bytes_up::<8>(next)), &mut keys[turn / 2 * 3 + 1..]);
                } else {
                    s.store(s.xor(s.bytes_down::<8>(a), b), &mut keys[turn / 2 * 3 + 2..]);
                    s.store(next, &mut keys[turn / 2 * 3 + 3..]);
                }
                a = next;
                // The last word of the new `a` goes into both words of `b`.
                let carry = s.bytes_up::<8>(s.bytes_down::<12>(a));
                let carry = s.xor(carry, s.bytes_up::<4>(carry));
                b = s.xor(s.xor(b, s.bytes_up::<4>(b)), carry);
                constant = double_constant(constant);
            }
        }
        _ => {
            // 256-bit keys: round keys alternate. Even ones take RotWord and Rcon, odd ones SubWord
            // alone.
            let (mut a, mut b) = (first, s.load(key[16..].as_chunks().0));
            s.store(b, &mut keys[1..]);
            for round in 2..R {
                if round % 2 == 0 {
                    a = s.next_round_key::<true>(a, b, constant);
                    s.store(a, &mut keys[round..]);
                    constant = double_constant(constant);
                } else {
                    b = s.next_round_key::<false>(b, a, 0);
                    s.store(b, &mut keys[round..]);
                }
            }
        }
    }
}

/// Each word = the exclusive or of it and all words below.
#[inline(always)]
fn running_xor<S: Blocks>(s: S, k: S::V) -> S::V {
    let k = s.xor(k, s.bytes_up::<4>(k));
    s.xor(k, s.bytes_up::<8>(k))
}

/// The round constant behind `constant` (FIPS 197, 5.2): its double in GF(2^8). The first is 1.
#[inline(always)]
pub const fn double_constant(constant: u8) -> u8 {
    (constant << 1) ^ if constant & 0x80 == 0 { 0 } else { 0x1b }
}
