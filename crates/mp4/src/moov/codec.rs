//! Codec configuration records, as far as a packager needs them.

use std::fmt::Write as _;

use crate::{FourCc, source::be32};

/// Configuration boxes recognised in a sample entry.
pub(crate) const CONFIG_BOXES: [&[u8; 4]; 14] = [
    b"avcC", b"hvcC", b"vvcC", b"av1C", b"vpcC", b"esds", b"dOps", b"dfLa", b"dac3", b"dec3",
    b"dac4", b"mhaC", b"evcC", b"apvC",
];

/// A codec configuration box, payload only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodecConfig {
    /// Box type: `avcC`, `hvcC`, `esds`, …
    pub kind: FourCc,
    /// Payload; for full boxes it begins with version and flags.
    pub data: Box<[u8]>,
}

impl CodecConfig {
    /// The configuration in a box of `kind` with this payload.
    pub fn new(kind: FourCc, data: impl Into<Box<[u8]>>) -> Self {
        Self { kind, data: data.into() }
    }

    /// Bytes of the length before each NAL unit: 1, 2 or 4.
    pub fn nal_length_size(&self) -> Option<u8> {
        let byte = match &self.kind.0 {
            b"avcC" => *self.data.get(4)?,
            b"hvcC" => *self.data.get(21)?,
            // A full box; the field is after five reserved bits, before `ptl_present_flag`.
            b"vvcC" => *self.data.get(4)? >> 1,
            _ => return None,
        };
        Some((byte & 3) + 1).filter(|&size| size != 3)
    }

    /// What an `esds` box says; `None` for any other box, or a broken one.
    pub fn esds(&self) -> Option<EsdsInfo> {
        EsdsInfo::parse(self.data.get(4..).filter(|_| self.kind == b"esds")?)
    }

    pub(crate) fn codec_string(&self, format: FourCc) -> Option<String> {
        let d = &*self.data;
        match &self.kind.0 {
            b"avcC" => {
                Some(format!("{format}.{:02X}{:02X}{:02X}", d.get(1)?, d.get(2)?, d.get(3)?))
            }
            b"hvcC" => hevc(format, d.get(..13)?),
            b"av1C" => {
                let (first, second) = (*d.get(1)?, *d.get(2)?);
                let tier = if second & 0x80 == 0 { 'M' } else { 'H' };
                let depth = match (second & 0x40 != 0, second & 0x20 != 0) {
                    (false, _) => 8,
                    (true, false) => 10,
                    (true, true) => 12,
                };
                Some(format!("{format}.{}.{:02}{tier}.{depth:02}", first >> 5, first & 31))
            }
            b"vpcC" => {
                let depth = d.get(6)? >> 4;
                Some(format!("{format}.{:02}.{:02}.{depth:02}", d.get(4)?, d.get(5)?))
            }
            b"esds" => {
                let info = self.esds()?;
                Some(match info.audio_object_type {
                    Some(aot) if info.object_type == 0x40 => format!("{format}.40.{aot}"),
                    _ => format!("{format}.{:X}", info.object_type),
                })
            }
            _ => None,
        }
    }
}

/// ISO/IEC 14496-15, annex E: profile, compatibility in reverse bit order, tier and level,
/// constraint bytes without trailing zero bytes.
fn hevc(format: FourCc, d: &[u8]) -> Option<String> {
    let space = ["", "A", "B", "C"][usize::from(d[1] >> 6)];
    let tier = if d[1] & 0x20 == 0 { 'L' } else { 'H' };
    let compatibility = be32(d, 2).reverse_bits();
    let mut out = format!("{format}.{space}{}.{compatibility:X}.{tier}{}", d[1] & 31, d[12]);
    let constraints = &d[6..12];
    let used = constraints.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    for byte in &constraints[..used] {
        write!(out, ".{byte:X}").ok()?;
    }
    Some(out)
}

/// Decoder configuration of an `esds` (ISO/IEC 14496-1, 7.2.6; 14496-3, 1.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EsdsInfo {
    /// Object type indication: 0x40 is MPEG-4 audio.
    pub object_type: u8,
    /// Audio object type of the decoder specific info: 2 is AAC-LC. Absent without such info.
    pub audio_object_type: Option<u8>,
    /// Sampling rate of the decoder specific info.
    pub sample_rate: Option<u32>,
    /// Channel configuration of the decoder specific info.
    pub channels: Option<u8>,
}

const RATES: [u32; 13] = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
    7350,
];

impl EsdsInfo {
    fn parse(mut d: &[u8]) -> Option<Self> {
        let mut es = descriptor(&mut d, 3)?;
        let flags = *es.get(2)?;
        es = es.get(3..)?;
        if flags & 0x80 != 0 {
            es = es.get(2..)?;
        }
        if flags & 0x40 != 0 {
            es = es.get(1 + usize::from(*es.first()?)..)?;
        }
        if flags & 0x20 != 0 {
            es = es.get(2..)?;
        }
        let mut config = descriptor(&mut es, 4)?;
        let object_type = *config.first()?;
        config = config.get(13..)?;
        let mut info =
            Self { object_type, audio_object_type: None, sample_rate: None, channels: None };
        if let Some(specific) = descriptor(&mut config, 5) {
            info.audio(specific);
        }
        Some(info)
    }

    fn audio(&mut self, specific: &[u8]) -> Option<()> {
        let mut bits = Bits { bytes: specific, at: 0 };
        let aot = match bits.take(5)? {
            31 => 32 + bits.take(6)?,
            aot => aot,
        };
        self.audio_object_type = u8::try_from(aot).ok();
        self.sample_rate = match bits.take(4)? {
            15 => Some(bits.take(24)?),
            index => RATES.get(index as usize).copied(),
        };
        self.channels = u8::try_from(bits.take(4)?).ok();
        Some(())
    }
}

/// Takes the descriptor with this tag from the front, skipping others.
fn descriptor<'a>(d: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    loop {
        let found = *d.first()?;
        let (mut at, mut len) = (1, 0_usize);
        for _ in 0..4 {
            let byte = *d.get(at)?;
            at += 1;
            len = len << 7 | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let body = d.get(at..at.checked_add(len)?)?;
        *d = &d[at + len..];
        if found == tag {
            return Some(body);
        }
    }
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            let byte = *self.bytes.get(self.at / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(kind: [u8; 4], data: &[u8]) -> CodecConfig {
        CodecConfig::new(FourCc(kind), data)
    }

    #[test]
    fn avc() {
        let avc = config(*b"avcC", &[1, 0x64, 0, 0x1e, 0xff]);
        assert_eq!(avc.codec_string(FourCc::new(b"avc1")).unwrap(), "avc1.64001E");
        assert_eq!(avc.nal_length_size(), Some(4));
        assert_eq!(config(*b"avcC", &[1, 0x64, 0, 0x1e, 0xfe]).nal_length_size(), None);
    }

    #[test]
    fn hevc_main() {
        let mut data = vec![1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 63];
        data.resize(22, 0);
        data[21] = 3;
        let hevc = config(*b"hvcC", &data);
        assert_eq!(hevc.codec_string(FourCc::new(b"hvc1")).unwrap(), "hvc1.1.6.L63.90");
        assert_eq!(hevc.nal_length_size(), Some(4));
    }

    #[test]
    fn aac() {
        let data = [
            0, 0, 0, 0, 3, 0x19, 0, 0, 0, 4, 0x11, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5,
            2, 0x11, 0x90, 6, 1, 2,
        ];
        let info = config(*b"esds", &data).esds().unwrap();
        assert_eq!(info.audio_object_type, Some(2));
        assert_eq!((info.sample_rate, info.channels), (Some(48_000), Some(2)));
    }

    #[test]
    fn esds_without_decoder_specific_info() {
        let data =
            [0, 0, 0, 0, 3, 0x12, 0, 0, 0, 4, 0x0d, 0x6b, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let mp3 = config(*b"esds", &data);
        assert_eq!(mp3.esds().unwrap().audio_object_type, None);
        assert_eq!(mp3.codec_string(FourCc::new(b"mp4a")).unwrap(), "mp4a.6B");
    }

    #[test]
    fn broken_records_give_the_bare_format() {
        for kind in CONFIG_BOXES {
            assert_eq!(config(*kind, &[]).codec_string(FourCc::new(b"abcd")), None);
            assert_eq!(config(*kind, &[]).nal_length_size(), None);
        }
    }
}
