//! The integration tests of `lanelock-cpix`. They are one program, since each program links the crate and all
//! that it uses again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod documents;
mod encrypted;
mod given;
mod plan;
#[cfg(feature = "speke")]
mod speke;
mod usage;
