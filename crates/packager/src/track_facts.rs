//! What filters of keys ask of tracks.

use core::fmt;
use std::sync::Arc;

use lanelock_mp4::{Movie, SampleEntry, Track, TrackKind};

use crate::{
    Error,
    frames::Frames,
    io::Input,
    media_facts::{picture_size, transfer_characteristics},
};

/// What is known of a track when its key is chosen. A filter that asks for what is not known is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackFacts {
    /// What sort of track it is.
    pub sort: TrackSort,
    /// The average bit rate of its samples, in bits per second.
    pub bit_rate: Option<u64>,
    /// What users call it: label and name of a track of a [package](crate::package).
    pub labels: Option<Vec<String>>,
}

impl TrackFacts {
    /// A track of which nothing else is known.
    pub fn new(sort: TrackSort) -> Self {
        Self { sort, bit_rate: None, labels: None }
    }

    /// What the file says of a track, and what was measured.
    pub(crate) fn of(track: &Track, measured: Measured) -> Self {
        let Measured { bit_rate, frame_rate, labels } = measured;
        let entry = track.entries.first();
        let sort = match track.kind() {
            TrackKind::Video => {
                let (width, height) = picture_size(track);
                TrackSort::Video {
                    pixels: Some(u64::from(width) * u64::from(height)),
                    frame_rate,
                    hdr: entry.map(is_hdr),
                    wcg: entry.and_then(is_wcg),
                }
            }
            TrackKind::Audio => {
                let channels = entry.and_then(SampleEntry::audio).and_then(|facts| facts.channels);
                TrackSort::Audio { channels: channels.map(u64::from) }
            }
            _ => TrackSort::Other,
        };
        Self { sort, bit_rate, labels }
    }
}

/// A sort of track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrackSort {
    /// Video.
    Video {
        /// Width times height, as encoded.
        pixels: Option<u64>,
        /// Frames per second, as a numerator and a denominator; the average if it varies.
        frame_rate: Option<(u32, u32)>,
        /// Whether it is of high dynamic range: PQ or Hybrid Log-Gamma. It is not if the file does not
        /// say so.
        hdr: Option<bool>,
        /// Whether it is of a wide colour gamut: the primaries of ITU-R BT.2020 or of DCI-P3. It is not if
        /// the file says nothing of colours.
        wcg: Option<bool>,
    },
    /// Audio.
    Audio {
        /// The channels.
        channels: Option<u64>,
    },
    /// Text, and others.
    Other,
}

/// PQ and Hybrid Log-Gamma (ITU-T H.273, 8.2).
fn is_hdr(entry: &SampleEntry) -> bool {
    matches!(transfer_characteristics(entry), Some(16 | 18))
}

/// ITU-R BT.2020, DCI-P3 and Display P3 (ITU-T H.273, 8.1). What only parameter sets describe is not known.
fn is_wcg(entry: &SampleEntry) -> Option<bool> {
    match entry.video()?.colour {
        Some(colour) => Some(matches!(colour.primaries, 9 | 11 | 12)),
        None => transfer_characteristics(entry).is_none().then_some(false),
    }
}

/// A test of tracks, with a name for messages: the tracks that a usage rule is for.
///
/// Two filters are equal if one is a clone of the other.
#[derive(Clone)]
pub struct TrackFilter {
    name: Arc<str>,
    test: Arc<Test>,
}

type Test = dyn Fn(&TrackFacts) -> Result<bool, String> + Send + Sync;

impl TrackFilter {
    /// Tracks for which `test` is true. Its error says what is not known of a track, and that no key can be
    /// chosen.
    pub fn new(
        name: &str,
        test: impl Fn(&TrackFacts) -> Result<bool, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), test: Arc::new(test) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn selects(&self, track: &TrackFacts) -> Result<bool, String> {
        (self.test)(track)
    }
}

impl fmt::Debug for TrackFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TrackFilter").field(&self.name).finish()
    }
}

impl PartialEq for TrackFilter {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.test, &other.test)
    }
}

impl Eq for TrackFilter {}

/// What takes the samples of a track, or the words of a user, to tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) bit_rate: Option<u64>,
    pub(crate) frame_rate: Option<(u32, u32)>,
    pub(crate) labels: Option<Vec<String>>,
}

impl Measured {
    /// Of samples with so many bytes and these times.
    pub(crate) fn new(bytes: u64, frames: &Frames, timescale: u32) -> Self {
        let bits = u128::from(bytes) * 8 * u128::from(timescale);
        let bit_rate = bits.checked_div(u128::from(frames.duration));
        let bit_rate = bit_rate.and_then(|rate| u64::try_from(rate).ok());
        Self { bit_rate, frame_rate: frames.average_rate(timescale), labels: None }
    }

    /// Of a track of a progressive file, whose tables say it; nothing of one with fragments, which are still
    /// to be read.
    pub(crate) fn of_tables(
        input: &Input<'_>,
        movie: &Movie,
        track: &Track,
    ) -> Result<Self, Error> {
        if movie.fragmented {
            return Ok(Self::default());
        }
        let container = |error| input.container(error);
        let (mut bytes, mut frames) = (0_u64, Frames::default());
        for sample in movie.samples(track, input.len()).map_err(container)? {
            let sample = sample.map_err(container)?;
            bytes = bytes.saturating_add(sample.size.into());
            frames.push(&sample, track.timescale);
        }
        Ok(Self::new(bytes, &frames, track.timescale))
    }
}
