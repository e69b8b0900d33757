//! Codec configuration records, as far as a packager needs them.

use super::esds::EsdsInfo;
use crate::FourCc;

/// Configuration boxes recognised in a sample entry.
pub(crate) const CONFIG_BOXES: [&[u8; 4]; 15] = [
    b"avcC", b"hvcC", b"vvcC", b"av1C", b"vpcC", b"esds", b"dOps", b"dfLa", b"dac3", b"dec3",
    b"dac4", b"mhaC", b"alac", b"evcC", b"apvC",
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(kind: [u8; 4], data: &[u8]) -> CodecConfig {
        CodecConfig::new(FourCc(kind), data)
    }

    #[test]
    fn lengths_of_nal_units() {
        for (last, size) in [(0xfc, Some(1)), (0xfd, Some(2)), (0xfe, None), (0xff, Some(4))] {
            let avc = config(*b"avcC", &[1, 0x64, 0, 0x1e, last]);
            assert_eq!(avc.nal_length_size(), size);
            let mut hevc = [0; 22];
            hevc[21] = last;
            assert_eq!(config(*b"hvcC", &hevc).nal_length_size(), size);
        }
    }

    #[test]
    fn broken_records_say_nothing() {
        for kind in CONFIG_BOXES {
            assert_eq!(config(*kind, &[]).esds(), None);
            assert_eq!(config(*kind, &[]).nal_length_size(), None);
        }
    }
}
