//! What a cipher derives from a key.

use lanelock_isa::{Block, wipe};

use super::Cipher;

/// The round keys of a key, for one direction. Who owns it [wipes](Self::wipe) it: without a destructor of its
/// own it is copied in one piece.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Schedule<C: Cipher> {
    /// The round keys, each in its place.
    pub keys: C::Rounds<Block>,
    /// The rounds that a key of this size has, where a cipher has keys of several sizes.
    pub rounds: usize,
}

impl<C: Cipher> Schedule<C> {
    /// That of no key yet. A constant, since a value that is returned is copied.
    pub const NONE: Self = Self { keys: C::NO_KEYS, rounds: 0 };

    /// Overwrites the round keys with zeros.
    #[inline(always)]
    pub fn wipe(&mut self) {
        wipe(self.keys.as_mut().as_flattened_mut());
    }
}

impl<C: Cipher> core::fmt::Debug for Schedule<C> {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Schedule({})", C::name(self.rounds))
    }
}
