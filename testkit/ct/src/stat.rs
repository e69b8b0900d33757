//! Times measured: the method of dudect (O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant
//! time?", 2017).
//!
//! An operation gets inputs of two classes, which a random number chooses for each measurement anew, so that
//! whatever disturbs the machine disturbs both. All inputs are made before they are measured, and copied to one
//! place one by one. Then a t-test asks whether the two classes take the same time.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lanelock_ct::Welch;

use crate::{
    Options,
    clock::ticks,
    print,
    rng::Rng,
    skip_missing_levels,
    subjects::{self, Subject},
};

/// Below this |t|, nothing is seen.
const SUSPICIOUS: f64 = 4.5;
/// Above this |t|, there is a difference, if it stays.
const LEAK: f64 = 10.0;
/// So many runs in a row have to show a leak.
const CONFIRMATIONS: usize = 3;
/// After so many runs, none of which was free of suspicion, the operation does not pass.
const MOST_RUNS: usize = 8;
/// Measurements between which inputs are made.
const CHUNK: usize = 2048;
/// The same of slow operations.
const SLOW_CHUNK: usize = 512;
/// How long a run of a slow operation takes: some thousand of the slowest ones.
const SLOW: Duration = Duration::from_secs(10);
/// Fewer measurements say nothing.
const FEWEST: usize = 8 * SLOW_CHUNK;
/// More than the first cache of any processor.
const COLD_BYTES: usize = 128 << 10;

/// What became of an operation.
struct Outcome {
    result: &'static str,
    /// The largest |t| of the last run, which decided; of a leak the smallest of those that confirm it.
    t: f64,
    /// In all runs together.
    measurements: usize,
}

impl Outcome {
    /// Prints a row; whether it passes.
    fn print(&self, row: (&str, &str), result: &str) -> bool {
        print(row, "stat", result, &format!("{:.1}", self.t), self.measurements)
    }
}

/// Measures the operations at all levels. Whether all was as it should be.
pub(crate) fn run(options: &Options) -> bool {
    let mut rng = Rng::from_env("stat");
    let mut passed = true;
    for trial in subjects::trials() {
        let measurements = options.measurements.min(100_000);
        let make = &trial.make;
        let outcome = judge(&mut make(), measurements, &mut rng);
        let result = trial.result(outcome.result);
        passed &= outcome.print((trial.name, "-"), result);
    }
    if options.short {
        return passed;
    }
    for row in subjects::rows().filter(|row| options.chosen(&row.name)) {
        let outcome = judge(&mut (row.make)(), options.measurements, &mut rng);
        passed &= outcome.print((&row.name, &row.level), outcome.result);
    }
    skip_missing_levels("stat", "the processor does not have it");
    passed
}

/// Measures until it is clear whether the classes differ. A suspicious run is repeated with fresh inputs, and
/// with more of them.
fn judge(subject: &mut Subject, measurements: usize, rng: &mut Rng) -> Outcome {
    let measurements =
        if subject.slow { measurements.min(subject.fitting(SLOW, rng)) } else { measurements };
    let (mut total, mut confirmed, mut least) = (0, 0, f64::INFINITY);
    for run in 0..MOST_RUNS {
        let count = measurements << run.min(2);
        let t = subject.measure(count, rng);
        total += count;
        if t <= SUSPICIOUS {
            return Outcome { result: "clean", t, measurements: total };
        }
        (confirmed, least) =
            if t > LEAK { (confirmed + 1, least.min(t)) } else { (0, f64::INFINITY) };
        if confirmed == CONFIRMATIONS {
            return Outcome { result: "LEAK", t: least, measurements: total };
        }
    }
    Outcome { result: "UNCLEAR", t: least, measurements: total }
}

impl Subject {
    /// How many measurements fit into a time, making the inputs included.
    fn fitting(&mut self, time: Duration, rng: &mut Rng) -> usize {
        let mut input = vec![0; self.bytes];
        let (start, mut count) = (Instant::now(), 0);
        while start.elapsed() < time / 50 || count < 2 {
            input.fill(0);
            (self.fill)(count % 2, rng, &mut input);
            (self.work)(&mut input);
            count += 1;
        }
        (50 * count).max(FEWEST)
    }

    /// The largest |t| of so many measurements.
    fn measure(&mut self, count: usize, rng: &mut Rng) -> f64 {
        let chunk_length = if self.slow { SLOW_CHUNK } else { CHUNK };
        let mut made = vec![0; chunk_length * self.bytes];
        // All are copied together, and each to one place before it is measured: what has been written twice, as those
        // of one class, is nearer in the caches than what was only zeroed.
        let mut inputs = vec![0; chunk_length * self.bytes];
        let mut place = vec![0; self.bytes];
        let mut classes = vec![0; chunk_length];
        let mut times = vec![0; chunk_length];
        let others = vec![1_u8; COLD_BYTES];
        // The first chunk warms up, and the second has the quantiles.
        let mut test = None;
        let mut left = count;
        for chunk in 0.. {
            made.fill(0);
            for (class, input) in classes.iter_mut().zip(made.chunks_exact_mut(self.bytes)) {
                *class = rng.below(2);
                (self.fill)(*class, rng, input);
            }
            inputs.copy_from_slice(&made);
            for (time, input) in times.iter_mut().zip(inputs.chunks_exact(self.bytes)) {
                place.copy_from_slice(input);
                if self.cold {
                    black_box(others.iter().step_by(64).fold(0, |sum, byte| sum ^ byte));
                }
                let start = ticks();
                (self.work)(&mut place);
                *time = ticks().wrapping_sub(start);
            }
            match (&mut test, chunk) {
                (_, 0) => {}
                (None, _) => test = Some(Welch::new(times.clone())),
                (Some(test), _) => {
                    for (&class, &time) in classes.iter().zip(&times).take(left) {
                        test.add(class, time);
                    }
                    left = left.saturating_sub(chunk_length);
                    if left == 0 {
                        return test.t();
                    }
                }
            }
        }
        unreachable!("chunks go on until there are enough")
    }
}
