//! Short GCM messages side by side, a lane for each, read and written where they are.
//!
//! Lane i computes what GCM defines for message i (see `gcm`): E(K, J0 + j) for row j of its blocks,
//! and Y = (Y ^ X) H after each block X, since every lane has a hash of its own.
//!
//! Neighbours with the same lengths need no sorting, and their blocks no copies: vectors are gathered
//! from the messages and scattered to them. Only a last block that is not full, AAD and nonces are
//! copied side by side before. Other messages are processed one by one.
//!
//! A vector of text costs 10 rounds with a 128-bit key (5 cycles, two a cycle) and 5 products, two of
//! them for its own reduction (10 cycles, one in two): the products bound it. The products of a lane
//! wait for those of its block before, so 4 vectors run side by side.

use core::{marker::PhantomData, ptr};

use lanelock_isa::{AesClmul, Block, Kernel, Window, wipe};

use super::{
    batch::{Batch, Message, nonce_block},
    gcm::{Gcm, GcmKey},
};
use lanelock_core::{
    cipher::{Cipher, CipherKeys, SameKey, Schedule, SizedCipher},
    parts::{authenticate_beside, copy_tag},
};
use lanelock_hash::field::{Factor, multiply};

impl<C: SizedCipher> Batch for Gcm<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        run_all::<C, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        run_all::<C, false>(messages);
    }
}

/// Lanes of a call.
const LANES: usize = 16;

/// The most blocks of text: with more, a message fills the vectors well enough alone.
const MOST_TEXT: usize = 16;

/// The same where every message has a key of its own. Keys of 16 lanes do not fit in registers: they
/// are gathered anew for every two rows of blocks, which with more rows costs more than it saves.
const MOST_TEXT_KEY_EACH: usize = 2;

/// Messages looked at together.
const CHUNK: usize = 64;

/// Vectors side by side. Two rows of them are encrypted at once: 8 states, which cover the latency.
const VECTORS: usize = 4;

/// A block of each message. The last vector of a chunk may reach beyond the last message, into blocks
/// whose results are not used.
type ChunkBlocks = [Block; CHUNK + LANES];

/// Copies of what does not stand in whole blocks in the messages: one block of each message.
struct Rows {
    nonces: ChunkBlocks,
    aad: ChunkBlocks,
    parts: ChunkBlocks,
}

impl Rows {
    fn new() -> Self {
        Self {
            nonces: [[0; 16]; CHUNK + LANES],
            aad: [[0; 16]; CHUNK + LANES],
            parts: [[0; 16]; CHUNK + LANES],
        }
    }
}

/// Seals or opens runs of messages that are alike together, and the others one by one.
#[inline(always)]
fn run_all<C: SizedCipher, const SEAL: bool>(messages: &mut [Message<'_, Gcm<C>>]) {
    let mut rows = Rows::new();
    let mut rest = messages;
    while let Some(run) = look(rest, &mut rows) {
        let (now, later) = rest.split_at_mut(run.count);
        rest = later;
        if run.together() {
            together::<C, SEAL>(now, run, &mut rows);
        } else {
            for message in now {
                message.alone::<SEAL>();
            }
        }
    }
}

/// Messages that are alike.
#[derive(Clone, Copy)]
struct EqualLengths {
    shape: GcmShape,
    count: usize,
    one_key: bool,
}

/// The lengths that messages have in common, in bytes.
#[derive(Clone, Copy)]
struct GcmShape {
    aad: usize,
    text: usize,
}

impl EqualLengths {
    /// Whether they are faster side by side than one by one.
    #[inline(always)]
    fn together(&self) -> bool {
        let most = if self.one_key { MOST_TEXT } else { MOST_TEXT_KEY_EACH };
        self.count > 1 && self.shape.aad <= 16 && self.shape.text <= 16 * most
    }
}

/// The messages at the beginning that are alike, if any are left. Their nonces are copied into
/// `rows`, and AAD and partial blocks too if they are to be processed together.
#[inline(always)]
fn look<C: SizedCipher>(messages: &[Message<'_, Gcm<C>>], rows: &mut Rows) -> Option<EqualLengths> {
    let first = messages.first()?;
    let shape = GcmShape { aad: first.aad.len(), text: first.data.len() };
    let mut run = EqualLengths { shape, count: 0, one_key: true };
    for (message, nonce) in messages.iter().zip(&mut rows.nonces[..CHUNK]) {
        let Some(block) = nonce_block(message.nonce) else { break };
        if message.aad.len() != shape.aad
            || message.data.len() != shape.text
            || message.tag.len() != message.key.tag_length
        {
            break;
        }
        // Different keys can share a kernel, different levels cannot.
        if !ptr::eq(message.key, first.key) {
            if message.key.level() != first.key.level() {
                break;
            }
            run.one_key = false;
        }
        *nonce = block;
        run.count += 1;
    }
    // Messages that match no neighbour, and invalid ones, are processed one by one; `alone` reports
    // the error.
    run.count = run.count.max(1);
    if run.together() && shape.aad > 0 {
        for (message, row) in messages.iter().zip(&mut rows.aad[..run.count]) {
            *row = [0; 16];
            row[..shape.aad].copy_from_slice(message.aad);
        }
    }
    if run.together() && !shape.text.is_multiple_of(16) {
        for (message, row) in messages.iter().zip(&mut rows.parts[..run.count]) {
            let (_, part) = message.data.as_chunks::<16>();
            *row = [0; 16];
            row[..part.len()].copy_from_slice(part);
        }
    }
    Some(run)
}

/// Seals or opens the messages of a run, `LANES` at a time.
#[inline(always)]
fn together<C: SizedCipher, const SEAL: bool>(
    messages: &mut [Message<'_, Gcm<C>>],
    EqualLengths { shape, one_key, .. }: EqualLengths,
    rows: &mut Rows,
) {
    let key = messages[0].key;
    let (level, cipher) = (key.level(), PhantomData::<C::Cipher>);
    let mut start = 0;
    for messages in messages.chunks_mut(LANES) {
        let mut tags = [[0; 16]; LANES];
        {
            let (used, tags) = (messages.len(), &mut tags);
            // Whole blocks are read and written in the messages themselves.
            let mut lanes: [&mut [Block]; LANES] = Default::default();
            let mut keys = [key.parts(); LANES];
            if !one_key {
                for (key, message) in keys.iter_mut().zip(&*messages) {
                    *key = message.key.parts();
                }
            }
            for (lane, message) in lanes.iter_mut().zip(&mut *messages) {
                (*lane, _) = message.data.as_chunks_mut();
            }
            let lanes = &mut lanes;
            if one_key {
                let keys = GcmOneKey(key.parts());
                level.run(Alike::<_, _, SEAL> {
                    keys,
                    shape,
                    lanes,
                    used,
                    tags,
                    rows,
                    start,
                    cipher,
                });
            } else {
                let keys = GcmKeyEach(&keys);
                level.run(Alike::<_, _, SEAL> {
                    keys,
                    shape,
                    lanes,
                    used,
                    tags,
                    rows,
                    start,
                    cipher,
                });
            }
        }
        for ((message, tag), part) in messages.iter_mut().zip(&mut tags).zip(&rows.parts[start..]) {
            if !shape.text.is_multiple_of(16) {
                let (_, rest) = message.data.as_chunks_mut::<16>();
                rest.copy_from_slice(&part[..rest.len()]);
            }
            if SEAL {
                copy_tag(tag, message.tag);
                message.result = Ok(());
            } else {
                let tag = &mut tag[..message.tag.len().min(16)];
                message.result = authenticate_beside(tag, message.tag, message.data);
            }
        }
        if !SEAL {
            wipe(tags.as_flattened_mut());
        }
        start += LANES;
    }
    if !shape.text.is_multiple_of(16) {
        wipe(rows.parts.as_flattened_mut());
    }
}

/// At most `LANES` messages, the first of which has number `start` in `rows`.
struct Alike<'w, 'm, K, C: Cipher, const SEAL: bool> {
    keys: K,
    shape: GcmShape,
    /// Their whole blocks.
    lanes: &'w mut [&'m mut [Block]; LANES],
    /// The lanes in use.
    used: usize,
    tags: &'w mut [Block; LANES],
    rows: &'w mut Rows,
    start: usize,
    cipher: PhantomData<C>,
}

impl<K: GcmKeys<C>, C: Cipher, const SEAL: bool> Kernel for Alike<'_, '_, K, C, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, shape, lanes, used, tags, rows, start, .. } = self;
        let mut at = 0;
        while at < used {
            let tags = &mut tags[at..];
            if S::VECTORS > 1 && used - at >= VECTORS * S::WIDTH {
                let lanes = &mut lanes[at..at + VECTORS * S::WIDTH];
                // Four full vectors of messages, or one that need not be full.
                GcmGroup::<S, VECTORS, SEAL> { s, shape, at, start: start + at }
                    .run::<K, C, { 2 * VECTORS }>(&keys, lanes, rows, tags);
                at += VECTORS * S::WIDTH;
            } else {
                let lanes = &mut lanes[at..used.min(at + S::WIDTH)];
                GcmGroup::<S, 1, SEAL> { s, shape, at, start: start + at }
                    .run::<K, C, 2>(&keys, lanes, rows, tags);
                at += S::WIDTH;
            }
        }
    }
}

/// The messages of `N` vectors: from lane `at` on, and from place `start` on in the rows.
struct GcmGroup<S, const N: usize, const SEAL: bool> {
    s: S,
    shape: GcmShape,
    at: usize,
    start: usize,
}

impl<S: AesClmul, const N: usize, const SEAL: bool> GcmGroup<S, N, SEAL> {
    /// `M` is twice `N`: so many vectors go through AES together.
    #[inline(always)]
    fn run<K: GcmKeys<C>, C: Cipher, const M: usize>(
        &self,
        keys: &K,
        lanes: &mut [&mut [Block]],
        rows: &mut Rows,
        tags: &mut [Block],
    ) {
        // Registers with one 128-bit key: 8 states, 11 keys, and for each of the 4 vectors a nonce,
        // a hash and the mask of the tag, and 2 of H: 33 during the rounds, so that some are on the
        // stack. With a key for each message the keys are loaded as they are needed.
        let Self { s, shape: GcmShape { aad, text }, at, start } = *self;
        let round_keys = keys.rounds::<S, N>(s, at);
        let whole = text / 16;
        let last = text.div_ceil(16);
        let mut window = Window::<N>::new(S::WIDTH, whole, lanes);
        let mut h = [keys.factor(s, at); N];
        let mut y = [s.zero(); N];
        let mut nonce = [s.load(&rows.nonces[start..]); N];
        for i in 1..N {
            nonce[i] = s.load(&rows.nonces[start + i * S::WIDTH..]);
            h[i] = keys.factor(s, at + i * S::WIDTH);
        }
        if aad > 0 {
            for i in 0..N {
                let v = s.load(&rows.aad[start + i * S::WIDTH..]);
                // At most one block of AAD: the first step of the hash.
                y[i] = multiply(s, s.reverse(v), h[i]);
            }
        }
        // Row 0 masks the tags, row 1 is for the first block of text.
        let mut v = numbered::<S, N, M>(s, nonce, 0);
        v = C::encrypt::<_, M>(s, v, round_keys);
        let mut mask = nonce;
        let mut stream = nonce;
        for i in 0..N {
            (mask[i], stream[i]) = (v[i], v[N + i]);
        }
        let mut row = 1;
        while row <= last {
            self.text(&mut window, rows, row, stream, h, &mut y);
            row += 1;
            // Two rows at a time while two are left; one for an odd last row.
            if row < last {
                v = numbered::<S, N, M>(s, nonce, row);
                v = C::encrypt::<_, M>(s, v, round_keys);
                let mut later = stream;
                for i in 0..N {
                    (stream[i], later[i]) = (v[i], v[N + i]);
                }
                self.text(&mut window, rows, row, stream, h, &mut y);
                row += 1;
                stream = later;
            } else if row == last {
                stream = C::encrypt::<_, N>(s, numbered::<S, N, N>(s, nonce, row), round_keys);
            }
        }
        let lengths = s.splat_halves(text as u64 * 8, aad as u64 * 8);
        for i in 0..N {
            // The last block of GHASH is the lengths; the mask makes a tag of it.
            let hash = multiply(s, s.xor(y[i], lengths), h[i]);
            s.store(s.xor(mask[i], s.reverse(hash)), &mut tags[i * S::WIDTH..]);
        }
    }

    /// One row of text.
    #[inline(always)]
    fn text(
        &self,
        window: &mut Window<'_, N>,
        rows: &mut Rows,
        row: usize,
        stream: [S::V; N],
        h: [Factor<S::V>; N],
        y: &mut [S::V; N],
    ) {
        let Self { s, shape, start, .. } = *self;
        let mut output = stream;
        if row <= shape.text / 16 {
            let in_last = window.in_last();
            // Row 1 of the counters is block 0 of the text. All is gathered before anything is
            // scattered: the compiler need not keep loads behind stores that might overlap with
            // them.
            let from = window.row(row - 1);
            let mut text = stream;
            for i in 0..N {
                text[i] = s.gather(from, i);
                output[i] = s.xor(text[i], stream[i]);
            }
            let mut to = window.row_mut(S::WIDTH, row - 1);
            for i in 0..N {
                if i < N - 1 || in_last == S::WIDTH {
                    s.scatter(output[i], &mut to, i);
                } else {
                    s.scatter_last(output[i], &mut to, in_last);
                }
                let hashed = if SEAL { output[i] } else { text[i] };
                y[i] = multiply(s, s.xor(y[i], s.reverse(hashed)), h[i]);
            }
        } else {
            // All messages are equally long, so the last block has the same bytes in every lane.
            let bytes = shape.text % 16;
            let keep = s.splat(&(u128::MAX >> (8 * (16 - bytes))).to_le_bytes());
            for i in 0..N {
                let place = &mut rows.parts[start + i * S::WIDTH..];
                let text = s.load(place);
                let output = s.and(s.xor(text, stream[i]), keep);
                s.store(output, place);
                let hashed = if SEAL { output } else { text };
                y[i] = multiply(s, s.xor(y[i], s.reverse(hashed)), h[i]);
            }
        }
    }
}

/// Counters of `M` / `N` rows from `row` on.
#[inline(always)]
fn numbered<S: AesClmul, const N: usize, const M: usize>(
    s: S,
    nonce: [S::V; N],
    row: usize,
) -> [S::V; M] {
    let mut v = [nonce[0]; M];
    for i in 0..M {
        v[i] = s.xor(nonce[i % N], s.splat(&NUMBERS[row + i / N]));
    }
    v
}

/// Where the lanes find their keys.
trait GcmKeys<C: Cipher> {
    /// The round keys of the lanes of the `N` vectors that start at lane `at`; vector number `N` of a
    /// call has the lanes of vector 0 again, and so on.
    fn rounds<S: AesClmul, const N: usize>(&self, s: S, at: usize) -> impl CipherKeys<S, C>;
    /// Their hash keys.
    fn factor<S: AesClmul>(&self, s: S, at: usize) -> Factor<S::V>;
}

/// All lanes have the same key.
struct GcmOneKey<'k, C: Cipher>(&'k GcmKey<C>);

impl<C: Cipher> GcmKeys<C> for GcmOneKey<'_, C> {
    #[inline(always)]
    fn rounds<S: AesClmul, const N: usize>(&self, s: S, _: usize) -> impl CipherKeys<S, C> {
        SameKey::new(s, self.0.key.keys())
    }

    #[inline(always)]
    fn factor<S: AesClmul>(&self, s: S, _: usize) -> Factor<S::V> {
        let [h, both] = self.0.powers.first();
        Factor::with_both(s.splat(h), s.splat(both))
    }
}

/// Every lane has a key of its own, and reads it where it is.
struct GcmKeyEach<'a, 'k, C: Cipher>(&'a [&'k GcmKey<C>; LANES]);

impl<C: Cipher> GcmKeys<C> for GcmKeyEach<'_, '_, C> {
    #[inline(always)]
    fn rounds<S: AesClmul, const N: usize>(&self, _: S, at: usize) -> impl CipherKeys<S, C> {
        let mut keys = [self.0[at].key.keys(); LANES];
        for i in 1..N * S::WIDTH {
            keys[i] = self.0[at + i].key.keys();
        }
        GcmVectorKeys::<N, C>(keys)
    }

    #[inline(always)]
    fn factor<S: AesClmul>(&self, s: S, at: usize) -> Factor<S::V> {
        let [mut h, mut both] = self.0[at].powers.first().map(|block| [block; 4]);
        for i in 1..S::WIDTH {
            [h[i], both[i]] = self.0[at + i].powers.first();
        }
        Factor::with_both(s.load_each(&h), s.load_each(&both))
    }
}

/// The keys of the lanes of `N` vectors; the vectors of a call are rows of these.
#[derive(Clone, Copy)]
struct GcmVectorKeys<'k, const N: usize, C: Cipher>([Schedule<'k, C>; LANES]);

impl<S: AesClmul, const N: usize, C: Cipher> CipherKeys<S, C> for GcmVectorKeys<'_, N, C> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> C::RoundKey<S> {
        let at = vector % N * S::WIDTH;
        let mut blocks = [&self.0[at].keys.as_ref()[round]; 4];
        for i in 1..S::WIDTH {
            blocks[i] = &self.0[at + i].keys.as_ref()[round];
        }
        C::lane_keys(s, s.load_each(&blocks))
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0[0].rounds
    }
}

/// The counters 1 to `MOST_TEXT` + 1 behind an empty nonce.
static NUMBERS: [Block; MOST_TEXT + 1] = {
    let mut numbers = [[0; 16]; MOST_TEXT + 1];
    let mut i = 0;
    while i <= MOST_TEXT {
        #[expect(clippy::cast_possible_truncation, reason = "17 at most")]
        let number = i as u8 + 1;
        numbers[i][15] = number;
        i += 1;
    }
    numbers
};
