//! Short GCM messages of equal lengths side by side, a lane for each, read and written where they are; those of
//! mixed lengths otherwise (`mixed`).
//!
//! Lane i computes what GCM defines for message i (see `gcm`): E(K, J0 + j) for row j of its blocks,
//! and Y = (Y ^ X) H after each block X, since every lane has a hash of its own.
//!
//! The messages of a group have the same lengths. Their whole blocks are not copied: vectors are gathered
//! from the messages and scattered to them. Only a last block that is not full, AAD and nonces are
//! copied side by side before.
//!
//! A vector of text costs 10 rounds with a 128-bit key (5 cycles, two a cycle) and 5 products, two of
//! them for its own reduction (10 cycles, one in two): the products bound it. The products of a lane
//! wait for those of its block before, so 4 vectors run side by side.

use core::array;

use lanelock_isa::{AesClmul, AesLevel, Block, Kernel, LaneBuffers, WIDEST, Window, wipe};

use super::{Gcm, GcmKey, mixed};
use crate::batch::{
    Batch, Message,
    group::{self, FEW, LANES, LaneBlocks, Lengths, MessageGroup, SideBySide, run_chunk},
    keys::{BatchKeys, KeyEach, OneKey},
    nonce_block, padded,
};
use lanelock_core::cipher::{Cipher, SizedCipher};
use lanelock_hash::field::{Factor, multiply};

/// The most blocks of text: with more, a message fills the vectors well enough alone.
const MOST_TEXT: usize = 16;

/// The same where every message has a key of its own. Keys of 16 lanes do not fit in registers: they
/// are gathered anew for every two rows of blocks, which with more rows costs more than it saves.
const MOST_TEXT_KEY_EACH: usize = 2;

/// Vectors side by side. Two rows of them are encrypted at once: 8 states, which cover the latency.
const VECTORS: usize = 4;

impl<C: SizedCipher> Batch for Gcm<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        each::<C, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        each::<C, false>(messages);
    }
}

/// Messages of one length go side by side, others as [`mixed`] has it; one by one at the portable level, where the
/// planes of a message are full.
fn each<C: SizedCipher, const SEAL: bool>(messages: &mut [Message<'_, Gcm<C>>]) {
    let Some(first) = messages.first() else { return };
    let (level, lengths) = (first.key.level(), Lengths::of(first));
    if messages.len() < FEW {
        return messages.iter_mut().for_each(Message::alone::<SEAL>);
    }
    let one_key = messages.get(1).is_none_or(|second| core::ptr::eq(second.key, first.key));
    // Wide vectors are filled by one message: where that has more than two blocks, a lane for each is no gain.
    let wide = level.width() == WIDEST && lengths.text > 32;
    if !wide
        && first.key.shape(lengths, one_key).is_some()
        && messages.iter().all(|message| Lengths::of(message) == lengths)
    {
        return messages.chunks_mut(group::CHUNK).for_each(run_chunk::<_, SEAL>);
    }
    if level == AesLevel::PORTABLE {
        return messages.iter_mut().for_each(Message::alone::<SEAL>);
    }
    mixed::run_all::<C, SEAL>(messages, level);
}

impl<C: SizedCipher> SideBySide for Gcm<C> {
    type Rows = GcmRows;

    #[inline(always)]
    fn rows() -> GcmRows {
        let none = [[0; 16]; LANES];
        GcmRows { nonces: none, aad: none, parts: none, tags: none }
    }

    #[inline(always)]
    fn level(&self) -> AesLevel {
        self.level()
    }

    /// Both lengths in bytes.
    #[inline(always)]
    fn shape(&self, Lengths { nonce, aad, text, tag }: Lengths, same_key: bool) -> Option<usize> {
        let most = if same_key { MOST_TEXT } else { MOST_TEXT_KEY_EACH };
        let side_by_side = nonce == 12 && tag == self.tag_length && aad <= 16 && text <= 16 * most;
        side_by_side.then_some(aad << 9 | text)
    }

    #[inline(always)]
    fn run<const SEAL: bool>(mut group: MessageGroup<'_, '_, '_, Self>, rows: &mut GcmRows) {
        let shape = GcmShape { aad: group.shape >> 9, text: group.shape % (1 << 9) };
        let used = group.used();
        let (first, one_key) = (&group.first.key, group.one_key);
        if !one_key && shape.text > 16 * MOST_TEXT_KEY_EACH {
            return group.messages().for_each(Message::alone::<SEAL>);
        }
        // Nonces before all else: the kernel begins with them, and a vector of blocks that were just stored
        // one by one has to wait for the stores.
        for (message, row) in group.messages().zip(&mut rows.nonces) {
            if let Some(nonce) = nonce_block(message.nonce) {
                *row = nonce;
            }
        }
        if shape.aad > 0 {
            for (message, row) in group.messages().zip(&mut rows.aad) {
                *row = padded(message.aad);
            }
        }
        if shape.has_part() {
            for (message, row) in group.messages().zip(&mut rows.parts) {
                *row = padded(message.data.as_chunks::<16>().1);
            }
        }
        let keys = (!one_key).then(|| {
            let mut messages = group.messages();
            array::from_fn(|_| messages.next().map_or(first, |message| &message.key.key))
        });
        let mut lanes: [&mut [Block]; LANES] = {
            let mut messages = group.messages();
            array::from_fn(|_| {
                messages.next().map_or(&mut [][..], |message| message.data.as_chunks_mut().0)
            })
        };
        let lanes = &mut lanes[..used];
        let level = first.key.level();
        if let Some(keys) = &keys {
            level.run(Alike::<_, SEAL> { keys: KeyEach(keys), shape, lanes, rows });
        } else {
            level.run(Alike::<_, SEAL> { keys: OneKey(first), shape, lanes, rows });
        }
        if shape.has_part() {
            for (message, row) in group.messages().zip(&rows.parts) {
                let (_, part) = message.data.as_chunks_mut::<16>();
                part.copy_from_slice(&row[..part.len()]);
            }
        }
        for (message, tag) in group.messages().zip(&mut rows.tags) {
            message.finish::<SEAL>(tag);
        }
        if shape.has_part() {
            wipe(rows.parts.as_flattened_mut());
        }
        if !SEAL {
            wipe(rows.tags.as_flattened_mut());
        }
    }
}

/// The lengths that the messages of a group have in common, in bytes.
#[derive(Clone, Copy)]
struct GcmShape {
    aad: usize,
    text: usize,
}

impl GcmShape {
    /// Whether the last block of text is not full.
    #[inline(always)]
    fn has_part(self) -> bool {
        !self.text.is_multiple_of(16)
    }
}

/// Copies of what does not stand in whole blocks in the messages, and the tags.
pub(crate) struct GcmRows {
    nonces: LaneBlocks,
    aad: LaneBlocks,
    parts: LaneBlocks,
    tags: LaneBlocks,
}

/// A group of messages, of each its whole blocks.
struct Alike<'g, 'm, K, const SEAL: bool> {
    keys: K,
    shape: GcmShape,
    lanes: &'g mut [&'m mut [Block]],
    rows: &'g mut GcmRows,
}

impl<'k, K, C: Cipher + 'k, const SEAL: bool> Kernel for Alike<'_, '_, K, SEAL>
where
    K: BatchKeys<Parts = &'k GcmKey<C>>,
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, shape, lanes, rows } = self;
        let used = lanes.len();
        let mut at = 0;
        while at < used {
            // Four full vectors of messages, or one that need not be full.
            if S::VECTORS > 1 && used - at >= VECTORS * S::WIDTH {
                let lanes = &mut lanes[at..at + VECTORS * S::WIDTH];
                GcmVectors::<S, VECTORS, SEAL> { s, shape, at }
                    .run::<K, C, { 2 * VECTORS }>(keys, lanes, rows);
                at += VECTORS * S::WIDTH;
            } else {
                let lanes = &mut lanes[at..used.min(at + S::WIDTH)];
                GcmVectors::<S, 1, SEAL> { s, shape, at }.run::<K, C, 2>(keys, lanes, rows);
                at += S::WIDTH;
            }
        }
    }
}

/// The messages of `N` vectors, from lane `at` on.
struct GcmVectors<S, const N: usize, const SEAL: bool> {
    s: S,
    shape: GcmShape,
    at: usize,
}

impl<S: AesClmul, const N: usize, const SEAL: bool> GcmVectors<S, N, SEAL> {
    /// `M` is twice `N`: so many vectors go through AES together.
    #[inline(always)]
    fn run<'k, K, C: Cipher + 'k, const M: usize>(
        &self,
        keys: K,
        lanes: &mut [&mut [Block]],
        rows: &mut GcmRows,
    ) where
        K: BatchKeys<Parts = &'k GcmKey<C>>,
    {
        // Registers with one 128-bit key: 8 states, 11 keys, and for each of the 4 vectors a nonce,
        // a hash and the mask of the tag, and 2 of H: 33 during the rounds, so that some are on the
        // stack. With a key for each message the keys are loaded as they are needed.
        let Self { s, shape: GcmShape { aad, text }, at } = *self;
        let round_keys = keys.rounds::<S, C, N>(s, at, |parts| parts.key.keys());
        let whole = text / 16;
        let last = text.div_ceil(16);
        let mut buffers = LaneBuffers::<&mut [Block]>::default();
        let used = lanes.len();
        for (lane, blocks) in lanes.iter_mut().enumerate() {
            buffers.seat(lane, blocks);
        }
        let mut window = buffers.window::<N>(S::WIDTH, whole, used);
        let mut h = [factor(s, keys, at); N];
        let mut y = [s.zero(); N];
        let mut nonce = [s.load(&rows.nonces[at..]); N];
        for i in 1..N {
            nonce[i] = s.load(&rows.nonces[at + i * S::WIDTH..]);
            h[i] = factor(s, keys, at + i * S::WIDTH);
        }
        if aad > 0 {
            for i in 0..N {
                let v = s.load(&rows.aad[at + i * S::WIDTH..]);
                // At most one block of AAD: the first step of the hash.
                y[i] = multiply(s, s.reverse(v), h[i]);
            }
        }
        // Row 0 masks the tags, row 1 is for the first block of text.
        let mut v = numbered::<S, N, M>(s, nonce, 0);
        v = C::encrypt::<_, M>(s, v, round_keys);
        let mut mask = nonce;
        let mut stream = nonce;
        for i in 0..N {
            (mask[i], stream[i]) = (v[i], v[N + i]);
        }
        let mut row = 1;
        while row <= last {
            self.text(&mut window, rows, row, stream, h, &mut y);
            row += 1;
            // Two rows at a time while two are left; one for an odd last row.
            if row < last {
                v = numbered::<S, N, M>(s, nonce, row);
                v = C::encrypt::<_, M>(s, v, round_keys);
                let mut later = stream;
                for i in 0..N {
                    (stream[i], later[i]) = (v[i], v[N + i]);
                }
                self.text(&mut window, rows, row, stream, h, &mut y);
                row += 1;
                stream = later;
            } else if row == last {
                stream = C::encrypt::<_, N>(s, numbered::<S, N, N>(s, nonce, row), round_keys);
            }
        }
        let lengths = s.splat_halves(text as u64 * 8, aad as u64 * 8);
        for i in 0..N {
            // The last block of GHASH is the lengths; the mask makes a tag of it.
            let hash = multiply(s, s.xor(y[i], lengths), h[i]);
            s.store(s.xor(mask[i], s.reverse(hash)), &mut rows.tags[at + i * S::WIDTH..]);
        }
    }

    /// One row of text.
    #[inline(always)]
    fn text(
        &self,
        window: &mut Window<'_, &mut [Block], N>,
        rows: &mut GcmRows,
        row: usize,
        stream: [S::V; N],
        h: [Factor<S::V>; N],
        y: &mut [S::V; N],
    ) {
        let Self { s, shape, at } = *self;
        let mut output = stream;
        if row <= shape.text / 16 {
            let in_last = window.in_last();
            // Row 1 of the counters is block 0 of the text. All is gathered before anything is
            // scattered: the compiler need not keep loads behind stores that might overlap with
            // them.
            let from = window.row(row - 1);
            let mut text = stream;
            for i in 0..N {
                text[i] = s.gather(from, i);
                output[i] = s.xor(text[i], stream[i]);
            }
            let mut to = window.row_mut(S::WIDTH, row - 1);
            for i in 0..N {
                if i < N - 1 || in_last == S::WIDTH {
                    s.scatter(output[i], &mut to, i);
                } else {
                    s.scatter_last(output[i], &mut to, in_last);
                }
                let hashed = if SEAL { output[i] } else { text[i] };
                y[i] = multiply(s, s.xor(y[i], s.reverse(hashed)), h[i]);
            }
        } else {
            // All messages are equally long, so the last block has the same bytes in every lane.
            let bytes = shape.text % 16;
            let keep = s.splat(&(u128::MAX >> (8 * (16 - bytes))).to_le_bytes());
            for i in 0..N {
                let place = &mut rows.parts[at + i * S::WIDTH..];
                let text = s.load(place);
                let output = s.and(s.xor(text, stream[i]), keep);
                s.store(output, place);
                let hashed = if SEAL { output } else { text };
                y[i] = multiply(s, s.xor(y[i], s.reverse(hashed)), h[i]);
            }
        }
    }
}

/// Counters of `M` / `N` rows from `row` on.
#[inline(always)]
fn numbered<S: AesClmul, const N: usize, const M: usize>(
    s: S,
    nonce: [S::V; N],
    row: usize,
) -> [S::V; M] {
    let mut v = [nonce[0]; M];
    for i in 0..M {
        v[i] = s.xor(nonce[i % N], s.splat(&NUMBERS[row + i / N]));
    }
    v
}

/// The hash keys of the lanes of the vector at lane `at`.
#[inline(always)]
fn factor<'k, S: AesClmul, C: Cipher + 'k>(
    s: S,
    keys: impl BatchKeys<Parts = &'k GcmKey<C>>,
    at: usize,
) -> Factor<S::V> {
    let h = keys.blocks(s, at, |parts| parts.powers.first()[0]);
    Factor::with_both(h, keys.blocks(s, at, |parts| parts.powers.first()[1]))
}

/// The counters 1 to `MOST_TEXT` + 1 behind an empty nonce.
static NUMBERS: [Block; MOST_TEXT + 1] = {
    let mut numbers = [[0; 16]; MOST_TEXT + 1];
    let mut i = 0;
    while i <= MOST_TEXT {
        #[expect(clippy::cast_possible_truncation, reason = "17 at most")]
        let number = i as u8 + 1;
        numbers[i][15] = number;
        i += 1;
    }
    numbers
};
