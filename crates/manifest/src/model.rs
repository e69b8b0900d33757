//! What a presentation is.

use std::ops::Range;

use lanelock_mp4::FourCc;

/// A finite presentation: video on demand.
#[derive(Clone, Debug, Default)]
pub struct Presentation {
    /// Its tracks, in the order of the manifests.
    pub sets: Vec<SwitchingSet>,
}

/// Tracks of one content in several qualities, between which a player may switch at each segment (a CMAF
/// switching set): in DASH an `AdaptationSet`.
#[derive(Clone, Debug, Default)]
pub struct SwitchingSet {
    /// BCP 47 language; none if it is not known.
    pub language: Option<String>,
    /// What a player shows to choose by.
    pub label: Option<String>,
    /// Whether a player takes it unless the viewer chooses: at most one set of each kind.
    pub is_default: bool,
    /// Its roles (`urn:mpeg:dash:role:2011`).
    pub roles: Vec<Role>,
    /// Whom it serves.
    pub accessibility: Vec<Accessibility>,
    /// For a set of key frames alone, for fast forward: the set it belongs to, as an index of
    /// [`Presentation::sets`].
    pub trick_play_of: Option<usize>,
    /// Its tracks.
    pub tracks: Vec<Track>,
}

/// One track, in one quality.
#[derive(Clone, Debug)]
pub struct Track {
    /// Unique among all tracks, of letters, digits, `-` and `_`: in DASH the `Representation@id`.
    pub name: String,
    /// RFC 6381 codecs, such as `avc1.64001f`; nothing for text in files of its own format.
    pub codecs: String,
    /// What it presents.
    pub media: Media,
    /// Units per second of its times.
    pub timescale: u32,
    /// Where it is.
    pub files: Files,
    /// Its segments, in order.
    pub segments: Vec<Segment>,
    /// The highest type of the stream access points that they begin with (ISO/IEC 14496-12, Annex I): 1 or 2,
    /// or 3 if the first pictures cannot be decoded after a switch (open groups of pictures).
    pub sap_type: u8,
    /// How its segments are protected, in order; none if all of them are clear. The key of the first
    /// protected one is that of the initialization segment (`tenc`).
    pub protection: Vec<ProtectionSpan>,
    /// The manifests that name it.
    pub used_by: UsedBy,
}

impl Track {
    /// Sizes of its segments in bytes, with their times.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = Extent> {
        self.segments.iter().map(|segment| Extent {
            start: segment.start,
            duration: segment.duration,
            bytes: segment.bytes.end - segment.bytes.start,
        })
    }

    /// The protection that its initialization segment speaks of; none if it is clear.
    pub(crate) fn first_protection(&self) -> Option<&Protection> {
        self.protection.iter().find_map(|span| span.protection.as_ref())
    }

    /// The end of its last segment, in units of the track.
    pub(crate) fn end(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.start + last.duration)
    }
}

/// The time and the size of a segment, or of a key frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) start: u64,
    pub(crate) duration: u64,
    pub(crate) bytes: u64,
}

/// Which manifests name a track: text has another form in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedBy {
    /// DASH and HLS.
    Both,
    /// DASH alone.
    Dash,
    /// HLS alone.
    Hls,
}

impl UsedBy {
    pub(crate) fn dash(self) -> bool {
        self != Self::Hls
    }

    pub(crate) fn hls(self) -> bool {
        self != Self::Dash
    }
}

/// What a track presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Media {
    /// Video.
    Video(Video),
    /// Audio.
    Audio(Audio),
    /// Subtitles or captions.
    Text(Text),
}

impl Media {
    /// The `@contentType` of DASH, and the word in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Video(_) => "video",
            Self::Audio(_) => "audio",
            Self::Text(_) => "text",
        }
    }
}

/// A video track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Video {
    /// Width of the coded picture in pixels.
    pub width: u32,
    /// Height of the coded picture in pixels.
    pub height: u32,
    /// Width and height of a pixel, without a common factor.
    pub pixel_aspect_ratio: (u32, u32),
    /// Frames per second, as a fraction without a common factor; none if it varies.
    pub frame_rate: Option<(u32, u32)>,
    /// Its transfer characteristics.
    pub range: VideoRange,
}

impl Default for Video {
    /// Square pixels, of a size and a frame rate that are not known.
    fn default() -> Self {
        Self {
            width: 0,
            height: 0,
            pixel_aspect_ratio: (1, 1),
            frame_rate: None,
            range: VideoRange::default(),
        }
    }
}

/// The range of brightness of a video (RFC 8216bis, VIDEO-RANGE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VideoRange {
    /// Standard.
    #[default]
    Sdr,
    /// Hybrid Log-Gamma (ITU-T H.273 transfer characteristics 18).
    Hlg,
    /// Perceptual quantizer (16).
    Pq,
}

/// An audio track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audio {
    /// Samples per second.
    pub sample_rate: u32,
    /// Channels; for what has objects, those that a player without them hears.
    pub channels: u32,
    /// Value of the `AudioChannelConfiguration` of Dolby's scheme (`tag:dolby.com,2014:dash:...`), four
    /// hexadecimal digits, for AC-3 and E-AC-3; others have the MPEG scheme.
    pub dolby_channels: Option<String>,
    /// Whether E-AC-3 carries objects (Dolby Atmos, "JOC"), and their complexity index.
    pub joc_complexity: Option<u8>,
}

/// A text track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// WebVTT in MP4 (ISO/IEC 14496-30, `wvtt`).
    Wvtt,
    /// TTML in MP4 (ISO/IEC 14496-30, `stpp`).
    Stpp,
    /// WebVTT files: one, or one for each segment.
    WebVtt,
    /// A TTML file.
    Ttml,
}

/// Where a track is: paths are relative to the manifests, in URL form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// A file for each segment.
    Segments {
        /// The initialization segment; none for text files.
        init: Option<String>,
        /// Path of segment files with `$Number$` in the place of their number, counted from 1.
        media: String,
    },
    /// All in one file.
    Single {
        /// The file.
        path: String,
        /// Bytes of the initialization segment (`ftyp`, `moov`).
        init: Range<u64>,
        /// Bytes of the segment index (`sidx`).
        index: Range<u64>,
    },
    /// A text file that is not cut: one segment, with the bytes of the file.
    Whole {
        /// The file.
        path: String,
    },
}

/// A segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Earliest presentation time, in units of the track, after its edit list.
    pub start: u64,
    /// Up to the start of the next one, or to the end of the presentation.
    pub duration: u64,
    /// Its bytes in its file.
    pub bytes: Range<u64>,
    /// The key frames that can be read alone, for I-frame playlists: one at the beginning of each
    /// fragment.
    pub key_frames: Vec<KeyFrame>,
}

/// A key frame with the metadata in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFrame {
    /// Presentation time.
    pub start: u64,
    /// From the `moof` to the end of the frame, in the file of its segment.
    pub bytes: Range<u64>,
}

/// Segments in a row that are protected alike, or clear: a clear lead is a clear one in front, and each key of a
/// rotation has one. Within them nothing changes: samples that differ are in segments of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectionSpan {
    /// The first of the segments, as an index of [`Track::segments`]; they go on up to the next span, or to the
    /// end. The first span begins with the first segment.
    pub first: usize,
    /// How they are protected; none if they are clear.
    pub protection: Option<Protection>,
}

/// How segments are protected (ISO/IEC 23001-7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// `cenc` or `cbcs`.
    pub scheme: FourCc,
    /// The key identifier.
    pub kid: [u8; 16],
    /// What the protection systems are told.
    pub systems: Vec<ProtectionSystem>,
}

impl Protection {
    /// For [`Track::protection`]: all segments are protected in this one way.
    pub fn of_all_segments(self) -> Vec<ProtectionSpan> {
        vec![ProtectionSpan { first: 0, protection: Some(self) }]
    }
}

/// A protection system that can provide the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectionSystem {
    /// Its SystemID.
    pub id: [u8; 16],
    /// Its whole `pssh` box.
    pub pssh: Option<Vec<u8>>,
    /// PlayReady Object of `mspr:pro`.
    pub playready_object: Option<Vec<u8>>,
    /// URL of its licence server (`dashif:Laurl`).
    pub license_url: Option<String>,
    /// URI of the key for HLS, where the `pssh` does not say it: `skd://...` of FairPlay. Of Clear Key, the URI of
    /// the 16 bytes of the key, without which Shaka Player does not play HLS unless it is told to ignore keys of
    /// playlists; with it and `cbcs`, hls.js does not.
    pub key_uri: Option<String>,
    /// Lines of HLS playlists that others made; in place of all that would be made of the other fields.
    pub key_lines: Option<KeyLines>,
}

/// Lines of HLS playlists by which a protection system finds a key, with their tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLines {
    /// Of media playlists: `#EXT-X-KEY:...`.
    pub media: Vec<String>,
    /// Of the multivariant playlist: `#EXT-X-SESSION-KEY:...`.
    pub multivariant: Vec<String>,
}

/// The role of a set (ISO/IEC 23009-1, 5.8.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The main content.
    Main,
    /// Another version of the main content.
    Alternate,
    /// More than the main content.
    Supplementary,
    /// Commentary.
    Commentary,
    /// Another language than the original's.
    Dub,
    /// Subtitles.
    Subtitle,
    /// Captions.
    Caption,
    /// Subtitles for foreign passages alone, shown without being asked for.
    ForcedSubtitle,
}

/// Whom a set serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accessibility {
    /// Captions: the dialogue as text.
    Captions,
    /// Subtitles for the deaf and hard of hearing: dialogue and sounds.
    Sdh,
    /// Audio description: what is seen, told for the blind.
    AudioDescription,
}
