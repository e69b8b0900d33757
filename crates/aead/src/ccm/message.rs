//! One message: the chain of the MAC, and CTR beside it.

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel};

use super::{Start, split_aad};
use lanelock_core::{
    InOut,
    cipher::{Cipher, EncryptKey, SameKey},
    parts::{InOutBlocks, absorb},
};

/// A whole message: returns the tag in full length.
pub(super) struct CcmOneShot<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    pub(super) key: &'a EncryptKey<C>,
    pub(super) start: Start,
    pub(super) aad: &'a [u8],
    pub(super) data: &'a mut InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for CcmOneShot<'_, '_, '_, C, SEAL> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { key, start, aad, data } = self;
        let data = data.reborrow();
        let s = s.narrow();
        let keys = SameKey::new(s, key.keys());
        let mut mac = s.load(&[start.first_block(aad.len() as u64)]);
        [mac] = C::encrypt::<_, 1>(s, [mac], keys);
        if !aad.is_empty() {
            let (first, rest) = split_aad(aad);
            [mac] = C::encrypt_xor::<_, 1>(s, [s.load(&[first])], [mac], keys);
            let (blocks, last) = rest.as_chunks();
            mac = absorb(s, keys, mac, blocks);
            if !last.is_empty() {
                [mac] = C::encrypt_xor::<_, 1>(s, [s.load_part(last)], [mac], keys);
            }
        }
        let counter = s.lane_counters(s.load(&[start.counter(1)]));
        let mut text = CcmPass::<_, C> { s, keys, mac, counter };
        let (blocks, mut last) = InOutBlocks::split(data);
        text.blocks::<SEAL>(blocks);
        if !last.is_empty() {
            // Zeros behind the text for the MAC (`keep`, `load_part`).
            let (stream, bytes) = (text.stream(), last.len());
            let input = s.load_part(last.get_in());
            let output = s.xor(input, stream);
            s.store_part(output, last.get_out());
            let plain = if SEAL { input } else { s.keep(output, bytes) };
            [text.mac] = C::encrypt_xor::<_, 1>(s, [plain], [text.mac], keys);
        }
        let [mask] = C::encrypt::<_, 1>(s, [s.load(&[start.a0])], keys);
        let mut tag = [[0; 16]];
        s.store(s.xor(text.mac, mask), &mut tag);
        tag[0]
    }
}

/// Text on its way through MAC and CTR.
struct CcmPass<'k, S: AesClmul, C: Cipher> {
    s: S,
    keys: SameKey<'k, S, C>,
    mac: S::V,
    counter: S::V,
}

impl<S: AesClmul, C: Cipher> CcmPass<'_, S, C> {
    /// The next block of the key stream.
    #[inline(always)]
    fn stream(&mut self) -> S::V {
        let counter = self.s.counter_blocks(self.counter);
        self.counter = self.s.counters_add(self.counter, 1);
        let [stream] = C::encrypt::<_, 1>(self.s, [counter], self.keys);
        stream
    }

    /// Block `at`, encrypted or decrypted; returns what the MAC takes.
    #[inline(always)]
    fn crypt<const SEAL: bool>(&mut self, data: &mut InOutBlocks<'_, '_>, at: usize) -> S::V {
        let s = self.s;
        let input = s.load(&data.input()[at..]);
        let output = s.xor(input, self.stream());
        s.store(output, &mut data.output()[at..]);
        if SEAL { input } else { output }
    }

    /// Whole blocks. As in [`absorb`], round key 0 is added to each in advance, and the sum to the
    /// last round key of the block before.
    #[inline(always)]
    fn blocks<const SEAL: bool>(&mut self, mut data: InOutBlocks<'_, '_>) {
        if data.is_empty() {
            return;
        }
        // `crypt` of block `at` stands before the step of the MAC that takes block `at - 1`: two
        // encryptions that do not wait for each other. The processor overlaps them by itself, since
        // a round of each is all that is in flight. Registers with 11 round keys: the MAC, the key
        // stream, the counter, the text, the next block, and the keys: 16 and more, so that at
        // `aesni` some keys are operands in memory.
        let (s, keys) = (self.s, self.keys);
        let first = C::whiten(s, self.crypt::<SEAL>(&mut data, 0), keys, 0);
        let mut v = s.xor(self.mac, first);
        for at in 1..data.len() {
            let next = C::whiten(s, self.crypt::<SEAL>(&mut data, at), keys, 0);
            [v] = C::encrypt_whitened_xor::<_, 1>(s, [v], [next], keys);
        }
        [self.mac] = C::encrypt_whitened::<_, 1>(s, [v], keys);
    }
}

/// Whole blocks of a message that comes piece by piece: MAC and counter go on.
pub(super) struct CcmPiece<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    pub(super) key: &'a EncryptKey<C>,
    pub(super) mac: &'a mut Block,
    pub(super) counter: &'a mut Block,
    pub(super) data: InOutBlocks<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for CcmPiece<'_, '_, '_, C, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { key, mac, counter, data } = self;
        let s = s.narrow();
        let keys = SameKey::new(s, key.keys());
        let first = s.lane_counters(s.load(core::slice::from_ref(counter)));
        let before = s.load(core::slice::from_ref(mac));
        let mut text = CcmPass::<_, C> { s, keys, mac: before, counter: first };
        text.blocks::<SEAL>(data);
        s.store(text.mac, core::slice::from_mut(mac));
        s.store(s.counter_blocks(text.counter), core::slice::from_mut(counter));
    }
}
