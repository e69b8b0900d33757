//! KW and KWP: published vectors at every level, OpenSSL.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use lanelock::{Aes128KeyWrap, Aes192KeyWrap, Aes256KeyWrap, AesLevel, Error, Zeroizing};
use lanelock_testkit::{self as testkit, Rng, WrapCase};
use support::levels;

/// Calls `$body` with `$key` bound to the wrapping key of the right size.
macro_rules! with_key {
    ($bytes:expr, $level:expr, |$key:ident| $body:expr) => {
        match $bytes.len() {
            16 => {
                let $key = Aes128KeyWrap::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            24 => {
                let $key = Aes192KeyWrap::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            _ => {
                let $key = Aes256KeyWrap::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
        }
    };
}

fn check(cases: &[WrapCase], padded: bool, level: AesLevel) {
    for case in cases {
        let what = format!("{} {} at {level}", case.source, case.name);
        with_key!(case.key, level, |key| {
            let (wrap, unwrap) = if padded {
                (key.wrap_padded(&case.plaintext), key.unwrap_padded(&case.wrapped))
            } else {
                (key.wrap(&case.plaintext), key.unwrap(&case.wrapped))
            };
            if case.valid {
                assert_eq!(wrap.as_ref(), Ok(&case.wrapped), "{what}");
                let key: Result<Zeroizing<Vec<u8>>, _> = unwrap; // zeroised by its type
                assert_eq!(key, Ok(Zeroizing::new(case.plaintext.clone())), "{what}");
            } else {
                assert!(unwrap.is_err(), "{what}");
            }
        });
    }
}

#[test]
fn kw_vectors() {
    let mut cases = testkit::key_wrap::cavp_kw();
    cases.extend(testkit::key_wrap::rfc3394());
    cases.extend(testkit::key_wrap::wycheproof_kw());
    assert!(cases.len() > 300);
    for level in levels() {
        check(&cases, false, level);
    }
}

#[test]
fn kwp_vectors() {
    let mut cases = testkit::key_wrap::cavp_kwp();
    cases.extend(testkit::key_wrap::rfc5649());
    cases.extend(testkit::key_wrap::botan_kwp());
    cases.extend(testkit::key_wrap::wycheproof_kwp());
    assert!(cases.len() > 500);
    for level in levels() {
        check(&cases, true, level);
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    let mut rng = Rng::from_env("openssl_agrees");
    for level in levels() {
        for _ in 0..30 {
            let bits = *rng.pick(&[128, 192, 256]);
            let bytes = rng.bytes(bits / 8);
            let length = 1 + rng.below(100);
            let key = rng.bytes(length);
            let whole = rng.bytes(16 + length / 8 * 8);
            with_key!(bytes, level, |k| {
                let name = format!("aes-{bits}-wrap");
                assert_eq!(k.wrap(&whole).unwrap(), openssl.wrap(&name, &bytes, &whole));
                let padded = k.wrap_padded(&key).unwrap();
                assert_eq!(padded, openssl.wrap(&format!("{name}-pad"), &bytes, &key));
                assert_eq!(k.unwrap_padded(&padded), Ok(Zeroizing::new(key)));
            });
        }
    }
}

#[test]
fn misuse_is_an_error() {
    let key = Aes128KeyWrap::new(&[0; 16]).unwrap();
    for length in [0, 8, 15, 17, 20] {
        assert_eq!(key.wrap(&vec![0; length]), Err(Error::MessageLength), "{length}");
    }
    assert_eq!(key.unwrap(&[0; 16]), Err(Error::MessageLength));
    assert_eq!(key.unwrap(&[0; 24]), Err(Error::Authentication));
    assert_eq!(key.wrap_padded(&[]), Err(Error::MessageLength));
    assert_eq!(key.unwrap_padded(&[0; 8]), Err(Error::MessageLength));
    assert_eq!(key.unwrap_padded(&[0; 16]), Err(Error::Authentication));
    assert_eq!(key.wrap_to(&[0; 16], &mut [0; 16]), Err(Error::OutputLength));
}
