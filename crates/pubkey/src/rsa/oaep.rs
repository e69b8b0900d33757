//! The padding of OAEP: RFC 8017, section 7.1.

use alloc::{vec, vec::Vec};
use lanelock_core::parts::{passed, public_length};
use lanelock_digest::ShaLevel;
use zeroize::Zeroizing;

use super::mask;
use crate::{Error, Hash, Random};

/// The hashes and the label.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a> {
    pub(super) hash: Hash,
    pub(super) mask: Hash,
    pub(super) label: &'a [u8],
}

/// The encoded message of a plaintext in `length` bytes: RFC 8017, section 7.1.1.
///
/// # Errors
/// [`Error::Range`] if it is too long; [`Error::Random`].
pub(super) fn pad(
    level: ShaLevel,
    parameters: Parameters<'_>,
    message: &[u8],
    length: usize,
    random: &mut dyn Random,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let Parameters { hash, mask, label } = parameters;
    let digest = hash.length();
    if length < message.len() + 2 * digest + 2 {
        return Err(Error::Range("the message"));
    }
    let mut encoded = Zeroizing::new(vec![0; length]);
    let (seed, block) = encoded[1..].split_at_mut(digest);
    random.fill(seed)?;
    let start = block.len() - message.len();
    block[..digest].copy_from_slice(&hash.of(level, &[label]));
    block[start - 1] = 1;
    block[start..].copy_from_slice(message);
    mask.mask(level, seed, block);
    mask.mask(level, block, seed);
    Ok(encoded)
}

/// The plaintext of an encoded message: RFC 8017, section 7.1.2.
///
/// Neither time nor addresses tell why one is refused (J. Manger, 2001), nor how long the message is, but for the length
/// of the result.
///
/// # Errors
/// [`Error::Decryption`], whatever is wrong.
pub(super) fn unpad(
    level: ShaLevel,
    parameters: Parameters<'_>,
    mut encoded: Zeroizing<Vec<u8>>,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let Parameters { hash, mask: mask_hash, label } = parameters;
    let digest = hash.length();
    if encoded.len() < 2 * digest + 2 {
        return Err(Error::Decryption);
    }
    let (first, rest) = encoded.split_at_mut(1);
    let (seed, block) = rest.split_at_mut(digest);
    mask_hash.mask(level, block, seed);
    mask_hash.mask(level, seed, block);

    let mut difference = first[0];
    for (byte, expected) in block.iter().zip(hash.of(level, &[label]).iter()) {
        difference |= byte ^ expected;
    }
    let mut good = mask::equal(difference.into(), 0);
    let (mut start, mut found) = (0, 0);
    for (at, &byte) in block.iter().enumerate().skip(digest) {
        let one = mask::equal(byte.into(), 1);
        start = mask::select(one & !found, at + 1, start);
        found |= one;
        good &= found | mask::equal(byte.into(), 0);
    }
    good &= found;
    if !passed(good) {
        return Err(Error::Decryption);
    }
    let mut message = Zeroizing::new(block.to_vec());
    mask::move_to_front(&mut message, start);
    message.truncate(public_length(block.len() - start));
    Ok(message)
}
