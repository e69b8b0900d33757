//! Many short GCM messages: the text of each fills vectors of its own, and what is one block of each (J0, AAD,
//! lengths, the end of the hash) stands side by side, a lane for each message.
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

use lanelock_isa::{AesClmul, AesLevel, Blocks, Kernel, WIDEST};

use super::{
    Gcm, GcmKey,
    short::{MOST, NUMBERS, splat_nonce},
};
use crate::batch::{Batch, Message, group::FEW};
use lanelock_core::cipher::{Cipher, SameKey, SizedCipher};
use lanelock_hash::field::{Factor, Powers, Sum};

impl<C: SizedCipher> Batch for Gcm<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        each::<C, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        each::<C, false>(messages);
    }
}

/// Short messages side by side, others one by one: all of them at the portable level, where the planes of a message
/// are full.
fn each<C: SizedCipher, const SEAL: bool>(messages: &mut [Message<'_, Gcm<C>>]) {
    let Some(first) = messages.first() else { return };
    let level = first.key.level();
    if messages.len() < FEW || level == AesLevel::PORTABLE {
        return messages.iter_mut().for_each(Message::alone::<SEAL>);
    }
    for messages in messages.chunks_mut(CHUNK) {
        let found = Found::new(messages, level);
        if found.count < messages.len() {
            for (message, size) in messages.iter_mut().zip(&found.sizes) {
                if *size == LONG {
                    message.alone::<SEAL>();
                }
            }
        }
        let mut sorted = [const { None }; CHUNK + 1];
        found.sort(messages, &mut sorted);
        let (groups, rest) = sorted[..found.count.min(CHUNK)].as_chunks_mut();
        if found.one_key {
            level.run(Short::<C, true, SEAL> { groups });
        } else {
            level.run(Short::<C, false, SEAL> { groups });
        }
        rest.iter_mut().flatten().for_each(|message| message.alone::<SEAL>());
    }
}

/// Messages looked at together.
const CHUNK: usize = 64;

/// What is known of the messages of a chunk.
struct Found {
    /// How many vectors the text of each takes, less one; [`LONG`] if it is not short.
    sizes: [u8; CHUNK],
    /// How many are short.
    count: usize,
    /// Whether they are sorted by their sizes.
    sorted: bool,
    /// Whether they have one key.
    one_key: bool,
}

/// What is not short.
#[expect(clippy::cast_possible_truncation, reason = "a small number")]
const LONG: u8 = MOST_OF_TWO as u8;

/// The most vectors of a short text where they have two blocks: there are powers of the hash key for so many blocks of
/// text, one of AAD, and one of lengths (nine vectors). With vectors of one block, longer messages are faster alone.
const MOST_OF_TWO: usize = 2 * MOST;

impl Found {
    /// Looks at all. `level` is that of the first key.
    #[inline(always)]
    fn new<C: SizedCipher>(messages: &[Message<'_, Gcm<C>>], level: AesLevel) -> Self {
        let width = level.width();
        let most = 16 * width * if width == 2 { MOST_OF_TWO } else { MOST };
        let mut sizes = [LONG; CHUNK];
        // What the loop finds stays in registers, since nothing is called in it: in memory, each message would wait
        // for the one before. All keys are compared with that of the first message, short or not: where only that one
        // has another, the others take the kernel of many keys.
        let first = messages.first().map_or(ptr::null(), |first| ptr::from_ref(first.key)).addr();
        let (mut count, mut sorted, mut other_keys, mut before) = (0, true, 0, 0);
        for (message, size) in messages.iter().zip(&mut sizes) {
            let text = message.data.len();
            let fits = message.nonce.len() == 12
                && message.aad.len() <= 16
                && text <= most
                && message.tag.len() == message.key.tag_length
                && message.key.level() == level;
            if fits {
                *size = size_of_text(width, text);
                count += 1;
                other_keys |= ptr::from_ref(message.key).addr() ^ first;
            }
            sorted &= before <= *size;
            before = *size;
        }
        Self { sizes, count, sorted, one_key: other_keys == 0 }
    }

    /// Puts the short ones to `sorted`, those of fewer vectors first. Behind them there may be others.
    #[inline(always)]
    fn sort<'m, 'a, A>(
        &self,
        messages: &'m mut [Message<'a, A>],
        sorted: &mut [Option<&'m mut Message<'a, A>>; CHUNK + 1],
    ) {
        if self.sorted {
            for (message, place) in messages.iter_mut().zip(sorted) {
                *place = Some(message);
            }
            return;
        }
        let sizes = &self.sizes[..messages.len()];
        // A byte for each size, in a register.
        let counts = sizes
            .iter()
            .fold(0_u64, |counts, size| counts + (u64::from(*size != LONG) << (8 * size % 64)));
        // Where the messages of each size begin: behind all smaller ones.
        let mut begins = counts.wrapping_mul(0x0101_0101_0101_0101) << 8;
        for (message, size) in messages.iter_mut().zip(sizes) {
            let (shift, short) = (8 * size % 64, *size != LONG);
            // The long ones all go to the end.
            #[expect(clippy::cast_possible_truncation, reason = "the lowest byte counts")]
            let at = if short { (begins >> shift) as usize % CHUNK } else { CHUNK };
            sorted[at] = Some(message);
            begins += u64::from(short) << shift;
        }
    }
}

/// Why no place of a group is empty.
const FULL: &str = "as many short messages are sorted as there are";

/// How many vectors of so many blocks a text takes, less one: a size of a short one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a small number")]
fn size_of_text(width: usize, bytes: usize) -> u8 {
    (bytes.saturating_sub(1) >> (16 * width).ilog2()) as u8
}

/// Short messages sorted by their sizes, with `ONE_KEY` or a key each.
struct Short<'g, 'm, 'a, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> {
    groups: &'g mut [[Option<&'m mut Message<'a, Gcm<C>>>; WIDEST]],
}

impl<C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> Kernel
    for Short<'_, '_, '_, C, ONE_KEY, SEAL>
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        assert!(const { S::VECTORS > 1 }, "one by one at the portable level");
        let Some([first, ..]) = self.groups.first() else { return };
        let GcmKey { key, powers } = &first.as_ref().expect(FULL).key.key;
        let kernel = Group::<S, C, ONE_KEY, SEAL> {
            s,
            keys: SameKey::new(s, key.keys()),
            first_powers: powers,
        };
        // Where the texts are a vector each, a group is finished beside the rounds of the next: what waits for rounds
        // would keep all that comes behind it from beginning.
        let mut before = None;
        for group in self.groups {
            let [Some(a), Some(b), Some(c), Some(d)] = group else { panic!("{FULL}") };
            let mut messages = [&mut **a, b, c, d];
            // They are sorted: the last has the most.
            let size = size_of_text(S::WIDTH, messages[WIDEST - 1].data.len());
            let together = S::WIDTH == WIDEST && ONE_KEY && size == 0;
            let v = together.then(|| kernel.together(&messages));
            if let Some((mut messages, texts)) = before.take() {
                kernel.finish(&mut messages, texts);
            }
            if let Some(v) = v {
                let texts = kernel.text_each(&mut messages, v);
                before = Some((messages, texts));
            } else {
                let texts = kernel.texts_of(&mut messages, size);
                kernel.finish(&mut messages, texts);
            }
        }
        if let Some((mut messages, texts)) = before.take() {
            kernel.finish(&mut messages, texts);
        }
    }
}

/// Works on as many messages as the widest vector has lanes.
struct Group<'k, S: AesClmul, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> {
    s: S,
    /// The key of all messages, if they have one.
    keys: SameKey<'k, S, C::Cipher>,
    /// The powers of its hash key.
    first_powers: &'k Powers,
}

impl<S: AesClmul, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool>
    Group<'_, S, C, ONE_KEY, SEAL>
{
    /// The nonces of the messages.
    #[inline(always)]
    fn nonces(&self, messages: &[&mut Message<'_, Gcm<C>>; WIDEST]) -> [Narrow<S>; WIDEST] {
        let n = self.s.narrow();
        let mut nonces = [n.zero(); WIDEST];
        for lane in 0..WIDEST {
            if let Ok(nonce) = messages[lane].nonce.try_into() {
                nonces[lane] = splat_nonce(n, nonce);
            }
        }
        nonces
    }

    /// Encrypts or decrypts the texts. Returns of each vector of lanes the blocks E(K, J0), and the sums of the
    /// products of the ciphertexts.
    #[inline(always)]
    fn texts_of(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        size: u8,
    ) -> [(S::V, Sum<S::V>); WIDEST] {
        match size {
            0 => self.texts::<1, 2, false>(messages),
            1 => self.texts::<2, 3, false>(messages),
            2 => self.texts::<3, 4, false>(messages),
            4.. if S::WIDTH == 2 => self.texts::<MOST, { MOST + 1 }, true>(messages),
            _ => self.texts::<MOST, { MOST + 1 }, false>(messages),
        }
    }

    /// Adds AAD and lengths, and writes or compares the tags.
    #[inline(always)]
    fn finish(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        texts: [(S::V, Sum<S::V>); WIDEST],
    ) {
        let (s, n) = (self.s, self.s.narrow());
        let mut aad = [n.zero(); WIDEST];
        let mut lengths = aad;
        let (mut of_aad, mut of_lengths) = ([Factor::zero(n); WIDEST], [Factor::zero(n); WIDEST]);
        for lane in 0..WIDEST {
            let message = &*messages[lane];
            let Message { aad: bytes, data, .. } = message;
            let powers = self.powers(message);
            lengths[lane] = n.splat_halves(data.len() as u64 * 8, bytes.len() as u64 * 8);
            of_lengths[lane] = powers.last(1).at(n, 0);
            // A level with the widest vectors has loads with a mask.
            aad[lane] = if S::WIDTH == WIDEST {
                s.lanes(s.load_part(bytes))[0]
            } else {
                n.load_part(bytes)
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

    /// The key streams of texts of at most a vector, and behind them the blocks E(K, J0), all at once: the rounds of
    /// one would wait for one another.
    #[inline(always)]
    fn together(&self, messages: &[&mut Message<'_, Gcm<C>>; WIDEST]) -> [S::V; WIDEST + 1] {
        let s = self.s;
        let nonces = self.nonces(messages);
        let mut v = [s.xor(s.join_lanes(nonces), s.splat(&NUMBERS[0])); WIDEST + 1];
        for lane in 0..WIDEST {
            [v[lane]] = counters(s, s.splat_narrow(nonces[lane]), 0);
        }
        C::Cipher::encrypt::<_, { WIDEST + 1 }>(s, v, self.keys)
    }

    /// Texts of at most a vector, whose key streams are known. Returns what [`texts_of`](Self::texts_of) does.
    #[inline(always)]
    fn text_each(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        streams: [S::V; WIDEST + 1],
    ) -> [(S::V, Sum<S::V>); WIDEST] {
        let s = self.s;
        let mut sums = [Sum::zero(s); WIDEST];
        for lane in 0..WIDEST {
            sums[lane] = self.text::<1>([streams[lane]], messages[lane], 0);
        }
        [(streams[WIDEST], Sum::of_lanes(s, sums)); WIDEST]
    }

    /// `N` vectors of each text, and with `MORE` what is behind them, one text behind another: the processor takes the
    /// rounds of one beside the products of the one before. `M` is `N` and one.
    #[inline(always)]
    fn texts<const N: usize, const M: usize, const MORE: bool>(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
    ) -> [(S::V, Sum<S::V>); WIDEST] {
        let s = self.s;
        let nonces = self.nonces(messages);
        let one = s.splat(&NUMBERS[0]);
        let mut texts = [(one, Sum::zero(s)); WIDEST];
        for i in 0..WIDEST / S::WIDTH {
            let nonces = from(&nonces, i * S::WIDTH);
            let (mut mask, mut masks) = (s.join_lanes(nonces), nonces);
            let mut sums = [Sum::zero(s); WIDEST];
            for lane in 0..S::WIDTH {
                let message = &mut *messages[i * S::WIDTH + lane];
                let nonce = s.splat_narrow(nonces[lane]);
                let mut keys = self.keys;
                if !ONE_KEY {
                    keys = SameKey::new(s, message.key.key.key.keys());
                }
                let mut stream = counters::<S, N>(s, nonce, 0);
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
                sums[lane] = self.text::<N>(stream, message, 0);
                let mut done = N * S::WIDTH;
                while MORE && 16 * done < message.data.len() {
                    stream = C::Cipher::encrypt::<_, N>(s, counters(s, nonce, done), keys);
                    sums[lane].join(s, self.text::<N>(stream, message, done));
                    done += N * S::WIDTH;
                }
            }
            if !ONE_KEY {
                mask = s.join_lanes(masks);
            }
            texts[i] = (mask, Sum::of_lanes(s, sums));
        }
        texts
    }

    /// Up to `N` vectors of the text of a message, from block `at` on. Returns the sum of the products of their
    /// ciphertext.
    #[inline(always)]
    fn text<const N: usize>(
        &self,
        stream: [S::V; N],
        message: &mut Message<'_, Gcm<C>>,
        at: usize,
    ) -> Sum<S::V> {
        let s = self.s;
        let blocks = blocks(message.data);
        let factors = self.powers(message).last(blocks + 1);
        let mut rest = &mut message.data[16 * at..];
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
            sum.add(s, s.reverse(ciphertext), factors.at(s, (at + i * S::WIDTH).min(blocks)));
        }
        sum
    }

    /// The powers of the hash key of a message.
    #[inline(always)]
    fn powers<'m>(&'m self, message: &Message<'m, Gcm<C>>) -> &'m Powers {
        if ONE_KEY { self.first_powers } else { &message.key.key.powers }
    }
}

/// The counters of `N` vectors of text, from block `at` on.
#[inline(always)]
fn counters<S: Blocks, const N: usize>(s: S, nonce: S::V, at: usize) -> [S::V; N] {
    let mut counters = [nonce; N];
    for i in 0..N {
        counters[i] = s.xor(nonce, s.load(&NUMBERS[1 + at + i * S::WIDTH..]));
    }
    counters
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
