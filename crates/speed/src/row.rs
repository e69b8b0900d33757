//! A measured row: its numbers, in the units of the tables. The [crate] has an example.

use lanelock::AesLevel;

use crate::{
    clock::{self, Sample, float},
    limit::Limits,
    workload::Workload,
};

/// A workload, measured at a level.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MeasuredRow {
    /// What was measured.
    pub workload: Workload,
    /// The level.
    pub level: AesLevel,
    /// Core cycles of one call.
    pub sample: Sample,
    /// The fewest cycles per byte that it could take, where they are known: see [`Limits`].
    pub limit: Option<f64>,
    /// The core clock just after.
    pub gigahertz: f64,
}

impl MeasuredRow {
    /// Measures `workload`; `None` if the engine has no such call.
    pub fn measure(
        workload: Workload,
        level: AesLevel,
        limits: &Limits,
        passes: usize,
    ) -> Option<Self> {
        let sample = workload.measure(level, passes)?;
        let limit = limits.cycles_per_byte(&workload);
        Some(Self { workload, level, sample, limit, gigahertz: clock::gigahertz() })
    }

    /// Core cycles for each message.
    pub fn cycles(&self) -> f64 {
        self.sample.cycles / float(self.workload.streams)
    }

    /// Core cycles for each byte of all messages.
    pub fn cycles_per_byte(&self) -> f64 {
        self.sample.cycles / float(self.workload.bytes())
    }

    /// 10^9 bytes in each second, at the clock of the row.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.gigahertz / self.cycles_per_byte()
    }

    /// The speed as a part of the limit.
    pub fn of_limit(&self) -> Option<f64> {
        Some(self.limit? / self.cycles_per_byte())
    }
}
