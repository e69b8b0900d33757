//! Erasing secrets.

/// Overwrites `bytes` with zeros in a way that no compiler leaves out, even if nobody reads them again:
/// a whole vector a store, where volatile writes would take a store for each byte.
#[inline]
pub fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    barrier(bytes);
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
