//! Where the lanes of a group find what belongs to their keys.

use lanelock_core::cipher::{Cipher, CipherKeys, OwnKeys, SameKey, Schedule};
use lanelock_isa::{AesClmul, Block, WIDEST};

use super::group::LANES;

/// The keys of the lanes of a group: for each the `Parts` that a kernel needs, references to schedules and
/// tables.
pub(crate) trait BatchKeys: Copy {
    type Parts: Copy;
    /// Whether all lanes have the same.
    const ONE: bool;

    /// Those of lane `lane`.
    fn lane(self, lane: usize) -> Self::Parts;
    /// The round keys of the lanes of the `N` vectors that start at lane `at`; vector number `N` of a
    /// call has the lanes of vector 0 again, and so on. `of` is where the parts have them.
    fn rounds<'k, S: AesClmul, C: Cipher + 'k, const N: usize>(
        self,
        s: S,
        at: usize,
        of: impl Fn(Self::Parts) -> Schedule<'k, C>,
    ) -> impl CipherKeys<S, C>;
    /// A block of each of the lanes of the vector that starts at lane `at`, such as a mask. `of` is where
    /// the parts have it.
    fn blocks<'k, S: AesClmul>(
        self,
        s: S,
        at: usize,
        of: impl Fn(Self::Parts) -> &'k Block,
    ) -> S::V;
}

/// All lanes have the same key.
#[derive(Clone, Copy)]
pub(crate) struct OneKey<P>(pub(crate) P);

impl<P: Copy> BatchKeys for OneKey<P> {
    type Parts = P;
    const ONE: bool = true;

    #[inline(always)]
    fn lane(self, _: usize) -> P {
        self.0
    }

    #[inline(always)]
    fn rounds<'k, S: AesClmul, C: Cipher + 'k, const N: usize>(
        self,
        s: S,
        _: usize,
        of: impl Fn(P) -> Schedule<'k, C>,
    ) -> impl CipherKeys<S, C> {
        SameKey::new(s, of(self.0))
    }

    #[inline(always)]
    fn blocks<'k, S: AesClmul>(self, s: S, _: usize, of: impl Fn(P) -> &'k Block) -> S::V {
        s.splat(of(self.0))
    }
}

/// Every lane has a key of its own, and reads it where it is.
#[derive(Clone, Copy)]
pub(crate) struct KeyEach<'g, P>(pub(crate) &'g [P; LANES]);

impl<P: Copy> BatchKeys for KeyEach<'_, P> {
    type Parts = P;
    const ONE: bool = false;

    #[inline(always)]
    fn lane(self, lane: usize) -> P {
        self.0[lane % LANES]
    }

    #[inline(always)]
    fn rounds<'k, S: AesClmul, C: Cipher + 'k, const N: usize>(
        self,
        _: S,
        at: usize,
        of: impl Fn(P) -> Schedule<'k, C>,
    ) -> impl CipherKeys<S, C> {
        OwnKeys::<C, N>::new(S::WIDTH, |lane| of(self.lane(at + lane)))
    }

    #[inline(always)]
    fn blocks<'k, S: AesClmul>(self, s: S, at: usize, of: impl Fn(P) -> &'k Block) -> S::V {
        let mut blocks = [of(self.lane(at)); WIDEST];
        for lane in 1..S::WIDTH {
            blocks[lane] = of(self.lane(at + lane));
        }
        s.load_each(&blocks)
    }
}
