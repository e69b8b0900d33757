//! Little-endian numbers of 32 bytes as words of 64 bits, into lanes and out of them.

use lanelock_isa::{Limbs, MOST_LIMBS};
use zeroize::Zeroizing;

/// Numbers of 32 little-endian bytes, one a lane, as words of 64 bits. Wiped when dropped.
pub(crate) struct LaneWords(Zeroizing<[[u64; MOST_LIMBS]; 4]>);

impl LaneWords {
    /// Zero in all lanes.
    pub(crate) fn new() -> Self {
        Self(Zeroizing::new([[0; MOST_LIMBS]; 4]))
    }

    /// Takes a number for each lane, from the first on; the lanes that are left over keep theirs.
    #[inline(always)]
    pub(crate) fn set<'a>(&mut self, numbers: impl IntoIterator<Item = &'a [u8; 32]>) {
        for (lane, number) in numbers.into_iter().enumerate() {
            let (words, _) = number.as_chunks::<8>();
            for (lanes, word) in self.0.iter_mut().zip(words) {
                lanes[lane] = u64::from_le_bytes(*word);
            }
        }
    }

    /// The numbers of the lanes, from the first on.
    #[inline(always)]
    pub(crate) fn get<'a>(&self, numbers: impl IntoIterator<Item = &'a mut [u8; 32]>) {
        for (lane, number) in numbers.into_iter().enumerate() {
            let (words, _) = number.as_chunks_mut::<8>();
            for (lanes, word) in self.0.iter().zip(words) {
                *word = lanes[lane].to_le_bytes();
            }
        }
    }

    /// As vectors.
    #[inline(always)]
    pub(crate) fn load<S: Limbs>(&self, s: S) -> [S::V; 4] {
        let [a, b, c, d] = &*self.0;
        [s.load(a), s.load(b), s.load(c), s.load(d)]
    }

    /// Numbers of 64 bytes as vectors of both halves, the lower first.
    #[inline(always)]
    pub(crate) fn load_wide<S: Limbs>(&mut self, s: S, numbers: &[[u8; 64]]) -> [[S::V; 4]; 2] {
        self.set(numbers.iter().map(|number| &number.as_chunks().0[0]));
        let lower = self.load(s);
        self.set(numbers.iter().map(|number| &number.as_chunks().0[1]));
        [lower, self.load(s)]
    }

    /// From vectors.
    #[inline(always)]
    pub(crate) fn store<S: Limbs>(&mut self, s: S, words: [S::V; 4]) {
        for (lanes, word) in self.0.iter_mut().zip(words) {
            s.store(word, lanes);
        }
    }
}
