//! How often a key may be used.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// Counts the messages sealed with one key and *random* 96-bit nonces, and stops at the limit: nonces
/// repeat by chance, and in GCM one repetition gives the authentication key away.
///
/// Whoever seals attaches it: [`take`](Self::take) before each message. Threads may share it.
///
/// ```
/// use lanelock::{KeyUsage, aead::{Aead, Aes128Gcm}};
/// # fn main() -> Result<(), lanelock::Error> {
/// let (key, usage) = (Aes128Gcm::new(&[7; 16])?, KeyUsage::random_nonces());
/// usage.take(1)?; // an error once the key has done 2^32 messages
/// let sealed = key.seal_vec(&[1; 12], b"", b"message")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KeyUsage {
    left: AtomicU64,
}

impl KeyUsage {
    /// 2^32 messages: with random 96-bit nonces the chance of a repetition is below 2^-32 then (NIST SP
    /// 800-38D, 8.3).
    pub const fn random_nonces() -> Self {
        Self::with_limit(1 << 32)
    }

    /// A limit of the caller's own.
    pub const fn with_limit(messages: u64) -> Self {
        Self { left: AtomicU64::new(messages) }
    }

    /// Takes leave to seal `messages` messages.
    ///
    /// # Errors
    /// [`Error::KeyExhausted`] if that is more than are left; none is taken then.
    pub fn take(&self, messages: u64) -> Result<(), Error> {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(messages))
            .map(|_| ())
            .map_err(|_| Error::KeyExhausted)
    }

    /// Messages that may still be sealed.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
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
}
