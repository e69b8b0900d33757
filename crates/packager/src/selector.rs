//! Selectors: which tracks a key or an option is for.

use core::{fmt, str::FromStr};

use lanelock_mp4::{FourCc, Track, TrackKind};
use thiserror::Error;

use crate::codec;

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
    /// Tracks whose sample entries all have this code, such as `hvc1`.
    Codec(FourCc),
    /// The track with this ID.
    Track(u32),
}

impl Selector {
    /// How particular it is if it selects the track, none if it does not. The most particular one wins:
    /// an ID, then a codec, then a kind, then `other`, then `all`.
    pub(crate) fn rank(&self, track: &Track) -> Option<u8> {
        let kind = track.kind();
        // A handler may say anything; a codec that can be encrypted is never passed over for that.
        let has_rules = track.entries.iter().any(|entry| codec::is_known(entry.original_format));
        let (selects, rank) = match self {
            Self::All => (true, 0),
            Self::Other => (!matches!(kind, TrackKind::Video | TrackKind::Audio) && !has_rules, 1),
            Self::Video => (kind == TrackKind::Video, 2),
            Self::Audio => (kind == TrackKind::Audio, 2),
            Self::Text => (kind == TrackKind::Text && !has_rules, 2),
            Self::Codec(code) => {
                let mut entries = track.entries.iter();
                let all = entries.all(|entry| entry.original_format == *code);
                (all && !track.entries.is_empty(), 3)
            }
            Self::Track(id) => (*id == track.id, 4),
        };
        selects.then_some(rank)
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    /// Reads `all`, `video`, `audio`, `text`, `other`, a track ID or the code of a codec.
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
            Self::Codec(code) => write!(f, "{code}"),
            Self::Track(id) => write!(f, "{id}"),
        }
    }
}

/// A text is no selector. It is not repeated: it may be a part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a selector is all, video, audio, text, other, a track ID or a codec (avc1, hvc1, mp4a, ...)"
)]
pub struct SelectorError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_and_written() {
        for text in ["all", "other", "video", "audio", "text", "hvc1", "ac-3", "fLaC", "7", "1234"]
        {
            assert_eq!(text.parse::<Selector>().unwrap().to_string(), text);
        }
        assert_eq!("VIDEO".parse(), Ok(Selector::Video));
        assert_eq!("1234".parse(), Ok(Selector::Track(1234)));
        for text in ["", "-1", "vid", "vidio", "avc1.64", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"] {
            assert_eq!(text.parse::<Selector>(), Err(SelectorError), "{text}");
        }
    }
}
