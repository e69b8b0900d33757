//! Blocks of key stream: one a lane.

use lanelock_core::InOut;
use lanelock_isa::{HashLevel, MOST_WORDS, Pair, PortableWords, WordKernel, Words, wipe};
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
fn quarter<S: Words<u32>>(s: S, v: &mut [S::V; 16], a: usize, b: usize, c: usize, d: usize) {
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
    quarter(s, v, 0, 4, 8, 12);
    quarter(s, v, 1, 5, 9, 13);
    quarter(s, v, 2, 6, 10, 14);
    quarter(s, v, 3, 7, 11, 15);
    quarter(s, v, 0, 5, 10, 15);
    quarter(s, v, 1, 6, 11, 12);
    quarter(s, v, 2, 7, 8, 13);
    quarter(s, v, 3, 4, 9, 14);
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

/// Bytes of key stream that one vector a word gives.
#[inline(always)]
const fn group<S: Words<u32>>() -> usize {
    STATE * S::LANES
}

/// The state of every lane, whose counters are those of `state` and the ones behind it.
#[inline(always)]
fn in_lanes<S: Words<u32>>(s: S, state: &State) -> [S::V; 16] {
    let mut lanes = [s.splat(0); 16];
    for (at, lanes) in lanes.iter_mut().enumerate() {
        *lanes = s.splat(word(state, at));
    }
    lanes[12] = s.add(lanes[12], s.load(&NUMBERS));
    lanes
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
                let mut last = [0; 4 * MOST_WORDS];
                s.store_bytes(v, &mut last);
                data.xor_in2out(&last[..data.len()]);
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

/// Exclusive-ors the key stream from `state` on over `data`. Leaves in `state` the next block, of which nothing is
/// used yet: bytes of the last block that are not used are lost.
#[inline(always)]
pub fn xor_stream<S: Words<u32>>(s: S, state: &mut State, mut data: InOut<'_, '_>) {
    if S::MANY_REGISTERS {
        while data.len() > group::<S>() {
            let count = data.len().min(group::<Pair<S>>());
            let (now, later) = data.split_at(count);
            xor_group(Pair(s), state, now);
            data = later;
        }
    }
    while !data.is_empty() {
        let count = data.len().min(group::<S>());
        let (now, later) = data.split_at(count);
        xor_group(s, state, now);
        data = later;
    }
}

/// The key stream of one vector a word.
#[inline(always)]
fn xor_group<S: Words<u32>>(s: S, state: &mut State, data: InOut<'_, '_>) {
    let stream = s.turn(rounds(s, &in_lanes(s, state)));
    forward(state, blocks(data.len()));
    apply(s, &stream, data);
}

/// The beginning of a key stream, one vector (or a pair of them) a word: block 0, which is a key for Poly1305, and those behind it.
pub struct Beginning<S: Words<u32>> {
    s: S,
    stream: [S::V; 16],
}

impl<S: Words<u32>> Beginning<S> {
    /// Bytes of key stream behind block 0.
    pub const BYTES: usize = group::<S>() - STATE;

    /// From the state of block 0, which goes on to the first block that is not in the beginning.
    #[inline(always)]
    pub fn new(s: S, state: &mut State) -> Self {
        let stream = s.turn(rounds(s, &in_lanes(s, state)));
        forward(state, blocks(group::<S>()));
        Self { s, stream }
    }

    /// The first half of block 0.
    #[inline(always)]
    pub fn key(&self) -> [u8; 32] {
        let mut block = [0; 4 * MOST_WORDS];
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
        let bytes = 4 * S::LANES;
        if bytes <= STATE {
            return apply(self.s, &self.stream[STATE / bytes..], data);
        }
        // The first vector has more than block 0.
        let mut blocks = [0; 4 * MOST_WORDS];
        self.s.store_bytes(self.stream[0], &mut blocks);
        let count = data.len().min(bytes - STATE);
        let (mut begun, rest) = data.split_at(count);
        begun.xor_in2out(&blocks[STATE..STATE + count]);
        wipe(&mut blocks);
        apply(self.s, &self.stream[1..], rest);
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
