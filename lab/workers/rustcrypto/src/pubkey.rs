//! Public keys in RustCrypto: p256, p384, rsa, ed25519-dalek and x25519-dalek, with private keys and those that verify
//! kept. The nonces of ECDSA are those of RFC 6979, and private operations of RSA are blinded.

use ed25519_dalek as ed25519;
use getrandom::{SysRng, rand_core::UnwrapErr};
use lanelock_lab_common::{Buffer, Data, Prepared, Row, call, keys};
use rsa::{
    PrivateKey,
    pkcs1::DecodeRsaPrivateKey,
    signature::{RandomizedSigner, SignatureEncoding, Signer, Verifier},
};
use sha2::Sha256;
use x25519_dalek::{EphemeralSecret, PublicKey, StaticSecret};

/// The call of `row`, if it is about public keys.
pub fn prepare(row: &Row, data: &Data) -> Prepared {
    let signed = || keys::signatures(row, prepare);
    macro_rules! curve {
        ($curve:ident, $bits:literal) => {
            match &row.operation[..] {
                "sign" => {
                    let key = $curve::ecdsa::SigningKey::from_slice(keys::curve($bits)?.scalar);
                    let key = key.expect("a key");
                    call(move |data| {
                        for (message, output) in data.input.iter().zip(&mut data.output) {
                            let signature: $curve::ecdsa::Signature = key.sign(message);
                            output[..$bits / 4].copy_from_slice(&signature.to_bytes());
                        }
                    })
                }
                "verify" => {
                    let point = keys::curve($bits)?.point;
                    let key = $curve::ecdsa::VerifyingKey::from_sec1_bytes(point).expect("a point");
                    verify(signed()?, move |message, bytes| {
                        $curve::ecdsa::Signature::from_slice(&bytes[..$bits / 4])
                            .is_ok_and(|signature| key.verify(message, &signature).is_ok())
                    })
                }
                _ => {
                    let key = $curve::SecretKey::from_slice(keys::curve($bits)?.scalar);
                    let (key, others) = (key.expect("a key"), keys::others($bits));
                    call(move |data| {
                        for (other, output) in others.iter().zip(&mut data.output) {
                            let other = $curve::PublicKey::from_sec1_bytes(other).expect("a point");
                            let secret = $curve::ecdh::diffie_hellman(
                                key.to_nonzero_scalar(),
                                other.as_affine(),
                            );
                            output.copy_from_slice(secret.raw_secret_bytes());
                        }
                    })
                }
            }
        };
    }
    match row.kind() {
        ("ecdsa" | "ecdh", _, 256) => curve!(p256, 256),
        ("ecdsa" | "ecdh", _, 384) => curve!(p384, 384),
        ("rsa", "generate", bits) => call(move |_| {
            std::hint::black_box(PrivateKey::new(&mut UnwrapErr(SysRng), bits).expect("a key"));
        }),
        ("rsa", operation, bits) => {
            let key = PrivateKey::from_pkcs1_der(keys::rsa(bits)?.der).expect("PKCS#1");
            let public = key.to_public_key();
            if operation == "sign" {
                let key = rsa::pkcs1v15::SigningKey::<Sha256>::new(key);
                call(move |data| {
                    for (message, output) in data.input.iter().zip(&mut data.output) {
                        let signature = key.sign_with_rng(&mut UnwrapErr(SysRng), message);
                        output.copy_from_slice(&signature.to_bytes());
                    }
                })
            } else {
                let key = rsa::pkcs1v15::VerifyingKey::<Sha256>::new(public);
                verify(signed()?, move |message, bytes| {
                    rsa::pkcs1v15::Signature::try_from(bytes)
                        .is_ok_and(|signature| key.verify(message, &signature).is_ok())
                })
            }
        }
        ("x25519", "agree", _) => {
            let key = StaticSecret::from(keys::seed(data));
            call(move |data| {
                for (other, output) in data.nonces.iter().zip(&mut data.output) {
                    let secret = key.diffie_hellman(&PublicKey::from(*other));
                    output.copy_from_slice(secret.as_bytes());
                }
            })
        }
        ("x25519", "generate", _) => call(|data| {
            for output in &mut data.output {
                let key = EphemeralSecret::random_from_rng(&mut UnwrapErr(SysRng));
                output.copy_from_slice(PublicKey::from(&key).as_bytes());
            }
        }),
        ("ed25519", "sign", _) => {
            let key = ed25519::SigningKey::from_bytes(&keys::seed(data));
            call(move |data| {
                for (message, output) in data.input.iter().zip(&mut data.output) {
                    output.copy_from_slice(&key.sign(message).to_bytes());
                }
            })
        }
        ("ed25519", "verify", _) => {
            let key = ed25519::SigningKey::from_bytes(&keys::seed(data)).verifying_key();
            verify(signed()?, move |message, bytes| {
                ed25519::Signature::from_slice(bytes)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            })
        }
        _ => None,
    }
}

fn verify(signatures: Vec<Buffer>, valid: impl Fn(&[u8], &[u8]) -> bool + 'static) -> Prepared {
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            tag[0] = valid(message, signature).into();
        }
    })
}
