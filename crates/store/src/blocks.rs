//! Blocks of an object that are read ahead.

use std::{collections::BTreeMap, io, ops::Range};

use bytes::Bytes;

use crate::fault::copy;

/// Bytes of a block: so long that its round trip counts little.
pub(crate) const BLOCK: u64 = 4 << 20;

/// How many blocks are asked for in front of the one that is read.
pub(crate) const AHEAD: u64 = 3;

/// How many blocks there are at most; each thread that reads may have one more.
const MOST: usize = 12;

/// The blocks of an object that are there or on their way.
#[derive(Default)]
pub(crate) struct Blocks {
    by_index: BTreeMap<u64, Block>,
    /// Counts uses.
    clock: u64,
    /// The most blocks that there were.
    peak: usize,
}

struct Block {
    bytes: State,
    used: u64,
    /// Threads that wait for it, and will copy from it.
    readers: usize,
}

enum State {
    Coming,
    There(Bytes),
    Failed(io::Error),
}

/// What there is of a block.
pub(crate) enum Found {
    Bytes(Bytes),
    Coming,
}

impl Blocks {
    /// Whether a block is there or on its way.
    pub(crate) fn has(&self, index: u64) -> bool {
        self.by_index.contains_key(&index)
    }

    /// The blocks that are to be asked for, so that `index` can be read, and those behind it soon; they are
    /// on their way then. `end` is the number of blocks.
    pub(crate) fn want(&mut self, index: u64, end: u64) -> Vec<u64> {
        let ahead = index..end.min(index.saturating_add(1 + AHEAD));
        let mut wanted = Vec::new();
        for next in ahead.clone() {
            if self.has(next) || !self.make_room(&ahead) && next != index {
                continue;
            }
            self.clock += 1;
            let block = Block { bytes: State::Coming, used: self.clock, readers: 0 };
            self.by_index.insert(next, block);
            self.peak = self.peak.max(self.by_index.len());
            wanted.push(next);
        }
        wanted
    }

    /// Drops the block that was not used for the longest time; whether there is room.
    fn make_room(&mut self, keep: &Range<u64>) -> bool {
        while self.by_index.len() >= MOST {
            let idle = self.by_index.iter().filter(|(index, block)| {
                block.readers == 0 && !keep.contains(index) && !matches!(block.bytes, State::Coming)
            });
            let Some(index) = idle.min_by_key(|(_, block)| block.used).map(|(index, _)| *index)
            else {
                return false;
            };
            self.by_index.remove(&index);
        }
        true
    }

    /// A block has come, or has not.
    pub(crate) fn arrive(&mut self, index: u64, bytes: io::Result<Bytes>) {
        if let Some(block) = self.by_index.get_mut(&index) {
            block.bytes = bytes.map_or_else(State::Failed, State::There);
        }
    }

    /// Waits for a block from now on, which is then not dropped.
    pub(crate) fn enter(&mut self, index: u64) {
        if let Some(block) = self.by_index.get_mut(&index) {
            block.readers += 1;
        }
    }

    /// Waits for it no longer.
    pub(crate) fn leave(&mut self, index: u64) {
        if let Some(block) = self.by_index.get_mut(&index) {
            block.readers = block.readers.saturating_sub(1);
        }
    }

    /// What there is of a block. One that failed is forgotten: the next read asks for it once more.
    pub(crate) fn get(&mut self, index: u64) -> io::Result<Found> {
        self.clock += 1;
        let Some(block) = self.by_index.get_mut(&index) else {
            return Err(io::Error::other("the block was given up"));
        };
        block.used = self.clock;
        match &block.bytes {
            State::Coming => Ok(Found::Coming),
            State::There(bytes) => Ok(Found::Bytes(bytes.clone())),
            State::Failed(error) => {
                let error = copy(error);
                if block.readers <= 1 {
                    self.by_index.remove(&index);
                }
                Err(error)
            }
        }
    }

    /// The most blocks that there were at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_bounded() {
        let mut blocks = Blocks::default();
        for index in 0..1000 {
            for wanted in blocks.want(index, 1000) {
                blocks.arrive(wanted, Ok(Bytes::from(vec![0; 1])));
            }
            assert!(matches!(blocks.get(index), Ok(Found::Bytes(_))), "{index}");
        }
        assert!(blocks.peak() <= MOST, "{}", blocks.peak());
        assert!(!blocks.has(0) && blocks.has(999));
        // What does not come keeps its room, and what is needed comes all the same.
        let mut blocks = Blocks::default();
        for index in (0..100).step_by(10) {
            assert!(blocks.want(index, 1000).contains(&index));
        }
        assert!(blocks.peak() <= MOST + 10, "{}", blocks.peak());
    }

    #[test]
    fn a_failed_block_is_asked_for_again() {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.want(5, 6), [5]);
        assert!(blocks.want(5, 6).is_empty());
        blocks.enter(5);
        blocks.arrive(5, Err(io::Error::other("lost")));
        assert!(blocks.get(5).is_err());
        blocks.leave(5);
        assert_eq!(blocks.want(5, 6), [5]);
    }
}
