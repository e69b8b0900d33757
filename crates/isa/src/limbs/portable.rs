//! Limbs without an instruction set: one lane, with products of 128 bits.

use super::{LimbKernel, Limbs, too_few};
use crate::part::Part;
use crate::vectors::sealed::Sealed;

/// A digit: 52 bits.
const DIGIT: u64 = (1 << 52) - 1;

/// The token of the portable level of [`LimbLevel`](crate::LimbLevel). Needs no instruction set.
///
/// Compilers make one instruction of a product of two words of 64 bits where the target has it. Where it has not
/// (most processors of 32 bits, and some small ones, whose multiplication takes longer for some words), times are
/// not promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortableLimbs(());

impl PortableLimbs {
    /// Limbs in a vector.
    pub(crate) const LANES: usize = 1;

    /// The token.
    pub const fn new() -> Self {
        Self(())
    }

    /// Runs `kernel`; never inlined, so that its frame is not that of the other levels.
    #[inline(never)]
    pub(crate) fn run<K: LimbKernel>(self, kernel: K) -> K::Out {
        kernel.run(self)
    }
}

impl Default for PortableLimbs {
    fn default() -> Self {
        Self::new()
    }
}

impl Sealed for PortableLimbs {}

impl Limbs for PortableLimbs {
    type V = u64;
    type M = u64;
    const LANES: usize = 1;

    #[inline(never)]
    fn call<P: Part<Self>>(self, part: P) -> P::Out {
        part.run(self)
    }

    #[inline(always)]
    fn splat(self, word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn load(self, src: &[u64]) -> u64 {
        let Some(word) = src.first() else { too_few() };
        *word
    }

    #[inline(always)]
    fn store(self, v: u64, dst: &mut [u64]) {
        let Some(word) = dst.first_mut() else { too_few() };
        *word = v;
    }

    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }

    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    fn or(self, a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self, v: u64) -> u64 {
        const { assert!(N < 64) }
        v << N
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self, v: u64) -> u64 {
        const { assert!(N < 64) }
        v >> N
    }

    #[inline(always)]
    fn mul_low(self, sum: u64, a: u64, b: u64) -> u64 {
        sum.wrapping_add((a & DIGIT).wrapping_mul(b & DIGIT) & DIGIT)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a product of digits has 104 bits")]
    fn mul_high(self, sum: u64, a: u64, b: u64) -> u64 {
        let product = u128::from(a & DIGIT) * u128::from(b & DIGIT);
        sum.wrapping_add((product >> 52) as u64)
    }

    #[inline(always)]
    fn equal(self, a: u64, b: u64) -> u64 {
        let difference = a ^ b;
        let differs = (difference | difference.wrapping_neg()) >> 63;
        // The compiler would make branches of a mask whose origin it knows.
        core::hint::black_box(differs).wrapping_sub(1)
    }

    #[inline(always)]
    fn select(self, mask: u64, a: u64, b: u64) -> u64 {
        b ^ (mask & (a ^ b))
    }

    #[inline(always)]
    fn matching(self, a: u64, b: u64) -> u64 {
        self.equal(a, b)
    }

    #[inline(always)]
    fn blend(self, choice: u64, a: u64, b: u64) -> u64 {
        self.select(choice, a, b)
    }

    #[inline(always)]
    fn next_lane(self, _low: u64, high: u64) -> u64 {
        high
    }

    #[inline(always)]
    fn lookup(self, table: &[u64; 16], index: u64) -> u64 {
        let mut found = 0;
        for (at, word) in (0..).zip(table) {
            found |= word & self.equal(index & 15, at);
        }
        found
    }
}
