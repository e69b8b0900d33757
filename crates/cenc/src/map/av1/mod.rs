//! AV1: the data of every tile (`decode_tile`) are protected, everything else is clear: OBU headers,
//! sequence and frame headers, tile group headers, the sizes of tiles, metadata and padding (AV1 Codec
//! ISO Media File Format Binding, "Common Encryption").
//!
//! The length of a frame header depends on the sequence header and on frames before it: on their
//! sizes, order hints and quantizers of segments ([`refs::Slot`]).
//!
//! OBUs of reserved types and tile lists are refused, and so is a temporal unit without any frame.

mod frame;
mod obu;
mod params;
mod refs;
mod sequence;
mod tiles;

use super::Runs;
use super::bits::BitReader;
use super::error::{Fault, MapError, UnitPlace, UnitSource};
use super::unit::{AccessUnitMap, UnitBytes, get, read_head};
use frame::Frame;
use obu::{Obu, ObuKind};
use refs::Slots;
use sequence::Sequence;
use tiles::{TileGroup, Tiles};

/// Subsample rules for AV1: the sequence header and the reference frames in force.
#[derive(Clone, Debug)]
pub struct Av1Map {
    sequence: Option<Box<Sequence>>,
    slots: Slots,
}

impl Av1Map {
    /// From an `AV1CodecConfigurationRecord` (AV1-ISOBMFF, 2.3).
    ///
    /// # Errors
    /// When the record or the sequence header in it cannot be read.
    pub fn new(av1c: &[u8]) -> Result<Self, MapError> {
        let error = |offset, what| MapError::Configuration { record: "av1C", offset, what };
        let (head, mut rest) = av1c.split_first_chunk::<4>().ok_or(error(0, "ends early"))?;
        if head[0] != 0x81 {
            return Err(error(0, "unknown version"));
        }
        let mut this = Self { sequence: None, slots: Slots::default() };
        let mut place = UnitPlace { offset: 4, ..UnitPlace::in_access_unit(OBU) };
        place.source = UnitSource::Configuration;
        while !rest.is_empty() {
            let obu = Obu::read(rest, rest.len()).map_err(|fault| fault.at(place, rest.len()))?;
            let (whole, behind) = rest.split_at(obu.header + obu.len);
            if obu.kind == ObuKind::SequenceHeader {
                this.learn(&whole[obu.header..]).map_err(|fault| fault.at(place))?;
            }
            rest = behind;
            place.index += 1;
            place.offset += whole.len();
        }
        Ok(this)
    }

    fn learn(&mut self, sequence_header: &[u8]) -> Result<(), Fault> {
        self.sequence = Some(Box::new(Sequence::read(&mut BitReader::plain(sequence_header))?));
        Ok(())
    }

    /// The frame header that `r` is at.
    fn frame(&self, r: &mut BitReader<'_>, obu: &Obu) -> Result<Frame, Fault> {
        let sequence = self.sequence.as_ref().ok_or(Fault::NoSequenceHeader)?;
        frame::read(r, sequence, &self.slots, obu.layer)
    }

    /// Reads a frame header OBU by itself.
    fn frame_header(&self, head: &[u8], obu: &Obu) -> Result<Frame, Fault> {
        let mut r = BitReader::plain(head);
        let frame = self.frame(&mut r, obu)?;
        // trailing_bits: a one, and zeros to the end of the byte.
        if !r.flag()? || !r.align() {
            return Err(Fault::Malformed(END));
        }
        Ok(frame)
    }

    /// Reads a frame OBU up to its first tile.
    fn frame_and_tiles(&self, head: &[u8], obu: &Obu) -> Result<(Frame, TileGroup), Fault> {
        let mut r = BitReader::plain(head);
        let frame = self.frame(&mut r, obu)?;
        let tiles =
            frame.tiles.ok_or(Fault::Malformed("a frame that is shown again has no tiles"))?;
        byte_alignment(&mut r)?;
        let group = TileGroup::read(&mut r, &tiles, 0)?;
        Ok((frame, group))
    }

    /// Maps one OBU: `head` is what stands at its beginning, `rest` its length.
    fn obu<U: UnitBytes>(&mut self, walk: &mut Walk<'_, '_, U>, obu: &Obu) -> Result<(), U::Error> {
        match obu.kind {
            ObuKind::SequenceHeader => {
                walk.parse(obu, |head| self.learn(head))?;
                walk.runs.clear(obu.len);
            }
            ObuKind::FrameHeader if walk.open.is_none() => {
                let frame = walk.parse(obu, |head| self.frame_header(head, obu))?;
                self.slots = frame.slots;
                walk.open = frame.tiles.map(|tiles| Open { tiles, next: 0 });
                walk.frames += 1;
                walk.runs.clear(obu.len);
            }
            ObuKind::Frame if walk.open.is_none() => {
                let (frame, group) = walk.parse(obu, |head| self.frame_and_tiles(head, obu))?;
                self.slots = frame.slots;
                walk.open = frame.tiles.map(|tiles| Open { tiles, next: 0 });
                walk.frames += 1;
                walk.tiles(obu, group)?;
            }
            ObuKind::TileGroup if let Some(Open { tiles, next }) = walk.open => {
                let read = |head: &[u8]| TileGroup::read(&mut BitReader::plain(head), &tiles, next);
                let group = walk.parse(obu, read)?;
                walk.tiles(obu, group)?;
            }
            // The header of the open frame again.
            ObuKind::FrameHeader | ObuKind::RedundantFrameHeader if walk.open.is_some() => {
                walk.runs.clear(obu.len);
            }
            ObuKind::Metadata | ObuKind::Padding => walk.runs.clear(obu.len),
            ObuKind::TemporalDelimiter if walk.open.is_none() => walk.runs.clear(obu.len),
            ObuKind::TileList => {
                return Err(walk.error(Fault::Unsupported("a tile list (large scale tile coding)")));
            }
            ObuKind::Reserved => {
                return Err(walk.error(Fault::Unsupported("an OBU of a reserved type")));
            }
            _ => return Err(walk.error(Fault::Malformed("an OBU of its type must not stand here"))),
        }
        Ok(())
    }
}

impl AccessUnitMap for Av1Map {
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
        let place = UnitPlace::in_access_unit(OBU);
        let end = unit.len();
        let mut walk = Walk { unit, runs, place, open: None, frames: 0 };
        while walk.place.offset < end {
            let left = end - walk.place.offset;
            let head = get(walk.unit, walk.place.offset, left.min(Obu::MAX_HEADER))?;
            let obu = Obu::read(head, left).map_err(|fault| fault.at(walk.place, left))?;
            walk.runs.clear(obu.header);
            self.obu(&mut walk, &obu)?;
            walk.place.index += 1;
            walk.place.offset += obu.header + obu.len;
        }
        if walk.open.is_some() {
            return Err(
                walk.error(Fault::Malformed("it is missing: the last frame has more tiles"))
            );
        }
        if walk.frames == 0 && end > 0 {
            return Err(walk.error(Fault::Malformed("it is missing: the access unit has no frame")));
        }
        Ok(())
    }
}

/// What is wrong if zeros are missing behind a header.
const END: &str = "its header does not end where its syntax does";

/// What errors call an OBU.
const OBU: &str = "OBU";

/// `byte_alignment`: zeros to the end of the byte.
const fn byte_alignment(r: &mut BitReader<'_>) -> Result<(), Fault> {
    if r.align() { Ok(()) } else { Err(Fault::Malformed(END)) }
}

/// A walk over a temporal unit.
struct Walk<'w, 'r, U> {
    unit: &'w mut U,
    runs: &'w mut Runs<'r>,
    /// The OBU.
    place: UnitPlace,
    /// The frame whose tiles are not complete.
    open: Option<Open>,
    frames: usize,
}

#[derive(Clone, Copy)]
struct Open {
    tiles: Tiles,
    /// The tile that comes next.
    next: u32,
}

impl<U: UnitBytes> Walk<'_, '_, U> {
    fn error(&self, fault: Fault) -> U::Error {
        fault.at(self.place).into()
    }

    /// What `read` makes of the beginning of the OBU's payload.
    fn parse<T>(
        &mut self,
        obu: &Obu,
        read: impl FnMut(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, U::Error> {
        let start = self.place.offset + obu.header;
        read_head(self.unit, start, obu.len, read)?.map_err(|fault| self.error(fault))
    }

    /// Reports the payload of an OBU with this tile group.
    fn tiles(&mut self, obu: &Obu, group: TileGroup) -> Result<(), U::Error> {
        let invalid = Fault::Invalid("tile_size_minus_1");
        let Some(open) = self.open else { return Ok(()) };
        self.runs.clear(group.header);
        let mut at = self.place.offset + obu.header + group.header;
        let end = self.place.offset + obu.header + obu.len;
        for _ in open.next..group.end {
            let field = open.tiles.size_bytes;
            if end - at < field {
                return Err(self.error(Fault::Truncated));
            }
            let size = get(self.unit, at, field)?;
            let size = size.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)) + 1;
            at += field;
            let size = u32::try_from(size).ok().filter(|&size| size as usize <= end - at);
            let size = size.ok_or_else(|| self.error(invalid))?;
            self.runs.clear(field);
            self.runs.protect(size);
            at += size as usize;
        }
        match u32::try_from(end - at) {
            Ok(0) => return Err(self.error(Fault::Truncated)),
            Ok(size) => self.runs.protect(size),
            Err(_) => return Err(self.error(Fault::Unsupported("a tile of more than 4 GiB"))),
        }
        let next = group.end + 1;
        self.open = (next < open.tiles.count()).then_some(Open { next, ..open });
        Ok(())
    }
}
