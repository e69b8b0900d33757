//! ChaCha20, a stream cipher, and Poly1305, an authenticator for one message (RFC 8439).
//!
//! Blocks of ChaCha20 are independent: they take lanes, as many as two vectors have words of 32 bits, or, where there
//! are few, rows of vectors. The blocks of short messages under different keys take lanes too, and Poly1305 where a
//! message is long enough.
//!
//! To encrypt messages so that tampering shows, use `aead::ChaCha20Poly1305` of the crate `lanelock`.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]

mod blocks;
mod cipher;
mod level;
mod poly1305;

pub use cipher::ChaCha20;
pub use poly1305::Poly1305;

/// What the AEADs are made of. It may change with every version.
#[doc(hidden)]
pub mod parts {
    pub use crate::{
        blocks::{
            Beginning, STATE, State, block_of, forward, hchacha, rows_are_fast, run_all, state,
            xor_stream,
        },
        cipher::Cursor,
        level::default_level,
        poly1305::{Accumulator, FEW, LimbPowers, Powers, end},
    };
}
