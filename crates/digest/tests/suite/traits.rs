//! The hashes through the traits of RustCrypto, as its own.

#![cfg(feature = "digest")]

use digest::{Digest, ExtendableOutput, FixedOutputReset, KeyInit, Mac, XofReader};
use lanelock_digest::{Hmac, algorithm};

fn hash<Ours: Digest + FixedOutputReset, Theirs: Digest>() {
    let message = [7; 1000];
    assert_eq!(Ours::digest(message).to_vec(), Theirs::digest(message).to_vec());
    let mut ours = Ours::new();
    Digest::update(&mut ours, &message[..100]);
    let first = ours.finalize_reset();
    assert_eq!(first.to_vec(), Theirs::digest(&message[..100]).to_vec());
    assert_eq!(ours.finalize().to_vec(), Theirs::digest([]).to_vec(), "after a reset");
}

#[test]
fn hashes() {
    hash::<lanelock_digest::Sha1, sha1::Sha1>();
    hash::<lanelock_digest::Sha256, sha2::Sha256>();
    hash::<lanelock_digest::Sha512, sha2::Sha512>();
    hash::<lanelock_digest::Sha3_384, sha3::Sha3_384>();
    hash::<lanelock_digest::Sm3, sm3::Sm3>();
}

#[test]
fn output_of_any_length() {
    fn read<D: Default + digest::Update + ExtendableOutput>() -> [u8; 500] {
        let mut hash = D::default();
        hash.update(b"a message");
        let mut output = [0; 500];
        hash.finalize_xof().read(&mut output);
        output
    }
    assert_eq!(read::<lanelock_digest::Shake256>(), read::<shake::Shake256>());
    assert_eq!(read::<lanelock_digest::TurboShake128>(), read::<turboshake::TurboShake128>());
}

#[test]
fn macs() {
    for length in [0, 20, 64, 65, 200] {
        let key = vec![3; length];
        let mut ours = <Hmac<algorithm::Sha256> as KeyInit>::new_from_slice(&key).unwrap();
        let mut theirs = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap();
        Mac::update(&mut ours, b"a message");
        theirs.update(b"a message");
        let tag = theirs.finalize().into_bytes();
        assert!(ours.clone().verify_slice(&tag).is_ok());
        assert!(ours.verify_slice(&tag[1..]).is_err());
    }
}
