//! The paddings of PKCS #1 v1.5: RFC 8017, sections 7.2 and 9.2.

use alloc::{vec, vec::Vec};
use lanelock_core::parts::public_length;
use lanelock_digest::{HmacKey, Levels, algorithm::Sha256};
use zeroize::Zeroizing;

use super::mask;
use crate::{Error, Hash, Random};

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

/// The encoded message of a plaintext in `length` bytes: RFC 8017, section 7.2.1.
///
/// # Errors
/// [`Error::Range`] if it is too long; [`Error::Random`].
pub(super) fn pad(
    message: &[u8],
    length: usize,
    random: &mut dyn Random,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let Some(padding) =
        length.checked_sub(message.len() + 3).filter(|&padding| padding >= LEAST_PADDING)
    else {
        return Err(Error::Range("the message"));
    };
    let mut encoded = Zeroizing::new(vec![0; length]);
    encoded[1] = 2;
    random.fill(&mut encoded[2..2 + padding])?;
    // Zeros, one byte in 256, are replaced by others.
    let mut others = Zeroizing::new([0; 32]);
    let mut used = others.len();
    for byte in &mut encoded[2..2 + padding] {
        while *byte == 0 {
            if used == others.len() {
                random.fill(&mut *others)?;
                used = 0;
            }
            *byte = others[used];
            used += 1;
        }
    }
    encoded[3 + padding..].copy_from_slice(message);
    Ok(encoded)
}

/// The fewest bytes of padding.
const LEAST_PADDING: usize = 8;
/// How many lengths are drawn for a message that is made up.
const LENGTHS: usize = 128;

/// The plaintext of an encoded message: RFC 8017, section 7.2.2. Where it is not well padded, a message that is made
/// up of the key and the ciphertext: implicit rejection, as draft-irtf-cfrg-rsa-guidance and OpenSSL define it. Whoever
/// sends ciphertexts learns nothing of their padding then (D. Bleichenbacher, 1998).
///
/// Neither time nor addresses tell which it is; the length of the result is seen.
pub(super) fn unpad(
    levels: Levels,
    private_exponent: &[u8],
    ciphertext: &[u8],
    encoded: &[u8],
) -> Zeroizing<Vec<u8>> {
    let length = encoded.len();
    let secret = Hash::Sha256.of(levels.one, &[private_exponent]);
    let mut derivation = HmacKey::<Sha256>::with_levels(levels, &secret).start();
    derivation.update(ciphertext);
    let key = HmacKey::with_levels(levels, &Zeroizing::new(derivation.finish())[..]);
    let made_up = generate(&key, b"message", length);
    let lengths = generate(&key, b"length", 2 * LENGTHS);

    let longest = length - 2 - LEAST_PADDING;
    let bits = (longest + 1).next_power_of_two() - 1;
    let mut made_up_length = 0;
    for pair in lengths.chunks_exact(2) {
        let candidate = (usize::from(pair[0]) << 8 | usize::from(pair[1])) & bits;
        made_up_length = mask::select(mask::less(candidate, longest), candidate, made_up_length);
    }

    let mut good = mask::equal(encoded[0].into(), 0) & mask::equal(encoded[1].into(), 2);
    let (mut end, mut found) = (0, 0);
    for (at, &byte) in encoded.iter().enumerate().skip(2) {
        let zero = mask::equal(byte.into(), 0);
        end = mask::select(zero & !found, at, end);
        found |= zero;
    }
    good &= found & !mask::less(end, 2 + LEAST_PADDING);

    let start = mask::select(good, end + 1, length - made_up_length);
    let mut message = made_up;
    for (byte, &encoded) in message.iter_mut().zip(encoded) {
        *byte = mask::select_byte(good, encoded, *byte);
    }
    mask::move_to_front(&mut message, start);
    message.truncate(public_length(length - start));
    message
}

/// Bytes of a key and a label: HMAC of a counter, the label and the bits of what is generated.
fn generate(key: &HmacKey<Sha256>, label: &[u8], length: usize) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(length.next_multiple_of(32)));
    let bits = u16::try_from(8 * length).expect("no key is that long").to_be_bytes();
    for counter in 0..u16::try_from(length.div_ceil(32)).expect("no key is that long") {
        let mut block = key.start();
        block.update(&counter.to_be_bytes());
        block.update(label);
        block.update(&bits);
        bytes.extend_from_slice(&*Zeroizing::new(block.finish()));
    }
    bytes.truncate(length);
    bytes
}
