//! The top level of a file: headers only, media data is never read.

use crate::{
    Error, ErrorKind, FourCc, ReadAt, Result,
    header::{self, MAX_HEADER},
};

/// Largest metadata box [`load`] reads. A `moov` of 256 MiB describes weeks of samples.
pub const METADATA_CAP: u64 = 256 << 20;

/// Where a top-level box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoxHeader {
    /// Box type.
    pub kind: FourCc,
    /// User type of a `uuid` box.
    pub uuid: Option<[u8; 16]>,
    /// File offset of the header.
    pub offset: u64,
    /// Bytes of header: 8 or 16, plus 16 for `uuid`.
    pub header_len: u64,
    /// Whole size, header included.
    pub size: u64,
    /// The size field is 0: the box runs to the end of the file.
    pub open_ended: bool,
}

impl BoxHeader {
    /// Offset of the first byte after the box.
    pub fn end(&self) -> u64 {
        self.offset + self.size
    }

    /// Offset of the first payload byte.
    pub fn payload_offset(&self) -> u64 {
        self.offset + self.header_len
    }
}

/// Walks the top-level boxes of `reader`, reading only their headers.
///
/// The iterator ends after the first error. A box past the end of the file is
/// [`ErrorKind::Truncated`]; 1 to 7 bytes after the last box are
/// [`ErrorKind::HeaderTruncated`].
pub fn top_level<R: ReadAt + ?Sized>(reader: &R) -> TopLevel<'_, R> {
    top_level_from(reader, 0)
}

/// [`top_level`] from the box that begins at `offset`.
pub fn top_level_from<R: ReadAt + ?Sized>(reader: &R, offset: u64) -> TopLevel<'_, R> {
    TopLevel { reader, at: offset, done: false }
}

/// Iterator made by [`top_level`].
#[derive(Debug)]
pub struct TopLevel<'r, R: ?Sized> {
    reader: &'r R,
    at: u64,
    done: bool,
}

impl<R: ReadAt + ?Sized> TopLevel<'_, R> {
    fn read(&self) -> Result<BoxHeader> {
        let offset = self.at;
        let left = self.reader.len().saturating_sub(offset);
        let mut header = [0; MAX_HEADER];
        let name = |header: &[u8]| match header.get(4..8) {
            Some(kind) => FourCc([kind[0], kind[1], kind[2], kind[3]]).to_string(),
            None => "end of file".to_owned(),
        };
        // No more than the header has: of a pipe, the bytes behind it may not be there yet.
        let (mut have, mut want) = (0, 8);
        loop {
            // At most 32, so the conversion cannot fail.
            want = usize::try_from(left.min(want as u64)).unwrap_or(0);
            self.reader.read_exact_at(&mut header[have..want], offset + have as u64).map_err(
                |error| Error::new("top level".to_owned(), offset, ErrorKind::Io(error)),
            )?;
            have = want;
            want = header::wanted(&header[..have]);
            if want <= have || have as u64 == left {
                break;
            }
        }
        let prefix = &header[..have];
        let head =
            header::Header::parse(prefix).map_err(|kind| Error::new(name(prefix), offset, kind))?;
        let size = head.size.unwrap_or(left);
        if size > left {
            let kind = ErrorKind::Truncated { kind: head.kind, size, missing: size - left };
            return Err(Error::new(name(prefix), offset, kind));
        }
        Ok(BoxHeader {
            kind: head.kind,
            uuid: head.uuid,
            offset,
            header_len: head.len as u64,
            size,
            open_ended: head.size.is_none(),
        })
    }
}

impl<R: ReadAt + ?Sized> Iterator for TopLevel<'_, R> {
    type Item = Result<BoxHeader>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = match self.reader.ends_at(self.at) {
            Ok(true) => return None,
            Ok(false) => self.read(),
            Err(error) => Err(Error::new("top level".to_owned(), self.at, ErrorKind::Io(error))),
        };
        match &item {
            Ok(header) => self.at = header.end(),
            Err(_) => self.done = true,
        }
        Some(item)
    }
}

/// Loads one metadata box whole, header included, refusing more than [`METADATA_CAP`] bytes.
pub fn load<R: ReadAt + ?Sized>(reader: &R, header: &BoxHeader) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    load_into(reader, header, METADATA_CAP, &mut bytes)?;
    Ok(bytes)
}

/// Loads one box into `bytes`, whose old content is dropped and whose memory is reused.
pub fn load_into<R: ReadAt + ?Sized>(
    reader: &R,
    header: &BoxHeader,
    cap: u64,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let fail = |kind| Error::new(header.kind.to_string(), header.offset, kind);
    let (kind, size) = (header.kind, header.size);
    let left = reader.len().saturating_sub(header.offset);
    if size > left {
        return Err(fail(ErrorKind::Truncated { kind, size, missing: size - left }));
    }
    let len = match usize::try_from(size) {
        Ok(len) if size <= cap => len,
        _ => {
            return Err(fail(ErrorKind::TooLarge { kind, size, limit: cap }));
        }
    };
    bytes.clear();
    bytes.resize(len, 0);
    reader.read_exact_at(bytes, header.offset).map_err(|error| fail(ErrorKind::Io(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_and_loads() {
        let file = b"\0\0\0\x08free\0\0\0\x01wide\0\0\0\0\0\0\0\x11x\0\0\0\0mdatabc".to_vec();
        let boxes: Vec<_> = top_level(&file).collect::<Result<_>>().unwrap();
        assert_eq!(boxes.iter().map(|b| b.size).collect::<Vec<_>>(), [8, 17, 11]);
        assert!(boxes[2].open_ended);
        assert_eq!(boxes[1].payload_offset(), 24);
        assert_eq!(load(&file, &boxes[2]).unwrap(), b"\0\0\0\0mdatabc");
    }

    #[test]
    fn truncated_file_names_the_box() {
        let file = b"\0\0\0\x08free\0\0\0\x20mdatabc".to_vec();
        let error = top_level(&file).nth(1).unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "mdat at byte 8: truncated file: box `mdat` of 32 bytes misses 21 bytes"
        );
    }

    #[test]
    fn cap_is_enforced_before_allocation() {
        let file = b"\0\0\0\x10moov12345678".to_vec();
        let header = top_level(&file).next().unwrap().unwrap();
        let error = load_into(&file, &header, 15, &mut Vec::new()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { size: 16, limit: 15, .. }));
    }
}
