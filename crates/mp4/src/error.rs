//! One error type: what is wrong, in which box, at which byte of the file.

use std::fmt;

use crate::FourCc;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in which box and where.
///
/// The path names boxes from the top level down (`moov/trak[1]/mdia/minf/stbl/stsd/encv/sinf`);
/// an index, counted from 0, appears where siblings of one type exist. It is computed only
/// when an error is made, so the successful path pays nothing for it.
#[derive(Debug)]
pub struct Error(Box<ErrorParts>);

#[derive(Debug)]
struct ErrorParts {
    path: String,
    offset: u64,
    kind: ErrorKind,
}

impl Error {
    pub(crate) fn new(path: String, offset: u64, kind: ErrorKind) -> Self {
        Self(Box::new(ErrorParts { path, offset, kind }))
    }

    /// Path of the box concerned.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Absolute byte offset in the file. For data built in memory, counted from its start.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorParts { path, offset, kind } = &*self.0;
        write!(f, "{path} at byte {offset}: {kind}")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The kinds of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The movie, track or fragment to protect is protected already.
    #[error("already protected")]
    AlreadyProtected,
    /// More table entries are announced than the box has bytes for.
    #[error("{what}: {count} entries of {width} bytes announced, {available} bytes are there")]
    Count {
        /// The table.
        what: &'static str,
        /// Announced entries.
        count: u64,
        /// Bytes of one entry.
        width: u64,
        /// Bytes left in the box.
        available: u64,
    },
    /// Sample data lies over the `moof` that describes it.
    #[error("sample data {start}..{end} overlaps the `moof` box")]
    DataInMoof {
        /// First byte of the data.
        start: u64,
        /// Byte after the data.
        end: u64,
    },
    /// A box that may occur once occurs again.
    #[error("second `{kind}` box where one is allowed")]
    Duplicate {
        /// Box type.
        kind: FourCc,
    },
    /// Two tracks share an identifier, or one edit names a track twice.
    #[error("track id {id} occurs twice")]
    DuplicateTrack {
        /// The identifier.
        id: u32,
    },
    /// Fewer bytes than a box header needs.
    #[error("{available} bytes left, too few for a box header")]
    HeaderTruncated {
        /// Bytes left.
        available: u64,
    },
    /// A value is outside what the standard permits.
    #[error("{0}")]
    Invalid(&'static str),
    /// A numeric field has a value the standard does not permit.
    #[error("{what} is {value}")]
    InvalidValue {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The source could not be read.
    #[error("read failed: {0}")]
    Io(#[source] std::io::Error),
    /// Two counts or sums that must agree differ.
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch {
        /// What is compared.
        what: &'static str,
        /// Expected value.
        expected: u64,
        /// Value found.
        found: u64,
    },
    /// A required box is missing.
    #[error("required box `{kind}` is missing")]
    Missing {
        /// Box type.
        kind: FourCc,
    },
    /// Sample auxiliary information is needed and neither `senc` nor `saiz`/`saio` has it.
    #[error("no sample auxiliary information (`senc` or `saiz`/`saio`) for a per-sample IV")]
    MissingAux,
    /// A box of size 0 ("to the end of the file") inside another box.
    #[error("box `{kind}` has size 0, allowed only for the last box of a file")]
    OpenSize {
        /// Box type.
        kind: FourCc,
    },
    /// A form of `QuickTime` that ISO files do not have.
    #[error(
        "track {track}: `{form}` of QuickTime has no equivalent in an ISO file: {why}; make an ISO \
         file first (ffmpeg -i IN {arguments} OUT.mp4)"
    )]
    NoIsoForm {
        /// The track.
        track: u32,
        /// Format of the sample entry, or type of the box.
        form: FourCc,
        /// Why not.
        why: &'static str,
        /// Arguments of ffmpeg between the names of its files.
        arguments: &'static str,
    },
    /// Sample data or auxiliary data lies outside the file.
    #[error("{what} {number}: bytes {start}..+{len} are outside the file of {file_len} bytes")]
    OutsideFile {
        /// `sample`, `run` or `aux info`.
        what: &'static str,
        /// Sample or run number, from 1.
        number: u64,
        /// Start of the data.
        start: u64,
        /// Its length.
        len: u64,
        /// Length of the file.
        file_len: u64,
    },
    /// A 32- or 64-bit field cannot hold the value needed.
    #[error("{what} does not fit its field")]
    Overflow {
        /// The field.
        what: &'static str,
    },
    /// A box is larger than its parent.
    #[error("box `{kind}` says {size} bytes, its parent has {available} left")]
    Overrun {
        /// Box type.
        kind: FourCc,
        /// Announced size.
        size: u64,
        /// Bytes left in the parent.
        available: u64,
    },
    /// A table entry concerning one sample is wrong.
    #[error("sample {number}: {what}")]
    Sample {
        /// Sample number, from 1.
        number: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A box ends before a field.
    #[error("{what} needs {needed} bytes, {available} are left in the box")]
    Short {
        /// The field.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes left.
        available: u64,
    },
    /// A box size smaller than the box header.
    #[error("box `{kind}` says {size} bytes, less than its header of {header}")]
    SizeTooSmall {
        /// Box type.
        kind: FourCc,
        /// Announced size.
        size: u64,
        /// Header length.
        header: u64,
    },
    /// The subsamples of a sample do not add up to its size.
    #[error("sample {number}: subsamples cover {covered} bytes, the sample has {size}")]
    SubsampleSum {
        /// Sample number, from 1.
        number: u64,
        /// Sum of clear and protected bytes.
        covered: u64,
        /// Sample size.
        size: u64,
    },
    /// Boxes are nested deeper than the limit.
    #[error("boxes nested deeper than {limit}")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A metadata box exceeds the cap on what is loaded whole.
    #[error("box `{kind}` has {size} bytes, more than the {limit} that are loaded at once")]
    TooLarge {
        /// Box type.
        kind: FourCc,
        /// Its size.
        size: u64,
        /// The cap.
        limit: u64,
    },
    /// The auxiliary information of one sample exceeds the 255 bytes `saiz` can state.
    #[error("sample {number}: {size} bytes of auxiliary information, `saiz` can state 255")]
    TooMuchAux {
        /// Sample number, from 1.
        number: u64,
        /// Bytes needed.
        size: u64,
    },
    /// A top-level box runs past the end of the file.
    #[error("truncated file: box `{kind}` of {size} bytes misses {missing} bytes")]
    Truncated {
        /// Box type.
        kind: FourCc,
        /// Announced size.
        size: u64,
        /// Bytes missing.
        missing: u64,
    },
    /// No track has this identifier.
    #[error("no track with id {id}")]
    UnknownTrack {
        /// The identifier.
        id: u32,
    },
    /// A construct of the standard this crate does not implement.
    #[error("unsupported: {0}")]
    Unsupported(&'static str),
    /// A box version this crate does not know.
    #[error("version {version} of this box is not supported")]
    Version {
        /// The version.
        version: u8,
    },
}
