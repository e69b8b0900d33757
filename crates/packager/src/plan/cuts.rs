//! Where the fragments begin that a progressive file is cut into: places in its sample tables.
//!
//! A fragment goes on from the asked duration to the next sync sample or the end, for players can begin
//! only at sync samples. Where that is more than [`LONGEST_WAIT`] away, it ends at the first sample past
//! the asked duration, and so do those that follow, up to the sync sample: otherwise a film with one
//! sync sample would be one fragment.

use std::time::Duration;

use lanelock_mp4::{Movie, Sample, SamplePosition, Samples, Track, TrackKind};

use crate::{
    Error,
    io::Input,
    piece::{NewTrack, PartKind, Planned},
};

/// How much longer than asked a fragment may become while it waits for a sync sample.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Cuts a progressive file into fragments. It yields places alone, so that a fragment can be made at any
/// time, and any number of times.
pub(crate) struct Cuts<'a> {
    input: &'a Input<'a>,
    tracks: Vec<SourceTrack<'a>>,
    duration: Duration,
    /// Bytes of samples so far: more than the file has means that samples share bytes.
    bytes: u64,
    /// Whether the next fragment begins at another sample than a sync sample, for there is none near.
    is_split: bool,
    /// The first fragment that does: the track that decided so, and its time.
    first_split: Option<(usize, Duration)>,
}

/// A fragment that is to be made: of each track that has samples in it, where they are.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) tracks: Vec<TrackCut>,
}

/// Samples of a track that become part of a fragment.
#[derive(Clone, Debug)]
pub(crate) struct TrackCut {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    start: SamplePosition,
    description_index: u32,
    /// How many.
    samples: u32,
}

struct SourceTrack<'a> {
    rank: u8,
    timescale: u64,
    samples: Samples<'a>,
    /// The sample that is not taken yet, and the place before it.
    next: Option<Sample>,
    position: SamplePosition,
    syncs: SyncSamples<'a>,
}

/// The sync samples of a track, which are looked for once, ahead of the samples that are taken.
struct SyncSamples<'a> {
    samples: Samples<'a>,
    /// Index and decoding time of the last one that was found; behind the last of all, the end of the
    /// track.
    found: (u32, u64),
    /// Where the samples end that were looked at.
    end: u64,
}

impl SyncSamples<'_> {
    /// Decoding time of the first one from sample `index` on, which is not the first of the track; the
    /// end of the track if there is none.
    fn from(&mut self, input: &Input<'_>, index: u32) -> Result<u64, Error> {
        while self.found.0 < index {
            let at = self.samples.position().index();
            let Some(sample) = self.samples.next() else {
                self.found = (u32::MAX, self.end);
                break;
            };
            let sample = sample.map_err(|error| input.container(error))?;
            self.end = sample.decode_time.saturating_add(sample.duration.into());
            if sample.sync {
                self.found = (at, sample.decode_time);
            }
        }
        Ok(self.found.1)
    }
}

impl SourceTrack<'_> {
    fn advance(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.position = self.samples.position();
        self.next = self.samples.next().transpose().map_err(|error| input.container(error))?;
        Ok(())
    }
}

impl<'a> Cuts<'a> {
    /// From the first sample on.
    pub(crate) fn new(
        input: &'a Input<'a>,
        movie: &'a Movie,
        duration: Duration,
    ) -> Result<Self, Error> {
        let mut tracks = Vec::with_capacity(movie.tracks.len());
        for track in &movie.tracks {
            let samples = || movie.samples(track, input.len()).map_err(|e| input.container(e));
            let syncs = SyncSamples { samples: samples()?, found: (0, 0), end: 0 };
            let samples = samples()?;
            let mut track = SourceTrack {
                rank: rank(track),
                timescale: u64::from(track.timescale).max(1),
                position: samples.position(),
                samples,
                next: None,
                syncs,
            };
            track.advance(input)?;
            tracks.push(track);
        }
        Ok(Self { input, tracks, duration, bytes: 0, is_split: false, first_split: None })
    }

    /// How many fragments there are.
    pub(crate) fn count(&mut self) -> Result<usize, Error> {
        let mut count = 0;
        while self.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// What is to be said of the fragments so far.
    pub(crate) fn warning(&self, movie: &Movie) -> Option<String> {
        let (track, time) = self.first_split?;
        Some(format!(
            "track {}: its sync samples are too far apart, so fragments begin at other samples too, the \
             first at {:.1} s: players can begin to play at sync samples alone, and seek to no other \
             place; encode it with a sync sample every few seconds",
            movie.tracks[track].id,
            time.as_secs_f64()
        ))
    }

    /// The next fragment.
    pub(crate) fn next(&mut self) -> Result<Option<Cut>, Error> {
        let Some(leader) = self.leader() else { return Ok(None) };
        let timescale = self.tracks[leader].timescale;
        let ticks = |time: Duration| time.as_nanos() * u128::from(timescale) / 1_000_000_000;
        let (least, most) =
            (ticks(self.duration), ticks(self.duration.saturating_add(LONGEST_WAIT)));
        let (input, was_split) = (self.input, self.is_split);
        let (mut start, mut split) = (None, None);
        let led = self.take(leader, |syncs, index, sample| {
            let start = *start.get_or_insert(sample.decode_time);
            let age = u128::from(sample.decode_time.saturating_sub(start));
            if sample.decode_time == start || age < least && !(sample.sync && was_split) {
                return Ok(true);
            }
            if sample.sync {
                return Ok(false);
            }
            let wait = u128::from(syncs.from(input, index)?.saturating_sub(start));
            let goes_on = wait <= most && !was_split;
            split = (!goes_on).then_some(sample.decode_time);
            Ok(goes_on)
        })?;
        self.is_split = split.is_some();
        if let Some(time) = split {
            self.first_split.get_or_insert((leader, duration(time, timescale)));
        }
        // The fragment ends where the leader goes on: the other tracks give their samples up to that
        // time. After the leader's last, they give all that is left.
        let end = self.tracks[leader].next.map(|sample| sample.decode_time);
        let mut tracks: Vec<TrackCut> = led.into_iter().collect();
        for track in (0..self.tracks.len()).filter(|&track| track != leader) {
            let own = u128::from(self.tracks[track].timescale);
            let limit = end.map(|end| u128::from(end) * own);
            tracks.extend(self.take(track, |_, _, sample| {
                Ok(limit.is_none_or(|limit| {
                    u128::from(sample.decode_time) * u128::from(timescale) < limit
                }))
            })?);
        }
        tracks.sort_by_key(|track| track.track);
        Ok(Some(Cut { tracks }))
    }

    /// Takes samples of a track as long as `more` says so, all with the same sample entry.
    fn take(
        &mut self,
        track: usize,
        mut more: impl FnMut(&mut SyncSamples<'a>, u32, &Sample) -> Result<bool, Error>,
    ) -> Result<Option<TrackCut>, Error> {
        let Self { input, tracks, bytes, .. } = self;
        let source = &mut tracks[track];
        let Some(first) = source.next else { return Ok(None) };
        let (start, description_index) = (source.position, first.description_index);
        let mut taken = TrackCut { track, start, description_index, samples: 0 };
        while let Some(sample) = source.next {
            let index = source.position.index();
            if sample.description_index != description_index
                || !more(&mut source.syncs, index, &sample)?
            {
                break;
            }
            *bytes = bytes.saturating_add(sample.size.into());
            if *bytes > input.len() {
                let reason = format!(
                    "the samples have more bytes than the file: at sample offset {} some share \
                     theirs",
                    sample.offset
                );
                return Err(input.unsuitable(reason));
            }
            taken.samples += 1;
            source.advance(input)?;
        }
        Ok((taken.samples > 0).then_some(taken))
    }

    /// The track whose samples decide where fragments begin: video before all others.
    fn leader(&self) -> Option<usize> {
        let left = self.tracks.iter().enumerate().filter(|(_, track)| track.next.is_some());
        left.min_by_key(|(_, track)| track.rank).map(|(index, _)| index)
    }
}

/// Whether it is the track that says where fragments begin: the smaller, the rather.
pub(crate) fn rank(track: &Track) -> u8 {
    match track.kind() {
        TrackKind::Video if track.handler == b"vide" => 0,
        // A single picture, such as a cover, says nothing about the others. In fragments there is more.
        TrackKind::Video if track.sample_count() == 1 => 3,
        TrackKind::Video => 1,
        _ => 2,
    }
}

/// A time in units of a timescale; the longest there is, if it is longer.
pub(crate) fn duration(units: u64, timescale: u64) -> Duration {
    let (units, timescale) = (u128::from(units), u128::from(timescale.max(1)));
    let seconds = u64::try_from(units / timescale).unwrap_or(u64::MAX);
    let nanoseconds = units % timescale * 1_000_000_000 / timescale;
    Duration::new(seconds, u32::try_from(nanoseconds).unwrap_or(0))
}

impl TrackCut {
    /// Decoding time of the first sample.
    pub(super) fn decode_time(&self) -> u64 {
        self.start.decode_time()
    }

    /// How many samples.
    pub(super) fn count(&self) -> u32 {
        self.samples
    }

    /// Its samples.
    pub(super) fn samples<'a>(
        &self,
        input: &'a Input<'_>,
        movie: &'a Movie,
    ) -> Result<impl Iterator<Item = Result<Sample, Error>> + use<'a>, Error> {
        let container = move |error| input.container(error);
        let track = &movie.tracks[self.track];
        let samples = movie.samples_from(track, self.start, input.len()).map_err(container)?;
        Ok(samples.take(self.samples as usize).map(move |sample| sample.map_err(container)))
    }
}

impl Cut {
    /// The piece that becomes the fragment.
    pub(crate) fn planned(&self, input: &Input<'_>, movie: &Movie) -> Result<Planned, Error> {
        let mut tracks = Vec::with_capacity(self.tracks.len());
        let mut spans: Vec<std::ops::Range<u64>> = Vec::new();
        for cut in &self.tracks {
            let count = cut.samples as usize;
            let mut new = NewTrack {
                track: cut.track,
                description_index: cut.description_index,
                decode_time: cut.decode_time(),
                samples: Vec::with_capacity(count),
                offsets: Vec::with_capacity(count),
                boxes: Vec::new(),
            };
            for sample in cut.samples(input, movie)? {
                let sample = sample?;
                let (offset, end) = (sample.offset, sample.offset + u64::from(sample.size));
                match spans.last_mut() {
                    Some(last) if last.end == offset => last.end = end,
                    _ => spans.push(offset..end),
                }
                new.samples.push(sample.into());
                new.offsets.push(offset);
            }
            tracks.push(new);
        }
        Ok(Planned::gathered(PartKind::NewFragment(tracks), spans))
    }
}
