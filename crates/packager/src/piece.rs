//! A piece of a file on its way: planned, mapped, in parts.
//!
//! Each step has a type of its own. [`Planned`] says what to read, and what the parts of it are.
//! [`Mapped`] says what to encrypt or decrypt, what to write, and where. A large piece goes on as
//! several: [`Mapped::into_parts`].

use std::{io::IoSlice, ops::Range, sync::Arc};

use lanelock_cenc::{
    AccessUnit, Cipher, Scheme,
    map::{Alignment, MapError, Mapper, Subsample},
};
use lanelock_mp4::compose::NewSample;

use crate::{Error, Place, evidence::KeyCheck, io::Input, skeleton::MediaRanges};

/// Bytes of a part of a large piece: it stays in the cache from read to write.
const PART: usize = 1 << 20;

/// Access units that are shorter on average are read whole: a system call costs as much as to copy so
/// many bytes.
const DENSE: u64 = 8 << 10;

/// A piece that is planned: what to read, and what it is.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    /// What to read, side by side into one buffer.
    pub(crate) spans: Vec<Range<u64>>,
    /// What is in the buffer, from its first byte to its last.
    pub(crate) parts: Vec<Part>,
}

/// A part of a piece: it keeps its order among the others, but not its size.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) kind: PartKind,
    /// Where it begins in the input. For samples from different places, that of the first.
    pub(crate) at: u64,
    /// Where it is in the buffer.
    pub(crate) buffer: Range<usize>,
}

/// What a part is.
#[derive(Clone, Debug)]
pub(crate) enum PartKind {
    /// Bytes that stay as they are, and the media data among them.
    Copy(MediaRanges),
    /// Bytes that take the place of the metadata box there, which is not read.
    Replace(Vec<u8>),
    /// Bytes that stay as they are, and belong to the fragment behind them: `styp`, `emsg`, `prft`.
    SegmentHead,
    /// A `sidx` or `mfra`, to be set right when everything has its place.
    Index,
    /// Room for an index that is made, of so many bytes.
    NewIndex(usize),
    /// A `moof` of so many bytes, the boxes behind it, and the media data in these.
    Fragment(usize, MediaRanges),
    /// Samples of a progressive file that become a fragment: side by side in the buffer, track by
    /// track.
    NewFragment(Vec<NewTrack>),
    /// A stretch of a progressive file, with the samples in it.
    Stretch(Vec<StretchSample>),
}

/// The samples of a track in a new fragment.
#[derive(Clone, Debug)]
pub(crate) struct NewTrack {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) decode_time: u64,
    pub(crate) samples: Vec<NewSample>,
    /// Where each sample begins in the input.
    pub(crate) offsets: Vec<u64>,
}

/// A sample in a stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchSample {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

/// Access units to encrypt or to decrypt in a buffer.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) direction: Direction,
    pub(crate) units: Vec<AccessUnit>,
    pub(crate) subsamples: Vec<Subsample>,
    pub(crate) ciphers: Arc<[Cipher]>,
    /// What each of the ciphers is judged by, on decryption.
    pub(crate) key_checks: Arc<[Arc<KeyCheck>]>,
    /// The unit's place in the input, for each of `units`.
    pub(crate) places: Vec<Place>,
}

/// What a stage does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// A piece that is mapped: what to do to the buffer, what to write, and where.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) stage: Stage,
    /// What to write, side by side.
    pub(crate) writes: Vec<Write>,
    /// Where to write it.
    pub(crate) out: u64,
}

/// New bytes, and bytes of the buffer behind them.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Range<usize>,
}

/// Part of a large piece, without metadata.
#[derive(Debug)]
pub(crate) struct LargePart {
    pub(crate) spans: Vec<Range<u64>>,
    pub(crate) mapped: Mapped,
}

impl Planned {
    /// A piece of one part that reads one range.
    pub(crate) fn of(kind: PartKind, range: Range<u64>) -> Self {
        let mut this = Self::default();
        this.push(kind, range);
        this
    }

    /// A piece of one part that reads several ranges.
    pub(crate) fn gathered(kind: PartKind, spans: Vec<Range<u64>>) -> Self {
        let at = spans.first().map_or(0, |span| span.start);
        let buffer = 0..spans.iter().map(span_len).fold(0, usize::saturating_add);
        Self { spans, parts: vec![Part { kind, at, buffer }] }
    }

    /// Adds a part that reads one range.
    pub(crate) fn push(&mut self, kind: PartKind, range: Range<u64>) {
        let start = self.buffer_len();
        let buffer = start..start.saturating_add(span_len(&range));
        self.parts.push(Part { kind, at: range.start, buffer });
        match self.spans.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => self.spans.push(range),
        }
    }

    /// Bytes of the piece.
    pub(crate) fn len(&self) -> u64 {
        self.spans.iter().map(|span| span.end - span.start).sum()
    }

    /// The same as the size of a buffer. The largest `usize` stands for sizes beyond it, which no
    /// buffer can have.
    pub(crate) fn buffer_len(&self) -> usize {
        usize::try_from(self.len()).unwrap_or(usize::MAX)
    }

    /// Where the metadata box is that a piece of one part begins with; nothing if there is none.
    pub(crate) fn metadata(&self) -> Option<Range<u64>> {
        match &self.parts[..] {
            [Part { kind: PartKind::Fragment(moof, _), at, .. }] => Some(*at..*at + *moof as u64),
            [Part { kind: PartKind::Index, at, buffer }] => Some(*at..*at + buffer.len() as u64),
            _ => None,
        }
    }

    /// Whether to read the piece takes less time than to ask for the head of each access unit. Metadata
    /// are always read.
    pub(crate) fn is_dense(&self) -> bool {
        let samples = |part: &Part| match &part.kind {
            PartKind::Fragment(..) | PartKind::Index => usize::MAX,
            PartKind::Stretch(samples) => samples.len(),
            PartKind::NewFragment(tracks) => tracks.iter().map(|new| new.samples.len()).sum(),
            PartKind::Copy(_)
            | PartKind::Replace(_)
            | PartKind::SegmentHead
            | PartKind::NewIndex(_) => 0,
        };
        let samples = self.parts.iter().map(samples).fold(0, usize::saturating_add);
        self.len() / DENSE < samples as u64
    }
}

impl Part {
    /// Where the bytes are in the input that follow `metadata` bytes.
    pub(crate) fn body(&self, metadata: usize) -> Range<u64> {
        self.at + metadata as u64..self.at + self.buffer.len() as u64
    }

    /// Where a sample is in the buffer, and its size; none if it is not in the body of the part.
    pub(crate) fn within(&self, metadata: usize, offset: u64, size: u32) -> Option<(usize, usize)> {
        let body = self.body(metadata);
        let inside = offset >= body.start && offset.checked_add(size.into())? <= body.end;
        let start = usize::try_from(offset.checked_sub(self.at)?).ok()?;
        inside.then_some((self.buffer.start + start, usize::try_from(size).ok()?))
    }
}

impl Stage {
    /// Nothing to do.
    pub(crate) fn new(direction: Direction, ciphers: Arc<[Cipher]>) -> Self {
        Self {
            direction,
            units: Vec::new(),
            subsamples: Vec::new(),
            ciphers,
            key_checks: Arc::new([]),
            places: Vec::new(),
        }
    }
}

impl Mapped {
    /// What to write, side by side.
    pub(crate) fn slices<'b>(&'b self, buffer: &'b [u8]) -> Vec<IoSlice<'b>> {
        let mut slices = Vec::with_capacity(2 * self.writes.len());
        let mut body = 0..0;
        for write in &self.writes {
            if write.head.is_empty() && write.body.start == body.end {
                body.end = write.body.end;
                continue;
            }
            slices.push(IoSlice::new(&buffer[body]));
            slices.push(IoSlice::new(&write.head));
            body = write.body.clone();
        }
        slices.push(IoSlice::new(&buffer[body]));
        slices
    }

    /// Takes the metadata in front of a large piece out; what is left are the bytes of the buffer.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        let head = self.writes.first_mut().map(|write| std::mem::take(&mut write.head));
        let head = head.unwrap_or_default();
        self.out += head.len() as u64;
        head
    }

    /// Cuts a large piece, which has one body in the buffer of `spans`, between access units.
    pub(crate) fn into_parts(self, spans: &[Range<u64>]) -> Vec<LargePart> {
        let Self { stage, writes, out } = self;
        let Stage { direction, units, subsamples, ciphers, key_checks, places } = stage;
        let body = writes.first().map_or(0..0, |write| write.body.clone());
        // Under `cbc1` an access unit is one chain: to fill the lanes takes more of them than stay in
        // the cache.
        let chained = ciphers.iter().any(|cipher| cipher.scheme() == Scheme::Cbc1);
        let size = if chained && direction == Direction::Encrypt { 4 * PART } else { PART };
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&unit| units[unit].range.start);
        let mut parts = Vec::new();
        let (mut start, mut end) = (body.start, body.start);
        let mut inside: Vec<usize> = Vec::new();
        let mut cut = |range: Range<usize>, inside: &mut Vec<usize>| {
            let mut stage = Stage::new(direction, ciphers.clone());
            stage.key_checks = key_checks.clone();
            for unit in inside.drain(..) {
                let unit_subsamples = &subsamples[units[unit].subsamples.clone()];
                let first = stage.subsamples.len();
                stage.subsamples.extend_from_slice(unit_subsamples);
                stage.places.push(places[unit]);
                stage.units.push(AccessUnit {
                    range: units[unit].range.start - range.start
                        ..units[unit].range.end - range.start,
                    subsamples: first..stage.subsamples.len(),
                    ..units[unit].clone()
                });
            }
            let writes = vec![Write { head: Vec::new(), body: 0..range.len() }];
            let out = out + (range.start - body.start) as u64;
            let mapped = Self { stage, writes, out };
            parts.push(LargePart { spans: cut_spans(spans, range), mapped });
        };
        for unit in order {
            let range = &units[unit].range;
            // No unit spans `range.start`: it is a place to cut, once the part is large enough.
            if range.start >= end && range.start - start >= size {
                cut(start..range.start, &mut inside);
                start = range.start;
            }
            inside.push(unit);
            end = end.max(range.end);
        }
        // Bytes behind the last unit may be cut anywhere.
        while body.end > start {
            let next = body.end.min(end.max(start + size));
            cut(start..next, &mut inside);
            start = next;
        }
        parts
    }
}

/// Bytes of a span.
pub(crate) fn span_len(span: &Range<u64>) -> usize {
    usize::try_from(span.end - span.start).unwrap_or(usize::MAX)
}

/// Why [`Part::within`] finds nothing.
pub(crate) fn outside(input: &Input<'_>, fragment: u64, track: u32, offset: u64) -> Error {
    input.unsuitable(format!(
        "track {track}: the sample at file offset {offset} is outside of the boxes behind its moof at \
         file offset {fragment}, which is not supported; remux the file first (for example \
         ffmpeg -i IN -c copy OUT)"
    ))
}

/// The part `range` of spans that stand side by side.
fn cut_spans(spans: &[Range<u64>], range: Range<usize>) -> Vec<Range<u64>> {
    let mut at = 0;
    let mut cut = Vec::new();
    for span in spans {
        let len = span_len(span);
        let from = range.start.max(at) - at;
        let to = range.end.clamp(at, at + len) - at;
        if from < to {
            cut.push(span.start + from as u64..span.start + to as u64);
        }
        at += len;
    }
    cut
}

/// The first `len` bytes of `buffer`, which grows to it.
pub(crate) fn grow<'b>(
    input: &Input<'_>,
    buffer: &'b mut Vec<u8>,
    len: usize,
) -> Result<&'b mut [u8], Error> {
    reserve(input, buffer, len)?;
    // Bytes that are there already need not be zeroed again.
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

/// Makes room for `len` bytes in `buffer`; what it holds may be lost.
pub(crate) fn reserve(input: &Input<'_>, buffer: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    if buffer.capacity() < len {
        *buffer = Vec::new();
        buffer.try_reserve_exact(len).map_err(|_| {
            input.unsuitable(format!("{len} bytes must be in memory at once, which is too much"))
        })?;
    }
    Ok(())
}

/// The bytes of a piece while it is mapped.
pub(crate) enum Bytes<'b> {
    /// The whole piece.
    Buffer(&'b [u8]),
    /// The metadata at its beginning, and the heads of access units that were read; the rest is too
    /// large, or is not wanted: a buffer for one access unit at a time.
    File(&'b [u8], &'b Heads, &'b mut Vec<u8>),
}

/// The heads of access units.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// Where each access unit begins in the input, in file order, and where its head ends in the bytes.
    ends: Vec<(u64, usize)>,
    bytes: Vec<u8>,
}

impl Heads {
    /// Of how many bytes a mapper asks the head of a NAL unit, with its length field.
    const LEN: usize = 260;

    /// Reads the heads of the samples of a piece whose tracks `wanted` names.
    pub(crate) fn read(
        &mut self,
        input: &Input<'_>,
        piece: &Planned,
        wanted: &[bool],
    ) -> Result<(), Error> {
        self.ends.clear();
        self.bytes.clear();
        for part in &piece.parts {
            let PartKind::Stretch(samples) = &part.kind else { continue };
            for sample in
                samples.iter().filter(|s| s.size > 0 && wanted.get(s.track) == Some(&true))
            {
                let start = self.bytes.len();
                let end = start + Self::LEN.min(sample.size as usize);
                self.bytes.resize(end, 0);
                input.read(&mut self.bytes[start..], sample.offset)?;
                self.ends.push((sample.offset, end));
            }
        }
        Ok(())
    }

    /// Bytes of the access unit that begins at `offset`, if they were read.
    fn get(&self, offset: u64, range: Range<usize>) -> Option<&[u8]> {
        let index = self.ends.binary_search_by_key(&offset, |(offset, _)| *offset).ok()?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before].1);
        self.bytes.get(start..self.ends[index].1)?.get(range)
    }
}

impl Bytes<'_> {
    /// The metadata box that is at `range` of the piece.
    pub(crate) fn metadata(&self, range: Range<usize>) -> &[u8] {
        let (Self::Buffer(buffer) | Self::File(buffer, ..)) = self;
        buffer.get(range).unwrap_or_default()
    }

    /// `size` bytes that are at `start` of the piece and at `offset` of the input.
    pub(crate) fn at(
        &mut self,
        input: &Input<'_>,
        start: usize,
        offset: u64,
        size: usize,
    ) -> Result<&[u8], Error> {
        match self {
            Self::Buffer(buffer) => {
                buffer.get(start..).and_then(|rest| rest.get(..size)).ok_or_else(|| {
                    input.unsuitable(format!("the sample at file offset {offset} leaves its piece"))
                })
            }
            Self::File(_, _, buffer) => {
                let buffer = grow(input, buffer, size)?;
                input.read(buffer, offset)?;
                Ok(buffer)
            }
        }
    }

    /// Appends the subsamples of an access unit. Of one that is not in memory, only those bytes are
    /// read that the mapper asks for.
    pub(crate) fn map(
        &mut self,
        input: &Input<'_>,
        unit: &UnitToMap,
        mapper: &mut Mapper,
        rule: Alignment,
        to: &mut Vec<Subsample>,
    ) -> Result<usize, PieceError> {
        let UnitToMap { offset, start, size, .. } = *unit;
        if let Self::Buffer(_) = self {
            return Ok(mapper.map(self.at(input, start, offset, size)?, rule, to)?);
        }
        let mut unit = UnitInPieces { bytes: self, input, offset, size };
        mapper.map_bytes(&mut unit, rule, to)
    }
}

/// An access unit to map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitToMap {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    /// Where it begins in the input.
    pub(crate) offset: u64,
    /// Where it begins in the buffer.
    pub(crate) start: usize,
    pub(crate) size: usize,
}

/// An access unit that is not in memory.
struct UnitInPieces<'u, 'b> {
    bytes: &'u mut Bytes<'b>,
    input: &'u Input<'u>,
    offset: u64,
    size: usize,
}

/// Why an access unit that is not in memory cannot be mapped.
pub(crate) enum PieceError {
    Map(MapError),
    Read(Error),
}

impl From<MapError> for PieceError {
    fn from(error: MapError) -> Self {
        Self::Map(error)
    }
}

impl From<Error> for PieceError {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl lanelock_cenc::map::UnitBytes for UnitInPieces<'_, '_> {
    type Error = PieceError;

    fn len(&self) -> usize {
        self.size
    }

    fn get(&mut self, range: Range<usize>) -> Result<&[u8], PieceError> {
        if let Bytes::File(_, heads, _) = self.bytes
            && let Some(head) = heads.get(self.offset, range.clone())
        {
            return Ok(head);
        }
        Ok(self.bytes.at(self.input, 0, self.offset + range.start as u64, range.len())?)
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a span")]
mod tests {
    use super::*;
    use lanelock_testkit::Rng;

    #[test]
    fn spans_are_cut() {
        let spans = [100..110, 200..230, 300..305];
        assert_eq!(cut_spans(&spans, 0..45), spans);
        assert_eq!(cut_spans(&spans, 5..12), [105..110, 200..202]);
        assert_eq!(cut_spans(&spans, 10..40), [200..230]);
        assert_eq!(cut_spans(&spans, 39..42), [229..230, 300..302]);
        assert_eq!(cut_spans(&spans, 45..45), []);
    }

    /// Parts lie side by side, and hold every unit whole and at its place.
    #[test]
    fn parts_are_the_piece() {
        let mut rng = Rng::from_env("parts_are_the_piece");
        for _ in 0..200 {
            let mut stage = Stage::new(Direction::Encrypt, Arc::new([]));
            let (mut at, units) = (0, rng.below(40));
            for number in 0..units {
                at += rng.below(*rng.clone().pick(&[1, 100, 3 << 20]));
                let len = rng.below(*rng.clone().pick(&[1, 1000, 3 << 20]));
                stage
                    .subsamples
                    .push(Subsample { clear: 0, protected: u32::try_from(len).unwrap() });
                let (subsamples, iv) = (number..number + 1, [0; 16]);
                stage.units.push(AccessUnit { range: at..at + len, subsamples, iv, cipher: 0 });
                let (track, access_unit, offset) = (1, number as u64, 5000 + at as u64);
                stage.places.push(Place { track, access_unit, offset });
                at += len;
            }
            let len = at + rng.below(3 << 20);
            // Units of several tracks come in any order.
            let mut order: Vec<usize> = (0..units).collect();
            rng.shuffle(&mut order);
            stage.units = order.iter().map(|&i| stage.units[i].clone()).collect();
            stage.places = order.iter().map(|&i| stage.places[i]).collect();

            let (mut next, mut seen) = (0, 0);
            let writes = vec![Write { head: Vec::new(), body: 0..len }];
            let mapped = Mapped { stage, writes, out: 1000 };
            for LargePart { spans, mapped } in mapped.into_parts(&[5000..5000 + len as u64]) {
                let Mapped { stage, out, .. } = &mapped;
                let part_len = mapped.writes[0].body.len() as u64;
                assert_eq!(*out, 1000 + next);
                assert_eq!(spans, [5000 + next..5000 + next + part_len]);
                for (unit, place) in stage.units.iter().zip(&stage.places) {
                    assert!(unit.range.end as u64 <= part_len, "a unit leaves its part");
                    assert_eq!(5000 + next + unit.range.start as u64, place.offset);
                    let [subsample] = stage.subsamples[unit.subsamples.clone()] else { panic!() };
                    assert_eq!(subsample.protected as usize, unit.range.len());
                    seen += 1;
                }
                next += part_len;
            }
            assert_eq!((next, seen), (len as u64, units));
        }
    }
}
