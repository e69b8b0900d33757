//! Every vector operation of every level against the portable one, on the same blocks.

use lanelock_isa::{
    AesClmul, AesLevel, AesRounds, Block, Blocks as _, Kernel, LAST, LaneBuffers, RoundKeys, WIDEST,
};

/// A key of its own for every lane of one vector.
#[derive(Clone, Copy)]
struct OwnKeys<'k>([&'k [Block; 11]; 4]);

impl<S: AesRounds> RoundKeys<S> for OwnKeys<'_> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, _: usize) -> S::K {
        s.as_keys(s.load_each(&self.0.map(|keys| &keys[if round == LAST { 10 } else { round }])))
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        10
    }
}

/// All operations on `a` and `b`, their results block by block.
struct All<'a> {
    a: &'a [Block; 4],
    b: &'a [Block; 4],
    keys: &'a [[Block; 11]; 4],
}

impl Kernel for All<'_> {
    type Out = Vec<Vec<Block>>;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Self::Out {
        let mut out = vec![Vec::new(); 39];
        let mut sums = [[0; 16]; 2];
        for at in (0..4).step_by(S::WIDTH) {
            let (a, b) = (s.load(&self.a[at..]), s.load(&self.b[at..]));
            let mut own = [&self.keys[0]; 4];
            for i in 0..S::WIDTH {
                own[i] = &self.keys[at + i];
            }
            let each: Vec<&Block> = self.a[at..].iter().collect();
            let n = s.narrow();
            // Those behind the vector do not count.
            let mut joined = [n.load(&self.b[..1]); WIDEST];
            for i in 0..S::WIDTH {
                joined[i] = n.load(&self.a[at + i..]);
            }
            let joined = s.join_lanes(joined);
            let mut blocks = [[0; 16]; 4];
            s.store(joined, &mut blocks);
            assert_eq!(blocks[..S::WIDTH], self.a[at..at + S::WIDTH]);
            // Another count for each block.
            let ends = s.and(s.bytes_down::<15>(a), s.splat_halves(63, 0));
            let counts = s.xor(ends, s.swap_halves(ends));
            let results = [
                s.xor(a, b),
                s.xor3(a, b, s.reverse(a)),
                s.and(a, b),
                s.add_words(a, b),
                s.reverse(a),
                s.swap_halves(a),
                s.bytes_up::<1>(a),
                s.bytes_up::<4>(a),
                s.bytes_up::<8>(a),
                s.bytes_down::<1>(a),
                s.bytes_down::<12>(a),
                s.bytes_down::<15>(a),
                s.shift_left::<1>(a),
                s.shift_left::<63>(a),
                s.shift_right::<1>(a),
                s.shift_right::<60>(a),
                s.shift_left_by(a, s.splat_halves(0, 0)),
                s.shift_left_by(a, counts),
                s.shift_left_by(a, s.splat_halves(64, 64)),
                s.shift_right_by(a, counts),
                s.shift_right_by(a, s.splat_halves(1 << 32, 1 << 32)),
                s.clmul_low(a, b),
                s.clmul_high(a, b),
                s.clmul_low_high(a, b),
                s.clmul_high_low(a, b),
                s.times_matrix(a, b),
                s.round(a, b),
                s.sub_last_words::<true>(a, 0x36),
                s.sub_last_words::<false>(a, 0),
                s.zero(),
                s.splat(&self.a[1]),
                s.splat_narrow(s.narrow().load(&self.a[2..])),
                s.splat_halves(1 << 63 | 7, 0x0123_4567_89ab_cdef),
                s.load_each(&each),
                joined,
                s.encrypt::<1>([a], OwnKeys(own))[0],
            ];
            for (out, v) in out.iter_mut().zip(results) {
                let mut blocks = [[0; 16]; 4];
                s.store(v, &mut blocks);
                out.extend_from_slice(&blocks[..S::WIDTH]);
            }
            // Lane i of the sums of a square is the sum of vector i.
            let square = [a, b, s.xor(a, s.swap_halves(b)), s.reverse(b)];
            let sums_of_square = s.sums(square);
            for i in 0..S::WIDTH {
                let mut sum = [[0; 16]];
                n.store(s.sum_lanes(square[i]), &mut sum);
                assert_eq!(s.lane(sums_of_square, i), sum[0]);
            }
            let mut sum = [[0; 16]; 2];
            n.store(s.sum_lanes(a), &mut sum);
            n.store(s.last_narrow(b), &mut sum[1..]);
            assert_eq!(sum[1], s.last_lane(b));
            // The first lane alone is what was put there.
            n.store(s.sum_lanes(s.in_first_lane(n.load(&self.b[..1]))), &mut sum[1..]);
            for j in 0..16 {
                sums[0][j] ^= sum[0][j];
                sums[1][j] = sum[1][j];
            }
        }
        out[36].extend(sums);
        // Parts of every length, pieced together.
        let bytes = self.a.as_flattened();
        for length in 0..=64 {
            let mut copy = [0xee; 72];
            for (from, to) in
                bytes[..length].chunks(16 * S::WIDTH).zip(copy[..length].chunks_mut(16 * S::WIDTH))
            {
                s.store_part(s.xor(s.load_part(from), s.zero()), to);
                let mut padded = [[1; 16]; 4];
                s.store(s.load_part(from), &mut padded);
                assert_eq!(padded.as_flattened()[..from.len()], *from);
                assert!(padded.as_flattened()[from.len()..16 * S::WIDTH].iter().all(|b| *b == 0));
            }
            assert_eq!(
                (&copy[..length], &copy[length..]),
                (&bytes[..length], &[0xee; 72][length..])
            );
            let mut kept = [[1; 16]; 4];
            let width = length.min(16 * S::WIDTH);
            s.store(s.keep(s.load(self.a), length), &mut kept);
            assert_eq!(kept.as_flattened()[..width], bytes[..width]);
            assert!(kept.as_flattened()[width..16 * S::WIDTH].iter().all(|b| *b == 0));
        }
        let bytes: Vec<u8> = self.a.as_flattened().to_vec();
        let mut keys = ([[0; 16]; 11], [[0; 16]; 13], [[0; 16]; 15]);
        s.expand(&bytes[..16], &mut keys.0);
        s.expand(&bytes[..24], &mut keys.1);
        s.expand(&bytes[..32], &mut keys.2);
        out[37].extend(keys.0);
        out[37].extend(keys.1);
        out[37].extend(keys.2);
        out[38].push(s.inv_mix_columns(self.a[0]));
        out
    }
}

#[test]
fn every_level_does_what_the_portable_one_does() {
    let mut state = 1_u64;
    let mut block = || -> Block {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state.to_be_bytes()[0]
        })
    };
    for _ in 0..100 {
        let a: [Block; 4] = core::array::from_fn(|_| block());
        let b: [Block; 4] = core::array::from_fn(|_| block());
        let keys: [[Block; 11]; 4] = core::array::from_fn(|_| core::array::from_fn(|_| block()));
        let expected =
            "portable".parse::<AesLevel>().unwrap().run(All { a: &a, b: &b, keys: &keys });
        for level in AesLevel::available() {
            let got = level.run(All { a: &a, b: &b, keys: &keys });
            for (number, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert_eq!(got, expected, "operation {number} of {level}");
            }
        }
    }
}

/// One round of six vectors, their blocks in the order of the input.
struct Rounds<'a> {
    v: &'a [Block; 24],
    keys: &'a [Block; 24],
}

impl Rounds<'_> {
    #[inline(always)]
    fn at<S: AesClmul>(&self, s: S) -> Vec<Block> {
        let mut out = vec![[0; 16]; 24];
        for at in (0..24).step_by(6 * S::WIDTH) {
            let (mut v, mut keys) = ([s.zero(); 6], [s.zero(); 6]);
            for i in 0..6 {
                v[i] = s.load(&self.v[at + i * S::WIDTH..]);
                keys[i] = s.load(&self.keys[at + i * S::WIDTH..]);
            }
            v = s.rounds(v, keys);
            for i in 0..6 {
                s.store(v[i], &mut out[at + i * S::WIDTH..]);
            }
        }
        out
    }
}

impl Kernel for Rounds<'_> {
    type Out = [Vec<Block>; 3];

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Self::Out {
        [self.at(s), self.at(s.pair()), self.at(s.narrow())]
    }
}

/// One round of one block.
struct Round<'a>(&'a Block, &'a Block);

impl Kernel for Round<'_> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let n = s.narrow();
        let mut out = [[0; 16]];
        n.store(n.round(n.splat(self.0), n.splat(self.1)), &mut out);
        out[0]
    }
}

#[test]
fn rounds_are_rounds_at_every_width() {
    let blocks = |seed: u8| -> [Block; 24] {
        core::array::from_fn(|i| {
            core::array::from_fn(|j| (i * 37 + j * 11).to_le_bytes()[0].wrapping_mul(seed))
        })
    };
    let (v, keys) = (blocks(7), blocks(13));
    for level in AesLevel::available() {
        let expected: Vec<Block> =
            v.iter().zip(&keys).map(|(v, key)| level.run(Round(v, key))).collect();
        for (form, got) in level.run(Rounds { v: &v, keys: &keys }).iter().enumerate() {
            assert_eq!(*got, expected, "form {form} of {level}");
        }
    }
}

/// Squares of blocks read from and written to lanes, and counters of their own.
struct Squares<'a> {
    lanes: &'a mut [Vec<Block>],
    at: usize,
}

impl Squares<'_> {
    /// With `N` vectors, the last of which need not be full.
    #[inline(always)]
    fn on<S: AesClmul, const N: usize>(self, s: S) {
        let (used, blocks) = (self.lanes.len(), self.lanes[0].len());
        let mut lanes = LaneBuffers::<&mut [Block]>::default();
        for (lane, buffer) in self.lanes.iter_mut().enumerate() {
            lanes.seat(lane, buffer);
        }
        let mut window = lanes.window::<N>(S::WIDTH, blocks, used);
        let in_last = window.in_last();
        for i in 0..N {
            let mut square = s.gather_square(window.rows(self.at, S::WIDTH), i);
            for (j, v) in square.iter_mut().enumerate().take(S::WIDTH) {
                let mut blocks = [[0; 16]; 4];
                s.store(*v, &mut blocks);
                let mut row = [[0; 16]; 4];
                s.store(s.gather(window.row(self.at + j), i), &mut row);
                assert_eq!(blocks, row, "row {j} of vector {i}");
                *v = s.counter_blocks(s.counters_add(s.lane_counters(*v), 3));
            }
            let mut rows = window.rows_mut(S::WIDTH, self.at, S::WIDTH);
            if i + 1 < N || in_last == S::WIDTH {
                s.scatter_square(square, &mut rows, i);
            } else {
                s.scatter_square_last(square, &mut rows, in_last);
            }
        }
    }
}

impl Kernel for Squares<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        match self.lanes.len().div_ceil(S::WIDTH) {
            1 => self.on::<S, 1>(s),
            2 => self.on::<S, 2>(s),
            3 => self.on::<S, 3>(s),
            5 => self.on::<S, 5>(s),
            _ => assert_eq!(S::WIDTH, 0, "a number of lanes without a kernel"),
        }
    }
}

/// Each block of the square, and no other, counts on by three.
#[test]
fn squares_are_rows_turned() {
    for level in AesLevel::available() {
        let width = level.run(Width);
        for lanes in [1, 2, 3, 5] {
            let block = |lane: usize, at: usize| -> Block {
                let low = u64::MAX - 2 + (at % 3) as u64;
                (((lane * 16 + at) as u128) << 64 | u128::from(low)).to_be_bytes()
            };
            let buffer = |lane| -> Vec<Block> { (0..9).map(|at| block(lane, at)).collect() };
            let mut buffers: Vec<_> = (0..lanes).map(buffer).collect();
            level.run(Squares { lanes: &mut buffers, at: 2 });
            for (lane, got) in buffers.iter().enumerate() {
                for (at, got) in got.iter().enumerate() {
                    let before = block(lane, at);
                    let mut expected = before;
                    if (2..2 + width).contains(&at) {
                        let low = u64::from_be_bytes(*before.last_chunk().unwrap()).wrapping_add(3);
                        expected[8..].copy_from_slice(&low.to_be_bytes());
                    }
                    assert_eq!(*got, expected, "{level}: block {at} of lane {lane} of {lanes}");
                }
            }
        }
    }
}

struct Width;

impl Kernel for Width {
    type Out = usize;

    #[inline(always)]
    fn run<S: AesClmul>(self, _: S) -> usize {
        S::WIDTH
    }
}

/// `a` encrypted with `b` added, in two operations and in one.
struct Chained<'a> {
    a: &'a [Block; 4],
    b: &'a [Block; 4],
    keys: &'a [[Block; 11]; 4],
}

impl Kernel for Chained<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let (a, b) = (s.load(self.a), s.load(self.b));
        let own = self.keys.each_ref();
        let keys = OwnKeys(own);
        let [v] = s.encrypt_whitened::<1>([s.whiten(a, keys.get(s, 0, 0))], keys);
        let [w] = s.encrypt_whitened_xor::<1>([s.whiten(a, keys.get(s, 0, 0))], [b], keys);
        let mut blocks = [[[0; 16]; 4]; 2];
        s.store(s.xor(v, b), &mut blocks[0]);
        s.store(w, &mut blocks[1]);
        assert_eq!(blocks[0], blocks[1]);
    }
}

#[test]
fn the_next_block_joins_the_last_round() {
    let block = |i: usize| -> Block { core::array::from_fn(|j| ((i * 16 + j) * 89 % 251) as u8) };
    let keys = core::array::from_fn(|i| core::array::from_fn(|j| block(11 * i + j)));
    let (a, b) = ([1, 2, 3, 4].map(block), [5, 6, 7, 8].map(block));
    for level in AesLevel::available() {
        level.run(Chained { a: &a, b: &b, keys: &keys });
    }
}

/// Encryption and decryption in two steps with a mask behind them, and a chain of doublings.
struct Masked<'a> {
    a: &'a [Block; 4],
    b: &'a [Block; 4],
    keys: &'a [[Block; 11]; 4],
}

impl Kernel for Masked<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let (a, b) = (s.load(self.a), s.load(self.b));
        let own = self.keys.each_ref();
        let blocks = |v: S::V| {
            let mut blocks = [[0; 16]; 4];
            s.store(v, &mut blocks);
            blocks
        };
        let keys = OwnKeys(own);
        let key = |round| keys.get(s, round, 0);
        let (whitened, last) = (s.whiten(a, key(0)), key(10));
        // What is added behind whitening and joining counts as if it had been added before.
        let joined = s.xor(s.join(a, last), s.xor(a, b));
        let [v] = s.encrypt_begin::<1>([whitened], keys);
        let [w] = s.encrypt::<1>([a], keys);
        assert_eq!(blocks(s.encrypt_end(v, last, joined)), blocks(s.xor(w, b)));
        let [v] = s.decrypt_begin::<1>([s.xor(s.whiten(b, key(0)), s.xor(a, b))], keys);
        let [w] = s.decrypt::<1>([a], keys);
        assert_eq!(blocks(s.decrypt_end(v, last, joined)), blocks(s.xor(w, b)));
        assert_eq!(blocks(s.whiten(whitened, key(0))), blocks(a));

        let (mut v, mut carries) = (a, s.carries(a));
        let mut expected = self.a.map(u128::from_le_bytes);
        for _ in 0..31 {
            v = s.double(v, &mut carries);
            for number in &mut expected {
                *number = (*number << 1) ^ ((*number >> 127) * 0x87);
            }
            assert_eq!(blocks(v)[..S::WIDTH], expected.map(u128::to_le_bytes)[..S::WIDTH]);
        }
    }
}

#[test]
fn masks_join_the_last_round_and_doublings_their_definition() {
    let block = |i: usize| -> Block { core::array::from_fn(|j| ((i * 16 + j) * 89 % 251) as u8) };
    let keys = core::array::from_fn(|i| core::array::from_fn(|j| block(11 * i + j)));
    for level in AesLevel::available() {
        for first in 0..64 {
            let a = [first, first + 1, first + 2, first + 3].map(block);
            level.run(Masked { a: &a, b: &[5, 6, 7, 8].map(block), keys: &keys });
        }
        for a in [[0xff; 16], [0; 16]] {
            level.run(Masked { a: &[a; 4], b: &[5, 6, 7, 8].map(block), keys: &keys });
        }
    }
}
