//! BLAKE2b and BLAKE2s (RFC 7693).

use core::marker::PhantomData;

use lanelock_isa::{Word, Words};

use crate::{
    compression::{Compression, shape, unrolled},
    sha2::initial,
};

/// The compression function of BLAKE2 on words `W`: of BLAKE2b on `u64`, of BLAKE2s on `u32`.
///
/// Behind the eight words of the chain its state has the two words of the bytes that were taken and the one
/// that marks the last block.
#[derive(Clone, Copy, Debug)]
pub struct Blake2<W>(PhantomData<W>);

/// Where the number of bytes is in the state.
pub(crate) const TAKEN: usize = 8;
/// Where the mark of the last block is.
pub(crate) const LAST: usize = 10;

macro_rules! blake2 {
    ($word:ident, $block:literal) => {
        impl Compression for Blake2<$word> {
            shape!($word, state 11, words 16, block $block);
            const BIG_ENDIAN: bool = false;
            const PAIRED: bool = true;

            #[inline(always)]
            fn take<S: Words<$word>>(s: S, state: &mut [S::V; 11], w: [S::V; 16]) {
                take(s, state, w);
            }
        }
    };
}

blake2!(u64, 128);
blake2!(u32, 64);

/// What differs between the two sizes of words (RFC 7693, 2.1).
pub(crate) trait Blake2Word: Word {
    const ROUNDS: usize;
    const INITIAL: [Self; 8];
    /// Bytes in a block.
    const BLOCK: Self;

    /// The highest bit, as the lowest.
    fn top_bit<S: Words<Self>>(s: S, v: S::V) -> S::V;
    /// The four rotations of a mixing.
    fn turn<S: Words<Self>>(s: S, v: S::V, which: usize) -> S::V;
}

macro_rules! blake2_word {
    ($word:ident, rounds $rounds:literal, block $block:literal, initial $initial:expr, turns $a:literal $b:literal $c:literal $d:literal) => {
        impl Blake2Word for $word {
            const ROUNDS: usize = $rounds;
            const INITIAL: [$word; 8] = $initial;
            const BLOCK: $word = $block;

            #[inline(always)]
            fn top_bit<S: Words<$word>>(s: S, v: S::V) -> S::V {
                s.shift_right::<{ $word::BITS - 1 }>(v)
            }

            #[inline(always)]
            fn turn<S: Words<$word>>(s: S, v: S::V, which: usize) -> S::V {
                match which {
                    0 => s.rotate_left::<{ $word::BITS - $a }>(v),
                    1 => s.rotate_left::<{ $word::BITS - $b }>(v),
                    2 => s.rotate_left::<{ $word::BITS - $c }>(v),
                    _ => s.rotate_left::<{ $word::BITS - $d }>(v),
                }
            }
        }
    };
}

blake2_word!(u64, rounds 12, block 128, initial initial::SHA_512, turns 32 24 16 63);
blake2_word!(u32, rounds 10, block 64, initial initial::SHA_256, turns 16 12 8 7);

/// One block of each lane (RFC 7693, 3.2).
#[inline(always)]
fn take<W: Blake2Word, S: Words<W>>(s: S, state: &mut [S::V; 11], m: [S::V; 16]) {
    // The number of bytes with these: the sum wraps when its highest bit goes.
    let before = state[TAKEN];
    let taken = s.add(before, s.splat(W::BLOCK));
    state[TAKEN] = taken;
    state[TAKEN + 1] = s.add(state[TAKEN + 1], W::top_bit(s, s.and_not(taken, before)));
    let mut v = [taken; 16];
    for at in 0..8 {
        (v[at], v[8 + at]) = (state[at], s.splat(W::INITIAL[at]));
    }
    for at in 0..3 {
        v[12 + at] = s.xor(v[12 + at], state[TAKEN + at]);
    }
    unrolled!(ROUND in [0 1 2 3 4 5 6 7 8 9 10 11] {
        if ROUND < W::ROUNDS {
            let order = &ORDERS[ROUND % 10];
            unrolled!(AT in [0 1 2 3 4 5 6 7] {
                let [a, b, c, d] = MIXED[AT];
                let (x, y) = (m[order[2 * AT]], m[order[2 * AT + 1]]);
                v[a] = s.add(s.add(v[a], v[b]), x);
                v[d] = W::turn(s, s.xor(v[d], v[a]), 0);
                v[c] = s.add(v[c], v[d]);
                v[b] = W::turn(s, s.xor(v[b], v[c]), 1);
                v[a] = s.add(s.add(v[a], v[b]), y);
                v[d] = W::turn(s, s.xor(v[d], v[a]), 2);
                v[c] = s.add(v[c], v[d]);
                v[b] = W::turn(s, s.xor(v[b], v[c]), 3);
            });
        }
    });
    for at in 0..8 {
        state[at] = s.xor3(state[at], v[at], v[8 + at]);
    }
}

/// The columns, then the diagonals.
const MIXED: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// σ: the order in which a round takes the words of a message (RFC 7693, 2.7).
const ORDERS: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
