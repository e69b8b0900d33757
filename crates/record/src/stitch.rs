//! CBC and a hash in one loop.

use core::marker::PhantomData;

use lanelock_core::{
    Block, Error, Key, SizedCipher,
    cipher::{Cipher, CipherKeys, SameKey, Schedule},
};
use lanelock_digest::{
    ShaLevel,
    algorithm::{Compress, MerkleDamgard, State},
    compression::{Compression, compress},
};
use lanelock_isa::{AesClmul, BesideRounds, ShaRounds, StitchedKernel, run_stitched, wipe};

/// Takes `text` from `begun` on, whole blocks of the hash, into the state, and encrypts as many bytes of it from its
/// beginning.
pub(crate) fn stitch<C: SizedCipher, A: MerkleDamgard>(
    (key, iv): (&Key<C>, &mut Block),
    (level, state): (ShaLevel, &mut State<A>),
    text: &mut [u8],
    begun: usize,
) -> Result<(), Error> {
    let kernel =
        Stitched::<C::Cipher, A> { keys: key.encrypt_keys(), iv, state, text: &mut *text, begun };
    if Compress::<A>::BLOCK == BLOCK
        && run_stitched(key.level(), level, kernel).is_ok_and(|done| done)
    {
        return Ok(());
    }
    let block = Compress::<A>::BLOCK;
    for at in (0..text.len() - begun).step_by(block) {
        compress::<Compress<A>>(level, state, &text[begun + at..][..block]);
        key.cbc_encrypt(iv, &mut text[at..at + block])?;
    }
    Ok(())
}

struct Stitched<'a, C: Cipher, A: MerkleDamgard> {
    keys: Schedule<'a, C>,
    iv: &'a mut Block,
    state: &'a mut State<A>,
    text: &'a mut [u8],
    begun: usize,
}

impl<C: Cipher, A: MerkleDamgard> StitchedKernel for Stitched<'_, C, A> {
    /// Whether there were instructions for the hash. If not, nothing is done.
    type Out = bool;

    #[inline(always)]
    fn run<S: AesClmul, H: ShaRounds>(self, s: S, h: H) -> bool {
        let Self { keys, iv, state, text, begun } = self;
        let keys = SameKey::new(s, keys);
        let mut before = s.load(core::slice::from_ref(iv));
        let mut staged = [0; AT_ONCE];
        let mut at = 0;
        while at < text.len() - begun {
            // The hash is ahead, in a copy: the cipher writes over what the hash has yet to read.
            let bytes = AT_ONCE.min(text.len() - begun - at);
            let staged = &mut staged[..bytes];
            staged.copy_from_slice(&text[begun + at..][..bytes]);
            let blocks = text[at..at + bytes].as_chunks_mut().0;
            let mut cipher =
                CbcBeside::<S, C, _> { s, keys, before, blocks, next: 0, cipher: PhantomData };
            if !Compress::<A>::by_instructions(h, state, staged, &mut cipher) {
                // In the first turn, before anything is done.
                return false;
            }
            before = cipher.before;
            at += bytes;
        }
        wipe(&mut staged);
        s.store(before, core::slice::from_mut(iv));
        true
    }
}

/// Bytes in a block of the hashes that have instructions.
const BLOCK: usize = 64;

/// Bytes that one call hashes: the state changes its form around it.
const AT_ONCE: usize = 16 * BLOCK;

/// As many blocks of CBC as a block of the hash has: one in each quarter of its rounds.
struct CbcBeside<'a, S: AesClmul, C, K> {
    s: S,
    keys: K,
    before: S::V,
    blocks: &'a mut [Block],
    next: usize,
    cipher: PhantomData<C>,
}

impl<S: AesClmul, C: Cipher, K: CipherKeys<S, C>> BesideRounds for CbcBeside<'_, S, C, K> {
    #[inline(always)]
    fn quarter(&mut self) {
        let (s, keys) = (self.s, self.keys);
        let block = core::slice::from_mut(&mut self.blocks[self.next]);
        self.next += 1;
        let plain = C::whiten(s, s.load(block), keys, 0);
        [self.before] = C::encrypt_whitened::<_, 1>(s, [s.xor(self.before, plain)], keys);
        s.store(self.before, block);
    }
}
