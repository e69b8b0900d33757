//! NAL units behind length fields (ISO/IEC 14496-15 clause 4.3.3.1) and cursor over the
//! configuration records.

use super::error::{MapError, NalPlace, NalSource};

/// One NAL unit; those of access units are not empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nal<'a> {
    pub(super) place: NalPlace,
    /// Bytes of the length field.
    pub(super) lead: usize,
    pub(super) data: &'a [u8],
}

/// Iterates over the NAL units of an access unit; ends after the first error.
#[derive(Clone, Debug)]
pub(super) struct NalUnits<'a> {
    unit: &'a [u8],
    length_size: LengthSize,
    index: usize,
    offset: usize,
}

impl<'a> NalUnits<'a> {
    pub(super) const fn new(unit: &'a [u8], length_size: LengthSize) -> Self {
        Self { unit, length_size, index: 0, offset: 0 }
    }

    fn read(&mut self) -> Result<Option<Nal<'a>>, MapError> {
        let rest = &self.unit[self.offset..];
        if rest.is_empty() {
            return Ok(None);
        }
        let place =
            NalPlace { source: NalSource::AccessUnit, index: self.index, offset: self.offset };
        let lead = self.length_size.bytes();
        let left = rest.len();
        let (length, rest) =
            rest.split_at_checked(lead).ok_or(MapError::NalLengthTruncated { place, left })?;
        let length = length.iter().fold(0u32, |n, &byte| n << 8 | u32::from(byte));
        let data = usize::try_from(length)
            .ok()
            .and_then(|n| rest.get(..n))
            .ok_or(MapError::NalLengthBeyondUnit { place, length, left: rest.len() })?;
        if data.is_empty() {
            return Err(MapError::NalEmpty { place });
        }
        self.index += 1;
        self.offset += lead + data.len();
        Ok(Some(Nal { place, lead, data }))
    }
}

impl<'a> Iterator for NalUnits<'a> {
    type Item = Result<Nal<'a>, MapError>;

    fn next(&mut self) -> Option<Self::Item> {
        let result = self.read();
        if result.is_err() {
            self.offset = self.unit.len();
        }
        result.transpose()
    }
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
    pub(super) fn nal(&mut self) -> Result<Nal<'a>, MapError> {
        let place =
            NalPlace { source: NalSource::Configuration, index: self.units, offset: self.offset };
        let length = self.u16()?;
        let data = self.take(usize::from(length))?;
        self.units += 1;
        Ok(Nal { place, lead: 2, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(unit: &[u8], size: LengthSize) -> Result<Vec<(usize, usize)>, MapError> {
        NalUnits::new(unit, size).map(|n| n.map(|n| (n.lead, n.data.len()))).collect()
    }

    #[test]
    fn walks() {
        assert_eq!(lengths(&[], LengthSize::Four), Ok(vec![]));
        assert_eq!(lengths(&[1, 9, 2, 8, 8], LengthSize::One), Ok(vec![(1, 1), (1, 2)]));
        assert_eq!(lengths(&[0, 1, 9], LengthSize::Two), Ok(vec![(2, 1)]));
    }

    #[test]
    fn refuses() {
        let place = NalPlace { source: NalSource::AccessUnit, index: 1, offset: 2 };
        assert_eq!(
            lengths(&[1, 9, 3, 8, 8], LengthSize::One),
            Err(MapError::NalLengthBeyondUnit { place, length: 3, left: 2 })
        );
        assert_eq!(lengths(&[1, 9, 0, 1, 9], LengthSize::One), Err(MapError::NalEmpty { place }));
        let place = NalPlace { offset: 3, ..place };
        assert_eq!(
            lengths(&[0, 1, 9, 7], LengthSize::Two),
            Err(MapError::NalLengthTruncated { place, left: 1 })
        );
        assert_eq!(LengthSize::from_field(0xfe), Err(MapError::LengthSize(3)));
        let huge = [0xff; 6];
        assert!(matches!(
            lengths(&huge, LengthSize::Four),
            Err(MapError::NalLengthBeyondUnit { length: u32::MAX, left: 2, .. })
        ));
    }
}
