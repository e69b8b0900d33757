//! NAL units behind length fields (ISO/IEC 14496-15 clause 4.3.3.1) and cursor over the
//! configuration records.

use super::Runs;
use super::error::{Fault, MapError, UnitPlace, UnitSource};
use super::unit::{UnitBytes, get};

/// What errors call a NAL unit.
const NAL_UNIT: &str = "NAL unit";

/// Reports the NAL units of an access unit to `runs`.
///
/// `clear` says how many bytes at the start of a NAL unit are clear, from its head (the bytes at
/// hand) and its length. It reads the head from front to back and takes its end for that of the NAL
/// unit, so [`Fault::Truncated`] means that the answer may stand behind the head, and every other
/// answer is the one for the whole NAL unit. A head that is too short is asked for again, longer,
/// until it is the whole NAL unit.
pub(super) fn walk<U: UnitBytes>(
    unit: &mut U,
    length_size: LengthSize,
    runs: &mut Runs<'_>,
    mut clear: impl FnMut(&[u8], usize) -> Result<usize, Fault>,
) -> Result<(), U::Error> {
    let end = unit.len();
    let lead = length_size.bytes();
    let mut place = UnitPlace::in_access_unit(NAL_UNIT);
    while place.offset < end {
        let left = end - place.offset;
        let mut asked = lead.saturating_add(unit.head()).min(left);
        let mut piece = get(unit, place.offset, asked)?;
        let (length, _) =
            piece.split_at_checked(lead).ok_or(MapError::LengthTruncated { place, left })?;
        let length = length.iter().fold(0u32, |n, &byte| n << 8 | u32::from(byte));
        let left = left - lead;
        let len = usize::try_from(length)
            .ok()
            .filter(|len| *len <= left)
            .ok_or(MapError::LengthBeyondUnit { place, length, left })?;
        if len == 0 {
            return Err(MapError::Empty { place }.into());
        }
        let nal = lead + len;
        let mut answer = clear(&piece[lead..asked.min(nal)], len);
        while asked < nal && answer == Err(Fault::Truncated) {
            asked = asked.saturating_mul(2).min(nal);
            piece = get(unit, place.offset, asked)?;
            answer = clear(&piece[lead..], len);
        }
        let clear = answer.map_err(|fault| fault.at(place))?;
        runs.nal(lead, length, clear);
        place.index += 1;
        place.offset += nal;
    }
    Ok(())
}

/// `lengthSizeMinusOne` + 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LengthSize {
    One,
    Two,
    Four,
}

impl LengthSize {
    /// From the byte that holds `lengthSizeMinusOne` in its two lowest bits.
    pub(super) const fn from_field(byte: u8) -> Result<Self, MapError> {
        match byte & 3 {
            0 => Ok(Self::One),
            1 => Ok(Self::Two),
            2 => Err(MapError::LengthSize(3)),
            _ => Ok(Self::Four),
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }
}

/// A cursor over a decoder configuration record.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    name: &'static str,
    data: &'a [u8],
    offset: usize,
    /// NAL units handed out.
    units: usize,
}

impl<'a> Record<'a> {
    pub(super) const fn new(name: &'static str, data: &'a [u8]) -> Self {
        Self { name, data, offset: 0, units: 0 }
    }

    pub(super) const fn error(&self, what: &'static str) -> MapError {
        MapError::Configuration { record: self.name, offset: self.offset, what }
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8], MapError> {
        let taken = self.data[self.offset..].get(..n).ok_or(self.error("ends early"))?;
        self.offset += n;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, MapError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, MapError> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A parameter set behind its two-byte length.
    pub(super) fn nal(&mut self) -> Result<(UnitPlace, &'a [u8]), MapError> {
        let place = UnitPlace {
            unit: NAL_UNIT,
            source: UnitSource::Configuration,
            index: self.units,
            offset: self.offset,
        };
        let length = self.u16()?;
        let data = self.take(usize::from(length))?;
        self.units += 1;
        Ok((place, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Alignment;

    /// The lengths of the NAL units.
    fn lengths(mut unit: &[u8], size: LengthSize) -> Result<Vec<usize>, MapError> {
        let mut lengths = Vec::new();
        let mut entries = Vec::new();
        walk(&mut unit, size, &mut Runs::new(Alignment::Exact, &mut entries), |nal, len| {
            assert_eq!(nal.len(), len, "a slice is read in one piece");
            lengths.push(len);
            Ok(len)
        })?;
        Ok(lengths)
    }

    #[test]
    fn walks() {
        assert_eq!(lengths(&[], LengthSize::Four), Ok(vec![]));
        assert_eq!(lengths(&[1, 9, 2, 8, 8], LengthSize::One), Ok(vec![1, 2]));
        assert_eq!(lengths(&[0, 1, 9], LengthSize::Two), Ok(vec![1]));
    }

    #[test]
    fn refuses() {
        let place = UnitPlace { index: 1, offset: 2, ..UnitPlace::in_access_unit(NAL_UNIT) };
        assert_eq!(
            lengths(&[1, 9, 3, 8, 8], LengthSize::One),
            Err(MapError::LengthBeyondUnit { place, length: 3, left: 2 })
        );
        assert_eq!(lengths(&[1, 9, 0, 1, 9], LengthSize::One), Err(MapError::Empty { place }));
        let place = UnitPlace { offset: 3, ..place };
        assert_eq!(
            lengths(&[0, 1, 9, 7], LengthSize::Two),
            Err(MapError::LengthTruncated { place, left: 1 })
        );
        assert_eq!(LengthSize::from_field(0xfe), Err(MapError::LengthSize(3)));
        let huge = [0xff; 6];
        assert!(matches!(
            lengths(&huge, LengthSize::Four),
            Err(MapError::LengthBeyondUnit { length: u32::MAX, left: 2, .. })
        ));
    }
}
