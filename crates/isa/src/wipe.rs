//! Erasing secrets.

/// Overwrites `bytes` with zeros in a way that no compiler leaves out, even if nobody reads them again:
/// a whole vector a store, where volatile writes would take a store for each byte.
#[inline]
pub fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    barrier(bytes);
}

/// Overwrites `BYTES` bytes of the stack, from the frame of the caller downwards. Functions that have
/// returned leave there what did not fit into registers: round keys, key stream, tags. A frame that is
/// longer than `BYTES`, or further down, keeps the rest.
#[inline(never)]
pub fn wipe_stack<const BYTES: usize>() {
    let mut bytes = [0; BYTES];
    barrier(&mut bytes);
}

/// A call that stays one, so that all that `work` keeps on the stack is below the frame of the caller,
/// where [`wipe_stack`] reaches it.
#[inline(never)]
pub(crate) fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Makes the compiler believe that `bytes` are read.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn barrier(bytes: &mut [u8]) {
    // SAFETY: the assembly is empty; all that counts is that it might read behind the pointer.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            in(reg) bytes.as_mut_ptr(),
            options(nostack, preserves_flags)
        );
    }
}

/// Makes the compiler believe that `bytes` are read, as far as the language promises that.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn barrier(bytes: &mut [u8]) {
    core::hint::black_box(bytes);
}
