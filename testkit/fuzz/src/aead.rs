//! AEADs: every level against the portable one and against other implementations; in pieces, from buffer to
//! buffer and in batches against whole messages in place; forgeries.

use aes_gcm::{
    AesGcm,
    aead::{self, KeyInit, Payload},
};
use aes_gcm_siv::AesGcmSiv;
use arbitrary::{Result, Unstructured};
use ccm::consts::{U12, U16};
use lanelock::{
    AesLevel, Error,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, ChaCha20Poly1305, Opener, Sealer, Stream,
        XChaCha20Poly1305,
        batch::{self, Batch, Message},
    },
    hash::HashLevel,
};

use crate::input::{array, bytes, cuts, filled, length};

/// A message that another implementation is asked to seal.
#[derive(Debug)]
pub struct Question<'a> {
    /// `GCM`, `GCM-SIV`, `CCM` or `OCB3`; others have no peer.
    pub algorithm: &'a str,
    /// Its length says which AES.
    pub key: &'a [u8],
    /// The nonce.
    pub nonce: &'a [u8],
    /// The additional authenticated data.
    pub aad: &'a [u8],
    /// The text.
    pub text: &'a [u8],
    /// The bytes of the tag.
    pub tag_length: usize,
}

/// Another implementation: ciphertext and tag, or nothing if it does not take such a message.
pub type Peer = fn(&Question<'_>) -> Option<Vec<u8>>;

/// The target, with one more implementation to compare with.
pub fn aead(data: &[u8], peer: Peer) {
    // An input that ends too early is none.
    let _ = run(data, peer);
}

/// The most bytes of a text: beyond twice the widest group of blocks.
const LONGEST: usize = 800;

/// An algorithm, with what the target needs to know of it.
trait Subject: Aead + Sized {
    /// As in [`Question`].
    const NAME: &str;
    /// The bytes of a key.
    const KEY: usize;
    /// The lengths of tags.
    const TAGS: &[usize];
    /// Pieces of a text but the last are multiples of it.
    const UNIT: usize = 1;

    fn make(key: &[u8; 32], level: AesLevel, tag: usize) -> Self;

    /// For a message in pieces; nothing if the algorithm takes none.
    fn streams(&self, _: &[u8], _aad: usize, _text: usize) -> Option<Streams<'_>> {
        None
    }
}

type Streams<'k> =
    std::result::Result<(Box<Sealer<dyn Stream + 'k>>, Box<Opener<dyn Stream + 'k>>), Error>;

macro_rules! subjects {
    ($($type:ident $name:literal, key $key:literal, tags $tags:expr, unit $unit:literal $(, $length:ident)?;)+) => { $(
        impl Subject for $type {
            const NAME: &str = $name;
            const KEY: usize = $key;
            const TAGS: &[usize] = &$tags;
            const UNIT: usize = $unit;

            fn make(key: &[u8; 32], level: AesLevel, tag: usize) -> Self {
                let key = key.first_chunk().expect("no key is longer");
                Self::with_level(key, level).with_tag_length(tag).expect("one of its lengths")
            }

            fn streams(&self, nonce: &[u8], aad: usize, text: usize) -> Option<Streams<'_>> {
                let _ = (aad, text);
                Some((|| {
                    $(let $length = |length: usize| length as u64;)?
                    Ok((
                        Box::new(self.sealer(nonce $(, $length(aad), $length(text))?)?) as _,
                        Box::new(self.opener(nonce $(, $length(aad), $length(text))?)?) as _,
                    ))
                })())
            }
        }
    )+ };
}

subjects! {
    Aes128Gcm "GCM", key 16, tags [16, 12, 13, 14, 15], unit 1;
    Aes192Gcm "GCM", key 24, tags [16, 12, 13, 14, 15], unit 1;
    Aes256Gcm "GCM", key 32, tags [16, 12, 13, 14, 15], unit 1;
    Aes128Ccm "CCM", key 16, tags [16, 4, 6, 8, 10, 12, 14], unit 1, announced;
    Aes192Ccm "CCM", key 24, tags [16, 4, 6, 8, 10, 12, 14], unit 1, announced;
    Aes256Ccm "CCM", key 32, tags [16, 4, 6, 8, 10, 12, 14], unit 1, announced;
    Aes128Ocb3 "OCB3", key 16, tags [16, 12, 8], unit 16;
    Aes192Ocb3 "OCB3", key 24, tags [16, 12, 8], unit 16;
    Aes256Ocb3 "OCB3", key 32, tags [16, 12, 8], unit 16;
    Aegis128L "AEGIS-128L", key 16, tags [16, 32], unit 1;
    Aegis128X2 "AEGIS-128X2", key 16, tags [16, 32], unit 1;
    Aegis128X4 "AEGIS-128X4", key 16, tags [16, 32], unit 1;
    Aegis256 "AEGIS-256", key 32, tags [16, 32], unit 1;
    Aegis256X2 "AEGIS-256X2", key 32, tags [16, 32], unit 1;
    Aegis256X4 "AEGIS-256X4", key 32, tags [16, 32], unit 1;
}

macro_rules! whole_subjects {
    ($($type:ident $key:literal;)+) => { $(
        impl Subject for $type {
            const NAME: &str = "GCM-SIV";
            const KEY: usize = $key;
            const TAGS: &[usize] = &[16];

            fn make(key: &[u8; 32], level: AesLevel, _: usize) -> Self {
                Self::with_level(key.first_chunk().expect("no key is longer"), level)
            }
        }
    )+ };
}

whole_subjects! {
    Aes128GcmSiv 16;
    Aes256GcmSiv 32;
}

macro_rules! chacha_subjects {
    ($($type:ident $name:literal;)+) => { $(
        impl Subject for $type {
            const NAME: &str = $name;
            const KEY: usize = 32;
            const TAGS: &[usize] = &[16];

            /// At the level of words in the place of that of blocks.
            fn make(key: &[u8; 32], level: AesLevel, _: usize) -> Self {
                let levels = HashLevel::available();
                Self::with_level(key, levels[level.rank().min(levels.len() - 1)])
            }

            fn streams(&self, nonce: &[u8], _: usize, _: usize) -> Option<Streams<'_>> {
                Some((|| {
                    Ok((Box::new(self.sealer(nonce)?) as _, Box::new(self.opener(nonce)?) as _))
                })())
            }
        }
    )+ };
}

chacha_subjects! {
    ChaCha20Poly1305 "ChaCha20-Poly1305";
    XChaCha20Poly1305 "XChaCha20-Poly1305";
}

fn run(data: &[u8], peer: Peer) -> Result<()> {
    let u = &mut Unstructured::new(data);
    let algorithm: u8 = u.arbitrary()?;
    // Mostly a nonce that the algorithm takes.
    let usual = match algorithm % 19 {
        11..=13 => 16,
        14..=16 => 32,
        18 => 24,
        _ => 12,
    };
    let nonce = match u.arbitrary::<u8>()? {
        odd @ 0..=40 => filled(u, odd.into())?,
        _ => filled(u, usual)?,
    };
    let case = Case {
        peer,
        key: array(u)?,
        nonce,
        aad: bytes(u, 300)?,
        text: bytes(u, LONGEST)?,
        flip: u.arbitrary()?,
    };
    match algorithm % 19 {
        0 => case.also_in_batches::<Aes128Gcm>(u),
        1 => case.also_in_batches::<Aes192Gcm>(u),
        2 => case.also_in_batches::<Aes256Gcm>(u),
        3 => case.also_in_batches::<Aes128GcmSiv>(u),
        4 => case.also_in_batches::<Aes256GcmSiv>(u),
        5 => case.also_in_batches::<Aes128Ccm>(u),
        6 => case.also_in_batches::<Aes192Ccm>(u),
        7 => case.also_in_batches::<Aes256Ccm>(u),
        8 => case.also_in_batches::<Aes128Ocb3>(u),
        9 => case.also_in_batches::<Aes192Ocb3>(u),
        10 => case.also_in_batches::<Aes256Ocb3>(u),
        11 => case.alone::<Aegis128L>(u),
        12 => case.alone::<Aegis128X2>(u),
        13 => case.alone::<Aegis128X4>(u),
        14 => case.alone::<Aegis256>(u),
        15 => case.alone::<Aegis256X2>(u),
        16 => case.alone::<Aegis256X4>(u),
        17 => case.also_in_batches::<ChaCha20Poly1305>(u),
        _ => case.also_in_batches::<XChaCha20Poly1305>(u),
    }
}

/// A message, and what is done to it.
struct Case {
    peer: Peer,
    key: [u8; 32],
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    /// Which bit of the sealed message, the AAD or the nonce a forger turns over.
    flip: u16,
}

impl Case {
    fn also_in_batches<A: Subject + Batch>(&self, u: &mut Unstructured<'_>) -> Result<()> {
        self.alone::<A>(u)?;
        let tag = *u.choose(A::TAGS)?;
        self.batch::<A>(u, tag)
    }

    fn alone<A: Subject>(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let tag = *u.choose(A::TAGS)?;
        self.whole::<A>(tag);
        for level in AesLevel::available() {
            self.pieces(u, &A::make(&self.key, level, tag))?;
        }
        Ok(())
    }

    /// The whole message at every level, and by others.
    fn whole<A: Subject>(&self, tag: usize) {
        let name = A::NAME;
        let Self { key, nonce, aad, text, .. } = self;
        let expected = portable::<A>(key, tag).seal_vec(nonce, aad, text);
        let question =
            Question { algorithm: name, key: &key[..A::KEY], nonce, aad, text, tag_length: tag };
        if let Ok(expected) = &expected {
            for theirs in [rustcrypto(&question), (self.peer)(&question)].into_iter().flatten() {
                assert_eq!(&theirs, expected, "{name}: another implementation");
            }
        }
        for level in AesLevel::available() {
            let ours = A::make(key, level, tag);
            assert_eq!(ours.seal_vec(nonce, aad, text), expected, "{name} {level}: seal_vec");
            let (mut data, mut seal) = (text.clone(), vec![0xaa; tag]);
            let done = ours.seal(nonce, aad, &mut data, &mut seal);
            let Ok(expected) = &expected else {
                assert_eq!(done.err(), expected.as_ref().err().copied(), "{name} {level}: error");
                assert!(data == *text && seal.iter().all(|&b| b == 0xaa), "{name} {level}: wrote");
                continue;
            };
            assert_eq!([data.clone(), seal.clone()].concat(), *expected, "{name} {level}: seal");
            assert_eq!(ours.open(nonce, aad, &mut data, &seal), Ok(()), "{name} {level}: open");
            assert_eq!(data, *text, "{name} {level}: open");
            assert_eq!(ours.open_vec(nonce, aad, expected).as_ref(), Ok(text), "{name} {level}");
            self.forged(&format!("{name} {level}"), &ours, tag, expected);
        }
    }

    /// A message of which one bit is another is refused, and leaves zeros; so does one that was cut short.
    fn forged<A: Aead>(&self, name: &str, key: &A, tag: usize, sealed: &[u8]) {
        let (mut sealed, mut aad, mut nonce) =
            (sealed.to_vec(), self.aad.clone(), self.nonce.clone());
        let bits = 8 * (sealed.len() + aad.len() + nonce.len());
        let at = usize::from(self.flip) % bits;
        let parts = [&mut sealed[..], &mut aad, &mut nonce];
        let byte = parts.into_iter().flatten().nth(at / 8).expect("a bit that there is");
        *byte ^= 1 << (at % 8);
        let (text, seal) = sealed.split_at(sealed.len() - tag);
        let mut output = vec![0xaa; text.len()];
        let data = lanelock::InOut::new(text, &mut output).expect("as long");
        let result = key.open_inout(&nonce, &aad, data, seal);
        assert_eq!(result, Err(Error::Authentication), "{name}: bit {at} is another");
        assert!(output.iter().all(|&byte| byte == 0), "{name}: bit {at}: output is not zeroed");
        let mut output = text.to_vec();
        let short = &seal[..seal.len() - 1];
        let result = key.open(&self.nonce, &self.aad, &mut output, short);
        assert_eq!(result, Err(Error::TagLength), "{name}: a short tag");
    }

    /// In pieces as in one.
    fn pieces<A: Subject>(&self, u: &mut Unstructured<'_>, key: &A) -> Result<()> {
        let Self { nonce, aad, text, .. } = self;
        let whole = key.seal_vec(nonce, aad, text);
        let (mut sealer, mut opener) = match key.streams(nonce, aad.len(), text.len()) {
            None => return Ok(()),
            Some(Err(error)) => {
                assert_eq!(whole, Err(error), "refused in pieces");
                return Ok(());
            }
            Some(Ok(streams)) => streams,
        };
        let whole = whole.expect("what pieces are taken of is taken as a whole");
        for piece in cuts(u, aad, 1)? {
            sealer.aad(piece).expect("AAD that was announced");
            opener.aad(piece).expect("AAD that was announced");
        }
        let mut sealed = Vec::new();
        for piece in cuts(u, text, A::UNIT)? {
            let mut piece = piece.to_vec();
            sealer.update(&mut piece).expect("text that was announced");
            sealed.extend(piece);
        }
        let mut seal = vec![0; key.tag_length()];
        sealer.finish(&mut seal).expect("a whole message");
        assert_eq!(sealer.update(&mut [0]), Err(Error::Finished));
        sealed.extend(&seal);
        assert_eq!(sealed, whole, "sealed in pieces");
        for piece in cuts(u, &whole[..text.len()], A::UNIT)? {
            opener.update(piece).expect("text that was announced");
        }
        if u.arbitrary::<u8>()? % 2 == 0 {
            assert_eq!(opener.finish(&seal).as_ref(), Ok(text), "opened in pieces");
        } else {
            let at = u.choose_index(seal.len())?;
            seal[at] ^= 0x10;
            assert_eq!(opener.finish(&seal), Err(Error::Authentication), "opened in pieces");
            assert_eq!(opener.finish(&seal), Err(Error::Finished), "another try");
        }
        Ok(())
    }

    /// Messages of any lengths under two keys, some of them forged, against one at a time.
    fn batch<A: Subject + Batch>(&self, u: &mut Unstructured<'_>, tag: usize) -> Result<()> {
        let other: [u8; 32] = array(u)?;
        let count = u.int_in_range(0..=150)?;
        // A few lengths that come often, as they do where messages can share vectors.
        let lengths = [length(u, 700)?, length(u, 100)?, length(u, 40)?];
        // Batches of few messages, and of different lengths, seldom go side by side by themselves.
        batch::prefer_lanes(u.arbitrary()?);
        let (mut items, mut room) = (Vec::new(), 20_000_usize);
        for number in 0..count {
            let choice: u8 = u.arbitrary()?;
            let length = match choice % 8 {
                0..=3 => lengths[0],
                4 => lengths[1],
                5 => lengths[2],
                _ => length(u, 300)?,
            };
            room = match room.checked_sub(length) {
                Some(room) => room,
                None => break,
            };
            let mut nonce = self.nonce.clone();
            if let Some(first) = nonce.first_mut() {
                *first ^= number;
            }
            if choice >= 0xf8 {
                nonce.pop();
            }
            let aad = self.aad[..self.aad.len().min(usize::from(choice / 8))].to_vec();
            let seal = vec![0; if choice == 0xf7 { tag + 1 } else { tag }];
            items.push(Item {
                other: choice & 0x40 != 0,
                forged: choice & 0x30 == 0x30,
                nonce,
                aad,
                data: filled(u, length)?,
                seal,
                result: Ok(()),
            });
        }
        let keys = [portable::<A>(&self.key, tag), portable::<A>(&other, tag)];
        let sealed = Item::alone(&items, &keys, true);
        let mut forged = sealed.clone();
        for item in forged.iter_mut().filter(|item| item.forged) {
            let parts = [&mut item.data[..], &mut item.seal].into_iter().flatten();
            let last = parts.last().expect("tags have bytes");
            *last ^= 0x80;
        }
        let opened = Item::alone(&forged, &keys, false);
        for level in AesLevel::available() {
            let keys = [A::make(&self.key, level, tag), A::make(&other, level, tag)];
            assert_eq!(Item::together(&items, &keys, true), sealed, "{level}: a batch sealed");
            assert_eq!(Item::together(&forged, &keys, false), opened, "{level}: a batch opened");
        }
        Ok(())
    }
}

/// A message of a batch.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    other: bool,
    forged: bool,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    data: Vec<u8>,
    seal: Vec<u8>,
    result: std::result::Result<(), Error>,
}

impl Item {
    /// One message after another.
    fn alone<A: Aead>(items: &[Self], keys: &[A; 2], seal: bool) -> Vec<Self> {
        let mut items = items.to_vec();
        for item in &mut items {
            let Self { nonce, aad, data, seal: tag, .. } = item;
            let key = &keys[usize::from(item.other)];
            item.result = if seal {
                key.seal(nonce, aad, data, tag)
            } else {
                key.open(nonce, aad, data, tag)
            };
        }
        items
    }

    /// All of them in one batch.
    fn together<A: Batch>(items: &[Self], keys: &[A; 2], seal: bool) -> Vec<Self> {
        let mut items = items.to_vec();
        let mut messages: Vec<_> = items
            .iter_mut()
            .map(|item| {
                let key = &keys[usize::from(item.other)];
                Message::new(key, &item.nonce, &item.aad, &mut item.data, &mut item.seal)
            })
            .collect();
        let all = if seal { batch::seal(&mut messages) } else { batch::open(&mut messages) };
        let results: Vec<_> = messages.iter().map(|message| message.result).collect();
        assert_eq!(all.is_ok(), results.iter().all(std::result::Result::is_ok));
        for (item, result) in items.iter_mut().zip(results) {
            item.result = result;
        }
        items
    }
}

fn portable<A: Subject>(key: &[u8; 32], tag: usize) -> A {
    A::make(key, "portable".parse().expect("every processor has it"), tag)
}

/// What the crates of the RustCrypto family say, where they have the lengths of nonce and tag.
fn rustcrypto(question: &Question<'_>) -> Option<Vec<u8>> {
    fn seal<A: KeyInit + aead::Aead>(question: &Question<'_>) -> Vec<u8> {
        let key = A::new_from_slice(question.key).expect("a key of its length");
        let nonce = question.nonce.try_into().expect("12 bytes");
        let payload = Payload { msg: question.text, aad: question.aad };
        key.encrypt(nonce, payload).expect("a short message")
    }
    if question.nonce.len() == 24 && question.algorithm == "XChaCha20-Poly1305" {
        return Some(seal::<chacha20poly1305::XChaCha20Poly1305>(question));
    }
    if question.nonce.len() != 12 || question.tag_length != 16 {
        return None;
    }
    let seal = match (question.algorithm, question.key.len()) {
        ("GCM", 16) => seal::<AesGcm<aes::Aes128, U12>>,
        ("GCM", 24) => seal::<AesGcm<aes::Aes192, U12>>,
        ("GCM", 32) => seal::<AesGcm<aes::Aes256, U12>>,
        ("GCM-SIV", 16) => seal::<AesGcmSiv<aes::Aes128>>,
        ("GCM-SIV", 32) => seal::<AesGcmSiv<aes::Aes256>>,
        ("CCM", 16) => seal::<ccm::Ccm<aes::Aes128, U16, U12>>,
        ("CCM", 24) => seal::<ccm::Ccm<aes::Aes192, U16, U12>>,
        ("CCM", 32) => seal::<ccm::Ccm<aes::Aes256, U16, U12>>,
        ("OCB3", 16) => seal::<ocb3::Ocb3<aes::Aes128>>,
        ("OCB3", 24) => seal::<ocb3::Ocb3<aes::Aes192>>,
        ("OCB3", 32) => seal::<ocb3::Ocb3<aes::Aes256>>,
        ("ChaCha20-Poly1305", _) => seal::<chacha20poly1305::ChaCha20Poly1305>,
        _ => return None,
    };
    Some(seal(question))
}
