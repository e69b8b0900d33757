//! A key that stops at its limits.

use alloc::vec::Vec;
use zeroize::ZeroizeOnDrop;

use super::{
    Aead,
    batch::{Batch, Message},
};
use crate::KeyUsage;
use lanelock_core::{Error, InOut};

/// A key of any algorithm, and how often it may be used: made by [`Aead::with_usage`].
///
/// Sealing takes from the [`KeyUsage`] first, and is [`Error::KeyExhausted`] when that is used up;
/// nothing is written then. A message that is refused for another reason, such as the length of its
/// nonce, has been counted. Openings do not count: what others send must not exhaust a key. Under
/// [`KeyUsage::random_nonces`], nonces of fewer than 12 bytes are [`Error::NonceLength`].
///
/// Streams are not metered: they borrow the key itself. Count their messages with
/// [`KeyUsage::take_message`].
#[derive(Debug)]
pub struct Metered<A> {
    key: A,
    usage: KeyUsage,
}

impl<A> Metered<A> {
    pub(super) fn new(key: A, usage: KeyUsage) -> Self {
        Self { key, usage }
    }

    /// What is left.
    pub fn usage(&self) -> &KeyUsage {
        &self.usage
    }
}

impl<A: ZeroizeOnDrop> ZeroizeOnDrop for Metered<A> {}

impl<A: Aead> Aead for Metered<A> {
    fn tag_length(&self) -> usize {
        self.key.tag_length()
    }

    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        self.usage.check_nonce(nonce)?;
        self.usage.take_message(data.len() as u64, aad.len() as u64)?;
        self.key.seal_inout(nonce, aad, data, tag)
    }

    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        self.key.open_inout(nonce, aad, data, tag)
    }
}

impl<A: Batch> Batch for Metered<A> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        with_keys(messages, A::seal_each, |message| {
            message.key.usage.check_nonce(message.nonce)?;
            message.key.usage.take_message(message.data.len() as u64, message.aad.len() as u64)
        });
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        with_keys(messages, A::open_each, |_| Ok(()));
    }
}

/// Runs the messages that `allow` lets through, each under the key itself.
fn with_keys<A: Batch>(
    messages: &mut [Message<'_, Metered<A>>],
    run: impl Fn(&mut [Message<'_, A>]),
    allow: impl Fn(&Message<'_, Metered<A>>) -> Result<(), Error>,
) {
    let mut results = Vec::with_capacity(messages.len());
    let mut inner = Vec::with_capacity(messages.len());
    for message in messages {
        message.result = allow(message);
        if message.result.is_ok() {
            let Message { key, nonce, aad, data, tag, result } = message;
            inner.push(Message::new(&key.key, nonce, aad, data, tag));
            results.push(result);
        }
    }
    run(&mut inner);
    for (result, message) in results.into_iter().zip(inner) {
        *result = message.result;
    }
}
