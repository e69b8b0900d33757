//! Every operation on words at every level of `HashLevel` against the portable level, the portable level
//! against the arithmetic of `u32` and `u64`. Hashes made of them are tested with the crate `lanelock-digest`.

use core::marker::PhantomData;
use std::collections::HashSet;

use lanelock_isa::{
    GroupKernel, HashLevel, LimbGroups, LimbLevel, MOST_WORDS, Pair, Products, Word, WordKernel,
    Words,
};
use lanelock_testkit::{Rng, skip};

/// As many lanes as two of the widest vectors have.
const MOST: usize = MOST_WORDS;

/// All levels; those that are not here are named as skipped.
fn levels() -> Vec<HashLevel> {
    for (name, _) in HashLevel::known() {
        if let Err(error) = name.parse::<HashLevel>() {
            skip(&format!("level {name}: {error}"));
        }
    }
    HashLevel::available()
}

/// What the tests know of words.
trait TestWord: Word + PartialEq + core::fmt::Debug {
    fn random(rng: &mut Rng) -> Self;
}

impl TestWord for u32 {
    fn random(rng: &mut Rng) -> Self {
        rng.next_u64() as Self
    }
}

impl TestWord for u64 {
    fn random(rng: &mut Rng) -> Self {
        rng.next_u64()
    }
}

/// Words of a block of Keccak, of which the last are not a square of any level.
const GATHERED: usize = 21;

/// All operations, `MOST` lanes of each, and what they should give.
struct All<'a, W> {
    a: &'a [W; MOST],
    b: &'a [W; MOST],
    c: &'a [W; MOST],
    rows: &'a [Vec<u8>],
    /// Two vectors as one.
    paired: bool,
}

impl<W: TestWord> WordKernel for All<'_, W> {
    type Word = W;
    type Out = Vec<Vec<W>>;

    #[inline(always)]
    fn run<S: Words<W>>(self, s: S) -> Vec<Vec<W>> {
        if self.paired { self.of(Pair(s)) } else { self.of(s) }
    }
}

impl<W: TestWord> All<'_, W> {
    #[inline(always)]
    fn of<S: Words<W>>(&self, s: S) -> Vec<Vec<W>> {
        let mut out = vec![Vec::new(); 17 + GATHERED];
        for at in (0..MOST).step_by(S::LANES) {
            let (a, b, c) = (s.load(&self.a[at..]), s.load(&self.b[at..]), s.load(&self.c[at..]));
            let rows: Vec<&[u8]> = self.rows[at..].iter().map(Vec::as_slice).collect();
            let mut results = vec![
                a,
                s.splat(self.a[3]),
                s.swap_bytes(a),
                s.add(a, b),
                s.xor(a, b),
                s.and(a, b),
                s.and_not(a, b),
                s.rotate_left::<0>(a),
                s.rotate_left::<1>(a),
                s.rotate_left::<31>(a),
                s.shift_right::<0>(a),
                s.shift_right::<3>(a),
                s.shift_right::<31>(a),
                s.xor3(a, b, c),
                s.choose(a, b, c),
                s.majority(a, b, c),
                s.xor_and_not(a, b, c),
            ];
            let mut words = [s.splat(W::default()); GATHERED];
            s.gather(&rows, 5, &mut words);
            results.extend(words);
            for (out, v) in out.iter_mut().zip(results) {
                let mut words = [W::default(); MOST];
                s.store(v, &mut words);
                assert!(
                    words[S::LANES..].iter().all(|&word| word == W::default()),
                    "stored more than a vector"
                );
                out.extend_from_slice(&words[..S::LANES]);
            }
        }
        out
    }

    /// The same lane by lane.
    fn expected(&self) -> Vec<Vec<W>> {
        let operations: [&dyn Fn(W, W, W) -> W; 17] = [
            &|a, _, _| a,
            &|_, _, _| self.a[3],
            &|a, _, _| a.swap_bytes(),
            &|a, b, _| a.wrapping_add(b),
            &|a, b, _| a ^ b,
            &|a, b, _| a & b,
            &|a, b, _| !a & b,
            &|a, _, _| a,
            &|a, _, _| a.rotate_left(1),
            &|a, _, _| a.rotate_left(31),
            &|a, _, _| a,
            &|a, _, _| a >> 3,
            &|a, _, _| a >> 31,
            &|a, b, c| a ^ b ^ c,
            &|a, b, c| (a & b) ^ (!a & c),
            &|a, b, c| (a & b) ^ (a & c) ^ (b & c),
            &|a, b, c| a ^ (!b & c),
        ];
        let mut out: Vec<Vec<W>> = operations
            .iter()
            .map(|operation| {
                (0..MOST).map(|lane| operation(self.a[lane], self.b[lane], self.c[lane])).collect()
            })
            .collect();
        for word in 0..GATHERED {
            out.push(self.rows.iter().map(|row| W::read_le(&row[5 + W::BYTES * word..])).collect());
        }
        out
    }

    fn check(rng: &mut Rng, levels: &[HashLevel]) {
        let [a, b, c] = core::array::from_fn(|_| core::array::from_fn(|_| W::random(rng)));
        let rows: Vec<Vec<u8>> = (0..MOST).map(|_| rng.bytes(5 + W::BYTES * GATHERED)).collect();
        let all = |paired| All { a: &a, b: &b, c: &c, rows: &rows, paired };
        let expected = all(false).expected();
        for level in levels {
            assert_eq!(level.run(all(false)), expected, "{level}");
            assert_eq!(level.run(all(true)), expected, "two vectors of {level}");
            assert!(HashLevel::last_run().is_none_or(|ran| ran == *level), "another level ran");
        }
    }
}

#[test]
fn every_operation_at_every_level() {
    let mut rng = Rng::from_env("every_operation_at_every_level");
    let levels = levels();
    for _ in 0..100 {
        All::<u32>::check(&mut rng, &levels);
        All::<u64>::check(&mut rng, &levels);
    }
}

/// Sixteen words of every lane, turned; products and unzipped words, all of one vector.
struct Moved<'a> {
    /// Lane by lane sixteen words, little-endian.
    lanes: &'a [u8],
    a: &'a [u64; MOST],
    b: &'a [u64; MOST],
    paired: bool,
}

impl WordKernel for Moved<'_> {
    type Word = u32;
    type Out = (Vec<u8>, [Vec<u64>; 3]);

    #[inline(always)]
    fn run<S: Words<u32>>(self, s: S) -> Self::Out {
        if self.paired { self.of(Pair(s)) } else { self.of(s) }
    }
}

impl Moved<'_> {
    #[inline(always)]
    fn of<S: Words<u32>>(&self, s: S) -> (Vec<u8>, [Vec<u64>; 3]) {
        let rows: Vec<&[u8]> = self.lanes.chunks(64).collect();
        let mut words = [s.splat(0); 16];
        s.gather(&rows, 0, &mut words);
        let mut bytes = vec![0; 64 * S::LANES];
        for (v, bytes) in s.turn(words).into_iter().zip(bytes.chunks_mut(4 * S::LANES)) {
            s.store_bytes(v, bytes);
            let again = s.load_bytes(bytes);
            s.store_bytes(again, bytes);
        }
        let wide = s.wide();
        let products = [self.a, self.b].map(|words| wide.load(words));
        let [even, odd] = wide.unzip(products[0], products[1]);
        let stored = |v| {
            let mut words = [0; MOST];
            wide.store(v, &mut words);
            words[..lanes_of(wide)].to_vec()
        };
        let times = wide.times(products[0], products[1]);
        (bytes, [stored(times), stored(even), stored(odd)])
    }
}

#[inline(always)]
fn lanes_of<S: Products>(_: S) -> usize {
    S::LANES
}

#[test]
fn words_are_turned_multiplied_and_unzipped() {
    let mut rng = Rng::from_env("words_are_turned_multiplied_and_unzipped");
    for level in levels() {
        for paired in [false, true] {
            let lanes = rng.bytes(64 * MOST);
            let [a, b] = core::array::from_fn(|_| core::array::from_fn(|_| rng.next_u64()));
            let (bytes, [times, even, odd]) =
                level.run(Moved { lanes: &lanes, a: &a, b: &b, paired });
            assert_eq!(bytes, lanes[..bytes.len()], "{level}");
            let n = times.len();
            let low = |word: u64| word & u64::from(u32::MAX);
            let both: Vec<u64> = a[..n].iter().chain(&b[..n]).copied().collect();
            for lane in 0..n {
                assert_eq!(times[lane], low(a[lane]) * low(b[lane]), "{level}");
                assert_eq!(
                    [even[lane], odd[lane]],
                    [both[2 * lane], both[2 * lane + 1]],
                    "{level}"
                );
            }
        }
    }
}

/// Rows of 16 bytes: one in all places, words of each moved by as many places as there are, and rows of blocks turned.
struct Rows<'a, W> {
    /// As many as four vectors have.
    data: &'a [u8],
    paired: bool,
    word: PhantomData<W>,
}

impl<W: Word> WordKernel for Rows<'_, W> {
    type Word = W;
    type Out = [Vec<u8>; 6];

    #[inline(always)]
    fn run<S: Words<W>>(self, s: S) -> Self::Out {
        if self.paired { self.of(Pair(s)) } else { self.of(s) }
    }
}

impl<W: Word> Rows<'_, W> {
    #[inline(always)]
    fn of<S: Words<W>>(&self, s: S) -> [Vec<u8>; 6] {
        let bytes = W::BYTES * S::LANES;
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| s.load_bytes(&self.data[at * bytes..]));
        let stored = |v: &[S::V]| {
            let mut out = vec![0; bytes * v.len()];
            for (v, out) in v.iter().zip(out.chunks_mut(bytes)) {
                s.store_bytes(*v, out);
            }
            out
        };
        [
            stored(&[s.splat_row(self.data[..16].try_into().unwrap())]),
            stored(&[s.next_words::<0>(a)]),
            stored(&[s.next_words::<1>(a)]),
            stored(&[s.next_words::<2>(a)]),
            stored(&[s.next_words::<3>(a)]),
            stored(&s.turn_rows([a, b, c, d])),
        ]
    }

    fn check(rng: &mut Rng, level: HashLevel, paired: bool) {
        let rows = rng.bytes(16 * MOST);
        let [splat, moved @ .., turned] =
            level.run(Rows::<W> { data: &rows, paired, word: PhantomData });
        let bytes = splat.len();
        assert!(splat.chunks(16).all(|row| row == &rows[..16]), "{level}");
        for (places, moved) in moved.iter().enumerate() {
            for (moved, row) in moved.chunks(16).zip(rows.chunks(16)) {
                let mut expected = row.to_vec();
                expected.rotate_left(places * W::BYTES % 16);
                assert_eq!(moved, expected, "{level}, {places} places");
            }
        }
        for (block, turned) in turned.chunks(64).enumerate() {
            for (row, turned) in turned.chunks(16).enumerate() {
                assert_eq!(turned, &rows[row * bytes + 16 * block..][..16], "{level}");
            }
        }
    }
}

#[test]
fn rows_are_spread_moved_and_turned() {
    let mut rng = Rng::from_env("rows_are_spread_moved_and_turned");
    for level in levels() {
        for paired in [false, true] {
            Rows::<u32>::check(&mut rng, level, paired);
            Rows::<u64>::check(&mut rng, level, paired);
        }
    }
}

/// Whether a kernel runs in limbs, and in how many lanes.
#[test]
fn limbs_are_there_where_the_processor_has_them() {
    struct InLimbs;
    struct Lanes;
    impl WordKernel for InLimbs {
        type Word = u64;
        type Out = Option<usize>;
        #[inline(always)]
        fn run<S: Words<u64>>(self, s: S) -> Option<usize> {
            s.wide().in_limbs(Lanes).ok()
        }
    }
    impl GroupKernel for Lanes {
        type Out = usize;
        #[inline(always)]
        fn run<S: LimbGroups>(self, _: S) -> usize {
            S::LANES
        }
    }
    for level in levels() {
        let lanes: HashSet<_> = level.forms().into_iter().map(|form| form.run(InLimbs)).collect();
        let has_limbs = level.name() == "avx512" && "ifma512".parse::<LimbLevel>().is_ok();
        let expected = if has_limbs { [None, Some(8)].into() } else { [None].into() };
        assert_eq!(lanes, expected, "{level}");
    }
}

#[test]
fn widths_are_lanes() {
    struct Lanes<W>(PhantomData<W>);
    impl<W: Word> WordKernel for Lanes<W> {
        type Word = W;
        type Out = usize;
        #[inline(always)]
        fn run<S: Words<W>>(self, _: S) -> usize {
            S::LANES
        }
    }
    for level in levels() {
        assert_eq!(level.run(Lanes::<u32>(PhantomData)), level.width(), "{level}");
        assert!(
            (2 * level.width()).is_multiple_of(level.run(Lanes::<u64>(PhantomData))),
            "{level}"
        );
        assert!(MOST.is_multiple_of(2 * level.width()), "{level}");
    }
}
