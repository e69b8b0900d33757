//! `tenc` and `seig`: the parameters of Common Encryption (ISO/IEC 23001-7, 8.2 and 6).
//!
//! The track encryption box and the sample group entry carry the same fields:
//!
//! ```text
//! tenc  FullBox | 0 | crypt:skip nibbles (v1; 0 in v0) | isProtected | IV size | KID
//! seig            0 | crypt:skip nibbles               | isProtected | IV size | KID
//! both  if isProtected = 1 and IV size = 0: constant IV size, constant IV
//! ```

use std::fmt;

use crate::{BoxRef, ErrorKind, Result, source::Reader, writer::put_full_box};

/// An initialization vector of up to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StoredIv {
    bytes: [u8; 16],
    len: u8,
}

impl StoredIv {
    /// Takes an IV of 8 or 16 bytes; `None` for any other length.
    pub fn new(iv: &[u8]) -> Option<Self> {
        let len = match iv.len() {
            8 => 8,
            16 => 16,
            _ => return None,
        };
        let mut bytes = [0; 16];
        bytes[..iv.len()].copy_from_slice(iv);
        Some(Self { bytes, len })
    }

    /// The bytes as stored, 8 or 16.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The IV padded with zero bytes on the right to a whole block.
    pub fn to_block(self) -> [u8; 16] {
        self.bytes
    }
}

impl fmt::Debug for StoredIv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.as_slice() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Parameters of a `tenc` box or of a `seig` sample group entry (ISO/IEC 23001-7, 8.2 and 6); by
/// default, of clear samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TrackEncryption {
    /// Whether the samples are protected.
    pub is_protected: bool,
    /// Bytes of IV each sample carries: 0, 8 or 16.
    pub iv_size: u8,
    /// Key identifier.
    pub kid: [u8; 16],
    /// 16-byte blocks encrypted in each pattern; 0 without pattern.
    pub crypt_blocks: u8,
    /// 16-byte blocks left clear in each pattern; 0 without pattern.
    pub skip_blocks: u8,
    /// IV of all samples when `iv_size` is 0.
    pub constant_iv: Option<StoredIv>,
}

impl TrackEncryption {
    /// Protected samples that carry an IV of `iv_size` bytes each: 8 or 16.
    pub fn per_sample(kid: [u8; 16], iv_size: u8) -> Self {
        Self { is_protected: true, iv_size, kid, ..Self::default() }
    }

    /// Protected samples that share one IV.
    pub fn constant(kid: [u8; 16], iv: StoredIv) -> Self {
        Self { is_protected: true, kid, constant_iv: Some(iv), ..Self::default() }
    }

    /// Sets the pattern, in blocks of 16 bytes: encrypted, then clear.
    #[must_use]
    pub fn with_pattern(self, crypt_blocks: u8, skip_blocks: u8) -> Self {
        Self { crypt_blocks, skip_blocks, ..self }
    }

    /// Reads a `tenc` box, version 0 or 1.
    pub(crate) fn from_box(tenc: &BoxRef<'_>) -> Result<Self> {
        let mut reader = tenc.reader();
        let (version, _) = reader.version_upto(1)?;
        let mut fields = Self::fields(&mut reader)?;
        if version == 0 {
            // The byte is reserved in version 0.
            (fields.crypt_blocks, fields.skip_blocks) = (0, 0);
        }
        Ok(fields)
    }

    /// Reads the fields common to `tenc` and `seig`.
    pub(crate) fn fields(reader: &mut Reader<'_>) -> Result<Self> {
        reader.u8("reserved byte")?;
        let pattern = reader.u8("pattern")?;
        let protected = reader.u8("isProtected")?;
        let iv_size = reader.u8("Per_Sample_IV_Size")?;
        let kid = reader.array("KID")?;
        let invalid = |what, value: u8| {
            reader.error(ErrorKind::InvalidValue { what, value: u64::from(value) })
        };
        if protected > 1 {
            return Err(invalid("isProtected", protected));
        }
        if !matches!(iv_size, 0 | 8 | 16) {
            return Err(invalid("Per_Sample_IV_Size", iv_size));
        }
        let constant_iv = if protected == 1 && iv_size == 0 {
            let len = reader.u8("constant_IV_size")?;
            let iv = reader.bytes(usize::from(len), "constant_IV")?;
            let Some(iv) = StoredIv::new(iv) else {
                let kind = ErrorKind::InvalidValue { what: "constant_IV_size", value: len.into() };
                return Err(reader.error(kind));
            };
            Some(iv)
        } else {
            None
        };
        Ok(Self {
            is_protected: protected == 1,
            iv_size,
            kid,
            crypt_blocks: pattern >> 4,
            skip_blocks: pattern & 15,
            constant_iv,
        })
    }

    /// Bytes of the `tenc` box: 32, or 49 with a constant IV of 16 bytes.
    ///
    /// Version 1 is the one with a pattern; players refuse `cbcs` and `cens` without it.
    pub fn to_tenc(&self, version: u8) -> Vec<u8> {
        let mut out = Vec::with_capacity(49);
        self.put_tenc(&mut out, version);
        out
    }

    pub(crate) fn put_tenc(&self, out: &mut Vec<u8>, version: u8) {
        put_full_box(out, *b"tenc", version, 0, |out| {
            let start = out.len();
            self.put_fields(out);
            if version == 0 {
                out[start + 1] = 0;
            }
        });
    }

    /// Writes the fields common to `tenc` and `seig`.
    pub(crate) fn put_fields(&self, out: &mut Vec<u8>) {
        let pattern = self.crypt_blocks << 4 | self.skip_blocks & 15;
        out.extend_from_slice(&[0, pattern, u8::from(self.is_protected), self.iv_size]);
        out.extend_from_slice(&self.kid);
        if let (true, 0, Some(iv)) = (self.is_protected, self.iv_size, self.constant_iv) {
            out.push(iv.len);
            out.extend_from_slice(iv.as_slice());
        }
    }

    /// Whether the fields agree with each other and fit the box.
    pub fn is_consistent(&self) -> bool {
        let iv = match (self.is_protected, self.iv_size) {
            (true, 0) => self.constant_iv.is_some(),
            (true, size) => matches!(size, 8 | 16) && self.constant_iv.is_none(),
            (false, size) => size == 0 && self.constant_iv.is_none(),
        };
        iv && self.crypt_blocks < 16 && self.skip_blocks < 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cbcs() -> TrackEncryption {
        TrackEncryption {
            is_protected: true,
            kid: *b"0123456789abcdef",
            crypt_blocks: 1,
            skip_blocks: 9,
            constant_iv: StoredIv::new(&[7; 16]),
            ..TrackEncryption::default()
        }
    }

    #[test]
    fn round_trip() {
        let cenc = TrackEncryption {
            iv_size: 8,
            constant_iv: None,
            crypt_blocks: 0,
            skip_blocks: 0,
            ..cbcs()
        };
        for (fields, version, size) in [(cbcs(), 1, 49), (cenc, 0, 32)] {
            assert!(fields.is_consistent());
            let bytes = fields.to_tenc(version);
            assert_eq!(bytes.len(), size);
            let root = BoxRef::root(&bytes, 0).unwrap();
            assert_eq!(TrackEncryption::from_box(&root).unwrap(), fields);
        }
        assert_eq!(cbcs().to_tenc(1)[13], 0x19);
    }

    #[test]
    fn refuses_odd_fields() {
        // (offset in the box, value): isProtected, IV size, constant IV size, version.
        for (at, value) in [(14, 2), (15, 7), (32, 15), (32, 17), (8, 2)] {
            let mut bytes = cbcs().to_tenc(1);
            bytes[at] = value;
            let root = BoxRef::root(&bytes, 0).unwrap();
            let error = TrackEncryption::from_box(&root).unwrap_err();
            assert_eq!(error.path(), "tenc", "byte {at}");
        }
    }

    #[test]
    fn short_iv_is_padded_on_the_right() {
        let block = StoredIv::new(&[9; 8]).unwrap().to_block();
        assert_eq!(block, [9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(StoredIv::new(&[1; 12]), None);
    }

    #[test]
    fn iv_is_shown_in_hexadecimal() {
        let iv = StoredIv::new(&[0x0a, 1, 2, 3, 4, 5, 6, 0xff]).unwrap();
        assert_eq!(format!("{iv:?}"), "0a010203040506ff");
    }

    #[test]
    fn version_0_has_no_pattern() {
        let bytes = TrackEncryption::per_sample([7; 16], 8).with_pattern(1, 9).to_tenc(0);
        assert_eq!(bytes[8..16], [0, 0, 0, 0, 0, 0, 1, 8]);
        let mut stored = cbcs().to_tenc(1);
        stored[8] = 0;
        let read = TrackEncryption::from_box(&BoxRef::root(&stored, 0).unwrap()).unwrap();
        assert_eq!((read.crypt_blocks, read.skip_blocks), (0, 0));
    }

    #[test]
    fn consistent_fields() {
        let clear = TrackEncryption::default();
        let cenc = TrackEncryption::per_sample([7; 16], 8);
        assert!(clear.is_consistent() && cenc.is_consistent() && cbcs().is_consistent());
        assert!(cbcs().with_pattern(15, 15).is_consistent());
        for fields in [
            cbcs().with_pattern(16, 9),
            cbcs().with_pattern(1, 16),
            TrackEncryption { constant_iv: None, ..cbcs() },
            TrackEncryption { iv_size: 8, ..cbcs() },
            TrackEncryption { iv_size: 12, ..cenc },
            TrackEncryption { is_protected: false, ..cbcs() },
            TrackEncryption { is_protected: false, ..cenc },
        ] {
            assert!(!fields.is_consistent(), "{fields:?}");
        }
    }
}
