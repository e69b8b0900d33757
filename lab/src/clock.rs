//! Core cycles without performance counters: the time-stamp counter, calibrated in the same window by
//! a chain of dependent additions, which take one cycle each.

use core::arch::{asm, x86_64::_rdtsc};

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

const CHAIN: u64 = 19_200;

/// Ticks that `CHAIN` core cycles take now.
fn chain() -> u64 {
    let start = ticks();
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
    ticks() - start
}

/// Core cycles that one call of `f` takes: the median of `windows` windows, each of about 40 µs and
/// bracketed by two chains; windows in which the clock changed are dropped.
pub fn cycles(windows: usize, mut f: impl FnMut()) -> f64 {
    f();
    let start = ticks();
    f();
    let once = (ticks() - start).max(1);
    let calls = (100_000 / once).max(1);
    let mut samples = Vec::with_capacity(windows);
    for _ in 0..windows {
        let before = chain();
        let start = ticks();
        for _ in 0..calls {
            f();
        }
        let taken = ticks() - start;
        let after = chain();
        if before.abs_diff(after) * 50 < before {
            let per_cycle = (before + after) as f64 / (2 * CHAIN) as f64;
            samples.push(taken as f64 / per_cycle / calls as f64);
        }
    }
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The core clock in GHz, by the wall clock.
pub fn gigahertz() -> f64 {
    let best = (0..50)
        .map(|_| {
            let start = std::time::Instant::now();
            chain();
            start.elapsed()
        })
        .min()
        .expect("fifty samples");
    CHAIN as f64 / best.as_nanos() as f64
}
