//! GCM-SIV: published vectors at every level, levels against one another, OpenSSL.

use crate::support::{aad_bytes, forms};
use lanelock::{
    AesLevel, Error, InOut,
    aead::{Aead, Aes128GcmSiv, Aes256GcmSiv},
};
use lanelock_testkit::{self as testkit, AeadCase, Rng};

fn key(bytes: &[u8], level: AesLevel) -> Box<dyn Aead> {
    match bytes.len() {
        16 => Box::new(Aes128GcmSiv::with_level(bytes.try_into().unwrap(), level)),
        _ => Box::new(Aes256GcmSiv::with_level(bytes.try_into().unwrap(), level)),
    }
}

#[test]
fn published_vectors() {
    let mut cases = testkit::gcm_siv::rfc8452();
    cases.extend(testkit::gcm_siv::openssl());
    cases.extend(testkit::gcm_siv::wycheproof());
    // OpenSSL's list has 192-bit keys too, which RFC 8452 does not know.
    cases.retain(|case| case.key.len() != 24);
    assert!(cases.len() > 250, "{}", cases.len());
    for level in forms() {
        for case in &cases {
            let AeadCase { nonce, aad, plaintext, ciphertext, tag, valid, .. } = case;
            let what = format!("{} {} at {level}", case.source, case.name);
            let key = key(&case.key, level);
            if *valid {
                let sealed = key.seal_vec(nonce, aad, plaintext).expect(&what);
                assert_eq!(sealed, case.sealed(), "{what}");
                assert_eq!(
                    key.open_vec(nonce, aad, &sealed).as_deref(),
                    Ok(&plaintext[..]),
                    "{what}"
                );
            } else {
                let mut data = ciphertext.clone();
                assert!(key.open(nonce, aad, &mut data, tag).is_err(), "{what}");
                assert!(
                    nonce.len() != 12 || tag.len() != 16 || data.iter().all(|byte| *byte == 0),
                    "{what}: plaintext left"
                );
            }
        }
        assert_eq!(lanelock::last_level_run(), Some(level));
    }
}

#[test]
fn levels_agree() {
    let mut rng = Rng::from_env("levels_agree");
    let portable = "portable".parse::<AesLevel>().unwrap();
    for level in forms() {
        for length in (0..=1100).chain([2047, 2048, 4096 + 15]) {
            let bytes = rng.bytes(if length % 2 == 0 { 16 } else { 32 });
            let soft = key(&bytes, portable);
            let hard = key(&bytes, level);
            let (nonce, aad) = (rng.bytes(12), rng.bytes(aad_bytes(length)));
            let offset = rng.below(64);
            let mut data = rng.bytes(length + 128);
            let plain = data.clone();
            let mut expected = vec![0; length];
            let (mut tag, mut other) = ([0; 16], [0; 16]);
            let from = InOut::new(&plain[offset..][..length], &mut expected).unwrap();
            soft.seal_inout(&nonce, &aad, from, &mut tag).unwrap();
            hard.seal(&nonce, &aad, &mut data[offset..][..length], &mut other).unwrap();
            assert_eq!(
                (&data[offset..][..length], tag),
                (&expected[..], other),
                "{length} at {level}"
            );
            assert_eq!(data[..offset], plain[..offset]);
            assert_eq!(data[offset + length..], plain[offset + length..]);
            hard.open(&nonce, &aad, &mut data[offset..][..length], &tag).unwrap();
            assert_eq!(data, plain, "{length} bytes at {level}");
            let mut opened = vec![0x55; length];
            let from = InOut::new(&expected[..], &mut opened).unwrap();
            tag[rng.below(16)] ^= 1 << rng.below(8);
            assert_eq!(hard.open_inout(&nonce, &aad, from, &tag), Err(Error::Authentication));
            assert_eq!(opened, vec![0; length]);
        }
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    if !openssl.has("aes-128-gcm-siv") {
        return testkit::skip("this libcrypto has no GCM-SIV (OpenSSL 3.2 and later have it)");
    }
    let mut rng = Rng::from_env("openssl_agrees");
    for level in forms() {
        for _ in 0..60 {
            let bits = *rng.pick(&[128, 256]);
            let (bytes, nonce) = (rng.bytes(bits / 8), rng.bytes(12));
            let (aad, length) = (rng.below(300), rng.below(3000));
            let (aad, plaintext) = (rng.bytes(aad), rng.bytes(length));
            let sealed = key(&bytes, level).seal_vec(&nonce, &aad, &plaintext).unwrap();
            let name = format!("aes-{bits}-gcm-siv");
            let theirs = openssl.seal(&name, &bytes, &nonce, &aad, &plaintext, 16);
            assert_eq!(sealed, theirs, "{level}, {length} bytes");
        }
    }
}

#[test]
fn misuse_is_an_error() {
    let key = Aes128GcmSiv::new(&[0; 16]).unwrap();
    let mut data = *b"not to be changed";
    assert_eq!(key.seal(&[0; 11], b"", &mut data, &mut [0; 16]), Err(Error::NonceLength));
    assert_eq!(key.seal(&[0; 12], b"", &mut data, &mut [0; 12]), Err(Error::TagLength));
    assert_eq!(key.open(&[0; 12], b"", &mut data, &[0; 12]), Err(Error::TagLength));
    assert_eq!(&data, b"not to be changed");
}
