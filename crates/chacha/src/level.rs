//! The level that is chosen where none is named.

use lanelock_isa::{HashLevel, LevelError};

/// [`HashLevel::best`], found once a process: keys are made on hot paths too.
///
/// # Errors
/// `LANELOCK_LEVEL` has a mistake.
#[inline]
pub fn default_level() -> Result<HashLevel, LevelError> {
    #[cfg(feature = "std")]
    {
        static LEVEL: std::sync::OnceLock<Result<HashLevel, LevelError>> =
            std::sync::OnceLock::new();
        match LEVEL.get_or_init(HashLevel::best) {
            Ok(level) => Ok(*level),
            Err(error) => Err(error.clone()),
        }
    }
    #[cfg(not(feature = "std"))]
    HashLevel::best()
}
