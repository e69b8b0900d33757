//! A measured row: its numbers, in the units of the tables. The [crate] has an example.

use lanelock::AesLevel;

use crate::{
    clock::{self, Sample, float},
    limit::Limits,
    workload::Workload,
};

/// How often a limit is measured again.
const ATTEMPTS: usize = 4;

/// A workload, measured at a level.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MeasuredRow {
    /// What was measured.
    pub workload: Workload,
    /// The level.
    pub level: AesLevel,
    /// Threads at once.
    pub threads: usize,
    /// Core cycles of one call in one of the threads.
    pub sample: Sample,
    /// The fewest cycles per byte that it could take, where they are known: see [`Limits`]. For one
    /// thread alone, since threads may share the units of a core.
    pub limit: Option<f64>,
    /// The core clock just after.
    pub gigahertz: f64,
}

impl MeasuredRow {
    /// Measures `workload` in one thread, or in several at once; `None` if the engine has no such call.
    pub fn measure(
        workload: Workload,
        level: AesLevel,
        limits: &Limits,
        passes: usize,
        threads: usize,
    ) -> Option<Self> {
        let sample = workload.measure(level, passes, threads)?;
        let mut row =
            Self { workload, level, threads, sample, limit: None, gigahertz: clock::gigahertz() };
        row.set_limit(limits);
        // A limit that was beaten was measured while something else ran.
        for _ in 0..ATTEMPTS {
            if row.of_limit().is_none_or(|part| part <= 1.0) {
                break;
            }
            limits.measure_again();
            row.set_limit(limits);
        }
        Some(row)
    }

    /// Takes the limit as it is known now: later rows may have made it more exact.
    pub fn set_limit(&mut self, limits: &Limits) {
        self.limit = if self.threads == 1 { limits.cycles_per_byte(&self.workload) } else { None };
    }

    /// Core cycles for each message.
    pub fn cycles(&self) -> f64 {
        self.sample.cycles / float(self.workload.streams)
    }

    /// Core cycles for each byte of all messages; AAD is not counted.
    pub fn cycles_per_byte(&self) -> f64 {
        self.sample.cycles / float(self.workload.bytes())
    }

    /// 10^9 bytes in each second by all threads, at the clock of the row.
    pub fn gigabytes_per_second(&self) -> f64 {
        float(self.threads) * self.gigahertz / self.cycles_per_byte()
    }

    /// The limit as core cycles for each message.
    pub fn limit_cycles(&self) -> Option<f64> {
        let bytes = self.workload.bytes();
        Some(self.limit? * float(bytes) / float(self.workload.streams))
    }

    /// The speed as a part of the limit.
    pub fn of_limit(&self) -> Option<f64> {
        Some(self.limit? / self.cycles_per_byte())
    }
}
