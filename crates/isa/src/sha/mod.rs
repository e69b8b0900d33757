//! The vector trait's counterpart for one message: instructions that take whole rounds of a hash.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::vectors::sealed::Sealed;

#[cfg(target_arch = "aarch64")]
pub use aarch64::NeonSha2;
#[cfg(target_arch = "x86_64")]
pub use x86::ShaNi;

/// An algorithm over [`ShaRounds`]: one body, compiled once per level of [`ShaLevel`](crate::ShaLevel).
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait ShaKernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: ShaRounds>(self, s: S) -> Self::Out;
}

/// Work that is done between the rounds of a hash: see [`ShaRounds`].
pub trait BesideRounds {
    /// What comes before the next quarter of the rounds. `#[inline(always)]`, like a kernel.
    fn quarter(&mut self);
}

/// Nothing.
impl BesideRounds for () {
    #[inline(always)]
    fn quarter(&mut self) {}
}

/// Compression functions of hashes by instructions of their own, and other work between their rounds for each block.
///
/// Each is false, and has done nothing, where the level has no instructions for it.
pub trait ShaRounds: Sealed + Copy {
    /// Messages that an instruction works on.
    const MESSAGES: usize = 1;

    /// Takes blocks into the state of SHA-1 (FIPS 180-4, 6.1.2).
    #[inline(always)]
    fn sha1(
        self,
        _state: &mut [u32; 5],
        _blocks: &[[u8; 64]],
        _beside: &mut impl BesideRounds,
    ) -> bool {
        false
    }

    /// Takes blocks into the state of SHA-256 (FIPS 180-4, 6.2.2), whose constants are `k`, 16 rounds in a row.
    #[inline(always)]
    fn sha256(
        self,
        _k: &[[u32; 16]; 4],
        _state: &mut [u32; 8],
        _blocks: &[[u8; 64]],
        _beside: &mut impl BesideRounds,
    ) -> bool {
        false
    }
}

/// The token of the portable level of [`ShaLevel`](crate::ShaLevel): no such instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortableSha(());

impl PortableSha {
    pub(crate) const MESSAGES: usize = 1;

    pub(crate) const fn new() -> Self {
        Self(())
    }

    /// Runs `kernel`.
    pub(crate) fn run<K: ShaKernel>(self, kernel: K) -> K::Out {
        kernel.run(self)
    }
}

impl Sealed for PortableSha {}
impl ShaRounds for PortableSha {}

/// Makes a token: its detection and its entry, from one feature list.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! sha {
    ($(#[$doc:meta])* $token:ident, enable $enable:literal, detect [$($feature:tt),+]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(());

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;
            pub(crate) const MESSAGES: usize = 1;

            pub(crate) fn detect() -> Option<Self> {
                (has_features!($($feature),+)).then_some(Self(()))
            }

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: ShaKernel>(self, kernel: K) -> K::Out {
                enter!($token, self, kernel, ShaKernel, enable $enable, |s, kernel| kernel.run(s))
            }
        }

        impl Sealed for $token {}

        impl ShaRounds for $token {
            #[inline(always)]
            fn sha1(
                self,
                state: &mut [u32; 5],
                blocks: &[[u8; 64]],
                beside: &mut impl BesideRounds,
            ) -> bool {
                // SAFETY: the token proves the features.
                unsafe { sha1(state, blocks, beside) }
                true
            }

            #[inline(always)]
            fn sha256(
                self,
                k: &[[u32; 16]; 4],
                state: &mut [u32; 8],
                blocks: &[[u8; 64]],
                beside: &mut impl BesideRounds,
            ) -> bool {
                // SAFETY: the token proves the features.
                unsafe { sha256(k, state, blocks, beside) }
                true
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use sha;
