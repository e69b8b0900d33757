//! What is measured of public keys: private keys that differ, of the same public form, and paddings that differ.
//!
//! An operation is run alone and with as many as there are lanes, each lane with a secret of its own. A secret number
//! of class 0 is 1, in which nearly all windows are zero.

use std::{array, cell::RefCell, hint::black_box, rc::Rc, sync::LazyLock};

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Curve, Hash, P256, P384, P521, SystemRandom, ecdh, ecdsa, ed25519,
    rsa::{self, Components, Encryption, Scheme},
    run_batch, x25519,
};

use super::Subject;
use crate::rng::Rng;

/// An operation at a level, so many times side by side.
type Make = fn(LimbLevel, usize) -> Subject;

pub(super) const OPERATIONS: &[(&str, Make)] = &[
    ("X25519, public key", |level, lanes| {
        Subject::new(32 * lanes, scalars(32, 0xff), move |keys| {
            let keys = x25519_keys(level, keys);
            black_box(x25519::public_key_batch(&keys.iter().collect::<Vec<_>>()));
        })
    }),
    ("X25519", |level, lanes| {
        let peer = x25519::SecretKey::from_bytes(&[7; 32]).expect("a key").public_key();
        Subject::new(32 * lanes, scalars(32, 0xff), move |keys| {
            let keys = x25519_keys(level, keys);
            let agree: Vec<_> = keys.iter().map(|key| x25519::Agree::new(key, peer)).collect();
            black_box(x25519::agree_batch(&agree));
        })
    }),
    ("Ed25519, signing", |level, lanes| {
        Subject::new(32 * lanes, scalars(32, 0xff), move |keys| {
            let (keys, _) = keys.as_chunks();
            let keys = keys.iter().map(|key| {
                ed25519::SigningKey::from_bytes(key).expect("a level").with_level(level)
            });
            let keys: Vec<_> = keys.collect();
            let sign: Vec<_> = keys.iter().map(|key| ed25519::Sign::new(key, [0; 32])).collect();
            black_box(ed25519::sign_batch(&sign));
        })
    }),
    ("ECDSA, signing, P-256", ecdsa::<P256>),
    ("ECDSA, signing, P-384", ecdsa::<P384>),
    ("ECDSA, signing, P-521", ecdsa::<P521>),
    ("ECDH, P-256", ecdh::<P256>),
    ("ECDH, P-384", ecdh::<P384>),
    ("ECDH, P-521", ecdh::<P521>),
    ("RSA, import of a private key", |_, lanes| {
        let length = KEYS[0].len();
        let fill = move |class: usize, rng: &mut Rng, input: &mut [u8]| {
            for input in input.chunks_mut(length) {
                input.copy_from_slice(&KEYS[rng.below(POOL) * class]);
            }
        };
        Subject::new(length * lanes, fill, move |input| {
            for numbers in input.chunks(length) {
                black_box(rsa_key(numbers));
            }
        })
    }),
    ("RSA, signing", rsa_signing),
    ("RSA, decryption, PKCS #1 v1.5, good or bad padding", |level, lanes| {
        decryption(level, lanes, Encryption::pkcs1v15(), Encryption::pkcs1v15())
    }),
    ("RSA, decryption, OAEP, another label or bad padding", |level, lanes| {
        let oaep = Encryption::oaep(Hash::Sha256);
        decryption(level, lanes, oaep.clone(), oaep.with_label(b"another"))
    }),
];

/// Secrets of so many bytes: class 0 is 1, class 1 any, whose first byte has no other bits than `mask`.
fn scalars(bytes: usize, mask: u8) -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    move |class, rng, input| {
        for scalar in input.chunks_mut(bytes) {
            if class == 1 {
                rng.fill(scalar);
                scalar[0] &= mask;
            } else {
                scalar[bytes - 1] = 1;
            }
        }
    }
}

fn x25519_keys(level: LimbLevel, keys: &[u8]) -> Vec<x25519::SecretKey> {
    let (keys, _) = keys.as_chunks();
    let keys = keys.iter().map(|key| x25519::SecretKey::from_bytes(key).expect("a level"));
    keys.map(|key| key.with_level(level)).collect()
}

/// The first byte of a number that is below the order; so are nearly all others of 32 or 48 bytes.
fn mask<C: Curve>() -> u8 {
    if C::BYTES == 66 { 1 } else { 0xff }
}

/// Signatures without random bytes, so that the nonce of a fixed key is fixed too.
fn ecdsa<C: Curve>(level: LimbLevel, lanes: usize) -> Subject {
    Subject::new(C::BYTES * lanes, scalars(C::BYTES, mask::<C>()), move |keys| {
        let keys = keys.chunks(C::BYTES).map(|key| {
            ecdsa::SigningKey::<C>::from_bytes(key).expect("below the order").with_level(level)
        });
        let keys: Vec<_> = keys.collect();
        let sign = keys.iter().map(|key| {
            let sign = ecdsa::Sign::new(key, Hash::Sha256, &[7; 32]).expect("a digest");
            sign.with_deterministic_nonce()
        });
        black_box(ecdsa::sign_batch(&sign.collect::<Vec<_>>(), &mut SystemRandom));
    })
}

fn ecdh<C: Curve>(level: LimbLevel, lanes: usize) -> Subject {
    let peer = ecdh::SecretKey::<C>::from_bytes(&vec![1; C::BYTES]).expect("below the order");
    let peer = peer.public_key();
    Subject::new(C::BYTES * lanes, scalars(C::BYTES, mask::<C>()), move |keys| {
        let keys = keys.chunks(C::BYTES).map(|key| {
            ecdh::SecretKey::<C>::from_bytes(key).expect("below the order").with_level(level)
        });
        let keys: Vec<_> = keys.collect();
        let agree: Vec<_> = keys.iter().map(|key| ecdh::Agree::new(key, peer)).collect();
        black_box(ecdh::agree_batch(&agree));
    })
}

fn rsa_signing(level: LimbLevel, lanes: usize) -> Subject {
    // Of class 0 as many copies of one key as class 1 has keys: all take as much of the caches.
    let pool = move |class: usize, first: usize| {
        let keys = (0..POOL).map(move |at| &KEYS[(first + at) % POOL * class]);
        keys.map(|key| rsa_key(key).with_level(level)).collect::<Vec<_>>()
    };
    let pools = Rc::new(RefCell::new([pool(0, 0), pool(1, 0)]));
    let fill = |class: usize, rng: &mut Rng, input: &mut [u8]| {
        rng.fill(input);
        input[0] = class.to_le_bytes()[0];
    };
    let sign = move |pool: &[rsa::PrivateKey], first: usize, digests: &[u8]| {
        let sign = digests.chunks(32).enumerate().map(|(lane, digest)| {
            let scheme = Scheme::pkcs1v15(Hash::Sha256);
            rsa::Sign::new(&pool[(first + lane) % POOL], scheme, digest).expect("a digest")
        });
        black_box(rsa::sign_batch(&sign.collect::<Vec<_>>(), &mut SystemRandom));
    };
    // Keys of either class in the same memory. A pair of their blinding is made, since the time that this takes belongs
    // to random numbers.
    let of_both = pools.clone();
    let prepare = move |input: &mut [u8]| {
        let made = pool(input[0].into(), input[1].into());
        sign(&made, 0, &input[2..]);
        of_both.borrow_mut()[0] = made;
        input[..2].fill(0);
    };
    let work = move |input: &mut [u8]| {
        sign(&pools.borrow()[usize::from(input[0])], input[1].into(), &input[2..]);
    };
    Subject::new(2 + 32 * lanes, fill, work).prepared(prepare)
}

/// Decrypts what was padded for the operation of `class_0`, or a random number: what comes out of it has no padding.
fn decryption(
    level: LimbLevel,
    lanes: usize,
    encryption: Encryption,
    class_0: Encryption,
) -> Subject {
    const MODULUS: usize = 256;
    let key = Rc::new(rsa_key(&KEYS[0]).with_level(level));
    let decrypt = {
        let key = key.clone();
        move |ciphertexts: &[u8]| {
            let decrypt = ciphertexts.chunks(MODULUS).map(|ciphertext| {
                let decrypt = rsa::Decrypt::new(&*key, encryption.clone(), ciphertext);
                decrypt.expect("below the modulus")
            });
            rsa::decrypt_batch(&decrypt.collect::<Vec<_>>(), &mut SystemRandom)
        }
    };
    let bad = decrypt.clone();
    let fill = move |class: usize, rng: &mut Rng, input: &mut [u8]| {
        for ciphertext in input.chunks_mut(MODULUS) {
            rng.fill(ciphertext);
            ciphertext[0] &= 0x7f; // below the modulus
        }
        if class == 1 {
            return;
        }
        // Messages as long as those that are made up for bad padding: the length is what the caller gets.
        let encrypt = bad(input).into_iter().map(|made_up| {
            let message =
                made_up.map_or_else(|_| vec![1; rng.below(190)], |made_up| made_up.to_vec());
            rsa::Encrypt::new(key.public_key(), class_0.clone(), &message).expect("it fits")
        });
        let ciphertexts = run_batch(&encrypt.collect::<Vec<_>>(), &mut SystemRandom);
        for (to, ciphertext) in input.chunks_mut(MODULUS).zip(ciphertexts) {
            to.copy_from_slice(&ciphertext.expect("random bytes"));
        }
    };
    Subject::new(MODULUS * lanes, fill, move |ciphertexts| {
        black_box(decrypt(ciphertexts));
    })
}

/// Keys in each class.
const POOL: usize = 16;
/// Bits of their moduli.
const BITS: usize = 2048;

/// The numbers of RSA keys of one size, one after the other: n, d, p, q, dp, dq, qinv.
static KEYS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let keys = vec![rsa::Generate::new(BITS).expect("a size of keys"); POOL];
    let keys = rsa::generate_batch(&keys, &mut SystemRandom).into_iter();
    let numbers =
        |key: &Components<'_>| [key.n, key.d, key.p, key.q, key.dp, key.dq, key.qinv].concat();
    keys.map(|key| key.expect("random bytes").with_components(numbers)).collect()
});

/// The key of its numbers.
fn rsa_key(numbers: &[u8]) -> rsa::PrivateKey {
    let (whole, half) = numbers.split_at(2 * BITS / 8);
    let [n, d] = array::from_fn(|at| &whole[at * BITS / 8..][..BITS / 8]);
    let [p, q, dp, dq, qinv] = array::from_fn(|at| &half[at * BITS / 16..][..BITS / 16]);
    let e = &[1, 0, 1][..];
    rsa::PrivateKey::new(&Components { n, e, d, p, q, dp, dq, qinv }).expect("a good key")
}
