//! A message that comes piece by piece.

use core::fmt;

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel, wipe};
use zeroize::ZeroizeOnDrop;

use super::{
    MOST_BYTES, Ocb3Key, block, finish, first_offset,
    flow::{Aad, Flow, Ocb3Text, Pass},
    format_nonce, hash_partial, partial, top,
};
use crate::Stream;
use lanelock_core::{
    Error, InOut,
    cipher::{Cipher, Schedule},
    parts::{InOutBlocks, copy_tag},
};

/// A message that comes piece by piece: see [`Ocb3::sealer`](super::Ocb3::sealer).
pub struct Ocb3Stream<'k, C: Cipher> {
    ocb: &'k Ocb3Key<C>,
    aad: FlowState,
    text: FlowState,
    /// AAD that does not fill a block yet: the first `waiting` bytes.
    part: Block,
    waiting: usize,
    /// Whether a partial block of text has come: it is the last one.
    ended: bool,
}

/// A [`Flow`] in memory. Zeroised on drop.
struct FlowState {
    offset: Block,
    sum: Block,
    blocks: u64,
}

impl FlowState {
    fn new(offset: Block) -> Self {
        Self { offset, sum: [0; 16], blocks: 0 }
    }

    fn wipe(&mut self) {
        wipe(&mut self.offset);
        wipe(&mut self.sum);
    }
}

impl Drop for FlowState {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<'k, C: Cipher> Ocb3Stream<'k, C> {
    pub(super) fn new(ocb: &'k Ocb3Key<C>, nonce: &[u8]) -> Result<Self, Error> {
        ocb.check(nonce.len(), 0, 0, ocb.tag_length)?;
        let nonce = format_nonce(nonce, ocb.tag_length);
        let mut ktop = block(top(nonce));
        ocb.schedules.encrypt.encrypt_block(&mut ktop);
        let stream = Self {
            ocb,
            aad: FlowState::new([0; 16]),
            text: FlowState::new(block(first_offset(&ktop, nonce))),
            part: [0; 16],
            waiting: 0,
            ended: false,
        };
        wipe(&mut ktop);
        Ok(stream)
    }

    fn hash(&mut self, blocks: &[Block]) {
        let Self { ocb, aad, .. } = self;
        let keys = ocb.round_keys(false);
        ocb.level().run(Resume { ocb, place: aad, keys, data: Aad(blocks) });
    }

    fn crypt<const SEAL: bool>(&mut self, data: InOut<'_, '_>) {
        let Self { ocb, text, .. } = self;
        let (blocks, rest) = InOutBlocks::split(data);
        let keys = ocb.round_keys(!SEAL);
        let data = Ocb3Text::<SEAL>(blocks);
        ocb.level().run(Resume { ocb, place: text, keys, data });
        // A partial block is encrypted with another offset, so nothing can follow it.
        if !rest.is_empty() {
            self.ended = true;
            ocb.level().run(Partial::<_, SEAL> { ocb, place: text, rest });
        }
    }
}

impl<C: Cipher> Stream for Ocb3Stream<'_, C> {
    fn aad(&mut self, mut aad: &[u8]) {
        if self.waiting > 0 {
            let (now, later) = aad.split_at(aad.len().min(16 - self.waiting));
            self.part[self.waiting..][..now.len()].copy_from_slice(now);
            self.waiting += now.len();
            aad = later;
            if self.waiting == 16 {
                let part = self.part;
                self.hash(&[part]);
                self.waiting = 0;
            }
        }
        let (blocks, rest) = aad.as_chunks();
        if !blocks.is_empty() {
            self.hash(blocks);
        }
        if !rest.is_empty() {
            self.part[..rest.len()].copy_from_slice(rest);
            self.waiting = rest.len();
        }
    }

    fn encrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<true>(data);
    }

    fn decrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<false>(data);
    }

    fn text_left(&self) -> u64 {
        if self.ended { 0 } else { MOST_BYTES - 16 * self.text.blocks }
    }

    fn finish(&mut self, tag: &mut [u8]) {
        let part = &self.part[..self.waiting];
        let Self { ocb, aad, text, .. } = &*self;
        let mut full = ocb.level().run(FinishText { ocb, aad, part, text });
        copy_tag(&full, tag);
        wipe(&mut full);
        self.aad.wipe();
        self.text.wipe();
    }
}

impl<C: Cipher> ZeroizeOnDrop for Ocb3Stream<'_, C> {}

impl<C: Cipher> fmt::Debug for Ocb3Stream<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.ocb.schedules.encrypt;
        write!(f, "Ocb3Stream({}Ocb3({}))", key.name(), key.level())
    }
}

/// More whole blocks.
struct Resume<'a, P, C: Cipher> {
    ocb: &'a Ocb3Key<C>,
    place: &'a mut FlowState,
    keys: Schedule<'a, C>,
    data: P,
}

impl<P: Pass, C: Cipher> Kernel for Resume<'_, P, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { ocb, place, keys, mut data } = self;
        let n = s.narrow();
        // In all lanes the same offset; the sum in one lane, since all lanes are added up in the end.
        let mut flow = Flow {
            s,
            masks: &ocb.masks,
            offset: s.splat(&place.offset),
            sum: s.in_first_lane(n.load(&[place.sum])),
            blocks: place.blocks,
        };
        flow.resume::<P, C>(keys, &mut data);
        store(&flow.narrow(), place);
    }
}

/// The last block of text, which is partial.
struct Partial<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    ocb: &'a Ocb3Key<C>,
    place: &'a mut FlowState,
    rest: InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for Partial<'_, '_, '_, C, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { ocb, place, rest } = self;
        let mut flow = load(s.narrow(), ocb, place);
        partial::<S, C, SEAL>(s, &mut flow, ocb.round_keys(false), rest);
        store(&flow, place);
    }
}

/// The tag in full.
struct FinishText<'a, C: Cipher> {
    ocb: &'a Ocb3Key<C>,
    aad: &'a FlowState,
    part: &'a [u8],
    text: &'a FlowState,
}

impl<C: Cipher> Kernel for FinishText<'_, C> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { ocb, aad, part, text } = self;
        let (n, keys) = (s.narrow(), ocb.round_keys(false));
        let mut aad = load(n, ocb, aad);
        if !part.is_empty() {
            hash_partial::<S, C>(s, &mut aad, keys, part);
        }
        finish::<S::Narrow, C>(&load(n, ocb, text), keys, aad.sum)
    }
}

#[inline(always)]
fn load<'a, N: AesClmul, C: Cipher>(n: N, ocb: &'a Ocb3Key<C>, place: &FlowState) -> Flow<'a, N> {
    Flow {
        s: n,
        masks: &ocb.masks,
        offset: n.load(&[place.offset]),
        sum: n.load(&[place.sum]),
        blocks: place.blocks,
    }
}

#[inline(always)]
fn store<N: AesClmul>(flow: &Flow<'_, N>, place: &mut FlowState) {
    flow.s.store(flow.offset, core::slice::from_mut(&mut place.offset));
    flow.s.store(flow.sum, core::slice::from_mut(&mut place.sum));
    place.blocks = flow.blocks;
}
