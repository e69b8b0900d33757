//! Groups of curves.

pub(crate) mod base_point;
pub(crate) mod der;
pub(crate) mod edwards;
pub(crate) mod edwards_scalar;
pub(crate) mod key;
#[expect(unnameable_types, reason = "only curves of this crate multiply")]
mod multiply;
#[expect(unnameable_types, reason = "curves are those of this crate")]
mod nist;
#[expect(unnameable_types, reason = "only curves of this crate multiply")]
mod scalars;
mod table;
mod weierstrass;

pub(crate) use multiply::{Job, Work};
pub(crate) use nist::Arithmetic;
pub use nist::{P256, P384, P521};
pub(crate) use scalars::{Scalars, Side};

use std::sync::OnceLock;

use lanelock_isa::{LimbLevel, wipe_stack};

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
    in_lanes(level, jobs, |level, jobs| C::multiply(level, work, jobs));
    if work != Work::Both {
        wipe::<C>();
    }
}

/// Computes with scalars, likewise.
pub(crate) fn divide<C: Curve>(level: LimbLevel, side: Side, jobs: &mut [Scalars<C::Number>]) {
    in_lanes(level, jobs, |level, jobs| C::divide(level, side, jobs));
    if side == Side::Sign {
        wipe::<C>();
    }
}

/// Wipes the stack where numbers were that did not fit into registers.
fn wipe<C: Curve>() {
    if C::BITS > 384 { wipe_stack::<{ 32 << 10 }>() } else { wipe_stack::<{ 16 << 10 }>() }
}

/// Runs all jobs at the level, but for a few at the end that fit vectors half as long: these take half the time where
/// a processor has twice as many units for them, and no longer where not.
fn in_lanes<T>(level: LimbLevel, jobs: &mut [T], run: impl Fn(LimbLevel, &mut [T])) {
    static HALF: OnceLock<Option<LimbLevel>> = OnceLock::new();
    let mut jobs = jobs;
    if level.name() == "ifma512"
        && let Some(half) = *HALF.get_or_init(|| "ifma256".parse().ok())
    {
        let rest = jobs.len() % level.width();
        if (1..=half.width()).contains(&rest) {
            let few;
            (jobs, few) = jobs.split_at_mut(jobs.len() - rest);
            run(half, few);
        }
    }
    if !jobs.is_empty() {
        run(level, jobs);
    }
}

#[cfg(test)]
mod tests;
