//! Public keys in ring, with private keys kept. A key that verifies is parsed in each call, and one for an agreement is
//! used once, so that there is no row for that.

use lanelock_lab_common::{Buffer, Data, Prepared, Row, call, keys};
use ring::{
    agreement::{EphemeralPrivateKey, X25519},
    rand::SystemRandom,
    signature::{
        self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair, UnparsedPublicKey,
        VerificationAlgorithm,
    },
};

/// The call of `row`, if it is about public keys.
pub fn prepare(row: &Row, data: &Data) -> Prepared {
    let signed = || keys::signatures(row, prepare);
    match row.kind() {
        ("rsa", "sign", bits) => {
            let (key, random) = (rsa(bits)?, SystemRandom::new());
            call(move |data| {
                for (message, output) in data.input.iter().zip(&mut data.output) {
                    key.sign(&signature::RSA_PKCS1_SHA256, &random, message, output).expect("room");
                }
            })
        }
        ("rsa", "verify", bits) => {
            let public = rsa(bits)?.public().as_ref().to_vec();
            verify(&signature::RSA_PKCS1_2048_8192_SHA256, public, signed()?, |bytes| bytes.len())
        }
        ("ecdsa", "sign", bits) => {
            let kind = match bits {
                256 => &signature::ECDSA_P256_SHA256_ASN1_SIGNING,
                _ => &signature::ECDSA_P384_SHA384_ASN1_SIGNING,
            };
            let (key, random) = (keys::curve(bits)?, SystemRandom::new());
            let key =
                EcdsaKeyPair::from_private_key_and_public_key(kind, key.scalar, key.point, &random);
            let key = key.expect("a key");
            call(move |data| {
                for (message, output) in data.input.iter().zip(&mut data.output) {
                    let signature = key.sign(&random, message).expect("random bytes");
                    output[..signature.as_ref().len()].copy_from_slice(signature.as_ref());
                }
            })
        }
        ("ecdsa", "verify", bits) => {
            let kind = match bits {
                256 => &signature::ECDSA_P256_SHA256_ASN1,
                _ => &signature::ECDSA_P384_SHA384_ASN1,
            };
            // DER: a byte for the type, one for the length of the rest.
            let length = |bytes: &[u8]| 2 + usize::from(bytes[1]);
            verify(kind, keys::curve(bits)?.point.to_vec(), signed()?, length)
        }
        ("x25519", "generate", _) => {
            let random = SystemRandom::new();
            call(move |data| {
                for output in &mut data.output {
                    let key = EphemeralPrivateKey::generate(&X25519, &random);
                    let public = key.and_then(|key| key.compute_public_key());
                    output.copy_from_slice(public.expect("random bytes").as_ref());
                }
            })
        }
        ("ed25519", "sign", _) => {
            let key = ed25519(data);
            call(move |data| {
                for (message, output) in data.input.iter().zip(&mut data.output) {
                    output.copy_from_slice(key.sign(message).as_ref());
                }
            })
        }
        ("ed25519", "verify", _) => {
            let public = ed25519(data).public_key().as_ref().to_vec();
            verify(&signature::ED25519, public, signed()?, |bytes| bytes.len())
        }
        _ => None,
    }
}

fn rsa(bits: usize) -> Option<RsaKeyPair> {
    Some(RsaKeyPair::from_der(keys::rsa(bits)?.der).expect("PKCS#1"))
}

fn ed25519(data: &Data) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&keys::seed(data)).expect("a key")
}

fn verify(
    kind: &'static dyn VerificationAlgorithm,
    public: Vec<u8>,
    signatures: Vec<Buffer>,
    length: fn(&[u8]) -> usize,
) -> Prepared {
    let key = UnparsedPublicKey::new(kind, public);
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            tag[0] = key.verify(message, &signature[..length(signature)]).is_ok().into();
        }
    })
}
