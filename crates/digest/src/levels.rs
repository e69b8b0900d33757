//! What hashes run on.

use lanelock_isa::{HashLevel, LevelError, ShaLevel};

/// The levels that hashes run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levels {
    /// That of many messages side by side.
    pub lanes: HashLevel,
    /// That of one message.
    pub one: ShaLevel,
}

impl Levels {
    /// The best of both families, found once a process: see [`HashLevel::best`].
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    #[inline]
    pub fn best() -> Result<Self, LevelError> {
        let find = || Ok(Self { lanes: HashLevel::best()?, one: ShaLevel::best()? });
        #[cfg(feature = "std")]
        {
            static BEST: std::sync::OnceLock<Result<Levels, LevelError>> =
                std::sync::OnceLock::new();
            match BEST.get_or_init(find) {
                Ok(levels) => Ok(*levels),
                Err(error) => Err(error.clone()),
            }
        }
        #[cfg(not(feature = "std"))]
        find()
    }

    /// The fastest of both families, whatever the environment says.
    pub fn fastest() -> Self {
        Self { lanes: HashLevel::fastest(), one: ShaLevel::fastest() }
    }

    /// All pairs of levels that this processor has, in each [form](HashLevel::forms): for tests.
    pub fn available() -> impl Iterator<Item = Self> {
        HashLevel::available()
            .into_iter()
            .flat_map(HashLevel::forms)
            .flat_map(|lanes| ShaLevel::available().into_iter().map(move |one| Self { lanes, one }))
    }
}
