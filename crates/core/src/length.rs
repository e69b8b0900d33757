//! How `Debug` shows bytes that may be secret.

use core::fmt;

/// Stands for bytes in the output of `Debug`: texts and keys must not get into logs.
pub struct Length(usize);

impl Length {
    /// The length of `bytes`.
    pub fn of(bytes: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        Self(bytes.as_ref().len())
    }
}

impl fmt::Debug for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0)
    }
}
