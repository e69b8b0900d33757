//! Private keys, what is computed with them, and how they come about.

use std::sync::LazyLock;

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Curve, Error, Hash, P256, P384, P521, Random, SystemRandom, ecdh, ecdsa, ed25519,
    rsa::{self, Components, Encryption, Scheme},
    x25519,
};

use super::{Extent, carried, secret_text};
use crate::client;

type Run = fn(LimbLevel, Extent);

pub(super) const OPERATIONS: &[(&str, Run)] = &[
    ("X25519", x25519),
    ("Ed25519, signing", ed25519),
    ("ECDSA, signing, P-256", |level, _| ecdsa::<P256>(level)),
    ("ECDSA, signing, P-384", |level, _| ecdsa::<P384>(level)),
    ("ECDSA, signing, P-521", |level, _| ecdsa::<P521>(level)),
    ("ECDH, P-256", |level, _| ecdh::<P256>(level)),
    ("ECDH, P-384", |level, _| ecdh::<P384>(level)),
    ("ECDH, P-521", |level, _| ecdh::<P521>(level)),
    ("RSA, import of a private key", |_, _| {
        let _ = rsa_key();
    }),
    ("RSA, signing", rsa_signing),
    ("RSA, decryption", rsa_decryption),
];

/// A source of bytes that nobody may know.
struct Hidden(SystemRandom);

impl Random for Hidden {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.0.fill(bytes)?;
        client::hide(bytes);
        Ok(())
    }
}

fn hidden() -> Hidden {
    Hidden(SystemRandom)
}

fn array<const N: usize>(start: u8) -> [u8; N] {
    let mut bytes = [start; N];
    bytes[0] = 1;
    client::hide(&mut bytes);
    bytes
}

fn x25519(level: LimbLevel, _: Extent) {
    let keys = [1, 2].map(|start| x25519::SecretKey::from_bytes(&array(start)).expect("a key"));
    let [a, b] = keys.map(|key| key.with_level(level));
    let mut public = *b.public_key().as_bytes();
    carried(&mut public);
    let peer = x25519::PublicKey::from_bytes(&public);
    carried(&mut a.agree(&peer).expect("a good key").as_bytes().to_owned());
    // A point of low order, which is refused.
    assert!(a.agree(&x25519::PublicKey::from_bytes(&[0; 32])).is_err());
    let generated = x25519::SecretKey::generate(&mut hidden()).expect("random bytes");
    carried(&mut generated.with_level(level).public_key().as_bytes().to_owned());
}

fn ed25519(level: LimbLevel, _: Extent) {
    let key = ed25519::SigningKey::from_bytes(&array(3)).expect("a key").with_level(level);
    carried(&mut key.verifying_key().as_bytes().to_owned());
    for length in [0, 1, 200] {
        let mut signature = *key.sign(&secret_text(length)).as_bytes();
        carried(&mut signature);
    }
    let generated = ed25519::SigningKey::generate(&mut hidden()).expect("random bytes");
    carried(&mut generated.with_level(level).sign(b"text").as_bytes().to_owned());
}

/// A private number, below the order whichever curve it is.
fn number<C: Curve>(start: u8) -> Vec<u8> {
    let mut bytes = vec![start; C::BYTES];
    bytes[0] = 1;
    client::hide(&mut bytes);
    bytes
}

fn ecdsa<C: Curve>(level: LimbLevel) {
    let imported = ecdsa::SigningKey::<C>::from_bytes(&number::<C>(5)).expect("a key");
    let generated = ecdsa::SigningKey::<C>::generate(&mut hidden()).expect("random bytes");
    for key in [imported, generated].map(|key| key.with_level(level)) {
        let hash = Hash::Sha256;
        let hedged = ecdsa::Sign::new(&key, hash, &[7; 32]).expect("a digest");
        let fixed = hedged.clone().with_deterministic_nonce();
        for signature in ecdsa::sign_batch(&[hedged, fixed], &mut hidden()) {
            carried(&mut signature.expect("a signature").to_bytes());
        }
        carried(&mut key.verifying_key().to_sec1_bytes()[1..]);
    }
    let zero = &mut vec![0; C::BYTES][..];
    client::hide(zero);
    assert!(ecdsa::SigningKey::<C>::from_bytes(zero).is_err());
}

fn ecdh<C: Curve>(level: LimbLevel) {
    let [a, b] = [6, 9].map(|start| {
        let key = ecdh::SecretKey::<C>::from_bytes(&number::<C>(start)).expect("a key");
        key.with_level(level)
    });
    let mut public = b.public_key().to_sec1_bytes();
    carried(&mut public[1..]);
    let public = ecdh::PublicKey::from_sec1_bytes(&public).expect("a point");
    carried(&mut a.agree(&public).expect("a finite point").as_bytes().to_owned());
}

/// The numbers of a key, public ones first: `n` and `e`, then those that are hidden.
static NUMBERS: LazyLock<[Vec<u8>; 8]> = LazyLock::new(|| {
    let key = rsa::PrivateKey::generate(2048, &mut SystemRandom).expect("random bytes");
    key.with_components(|key| {
        [key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv].map(<[u8]>::to_vec)
    })
});

fn rsa_key() -> rsa::PrivateKey {
    let mut numbers = NUMBERS.clone();
    numbers[2..].iter_mut().for_each(|number| client::hide(number));
    let [n, e, d, p, q, dp, dq, qinv] = numbers.each_ref().map(Vec::as_slice);
    let key = Components { n, e, d, p, q, dp, dq, qinv };
    let wrong = Components { dp: dq, ..key };
    assert!(rsa::PrivateKey::new(&wrong).is_err());
    rsa::PrivateKey::new(&key).expect("a good key")
}

fn rsa_signing(level: LimbLevel, _: Extent) {
    let key = rsa_key().with_level(level);
    let schemes = [Scheme::pkcs1v15(Hash::Sha256), Scheme::pss(Hash::Sha256)];
    let signs = schemes.map(|scheme| rsa::Sign::message(&key, scheme, b"text").expect("a text"));
    // Twice: the second time with the pair of the first one's blinding.
    for _ in 0..2 {
        for signature in rsa::sign_batch(&signs, &mut hidden()) {
            carried(&mut Vec::from(signature.expect("a signature")));
        }
    }
}

fn rsa_decryption(level: LimbLevel, _: Extent) {
    let key = rsa_key().with_level(level);
    let public = key.public_key();
    for encryption in [Encryption::pkcs1v15(), Encryption::oaep(Hash::Sha256)] {
        let encrypt = rsa::Encrypt::new(public, encryption.clone(), b"a text").expect("it fits");
        let good = rsa::encrypt_batch(&[encrypt], &mut SystemRandom).remove(0).expect("random");
        let mut bad = good.clone();
        bad[100] ^= 1;
        for ciphertext in [good, bad] {
            let decrypt = rsa::Decrypt::new(&key, encryption.clone(), &ciphertext);
            let decrypt = decrypt.expect("below the modulus");
            let result = rsa::decrypt_batch(&[decrypt], &mut hidden()).remove(0);
            if let Ok(mut text) = result {
                carried(&mut text);
            }
        }
    }
}
