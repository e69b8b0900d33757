//! The tests of public keys, as one program.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod batcher;
mod curve25519_der;
mod ecdh;
mod ecdsa;
mod ed25519;
mod exchange;
mod rsa_encryption;
mod rsa_keys;
mod rsa_signatures;
mod x25519;
