//! What to package, and how.

use std::{collections::BTreeMap, fmt, time::Duration};

use lanelock_cenc::Scheme;
use lanelock_manifest::{Accessibility, Role};
use lanelock_mp4::TrackKind;

use super::source::SourceTrack;
use crate::{EncryptOptions, Writes, drm::System, options::setters};

/// How to package. Made by [`Self::new`], changed by the `with_...` methods.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "options that are taken or not")]
pub struct PackageOptions {
    /// How the tracks are encrypted; none if all of them stay clear. Fragments and indexes are what the
    /// fields here say.
    pub protection: Option<EncryptOptions>,
    /// The scheme that each encrypted track is made with as well, from the same read of its input; for players
    /// that do not have the scheme of [`protection`](Self::protection). Both have the same keys. An IV that is
    /// given is the constant one of `cbcs`; those of `cenc` are random then. FairPlay has `cbcs` alone.
    /// Default none.
    pub second_scheme: Option<Scheme>,
    /// Which tracks are packaged, and what is said of them. Default none: all of them are.
    pub tracks: Vec<TrackRule>,
    /// How segments are stored. Default [`Storage::Segments`].
    pub storage: Storage,
    /// Segments are at least this long, up to the next sync sample that the renditions have in common.
    /// Default 6 s.
    pub segment_duration: Duration,
    /// Fragments within segments are at least this long, up to the next sync sample. Default none: a
    /// segment is one fragment.
    pub fragment_duration: Option<Duration>,
    /// Video without edit lists, with negative composition offsets (CMAF brand `cmf2`). Default no
    /// (`cmfc`).
    pub negative_offsets: bool,
    /// Makes tracks of key frames alone, of the smallest video, for fast forward in DASH. HLS needs none.
    pub trick_play: bool,
    /// Name of the DASH manifest; none if there is to be none. Default `manifest.mpd`.
    pub dash: Option<String>,
    /// Name of the HLS multivariant playlist; none if there is to be none. Default `main.m3u8`. With two schemes
    /// there is one for each: `main-cbcs.m3u8`, `main-cenc.m3u8`.
    pub hls: Option<String>,
    /// Whether the DASH manifest says how long segments are once for all of them (`@duration`), and not
    /// one by one (`SegmentTimeline`).
    pub constant_durations: bool,
    /// How text is stored for DASH. Default [`TextStorage::Mp4`].
    pub text: TextStorage,
    /// URLs of licence servers (`dashif:Laurl`), by system.
    pub license_urls: BTreeMap<System, String>,
    /// URI of FairPlay keys (`skd://...`); `{kid}` stands for the KID, as a UUID.
    pub skd: Option<String>,
    /// Workers; 0 means one for each core, at most 4.
    pub workers: usize,
    /// Whether to make sure that the output is on the disk before it appears under its name.
    pub sync: bool,
    /// How several workers write.
    pub writes: Writes,
    /// The most bytes of the input in memory, but for a fragment that is larger. Default 24 MiB.
    pub memory: u64,
}

impl PackageOptions {
    /// The defaults of the fields.
    pub fn new() -> Self {
        Self {
            protection: None,
            second_scheme: None,
            tracks: Vec::new(),
            storage: Storage::Segments,
            segment_duration: Duration::from_secs(6),
            fragment_duration: None,
            negative_offsets: false,
            trick_play: false,
            dash: Some("manifest.mpd".into()),
            hls: Some("main.m3u8".into()),
            constant_durations: false,
            text: TextStorage::Mp4,
            license_urls: BTreeMap::new(),
            skd: None,
            workers: 0,
            sync: false,
            writes: Writes::SideBySide,
            memory: 24 << 20,
        }
    }

    /// The HLS multivariant playlists: the scheme that each is for, if there are several, and its name.
    pub(super) fn playlists(&self) -> Vec<(Option<Scheme>, String)> {
        let Some(name) = &self.hls else { return Vec::new() };
        let (Some(protection), Some(second)) = (&self.protection, self.second_scheme) else {
            return vec![(None, name.clone())];
        };
        let (stem, extension) = match name.rsplit_once('.') {
            Some((stem, extension)) => (stem, format!(".{extension}")),
            None => (name.as_str(), String::new()),
        };
        let of_scheme = |scheme: Scheme| (Some(scheme), format!("{stem}-{scheme}{extension}"));
        [protection.scheme, second].map(of_scheme).into()
    }

    setters! {
        with_protection: protection, Option<EncryptOptions>;
        with_second_scheme: second_scheme, Option<Scheme>;
        with_tracks: tracks, Vec<TrackRule>;
        with_storage: storage, Storage;
        with_segment_duration: segment_duration, Duration;
        with_fragment_duration: fragment_duration, Option<Duration>;
        with_negative_offsets: negative_offsets, bool;
        with_trick_play: trick_play, bool;
        with_dash: dash, Option<String>;
        with_hls: hls, Option<String>;
        with_constant_durations: constant_durations, bool;
        with_text: text, TextStorage;
        with_license_urls: license_urls, BTreeMap<System, String>;
        with_skd: skd, Option<String>;
        with_workers: workers, usize;
        with_sync: sync, bool;
        with_writes: writes, Writes;
        with_memory: memory, u64;
    }
}

impl Default for PackageOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// How the segments of a track are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Storage {
    /// An initialization segment, and a file for each segment.
    #[default]
    Segments,
    /// One file with an index (`sidx`), read by byte ranges.
    Single,
}

/// How text is stored for DASH; HLS has WebVTT segments in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextStorage {
    /// In MP4, like other tracks: `wvtt`, `stpp`.
    #[default]
    Mp4,
    /// As the file it is.
    File,
}

/// Which tracks of the inputs are meant, and what is to be said of them. What is none selects all, and
/// leaves what the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackRule {
    /// The input: its name as it was given, or the last part of it.
    pub file: Option<String>,
    /// Video, audio or text.
    pub kind: Option<TrackKind>,
    /// BCP 47 language: `en` selects `en-GB` as well.
    pub language: Option<String>,
    /// Track ID.
    pub id: Option<u32>,
    /// What is said of the tracks.
    pub properties: TrackProperties,
}

/// What manifests say of a track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackProperties {
    /// Name in paths and manifests, of letters, digits, `-` and `_`.
    pub name: Option<String>,
    /// What a player shows to choose by.
    pub label: Option<String>,
    /// BCP 47 language, in the place of the file's.
    pub language: Option<String>,
    /// Roles; none given means that of its kind.
    pub roles: Vec<Role>,
    /// Whom it serves.
    pub accessibility: Vec<Accessibility>,
    /// Whether players take it unless the viewer chooses.
    pub is_default: Option<bool>,
}

impl TrackRule {
    /// Whether it selects a track of this language.
    pub(super) fn selects(&self, source: &SourceTrack, language: Option<&str>) -> bool {
        let name = crate::io::Input::new(&*source.file.source).name;
        let is_file = |file: &String| {
            let last = name.rsplit(['/', '\\']).next();
            *file == name || last == Some(file)
        };
        let is_language = |wanted: &String| {
            language.is_some_and(|language| {
                let (wanted, language) = (wanted.to_lowercase(), language.to_lowercase());
                language == wanted
                    || language.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('-'))
            })
        };
        self.file.as_ref().is_none_or(is_file)
            && self.kind.is_none_or(|kind| source.kind() == kind)
            && self.language.as_ref().is_none_or(is_language)
            && self.id.is_none_or(|id| source.track().id == id)
    }
}

impl fmt::Display for TrackRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, kind, language, id, .. } = self;
        let kind = kind.map(|kind| super::facts::kind_name(kind).to_owned());
        let id = id.map(|id| id.to_string());
        let parts = [("file", file), ("type", &kind), ("language", language), ("id", &id)];
        let parts = parts.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (number, (name, value)) in parts.enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}
