//! Repeatable test input.
//!
//! The generator is `SplitMix64` (Steele, Lea, Flood: *Fast splittable
//! pseudorandom number generators*, 2014): a counter stepped by the golden
//! ratio, then a mixing function. Small, fast, good enough to choose lengths
//! and fill buffers, and never to be used for keys outside tests.

use std::env;

/// Seed of a run that names none: a number with nothing up its sleeve.
const DEFAULT_SEED: u64 = 20_260_101;

/// A small pseudo-random generator for tests; the same seed gives the same
/// numbers on every machine.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator that starts from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator for the test called `name`, seeded from `LANELOCK_SEED`
    /// (decimal, or hexadecimal after `0x`) or from a fixed default.
    ///
    /// The name is mixed in, so that tests do not all walk the same numbers.
    /// The seed goes to stderr, which the test harness shows when the test
    /// fails; setting it repeats the run.
    ///
    /// # Panics
    /// If `LANELOCK_SEED` is set and is no number.
    #[must_use]
    pub fn from_env(name: &str) -> Self {
        let seed = match env::var("LANELOCK_SEED") {
            Ok(text) => parse_seed(&text),
            Err(_) => DEFAULT_SEED,
        };
        eprintln!("{name}: LANELOCK_SEED={seed}");
        Self::new(seed ^ fingerprint(name.as_bytes()))
    }

    /// A generator for case `number`, so that a case can be repeated alone and the
    /// order of threads does not matter.
    #[must_use]
    pub const fn fork(&self, number: u64) -> Self {
        let mut fork = Self::new(self.state ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self::new(fork.next_u64())
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`, by the high half of a product (Lemire).
    ///
    /// # Panics
    /// If `bound` is 0.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the result is below `bound`, which is a usize"
    )]
    pub const fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "nothing is below 0");
        ((self.next_u64() as u128 * bound as u128) >> 64) as usize
    }

    /// True once in `n` times on average.
    pub const fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there is none.
    pub const fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Overwrites `buffer` with random bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }

    /// `len` random bytes.
    #[must_use]
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.fill(&mut bytes);
        bytes
    }

    /// `bytes` in one to five pieces, some of them empty.
    pub fn splits<'a>(&mut self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        for _ in 0..self.below(5) {
            let (piece, later) = rest.split_at(self.below(rest.len() + 1));
            pieces.push(piece);
            rest = later;
        }
        pieces.push(rest);
        pieces
    }

    /// `N` random bytes, for keys and IVs.
    #[must_use]
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Reorders the items (Fisher and Yates).
    pub const fn shuffle<T>(&mut self, items: &mut [T]) {
        let mut left = items.len();
        while left > 1 {
            let chosen = self.below(left);
            left -= 1;
            items.swap(left, chosen);
        }
    }
}

/// `len` bytes `0, 1, ..., 250, 0, 1, ...`.
///
/// The period 251 is prime, so no two blocks, vectors or lanes hold the same
/// bytes and exchanging any two of them changes the answer.
#[must_use]
pub fn pattern(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

/// A number that tells byte strings apart (FNV-1a, 64 bits), where no attacker tries
/// to make two of the same number.
#[must_use]
pub const fn fingerprint(bytes: &[u8]) -> u64 {
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

fn parse_seed(text: &str) -> u64 {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|error| panic!("LANELOCK_SEED={text:?} is no number: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_those_of_splitmix64() {
        // From the reference program by Vigna, seed 1234567.
        let mut rng = Rng::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn below_reaches_every_value_and_no_other() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[rng.below(7)] = true;
        }
        assert_eq!(seen, [true; 7]);
    }

    #[test]
    fn shuffle_keeps_the_items() {
        let mut items: Vec<usize> = (0..100).collect();
        Rng::new(2).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn names_give_different_streams() {
        let first = Rng::from_env("one").next_u64();
        assert_ne!(first, Rng::from_env("two").next_u64());
        assert_eq!(first, Rng::from_env("one").next_u64());
    }

    #[test]
    fn forks_are_apart_and_repeat() {
        let rng = Rng::new(3);
        assert_ne!(rng.fork(0).next_u64(), rng.fork(1).next_u64());
        assert_eq!(rng.fork(7).next_u64(), rng.fork(7).next_u64());
    }

    #[test]
    fn fingerprints_are_those_of_fnv_1a() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn seeds_may_be_hexadecimal() {
        assert_eq!(parse_seed("0xff"), 255);
        assert_eq!(parse_seed("17"), 17);
    }

    #[test]
    fn pattern_has_the_prime_period() {
        let bytes = pattern(1000);
        assert_eq!(bytes.len(), 1000);
        assert_eq!((bytes[250], bytes[251], bytes[252]), (250, 0, 1));
        assert_eq!(bytes[..251], bytes[251..502]);
    }
}
