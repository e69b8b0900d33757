//! ECDH (SP 800-56A, 5.7.1.2): key agreement on P-256, P-384 and P-521.
//!
//! ```
//! use lanelock_pubkey::{P256, SystemRandom, ecdh};
//!
//! # fn main() -> Result<(), lanelock_pubkey::Error> {
//! let alice = ecdh::SecretKey::<P256>::generate(&mut SystemRandom)?;
//! let bob = ecdh::SecretKey::generate(&mut SystemRandom)?;
//! let for_alice = ecdh::PublicKey::from_sec1_bytes(&bob.public_key().to_sec1_bytes())?;
//! let shared = alice.agree(&for_alice)?;
//!
//! // Many side by side, each with a key of its own or with the same.
//! let agreements =
//!     [ecdh::Agree::new(&alice, for_alice), ecdh::Agree::new(&bob, alice.public_key())];
//! for secret in ecdh::agree_batch(&agreements) {
//!     assert_eq!(secret?.as_bytes(), shared.as_bytes());
//! }
//! # Ok(())
//! # }
//! ```

use alloc::vec::Vec;
use core::{marker::PhantomData, ops::Deref};

use lanelock_isa::LimbLevel;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    Error, Operation, Random, SharedSecret, SystemRandom,
    curve::{
        Curve, Job, Work,
        der::encodings,
        key::{PrivateScalar, PublicPoint, bytes},
        run,
    },
    level::default_level,
    operation::run_batch,
};

/// A secret key: a number from 1 to n - 1, n the order of the curve's group. Wiped when dropped.
#[derive(Clone, Debug)]
pub struct SecretKey<C: Curve>(pub(crate) PrivateScalar<C>);

impl<C: Curve> SecretKey<C> {
    /// The key of [`Curve::BYTES`] big-endian bytes, for the best level of this machine.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Key`] if the number is 0 or not below the order; [`Error::Level`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self(PrivateScalar::from_bytes(default_level()?, bytes)?))
    }

    /// A new key. See [`generate_batch`] for many.
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
    pub fn public_key(&self) -> PublicKey<C> {
        PublicKey(self.0.public())
    }

    /// Agrees on a secret with the owner of a public key. See [`agree_batch`] for many.
    ///
    /// # Errors
    /// [`Error::Fault`] if the result is infinite, which it cannot be.
    pub fn agree(&self, peer: &PublicKey<C>) -> Result<SharedSecret, Error> {
        agree_batch(&[Agree::new(self, *peer)]).remove(0)
    }
}

impl<C: Curve> ZeroizeOnDrop for SecretKey<C> {}

/// A public key: a point of the curve, not infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PublicKey<C: Curve>(pub(crate) PublicPoint<C>);

impl<C: Curve> PublicKey<C> {
    /// The point of these bytes (SEC 1, 2.3.4): `04`, x and y, or compressed, `02` or `03` and x. It is checked as SP
    /// 800-56A, 5.6.2.3.3 and 5.6.2.3.4, demand; a compressed one takes a root, some 300 products.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Key`] if the point is infinite, not on the curve, or of another form.
    pub fn from_sec1_bytes(bytes: &[u8]) -> Result<Self, Error> {
        PublicPoint::from_sec1(bytes).map(Self)
    }

    /// `04`, x and y, each with [`Curve::BYTES`] bytes.
    pub fn to_sec1_bytes(&self) -> Vec<u8> {
        self.0.to_sec1()
    }

    /// `02` or `03`, for an even or an odd y, and x.
    pub fn to_sec1_compressed_bytes(&self) -> Vec<u8> {
        self.0.to_sec1_compressed()
    }
}

encodings!(SecretKey, PublicKey, |point| Ok(Self(point)), key => key.0);

/// An agreement as an operation that shares lanes with others.
#[derive(Clone, Copy, Debug)]
pub struct Agree<C: Curve, K> {
    key: K,
    peer: PublicKey<C>,
}

impl<C: Curve, K: Deref<Target = SecretKey<C>>> Agree<C, K> {
    /// With the key, `&SecretKey` or `Arc<SecretKey>`, and the public key of the other side.
    pub fn new(key: K, peer: PublicKey<C>) -> Self {
        Self { key, peer }
    }
}

impl<C: Curve, K: Deref<Target = SecretKey<C>>> Operation for Agree<C, K> {
    type Output = SharedSecret;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.key.level()
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _random: &mut dyn Random) -> Vec<Result<SharedSecret, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let mut jobs: Vec<_> = operations
            .iter()
            .map(|operation| Job {
                base: C::ONE,
                scalar: *operation.key.0.number(),
                point: operation.peer.0.0,
                expected: C::ZERO,
                valid: false,
            })
            .collect();
        run::<C>(first.class(), Work::Point, &mut jobs);
        let secrets = jobs
            .iter()
            .map(|job| {
                let secret = SharedSecret::new(bytes::<C>(&job.point[0]));
                job.valid.then_some(secret).ok_or(Error::Fault)
            })
            .collect();
        jobs.zeroize();
        secrets
    }
}

/// Agrees with many keys, side by side; result *i* is that of agreement *i*.
pub fn agree_batch<C: Curve, K: Deref<Target = SecretKey<C>>>(
    agreements: &[Agree<C, K>],
) -> Vec<Result<SharedSecret, Error>> {
    run_batch(agreements, &mut SystemRandom)
}

/// The generation of a key, with its public key, as an operation that shares lanes with others.
#[derive(Clone, Copy, Debug)]
pub struct Generate<C> {
    level: LimbLevel,
    curve: PhantomData<C>,
}

impl<C: Curve> Generate<C> {
    /// At the best level of this machine.
    ///
    /// # Errors
    /// [`Error::Level`].
    pub fn new() -> Result<Self, Error> {
        Ok(Self::with_level(default_level()?))
    }

    /// At this level.
    pub fn with_level(level: LimbLevel) -> Self {
        Self { level, curve: PhantomData }
    }
}

impl<C: Curve> Operation for Generate<C> {
    type Output = SecretKey<C>;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.level
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<SecretKey<C>, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let keys = PrivateScalar::generate_all(first.level, operations.len(), random);
        keys.into_iter().map(|key| key.map(SecretKey)).collect()
    }
}

/// Generates so many keys, whose public keys are computed side by side.
///
/// # Errors
/// [`Error::Random`], [`Error::Level`].
pub fn generate_batch<C: Curve>(
    count: usize,
    random: &mut dyn Random,
) -> Result<Vec<SecretKey<C>>, Error> {
    run_batch(&alloc::vec![Generate::new()?; count], random).into_iter().collect()
}
