//! Carry-less products.

use super::Blocks;

/// Carry-less products (polynomials over GF(2)) of the 64-bit halves of blocks, lane by lane: for
/// GHASH, POLYVAL, XTS tweaks and CRC.
///
/// The *low* half of a block is its first eight bytes, little-endian: bit *i* of the number is the
/// coefficient of x^*i*. A product of two halves fills a block.
pub trait Clmul: Blocks {
    /// low(a) * low(b)
    fn clmul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// high(a) * high(b)
    fn clmul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// low(a) * high(b)
    fn clmul_low_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// high(a) * low(b)
    fn clmul_high_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each byte of `v` times the 8 by 8 matrix over GF(2) in the same half of `matrix`: bit *i* is
    /// the parity of what the byte and the matrix's byte 7 - *i* have in common. Fast where
    /// [`Ways::matrices_are_fast`](crate::Ways::matrices_are_fast).
    fn times_matrix(self, v: Self::V, matrix: Self::V) -> Self::V;
}
