"""Holds the entries of programs to their levels, and counts them."""

import collections
import itertools
import re

from levels import (
    DETECTION, LEAVES, LEVELS, LIMITS, MAY_CALL, MEMORY, MOST_SPILLS, PAIR, PRODUCTS, SCHEDULES, SPILL, WIDE_ONLY, WIDEST,
)

PANICS = MAY_CALL[0][1]
# What an entry is for is its generic argument; the first crate in it wrote the kernel.
KERNEL = re.compile(r"entry::<.*?\blanelock_(?!isa\b)(\w+)::")
# Instructions of an entry that does nothing but panic, at most.
PANIC = 24


def check(binaries, floors):
    """The faults of programs, and for each architecture, level and crate of kernels how many entries there are.

    `floors` has the least that each has to have, or is None where programs need not have all kernels."""
    faults, counts = [], {}
    for architecture, group in itertools.groupby(
        sorted(binaries, key=lambda binary: binary.architecture), lambda binary: binary.architecture
    ):
        group = list(group)
        for binary in group:
            faults += survivors(binary)
        counts[architecture] = found = {}
        for level in LEVELS[architecture]:
            entries = [entry for binary in group for entry in entries_of(level, binary)]
            found[level.name] = collections.Counter(crate(name) for name, _, _ in entries)
            faults += check_level(level, entries)
        if floors is not None:
            faults += too_few(found, floors[architecture])
    if not sum(sum(crates.values()) for found in counts.values() for crates in found.values()):
        faults.append("no entry found at any level")
    return list(dict.fromkeys(faults)), counts


def crate(name):
    match = KERNEL.search(name)
    return match[1] if match else "isa"


def survivors(binary):
    """Functions that should be in their callers."""
    for name, _ in binary.functions:
        if re.search(LEAVES, name):
            yield f"{name} exists: what uses it was not inlined into a kernel"
        if "core_arch::" in name and not DETECTION.search(name) and not MEMORY.search(name):
            yield f"{name} exists: an #[inline] is missing where it is used"


def entries_of(level, binary):
    for name, (_address, *body) in binary.functions:
        if re.search(level.entries, name):
            calls = set(binary.calls(name, body))
            if level.name in WIDEST or not only_panics(body, calls):
                yield name, body, calls


def only_panics(body, calls):
    """Whether an entry refuses to run: some kernels are for the widest level alone. The compiler keeps one such
    function for all of them, under the name of any."""
    return (
        len(body) <= PANIC
        and not any(line.startswith("ret") for line in body)
        and calls
        and all(re.search(PANICS, str(target)) for target in calls)
    )


def too_few(found, floors):
    """Groups that have fewer entries than they must have, or that have no floor."""
    for level, crates in found.items():
        for name in sorted({*crates, *floors.get(level, {})}):
            floor = floors.get(level, {}).get(name)
            if floor is None:
                yield f"{level}: entries of {name} have no floor (floors.py)"
            elif crates[name] < floor:
                yield f"{level}: {crates[name]} entries of {name} found, and {floor} are the least that there must be"
        if level not in floors:
            yield f"{level}: has no floor (floors.py)"


def check_level(level, entries):
    for name, body, calls in entries:
        label = re.sub(r"(\w+::)+(?=\w+<|[A-Z{])", "", name) + f" ({len(body)} instructions)"
        for fault in check_entry(level, name, body, calls):
            yield f"{label} {fault}"
    for pattern in level.some if entries else []:
        if not any(re.search(pattern, line) for _, body, _ in entries for line in body):
            yield f"{level.name}: no entry contains {pattern}"


def check_entry(level, name, body, calls):
    text = "\n".join(body)
    for target in sorted(map(str, calls)):
        if not any(re.search(entry, name) and re.search(call, target) for entry, call in MAY_CALL):
            yield f"calls {target}"
    for pattern in level.never:
        if match := re.search(f".*{pattern}.*", text):
            yield f"contains {' '.join(match[0].split())}"
    if re.search(PRODUCTS, name) and (count := len(SPILL.findall(text))) > MOST_SPILLS:
        yield f"writes {count} vectors to the stack"
    idle = LIMITS if level.name in WIDEST else f"{LIMITS}|{WIDE_ONLY}"
    for pattern in level.each if not re.search(idle, name) else []:
        if not re.search(pattern, text):
            yield f"lacks {pattern}"
    for before, line in zip(["nothing", *body], body):
        if (match := PAIR.match(line)) and not (match[1] and re.search(SCHEDULES, name)):
            first = f"aes{'d' if match[1] else 'e'} {match[2]}.16b,"
            if match[2] != match[3] or not before.startswith(first):
                yield f"has {line} after {before}"
