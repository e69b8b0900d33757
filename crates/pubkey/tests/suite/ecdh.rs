//! ECDH: Project Wycheproof at every level, batches of any size, and what must be refused.

#![allow(clippy::pedantic, reason = "tests")]

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{Curve, P256, P384, P521, SystemRandom, ecdh};
use lanelock_testkit::{
    Openssl,
    curves::{self, EcdhCase},
    openssl, skip,
};

fn levels() -> Vec<LimbLevel> {
    for (name, requires) in LimbLevel::known() {
        if name.parse::<LimbLevel>().is_err() {
            skip(&format!("{name} needs {requires}"));
        }
    }
    LimbLevel::available()
}

#[test]
fn wycheproof() {
    fn of<C: Curve>(cases: &[EcdhCase]) -> usize {
        let cases: Vec<&EcdhCase> = cases.iter().filter(|case| case.curve == C::NAME).collect();
        let mut taken = Vec::new();
        let mut pairs = Vec::new();
        for case in &cases {
            let public = if case.is_point {
                ecdh::PublicKey::<C>::from_sec1_bytes(&case.public)
            } else {
                ecdh::PublicKey::from_spki_der(&case.public)
            };
            let Ok(public) = public else {
                assert_ne!(case.valid, Some(true), "{}", case.name);
                continue;
            };
            assert_ne!(case.valid, Some(false), "{}", case.name);
            // Numbers are written as signed ones, so that a zero may stand in front, or zeros are left out.
            let start = case.key.len().saturating_sub(C::BYTES);
            assert!(case.key[..start].iter().all(|&byte| byte == 0), "{}", case.name);
            let key = &case.key[start..];
            let key = [vec![0; C::BYTES - key.len()], key.to_vec()].concat();
            pairs.push((ecdh::SecretKey::<C>::from_bytes(&key).unwrap(), public));
            taken.push(*case);
        }
        for level in levels() {
            let agreements: Vec<_> = pairs
                .iter()
                .map(|(key, public)| {
                    ecdh::Agree::new(Box::new(key.clone().with_level(level)), *public)
                })
                .collect();
            for (case, secret) in taken.iter().zip(ecdh::agree_batch(&agreements)) {
                assert_eq!(secret.unwrap().as_bytes(), case.shared, "{}, {level}", case.name);
            }
        }
        taken.len()
    }
    let cases = curves::wycheproof_ecdh();
    assert!(of::<P256>(&cases) > 100);
    assert!(of::<P384>(&cases) > 100);
    assert!(of::<P521>(&cases) > 100);
}

/// OpenSSL agrees on the same secrets.
#[test]
fn openssl_agrees() {
    fn of<C: Curve>(openssl: &mut Openssl) {
        let algorithm = C::NAME.to_lowercase();
        for level in levels() {
            let keys: Vec<ecdh::SecretKey<C>> =
                ecdh::generate_batch(18, &mut SystemRandom).unwrap();
            let keys: Vec<_> = keys.into_iter().map(|key| key.with_level(level)).collect();
            let (ours, theirs) = keys.split_at(9);
            let agreements: Vec<_> = ours
                .iter()
                .zip(theirs)
                .map(|(key, peer)| ecdh::Agree::new(key, peer.public_key()))
                .collect();
            let secrets = ecdh::agree_batch(&agreements);
            for ((secret, key), peer) in secrets.into_iter().zip(ours).zip(theirs) {
                let public = key.public_key().to_spki_der();
                let expected = openssl.agree(&algorithm, &peer.to_pkcs8_der(), &public);
                assert_eq!(Some(secret.unwrap().as_bytes()), expected.as_deref(), "{level}");
            }
        }
    }
    let Some(mut openssl) = openssl() else { return skip("no libcrypto 3 (or no Python 3)") };
    of::<P256>(&mut openssl);
    of::<P384>(&mut openssl);
    of::<P521>(&mut openssl);
}

/// Batches of every size: both sides agree, and keys of a batch are those that they would be alone.
#[test]
fn batches() {
    fn of<C: Curve>(sizes: impl Iterator<Item = usize> + Clone) {
        for level in levels() {
            for size in sizes.clone() {
                let keys: Vec<ecdh::SecretKey<C>> =
                    ecdh::generate_batch(2 * size, &mut SystemRandom).unwrap();
                let keys: Vec<_> = keys.into_iter().map(|key| key.with_level(level)).collect();
                let (ours, theirs) = keys.split_at(size);
                let one_way: Vec<_> = ours
                    .iter()
                    .zip(theirs)
                    .map(|(key, peer)| ecdh::Agree::new(key, peer.public_key()))
                    .collect();
                let other_way: Vec<_> = ours
                    .iter()
                    .zip(theirs)
                    .map(|(peer, key)| ecdh::Agree::new(key, peer.public_key()))
                    .collect();
                let other_way = ecdh::agree_batch(&other_way);
                for (a, b) in ecdh::agree_batch(&one_way).into_iter().zip(other_way) {
                    assert_eq!(a.unwrap().as_bytes(), b.unwrap().as_bytes(), "{level}, {size}");
                }
                let again = ecdh::SecretKey::<C>::from_bytes(&keys[0].to_bytes()).unwrap();
                assert_eq!(again.with_level(level).public_key(), keys[0].public_key());
            }
        }
    }
    of::<P256>(1..=17);
    of::<P384>([1, 5, 8].into_iter());
    of::<P521>([3, 9].into_iter());
}
