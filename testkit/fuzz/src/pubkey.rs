//! Public keys: keys in DER and PEM, points, signatures and ciphertexts of any bytes. What is read is written and read
//! again, every level has to say the same of the same input, and a batch the same as its operations one by one.
//!
//! The first byte of an input chooses what the others are.

use std::{
    fmt::Debug,
    sync::LazyLock,
    time::{Duration, Instant},
};

use arbitrary::{Result, Unstructured};
use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Batcher, Curve, Error, Hash, P256, P384, P521, Policy, Submitter, SystemRandom, ecdh, ecdsa,
    ed25519,
    rsa::{self, Decrypt, Encryption, Scheme, Sign, Verify},
    x25519,
};
use lanelock_testkit::rsa::wycheproof_pkcs1_decrypt;

use zeroize::Zeroizing;

use crate::input::array;

/// The target.
pub fn pubkey(data: &[u8]) {
    if let Some((&kind, data)) = data.split_first() {
        KINDS[usize::from(kind) % KINDS.len()](data);
    }
}

/// What inputs are, by their first byte.
pub(crate) const KINDS: [fn(&[u8]); 17] = [
    rsa_private,
    rsa_public,
    rsa_signature,
    rsa_ciphertext,
    private::<P256>,
    private::<P384>,
    private::<P521>,
    public::<P256>,
    public::<P384>,
    public::<P521>,
    signature::<P256>,
    signature::<P384>,
    signature::<P521>,
    curve25519_keys,
    x25519,
    ed25519,
    queues,
];

/// A private key of 2048 bits, in PKCS #8.
pub(crate) static RSA: LazyLock<Vec<u8>> =
    LazyLock::new(|| wycheproof_pkcs1_decrypt().swap_remove(0).key);

/// The key at each level.
static RSA_KEYS: LazyLock<Vec<rsa::PrivateKey>> = LazyLock::new(|| {
    let read = |level| Some(rsa::PrivateKey::from_pkcs8_der(&RSA).ok()?.with_level(level));
    LimbLevel::available().into_iter().filter_map(read).collect()
});

fn rsa_key(level: LimbLevel) -> &'static rsa::PrivateKey {
    let keys = &*RSA_KEYS;
    keys.iter().find(|key| key.public_key().level() == level).expect("a good key at each level")
}

/// What every level says, which has to be the same.
fn at_all_levels<T: PartialEq + Debug>(what: impl Fn(LimbLevel) -> T) -> T {
    let mut levels = LimbLevel::available().into_iter();
    let first = what(levels.next().expect("the portable level"));
    for level in levels {
        assert_eq!(what(level), first, "{level}");
    }
    first
}

/// What is written of a thing that was read is read again as the same.
fn read_again<T>(
    thing: &T,
    write: impl Fn(&T) -> Zeroizing<Vec<u8>>,
    read: fn(&[u8]) -> core::result::Result<T, Error>,
) {
    let written = write(thing);
    let again = read(&written).unwrap_or_else(|error| panic!("{error}: {written:02x?}"));
    assert_eq!(write(&again), written);
}

fn text(data: &[u8]) -> &str {
    str::from_utf8(data).unwrap_or_default()
}

fn rsa_private(data: &[u8]) {
    type Key = rsa::PrivateKey;
    let forms = [Key::from_pkcs8_der, Key::from_pkcs1_der, |data: &[u8]| Key::from_pem(text(data))];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        read_again(&key, Key::to_pkcs8_der, Key::from_pkcs8_der);
        read_again(&key, Key::to_pkcs1_der, Key::from_pkcs1_der);
        Key::from_pem(&key.to_pkcs8_pem()).expect("it was written");
        let scheme = Scheme::pkcs1v15(Hash::Sha256);
        let sign = Sign::new(&key, scheme, &[7; 32]).expect("a digest");
        // Where a prime is none, the result is wrong, and withheld.
        match rsa::sign_batch(&[sign], &mut SystemRandom).remove(0) {
            Ok(signature) => {
                let verify = Verify::new(key.public_key(), scheme, &[7; 32], signature);
                assert_eq!(rsa::verify_batch(&[verify.expect("a digest")]), [Ok(())]);
            }
            Err(error) => assert_eq!(error, Error::Fault),
        }
    }
}

fn rsa_public(data: &[u8]) {
    type Key = rsa::PublicKey;
    let forms = [Key::from_spki_der, Key::from_pkcs1_der, |data: &[u8]| Key::from_pem(text(data))];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        assert_eq!(Key::from_spki_der(&key.to_spki_der()).as_ref(), Ok(&key));
        assert_eq!(Key::from_pkcs1_der(&key.to_pkcs1_der()).as_ref(), Ok(&key));
        assert_eq!(Key::from_pem(&key.to_spki_pem()).as_ref(), Ok(&key));
        let signature = data.iter().copied().cycle().take(key.length()).collect::<Vec<_>>();
        at_all_levels(|level| {
            let key = key.clone().with_level(level);
            let scheme = Scheme::pss(Hash::Sha384);
            let verify = Verify::new(&key, scheme, &[7; 48], &*signature).expect("a digest");
            rsa::verify_batch(&[verify])
        });
    }
}

fn rsa_signature(data: &[u8]) {
    let hash = Hash::Sha256;
    let schemes =
        [Scheme::pkcs1v15(hash), Scheme::pss(hash), Scheme::pss(hash).with_salt_length(0)];
    at_all_levels(|level| {
        let key = rsa_key(level).public_key();
        let verify = schemes.map(|scheme| Verify::new(key, scheme, &[7; 32], data));
        rsa::verify_batch(&verify.map(|verify| verify.expect("a digest")))
    });
}

fn rsa_ciphertext(data: &[u8]) {
    let encryptions = [
        Encryption::pkcs1v15(),
        Encryption::oaep(Hash::Sha1),
        Encryption::oaep(Hash::Sha256).with_label(b"label"),
    ];
    at_all_levels(|level| {
        let key = rsa_key(level);
        let decrypt = encryptions.iter().map(|how| Decrypt::new(key, how.clone(), data));
        let decrypt: Vec<_> = decrypt.flatten().collect();
        let messages = rsa::decrypt_batch(&decrypt, &mut SystemRandom);
        if let Some(message) = messages.first() {
            // It is never refused, whatever its padding.
            assert!(message.as_ref().is_ok_and(|message| message.len() <= 245), "{message:?}");
        }
        messages
    });
}

fn private<C: Curve>(data: &[u8]) {
    type Key<C> = ecdsa::SigningKey<C>;
    let forms = [
        Key::<C>::from_pkcs8_der,
        Key::<C>::from_sec1_der,
        |data: &[u8]| Key::<C>::from_pem(text(data)),
        |data: &[u8]| Key::<C>::from_bytes(data),
    ];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        read_again(&key, Key::<C>::to_pkcs8_der, Key::<C>::from_pkcs8_der);
        read_again(&key, Key::<C>::to_sec1_der, Key::<C>::from_sec1_der);
        read_again(&key, Key::<C>::to_bytes, Key::<C>::from_bytes);
        let signature = at_all_levels(|level| {
            let key = key.clone().with_level(level);
            let sign = ecdsa::Sign::new(&key, Hash::Sha256, &[7; 32]).expect("a digest");
            ecdsa::sign_batch(&[sign.with_deterministic_nonce()], &mut SystemRandom)
        });
        let signature = signature[0].as_ref().expect("a signature");
        assert_eq!(key.verifying_key().verify(&[7; 32], signature), Ok(()));
    }
}

fn public<C: Curve>(data: &[u8]) {
    type Key<C> = ecdh::PublicKey<C>;
    let forms = [
        Key::<C>::from_spki_der,
        |data: &[u8]| Key::<C>::from_pem(text(data)),
        Key::<C>::from_sec1_bytes,
    ];
    let own = ecdh::SecretKey::<C>::from_bytes(&[&vec![0; C::BYTES - 1][..], &[5]].concat());
    let own = own.expect("a key");
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        assert_eq!(Key::<C>::from_spki_der(&key.to_spki_der()), Ok(key));
        assert_eq!(Key::<C>::from_pem(&key.to_spki_pem()), Ok(key));
        assert_eq!(Key::<C>::from_sec1_bytes(&key.to_sec1_bytes()), Ok(key));
        assert_eq!(Key::<C>::from_sec1_bytes(&key.to_sec1_compressed_bytes()), Ok(key));
        at_all_levels(|level| {
            let shared = own.clone().with_level(level).agree(&key).expect("a point");
            shared.as_bytes().to_vec()
        });
    }
}

fn signature<C: Curve>(data: &[u8]) {
    type Signature<C> = ecdsa::Signature<C>;
    let read = [Signature::<C>::from_der(data), Signature::<C>::from_bytes(data)];
    if let Ok(signature) = &read[0] {
        assert_eq!(signature.to_der(), data, "DER has one form");
    }
    let key = ecdsa::SigningKey::<C>::from_bytes(&vec![1; C::BYTES]).expect("a key");
    for signature in read.into_iter().flatten() {
        let fixed = Signature::<C>::from_bytes(&signature.to_bytes()).expect("it was written");
        at_all_levels(|level| {
            let key = key.verifying_key().with_level(level);
            key.verify(&[7; 32], &signature).is_ok() | key.verify(&[7; 32], &fixed).is_ok()
        });
    }
}

fn curve25519_keys(data: &[u8]) {
    type Secret = x25519::SecretKey;
    type Signing = ed25519::SigningKey;
    let forms = [Secret::from_pkcs8_der, |data: &[u8]| Secret::from_pkcs8_pem(text(data))];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        let again = Secret::from_pkcs8_der(&key.to_pkcs8_der()).expect("it was written");
        assert_eq!(again.as_bytes(), key.as_bytes());
    }
    let forms = [Signing::from_pkcs8_der, |data: &[u8]| Signing::from_pkcs8_pem(text(data))];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        let again = Signing::from_pkcs8_der(&key.to_pkcs8_der()).expect("it was written");
        assert_eq!(again.verifying_key(), key.verifying_key());
    }
    let forms = [x25519::PublicKey::from_spki_der, |data: &[u8]| {
        x25519::PublicKey::from_spki_pem(text(data))
    }];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        assert_eq!(x25519::PublicKey::from_spki_der(&key.to_spki_der()), Ok(key));
    }
    let forms = [ed25519::VerifyingKey::from_spki_der, |data: &[u8]| {
        ed25519::VerifyingKey::from_spki_pem(text(data))
    }];
    for key in forms.into_iter().filter_map(|read| read(data).ok()) {
        assert_eq!(ed25519::VerifyingKey::from_spki_der(&key.to_spki_der()), Ok(key));
    }
}

/// The first 32 bytes, or zeros.
fn first<const N: usize>(data: &[u8]) -> [u8; N] {
    data.first_chunk().copied().unwrap_or([0; N])
}

fn x25519(data: &[u8]) {
    let (key, peer) = data.split_at(data.len().min(32));
    let (key, peer) = (first(key), x25519::PublicKey::from_bytes(&first(peer)));
    at_all_levels(|level| {
        let key = x25519::SecretKey::from_bytes(&key).expect("a level").with_level(level);
        let agree: Vec<_> = (0..3).map(|_| x25519::Agree::new(&key, peer)).collect();
        let one = key.agree(&peer).map(|shared| shared.as_bytes().to_vec());
        for shared in x25519::agree_batch(&agree) {
            assert_eq!(shared.map(|shared| shared.as_bytes().to_vec()), one);
        }
        (key.public_key(), one.ok())
    });
}

fn ed25519(data: &[u8]) {
    let (key, rest) = data.split_at(data.len().min(32));
    let (signature, message) = rest.split_at(rest.len().min(64));
    let signature = ed25519::Signature::from_bytes(&first(signature));
    let own = ed25519::SigningKey::from_bytes(&first(key)).expect("a level");
    let keys = [ed25519::VerifyingKey::from_bytes(&first(key)), Ok(*own.verifying_key())];
    at_all_levels(|level| {
        let own = own.clone().with_level(level);
        let good = own.sign(message);
        let mut verdicts = Vec::new();
        for key in keys.iter().flatten() {
            let key = key.with_level(level);
            for strictness in [ed25519::Strictness::Rfc8032, ed25519::Strictness::NoLowOrder] {
                let verify = [signature, good].map(|signature| {
                    ed25519::Verify::new(&key, message, signature).with_strictness(strictness)
                });
                verdicts.extend(ed25519::verify_batch(&verify));
            }
        }
        assert_eq!(verdicts.last(), Some(&Ok(())), "a signature by the key");
        (good, verdicts)
    });
}

/// Operations that come and go at any times: each is done once, or was cancelled.
fn queues(data: &[u8]) {
    // An input that ends too early is none.
    let _ = run_queues(&mut Unstructured::new(data));
}

fn run_queues(u: &mut Unstructured<'_>) -> Result<()> {
    let key = x25519::SecretKey::from_bytes(&array(u)?).expect("a level");
    let levels = LimbLevel::available();
    let keys: Vec<_> = levels.into_iter().map(|level| key.clone().with_level(level)).collect();
    let policy = Policy::default()
        .with_deadline(Duration::from_micros(u.int_in_range(0..=1000)?))
        .with_fewest(u.int_in_range(0..=9)?);
    let (mut batcher, mut submitter) = (Batcher::new(policy), Submitter::new());
    let mut now = Instant::now();
    let mut expected = Vec::new();
    for number in 0..u.int_in_range(0..=40)? {
        let key = u.choose(&keys)?;
        let peer = x25519::PublicKey::from_bytes(&[number; 32]);
        let tickets = (
            batcher.submit(x25519::Agree::new(key, peer), now),
            submitter.submit(x25519::Agree::new(key, peer)),
        );
        expected.push((tickets, number));
        now += Duration::from_micros(u.int_in_range(0..=300)?);
        match u.arbitrary::<u8>()? % 4 {
            0 => {
                batcher.poll(now);
                if batcher.waiting() > 0 {
                    assert!(batcher.next_deadline().is_some_and(|due| due > now));
                }
            }
            1 => {
                let at = u.int_in_range(0..=expected.len() - 1)?;
                let (tickets, _) = expected.swap_remove(at);
                assert!(batcher.cancel(tickets.0) && submitter.cancel(tickets.1));
                assert!(!batcher.cancel(tickets.0) && !submitter.cancel(tickets.1));
            }
            _ => {}
        }
    }
    batcher.poll(now + Duration::from_secs(1));
    assert_eq!((batcher.waiting(), batcher.next_deadline()), (0, None));
    submitter.flush();
    for (tickets, number) in expected {
        let shared = key.agree(&x25519::PublicKey::from_bytes(&[number; 32]));
        let shared = shared.map(|shared| shared.as_bytes().to_vec());
        for result in [batcher.take(tickets.0), submitter.poll(tickets.1)] {
            let result = result.expect("it has run").map(|shared| shared.as_bytes().to_vec());
            assert_eq!(result, shared);
        }
    }
    assert!(batcher.completed().is_none() && submitter.completed().is_none());
    Ok(())
}
