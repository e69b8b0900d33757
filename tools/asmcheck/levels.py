"""What the kernels of each level are, what they must and must not contain, and what they may call.

A new level has a line in `LEVELS` and one in floors.py.
"""

import collections
import re

# By architecture, as ELF numbers them.
X86, ARM = 62, 183

# A level: which functions are its entries, what each of them must not contain,
# what each of them must contain, and what must occur in at least one of them.
Level = collections.namedtuple("Level", "name entries never each some")
ENTRY = r"^<*lanelock_isa::{}::[\w:]*(<impl [\w:]*)?\b{}>?::\w+::entry\b"


def level(module, name, never, each, some):
    return Level(name, ENTRY.format(module, name), never, [each], some)


def blocks(module, name, never, each, some):
    """The kernels of a level of AES, and those in lanes: what seats the chains, and the parts that advance them."""
    entries = ENTRY.format(module, name)
    yield Level(name, rf"{entries}(?!.*::RunLanes<)", never, [each], some)
    yield Level(f"{name} lanes", rf"{entries}.*::RunLanes<", never, [], [])
    parts = rf"^<*lanelock_isa::{module}::{name} as [\w:]*Blocks>::call::part_entry\b"
    yield Level(f"{name} parts", parts, never, [each], [])


def limbs(name, never, register):
    """The two kinds of functions of a level of big numbers: its kernels, and the parts that many kernels call."""
    # What is in groups of lanes only chooses a part, by the size of the numbers.
    entries = ENTRY.format("limbs::x86", name) + r"(?!.*::InGroups<)"
    yield Level(name, entries, never, [register], [rf"\bvpmadd52luq\b.*{register}", rf"\bvpmadd52huq\b.*{register}"])
    parts = rf"^<*lanelock_isa::limbs::x86::{name} as [\w:]*Limbs>::call::part_entry\b"
    # Formulas of long numbers, and products that are not many, call the part that multiplies.
    call = r"(::groups::SomeProducts<|::weierstrass::(Add|AddAffine|Double)<.*, 11>)"
    yield Level(f"{name} parts", rf"{parts}(?!.*{call})", never, [rf"\bvpmadd52[lh]uq\b.*{register}"], [])
    yield Level(f"{name} parts that call", rf"{parts}.*{call}", never, [], [])


# What an entry is for: AES, or carry-less products.
AES = r"\bv?(aes(enc|dec|imc|keygenassist)(last)?|pclmul\w*|gf2p8affineqb)\b"
# The entry of two chains in one loop.
STITCHED = r"^<*lanelock_isa::stitched::run_stitched::entry\b"
ARM_AES = r"\b(aes(e|d|mc|imc)|pmull2?)\b"
ARM_SOME = [r"\baese\b", r"\baesd\b", r"\bpmull2?\b.*\.1q"]
SHA3 = r"\b(eor3|bcax|rax1|xar)\b"

LEVELS = {
    X86: [
        *blocks("x86", "AesNi", [r"%[yz]mm"], AES, [r"\bv?aesenc\b.*%xmm", r"\bv?aesdec\b.*%xmm"]),
        *blocks("x86", "Vaes256", [r"%zmm"], AES, [r"\bvaesenc\b.*%ymm", r"\bvaesdec\b.*%ymm"]),
        *blocks("x86", "Vaes512", [], AES, [r"\bvaesenc\b.*%zmm", r"\bvaesdec\b.*%zmm"]),
        level("words::x86", "Avx2Words", [r"%zmm", r"\bvprol"], r"%ymm", [r"\bvpaddd\b.*%ymm", r"\bvpmuludq\b.*%ymm"]),
        level("words::x86", "Avx512Words", [], r"%zmm", [r"\bvprold\b.*%zmm", r"\bvpmuludq\b.*%zmm"]),
        level("sha::x86", "ShaNi", [r"%[yz]mm"], r"", [r"\bsha256rnds2\b", r"\bsha1rnds4\b"]),
        # The compiler clears and moves more than a vector at once where it can: that is no arithmetic.
        *limbs("Ifma256", [r"\bv(pmadd52|psrl|psll|pand|por|psub)\w*\b.*%zmm"], "%ymm"),
        *limbs("Ifma512", [], "%zmm"),
        Level("run_stitched", STITCHED, [r"%[yz]mm"], [r"\baesenc\b"], [r"\bsha256rnds2\b", r"\bsha1rnds4\b"]),
    ],
    ARM: [
        *blocks("aarch64", "Neon", [SHA3, r"\bz\d+\.[bhsd]\b"], ARM_AES, ARM_SOME),
        *blocks("aarch64", "NeonSha3", [r"\bz\d+\.[bhsd]\b"], ARM_AES, [*ARM_SOME, r"\beor3\b"]),
        level("words::aarch64", "NeonWords", [SHA3, r"\bz\d+\.[bhsd]\b"], r"\bv\d+\.", [r"\badd v\d+\.4s", r"\bumull"]),
        level("sha::aarch64", "NeonSha2", [SHA3, r"\bz\d+\.[bhsd]\b"], r"", [r"\bsha256h\b", r"\bsha1c\b"]),
        Level("run_stitched", STITCHED, [SHA3, r"\bz\d+\.[bhsd]\b"], [r"\baese\b"], [r"\bsha256h\b", r"\bsha1c\b"]),
    ],
}

# The widest level of AES, an entry that the narrower ones have but never run, and those that measure other units than
# those of AES.
WIDEST = "Vaes512",
WIDE_ONLY = r"::UpdateByMatrices\b"
LIMITS = r"lanelock_speed::limit::"

# Products and squares of a field, in which each operand is read once and the columns stay in registers.
PRODUCTS = r"::part_entry::<[\w:]*::field::(Times|Squares?)<"
SPILL = re.compile(r"^vmov\w+ +%[yz]mm\d+,[-\w]*\(%rsp\)$", re.MULTILINE)
MOST_SPILLS = 4

# The leaves of big numbers: each is one instruction or a few.
LEAVES = r"^lanelock_isa::limbs::x86::[yz]mm::"

# What entries may call: entry, function. A call outside the loop that does the
# work is no fault; it gets a line here that says so.
MAY_CALL = [
    (r"", r"panic|unwrap_failed|expect_failed|slice_\w*fail|len_mismatch_fail"),  # checks that failed
    (r"", r"_Unwind_Resume|lanelock_isa::(slices|block)::too_(short|long)"),
    # The next chain, from an iterator of any type; the parts that advance the lanes; and their frames at the end.
    (r"::RunLanes<", r"^call +\*(0x\w+\()?%r|^blr |Blocks>::call::part_entry::<.*::ByVectors<|::wipe_stack::<"),
    # Hashes in lanes: where a message begins and ends, not where its blocks are taken.
    (
        r"Words>::run::entry::<Flight<|::(lanes|pbkdf2)::Flight<",
        r"^mem(cpy|move|set)@|^call +\*|^blr |drop_in_place::|HashCrew<|pbkdf2::Iterations<|lanelock_digest::\w+::compress",
    ),
    # Of one message: a hash that has no instructions, and the copy of a state.
    (r"::(ShaNi|NeonSha2)>::run::entry::<", r"lanelock_digest::compression::on_words|^memcpy@"),
    # The copy that the hash reads, and that it is wiped.
    (STITCHED, r"^mem(cpy|set)@"),
    (r"", r"lanelock_isa::wipe::wipe_many$"),  # key stream, keys and copies that have served, of more than 64 bytes
    # One call for all blocks: the same rounds also run beside those of AES, which are then inside.
    (r"::ShaNi>::run::entry::<.*\bOne<", r"lanelock_isa::sha::x86::sha256::<\(\)>"),
    (r"Words>::run::entry::<", r"lanelock_isa::words::too_few|^mem(cpy|set)@|^call +\*%r|^blr "),
    (r"::chacha20_poly1305::OneShot<", r"::(Accumulator|Powers) as .*Drop>::drop|drop_in_place::<lanelock_chacha::poly1305::"),
    # Poly1305 in limbs: once for all blocks of a piece, and once for the powers of its key.
    (r"::chacha20_poly1305::OneShot<|::poly1305::InLanes\b", r"limbs::x86::Ifma512>::run_groups::entry::<"),
    (r"lanelock_speed::limit::.*\bFold\b", r"lanelock_isa::matrix::times_matrix"),  # not run at these levels
    (r"::GcmSivOneShot<", r"::Powers as .*Drop>::drop"),
    # More than a vector of bytes to hash: AAD, a nonce that has not 12 bytes, GHASH and POLYVAL alone.
    (r"::(HashUpdate|FirstCounter|\w+OneShot)\b", r"Blocks>::call::part_entry::<.*::HashBytes<"),
    (r"::RunLanes<.*KeyTable<", r"drop_in_place::<.*KeyTable<"),  # all keys are wiped at the end
    # Big numbers: parts that stand once for all kernels, and before and behind the work the memory of numbers and
    # tables, and numbers of different lengths.
    (r"limbs::x86::Ifma\d+", r"::call::part_entry::<"),
    (
        r"limbs::x86::Ifma\d+>::run::entry::",
        r"__rust_(alloc|dealloc|no_alloc_shim)|raw_vec::handle_error|reserve::do_reserve|from_elem|SpecFromIter|drop_in_place::|Locked>>::drop_slow"
        r"|^mem(cpy|set)@|^call +\*%r|bytemuck::internal::something_went_wrong",
    ),
    # Those of few numbers are parts as a whole: constants of the two moduli and a table before the work, made without
    # vectors, and memory of numbers behind it.
    (
        r"limbs::x86::Ifma\d+ as .*part_entry::<.*::groups::Some(Products|Powers|PublicPowers)<",
        r"\[(&lanelock_pubkey::montgomery::Modulus|usize); 2\]>::try_map::<|groups::(inverse_powers|into_lines|out_of_lines)|__rust_(alloc|dealloc|no_alloc_shim)"
        r"|raw_vec::handle_error|drop_in_place::<\[*zeroize::|bytemuck::internal::something_went_wrong|^mem(cpy|set)@",
    ),
    # Columns are cleared, and numbers copied, before and behind a product.
    (r"limbs::x86::Ifma\d+ as .*part_entry::<.*::(montgomery::(Reduced|groups::product::\w+)|weierstrass::\w+)<", r"^mem(cpy|set)@"),
    # A tag is compared, or a part of it written; a forgery.
    (r"::(Short|Together|gcm::batch::Groups)<", r"subtle::black_box|lanelock_core::tag::(refuse|copy_short)"),
    # The ends of texts and AAD, which are parts of blocks; tables that are set up, and wiped. Modes that
    # only know whole blocks are not among these.
    (
        r"::(Absorb|AbsorbBlocks|Expand|Finish|FinishText|FirstCounter|HashUpdate|InLanes|Many|One|Partial|RunLanes|Short|Together|Whole|\w+(OneShot|Piece))\b",
        r"^mem(cpy|set)@|^call +\*%r|^blr ",
    ),
]
# Parts of core_arch that detection calls once; the standard library has them too.
DETECTION = re.compile(r"core_arch::x86::(cpuid|xsave)::|_xgetbv|__cpuid|has_cpuid")
# Memory for big numbers, once an operation: the standard library has these functions, which are no intrinsics, for
# vectors as for any other type.
MEMORY = re.compile(r"spec_from_elem::SpecFromElem>::from_elem|drop_in_place::<.*::Vec<core::core_arch")

# The second of a pair that is run as one, and how the first one before it has to begin.
PAIR = re.compile(r"^aes(i?)mc (v\d+)\.16b, (v\d+)\.16b")
# Schedules of decryption are made of AESIMC alone.
SCHEDULES = r"::(Expand|Invert)\w*\b"
