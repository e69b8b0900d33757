//! References to keys whose cipher is known only when the kernel is chosen: batches mix them.

use core::fmt;

use lanelock_isa::AesLevel;

use super::work::{CbcKey, LaneCipher};
use crate::cipher::{AnyAes, Key, SizedCipher};

/// A reference to a key of any [`LaneCipher`]: [`Aes128`](crate::Aes128), [`Aes192`](crate::Aes192),
/// [`Aes256`](crate::Aes256) or one of another crate.
#[derive(Clone, Copy)]
pub struct KeyRef<'k>(&'k (dyn CbcKey + 'static));

impl<'k> KeyRef<'k> {
    /// The level of the key.
    pub fn level(self) -> AesLevel {
        self.0.id().level
    }

    pub(super) fn key(self) -> &'k (dyn CbcKey + 'static) {
        self.0
    }
}

impl<'k, C: SizedCipher<Cipher: LaneCipher>> From<&'k Key<C>> for KeyRef<'k> {
    fn from(key: &'k Key<C>) -> Self {
        Self(key.encrypt_key())
    }
}

impl fmt::Debug for KeyRef<'_> {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.0.name(), self.level())
    }
}

impl LaneCipher for AnyAes {}
