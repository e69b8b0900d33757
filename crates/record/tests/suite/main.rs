//! The tests of TLS records, as one program.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod aead;
mod cbc_hmac;
mod limits;
mod openssl;
