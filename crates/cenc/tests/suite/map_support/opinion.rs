//! A second opinion on header lengths and tiles: the parsers of `cros-codecs`, and the plainest way
//! from there to entries.

use super::mp4::{Clip, Codec};
use cros_codecs::codec::h264::nalu::Header as _;
use cros_codecs::codec::{av1, h264, h265, vp9};
use lanelock_cenc::map::Subsample;
use std::borrow::Cow;
use std::io::Cursor;
use std::ops::Range;

pub(crate) enum Opinion {
    Avc(h264::parser::Parser),
    Hevc(h265::parser::Parser),
    Av1(Box<av1::parser::Parser>),
    Vp9(vp9::parser::Parser),
}

impl Opinion {
    pub(crate) fn new(clip: &Clip) -> Result<Self, String> {
        let record = &clip.configuration;
        let mut opinion = match clip.codec {
            Codec::Avc => Self::Avc(h264::parser::Parser::default()),
            Codec::Hevc => Self::Hevc(h265::parser::Parser::default()),
            Codec::Av1 => Self::Av1(Box::default()),
            Codec::Vp9 => Self::Vp9(vp9::parser::Parser::default()),
            Codec::Vvc | Codec::Ac4 => return Err("cros-codecs has no such parser".into()),
        };
        if let Self::Av1(parser) = &mut opinion {
            av1(parser, &record[4..])?;
            return Ok(opinion);
        }
        for nal in parameter_sets(clip.codec, record) {
            opinion.clear_bytes(nal)?;
        }
        Ok(opinion)
    }

    /// The `cbcs` map of a unit; NAL lengths have four bytes.
    pub(crate) fn map(&mut self, unit: &[u8]) -> Result<Vec<Subsample>, String> {
        let ranges = match self {
            Self::Av1(parser) => av1(parser, unit)?,
            Self::Vp9(parser) => vp9(parser, unit)?,
            Self::Avc(_) | Self::Hevc(_) => self.slices(unit)?,
        };
        Ok(entries(&ranges, unit.len()))
    }

    /// Where slice data stand.
    fn slices(&mut self, unit: &[u8]) -> Result<Vec<Range<usize>>, String> {
        let mut ranges = Vec::new();
        let mut at = 0;
        while let Some(length) = unit.get(at..at + 4) {
            let start = at + 4;
            at = start + u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
            ranges.push(start + self.clear_bytes(&unit[start..at])?..at);
        }
        Ok(ranges)
    }

    fn clear_bytes(&mut self, nal: &[u8]) -> Result<usize, String> {
        match self {
            Self::Avc(parser) => avc(parser, nal),
            Self::Hevc(parser) => hevc(parser, nal),
            Self::Av1(_) | Self::Vp9(_) => unreachable!("they have no NAL units"),
        }
    }
}

/// The plainest way from protected ranges to entries.
fn entries(ranges: &[Range<usize>], len: usize) -> Vec<Subsample> {
    let mut entries = Vec::new();
    let mut at = 0;
    let end = len..len;
    for range in ranges.iter().filter(|range| !range.is_empty()).chain([&end]) {
        let mut clear = range.start - at;
        at = range.end;
        if clear == 0 && range.is_empty() {
            continue;
        }
        while clear > 65_535 {
            entries.push(Subsample { clear: 65_535, protected: 0 });
            clear -= 65_535;
        }
        entries.push(Subsample {
            clear: clear.try_into().expect("at most 65535"),
            protected: range.len().try_into().expect("32 bits"),
        });
    }
    entries
}

/// Where the tiles of a temporal unit stand.
fn av1(parser: &mut av1::parser::Parser, unit: &[u8]) -> Result<Vec<Range<usize>>, String> {
    use av1::parser::{ObuAction, ParsedObu, TileGroupObu};
    let mut ranges = Vec::new();
    let mut at = 0;
    let mut open = None;
    while at < unit.len() {
        if unit[at] & 2 == 0 {
            return Err("it wants a size in each OBU".into());
        }
        let obu = match parser.read_obu(&unit[at..])? {
            ObuAction::Process(obu) => obu,
            ObuAction::Drop(_) => return Err("it drops a layer".into()),
        };
        let end = at + obu.bytes_used;
        let mut tiles = |group: &TileGroupObu<'_>| {
            let start = end - group.obu.as_ref().len();
            for tile in &group.tiles {
                let first = start + tile.tile_offset as usize;
                ranges.push(first..first + tile.tile_size as usize);
            }
            group.tiles.last().map(|tile| (tile.tile_row, tile.tile_col))
        };
        let complete = |header: &av1::parser::FrameHeaderObu, last: Option<(u32, u32)>| {
            let info = &header.tile_info;
            last == Some((info.tile_rows - 1, info.tile_cols - 1))
        };
        match parser.parse_obu(obu)? {
            ParsedObu::FrameHeader(header) if header.show_existing_frame => {
                parser.ref_frame_update(&header)?;
            }
            ParsedObu::FrameHeader(header) => open = Some(header),
            ParsedObu::Frame(frame) => {
                if complete(&frame.header, tiles(&frame.tile_group)) {
                    parser.ref_frame_update(&frame.header)?;
                } else {
                    open = Some(frame.header);
                }
            }
            ParsedObu::TileGroup(group) => {
                let header = open.as_ref().ok_or("a tile group without frame")?;
                if complete(header, tiles(&group)) {
                    parser.ref_frame_update(header)?;
                }
            }
            _ => {}
        }
        at = end;
    }
    Ok(ranges)
}

/// The whole blocks behind the uncompressed headers of the frames.
fn vp9(parser: &mut vp9::parser::Parser, unit: &[u8]) -> Result<Vec<Range<usize>>, String> {
    let frames = parser.parse_chunk(unit)?;
    let mut end = 0;
    let blocks = |frame: &vp9::parser::Frame<'_>| {
        let clear = usize::from(frame.header.uncompressed_header_size_in_bytes);
        let size = frame.as_ref().len();
        end += size;
        let start = end - size + clear;
        (!frame.header.show_existing_frame).then(|| start..start + (size - clear) / 16 * 16)
    };
    Ok(frames.iter().filter_map(blocks).collect())
}

fn avc(parser: &mut h264::parser::Parser, data: &[u8]) -> Result<usize, String> {
    use h264::parser::{Nalu, NaluHeader};
    let kind = data[0] & 0x1f;
    if !matches!(kind, 1..=5 | 7 | 8) {
        return Ok(data.len());
    }
    let header = NaluHeader::parse(&mut Cursor::new(data))?;
    let nal = Nalu { header, data: Cow::Borrowed(data), size: data.len(), offset: 0 };
    match kind {
        7 => drop(parser.parse_sps(&nal)?),
        8 => drop(parser.parse_pps(&nal)?),
        _ => {
            let header = parser.parse_slice_header(nal)?.header;
            return Ok(header.header_bit_size.div_ceil(8) + header.n_emulation_prevention_bytes);
        }
    }
    Ok(data.len())
}

fn hevc(parser: &mut h265::parser::Parser, data: &[u8]) -> Result<usize, String> {
    use h265::parser::{Nalu, NaluHeader};
    let kind = data[0] >> 1;
    if !matches!(kind, 0..=31 | 33 | 34) {
        return Ok(data.len());
    }
    let header = NaluHeader::parse(&mut Cursor::new(data))?;
    let nal = Nalu { header, data: Cow::Borrowed(data), size: data.len(), offset: 0 };
    match kind {
        33 => drop(parser.parse_sps(&nal)?),
        34 => drop(parser.parse_pps(&nal)?),
        _ => {
            let header = parser.parse_slice_header(nal)?.header;
            let bytes = header.header_bit_size.div_ceil(8) + header.n_emulation_prevention_bytes;
            return Ok(bytes as usize);
        }
    }
    Ok(data.len())
}

/// The NAL units of a configuration record.
fn parameter_sets(codec: Codec, record: &[u8]) -> Vec<&[u8]> {
    let mut sets = Vec::new();
    let mut at = if codec == Codec::Avc { 5 } else { 22 };
    let mut take = |at: &mut usize| {
        let end = *at + 2 + usize::from(u16::from_be_bytes([record[*at], record[*at + 1]]));
        sets.push(&record[*at + 2..end]);
        *at = end;
    };
    match codec {
        Codec::Avc => {
            for mask in [0x1f, 0xff] {
                at += 1;
                for _ in 0..record[at - 1] & mask {
                    take(&mut at);
                }
            }
        }
        Codec::Hevc => {
            at += 1;
            for _ in 0..record[22] {
                at += 3;
                for _ in 0..u16::from_be_bytes([record[at - 2], record[at - 1]]) {
                    take(&mut at);
                }
            }
        }
        Codec::Av1 | Codec::Vp9 | Codec::Vvc | Codec::Ac4 => {}
    }
    sets
}
