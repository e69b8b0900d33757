//! Where the pieces go in the output.

use std::{cell::Cell, cmp::Ordering, mem};

use lanelock_mp4::edit::{patch_mfra, patch_sidx};

use crate::{
    Error, Observer,
    index::{NewIndex, TrackTimes, free},
    io::{Input, Output},
    piece::{Bytes, Part, PartKind, Write},
};

/// Gives parts their place, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    next: u64,
    /// Where parts of the input have gone, in file order.
    moves: Vec<Move>,
    /// Indexes to set right in the end.
    indexes: Vec<Index>,
    /// The index that is made anew.
    new_index: Option<NewIndex>,
    /// Where boxes begin that belong to the next fragment.
    segment_start: Option<u64>,
    /// Where the last fragment ends, if something else follows.
    media_end: Option<u64>,
    /// The indexes, one by one, of an earlier pass: they are right where they stand.
    known: Option<Vec<Vec<u8>>>,
}

/// Where something of the input has gone.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: u64,
    to: u64,
    /// What follows, up to the next move, keeps its distance.
    rigid: bool,
}

/// An index of the output.
#[derive(Debug)]
struct Index {
    /// Where it is.
    out: u64,
    source: IndexSource,
    /// What it must be, when everything has its place.
    settled: Vec<u8>,
}

#[derive(Debug)]
enum IndexSource {
    /// A `sidx` or `mfra` of the input: where it was, and its bytes.
    Input(u64, Vec<u8>),
    /// Made anew.
    New,
}

impl Placement {
    /// The first part goes to the start of the output.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes an index for the place of [`PartKind::NewIndex`].
    pub(crate) fn with_new_index(self, new_index: Option<NewIndex>) -> Self {
        Self { new_index, ..self }
    }

    /// A second pass over the same parts, whose places `first` knows.
    pub(crate) fn again(first: Self) -> Self {
        let known = first.indexes.into_iter().map(|index| index.settled).collect();
        Self { known: Some(known), ..Self::new() }
    }

    /// Where the output ends so far.
    pub(crate) fn end(&self) -> u64 {
        self.next
    }

    /// How far a box at `at` of the input moves if it comes next.
    pub(crate) fn moved(&self, at: u64) -> i64 {
        self.next.wrapping_sub(at).cast_signed()
    }

    /// Whether the times of fragments are wanted.
    pub(crate) fn wants_times(&self) -> bool {
        self.new_index.is_some()
    }

    /// Gives a part its place: what is written for it are the bytes of `head`, and those that it has in
    /// the buffer behind its own metadata. `times` are those of a fragment, if they are wanted.
    pub(crate) fn place(
        &mut self,
        part: Part,
        bytes: &Bytes<'_>,
        head: Vec<u8>,
        times: &[TrackTimes],
    ) -> Write {
        let Part { kind, at, buffer } = part;
        let provisional =
            matches!(kind, PartKind::Index | PartKind::NewIndex(_)) && self.known.is_none();
        let to = self.next;
        let mut moves = |from, to, rigid| self.moves.push(Move { from, to, rigid });
        let (head, metadata) = match kind {
            PartKind::Copy(_) => {
                moves(at, to, true);
                (head, 0)
            }
            PartKind::SegmentHead => {
                moves(at, to, true);
                self.segment_start.get_or_insert(to);
                (head, 0)
            }
            PartKind::NewFragment(_) => {
                self.fragment(times);
                (head, 0)
            }
            PartKind::Stretch(_) => (head, 0),
            PartKind::Replace(bytes) => {
                moves(at, to, false);
                (bytes, 0)
            }
            PartKind::Fragment(moof, _) => {
                moves(at, to, false);
                moves(at + moof as u64, to + head.len() as u64, true);
                self.fragment(times);
                (head, moof)
            }
            PartKind::Index => {
                moves(at, to, true);
                let bytes = bytes.metadata(buffer.clone()).to_vec();
                if bytes.get(4..8) == Some(b"sidx") {
                    self.segment_start.get_or_insert(to);
                } else {
                    self.media_end.get_or_insert(to);
                }
                (self.index(bytes.len(), IndexSource::Input(at, bytes)), buffer.len())
            }
            PartKind::NewIndex(room) => (self.index(room, IndexSource::New), 0),
        };
        let write = Write { head, body: buffer.start + metadata..buffer.end, provisional };
        self.next += (write.head.len() + write.body.len()) as u64;
        write
    }

    /// A fragment comes next.
    fn fragment(&mut self, times: &[TrackTimes]) {
        let start = self.segment_start.take().unwrap_or(self.next);
        self.media_end = None;
        if let Some(index) = &mut self.new_index {
            index.push(start, times);
        }
    }

    /// Enters an index that comes next, and gives its bytes.
    fn index(&mut self, len: usize, source: IndexSource) -> Vec<u8> {
        let bytes = match &mut self.known {
            Some(known) => known.get_mut(self.indexes.len()).map(mem::take).unwrap_or_default(),
            // Zeros keep the room: `write_indexes` fills them in when all offsets are known.
            None => vec![0; len],
        };
        self.indexes.push(Index { out: self.next, source, settled: Vec::new() });
        bytes
    }

    /// Sets the indexes right, now that everything has its place. One that cannot be right is a `free`
    /// box.
    pub(crate) fn settle(
        &mut self,
        input: &Input<'_>,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        if self.known.is_some() {
            return Ok(());
        }
        let mut indexes = mem::take(&mut self.indexes);
        for Index { out, source, settled } in &mut indexes {
            *settled = match source {
                IndexSource::Input(at, bytes) => {
                    let patched = self.patched(input, *at, bytes, *out)?;
                    if patched.is_none() {
                        let kind = if bytes.get(4..8) == Some(b"sidx") { "sidx" } else { "mfra" };
                        observer.warn(&format!(
                            "the {kind} box at file offset {at} does not match its file: it is left out"
                        ));
                    }
                    patched.unwrap_or_else(|| free(bytes.len()))
                }
                IndexSource::New => {
                    let end = self.media_end.unwrap_or(self.next);
                    let made = self.new_index.as_ref().map(|index| index.bytes(*out, end));
                    let (bytes, failure) = made.unwrap_or_default();
                    if let Some(reason) = failure {
                        observer.warn(&format!("there is no segment index (sidx): {reason}"));
                    }
                    bytes
                }
            };
        }
        self.indexes = indexes;
        Ok(())
    }

    /// An index of the input as it must be; none if it does not match its file.
    fn patched(
        &self,
        input: &Input<'_>,
        at: u64,
        bytes: &[u8],
        out: u64,
    ) -> Result<Option<Vec<u8>>, Error> {
        let missing = Cell::new(false);
        let map = |at: u64| {
            let to = match at.cmp(&input.len()) {
                Ordering::Less => self.place_of(at),
                Ordering::Equal => Some(self.next),
                Ordering::Greater => None,
            };
            missing.set(missing.get() || to.is_none());
            to
        };
        let is_sidx = bytes.get(4..8) == Some(b"sidx");
        let patched =
            if is_sidx { patch_sidx(bytes, at, out, map) } else { patch_mfra(bytes, at, map) };
        match patched {
            // Whatever is wrong with an `mfra`, it is left out: nothing needs it.
            Err(_) if missing.get() || !is_sidx => Ok(None),
            patched => patched.map(Some).map_err(|error| input.container(error)),
        }
    }

    /// Where a box of the input has gone that is at `at`.
    fn place_of(&self, at: u64) -> Option<u64> {
        let before = self.moves.partition_point(|moved| moved.from <= at).checked_sub(1)?;
        let Move { from, to, rigid } = self.moves[before];
        (rigid || from == at).then(|| to + (at - from))
    }

    /// Writes the indexes, now that everything has its place and they are settled.
    pub(crate) fn write_indexes(&self, output: &Output) -> Result<(), Error> {
        for index in self.indexes.iter().filter(|_| self.known.is_none()) {
            output.write(&index.settled, index.out)?;
        }
        Ok(())
    }
}
