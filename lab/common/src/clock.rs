//! Core cycles without performance counters: the time-stamp counter, calibrated beside each window by
//! chains of dependent additions, which take one cycle each.
//!
//! Windows and chains are a few microseconds long. With wide vectors the core clock changes all the time, by up to
//! 12 %, and host and hypervisor interrupt a virtual machine every 100 µs or so: of windows of 50 µs more than half
//! contained the one or the other (an Intel processor; medians of one and the same code differed by 12 %, with
//! those of now by .2 %).

use core::arch::{asm, x86_64::_rdtsc};

/// Cycles of one chain: more than 1 µs.
const CHAIN: u64 = 4_800;

/// Ticks of a window, less than 10 µs; longer where a call is.
const WINDOW: u64 = 20_000;

/// Ticks after which a pass ends, where single calls are long.
const PASS: u64 = 150_000_000;

/// Core cycles of a call.
#[derive(Clone, Copy, Debug)]
pub struct Cycles {
    /// Of half of the windows at most.
    pub median: f64,
    /// Of all windows but one in a hundred at most.
    pub p99: f64,
}

/// Core cycles that one call of `f` takes in `windows` windows, each between two
/// chains. Windows in which the clock changed or a chain was interrupted are dropped.
pub fn cycles(windows: usize, mut f: impl FnMut()) -> Cycles {
    f();
    let overhead = overhead();
    let once = duration(&mut f).min(duration(&mut f)).max(1);
    let calls = (WINDOW / once).max(1);
    let windows = windows.min(usize::try_from(PASS / once).unwrap_or(usize::MAX).max(3));
    let mut steady = Vec::with_capacity(windows);
    // On a busy machine few windows are steady; the steadiest still says something.
    let mut steadiest = (u64::MAX, f64::NAN);
    let mut before = chain(overhead);
    for _ in 0..4 * windows {
        let taken = duration(|| {
            for _ in 0..calls {
                f();
            }
        });
        let after = chain(overhead);
        let per_cycle = (before + after) as f64 / (2 * CHAIN) as f64;
        let cycles = taken.saturating_sub(overhead) as f64 / per_cycle / calls as f64;
        let change = before.abs_diff(after) * 1000 / before;
        before = after;
        if change < 20 {
            steady.push(cycles);
        } else if change < steadiest.0 {
            steadiest = (change, cycles);
        }
        if steady.len() == windows {
            break;
        }
    }
    steady.sort_by(f64::total_cmp);
    let at = |part: usize| steady.get((steady.len() * part).saturating_sub(1) / 100);
    let at = |part: usize| at(part).copied().unwrap_or(steadiest.1);
    Cycles { median: at(50), p99: at(99) }
}

/// The same of calls that take as long as chance has it, by so many of them: as median their mean.
///
/// Such calls are longer than a turn of the scheduler, so that none would be left if those that were interrupted were
/// dropped. What counts is the time that the thread had the processor, each call bracketed by chains.
pub fn mean(calls: usize, mut f: impl FnMut()) -> Cycles {
    f();
    let (start, first_tick) = (std::time::Instant::now(), ticks());
    let overhead = overhead();
    let steady = || (0..3).map(|_| chain(overhead)).min().expect("three");
    let once = || {
        let before = steady();
        let start = processor_time();
        f();
        let taken = processor_time() - start;
        taken as f64 * (2 * CHAIN) as f64 / (before + steady()) as f64
    };
    let mut all: Vec<f64> = std::iter::repeat_with(once).take(calls.max(1)).collect();
    // From nanoseconds to ticks.
    let rate = (ticks() - first_tick) as f64 / start.elapsed().as_nanos() as f64;
    all.iter_mut().for_each(|taken| *taken *= rate);
    all.sort_by(f64::total_cmp);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    Cycles { median: mean, p99: all[(all.len() * 99).div_ceil(100) - 1] }
}

/// Nanoseconds for which this thread had the processor.
fn processor_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a clock that every Linux has, and a place for its time.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Ticks that reading the time-stamp counter twice adds.
fn overhead() -> u64 {
    (0..20).map(|_| duration(|| {})).min().expect("twenty samples")
}

/// The core clock in GHz, by the wall clock.
pub fn gigahertz() -> f64 {
    let overhead = overhead();
    let (start, first_tick) = (std::time::Instant::now(), ticks());
    let best = (0..200).map(|_| chain(overhead)).min().expect("two hundred samples");
    let ticks_per_nanosecond = (ticks() - first_tick) as f64 / start.elapsed().as_nanos() as f64;
    CHAIN as f64 / best as f64 * ticks_per_nanosecond
}

/// Ticks that `CHAIN` core cycles take now.
fn chain(overhead: u64) -> u64 {
    let ticks = duration(|| {
        // SAFETY: only the named registers change.
        unsafe {
            asm!(
                "2:",
                "add {x}, {y}", "add {x}, {y}", "add {x}, {y}", "add {x}, {y}",
                "add {x}, {y}", "add {x}, {y}", "add {x}, {y}", "add {x}, {y}",
                "add {x}, {y}", "add {x}, {y}", "add {x}, {y}", "add {x}, {y}",
                "add {x}, {y}", "add {x}, {y}", "add {x}, {y}", "add {x}, {y}",
                "sub {n}, 16",
                "jnz 2b",
                x = inout(reg) 1_u64 => _, y = in(reg) 3_u64, n = inout(reg) CHAIN => _,
            );
        }
    });
    ticks.saturating_sub(overhead).max(1)
}

fn duration(mut f: impl FnMut()) -> u64 {
    let start = ticks();
    f();
    ticks() - start
}

/// The serialised time-stamp counter.
fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has LFENCE and RDTSC.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let t = _rdtsc();
        core::arch::x86_64::_mm_lfence();
        t
    }
}
