//! Which segments are clear, and which have the keys of which period.

use std::time::Duration;

use super::{
    rendition::{PeriodKey, Rendition},
    time::Time,
};
use crate::{
    Error, Key,
    schedule::{KeySpan, Schedule},
};

/// What holds for segments that begin at these times, which rise. Tracks change their keys together: with
/// the segment of the first set, which begins at one of the times of `leading`, next to which the
/// segment begins.
pub(super) fn of(starts: &[Time], leading: &[Time], schedule: &Schedule) -> Vec<KeySpan> {
    let leading: Vec<Duration> = leading.iter().map(|time| time.duration()).collect();
    let mut spans = Vec::with_capacity(starts.len());
    for start in starts {
        let own = start.duration();
        let next = leading.partition_point(|time| *time < own);
        let around = [next.checked_sub(1), Some(next)];
        let times = around.into_iter().flatten().filter_map(|index| leading.get(index).copied());
        let nearest = times.min_by_key(|time| time.abs_diff(own));
        // What goes on behind the end of the first set has its own times.
        let time = nearest.filter(|time| time.abs_diff(own) <= MOST).unwrap_or(own);
        spans.push(schedule.at(time));
    }
    spans
}

/// How far segments are from those of the first set: an audio frame, or a period of few frames.
const MOST: Duration = Duration::from_millis(500);

/// The key of a span, of those of a track; none if it is clear.
pub(super) fn key_of(span: KeySpan, keys: &[PeriodKey]) -> Option<&Key> {
    let KeySpan::Period(number) = span else { return None };
    let is_for = |(period, _): &&PeriodKey| period.is_none_or(|period| period == number);
    keys.iter().find(is_for).map(|(_, key)| key)
}

/// Refuses a period without key, and a clear lead that covers all of a track.
pub(super) fn check(renditions: &[Rendition]) -> Result<(), Error> {
    for rendition in renditions.iter().filter(|rendition| rendition.protection.is_some()) {
        if rendition.spans.iter().all(|span| *span == KeySpan::Clear) {
            return Err(rendition.source.fail(format!(
                "all segments of {} begin within the clear lead, so that nothing of it would be protected; make \
                 it shorter (--clear-lead), or the segments (--segment)",
                rendition.name
            )));
        }
        let mut protector = rendition.protector.clone();
        let mut last = None;
        // From the end on: the error then says how many periods there are.
        for &span in rendition.spans.iter().rev().filter(|span| **span != KeySpan::Clear) {
            if last.replace(span) != Some(span) {
                protector.begin_span(&rendition.source.file.input(), &rendition.movie, span)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyPeriods;

    #[test]
    fn audio_changes_with_video() {
        let schedule = Schedule {
            lead: Duration::from_secs(4),
            periods: KeyPeriods::Every(Duration::from_secs(8)),
        };
        let times = |times: &[i64], timescale| -> Vec<Time> {
            times.iter().map(|&units| Time { units, timescale }).collect()
        };
        let video = times(&[0, 4, 8, 12, 16], 1);
        let periods = [KeySpan::Clear, KeySpan::Period(0), KeySpan::Period(1), KeySpan::Period(1)];
        let expected = [&periods[..], &[KeySpan::Period(2)]].concat();
        assert_eq!(of(&video, &video, &schedule), expected);
        // Frames of 21 ms, each before the video's time, and a segment behind the end of the video.
        let audio = times(&[0, 3990, 7980, 11990, 15985, 19990], 1000);
        let expected = [&expected[..], &[KeySpan::Period(2)]].concat();
        assert_eq!(of(&audio, &video, &schedule), expected);
    }
}
