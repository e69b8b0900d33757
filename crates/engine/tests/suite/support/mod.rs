//! What the tests of the algorithms share.

pub(crate) mod entries;
pub(crate) mod sm4;

use lanelock::AesLevel;
use lanelock_testkit::{self as testkit, Rng};

/// All levels; those that are not here are named as skipped.
pub(crate) fn levels() -> Vec<AesLevel> {
    for (name, requires) in AesLevel::known() {
        if name.parse::<AesLevel>().is_err() {
            testkit::skip(&format!("level {name}: this processor lacks {requires}"));
        }
    }
    AesLevel::available()
}

/// All levels, each in every form that it has on some processor.
pub(crate) fn forms() -> Vec<AesLevel> {
    levels().into_iter().flat_map(AesLevel::forms).collect()
}

/// `bytes` in a few pieces, some of them empty.
pub(crate) fn random_splits<'a>(rng: &mut Rng, bytes: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    for _ in 0..rng.below(5) {
        let (piece, later) = rest.split_at(rng.below(rest.len() + 1));
        pieces.push(piece);
        rest = later;
    }
    pieces.push(rest);
    pieces
}

/// So many bytes of AAD go with a text of `length` bytes: few, or some around a group of eight vectors and a vector more.
pub(crate) fn aad_bytes(length: usize) -> usize {
    const AROUND_GROUPS: [usize; 16] =
        [127, 128, 143, 255, 272, 511, 512, 513, 528, 544, 559, 561, 575, 1023, 1040, 1600];
    if length.is_multiple_of(5) { AROUND_GROUPS[length / 5 % 16] } else { length % 77 }
}
