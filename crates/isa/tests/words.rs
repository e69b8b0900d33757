//! Every operation on words at every level of `HashLevel` against the portable level, the portable level
//! against the arithmetic of `u32`, and a hash of many messages side by side against published values.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

use lanelock_isa::{HashLevel, WordKernel, Words};
use lanelock_testkit::{Rng, hex, skip};

/// As many lanes as the widest vector has.
const MOST: usize = 16;

/// All levels; those that are not here are named as skipped.
fn levels() -> Vec<HashLevel> {
    for (name, requires) in HashLevel::known() {
        if name.parse::<HashLevel>().is_err() {
            skip(&format!("level {name}: this processor lacks {requires}"));
        }
    }
    HashLevel::available()
}

/// All operations, 16 lanes of each, and what they should give.
struct All<'a> {
    a: &'a [u32; MOST],
    b: &'a [u32; MOST],
    blocks: &'a [[u8; 64]; MOST],
}

impl WordKernel for All<'_> {
    type Out = Vec<Vec<u32>>;

    #[inline(always)]
    fn run<S: Words>(self, s: S) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); 17];
        for at in (0..MOST).step_by(S::LANES) {
            let (a, b) = (s.load(&self.a[at..]), s.load(&self.b[at..]));
            let blocks: Vec<&[u8; 64]> = self.blocks[at..].iter().collect();
            let results = [
                a,
                s.splat(self.a[3]),
                s.add(a, b),
                s.xor(a, b),
                s.and(a, b),
                s.and_not(a, b),
                s.rotate_left::<0>(a),
                s.rotate_left::<1>(a),
                s.rotate_left::<15>(a),
                s.rotate_left::<31>(a),
                s.shift_right::<0>(a),
                s.shift_right::<3>(a),
                s.shift_right::<31>(a),
                s.gather_words_le(&blocks, 0),
                s.gather_words_le(&blocks, 15),
                s.gather_words_be(&blocks, 0),
                s.gather_words_be(&blocks, 9),
            ];
            for (out, v) in out.iter_mut().zip(results) {
                let mut words = [0; MOST];
                s.store(v, &mut words);
                assert!(
                    words[S::LANES..].iter().all(|&word| word == 0),
                    "stored more than a vector"
                );
                out.extend_from_slice(&words[..S::LANES]);
            }
        }
        out
    }
}

impl All<'_> {
    /// The same lane by lane.
    fn expected(&self) -> Vec<Vec<u32>> {
        let bytes = |lane: usize, at: usize| self.blocks[lane][4 * at..][..4].try_into().unwrap();
        let operations: [&dyn Fn(usize, u32, u32) -> u32; 17] = [
            &|_, a, _| a,
            &|_, _, _| self.a[3],
            &|_, a, b| a.wrapping_add(b),
            &|_, a, b| a ^ b,
            &|_, a, b| a & b,
            &|_, a, b| !a & b,
            &|_, a, _| a,
            &|_, a, _| a.rotate_left(1),
            &|_, a, _| a.rotate_right(17),
            &|_, a, _| a.rotate_right(1),
            &|_, a, _| a,
            &|_, a, _| a / 8,
            &|_, a, _| u32::from(a >= 1 << 31),
            &|lane, _, _| u32::from_le_bytes(bytes(lane, 0)),
            &|lane, _, _| u32::from_le_bytes(bytes(lane, 15)),
            &|lane, _, _| u32::from_be_bytes(bytes(lane, 0)),
            &|lane, _, _| u32::from_be_bytes(bytes(lane, 9)),
        ];
        let lanes = |operation: &dyn Fn(usize, u32, u32) -> u32| {
            (0..MOST).map(|lane| operation(lane, self.a[lane], self.b[lane])).collect()
        };
        operations.into_iter().map(lanes).collect()
    }
}

#[test]
fn every_operation_at_every_level() {
    let mut rng = Rng::from_env("every_operation_at_every_level");
    let levels = levels();
    for _ in 0..200 {
        let [a, b] = core::array::from_fn(|_| core::array::from_fn(|_| rng.next_u64() as u32));
        let blocks = core::array::from_fn(|_| core::array::from_fn(|_| rng.next_u64() as u8));
        let all = || All { a: &a, b: &b, blocks: &blocks };
        let expected = all().expected();
        for level in &levels {
            assert_eq!(level.run(all()), expected, "{level}");
            assert!(HashLevel::last_run().is_none_or(|ran| ran == *level), "another level ran");
        }
    }
}

#[test]
fn widths_are_lanes() {
    struct Lanes;
    impl WordKernel for Lanes {
        type Out = usize;
        #[inline(always)]
        fn run<S: Words>(self, _: S) -> usize {
            S::LANES
        }
    }
    for level in levels() {
        assert_eq!(level.run(Lanes), level.width(), "{level}");
        assert!(MOST.is_multiple_of(level.width()), "{level}");
    }
}

/// The round constants of SHA-256 (FIPS 180-4, 4.2.2): the first 32 bits of the fractional parts of the
/// cube roots of the first 64 primes; and its initial value (5.3.3), from the square roots of the first 8.
fn constants() -> ([u32; 64], [u32; 8]) {
    let primes: Vec<u128> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    assert_eq!(primes.len(), 64);
    // The integer part of the root of n * 2^(32 * power), of which the low 32 bits are the fraction.
    let root = |n: u128, power: u32| {
        let (mut low, mut high) = (0_u128, 1 << 36);
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            if middle.pow(power) <= n << (32 * power) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low as u32
    };
    (core::array::from_fn(|i| root(primes[i], 3)), core::array::from_fn(|i| root(primes[i], 2)))
}

/// SHA-256 of a message of one padded block a lane, 16 lanes (FIPS 180-4, 6.2.2).
struct Sha256<'a> {
    blocks: &'a [[u8; 64]; MOST],
    constants: &'a ([u32; 64], [u32; 8]),
}

impl WordKernel for Sha256<'_> {
    type Out = [[u32; 8]; MOST];

    #[inline(always)]
    fn run<S: Words>(self, s: S) -> [[u32; 8]; MOST] {
        let (k, initial) = self.constants;
        let mut digests = [[0; 8]; MOST];
        for at in (0..MOST).step_by(S::LANES) {
            let mut blocks = [&self.blocks[0]; MOST];
            for lane in 0..S::LANES {
                blocks[lane] = &self.blocks[at + lane];
            }
            let mut w = [s.splat(0); 64];
            for t in 0..16 {
                w[t] = s.gather_words_be(&blocks[..S::LANES], t);
            }
            for t in 16..64 {
                let (x, y) = (w[t - 15], w[t - 2]);
                let x = s.xor(
                    s.rotate_left::<25>(x),
                    s.xor(s.rotate_left::<14>(x), s.shift_right::<3>(x)),
                );
                let y = s.xor(
                    s.rotate_left::<15>(y),
                    s.xor(s.rotate_left::<13>(y), s.shift_right::<10>(y)),
                );
                w[t] = s.add(s.add(x, y), s.add(w[t - 7], w[t - 16]));
            }
            let mut start = [s.splat(0); 8];
            for i in 0..8 {
                start[i] = s.splat(initial[i]);
            }
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = start;
            for t in 0..64 {
                let sum = s.xor(
                    s.rotate_left::<26>(e),
                    s.xor(s.rotate_left::<21>(e), s.rotate_left::<7>(e)),
                );
                let choose = s.xor(s.and(e, f), s.and_not(e, g));
                let one = s.add(s.add(s.add(h, sum), s.add(choose, s.splat(k[t]))), w[t]);
                let sum = s.xor(
                    s.rotate_left::<30>(a),
                    s.xor(s.rotate_left::<19>(a), s.rotate_left::<10>(a)),
                );
                let majority = s.xor(s.and(a, b), s.xor(s.and(a, c), s.and(b, c)));
                (h, g, f, e) = (g, f, e, s.add(d, one));
                (d, c, b, a) = (c, b, a, s.add(one, s.add(sum, majority)));
            }
            for (i, (v, start)) in [a, b, c, d, e, f, g, h].into_iter().zip(start).enumerate() {
                let mut words = [0; MOST];
                s.store(s.add(v, start), &mut words);
                for lane in 0..S::LANES {
                    digests[at + lane][i] = words[lane];
                }
            }
        }
        digests
    }
}

/// The operations are enough for a hash: SHA-256 of two published examples, in every lane in turn.
#[test]
fn sha_256_of_sixteen_messages() {
    // NIST, "Examples with Intermediate Values": SHA-256 of "abc"; and the value of the empty message, as
    // CAVP's SHA256ShortMsg.rsp has it.
    let cases = [
        (&b"abc"[..], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ];
    let constants = constants();
    let message = |lane: usize| cases[usize::from(lane % 3 == 1)];
    let blocks = core::array::from_fn(|lane| {
        let (text, _) = message(lane);
        let mut block = [0; 64];
        block[..text.len()].copy_from_slice(text);
        block[text.len()] = 0x80;
        block[56..].copy_from_slice(&(8 * text.len() as u64).to_be_bytes());
        block
    });
    for level in levels() {
        let digests = level.run(Sha256 { blocks: &blocks, constants: &constants });
        for (lane, digest) in digests.iter().enumerate() {
            let bytes = digest.map(u32::to_be_bytes);
            assert_eq!(hex(bytes.as_flattened()), message(lane).1, "{level}, lane {lane}");
        }
    }
}
