//! What can go wrong in a map: small, `Copy`, and precise about the place.

use core::fmt;

/// Why an access unit or a configuration record cannot be mapped.
///
/// Places are relative to the access unit or record; the caller knows its number and file offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The decoder configuration record ends early or is of an unknown version.
    #[error("{record} at byte {offset}: {what}")]
    Configuration {
        /// `avcC` or `hvcC`.
        record: &'static str,
        /// Where in the record.
        offset: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// NAL length fields of this many bytes do not exist; 1, 2 and 4 do.
    #[error("NAL length fields of {0} bytes do not exist")]
    LengthSize(u8),
    /// The access unit ends inside a NAL length field.
    #[error("{place}: {left} bytes left, too few for a length field")]
    NalLengthTruncated {
        /// The NAL unit.
        place: NalPlace,
        /// Bytes left in the access unit.
        left: usize,
    },
    /// A NAL unit has no bytes.
    #[error("{place}: it has no bytes")]
    NalEmpty {
        /// The NAL unit.
        place: NalPlace,
    },
    /// A NAL unit reaches beyond its access unit.
    #[error("{place}: {length} bytes long, but {left} bytes left")]
    NalLengthBeyondUnit {
        /// The NAL unit.
        place: NalPlace,
        /// What its length field says.
        length: u32,
        /// Bytes left after the length field.
        left: usize,
    },
    /// A header ended before its syntax did.
    #[error("{place}: ends inside its header")]
    TruncatedHeader {
        /// The NAL unit.
        place: NalPlace,
    },
    /// A syntax element has a value that the standard forbids.
    #[error("{place}: {field} is out of range")]
    Invalid {
        /// The NAL unit.
        place: NalPlace,
        /// The syntax element by its name in the standard.
        field: &'static str,
    },
    /// A slice refers to a parameter set that has not been seen.
    #[error("{place}: {kind} {id} is missing")]
    MissingParameterSet {
        /// The NAL unit.
        place: NalPlace,
        /// Which kind.
        kind: ParameterSet,
        /// Its identifier.
        id: u8,
    },
    /// A coding tool whose slice headers are not read here.
    #[error("{place}: {what} is not supported")]
    Unsupported {
        /// The NAL unit.
        place: NalPlace,
        /// The tool.
        what: &'static str,
    },
    /// The map has more entries than the sample auxiliary information can hold.
    #[error("{entries} subsample entries, but {limit} allowed")]
    TooManyEntries {
        /// Entries needed.
        entries: usize,
        /// Entries allowed.
        limit: usize,
    },
}

/// A NAL unit's place in an access unit or in a configuration record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NalPlace {
    /// Which of the two.
    pub source: NalSource,
    /// Its number there, from 0.
    pub index: usize,
    /// Offset of its length field there.
    pub offset: usize,
}

impl fmt::Display for NalPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.source {
            NalSource::Configuration => "decoder configuration",
            NalSource::AccessUnit => "access unit",
        };
        write!(f, "NAL unit {} at byte {} of the {source}", self.index, self.offset)
    }
}

/// Where a NAL unit was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NalSource {
    /// `avcC` or `hvcC`.
    Configuration,
    /// The access unit.
    AccessUnit,
}

/// A kind of parameter set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParameterSet {
    /// Sequence parameter set.
    Sequence,
    /// Picture parameter set.
    Picture,
}

impl fmt::Display for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sequence => "sequence parameter set",
            Self::Picture => "picture parameter set",
        })
    }
}

/// A parse failure before its place is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    Truncated,
    Invalid(&'static str),
    Unsupported(&'static str),
    Missing(ParameterSet, u8),
}

impl Fault {
    pub(super) const fn at(self, place: NalPlace) -> MapError {
        match self {
            Self::Truncated => MapError::TruncatedHeader { place },
            Self::Invalid(field) => MapError::Invalid { place, field },
            Self::Unsupported(what) => MapError::Unsupported { place, what },
            Self::Missing(kind, id) => MapError::MissingParameterSet { place, kind, id },
        }
    }
}
