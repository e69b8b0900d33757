//! Names of tracks, in paths and manifests.

use lanelock_mp4::TrackKind;

use super::{Chosen, PackageOptions};
use crate::Error;

/// A name for each track: the one that is given, or one that says what the track is.
pub(super) fn assign(chosen: &[Chosen], options: &PackageOptions) -> Result<Vec<String>, Error> {
    let reserved: Vec<&str> = [&options.dash, &options.hls]
        .into_iter()
        .flatten()
        .map(|manifest| manifest.split('.').next().unwrap_or(manifest))
        .collect();
    let mut names: Vec<Option<String>> = Vec::with_capacity(chosen.len());
    for track in chosen {
        let Some(name) = &track.properties.name else {
            names.push(None);
            continue;
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err(track.source.fail(format!(
                "{name:?} is no name for it: 1 to 64 letters, digits, - and _ make one"
            )));
        }
        if reserved.iter().any(|other| is_same(other, name)) {
            return Err(track
                .source
                .fail(format!("its name {name} is that of a manifest; give it another one")));
        }
        if let Some(other) =
            names.iter().position(|other| other.as_ref().is_some_and(|other| is_same(other, name)))
        {
            return Err(track.source.fail(format!(
                "its name {name} is that of track {} of {}, too; give each track a name of its own \
                 (--track ...:name=NAME)",
                chosen[other].source.track().id,
                chosen[other].source.file.input().name
            )));
        }
        names.push(Some(name.clone()));
    }
    for index in 0..chosen.len() {
        if names[index].is_some() {
            continue;
        }
        let base = describe(&chosen[index]);
        let codec = chosen[index].source.track().codec().to_lowercase();
        let codec: String = codec.chars().filter(char::is_ascii_alphanumeric).collect();
        // A codec tells tracks apart where others of the same description have another one.
        let other_codec = chosen.iter().any(|other| {
            describe(other) == base
                && other.source.track().codec() != chosen[index].source.track().codec()
        });
        let base = if other_codec { format!("{base}-{codec}") } else { base };
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let mut candidates = [base.clone()].into_iter().chain(numbered);
        let is_free = |name: &String| {
            !names.iter().flatten().any(|other| is_same(other, name))
                && !reserved.iter().any(|other| is_same(other, name))
        };
        names[index] = candidates.find(is_free);
    }
    Ok(names.into_iter().flatten().collect())
}

/// Whether two names are one on a disk without upper and lower case.
fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// What a track is.
fn describe(track: &Chosen) -> String {
    let language = track.properties.language.as_deref().unwrap_or("");
    let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let language: String = language.chars().filter(fits).collect();
    let kind = match track.source.kind() {
        TrackKind::Video => {
            let height = crate::media_facts::picture_size(track.source.track()).1;
            return format!("video-{height}p");
        }
        TrackKind::Audio => "audio",
        _ => "text",
    };
    if language.is_empty() { kind.into() } else { format!("{kind}-{language}") }
}
