//! KW and KWP: published vectors at every level, OpenSSL.

use crate::support::levels;
use lanelock::{Aes128, Aes128KeyWrap, Aes192KeyWrap, Aes256KeyWrap, AesLevel, Error, Zeroizing};
use lanelock_testkit::{self as testkit, Rng, WrapCase};

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

/// Every length in the check value, and every byte that may be padding, beside what RFC 5649 (4.2) says of them.
#[test]
fn lengths_and_paddings() {
    let key = [7; 16];
    for level in levels() {
        let (cipher, wrapper) =
            (Aes128::with_level(&key, level), Aes128KeyWrap::with_level(&key, level));
        for halves in 1..=3_usize {
            let lengths = (0..=8 * u32::try_from(halves).unwrap() + 9).chain([1 << 31, u32::MAX]);
            for (length, other) in lengths.flat_map(|n| (0..=8 * halves).map(move |o| (n, o))) {
                // Zeros but for one byte, which is the key's or not; beyond the last there is none.
                let mut state = vec![0; 8 + 8 * halves];
                state[..4].copy_from_slice(&[0xa6, 0x59, 0x59, 0xa6]);
                state[4..8].copy_from_slice(&length.to_be_bytes());
                if let Some(byte) = state[8..].get_mut(other) {
                    *byte = 0x80;
                }
                let plain = state.clone();
                wrapping_function(&cipher, &mut state);
                let length = length as usize;
                let fits = length.div_ceil(8) == halves;
                let expected = (fits && (other < length || other == 8 * halves))
                    .then(|| Zeroizing::new(plain[8..][..length].to_vec()))
                    .ok_or(Error::Authentication);
                let what = format!("{halves} halves, length {length}, byte {other} at {level}");
                assert_eq!(wrapper.unwrap_padded(&state), expected, "{what}");
            }
        }
    }
}

/// W (SP 800-38F, 6.1), or one encryption where the key has no more than 8 bytes.
fn wrapping_function(cipher: &Aes128, state: &mut [u8]) {
    if let Ok(block) = state.try_into() {
        return cipher.encrypt_block(block);
    }
    let halves = state.len() / 8 - 1;
    for step in 0..6 * halves {
        let half = 8 * (1 + step % halves);
        let mut block = [0; 16];
        block[..8].copy_from_slice(&state[..8]);
        block[8..].copy_from_slice(&state[half..][..8]);
        cipher.encrypt_block(&mut block);
        block[7] ^= u8::try_from(step + 1).unwrap();
        state[..8].copy_from_slice(&block[..8]);
        state[half..][..8].copy_from_slice(&block[8..]);
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
    assert_eq!(key.unwrap_to(&[0; 16], &mut [0; 8]), Err(Error::MessageLength));
    assert_eq!(key.unwrap_to(&[0; 24], &mut [0; 24]), Err(Error::OutputLength));
}

#[test]
fn unwrapping_into_a_buffer_leaves_a_key_or_zeros() {
    for level in levels() {
        let key = Aes128KeyWrap::with_level(&[7; 16], level);
        let mut wrapped = key.wrap(&[5; 32]).unwrap();
        let mut unwrapped = [1; 32];
        assert_eq!(key.unwrap_to(&wrapped, &mut unwrapped), Ok(()), "{level}");
        assert_eq!(unwrapped, [5; 32], "{level}");
        for at in 0..wrapped.len() {
            wrapped[at] ^= 1;
            unwrapped.fill(1);
            let result = key.unwrap_to(&wrapped, &mut unwrapped);
            assert_eq!(result, Err(Error::Authentication), "{level} {at}");
            assert_eq!(unwrapped, [0; 32], "{level} {at}");
            wrapped[at] ^= 1;
        }
    }
}
