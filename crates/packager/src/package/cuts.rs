//! Where segments begin: at sync samples that all tracks of a switching set have in common.

use lanelock_mp4::{Sample, TrackKind};

use super::{
    access::sap_type,
    source::{Gaps, SourceTrack},
    time::Time,
};
use crate::{Error, frames::Frames};

/// The segments of a track.
#[derive(Debug, Default)]
pub(super) struct Segments {
    pub(super) list: Vec<Segment>,
    /// Presentation time of the end, in units of the track.
    pub(super) end: i64,
    pub(super) frames: Frames,
    /// Whether fragments have sample groups or sub-samples, which new fragments take over.
    pub(super) has_groups: bool,
    pub(super) gaps: Gaps,
}

/// A segment: where its samples are.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) fragments: Vec<FragmentCut>,
    /// Earliest presentation time.
    pub(super) earliest: i64,
    /// Presentation time of its first sample, which is a sync sample or not.
    pub(super) first: (i64, bool),
    first_sample: Sample,
    /// Type of the stream access point that it begins with; 0 if it begins with none.
    pub(super) sap_type: u8,
    pub(super) bytes: u64,
}

/// A fragment of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct FragmentCut {
    pub(super) samples: u32,
    pub(super) decode_time: u64,
    pub(super) description_index: u32,
    /// Whether it begins with a sync sample, and its presentation time.
    pub(super) sync: bool,
    pub(super) presented: i64,
}

/// What decides where a segment begins.
pub(super) enum Rule<'a> {
    /// At a sync sample, when the segment has so many units.
    Lead(u64),
    /// At sync samples with just these presentation times, which the track of this name has; behind them
    /// as [`Self::Lead`].
    Follow(&'a [i64], &'a str, u64),
    /// At the first sample that reaches each of these times, the first of which is that of the first
    /// segment; behind them when the segment has half as much again as so many units, since a track may
    /// be a little longer than the one that leads.
    Near(&'a [Time], u64),
    /// At the first sample that reaches each multiple of so many units.
    Every(u64),
}

/// Cuts a track into segments, and these into fragments of at least `fragment` units that begin at sync
/// samples.
pub(super) fn cut(
    source: &SourceTrack,
    name: &str,
    rule: &Rule<'_>,
    fragment: Option<u64>,
) -> Result<Segments, Error> {
    let mut samples = source.samples()?;
    let mut segments = Segments::default();
    let mut cutter = Cutter { rule, taken: 0, nearest: None };
    let timescale = source.track().timescale;
    let (mut fragment_start, mut fragments) = (0, 0);
    while let Some((_, sample)) = samples.next()? {
        let presented = samples.presented(&sample);
        let time = Time { units: presented, timescale };
        let begins = match segments.list.last() {
            None => {
                cutter.first(source, name, &sample, time)?;
                true
            }
            Some(segment) => cutter.begins(source, name, segment.first.0, &sample, time)?,
        };
        let last = segments.list.last().and_then(|segment| segment.fragments.last());
        let of_other_entry =
            last.is_some_and(|last| last.description_index != sample.description_index);
        let age = presented.saturating_sub(fragment_start);
        let is_old = fragment.is_some_and(|least| u64::try_from(age).is_ok_and(|age| age >= least));
        if begins {
            segments.list.push(Segment {
                fragments: Vec::with_capacity(1),
                earliest: presented,
                first: (presented, sample.sync),
                first_sample: sample,
                sap_type: 0,
                bytes: 0,
            });
        }
        let Some(segment) = segments.list.last_mut() else { continue };
        if begins || of_other_entry || is_old && sample.sync {
            fragment_start = presented;
            fragments += 1;
            if fragments > MOST_FRAGMENTS {
                return Err(source.fail(format!(
                    "it would have more than {MOST_FRAGMENTS} segments and fragments; make them longer \
                     (--segment, --fragment)"
                )));
            }
            segment.fragments.push(FragmentCut {
                samples: 0,
                decode_time: sample.decode_time,
                description_index: sample.description_index,
                sync: sample.sync,
                presented,
            });
        }
        if let Some(fragment) = segment.fragments.last_mut() {
            fragment.samples += 1;
            if fragment.samples > MOST_NEW_SAMPLES {
                return Err(source.fail(format!(
                    "a fragment would have more than {MOST_NEW_SAMPLES} samples; make segments or fragments \
                     shorter (--segment, --fragment)"
                )));
            }
        }
        segment.earliest = segment.earliest.min(presented);
        segment.bytes = segment.bytes.saturating_add(sample.size.into());
        let end = presented.saturating_add(sample.duration.into());
        segments.end = segments.end.max(end);
        segments.frames.push(&sample, timescale);
    }
    for segment in segments.list.iter_mut().filter(|segment| segment.first.1) {
        let is_led = segment.earliest < segment.first.0;
        segment.sap_type = sap_type(source, &segment.first_sample, is_led)?;
    }
    segments.has_groups = samples.has_groups();
    segments.gaps = samples.gaps();
    cutter.finish(source, name, &segments)?;
    if segments.list.is_empty() {
        return Err(source.fail("it has no samples; leave it out (--track chooses tracks)"));
    }
    if segments.end <= 0 || segments.frames.duration == 0 {
        return Err(source.fail("it has no duration: nothing of it would be presented"));
    }
    Ok(segments)
}

/// The most fragments of a track, whose places are kept: 29 hours of 100 ms, 72 days of 6 s. Samples of no
/// bytes would make any number of them out of a small file.
const MOST_FRAGMENTS: u32 = 1 << 20;

/// The most samples of a fragment, which are in memory together: 87 seconds of PCM audio at 48 kHz, in which
/// each value is a sample.
const MOST_NEW_SAMPLES: u32 = 1 << 22;

/// Finds where segments begin.
struct Cutter<'a> {
    rule: &'a Rule<'a>,
    /// How many of the times of the rule are behind.
    taken: usize,
    /// The last sync sample that did not begin a segment.
    nearest: Option<i64>,
}

impl Cutter<'_> {
    /// The first sample.
    fn first(
        &mut self,
        source: &SourceTrack,
        name: &str,
        sample: &Sample,
        time: Time,
    ) -> Result<(), Error> {
        match self.rule {
            Rule::Follow(times, leader, _) => {
                let wanted = times.first().copied().unwrap_or(time.units);
                if wanted != time.units {
                    return Err(source.fail(format!(
                        "{name} begins at {:.3} s, and {leader} at {:.3} s: players could not switch \
                         between them; encode both from one source, with the same frame rate and key \
                         frames at the same times",
                        time.seconds(),
                        Time { units: wanted, ..time }.seconds()
                    )));
                }
                self.taken = 1;
            }
            // Audio may begin before the others, with what its decoder needs first.
            Rule::Near(..) => {
                self.taken = 1;
                self.pass(time);
            }
            Rule::Lead(_) | Rule::Every(_) => {}
        }
        if !sample.sync && source.kind() == TrackKind::Video {
            return Err(source.fail(
                "its first sample is no sync sample, so that players could not begin to play; cut it at a \
                 sync sample, or encode it anew",
            ));
        }
        Ok(())
    }

    /// Leaves times behind that `time` reaches.
    fn pass(&mut self, time: Time) {
        if let Rule::Near(times, _) = self.rule {
            while times.get(self.taken).is_some_and(|next| time.reaches(*next)) {
                self.taken += 1;
            }
        }
    }

    /// Whether a segment begins with a sample that is not the first; the one before it began at `start`.
    fn begins(
        &mut self,
        source: &SourceTrack,
        name: &str,
        start: i64,
        sample: &Sample,
        time: Time,
    ) -> Result<bool, Error> {
        let age = u64::try_from(time.units.saturating_sub(start)).unwrap_or(0);
        match self.rule {
            Rule::Lead(least) => Ok(sample.sync && age >= *least),
            Rule::Every(least) => {
                let number = |units: i64| u64::try_from(units).unwrap_or(0) / (*least).max(1);
                Ok(number(time.units) > number(start))
            }
            Rule::Near(times, least) => {
                let before = self.taken;
                self.pass(time);
                let is_behind = before == times.len() && age >= least.saturating_add(least / 2);
                Ok(self.taken > before || is_behind)
            }
            Rule::Follow(times, leader, least) => {
                if !sample.sync {
                    return Ok(false);
                }
                let Some(&wanted) = times.get(self.taken) else { return Ok(age >= *least) };
                if time.units > wanted {
                    return Err(misaligned(source, name, leader, time, wanted, self.nearest));
                }
                let begins = time.units == wanted;
                self.taken += usize::from(begins);
                self.nearest = Some(time.units);
                Ok(begins)
            }
        }
    }

    /// Looks for times that no sample had.
    fn finish(self, source: &SourceTrack, name: &str, segments: &Segments) -> Result<(), Error> {
        let Rule::Follow(times, leader, _) = self.rule else { return Ok(()) };
        let Some(&wanted) = times.get(self.taken) else { return Ok(()) };
        let timescale = source.track().timescale;
        let seconds = |units| Time { units, timescale }.seconds();
        let before = self.nearest.map(seconds);
        let before = before.map_or_else(String::new, |before| {
            format!(", and the last one before it is at {before:.3} s")
        });
        Err(source.fail(format!(
            "{leader} has a sync sample at {:.3} s, where a segment is to begin, and {name} has none from \
             there on{before} (it ends at {:.3} s): players could not switch between them; encode both \
             with key frames at the same times (ffmpeg -force_key_frames 'expr:gte(t,n_forced*2)')",
            seconds(wanted),
            seconds(segments.end)
        )))
    }
}

/// A rendition whose sync samples are elsewhere.
fn misaligned(
    source: &SourceTrack,
    name: &str,
    leader: &str,
    found: Time,
    wanted: i64,
    before: Option<i64>,
) -> Error {
    let seconds = |units| Time { units, ..found }.seconds();
    let before =
        before.map_or_else(String::new, |before| format!("at {:.3} s and ", seconds(before)));
    source.fail(format!(
        "{leader} has a sync sample at {:.3} s, where a segment is to begin, and {name} has none there: \
         the nearest are {before}at {:.3} s; encode both with key frames at the same times (ffmpeg \
         -force_key_frames 'expr:gte(t,n_forced*2)'), or choose a --segment that ends where both have one",
        seconds(wanted),
        seconds(found.units)
    ))
}

impl Segments {
    /// Presentation times of the first samples.
    pub(super) fn starts(&self) -> Vec<i64> {
        self.list.iter().map(|segment| segment.first.0).collect()
    }

    /// What is to be said of gaps in the track; of key frames alone the track that they are of says it.
    pub(super) fn gap_warning(&self, source: &SourceTrack) -> Option<String> {
        let (from, to) = self.gaps.first.filter(|_| !source.only_sync)?;
        let track = source.track();
        let seconds = |units| Time { units, timescale: track.timescale }.seconds();
        let more = match self.gaps.more {
            0 => String::new(),
            1 => ", and there is another gap".into(),
            more => format!(", and there are {more} more gaps"),
        };
        Some(format!(
            "{}: track {} ({}) has no samples from {:.3} s to {:.3} s{more}: the sample before the gap \
             lasts longer, and what follows keeps its time",
            source.file.input().name,
            track.id,
            track.codec(),
            seconds(from),
            seconds(to)
        ))
    }

    /// The highest type of the stream access points that segments begin with.
    pub(super) fn sap_type(&self) -> u8 {
        self.list.iter().map(|segment| segment.sap_type).max().unwrap_or(0)
    }

    /// Start and duration of each segment, from its earliest presentation time to the next one's; what
    /// is before 0 is not presented.
    pub(super) fn times(&self) -> Vec<(u64, u64)> {
        let starts = self.list.iter().map(|segment| unsigned(segment.earliest));
        let ends = starts.clone().skip(1).chain([unsigned(self.end)]);
        starts.zip(ends).map(|(start, end)| (start, end.saturating_sub(start))).collect()
    }
}

/// A presentation time; what is before 0 is not presented.
pub(super) fn unsigned(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}
