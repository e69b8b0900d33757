//! Times measured: the method of dudect (O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant
//! time?", 2017).
//!
//! An operation gets inputs of two classes, which a random number chooses for each measurement anew, so that
//! whatever disturbs the machine disturbs both. All inputs are made before they are measured, and copied to one
//! place one by one. Then a t-test asks whether the two classes take the same time.

use std::{
    env,
    hint::black_box,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use lanelock_ct::{Difference, Welch};

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
/// So many runs in a row have to show a leak, in the same direction.
const CONFIRMATIONS: usize = 5;
/// After so many runs, none of which was free of suspicion, the operation does not pass, unless all differences were tiny.
const MOST_RUNS: u32 = 8;
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

/// Smaller differences, as a share of the time, are none that code makes: see [`judge`].
const TINY: f64 = 0.001;

/// What became of an operation.
struct Outcome {
    result: &'static str,
    /// Of the last run, which decided.
    last: Difference,
    /// In all runs together.
    measurements: usize,
}

impl Outcome {
    /// Prints a row; whether it passes.
    fn print(&self, row: (&str, &str), result: &str) -> bool {
        let Difference { t, share } = self.last;
        let difference = if result == "clean" {
            format!("{:.1}", t.abs())
        } else {
            format!("{:.1}, {:.3} % of time", t.abs(), share * 100.0)
        };
        print(row, "stat", result, &difference, self.measurements)
    }
}

/// Measures the operations at all levels. Whether all was as it should be.
pub(crate) fn run(options: &Options) -> bool {
    let mut rng = Rng::from_env("stat");
    let mut passed = true;
    let trials = subjects::trials();
    for (number, trial) in trials.iter().enumerate() {
        let outcome = judge(number, options.measurements.min(100_000), &mut rng);
        passed &= outcome.print((trial.name, "-"), trial.result(outcome.result));
    }
    if options.short {
        return passed;
    }
    for (number, row) in (trials.len()..).zip(subjects::rows()) {
        if options.chosen(&row.name, &row.level) {
            let outcome = judge(number, options.measurements, &mut rng);
            passed &= outcome.print((&row.name, &row.level), outcome.result);
        }
    }
    skip_missing_levels("stat", "the processor does not have it");
    passed
}

/// Measures until it is clear whether the classes differ. A suspicious run is repeated with fresh inputs, and
/// with more of them, each in a process of its own.
///
/// Between two inputs there may be a difference of a clock's step in a hundred microseconds although the processor runs
/// the same instructions over the same addresses, which [`trace`](crate::trace) shows; for the same inputs it may
/// change its direction from process to process. So a leak has one direction in all runs, and takes more than [`TINY`]
/// of the time. Branches and addresses are for the other methods, which miss none however short; here instructions
/// are looked for whose own time depends on their operands.
fn judge(number: usize, measurements: usize, rng: &mut Rng) -> Outcome {
    let (mut total, mut confirmed, mut tiny) = (0, 0, true);
    let mut last = Difference::default();
    for run in 0..MOST_RUNS {
        let Some((difference, count)) =
            measure_apart(number, measurements << run.min(2), rng.next_u64())
        else {
            return Outcome { result: "NOT RUN", last, measurements: total };
        };
        total += count;
        confirmed = match difference.t.abs() {
            t if t <= SUSPICIOUS => {
                return Outcome { result: "clean", last: difference, measurements: total };
            }
            t if t <= LEAK => 0,
            _ if difference.t.signum() == last.t.signum() => confirmed + 1,
            _ => 1,
        };
        tiny &= difference.t.abs() <= LEAK || difference.share < TINY;
        last = difference;
        if confirmed >= CONFIRMATIONS && !tiny {
            return Outcome { result: "LEAK", last, measurements: total };
        }
    }
    Outcome { result: if tiny { "tiny" } else { "UNCLEAR" }, last, measurements: total }
}

/// A run in a process of its own, and its number of measurements.
fn measure_apart(number: usize, measurements: usize, seed: u64) -> Option<(Difference, usize)> {
    let arguments = [number.to_string(), measurements.to_string(), seed.to_string()];
    let output = Command::new(env::current_exe().ok()?)
        .arg("measured")
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_ascii_whitespace();
    let difference =
        Difference { t: words.next()?.parse().ok()?, share: words.next()?.parse().ok()? };
    Some((difference, words.next()?.parse().ok()?))
}

/// The process of a run: the number of an operation, that of measurements, a seed.
pub(crate) fn measured(mut arguments: impl Iterator<Item = String>) -> Option<()> {
    let number: usize = arguments.next()?.parse().ok()?;
    let measurements: usize = arguments.next()?.parse().ok()?;
    let mut rng = Rng::new(arguments.next()?.parse().ok()?);
    let trials = subjects::trials().into_iter().map(|trial| trial.make);
    let make = trials.chain(subjects::rows().map(|row| row.make)).nth(number)?;
    let mut subject = make();
    let count =
        if subject.slow { measurements.min(subject.fitting(SLOW, &mut rng)) } else { measurements };
    let Difference { t, share } = subject.measure(count, &mut rng);
    println!("{t} {share} {count}");
    Some(())
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

    /// How the classes differ in so many measurements.
    fn measure(&mut self, count: usize, rng: &mut Rng) -> Difference {
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
                        return test.largest();
                    }
                }
            }
        }
        unreachable!("chunks go on until there are enough")
    }
}
