//! X25519 against its standard, Wycheproof and OpenSSL, at every level. `LANELOCK_LONG` makes the iterated test of
//! the standard a million steps.

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Error, SystemRandom,
    x25519::{
        Agree, Generate, PublicKey, SecretKey, agree_batch, generate_batch, public_key_batch,
    },
};
use lanelock_testkit::{Rng, curve25519, hex, is_long, openssl, skip};

/// Every level of this processor; the others are named.
fn levels() -> Vec<LimbLevel> {
    for (name, requires) in LimbLevel::known() {
        if name.parse::<LimbLevel>().is_err() {
            skip(&format!("{name} needs {requires}"));
        }
    }
    LimbLevel::available()
}

fn key(bytes: &[u8; 32], level: LimbLevel) -> SecretKey {
    SecretKey::from_bytes(bytes).unwrap().with_level(level)
}

/// The product of scalars and coordinates, in one batch; zeros for what is refused.
fn products(level: LimbLevel, pairs: &[([u8; 32], [u8; 32])]) -> Vec<[u8; 32]> {
    let keys: Vec<SecretKey> = pairs.iter().map(|(scalar, _)| key(scalar, level)).collect();
    let agreements: Vec<Agree<&SecretKey>> = keys
        .iter()
        .zip(pairs)
        .map(|(key, (_, u))| Agree::new(key, PublicKey::from_bytes(u)))
        .collect();
    let secrets = agree_batch(&agreements);
    assert_eq!(secrets.len(), pairs.len());
    secrets
        .into_iter()
        .map(|secret| match secret {
            Ok(secret) => secret.as_bytes().try_into().unwrap(),
            Err(Error::Key(_)) => [0; 32],
            Err(error) => panic!("{error}"),
        })
        .collect()
}

#[test]
fn published_vectors() {
    let cases = [curve25519::rfc7748(), curve25519::wycheproof_x25519()].concat();
    for level in levels() {
        let pairs: Vec<_> = cases.iter().map(|case| (case.key, case.public)).collect();
        for (case, product) in cases.iter().zip(products(level, &pairs)) {
            assert_eq!(hex(&product), hex(&case.shared), "{level}: {}", case.name);
        }
        for case in cases.iter().take(20) {
            let shared = key(&case.key, level).agree(&PublicKey::from_bytes(&case.public));
            assert_eq!(shared.unwrap().as_bytes(), &case.shared, "{level}: {}", case.name);
        }
    }
}

/// RFC 7748, 5.2: in the lanes of a batch as many chains as there are lanes, of which the others begin elsewhere.
#[test]
fn iterated() {
    let [once, thousand, million] = curve25519::rfc7748_iterated();
    for level in levels() {
        let long = is_long() && level == *LimbLevel::available().last().unwrap();
        let mut nine = [0; 32];
        nine[0] = 9;
        let mut chains = vec![(nine, nine); level.width()];
        for (lane, chain) in chains.iter_mut().enumerate().skip(1) {
            chain.1[1] = u8::try_from(lane).unwrap();
        }
        for step in 1..=if long { 1_000_000 } else { 1_000 } {
            let next = products(level, &chains);
            chains = next.iter().zip(&chains).map(|(next, (scalar, _))| (*next, *scalar)).collect();
            match step {
                1 => assert_eq!(chains[0].0, once, "{level}"),
                1_000 => assert_eq!(chains[0].0, thousand, "{level}"),
                1_000_000 => assert_eq!(chains[0].0, million, "{level}"),
                _ => {}
            }
        }
    }
}

/// 2^255 - 19 + `offset` as little-endian bytes, with the highest bit.
fn near_p(offset: i8, top: bool) -> [u8; 32] {
    let mut bytes = [0xff; 32];
    bytes[0] = 0xed_u8.wrapping_add_signed(offset);
    bytes[31] = if top { 0xff } else { 0x7f };
    bytes
}

/// Coordinates at the edges: small ones, those around p and 2^255, the points of low order, with and without the
/// highest bit, which is ignored.
fn edges() -> Vec<[u8; 32]> {
    let mut edges = Vec::new();
    for top in [0, 0x80] {
        for small in [0, 1, 2, 3, 9] {
            let mut bytes = [0; 32];
            (bytes[0], bytes[31]) = (small, top);
            edges.push(bytes);
        }
        for offset in [-2, -1, 0, 1, 2, 18] {
            edges.push(near_p(offset, top != 0));
        }
        // The points of order 8 (curve and twist have the same two).
        for order_8 in [
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ] {
            let mut bytes: [u8; 32] = lanelock_testkit::unhex(order_8).try_into().unwrap();
            bytes[31] |= top;
            edges.push(bytes);
        }
    }
    edges
}

/// Edges in every lane, among random numbers and scalars of all ones and all zeros, for all sizes of batches:
/// all levels agree with the portable one, of one lane, and that with OpenSSL.
#[test]
fn every_lane_and_openssl() {
    let mut rng = Rng::from_env("x25519");
    let mut pairs = Vec::new();
    let edges = edges();
    for (i, &edge) in edges.iter().cycle().take(17 * edges.len()).enumerate() {
        let scalar = match i % 5 {
            0 => [0xff; 32],
            1 => [0; 32],
            _ => rng.array(),
        };
        pairs.push((scalar, if i % 3 == 0 { rng.array() } else { edge }));
    }
    let expected: Vec<[u8; 32]> =
        pairs.iter().flat_map(|&pair| products(LimbLevel::available()[0], &[pair])).collect();
    for level in levels() {
        assert_eq!(products(level, &pairs), expected, "{level}");
        for size in 1..=17 {
            let at = rng.below(pairs.len() - size);
            let batch = &pairs[at..at + size];
            assert_eq!(products(level, batch), expected[at..at + size], "{level}, {size}");
        }
    }

    let Some(mut openssl) = openssl() else { return };
    for ((scalar, u), expected) in pairs.iter().zip(&expected) {
        let shared = openssl.agree("x25519", scalar, u).unwrap_or(vec![0; 32]);
        assert_eq!(hex(&shared), hex(expected), "{} {}", hex(scalar), hex(u));
    }
}

#[test]
fn public_keys() {
    let mut rng = Rng::from_env("public keys");
    let mut keys: Vec<[u8; 32]> = vec![[0; 32], [0xff; 32]];
    keys.extend((0..30).map(|_| rng.array::<32>()));
    let mut base = [0; 32];
    base[0] = 9;
    let base = PublicKey::from_bytes(&base);
    let openssl = &mut openssl();
    for level in levels() {
        let keys: Vec<SecretKey> = keys.iter().map(|bytes| key(bytes, level)).collect();
        let keys: Vec<&SecretKey> = keys.iter().collect();
        for size in 0..=17 {
            let public = public_key_batch(&keys[..size]);
            assert_eq!(public.len(), size);
            for (key, public) in keys.iter().zip(public) {
                assert_eq!(key.public_key(), public, "{level}");
                assert_eq!(key.agree(&base).unwrap().as_bytes(), public.as_bytes(), "{level}");
            }
        }
        for key in &keys {
            let Some(openssl) = openssl else { continue };
            let public = openssl.public("x25519", key.as_bytes());
            assert_eq!(key.public_key().as_bytes(), public.as_slice(), "{level}");
        }
    }
}

#[test]
fn levels_share_a_batch() {
    let mut rng = Rng::from_env("levels share a batch");
    let levels = levels();
    let mut keys = Vec::new();
    for i in 0..23 {
        keys.push(key(&rng.array(), levels[i % levels.len()]));
    }
    let agreements: Vec<_> = keys.iter().map(|key| Agree::new(key, keys[0].public_key())).collect();
    for (key, shared) in keys.iter().zip(agree_batch(&agreements)) {
        let other = keys[0].agree(&key.public_key()).unwrap();
        assert_eq!(shared.unwrap().as_bytes(), other.as_bytes());
    }
}

/// A source of random bytes that fails after some calls.
struct Failing(usize);

impl lanelock_pubkey::Random for Failing {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.0 = self.0.checked_sub(1).ok_or(Error::Random)?;
        SystemRandom.fill(bytes)
    }
}

#[test]
fn generation() {
    let generate = vec![Generate::new().unwrap(); 11];
    let pairs: Vec<_> =
        generate_batch(&generate, &mut SystemRandom).into_iter().map(Result::unwrap).collect();
    for (i, (key, public)) in pairs.iter().enumerate() {
        assert_eq!(key.public_key(), *public);
        assert!(pairs[..i].iter().all(|(other, _)| other.as_bytes() != key.as_bytes()));
    }
    let failed = generate_batch(&generate, &mut Failing(4));
    for (i, pair) in failed.into_iter().enumerate() {
        match pair {
            Ok((key, public)) => assert!(i < 4 && key.public_key() == public),
            Err(error) => assert!(i >= 4 && error == Error::Random),
        }
    }
    assert_eq!(SecretKey::generate(&mut Failing(0)).unwrap_err(), Error::Random);
}

#[test]
fn nothing_secret_is_shown() {
    let key = key(&[0xa7; 32], LimbLevel::available()[0]);
    let shared = key.agree(&key.public_key()).unwrap();
    let shown = format!("{key:?} {:?} {shared:?}", Agree::new(&key, key.public_key()));
    assert!(!shown.contains("167") && !shown.contains("a7, a7"), "{shown}");
}

/// A locked key is the same; where the system does not lock memory, that is the error.
#[test]
fn locked_keys() {
    let key = key(&[5; 32], LimbLevel::available()[0]);
    match key.lock() {
        Ok(locked) => {
            assert_eq!(locked.as_bytes(), key.as_bytes());
            assert_eq!(locked.public_key(), key.public_key());
        }
        Err(error) => skip(&format!("memory cannot be locked: {error}")),
    }
}
