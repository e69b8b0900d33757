//! What the tests of the algorithms share.

pub(crate) mod entries;

use lanelock::AesLevel;
use lanelock_testkit as testkit;

/// All levels; those that are not here are named as skipped.
pub(crate) fn levels() -> Vec<AesLevel> {
    for (name, _) in AesLevel::known() {
        if let Err(error) = name.parse::<AesLevel>() {
            testkit::skip(&format!("level {name}: {error}"));
        }
    }
    AesLevel::available()
}

/// All levels, each in every form that it has on some processor.
pub(crate) fn forms() -> Vec<AesLevel> {
    levels().into_iter().flat_map(AesLevel::forms).collect()
}

/// The length of the AAD for a text of `length` bytes: short, or around a group of eight vectors and one vector more.
pub(crate) fn aad_bytes(length: usize) -> usize {
    const AROUND_GROUPS: [usize; 16] =
        [127, 128, 143, 255, 272, 511, 512, 513, 528, 544, 559, 561, 575, 1023, 1040, 1600];
    if length.is_multiple_of(5) { AROUND_GROUPS[length / 5 % 16] } else { length % 77 }
}
