//! Two vectors as one.

use super::{Products, Word, Words};
use crate::vectors::sealed::Sealed;

/// Two vectors of another token as one of twice as many lanes.
///
/// Rounds of a hash wait for one another. With two vectors there is something to do meanwhile, which pays where an
/// instruction takes more than one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair<S>(pub S);

impl<S> Sealed for Pair<S> {}

impl<W: Word, S: Words<W>> Words<W> for Pair<S> {
    type V = [S::V; 2];
    type Wide = Pair<S::Wide>;
    const LANES: usize = 2 * S::LANES;

    #[inline(always)]
    fn wide(self) -> Pair<S::Wide> {
        Pair(self.0.wide())
    }

    #[inline(always)]
    fn splat(self, word: W) -> [S::V; 2] {
        [self.0.splat(word); 2]
    }

    #[inline(always)]
    fn load(self, src: &[W]) -> [S::V; 2] {
        [self.0.load(src), self.0.load(&src[S::LANES..])]
    }

    #[inline(always)]
    fn store(self, [a, b]: [S::V; 2], dst: &mut [W]) {
        self.0.store(a, dst);
        self.0.store(b, &mut dst[S::LANES..]);
    }

    #[inline(always)]
    fn load_bytes(self, src: &[u8]) -> [S::V; 2] {
        [self.0.load_bytes(src), self.0.load_bytes(&src[S::LANES * W::BYTES..])]
    }

    #[inline(always)]
    fn store_bytes(self, [a, b]: [S::V; 2], dst: &mut [u8]) {
        self.0.store_bytes(a, dst);
        self.0.store_bytes(b, &mut dst[S::LANES * W::BYTES..]);
    }

    #[inline(always)]
    fn gather(self, rows: &[&[u8]], at: usize, words: &mut [[S::V; 2]]) {
        // As many words as there are in the largest block.
        let mut half = [self.0.splat(W::default()); 25];
        for which in 0..2 {
            self.0.gather(&rows[which * S::LANES..], at, &mut half[..words.len()]);
            for (word, half) in words.iter_mut().zip(half) {
                word[which] = half;
            }
        }
    }

    #[inline(always)]
    fn turn(self, words: [[S::V; 2]; 16]) -> [[S::V; 2]; 16] {
        let mut turned = words;
        for which in 0..2 {
            let mut half = [words[0][which]; 16];
            for at in 1..16 {
                half[at] = words[at][which];
            }
            let half = self.0.turn(half);
            for at in 0..8 {
                turned[8 * which + at] = [half[2 * at], half[2 * at + 1]];
            }
        }
        turned
    }

    #[inline(always)]
    fn splat_row(self, row: &[u8; 16]) -> [S::V; 2] {
        [self.0.splat_row(row); 2]
    }

    #[inline(always)]
    fn next_words<const N: usize>(self, [a, b]: [S::V; 2]) -> [S::V; 2] {
        [self.0.next_words::<N>(a), self.0.next_words::<N>(b)]
    }

    #[inline(always)]
    fn turn_rows(self, [a, b, c, d]: [[S::V; 2]; 4]) -> [[S::V; 2]; 4] {
        let [e, f, g, h] = self.0.turn_rows([a[0], b[0], c[0], d[0]]);
        let [i, j, k, l] = self.0.turn_rows([a[1], b[1], c[1], d[1]]);
        [[e, f], [g, h], [i, j], [k, l]]
    }

    #[inline(always)]
    fn swap_bytes(self, [a, b]: [S::V; 2]) -> [S::V; 2] {
        [self.0.swap_bytes(a), self.0.swap_bytes(b)]
    }

    #[inline(always)]
    fn add(self, a: [S::V; 2], b: [S::V; 2]) -> [S::V; 2] {
        [self.0.add(a[0], b[0]), self.0.add(a[1], b[1])]
    }

    #[inline(always)]
    fn xor(self, a: [S::V; 2], b: [S::V; 2]) -> [S::V; 2] {
        [self.0.xor(a[0], b[0]), self.0.xor(a[1], b[1])]
    }

    #[inline(always)]
    fn and(self, a: [S::V; 2], b: [S::V; 2]) -> [S::V; 2] {
        [self.0.and(a[0], b[0]), self.0.and(a[1], b[1])]
    }

    #[inline(always)]
    fn and_not(self, a: [S::V; 2], b: [S::V; 2]) -> [S::V; 2] {
        [self.0.and_not(a[0], b[0]), self.0.and_not(a[1], b[1])]
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self, [a, b]: [S::V; 2]) -> [S::V; 2] {
        [self.0.rotate_left::<N>(a), self.0.rotate_left::<N>(b)]
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self, [a, b]: [S::V; 2]) -> [S::V; 2] {
        [self.0.shift_right::<N>(a), self.0.shift_right::<N>(b)]
    }

    #[inline(always)]
    fn xor3(self, a: [S::V; 2], b: [S::V; 2], c: [S::V; 2]) -> [S::V; 2] {
        [self.0.xor3(a[0], b[0], c[0]), self.0.xor3(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn choose(self, mask: [S::V; 2], a: [S::V; 2], b: [S::V; 2]) -> [S::V; 2] {
        [self.0.choose(mask[0], a[0], b[0]), self.0.choose(mask[1], a[1], b[1])]
    }

    #[inline(always)]
    fn majority(self, a: [S::V; 2], b: [S::V; 2], c: [S::V; 2]) -> [S::V; 2] {
        [self.0.majority(a[0], b[0], c[0]), self.0.majority(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn xor_and_not(self, a: [S::V; 2], b: [S::V; 2], c: [S::V; 2]) -> [S::V; 2] {
        [self.0.xor_and_not(a[0], b[0], c[0]), self.0.xor_and_not(a[1], b[1], c[1])]
    }
}

impl<S: Products> Products for Pair<S> {
    const IN_VECTORS: bool = S::IN_VECTORS;

    #[inline(always)]
    fn times(self, a: [S::V; 2], b: [S::V; 2]) -> [S::V; 2] {
        [self.0.times(a[0], b[0]), self.0.times(a[1], b[1])]
    }

    #[inline(always)]
    fn unzip(self, a: [S::V; 2], b: [S::V; 2]) -> [[S::V; 2]; 2] {
        let ([even_a, odd_a], [even_b, odd_b]) =
            (self.0.unzip(a[0], a[1]), self.0.unzip(b[0], b[1]));
        [[even_a, even_b], [odd_a, odd_b]]
    }
}
