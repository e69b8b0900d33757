//! Many messages: their chains side by side in lanes.
//!
//! Whole blocks of AAD and of text are chains, processed in the lanes where they lie (`CcmText` has
//! the step). The rest are single encryptions: the first blocks, partial blocks, the masks of the
//! tags. Each kind is done for all messages together, so that they fill vectors too.

use alloc::vec::Vec;
use core::{array, ptr};

use lanelock_isa::{Block, wipe};

use super::{Ccm, split_aad, text::CcmText};
use crate::batch::{Message, prefers_lanes};
use lanelock_core::{
    AesLevel, Error,
    cipher::{Cipher, EncryptKey, Schedule, SizedCipher},
    lanes::{ChainWork, CmacBlocks, Flight, Turns, encrypt_each, longest_first},
    parts::{authenticate_beside, xor},
};

/// What messages in lanes cost beyond messages one by one, and what they save, in cycles. Between what was measured on a
/// core of its own and on one whose other thread was busy: a chain that waits for its rounds does not feel that; lanes,
/// which fill the units, take 1.5 to 2 times as long. So they begin where they take two thirds of the time on a quiet core.
struct Costs {
    /// To set up the lanes of the texts.
    set_up: usize,
    /// To take a message through its single encryptions.
    message: usize,
    /// What both cost more where AAD has chains of its own.
    set_up_for_aad: usize,
    message_with_aad: usize,
    /// What a block saves that another chain hides, with vectors of one, two and four blocks.
    saved_by_block: [usize; 3],
}

/// With one key for all lanes.
const ONE_KEY: Costs = Costs {
    set_up: 850,
    message: 150,
    set_up_for_aad: 530,
    message_with_aad: 70,
    saved_by_block: [13, 18, 21],
};

/// With round keys for each lane.
const KEY_EACH: Costs = Costs {
    set_up: 1250,
    message: 190,
    set_up_for_aad: 990,
    message_with_aad: 80,
    saved_by_block: [9, 14, 17],
};

/// Seals or opens all messages.
#[inline]
pub(super) fn run_all<C: SizedCipher, const SEAL: bool>(messages: &mut [Message<'_, Ccm<C>>]) {
    // Keys of several levels are rare.
    for group in messages.chunk_by_mut(|a, b| a.key.level() == b.key.level()) {
        if prefers_lanes() || pays(group) {
            run::<C, SEAL>(group);
        } else {
            group.iter_mut().for_each(Message::alone::<SEAL>);
        }
    }
}

/// Whether messages whose keys have one level take less time in lanes than one by one.
fn pays<C: SizedCipher>(messages: &[Message<'_, Ccm<C>>]) -> bool {
    let Some(first) = messages.first() else { return false };
    let (level, count) = (first.key.level(), messages.len());
    if level == AesLevel::PORTABLE {
        // A chain alone takes as long as those that fill the planes.
        return count > 2;
    }
    let (mut blocks, mut longest, mut aad_has_chains, mut one_key) = (0, 0, false, true);
    for Message { key, aad, data, .. } in messages {
        let of_message = (data.len() + aad.len()) / 16;
        blocks = of_message.saturating_add(blocks);
        longest = longest.max(of_message);
        // Before it are two bytes of length in the first block.
        aad_has_chains |= aad.len() > 14;
        one_key &= ptr::eq(*key, first.key);
    }
    let costs = if one_key { ONE_KEY } else { KEY_EACH };
    let mut cost = costs.set_up + costs.message * count;
    if aad_has_chains {
        cost += costs.set_up_for_aad + costs.message_with_aad * count;
    }
    let saved = costs.saved_by_block[(level.width().ilog2() as usize).min(2)];
    // Lanes are done no sooner than the longest chain, which has few beside it in the end: its blocks save nothing, nor
    // do half as many blocks of the others.
    blocks.saturating_sub(longest + longest / 2).saturating_mul(saved) > cost
}

/// A message on its way.
struct CcmWork<'m, 'k, C: Cipher> {
    key: &'k EncryptKey<C>,
    /// The MAC, and the counter block of the next whole block of text.
    state: [Block; 2],
    blocks: &'m mut [Block],
    /// The text behind the whole blocks.
    last: &'m mut [u8],
    /// The key stream for `last`.
    stream: Block,
    /// The key stream for the tag.
    mask: Block,
    aad: &'k [u8],
    tag: Tag<'m>,
}

/// Where the tag goes or comes from.
struct Tag<'m> {
    bytes: &'m mut [u8],
    result: &'m mut Result<(), Error>,
}

impl<'m, 'k, C: Cipher> CcmWork<'m, 'k, C> {
    fn new<K: SizedCipher<Cipher = C>>(message: &'m mut Message<'k, Ccm<K>>) -> Option<Self> {
        let Message { key, nonce, aad, data, tag, result } = message;
        let start = match key.check(nonce, data.len(), tag.len()) {
            Ok(start) => start,
            Err(error) => {
                *result = Err(error);
                return None;
            }
        };
        *result = Ok(());
        let (blocks, last) = data.as_chunks_mut();
        let runs = blocks.len();
        Some(Self {
            key: &key.key,
            state: [start.first_block(aad.len() as u64), start.counter(1)],
            blocks,
            last,
            stream: start.counter(1 + runs as u64),
            mask: start.a0,
            aad,
            tag: Tag { bytes: tag, result },
        })
    }

    fn key_if(&self, wanted: bool) -> Option<&'k EncryptKey<C>> {
        wanted.then_some(self.key)
    }

    /// Encrypts or decrypts the partial block, and adds its plaintext to the MAC.
    fn crypt_last<const SEAL: bool>(&mut self) {
        for ((byte, stream), mac) in self.last.iter_mut().zip(&self.stream).zip(&mut self.state[0])
        {
            let input = *byte;
            *byte ^= stream;
            *mac ^= if SEAL { input } else { *byte };
        }
    }

    fn finish<const SEAL: bool>(&mut self) {
        let mut full = xor(&self.state[0], &self.mask);
        let Tag { bytes, result } = &mut self.tag;
        if SEAL {
            bytes.copy_from_slice(&full[..bytes.len()]);
        } else {
            let blocks = self.blocks.as_flattened_mut();
            **result = authenticate_beside(&mut full[..bytes.len()], bytes, blocks);
            if result.is_err() {
                wipe(self.last);
            }
        }
        wipe(&mut full);
        wipe(&mut self.stream);
        wipe(&mut self.mask);
        wipe(self.state.as_flattened_mut());
    }
}

/// Seals or opens messages whose keys have one level, in lanes. Not inlined: messages that go one by one do not need its
/// frame.
#[inline(never)]
fn run<C: SizedCipher, const SEAL: bool>(messages: &mut [Message<'_, Ccm<C>>]) {
    let level = messages[0].key.level();
    let mut works: Vec<_> = messages.iter_mut().filter_map(CcmWork::new).collect();
    let Some(first) = works.first() else { return };
    let key = first.key;
    let same = works.iter().all(|work| ptr::eq(work.key, key)).then(|| key.keys());
    let works = &mut works[..];

    // E(K, A_0) for the tags, then E(K, B_0), where the MACs begin.
    encrypt_each(works, |work| Some(work.key), |work| &mut work.mask);
    encrypt_each(works, |work| Some(work.key), |work| &mut work.state[0]);
    add_aad(level, same, works);

    // Whole blocks of text: MAC and key stream in one step of a chain.
    let run = |extent, works: Turns<'_, '_, CcmWork<'_, '_, C::Cipher>>| {
        let chains = works.map(|work| {
            let CcmWork { key, state, blocks, .. } = work;
            let (data, keys) = (&mut blocks[..], key.keys());
            ChainWork { state, runs: data.len(), left: None, data, keys }
        });
        Flight::whole(level, extent).run::<CcmText<SEAL>, 2, _>(same, chains);
    };
    longest_first(works, |work| work.blocks.len(), |work| work.blocks.as_ptr().addr(), run);

    // Partial blocks: their key stream, exclusive or with the text, and a last step of the MAC with
    // zeros behind the text.
    if works.iter().any(|work| !work.last.is_empty()) {
        encrypt_each(works, |work| work.key_if(!work.last.is_empty()), |work| &mut work.stream);
        works.iter_mut().for_each(CcmWork::crypt_last::<SEAL>);
        encrypt_each(works, |work| work.key_if(!work.last.is_empty()), |work| &mut work.state[0]);
    }
    works.iter_mut().for_each(CcmWork::finish::<SEAL>);
}

/// Takes the AAD into the MACs.
fn add_aad<C: Cipher>(
    level: AesLevel,
    same: Option<Schedule<'_, C>>,
    works: &mut [CcmWork<'_, '_, C>],
) {
    if works.iter().all(|work| work.aad.is_empty()) {
        return;
    }
    for work in works.iter_mut().filter(|work| !work.aad.is_empty()) {
        let (first, _) = split_aad(work.aad);
        work.state[0] = xor(&work.state[0], &first);
    }
    encrypt_each(works, |work| work.key_if(!work.aad.is_empty()), |work| &mut work.state[0]);
    // Most AAD is a header that fits into that block.
    if works.iter().all(|work| rest(work).is_empty()) {
        return;
    }
    longest_first(
        works,
        |work| rest(work).len() / 16,
        |work| rest(work).as_ptr().addr(),
        |extent, works| {
            let chains = works.map(|work| {
                let ((data, _), keys) = (rest(work).as_chunks(), work.key.keys());
                let state = array::from_mut(&mut work.state[0]);
                ChainWork { state, runs: data.len(), left: None, data, keys }
            });
            Flight::whole(level, extent).run::<CmacBlocks, 1, _>(same, chains);
        },
    );
    for work in &mut *works {
        let (_, last) = rest(work).as_chunks::<16>();
        for (mac, byte) in work.state[0].iter_mut().zip(last) {
            *mac ^= byte;
        }
    }
    encrypt_each(
        works,
        |work| work.key_if(!rest(work).len().is_multiple_of(16)),
        |work| &mut work.state[0],
    );
}

/// The AAD behind its first block.
fn rest<'k, C: Cipher>(work: &CcmWork<'_, 'k, C>) -> &'k [u8] {
    if work.aad.is_empty() { &[] } else { split_aad(work.aad).1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aes128Ccm, batch::with_messages};

    fn side_by_side(level: AesLevel, keys: usize, count: usize, bytes: usize) -> bool {
        let make = || Aes128Ccm::with_level(&[1; 16], level);
        with_messages(make, keys, count, bytes, |messages| pays(messages))
    }

    /// No output says which way messages went.
    #[test]
    fn where_lanes_pay() {
        for level in AesLevel::available() {
            for keys in [1, 32] {
                assert!(side_by_side(level, keys, 32, 1024), "{level}, {keys} keys");
                assert!(!side_by_side(level, keys, 2, 16), "{level}, {keys} keys");
                let portable = level == AesLevel::PORTABLE;
                assert_eq!(side_by_side(level, keys, 32, 16), portable, "{level}, {keys} keys");
            }
        }
    }
}
