//! The hash of one message, piece by piece.

use core::fmt;

use lanelock_isa::{LevelError, ShaLevel, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    algorithm::{Algorithm, Bytes, Compress, State, body},
    compression::{Compression, compress},
    levels::Levels,
};

/// The hash of a message that comes in pieces.
///
/// A clone goes on from the same place. The state is zeroised on drop, since messages may be secrets.
#[derive(Clone)]
pub struct Hash<A: Algorithm> {
    state: State<A>,
    /// What is left of the message behind the last block that was taken, and then zeros.
    rest: A::Tail,
    used: usize,
    length: u64,
    level: ShaLevel,
}

impl<A: Algorithm> Hash<A> {
    /// Nothing is hashed yet.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new() -> Result<Self, LevelError> {
        Ok(Self::with_level(Levels::best()?.one))
    }

    /// The same at `level`.
    pub fn with_level(level: ShaLevel) -> Self {
        Self::from_state(A::initial(), 0, level)
    }

    /// From a state after `length` bytes, which are whole blocks.
    pub(crate) fn from_state(state: State<A>, length: u64, level: ShaLevel) -> Self {
        Self { state, rest: A::Tail::ZERO, used: 0, length, level }
    }

    /// From a state after all but the last bytes of a message, which are a block at most.
    pub(crate) fn from_parts(state: State<A>, last: &[u8], length: u64, level: ShaLevel) -> Self {
        let mut hash = Self::from_state(state, length, level);
        hash.rest.as_mut()[..last.len()].copy_from_slice(last);
        hash.used = last.len();
        hash
    }

    /// The state, and the bytes that it has not taken.
    pub(crate) fn parts(&self) -> (&State<A>, &[u8]) {
        (&self.state, &self.rest.as_ref()[..self.used])
    }

    /// The digest of a message.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn digest(message: &[u8]) -> Result<A::Digest, LevelError> {
        Ok(Self::digest_with_level(Levels::best()?.one, message))
    }

    /// The same at `level`.
    pub fn digest_with_level(level: ShaLevel, message: &[u8]) -> A::Digest {
        let (mut state, length) = (A::initial(), message.len() as u64);
        let mut tail = A::Tail::ZERO;
        let mut rest = message;
        // What fits the room for padded blocks with its padding is taken at once.
        let padded = A::padded(message.len());
        if padded <= message.len() || padded > size_of::<A::Tail>() {
            let blocks;
            (blocks, rest) = message.split_at(body::<A>(message.len()));
            compress::<Compress<A>>(level, &mut state, blocks);
        }
        tail.as_mut()[..rest.len()].copy_from_slice(rest);
        let bytes = A::pad(tail.as_mut(), rest.len(), length);
        A::before_last(&mut state, length);
        compress::<Compress<A>>(level, &mut state, &tail.as_ref()[..bytes]);
        let mut digest = A::Digest::ZERO;
        A::output(state.as_ref(), digest.as_mut());
        state.as_mut().zeroize();
        wipe(tail.as_mut());
        digest
    }

    /// The level that it runs on.
    pub fn level(&self) -> ShaLevel {
        self.level
    }

    /// The bytes that were taken.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        let blocks = self.begin_update(data);
        compress::<Compress<A>>(self.level, &mut self.state, blocks);
    }

    /// Takes the next bytes of the message but for whole blocks, which the state has to take next.
    pub(crate) fn begin_update<'d>(&mut self, mut data: &'d [u8]) -> &'d [u8] {
        let block = Compress::<A>::BLOCK;
        self.length += data.len() as u64;
        if self.used > 0 {
            let (filling, later) = data.split_at(data.len().min(block - self.used));
            self.rest.as_mut()[self.used..self.used + filling.len()].copy_from_slice(filling);
            self.used += filling.len();
            data = later;
            if self.used < block || A::LAST_IS_SPECIAL && data.is_empty() {
                return &[];
            }
            compress::<Compress<A>>(self.level, &mut self.state, &self.rest.as_ref()[..block]);
            self.rest.as_mut()[..block].fill(0);
            self.used = 0;
        }
        let (blocks, rest) = data.split_at(body::<A>(data.len()));
        self.rest.as_mut()[..rest.len()].copy_from_slice(rest);
        self.used = rest.len();
        blocks
    }

    /// The state, which takes the blocks of [`begin_update`](Self::begin_update).
    pub(crate) fn state_mut(&mut self) -> &mut State<A> {
        &mut self.state
    }

    /// The state after whole blocks.
    pub(crate) fn state(&self) -> &State<A> {
        &self.state
    }

    /// The digest of all that was taken.
    pub fn finish(mut self) -> A::Digest {
        let mut digest = A::Digest::ZERO;
        self.end();
        A::output(self.state.as_ref(), digest.as_mut());
        digest
    }

    /// Takes the last blocks.
    fn end(&mut self) {
        let bytes = A::pad(self.rest.as_mut(), self.used, self.length);
        A::before_last(&mut self.state, self.length);
        compress::<Compress<A>>(self.level, &mut self.state, &self.rest.as_ref()[..bytes]);
    }
}

/// Hashes whose output may have any length.
impl<const RATE: usize, const ROUNDS: usize, const DOMAIN: u8, const DIGEST: usize>
    Hash<crate::algorithm::Keccak<RATE, ROUNDS, DOMAIN, DIGEST>>
{
    /// The same hash with another end of messages.
    pub(crate) fn with_domain<const OTHER: u8>(
        &self,
    ) -> Hash<crate::algorithm::Keccak<RATE, ROUNDS, OTHER, DIGEST>> {
        let Self { state, rest, used, length, level } = self;
        Hash { state: *state, rest: *rest, used: *used, length: *length, level: *level }
    }

    /// The output for all that was taken, of which as much is read as is wanted.
    pub fn output(mut self) -> Output<RATE, ROUNDS> {
        self.end();
        Output::new(self.state)
    }
}

/// The output of an algorithm that gives as much of it as is wanted.
#[derive(Clone)]
pub struct Output<const RATE: usize, const ROUNDS: usize> {
    state: [u64; 25],
    /// Bytes of the state that were read.
    at: usize,
}

impl<const RATE: usize, const ROUNDS: usize> Output<RATE, ROUNDS> {
    pub(crate) fn new(state: [u64; 25]) -> Self {
        Self { state, at: 0 }
    }

    /// The next bytes of the output.
    pub fn read(&mut self, mut output: &mut [u8]) {
        while !output.is_empty() {
            if self.at == RATE {
                crate::keccak::permute_one::<ROUNDS>(&mut self.state);
                self.at = 0;
            }
            let count = output.len().min(RATE - self.at);
            let (now, later) = output.split_at_mut(count);
            let bytes = self.state.map(u64::to_le_bytes);
            now.copy_from_slice(&bytes.as_flattened()[self.at..self.at + count]);
            self.at += count;
            output = later;
        }
    }
}

impl<const RATE: usize, const ROUNDS: usize> Drop for Output<RATE, ROUNDS> {
    fn drop(&mut self) {
        self.state.zeroize();
    }
}

impl<const RATE: usize, const ROUNDS: usize> fmt::Debug for Output<RATE, ROUNDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl<A: Algorithm> Drop for Hash<A> {
    fn drop(&mut self) {
        self.state.as_mut().zeroize();
        wipe(self.rest.as_mut());
    }
}

impl<A: Algorithm> ZeroizeOnDrop for Hash<A> {}
impl<const RATE: usize, const ROUNDS: usize> ZeroizeOnDrop for Output<RATE, ROUNDS> {}

impl<A: Algorithm> fmt::Debug for Hash<A> {
    /// Says which algorithm it is and how much was taken, never what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::NAME).field("length", &self.length).finish_non_exhaustive()
    }
}
