//! Headers of OBUs (AV1, 5.3).

use crate::map::error::{Fault, MapError, UnitPlace};

/// An OBU by its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Obu {
    pub(super) kind: ObuKind,
    pub(super) layer: Layer,
    /// Bytes of the header, with the size field.
    pub(super) header: usize,
    /// Bytes behind it.
    pub(super) len: usize,
}

/// `temporal_id` and `spatial_id`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Layer {
    pub(super) temporal: u8,
    pub(super) spatial: u8,
}

/// `obu_type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ObuKind {
    SequenceHeader,
    TemporalDelimiter,
    FrameHeader,
    TileGroup,
    Metadata,
    Frame,
    RedundantFrameHeader,
    TileList,
    Padding,
    Reserved,
}

/// Why there is no OBU.
pub(super) enum ObuFault {
    Header(Fault),
    /// It says that it has so many bytes.
    Length(u32),
}

impl ObuFault {
    /// The error for an OBU at `place`, where `left` bytes are left.
    pub(super) const fn at(self, place: UnitPlace, left: usize) -> MapError {
        match self {
            Self::Header(fault) => fault.at(place),
            Self::Length(length) => MapError::LengthBeyondUnit { place, length, left },
        }
    }
}

impl From<Fault> for ObuFault {
    fn from(fault: Fault) -> Self {
        Self::Header(fault)
    }
}

impl Obu {
    /// The most bytes that a header has: two, and a size of eight.
    pub(super) const MAX_HEADER: usize = 10;

    /// The OBU that `head` begins with, and that may take `left` bytes.
    pub(super) fn read(head: &[u8], left: usize) -> Result<Self, ObuFault> {
        let (&first, mut rest) = head.split_first().ok_or(Fault::Truncated)?;
        if first & 0x80 != 0 {
            return Err(Fault::Invalid("obu_forbidden_bit").into());
        }
        let mut layer = Layer::default();
        if first & 4 != 0 {
            let (&extension, behind) = rest.split_first().ok_or(Fault::Truncated)?;
            layer = Layer { temporal: extension >> 5, spatial: extension >> 3 & 3 };
            rest = behind;
        }
        let size = if first & 2 != 0 { Some(leb128(&mut rest)?) } else { None };
        let header = head.len() - rest.len();
        let left = left - header;
        let len = match size {
            None => left,
            Some(size) => usize::try_from(size)
                .ok()
                .filter(|len| *len <= left)
                .ok_or(ObuFault::Length(size))?,
        };
        let kind = match first >> 3 & 15 {
            1 => ObuKind::SequenceHeader,
            2 => ObuKind::TemporalDelimiter,
            3 => ObuKind::FrameHeader,
            4 => ObuKind::TileGroup,
            5 => ObuKind::Metadata,
            6 => ObuKind::Frame,
            7 => ObuKind::RedundantFrameHeader,
            8 => ObuKind::TileList,
            15 => ObuKind::Padding,
            _ => ObuKind::Reserved,
        };
        Ok(Self { kind, layer, header, len })
    }
}

/// leb128() at the front (AV1, 4.10.5).
fn leb128(data: &mut &[u8]) -> Result<u32, Fault> {
    let mut value = 0_u64;
    for shift in (0..56).step_by(7) {
        let (&byte, rest) = data.split_first().ok_or(Fault::Truncated)?;
        *data = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).map_err(|_| Fault::Invalid("obu_size"));
        }
    }
    Err(Fault::Invalid("obu_size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let size = |mut bytes: &[u8]| leb128(&mut bytes);
        assert_eq!(size(&[0x7f]), Ok(127));
        assert_eq!(size(&[0xe5, 0x8e, 0x26]), Ok(624_485));
        assert_eq!(size(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        assert_eq!(size(&[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), Ok(1));
        assert_eq!(size(&[0x80; 8]), Err(Fault::Invalid("obu_size")));
        assert_eq!(size(&[0x80, 0x80, 0x80, 0x80, 0x10]), Err(Fault::Invalid("obu_size")));
        assert_eq!(size(&[0x80]), Err(Fault::Truncated));
    }
}
