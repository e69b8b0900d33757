//! The paddings of PKCS #1 v1.5: RFC 8017, sections 7.2 and 9.2.

use alloc::{vec, vec::Vec};

use super::Hash;
use crate::Error;

/// The encoded message of a digest in `length` bytes: RFC 8017, section 9.2 (EMSA-PKCS1-v1_5).
///
/// Keys of this crate have room for every hash.
pub(super) fn encode(hash: Hash, digest: &[u8], length: usize) -> Vec<u8> {
    let prefix = hash.prefix();
    let mut encoded = vec![0xff; length];
    let padding = length - digest.len() - prefix.len();
    encoded[0] = 0;
    encoded[1] = 1;
    encoded[padding - 1] = 0;
    encoded[padding..padding + prefix.len()].copy_from_slice(prefix);
    encoded[padding + prefix.len()..].copy_from_slice(digest);
    encoded
}

/// Whether `encoded` is the encoded message of the digest.
///
/// It is made again and compared, so that nothing of it has to be parsed.
pub(super) fn verify(hash: Hash, digest: &[u8], encoded: &[u8]) -> Result<(), Error> {
    if encode(hash, digest, encoded.len()) == encoded { Ok(()) } else { Err(Error::Signature) }
}
