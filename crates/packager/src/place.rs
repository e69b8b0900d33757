//! Where the pieces go in the output.

use lanelock_mp4::edit::{patch_mfra, patch_sidx};

use crate::{
    Error,
    io::{Input, Output},
    task::{Task, TaskKind},
};

/// Gives pieces their place, one behind the other.
pub(crate) struct Placement {
    next: u64,
    /// (input, output) offsets of the boxes that indexes point to, in file order.
    moves: Vec<(u64, u64)>,
    /// Indexes to set right in the end: input offset, output offset, bytes.
    indexes: Vec<(u64, u64, Vec<u8>)>,
}

impl Placement {
    /// The first piece goes to `start` of the output.
    pub(crate) fn new(start: u64) -> Self {
        Self { next: start, moves: Vec::new(), indexes: Vec::new() }
    }

    /// Where the output ends so far.
    pub(crate) fn end(&self) -> u64 {
        self.next
    }

    /// How far a box at `at` of the input moves if it comes next.
    pub(crate) fn moved(&self, at: u64) -> i64 {
        self.next.wrapping_sub(at).cast_signed()
    }

    /// Gives `task` its place.
    pub(crate) fn place(&mut self, task: &mut Task) {
        let at = match &mut task.kind {
            TaskKind::Fragment { at, .. } => Some(*at),
            TaskKind::Replace { at, bytes } => {
                task.head = std::mem::take(bytes);
                Some(*at)
            }
            TaskKind::Index { at, bytes } => {
                self.indexes.push((*at, self.next, bytes.clone()));
                // Zeros keep the room: `write_indexes` fills them in when all offsets are known.
                task.head = vec![0; bytes.len()];
                Some(*at)
            }
            TaskKind::Copy => task.spans.first().map(|span| span.start),
            TaskKind::NewFragment(_) | TaskKind::Stretch(_) => None,
        };
        if let Some(at) = at {
            self.moves.push((at, self.next));
        }
        task.out = self.next;
        self.next += task.head.len() as u64 + task.len();
    }

    /// Sets `sidx` and `mfra` right, now that everything has its place.
    pub(crate) fn write_indexes(&self, input: &Input, output: &Output) -> Result<(), Error> {
        let map = |at: u64| {
            if at == input.len() {
                return Some(self.next);
            }
            let found = self.moves.binary_search_by_key(&at, |(from, _)| *from).ok()?;
            Some(self.moves[found].1)
        };
        for (at, out, bytes) in &self.indexes {
            let patched = if &bytes[4..8] == b"sidx" {
                patch_sidx(bytes, *at, *out, map)
            } else {
                patch_mfra(bytes, *at, map)
            };
            output.write(&patched.map_err(|error| input.container(error))?, *out)?;
        }
        Ok(())
    }
}
