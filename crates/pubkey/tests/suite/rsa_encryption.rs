//! Encryption and decryption of RSA: published cases, OpenSSL, every level.

use std::collections::HashMap;

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Error, Hash, SystemRandom,
    rsa::{self, Decrypt, Encrypt, Encryption, PrivateKey},
};
use lanelock_testkit::{
    Rng, openssl,
    rsa::{RsaDecryptionCase, implicit_rejection, wycheproof_oaep, wycheproof_pkcs1_decrypt},
};

const HASHES: [(u32, Hash, &str); 5] = [
    (1, Hash::Sha1, "sha1"),
    (224, Hash::Sha224, "sha224"),
    (256, Hash::Sha256, "sha256"),
    (384, Hash::Sha384, "sha384"),
    (512, Hash::Sha512, "sha512"),
];

fn encryption_of(case: &RsaDecryptionCase) -> Encryption {
    let hash_of = |bits| HASHES.iter().find(|hash| hash.0 == bits).unwrap().1;
    match case.oaep {
        None => Encryption::pkcs1v15(),
        Some((hash, mask)) => {
            Encryption::oaep(hash_of(hash)).with_mask_hash(hash_of(mask)).with_label(&case.label)
        }
    }
}

/// All cases, and how many have keys that are refused. The slow levels take the valid ones of few keys.
fn decrypt_all(cases: &[RsaDecryptionCase]) -> usize {
    let mut keys: HashMap<&[u8], Option<PrivateKey>> = HashMap::new();
    for case in cases {
        keys.entry(&case.key).or_insert_with(|| PrivateKey::from_pkcs8_der(&case.key).ok());
    }
    let mut operations = Vec::new();
    let mut refused = 0;
    for case in cases {
        let Some(key) = &keys[&*case.key] else {
            refused += 1;
            continue;
        };
        match Decrypt::new(key, encryption_of(case), &case.ciphertext) {
            Ok(operation) => operations.push((case, operation)),
            Err(error) => assert_ne!(case.valid, Some(true), "{}: {error}", case.name),
        }
    }
    let (cases, operations): (Vec<_>, Vec<_>) = operations.into_iter().unzip();
    for (case, result) in cases.iter().zip(rsa::decrypt_batch(&operations, &mut SystemRandom)) {
        let is_right = result.as_ref().is_ok_and(|message| **message == case.message);
        assert_eq!(is_right, case.valid.unwrap_or(is_right), "{}: {result:?}", case.name);
        if case.oaep.is_some() && case.valid == Some(false) {
            assert_eq!(result.unwrap_err(), Error::Decryption, "{}", case.name);
        }
    }
    refused
}

#[test]
fn wycheproof_ciphertexts_of_pkcs1() {
    assert_eq!(decrypt_all(&wycheproof_pkcs1_decrypt()), 0);
}

#[test]
fn wycheproof_ciphertexts_of_oaep() {
    // Keys of less than 2048 bits.
    assert_eq!(decrypt_all(&wycheproof_oaep()), 120);
}

#[test]
fn openssl_and_this_crate_read_each_other() {
    let Some(mut openssl) = openssl() else { return };
    let mut random = Rng::from_env("rsa encryption");
    for (bits, e) in [(2048, 65537), (2064, 3)] {
        let der = openssl.rsa_generate(bits, e);
        for level in LimbLevel::available() {
            let key = PrivateKey::from_pkcs1_der(&der).unwrap().with_level(level);
            let public = key.public_key().to_spki_der();
            for (_, hash, name) in HASHES {
                let most = key.public_key().length() - 2 * hash.length() - 2;
                for (length, label) in [(0, &b"label"[..]), (1, b""), (most, b"longer label")] {
                    let message = random.bytes(length);
                    let encryption = Encryption::oaep(hash).with_label(label);
                    let encrypt =
                        Encrypt::new(key.public_key(), encryption.clone(), &message).unwrap();
                    let ours = rsa::encrypt_batch(&[encrypt], &mut SystemRandom).remove(0).unwrap();
                    let algorithm = format!("rsa-oaep-{name}");
                    assert_eq!(
                        openssl.rsa_decrypt(&algorithm, &der, label, &ours).unwrap(),
                        message
                    );
                    let theirs = openssl.rsa_encrypt(&algorithm, &public, label, &message);
                    let decrypts = [&ours, &theirs]
                        .map(|text| Decrypt::new(&key, encryption.clone(), text).unwrap());
                    for result in rsa::decrypt_batch(&decrypts, &mut SystemRandom) {
                        assert_eq!(**result.unwrap(), message, "{level} {algorithm}");
                    }
                    let wrong = encryption.with_label(b"another");
                    let wrong = Decrypt::new(&key, wrong, &theirs).unwrap();
                    let results = rsa::decrypt_batch(&[wrong], &mut SystemRandom);
                    assert_eq!(results, [Err(Error::Decryption)]);
                }
                let long = vec![0; most + 1];
                let encryption = Encryption::oaep(hash);
                let refused = Encrypt::new(key.public_key(), encryption, &long).map(|_| ());
                assert_eq!(refused, Err(Error::Range("the message")));
            }
        }
    }
}

#[test]
fn messages_are_made_up_as_openssl_does() {
    assert_eq!(decrypt_all(&implicit_rejection()), 0);
}

#[test]
fn openssl_and_this_crate_read_pkcs1_of_each_other() {
    let Some(mut openssl) = openssl() else { return };
    let mut random = Rng::from_env("rsa encryption of pkcs1");
    let der = openssl.rsa_generate(2048, 65537);
    let key = PrivateKey::from_pkcs1_der(&der).unwrap();
    let public = key.public_key().to_spki_der();
    for length in [0, 1, 48, 245] {
        let message = random.bytes(length);
        let encrypt = Encrypt::new(key.public_key(), Encryption::pkcs1v15(), &message).unwrap();
        let ours = rsa::encrypt_batch(&[encrypt], &mut SystemRandom).remove(0).unwrap();
        let theirs = openssl.rsa_encrypt("rsa-pkcs1", &public, b"", &message);
        for text in [ours, theirs] {
            assert_eq!(openssl.rsa_decrypt("rsa-pkcs1", &der, b"", &text).unwrap(), message);
            let decrypt = Decrypt::new(&key, Encryption::pkcs1v15(), &text).unwrap();
            let result = rsa::decrypt_batch(&[decrypt], &mut SystemRandom).remove(0);
            assert_eq!(**result.unwrap(), message);
        }
    }
    let refused = Encrypt::new(key.public_key(), Encryption::pkcs1v15(), &[0; 246]).map(|_| ());
    assert_eq!(refused, Err(Error::Range("the message")));
}
