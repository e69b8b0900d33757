//! Fields of codec configurations that are not whole bytes.

/// Reads bits from the most significant one on; `None` behind the end.
#[derive(Clone, Debug)]
pub(super) struct ConfigBits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ConfigBits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `count` bits, 32 at most.
    pub(super) fn take(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            let byte = *self.bytes.get(self.at / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }

    /// The next `count` bits, 8 at most.
    pub(super) fn byte(&mut self, count: usize) -> Option<u8> {
        u8::try_from(self.take(count)?).ok()
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        Some(self.take(1)? == 1)
    }

    pub(super) fn skip(&mut self, count: usize) -> Option<()> {
        (count <= self.left()).then(|| self.at += count)
    }

    /// Up to the next whole byte, counted from the first one.
    pub(super) fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    pub(super) fn left(&self) -> usize {
        8 * self.bytes.len() - self.at
    }
}
