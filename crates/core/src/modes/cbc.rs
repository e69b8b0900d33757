//! CBC (NIST SP 800-38A, 6.2) and CBCS (ISO/IEC 23001-7, 10.4) for one buffer.
//!
//! Encryption, C_j = E(K, P_j ^ C_(j-1)) with C_0 = the IV, is one serial chain:
//! [`lanes`](crate::lanes) encrypts many at once. Decryption, P_j = D(K, C_j) ^ C_(j-1), is parallel
//! within the buffer: each plaintext block needs two ciphertext blocks, and all are there.

use lanelock_isa::{AesClmul, Block};

use super::{
    InFlight, Mode,
    ecb::{load_group, whole_blocks},
};
use crate::{
    Error, Pattern,
    cipher::{Cipher, Key, SameKey, SizedCipher},
    inout::{InOut, InOutBlocks},
    lanes,
};

/// CBC decryption of the blocks at 0, `stride`, 2 * `stride`, ...
struct CbcDecrypt {
    before: Block,
    stride: usize,
}

impl Mode for CbcDecrypt {
    #[inline(always)]
    fn groups<C: Cipher, S: AesClmul, const N: usize>(
        &mut self,
        s: S,
        keys: SameKey<'_, S, C>,
        mut data: InOutBlocks<'_, '_>,
    ) -> usize {
        // Registers, with `N` = 8 and 11 round keys: 8 states, the 8 vectors of ciphertext that they
        // come from, the last one of the group before, 11 keys: 28. The ciphertext is kept for the
        // exclusive or behind the rounds.
        let stride = self.stride;
        let group = N * S::WIDTH;
        let mut before = s.in_last_lane(&self.before);
        let mut at = 0;
        // The last group needs no blocks after its last one.
        while at + (group - 1) * stride < data.len() {
            let vector = |i: usize| at + i * S::WIDTH * stride;
            let c = if stride == 1 {
                load_group::<S, N>(s, &data, at)
            } else {
                let mut c = [before; N];
                for i in 0..N {
                    c[i] = s.load_strided(data.input(), vector(i), stride);
                }
                c
            };
            let mut p = C::decrypt(s, c, keys);
            for i in 0..N {
                // The ciphertext one block further back: its last block comes from the vector before.
                p[i] = s.xor(p[i], s.shift_in(before, c[i]));
                before = c[i];
            }
            if stride == 1 {
                let group = &mut data.output()[at..][..group];
                for i in 0..N {
                    s.store(p[i], &mut group[i * S::WIDTH..]);
                }
            } else {
                for i in 0..N {
                    s.store_strided(p[i], data.output(), vector(i), stride);
                }
            }
            at += group * stride;
        }
        self.before = s.last_lane(before);
        at.min(data.len())
    }
}

impl<C: SizedCipher> Key<C> {
    /// Encrypts `data` in place as one CBC chain. `iv` becomes the last ciphertext block, so that a
    /// next call continues the chain.
    ///
    /// # Errors
    /// [`Error::PartialBlock`] if `data` is not whole blocks; nothing is changed then.
    pub fn cbc_encrypt(&self, iv: &mut Block, data: &mut [u8]) -> Result<(), Error> {
        self.cbc_encrypt_inout(iv, data.into())
    }

    /// [`cbc_encrypt`](Self::cbc_encrypt), in place or from one buffer to another.
    pub fn cbc_encrypt_inout(&self, iv: &mut Block, data: InOut<'_, '_>) -> Result<(), Error> {
        lanes::encrypt_one(self.encrypt_key(), iv, Pattern::ALL, whole_blocks(data)?);
        Ok(())
    }

    /// Decrypts `data` in place. `iv` becomes the last ciphertext block.
    ///
    /// # Errors
    /// [`Error::PartialBlock`] if `data` is not whole blocks; nothing is changed then.
    pub fn cbc_decrypt(&self, iv: &mut Block, data: &mut [u8]) -> Result<(), Error> {
        self.cbc_decrypt_inout(iv, data.into())
    }

    /// [`cbc_decrypt`](Self::cbc_decrypt), in place or from one buffer to another.
    pub fn cbc_decrypt_inout(&self, iv: &mut Block, data: InOut<'_, '_>) -> Result<(), Error> {
        self.decrypt_strided(iv, 1, whole_blocks(data)?);
        Ok(())
    }

    /// Encrypts `data` in place as one CBCS chain: CBC over the blocks that `pattern` selects.
    /// `iv` becomes the last ciphertext block.
    pub fn cbcs_encrypt(&self, iv: &mut Block, pattern: Pattern, data: &mut [u8]) {
        lanes::encrypt_one(self.encrypt_key(), iv, pattern, data.as_chunks_mut().0.into());
    }

    /// Decrypts `data` in place: the inverse of [`cbcs_encrypt`](Self::cbcs_encrypt).
    pub fn cbcs_decrypt(&self, iv: &mut Block, pattern: Pattern, data: &mut [u8]) {
        let (data, _) = data.as_chunks_mut();
        let (run, period) = (pattern.run(), pattern.period());
        let (full, rest) = data.split_at_mut((pattern.runs(data.len()) * period).min(data.len()));
        // One block in each period: blocks at a constant distance, which fill vectors. Longer runs
        // are contiguous, each a group of its own.
        if run == 1 || run == period {
            self.decrypt_strided(iv, if run == 1 { period } else { 1 }, full.into());
        } else {
            for unit in full.chunks_mut(period) {
                self.decrypt_strided(iv, 1, unit[..run].as_mut().into());
            }
        }
        let (_, truncated) = pattern.truncated_run(full.len() + rest.len());
        self.decrypt_strided(iv, 1, rest[..truncated].as_mut().into());
    }

    #[inline(always)]
    fn decrypt_strided(&self, iv: &mut Block, stride: usize, data: InOutBlocks<'_, '_>) {
        let mut mode = CbcDecrypt { before: *iv, stride };
        self.level().run(InFlight { mode: &mut mode, keys: self.decrypt_keys(), data });
        *iv = mode.before;
    }
}
