//! Iteration over the samples of a progressive track, in constant memory.

use super::{
    Track,
    tables::{Table, Tables},
};
use crate::{
    Error, ErrorKind, Result,
    source::{Source, be32},
};

/// One sample, of a progressive track or of a fragment: what the sample tables and `trun` can say
/// of one, which the standard fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Absolute file offset of the first byte.
    pub offset: u64,
    /// Size in bytes.
    pub size: u32,
    /// Decoding time in media timescale.
    pub decode_time: u64,
    /// Duration in media timescale.
    pub duration: u32,
    /// Composition time minus decoding time.
    pub composition_offset: i32,
    /// Sample flags as in `trun` (ISO/IEC 14496-12, 8.8.3.1). For progressive tracks they are put
    /// together of `stss`, `sdtp`, `padb` and `stdp`; without `sdtp`, sync samples depend on no
    /// other and all others do.
    pub flags: u32,
    /// Whether it is a sync sample.
    pub sync: bool,
    /// Sample description index, from 1.
    pub description_index: u32,
}

impl Sample {
    /// Flags of a sync sample: depends on no other.
    pub const SYNC: u32 = 0x0200_0000;
    /// Flags of any other sample: depends on others, is not a sync sample.
    pub const NON_SYNC: u32 = 0x0101_0000;
}

/// Iterator made by [`super::Movie::samples`]; ends after the first error.
#[derive(Clone, Debug)]
pub struct Samples<'a> {
    source: Source<'a>,
    tables: Tables,
    /// The bits that ISO has for leading samples mean something else.
    quicktime: bool,
    file_len: u64,
    at: SamplePosition,
}

/// A place between two samples of a progressive track, to go on from by
/// [`super::Movie::samples_from`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePosition {
    track_id: u32,
    /// Next sample, from 0.
    index: u32,
    times: RunPosition,
    compositions: RunPosition,
    next_sync: u32,
    chunk: u32,
    chunk_entry: u32,
    chunk_left: u32,
    description_index: u32,
    offset: u64,
    decode_time: u64,
}

impl SamplePosition {
    fn start(track_id: u32) -> Self {
        Self {
            track_id,
            index: 0,
            times: RunPosition::default(),
            compositions: RunPosition::default(),
            next_sync: 0,
            chunk: 0,
            chunk_entry: 0,
            chunk_left: 0,
            description_index: 0,
            offset: 0,
            decode_time: 0,
        }
    }

    /// Number of samples before this place.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Decoding time of the next sample, in media timescale.
    pub fn decode_time(&self) -> u64 {
        self.decode_time
    }
}

impl<'a> Samples<'a> {
    pub(crate) fn new(
        moov: &'a [u8],
        moov_offset: u64,
        track: &Track,
        file_len: u64,
    ) -> Result<Self> {
        let source = Source { bytes: moov, base: moov_offset };
        track.tables.check(source, track.entries.len(), file_len)?;
        Ok(Self::at(source, track, file_len, SamplePosition::start(track.id)))
    }

    pub(crate) fn resume(
        moov: &'a [u8],
        moov_offset: u64,
        track: &Track,
        file_len: u64,
        at: SamplePosition,
    ) -> Result<Self> {
        let source = Source { bytes: moov, base: moov_offset };
        if at.track_id != track.id {
            let what = "a position of samples that belongs to another track";
            return Err(source.error(0, 0, ErrorKind::Invalid(what)));
        }
        Ok(Self::at(source, track, file_len, at))
    }

    fn at(source: Source<'a>, track: &Track, file_len: u64, at: SamplePosition) -> Self {
        Self { source, tables: track.tables, quicktime: track.quicktime, file_len, at }
    }

    /// The place before the next sample; behind an error, the end.
    pub fn position(&self) -> SamplePosition {
        self.at
    }

    fn read(&mut self) -> Result<Sample> {
        let number = u64::from(self.at.index) + 1;
        let bytes = self.source.bytes;
        while self.at.chunk_left == 0 {
            self.enter_chunk(number)?;
        }
        let size = self.tables.sizes.get(bytes, self.at.index);
        let offset = self.at.offset;
        let end = offset.checked_add(u64::from(size)).filter(|&end| end <= self.file_len);
        let Some(end) = end else {
            let (what, start, len) = ("sample", offset, u64::from(size));
            let kind = ErrorKind::OutsideFile { what, number, start, len, file_len: self.file_len };
            return Err(self.error(self.tables.chunks, kind));
        };
        // The sums of both tables were checked, so neither ends early.
        let duration = self.at.times.next(self.tables.stts, bytes).unwrap_or_default();
        let compositions = self.tables.ctts;
        let composition = compositions.and_then(|ctts| self.at.compositions.next(ctts, bytes));
        let sync = self.is_sync(number)?;
        let sample = Sample {
            offset,
            size,
            decode_time: self.at.decode_time,
            duration,
            // `ctts` of version 0 is unsigned by the standard (8.6.1.3), but there are files with negative
            // offsets in it.
            composition_offset: composition.unwrap_or_default().cast_signed(),
            flags: self.flags(sync),
            sync,
            description_index: self.at.description_index,
        };
        // Below 2^64: at most 2^32 - 1 samples of 2^32 - 1 units. More only behind a position that was
        // taken in another movie.
        self.at.decode_time = self.at.decode_time.saturating_add(u64::from(duration));
        self.at.offset = end;
        self.at.chunk_left -= 1;
        self.at.index += 1;
        Ok(sample)
    }

    /// Flags of the next sample.
    fn flags(&self, sync: bool) -> u32 {
        let moov = self.source.bytes;
        let flags = match self.tables.dependencies(moov, self.at.index) {
            Some(bits) => {
                let bits = if self.quicktime { bits & !LEADING } else { bits };
                bits | if sync { 0 } else { NOT_SYNC }
            }
            None if sync => Sample::SYNC,
            None => Sample::NON_SYNC,
        };
        flags | self.tables.padding_and_priority(moov, self.at.index)
    }

    fn enter_chunk(&mut self, number: u64) -> Result<()> {
        let (bytes, stsc) = (self.source.bytes, self.tables.stsc);
        if self.at.chunk >= self.tables.chunks.records.count {
            let what = "in no chunk";
            return Err(self.error(stsc, ErrorKind::Sample { number, what }));
        }
        self.at.offset = self.tables.chunk_offset(bytes, self.at.chunk);
        self.at.chunk += 1;
        let next = self.at.chunk_entry + 1;
        if next < stsc.records.count
            && be32(bytes, stsc.records.at + next as usize * 12) == self.at.chunk
        {
            self.at.chunk_entry = next;
        }
        if self.at.chunk_entry >= stsc.records.count {
            let what = "a position of samples that belongs to another movie";
            return Err(self.error(stsc, ErrorKind::Invalid(what)));
        }
        let entry = stsc.records.at + self.at.chunk_entry as usize * 12;
        self.at.chunk_left = be32(bytes, entry + 4);
        self.at.description_index = be32(bytes, entry + 8);
        Ok(())
    }

    fn is_sync(&mut self, number: u64) -> Result<bool> {
        let Some(stss) = self.tables.stss else {
            return Ok(true);
        };
        if self.at.next_sync >= stss.records.count {
            return Ok(false);
        }
        let at = stss.records.at + self.at.next_sync as usize * 4;
        let listed = u64::from(be32(self.source.bytes, at));
        if listed < number {
            let what = "`stss` is not in increasing order, or lists sample 0";
            return Err(self.error(stss, ErrorKind::Sample { number, what }));
        }
        let sync = listed == number;
        self.at.next_sync += u32::from(sync);
        Ok(sync)
    }

    #[cold]
    fn error(&self, table: Table, kind: ErrorKind) -> Error {
        self.source.error(table.anchor, table.anchor, kind)
    }
}

impl Iterator for Samples<'_> {
    type Item = Result<Sample>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at.index >= self.tables.sample_count() {
            return None;
        }
        let item = self.read();
        if item.is_err() {
            self.at.index = u32::MAX;
        }
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.tables.sample_count().saturating_sub(self.at.index) as usize;
        (left.min(1), Some(left))
    }
}

/// A place in a run-length table of (count, value): `stts` and `ctts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RunPosition {
    entry: u32,
    left: u32,
    value: u32,
}

impl RunPosition {
    fn next(&mut self, table: Table, bytes: &[u8]) -> Option<u32> {
        while self.left == 0 {
            if self.entry >= table.records.count {
                return None;
            }
            let at = table.records.at + self.entry as usize * 8;
            (self.left, self.value) = (be32(bytes, at), be32(bytes, at + 4));
            self.entry += 1;
        }
        self.left -= 1;
        Some(self.value)
    }
}

/// `is_leading` of sample flags. QuickTime's `sdtp` says there that the sample may be displayed
/// before samples that come earlier.
const LEADING: u32 = 0x0c00_0000;

/// `sample_is_non_sync_sample` of sample flags.
const NOT_SYNC: u32 = 0x0001_0000;
