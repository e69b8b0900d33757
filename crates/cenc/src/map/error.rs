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
        /// `avcC`, `hvcC`, `vvcC` or `av1C`.
        record: &'static str,
        /// Where in the record.
        offset: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// NAL length fields of this many bytes do not exist; 1, 2 and 4 do.
    #[error("NAL length fields of {0} bytes do not exist")]
    LengthSize(u8),
    /// The access unit ends inside a length field.
    #[error("{place}: {left} bytes left, too few for a length field")]
    LengthTruncated {
        /// The unit.
        place: UnitPlace,
        /// Bytes left in the access unit.
        left: usize,
    },
    /// A unit has no bytes.
    #[error("{place}: it has no bytes")]
    Empty {
        /// The unit.
        place: UnitPlace,
    },
    /// A unit reaches beyond its access unit.
    #[error("{place}: {length} bytes long, but {left} bytes left")]
    LengthBeyondUnit {
        /// The unit.
        place: UnitPlace,
        /// What its length field says.
        length: u32,
        /// Bytes left after the length field.
        left: usize,
    },
    /// A header ended before its syntax did.
    #[error("{place}: ends inside its header")]
    TruncatedHeader {
        /// The unit.
        place: UnitPlace,
    },
    /// A syntax element has a value that the standard forbids.
    #[error("{place}: {field} is out of range")]
    Invalid {
        /// The unit.
        place: UnitPlace,
        /// The syntax element by its name in the standard.
        field: &'static str,
    },
    /// Units that do not belong together, or end where they should not.
    #[error("{place}: {what}")]
    Malformed {
        /// The unit.
        place: UnitPlace,
        /// What is wrong.
        what: &'static str,
    },
    /// A slice refers to a parameter set that has not been seen.
    #[error("{place}: {kind} {id} is missing")]
    MissingParameterSet {
        /// The unit.
        place: UnitPlace,
        /// Which kind.
        kind: ParameterSet,
        /// Its identifier.
        id: u8,
    },
    /// A frame of AV1 comes before any sequence header.
    #[error("{place}: there is no sequence header")]
    NoSequenceHeader {
        /// The unit.
        place: UnitPlace,
    },
    /// The length of a frame header depends on a frame that has not been seen.
    #[error(
        "{place}: the frame in slot {slot}, which its header depends on, is missing; begin with a key \
         frame"
    )]
    NoReference {
        /// The unit.
        place: UnitPlace,
        /// The slot of the reference frame.
        slot: usize,
    },
    /// A coding tool whose slice headers are not read here.
    #[error("{place}: {what} is not supported")]
    Unsupported {
        /// The unit.
        place: UnitPlace,
        /// The tool.
        what: &'static str,
    },
    /// The map has more entries than the sample auxiliary information can hold.
    #[error(
        "{entries} subsample entries, and `saiz` has room for {limit}; encode it with fewer slices or tiles"
    )]
    TooManyEntries {
        /// Entries needed.
        entries: usize,
        /// Entries allowed.
        limit: usize,
    },
}

/// The place of a unit, as its codec has them (NAL unit, OBU, frame), in an access unit or in a
/// configuration record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitPlace {
    /// What the codec calls it.
    pub unit: &'static str,
    /// Which of the two.
    pub source: UnitSource,
    /// Its number there, from 0.
    pub index: usize,
    /// Where it begins there, with its length field if that stands in front.
    pub offset: usize,
}

impl UnitPlace {
    /// The first one of an access unit.
    pub const fn in_access_unit(unit: &'static str) -> Self {
        Self { unit, source: UnitSource::AccessUnit, index: 0, offset: 0 }
    }
}

impl fmt::Display for UnitPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.source {
            UnitSource::Configuration => "decoder configuration",
            UnitSource::AccessUnit => "access unit",
        };
        write!(f, "{} {} at byte {} of the {source}", self.unit, self.index, self.offset)
    }
}

/// Where a unit was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UnitSource {
    /// The decoder configuration record: `avcC`, `hvcC`, `vvcC`, `av1C`.
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
    Malformed(&'static str),
    Unsupported(&'static str),
    Missing(ParameterSet, u8),
    NoSequenceHeader,
    /// The slot of a frame that is referred to.
    NoReference(usize),
}

impl Fault {
    pub(super) const fn at(self, place: UnitPlace) -> MapError {
        match self {
            Self::Truncated => MapError::TruncatedHeader { place },
            Self::Invalid(field) => MapError::Invalid { place, field },
            Self::Malformed(what) => MapError::Malformed { place, what },
            Self::Unsupported(what) => MapError::Unsupported { place, what },
            Self::NoSequenceHeader => MapError::NoSequenceHeader { place },
            Self::NoReference(slot) => MapError::NoReference { place, slot },
            Self::Missing(kind, id) => MapError::MissingParameterSet { place, kind, id },
        }
    }
}
