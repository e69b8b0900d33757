//! How keys are made: where they are to stay, and with nothing of them left below.

use lanelock_isa::{AesLevel, StackDepth};

/// A secret that is derived from a key.
///
/// A value that is returned through several frames leaves a copy in each of them. So there is an object
/// without a key first, which the caller has room for; the key is then expanded within it.
pub(crate) trait SetUp: Sized {
    /// How deep the frames of [`set`](Self::set) are.
    const DEPTH: StackDepth;

    /// No key yet.
    fn none(level: AesLevel) -> Self;

    /// Derives all that the object holds from `key`. The stack is left to the caller.
    fn set(&mut self, key: &[u8]);

    /// Sets up `key` at `level`. One frame, which is not merged with others: the result is in the
    /// caller's place from the beginning, and what is below the frame is overwritten.
    #[inline(never)]
    fn expand(key: &[u8], level: AesLevel) -> Self {
        let mut secret = Self::none(level);
        level.on_wiped_stack(Self::DEPTH, || secret.set(key));
        secret
    }
}

/// The frames of a key expansion: those of AES-128 keep everything in registers.
pub(crate) const fn expansion(round_keys: usize) -> StackDepth {
    if round_keys == 11 { StackDepth::KiB1 } else { StackDepth::KiB2 }
}
