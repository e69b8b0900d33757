//! Many short GCM-SIV messages side by side: lane i computes what clause 4 of RFC 8452 defines for
//! message i (see `gcm_siv`). Every message has keys of its own, derived and expanded in its lane:
//! one vector per round key, used for the tag and the text of these lanes and never written to a
//! table.

use lanelock_isa::{AesClmul, AesLevel, Kernel, copy_part, padded, wipe, wipe_stack};

use super::{GcmSiv, SivCipher};
use crate::{
    Aead,
    batch::{
        Batch, Message,
        group::{FEW, LANES, LaneBlocks, Lengths, MessageGroup, SideBySide, has_groups, run_all},
        keys::{BatchKeys, KeyEach, OneKey},
        nonce_block,
    },
    stitch::word,
};
use lanelock_core::cipher::{CipherKeys, EncryptKey, ExpandLanes, SameKey};
use lanelock_hash::field::{Factor, multiply};

/// The most blocks of AAD of a message in a group.
const MOST_AAD: usize = 4;

/// The most blocks of text: with more, a message fills the vectors well enough alone.
const MOST_TEXT: usize = 16;

impl<C: SivCipher> Batch for GcmSiv<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        run_all::<Self, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        run_all::<Self, false>(messages);
    }
}

impl<C: SivCipher> SideBySide for GcmSiv<C> {
    type Rows = SivRows;

    #[inline(always)]
    fn rows() -> SivRows {
        let none = [[0; 16]; LANES];
        SivRows {
            nonces: none,
            aad: [none; MOST_AAD],
            text: [none; MOST_TEXT],
            mask: none,
            lengths: none,
            tags: none,
            aad_blocks: 0,
            text_blocks: 0,
            whole: true,
            used: 0,
            bytes: [(usize::MAX, 0); LANES],
            touched: 0,
        }
    }

    #[inline(always)]
    fn level(&self) -> AesLevel {
        self.level()
    }

    /// Blocks of AAD, and of text.
    #[inline(always)]
    fn shape(&self, Lengths { nonce, aad, text, tag }: Lengths) -> Option<usize> {
        let (aad, text) = (aad.div_ceil(16), text.div_ceil(16));
        // With one block a vector, the rounds of longer texts fill the units by themselves.
        let most = if self.level().width() == 1 { MOST_TEXT / 2 } else { MOST_TEXT };
        let side_by_side = nonce == 12 && tag == 16 && aad <= MOST_AAD && text <= most;
        side_by_side.then_some(aad << 5 | text)
    }

    #[inline(always)]
    fn text_class(bytes: usize) -> usize {
        bytes.div_ceil(16)
    }

    /// With one block a vector a gain is small, and sorting takes some of it.
    #[inline(always)]
    fn pays(messages: &[Message<'_, Self>]) -> bool {
        let few = if messages[0].key.level().width() == 1 { 2 * FEW } else { FEW };
        has_groups(messages, few)
    }

    #[inline(always)]
    fn run<const SEAL: bool>(mut group: MessageGroup<'_, '_, '_, Self>, rows: &mut SivRows) {
        (rows.aad_blocks, rows.text_blocks) = (group.shape >> 5, group.shape % (1 << 5));
        (rows.whole, rows.used) = (true, group.used());
        rows.touched = rows.touched.max(rows.text_blocks);
        let mut keys = [&group.first.key; LANES];
        for (lane, message) in group.messages().enumerate() {
            keys[lane] = &message.key.key;
            rows.put(lane, message);
        }
        let one_key = group.one_key;
        group.first.level().run(SivGroup::<_, SEAL> { keys: &keys, one_key, rows });
        for (lane, message) in group.messages().enumerate() {
            rows.take::<SEAL, _>(lane, message);
        }
    }
}

/// The messages of a group, side by side: block *i* of all of them in row *i*, so that the kernel reads and
/// writes whole vectors. A last block that is not full is padded with zeros and has a mask. Zeroised on
/// drop, but for what is not secret.
pub(crate) struct SivRows {
    /// Each with four zero bytes behind it.
    nonces: LaneBlocks,
    aad: [LaneBlocks; MOST_AAD],
    text: [LaneBlocks; MOST_TEXT],
    /// Ones where the last block of text has bytes; of use only if not `whole`.
    mask: LaneBlocks,
    lengths: LaneBlocks,
    /// The tags: of the sender for GCM-SIV to open, and in the end those that are right.
    tags: LaneBlocks,
    aad_blocks: usize,
    text_blocks: usize,
    /// Whether all last blocks of text are full.
    whole: bool,
    /// Lanes in use.
    used: usize,
    /// The bytes of AAD and of text that `lengths` and `mask` of each lane are for.
    bytes: [(usize, usize); LANES],
    /// Rows of text that were ever in use.
    touched: usize,
}

impl SivRows {
    #[inline(always)]
    fn put<A>(&mut self, lane: usize, message: &Message<'_, A>) {
        let Message { nonce, aad, data, tag, .. } = message;
        self.nonces[lane] = nonce_block(nonce).expect("12 bytes: see `shape`");
        spread(aad, &mut self.aad, lane);
        spread(data, &mut self.text, lane);
        let part = data.len() % 16;
        self.whole &= part == 0;
        // Most batches are of one length: then the lane has both from the message before.
        let bytes = (aad.len(), data.len());
        if self.bytes[lane] != bytes {
            self.bytes[lane] = bytes;
            self.lengths[lane] =
                ((data.len() as u128) << 67 | (aad.len() as u128) << 3).to_le_bytes();
            self.mask[lane] = match part {
                0 => [0xff; 16],
                part => (u128::MAX >> (8 * (16 - part))).to_le_bytes(),
            };
        }
        if let Some(tag) = tag.first_chunk() {
            self.tags[lane] = *tag;
        }
    }

    /// Writes text and tag from the lane to a sealed message; to an opened one the text, if its tag is
    /// right.
    #[inline(always)]
    fn take<const SEAL: bool, A: Aead>(&mut self, lane: usize, message: &mut Message<'_, A>) {
        message.finish::<SEAL>(&mut self.tags[lane]);
        if message.result.is_ok() {
            collect(&self.text, lane, message.data);
        }
    }
}

impl Drop for SivRows {
    fn drop(&mut self) {
        let touched = self.touched.min(MOST_TEXT);
        wipe(self.text[..touched].as_flattened_mut().as_flattened_mut());
        wipe(self.tags.as_flattened_mut());
        // Round keys of messages that did not fit into the registers of the kernels.
        wipe_stack::<{ 4 << 10 }>();
    }
}

/// The blocks of `bytes` into a lane.
#[inline(always)]
fn spread(bytes: &[u8], rows: &mut [LaneBlocks], lane: usize) {
    let (blocks, rest) = bytes.as_chunks();
    for (row, block) in rows.iter_mut().zip(blocks) {
        row[lane] = *block;
    }
    if !rest.is_empty() {
        rows[blocks.len()][lane] = padded(rest);
    }
}

/// The blocks of a lane into `bytes`.
#[inline(always)]
fn collect(rows: &[LaneBlocks], lane: usize, bytes: &mut [u8]) {
    let (blocks, rest) = bytes.as_chunks_mut();
    let whole = blocks.len();
    for (row, block) in rows.iter().zip(blocks) {
        *block = row[lane];
    }
    if !rest.is_empty() {
        copy_part(&rows[whole][lane], rest);
    }
}

struct SivGroup<'a, 'k, C: ExpandLanes, const SEAL: bool> {
    keys: &'a [&'k EncryptKey<C>; LANES],
    one_key: bool,
    rows: &'a mut SivRows,
}

impl<C: ExpandLanes, const SEAL: bool> Kernel for SivGroup<'_, '_, C, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, one_key, rows } = self;
        for at in (0..rows.used).step_by(S::WIDTH) {
            // Key-generating keys of the lanes: of one key they are not gathered.
            let (h, derived) = if one_key {
                let keys = OneKey(keys[0]).rounds::<S, C, 1>(s, at, EncryptKey::keys);
                derive::<S, C>(s, keys, rows, at)
            } else {
                let keys = KeyEach(keys).rounds::<S, C, 1>(s, at, EncryptKey::keys);
                derive::<S, C>(s, keys, rows, at)
            };
            if SEAL {
                let tag = tag::<S, C>(s, h, derived, rows, at);
                s.store(tag, &mut rows.tags[at..]);
                crypt::<S, C>(s, derived, rows, at);
            } else {
                crypt::<S, C>(s, derived, rows, at);
                let tag = tag::<S, C>(s, h, derived, rows, at);
                s.store(tag, &mut rows.tags[at..]);
            }
        }
    }
}

/// The hash keys and the round keys of the lanes at `at` (clause 4).
#[inline(always)]
fn derive<S: AesClmul, C: ExpandLanes>(
    s: S,
    keys: impl CipherKeys<S, C>,
    rows: &SivRows,
    at: usize,
) -> (Factor<S::V>, SameKey<'static, S, C>) {
    // A nonce behind a number in the first word.
    let nonce = s.bytes_up::<4>(s.load(&rows.nonces[at..]));
    let mut v = [nonce; 6];
    for i in 0..6 {
        #[expect(clippy::cast_possible_truncation, reason = "5 at most")]
        let number = word(i as u32);
        v[i] = s.xor(nonce, s.splat(&number));
    }
    let rounds = keys.rounds();
    if C::key_bytes(rounds) == 16 {
        let [a, b, c, d] = C::encrypt::<_, 4>(s, [v[0], v[1], v[2], v[3]], keys);
        [v[0], v[1], v[2], v[3]] = [a, b, c, d];
    } else {
        v = C::encrypt::<_, 6>(s, v, keys);
    }
    // Clause 4: the low halves of blocks 0 and 1 are the hash key, those of 2 to 3 or 5 the other
    // key.
    let hash = low_halves(s, v[0], v[1]);
    let first = low_halves(s, v[2], v[3]);
    let second = low_halves(s, v[4], v[5]);
    (Factor::new(s, hash), C::expand_lanes(s, rounds, first, second))
}

/// The low half of `a`, and above it that of `b`.
#[inline(always)]
fn low_halves<S: AesClmul>(s: S, a: S::V, b: S::V) -> S::V {
    s.xor(s.bytes_down::<8>(s.bytes_up::<8>(a)), s.bytes_up::<8>(b))
}

/// The tags that belong to AAD and plaintext (clause 4).
// Y = (Y ^ X) H for each row: every lane has another H, so powers are not worth it. A step waits for
// the one before: three products of five cycles one behind the other (one of halves, two of the
// reduction). Registers with 11 round keys: the keys, 2 of H, Y, and the temporaries of a product.
#[inline(always)]
fn tag<S: AesClmul, C: ExpandLanes>(
    s: S,
    h: Factor<S::V>,
    keys: SameKey<'_, S, C>,
    rows: &SivRows,
    at: usize,
) -> S::V {
    let mut y = s.zero();
    for row in &rows.aad[..rows.aad_blocks] {
        y = multiply(s, s.xor(y, s.load(&row[at..])), h);
    }
    for row in &rows.text[..rows.text_blocks] {
        y = multiply(s, s.xor(y, s.load(&row[at..])), h);
    }
    y = multiply(s, s.xor(y, s.load(&rows.lengths[at..])), h);
    let y = s.xor(y, s.load(&rows.nonces[at..]));
    let [tag] = C::encrypt::<_, 1>(s, [s.and(y, s.splat_halves(u64::MAX, u64::MAX >> 1))], keys);
    tag
}

/// CTR over the text, from the counters that `tags` start.
#[inline(always)]
fn crypt<S: AesClmul, C: ExpandLanes>(
    s: S,
    keys: SameKey<'_, S, C>,
    rows: &mut SivRows,
    at: usize,
) {
    let tag = s.load(&rows.tags[at..]);
    // There is no bitwise or among the operations: clear the bit, then add it.
    let top = s.splat_halves(0, 1 << 63);
    // The highest bit set: the tag without it, and then it.
    let start = s.xor(s.and(tag, s.splat_halves(u64::MAX, u64::MAX >> 1)), top);
    let mut row = 0;
    while row < rows.text_blocks {
        let left = rows.text_blocks - row;
        if S::VECTORS == 1 || left == 1 {
            crypt_rows::<S, 1, C>(s, keys, rows, at, row, start);
            row += 1;
            continue;
        }
        match left {
            2 => crypt_rows::<S, 2, C>(s, keys, rows, at, row, start),
            3 => crypt_rows::<S, 3, C>(s, keys, rows, at, row, start),
            _ => crypt_rows::<S, 4, C>(s, keys, rows, at, row, start),
        }
        row += 4;
    }
}

/// `N` rows of text from `row` on. Registers: at most 4 states and 15 round keys.
#[inline(always)]
fn crypt_rows<S: AesClmul, const N: usize, C: ExpandLanes>(
    s: S,
    keys: SameKey<'_, S, C>,
    rows: &mut SivRows,
    at: usize,
    row: usize,
    start: S::V,
) {
    let mut v = [start; N];
    for i in 0..N {
        // The counter is the first word only; `add_words` carries nothing into the next.
        v[i] = s.add_words(start, s.splat_halves((row + i) as u64, 0));
    }
    v = C::encrypt::<_, N>(s, v, keys);
    for i in 0..N {
        let mut text = s.xor(v[i], s.load(&rows.text[row + i][at..]));
        if row + i + 1 == rows.text_blocks && !rows.whole {
            text = s.and(text, s.load(&rows.mask[at..]));
        }
        s.store(text, &mut rows.text[row + i][at..]);
    }
}
