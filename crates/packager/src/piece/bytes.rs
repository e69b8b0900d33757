//! The bytes of a piece while it is mapped.

use std::ops::Range;

use lanelock_cenc::map::{Alignment, MapError, Mapper, Subsample};

use super::planned::{PartKind, Planned};
use crate::{Error, io::Input};

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
