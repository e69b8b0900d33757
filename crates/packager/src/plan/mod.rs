//! Plans: how a file is cut into pieces. One file a way of cutting.

mod cuts;
mod fragments;
mod indexes;
mod movie;
mod new_fragments;
mod stretches;

pub(crate) use cuts::Cuts;
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

/// Queues a box that stays as it is, in pieces.
fn copy_parts(queue: &mut VecDeque<(PartKind, Range<u64>)>, found: &TopBox) {
    let mut media = MediaRanges::default();
    media.push(found);
    for range in cut(found.offset..found.end()) {
        let media = media.within(&range);
        queue.push_back((PartKind::Copy(media), range));
    }
}
