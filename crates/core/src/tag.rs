//! Tags: compared in one place.

use lanelock_isa::{AesLevel, StackDepth, wipe, wipe_stack};
use subtle::{Choice, ConstantTimeEq};

use crate::{Error, public::verdict};

/// Whether the tag of a message is the expected one. If not, the output is zeroed, and so is the expected
/// tag, which a forger could use: a kernel stored it there and nowhere else. `depth` is how far down the
/// kernels for vectors have left plaintext.
#[inline(always)]
pub fn authenticate(
    level: AesLevel,
    depth: StackDepth,
    expected: &mut [u8],
    tag: &[u8],
    output: &mut [u8],
) -> Result<(), Error> {
    let result = authenticate_beside(expected, tag, output);
    if result.is_err() {
        level.wipe_stack(depth);
    }
    result
}

/// [`authenticate`] where frames below keep copies: for messages in pieces, whose tags are finished outside
/// of a kernel, and for MACs that are made of those of lanes.
pub fn authenticate_wiping(
    expected: &mut [u8],
    tag: &[u8],
    output: &mut [u8],
) -> Result<(), Error> {
    let result = authenticate_beside(expected, tag, output);
    if result.is_err() {
        wipe_stack::<{ 2 << 10 }>();
    }
    result
}

/// [`authenticate`] without a look at the stack: where the caller wipes it, for a batch once. The only
/// place where tags are compared, in constant time.
#[inline(always)]
pub fn authenticate_beside(
    expected: &mut [u8],
    tag: &[u8],
    output: &mut [u8],
) -> Result<(), Error> {
    // Nearly all tags have 16 bytes: with the length a constant, the comparison is a few
    // instructions.
    let same = if let (Some(a), Some(b), 16, 16) =
        (expected.first_chunk(), tag.first_chunk(), expected.len(), tag.len())
    {
        let difference = u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b);
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        (difference as u64 | (difference >> 64) as u64).ct_eq(&0)
    } else {
        let difference = expected.iter().zip(tag).fold(0, |sum, (a, b)| sum | (a ^ b));
        difference.ct_eq(&0) & Choice::from(u8::from(expected.len() == tag.len()))
    };
    if verdict(same) {
        Ok(())
    } else {
        refuse(expected, output);
        Err(Error::Authentication)
    }
}

/// Forgeries are rare: this stays out of the kernels.
#[cold]
#[inline(never)]
fn refuse(expected: &mut [u8], output: &mut [u8]) {
    wipe(expected);
    wipe(output);
}

/// The start of `full`, as long as `tag`.
#[inline(always)]
pub fn copy_tag(full: &[u8; 16], tag: &mut [u8]) {
    if let Ok(tag) = <&mut [u8; 16]>::try_from(&mut *tag) {
        *tag = *full;
    } else {
        copy_short(*full, tag);
    }
}

/// Beside the copy of 16 bytes, the compiler would make one copy of both, of any length. `full` by value: then it need
/// not be in memory.
#[cold]
#[inline(never)]
fn copy_short(full: [u8; 16], tag: &mut [u8]) {
    tag.copy_from_slice(&full[..tag.len()]);
}
