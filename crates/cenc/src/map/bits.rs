//! Bit reader over a unit as it stands in the sample.
//!
//! In a NAL unit it reads RBSP bits and skips emulation prevention bytes on the way (ITU-T H.264
//! clause 7.4.1, H.265 clause 7.4.2: in `00 00 03` the 03 is not part of the RBSP); other streams
//! have every byte read ([`BitReader::plain`]). A byte is taken only when a
//! bit of it is needed, so that [`BitReader::bytes`] is at all times the number of *escaped*
//! bytes up to and including the one that holds the last bit read: exactly the clear length of
//! a header. An emulation prevention byte right behind that byte does not count.

use super::error::Fault;

#[derive(Clone, Copy, Debug)]
pub(super) struct BitReader<'a> {
    data: &'a [u8],
    position: usize,
    /// How many zero bytes have to stand in front of an emulation prevention byte.
    escape: u32,
    /// Zero bytes just taken.
    zeros: u32,
    /// The lowest `left` bits are not read yet; what is above them is spent.
    cache: u64,
    left: u32,
}

/// Why a read failed; one byte, so that results travel in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BitError {
    End,
    CodeTooLong,
}

impl From<BitError> for Fault {
    fn from(error: BitError) -> Self {
        match error {
            BitError::End => Self::Truncated,
            BitError::CodeTooLong => Self::Invalid("Exp-Golomb code"),
        }
    }
}

impl<'a> BitReader<'a> {
    /// Over a NAL unit.
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, position: 0, escape: 2, zeros: 0, cache: 0, left: 0 }
    }

    /// Over data without emulation prevention.
    pub(super) const fn plain(data: &'a [u8]) -> Self {
        Self { escape: u32::MAX, ..Self::new(data) }
    }

    /// Bytes of the unit touched so far, emulation prevention included.
    pub(super) const fn bytes(&self) -> usize {
        self.position
    }

    /// u(n), `n` in 0..=32.
    #[inline]
    pub(super) fn bits(&mut self, n: u32) -> Result<u32, BitError> {
        debug_assert!(n <= 32);
        while self.left < n {
            self.load()?;
        }
        self.left -= n;
        let mask = (1u64 << n) - 1;
        #[expect(clippy::cast_possible_truncation, reason = "masked to at most 32 bits")]
        Ok(((self.cache >> self.left) & mask) as u32)
    }

    /// u(1).
    #[inline]
    pub(super) fn flag(&mut self) -> Result<bool, BitError> {
        Ok(self.bits(1)? == 1)
    }

    /// Skips `n` bits.
    pub(super) fn skip(&mut self, mut n: u64) -> Result<(), BitError> {
        while n > 32 {
            self.bits(32)?;
            n -= 32;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 32")]
        self.bits(n as u32).map(drop)
    }

    /// ue(v): up to 2^32 - 2 (H.264 clause 9.1, H.265 clause 9.2).
    #[inline]
    pub(super) fn ue(&mut self) -> Result<u32, BitError> {
        let mut zeros = 0;
        loop {
            let rest = self.cache & ((1 << self.left) - 1);
            if rest != 0 {
                let leading = self.left - (u64::BITS - rest.leading_zeros());
                zeros += leading;
                self.left -= leading + 1;
                break;
            }
            zeros += self.left;
            self.left = 0;
            if zeros > 31 {
                return Err(BitError::CodeTooLong);
            }
            self.load()?;
        }
        if zeros > 31 {
            return Err(BitError::CodeTooLong);
        }
        Ok((1 << zeros) - 1 + self.bits(zeros)?)
    }

    /// ue(v) with the largest value that the standard allows for `field`.
    #[inline]
    pub(super) fn ue_max(&mut self, max: u32, field: &'static str) -> Result<u32, Fault> {
        let value = self.ue()?;
        if value > max { Err(Fault::Invalid(field)) } else { Ok(value) }
    }

    /// ue(v) of at most 255.
    #[inline]
    pub(super) fn ue_byte(&mut self, max: u8, field: &'static str) -> Result<u8, Fault> {
        match u8::try_from(self.ue()?) {
            Ok(value) if value <= max => Ok(value),
            _ => Err(Fault::Invalid(field)),
        }
    }

    /// Skips `n` ue(v) or se(v).
    #[inline]
    pub(super) fn skip_codes(&mut self, n: u32) -> Result<(), BitError> {
        for _ in 0..n {
            self.ue()?;
        }
        Ok(())
    }

    /// se(v).
    #[inline]
    pub(super) fn se(&mut self) -> Result<i32, BitError> {
        let code = self.ue()?;
        let magnitude = (code / 2 + (code & 1)).cast_signed();
        Ok(if code & 1 == 1 { magnitude } else { -magnitude })
    }

    /// What is left of the byte read last: its unread bits and their number.
    #[inline]
    pub(super) const fn rest_of_byte(&self) -> (u64, u32) {
        (self.cache & ((1 << self.left) - 1), self.left)
    }

    /// Skips to the next byte; whether zeros alone were skipped.
    pub(super) const fn align(&mut self) -> bool {
        let (rest, _) = self.rest_of_byte();
        self.left = 0;
        rest == 0
    }

    #[inline]
    fn load(&mut self) -> Result<(), BitError> {
        let mut byte = *self.data.get(self.position).ok_or(BitError::End)?;
        self.position += 1;
        if byte == 3 && self.zeros >= self.escape {
            self.zeros = 0;
            byte = *self.data.get(self.position).ok_or(BitError::End)?;
            self.position += 1;
        }
        self.zeros = if byte == 0 { self.zeros + 1 } else { 0 };
        self.cache = self.cache << 8 | u64::from(byte);
        self.left += 8;
        Ok(())
    }
}

/// Ceil(Log2(n)) as the standards use it for field widths; 0 for 0 and 1.
pub(super) const fn ceil_log2(n: u32) -> u32 {
    if n <= 1 { 0 } else { u32::BITS - (n - 1).leading_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_across_emulation_prevention() {
        let mut r = BitReader::new(&[0, 0, 3, 1, 0, 0, 3, 0, 0, 3, 3, 0xff]);
        assert_eq!(r.bits(16), Ok(0));
        assert_eq!(r.bytes(), 2, "the 03 is taken with the byte behind it");
        assert_eq!(r.bits(8), Ok(1));
        assert_eq!(r.bytes(), 4);
        assert_eq!(r.bits(32), Ok(0));
        assert_eq!(r.bits(8), Ok(3), "behind an emulation prevention byte 03 is data");
        assert_eq!(r.bits(8), Ok(0xff));
        assert_eq!(r.bytes(), 12);
        assert_eq!(r.bits(1), Err(BitError::End));
    }

    #[test]
    fn a_plain_stream_has_no_emulation_prevention() {
        let mut r = BitReader::plain(&[0, 0, 3, 1]);
        assert_eq!((r.bits(24), r.bytes()), (Ok(3), 3));
        assert_eq!((r.bits(8), r.bytes()), (Ok(1), 4));
        assert_eq!(r.flag(), Err(BitError::End));
    }

    #[test]
    fn emulation_prevention_at_the_end_is_the_end() {
        let mut r = BitReader::new(&[0, 0, 3]);
        assert_eq!(r.bits(16), Ok(0));
        assert_eq!(r.flag(), Err(BitError::End));
    }

    #[test]
    fn exp_golomb() {
        // 1 010 011 00100 | 00101 and stop
        let mut r = BitReader::new(&[0b1010_0110, 0b0100_0010, 0b1100_0000]);
        for want in 0..5 {
            assert_eq!(r.ue(), Ok(want));
        }
        let mut r = BitReader::new(&[0b1010_0110, 0b0100_0010, 0b1100_0000]);
        for want in [0, 1, -1, 2, -2] {
            assert_eq!(r.se(), Ok(want));
        }
        let longest = [0, 0, 3, 0, 1, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!(BitReader::new(&longest).ue(), Ok(u32::MAX - 1));
        assert_eq!(BitReader::new(&longest).se(), Ok(-i32::MAX));
        assert_eq!(
            BitReader::new(&[0, 0, 0, 0, 0x80, 0, 0, 0, 0]).ue(),
            Err(BitError::CodeTooLong)
        );
        assert_eq!(BitReader::new(&[0, 0]).ue(), Err(BitError::End));
    }

    #[test]
    fn logarithms() {
        for (n, want) in
            [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 31, 31), (u32::MAX, 32)]
        {
            assert_eq!(ceil_log2(n), want, "{n}");
        }
    }
}
