//! Short messages side by side.
//!
//! The blocks of a message that fill vectors are processed as in a single message (`flow`). The rest
//! does not fill a vector: the nonce, the blocks behind the last vector, the pad of a partial block,
//! the tag. All this is laid out in rows, with a lane for each message, and is encrypted a row of
//! lanes at a time. The messages of a group have the same rows; how many vectors are before them does
//! not matter.
//!
//! At most five rows are encrypted together: 5 states, the offsets, the checksum and the mask of the
//! tag, and the round keys: 20 registers with 11 of them.

use core::{ptr, slice};

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks, Kernel, WIDEST, wipe};

use super::{
    Ocb3, Ocb3Key, end_mark,
    flow::{Aad, Flow, FlowKeys, Ocb3Text},
    format_nonce,
    masks::Masks,
};
use crate::batch::{
    Batch, Message,
    group::{FEW, LANES, LaneBlocks, Lengths, MessageGroup, SideBySide, has_groups, run_all},
    keys::{BatchKeys, KeyEach, OneKey},
};
use lanelock_core::{
    cipher::{Cipher, CipherKeys, SizedCipher},
    parts::InOutBlocks,
};

/// The most blocks behind the vectors of a message.
const TAIL: usize = 3;

/// The most rows that go through AES together: blocks behind the vectors, a pad, a tag.
const ROWS: usize = TAIL + 2;

impl<C: SizedCipher> Batch for Ocb3<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        run_all::<Self, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        run_all::<Self, false>(messages);
    }
}

impl<C: SizedCipher> SideBySide for Ocb3<C> {
    type Rows = Ocb3Rows;

    #[inline(always)]
    fn rows() -> Ocb3Rows {
        let none = [[0; 16]; LANES];
        Ocb3Rows {
            nonces: none,
            offset: none,
            sum: none,
            tail: [none; TAIL],
            part: none,
            part_mask: none,
            part_mark: none,
            hash: none,
            aad: [none; TAIL + 1],
            tag: none,
        }
    }

    #[inline(always)]
    fn level(&self) -> AesLevel {
        self.level()
    }

    /// See [`Ocb3Shape::number`].
    #[inline(always)]
    fn shape(&self, Lengths { nonce, aad, text, tag }: Lengths) -> Option<usize> {
        let valid = self.0.check(nonce, aad, text, tag).is_ok();
        (valid && has_lanes(self.level())).then(|| Ocb3Shape::number(aad, text))
    }

    #[inline(always)]
    fn text_class(bytes: usize) -> usize {
        Ocb3Shape::number(0, bytes)
    }

    /// The rows of a message alone do not wait for one another, so that lanes are a gain where there are many of one
    /// length, which need no sorting. With a key each, the gain is the pad of a partial block.
    #[inline(always)]
    fn pays(messages: &[Message<'_, Self>]) -> bool {
        let level = messages[0].key.level();
        if level == AesLevel::PORTABLE {
            return has_groups(messages, FEW);
        }
        if !has_lanes(level) {
            return false;
        }
        let (length, aad) = (messages[0].data.len(), messages[0].aad.len());
        let alike =
            |message: &Message<'_, Self>| message.data.len() == length && message.aad.len() == aad;
        let many = if messages.iter().all(|message| ptr::eq(message.key, messages[0].key)) {
            messages.len() >= LANES
        } else {
            messages.len() >= 2 * LANES && length > 16 && !length.is_multiple_of(16)
        };
        many && messages.iter().all(alike)
    }

    #[inline(always)]
    fn run<const SEAL: bool>(mut group: MessageGroup<'_, '_, '_, Self>, rows: &mut Ocb3Rows) {
        let (used, shape, one_key) = (group.used(), group.shape, group.one_key);
        let first = &group.first.0;
        let mut keys = [first; LANES];
        let mut aad = [&[][..]; LANES];
        let mut text: [&mut [u8]; LANES] = Default::default();
        for (lane, message) in group.messages().enumerate() {
            if !one_key {
                keys[lane] = &message.key.0;
            }
            rows.nonces[lane] = nonce_block(message.nonce, message.key.0.tag_length);
            aad[lane] = message.aad;
            text[lane] = message.data;
        }
        let (aad, text) = (&aad[..used], &mut text[..used]);
        let level = first.level();
        if one_key {
            level.run(Together::<_, SEAL> { keys: OneKey(first), shape, aad, text, rows });
        } else {
            level.run(Together::<_, SEAL> { keys: KeyEach(&keys), shape, aad, text, rows });
        }
        for (lane, message) in group.messages().enumerate() {
            message.finish::<SEAL>(&mut rows.tag[lane]);
        }
    }
}

/// Whether messages of the level go side by side: the kernel of a group is compiled for no other.
#[inline(always)]
fn has_lanes(level: AesLevel) -> bool {
    level.width() == WIDEST
}

/// What the messages of a group have in common.
#[derive(Clone, Copy)]
struct Ocb3Shape {
    /// Blocks behind the vectors of text.
    tail: usize,
    /// Whether there is a partial block of text.
    part: bool,
    /// The rows of AAD, if there is any.
    aad: Option<usize>,
}

impl Ocb3Shape {
    /// The shape as a number: rows of AAD and rows of text.
    #[inline(always)]
    fn number(aad: usize, text: usize) -> usize {
        #[inline(always)]
        fn rest(bytes: usize) -> usize {
            bytes / 16 % WIDEST * 2 + usize::from(!bytes.is_multiple_of(16))
        }
        let aad = if aad == 0 { 0 } else { 1 + rest(aad) };
        aad << 3 | rest(text)
    }

    /// The shape that a number stands for.
    #[inline(always)]
    fn new(number: usize) -> Self {
        let (tail, part) = (number / 2 % WIDEST, !number.is_multiple_of(2));
        let aad = (number / 8 % 16).checked_sub(1);
        Self { tail, part, aad: aad.map(|rest| rest / 2 % WIDEST + rest % 2) }
    }
}

/// What belongs to the messages, side by side. Zeroised on drop.
pub(crate) struct Ocb3Rows {
    nonces: LaneBlocks,
    /// The offset behind the vectors.
    offset: LaneBlocks,
    /// The plaintext of the vectors, summed up.
    sum: LaneBlocks,
    /// The blocks behind the vectors.
    tail: [LaneBlocks; TAIL],
    /// The partial block; with its end mark if it is plaintext.
    part: LaneBlocks,
    /// Ones where a partial block to be opened has bytes, and its end mark.
    part_mask: LaneBlocks,
    part_mark: LaneBlocks,
    /// HASH of the vectors of AAD.
    hash: LaneBlocks,
    /// The blocks behind them and the partial one, with their offsets.
    aad: [LaneBlocks; TAIL + 1],
    tag: LaneBlocks,
}

impl Drop for Ocb3Rows {
    fn drop(&mut self) {
        let Self { offset, sum, tail, part, hash, aad, tag, .. } = self;
        for row in [offset, sum, part, hash, tag].into_iter().chain(tail).chain(aad) {
            wipe(row.as_flattened_mut());
        }
    }
}

/// The nonce as 4.2 formats it.
#[inline(always)]
fn nonce_block(nonce: &[u8], tag_length: usize) -> Block {
    if let Ok(nonce) = <&[u8; 12]>::try_from(nonce) {
        let mut block = [0; 16];
        #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
        let length = (tag_length * 8 % 128) as u8;
        [block[0], block[3]] = [length << 1, 1];
        block[4..].copy_from_slice(nonce);
        block
    } else {
        format_nonce(nonce, tag_length).to_be_bytes()
    }
}

/// A group of messages: AAD and text of each lane.
struct Together<'g, 'm, K, const SEAL: bool> {
    keys: K,
    /// The number of the [`Ocb3Shape`].
    shape: usize,
    aad: &'g [&'m [u8]],
    text: &'g mut [&'m mut [u8]],
    rows: &'g mut Ocb3Rows,
}

impl<'k, K, C: Cipher + 'k, const SEAL: bool> Kernel for Together<'_, '_, K, SEAL>
where
    K: BatchKeys<Parts = &'k Ocb3Key<C>>,
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        assert!(const { S::WIDTH == WIDEST }, "one by one: see `has_lanes`");
        let Self { keys, shape, aad, text, rows } = self;
        let shape = Ocb3Shape::new(shape);
        let used = text.len().min(LANES);
        // 1. The first offsets of all messages, a lane each.
        for at in (0..used).step_by(S::WIDTH) {
            first_offsets::<S, C>(s, keys, rows, at);
        }
        // 2. For each message the blocks that fill vectors; what is behind them goes into rows.
        rows.sum = [[0; 16]; LANES];
        let first = FlowKeys::new(s, keys.lane(0).round_keys(!SEAL));
        for lane in 0..used {
            let key = keys.lane(lane);
            if shape.aad.is_some() {
                begin_aad::<S, C>(s, key, rows, lane, aad[lane]);
            }
            let text_keys = if K::ONE { first } else { FlowKeys::new(s, key.round_keys(!SEAL)) };
            begin::<S, C, SEAL>(s, shape, &key.masks, text_keys, rows, lane, text[lane]);
        }
        // 3. The rows of all messages, a lane each.
        for at in (0..used).step_by(S::WIDTH) {
            rest::<S, C, SEAL>(s, shape, keys, rows, at);
        }
        // 4. Back to the messages.
        for lane in 0..used {
            end::<S>(s, shape, rows, lane, text[lane]);
        }
    }
}

/// Offset_0 (4.2) of the lanes of a vector: as [`first_offset`](super::first_offset).
#[inline(always)]
fn first_offsets<'k, S: AesClmul, C: Cipher + 'k>(
    s: S,
    keys: impl BatchKeys<Parts = &'k Ocb3Key<C>>,
    rows: &mut Ocb3Rows,
    at: usize,
) {
    let nonces = s.load(&rows.nonces[at..]);
    let top = s.and(nonces, s.splat_halves(u64::MAX, u64::MAX >> 8 | 0xc0 << 56));
    let [ktop] = C::encrypt::<_, 1>(s, [top], round_keys::<S, C>(s, keys, at, false));
    // Stretch = Ktop || (Ktop ^ Ktop << 8), of which the first 64 bits; Offset_0 is the 128 bits
    // behind bit `bottom` of it: three halves, shifted by `bottom` into two. As a number: its high
    // half is what the block begins with.
    let ktop = s.reverse(ktop);
    let behind = s.bytes_down::<8>(s.xor(ktop, s.bytes_up::<1>(ktop)));
    let behind = s.xor(behind, s.bytes_up::<8>(ktop));
    let bottom = s.bytes_down::<15>(s.and(nonces, s.splat_halves(0, 63 << 56)));
    let bottom = s.xor(bottom, s.bytes_up::<8>(bottom));
    // 63 - `bottom`, and one more by a constant: a shift by 64 - `bottom`, 64 included.
    let rest = s.xor(bottom, s.splat_halves(63, 63));
    let low = s.shift_right_by(s.shift_right::<1>(behind), rest);
    let offset = s.reverse(s.xor(s.shift_left_by(ktop, bottom), low));
    s.store(offset, &mut rows.offset[at..]);
}

/// The vectors of a message; the rest of it gets its place in the rows.
#[inline(always)]
fn begin<S: AesClmul, C: Cipher, const SEAL: bool>(
    s: S,
    shape: Ocb3Shape,
    masks: &Masks,
    keys: FlowKeys<'_, S, C>,
    rows: &mut Ocb3Rows,
    lane: usize,
    data: &mut [u8],
) {
    let n = s.narrow();
    let (mut blocks, rest) = data.as_chunks_mut();
    if blocks.len() >= S::WIDTH {
        let mut flow = Flow::new(s, masks, s.splat(&rows.offset[lane]));
        let mut text = Ocb3Text::<SEAL>(InOutBlocks::from(&mut *blocks));
        let done = flow.vectors::<_, C>(keys, &mut text);
        blocks = &mut blocks[done..];
        let flow = flow.narrow();
        n.store(flow.offset, slice::from_mut(&mut rows.offset[lane]));
        n.store(flow.sum, slice::from_mut(&mut rows.sum[lane]));
    }
    for (row, block) in rows.tail.iter_mut().zip(blocks) {
        row[lane] = *block;
    }
    if shape.part {
        // `rest` is in the first lane, zeros in the others: the sum is that lane as a block.
        let part = s.sum_lanes(s.load_part(rest));
        let mark = end_mark(rest.len());
        let to = slice::from_mut(&mut rows.part[lane]);
        if SEAL {
            n.store(n.xor(part, n.load(&[*mark])), to);
        } else {
            n.store(part, to);
            rows.part_mark[lane] = *mark;
            rows.part_mask[lane] = (u128::MAX >> (8 * (16 - rest.len() % 16))).to_le_bytes();
        }
    }
}

/// The vectors of AAD; the rest gets its place in rows, with the offsets added.
#[inline(always)]
fn begin_aad<S: AesClmul, C: Cipher>(
    s: S,
    key: &Ocb3Key<C>,
    rows: &mut Ocb3Rows,
    lane: usize,
    aad: &[u8],
) {
    let (n, masks) = (s.narrow(), &key.masks);
    let (mut blocks, rest) = aad.as_chunks();
    let mut flow = Flow::new(n, masks, n.zero());
    if blocks.len() >= S::WIDTH {
        let mut vectors = Flow::new(s, masks, s.zero());
        let keys = FlowKeys::new(s, key.round_keys(false));
        blocks = &blocks[vectors.vectors::<_, C>(keys, &mut Aad(blocks))..];
        flow = vectors.narrow();
    }
    n.store(flow.sum, slice::from_mut(&mut rows.hash[lane]));
    let mut offset = flow.offset;
    let mut of_aad = rows.aad.iter_mut();
    for ((block, mask), row) in blocks.iter().zip(&masks.group).zip(&mut of_aad) {
        offset = n.xor(flow.offset, n.load(&[*mask]));
        n.store(n.xor(offset, n.load(&[*block])), slice::from_mut(&mut row[lane]));
    }
    if !rest.is_empty()
        && let Some(row) = of_aad.next()
    {
        let part = n.xor(s.sum_lanes(s.load_part(rest)), n.load(&[*end_mark(rest.len())]));
        let v = n.xor(part, n.xor(offset, n.load(&[masks.partial])));
        n.store(v, slice::from_mut(&mut row[lane]));
    }
}

/// The rows of the lanes of one vector.
#[inline(always)]
fn rest<'k, S: AesClmul, C: Cipher + 'k, const SEAL: bool>(
    s: S,
    shape: Ocb3Shape,
    keys: impl BatchKeys<Parts = &'k Ocb3Key<C>>,
    rows: &mut Ocb3Rows,
    at: usize,
) {
    let tail = shape.tail.min(TAIL);
    // `offset` is that of the last block in vectors, `last` the one behind the tail (and the L_* of a
    // partial block). Behind whole vectors the offsets of the tail are those of the first blocks of a
    // message, each ^ `offset` (`flow`).
    let offset = s.load(&rows.offset[at..]);
    let mut last = offset;
    if tail > 0 {
        last = s.xor(last, keys.blocks(s, at, |parts| &parts.masks.group[tail - 1]));
    }
    if shape.part {
        last = s.xor(last, keys.blocks(s, at, |parts| &parts.masks.partial));
    }
    let mut sum = s.load(&rows.sum[at..]);
    let mut v = [offset; ROWS];
    for row in 0..tail {
        let x = s.load(&rows.tail[row][at..]);
        if SEAL {
            sum = s.xor(sum, x);
        }
        let mask = keys.blocks(s, at, |parts| &parts.masks.group[row]);
        v[row] = s.xor(x, s.xor(offset, mask));
    }
    if !SEAL {
        decrypt::<S, C>(s, keys, &mut v, tail, at);
    }
    // When sealing, the whole plaintext is there: tail, pad and tag are encrypted together. Opening
    // needs the plaintext of the tail for the checksum: so the tag is encrypted behind it.
    let mut pad = last;
    let tag_mask = s.xor(last, keys.blocks(s, at, |parts| &parts.masks.tag));
    let mut tag = tag_mask;
    if SEAL {
        let mut count = tail;
        if shape.part {
            sum = s.xor(sum, s.load(&rows.part[at..]));
            v[count] = last;
            count += 1;
        }
        v[count] = s.xor(sum, tag_mask);
        encrypt::<S, C>(s, keys, &mut v, count + 1, at);
        pad = v[tail];
        tag = v[count];
    } else if shape.part {
        [pad] = C::encrypt::<_, 1>(s, [last], round_keys::<S, C>(s, keys, at, false));
    }
    for row in 0..tail {
        let mask = keys.blocks(s, at, |parts| &parts.masks.group[row]);
        let y = s.xor(v[row], s.xor(offset, mask));
        if !SEAL {
            sum = s.xor(sum, y);
        }
        s.store(y, &mut rows.tail[row][at..]);
    }
    if shape.part {
        let mut part = s.xor(pad, s.load(&rows.part[at..]));
        if !SEAL {
            part = s.and(part, s.load(&rows.part_mask[at..]));
            sum = s.xor(sum, s.xor(part, s.load(&rows.part_mark[at..])));
        }
        s.store(part, &mut rows.part[at..]);
    }
    if !SEAL {
        [tag] =
            C::encrypt::<_, 1>(s, [s.xor(sum, tag_mask)], round_keys::<S, C>(s, keys, at, false));
    }
    if let Some(count) = shape.aad {
        tag = s.xor(tag, s.load(&rows.hash[at..]));
        let of_aad = &rows.aad[..count.min(TAIL + 1)];
        for (v, row) in v.iter_mut().zip(of_aad) {
            *v = s.load(&row[at..]);
        }
        encrypt::<S, C>(s, keys, &mut v, of_aad.len(), at);
        for v in &v[..of_aad.len()] {
            tag = s.xor(tag, *v);
        }
    }
    s.store(tag, &mut rows.tag[at..]);
}

/// The round keys of the lanes of the vector at lane `at`.
#[inline(always)]
fn round_keys<'k, S: AesClmul, C: Cipher + 'k>(
    s: S,
    keys: impl BatchKeys<Parts = &'k Ocb3Key<C>>,
    at: usize,
    decrypt: bool,
) -> impl CipherKeys<S, C> {
    keys.rounds::<S, C, 1>(s, at, move |parts| parts.round_keys(decrypt))
}

/// Encrypts the first `count` vectors of `v`.
#[inline(always)]
fn encrypt<'k, S: AesClmul, C: Cipher + 'k>(
    s: S,
    keys: impl BatchKeys<Parts = &'k Ocb3Key<C>>,
    v: &mut [S::V; ROWS],
    count: usize,
    at: usize,
) {
    let keys = round_keys::<S, C>(s, keys, at, false);
    match (count, &mut *v) {
        (0, _) => {}
        (1, [a, ..]) => [*a] = C::encrypt::<_, 1>(s, [*a], keys),
        (2, [a, b, ..]) => [*a, *b] = C::encrypt::<_, 2>(s, [*a, *b], keys),
        (3, [a, b, c, ..]) => [*a, *b, *c] = C::encrypt::<_, 3>(s, [*a, *b, *c], keys),
        // Four rows as five: a kernel fewer to compile, and the latency of five is that of four.
        _ => *v = C::encrypt::<_, ROWS>(s, *v, keys),
    }
}

/// Decrypts the first `count` vectors of `v`.
#[inline(always)]
fn decrypt<'k, S: AesClmul, C: Cipher + 'k>(
    s: S,
    keys: impl BatchKeys<Parts = &'k Ocb3Key<C>>,
    v: &mut [S::V; ROWS],
    count: usize,
    at: usize,
) {
    let keys = round_keys::<S, C>(s, keys, at, true);
    match (count, &mut *v) {
        (0, _) => {}
        (1, [a, ..]) => [*a] = C::decrypt::<_, 1>(s, [*a], keys),
        (2, [a, b, ..]) => [*a, *b] = C::decrypt::<_, 2>(s, [*a, *b], keys),
        (_, [a, b, c, ..]) => [*a, *b, *c] = C::decrypt::<_, 3>(s, [*a, *b, *c], keys),
    }
}

/// Copies what was done in rows from the lane to the message.
#[inline(always)]
fn end<S: AesClmul>(s: S, shape: Ocb3Shape, rows: &Ocb3Rows, lane: usize, data: &mut [u8]) {
    let (blocks, rest) = data.as_chunks_mut();
    let done = blocks.len() / S::WIDTH * S::WIDTH;
    for (block, row) in blocks[done..].iter_mut().zip(&rows.tail) {
        *block = row[lane];
    }
    if shape.part {
        let part = s.narrow().load(&[rows.part[lane]]);
        s.store_part(s.in_first_lane(part), rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aes128Ocb3, batch::with_messages};

    fn side_by_side(level: AesLevel, keys: usize, count: usize, bytes: usize) -> bool {
        let make = || Aes128Ocb3::with_level(&[1; 16], level);
        with_messages(make, keys, count, bytes, |messages| Aes128Ocb3::pays(messages))
    }

    /// No output says which way messages went.
    #[test]
    fn where_lanes_pay() {
        for level in AesLevel::available() {
            for keys in [1, 32] {
                let good = has_lanes(level);
                assert_eq!(side_by_side(level, keys, 32, 45), good, "{level}, {keys} keys");
            }
            assert!(level == AesLevel::PORTABLE || !side_by_side(level, 1, 15, 45), "{level}");
        }
    }
}
