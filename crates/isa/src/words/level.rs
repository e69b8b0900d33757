//! A level of words in terms of its leaves.

/// Makes a token: its detection, its entry and its [`Words`] of both sizes, all from one feature list. `frame`
/// names what prepares the frame of the entry.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $token:ident, bytes $bytes:literal,
        $(frame $frame:ident,)? enable $enable:literal, detect [$($feature:tt),+],
        $(words $word:ident as $v:ty, lanes $lanes:literal, leaves $leaf:ident;)+
        products as $wide:ty, leaves $products:ident;
        $(limbs $limbs:ident;)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token {
            pairs: bool,
            $(
                /// Limbs in the same vectors, where the processor has them too.
                limbs: Option<$limbs>,
            )?
        }

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;
            /// Words of 32 bits in a vector.
            pub(crate) const LANES: usize = $bytes / 4;

            pub(crate) fn detect() -> Option<Self> {
                let here = || Self { pairs: false, $(limbs: $limbs::detect(),)? };
                (has_features!($($feature),+)).then(|| here().with_ways(Processor::host().ways()))
            }

            /// The same on a processor of these ways. AVX2 has 16 registers, too few for a pair.
            pub(crate) fn with_ways(mut self, ways: Ways) -> Self {
                self.pairs = ways.pairs_are_fast() && <Self as Words<u32>>::MANY_REGISTERS;
                self
            }

            $(
                /// The same as on a processor without limbs, or with them if it has them.
                pub(crate) fn with_limbs(mut self, limbs: bool) -> Self {
                    self.limbs = limbs.then(|| $limbs::detect()).flatten();
                    self
                }
            )?

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: WordKernel>(self, kernel: K) -> K::Out {
                enter!(
                    $token, self, kernel, WordKernel, enable $enable, $(frame $frame,)?
                    |s, kernel| <K::Word as Word>::enter(s, kernel)
                )
            }
        }

        impl Sealed for $token {}

        $(
            impl Words<$word> for $token {
                type V = $v;
                type Wide = Self;
                const LANES: usize = $lanes;
                const MANY_REGISTERS: bool = $bytes != 32;

                #[inline(always)]
                fn pairs(self) -> bool {
                    self.pairs
                }

                #[inline(always)]
                fn wide(self) -> Self {
                    self
                }

                #[inline(always)]
                fn splat(self, word: $word) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::splat(word) }
                }

                #[inline(always)]
                fn load(self, src: &[$word]) -> $v {
                    let Some(words) = src.first_chunk::<$lanes>() else { too_few() };
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::load(words) }
                }

                #[inline(always)]
                fn store(self, v: $v, dst: &mut [$word]) {
                    let Some(words) = dst.first_chunk_mut::<$lanes>() else { too_few() };
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::store(v, words) }
                }

                #[inline(always)]
                fn load_bytes(self, src: &[u8]) -> $v {
                    let Some(bytes) = src.first_chunk::<$bytes>() else { too_few() };
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::load_bytes(bytes) }
                }

                #[inline(always)]
                fn store_bytes(self, v: $v, dst: &mut [u8]) {
                    let Some(bytes) = dst.first_chunk_mut::<$bytes>() else { too_few() };
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::store_bytes(v, bytes) }
                }

                #[inline(always)]
                fn gather(self, rows: &[&[u8]], mut at: usize, words: &mut [$v]) {
                    /// As many words as there are rows are a square, which is turned in registers.
                    #[inline(always)]
                    fn square(s: $token, rows: &[&[u8]; $lanes], at: usize) -> [$v; $lanes] {
                        let mut square = [Words::<$word>::splat(s, 0); $lanes];
                        for lane in 0..$lanes {
                            square[lane] = Words::<$word>::load_bytes(s, &rows[lane][at..]);
                        }
                        // SAFETY: the token proves the features.
                        unsafe { $leaf::turn(&square) }
                    }

                    let Some(rows) = rows.first_chunk::<$lanes>() else { too_few() };
                    let (squares, rest) = words.as_chunks_mut::<$lanes>();
                    let whole = squares.len();
                    for words in squares {
                        *words = square(self, rows, at);
                        at += $bytes;
                    }
                    let left = rest.len();
                    if whole > 0 && left > 0 {
                        // The square that ends with the last word, though some of it was read before.
                        let last = square(self, rows, at - ($lanes - left) * size_of::<$word>());
                        for word in 0..left {
                            rest[word] = last[$lanes - left + word];
                        }
                        return;
                    }
                    for words in rest {
                        let mut lanes = [0; $lanes];
                        for lane in 0..$lanes {
                            lanes[lane] = <$word as Word>::read_le(&rows[lane][at..]);
                        }
                        *words = Words::<$word>::load(self, &lanes);
                        at += size_of::<$word>();
                    }
                }

                #[inline(always)]
                fn turn(self, words: [$v; 16]) -> [$v; 16] {
                    let mut turned = words;
                    let (squares, _) = words.as_chunks::<$lanes>();
                    for (number, square) in squares.iter().enumerate() {
                        // SAFETY: the token proves the features.
                        let square = unsafe { $leaf::turn(square) };
                        for lane in 0..$lanes {
                            turned[lane * (16 / $lanes) + number] = square[lane];
                        }
                    }
                    turned
                }

                #[inline(always)]
                fn splat_row(self, row: &[u8; 16]) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::splat_row(row) }
                }

                #[inline(always)]
                fn next_words<const N: usize>(self, v: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::next_words::<N>(v) }
                }

                #[inline(always)]
                fn turn_rows(self, rows: [$v; 4]) -> [$v; 4] {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::turn_rows(rows) }
                }

                #[inline(always)]
                fn swap_bytes(self, v: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::swap_bytes(v) }
                }

                #[inline(always)]
                fn add(self, a: $v, b: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::add(a, b) }
                }

                #[inline(always)]
                fn xor(self, a: $v, b: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::xor(a, b) }
                }

                #[inline(always)]
                fn and(self, a: $v, b: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::and(a, b) }
                }

                #[inline(always)]
                fn and_not(self, a: $v, b: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::and_not(a, b) }
                }

                #[inline(always)]
                fn rotate_left<const N: u32>(self, v: $v) -> $v {
                    const { assert!(N < $word::BITS) }
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::rotate_left::<N>(v) }
                }

                #[inline(always)]
                fn shift_right<const N: u32>(self, v: $v) -> $v {
                    const { assert!(N < $word::BITS) }
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::shift_right::<N>(v) }
                }

                #[inline(always)]
                fn xor3(self, a: $v, b: $v, c: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::xor3(a, b, c) }
                }

                #[inline(always)]
                fn choose(self, mask: $v, a: $v, b: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::choose(mask, a, b) }
                }

                #[inline(always)]
                fn majority(self, a: $v, b: $v, c: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::majority(a, b, c) }
                }

                #[inline(always)]
                fn xor_and_not(self, a: $v, b: $v, c: $v) -> $v {
                    // SAFETY: the token proves the features.
                    unsafe { $leaf::xor_and_not(a, b, c) }
                }
            }
        )+

        impl Products for $token {
            #[inline(always)]
            fn times(self, a: $wide, b: $wide) -> $wide {
                // SAFETY: the token proves the features.
                unsafe { $products::times(a, b) }
            }

            #[inline(always)]
            fn unzip(self, a: $wide, b: $wide) -> [$wide; 2] {
                // SAFETY: the token proves the features.
                unsafe { $products::unzip(a, b) }
            }

            $(
                #[inline(always)]
                fn in_limbs<K: GroupKernel>(self, kernel: K) -> Result<K::Out, K> {
                    let limbs: Option<$limbs> = self.limbs;
                    match limbs {
                        Some(limbs) => Ok(limbs.run_groups(kernel)),
                        None => Err(kernel),
                    }
                }
            )?
        }
    };
}
