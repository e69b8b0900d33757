//! CTR and a universal hash side by side, for GCM and GCM-SIV.
//!
//! The text: C_j = P_j ^ E(K, T_j), a counter block T_j each. The hash: Y = (...((X_1 H + X_2) H +
//! X_3) H ...), computed a group at a time with powers of H (`field`).
//!
//! While one group of 8 vectors goes through the rounds of AES, another is hashed between them. Where
//! the input is hashed (GCM opening), it is the same group. Where the output is hashed (GCM sealing,
//! GCM-SIV opening), it is the group before, since the output of this one is not there yet.
//!
//! With a 128-bit key a group is 80 rounds, 40 cycles where two start in a cycle (latency 4), and 26
//! carry-less products (24, and 2 of the reduction), 52 cycles where one starts in two (latency 5).
//! They run in different units: so a group takes 52 cycles at best instead of 92, and the products
//! bound it. Where one starts in each cycle there are 33, in the other form of `field`, beside one round a cycle.
//!
//! Each lane of the vectors of a group has a hash of its own: Y_l = (...((X_l H^w + X_(l+w)) H^w + X_(l+2w)) H^w ...)
//! for lane l of w, with powers of H^w, the same in all lanes. Their sums are not added up from group to group, which
//! would take five instructions, one behind the other. What is hashed last has the powers H^n, H^(n-1), ... in its
//! first vector: to the blocks of a message Y_l counts H^-l, and so it does there.
//!
//! `REVERSED` is the order of GCM: counters in the last word, big-endian; hashed blocks reversed. In
//! GCM-SIV counters are in the first word, little-endian.

use lanelock_isa::{AesClmul, Beside, Block, Blocks, WIDEST};

use lanelock_core::{
    InOut,
    cipher::{Cipher, SameKey, Schedule},
    parts::{InOutBlocks, load_group},
};
use lanelock_hash::field::{Factor, Powers, ProductRun, Sum, VECTORS, convert, has_three};

/// What is hashed of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hashed {
    /// Nothing.
    Nothing,
    /// The input of the exclusive or: the ciphertext, when GCM opens.
    Input,
    /// The output of the exclusive or: the ciphertext, when GCM seals; the plaintext, when GCM-SIV
    /// opens.
    Output,
}

/// Hashes one group of `N` vectors, one vector a round and then the reduction: 8 vectors behind rounds 1 to
/// 9, which is all that a 128-bit key has.
// Registers with 11 round keys: 8 states, 11 keys, 2 or 3 sums, the hash, the counters with their step,
// and the order of bytes: 26. Six are left for a product: the vector, its power and what stands beside it, and
// results. With 15 round keys some of the keys are operands in memory.
struct HashBeside<'a, S: AesClmul, const N: usize, const REVERSED: bool, const THREE: bool> {
    powers: &'a Powers,
    text: &'a [Block],
    sum: Sum<S::V, THREE>,
    /// The hashes of the lanes.
    y: S::V,
}

impl<'a, S: AesClmul, const N: usize, const REVERSED: bool, const THREE: bool>
    HashBeside<'a, S, N, REVERSED, THREE>
{
    #[inline(always)]
    fn new(s: S, powers: &'a Powers, y: S::V, text: &'a [Block]) -> Self {
        const { assert!(N.is_multiple_of(2) && N <= VECTORS) } // two products a step
        Self { powers, text: &text[..N * S::WIDTH], sum: Sum::zero(s), y }
    }

    /// The factors of vector `i`: its elements, in the first with the hashes so far, and their power.
    #[inline(always)]
    fn product(&self, s: S, i: usize) -> (S::V, Factor<S::V, THREE>) {
        let v = convert::<S, REVERSED>(s, s.load(&self.text[i * S::WIDTH..]));
        let v = if i == 0 { s.xor(v, self.y) } else { v };
        (v, self.powers.of_vectors(s, N - i))
    }
}

impl<S: AesClmul, const N: usize, const REVERSED: bool, const THREE: bool> Beside<S>
    for HashBeside<'_, S, N, REVERSED, THREE>
{
    #[inline(always)]
    fn step(&mut self, s: S, round: usize) {
        let i = round - 1;
        if i < N {
            // The first vector last: only it needs the hash so far, which comes from the reduction (a product, or
            // two, one behind the other) at the end of the group before.
            let (first, second) = (self.product(s, (i + 1) % N), (i + 2) % N);
            if S::WIDTH < WIDEST {
                self.sum.add_here(s, [first]);
            } else if i.is_multiple_of(2) {
                // Where there are 32 registers, two behind every other round: one instruction adds both to a sum.
                self.sum.add_here(s, [first, self.product(s, second)]);
            }
        } else if i == N {
            self.y = self.sum.reduce(s);
        }
    }
}

/// The vectors of a rest that go together, while there are so many.
const SOME: usize = 4;

/// Text on its way through CTR and the hash.
pub(super) struct StitchedText<'a, S: AesClmul, C: Cipher, const REVERSED: bool> {
    s: S,
    keys: SameKey<'a, S, C>,
    powers: &'a Powers,
    /// The next counters, as little-endian numbers in the first word.
    counters: S::V,
    /// See [`new`](Self::new).
    last_byte: Option<u8>,
    /// The hash so far, in the first lane, or the hashes of all lanes.
    pub(super) y: S::V,
}

impl<'a, S: AesClmul, C: Cipher, const REVERSED: bool> StitchedText<'a, S, C, REVERSED> {
    /// Text whose first counter is the one behind `counter`, which has its number in the first word. `last_byte` is
    /// the last of its first counter block, if that is public; branches may depend on it.
    #[inline(always)]
    pub(super) fn new(
        s: S,
        keys: Schedule<'a, C>,
        powers: &'a Powers,
        counter: <S::Narrow as Blocks>::V,
        last_byte: Option<u8>,
    ) -> Self {
        const STEPS: [Block; 4] = [word(1), word(2), word(3), word(4)];
        let counters = s.add_words(s.splat_narrow(counter), s.load(&STEPS));
        let y = s.zero();
        Self { s, keys: SameKey::new(s, keys), powers, counters, last_byte, y }
    }

    /// The next counter blocks, whitened, as many vectors as asked for.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a group has 32 blocks at most")]
    fn counter_blocks<const N: usize>(&mut self) -> [S::V; N] {
        // 32-bit additions: the counter of both modes wraps without a carry.
        let (s, counters, keys) = (self.s, self.counters, self.keys);
        let first = convert::<S, REVERSED>(s, counters);
        let whitened = C::whiten(s, first, keys, 0);
        let mut v = [whitened; N];
        let of_group = (N * S::WIDTH) as u8;
        if REVERSED
            && self.last_byte.is_some_and(|byte| byte % of_group == 2 && byte <= 255 - of_group)
        {
            // The groups of a whole message: from 2 on, of which the last two alone are carried out of the lowest
            // bits. All others are added to the whitened blocks, without a shuffle or whitening of their own.
            for i in 1..N {
                let number = ((i * S::WIDTH) as u64) << 56;
                if (i + 1) * S::WIDTH + 1 < N * S::WIDTH {
                    v[i] = s.xor(whitened, s.load(&const { differences(S::WIDTH) }[i]));
                } else {
                    v[i] = C::whiten(s, s.add_words(first, s.splat_halves(0, number)), keys, i);
                }
            }
        } else {
            // One step for all, and not a number for each: in registers, those would take the places of round keys.
            let step = s.here(s.splat_halves(S::WIDTH as u64, 0));
            let mut counters = counters;
            for i in 1..N {
                counters = s.add_words(counters, step);
                v[i] = C::whiten(s, convert::<S, REVERSED>(s, counters), keys, i);
            }
        }
        self.counters = s.add_words(counters, s.splat_halves((N * S::WIDTH) as u64, 0));
        self.last_byte = self.last_byte.map(|byte| byte.wrapping_add(of_group));
        v
    }

    /// All whole groups of `data`. Where the input is hashed, the hashes of the lanes stay apart.
    #[inline(always)]
    pub(super) fn groups(&mut self, hashed: Hashed, data: &mut InOutBlocks<'_, '_>) {
        let (s, group) = (self.s, VECTORS * S::WIDTH);
        let at = self.groups_of::<VECTORS>(hashed, data);
        if hashed == Hashed::Output && at > 0 {
            let last = &data.output()[at - group..at];
            let mut run = ProductRun::new(s, self.powers, group, self.y);
            run.add_blocks::<REVERSED, VECTORS>(last);
            self.y = s.in_first_lane(run.finish());
        }
    }

    /// All whole groups of `N` vectors; returns how many blocks they are. Of an output the last group is not hashed yet.
    /// The hashes of the lanes stay apart.
    #[inline(always)]
    pub(super) fn groups_of<const N: usize>(
        &mut self,
        hashed: Hashed,
        data: &mut InOutBlocks<'_, '_>,
    ) -> usize {
        let (s, group) = (self.s, N * S::WIDTH);
        let three = has_three(s);
        let mut at = 0;
        while data.len() - at >= group {
            let v = self.counter_blocks::<N>();
            let v = if hashed == Hashed::Nothing || hashed == Hashed::Output && at == 0 {
                C::encrypt_whitened::<_, N>(s, v, self.keys)
            } else {
                // The first group of an output has none before it (above).
                let text = match hashed {
                    Hashed::Output => &data.output()[at - group..],
                    _ => &data.input()[at..],
                };
                // One loop with both: with a loop for each, constants of both would take the registers of round keys.
                if three {
                    self.group_beside::<N, true>(v, text)
                } else {
                    self.group_beside::<N, false>(v, text)
                }
            };
            let text = load_group::<S, N>(s, data, at);
            let output = &mut data.output()[at..][..group];
            for i in 0..N {
                s.store(s.xor(v[i], text[i]), &mut output[i * S::WIDTH..]);
            }
            at += group;
        }
        at
    }

    /// Encrypts the counter blocks of a group, and hashes `text` beside them.
    #[inline(always)]
    fn group_beside<const N: usize, const THREE: bool>(
        &mut self,
        v: [S::V; N],
        text: &[Block],
    ) -> [S::V; N] {
        let s = self.s;
        let mut hash = HashBeside::<S, N, REVERSED, THREE>::new(s, self.powers, self.y, text);
        let v = C::encrypt_beside::<_, N>(s, v, self.keys, &mut hash);
        self.y = hash.y;
        v
    }

    /// [`SOME`] vectors from byte `at` on, hashed in `run`.
    #[inline(always)]
    fn whole_vectors(
        &mut self,
        hashed: Hashed,
        run: &mut ProductRun<'_, S>,
        data: &mut InOut<'_, '_>,
        at: usize,
    ) {
        let s = self.s;
        let v = self.counter_blocks::<SOME>();
        let v = C::encrypt_whitened::<_, SOME>(s, v, self.keys);
        let input = &data.get_in()[at..].as_chunks().0[..SOME * S::WIDTH];
        let mut text = [s.zero(); SOME];
        for i in 0..SOME {
            text[i] = s.load(&input[i * S::WIDTH..]);
        }
        let output = &mut data.get_out()[at..].as_chunks_mut().0[..SOME * S::WIDTH];
        for i in 0..SOME {
            let result = s.xor(v[i], text[i]);
            s.store(result, &mut output[i * S::WIDTH..]);
            let hashed = if hashed == Hashed::Output { result } else { text[i] };
            text[i] = convert::<S, REVERSED>(s, hashed);
        }
        if hashed != Hashed::Nothing {
            run.add_vectors(text);
        }
    }

    /// The rest of the text, less than a group and a vector, hashed in `run`.
    #[inline(always)]
    pub(super) fn rest(
        &mut self,
        hashed: Hashed,
        run: &mut ProductRun<'_, S>,
        mut data: InOut<'_, '_>,
    ) {
        let s = self.s;
        let mut at = 0;
        // Where the output is hashed, vectors with the most blocks go one by one: each is hashed while the next are
        // encrypted (together they took up to 1.07 times as long).
        while (hashed != Hashed::Output || S::WIDTH < WIDEST)
            && data.len() - at >= SOME * 16 * S::WIDTH
        {
            self.whole_vectors(hashed, run, &mut data, at);
            at += SOME * 16 * S::WIDTH;
        }
        while at < data.len() {
            let bytes = (data.len() - at).min(16 * S::WIDTH);
            let [v] = self.counter_blocks::<1>();
            let [v] = C::encrypt_whitened::<_, 1>(s, [v], self.keys);
            let text = s.load_part(&data.get_in()[at..][..bytes]);
            let mut result = s.xor(v, text);
            s.store_part(result, &mut data.get_out()[at..][..bytes]);
            // Behind the text the exclusive or left key stream, which must not be hashed.
            if hashed == Hashed::Output && bytes < 16 * S::WIDTH {
                result = s.keep(result, bytes);
            }
            if hashed != Hashed::Nothing {
                let text = if hashed == Hashed::Output { result } else { text };
                run.add(convert::<S, REVERSED>(s, text), bytes.div_ceil(16));
            }
            at += bytes;
        }
    }
}

/// Vectors of `width` lanes: what the last bytes of counter blocks from 2 on differ in from those of the first vector.
const fn differences(width: usize) -> [[Block; WIDEST]; VECTORS] {
    let mut differences = [[[0; 16]; WIDEST]; VECTORS];
    let mut i = 0;
    while i < VECTORS * width {
        let (vector, lane) = (i / width, i % width);
        #[expect(clippy::cast_possible_truncation, reason = "less than a group")]
        let (first, number) = ((2 + lane) as u8, (2 + i) as u8);
        differences[vector][lane][15] = first ^ number;
        i += 1;
    }
    differences
}

/// A block whose first word is `number`.
pub(super) const fn word(number: u32) -> Block {
    (number as u128).to_le_bytes()
}
