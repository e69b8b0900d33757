"""How many entries there must be at least, by architecture, level, and crate of the kernel.

A level in which nothing is found would pass every check. When this was written, there was up to a seventh more of each
in testkit/kernels alone. Raise them when kernels come, and lower them only when kernels go."""

from levels import ARM, X86

# Of AES, where all levels have the same kernels; the widest has a few for itself.
BLOCKS = {"aead": 34, "core": 15, "hash": 4}
LANES = {"core": 7}
PARTS = {"core": 35, "hash": 2}
# Of words: hashes in lanes, ChaCha20 and Poly1305.
WORDS = {"aead": 2, "chacha": 2, "digest": 17}
# Of hashes that have instructions.
SHA = {"digest": 12}
STITCHED = {"record": 2}


def blocks(name, entries=BLOCKS):
    return {name: entries, f"{name} lanes": LANES, f"{name} parts": PARTS}


def limbs(name, entries):
    return {name: entries, f"{name} parts": {"pubkey": 35}, f"{name} parts that call": {"pubkey": 7}}


FLOORS = {
    X86: {
        **blocks("AesNi"),
        **blocks("Vaes256"),
        **blocks("Vaes512", {"aead": 41, "core": 15, "hash": 5}),
        "Avx2Words": WORDS,
        "Avx512Words": WORDS,
        "ShaNi": SHA,
        **limbs("Ifma256", {"pubkey": 13}),
        **limbs("Ifma512", {"chacha": 2, "pubkey": 13}),
        "run_stitched": STITCHED,
    },
    ARM: {
        **blocks("Neon"),
        **blocks("NeonSha3"),
        "NeonWords": WORDS,
        "NeonSha2": SHA,
        "run_stitched": STITCHED,
    },
}
