//! The AArch64 levels: one token each, and one file of intrinsics (*leaves*) for both.
//!
//! AESE adds its key, then SubBytes and ShiftRows; AESMC is MixColumns. So a round here begins with
//! the key `before` it, and the last round adds the last key by an exclusive or of its own. AESD and
//! AESIMC are the same for the equivalent inverse cipher (FIPS 197, 5.3.5).
//!
//! Processors run AESE and an AESMC that follows it, on the same register, as one instruction. So a
//! round is one leaf, and what keeps rounds in order stands behind the pair, never within.
//!
//! # Registers
//! 32 vector registers: eight states and the eleven round keys of AES-128 stay in them.

mod neon;

use core::arch::aarch64::uint8x16_t;

use crate::policy::{Processor, Ways};
use crate::slices::{first, first_mut};
use crate::vectors::{WIDEST, sealed::Sealed};
use crate::{AesRounds, Block, Blocks, Clmul, Kernel, Part, Windows};

/// Makes a token: its detection and its entry from one feature list, and its traits from the leaves.
/// The levels differ in the exclusive or of three vectors.
macro_rules! level {
    (
        $(#[$doc:meta])*
        $token:ident, xor3 $xor3:ident, enable $enable:literal, detect [$($feature:tt),+]
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(Ways);

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;

            pub(crate) fn detect() -> Option<Self> {
                // Big-endian processors number the lanes of a vector from the other end.
                let little = cfg!(target_endian = "little");
                (little && crate::policy::has_features!($($feature),+))
                    .then(|| Self(Processor::host().ways().of_blocks(1)))
            }

            /// The same on a processor of these ways.
            pub(crate) fn with_ways(self, ways: Ways) -> Self {
                Self(ways.of_blocks(1))
            }

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Out {
                enter!($token, self, kernel, Kernel, enable $enable, |s, kernel| kernel.run(s))
            }
        }

        impl Sealed for $token {}

        impl Blocks for $token {
            type V = uint8x16_t;
            type Narrow = Self;
            type Pair = Self;
            const WIDTH: usize = 1;
            const VECTORS: usize = 8;

            #[inline(always)]
            fn narrow(self) -> Self {
                self
            }

            #[inline(always)]
            fn pair(self) -> Self {
                self
            }

            #[inline(always)]
            fn ways(self) -> Ways {
                self.0
            }

            call_part! { $token, enable $enable }

            #[inline(always)]
            fn load(self, src: &[Block]) -> uint8x16_t {
                let [block] = first(src);
                // SAFETY: the token proves the features.
                unsafe { neon::load(block) }
            }

            #[inline(always)]
            fn store(self, v: uint8x16_t, dst: &mut [Block]) {
                let [block] = first_mut(dst);
                // SAFETY: the token proves the features.
                unsafe { neon::store(v, block) }
            }

            #[inline(always)]
            fn load_each(self, blocks: &[&Block]) -> uint8x16_t {
                let [block] = first(blocks);
                // SAFETY: the token proves the features.
                unsafe { neon::load(block) }
            }

            // What works on lanes is trivial: a vector has one.

            #[inline(always)]
            fn lanes(self, v: uint8x16_t) -> [uint8x16_t; WIDEST] {
                [v; WIDEST]
            }

            #[inline(always)]
            fn join_lanes(self, [v, ..]: [uint8x16_t; WIDEST]) -> uint8x16_t {
                v
            }

            #[inline(always)]
            fn splat_narrow(self, v: uint8x16_t) -> uint8x16_t {
                v
            }

            #[inline(always)]
            fn in_first_lane(self, v: uint8x16_t) -> uint8x16_t {
                v
            }

            #[inline(always)]
            fn sum_lanes(self, v: uint8x16_t) -> uint8x16_t {
                v
            }

            #[inline(always)]
            fn shift_in(self, before: uint8x16_t, _: uint8x16_t) -> uint8x16_t {
                before
            }

            #[inline(always)]
            fn splat(self, block: &Block) -> uint8x16_t {
                // SAFETY: the token proves the features.
                unsafe { neon::load(block) }
            }

            #[inline(always)]
            fn xor3(self, a: uint8x16_t, b: uint8x16_t, c: uint8x16_t) -> uint8x16_t {
                // SAFETY: the token proves the features.
                unsafe { neon::$xor3(a, b, c) }
            }

            #[inline(always)]
            fn counters(self, first: &Block) -> uint8x16_t {
                self.lane_counters(self.splat(first))
            }

            #[inline(always)]
            fn lane_counters(self, blocks: uint8x16_t) -> uint8x16_t {
                // Big-endian in the block, little-endian in the register, where it can be added to.
                self.reverse(blocks)
            }

            #[inline(always)]
            fn counter_blocks(self, c: uint8x16_t) -> uint8x16_t {
                self.reverse(c)
            }

            forward! { neon:
                fn here(v: Self::V) -> Self::V;
                fn keep(v: Self::V, bytes: usize) -> Self::V;
                fn zero() -> Self::V;
                fn splat_halves(low: u64, high: u64) -> Self::V;
                fn xor(a: Self::V, b: Self::V) -> Self::V;
                fn and(a: Self::V, b: Self::V) -> Self::V;
                fn add_words(a: Self::V, b: Self::V) -> Self::V;
                fn reverse(v: Self::V) -> Self::V;
                fn swap_halves(v: Self::V) -> Self::V;
                fn bytes_up<const N: i32>(v: Self::V) -> Self::V;
                fn bytes_down<const N: i32>(v: Self::V) -> Self::V;
                fn shift_left<const N: u32>(v: Self::V) -> Self::V;
                fn shift_right<const N: u32>(v: Self::V) -> Self::V;
                fn shift_left_by(v: Self::V, counts: Self::V) -> Self::V;
                fn shift_right_by(v: Self::V, counts: Self::V) -> Self::V;
                fn double(v: Self::V, carries: &mut Self::V) -> Self::V;
                fn carries(v: Self::V) -> Self::V;
                fn counters_add(c: Self::V, n: u64) -> Self::V;
            }
        }

        impl Windows for $token {
            #[inline(always)]
            fn turn(self, square: [uint8x16_t; WIDEST]) -> [uint8x16_t; WIDEST] {
                square
            }
            #[inline(always)]
            fn sums(self, square: [uint8x16_t; WIDEST]) -> uint8x16_t {
                square[0]
            }
        }

        // A round adds its key at the beginning: keys after it are not read.
        impl AesRounds for $token {
            type K = uint8x16_t;
            type State = uint8x16_t;

            #[inline(always)]
            fn as_keys(self, v: uint8x16_t) -> uint8x16_t {
                v
            }

            #[inline(always)]
            fn whiten(self, v: uint8x16_t, _: uint8x16_t) -> uint8x16_t {
                // Round 1 adds key 0.
                v
            }

            #[inline(always)]
            fn enter(self, whitened: uint8x16_t, _: uint8x16_t) -> uint8x16_t {
                // Where branches begin with the same round, the compiler moves its AESE in front of them, and
                // leaves the AESMC behind.
                self.here(whitened)
            }

            #[inline(always)]
            fn join(self, text: uint8x16_t, last: uint8x16_t) -> uint8x16_t {
                self.xor(text, last)
            }

            #[inline(always)]
            fn encrypt_round(
                self,
                v: uint8x16_t,
                before: uint8x16_t,
                _: uint8x16_t,
            ) -> uint8x16_t {
                // SAFETY: the token proves the features.
                unsafe { neon::encrypt_round(v, before) }
            }

            #[inline(always)]
            fn encrypt_last_round(
                self,
                v: uint8x16_t,
                before: uint8x16_t,
                _: uint8x16_t,
                joined: uint8x16_t,
            ) -> uint8x16_t {
                // SAFETY: the token proves the features.
                self.xor(unsafe { neon::encrypt_last_round(v, before) }, joined)
            }

            #[inline(always)]
            fn decrypt_round(
                self,
                v: uint8x16_t,
                before: uint8x16_t,
                _: uint8x16_t,
            ) -> uint8x16_t {
                // SAFETY: the token proves the features.
                unsafe { neon::decrypt_round(v, before) }
            }

            #[inline(always)]
            fn decrypt_last_round(
                self,
                v: uint8x16_t,
                before: uint8x16_t,
                _: uint8x16_t,
                joined: uint8x16_t,
            ) -> uint8x16_t {
                // SAFETY: the token proves the features.
                self.xor(unsafe { neon::decrypt_last_round(v, before) }, joined)
            }

            #[inline(always)]
            fn order(self, v: uint8x16_t) -> uint8x16_t {
                self.here(v)
            }

            #[inline(always)]
            fn round(self, v: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
                // SAFETY: the token proves the features.
                self.xor(unsafe { neon::encrypt_round(v, self.zero()) }, key)
            }

            forward! { neon:
                fn sub_last_words<const ROTATE: bool>(v: Self::V, constant: u8) -> Self::V;
                fn inv_mix_columns(block: Block) -> Block;
            }
        }

        impl Clmul for $token {
            forward! { neon:
                fn clmul_low(a: Self::V, b: Self::V) -> Self::V;
                fn clmul_high(a: Self::V, b: Self::V) -> Self::V;
                fn clmul_low_high(a: Self::V, b: Self::V) -> Self::V;
                fn clmul_high_low(a: Self::V, b: Self::V) -> Self::V;
                fn times_matrix(v: Self::V, matrix: Self::V) -> Self::V;
            }
        }
    };
}

level! {
    /// AESE and PMULL, Armv8's cryptography extension: one block an instruction.
    Neon, xor3 xor3, enable "neon,aes", detect ["neon", "aes"]
}

level! {
    /// The same with EOR3, of the SHA-3 extension: an exclusive or of three vectors.
    NeonSha3, xor3 eor3, enable "neon,aes,sha3", detect ["neon", "aes", "sha3"]
}
