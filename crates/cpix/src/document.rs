//! What a CPIX document says. Names are those of the specification (DASH-IF CPIX 2.4, 4.3).

use core::time::Duration;

use lanelock_packager::{Key, Scheme};

use crate::time::WallClock;

/// A CPIX document: content keys, what they are for, and what protection systems want to say of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The content that the keys protect.
    pub content_id: Option<String>,
    /// A name for people.
    pub name: Option<String>,
    /// The version of CPIX, `2.3` or `2.4`.
    pub version: Option<String>,
    /// The content keys. No two have the same KID.
    pub keys: Vec<ContentKey>,
    /// What protection systems want to say of the keys, used as given.
    pub drm_systems: Vec<DrmSystem>,
    /// The key periods, for keys that change with time.
    pub periods: Vec<KeyPeriod>,
    /// Which tracks the keys are for.
    pub rules: Vec<UsageRule>,
}

/// A content key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentKey {
    /// The key identifier.
    pub kid: [u8; 16],
    /// The key. A request for keys has none.
    pub key: Option<Key>,
    /// The IV that comes with it: the constant one of `cbcs`, or that of `EXT-X-KEY`.
    pub explicit_iv: Option<[u8; 16]>,
    /// What it may be used with: a scheme of Common Encryption, or a method of HLS.
    pub common_encryption_scheme: Option<String>,
    /// The content that it protects, where keys of several are in one document.
    pub content_id: Option<String>,
}

impl ContentKey {
    /// A key that is still to be had.
    pub fn wanted(kid: [u8; 16]) -> Self {
        let (key, explicit_iv) = (None, None);
        Self { kid, key, explicit_iv, common_encryption_scheme: None, content_id: None }
    }

    /// A key.
    pub fn new(key: Key) -> Self {
        let mut wanted = Self::wanted(key.kid);
        wanted.key = Some(key);
        wanted
    }

    /// Whether it may be used with a scheme: it is for that one, or for any.
    pub fn suits(&self, scheme: Scheme) -> bool {
        self.common_encryption_scheme.as_deref().is_none_or(|name| name == scheme.to_string())
    }
}

/// What a protection system wants to say of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrmSystem {
    /// The system, as in a `pssh` box.
    pub system_id: [u8; 16],
    /// The key.
    pub kid: [u8; 16],
    /// The system's name and version, for people.
    pub name: Option<String>,
    /// A whole `pssh` box.
    pub pssh: Option<Vec<u8>>,
    /// XML to go into `ContentProtection` of a DASH manifest.
    pub content_protection_data: Option<String>,
    /// Lines of HLS playlists.
    pub hls_signaling: Vec<HlsSignaling>,
    /// `ALLOWED-CPC` of HLS.
    pub hls_allowed_cpc: Option<String>,
    /// The text of `ProtectionHeader` in a Smooth Streaming manifest.
    pub smooth_streaming_protection_header: Option<String>,
    /// `URI` of `EXT-X-KEY`, as CPIX 2.2 and older gave it.
    pub uri_ext_x_key: Option<String>,
    /// The robustness that the system is to have.
    pub robustness: Option<String>,
}

impl DrmSystem {
    /// A system, which has nothing to say yet.
    pub fn new(system_id: [u8; 16], kid: [u8; 16]) -> Self {
        Self {
            system_id,
            kid,
            name: None,
            pssh: None,
            content_protection_data: None,
            hls_signaling: Vec::new(),
            hls_allowed_cpc: None,
            smooth_streaming_protection_header: None,
            uri_ext_x_key: None,
            robustness: None,
        }
    }
}

/// Lines of an HLS playlist, with their tags.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HlsSignaling {
    /// The playlist that they are for.
    pub playlist: Playlist,
    /// The lines. They are empty in a request.
    pub lines: String,
}

impl HlsSignaling {
    /// Lines of a playlist.
    pub fn new(playlist: Playlist, lines: impl Into<String>) -> Self {
        Self { playlist, lines: lines.into() }
    }
}

/// A playlist of HLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Playlist {
    /// Media playlists.
    Media,
    /// The multivariant playlist, formerly master playlist. CPIX 2.3 calls it `master`, 2.4
    /// `multiVariant`; both are read.
    Multivariant,
}

/// A stretch of time with a key of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyPeriod {
    /// What usage rules call it.
    pub id: Option<String>,
    /// Its number. The encryptor decides when it begins.
    pub index: Option<u32>,
    /// Its name, which may be that of a programme.
    pub label: Option<String>,
    /// From when to when it is.
    pub span: Option<Span>,
}

/// From when to when something is; the end is no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// By the wall clock.
    Wall {
        /// The beginning.
        start: WallClock,
        /// The end.
        end: WallClock,
    },
    /// Since the content began.
    Media {
        /// The beginning.
        start: Duration,
        /// The end.
        end: Duration,
    },
}

/// Which tracks, and when, a key is for. Filters of one kind are alternatives; one of each kind has to
/// match. A rule without filters matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageRule {
    /// The key.
    pub kid: [u8; 16],
    /// What the key is for, in words (`UHD`, `AUDIO`), for licences.
    pub intended_track_type: Option<String>,
    /// The `id` of key periods.
    pub period_ids: Vec<String>,
    /// Labels of tracks.
    pub labels: Vec<String>,
    /// Kinds of video.
    pub video: Vec<VideoFilter>,
    /// Kinds of audio.
    pub audio: Vec<AudioFilter>,
    /// Bit rates.
    pub bit_rates: Vec<BitrateFilter>,
    /// The first filter of another namespace. What it means is not known, so the rule cannot be used.
    pub unknown_filter: Option<String>,
}

impl UsageRule {
    /// A rule without filters.
    pub fn new(kid: [u8; 16]) -> Self {
        Self { kid, ..Self::default() }
    }
}

/// Matches video alone. What is not given makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VideoFilter {
    /// The least pixels of a picture, width times height as encoded.
    pub min_pixels: Option<u64>,
    /// The most pixels of a picture.
    pub max_pixels: Option<u64>,
    /// Whether it is of high dynamic range.
    pub hdr: Option<bool>,
    /// Whether it is of a wide colour gamut.
    pub wcg: Option<bool>,
    /// Frames per second, which must be more than these.
    pub min_fps: Option<u64>,
    /// The most frames per second.
    pub max_fps: Option<u64>,
}

/// Matches audio alone. What is not given makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AudioFilter {
    /// The least channels.
    pub min_channels: Option<u64>,
    /// The most channels.
    pub max_channels: Option<u64>,
}

/// Matches a range of nominal bit rates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BitrateFilter {
    /// The least bits per second.
    pub min_bitrate: Option<u64>,
    /// The most bits per second.
    pub max_bitrate: Option<u64>,
}
