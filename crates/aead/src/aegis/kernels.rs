//! The kernels: a whole message with its state in registers, and the pieces of one.
//!
//! A vector holds one word of the state for as many lanes as it has blocks. Where the degree is
//! higher, the lanes are done one vector after the other, each over the whole message: eight rounds
//! that do not wait for each other already fill the units, and more words than there are registers
//! would go through memory.
//!
//! An update is one AES round for each word of the state: 8 in AEGIS-128L and 128X, 6 in the 256
//! family. With two rounds started a cycle that is 4 or 3 cycles. But every word is made from words
//! of the update before by a round with a latency of 4: so an update takes 4 cycles, and a little
//! more since words to which the message is added have an exclusive or on top. Only other lanes
//! could fill what is left.
//!
//! Registers of AEGIS-128: 8 words, 2 of key stream, 2 of text: 12, and temporaries; of AEGIS-256: 8.

use lanelock_isa::{AesClmul, AesRounds, Block, Blocks as _, Kernel};

use super::family::Core;
use lanelock_core::{InOut, parts::InOutBlocks};

/// Work on the state of `D` lanes, done for some of them at a time.
pub(super) trait Lanes<const D: usize> {
    /// The result.
    type Out;
    /// Does the lanes that begin at `lane`, as many as a vector has.
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize);
    /// Puts together what the lanes have left, in single blocks.
    fn end<S: AesRounds>(self, s: S) -> Self::Out;
}

/// Runs work on lanes at the width that suits the degree.
pub(super) struct InLanes<L, const D: usize>(pub(super) L);

impl<L: Lanes<D>, const D: usize> Kernel for InLanes<L, D> {
    type Out = L::Out;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> L::Out {
        let Self(mut work) = self;
        match D {
            // Wider vectors than the state has lanes would compute lanes that do not exist.
            1 => every_lane(s.narrow(), &mut work),
            2 => every_lane(s.pair(), &mut work),
            _ => every_lane(s, &mut work),
        }
        work.end(s.narrow())
    }
}

#[inline(always)]
fn every_lane<S: AesRounds, L: Lanes<D>, const D: usize>(s: S, work: &mut L) {
    let mut lane = 0;
    while lane < D {
        work.lanes(s, lane);
        lane += S::WIDTH;
    }
}

/// A state in memory.
pub(super) type State<C, const D: usize> = <C as Core>::Words<[Block; D]>;
/// What an update absorbs, in memory.
pub(super) type Absorbed<C, const D: usize> = <C as Core>::Rate<[Block; D]>;

/// The lengths of AAD and text in bits, or those of data and tag of a MAC.
#[derive(Clone, Copy)]
pub(super) struct Lengths(pub(super) [u64; 2]);

/// Seals or opens a message, and adds its tag to `tag`.
pub(super) struct AegisMessage<'a, 'i, 'o, C: Core, const D: usize, const ENCRYPT: bool> {
    pub(super) key: &'a C::Key,
    pub(super) nonce: &'a C::Key,
    pub(super) aad: &'a [u8],
    /// What fills updates.
    pub(super) text: InOutBlocks<'i, 'o>,
    /// What does not.
    pub(super) rest: InOut<'i, 'o>,
    pub(super) lengths: Lengths,
    pub(super) long: bool,
    /// In the place of the caller, who wipes it: a result that is moved leaves a copy.
    pub(super) tag: &'a mut [Block; 2],
}

impl<C: Core, const D: usize, const ENCRYPT: bool> Lanes<D>
    for AegisMessage<'_, '_, '_, C, D, ENCRYPT>
{
    type Out = ();

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let mut v = init::<C, S, D>(s, self.key, self.nonce, lane);
        // AAD, text and lengths of one vector of lanes after the other: the state stays in registers
        // from the first update to the tag, and the message is walked through once for each vector
        // of lanes.
        v = absorb::<C, S, D>(s, v, self.aad, lane);
        v = crypt::<C, S, D, ENCRYPT>(s, v, self.text.reborrow(), lane);
        v = crypt_rest::<C, S, D, ENCRYPT>(s, v, self.rest.reborrow(), lane);
        v = finalize::<C, S>(s, v, self.lengths);
        add_tag::<C, S>(s, v, self.long, self.tag);
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, _: S) {}
}

/// The MAC of a message.
pub(super) struct Mac<'a, C: Core, const D: usize> {
    pub(super) key: &'a C::Key,
    pub(super) nonce: &'a C::Key,
    pub(super) data: &'a [u8],
    pub(super) lengths: Lengths,
    pub(super) parts: MacParts<C, D>,
}

impl<C: Core, const D: usize> Lanes<D> for Mac<'_, C, D> {
    type Out = [Block; 2];

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let mut v = init::<C, S, D>(s, self.key, self.nonce, lane);
        v = absorb::<C, S, D>(s, v, self.data, lane);
        self.parts.add(s, v, self.lengths, lane);
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, s: S) -> [Block; 2] {
        self.parts.end(s)
    }
}

/// The first state of a message that comes in pieces.
pub(super) struct Begin<'a, C: Core, const D: usize> {
    pub(super) key: &'a C::Key,
    pub(super) nonce: &'a C::Key,
    pub(super) state: &'a mut State<C, D>,
}

impl<C: Core, const D: usize> Lanes<D> for Begin<'_, C, D> {
    type Out = ();

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let v = init::<C, S, D>(s, self.key, self.nonce, lane);
        store::<C, S, D>(s, v, self.state, lane);
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, _: S) {}
}

/// Absorbs a piece of AAD, or of the data of a MAC; zeros fill its last update.
pub(super) struct Absorb<'a, C: Core, const D: usize> {
    pub(super) state: &'a mut State<C, D>,
    pub(super) data: &'a [u8],
}

impl<C: Core, const D: usize> Lanes<D> for Absorb<'_, C, D> {
    type Out = ();

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let mut v = load::<C, S, D>(s, self.state, lane);
        v = absorb::<C, S, D>(s, v, self.data, lane);
        store::<C, S, D>(s, v, self.state, lane);
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, _: S) {}
}

/// Encrypts or decrypts a piece of text that fills updates, and gives the keystream of the next.
#[expect(clippy::struct_field_names, reason = "the text of the piece")]
pub(super) struct Text<'a, 'i, 'o, C: Core, const D: usize, const ENCRYPT: bool> {
    pub(super) state: &'a mut State<C, D>,
    pub(super) text: InOutBlocks<'i, 'o>,
    pub(super) keystream: &'a mut Absorbed<C, D>,
}

impl<C: Core, const D: usize, const ENCRYPT: bool> Lanes<D> for Text<'_, '_, '_, C, D, ENCRYPT> {
    type Out = ();

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let mut v = load::<C, S, D>(s, self.state, lane);
        v = crypt::<C, S, D, ENCRYPT>(s, v, self.text.reborrow(), lane);
        store::<C, S, D>(s, v, self.state, lane);
        let z = C::keystream(s, v);
        for i in 0..C::RATE {
            s.store(z.as_ref()[i], &mut self.keystream.as_mut()[i][lane..]);
        }
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, _: S) {}
}

/// The tag of a message that came in pieces.
pub(super) struct Finish<'a, C: Core, const D: usize> {
    pub(super) state: &'a State<C, D>,
    pub(super) lengths: Lengths,
    pub(super) long: bool,
    pub(super) tag: [Block; 2],
}

impl<C: Core, const D: usize> Lanes<D> for Finish<'_, C, D> {
    type Out = [Block; 2];

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let mut v = load::<C, S, D>(s, self.state, lane);
        v = finalize::<C, S>(s, v, self.lengths);
        add_tag::<C, S>(s, v, self.long, &mut self.tag);
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, _: S) -> [Block; 2] {
        self.tag
    }
}

/// The MAC of data that came in pieces.
pub(super) struct FinishMac<'a, C: Core, const D: usize> {
    pub(super) state: &'a State<C, D>,
    pub(super) lengths: Lengths,
    pub(super) parts: MacParts<C, D>,
}

impl<C: Core, const D: usize> Lanes<D> for FinishMac<'_, C, D> {
    type Out = [Block; 2];

    #[inline(always)]
    fn lanes<S: AesRounds>(&mut self, s: S, lane: usize) {
        let v = load::<C, S, D>(s, self.state, lane);
        self.parts.add(s, v, self.lengths, lane);
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, s: S) -> [Block; 2] {
        self.parts.end(s)
    }
}

/// `FinalizeMac` (draft, 8): the tags of all lanes, which the first lane absorbs.
pub(super) struct MacParts<C: Core, const D: usize> {
    long: bool,
    /// The first lane after all updates.
    first: C::Words<Block>,
    tags: [[Block; D]; 2],
}

impl<C: Core, const D: usize> MacParts<C, D> {
    pub(super) fn new(long: bool) -> Self {
        Self { long, first: C::words([0; 16]), tags: [[[0; 16]; D]; 2] }
    }

    #[inline(always)]
    fn add<S: AesRounds>(&mut self, s: S, v: C::Words<S::V>, lengths: Lengths, lane: usize) {
        let v = finalize::<C, S>(s, v, lengths);
        let tag = C::tag(s, v, self.long);
        s.store(tag[0], &mut self.tags[0][lane..]);
        s.store(tag[1], &mut self.tags[1][lane..]);
        if lane == 0 {
            // Lane 0 is in the first vector: kept, because it absorbs the other tags in the end.
            for (first, word) in self.first.as_mut().iter_mut().zip(v.as_ref()) {
                let mut blocks = [[0; 16]; 4];
                s.store(*word, &mut blocks);
                *first = blocks[0];
            }
        }
    }

    #[inline(always)]
    fn end<S: AesRounds>(self, s: S) -> [Block; 2] {
        let [low, high] = &self.tags;
        if D == 1 {
            return [low[0], high[0]];
        }
        // In the draft the tags of lanes 1 to D - 1 are absorbed, and lane 0 absorbs them. With
        // short tags in the 128 family an update takes two tags: there the tag of lane 0 is absorbed
        // as well.
        let mut blocks = [[0; 16]; 8];
        let mut count = 0;
        for lane in 0..D {
            if lane > 0 || (!self.long && C::RATE == 2) {
                blocks[count] = low[lane];
                count += 1;
                if self.long {
                    blocks[count] = high[lane];
                    count += 1;
                }
            }
        }
        let mut v = C::words(s.zero());
        for (word, first) in v.as_mut().iter_mut().zip(self.first.as_ref()) {
            *word = s.splat(first);
        }
        let mut at = 0;
        while at < count {
            let mut m = C::rate(s.zero());
            for i in 0..C::RATE {
                m.as_mut()[i] = s.splat(&blocks[at + i]);
            }
            v = C::update(s, v, m, C::rate(s.zero()));
            at += C::RATE;
        }
        v = finalize::<C, S>(s, v, Lengths([D as u64, if self.long { 256 } else { 128 }]));
        let mut tag = [[0; 16]; 2];
        add_tag::<C, S>(s, v, self.long, &mut tag);
        tag
    }
}

#[inline(always)]
fn init<C: Core, S: AesRounds, const D: usize>(
    s: S,
    key: &C::Key,
    nonce: &C::Key,
    lane: usize,
) -> C::Words<S::V> {
    // A single lane has no context: AEGIS-128L and AEGIS-256 as they were before the X variants.
    let context = if D > 1 { Some(s.load(&Contexts::<D>::ALL[lane..])) } else { None };
    C::init(s, key, nonce, context)
}

/// The contexts of all lanes: the number of the lane and the highest number.
struct Contexts<const D: usize>;

impl<const D: usize> Contexts<D> {
    #[expect(clippy::cast_possible_truncation, reason = "at most 4")]
    const ALL: [Block; D] = {
        let mut all = [[0; 16]; D];
        let mut lane = 0;
        while lane < D {
            all[lane][0] = lane as u8;
            all[lane][1] = (D - 1) as u8;
            lane += 1;
        }
        all
    };
}

#[inline(always)]
fn load<C: Core, S: AesRounds, const D: usize>(
    s: S,
    state: &State<C, D>,
    lane: usize,
) -> C::Words<S::V> {
    let mut v = C::words(s.zero());
    for (word, blocks) in v.as_mut().iter_mut().zip(state.as_ref()) {
        *word = s.load(&blocks[lane..]);
    }
    v
}

#[inline(always)]
fn store<C: Core, S: AesRounds, const D: usize>(
    s: S,
    v: C::Words<S::V>,
    state: &mut State<C, D>,
    lane: usize,
) {
    for (word, blocks) in v.as_ref().iter().zip(state.as_mut()) {
        s.store(*word, &mut blocks[lane..]);
    }
}

#[inline(always)]
fn absorb<C: Core, S: AesRounds, const D: usize>(
    s: S,
    mut v: C::Words<S::V>,
    data: &[u8],
    lane: usize,
) -> C::Words<S::V> {
    let (blocks, _) = data.as_chunks();
    // An update absorbs `RATE` words of `D` lanes; block i * D + lane is word i of its lane.
    let whole = blocks.len() / (C::RATE * D) * (C::RATE * D);
    let mut at = 0;
    while at < whole {
        v = C::update(s, v, load_group::<C, S, D>(s, blocks, at, lane), C::rate(s.zero()));
        at += C::RATE * D;
    }
    let rest = &data[16 * whole..];
    if !rest.is_empty() {
        let mut m = C::rate(s.zero());
        for i in 0..C::RATE {
            // Words and lanes that the data do not reach are zeros: the padding.
            m.as_mut()[i] = s.load_part(part::<S, D>(rest, i, lane));
        }
        v = C::update(s, v, m, C::rate(s.zero()));
    }
    v
}

#[inline(always)]
fn crypt<C: Core, S: AesRounds, const D: usize, const ENCRYPT: bool>(
    s: S,
    mut v: C::Words<S::V>,
    mut text: InOutBlocks<'_, '_>,
    lane: usize,
) -> C::Words<S::V> {
    let mut at = 0;
    while at < text.len() {
        let z = C::keystream(s, v);
        let input = load_group::<C, S, D>(s, text.input(), at, lane);
        let mut output = input;
        let group = &mut text.output()[at..][..C::RATE * D];
        for i in 0..C::RATE {
            output.as_mut()[i] = s.xor(input.as_ref()[i], z.as_ref()[i]);
            s.store(output.as_ref()[i], &mut group[i * D + lane..]);
        }
        v = next::<C, S, ENCRYPT>(s, v, input, output);
        at += C::RATE * D;
    }
    v
}

/// The last update, which the text does not fill.
#[inline(always)]
fn crypt_rest<C: Core, S: AesRounds, const D: usize, const ENCRYPT: bool>(
    s: S,
    v: C::Words<S::V>,
    mut rest: InOut<'_, '_>,
    lane: usize,
) -> C::Words<S::V> {
    if rest.is_empty() {
        return v;
    }
    let z = C::keystream(s, v);
    // The key stream is added to all of the update, the text is only the beginning of it. When
    // decrypting, what is left behind the text is key stream: `keep` makes it the padding of zeros.
    let mut input = z;
    for i in 0..C::RATE {
        input.as_mut()[i] = s.load_part(part::<S, D>(rest.get_in(), i, lane));
    }
    let mut output = input;
    for i in 0..C::RATE {
        let part = part_mut::<S, D>(rest.get_out(), i, lane);
        let text = s.xor(input.as_ref()[i], z.as_ref()[i]);
        output.as_mut()[i] = if ENCRYPT { text } else { s.keep(text, part.len()) };
        s.store_part(text, part);
    }
    next::<C, S, ENCRYPT>(s, v, input, output)
}

/// The state after a message block: what it absorbs is the plaintext.
#[inline(always)]
fn next<C: Core, S: AesRounds, const ENCRYPT: bool>(
    s: S,
    v: C::Words<S::V>,
    input: C::Rate<S::V>,
    output: C::Rate<S::V>,
) -> C::Words<S::V> {
    let zero = C::rate(s.zero());
    // Encryption has the plaintext before the key stream, decryption only after it: `early` or
    // `late`.
    if ENCRYPT { C::update(s, v, input, zero) } else { C::update(s, v, zero, output) }
}

#[inline(always)]
fn finalize<C: Core, S: AesRounds>(
    s: S,
    mut v: C::Words<S::V>,
    Lengths([low, high]): Lengths,
) -> C::Words<S::V> {
    let t = s.xor(v.as_ref()[C::COUNTED], s.splat_halves(low, high));
    // Seven updates that absorb the lengths, mixed with one word of the state (`Finalize`).
    for _ in 0..7 {
        v = C::update(s, v, C::rate(t), C::rate(s.zero()));
    }
    v
}

/// Adds the tags of the lanes of `v`.
#[inline(always)]
fn add_tag<C: Core, S: AesRounds>(s: S, v: C::Words<S::V>, long: bool, tag: &mut [Block; 2]) {
    let n = s.narrow();
    for (sum, lanes) in tag.iter_mut().zip(C::tag(s, v, long)) {
        // The tag of the message is the exclusive or of the tags of all lanes.
        let new = n.xor(n.splat(sum), s.sum_lanes(lanes));
        n.store(new, core::slice::from_mut(sum));
    }
}

/// What an update absorbs, from block `at` on.
#[inline(always)]
fn load_group<C: Core, S: AesRounds, const D: usize>(
    s: S,
    blocks: &[Block],
    at: usize,
    lane: usize,
) -> C::Rate<S::V> {
    let group = &blocks[at..][..C::RATE * D];
    let mut m = C::rate(s.zero());
    for i in 0..C::RATE {
        m.as_mut()[i] = s.load(&group[i * D + lane..]);
    }
    m
}

/// The bytes of word `i`, of the lanes from `lane` on, that `bytes` still reaches.
#[inline(always)]
fn part<S: AesRounds, const D: usize>(bytes: &[u8], i: usize, lane: usize) -> &[u8] {
    let from = bytes.len().min(16 * (i * D + lane));
    let to = bytes.len().min(16 * (i * D + lane + S::WIDTH));
    &bytes[from..to]
}

#[inline(always)]
fn part_mut<S: AesRounds, const D: usize>(bytes: &mut [u8], i: usize, lane: usize) -> &mut [u8] {
    let from = bytes.len().min(16 * (i * D + lane));
    let to = bytes.len().min(16 * (i * D + lane + S::WIDTH));
    &mut bytes[from..to]
}
