//! What can be wrong with a document. No message repeats a secret, nor text that may hold one.

use core::fmt;

use thiserror::Error;

/// Why a document cannot be read or used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CpixError {
    /// The document is larger than [`MOST_BYTES`](crate::MOST_BYTES).
    #[error("the document is larger than {} MiB, which no CPIX document needs to be", crate::MOST_BYTES >> 20)]
    TooLarge,
    /// The document is not UTF-8 text.
    #[error("the document is not UTF-8 text (byte {0}); save it in UTF-8")]
    NotUtf8(usize),
    /// It is not well-formed XML, or has what a CPIX document must not have.
    #[error("{place}: {what}")]
    Xml {
        /// Where.
        place: Place,
        /// What is wrong.
        what: String,
    },
    /// An element or attribute is not as the schema says.
    #[error("{place}: {element}: {what}")]
    Schema {
        /// Where.
        place: Place,
        /// The name of the element.
        element: String,
        /// What is wrong.
        what: String,
    },
    /// Encrypted keys, and this build or this call cannot decrypt them.
    #[error("the keys are encrypted; {0}")]
    Encrypted(String),
    /// The keys cannot be decrypted.
    #[error("the keys cannot be decrypted: {0}")]
    Decryption(String),
    /// Signatures that cannot be or are not verified.
    #[error("the signature cannot be trusted: {0}")]
    Signature(String),
    /// A document that was made by a program, not read, contradicts itself.
    #[error("{0}")]
    Document(String),
}

/// A place in a document: line and column, both from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Place {
    /// The place of a byte.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        let [line, column] = [line, column].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        Self { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
