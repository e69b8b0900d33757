//! Hashes and HMACs against RustCrypto at every level: in pieces, many in lanes, through the scheduler; states
//! that are exported, changed and imported; trees.

use std::num::NonZeroUsize;

use arbitrary::{Result, Unstructured};
use blake2::{Blake2b512, Blake2s256};
use digest::{
    CustomizedInit, Digest, ExtendableOutput, KeyInit, Mac, Update, XofReader,
    block_api::BlockSizeUser,
};
use lanelock::{
    hash::{
        Hash, HashJob, HmacJob, HmacKey, Kt128, Levels, OwnedHashJob, ParallelHash256,
        algorithm::{self as ours, Algorithm},
        hash_all, hmac_all, update_all,
    },
    lanes::{Order, Scheduler},
};

use crate::input::{bytes, cuts, filled, length};

/// The target.
pub fn hashes(data: &[u8]) {
    // An input that ends too early is none.
    let _ = run(data);
}

/// The algorithms, and the ways to use them, as the first two bytes of an input choose them.
pub(crate) const ALGORITHMS: u8 = 18;
pub(crate) const WAYS: u8 = 6;

fn run(data: &[u8]) -> Result<()> {
    let u = &mut Unstructured::new(data);
    match u.arbitrary::<u8>()? % ALGORITHMS {
        0 => way::<ours::Sha1>(u, fixed::<sha1::Sha1>()),
        1 => way::<ours::Sha224>(u, fixed::<sha2::Sha224>()),
        2 => way::<ours::Sha256>(u, fixed::<sha2::Sha256>()),
        3 => way::<ours::Sha384>(u, fixed::<sha2::Sha384>()),
        4 => way::<ours::Sha512>(u, fixed::<sha2::Sha512>()),
        5 => way::<ours::Sha512_224>(u, fixed::<sha2::Sha512_224>()),
        6 => way::<ours::Sha512_256>(u, fixed::<sha2::Sha512_256>()),
        7 => way::<ours::Sha3_224>(u, fixed::<sha3::Sha3_224>()),
        8 => way::<ours::Sha3_256>(u, fixed::<sha3::Sha3_256>()),
        9 => way::<ours::Sha3_384>(u, fixed::<sha3::Sha3_384>()),
        10 => way::<ours::Sha3_512>(u, fixed::<sha3::Sha3_512>()),
        11 => way::<ours::Sm3>(u, fixed::<sm3::Sm3>()),
        12 => way::<ours::Blake2b>(u, fixed::<Blake2b512>()),
        13 => way::<ours::Blake2s>(u, fixed::<Blake2s256>()),
        14 => way::<ours::Shake128>(u, any_length::<shake::Shake128>()),
        15 => way::<ours::Shake256>(u, any_length::<shake::Shake256>()),
        16 => kangaroo(u),
        _ => parallel(u),
    }
}

/// The HMAC of key and message by another implementation.
type OtherHmac = fn(&[u8], &[u8]) -> Vec<u8>;

/// Another implementation: a digest of so many bytes, and the HMAC of key and message.
#[derive(Clone, Copy)]
struct Other {
    digest: fn(&[u8], usize) -> Vec<u8>,
    hmac: Option<OtherHmac>,
}

fn fixed<D: Digest + BlockSizeUser + Clone>() -> Other {
    Other {
        digest: |message, _| D::digest(message).to_vec(),
        hmac: Some(|key, message| {
            let mut hmac = hmac::SimpleHmac::<D>::new_from_slice(key).expect("a key of any length");
            Mac::update(&mut hmac, message);
            hmac.finalize().into_bytes().to_vec()
        }),
    }
}

fn any_length<D: Default + Update + ExtendableOutput>() -> Other {
    let digest = |message: &[u8], length| {
        let mut hash = D::default();
        hash.update(message);
        let mut output = vec![0; length];
        hash.finalize_xof().read(&mut output);
        output
    };
    Other { digest, hmac: None }
}

fn way<A: Algorithm>(u: &mut Unstructured<'_>, other: Other) -> Result<()> {
    let way = u.arbitrary::<u8>()? % WAYS;
    let levels = levels(u)?;
    let case =
        Case { levels, digest: |message: &[u8]| (other.digest)(message, size_of::<A::Digest>()) };
    match (way, other.hmac) {
        (0, _) => case.one::<A>(u),
        (1, _) => case.many::<A>(u),
        (2, _) => case.streams::<A>(u),
        (3, _) => case.state::<A>(u),
        (4, Some(hmac)) => case.macs::<A>(u, hmac),
        (_, hmac) => case.scheduled::<A>(u, hmac),
    }
}

fn levels(u: &mut Unstructured<'_>) -> Result<Levels> {
    let levels: Vec<_> = Levels::available().collect();
    Ok(*u.choose(&levels)?)
}

/// The most bytes of all messages of an input.
const ROOM: usize = 30_000;

/// Messages that have mostly one length.
fn messages(u: &mut Unstructured<'_>, most: usize) -> Result<Vec<Vec<u8>>> {
    let usual = length(u, 600)?;
    let (mut messages, mut room) = (Vec::new(), ROOM);
    for _ in 0..u.int_in_range(0..=most)? {
        let length = match u.arbitrary::<u8>()? % 4 {
            0 => length(u, 3000)?,
            1 => length(u, 200)?,
            _ => usual,
        };
        room = match room.checked_sub(length) {
            Some(room) => room,
            None => break,
        };
        messages.push(filled(u, length)?);
    }
    Ok(messages)
}

struct Case<D> {
    levels: Levels,
    digest: D,
}

impl<D: Fn(&[u8]) -> Vec<u8>> Case<D> {
    fn check<A: Algorithm>(&self, what: &str, message: &[u8], digest: A::Digest) {
        let expected = (self.digest)(message);
        let bytes = message.len();
        assert_eq!(
            digest.as_ref(),
            expected,
            "{} {:?}: {what}, {bytes} bytes",
            A::NAME,
            self.levels
        );
    }

    /// One message in pieces, and a clone on the way.
    fn one<A: Algorithm>(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let message = bytes(u, 3000)?;
        let pieces = cuts(u, &message, 1)?;
        let mut hash = Hash::<A>::with_level(self.levels.one);
        let mut taken = 0;
        for piece in pieces {
            hash.update(piece);
            taken += piece.len();
            self.check::<A>("in pieces", &message[..taken], hash.clone().finish());
        }
        assert_eq!((taken, hash.length()), (message.len(), message.len() as u64));
        Ok(())
    }

    fn many<A: Algorithm>(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let messages = messages(u, 120)?;
        let mut jobs: Vec<_> = messages.iter().map(|message| HashJob::<A>::new(message)).collect();
        hash_all(self.levels, &mut jobs);
        for job in &jobs {
            self.check::<A>("many", job.message, job.digest);
        }
        Ok(())
    }

    /// Many messages that come in pieces.
    fn streams<A: Algorithm>(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let mut wholes = messages(u, 40)?;
        let mut hashes = vec![Hash::<A>::with_level(self.levels.one); wholes.len()];
        for hash in wholes.iter().zip(&mut hashes) {
            hash.1.update(hash.0);
        }
        for _ in 0..u.int_in_range(0..=5)? {
            let more = messages(u, wholes.len())?;
            let mut pieces: Vec<_> =
                hashes.iter_mut().zip(&more).map(|(hash, piece)| (hash, &piece[..])).collect();
            update_all(self.levels, &mut pieces);
            for (whole, piece) in wholes.iter_mut().zip(&more) {
                whole.extend(piece);
            }
        }
        for (whole, hash) in wholes.iter().zip(hashes) {
            self.check::<A>("streams", whole, hash.finish());
        }
        Ok(())
    }

    /// A state as bytes, as they are and changed.
    fn state<A: Algorithm>(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let (first, last) = (bytes(u, 700)?, bytes(u, 700)?);
        let mut hash = Hash::<A>::with_level(self.levels.one);
        hash.update(&first);
        let state = hash.export();
        let level = levels(u)?.one;
        let import = |state: &[u8]| Hash::<A>::import_with_level(level, state);
        let mut hash = import(&state).expect("its own state");
        assert_eq!(*hash.export(), *state, "{} {level}", A::NAME);
        hash.update(&last);
        self.check::<A>("imported", &[first, last].concat(), hash.finish());

        let mut changed = state.to_vec();
        for _ in 0..u.int_in_range(0..=3)? {
            match u.arbitrary::<u8>()? % 4 {
                0 => changed.truncate(u.int_in_range(0..=changed.len())?),
                1 => changed.extend(bytes(u, 200)?),
                _ if changed.is_empty() => {}
                _ => {
                    let at = u.choose_index(changed.len())?;
                    changed[at] = u.arbitrary()?;
                }
            }
        }
        if changed != **state {
            assert!(import(&changed).is_err(), "{}: {changed:02x?}", A::NAME);
        }
        // With the sum that belongs to it.
        if let Some((body, _)) = changed.split_last_chunk::<8>() {
            let sum = sha2::Sha256::digest(body);
            let changed = [body, &sum[..8]].concat();
            if let Ok(mut hash) = import(&changed) {
                assert_eq!(**hash.export(), *changed, "{}", A::NAME);
                hash.update(&[7; 300]);
                hash.finish();
            }
        }
        Ok(())
    }

    fn macs<A: Algorithm>(
        &self,
        u: &mut Unstructured<'_>,
        hmac: fn(&[u8], &[u8]) -> Vec<u8>,
    ) -> Result<()> {
        let keys = [bytes(u, 300)?, bytes(u, 64)?];
        let levels = self.levels;
        let made = [0, 1].map(|key| HmacKey::<A>::with_levels(levels, &keys[key]));
        let messages = messages(u, 80)?;
        let mut jobs: Vec<_> = messages
            .iter()
            .enumerate()
            .map(|(number, message)| HmacJob::new(&made[number % 3 / 2], message))
            .collect();
        hmac_all(&mut jobs);
        for (number, job) in jobs.iter().enumerate() {
            let expected = hmac(&keys[number % 3 / 2], job.message);
            let what = format!("HMAC-{} {levels:?} of {} bytes", A::NAME, job.message.len());
            assert_eq!(job.tag.as_ref(), expected, "{what}, many");
            assert_eq!(job.key.verify(job.message, &expected), Ok(()), "{what}");
            let mut forged = expected;
            forged[number % 20] ^= 1;
            assert!(job.key.verify(job.message, &forged).is_err(), "{what}, forged");
            let mut pieces = job.key.start();
            for piece in job.message.chunks(number % 90 + 1) {
                pieces.update(piece);
            }
            assert_eq!(pieces.finish(), job.tag, "{what}, in pieces");
        }
        Ok(())
    }

    fn scheduled<A: Algorithm>(
        &self,
        u: &mut Unstructured<'_>,
        hmac: Option<OtherHmac>,
    ) -> Result<()> {
        let key = bytes(u, 200)?;
        let made = HmacKey::<A>::with_levels(self.levels, &key);
        let order = *u.choose(&[Order::Submitted, Order::Finished])?;
        let every: usize = u.int_in_range(1..=200)?;
        let messages = messages(u, 250)?;
        let has_key = |number: usize| hmac.filter(|_| number % 3 == 1);
        let mut scheduler = Scheduler::new(order);
        let mut done = Vec::new();
        for (number, message) in messages.iter().enumerate() {
            let job = if has_key(number).is_some() {
                OwnedHashJob::hmac(&made, message, number)
            } else {
                OwnedHashJob::<A, _, _>::new(self.levels, message, number)
            };
            done.extend(scheduler.submit(job).expect("buffers that stay as they are"));
            if number % every == every - 1 {
                scheduler.flush().expect("the same");
            }
        }
        scheduler.flush().expect("the same");
        done.extend(std::iter::from_fn(|| scheduler.completed()));
        if order == Order::Finished {
            done.sort_by_key(|done| done.tag);
        }
        assert!(done.iter().map(|done| done.tag).eq(0..messages.len()), "each comes back once");
        for done in done {
            if let Some(hmac) = has_key(done.tag) {
                let expected = hmac(&key, done.message);
                assert_eq!(done.digest.as_ref(), expected, "HMAC-{} scheduled", A::NAME);
            } else {
                self.check::<A>("scheduled", done.message, done.digest);
            }
        }
        Ok(())
    }
}

/// KangarooTwelve against another implementation.
fn kangaroo(u: &mut Unstructured<'_>) -> Result<()> {
    let (levels, message, custom) = (levels(u)?, bytes(u, 8192 * 6)?, bytes(u, 300)?);
    let mut hash = Kt128::with_levels(levels);
    for piece in cuts(u, &message, 1)? {
        hash.update(piece);
    }
    let (mut found, mut expected) = ([0; 40], [0; 40]);
    hash.finish(&custom).read(&mut found);
    let mut other = k12::CustomKt128::new_customized(&custom);
    other.update(&message);
    other.finalize_xof().read(&mut expected);
    assert_eq!(found, expected, "{levels:?}: {} bytes", message.len());
    Ok(())
}

/// ParallelHash in pieces against the same a byte at a time, which takes no lanes.
fn parallel(u: &mut Unstructured<'_>) -> Result<()> {
    let (levels, message, custom) = (levels(u)?, bytes(u, 3000)?, bytes(u, 300)?);
    let leaf = NonZeroUsize::MIN.saturating_add(u.int_in_range(0..=700)?);
    let mut hash = ParallelHash256::with_levels(levels, leaf, &custom);
    for piece in cuts(u, &message, 1)? {
        hash.update(piece);
    }
    let portable = "portable".parse().expect("every processor has it");
    let one = Levels { one: portable, ..levels };
    let mut expected = ParallelHash256::with_levels(one, leaf, &custom);
    for byte in &message {
        expected.update(&[*byte]);
    }
    let mut digests = [[0; 30]; 2];
    hash.finish(&mut digests[0]);
    expected.finish(&mut digests[1]);
    assert_eq!(digests[0], digests[1], "{levels:?}: {} bytes, leaves of {leaf}", message.len());
    Ok(())
}
