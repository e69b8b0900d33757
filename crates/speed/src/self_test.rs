//! [`lanelock::self_test`], compiled here.
//!
//! Kernels are generic code, of which each crate that names them has a copy of its own. A program that measures
//! them and tests them has one copy for both if it calls the test through this module.

use lanelock::{
    AesLevel,
    hash::HashLevel,
    self_test::{self, SelfTestError},
};

/// [`lanelock::self_test::run`].
///
/// # Errors
/// The first wrong answer.
pub fn run(level: AesLevel) -> Result<usize, SelfTestError> {
    self_test::run(level)
}

/// [`lanelock::self_test::run_hashes`].
///
/// # Errors
/// The first wrong answer.
pub fn run_hashes(level: HashLevel) -> Result<usize, SelfTestError> {
    self_test::run_hashes(level)
}
