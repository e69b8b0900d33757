//! Positioned reads: the only way this crate touches a file.

use std::io;

/// A source of bytes that is read at absolute offsets.
pub trait ReadAt {
    /// Length in bytes; `u64::MAX` as long as it is not known, which is the case of a pipe before its
    /// end.
    fn len(&self) -> u64;

    /// Fills `buf` from `offset`; reading past the end is an error.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;

    /// Whether there are no bytes at `offset` and behind it. A pipe waits for its next byte, or its end.
    fn ends_at(&self, offset: u64) -> io::Result<bool> {
        Ok(offset >= self.len())
    }

    /// Whether there are no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let from = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..)?.get(..buf.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(from);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        ReadAt::len(self.as_slice())
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buf, offset)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buf, offset)
    }

    fn ends_at(&self, offset: u64) -> io::Result<bool> {
        (**self).ends_at(offset)
    }
}
