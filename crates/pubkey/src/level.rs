//! The level that is chosen where none is named.

use alloc::vec::Vec;
use core::ops::Range;
use std::sync::OnceLock;

use lanelock_isa::{LevelError, LimbLevel};

/// [`LimbLevel::best`], found once a process.
pub(crate) fn default_level() -> Result<LimbLevel, LevelError> {
    static LEVEL: OnceLock<Result<LimbLevel, LevelError>> = OnceLock::new();
    LEVEL.get_or_init(LimbLevel::best).clone()
}

/// Operations in groups that fill the lanes, each with the level for it.
pub(crate) fn lane_groups(level: LimbLevel, count: usize) -> Vec<(LimbLevel, Range<usize>)> {
    let lanes = level.width();
    (0..count.div_ceil(lanes))
        .map(|group| {
            let range = lanes * group..count.min(lanes * (group + 1));
            (for_few(level, range.len()), range)
        })
        .collect()
}

/// The level with the shortest vectors that has as many lanes as there are operations, if `level` has more: idle lanes
/// take as long as others.
pub(crate) fn for_few(level: LimbLevel, count: usize) -> LimbLevel {
    static LEVELS: OnceLock<Vec<LimbLevel>> = OnceLock::new();
    LEVELS
        .get_or_init(LimbLevel::available)
        .iter()
        .copied()
        .filter(|other| other.width() > 1 && other.width() < level.width())
        .filter(|other| other.width() >= count)
        .min_by_key(|other| other.width())
        .unwrap_or(level)
}

/// Every level of this processor; the others are listed as skipped.
#[cfg(test)]
pub(crate) fn test_levels() -> Vec<LimbLevel> {
    for (name, requires) in LimbLevel::known() {
        if name.parse::<LimbLevel>().is_err() {
            lanelock_testkit::skip(&format!("{name} needs {requires}"));
        }
    }
    LimbLevel::available()
}
