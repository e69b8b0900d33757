//! `pssh`: protection system specific header (ISO/IEC 23001-7, 8.1).

use super::piff::PIFF_PSSH;
use crate::{
    BoxRef, ErrorKind, Result,
    writer::{put_full_box, put32},
};

/// System id of the W3C common format, whose payload is the key id list alone.
pub const COMMON_SYSTEM_ID: [u8; 16] = [
    0x10, 0x77, 0xef, 0xec, 0xc0, 0xb2, 0x4d, 0x02, 0xac, 0xe3, 0x3c, 0x1e, 0x52, 0xe2, 0xfb, 0x4b,
];

/// Whether a box is a `pssh`, or PIFF's ancestor of it.
pub(crate) fn is_pssh(found: &BoxRef<'_>) -> bool {
    found.kind() == b"pssh" || found.uuid() == Some(PIFF_PSSH)
}

/// A parsed `pssh` box, or the `uuid` box of PIFF that has the fields of its version 0.
///
/// ```
/// use lanelock_mp4::{COMMON_SYSTEM_ID, Pssh};
///
/// # fn main() -> lanelock_mp4::Result<()> {
/// let made = Pssh::common(&[[7; 16]]); // the KIDs
/// let read = Pssh::parse(&made.raw)?;
/// assert_eq!((read.system_id, &read.kids[..]), (COMMON_SYSTEM_ID, &[[7; 16]][..]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pssh {
    /// Version: 1 or more has key ids.
    pub version: u8,
    /// Protection system.
    pub system_id: [u8; 16],
    /// Key ids of version 1.
    pub kids: Vec<[u8; 16]>,
    /// System specific data.
    pub data: Vec<u8>,
    /// The whole box as stored.
    pub raw: Vec<u8>,
}

impl Pssh {
    /// Parses one whole box.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::from_box(&BoxRef::root_of(bytes, 0, b"pssh")?)
    }

    pub(crate) fn from_box(pssh: &BoxRef<'_>) -> Result<Self> {
        let mut reader = pssh.reader();
        let (version, _) = reader.version_upto(1)?;
        let system_id = reader.array("SystemID")?;
        let mut kids = Vec::new();
        if version > 0 {
            let count = reader.u32("KID_count")?;
            let records = reader.records(count, 16, "KIDs")?;
            let len = records.count as usize * 16;
            let list = &pssh.source.bytes[records.at..records.at + len];
            kids = list.as_chunks().0.to_vec();
        }
        let size = reader.u32("DataSize")?;
        let data = reader.bytes(usize::try_from(size).unwrap_or(usize::MAX), "Data")?.to_vec();
        if reader.left() != 0 {
            return Err(reader.error(ErrorKind::Invalid("bytes after the data of a `pssh`")));
        }
        Ok(Self { version, system_id, kids, data, raw: pssh.bytes().to_vec() })
    }

    /// Builds a box: version 0 without key ids, version 1 with.
    pub fn new(system_id: [u8; 16], kids: &[[u8; 16]], data: &[u8]) -> Self {
        let version = u8::from(!kids.is_empty());
        let mut raw = Vec::with_capacity(36 + 16 * kids.len() + data.len());
        put_full_box(&mut raw, *b"pssh", version, 0, |out| {
            out.extend_from_slice(&system_id);
            if version == 1 {
                put32(out, u32::try_from(kids.len()).unwrap_or(u32::MAX));
                out.extend_from_slice(kids.as_flattened());
            }
            put32(out, u32::try_from(data.len()).unwrap_or(u32::MAX));
            out.extend_from_slice(data);
        });
        Self { version, system_id, kids: kids.to_vec(), data: data.to_vec(), raw }
    }

    /// The W3C common box: key ids and no data.
    pub fn common(kids: &[[u8; 16]]) -> Self {
        Self::new(COMMON_SYSTEM_ID, kids, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_sizes_of_the_note() {
        assert_eq!(Pssh::common(&[[1; 16]]).raw.len(), 52);
        assert_eq!(Pssh::common(&[[1; 16], [2; 16]]).raw.len(), 68);
    }

    #[test]
    fn round_trip() {
        for pssh in [
            Pssh::common(&[[1; 16], [2; 16]]),
            Pssh::new([3; 16], &[], b"payload"),
            Pssh::new([3; 16], &[[4; 16]], b"payload"),
        ] {
            assert_eq!(Pssh::parse(&pssh.raw).unwrap(), pssh);
        }
    }

    #[test]
    fn counts_are_checked_before_use() {
        let mut raw = Pssh::common(&[[1; 16]]).raw;
        raw[28] = 0x7f;
        let error = Pssh::parse(&raw).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Count { what: "KIDs", .. }));
        let mut raw = Pssh::new([3; 16], &[], b"payload").raw;
        raw[28] = 0xff;
        let error = Pssh::parse(&raw).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Short { what: "Data", .. }));
    }
}
