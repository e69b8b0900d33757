//! How keys are made: with nothing of them left below.

use lanelock_isa::AesLevel;

/// A secret that is derived from a key.
///
/// A value that is returned is made in a frame of its own first, and then copied to where it is to be;
/// the compiler leaves the original where it was. So here it is a clone that is returned, and the original
/// is dropped: that wipes it, and the stack below, where the derivation was.
pub(crate) trait SetUp: Clone {
    /// No key yet.
    fn none(level: AesLevel) -> Self;

    /// Derives all that the object holds from `key`. The stack is left to the caller.
    fn set(&mut self, key: &[u8]);

    /// Sets up `key` at `level`.
    #[inline(never)]
    fn expand(key: &[u8], level: AesLevel) -> Self {
        let mut secret = Self::none(level);
        secret.set(key);
        copy(&secret)
    }

    /// Sets up `key`, if there is a level: see [`expand`](Self::expand). The result is made in its place too.
    #[inline(never)]
    fn expand_if<E: Clone>(key: &[u8], level: Result<AesLevel, E>) -> Result<Self, E> {
        let mut secret = level.map(Self::none);
        if let Ok(secret) = &mut secret {
            secret.set(key);
        }
        copy(&secret)
    }
}

/// As [`copy`], as a result.
#[inline(never)]
#[expect(clippy::unnecessary_wraps, reason = "made in the place of a result")]
pub(crate) fn copy_ok<T: Clone, E>(of: &T) -> Result<T, E> {
    Ok(of.clone())
}

/// A clone that is made where the caller returns it to. A call that stays one: what it leaves on the stack
/// is below the frame of the caller.
#[inline(never)]
pub(crate) fn copy<T: Clone>(of: &T) -> T {
    of.clone()
}
