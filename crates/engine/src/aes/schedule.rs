//! Key expansion (FIPS 197, 5.2).

use lanelock_isa::{AesClmul, AesLevel, Block, Kernel, StackDepth, wipe};

use crate::set_up::SetUp;

/// The round keys of encryption, and the level: all that modes without decryption need. Zeroised on
/// drop. In this order and so aligned, no load of a round key crosses a cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct EncryptKey<const R: usize> {
    keys: [Block; R],
    level: AesLevel,
}

impl<const R: usize> EncryptKey<R> {
    #[inline(always)]
    pub(crate) fn keys(&self) -> &[Block; R] {
        &self.keys
    }

    #[inline(always)]
    pub(crate) fn level(&self) -> AesLevel {
        self.level
    }
}

impl<const R: usize> SetUp for EncryptKey<R> {
    fn none(level: AesLevel) -> Self {
        Self { keys: [[0; 16]; R], level }
    }

    /// `key` has 4 * (R - 7) bytes.
    fn set(&mut self, key: &[u8]) {
        self.level.run(Expand { key, keys: &mut self.keys });
    }
}

impl<const R: usize> Drop for EncryptKey<R> {
    fn drop(&mut self) {
        wipe(self.keys.as_flattened_mut());
        // Bulk work keeps round keys there that did not fit into registers, and powers of a hash key.
        self.level.wipe_stack(StackDepth::KiB4);
    }
}

struct Expand<'a, const R: usize> {
    key: &'a [u8],
    keys: &'a mut [Block; R],
}

impl<const R: usize> Kernel for Expand<'_, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        s.expand(self.key, self.keys);
    }
}

/// Makes the round keys of the equivalent inverse cipher (FIPS 197, 5.3.5) from those of encryption:
/// reversed, all but the ends unmixed.
pub(super) struct Invert<'a, const R: usize> {
    pub(super) encrypt: &'a [Block; R],
    pub(super) decrypt: &'a mut [Block; R],
}

impl<const R: usize> Kernel for Invert<'_, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { encrypt, decrypt } = self;
        decrypt[0] = encrypt[R - 1];
        decrypt[R - 1] = encrypt[0];
        for round in 1..R - 1 {
            decrypt[round] = s.inv_mix_columns(encrypt[R - 1 - round]);
        }
    }
}
