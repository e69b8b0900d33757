//! What the functions of NIST SP 800-185 are made of: cSHAKE, and numbers and strings as bytes.

use lanelock_isa::ShaLevel;

use crate::{algorithm::Keccak, hash::Hash};

/// The sponge of cSHAKE (3.3).
pub(crate) type Custom<const RATE: usize> = Hash<Keccak<RATE, 24, 0x04, 32>>;

/// cSHAKE with a name of a function and what the caller uses it for, of which one is not empty.
pub(crate) fn custom<const RATE: usize>(
    level: ShaLevel,
    name: &[u8],
    customization: &[u8],
) -> Custom<RATE> {
    let mut hash = Custom::with_level(level);
    byte_pad(&mut hash, &[name, customization]);
    hash
}

/// `bytepad` of the encodings of these strings (2.3.2, 2.3.3): whole blocks.
pub(crate) fn byte_pad<const RATE: usize>(hash: &mut Custom<RATE>, strings: &[&[u8]]) {
    left_encode(hash, RATE as u64);
    for string in strings {
        left_encode(hash, string.len() as u64 * 8);
        hash.update(string);
    }
    while !hash.length().is_multiple_of(RATE as u64) {
        hash.update(&[0]);
    }
}

/// `left_encode` (2.3.1).
pub(crate) fn left_encode<const RATE: usize>(hash: &mut Custom<RATE>, number: u64) {
    encode(number, |bytes, count| {
        hash.update(&[count]);
        hash.update(bytes);
    });
}

/// `right_encode` (2.3.1).
pub(crate) fn right_encode<const RATE: usize>(hash: &mut Custom<RATE>, number: u64) {
    encode(number, |bytes, count| {
        hash.update(bytes);
        hash.update(&[count]);
    });
}

/// The bytes of a number without leading zeros, at least one, and how many there are.
pub(crate) fn encode(number: u64, mut take: impl FnMut(&[u8], u8)) {
    let bytes = number.to_be_bytes();
    for (zeros, count) in (0..8).zip((1..=8).rev()) {
        if bytes[zeros] != 0 || count == 1 {
            return take(&bytes[zeros..], count);
        }
    }
}
