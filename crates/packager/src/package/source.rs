//! The tracks of the inputs, and their samples in decoding order, whatever the file is.

use std::{ops::Range, sync::Arc};

use lanelock_mp4::{
    Fragment, Movie, Sample, Samples, Track, TrackKind,
    edit::{SampleInfoJoiner, SingleEdit, fragment_movie, iso_movie, single_track},
};

use super::time::Time;
use crate::{
    Error, Observer,
    encrypt::{GROUP_OF_CLEAR, is_protected},
    io::{Input, Source},
    selection::fail,
    skeleton::Skeleton,
};

/// An input file.
pub(super) struct InputFile {
    pub(super) source: Arc<dyn Source>,
    pub(super) skeleton: Skeleton,
    /// Where the `moof` boxes are, and their sizes.
    moofs: Vec<(u64, u64)>,
}

impl InputFile {
    pub(super) fn read(source: Arc<dyn Source>) -> Result<Self, Error> {
        let input = Input::new(&*source);
        if input.is_sequential() {
            return Err(input.unsuitable(
                "it is a pipe, which cannot go back: tracks are read one by one; write it to a file \
                 first",
            ));
        }
        let skeleton = Skeleton::read(&input)?;
        let moofs = skeleton.boxes.iter().filter(|found| found.kind == b"moof");
        let moofs = moofs.map(|found| (found.offset, found.size)).collect();
        Ok(Self { source, skeleton, moofs })
    }

    pub(super) fn input(&self) -> Input<'_> {
        Input::new(&*self.source)
    }

    /// Says of boxes with a time of their own that they are left out.
    pub(super) fn warn_of_events(&self, observer: &dyn Observer) {
        for (kind, what) in [(b"emsg", "events"), (b"prft", "wall-clock times of fragments")] {
            let boxes = self.skeleton.boxes.iter().filter(|found| found.kind == kind).count();
            if boxes > 0 {
                let track = |track: &Track| format!("track {} ({})", track.id, track.codec());
                let tracks: Vec<_> = self.movie().tracks.iter().take(9).map(track).collect();
                observer.warn(&format!(
                    "{}: its {} boxes ({what}; {boxes} of them, at {}) are left out: package does not \
                     carry them into the segments that it makes",
                    self.input().name,
                    kind.escape_ascii(),
                    tracks.join(", "),
                ));
            }
        }
    }

    pub(super) fn movie(&self) -> &Movie {
        &self.skeleton.movie
    }
}

/// A track of an input.
#[derive(Clone)]
pub(super) struct SourceTrack {
    pub(super) file: Arc<InputFile>,
    /// Index in the tracks of the movie.
    pub(super) index: usize,
    /// How its media are presented.
    pub(super) timing: Timing,
    /// Those of its samples that are needed for what is presented.
    needed: Range<u64>,
    /// Of its samples, only the sync samples, each as long as it is to the next one.
    pub(super) only_sync: bool,
}

/// What an edit list says of a track, in units of the track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timing {
    /// Presentation begins with nothing, so long.
    pub(super) delay: u64,
    /// Composition time of what is presented first.
    pub(super) from: u64,
    /// Presentation time of the end, if the media go on behind it.
    until: Option<i64>,
    /// What the times of all tracks of the stream are less by.
    pub(super) rebase: u64,
}

impl Timing {
    /// Presentation time of a composition time.
    pub(super) fn presented(&self, composition: i64) -> i64 {
        let before = self.from.cast_signed().saturating_add(self.rebase.cast_signed());
        composition.saturating_add(self.delay.cast_signed()).saturating_sub(before)
    }
}

impl SourceTrack {
    /// Without a look at its edit list.
    pub(super) fn untimed(file: Arc<InputFile>, index: usize) -> Self {
        Self { file, index, timing: Timing::default(), needed: 0..u64::MAX, only_sync: false }
    }

    /// With what its edit list says.
    pub(super) fn timed(self) -> Result<Self, Error> {
        let timing = timing(&self.file, self.index)?;
        if self.file.movie().encryption_runs(self.track(), 1).any(is_protected) {
            return Err(self.fail(GROUP_OF_CLEAR));
        }
        Self { timing, ..self }.trimmed()
    }

    /// Without the samples that nothing of what is presented needs.
    ///
    /// Video is presented from a sync sample on: browsers drop what is before time 0, and all pictures that
    /// need it. Audio keeps [`PREROLL`], which its decoder needs.
    fn trimmed(mut self) -> Result<Self, Error> {
        let Timing { from, until, .. } = self.timing;
        if from == 0 && until.is_none() {
            return Ok(self);
        }
        let is_video = self.kind() == TrackKind::Video;
        let preroll = i64::from(self.track().timescale / PREROLL);
        let mut start = None;
        let (mut first, mut end, mut number) = (0, 0, 0_u64);
        let mut samples = self.samples()?;
        while let Some((_, sample)) = samples.next_of_all()? {
            let presented = samples.presented(&sample);
            let duration = i64::from(sample.duration);
            if is_video && sample.sync && presented <= duration / 2 {
                (first, start) = (number, Some((presented, duration)));
            } else if !is_video && presented.saturating_add(duration) <= -preroll {
                first = number + 1;
            }
            number += 1;
            if until.is_none_or(|until| presented < until) {
                end = number;
            }
            let decoded = sample.decode_time.cast_signed().saturating_sub(duration);
            if until.is_none() && decoded > self.timing.presented(0).saturating_neg() {
                end = u64::MAX;
                break;
            }
        }
        drop(samples);
        self.needed = first.min(end)..end;
        if let Some((presented, duration)) = start.filter(|(presented, _)| *presented != 0) {
            if presented < -duration / 2 {
                let seconds =
                    |units: i64| Time { units, timescale: self.track().timescale }.seconds();
                return Err(self.fail(format!(
                    "its edit list begins {:.3} s behind a sync sample, so that players could show nothing up to \
                     the next one; encode it from there (ffmpeg -i IN OUT), or cut it at a sync sample",
                    -seconds(presented)
                )));
            }
            // Rounded to another timescale.
            let moved = self.timing.from.cast_signed().saturating_add(presented);
            self.timing.from = u64::try_from(moved).unwrap_or(0);
        }
        Ok(self)
    }

    /// How many samples in front are left out.
    pub(super) fn left_out(&self) -> u64 {
        self.needed.start
    }

    pub(super) fn track(&self) -> &Track {
        &self.file.movie().tracks[self.index]
    }

    pub(super) fn kind(&self) -> TrackKind {
        self.track().kind()
    }

    /// An error about the track.
    pub(super) fn fail(&self, reason: impl Into<String>) -> Error {
        fail(&self.file.input(), self.track(), reason.into())
    }

    /// Its samples from the first one on.
    pub(super) fn samples(&self) -> Result<TrackSamples<'_>, Error> {
        TrackSamples::new(self)
    }

    /// The boxes that say of these samples what their fragments say.
    pub(super) fn join_groups(&self, samples: &SamplesOfFragments) -> Result<Vec<u8>, Error> {
        let input = self.file.input();
        let movie = self.file.movie();
        let container = |error| input.container(error);
        let mut joiner = SampleInfoJoiner::new(movie, self.track()).map_err(container)?;
        for (fragment, range) in samples {
            let Some(&(offset, size)) = self.file.moofs.get(*fragment) else { continue };
            let bytes = read_moof(&input, offset, size)?;
            let fragment = Fragment::parse(&bytes, offset, movie, input.len());
            let fragment = fragment.map_err(container)?;
            // Samples of the track fragments before.
            let mut before = 0;
            for traf in fragment.tracks.iter().filter(|traf| traf.track_index == self.index) {
                let within = |at: usize| (at as u64).saturating_sub(before).min(traf.sample_count);
                let own = within(range.start)..within(range.end);
                if !own.is_empty() {
                    joiner.push(traf, own).map_err(container)?;
                }
                before += traf.sample_count;
            }
        }
        Ok(joiner.finish())
    }

    /// The `moov` of an initialization segment with this track alone, clear.
    pub(super) fn init(&self, edit: SingleEdit) -> Result<Movie, Error> {
        let input = self.file.input();
        let make = || {
            let movie = self.file.movie();
            let alone = single_track(movie, self.track().id, edit)?;
            let alone = Movie::parse(alone, movie.offset())?;
            let moov = if alone.fragmented {
                iso_movie(&alone, self.file.skeleton.ftyp.as_deref())?.map(|(_, moov)| moov)
            } else {
                Some(fragment_movie(&alone)?)
            };
            moov.map_or(Ok(alone), |moov| Movie::parse(moov, movie.offset()))
        };
        make().map_err(|error| input.container(error))
    }
}

/// Reads an edit list, which may say two things: that presentation begins later, and with what.
fn timing(file: &InputFile, index: usize) -> Result<Timing, Error> {
    let movie = file.movie();
    let track = &movie.tracks[index];
    let refuse = |what: &str| {
        Err(fail(
            &file.input(),
            track,
            format!(
                "its edit list {what}, which streams cannot say; apply it first (ffmpeg -i IN -c copy OUT, \
                 or without -c copy to cut between sync samples)"
            ),
        ))
    };
    let (mut delay, mut from) = (0_u64, None);
    for edit in &track.edits {
        if edit.media_time == -1 && from.is_none() {
            let units = u128::from(edit.segment_duration) * u128::from(track.timescale);
            let units = units / u128::from(movie.timescale.max(1));
            match u64::try_from(units).ok().and_then(|units| delay.checked_add(units)) {
                Some(sum) if sum < 1 << 62 => delay = sum,
                _ => return refuse("begins after longer than there are numbers for"),
            }
        } else if edit.media_rate != 1 << 16 {
            return refuse("changes the speed");
        } else if from.is_some() {
            return refuse("joins several ranges");
        } else {
            match u64::try_from(edit.media_time) {
                Ok(time) if time < 1 << 62 => from = Some(time),
                _ => return refuse("begins before the media"),
            }
        }
    }
    let from = from.unwrap_or(0);
    Ok(Timing { delay, from, until: until(movie, track, delay, from), rebase: 0 })
}

/// Presentation time of the end that the edit of a progressive file states, if the media go on for more
/// than a frame or so behind it. In a fragmented file an edit goes on to the end (ISO/IEC 14496-12, 8.6.6.1).
fn until(movie: &Movie, track: &Track, delay: u64, from: u64) -> Option<i64> {
    let edit = track.edits.iter().find(|edit| edit.media_time >= 0)?;
    if movie.fragmented || edit.segment_duration == 0 {
        return None;
    }
    let units = u128::from(edit.segment_duration) * u128::from(track.timescale);
    let units = u64::try_from(units.div_ceil(u128::from(movie.timescale.max(1)))).ok()?;
    let media_end = from.checked_add(units)?;
    let margin = u64::from(track.timescale / 10);
    let is_cut = media_end.checked_add(margin)? < track.duration && track.duration != u64::MAX;
    is_cut.then(|| i64::try_from(delay.saturating_add(units)).ok()).flatten()
}

/// What audio keeps in front of the first presented sample, as a part of a second: Opus asks for 80 ms (RFC
/// 7845, 4.6), AAC with spectral band replication for two frames.
const PREROLL: u32 = 5;

/// A sample's fragment and its place there, both counted from 0. In sample tables there is one place for all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) fragment: usize,
    pub(super) at: usize,
}

/// Fragments by their numbers, and in each the samples of a track.
pub(super) type SamplesOfFragments = Vec<(usize, Range<usize>)>;

/// The samples of a track, with durations that lead from each to the next one.
pub(super) struct TrackSamples<'a> {
    track: &'a SourceTrack,
    input: Input<'a>,
    reader: Reader<'a>,
    /// The next sample, and its place.
    next: Option<(Place, Sample)>,
    /// Samples that are behind.
    number: u64,
    /// Duration of the last sample.
    last_duration: u32,
    gaps: Gaps,
}

/// Where samples are missing: the next one comes later than the last one ends, by one sample or more.
/// Less than that is rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    /// Start and end of the first one, as presentation times without composition offsets.
    pub(super) first: Option<(i64, i64)>,
    pub(super) more: u64,
}

impl Gaps {
    fn look(&mut self, timing: Timing, sample: &Sample, next: u64) {
        let end = sample.decode_time.saturating_add(sample.duration.into());
        if sample.duration == 0 || next.saturating_sub(end) < u64::from(sample.duration) {
            return;
        }
        if self.first.is_some() {
            self.more += 1;
        } else {
            let presented = |time: u64| timing.presented(i64::try_from(time).unwrap_or(i64::MAX));
            self.first = Some((presented(end), presented(next)));
        }
    }
}

enum Reader<'a> {
    Table(Box<Samples<'a>>),
    Fragments(FragmentReader),
}

/// Samples of fragments, one fragment at a time.
#[derive(Default)]
struct FragmentReader {
    /// The fragment that is read, and the next sample in it.
    fragment: usize,
    at: usize,
    /// Decoding time that it begins with if it does not say.
    start: u64,
    samples: Vec<Sample>,
    is_read: bool,
    has_groups: bool,
}

impl<'a> TrackSamples<'a> {
    fn new(track: &'a SourceTrack) -> Result<Self, Error> {
        let input = track.file.input();
        let movie = track.file.movie();
        let reader = if movie.fragmented {
            Reader::Fragments(FragmentReader::default())
        } else {
            let samples = movie.samples(track.track(), input.len());
            Reader::Table(Box::new(samples.map_err(|error| input.container(error))?))
        };
        let gaps = Gaps::default();
        let mut this = Self { track, input, reader, next: None, number: 0, last_duration: 0, gaps };
        this.next = this.read()?;
        while this.number < track.needed.start && this.next.is_some() {
            this.next = this.read()?;
            this.number += 1;
        }
        Ok(this)
    }

    /// The next sample as the file has it, and its place.
    fn read(&mut self) -> Result<Option<(Place, Sample)>, Error> {
        match &mut self.reader {
            Reader::Table(samples) => {
                let sample = samples.next().transpose();
                let sample = sample.map_err(|error| self.input.container(error))?;
                Ok(sample.map(|sample| (Place::default(), sample)))
            }
            Reader::Fragments(reader) => reader.read(&self.input, self.track),
        }
    }

    /// Whether the fragments that were read have sample groups or sub-samples.
    pub(super) fn has_groups(&self) -> bool {
        matches!(&self.reader, Reader::Fragments(reader) if reader.has_groups)
    }

    /// Where samples were missing.
    pub(super) fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// [`Self::next_of_all`] of those that are wanted.
    pub(super) fn next(&mut self) -> Result<Option<(Place, Sample)>, Error> {
        let Some((at, mut sample)) = self.next_of_all()? else { return Ok(None) };
        while self.track.only_sync
            && self.next.as_ref().is_some_and(|(_, next)| !next.sync)
            && let Some((_, passed)) = self.next_of_all()?
        {
            sample.duration = sample.duration.checked_add(passed.duration).ok_or_else(|| {
                self.track.fail("its sync samples are too far apart for a track of key frames")
            })?;
        }
        Ok(Some((at, sample)))
    }

    /// The next sample, and its place. Its decoding time has the delay of the edit list in
    /// it, and its duration leads to the sample behind it, so that gaps and overlaps of fragments do
    /// not shift what follows.
    fn next_of_all(&mut self) -> Result<Option<(Place, Sample)>, Error> {
        if self.number >= self.track.needed.end {
            return Ok(None);
        }
        let Some((at, mut sample)) = self.next.take() else { return Ok(None) };
        self.next = self.read()?;
        self.number += 1;
        if let Some((_, next)) = &self.next {
            let duration = next.decode_time.checked_sub(sample.decode_time);
            let Some(duration) = duration.and_then(|duration| u32::try_from(duration).ok()) else {
                return Err(self.track.fail(format!(
                    "decoding time {} is followed by {}: its times run backwards, or there is a gap of \
                     years; remux it first (ffmpeg -i IN -c copy OUT)",
                    sample.decode_time, next.decode_time
                )));
            };
            if duration == 0 {
                return Err(self.track.fail(format!(
                    "the sample at file offset {} has no duration, so that two samples have the decoding \
                     time {}; remux it first (ffmpeg -i IN -c copy OUT)",
                    sample.offset, sample.decode_time
                )));
            }
            self.gaps.look(self.track.timing, &sample, next.decode_time);
            sample.duration = duration;
        } else if sample.duration == 0 {
            // Some writers do not know how long the last sample lasts.
            sample.duration = self.last_duration;
        }
        self.last_duration = sample.duration;
        let Timing { delay, rebase, .. } = self.track.timing;
        let moved = sample.decode_time.saturating_add(delay).checked_sub(rebase);
        sample.decode_time = moved.ok_or_else(|| {
            self.track.fail("it begins more than a second before the video and audio of the stream")
        })?;
        if sample.decode_time >= 1 << 62 {
            return Err(self.track.fail("its times are beyond all numbers; remux it first"));
        }
        Ok(Some((at, sample)))
    }

    /// Presentation time of a sample that it gave.
    pub(super) fn presented(&self, sample: &Sample) -> i64 {
        let timing = self.track.timing;
        let decode = (sample.decode_time + timing.rebase).saturating_sub(timing.delay);
        timing.presented(decode.cast_signed() + i64::from(sample.composition_offset))
    }
}

impl FragmentReader {
    fn read(
        &mut self,
        input: &Input<'_>,
        track: &SourceTrack,
    ) -> Result<Option<(Place, Sample)>, Error> {
        loop {
            if !self.is_read {
                let Some(&(offset, size)) = track.file.moofs.get(self.fragment) else {
                    return Ok(None);
                };
                let read = fragment_samples(input, track, offset, size, self.start)?;
                self.has_groups |= read.1;
                (self.samples, self.is_read) = (read.0, true);
            }
            if let Some(sample) = self.samples.get(self.at) {
                let at = Place { fragment: self.fragment, at: self.at };
                self.at += 1;
                return Ok(Some((at, *sample)));
            }
            if let Some(last) = self.samples.last() {
                self.start = last.decode_time.saturating_add(last.duration.into());
            }
            (self.fragment, self.at, self.is_read) = (self.fragment + 1, 0, false);
        }
    }
}

/// The samples that a track has in the `moof` at `offset`; they begin at `start` where it does not say.
/// And whether there are sample groups or sub-samples of them.
fn fragment_samples(
    input: &Input<'_>,
    track: &SourceTrack,
    offset: u64,
    size: u64,
    start: u64,
) -> Result<(Vec<Sample>, bool), Error> {
    let bytes = read_moof(input, offset, size)?;
    let movie = track.file.movie();
    let fragment = Fragment::parse(&bytes, offset, movie, input.len());
    let fragment = fragment.map_err(|error| input.container(error))?;
    let mut samples = Vec::new();
    let mut time = start;
    let mut has_groups = false;
    for traf in fragment.tracks.iter().filter(|traf| traf.track_index == track.index) {
        let mut children = traf.boxed().children().filter_map(Result::ok);
        has_groups |= children.any(|child| child.kind() == b"sbgp" || child.kind() == b"subs");
        if traf.encryption_runs(movie).any(is_protected) {
            return Err(track.fail(GROUP_OF_CLEAR));
        }
        let shift = if traf.decode_time.is_some() { 0 } else { time };
        for mut sample in traf.samples() {
            if samples.len() == MOST_SAMPLES {
                return Err(input.unsuitable(format!(
                    "the moof box at file offset {offset} has more than {MOST_SAMPLES} samples of one \
                     track"
                )));
            }
            sample.decode_time = sample.decode_time.saturating_add(shift);
            time = sample.decode_time.saturating_add(sample.duration.into());
            samples.push(sample);
        }
    }
    Ok((samples, has_groups))
}

fn read_moof(input: &Input<'_>, offset: u64, size: u64) -> Result<Vec<u8>, Error> {
    let size = usize::try_from(size).ok().filter(|size| *size <= MOOF_CAP).ok_or_else(|| {
        input.unsuitable(format!(
            "the moof box at file offset {offset} has {size} bytes; at most {MOOF_CAP} are read"
        ))
    })?;
    let mut bytes = vec![0; size];
    input.read(&mut bytes, offset)?;
    Ok(bytes)
}

/// The most bytes of a `moof`.
const MOOF_CAP: usize = 16 << 20;

/// The most samples of a track in a fragment: a `trun` may state more than there is memory for, in a
/// few bytes.
const MOST_SAMPLES: usize = 1 << 20;
