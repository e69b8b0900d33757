//! Algorithms that are compiled for every level.

use crate::{Aes, Clmul, Windows};

/// An algorithm that is generic over the level: one body, compiled once per level.
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait Kernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: AesClmul>(self, s: S) -> Self::Out;
}

/// What every level can do: AES, carry-less products, and rows of many buffers.
pub trait AesClmul: Aes + Clmul + Windows {}

impl<S: Aes + Clmul + Windows> AesClmul for S {}
