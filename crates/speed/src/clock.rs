//! Core cycles without performance counters, in safe code.
//!
//! The wall clock counts nanoseconds, and the core clock moves under it. So each window of the
//! measured code is bracketed by two chains of dependent operations whose number of cycles is known:
//! `x = (x ^ a) + b` takes two cycles a step on every processor of the last decades, and no compiler
//! can shorten it, since exclusive or and addition do not commute. If both chains agree, their mean is
//! the clock of the window; if not, the clock changed or the thread was interrupted, and the window is
//! dropped.
//!
//! Both are a few microseconds long: under wide vectors the clock changes all the time, and a host interrupts its virtual
//! machines every 100 µs or so. Medians of windows of 40 µs differed by 12 % for one and the same code.
//!
//! ```no_run
//! let sample = lanelock_speed::clock::measure(201, 3, || { std::hint::black_box([0_u8; 64]); });
//! println!("{} core cycles, spread {:.1} %", sample.cycles, sample.spread * 100.0);
//! ```

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Cycles of one chain: about 2 µs.
const CHAIN: u32 = 8_000;

/// Length of a window: long beside reading the clock.
const WINDOW: Duration = Duration::from_micros(8);

/// Most time for a pass, where single calls are long.
const PASS: Duration = Duration::from_millis(20);

/// What one call takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Core cycles: the lowest of the passes' medians, since noise only ever adds.
    pub cycles: f64,
    /// How far the highest of the medians is above, as a part of the lowest.
    pub spread: f64,
}

impl Sample {
    /// The sample of these medians, one a pass.
    pub fn of(medians: &[f64]) -> Self {
        let finite = || medians.iter().copied().filter(|median| median.is_finite());
        let cycles = finite().fold(f64::INFINITY, f64::min);
        let highest = finite().fold(cycles, f64::max);
        Self { cycles, spread: highest / cycles - 1.0 }
    }
}

/// Core cycles of one call of `f`: `passes` times the median of `windows` windows.
pub fn measure(windows: usize, passes: usize, mut f: impl FnMut()) -> Sample {
    let medians: Vec<f64> = (0..passes.max(1)).map(|_| median(windows, &mut f)).collect();
    Sample::of(&medians)
}

/// Core cycles of one call of `f`, where calls take as long as chance has it: the mean of `SEARCHES` in each of
/// `passes`. The spread is that of the passes' means.
pub fn mean(passes: usize, mut f: impl FnMut()) -> Sample {
    let overhead = overhead();
    let mut once = || {
        let before = chain(overhead);
        let taken = nanoseconds(time(&mut f));
        taken * 2.0 * f64::from(CHAIN) / (before + chain(overhead))
    };
    let mut pass = || (0..SEARCHES).map(|_| once()).sum::<f64>() / float(SEARCHES);
    let means: Vec<f64> = (0..passes.max(1)).map(|_| pass()).collect();
    let cycles = means.iter().sum::<f64>() / float(means.len());
    Sample { cycles, ..Sample::of(&means) }
}

/// Calls in a pass of [`mean`].
const SEARCHES: usize = 20;

/// Core cycles of one call of `f`: the median of `windows` windows, of fewer where calls are long.
/// One pass: contestants take turns, and the lowest of each counts.
pub fn median(windows: usize, mut f: impl FnMut()) -> f64 {
    f();
    let once = time(&mut f).min(time(&mut f)).max(Duration::from_nanos(5));
    let calls = quotient(WINDOW, once);
    let windows = windows.clamp(1, quotient(PASS, once).max(3));
    let overhead = overhead();
    let mut steady = Vec::with_capacity(windows);
    // On a busy machine few windows are steady; without any, the others are better than no figure.
    let mut least = (f64::INFINITY, f64::NAN);
    let mut before = chain(overhead);
    for _ in 0..4 * windows {
        let taken = time(|| {
            for _ in 0..calls {
                f();
            }
        });
        let after = chain(overhead);
        let nanoseconds = (nanoseconds(taken) - overhead).max(0.0);
        let cycles = nanoseconds * 2.0 * f64::from(CHAIN) / (before + after) / float(calls);
        let change = (before - after).abs() / before;
        before = after;
        if change < 0.02 {
            steady.push(cycles);
        } else if change < least.0 {
            least = (change, cycles);
        }
        if steady.len() == windows {
            break;
        }
    }
    steady.sort_by(f64::total_cmp);
    steady.get(steady.len() / 2).copied().unwrap_or(least.1)
}

/// The core clock in GHz: cycles a nanosecond.
pub fn gigahertz() -> f64 {
    let overhead = overhead();
    let best = (0..50).map(|_| chain(overhead)).fold(f64::INFINITY, f64::min);
    f64::from(CHAIN) / best
}

/// Nanoseconds that `CHAIN` core cycles take now.
fn chain(overhead: f64) -> f64 {
    let (a, b) = (black_box(0x9e37_79b9_7f4a_7c15_u64), black_box(3_u64));
    let start = Instant::now();
    let mut x = black_box(1_u64);
    for _ in 0..CHAIN / 32 {
        // Sixteen steps of two cycles: the loop's own instructions run beside them.
        for _ in 0..16 {
            x = (x ^ a).wrapping_add(b);
        }
    }
    black_box(x);
    (nanoseconds(start.elapsed()) - overhead).max(1.0)
}

/// Nanoseconds that reading the clock twice adds.
fn overhead() -> f64 {
    (0..20).map(|_| nanoseconds(time(|| {}))).fold(f64::INFINITY, f64::min)
}

fn time(mut f: impl FnMut()) -> Duration {
    let start = Instant::now();
    f();
    start.elapsed()
}

/// How often `part` goes into `whole`, at least once.
fn quotient(whole: Duration, part: Duration) -> usize {
    usize::try_from(whole.as_nanos() / part.as_nanos().max(1)).unwrap_or(usize::MAX).max(1)
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) fn float(number: usize) -> f64 {
    number as f64
}
