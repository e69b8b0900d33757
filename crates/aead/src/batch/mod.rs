//! Many short messages at once.
//!
//! A message of a few blocks cannot fill a vector, and waits for the latency of every round. Here
//! blocks of *different* messages share a vector. Keys, nonces, AAD and lengths may differ; one bad
//! message does not disturb the others.
//!
//! Messages of equal length gain most; they need not be neighbours. Some gain side by side, others go one by one, where
//! lanes would be no gain: then a batch takes about as long as its messages one by one. There is nothing to sort, and no
//! number of messages to avoid. Side by side go, at most:
//!
//! - GCM: texts up to 256 bytes with AAD up to 16, at levels with vectors of 512 bits;
//! - GCM-SIV: texts up to 256 bytes (128 where a vector has one block) with AAD up to 64;
//! - CCM: any texts, if they have some tens of blocks on average;
//! - OCB3: texts of one length, 16 or more, at levels with vectors of 512 bits;
//! - ChaCha20-Poly1305: any texts.
//!
//! At the portable level CCM, GCM-SIV and OCB3 do whenever they can, and GCM does not.
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

/// Shows `look` so many messages of so many bytes, with 13 bytes of AAD, under `keys` keys by turns.
#[cfg(test)]
pub(crate) fn with_messages<A: Aead, T>(
    make: impl Fn() -> A,
    keys: usize,
    count: usize,
    bytes: usize,
    look: impl FnOnce(&[Message<'_, A>]) -> T,
) -> T {
    use alloc::{vec, vec::Vec};
    let keys: Vec<_> = (0..keys).map(|_| make()).collect();
    let (mut texts, mut tags) = (vec![vec![0; bytes]; count], vec![[0; 16]; count]);
    let parts = keys.iter().cycle().zip(&mut texts).zip(&mut tags);
    let messages: Vec<_> =
        parts.map(|((key, text), tag)| Message::new(key, &[0; 12], &[0; 13], text, tag)).collect();
    look(&messages)
}
