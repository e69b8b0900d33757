//! A row: what is measured.

use std::{fmt, str::FromStr};

use crate::traffic::{LONGEST_UNIT, Lengths, Place, Traffic};

/// One call of a library, or as many as it takes for all `streams`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// `ctr`, `gcm`, ...
    pub algorithm: String,
    /// `encrypt`, `decrypt`, `seal`, `open`, `reject` (opening with a wrong tag), `mac`, `hash`, `expand` or
    /// `derive`; `sign`, `verify`, `agree` (a shared secret) or `generate` (a pair of keys).
    pub operation: String,
    /// 128, 192 or 256; the modulus of RSA or the field of a curve; 0 where there is no key.
    pub key_bits: usize,
    /// Bytes of each message, or of the longest.
    pub size: usize,
    /// Messages in one call; a library that takes one at a time is called so often.
    pub streams: usize,
    pub keys: Keys,
    /// Bytes of additional authenticated data of each message.
    pub aad: usize,
    pub traffic: Traffic,
    /// Processes on cores of their own that do the same at once.
    pub cores: usize,
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

    /// Whether what comes out is another thing in each call, or in each library: nothing can be compared then.
    pub fn is_random(&self) -> bool {
        self.operation == "generate"
            || (&self.algorithm[..], &self.operation[..]) == ("ecdsa", "sign")
    }

    /// Whether calls take as long as chance has it, so that their mean says something, and a median nothing.
    pub fn is_search(&self) -> bool {
        (&self.algorithm[..], &self.operation[..]) == ("rsa", "generate")
    }

    /// Bytes of the result of `row`, if it is about public keys: a signature, a shared secret or a public key. There is
    /// room for a signature of ECDSA in DER.
    pub fn result_bytes(&self) -> Option<usize> {
        match (&self.algorithm[..], &self.operation[..]) {
            ("rsa", "sign") | ("ecdh", _) => Some(self.key_bits / 8),
            ("ecdsa", "sign") => Some(self.key_bits / 4 + 8),
            ("ed25519", "sign") => Some(64),
            ("x25519", _) => Some(32),
            _ => None,
        }
    }

    /// Bytes of all messages; the mean, where calls differ.
    pub fn bytes(&self) -> usize {
        self.traffic.lengths.of_calls(self.size, self.streams).bytes()
    }
}

/// As in a request: fields and blanks. What differs from messages of one length, side by side in warm caches,
/// follows the fields that every row has.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, operation, key_bits, size, streams, keys, aad, traffic, cores } =
            self;
        let size = match traffic.lengths {
            Lengths::Equal => size.to_string(),
            Lengths::Random => format!("16-{size}"),
            Lengths::Units => "units".into(),
        };
        let keys = if *keys == Keys::One { "one" } else { "each" };
        write!(f, "{algorithm} {operation} {key_bits} {size} {streams} {keys}")?;
        match traffic.place {
            Place::Spread => {}
            Place::Page => f.write_str(" page")?,
            Place::Odd => f.write_str(" odd")?,
        }
        if traffic.one_by_one {
            f.write_str(" one-by-one")?;
        }
        if traffic.cold {
            f.write_str(" cold")?;
        }
        if *aad > 0 {
            write!(f, " aad={aad}")?;
        }
        if *cores > 1 {
            write!(f, " cores={cores}")?;
        }
        Ok(())
    }
}

impl FromStr for Row {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let error = || format!("not a row: {line}");
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [algorithm, operation, key_bits, size, streams, keys, ref more @ ..] = fields[..]
        else {
            return Err(error());
        };
        let number = |field: &str| field.parse().map_err(|_| error());
        let (lengths, size) = match (size, size.strip_prefix("16-")) {
            ("units", _) => (Lengths::Units, LONGEST_UNIT),
            (_, Some(most)) => (Lengths::Random, number(most)?),
            _ => (Lengths::Equal, number(size)?),
        };
        let mut row = Self {
            algorithm: algorithm.into(),
            operation: operation.into(),
            key_bits: number(key_bits)?,
            size,
            streams: number(streams)?,
            keys: if keys == "each" { Keys::Each } else { Keys::One },
            aad: 0,
            traffic: Traffic { lengths, ..Traffic::default() },
            cores: 1,
        };
        for field in more {
            match field.split_once('=') {
                Some(("aad", value)) => row.aad = number(value)?,
                Some(("cores", value)) => row.cores = number(value)?,
                None if *field == "page" => row.traffic.place = Place::Page,
                None if *field == "odd" => row.traffic.place = Place::Odd,
                None if *field == "one-by-one" => row.traffic.one_by_one = true,
                None if *field == "cold" => row.traffic.cold = true,
                _ => return Err(error()),
            }
        }
        Ok(row)
    }
}
