//! The box header (ISO/IEC 14496-12, 4.2).

use crate::{ErrorKind, FourCc};

/// Longest header: 64-bit size and `uuid` user type.
pub(crate) const MAX_HEADER: usize = 32;

/// How long a header is that begins with `bytes`, as far as they say.
pub(crate) fn wanted(bytes: &[u8]) -> usize {
    let (Some(size), Some(kind)) = (bytes.get(..4), bytes.get(4..8)) else { return 8 };
    8 + if size == [0, 0, 0, 1] { 8 } else { 0 } + if kind == b"uuid" { 16 } else { 0 }
}

/// A parsed header, not yet checked against its surroundings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) kind: FourCc,
    /// User type of a `uuid` box.
    pub(crate) uuid: Option<[u8; 16]>,
    pub(crate) len: usize,
    /// Whole size; `None` when the field is 0, "to the end of the file".
    pub(crate) size: Option<u64>,
}

impl Header {
    /// Parses the header at the start of `bytes`, of which at most [`MAX_HEADER`] are looked at.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ErrorKind> {
        let short = || ErrorKind::HeaderTruncated { available: bytes.len() as u64 };
        let (size32, rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
        let (kind, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let kind = FourCc(*kind);
        let (mut len, mut rest) = (8, rest);
        let size = match u32::from_be_bytes(*size32) {
            0 => None,
            1 => {
                let (size64, after) = rest.split_first_chunk::<8>().ok_or_else(short)?;
                (len, rest) = (16, after);
                Some(u64::from_be_bytes(*size64))
            }
            size => Some(u64::from(size)),
        };
        let mut uuid = None;
        if kind == b"uuid" {
            len += 16;
            // A size that leaves no room for the user type is reported as such, not as missing bytes.
            if size.is_none_or(|size| size >= len as u64) {
                uuid = Some(*rest.first_chunk::<16>().ok_or_else(short)?);
            }
        }
        match size {
            Some(size) if size < len as u64 => {
                Err(ErrorKind::SizeTooSmall { kind, size, header: len as u64 })
            }
            _ => Ok(Self { kind, uuid, len, size }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let plain = Header::parse(b"\0\0\0\x08free").unwrap();
        assert_eq!((plain.len, plain.size), (8, Some(8)));
        let wide = Header::parse(b"\0\0\0\x01mdat\0\0\0\x01\0\0\0\0").unwrap();
        assert_eq!((wide.len, wide.size), (16, Some(1 << 32)));
        let open = Header::parse(b"\0\0\0\0mdat").unwrap();
        assert_eq!((open.len, open.size), (8, None));
        let uuid = Header::parse(b"\0\0\0\x18uuid0123456789abcdef").unwrap();
        assert_eq!((uuid.len, uuid.uuid), (24, Some(*b"0123456789abcdef")));
    }

    #[test]
    fn refuses() {
        for bad in [&b"\0\0\0\x07free"[..], b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x0f", b"\0\0\0\x17uuid"]
        {
            assert!(matches!(Header::parse(bad), Err(ErrorKind::SizeTooSmall { .. })));
        }
        for bad in [&b""[..], b"\0\0\0\x08fre", b"\0\0\0\x01mdat\0\0", b"\0\0\0\x20uuid0123"] {
            assert!(matches!(Header::parse(bad), Err(ErrorKind::HeaderTruncated { .. })));
        }
    }
}
