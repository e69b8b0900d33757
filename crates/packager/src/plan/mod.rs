//! Plans: how a file is cut into pieces. One file a way of cutting.

mod fragments;
mod new_fragments;
mod stretches;

pub(crate) use fragments::Fragments;
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
    match kind {
        PartKind::Copy(media) if range.end - range.start > PIECE => {
            let middle = range.start + PIECE;
            let (now, later) = (range.start..middle, middle..range.end);
            queue.push_front((PartKind::Copy(media.within(&later)), later));
            Some((PartKind::Copy(media.within(&now)), now))
        }
        kind => Some((kind, range)),
    }
}
