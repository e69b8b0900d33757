//! Every hash at every level against another implementation (RustCrypto): one message, in pieces, and many
//! messages side by side.

use digest::{Digest, ExtendableOutput, Update, XofReader, block_api::BlockSizeUser};
use hmac::{KeyInit, Mac, SimpleHmac};
use lanelock_digest::{
    Hash, HashJob, HmacJob, HmacKey, Levels, algorithm::*, hash_all, hmac_all, update_all,
};
use lanelock_isa::{HashLevel, ShaLevel};
use lanelock_testkit::{Rng, skip, takes_fewer};

/// The digest of a message by the other implementation.
type Other = fn(&[u8], usize) -> Vec<u8>;

fn fixed<D: Digest>(message: &[u8], length: usize) -> Vec<u8> {
    let digest = D::digest(message).to_vec();
    assert_eq!(digest.len(), length);
    digest
}

fn any_length<D: Default + Update + ExtendableOutput>(message: &[u8], length: usize) -> Vec<u8> {
    let mut hash = D::default();
    hash.update(message);
    let mut output = vec![0; length];
    hash.finalize_xof().read(&mut output);
    output
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

/// The lengths to be tried: all up to some blocks, or where a test takes fewer those around whole blocks of
/// `block` bytes, and those whose padding just fits or just does not.
fn lengths(block: usize) -> impl Iterator<Item = usize> {
    let near = move |length: usize| {
        let left = block - length % block;
        left == block || [1, 8, 9, 16, 17].contains(&left) || left + 1 == block
    };
    (0..600).filter(move |&length| !takes_fewer() || near(length) || length.is_multiple_of(37))
}

/// All [`lengths`], in one piece and in several.
fn one_message<A: Algorithm>(other: Other) {
    let mut rng = Rng::from_env("one_message");
    let text = rng.bytes(600);
    // The padding of an empty message is a block.
    for length in lengths(A::padded(0)) {
        let message = &text[..length];
        let expected = other(message, size_of::<A::Digest>());
        for level in ShaLevel::available() {
            let mut hash = Hash::<A>::with_level(level);
            let mut left = message;
            while !left.is_empty() {
                let (piece, later) = left.split_at(rng.below(left.len()) + 1);
                hash.update(piece);
                hash.update(&[]);
                left = later;
            }
            let copy = hash.clone();
            assert_eq!(hash.finish().as_ref(), expected, "{} {level} {length} bytes", A::NAME);
            assert_eq!(copy.finish().as_ref(), expected, "{} {level} {length} bytes", A::NAME);
            let mut hash = Hash::<A>::with_level(level);
            hash.update(message);
            assert_eq!(hash.finish().as_ref(), expected, "{} {level} {length} bytes", A::NAME);
            let digest = Hash::<A>::digest_with_level(level, message);
            assert_eq!(digest.as_ref(), expected, "{} {level} {length} bytes at once", A::NAME);
        }
    }
}

/// Batches of any number of messages of any lengths.
fn many_messages<A: Algorithm>(other: Other) {
    let mut rng = Rng::from_env("many_messages");
    for round in 0..if takes_fewer() { 6 } else { 60 } {
        let most = *rng.pick(&[1, 70, 140, 300, 2000]);
        let messages: Vec<Vec<u8>> = (0..rng.below(40))
            .map(|_| {
                let length = rng.below(most);
                rng.bytes(length)
            })
            .collect();
        let expected: Vec<_> =
            messages.iter().map(|message| other(message, size_of::<A::Digest>())).collect();
        for levels in Levels::available() {
            let mut jobs: Vec<_> =
                messages.iter().map(|message| HashJob::<A>::new(message)).collect();
            hash_all(levels, &mut jobs);
            for (job, expected) in jobs.iter().zip(&expected) {
                let what = format!("{} {levels:?}, round {round}, {job:?}", A::NAME);
                assert_eq!(job.digest.as_ref(), expected, "{what}");
            }
        }
    }
}

/// Many messages that come in pieces.
fn many_streams<A: Algorithm>(other: Other) {
    let mut rng = Rng::from_env("many_streams");
    for round in 0..if takes_fewer() { 5 } else { 20 } {
        let count = 1 + rng.below(40);
        let mut messages = vec![Vec::new(); count];
        let pieces: Vec<Vec<Vec<u8>>> = (0..=rng.below(6))
            .map(|_| {
                let most = *rng.pick(&[2, 100, 300, 1000]);
                (0..count)
                    .map(|_| {
                        let length = rng.below(most);
                        rng.bytes(length)
                    })
                    .collect()
            })
            .collect();
        for pieces in &pieces {
            for (message, piece) in messages.iter_mut().zip(pieces) {
                message.extend_from_slice(piece);
            }
        }
        let expected: Vec<_> =
            messages.iter().map(|message| other(message, size_of::<A::Digest>())).collect();
        for levels in Levels::available() {
            let mut hashes = vec![Hash::<A>::with_level(levels.one); count];
            for pieces in &pieces {
                let mut pieces: Vec<_> =
                    hashes.iter_mut().zip(pieces).map(|(hash, piece)| (hash, &piece[..])).collect();
                update_all(levels, &mut pieces);
                assert!(pieces.iter().all(|(_, left)| left.is_empty()));
            }
            for (hash, expected) in hashes.into_iter().zip(&expected) {
                assert_eq!(
                    hash.finish().as_ref(),
                    expected,
                    "{} {levels:?}, round {round}",
                    A::NAME
                );
            }
        }
    }
}

/// HMAC of one message, in pieces and of many, empty ones among them, with keys of any length.
fn macs<A: Algorithm, O: Digest + BlockSizeUser + Clone>() {
    let mut rng = Rng::from_env("macs");
    let other = |key: &[u8], message: &[u8]| {
        let mut hmac = SimpleHmac::<O>::new_from_slice(key).unwrap();
        Mac::update(&mut hmac, message);
        hmac.finalize().into_bytes().to_vec()
    };
    let [key, text] = [300, 600].map(|length| rng.bytes(length));
    let keys = [&key[..0], &key[..20], &key[..64], &key[..129], &key];
    for levels in Levels::available() {
        let made = keys.map(|key| HmacKey::<A>::with_levels(levels, key));
        let messages: Vec<_> =
            (0..150).map(|number| (number % 5, &text[..number * 7 % 600])).collect();
        for count in [1, 20, 150] {
            let mut jobs: Vec<_> = messages[..count]
                .iter()
                .map(|(key, text)| HmacJob::new(&made[*key], text))
                .collect();
            hmac_all(&mut jobs);
            for ((key, message), job) in messages.iter().zip(&jobs) {
                let what =
                    format!("{} {levels:?}, {} bytes, one of {count}", A::NAME, message.len());
                let expected = other(keys[*key], message);
                assert_eq!(job.tag.as_ref(), expected, "{what}");
                assert_eq!(made[*key].tag(message).as_ref(), expected, "{what}");
                let mut hmac = made[*key].start();
                for piece in message.chunks(50) {
                    hmac.update(piece);
                }
                assert_eq!(hmac.finish().as_ref(), expected, "{what}");
            }
        }
    }
}

/// Those of BLAKE2, whose last blocks are special ones, and one of each other kind.
#[test]
fn hmac() {
    macs::<Blake2s, blake2::Blake2s256>();
    macs::<Blake2b, blake2::Blake2b512>();
    macs::<Sha256, sha2::Sha256>();
    macs::<Sha512, sha2::Sha512>();
    macs::<Sha3_256, sha3::Sha3_256>();
}

macro_rules! hashes {
    ($($test:ident: $algorithm:ty, $other:expr;)+) => {
        $(
            #[test]
            fn $test() {
                name_skipped();
                one_message::<$algorithm>($other);
                many_messages::<$algorithm>($other);
                many_streams::<$algorithm>($other);
            }
        )+
    };
}

hashes! {
    sha_1: Sha1, fixed::<sha1::Sha1>;
    sha_224: Sha224, fixed::<sha2::Sha224>;
    sha_256: Sha256, fixed::<sha2::Sha256>;
    sha_384: Sha384, fixed::<sha2::Sha384>;
    sha_512: Sha512, fixed::<sha2::Sha512>;
    sha_512_224: Sha512_224, fixed::<sha2::Sha512_224>;
    sha_512_256: Sha512_256, fixed::<sha2::Sha512_256>;
    sm3: Sm3, fixed::<sm3::Sm3>;
    sha3_224: Sha3_224, fixed::<sha3::Sha3_224>;
    sha3_256: Sha3_256, fixed::<sha3::Sha3_256>;
    sha3_384: Sha3_384, fixed::<sha3::Sha3_384>;
    sha3_512: Sha3_512, fixed::<sha3::Sha3_512>;
    shake_128: Shake128, any_length::<shake::Shake128>;
    shake_256: Shake256, any_length::<shake::Shake256>;
    blake2b: Blake2b, fixed::<blake2::Blake2b512>;
    blake2s: Blake2s, fixed::<blake2::Blake2s256>;
    blake2b_short: Blake2b<20>, fixed::<blake2::Blake2b<digest::consts::U20>>;
}

/// Output of any length, read in pieces.
#[test]
fn long_output() {
    let mut rng = Rng::from_env("long_output");
    for length in [0, 1, 167, 168, 169, 1000] {
        let message = rng.bytes(length);
        let expected = any_length::<shake::Shake128>(&message, 1000);
        let mut hash = Hash::<Shake128>::with_level(ShaLevel::fastest());
        hash.update(&message);
        let mut output = hash.output();
        let mut at = 0;
        while at < expected.len() {
            let mut piece = vec![0; rng.below(400).min(expected.len() - at)];
            output.read(&mut piece);
            assert_eq!(piece, expected[at..at + piece.len()]);
            at += piece.len();
        }
    }
}
