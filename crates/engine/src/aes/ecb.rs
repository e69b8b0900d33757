//! ECB (NIST SP 800-38A, 6.1): single blocks, for test vectors and for building other modes.

use lanelock_isa::{Block, Blocks, SameKey};

use super::{Aes, InFlight, Mode};
use crate::Error;

struct Ecb<const ENCRYPT: bool>;

impl<const ENCRYPT: bool> Mode for Ecb<ENCRYPT> {
    #[inline(always)]
    fn groups<S: Blocks, const N: usize, const R: usize>(
        &mut self,
        s: S,
        keys: SameKey<S::K, R>,
        data: &mut [Block],
    ) -> usize {
        let mut done = 0;
        for group in data.chunks_exact_mut(N * S::WIDTH) {
            let mut v = [s.load(group); N];
            for i in 1..N {
                v[i] = s.load(&group[i * S::WIDTH..]);
            }
            v = if ENCRYPT { s.encrypt::<N, R>(v, keys) } else { s.decrypt::<N, R>(v, keys) };
            for i in 0..N {
                s.store(v[i], &mut group[i * S::WIDTH..]);
            }
            done += N * S::WIDTH;
        }
        done
    }
}

impl<const R: usize> Aes<R> {
    /// Encrypts one block.
    pub fn encrypt_block(&self, block: &mut Block) {
        let data = core::slice::from_mut(block);
        self.level.run(InFlight { mode: &mut Ecb::<true>, keys: &self.encrypt, data });
    }

    /// Decrypts one block.
    pub fn decrypt_block(&self, block: &mut Block) {
        let data = core::slice::from_mut(block);
        self.level.run(InFlight { mode: &mut Ecb::<false>, keys: &self.decrypt, data });
    }

    /// Encrypts each block of `data` by itself. ECB shows which blocks are equal: it protects no
    /// message.
    pub fn ecb_encrypt(&self, data: &mut [u8]) -> Result<(), Error> {
        let data = whole_blocks(data)?;
        self.level.run(InFlight { mode: &mut Ecb::<true>, keys: &self.encrypt, data });
        Ok(())
    }

    /// Decrypts each block of `data` by itself.
    pub fn ecb_decrypt(&self, data: &mut [u8]) -> Result<(), Error> {
        let data = whole_blocks(data)?;
        self.level.run(InFlight { mode: &mut Ecb::<false>, keys: &self.decrypt, data });
        Ok(())
    }
}

/// `data` as blocks, if it is whole blocks.
pub(super) fn whole_blocks(data: &mut [u8]) -> Result<&mut [Block], Error> {
    match data.as_chunks_mut() {
        (blocks, []) => Ok(blocks),
        _ => Err(Error::PartialBlock),
    }
}
