//! The level that is chosen where none is named.

use std::sync::OnceLock;

use lanelock_isa::{LevelError, LimbLevel};

/// [`LimbLevel::best`], found once a process.
pub(crate) fn default_level() -> Result<LimbLevel, LevelError> {
    static LEVEL: OnceLock<Result<LimbLevel, LevelError>> = OnceLock::new();
    LEVEL.get_or_init(LimbLevel::best).clone()
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
