//! Waves: short messages of one shape, a lane for each.
//!
//! The messages of a wave have equally many blocks of AAD and of text. They are copied side by side,
//! block *i* of all of them in one row, so that the kernels read and write whole vectors; a last
//! block that is not full is padded with zeros and has a mask. A message without a 12-byte nonce, or
//! too long to be faster in a wave, is processed by itself.
//!
//! GCM (`gcm_batch`) takes neighbours of equal length where they are; here the messages of a chunk
//! are first sorted by shape, so equal numbers of blocks need not stand together.

use lanelock_isa::{AesLevel, Block, wipe};

use super::{
    Aead,
    batch::{Message, nonce_block},
};
use lanelock_core::{
    Error,
    parts::{authenticate_beside, copy_tag},
};

/// The most messages of a wave.
pub(super) const LANES: usize = 16;

/// The most blocks of AAD of a message in a wave.
const MOST_AAD: usize = 4;

/// The most blocks of text: with more, a message fills the vectors well enough alone.
pub(super) const MOST_TEXT: usize = 16;

/// Messages looked at together.
const CHUNK: usize = 128;

/// An algorithm whose messages can be processed in waves.
pub(super) trait Waves: Aead + Sized {
    /// Checks lengths: see [`Aead::seal_inout`].
    fn check(&self, nonce: &[u8], aad: &[u8], text: usize, tag: usize) -> Result<(), Error>;
    /// The level of the key.
    fn level(&self) -> AesLevel;
    /// The block that closes the hash, as an element.
    fn lengths(aad: usize, text: usize) -> u128;
    /// Encrypts or decrypts the text of a wave and makes its tags. All keys are `keys[0]` if `same`.
    fn run<const SEAL: bool>(keys: &[&Self; LANES], same: bool, wave: &mut Wave);
}

/// The messages of a wave, side by side: `[row][lane]`.
pub(super) struct Wave {
    /// Each with four zero bytes behind it.
    pub(super) nonces: [Block; LANES],
    pub(super) aad: [[Block; LANES]; MOST_AAD],
    pub(super) text: [[Block; LANES]; MOST_TEXT],
    /// Ones where the last block of text has bytes; of use only if not `whole`.
    pub(super) mask: [Block; LANES],
    pub(super) lengths: [Block; LANES],
    /// The tags: of the sender for GCM-SIV to open, and in the end those that are right.
    pub(super) tags: [Block; LANES],
    pub(super) aad_blocks: usize,
    pub(super) text_blocks: usize,
    /// Whether all last blocks of text are full.
    pub(super) whole: bool,
    /// Lanes in use.
    pub(super) used: usize,
    /// The bytes of AAD and of text that `lengths` and `mask` of each lane are for.
    bytes: [(usize, usize); LANES],
    /// Rows of text that were ever in use.
    touched: usize,
}

impl Wave {
    fn new() -> Self {
        Self {
            nonces: [[0; 16]; LANES],
            aad: [[[0; 16]; LANES]; MOST_AAD],
            text: [[[0; 16]; LANES]; MOST_TEXT],
            mask: [[0; 16]; LANES],
            lengths: [[0; 16]; LANES],
            tags: [[0; 16]; LANES],
            aad_blocks: 0,
            text_blocks: 0,
            whole: true,
            used: 0,
            bytes: [(usize::MAX, 0); LANES],
            touched: 0,
        }
    }

    #[inline(always)]
    fn put<A: Waves>(&mut self, lane: usize, message: &Message<'_, A>) {
        let Message { nonce, aad, data, tag, .. } = message;
        if let Some(nonce) = nonce_block(nonce) {
            self.nonces[lane] = nonce;
        }
        spread(aad, &mut self.aad, lane);
        spread(data, &mut self.text, lane);
        let part = data.len() % 16;
        self.whole &= part == 0;
        // Most batches are of one length: then the lane has both from the message before.
        let bytes = (aad.len(), data.len());
        if self.bytes[lane] != bytes {
            self.bytes[lane] = bytes;
            self.lengths[lane] = A::lengths(aad.len(), data.len()).to_le_bytes();
            self.mask[lane] = match part {
                0 => [0xff; 16],
                part => (u128::MAX >> (8 * (16 - part))).to_le_bytes(),
            };
        }
        if let Some(tag) = tag.first_chunk() {
            self.tags[lane] = *tag;
        }
    }

    /// Copies text and tag of a sealed message from its lane to the message.
    #[inline(always)]
    fn take_sealed<A>(&self, lane: usize, message: &mut Message<'_, A>) {
        collect(&self.text, lane, message.data);
        copy_tag(&self.tags[lane], message.tag);
    }

    /// Copies the text of an opened message from its lane to the message, if its tag is right.
    #[inline(always)]
    fn take_opened<A>(&mut self, lane: usize, message: &mut Message<'_, A>) {
        let expected = &mut self.tags[lane][..message.tag.len()];
        message.result = authenticate_beside(expected, message.tag, message.data);
        if message.result.is_ok() {
            collect(&self.text, lane, message.data);
        }
    }
}

impl Drop for Wave {
    fn drop(&mut self) {
        let touched = self.touched.min(MOST_TEXT);
        wipe(self.text[..touched].as_flattened_mut().as_flattened_mut());
        wipe(self.tags.as_flattened_mut());
    }
}

/// The blocks of `bytes` into a lane.
#[inline(always)]
fn spread(bytes: &[u8], rows: &mut [[Block; LANES]], lane: usize) {
    let (blocks, rest) = bytes.as_chunks();
    for (row, block) in rows.iter_mut().zip(blocks) {
        row[lane] = *block;
    }
    if !rest.is_empty() {
        let block = &mut rows[blocks.len()][lane];
        *block = [0; 16];
        block[..rest.len()].copy_from_slice(rest);
    }
}

/// The blocks of a lane into `bytes`.
#[inline(always)]
fn collect(rows: &[[Block; LANES]], lane: usize, bytes: &mut [u8]) {
    let (blocks, rest) = bytes.as_chunks_mut();
    let whole = blocks.len();
    for (row, block) in rows.iter().zip(blocks) {
        *block = row[lane];
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&rows[whole][lane][..rest.len()]);
    }
}

/// Seals or opens all messages, in waves where that pays.
#[inline]
pub(super) fn each<A: Waves, const SEAL: bool>(messages: &mut [Message<'_, A>]) {
    let mut wave = Wave::new();
    for messages in messages.chunks_mut(CHUNK) {
        // Shape and place of each message that can be in a wave, as one number: sorting by it brings
        // equal shapes together and keeps the order of places.
        let mut order = [0_u32; CHUNK];
        let mut count = 0;
        // The last message that can. One with the same key and lengths needs no check: it can too.
        let mut like: Option<(&A, usize)> = None;
        let (mut nonce_like, mut aad_like, mut data_like, mut tag_like) = (0, 0, 0, 0);
        for (place, message) in messages.iter_mut().enumerate() {
            let Message { key, nonce, aad, data, tag, result } = message;
            if let Some((other, shape)) = like
                && nonce.len() == nonce_like
                && aad.len() == aad_like
                && data.len() == data_like
                && tag.len() == tag_like
                && core::ptr::eq(other, *key)
            {
                *result = Ok(());
                #[expect(clippy::cast_possible_truncation, reason = "17 bits")]
                let number = (shape * CHUNK + place) as u32;
                order[count] = number;
                count += 1;
                continue;
            }
            *result = key.check(nonce, aad, data.len(), tag.len());
            let lengths = (nonce.len(), aad.len(), data.len(), tag.len());
            let (aad, text) = (aad.len().div_ceil(16), data.len().div_ceil(16));
            if result.is_err() {
                continue;
            }
            if nonce.len() == 12 && aad <= MOST_AAD && text <= MOST_TEXT {
                let shape = (key.level().rank() << 3 | aad) << 5 | text;
                #[expect(clippy::cast_possible_truncation, reason = "17 bits")]
                let number = (shape * CHUNK + place) as u32;
                order[count] = number;
                count += 1;
                like = Some((key, shape));
                (nonce_like, aad_like, data_like, tag_like) = lengths;
            } else {
                message.alone::<SEAL>();
            }
        }
        let order = &mut order[..count];
        if !order.is_sorted() {
            order.sort_unstable();
        }
        for group in order.chunk_by(|a, b| shape(*a) == shape(*b)) {
            for group in group.chunks(LANES) {
                match group {
                    // A lane alone would compute the others for nothing.
                    [one] => messages[place(*one)].alone::<SEAL>(),
                    _ => together::<A, SEAL>(messages, group, &mut wave),
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
fn together<A: Waves, const SEAL: bool>(
    messages: &mut [Message<'_, A>],
    group: &[u32],
    wave: &mut Wave,
) {
    let first = messages[place(group[0])].key;
    let mut keys = [first; LANES];
    let mut same = true;
    // The shape has the number of blocks of both; lengths in bytes may differ from lane to lane.
    (wave.whole, wave.used) = (true, group.len());
    wave.text_blocks = shape(group[0]) % 32;
    wave.aad_blocks = shape(group[0]) / 32 % 8;
    wave.touched = wave.touched.max(wave.text_blocks);
    for (lane, number) in group.iter().enumerate() {
        let message = &messages[place(*number)];
        keys[lane] = message.key;
        same &= core::ptr::eq(first, message.key);
        wave.put(lane, message);
    }
    A::run::<SEAL>(&keys, same, wave);
    for (lane, number) in group.iter().enumerate() {
        let message = &mut messages[place(*number)];
        if SEAL {
            wave.take_sealed(lane, message);
        } else {
            wave.take_opened(lane, message);
        }
    }
}
