//! Noise that comes again.
//!
//! Under a constant IV, equal slices are encrypted alike: those of loops, slates and advertisements. A
//! wrong key makes the same noise of each copy, so the second one is no evidence.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    sync::{Mutex, PoisonError},
};

/// What was looked at so far, as hashes. How many there are is up to who calls.
#[derive(Debug, Default)]
pub(super) struct SeenNoise {
    state: RandomState,
    hashes: Mutex<HashSet<u64>>,
}

impl SeenNoise {
    /// Whether this is the first noise with such a block at this position of a range.
    ///
    /// One block stands for all that was decrypted before it: in a chain (CBC) its ciphertext depends
    /// on everything before, so two chains that differ end in different noise. Other modes and right
    /// keys may have equal blocks at the end of different data. That loses evidence, but invents none.
    pub(super) fn is_new(&self, position: usize, block: &[u8]) -> bool {
        let hash = self.state.hash_one((position, block));
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)
    }
}
