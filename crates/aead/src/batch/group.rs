//! Which messages of a batch stand side by side.
//!
//! What the lanes of a kernel must have in common is the *shape* of a message: the algorithm makes a
//! number of its lengths. The messages of a chunk are sorted by shape and level, so equal ones need not
//! be neighbours, and go to the kernel of the algorithm, at most [`LANES`] at a time. Messages without a
//! shape, or alone with theirs, are processed one by one.
//!
//! CCM needs none of this: its messages are chains in the [lanes](lanelock_core::lanes), where lengths
//! may differ. Nor does GCM, whose texts have vectors of their own.

use core::ptr;

use lanelock_isa::{AesLevel, Block, WIDEST};

use super::{Message, prefers_lanes};
use crate::Aead;

/// The most messages of a group: four of the widest vectors.
pub(crate) const LANES: usize = 4 * WIDEST;

/// A block of each lane.
pub(crate) type LaneBlocks = [Block; LANES];

/// Messages looked at together.
const CHUNK: usize = PLACES as usize;
const PLACES: u32 = 128;

/// Shapes are numbers of so many bits.
const SHAPE_BITS: usize = 14;

/// An algorithm that processes messages side by side, and what it decides of them.
pub(crate) trait SideBySide: Aead + Sized {
    /// Copies of what kernels do not read and write where it is.
    type Rows;

    /// Rows to begin with. Made in place: they are too large to be moved.
    fn rows() -> Self::Rows;
    /// The level of the key.
    fn level(&self) -> AesLevel;
    /// The shape of a message, as a number below 2^14; `None` if it is faster alone, or has lengths that
    /// are an error.
    fn shape(&self, lengths: Lengths) -> Option<usize>;
    /// The part of the shape that comes from a text of so many bytes, as a number: it takes less time than the shape.
    fn text_class(bytes: usize) -> usize;
    /// Whether to look for groups among messages, of which there are [`FEW`] or more.
    fn pays(messages: &[Message<'_, Self>]) -> bool;
    /// Seals or opens a group.
    fn run<const SEAL: bool>(group: MessageGroup<'_, '_, '_, Self>, rows: &mut Self::Rows);
}

/// The lengths of a message in bytes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Lengths {
    pub(crate) nonce: usize,
    pub(crate) aad: usize,
    pub(crate) text: usize,
    pub(crate) tag: usize,
}

impl Lengths {
    #[inline(always)]
    pub(crate) fn of<A>(Message { nonce, aad, data, tag, .. }: &Message<'_, A>) -> Self {
        Self { nonce: nonce.len(), aad: aad.len(), text: data.len(), tag: tag.len() }
    }
}

/// Messages of one shape and level, a lane for each.
pub(crate) struct MessageGroup<'g, 'm, 'a, A> {
    messages: &'g mut [Option<&'m mut Message<'a, A>>],
    /// As [`SideBySide::shape`] gave it.
    pub(crate) shape: usize,
    /// The key of the first message.
    pub(crate) first: &'a A,
    /// Whether the others have it too.
    pub(crate) one_key: bool,
}

impl<'m, 'a, A: Aead> MessageGroup<'_, 'm, 'a, A> {
    /// Lanes in use.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        self.messages.len().min(LANES)
    }

    /// The messages in the order of the lanes.
    #[inline(always)]
    pub(crate) fn messages(
        &mut self,
    ) -> impl Iterator<Item = &mut Message<'a, A>> + use<'_, 'm, 'a, A> {
        self.messages.iter_mut().filter_map(Option::as_deref_mut)
    }
}

/// With fewer messages lanes are no gain: unused ones cost as much as others. The binary `mixes`
/// of the lab's worker says where that is.
pub(crate) const FEW: usize = 8;

/// [`FEW`], or what tests ask for.
#[inline(always)]
pub(crate) fn few() -> usize {
    if prefers_lanes() { 2 } else { FEW }
}

/// Seals or opens all messages, side by side where that pays.
#[inline]
pub(crate) fn run_all<A: SideBySide, const SEAL: bool>(messages: &mut [Message<'_, A>]) {
    for messages in messages.chunks_mut(CHUNK) {
        if messages.len() >= few() && (prefers_lanes() || A::pays(messages)) {
            run_chunk::<A, SEAL>(messages);
        } else {
            messages.iter_mut().for_each(Message::alone::<SEAL>);
        }
    }
}

/// Whether some of the first messages have a shape, and there are on average `few` messages for each class of texts, or one
/// class alone. If not, looking for groups would take longer than they save.
#[inline(always)]
pub(crate) fn has_groups<A: SideBySide>(messages: &[Message<'_, A>], few: usize) -> bool {
    let seen = messages
        .iter()
        .fold(0_u128, |seen, message| seen | 1 << (A::text_class(message.data.len()) % 128));
    let classes = seen.count_ones() as usize;
    (classes == 1 || classes * few <= messages.len())
        && messages
            .iter()
            .take(FEW / 2)
            .any(|message| message.key.shape(Lengths::of(message)).is_some())
}

/// At most [`CHUNK`] messages. Groups of fewer than [`FEW`] are processed one by one. Not inlined: messages that all go
/// one by one do not need its frame.
#[inline(never)]
fn run_chunk<A: SideBySide, const SEAL: bool>(messages: &mut [Message<'_, A>]) {
    let mut rows = A::rows();
    let (mut kinds, mut found) = ([0; CHUNK], [const { None }; CHUNK]);
    let (count, one_kind, one_key) = find::<A, SEAL>(messages, &mut kinds, &mut found);
    let (kinds, mut found) = (&mut kinds[..count], &mut found[..count]);
    let mut sorted;
    if !one_kind && !kinds.is_sorted() {
        kinds.sort_unstable();
        sorted = [const { None }; CHUNK];
        for (message, kind) in sorted.iter_mut().zip(&*kinds) {
            *message = found[*kind as usize % CHUNK].take();
        }
        found = &mut sorted[..count];
    }
    let mut kinds = &*kinds;
    while let (Some(first), Some(last)) = (kinds.first(), kinds.last()) {
        let kind = first / PLACES;
        // In most batches all are alike.
        let alike = if last / PLACES == kind {
            kinds.len()
        } else {
            kinds.partition_point(|other| other / PLACES == kind)
        };
        let (now, later) = found.split_at_mut(alike);
        (kinds, found) = (&kinds[alike..], later);
        for messages in now.chunks_mut(LANES) {
            if messages.len() < few() {
                messages.iter_mut().flatten().for_each(|message| message.alone::<SEAL>());
                continue;
            }
            let [Some(first), others @ ..] = messages else { continue };
            let first = first.key;
            let one_key =
                one_key || others.iter().flatten().all(|message| ptr::eq(message.key, first));
            let shape = kind as usize % (1 << SHAPE_BITS);
            A::run::<SEAL>(MessageGroup { messages, shape, first, one_key }, &mut rows);
        }
    }
}

/// Finds the messages of a chunk that have a shape, and processes the others. `kinds` gets level, shape and
/// place of each as one number: sorting keeps the order of equal ones. Returns how many they are, whether
/// all are of one kind, and whether all have one key.
///
/// Neighbours that are alike are counted first, since in most batches all are: that is a few comparisons for
/// each, and the rest is done once.
#[inline(always)]
fn find<'m, 'a, A: SideBySide, const SEAL: bool>(
    mut messages: &'m mut [Message<'a, A>],
    kinds: &mut [u32; CHUNK],
    found: &mut [Option<&'m mut Message<'a, A>>; CHUNK],
) -> (usize, bool, bool) {
    let (mut count, mut one_kind, mut one_key) = (0, true, true);
    let mut before: Option<(&A, Option<u32>)> = None;
    while let Some(first) = messages.first() {
        // Those with the same lengths, and all with one key or each with another.
        let (key, lengths) = (first.key, Lengths::of(first));
        let key_each = messages.get(1).is_some_and(|second| !ptr::eq(second.key, key));
        let kind_of = |key: &A| {
            // Different keys can share a kernel, different levels cannot.
            let level = key.level().rank() << SHAPE_BITS;
            #[expect(clippy::cast_possible_truncation, reason = "17 bits")]
            key.shape(lengths).map(|shape| (level | shape) as u32)
        };
        let kind = kind_of(key);
        let alike = |message: &&Message<'_, A>| {
            Lengths::of(message) == lengths
                && (ptr::eq(message.key, key) || key_each && kind_of(message.key) == kind)
        };
        let alike = messages.iter().take_while(alike).count().max(1);
        let (now, later) = messages.split_at_mut(alike);
        messages = later;
        one_key &= !key_each && before.is_none_or(|(before, _)| ptr::eq(before, key));
        one_kind &= before.is_none_or(|(_, before)| before == kind);
        before = Some((key, kind));
        let Some(kind) = kind else {
            now.iter_mut().for_each(Message::alone::<SEAL>);
            continue;
        };
        for (message, (kinds, found)) in
            now.iter_mut().zip(kinds.iter_mut().zip(found.iter_mut()).skip(count))
        {
            #[expect(clippy::cast_possible_truncation, reason = "below 128")]
            let place = count as u32;
            (*kinds, *found) = (kind * PLACES + place, Some(message));
            count += 1;
        }
    }
    (count, one_kind, one_key)
}
