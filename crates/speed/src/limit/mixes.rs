//! The whole mix of instructions of a mode: rounds and products with all that has to go with them, loads,
//! stores, counters, shuffles and additions. A group of vectors needs nothing of the one before, so that
//! nothing is waited for: what is left is how many instructions the processor takes at once.

use std::hint::black_box;

use lanelock_isa::{AesClmul, Beside, Block, Kernel, WIDEST};

/// So many blocks fit into the first cache of every processor.
pub(super) const BLOCKS: usize = 1280;

pub(super) const CTR: u8 = 0;
pub(super) const CBC_DECRYPT: u8 = 1;
pub(super) const XTS: u8 = 2;
pub(super) const OCB: u8 = 3;
pub(super) const GCM: u8 = 4;
/// GHASH: the bytes of blocks change places.
pub(super) const GHASH: u8 = 5;
/// CBC encryption of many messages: blocks change places, so that a vector has a block of each.
pub(super) const LANES: u8 = 6;
/// The same, and nothing is written.
pub(super) const LANES_MAC: u8 = 7;
/// One block in ten, each read and written by itself.
pub(super) const TENTH: u8 = 8;
/// The hash of GCM-SIV.
pub(super) const POLYVAL: u8 = 9;
/// CTR with that hash beside it.
pub(super) const GCM_SIV: u8 = 10;

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
        let (mut before, mut after) = ([h; N], [k; N]);
        let masks = black_box([[0x24; 16]; 8]);
        // The form of products that the engine takes: see `has_three` and `hash_has_three` in its `field`.
        let alone = matches!(MODE, GHASH | POLYVAL) && S::WIDTH < WIDEST;
        let three = alone || S::VECTORS == 1 || s.ways().products_are_slow();
        for blocks in self.0.chunks_exact_mut(N * S::WIDTH * stride(MODE)) {
            let mut texts = [h; N];
            for i in 0..N {
                texts[i] = if MODE == TENTH {
                    s.load_strided(blocks, i * S::WIDTH * 10, 10)
                } else {
                    s.load(&blocks[i * S::WIDTH..])
                };
            }
            match MODE {
                GHASH => sink = s.xor(sink, hash::<_, true, N>(s, texts, h, k, three)),
                POLYVAL => sink = s.xor(sink, hash::<_, false, N>(s, texts, h, k, three)),
                CTR | GCM | GCM_SIV => {
                    if MODE == GCM {
                        sink = s.xor(sink, hash::<_, true, N>(s, texts, h, k, three));
                    } else if MODE == GCM_SIV {
                        sink = s.xor(sink, hash::<_, false, N>(s, texts, h, k, three));
                    }
                    let mut v = texts;
                    for i in 0..N {
                        // In a group of GCM, counters differ in a byte, and that is added to the first of them, whitened.
                        if MODE == GCM && i > 0 {
                            v[i] = s.xor(v[0], s.load(&masks[i % 2 * S::WIDTH..]));
                        } else {
                            counter = s.add_words(counter, k);
                            v[i] = s.whiten(counter, keys[0]);
                        }
                    }
                    v = s.encrypt_whitened::<N>(v, keys);
                    for i in 0..N {
                        s.store(s.xor(v[i], texts[i]), &mut blocks[i * S::WIDTH..]);
                    }
                }
                CBC_DECRYPT => {
                    let v = s.decrypt::<N>(texts, keys);
                    for i in 0..N {
                        let before = if i == 0 { k } else { texts[i - 1] };
                        let v = s.xor(v[i], s.shift_in(before, texts[i]));
                        s.store(v, &mut blocks[i * S::WIDTH..]);
                    }
                }
                // Masks are added with the keys at both ends of the cipher.
                XTS | OCB => {
                    let (mut v, mut ends) = (texts, [h; N]);
                    let mut carries = k;
                    for i in 0..N {
                        let mask = if MODE == XTS {
                            counter = s.double(counter, &mut carries);
                            ends[i] = counter;
                            s.whiten(counter, keys[0])
                        } else {
                            sink = s.xor(sink, texts[i]);
                            s.xor(s.load(&masks[i % 2 * S::WIDTH..]), h)
                        };
                        v[i] = s.xor(texts[i], mask);
                    }
                    let begun = s.encrypt_begin::<N>(v, keys);
                    for i in 0..N {
                        let end = if MODE == XTS {
                            s.join(ends[i], keys[R - 1])
                        } else {
                            s.xor(s.load(&masks[i % 2 * S::WIDTH..]), k)
                        };
                        let v = s.encrypt_end(begun[i], keys[R - 1], end);
                        s.store(v, &mut blocks[i * S::WIDTH..]);
                    }
                }
                // The squares of the next group come in and those of the last one go out beside the rounds.
                LANES | LANES_MAC => {
                    let mut squares = Squares::<_, N, MODE> { coming: texts, going: after };
                    for i in 0..N {
                        before[i] = s.whiten(before[i], keys[0]);
                    }
                    let begun = s.begin_beside::<true, N>(before, keys, &mut squares);
                    for i in 0..N {
                        let end = s.join(s.zero(), keys[R - 1]);
                        after[i] = s.encrypt_end(begun[i], keys[R - 1], end);
                    }
                    before = squares.coming;
                    for i in 0..N {
                        if MODE == LANES {
                            s.store(squares.going[i], &mut blocks[i * S::WIDTH..]);
                        } else {
                            sink = s.xor(sink, after[i]);
                        }
                    }
                }
                _ => {
                    let v = s.encrypt::<N>(texts, keys);
                    for i in 0..N {
                        s.store_strided(v[i], blocks, i * S::WIDTH * 10, 10);
                    }
                }
            }
        }
        let mut blocks = [[0; 16]; 4];
        s.store(s.xor(sink, counter), &mut blocks);
        blocks[0]
    }
}

/// The sum of products, reduced, in the form of `three` products a vector (3 * N + 2 in all) or of four (4 * N + 1), as in
/// the engine's `field`. `REVERSED`: of GHASH, whose bytes are reversed.
#[inline(always)]
fn hash<S: AesClmul, const REVERSED: bool, const N: usize>(
    s: S,
    texts: [S::V; N],
    h: S::V,
    k: S::V,
    three: bool,
) -> S::V {
    let (mut low, mut high, mut middle) = (s.zero(), s.zero(), s.zero());
    for text in texts {
        let x = if REVERSED { s.reverse(text) } else { text };
        if three {
            low = s.xor(low, s.clmul_low(x, h));
            high = s.xor(high, s.clmul_high(x, h));
            middle = s.xor(middle, s.clmul_low(s.xor(x, s.swap_halves(x)), k));
        } else {
            low = s.xor3(low, s.clmul_low(x, k), s.clmul_high_low(x, h));
            high = s.xor3(high, s.clmul_low_high(x, k), s.clmul_high(x, h));
        }
    }
    if three {
        middle = s.xor3(middle, low, high);
        low = s.xor(s.swap_halves(s.xor(low, middle)), s.clmul_low(low, k));
    }
    s.xor3(high, s.swap_halves(low), s.clmul_low(low, k))
}

/// Squares of blocks whose rows and columns are exchanged, of lanes that are read and that are written.
struct Squares<V, const N: usize, const MODE: u8> {
    coming: [V; N],
    going: [V; N],
}

impl<S: AesClmul, const N: usize, const MODE: u8> Beside<S> for Squares<S::V, N, MODE> {
    #[inline(always)]
    fn step(&mut self, s: S, round: usize) {
        let square = (round - 1) / 2 * S::WIDTH;
        if S::WIDTH > 1 && square + S::WIDTH <= N {
            if round % 2 == 1 {
                turn(s, &mut self.coming[square..]);
            } else if MODE == LANES {
                turn(s, &mut self.going[square..]);
            }
        }
    }
}

/// Exchanges the rows and columns of a square.
#[inline(always)]
fn turn<S: AesClmul>(s: S, v: &mut [S::V]) {
    let mut square = [v[0]; 4];
    square[..S::WIDTH].copy_from_slice(&v[..S::WIDTH]);
    square = s.turn(square);
    v[..S::WIDTH].copy_from_slice(&square[..S::WIDTH]);
}
