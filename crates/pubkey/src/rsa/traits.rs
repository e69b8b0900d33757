//! The traits of the RustCrypto crate `signature`, for one signature at a time.

use alloc::vec::Vec;
use core::ops::Deref;
use rand_core::TryCryptoRng;
use signature::{
    Error as SignatureError, RandomizedSigner, SignatureEncoding, Signer, Verifier,
    hazmat::{PrehashSigner, PrehashVerifier},
};

use super::{PrivateKey, PublicKey, Scheme, Sign, Signature, Verify, sign_batch, verify_batch};
use crate::{Error, Random, SystemRandom};

/// A private key with the scheme that it signs by.
///
/// ```
/// use lanelock_pubkey::{Hash, SystemRandom, rsa::{PrivateKey, Scheme, SigningKey}};
/// use signature::{Signer, Verifier};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = PrivateKey::generate(2048, &mut SystemRandom)?;
/// let key = SigningKey::new(&key, Scheme::pkcs1v15(Hash::Sha256));
/// let signature = key.try_sign(b"a message")?;
/// key.verifying_key().verify(b"a message", &signature)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SigningKey<K> {
    key: K,
    scheme: Scheme,
}

impl<K: Deref<Target = PrivateKey>> SigningKey<K> {
    /// The key for this scheme.
    pub const fn new(key: K, scheme: Scheme) -> Self {
        Self { key, scheme }
    }

    /// The public key for the same scheme.
    pub fn verifying_key(&self) -> VerifyingKey<&PublicKey> {
        VerifyingKey::new(self.key.public_key(), self.scheme)
    }
}

fn sign_by(
    sign: Result<Sign<&PrivateKey>, Error>,
    random: &mut dyn Random,
) -> Result<Signature, SignatureError> {
    sign.and_then(|sign| sign_batch(&[sign], random).swap_remove(0))
        .map_err(SignatureError::from_source)
}

impl<K: Deref<Target = PrivateKey>> Signer<Signature> for SigningKey<K> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, SignatureError> {
        sign_by(Sign::message(&*self.key, self.scheme, message), &mut SystemRandom)
    }
}

impl<K: Deref<Target = PrivateKey>> RandomizedSigner<Signature> for SigningKey<K> {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        mut random: &mut R,
        message: &[u8],
    ) -> Result<Signature, SignatureError> {
        sign_by(Sign::message(&*self.key, self.scheme, message), &mut random)
    }
}

impl<K: Deref<Target = PrivateKey>> PrehashSigner<Signature> for SigningKey<K> {
    fn sign_prehash(&self, digest: &[u8]) -> Result<Signature, SignatureError> {
        sign_by(Sign::new(&*self.key, self.scheme, digest), &mut SystemRandom)
    }
}

/// A public key with the scheme that it verifies by.
#[derive(Clone, Debug)]
pub struct VerifyingKey<K> {
    key: K,
    scheme: Scheme,
}

impl<K: Deref<Target = PublicKey>> VerifyingKey<K> {
    /// The key for this scheme.
    pub const fn new(key: K, scheme: Scheme) -> Self {
        Self { key, scheme }
    }
}

fn verify_by(verify: Result<Verify<&PublicKey>, Error>) -> Result<(), SignatureError> {
    verify
        .and_then(|verify| verify_batch(&[verify]).swap_remove(0))
        .map_err(SignatureError::from_source)
}

impl<K: Deref<Target = PublicKey>> Verifier<Signature> for VerifyingKey<K> {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        verify_by(Verify::message(&*self.key, self.scheme, message, signature.clone()))
    }
}

impl<K: Deref<Target = PublicKey>> PrehashVerifier<Signature> for VerifyingKey<K> {
    fn verify_prehash(&self, digest: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        verify_by(Verify::new(&*self.key, self.scheme, digest, signature.clone()))
    }
}

impl SignatureEncoding for Signature {
    type Repr = Vec<u8>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hash;

    #[test]
    fn signatures_by_the_traits() {
        let der = &lanelock_testkit::rsa::wycheproof_pkcs1_decrypt()[0].key;
        let key = PrivateKey::from_pkcs8_der(der).expect("a key");
        for scheme in [Scheme::pkcs1v15(Hash::Sha256), Scheme::pss(Hash::Sha256)] {
            let key = SigningKey::new(&key, scheme);
            let digest = Hash::Sha256.digest(b"message").expect("no mistake in the level");
            let signatures = [
                key.sign(b"message"),
                key.try_sign_with_rng(&mut SystemRandom, b"message").expect("a signature"),
                key.sign_prehash(&digest).expect("a signature"),
            ];
            for signature in signatures {
                let signature = Signature::from(signature.to_vec());
                let verifying = key.verifying_key();
                assert!(verifying.verify(b"message", &signature).is_ok());
                assert!(verifying.verify_prehash(&digest, &signature).is_ok());
                assert!(verifying.verify(b"another", &signature).is_err());
            }
            assert!(key.sign_prehash(&digest[1..]).is_err());
        }
    }
}
