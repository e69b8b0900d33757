//! Erasing secrets.

use core::mem::MaybeUninit;

use crate::Block;

/// Overwrites `bytes` with zeros in a way that no compiler leaves out, even if they are never read
/// again. The fill compiles to stores of whole vectors; volatile writes would be one store a byte.
#[inline]
pub fn wipe(bytes: &mut [u8]) {
    // One block, a tag for instance, is one store: the function that fills any number of bytes takes
    // longer. With one barrier for both, the optimiser would call it for both.
    if let Ok(block) = <&mut Block>::try_from(&mut *bytes) {
        *block = [0; 16];
        barrier(block.as_mut_ptr());
    } else if bytes.len() > SHORT {
        wipe_many(bytes);
    } else {
        bytes.fill(0);
        barrier(bytes.as_mut_ptr());
    }
}

/// More bytes than these are left to the function that fills any number. It has the widest vectors of the
/// processor; the stores that the compiler writes out for a length that it knows are of the narrowest.
const SHORT: usize = 64;

#[inline(never)]
fn wipe_many(bytes: &mut [u8]) {
    bytes.fill(0);
    barrier(bytes.as_mut_ptr());
}

/// Overwrites `BYTES` bytes of the stack, from the frame of the caller downwards. Functions that have
/// returned leave there what did not fit into registers: round keys, key stream, tags. A frame that is
/// longer than `BYTES`, or further down, keeps the rest.
#[inline(never)]
pub fn wipe_stack<const BYTES: usize>() {
    /// What is longer is left to an instruction of the processor that nothing else runs beside (`rep stosb`).
    const PART: usize = 1 << 10;
    let mut bytes = MaybeUninit::<[u8; BYTES]>::uninit();
    let start = bytes.as_mut_ptr().cast::<u8>();
    let mut at = 0;
    while at < BYTES {
        let (part, length) = (start.wrapping_add(at), PART.min(BYTES - at));
        // SAFETY: these are `length` bytes of the array, from byte `at` on.
        unsafe { part.write_bytes(0, length) };
        barrier(part);
        at += length;
    }
}

/// Overwrites `values` with `zero`, as [`wipe`] overwrites bytes.
#[inline(always)]
pub fn wipe_values<T: Copy>(values: &mut [T], zero: T) {
    values.fill(zero);
    keep(values);
}

/// Keeps the stores to `values` that came before: they are not dead as far as the optimiser can tell.
#[inline(always)]
fn keep<T>(values: &mut [T]) {
    barrier(values.as_mut_ptr().cast());
}

/// A read of `bytes`, as far as the optimiser can tell: the stores before it are not dead then.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn barrier(bytes: *mut u8) {
    // No `nomem`: the optimiser has to assume that the block reads memory through the pointer.
    // SAFETY: the assembly has no instruction, so nothing is read or written.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            in(reg) bytes,
            options(nostack, preserves_flags)
        );
    }
}

/// The same without assembly. The language promises less for `black_box`: it is a hint.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn barrier(bytes: *mut u8) {
    core::hint::black_box(bytes);
}
