//! The integration tests of `lanelock-manifest`. They are one program, since each program links the crate and all
//! that it uses again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod dash;
mod dash_rules;
mod hls;
mod hls_rules;
mod shaka;
mod support;
