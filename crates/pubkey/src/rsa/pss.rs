//! The encoding of PSS: RFC 8017, section 9.1.

use alloc::{vec, vec::Vec};
use lanelock_digest::ShaLevel;

use crate::{Error, Hash};

/// The hashes and the length of the salt.
#[derive(Clone, Copy)]
pub(super) struct Parameters {
    pub(super) hash: Hash,
    pub(super) mask: Hash,
    pub(super) salt: usize,
}

/// The encoded message of a digest for a modulus of `bits` bits, in as many bytes as it: RFC 8017, section 9.1.1.
///
/// # Errors
/// [`Error::Range`] if there is no room for the salt.
pub(super) fn encode(
    level: ShaLevel,
    parameters: Parameters,
    digest: &[u8],
    salt: &[u8],
    bits: usize,
) -> Result<Vec<u8>, Error> {
    let Parameters { hash, mask, .. } = parameters;
    let length = (bits - 1).div_ceil(8);
    let Some(zeros) = length.checked_sub(hash.length() + salt.len() + 2) else {
        return Err(Error::Range("the salt"));
    };
    let digest = hash.of(level, &[&[0; 8], digest, salt]);
    let mut encoded = vec![0; length];
    let (block, rest) = encoded.split_at_mut(length - hash.length() - 1);
    block[zeros] = 1;
    block[zeros + 1..].copy_from_slice(salt);
    mask.mask(level, &digest, block);
    block[0] &= top_mask(bits);
    rest[..hash.length()].copy_from_slice(&digest);
    rest[hash.length()] = 0xbc;
    // A modulus of a bit more than whole bytes has a byte more than what is encoded.
    if length < bits.div_ceil(8) {
        encoded.insert(0, 0);
    }
    Ok(encoded)
}

/// Whether `encoded`, as many bytes as the modulus, is an encoded message of the digest: RFC 8017, section 9.1.2.
pub(super) fn verify(
    level: ShaLevel,
    parameters: Parameters,
    digest: &[u8],
    encoded: &[u8],
    bits: usize,
) -> Result<(), Error> {
    let Parameters { hash, mask, salt } = parameters;
    let length = (bits - 1).div_ceil(8);
    let (above, encoded) = encoded.split_at(encoded.len() - length);
    let Some(zeros) = length.checked_sub(hash.length() + salt + 2) else {
        return Err(Error::Signature);
    };
    let (block, rest) = encoded.split_at(length - hash.length() - 1);
    let (expected, end) = rest.split_at(hash.length());
    if above.iter().any(|&byte| byte != 0) || end != [0xbc] || block[0] & !top_mask(bits) != 0 {
        return Err(Error::Signature);
    }
    let mut block = block.to_vec();
    mask.mask(level, expected, &mut block);
    block[0] &= top_mask(bits);
    if block[..zeros].iter().any(|&byte| byte != 0) || block[zeros] != 1 {
        return Err(Error::Signature);
    }
    if hash.of(level, &[&[0; 8], digest, &block[zeros + 1..]])[..] != *expected {
        return Err(Error::Signature);
    }
    Ok(())
}

/// The bits of the first byte that belong to a number of a bit less than the modulus.
fn top_mask(bits: usize) -> u8 {
    0xff >> (8 * (bits - 1).div_ceil(8) - (bits - 1))
}
