//! The four schemes (ISO/IEC 23001-7, clause 10) and their IVs.

use core::fmt;

use crate::map::Alignment;

/// A protection scheme.
///
/// ```
/// use lanelock_cenc::Scheme;
///
/// assert_eq!(Scheme::from_fourcc(*b"cbcs"), Some(Scheme::Cbcs)); // the code in `schm`
/// assert!(Scheme::Cbcs.has_pattern() && !Scheme::Cbcs.is_ctr());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// AES-CTR over all protected bytes (10.1).
    Cenc,
    /// AES-CBC over all protected bytes (10.2).
    Cbc1,
    /// AES-CTR with a pattern (10.3).
    Cens,
    /// AES-CBC with a pattern, chains that restart at every subsample (10.4).
    Cbcs,
}

impl Scheme {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Cenc, Self::Cbc1, Self::Cens, Self::Cbcs];

    /// The four-character code of `schm`.
    pub const fn fourcc(self) -> [u8; 4] {
        match self {
            Self::Cenc => *b"cenc",
            Self::Cbc1 => *b"cbc1",
            Self::Cens => *b"cens",
            Self::Cbcs => *b"cbcs",
        }
    }

    /// The scheme of that four-character code.
    pub fn from_fourcc(code: [u8; 4]) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.fourcc() == code)
    }

    /// Its name, which is its four-character code.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cenc => "cenc",
            Self::Cbc1 => "cbc1",
            Self::Cens => "cens",
            Self::Cbcs => "cbcs",
        }
    }

    /// Whether it has a pattern, in `tenc` of version 1.
    pub const fn has_pattern(self) -> bool {
        matches!(self, Self::Cens | Self::Cbcs)
    }

    /// Whether it is AES-CTR, whose key stream must never be used twice.
    pub const fn is_ctr(self) -> bool {
        matches!(self, Self::Cenc | Self::Cens)
    }

    /// How the protected part of a slice lies in it.
    pub const fn alignment(self) -> Alignment {
        match self {
            Self::Cbcs => Alignment::Exact,
            Self::Cenc | Self::Cbc1 | Self::Cens => Alignment::Blocks,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Moves a per-sample IV on, from a sample with `protected` protected bytes to the next one, so that
/// no counter block comes twice (9.3): an IV of 8 bytes counts samples, one of 16 bytes counts blocks
/// in its low 64 bits.
///
/// ```
/// let mut iv = [0; 16];
/// lanelock_cenc::next_iv(&mut iv, 8, 100);
/// assert_eq!(iv[..8], 1_u64.to_be_bytes()); // the next sample
/// let mut iv = [0; 16];
/// lanelock_cenc::next_iv(&mut iv, 16, 100);
/// assert_eq!(iv[8..], 7_u64.to_be_bytes()); // behind 7 blocks
/// ```
pub fn next_iv(iv: &mut [u8; 16], size: u8, protected: u64) {
    advance_iv(iv, size, 1, iv_blocks(protected));
}

/// Moves a per-sample IV on past `samples` samples, whose [`iv_blocks`] are `blocks` together: what
/// [`next_iv`] does for them one by one.
pub fn advance_iv(iv: &mut [u8; 16], size: u8, samples: u64, blocks: u64) {
    let (half, step) = if size == 8 { (0, samples) } else { (8, blocks) };
    if let Some(bytes) = iv[half..].first_chunk_mut::<8>() {
        *bytes = u64::from_be_bytes(*bytes).wrapping_add(step).to_be_bytes();
    }
}

/// How far an IV of 16 bytes moves on for a sample with `protected` protected bytes.
pub const fn iv_blocks(protected: u64) -> u64 {
    let blocks = protected.div_ceil(16);
    if blocks == 0 { 1 } else { blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_samples_at_once() {
        for size in [8, 16] {
            let mut one_by_one = [0xfe; 16];
            let (mut at_once, mut blocks) = (one_by_one, 0);
            for bytes in [0, 1, 16, 17, 1 << 40] {
                next_iv(&mut one_by_one, size, bytes);
                blocks += iv_blocks(bytes);
            }
            advance_iv(&mut at_once, size, 5, blocks);
            assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn ivs_move_on() {
        let mut iv = [0xff; 16];
        next_iv(&mut iv, 8, 1000);
        assert_eq!(iv[..8], [0; 8], "8 bytes count samples, modulo 2^64");
        assert_eq!(iv[8..], [0xff; 8]);
        let mut iv = [0; 16];
        next_iv(&mut iv, 16, 33);
        assert_eq!(iv[15], 3, "16 bytes count blocks, the partial one included");
        next_iv(&mut iv, 16, 0);
        assert_eq!(iv[15], 4, "every sample has an IV of its own");
        let mut iv = [0xff; 16];
        next_iv(&mut iv, 16, 16);
        assert_eq!(iv[..8], [0xff; 8], "no carry into the high half");
    }

    #[test]
    fn codes_round_trip() {
        for scheme in Scheme::ALL {
            assert_eq!(Scheme::from_fourcc(scheme.fourcc()), Some(scheme));
            assert_eq!(scheme.name().as_bytes(), scheme.fourcc());
        }
        assert_eq!(Scheme::from_fourcc(*b"piff"), None);
    }
}
