//! The clock with the shortest ticks.

/// The time stamp counter, once all instructions before are done and before any later one begins.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};

    // SAFETY: every x86-64 processor has SSE2, which is all that the fence needs.
    unsafe { _mm_lfence() };
    // SAFETY: reading the counter has no effect on memory, and user programs may read it.
    let ticks = unsafe { _rdtsc() };
    // SAFETY: as above.
    unsafe { _mm_lfence() };
    ticks
}

/// Nanoseconds.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    use std::{sync::LazyLock, time::Instant};

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos().try_into().unwrap_or_default()
}
