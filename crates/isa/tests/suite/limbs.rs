//! Every operation on limbs at every level of `LimbLevel` against the arithmetic of `u64` and `u128`. Big numbers
//! made of them are tested with the crate `lanelock-pubkey`.

use lanelock_isa::{GroupKernel, LimbGroups, LimbKernel, LimbLevel, Limbs, MOST_LIMBS, NONE};
use lanelock_testkit::{Rng, skip};

type Lanes = [u64; MOST_LIMBS];

/// All levels; those that are not here are named as skipped.
fn levels() -> Vec<LimbLevel> {
    for (name, _) in LimbLevel::known() {
        if let Err(error) = name.parse::<LimbLevel>() {
            skip(&format!("level {name}: {error}"));
        }
    }
    LimbLevel::available()
}

/// All operations on three vectors; of each what came out, lane by lane.
struct All<'a>([&'a Lanes; 3]);

impl LimbKernel for All<'_> {
    type Out = Vec<Vec<u64>>;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> Vec<Vec<u64>> {
        let [a, b, c] = [s.load(self.0[0]), s.load(self.0[1]), s.load(self.0[2])];
        let table = core::array::from_fn(|at| self.0[at / 8][at % 8]);
        let mut wiped = [a, b];
        s.wipe(&mut wiped);
        let out = [
            s.splat(self.0[0][0]),
            s.add(a, b),
            s.sub(a, b),
            s.and(a, b),
            s.or(a, b),
            s.xor(a, b),
            s.shift_left::<0>(a),
            s.shift_left::<12>(a),
            s.shift_left::<63>(a),
            s.shift_right::<1>(a),
            s.shift_right::<52>(a),
            s.mul_low(c, a, b),
            s.mul_high(c, a, b),
            s.equal(a, b),
            s.equal(a, a),
            s.select(c, a, b),
            s.blend(s.matching(a, b), c, a),
            s.here(a),
            s.next_lane(a, b),
            s.lookup(&table, c),
            wiped[0],
            wiped[1],
        ];
        let mut lanes = Vec::new();
        for v in out {
            let mut words = [0; MOST_LIMBS];
            s.store(v, &mut words);
            lanes.push(words[..S::LANES].to_vec());
        }
        lanes
    }
}

/// The same, one lane after the other.
fn expected([a, b, c]: [&Lanes; 3], lanes: usize) -> Vec<Vec<u64>> {
    const DIGIT: u64 = (1 << 52) - 1;
    let product = |at: usize| u128::from(a[at] & DIGIT) * u128::from(b[at] & DIGIT);
    let each = |of: &dyn Fn(usize) -> u64| (0..lanes).map(of).collect::<Vec<_>>();
    vec![
        each(&|_| a[0]),
        each(&|at| a[at].wrapping_add(b[at])),
        each(&|at| a[at].wrapping_sub(b[at])),
        each(&|at| a[at] & b[at]),
        each(&|at| a[at] | b[at]),
        each(&|at| a[at] ^ b[at]),
        each(&|at| a[at]),
        each(&|at| a[at] << 12),
        each(&|at| a[at] << 63),
        each(&|at| a[at] >> 1),
        each(&|at| a[at] >> 52),
        each(&|at| c[at].wrapping_add(product(at) as u64 & DIGIT)),
        each(&|at| c[at].wrapping_add((product(at) >> 52) as u64)),
        each(&|at| if a[at] == b[at] { u64::MAX } else { 0 }),
        each(&|_| u64::MAX),
        each(&|at| (c[at] & a[at]) | (!c[at] & b[at])),
        each(&|at| if a[at] == b[at] { c[at] } else { a[at] }),
        each(&|at| a[at]),
        each(&|at| if at + 1 < lanes { a[at + 1] } else { b[0] }),
        each(&|at| [*a, *b].as_flattened()[c[at] as usize % 16]),
        each(&|_| 0),
        each(&|_| 0),
    ]
}

#[test]
fn every_level_computes_as_integers_do() {
    let mut rng = Rng::new(1752);
    for level in levels() {
        for round in 0..200 {
            let mut words = || -> Lanes {
                core::array::from_fn(|_| match rng.next_u64() % 8 {
                    0 => 0,
                    1 => u64::MAX,
                    2 => (1 << 52) - 1,
                    3 => 1 << 52,
                    _ => rng.next_u64(),
                })
            };
            let (a, mut b, c) = (words(), words(), words());
            b[round % MOST_LIMBS] = a[round % MOST_LIMBS];
            let inputs = [&a, &b, &c];
            assert_eq!(
                level.run(All(inputs)),
                expected(inputs, level.width()),
                "{level}: {inputs:x?}"
            );
        }
    }
}

/// All operations on groups, of two vectors.
struct Groups<'a>([&'a Lanes; 2]);

impl GroupKernel for Groups<'_> {
    type Out = Vec<Vec<u64>>;

    #[inline(always)]
    fn run<S: LimbGroups>(self, s: S) -> Vec<Vec<u64>> {
        let [a, b] = [s.load(self.0[0]), s.load(self.0[1])];
        let out = [
            s.load_bytes(&self.0[1].map(u64::to_le_bytes).as_flattened()[..8 * S::LANES]),
            s.splat_groups([self.0[0][0], self.0[0][1]]),
            s.pick::<0, 1, 2, 3>(a, b),
            s.pick::<7, NONE, 2, 4>(a, b),
            s.pick::<NONE, 5, 6, 1>(a, b),
            s.arrange::<0b11_10_01_00, 0b1111>(a),
            s.arrange::<0b01_11_00_10, 0b1010>(a),
            s.spread::<false>(a),
            s.spread::<true>(a),
            s.first::<false>(a),
            s.first::<true>(a),
            s.next::<false>(a),
            s.next::<true>(a),
            s.previous::<false>(a),
            s.previous::<true>(a),
        ];
        let mut lanes = Vec::new();
        for v in out {
            let mut words = [0; MOST_LIMBS];
            s.store(v, &mut words);
            lanes.push(words[..S::LANES].to_vec());
        }
        lanes
    }
}

/// Runs a kernel in groups, where the level has them.
struct InGroups<K>(K);

impl<K: GroupKernel> LimbKernel for InGroups<K> {
    type Out = Option<K::Out>;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> Option<K::Out> {
        s.in_groups(self.0)
    }
}

#[test]
fn lanes_move_within_their_groups() {
    let a: Lanes = core::array::from_fn(|lane| lane as u64 + 10);
    let b: Lanes = core::array::from_fn(|lane| lane as u64 + 20);
    for level in levels() {
        let width = level.width();
        let Some(lanes) = level.run(InGroups(Groups([&a, &b]))) else {
            assert_eq!(width, 1, "{level} has no groups");
            continue;
        };
        // Of groups of four, and of one group: which lane each takes, those of `b` from 4 or from 8 on.
        let four = |from: [usize; 4]| {
            let of = |lane: usize| match from[lane % 4] {
                NONE => 0,
                from if from < 4 => a[lane / 4 * 4 + from],
                from => b[lane / 4 * 4 + from - 4],
            };
            (0..width).map(of).collect::<Vec<_>>()
        };
        let whole = |from: &dyn Fn(usize) -> Option<usize>| {
            (0..width).map(|lane| from(lane).map_or(0, |from| a[from])).collect::<Vec<_>>()
        };
        let expected = [
            b[..width].to_vec(),
            (0..width).map(|lane| a[lane / 4]).collect(),
            four([0, 1, 2, 3]),
            four([7, NONE, 2, 4]),
            four([NONE, 5, 6, 1]),
            four([0, 1, 2, 3]),
            four([NONE, 0, NONE, 1]),
            four([0; 4]),
            whole(&|_| Some(0)),
            four([0, NONE, NONE, NONE]),
            whole(&|lane| (lane == 0).then_some(0)),
            four([1, 2, 3, NONE]),
            whole(&|lane| (lane + 1 < width).then_some(lane + 1)),
            four([NONE, 0, 1, 2]),
            whole(&|lane| lane.checked_sub(1)),
        ];
        assert_eq!(lanes, expected, "{level}");
    }
}

#[test]
#[should_panic(expected = "fewer limbs than a vector has")]
fn too_few_limbs_are_a_panic() {
    struct TooFew;
    impl LimbKernel for TooFew {
        type Out = ();

        #[inline(always)]
        fn run<S: Limbs>(self, s: S) {
            s.load(&[0; MOST_LIMBS][..S::LANES - 1]);
        }
    }
    LimbLevel::fastest().run(TooFew);
}
