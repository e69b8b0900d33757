//! Modes of block ciphers for one buffer, one file a mode.
//!
//! Every mode works on any alignment and at the level that the key was made with: in place, and with
//! the suffix `_inout` from one buffer to another.

mod cbc;
pub(crate) mod cmac;
pub(crate) mod ctr;
pub(crate) mod ecb;
mod kw;
mod xts;

use lanelock_isa::{AesClmul, Kernel};

pub use cmac::{Cmac, CmacStream};
pub use ctr::{CounterBits, CtrStream};
pub use kw::KeyWrap;
pub use xts::Xts;

use crate::{
    cipher::{Cipher, SameKey, Schedule},
    inout::InOutBlocks,
};

/// Vectors in flight in the modes that are parallel within a buffer. A round has a latency of four
/// cycles; where two rounds start in a cycle, at any width (Zen 5, measured), eight independent
/// vectors keep the units full, and where one does, four would. Eight are also what the registers
/// hold beside the round keys: 8 + 11 at the 32 of `vaes512`.
pub(crate) const FLIGHT: usize = 8;

/// A mode that is parallel within a buffer, written for any number of vectors.
pub(crate) trait Mode {
    /// Processes groups of `N` vectors from `data` while a whole group is left, and returns the
    /// blocks done. What the next call must know (counter, previous ciphertext) stays in `self`.
    fn groups<C: Cipher, S: AesClmul, const N: usize>(
        &mut self,
        s: S,
        keys: SameKey<'_, S, C>,
        data: InOutBlocks<'_, '_>,
    ) -> usize;
}

/// Runs a mode over `data`: many vectors in flight, then single vectors, then single blocks.
pub(crate) struct InFlight<'a, 'i, 'o, M, C: Cipher> {
    pub(crate) mode: &'a mut M,
    pub(crate) keys: Schedule<'a, C>,
    pub(crate) data: InOutBlocks<'i, 'o>,
}

impl<M: Mode, C: Cipher> Kernel for InFlight<'_, '_, '_, M, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { mode, keys, mut data } = self;
        // Less than a group is left for the second step, less than a vector for the third: at
        // `vaes512` up to 7 vectors one behind the other, then 3 blocks.
        if data.len() >= S::WIDTH {
            let keys = SameKey::new(s, keys);
            if S::VECTORS > 1 {
                let done = mode.groups::<C, S, FLIGHT>(s, keys, data.reborrow());
                (_, data) = data.split_at(done);
            }
            let done = mode.groups::<C, S, 1>(s, keys, data.reborrow());
            (_, data) = data.split_at(done);
        }
        if !data.is_empty() {
            let s = s.narrow();
            mode.groups::<C, S::Narrow, 1>(s, SameKey::new(s, keys), data);
        }
    }
}
