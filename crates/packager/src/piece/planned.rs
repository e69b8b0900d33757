//! A piece that is planned.

use std::ops::Range;

use lanelock_mp4::compose::NewSample;

use crate::{Error, io::Input, skeleton::MediaRanges};

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
    /// Further boxes of the `traf`: what is said of single samples.
    pub(crate) boxes: Vec<u8>,
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

/// Access units that are shorter on average are read whole: a system call costs as much as to copy so
/// many bytes.
const DENSE: u64 = 8 << 10;
