//! The `codecs` parameter of MIME types (RFC 6381) and what DASH and HLS take it for.

use std::fmt::Write as _;

use super::{
    ac4::Ac4,
    colour::{Colour, av1_colour, vpx_colour},
    entry::SampleEntry,
    esds::{EsdsInfo, MPEG4_AUDIO, MPEG4_VISUAL},
    video::is_dolby_vision,
};
use crate::{FourCc, source::be32};

impl SampleEntry {
    /// The `codecs` parameter of a MIME type (RFC 6381), as DASH and HLS take it: `avc1.64001E`,
    /// `hvc1.1.6.L63.90`, `mp4a.40.2`, … A protected entry has that of the original format.
    ///
    /// The bare format where the configuration is missing or of no known kind. That may hold any byte
    /// that a four-character code can, so a manifest has to escape it.
    pub fn codec_string(&self) -> String {
        full(self).unwrap_or_else(|| self.original_format.to_string())
    }
}

/// None if the bare format is all that can be said.
fn full(entry: &SampleEntry) -> Option<String> {
    let format = entry.original_format;
    match &format.0 {
        _ if is_dolby_vision(format) => return Some(entry.dolby_vision()?.codec_string),
        // QuickTime's names, which MIME types do not have. MPEG-2 adds the lower sampling rates.
        b".mp3" | b"ms\0U" => {
            let is_mpeg2 = entry.audio()?.sample_rate.is_some_and(|rate| rate < 32_000);
            return Some(if is_mpeg2 { "mp4a.69" } else { "mp4a.6B" }.into());
        }
        b"stpp" => return Some(format!("{format}.{}", entry.details.ttml.as_deref()?)),
        _ => {}
    }
    let config = entry.config.as_ref()?;
    let d = &*config.data;
    match &config.kind.0 {
        // ISO/IEC 14496-15, annex E.
        b"avcC" => Some(format!("{format}.{:02X}{:02X}{:02X}", d.get(1)?, d.get(2)?, d.get(3)?)),
        b"hvcC" => hevc(format, d.get(..13)?),
        b"vvcC" => vvc(format, d),
        b"av1C" => av1(format, d, entry.details.nclx),
        b"vpcC" => vpx(format, d),
        b"esds" => Some(mpeg4(format, &config.esds()?)),
        // ISO/IEC 23008-3: the profile and level indication.
        b"mhaC" => Some(format!("{format}.0x{:02X}", d.get(1)?)),
        // ETSI TS 103 190-2, E.13.
        b"dac4" => {
            let ac4 = Ac4::parse(d)?;
            let (bitstream, presentation) = (ac4.bitstream_version, ac4.presentation_version);
            Some(format!("{format}.{bitstream:02X}.{presentation:02X}.{:02X}", ac4.mdcompat))
        }
        // `Opus` and `fLaC` are told by their codes, in their own spelling: RFC 6381 demands the
        // code of the sample entry, and Safari takes no other. Players translate for browsers that
        // once knew the lower case alone.
        _ => None,
    }
}

/// ISO/IEC 14496-15, annex E: profile, compatibility in reverse bit order, tier and level,
/// constraint bytes without trailing zero bytes.
fn hevc(format: FourCc, d: &[u8]) -> Option<String> {
    let space = ["", "A", "B", "C"][usize::from(d[1] >> 6)];
    let tier = if d[1] & 0x20 == 0 { 'L' } else { 'H' };
    let compatibility = be32(d, 2).reverse_bits();
    let mut out = format!("{format}.{space}{}.{compatibility:X}.{tier}{}", d[1] & 31, d[12]);
    for byte in without_zeros(&d[6..12]) {
        write!(out, ".{byte:X}").ok()?;
    }
    Some(out)
}

/// ISO/IEC 14496-15, annex E: profile, tier and level, constraints in base 32 (RFC 4648) unless they
/// are all zero.
fn vvc(format: FourCc, d: &[u8]) -> Option<String> {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    // The record after version, flags: lengths and `ptl_present_flag`, output layer set and chroma
    // format, bit depth; then the profile, tier and level.
    if d.get(4)? & 1 == 0 {
        return None;
    }
    let len = usize::from(d.get(8)? & 0x3f);
    let (profile, level) = (d.get(9)?, d.get(10)?);
    let tier = if profile & 1 == 0 { 'L' } else { 'H' };
    let mut out = format!("{format}.{}.{tier}{level}", profile >> 1);
    let constraints = without_zeros(d.get(11..11 + len)?);
    if !constraints.is_empty() {
        out.push_str(".C");
        for group in constraints.chunks(5) {
            let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            let bits = bits << (8 * (5 - group.len()));
            for digit in 0..(8 * group.len()).div_ceil(5) {
                out.push(char::from(ALPHABET[(bits >> (35 - 5 * digit) & 31) as usize]));
            }
        }
    }
    Some(out)
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..used]
}

/// AV1-ISOBMFF, 5: with all optional fields, or with none if they say what a reader assumes then. So
/// the colours of high dynamic range are never left out, which would declare ITU-R BT.709. `nclx` goes
/// before the sequence header.
///
/// Where the samples of 4:2:0 lie is no reason to name them all: nobody chooses by it, and the common
/// packagers do not either.
fn av1(format: FourCc, d: &[u8], nclx: Option<Colour>) -> Option<String> {
    let (first, second) = (*d.get(1)?, *d.get(2)?);
    let bit = |at: u8| second >> at & 1;
    let tier = if bit(7) == 0 { 'M' } else { 'H' };
    let depth = match (bit(6), bit(5)) {
        (0, _) => 8,
        (_, 0) => 10,
        _ => 12,
    };
    let mut out = format!("{format}.{}.{:02}{tier}.{depth:02}", first >> 5, first & 31);
    let (mono, chroma_x, chroma_y) = (bit(4), bit(3), bit(2));
    let colour = nclx.or_else(|| av1_colour(d).map(|(colour, _)| colour)).unwrap_or(Colour::BT709);
    if (mono, chroma_x, chroma_y, colour) != (0, 1, 1, Colour::BT709) {
        let position = if chroma_x & chroma_y == 1 { second & 3 } else { 0 };
        let Colour { primaries, transfer, matrix, full_range } = colour;
        write!(out, ".{mono}.{chroma_x}{chroma_y}{position}.{primaries:02}.{transfer:02}").ok()?;
        write!(out, ".{matrix:02}.{}", u8::from(full_range)).ok()?;
    }
    Some(out)
}

/// VP Codec ISO Media File Format Binding, "Codecs Parameter String": with all optional fields, or
/// with none, as for AV1. The first two values of the chroma subsampling are 4:2:0.
fn vpx(format: FourCc, d: &[u8]) -> Option<String> {
    let chroma = d.get(6)? >> 1 & 7;
    let mut out = format!("{format}.{:02}.{:02}.{:02}", d.get(4)?, d.get(5)?, d.get(6)? >> 4);
    let colour = vpx_colour(d)?;
    if chroma > 1 || colour != Colour::BT709 {
        let Colour { primaries, transfer, matrix, full_range } = colour;
        let range = u8::from(full_range);
        write!(out, ".{chroma:02}.{primaries:02}.{transfer:02}.{matrix:02}.{range:02}").ok()?;
    }
    Some(out)
}

/// RFC 6381, 3.3: the object type indication in hexadecimal digits; for MPEG-4 audio and visual, the
/// audio object type or the profile and level in decimal ones.
///
/// Of HE-AAC, the extension is named also where decoders of the core could do without, so that
/// players tell its versions apart. So does Shaka Packager.
fn mpeg4(format: FourCc, info: &EsdsInfo) -> String {
    let object_type = info.object_type;
    let part = match object_type {
        MPEG4_AUDIO => info.full_object_type,
        MPEG4_VISUAL => info.visual_profile,
        _ => None,
    };
    match part {
        Some(part) => format!("{format}.{object_type:02X}.{part}"),
        None => format!("{format}.{object_type:02X}"),
    }
}
