//! What is measured: instructions on registers, and walks through memory.

use std::hint::black_box;

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel};

/// Rounds or products of each vector in one call.
pub(super) const TURNS: usize = 960;

/// Times that twelve vectors of a CRC are moved on in one call.
pub(super) const FOLDS: usize = 240;

/// Blocks in a vector of the level.
pub(super) struct Width;

impl Kernel for Width {
    type Out = usize;

    #[inline(always)]
    fn run<S: AesClmul>(self, _: S) -> usize {
        S::WIDTH
    }
}

/// The kernel on single blocks.
pub(super) struct Narrow<K>(pub(super) K);

impl<K: Kernel> Kernel for Narrow<K> {
    type Out = K::Out;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> K::Out {
        self.0.run(s.narrow())
    }
}

/// The kernel on pairs of blocks.
pub(super) struct KernelPair<K>(pub(super) K);

impl<K: Kernel> Kernel for KernelPair<K> {
    type Out = K::Out;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> K::Out {
        self.0.run(s.pair())
    }
}

/// Encrypts each of `N` vectors `TURNS / 10` times, or decrypts it; the result is the next call's input, so that
/// calls do not overlap.
pub(super) struct ManyCiphers<const N: usize, const R: usize, const ENCRYPT: bool>(
    pub(super) Block,
);

impl<const N: usize, const R: usize, const ENCRYPT: bool> Kernel for ManyCiphers<N, R, ENCRYPT> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let key: Block = black_box([0x5a; 16]);
        let keys = [s.key(&key); R];
        let mut v = [s.load(&[self.0; 4]); N];
        for _ in 0..TURNS / 10 {
            v = if ENCRYPT { s.encrypt::<N>(v, keys) } else { s.decrypt::<N>(v, keys) };
        }
        sum(s, v)
    }
}

/// `TURNS` single rounds on each of `N` vectors.
pub(super) struct Rounds<const N: usize>(pub(super) Block);

impl<const N: usize> Kernel for Rounds<N> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let key = s.splat(&black_box([0x5a; 16]));
        let mut v = [s.load(&[self.0; 4]); N];
        for _ in 0..TURNS {
            v = s.rounds::<N>(v, [key; N]);
        }
        sum(s, v)
    }
}

/// `TURNS` carry-less products on each of `N` vectors.
pub(super) struct Products<const N: usize>(pub(super) Block);

impl<const N: usize> Kernel for Products<N> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let factor = s.splat(&black_box([0x5a; 16]));
        let mut v = [s.load(&[self.0; 4]); N];
        for _ in 0..TURNS {
            for i in 0..N {
                v[i] = s.clmul_low(v[i], factor);
            }
        }
        sum(s, v)
    }
}

/// Both: rounds on each of `N` vectors and between them `M` products after `EVERY` rounds, on few vectors,
/// since there may be few registers.
pub(super) struct Both<const N: usize, const M: usize, const EVERY: usize>(pub(super) Block);

impl<const N: usize, const M: usize, const EVERY: usize> Kernel for Both<N, M, EVERY> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let key = s.splat(&black_box([0x5a; 16]));
        let mut v = [s.load(&[self.0; 4]); N];
        let mut w = [v[0]; 6];
        for _ in 0..TURNS / EVERY {
            for _ in 0..EVERY {
                v = s.rounds::<N>(v, [key; N]);
            }
            for i in 0..M {
                w[i % 6] = s.clmul_low(w[i % 6], key);
            }
        }
        black_box(sum(s, w));
        sum(s, v)
    }
}

/// What moves CRCs of 32 bits on, where matrices are fast: of twelve vectors eight are multiplied by four matrices
/// each, and four by two factors.
pub(super) struct Fold(pub(super) Block);

impl Kernel for Fold {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let factor = s.splat(&black_box([0x5a; 16]));
        let mut v = [s.load(&[self.0; 4]); 12];
        for _ in 0..2 * FOLDS {
            for _ in 0..2 {
                for i in 0..8 {
                    v[i] = s.times_matrix(v[i], factor);
                }
            }
            for i in 8..12 {
                v[i] = s.clmul_low(v[i], factor);
            }
        }
        sum(s, v)
    }
}

/// Reads all blocks.
pub(super) struct Read<'a>(pub(super) &'a [Block]);

impl Kernel for Read<'_> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let mut v = [s.zero(); 4];
        for group in self.0.chunks_exact(4 * S::WIDTH) {
            for i in 0..4 {
                v[i] = s.xor(v[i], s.load(&group[i * S::WIDTH..]));
            }
        }
        sum(s, v)
    }
}

/// Reads and writes every block.
pub(super) struct Change<'a>(pub(super) &'a mut [Block]);

impl Kernel for Change<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let key = s.splat(&black_box([0x5a; 16]));
        for group in self.0.chunks_exact_mut(S::WIDTH) {
            let v = s.load(group);
            s.store(s.xor(v, key), group);
        }
    }
}

/// Reads and writes every tenth block.
pub(super) struct ChangeTenth<'a>(pub(super) &'a mut [Block]);

impl Kernel for ChangeTenth<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let s = s.narrow();
        let key = s.splat(&black_box([0x5a; 16]));
        for group in self.0.chunks_exact_mut(10) {
            let v = s.load(group);
            s.store(s.xor(v, key), group);
        }
    }
}

/// All vectors in one block.
#[inline(always)]
fn sum<S: AesClmul, const N: usize>(s: S, v: [S::V; N]) -> Block {
    let mut sum = v[0];
    for i in 1..N {
        sum = s.xor(sum, v[i]);
    }
    let mut blocks = [[0; 16]; 4];
    s.store(sum, &mut blocks);
    blocks[0]
}
