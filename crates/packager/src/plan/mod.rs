//! Plans: how a file is cut into pieces. One file a way of cutting.

mod cuts;
mod fragments;
mod indexes;
mod movie;
mod new_fragments;
mod stretches;

pub(crate) use cuts::{Cuts, duration, rank};
pub(crate) use fragments::{Fragments, NO_INDEXES};
pub(crate) use indexes::Indexes;
pub use movie::{MoviePlan, PlannedSegment, SegmentTrack};
pub(crate) use new_fragments::NewFragments;
pub(crate) use stretches::Stretches;

use std::{collections::VecDeque, ops::Range};

use crate::{
    piece::PartKind,
    skeleton::{MediaRanges, TopBox},
};

/// Bytes of a piece whose size can be chosen: small enough to stay in the cache from read to write.
const PIECE: u64 = 1 << 20;

/// Cuts a range to pieces.
fn cut(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    let starts = (0..).map(move |n| range.start + n * PIECE).take_while(move |start| *start < end);
    starts.map(move |start| start..end.min(start + PIECE))
}

/// Parts that come next.
type PartQueue = VecDeque<(PartKind, Range<u64>)>;

/// Queues a box that stays as it is.
fn copy_parts(queue: &mut PartQueue, found: &TopBox) {
    let mut media = MediaRanges::default();
    media.push(found);
    queue.push_back((PartKind::Copy(media), found.offset..found.end()));
}

/// Takes the next part; of one that stays as it is so much as a piece takes: a box from a pipe may claim
/// more pieces than there is memory.
fn next_part(queue: &mut PartQueue) -> Option<(PartKind, Range<u64>)> {
    let (kind, range) = queue.pop_front()?;
    if range.end - range.start <= PIECE {
        return Some((kind, range));
    }
    let middle = range.start + PIECE;
    let (now, later) = (range.start..middle, middle..range.end);
    let (first, rest) = match kind {
        PartKind::Copy(media) => {
            (PartKind::Copy(media.within(&now)), PartKind::Copy(media.within(&later)))
        }
        PartKind::SegmentHead => (PartKind::SegmentHead, PartKind::SegmentHead),
        kind => return Some((kind, range)),
    };
    queue.push_front((rest, later));
    Some((first, now))
}
