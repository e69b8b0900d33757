//! Checked big-endian reading out of one top-level box.

use crate::{Error, ErrorKind, Result, path};

/// The bytes of one whole top-level box and where it sits in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) base: u64,
}

impl Source<'_> {
    /// Makes an error about the box starting at `anchor`, pointing at byte `at`.
    #[cold]
    pub(crate) fn error(self, anchor: usize, at: usize, kind: ErrorKind) -> Error {
        Error::new(path::locate(self.bytes, anchor), self.base.saturating_add(at as u64), kind)
    }
}

/// A cursor over the payload of one box.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    source: Source<'a>,
    anchor: usize,
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// `at..end` must lie inside the source; box headers guarantee it.
    pub(crate) fn new(source: Source<'a>, anchor: usize, at: usize, end: usize) -> Self {
        debug_assert!(at <= end && end <= source.bytes.len());
        Self { source, anchor, at, end }
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.source.bytes[self.at..self.end];
        self.at = self.end;
        rest
    }

    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        self.source.error(self.anchor, self.at, kind)
    }

    pub(crate) fn bytes(&mut self, len: usize, what: &'static str) -> Result<&'a [u8]> {
        if len > self.left() {
            return Err(self.error(ErrorKind::Short {
                what,
                needed: len as u64,
                available: self.left() as u64,
            }));
        }
        let bytes = &self.source.bytes[self.at..self.at + len];
        self.at += len;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(N, what)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64> {
        self.array(what).map(u64::from_be_bytes)
    }

    /// Reads 32 bits, or 64 when `wide`, as the version of many full boxes decides.
    pub(crate) fn u32_or_u64(&mut self, wide: bool, what: &'static str) -> Result<u64> {
        if wide { self.u64(what) } else { self.u32(what).map(u64::from) }
    }

    /// Version and flags of a full box (ISO/IEC 14496-12, 4.2).
    pub(crate) fn version_flags(&mut self) -> Result<(u8, u32)> {
        let word = self.u32("version and flags")?;
        Ok((word.to_be_bytes()[0], word & 0x00ff_ffff))
    }

    /// As [`Self::version_flags`], refusing versions above `highest`.
    pub(crate) fn version_upto(&mut self, highest: u8) -> Result<(u8, u32)> {
        let (version, flags) = self.version_flags()?;
        if version > highest {
            return Err(self.error(ErrorKind::Version { version }));
        }
        Ok((version, flags))
    }

    /// Claims a table of `count` records, checking it against the bytes that are left.
    pub(crate) fn records(
        &mut self,
        count: u32,
        width: usize,
        what: &'static str,
    ) -> Result<Records> {
        let len = u64::from(count) * width as u64;
        if len > self.left() as u64 {
            return Err(self.error(ErrorKind::Count {
                what,
                count: u64::from(count),
                width: width as u64,
                available: self.left() as u64,
            }));
        }
        let records = Records { at: self.at, count };
        // `len` is at most `left`, a usize.
        self.at += count as usize * width;
        Ok(records)
    }
}

/// A claimed table: position in the source and number of records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Records {
    pub(crate) at: usize,
    pub(crate) count: u32,
}

/// Reads a big-endian u16; the caller has claimed the bytes.
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a big-endian u32; the caller has claimed the bytes.
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(word)
}

/// Reads a big-endian u64; the caller has claimed the bytes.
pub(crate) fn be64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(word)
}
