//! Pieces of a fragmented file: each `moof` with the boxes behind it, small ones together.

use std::{iter::Peekable, ops::Range};

use lanelock_mp4::{Fragment, METADATA_CAP, Movie, TrackFragment, TrackRun, top_level_from};

use super::{PartQueue, copy_parts, indexes::Indexes, next_part};
use crate::{
    Error, Observer,
    io::Input,
    piece::{PartKind, Planned},
    pipeline::Plan,
    skeleton::{MediaRanges, Skeleton, TopBox},
};

/// The most bytes of a `moof`: its structures take a multiple of that in memory.
const MOOF_CAP: u64 = 16 << 20;

/// Parts of fewer bytes go together as one piece, up to so many: one read, one write, one turn.
const TOGETHER: u64 = 512 << 10;

/// Why indexes are left out between two pipes.
pub(crate) const NO_INDEXES: &str = "indexes (sidx, mfra) are left out: they hold the sizes of fragments \
    that have not come through the pipe yet; write to a file to keep them";

/// Cuts a fragmented file.
pub(crate) struct Fragments<'a> {
    input: &'a Input<'a>,
    movie: &'a Movie,
    boxes: Peekable<Boxes<'a>>,
    moov: Option<Vec<u8>>,
    ftyp: Option<Vec<u8>>,
    indexes: &'a Indexes,
    /// Bytes to keep for the index that is made.
    room: Option<usize>,
    /// Leave all indexes out; a warning that has not been given.
    no_indexes: bool,
    warning: Option<(&'a dyn Observer, &'static str)>,
    queue: PartQueue,
}

type Boxes<'a> = Box<dyn Iterator<Item = Result<TopBox, Error>> + Send + 'a>;

impl<'a> Fragments<'a> {
    /// `moov` takes the place of the input's.
    pub(crate) fn new(
        input: &'a Input<'a>,
        skeleton: &'a Skeleton,
        moov: Vec<u8>,
        indexes: &'a Indexes,
    ) -> Self {
        let known = skeleton.boxes.iter().copied().map(Ok);
        let boxes: Boxes<'a> = if input.is_sequential() {
            let end = skeleton.boxes.last().map_or(0, TopBox::end);
            Box::new(known.chain(top_level_from(input, end).map(move |header| {
                let found = header.map_err(|error| input.container(error))?.into();
                Skeleton::check_streamed(input, &found)?;
                Ok(found)
            })))
        } else {
            Box::new(known)
        };
        let (movie, moov, ftyp) = (&skeleton.movie, Some(moov), None);
        Self {
            input,
            movie,
            boxes: boxes.peekable(),
            moov,
            ftyp,
            indexes,
            room: indexes.new_index(skeleton).map(|index| index.room()),
            no_indexes: false,
            warning: None,
            queue: PartQueue::new(),
        }
    }

    /// `ftyp` takes the place of the input's; where there is none, it goes in front of `moov`.
    pub(crate) fn with_ftyp(self, ftyp: Vec<u8>) -> Self {
        Self { ftyp: Some(ftyp), ..self }
    }

    /// Leaves `sidx` and `mfra` out; says so when there is one.
    pub(crate) fn without_indexes(self, observer: &'a dyn Observer, warning: &'static str) -> Self {
        Self { no_indexes: true, warning: Some((observer, warning)), ..self }
    }

    fn fragment(&mut self, header: &TopBox) -> Result<(PartKind, Range<u64>), Error> {
        let at = header.offset;
        let moof = match usize::try_from(header.size) {
            Ok(moof) if header.size <= MOOF_CAP => moof,
            _ => {
                return Err(self.input.unsuitable(format!(
                    "the moof box at file offset {at} has {} bytes; at most {MOOF_CAP} are read",
                    header.size
                )));
            }
        };
        let (mut end, mut media) = (header.end(), MediaRanges::default());
        // What belongs to it: all up to a box that begins something new or has offsets of its own. To
        // see that box, a pipe would wait for the next fragment: there, all that its samples refer to.
        let wanted = if self.input.is_sequential() { self.data_end(header)? } else { u64::MAX };
        while end < wanted
            && let Some(Ok(next)) = self.boxes.peek()
            && !matches!(
                &next.kind.0,
                b"moof" | b"styp" | b"sidx" | b"ssix" | b"emsg" | b"prft" | b"mfra" | b"moov"
            )
        {
            end = next.end();
            media.push(next);
            self.boxes.next();
        }
        // Rather than that samples lie outside of the boxes that are there.
        if end < wanted
            && let Some(error) = self.boxes.next_if(Result::is_err)
        {
            error?;
        }
        Ok((PartKind::Fragment(moof, media), at..end))
    }

    /// Where the last byte is that the samples of a fragment refer to.
    fn data_end(&self, header: &TopBox) -> Result<u64, Error> {
        let mut moof = vec![0; usize::try_from(header.size).unwrap_or(0)];
        self.input.read(&mut moof, header.offset)?;
        let fragment = Fragment::parse(&moof, header.offset, self.movie, self.input.len());
        let fragment = fragment.map_err(|error| self.input.container(error))?;
        let runs = fragment.tracks.iter().flat_map(TrackFragment::runs);
        Ok(runs.map(TrackRun::end).max().unwrap_or(0))
    }

    /// The next part: what it is, and what it reads.
    pub(crate) fn part(&mut self) -> Result<Option<(PartKind, Range<u64>)>, Error> {
        loop {
            if let Some(part) = next_part(&mut self.queue) {
                return Ok(Some(part));
            }
            let Some(found) = self.boxes.next().transpose()? else { return Ok(None) };
            let range = found.offset..found.end();
            let nothing = found.offset..found.offset;
            match &found.kind.0 {
                b"moof" => return self.fragment(&found).map(Some),
                b"ftyp" if self.ftyp.is_some() => {
                    let ftyp = self.ftyp.take().unwrap_or_default();
                    return Ok(Some((PartKind::Replace(ftyp), nothing)));
                }
                b"moov" => {
                    let mut bytes = self.ftyp.take().unwrap_or_default();
                    bytes.extend(self.moov.take().unwrap_or_default());
                    let room = self.room.take().map(PartKind::NewIndex);
                    self.queue.extend(room.map(|room| (room, found.end()..found.end())));
                    return Ok(Some((PartKind::Replace(bytes), nothing)));
                }
                b"sidx" | b"mfra" if found.size > METADATA_CAP => {
                    return Err(self.input.unsuitable(format!(
                        "the {} box at file offset {} has {} bytes; at most {METADATA_CAP} are read",
                        found.kind, found.offset, found.size
                    )));
                }
                b"sidx" | b"mfra" if self.no_indexes || self.indexes.omits(&found) => {
                    if let Some((observer, warning)) = self.warning.take() {
                        observer.warn(warning);
                    }
                    return Ok(Some((PartKind::Replace(Vec::new()), nothing)));
                }
                b"sidx" | b"mfra" => return Ok(Some((PartKind::Index, range))),
                b"ssix" => {
                    return Err(self.input.unsuitable(format!(
                        "ssix at file offset {}: its byte ranges would be wrong in the output; remove \
                         the box first",
                        found.offset
                    )));
                }
                b"styp" | b"emsg" | b"prft" => {
                    self.queue.push_back((PartKind::SegmentHead, range));
                }
                _ => copy_parts(&mut self.queue, &found),
            }
        }
    }
}

impl Plan for Fragments<'_> {
    fn next(&mut self) -> Result<Option<Planned>, Error> {
        let mut piece = Planned::default();
        while let Some((kind, range)) = self.part()? {
            let len = range.end - range.start;
            if !piece.parts.is_empty() && piece.len() + len > TOGETHER {
                self.queue.push_front((kind, range));
                break;
            }
            piece.push(kind, range);
            // What has come through a pipe is not held back.
            if piece.len() >= TOGETHER || self.input.is_sequential() {
                break;
            }
        }
        Ok((!piece.parts.is_empty()).then_some(piece))
    }
}
