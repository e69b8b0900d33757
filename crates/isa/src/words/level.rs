//! A level of words in terms of its leaves.

/// Makes a token: its detection, its entry and its [`Words`], all from one feature list. `frame` names what
/// prepares the frame of the entry.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $token:ident, lanes $lanes:literal, $vector:ty, leaves $leaf:ident, $(frame $frame:ident,)?
        enable $enable:literal, detect [$($feature:tt),+]
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(());

        impl $token {
            /// The CPU features that this level requires.
            pub const REQUIRES: &str = $enable;

            pub(crate) fn detect() -> Option<Self> {
                (has_features!($($feature),+)).then_some(Self(()))
            }

            /// Runs `kernel` with this level's instructions.
            pub(crate) fn run<K: WordKernel>(self, kernel: K) -> K::Out {
                #[target_feature(enable = $enable)]
                fn entry<K: WordKernel>(token: $token, kernel: K) -> K::Out {
                    $($frame();)?
                    kernel.run(token)
                }
                // SAFETY: a token exists only where `detect` found every feature enabled here.
                unsafe { entry(self, kernel) }
            }
        }

        impl Sealed for $token {}

        impl Words for $token {
            type V = $vector;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, word: u32) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::splat(word) }
            }

            #[inline(always)]
            fn load(self, src: &[u32]) -> $vector {
                let Some(words) = src.first_chunk() else { too_few() };
                // SAFETY: the token proves the features.
                unsafe { $leaf::load(words) }
            }

            #[inline(always)]
            fn store(self, v: $vector, dst: &mut [u32]) {
                let Some(words) = dst.first_chunk_mut() else { too_few() };
                // SAFETY: the token proves the features.
                unsafe { $leaf::store(v, words) }
            }

            #[inline(always)]
            fn gather_words_le(self, blocks: &[&[u8; 64]], at: usize) -> $vector {
                let Some(blocks) = blocks.first_chunk::<$lanes>() else { too_few() };
                let mut words = [0; $lanes];
                for lane in 0..$lanes {
                    words[lane] = u32::from_le_bytes(blocks[lane].as_chunks().0[at]);
                }
                // SAFETY: the token proves the features.
                unsafe { $leaf::load(&words) }
            }

            #[inline(always)]
            fn gather_words_be(self, blocks: &[&[u8; 64]], at: usize) -> $vector {
                let words = self.gather_words_le(blocks, at);
                // SAFETY: the token proves the features.
                unsafe { $leaf::swap_bytes(words) }
            }

            #[inline(always)]
            fn add(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::add(a, b) }
            }

            #[inline(always)]
            fn xor(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::xor(a, b) }
            }

            #[inline(always)]
            fn and(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::and(a, b) }
            }

            #[inline(always)]
            fn and_not(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the token proves the features.
                unsafe { $leaf::and_not(a, b) }
            }

            #[inline(always)]
            fn rotate_left<const N: u32>(self, v: $vector) -> $vector {
                const { assert!(N < 32) }
                // SAFETY: the token proves the features.
                unsafe { $leaf::rotate_left::<N>(v) }
            }

            #[inline(always)]
            fn shift_right<const N: u32>(self, v: $vector) -> $vector {
                const { assert!(N < 32) }
                // SAFETY: the token proves the features.
                unsafe { $leaf::shift_right::<N>(v) }
            }
        }
    };
}

#[cold]
#[inline(never)]
pub(super) fn too_few() -> ! {
    panic!("fewer words or blocks than a vector has lanes")
}
