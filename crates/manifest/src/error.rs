//! What can go wrong, said so that it can be put right.

use thiserror::Error;

use crate::Track;

/// Why there is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A track cannot be named in the manifest.
    #[error("track {name}: {reason}")]
    Track {
        /// Its name.
        name: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A switching set cannot be named in the manifest.
    #[error("set {set} of the presentation: {reason}")]
    Set {
        /// Its index, counted from 0.
        set: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The presentation has nothing for the manifest.
    #[error("there is no {what} for {manifest}")]
    Nothing {
        /// What is missing.
        what: &'static str,
        /// `DASH` or `HLS`.
        manifest: &'static str,
    },
    /// A text that the format of the manifest cannot express.
    #[error("{what} is {text:?}, but {reason}")]
    Text {
        /// The attribute or element.
        what: String,
        /// The text.
        text: String,
        /// Why not, and what to do.
        reason: &'static str,
    },
}

impl Error {
    pub(crate) fn track(track: &Track, reason: impl Into<String>) -> Self {
        Self::Track { name: track.name.clone(), reason: reason.into() }
    }
}
