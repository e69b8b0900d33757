//! Many short GCM messages: the text of each fills vectors of its own, and what is one block of each (J0, AAD,
//! lengths, the end of the hash) stands side by side, a lane for each message.
//!
//! With W lanes, W messages have one vector of blocks J0, one reduction and one vector of products each for AAD and
//! lengths, where W messages one by one have W of all these. The sums of the products of a text are in the lanes of
//! its vectors; those of W messages are added up so that the sum of each is in its lane.
//!
//! Messages are sorted by their numbers of vectors: no branch depends on a length then, which no processor could
//! foresee (but one on whether a text is empty), and it begins with the next message before one has ended.

#![expect(
    clippy::manual_memcpy,
    reason = "loops of constant length, whose values stay in registers"
)]

use core::{mem, ptr};

use lanelock_isa::{AesClmul, AesLevel, Blocks, Kernel, WIDEST};

use super::{
    Gcm, GcmKey,
    short::{COUNTERS, MOST, ONE, blocks_of, counter_blocks, splat_nonce},
};
use crate::batch::{
    Batch, Message,
    group::{FEW, few},
    prefers_lanes,
};
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

/// Short messages side by side where that pays, others one by one.
#[inline]
fn each<C: SizedCipher, const SEAL: bool>(mut messages: &mut [Message<'_, Gcm<C>>]) {
    while let Some(first) = messages.first()
        && let level = first.key.level()
        && messages.len() >= few()
        && has_lanes(level)
    {
        let all = mem::take(&mut messages);
        let pays = prefers_lanes() || pays(all, level);
        let (now, later) = all.split_at_mut(all.len().min(if pays { CHUNK } else { CHUNK / 4 }));
        messages = later;
        if !(pays && side_by_side::<C, SEAL>(now, level)) {
            now.iter_mut().for_each(Message::alone::<SEAL>);
        }
    }
    messages.iter_mut().for_each(Message::alone::<SEAL>);
}

/// Those of a chunk that are short side by side, the others one by one; nothing of that, and `false`, if too many are
/// long, or they have several keys where that is no gain. Not inlined: a few messages that go one by one do not need its
/// frame.
#[inline(never)]
fn side_by_side<C: SizedCipher, const SEAL: bool>(
    messages: &mut [Message<'_, Gcm<C>>],
    level: AesLevel,
) -> bool {
    let found = Found::new(messages, level);
    let gain = 4 * found.count >= 3 * messages.len()
        && (found.one_key || level.ways().joins_lanes_cheaply());
    if found.count < few() || !(gain || prefers_lanes()) {
        return false;
    }
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
        level.run(Groups::<C, true, SEAL> { groups });
    } else {
        level.run(Groups::<C, false, SEAL> { groups });
    }
    rest.iter_mut().flatten().for_each(|message| message.alone::<SEAL>());
    true
}

/// Messages looked at together.
const CHUNK: usize = 64;

/// Whether messages of the level go side by side: where the vectors are widest, and one reduction serves as many messages
/// as they have lanes. At narrower ones a message alone is faster, and at the portable one its planes are full.
#[inline(always)]
fn has_lanes(level: AesLevel) -> bool {
    level.width() == WIDEST && level != AesLevel::PORTABLE
}

/// So many messages tell what those of a quarter of a chunk are like: looking at all would slow batches that go one by one.
const SAMPLE: usize = 4;

/// Whether messages like the first ones take less time side by side than one by one: the binary `mixes` of the lab's
/// worker says so. One by one, a processor that predicts every branch is fast, and those of equal lengths are predicted.
#[inline(always)]
fn pays<C: SizedCipher>(messages: &[Message<'_, Gcm<C>>], level: AesLevel) -> bool {
    let Some(sample) = messages.first_chunk::<SAMPLE>() else { return false };
    let short = || sample.iter().filter(|message| group_size(message, level).is_some()).count();
    let [first, ..] = sample;
    let text = first.data.len();
    let one_key = sample.iter().all(|message| ptr::eq(message.key, first.key));
    let with_aad = !first.aad.is_empty();
    let gain = if level.ways().joins_lanes_cheaply() {
        one_key || with_aad || sample.iter().any(|message| message.data.len() != text)
    } else {
        messages.len() >= 3 * FEW && one_key && with_aad
    };
    gain && short() > SAMPLE / 2
}

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
const LONG: u8 = MOST as u8;

/// The size of a message that is short: of how many vectors its text is, less one.
#[inline(always)]
fn group_size<C: SizedCipher>(message: &Message<'_, Gcm<C>>, level: AesLevel) -> Option<u8> {
    let text = message.data.len();
    let short = message.nonce.len() == 12
        && message.aad.len() <= 16
        && text <= 16 * WIDEST * MOST
        && message.tag.len() == message.key.tag_length
        && message.key.level() == level;
    short.then(|| size_of_text(text))
}

impl Found {
    /// Looks at all. `level` is that of the first key.
    #[inline(always)]
    fn new<C: SizedCipher>(messages: &[Message<'_, Gcm<C>>], level: AesLevel) -> Self {
        let mut sizes = [LONG; CHUNK];
        // What the loop finds stays in registers, since nothing is called in it: in memory, each message would wait
        // for the one before. All keys are compared with that of the first message, short or not:
        // where only that one has another, the others take the kernel of many keys.
        let first = messages.first().map_or(ptr::null(), |first| ptr::from_ref(first.key)).addr();
        let (mut count, mut sorted, mut other_keys, mut before) = (0, true, 0, 0);
        for (message, size) in messages.iter().zip(&mut sizes) {
            if let Some(short) = group_size(message, level) {
                *size = short;
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

/// How many vectors a text takes, less one: a size of a short one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a small number")]
fn size_of_text(bytes: usize) -> u8 {
    (bytes.saturating_sub(1) / (16 * WIDEST)) as u8
}

/// Short messages sorted by their sizes, with `ONE_KEY` or a key each.
struct Groups<'g, 'm, 'a, C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> {
    groups: &'g mut [[Option<&'m mut Message<'a, Gcm<C>>>; WIDEST]],
}

impl<C: SizedCipher, const ONE_KEY: bool, const SEAL: bool> Kernel
    for Groups<'_, '_, '_, C, ONE_KEY, SEAL>
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        assert!(const { S::VECTORS > 1 && S::WIDTH == WIDEST }, "one by one: see `has_lanes`");
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
            let size = size_of_text(messages[WIDEST - 1].data.len());
            let together = ONE_KEY && size == 0;
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
            let nonce = messages[lane].nonce.try_into().expect("12 bytes: see `group_size`");
            nonces[lane] = splat_nonce(n, nonce);
        }
        nonces
    }

    /// Encrypts or decrypts the texts. Returns the blocks E(K, J0), and the sums of the products of the ciphertexts, a
    /// lane for each message.
    #[inline(always)]
    fn texts_of(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        size: u8,
    ) -> (S::V, Sum<S::V>) {
        match size {
            0 => self.texts::<1, 2>(messages),
            1 => self.texts::<2, 3>(messages),
            2 => self.texts::<3, 4>(messages),
            _ => self.texts::<MOST, { MOST + 1 }>(messages),
        }
    }

    /// Adds AAD and lengths, and writes or compares the tags.
    #[inline(always)]
    fn finish(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        (mask, mut sum): (S::V, Sum<S::V>),
    ) {
        let (s, n) = (self.s, self.s.narrow());
        let mut aad = [n.zero(); WIDEST];
        let mut lengths = aad;
        let (mut of_aad, mut of_lengths) = ([Factor::zero(n); WIDEST], [Factor::zero(n); WIDEST]);
        for lane in 0..WIDEST {
            let message = &*messages[lane];
            let Message { nonce, aad: bytes, data, .. } = message;
            let powers = self.powers(message);
            lengths[lane] = n.splat_halves(data.len() as u64 * 8, bytes.len() as u64 * 8);
            of_lengths[lane] = powers.last(1).at(n, 0);
            // An empty AAD may point to an unmapped address, as `&[]` does, where a load with a mask takes hundreds of
            // cycles even if the mask is empty. Another address is selected, without a branch.
            let bytes = if bytes.is_empty() { &nonce[..0] } else { *bytes };
            aad[lane] = s.lanes(s.load_part(bytes))[0];
            of_aad[lane] = powers.last(blocks_of(data.len()) + 2).at(n, 0);
        }
        let of_lengths = if ONE_KEY {
            Factor::splat(s, of_lengths[0])
        } else {
            Factor::join_lanes(s, of_lengths)
        };
        sum.add(s, s.join_lanes(lengths), of_lengths);
        sum.add(s, s.reverse(s.join_lanes(aad)), Factor::join_lanes(s, of_aad));
        let tags = s.lanes(s.xor(mask, s.reverse(sum.reduce(s))));
        for lane in 0..WIDEST {
            let mut tag = [[0; 16]];
            n.store(tags[lane], &mut tag);
            messages[lane].finish::<SEAL>(&mut tag[0]);
        }
    }

    /// The key streams of texts of at most a vector, and behind them the blocks E(K, J0), all at once: the rounds of
    /// one would wait for one another.
    #[inline(always)]
    fn together(&self, messages: &[&mut Message<'_, Gcm<C>>; WIDEST]) -> [S::V; WIDEST + 1] {
        let s = self.s;
        let nonces = self.nonces(messages);
        let mut v = [s.xor(s.join_lanes(nonces), s.splat(&ONE)); WIDEST + 1];
        for lane in 0..WIDEST {
            [v[lane]] = counter_blocks(s, s.splat_narrow(nonces[lane]), &COUNTERS.0);
        }
        C::Cipher::encrypt::<_, { WIDEST + 1 }>(s, v, self.keys)
    }

    /// Texts of at most a vector, whose key streams are known. Returns what [`texts_of`](Self::texts_of) does.
    #[inline(always)]
    fn text_each(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
        streams: [S::V; WIDEST + 1],
    ) -> (S::V, Sum<S::V>) {
        let s = self.s;
        let mut sums = [Sum::zero(s); WIDEST];
        for lane in 0..WIDEST {
            sums[lane] = self.text::<1>([streams[lane]], messages[lane]);
        }
        (streams[WIDEST], Sum::of_lanes(s, sums))
    }

    /// Texts of at most `N` vectors, one behind another: the processor takes the rounds of one beside the products of
    /// the one before. `M` is `N` and one.
    #[inline(always)]
    fn texts<const N: usize, const M: usize>(
        &self,
        messages: &mut [&mut Message<'_, Gcm<C>>; WIDEST],
    ) -> (S::V, Sum<S::V>) {
        let s = self.s;
        let nonces = self.nonces(messages);
        let one = s.splat(&ONE);
        let (mut mask, mut masks) = (s.join_lanes(nonces), nonces);
        let mut sums = [Sum::zero(s); WIDEST];
        for lane in 0..WIDEST {
            let message = &mut *messages[lane];
            let nonce = s.splat_narrow(nonces[lane]);
            let mut keys = self.keys;
            if !ONE_KEY {
                keys = SameKey::new(s, message.key.key.key.keys());
            }
            let mut stream = counter_blocks::<S, N>(s, nonce, &COUNTERS.0);
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
            sums[lane] = self.text::<N>(stream, message);
        }
        if !ONE_KEY {
            mask = s.join_lanes(masks);
        }
        (mask, Sum::of_lanes(s, sums))
    }

    /// The text of a message, of at most `N` vectors. Returns the sum of the products of the ciphertext.
    #[inline(always)]
    fn text<const N: usize>(
        &self,
        stream: [S::V; N],
        message: &mut Message<'_, Gcm<C>>,
    ) -> Sum<S::V> {
        let s = self.s;
        // An empty text may point to an unmapped address, as an empty AAD: see `finish`.
        if message.data.is_empty() {
            return Sum::zero(s);
        }
        let blocks = blocks_of(message.data.len());
        let factors = self.powers(message).last(blocks + 1);
        let mut rest = &mut *message.data;
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

    /// The powers of the hash key of a message.
    #[inline(always)]
    fn powers<'m>(&'m self, message: &Message<'m, Gcm<C>>) -> &'m Powers {
        if ONE_KEY { self.first_powers } else { &message.key.key.powers }
    }
}

/// A vector of one block.
type Narrow<S> = <<S as Blocks>::Narrow as Blocks>::V;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aes128Gcm, batch::with_messages};

    fn make(level: AesLevel) -> impl Fn() -> Aes128Gcm {
        move || Aes128Gcm::with_level(&[1; 16], level)
    }

    /// No output says which way messages went.
    #[test]
    fn where_lanes_pay() {
        for level in AesLevel::available().into_iter().filter(|level| has_lanes(*level)) {
            let cheap = level.ways().joins_lanes_cheaply();
            for (keys, gain) in [(1, true), (32, cheap)] {
                let gains = |count, bytes| {
                    with_messages(make(level), keys, count, bytes, |messages| pays(messages, level))
                };
                assert_eq!(gains(32, 16), gain, "{level}, {keys} keys");
                assert_eq!(gains(23, 16), cheap, "{level}, {keys} keys");
                assert!(!gains(32, 1024), "{level}, {keys} keys");
            }
            with_messages(make(level), 1, 32, 16, |messages| {
                for message in messages.iter_mut() {
                    message.aad = &[];
                }
                assert_eq!(pays(messages, level), cheap, "{level}, without AAD");
            });
        }
    }

    /// Messages behind the sample have other keys.
    #[test]
    fn keys_behind_the_sample() {
        for level in AesLevel::available().into_iter().filter(|level| has_lanes(*level)) {
            with_messages(make(level), 32, 32, 16, |messages| {
                let [first, others @ ..] = messages else { panic!("32 messages") };
                for message in &mut others[..SAMPLE] {
                    message.key = first.key;
                }
                assert!(pays(messages, level), "{level}");
                let cheap = level.ways().joins_lanes_cheaply();
                assert_eq!(side_by_side::<_, true>(messages, level), cheap, "{level}");
            });
        }
    }
}
