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
    /// Next sample, from 0.
    index: u32,
    times: RunLengths,
    compositions: Option<RunLengths>,
    next_sync: u32,
    chunk: u32,
    chunk_entry: u32,
    chunk_left: u32,
    description_index: u32,
    offset: u64,
    decode_time: u64,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(
        moov: &'a [u8],
        moov_offset: u64,
        track: &Track,
        file_len: u64,
    ) -> Result<Self> {
        let source = Source { bytes: moov, base: moov_offset };
        let tables = track.tables;
        tables.check(source, track.entries.len(), file_len)?;
        Ok(Self {
            source,
            tables,
            quicktime: track.quicktime,
            file_len,
            index: 0,
            times: RunLengths::new(tables.stts),
            compositions: tables.ctts.map(RunLengths::new),
            next_sync: 0,
            chunk: 0,
            chunk_entry: 0,
            chunk_left: 0,
            description_index: 0,
            offset: 0,
            decode_time: 0,
        })
    }

    fn read(&mut self) -> Result<Sample> {
        let number = u64::from(self.index) + 1;
        let bytes = self.source.bytes;
        while self.chunk_left == 0 {
            self.enter_chunk(number)?;
        }
        let size = self.tables.sizes.get(bytes, self.index);
        let offset = self.offset;
        let end = offset.checked_add(u64::from(size)).filter(|&end| end <= self.file_len);
        let Some(end) = end else {
            let (what, start, len) = ("sample", offset, u64::from(size));
            let kind = ErrorKind::OutsideFile { what, number, start, len, file_len: self.file_len };
            return Err(self.error(self.tables.chunks, kind));
        };
        // The sums of both tables were checked, so neither ends early.
        let duration = self.times.next(bytes).unwrap_or_default();
        let composition = self.compositions.as_mut().and_then(|runs| runs.next(bytes));
        let sync = self.is_sync(number)?;
        let sample = Sample {
            offset,
            size,
            decode_time: self.decode_time,
            duration,
            // `ctts` of version 0 is unsigned by the standard (8.6.1.3), but there are files with negative
            // offsets in it.
            composition_offset: composition.unwrap_or_default().cast_signed(),
            flags: self.flags(sync),
            sync,
            description_index: self.description_index,
        };
        // Below 2^64: at most 2^32 - 1 samples of 2^32 - 1 units.
        self.decode_time += u64::from(duration);
        self.offset = end;
        self.chunk_left -= 1;
        self.index += 1;
        Ok(sample)
    }

    /// Flags of the next sample.
    fn flags(&self, sync: bool) -> u32 {
        let moov = self.source.bytes;
        let flags = match self.tables.dependencies(moov, self.index) {
            Some(bits) => {
                let bits = if self.quicktime { bits & !LEADING } else { bits };
                bits | if sync { 0 } else { NOT_SYNC }
            }
            None if sync => Sample::SYNC,
            None => Sample::NON_SYNC,
        };
        flags | self.tables.padding_and_priority(moov, self.index)
    }

    fn enter_chunk(&mut self, number: u64) -> Result<()> {
        let (bytes, stsc) = (self.source.bytes, self.tables.stsc);
        if self.chunk >= self.tables.chunks.records.count {
            let what = "in no chunk";
            return Err(self.error(stsc, ErrorKind::Sample { number, what }));
        }
        self.offset = self.tables.chunk_offset(bytes, self.chunk);
        self.chunk += 1;
        let next = self.chunk_entry + 1;
        if next < stsc.records.count
            && be32(bytes, stsc.records.at + next as usize * 12) == self.chunk
        {
            self.chunk_entry = next;
        }
        let entry = stsc.records.at + self.chunk_entry as usize * 12;
        self.chunk_left = be32(bytes, entry + 4);
        self.description_index = be32(bytes, entry + 8);
        Ok(())
    }

    fn is_sync(&mut self, number: u64) -> Result<bool> {
        let Some(stss) = self.tables.stss else {
            return Ok(true);
        };
        if self.next_sync >= stss.records.count {
            return Ok(false);
        }
        let at = stss.records.at + self.next_sync as usize * 4;
        let listed = u64::from(be32(self.source.bytes, at));
        if listed < number {
            let what = "`stss` is not in increasing order, or lists sample 0";
            return Err(self.error(stss, ErrorKind::Sample { number, what }));
        }
        let sync = listed == number;
        self.next_sync += u32::from(sync);
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
        if self.index >= self.tables.sample_count() {
            return None;
        }
        let item = self.read();
        if item.is_err() {
            self.index = u32::MAX;
        }
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.tables.sample_count().saturating_sub(self.index) as usize;
        (left.min(1), Some(left))
    }
}

/// Run-length table of (count, value): `stts` and `ctts`.
#[derive(Clone, Copy, Debug)]
struct RunLengths {
    table: Table,
    entry: u32,
    left: u32,
    value: u32,
}

impl RunLengths {
    fn new(table: Table) -> Self {
        Self { table, entry: 0, left: 0, value: 0 }
    }

    fn next(&mut self, bytes: &[u8]) -> Option<u32> {
        while self.left == 0 {
            if self.entry >= self.table.records.count {
                return None;
            }
            let at = self.table.records.at + self.entry as usize * 8;
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
