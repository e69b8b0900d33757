//! `sinf`: protection scheme information of a sample entry (ISO/IEC 14496-12, 8.12).

use super::encryption::TrackEncryption;
use crate::{
    BoxRef, ErrorKind, FourCc, Result,
    writer::{put_box, put_full_box, put32},
};

/// Scheme types of ISO/IEC 23001-7, and PIFF's.
pub(super) const SCHEMES: [&[u8; 4]; 5] = [b"cenc", b"cens", b"cbc1", b"cbcs", b"piff"];

/// What a `sinf` box says about its sample entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protection {
    /// Scheme: `cenc`, `cens`, `cbc1`, `cbcs`, or one this crate does not know.
    pub scheme_type: FourCc,
    /// Scheme version, 0x00010000 for the four above.
    pub scheme_version: u32,
    /// Track defaults. Present whenever the scheme is a Common Encryption one.
    pub encryption: Option<TrackEncryption>,
}

impl Protection {
    /// Reads `frma`, `schm` and `schi/tenc`; gives the original format as well.
    pub(crate) fn from_box(sinf: &BoxRef<'_>) -> Result<(FourCc, Self)> {
        let original = sinf.require(b"frma")?.reader().array("data_format").map(FourCc)?;
        let schm = sinf.require(b"schm")?;
        let mut reader = schm.reader();
        reader.version_upto(0)?;
        let scheme_type = reader.array("scheme_type").map(FourCc)?;
        let scheme_version = reader.u32("scheme_version")?;
        let encryption = match sinf.child(b"schi")? {
            Some(schi) => parameters(&schi)?,
            None => None,
        };
        if encryption.is_none() && SCHEMES.iter().any(|scheme| scheme_type == *scheme) {
            return Err(sinf.error(ErrorKind::Missing { kind: FourCc::new(b"tenc") }));
        }
        Ok((original, Self { scheme_type, scheme_version, encryption }))
    }
}

/// User type of the PIFF 1.1 track encryption box, laid out as `tenc`: its 24-bit AlgorithmID
/// is 1 for AES-CTR, which reads as `isProtected`.
const PIFF_TENC: [u8; 16] = [
    0x89, 0x74, 0xdb, 0xce, 0x7b, 0xe7, 0x4c, 0x51, 0x84, 0xf9, 0x71, 0x48, 0xf9, 0x88, 0x25, 0x54,
];

fn parameters(schi: &BoxRef<'_>) -> Result<Option<TrackEncryption>> {
    let mut found = None;
    for child in schi.children() {
        let child = child?;
        if child.kind() == b"tenc" || child.uuid() == Some(PIFF_TENC) {
            child.once(&mut found)?;
        }
    }
    found.as_ref().map(TrackEncryption::from_box).transpose()
}

/// Appends `sinf{frma, schm, schi{tenc}}`.
pub(crate) fn put_sinf(
    out: &mut Vec<u8>,
    original: FourCc,
    scheme: FourCc,
    encryption: &TrackEncryption,
) {
    let pattern = scheme == b"cbcs" || scheme == b"cens";
    put_box(out, *b"sinf", |out| {
        put_box(out, *b"frma", |out| out.extend_from_slice(&original.0));
        put_full_box(out, *b"schm", 0, 0, |out| {
            out.extend_from_slice(&scheme.0);
            put32(out, 0x0001_0000);
        });
        put_box(out, *b"schi", |out| {
            encryption.put_tenc(out, u8::from(pattern));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piff() {
        let tenc = [&[0, 0, 0, 0][..], &[0, 0, 1, 8], &[7; 16]].concat();
        let mut bytes = Vec::new();
        put_box(&mut bytes, *b"sinf", |out| {
            put_box(out, *b"frma", |out| out.extend_from_slice(b"avc1"));
            put_full_box(out, *b"schm", 0, 0, |out| {
                out.extend_from_slice(b"piff\0\x01\0\x01");
            });
            put_box(out, *b"schi", |out| {
                put_box(out, *b"uuid", |out| {
                    out.extend_from_slice(&PIFF_TENC);
                    out.extend_from_slice(&tenc);
                });
            });
        });
        let (_, read) = Protection::from_box(&BoxRef::root(&bytes, 0).unwrap()).unwrap();
        let encryption = read.encryption.unwrap();
        assert!(encryption.is_protected);
        assert_eq!((encryption.iv_size, encryption.kid), (8, [7; 16]));
    }

    #[test]
    fn round_trip() {
        let encryption = TrackEncryption { is_protected: true, iv_size: 8, ..Default::default() };
        let mut bytes = Vec::new();
        put_sinf(&mut bytes, FourCc::new(b"avc1"), FourCc::new(b"cenc"), &encryption);
        assert_eq!(bytes.len(), 80);
        let (original, read) = Protection::from_box(&BoxRef::root(&bytes, 0).unwrap()).unwrap();
        assert_eq!(original, FourCc::new(b"avc1"));
        assert_eq!(read.scheme_type, FourCc::new(b"cenc"));
        assert_eq!(read.scheme_version, 0x0001_0000);
        assert_eq!(read.encryption, Some(encryption));
    }
}
