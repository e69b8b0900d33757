//! The integration tests of `lanelock-store`. They are one program, since each program links the crate and all
//! that it uses again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[cfg(feature = "cloud")]
mod sinks;
#[cfg(feature = "cloud")]
mod sources;
#[cfg(feature = "cloud")]
mod support;
