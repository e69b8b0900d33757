//! What is read.

use std::{io, ops::Range};

use lanelock_mp4::ReadAt;

/// Bytes to read, at offsets: a file, memory, a pipe.
///
/// Reads come from several threads at once. Those of a sequential source come in order, except that
/// bytes which were read but not taken are asked for again.
pub trait Source: ReadAt + Send + Sync {
    /// What the user calls it: for errors and summaries.
    fn name(&self) -> String;

    /// Whether bytes can be had in their order alone, as from a pipe. Such a source must be a
    /// fragmented file.
    fn is_sequential(&self) -> bool {
        false
    }

    /// Like [`ReadAt::read_exact_at`], for bytes that are not asked for again, nor those in front of
    /// them: a sequential source forgets them.
    fn take_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buf, offset)
    }

    /// Whether a read takes long before its first byte comes, as over a network: then all bytes of a piece
    /// are read together, also those that are not needed at once.
    fn is_distant(&self) -> bool {
        false
    }

    /// Reads `spans`, which are in order, one behind the other into `buf`, which is as long as they are
    /// together.
    fn read_spans(&self, spans: &[Range<u64>], buf: &mut [u8]) -> io::Result<()> {
        let mut rest = buf;
        for span in spans {
            let len = usize::try_from(span.end.saturating_sub(span.start));
            let part = len.ok().and_then(|len| rest.split_at_mut_checked(len));
            let (part, behind) = part.ok_or(io::ErrorKind::InvalidInput)?;
            self.read_exact_at(part, span.start)?;
            rest = behind;
        }
        Ok(())
    }

    /// How it has changed since it was opened; none if it has not.
    fn change(&self) -> io::Result<Option<String>> {
        Ok(None)
    }
}
