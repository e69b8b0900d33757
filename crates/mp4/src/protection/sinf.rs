//! `sinf`: protection scheme information of a sample entry (ISO/IEC 14496-12, 8.12).

use super::{
    encryption::TrackEncryption,
    piff::{PIFF_TENC, PiffParameters},
};
use crate::{
    BoxRef, ErrorKind, FourCc, Result,
    writer::{put_box, put_full_box, put32},
};

/// Scheme types of ISO/IEC 23001-7, and PIFF's.
pub(super) const SCHEMES: [&[u8; 4]; 5] = [b"cenc", b"cens", b"cbc1", b"cbcs", b"piff"];

/// What the `sinf` boxes of a sample entry say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protection {
    /// Scheme: `cenc`, `cens`, `cbc1`, `cbcs`, `piff`, or one this crate does not know.
    pub scheme_type: FourCc,
    /// Scheme version, 0x00010000 for the first four.
    pub scheme_version: u32,
    /// The scheme of ISO/IEC 23001-7 by which samples are decrypted: `scheme_type`, but for `piff` that
    /// of its algorithm, which is `cenc` for AES-CTR and `cbc1` for AES-CBC.
    pub sample_scheme: FourCc,
    /// Track defaults. Present whenever the scheme is a Common Encryption one.
    pub encryption: Option<TrackEncryption>,
}

impl Protection {
    /// Chooses among the `sinf` boxes of a sample entry, which describe the same protection in several
    /// ways (ISO/IEC 14496-12, 8.12.1): the first of a known scheme, else the first. Known ones that
    /// contradict one another are an error. Gives the original format as well.
    pub(crate) fn from_boxes(sinfs: &[BoxRef<'_>]) -> Result<Option<(FourCc, Self)>> {
        let mut chosen: Option<(FourCc, Self)> = None;
        for sinf in sinfs {
            let read = Self::from_box(sinf)?;
            match &chosen {
                Some((_, known)) if known.is_known() => {
                    if read.1.is_known() && !known.is_same_as(&read.1) {
                        let what = "a `sinf` that contradicts the one before it";
                        return Err(sinf.error(ErrorKind::Invalid(what)));
                    }
                }
                Some(_) if !read.1.is_known() => {}
                _ => chosen = Some(read),
            }
        }
        Ok(chosen)
    }

    /// Whether this crate knows the scheme.
    fn is_known(&self) -> bool {
        SCHEMES.iter().any(|scheme| self.scheme_type == *scheme)
    }

    /// Whether samples are decrypted in the same way.
    fn is_same_as(&self, other: &Self) -> bool {
        (self.sample_scheme, self.encryption) == (other.sample_scheme, other.encryption)
    }

    /// Reads `frma`, `schm` and `schi/tenc`; gives the original format as well.
    fn from_box(sinf: &BoxRef<'_>) -> Result<(FourCc, Self)> {
        let original = sinf.require(b"frma")?.reader().array("data_format").map(FourCc)?;
        let schm = sinf.require(b"schm")?;
        let mut reader = schm.reader();
        reader.version_upto(0)?;
        let scheme_type = reader.array("scheme_type").map(FourCc)?;
        let scheme_version = reader.u32("scheme_version")?;
        let (encryption, algorithm) = match sinf.child(b"schi")? {
            Some(schi) => parameters(&schi)?,
            None => (None, None),
        };
        let sample_scheme = match algorithm {
            _ if scheme_type != b"piff" => scheme_type,
            Some(scheme) => scheme,
            None => FourCc::new(b"cenc"),
        };
        if algorithm.is_some_and(|scheme| scheme != sample_scheme) {
            let what = "an AlgorithmID that is not that of the scheme";
            return Err(sinf.error(ErrorKind::Invalid(what)));
        }
        let this = Self { scheme_type, scheme_version, sample_scheme, encryption };
        if encryption.is_none() && this.is_known() {
            return Err(sinf.error(ErrorKind::Missing { kind: FourCc::new(b"tenc") }));
        }
        Ok((original, this))
    }
}

/// The parameters in `tenc`, or in PIFF's track encryption box, and the scheme that the latter names.
fn parameters(schi: &BoxRef<'_>) -> Result<(Option<TrackEncryption>, Option<FourCc>)> {
    let mut found = None;
    for child in schi.children() {
        let child = child?;
        if child.kind() == b"tenc" || child.uuid() == Some(PIFF_TENC) {
            child.once(&mut found)?;
        }
    }
    match found {
        None => Ok((None, None)),
        Some(tenc) if tenc.kind() == b"tenc" => Ok((Some(TrackEncryption::from_box(&tenc)?), None)),
        Some(tenc) => {
            let PiffParameters { scheme, encryption } = PiffParameters::from_tenc(&tenc)?;
            Ok((Some(encryption), scheme))
        }
    }
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
        for (scheme, version) in [(b"cenc", 0), (b"cens", 1), (b"cbc1", 0), (b"cbcs", 1)] {
            let blocks = if version == 1 { (1, 9) } else { (0, 0) };
            let encryption =
                TrackEncryption::per_sample([7; 16], 8).with_pattern(blocks.0, blocks.1);
            let mut bytes = Vec::new();
            put_sinf(&mut bytes, FourCc::new(b"avc1"), FourCc::new(scheme), &encryption);
            assert_eq!((bytes.len(), bytes[56]), (80, version), "{scheme:?}");
            let (original, read) = Protection::from_box(&BoxRef::root(&bytes, 0).unwrap()).unwrap();
            assert_eq!(original, FourCc::new(b"avc1"));
            assert_eq!(read.scheme_type, FourCc::new(scheme));
            assert_eq!(read.scheme_version, 0x0001_0000);
            assert_eq!(read.encryption, Some(encryption));
        }
    }

    /// Which of `sinf` boxes with these schemes and KIDs is chosen.
    fn chosen(sinfs: &[(&[u8; 4], u8)]) -> Result<usize> {
        let boxes: Vec<_> = sinfs
            .iter()
            .zip(0..)
            .map(|((scheme, kid), number)| {
                let mut bytes = Vec::new();
                let encryption = TrackEncryption::per_sample([*kid; 16], 8);
                let format = FourCc([number; 4]);
                put_sinf(&mut bytes, format, FourCc::new(scheme), &encryption);
                bytes
            })
            .collect();
        let boxes: Vec<_> = boxes.iter().map(|bytes| BoxRef::root(bytes, 0).unwrap()).collect();
        let (format, _) = Protection::from_boxes(&boxes)?.unwrap();
        Ok(format.0[0].into())
    }

    #[test]
    fn the_first_known_scheme_is_chosen() {
        assert_eq!(chosen(&[(b"abcd", 1), (b"efgh", 2)]).unwrap(), 0);
        assert_eq!(chosen(&[(b"abcd", 1), (b"cenc", 2), (b"efgh", 3)]).unwrap(), 1);
        assert_eq!(chosen(&[(b"cenc", 1), (b"cenc", 1), (b"abcd", 2)]).unwrap(), 0);
        for contradiction in [[(b"cenc", 1), (b"cenc", 2)], [(b"cenc", 1), (b"cbc1", 1)]] {
            let error = chosen(&contradiction).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error}");
        }
    }
}
