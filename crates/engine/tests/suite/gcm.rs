//! GCM and GMAC: published vectors at every level, levels against one another, OpenSSL.

use crate::support::{aad_bytes, forms};
use lanelock::SizedCipher;
use lanelock::{
    Aes128, AesLevel, Error, InOut,
    aead::{Aead, Aes128Gcm, Aes192Gcm, Aes256Gcm, Gcm},
    hash::{Ghash, Polyval},
};
use lanelock_testkit::{self as testkit, AeadCase, Rng};

/// Calls `$body` with `$key` bound to the key object of the right size, or to its error.
macro_rules! with_key {
    ($bytes:expr, $level:expr, |$key:ident| $body:expr) => {
        match $bytes.len() {
            16 => {
                let $key = Aes128Gcm::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            24 => {
                let $key = Aes192Gcm::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            _ => {
                let $key = Aes256Gcm::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
        }
    };
}

/// Whether the key takes tags of that length: SP 800-38D allows shorter ones, which we do not offer.
fn offered(case: &AeadCase) -> bool {
    (12..=16).contains(&case.tag.len())
}

fn check<C: SizedCipher>(key: &Gcm<C>, case: &AeadCase, rng: &mut Rng)
where
    Gcm<C>: Aead,
{
    let Ok(key) = key.clone().with_tag_length(case.tag.len()) else {
        return;
    };
    let AeadCase { nonce, aad, plaintext, ciphertext, tag, valid, .. } = case;
    let what = format!("{} {} at {}", case.source, case.name, key.level());
    if *valid {
        let sealed = key.seal_vec(nonce, aad, plaintext).expect(&what);
        assert_eq!(sealed, case.sealed(), "{what}");
        assert_eq!(key.open_vec(nonce, aad, &sealed).as_deref(), Ok(&plaintext[..]), "{what}");
        let mut sealer = key.sealer(nonce).expect(&what);
        for piece in rng.splits(aad) {
            sealer.aad(piece).unwrap();
        }
        let mut text = plaintext.clone();
        let mut rest = &mut text[..];
        for length in rng.splits(plaintext).iter().map(|piece| piece.len()) {
            let (piece, later) = rest.split_at_mut(length);
            sealer.update(piece).unwrap();
            rest = later;
        }
        let mut got = vec![0; tag.len()];
        sealer.finish(&mut got).unwrap();
        assert_eq!((&text, &got), (ciphertext, tag), "{what}, in pieces");
    } else {
        let mut data = ciphertext.clone();
        let result = key.open(nonce, aad, &mut data, tag);
        assert!(result.is_err(), "{what}");
        assert!(nonce.is_empty() || data.iter().all(|byte| *byte == 0), "{what}: plaintext left");
    }
    let mut opener = match key.opener(nonce) {
        Ok(opener) => opener,
        Err(error) => return assert!(!valid, "{what}: {error}"),
    };
    for piece in rng.splits(aad) {
        opener.aad(piece).unwrap();
    }
    for piece in rng.splits(ciphertext) {
        opener.update(piece).unwrap();
    }
    let opened = opener.finish(tag);
    assert_eq!(opened.ok().as_ref(), valid.then_some(plaintext), "{what}, in pieces");
}

#[test]
fn published_vectors() {
    let mut rng = Rng::from_env("published_vectors");
    let mut cases = testkit::gcm::wycheproof();
    cases.extend(testkit::gcm::cavp());
    let (mut valid, mut invalid) = (0, 0);
    for level in forms() {
        for case in cases.iter().filter(|case| offered(case)) {
            with_key!(case.key, level, |key| check(&key, case, &mut rng));
            *if case.valid { &mut valid } else { &mut invalid } += 1;
        }
    }
    assert!(valid > 2000 && invalid > 500, "{valid} and {invalid}");
}

#[test]
fn gmac() {
    for level in forms() {
        for case in testkit::gcm::wycheproof_gmac() {
            if !matches!(case.key.len(), 16 | 24 | 32) {
                continue;
            }
            with_key!(case.key, level, |key| {
                let verified = key
                    .with_tag_length(case.tag.len())
                    .and_then(|key| key.verify(&case.nonce, &case.message, &case.tag));
                assert_eq!(verified.is_ok(), case.valid, "{} at {level}", case.name);
            });
        }
    }
}

#[test]
fn universal_hashes() {
    let mut rng = Rng::from_env("universal_hashes");
    for level in forms() {
        for case in testkit::hash::ghash() {
            let mut hash = Ghash::with_level(&case.key[..].try_into().unwrap(), level);
            for piece in rng.splits(&case.message) {
                hash.update(piece);
            }
            assert_eq!(hash.finish()[..], case.digest[..], "{} at {level}", case.name);
        }
        for case in testkit::hash::polyval() {
            let mut hash = Polyval::with_level(&case.key[..].try_into().unwrap(), level);
            for piece in rng.splits(&case.message) {
                hash.update(piece);
            }
            assert_eq!(hash.finish()[..], case.digest[..], "{} at {level}", case.name);
        }
    }
}

/// Every length, at an odd place, in place and from one buffer to another.
fn compare<C: SizedCipher>(soft: &Gcm<C>, hard: &Gcm<C>, rng: &mut Rng)
where
    Gcm<C>: Aead,
{
    let lengths = (0..=1100).chain([1279, 1280, 1535, 1536, 1791, 1792, 2047, 2048, 4096 + 15]);
    for length in lengths {
        let (nonce, aad) =
            (rng.bytes(*rng.clone().pick(&[12, 12, 12, 1, 16, 60])), rng.bytes(aad_bytes(length)));
        let offset = rng.below(64);
        let mut data = rng.bytes(length + 128);
        let plain = data.clone();
        let mut expected = vec![0; length];
        let (mut tag, mut other) = ([0; 16], [0; 16]);
        let from = InOut::new(&plain[offset..][..length], &mut expected).unwrap();
        soft.seal_inout(&nonce, &aad, from, &mut tag).unwrap();
        hard.seal(&nonce, &aad, &mut data[offset..][..length], &mut other).unwrap();
        assert_eq!(data[offset..][..length], expected, "{length} bytes at {}", hard.level());
        assert_eq!(tag, other, "{length} bytes at {}", hard.level());
        assert_eq!(data[..offset], plain[..offset]);
        assert_eq!(data[offset + length..], plain[offset + length..]);
        hard.open(&nonce, &aad, &mut data[offset..][..length], &tag).unwrap();
        assert_eq!(data, plain, "{length} bytes at {}", hard.level());
        let mut opened = vec![0x55; length];
        let from = InOut::new(&expected[..], &mut opened).unwrap();
        tag[rng.below(16)] ^= 1 << rng.below(8);
        assert_eq!(hard.open_inout(&nonce, &aad, from, &tag), Err(Error::Authentication));
        assert_eq!(opened, vec![0; length]);
    }
}

#[test]
fn levels_agree() {
    let mut rng = Rng::from_env("levels_agree");
    let soft = "portable".parse::<AesLevel>().unwrap();
    macro_rules! compare {
        ($gcm:ident, $key:ident, $hard:ident) => {{
            let key = $key.try_into().unwrap();
            compare(&$gcm::with_level(key, soft), &$gcm::with_level(key, $hard), &mut rng);
        }};
    }
    for hard in forms() {
        let key = rng.bytes(32);
        for length in [16, 24, 32] {
            let key = &key[..length];
            match length {
                16 => compare!(Aes128Gcm, key, hard),
                24 => compare!(Aes192Gcm, key, hard),
                _ => compare!(Aes256Gcm, key, hard),
            }
        }
        assert_eq!(lanelock::last_level_run(), Some(hard));
    }
}

/// Whole messages of a few vectors have a kernel of their own, for as much AAD and text as there are
/// powers of H. Messages in pieces have another.
#[test]
fn whole_messages_are_those_in_pieces() {
    let mut rng = Rng::from_env("whole_messages_are_those_in_pieces");
    for level in forms() {
        let key = Aes256Gcm::with_level(&rng.array(), level);
        for aad in [0, 1, 15, 16, 17, 32, 33, 48, 49, 64, 65] {
            let (aad, nonce) = (rng.bytes(aad), rng.array::<12>());
            for length in
                (0..40).flat_map(|blocks| [16 * blocks, 16 * blocks + 1, 16 * blocks + 15])
            {
                let text = rng.bytes(length);
                let mut pieces = text.clone();
                let mut sealer = key.sealer(&nonce).unwrap();
                sealer.aad(&aad).unwrap();
                let (first, second) = pieces.split_at_mut(length / 3);
                sealer.update(first).unwrap();
                sealer.update(second).unwrap();
                let mut tag = [0; 16];
                sealer.finish(&mut tag).unwrap();
                let mut sealed = key.seal_vec(&nonce, &aad, &text).unwrap();
                let what = format!("{} bytes of AAD, {length} of text at {level}", aad.len());
                assert!(sealed == [&pieces[..], &tag].concat(), "{what}");
                assert_eq!(key.open_vec(&nonce, &aad, &sealed).as_deref(), Ok(&text[..]), "{what}");
                let bad = rng.below(sealed.len());
                sealed[bad] ^= 1;
                assert_eq!(
                    key.open_vec(&nonce, &aad, &sealed),
                    Err(Error::Authentication),
                    "{what}"
                );
            }
        }
    }
}

/// The key stream is that of CTR from the second counter on. (Counters that wrap are among
/// Wycheproof's cases: nonces made for that.)
#[test]
fn the_key_stream_is_ctr() {
    for level in forms() {
        let (gcm, aes) =
            (Aes128Gcm::with_level(&[9; 16], level), Aes128::with_level(&[9; 16], level));
        let mut counter = [3; 16];
        counter[12..].copy_from_slice(&[0, 0, 0, 2]);
        let mut expected = vec![0; 5000];
        aes.ctr(lanelock::CounterBits::Bits32, &counter, &mut expected).unwrap();
        let sealed = gcm.seal_vec(&[3; 12], b"", &vec![0; 5000]).unwrap();
        assert_eq!(sealed[..5000], expected, "{level}");
        // A second piece begins at any counter.
        for first in [16, 16 * 99, 16 * 223, 16 * 254, 16 * 255, 16 * 256] {
            let mut sealer = gcm.sealer(&[3; 12]).unwrap();
            let mut pieces = vec![0; 5000];
            sealer.update(&mut pieces[..first]).unwrap();
            sealer.update(&mut pieces[first..]).unwrap();
            let mut tag = [0; 16];
            sealer.finish(&mut tag).unwrap();
            assert!([&pieces[..], &tag].concat() == sealed, "{first} at {level}");
        }
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    let mut rng = Rng::from_env("openssl_agrees");
    for level in forms() {
        for _ in 0..30 {
            let bits = *rng.pick(&[128, 192, 256]);
            let key = rng.bytes(bits / 8);
            let nonce = rng.bytes(*rng.clone().pick(&[12, 12, 8, 16, 99]));
            let (aad, length) = (rng.below(1400), rng.below(3000));
            let (aad, plaintext) = (rng.bytes(aad), rng.bytes(length));
            let tag = 12 + rng.below(5);
            with_key!(key, level, |k| {
                let k = k.with_tag_length(tag).unwrap();
                let sealed = k.seal_vec(&nonce, &aad, &plaintext).unwrap();
                let cipher = format!("aes-{bits}-gcm");
                let theirs = openssl.seal(&cipher, &key, &nonce, &aad, &plaintext, tag);
                assert_eq!(sealed, theirs, "{level}, {length} bytes");
            });
        }
    }
}

#[test]
fn misuse_is_an_error() {
    let key = Aes128Gcm::new(&[0; 16]).unwrap();
    assert_eq!(key.clone().with_tag_length(11).err(), Some(Error::TagLength));
    assert_eq!(key.clone().with_tag_length(17).err(), Some(Error::TagLength));
    let mut data = *b"not to be changed";
    assert_eq!(key.seal(&[], b"", &mut data, &mut [0; 16]), Err(Error::NonceLength));
    assert_eq!(key.seal(&[0; 12], b"", &mut data, &mut [0; 12]), Err(Error::TagLength));
    assert_eq!(key.open(&[0; 12], b"", &mut data, &[0; 12]), Err(Error::TagLength));
    assert_eq!(&data, b"not to be changed");
    assert_eq!(key.open_vec(&[0; 12], b"", &[0; 15]), Err(Error::Authentication));
    assert_eq!(key.seal_to(&[0; 12], b"", &data, &mut [0; 32]), Err(Error::OutputLength));
    let mut sealer = key.sealer(&[0; 12]).unwrap();
    sealer.update(&mut data).unwrap();
    assert_eq!(sealer.aad(b"late"), Err(Error::AadLength));
}
