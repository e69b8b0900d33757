//! Times with their timescale.

use std::time::Duration;

/// A time, as units of a timescale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) units: i64,
    pub(super) timescale: u32,
}

impl Time {
    pub(super) fn seconds(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for messages")]
        let units = self.units as f64;
        units / f64::from(self.timescale)
    }

    /// The same from the start of the stream on; what is before it, is at it.
    pub(super) fn duration(self) -> Duration {
        crate::plan::duration(u64::try_from(self.units).unwrap_or(0), self.timescale.into())
    }

    /// Whether it is not before `other`.
    pub(super) fn reaches(self, other: Self) -> bool {
        let own = i128::from(self.units) * i128::from(other.timescale);
        own >= i128::from(other.units) * i128::from(self.timescale)
    }
}
