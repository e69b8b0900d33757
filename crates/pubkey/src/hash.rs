//! The hashes of signatures and of paddings, and MGF1.

use alloc::vec::Vec;
use lanelock_digest::{self as digest, ShaLevel, algorithm::Algorithm};
use zeroize::Zeroizing;

use crate::Error;

/// The hash of a message that is signed, and of RSA's paddings (RFC 8017, appendix B.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-1: 20 bytes. Collisions are known, so that RSA signs nothing with it, and ECDSA should for old protocols
    /// alone; old signatures are verified, and OAEP, which needs no resistance against collisions, takes it.
    Sha1,
    /// SHA-224: 28 bytes.
    Sha224,
    /// SHA-256: 32 bytes.
    Sha256,
    /// SHA-384: 48 bytes.
    Sha384,
    /// SHA-512: 64 bytes.
    Sha512,
}

impl Hash {
    /// Bytes of a digest.
    pub const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The digest of a message.
    ///
    /// # Errors
    /// [`Error::Level`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn digest(self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let level = sha_level()?;
        Ok(self.of(level, &[message]).to_vec())
    }

    /// The digest of the parts of a message.
    pub(crate) fn of(self, level: ShaLevel, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        fn of<A: Algorithm>(level: ShaLevel, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
            let mut hash = digest::Hash::<A>::with_level(level);
            for part in parts {
                hash.update(part);
            }
            Zeroizing::new(hash.finish().as_ref().to_vec())
        }
        match self {
            Self::Sha1 => of::<digest::algorithm::Sha1>(level, parts),
            Self::Sha224 => of::<digest::algorithm::Sha224>(level, parts),
            Self::Sha256 => of::<digest::algorithm::Sha256>(level, parts),
            Self::Sha384 => of::<digest::algorithm::Sha384>(level, parts),
            Self::Sha512 => of::<digest::algorithm::Sha512>(level, parts),
        }
    }

    /// `bytes` ^= MGF1(`seed`): RFC 8017, appendix B.2.1.
    pub(crate) fn mask(self, level: ShaLevel, seed: &[u8], bytes: &mut [u8]) {
        for (counter, bytes) in (0_u32..).zip(bytes.chunks_mut(self.length())) {
            let mask = self.of(level, &[seed, &counter.to_be_bytes()]);
            for (byte, mask) in bytes.iter_mut().zip(mask.iter()) {
                *byte ^= mask;
            }
        }
    }

    /// What stands before the digest in `DigestInfo`: RFC 8017, section 9.2, note 1.
    pub(crate) const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Sha1 => &[
                0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04,
                0x14,
            ],
            Self::Sha224 => &[
                0x30, 0x2d, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
                0x04, 0x05, 0x00, 0x04, 0x1c,
            ],
            Self::Sha256 => &[
                0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
                0x01, 0x05, 0x00, 0x04, 0x20,
            ],
            Self::Sha384 => &[
                0x30, 0x41, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
                0x02, 0x05, 0x00, 0x04, 0x30,
            ],
            Self::Sha512 => &[
                0x30, 0x51, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02,
                0x03, 0x05, 0x00, 0x04, 0x40,
            ],
        }
    }
}

/// The level of hashes.
pub(crate) fn sha_level() -> Result<ShaLevel, Error> {
    Ok(digest::Levels::best()?.one)
}
