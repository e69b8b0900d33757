//! OCB3: published vectors at every level, levels against one another, OpenSSL.

use crate::support::levels;
use lanelock::SizedCipher;
use lanelock::{
    AesLevel, Error, InOut,
    aead::{Aead, Aes128Ocb3, Aes192Ocb3, Aes256Ocb3, Ocb3},
};
use lanelock_testkit::{self as testkit, AeadCase, Rng};

/// Calls `$body` with `$key` bound to the key object of the right size.
macro_rules! with_key {
    ($bytes:expr, $level:expr, |$key:ident| $body:expr) => {
        match $bytes.len() {
            16 => {
                let $key = Aes128Ocb3::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            24 => {
                let $key = Aes192Ocb3::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
            _ => {
                let $key = Aes256Ocb3::with_level(&$bytes[..].try_into().unwrap(), $level);
                $body
            }
        }
    };
}

/// `length` in a few pieces, whole blocks all but the last.
fn pieces_of_blocks(rng: &mut Rng, length: usize) -> Vec<usize> {
    let mut pieces = Vec::new();
    let mut rest = length;
    for _ in 0..rng.below(8) {
        let piece = 16 * rng.below(rest / 16 + 1);
        pieces.push(piece);
        rest -= piece;
    }
    pieces.push(rest);
    pieces
}

/// Seals and opens piece by piece: the result is that of all at once.
fn check_pieces<C: SizedCipher>(key: &Ocb3<C>, case: &AeadCase, rng: &mut Rng)
where
    Ocb3<C>: Aead,
{
    let what = format!("{} {} at {}, in pieces", case.source, case.name, key.level());
    let mut sealer = key.sealer(&case.nonce).expect(&what);
    let mut opener = key.opener(&case.nonce).expect(&what);
    for piece in rng.splits(&case.aad) {
        sealer.aad(piece).unwrap();
    }
    for piece in rng.splits(&case.aad) {
        opener.aad(piece).unwrap();
    }
    let mut text = case.plaintext.clone();
    let mut rest = &mut text[..];
    for length in pieces_of_blocks(rng, case.plaintext.len()) {
        let (piece, later) = rest.split_at_mut(length);
        sealer.update(piece).unwrap();
        rest = later;
    }
    let mut rest = &case.ciphertext[..];
    for length in pieces_of_blocks(rng, case.ciphertext.len()) {
        let (piece, later) = rest.split_at(length);
        opener.update(piece).unwrap();
        rest = later;
    }
    let mut tag = vec![0; case.tag.len()];
    sealer.finish(&mut tag).unwrap();
    assert_eq!((&text, &tag), (&case.ciphertext, &case.tag), "{what}");
    assert_eq!(opener.finish(&tag).as_ref(), Ok(&case.plaintext), "{what}");
}

fn check<C: SizedCipher>(key: Ocb3<C>, case: &AeadCase, rng: &mut Rng)
where
    Ocb3<C>: Aead,
{
    let key = key.with_tag_length(case.tag.len()).unwrap();
    let what = format!("{} {} at {}", case.source, case.name, key.level());
    let AeadCase { nonce, aad, plaintext, .. } = case;
    let mut sealed = key.seal_vec(nonce, aad, plaintext).expect(&what);
    assert_eq!(sealed, case.sealed(), "{what}");
    assert_eq!(key.open_vec(nonce, aad, &sealed).as_ref(), Ok(plaintext), "{what}");
    check_pieces(&key, case, rng);
    let bit = rng.below(8 * sealed.len());
    sealed[bit / 8] ^= 1 << (bit % 8);
    assert_eq!(key.open_vec(nonce, aad, &sealed), Err(Error::Authentication), "{what}");
}

#[test]
fn published_vectors() {
    let mut rng = Rng::from_env("published_vectors");
    let cases =
        [testkit::ocb3::rfc7253(), testkit::ocb3::long_nonces(), testkit::ocb3::openssl()].concat();
    assert_eq!(cases.len(), 72);
    for level in levels() {
        for case in &cases {
            with_key!(case.key, level, |key| check(key, case, &mut rng));
        }
    }
}

/// The iterated test of RFC 7253, appendix A.
fn iterated<C: SizedCipher>(key: &Ocb3<C>) -> Vec<u8>
where
    Ocb3<C>: Aead,
{
    let nonce = |number: u32| [[0; 8].as_slice(), &number.to_be_bytes()].concat();
    let mut sealed = Vec::new();
    for i in 0..128 {
        let s = vec![0; i as usize];
        sealed.extend(key.seal_vec(&nonce(3 * i + 1), &s, &s).unwrap());
        sealed.extend(key.seal_vec(&nonce(3 * i + 2), &[], &s).unwrap());
        sealed.extend(key.seal_vec(&nonce(3 * i + 3), &s, &[]).unwrap());
    }
    assert_eq!(sealed.len(), 16256 + 384 * key.tag_length());
    key.seal_vec(&nonce(385), &sealed, &[]).unwrap()
}

#[test]
fn the_iterated_test_of_the_rfc() {
    let results = testkit::ocb3::rfc7253_iterated();
    assert_eq!(results.len(), 9);
    for level in levels() {
        for result in &results {
            let mut key = vec![0; result.key_bits / 8];
            *key.last_mut().unwrap() = result.tag_bits as u8;
            with_key!(key, level, |key| {
                let key = key.with_tag_length(result.tag_bits / 8).unwrap();
                assert_eq!(iterated(&key), result.tag, "{key:?}, {} bits", result.tag_bits);
            });
        }
    }
}

/// A message at an odd place, in place and from one buffer to another, and forged.
fn compare<C: SizedCipher>(soft: &Ocb3<C>, hard: &Ocb3<C>, rng: &mut Rng, length: usize, aad: usize)
where
    Ocb3<C>: Aead,
{
    let what = format!("{length} bytes, {aad} of AAD, {hard:?}");
    let nonce = rng.bytes(*rng.clone().pick(&[12, 12, 12, 1, 7, 15]));
    let (aad_at, offset) = (rng.below(64), rng.below(64));
    let aad = rng.bytes(aad_at + aad);
    let aad = &aad[aad_at..];
    let mut data = rng.bytes(length + 128);
    let plain = data.clone();
    let mut expected = vec![0; length];
    let mut tag = vec![0; soft.tag_length()];
    let mut other = tag.clone();
    let from = InOut::new(&plain[offset..][..length], &mut expected).unwrap();
    soft.seal_inout(&nonce, aad, from, &mut tag).unwrap();
    hard.seal(&nonce, aad, &mut data[offset..][..length], &mut other).unwrap();
    assert_eq!(data[offset..][..length], expected, "{what}");
    assert_eq!(tag, other, "{what}");
    assert_eq!(data[..offset], plain[..offset]);
    assert_eq!(data[offset + length..], plain[offset + length..]);
    hard.open(&nonce, aad, &mut data[offset..][..length], &tag).unwrap();
    assert_eq!(data, plain, "{what}");
    let mut opened = vec![0x55; length];
    let from = InOut::new(&expected[..], &mut opened).unwrap();
    hard.open_inout(&nonce, aad, from, &tag).unwrap();
    assert_eq!(opened, plain[offset..][..length], "{what}");
    let from = InOut::new(&expected[..], &mut opened).unwrap();
    let bit = rng.below(8 * tag.len());
    tag[bit / 8] ^= 1 << (bit % 8);
    assert_eq!(hard.open_inout(&nonce, aad, from, &tag), Err(Error::Authentication), "{what}");
    assert_eq!(opened, vec![0; length], "{what}");
}

/// Every length; and of AAD too, with every length of text that a vector does not fill.
fn compare_lengths<C: SizedCipher>(soft: &Ocb3<C>, hard: &Ocb3<C>, rng: &mut Rng)
where
    Ocb3<C>: Aead,
{
    for length in (0..=1100).chain([2047, 2048, 4096 + 15]) {
        compare(soft, hard, rng, length, length % 77);
    }
    for aad in (0..=1100).chain([2047, 2048, 4096 + 15]) {
        compare(soft, hard, rng, aad % 81, aad);
    }
}

#[test]
fn levels_agree() {
    let mut rng = Rng::from_env("levels_agree");
    let soft = "portable".parse::<AesLevel>().unwrap();
    for hard in levels() {
        let key = rng.bytes(32);
        for (length, tag) in [(16, 16), (24, 12), (32, 8)] {
            let key = &key[..length];
            macro_rules! both {
                ($type:ident) => {{
                    let [soft, hard] = [soft, hard].map(|level| {
                        let key = $type::with_level(key.try_into().unwrap(), level);
                        key.with_tag_length(tag).unwrap()
                    });
                    compare_lengths(&soft, &hard, &mut rng);
                }};
            }
            match length {
                16 => both!(Aes128Ocb3),
                24 => both!(Aes192Ocb3),
                _ => both!(Aes256Ocb3),
            }
        }
        assert_eq!(lanelock::last_level_run(), Some(hard));
    }
}

/// Pieces begin and end at any block.
#[test]
fn pieces_are_the_whole() {
    let mut rng = Rng::from_env("pieces_are_the_whole");
    for level in levels() {
        for round in 0..200 {
            let key = rng.bytes(*rng.clone().pick(&[16, 24, 32]));
            let (aad, length) = (rng.below(3000), rng.below(3000));
            with_key!(key, level, |k| {
                let mut case = AeadCase {
                    source: "random",
                    name: format!("{round}"),
                    key: key.clone(),
                    nonce: rng.bytes(12),
                    aad: rng.bytes(aad),
                    plaintext: rng.bytes(length),
                    ciphertext: Vec::new(),
                    tag: Vec::new(),
                    valid: true,
                };
                case.ciphertext = k.seal_vec(&case.nonce, &case.aad, &case.plaintext).unwrap();
                case.tag = case.ciphertext.split_off(length);
                check_pieces(&k, &case, &mut rng);
            });
        }
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    if !openssl.has("aes-128-ocb") {
        return testkit::skip(&format!("{} has no AES-OCB", openssl.version()));
    }
    let mut rng = Rng::from_env("openssl_agrees");
    for level in levels() {
        for round in 0..60 {
            let bits = *rng.pick(&[128, 192, 256]);
            let key = rng.bytes(bits / 8);
            let nonce = rng.bytes(*rng.clone().pick(&[12, 12, 1, 8, 15]));
            // The first is so long that offsets need masks which others do not.
            let most = if round == 0 { 300_000 } else { 3000 };
            let (aad, length) = (rng.below(most / 2), most / 2 + rng.below(most / 2));
            let (aad, plaintext) = (rng.bytes(aad), rng.bytes(length));
            let tag = *rng.pick(&[8, 12, 16]);
            with_key!(key, level, |k| {
                let k = k.with_tag_length(tag).unwrap();
                let sealed = k.seal_vec(&nonce, &aad, &plaintext).unwrap();
                let theirs =
                    openssl.seal(&format!("aes-{bits}-ocb"), &key, &nonce, &aad, &plaintext, tag);
                assert_eq!(sealed, theirs, "{level}, {length} bytes");
            });
        }
    }
}

#[test]
fn misuse_is_an_error() {
    let key = Aes128Ocb3::new(&[0; 16]).unwrap();
    for length in [0, 4, 7, 9, 10, 15, 17] {
        assert_eq!(key.clone().with_tag_length(length).err(), Some(Error::TagLength));
    }
    let mut data = *b"not to be changed";
    assert_eq!(key.seal(&[], b"", &mut data, &mut [0; 16]), Err(Error::NonceLength));
    assert_eq!(key.seal(&[0; 16], b"", &mut data, &mut [0; 16]), Err(Error::NonceLength));
    assert_eq!(key.seal(&[0; 12], b"", &mut data, &mut [0; 12]), Err(Error::TagLength));
    assert_eq!(key.open(&[0; 12], b"", &mut data, &[0; 12]), Err(Error::TagLength));
    assert_eq!(key.open(&[], b"", &mut data, &[0; 16]), Err(Error::NonceLength));
    assert_eq!(&data, b"not to be changed");
    assert_eq!(key.open_vec(&[0; 12], b"", &[0; 15]), Err(Error::Authentication));
    assert_eq!(key.seal_to(&[0; 12], b"", &data, &mut [0; 32]), Err(Error::OutputLength));
    assert!(key.sealer(&[]).is_err() && key.opener(&[0; 16]).is_err());
    let mut sealer = key.sealer(&[0; 12]).unwrap();
    sealer.update(&mut data).unwrap();
    assert_eq!(sealer.aad(b"late"), Err(Error::AadLength));
    let sealed = data;
    // The 17 bytes ended with a partial block.
    assert_eq!(sealer.update(&mut data), Err(Error::MessageLength));
    assert_eq!(data, sealed);
    sealer.update(&mut []).unwrap();
    sealer.finish(&mut [0; 16]).unwrap();
}

/// Tags of one length are not the beginning of longer ones.
#[test]
fn the_length_of_the_tag_is_authenticated() {
    let key = Aes256Ocb3::new(&[5; 32]).unwrap();
    let long = key.seal_vec(&[1; 12], b"", b"").unwrap();
    let short = key.with_tag_length(12).unwrap().seal_vec(&[1; 12], b"", b"").unwrap();
    assert_ne!(long[..12], short);
}

#[test]
fn debug_shows_no_key() {
    let key = Aes192Ocb3::with_level(&[0xab; 24], "portable".parse::<AesLevel>().unwrap());
    assert_eq!(format!("{key:?}"), "Aes192Ocb3(portable)");
    assert_eq!(format!("{:?}", key.sealer(&[1; 12]).unwrap()).matches("171").count(), 0);
}
