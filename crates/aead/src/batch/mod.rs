//! Many short messages at once.
//!
//! A message of a few blocks cannot fill a vector, and waits for the latency of every round. Here
//! blocks of *different* messages share a vector. Keys, nonces, AAD and lengths may differ; one bad
//! message does not disturb the others.
//!
//! Messages of equal length gain most; they need not be neighbours. Some gain side by side, others go one by one, where
//! lanes would be no gain: then a batch takes about as long as its messages one by one. There is nothing to sort, and no
//! number of messages to avoid. Side by side go:
//!
//! | algorithm | levels | messages, from | bytes of text |
//! |---|---|---|---|
//! | GCM, nonces of 12 bytes, AAD up to 16 | vectors of 512 bits | 8 (24 on Intel's processors, with one key and AAD) | up to 256 |
//! | GCM-SIV, nonces of 12 bytes, AAD up to 64 | all | 8 with equally many blocks | up to 256, or 128 where a vector has one block |
//! | CCM | all but portable | 8 or so | some tens of blocks on average |
//! | OCB3, all texts and all AAD of one length | vectors of 512 bits | 16; with a key each 32 | any; with a key each not whole blocks |
//! | CCM, OCB3 | portable | 3; 8 with equally many blocks | any |
//! | ChaCha20-Poly1305 | all | 2 | any |
//!
//! ```
//! use lanelock::aead::{Aes128Gcm, batch::{self, Message}};
//!
//! # fn main() -> Result<(), lanelock::Error> {
//! let key = Aes128Gcm::new(&[7; 16])?;
//! let nonces: Vec<[u8; 12]> = (0..100).map(|number| [number; 12]).collect(); // never one twice
//! let (mut texts, mut tags) = (vec![[0; 64]; 100], vec![[0; 16]; 100]);
//! let texts_and_tags = texts.iter_mut().zip(&mut tags);
//! let mut messages: Vec<_> = nonces
//!     .iter()
//!     .zip(texts_and_tags)
//!     .map(|(nonce, (text, tag))| Message::new(&key, nonce, b"header", text, tag))
//!     .collect();
//! batch::seal(&mut messages)?;
//! messages[7].tag[0] ^= 1; // a forgery
//! assert!(batch::open(&mut messages).is_err());
//! assert_eq!(messages.iter().filter(|message| message.result.is_err()).count(), 1);
//! # Ok(())
//! # }
//! ```

pub(crate) mod group;
pub(crate) mod keys;
mod owned;

use core::fmt;

pub use owned::{CompletedMessage, Operation, OwnedMessage};

use lanelock_isa::{Block, wipe_stack};

use crate::Aead;
use lanelock_core::{
    Error,
    parts::{Length, authenticate_beside, copy_tag},
};

/// One message of a batch.
#[non_exhaustive]
pub struct Message<'a, A> {
    /// The key.
    pub key: &'a A,
    /// The nonce.
    pub nonce: &'a [u8],
    /// The additional authenticated data.
    pub aad: &'a [u8],
    /// The text, encrypted or decrypted in place.
    pub data: &'a mut [u8],
    /// The tag: written by [`seal`], read by [`open`].
    pub tag: &'a mut [u8],
    /// What became of the message. Whatever is there before is overwritten.
    pub result: Result<(), Error>,
}

impl<'a, A: Aead> Message<'a, A> {
    /// A message.
    pub fn new(
        key: &'a A,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Self {
        Self { key, nonce, aad, data, tag, result: Ok(()) }
    }

    /// Seals or opens this message by itself, through [`Aead`].
    pub(crate) fn alone<const SEAL: bool>(&mut self) {
        let Self { key, nonce, aad, data, tag, result } = self;
        *result =
            if SEAL { key.seal(nonce, aad, data, tag) } else { key.open(nonce, aad, data, tag) };
    }

    /// Writes the tag, of which `full` is the whole, or compares it.
    #[inline(always)]
    pub(crate) fn finish<const SEAL: bool>(&mut self, full: &mut Block) {
        let Self { data, tag, result, .. } = self;
        *result = if SEAL {
            copy_tag(full, tag);
            Ok(())
        } else {
            authenticate_beside(&mut full[..tag.len().min(16)], tag, data)
        };
    }
}

impl<A: fmt::Debug> fmt::Debug for Message<'_, A> {
    /// The lengths of nonce, AAD, text and tag, never their bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("key", self.key)
            .field("nonce", &Length::of(self.nonce))
            .field("aad", &Length::of(self.aad))
            .field("data", &Length::of(self.data))
            .field("tag", &Length::of(self.tag))
            .field("result", &self.result)
            .finish()
    }
}

/// A nonce of 12 bytes with four zero bytes behind it; of other nonces nothing.
#[inline(always)]
pub(crate) fn nonce_block(nonce: &[u8]) -> Option<Block> {
    let ([low], &[a, b, c, d]) = nonce.as_chunks::<8>() else { return None };
    let high = u32::from_le_bytes([a, b, c, d]);
    Some((u128::from(high) << 64 | u128::from(u64::from_le_bytes(*low))).to_le_bytes())
}

/// Sends the batches of this thread side by side wherever there is a kernel for it, whether that is a gain or not: so tests
/// reach the kernels with few messages, and on every processor. Without effect in builds without debug assertions or
/// without the feature `std`.
#[doc(hidden)]
pub fn prefer_lanes(prefer: bool) {
    #[cfg(all(debug_assertions, feature = "std"))]
    PREFERS_LANES.set(prefer);
    let _ = prefer;
}

#[cfg(all(debug_assertions, feature = "std"))]
std::thread_local! {
    static PREFERS_LANES: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// See [`prefer_lanes`].
#[inline(always)]
pub(crate) fn prefers_lanes() -> bool {
    #[cfg(all(debug_assertions, feature = "std"))]
    return PREFERS_LANES.get();
    #[cfg(not(all(debug_assertions, feature = "std")))]
    false
}

/// An algorithm whose messages can share vectors: all but AEGIS.
pub trait Batch: Aead + Sized {
    /// Seals every message: see [`seal`].
    fn seal_each(messages: &mut [Message<'_, Self>]);
    /// Opens every message: see [`open`].
    fn open_each(messages: &mut [Message<'_, Self>]);
}

/// Seals all messages, each as [`Aead::seal`] would.
///
/// # Errors
/// The first error of any message; which ones failed is in their `result`, and the others are done.
pub fn seal<A: Batch>(messages: &mut [Message<'_, A>]) -> Result<(), Error> {
    A::seal_each(messages);
    messages.iter().try_for_each(|message| message.result)
}

/// Opens all messages, each as [`Aead::open`] would: the text of those that are not authentic is
/// zeroed.
///
/// # Errors
/// The first error of any message; which ones failed is in their `result`, and the others are done.
pub fn open<A: Batch>(messages: &mut [Message<'_, A>]) -> Result<(), Error> {
    A::open_each(messages);
    let result = messages.iter().try_for_each(|message| message.result);
    if result.is_err() {
        // The tags that would have been right.
        wipe_stack::<{ 24 << 10 }>();
    }
    result
}

/// Shows `look` so many messages of so many bytes, with 13 bytes of AAD, under `keys` keys by turns. It may change
/// them.
#[cfg(test)]
pub(crate) fn with_messages<A: Aead, T>(
    make: impl Fn() -> A,
    keys: usize,
    count: usize,
    bytes: usize,
    look: impl FnOnce(&mut [Message<'_, A>]) -> T,
) -> T {
    use alloc::{vec, vec::Vec};
    let keys: Vec<_> = (0..keys).map(|_| make()).collect();
    let (mut texts, mut tags) = (vec![vec![0; bytes]; count], vec![[0; 16]; count]);
    let parts = keys.iter().cycle().zip(&mut texts).zip(&mut tags);
    let mut messages: Vec<_> =
        parts.map(|((key, text), tag)| Message::new(key, &[0; 12], &[0; 13], text, tag)).collect();
    look(&mut messages)
}
