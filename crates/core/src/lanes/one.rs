//! One chain of CBC or CBCS, C_j = E(K, P_j ^ C_(j-1)): one block after the other, without lanes.
//!
//! With a 128-bit key ten rounds of four cycles and one exclusive or: 41 cycles a block at least.
//! CBC-MAC (`cmac`) saves the exclusive or by adding the next block in the last round; here the
//! ciphertext itself has to come out. Registers: the state, this and the next plaintext, and 11
//! round keys: 14.

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel};

use crate::{
    Pattern,
    cipher::{Cipher, EncryptKey, SameKey, Schedule},
    inout::InOutBlocks,
};

/// Encrypts `runs` complete runs of a pattern.
pub(super) fn run_one<C: Cipher>(
    key: &EncryptKey<C>,
    state: &mut Block,
    pattern: Pattern,
    runs: usize,
    data: InOutBlocks<'_, '_>,
) {
    let (run, period, keys) = (pattern.run(), pattern.period(), key.keys());
    if runs > 0 {
        key.level().run(RunOne { state, data, keys, runs, run, period });
    }
}

/// Encrypts `runs` runs of `run` blocks, their starts `period` blocks apart.
struct RunOne<'a, 'i, 'o, C: Cipher> {
    state: &'a mut Block,
    data: InOutBlocks<'i, 'o>,
    keys: Schedule<'a, C>,
    runs: usize,
    run: usize,
    period: usize,
}

impl<C: Cipher> Kernel for RunOne<'_, '_, '_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { state, mut data, keys, runs, run, period } = self;
        let s = s.narrow();
        let keys = SameKey::new(s, keys);
        let mut v = s.load(core::slice::from_ref(state));
        // Round key 0 is added to the next plaintext block a step in advance: one exclusive or is
        // left between the last round of a block and the first of the next.
        let mut early = C::whiten(s, s.load(data.input()), keys, 0);
        let (mut at, mut number) = (0, 0);
        for left in (0..runs * run).rev() {
            // The next block: inside a run the following one, else the first of the next run.
            let next = if number + 1 < run {
                number += 1;
                at + 1
            } else {
                number = 0;
                at + 1 + period - run
            };
            let next_block = s.load(&data.input()[if left > 0 { next } else { at }..]);
            let next_early = C::whiten(s, next_block, keys, 0);
            [v] = C::encrypt_whitened::<_, 1>(s, [s.xor(v, early)], keys);
            s.store(v, &mut data.output()[at..]);
            (at, early) = (next, next_early);
        }
        s.store(v, core::slice::from_mut(state));
    }
}
