//! Durations of the MPD, and bit rates by its definition.

use crate::{Files, Track};

/// An `xs:duration` of a number of microseconds, in seconds.
pub(super) fn duration(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    format!("PT{}S", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The end of the longest of tracks, in microseconds. Rounded down: a player that counts segments from it must
/// not find one too many.
pub(super) fn end(tracks: &[&Track]) -> u64 {
    tracks
        .iter()
        .map(|track| scaled(track.end(), 1_000_000, track.timescale.into()))
        .max()
        .unwrap_or(0)
}

/// The longest segment of tracks, in milliseconds, rounded up.
pub(super) fn longest_segment(tracks: &[&Track]) -> u64 {
    let longest = |track: &&Track| {
        let units = track.segments.iter().map(|segment| segment.duration).max().unwrap_or(0);
        (u128::from(units) * 1000).div_ceil(u128::from(track.timescale))
    };
    let millis = tracks.iter().map(longest).max().unwrap_or(0);
    u64::try_from(millis).unwrap_or(u64::MAX)
}

/// A time in units of `to` a second that is in units of `from` a second, rounded down.
pub(super) fn scaled(time: u64, to: u64, from: u64) -> u64 {
    let scaled = u128::from(time) * u128::from(to) / u128::from(from.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A time of a track in seconds, for messages.
pub(super) fn seconds(time: u64, track: &Track) -> String {
    let millis = scaled(time, 1000, track.timescale.into());
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

/// `Representation@bandwidth` (ISO/IEC 23009-1, 5.3.5.2): the smallest bit rate of a channel over which a client
/// that starts at any segment, and begins to play after `min_buffer` milliseconds, never waits. A segment is taken
/// to be needed whole when its presentation starts. The initialization segment and what is around segments on
/// their way do not count.
///
/// Segments i to j have to arrive in the buffer time and the time from the start of i to that of j:
/// `bandwidth >= bits(i..=j) / (min_buffer + start(j) - start(i))` for all i <= j. The worst pair for a bit rate
/// takes one pass to find; its bit rate is the next to try (Dinkelbach's method), until no pair needs more.
pub(super) fn bandwidth(track: &Track, min_buffer: u64) -> u64 {
    // Times are in milliseconds x timescale, so that all is whole; `check` keeps the products within 128 bits.
    let timescale = i128::from(track.timescale);
    let buffer = i128::from(min_buffer.max(1)) * timescale;
    let mut rate = 0_i128;
    loop {
        let (mut worst, mut next) = (0, rate);
        // The bits before a segment, and the start that leaves the least margin for it: of that, its margin,
        // the bits before it and its time.
        let (mut bits, mut tightest) = (0, (i128::MAX, 0, 0));
        for segment in track.sizes() {
            let start = i128::from(segment.start) * 1000;
            tightest = tightest.min((bits - rate * start, bits, start));
            bits += i128::from(segment.bytes) * 8 * 1000 * timescale;
            let (margin, bits_before, from) = tightest;
            let missing = bits - rate * (start + buffer) - margin;
            if missing > worst {
                let time = buffer + start - from;
                (worst, next) = (missing, (bits - bits_before + time - 1) / time);
            }
        }
        if worst == 0 {
            return u64::try_from(rate).unwrap_or(u64::MAX);
        }
        rate = next;
    }
}

/// Whether the segments of tracks start at the same times, as exactly as their timescales can say.
pub(super) fn aligned(tracks: &[&Track]) -> bool {
    let Some((first, others)) = tracks.split_first() else { return true };
    others.iter().all(|track| {
        let same = |a: u64, b: u64| {
            // Equal if they are less than one unit of the coarser timescale apart.
            let (a, b) = (
                u128::from(a) * u128::from(track.timescale),
                u128::from(b) * u128::from(first.timescale),
            );
            a.abs_diff(b) < u128::from(first.timescale.max(track.timescale))
        };
        first.segments.len() == track.segments.len()
            && first.segments.iter().zip(&track.segments).all(|(a, b)| same(a.start, b.start))
    })
}

/// Tracks in files of segments, and those in single files.
pub(super) fn by_files<'a>(tracks: &[&'a Track]) -> (Vec<&'a Track>, Vec<&'a Track>) {
    let cut = tracks.iter().copied().filter(|track| !matches!(track.files, Files::Whole { .. }));
    cut.partition(|track| matches!(track.files, Files::Segments { .. }))
}
