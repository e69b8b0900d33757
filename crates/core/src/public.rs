//! What may be known of values that were computed from secrets.
//!
//! No branch and no index depends on a key or a text, but for what is decided here: whether a check has
//! passed, and how long a key is that was unwrapped. The check of constant time (`tools/ct`) follows secrets
//! through memory and registers; built with `--cfg lanelock_ct`, these functions tell it that a value is
//! public from here on.

use subtle::Choice;

/// Whether a check has passed. The caller of the engine learns it, and its time may depend on it.
#[inline(always)]
pub(crate) fn verdict(passed: Choice) -> bool {
    declassify(passed.unwrap_u8().into()) == 1
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
