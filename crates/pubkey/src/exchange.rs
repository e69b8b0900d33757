//! Key exchange, whatever the algorithm: what a handshake calls.
//!
//! An exchange has three steps. The client *starts* it and sends a share; the server *answers* with a share of its own
//! and has the secret; the client *finishes* with that answer and has the same. Diffie-Hellman fits this form, and so
//! does a key encapsulation such as ML-KEM, whose server cannot make its share before it has the client's: what is
//! written over [`KeyExchange`] takes hybrids of both as they come.
//!
//! Each step is an [`Operation`], so that many handshakes share the lanes.
//!
//! ```
//! use lanelock_pubkey::{SystemRandom, exchange::{Answer, Finish, Start, X25519}, run_batch};
//!
//! # fn main() -> Result<(), lanelock_pubkey::Error> {
//! let random = &mut SystemRandom;
//! // Eight clients, and a server that answers all of them at once.
//! let starts = vec![Start::<X25519>::new()?; 8];
//! let clients: Vec<_> = run_batch(&starts, random).into_iter().collect::<Result<_, _>>()?;
//! let answers: Vec<_> =
//!     clients.iter().map(|client| Answer::<X25519, _>::new(&client.share)).collect::<Result<_, _>>()?;
//! for (client, answer) in clients.iter().zip(run_batch(&answers, random)) {
//!     let answer = answer?;
//!     let finish = Finish::<X25519, _, _>::new(&client.secret, &answer.share);
//!     let shared = run_batch(&[finish], random).remove(0)?;
//!     assert_eq!(shared.as_bytes(), answer.shared.as_bytes());
//! }
//! # Ok(())
//! # }
//! ```

use alloc::{vec, vec::Vec};
use core::{fmt, marker::PhantomData, ops::Deref};

use lanelock_isa::LimbLevel;
use zeroize::ZeroizeOnDrop;

use crate::{
    Curve, Error, Operation, Random, SharedSecret, ecdh, level::default_level, run_batch, x25519,
};

/// An algorithm by which two sides come to a secret.
pub trait KeyExchange {
    /// The group in TLS (RFC 8446, 4.2.7, and IANA's registry of supported groups).
    const GROUP: u16;
    /// Bytes of the client's share.
    const SHARE: usize;
    /// Bytes of the server's.
    const ANSWER: usize;
    /// What the client keeps until the answer comes; wiped when dropped.
    type Secret: ZeroizeOnDrop;

    /// The level that computes with a secret.
    fn level(secret: &Self::Secret) -> LimbLevel;

    /// Starts as many exchanges.
    fn start(
        level: LimbLevel,
        count: usize,
        random: &mut dyn Random,
    ) -> Vec<Result<Started<Self::Secret>, Error>>;

    /// Answers clients' shares; result *i* is that of share *i*.
    fn answer(
        level: LimbLevel,
        shares: &[&[u8]],
        random: &mut dyn Random,
    ) -> Vec<Result<Answered, Error>>;

    /// Finishes exchanges with servers' answers; result *i* is that of exchange *i*.
    fn finish(exchanges: &[(&Self::Secret, &[u8])]) -> Vec<Result<SharedSecret, Error>>;
}

/// What the client has when it has started.
#[derive(Clone, Debug)]
pub struct Started<S> {
    /// What it keeps.
    pub secret: S,
    /// What it sends.
    pub share: Vec<u8>,
}

/// What the server has when it has answered.
#[derive(Clone, Debug)]
pub struct Answered {
    /// What it sends.
    pub share: Vec<u8>,
    /// What it has in common with the client.
    pub shared: SharedSecret,
}

/// The first step, the client's: a pair of keys.
pub struct Start<X> {
    level: LimbLevel,
    exchange: PhantomData<fn() -> X>,
}

impl<X> Start<X> {
    /// At the best level of this machine.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    pub fn new() -> Result<Self, Error> {
        Ok(Self::with_level(default_level()?))
    }

    /// At a level.
    pub const fn with_level(level: LimbLevel) -> Self {
        Self { level, exchange: PhantomData }
    }
}

impl<X> Clone for Start<X> {
    fn clone(&self) -> Self {
        Self::with_level(self.level)
    }
}

impl<X> fmt::Debug for Start<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("level", &self.level).finish()
    }
}

impl<X: KeyExchange> Operation for Start<X> {
    type Output = Started<X::Secret>;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.level
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Self::Output, Error>> {
        operations
            .first()
            .map_or_else(Vec::new, |first| X::start(first.level, operations.len(), random))
    }
}

/// The second step, the server's: its share for that of a client.
pub struct Answer<X, B> {
    share: B,
    level: LimbLevel,
    exchange: PhantomData<fn() -> X>,
}

impl<X, B: AsRef<[u8]>> Answer<X, B> {
    /// At the best level of this machine.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake.
    pub fn new(share: B) -> Result<Self, Error> {
        Ok(Self::with_level(share, default_level()?))
    }

    /// At a level.
    pub const fn with_level(share: B, level: LimbLevel) -> Self {
        Self { share, level, exchange: PhantomData }
    }
}

impl<X, B> fmt::Debug for Answer<X, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("level", &self.level).finish_non_exhaustive()
    }
}

impl<X: KeyExchange, B: AsRef<[u8]>> Operation for Answer<X, B> {
    type Output = Answered;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        self.level
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Answered, Error>> {
        let Some(first) = operations.first() else { return Vec::new() };
        let shares: Vec<_> = operations.iter().map(|operation| operation.share.as_ref()).collect();
        X::answer(first.level, &shares, random)
    }
}

/// The last step, the client's: the secret, by a server's answer.
pub struct Finish<X, S, B> {
    secret: S,
    answer: B,
    exchange: PhantomData<fn() -> X>,
}

impl<X, S, B> Finish<X, S, B> {
    /// With what the client kept.
    pub const fn new(secret: S, answer: B) -> Self {
        Self { secret, answer, exchange: PhantomData }
    }
}

impl<X, S, B> fmt::Debug for Finish<X, S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finish").finish_non_exhaustive()
    }
}

impl<X, S, B> Operation for Finish<X, S, B>
where
    X: KeyExchange,
    S: Deref<Target = X::Secret>,
    B: AsRef<[u8]>,
{
    type Output = SharedSecret;
    type Class = LimbLevel;

    fn class(&self) -> LimbLevel {
        X::level(&self.secret)
    }

    fn lanes(class: LimbLevel) -> usize {
        class.width()
    }

    fn run(operations: &[&Self], _: &mut dyn Random) -> Vec<Result<SharedSecret, Error>> {
        let exchanges: Vec<(&X::Secret, &[u8])> = operations
            .iter()
            .map(|operation| (&*operation.secret, operation.answer.as_ref()))
            .collect();
        X::finish(&exchanges)
    }
}

/// Diffie-Hellman on Curve25519 ([`x25519`]).
#[derive(Clone, Copy, Debug)]
pub enum X25519 {}

impl KeyExchange for X25519 {
    const GROUP: u16 = 0x001d;
    const SHARE: usize = 32;
    const ANSWER: usize = 32;
    type Secret = x25519::SecretKey;

    fn level(secret: &x25519::SecretKey) -> LimbLevel {
        secret.level()
    }

    fn start(
        level: LimbLevel,
        count: usize,
        random: &mut dyn Random,
    ) -> Vec<Result<Started<x25519::SecretKey>, Error>> {
        x25519::generate_batch(&vec![x25519::Generate::with_level(level); count], random)
            .into_iter()
            .map(|pair| {
                pair.map(|(secret, public)| Started { secret, share: public.as_bytes().to_vec() })
            })
            .collect()
    }

    fn answer(
        level: LimbLevel,
        shares: &[&[u8]],
        random: &mut dyn Random,
    ) -> Vec<Result<Answered, Error>> {
        answer_by_diffie_hellman::<Self>(level, shares, random)
    }

    fn finish(exchanges: &[(&x25519::SecretKey, &[u8])]) -> Vec<Result<SharedSecret, Error>> {
        each_valid(
            exchanges,
            |(secret, share)| {
                Ok(x25519::Agree::new(*secret, x25519::PublicKey::from_bytes(fixed(share)?)))
            },
            x25519::agree_batch,
        )
    }
}

/// Diffie-Hellman on a curve of NIST ([`ecdh`]): P-256, P-384, P-521. Shares are points without compression (RFC 8446,
/// 4.2.8.2).
#[derive(Clone, Copy, Debug)]
pub struct Ecdh<C>(PhantomData<fn() -> C>);

impl<C: Curve> KeyExchange for Ecdh<C> {
    const GROUP: u16 = C::TLS_GROUP;
    const SHARE: usize = 1 + 2 * C::BYTES;
    const ANSWER: usize = Self::SHARE;
    type Secret = ecdh::SecretKey<C>;

    fn level(secret: &ecdh::SecretKey<C>) -> LimbLevel {
        secret.level()
    }

    fn start(
        level: LimbLevel,
        count: usize,
        random: &mut dyn Random,
    ) -> Vec<Result<Started<ecdh::SecretKey<C>>, Error>> {
        run_batch(&vec![ecdh::Generate::with_level(level); count], random)
            .into_iter()
            .map(|secret| {
                let secret = secret?;
                let share = secret.public_key().to_sec1_bytes();
                Ok(Started { secret, share })
            })
            .collect()
    }

    fn answer(
        level: LimbLevel,
        shares: &[&[u8]],
        random: &mut dyn Random,
    ) -> Vec<Result<Answered, Error>> {
        answer_by_diffie_hellman::<Self>(level, shares, random)
    }

    fn finish(exchanges: &[(&ecdh::SecretKey<C>, &[u8])]) -> Vec<Result<SharedSecret, Error>> {
        each_valid(
            exchanges,
            |(secret, share)| {
                if share.len() != Self::SHARE {
                    return Err(wrong_length(share.len(), Self::SHARE));
                }
                Ok(ecdh::Agree::new(*secret, ecdh::PublicKey::from_sec1_bytes(share)?))
            },
            ecdh::agree_batch,
        )
    }
}

fn wrong_length(got: usize, expected: usize) -> Error {
    Error::Length { what: "the key share", got, expected }
}

/// A share of that length.
fn fixed<const N: usize>(share: &[u8]) -> Result<&[u8; N], Error> {
    share.try_into().map_err(|_| wrong_length(share.len(), N))
}

/// The server's step where both steps are the same: a pair of keys of its own, and an agreement.
fn answer_by_diffie_hellman<X: KeyExchange>(
    level: LimbLevel,
    shares: &[&[u8]],
    random: &mut dyn Random,
) -> Vec<Result<Answered, Error>> {
    let pairs = X::start(level, shares.len(), random);
    let exchanges: Vec<_> = pairs
        .iter()
        .zip(shares)
        .filter_map(|(pair, share)| Some((&pair.as_ref().ok()?.secret, *share)))
        .collect();
    let mut shared = X::finish(&exchanges).into_iter();
    let pairs = pairs.into_iter();
    pairs
        .map(|pair| {
            let share = pair?.share;
            let shared = shared.next().expect("one for each pair")?;
            Ok(Answered { share, shared })
        })
        .collect()
}

/// Runs what can be made of the inputs as one batch; result *i* is that of input *i*.
fn each_valid<I, O, R>(
    inputs: &[I],
    operation: impl Fn(&I) -> Result<O, Error>,
    run: impl Fn(&[O]) -> Vec<Result<R, Error>>,
) -> Vec<Result<R, Error>> {
    let mut operations = Vec::with_capacity(inputs.len());
    let valid: Vec<Result<(), Error>> = inputs
        .iter()
        .map(|input| operation(input).map(|operation| operations.push(operation)))
        .collect();
    let mut results = run(&operations).into_iter();
    valid
        .into_iter()
        .map(|valid| valid.and_then(|()| results.next().expect("one for each operation")))
        .collect()
}
