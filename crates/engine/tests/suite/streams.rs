//! Sealers, openers and MACs that take a message piece by piece: those of all algorithms in one list, as a
//! program holds them that chooses the algorithm at run time.

use crate::support::levels;
use lanelock::{
    Aes128Cmac, AesLevel, Error,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm, Aes256Gcm, Aes256Ocb3,
        Opener, Sealer, Stream,
    },
    hash::{Ghash, Polyval},
};
use lanelock_testkit::Rng;

/// A key of any algorithm that takes messages piece by piece.
trait Streams: Aead {
    fn nonce_length(&self) -> usize;
    fn sealer_for(&self, message: &Message) -> Box<Sealer<dyn Stream + '_>>;
    fn opener_for(&self, message: &Message) -> Box<Opener<dyn Stream + '_>>;
}

macro_rules! streams {
    ($($key:ident $bytes:literal, $nonce:literal $(, $announced:ident)?;)+) => {
        $(
            impl Streams for $key {
                fn nonce_length(&self) -> usize {
                    $nonce
                }

                fn sealer_for(&self, message: &Message) -> Box<Sealer<dyn Stream + '_>> {
                    Box::new(streams!(sealer self, message $(, $announced)?).unwrap())
                }

                fn opener_for(&self, message: &Message) -> Box<Opener<dyn Stream + '_>> {
                    Box::new(streams!(opener self, message $(, $announced)?).unwrap())
                }
            }
        )+

        /// A key of each algorithm.
        fn keys(rng: &mut Rng, level: AesLevel) -> Vec<(&'static str, Box<dyn Streams>)> {
            vec![$((stringify!($key), Box::new($key::with_level(&rng.array::<$bytes>(), level).with_tag_length(16).unwrap()))),+]
        }
    };
    ($call:ident $self:ident, $message:ident) => {
        $self.$call(&$message.nonce[..$self.nonce_length()])
    };
    ($call:ident $self:ident, $message:ident, announced) => {
        $self.$call(
            &$message.nonce[..$self.nonce_length()],
            $message.aad.len() as u64,
            $message.text.len() as u64,
        )
    };
}

streams! {
    Aes128Gcm 16, 12;
    Aes192Gcm 24, 12;
    Aes256Gcm 32, 12;
    Aes128Ccm 16, 12, announced;
    Aes192Ccm 24, 12, announced;
    Aes256Ccm 32, 12, announced;
    Aes128Ocb3 16, 12;
    Aes192Ocb3 24, 12;
    Aes256Ocb3 32, 12;
    Aegis128L 16, 16;
    Aegis128X2 16, 16;
    Aegis128X4 16, 16;
    Aegis256 32, 32;
    Aegis256X2 32, 32;
    Aegis256X4 32, 32;
}

struct Message {
    nonce: [u8; 32],
    aad: Vec<u8>,
    text: Vec<u8>,
}

impl Message {
    fn random(rng: &mut Rng) -> Self {
        let (aad, text) = (rng.below(100), rng.below(1500));
        Self { nonce: rng.array(), aad: rng.bytes(aad), text: rng.bytes(text) }
    }
}

/// Pieces of `text`; whole blocks but for the last, since OCB3 takes no more behind a partial one.
fn pieces<'a>(rng: &mut Rng, name: &str, text: &'a [u8]) -> Vec<&'a [u8]> {
    if !name.ends_with("Ocb3") {
        return rng.splits(text);
    }
    let (first, rest) = text.split_at(rng.below(text.len() / 16 + 1) * 16);
    vec![&[], first, &[], rest]
}

/// All algorithms in one list: pieces make what one call makes, and a finished one takes no more.
#[test]
fn all_behind_one_type() {
    let mut rng = Rng::from_env("all_behind_one_type");
    for level in levels() {
        let keys = keys(&mut rng, level);
        for _ in 0..20 {
            let message = Message::random(&mut rng);
            let whole: Vec<_> = keys
                .iter()
                .map(|(_, key)| {
                    let nonce = &message.nonce[..key.nonce_length()];
                    key.seal_vec(nonce, &message.aad, &message.text).unwrap()
                })
                .collect();
            let mut sealers: Vec<_> =
                keys.iter().map(|(_, key)| key.sealer_for(&message)).collect();
            let mut openers: Vec<_> =
                keys.iter().map(|(_, key)| key.opener_for(&message)).collect();
            for (i, (name, _)) in keys.iter().enumerate() {
                let what = format!("{name} at {level}, {} bytes", message.text.len());
                let sealed = sealed_by(&mut sealers[i], &mut rng, name, &message);
                assert_eq!(sealed, whole[i], "{what}");
                let text = opened_by(&mut openers[i], &mut rng, name, &message, &whole[i]);
                assert_eq!(text.as_ref(), Ok(&message.text), "{what}");
            }
            for (sealer, opener) in sealers.iter_mut().zip(&mut openers) {
                spent(sealer, opener);
            }
        }
    }
}

fn sealed_by(
    sealer: &mut Sealer<dyn Stream + '_>,
    rng: &mut Rng,
    name: &str,
    message: &Message,
) -> Vec<u8> {
    for piece in &rng.splits(&message.aad) {
        sealer.aad(piece).unwrap();
    }
    let mut sealed = Vec::new();
    for piece in pieces(rng, name, &message.text) {
        let mut piece = piece.to_vec();
        sealer.update(&mut piece).unwrap();
        sealed.extend(piece);
    }
    // A tag of another length is refused, and nothing is lost.
    assert_eq!(sealer.finish(&mut [0; 15]), Err(Error::TagLength), "{name}");
    let mut tag = [0; 16];
    sealer.finish(&mut tag).unwrap();
    sealed.extend(tag);
    sealed
}

fn opened_by(
    opener: &mut Opener<dyn Stream + '_>,
    rng: &mut Rng,
    name: &str,
    message: &Message,
    sealed: &[u8],
) -> Result<Vec<u8>, Error> {
    let (ciphertext, tag) = sealed.split_at(message.text.len());
    for piece in &rng.splits(&message.aad) {
        opener.aad(piece).unwrap();
    }
    for piece in &pieces(rng, name, ciphertext) {
        opener.update(piece).unwrap();
    }
    assert_eq!(opener.finish(&tag[1..]), Err(Error::TagLength), "{name}");
    opener.finish(tag)
}

/// Every call is an error, and writes nothing.
fn spent(sealer: &mut Sealer<dyn Stream + '_>, opener: &mut Opener<dyn Stream + '_>) {
    let (mut text, mut tag) = ([7; 5], [8; 16]);
    assert_eq!(sealer.aad(b"more"), Err(Error::Finished));
    assert_eq!(sealer.aad(b""), Err(Error::Finished));
    assert_eq!(sealer.update(&mut text), Err(Error::Finished));
    assert_eq!(sealer.update(&mut []), Err(Error::Finished));
    assert_eq!(sealer.finish(&mut tag), Err(Error::Finished));
    assert_eq!(sealer.finish(&mut []), Err(Error::Finished));
    assert_eq!((text, tag), ([7; 5], [8; 16]));
    assert_eq!(opener.aad(b"more"), Err(Error::Finished));
    assert_eq!(opener.update(&text), Err(Error::Finished));
    assert_eq!(opener.finish(&tag), Err(Error::Finished));
    assert!(format!("{sealer:?} {opener:?}").matches("Finished").count() == 2);
}

/// A wrong tag gives no plaintext, and the right one behind it does not either.
#[test]
fn a_failed_opening_is_the_end() {
    let mut rng = Rng::from_env("a_failed_opening_is_the_end");
    for level in levels() {
        for (name, key) in keys(&mut rng, level) {
            let message = Message::random(&mut rng);
            let nonce = &message.nonce[..key.nonce_length()];
            let sealed = key.seal_vec(nonce, &message.aad, &message.text).unwrap();
            let mut forged = sealed.clone();
            forged[message.text.len() + rng.below(16)] ^= 1 << rng.below(8);
            let mut opener = key.opener_for(&message);
            let result = opened_by(&mut opener, &mut rng, name, &message, &forged);
            assert_eq!(result, Err(Error::Authentication), "{name} at {level}");
            let tag = &sealed[message.text.len()..];
            assert_eq!(opener.finish(tag), Err(Error::Finished), "{name} at {level}");
            assert_eq!(opener.update(&[1; 16]), Err(Error::Finished), "{name} at {level}");
            assert!(format!("{opener:?}").contains("plaintext: (0 bytes)"), "{opener:?}");
        }
    }
}

/// A MAC with a nonce ends with its tag, right or wrong.
#[test]
fn macs_with_a_nonce_end() {
    macro_rules! end {
        ($($aegis:ident $bytes:literal)+) => {$(
            let key = $aegis::new(&[7; $bytes]).unwrap().with_tag_length(16).unwrap();
            let mut tag = [0; 16];
            let fresh = key.mac_stream(&[1; $bytes]).unwrap();
            let mut stream = fresh.clone();
            stream.update(b"message").unwrap();
            assert_eq!(stream.finish(&mut [0; 15]), Err(Error::TagLength));
            stream.finish(&mut tag).unwrap();
            let mut whole = [0; 16];
            key.mac(&[1; $bytes], b"message", &mut whole).unwrap();
            assert_eq!(tag, whole);
            assert_eq!(stream.update(b"more"), Err(Error::Finished));
            assert_eq!(stream.finish(&mut tag), Err(Error::Finished));
            assert_eq!(stream.verify(&tag), Err(Error::Finished));
            assert_eq!(tag, whole);
            let mut stream = fresh.clone();
            stream.update(b"another").unwrap();
            assert_eq!(stream.verify(&tag), Err(Error::Authentication));
            assert_eq!(stream.verify(&tag), Err(Error::Finished));
        )+};
    }
    end!(Aegis128L 16 Aegis128X2 16 Aegis128X4 16 Aegis256 32 Aegis256X2 32 Aegis256X4 32);
}

/// What has no nonce starts anew: a stream serves for many messages.
#[test]
fn macs_and_hashes_without_a_nonce_start_anew() {
    let mut rng = Rng::from_env("macs_and_hashes_without_a_nonce_start_anew");
    let cmac = Aes128Cmac::new(&rng.array()).unwrap();
    let h = rng.array();
    let (mut ghash, mut polyval) = (Ghash::new(&h).unwrap(), Polyval::new(&h).unwrap());
    let mut stream = Box::new(cmac.stream());
    for length in [0, 1, 15, 16, 17, 100] {
        let message = rng.bytes(length);
        stream.update(&message);
        assert_eq!(stream.finish(), cmac.mac(&message), "{length}");
        stream.update(&message);
        stream.verify(&cmac.mac(&message)).unwrap();
        stream.update(&message);
        assert_eq!(stream.verify(&[0; 16]), Err(Error::Authentication));
        let mut fresh = (Ghash::new(&h).unwrap(), Polyval::new(&h).unwrap());
        for hash in [&mut ghash, &mut fresh.0] {
            hash.update(&message);
        }
        for hash in [&mut polyval, &mut fresh.1] {
            hash.update(&message);
        }
        assert_eq!(ghash.finish(), fresh.0.finish(), "{length}");
        assert_eq!(polyval.finish(), fresh.1.finish(), "{length}");
    }
}
