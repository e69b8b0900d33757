//! Public keys in graviola, with private keys and those that verify kept.

use graviola::{
    hashing::{Hash, Sha256, Sha384},
    key_agreement::{p256, p384, x25519},
    signing::{
        ecdsa::{Curve, P256, P384, SigningKey, VerifyingKey},
        eddsa::Ed25519SigningKey,
        rsa,
    },
};
use lanelock_lab_common::{Buffer, Data, Prepared, Row, call, keys};

/// The call of `row`, if it is about public keys.
pub fn prepare(row: &Row, data: &Data) -> Prepared {
    let signed = || keys::signatures(row, prepare);
    match row.kind() {
        ("rsa", "sign", bits) => {
            let key = rsa(bits)?;
            call(move |data| {
                for (message, output) in data.input.iter().zip(&mut data.output) {
                    key.sign_pkcs1_sha256(output, message).expect("room");
                }
            })
        }
        ("rsa", "verify", bits) => {
            let key = rsa(bits)?.public_key();
            verify(signed()?, move |message, signature| {
                key.verify_pkcs1_sha256(signature, message).is_ok()
            })
        }
        ("rsa", "generate", 2048) => call(|_| {
            let key = rsa::SigningKey::generate(rsa::KeySize::Rsa2048);
            std::hint::black_box(key.expect("random bytes"));
        }),
        ("ecdsa", "sign", 256) => ecdsa_sign::<P256, Sha256>(256),
        ("ecdsa", "sign", 384) => ecdsa_sign::<P384, Sha384>(384),
        ("ecdsa", "verify", 256) => ecdsa_verify::<P256, Sha256>(256, signed()?),
        ("ecdsa", "verify", 384) => ecdsa_verify::<P384, Sha384>(384, signed()?),
        ("ecdh", "agree", 256) => {
            let key = p256::StaticPrivateKey::from_bytes(keys::curve(256)?.scalar);
            let (key, others) = (key.expect("a key"), keys::others(256));
            call(move |data| {
                for (other, output) in others.iter().zip(&mut data.output) {
                    let other = p256::PublicKey::from_x962_uncompressed(other).expect("a point");
                    output.copy_from_slice(&key.diffie_hellman(&other).expect("a secret").0);
                }
            })
        }
        ("ecdh", "agree", 384) => {
            let key = p384::StaticPrivateKey::from_bytes(keys::curve(384)?.scalar);
            let (key, others) = (key.expect("a key"), keys::others(384));
            call(move |data| {
                for (other, output) in others.iter().zip(&mut data.output) {
                    let other = p384::PublicKey::from_x962_uncompressed(other).expect("a point");
                    output.copy_from_slice(&key.diffie_hellman(&other).expect("a secret").0);
                }
            })
        }
        ("x25519", "agree", _) => {
            let key = x25519::StaticPrivateKey::from_array(&keys::seed(data));
            call(move |data| {
                for (other, output) in data.nonces.iter().zip(&mut data.output) {
                    let other = x25519::PublicKey::from_array(other);
                    output.copy_from_slice(&key.diffie_hellman(&other).expect("a secret").0);
                }
            })
        }
        ("x25519", "generate", _) => call(|data| {
            for output in &mut data.output {
                let key = x25519::PrivateKey::new_random().expect("random bytes");
                output.copy_from_slice(&key.public_key().as_bytes());
            }
        }),
        ("ed25519", "sign", _) => {
            let key = Ed25519SigningKey::from_bytes(&keys::seed(data)).expect("a key");
            call(move |data| {
                for (message, output) in data.input.iter().zip(&mut data.output) {
                    output.copy_from_slice(&key.sign(message));
                }
            })
        }
        ("ed25519", "verify", _) => {
            let key = Ed25519SigningKey::from_bytes(&keys::seed(data)).expect("a key").public_key();
            verify(signed()?, move |message, signature| key.verify(signature, message).is_ok())
        }
        _ => None,
    }
}

fn rsa(bits: usize) -> Option<rsa::SigningKey> {
    Some(rsa::SigningKey::from_pkcs1_der(keys::rsa(bits)?.der).expect("PKCS#1"))
}

fn verify(signatures: Vec<Buffer>, valid: impl Fn(&[u8], &[u8]) -> bool + 'static) -> Prepared {
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            tag[0] = valid(message, signature).into();
        }
    })
}

fn ecdsa_sign<C: Curve + 'static, H: Hash>(bits: usize) -> Prepared {
    let key = SigningKey::<C>::from_sec1_der(keys::curve(bits)?.der).expect("SEC 1");
    call(move |data| {
        for (message, output) in data.input.iter().zip(&mut data.output) {
            key.sign::<H>(&[message], output).expect("room");
        }
    })
}

fn ecdsa_verify<C: Curve + 'static, H: Hash>(bits: usize, signatures: Vec<Buffer>) -> Prepared {
    let key = VerifyingKey::<C>::from_x962_uncompressed(keys::curve(bits)?.point).expect("a point");
    verify(signatures, move |message, signature| {
        key.verify::<H>(&[message], &signature[..bits / 4]).is_ok()
    })
}
