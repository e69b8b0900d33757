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

/// Operations in groups that fill the lanes, each with the level for it: those that are left over take vectors of half
/// the width where that is enough lanes, since these take less time then.
pub(crate) fn lane_groups(level: LimbLevel, count: usize) -> Vec<(LimbLevel, Range<usize>)> {
    static LEVELS: OnceLock<Vec<LimbLevel>> = OnceLock::new();
    let levels = LEVELS.get_or_init(LimbLevel::available);
    let lanes = level.width();
    (0..count.div_ceil(lanes))
        .map(|group| {
            let range = lanes * group..count.min(lanes * (group + 1));
            let half = levels.iter().find(|half| 2 * half.width() == lanes);
            let narrow = half.filter(|half| range.len() <= half.width());
            (*narrow.unwrap_or(&level), range)
        })
        .collect()
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
