"""Asks whether every kernel of the sources has an entry in the program that is to have all: a floor says nothing of one
that is new."""

import re

ROOTS = ["core", "hash", "digest", "chacha", "aead", "record", "pubkey"]
# The implementation of a trait of kernels, whose generic arguments may go over lines.
KERNEL = re.compile(r"^impl(?:<[^{;]*?>)?\s+(?:\w+::)?\w*Kernel(?:<[^{;]*?>)?\s+for\s+(\w+)", re.MULTILINE)
# Those that have no entry, and why.
WITHOUT = {
    "core/src/traits.rs": "the feature `cipher` alone has them",
    "pubkey/src/curve/table.rs": "run at the portable level alone, once a process",
    "pubkey/src/curve/base_point.rs: MakeTable": "run at the portable level alone, once a process",
    "pubkey/src/montgomery/groups/mod.rs: InGroups": "chooses a part, no more",
}

# Kernels in the sources, at least.
LEAST = 50


def in_source(text):
    """The kernels in a file, without those of its tests."""
    return KERNEL.findall(text.partition("#[cfg(test)]\nmod ")[0])


def unnamed(root, names):
    """Kernels of the sources that none of these functions is an entry of."""
    text = "\n".join(kernel for name in names for entry, _, kernel in [name.partition("entry::<")] if kernel)
    seen = set(re.findall(r"\blanelock_\w+(?:::\w+)+", text))
    count = 0
    for crate in ROOTS:
        source = root / "crates" / crate / "src"
        for path in sorted(source.rglob("*.rs")):
            file = str(path.relative_to(root / "crates"))
            module = [part for part in path.relative_to(source).with_suffix("").parts if part not in ("mod", "lib")]
            for kernel in in_source(path.read_text()) if path.name != "tests.rs" else []:
                count += 1
                if {file, f"{file}: {kernel}"} & WITHOUT.keys():
                    continue
                if "::".join([f"lanelock_{crate}", *module, kernel]) not in seen:
                    yield f"{kernel} (crates/{file}) has no entry: testkit/kernels has to name it"
    if count < LEAST:
        yield f"{count} kernels found in the crates, and {LEAST} are the least that there must be"
