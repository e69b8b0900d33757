//! CCM: published vectors at every level, levels against one another, batches, OpenSSL.

use crate::support::levels;
use lanelock::SizedCipher;
use lanelock::{
    AesLevel, Error, InOut,
    aead::{
        Aead, Aes128Ccm, Aes192Ccm, Aes256Ccm, Ccm,
        batch::{self, CompletedMessage, Message, Operation, OwnedMessage},
    },
    lanes::{Order, Scheduler},
    last_level_run,
};
use lanelock_testkit::{self as testkit, AeadCase, Rng};

fn vectors() -> Vec<AeadCase> {
    [
        testkit::ccm::cavp(),
        testkit::ccm::sp800_38c(),
        testkit::ccm::rfc3610(),
        testkit::ccm::wycheproof(),
    ]
    .concat()
}

fn portable() -> AesLevel {
    "portable".parse::<AesLevel>().unwrap()
}

/// Keys of one size.
trait Sized: Aead + batch::Batch + Clone {
    const BYTES: usize;
    fn make(bytes: &[u8], level: AesLevel) -> Self;
    fn tags(self, length: usize) -> Result<Self, Error>;
}

macro_rules! sized {
    ($key:ident, $bytes:literal) => {
        impl Sized for $key {
            const BYTES: usize = $bytes;

            fn make(bytes: &[u8], level: AesLevel) -> Self {
                Self::with_level(bytes.try_into().unwrap(), level)
            }

            fn tags(self, length: usize) -> Result<Self, Error> {
                self.with_tag_length(length)
            }
        }
    };
}

sized!(Aes128Ccm, 16);
sized!(Aes192Ccm, 24);
sized!(Aes256Ccm, 32);

/// The text in pieces through a sealer.
fn seal_in_pieces<C: SizedCipher>(
    key: &Ccm<C>,
    rng: &mut Rng,
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
) -> Vec<u8>
where
    Ccm<C>: Aead,
{
    let mut sealer = key.sealer(nonce, aad.len() as u64, text.len() as u64).unwrap();
    for piece in rng.splits(aad) {
        sealer.aad(piece).unwrap();
    }
    let mut sealed = text.to_vec();
    let mut rest = &mut sealed[..];
    for length in rng.splits(text).iter().map(|piece| piece.len()) {
        let (piece, later) = rest.split_at_mut(length);
        sealer.update(piece).unwrap();
        rest = later;
    }
    let mut tag = vec![0; key.tag_length()];
    sealer.finish(&mut tag).unwrap();
    [sealed, tag].concat()
}

fn open_in_pieces<C: SizedCipher>(
    key: &Ccm<C>,
    rng: &mut Rng,
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    tag: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut opener = key.opener(nonce, aad.len() as u64, text.len() as u64)?;
    for piece in rng.splits(aad) {
        opener.aad(piece)?;
    }
    for piece in rng.splits(text) {
        opener.update(piece)?;
    }
    opener.finish(tag)
}

fn check<C: SizedCipher>(key: &Ccm<C>, case: &AeadCase, rng: &mut Rng)
where
    Ccm<C>: Aead,
{
    let AeadCase { nonce, aad, plaintext, ciphertext, tag, valid, .. } = case;
    let what = format!("{} {} at {}", case.source, case.name, key.level());
    let key = match key.clone().with_tag_length(tag.len()) {
        Ok(key) => key,
        Err(error) => return assert!(!valid, "{what}: {error}"),
    };
    if *valid {
        let sealed = key.seal_vec(nonce, aad, plaintext).expect(&what);
        assert_eq!(sealed, case.sealed(), "{what}");
        assert_eq!(key.open_vec(nonce, aad, &sealed).as_deref(), Ok(&plaintext[..]), "{what}");
        let sealed = seal_in_pieces(&key, rng, nonce, aad, plaintext);
        assert_eq!(sealed, case.sealed(), "{what}, in pieces");
        let opened = open_in_pieces(&key, rng, nonce, aad, ciphertext, tag);
        assert_eq!(opened.as_deref(), Ok(&plaintext[..]), "{what}, in pieces");
    } else {
        let mut data = ciphertext.clone();
        let result = key.open(nonce, aad, &mut data, tag);
        assert!(result.is_err(), "{what}");
        if result == Err(Error::Authentication) {
            assert!(data.iter().all(|byte| *byte == 0), "{what}: plaintext left");
        }
        let opened = open_in_pieces(&key, rng, nonce, aad, ciphertext, tag);
        assert_eq!(opened.err(), result.err(), "{what}, in pieces");
    }
}

#[test]
fn published_vectors() {
    let mut rng = Rng::from_env("published_vectors");
    for level in levels() {
        for case in vectors() {
            match case.key.len() {
                16 => check(&Aes128Ccm::make(&case.key, level), &case, &mut rng),
                24 => check(&Aes192Ccm::make(&case.key, level), &case, &mut rng),
                _ => check(&Aes256Ccm::make(&case.key, level), &case, &mut rng),
            }
        }
    }
}

/// All published cases of one key size as one batch, each with a key of its own, beside long messages: without these
/// they would go one by one.
fn in_a_batch<A: Sized>(level: AesLevel) {
    let cases: Vec<_> = vectors()
        .into_iter()
        .filter(|case| case.key.len() == A::BYTES)
        .filter_map(|case| Some((A::make(&case.key, level).tags(case.tag.len()).ok()?, case)))
        .collect();
    let (long_key, long) = (A::make(&vec![9; A::BYTES], level), vec![7; 1 << 16]);
    // At the portable level all go in lanes.
    let count = if level == portable() { 0 } else { 24 };
    let sealed = long_key.seal_vec(&[3; 12], b"", &long).unwrap();
    let (ciphertext, tag) = sealed.split_at(long.len());
    let mut others: Vec<_> = (0..count).map(|_| (ciphertext.to_vec(), tag.to_vec())).collect();
    let mut buffers: Vec<_> =
        cases.iter().map(|(_, case)| (case.ciphertext.clone(), case.tag.clone())).collect();
    let mut messages: Vec<_> = cases
        .iter()
        .zip(&mut buffers)
        .map(|((key, case), (data, tag))| Message::new(key, &case.nonce, &case.aad, data, tag))
        .collect();
    messages.extend(
        others.iter_mut().map(|(data, tag)| Message::new(&long_key, &[3; 12], b"", data, tag)),
    );
    let opened = batch::open(&mut messages);
    let results: Vec<_> = messages.iter().map(|message| message.result).collect();
    assert_eq!(opened, results.iter().copied().find(Result::is_err).unwrap_or(Ok(())));
    for (((_, case), (data, _)), result) in cases.iter().zip(&buffers).zip(results) {
        let what = format!("{} {} at {level}", case.source, case.name);
        assert_eq!(result.is_ok(), case.valid, "{what}: {result:?}");
        if case.valid {
            assert_eq!(data, &case.plaintext, "{what}");
        } else if result == Err(Error::Authentication) {
            assert!(data.iter().all(|byte| *byte == 0), "{what}: plaintext left");
        }
    }
    let valid = || cases.iter().filter(|(_, case)| case.valid);
    let mut buffers: Vec<_> =
        valid().map(|(_, case)| (case.plaintext.clone(), vec![0; case.tag.len()])).collect();
    let mut messages: Vec<_> = valid()
        .zip(&mut buffers)
        .map(|((key, case), (data, tag))| Message::new(key, &case.nonce, &case.aad, data, tag))
        .collect();
    assert!(others.iter().all(|(data, _)| *data == long));
    messages.extend(
        others.iter_mut().map(|(data, tag)| Message::new(&long_key, &[3; 12], b"", data, tag)),
    );
    assert_eq!(batch::seal(&mut messages), Ok(()));
    assert!(others.iter().all(|(data, sealed)| data == ciphertext && sealed == tag));
    for ((_, case), (data, tag)) in valid().zip(&buffers) {
        let what = format!("{} {} at {level}", case.source, case.name);
        assert_eq!((data, tag), (&case.ciphertext, &case.tag), "{what}");
    }
}

#[test]
fn published_vectors_in_batches() {
    for level in levels() {
        in_a_batch::<Aes128Ccm>(level);
        in_a_batch::<Aes192Ccm>(level);
        in_a_batch::<Aes256Ccm>(level);
    }
}

/// A message at random; most are short.
struct Case {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
}

impl Case {
    fn random(rng: &mut Rng, most_text: usize) -> Self {
        let aad = *rng.clone().pick(&[1, 15, 16, 40, 600]);
        let (nonce, aad, text) = (7 + rng.below(7), rng.below(aad), rng.below(most_text));
        Self { nonce: rng.bytes(nonce), aad: rng.bytes(aad), text: rng.bytes(text) }
    }
}

fn levels_agree<A: Sized>(rng: &mut Rng) {
    for level in levels().into_iter().skip(1) {
        for length in (0..=700).chain([1000, 4096, 5000]) {
            let bytes = rng.bytes(A::BYTES);
            let tag = *rng.pick(&[4, 6, 8, 10, 12, 14, 16]);
            let make = |level| A::make(&bytes, level).tags(tag).unwrap();
            let (soft, hard) = (make(portable()), make(level));
            let Case { nonce, aad, .. } = Case::random(rng, 1);
            let text = rng.bytes(length);
            let what = format!("{level}: {length} bytes");
            let sealed = soft.seal_vec(&nonce, &aad, &text).unwrap();
            assert_eq!(hard.seal_vec(&nonce, &aad, &text).unwrap(), sealed, "{what}");
            assert_eq!(hard.open_vec(&nonce, &aad, &sealed).unwrap(), text, "{what}");
            // In place, and unaligned.
            let mut buffer = vec![0; length + 20];
            let (start, mut got) = (rng.below(20), vec![0; tag]);
            buffer[start..][..length].copy_from_slice(&text);
            hard.seal(&nonce, &aad, &mut buffer[start..][..length], &mut got).unwrap();
            assert_eq!([&buffer[start..][..length], &got].concat(), sealed, "{what}, in place");
            hard.open(&nonce, &aad, &mut buffer[start..][..length], &got).unwrap();
            assert_eq!(buffer[start..][..length], text, "{what}, in place");
        }
    }
}

#[test]
fn levels_agree_with_the_portable_one() {
    let mut rng = Rng::from_env("levels_agree_with_the_portable_one");
    levels_agree::<Aes128Ccm>(&mut rng);
    levels_agree::<Aes192Ccm>(&mut rng);
    levels_agree::<Aes256Ccm>(&mut rng);
}

fn batches<A: Sized>(rng: &mut Rng) {
    for level in levels() {
        let rounds = if level.name() == "portable" { 10 } else { 100 };
        for round in 0..rounds {
            // Now and then a key of another level among them.
            let mut make = |i| {
                let level = if i == 4 && rng.one_in(4) { portable() } else { level };
                let tag = *rng.pick(&[4, 8, 16, 16, 16]);
                A::make(&rng.bytes(A::BYTES), level).tags(tag).unwrap()
            };
            let keys: Vec<A> = (0..5).map(&mut make).collect();
            let of = *rng.pick(&[1, 1, 2, 5]);
            let count = *rng.pick(&[0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 70, 130]);
            let most = *rng.pick(&[1, 17, 100, 700, 4000]);
            let cases: Vec<_> =
                (0..count).map(|_| (&keys[rng.below(of)], Case::random(rng, most))).collect();
            let mut buffers: Vec<_> = cases
                .iter()
                .map(|(key, case)| (case.text.clone(), vec![0; key.tag_length()]))
                .collect();
            let mut messages: Vec<_> = cases
                .iter()
                .zip(&mut buffers)
                .map(|((key, case), (data, tag))| {
                    Message::new(*key, &case.nonce, &case.aad, data, tag)
                })
                .collect();
            assert_eq!(batch::seal(&mut messages), Ok(()));
            let what = |i: usize, text: usize| {
                format!("{level}, round {round}, {i} of {count}: {text} bytes")
            };
            for (i, ((key, case), (data, tag))) in cases.iter().zip(&buffers).enumerate() {
                let expected = key.seal_vec(&case.nonce, &case.aad, &case.text).unwrap();
                assert_eq!([&data[..], tag].concat(), expected, "{}", what(i, data.len()));
            }
            // Some do not open: a bit of the tag, the text or the AAD differs. The others do.
            let bad: Vec<_> = cases.iter().map(|_| rng.one_in(5)).collect();
            for ((data, tag), bad) in buffers.iter_mut().zip(&bad) {
                if *bad {
                    let place = rng.below(data.len() + tag.len());
                    let byte = match place.checked_sub(data.len()) {
                        Some(place) => &mut tag[place],
                        None => &mut data[place],
                    };
                    *byte ^= 1 << rng.below(8);
                }
            }
            let mut messages: Vec<_> = cases
                .iter()
                .zip(&mut buffers)
                .map(|((key, case), (data, tag))| {
                    Message::new(*key, &case.nonce, &case.aad, data, tag)
                })
                .collect();
            let opened = batch::open(&mut messages);
            assert_eq!(opened.is_err(), bad.contains(&true));
            let results: Vec<_> = messages.iter().map(|message| message.result).collect();
            for (i, (_, case)) in cases.iter().enumerate() {
                let what = what(i, case.text.len());
                if bad[i] {
                    assert_eq!(results[i], Err(Error::Authentication), "{what}");
                    assert!(buffers[i].0.iter().all(|byte| *byte == 0), "{what}: plaintext left");
                } else {
                    assert_eq!((results[i], &buffers[i].0), (Ok(()), &case.text), "{what}");
                }
            }
        }
    }
}

#[test]
fn batches_give_the_serial_answer() {
    let mut rng = Rng::from_env("batches_give_the_serial_answer");
    batches::<Aes128Ccm>(&mut rng);
    batches::<Aes192Ccm>(&mut rng);
    batches::<Aes256Ccm>(&mut rng);
}

#[test]
fn a_bad_message_does_not_disturb_the_others() {
    let key = Aes128Ccm::new(&[5; 16]).unwrap();
    let mut texts = vec![vec![7; 100]; 40];
    let mut tags = vec![vec![0; 16]; 40];
    tags[3] = vec![0; 12];
    texts[5] = vec![7; 1 << 16]; // too long for a nonce of 13 bytes
    let mut messages: Vec<_> = texts
        .iter_mut()
        .zip(&mut tags)
        .enumerate()
        .map(|(i, (text, tag))| {
            let nonce = if i == 4 { &[0; 6][..] } else { &[0; 13] };
            Message::new(&key, nonce, &[], text, tag)
        })
        .collect();
    assert_eq!(batch::seal(&mut messages), Err(Error::TagLength));
    for (i, message) in messages.iter().enumerate() {
        let expected = match i {
            3 => Err(Error::TagLength),
            4 => Err(Error::NonceLength),
            5 => Err(Error::MessageLength),
            _ => Ok(()),
        };
        assert_eq!(message.result, expected, "message {i}");
        assert_eq!(message.data[0] == 7, expected.is_err(), "message {i}");
    }
}

#[test]
fn schedulers_give_the_serial_answer() {
    let mut rng = Rng::from_env("schedulers_give_the_serial_answer");
    for level in levels() {
        let rounds = if level.name() == "portable" { 5 } else { 50 };
        for round in 0..rounds {
            let keys: Vec<_> = (0..3).map(|_| Aes128Ccm::with_level(&rng.array(), level)).collect();
            let order = *rng.pick(&[Order::Submitted, Order::Finished]);
            let count = rng.below(300);
            let mut scheduler = Scheduler::new(order);
            let mut expected = Vec::new();
            let mut done: Vec<CompletedMessage<Vec<u8>, usize>> = Vec::new();
            for tag in 0..count {
                let (key, Case { nonce, aad, text }) =
                    (&keys[rng.below(3)], Case::random(&mut rng, 700));
                let sealed = key.seal_vec(&nonce, &aad, &text).unwrap();
                let plain = [&text[..], &[0; 16]].concat();
                let (operation, data, result) = match rng.below(20) {
                    0 => (Operation::Open, vec![0; 15], Err(Error::TagLength)),
                    1 => (Operation::Open, plain.clone(), Err(Error::Authentication)),
                    2..=10 => (Operation::Open, sealed.clone(), Ok(())),
                    _ => (Operation::Seal, plain, Ok(())),
                };
                expected.push((result, operation, sealed, text));
                let message = OwnedMessage::new(key, operation, nonce, aad, data, tag);
                done.extend(scheduler.submit(message).unwrap());
                assert!(scheduler.waiting() <= scheduler.capacity());
                if rng.one_in(50) {
                    scheduler.flush().unwrap();
                    assert_eq!(scheduler.waiting(), 0);
                }
            }
            scheduler.flush().unwrap();
            done.extend(core::iter::from_fn(|| scheduler.completed()));
            assert_eq!(done.len(), count);
            if order == Order::Submitted {
                assert!(done.iter().map(|job| job.tag).eq(0..count), "out of order");
            }
            for CompletedMessage { data, result, tag, .. } in done {
                let what = format!("{level}, round {round}, {order:?}, job {tag}");
                let (expected, operation, sealed, text) = &expected[tag];
                assert_eq!(result, *expected, "{what}");
                match (result, operation) {
                    (Ok(()), Operation::Seal) => assert_eq!(&data, sealed, "{what}"),
                    (Ok(()), Operation::Open) => assert_eq!(data[..text.len()], text[..], "{what}"),
                    (Err(Error::Authentication), _) => {
                        assert!(data[..text.len()].iter().all(|byte| *byte == 0), "{what}");
                    }
                    (Err(_), _) => {}
                }
            }
        }
    }
}

fn compare<A: Sized>(openssl: &mut testkit::Openssl, level: AesLevel, rng: &mut Rng, case: &Case) {
    let tag = *rng.pick(&[4, 6, 8, 10, 12, 14, 16]);
    let bytes = rng.bytes(A::BYTES);
    let key = A::make(&bytes, level).tags(tag).unwrap();
    let Case { nonce, aad, text } = case;
    let algorithm = format!("aes-{}-ccm", A::BYTES * 8);
    let expected = openssl.seal(&algorithm, &bytes, nonce, aad, text, tag);
    let sealed = key.seal_vec(nonce, aad, text).unwrap();
    assert!(sealed == expected, "{level}: {} bytes, {} of AAD", text.len(), aad.len());
    let mut data = text.clone();
    let mut other = data.clone();
    let (mut tags, mut nothing) = (vec![0; tag], vec![0; tag]);
    batch::seal(&mut [
        Message::new(&key, nonce, aad, &mut data, &mut tags),
        Message::new(&key, nonce, &[], &mut other, &mut nothing),
    ])
    .unwrap();
    assert!([data, tags].concat() == expected, "{level}: batch");
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    let mut rng = Rng::from_env("openssl_agrees");
    for level in levels() {
        let mut cases: Vec<_> =
            (0..40).map(|i| Case::random(&mut rng, if i % 10 == 0 { 5000 } else { 300 })).collect();
        // Where the length of the AAD takes more bytes, and the longest text for the longest nonce.
        for aad in [0xfeff, 0xff00, 0x1_0001] {
            cases.push(Case { nonce: rng.bytes(12), aad: rng.bytes(aad), text: vec![1; 20] });
        }
        cases.push(Case { nonce: rng.bytes(13), aad: vec![], text: vec![1; 0xffff] });
        for case in cases {
            match rng.below(3) {
                0 => compare::<Aes128Ccm>(&mut openssl, level, &mut rng, &case),
                1 => compare::<Aes192Ccm>(&mut openssl, level, &mut rng, &case),
                _ => compare::<Aes256Ccm>(&mut openssl, level, &mut rng, &case),
            }
        }
    }
}

#[test]
fn lengths_have_limits() {
    let key = Aes128Ccm::new(&[1; 16]).unwrap();
    for length in (0..7).chain([14, 15, 16]) {
        let nonce = vec![0; length];
        assert_eq!(key.seal_vec(&nonce, &[], &[]), Err(Error::NonceLength), "{length}");
        assert_eq!(key.sealer(&nonce, 0, 0).err(), Some(Error::NonceLength), "{length}");
    }
    for (nonce, longest) in [(13, 0xffff), (12, 0xff_ffff), (9, (1 << 48) - 1), (8, (1 << 56) - 1)]
    {
        let nonce = vec![0; nonce];
        assert!(key.sealer(&nonce, 0, longest).is_ok());
        assert_eq!(key.sealer(&nonce, 0, longest + 1).err(), Some(Error::MessageLength));
        assert_eq!(key.opener(&nonce, 0, longest + 1).err(), Some(Error::MessageLength));
    }
    assert!(key.sealer(&[0; 7], u64::MAX, u64::MAX).is_ok());
    assert_eq!(key.seal_vec(&[0; 13], &[], &vec![0; 1 << 16]), Err(Error::MessageLength));
    assert!(key.seal_vec(&[0; 13], &[], &vec![0; (1 << 16) - 1]).is_ok());
    for length in (0..4).chain([5, 7, 9, 11, 13, 15, 17, 32]) {
        assert_eq!(key.clone().with_tag_length(length).err(), Some(Error::TagLength));
    }
    let mut data = [7; 20];
    assert_eq!(key.seal(&[0; 12], &[], &mut data, &mut [0; 12]), Err(Error::TagLength));
    assert_eq!(key.open(&[0; 12], &[], &mut data, &[0; 12]), Err(Error::TagLength));
    assert_eq!(data, [7; 20]);
}

#[test]
fn what_was_announced_has_to_come() {
    let key = Aes128Ccm::new(&[1; 16]).unwrap();
    let (nonce, mut tag) = ([0; 12], [0; 16]);
    let sealer = || key.sealer(&nonce, 20, 40).unwrap();
    let opener = || key.opener(&nonce, 20, 40).unwrap();
    assert_eq!(sealer().finish(&mut tag), Err(Error::AadLength));
    assert_eq!(opener().finish(&tag), Err(Error::AadLength));
    let (mut s, mut o) = (sealer(), opener());
    s.aad(&[1; 19]).unwrap();
    o.aad(&[1; 19]).unwrap();
    assert_eq!(s.aad(&[1; 2]), Err(Error::AadLength));
    assert_eq!(o.aad(&[1; 2]), Err(Error::AadLength));
    assert_eq!(s.update(&mut [0]), Err(Error::AadLength));
    assert_eq!(o.update(&[0]), Err(Error::AadLength));
    s.aad(&[1]).unwrap();
    o.aad(&[1]).unwrap();
    let mut text = [3; 41];
    assert_eq!(s.update(&mut text), Err(Error::MessageLength));
    assert_eq!(o.update(&text), Err(Error::MessageLength));
    assert_eq!(text, [3; 41]);
    s.update(&mut text[..39]).unwrap();
    o.update(&text[..39]).unwrap();
    assert_eq!(s.aad(&[]), Err(Error::AadLength));
    assert_eq!(s.finish(&mut tag), Err(Error::MessageLength));
    assert_eq!(o.finish(&tag), Err(Error::MessageLength));
    let mut s = sealer();
    s.aad(&[1; 20]).unwrap();
    s.update(&mut text[..40]).unwrap();
    assert_eq!(s.finish(&mut [0; 8]), Err(Error::TagLength));
}

#[test]
fn a_failed_opening_leaves_nothing() {
    let mut rng = Rng::from_env("a_failed_opening_leaves_nothing");
    for level in levels() {
        let key = Aes256Ccm::with_level(&rng.array(), level);
        for length in [0, 1, 15, 16, 17, 100, 1000] {
            let text = rng.bytes(length);
            let mut sealed = key.seal_vec(&[1; 12], b"aad", &text).unwrap();
            let place = rng.below(sealed.len());
            sealed[place] ^= 1 << rng.below(8);
            let mut output = vec![0xaa; length];
            let opened = key.open_to(&[1; 12], b"aad", &sealed, &mut output);
            assert_eq!(opened, Err(Error::Authentication));
            assert_eq!(output, vec![0; length], "{level}");
            let (data, tag) = sealed.split_at_mut(length);
            assert!(key.open_inout(&[1; 12], b"aad", InOut::from(&mut *data), tag).is_err());
            assert_eq!(data, vec![0; length], "{level}");
        }
    }
}

#[test]
fn the_level_asked_for_runs() {
    for level in levels() {
        let key = Aes128Ccm::with_level(&[1; 16], level);
        let other = Aes128Ccm::with_level(&[2; 16], portable());
        let calls: [(&str, &dyn Fn()); 2] = [
            ("one", &|| _ = key.seal_vec(&[0; 12], &[], &[0; 100])),
            ("batch", &|| {
                let (mut a, mut b) = ([0; 100], [0; 116]);
                let (b, tag) = b.split_at_mut(100);
                batch::seal(&mut [
                    Message::new(&key, &[0; 12], &[], &mut a, &mut [0; 16]),
                    Message::new(&key, &[1; 12], &[], b, tag),
                ])
                .unwrap();
            }),
        ];
        for (what, call) in calls {
            other.seal_vec(&[0; 12], &[], &[]).unwrap();
            call();
            assert!(last_level_run().is_none_or(|run| run == level), "{what} at {level}");
        }
    }
}

#[test]
fn debug_shows_no_key() {
    let key = Aes128Ccm::with_level(&[0xab; 16], portable());
    assert_eq!(format!("{key:?}"), "Aes128Ccm(portable)");
}
