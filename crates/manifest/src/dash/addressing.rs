//! Where segments are (ISO/IEC 23009-1, 5.3.9).

use super::{Template, time, xml::Element};
use crate::{Error, Files, Segment, Track};

/// What all sets need to know.
pub(super) struct Period {
    /// In microseconds.
    pub(super) end: u64,
    /// `@minBufferTime` in milliseconds.
    pub(super) min_buffer: u64,
    pub(super) template: Template,
}

/// The elements that say where the segments of tracks are: one for the whole set, if it is right for each of
/// its tracks, or those of each track.
pub(super) fn addressing(
    tracks: &[&Track],
    period: &Period,
) -> Result<(Vec<Element>, Vec<Vec<Element>>), Error> {
    let each = |by_id| {
        tracks.iter().map(|track| of_track(track, period, by_id)).collect::<Result<Vec<_>, _>>()
    };
    let shared = each(true)?;
    if shared
        .iter()
        .all(|elements| *elements == shared[0] && elements.iter().all(|e| e.is("SegmentTemplate")))
    {
        return Ok((shared[0].clone(), vec![Vec::new(); tracks.len()]));
    }
    Ok((Vec::new(), each(false)?))
}

/// The same of one track; `by_id` writes its name in paths as `$RepresentationID$`.
fn of_track(track: &Track, period: &Period, by_id: bool) -> Result<Vec<Element>, Error> {
    let url = |path: &str| {
        // A dollar that does not belong to an identifier is doubled (5.3.9.4.4).
        let escaped = path
            .split("$Number$")
            .map(|part| part.replace('$', "$$"))
            .collect::<Vec<_>>()
            .join("$Number$");
        if !by_id {
            return escaped;
        }
        let folder = |name| if name == track.name { "$RepresentationID$" } else { name };
        escaped.split('/').map(folder).collect::<Vec<_>>().join("/")
    };
    let range = |range: &std::ops::Range<u64>| format!("{}-{}", range.start, range.end - 1);
    Ok(match &track.files {
        Files::Segments { init, media } => {
            let template = Element::new("SegmentTemplate")
                .attribute("timescale", track.timescale)
                .optional("initialization", init.as_deref().map(url))
                .attribute("media", url(media))
                .attribute("startNumber", 1);
            vec![match period.template {
                Template::Timeline => template.children([timeline(&track.segments)]),
                Template::Duration => template.attribute("duration", duration(track, period)?),
            }]
        }
        Files::Single { path, init, index } => vec![
            Element::with_text("BaseURL", path),
            Element::new("SegmentBase")
                .attribute("timescale", track.timescale)
                .attribute("indexRange", range(index))
                .children([Element::new("Initialization").attribute("range", range(init))]),
        ],
        Files::Whole { path } => vec![Element::with_text("BaseURL", path)],
    })
}

/// A `SegmentTimeline` in which segments of one duration without a gap are one element (5.3.9.6).
fn timeline(segments: &[Segment]) -> Element {
    let mut runs: Vec<(Option<u64>, u64, usize)> = Vec::new();
    let mut end = None;
    for segment in segments {
        let start = (end != Some(segment.start)).then_some(segment.start);
        match runs.last_mut() {
            Some((_, duration, repeats)) if start.is_none() && *duration == segment.duration => {
                *repeats += 1;
            }
            _ => runs.push((start, segment.duration, 0)),
        }
        end = Some(segment.start + segment.duration);
    }
    Element::new("SegmentTimeline").children(runs.into_iter().map(|(start, duration, repeats)| {
        Element::new("S")
            .optional("t", start)
            .attribute("d", duration)
            .optional("r", (repeats > 0).then_some(repeats))
    }))
}

/// The `@duration` of a template: the mean of all segments but the last, within what makes a client count as
/// many segments as there are.
fn duration(track: &Track, period: &Period) -> Result<u64, Error> {
    let segments = &track.segments;
    let fault = |number: usize, reason: String| {
        let segment = &segments[number];
        let seconds = |time| time::seconds(time, track);
        let times = format!(
            "from {} s to {} s",
            seconds(segment.start),
            seconds(segment.start + segment.duration)
        );
        let advice = "use the segment timeline, or encode with segments of one duration";
        Err(Error::track(track, format!("segment {} ({times}) {reason}; {advice}", number + 1)))
    };
    let last = segments.len() - 1;
    let count = segments.len() as u64;
    // The end of the period in units of the track may lie between two of them.
    let before_end = time::scaled(period.end, track.timescale.into(), 1_000_000).max(1);
    let end = before_end
        + u64::from(time::scaled(before_end, 1_000_000, track.timescale.into()) < period.end);
    let mean = match segments[last].start - segments[0].start {
        0 => end,
        time => (time + (count - 1) / 2) / (count - 1),
    };
    // Clients expect segments while count x @duration is before the end of the period (DASH-IF IOP).
    let least = end.div_ceil(count);
    let most = if last == 0 { u64::MAX } else { (before_end - 1) / (count - 1) };
    let duration = mean.clamp(least, most.max(least)).max(1);
    for (number, segment) in segments.iter().enumerate() {
        let nominal = number as u64 * duration;
        if segment.start.abs_diff(nominal) > duration / 2 {
            let nominal = time::seconds(nominal, track);
            return fault(
                number,
                format!(
                    "is more than half a segment away from where @duration expects it, {nominal} s"
                ),
            );
        }
    }
    if duration > most {
        return fault(
            last,
            "begins too late or too early for @duration to count as many segments".into(),
        );
    }
    Ok(duration)
}
