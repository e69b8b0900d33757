//! Cycles per byte of the engine, beside what the processor could do: the insides of
//! `lanelock speed`, and of the lab that compares with other libraries.
//!
//! - [`clock`]: core cycles, from the wall clock and a chain of instructions of known latency.
//! - [`workload`]: the rows: algorithm, operation, key size, message size, number of streams.
//! - [`limit`]: what AES and carry-less multiplication alone would take, measured in the same run.
//! - [`row`]: a workload that was measured, in the units of the tables.
//! - [`table1`], [`arm_table`]: published figures, and the same on this processor.
//! - [`emulator`]: whether figures say anything here.
//! - [`plot`]: the rows as a picture.
//! - [`self_test`]: known answers, by the same kernels.
//!
//! ```no_run
//! use lanelock::AesLevel;
//! use lanelock_speed::{limit::Limits, row::MeasuredRow, workload::{Keys, Traffic, Workload}};
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
//!     traffic: Traffic::default(),
//! };
//! let limits = Limits::measure(level);
//! if let Some(row) = MeasuredRow::measure(workload, level, &limits, 3, 1) {
//!     println!("{:.3} cycles per byte, {:?} of the limit", row.cycles_per_byte(), row.of_limit());
//! }
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod arm_table;
pub mod clock;
pub mod limit;
pub mod plot;
pub mod row;
pub mod self_test;
pub mod table1;
pub mod workload;

/// The program that emulates the processor of this one, where there is one and Linux shows it, as with
/// qemu-user, valgrind or box64: what is measured then is that program.
///
/// An emulator answers for `/proc/self/exe` in the name of the program that it runs; under the name of the
/// thread the kernel answers. A virtual machine that emulates a whole computer does not show itself so.
pub fn emulator() -> Option<std::path::PathBuf> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let runs = std::fs::read_link("/proc/thread-self/exe").ok()?;
    (runs != program).then_some(runs)
}
