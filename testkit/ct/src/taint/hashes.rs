//! What is made of hashes, with secrets from the keys on.

use std::{array, num::NonZeroU32};

use lanelock::{
    ChaCha20, Error, Poly1305,
    aead::{ChaCha20Poly1305, XChaCha20Poly1305},
    hash::{
        Hash, HashJob, Hkdf, HmacJob, HmacKey, Kmac, Levels, Pbkdf2Job,
        algorithm::{self, Algorithm},
        hash_all, hmac_all, pbkdf2_all,
    },
};

use super::{
    Extent, carried,
    operations::{aead, in_pieces, messages},
    secret, secret_text,
};

type Run = fn(Levels, Extent);

/// Of each hash.
macro_rules! each_hash {
    ($function:ident) => {
        |levels, extent| {
            $function::<algorithm::Sha1>(levels, extent);
            $function::<algorithm::Sha256>(levels, extent);
            $function::<algorithm::Sha512>(levels, extent);
            $function::<algorithm::Sha3_256>(levels, extent);
            $function::<algorithm::Sm3>(levels, extent);
        }
    };
}

pub(super) const OPERATIONS: &[(&str, Run)] = &[
    ("hashes", each_hash!(hashes)),
    ("hashes, BLAKE2", |levels, extent| {
        hashes::<algorithm::Blake2b>(levels, extent);
        hashes::<algorithm::Blake2s>(levels, extent);
    }),
    ("HMAC", each_hash!(hmac)),
    ("HMAC in lanes", each_hash!(hmac_in_lanes)),
    ("HKDF", each_hash!(hkdf)),
    ("PBKDF2", each_hash!(pbkdf2)),
    ("KMAC", kmac),
    ("ChaCha20, Poly1305", chacha),
    ("ChaCha20-Poly1305", |levels, extent| {
        aead(&ChaCha20Poly1305::with_level(&secret(), levels.lanes), &[12], extent);
        aead(&XChaCha20Poly1305::with_level(&secret(), levels.lanes), &[24], extent);
        let key = ChaCha20Poly1305::with_level(&secret(), levels.lanes);
        let nonce = &[1; 12];
        in_pieces(
            extent,
            1,
            |_| key.sealer(nonce).expect("12"),
            |_| key.opener(nonce).expect("12"),
        );
    }),
    ("batches of ChaCha20-Poly1305", |levels, extent| {
        let level = levels.lanes;
        let keys = array::from_fn(|_| ChaCha20Poly1305::with_level(&secret(), level));
        messages(&keys, 12, extent);
        let keys = array::from_fn(|_| XChaCha20Poly1305::with_level(&secret(), level));
        messages(&keys, 24, extent);
    }),
];

fn chacha(levels: Levels, extent: Extent) {
    // Poly1305 takes lanes only where there is more.
    for &length in extent.lengths().iter().chain(&[1500]) {
        let mut text = secret_text(length);
        let cipher = ChaCha20::with_level(&secret(), levels.lanes);
        cipher.apply(&[1; 12], 0, &mut text).expect("a short text");
        carried(&mut text);
        let mut poly = Poly1305::with_level(&secret(), levels.lanes);
        poly.update(&text);
        let mut tag = poly.clone().finish();
        carried(&mut tag);
        poly.verify(&tag).expect("the tag");
    }
}

fn hashes<A: Algorithm>(levels: Levels, extent: Extent) {
    for &length in extent.lengths() {
        let text = secret_text(length);
        let mut hash = Hash::<A>::with_level(levels.one);
        text.chunks(37).for_each(|piece| hash.update(piece));
        let mut digest = hash.finish();
        if length > 0 {
            carried(digest.as_mut());
        }
    }
    let texts: Vec<_> = (1..40).map(|number| secret_text(number * 31 % 300 + 1)).collect();
    let mut jobs: Vec<_> = texts.iter().map(|text| HashJob::<A>::new(text)).collect();
    hash_all(levels, &mut jobs);
    for job in &mut jobs {
        carried(job.digest.as_mut());
    }
}

fn hmac<A: Algorithm>(levels: Levels, extent: Extent) {
    let keys = [secret::<16>().to_vec(), secret::<200>().to_vec()];
    for key in keys.map(|key| HmacKey::<A>::with_levels(levels, &key)) {
        for &length in extent.lengths() {
            let text = secret_text(length);
            let mut tag = key.tag(&text);
            carried(tag.as_mut());
            key.verify(&text, tag.as_ref()).expect("the tag");
            for place in extent.places(tag.as_ref().len()) {
                let mut wrong = tag;
                wrong.as_mut()[place] ^= 1;
                assert_eq!(key.verify(&text, wrong.as_ref()), Err(Error::Authentication));
            }
        }
    }
}

fn hmac_in_lanes<A: Algorithm>(levels: Levels, _: Extent) {
    let keys: Vec<_> =
        (0..40).map(|_| HmacKey::<A>::with_levels(levels, &secret::<32>())).collect();
    let texts: Vec<_> = (0..40).map(|number| secret_text(number * 31 % 300)).collect();
    let mut jobs: Vec<_> =
        keys.iter().zip(&texts).map(|(key, text)| HmacJob::new(key, text)).collect();
    hmac_all(&mut jobs);
    for job in &mut jobs {
        carried(job.tag.as_mut());
    }
}

fn hkdf<A: Algorithm>(levels: Levels, _: Extent) {
    let key = Hkdf::<A>::extract_with(levels, b"salt", &secret::<32>());
    let mut output = [0; 100];
    key.expand(b"info", &mut output).expect("a short output");
    carried(&mut output);
}

fn pbkdf2<A: Algorithm>(levels: Levels, _: Extent) {
    for count in [1, 40] {
        let passwords: Vec<_> = (0..count).map(|number| secret_text(8 + number)).collect();
        let mut keys = vec![[0; 40]; count];
        let mut jobs: Vec<_> = passwords
            .iter()
            .zip(&mut keys)
            .map(|(password, key)| Pbkdf2Job {
                password,
                salt: b"a salt",
                iterations: NonZeroU32::MIN.saturating_add(4),
                key,
            })
            .collect();
        pbkdf2_all::<A>(levels, &mut jobs);
        for key in &mut keys {
            carried(key);
        }
    }
}

fn kmac(levels: Levels, extent: Extent) {
    for &length in extent.lengths() {
        let mut kmac = Kmac::<168>::with_level(levels.one, &secret::<32>(), b"");
        kmac.update(&secret_text(length));
        let mut tag = [0; 32];
        kmac.clone().finish(&mut tag);
        carried(&mut tag);
        kmac.clone().verify(&tag).expect("the tag");
        for place in extent.places(32) {
            let mut wrong = tag;
            wrong[place] ^= 1;
            assert_eq!(kmac.clone().verify(&wrong), Err(Error::Authentication));
        }
    }
}
