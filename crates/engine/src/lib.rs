//! AES for one buffer and for many at once.
//!
//! A chain of blocks, as in CBC, is serial: each block waits for the one before, and one buffer leaves
//! most of the processor idle. This crate runs independent buffers side by side in the lanes of SIMD
//! vectors; where a mode is parallel in itself (CTR, GCM, CBC decryption), it fills the vectors from
//! one buffer.
//!
//! | to do | for one buffer | for many |
//! |---|---|---|
//! | encrypt a message so that tampering shows | [`aead`]: [`Aes256Gcm`](aead::Aes256Gcm) and others | [`aead::batch`] |
//! | ChaCha20, Poly1305 | [`ChaCha20`], [`Poly1305`] | |
//! | ECB, CBC, CTR, CBCS | [`Aes128`], [`Aes192`], [`Aes256`] | [`lanes::encrypt`] (CBC, CBCS) |
//! | a message authentication code | [`Aes128Cmac`] and others | [`lanes::mac`] |
//! | jobs that come one by one | | [`lanes::Scheduler`] |
//! | sectors of a disk | [`Aes128Xts`], [`Aes256Xts`] | `encrypt_sectors` |
//! | wrap keys | [`Aes128KeyWrap`] and others | |
//! | SHA-1, SHA-2, SHA-3, SM3, BLAKE2 | [`hash`]: [`Sha256`](hash::Sha256) and others | [`hash::hash_all`] |
//! | HMAC, KMAC | [`hash::HmacKey`], [`hash::Kmac256`] | [`hash::hmac_all`] |
//! | keys from secrets, from passwords | [`hash::Hkdf`] | [`hash::pbkdf2_all`] |
//! | records of TLS | [`record`]: [`CbcHmac`](record::CbcHmac) | [`record::seal_all`] |
//! | a large file | [`hash::Kt128`]: a tree, whose leaves take lanes | |
//! | CRC, GHASH, POLYVAL | [`hash`] | |
//! | the traits of the RustCrypto family | `traits` (features) | |
//!
//! A key is expanded once, belongs to the instruction-set level chosen then ([`AesLevel`]), and is
//! zeroised on drop. Keys can be shared by threads; the crate starts none. Lengths are in bytes. Data
//! are encrypted in place, or by the methods with the suffix `_inout` from one buffer to another
//! ([`InOut`]).
//!
//! ```
//! use lanelock::{Aes128, lanes::{self, Job}, Pattern};
//!
//! # fn main() -> Result<(), lanelock::Error> {
//! let key = Aes128::new(&[7; 16])?;
//! // Fifty access units, to be protected by CBCS 1:9.
//! let mut units = vec![vec![0_u8; 1000]; 50];
//! let mut jobs: Vec<_> = units
//!     .iter_mut()
//!     .map(|unit| Job::new(&key, [9; 16], Pattern::new(1, 9), unit))
//!     .collect();
//! lanes::encrypt(&mut jobs);
//! # Ok(())
//! # }
//! ```
//!
//! # Levels
//! Constructors choose the fastest level that the processor has, once. The environment variable
//! `LANELOCK_LEVEL` names another one (`vaes256`, or in a list `aes=vaes256`), or the most bits of its
//! vectors (`max=256`); a name that is unknown or not available, or another mistake, is an error, which
//! every `new` returns. `with_level` takes a level and does not look at the environment.
//!
//! # Features
//! `aead`, `cipher`, `digest` and `universal-hash`, all on by default, implement the traits of the crates of
//! these names. They change nothing else.

#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;

pub use lanelock_aead::{self as aead, KeyUsage};
pub use lanelock_chacha::{ChaCha20, Poly1305};
pub use lanelock_core::{
    Aes, Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap,
    Aes192Xts, Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, AesLevel, Block, Cmac, CmacStream,
    CounterBits, CtrStream, Error, InOut, Key, KeyWrap, LevelError, Pattern, SizedCipher, Xts,
    Zeroizing, cipher, lanes, last_level_run,
};

pub use lanelock_record as record;

/// Hashes, universal hashes and checksums, and what is made of them.
pub mod hash {
    pub use lanelock_digest::*;
    pub use lanelock_hash::*;
}
pub mod self_test;
#[cfg(any(feature = "aead", feature = "cipher", feature = "digest", feature = "universal-hash"))]
pub mod traits;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Those of the repository's README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
