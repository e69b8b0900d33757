//! Secrets are gone when their owner is: keys, intermediate results of operations, and encodings of keys.
//!
//! A program of its own: it searches the memory of its whole process, where other tests would hold the same keys.
//!
//! All writable memory of the process is searched for the secret, through `/proc/self/mem`, behind the compiler's back;
//! so nothing here makes the compiler keep a write that it would leave out otherwise. The test itself knows the secret
//! only masked.

#![allow(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

use std::{
    collections::HashSet,
    fs::{File, read_to_string},
    hint::black_box,
    os::unix::fs::FileExt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanelock_digest::algorithm::Sha512;
use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Curve, Hash, P256, P384, P521, SystemRandom, ecdh, ecdsa, ed25519,
    exchange::{Answer, Finish, Start, X25519},
    rsa::{self, Components, Decrypt, Encrypt, Encryption, Scheme, Sign},
    run_batch, x25519,
};
use zeroize::Zeroize;

/// Bytes that are looked for together: nobody finds so many by chance.
const PART: usize = 16;
const MASK: [u8; PART] = [0xa5; PART];

/// One test at a time: a search reads what others have just allocated.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parts of secrets, masked.
struct Secrets {
    parts: HashSet<[u8; PART]>,
    /// The first two bytes of parts.
    firsts: Vec<bool>,
}

/// Where a secret was found, how many parts of it.
#[derive(PartialEq, Eq, Debug)]
struct Found {
    /// On the stack of the test, where what computed with it has left registers.
    stack: usize,
    /// In all other memory.
    elsewhere: usize,
}

impl Secrets {
    fn new() -> Self {
        Self { parts: HashSet::new(), firsts: vec![false; 1 << 16] }
    }

    /// The bytes as they are, in parts.
    fn add(&mut self, bytes: &[u8]) {
        for part in bytes.windows(PART).step_by(8) {
            let mut masked: [u8; PART] = part.try_into().unwrap();
            if part.iter().collect::<HashSet<_>>().len() < 10 {
                continue; // such as zeros before a number
            }
            masked.iter_mut().zip(MASK).for_each(|(byte, mask)| *byte ^= mask);
            self.firsts[usize::from(u16::from_le_bytes([part[0], part[1]]))] = true;
            self.parts.insert(masked);
        }
    }

    /// A big-endian number in the forms in which one can be in memory: as it is, turned round, in digits of 52 bits.
    fn add_number(&mut self, bytes: &[u8]) {
        let mut turned = bytes.to_vec();
        turned.reverse();
        let mut digits: Vec<u8> = Vec::with_capacity(2 * bytes.len());
        let bit = |at: usize| turned.get(at / 8).map_or(0, |byte| u64::from(byte >> (at % 8) & 1));
        for digit in 0..(8 * bytes.len()).div_ceil(52) {
            let digit: u64 = (0..52).map(|at| bit(52 * digit + at) << at).sum();
            digits.extend(digit.to_le_bytes());
        }
        for form in [bytes, &turned, &digits] {
            self.add(form);
        }
        turned.zeroize();
        digits.zeroize();
    }

    /// How many parts of them are in memory, each counted as often as it is there.
    fn search(&self) -> Found {
        let mut found = Found { stack: 0, elsewhere: 0 };
        let mut window = vec![0; 1 << 16];
        let own = window.as_ptr_range();
        let own = own.start.addr()..own.end.addr();
        let here = core::ptr::from_ref(black_box(&found)).addr();
        let memory = File::open("/proc/self/mem").unwrap();
        for line in read_to_string("/proc/self/maps").unwrap().lines() {
            let mut fields = line.split(' ');
            let (range, rights) = (fields.next().unwrap(), fields.next().unwrap());
            let (start, end) = range.split_once('-').unwrap();
            let [start, end] = [start, end].map(|text| usize::from_str_radix(text, 16).unwrap());
            if !rights.starts_with("rw") {
                continue;
            }
            let count =
                if (start..end).contains(&here) { &mut found.stack } else { &mut found.elsewhere };
            // Windows overlap by what a part may have in the one before.
            for at in (start..end).step_by(window.len() - PART + 1) {
                let length = window.len().min(end - at);
                if memory.read_exact_at(&mut window[..length], at as u64).is_err() {
                    continue; // not mapped any more
                }
                for (place, part) in window[..length].windows(PART).enumerate() {
                    let first = usize::from(u16::from_le_bytes([part[0], part[1]]));
                    if self.firsts[first] && !own.contains(&(at + place)) {
                        let masked = core::array::from_fn(|i| part[i] ^ MASK[i]);
                        *count += usize::from(self.parts.contains::<[u8; PART]>(&masked));
                    }
                }
            }
        }
        window.zeroize();
        found
    }
}

/// Parts of other secrets on the stack: where 32 bytes are returned, a copy may stay in the frame that returned them. Two
/// were seen in release builds.
const STACK: usize = 3;

/// Parts of RSA keys that are left on the stack, of some thousand bytes of secrets: in the test profile 31 were seen, and
/// frames move with whatever else is compiled.
const RSA_STACK: usize = 48;

/// Searches for the secrets of what `make` makes while it lives, where they have to be found, and once it has been used
/// and dropped. So many parts of them may be left on the stack.
fn check<T>(what: &str, stack: usize, make: impl FnOnce(&mut Secrets) -> T, work: impl FnOnce(T)) {
    let mut secrets = Secrets::new();
    let owner = make(&mut secrets);
    let before = secrets.search();
    assert!(before.elsewhere > 0, "{what}: there is no secret: {before:?}");
    work(owner);
    let after = secrets.search();
    assert_eq!(after.elsewhere, 0, "{what}: {after:?}, of {before:?} before");
    if cfg!(debug_assertions) {
        return lanelock_testkit::skip(
            "the limits of the stack are for the frames of release builds",
        );
    }
    assert!(after.stack <= stack, "{what}: {after:?}, where {stack} may be on the stack");
}

/// The method sees what stays.
#[test]
fn what_is_not_wiped_is_seen() {
    let _alone = alone();
    let mut secrets = Secrets::new();
    let mut copy = Vec::new();
    {
        let key = x25519::SecretKey::generate(&mut SystemRandom).unwrap();
        secrets.add_number(key.as_bytes());
        copy.extend(key.as_bytes().map(|byte| byte ^ 1));
    }
    assert_eq!(secrets.search().elsewhere, 0);
    for byte in &mut copy {
        *byte ^= 1;
    }
    black_box(&copy);
    assert!(secrets.search().elsewhere >= 2);
}

#[test]
fn rsa() {
    let _alone = alone();
    let add = |secrets: &mut Secrets, key: &rsa::PrivateKey| {
        key.with_components(|&Components { d, p, q, dp, dq, qinv, .. }| {
            for number in [d, p, q, dp, dq, qinv] {
                secrets.add_number(number);
            }
        });
    };
    for level in LimbLevel::available() {
        check(
            &format!("RSA, {level}"),
            RSA_STACK,
            |secrets| {
                let generate = rsa::Generate::new(2048).unwrap().with_level(level);
                let key = rsa::generate_batch(&[generate], &mut SystemRandom).remove(0).unwrap();
                add(secrets, &key);
                key
            },
            |key| {
                let random = &mut SystemRandom;
                let hash = Hash::Sha256;
                for scheme in [Scheme::pkcs1v15(hash), Scheme::pss(hash)] {
                    let signs: Vec<_> =
                        (0..9).map(|_| Sign::message(&key, scheme, b"message").unwrap()).collect();
                    assert!(rsa::sign_batch(&signs, random).iter().all(Result::is_ok));
                }
                let oaep = Encryption::oaep(hash);
                let encrypt = Encrypt::new(key.public_key(), oaep.clone(), b"message").unwrap();
                let ciphertext = rsa::encrypt_batch(&[encrypt], random).remove(0).unwrap();
                let decrypt = Decrypt::new(&key, oaep, &ciphertext).unwrap();
                assert!(rsa::decrypt_batch(&[decrypt], random)[0].is_ok());
            },
        );
    }
    check(
        "RSA, encodings",
        RSA_STACK,
        |secrets| {
            let key = rsa::PrivateKey::generate(2048, &mut SystemRandom).unwrap();
            add(secrets, &key);
            secrets.add(key.to_pkcs8_pem().as_bytes());
            key
        },
        |key| {
            rsa::PrivateKey::from_pem(&key.to_pkcs8_pem()).unwrap();
            rsa::PrivateKey::from_pkcs1_der(&key.lock().unwrap().to_pkcs1_der()).unwrap();
        },
    );
}

/// Messages that were decrypted.
#[test]
fn rsa_messages() {
    let _alone = alone();
    let random = &mut SystemRandom;
    let key = rsa::PrivateKey::generate(2048, random).unwrap();
    for encryption in [Encryption::oaep(Hash::Sha256), Encryption::pkcs1v15()] {
        let what = format!("{encryption:?}");
        check(
            &what,
            STACK,
            |secrets| {
                let mut message = zeroize::Zeroizing::new([0; 48]);
                lanelock_pubkey::Random::fill(&mut SystemRandom, &mut *message).unwrap();
                secrets.add_number(&*message);
                let encrypt =
                    Encrypt::new(key.public_key(), encryption.clone(), &*message).unwrap();
                let ciphertext =
                    rsa::encrypt_batch(&[encrypt], &mut SystemRandom).remove(0).unwrap();
                let decrypt = Decrypt::new(&key, encryption, &ciphertext).unwrap();
                rsa::decrypt_batch(&[decrypt], &mut SystemRandom).remove(0).unwrap()
            },
            drop,
        );
    }
}

fn curve<C: Curve>() {
    let _alone = alone();
    for level in LimbLevel::available() {
        check(
            &format!("ECDSA, {}, {level}", C::NAME),
            STACK,
            |secrets| {
                let key = ecdsa::SigningKey::<C>::generate(&mut SystemRandom).unwrap();
                secrets.add_number(&key.to_bytes());
                key.with_level(level)
            },
            |key| {
                let sign = || ecdsa::Sign::new(&key, Hash::Sha256, &[7; 32]).unwrap();
                let signs: Vec<_> =
                    (0..9).map(|_| sign()).chain([sign().with_deterministic_nonce()]).collect();
                let signatures = ecdsa::sign_batch(&signs, &mut SystemRandom);
                assert!(signatures.iter().all(Result::is_ok));
                black_box(key.verifying_key());
            },
        );
        let peer = ecdh::SecretKey::<C>::generate(&mut SystemRandom).unwrap().public_key();
        check(
            &format!("ECDH, {}, {level}", C::NAME),
            STACK,
            |secrets| {
                let key = ecdh::SecretKey::<C>::generate(&mut SystemRandom).unwrap();
                secrets.add_number(&key.to_bytes());
                let key = key.with_level(level);
                let agree: Vec<_> = (0..9).map(|_| ecdh::Agree::new(&key, peer)).collect();
                let shared = ecdh::agree_batch(&agree);
                secrets.add_number(shared[0].as_ref().unwrap().as_bytes());
                (key.lock().unwrap(), shared)
            },
            drop,
        );
    }
    check(
        &format!("encodings, {}", C::NAME),
        STACK,
        |secrets| {
            let key = ecdsa::SigningKey::<C>::generate(&mut SystemRandom).unwrap();
            secrets.add_number(&key.to_bytes());
            secrets.add(key.to_pkcs8_pem().as_bytes());
            key
        },
        |key| {
            ecdsa::SigningKey::<C>::from_pem(&key.to_pkcs8_pem()).unwrap();
            ecdsa::SigningKey::<C>::from_sec1_der(&key.to_sec1_der()).unwrap();
        },
    );
}

#[test]
fn p256() {
    curve::<P256>();
}

#[test]
fn p384() {
    curve::<P384>();
}

#[test]
fn p521() {
    curve::<P521>();
}

#[test]
fn x25519() {
    let _alone = alone();
    let peer = x25519::SecretKey::generate(&mut SystemRandom).unwrap().public_key();
    for level in LimbLevel::available() {
        check(
            &format!("X25519, {level}"),
            STACK,
            |secrets| {
                let key = x25519::SecretKey::generate(&mut SystemRandom).unwrap().with_level(level);
                secrets.add_number(key.as_bytes());
                let agree: Vec<_> = (0..9).map(|_| x25519::Agree::new(&key, peer)).collect();
                let shared = x25519::agree_batch(&agree);
                secrets.add_number(shared[0].as_ref().unwrap().as_bytes());
                (key, shared)
            },
            |(key, shared)| {
                black_box(key.public_key());
                black_box(key.lock().unwrap().agree(&peer).unwrap());
                drop((key, shared));
            },
        );
    }
    check(
        "X25519, encodings",
        STACK,
        |secrets| {
            let key = x25519::SecretKey::generate(&mut SystemRandom).unwrap();
            secrets.add_number(key.as_bytes());
            secrets.add(key.to_pkcs8_pem().as_bytes());
            key
        },
        |key| drop(x25519::SecretKey::from_pkcs8_pem(&key.to_pkcs8_pem()).unwrap()),
    );
}

#[test]
fn exchange() {
    let _alone = alone();
    let random = &mut SystemRandom;
    let started = run_batch(&[Start::<X25519>::new().unwrap()], random).remove(0).unwrap();
    check(
        "exchange",
        STACK,
        |secrets| {
            let answer = Answer::<X25519, _>::new(&started.share).unwrap();
            let answered = run_batch(&[answer], &mut SystemRandom).remove(0).unwrap();
            secrets.add_number(answered.shared.as_bytes());
            answered
        },
        |answered| {
            let finish = Finish::<X25519, _, _>::new(&started.secret, &answered.share);
            assert!(run_batch(&[finish], &mut SystemRandom)[0].is_ok());
        },
    );
}

#[test]
fn ed25519() {
    let _alone = alone();
    for level in LimbLevel::available() {
        check(
            &format!("Ed25519, {level}"),
            STACK,
            |secrets| {
                let key = ed25519::SigningKey::generate(&mut SystemRandom).unwrap();
                secrets.add_number(key.as_bytes());
                // The scalar and what nonces are derived from.
                let expanded = lanelock_digest::Hash::<Sha512>::digest(key.as_bytes()).unwrap();
                secrets.add(zeroize::Zeroizing::new(expanded).as_ref());
                key.with_level(level)
            },
            |key| {
                let signs: Vec<_> = (0..9).map(|_| ed25519::Sign::new(&key, b"message")).collect();
                black_box(ed25519::sign_batch(&signs));
                black_box(key.lock().unwrap().sign(b"message"));
            },
        );
    }
    check(
        "Ed25519, encodings",
        STACK,
        |secrets| {
            let key = ed25519::SigningKey::generate(&mut SystemRandom).unwrap();
            secrets.add_number(key.as_bytes());
            secrets.add(key.to_pkcs8_pem().as_bytes());
            key
        },
        |key| drop(ed25519::SigningKey::from_pkcs8_pem(&key.to_pkcs8_pem()).unwrap()),
    );
}
