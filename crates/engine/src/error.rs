//! What can be wrong with a call.

use core::fmt;

/// An error of the engine. It carries no secret and no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A key must have 16, 24 or 32 bytes.
    KeyLength,
    /// The data of ECB and CBC must be whole blocks of 16 bytes.
    PartialBlock,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyLength => "an AES key must have 16, 24 or 32 bytes",
            Self::PartialBlock => "the data must be whole blocks of 16 bytes",
        })
    }
}

impl core::error::Error for Error {}
