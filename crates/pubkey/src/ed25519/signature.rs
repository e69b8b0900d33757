//! Signatures of Ed25519: made and verified, one or many.

use alloc::vec::Vec;
use core::ops::Deref;

use lanelock_isa::LimbLevel;
use zeroize::Zeroizing;

use super::{
    encoding::{BYTES, ORDER, WIDE, halves, has_low_order, hash, is_below},
    kernels,
    key::{KeyLevels, SigningKey, VerifyingKey},
};
use crate::{
    Error, Operation, Random, SystemRandom,
    curve::base_point::{self, Form},
    operation::run_batch,
};

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

impl SigningKey {
    /// Signs one message. [`sign_batch`] signs many side by side.
    pub fn sign(&self, message: &[u8]) -> Signature {
        sign_all(self.public.levels, &[(self, message)]).remove(0)
    }
}

impl VerifyingKey {
    /// Verifies one signature. [`verify_batch`] verifies many side by side.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid for this key and the message, [`Error::Key`] if the key is no point of
    /// the curve.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        verify_all(self.levels, &[&Verify::new(self, message, *signature)]).remove(0)
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

/// RFC 8032, 5.1.6.
fn sign_all(levels: KeyLevels, messages: &[(&SigningKey, &[u8])]) -> Vec<Signature> {
    let nonces: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(
        messages.iter().map(|(key, message)| [key.prefix(), *message].concat()).collect(),
    );
    let nonces = hash(levels.hashes, nonces.iter().map(Vec::as_slice));
    let nonces = base_point::multiples(levels.points, Form::Edwards, &nonces);
    let challenged: Vec<Vec<u8>> = messages
        .iter()
        .zip(&nonces.points)
        .map(|((key, message), r)| [r, &key.public.bytes, *message].concat())
        .collect();
    let challenges = hash(levels.hashes, challenged.iter().map(Vec::as_slice));
    let scalars: Vec<_> = messages.iter().map(|(key, _)| key.scalar()).collect();
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
