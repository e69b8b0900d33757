//! Words without an instruction set: arrays of four, which compilers turn into vectors of 128 bits where
//! the target has them.

use super::{WordKernel, Words};
use crate::vectors::sealed::Sealed;

/// The token of the portable level of [`HashLevel`](crate::HashLevel). Needs no instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortableWords(());

impl PortableWords {
    pub(crate) const fn new() -> Self {
        Self(())
    }

    /// Runs `kernel`; never inlined, so that its frame is not that of the other levels.
    #[inline(never)]
    pub(crate) fn run<K: WordKernel>(self, kernel: K) -> K::Out {
        kernel.run(self)
    }
}

impl Sealed for PortableWords {}

impl Words for PortableWords {
    type V = [u32; 4];
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(self, word: u32) -> [u32; 4] {
        [word; 4]
    }

    #[inline(always)]
    fn load(self, src: &[u32]) -> [u32; 4] {
        core::array::from_fn(|lane| src[lane])
    }

    #[inline(always)]
    fn store(self, v: [u32; 4], dst: &mut [u32]) {
        dst[..4].copy_from_slice(&v);
    }

    #[inline(always)]
    fn gather_words_le(self, blocks: &[&[u8; 64]], at: usize) -> [u32; 4] {
        core::array::from_fn(|lane| u32::from_le_bytes(blocks[lane].as_chunks().0[at]))
    }

    #[inline(always)]
    fn gather_words_be(self, blocks: &[&[u8; 64]], at: usize) -> [u32; 4] {
        core::array::from_fn(|lane| u32::from_be_bytes(blocks[lane].as_chunks().0[at]))
    }

    #[inline(always)]
    fn add(self, a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
        core::array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn xor(self, a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
        core::array::from_fn(|lane| a[lane] ^ b[lane])
    }

    #[inline(always)]
    fn and(self, a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
        core::array::from_fn(|lane| a[lane] & b[lane])
    }

    #[inline(always)]
    fn and_not(self, a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
        core::array::from_fn(|lane| !a[lane] & b[lane])
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self, v: [u32; 4]) -> [u32; 4] {
        const { assert!(N < 32) }
        v.map(|word| word.rotate_left(N))
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self, v: [u32; 4]) -> [u32; 4] {
        const { assert!(N < 32) }
        v.map(|word| word >> N)
    }
}
