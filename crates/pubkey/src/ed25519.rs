//! Ed25519 (RFC 8032): signatures on the curve edwards25519, deterministic, of messages as they are.
//!
//! ```
//! use lanelock_pubkey::{SystemRandom, ed25519};
//!
//! # fn main() -> Result<(), lanelock_pubkey::Error> {
//! let key = ed25519::SigningKey::generate(&mut SystemRandom)?;
//! let signature = key.sign(b"attack at dawn");
//! key.verifying_key().verify(b"attack at dawn", &signature)?;
//!
//! // Many side by side, each with a key of its own or with the same.
//! let messages = ["one", "two", "three"];
//! let sign: Vec<_> = messages.iter().map(|message| ed25519::Sign::new(&key, message)).collect();
//! let verify: Vec<_> = ed25519::sign_batch(&sign)
//!     .into_iter()
//!     .zip(messages)
//!     .map(|(signature, message)| ed25519::Verify::new(key.verifying_key(), message, signature))
//!     .collect();
//! assert!(ed25519::verify_batch(&verify).iter().all(Result::is_ok));
//! # Ok(())
//! # }
//! ```
//!
//! # What is valid
//!
//! A signature (R, S) of a message M is valid for the key A where S B - k A has the encoding R, with the hash k of
//! R, A and M: the equation without the cofactor (RFC 8032, 5.1.7, allows it), on encodings. S has to be below the
//! order of the base point, so nobody can change a signature into another valid one. A has to be a canonical encoding,
//! and R is one where the equation holds.
//!
//! Keys of low order, under which one signature can be valid for many messages, are valid keys in RFC 8032. Who wants
//! a signature to bind its signer to one message refuses them by [`Verify::with_strictness`].

mod encoding;
mod kernels;
mod key;
mod signature;
#[cfg(feature = "signature")]
mod traits;

pub use key::{Generate, SigningKey, VerifyingKey, generate_batch};
pub use signature::{Sign, Signature, Strictness, Verify, sign_batch, verify_batch};
