//! Cycles per byte of the engine, beside what the processor could do: the insides of
//! `lanelock speed`, and of the lab that compares with other libraries.
//!
//! - [`clock`]: core cycles, from the wall clock and a chain of instructions of known latency.
//! - [`workload`]: the rows: algorithm, operation, key size, message size, number of streams.
//! - [`limit`]: what AES and carry-less multiplication alone would take, measured in the same run.
//! - [`row`]: a workload that was measured, in the units of the tables.
//! - [`table1`]: published figures, and the same on this processor.
//! - [`plot`]: the rows as a picture.

#![forbid(unsafe_code)]

pub mod clock;
pub mod limit;
pub mod plot;
pub mod row;
pub mod table1;
pub mod workload;
