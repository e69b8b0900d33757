//! Keys of Ed25519, and their generation.

use alloc::{vec, vec::Vec};
use core::fmt;

use lanelock_digest::Levels;
use lanelock_isa::{LevelError, LimbLevel};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::encoding::{BYTES, P, WIDE, halves, hash, is_below};
use crate::{
    Error, Operation, Random,
    curve::base_point::{self, Form},
    level::default_level,
    operation::run_batch,
    secret::SecretBytes,
};

/// The levels of a key: of points, and of hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KeyLevels {
    pub(super) points: LimbLevel,
    pub(super) hashes: Levels,
}

impl KeyLevels {
    fn best() -> Result<Self, LevelError> {
        Ok(Self { points: default_level()?, hashes: Levels::best()? })
    }
}

/// A secret key, and its public key. Wiped when dropped.
#[derive(Clone)]
pub struct SigningKey {
    /// The seed; the scalar, clamped; what nonces are derived from.
    secrets: SecretBytes<{ 3 * BYTES }>,
    pub(super) public: VerifyingKey,
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

    /// The same key in memory of its own that the system neither swaps out nor writes to a core dump. Its clones share
    /// that memory.
    ///
    /// # Errors
    /// [`Error::Locked`] if the system does not lock memory (for so much of it).
    pub fn lock(&self) -> Result<Self, Error> {
        Ok(Self { secrets: self.secrets.lock()?, public: self.public })
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
        self.secrets()[0]
    }

    /// The scalar, clamped.
    pub(super) fn scalar(&self) -> &[u8; BYTES] {
        self.secrets()[1]
    }

    /// What nonces are derived from.
    pub(super) fn prefix(&self) -> &[u8; BYTES] {
        self.secrets()[2]
    }

    fn secrets(&self) -> [&[u8; BYTES]; 3] {
        let (parts, _) = self.secrets.as_chunks();
        [&parts[0], &parts[1], &parts[2]]
    }

    /// The public key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
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
    pub(super) bytes: [u8; BYTES],
    pub(super) levels: KeyLevels,
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
    keys.map(|(((seed, hash), scalar), &public)| {
        let mut secrets = Zeroizing::new([0; 3 * BYTES]);
        let (parts, _) = secrets.as_chunks_mut();
        parts[0] = **seed;
        parts[1] = *halves(scalar)[0];
        parts[2] = *halves(hash)[1];
        let public = VerifyingKey { bytes: public, levels };
        SigningKey { secrets: SecretBytes::new(&secrets), public }
    })
    .collect()
}
