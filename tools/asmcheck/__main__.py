"""Checks that the SIMD kernels were compiled as they are meant to be.

    python3 tools/asmcheck [--short | BINARY...]
    tools/arm --with python3 tools/asmcheck [--short]       the same of the code for AArch64

Inlining is load-bearing in the kernels: an intrinsic that survives as a call,
or a body that falls back to a narrower register, is slow and otherwise silent.
With --short the script builds testkit/kernels in release mode, a program that has every kernel at every level;
without BINARY also the tests of the engine, of hashes and of public keys, which have more forms of them. It reads
the disassembly (objdump; x86-64 and AArch64) and fails with one line for each fault:

- a function of core::core_arch exists: some #[inline] is missing;
- a kernel entry calls anything but a panic;
- an entry uses registers wider or instructions newer than its level, or lacks what its level is for;
- a leaf of big numbers exists, or a product of a field writes more than a few vectors to the stack;
- on AArch64, AESMC does not follow its AESE at once and on the same register, or AESIMC its AESD: processors
  run such a pair as one instruction, and nothing else;
- a level has fewer entries of the kernels of a crate than floors.py says, so that nothing would be looked at;
- a kernel of the sources has no entry (named.py).

How many entries there are is printed, by level and by crate of their kernels. Each start tries planted faults first
(planted.py), all of which have to be found. What levels consist of is in levels.py.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys

sys.dont_write_bytecode = True
import named  # noqa: E402
import planted  # noqa: E402
from check import check  # noqa: E402
from floors import FLOORS  # noqa: E402
from levels import ARM, X86  # noqa: E402
from reader import read  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The program that has every kernel.
KERNELS = ["build", "--package=lanelock-kernels"]
# Tests with more forms of them.
TESTS = ["test", "--no-run", "--package=lanelock", "--package=lanelock-digest", "--package=lanelock-pubkey", "--test=suite"]


def build(arguments):
    """Builds programs. The full names of functions, which say which kernel an entry is for, come with
    .cargo/config.toml, which RUSTFLAGS would override."""
    environment = dict(os.environ)
    if flags := environment.get("RUSTFLAGS"):
        environment["RUSTFLAGS"] = f"{flags} -C symbol-mangling-version=v0"
    command = ["cargo", *arguments, "--release", "--quiet", "--message-format", "json"]
    build = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, build.stdout.splitlines())
    return [path for message in messages if (path := message.get("executable"))]


def main():
    tried = planted.try_all()
    print(f"asmcheck: {tried} planted faults found")
    binaries, floors = sys.argv[1:], None
    if binaries in ([], ["--short"]):
        target = os.environ.get("CARGO_BUILD_TARGET") or platform.machine()
        if target.partition("-")[0] not in ("x86_64", "AMD64", "aarch64", "arm64"):
            print("SKIPPED: asmcheck reads the code of x86-64 and AArch64 only")
            return
        short, floors = binaries, FLOORS
        binaries = build(KERNELS)
        if not short:
            binaries += build(TESTS)
    programs = [read(path) for path in binaries]
    faults, counts = check(programs, floors)
    # Not every kernel has an entry on AArch64, whose big numbers are portable.
    if floors is not None and X86 in counts:
        faults += named.unnamed(ROOT, [name for program in programs for name, _ in program.functions])
    for architecture, levels in counts.items():
        print(f"asmcheck: entries for {'AArch64' if architecture == ARM else 'x86-64'}:")
        for level, crates in levels.items():
            of = ", ".join(f"{name} {count}" for name, count in sorted(crates.items()))
            print(f"  {level:24} {crates.total():4}  {of}")
    for fault in faults:
        print(f"asmcheck: {fault}")
    print(f"asmcheck: programs: {len(binaries)}; faults: {len(faults)}")
    if faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
