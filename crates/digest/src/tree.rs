//! The leaves of a hash that is a tree of one level: pieces of one message, side by side in lanes.

use crate::{
    algorithm::Algorithm,
    hash::Hash,
    lanes::{HashJob, hash_all},
    levels::Levels,
};

/// Leaves that are hashed side by side.
const AT_ONCE: usize = 64;

/// Cuts a message into leaves of one size, whose digests the root takes.
#[derive(Clone)]
pub(crate) struct Leaves<A: Algorithm> {
    levels: Levels,
    size: usize,
    /// The leaf that is not complete, and the bytes of it.
    leaf: Hash<A>,
    filled: usize,
    /// Those that are complete.
    count: u64,
}

impl<A: Algorithm> Leaves<A> {
    /// Leaves of so many bytes, at least one.
    pub(crate) fn new(levels: Levels, size: usize) -> Self {
        Self { levels, size, leaf: Hash::with_level(levels.one), filled: 0, count: 0 }
    }

    /// Whether no byte was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0 && self.count == 0
    }

    /// Takes the next bytes of the message.
    pub(crate) fn update<R: Algorithm>(&mut self, mut data: &[u8], root: &mut Hash<R>) {
        while !data.is_empty() {
            if self.filled == 0 && data.len() / self.size >= 2 {
                data = self.side_by_side(data, root);
                continue;
            }
            let (now, later) = data.split_at(data.len().min(self.size - self.filled));
            self.leaf.update(now);
            self.filled += now.len();
            if self.filled == self.size {
                self.end_leaf(root);
            }
            data = later;
        }
    }

    /// Takes whole leaves from the beginning, at least two of which are there, and gives the rest.
    fn side_by_side<'d, R: Algorithm>(&mut self, data: &'d [u8], root: &mut Hash<R>) -> &'d [u8] {
        let count = (data.len() / self.size).min(AT_ONCE);
        let (leaves, rest) = data.split_at(count * self.size);
        let mut jobs = [HashJob::<A>::new(&[]); AT_ONCE];
        for (job, leaf) in jobs.iter_mut().zip(leaves.chunks_exact(self.size)) {
            job.message = leaf;
        }
        hash_all(self.levels, &mut jobs[..count]);
        for job in &jobs[..count] {
            root.update(job.digest.as_ref());
        }
        self.count += count as u64;
        rest
    }

    fn end_leaf<R: Algorithm>(&mut self, root: &mut Hash<R>) {
        let leaf = core::mem::replace(&mut self.leaf, Hash::with_level(self.levels.one));
        root.update(leaf.finish().as_ref());
        self.filled = 0;
        self.count += 1;
    }

    /// Ends the last leaf, which may be shorter than the others; gives the number of all.
    pub(crate) fn end<R: Algorithm>(&mut self, root: &mut Hash<R>) -> u64 {
        if self.filled > 0 {
            self.end_leaf(root);
        }
        self.count
    }
}
