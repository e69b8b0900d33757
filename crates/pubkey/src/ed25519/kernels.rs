//! What signatures compute in lanes, besides multiples of the base point.

use alloc::{vec, vec::Vec};

use lanelock_isa::{LimbKernel, LimbLevel, Limbs, MOST_LIMBS, StackDepth};

use super::encoding::{BYTES, WIDE};
use crate::{
    curve::{
        base_point::BaseTable,
        edwards::Extended,
        edwards_scalar::{from_words, multiply_add, reduced, reduced_wide, to_words},
    },
    field::words::LaneWords,
    level::lane_groups,
};

/// `challenge` * `scalar` + `nonce` modulo the order of the base point, of each signature.
pub(super) fn respond(
    level: LimbLevel,
    challenges: &[[u8; WIDE]],
    scalars: &[&[u8; BYTES]],
    nonces: &[[u8; BYTES]],
) -> Vec<[u8; BYTES]> {
    let mut responses = vec![[0; BYTES]; challenges.len()];
    for (level, range) in lane_groups(level, challenges.len()) {
        level.run(Respond {
            challenges: &challenges[range.clone()],
            scalars: &scalars[range.clone()],
            nonces: &nonces[range.clone()],
            responses: &mut responses[range],
        });
    }
    level.wipe_stack(StackDepth::KiB2);
    responses
}

struct Respond<'a> {
    challenges: &'a [[u8; WIDE]],
    scalars: &'a [&'a [u8; BYTES]],
    nonces: &'a [[u8; BYTES]],
    responses: &'a mut [[u8; BYTES]],
}

impl LimbKernel for Respond<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        let mut words = LaneWords::new();
        for (((challenges, scalars), nonces), responses) in self
            .challenges
            .chunks(S::LANES)
            .zip(self.scalars.chunks(S::LANES))
            .zip(self.nonces.chunks(S::LANES))
            .zip(self.responses.chunks_mut(S::LANES))
        {
            let challenge = words.load_wide(s, challenges);
            words.set(scalars.iter().copied());
            let scalar = from_words(s, words.load(s));
            words.set(nonces);
            let nonce = from_words(s, words.load(s));
            let response = multiply_add(s, challenge, &scalar, &nonce);
            words.store(s, to_words(s, response));
            words.get(responses);
        }
    }
}

/// What is found out about a signature (R, S) and a key.
#[derive(Clone, Copy, Default)]
pub(super) struct Verdict {
    /// The key is the encoding of a point.
    pub(super) is_point: bool,
    /// R is what it has to be.
    pub(super) is_equal: bool,
}

/// The verdicts of signatures: the hash of each, and the key with R and S.
pub(super) fn verify(
    level: LimbLevel,
    challenges: &[[u8; WIDE]],
    signatures: &[(&[u8; BYTES], [&[u8; BYTES]; 2])],
) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::default(); signatures.len()];
    let table = BaseTable::shared();
    for (level, range) in lane_groups(level, signatures.len()) {
        level.run(Verification {
            table,
            challenges: &challenges[range.clone()],
            signatures: &signatures[range.clone()],
            verdicts: &mut verdicts[range],
        });
    }
    verdicts
}

struct Verification<'a> {
    table: &'a BaseTable,
    challenges: &'a [[u8; WIDE]],
    signatures: &'a [(&'a [u8; BYTES], [&'a [u8; BYTES]; 2])],
    verdicts: &'a mut [Verdict],
}

impl LimbKernel for Verification<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        let mut words = LaneWords::new();
        for ((challenges, signatures), verdicts) in self
            .challenges
            .chunks(S::LANES)
            .zip(self.signatures.chunks(S::LANES))
            .zip(self.verdicts.chunks_mut(S::LANES))
        {
            words.set(signatures.iter().map(|(key, _)| *key));
            let (key, is_point) = Extended::decoded(s, words.load(s));
            let challenge = reduced_wide(s, words.load_wide(s, challenges));
            let product = key.negative(s).times(s, challenge);

            words.set(signatures.iter().map(|(_, [_, response])| *response));
            let response = reduced(s, words.load(s));
            let sum = self.table.times(s, response).add(s, product);

            let encoded = sum.encoded(s);
            words.set(signatures.iter().map(|(_, [r, _])| *r));
            let r = words.load(s);
            let mut differences = s.splat(0);
            for k in 0..4 {
                differences = s.or(differences, s.xor(encoded[k], r[k]));
            }
            let is_equal = s.equal(differences, s.splat(0));

            let [mut points, mut equal] = [[0; MOST_LIMBS]; 2];
            s.store(is_point, &mut points);
            s.store(is_equal, &mut equal);
            for (lane, verdict) in verdicts.iter_mut().enumerate() {
                *verdict = Verdict { is_point: points[lane] != 0, is_equal: equal[lane] != 0 };
            }
        }
    }
}
