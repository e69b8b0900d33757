//! Numbers in groups of lanes: the vector trait for arithmetic on one or two of them.

use super::Limbs;

/// An algorithm over [`LimbGroups`]: see [`Limbs::in_groups`].
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait GroupKernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: LimbGroups>(self, s: S) -> Self::Out;
}

/// In [`LimbGroups::pick`]: zero.
pub const NONE: usize = 8;

/// Limbs of which a group of lanes holds digits of one number.
///
/// A group has four lanes, or, where a constant `WHOLE` says so, all that the vector has.
pub trait LimbGroups: Limbs {
    /// The first bytes of `src` as words, little-endian. Panics if there are fewer than a vector has.
    fn load_bytes(self, src: &[u8]) -> Self::V;
    /// The first word in the lanes of the first group of four, the second in those of the second one, if there is one.
    fn splat_groups(self, words: [u64; 2]) -> Self::V;
    /// Four lanes for each group of four: 0 to 3 are those of its group in `a`, 4 to 7 those in `b`, [`NONE`] is zero.
    fn pick<const A: usize, const B: usize, const C: usize, const D: usize>(
        self,
        a: Self::V,
        b: Self::V,
    ) -> Self::V;
    /// The lanes of `a` with even numbers, each before the same one of `b`.
    fn even_lanes(self, a: Self::V, b: Self::V) -> Self::V;
    /// The lanes of `a` with odd numbers, each before the same one of `b`.
    fn odd_lanes(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lanes of each group of four: which of them comes first is in bits 0 and 1 of `FROM`, and so on. Lanes whose bit
    /// in `KEPT` is not set are zero.
    fn arrange<const FROM: i32, const KEPT: u8>(self, v: Self::V) -> Self::V;
    /// The first lane of each group in all lanes of it.
    fn spread<const WHOLE: bool>(self, v: Self::V) -> Self::V;
    /// The first lane of each group, zero in the others.
    fn first<const WHOLE: bool>(self, v: Self::V) -> Self::V;
    /// One lane further down in each group: lane 1 comes first, zero last.
    fn next<const WHOLE: bool>(self, v: Self::V) -> Self::V;
    /// One lane further up in each group: zero comes first.
    fn previous<const WHOLE: bool>(self, v: Self::V) -> Self::V;
}

/// The index of [`pick`](LimbGroups::pick) for an instruction that takes lanes of two vectors.
#[cfg(target_arch = "x86_64")]
pub(super) const fn pattern<const LANES: usize>(lanes: [usize; 4]) -> [u64; LANES] {
    let mut index = [0; LANES];
    let mut i = 0;
    while i < LANES {
        let lane = lanes[i % 4] % NONE;
        index[i] = (lane / 4 * LANES + i / 4 * 4 + lane % 4) as u64;
        i += 1;
    }
    index
}

/// The lanes that are not [`NONE`], as bits.
#[cfg(target_arch = "x86_64")]
pub(super) const fn pattern_lanes(lanes: [usize; 4]) -> u8 {
    let mut bits = 0;
    let mut i = 0;
    while i < 4 {
        assert!(lanes[i] <= NONE);
        if lanes[i] != NONE {
            bits |= 0x11 << i;
        }
        i += 1;
    }
    bits
}
