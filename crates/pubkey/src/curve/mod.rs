//! Groups of curves.

pub(crate) mod base_point;
pub(crate) mod der;
pub(crate) mod edwards;
pub(crate) mod edwards_scalar;
pub(crate) mod key;
mod multiply;
mod nist;
mod scalars;
mod table;
mod weierstrass;

pub(crate) use multiply::{Job, Work};
pub(crate) use nist::Arithmetic;
pub use nist::{P256, P384, P521};
pub(crate) use scalars::{Scalars, Side};

use lanelock_isa::LimbLevel;

/// A curve of NIST SP 800-186: [`P256`], [`P384`] or [`P521`].
pub trait Curve: Arithmetic {
    /// The name that NIST gave it.
    const NAME: &'static str;
    /// Bytes of a scalar and of a coordinate.
    const BYTES: usize;
    /// The object identifier (RFC 5480, 2.1.1.1).
    const OBJECT_IDENTIFIER: &'static str;
    /// The named group of TLS (RFC 8422, 5.1.1).
    const TLS_GROUP: u16;
}

impl Curve for P256 {
    const NAME: &'static str = "P-256";
    const BYTES: usize = 32;
    const OBJECT_IDENTIFIER: &'static str = "1.2.840.10045.3.1.7";
    const TLS_GROUP: u16 = 23;
}

impl Curve for P384 {
    const NAME: &'static str = "P-384";
    const BYTES: usize = 48;
    const OBJECT_IDENTIFIER: &'static str = "1.3.132.0.34";
    const TLS_GROUP: u16 = 24;
}

impl Curve for P521 {
    const NAME: &'static str = "P-521";
    const BYTES: usize = 66;
    const OBJECT_IDENTIFIER: &'static str = "1.3.132.0.35";
    const TLS_GROUP: u16 = 25;
}

/// Multiplies points, as many at once as the level has lanes.
pub(crate) fn run<C: Curve>(level: LimbLevel, work: Work, jobs: &mut [Job<C::Number>]) {
    C::multiply(level, work, jobs);
}

/// Computes with scalars, likewise.
pub(crate) fn divide<C: Curve>(level: LimbLevel, side: Side, jobs: &mut [Scalars<C::Number>]) {
    C::divide(level, side, jobs);
}

#[cfg(test)]
mod tests;
