//! Where the pieces go in the output.

use lanelock_mp4::edit::{patch_mfra, patch_sidx};

use crate::{
    Error,
    io::{Input, Output},
    piece::{Bytes, Part, PartKind, Write},
};

/// Gives parts their place, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    next: u64,
    /// (input, output) offsets of the boxes that indexes point to, in file order.
    moves: Vec<(u64, u64)>,
    /// Indexes to set right in the end.
    indexes: Vec<Index>,
    /// What an earlier pass has found out: indexes can be set right where they stand.
    known: Option<Box<Self>>,
}

/// A `sidx` or `mfra` of the input.
#[derive(Debug)]
struct Index {
    /// Where it was.
    at: u64,
    /// Where it is.
    out: u64,
    bytes: Vec<u8>,
}

impl Placement {
    /// The first part goes to `start` of the output.
    pub(crate) fn new(start: u64) -> Self {
        Self { next: start, ..Self::default() }
    }

    /// A second pass over the same parts, whose places `first` knows.
    pub(crate) fn again(first: Self, start: u64) -> Self {
        Self { known: Some(Box::new(first)), ..Self::new(start) }
    }

    /// Where the output ends so far.
    pub(crate) fn end(&self) -> u64 {
        self.next
    }

    /// How far a box at `at` of the input moves if it comes next.
    pub(crate) fn moved(&self, at: u64) -> i64 {
        self.next.wrapping_sub(at).cast_signed()
    }

    /// Gives a part its place: what is written for it are the bytes of `head`, and those that it has in
    /// the buffer behind its own metadata.
    pub(crate) fn place(
        &mut self,
        input: &Input<'_>,
        part: Part,
        bytes: &Bytes<'_>,
        head: Vec<u8>,
    ) -> Result<Write, Error> {
        let Part { kind, at, buffer } = part;
        if !matches!(kind, PartKind::NewFragment(_) | PartKind::Stretch(_)) {
            self.moves.push((at, self.next));
        }
        let (head, metadata) = match kind {
            PartKind::Copy(_) | PartKind::NewFragment(_) | PartKind::Stretch(_) => (head, 0),
            PartKind::Replace(bytes) => (bytes, 0),
            PartKind::Fragment(moof, _) => (head, moof),
            PartKind::Index => {
                let bytes = bytes.metadata(buffer.clone()).to_vec();
                let index = Index { at, out: self.next, bytes };
                let head = match &self.known {
                    Some(known) => known.patched(input, &index)?,
                    // Zeros keep the room: `write_indexes` fills them in when all offsets are known.
                    None => vec![0; index.bytes.len()],
                };
                self.indexes.push(index);
                (head, buffer.len())
            }
        };
        let write = Write { head, body: buffer.start + metadata..buffer.end };
        self.next += (write.head.len() + write.body.len()) as u64;
        Ok(write)
    }

    /// Whether there are indexes that are not right yet.
    pub(crate) fn has_indexes(&self) -> bool {
        self.known.is_none() && !self.indexes.is_empty()
    }

    /// An index as it must be, now that everything has its place.
    fn patched(&self, input: &Input<'_>, index: &Index) -> Result<Vec<u8>, Error> {
        let map = |at: u64| {
            if at == input.len() {
                return Some(self.next);
            }
            let found = self.moves.binary_search_by_key(&at, |(from, _)| *from).ok()?;
            Some(self.moves[found].1)
        };
        let Index { at, out, bytes } = index;
        let patched = if bytes.get(4..8) == Some(b"sidx") {
            patch_sidx(bytes, *at, *out, map)
        } else {
            patch_mfra(bytes, *at, map)
        };
        patched.map_err(|error| input.container(error))
    }

    /// Sets `sidx` and `mfra` right, now that everything has its place.
    pub(crate) fn write_indexes(&self, input: &Input<'_>, output: &Output) -> Result<(), Error> {
        for index in self.indexes.iter().filter(|_| self.has_indexes()) {
            output.write(&self.patched(input, index)?, index.out)?;
        }
        Ok(())
    }
}
