//! The vector trait for hashes of many messages side by side: one word of 32 bits a lane, one message
//! a lane.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[macro_use]
mod level;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::vectors::sealed::Sealed;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use level::too_few;

#[cfg(target_arch = "aarch64")]
pub use aarch64::NeonWords;
pub use portable::PortableWords;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2Words, Avx512Words};

/// An algorithm over [`Words`]: one body, compiled once per level of
/// [`HashLevel`](crate::HashLevel).
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait WordKernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: Words>(self, s: S) -> Self::Out;
}

/// Vectors of 32-bit words at one level: what the rounds of SHA-256 and its like need.
///
/// ```
/// use lanelock_isa::{HashLevel, WordKernel, Words};
///
/// /// Ch(x, y, z) of FIPS 180-4, 4.1.2, for one word of every lane.
/// struct Choose([u32; 3]);
///
/// impl WordKernel for Choose {
///     type Out = u32;
///
///     #[inline(always)]
///     fn run<S: Words>(self, s: S) -> u32 {
///         let (x, y, z) = (s.splat(self.0[0]), s.splat(self.0[1]), s.splat(self.0[2]));
///         let mut words = [0; 16]; // a vector has 4, 8 or 16 lanes
///         s.store(s.xor(s.and(x, y), s.and_not(x, z)), &mut words);
///         words[S::LANES - 1]
///     }
/// }
///
/// for level in HashLevel::available() {
///     assert_eq!(level.run(Choose([0xffff_0000, 0x1234_5678, 0x9abc_def0])), 0x1234_def0, "{level}");
/// }
/// ```
pub trait Words: Sealed + Copy {
    /// A word of each lane.
    type V: Copy;
    /// Words in a vector, at most 16.
    const LANES: usize;

    /// The word in every lane.
    fn splat(self, word: u32) -> Self::V;
    /// The first [`LANES`](Words::LANES) words of `src`. Panics if there are fewer.
    fn load(self, src: &[u32]) -> Self::V;
    /// The first [`LANES`](Words::LANES) words of `dst` = `v`. Panics if there are fewer.
    fn store(self, v: Self::V, dst: &mut [u32]);
    /// Lane *i* = word `at` (0 to 15) of `blocks[i]`, little-endian. Panics if there are fewer blocks
    /// than lanes, or words than `at`.
    fn gather_words_le(self, blocks: &[&[u8; 64]], at: usize) -> Self::V;
    /// The same, big-endian.
    fn gather_words_be(self, blocks: &[&[u8; 64]], at: usize) -> Self::V;

    /// `a` + `b` modulo 2^32
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` ^ `b`
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` & `b`
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// !`a` & `b`
    fn and_not(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rotates to the left by `N` bits, 0 to 31.
    fn rotate_left<const N: u32>(self, v: Self::V) -> Self::V;
    /// Shifts to the right by `N` bits, 0 to 31, and zeros in.
    fn shift_right<const N: u32>(self, v: Self::V) -> Self::V;
}
