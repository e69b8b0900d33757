//! The traits of the crate `signature`, with the hash of a curve's own strength: SHA-256 for P-256, SHA-384 for P-384 and
//! SHA-512 for P-521.

use alloc::vec::Vec;
use core::ops::Deref;

use signature::{
    Error as Failure, RandomizedSigner, SignatureEncoding, Signer, Verifier,
    hazmat::{PrehashSigner, PrehashVerifier, RandomizedPrehashSigner},
    rand_core::TryCryptoRng,
};

use super::{Sign, Signature, SigningKey, VerifyingKey, sign_batch};
use crate::{Error, Hash, Random, SystemRandom, curve::Curve};

/// What `signature` calls an error: why something failed is not said, so that nobody learns from it.
fn failure(_: Error) -> Failure {
    Failure::new()
}

fn hash_of<C: Curve>() -> Hash {
    match C::BYTES {
        ..=32 => Hash::Sha256,
        33..=48 => Hash::Sha384,
        _ => Hash::Sha512,
    }
}

fn sign_one<C: Curve, K: Deref<Target = SigningKey<C>>>(
    sign: Sign<C, K>,
    random: &mut dyn Random,
) -> Result<Signature<C>, Failure> {
    sign_batch(&[sign], random).remove(0).map_err(failure)
}

/// Deterministic: RFC 6979.
impl<C: Curve> Signer<Signature<C>> for SigningKey<C> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature<C>, Failure> {
        self.sign_prehash(&hash_of::<C>().digest(message).map_err(failure)?)
    }
}

/// Hedged: see [`Sign`].
impl<C: Curve> RandomizedSigner<Signature<C>> for SigningKey<C> {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        random: &mut R,
        message: &[u8],
    ) -> Result<Signature<C>, Failure> {
        let digest = hash_of::<C>().digest(message).map_err(failure)?;
        self.sign_prehash_with_rng(random, &digest)
    }
}

/// Deterministic; the digest may be that of any hash.
impl<C: Curve> PrehashSigner<Signature<C>> for SigningKey<C> {
    fn sign_prehash(&self, digest: &[u8]) -> Result<Signature<C>, Failure> {
        let sign = Sign::of_digest(self, hash_of::<C>(), digest).with_deterministic_nonce();
        sign_one(sign, &mut SystemRandom)
    }
}

/// Hedged; the digest may be that of any hash.
impl<C: Curve> RandomizedPrehashSigner<Signature<C>> for SigningKey<C> {
    fn sign_prehash_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        mut random: &mut R,
        digest: &[u8],
    ) -> Result<Signature<C>, Failure> {
        sign_one(Sign::of_digest(self, hash_of::<C>(), digest), &mut random)
    }
}

impl<C: Curve> Verifier<Signature<C>> for VerifyingKey<C> {
    fn verify(&self, message: &[u8], signature: &Signature<C>) -> Result<(), Failure> {
        self.verify_prehash(&hash_of::<C>().digest(message).map_err(failure)?, signature)
    }
}

impl<C: Curve> PrehashVerifier<Signature<C>> for VerifyingKey<C> {
    fn verify_prehash(&self, digest: &[u8], signature: &Signature<C>) -> Result<(), Failure> {
        Self::verify(self, digest, signature).map_err(failure)
    }
}

/// r and s: see [`Signature::from_bytes`].
impl<C: Curve> TryFrom<&[u8]> for Signature<C> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes)
    }
}

impl<C: Curve> From<Signature<C>> for Vec<u8> {
    fn from(signature: Signature<C>) -> Self {
        signature.to_bytes()
    }
}

impl<C: Curve> SignatureEncoding for Signature<C> {
    type Repr = Vec<u8>;
}
