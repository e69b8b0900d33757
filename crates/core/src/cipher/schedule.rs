//! What a cipher derives from a key.

use lanelock_isa::Block;

use super::Cipher;

/// The round keys of a key, for one direction, where their owner has them.
#[derive(Clone, Copy)]
pub struct Schedule<'k, C: Cipher> {
    /// The round keys, each in its place.
    pub keys: &'k C::Rounds<Block>,
    /// The rounds that a key of this size has: see [`Cipher::rounds`].
    pub rounds: usize,
}

impl<C: Cipher> core::fmt::Debug for Schedule<'_, C> {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Schedule({})", C::name(self.rounds))
    }
}
