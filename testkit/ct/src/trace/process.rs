//! The process that is followed, and its instructions.

use core::arch::asm;
use std::{
    collections::HashMap,
    env, fs, io,
    os::unix::process::CommandExt,
    process::{self, Child, Command, Stdio},
};

use iced_x86::{Decoder, DecoderOptions, FastFormatter, Instruction, Mnemonic, OpKind};
use nix::{
    libc::user_regs_struct,
    sys::{
        ptrace,
        signal::{Signal, kill},
        wait::{WaitStatus, waitpid},
    },
    unistd::{ForkResult, Pid, fork},
};

use super::{MOST_INSTRUCTIONS, registers};

/// Where the process stops of itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A trace begins.
    Begin = 1,
    /// It ends.
    End,
    /// All pairs of inputs of an operation are done.
    Operation,
}

/// Stops, and says where.
#[inline(never)]
pub(super) fn stop(stop: Stop) {
    // SAFETY: the process is followed, so a breakpoint only stops it; registers and memory stay as they are.
    unsafe { asm!("int3", in("rdi") stop as u64, options(nostack)) };
}

/// Prepares and does the work in a copy of this process, the work between stops. All copies begin with the same memory:
/// where an allocation gets its block depends on those that were made and freed before, and with that the addresses of
/// a trace.
pub(super) fn in_a_copy(
    input: &mut [u8],
    prepare: &mut dyn FnMut(&mut [u8]),
    work: &mut dyn FnMut(&mut [u8]),
) {
    // SAFETY: this process has one thread.
    match unsafe { fork() } {
        Ok(ForkResult::Child) => {
            prepare(input);
            stop(Stop::Begin);
            work(input);
            stop(Stop::End);
            process::exit(0);
        }
        Ok(ForkResult::Parent { child }) => {
            // Whoever follows it ends it.
            let _ = waitpid(child, None);
        }
        Err(error) => panic!("a copy of this process: {error}"),
    }
}

/// One instruction of a trace: all that the time of it may depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    /// Where the instruction is.
    ip: u64,
    /// The stack, the addresses of its operands, and the operands themselves if it divides.
    operands: u64,
}

/// What came of a pair of inputs.
pub(super) struct Trace {
    pub(super) difference: Option<Difference>,
    /// Instructions for the first of them.
    pub(super) length: usize,
}

/// Where two traces part.
pub(super) struct Difference {
    /// So many instructions are equal.
    after: usize,
    /// The last equal instruction, or the one whose operands differ.
    at: u64,
    what: &'static str,
}

/// A process that makes copies of itself, whose instructions are followed.
pub(super) struct Process {
    child: Child,
    /// The process itself.
    pid: Pid,
    /// What is followed: the copy, or the process while there is none.
    followed: Pid,
    /// The instructions that were run, by address.
    code: HashMap<u64, Instruction>,
}

type Result<T> = std::result::Result<T, String>;

impl Process {
    /// This program, with these arguments.
    pub(super) fn of_this_program(arguments: &[String]) -> Result<Self> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        // SAFETY: between fork and exec there is one system call and no allocation.
        unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
        let child = command.spawn().map_err(|error| error.to_string())?;
        let pid = Pid::from_raw(child.id().try_into().map_err(|_| "a process number too large")?);
        let mut process = Self { child, pid, followed: pid, code: HashMap::new() };
        process.wait()?;
        let options = ptrace::Options::PTRACE_O_TRACEFORK | ptrace::Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(pid, options).map_err(|error| error.to_string())?;
        Ok(process)
    }

    /// Follows both inputs of the next pair; nothing if the operation has no more.
    pub(super) fn follow_pair(&mut self) -> Result<Option<Trace>> {
        let mut first = Vec::new();
        let there = self.follow_copy(|step| {
            first.push(step);
            true
        })?;
        if !there {
            return Ok(None);
        }
        let (mut at, mut difference) = (0, None);
        let there = self.follow_copy(|step| {
            let expected = first.get(at).copied();
            if expected == Some(step) {
                at += 1;
                return true;
            }
            difference = Some(match expected {
                Some(Step { ip, .. }) if ip == step.ip => {
                    Difference { after: at, at: ip, what: "has operands at other addresses" }
                }
                _ => Difference {
                    after: at,
                    at: first[at.saturating_sub(1)].ip,
                    what: "is followed by another instruction",
                },
            });
            false
        })?;
        if !there {
            return Err("an input without its pair".to_owned());
        }
        if difference.is_none() && at < first.len() {
            let last = first[at.saturating_sub(1)].ip;
            difference = Some(Difference { after: at, at: last, what: "is the last of one input" });
        }
        Ok(Some(Trace { difference, length: first.len() }))
    }

    /// Lets the operation run to its end.
    pub(super) fn skip(&mut self) -> Result<()> {
        while self.begin_copy()? {
            self.end_copy();
        }
        Ok(())
    }

    /// Follows the next copy; whether there is one before the operation ends.
    fn follow_copy(&mut self, take: impl FnMut(Step) -> bool) -> Result<bool> {
        if !self.begin_copy()? {
            return Ok(false);
        }
        let result = self.go_on().and_then(|stop| match stop {
            Stop::Begin => self.follow(take),
            _ => Err("a trace without a beginning".to_owned()),
        });
        self.end_copy();
        result.map(|()| true)
    }

    /// Lets the process run until it has made a copy; whether it did before the operation ended.
    fn begin_copy(&mut self) -> Result<bool> {
        let mut signal = None;
        loop {
            ptrace::cont(self.pid, signal).map_err(|error| error.to_string())?;
            match waitpid(self.pid, None) {
                Ok(WaitStatus::PtraceEvent(..)) => {
                    let copy = ptrace::getevent(self.pid).map_err(|error| error.to_string())?;
                    let copy = copy.try_into().map_err(|_| "a process number too large")?;
                    self.followed = Pid::from_raw(copy);
                    // It stops before its first instruction.
                    return match waitpid(self.followed, None) {
                        Ok(WaitStatus::Stopped(..)) => Ok(true),
                        status => Err(format!("the copy did not stop: {status:?}")),
                    };
                }
                Ok(WaitStatus::Stopped(_, Signal::SIGTRAP)) => {
                    return if self.stop()? == Stop::Operation {
                        Ok(false)
                    } else {
                        Err("a trace in no copy".to_owned())
                    };
                }
                // That a copy has ended is for the process to know.
                Ok(WaitStatus::Stopped(_, other)) => signal = Some(other),
                status => return Err(format!("the process did not stop: {status:?}")),
            }
        }
    }

    /// Ends the copy.
    fn end_copy(&mut self) {
        // It may have ended already.
        let _ = kill(self.followed, Signal::SIGKILL);
        while let Ok(WaitStatus::Stopped(..)) = waitpid(self.followed, None) {}
        self.followed = self.pid;
    }

    /// Gives each instruction to `take`, up to the end of the trace or until it wants no more.
    fn follow(&mut self, mut take: impl FnMut(Step) -> bool) -> Result<()> {
        for _ in 0..MOST_INSTRUCTIONS {
            let registers = ptrace::getregs(self.followed).map_err(|error| error.to_string())?;
            let instruction = self.instruction(registers.rip)?;
            let end = instruction.mnemonic() == Mnemonic::Int3;
            if end || !take(self.step(&instruction, &registers)?) {
                return match self.go_on()? {
                    Stop::End => Ok(()),
                    _ => Err("a trace without an end".to_owned()),
                };
            }
            ptrace::step(self.followed, None).map_err(|error| error.to_string())?;
            self.wait()?;
        }
        Err(format!("more than {MOST_INSTRUCTIONS} instructions"))
    }

    /// Lets what is followed run until it stops of itself.
    fn go_on(&mut self) -> Result<Stop> {
        ptrace::cont(self.followed, None).map_err(|error| error.to_string())?;
        self.wait()?;
        self.stop()
    }

    /// Where it has stopped of itself.
    fn stop(&self) -> Result<Stop> {
        let registers = ptrace::getregs(self.followed).map_err(|error| error.to_string())?;
        [Stop::Begin, Stop::End, Stop::Operation]
            .into_iter()
            .find(|&stop| stop as u64 == registers.rdi)
            .ok_or_else(|| format!("stopped at {:#x}", registers.rip))
    }

    fn wait(&mut self) -> Result<()> {
        match waitpid(self.followed, None) {
            Ok(WaitStatus::Stopped(_, Signal::SIGTRAP)) => Ok(()),
            Ok(status) => Err(format!("the process did not stop at an instruction: {status:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The instruction at an address.
    fn instruction(&mut self, ip: u64) -> Result<Instruction> {
        if let Some(&instruction) = self.code.get(&ip) {
            return Ok(instruction);
        }
        // The longest has 15 bytes. Behind its end there may be no memory.
        let words = [self.word(ip)?, self.word(ip + 8).unwrap_or_default()];
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let instruction = Decoder::with_ip(64, &bytes, ip, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(format!("an instruction that the decoder does not know, at {ip:#x}"));
        }
        self.code.insert(ip, instruction);
        Ok(instruction)
    }

    fn word(&self, address: u64) -> Result<u64> {
        let address = usize::try_from(address).map_err(|error| error.to_string())?;
        let word = ptrace::read(self.followed, std::ptr::with_exposed_provenance_mut(address));
        word.map(i64::cast_unsigned).map_err(|error| format!("memory at {address:#x}: {error}"))
    }

    /// What the time of an instruction may depend on.
    fn step(&self, instruction: &Instruction, registers: &user_regs_struct) -> Result<Step> {
        let mut operands = registers.rsp;
        let mut mix = |value: u64| operands = operands.rotate_left(7).wrapping_mul(MIX) ^ value;
        let divides = matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
        for operand in 0..instruction.op_count() {
            let kind = instruction.op_kind(operand);
            if kind == OpKind::Register {
                if divides {
                    registers::value_of(registers, instruction.op_register(operand)).map(&mut mix);
                }
            } else if is_memory(kind)
                && !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop)
            {
                let addresses = if instruction.is_vsib() {
                    registers::addresses(self.followed, instruction, operand, registers)
                } else {
                    let value = |register, _, _| registers::value_of(registers, register);
                    instruction.virtual_address(operand, 0, value).map(|address| vec![address])
                };
                let unknown = || {
                    let ip = registers.rip;
                    format!("{} at {ip:#x}: an address that is not followed", text(instruction))
                };
                for address in addresses.ok_or_else(unknown)? {
                    mix(address);
                    if divides {
                        mix(self.word(address)?);
                    }
                }
            }
        }
        if divides {
            mix(registers.rax);
            mix(registers.rdx);
        }
        Ok(Step { ip: registers.rip, operands })
    }

    /// A difference in words, with where it is in which file.
    pub(super) fn describe(&self, Difference { after, at, what }: &Difference) -> String {
        let instruction = self.code.get(at).map(text).unwrap_or_default();
        let place = self.place(*at).unwrap_or_else(|| format!("{at:#x}"));
        format!("after {after} equal instructions, `{instruction}` {what} (addr2line -fie {place})")
    }

    /// File and address in it, as addr2line takes them.
    fn place(&self, ip: u64) -> Option<String> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.pid)).ok()?;
        let mut start_of: HashMap<&str, u64> = HashMap::new();
        for map in maps.lines() {
            let mut columns = map.split_ascii_whitespace();
            let (start, end) = columns.next()?.split_once('-')?;
            let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16));
            let Some(file) = columns.nth(4) else { continue };
            let first = *start_of.entry(file).or_insert(start.clone().ok()?);
            if (start.ok()?..end.ok()?).contains(&ip) {
                return Some(format!("{file} {:#x}", ip - first));
            }
        }
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An odd number with as many ones as zeros: the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

fn is_memory(kind: OpKind) -> bool {
    !matches!(
        kind,
        OpKind::Register
            | OpKind::NearBranch16
            | OpKind::NearBranch32
            | OpKind::NearBranch64
            | OpKind::FarBranch16
            | OpKind::FarBranch32
            | OpKind::Immediate8
            | OpKind::Immediate8_2nd
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}

fn text(instruction: &Instruction) -> String {
    let mut text = String::new();
    FastFormatter::new().format(instruction, &mut text);
    text
}
