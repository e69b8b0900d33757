//! Hashes and HMACs through the scheduler of the lanes: what comes back, and in which
//! order. `LANELOCK_LONG` makes it a million messages.

use digest::Digest;
use hmac::{KeyInit, Mac};
use lanelock_core::lanes::{Order, Scheduler};
use lanelock_digest::{
    Hash, HashCompleted, HmacKey, Levels, OwnedHashJob,
    algorithm::{Algorithm, Blake2s, Sha1, Sha3_256, Sha256, Sha512, Sm3},
};
use lanelock_testkit::{Rng, is_long, pattern};

/// The messages of all algorithms together.
const MANY: usize = 1_000_000;
const FEW: usize = 20_000;
const ALGORITHMS: usize = 5;

/// What was submitted: where the message is, and whether it gets an HMAC.
#[derive(Clone, Copy, Debug)]
struct Submitted {
    start: usize,
    length: usize,
    has_key: bool,
}

/// Lengths of the messages of a protocol, of files, and near the ends of blocks.
fn length(rng: &mut Rng) -> usize {
    match rng.below(100) {
        0 => rng.below(60_000),
        1..=9 => rng.below(4000),
        10..=39 => (rng.below(6) * 64 + 50 + rng.below(28)).min(400),
        _ => rng.below(300),
    }
}

/// Messages through one scheduler in any order, with flushes and collections in between; all that comes back is
/// compared with another implementation.
fn soak<A: Algorithm>(hash: fn(&[u8]) -> Vec<u8>, hmac: fn(&[u8], &[u8]) -> Vec<u8>) {
    let mut rng = Rng::from_env(A::NAME);
    let text = rng.bytes(200_000);
    let count = if is_long() { MANY } else { FEW } / ALGORITHMS;
    let levels: Vec<_> = Levels::available().collect();
    for order in [Order::Submitted, Order::Finished] {
        // Mostly the fastest, and all of them.
        let keys: Vec<_> =
            levels.iter().map(|levels| HmacKey::<A>::with_levels(*levels, b"a key")).collect();
        let mut scheduler = Scheduler::new(order);
        let (mut jobs, mut returned) = (Vec::new(), Vec::new());
        let mut take = |jobs: &[Submitted], done: HashCompleted<A, &[u8], usize>| {
            let Submitted { start, length, has_key } = jobs[done.tag];
            let message = &text[start..start + length];
            assert_eq!(done.message.as_ptr_range(), message.as_ptr_range());
            let expected = if has_key { hmac(b"a key", message) } else { hash(message) };
            assert_eq!(done.digest.as_ref(), expected, "{} {:?}", A::NAME, jobs[done.tag]);
            returned.push(done.tag);
        };
        let usual = levels.iter().position(|levels| *levels == Levels::fastest()).unwrap();
        while jobs.len() < count / 2 {
            let which = if rng.below(8) == 0 { rng.below(levels.len()) } else { usual };
            let (length, has_key) = (length(&mut rng), rng.below(3) == 0);
            let start = rng.below(text.len() - length);
            let message = &text[start..start + length];
            let job = if has_key {
                OwnedHashJob::hmac(&keys[which], message, jobs.len())
            } else {
                OwnedHashJob::new(levels[which], message, jobs.len())
            };
            jobs.push(Submitted { start, length, has_key });
            if let Some(done) = scheduler.submit(job).unwrap() {
                take(&jobs, done);
            }
            assert!(scheduler.waiting() < scheduler.capacity());
            match rng.below(2000) {
                0 => scheduler.flush().unwrap(),
                1..=20 => {
                    while let Some(done) = scheduler.completed() {
                        take(&jobs, done);
                    }
                }
                _ => {}
            }
        }
        scheduler.flush().unwrap();
        assert_eq!(scheduler.waiting(), 0);
        while let Some(done) = scheduler.completed() {
            take(&jobs, done);
        }
        if order == Order::Finished {
            assert!(!returned.is_sorted(), "none overtakes another");
            returned.sort_unstable();
        }
        assert!(returned.into_iter().eq(0..jobs.len()), "each comes back once");
    }
}

macro_rules! soaks {
    ($($test:ident: $algorithm:ty, $other:ty;)+) => {
        $(
            #[test]
            fn $test() {
                soak::<$algorithm>(
                    |message| <$other>::digest(message).to_vec(),
                    |key, message| {
                        let mut hmac = hmac::SimpleHmac::<$other>::new_from_slice(key).unwrap();
                        Mac::update(&mut hmac, message);
                        hmac.finalize().into_bytes().to_vec()
                    },
                );
            }
        )+
    };
}

soaks! {
    soak_of_sha_1: Sha1, sha1::Sha1;
    soak_of_sha_256: Sha256, sha2::Sha256;
    soak_of_sha_512: Sha512, sha2::Sha512;
    soak_of_sha3_256: Sha3_256, sha3::Sha3_256;
    soak_of_blake2s: Blake2s, blake2::Blake2s256;
}

/// What is in the lanes stays half done until there is something to fill the others with.
#[test]
fn short_ones_overtake() {
    for levels in Levels::available() {
        let mut scheduler = Scheduler::new(Order::Finished);
        let long = pattern(100_000);
        let mut done = Vec::new();
        for number in 0..300 {
            let message = if number == 0 { &long[..] } else { &long[..number % 7 * 30] };
            let job = OwnedHashJob::<Sm3, _, _>::new(levels, message, number);
            done.extend(scheduler.submit(job).unwrap());
        }
        assert!(scheduler.waiting() < scheduler.capacity());
        scheduler.flush().unwrap();
        done.extend(std::iter::from_fn(|| scheduler.completed()));
        let place = done.iter().position(|done| done.tag == 0).unwrap();
        if levels.lanes.width() >= 8 {
            assert!(place > 60, "{levels:?}: {place} were faster");
        }
        let mut hash = Hash::<Sm3>::with_level(levels.one);
        hash.update(&long);
        assert_eq!(done[place].digest, hash.finish(), "{levels:?}");
    }
}
