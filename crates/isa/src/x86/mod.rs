//! The x86-64 levels: one token each, one file of intrinsics (*leaves*) per vector width.
//!
//! AESENC is one round of encryption, which ends with the exclusive or of its key; AESENCLAST is a
//! round without MixColumns. AESDEC and AESDECLAST are the rounds of the equivalent inverse cipher
//! (FIPS 197, 5.3.5).
//!
//! # Registers
//! 16 vector registers at `aesni` and `vaes256`, 32 at `vaes512`. Eight states and the eleven round
//! keys of AES-128 are 19 values: they stay in registers at `vaes512`. With 16 registers the
//! compiler leaves round keys in memory, where AESENC can take its second operand from: a load for
//! each instruction.

#[macro_use]
mod forward;
mod xmm;
mod ymm;
mod zmm;

use core::arch::x86_64::{__m128i, __m256i, __m512i};
use core::mem::MaybeUninit;

use crate::policy::{Processor, Ways};
use crate::slices::{first, first_mut};
use crate::vectors::{WIDEST, sealed::Sealed};
use crate::{AesRounds, Block, Blocks, Clmul, Kernel, Part, Windows};

/// Makes a token: its detection and its entry from one feature list, and its traits from the leaves of
/// its width.
macro_rules! level {
    (
        $(#[$doc:meta])*
        $token:ident, width $width:literal, $vector:ty, leaves $leaf:ident, pair $pair:ident, parts $parts:ident,
        enable $enable:literal, detect [$($feature:tt),+]
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(Ways);

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;

            pub(crate) fn detect() -> Option<Self> {
                (crate::policy::has_features!($($feature),+)).then(|| Self(Processor::host().ways().of_blocks($width)))
            }

            /// The same on a processor of these ways.
            pub(crate) fn with_ways(self, ways: Ways) -> Self {
                Self(ways.of_blocks($width))
            }

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Out {
                enter!($token, self, kernel, Kernel, enable $enable, |s, kernel| {
                    if const { K::SPILLS } {
                        align_stack();
                    }
                    kernel.run(s)
                })
            }
        }

        traits! { $token, enable $enable, width $width, $vector, leaves $leaf, pair $pair, parts $parts }
    };
}

level! {
    /// AES-NI and PCLMULQDQ: one block an instruction.
    AesNi, width 1, __m128i, leaves xmm, pair AesNi, parts blocks,
    enable "aes,pclmulqdq,sse4.1", detect ["aes", "pclmulqdq", "sse4.1"]
}

level! {
    /// VAES and VPCLMULQDQ with AVX2: two blocks an instruction.
    Vaes256, width 2, __m256i, leaves ymm, pair Vaes256, parts blocks,
    enable "aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    detect ["aes", "pclmulqdq", "avx2", "vaes", "vpclmulqdq"]
}

level! {
    /// VAES and VPCLMULQDQ with AVX-512: four blocks an instruction.
    Vaes512, width 4, __m512i, leaves zmm, pair Vaes256, parts masks,
    enable "aes,pclmulqdq,vaes,vpclmulqdq,gfni,bmi2,avx512f,avx512bw,avx512dq,avx512vl",
    detect [
        "aes", "pclmulqdq", "vaes", "vpclmulqdq", "gfni",
        "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl"
    ]
}

/// Aligns the stack frame of the function that this is inlined into to 64 bytes. LLVM decides on the
/// alignment of a frame before it allocates registers. Vectors that it has to spill later do not
/// count: in a frame aligned to 16 bytes a spilled 64-byte vector crosses a cache line in three of
/// four cases, at every access. A local variable with that alignment, whose address is taken, forces
/// the frame.
#[inline(always)]
pub(crate) fn align_stack() {
    #[repr(align(64))]
    struct CacheLine(#[expect(dead_code, reason = "only its place counts")] MaybeUninit<[u8; 64]>);
    let line = CacheLine(MaybeUninit::uninit());
    // SAFETY: assembly without instructions does nothing.
    unsafe {
        core::arch::asm!(
            "/* {0} */", in(reg) &raw const line, options(readonly, nostack, preserves_flags)
        );
    }
}

/// `N` vectors in an array as long as that of the widest level.
#[inline(always)]
fn widen<V: Copy, const N: usize>(v: [V; N]) -> [V; WIDEST] {
    let mut wide = [v[0]; WIDEST];
    #[allow(
        clippy::manual_memcpy,
        reason = "vectors stay in registers; a copy of slices is of memory"
    )]
    for i in 1..N {
        wide[i] = v[i];
    }
    wide
}
