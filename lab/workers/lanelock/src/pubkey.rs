//! The engine's results with public keys on the data of the lab, all of a call side by side.

use lanelock::AesLevel;
use lanelock_lab_common::{Buffer, Data, Prepared, Row, call, keys};
use lanelock_pubkey::{
    Curve, Error, Hash, P256, P384, SystemRandom, ecdh, ecdsa, ed25519, rsa, x25519,
};
use lanelock_speed::workload::limb_levels;

/// The call of `row`, if it is about public keys and can be compared, or makes signatures.
pub fn prepare(row: &Row, data: &Data, level: AesLevel) -> Prepared {
    let signed = || keys::signatures(row, |row, data| prepare(row, data, level));
    match row.kind() {
        ("rsa", "sign", bits) => {
            let key = rsa_key(bits, level)?;
            call(move |data| {
                let sign = |message: &Buffer| rsa::Sign::message(&key, SCHEME, message);
                let signs: Vec<_> = data.input.iter().map(|message| done(sign(message))).collect();
                put(data, rsa::sign_batch(&signs, &mut SystemRandom));
            })
        }
        ("rsa", "verify", bits) => {
            let (key, signatures) = (rsa_key(bits, level)?.public_key().clone(), signed()?);
            call(move |data| {
                let verify = |(message, signature): (&Buffer, &Buffer)| {
                    done(rsa::Verify::message(&key, SCHEME, message, &**signature))
                };
                let all: Vec<_> = data.input.iter().zip(&signatures).map(verify).collect();
                note(data, &rsa::verify_batch(&all));
            })
        }
        ("ecdsa", "sign", 256) => ecdsa_sign::<P256>(Hash::Sha256, level),
        ("ecdsa", "sign", 384) => ecdsa_sign::<P384>(Hash::Sha384, level),
        ("ecdsa", "verify", 256) => ecdsa_verify::<P256>(Hash::Sha256, level, signed()?),
        ("ecdsa", "verify", 384) => ecdsa_verify::<P384>(Hash::Sha384, level, signed()?),
        ("ecdh", "agree", 256) => ecdh::<P256>(level),
        ("ecdh", "agree", 384) => ecdh::<P384>(level),
        ("x25519", "agree", _) => {
            let key = done(x25519::SecretKey::from_bytes(&keys::seed(data)));
            let key = key.with_level(limb_levels(level));
            call(move |data| {
                let agree = |other| x25519::Agree::new(&key, x25519::PublicKey::from_bytes(other));
                let all: Vec<_> = data.nonces.iter().map(agree).collect();
                let secrets = x25519::agree_batch(&all).into_iter();
                put(data, secrets.map(|secret| Ok(done(secret).as_bytes().to_vec())).collect());
            })
        }
        ("ed25519", "sign", _) => {
            let key = ed25519_key(data, level);
            call(move |data| {
                let sign = |message| ed25519::Sign::new(&key, message);
                let signs: Vec<_> = data.input.iter().map(sign).collect();
                let signatures = ed25519::sign_batch(&signs).into_iter();
                let bytes = signatures.map(|signature| Ok(signature.as_bytes().to_vec()));
                let bytes = bytes.collect();
                put(data, bytes);
            })
        }
        ("ed25519", "verify", _) => {
            let (key, signatures) = (*ed25519_key(data, level).verifying_key(), signed()?);
            call(move |data| {
                let verify = |(message, signature): (_, &Buffer)| {
                    let bytes = signature.first_chunk().expect("64 bytes");
                    ed25519::Verify::new(&key, message, ed25519::Signature::from_bytes(bytes))
                };
                let all: Vec<_> = data.input.iter().zip(&signatures).map(verify).collect();
                let valid = ed25519::verify_batch(&all);
                note(data, &valid);
            })
        }
        _ => None,
    }
}

const SCHEME: rsa::Scheme = rsa::Scheme::pkcs1v15(Hash::Sha256);

fn rsa_key(bits: usize, level: AesLevel) -> Option<rsa::PrivateKey> {
    let key = done(rsa::PrivateKey::from_pkcs1_der(keys::rsa(bits)?.der));
    Some(key.with_level(limb_levels(level)))
}

fn ed25519_key(data: &Data, level: AesLevel) -> ed25519::SigningKey {
    done(ed25519::SigningKey::from_bytes(&keys::seed(data))).with_level(limb_levels(level))
}

fn done<T>(result: Result<T, Error>) -> T {
    result.expect("keys and messages are right")
}

fn put(data: &mut Data, results: Vec<Result<impl AsRef<[u8]>, Error>>) {
    for (output, result) in data.output.iter_mut().zip(results) {
        let result = done(result);
        output[..result.as_ref().len()].copy_from_slice(result.as_ref());
    }
}

/// Notes which signatures are valid.
fn note(data: &mut Data, valid: &[Result<(), Error>]) {
    for (tag, valid) in data.tags.iter_mut().zip(valid) {
        tag[0] = valid.is_ok().into();
    }
}

fn ecdsa_key<C: Curve>(level: AesLevel) -> ecdsa::SigningKey<C> {
    let der = keys::curve(8 * C::BYTES).expect("a curve that has a key").der;
    done(ecdsa::SigningKey::from_sec1_der(der)).with_level(limb_levels(level))
}

fn ecdsa_sign<C: Curve>(hash: Hash, level: AesLevel) -> Prepared {
    let key = ecdsa_key::<C>(level);
    call(move |data| {
        let sign = |message: &Buffer| ecdsa::Sign::new(&key, hash, &done(hash.digest(message)));
        let signs: Vec<_> = data.input.iter().map(|message| done(sign(message))).collect();
        let signatures = ecdsa::sign_batch(&signs, &mut SystemRandom).into_iter();
        put(data, signatures.map(|signature| Ok(done(signature).to_bytes())).collect());
    })
}

fn ecdsa_verify<C: Curve>(hash: Hash, level: AesLevel, signatures: Vec<Buffer>) -> Prepared {
    let key = ecdsa_key::<C>(level).verifying_key();
    call(move |data| {
        let verify = |(message, signature): (&Buffer, &Buffer)| {
            let signature = done(ecdsa::Signature::from_bytes(&signature[..2 * C::BYTES]));
            ecdsa::Verify::new(&key, &done(hash.digest(message)), &signature)
        };
        let all: Vec<_> = data.input.iter().zip(&signatures).map(verify).collect();
        note(data, &ecdsa::verify_batch(&all));
    })
}

fn ecdh<C: Curve>(level: AesLevel) -> Prepared {
    let bits = 8 * C::BYTES;
    let key = done(ecdh::SecretKey::<C>::from_sec1_der(keys::curve(bits)?.der));
    let key = key.with_level(limb_levels(level));
    let others = keys::others(bits);
    call(move |data| {
        let agree =
            |other: &&[u8]| ecdh::Agree::new(&key, done(ecdh::PublicKey::from_sec1_bytes(other)));
        let all: Vec<_> = others.iter().take(data.output.len()).map(agree).collect();
        let secrets = ecdh::agree_batch(&all).into_iter();
        put(data, secrets.map(|secret| Ok(done(secret).as_bytes().to_vec())).collect());
    })
}
