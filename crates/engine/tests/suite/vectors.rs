//! Published vectors, on every level that this processor has.

use lanelock::Key;
use lanelock::SizedCipher;
use lanelock::{
    Aes128, Aes192, Aes256, AesLevel, CounterBits, Pattern,
    lanes::{self, Job},
};
use lanelock_testkit::{self as testkit, CipherCase, hex};

/// Calls `f` with a key of the size of `key`.
macro_rules! with_key {
    ($key:expr, $level:expr, $f:expr) => {
        match $key.len() {
            16 => $f(&Aes128::with_level($key.try_into().unwrap(), $level)),
            24 => $f(&Aes192::with_level($key.try_into().unwrap(), $level)),
            32 => $f(&Aes256::with_level($key.try_into().unwrap(), $level)),
            n => panic!("a key of {n} bytes"),
        }
    };
}

fn for_every_level(cases: &[CipherCase], check: impl Fn(AesLevel, &CipherCase)) {
    assert!(!cases.is_empty(), "no cases");
    for (name, _) in AesLevel::known() {
        match name.parse::<AesLevel>() {
            Ok(level) => cases.iter().for_each(|case| check(level, case)),
            Err(error) => testkit::skip(&format!("level {name}: {error}")),
        }
    }
}

#[track_caller]
fn expect(level: AesLevel, case: &CipherCase, what: &str, got: &[u8], want: &[u8]) {
    assert_eq!(hex(got), hex(want), "{level}: {what}: {} {}", case.source, case.name);
}

#[test]
fn ecb() {
    fn check<C: SizedCipher>(key: &Key<C>, case: &CipherCase) {
        let mut data = case.plaintext.clone();
        key.ecb_encrypt(&mut data).unwrap();
        expect(key.level(), case, "encrypt", &data, &case.ciphertext);
        key.ecb_decrypt(&mut data).unwrap();
        expect(key.level(), case, "decrypt", &data, &case.plaintext);
    }
    let cases = [testkit::fips197(), testkit::sp800_38a_ecb(), testkit::cavp_ecb()].concat();
    for_every_level(&cases, |level, case| with_key!(&case.key[..], level, |key| check(key, case)));
}

#[test]
fn cbc() {
    fn check<C: SizedCipher>(key: &Key<C>, case: &CipherCase) {
        let iv: [u8; 16] = case.iv[..].try_into().unwrap();
        let mut data = case.plaintext.clone();
        key.cbc_encrypt(&mut iv.clone(), &mut data).unwrap();
        expect(key.level(), case, "encrypt", &data, &case.ciphertext);
        key.cbc_decrypt(&mut iv.clone(), &mut data).unwrap();
        expect(key.level(), case, "decrypt", &data, &case.plaintext);
    }
    let cases = [testkit::sp800_38a_cbc(), testkit::cavp_cbc()].concat();
    for_every_level(&cases, |level, case| with_key!(&case.key[..], level, |key| check(key, case)));
}

/// All cases of a size in one batch: every lane has a key and an IV of its own.
#[test]
fn cbc_in_lanes() {
    let cases = [testkit::sp800_38a_cbc(), testkit::cavp_cbc()].concat();
    for level in AesLevel::available() {
        macro_rules! batch {
            ($size:literal, $aes:ident) => {
                let cases: Vec<_> = cases.iter().filter(|case| case.key.len() == $size).collect();
                assert!(cases.len() > 100);
                let keys: Vec<_> = cases
                    .iter()
                    .map(|case| $aes::with_level(case.key[..].try_into().unwrap(), level))
                    .collect();
                let mut data: Vec<_> = cases.iter().map(|case| case.plaintext.clone()).collect();
                let mut jobs: Vec<_> = cases
                    .iter()
                    .zip(&keys)
                    .zip(&mut data)
                    .map(|((case, key), data)| {
                        Job::new(key, case.iv[..].try_into().unwrap(), Pattern::ALL, data)
                    })
                    .collect();
                lanes::encrypt(&mut jobs);
                for (case, data) in cases.iter().zip(&data) {
                    expect(level, case, "lanes", data, &case.ciphertext);
                }
            };
        }
        batch!(16, Aes128);
        batch!(24, Aes192);
        batch!(32, Aes256);
    }
}

#[test]
fn ctr() {
    fn check<C: SizedCipher>(key: &Key<C>, case: &CipherCase, widths: &[CounterBits]) {
        for bits in widths {
            let counter: [u8; 16] = case.iv[..].try_into().unwrap();
            let mut data = case.plaintext.clone();
            key.ctr(*bits, &counter, &mut data).unwrap();
            expect(key.level(), case, &format!("{bits:?}"), &data, &case.ciphertext);
        }
    }
    use CounterBits::{Bits32, Bits64, Bits128};
    let cases = testkit::sp800_38a_ctr();
    for_every_level(&cases, |level, case| {
        with_key!(&case.key[..], level, |key| check(key, case, &[Bits32, Bits64, Bits128]));
    });
    let cases = testkit::rfc3686_ctr();
    for_every_level(&cases, |level, case| {
        with_key!(&case.key[..], level, |key| check(key, case, &[Bits32]));
    });
}

/// intel-ipsec-mb's known answers for CBCS 1:9, alone and in lanes.
#[test]
fn cbcs() {
    let pattern = Pattern::new(1, 9);
    for_every_level(&testkit::cbcs_kat(), |level, case| {
        let key = Aes128::with_level(case.key[..].try_into().unwrap(), level);
        let iv: [u8; 16] = case.iv[..].try_into().unwrap();
        let mut data = case.plaintext.clone();
        key.cbcs_encrypt(&mut iv.clone(), pattern, &mut data);
        expect(level, case, "encrypt", &data, &case.ciphertext);
        key.cbcs_decrypt(&mut iv.clone(), pattern, &mut data);
        expect(level, case, "decrypt", &data, &case.plaintext);
        let mut many = vec![case.plaintext.clone(); 37];
        let mut jobs: Vec<_> =
            many.iter_mut().map(|data| Job::new(&key, iv, pattern, data)).collect();
        lanes::encrypt(&mut jobs);
        for data in &many {
            expect(level, case, "lanes", data, &case.ciphertext);
        }
    });
}

/// Wycheproof's CBC set: ciphertexts that are valid decrypt to the padded message, and the padding of
/// those that are not is wrong.
#[test]
fn wycheproof_cbc_pkcs5() {
    fn check<C: SizedCipher>(key: &Key<C>, padded: &testkit::PaddedCase) {
        let case = &padded.case;
        let mut data = case.ciphertext.clone();
        let whole = key.cbc_decrypt(&mut case.iv[..].try_into().unwrap(), &mut data).is_ok();
        let padding = data.last().copied().map_or(0, usize::from);
        let valid = whole
            && (1..=16).contains(&padding)
            && data.len() >= padding
            && data[data.len() - padding..].iter().all(|byte| usize::from(*byte) == padding)
            && data[..data.len() - padding] == case.plaintext;
        assert_eq!(valid, padded.valid, "{}: {} {}", key.level(), case.name, padded.comment);
    }
    let padded = testkit::wycheproof_cbc_pkcs5();
    assert!(padded.len() > 100);
    for level in AesLevel::available() {
        for case in &padded {
            with_key!(&case.case.key[..], level, |key| check(key, case));
        }
    }
}
