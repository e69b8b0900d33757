//! The codecs whose tracks can be encrypted.

use lanelock_cenc::map::Mapper;
use lanelock_mp4::{FourCc, SampleEntry};

/// Whether tracks of a codec can be encrypted, by the code of its sample entry.
pub(crate) fn is_known(code: FourCc) -> bool {
    Rules::of(code).is_some()
}

/// Those that [`is_known`] names, for messages.
pub(crate) const KNOWN: &str =
    "avc1, avc3, hvc1, hev1, dvh1, dvhe, mp4a, ac-3, ec-3, Opus, fLaC, alac, mha1 and mhm1";

/// The rules for a sample entry.
pub(crate) fn mapper(entry: &SampleEntry) -> Result<Mapper, String> {
    let config = |kind: &[u8; 4]| {
        let config = entry.config.as_ref().filter(|config| config.kind == kind);
        let what = FourCc::new(kind);
        config.map(|config| &config.data[..]).ok_or(format!("its sample entry has no {what} box"))
    };
    let mapper = match Rules::of(entry.format) {
        Some(Rules::Avc) => Mapper::avc(config(b"avcC")?),
        Some(Rules::Hevc) => Mapper::hevc(config(b"hvcC")?),
        Some(Rules::Whole) => Ok(Mapper::full_sample()),
        None => return Err(format!("the codec {} cannot be encrypted", entry.format)),
    };
    mapper.map_err(|error| format!("its codec configuration: {error}"))
}

/// Which bytes of an access unit are protected.
enum Rules {
    Avc,
    Hevc,
    /// All of them.
    Whole,
}

impl Rules {
    fn of(code: FourCc) -> Option<Self> {
        match &code.0 {
            b"avc1" | b"avc3" => Some(Self::Avc),
            b"hvc1" | b"hev1" | b"dvh1" | b"dvhe" => Some(Self::Hevc),
            b"mp4a" | b"ac-3" | b"ec-3" | b"Opus" | b"fLaC" | b"alac" | b"mha1" | b"mhm1" => {
                Some(Self::Whole)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_codecs_that_are_known() {
        let codes = KNOWN.split([',', ' ']).filter(|word| word.len() == 4);
        assert_eq!(codes.filter(|code| is_known(code.parse().unwrap())).count(), 14);
    }
}
