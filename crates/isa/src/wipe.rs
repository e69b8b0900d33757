//! Erasing secrets.

use crate::Block;

/// Overwrites `bytes` with zeros in a way that no compiler leaves out, even if they are never read
/// again. The fill compiles to stores of whole vectors; volatile writes would be one store a byte.
#[inline]
pub fn wipe(bytes: &mut [u8]) {
    // One block, a tag for instance, is one store: the function that fills any number of bytes takes
    // longer. With one barrier for both, the optimiser would call it for both.
    if let Ok(block) = <&mut Block>::try_from(&mut *bytes) {
        *block = [0; 16];
        barrier(block);
    } else {
        bytes.fill(0);
        barrier(bytes);
    }
}

/// Overwrites `BYTES` bytes of the stack, from the frame of the caller downwards. Functions that have
/// returned leave there what did not fit into registers: round keys, key stream, tags. A frame that is
/// longer than `BYTES`, or further down, keeps the rest.
#[inline(never)]
pub fn wipe_stack<const BYTES: usize>() {
    let mut bytes = [0; BYTES];
    barrier(&mut bytes);
}

/// A read of `bytes`, as far as the optimiser can tell: the stores before it are not dead then.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn barrier(bytes: &mut [u8]) {
    // No `nomem`: the optimiser has to assume that the block reads memory through the pointer.
    // SAFETY: the assembly has no instruction, so nothing is read or written.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            in(reg) bytes.as_mut_ptr(),
            options(nostack, preserves_flags)
        );
    }
}

/// The same without assembly. The language promises less for `black_box`: it is a hint.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn barrier(bytes: &mut [u8]) {
    core::hint::black_box(bytes);
}
