//! Plans: how a file is cut into pieces. One file a way of cutting.

mod fragments;
mod new_fragments;
mod stretches;

pub(crate) use fragments::Fragments;
pub(crate) use new_fragments::NewFragments;
pub(crate) use stretches::Stretches;

use std::{collections::VecDeque, ops::Range};

use crate::task::{Task, TaskKind};

/// Bytes of a piece whose size can be chosen: small enough to stay in the cache from read to write.
const PIECE: u64 = 1 << 20;

/// Queues a range that stays as it is, in pieces.
fn copy(queue: &mut VecDeque<Task>, range: Range<u64>) {
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at + PIECE);
        queue.push_back(Task::of(TaskKind::Copy, at..end));
        at = end;
    }
}
