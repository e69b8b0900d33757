//! Where the lanes of vectors find their round keys.

use lanelock_isa::{AesClmul, Block, WIDEST};

use super::{Cipher, Schedule};

/// The round keys of the lanes of vectors, for a cipher at a level.
pub trait CipherKeys<S: AesClmul, C: Cipher>: Copy {
    /// The key in place `round` for vector number `vector`.
    fn get(&self, s: S, round: usize, vector: usize) -> C::RoundKey<S>;
    /// The rounds: the same for all lanes. See [`Schedule::rounds`].
    fn rounds(&self) -> usize;
}

/// One key for all lanes, in registers as far as there are any.
#[derive(Clone, Copy)]
pub struct SameKey<'k, S: AesClmul, C: Cipher> {
    keys: C::Rounds<C::RoundKey<S>>,
    /// Where round keys are read that longer keys alone have.
    longer: Option<&'k C::Rounds<Block>>,
    rounds: usize,
}

impl<'k, S: AesClmul, C: Cipher> SameKey<'k, S, C> {
    /// The schedule in the form of level `S`.
    ///
    /// Round keys that longer keys alone have are read where they are, each time: registers for them would
    /// be taken from shorter keys as well. Not where reading is more than an operand: one vector in flight
    /// has keys as planes, and at two lanes a key would be spread over both, in one of 16 registers.
    #[inline(always)]
    pub fn new(s: S, schedule: Schedule<'k, C>) -> Self {
        let Schedule { keys: from, rounds } = schedule;
        let longer = (S::VECTORS > 1 && S::WIDTH != 2).then_some(from);
        // By index up to a constant: a loop that is unrolled, so that the keys are in registers.
        let mut keys = C::places(C::round_key(s, &from.as_ref()[0]));
        for round in 1..C::ROUND_KEYS {
            let wanted = match longer {
                Some(_) => C::uses(round, 0),
                // To read a key costs less than to ask, unless it has to become planes.
                None => S::VECTORS > 1 || C::uses(round, rounds),
            };
            if wanted {
                keys.as_mut()[round] = C::round_key(s, &from.as_ref()[round]);
            }
        }
        Self { keys, longer, rounds }
    }

    /// Round keys that are in the form of level `S`, such as those of lanes.
    #[inline(always)]
    pub fn of(keys: C::Rounds<C::RoundKey<S>>, rounds: usize) -> Self {
        Self { keys, longer: None, rounds }
    }
}

impl<S: AesClmul, C: Cipher> CipherKeys<S, C> for SameKey<'_, S, C> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, _: usize) -> C::RoundKey<S> {
        match self.longer {
            Some(keys) if !C::uses(round, 0) => C::round_key(s, &keys.as_ref()[round]),
            _ => self.keys.as_ref()[round],
        }
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }
}

/// A key for each lane: a transposed table, `table[round][lane]`, read as it is needed.
#[derive(Clone, Copy)]
pub struct LaneKeys<'k, C: Cipher, const LANES: usize> {
    /// The table.
    pub table: &'k C::Rounds<[Block; LANES]>,
    /// The rounds of all lanes.
    pub rounds: usize,
}

impl<S: AesClmul, C: Cipher, const LANES: usize> CipherKeys<S, C> for LaneKeys<'_, C, LANES> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> C::RoundKey<S> {
        C::lane_keys(s, s.load(&self.table.as_ref()[round][vector * S::WIDTH..][..S::WIDTH]))
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }
}

/// A key of its own for every lane, all with the same number of rounds, read where its owner keeps it. For a
/// block or so under each key, where copying the keys into the table of [`LaneKeys`] would cost more than the
/// encryption.
///
/// The references are held by value: behind another reference they would be read anew for every round.
/// `VECTORS` vectors have the lanes; a vector with a higher number has those of vector 0 again, and so on.
#[derive(Clone, Copy)]
pub struct OwnKeys<'k, C: Cipher, const VECTORS: usize> {
    keys: [[&'k C::Rounds<Block>; WIDEST]; VECTORS],
    rounds: usize,
}

impl<'k, C: Cipher, const VECTORS: usize> OwnKeys<'k, C, VECTORS> {
    /// The schedule `of` each lane, for vectors of `width` lanes.
    #[inline(always)]
    pub fn new(width: usize, of: impl Fn(usize) -> Schedule<'k, C>) -> Self {
        let Schedule { keys: first, rounds } = of(0);
        let mut keys = [[first; WIDEST]; VECTORS];
        for vector in 0..VECTORS {
            for lane in 0..width {
                keys[vector][lane] = of(vector * width + lane).keys;
            }
        }
        Self { keys, rounds }
    }
}

impl<S: AesClmul, C: Cipher, const VECTORS: usize> CipherKeys<S, C> for OwnKeys<'_, C, VECTORS> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> C::RoundKey<S> {
        // A gather of 16-byte loads for each round and vector: at four lanes, one load and three
        // inserts.
        let keys = &self.keys[vector % VECTORS];
        let mut blocks = [&keys[0].as_ref()[round]; WIDEST];
        for lane in 1..S::WIDTH {
            blocks[lane] = &keys[lane].as_ref()[round];
        }
        C::lane_keys(s, s.load_each(&blocks))
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }
}
