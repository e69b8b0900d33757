//! Short messages side by side.
//!
//! The blocks of a message that fill vectors are processed as in a single message (`flow`). The rest
//! does not fill a vector: the nonce, the blocks behind the last vector, the pad of a partial block,
//! the tag. All this is laid out in rows, with a lane for each message, and is encrypted a row of
//! lanes at a time. The messages of a wave have the same rows; how many vectors are before them does
//! not matter.
//!
//! At most five rows are encrypted together: 5 states, the offsets, the checksum and the mask of the
//! tag, and the round keys: 20 registers with 11 of them.

use core::marker::PhantomData;

use lanelock_isa::{AesClmul, Block, Blocks, Kernel, wipe};

use super::{
    Ocb3, Ocb3Key, end_mark,
    flow::{Aad, Flow, FlowKeys, Ocb3Text},
    format_nonce,
    masks::Masks,
};
use crate::batch::{Batch, Message};
use lanelock_core::{
    cipher::{Cipher, CipherKeys, SameKey, Schedule, SizedCipher},
    parts::{InOutBlocks, authenticate_beside, copy_tag},
};

/// The most messages of a wave.
const LANES: usize = 16;

/// Messages looked at together.
const CHUNK: usize = 128;

/// The most blocks behind the vectors of a message.
const TAIL: usize = 3;

/// The most rows that go through AES together: blocks behind the vectors, a pad, a tag.
const ROWS: usize = TAIL + 2;

impl<C: SizedCipher> Batch for Ocb3<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        each::<C, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        each::<C, false>(messages);
    }
}

#[inline(always)]
fn each<C: SizedCipher, const SEAL: bool>(messages: &mut [Message<'_, Ocb3<C>>]) {
    let mut wave = Ocb3Wave::new();
    for messages in messages.chunks_mut(CHUNK) {
        // Shape and place of each message, as one number.
        let mut order = [0_u32; CHUNK];
        let mut count = 0;
        for (place, message) in messages.iter_mut().enumerate() {
            let Message { key, nonce, aad, data, tag, result } = message;
            *result = key.0.check(nonce, aad, data.len(), tag.len());
            if result.is_ok() {
                // Level, rows of AAD and rows of text: messages with the same number have the same
                // rows.
                let shape = Ocb3Shape::number(key.level().rank(), aad.len(), data.len());
                #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
                let number = (shape * CHUNK + place) as u32;
                order[count] = number;
                count += 1;
            }
        }
        let order = &mut order[..count];
        if !order.is_sorted() {
            order.sort_unstable();
        }
        for group in order.chunk_by(|a, b| shape(*a) == shape(*b)) {
            for group in group.chunks(LANES) {
                match group {
                    [one] => messages[place(*one)].alone::<SEAL>(),
                    _ => together::<C, SEAL>(messages, group, &mut wave),
                }
            }
        }
    }
}

#[inline(always)]
fn shape(number: u32) -> usize {
    number as usize / CHUNK
}

#[inline(always)]
fn place(number: u32) -> usize {
    number as usize % CHUNK
}

#[inline(always)]
fn together<C: SizedCipher, const SEAL: bool>(
    messages: &mut [Message<'_, Ocb3<C>>],
    group: &[u32],
    wave: &mut Ocb3Wave,
) {
    let first = &messages[place(group[0])].key.0;
    let mut keys = [first; LANES];
    let mut one_key = true;
    let mut lanes: [Ocb3Lane<'_, '_>; LANES] = Default::default();
    let waiting = keys.iter_mut().zip(&mut wave.nonces).zip(&mut lanes);
    for (((key, nonce), lane), message) in waiting.zip(of_group(messages, group)) {
        *key = &message.key.0;
        one_key &= core::ptr::eq(*key, first);
        *nonce = nonce_block(message.nonce, message.key.0.tag_length);
        *lane = Ocb3Lane { aad: message.aad, data: message.data };
    }
    let level = first.level();
    let (shape, lanes, used) = (shape(group[0]), &mut lanes, group.len());
    if one_key {
        let keys = Ocb3OneKey(first);
        level.run(Together::<_, _, SEAL> { lanes, used, shape, keys, wave, cipher: PhantomData });
    } else {
        let keys = Ocb3KeyEach(&keys);
        level.run(Together::<_, _, SEAL> { lanes, used, shape, keys, wave, cipher: PhantomData });
    }
    for (full, message) in wave.tag.iter_mut().zip(of_group(messages, group)) {
        let Message { data, tag, result, .. } = message;
        if SEAL {
            copy_tag(full, tag);
        } else {
            *result = authenticate_beside(&mut full[..tag.len().min(16)], tag, data);
        }
    }
}

/// The messages at the places of `group`, which are in order.
#[inline(always)]
fn of_group<'m, 'a, A>(
    messages: &'m mut [Message<'a, A>],
    group: &[u32],
) -> impl Iterator<Item = &'m mut Message<'a, A>> {
    let (mut messages, mut next) = (messages.iter_mut(), 0);
    group.iter().filter_map(move |number| {
        let skipped = place(*number) - next;
        next += skipped + 1;
        messages.nth(skipped)
    })
}

/// What the kernel needs of a message.
#[derive(Default)]
struct Ocb3Lane<'m, 'a> {
    aad: &'a [u8],
    data: &'m mut [u8],
}

/// What the messages of a wave have in common.
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
    /// The shape as a number, for the widest vectors.
    #[inline(always)]
    fn number(level: usize, aad: usize, text: usize) -> usize {
        #[inline(always)]
        fn rest(bytes: usize) -> usize {
            bytes / 16 % 4 * 2 + usize::from(!bytes.is_multiple_of(16))
        }
        let aad = if aad == 0 { 0 } else { 1 + rest(aad) };
        (level << 4 | aad) << 3 | rest(text)
    }

    /// The shape that a number stands for, in vectors of `width` blocks.
    #[inline(always)]
    fn new(number: usize, width: usize) -> Self {
        let (tail, part) = (number / 2 % 4 % width, !number.is_multiple_of(2));
        let aad = (number / 8 % 16).checked_sub(1);
        Self { tail, part, aad: aad.map(|rest| rest / 2 % width + rest % 2) }
    }
}

/// A block of each message.
type LaneBlocks = [Block; LANES];

/// What belongs to the messages, side by side. Zeroised on drop.
struct Ocb3Wave {
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

impl Ocb3Wave {
    #[inline(always)]
    fn new() -> Self {
        let none = [[0; 16]; LANES];
        Self {
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
}

impl Drop for Ocb3Wave {
    fn drop(&mut self) {
        let Self { offset, sum, tail, part, hash, aad, tag, .. } = self;
        for row in [offset, sum, part, hash, tag].into_iter().chain(tail).chain(aad) {
            wipe(row.as_flattened_mut());
        }
    }
}

/// Where the lanes find their keys.
trait Ocb3LaneKeys<'k, C: Cipher>: Copy {
    /// The key of lane `lane`.
    fn key(self, lane: usize) -> &'k Ocb3Key<C>;
    /// Round keys of the lanes of a vector that starts at lane `at`.
    fn rounds<S: AesClmul>(self, s: S, at: usize, decrypt: bool) -> impl CipherKeys<S, C>;
    /// Their masks, one of each.
    fn masks<S: AesClmul>(self, s: S, at: usize, mask: impl Fn(&Masks) -> &Block) -> S::V;
    /// The round keys for the vectors of the message in lane `lane`; `first` are those of lane 0.
    fn text<'f, S: AesClmul>(
        self,
        s: S,
        lane: usize,
        decrypt: bool,
        first: FlowKeys<'f, S, C>,
    ) -> FlowKeys<'f, S, C>
    where
        'k: 'f;
}

/// All lanes have the same key.
#[derive(Clone, Copy)]
struct Ocb3OneKey<'k, C: Cipher>(&'k Ocb3Key<C>);

impl<'k, C: Cipher> Ocb3LaneKeys<'k, C> for Ocb3OneKey<'k, C> {
    #[inline(always)]
    fn key(self, _: usize) -> &'k Ocb3Key<C> {
        self.0
    }

    #[inline(always)]
    fn rounds<S: AesClmul>(self, s: S, _: usize, decrypt: bool) -> impl CipherKeys<S, C> {
        SameKey::new(s, self.0.round_keys(decrypt))
    }

    #[inline(always)]
    fn masks<S: AesClmul>(self, s: S, _: usize, mask: impl Fn(&Masks) -> &Block) -> S::V {
        s.splat(mask(&self.0.masks))
    }

    #[inline(always)]
    fn text<'f, S: AesClmul>(
        self,
        _: S,
        _: usize,
        _: bool,
        first: FlowKeys<'f, S, C>,
    ) -> FlowKeys<'f, S, C>
    where
        'k: 'f,
    {
        first
    }
}

/// Every lane has a key of its own, and reads it where it is.
#[derive(Clone, Copy)]
struct Ocb3KeyEach<'a, 'k, C: Cipher>(&'a [&'k Ocb3Key<C>; LANES]);

impl<'k, C: Cipher> Ocb3LaneKeys<'k, C> for Ocb3KeyEach<'_, 'k, C> {
    #[inline(always)]
    fn key(self, lane: usize) -> &'k Ocb3Key<C> {
        self.0[lane % LANES]
    }

    #[inline(always)]
    fn rounds<S: AesClmul>(self, _: S, at: usize, decrypt: bool) -> impl CipherKeys<S, C> {
        let mut keys = [self.key(at).round_keys(decrypt); 4];
        for i in 1..S::WIDTH {
            keys[i] = self.key(at + i).round_keys(decrypt);
        }
        Gathered(keys)
    }

    #[inline(always)]
    fn masks<S: AesClmul>(self, s: S, at: usize, mask: impl Fn(&Masks) -> &Block) -> S::V {
        let mut blocks = [mask(&self.key(at).masks); 4];
        for i in 1..S::WIDTH {
            blocks[i] = mask(&self.key(at + i).masks);
        }
        s.load_each(&blocks)
    }

    #[inline(always)]
    fn text<'f, S: AesClmul>(
        self,
        s: S,
        lane: usize,
        decrypt: bool,
        _: FlowKeys<'f, S, C>,
    ) -> FlowKeys<'f, S, C>
    where
        'k: 'f,
    {
        FlowKeys::new(s, self.key(lane).round_keys(decrypt))
    }
}

/// The round keys of the lanes of one vector; the vectors of a call are rows of these lanes.
#[derive(Clone, Copy)]
struct Gathered<'k, C: Cipher>([Schedule<'k, C>; 4]);

impl<S: AesClmul, C: Cipher> CipherKeys<S, C> for Gathered<'_, C> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, _: usize) -> C::RoundKey<S> {
        let mut blocks = [&self.0[0].keys.as_ref()[round]; 4];
        for i in 1..S::WIDTH {
            blocks[i] = &self.0[i].keys.as_ref()[round];
        }
        C::lane_keys(s, s.load_each(&blocks))
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0[0].rounds
    }
}

/// Seals or opens messages of one shape, up to their tags. Their nonces are in the wave.
struct Together<'w, 'm, 'a, K, C: Cipher, const SEAL: bool> {
    lanes: &'w mut [Ocb3Lane<'m, 'a>; LANES],
    used: usize,
    shape: usize,
    keys: K,
    wave: &'w mut Ocb3Wave,
    cipher: PhantomData<C>,
}

impl<'k, K: Ocb3LaneKeys<'k, C>, C: Cipher, const SEAL: bool> Kernel
    for Together<'_, '_, '_, K, C, SEAL>
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { lanes, used, shape, keys, wave, .. } = self;
        // 1. The first offsets of all messages, a lane each.
        let shape = Ocb3Shape::new(shape, S::WIDTH);
        for at in (0..used).step_by(S::WIDTH) {
            first_offsets::<S, C>(s, keys, wave, at);
        }
        // 2. For each message the blocks that fill vectors; what is behind them goes into rows.
        wave.sum = [[0; 16]; LANES];
        let first = FlowKeys::new(s, keys.key(0).round_keys(!SEAL));
        let used = used.min(LANES);
        for lane in 0..used {
            if shape.aad.is_some() {
                begin_aad::<S, C>(s, keys.key(lane), wave, lane, lanes[lane].aad);
            }
            let text_keys = keys.text(s, lane, !SEAL, first);
            let masks = &keys.key(lane).masks;
            begin::<S, C, SEAL>(s, shape, masks, text_keys, wave, lane, lanes[lane].data);
        }
        for at in (0..used).step_by(S::WIDTH) {
            // 3. The rows of all messages, a lane each.
            rows::<S, C, SEAL>(s, shape, keys, wave, at);
        }
        for lane in 0..used {
            // 4. Back to the messages.
            end(s, shape, wave, lane, lanes[lane].data);
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

/// Offset_0 (4.2) of the lanes of a vector: as [`first_offset`](super::first_offset).
#[inline(always)]
fn first_offsets<'k, S: AesClmul, C: Cipher>(
    s: S,
    keys: impl Ocb3LaneKeys<'k, C>,
    wave: &mut Ocb3Wave,
    at: usize,
) {
    let nonces = s.load(&wave.nonces[at..]);
    let top = s.and(nonces, s.splat_halves(u64::MAX, u64::MAX >> 8 | 0xc0 << 56));
    let [ktop] = C::encrypt::<_, 1>(s, [top], keys.rounds(s, at, false));
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
    s.store(offset, &mut wave.offset[at..]);
}

/// The vectors of a message; the rest of it gets its place in the rows.
#[inline(always)]
fn begin<S: AesClmul, C: Cipher, const SEAL: bool>(
    s: S,
    shape: Ocb3Shape,
    masks: &Masks,
    keys: FlowKeys<'_, S, C>,
    wave: &mut Ocb3Wave,
    lane: usize,
    data: &mut [u8],
) {
    let n = s.narrow();
    let (mut blocks, rest) = data.as_chunks_mut();
    if blocks.len() >= S::WIDTH {
        let mut flow = Flow::new(s, masks, s.splat(&wave.offset[lane]));
        let mut text = Ocb3Text::<SEAL>(InOutBlocks::from(&mut *blocks));
        let done = flow.vectors::<_, C>(keys, &mut text);
        blocks = &mut blocks[done..];
        let flow = flow.narrow();
        n.store(flow.offset, core::slice::from_mut(&mut wave.offset[lane]));
        n.store(flow.sum, core::slice::from_mut(&mut wave.sum[lane]));
    }
    if S::WIDTH > 1 {
        for (row, block) in wave.tail.iter_mut().zip(blocks) {
            row[lane] = *block;
        }
    }
    if shape.part {
        // `rest` is in the first lane, zeros in the others: the sum is that lane as a block.
        let part = s.sum_lanes(s.load_part(rest));
        let mark = end_mark(rest.len());
        let to = core::slice::from_mut(&mut wave.part[lane]);
        if SEAL {
            n.store(n.xor(part, n.load(&[*mark])), to);
        } else {
            n.store(part, to);
            wave.part_mark[lane] = *mark;
            wave.part_mask[lane] = (u128::MAX >> (8 * (16 - rest.len() % 16))).to_le_bytes();
        }
    }
}

/// The vectors of AAD; the rest gets its place in rows, with the offsets added.
#[inline(always)]
fn begin_aad<S: AesClmul, C: Cipher>(
    s: S,
    key: &Ocb3Key<C>,
    wave: &mut Ocb3Wave,
    lane: usize,
    aad: &[u8],
) {
    let n = s.narrow();
    let masks = &key.masks;
    let (mut blocks, rest) = aad.as_chunks();
    let mut flow = Flow::new(n, masks, n.zero());
    if blocks.len() >= S::WIDTH {
        let mut vectors = Flow::new(s, masks, s.zero());
        let keys = FlowKeys::new(s, key.round_keys(false));
        blocks = &blocks[vectors.vectors::<_, C>(keys, &mut Aad(blocks))..];
        flow = vectors.narrow();
    }
    n.store(flow.sum, core::slice::from_mut(&mut wave.hash[lane]));
    let mut offset = flow.offset;
    let mut rows = wave.aad.iter_mut();
    for ((block, mask), row) in blocks.iter().zip(&masks.group).zip(&mut rows) {
        offset = n.xor(flow.offset, n.load(&[*mask]));
        n.store(n.xor(offset, n.load(&[*block])), core::slice::from_mut(&mut row[lane]));
    }
    if !rest.is_empty()
        && let Some(row) = rows.next()
    {
        let part = n.xor(s.sum_lanes(s.load_part(rest)), n.load(&[*end_mark(rest.len())]));
        let v = n.xor(part, n.xor(offset, n.load(&[masks.partial])));
        n.store(v, core::slice::from_mut(&mut row[lane]));
    }
}

/// The rows of the lanes of one vector.
#[inline(always)]
fn rows<'k, S: AesClmul, C: Cipher, const SEAL: bool>(
    s: S,
    shape: Ocb3Shape,
    keys: impl Ocb3LaneKeys<'k, C>,
    wave: &mut Ocb3Wave,
    at: usize,
) {
    let tail = if S::WIDTH > 1 { shape.tail.min(TAIL) } else { 0 };
    // `offset` is that of the last block in vectors, `last` the one behind the tail (and the L_* of a
    // partial block). Behind whole vectors the offsets of the tail are those of the first blocks of a
    // message, each ^ `offset` (`flow`).
    let offset = s.load(&wave.offset[at..]);
    let mut last = offset;
    if tail > 0 {
        last = s.xor(last, keys.masks(s, at, |masks| &masks.group[tail - 1]));
    }
    if shape.part {
        last = s.xor(last, keys.masks(s, at, |masks| &masks.partial));
    }
    let mut sum = s.load(&wave.sum[at..]);
    let mut v = [offset; ROWS];
    for row in 0..tail {
        let x = s.load(&wave.tail[row][at..]);
        if SEAL {
            sum = s.xor(sum, x);
        }
        let mask = keys.masks(s, at, |masks| &masks.group[row]);
        v[row] = s.xor(x, s.xor(offset, mask));
    }
    if !SEAL {
        decrypt::<S, C>(s, keys, &mut v, tail, at);
    }
    // When sealing, the whole plaintext is there: tail, pad and tag are encrypted together. Opening
    // needs the plaintext of the tail for the checksum: so the tag is encrypted behind it.
    let mut pad = last;
    let tag_mask = s.xor(last, keys.masks(s, at, |masks| &masks.tag));
    let mut tag = tag_mask;
    if SEAL {
        let mut count = tail;
        if shape.part {
            sum = s.xor(sum, s.load(&wave.part[at..]));
            v[count] = last;
            count += 1;
        }
        v[count] = s.xor(sum, tag_mask);
        encrypt::<S, C>(s, keys, &mut v, count + 1, at);
        pad = v[tail];
        tag = v[count];
    } else if shape.part {
        [pad] = C::encrypt::<_, 1>(s, [last], keys.rounds(s, at, false));
    }
    for row in 0..tail {
        let mask = keys.masks(s, at, |masks| &masks.group[row]);
        let y = s.xor(v[row], s.xor(offset, mask));
        if !SEAL {
            sum = s.xor(sum, y);
        }
        s.store(y, &mut wave.tail[row][at..]);
    }
    if shape.part {
        let mut part = s.xor(pad, s.load(&wave.part[at..]));
        if !SEAL {
            part = s.and(part, s.load(&wave.part_mask[at..]));
            sum = s.xor(sum, s.xor(part, s.load(&wave.part_mark[at..])));
        }
        s.store(part, &mut wave.part[at..]);
    }
    if !SEAL {
        [tag] = C::encrypt::<_, 1>(s, [s.xor(sum, tag_mask)], keys.rounds(s, at, false));
    }
    if let Some(rows) = shape.aad {
        tag = s.xor(tag, s.load(&wave.hash[at..]));
        let rows = &wave.aad[..rows.min(TAIL + 1)];
        for (v, row) in v.iter_mut().zip(rows) {
            *v = s.load(&row[at..]);
        }
        encrypt::<S, C>(s, keys, &mut v, rows.len(), at);
        for v in &v[..rows.len()] {
            tag = s.xor(tag, *v);
        }
    }
    s.store(tag, &mut wave.tag[at..]);
}

/// Encrypts the first `count` vectors of `v`.
#[inline(always)]
fn encrypt<'k, S: AesClmul, C: Cipher>(
    s: S,
    keys: impl Ocb3LaneKeys<'k, C>,
    v: &mut [S::V; ROWS],
    count: usize,
    at: usize,
) {
    let keys = keys.rounds(s, at, false);
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
fn decrypt<'k, S: AesClmul, C: Cipher>(
    s: S,
    keys: impl Ocb3LaneKeys<'k, C>,
    v: &mut [S::V; ROWS],
    count: usize,
    at: usize,
) {
    let keys = keys.rounds(s, at, true);
    match (count, &mut *v) {
        (0, _) => {}
        (1, [a, ..]) => [*a] = C::decrypt::<_, 1>(s, [*a], keys),
        (2, [a, b, ..]) => [*a, *b] = C::decrypt::<_, 2>(s, [*a, *b], keys),
        (_, [a, b, c, ..]) => [*a, *b, *c] = C::decrypt::<_, 3>(s, [*a, *b, *c], keys),
    }
}

/// Copies what was done in rows from the lane to the message.
#[inline(always)]
fn end<S: AesClmul>(s: S, shape: Ocb3Shape, wave: &Ocb3Wave, lane: usize, data: &mut [u8]) {
    let n = s.narrow();
    let (blocks, rest) = data.as_chunks_mut();
    if S::WIDTH > 1 {
        let done = blocks.len() / S::WIDTH * S::WIDTH;
        for (block, row) in blocks[done..].iter_mut().zip(&wave.tail) {
            *block = row[lane];
        }
    }
    if shape.part {
        s.store_part(s.in_first_lane(n.load(&[wave.part[lane]])), rest);
    }
}
