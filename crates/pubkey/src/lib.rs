//! Public key operations in lanes: RSA and elliptic curves.
//!
//! A server spends its handshakes on one signature and one or two key agreements each. AVX-512 IFMA multiplies
//! eight digits of 52 bits in one instruction, and eight operations side by side, a digit of each in a lane, fill
//! its units where one operation waits for carries.
//!
//! Big numbers are vectors of digits of 52 bits, one number a lane ([`lanelock_isa::Limbs`]): each algorithm is
//! written once for eight lanes, for four, and for one on any processor. No branch and no address depends on a
//! secret.

#![forbid(unsafe_code)]

extern crate alloc;

mod batcher;
mod curve;
mod curve25519_der;
mod digits;
pub mod ecdh;
pub mod ecdsa;
pub mod ed25519;
mod encoding;
mod error;
pub mod exchange;
mod field;
mod hash;
mod level;
mod montgomery;
mod operation;
mod queue;
mod random;
pub mod rsa;
mod secret;
mod shared_secret;
mod submitter;
pub mod x25519;

pub use batcher::{Batcher, Policy, Statistics};
pub use curve::{Curve, P256, P384, P521};
pub use error::Error;
pub use hash::Hash;
pub use operation::{Operation, run_batch};
pub use queue::Ticket;
pub use random::{Random, SystemRandom};
pub use shared_secret::SharedSecret;
pub use submitter::Submitter;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
