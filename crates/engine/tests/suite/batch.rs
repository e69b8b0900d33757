//! Batches of messages against the same messages one by one.

use crate::support::forms;
use lanelock::{
    AesLevel, Error,
    aead::{
        Aead as _, Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Gcm, Aes192Ocb3,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3,
        batch::{self, Batch, Message},
    },
};
use lanelock_testkit::Rng;

/// The lengths of a batch: all alike, or as they come.
enum Lengths {
    Alike,
    Mixed,
}

/// Seals and opens batches with one to three keys, and changes a few messages in between.
fn check<A: Batch>(rng: &mut Rng, make: impl Fn(&mut Rng) -> A, nonces: &[usize]) {
    for round in 0..60 {
        let keys: Vec<A> = (0..=rng.below(3)).map(|_| make(rng)).collect();
        let lengths = if round % 2 == 0 { Lengths::Alike } else { Lengths::Mixed };
        let (text, aad) = (rng.below(300), rng.below(40));
        let count = *rng.pick(&[0, 1, 2, 5, 16, 17, 64, 150]);
        let mut plain = Vec::new();
        for _ in 0..count {
            let (text, aad) = match lengths {
                Lengths::Alike => (text, aad),
                Lengths::Mixed => (rng.below(400), rng.below(100)),
            };
            let nonce = *rng.pick(nonces);
            plain.push((rng.below(keys.len()), rng.bytes(nonce), rng.bytes(aad), rng.bytes(text)));
        }
        let mut data: Vec<Vec<u8>> = plain.iter().map(|(.., text)| text.clone()).collect();
        let mut tags: Vec<Vec<u8>> =
            plain.iter().map(|(key, ..)| vec![0; keys[*key].tag_length()]).collect();
        let mut messages: Vec<_> = plain
            .iter()
            .zip(data.iter_mut().zip(&mut tags))
            .map(|((key, nonce, aad, _), (data, tag))| {
                Message::new(&keys[*key], nonce, aad, data, tag)
            })
            .collect();
        batch::seal(&mut messages).unwrap();
        for (((key, nonce, aad, text), data), tag) in plain.iter().zip(&data).zip(&tags) {
            let expected = keys[*key].seal_vec(nonce, aad, text).unwrap();
            assert_eq!([&data[..], tag].concat(), expected, "{} + {} bytes", aad.len(), text.len());
        }
        // Forge some.
        let forged: Vec<bool> = (0..count).map(|_| rng.one_in(5)).collect();
        for ((data, tag), forged) in data.iter_mut().zip(&mut tags).zip(&forged) {
            if *forged {
                match rng.below(data.len() + 1) {
                    0 => {
                        let at = rng.below(tag.len());
                        tag[at] ^= 1 << rng.below(8);
                    }
                    at => data[at - 1] ^= 1 << rng.below(8),
                }
            }
        }
        let mut messages: Vec<_> = plain
            .iter()
            .zip(data.iter_mut().zip(&mut tags))
            .map(|((key, nonce, aad, _), (data, tag))| {
                Message::new(&keys[*key], nonce, aad, data, tag)
            })
            .collect();
        let all = batch::open(&mut messages);
        assert_eq!(all.is_err(), forged.contains(&true));
        for (message, forged) in messages.iter().zip(&forged) {
            assert_eq!(message.result, if *forged { Err(Error::Authentication) } else { Ok(()) });
        }
        for (((.., text), data), forged) in plain.iter().zip(&data).zip(&forged) {
            if *forged {
                assert!(data.iter().all(|byte| *byte == 0), "plaintext left");
            } else {
                assert_eq!(data, text);
            }
        }
    }
}

fn at_every_level(name: &str, f: impl Fn(&mut Rng, AesLevel)) {
    let mut rng = Rng::from_env(name);
    for level in forms() {
        f(&mut rng, level);
    }
}

#[test]
fn gcm() {
    at_every_level("gcm", |rng, level| {
        check(rng, |rng| Aes128Gcm::with_level(&rng.array(), level), &[12, 12, 12, 8, 16]);
        check(rng, |rng| Aes192Gcm::with_level(&rng.array(), level), &[12]);
        let short =
            |rng: &mut Rng| Aes256Gcm::with_level(&rng.array(), level).with_tag_length(13).unwrap();
        check(rng, short, &[12]);
    });
}

#[test]
fn gcm_siv() {
    at_every_level("gcm_siv", |rng, level| {
        check(rng, |rng| Aes128GcmSiv::with_level(&rng.array(), level), &[12]);
        check(rng, |rng| Aes256GcmSiv::with_level(&rng.array(), level), &[12]);
    });
}

#[test]
fn ocb3() {
    at_every_level("ocb3", |rng, level| {
        let nonces = [12, 12, 12, 1, 8, 15];
        check(rng, |rng| Aes128Ocb3::with_level(&rng.array(), level), &nonces);
        check(rng, |rng| Aes192Ocb3::with_level(&rng.array(), level), &[12]);
        let short =
            |rng: &mut Rng| Aes256Ocb3::with_level(&rng.array(), level).with_tag_length(8).unwrap();
        check(rng, short, &nonces);
    });
}

/// A message, the place of its key, and what a peer makes of it: OpenSSL, or where that is missing the portable level.
type Sealed = (usize, [u8; 12], Vec<u8>, Vec<u8>);

/// The longest text of the pairs.
const LONGEST: usize = 300;

/// Every length of text from 0 to 300 beside every other, with AAD of one block, none, a part of one and more than
/// one; with one key and with several; in groups of pairs and all together; one wrong tag among them. What a peer
/// sealed is what every level has to give. A run that is not long takes some of the pairs.
#[test]
fn gcm_of_every_pair_of_lengths() {
    const AADS: [usize; 5] = [0, 8, 13, 16, 20];
    batch::prefer_lanes(true);
    let mut rng = Rng::from_env("gcm_of_every_pair_of_lengths");
    let secrets: [[u8; 16]; 3] = core::array::from_fn(|_| rng.array());
    let text = rng.bytes(LONGEST);
    let mut openssl = lanelock_testkit::openssl();
    let portable = "portable".parse().unwrap();
    for several in [false, true] {
        let sealed: Vec<[Sealed; AADS.len()]> = (0..=LONGEST)
            .map(|length| {
                AADS.map(|aad| {
                    let key = if several { (length + aad) % 3 } else { 0 };
                    let (nonce, aad, text): ([u8; 12], _, _) =
                        (rng.array(), rng.bytes(aad), &text[..length]);
                    let sealed = match &mut openssl {
                        Some(peer) => {
                            peer.seal("aes-128-gcm", &secrets[key], &nonce, &aad, text, 16)
                        }
                        None => Aes128Gcm::with_level(&secrets[key], portable)
                            .seal_vec(&nonce, &aad, text)
                            .unwrap(),
                    };
                    (key, nonce, aad, sealed)
                })
            })
            .collect();
        for level in forms() {
            let keys = secrets.map(|secret| Aes128Gcm::with_level(&secret, level));
            // The portable level takes a hundred times as long.
            let step = match (level.name() == "portable", lanelock_testkit::is_long()) {
                (true, _) => 37,
                (false, true) => 1,
                (false, false) => 5,
            };
            for a in (0..=LONGEST).step_by(step) {
                for b in (a / step % step..=LONGEST).step_by(step) {
                    // Lanes with four, two and none of `a`, since messages of fewer vectors go first.
                    let message = |i: usize| {
                        let aad = (a + 2 * b + i) % AADS.len();
                        &sealed[if i.is_multiple_of(2) { a } else { b }][aad]
                    };
                    let pair: Vec<_> = (0..12).map(message).collect();
                    sealed_together(&keys, &text, &pair);
                    opened_together(&keys, &text, &pair, (a + b) % pair.len());
                }
            }
            let mut all: Vec<&Sealed> = sealed.iter().flatten().collect();
            if level == portable {
                all.truncate(200);
            }
            for _ in 0..3 {
                for i in (1..all.len()).rev() {
                    all.swap(i, rng.below(i + 1));
                }
                sealed_together(&keys, &text, &all);
                opened_together(&keys, &text, &all, rng.below(all.len()));
            }
        }
    }
}

fn sealed_together(keys: &[Aes128Gcm], text: &[u8], sealed: &[&Sealed]) {
    let mut data: Vec<Vec<u8>> =
        sealed.iter().map(|(.., sealed)| text[..sealed.len() - 16].to_vec()).collect();
    let mut tags = vec![[0; 16]; sealed.len()];
    let messages = sealed.iter().zip(data.iter_mut().zip(&mut tags));
    let mut messages: Vec<_> = messages
        .map(|((key, nonce, aad, _), (data, tag))| Message::new(&keys[*key], nonce, aad, data, tag))
        .collect();
    batch::seal(&mut messages).unwrap();
    for ((.., sealed), (data, tag)) in sealed.iter().zip(data.iter().zip(&tags)) {
        assert!([data, &tag[..]].concat() == *sealed, "{} bytes", data.len());
    }
}

/// With a wrong tag at the place `wrong`.
fn opened_together(keys: &[Aes128Gcm], text: &[u8], sealed: &[&Sealed], wrong: usize) {
    let mut parts: Vec<(Vec<u8>, Vec<u8>)> = sealed
        .iter()
        .map(|(.., sealed)| {
            let (data, tag) = sealed.split_at(sealed.len() - 16);
            (data.to_vec(), tag.to_vec())
        })
        .collect();
    parts[wrong].1[wrong % 16] ^= 1;
    let messages = sealed.iter().zip(&mut parts);
    let mut messages: Vec<_> = messages
        .map(|((key, nonce, aad, _), (data, tag))| Message::new(&keys[*key], nonce, aad, data, tag))
        .collect();
    assert_eq!(batch::open(&mut messages), Err(Error::Authentication));
    for (i, message) in messages.iter().enumerate() {
        let length = message.data.len();
        if i == wrong {
            assert_eq!(message.result, Err(Error::Authentication));
            assert!(message.data.iter().all(|byte| *byte == 0), "plaintext left");
        } else {
            assert_eq!(message.result, Ok(()), "{length} bytes");
            assert!(*message.data == text[..length], "{length} bytes");
        }
    }
}

/// Keys of different levels may meet in a batch.
#[test]
fn levels_mix() {
    let levels = forms();
    let mut rng = Rng::from_env("levels_mix");
    let level = |rng: &mut Rng| *rng.pick(&levels);
    for turn in 0..8 {
        batch::prefer_lanes(turn % 2 == 0);
        check(&mut rng, |rng| Aes128Gcm::with_level(&rng.array(), level(rng)), &[12]);
        check(&mut rng, |rng| Aes128GcmSiv::with_level(&rng.array(), level(rng)), &[12]);
        check(&mut rng, |rng| Aes128Ccm::with_level(&rng.array(), level(rng)), &[12]);
        check(&mut rng, |rng| Aes128Ocb3::with_level(&rng.array(), level(rng)), &[12]);
    }
}

/// What is wrong with one message is told of that one, and the others are done.
#[test]
fn a_bad_message_is_its_own_affair() {
    let key = Aes128Gcm::new(&[1; 16]).unwrap();
    let mut data = [[7; 20]; 3];
    let [a, b, c] = &mut data;
    let mut tags = [[0; 16]; 3];
    let [x, y, z] = &mut tags;
    let mut messages = [
        Message::new(&key, &[0; 12], b"", a, x),
        Message::new(&key, &[], b"", b, y),
        Message::new(&key, &[2; 12], b"", c, &mut z[..12]),
    ];
    assert_eq!(batch::seal(&mut messages), Err(Error::NonceLength));
    let results = messages.map(|message| message.result);
    assert_eq!(results, [Ok(()), Err(Error::NonceLength), Err(Error::TagLength)]);
    assert_ne!(data[0], [7; 20]);
    assert_eq!(data[1..], [[7; 20]; 2]);
}

/// Results, tags and texts are those of this call and this message: not of the message that was in the
/// same lane before, nor of an earlier call with the same messages.
fn nothing_is_stale<A: Batch>(what: &str, key: &A) {
    const COUNT: usize = 150; // more than are looked at together
    for length in [0_usize, 13, 16, 45, 256] {
        let plain: Vec<u8> = (0..length).map(|i| i.to_le_bytes()[0]).collect();
        let nonces: Vec<[u8; 12]> = (0..COUNT).map(|i| [i.to_le_bytes()[0]; 12]).collect();
        let sealed: Vec<_> =
            nonces.iter().map(|nonce| key.seal_vec(nonce, b"aad", &plain).unwrap()).collect();
        let (mut data, mut tags) = (vec![plain.clone(); COUNT], vec![vec![0; 16]; COUNT]);
        let mut messages: Vec<_> = nonces
            .iter()
            .zip(data.iter_mut().zip(&mut tags))
            .map(|(nonce, (data, tag))| Message::new(key, nonce, b"aad", data, tag))
            .collect();
        // All forged, then every third, then none, then all again, and sealing in between.
        for (turn, every) in [1, 3, usize::MAX, 1, 2, usize::MAX].into_iter().enumerate() {
            let what = format!("{what}, {length} bytes, turn {turn}");
            let forged = |i: usize| every != usize::MAX && i.is_multiple_of(every);
            for (i, (message, sealed)) in messages.iter_mut().zip(&sealed).enumerate() {
                let (text, tag) = sealed.split_at(length);
                message.data.copy_from_slice(text);
                message.tag.copy_from_slice(tag);
                message.tag[i % 16] ^= u8::from(forged(i));
                // Whatever stands there before.
                message.result = Err(Error::KeyExhausted);
            }
            let all = batch::open(&mut messages);
            assert_eq!(all.is_err(), every != usize::MAX, "{what}");
            for (i, message) in messages.iter().enumerate() {
                if forged(i) {
                    assert_eq!(message.result, Err(Error::Authentication), "{what}, message {i}");
                    assert!(message.data.iter().all(|byte| *byte == 0), "{what}, message {i}");
                } else {
                    assert_eq!(message.result, Ok(()), "{what}, message {i}");
                    assert_eq!(message.data, plain, "{what}, message {i}");
                }
            }
            for message in &mut messages {
                message.data.copy_from_slice(&plain);
                message.tag.fill(0);
            }
            batch::seal(&mut messages).unwrap();
            for (i, (message, sealed)) in messages.iter().zip(&sealed).enumerate() {
                assert_eq!(message.result, Ok(()), "{what}, message {i}");
                assert_eq!(
                    [&*message.data, &*message.tag].concat(),
                    *sealed,
                    "{what}, message {i}"
                );
            }
        }
    }
}

#[test]
fn nothing_is_left_of_earlier_messages() {
    for level in forms() {
        let gcm = Aes128Gcm::with_level(&[1; 16], level);
        nothing_is_stale(&format!("GCM, {level}"), &gcm);
        let siv = Aes256GcmSiv::with_level(&[2; 32], level);
        nothing_is_stale(&format!("GCM-SIV, {level}"), &siv);
        let ccm = Aes128Ccm::with_level(&[3; 16], level);
        nothing_is_stale(&format!("CCM, {level}"), &ccm);
        let ocb3 = Aes192Ocb3::with_level(&[4; 24], level);
        nothing_is_stale(&format!("OCB3, {level}"), &ocb3);
    }
}

/// A message that is wrong keeps its own result when those around it travel together.
#[test]
fn a_wrong_length_is_told_of_its_message() {
    for level in forms() {
        let key = Aes128GcmSiv::with_level(&[1; 16], level);
        let (nonce, short) = ([7; 12], [7; 11]);
        let (mut data, mut tags) = ([[3; 20]; 40], [[0; 16]; 40]);
        let mut messages: Vec<_> = data
            .iter_mut()
            .zip(&mut tags)
            .enumerate()
            .map(|(i, (data, tag))| {
                let nonce = if i % 5 == 4 { &short[..] } else { &nonce };
                Message::new(&key, nonce, b"", data, tag)
            })
            .collect();
        for _ in 0..2 {
            assert_eq!(batch::seal(&mut messages), Err(Error::NonceLength));
            for (i, message) in messages.iter().enumerate() {
                let expected = if i % 5 == 4 { Err(Error::NonceLength) } else { Ok(()) };
                assert_eq!(message.result, expected, "{level}, message {i}");
            }
        }
    }
}
