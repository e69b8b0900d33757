//! What is read.

use std::io;

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

    /// How it has changed since it was opened; none if it has not.
    fn change(&self) -> io::Result<Option<String>> {
        Ok(None)
    }
}
