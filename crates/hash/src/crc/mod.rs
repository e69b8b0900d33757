//! CRCs by carry-less folding: one algorithm, any reflected polynomial of 32 or 64 bits.
//!
//! A CRC finds accidents, not attacks: anyone can make a message with a given one.

mod fold;
mod matrix;
mod polynomial;

use core::fmt;

use lanelock_isa::{AesLevel, LevelError};

use fold::Update;
use lanelock_core::parts::default_level;
use matrix::{Matrices, UpdateByMatrices, WORTH_IT};
use polynomial::Polynomial;

macro_rules! crc {
    ($(#[$doc:meta])* $name:ident, $value:ty, $polynomial:literal) => {
        $(#[$doc])*
        ///
        /// The value of the struct is a checksum in progress: [`update`](Self::update) it with pieces
        /// of any length.
        #[derive(Clone)]
        pub struct $name {
            register: $value,
            level: AesLevel,
        }

        impl $name {
            const CONSTANTS: &Constants = {
                static CONSTANTS: Constants = Constants::new($polynomial, <$value>::BITS);
                &CONSTANTS
            };

            /// The checksum of `data`, at the best level: see [`AesLevel::best`].
            ///
            /// # Errors
            /// As [`Aes128::new`](lanelock_core::Aes128::new).
            pub fn checksum(data: &[u8]) -> Result<$value, LevelError> {
                let mut crc = Self::new()?;
                crc.update(data);
                Ok(crc.finish())
            }

            /// Starts a checksum at the best level.
            ///
            /// # Errors
            /// As [`Aes128::new`](lanelock_core::Aes128::new).
            pub fn new() -> Result<Self, LevelError> {
                Ok(Self::with_level(default_level()?))
            }

            /// Starts a checksum at `level`.
            pub fn with_level(level: AesLevel) -> Self {
                Self { register: <$value>::MAX, level }
            }

            /// Continues, at the best level, behind the data that has the checksum `value`.
            ///
            /// # Errors
            /// As [`Aes128::new`](lanelock_core::Aes128::new).
            pub fn resume(value: $value) -> Result<Self, LevelError> {
                Ok(Self::resume_with_level(value, default_level()?))
            }

            /// Continues, at `level`, behind the data that has the checksum `value`.
            pub fn resume_with_level(value: $value, level: AesLevel) -> Self {
                Self { register: !value, level }
            }

            /// Takes the next piece of the data.
            pub fn update(&mut self, data: &[u8]) {
                let value = u64::from(self.register);
                self.register = Self::narrow(update(self.level, Self::CONSTANTS, value, data));
            }

            /// The checksum of the data up to here.
            pub fn finish(&self) -> $value {
                !self.register
            }

            /// The checksum of two pieces of data, from the checksum of each and the length of the
            /// second in bytes.
            pub const fn combine(first: $value, second: $value, second_len: u64) -> $value {
                Self::narrow(Self::CONSTANTS.polynomial.after_zeros(first as u64, second_len)) ^ second
            }

            #[allow(clippy::cast_possible_truncation, reason = "only 64 to 32 bits truncates")]
            const fn narrow(register: u64) -> $value {
                register as $value
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:x}, {})", stringify!($name), self.finish(), self.level)
            }
        }
    };
}

crc!(
    /// The CRC of Ethernet, gzip, zip and PNG (IEEE 802.3; in catalogues CRC-32/ISO-HDLC).
    Crc32, u32, 0xedb8_8320
);
crc!(
    /// The CRC of iSCSI, SCTP, ext4 and Btrfs (G. Castagnoli's polynomial, RFC 3720; in catalogues
    /// CRC-32/ISCSI).
    Crc32c, u32, 0x82f6_3b78
);
crc!(
    /// The CRC of NVMe's 64-bit protection information and of Amazon S3 (NVM Command Set
    /// Specification, 5.2.1; in catalogues CRC-64/NVME).
    Crc64Nvme, u64, 0x9a6c_9329_ac4b_c9b5
);
crc!(
    /// The CRC of .xz files (the polynomial of ECMA-182, reflected; in catalogues CRC-64/XZ).
    Crc64Xz, u64, 0xc96c_5795_d787_0f42
);

/// What is computed from the polynomial of a CRC, at compile time.
struct Constants {
    polynomial: Polynomial,
    /// How to fold by matrices instead, if there are only 32 bits.
    matrices: Option<Matrices>,
}

impl Constants {
    /// `reflected` is the polynomial without the highest term, `bits` the width of the CRC.
    const fn new(reflected: u64, bits: u32) -> Self {
        let polynomial = Polynomial::new(reflected);
        let matrices = if bits == 32 { Some(Matrices::new(&polynomial)) } else { None };
        Self { polynomial, matrices }
    }
}

/// The register `value` after `data`.
#[inline]
fn update(level: AesLevel, constants: &Constants, value: u64, data: &[u8]) -> u64 {
    let Constants { polynomial, matrices } = constants;
    // Without an instruction for it a carry-less product costs more than tables.
    if let AesLevel::Portable(_) = level {
        return sliced(polynomial, value, data);
    }
    let update = Update { polynomial, value, data };
    match matrices {
        Some(matrices) if data.len() >= WORTH_IT && level.ways().matrices_are_fast() => {
            level.run(UpdateByMatrices { matrices, update })
        }
        _ => level.run(update),
    }
}

/// Eight bytes a step, from eight tables.
fn sliced(polynomial: &Polynomial, mut value: u64, data: &[u8]) -> u64 {
    // The register after eight bytes is the sum of what each of them leaves after the bytes behind
    // it: byte k of eight has 7 - k of them.
    let slices = &polynomial.slices;
    let (words, rest) = data.as_chunks();
    for word in words {
        let bytes = (value ^ u64::from_le_bytes(*word)).to_le_bytes();
        value = 0;
        for (k, byte) in bytes.into_iter().enumerate() {
            value ^= slices[7 - k][usize::from(byte)];
        }
    }
    for byte in rest {
        let [low, ..] = value.to_le_bytes();
        value = (value >> 8) ^ slices[0][usize::from(low ^ byte)];
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The portable level has products and matrices too, though no CRC is computed by them.
    #[test]
    fn folding_on_the_portable_level_is_what_the_tables_say() {
        let level = "portable".parse::<AesLevel>().unwrap();
        let data: Vec<u8> = (0..4000_u32).map(|i| (i % 251) as u8).collect();
        for constants in [Crc32::CONSTANTS, Crc32c::CONSTANTS, Crc64Nvme::CONSTANTS] {
            let Constants { polynomial, matrices } = constants;
            for length in (0..300).chain(760..1030).chain(1530..1540).chain(3990..=4000) {
                let (value, data) = (0x0123_4567 * length as u64 % (1 << 32), &data[..length]);
                let expected = sliced(polynomial, value, data);
                let update = Update { polynomial, value, data };
                assert_eq!(level.run(update), expected, "{length} bytes");
                if let Some(matrices) = matrices
                    && length >= 768
                {
                    let update = Update { polynomial, value, data };
                    let got = level.run(UpdateByMatrices { matrices, update });
                    assert_eq!(got, expected, "{length} bytes by matrices");
                }
            }
        }
    }
}
