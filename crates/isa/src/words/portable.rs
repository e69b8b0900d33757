//! Words without an instruction set: arrays, which compilers turn into vectors where the target has them.
//!
//! `from_fn` is inlined wherever it is used, and `map` of arrays only where the whole program is optimised at once:
//! the calls would take twenty times as long as what they do.

use core::array::from_fn;

use super::{Products, Word, WordKernel, Words, too_few};
use crate::vectors::sealed::Sealed;

/// The token of the portable level of [`HashLevel`](crate::HashLevel), with `N` words in a vector. Needs no
/// instruction set. With one word it is code for one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortableWords<const N: usize = 4>(());

impl<const N: usize> PortableWords<N> {
    /// Words in a vector.
    pub(crate) const LANES: usize = N;

    /// The token.
    pub const fn new() -> Self {
        Self(())
    }

    /// Runs `kernel`; never inlined, so that its frame is not that of the other levels.
    #[inline(never)]
    pub(crate) fn run<K: WordKernel>(self, kernel: K) -> K::Out {
        K::Word::enter(self, kernel)
    }
}

impl<const N: usize> Default for PortableWords<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Sealed for PortableWords<N> {}

impl<W: Word, const N: usize> Words<W> for PortableWords<N> {
    type V = [W; N];
    type Wide = Self;
    const LANES: usize = N;

    #[inline(always)]
    fn wide(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat(self, word: W) -> [W; N] {
        [word; N]
    }

    #[inline(always)]
    fn load(self, src: &[W]) -> [W; N] {
        let Some(words) = src.first_chunk() else { too_few() };
        *words
    }

    #[inline(always)]
    fn store(self, v: [W; N], dst: &mut [W]) {
        dst[..N].copy_from_slice(&v);
    }

    #[inline(always)]
    fn load_bytes(self, src: &[u8]) -> [W; N] {
        from_fn(|lane| W::read_le(&src[W::BYTES * lane..]))
    }

    #[inline(always)]
    fn store_bytes(self, v: [W; N], dst: &mut [u8]) {
        for (word, bytes) in v.iter().zip(dst[..W::BYTES * N].chunks_exact_mut(W::BYTES)) {
            word.write_le(bytes);
        }
    }

    #[inline(always)]
    fn gather(self, rows: &[&[u8]], at: usize, words: &mut [[W; N]]) {
        for (number, word) in words.iter_mut().enumerate() {
            *word = from_fn(|lane| W::read_le(&rows[lane][at + W::BYTES * number..]));
        }
    }

    #[inline(always)]
    fn turn(self, words: [[W; N]; 16]) -> [[W; N]; 16] {
        const { assert!(16 % N == 0) }
        from_fn(|at| from_fn(|place| words[(N * at + place) % 16][(N * at + place) / 16]))
    }

    #[inline(always)]
    fn splat_row(self, row: &[u8; 16]) -> [W; N] {
        from_fn(|lane| W::read_le(&row[W::BYTES * lane % 16..]))
    }

    #[inline(always)]
    fn next_words<const BY: usize>(self, v: [W; N]) -> [W; N] {
        let words = 16 / W::BYTES;
        from_fn(|lane| v[lane / words * words + (lane + BY) % words])
    }

    #[inline(always)]
    fn turn_rows(self, rows: [[W; N]; 4]) -> [[W; N]; 4] {
        let words = 16 / W::BYTES;
        from_fn(|at| {
            from_fn(|lane| {
                let (block, word) = ((N * at + lane) / (4 * words), (N * at + lane) % (4 * words));
                rows[word / words][block * words + word % words]
            })
        })
    }

    #[inline(always)]
    fn swap_bytes(self, v: [W; N]) -> [W; N] {
        from_fn(|lane| v[lane].swap_bytes())
    }

    #[inline(always)]
    fn add(self, a: [W; N], b: [W; N]) -> [W; N] {
        from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn xor(self, a: [W; N], b: [W; N]) -> [W; N] {
        from_fn(|lane| a[lane] ^ b[lane])
    }

    #[inline(always)]
    fn and(self, a: [W; N], b: [W; N]) -> [W; N] {
        from_fn(|lane| a[lane] & b[lane])
    }

    #[inline(always)]
    fn and_not(self, a: [W; N], b: [W; N]) -> [W; N] {
        from_fn(|lane| !a[lane] & b[lane])
    }

    #[inline(always)]
    fn rotate_left<const BITS: u32>(self, v: [W; N]) -> [W; N] {
        const { assert!(BITS < W::BITS) }
        from_fn(|lane| v[lane].rotate_left(BITS))
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self, v: [W; N]) -> [W; N] {
        const { assert!(BITS < W::BITS) }
        from_fn(|lane| v[lane] >> BITS)
    }
}

impl<const N: usize> Products for PortableWords<N> {
    const IN_VECTORS: bool = false;

    #[inline(always)]
    fn times(self, a: [u64; N], b: [u64; N]) -> [u64; N] {
        from_fn(|lane| (a[lane] & 0xffff_ffff) * (b[lane] & 0xffff_ffff))
    }

    #[inline(always)]
    fn unzip(self, a: [u64; N], b: [u64; N]) -> [[u64; N]; 2] {
        let word = |at: usize| if at < N { a[at] } else { b[at - N] };
        [from_fn(|lane| word(2 * lane)), from_fn(|lane| word(2 * lane + 1))]
    }
}
