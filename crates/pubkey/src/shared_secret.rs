//! What two sides have agreed on.

use alloc::vec::Vec;
use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

/// What two sides have in common: bytes to derive keys from; they are no key by themselves. Wiped when dropped.
///
/// Of X25519 it has 32 bytes, of ECDH the coordinate x of the common point, [`Curve::BYTES`](crate::Curve::BYTES).
#[derive(Clone)]
pub struct SharedSecret(Zeroizing<Vec<u8>>);

impl SharedSecret {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The secret bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl ZeroizeOnDrop for SharedSecret {}

impl fmt::Debug for SharedSecret {
    /// Nothing of the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSecret").finish_non_exhaustive()
    }
}
