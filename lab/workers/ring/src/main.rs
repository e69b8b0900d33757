//! ring: GCM with keys of 128 and 256 bits, ChaCha20-Poly1305, SHA-1, SHA-2, HMAC and PBKDF2, and
//! public keys.

mod pubkey;

use std::num::NonZeroU32;

use lanelock_lab_common::{Data, ITERATIONS, Library, Prepared, Row, call, serve, version_of};
use ring::{
    aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey},
    digest, hmac, pbkdf2,
};

struct Ring;

impl Library for Ring {
    fn version(&self) -> String {
        format!("ring {}", version_of("ring"))
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        let algorithm = match row.kind() {
            ("gcm" | "gmac", _, 128) => &AES_128_GCM,
            ("gcm" | "gmac", _, 256) => &AES_256_GCM,
            ("chacha20-poly1305", ..) => &CHACHA20_POLY1305,
            ("sha-1", ..) => return hash(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            ("sha-256", ..) => return hash(&digest::SHA256),
            ("sha-512", ..) => return hash(&digest::SHA512),
            ("hmac-sha-256", ..) => return mac(data),
            ("pbkdf2-sha-256", ..) => return derive(),
            _ => return pubkey::prepare(row, data),
        };
        let key = |key: &Vec<u8>| LessSafeKey::new(UnboundKey::new(algorithm, key).expect("a key"));
        let keys: Vec<_> = data.keys.iter().map(key).collect();
        match &row.operation[..] {
            "seal" => call(move |data| {
                for i in 0..data.output.len() {
                    let key = &keys[data.key_index(i)];
                    let nonce = nonce(data, i);
                    let tag =
                        key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut data.output[i]);
                    data.tags[i].copy_from_slice(tag.expect("a short message").as_ref());
                }
            }),
            "mac" => call(move |data| {
                for i in 0..data.input.len() {
                    let key = &keys[data.key_index(i)];
                    let aad = Aad::from(&data.input[i][..]);
                    let tag = key.seal_in_place_separate_tag(nonce(data, i), aad, &mut []);
                    data.tags[i].copy_from_slice(tag.expect("a short message").as_ref());
                }
            }),
            // In place only, so that a copy has to be made for each call.
            "open" => call(move |data| {
                for i in 0..data.output.len() {
                    let key = &keys[data.key_index(i)];
                    let (nonce, tag) = (nonce(data, i), data.tags[i].into());
                    let buffer = &mut data.output[i];
                    buffer.copy_from_slice(&data.input[i]);
                    key.open_in_place_separate_tag(nonce, Aad::empty(), tag, buffer, 0..)
                        .expect("a good tag");
                }
            }),
            _ => None,
        }
    }
}

fn hash(algorithm: &'static digest::Algorithm) -> Prepared {
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            tag.copy_from_slice(&digest::digest(algorithm, message).as_ref()[..16]);
        }
    })
}

fn mac(data: &Data) -> Prepared {
    let key = |key: &Vec<u8>| hmac::Key::new(hmac::HMAC_SHA256, key);
    let keys: Vec<_> = data.keys.iter().map(key).collect();
    call(move |data| {
        for i in 0..data.input.len() {
            let tag = hmac::sign(&keys[data.key_index(i)], &data.input[i]);
            data.tags[i].copy_from_slice(&tag.as_ref()[..16]);
        }
    })
}

fn derive() -> Prepared {
    let iterations = NonZeroU32::new(ITERATIONS).expect("more than none");
    call(move |data| {
        for i in 0..data.output.len() {
            let (password, salt, key) = data.password(i);
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password, key);
        }
    })
}

fn nonce(data: &Data, i: usize) -> Nonce {
    Nonce::assume_unique_for_key(*data.nonces[i].first_chunk().expect("32 bytes"))
}

fn main() {
    serve(&Ring);
}
