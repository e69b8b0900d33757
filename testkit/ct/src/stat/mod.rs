//! Times measured: the method of dudect (O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant
//! time?", 2017).
//!
//! An operation gets inputs of two classes, which a random number chooses for each measurement anew, so that
//! whatever disturbs the machine disturbs both. All inputs are made before they are measured, and copied to one
//! place one by one. Then a t-test asks whether the two classes take the same time.

mod operations;
mod pubkey;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lanelock::{AesLevel, hash::Levels};
use lanelock_ct::Welch;
use lanelock_isa::LimbLevel;
use lanelock_pubkey::x25519;

use crate::{Options, clock::ticks, planted, rng::Rng, skip_missing_levels};
use operations::{HASHES, OPERATIONS};

/// What is measured. The input is as long as it was asked for, and may be changed.
type Work = Box<dyn FnMut(&mut [u8])>;

/// Makes an input of class 0 or 1; its bytes are zero before.
type Fill = Box<dyn FnMut(usize, &mut Rng, &mut [u8])>;

/// An operation and its two classes of inputs.
pub(super) struct Subject {
    /// Bytes of an input.
    bytes: usize,
    fill: Fill,
    work: Work,
    /// Whether all data are to be out of the first cache when it begins, so that a look-up in a table shows.
    cold: bool,
    /// Whether it takes so long that a run has as many measurements as fit into [`SLOW`], if these are fewer.
    slow: bool,
}

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

/// Measures the operations at all levels. Whether all was as it should be.
pub(crate) fn run(options: &Options) -> bool {
    let mut rng = Rng::from_env("stat");
    let mut passed = self_test(options.measurements.min(100_000), &mut rng);
    if options.short {
        return passed;
    }
    for level in AesLevel::available() {
        for (name, subject) in OPERATIONS {
            if !options.chosen(name) {
                continue;
            }
            let outcome = judge(&mut subject(level), options.measurements, &mut rng);
            print(name, level.name(), outcome.result, &outcome);
            passed &= outcome.result == "clean";
        }
    }
    for levels in Levels::available() {
        for (name, subject) in HASHES {
            if !options.chosen(name) {
                continue;
            }
            let outcome = judge(&mut subject(levels), options.measurements, &mut rng);
            print(name, &format!("{} {}", levels.lanes, levels.one), outcome.result, &outcome);
            passed &= outcome.result == "clean";
        }
    }
    for level in LimbLevel::available() {
        for (name, subject) in pubkey::OPERATIONS {
            if !options.chosen(name) {
                continue;
            }
            let mut counts = vec![1, level.width()];
            counts.dedup();
            for lanes in counts {
                let mut subject = subject(level, lanes).slow();
                let outcome = judge(&mut subject, options.measurements, &mut rng);
                print(&format!("{name}, {lanes}"), level.name(), outcome.result, &outcome);
                passed &= outcome.result == "clean";
            }
        }
    }
    skip_missing_levels("stat", "the processor does not have it");
    passed
}

fn print(operation: &str, level: &str, result: &str, Outcome { t, measurements, .. }: &Outcome) {
    println!("{operation}|{level}|stat|{result}|{t:.1}|{measurements}");
}

/// Whether planted leaks are found, and nothing where there is none.
fn self_test(measurements: usize, rng: &mut Rng) -> bool {
    let tag: [u8; 16] = rng.array();
    let table = planted::table();
    let trials: [(&str, bool, Subject); 5] = [
        (
            "self-test: planted comparison",
            true,
            Subject::new(16, wrong_first_or_last(tag), move |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::compare_until_different(&tag, input));
                }
            }),
        ),
        (
            "self-test: planted look-up",
            true,
            Subject::new(16, fixed_or_random(), move |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::look_up(&table, input));
                }
            })
            .cold(),
        ),
        (
            "self-test: planted branch",
            true,
            Subject::new(16, fixed_or_random(), |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::branch_on_bit(input));
                }
            }),
        ),
        (
            // A product more for a bit of a scalar, beside a public key, which takes far longer.
            "self-test: planted ladder",
            true,
            Subject::new(32, fixed_or_random(), |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::multiply_where_set(input));
                    let key = x25519::SecretKey::from_bytes(input).expect("a level");
                    black_box(key.public_key());
                }
            })
            .slow(),
        ),
        (
            "self-test: control",
            false,
            Subject::new(16, wrong_first_or_last(tag), move |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::compare_all(&tag, input));
                }
            }),
        ),
    ];
    let mut passed = true;
    for (name, leaks, mut subject) in trials {
        let outcome = judge(&mut subject, measurements, rng);
        let result = match (leaks, outcome.result) {
            (true, "LEAK") => "found",
            (true, _) => "NOT FOUND",
            (false, result) => result,
        };
        print(name, "-", result, &outcome);
        passed &= matches!(result, "found" | "clean");
    }
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
    /// An operation on inputs of `bytes` bytes.
    fn new(
        bytes: usize,
        fill: impl FnMut(usize, &mut Rng, &mut [u8]) + 'static,
        work: impl FnMut(&mut [u8]) + 'static,
    ) -> Self {
        Self { bytes, fill: Box::new(fill), work: Box::new(work), cold: false, slow: false }
    }

    /// The same, with data that are not in the first cache.
    fn cold(mut self) -> Self {
        self.cold = true;
        self
    }

    /// The same, measured less often.
    fn slow(mut self) -> Self {
        self.slow = true;
        self
    }

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

/// Class 0 is one input of zeros, class 1 any.
fn fixed_or_random() -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    |class, rng, input| {
        if class == 1 {
            rng.fill(input);
        }
    }
}

/// Wrong tags: class 0 in the first byte, class 1 in the last.
fn wrong_first_or_last(tag: impl AsRef<[u8]>) -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    move |class, rng, input| {
        input.copy_from_slice(tag.as_ref());
        let place = if class == 0 { 0 } else { input.len() - 1 };
        input[place] ^= change(rng);
    }
}

/// Wrong tags: class 0 in the first byte, class 1 in any other.
fn wrong_first_or_later(tag: impl AsRef<[u8]>) -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    move |class, rng, input| {
        input.copy_from_slice(tag.as_ref());
        let place = (1 + rng.below(input.len() - 1)) * class;
        input[place] ^= change(rng);
    }
}

/// Bits of a byte that are wrong: at least one.
fn change(rng: &mut Rng) -> u8 {
    let [byte] = rng.array();
    byte | 1
}
