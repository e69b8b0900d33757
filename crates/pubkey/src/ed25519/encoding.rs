//! Lengths, encodings and hashes of Ed25519.

use alloc::vec::Vec;

use lanelock_digest::{HashJob, Levels, algorithm::Sha512, hash_all};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a secret key, of a public key, and of each half of a signature.
pub(super) const BYTES: usize = 32;
/// Bytes of a hash and of a signature.
pub(super) const WIDE: usize = 64;

/// 2^255 - 19, the lowest byte first.
pub(super) const P: [u8; BYTES] = {
    let mut bytes = [0xff; BYTES];
    bytes[0] = 0xed;
    bytes[BYTES - 1] = 0x7f;
    bytes
};
/// The order of the base point, the lowest byte first.
pub(super) const ORDER: [u8; BYTES] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The coordinates y of the points of low order: of order 1 and 2, of order 4, of order 8.
const LOW_ORDER: [[u8; BYTES]; 5] = {
    let (zero, mut one, mut minus_one) = ([0; BYTES], [0; BYTES], P);
    one[0] = 1;
    minus_one[0] -= 1;
    let first = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    let second = [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ];
    [one, minus_one, zero, first, second]
};

/// SHA-512 of each message.
pub(super) fn hash<'m>(
    levels: Levels,
    messages: impl Iterator<Item = &'m [u8]>,
) -> Zeroizing<Vec<[u8; WIDE]>> {
    let mut jobs: Vec<_> = messages.map(HashJob::<Sha512>::new).collect();
    hash_all(levels, &mut jobs);
    let hashes = jobs.iter().map(|job| job.digest).collect();
    for job in &mut jobs {
        job.digest.zeroize();
    }
    Zeroizing::new(hashes)
}

pub(super) fn halves(bytes: &[u8; WIDE]) -> [&[u8; BYTES]; 2] {
    let (halves, _) = bytes.as_chunks();
    [&halves[0], &halves[1]]
}

/// Whether 8 times the point of a canonical encoding is the neutral element.
pub(super) fn has_low_order(encoding: &[u8; BYTES]) -> bool {
    let mut y = *encoding;
    y[BYTES - 1] &= 0x7f;
    LOW_ORDER.contains(&y)
}

/// Whether a public number, the lowest byte first, is below a limit; of its highest byte these bits count.
pub(super) fn is_below(number: &[u8; BYTES], limit: &[u8; BYTES], bits: u8) -> bool {
    let mut number = *number;
    number[BYTES - 1] &= bits;
    number.iter().rev().lt(limit.iter().rev())
}
