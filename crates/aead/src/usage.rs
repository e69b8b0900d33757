//! How often a key may be used.

use core::sync::atomic::{AtomicU64, Ordering};

use lanelock_core::Error;

/// Counts the messages that one key seals, and their blocks, and stops at the limits.
///
/// - *Messages*: random nonces repeat by chance, and in GCM one repetition gives the authentication
///   key away. [`random_nonces`](Self::random_nonces) has the limit for nonces of 96 bits.
/// - *Blocks*: some algorithms lose their bound by the amount of data under one key: OCB3 at 2^48 blocks
///   (RFC 7253, 5.1). [`with_block_limit`](Self::with_block_limit) sets such a limit.
///
/// Attached to a key it cannot be forgotten: [`Aead::with_usage`](crate::Aead::with_usage). Where
/// messages come in pieces, [`take_message`](Self::take_message) before each. Threads may share it. It
/// cannot be cloned: each copy would allow the whole number again.
///
/// ```
/// use lanelock::{Error, KeyUsage, aead::{Aead, Aes128Gcm}};
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128Gcm::new(&[7; 16])?.with_usage(KeyUsage::with_limit(1)); // one message
/// let sealed = key.seal_vec(&[1; 12], b"", b"message")?;
/// assert_eq!(key.seal_vec(&[2; 12], b"", b"another"), Err(Error::KeyExhausted));
/// assert_eq!(key.open_vec(&[1; 12], b"", &sealed)?, b"message");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KeyUsage {
    messages: AtomicU64,
    blocks: AtomicU64,
    /// Bytes of the shortest nonce for which the limit holds.
    nonce: usize,
}

impl KeyUsage {
    /// 2^32 messages: with random 96-bit nonces the chance of a repetition is below 2^-32 then (NIST SP
    /// 800-38D, 8.3). A key that it is attached to refuses shorter nonces.
    pub const fn random_nonces() -> Self {
        Self { nonce: 12, ..Self::with_limit(1 << 32) }
    }

    /// At most `messages` messages, and any number of blocks.
    pub const fn with_limit(messages: u64) -> Self {
        Self { messages: AtomicU64::new(messages), blocks: AtomicU64::new(u64::MAX), nonce: 0 }
    }

    /// At most `blocks` blocks of 16 bytes, text and AAD of all messages together; those of each are
    /// rounded up.
    #[must_use]
    pub const fn with_block_limit(self, blocks: u64) -> Self {
        Self { blocks: AtomicU64::new(blocks), ..self }
    }

    /// Refuses a nonce for which the limit does not hold.
    pub(crate) fn check_nonce(&self, nonce: &[u8]) -> Result<(), Error> {
        if nonce.len() < self.nonce { Err(Error::NonceLength) } else { Ok(()) }
    }

    /// Counts `messages` messages before they are sealed; their blocks do not count.
    ///
    /// # Errors
    /// [`Error::KeyExhausted`] if that is more than are left; none is taken then.
    pub fn take(&self, messages: u64) -> Result<(), Error> {
        take(&self.messages, messages)
    }

    /// Counts a message with so many bytes of text and AAD before it is sealed.
    ///
    /// # Errors
    /// [`Error::KeyExhausted`] if no message, or not that many blocks are left; nothing is taken then.
    pub fn take_message(&self, text: u64, aad: u64) -> Result<(), Error> {
        take(&self.messages, 1)?;
        // Both numbers are at most 2^60: the sum does not overflow.
        take(&self.blocks, text.div_ceil(16) + aad.div_ceil(16)).inspect_err(|_| {
            self.messages.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Messages that may still be sealed.
    pub fn left(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Blocks that may still be sealed.
    pub fn blocks_left(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }
}

fn take(left: &AtomicU64, number: u64) -> Result<(), Error> {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(number))
        .map(|_| ())
        .map_err(|_| Error::KeyExhausted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stops_at_its_limit() {
        let usage = KeyUsage::with_limit(3);
        assert_eq!(usage.take(2), Ok(()));
        assert_eq!(usage.take(2), Err(Error::KeyExhausted));
        assert_eq!(usage.left(), 1);
        assert_eq!(usage.take(1), Ok(()));
        assert_eq!(usage.take(1), Err(Error::KeyExhausted));
        assert_eq!(KeyUsage::random_nonces().left(), 1 << 32);
    }

    #[test]
    fn blocks_are_rounded_up_for_each_message() {
        let usage = KeyUsage::with_limit(3).with_block_limit(4);
        assert_eq!(usage.take_message(17, 1), Ok(()));
        assert_eq!((usage.left(), usage.blocks_left()), (2, 1));
        assert_eq!(usage.take_message(17, 0), Err(Error::KeyExhausted));
        assert_eq!((usage.left(), usage.blocks_left()), (2, 1), "nothing is taken");
        assert_eq!(usage.take_message(0, 16), Ok(()));
        assert_eq!(usage.take_message(0, 0), Ok(()));
        assert_eq!(usage.take_message(0, 0), Err(Error::KeyExhausted));
        assert_eq!(KeyUsage::with_limit(1).take_message(u64::MAX, u64::MAX), Ok(()));
    }
}
