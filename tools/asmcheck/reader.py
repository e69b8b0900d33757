"""Reads the functions of a program, and what they call, from what objdump prints."""

import collections
import re
import shutil
import subprocess
import sys

from levels import ARM, LEVELS

FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
INSTRUCTION = re.compile(r"^ *[0-9a-f]+:\t(\S.*)$")
DIRECT = re.compile(r"<(.*?)(?:\+0x[0-9a-f]+)?>$")
SLOT = re.compile(r"\(%rip\).* # ([0-9a-f]+)")
LOAD = re.compile(r"^mov .*\(%rip\),(%\w+) .*# ([0-9a-f]+)")
COPY = re.compile(r"^mov +(%\w+),(%\w+)$")
# The same on AArch64, where an address comes in two parts.
PAGE = re.compile(r"^adrp (x\d+), ([0-9a-f]+)\b")
ARM_LOAD = re.compile(r"^ldr (x\d+), \[(x\d+)(?:, #(\d+))?\]")
RELOCATION = re.compile(r"^([0-9a-f]+) R_\w+ +(\S+)")


def machine(path):
    """The architecture of an ELF file."""
    with open(path, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or (found := int.from_bytes(head[18:], "little")) not in LEVELS:
        sys.exit(f"asmcheck: {path} is no program for x86-64 or AArch64")
    return found


def objdump(architecture, *arguments):
    # That of the build machine may know no other.
    program = shutil.which("aarch64-linux-gnu-objdump") if architecture == ARM else None
    with subprocess.Popen(
        [program or "objdump", *arguments], stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        yield from (line.rstrip() for line in process.stdout)
    if process.returncode:
        sys.exit(f"asmcheck: objdump cannot read {arguments[-1]}")


def read(path):
    architecture = machine(path)
    code = objdump(architecture, "--disassemble", "--demangle", "--no-show-raw-insn", "--wide", path)
    return Binary(architecture, code, objdump(architecture, "--dynamic-reloc", "--wide", path))


# A kernel enters the instructions of a token by a method of its own type.
METHOD = re.compile(r"<<(.*) as ((?:<lanelock_isa::.*>|lanelock_isa::\w+)::(run\w*|call))::Entry>::entry\b")


def as_function(line):
    """A line of the disassembly in which such a method has the name of its token first, and of the kernel last."""
    return METHOD.sub(lambda m: f"<{m[2]}::{'part_entry' if m[3] == 'call' else 'entry'}::<{m[1]}>", line)


class Binary:
    """The functions of a program: demangled name, then address and instructions.

    One name may come many times, since short names leave out generic arguments."""

    def __init__(self, architecture, code, relocations):
        self.architecture = architecture
        self.functions = []
        for line in map(as_function, code):
            if match := FUNCTION.match(line):
                self.functions.append((match[2], [int(match[1], 16)]))
            elif (match := INSTRUCTION.match(line)) and self.functions:
                self.functions[-1][1].append(match[1].replace("\t", " "))
        names = {body[0]: name for name, body in self.functions}
        # Calls between crates go through slots that the loader fills.
        self.slots = {}
        for line in relocations:
            if match := RELOCATION.match(line):
                value = match[2].rpartition("+0x")
                if value[0] != "*ABS*":
                    self.slots[int(match[1], 16)] = match[2]
                elif local := names.get(int(value[2], 16)):  # otherwise it is data
                    self.slots[int(match[1], 16)] = local

    def calls(self, name, body):
        """The names of the functions that `body` calls or ends in."""
        return (self.calls_arm if self.architecture == ARM else self.calls_x86)(name, body)

    def calls_x86(self, name, body):
        loaded = collections.defaultdict(set)
        for line in body:
            if match := LOAD.match(line):
                if target := self.slots.get(int(match[2], 16)):
                    loaded[match[1]].add(target)
        for line in body:
            if (match := COPY.match(line)) and match[1] in loaded:
                loaded[match[2]] |= loaded[match[1]]
        for line in body:
            mnemonic, _, operand = line.partition(" ")
            operand = operand.strip()
            if not mnemonic.startswith(("call", "jmp")):
                continue
            if not operand.startswith("*"):
                match = DIRECT.search(operand)
                if match and match[1] != name:
                    yield match[1]
            elif match := SLOT.search(line):
                yield self.slots.get(int(match[1], 16), line)
            elif mnemonic.startswith("call"):
                yield from loaded.get(operand[1:]) or {line}

    def calls_arm(self, name, body):
        pages, loaded = {}, collections.defaultdict(set)
        for line in body:
            if match := PAGE.match(line):
                pages[match[1]] = int(match[2], 16)
            elif (match := ARM_LOAD.match(line)) and match[2] in pages:
                if target := self.slots.get(pages[match[2]] + int(match[3] or 0)):
                    loaded[match[1]].add(target)
        for line in body:
            mnemonic, _, operand = line.partition(" ")
            if mnemonic in ("b", "bl"):
                match = DIRECT.search(operand)
                if match and match[1] != name:
                    yield match[1]
            elif mnemonic == "blr":
                yield from loaded.get(operand) or {line}
