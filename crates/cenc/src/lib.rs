//! Common Encryption (ISO/IEC 23001-7) of access units, without a container: which bytes of a frame are
//! protected, and their encryption by `cenc`, `cens`, `cbc1` and `cbcs`.
//!
//! A packager, a GStreamer element or an FFmpeg filter can call this with any container. Two steps, kept
//! apart:
//! - *map* ([`map`]): codec rules turn an access unit into clear and protected subsamples. Pure, no
//!   key.
//! - *apply* ([`encrypt`], [`decrypt`]): every protected range of every access unit of a buffer is
//!   encrypted in place; the serial chains of `cbcs` and `cbc1` run side by side in lanes.
//!
//! ```
//! use lanelock_core::Aes128;
//! use lanelock_cenc::{AccessUnit, Cipher, Scheme, decrypt, encrypt, map::Subsample};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cipher = [Cipher::new(Scheme::Cbcs, Aes128::new(&[1; 16])?).with_pattern(1, 9)];
//! let mut buffer = vec![7; 5000]; // two access units
//! let subsamples = [Subsample { clear: 30, protected: 2970 }];
//! let units = [
//!     AccessUnit { range: 0..3000, subsamples: 0..1, iv: [5; 16], cipher: 0 },
//!     AccessUnit { range: 3000..5000, subsamples: 0..0, iv: [5; 16], cipher: 0 },
//! ];
//! encrypt(&mut buffer, &units, &subsamples, &cipher)?;
//! decrypt(&mut buffer, &units, &subsamples, &cipher)?;
//! assert_eq!(buffer, [7; 5000]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod apply;
pub mod map;
mod scheme;

pub use apply::{AccessUnit, ApplyError, Cipher, ciphertext_bytes, decrypt, encrypt};
pub use scheme::{Scheme, advance_iv, iv_blocks, next_iv};

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
