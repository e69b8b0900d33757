"""Listings as objdump prints them: sound ones, in which nothing may be found, and each fault planted in them.

Most machines that run this have no program for AArch64 at hand, and a sound program shows no fault."""

import pathlib
import sys

import named
from check import check
from levels import ARM, LEVELS, X86
from reader import Binary

PANIC = "call 9000 <core::panicking::panic_bounds_check>"
ARM_PANIC = "bl 9000 <core::panicking::panic_bounds_check>"


def entry(kernel, token, way="run"):
    return f"<{kernel} as {token}::{way}::Entry>::entry"


def of_blocks(token, work, part):
    """The functions of a level of AES."""
    return {
        entry("lanelock_core::ecb::Encrypt<true>", f"<lanelock_isa::{token}>"): work,
        entry("lanelock_core::lanes::RunLanes<lanelock_core::cbc::Chain>", f"<lanelock_isa::{token}>"): ["ret"],
        entry("lanelock_core::lanes::ByVectors<4>", f"<lanelock_isa::{token} as lanelock_isa::blocks::Blocks>", "call"): part,
    }


def of_limbs(name, register):
    """Those of a level of big numbers."""
    token = f"lanelock_isa::limbs::x86::{name}"
    part = f"<{token} as lanelock_isa::limbs::Limbs>"
    low, high = (f"vpmadd52{half}uq %{register}1,%{register}2,%{register}3" for half in "lh")
    store = f"vmovdqa %{register}1,0x20(%rsp)"
    return {
        entry("lanelock_pubkey::curve::Ladder", f"<{token}>"): [low, high, PANIC, "ret"],
        entry("lanelock_pubkey::field::Times<lanelock_pubkey::field::P256>", part, "call"): [low, *[store] * 4, "ret"],
        entry("lanelock_pubkey::groups::SomeProducts<10>", part, "call"): ["ret"],
    }


def run(token):
    return f"<lanelock_isa::{token}>"


STITCHED = "lanelock_isa::stitched::run_stitched::entry::<lanelock_record::stitch::Stitched<lanelock_digest::Sha256>>"
# What the narrow levels have of a kernel that is for the widest alone.
REFUSES = entry("lanelock_aead::gcm::batch::Groups<true>", run("x86::AesNi"))

SOUND = {
    X86: {
        **of_blocks(
            "x86::AesNi",
            ["aesenc %xmm1,%xmm0", "aesdec %xmm1,%xmm0", "jne 100 <itself+0x4>", "call *0x10(%rip)        # 7000 <_DYNAMIC>", "ret"],
            ["aesenc %xmm1,%xmm0", "ret"],
        ),
        REFUSES: ["push %rbp", PANIC, "int3"],
        **of_blocks(
            "x86::Vaes256",
            ["vaesenc %ymm1,%ymm0,%ymm0", "vaesdec %ymm1,%ymm0,%ymm0", PANIC, "ret"],
            ["vaesenc %ymm2,%ymm0,%ymm0", "ret"],
        ),
        **of_blocks("x86::Vaes512", ["vaesenc %zmm1,%zmm0,%zmm0", "vaesdec %zmm1,%zmm0,%zmm0", "ret"], ["vaesenc %zmm2,%zmm0,%zmm0", "ret"]),
        entry("lanelock_digest::lanes::Flight<lanelock_digest::Sha256>", run("words::x86::Avx2Words")): ["vpaddd %ymm1,%ymm0,%ymm0", "ret"],
        entry("lanelock_chacha::poly1305::InLanes", run("words::x86::Avx2Words")): ["vpmuludq %ymm1,%ymm0,%ymm0", "ret"],
        entry("lanelock_digest::lanes::Flight<lanelock_digest::Sha256>", run("words::x86::Avx512Words")): ["vprold $0x7,%zmm0,%zmm0", "ret"],
        entry("lanelock_chacha::poly1305::InLanes", run("words::x86::Avx512Words")): ["vpmuludq %zmm1,%zmm0,%zmm0", "ret"],
        entry("lanelock_digest::compression::One<lanelock_digest::Sha256>", run("sha::x86::ShaNi")): [
            "sha256rnds2 %xmm0,%xmm1,%xmm2", "sha1rnds4 $0x0,%xmm1,%xmm2", "ret",
        ],
        **of_limbs("Ifma256", "ymm"),
        **of_limbs("Ifma512", "zmm"),
        STITCHED: ["aesenc %xmm1,%xmm0", "sha256rnds2 %xmm0,%xmm1,%xmm2", "sha1rnds4 $0x0,%xmm1,%xmm2", "ret"],
    },
    ARM: {
        **of_blocks(
            "aarch64::Neon",
            [
                "aese v0.16b, v1.16b", "aesmc v0.16b, v0.16b", "aesd v2.16b, v3.16b", "aesimc v2.16b, v2.16b",
                "pmull2 v3.1q, v4.2d, v5.2d", "b.ne 100 <itself>  // b.any", "adrp x8, 3f000 <lanelock::table+0x10>",
                "ldr x8, [x8, #16]", "blr x8", ARM_PANIC, "ret",
            ],
            ["aese v4.16b, v1.16b", "aesmc v4.16b, v4.16b", "ret"],
        ),
        **of_blocks(
            "aarch64::NeonSha3",
            ["aese v0.16b, v1.16b", "aesd v0.16b, v1.16b", "eor3 v0.16b, v0.16b, v2.16b, v3.16b", "pmull2 v3.1q, v4.2d, v5.2d", "ret"],
            ["aese v5.16b, v1.16b", "ret"],
        ),
        # A schedule is made of AESIMC alone.
        entry("lanelock_core::keys::Expand", run("aarch64::NeonSha3")): ["aesimc v1.16b, v0.16b", "ret"],
        entry("lanelock_digest::lanes::Flight<lanelock_digest::Sha256>", run("words::aarch64::NeonWords")): ["add v0.4s, v1.4s, v2.4s", "ret"],
        entry("lanelock_chacha::poly1305::InLanes", run("words::aarch64::NeonWords")): ["umull v0.2d, v1.2s, v2.2s", "ret"],
        entry("lanelock_digest::compression::One<lanelock_digest::Sha256>", run("sha::aarch64::NeonSha2")): [
            "sha256h q0, q1, v2.4s", "sha1c q0, s1, v2.4s", "ret",
        ],
        STITCHED: ["aese v6.16b, v1.16b", "sha256h q0, q1, v2.4s", "sha1c q0, s1, v2.4s", "ret"],
    },
}
RELOCATIONS = {
    X86: "0000000000007000 R_X86_64_GLOB_DAT  core::panicking::panic_fmt\n0000000000007008 R_X86_64_GLOB_DAT  lanelock::aside",
    ARM: "000000000003f010 R_AARCH64_GLOB_DAT  core::panicking::panic_fmt\n000000000003f018 R_AARCH64_GLOB_DAT  lanelock::aside",
}

# Architecture, what stands in the listing, what is there instead where it stands first, and what has to be found.
REPLACED = [
    (X86, PANIC, "call 9000 <lanelock_core::aside>", "calls lanelock_core::aside"),
    (X86, PANIC, "jmp 9000 <lanelock_core::aside+0x10>", "calls lanelock_core::aside"),
    (X86, "# 7000 <", "# 7008 <", "calls lanelock::aside"),
    (X86, "call *0x10(%rip)        # 7000 <_DYNAMIC>", "call *%rax", "calls call *%rax"),
    (X86, "aesenc %xmm1,%xmm0", "aesenc %xmm1,%xmm0\nvpxor %ymm1,%ymm0,%ymm0", "contains vpxor %ymm1"),
    (X86, "vaesenc %ymm2,%ymm0,%ymm0", "vaesenc %ymm2,%ymm0,%ymm0\nvpxor %zmm1,%zmm0,%zmm0", "contains vpxor %zmm1"),
    (X86, "vpaddd %ymm1,%ymm0,%ymm0", "vpaddd %ymm1,%ymm0,%ymm0\nvprold $0x7,%ymm0,%ymm0", "contains vprold"),
    (X86, "vaesenc %zmm2,%zmm0,%zmm0", "nop", "lacks "),
    (X86, "vaesdec %zmm1,%zmm0,%zmm0", "vaesdec %ymm1,%ymm0,%ymm0", "no entry contains "),
    (X86, "vmovdqa %ymm1,0x20(%rsp)", "vmovdqa %ymm1,0x20(%rsp)\nvmovdqa %ymm2,(%rsp)", "writes 5 vectors to the stack"),
    (X86, "vmovdqa %zmm1,0x20(%rsp)", "vmovdqa64 %zmm1,0x20(%rsp)\nvmovdqa64 %zmm2,(%rsp)", "writes 5 vectors to the stack"),
    (ARM, ARM_PANIC, "bl 9000 <core::core_arch::aarch64::neon::veorq_u8>", "calls core::core_arch::aarch64"),
    (ARM, ARM_PANIC, "b 9000 <lanelock::aside>", "calls lanelock::aside"),
    (ARM, "ldr x8, [x8, #16]", "ldr x8, [x8, #24]", "calls lanelock::aside"),
    (ARM, "blr x8", "blr x9", "calls blr x9"),
    (ARM, "aesmc v0.16b, v0.16b", "nop\naesmc v0.16b, v0.16b", "has aesmc v0.16b, v0.16b after nop"),
    (ARM, "aesmc v0.16b, v0.16b", "aesmc v7.16b, v0.16b", "has aesmc v7.16b, v0.16b after aese"),
    (ARM, "aesimc v2.16b, v2.16b", "aesimc v3.16b, v3.16b", "has aesimc v3.16b, v3.16b after aesd"),
    (ARM, "pmull2 v3.1q, v4.2d, v5.2d", "pmull2 v3.1q, v4.2d, v5.2d\neor3 v0.16b, v0.16b, v2.16b, v3.16b", "contains eor3"),
    (ARM, "add v0.4s, v1.4s, v2.4s", "add v0.4s, v1.4s, v2.4s\nadd z0.s, z1.s, z2.s", "contains add z0.s"),
    (ARM, "aese v4.16b, v1.16b\naesmc v4.16b, v4.16b", "nop", "lacks "),
    (ARM, "sha1c q0, s1, v2.4s", "nop", "no entry contains "),
]
# Functions that may not exist.
SURVIVED = [
    (X86, "core::core_arch::x86::avx2::_mm256_xor_si256", "an #[inline] is missing"),
    (X86, "lanelock_isa::limbs::x86::ymm::add", "was not inlined into a kernel"),
    (X86, "lanelock_isa::limbs::x86::zmm::add", "was not inlined into a kernel"),
    (ARM, "core::core_arch::aarch64::neon::veorq_u8", "an #[inline] is missing"),
]


def listing(functions):
    lines = []
    for number, (name, body) in enumerate(functions.items(), 1):
        lines.append(f"{number << 12:016x} <{name}>:")
        for at, instruction in enumerate("\n".join(body).split("\n")):
            line = "\t".join(instruction.replace("itself", name).split(" ", 1))
            lines.append(f"  {(number << 12) + 4 * at:x}:\t{line}")
        lines.append("")
    return lines


def faults(architecture, functions, floors):
    binary = Binary(architecture, listing(functions), RELOCATIONS[architecture].splitlines())
    return check([binary], {architecture: floors})


def with_replaced(functions, old, new):
    """The listing in which one function has other instructions: the first one that has the old ones."""
    name = next(name for name, body in functions.items() if old in "\n".join(body))
    return {**functions, name: "\n".join(functions[name]).replace(old, new, 1).split("\n")}


def plants(sound, floors):
    """Listings and floors in which something is wrong, and what is."""
    for architecture, old, new, fault in REPLACED:
        yield architecture, with_replaced(sound[architecture], old, new), floors[architecture], fault
    for architecture, name, fault in SURVIVED:
        yield architecture, {**sound[architecture], name: ["ret"]}, floors[architecture], fault
    for architecture, functions in sound.items():
        of = floors[architecture]
        # Each group in turn has one entry less than it must have, down to none, or no floor.
        for name in functions:
            if name != REFUSES:
                yield architecture, {other: functions[other] for other in functions if other != name}, of, "are the least that there must be"
        for level in LEVELS[architecture]:
            yield architecture, functions, {other: of[other] for other in of if other != level.name}, f"{level.name}: has no floor"
    # That an entry is there says nothing if it refuses to run.
    refusing = {**sound[X86], next(iter(sound[X86])): sound[X86][REFUSES]}
    yield X86, refusing, floors[X86], "are the least that there must be"


def try_all():
    """Ends the program if one of them is not found. Returns how many there are."""
    floors = {}
    for architecture, functions in SOUND.items():
        # The floors of what a sound listing has.
        _, counts = faults(architecture, functions, {})
        floors[architecture] = {level: dict(crates) for level, crates in counts[architecture].items()}
        found, _ = faults(architecture, functions, floors[architecture])
        empty = [level for level, crates in floors[architecture].items() if not crates]
        if found or empty:
            sys.exit("\n".join(["asmcheck: a sound listing is said to have faults:", *found, *empty]))
    count = 0
    for count, (architecture, functions, of, fault) in enumerate(plants(SOUND, floors), 1):
        found, _ = faults(architecture, functions, of)
        if not any(fault in line for line in found):
            sys.exit("\n".join([f"asmcheck: a planted fault was not found: {fault}", *found]))
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    # In a program without entries no kernel has one.
    if len(list(named.unnamed(root, ["main"]))) < named.LEAST - len(named.WITHOUT):
        sys.exit("asmcheck: kernels without an entry were not found")
    return count + 1
