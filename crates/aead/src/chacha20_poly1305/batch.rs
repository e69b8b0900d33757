//! Many short messages: a block of key stream a lane, whatever message it is of.

use lanelock_chacha::parts::{Accumulator, STATE, State, forward, run_all};
use lanelock_isa::{HashLevel, MOST_WORDS, wipe};

use super::{ChaChaPoly, behind, lengths};
use crate::batch::{Batch, Message};

/// Longer texts fill lanes with their own blocks.
const LONG: usize = 2048;

impl<const NONCE: usize> Batch for ChaChaPoly<NONCE> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        all::<true, NONCE>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        all::<false, NONCE>(messages);
    }
}

fn all<const SEAL: bool, const NONCE: usize>(messages: &mut [Message<'_, ChaChaPoly<NONCE>>]) {
    let Some(level) = messages.first().map(|message| message.key.level) else { return };
    let mut sharing = Sharing::new(level);
    for messages in messages.chunks_mut(MOST_WORDS) {
        // One message alone would wait for lanes that nobody uses.
        if messages.len() == 1 {
            messages[0].alone::<SEAL>();
        } else {
            sharing.process::<SEAL, NONCE>(messages);
        }
    }
}

/// Blocks that share vectors. Zeroised on drop.
struct Sharing {
    level: HashLevel,
    /// For each message the state of block 0.
    starts: [State; MOST_WORDS],
    /// For each message block 0.
    keys: [State; MOST_WORDS],
    /// Of blocks of text: states, and then key stream.
    lanes: [State; MOST_WORDS],
    /// Which message, and which bytes of it, a lane is for.
    places: [(usize, usize); MOST_WORDS],
    used: usize,
}

impl Sharing {
    fn new(level: HashLevel) -> Self {
        let none = [[0; STATE]; MOST_WORDS];
        Self { level, starts: none, keys: none, lanes: none, places: [(0, 0); MOST_WORDS], used: 0 }
    }

    /// At most as many messages as there are lanes.
    fn process<const SEAL: bool, const NONCE: usize>(
        &mut self,
        messages: &mut [Message<'_, ChaChaPoly<NONCE>>],
    ) {
        let mut short = [false; MOST_WORDS];
        for (number, message) in messages.iter_mut().enumerate() {
            let Message { nonce, data, tag, .. } = &*message;
            message.result = ChaChaPoly::<NONCE>::check(nonce, data.len(), tag.len());
            short[number] = message.result.is_ok() && message.data.len() <= LONG;
            if short[number] {
                self.starts[number] = message.key.before(message.nonce);
            } else if message.result.is_ok() {
                message.alone::<SEAL>();
            }
        }
        let count = messages.len();
        if NONCE == 24 {
            self.keys[..count].copy_from_slice(&self.starts[..count]);
            run_all(self.level, &mut self.keys[..count]);
            for (number, message) in messages.iter().enumerate() {
                if short[number] {
                    behind(&mut self.starts[number], &self.keys[number], message.nonce);
                }
            }
        }
        self.keys[..count].copy_from_slice(&self.starts[..count]);
        run_all(self.level, &mut self.keys[..count]);
        let is_short = |number: &usize| short[*number];
        if !SEAL {
            for number in (0..count).filter(is_short) {
                self.finish::<false, NONCE>(number, &mut messages[number]);
            }
        }
        for number in (0..count).filter(is_short) {
            if messages[number].result.is_err() {
                continue; // a forgery, whose text is zero by now
            }
            let mut state = self.starts[number];
            for at in (0..messages[number].data.len()).step_by(STATE) {
                forward(&mut state, 1);
                self.lanes[self.used] = state;
                self.places[self.used] = (number, at);
                self.used += 1;
                if self.used == MOST_WORDS {
                    self.apply(messages);
                }
            }
            wipe(&mut state);
        }
        self.apply(messages);
        if SEAL {
            for number in (0..count).filter(is_short) {
                self.finish::<true, NONCE>(number, &mut messages[number]);
            }
        }
    }

    /// Exclusive-ors the key stream of all lanes that are used over their texts.
    fn apply<const NONCE: usize>(&mut self, messages: &mut [Message<'_, ChaChaPoly<NONCE>>]) {
        run_all(self.level, &mut self.lanes[..self.used]);
        for (stream, (number, at)) in self.lanes[..self.used].iter().zip(self.places) {
            for (byte, stream) in messages[number].data[at..].iter_mut().zip(stream) {
                *byte ^= stream;
            }
        }
        self.used = 0;
    }

    /// Makes or compares the tag of a message, whose ciphertext is there.
    fn finish<const SEAL: bool, const NONCE: usize>(
        &mut self,
        number: usize,
        message: &mut Message<'_, ChaChaPoly<NONCE>>,
    ) {
        let mut key = [0; 32];
        key.copy_from_slice(&self.keys[number][..32]);
        let mut sum = Accumulator::new(&key);
        wipe(&mut key);
        for part in [message.aad, &*message.data] {
            let (blocks, rest) = part.as_chunks();
            sum.take(blocks);
            sum.take_filled(rest);
        }
        sum.take(&[lengths(message.aad.len() as u64, message.data.len() as u64)]);
        message.finish::<SEAL>(&mut sum.tag());
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        wipe(self.starts.as_flattened_mut());
        wipe(self.keys.as_flattened_mut());
        wipe(self.lanes.as_flattened_mut());
    }
}
