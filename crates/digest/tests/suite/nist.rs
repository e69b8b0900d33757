//! Published vectors of hashes at every level, of one message, in pieces and in lanes: NIST's short and long
//! messages, variable output and Monte Carlo (SHAVS, SHA3VS), the examples of SM3, the list of BLAKE2's authors.

use lanelock_digest::{Hash, HashJob, HashLevel, Levels, algorithm::*, hash_all};
use lanelock_isa::ShaLevel;
use lanelock_testkit::{
    Rng,
    digest::{MonteCase, Suite},
    folder_named_by, is_long, skip,
};

/// The output of a hash, as much of it as there is room for.
type Read<A> = fn(Hash<A>, &mut [u8]);

fn read_digest<A: Algorithm>(hash: Hash<A>, output: &mut [u8]) {
    output.copy_from_slice(hash.finish().as_ref());
}

/// Levels that are not here are named as skipped.
fn name_skipped() {
    for (name, _) in HashLevel::known() {
        if let Err(error) = name.parse::<HashLevel>() {
            skip(&format!("level {name}: {error}"));
        }
    }
    for (name, _) in ShaLevel::known() {
        if let Err(error) = name.parse::<ShaLevel>() {
            skip(&format!("level {name}: {error}"));
        }
    }
}

/// Every message alone, in two pieces, in many; all messages side by side.
fn messages<A: Algorithm>(suite: &Suite, algorithm: &str, read: Read<A>) {
    let cases = suite.messages(algorithm);
    assert!(!cases.is_empty(), "{algorithm}");
    let mut rng = Rng::from_env(algorithm);
    for level in ShaLevel::available() {
        for case in &cases {
            let whole = case.message.len();
            let cut = rng.below(whole + 1);
            let small = rng.below(70) + 1;
            for piece in [whole.max(1), cut.max(1), small] {
                let mut hash = Hash::<A>::with_level(level);
                for piece in case.message.chunks(piece) {
                    hash.update(piece);
                }
                let mut digest = vec![0; case.digest.len()];
                read(hash, &mut digest);
                assert_eq!(digest, case.digest, "{} {level}, pieces of {piece}", case.name);
            }
        }
    }
    for levels in Levels::available() {
        let mut jobs: Vec<_> = cases.iter().map(|case| HashJob::<A>::new(&case.message)).collect();
        hash_all(levels, &mut jobs);
        for (job, case) in jobs.iter().zip(&cases) {
            let bytes = case.digest.len().min(size_of::<A::Digest>());
            assert_eq!(
                job.digest.as_ref()[..bytes],
                case.digest[..bytes],
                "{} {levels:?}",
                case.name
            );
        }
    }
}

/// What the next message of a Monte Carlo is made of: the last digests, the newest last.
#[derive(Clone)]
struct Chain {
    digests: Vec<Vec<u8>>,
}

impl Chain {
    /// SHAVS, 6.4: a message is the last three digests. SHA3VS, 6.2.3: the last one.
    fn begin(seed: &[u8], of: usize) -> Self {
        Self { digests: vec![seed.to_vec(); of] }
    }

    fn message(&self) -> Vec<u8> {
        self.digests.concat()
    }

    fn push(&mut self, digest: &[u8]) {
        self.digests.rotate_left(1);
        *self.digests.last_mut().unwrap() = digest.to_vec();
    }
}

/// How many of the hundred thousands a level takes: slow ones have time for few.
fn thousands(is_fastest: bool) -> usize {
    if is_fastest || is_long() { 100 } else { 40 }
}

/// One thousand after the other at each level of one message, and all of them side by side, since each
/// begins with the digest that the one before is published to end with.
fn monte<A: Algorithm>(algorithm: &str, of: usize) {
    let MonteCase { name, seed, digests, .. } = Suite::committed().monte(algorithm);
    for level in ShaLevel::available() {
        let mut seed = seed.clone();
        let thousands = thousands(level == ShaLevel::fastest());
        for (number, expected) in digests.iter().take(thousands).enumerate() {
            let mut chain = Chain::begin(&seed, of);
            for _ in 0..1000 {
                let mut hash = Hash::<A>::with_level(level);
                hash.update(&chain.message());
                chain.push(hash.finish().as_ref());
            }
            seed = chain.digests.pop().unwrap();
            assert_eq!(seed, *expected, "{name} {number}, {level}");
        }
    }
    let one = ShaLevel::fastest();
    for lanes in HashLevel::available() {
        let begins = std::iter::once(&seed).chain(&digests[..99]);
        let thousands = thousands(lanes == HashLevel::fastest());
        let mut chains: Vec<_> =
            begins.take(thousands).map(|seed| Chain::begin(seed, of)).collect();
        for _ in 0..1000 {
            let messages: Vec<_> = chains.iter().map(Chain::message).collect();
            let mut jobs: Vec<_> =
                messages.iter().map(|message| HashJob::<A>::new(message)).collect();
            hash_all(Levels { lanes, one }, &mut jobs);
            for (chain, job) in chains.iter_mut().zip(&jobs) {
                chain.push(job.digest.as_ref());
            }
        }
        for (number, (chain, expected)) in chains.iter().zip(&digests).enumerate() {
            assert_eq!(chain.digests.last().unwrap(), expected, "{name} {number}, {lanes}");
        }
    }
}

/// SHA3VS, 6.3.3: a message is the first 16 bytes of the last output, the length of an output is made of its last two.
fn monte_of_any_length<A: Algorithm>(algorithm: &str, read: Read<A>) {
    let MonteCase { name, seed, digests, range } = Suite::committed().monte(algorithm);
    let (fewest, most) = range.unwrap();
    for level in ShaLevel::available() {
        let (mut output, mut length) = (seed.clone(), most);
        let thousands = thousands(level == ShaLevel::fastest());
        for (number, expected) in digests.iter().take(thousands).enumerate() {
            for _ in 0..1000 {
                output.resize(output.len().max(16), 0);
                let mut hash = Hash::<A>::with_level(level);
                hash.update(&output[..16]);
                output = vec![0; length];
                read(hash, &mut output);
                let last = output.last_chunk().copied().map_or(0, u16::from_be_bytes);
                length = fewest + usize::from(last) % (most - fewest + 1);
            }
            assert_eq!(output, *expected, "{name} {number}, {level}");
        }
    }
}

macro_rules! fixed {
    ($($test:ident: $algorithm:ty, $name:literal, from $of:literal;)+) => {
        $(
            #[test]
            fn $test() {
                name_skipped();
                messages::<$algorithm>(Suite::committed(), $name, read_digest);
                monte::<$algorithm>($name, $of);
            }
        )+

        fn all_fixed(suite: &Suite) {
            $(messages::<$algorithm>(suite, $name, read_digest);)+
        }
    };
}

fixed! {
    sha_1: Sha1, "SHA1", from 3;
    sha_224: Sha224, "SHA224", from 3;
    sha_256: Sha256, "SHA256", from 3;
    sha_384: Sha384, "SHA384", from 3;
    sha_512: Sha512, "SHA512", from 3;
    sha_512_224: Sha512_224, "SHA512_224", from 3;
    sha_512_256: Sha512_256, "SHA512_256", from 3;
    sha3_224: Sha3_224, "SHA3_224", from 1;
    sha3_256: Sha3_256, "SHA3_256", from 1;
    sha3_384: Sha3_384, "SHA3_384", from 1;
    sha3_512: Sha3_512, "SHA3_512", from 1;
}

#[test]
fn shake_128() {
    name_skipped();
    messages::<Shake128>(Suite::committed(), "SHAKE128", |hash, output| hash.output().read(output));
    monte_of_any_length::<Shake128>("SHAKE128", |hash, output| hash.output().read(output));
}

#[test]
fn shake_256() {
    name_skipped();
    messages::<Shake256>(Suite::committed(), "SHAKE256", |hash, output| hash.output().read(output));
    monte_of_any_length::<Shake256>("SHAKE256", |hash, output| hash.output().read(output));
}

#[test]
fn of_their_authors() {
    name_skipped();
    messages::<Sm3>(Suite::committed(), "SM3", read_digest);
    messages::<Blake2b>(Suite::committed(), "BLAKE2B", read_digest);
    messages::<Blake2s>(Suite::committed(), "BLAKE2S", read_digest);
}

/// Every message of NIST, from the folder that `LANELOCK_HASH_VECTORS` names.
#[test]
fn whole_sets() {
    let Some(folder) = folder_named_by("LANELOCK_HASH_VECTORS") else { return };
    let suite = Suite::of_folder(&folder);
    all_fixed(&suite);
    messages::<Shake128>(&suite, "SHAKE128", |hash, output| hash.output().read(output));
    messages::<Shake256>(&suite, "SHAKE256", |hash, output| hash.output().read(output));
}
