//! DASH: the MPD (ISO/IEC 23009-1).

mod addressing;
mod protection;
mod set;
mod time;
mod xml;

use crate::{Error, Presentation, Track, check};
use xml::Element;

/// How the MPD is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DashOptions {
    /// How it says where segments in files of their own begin.
    pub template: Template,
}

impl DashOptions {
    /// With a form of the segment templates.
    #[must_use]
    pub fn with_template(self, template: Template) -> Self {
        Self { template }
    }
}

/// How a `SegmentTemplate` says where segments begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Template {
    /// All of them, exactly, in a `SegmentTimeline`.
    #[default]
    Timeline,
    /// By one `@duration`, which none may miss by more than half of it (DASH-IF IOP).
    Duration,
}

/// Writes the MPD of a presentation, as a text with a line for each element.
///
/// Its `@minBufferTime` is the longest segment, and `@bandwidth` what a client needs to play without a pause
/// after that time, wherever it starts (5.3.5.2).
///
/// # Errors
/// If the presentation cannot be expressed: [`Error`] names the track and what to do.
pub fn dash(presentation: &Presentation, options: &DashOptions) -> Result<String, Error> {
    check::presentation(presentation)?;
    let all = set::members(presentation);
    if all.is_empty() {
        return Err(Error::Nothing { what: "track", manifest: "DASH" });
    }
    let tracks: Vec<&Track> =
        all.iter().flat_map(|members| members.tracks.iter().copied()).collect();
    let (segments, single) = time::by_files(&tracks);
    let whole = segments.is_empty() && single.is_empty();
    let cut = [segments.as_slice(), single.as_slice()].concat();
    let period = addressing::Period {
        end: time::end(&tracks),
        min_buffer: time::longest_segment(if whole { &tracks } else { &cut }),
        template: options.template,
    };
    let sets = all
        .iter()
        .map(|members| set::adaptation_set(presentation, &all, members, &period))
        .collect::<Result<Vec<_>, _>>()?;
    // Longest segments are told of files that are segments, and of segments inside of files (5.3.1.2).
    let longest = |tracks: &[&Track]| {
        (!tracks.is_empty()).then(|| time::duration(time::longest_segment(tracks) * 1000))
    };
    let children =
        Element::new("Period").attribute("id", 0).attribute("start", "PT0S").children(sets);
    let namespace = |prefix, uri| children.uses(prefix).then_some(uri);
    Element::new("MPD")
        .attribute("xmlns", "urn:mpeg:dash:schema:mpd:2011")
        .optional("xmlns:cenc", namespace("cenc", "urn:mpeg:cenc:2013"))
        .optional("xmlns:mspr", namespace("mspr", "urn:microsoft:playready"))
        .optional("xmlns:dashif", namespace("dashif", "https://dashif.org/CPS"))
        .attribute("profiles", profiles(segments.is_empty(), single.is_empty()))
        .attribute("type", "static")
        .attribute("mediaPresentationDuration", time::duration(period.end))
        .attribute("minBufferTime", time::duration(period.min_buffer * 1000))
        .optional("maxSegmentDuration", longest(&segments))
        .optional("maxSubsegmentDuration", longest(&single))
        .children([children])
        .document()
}

/// Profiles of the MPD (ISO/IEC 23009-1, 8): of a mixture, only the one that allows everything.
fn profiles(no_segments: bool, no_single: bool) -> &'static str {
    match (no_segments, no_single) {
        (false, true) => "urn:mpeg:dash:profile:isoff-live:2011,urn:mpeg:dash:profile:cmaf:2019",
        (true, false) => {
            "urn:mpeg:dash:profile:isoff-on-demand:2011,urn:mpeg:dash:profile:cmaf:2019"
        }
        _ => "urn:mpeg:dash:profile:full:2011",
    }
}
