//! ECDSA: published vectors and Project Wycheproof at every level, in batches of any size, and what must be refused.

#![allow(clippy::pedantic, reason = "tests")]

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{Curve, Error, Hash, P256, P384, P521, Submitter, SystemRandom, ecdsa};
use lanelock_testkit::{
    Openssl, Rng,
    curves::{self, EcdsaCase, SignatureForm},
    openssl, skip,
};

fn levels() -> Vec<LimbLevel> {
    for (name, requires) in LimbLevel::known() {
        if name.parse::<LimbLevel>().is_err() {
            skip(&format!("{name} needs {requires}"));
        }
    }
    LimbLevel::available()
}

fn hash(name: &str) -> Hash {
    match name {
        "SHA-1" => Hash::Sha1,
        "SHA-224" => Hash::Sha224,
        "SHA-256" => Hash::Sha256,
        "SHA-384" => Hash::Sha384,
        "SHA-512" => Hash::Sha512,
        other => panic!("{other} is no hash here"),
    }
}

/// Verifies all cases of a curve in one batch; a signature that cannot be read is one that is not valid.
fn verify_all<C: Curve>(cases: &[EcdsaCase]) -> usize {
    let cases: Vec<&EcdsaCase> = cases.iter().filter(|case| case.curve == C::NAME).collect();
    for level in levels() {
        let mut taken = Vec::new();
        let mut operations = Vec::new();
        for case in &cases {
            let public = case.public.as_deref().expect("a public key");
            let key =
                ecdsa::VerifyingKey::<C>::from_sec1_bytes(public).map(|key| key.with_level(level));
            let signature = match case.form {
                SignatureForm::Der => ecdsa::Signature::from_der(&case.signature),
                SignatureForm::Fixed => ecdsa::Signature::from_bytes(&case.signature),
            };
            let (Ok(key), Ok(signature)) = (key, signature) else {
                assert!(!case.valid, "{}", case.name);
                continue;
            };
            let digest = hash(&case.hash).digest(&case.message).unwrap();
            operations.push(ecdsa::Verify::new(Box::new(key), &digest, &signature));
            taken.push(*case);
        }
        for (case, result) in taken.iter().zip(ecdsa::verify_batch(&operations)) {
            assert_eq!(result.is_ok(), case.valid, "{}, {level}", case.name);
            assert!(matches!(result, Ok(()) | Err(Error::Signature)), "{}", case.name);
        }
    }
    cases.len()
}

#[test]
fn nist_signatures() {
    let cases = curves::signatures();
    let count =
        verify_all::<P256>(&cases) + verify_all::<P384>(&cases) + verify_all::<P521>(&cases);
    assert_eq!(count, cases.len());
}

#[test]
fn wycheproof() {
    let cases = curves::wycheproof_ecdsa();
    let count =
        verify_all::<P256>(&cases) + verify_all::<P384>(&cases) + verify_all::<P521>(&cases);
    assert_eq!(count, cases.len());
}

#[test]
fn rfc6979() {
    fn of<C: Curve>(cases: &[EcdsaCase]) -> usize {
        let cases: Vec<&EcdsaCase> = cases.iter().filter(|case| case.curve == C::NAME).collect();
        for level in levels() {
            let operations: Vec<_> = cases
                .iter()
                .map(|case| {
                    let key = case.key.as_deref().expect("a private key");
                    let key = ecdsa::SigningKey::<C>::from_bytes(key).unwrap().with_level(level);
                    let hash = hash(&case.hash);
                    let digest = hash.digest(&case.message).unwrap();
                    let sign = ecdsa::Sign::new(Box::new(key), hash, &digest).unwrap();
                    sign.with_deterministic_nonce()
                })
                .collect();
            let signatures = ecdsa::sign_batch(&operations, &mut SystemRandom);
            for (case, signature) in cases.iter().zip(signatures) {
                let signature = signature.unwrap();
                assert_eq!(signature.to_der(), case.signature, "{}, {level}", case.name);
                assert_eq!(ecdsa::Signature::from_der(&case.signature), Ok(signature));
            }
        }
        cases.len()
    }
    let cases = curves::rfc6979();
    assert_eq!(of::<P256>(&cases) + of::<P384>(&cases) + of::<P521>(&cases), cases.len());
}

/// Batches of every size, with keys of their own, hedged; one operation in three is to be refused.
#[test]
fn batches() {
    fn of<C: Curve>(sizes: impl Iterator<Item = usize> + Clone) {
        let mut random = SystemRandom;
        let keys: Vec<_> =
            (0..17).map(|_| ecdsa::SigningKey::<C>::generate(&mut random).unwrap()).collect();
        for level in levels() {
            let keys: Vec<_> = keys.iter().map(|key| key.clone().with_level(level)).collect();
            let public: Vec<_> = keys.iter().map(|key| key.verifying_key()).collect();
            for size in sizes.clone() {
                let hash = Hash::Sha256;
                let digests: Vec<_> =
                    (0..size).map(|i| hash.digest(&[i as u8, size as u8]).unwrap()).collect();
                let operations: Vec<_> = keys
                    .iter()
                    .zip(&digests)
                    .map(|(key, digest)| ecdsa::Sign::new(key, hash, digest).unwrap())
                    .collect();
                let signatures = ecdsa::sign_batch(&operations, &mut random);
                assert_eq!(signatures.len(), size);
                let signatures: Vec<_> = signatures.into_iter().map(Result::unwrap).collect();
                let verify: Vec<_> = signatures
                    .iter()
                    .enumerate()
                    .map(|(i, signature)| {
                        let wrong = usize::from(i % 3 == 2);
                        let digest = &digests[(i + wrong) % size];
                        ecdsa::Verify::new(&public[i], digest, signature)
                    })
                    .collect();
                for (i, result) in ecdsa::verify_batch(&verify).into_iter().enumerate() {
                    let expected = if i % 3 == 2 { Err(Error::Signature) } else { Ok(()) };
                    assert_eq!(result, expected, "{}, {level}, {i} of {size}", C::NAME);
                }
            }
        }
    }
    of::<P256>(1..=17);
    of::<P384>([1, 4, 9].into_iter());
    of::<P521>([1, 8, 13].into_iter());
}

/// Signatures whose numbers are not in their range, and keys that are none.
/// A source that fails.
struct Broken;

impl lanelock_pubkey::Random for Broken {
    fn fill(&mut self, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::Random)
    }
}

/// Signatures without random bytes are the same beside others, and are made where there are none.
#[test]
fn deterministic_beside_hedged() {
    let key = ecdsa::SigningKey::<P256>::generate(&mut SystemRandom).unwrap();
    let sign = || ecdsa::Sign::new(&key, Hash::Sha256, &[7; 32]).unwrap();
    let alone = ecdsa::sign_batch(&[sign().with_deterministic_nonce()], &mut Broken).remove(0);
    let signs = [sign(), sign().with_deterministic_nonce(), sign()];
    let both = ecdsa::sign_batch(&signs, &mut SystemRandom);
    assert_eq!(both[1], alone);
    assert_ne!(both[0], alone);
    assert_ne!(both[0], both[2]);
    let refused = Err(Error::Random);
    assert_eq!(ecdsa::sign_batch(&signs, &mut Broken), [refused.clone(), alone, refused]);
}

/// A pass takes as many operations as the level has lanes.
#[test]
fn lanes() {
    for level in levels() {
        let key = ecdsa::SigningKey::<P256>::generate(&mut SystemRandom).unwrap();
        let key = key.with_level(level);
        let mut submitter = Submitter::new();
        let mut submit =
            || submitter.submit(ecdsa::Sign::new(&key, Hash::Sha256, &[7; 32]).unwrap());
        let tickets: Vec<_> = (0..level.width()).map(|_| submit()).collect();
        assert_eq!(submitter.waiting(), 0, "{level}");
        assert!(tickets.into_iter().all(|ticket| submitter.poll(ticket).unwrap().is_ok()));
    }
}

#[test]
fn refused() {
    fn of<C: Curve>(order: &[u8]) {
        let zero = vec![0; C::BYTES];
        let mut one = zero.clone();
        *one.last_mut().unwrap() = 1;
        let ones = vec![0xff; C::BYTES];
        let mut last = order.to_vec();
        *last.last_mut().unwrap() -= 1;
        for bad in [&zero, &order.to_vec(), &ones] {
            assert!(matches!(ecdsa::SigningKey::<C>::from_bytes(bad), Err(Error::Key(_))));
        }
        assert!(matches!(
            ecdsa::SigningKey::<C>::from_bytes(&one[1..]),
            Err(Error::Length { expected, .. }) if expected == C::BYTES
        ));
        let key = ecdsa::SigningKey::<C>::from_bytes(&last).unwrap();
        let public = key.verifying_key();
        let first = ecdsa::SigningKey::<C>::from_bytes(&one).unwrap().verifying_key();
        // n - 1 is -1: the same x.
        assert_eq!(public.to_sec1_compressed_bytes()[1..], first.to_sec1_compressed_bytes()[1..]);
        assert_ne!(public, first);
        for (r, s) in [(&zero, &one), (&one, &zero), (&order.to_vec(), &one), (&one, &ones)] {
            let signature = ecdsa::Signature::from_bytes(&[&r[..], s].concat()).unwrap();
            assert_eq!(public.verify(&[7; 32], &signature), Err(Error::Signature));
        }
        assert!(ecdsa::Signature::<C>::from_bytes(&zero).is_err());
        assert!(ecdsa::Sign::new(&key, Hash::Sha384, &[0; 47]).is_err());
        let debug = format!("{key:?} {:?}", ecdsa::Sign::new(&key, Hash::Sha1, &[0; 20]));
        assert!(!debug.contains("ffff"), "{debug}");
        assert_eq!(*key.to_bytes(), last);
        match key.lock() {
            Ok(locked) => assert_eq!(*locked.to_bytes(), last),
            Err(error) => skip(&format!("no memory can be locked: {error}")),
        }
        for bad in [&[][..], &[0], &[4], &[9; 33]] {
            assert!(ecdsa::VerifyingKey::<C>::from_sec1_bytes(bad).is_err());
        }
        let mut other = public.to_sec1_bytes();
        *other.last_mut().unwrap() ^= 1;
        let off = Error::Key("the point is not on the curve");
        assert_eq!(ecdsa::VerifyingKey::<C>::from_sec1_bytes(&other), Err(off));
        let compressed = public.to_sec1_compressed_bytes();
        assert_eq!(ecdsa::VerifyingKey::<C>::from_sec1_bytes(&compressed), Ok(public));
    }
    let order = |text: &str| lanelock_testkit::unhex(text);
    of::<P256>(&order("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"));
    of::<P384>(&order(concat!(
        "ffffffffffffffffffffffffffffffffffffffffffffffff",
        "c7634d81f4372ddf581a0db248b0a77aecec196accc52973"
    )));
    of::<P521>(&order(concat!(
        "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409"
    )));
}

#[test]
fn nist_keys() {
    fn of<C: Curve>(cases: &[curves::KeyCase]) -> usize {
        let cases = cases.iter().filter(|case| case.curve == C::NAME);
        cases
            .map(|case| {
                let coordinates = case.point.each_ref().map(|number| {
                    [vec![0; C::BYTES.saturating_sub(number.len())], number.clone()].concat()
                });
                let point = [&[4][..], &coordinates[0], &coordinates[1]].concat();
                let public = ecdsa::VerifyingKey::<C>::from_sec1_bytes(&point);
                assert_eq!(public.is_ok(), case.valid, "{}", case.name);
                if let Some(key) = &case.key {
                    let key = [vec![0; C::BYTES - key.len()], key.clone()].concat();
                    let key = ecdsa::SigningKey::<C>::from_bytes(&key).unwrap();
                    assert_eq!(Ok(key.verifying_key()), public, "{}", case.name);
                }
            })
            .count()
    }
    let cases = [curves::key_pairs(), curves::public_keys()].concat();
    assert_eq!(of::<P256>(&cases) + of::<P384>(&cases) + of::<P521>(&cases), cases.len());
}

/// OpenSSL reads keys in PKCS #8 and SubjectPublicKeyInfo, verifies signatures, and makes such as are verified.
#[test]
fn openssl_agrees() {
    fn of<C: Curve>(openssl: &mut Openssl, hash: Hash) {
        let algorithm = C::NAME.to_lowercase();
        let mut random = Rng::from_env(C::NAME);
        for level in levels() {
            let mut operations = Vec::new();
            let mut verifications = Vec::new();
            for _ in 0..9 {
                let key = ecdsa::SigningKey::<C>::generate(&mut SystemRandom).unwrap();
                let key = key.with_level(level);
                let mut message = vec![0; random.below(100)];
                random.fill(&mut message);
                let digest = hash.digest(&message).unwrap();
                let theirs = openssl.sign(&algorithm, &key.to_pkcs8_der(), &message);
                let theirs = ecdsa::Signature::from_der(&theirs).unwrap();
                verifications.push(ecdsa::Verify::new(
                    Box::new(key.verifying_key()),
                    &digest,
                    &theirs,
                ));
                operations.push((
                    ecdsa::Sign::new(Box::new(key.clone()), hash, &digest).unwrap(),
                    key,
                    message,
                ));
            }
            assert!(ecdsa::verify_batch(&verifications).iter().all(Result::is_ok), "{level}");
            let (sign, keys): (Vec<_>, Vec<_>) =
                operations.into_iter().map(|(sign, key, message)| (sign, (key, message))).unzip();
            for (signature, (key, mut message)) in
                ecdsa::sign_batch(&sign, &mut SystemRandom).into_iter().zip(keys)
            {
                let (public, der) =
                    (key.verifying_key().to_spki_der(), signature.unwrap().to_der());
                assert!(openssl.verify(&algorithm, &public, &message, &der), "{level}");
                message.push(0);
                assert!(!openssl.verify(&algorithm, &public, &message, &der), "{level}");
            }
        }
    }
    let Some(mut openssl) = openssl() else { return skip("no libcrypto 3 (or no Python 3)") };
    of::<P256>(&mut openssl, Hash::Sha256);
    of::<P384>(&mut openssl, Hash::Sha384);
    of::<P521>(&mut openssl, Hash::Sha512);
}

/// Keys come back from every form, in no other form and for no other curve.
#[test]
fn encodings() {
    fn of<C: Curve, Other: Curve>() {
        let key = ecdsa::SigningKey::<C>::generate(&mut SystemRandom).unwrap();
        let public = key.verifying_key();
        let pkcs8 = key.to_pkcs8_der();
        let sec1 = key.to_sec1_der();
        let pem = key.to_pkcs8_pem();
        let again = [
            ecdsa::SigningKey::<C>::from_pkcs8_der(&pkcs8),
            ecdsa::SigningKey::from_sec1_der(&sec1),
            ecdsa::SigningKey::from_pem(&pem),
        ];
        for again in again {
            assert_eq!(again.unwrap().to_bytes(), key.to_bytes());
        }
        assert_eq!(ecdsa::VerifyingKey::from_spki_der(&public.to_spki_der()), Ok(public));
        assert_eq!(ecdsa::VerifyingKey::from_pem(&public.to_spki_pem()), Ok(public));
        assert!(matches!(ecdsa::SigningKey::<Other>::from_pkcs8_der(&pkcs8), Err(Error::Key(_))));
        assert!(matches!(ecdsa::SigningKey::<Other>::from_sec1_der(&sec1), Err(Error::Key(_))));
        assert!(ecdsa::VerifyingKey::<Other>::from_spki_der(&public.to_spki_der()).is_err());
        assert!(ecdsa::SigningKey::<C>::from_pem(&public.to_spki_pem()).is_err());
        assert!(ecdsa::VerifyingKey::<C>::from_pem(&pem).is_err());
        assert!(ecdsa::SigningKey::<C>::from_pkcs8_der(&sec1).is_err());
        for at in 0..pkcs8.len() {
            assert!(ecdsa::SigningKey::<C>::from_pkcs8_der(&pkcs8[..at]).is_err());
        }
        // The public key in the private one's file is compared with it.
        let mut other = sec1.to_vec();
        *other.last_mut().unwrap() ^= 1;
        assert!(matches!(ecdsa::SigningKey::<C>::from_sec1_der(&other), Err(Error::Key(_))));
    }
    of::<P256, P384>();
    of::<P384, P521>();
    of::<P521, P256>();
}

/// The traits of the crate `signature`: messages are hashed with the curve's hash, RFC 6979 gives the nonce.
#[cfg(feature = "signature")]
#[test]
fn signature_traits() {
    use signature::{
        RandomizedSigner as _, SignatureEncoding as _, Verifier, hazmat::PrehashSigner as _,
    };
    fn of<C: Curve>(hash: Hash) {
        let cases = curves::rfc6979();
        let name = format!("{hash:?}").replace("Sha", "SHA-");
        for case in cases.iter().filter(|case| case.curve == C::NAME && case.hash == name) {
            let key = ecdsa::SigningKey::<C>::from_bytes(case.key.as_deref().unwrap()).unwrap();
            let signature = signature::Signer::sign(&key, &case.message);
            assert_eq!(signature.to_der(), case.signature, "{}", case.name);
            let public = key.verifying_key();
            let hedged = key.sign_with_rng(&mut rand_core::UnwrapErr(SystemRandom), &case.message);
            assert_ne!(hedged, signature);
            for signature in [hedged, signature] {
                let signature = ecdsa::Signature::try_from(&signature.to_vec()[..]).unwrap();
                assert!(Verifier::verify(&public, &case.message, &signature).is_ok());
                assert!(Verifier::verify(&public, b"another", &signature).is_err());
            }
            assert!(key.sign_prehash(&[1; 20]).is_ok());
        }
    }
    of::<P256>(Hash::Sha256);
    of::<P384>(Hash::Sha384);
    of::<P521>(Hash::Sha512);
}

/// One form of DER for each signature, and nothing else is read.
#[test]
fn der() {
    let mut random = Rng::from_env("der");
    for length in [1, 31, 32, 40, 64] {
        let mut bytes = [0; 64];
        random.fill(&mut bytes[64 - length..]);
        let signature = ecdsa::Signature::<P256>::from_bytes(&bytes).unwrap();
        let der = signature.to_der();
        assert_eq!(ecdsa::Signature::from_der(&der), Ok(signature));
        for at in 0..der.len() {
            assert!(ecdsa::Signature::<P256>::from_der(&der[..at]).is_err());
        }
        assert!(ecdsa::Signature::<P256>::from_der(&[&der[..], &[0]].concat()).is_err());
    }
}
