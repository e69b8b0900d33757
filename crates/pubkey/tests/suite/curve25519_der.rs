//! Keys of Curve25519 in DER and PEM: the examples of RFC 8410, and there and back.

use lanelock_pubkey::{Error, ed25519, x25519};
use lanelock_testkit::{hex, unhex};

/// RFC 8410, 10.1 and 10.3.
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";
const SECRET: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
/// With attributes and the public key.
const WITH_PUBLIC: &str = "-----BEGIN PRIVATE KEY-----
MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
Z9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PRIVATE KEY-----
";
const SEED: &str = "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842";

#[test]
fn rfc8410() {
    let public = ed25519::VerifyingKey::from_spki_pem(PUBLIC).unwrap();
    for pem in [SECRET, WITH_PUBLIC] {
        let key = ed25519::SigningKey::from_pkcs8_pem(pem).unwrap();
        assert_eq!(hex(key.as_bytes()), SEED);
        assert_eq!(key.verifying_key(), &public);
        assert_eq!(key.to_pkcs8_pem().as_str(), SECRET);
    }
    assert_eq!(public.to_spki_pem(), PUBLIC);
}

#[test]
fn there_and_back() {
    let seed: [u8; 32] = unhex(SEED).try_into().unwrap();
    let signing = ed25519::SigningKey::from_bytes(&seed).unwrap();
    let der = signing.to_pkcs8_der();
    assert_eq!(ed25519::SigningKey::from_pkcs8_der(&der).unwrap().as_bytes(), &seed);
    let verifying = signing.verifying_key();
    let again = ed25519::VerifyingKey::from_spki_der(&verifying.to_spki_der()).unwrap();
    assert_eq!(&again, verifying);

    let secret = x25519::SecretKey::from_bytes(&seed).unwrap();
    let again = x25519::SecretKey::from_pkcs8_der(&secret.to_pkcs8_der()).unwrap();
    assert_eq!(again.as_bytes(), &seed);
    let again = x25519::SecretKey::from_pkcs8_pem(&secret.to_pkcs8_pem()).unwrap();
    assert_eq!(again.as_bytes(), &seed);
    let public = secret.public_key();
    assert_eq!(x25519::PublicKey::from_spki_der(&public.to_spki_der()), Ok(public));
    assert_eq!(x25519::PublicKey::from_spki_pem(&public.to_spki_pem()), Ok(public));
}

/// Keys of the other algorithm, cut ones, other lengths, a public key that belongs to another.
#[test]
fn malformed() {
    let seed: [u8; 32] = unhex(SEED).try_into().unwrap();
    let signing = ed25519::SigningKey::from_bytes(&seed).unwrap();
    let secret = x25519::SecretKey::from_bytes(&seed).unwrap();
    let is_key_error = |error: Option<Error>| matches!(error, Some(Error::Key(_)));
    assert!(is_key_error(x25519::SecretKey::from_pkcs8_der(&signing.to_pkcs8_der()).err()));
    assert!(is_key_error(ed25519::SigningKey::from_pkcs8_der(&secret.to_pkcs8_der()).err()));
    let spki = signing.verifying_key().to_spki_der();
    assert!(is_key_error(x25519::PublicKey::from_spki_der(&spki).err()));
    let other = secret.public_key().to_spki_der();
    assert!(is_key_error(ed25519::VerifyingKey::from_spki_der(&other).err()));
    assert!(is_key_error(ed25519::VerifyingKey::from_spki_pem(SECRET).err()));
    assert!(is_key_error(ed25519::SigningKey::from_pkcs8_pem(PUBLIC).err()));

    let der = signing.to_pkcs8_der();
    for length in 0..der.len() {
        assert!(is_key_error(ed25519::SigningKey::from_pkcs8_der(&der[..length]).err()));
    }
    for length in 0..spki.len() {
        assert!(is_key_error(ed25519::VerifyingKey::from_spki_der(&spki[..length]).err()));
    }
    // A seed of 31 bytes, in lengths that are right for it.
    let mut short = der[..der.len() - 1].to_vec();
    for at in [1, 13, 15] {
        short[at] -= 1;
    }
    assert!(is_key_error(ed25519::SigningKey::from_pkcs8_der(&short).err()));

    let wrong = WITH_PUBLIC.replace("Z9w7", "Z9w8");
    assert!(is_key_error(ed25519::SigningKey::from_pkcs8_pem(&wrong).err()));
}
