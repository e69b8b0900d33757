//! GCM messages of a few vectors, with a nonce of 12 bytes.
//!
//! Nothing is parallel in a message of a vector: with a 128-bit key ten rounds of four cycles, then the product of
//! the ciphertext (5) and the reduction (two products, 10). So what does not depend on the rounds is computed beside
//! them. There are no loops: vectors of text, up to four, are a constant of each copy of the code.

use lanelock_isa::{AesClmul, Block, Blocks, Kernel, WIDEST};

use super::GcmKey;
use lanelock_core::{
    InOut,
    cipher::{Cipher, SameKey},
};
use lanelock_hash::field::Sum;

/// The most vectors of text.
pub(super) const MOST: usize = 4;

/// Whether a message with so many bytes is short, at a level with vectors of `width` blocks.
#[inline(always)]
pub(super) fn is_short(width: usize, aad: usize, text: usize) -> bool {
    aad <= 16 * width && text <= 16 * width * MOST
}

/// A message that [is short](is_short). Returns the tag in full.
pub(super) struct Short<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    pub(super) gcm: &'a GcmKey<C>,
    pub(super) nonce: &'a [u8; 12],
    pub(super) aad: &'a [u8],
    pub(super) data: &'a mut InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for Short<'_, '_, '_, C, SEAL> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let blocks = self.data.len().div_ceil(16);
        if blocks < S::WIDTH {
            return self.vectors::<S, 1, 1>(s);
        }
        let has_part = !blocks.is_multiple_of(S::WIDTH);
        match (blocks / S::WIDTH, has_part) {
            (1, false) => self.vectors::<S, 1, 2>(s),
            (1, true) => self.vectors::<S, 2, 2>(s),
            (2, false) => self.vectors::<S, 2, 3>(s),
            (2, true) => self.vectors::<S, 3, 3>(s),
            (3, false) => self.vectors::<S, 3, 4>(s),
            (3, true) => self.vectors::<S, 4, 4>(s),
            (4, false) => self.vectors::<S, 4, 5>(s),
            _ => unreachable!("see `is_short`"),
        }
    }
}

impl<C: Cipher, const SEAL: bool> Short<'_, '_, '_, C, SEAL> {
    /// A message of `N` vectors, of which the last may be a part. Counters and J0 are `M` vectors: one more than `N` if
    /// the text leaves no lane to J0.
    #[inline(always)]
    fn vectors<S: AesClmul, const N: usize, const M: usize>(self, s: S) -> Block {
        let Self { gcm: GcmKey { key, powers }, nonce, aad, data } = self;
        let n = s.narrow();
        let bytes = data.len();
        let blocks = bytes.div_ceil(16);
        // What the compiler knows then it does not check.
        assert!(aad.len() <= 16 * S::WIDTH, "see `is_short`");
        let nonce = splat_nonce(s, nonce);
        // Lengths and AAD first: their products need no AES. With n blocks of text the last block,
        // the lengths, goes with H, the first of the text with H^(n+1), and before it the AAD.
        let mut sum = Sum::zero(s);
        let lengths = n.splat_halves(bytes as u64 * 8, aad.len() as u64 * 8);
        let last = powers.last(1);
        if aad.is_empty() {
            sum.add(s, s.in_first_lane(lengths), last.at(s, 0));
        } else {
            let first = powers.last(aad.len().div_ceil(16) + blocks + 1).at(s, 0);
            let elements = s.reverse(s.load_part(aad));
            if aad.len() <= 16 * (S::WIDTH - 1) {
                // A lane is left over, for the lengths.
                let elements = s.shift_in(s.splat_narrow(lengths), elements);
                sum.add(s, elements, first.shift_in(s, last.splat(s)));
            } else {
                sum.add(s, elements, first);
                sum.add(s, s.in_first_lane(lengths), last.at(s, 0));
            }
        }
        let keys = SameKey::new(s, key.keys());
        let mut stream = [nonce; M];
        for i in 0..N {
            stream[i] = s.xor(nonce, s.load(&NUMBERS[1 + i * S::WIDTH..]));
        }
        // The last lane of the last vector encrypts J0.
        let numbers =
            if M == N { const { &last_numbers::<N>(S::WIDTH) } } else { &[NUMBERS[0]; WIDEST] };
        stream[M - 1] = s.xor(nonce, s.load(numbers));
        stream = C::encrypt::<_, M>(s, stream, keys);
        let mask = s.last_narrow(stream[M - 1]);
        let of_text = powers.last(blocks + 1);
        for i in 0..N - 1 {
            let at = i * S::WIDTH;
            let text = s.load(&data.get_in().as_chunks().0[at..]);
            let result = s.xor(stream[i], text);
            s.store(result, &mut data.get_out().as_chunks_mut().0[at..]);
            let ciphertext = if SEAL { result } else { text };
            sum.add(s, s.reverse(ciphertext), of_text.at(s, at));
        }
        let at = (N - 1) * S::WIDTH;
        let rest = &data.get_in()[16 * at..];
        if N > 1 || !rest.is_empty() {
            let bytes = rest.len();
            let text = s.load_part(rest);
            let result = s.xor(stream[N - 1], text);
            s.store_part(result, &mut data.get_out()[16 * at..]);
            // Behind the text the exclusive or left key stream: cleared, as GHASH pads with zeros.
            let ciphertext = if SEAL { s.keep(result, bytes) } else { text };
            sum.add(s, s.reverse(ciphertext), of_text.at(s, at));
        }
        let mut tag = [[0; 16]];
        n.store(n.xor(mask, n.reverse(sum.finish(s))), &mut tag);
        tag[0]
    }
}

/// A nonce with four zero bytes behind it, in all lanes.
#[inline(always)]
pub(super) fn splat_nonce<S: Blocks>(s: S, nonce: &[u8; 12]) -> S::V {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *nonce;
    s.splat_halves(u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(rest).into())
}

/// The counters 1, 2, ... behind an empty nonce.
pub(super) const NUMBERS: [Block; 1 + 4 * MOST] = {
    let mut numbers = [[0; 16]; 1 + 4 * MOST];
    let mut i = 0;
    while i < numbers.len() {
        #[expect(clippy::cast_possible_truncation, reason = "17 at most")]
        let number = i as u8 + 1;
        numbers[i][15] = number;
        i += 1;
    }
    numbers
};

/// The counters of the last of `N` vectors of text: in its last lane, which the text leaves over, 1.
const fn last_numbers<const N: usize>(width: usize) -> [Block; WIDEST] {
    let mut numbers = [NUMBERS[0]; WIDEST];
    let mut i = 0;
    while i < width - 1 {
        numbers[i] = NUMBERS[1 + (N - 1) * width + i];
        i += 1;
    }
    numbers
}
