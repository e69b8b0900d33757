//! The vector traits for big numbers: one digit of 52 bits a lane, one number a lane ([`Limbs`]) or one number in a group
//! of lanes ([`LimbGroups`]).

mod groups;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::part::Part;
use crate::vectors::sealed::Sealed;

pub use groups::{GroupKernel, LimbGroups, NONE};
pub use portable::PortableLimbs;
#[cfg(target_arch = "x86_64")]
pub use x86::{Ifma256, Ifma512};

/// The most limbs that a vector of any level has.
pub const MOST_LIMBS: usize = 8;

/// An algorithm over [`Limbs`]: one body, compiled once per level of [`LimbLevel`](crate::LimbLevel).
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait LimbKernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: Limbs>(self, s: S) -> Self::Out;
}

/// Vectors of limbs, words of 64 bits that hold a digit of 52 bits and sums of such, at one level: what
/// arithmetic on big numbers needs.
///
/// A product of two digits has 104 bits. [`mul_low`](Limbs::mul_low) and [`mul_high`](Limbs::mul_high) add one
/// half of it each to a word, which has room for 4,096 halves before a carry has to be taken from it.
///
/// ```
/// use lanelock_isa::{LimbKernel, LimbLevel, Limbs, MOST_LIMBS};
///
/// /// The product of two digits, in a lane of its own.
/// struct Product(u64, u64);
///
/// impl LimbKernel for Product {
///     type Out = u128;
///
///     #[inline(always)]
///     fn run<S: Limbs>(self, s: S) -> u128 {
///         let (a, b, zero) = (s.splat(self.0), s.splat(self.1), s.splat(0));
///         let (mut low, mut high) = ([0; MOST_LIMBS], [0; MOST_LIMBS]);
///         s.store(s.mul_low(zero, a, b), &mut low);
///         s.store(s.mul_high(zero, a, b), &mut high);
///         u128::from(low[S::LANES - 1]) + (u128::from(high[S::LANES - 1]) << 52)
///     }
/// }
///
/// let (a, b) = ((1 << 52) - 1, 0xf_1234_5678_9abc);
/// for level in LimbLevel::available() {
///     assert_eq!(level.run(Product(a, b)), u128::from(a) * u128::from(b), "{level}");
/// }
/// ```
pub trait Limbs: Sealed + Copy {
    /// A limb of each lane.
    type V: Copy;
    /// A choice of each lane between two limbs: what [`blend`](Limbs::blend) takes.
    type M: Copy;
    /// Limbs in a vector, at most [`MOST_LIMBS`].
    const LANES: usize;

    /// Runs a kernel whose numbers lie in groups of lanes, where the level has such.
    #[inline(always)]
    fn in_groups<K: GroupKernel>(self, kernel: K) -> Option<K::Out> {
        let _ = kernel;
        None
    }

    /// Calls a part of a kernel, as a function with this level's instructions.
    fn call<P: Part<Self>>(self, part: P) -> P::Out;

    /// The word in every lane.
    fn splat(self, word: u64) -> Self::V;
    /// The first [`LANES`](Limbs::LANES) words of `src`. Panics if there are fewer.
    fn load(self, src: &[u64]) -> Self::V;
    /// The first [`LANES`](Limbs::LANES) words of `dst` = `v`. Panics if there are fewer.
    fn store(self, v: Self::V, dst: &mut [u64]);

    /// `a` + `b`, modulo 2^64
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` - `b`, modulo 2^64
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` & `b`
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` | `b`
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` ^ `b`
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Shifts to the left by `N` bits, fewer than 64.
    fn shift_left<const N: u32>(self, v: Self::V) -> Self::V;
    /// Shifts to the right by `N` bits, fewer than 64, and zeros in.
    fn shift_right<const N: u32>(self, v: Self::V) -> Self::V;

    /// `sum` + the bits 0 to 51 of the product of the bits 0 to 51 of `a` and of `b`, modulo 2^64
    fn mul_low(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `sum` + the bits 52 to 103 of the product of the bits 0 to 51 of `a` and of `b`, modulo 2^64
    fn mul_high(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;

    /// All ones in the lanes where `a` = `b`, zero in the others.
    fn equal(self, a: Self::V, b: Self::V) -> Self::V;
    /// The bits of `a` where `mask` has ones, those of `b` elsewhere.
    fn select(self, mask: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// The choice of the lanes where `a` = `b`.
    fn matching(self, a: Self::V, b: Self::V) -> Self::M;
    /// `a` in the lanes of the choice, `b` in the others. Unlike [`select`](Limbs::select), whose mask is a third vector,
    /// it can be had beside multiplications for nothing on processors that read few vectors at once (Zen 4).
    fn blend(self, choice: Self::M, a: Self::V, b: Self::V) -> Self::V;
    /// One lane further down: lane 1 of `low` comes first, lane 0 of `high` last.
    fn next_lane(self, low: Self::V, high: Self::V) -> Self::V;

    /// The word of the table that bits 0 to 3 of each lane's index say. Neither time nor addresses depend on it.
    fn lookup(self, table: &[u64; 16], index: Self::V) -> Self::V;

    /// `v` through an empty `asm!` where a level has registers for vectors: what makes `v` and the accesses to memory
    /// before it stay before it, what uses `v` and the accesses behind it stay behind it. Changes no value.
    #[inline(always)]
    fn here(self, v: Self::V) -> Self::V {
        v
    }

    /// Overwrites `limbs` with zeros in a way that no compiler leaves out: see [`wipe`](crate::wipe).
    #[inline(always)]
    fn wipe(self, limbs: &mut [Self::V]) {
        crate::wipe_values(limbs, self.splat(0));
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_few() -> ! {
    panic!("fewer limbs than a vector has")
}
