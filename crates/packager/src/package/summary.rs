//! What was packaged.

use serde::Serialize;

use super::{Package, facts, rendition::Rendition, spans, time::Time};
use crate::{Key, Times, schedule::KeySpan};

/// What was packaged, or will be.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PackageSummary {
    /// The tracks, in the order of the manifests.
    pub tracks: Vec<PackagedTrack>,
    /// The manifests that players begin with: paths in the folder.
    pub manifests: Vec<String>,
    /// Duration of the longest track in seconds.
    pub duration: f64,
    /// Bytes of the samples in the inputs.
    pub bytes_in: u64,
    /// Bytes of all files; of a plan, those of the samples.
    pub bytes_out: u64,
    /// The protection scheme, or two with a comma between them; none if all tracks stay clear.
    pub scheme: Option<String>,
    /// The level that AES ran at.
    pub level: String,
    /// Workers.
    pub workers: usize,
    /// Seconds it took.
    pub seconds: f64,
    /// Seconds of all workers, by stage.
    pub times: Times,
}

/// A track of a package.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PackagedTrack {
    /// Its name in paths and manifests.
    pub name: String,
    /// The input.
    pub input: String,
    /// The track ID in the input.
    pub track: u32,
    /// `video`, `audio` or `text`.
    pub kind: String,
    /// RFC 6381 codecs.
    pub codecs: String,
    /// BCP 47 language.
    pub language: Option<String>,
    /// What players show.
    pub label: Option<String>,
    /// Number of the switching set, from 0.
    pub set: usize,
    /// How many segments.
    pub segments: usize,
    /// Duration of the longest segment in seconds.
    pub longest_segment: f64,
    /// Average bits per second of the samples.
    pub bitrate: u64,
    /// The protection scheme; none if it stays clear.
    pub scheme: Option<String>,
    /// KID, as a UUID, the first one where keys change; none if it stays clear.
    pub kid: Option<String>,
    /// The KIDs of its segments, in order; several where keys change.
    pub kids: Vec<String>,
    /// How many segments are clear although the track is encrypted: its clear lead.
    pub clear_segments: usize,
    /// First IV, hexadecimal; under `cbcs` the constant one.
    pub iv: Option<String>,
}

/// The KIDs of the segments, in order.
fn kids(rendition: &Rendition) -> Vec<String> {
    let mut kids = Vec::new();
    let mut last = None;
    for span in &rendition.spans {
        if last.replace(*span) == Some(*span) {
            continue;
        }
        let kid = spans::key_of(*span, &rendition.keys).map(Key::kid_text);
        kids.extend(kid.filter(|kid| !kids.contains(kid)));
    }
    kids
}

/// What is known after a run.
pub(super) struct Run {
    pub(super) bytes_out: u64,
    pub(super) times: Times,
    pub(super) level: String,
    pub(super) workers: usize,
    pub(super) seconds: f64,
}

pub(super) fn planned(package: &Package) -> PackageSummary {
    let bytes = package.renditions.iter().map(Rendition::bytes).sum();
    let run = Run {
        bytes_out: bytes,
        times: Times::default(),
        level: String::new(),
        workers: 0,
        seconds: 0.0,
    };
    written(package, run)
}

pub(super) fn written(package: &Package, run: Run) -> PackageSummary {
    let Package { options, renditions, sets } = package;
    let mut tracks = Vec::new();
    let mut duration: f64 = 0.0;
    for (set, members) in sets.iter().enumerate() {
        for rendition in members.renditions.iter().map(|&index| &renditions[index]) {
            let timescale = rendition.source.track().timescale;
            let seconds = |units: u64| {
                Time { units: units.try_into().unwrap_or(i64::MAX), timescale }.seconds()
            };
            let times = rendition.segments.times();
            let end = Time { units: rendition.segments.end, timescale }.seconds();
            duration = duration.max(end);
            let presented: u64 = times.iter().map(|(_, duration)| duration).sum();
            let bits = u128::from(rendition.bytes()) * 8 * u128::from(timescale);
            let summary = rendition.protector.summary(&rendition.movie);
            let of_track = summary.into_iter().next();
            tracks.push(PackagedTrack {
                name: rendition.name.clone(),
                input: rendition.source.file.input().name,
                track: rendition.source.track().id,
                kind: facts::kind_name(rendition.source.kind()).into(),
                codecs: facts::codecs(rendition.source.track()),
                language: rendition.properties.language.clone(),
                label: rendition.properties.label.clone(),
                set,
                segments: times.len(),
                longest_segment: seconds(times.iter().map(|(_, d)| *d).max().unwrap_or(0)),
                bitrate: u64::try_from(bits / u128::from(presented.max(1))).unwrap_or(u64::MAX),
                scheme: rendition.scheme().map(|scheme| scheme.to_string()),
                kid: of_track.as_ref().and_then(|track| track.kid.clone()),
                kids: kids(rendition),
                clear_segments: match &rendition.protection {
                    Some(_) => rendition.spans.iter().filter(|s| **s == KeySpan::Clear).count(),
                    None => 0,
                },
                iv: of_track.and_then(|track| track.iv),
            });
        }
    }
    let playlists = options.playlists().into_iter().map(|(_, name)| name);
    let first = options.protection.as_ref().map(|protection| protection.scheme);
    let schemes = [first, options.second_scheme].into_iter().flatten();
    let schemes: Vec<String> = schemes.map(|scheme| scheme.to_string()).collect();
    PackageSummary {
        tracks,
        manifests: options.dash.iter().cloned().chain(playlists).collect(),
        duration,
        bytes_in: renditions
            .chunk_by(|one, other| one.track == other.track)
            .map(|versions| versions[0].bytes())
            .sum(),
        bytes_out: run.bytes_out,
        scheme: (!schemes.is_empty()).then(|| schemes.join(",")),
        level: run.level,
        workers: run.workers,
        seconds: run.seconds,
        times: run.times,
    }
}
