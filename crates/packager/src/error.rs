//! What can go wrong, said so that it can be put right.

use core::fmt;
use lanelock_cenc::{ApplyError, map::MapError};
use thiserror::Error;

/// Why a run failed. There is no output file then.
///
/// The message is whole: it has that of the `error` field of a variant, which is therefore no
/// [`source`](core::error::Error::source) that a report would print once more.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be opened or read.
    #[error("cannot read {name}: {error}")]
    Read {
        /// Its name, as the user knows it.
        name: String,
        /// The system's reason.
        error: std::io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write {name}: {error}")]
    Write {
        /// Its name, as the user knows it.
        name: String,
        /// The system's reason.
        error: std::io::Error,
    },
    /// The input is not a regular file.
    #[error("{name} is not a regular file; copy it to one first")]
    NotAFile {
        /// The input.
        name: String,
    },
    /// Input and output are the same file.
    #[error("input and output are the same file, {name}: give the output another name")]
    SameFile {
        /// Its name.
        name: String,
    },
    /// The container is damaged, cut short or not supported.
    #[error("{name}: {error}")]
    Container {
        /// Its name, as the user knows it.
        name: String,
        /// Box path, file offset and reason.
        error: lanelock_mp4::Error,
    },
    /// The file is not one that can be processed.
    #[error("{name}: {reason}")]
    Unsuitable {
        /// Its name, as the user knows it.
        name: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A track cannot be processed.
    #[error("{name}: track {track} ({codec}): {reason}")]
    Track {
        /// Its name, as the user knows it.
        name: String,
        /// The track ID.
        track: u32,
        /// The four-character code of its codec.
        codec: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// An access unit cannot be mapped to clear and protected bytes.
    #[error("{name}: {place}: {error}")]
    Map {
        /// Its name, as the user knows it.
        name: String,
        /// Which access unit.
        place: Place,
        /// The reason.
        error: MapError,
    },
    /// The access units of a piece cannot be encrypted or decrypted.
    #[error("{name}: {place}: {error}")]
    Apply {
        /// Its name, as the user knows it.
        name: String,
        /// Which access unit.
        place: Place,
        /// The reason.
        error: ApplyError,
    },
    /// A key is wrong: what it decrypts is not what the codec demands.
    #[error(
        "{name}: track {track} ({codec}): the key for its KID {kid} is wrong: {failed} of the {checked} \
         access units that were checked are not {expected}"
    )]
    WrongKey {
        /// Its name, as the user knows it.
        name: String,
        /// The track ID.
        track: u32,
        /// The four-character code of its codec.
        codec: String,
        /// The KID.
        kid: String,
        /// Access units that are not what was expected.
        failed: u64,
        /// Access units that were checked: the first ones.
        checked: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// A key is wrong: a PlayReady header has the checksum of another one.
    #[error(
        "{origin}: the key for the KID {kid} is wrong: its checksum is not that of the PlayReady header"
    )]
    KeyChecksum {
        /// The file, or the `pssh` box that was given.
        origin: String,
        /// The KID.
        kid: String,
    },
    /// The choice of level in the environment is wrong.
    #[error(transparent)]
    Level(#[from] lanelock_core::LevelError),
    /// The options contradict one another or the input.
    #[error("{0}")]
    Options(String),
    /// The caller asked to stop.
    #[error("interrupted: no output was written")]
    Interrupted,
}

/// An access unit in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The track ID.
    pub track: u32,
    /// The number of the access unit in its track, from 1.
    pub access_unit: u64,
    /// Where it begins in the file.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { track, access_unit, offset } = self;
        write!(f, "track {track}, access unit {access_unit} at file offset {offset}")
    }
}
