//! ECDSA (FIPS 186-5, 6) on P-256, P-384 and P-521.
//!
//! ```
//! use lanelock_pubkey::{Hash, P256, SystemRandom, ecdsa};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = ecdsa::SigningKey::<P256>::generate(&mut SystemRandom)?;
//! let hash = Hash::Sha256;
//! let digest = hash.digest(b"a message")?;
//! let signature = key.sign(hash, &digest, &mut SystemRandom)?;
//! key.verifying_key().verify(&digest, &signature)?;
//!
//! // Many side by side, each with a key of its own or with the same.
//! let signings = [ecdsa::Sign::new(&key, hash, &digest)?, ecdsa::Sign::new(&key, hash, &digest)?];
//! let public = key.verifying_key();
//! for signature in ecdsa::sign_batch(&signings, &mut SystemRandom) {
//!     let verify = ecdsa::Verify::new(&public, &digest, &signature?);
//!     assert_eq!(ecdsa::verify_batch(&[verify]), [Ok(())]);
//! }
//! # Ok(())
//! # }
//! ```

mod encoding;
mod nonce;
#[cfg(feature = "signature")]
mod traits;

use alloc::{vec, vec::Vec};
use core::ops::Deref;

use lanelock_isa::LimbLevel;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    Error, Hash, Operation, Random, SystemRandom,
    curve::{
        Curve, Job, Scalars, Side, Work,
        der::encodings,
        divide,
        key::{PrivateScalar, PublicPoint, base_job, is_scalar, number_of_bits},
        run,
    },
    level::default_level,
    operation::run_batch,
};
pub use encoding::Signature;
use nonce::Source;

/// A key that signs: a number from 1 to n - 1, n the order of the curve's group. Wiped when dropped.
#[derive(Clone, Debug)]
pub struct SigningKey<C: Curve>(pub(crate) PrivateScalar<C>);

impl<C: Curve> SigningKey<C> {
    /// The key of [`Curve::BYTES`] big-endian bytes, for the best level of this machine.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Key`] if the number is 0 or not below the order; [`Error::Level`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self(PrivateScalar::from_bytes(default_level()?, bytes)?))
    }

    /// A new key.
    ///
    /// # Errors
    /// [`Error::Random`], [`Error::Level`].
    pub fn generate(random: &mut dyn Random) -> Result<Self, Error> {
        Ok(Self(PrivateScalar::generate(default_level()?, random)?))
    }

    /// The same key at another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.0.level = level;
        self
    }

    /// The level that it runs on.
    pub fn level(&self) -> LimbLevel {
        self.0.level
    }

    /// The key as [`Curve::BYTES`] big-endian bytes.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        self.0.to_bytes()
    }

    /// The key in memory that the system neither swaps out nor writes to a core dump.
    ///
    /// # Errors
    /// [`Error::Locked`].
    pub fn lock(&self) -> Result<Self, Error> {
        Ok(Self(self.0.lock()?))
    }

    /// The public key, which is computed when it is asked for first.
    pub fn verifying_key(&self) -> VerifyingKey<C> {
        VerifyingKey { point: self.0.public(), level: self.0.level }
    }

    /// Signs a digest with a hedged nonce: see [`Sign`], and [`sign_batch`] for many.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not a digest of this hash; [`Error::Random`], [`Error::Level`].
    pub fn sign(
        &self,
        hash: Hash,
        digest: &[u8],
        random: &mut dyn Random,
    ) -> Result<Signature<C>, Error> {
        sign_batch(&[Sign::new(self, hash, digest)?], random).remove(0)
    }
}

impl<C: Curve> ZeroizeOnDrop for SigningKey<C> {}

/// A key that verifies: a point of the curve, not infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifyingKey<C: Curve> {
    pub(crate) point: PublicPoint<C>,
    level: LimbLevel,
}

impl<C: Curve> VerifyingKey<C> {
    /// The point of these bytes (SEC 1, 2.3.4): `04`, x and y, or compressed, `02` or `03` and x; for the best level of
    /// this machine.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Key`] if the point is infinite, not on the curve, or of another form;
    /// [`Error::Level`].
    pub fn from_sec1_bytes(bytes: &[u8]) -> Result<Self, Error> {
        PublicPoint::from_sec1(bytes).and_then(Self::of)
    }

    fn of(point: PublicPoint<C>) -> Result<Self, Error> {
        Ok(Self { point, level: default_level()? })
    }

    /// `04`, x and y, each with [`Curve::BYTES`] bytes.
    pub fn to_sec1_bytes(&self) -> Vec<u8> {
        self.point.to_sec1()
    }

    /// `02` or `03`, for an even or an odd y, and x.
    pub fn to_sec1_compressed_bytes(&self) -> Vec<u8> {
        self.point.to_sec1_compressed()
    }

    /// The same key at another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.level = level;
        self
    }

    /// The level that it runs on.
    pub fn level(&self) -> LimbLevel {
        self.level
    }

    /// Verifies the signature of a digest. See [`verify_batch`] for many.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify(&self, digest: &[u8], signature: &Signature<C>) -> Result<(), Error> {
        verify_batch(&[Verify::new(self, digest, signature)]).remove(0)
    }
}

encodings!(SigningKey, VerifyingKey, Self::of, key => key.point);

/// A signature to be made, as an operation that shares lanes with others.
///
/// The nonce is that of RFC 6979 with 32 random bytes mixed in (its section 3.6): it stays secret if the source of
/// random numbers fails, and differs from call to call, so that faults cannot be compared.
#[derive(Clone, Debug)]
pub struct Sign<C: Curve, K> {
    key: K,
    hash: Hash,
    digest: C::Number,
    hedged: bool,
}

impl<C: Curve, K: Deref<Target = SigningKey<C>>> Sign<C, K> {
    /// With the key, `&SigningKey` or `Arc<SigningKey>`, the hash, and the digest that it gave of the message. The
    /// nonce is made with the same hash.
    ///
    /// # Errors
    /// [`Error::Length`] if it is not a digest of this hash.
    pub fn new(key: K, hash: Hash, digest: &[u8]) -> Result<Self, Error> {
        if digest.len() != hash.length() {
            let (got, expected) = (digest.len(), hash.length());
            return Err(Error::Length { what: "a digest", got, expected });
        }
        Ok(Self::of_digest(key, hash, digest))
    }

    /// With a digest of any length.
    fn of_digest(key: K, hash: Hash, digest: &[u8]) -> Self {
        Self { key, hash, digest: number_of_bits::<C>(digest), hedged: true }
    }

    /// The same without random bytes: always the same signature.
    #[must_use]
    pub fn with_deterministic_nonce(mut self) -> Self {
        self.hedged = false;
        self
    }
}

impl<C: Curve, K: Deref<Target = SigningKey<C>>> Operation for Sign<C, K> {
    type Output = Signature<C>;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.key.level()
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Signature<C>, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let level = first.class();
        // One request for all.
        let hedged = operations.iter().filter(|operation| operation.hedged).count();
        let mut bytes = Zeroizing::new(vec![0; HEDGE * hedged]);
        let filled = if hedged == 0 { Ok(()) } else { random.fill(&mut bytes) };
        let mut bytes = bytes.chunks_exact(HEDGE);
        let hedges: Vec<Result<&[u8], Error>> = operations
            .iter()
            .map(|operation| match filled {
                _ if !operation.hedged => Ok(&[][..]),
                Ok(()) => Ok(bytes.next().unwrap_or_default()),
                Err(ref error) => Err(error.clone()),
            })
            .collect();
        let mut results: Vec<Result<Signature<C>, Error>> =
            operations.iter().map(|_| Err(Error::Random)).collect();
        let mut left: Vec<usize> = (0..operations.len()).collect();
        // A nonce that gives no signature is as likely as to guess the key; then the next is taken.
        for rejected in 0.. {
            if left.is_empty() {
                break;
            }
            let mut nonces = Vec::with_capacity(left.len());
            left.retain(|&at| {
                let hedge = hedges[at].clone();
                let nonce = hedge.and_then(|hedge| operations[at].nonce(rejected, hedge));
                nonce
                    .map(|nonce| nonces.push(nonce))
                    .map_err(|error| results[at] = Err(error))
                    .is_ok()
            });
            let of_left: Vec<&Self> = left.iter().map(|&at| operations[at]).collect();
            let mut signatures = sign_with(level, &of_left, &nonces).into_iter();
            left.retain(|&at| match signatures.next().flatten() {
                Some(signature) => {
                    results[at] = Ok(signature);
                    false
                }
                None => true,
            });
        }
        results
    }
}

/// Random bytes in a nonce.
const HEDGE: usize = 32;

impl<C: Curve, K: Deref<Target = SigningKey<C>>> Sign<C, K> {
    fn nonce(&self, rejected: usize, random: &[u8]) -> Result<Zeroizing<C::Number>, Error> {
        let (key, digest) = (&*self.key.0.number(), &self.digest);
        Source::<C> { key, digest, random, rejected }.nonce(self.hash)
    }
}

/// The signatures with these nonces; none where r or s is 0.
fn sign_with<C: Curve, K: Deref<Target = SigningKey<C>>>(
    level: LimbLevel,
    operations: &[&Sign<C, K>],
    nonces: &[Zeroizing<C::Number>],
) -> Vec<Option<Signature<C>>> {
    let mut points: Vec<Job<C::Number>> = nonces.iter().map(|nonce| base_job::<C>(nonce)).collect();
    run::<C>(level, Work::Base, &mut points);
    let mut scalars: Vec<Scalars<C::Number>> = operations
        .iter()
        .zip(&points)
        .map(|(operation, point)| Scalars {
            divisor: point.base,
            x: point.point[0],
            digest: operation.digest,
            key: *operation.key.0.number(),
            results: [C::ZERO; 2],
        })
        .collect();
    divide::<C>(level, Side::Sign, &mut scalars);
    let signatures = scalars
        .iter()
        .map(|scalars| {
            let whole = scalars.results.iter().all(|number| is_scalar::<C>(number));
            whole.then_some(Signature(scalars.results))
        })
        .collect();
    points.zeroize();
    scalars.zeroize();
    signatures
}

/// Signs many digests, side by side; result *i* is that of signature *i*.
pub fn sign_batch<C: Curve, K: Deref<Target = SigningKey<C>>>(
    signings: &[Sign<C, K>],
    random: &mut dyn Random,
) -> Vec<Result<Signature<C>, Error>> {
    run_batch(signings, random)
}

/// A signature to be verified, as an operation that shares lanes with others.
#[derive(Clone, Debug)]
pub struct Verify<C: Curve, K> {
    key: K,
    digest: C::Number,
    signature: Signature<C>,
}

impl<C: Curve, K: Deref<Target = VerifyingKey<C>>> Verify<C, K> {
    /// With the key, `&VerifyingKey` or `Arc<VerifyingKey>`, and the digest of the message, of any hash.
    pub fn new(key: K, digest: &[u8], signature: &Signature<C>) -> Self {
        Self { key, digest: number_of_bits::<C>(digest), signature: *signature }
    }
}

impl<C: Curve, K: Deref<Target = VerifyingKey<C>>> Operation for Verify<C, K> {
    type Output = ();
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.key.level()
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _random: &mut dyn Random) -> Vec<Result<(), Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let level = first.class();
        let in_range: Vec<bool> = operations
            .iter()
            .map(|operation| operation.signature.0.iter().all(|number| is_scalar::<C>(number)))
            .collect();
        // Where a number is not in its range, the lane computes with others.
        let mut scalars: Vec<Scalars<C::Number>> = operations
            .iter()
            .zip(&in_range)
            .map(|(operation, &in_range)| {
                let [r, s] = if in_range { operation.signature.0 } else { [C::ONE; 2] };
                let digest = operation.digest;
                Scalars { divisor: s, x: r, digest, key: C::ZERO, results: [C::ZERO; 2] }
            })
            .collect();
        divide::<C>(level, Side::Verify, &mut scalars);
        let mut jobs: Vec<Job<C::Number>> = operations
            .iter()
            .zip(&scalars)
            .map(|(operation, scalars)| {
                let [base, scalar] = scalars.results;
                let point = operation.key.point.0;
                Job { base, scalar, point, expected: scalars.x, valid: false }
            })
            .collect();
        run::<C>(level, Work::Both, &mut jobs);
        let valid = jobs.iter().zip(&in_range).map(|(job, in_range)| job.valid && *in_range);
        valid.map(|valid| valid.then_some(()).ok_or(Error::Signature)).collect()
    }
}

/// Verifies many signatures, side by side; result *i* is that of signature *i*.
pub fn verify_batch<C: Curve, K: Deref<Target = VerifyingKey<C>>>(
    verifications: &[Verify<C, K>],
) -> Vec<Result<(), Error>> {
    run_batch(verifications, &mut SystemRandom)
}
