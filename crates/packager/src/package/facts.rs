//! What files say of their tracks.

use lanelock_manifest::{Accessibility, Role};
use lanelock_mp4::{SampleEntry, Track, TrackKind};

/// The word for a kind of track, in options and summaries.
pub(super) fn kind_name(kind: TrackKind) -> &'static str {
    match kind {
        TrackKind::Video => "video",
        TrackKind::Audio => "audio",
        _ => "text",
    }
}

/// Whether a text has the syntax of a tag of BCP 47 (RFC 5646, 2.1), as attributes of manifests must.
pub(super) fn is_language(text: &str) -> bool {
    let is_subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    text.split('-').all(is_subtag)
}

/// RFC 6381 codecs.
pub(super) fn codecs(track: &Track) -> String {
    track.entries.first().map_or_else(String::new, SampleEntry::codec_string)
}

/// Channels of audio; 0 for others.
pub(super) fn channels(track: &Track) -> u32 {
    let facts = track.entries.first().and_then(SampleEntry::audio);
    facts.and_then(|facts| facts.channels).map_or(0, u32::from)
}

/// What the file says of roles (ISO/IEC 23009-1, 5.8.5.5).
pub(super) fn roles(track: &Track) -> (Vec<Role>, Vec<Accessibility>) {
    let (mut roles, mut accessibility) = (Vec::new(), Vec::new());
    let named = track.roles.iter().filter(|role| role.scheme == "urn:mpeg:dash:role:2011");
    for role in named {
        match role.value.as_str() {
            "main" => roles.push(Role::Main),
            "alternate" => roles.push(Role::Alternate),
            "supplementary" => roles.push(Role::Supplementary),
            "commentary" => roles.push(Role::Commentary),
            "dub" => roles.push(Role::Dub),
            "subtitle" => roles.push(Role::Subtitle),
            "forced-subtitle" => roles.push(Role::ForcedSubtitle),
            "caption" => {
                roles.push(Role::Caption);
                accessibility.push(Accessibility::Captions);
            }
            "description" => accessibility.push(Accessibility::AudioDescription),
            _ => {}
        }
    }
    (roles, accessibility)
}
