//! A message that comes piece by piece.

use core::{fmt, marker::PhantomData};

use lanelock_chacha::{
    Poly1305,
    parts::{Cursor, State, block_of, end, forward},
};
use lanelock_core::{InOut, parts::copy_tag};
use lanelock_isa::{HashLevel, wipe};
use zeroize::ZeroizeOnDrop;

use super::{MOST_BYTES, lengths};
use crate::Stream;

/// A message that comes piece by piece: see [`ChaChaPoly::sealer`](super::ChaChaPoly::sealer).
pub struct ChaChaStream<'k> {
    stream: Cursor,
    poly: Poly1305,
    aad: u64,
    text: u64,
    level: HashLevel,
    /// The key outlives the message, as with the other algorithms.
    key: PhantomData<&'k ()>,
}

impl ChaChaStream<'_> {
    pub(super) fn new(mut state: State, level: HashLevel) -> Self {
        let mut block = block_of(&state);
        let mut key = [0; 32];
        key.copy_from_slice(&block[..32]);
        forward(&mut state, 1);
        let poly = Poly1305::with_level(&key, level);
        let stream = Cursor::new(state, level);
        wipe(&mut block);
        wipe(&mut key);
        wipe(&mut state);
        Self { stream, poly, aad: 0, text: 0, level, key: PhantomData }
    }

    /// Poly1305 takes more text; before the first of it the AAD is filled up.
    fn authenticate(&mut self, ciphertext: &[u8]) {
        if self.text == 0 {
            self.poly.pad();
        }
        self.poly.update(ciphertext);
        self.text += ciphertext.len() as u64;
    }
}

impl Stream for ChaChaStream<'_> {
    fn aad(&mut self, aad: &[u8]) {
        self.poly.update(aad);
        self.aad += aad.len() as u64;
    }

    fn encrypt(&mut self, mut data: InOut<'_, '_>) {
        self.stream.apply(data.reborrow());
        self.authenticate(data.get_out());
    }

    fn decrypt(&mut self, data: InOut<'_, '_>) {
        self.authenticate(data.get_in());
        self.stream.apply(data);
    }

    fn text_left(&self) -> u64 {
        MOST_BYTES - self.text
    }

    fn finish(&mut self, tag: &mut [u8]) {
        self.poly.pad();
        self.poly.update(&lengths(self.aad, self.text));
        let mut full = end(&mut self.poly);
        copy_tag(&full, tag);
        wipe(&mut full);
        self.stream.wipe();
    }
}

impl ZeroizeOnDrop for ChaChaStream<'_> {}

impl fmt::Debug for ChaChaStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChaChaStream({})", self.level)
    }
}
