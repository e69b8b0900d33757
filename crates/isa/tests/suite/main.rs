//! The tests of levels and vectors, as one program.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod limbs;
mod operations;
mod words;
