//! Ed25519 (RFC 8032): signatures on the curve edwards25519, deterministic, of messages as they are.
//!
//! ```
//! use lanelock_pubkey::{SystemRandom, ed25519};
//!
//! # fn main() -> Result<(), lanelock_pubkey::Error> {
//! let key = ed25519::SigningKey::generate(&mut SystemRandom)?;
//! let signature = key.sign(b"attack at dawn");
//! key.verifying_key().verify(b"attack at dawn", &signature)?;
//!
//! // Many side by side, each with a key of its own or with the same.
//! let messages = ["one", "two", "three"];
//! let sign: Vec<_> = messages.iter().map(|message| ed25519::Sign::new(&key, message)).collect();
//! let verify: Vec<_> = ed25519::sign_batch(&sign)
//!     .into_iter()
//!     .zip(messages)
//!     .map(|(signature, message)| ed25519::Verify::new(key.verifying_key(), message, signature))
//!     .collect();
//! assert!(ed25519::verify_batch(&verify).iter().all(Result::is_ok));
//! # Ok(())
//! # }
//! ```
//!
//! # What is valid
//!
//! A signature (R, S) of a message M is valid for the key A where S B - k A has the encoding R, with the hash k of
//! R, A and M: the equation without the cofactor (RFC 8032, 5.1.7, allows it), on encodings. S has to be below the
//! order of the base point, so nobody can change a signature into another valid one. A has to be a canonical encoding,
//! and R is one where the equation holds.
//!
//! Keys of low order, under which one signature can be valid for many messages, are valid keys in RFC 8032. Who wants
//! a signature to bind its signer to one message refuses them by [`Verify::with_strictness`].

mod kernels;
#[cfg(feature = "signature")]
mod traits;

use alloc::{vec, vec::Vec};
use core::{fmt, ops::Deref};

use lanelock_digest::{HashJob, Levels, algorithm::Sha512, hash_all};
use lanelock_isa::{LevelError, LimbLevel};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    Error, Operation, Random, SystemRandom,
    curve::base_point::{self, Form},
    level::default_level,
    operation::run_batch,
};

/// Bytes of a secret key, of a public key, and of each half of a signature.
const BYTES: usize = 32;
/// Bytes of a hash and of a signature.
const WIDE: usize = 64;

/// The levels of a key: of points, and of hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct KeyLevels {
    points: LimbLevel,
    hashes: Levels,
}

impl KeyLevels {
    fn best() -> Result<Self, LevelError> {
        Ok(Self { points: default_level()?, hashes: Levels::best()? })
    }
}

/// A secret key, and its public key. Wiped when dropped.
#[derive(Clone)]
pub struct SigningKey {
    seed: [u8; BYTES],
    /// The scalar, clamped.
    scalar: [u8; BYTES],
    /// What nonces are derived from.
    prefix: [u8; BYTES],
    public: VerifyingKey,
}

impl SigningKey {
    /// The key of these bytes, for the best level of this machine.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Result<Self, Error> {
        let mut keys = expand(KeyLevels::best()?, &[bytes]);
        Ok(keys.remove(0))
    }

    /// A random key.
    ///
    /// # Errors
    /// `random` fails, or `LANELOCK_LEVEL` has a mistake.
    pub fn generate(random: &mut dyn Random) -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; BYTES]);
        random.fill(&mut *seed)?;
        Self::from_bytes(&seed)
    }

    /// The same key for another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.public.levels.points = level;
        self
    }

    /// The level that computes with this key.
    pub fn level(&self) -> LimbLevel {
        self.public.levels.points
    }

    /// The secret bytes.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.seed
    }

    /// The public key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs one message. [`sign_batch`] signs many side by side.
    pub fn sign(&self, message: &[u8]) -> Signature {
        sign_all(self.public.levels, &[(self, message)]).remove(0)
    }
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        self.seed.zeroize();
        self.scalar.zeroize();
        self.prefix.zeroize();
    }
}

impl ZeroizeOnDrop for SigningKey {}

impl fmt::Debug for SigningKey {
    /// The public key alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A public key: the encoding of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifyingKey {
    bytes: [u8; BYTES],
    levels: KeyLevels,
}

impl VerifyingKey {
    /// The key of these bytes, for the best level of this machine.
    ///
    /// That they encode a point costs a tenth of a verification to find out, and is found there.
    ///
    /// # Errors
    /// [`Error::Key`] if the coordinate is not below 2^255 - 19; `LANELOCK_LEVEL` has a mistake.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Result<Self, Error> {
        if !is_below(bytes, &P, 0x7f) {
            return Err(Error::Key("the encoding of the point is not canonical"));
        }
        Ok(Self { bytes: *bytes, levels: KeyLevels::best()? })
    }

    /// The same key for another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.levels.points = level;
        self
    }

    /// The level that computes with this key.
    pub fn level(&self) -> LimbLevel {
        self.levels.points
    }

    /// The encoding.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.bytes
    }

    /// Verifies one signature. [`verify_batch`] verifies many side by side.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid for this key and the message, [`Error::Key`] if the key is no point of
    /// the curve.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        verify_all(self.levels, &[&Verify::new(self, message, *signature)]).remove(0)
    }
}

/// A signature: the encoding R of a point and the scalar S.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature([u8; WIDE]);

impl Signature {
    /// The signature of these bytes, whatever they are.
    pub fn from_bytes(bytes: &[u8; WIDE]) -> Self {
        Self(*bytes)
    }

    /// R and S.
    pub fn as_bytes(&self) -> &[u8; WIDE] {
        &self.0
    }

    fn halves(&self) -> [&[u8; BYTES]; 2] {
        halves(&self.0)
    }
}

impl From<[u8; WIDE]> for Signature {
    fn from(bytes: [u8; WIDE]) -> Self {
        Self(bytes)
    }
}

/// A signature to make.
#[derive(Clone, Debug)]
pub struct Sign<K, M> {
    key: K,
    message: M,
}

impl<K: Deref<Target = SigningKey>, M: AsRef<[u8]>> Sign<K, M> {
    /// The signature of a message by a key.
    pub fn new(key: K, message: M) -> Self {
        Self { key, message }
    }
}

impl<K: Deref<Target = SigningKey>, M: AsRef<[u8]>> Operation for Sign<K, M> {
    type Output = Signature;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.key.level()
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _: &mut dyn Random) -> Vec<Result<Signature, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let messages: Vec<(&SigningKey, &[u8])> = operations
            .iter()
            .map(|operation| (&*operation.key, operation.message.as_ref()))
            .collect();
        sign_all(first.key.public.levels, &messages).into_iter().map(Ok).collect()
    }
}

/// Makes signatures, any number of them; signature *i* is that of operation *i*.
pub fn sign_batch<K: Deref<Target = SigningKey>, M: AsRef<[u8]>>(
    sign: &[Sign<K, M>],
) -> Vec<Signature> {
    run_batch(sign, &mut SystemRandom).into_iter().flatten().collect()
}

/// What signatures are refused beyond those that are not valid.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Strictness {
    /// None.
    #[default]
    Rfc8032,
    /// Those where the key or R is of low order: eight times the point is the neutral element.
    NoLowOrder,
}

/// A signature to verify.
#[derive(Clone, Debug)]
pub struct Verify<K, M> {
    key: K,
    message: M,
    signature: Signature,
    strictness: Strictness,
}

impl<K: Deref<Target = VerifyingKey>, M: AsRef<[u8]>> Verify<K, M> {
    /// The signature of a message by the owner of a key.
    pub fn new(key: K, message: M, signature: Signature) -> Self {
        Self { key, message, signature, strictness: Strictness::Rfc8032 }
    }

    /// The same with other rules.
    #[must_use]
    pub fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }
}

impl<K: Deref<Target = VerifyingKey>, M: AsRef<[u8]>> Operation for Verify<K, M> {
    type Output = ();
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.key.levels.points
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _: &mut dyn Random) -> Vec<Result<(), Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        verify_all(first.key.levels, operations)
    }
}

/// Verifies signatures, any number of them; result *i* is that of operation *i*.
///
/// # Errors
/// Each as [`VerifyingKey::verify`].
pub fn verify_batch<K: Deref<Target = VerifyingKey>, M: AsRef<[u8]>>(
    verify: &[Verify<K, M>],
) -> Vec<Result<(), Error>> {
    run_batch(verify, &mut SystemRandom)
}

/// A key to generate.
#[derive(Clone, Copy, Debug)]
pub struct Generate {
    levels: KeyLevels,
}

impl Generate {
    /// A key for the best level of this machine.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { levels: KeyLevels::best()? })
    }

    /// The same for another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.levels.points = level;
        self
    }
}

impl Operation for Generate {
    type Output = SigningKey;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.levels.points
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<SigningKey, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let mut seeds = Zeroizing::new(vec![[0; BYTES]; operations.len()]);
        let filled: Vec<_> = seeds.iter_mut().map(|seed| random.fill(seed)).collect();
        let keys = expand(first.levels, &seeds.iter().collect::<Vec<_>>());
        keys.into_iter().zip(filled).map(|(key, filled)| filled.map(|()| key)).collect()
    }
}

/// Generates as many keys.
pub fn generate_batch(
    generate: &[Generate],
    random: &mut dyn Random,
) -> Vec<Result<SigningKey, Error>> {
    run_batch(generate, random)
}

/// The keys of seeds (RFC 8032, 5.1.5).
fn expand(levels: KeyLevels, seeds: &[&[u8; BYTES]]) -> Vec<SigningKey> {
    let hashes = hash(levels.hashes, seeds.iter().map(|seed| seed.as_slice()));
    let mut scalars = Zeroizing::new(vec![[0; WIDE]; seeds.len()]);
    for (scalar, hash) in scalars.iter_mut().zip(&*hashes) {
        scalar[..BYTES].copy_from_slice(&hash[..BYTES]);
        scalar[0] &= 0xf8;
        scalar[BYTES - 1] = scalar[BYTES - 1] & 0x7f | 0x40;
    }
    let public = base_point::multiples(levels.points, Form::Edwards, &scalars);
    let keys = seeds.iter().zip(&*hashes).zip(&*scalars).zip(&public.points);
    keys.map(|(((seed, hash), scalar), &public)| SigningKey {
        seed: **seed,
        scalar: *halves(scalar)[0],
        prefix: *halves(hash)[1],
        public: VerifyingKey { bytes: public, levels },
    })
    .collect()
}

/// RFC 8032, 5.1.6.
fn sign_all(levels: KeyLevels, messages: &[(&SigningKey, &[u8])]) -> Vec<Signature> {
    let nonces: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(
        messages.iter().map(|(key, message)| [&key.prefix, *message].concat()).collect(),
    );
    let nonces = hash(levels.hashes, nonces.iter().map(Vec::as_slice));
    let nonces = base_point::multiples(levels.points, Form::Edwards, &nonces);
    let challenged: Vec<Vec<u8>> = messages
        .iter()
        .zip(&nonces.points)
        .map(|((key, message), r)| [r, &key.public.bytes, *message].concat())
        .collect();
    let challenges = hash(levels.hashes, challenged.iter().map(Vec::as_slice));
    let scalars: Vec<_> = messages.iter().map(|(key, _)| &key.scalar).collect();
    let responses = kernels::respond(levels.points, &challenges, &scalars, &nonces.scalars);
    nonces
        .points
        .iter()
        .zip(responses)
        .map(|(r, response)| {
            let mut signature = [0; WIDE];
            signature[..BYTES].copy_from_slice(r);
            signature[BYTES..].copy_from_slice(&response);
            Signature(signature)
        })
        .collect()
}

/// RFC 8032, 5.1.7.
fn verify_all<K: Deref<Target = VerifyingKey>, M: AsRef<[u8]>>(
    levels: KeyLevels,
    operations: &[&Verify<K, M>],
) -> Vec<Result<(), Error>> {
    let challenged: Vec<Vec<u8>> = operations
        .iter()
        .map(|verify| {
            let [r, _] = verify.signature.halves();
            [r, &verify.key.bytes, verify.message.as_ref()].concat()
        })
        .collect();
    let challenges = hash(levels.hashes, challenged.iter().map(Vec::as_slice));
    let signatures: Vec<_> =
        operations.iter().map(|verify| (&verify.key.bytes, verify.signature.halves())).collect();
    let verdicts = kernels::verify(levels.points, &challenges, &signatures);
    operations
        .iter()
        .zip(verdicts)
        .map(|(verify, verdict)| {
            let [r, response] = verify.signature.halves();
            if !verdict.is_point {
                return Err(Error::Key("not the encoding of a point"));
            }
            let refused = verify.strictness == Strictness::NoLowOrder
                && (has_low_order(&verify.key.bytes) || has_low_order(r));
            if !verdict.is_equal || refused || !is_below(response, &ORDER, 0xff) {
                return Err(Error::Signature);
            }
            Ok(())
        })
        .collect()
}

/// SHA-512 of each message.
fn hash<'m>(
    levels: Levels,
    messages: impl Iterator<Item = &'m [u8]>,
) -> Zeroizing<Vec<[u8; WIDE]>> {
    let mut jobs: Vec<_> = messages.map(HashJob::<Sha512>::new).collect();
    hash_all(levels, &mut jobs);
    let hashes = jobs.iter().map(|job| job.digest).collect();
    for job in &mut jobs {
        job.digest.zeroize();
    }
    Zeroizing::new(hashes)
}

fn halves(bytes: &[u8; WIDE]) -> [&[u8; BYTES]; 2] {
    let (halves, _) = bytes.as_chunks();
    [&halves[0], &halves[1]]
}

/// 2^255 - 19, the lowest byte first.
const P: [u8; BYTES] = {
    let mut bytes = [0xff; BYTES];
    bytes[0] = 0xed;
    bytes[BYTES - 1] = 0x7f;
    bytes
};
/// The order of the base point, the lowest byte first.
const ORDER: [u8; BYTES] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The coordinates y of the points of low order: of order 1 and 2, of order 4, of order 8.
const LOW_ORDER: [[u8; BYTES]; 5] = {
    let (zero, mut one, mut minus_one) = ([0; BYTES], [0; BYTES], P);
    one[0] = 1;
    minus_one[0] -= 1;
    let first = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    let second = [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ];
    [one, minus_one, zero, first, second]
};

/// Whether 8 times the point of a canonical encoding is the neutral element.
fn has_low_order(encoding: &[u8; BYTES]) -> bool {
    let mut y = *encoding;
    y[BYTES - 1] &= 0x7f;
    LOW_ORDER.contains(&y)
}

/// Whether a public number, the lowest byte first, is below a limit; of its highest byte these bits count.
fn is_below(number: &[u8; BYTES], limit: &[u8; BYTES], bits: u8) -> bool {
    let mut number = *number;
    number[BYTES - 1] &= bits;
    number.iter().rev().lt(limit.iter().rev())
}
