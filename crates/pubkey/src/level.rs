//! The level that is chosen where none is named.

use alloc::vec::Vec;
use std::sync::OnceLock;

use lanelock_isa::{LevelError, LimbLevel};

/// [`LimbLevel::best`], found once a process.
pub(crate) fn default_level() -> Result<LimbLevel, LevelError> {
    static LEVEL: OnceLock<Result<LimbLevel, LevelError>> = OnceLock::new();
    LEVEL.get_or_init(LimbLevel::best).clone()
}

/// The level with the shortest vectors that has as many lanes as there are operations, if `level` has more: idle lanes
/// take as long as others.
pub(crate) fn for_few(level: LimbLevel, count: usize) -> LimbLevel {
    static WIDTHS: OnceLock<Vec<LimbLevel>> = OnceLock::new();
    WIDTHS
        .get_or_init(LimbLevel::available)
        .iter()
        .copied()
        .filter(|other| other.width() > 1 && other.width() < level.width())
        .filter(|other| other.width() >= count)
        .min_by_key(|other| other.width())
        .unwrap_or(level)
}
