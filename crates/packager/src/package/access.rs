//! Whether decoding can begin at a sample.

use lanelock_mp4::Sample;

use super::source::SourceTrack;
use crate::Error;

/// Type of the stream access point (ISO/IEC 14496-12, Annex I) that begins with a sync sample: 1, or 2 or 3
/// if samples behind it are presented before it. Of type 3 some of these cannot be decoded without what is in
/// front of the sync sample: they belong to an open group of pictures.
pub(super) fn sap_type(
    source: &SourceTrack,
    first: &Sample,
    is_led_by_others: bool,
) -> Result<u8, Error> {
    if !is_led_by_others {
        return Ok(1);
    }
    let entry = first.description_index.checked_sub(1);
    let entry = entry.and_then(|index| source.track().entries.get(index as usize));
    let codec = entry.and_then(|entry| Some((entry.config.as_ref()?, entry.nal_length_size()?)));
    // Key frames of others, such as AV1, need nothing of what is in front of them.
    let Some((config, length_size)) = codec else { return Ok(2) };
    let kind = match &config.kind.0 {
        b"avcC" => avc,
        b"hvcC" => hevc,
        b"vvcC" => vvc,
        _ => return Ok(2),
    };
    let is_closed = first_picture(source, first, length_size.into(), kind)?;
    Ok(if is_closed == Some(Picture::Closed) { 2 } else { 3 })
}

/// A sync sample by its first slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Picture {
    /// All that follows can be decoded.
    Closed,
    /// Pictures that are presented before it may need others that were in front.
    Open,
}

/// What the first slice of a sample says; none if there is none at its beginning. No more is read than the
/// heads of NAL units.
fn first_picture(
    source: &SourceTrack,
    sample: &Sample,
    length_size: u64,
    kind: fn([u8; 2]) -> Option<Picture>,
) -> Result<Option<Picture>, Error> {
    let input = source.file.input();
    let (mut at, size) = (0, u64::from(sample.size));
    for _ in 0..MOST_NAL_UNITS {
        let mut head = [0; 6];
        let head = &mut head[4 - length_size.min(4) as usize..];
        if at + head.len() as u64 > size {
            break;
        }
        input.read(head, sample.offset + at)?;
        let (length, unit) = head.split_at(head.len() - 2);
        let length = length.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        if let &[first, second] = unit
            && let Some(picture) = kind([first, second])
        {
            return Ok(Some(picture));
        }
        at += length_size + length;
    }
    Ok(None)
}

/// The most NAL units in front of the first slice that are looked at: delimiter, parameter sets and messages
/// are a dozen.
const MOST_NAL_UNITS: u32 = 64;

/// ITU-T H.264, table 7-1: slices, and those of IDR pictures.
fn avc([first, _]: [u8; 2]) -> Option<Picture> {
    match first & 0x1f {
        5 => Some(Picture::Closed),
        1..=4 => Some(Picture::Open),
        _ => None,
    }
}

/// ITU-T H.265, table 7-1: of random access pictures, BLA without RASL pictures and IDR are closed.
fn hevc([first, _]: [u8; 2]) -> Option<Picture> {
    match first >> 1 & 0x3f {
        17..=20 => Some(Picture::Closed),
        0..=31 => Some(Picture::Open),
        _ => None,
    }
}

/// ITU-T H.266, table 5: IDR pictures are closed.
fn vvc([_, second]: [u8; 2]) -> Option<Picture> {
    match second >> 3 {
        7 | 8 => Some(Picture::Closed),
        0..=11 => Some(Picture::Open),
        _ => None,
    }
}
