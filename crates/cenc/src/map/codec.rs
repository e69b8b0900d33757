//! The table of codecs: sample entries, configuration boxes, rules.

use super::{AvcMap, HevcMap, MapError, Mapper, VvcMap};
use crate::scheme::Scheme;

/// A codec, by the rules that say which bytes of its access units are protected.
///
/// ```
/// use lanelock_cenc::map::Codec;
///
/// assert_eq!(Codec::of_sample_entry(*b"dvh1"), Some(Codec::Hevc)); // Dolby Vision: as its base
/// assert_eq!(Codec::Hevc.configuration(), Some(*b"hvcC"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Codec {
    /// AVC (ITU-T H.264).
    Avc,
    /// HEVC (ITU-T H.265).
    Hevc,
    /// VVC (ITU-T H.266). Experimental: see [`is_experimental`](Self::is_experimental).
    Vvc,
    /// AV1.
    Av1,
    /// VP9.
    Vp9,
    /// AC-4 (ETSI TS 103 190). Experimental: see [`is_experimental`](Self::is_experimental).
    Ac4,
    /// Any other audio codec: access units are protected whole.
    Whole,
}

impl Codec {
    /// The four-character codes of sample entries that are known, and their codecs. Dolby Vision
    /// (`dv..`) has the syntax of the codec it is based on; `mp4a` is MPEG audio of any kind, MP3 and
    /// xHE-AAC among it.
    pub const SAMPLE_ENTRIES: &[([u8; 4], Self)] = &[
        (*b"avc1", Self::Avc),
        (*b"avc3", Self::Avc),
        (*b"dva1", Self::Avc),
        (*b"dvav", Self::Avc),
        (*b"hvc1", Self::Hevc),
        (*b"hev1", Self::Hevc),
        (*b"dvh1", Self::Hevc),
        (*b"dvhe", Self::Hevc),
        (*b"vvc1", Self::Vvc),
        (*b"vvi1", Self::Vvc),
        (*b"av01", Self::Av1),
        (*b"dav1", Self::Av1),
        (*b"vp09", Self::Vp9),
        (*b"mp4a", Self::Whole),
        (*b"ac-3", Self::Whole),
        (*b"ec-3", Self::Whole),
        (*b"Opus", Self::Whole),
        (*b"fLaC", Self::Whole),
        (*b"alac", Self::Whole),
        (*b".mp3", Self::Whole),
        (*b"ac-4", Self::Ac4),
        (*b"mha1", Self::Whole),
        (*b"mhm1", Self::Whole),
    ];

    /// The codec of a sample entry, by its four-character code before protection.
    pub fn of_sample_entry(code: [u8; 4]) -> Option<Self> {
        Self::SAMPLE_ENTRIES.iter().find(|(known, _)| *known == code).map(|(_, codec)| *codec)
    }

    /// The box in the sample entry that [`mapper`](Self::mapper) wants the payload of.
    pub const fn configuration(self) -> Option<[u8; 4]> {
        match self {
            Self::Avc => Some(*b"avcC"),
            Self::Hevc => Some(*b"hvcC"),
            Self::Vvc => Some(*b"vvcC"),
            Self::Av1 => Some(*b"av1C"),
            Self::Vp9 | Self::Ac4 | Self::Whole => None,
        }
    }

    /// A mapper for a track with this configuration; codecs without one pass over it.
    ///
    /// # Errors
    /// When the configuration cannot be read.
    pub fn mapper(self, configuration: &[u8]) -> Result<Mapper, MapError> {
        match self {
            Self::Avc => Mapper::avc(configuration),
            Self::Hevc => Mapper::hevc(configuration),
            Self::Vvc => Mapper::vvc(configuration),
            Self::Av1 => Mapper::av1(configuration),
            Self::Vp9 => Ok(Mapper::vp9()),
            Self::Ac4 => Ok(Mapper::ac4()),
            Self::Whole => Ok(Mapper::full_sample()),
        }
    }

    /// The `transfer_characteristics` (ITU-T H.273) that the parameter sets in a configuration describe,
    /// for AVC, HEVC and VVC: what tells PQ (16) and Hybrid Log-Gamma (18) from standard dynamic range
    /// where the file format does not. None as well if it cannot be read.
    pub fn transfer_characteristics(self, configuration: &[u8]) -> Option<u8> {
        match self {
            Self::Avc => AvcMap::new(configuration).ok()?.transfer_characteristics(),
            Self::Hevc => HevcMap::new(configuration).ok()?.transfer_characteristics(),
            Self::Vvc => VvcMap::new(configuration).ok()?.transfer_characteristics(),
            Self::Av1 | Self::Vp9 | Self::Ac4 | Self::Whole => None,
        }
    }

    /// Whether it is an audio codec.
    pub const fn is_audio(self) -> bool {
        matches!(self, Self::Ac4 | Self::Whole)
    }

    /// Whether the rules of the codec were compared with few files or none that others protected: so
    /// few exist. What is made with them may change.
    pub const fn is_experimental(self) -> bool {
        matches!(self, Self::Vvc | Self::Ac4)
    }

    /// Whether the codec may be protected by a scheme with so many blocks encrypted and skipped in
    /// turn. AV1 has `cenc`, and `cbcs` with the patterns 1:9, 5:5 and 10:0 (AV1-ISOBMFF, 4).
    pub const fn allows(self, scheme: Scheme, pattern: (u8, u8)) -> bool {
        match (self, scheme) {
            (Self::Av1, Scheme::Cbcs) => matches!(pattern, (1, 9) | (5, 5) | (10, 0)),
            (Self::Av1, Scheme::Cens | Scheme::Cbc1) => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_entries_are_listed_once() {
        for (number, (code, codec)) in Codec::SAMPLE_ENTRIES.iter().enumerate() {
            assert_eq!(Codec::of_sample_entry(*code), Some(*codec));
            let behind = &Codec::SAMPLE_ENTRIES[number + 1..];
            assert!(behind.iter().all(|(other, _)| other != code), "{code:?}");
        }
        assert_eq!(Codec::of_sample_entry(*b"wvtt"), None);
    }

    #[test]
    fn schemes_of_av1() {
        let allowed = |scheme, pattern| Codec::Av1.allows(scheme, pattern);
        assert!(allowed(Scheme::Cenc, (0, 0)));
        for pattern in [(1, 9), (5, 5), (10, 0)] {
            assert!(allowed(Scheme::Cbcs, pattern) && !allowed(Scheme::Cens, pattern));
        }
        assert!(!allowed(Scheme::Cbcs, (1, 0)) && !allowed(Scheme::Cbc1, (0, 0)));
        assert!(Codec::Hevc.allows(Scheme::Cens, (2, 3)));
    }
}
