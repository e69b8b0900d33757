//! A segment index (`sidx`) that is written anew, for a file whose fragments have found their places.

use lanelock_mp4::{
    Fragment, Movie, Sample, Track,
    compose::{IndexedTrack, SegmentIndex, SidxReference},
};

use crate::piece::NewTrack;

/// The segment index of all tracks. Its length is known before the places of the fragments are.
#[derive(Debug)]
pub(crate) struct NewIndex {
    tracks: Vec<TrackIndex>,
    /// How many fragments there is room for.
    fragments: usize,
    /// Where the range of each fragment begins: each ends where the next one begins.
    starts: Vec<u64>,
    /// Why there can be no index.
    failure: Option<String>,
}

/// One track of the index.
#[derive(Debug)]
struct TrackIndex {
    id: u32,
    timescale: u32,
    /// What the edit list adds to composition times.
    shift: i128,
    /// Earliest presentation time of the first range that has samples.
    earliest: Option<u64>,
    /// Without sizes.
    references: Vec<SidxReference>,
}

/// What an index says of the samples that a track has in a fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackTimes {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    /// The earliest composition time.
    earliest: i128,
    duration: u64,
    /// Type of the stream access point that the fragment begins with; 0 if it begins with none.
    sap_type: u8,
}

impl TrackTimes {
    /// None if there are no samples.
    pub(crate) fn of(track: usize, samples: impl IntoIterator<Item = Sample>) -> Option<Self> {
        let composition = |sample: &Sample| {
            i128::from(sample.decode_time) + i128::from(sample.composition_offset)
        };
        let mut samples = samples.into_iter();
        let first = samples.next()?;
        let start = composition(&first);
        let (mut earliest, mut duration) = (start, u64::from(first.duration));
        for sample in samples {
            earliest = earliest.min(composition(&sample));
            duration = duration.saturating_add(sample.duration.into());
        }
        // A sync sample is a point of type 1 or 2 (ISO/IEC 14496-12, 8.6.2), and of type 2 if samples
        // behind it are presented before it.
        let sap_type = match first.sync {
            false => 0,
            true if earliest == start => 1,
            true => 2,
        };
        Some(Self { track, earliest, duration, sap_type })
    }

    /// The same of a fragment that there is: one for each track, whatever the number of its track
    /// fragments.
    pub(crate) fn of_fragment(fragment: &Fragment<'_>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::with_capacity(fragment.tracks.len());
        for traf in &fragment.tracks {
            let times = Self::of(traf.track_index, traf.samples().take(MOST_SAMPLES));
            let Some(times) = times else { continue };
            match all.iter_mut().find(|before| before.track == traf.track_index) {
                None => all.push(Self { duration: traf.duration, ..times }),
                Some(before) => {
                    before.duration = before.duration.saturating_add(traf.duration);
                    // Without `tfdt` it goes on where the one before ends.
                    if traf.decode_time.is_some() {
                        before.earliest = before.earliest.min(times.earliest);
                    }
                }
            }
        }
        all
    }

    /// The same of samples that become a fragment.
    pub(crate) fn of_new(new: &NewTrack) -> Option<Self> {
        let mut decode_time = new.decode_time;
        let samples = new.samples.iter().zip(&new.offsets).map(|(sample, &offset)| {
            let this = Sample {
                offset,
                size: sample.size,
                decode_time,
                duration: sample.duration,
                composition_offset: sample.composition_offset,
                flags: sample.flags,
                sync: sample.flags & NOT_SYNC == 0,
                description_index: new.description_index,
            };
            decode_time = decode_time.saturating_add(sample.duration.into());
            this
        });
        Self::of(new.track, samples)
    }
}

impl NewIndex {
    /// An index of `fragments` fragments, each of all tracks.
    pub(crate) fn new(movie: &Movie, fragments: usize) -> Self {
        let tracks = movie.tracks.iter().map(|track| TrackIndex {
            id: track.id,
            timescale: track.timescale,
            shift: presentation_shift(movie, track),
            earliest: None,
            references: Vec::new(),
        });
        Self { tracks: tracks.collect(), fragments, starts: Vec::new(), failure: None }
    }

    /// Bytes to keep free for it.
    pub(crate) fn room(&self) -> usize {
        SegmentIndex::len_for(self.tracks.iter().map(|_| self.fragments))
    }

    /// The next fragment, whose range begins at `start` of the output.
    pub(crate) fn push(&mut self, start: u64, times: &[TrackTimes]) {
        self.starts.push(start);
        for (number, track) in self.tracks.iter_mut().enumerate() {
            let mut reference = SidxReference::new(0, 0);
            for times in times.iter().filter(|times| times.track == number) {
                let duration = times.duration.checked_add(reference.duration.into());
                if let Some(duration) = duration.and_then(|duration| u32::try_from(duration).ok()) {
                    reference.duration = duration;
                } else {
                    let reason = format!("a fragment of track {} is too long", track.id);
                    self.failure = Some(reason);
                }
                if times.sap_type > 0 {
                    reference = reference.with_sap(times.sap_type);
                }
                let presented = u64::try_from((times.earliest + track.shift).max(0));
                track.earliest.get_or_insert(presented.unwrap_or(u64::MAX));
            }
            track.references.push(reference);
        }
    }

    /// The boxes, to stand at `at` of an output whose last range ends at `end`: as many bytes as there
    /// is room for. What is not needed of it, since tracks have no samples, is a `free` box; so is all
    /// of it where there can be no index, and then the reason is given as well.
    pub(crate) fn bytes(&self, at: u64, end: u64) -> (Vec<u8>, Option<String>) {
        match self.boxes(at, end) {
            Ok(boxes) => (boxes, None),
            Err(reason) => (free(self.room()), Some(reason)),
        }
    }

    fn boxes(&self, at: u64, end: u64) -> Result<Vec<u8>, String> {
        if let Some(reason) = &self.failure {
            return Err(reason.clone());
        }
        if self.starts.len() != self.fragments {
            return Err(format!("{} fragments, and not {}", self.starts.len(), self.fragments));
        }
        let ends = self.starts.iter().skip(1).copied().chain([end]);
        let ranges: Vec<_> = self.starts.iter().copied().zip(ends).collect();
        let mut tracks = Vec::new();
        for track in self.tracks.iter().filter(|track| track.earliest.is_some()) {
            let mut references = track.references.clone();
            for ((start, end), reference) in ranges.iter().zip(&mut references) {
                let size = end.checked_sub(*start).and_then(|size| u32::try_from(size).ok());
                reference.size = size.filter(|size| size >> 31 == 0).ok_or_else(|| {
                    format!("the fragment at offset {start} of the output has 2 GiB or more")
                })?;
            }
            tracks.push((track, references));
        }
        let indexed: Vec<_> = tracks
            .iter()
            .map(|(track, references)| {
                IndexedTrack::new(track.id, track.timescale, references)
                    .with_earliest_presentation_time(track.earliest.unwrap_or_default())
            })
            .collect();
        let index = SegmentIndex::new(&indexed);
        let len = SegmentIndex::len_for(tracks.iter().map(|(_, references)| references.len()));
        let start = self.starts.first().and_then(|start| start.checked_sub(at + len as u64));
        let start = start.ok_or("it would stand behind its fragments")?;
        let mut boxes = index.bytes(start).map_err(|error| error.to_string())?;
        if let Some(rest @ 8..) = self.room().checked_sub(boxes.len()) {
            boxes.extend(free(rest));
        }
        Ok(boxes)
    }
}

/// A `free` box of `len` bytes: at least 8, and below 2^32.
pub(crate) fn free(len: usize) -> Vec<u8> {
    let mut free = vec![0; len];
    if let Some(size) = free.first_chunk_mut::<4>() {
        *size = u32::try_from(len).unwrap_or(0).to_be_bytes();
    }
    if let Some(kind) = free.get_mut(4..8) {
        kind.copy_from_slice(b"free");
    }
    free
}

/// Presentation time minus composition time, in the timescale of the media: what is empty at the
/// beginning, and what of the media is left out there (ISO/IEC 14496-12, 8.6.6).
fn presentation_shift(movie: &Movie, track: &Track) -> i128 {
    let mut empty = 0_i128;
    for edit in &track.edits {
        if edit.media_time != EMPTY {
            let scaled = empty * i128::from(track.timescale) / i128::from(movie.timescale.max(1));
            return scaled - i128::from(edit.media_time);
        }
        empty += i128::from(edit.segment_duration);
    }
    0
}

/// The samples of a fragment that are looked at for the earliest one: a damaged `trun` can speak of
/// billions, none of which takes a byte.
const MOST_SAMPLES: usize = 1 << 20;

/// `media_time` of an edit in which nothing is presented.
const EMPTY: i64 = -1;

/// `sample_is_non_sync_sample` of sample flags.
const NOT_SYNC: u32 = 0x0001_0000;

#[cfg(test)]
mod tests {
    use super::*;

    fn index(fragments: usize) -> NewIndex {
        let track = |id| TrackIndex {
            id,
            timescale: 1000,
            shift: -5,
            earliest: None,
            references: Vec::new(),
        };
        NewIndex { tracks: vec![track(1), track(2)], fragments, starts: Vec::new(), failure: None }
    }

    fn times(track: usize, duration: u64) -> TrackTimes {
        TrackTimes { track, earliest: 7, duration, sap_type: 1 }
    }

    fn kinds(boxes: &[u8]) -> Vec<[u8; 4]> {
        let headers = lanelock_mp4::top_level(boxes).map(|header| header.unwrap().kind.0);
        headers.collect()
    }

    #[test]
    fn what_is_too_large_has_no_index() {
        let limit = 1 << 31;
        for (end, fits) in [(limit - 1, true), (limit, false), (u64::MAX, false)] {
            let mut index = index(2);
            index.push(1000, &[times(0, 10), times(1, 10)]);
            index.push(1100, &[times(0, 10)]);
            let (boxes, failure) = index.bytes(100, 1100_u64.saturating_add(end));
            assert_eq!(boxes.len(), index.room());
            assert_eq!(failure.is_none(), fits);
            assert_eq!(kinds(&boxes), if fits { vec![*b"sidx"; 2] } else { vec![*b"free"] });
        }
        let mut index = index(1);
        index.push(1000, &[times(0, 1 << 32)]);
        let (boxes, failure) = index.bytes(100, 2000);
        assert!(failure.unwrap().contains("too long"));
        assert_eq!(kinds(&boxes), [*b"free"]);
    }

    #[test]
    fn a_track_without_samples_has_no_box() {
        let mut index = index(1);
        index.push(1000, &[times(1, 10)]);
        let (boxes, failure) = index.bytes(100, 2000);
        assert_eq!(kinds(&boxes), [*b"sidx", *b"free"]);
        assert_eq!((boxes.len(), failure), (index.room(), None));
    }
}
