//! The splice editor: a list of replacements over the bytes of one top-level box.
//!
//! Everything not replaced is copied byte for byte. Each replacement names the boxes it lies
//! in, innermost last, and their size fields are set right at the end. Naming them, instead of
//! deducing them from the position, decides what a position on a boundary belongs to: an
//! insertion at the end of one `traf` is also one at the start of the next.

use std::ops::Range;

use crate::{BoxRef, ErrorKind, Result, source::be32, source::be64};

#[derive(Debug)]
pub(crate) struct Splice<'a> {
    root: BoxRef<'a>,
    edits: Vec<SplicePiece>,
    /// New bytes of all edits.
    data: Vec<u8>,
    /// Start of an enclosing box and by how much it grows.
    growths: Vec<(usize, i64)>,
    grown: i64,
}

#[derive(Debug)]
struct SplicePiece {
    remove: Range<usize>,
    data: Range<usize>,
}

impl<'a> Splice<'a> {
    pub(crate) fn new(root: BoxRef<'a>) -> Self {
        Self {
            root,
            edits: Vec::with_capacity(16),
            data: Vec::with_capacity(256),
            growths: Vec::with_capacity(16),
            grown: 0,
        }
    }

    /// By how much the whole box grows so far.
    pub(crate) fn growth(&self) -> i64 {
        self.grown
    }

    /// Replaces `range`, which lies in `inside` and in the root, by what `body` writes.
    pub(crate) fn replace(
        &mut self,
        range: Range<usize>,
        inside: &[BoxRef<'_>],
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.data.len();
        body(&mut self.data);
        let data = start..self.data.len();
        let growth = length(data.len()) - length(range.len());
        if growth != 0 {
            self.grown += growth;
            let starts = inside.iter().map(|inner| inner.range().start);
            self.growths.extend(starts.filter(|&start| start != 0).map(|start| (start, growth)));
        }
        self.edits.push(SplicePiece { remove: range, data });
    }

    pub(crate) fn insert(
        &mut self,
        at: usize,
        inside: &[BoxRef<'_>],
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        self.replace(at..at, inside, body);
    }

    pub(crate) fn remove(&mut self, range: Range<usize>, inside: &[BoxRef<'_>]) {
        self.replace(range, inside, |_| {});
    }

    /// Overwrites bytes at `at` without changing the length.
    pub(crate) fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        self.replace(at..at + bytes.len(), &[], |out| {
            out.extend_from_slice(bytes);
        });
    }

    /// Growth before each edited place, in order of place: for mapping many positions.
    pub(crate) fn positions(&self) -> Positions {
        let growth = |edit: &SplicePiece| {
            (edit.remove.end, length(edit.data.len()) - length(edit.remove.len()))
        };
        let mut grown: Vec<_> = self.edits.iter().map(growth).filter(|edit| edit.1 != 0).collect();
        grown.sort_unstable_by_key(|edit| edit.0);
        let mut total = 0;
        for (_, growth) in &mut grown {
            total += *growth;
            *growth = total;
        }
        Positions(grown)
    }

    /// Applies the edits.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        let mut growths = std::mem::take(&mut self.growths);
        if self.grown != 0 {
            growths.push((0, self.grown));
        }
        growths.sort_unstable_by_key(|growth| growth.0);
        for same in growths.chunk_by(|a, b| a.0 == b.0) {
            self.resize(same[0].0, same.iter().map(|growth| growth.1).sum())?;
        }
        let source = self.root.source.bytes;
        self.edits.sort_by_key(|edit| (edit.remove.start, edit.remove.end));
        let len = length(source.len()) + self.grown;
        let mut out = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let mut at = 0;
        for edit in &self.edits {
            let Some(kept) = source.get(at..edit.remove.start) else {
                let what = "two edits of the same bytes";
                return Err(self.root.error_at(edit.remove.start, ErrorKind::Invalid(what)));
            };
            out.extend_from_slice(kept);
            out.extend_from_slice(&self.data[edit.data.clone()]);
            at = edit.remove.end;
        }
        out.extend_from_slice(&source[at..]);
        Ok(out)
    }

    /// Changes the size field of the box at `start`, whatever its width.
    fn resize(&mut self, start: usize, growth: i64) -> Result<()> {
        let bytes = self.root.source.bytes;
        let overflow = || self.root.error_at(start, ErrorKind::Overflow { what: "box size" });
        match be32(bytes, start) {
            // To the end of the file, whatever the size is.
            0 => {}
            1 => {
                let size = be64(bytes, start + 8).checked_add_signed(growth);
                let size = size.ok_or_else(overflow)?;
                self.overwrite(start + 8, &size.to_be_bytes());
            }
            size => {
                let size = i64::from(size) + growth;
                let size = u32::try_from(size).map_err(|_| overflow())?;
                self.overwrite(start, &size.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// Positions of an edited box and how far what follows them has moved.
pub(crate) struct Positions(Vec<(usize, i64)>);

impl Positions {
    /// By how much byte `at` of the old box moves. Insertions at `at` itself count.
    pub(crate) fn shift(&self, at: u64) -> i64 {
        let before = self.0.partition_point(|&(place, _)| place as u64 <= at);
        before.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

/// Lengths in memory are below 2^63.
pub(super) fn length(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOOV: &[u8] = b"\0\0\0\x20moov\0\0\0\x08trak\0\0\0\x01udta\0\0\0\0\0\0\0\x10";

    #[test]
    fn sizes_of_all_forms_follow() {
        let root = BoxRef::root(MOOV, 0).unwrap();
        let udta = root.require(b"udta").unwrap();
        let mut splice = Splice::new(root);
        splice.insert(32, &[root, udta], |out| out.extend_from_slice(b"1234"));
        splice.remove(8..16, &[root]);
        assert_eq!(splice.growth(), -4);
        assert_eq!(splice.positions().shift(16), -8);
        assert_eq!(splice.positions().shift(15), 0);
        let out = splice.finish().unwrap();
        assert_eq!(out, b"\0\0\0\x1cmoov\0\0\0\x01udta\0\0\0\0\0\0\0\x141234");
    }

    #[test]
    fn insertions_keep_their_order_and_side() {
        let bytes = b"\0\0\0\x18moov\0\0\0\x08trak\0\0\0\x08udta";
        let root = BoxRef::root(bytes, 0).unwrap();
        let trak = root.require(b"trak").unwrap();
        let mut splice = Splice::new(root);
        splice.insert(16, &[root, trak], |out| out.push(b'a'));
        splice.insert(16, &[root], |out| out.push(b'b'));
        assert_eq!(splice.finish().unwrap(), b"\0\0\0\x1amoov\0\0\0\x09trakab\0\0\0\x08udta");
    }

    #[test]
    fn open_root_keeps_size_0() {
        let bytes = b"\0\0\0\0moov\0\0\0\x08trak";
        let root = BoxRef::root(bytes, 0).unwrap();
        let mut splice = Splice::new(root);
        splice.remove(8..16, &[root]);
        assert_eq!(splice.finish().unwrap(), b"\0\0\0\0moov");
    }

    #[test]
    fn overlapping_edits_are_refused() {
        let root = BoxRef::root(MOOV, 0).unwrap();
        let mut splice = Splice::new(root);
        splice.remove(8..16, &[root]);
        splice.overwrite(12, b"xxxx");
        assert!(splice.finish().is_err());
    }
}
