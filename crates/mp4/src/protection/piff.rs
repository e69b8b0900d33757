//! PIFF 1.1 (Portable encoding of audio-video objects, 5.3): the ancestors of `tenc`, `senc` and `pssh`
//! as `uuid` boxes, for reading.
//!
//! The track encryption box says of all samples what the sample encryption box may say of its own:
//!
//! ```text
//! AlgorithmID (24 bits) | IV size | KID
//! ```

use super::TrackEncryption;
use crate::{BoxRef, ErrorKind, FourCc, Result, source::Reader};

/// User type of the track encryption box.
pub(super) const PIFF_TENC: [u8; 16] = [
    0x89, 0x74, 0xdb, 0xce, 0x7b, 0xe7, 0x4c, 0x51, 0x84, 0xf9, 0x71, 0x48, 0xf9, 0x88, 0x25, 0x54,
];

/// User type of the sample encryption box.
pub(super) const PIFF_SENC: [u8; 16] = [
    0xa2, 0x39, 0x4f, 0x52, 0x5a, 0x9b, 0x4f, 0x14, 0xa2, 0x44, 0x6c, 0x42, 0x7c, 0x64, 0x8d, 0xf4,
];

/// User type of the protection system specific header box.
pub(super) const PIFF_PSSH: [u8; 16] = [
    0xd0, 0x8a, 0x4f, 0x18, 0x10, 0xf3, 0x4a, 0x82, 0xb6, 0xc8, 0x32, 0xd8, 0xab, 0xa1, 0x83, 0xd3,
];

/// Parameters as PIFF states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PiffParameters {
    /// The scheme of Common Encryption that does the same: `cenc` for AES-CTR, `cbc1` for AES-CBC; none
    /// for samples that are not encrypted.
    pub(crate) scheme: Option<FourCc>,
    pub(crate) encryption: TrackEncryption,
}

impl PiffParameters {
    /// Reads a track encryption box.
    pub(super) fn from_tenc(tenc: &BoxRef<'_>) -> Result<Self> {
        let mut reader = tenc.reader();
        reader.version_upto(0)?;
        Self::fields(&mut reader)
    }

    /// Reads the fields that both boxes have.
    pub(super) fn fields(reader: &mut Reader<'_>) -> Result<Self> {
        let algorithm: [u8; 3] = reader.array("AlgorithmID")?;
        let iv_size = reader.u8("IV_size")?;
        let kid = reader.array("KID")?;
        let invalid = |what, value| reader.error(ErrorKind::InvalidValue { what, value });
        let scheme = match algorithm {
            [0, 0, 0] => None,
            [0, 0, 1] => Some(FourCc::new(b"cenc")),
            [0, 0, 2] => Some(FourCc::new(b"cbc1")),
            [a, b, c] => {
                let value = u64::from(u32::from_be_bytes([0, a, b, c]));
                return Err(invalid("AlgorithmID", value));
            }
        };
        let encryption = match (&scheme, iv_size) {
            (None, _) => TrackEncryption { kid, ..TrackEncryption::default() },
            (Some(_), 16) => TrackEncryption::per_sample(kid, iv_size),
            (Some(scheme), 8) if *scheme == b"cenc" => TrackEncryption::per_sample(kid, iv_size),
            _ => return Err(invalid("IV_size", iv_size.into())),
        };
        Ok(Self { scheme, encryption })
    }
}
