//! Universal hashes and checksums by carry-less multiplication, one file an algorithm.

mod crc;
mod field;
mod ghash;
mod polyval;
