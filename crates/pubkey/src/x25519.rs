//! X25519 (RFC 7748): key agreement on Curve25519.
//!
//! ```
//! use lanelock_pubkey::{SystemRandom, x25519};
//!
//! # fn main() -> Result<(), lanelock_pubkey::Error> {
//! let alice = x25519::SecretKey::generate(&mut SystemRandom)?;
//! let (for_alice, bob) = (alice.public_key(), x25519::SecretKey::generate(&mut SystemRandom)?);
//! let shared = bob.agree(&for_alice)?;
//!
//! // Many side by side, each with a key of its own or with the same.
//! let agreements = [
//!     x25519::Agree::new(&alice, bob.public_key()),
//!     x25519::Agree::new(&bob, for_alice),
//! ];
//! for secret in x25519::agree_batch(&agreements) {
//!     assert_eq!(secret?.as_bytes(), shared.as_bytes());
//! }
//! # Ok(())
//! # }
//! ```

use alloc::{vec, vec::Vec};
use core::{fmt, ops::Deref};

use lanelock_core::parts::passed;
use lanelock_isa::{LimbKernel, LimbLevel, Limbs, StackDepth};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{
    Error, Operation, Random, SharedSecret, SystemRandom,
    curve::base_point::{self, Form},
    field::{
        p25519::{Element, Sums},
        words::LaneWords,
    },
    level::{default_level, lane_groups},
    operation::run_batch,
    secret::SecretBytes,
};

/// Bytes of a key and of a shared secret.
const BYTES: usize = 32;
/// (486662 - 2) / 4, of the curve v^2 = u^3 + 486662 u^2 + u
const A24: u32 = 121_665;

/// A secret key: 32 bytes, of which all but five bits count. Wiped when dropped.
#[derive(Clone)]
pub struct SecretKey {
    bytes: SecretBytes<BYTES>,
    level: LimbLevel,
}

impl SecretKey {
    /// The key of these bytes, for the best level of this machine. They are clamped (RFC 7748, 5) where they are
    /// used; [`as_bytes`](Self::as_bytes) returns them as they were.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Result<Self, Error> {
        Ok(Self { bytes: SecretBytes::new(bytes), level: default_level()? })
    }

    /// A random key.
    ///
    /// # Errors
    /// `random` fails, or `LANELOCK_LEVEL` has a mistake.
    pub fn generate(random: &mut dyn Random) -> Result<Self, Error> {
        Self::random(default_level()?, random)
    }

    fn random(level: LimbLevel, random: &mut dyn Random) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; BYTES]);
        random.fill(&mut *bytes)?;
        Ok(Self { bytes: SecretBytes::new(&bytes), level })
    }

    /// The same key in memory of its own that the system neither swaps out nor writes to a core dump. Its clones share
    /// that memory.
    ///
    /// # Errors
    /// [`Error::Locked`] if the system does not lock memory (for so much of it).
    pub fn lock(&self) -> Result<Self, Error> {
        Ok(Self { bytes: self.bytes.lock()?, level: self.level })
    }

    /// The same key for another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.level = level;
        self
    }

    /// The level that computes with this key.
    pub fn level(&self) -> LimbLevel {
        self.level
    }

    /// The secret bytes.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.bytes
    }

    /// The public key that belongs to this one. [`public_key_batch`] computes many side by side.
    pub fn public_key(&self) -> PublicKey {
        public_keys(self.level, &[&self.bytes]).remove(0)
    }

    /// The secret that this key and that of a peer have in common.
    ///
    /// # Errors
    /// [`Error::Key`] if it is all zeros, which only a public key of low order makes it (RFC 7748, 6.1).
    pub fn agree(&self, peer: &PublicKey) -> Result<SharedSecret, Error> {
        let mut shared = Zeroizing::new([peer.0]);
        ladder(self.level, &[&self.bytes], &mut *shared);
        checked(&shared[0])
    }
}

impl ZeroizeOnDrop for SecretKey {}

impl fmt::Debug for SecretKey {
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("level", &self.level).finish_non_exhaustive()
    }
}

/// A public key: the coordinate u of a point. Any 32 bytes are one: the highest bit is ignored, and what is not
/// below 2^255 - 19 counts modulo that (RFC 7748, 5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PublicKey([u8; BYTES]);

impl PublicKey {
    /// The key of these bytes.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Self {
        Self(*bytes)
    }

    /// The bytes, as they were given.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

/// The secret, unless it is all zeros.
fn checked(shared: &[u8; BYTES]) -> Result<SharedSecret, Error> {
    let any = shared.iter().fold(0, |any, byte| any | byte);
    if passed(u64::from(any).wrapping_sub(1) >> 63) {
        return Err(Error::Key("the public key is of low order"));
    }
    Ok(SharedSecret::new(shared.to_vec()))
}

/// An agreement to compute: the shared secret of a key and that of a peer.
#[derive(Clone, Debug)]
pub struct Agree<K> {
    key: K,
    peer: PublicKey,
}

impl<K: Deref<Target = SecretKey>> Agree<K> {
    /// The agreement of a key and that of a peer.
    pub fn new(key: K, peer: PublicKey) -> Self {
        Self { key, peer }
    }
}

impl<K: Deref<Target = SecretKey>> Operation for Agree<K> {
    type Output = SharedSecret;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.key.level
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _: &mut dyn Random) -> Vec<Result<SharedSecret, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let scalars: Vec<_> = operations.iter().map(|operation| operation.key.as_bytes()).collect();
        let mut shared: Zeroizing<Vec<_>> =
            Zeroizing::new(operations.iter().map(|operation| operation.peer.0).collect());
        ladder(first.class(), &scalars, &mut shared);
        shared.iter().map(checked).collect()
    }
}

/// Computes agreements, any number of them; result *i* is that of agreement *i*.
pub fn agree_batch<K: Deref<Target = SecretKey>>(
    agreements: &[Agree<K>],
) -> Vec<Result<SharedSecret, Error>> {
    run_batch(agreements, &mut SystemRandom)
}

/// A key pair to generate: for one agreement alone.
#[derive(Clone, Copy, Debug)]
pub struct Generate {
    level: LimbLevel,
}

impl Generate {
    /// A pair of keys for the best level of this machine.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { level: default_level()? })
    }

    /// A pair of keys for a level.
    pub fn with_level(level: LimbLevel) -> Self {
        Self { level }
    }
}

impl Operation for Generate {
    type Output = (SecretKey, PublicKey);
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.level
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Self::Output, Error>> {
        let keys: Vec<_> =
            operations.iter().map(|operation| SecretKey::random(operation.level, random)).collect();
        let mut public = public_key_batch(&keys.iter().flatten().collect::<Vec<_>>()).into_iter();
        keys.into_iter()
            .map(|key| key.map(|key| (key, public.next().expect("one for each key"))))
            .collect()
    }
}

/// Generates as many pairs of keys.
pub fn generate_batch(
    generate: &[Generate],
    random: &mut dyn Random,
) -> Vec<Result<(SecretKey, PublicKey), Error>> {
    run_batch(generate, random)
}

/// The public keys that belong to these, any number of them.
pub fn public_key_batch(keys: &[&SecretKey]) -> Vec<PublicKey> {
    let keys: Vec<_> = keys.iter().map(|&key| OfKey(key)).collect();
    run_batch(&keys, &mut SystemRandom).into_iter().flatten().collect()
}

/// A public key to compute.
struct OfKey<'a>(&'a SecretKey);

impl Operation for OfKey<'_> {
    type Output = PublicKey;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.0.level
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _: &mut dyn Random) -> Vec<Result<PublicKey, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let scalars: Vec<_> = operations.iter().map(|operation| operation.0.as_bytes()).collect();
        public_keys(first.class(), &scalars).into_iter().map(Ok).collect()
    }
}

/// The public keys of scalars, on the Edwards curve that has the same points.
fn public_keys(level: LimbLevel, scalars: &[&[u8; BYTES]]) -> Vec<PublicKey> {
    let mut wide = Zeroizing::new(vec![[0; 2 * BYTES]; scalars.len()]);
    for (wide, scalar) in wide.iter_mut().zip(scalars) {
        wide[..BYTES].copy_from_slice(*scalar);
        wide[0] &= 0xf8;
        wide[BYTES - 1] = wide[BYTES - 1] & 0x7f | 0x40;
    }
    let public = base_point::multiples(level, Form::Montgomery, &wide);
    public.points.into_iter().map(PublicKey).collect()
}

/// Replaces each coordinate u by that of the point times the scalar, at the same place.
fn ladder(level: LimbLevel, scalars: &[&[u8; BYTES]], coordinates: &mut [[u8; BYTES]]) {
    for (level, range) in lane_groups(level, scalars.len()) {
        level
            .run(Ladder { scalars: &scalars[range.clone()], coordinates: &mut coordinates[range] });
    }
    level.wipe_stack(StackDepth::KiB4);
}

/// Montgomery's ladder (RFC 7748, 5).
struct Ladder<'a> {
    scalars: &'a [&'a [u8; BYTES]],
    coordinates: &'a mut [[u8; BYTES]],
}

impl LimbKernel for Ladder<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        let mut words = LaneWords::new();
        for (scalars, coordinates) in
            self.scalars.chunks(S::LANES).zip(self.coordinates.chunks_mut(S::LANES))
        {
            words.set(scalars.iter().copied());
            let mut scalar = clamped(s, words.load(s));
            words.set(&*coordinates);
            let u = Element::from_words(s, words.load(s));
            let mut state = State::new(s, u);
            let mut swapped = s.splat(0);
            // Bit 255 is zero.
            scalar[3] = s.shift_left::<1>(scalar[3]);
            for (word, bits) in scalar.iter_mut().rev().zip([63, 64, 64, 64]) {
                for _ in 0..bits {
                    let bit = s.sub(s.splat(0), s.shift_right::<63>(*word));
                    *word = s.shift_left::<1>(*word);
                    state = state.swapped_if(s, s.xor(swapped, bit)).next(s, u);
                    swapped = bit;
                }
            }
            // The lowest bits are zero: nothing is swapped.
            words.store(s, state.coordinate(s).to_words(s));
            words.get(coordinates);
            s.wipe(&mut scalar);
        }
    }
}

/// The scalar with bits 0, 1, 2 and 255 clear and bit 254 set.
#[inline(always)]
fn clamped<S: Limbs>(s: S, words: [S::V; 4]) -> [S::V; 4] {
    let [w0, w1, w2, w3] = words;
    let w3 = s.and(w3, s.splat(u64::MAX >> 1));
    [s.and(w0, s.splat(!7)), w1, w2, s.or(w3, s.splat(1 << 62))]
}

/// Two points (x2 : z2) and (x3 : z3) whose difference is the base point, as sums and differences.
#[derive(Clone, Copy)]
struct State<S: Limbs> {
    /// x2 + z2
    a: Element<S>,
    /// x2 - z2
    b: Element<S>,
    /// x3 + z3
    c: Element<S>,
    /// x3 - z3
    d: Element<S>,
}

impl<S: Limbs> State<S> {
    /// The neutral element (1 : 0) and the point (u : 1).
    #[inline(always)]
    fn new(s: S, u: Element<S>) -> Self {
        let one = Element::splat(s, [1, 0, 0, 0, 0]);
        Self { a: one, b: one, c: u.add(s, one), d: u.sub(s, one) }
    }

    /// The points exchanged in lanes where the mask has ones.
    #[inline(always)]
    fn swapped_if(self, s: S, mask: S::V) -> Self {
        Self {
            a: Element::select(s, mask, self.c, self.a),
            b: Element::select(s, mask, self.d, self.b),
            c: Element::select(s, mask, self.a, self.c),
            d: Element::select(s, mask, self.b, self.d),
        }
    }

    /// The first point doubled, and the sum of both: the step of RFC 7748, 5, from a sum to the next.
    #[inline(always)]
    fn next(self, s: S, u: Element<S>) -> Self {
        let (da, cb) = (self.d.times_biased(s, self.a), self.c.times(s, self.b));
        let (aa, bb) = (self.a.squared_biased(s), self.b.squared(s));
        let sum = da.plus(s, cb).carried(s);
        let difference = da.minus(s, cb).carried(s);
        let e = aa.minus(s, bb).carried(s);
        let (aa, bb) = (aa.carried(s), bb.carried(s));

        let x3 = sum.squared_biased(s);
        let difference = difference.square(s);
        let factor = Sums::of(aa).plus(s, e.times_small(s, A24)).carried(s);
        let x2 = aa.times_biased(s, bb);
        let z2 = e.times(s, factor);
        let z3 = difference.times(s, u);
        Self {
            a: x2.plus(s, z2).carried(s),
            b: x2.minus(s, z2).carried(s),
            c: x3.plus(s, z3).carried(s),
            d: x3.minus(s, z3).carried(s),
        }
    }

    /// x2 / z2
    #[inline(always)]
    fn coordinate(self, s: S) -> Element<S> {
        self.a.add(s, self.b).mul(s, self.a.sub(s, self.b).inverted(s))
    }
}
