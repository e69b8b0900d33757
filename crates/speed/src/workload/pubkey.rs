//! How operations with public keys are called: one, or as many as there are streams in one call. All of a call have
//! the same key. Messages of 32 bytes are hashed in the call; the public keys of other parties come as bytes, and
//! those that verify are parsed before.
//!
//! The keys are files, the same in every run: everyone has them, and they protect nothing.

use std::hint::black_box;

use lanelock::AesLevel;
use lanelock_isa::LimbLevel;
use lanelock_pubkey::{Curve, Hash, P256, P384, SystemRandom, ecdh, ecdsa, ed25519, rsa, x25519};

use super::{Buffer, Runner, Workload};

/// Bytes of the messages that are signed.
pub const SIGNED: usize = 32;

/// The level of big numbers that goes with a level of AES: the widest one whose vectors are not wider.
pub fn levels(level: AesLevel) -> LimbLevel {
    let bits = AesLevel::FAMILY.levels()[level.rank()].bits;
    let all = LimbLevel::available();
    let mut best = all[0];
    for level in all {
        if LimbLevel::FAMILY.levels()[level.rank()].bits <= bits {
            best = level;
        }
    }
    best
}

const A_KEY: &str = "a key that was made once";
const DONE: &str = "keys and messages are right";
const SCHEME: rsa::Scheme = rsa::Scheme::pkcs1v15(Hash::Sha256);

pub(super) fn rsa(workload: &Workload, level: AesLevel) -> Runner {
    let der: &[u8] = match workload.key_bits {
        2048 => include_bytes!("keys/rsa-2048.der"),
        3072 => include_bytes!("keys/rsa-3072.der"),
        _ => include_bytes!("keys/rsa-4096.der"),
    };
    let key = rsa::PrivateKey::from_pkcs1_der(der).expect(A_KEY).with_level(levels(level));
    let messages = workload.buffers();
    if workload.operation == "sign" {
        return Runner::new(move || {
            black_box(rsa_signatures(&key, black_box(&messages)));
        });
    }
    let signatures = rsa_signatures(&key, &messages);
    let key = key.public_key().clone();
    Runner::new(move || {
        let verify = |(message, signature): (&Buffer, &rsa::Signature)| {
            rsa::Verify::message(&key, SCHEME, message, signature.as_ref()).expect(DONE)
        };
        let verifications: Vec<_> =
            black_box(&messages).iter().zip(&signatures).map(verify).collect();
        all_done(rsa::verify_batch(&verifications));
    })
}

fn rsa_signatures(key: &rsa::PrivateKey, messages: &[Buffer]) -> Vec<rsa::Signature> {
    let sign = |message: &Buffer| rsa::Sign::message(key, SCHEME, message).expect(DONE);
    let signs: Vec<_> = messages.iter().map(sign).collect();
    all_done(rsa::sign_batch(&signs, &mut SystemRandom))
}

pub(super) fn rsa_generate(workload: &Workload, level: AesLevel) -> Runner {
    let generate = rsa::Generate::new(workload.key_bits.into()).expect("a size that is there");
    let generate = [generate.with_level(levels(level))];
    Runner::new(move || {
        black_box(all_done(rsa::generate_batch(&generate, &mut SystemRandom)));
    })
}

/// The results of a batch, without which a figure would say nothing.
fn all_done<T>(results: Vec<Result<T, lanelock_pubkey::Error>>) -> Vec<T> {
    results.into_iter().map(|result| result.expect(DONE)).collect()
}

/// What rows need to know about a curve.
trait Key: Curve {
    const HASH: Hash;
    /// SEC 1 in DER.
    const DER: &'static [u8];
    /// Uncompressed points of eight other parties.
    const OTHERS: &'static [u8];
}

impl Key for P256 {
    const HASH: Hash = Hash::Sha256;
    const DER: &'static [u8] = include_bytes!("keys/p-256.der");
    const OTHERS: &'static [u8] = include_bytes!("keys/points-256.bin");
}

impl Key for P384 {
    const HASH: Hash = Hash::Sha384;
    const DER: &'static [u8] = include_bytes!("keys/p-384.der");
    const OTHERS: &'static [u8] = include_bytes!("keys/points-384.bin");
}

pub(super) fn ecdsa(workload: &Workload, level: AesLevel) -> Runner {
    match workload.key_bits {
        256 => ecdsa_of::<P256>(workload, level),
        _ => ecdsa_of::<P384>(workload, level),
    }
}

fn ecdsa_of<C: Key>(workload: &Workload, level: AesLevel) -> Runner {
    let key = ecdsa::SigningKey::<C>::from_sec1_der(C::DER).expect(A_KEY);
    let key = key.with_level(levels(level));
    let messages = workload.buffers();
    if workload.operation == "sign" {
        return Runner::new(move || {
            black_box(ecdsa_signatures(&key, black_box(&messages)));
        });
    }
    let signatures = ecdsa_signatures(&key, &messages);
    let key = key.verifying_key();
    Runner::new(move || {
        let verify = |(message, signature): (&Buffer, _)| {
            ecdsa::Verify::new(&key, &C::HASH.digest(message).expect(DONE), signature)
        };
        let verifications: Vec<_> =
            black_box(&messages).iter().zip(&signatures).map(verify).collect();
        all_done(ecdsa::verify_batch(&verifications));
    })
}

fn ecdsa_signatures<C: Key>(
    key: &ecdsa::SigningKey<C>,
    messages: &[Buffer],
) -> Vec<ecdsa::Signature<C>> {
    let sign = |message: &Buffer| {
        ecdsa::Sign::new(key, C::HASH, &C::HASH.digest(message).expect(DONE)).expect(DONE)
    };
    let signs: Vec<_> = messages.iter().map(sign).collect();
    all_done(ecdsa::sign_batch(&signs, &mut SystemRandom))
}

pub(super) fn ecdh(workload: &Workload, level: AesLevel) -> Runner {
    match workload.key_bits {
        256 => ecdh_of::<P256>(workload, level),
        _ => ecdh_of::<P384>(workload, level),
    }
}

fn ecdh_of<C: Key>(workload: &Workload, level: AesLevel) -> Runner {
    let key = ecdh::SecretKey::<C>::from_sec1_der(C::DER).expect(A_KEY);
    let key = key.with_level(levels(level));
    let others: Vec<_> =
        C::OTHERS.chunks(1 + 2 * C::BYTES).cycle().take(workload.streams).collect();
    Runner::new(move || {
        let agree = |other: &&[u8]| {
            ecdh::Agree::new(&key, ecdh::PublicKey::from_sec1_bytes(other).expect(A_KEY))
        };
        let agreements: Vec<_> = black_box(&others).iter().map(agree).collect();
        black_box(all_done(ecdh::agree_batch(&agreements)));
    })
}

pub(super) fn x25519(workload: &Workload, level: AesLevel) -> Runner {
    let (level, streams) = (levels(level), workload.streams);
    if workload.operation == "generate" {
        return Runner::new(move || {
            let pairs = vec![x25519::Generate::with_level(level); streams];
            black_box(all_done(x25519::generate_batch(&pairs, &mut SystemRandom)));
        });
    }
    let key = x25519::SecretKey::from_bytes(&[0x42; 32]).expect(A_KEY).with_level(level);
    let others: Vec<[u8; 32]> = (0..streams).map(|i| [9 + i.to_le_bytes()[0]; 32]).collect();
    Runner::new(move || {
        let agree = |other| x25519::Agree::new(&key, x25519::PublicKey::from_bytes(other));
        let agreements: Vec<_> = black_box(&others).iter().map(agree).collect();
        black_box(all_done(x25519::agree_batch(&agreements)));
    })
}

pub(super) fn ed25519(workload: &Workload, level: AesLevel) -> Runner {
    let key = ed25519::SigningKey::from_bytes(&[0x42; 32]).expect(A_KEY);
    let key = key.with_level(levels(level));
    let messages = workload.buffers();
    if workload.operation == "sign" {
        return Runner::new(move || {
            black_box(ed25519_signatures(&key, black_box(&messages)));
        });
    }
    let signatures = ed25519_signatures(&key, &messages);
    let key = *key.verifying_key();
    Runner::new(move || {
        let pairs = black_box(&messages).iter().zip(&signatures);
        let verifications: Vec<_> = pairs
            .map(|(message, signature)| ed25519::Verify::new(&key, &**message, *signature))
            .collect();
        all_done(ed25519::verify_batch(&verifications));
    })
}

fn ed25519_signatures(key: &ed25519::SigningKey, messages: &[Buffer]) -> Vec<ed25519::Signature> {
    let signs: Vec<_> =
        messages.iter().map(|message| ed25519::Sign::new(key, &**message)).collect();
    ed25519::sign_batch(&signs)
}
