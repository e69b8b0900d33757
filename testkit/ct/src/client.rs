//! What a program can ask valgrind's memcheck: valgrind.h and memcheck.h of valgrind 3.
//!
//! A request is a sequence of instructions that changes nothing on a processor, and which valgrind knows.
//! No header and no library is needed, and outside of valgrind a request does nothing.
//!
//! Addresses are exposed, not only taken: else the compiler could keep bytes in registers during a request
//! about them, which would then say nothing about what is used afterwards.

/// `VG_USERREQ__RUNNING_ON_VALGRIND`
const RUNNING: usize = 0x1001;
/// `VG_USERREQ__COUNT_ERRORS`
const COUNT_ERRORS: usize = 0x1201;
/// `VG_USERREQ__MAKE_MEM_UNDEFINED`, the second of memcheck's own.
const MAKE_UNDEFINED: usize = MEMCHECK + 1;
/// `VG_USERREQ__MAKE_MEM_DEFINED`
const MAKE_DEFINED: usize = MEMCHECK + 2;
/// `VG_USERREQ__GET_VBITS`
const GET_BITS: usize = MEMCHECK + 8;
/// `VG_USERREQ_TOOL_BASE('M', 'C')`
const MEMCHECK: usize = 0x4d43_0000;

/// Whether valgrind runs this program.
pub(crate) fn running() -> bool {
    // SAFETY: it has no arguments.
    unsafe { request(RUNNING, [0; 3]) != 0 }
}

/// How many errors memcheck has found up to now.
pub(crate) fn errors() -> usize {
    // SAFETY: it has no arguments.
    unsafe { request(COUNT_ERRORS, [0; 3]) }
}

/// Makes `bytes` secret: memcheck takes them for undefined.
pub(crate) fn hide(bytes: &mut [u8]) {
    let start = bytes.as_mut_ptr().expose_provenance();
    // SAFETY: the bytes stay as they are; memcheck notes something about them.
    unsafe { request(MAKE_UNDEFINED, [start, bytes.len(), 0]) };
}

/// Makes `bytes` public.
pub(crate) fn reveal(bytes: &mut [u8]) {
    let start = bytes.as_mut_ptr().expose_provenance();
    // SAFETY: the bytes stay as they are; memcheck notes something about them.
    unsafe { request(MAKE_DEFINED, [start, bytes.len(), 0]) };
}

/// How many of `bytes` are secret, in part at least.
pub(crate) fn count_hidden(bytes: &[u8]) -> usize {
    let mut bits = vec![0_u8; bytes.len()];
    let pointers = [bytes.as_ptr().expose_provenance(), bits.as_mut_ptr().expose_provenance()];
    // SAFETY: memcheck writes a byte to the second buffer for each of the first, and they are equally long.
    unsafe { request(GET_BITS, [pointers[0], pointers[1], bytes.len()]) };
    bits.iter().filter(|&&bits| bits != 0).count()
}

/// Makes a request; its result, or 0 outside of valgrind.
///
/// # Safety
/// What the request writes is the caller's to write.
#[cfg(target_arch = "x86_64")]
unsafe fn request(code: usize, [a, b, c]: [usize; 3]) -> usize {
    let block = [code, a, b, c, 0, 0];
    let mut result = 0_usize;
    // SAFETY: rotated by 128 bits in all, `rdi` is as before, and so is `rbx`. What the request may write is
    // promised by the caller; the compiler assumes that the assembly writes any memory it knows of.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const block,
            inout("rdx") result,
            options(nostack)
        );
    }
    result
}

/// Elsewhere nothing is asked: as if there were no valgrind.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn request(_: usize, _: [usize; 3]) -> usize {
    0
}
