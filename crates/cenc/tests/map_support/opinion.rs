//! A second opinion on slice header lengths: the parsers of `cros-codecs`, and the plainest way
//! from lengths to entries.

use super::mp4::{Clip, Codec};
use cros_codecs::codec::h264::nalu::Header as _;
use cros_codecs::codec::{h264, h265};
use lanelock_cenc::map::Subsample;
use std::borrow::Cow;
use std::io::Cursor;

pub(crate) enum Opinion {
    Avc(h264::parser::Parser),
    Hevc(h265::parser::Parser),
}

impl Opinion {
    pub(crate) fn new(clip: &Clip) -> Result<Self, String> {
        let record = &clip.configuration;
        let mut opinion = match clip.codec {
            Codec::Avc => Self::Avc(h264::parser::Parser::default()),
            Codec::Hevc => Self::Hevc(h265::parser::Parser::default()),
        };
        for nal in parameter_sets(clip.codec, record) {
            opinion.clear_bytes(nal)?;
        }
        Ok(opinion)
    }

    /// The `cbcs` map of a unit with four-byte NAL lengths.
    pub(crate) fn map(&mut self, mut unit: &[u8]) -> Result<Vec<Subsample>, String> {
        let mut entries = Vec::new();
        let mut clear = 0;
        while let Some((length, rest)) = unit.split_first_chunk::<4>() {
            let (nal, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
            unit = rest;
            let header = self.clear_bytes(nal)?;
            clear += 4 + header;
            let protected = nal.len() - header;
            if protected > 0 || (rest.is_empty() && clear > 0) {
                while clear > 65_535 {
                    entries.push(Subsample { clear: 65_535, protected: 0 });
                    clear -= 65_535;
                }
                entries.push(Subsample {
                    clear: clear.try_into().expect("at most 65535"),
                    protected: protected.try_into().expect("32 bits"),
                });
                clear = 0;
            }
        }
        Ok(entries)
    }

    fn clear_bytes(&mut self, nal: &[u8]) -> Result<usize, String> {
        match self {
            Self::Avc(parser) => avc(parser, nal),
            Self::Hevc(parser) => hevc(parser, nal),
        }
    }
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
    let mut at = match codec {
        Codec::Avc => 5,
        Codec::Hevc => 22,
    };
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
    }
    sets
}
