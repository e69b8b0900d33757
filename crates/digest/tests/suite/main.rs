//! The tests of hashes, as one program.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod differential;
mod export;
mod kmac;
mod nist;
mod published;
mod scheduler;
mod traits;
