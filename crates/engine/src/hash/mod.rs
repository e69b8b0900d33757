//! Universal hashes and checksums by carry-less multiplication, one file an algorithm.

mod crc;
pub(crate) mod field;
pub(crate) mod universal;

pub use crc::{Crc32, Crc32c, Crc64Nvme, Crc64Xz};
pub use universal::{Ghash, Polyval, UniversalHash};
