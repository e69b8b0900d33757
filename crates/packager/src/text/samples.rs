//! Samples of text, and the MP4 file in memory that is made of them.

use lanelock_mp4::{
    FourCc,
    compose::{NewTextTrack, TextSample, text_movie},
};

use super::{MAX_SAMPLES, unsuitable};
use crate::Error;

/// Units per second of text tracks: WebVTT has milliseconds.
const TIMESCALE: u32 = 1000;

/// Samples in a row, from time 0 on.
pub(super) struct TextSamples<'a> {
    name: &'a str,
    samples: Vec<TextSample>,
    data: Vec<u8>,
}

impl<'a> TextSamples<'a> {
    /// None yet, for text of this name that is shown up to `end`.
    pub(super) fn new(name: &'a str, end: u64) -> Result<Self, Error> {
        if end == 0 || u32::try_from(end).is_err() {
            let reason = format!(
                "text in MP4 lasts between 1 ms and 49 days, and this would last {end} ms; give it \
                 together with video or audio"
            );
            return Err(unsuitable(name, reason));
        }
        Ok(Self { name, samples: Vec::new(), data: Vec::new() })
    }

    /// Appends what `write` writes, in parts, as one sample.
    pub(super) fn push(
        &mut self,
        duration: u64,
        parts: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), Error> {
        let start = self.data.len();
        for part in parts {
            let part = part.as_ref();
            if self.data.len() + part.len() > MAX_SAMPLES {
                return Err(too_many(self.name));
            }
            self.data.extend_from_slice(part);
        }
        // Both fit: up to the end that was checked, and up to the cap.
        let duration = u32::try_from(duration).unwrap_or(u32::MAX);
        let size = u32::try_from(self.data.len() - start).unwrap_or(u32::MAX);
        self.samples.push(TextSample { duration, size });
        Ok(())
    }

    /// Their bytes.
    pub(super) fn data(&self) -> &[u8] {
        &self.data
    }

    /// The file.
    pub(super) fn movie(
        &self,
        handler: [u8; 4],
        sample_entry: &[u8],
        language: Option<&str>,
    ) -> Result<Vec<u8>, Error> {
        let mut track = NewTextTrack::new(FourCc(handler), sample_entry, TIMESCALE, &self.samples);
        if let Some(language) = language {
            track = track.with_language(language);
        }
        text_movie(&track, &self.data)
            .map_err(|error| Error::Container { name: self.name.to_owned(), error })
    }
}

/// There is more to show at once than memory should be spent on.
pub(super) fn too_many(name: &str) -> Error {
    let mib = MAX_SAMPLES >> 20;
    let reason = format!(
        "its text has more than {mib} MiB when each segment has all that it shows: too much is shown at \
         the same time; check the times, or choose longer segments"
    );
    unsuitable(name, reason)
}

/// The times at which samples begin or end: 0, `end` and those of `times` between them, sorted.
pub(super) fn sample_bounds(end: u64, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut bounds: Vec<_> = times.into_iter().filter(|time| *time < end).chain([0, end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

/// Appends a box around the parts.
pub(super) fn put_box(out: &mut Vec<u8>, kind: [u8; 4], parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    // Text has 64 MiB at most.
    out.extend_from_slice(&u32::try_from(len + 8).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(&kind);
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// The fields that all sample entries begin with: reserved bytes, and the data reference index.
pub(super) const ENTRY_FIELDS: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 1];
