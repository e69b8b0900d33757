//! Cycles per byte of the engine, beside what the processor could do: the insides of
//! `lanelock speed`, and of the lab that compares with other libraries.
//!
//! - [`clock`]: core cycles, from the wall clock and a chain of instructions of known latency.
//! - [`workload`]: the rows: algorithm, operation, key size, message size, number of streams.
//! - [`limit`]: what AES and carry-less multiplication alone would take, measured in the same run.
//! - [`plot`]: the rows as a picture.

#![forbid(unsafe_code)]

pub mod clock;
pub mod limit;
pub mod plot;
pub mod workload;
