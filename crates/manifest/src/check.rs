//! What both manifests rely on: after [`presentation`], times can be added and sizes subtracted.

use std::collections::BTreeSet;

use crate::{Error, Files, Media, Presentation, Segment, SwitchingSet, Text, Track, Video};

/// The most units of time and the most bytes of a track. Far beyond any film, it keeps the products of times,
/// sizes and bit rates within 128 bits.
const LIMIT: u64 = 1 << 50;
/// The longest presentation in seconds, a century, so that microseconds of it are far from the end of 64 bits.
const SECONDS: u64 = 1 << 32;

pub(crate) fn presentation(presentation: &Presentation) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    for (index, set) in presentation.sets.iter().enumerate() {
        let fault = |reason: String| Error::Set { set: index, reason };
        let Some(first) = set.tracks.first() else {
            return Err(fault("it has no tracks; leave it out".into()));
        };
        for track in &set.tracks {
            if track.media.name() != first.media.name() {
                return Err(fault(format!(
                    "{} is {}, but {} is {}; put them into sets of their own",
                    first.name,
                    first.media.name(),
                    track.name,
                    track.media.name()
                )));
            }
            if !names.insert(&track.name) {
                return Err(Error::track(
                    track,
                    "there is another of this name; names must differ",
                ));
            }
            self::track(track)?;
        }
        schemes(set).map_err(fault)?;
        trick_play(presentation, set).map_err(fault)?;
    }
    Ok(())
}

/// Players do not switch between schemes (ISO/IEC 23000-19, 7.3.4).
fn schemes(set: &SwitchingSet) -> Result<(), String> {
    let mut schemes =
        set.tracks.iter().filter_map(|track| Some((&track.name, track.first_protection()?.scheme)));
    let Some((first, scheme)) = schemes.next() else { return Ok(()) };
    match schemes.find(|(_, other)| *other != scheme) {
        None => Ok(()),
        Some((name, other)) => Err(format!(
            "{first} is protected by {scheme}, but {name} by {other}; put them into sets of their own"
        )),
    }
}

/// A set of key frames belongs to another set of video that is not one itself.
fn trick_play(presentation: &Presentation, set: &SwitchingSet) -> Result<(), String> {
    let Some(main) = set.trick_play_of else { return Ok(()) };
    let is_video = |set: &SwitchingSet| {
        matches!(set.tracks.first(), Some(Track { media: Media::Video(_), .. }))
    };
    match presentation.sets.get(main) {
        None => Err(format!("it is for trick play of set {main}, which does not exist")),
        Some(main_set)
            if main_set.trick_play_of.is_some() || !is_video(main_set) || !is_video(set) =>
        {
            Err(format!(
                "it is for trick play of set {main}, but both must be video, and that one the main content"
            ))
        }
        Some(_) => Ok(()),
    }
}

fn track(track: &Track) -> Result<(), Error> {
    let fault = |reason: String| Err(Error::track(track, reason));
    if track.name.is_empty()
        || !track.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    {
        return fault("a name must be of letters, digits, - and _".into());
    }
    if !(1..=3).contains(&track.sap_type) {
        return fault(format!(
            "its segments begin with stream access points of type {}; players begin at those of types 1 to 3",
            track.sap_type
        ));
    }
    if track.timescale == 0 {
        return fault("its timescale is 0; it must be the units per second".into());
    }
    let is_file = matches!(track.media, Media::Text(Text::WebVtt | Text::Ttml));
    if track.codecs.is_empty() && !is_file {
        return fault("its codecs are not known; without them no player can choose it".into());
    }
    protection(track)?;
    if let Media::Video(Video { width, height, pixel_aspect_ratio: (x, y), frame_rate, .. }) =
        &track.media
    {
        let (frames, seconds) = frame_rate.unwrap_or((1, 1));
        if [*width, *height, *x, *y, frames, seconds].contains(&0) {
            return fault("its size, the shape of its pixels or its frame rate has a 0".into());
        }
    }
    paths(track, is_file)?;
    segments(track)
}

/// Spans are in order, and one scheme is that of the whole track (ISO/IEC 23000-19, 8.1).
fn protection(track: &Track) -> Result<(), Error> {
    let fault = |reason: String| Err(Error::track(track, reason));
    let mut next = 0;
    for (number, span) in track.protection.iter().enumerate() {
        let in_order = if number == 0 { span.first == 0 } else { span.first >= next };
        if !in_order || span.first >= track.segments.len() {
            return fault(format!(
                "protection span {} begins with segment {}: the first one begins with segment 1, and each \
                 of the others behind the one before it, with a segment that is there",
                number + 1,
                span.first.saturating_add(1)
            ));
        }
        next = span.first + 1;
    }
    let Some(first) = track.first_protection() else { return Ok(()) };
    for protection in track.protection.iter().filter_map(|span| span.protection.as_ref()) {
        if ![*b"cenc", *b"cbcs"].contains(&protection.scheme.0) {
            return fault(format!(
                "it is protected by {}, which manifests cannot express; use cenc or cbcs",
                protection.scheme
            ));
        }
        if protection.scheme != first.scheme {
            return fault(format!(
                "it is protected by {} and by {}; a track has one scheme",
                first.scheme, protection.scheme
            ));
        }
    }
    Ok(())
}

fn paths(track: &Track, is_file: bool) -> Result<(), Error> {
    let fault = |reason: &str| Err(Error::track(track, reason));
    let paths = match &track.files {
        Files::Segments { init, media } => {
            if media.matches("$Number$").count() != 1 {
                return fault("the path of its segments must have $Number$ in it, once");
            }
            if init.is_none() && !is_file {
                return fault("it has no initialization segment; only text files go without");
            }
            vec![Some(media), init.as_ref()]
        }
        Files::Single { path, init, index } => {
            if is_file {
                return fault(
                    "text files have no segment index; use Files::Whole or Files::Segments",
                );
            }
            if init.is_empty() || index.is_empty() {
                return fault("its initialization segment or its segment index is empty");
            }
            vec![Some(path)]
        }
        Files::Whole { path } => {
            if !is_file || track.segments.len() != 1 {
                return fault("Files::Whole is for text files, as one segment");
            }
            vec![Some(path)]
        }
    };
    let bad = |path: &String| {
        path.is_empty()
            || path.starts_with('#')
            || path.chars().any(|c| c.is_whitespace() || c.is_control() || c == '"')
    };
    match paths.into_iter().flatten().find(|path| bad(path)) {
        Some(path) => Err(Error::Text {
            what: format!("a path of track {}", track.name),
            text: path.clone(),
            reason: "a URL must not be empty, begin with # or have quotes or white space; escape it",
        }),
        None => Ok(()),
    }
}

fn segments(track: &Track) -> Result<(), Error> {
    let fault = |number: usize, reason: &str| {
        Err(Error::track(track, format!("segment {} {reason}", number + 1)))
    };
    if track.segments.is_empty() {
        return Err(Error::track(track, "it has no segments; leave it out"));
    }
    let (mut end, mut bytes) = (0, 0_u64);
    for (number, segment) in track.segments.iter().enumerate() {
        let Segment { start, duration, bytes: range, key_frames } = segment;
        if *start < end {
            return fault(
                number,
                &format!("starts at {start}, before the end of the one before it ({end})"),
            );
        }
        if *duration == 0 {
            return fault(number, "has no duration");
        }
        if range.is_empty() {
            return fault(number, "has no bytes");
        }
        end = start.saturating_add(*duration);
        bytes = bytes.saturating_add(range.end - range.start);
        if end > LIMIT.min(SECONDS * u64::from(track.timescale)) {
            return fault(number, "ends after 2^50 units or 2^32 seconds");
        }
        if bytes > LIMIT || range.end > LIMIT {
            return fault(number, "has bytes beyond 2^50 of its track");
        }
        let in_order = key_frames.is_sorted_by(|a, b| a.start < b.start);
        let inside = key_frames.iter().all(|frame| {
            (*start..end).contains(&frame.start)
                && !frame.bytes.is_empty()
                && frame.bytes.start >= range.start
                && frame.bytes.end <= range.end
        });
        if !in_order || !inside {
            return fault(number, "has a key frame that is not inside of it, or out of order");
        }
    }
    Ok(())
}
