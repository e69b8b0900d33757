//! The vector trait for hashes and stream ciphers of many messages side by side: one word a lane, one message
//! a lane.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[macro_use]
mod level;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod pair;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use core::ops::{BitAnd, BitXor, Not, Shr};

use crate::limbs::GroupKernel;
use crate::vectors::sealed::Sealed;

#[cfg(target_arch = "aarch64")]
pub use aarch64::NeonWords;
pub use pair::Pair;
pub use portable::PortableWords;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2Words, Avx512Words};

/// An algorithm over [`Words`]: one body, compiled once per level of
/// [`HashLevel`](crate::HashLevel).
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait WordKernel {
    /// The words that it works on.
    type Word: Word;
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: Words<Self::Word>>(self, s: S) -> Self::Out;
}

/// Vectors of words `W` at one level: what the rounds of SHA-2, Keccak, ChaCha20 and their like need.
///
/// ```
/// use lanelock_isa::{HashLevel, WordKernel, Words};
///
/// /// Ch(x, y, z) of FIPS 180-4, 4.1.2, for one word of every lane.
/// struct Choose([u32; 3]);
///
/// impl WordKernel for Choose {
///     type Word = u32;
///     type Out = u32;
///
///     #[inline(always)]
///     fn run<S: Words<u32>>(self, s: S) -> u32 {
///         let (x, y, z) = (s.splat(self.0[0]), s.splat(self.0[1]), s.splat(self.0[2]));
///         let mut words = [0; 16]; // a vector has 4, 8 or 16 lanes
///         s.store(s.choose(x, y, z), &mut words);
///         words[S::LANES - 1]
///     }
/// }
///
/// for level in HashLevel::available() {
///     assert_eq!(level.run(Choose([0xffff_0000, 0x1234_5678, 0x9abc_def0])), 0x1234_def0, "{level}");
/// }
/// ```
pub trait Words<W: Word>: Sealed + Copy {
    /// A word of each lane.
    type V: Copy;
    /// The same level on words of 64 bits.
    type Wide: Products;
    /// Words in a vector, at most [`MOST_WORDS`].
    const LANES: usize;
    /// Whether there are registers for two messages a lane: 32.
    const MANY_REGISTERS: bool = false;

    /// Whether a hash of many messages is faster with two vectors at once, a [`Pair`]: rounds wait for one another,
    /// and here a vector takes longer than its instructions need units.
    fn pairs(self) -> bool {
        false
    }

    /// The same level on words of 64 bits.
    fn wide(self) -> Self::Wide;

    /// The word in every lane.
    fn splat(self, word: W) -> Self::V;
    /// The first [`LANES`](Words::LANES) words of `src`. Panics if there are fewer.
    fn load(self, src: &[W]) -> Self::V;
    /// The first [`LANES`](Words::LANES) words of `dst` = `v`. Panics if there are fewer.
    fn store(self, v: Self::V, dst: &mut [W]);
    /// The first words of `src`, little-endian. Panics if there are fewer bytes than a vector has.
    fn load_bytes(self, src: &[u8]) -> Self::V;
    /// The first bytes of `dst` = `v`, little-endian. Panics if there are fewer bytes than a vector has.
    fn store_bytes(self, v: Self::V, dst: &mut [u8]);
    /// Lane *i* of `words[j]` = word *j* of `rows[i][at..]`, little-endian. Panics if there are fewer rows than
    /// lanes, or fewer bytes in one of them.
    fn gather(self, rows: &[&[u8]], at: usize, words: &mut [Self::V]);
    /// Sixteen words of each lane, lane after lane: all words of lane 0 in order, then those of lane 1, and so on,
    /// as many in a vector as it has.
    fn turn(self, words: [Self::V; 16]) -> [Self::V; 16];

    // Vectors as rows of 16 bytes, one a block: where a few blocks take no lane each.

    /// The row in every 16 bytes, little-endian.
    fn splat_row(self, row: &[u8; 16]) -> Self::V;
    /// The words of each row `N` places further down, in a circle: word `N` comes first.
    fn next_words<const N: usize>(self, v: Self::V) -> Self::V;
    /// Four rows of each block, block after block: all rows of block 0 in order, then those of block 1, and so on.
    fn turn_rows(self, rows: [Self::V; 4]) -> [Self::V; 4];

    /// The bytes of each word in reverse order.
    fn swap_bytes(self, v: Self::V) -> Self::V;
    /// `a` + `b`, modulo 2 to the power of the bits of a word
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` ^ `b`
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` & `b`
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// !`a` & `b`
    fn and_not(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rotates to the left by `N` bits, fewer than a word has.
    fn rotate_left<const N: u32>(self, v: Self::V) -> Self::V;
    /// Shifts to the right by `N` bits, fewer than a word has, and zeros in.
    fn shift_right<const N: u32>(self, v: Self::V) -> Self::V;

    // What some levels have in one instruction.

    /// `a` ^ `b` ^ `c`
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }

    /// The bits of `a` where `mask` has ones, those of `b` elsewhere: Ch of FIPS 180-4.
    #[inline(always)]
    fn choose(self, mask: Self::V, a: Self::V, b: Self::V) -> Self::V {
        self.xor(self.and(mask, self.xor(a, b)), b)
    }

    /// The bits that most of the three have: Maj of FIPS 180-4.
    #[inline(always)]
    fn majority(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.and(self.xor(a, b), self.xor(b, c)), b)
    }

    /// `a` ^ (!`b` & `c`): a word of the step χ of Keccak.
    #[inline(always)]
    fn xor_and_not(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(a, self.and_not(b, c))
    }
}

/// Products of words: what arithmetic on large numbers needs.
pub trait Products: Words<u64, Wide = Self> {
    /// Whether products are of vectors: if not, one of whole words is worth four of these.
    const IN_VECTORS: bool = true;

    /// The product of the lower 32 bits of `a` and of `b`.
    fn times(self, a: Self::V, b: Self::V) -> Self::V;
    /// The words at even places of `a` and behind them of `b`, and those at odd places.
    fn unzip(self, a: Self::V, b: Self::V) -> [Self::V; 2];

    /// Runs a kernel on [`Limbs`](crate::Limbs) in vectors of this level, as a function of its own, where the
    /// processor has them beside it: a part of a kernel that multiplies much, while all the others need not be
    /// compiled for one processor more.
    ///
    /// # Errors
    /// The kernel itself, where it has not.
    #[inline(always)]
    fn in_limbs<K: GroupKernel>(self, kernel: K) -> Result<K::Out, K> {
        Err(kernel)
    }
}

/// The most words in a vector of any level, or in a [`Pair`] of them.
pub const MOST_WORDS: usize = 32;

/// A word that hashes work on: `u32` or `u64`.
pub trait Word:
    Copy
    + Default
    + Eq
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + Shr<u32, Output = Self>
    + Send
    + Sync
    + Sealed
    + 'static
{
    /// Bits in a word.
    const BITS: u32;
    /// Bytes in a word.
    const BYTES: usize;

    /// The first bytes of `bytes`, little-endian. Panics if there are fewer than a word has.
    fn read_le(bytes: &[u8]) -> Self;
    /// Puts as many of its bytes into `bytes` as there is room for, little-endian.
    fn write_le(self, bytes: &mut [u8]);
    /// The bytes in reverse order.
    #[must_use]
    fn swap_bytes(self) -> Self;
    /// The sum, modulo 2 to the power of the bits of a word.
    #[must_use]
    fn wrapping_add(self, other: Self) -> Self;
    /// Rotated to the left.
    #[must_use]
    fn rotate_left(self, bits: u32) -> Self;

    /// Runs a kernel on these words: what tokens call, which have them all.
    #[doc(hidden)]
    fn enter<S: Words<u32> + Words<u64>, K: WordKernel<Word = Self>>(s: S, kernel: K) -> K::Out;
}

macro_rules! word {
    ($word:ident) => {
        impl Sealed for $word {}

        impl Word for $word {
            const BITS: u32 = $word::BITS;
            const BYTES: usize = size_of::<$word>();

            #[inline(always)]
            fn read_le(bytes: &[u8]) -> $word {
                let Some(bytes) = bytes.first_chunk() else { too_few() };
                $word::from_le_bytes(*bytes)
            }

            #[inline(always)]
            fn write_le(self, bytes: &mut [u8]) {
                let own = self.to_le_bytes();
                // Nearly always all of them: a move of a length that is known.
                match bytes.first_chunk_mut() {
                    Some(bytes) => *bytes = own,
                    None => bytes.copy_from_slice(&own[..bytes.len()]),
                }
            }

            #[inline(always)]
            fn swap_bytes(self) -> $word {
                self.swap_bytes()
            }

            #[inline(always)]
            fn wrapping_add(self, other: $word) -> $word {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn rotate_left(self, bits: u32) -> $word {
                self.rotate_left(bits)
            }

            #[inline(always)]
            fn enter<S: Words<u32> + Words<u64>, K: WordKernel<Word = $word>>(
                s: S,
                kernel: K,
            ) -> K::Out {
                kernel.run(s)
            }
        }
    };
}

word!(u32);
word!(u64);

#[cold]
#[inline(never)]
fn too_few() -> ! {
    panic!("fewer words or bytes than a vector has lanes")
}
