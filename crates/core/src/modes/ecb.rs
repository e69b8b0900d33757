//! ECB (NIST SP 800-38A, 6.1): single blocks, for test vectors and for building other modes.

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel};

use super::{InFlight, Mode};
use crate::{
    Error,
    cipher::{Cipher, EncryptKey, Key, SameKey, Schedule, SizedCipher},
    inout::{InOut, InOutBlocks},
};

/// Each block by itself.
pub(crate) struct Ecb<const ENCRYPT: bool>;

impl<const ENCRYPT: bool> Mode for Ecb<ENCRYPT> {
    #[inline(always)]
    fn groups<C: Cipher, S: AesClmul, const N: usize>(
        &mut self,
        s: S,
        keys: SameKey<'_, S, C>,
        mut data: InOutBlocks<'_, '_>,
    ) -> usize {
        // C_j = E(K, P_j): with `N` = 8 and 11 round keys 19 registers.
        let mut at = 0;
        while data.len() - at >= N * S::WIDTH {
            let mut v = load_group::<S, N>(s, &data, at);
            v = if ENCRYPT { C::encrypt(s, v, keys) } else { C::decrypt(s, v, keys) };
            let group = &mut data.output()[at..][..N * S::WIDTH];
            for i in 0..N {
                s.store(v[i], &mut group[i * S::WIDTH..]);
            }
            at += N * S::WIDTH;
        }
        at
    }
}

/// The group of `N` vectors at block `at`.
#[inline(always)]
pub fn load_group<S: AesClmul, const N: usize>(
    s: S,
    data: &InOutBlocks<'_, '_>,
    at: usize,
) -> [S::V; N] {
    let group = &data.input()[at..][..N * S::WIDTH];
    let mut v = [s.load(group); N];
    for i in 1..N {
        v[i] = s.load(&group[i * S::WIDTH..]);
    }
    v
}

impl<C: SizedCipher> Key<C> {
    /// Encrypts one block.
    pub fn encrypt_block(&self, block: &mut Block) {
        self.encrypt_key().encrypt_block(block);
    }

    /// Decrypts one block.
    pub fn decrypt_block(&self, block: &mut Block) {
        self.ecb::<false>(self.decrypt_keys(), core::slice::from_mut(block).into());
    }

    /// Encrypts each block of `data` by itself. ECB shows which blocks are equal: it protects no
    /// message.
    ///
    /// # Errors
    /// [`Error::PartialBlock`] if `data` is not whole blocks; nothing is changed then.
    pub fn ecb_encrypt(&self, data: &mut [u8]) -> Result<(), Error> {
        self.ecb_encrypt_inout(data.into())
    }

    /// [`ecb_encrypt`](Self::ecb_encrypt), in place or from one buffer to another.
    pub fn ecb_encrypt_inout(&self, data: InOut<'_, '_>) -> Result<(), Error> {
        self.ecb::<true>(self.encrypt_keys(), whole_blocks(data)?);
        Ok(())
    }

    /// Decrypts each block of `data` by itself.
    ///
    /// # Errors
    /// As [`ecb_encrypt`](Self::ecb_encrypt).
    pub fn ecb_decrypt(&self, data: &mut [u8]) -> Result<(), Error> {
        self.ecb_decrypt_inout(data.into())
    }

    /// [`ecb_decrypt`](Self::ecb_decrypt), in place or from one buffer to another.
    pub fn ecb_decrypt_inout(&self, data: InOut<'_, '_>) -> Result<(), Error> {
        self.ecb::<false>(self.decrypt_keys(), whole_blocks(data)?);
        Ok(())
    }

    fn ecb<const ENCRYPT: bool>(&self, keys: Schedule<'_, C::Cipher>, data: InOutBlocks<'_, '_>) {
        self.level().run(InFlight { mode: &mut Ecb::<ENCRYPT>, keys, data });
    }
}

impl<C: Cipher> EncryptKey<C> {
    /// Encrypts one block.
    #[inline]
    pub fn encrypt_block(&self, block: &mut Block) {
        self.level().run(OneBlock { keys: self.keys(), block });
    }

    /// Encrypts each block by itself.
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        let mode = &mut Ecb::<true>;
        self.level().run(InFlight { mode, keys: self.keys(), data: blocks.into() });
    }
}

/// Encrypts one block: without the round keys of wide vectors, which would not all fit into registers.
struct OneBlock<'a, C: Cipher> {
    keys: Schedule<'a, C>,
    block: &'a mut Block,
}

impl<C: Cipher> Kernel for OneBlock<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, block } = self;
        let (n, block) = (s.narrow(), core::slice::from_mut(block));
        let [v] = C::encrypt(n, [n.load(block)], SameKey::new(n, keys));
        n.store(v, block);
    }
}

/// `data` as blocks, if it is whole blocks.
pub(super) fn whole_blocks<'i, 'o>(data: InOut<'i, 'o>) -> Result<InOutBlocks<'i, 'o>, Error> {
    let (blocks, rest) = InOutBlocks::split(data);
    if rest.is_empty() { Ok(blocks) } else { Err(Error::PartialBlock) }
}
