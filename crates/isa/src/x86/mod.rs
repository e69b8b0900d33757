//! The x86-64 levels: one token each, one block of intrinsics per vector width.
//!
//! AES is E(K, P) = AESENCLAST(... AESENC(AESENC(P ^ K_0, K_1), K_2) ..., K_r), r = 10, 12 or 14
//! (FIPS 197, 5.1): AESENC is one round, which ends with the exclusive or of its key; AESENCLAST is
//! a round without MixColumns. AESDEC and AESDECLAST are the rounds of the equivalent inverse cipher
//! (5.3.5).
//!
//! # Order of the rounds
//! On Zen 5 a round has a latency of 4 cycles and 2 start in a cycle, at any width (measured). One
//! vector alone uses an eighth of that. So the loops here take round 1 of all `N` vectors, then
//! round 2: with `N` = 8 the next round of a vector starts when its last one has ended. To the
//! optimiser the vectors are independent, and left alone it finishes one after the other; the
//! processor would then have to look past all rounds of one to find the next. [`Blocks::here`] keeps
//! the order.
//!
//! # Registers
//! 16 vector registers at `aesni` and `vaes256`, 32 at `vaes512`. Eight states and the eleven round
//! keys of AES-128 are 19 values: they stay in registers at `vaes512`. With 16 registers the
//! compiler leaves round keys in memory, where AESENC can take its second operand from: a load for
//! each instruction.

mod xmm;
mod ymm;
mod zmm;

use core::arch::x86_64::{__m128i, __m256i, __m512i};
use core::mem::MaybeUninit;

use crate::blocks::{Blocks, Kernel, RoundKeys, sealed::Sealed};
use crate::{Beside, Block, Clmul, Row, RowMut};

/// A loop over rounds, written out. LLVM unrolls a loop only up to a limit of its size, which the
/// work between two rounds may exceed; in a loop that stays one, arrays of vectors are indexed by a
/// variable and therefore live in memory.
macro_rules! each_round {
    ($round:ident in 1..$end:expr, $body:block) => {
        each_round!(@ $round, $end, $body, 1 2 3 4 5 6 7 8 9 10 11 12 13)
    };
    (@ $round:ident, $end:expr, $body:block, $($number:literal)*) => {
        $(if $number < $end {
            let $round = $number;
            $body
        })*
    };
}

/// Makes a token: its detection, its entry and its [`Blocks`], all from one feature list.
macro_rules! level {
    (
        $(#[$doc:meta])*
        $token:ident, width $width:literal, $vector:ty, leaves $leaf:ident, pair $pair:ident,
        enable $enable:literal, detect [$($feature:tt),+]
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(());

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;

            pub(crate) fn detect() -> Option<Self> {
                (crate::policy::has_features!($($feature),+)).then_some(Self(()))
            }

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Out {
                #[target_feature(enable = $enable)]
                fn entry<K: Kernel>(token: $token, kernel: K) -> K::Out {
                    align_stack();
                    kernel.run(token)
                }
                // SAFETY: a token exists only where `detect` found every feature enabled here.
                unsafe { entry(self, kernel) }
            }
        }

        impl Sealed for $token {}

        impl Blocks for $token {
            type V = $vector;
            type K = $vector;
            type Narrow = AesNi;
            type Pair = $pair;
            const WIDTH: usize = $width;
            const VECTORS: usize = 8;

            #[inline(always)]
            fn narrow(self) -> AesNi {
                AesNi(())
            }

            #[inline(always)]
            fn pair(self) -> $pair {
                $pair(())
            }

            #[inline(always)]
            fn here(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::here(v) }
            }

            #[inline(always)]
            fn load(self, src: &[Block]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::load(chunk(src, 0)) }
            }

            #[inline(always)]
            fn store(self, v: $vector, dst: &mut [Block]) {
                // SAFETY: the token proves the features.
                unsafe { $leaf::store(v, chunk_mut(dst, 0)) }
            }

            #[inline(always)]
            fn load_strided(self, src: &[Block], at: usize, stride: usize) -> $vector {
                let mut blocks = [&src[at]; $width];
                for i in 0..$width {
                    blocks[i] = &src[at + i * stride];
                }
                // SAFETY: the token proves the features.
                unsafe { $leaf::gather(blocks) }
            }

            #[inline(always)]
            fn store_strided(self, v: $vector, dst: &mut [Block], at: usize, stride: usize) {
                // SAFETY: the token proves the features.
                let blocks: [__m128i; $width] = unsafe { $leaf::split(v) };
                for i in 0..$width {
                    // SAFETY: the token proves the features.
                    unsafe { xmm::store_one(blocks[i], &mut dst[at + i * stride]) }
                }
            }

            #[inline(always)]
            fn gather<const N: usize>(self, row: Row<'_, '_, N>, vector: usize) -> $vector {
                let mut blocks = [row.read(vector, 0); $width];
                for lane in 0..$width {
                    blocks[lane] = row.read(vector, lane);
                }
                // SAFETY: the token proves the features.
                unsafe { $leaf::gather(blocks) }
            }

            #[inline(always)]
            fn scatter<const N: usize>(
                self,
                v: $vector,
                row: &mut RowMut<'_, '_, N>,
                vector: usize,
            ) {
                row.assert_full(vector);
                // SAFETY: the token proves the features.
                let blocks: [__m128i; $width] = unsafe { $leaf::split(v) };
                for lane in 0..$width {
                    // SAFETY: the token proves the features.
                    unsafe { xmm::store_one(blocks[lane], row.write(vector, lane)) }
                }
            }

            #[inline(always)]
            fn scatter_last<const N: usize>(
                self,
                v: $vector,
                row: &mut RowMut<'_, '_, N>,
                count: usize,
            ) {
                // SAFETY: the token proves the features.
                let blocks: [__m128i; $width] = unsafe { $leaf::split(v) };
                for lane in 0..$width {
                    if lane < count {
                        // SAFETY: the token proves the features.
                        unsafe { xmm::store_one(blocks[lane], row.write(N - 1, lane)) }
                    }
                }
            }

            #[inline(always)]
            fn gather_square<const N: usize>(
                self,
                rows: Row<'_, '_, N>,
                vector: usize,
            ) -> [$vector; 4] {
                let mut v = [self.zero(); $width];
                for lane in 0..$width {
                    // SAFETY: the token proves the features.
                    v[lane] = unsafe { $leaf::load(rows.read_run(vector, lane)) };
                }
                // The array is as long as the widest vector; a narrow level fills its beginning.
                // SAFETY: the token proves the features.
                let turned = unsafe { $leaf::turn(v) };
                let mut square = [turned[0]; 4];
                for i in 0..$width {
                    square[i] = turned[i];
                }
                square
            }

            #[inline(always)]
            fn scatter_square<const N: usize>(
                self,
                v: [$vector; 4],
                rows: &mut RowMut<'_, '_, N>,
                vector: usize,
            ) {
                rows.assert_full(vector);
                // SAFETY: the token proves the features.
                let lanes = unsafe { $leaf::turn(*part(&v)) };
                for lane in 0..$width {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::store(lanes[lane], rows.write_run(vector, lane)) }
                }
            }

            #[inline(always)]
            fn scatter_square_last<const N: usize>(
                self,
                v: [$vector; 4],
                rows: &mut RowMut<'_, '_, N>,
                count: usize,
            ) {
                // SAFETY: the token proves the features.
                let lanes = unsafe { $leaf::turn(*part(&v)) };
                for lane in 0..$width {
                    if lane < count {
                        // SAFETY: the token proves the features.
                        unsafe { $leaf::store(lanes[lane], rows.write_run(N - 1, lane)) }
                    }
                }
            }

            #[inline(always)]
            fn load_each(self, blocks: &[&Block]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::gather(*each(blocks)) }
            }

            #[inline(always)]
            fn load_part(self, src: &[u8]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::load_part(src) }
            }

            #[inline(always)]
            fn store_part(self, v: $vector, dst: &mut [u8]) {
                // SAFETY: the token proves the features.
                unsafe { $leaf::store_part(v, dst) }
            }

            #[inline(always)]
            fn keep(self, v: $vector, bytes: usize) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::keep(v, bytes) }
            }

            #[inline(always)]
            fn zero(self) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::zero() }
            }

            #[inline(always)]
            fn splat(self, block: &Block) -> $vector {
                self.key(block)
            }

            #[inline(always)]
            fn splat_halves(self, low: u64, high: u64) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::splat_halves(low, high) }
            }

            #[inline(always)]
            fn splat_narrow(self, v: __m128i) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::splat_narrow(v) }
            }

            #[inline(always)]
            fn last_narrow(self, v: $vector) -> __m128i {
                // SAFETY: the token proves the features.
                let blocks: [__m128i; $width] = unsafe { $leaf::split(v) };
                blocks[$width - 1]
            }

            #[inline(always)]
            fn in_first_lane(self, v: __m128i) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::in_first_lane(v) }
            }

            #[inline(always)]
            fn sum_lanes(self, v: $vector) -> __m128i {
                // SAFETY: the token proves the features.
                unsafe { $leaf::sum_lanes(v) }
            }

            #[inline(always)]
            fn and(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::and(a, b) }
            }

            #[inline(always)]
            fn add_words(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::add_words(a, b) }
            }

            #[inline(always)]
            fn reverse(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::reverse(v) }
            }

            #[inline(always)]
            fn swap_halves(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::swap_halves(v) }
            }

            #[inline(always)]
            fn bytes_up<const N: i32>(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::bytes_up::<N>(v) }
            }

            #[inline(always)]
            fn bytes_down<const N: i32>(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::bytes_down::<N>(v) }
            }

            #[inline(always)]
            fn shift_left<const N: u32>(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::shift_left::<N>(v) }
            }

            #[inline(always)]
            fn shift_right<const N: u32>(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::shift_right::<N>(v) }
            }

            #[inline(always)]
            fn shift_left_by(self, v: $vector, counts: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::shift_left_by(v, counts) }
            }

            #[inline(always)]
            fn shift_right_by(self, v: $vector, counts: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::shift_right_by(v, counts) }
            }

            #[inline(always)]
            fn double(self, v: $vector, carries: &mut $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::double_blocks(v, carries) }
            }

            #[inline(always)]
            fn carries(self, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::carries(v) }
            }

            #[inline(always)]
            fn xor(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::xor(a, b) }
            }

            #[inline(always)]
            fn shift_in(self, before: $vector, v: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::shift_in(before, v) }
            }

            #[inline(always)]
            fn in_last_lane(self, block: &Block) -> $vector {
                // In every lane: `shift_in` reads the last one only, and a broadcast is one load.
                self.key(block)
            }

            #[inline(always)]
            fn last_lane(self, v: $vector) -> Block {
                let mut blocks = [[0; 16]; $width];
                self.store(v, &mut blocks);
                blocks[$width - 1]
            }

            #[inline(always)]
            fn counters(self, first: &Block) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::counters(first) }
            }

            #[inline(always)]
            fn lane_counters(self, blocks: $vector) -> $vector {
                // Big-endian in the block, little-endian in the register, where it can be added to.
                // SAFETY: the token proves the features.
                unsafe { $leaf::reverse(blocks) }
            }

            #[inline(always)]
            fn counters_add(self, c: $vector, n: u64) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::counters_add(c, n) }
            }

            #[inline(always)]
            fn counter_blocks(self, c: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::reverse(c) }
            }

            #[inline(always)]
            fn key(self, key: &Block) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::broadcast(key) }
            }

            #[inline(always)]
            fn lane_keys(self, keys: &[Block]) -> $vector {
                self.load(keys)
            }

            #[inline(always)]
            fn as_keys(self, v: $vector) -> $vector {
                v
            }

            #[inline(always)]
            fn round(self, v: $vector, key: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesenc(v, key) }
            }

            #[inline(always)]
            fn encrypt_xor<const N: usize, const R: usize>(
                self,
                x: [$vector; N],
                y: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                let mut v = y;
                for i in 0..N {
                    // (x ^ K_0) ^ y: the first exclusive or does not need `y`, the chain. So only one
                    // operation stands between the arrival of `y` and the first round.
                    let early = self.xor(x[i], keys.get(self, 0, i));
                    v[i] = self.xor(v[i], early);
                }
                self.encrypt_whitened::<N, R>(v, keys)
            }

            #[inline(always)]
            fn encrypt<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                for i in 0..N {
                    v[i] = self.xor(v[i], keys.get(self, 0, i));
                }
                self.encrypt_whitened::<N, R>(v, keys)
            }

            #[inline(always)]
            fn encrypt_two<const N: usize, const R: usize>(
                self,
                mut a: [$vector; N],
                mut b: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [[$vector; N]; 2] {
                for i in 0..N {
                    let key = keys.get(self, 0, i);
                    a[i] = self.xor(a[i], key);
                    b[i] = self.xor(b[i], key);
                }
                // Keys that are gathered from `WIDTH` schedules cost more than a round: so each is
                // made once and used for both groups. 2 * N states, one key.
                for round in 1..R - 1 {
                    for i in 0..N {
                        let key = keys.get(self, round, i);
                        // SAFETY: the token proves the features.
                        a[i] = unsafe { $leaf::aesenc(a[i], key) };
                        // SAFETY: the token proves the features.
                        b[i] = unsafe { $leaf::aesenc(b[i], key) };
                    }
                }
                for i in 0..N {
                    let key = keys.get(self, R - 1, i);
                    // SAFETY: the token proves the features.
                    a[i] = unsafe { $leaf::aesenclast(a[i], key) };
                    // SAFETY: the token proves the features.
                    b[i] = unsafe { $leaf::aesenclast(b[i], key) };
                }
                [a, b]
            }

            #[inline(always)]
            fn encrypt_whitened<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                for round in 1..R - 1 {
                    for i in 0..N {
                        // SAFETY: the token proves the features.
                        let next = unsafe { $leaf::aesenc(v[i], keys.get(self, round, i)) };
                        // Otherwise the compiler takes one vector through all rounds, then the next.
                        v[i] = if N > 1 { self.here(next) } else { next };
                    }
                }
                for i in 0..N {
                    // SAFETY: the token proves the features.
                    v[i] = unsafe { $leaf::aesenclast(v[i], keys.get(self, R - 1, i)) };
                }
                v
            }

            #[inline(always)]
            fn encrypt_whitened_xor<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                next: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                for round in 1..R - 1 {
                    for i in 0..N {
                        // SAFETY: the token proves the features.
                        let next = unsafe { $leaf::aesenc(v[i], keys.get(self, round, i)) };
                        // Otherwise the compiler takes one vector through all rounds, then the next.
                        v[i] = if N > 1 { self.here(next) } else { next };
                    }
                }
                // AESENCLAST(v, K_r ^ next) = AESENCLAST(v, K_r) ^ next.
                for i in 0..N {
                    let last = self.xor(keys.get(self, R - 1, i), next[i]);
                    // SAFETY: the token proves the features.
                    v[i] = unsafe { $leaf::aesenclast(v[i], last) };
                }
                v
            }

            #[inline(always)]
            fn encrypt_beside<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                keys: impl RoundKeys<Self>,
                beside: &mut impl Beside<Self>,
            ) -> [$vector; N] {
                for i in 0..N {
                    v[i] = self.xor(v[i], keys.get(self, 0, i));
                }
                each_round!(round in 1..R - 1, {
                    for i in 0..N {
                        // SAFETY: the token proves the features.
                        let next = unsafe { $leaf::aesenc(v[i], keys.get(self, round, i)) };
                        // Otherwise the compiler takes one vector through all rounds, then the next.
                        v[i] = self.here(next);
                    }
                    // Behind the N rounds and before the next N, so that the carry-less products of
                    // the step start while the rounds are in flight: they use another unit.
                    beside.step(self, round);
                });
                for i in 0..N {
                    // SAFETY: the token proves the features.
                    v[i] = unsafe { $leaf::aesenclast(v[i], keys.get(self, R - 1, i)) };
                }
                v
            }

            #[inline(always)]
            fn decrypt<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                for i in 0..N {
                    v[i] = self.xor(v[i], keys.get(self, 0, i));
                }
                for round in 1..R - 1 {
                    for i in 0..N {
                        // SAFETY: the token proves the features.
                        let next = unsafe { $leaf::aesdec(v[i], keys.get(self, round, i)) };
                        // Otherwise the compiler takes one vector through all rounds, then the next.
                        v[i] = if N > 1 { self.here(next) } else { next };
                    }
                }
                for i in 0..N {
                    // SAFETY: the token proves the features.
                    v[i] = unsafe { $leaf::aesdeclast(v[i], keys.get(self, R - 1, i)) };
                }
                v
            }

            #[inline(always)]
            fn encrypt_begin<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                for (i, v) in v.iter_mut().enumerate() {
                    *v = self.here(self.xor(*v, keys.get(self, 0, i)));
                }
                for round in 1..R - 1 {
                    for (i, v) in v.iter_mut().enumerate() {
                        // SAFETY: the token proves the features.
                        let next = unsafe { $leaf::aesenc(*v, keys.get(self, round, i)) };
                        *v = self.here(next);
                    }
                }
                v
            }

            #[inline(always)]
            fn encrypt_end(self, v: $vector, last: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesenclast(v, last) }
            }

            #[inline(always)]
            fn decrypt_begin<const N: usize, const R: usize>(
                self,
                mut v: [$vector; N],
                keys: impl RoundKeys<Self>,
            ) -> [$vector; N] {
                for (i, v) in v.iter_mut().enumerate() {
                    *v = self.here(self.xor(*v, keys.get(self, 0, i)));
                }
                for round in 1..R - 1 {
                    for (i, v) in v.iter_mut().enumerate() {
                        // SAFETY: the token proves the features.
                        let next = unsafe { $leaf::aesdec(*v, keys.get(self, round, i)) };
                        *v = self.here(next);
                    }
                }
                v
            }

            #[inline(always)]
            fn decrypt_end(self, v: $vector, last: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesdeclast(v, last) }
            }

            #[inline(always)]
            fn sub_last_words<const ROTATE: bool>(self, v: $vector, constant: u8) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::sub_last_words::<ROTATE>(v, constant.into()) }
            }

            #[inline(always)]
            fn expand<const R: usize>(self, key: &[u8], keys: &mut [Block; R]) {
                // SAFETY: the token proves the features.
                unsafe { xmm::expand(key, keys) }
            }

            #[inline(always)]
            fn inv_mix_columns(self, block: Block) -> Block {
                // AESIMC exists for one block only.
                // SAFETY: the token proves the features.
                unsafe { xmm::inv_mix_columns(&block) }
            }
        }

        impl Clmul for $token {
            #[inline(always)]
            fn clmul_low(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::clmul::<0x00>(a, b) }
            }

            #[inline(always)]
            fn clmul_high(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::clmul::<0x11>(a, b) }
            }

            #[inline(always)]
            fn clmul_low_high(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::clmul::<0x10>(a, b) }
            }

            #[inline(always)]
            fn clmul_high_low(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::clmul::<0x01>(a, b) }
            }

            #[inline(always)]
            fn times_matrix(self, v: $vector, matrix: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::times_matrix(v, matrix) }
            }
        }
    };
}

level! {
    /// AES-NI and PCLMULQDQ: one block an instruction.
    AesNi, width 1, __m128i, leaves xmm, pair AesNi,
    enable "aes,pclmulqdq,sse4.1", detect ["aes", "pclmulqdq", "sse4.1"]
}

level! {
    /// VAES and VPCLMULQDQ with AVX2: two blocks an instruction.
    Vaes256, width 2, __m256i, leaves ymm, pair Vaes256,
    enable "aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    detect ["aes", "pclmulqdq", "avx2", "vaes", "vpclmulqdq"]
}

level! {
    /// VAES and VPCLMULQDQ with AVX-512: four blocks an instruction.
    Vaes512, width 4, __m512i, leaves zmm, pair Vaes256,
    enable "aes,pclmulqdq,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512dq,avx512vl",
    detect [
        "aes", "pclmulqdq", "vaes", "vpclmulqdq", "gfni",
        "avx512f", "avx512bw", "avx512dq", "avx512vl"
    ]
}

#[inline(always)]
fn chunk<const N: usize>(src: &[Block], at: usize) -> &[Block; N] {
    match src[at..].first_chunk() {
        Some(chunk) => chunk,
        None => too_short(),
    }
}

#[inline(always)]
fn chunk_mut<const N: usize>(dst: &mut [Block], at: usize) -> &mut [Block; N] {
    match dst[at..].first_chunk_mut() {
        Some(chunk) => chunk,
        None => too_short(),
    }
}

/// The first bytes of `N` blocks, and zeros behind them.
#[inline(always)]
fn padded<const N: usize>(src: &[u8]) -> [Block; N] {
    let mut blocks = [[0; 16]; N];
    match blocks.as_flattened_mut().get_mut(..src.len()) {
        Some(to) => to.copy_from_slice(src),
        None => too_long(),
    }
    blocks
}

/// The first bytes of `blocks`, as many as `dst` has.
#[inline(always)]
fn copy_part(blocks: &[Block], dst: &mut [u8]) {
    match blocks.as_flattened().get(..dst.len()) {
        Some(from) => dst.copy_from_slice(from),
        None => too_long(),
    }
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

#[cold]
#[inline(never)]
fn too_long() -> ! {
    panic!("more bytes than a vector holds")
}

/// The first `N` of four vectors.
#[inline(always)]
fn part<V, const N: usize>(v: &[V; 4]) -> &[V; N] {
    match v.first_chunk() {
        Some(part) => part,
        None => too_short(),
    }
}

#[inline(always)]
fn each<'a, 'b, const N: usize>(blocks: &'a [&'b Block]) -> &'a [&'b Block; N] {
    match blocks.first_chunk() {
        Some(chunk) => chunk,
        None => too_short(),
    }
}

#[inline(always)]
fn chunk_of_bytes(bytes: &[u8], at: usize) -> &Block {
    match bytes[at..].first_chunk() {
        Some(chunk) => chunk,
        None => too_short(),
    }
}

#[cold]
#[inline(never)]
fn too_short() -> ! {
    panic!("a slice is shorter than the vector operation on it")
}
