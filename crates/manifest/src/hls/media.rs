//! Media playlists (RFC 8216bis, 4.4.3 and 4.4.4).

use std::ops::Range;

use super::{
    keys::{self, KeyWay},
    rate::Rate,
    tag::Tag,
};
use crate::{Error, Files, Media, Text, Track, model::Extent};

/// A media playlist, and what the multivariant playlist says of it.
pub(super) struct MediaPlaylist<'a> {
    pub(super) track: &'a Track,
    /// Relative to the multivariant playlist, beside which it is.
    pub(super) name: String,
    pub(super) rate: Rate,
    /// Its lines.
    pub(super) text: String,
}

impl<'a> MediaPlaylist<'a> {
    /// Of all segments of a track; `target` is `EXT-X-TARGETDURATION`.
    pub(super) fn of_segments(track: &'a Track, target: u64) -> Result<Self, Error> {
        if let (Files::Whole { .. } | Files::Segments { init: None, .. }, Media::Text(Text::Ttml)) =
            (&track.files, &track.media)
        {
            return Err(Error::track(track, "HLS has no TTML files; use WebVTT or TTML in MP4"));
        }
        let extents: Vec<_> = track.sizes().collect();
        let mut lines = head(track, target, None)?;
        let mut keys = Keys::of(track)?;
        for (number, (segment, extent)) in track.segments.iter().zip(&extents).enumerate() {
            keys.push(&mut lines, number);
            let range = matches!(track.files, Files::Single { .. }).then_some(&segment.bytes);
            push_segment(&mut lines, track, number, extent, range);
        }
        let name = format!("{}.m3u8", track.name);
        Ok(Self { track, name, rate: Rate::of(&extents, track, target), text: end(lines) })
    }

    /// Of the key frames of a track alone (4.4.3.6); none if they are not known.
    pub(super) fn of_key_frames(track: &'a Track) -> Result<Option<Self>, Error> {
        let mut frames: Vec<(usize, &Range<u64>, Extent)> = Vec::new();
        let mut next = track.end();
        for (number, segment) in track.segments.iter().enumerate().rev() {
            for frame in segment.key_frames.iter().rev() {
                // Each lasts until the next one, or the end.
                let bytes = frame.bytes.end - frame.bytes.start;
                frames.push((
                    number,
                    &frame.bytes,
                    Extent { start: frame.start, duration: next - frame.start, bytes },
                ));
                next = frame.start;
            }
        }
        frames.reverse();
        if frames.is_empty() {
            return Ok(None);
        }
        let extents: Vec<_> = frames.iter().map(|(_, _, extent)| *extent).collect();
        // Before version 6 of the protocol, it is not rounded but an upper bound.
        let target = longest(&extents, track).div_ceil(1_000_000).max(1);
        let mut lines = head(track, target, Some("#EXT-X-I-FRAMES-ONLY"))?;
        let mut keys = Keys::of(track)?;
        for (number, range, extent) in &frames {
            keys.push(&mut lines, *number);
            push_segment(&mut lines, track, *number, extent, Some(range));
        }
        let name = format!("{}-iframes.m3u8", track.name);
        Ok(Some(Self { track, name, rate: Rate::of(&extents, track, target), text: end(lines) }))
    }
}

/// `EXT-X-TARGETDURATION` of playlists that must have the same (6.2.4): the longest segment, rounded to a second.
pub(super) fn target(tracks: &[&Track]) -> u64 {
    let longest = |track: &&Track| {
        let micros = longest(&track.sizes().collect::<Vec<_>>(), track);
        // Text files need no map, so that they have a version before 6, which did not round.
        let up = if version(track, false) < 6 { 999_999 } else { 500_000 };
        (micros + up) / 1_000_000
    };
    tracks.iter().map(longest).max().unwrap_or(0).max(1)
}

/// The longest `EXTINF` in microseconds, as [`push_segment`] writes it.
fn longest(extents: &[Extent], track: &Track) -> u64 {
    extents.iter().map(|extent| extinf(extent, track)).max().unwrap_or(0)
}

/// What the tags of a playlist need (section 8).
fn version(track: &Track, key_frames: bool) -> u32 {
    let has_map = !matches!(track.files, Files::Whole { .. } | Files::Segments { init: None, .. });
    match (has_map, key_frames) {
        (false, _) => 3,    // EXTINF with decimals
        (true, true) => 5,  // EXT-X-MAP, KEYFORMAT
        (true, false) => 6, // EXT-X-MAP where not only key frames are
    }
}

fn head(track: &Track, target: u64, key_frames: Option<&str>) -> Result<Vec<String>, Error> {
    let version = version(track, key_frames.is_some());
    let mut lines = vec![
        "#EXTM3U".to_owned(),
        format!("#EXT-X-VERSION:{version}"),
        format!("#EXT-X-TARGETDURATION:{target}"),
        "#EXT-X-PLAYLIST-TYPE:VOD".to_owned(),
    ];
    lines.extend(key_frames.map(str::to_owned));
    let map = Tag::new("EXT-X-MAP");
    match &track.files {
        Files::Segments { init: Some(init), .. } => {
            lines.push(map.quoted("URI", init)?.into_line());
        }
        Files::Single { path, init, .. } => {
            lines
                .push(map.quoted("URI", path)?.quoted("BYTERANGE", &byte_range(init))?.into_line());
        }
        Files::Segments { init: None, .. } | Files::Whole { .. } => {}
    }
    Ok(lines)
}

/// The `EXT-X-KEY` lines of a track that are still to be written. They are behind `EXT-X-MAP`: keys apply to the
/// initialization segments behind them as well (4.4.4.4), and none of those is encrypted.
struct Keys {
    spans: std::iter::Peekable<std::vec::IntoIter<(usize, Vec<KeyWay>)>>,
    /// Whether a key applies.
    applies: bool,
}

impl Keys {
    fn of(track: &Track) -> Result<Self, Error> {
        let spans = keys::spans("EXT-X-KEY", track)?.into_iter().peekable();
        Ok(Self { spans, applies: false })
    }

    /// Writes what changes up to the segment of this index.
    fn push(&mut self, lines: &mut Vec<String>, segment: usize) {
        let mut last = None;
        while let Some(span) = self.spans.next_if(|(first, _)| *first <= segment) {
            last = Some(span.1);
        }
        match last {
            Some(ways) if ways.is_empty() => {
                lines.extend(self.applies.then(|| "#EXT-X-KEY:METHOD=NONE".to_owned()));
                self.applies = false;
            }
            Some(ways) => {
                lines.extend(ways.into_iter().map(|way| way.line));
                self.applies = true;
            }
            None => {}
        }
    }
}

fn byte_range(range: &Range<u64>) -> String {
    format!("{}@{}", range.end - range.start, range.start)
}

/// Microseconds of the duration of a segment: between the rounded times of its start and its end, so that the sum
/// of any number of segments is as exact as one of them.
fn extinf(extent: &Extent, track: &Track) -> u64 {
    let micros = |time: u64| {
        let timescale = u128::from(track.timescale);
        let micros = (u128::from(time) * 1_000_000 + timescale / 2) / timescale;
        u64::try_from(micros).unwrap_or(u64::MAX)
    };
    micros(extent.start + extent.duration) - micros(extent.start)
}

fn push_segment(
    lines: &mut Vec<String>,
    track: &Track,
    number: usize,
    extent: &Extent,
    range: Option<&Range<u64>>,
) {
    let micros = extinf(extent, track);
    lines.push(format!("#EXTINF:{}.{:06},", micros / 1_000_000, micros % 1_000_000));
    lines.extend(range.map(|range| format!("#EXT-X-BYTERANGE:{}", byte_range(range))));
    lines.push(match &track.files {
        Files::Segments { media, .. } => media.replace("$Number$", &(number + 1).to_string()),
        Files::Single { path, .. } | Files::Whole { path } => path.clone(),
    });
}

fn end(mut lines: Vec<String>) -> String {
    lines.push("#EXT-X-ENDLIST\n".to_owned());
    lines.join("\n")
}
