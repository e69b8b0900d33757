//! The statistics of `lanelock-ct`, which is the program.

mod welch;

pub use welch::{Difference, Welch};
