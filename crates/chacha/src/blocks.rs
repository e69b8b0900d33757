//! Blocks of key stream: one a lane, or, of few, one row of each in a vector.

use lanelock_core::InOut;
use lanelock_isa::{HashLevel, MOST_WORDS, Pair, PortableWords, Word, WordKernel, Words, wipe};
use zeroize::Zeroize;

/// Bytes in a block, and in the state that it is made of.
pub const STATE: usize = 64;

/// The state of one block, or a block of key stream: sixteen words, little-endian.
pub type State = [u8; STATE];

/// The state of block `counter` under `key` (RFC 8439, 2.3).
#[inline(always)]
pub fn state(key: &[u8; 32], counter: u32, nonce: &[u8; 12]) -> State {
    let mut state = [0; STATE];
    state[..16].copy_from_slice(b"expand 32-byte k");
    state[16..48].copy_from_slice(key);
    state[48..52].copy_from_slice(&counter.to_le_bytes());
    state[52..].copy_from_slice(nonce);
    state
}

/// A quarter of a round (2.1).
#[inline(always)]
fn quarter<S: Words<u32>, const N: usize>(s: S, v: &mut [S::V; N], [a, b, c, d]: [usize; 4]) {
    v[a] = s.add(v[a], v[b]);
    v[d] = s.rotate_left::<16>(s.xor(v[d], v[a]));
    v[c] = s.add(v[c], v[d]);
    v[b] = s.rotate_left::<12>(s.xor(v[b], v[c]));
    v[a] = s.add(v[a], v[b]);
    v[d] = s.rotate_left::<8>(s.xor(v[d], v[a]));
    v[c] = s.add(v[c], v[d]);
    v[b] = s.rotate_left::<7>(s.xor(v[b], v[c]));
}

/// Two rounds, one of columns and one of diagonals (2.3). No loop: indices that are constants keep the words in
/// registers.
#[inline(always)]
fn double_round<S: Words<u32>>(s: S, v: &mut [S::V; 16]) {
    quarter(s, v, [0, 4, 8, 12]);
    quarter(s, v, [1, 5, 9, 13]);
    quarter(s, v, [2, 6, 10, 14]);
    quarter(s, v, [3, 7, 11, 15]);
    quarter(s, v, [0, 5, 10, 15]);
    quarter(s, v, [1, 6, 11, 12]);
    quarter(s, v, [2, 7, 8, 13]);
    quarter(s, v, [3, 4, 9, 14]);
}

/// The block of each lane, word by word.
#[inline(always)]
fn rounds<S: Words<u32>>(s: S, state: &[S::V; 16]) -> [S::V; 16] {
    let mut v = *state;
    for _ in 0..10 {
        double_round(s, &mut v);
    }
    for at in 0..16 {
        v[at] = s.add(v[at], state[at]);
    }
    v
}

/// The blocks of `state` and of the counters behind it, as many as a vector has rows of 16 bytes: row *i* of each block
/// is in vector *i*. They are fewer than in lanes and take half the time, in which rounds wait for one another.
#[inline(always)]
fn rows<S: Words<u32>>(s: S, state: &State) -> [S::V; 4] {
    let (rows, _) = state.as_chunks::<16>();
    let state = [
        s.splat_row(&rows[0]),
        s.splat_row(&rows[1]),
        s.splat_row(&rows[2]),
        s.add(s.splat_row(&rows[3]), s.load(&ROWS)),
    ];
    let mut v = state;
    for _ in 0..10 {
        quarter(s, &mut v, [0, 1, 2, 3]);
        // Diagonals become columns. Row 1, which is ready last, stays.
        v = [s.next_words::<3>(v[0]), v[1], s.next_words::<1>(v[2]), s.next_words::<2>(v[3])];
        quarter(s, &mut v, [0, 1, 2, 3]);
        v = [s.next_words::<1>(v[0]), v[1], s.next_words::<3>(v[2]), s.next_words::<2>(v[3])];
    }
    for at in 0..4 {
        v[at] = s.add(v[at], state[at]);
    }
    s.turn_rows(v)
}

/// The numbers of the blocks, in the first word of each row.
const ROWS: [u32; MOST_WORDS] = {
    let mut numbers = [0; MOST_WORDS];
    let mut word = 4;
    while word < MOST_WORDS {
        numbers[word] = numbers[word - 4] + 1;
        word += 4;
    }
    numbers
};

/// Whether a vector has rows of several blocks: with one row, the four blocks of four lanes take no longer than it.
#[inline(always)]
pub const fn rows_are_fast<S: Words<u32>>() -> bool {
    S::LANES > 4
}

/// Bytes of key stream that one vector a row gives, where that is fast.
#[inline(always)]
const fn few<S: Words<u32>>() -> usize {
    if rows_are_fast::<S>() { 16 * S::LANES } else { 0 }
}

/// Bytes of key stream that one vector a word gives.
#[inline(always)]
const fn group<S: Words<u32>>() -> usize {
    STATE * S::LANES
}

/// The blocks of `state` and of the counters behind it, one a lane.
#[inline(always)]
fn in_lanes<S: Words<u32>>(s: S, state: &State) -> [S::V; 16] {
    let mut lanes = [s.splat(0); 16];
    for (at, lanes) in lanes.iter_mut().enumerate() {
        *lanes = s.splat(word(state, at));
    }
    lanes[12] = s.add(lanes[12], s.load(&NUMBERS));
    s.turn(rounds(s, &lanes))
}

/// The numbers of the lanes.
const NUMBERS: [u32; MOST_WORDS] = {
    let mut numbers = [0; MOST_WORDS];
    let mut lane = 1;
    while lane < MOST_WORDS {
        numbers[lane] = numbers[lane - 1] + 1;
        lane += 1;
    }
    numbers
};

/// A word of a state.
#[inline(always)]
fn word(state: &State, at: usize) -> u32 {
    let (words, _) = state.as_chunks();
    u32::from_le_bytes(words[at])
}

/// Blocks that so many bytes need: those of a message, whose counter has 32 bits, or fewer.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
#[inline(always)]
const fn blocks(bytes: usize) -> u32 {
    bytes.div_ceil(STATE) as u32
}

/// `state` for the block that is `blocks` further.
#[inline(always)]
pub fn forward(state: &mut State, blocks: u32) {
    let counter = word(state, 12).wrapping_add(blocks);
    state[48..52].copy_from_slice(&counter.to_le_bytes());
}

/// Exclusive-ors key stream over `data`, which has no more bytes.
#[inline(always)]
fn apply<S: Words<u32>>(s: S, stream: &[S::V], mut data: InOut<'_, '_>) {
    let bytes = 4 * S::LANES;
    for &v in stream {
        if data.len() < bytes {
            if !data.is_empty() {
                let mut last = [0; VECTOR];
                s.store_bytes(v, &mut last);
                apply_part(&last, data);
                wipe(&mut last);
            }
            return;
        }
        let (mut now, later) = data.split_at(bytes);
        let text = s.xor(s.load_bytes(now.get_in()), v);
        s.store_bytes(text, now.get_out());
        data = later;
    }
}

/// Bytes of the widest vector.
const VECTOR: usize = 64;

/// The same of bytes in memory, for less than a vector. Eight at once: one by one they would take longer than the
/// rounds.
#[inline(always)]
fn apply_part(stream: &[u8; VECTOR], mut data: InOut<'_, '_>) {
    let (words, _) = stream.as_chunks();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    while data.len() >= 8 {
        let (mut now, later) = data.split_at(8);
        let text = u64::read_le(now.get_in()) ^ words.next().unwrap_or_default();
        text.write_le(now.get_out());
        data = later;
    }
    if !data.is_empty() {
        let mut word = words.next().unwrap_or_default().to_le_bytes();
        let count = data.len();
        data.xor_in2out(&word[..count]);
        wipe(&mut word);
    }
}

/// Exclusive-ors the key stream from `state` on over `data`. Leaves in `state` the next block, of which nothing is
/// used yet: bytes of the last block that are not used are lost.
#[inline(always)]
pub fn xor_stream<S: Words<u32>>(s: S, state: &mut State, mut data: InOut<'_, '_>) {
    if S::MANY_REGISTERS {
        // What is little more than one vector a word goes on in rows.
        while data.len() > group::<S>() + 2 * few::<S>() {
            let count = data.len().min(group::<Pair<S>>());
            let (now, later) = data.split_at(count);
            let stream = in_lanes(Pair(s), state);
            xor_group(s, state, stream.as_flattened(), now);
            data = later;
        }
    }
    // One vector a word takes longer than two a row, with AVX-512, where fewer instructions start at once, than three.
    let most = if S::LANES == 16 { 3 } else { 2 };
    while data.len() > most * few::<S>() {
        let count = data.len().min(group::<S>());
        let (now, later) = data.split_at(count);
        let stream = in_lanes(s, state);
        xor_group(s, state, &stream, now);
        data = later;
    }
    if !rows_are_fast::<S>() {
        return;
    }
    if data.len() > few::<S>() {
        let count = data.len().min(2 * few::<S>());
        let (now, later) = data.split_at(count);
        let stream = rows(Pair(s), state);
        xor_group(s, state, stream.as_flattened(), now);
        data = later;
    }
    if !data.is_empty() {
        let stream = rows(s, state);
        xor_group(s, state, &stream, data);
    }
}

/// The next bytes of a key stream, of which there are enough.
#[inline(always)]
fn xor_group<S: Words<u32>>(s: S, state: &mut State, stream: &[S::V], data: InOut<'_, '_>) {
    forward(state, blocks(data.len()));
    apply(s, stream, data);
}

/// The beginning of a key stream, in `N` vectors: block 0, which is a key for Poly1305, and those behind it.
pub struct Beginning<S: Words<u32>, const N: usize> {
    s: S,
    stream: [S::V; N],
}

// Each goes on from the state of block 0 to that of the first block that is not in the beginning.

impl<S: Words<u32>> Beginning<S, 4> {
    /// One vector a row.
    #[inline(always)]
    pub fn in_rows(s: S, state: &mut State) -> Self {
        Self::new(s, state, rows(s, state))
    }
}

impl<S: Words<u32>> Beginning<S, 8> {
    /// Two vectors a row.
    #[inline(always)]
    pub fn in_pairs_of_rows(s: S, state: &mut State) -> Self {
        let pairs = rows(Pair(s), state);
        let mut stream = [pairs[0][0]; 8];
        for at in 0..4 {
            [stream[2 * at], stream[2 * at + 1]] = pairs[at];
        }
        Self::new(s, state, stream)
    }
}

impl<S: Words<u32>> Beginning<S, 16> {
    /// One vector a word.
    #[inline(always)]
    pub fn in_lanes(s: S, state: &mut State) -> Self {
        Self::new(s, state, in_lanes(s, state))
    }
}

impl<S: Words<u32>, const N: usize> Beginning<S, N> {
    /// Bytes of key stream behind block 0.
    pub const BYTES: usize = N * 4 * S::LANES - STATE;

    #[inline(always)]
    fn new(s: S, state: &mut State, stream: [S::V; N]) -> Self {
        forward(state, blocks(Self::BYTES + STATE));
        Self { s, stream }
    }

    /// The first half of block 0.
    #[inline(always)]
    pub fn key(&self) -> [u8; 32] {
        let mut block = [0; VECTOR];
        let bytes = 4 * S::LANES;
        for (v, bytes) in self.stream.iter().zip(block[..bytes.max(32)].chunks_mut(bytes)) {
            self.s.store_bytes(*v, bytes);
        }
        let mut key = [0; 32];
        key.copy_from_slice(&block[..32]);
        wipe(&mut block);
        key
    }

    /// Exclusive-ors what is behind block 0 over the beginning of a message, at most [`BYTES`](Self::BYTES).
    #[inline(always)]
    pub fn apply(&self, data: InOut<'_, '_>) {
        apply(self.s, &self.stream[STATE / (4 * S::LANES)..], data);
    }
}

/// The block of one state, without lanes.
pub fn block_of(state: &State) -> State {
    let s = PortableWords::<1>::new();
    let mut words = [[0]; 16];
    s.gather(&[state], 0, &mut words);
    let mut block = [0; STATE];
    for (word, bytes) in rounds(s, &words).iter().zip(block.chunks_mut(4)) {
        s.store_bytes(*word, bytes);
    }
    words.zeroize();
    block
}

/// What HChaCha20 makes of a block (draft-irtf-cfrg-xchacha, 2.2): its rounds do not add the state, which is taken
/// away here.
#[inline(always)]
pub fn hchacha(state: &State, block: &State) -> [u8; 32] {
    let mut key = [0; 32];
    for (at, bytes) in [0, 1, 2, 3, 12, 13, 14, 15].into_iter().zip(key.chunks_mut(4)) {
        bytes.copy_from_slice(&word(block, at).wrapping_sub(word(state, at)).to_le_bytes());
    }
    key
}

/// Makes of each state its block of key stream, side by side.
pub fn run_all(level: HashLevel, states: &mut [State]) {
    level.run(All(states));
}

struct All<'a>(&'a mut [State]);

impl WordKernel for All<'_> {
    type Word = u32;
    type Out = ();

    #[inline(always)]
    fn run<S: Words<u32>>(self, s: S) {
        let mut states = self.0;
        if S::MANY_REGISTERS {
            while states.len() > S::LANES {
                let (now, later) = states.split_at_mut(states.len().min(2 * S::LANES));
                make(Pair(s), now);
                states = later;
            }
        }
        for states in states.chunks_mut(S::LANES) {
            make(s, states);
        }
    }
}

/// The blocks of at most as many states as there are lanes.
#[inline(always)]
fn make<S: Words<u32>>(s: S, states: &mut [State]) {
    let mut words = [s.splat(0); 16];
    {
        let mut rows: [&[u8]; MOST_WORDS] = [&states[0]; MOST_WORDS];
        for (row, state) in rows.iter_mut().zip(&*states) {
            *row = state;
        }
        s.gather(&rows[..S::LANES], 0, &mut words);
    }
    let stream = s.turn(rounds(s, &words));
    let bytes = states.as_flattened_mut();
    for (v, bytes) in stream.iter().zip(bytes.chunks_mut(4 * S::LANES)) {
        if bytes.len() == 4 * S::LANES {
            s.store_bytes(*v, bytes);
        } else {
            let mut last = [0; 4 * MOST_WORDS];
            s.store_bytes(*v, &mut last);
            bytes.copy_from_slice(&last[..bytes.len()]);
            wipe(&mut last);
        }
    }
}
