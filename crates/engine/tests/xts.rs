//! XTS: published vectors at every level, levels against one another, sectors, OpenSSL.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use lanelock::{Aes128Xts, Aes192Xts, Aes256Xts, AesLevel, Error, InOutBuf};
use lanelock_testkit::{self as testkit, Rng};
use support::levels;

/// Calls `$body` with `$key` bound to the key object of the right size, or to its error.
macro_rules! with_key {
    ($bytes:expr, $level:expr, |$key:ident| $body:expr) => {
        match $bytes.len() {
            32 => {
                let $key = Aes128Xts::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            48 => {
                let $key = Aes192Xts::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            _ => {
                let $key = Aes256Xts::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
        }
    };
}

#[test]
fn published_vectors() {
    let mut cases = testkit::xts::cavp();
    cases.extend(testkit::xts::ieee1619());
    cases.extend(testkit::xts::wycheproof());
    for level in levels() {
        let mut equal = 0;
        for case in &cases {
            let what = format!("{} {} at {level}", case.source, case.name);
            with_key!(case.key, level, |key| {
                if case.key[..case.key.len() / 2] == case.key[case.key.len() / 2..] {
                    assert_eq!(key.err(), Some(Error::EqualKeys), "{what}");
                    equal += 1;
                    continue;
                }
                let key = key.unwrap();
                let mut data = case.plaintext.clone();
                key.encrypt(&case.tweak, &mut data).expect(&what);
                assert_eq!(data, case.ciphertext, "{what}");
                key.decrypt(&case.tweak, &mut data).expect(&what);
                assert_eq!(data, case.plaintext, "{what}");
            });
        }
        assert!(cases.len() > 500 && equal < 10, "{} and {equal}", cases.len());
        assert_eq!(lanelock::last_level_run(), Some(level));
    }
}

#[test]
fn levels_agree() {
    let mut rng = Rng::from_env("levels_agree");
    let portable = AesLevel::from_name("portable").unwrap();
    for level in levels() {
        for length in 16..=1100_usize {
            let bytes = rng.bytes([32, 48, 64][length % 3]);
            let tweak = rng.array();
            let offset = rng.below(64);
            let plain = rng.bytes(length + 128);
            let mut expected = vec![0; length];
            let from = InOutBuf::new(&plain[offset..][..length], &mut expected).unwrap();
            with_key!(bytes, portable, |key| key.unwrap().encrypt_inout(&tweak, from).unwrap());
            let mut data = plain.clone();
            with_key!(bytes, level, |key| {
                let key = key.unwrap();
                key.encrypt(&tweak, &mut data[offset..][..length]).unwrap();
                assert_eq!(data[offset..][..length], expected, "{length} bytes at {level}");
                assert_eq!(data[..offset], plain[..offset]);
                assert_eq!(data[offset + length..], plain[offset + length..]);
                let mut back = vec![0; length];
                let from = InOutBuf::new(&expected[..], &mut back).unwrap();
                key.decrypt_inout(&tweak, from).unwrap();
                assert_eq!(back, plain[offset..][..length], "{length} bytes at {level}");
                key.decrypt(&tweak, &mut data[offset..][..length]).unwrap();
                assert_eq!(data, plain, "{length} bytes at {level}");
            });
        }
    }
}

/// Many sectors in one call are the sectors one by one.
#[test]
fn sectors() {
    let mut rng = Rng::from_env("sectors");
    for level in levels() {
        let key = Aes256Xts::with_level(&rng.array(), level).unwrap();
        for size in [16, 17, 31, 64, 100, 512, 520, 1024, 4096] {
            for count in [0, 1, 2, 5, 33, 70] {
                let first =
                    if count == 5 { u128::from(u64::MAX) - 2 } else { rng.below(1 << 20) as u128 };
                let plain = rng.bytes(size * count);
                let mut expected = plain.clone();
                for (number, sector) in expected.chunks_mut(size).enumerate() {
                    key.encrypt(&(first + number as u128).to_le_bytes(), sector).unwrap();
                }
                let mut data = plain.clone();
                key.encrypt_sectors(first, size, &mut data).unwrap();
                assert_eq!(data, expected, "{count} sectors of {size} bytes at {level}");
                key.decrypt_sectors(first, size, &mut data).unwrap();
                assert_eq!(data, plain, "{count} sectors of {size} bytes at {level}");
            }
        }
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else {
        return testkit::skip("there is no libcrypto to compare with");
    };
    let mut rng = Rng::from_env("openssl_agrees");
    for level in levels() {
        for _ in 0..60 {
            let bits = *rng.pick(&[128, 256]);
            let (bytes, tweak): (_, [u8; 16]) = (rng.bytes(bits / 4), rng.array());
            let length = 16 + rng.below(2000);
            let mut data = rng.bytes(length);
            let theirs = openssl.encrypt(&format!("aes-{bits}-xts"), &bytes, &tweak, &data);
            with_key!(bytes, level, |key| key.unwrap().encrypt(&tweak, &mut data).unwrap());
            assert_eq!(data, theirs, "{level}, {length} bytes");
        }
    }
}

#[test]
fn misuse_is_an_error() {
    assert_eq!(Aes128Xts::new(&[1; 32]).err(), Some(Error::EqualKeys));
    let mut bytes = [0; 32];
    bytes[0] = 1;
    let key = Aes128Xts::new(&bytes).unwrap();
    let mut data = vec![0; (1 << 24) + 1];
    assert_eq!(key.encrypt(&[0; 16], &mut data[..15]), Err(Error::MessageLength));
    assert_eq!(key.encrypt(&[0; 16], &mut data), Err(Error::MessageLength));
    assert_eq!(key.encrypt_sectors(0, 512, &mut data[..1000]), Err(Error::MessageLength));
    assert!(data.iter().all(|byte| *byte == 0));
}
