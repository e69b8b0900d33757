//! Universal hashes and checksums by carry-less multiplication, one file an algorithm.

mod crc;
pub(crate) mod field;
pub(crate) mod universal;

pub use universal::{Ghash, Polyval, UniversalHash};
