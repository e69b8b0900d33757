//! One message piece by piece.

use core::fmt;

use lanelock_isa::{Block, wipe};
use zeroize::ZeroizeOnDrop;

use lanelock_core::{
    InOut,
    cipher::{Cipher, EncryptKey},
    parts::{InOutBlocks, absorb_blocks},
};

use super::{Start, aad_header, message::CcmPiece};
use crate::Stream;

/// A message on its way through CCM: see [`Ccm::sealer`](super::Ccm::sealer).
pub struct CcmStream<'k, C: Cipher> {
    key: &'k EncryptKey<C>,
    a0: Block,
    /// The state of the MAC; the first `filled` bytes of the current block have been added.
    mac: Block,
    filled: usize,
    /// The next counter block.
    counter: Block,
    /// The key stream for the current block of the text, if `filled` is not 0.
    stream: Block,
    aad_left: u64,
    text_left: u64,
}

impl<'k, C: Cipher> CcmStream<'k, C> {
    pub(super) fn new(key: &'k EncryptKey<C>, start: Start, aad: u64, text: u64) -> Self {
        let mut mac = start.first_block(aad);
        key.encrypt_block(&mut mac);
        let (counter, stream) = (start.counter(1), [0; 16]);
        let mut message = Self {
            key,
            a0: start.a0,
            mac,
            filled: 0,
            counter,
            stream,
            aad_left: aad,
            text_left: text,
        };
        if aad > 0 {
            let (header, bytes) = aad_header(aad);
            message.absorb(&header[..bytes]);
        }
        message
    }

    fn wipe(&mut self) {
        wipe(&mut self.mac);
        wipe(&mut self.stream);
        wipe(&mut self.a0);
    }

    /// Adds bytes to the MAC.
    fn absorb(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(self.until_block(bytes.len()));
        self.absorb_part(head);
        let (blocks, last) = rest.as_chunks();
        absorb_blocks(self.key, &mut self.mac, blocks);
        self.absorb_part(last);
    }

    /// Adds bytes that do not go beyond the current block.
    fn absorb_part(&mut self, bytes: &[u8]) {
        for (m, b) in self.mac[self.filled..].iter_mut().zip(bytes) {
            *m ^= b;
        }
        self.filled += bytes.len();
        if self.filled == 16 {
            self.end_block();
        }
    }

    /// How many of `bytes` bytes belong to a block that has begun.
    fn until_block(&self, bytes: usize) -> usize {
        if self.filled == 0 { 0 } else { bytes.min(16 - self.filled) }
    }

    /// Fills the current block up with zeros.
    fn end_block(&mut self) {
        if self.filled > 0 {
            self.key.encrypt_block(&mut self.mac);
            self.filled = 0;
        }
    }

    fn crypt<const SEAL: bool>(&mut self, data: InOut<'_, '_>) {
        self.text_left = self.text_left.saturating_sub(data.len() as u64);
        // First what completes a block of the MAC that has begun, whose key stream is there; then
        // whole blocks in the kernel; then the beginning of a new block.
        let (head, rest) = {
            let at = self.until_block(data.len());
            data.split_at(at)
        };
        self.crypt_part::<SEAL>(head);
        let (blocks, last) = InOutBlocks::split(rest);
        if !blocks.is_empty() {
            let (key, mac, counter) = (self.key, &mut self.mac, &mut self.counter);
            key.level().run(CcmPiece::<_, SEAL> { key, mac, counter, data: blocks });
        }
        if !last.is_empty() {
            self.stream = self.counter;
            self.key.encrypt_block(&mut self.stream);
            self.counter = (u128::from_be_bytes(self.counter) + 1).to_be_bytes();
            self.crypt_part::<SEAL>(last);
        }
    }

    /// Text that does not go beyond the current block, whose key stream is there.
    fn crypt_part<const SEAL: bool>(&mut self, mut data: InOut<'_, '_>) {
        let (filled, bytes) = (self.filled, data.len());
        let stream = &self.stream[filled..][..bytes];
        // The MAC takes the plaintext: the output when opening, the input when sealing, which in
        // place is gone after the exclusive or.
        if SEAL {
            for (m, b) in self.mac[filled..].iter_mut().zip(data.get_in()) {
                *m ^= b;
            }
            data.xor_in2out(stream);
            // Already added: zeros only move the place in the block on, and end it if it is full.
            self.absorb_part(&[0; 16][..bytes]);
        } else {
            data.xor_in2out(stream);
            let plain = InOut::from(data.get_out());
            let mut text = [0; 16];
            text[..bytes].copy_from_slice(plain.get_in());
            self.absorb_part(&text[..bytes]);
            wipe(&mut text);
        }
    }
}

impl<C: Cipher> Stream for CcmStream<'_, C> {
    fn aad(&mut self, aad: &[u8]) {
        self.absorb(aad);
        self.aad_left = self.aad_left.saturating_sub(aad.len() as u64);
        if self.aad_left == 0 {
            self.end_block();
        }
    }

    fn encrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<true>(data);
    }

    fn decrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<false>(data);
    }

    fn aad_left(&self) -> u64 {
        self.aad_left
    }

    fn text_left(&self) -> u64 {
        self.text_left
    }

    fn announced(&self) -> bool {
        true
    }

    fn finish(&mut self, tag: &mut [u8]) {
        self.end_block();
        self.key.encrypt_block(&mut self.a0);
        for (tag, (m, a)) in tag.iter_mut().zip(self.mac.iter().zip(&self.a0)) {
            *tag = m ^ a;
        }
        self.wipe();
    }
}

impl<C: Cipher> Drop for CcmStream<'_, C> {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<C: Cipher> ZeroizeOnDrop for CcmStream<'_, C> {}

impl<C: Cipher> fmt::Debug for CcmStream<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CcmStream({}Ccm({}))", self.key.name(), self.key.level())
    }
}
