//! Groups of points.

pub(crate) mod base_point;
pub(crate) mod edwards;
pub(crate) mod edwards_scalar;
