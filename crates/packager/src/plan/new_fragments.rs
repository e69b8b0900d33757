//! Pieces of a progressive file that becomes fragmented: one for each new fragment.

use std::{iter::Peekable, time::Duration};

use lanelock_mp4::{Movie, Sample, Samples, TrackKind};

use crate::{
    Error,
    io::Input,
    piece::{NewTrack, PartKind, Planned},
    pipeline::Plan,
};

/// Cuts a progressive file into fragments that begin at sync samples.
pub(crate) struct NewFragments<'a> {
    input: &'a Input<'a>,
    tracks: Vec<SourceTrack<'a>>,
    duration: Duration,
    /// Bytes of samples so far: more than the file has means that samples share bytes.
    bytes: u64,
}

struct SourceTrack<'a> {
    /// Whether its sync samples are where fragments begin: the smaller, the rather.
    rank: u8,
    timescale: u64,
    samples: Peekable<Samples<'a>>,
}

impl<'a> NewFragments<'a> {
    pub(crate) fn new(
        input: &'a Input<'a>,
        movie: &'a Movie,
        duration: Duration,
    ) -> Result<Self, Error> {
        let tracks = movie
            .tracks
            .iter()
            .map(|track| {
                let samples = movie.samples(track, input.len());
                Ok(SourceTrack {
                    rank: match track.kind() {
                        TrackKind::Video if track.handler == b"vide" => 0,
                        // A single picture, such as a cover, says nothing about the others.
                        TrackKind::Video if track.sample_count() > 1 => 1,
                        _ => 2,
                    },
                    timescale: u64::from(track.timescale).max(1),
                    samples: samples.map_err(|error| input.container(error))?.peekable(),
                })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self { input, tracks, duration, bytes: 0 })
    }

    /// The next sample of a track, without taking it.
    fn peek(&mut self, track: usize) -> Result<Option<Sample>, Error> {
        match self.tracks[track].samples.next_if(Result::is_err) {
            Some(Err(error)) => Err(self.input.container(error)),
            _ => Ok(self.tracks[track]
                .samples
                .peek()
                .and_then(|sample| sample.as_ref().ok().copied())),
        }
    }

    /// Takes samples of a track as long as `more` says so, all with the same sample entry.
    fn take(
        &mut self,
        track: usize,
        mut more: impl FnMut(&Sample) -> bool,
    ) -> Result<Option<NewTrack>, Error> {
        let Some(first) = self.peek(track)? else { return Ok(None) };
        let mut taken = NewTrack {
            track,
            description_index: first.description_index,
            decode_time: first.decode_time,
            samples: Vec::new(),
            offsets: Vec::new(),
        };
        while let Some(sample) = self.peek(track)? {
            if sample.description_index != taken.description_index || !more(&sample) {
                break;
            }
            self.bytes = self.bytes.saturating_add(sample.size.into());
            if self.bytes > self.input.len() {
                let reason = format!(
                    "the samples have more bytes than the file: at sample offset {} some share \
                     theirs",
                    sample.offset
                );
                return Err(self.input.unsuitable(reason));
            }
            taken.samples.push(sample.into());
            taken.offsets.push(sample.offset);
            self.tracks[track].samples.next();
        }
        Ok((!taken.samples.is_empty()).then_some(taken))
    }

    /// The track whose sync samples decide where fragments begin: video before all others.
    fn leader(&mut self) -> Result<Option<usize>, Error> {
        let mut leader: Option<usize> = None;
        for track in 0..self.tracks.len() {
            if self.peek(track)?.is_some()
                && leader.is_none_or(|leader| self.tracks[track].rank < self.tracks[leader].rank)
            {
                leader = Some(track);
            }
        }
        Ok(leader)
    }
}

impl Plan for NewFragments<'_> {
    fn next(&mut self) -> Result<Option<Planned>, Error> {
        let Some(leader) = self.leader()? else { return Ok(None) };
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
        let end = self.peek(leader)?.map(|sample| sample.decode_time);
        let mut tracks: Vec<NewTrack> = led.into_iter().collect();
        for track in 0..self.tracks.len() {
            if track == leader {
                continue;
            }
            let own = u128::from(self.tracks[track].timescale);
            let limit = end.map(|end| u128::from(end) * own);
            tracks.extend(self.take(track, |sample| {
                limit.is_none_or(|limit| {
                    u128::from(sample.decode_time) * u128::from(timescale) < limit
                })
            })?);
        }
        tracks.sort_by_key(|track| track.track);
        let mut spans: Vec<std::ops::Range<u64>> = Vec::new();
        for track in &tracks {
            for (sample, offset) in track.samples.iter().zip(&track.offsets) {
                let end = offset + u64::from(sample.size);
                match spans.last_mut() {
                    Some(last) if last.end == *offset => last.end = end,
                    _ => spans.push(*offset..end),
                }
            }
        }
        Ok(Some(Planned::gathered(PartKind::NewFragment(tracks), spans)))
    }
}
