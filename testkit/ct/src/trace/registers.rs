//! The registers of a process that is followed, and what addresses they make.

use core::arch::x86_64::__cpuid_count;

use iced_x86::{Instruction, Register};
use nix::{
    errno::Errno,
    libc::{self, user_regs_struct},
    unistd::Pid,
};

/// The value of a general register or the base of a segment; none of vectors, which are addresses of gathers.
pub(super) fn value_of(registers: &user_regs_struct, register: Register) -> Option<u64> {
    let value = match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    };
    Some(if register.size() == 4 { value & u64::from(u32::MAX) } else { value })
}

/// `NT_X86_XSTATE` of elf.h: registers as XSAVE lays them out.
const XSTATE: usize = 0x202;
/// More bytes than XSAVE needs for any registers but those of AMX.
const MOST_BYTES: usize = 4096;

/// All vector and mask registers. What was not used is not saved, and zero.
struct Vectors([u8; MOST_BYTES]);

impl Vectors {
    fn of(pid: Pid) -> Result<Self, Errno> {
        let mut bytes = [0; MOST_BYTES];
        let mut area = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: MOST_BYTES };
        // SAFETY: the kernel writes to the area no more than its length, and the process is one that is followed.
        let result =
            unsafe { libc::ptrace(libc::PTRACE_GETREGSET, pid.as_raw(), XSTATE, &raw mut area) };
        Errno::result(result)?;
        Ok(Self(bytes))
    }

    /// `N` bytes of the part of registers that XSAVE calls `component`.
    fn bytes<const N: usize>(&self, component: u32, at: usize) -> [u8; N] {
        let start = if component == 1 { 160 } else { __cpuid_count(0xd, component).ebx as usize };
        self.0.get(start + at..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or([0; N])
    }

    /// A vector: 16 bytes are where SSE has them, 16 where AVX has, the rest where AVX-512 has.
    fn vector(&self, number: usize) -> [u8; 64] {
        if number >= 16 {
            return self.bytes(7, 64 * (number - 16));
        }
        let mut vector = [0; 64];
        vector[..16].copy_from_slice(&self.bytes::<16>(1, 16 * number));
        vector[16..32].copy_from_slice(&self.bytes::<16>(2, 16 * number));
        vector[32..].copy_from_slice(&self.bytes::<32>(6, 32 * number));
        vector
    }

    fn mask(&self, number: usize) -> u64 {
        u64::from_le_bytes(self.bytes(5, 8 * number))
    }
}

/// The addresses that a gather or scatter uses: those of elements whose mask is set. Nothing if it is of a form that
/// is not known.
pub(super) fn addresses(
    pid: Pid,
    instruction: &Instruction,
    operand: u32,
    registers: &user_regs_struct,
) -> Option<Vec<u64>> {
    let vectors = Vectors::of(pid).ok()?;
    let others = || (0..instruction.op_count()).filter(|&at| at != operand);
    let mut vector_operands = others()
        .map(|at| instruction.op_register(at))
        .filter(|register| register.is_vector_register());
    let data = vector_operands.next()?;
    let element = instruction.memory_size().size();
    let masked = |at: usize| match (instruction.op_mask(), vector_operands.clone().next()) {
        (Register::None, Some(mask)) => {
            vectors.vector(mask.number())[element * (at + 1) - 1] >= 0x80 // the sign of an element
        }
        (Register::None, None) => false,
        (mask, _) => vectors.mask(mask.number()) >> at & 1 == 1,
    };
    let index = instruction.memory_index();
    let index_bytes = if instruction.is_vsib64() { 8 } else { 4 };
    let count = (data.size() / element).min(index.size() / index_bytes);
    let addresses = (0..count).filter(|&at| masked(at)).map(|at| {
        instruction.virtual_address(operand, at, |register, at, size| {
            if !register.is_vector_register() {
                return value_of(registers, register);
            }
            let vector = vectors.vector(register.number());
            let bytes = &vector[at * size..][..size];
            Some(match *bytes {
                [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])).cast_unsigned(),
                _ => u64::from_le_bytes(bytes.try_into().ok()?),
            })
        })
    });
    addresses.collect()
}
