//! Hashes of one message and of many at once, and what is made of them.
//!
//! One hash is a chain: each block waits for the one before. Many messages are as many chains, and take lanes:
//! see [`hash_all`].
//!
//! ```
//! use lanelock::hash::{Sha256, Levels, HashJob, hash_all, algorithm};
//!
//! # fn main() -> Result<(), lanelock::LevelError> {
//! let digest = Sha256::digest(b"abc")?;
//! assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]); // FIPS 180-4, the example
//!
//! let mut hash = Sha256::new()?; // piece by piece
//! hash.update(b"a");
//! hash.update(b"bc");
//! assert_eq!(hash.finish(), digest);
//!
//! let messages = ["abc", "a longer message", ""];
//! let mut jobs = messages.map(|message| HashJob::<algorithm::Sha256>::new(message.as_bytes()));
//! hash_all(Levels::best()?, &mut jobs);
//! assert_eq!(jobs[0].digest, digest);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod algorithm;
mod blake2;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod compiled;
#[doc(hidden)]
pub mod compression;
mod cshake;
mod export;
mod hash;
mod hkdf;
mod hmac;
mod kangaroo;
mod keccak;
mod kmac;
mod lanes;
mod levels;
mod owned;
mod parallel;
mod pbkdf2;
mod prefix;
mod sha1;
mod sha2;
mod sm3;
#[cfg(feature = "digest")]
mod traits;
mod tree;

pub use export::ImportError;
pub use hash::{Hash, Output};
pub use hkdf::Hkdf;
pub use hmac::{Hmac, HmacJob, HmacKey, hmac_all};
pub use kangaroo::{KangarooTwelve, Kt128, Kt256};
pub use kmac::{Kmac, Kmac128, Kmac256};
pub use lanelock_isa::{HashLevel, ShaLevel};
pub use lanes::{HashJob, hash_all, update_all};
pub use levels::Levels;
#[doc(hidden)]
pub use owned::RunningHash;
pub use owned::{HashCompleted, OwnedHashJob};
pub use parallel::{ParallelHash, ParallelHash128, ParallelHash256};
pub use pbkdf2::{Pbkdf2Job, pbkdf2_all};
pub use prefix::{PrefixJob, hmac_prefixes};

/// SHA-1: see [`algorithm::Sha1`].
pub type Sha1 = Hash<algorithm::Sha1>;
/// SHA-224.
pub type Sha224 = Hash<algorithm::Sha224>;
/// SHA-256.
pub type Sha256 = Hash<algorithm::Sha256>;
/// SHA-384.
pub type Sha384 = Hash<algorithm::Sha384>;
/// SHA-512.
pub type Sha512 = Hash<algorithm::Sha512>;
/// SHA-512/224.
pub type Sha512_224 = Hash<algorithm::Sha512_224>;
/// SHA-512/256.
pub type Sha512_256 = Hash<algorithm::Sha512_256>;
/// SHA3-224.
pub type Sha3_224 = Hash<algorithm::Sha3_224>;
/// SHA3-256.
pub type Sha3_256 = Hash<algorithm::Sha3_256>;
/// SHA3-384.
pub type Sha3_384 = Hash<algorithm::Sha3_384>;
/// SHA3-512.
pub type Sha3_512 = Hash<algorithm::Sha3_512>;
/// SHAKE128.
pub type Shake128 = Hash<algorithm::Shake128>;
/// SHAKE256.
pub type Shake256 = Hash<algorithm::Shake256>;
/// TurboSHAKE128.
pub type TurboShake128<const DOMAIN: u8 = 0x1f> = Hash<algorithm::TurboShake128<DOMAIN>>;
/// TurboSHAKE256.
pub type TurboShake256<const DOMAIN: u8 = 0x1f> = Hash<algorithm::TurboShake256<DOMAIN>>;
/// SM3.
pub type Sm3 = Hash<algorithm::Sm3>;
/// BLAKE2b.
pub type Blake2b<const DIGEST: usize = 64> = Hash<algorithm::Blake2b<DIGEST>>;
/// BLAKE2s.
pub type Blake2s<const DIGEST: usize = 32> = Hash<algorithm::Blake2s<DIGEST>>;
