//! The traits of a level in terms of the leaves of its width.

/// How a level loads and stores a part of a vector.
macro_rules! parts {
    // AVX-512 has masks of bytes.
    (masks $leaf:ident) => {
        forward! { $leaf:
            fn load_part(src: &[u8]) -> Self::V;
            fn store_part(v: Self::V, dst: &mut [u8]);
        }
    };
    // As the trait has it.
    (blocks $leaf:ident) => {};
}

/// Implements the traits of a token by the leaves of its width.
macro_rules! traits {
    (
        $token:ident, enable $enable:literal, width $width:literal, $vector:ty, leaves $leaf:ident, pair $pair:ident,
        parts $parts:ident
    ) => {
        impl Sealed for $token {}

        impl Blocks for $token {
            type V = $vector;
            type Narrow = AesNi;
            type Pair = $pair;
            const WIDTH: usize = $width;
            const VECTORS: usize = 8;

            #[inline(always)]
            fn narrow(self) -> AesNi {
                AesNi(self.0)
            }

            #[inline(always)]
            fn pair(self) -> $pair {
                $pair(self.0)
            }

            #[inline(always)]
            fn ways(self) -> Ways {
                self.0
            }

            call_part! { $token, enable $enable, frame align_stack }
            parts! { $parts $leaf }

            #[inline(always)]
            fn load(self, src: &[Block]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::load(first(src)) }
            }

            #[inline(always)]
            fn store(self, v: $vector, dst: &mut [Block]) {
                // SAFETY: the token proves the features.
                unsafe { $leaf::store(v, first_mut(dst)) }
            }

            #[inline(always)]
            fn load_each(self, blocks: &[&Block]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::gather(*first(blocks)) }
            }

            #[inline(always)]
            fn lanes(self, v: $vector) -> [__m128i; WIDEST] {
                // SAFETY: the token proves the features.
                widen::<_, $width>(unsafe { $leaf::split(v) })
            }

            #[inline(always)]
            fn join_lanes(self, lanes: [__m128i; WIDEST]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::join(*first(&lanes)) }
            }

            #[inline(always)]
            fn lane_counters(self, blocks: $vector) -> $vector {
                // Big-endian in the block, little-endian in the register, where it can be added to.
                self.reverse(blocks)
            }

            #[inline(always)]
            fn counter_blocks(self, c: $vector) -> $vector {
                self.reverse(c)
            }

            forward! { $leaf:
                fn here(v: Self::V) -> Self::V;
                fn keep(v: Self::V, bytes: usize) -> Self::V;
                fn zero() -> Self::V;
                fn with_lane(v: Self::V, lane: usize, block: &Block) -> Self::V;
                fn splat(block: &Block) -> Self::V;
                fn splat_halves(low: u64, high: u64) -> Self::V;
                fn splat_narrow(v: __m128i) -> Self::V;
                fn in_first_lane(v: __m128i) -> Self::V;
                fn sum_lanes(v: Self::V) -> __m128i;
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
                fn shift_in(before: Self::V, v: Self::V) -> Self::V;
                fn counters(first: &Block) -> Self::V;
                fn counters_add(c: Self::V, n: u64) -> Self::V;
            }
        }

        impl Windows for $token {
            #[inline(always)]
            fn turn(self, square: [$vector; WIDEST]) -> [$vector; WIDEST] {
                // SAFETY: the token proves the features.
                widen::<_, $width>(unsafe { $leaf::turn(*first(&square)) })
            }
            #[inline(always)]
            fn sums(self, square: [$vector; WIDEST]) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::sums(*first(&square)) }
            }
        }

        // A round adds its key at the end: keys before it are not read.
        impl AesRounds for $token {
            type K = $vector;
            type State = $vector;

            #[inline(always)]
            fn as_keys(self, v: $vector) -> $vector {
                v
            }

            #[inline(always)]
            fn whiten(self, v: $vector, first: $vector) -> $vector {
                self.xor(v, first)
            }

            #[inline(always)]
            fn enter(self, whitened: $vector, _: $vector) -> $vector {
                whitened
            }

            #[inline(always)]
            fn join(self, text: $vector, last: $vector) -> $vector {
                // AESENCLAST(v, K_r ^ text) = AESENCLAST(v, K_r) ^ text.
                self.xor(last, text)
            }

            #[inline(always)]
            fn encrypt_round(self, v: $vector, _: $vector, after: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesenc(v, after) }
            }

            #[inline(always)]
            fn encrypt_last_round(
                self,
                v: $vector,
                _: $vector,
                _: $vector,
                joined: $vector,
            ) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesenclast(v, joined) }
            }

            #[inline(always)]
            fn decrypt_round(self, v: $vector, _: $vector, after: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesdec(v, after) }
            }

            #[inline(always)]
            fn decrypt_last_round(
                self,
                v: $vector,
                _: $vector,
                _: $vector,
                joined: $vector,
            ) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesdeclast(v, joined) }
            }

            #[inline(always)]
            fn order(self, v: $vector) -> $vector {
                self.here(v)
            }

            #[inline(always)]
            fn round(self, v: $vector, key: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::aesenc(v, key) }
            }

            #[inline(always)]
            fn inv_mix_columns(self, block: Block) -> Block {
                // AESIMC exists for one block only.
                // SAFETY: the token proves the features.
                unsafe { xmm::inv_mix_columns(&block) }
            }

            forward! { $leaf:
                fn sub_last_words<const ROTATE: bool>(v: Self::V, constant: u8) -> Self::V;
            }
        }

        impl Clmul for $token {
            forward! { $leaf:
                fn clmul_low(a: Self::V, b: Self::V) -> Self::V;
                fn clmul_high(a: Self::V, b: Self::V) -> Self::V;
                fn clmul_low_high(a: Self::V, b: Self::V) -> Self::V;
                fn clmul_high_low(a: Self::V, b: Self::V) -> Self::V;
                fn times_matrix(v: Self::V, matrix: Self::V) -> Self::V;
            }
        }
    };
}
