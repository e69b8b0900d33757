//! Reading ahead, for walks over box headers.

use std::{cell::RefCell, io};

use lanelock_mp4::ReadAt;

use super::Input;

/// The most bytes that are read ahead.
const MOST: usize = 1 << 16;

/// The fewest: a `moof` of one sample, and the header of the `mdat` behind it.
const FEWEST: usize = 256;

/// A source that is read in blocks, as long as what is asked for lies close together: in a file with a
/// `moof` for each picture, one read then brings many headers, and in a file with large boxes none brings
/// more than is wanted.
pub(crate) struct ReadAhead<'a> {
    input: &'a Input<'a>,
    block: RefCell<Block>,
}

struct Block {
    start: u64,
    bytes: Vec<u8>,
    /// Bytes of the next block.
    size: usize,
}

impl<'a> ReadAhead<'a> {
    pub(crate) fn new(input: &'a Input<'a>) -> Self {
        let block = Block { start: 0, bytes: Vec::new(), size: FEWEST };
        Self { input, block: RefCell::new(block) }
    }
}

impl Block {
    fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let index = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(index..)?.get(..len)
    }
}

impl ReadAt for ReadAhead<'_> {
    fn len(&self) -> u64 {
        self.input.len()
    }

    fn ends_at(&self, offset: u64) -> io::Result<bool> {
        self.input.ends_at(offset)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        // A pipe may not have more yet than what is asked for.
        if self.input.is_sequential() || buf.len() >= MOST {
            return self.input.read_exact_at(buf, offset);
        }
        let mut block = self.block.borrow_mut();
        if block.get(offset, buf.len()).is_none() {
            // A block of twice the size would have had it.
            let near = offset >= block.start && offset - block.start < 2 * block.bytes.len() as u64;
            block.size = if near { (block.size * 2).min(MOST) } else { FEWEST };
            let left = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
            let size = block.size.min(left).max(buf.len());
            block.bytes.resize(size, 0);
            block.start = offset;
            let read = self.input.read_exact_at(&mut block.bytes, offset);
            if read.is_err() {
                block.bytes.clear();
                // What cannot be read may be what was not asked for.
                return self.input.read_exact_at(buf, offset);
            }
        }
        if let Some(bytes) = block.get(offset, buf.len()) {
            buf.copy_from_slice(bytes);
        }
        Ok(())
    }
}
