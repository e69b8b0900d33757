//! What a run did.

use std::time::Instant;

use serde::Serialize;

use crate::{Choice, KeyReport, UnclaimedMedia};

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Bytes of the input.
    pub bytes_in: u64,
    /// Bytes of the output.
    pub bytes_out: u64,
    /// Fragments of the output; 0 for progressive output.
    pub fragments: u64,
    /// Access units of the tracks that were encrypted or decrypted.
    pub access_units: u64,
    /// The tracks.
    pub tracks: Vec<TrackSummary>,
    /// Media data that no sample and no item refers to, which were taken as they are.
    pub unclaimed: UnclaimedMedia,
    /// Choices that made no difference to this input.
    #[serde(skip)]
    pub unused: Vec<Choice>,
    /// What decryption found out about the keys.
    pub keys: Vec<KeyReport>,
    /// The level that AES ran at.
    pub level: String,
    /// Workers.
    pub workers: usize,
    /// From the call to the return, in seconds.
    pub seconds: f64,
    /// Where the time of the workers went.
    pub times: Times,
}

/// What was done to a track.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TrackSummary {
    /// The track ID.
    pub id: u32,
    /// The codec: the four-character code of the clear sample entry.
    pub codec: String,
    /// The scheme; none if the track is clear.
    pub scheme: Option<String>,
    /// The KID, the first one where keys change; none if the track is clear.
    pub kid: Option<String>,
    /// The KIDs of its encrypted access units, in order; several where keys change.
    pub kids: Vec<String>,
    /// The IV that it was encrypted with, in hexadecimal digits: the constant one of `cbcs`, that of the
    /// first access unit under the other schemes. It is in the file, too, and no secret.
    pub iv: Option<String>,
    /// Encrypted access units.
    pub access_units: u64,
    /// Access units that are clear in an encrypted track: its clear lead.
    pub clear_access_units: u64,
}

/// Seconds of all workers together, by stage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Times {
    /// Reading metadata and planning.
    pub plan: f64,
    /// Reading media.
    pub read: f64,
    /// Mapping access units and building metadata.
    pub map: f64,
    /// AES.
    pub crypto: f64,
    /// Looking at what was decrypted.
    pub look: f64,
    /// Writing.
    pub write: f64,
}

impl Times {
    pub(crate) fn add(&mut self, other: Self) {
        self.plan += other.plan;
        self.read += other.read;
        self.map += other.map;
        self.crypto += other.crypto;
        self.look += other.look;
        self.write += other.write;
    }
}

/// Adds the time that `f` takes to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    *seconds += start.elapsed().as_secs_f64();
    result
}
