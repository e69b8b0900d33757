//! Cycles per byte of the engine, beside what the processor could do: the insides of
//! `lanelock speed`, and of the lab that compares with other libraries.
//!
//! - [`clock`]: core cycles, from the wall clock and a chain of instructions of known latency.
//! - [`workload`]: the rows: algorithm, operation, key size, message size, number of streams.
//! - [`limit`]: what AES and carry-less multiplication alone would take, measured in the same run.
//! - [`row`]: a workload that was measured, in the units of the tables.
//! - [`table1`]: published figures, and the same on this processor.
//! - [`plot`]: the rows as a picture.
//!
//! ```no_run
//! use lanelock::AesLevel;
//! use lanelock_speed::{limit::Limits, row::MeasuredRow, workload::{Keys, Workload}};
//!
//! # fn main() -> Result<(), lanelock::LevelError> {
//! let level = AesLevel::best()?;
//! let workload = Workload {
//!     algorithm: "gcm",
//!     operation: "seal",
//!     key_bits: 128,
//!     size: 16 << 10, // bytes
//!     streams: 1,
//!     keys: Keys::One,
//!     aad: 0,
//! };
//! let limits = Limits::measure(level);
//! if let Some(row) = MeasuredRow::measure(workload, level, &limits, 3, 1) {
//!     println!("{:.3} cycles per byte, {:?} of the limit", row.cycles_per_byte(), row.of_limit());
//! }
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod clock;
pub mod limit;
pub mod plot;
pub mod row;
pub mod table1;
pub mod workload;
