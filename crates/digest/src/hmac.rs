//! HMAC (RFC 2104, FIPS 198-1) with any of the hashes.

use core::fmt;

use lanelock_core::{Error, parts::authenticate_wiping};
use lanelock_isa::{LevelError, StackDepth, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    algorithm::{Algorithm, Bytes, Compress, State},
    compression::{Compression, compress},
    hash::Hash,
    lanes::{Chain, Goal, Task, run_all},
    levels::Levels,
};

/// A key of HMAC: the states of both hashes behind the key. Zeroised on drop.
#[derive(Clone)]
pub struct HmacKey<A: Algorithm> {
    inner: State<A>,
    outer: State<A>,
    /// The block of the key in the inner hash, if the last block of a message is a special one: that of an empty
    /// message is this one.
    block: A::Tail,
    levels: Levels,
}

impl<A: Algorithm> HmacKey<A> {
    /// A key of any length; one that is longer than a block is hashed first. A key has as many bytes as the digest
    /// or more to be worth it (RFC 2104, 3).
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(key: &[u8]) -> Result<Self, LevelError> {
        Ok(Self::with_levels(Levels::best()?, key))
    }

    /// The same at these levels.
    pub fn with_levels(levels: Levels, key: &[u8]) -> Self {
        let block = Compress::<A>::BLOCK;
        let mut padded = A::Tail::ZERO;
        let bytes = &mut padded.as_mut()[..block];
        if let Some(bytes) = bytes.get_mut(..key.len()) {
            bytes.copy_from_slice(key);
        } else {
            let mut hash = Hash::<A>::with_level(levels.one);
            hash.update(key);
            let mut digest = hash.finish();
            bytes[..digest.as_ref().len()].copy_from_slice(digest.as_ref());
            digest.zeroize();
        }
        let (inner, outer) = (A::initial(), A::initial());
        let mut made = Self { inner, outer, block: A::Tail::ZERO, levels };
        xor(bytes, 0x36);
        if A::LAST_IS_SPECIAL {
            made.block.as_mut()[..block].copy_from_slice(bytes);
        }
        compress::<Compress<A>>(levels.one, &mut made.inner, bytes);
        xor(bytes, 0x36 ^ 0x5c);
        compress::<Compress<A>>(levels.one, &mut made.outer, bytes);
        wipe(bytes);
        levels.one.wipe_stack(StackDepth::KiB2);
        made
    }

    /// The levels that it runs on.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// The states behind the key.
    pub(crate) fn states(&self) -> (&State<A>, &State<A>) {
        (&self.inner, &self.outer)
    }

    /// The state behind the key of the outer hash.
    pub(crate) fn outer(&self) -> &State<A> {
        &self.outer
    }

    /// What the inner hash has to take for a message, and the state that it begins with, after so many bytes.
    pub(crate) fn inner<'m>(
        &'m self,
        head: &[u8],
        message: &'m [u8],
    ) -> (&'m [u8], Option<(&'m State<A>, u64)>) {
        let block = Compress::<A>::BLOCK;
        if A::LAST_IS_SPECIAL && head.is_empty() && message.is_empty() {
            return (&self.block.as_ref()[..block], None);
        }
        (message, Some((&self.inner, block as u64)))
    }

    /// The tag of a message.
    pub fn tag(&self, message: &[u8]) -> A::Digest {
        let mut hmac = self.start();
        hmac.update(message);
        hmac.finish()
    }

    /// Compares the tag of a message in constant time.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is another one, or shorter.
    pub fn verify(&self, message: &[u8], tag: &[u8]) -> Result<(), Error> {
        let mut expected = self.tag(message);
        authenticate_wiping(expected.as_mut(), tag, &mut [])
    }

    /// The tag of a message that comes in pieces.
    pub fn start(&self) -> Hmac<A> {
        let (block, level) = (Compress::<A>::BLOCK, self.levels.one);
        let length = block as u64;
        let inner = if A::LAST_IS_SPECIAL {
            Hash::from_parts(A::initial(), &self.block.as_ref()[..block], length, level)
        } else {
            Hash::from_state(self.inner, length, level)
        };
        Hmac { inner, outer: Hash::from_state(self.outer, length, level) }
    }
}

impl<A: Algorithm> Drop for HmacKey<A> {
    fn drop(&mut self) {
        self.inner.as_mut().zeroize();
        self.outer.as_mut().zeroize();
        wipe(self.block.as_mut());
    }
}

impl<A: Algorithm> ZeroizeOnDrop for HmacKey<A> {}
impl<A: Algorithm> ZeroizeOnDrop for Hmac<A> {}

impl<A: Algorithm> fmt::Debug for HmacKey<A> {
    /// Says which hash it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HmacKey({})", A::NAME)
    }
}

fn xor(bytes: &mut [u8], with: u8) {
    for byte in bytes {
        *byte ^= with;
    }
}

/// The tag of a message that comes in pieces. Zeroised on drop.
#[derive(Clone, Debug)]
pub struct Hmac<A: Algorithm> {
    inner: Hash<A>,
    outer: Hash<A>,
}

impl<A: Algorithm> Hmac<A> {
    /// Takes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    /// Takes the next bytes of the message but for so many at their beginning, whole blocks, which
    /// [`state_mut`](Self::state_mut) has to take next. What was taken before ends with a block.
    #[doc(hidden)]
    pub fn begin_update(&mut self, data: &[u8]) -> usize {
        self.inner.begin_update(data).len()
    }

    /// The state of the inner hash.
    #[doc(hidden)]
    pub fn state_mut(&mut self) -> &mut State<A> {
        self.inner.state_mut()
    }

    /// The tag of all that was taken.
    pub fn finish(self) -> A::Digest {
        let Self { inner, mut outer } = self;
        let mut digest = inner.finish();
        outer.update(digest.as_ref());
        digest.zeroize();
        outer.finish()
    }

    /// Compares the tag in constant time.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is another one, or shorter.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        let mut expected = self.finish();
        authenticate_wiping(expected.as_mut(), tag, &mut [])
    }
}

/// A message, its key and its tag.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct HmacJob<'a, A: Algorithm> {
    /// The key.
    pub key: &'a HmacKey<A>,
    /// What comes before the message: fewer bytes than a block of the hash has.
    head: &'a [u8],
    /// The message.
    pub message: &'a [u8],
    /// After the run the tag. Whatever is there before is overwritten.
    pub tag: A::Digest,
}

impl<'a, A: Algorithm> HmacJob<'a, A> {
    /// A job.
    pub fn new(key: &'a HmacKey<A>, message: &'a [u8]) -> Self {
        Self { key, head: &[], message, tag: A::Digest::ZERO }
    }

    /// The same with `head` before the message: the header of a record, for instance, which lies elsewhere.
    ///
    /// # Panics
    /// If `head` is as long as a block of the hash, or longer.
    #[must_use]
    pub fn with_head(self, head: &'a [u8]) -> Self {
        assert!(head.len() < Compress::<A>::BLOCK, "a head is shorter than a block");
        Self { head, ..self }
    }
}

impl<A: Algorithm> fmt::Debug for HmacJob<'_, A> {
    /// The length of the message, never its bytes, nor the tag, which might be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacJob")
            .field("key", &self.key)
            .field("bytes", &(self.head.len() + self.message.len()))
            .finish_non_exhaustive()
    }
}

impl<A: Algorithm> Chain<A> for HmacJob<'_, A> {
    fn blocks(&self) -> usize {
        (self.head.len() + self.message.len()) / Compress::<A>::BLOCK + 2
    }

    fn address(&self) -> usize {
        self.message.as_ptr().addr()
    }

    fn task(&mut self) -> Task<'_, A> {
        let (message, from) = self.key.inner(self.head, self.message);
        let goal = Goal::Digest { then: Some(&self.key.outer), digest: self.tag.as_mut() };
        Task { head: self.head, message, from, goal }
    }
}

/// Computes the tags of all jobs, side by side in lanes where that is faster than one by one, at the levels of the
/// first key. Keys may differ.
pub fn hmac_all<A: Algorithm>(jobs: &mut [HmacJob<'_, A>]) {
    if let Some(first) = jobs.first() {
        run_all(first.key.levels, jobs);
    }
}
