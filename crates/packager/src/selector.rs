//! Selectors: which tracks a key or an option is for.

use core::{fmt, str::FromStr};

use lanelock_mp4::{FourCc, Track, TrackKind};
use thiserror::Error;

use crate::{TrackFilter, codec, media_facts::picture_size};

/// Which tracks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// Every track.
    All,
    /// Every track that is neither video nor audio, nor has a codec of these: text, timecodes, chapters,
    /// metadata.
    Other,
    /// Video tracks.
    Video,
    /// Audio tracks.
    Audio,
    /// Text, subtitle and caption tracks.
    Text,
    /// Video tracks with pictures of this class.
    Picture(PictureClass),
    /// Tracks whose sample entries all have this code, such as `hvc1`.
    Codec(FourCc),
    /// Tracks that pass a test, for keys alone. Text that players take clear alone passes none.
    Filter(TrackFilter),
    /// The track with this ID.
    Track(u32),
}

impl Selector {
    /// How particular it is if it selects the track, none if it does not. The most particular one wins:
    /// an ID, then a codec, then a filter ([`FILTER_RANK`]), then a class of pictures, then a kind, then
    /// `other`, then `all`. What a filter selects takes more than the track to tell.
    pub(crate) fn rank(&self, track: &Track, limits: &PictureLimits) -> Option<u8> {
        let kind = track.kind();
        // A handler may say anything; a codec that can be encrypted is never passed over for that.
        let has_rules = track.entries.iter().any(|entry| codec::is_known(entry.original_format));
        let (selects, rank) = match self {
            Self::All => (true, 0),
            Self::Other => (!matches!(kind, TrackKind::Video | TrackKind::Audio) && !has_rules, 1),
            Self::Video => (kind == TrackKind::Video, 2),
            Self::Audio => (kind == TrackKind::Audio, 2),
            Self::Text => (kind == TrackKind::Text && !has_rules, 2),
            Self::Picture(class) => {
                (kind == TrackKind::Video && limits.has(*class, picture_size(track)), class.rank())
            }
            Self::Codec(code) => {
                let mut entries = track.entries.iter();
                let all = entries.all(|entry| entry.original_format == *code);
                (all && !track.entries.is_empty(), 6)
            }
            Self::Filter(_) => (false, FILTER_RANK),
            Self::Track(id) => (*id == track.id, 7),
        };
        selects.then_some(rank)
    }
}

/// How particular a filter is.
pub(crate) const FILTER_RANK: u8 = 5;

impl FromStr for Selector {
    type Err = SelectorError;

    /// Reads `all`, `video`, `audio`, `text`, `other`, a class of pictures (`sd`, `hd`, `uhd`, `uhd1`,
    /// `uhd2`), a track ID or the code of a codec.
    fn from_str(text: &str) -> Result<Self, SelectorError> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Track(id));
        }
        Ok(match text.to_ascii_lowercase().as_str() {
            "all" => Self::All,
            "video" => Self::Video,
            "audio" => Self::Audio,
            "text" => Self::Text,
            "other" => Self::Other,
            "sd" => Self::Picture(PictureClass::Sd),
            "hd" => Self::Picture(PictureClass::Hd),
            "uhd" => Self::Picture(PictureClass::Uhd),
            "uhd1" => Self::Picture(PictureClass::Uhd1),
            "uhd2" => Self::Picture(PictureClass::Uhd2),
            // Codes are told apart by case: fLaC.
            _ => Self::Codec(text.parse().map_err(|_| SelectorError)?),
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Other => f.write_str("other"),
            Self::Video => f.write_str("video"),
            Self::Audio => f.write_str("audio"),
            Self::Text => f.write_str("text"),
            Self::Picture(class) => f.write_str(class.name()),
            // A code that reads as something else begins with an escape.
            Self::Codec(code) if code.to_string().parse().as_ref() != Ok(self) => {
                let [first, rest @ ..] = code.0;
                write!(f, "\\x{first:02x}{}", rest.escape_ascii())
            }
            Self::Codec(code) => write!(f, "{code}"),
            Self::Filter(filter) => f.write_str(filter.name()),
            Self::Track(id) => write!(f, "{id}"),
        }
    }
}

/// A text is no selector. It is not repeated: it may be a part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a selector is all, video, audio, text, other, sd, hd, uhd, uhd1, uhd2, a track ID or a codec (avc1, \
     hvc1, mp4a, ...)"
)]
pub struct SelectorError;

/// Classes of video by the size of the coded picture, for which licences are given apart. The limits are
/// [`PictureLimits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PictureClass {
    /// Up to the limit of SD.
    Sd,
    /// Above SD.
    Hd,
    /// Above HD: [`Uhd1`](Self::Uhd1) and [`Uhd2`](Self::Uhd2), which are more particular.
    Uhd,
    /// Above HD: 4K with the limits that are usual.
    Uhd1,
    /// Above `Uhd1`: 8K.
    Uhd2,
}

impl PictureClass {
    /// `sd`, `hd`, `uhd`, `uhd1`, `uhd2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sd => "sd",
            Self::Hd => "hd",
            Self::Uhd => "uhd",
            Self::Uhd1 => "uhd1",
            Self::Uhd2 => "uhd2",
        }
    }

    fn rank(self) -> u8 {
        if self == Self::Uhd { 3 } else { 4 }
    }
}

/// The most pixels, width times height of the coded picture, of each [`PictureClass`]. By default those of
/// Shaka Packager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PictureLimits {
    /// Default 768 x 576.
    pub sd: u64,
    /// Default 1920 x 1080.
    pub hd: u64,
    /// Default 4096 x 2160.
    pub uhd1: u64,
}

impl PictureLimits {
    /// The limits, in pixels; none if they do not rise.
    pub fn new(sd: u64, hd: u64, uhd1: u64) -> Option<Self> {
        (0 < sd && sd < hd && hd < uhd1).then_some(Self { sd, hd, uhd1 })
    }

    fn has(&self, class: PictureClass, (width, height): (u32, u32)) -> bool {
        let pixels = u64::from(width) * u64::from(height);
        match class {
            PictureClass::Sd => pixels <= self.sd,
            PictureClass::Hd => pixels > self.sd && pixels <= self.hd,
            PictureClass::Uhd => pixels > self.hd,
            PictureClass::Uhd1 => pixels > self.hd && pixels <= self.uhd1,
            PictureClass::Uhd2 => pixels > self.uhd1,
        }
    }
}

impl Default for PictureLimits {
    fn default() -> Self {
        Self { sd: 768 * 576, hd: 1920 * 1080, uhd1: 4096 * 2160 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_and_written() {
        for text in [
            "all", "other", "video", "audio", "text", "hvc1", "ac-3", "fLaC", "7", "1234", "sd",
            "hd", "uhd", "uhd1", "uhd2",
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().to_string(), text);
        }
        for code in [*b"0034", *b"+034", *b"UHD1", *b"text"] {
            let selector = Selector::Codec(FourCc(code));
            assert_eq!(selector.to_string().parse(), Ok(selector), "{code:?}");
        }
        assert_eq!("VIDEO".parse(), Ok(Selector::Video));
        assert_eq!("1234".parse(), Ok(Selector::Track(1234)));
        for text in ["", "-1", "vid", "vidio", "avc1.64", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"] {
            assert_eq!(text.parse::<Selector>(), Err(SelectorError), "{text}");
        }
    }

    #[test]
    fn pictures_have_one_class_below_uhd() {
        use PictureClass::{Hd, Sd, Uhd, Uhd1, Uhd2};
        let limits = PictureLimits::default();
        for (size, classes) in [
            ((768, 576), vec![Sd]),
            ((1024, 576), vec![Hd]),
            ((1920, 1080), vec![Hd]),
            ((1920, 1088), vec![Uhd, Uhd1]),
            ((3840, 2160), vec![Uhd, Uhd1]),
            ((7680, 4320), vec![Uhd, Uhd2]),
            ((u32::MAX, u32::MAX), vec![Uhd, Uhd2]),
        ] {
            let all = [Sd, Hd, Uhd, Uhd1, Uhd2];
            let found: Vec<_> = all.into_iter().filter(|class| limits.has(*class, size)).collect();
            assert_eq!(found, classes, "{size:?}");
        }
        assert!(PictureLimits::new(1, 2, 2).is_none() && PictureLimits::new(0, 1, 2).is_none());
    }
}
