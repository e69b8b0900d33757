//! Where the fragments begin that a progressive file is cut into: places in its sample tables.

use std::time::Duration;

use lanelock_mp4::{Movie, Sample, SamplePosition, Samples, Track, TrackKind};

use crate::{
    Error,
    io::Input,
    piece::{NewTrack, PartKind, Planned},
};

/// Cuts a progressive file into fragments that begin at sync samples. It yields places alone, so that
/// a fragment can be made at any time, and any number of times.
pub(crate) struct Cuts<'a> {
    input: &'a Input<'a>,
    tracks: Vec<SourceTrack<'a>>,
    duration: Duration,
    /// Bytes of samples so far: more than the file has means that samples share bytes.
    bytes: u64,
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
            let samples = movie.samples(track, input.len());
            let samples = samples.map_err(|error| input.container(error))?;
            let mut track = SourceTrack {
                rank: rank(track),
                timescale: u64::from(track.timescale).max(1),
                position: samples.position(),
                samples,
                next: None,
            };
            track.advance(input)?;
            tracks.push(track);
        }
        Ok(Self { input, tracks, duration, bytes: 0 })
    }

    /// How many fragments there are.
    pub(crate) fn count(mut self) -> Result<usize, Error> {
        let mut count = 0;
        while self.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// The next fragment.
    pub(crate) fn next(&mut self) -> Result<Option<Cut>, Error> {
        let Some(leader) = self.leader() else { return Ok(None) };
        let timescale = self.tracks[leader].timescale;
        let ticks = self.duration.as_nanos().saturating_mul(timescale.into()) / 1_000_000_000;
        let mut start = None;
        let led = self.take(leader, |sample| {
            let start = *start.get_or_insert(sample.decode_time);
            let age = u128::from(sample.decode_time - start.min(sample.decode_time));
            sample.decode_time == start || !sample.sync || age < ticks
        })?;
        // The fragment ends at the leader's next sync sample: the other tracks give their samples up to
        // that time. After the leader's last, they give all that is left.
        let end = self.tracks[leader].next.map(|sample| sample.decode_time);
        let mut tracks: Vec<TrackCut> = led.into_iter().collect();
        for track in (0..self.tracks.len()).filter(|&track| track != leader) {
            let own = u128::from(self.tracks[track].timescale);
            let limit = end.map(|end| u128::from(end) * own);
            tracks.extend(self.take(track, |sample| {
                limit.is_none_or(|limit| {
                    u128::from(sample.decode_time) * u128::from(timescale) < limit
                })
            })?);
        }
        tracks.sort_by_key(|track| track.track);
        Ok(Some(Cut { tracks }))
    }

    /// Takes samples of a track as long as `more` says so, all with the same sample entry.
    fn take(
        &mut self,
        track: usize,
        mut more: impl FnMut(&Sample) -> bool,
    ) -> Result<Option<TrackCut>, Error> {
        let Self { input, tracks, bytes, .. } = self;
        let source = &mut tracks[track];
        let Some(first) = source.next else { return Ok(None) };
        let (start, description_index) = (source.position, first.description_index);
        let mut taken = TrackCut { track, start, description_index, samples: 0 };
        while let Some(sample) = source.next {
            if sample.description_index != description_index || !more(&sample) {
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

    /// The track whose sync samples decide where fragments begin: video before all others.
    fn leader(&self) -> Option<usize> {
        let left = self.tracks.iter().enumerate().filter(|(_, track)| track.next.is_some());
        left.min_by_key(|(_, track)| track.rank).map(|(index, _)| index)
    }
}

/// Whether it is the track that says where fragments begin: the smaller, the rather.
pub(super) fn rank(track: &Track) -> u8 {
    match track.kind() {
        TrackKind::Video if track.handler == b"vide" => 0,
        // A single picture, such as a cover, says nothing about the others. In fragments there is more.
        TrackKind::Video if track.sample_count() == 1 => 3,
        TrackKind::Video => 1,
        _ => 2,
    }
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
