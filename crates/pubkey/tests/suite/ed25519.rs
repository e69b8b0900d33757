//! Ed25519 against its standard, Wycheproof and OpenSSL, at every level.

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Error, SystemRandom,
    ed25519::{
        Generate, Sign, Signature, SigningKey, Strictness, Verify, VerifyingKey, generate_batch,
        sign_batch, verify_batch,
    },
};
use lanelock_testkit::{Rng, curve25519, hex, openssl, skip, unhex};

/// Every level of this processor; the others are named.
fn levels() -> Vec<LimbLevel> {
    for (name, requires) in LimbLevel::known() {
        if name.parse::<LimbLevel>().is_err() {
            skip(&format!("{name} needs {requires}"));
        }
    }
    LimbLevel::available()
}

fn signing_key(bytes: &[u8; 32], level: LimbLevel) -> SigningKey {
    SigningKey::from_bytes(bytes).unwrap().with_level(level)
}

fn verifying_key(bytes: &[u8; 32], level: LimbLevel) -> Result<VerifyingKey, Error> {
    Ok(VerifyingKey::from_bytes(bytes)?.with_level(level))
}

#[test]
fn rfc8032() {
    let cases = curve25519::rfc8032();
    for level in levels() {
        let keys: Vec<_> =
            cases.iter().map(|case| signing_key(&case.key.unwrap(), level)).collect();
        let sign: Vec<_> =
            keys.iter().zip(&cases).map(|(key, case)| Sign::new(key, &case.message)).collect();
        for ((case, key), signature) in cases.iter().zip(&keys).zip(sign_batch(&sign)) {
            let name = &case.name;
            assert_eq!(key.verifying_key().as_bytes(), &case.public, "{level}: {name}");
            assert_eq!(hex(signature.as_bytes()), hex(&case.signature), "{level}: {name}");
            assert_eq!(key.sign(&case.message), signature, "{level}: {name}");
            assert_eq!(key.verifying_key().verify(&case.message, &signature), Ok(()));
        }
    }
}

#[test]
fn wycheproof() {
    let cases = curve25519::wycheproof_ed25519();
    for level in levels() {
        // Signatures of other lengths are none.
        let (mut verify, mut valid) = (Vec::new(), Vec::new());
        let keys: Vec<_> =
            cases.iter().map(|case| verifying_key(&case.public, level).unwrap()).collect();
        for (case, key) in cases.iter().zip(&keys) {
            match <&[u8; 64]>::try_from(case.signature.as_slice()) {
                Ok(signature) => {
                    let signature = Signature::from_bytes(signature);
                    verify.push(Verify::new(key, &case.message, signature));
                    valid.push((case.valid, &case.name));
                }
                Err(_) => assert!(!case.valid, "{}", case.name),
            }
        }
        for strictness in [Strictness::Rfc8032, Strictness::NoLowOrder] {
            let verify: Vec<_> =
                verify.iter().map(|verify| verify.clone().with_strictness(strictness)).collect();
            for (result, (valid, name)) in verify_batch(&verify).into_iter().zip(&valid) {
                let expected = if *valid { Ok(()) } else { Err(Error::Signature) };
                assert_eq!(result, expected, "{level}: {name}");
            }
        }
    }
}

/// Keys and messages of many lengths; all sizes of batches, at all levels, make the signatures of OpenSSL.
#[test]
fn batches_and_openssl() {
    let mut rng = Rng::from_env("ed25519");
    let mut seeds: Vec<[u8; 32]> = vec![[0; 32], [0xff; 32]];
    seeds.extend((0..18).map(|_| rng.array::<32>()));
    let lengths = [0, 1, 31, 32, 47, 48, 64, 79, 80, 111, 112, 128, 200, 1000, 5000];
    let messages: Vec<Vec<u8>> =
        (0..seeds.len()).map(|i| rng.bytes(lengths[i % lengths.len()])).collect();
    let mut expected: Vec<Signature> = Vec::new();
    let portable = LimbLevel::available()[0];
    for (seed, message) in seeds.iter().zip(&messages) {
        expected.push(signing_key(seed, portable).sign(message));
    }
    if let Some(mut openssl) = openssl() {
        for ((seed, message), expected) in seeds.iter().zip(&messages).zip(&expected) {
            let public = openssl.public("ed25519", seed);
            assert_eq!(hex(signing_key(seed, portable).verifying_key().as_bytes()), hex(&public));
            let signature = openssl.sign("ed25519", seed, message);
            assert_eq!(hex(&signature), hex(expected.as_bytes()));
            assert!(openssl.verify("ed25519", &public, message, expected.as_bytes()));
        }
    }
    for level in levels() {
        let keys: Vec<_> = seeds.iter().map(|seed| signing_key(seed, level)).collect();
        let sign: Vec<_> =
            keys.iter().zip(&messages).map(|(key, message)| Sign::new(key, message)).collect();
        assert_eq!(sign_batch(&sign), expected, "{level}");
        for size in 0..=17 {
            let at = rng.below(seeds.len() - size);
            let some = at..at + size;
            assert_eq!(sign_batch(&sign[some.clone()]), expected[some.clone()], "{level}, {size}");
            // One in each batch is not valid, or none.
            let wrong = rng.below(2 * size + 1);
            let mut verify = Vec::new();
            for (i, j) in some.enumerate() {
                let mut signature = *expected[j].as_bytes();
                if i == wrong {
                    signature[rng.below(64)] ^= 1 << rng.below(8);
                }
                let key = keys[j].verifying_key();
                verify.push(Verify::new(key, &messages[j], Signature::from_bytes(&signature)));
            }
            for (i, result) in verify_batch(&verify).into_iter().enumerate() {
                let expected = if i == wrong { Err(Error::Signature) } else { Ok(()) };
                assert_eq!(result, expected, "{level}, {size}");
            }
        }
    }
}

/// The order of the base point.
const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

/// A signature with the scalar S + L, which others would accept: in each lane, among valid ones.
#[test]
fn scalars_are_canonical() {
    let order = unhex(ORDER);
    for level in levels() {
        let key = signing_key(&[7; 32], level);
        let good = key.sign(b"message");
        let mut other = *good.as_bytes();
        let mut carry = 0;
        for (byte, &add) in other[32..].iter_mut().zip(&order) {
            carry += u16::from(*byte) + u16::from(add);
            *byte = carry.to_le_bytes()[0];
            carry >>= 8;
        }
        for lane in 0..level.width() {
            let mut signatures = vec![good; level.width()];
            signatures[lane] = Signature::from_bytes(&other);
            let verify: Vec<_> = signatures
                .iter()
                .map(|signature| Verify::new(key.verifying_key(), b"message", *signature))
                .collect();
            for (i, result) in verify_batch(&verify).into_iter().enumerate() {
                let expected = if i == lane { Err(Error::Signature) } else { Ok(()) };
                assert_eq!(result, expected, "{level}");
            }
        }
    }
}

/// The encodings of the points of low order.
const LOW_ORDER: [&str; 8] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
];

/// Keys of low order: with S = 0 a signature is valid where k A has the encoding -R, which depends on the hash.
/// [`Strictness::NoLowOrder`] refuses all of them.
#[test]
fn low_order() {
    let Some(mut openssl) = openssl() else { return };
    let points: Vec<[u8; 32]> =
        LOW_ORDER.iter().map(|point| unhex(point).try_into().unwrap()).collect();
    for level in levels() {
        let mut cases = Vec::new();
        for point in &points {
            let key = verifying_key(point, level).unwrap();
            for r in &points {
                for message in 0..4_u8 {
                    let mut signature = [0; 64];
                    signature[..32].copy_from_slice(r);
                    cases.push((key, [message], signature));
                }
            }
        }
        let verify: Vec<_> = cases
            .iter()
            .map(|(key, message, signature)| {
                Verify::new(key, message, Signature::from_bytes(signature))
            })
            .collect();
        let mut valid = 0;
        for (result, (key, message, signature)) in verify_batch(&verify).into_iter().zip(&cases) {
            let expected = openssl.verify("ed25519", key.as_bytes(), message, signature);
            assert_eq!(
                result.is_ok(),
                expected,
                "{level}: {} {}",
                hex(key.as_bytes()),
                hex(signature)
            );
            valid += usize::from(expected);
        }
        assert!(valid > 16, "{valid}");
        let strict: Vec<_> = verify
            .into_iter()
            .map(|verify| verify.with_strictness(Strictness::NoLowOrder))
            .collect();
        assert!(verify_batch(&strict).iter().all(|result| *result == Err(Error::Signature)));
    }
}

/// Encodings that are none: coordinates from p on, numbers without a point, a zero with a sign. An error in one lane
/// leaves the others alone.
#[test]
fn encodings() {
    let mut rng = Rng::from_env("encodings");
    for level in levels() {
        let key = signing_key(&[9; 32], level);
        let signature = key.sign(b"message");
        for low in 0xed..=0xff {
            for top in [0x7f, 0xff] {
                let mut bytes = [0xff; 32];
                (bytes[0], bytes[31]) = (low, top);
                assert!(matches!(VerifyingKey::from_bytes(&bytes), Err(Error::Key(_))));
            }
        }
        // y = 1 and y = -1 have x = 0, which has no sign; 2 is no coordinate.
        let mut wrong: Vec<[u8; 32]> = LOW_ORDER[..2]
            .iter()
            .map(|point| {
                let mut bytes: [u8; 32] = unhex(point).try_into().unwrap();
                bytes[31] |= 0x80;
                bytes
            })
            .collect();
        wrong.push(core::array::from_fn(|i| if i == 0 { 2 } else { 0 }));
        for bytes in wrong {
            let bad = verifying_key(&bytes, level).unwrap();
            let lane = rng.below(level.width());
            let verify: Vec<_> = (0..level.width())
                .map(|i| {
                    let key = if i == lane { &bad } else { key.verifying_key() };
                    Verify::new(key, b"message", signature)
                })
                .collect();
            for (i, result) in verify_batch(&verify).into_iter().enumerate() {
                assert_eq!(result.is_ok(), i != lane, "{level}: {}", hex(&bytes));
                assert!(i != lane || matches!(result, Err(Error::Key(_))), "{level}");
            }
        }
    }
}

#[test]
fn levels_share_a_batch() {
    let mut rng = Rng::from_env("levels share a batch");
    let levels = levels();
    let keys: Vec<_> =
        (0..23).map(|i| signing_key(&rng.array(), levels[i % levels.len()])).collect();
    let messages: Vec<_> = (0..23).map(|i| rng.bytes(i)).collect();
    let sign: Vec<_> =
        keys.iter().zip(&messages).map(|(key, message)| Sign::new(key, message)).collect();
    let signatures = sign_batch(&sign);
    for ((key, message), signature) in keys.iter().zip(&messages).zip(signatures) {
        assert_eq!(key.sign(message), signature);
        assert_eq!(key.verifying_key().verify(message, &signature), Ok(()));
        assert_eq!(key.verifying_key().verify(b"!", &signature), Err(Error::Signature));
    }
}

/// A source of random bytes that fails after some calls.
struct Failing(usize);

impl lanelock_pubkey::Random for Failing {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.0 = self.0.checked_sub(1).ok_or(Error::Random)?;
        lanelock_pubkey::Random::fill(&mut SystemRandom, bytes)
    }
}

#[test]
fn generation() {
    let generate = vec![Generate::new().unwrap(); 11];
    let keys: Vec<_> =
        generate_batch(&generate, &mut SystemRandom).into_iter().map(Result::unwrap).collect();
    for (i, key) in keys.iter().enumerate() {
        let again = SigningKey::from_bytes(key.as_bytes()).unwrap();
        assert_eq!(key.verifying_key(), again.verifying_key());
        assert!(keys[..i].iter().all(|other| other.as_bytes() != key.as_bytes()));
    }
    for (i, key) in generate_batch(&generate, &mut Failing(4)).into_iter().enumerate() {
        assert_eq!(key.err(), (i >= 4).then_some(Error::Random));
    }
    assert_eq!(SigningKey::generate(&mut Failing(0)).unwrap_err(), Error::Random);
}

#[cfg(feature = "signature")]
#[test]
fn traits() {
    use signature::{SignatureEncoding as _, Signer, Verifier};

    let key = SigningKey::from_bytes(&[3; 32]).unwrap();
    let signature: Signature = Signer::sign(&key, b"message");
    let bytes = signature.to_bytes();
    assert_eq!(Signature::try_from(bytes.as_slice()).unwrap(), key.sign(b"message"));
    assert!(Signature::try_from(&bytes[1..]).is_err());
    let public = signature::Keypair::verifying_key(&key);
    assert!(Verifier::verify(&public, b"message", &signature).is_ok());
    assert!(Verifier::verify(&public, b"massage", &signature).is_err());
}

#[test]
fn nothing_secret_is_shown() {
    let key = SigningKey::from_bytes(&[0xa7; 32]).unwrap();
    let shown = format!("{key:?} {:?}", Sign::new(&key, "message"));
    assert!(!shown.contains("167, 167") && !shown.contains("seed"), "{shown}");
}

/// A locked key is the same; where the system does not lock memory, that is the error.
#[test]
fn locked_keys() {
    let key = SigningKey::from_bytes(&[5; 32]).unwrap();
    match key.lock() {
        Ok(locked) => {
            assert_eq!(locked.as_bytes(), key.as_bytes());
            assert_eq!(locked.sign(b"message"), key.sign(b"message"));
        }
        Err(error) => skip(&format!("memory cannot be locked: {error}")),
    }
}
