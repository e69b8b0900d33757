//! Short GCM messages of any lengths: the text of each fills vectors of its own, and what is one block of each (J0,
//! AAD, lengths, the end of the hash) stands side by side, a lane for each message.
//!
//! With W lanes, W messages have one vector of blocks J0, one reduction and one vector of products each for AAD and
//! lengths, where W messages one by one have W of all these. The sums of the products of a text are in the lanes of
//! its vectors; those of W messages are added up so that the sum of each is in its lane.
//!
//! Messages are sorted by their numbers of vectors: no branch depends on a length then, which no processor could
//! foresee, and it begins with the next message before one has ended.

#![expect(
    clippy::manual_memcpy,
    reason = "loops of constant length, whose values stay in registers"
)]

use core::ptr;

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks, Kernel, WIDEST};

use super::{
    Gcm,
    short::{MOST, NUMBERS, splat_nonce},
};
use crate::batch::{Message, padded};
use lanelock_core::cipher::{Cipher, SameKey, SizedCipher};
use lanelock_hash::field::{Factor, Sum};

/// Short messages side by side, others one by one. `level` is that of most keys.
pub(super) fn run_all<C: SizedCipher, const SEAL: bool>(
    messages: &mut [Message<'_, Gcm<C>>],
    level: AesLevel,
) {
    for messages in messages.chunks_mut(CHUNK) {
        let mut order = Order::default();
        order.sort::<C, SEAL>(messages, level);
        let (groups, rest) = order.places[..order.count.min(CHUNK)].as_chunks();
        if order.one_key {
            level.run(Short::<C, true, SEAL> { messages, groups, in_order: order.sorted });
        } else {
            level.run(Short::<C, false, SEAL> { messages, groups, in_order: order.sorted });
        }
        for place in rest {
            messages[usize::from(*place)].alone::<SEAL>();
        }
    }
}

/// Messages looked at together.
const CHUNK: usize = 64;

/// Short messages, those of fewer vectors first.
struct Order {
    /// Behind them what does not count, from `CHUNK` on the long ones. To begin with all as they are.
    places: [u8; 2 * CHUNK],
    count: usize,
    /// Whether they were so before: then the places are numbers from 0 on.
    sorted: bool,
    /// Whether they have one key.
    one_key: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { places: AS_THEY_ARE, count: 0, sorted: true, one_key: true }
    }
}

/// The places of messages that are in order.
const AS_THEY_ARE: [u8; 2 * CHUNK] = {
    let mut places = [0; 2 * CHUNK];
    let mut i = 0;
    while i < 2 * CHUNK {
        #[expect(clippy::cast_possible_truncation, reason = "less than 128")]
        let place = i as u8;
        places[i] = place;
        i += 1;
    }
    places
};

impl Order {
    /// Finds the short ones, and processes the others.
    #[inline(always)]
    fn sort<C: SizedCipher, const SEAL: bool>(
        &mut self,
        messages: &mut [Message<'_, Gcm<C>>],
        level: AesLevel,
    ) {
        /// What is not short.
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        const LONG: u8 = MOST as u8 + 1;
        let shift = (16 * level.width()).ilog2();
        let most = MOST << shift;
        let mut sizes = [LONG; CHUNK];
        let Some(Message { key, .. }) = messages.first() else { return };
        // What the loop finds stays in registers, since nothing is called in it: in memory, each message would wait
        // for the one before. All keys are compared with that of the first message, short or not: where only that one
        // has another, the others take the kernel of many keys.
        let first = ptr::from_ref(*key).addr();
        let (mut other_keys, mut before, mut long) = (0, 0, 0);
        for (place, (message, size)) in (0..).zip(messages.iter().zip(&mut sizes)) {
            let text = message.data.len();
            let fits = message.nonce.len() == 12
                && message.aad.len() <= 16
                && text <= most
                && message.tag.len() == message.key.tag_length
                && message.key.level() == level;
            if fits {
                #[expect(clippy::cast_possible_truncation, reason = "at most `MOST`")]
                let vectors = ((text + (1 << shift) - 1) >> shift) as u8;
                *size = vectors;
                self.count += 1;
                other_keys |= ptr::from_ref(message.key).addr() ^ first;
            } else {
                // Noted, since to look for them would be branches once more that no processor foresees. There are no
                // more than a chunk; the remainder spares a check.
                self.places[CHUNK + long % CHUNK] = place;
                long += 1;
            }
            self.sorted &= before <= *size;
            before = *size;
        }
        self.one_key = other_keys == 0;
        for place in &self.places[CHUNK..][..long] {
            messages[usize::from(*place)].alone::<SEAL>();
        }
        if self.sorted {
            return;
        }
        let sizes = &sizes[..messages.len()];
        // A byte for each number of vectors, in a register.
        let counts = sizes.iter().fold(0_u64, |counts, size| counts + (1 << (8 * size)));
        // Where the messages of each size begin: behind all smaller ones.
        let mut begins = counts.wrapping_mul(0x0101_0101_0101_0101) << 8;
        for (place, size) in (0..).zip(sizes) {
            let shift = 8 * size;
            // Of the long ones it is the end, where each overwrites the one before.
            #[expect(clippy::cast_possible_truncation, reason = "the lowest byte counts")]
            let at = (begins >> shift) as usize % (2 * CHUNK);
            self.places[at] = place;
            begins += u64::from(*size != LONG) << shift;
        }
    }
}

/// Short messages, with `ONE_KEY` or a key each.
struct Short<'g, 'a, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> {
    messages: &'g mut [Message<'a, Gcm<C>>],
    groups: &'g [[u8; WIDEST]],
    /// Whether the groups are neighbours, in this order.
    in_order: bool,
}

impl<C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> Kernel
    for Short<'_, '_, C, ONE_KEY, SEAL>
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        assert!(const { S::VECTORS > 1 }, "one by one at the portable level");
        let Self { messages, groups, in_order } = self;
        let Some([first, ..]) = groups.first() else { return };
        let shared = SameKey::new(s, messages[usize::from(*first)].key.key.key.keys());
        for (i, places) in groups.iter().enumerate() {
            let group = if in_order {
                messages[i * WIDEST..].first_chunk_mut().map(<[_; WIDEST]>::each_mut)
            } else {
                let mut at = [0; WIDEST];
                for lane in 0..WIDEST {
                    at[lane] = usize::from(places[lane]);
                }
                messages.get_disjoint_mut(at).ok()
            };
            let group = group.expect("each message has one place");
            Group::<S, C, ONE_KEY, SEAL> { s, shared }.run(group);
        }
    }
}

/// Works on as many messages as the widest vector has lanes.
struct Group<'k, S: AesClmul, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> {
    s: S,
    /// The key of all messages, if they have one.
    shared: SameKey<'k, S, C::Cipher>,
}

impl<S: AesClmul, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool>
    Group<'_, S, C, ONE_KEY, SEAL>
{
    #[inline(always)]
    fn run(&self, mut messages: [&mut Message<'_, Gcm<C>>; WIDEST]) {
        let (s, n) = (self.s, self.s.narrow());
        let mut nonces = [n.zero(); WIDEST];
        let mut longest = 0;
        for lane in 0..WIDEST {
            let Message { nonce, data, .. } = &*messages[lane];
            if let Ok(nonce) = (*nonce).try_into() {
                nonces[lane] = splat_nonce(n, nonce);
            }
            longest = longest.max(data.len());
        }
        let texts = match longest.div_ceil(16 * S::WIDTH) {
            0 | 1 if S::WIDTH == WIDEST && ONE_KEY => self.together(&mut messages, nonces),
            0 | 1 => self.texts::<1, 2>(&mut messages, nonces),
            2 => self.texts::<2, 3>(&mut messages, nonces),
            3 => self.texts::<3, 4>(&mut messages, nonces),
            _ => self.texts::<4, 5>(&mut messages, nonces),
        };
        let mut aad = nonces;
        let mut lengths = nonces;
        let (mut of_aad, mut of_lengths) = ([Factor::zero(n); WIDEST], [Factor::zero(n); WIDEST]);
        for lane in 0..WIDEST {
            let Message { key, aad: bytes, data, .. } = &*messages[lane];
            let powers = &key.key.powers;
            lengths[lane] = n.splat_halves(data.len() as u64 * 8, bytes.len() as u64 * 8);
            of_lengths[lane] = powers.last(1).at(n, 0);
            aad[lane] = if S::WIDTH == WIDEST {
                // Such a level has loads with a mask.
                s.lanes(s.load_part(bytes))[0]
            } else {
                let [low, high] = halves(padded(bytes));
                n.splat_halves(low, high)
            };
            of_aad[lane] = powers.last(blocks(data) + 2).at(n, 0);
        }
        for i in 0..WIDEST / S::WIDTH {
            let at = i * S::WIDTH;
            let (mask, mut sum) = texts[i];
            let of_lengths = if ONE_KEY {
                Factor::splat(s, of_lengths[0])
            } else {
                Factor::join_lanes(s, from(&of_lengths, at))
            };
            sum.add(s, s.join_lanes(from(&lengths, at)), of_lengths);
            let aad = s.reverse(s.join_lanes(from(&aad, at)));
            sum.add(s, aad, Factor::join_lanes(s, from(&of_aad, at)));
            let tags = s.lanes(s.xor(mask, s.reverse(sum.reduce(s))));
            for lane in 0..S::WIDTH {
                let mut tag = [[0; 16]];
                n.store(tags[lane], &mut tag);
                messages[at + lane].finish::<SEAL>(&mut tag[0]);
            }
        }
    }

    /// Encrypts or decrypts texts of at most a vector with one key, all at once: the rounds of one would wait for one
    /// another. Returns what [`texts`](Self::texts) does.
    #[inline(always)]
    fn together(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        nonces: [Narrow<S>; WIDEST],
    ) -> [(S::V, Sum<S::V>); WIDEST] {
        /// A vector for each text, and one.
        const ALL: usize = WIDEST + 1;
        let s = self.s;
        let mut v = [s.xor(s.join_lanes(nonces), s.splat(&NUMBERS[0])); ALL];
        for lane in 0..WIDEST {
            v[lane] = s.xor(s.splat_narrow(nonces[lane]), s.load(&NUMBERS[1..]));
        }
        v = C::Cipher::encrypt::<_, ALL>(s, v, self.shared);
        let mut sums = [Sum::zero(s); WIDEST];
        for lane in 0..WIDEST {
            sums[lane] = text::<S, C, 1, SEAL>(s, [v[lane]], messages[lane]);
        }
        [(v[WIDEST], Sum::of_lanes(s, sums)); WIDEST]
    }

    /// Encrypts or decrypts texts of at most `N` vectors, one behind another: the processor takes the rounds of one
    /// beside the products of the one before. `M` is `N` and one. Returns of each vector of lanes the blocks
    /// E(K, J0), and the sums of the products of the ciphertexts.
    #[inline(always)]
    fn texts<const N: usize, const M: usize>(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        nonces: [Narrow<S>; WIDEST],
    ) -> [(S::V, Sum<S::V>); WIDEST] {
        let s = self.s;
        let one = s.splat(&NUMBERS[0]);
        let mut texts = [(one, Sum::zero(s)); WIDEST];
        for i in 0..WIDEST / S::WIDTH {
            let nonces = from(&nonces, i * S::WIDTH);
            let (mut mask, mut masks) = (s.join_lanes(nonces), nonces);
            let mut sums = [Sum::zero(s); WIDEST];
            for lane in 0..S::WIDTH {
                let message = &mut *messages[i * S::WIDTH + lane];
                let nonce = s.splat_narrow(nonces[lane]);
                let mut stream = [nonce; N];
                for i in 0..N {
                    stream[i] = s.xor(nonce, s.load(&NUMBERS[1 + i * S::WIDTH..]));
                }
                let mut keys = self.shared;
                if !ONE_KEY {
                    keys = SameKey::new(s, message.key.key.key.keys());
                }
                // With one key, the blocks J0 of all lanes go with the first text; otherwise that of each with it.
                if lane == 0 || !ONE_KEY {
                    let mut v = [s.xor(if ONE_KEY { mask } else { nonce }, one); M];
                    for i in 0..N {
                        v[i] = stream[i];
                    }
                    v = C::Cipher::encrypt::<_, M>(s, v, keys);
                    for i in 0..N {
                        stream[i] = v[i];
                    }
                    mask = v[N];
                    masks[lane] = s.last_narrow(mask);
                } else {
                    stream = C::Cipher::encrypt::<_, N>(s, stream, keys);
                }
                sums[lane] = text::<S, C, N, SEAL>(s, stream, message);
            }
            if !ONE_KEY {
                mask = s.join_lanes(masks);
            }
            texts[i] = (mask, Sum::of_lanes(s, sums));
        }
        texts
    }
}

/// The text of a message, in `N` vectors, of which the last may be empty. Returns the sum of the products of its
/// ciphertext.
#[inline(always)]
fn text<S: AesClmul, C: SizedCipher, const N: usize, const SEAL: bool>(
    s: S,
    stream: [S::V; N],
    message: &mut Message<'_, Gcm<C>>,
) -> Sum<S::V> {
    let Message { key, data, .. } = message;
    let blocks = blocks(data);
    let factors = key.key.powers.last(blocks + 1);
    let mut rest = &mut **data;
    let mut sum = Sum::zero(s);
    for i in 0..N {
        let (part, behind) = rest.split_at_mut(rest.len().min(16 * S::WIDTH));
        rest = behind;
        let text = s.load_part(part);
        let result = s.xor(stream[i], text);
        s.store_part(result, part);
        // Behind the text the exclusive or left key stream: cleared, as GHASH pads with zeros.
        let ciphertext = if SEAL { s.keep(result, part.len()) } else { text };
        // The factors behind the last block do not count.
        sum.add(s, s.reverse(ciphertext), factors.at(s, (i * S::WIDTH).min(blocks)));
    }
    sum
}

/// How many blocks a text has: a division that rounds up takes three times as many instructions, lest a sum overflow.
#[inline(always)]
fn blocks(text: &[u8]) -> usize {
    (text.len() + 15) >> 4
}

/// Those of the lanes from `at` on, and as many others as there are behind them.
#[inline(always)]
fn from<T: Copy>(all: &[T; WIDEST], at: usize) -> [T; WIDEST] {
    let mut some = *all;
    for lane in at..WIDEST {
        some[lane - at] = all[lane];
    }
    some
}

/// A vector of one block.
type Narrow<S> = <<S as Blocks>::Narrow as Blocks>::V;

/// The halves of a block as little-endian numbers.
#[inline(always)]
fn halves(block: Block) -> [u64; 2] {
    let number = u128::from_le_bytes(block);
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    let halves = [number as u64, (number >> 64) as u64];
    halves
}
