//! Published times of AES-128 on an ARMv8 processor, by its AES instructions and without, and the same
//! on this one: blocks that do not depend on each other, one, four or eight in flight.
//!
//! ```
//! use lanelock::AesLevel;
//! use lanelock_speed::arm_table::{Cell, PUBLISHED, SIZES};
//!
//! assert_eq!((PUBLISHED[1].0, SIZES[1], PUBLISHED[1].1[1]), ("AES instructions", 1024, Some(2560.72)));
//! let cell = Cell { decrypt: false, key_bits: 128, in_flight: 4, size: 1024 };
//! let mut data = vec![[0; 16]; 64];
//! cell.run(AesLevel::fastest(), &mut data);
//! assert!(!Cell { size: 16, ..cell }.exists()); // one block, and never four in flight
//! ```

use lanelock::AesLevel;
use lanelock_isa::{AesClmul, AesRounds as _, Block, Blocks as _, Kernel};

use crate::clock;

/// The columns, in bytes.
pub const SIZES: [usize; 3] = [16, 1 << 10, 1 << 20];

/// Blocks in flight.
pub const IN_FLIGHT: [usize; 3] = [1, 4, 8];

/// What was published: nanoseconds for the encryption of a message of each of [`SIZES`] with AES-128,
/// from .NET on an ARMv8 server in a cloud.
pub const PUBLISHED: [(&str, [Option<f64>; 3]); 5] = [
    ("OpenSSL", [Some(845.92), Some(3970.90), Some(3_521_992.0)]),
    ("AES instructions", [Some(69.18), Some(2560.72), Some(2_899_086.0)]),
    ("the same, 4 in flight", [None, Some(1919.83), Some(2_094_698.0)]),
    ("BouncyCastle, fast", [Some(1130.88), Some(59_282.0), Some(60_573_569.0)]),
    ("BouncyCastle, slow", [Some(1236.72), Some(67_591.0), Some(69_124_218.0)]),
];

/// A figure of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Decrypts; otherwise it encrypts.
    pub decrypt: bool,
    /// 128, 192 or 256.
    pub key_bits: u16,
    /// One of [`IN_FLIGHT`].
    pub in_flight: usize,
    /// Bytes, a multiple of 16.
    pub size: usize,
}

impl Cell {
    /// Whether the message has so many blocks.
    pub fn exists(self) -> bool {
        self.size >= 16 * self.in_flight
    }

    /// Nanoseconds that the message takes at `level`; `None` if it has fewer blocks than are to be in flight.
    pub fn nanoseconds(self, level: AesLevel, passes: usize) -> Option<f64> {
        if !self.exists() {
            return None;
        }
        let mut data = vec![[0x5a; 16]; self.size / 16];
        let sample = clock::measure(101, passes, || self.run(level, &mut data));
        Some(sample.cycles / clock::gigahertz())
    }

    /// What is measured: all rounds over each block, with round keys that stand for any others. The time
    /// does not depend on them.
    pub fn run(self, level: AesLevel, data: &mut [Block]) {
        match self.in_flight {
            8 => self.run_in_flight::<8>(level, data),
            4 => self.run_in_flight::<4>(level, data),
            _ => self.run_in_flight::<1>(level, data),
        }
    }

    fn run_in_flight<const N: usize>(self, level: AesLevel, data: &mut [Block]) {
        match (self.key_bits, self.decrypt) {
            (256, decrypt) => level.run(InFlight::<N, 15> { data, decrypt }),
            (192, decrypt) => level.run(InFlight::<N, 13> { data, decrypt }),
            (_, decrypt) => level.run(InFlight::<N, 11> { data, decrypt }),
        }
    }
}

/// Every block through a cipher with `R` round keys, `N` single blocks at a time.
struct InFlight<'a, const N: usize, const R: usize> {
    data: &'a mut [Block],
    decrypt: bool,
}

impl<const N: usize, const R: usize> Kernel for InFlight<'_, N, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let s = s.narrow();
        let key: Block = std::hint::black_box([0x5a; 16]);
        let keys = [s.key(&key); R];
        for group in self.data.chunks_exact_mut(N) {
            let mut v = [s.zero(); N];
            for i in 0..N {
                v[i] = s.load(&group[i..]);
            }
            v = if self.decrypt { s.decrypt::<N>(v, keys) } else { s.encrypt::<N>(v, keys) };
            for i in 0..N {
                s.store(v[i], &mut group[i..]);
            }
        }
    }
}
