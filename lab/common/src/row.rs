//! A row: what is measured.

use std::{fmt, str::FromStr};

/// One call of a library, or as many as it takes for all `streams`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// `ctr`, `gcm`, ...
    pub algorithm: String,
    /// `encrypt`, `decrypt`, `seal`, `open`, `mac`, `hash` or `expand`.
    pub operation: String,
    /// 128, 192 or 256; 0 where there is no key.
    pub key_bits: usize,
    /// Bytes of each message.
    pub size: usize,
    /// Messages in one call; a library that takes one at a time is called so often.
    pub streams: usize,
    pub keys: Keys,
}

/// The keys of the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    One,
    Each,
}

impl Row {
    /// Algorithm, operation and key size: what a library chooses a cipher by.
    pub fn kind(&self) -> (&str, &str, usize) {
        (&self.algorithm, &self.operation, self.key_bits)
    }

    /// The same row with another operation.
    pub fn with_operation(&self, operation: &str) -> Self {
        Self { operation: operation.into(), ..self.clone() }
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> usize {
        self.size * self.streams
    }
}

/// As in a request: fields and blanks.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, operation, key_bits, size, streams, keys } = self;
        let keys = if *keys == Keys::One { "one" } else { "each" };
        write!(f, "{algorithm} {operation} {key_bits} {size} {streams} {keys}")
    }
}

impl FromStr for Row {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let error = || format!("not a row: {line}");
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [algorithm, operation, key_bits, size, streams, keys] = fields[..] else {
            return Err(error());
        };
        let number = |field: &str| field.parse().map_err(|_| error());
        Ok(Self {
            algorithm: algorithm.into(),
            operation: operation.into(),
            key_bits: number(key_bits)?,
            size: number(size)?,
            streams: number(streams)?,
            keys: if keys == "each" { Keys::Each } else { Keys::One },
        })
    }
}
