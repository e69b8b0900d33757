//! Signatures of RSA: published cases, OpenSSL, every level, any number at once.

use std::collections::HashMap;

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Error, Hash, SystemRandom,
    rsa::{self, Components, PrivateKey, PublicKey, Scheme, Sign, Verify},
};
use lanelock_testkit::{
    Rng, openssl,
    rsa::{
        RsaSignatureCase, RsaSigningCase, SignaturePadding, cavp_signing, cavp_verification,
        wycheproof_pkcs1, wycheproof_pss,
    },
};
use num_bigint::BigUint;

fn hash_of(bits: u32) -> Hash {
    match bits {
        1 => Hash::Sha1,
        224 => Hash::Sha224,
        256 => Hash::Sha256,
        384 => Hash::Sha384,
        512 => Hash::Sha512,
        bits => panic!("no hash of {bits} bits"),
    }
}

fn scheme_of(case: &RsaSignatureCase) -> Scheme {
    let hash = hash_of(case.hash);
    match case.padding {
        SignaturePadding::Pkcs1v15 => Scheme::pkcs1v15(hash),
        SignaturePadding::Pss { mask, salt } => {
            Scheme::pss(hash).with_mask_hash(hash_of(mask)).with_salt_length(salt)
        }
    }
}

/// All cases in one batch, one in so many of them on the slower levels, and how many keys were refused.
fn verify_all(cases: &[RsaSignatureCase], slower: usize) -> usize {
    let mut keys = HashMap::new();
    for case in cases {
        keys.entry((&*case.n, &*case.e)).or_insert_with(|| PublicKey::new(&case.n, &case.e));
    }
    let refused = keys.values().filter(|key| key.is_err()).count();
    for level in LimbLevel::available() {
        let keys: HashMap<_, _> = keys
            .iter()
            .filter_map(|(name, key)| Some((*name, key.clone().ok()?.with_level(level))))
            .collect();
        let step = if level == LimbLevel::fastest() { 1 } else { slower };
        let (cases, operations): (Vec<_>, Vec<_>) = cases
            .iter()
            .step_by(step)
            .filter_map(|case| {
                let key = keys.get(&(&*case.n, &*case.e))?;
                let signature = &*case.signature;
                Some((
                    case,
                    Verify::message(key, scheme_of(case), &case.message, signature).unwrap(),
                ))
            })
            .unzip();
        for (case, result) in cases.iter().zip(rsa::verify_batch(&operations)) {
            let expected = case.valid.unwrap_or(result.is_ok());
            assert_eq!(result.is_ok(), expected, "{level}: {} {result:?}", case.name);
        }
    }
    refused
}

#[test]
fn wycheproof_signatures_of_pkcs1() {
    assert_eq!(verify_all(&wycheproof_pkcs1(), 5), 0);
}

#[test]
fn wycheproof_signatures_of_pss() {
    assert_eq!(verify_all(&wycheproof_pss(), 5), 0);
}

#[test]
fn nist_signatures_are_verified() {
    assert_eq!(verify_all(&cavp_verification(), 1), 0);
}

fn signing_key(case: &RsaSigningCase) -> PrivateKey {
    let [d, p, q] = [&case.d, &case.p, &case.q].map(|number| BigUint::from_bytes_be(number));
    let [dp, dq] = [&p, &q].map(|prime| (&d % (prime - 1_u8)).to_bytes_be());
    let qinv = q.modinv(&p).unwrap().to_bytes_be();
    let RsaSignatureCase { n, e, .. } = &case.signature;
    let (d, p, q, dp, dq, qinv) = (&case.d, &case.p, &case.q, &dp, &dq, &qinv);
    PrivateKey::new(&Components { n, e, d, p, q, dp, dq, qinv }).unwrap()
}

/// Salts, one for each request of their length, and random bytes else.
struct Salts<'a>(std::slice::Iter<'a, &'a [u8]>);

impl lanelock_pubkey::Random for Salts<'_> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        if self.0.as_slice().first().is_some_and(|salt| salt.len() == bytes.len()) {
            bytes.copy_from_slice(self.0.next().unwrap());
            return Ok(());
        }
        lanelock_pubkey::Random::fill(&mut SystemRandom, bytes)
    }
}

#[test]
fn nist_signatures_are_made_again() {
    let cases = cavp_signing();
    for level in LimbLevel::available() {
        let keys: Vec<_> = cases.iter().map(|case| signing_key(case).with_level(level)).collect();
        let signs: Vec<_> = cases
            .iter()
            .zip(&keys)
            .map(|(case, key)| {
                let scheme = scheme_of(&case.signature);
                Sign::message(key, scheme, &case.signature.message).unwrap()
            })
            .collect();
        // Classes, sizes of keys, are run one after the other, in the order of the cases.
        for bits in [2048, 3072, 4096] {
            let of_size = |at: &usize| keys[*at].bits() == bits;
            let places: Vec<usize> = (0..cases.len()).filter(of_size).collect();
            let salts: Vec<_> =
                places.iter().map(|&at| &*cases[at].salt).filter(|salt| !salt.is_empty()).collect();
            let signs: Vec<_> = places.iter().map(|&at| signs[at].clone()).collect();
            let signatures = rsa::sign_batch(&signs, &mut Salts(salts.iter()));
            for (at, signature) in places.into_iter().zip(signatures) {
                let RsaSignatureCase { name, signature: expected, .. } = &cases[at].signature;
                assert_eq!(signature.unwrap().as_ref(), expected, "{level}: {name}");
            }
        }
    }
}

const HASHES: [(Hash, &str); 4] = [
    (Hash::Sha224, "sha224"),
    (Hash::Sha256, "sha256"),
    (Hash::Sha384, "sha384"),
    (Hash::Sha512, "sha512"),
];

#[test]
fn openssl_and_this_crate_take_signatures_of_each_other() {
    let Some(mut openssl) = openssl() else { return };
    let mut random = Rng::from_env("rsa signatures");
    for (bits, e) in [(2048, 65537), (2048, 3), (2050, 17), (3072, 65537), (4096, 0xffff_fffb)] {
        let der = openssl.rsa_generate(bits, e);
        for level in LimbLevel::available() {
            let key = PrivateKey::from_pkcs1_der(&der).unwrap().with_level(level);
            assert_eq!(key.bits(), bits);
            assert_eq!(*key.to_pkcs1_der(), der);
            let public = key.public_key().to_spki_der();
            for (hash, name) in HASHES {
                let message = random.bytes(100);
                let schemes = [(Scheme::pkcs1v15(hash), "pkcs1"), (Scheme::pss(hash), "pss")];
                let operations =
                    schemes.map(|(scheme, _)| Sign::message(&key, scheme, &message).unwrap());
                let results = rsa::sign_batch(&operations, &mut SystemRandom);
                for ((scheme, padding), result) in schemes.iter().zip(results) {
                    let algorithm = format!("rsa-{padding}-{name}");
                    let signature = result.unwrap();
                    assert!(
                        openssl.rsa_verify(&algorithm, &public, &message, signature.as_ref()),
                        "{level} {bits} {algorithm}"
                    );
                    let theirs = openssl.rsa_sign(&algorithm, &der, &message);
                    if *padding == "pkcs1" {
                        assert_eq!(theirs, signature.as_ref());
                    }
                    let verify =
                        Verify::message(key.public_key(), *scheme, &message, theirs).unwrap();
                    assert_eq!(rsa::verify_batch(&[verify]), [Ok(())]);
                }
            }
        }
    }
}

/// Keys of several sizes and exponents, in PKCS #8.
fn keys() -> Vec<PrivateKey> {
    let mut ders: Vec<Vec<u8>> = lanelock_testkit::rsa::wycheproof_pkcs1_decrypt()
        .into_iter()
        .chain(lanelock_testkit::rsa::wycheproof_oaep())
        .map(|case| case.key)
        .collect();
    ders.sort();
    ders.dedup();
    let keys: Vec<_> = ders.iter().filter_map(|der| PrivateKey::from_pkcs8_der(der).ok()).collect();
    assert!(keys.len() > 10);
    keys
}

#[test]
fn batches_of_any_number_are_what_one_is() {
    let keys = keys();
    let scheme = Scheme::pkcs1v15(Hash::Sha256);
    let one = |key: &PrivateKey, message: &[u8]| {
        let operation = Sign::message(key, scheme, message).unwrap();
        rsa::sign_batch(&[operation], &mut SystemRandom).remove(0).unwrap()
    };
    let mut small: Vec<&PrivateKey> = keys.iter().filter(|key| key.bits() == 2048).collect();
    small.truncate(8);
    small.push(keys.iter().find(|key| key.bits() == 3072).unwrap());
    let messages: Vec<Vec<u8>> = (0..17).map(|i| vec![i; 10]).collect();
    let expected: Vec<_> =
        messages.iter().zip(small.iter().cycle()).map(|(message, key)| one(key, message)).collect();
    for level in LimbLevel::available() {
        let small: Vec<PrivateKey> = small
            .iter()
            .map(|key| PrivateKey::from_pkcs1_der(&key.to_pkcs1_der()).unwrap().with_level(level))
            .collect();
        let counts = if level == LimbLevel::fastest() { 1..=17 } else { 3..=4 };
        for count in counts {
            let signs: Vec<_> = messages[..count]
                .iter()
                .zip(small.iter().cycle())
                .map(|(message, key)| Sign::message(key, scheme, message).unwrap())
                .collect();
            let results = rsa::sign_batch(&signs, &mut SystemRandom);
            let signatures: Vec<_> = results.into_iter().map(Result::unwrap).collect();
            assert_eq!(signatures, expected[..count], "{level} {count}");

            // One signature in three is wrong.
            let verifies: Vec<_> = (0..count)
                .map(|i| {
                    let mut bytes = signatures[i].as_ref().to_vec();
                    bytes[i] ^= u8::from(i % 3 == 1);
                    let key = small[i % small.len()].public_key();
                    Verify::message(key, scheme, &messages[i], bytes).unwrap()
                })
                .collect();
            let expected: Vec<_> = (0..count)
                .map(|i| if i % 3 == 1 { Err(Error::Signature) } else { Ok(()) })
                .collect();
            assert_eq!(rsa::verify_batch(&verifies), expected, "{level} {count}");
        }
    }
}

#[test]
fn signatures_go_on_when_pairs_of_blinding_are_used_up() {
    let keys = keys();
    let key = keys.iter().find(|key| key.bits() == 2048).unwrap();
    let sign = || Sign::message(key, Scheme::pkcs1v15(Hash::Sha512), b"message").unwrap();
    let first = rsa::sign_batch(&[sign()], &mut SystemRandom).remove(0).unwrap();
    for _ in 0..5 {
        let signs: Vec<_> = (0..16).map(|_| sign()).collect();
        for result in rsa::sign_batch(&signs, &mut SystemRandom) {
            assert_eq!(result.unwrap(), first);
        }
    }
}

#[test]
fn what_cannot_be_signed_is_an_error() {
    let keys = keys();
    let key = keys.iter().find(|key| key.bits() == 2048).unwrap();
    let new = |scheme, digest: &[u8]| Sign::new(key, scheme, digest).map(|_| ());
    assert_eq!(new(Scheme::pkcs1v15(Hash::Sha1), &[0; 20]), Err(Error::Weak("SHA-1")));
    let length = Error::Length { what: "the digest", got: 31, expected: 32 };
    assert_eq!(new(Scheme::pss(Hash::Sha256), &[0; 31]), Err(length));
    let scheme = Scheme::pss(Hash::Sha512);
    assert_eq!(new(scheme.with_salt_length(190), &[0; 64]), Ok(()));
    assert_eq!(new(scheme.with_salt_length(191), &[0; 64]), Err(Error::Range("the salt")));
}

/// A source that fails.
struct Broken;

impl lanelock_pubkey::Random for Broken {
    fn fill(&mut self, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::Random)
    }
}

#[test]
fn nothing_is_signed_without_random_numbers() {
    let keys = keys();
    let key = keys.iter().find(|key| key.bits() == 2048).unwrap();
    let signs = [Scheme::pkcs1v15(Hash::Sha256), Scheme::pss(Hash::Sha256)]
        .map(|scheme| Sign::message(key, scheme, b"message").unwrap());
    assert_eq!(rsa::sign_batch(&signs, &mut Broken), [Err(Error::Random), Err(Error::Random)]);
}
