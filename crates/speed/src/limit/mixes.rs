//! The whole mix of instructions of a mode: rounds and products with all that has to go with them, loads,
//! stores, counters, shuffles and additions. A group of vectors needs nothing of the one before, so that
//! nothing is waited for: what is left is how many instructions the processor takes at once.

use std::hint::black_box;

use lanelock_isa::{AesClmul, Block, Kernel};

/// So many blocks fit into the first cache of every processor.
pub(super) const BLOCKS: usize = 1280;

pub(super) const CTR: u8 = 0;
pub(super) const CBC_DECRYPT: u8 = 1;
pub(super) const XTS: u8 = 2;
pub(super) const OCB: u8 = 3;
pub(super) const GCM: u8 = 4;
/// GHASH and POLYVAL.
pub(super) const HASH: u8 = 5;
/// CBC encryption of many messages: blocks change places, so that a vector has a block of each.
pub(super) const LANES: u8 = 6;
/// The same, and nothing is written.
pub(super) const LANES_MAC: u8 = 7;
/// One block in ten, each read and written by itself.
pub(super) const TENTH: u8 = 8;

/// One walk of mode `MODE` over the blocks, `N` vectors in a group.
pub(super) struct Mix<'a, const MODE: u8, const N: usize, const R: usize>(
    pub(super) &'a mut [Block],
);

/// How many blocks a walk processes.
pub(super) fn processed(mode: u8, vectors: usize, width: usize) -> usize {
    let stride = stride(mode);
    BLOCKS / (vectors * width * stride) * vectors * width
}

/// Of so many blocks one is processed.
const fn stride(mode: u8) -> usize {
    if mode == TENTH { 10 } else { 1 }
}

impl<const MODE: u8, const N: usize, const R: usize> Kernel for Mix<'_, MODE, N, R> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let keys = [s.key(&black_box([0x5a; 16])); R];
        let (h, k) = (s.splat(&black_box([0x24; 16])), s.splat(&black_box([0x3c; 16])));
        let (mut counter, mut sink) = (h, s.zero());
        for blocks in self.0.chunks_exact_mut(N * S::WIDTH * stride(MODE)) {
            let mut texts = [h; N];
            for i in 0..N {
                texts[i] = if MODE == TENTH {
                    s.load_strided(blocks, i * S::WIDTH * 10, 10)
                } else {
                    s.load(&blocks[i * S::WIDTH..])
                };
            }
            if MODE == GCM || MODE == HASH {
                sink = s.xor(sink, hash(s, texts, h, k));
            }
            if MODE == LANES || MODE == LANES_MAC {
                texts = turn(s, texts);
            }
            let mut masks = [h; N];
            if MODE == XTS || MODE == OCB {
                for i in 0..N {
                    let mut carries = k;
                    masks[i] = if MODE == XTS {
                        s.double(counter, &mut carries)
                    } else {
                        s.xor(counter, k)
                    };
                    counter = s.add_words(counter, k);
                }
            }
            let mut v = texts;
            for i in 0..N {
                if MODE == CTR || MODE == GCM {
                    counter = s.add_words(counter, k);
                    v[i] = counter;
                } else {
                    v[i] = s.xor(texts[i], masks[i]);
                }
            }
            if MODE == CBC_DECRYPT {
                v = s.decrypt::<N>(texts, keys);
            } else if MODE != HASH {
                v = s.encrypt::<N>(v, keys);
            }
            for i in 0..N {
                match MODE {
                    CTR | GCM => v[i] = s.xor(v[i], texts[i]),
                    CBC_DECRYPT => {
                        let before = if i == 0 { k } else { texts[i - 1] };
                        v[i] = s.xor(v[i], s.shift_in(before, texts[i]));
                    }
                    XTS => v[i] = s.xor(v[i], masks[i]),
                    OCB => {
                        v[i] = s.xor(v[i], masks[i]);
                        sink = s.xor(sink, texts[i]);
                    }
                    _ => {}
                }
            }
            if MODE == LANES {
                v = turn(s, v);
            }
            for i in 0..N {
                match MODE {
                    HASH => {}
                    LANES_MAC => sink = s.xor(sink, v[i]),
                    TENTH => s.store_strided(v[i], blocks, i * S::WIDTH * 10, 10),
                    _ => s.store(v[i], &mut blocks[i * S::WIDTH..]),
                }
            }
        }
        let mut blocks = [[0; 16]; 4];
        s.store(s.xor(sink, counter), &mut blocks);
        blocks[0]
    }
}

/// The sum of products of Karatsuba's way, reduced: 3 * N + 2 products.
#[inline(always)]
fn hash<S: AesClmul, const N: usize>(s: S, texts: [S::V; N], h: S::V, k: S::V) -> S::V {
    let (mut low, mut high, mut middle) = (s.zero(), s.zero(), s.zero());
    for text in texts {
        let x = s.reverse(text);
        low = s.xor(low, s.clmul_low(x, h));
        high = s.xor(high, s.clmul_high(x, h));
        middle = s.xor(middle, s.clmul_low(s.xor(x, s.swap_halves(x)), k));
    }
    middle = s.xor3(middle, low, high);
    let low = s.xor(s.swap_halves(s.xor(low, middle)), s.clmul_low(low, k));
    s.xor3(high, s.swap_halves(low), s.clmul_low(low, k))
}

/// Squares of blocks with rows and columns exchanged.
#[inline(always)]
fn turn<S: AesClmul, const N: usize>(s: S, mut v: [S::V; N]) -> [S::V; N] {
    let mut i = 0;
    while i + S::WIDTH <= N {
        let mut square = [v[i]; 4];
        square[..S::WIDTH].copy_from_slice(&v[i..i + S::WIDTH]);
        square = s.turn(square);
        v[i..i + S::WIDTH].copy_from_slice(&square[..S::WIDTH]);
        i += S::WIDTH;
    }
    v
}
