//! What may be known of values that were computed from secrets.
//!
//! No branch and no index depends on a key or a text, but for what is decided here: whether a check has
//! passed, how long a text is that was unwrapped, and what a random number hides. The check of constant time
//! (`tools/ct`) follows secrets through memory and registers; built with `--cfg lanelock_ct`, these functions
//! tell it that a value is public from here on.

use subtle::Choice;

/// Whether a check has passed. The caller of the engine learns it, and its time may depend on it.
#[inline(always)]
pub(crate) fn verdict(passed: Choice) -> bool {
    declassify(passed.unwrap_u8().into()) == 1
}

/// What `verdict` makes of a mask: all ones, or 1, where the check has passed, and zero where not.
#[inline(always)]
pub fn passed(mask: u64) -> bool {
    declassify(usize::from(mask & 1 == 1)) == 1
}

/// A number that was multiplied by a random one, of which nobody knows anything else: of itself it says nothing.
#[inline(always)]
pub fn blinded(words: &mut [u64]) {
    #[cfg(lanelock_ct)]
    for word in words {
        *word = declassify(*word as usize) as u64;
    }
    #[cfg(not(lanelock_ct))]
    let _ = words;
}

/// A length that was authenticated: the caller gets so many bytes.
#[inline(always)]
pub fn length(bytes: usize) -> usize {
    declassify(bytes)
}

#[cfg(not(lanelock_ct))]
#[inline(always)]
fn declassify(value: usize) -> usize {
    value
}

#[cfg(lanelock_ct)]
fn declassify(mut value: usize) -> usize {
    if let Some(declassify) = DECLASSIFY.get() {
        declassify(&mut value);
    }
    value
}

/// What the check of constant time does with a value that becomes public.
#[cfg(lanelock_ct)]
pub static DECLASSIFY: std::sync::OnceLock<fn(&mut usize)> = std::sync::OnceLock::new();
