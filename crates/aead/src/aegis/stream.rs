//! Messages that come in pieces: the state in memory, and what does not yet fill an update.

use core::fmt;

use lanelock_isa::{AesLevel, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    Aegis, AegisFamily, Core, MOST,
    kernels::{
        Absorb, Absorbed, Begin, Finish, FinishMac, InLanes, Lengths, MacParts, State, Text,
    },
    name,
};
use crate::{LONGEST_TAG, Stream};
use lanelock_core::{
    Error, InOut,
    parts::{InOutBlocks, authenticate_wiping},
};

/// One message on its way through AEGIS, driven by a [`Sealer`](crate::Sealer) or an
/// [`Opener`](crate::Opener). Zeroised on drop.
#[expect(private_bounds, reason = "there are no other families")]
pub struct AegisStream<const BITS: usize, const D: usize>
where
    AegisFamily<BITS>: Core,
{
    pieces: Pieces<AegisFamily<BITS>, D>,
    /// Exclusive or with it encrypts what the pieces lack of an update, once there is text.
    keystream: Absorbed<AegisFamily<BITS>, D>,
    aad: u64,
    text: u64,
    in_text: bool,
}

#[expect(private_bounds, reason = "there are no other families")]
impl<const BITS: usize, const D: usize> AegisStream<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    pub(super) fn new(key: &Aegis<BITS, D>, nonce: &<AegisFamily<BITS> as Core>::Key) -> Self {
        let keystream = AegisFamily::<BITS>::rate([[0; 16]; D]);
        Self {
            pieces: Pieces::new(&key.key, nonce, key.level),
            keystream,
            aad: 0,
            text: 0,
            in_text: false,
        }
    }

    fn wipe(&mut self) {
        self.pieces.wipe();
        self.keystream.as_mut().as_flattened_mut().as_flattened_mut().zeroize();
    }

    fn crypt<const ENCRYPT: bool>(&mut self, mut data: InOut<'_, '_>) {
        // The AAD ends with the first text: zeros complete its last update.
        if !self.in_text {
            self.pieces.pad();
            self.in_text = true;
        }
        self.text += data.len() as u64;
        // First what completes an update that has begun, byte by byte from the key stream that is
        // there; then whole updates; then the beginning of a new one.
        if self.pieces.filled > 0 {
            let count = data.len().min(self.pieces.space().len());
            let (head, rest) = data.split_at(count);
            self.crypt_bytes::<ENCRYPT>(head);
            data = rest;
        }
        if data.is_empty() {
            return;
        }
        let rate = Pieces::<AegisFamily<BITS>, D>::RATE;
        let whole = data.len() / rate * rate;
        let (whole, rest) = data.split_at(whole);
        self.pieces.level.run(InLanes::<_, D>(Text::<AegisFamily<BITS>, D, ENCRYPT> {
            state: &mut self.pieces.state,
            text: InOutBlocks::split(whole).0,
            keystream: &mut self.keystream,
        }));
        self.crypt_bytes::<ENCRYPT>(rest);
    }

    /// Encrypts or decrypts at most what is left of an update.
    fn crypt_bytes<const ENCRYPT: bool>(&mut self, data: InOut<'_, '_>) {
        let count = data.len();
        let keystream = &bytes::<AegisFamily<BITS>, D>(&self.keystream)[self.pieces.filled..];
        // The plaintext is collected: the state absorbs it when the update is full.
        let plaintext = self.pieces.space();
        for ((mut byte, z), plain) in data.into_bytes().zip(keystream).zip(plaintext) {
            let (input, output) = (*byte.get_in(), *byte.get_in() ^ z);
            *plain = if ENCRYPT { input } else { output };
            *byte.get_out() = output;
        }
        self.pieces.advance(count);
    }
}

impl<const BITS: usize, const D: usize> Stream for AegisStream<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    fn aad(&mut self, aad: &[u8]) {
        self.aad += aad.len() as u64;
        self.pieces.absorb(aad);
    }

    fn encrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<true>(data);
    }

    fn decrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<false>(data);
    }

    fn text_left(&self) -> u64 {
        MOST - self.text
    }

    fn finish(&mut self, tag: &mut [u8]) {
        self.pieces.pad();
        let mut full = self.pieces.level.run(InLanes::<_, D>(Finish::<AegisFamily<BITS>, D> {
            state: &self.pieces.state,
            lengths: Lengths([self.aad.wrapping_mul(8), 8 * self.text]),
            long: tag.len() == LONGEST_TAG,
            tag: [[0; 16]; 2],
        }));
        tag.copy_from_slice(&full.as_flattened()[..tag.len()]);
        wipe(full.as_flattened_mut());
        self.wipe();
    }
}

impl<const BITS: usize, const D: usize> Drop for AegisStream<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<const BITS: usize, const D: usize> ZeroizeOnDrop for AegisStream<BITS, D> where
    AegisFamily<BITS>: Core
{
}

impl<const BITS: usize, const D: usize> fmt::Debug for AegisStream<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AegisStream({}, {})", name::<BITS, D>(), self.pieces.level)
    }
}

/// The MAC of data that comes piece by piece: see [`Aegis::mac`]. A clone goes on from where the
/// original was; that of a fresh one saves the set-up. Zeroised on drop.
#[derive(Clone)]
#[expect(private_bounds, reason = "there are no other families")]
pub struct AegisMacStream<const BITS: usize, const D: usize>
where
    AegisFamily<BITS>: Core,
{
    pieces: Pieces<AegisFamily<BITS>, D>,
    data: u64,
    tag_length: usize,
    finished: bool,
}

#[expect(private_bounds, reason = "there are no other families")]
impl<const BITS: usize, const D: usize> AegisMacStream<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    pub(super) fn new(key: &Aegis<BITS, D>, nonce: &<AegisFamily<BITS> as Core>::Key) -> Self {
        Self {
            pieces: Pieces::new(&key.key, nonce, key.level),
            data: 0,
            tag_length: key.tag_length,
            finished: false,
        }
    }

    /// The next piece of the data.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if there is more data than the algorithm takes, [`Error::Finished`] after
    /// the tag.
    pub fn update(&mut self, data: &[u8]) -> Result<(), Error> {
        self.check()?;
        if data.len() as u64 > MOST - self.data {
            return Err(Error::MessageLength);
        }
        self.data += data.len() as u64;
        self.pieces.absorb(data);
        Ok(())
    }

    /// Writes the tag. Nothing of the message stays here, and nothing more is taken.
    ///
    /// # Errors
    /// [`Error::TagLength`] if `tag` has not the length of the key's tags: nothing is done then.
    /// [`Error::Finished`] the second time.
    pub fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.check()?;
        if tag.len() != self.tag_length {
            return Err(Error::TagLength);
        }
        self.pieces.pad();
        let mut full = self.pieces.level.run(InLanes::<_, D>(FinishMac::<AegisFamily<BITS>, D> {
            state: &self.pieces.state,
            lengths: Lengths([8 * self.data, 8 * tag.len() as u64]),
            parts: MacParts::new(tag.len() == LONGEST_TAG),
        }));
        tag.copy_from_slice(&full.as_flattened()[..tag.len()]);
        wipe(full.as_flattened_mut());
        self.pieces.wipe();
        self.finished = true;
        Ok(())
    }

    /// Checks the tag, in constant time, and ends as [`finish`](Self::finish) does, whether it is right or
    /// wrong.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), and [`Error::Authentication`] if the tag is wrong.
    pub fn verify(&mut self, tag: &[u8]) -> Result<(), Error> {
        self.check()?;
        let mut expected = [0; LONGEST_TAG];
        let expected = expected.get_mut(..tag.len()).ok_or(Error::TagLength)?;
        self.finish(expected)?;
        authenticate_wiping(expected, tag, &mut [])
    }

    fn check(&self) -> Result<(), Error> {
        if self.finished { Err(Error::Finished) } else { Ok(()) }
    }
}

impl<const BITS: usize, const D: usize> ZeroizeOnDrop for AegisMacStream<BITS, D> where
    AegisFamily<BITS>: Core
{
}

impl<const BITS: usize, const D: usize> fmt::Debug for AegisMacStream<BITS, D>
where
    AegisFamily<BITS>: Core,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AegisMacStream({}, {})", name::<BITS, D>(), self.pieces.level)
    }
}

/// The state between pieces, and the bytes that do not yet fill an update.
#[derive(Clone)]
struct Pieces<C: Core, const D: usize> {
    state: State<C, D>,
    level: AesLevel,
    buffer: Absorbed<C, D>,
    filled: usize,
}

impl<C: Core, const D: usize> Pieces<C, D> {
    /// Bytes of an update.
    const RATE: usize = 16 * D * C::RATE;

    fn new(key: &C::Key, nonce: &C::Key, level: AesLevel) -> Self {
        let (state, buffer) = (C::words([[0; 16]; D]), C::rate([[0; 16]; D]));
        let mut pieces = Self { state, level, buffer, filled: 0 };
        level.run(InLanes::<_, D>(Begin::<C, D> { key, nonce, state: &mut pieces.state }));
        pieces
    }

    fn wipe(&mut self) {
        self.state.as_mut().as_flattened_mut().as_flattened_mut().zeroize();
        self.buffer.as_mut().as_flattened_mut().as_flattened_mut().zeroize();
    }

    fn absorb(&mut self, mut data: &[u8]) {
        if self.filled > 0 {
            let (head, rest) = data.split_at(data.len().min(self.space().len()));
            self.space()[..head.len()].copy_from_slice(head);
            self.advance(head.len());
            data = rest;
        }
        let (whole, rest) = data.split_at(data.len() / Self::RATE * Self::RATE);
        if !whole.is_empty() {
            self.update(whole);
        }
        self.space()[..rest.len()].copy_from_slice(rest);
        self.filled += rest.len();
    }

    /// Absorbs what is there of an update, and zeros.
    fn pad(&mut self) {
        if self.filled > 0 {
            let space = self.space();
            space.fill(0);
            let count = space.len();
            self.advance(count);
        }
    }

    /// What is left of an update.
    fn space(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut().as_flattened_mut().as_flattened_mut()[self.filled..]
    }

    /// `count` more bytes are in the buffer.
    fn advance(&mut self, count: usize) {
        self.filled += count;
        if self.filled == Self::RATE {
            let buffer = self.buffer;
            self.update(bytes::<C, D>(&buffer));
            self.filled = 0;
        }
    }

    fn update(&mut self, data: &[u8]) {
        self.level.run(InLanes::<_, D>(Absorb::<C, D> { state: &mut self.state, data }));
    }
}

impl<C: Core, const D: usize> Drop for Pieces<C, D> {
    fn drop(&mut self) {
        self.wipe();
    }
}

fn bytes<C: Core, const D: usize>(absorbed: &Absorbed<C, D>) -> &[u8] {
    absorbed.as_ref().as_flattened().as_flattened()
}
