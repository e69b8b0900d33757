//! What the manifests say of the tracks.

use lanelock_manifest::{
    Audio, DashOptions, Files, HlsOptions, KeyFrame, KeyLines, Media, Presentation, Protection,
    ProtectionSpan, ProtectionSystem, Role, Segment, SwitchingSet, Template, Text, Track, UsedBy,
    Video, VideoRange, dash, hls,
};
use lanelock_mp4::{self as mp4, FourCc, TrackKind, compose::SegmentIndex};

use super::{
    Package, PackageOptions, Storage,
    cuts::unsigned,
    facts,
    forms::Forms,
    packer::{Packed, PackedSegment},
    rendition::Rendition,
    spans,
    text::TextFile,
};
use crate::{
    EncryptOptions, Error, Key,
    drm::{self, GivenSystem, System},
    media_facts::transfer_characteristics,
};

/// Paths of the files of a track.
pub(super) struct Paths {
    pub(super) init: String,
    /// With `$Number$`, if there are several.
    pub(super) media: String,
}

pub(super) fn paths(rendition: &Rendition, storage: Storage) -> Paths {
    let name = &rendition.name;
    match storage {
        Storage::Segments => {
            Paths { init: format!("{name}/init.mp4"), media: format!("{name}/$Number$.m4s") }
        }
        Storage::Single => Paths { init: String::new(), media: format!("{name}.mp4") },
    }
}

/// The texts of all manifests, by their paths.
pub(super) fn manifests(
    package: &Package,
    packed: &[Packed],
) -> Result<Vec<(String, String)>, Error> {
    let presentation = presentation(package, packed)?;
    let fail = |error: lanelock_manifest::Error| Error::Options(error.to_string());
    let mut texts = Vec::new();
    // The multivariant playlists name the others: they come last.
    let mut multivariant = Vec::new();
    for (scheme, name) in package.options.playlists() {
        let options = HlsOptions::default()
            .with_name(&name)
            .with_scheme(scheme.map(|scheme| FourCc(scheme.fourcc())));
        for (path, text) in hls(&presentation, &options).map_err(fail)? {
            if path == name {
                multivariant.push((path, text));
            } else if !texts.contains(&(path.clone(), text.clone())) {
                // Those of clear tracks are for all schemes.
                texts.push((path, text));
            }
        }
    }
    texts.append(&mut multivariant);
    if let Some(name) = &package.options.dash {
        let template = if package.options.constant_durations {
            Template::Duration
        } else {
            Template::Timeline
        };
        let options = DashOptions::default().with_template(template);
        texts.push((name.clone(), dash(&presentation, &options).map_err(fail)?));
    }
    Ok(texts)
}

/// Makes the manifests of what is planned, so that what they cannot say is found before anything is written:
/// sizes are estimates.
pub(super) fn check(package: &Package) -> Result<(), Error> {
    let Package { options, renditions, .. } = package;
    let planned: Vec<Packed> =
        renditions.iter().map(|rendition| planned(rendition, options)).collect();
    let mut paths: Vec<String> =
        manifests(package, &planned)?.into_iter().map(|(path, _)| path).collect();
    for rendition in renditions {
        // A folder of segments, which need not be told apart, or one file.
        let of_track = self::paths(rendition, options.storage);
        paths.push(of_track.media.split('/').next().unwrap_or_default().into());
        let whole = rendition.text.as_deref().filter(|_| Forms::of(rendition, options).whole);
        paths.extend(whole.map(|text| whole_path(rendition, text)));
    }
    paths.sort_by_key(|path| path.to_lowercase());
    match paths.windows(2).find(|pair| pair[0].to_lowercase() == pair[1].to_lowercase()) {
        Some([one, other]) => Err(Error::Options(format!(
            "there would be {one} and {other} in the folder, which are one for disks without upper and \
             lower case; give the tracks other names (--track ...:name=NAME)"
        ))),
        _ => Ok(()),
    }
}

/// What a track is about to become.
fn planned(rendition: &Rendition, options: &PackageOptions) -> Packed {
    let list = &rendition.segments.list;
    let forms = Forms::of(rendition, options);
    let init = rendition.init.len() as u64;
    let index = init..init + SegmentIndex::len_for([list.len()]) as u64;
    let mut packed = Packed { init: 0..init, index, ..Packed::default() };
    let mut end = packed.index.end;
    for segment in list.iter().filter(|_| forms.cmaf()) {
        let start = if options.storage == Storage::Single { end } else { 0 };
        end = start + segment.bytes + METADATA * segment.fragments.len() as u64;
        let bytes = start..end;
        let sync = segment.fragments.iter().filter(|fragment| fragment.sync);
        let key_frames = sync.map(|fragment| (fragment.presented, bytes.clone())).collect();
        packed.segments.push(PackedSegment { bytes: bytes.clone(), key_frames });
    }
    if forms.webvtt {
        packed.webvtt = vec![METADATA; list.len()];
    }
    if let Some(text) = rendition.text.as_deref().filter(|_| forms.whole) {
        packed.whole = text.bytes.len() as u64;
    }
    packed
}

/// Bytes of the metadata of a fragment, about: never none, since no file is empty.
const METADATA: u64 = 256;

fn presentation(package: &Package, packed: &[Packed]) -> Result<Presentation, Error> {
    let Package { options, renditions, sets } = package;
    // Players of any scheme take the same content unless the viewer chooses.
    let mut defaults: Vec<(TrackKind, usize)> = Vec::new();
    let mut all = Vec::with_capacity(sets.len());
    for set in sets {
        let Some(&first) = set.renditions.first() else { continue };
        let properties = &renditions[first].properties;
        let kind = renditions[first].source.kind();
        // Text is shown when it is asked for, and descriptions are for those who need them.
        let may_lead = kind != TrackKind::Text
            && set.trick_play_of.is_none()
            && properties.accessibility.is_empty()
            && defaults.iter().all(|of| of.0 != kind || of.1 == set.content);
        let is_default = properties.is_default.unwrap_or(may_lead);
        if is_default {
            defaults.push((kind, set.content));
        }
        let mut roles = properties.roles.clone();
        if roles.is_empty() {
            roles.extend(match kind {
                TrackKind::Text if !properties.accessibility.is_empty() => Some(Role::Caption),
                TrackKind::Text => Some(Role::Subtitle),
                _ if is_default => Some(Role::Main),
                _ => None,
            });
        }
        let mut tracks = Vec::with_capacity(set.renditions.len());
        for &index in &set.renditions {
            tracks.extend(forms(&renditions[index], &packed[index], options)?);
        }
        all.push(SwitchingSet {
            language: properties.language.clone(),
            label: properties.label.clone(),
            is_default,
            roles,
            accessibility: properties.accessibility.clone(),
            trick_play_of: set.trick_play_of,
            tracks,
        });
    }
    Ok(Presentation { sets: all })
}

/// Path of segments of WebVTT.
pub(super) fn webvtt_path(rendition: &Rendition) -> String {
    format!("{}/$Number$.vtt", rendition.name)
}

/// Path of the text file beside the others.
pub(super) fn whole_path(rendition: &Rendition, text: &TextFile) -> String {
    format!("{}.{}", rendition.name, text.extension())
}

/// The tracks of the manifests that a track became.
fn forms(
    rendition: &Rendition,
    packed: &Packed,
    options: &PackageOptions,
) -> Result<Vec<Track>, Error> {
    let forms = Forms::of(rendition, options);
    let mut tracks = Vec::new();
    let used_by = match (forms.cmaf_dash, forms.cmaf_hls) {
        (true, true) => Some(UsedBy::Both),
        (true, false) => Some(UsedBy::Dash),
        (false, true) => Some(UsedBy::Hls),
        (false, false) => None,
    };
    if let Some(used_by) = used_by {
        tracks.push(track(rendition, packed, options, used_by)?);
    }
    let text = |name: &str, media, files, segments, used_by| Track {
        name: name.into(),
        codecs: String::new(),
        media: Media::Text(media),
        timescale: rendition.source.track().timescale,
        files,
        segments,
        sap_type: 1,
        protection: Vec::new(),
        used_by,
    };
    let times = rendition.segments.times();
    if forms.webvtt {
        // Both manifests name the track; each of its forms has a name of its own.
        let name = if forms.cmaf_dash || forms.whole {
            format!("{}-webvtt", rendition.name)
        } else {
            rendition.name.clone()
        };
        let files = Files::Segments { init: None, media: webvtt_path(rendition) };
        let segments = times.iter().zip(&packed.webvtt).map(|((start, duration), len)| Segment {
            start: *start,
            duration: *duration,
            bytes: 0..*len,
            key_frames: Vec::new(),
        });
        let segments = segments.collect();
        tracks.push(text(&name, Text::WebVtt, files, segments, UsedBy::Hls));
    }
    if let Some(file) = rendition.text.as_deref().filter(|_| forms.whole) {
        let media = if file.webvtt().is_some() { Text::WebVtt } else { Text::Ttml };
        let name = if forms.cmaf_hls {
            format!("{}-file", rendition.name)
        } else {
            rendition.name.clone()
        };
        let files = Files::Whole { path: whole_path(rendition, file) };
        let duration = times.last().map_or(0, |(start, duration)| start + duration);
        let bytes = 0..packed.whole;
        let segment = Segment { start: 0, duration, bytes, key_frames: Vec::new() };
        tracks.push(text(&name, media, files, vec![segment], UsedBy::Dash));
    }
    Ok(tracks)
}

fn track(
    rendition: &Rendition,
    packed: &Packed,
    options: &PackageOptions,
    used_by: UsedBy,
) -> Result<Track, Error> {
    let paths = paths(rendition, options.storage);
    let files = match options.storage {
        Storage::Segments => Files::Segments { init: Some(paths.init), media: paths.media },
        Storage::Single => Files::Single {
            path: paths.media,
            init: packed.init.clone(),
            index: packed.index.clone(),
        },
    };
    let segments = rendition.segments.times().into_iter().zip(&packed.segments).map(
        |((start, duration), packed)| Segment {
            start,
            duration,
            bytes: packed.bytes.clone(),
            key_frames: packed
                .key_frames
                .iter()
                .map(|(start, bytes)| KeyFrame { start: unsigned(*start), bytes: bytes.clone() })
                .collect(),
        },
    );
    Ok(Track {
        name: rendition.name.clone(),
        codecs: facts::codecs(rendition.source.track()),
        media: media(rendition),
        timescale: rendition.source.track().timescale,
        files,
        segments: segments.collect(),
        sap_type: rendition.segments.sap_type().max(1),
        protection: protection_spans(rendition, options)?,
        used_by,
    })
}

fn media(rendition: &Rendition) -> Media {
    let track = rendition.source.track();
    let entry = track.entries.first();
    match track.kind() {
        TrackKind::Video => {
            let (width, height) = crate::media_facts::picture_size(track);
            let facts = entry.and_then(mp4::SampleEntry::video);
            Media::Video(Video {
                width,
                height,
                pixel_aspect_ratio: facts.map_or((1, 1), |facts| facts.pixel_aspect_ratio),
                frame_rate: rendition.segments.frames.rate(track.timescale),
                // ITU-T H.273, 8.2.
                range: match entry.and_then(transfer_characteristics) {
                    Some(16) => VideoRange::Pq,
                    Some(18) => VideoRange::Hlg,
                    _ => VideoRange::Sdr,
                },
            })
        }
        TrackKind::Audio => {
            let facts = entry.and_then(mp4::SampleEntry::audio).unwrap_or_default();
            Media::Audio(Audio {
                sample_rate: facts.sample_rate.unwrap_or(0),
                channels: facts::channels(track),
                dolby_channels: facts.dolby_channels.map(|mask| format!("{mask:04X}")),
                joc_complexity: facts.joc_complexity,
            })
        }
        _ if track.codec() == "stpp" => Media::Text(Text::Stpp),
        _ => Media::Text(Text::Wvtt),
    }
}

/// What is told of the segments: a span for each change.
fn protection_spans(
    rendition: &Rendition,
    options: &PackageOptions,
) -> Result<Vec<ProtectionSpan>, Error> {
    let Some(of_track) = &rendition.protection else { return Ok(Vec::new()) };
    let mut told: Vec<ProtectionSpan> = Vec::new();
    let mut last = None;
    for (first, span) in rendition.spans.iter().enumerate() {
        if last.replace(*span) == Some(*span) {
            continue;
        }
        let key = spans::key_of(*span, &rendition.keys);
        let protection = key.map(|key| protection(key, of_track, options)).transpose()?;
        // Periods may have one key.
        if told.last().is_none_or(|before| before.protection != protection) {
            told.push(ProtectionSpan { first, protection });
        }
    }
    Ok(told)
}

fn protection(
    key: &Key,
    protection: &EncryptOptions,
    options: &PackageOptions,
) -> Result<Protection, Error> {
    let keys = std::slice::from_ref(key);
    let mut systems = Vec::with_capacity(protection.drm.len());
    let of_key = protection.given.iter().filter(|given| given.kid == key.kid);
    systems.extend(of_key.map(|given| given_system(given, options)));
    for &system in &protection.drm {
        if protection.given_for(system.id(), key.kid).is_some() {
            continue;
        }
        let mut of_system = ProtectionSystem {
            id: system.id(),
            pssh: None,
            playready_object: None,
            license_url: options.license_urls.get(&system).cloned(),
            key_uri: None,
            key_lines: None,
        };
        match system {
            System::FairPlay => {
                let kid = key.kid_text();
                of_system.key_uri = options.skd.as_ref().map(|skd| skd.replace("{kid}", &kid));
            }
            // A box of its own makes Shaka Player (5.2) refuse the stream: the KIDs are stated beside.
            System::ClearKey => {}
            _ => {
                let pssh = drm::pssh(system, protection.scheme, keys);
                let pssh = pssh.map_err(|error| Error::Options(error.to_string()))?;
                of_system.playready_object =
                    (system == System::PlayReady).then(|| pssh.data.clone());
                of_system.pssh = Some(pssh.raw);
            }
        }
        systems.push(of_system);
    }
    let scheme = FourCc(protection.scheme.fourcc());
    Ok(Protection { scheme, kid: key.kid, systems })
}

/// What manifests say of a system that others told something.
fn given_system(given: &GivenSystem, options: &PackageOptions) -> ProtectionSystem {
    let url = System::of(given.id).and_then(|system| options.license_urls.get(&system));
    let pssh = given.dash_pssh.as_ref().or(given.pssh.as_ref());
    let playready_object = given.playready_object.clone().or_else(|| {
        let pssh = pssh.filter(|_| given.id == System::PlayReady.id())?;
        Some(mp4::Pssh::parse(pssh).ok()?.data)
    });
    let has_lines = !(given.hls_media.is_empty() && given.hls_multivariant.is_empty());
    ProtectionSystem {
        id: given.id,
        pssh: pssh.cloned(),
        playready_object,
        license_url: url.or(given.license_url.as_ref()).cloned(),
        key_uri: given.key_uri.clone(),
        key_lines: has_lines.then(|| KeyLines {
            media: given.hls_media.clone(),
            multivariant: given.hls_multivariant.clone(),
        }),
    }
}
