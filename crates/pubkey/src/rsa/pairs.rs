//! The pairs of factors that a private key keeps for its blinding.

use alloc::vec::Vec;
use core::fmt;
use std::sync::{Mutex, PoisonError};

use crate::digits::Digits;

/// How many operations take a pair or its powers.
const USES: u32 = 32;

/// Both factors, modulo n and in Montgomery's form.
pub(super) struct Pair {
    /// r^e
    pub(super) factor: Digits,
    /// 1/r
    pub(super) inverse: Digits,
    uses: u32,
}

impl Pair {
    /// A pair that no operation has taken.
    pub(super) fn new(factor: Digits, inverse: Digits) -> Self {
        Self { factor, inverse, uses: 0 }
    }

    /// The pair that comes after this one, of its squares.
    pub(super) fn next(&self, factor: Digits, inverse: Digits) -> Self {
        Self { factor, inverse, uses: self.uses + 1 }
    }
}

/// The pairs of a key that no operation uses.
#[derive(Default)]
pub(super) struct Blinding(Mutex<Vec<Pair>>);

impl Blinding {
    /// A pair for this operation alone, if one is there.
    pub(super) fn take(&self) -> Option<Pair> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a pair for another operation.
    pub(super) fn put(&self, pair: Pair) {
        if pair.uses < USES {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pair);
        }
    }
}

impl fmt::Debug for Blinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blinding").finish_non_exhaustive()
    }
}
