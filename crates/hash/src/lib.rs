//! Universal hashes and checksums by carry-less multiplication, one file an algorithm.
//!
//! Neither is a cryptographic hash: a CRC finds accidents, and a universal hash authenticates only
//! under encryption.
//!
//! ```
//! use lanelock::hash::{Crc32, Ghash};
//!
//! # fn main() -> Result<(), lanelock::Error> {
//! assert_eq!(Crc32::checksum(b"123456789")?, 0xcbf4_3926); // the check value of the catalogues
//!
//! let mut crc = Crc32::new()?; // piece by piece
//! crc.update(b"1234");
//! crc.update(b"56789");
//! assert_eq!(crc.finish(), 0xcbf4_3926);
//!
//! let mut hash = Ghash::new(&[7; 16])?;
//! hash.update(b"a message");
//! assert_ne!(hash.finish(), [0; 16]);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]

mod crc;
#[doc(hidden)]
pub mod field;
#[cfg(feature = "universal-hash")]
mod traits;
#[doc(hidden)]
pub mod universal;

pub use crc::{Crc32, Crc32c, Crc64Nvme, Crc64Xz};
pub use universal::{Ghash, Polyval, UniversalHash};
