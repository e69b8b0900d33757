//! GCM messages of a few vectors, with a nonce of 12 bytes.
//!
//! Nothing is parallel in a message of a vector: with a 128-bit key ten rounds of four cycles, then the product of
//! the ciphertext (5) and the reduction (a product, 5). So what does not depend on the rounds is computed beside
//! them. There are no loops: up to four vectors of text are a constant of each copy of the code, and of up to eight the
//! first four come before.

use lanelock_isa::{AesClmul, Block, Blocks, Kernel, WIDEST};

use super::GcmKey;
use lanelock_core::{
    InOut,
    cipher::{Cipher, SameKey},
};
use lanelock_hash::field::{Factors, Powers, Sum, most_blocks};

/// The most vectors that are encrypted together.
pub(super) const MOST: usize = 4;

/// How many blocks so many bytes are: `div_ceil` takes three times as many instructions, lest a sum overflow. (Where slices
/// have to be proved long enough, `div_ceil` tells the optimiser more.)
#[inline(always)]
pub(super) fn blocks_of(bytes: usize) -> usize {
    (bytes + 15) >> 4
}

/// Whether a message with so many bytes, a vector of AAD at most, is short, at a level with vectors of `width` blocks: its
/// text is two times [`MOST`] vectors at most, and there are powers for all of it (`Powers::fill`).
#[inline(always)]
pub(super) fn is_short(width: usize, aad: usize, text: usize) -> bool {
    text <= 16 * width * 2 * MOST && blocks_of(aad) + blocks_of(text) < most_blocks(width)
}

/// A message that [is short](is_short), with `ONE_VECTOR` one whose text is a vector at most: that has registers enough, and
/// so no frame. Returns the tag in full.
pub(super) struct Short<'a, 'i, 'o, C: Cipher, const SEAL: bool, const ONE_VECTOR: bool> {
    pub(super) gcm: &'a GcmKey<C>,
    pub(super) nonce: &'a [u8; 12],
    pub(super) aad: &'a [u8],
    pub(super) data: &'a mut InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool, const ONE_VECTOR: bool> Kernel
    for Short<'_, '_, '_, C, SEAL, ONE_VECTOR>
{
    type Out = Block;
    const SPILLS: bool = !ONE_VECTOR;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { gcm, nonce, aad, data } = self;
        let n = s.narrow();
        let blocks = data.len().div_ceil(16);
        let ends = Ends { s, powers: &gcm.powers, aad, bytes: data.len(), blocks };
        let mut text = Text::<S, C, SEAL> {
            s,
            gcm,
            nonce: splat_nonce(s, nonce),
            counters: &COUNTERS.0,
            with_j0: &const { with_j0(S::WIDTH) }.0,
            data: data.reborrow(),
            blocks,
            sum: Sum::zero(s),
        };
        let has_head = !ONE_VECTOR && blocks > MOST * S::WIDTH;
        // Before the rounds of few vectors; behind those of more, since the sum would take registers from them.
        let ends_first = !has_head;
        if has_head {
            text = text.head();
        }
        if ends_first {
            ends.add(&mut text.sum);
        }
        let blocks = text.blocks;
        let Tail { mask, stream, data: mut rest, mut sum } = if blocks < S::WIDTH {
            text.tail::<1, 1>()
        } else if ONE_VECTOR {
            text.tail::<1, 2>()
        } else {
            match (blocks / S::WIDTH, !blocks.is_multiple_of(S::WIDTH)) {
                (1, false) => text.tail::<1, 2>(),
                (1, true) => text.tail::<2, 2>(),
                (2, false) => text.tail::<2, 3>(),
                (2, true) => text.tail::<3, 3>(),
                (3, false) => text.tail::<3, 4>(),
                (3, true) => text.tail::<4, 4>(),
                (4, false) => text.tail::<4, 5>(),
                _ => unreachable!("see `is_short`"),
            }
        };
        if !rest.is_empty() {
            // Said once, so that loads and stores below have no checks of their own.
            assert!(rest.len() <= 16 * S::WIDTH, "the last vector alone is left");
            let bytes = rest.len();
            let factor = gcm.powers.last(bytes.div_ceil(16) + 1).at(s, 0);
            let text = s.load_part(rest.get_in());
            let result = s.xor(stream, text);
            s.store_part(result, rest.get_out());
            // Behind the text the exclusive or left key stream: cleared, as GHASH pads with zeros.
            let ciphertext = if SEAL { s.keep(result, bytes) } else { text };
            sum.add(s, s.reverse(ciphertext), factor);
        }
        if !ends_first {
            ends.add(&mut sum);
        }
        let mut tag = [[0; 16]];
        n.store(n.xor(mask, n.reverse(sum.finish(s))), &mut tag);
        tag[0]
    }
}

/// What is hashed before the text and behind it.
struct Ends<'a, S> {
    s: S,
    powers: &'a Powers,
    aad: &'a [u8],
    /// Of the text.
    bytes: usize,
    blocks: usize,
}

impl<S: AesClmul> Ends<'_, S> {
    /// Adds AAD and lengths. With n blocks of text the last block, the lengths, goes with H, the first of the text with
    /// H^(n+1), and before it the AAD.
    #[inline(always)]
    fn add(&self, sum: &mut Sum<S::V>) {
        let Self { s, powers, aad, bytes, blocks } = *self;
        // Said once, so that slices below have no checks of their own.
        assert!(aad.len() <= 16 * S::WIDTH, "see `is_short`");
        let lengths = s.narrow().splat_halves(bytes as u64 * 8, aad.len() as u64 * 8);
        let last = powers.last(1);
        if aad.is_empty() {
            return sum.add(s, s.in_first_lane(lengths), last.at(s, 0));
        }
        let first = powers.last(aad.len().div_ceil(16) + blocks + 1).at(s, 0);
        let elements = s.reverse(s.load_part(aad));
        if aad.len() <= 16 * (S::WIDTH - 1) {
            // A lane is left over, for the lengths.
            let elements = s.shift_in(s.splat_narrow(lengths), elements);
            sum.add(s, elements, first.shift_in(s, last.splat(s, 0)));
        } else {
            sum.add(s, elements, first);
            sum.add(s, s.in_first_lane(lengths), last.at(s, 0));
        }
    }
}

/// What is left of a text.
struct Text<'a, 'i, 'o, S: AesClmul, C: Cipher, const SEAL: bool> {
    s: S,
    gcm: &'a GcmKey<C>,
    nonce: S::V,
    /// The next of [`COUNTERS`], and of those [with J0](with_j0).
    counters: &'static [Block],
    with_j0: &'static [Block],
    data: InOut<'i, 'o>,
    /// Of `data`, the last of which may be a part.
    blocks: usize,
    sum: Sum<S::V>,
}

impl<'i, 'o, S: AesClmul, C: Cipher, const SEAL: bool> Text<'_, 'i, 'o, S, C, SEAL> {
    /// The first [`MOST`] vectors of a text that has more.
    #[inline(always)]
    fn head(self) -> Self {
        let Self { s, gcm, nonce, mut counters, mut with_j0, data, mut blocks, mut sum } = self;
        let GcmKey { key, powers } = gcm;
        let whole = MOST * S::WIDTH;
        let stream = counter_blocks::<_, MOST>(s, nonce, counters);
        let stream = C::encrypt::<_, MOST>(s, stream, SameKey::new(s, key.keys()));
        let (mut head, data) = data.split_at(16 * whole);
        let of_text = powers.last(blocks + 1);
        for i in 0..MOST {
            apply::<S, SEAL>(s, stream[i], &mut head, i * S::WIDTH, of_text, &mut sum);
        }
        (counters, with_j0) = (&counters[whole..], &with_j0[whole..]);
        blocks -= whole;
        Self { s, gcm, nonce, counters, with_j0, data, blocks, sum }
    }

    /// Encrypts all of the `N` vectors that are left but the last, which may be a part and is returned with its key stream.
    /// Counters and J0 are `M` vectors: one more than `N` if the text leaves no lane to J0.
    #[inline(always)]
    fn tail<const N: usize, const M: usize>(self) -> Tail<'i, 'o, S> {
        let Self { s, gcm, nonce, counters, with_j0, mut data, blocks, mut sum } = self;
        let GcmKey { key, powers } = gcm;
        let at = (N - 1) * S::WIDTH;
        // Said once, so that slices below have no checks of their own between the rounds.
        assert!(data.len() >= 16 * at, "whole vectors before the last");
        let mut stream = [nonce; M];
        stream[..N].copy_from_slice(&counter_blocks::<_, N>(s, nonce, counters));
        // The last lane of the last vector encrypts J0.
        let last = if M == N { s.load(&with_j0[at..]) } else { s.splat(&ONE) };
        stream[M - 1] = s.xor(nonce, last);
        stream = C::encrypt::<_, M>(s, stream, SameKey::new(s, key.keys()));
        let mask = s.last_narrow(stream[M - 1]);
        let of_text = powers.last(blocks + 1);
        for i in 0..N - 1 {
            apply::<S, SEAL>(s, stream[i], &mut data, i * S::WIDTH, of_text, &mut sum);
        }
        let (_, data) = data.split_at(16 * at);
        Tail { mask, stream: stream[N - 1], data, sum }
    }
}

/// What is left of a text behind its whole vectors but the last: that one, of which a part may count.
struct Tail<'i, 'o, S: AesClmul> {
    /// The block E(K, J0).
    mask: <S::Narrow as Blocks>::V,
    stream: S::V,
    data: InOut<'i, 'o>,
    sum: Sum<S::V>,
}

/// Encrypts or decrypts the whole vector at block `at`, and adds its product.
#[inline(always)]
fn apply<S: AesClmul, const SEAL: bool>(
    s: S,
    stream: S::V,
    data: &mut InOut<'_, '_>,
    at: usize,
    powers: Factors<'_>,
    sum: &mut Sum<S::V>,
) {
    let text = s.load(&data.get_in().as_chunks().0[at..]);
    let result = s.xor(stream, text);
    s.store(result, &mut data.get_out().as_chunks_mut().0[at..]);
    let ciphertext = if SEAL { result } else { text };
    sum.add(s, s.reverse(ciphertext), powers.at(s, at));
}

/// The counter blocks of `N` vectors: `nonce` in all lanes, and the first of these counters.
#[inline(always)]
pub(super) fn counter_blocks<S: Blocks, const N: usize>(
    s: S,
    nonce: S::V,
    counters: &[Block],
) -> [S::V; N] {
    let mut blocks = [nonce; N];
    for i in 0..N {
        blocks[i] = s.xor(nonce, s.load(&counters[i * S::WIDTH..]));
    }
    blocks
}

/// A nonce with four zero bytes behind it, in all lanes.
#[inline(always)]
pub(super) fn splat_nonce<S: Blocks>(s: S, nonce: &[u8; 12]) -> S::V {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *nonce;
    s.splat_halves(u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(rest).into())
}

/// The most blocks of text: vectors of up to four blocks.
const BLOCKS: usize = 2 * MOST * WIDEST;

/// Blocks that no load of a vector crosses a cache line in.
#[repr(align(64))]
pub(super) struct Counters(pub(super) [Block; BLOCKS]);

/// The counter of J0 behind an empty nonce.
pub(super) const ONE: Block = counter(1);

/// The counters of the text behind an empty nonce: 2, 3, ...
pub(super) static COUNTERS: Counters = Counters({
    let mut counters = [[0; 16]; BLOCKS];
    let mut i = 0;
    while i < BLOCKS {
        counters[i] = counter(2 + i);
        i += 1;
    }
    counters
});

const fn counter(number: usize) -> Block {
    let mut block = [0; 16];
    #[expect(clippy::cast_possible_truncation, reason = "33 at most")]
    let number = number as u8;
    block[15] = number;
    block
}

/// [`COUNTERS`], with that of J0 in the last lane of each vector.
const fn with_j0(width: usize) -> Counters {
    let mut counters = [ONE; BLOCKS];
    let mut i = 0;
    while i < BLOCKS {
        if i % width < width - 1 {
            counters[i] = counter(2 + i);
        }
        i += 1;
    }
    Counters(counters)
}
