//! Boxes in memory: a typed cursor into the bytes of one top-level box.

use std::ops::Range;

use crate::{
    Error, ErrorKind, FourCc, Result,
    header::Header,
    nesting::{MAX_DEPTH, children_offset},
    source::{Reader, Source},
};

/// A box inside the bytes of one top-level box, or that box itself.
///
/// Copying it copies no data. Its header has been checked against the parent.
///
/// ```
/// use lanelock_mp4::BoxRef;
///
/// # fn main() -> lanelock_mp4::Result<()> {
/// let bytes = b"\0\0\0\x18udta\0\0\0\x10name\0\0\0\0film"; // found at byte 1000 of a file
/// let udta = BoxRef::root(bytes, 1000)?;
/// let name = udta.require(b"name")?; // an error with path and offset, if it is missing
/// assert_eq!((name.payload(), name.file_offset()), (&b"\0\0\0\0film"[..], 1008));
/// assert_eq!(name.path(), "udta/name");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BoxRef<'a> {
    pub(crate) source: Source<'a>,
    kind: FourCc,
    uuid: Option<[u8; 16]>,
    start: usize,
    payload: usize,
    end: usize,
    depth: usize,
}

impl<'a> BoxRef<'a> {
    /// Takes the bytes of one whole top-level box found at `file_offset`.
    pub fn root(bytes: &'a [u8], file_offset: u64) -> Result<Self> {
        let source = Source { bytes, base: file_offset };
        let root = Self::parse(source, 0, bytes.len(), 0, true)?;
        if root.end != bytes.len() {
            return Err(source.error(
                0,
                root.end,
                ErrorKind::Mismatch {
                    what: "size of the top-level box",
                    expected: bytes.len() as u64,
                    found: root.end as u64,
                },
            ));
        }
        Ok(root)
    }

    /// As [`Self::root`], also checking the type.
    pub fn root_of(bytes: &'a [u8], file_offset: u64, kind: &[u8; 4]) -> Result<Self> {
        let root = Self::root(bytes, file_offset)?;
        if root.kind != kind {
            return Err(root.error(ErrorKind::Missing { kind: FourCc::new(kind) }));
        }
        Ok(root)
    }

    fn parse(
        source: Source<'a>,
        start: usize,
        limit: usize,
        depth: usize,
        open_allowed: bool,
    ) -> Result<Self> {
        let left = &source.bytes[start..limit];
        let head = Header::parse(left).map_err(|kind| source.error(start, start, kind))?;
        let kind = head.kind;
        let size = match head.size {
            Some(size) => size,
            None if open_allowed => left.len() as u64,
            None => return Err(source.error(start, start, ErrorKind::OpenSize { kind })),
        };
        let available = left.len();
        match usize::try_from(size) {
            Ok(size) if size <= available => Ok(Self {
                source,
                kind,
                uuid: head.uuid,
                start,
                payload: start + head.len,
                end: start + size,
                depth,
            }),
            _ => {
                let available = available as u64;
                Err(source.error(start, start, ErrorKind::Overrun { kind, size, available }))
            }
        }
    }

    /// Box type.
    pub fn kind(&self) -> FourCc {
        self.kind
    }

    /// User type of a `uuid` box.
    pub fn uuid(&self) -> Option<[u8; 16]> {
        self.uuid
    }

    /// Absolute file offset of the header.
    pub fn file_offset(&self) -> u64 {
        self.source.base + self.start as u64
    }

    /// Range of the whole box in the bytes given to [`Self::root`].
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Range of the payload in the bytes given to [`Self::root`].
    pub fn payload_range(&self) -> Range<usize> {
        self.payload..self.end
    }

    /// The whole box, header included.
    pub fn bytes(&self) -> &'a [u8] {
        &self.source.bytes[self.start..self.end]
    }

    /// What follows the header.
    pub fn payload(&self) -> &'a [u8] {
        &self.source.bytes[self.payload..self.end]
    }

    /// Path of the box, as in error messages.
    pub fn path(&self) -> String {
        crate::path::locate(self.source.bytes, self.start)
    }

    /// Children of a container box; empty for any other box.
    ///
    /// Up to 7 bytes after the last child are skipped: `QuickTime` ends `udta` and some sample
    /// entries with a zero word.
    pub fn children(&self) -> Children<'a> {
        match children_offset(self.kind, self.payload()) {
            Some(offset) => self.children_at(offset),
            None => Children { parent: *self, at: self.end },
        }
    }

    /// Children of a box whose first `offset` payload bytes are fields.
    pub fn children_at(&self, offset: usize) -> Children<'a> {
        Children { parent: *self, at: (self.payload.saturating_add(offset)).min(self.end) }
    }

    /// Where a child can be appended: after the last one, before stray bytes.
    pub(crate) fn append_position(&self) -> Result<usize> {
        self.children().end()
    }

    /// The only child of type `kind`; a second one is an error.
    pub fn child(&self, kind: &[u8; 4]) -> Result<Option<Self>> {
        self.children().only(kind)
    }

    /// The only child of type `kind`; absence is an error as well.
    pub fn require(&self, kind: &[u8; 4]) -> Result<Self> {
        self.child(kind)?.ok_or_else(|| self.error(ErrorKind::Missing { kind: FourCc::new(kind) }))
    }

    pub(crate) fn reader(&self) -> Reader<'a> {
        Reader::new(self.source, self.start, self.payload, self.end)
    }

    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        self.source.error(self.start, self.start, kind)
    }

    #[cold]
    pub(crate) fn error_at(&self, at: usize, kind: ErrorKind) -> Error {
        self.source.error(self.start, at, kind)
    }

    /// Stores the box in an `Option` that must be empty.
    pub(crate) fn once(self, slot: &mut Option<Self>) -> Result<()> {
        match slot.replace(self) {
            None => Ok(()),
            Some(_) => Err(self.error(ErrorKind::Duplicate { kind: self.kind })),
        }
    }
}

/// Iterator over child boxes; ends after the first error.
#[derive(Clone, Debug)]
pub struct Children<'a> {
    parent: BoxRef<'a>,
    at: usize,
}

impl<'a> Children<'a> {
    /// The only remaining child of type `kind`.
    pub fn only(self, kind: &[u8; 4]) -> Result<Option<BoxRef<'a>>> {
        let mut found = None;
        for child in self {
            let child = child?;
            if child.kind == kind {
                child.once(&mut found)?;
            }
        }
        Ok(found)
    }

    /// Where the last child ends.
    pub(crate) fn end(mut self) -> Result<usize> {
        for child in self.by_ref() {
            child?;
        }
        Ok(self.at)
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Result<BoxRef<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let parent = &self.parent;
        if parent.end - self.at < 8 {
            return None;
        }
        let item = if parent.depth >= MAX_DEPTH {
            Err(parent.error(ErrorKind::TooDeep { limit: MAX_DEPTH }))
        } else {
            BoxRef::parse(parent.source, self.at, parent.end, parent.depth + 1, false)
        };
        self.at = item.as_ref().map_or(parent.end, |child| child.end);
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_containers() {
        let bytes = b"\0\0\0\x28moov\0\0\0\x08free\0\0\0\x18udta\0\0\0\x0cabcdwxyz\0\0\0\0";
        let moov = BoxRef::root(bytes, 100).unwrap();
        let udta = moov.require(b"udta").unwrap();
        assert_eq!(udta.file_offset(), 116);
        let kinds: Vec<_> = udta.children().map(|c| c.unwrap().kind()).collect();
        assert_eq!(kinds, [FourCc::new(b"abcd")]);
        assert_eq!(udta.children().next().unwrap().unwrap().path(), "moov/udta/abcd");
    }

    #[test]
    fn meta_with_and_without_full_box_word() {
        for bytes in
            [&b"\0\0\0\x14meta\0\0\0\0\0\0\0\x08hdlr"[..], &b"\0\0\0\x10meta\0\0\0\x08hdlr"[..]]
        {
            assert!(BoxRef::root(bytes, 0).unwrap().child(b"hdlr").unwrap().is_some());
        }
    }

    #[test]
    fn child_larger_than_parent() {
        let error =
            BoxRef::root(b"\0\0\0\x10moov\0\0\0\x20trak", 7).unwrap().child(b"trak").unwrap_err();
        assert_eq!(
            error.to_string(),
            "moov/trak at byte 15: box `trak` says 32 bytes, its parent has 8 left"
        );
    }
}
