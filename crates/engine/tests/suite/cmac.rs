//! CMAC: published vectors at every level, levels against one another, lanes, OpenSSL.

use crate::support::levels;
use lanelock::SizedCipher;
use lanelock::{
    Aes128Cmac, Aes192Cmac, Aes256Cmac, AesLevel, Block, Cmac, Error,
    lanes::{self, CmacRef, MacCompleted, MacJob, Order, OwnedMacJob, Scheduler},
    last_level_run,
};
use lanelock_testkit::{self as testkit, MacCase, Rng};

/// A key of any size.
enum Key {
    Small(Aes128Cmac),
    Middle(Aes192Cmac),
    Large(Aes256Cmac),
}

impl Key {
    /// `None` if AES has no keys of that length.
    fn new(bytes: &[u8], level: AesLevel) -> Option<Self> {
        Some(match bytes.len() {
            16 => Self::Small(Aes128Cmac::with_level(bytes.try_into().unwrap(), level)),
            24 => Self::Middle(Aes192Cmac::with_level(bytes.try_into().unwrap(), level)),
            32 => Self::Large(Aes256Cmac::with_level(bytes.try_into().unwrap(), level)),
            _ => return None,
        })
    }

    fn random(rng: &mut Rng, level: AesLevel) -> Self {
        let length = *rng.pick(&[16, 24, 32]);
        Self::new(&rng.bytes(length), level).unwrap()
    }

    fn reference(&self) -> CmacRef<'_> {
        match self {
            Self::Small(key) => key.into(),
            Self::Middle(key) => key.into(),
            Self::Large(key) => key.into(),
        }
    }

    fn mac(&self, message: &[u8]) -> Block {
        match self {
            Self::Small(key) => key.mac(message),
            Self::Middle(key) => key.mac(message),
            Self::Large(key) => key.mac(message),
        }
    }
}

fn vectors() -> Vec<MacCase> {
    [testkit::mac::sp800_38b(), testkit::mac::wycheproof()].concat()
}

fn check<C: SizedCipher>(key: &Cmac<C>, case: &MacCase, rng: &mut Rng) {
    let MacCase { message, tag, valid, .. } = case;
    let what = format!("{} {} at {}", case.source, case.name, key.level());
    assert_eq!(key.mac(message)[..] == tag[..], *valid, "{what}");
    let tag: Block = tag[..].try_into().unwrap();
    let expected = if *valid { Ok(()) } else { Err(Error::Authentication) };
    assert_eq!(key.verify(message, &tag), expected, "{what}");
    let mut stream = key.stream();
    for piece in rng.splits(message) {
        stream.update(piece);
    }
    assert_eq!(stream.verify(&tag), expected, "{what}, in pieces");
}

#[test]
fn published_vectors() {
    let mut rng = Rng::from_env("published_vectors");
    for level in levels() {
        let mut checked = 0;
        for case in vectors() {
            match Key::new(&case.key, level) {
                Some(Key::Small(key)) => check(&key, &case, &mut rng),
                Some(Key::Middle(key)) => check(&key, &case, &mut rng),
                Some(Key::Large(key)) => check(&key, &case, &mut rng),
                None => continue,
            }
            checked += 1;
        }
        assert_eq!(checked, 12 + 306);
    }
}

#[test]
fn published_vectors_in_lanes() {
    for level in levels() {
        let keys = |case: MacCase| Some((Key::new(&case.key, level)?, case));
        let cases: Vec<_> = vectors().into_iter().filter_map(keys).collect();
        let job = |(key, case): &'_ (Key, MacCase)| -> Block {
            let mut jobs = [MacJob::new(key.reference(), &case.message)];
            lanes::mac(&mut jobs);
            jobs[0].mac
        };
        let alone: Vec<Block> = cases.iter().map(job).collect();
        let mut jobs: Vec<_> =
            cases.iter().map(|(key, case)| MacJob::new(key.reference(), &case.message)).collect();
        lanes::mac(&mut jobs);
        for (((_, case), job), alone) in cases.iter().zip(&jobs).zip(alone) {
            let what = format!("{} {} at {level}", case.source, case.name);
            assert_eq!(job.mac[..] == case.tag[..], case.valid, "{what}");
            assert_eq!(job.mac, alone, "{what}");
        }
    }
}

/// CMAC by its definition, from single blocks.
fn model(key: &[u8; 16], message: &[u8]) -> Block {
    let aes = lanelock::Aes128::with_level(key, "portable".parse::<AesLevel>().unwrap());
    let double = |block: Block| {
        let mut out = [0; 16];
        for i in 0..16 {
            out[i] = block[i] << 1 | if i < 15 { block[i + 1] >> 7 } else { 0 };
        }
        out[15] ^= if block[0] & 0x80 != 0 { 0x87 } else { 0 };
        out
    };
    let mut l = [0; 16];
    aes.encrypt_block(&mut l);
    let mut padded = message.to_vec();
    let subkey = if message.is_empty() || !message.len().is_multiple_of(16) {
        padded.push(0x80);
        padded.resize(padded.len().next_multiple_of(16), 0);
        double(double(l))
    } else {
        double(l)
    };
    let mut state = [0; 16];
    let last = padded.len() / 16 - 1;
    for (number, block) in padded.chunks(16).enumerate() {
        for i in 0..16 {
            state[i] ^= block[i] ^ if number == last { subkey[i] } else { 0 };
        }
        aes.encrypt_block(&mut state);
    }
    state
}

#[test]
fn every_length_is_the_definition() {
    let mut rng = Rng::from_env("every_length_is_the_definition");
    let levels = levels();
    for length in 0..=300 {
        let (key, message) = (rng.array(), rng.bytes(length));
        let expected = model(&key, &message);
        for level in &levels {
            let key = Aes128Cmac::with_level(&key, *level);
            assert_eq!(key.mac(&message), expected, "{level}: {length} bytes");
        }
    }
}

#[test]
fn batches_give_the_serial_answer() {
    let mut rng = Rng::from_env("batches_give_the_serial_answer");
    for level in levels() {
        let rounds = if level.name() == "portable" { 30 } else { 300 };
        for round in 0..rounds {
            let keys: Vec<_> = (0..5).map(|_| Key::random(&mut rng, level)).collect();
            let of = *rng.pick(&[1, 1, 2, 5]);
            let count = *rng.pick(&[0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 70, 130]);
            let most_bytes = *rng.pick(&[1, 17, 100, 700, 4000]);
            let messages: Vec<_> = (0..count)
                .map(|_| {
                    let length = rng.below(most_bytes);
                    (&keys[rng.below(of)], rng.bytes(length))
                })
                .collect();
            let mut jobs: Vec<_> = messages
                .iter()
                .map(|(key, message)| MacJob::new(key.reference(), message))
                .collect();
            lanes::mac(&mut jobs);
            for (number, (key, message)) in messages.iter().enumerate() {
                let what = format!("{level}, round {round}, job {number} of {count}");
                assert_eq!(jobs[number].mac, key.mac(message), "{what}: {} bytes", message.len());
            }
        }
    }
}

#[test]
fn schedulers_give_the_serial_answer() {
    let mut rng = Rng::from_env("schedulers_give_the_serial_answer");
    for level in levels() {
        let rounds = if level.name() == "portable" { 10 } else { 100 };
        for round in 0..rounds {
            let keys: Vec<_> = (0..5).map(|_| Key::random(&mut rng, level)).collect();
            let of = *rng.pick(&[1, 2, 5]);
            let order = *rng.pick(&[Order::Submitted, Order::Finished]);
            let count = rng.below(400);
            let mut scheduler = Scheduler::new(order);
            let mut expected = Vec::new();
            let mut done: Vec<MacCompleted<Vec<u8>, usize>> = Vec::new();
            for tag in 0..count {
                let length = rng.below(*rng.clone().pick(&[1, 40, 900, 3000]));
                let (key, message) = (&keys[rng.below(of)], rng.bytes(length));
                expected.push((key.mac(&message), message.clone()));
                let job = OwnedMacJob::new(key.reference(), message, tag);
                done.extend(scheduler.submit(job).unwrap());
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
            for MacCompleted { message, mac, tag, .. } in done {
                let what = format!("{level}, round {round}, {order:?}, job {tag}");
                assert_eq!((mac, message), expected[tag], "{what}");
            }
        }
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    let mut rng = Rng::from_env("openssl_agrees");
    for level in levels() {
        for _ in 0..60 {
            let length = *rng.pick(&[16, 24, 32]);
            let bytes = rng.bytes(length);
            let key = Key::new(&bytes, level).unwrap();
            let length = rng.below(*rng.clone().pick(&[1, 20, 300, 5000]));
            let message = rng.bytes(length);
            let expected =
                openssl.mac(&format!("aes-{}-cmac", bytes.len() * 8), &bytes, &[], &message);
            assert_eq!(key.mac(&message)[..], expected, "{level}: {length} bytes");
        }
    }
}

#[test]
fn no_bit_may_differ() {
    let key = Aes128Cmac::new(&[3; 16]).unwrap();
    let message = b"a message";
    let mac = key.mac(message);
    assert_eq!(key.verify(message, &mac), Ok(()));
    assert_eq!(key.verify_truncated(message, mac.first_chunk::<8>().unwrap()), Ok(()));
    for bit in 0..128 {
        let mut wrong = mac;
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(key.verify(message, &wrong), Err(Error::Authentication), "bit {bit}");
        let cut = key.verify_truncated(message, wrong.first_chunk::<12>().unwrap());
        assert_eq!(cut.is_ok(), bit >= 96, "bit {bit}");
    }
}

#[test]
fn the_level_asked_for_runs() {
    for level in levels() {
        let key = Aes128Cmac::with_level(&[1; 16], level);
        let other = Aes128Cmac::with_level(&[2; 16], "portable".parse::<AesLevel>().unwrap());
        let calls: [(&str, &dyn Fn()); 3] = [
            ("one", &|| _ = key.mac(&[0; 100])),
            ("lanes", &|| {
                let mut jobs = [[0; 100]; 2].map(|message| message.to_vec());
                let mut jobs: Vec<_> =
                    jobs.iter_mut().map(|message| MacJob::new(&key, message)).collect();
                lanes::mac(&mut jobs);
            }),
            ("stream", &|| {
                let mut stream = key.stream();
                stream.update(&[0; 100]);
                stream.finish();
            }),
        ];
        for (what, call) in calls {
            other.mac(&[]);
            call();
            assert!(last_level_run().is_none_or(|run| run == level), "{what} at {level}");
        }
    }
}

#[test]
fn debug_shows_no_key() {
    let key = Aes192Cmac::with_level(&[0xab; 24], "portable".parse::<AesLevel>().unwrap());
    assert_eq!(format!("{key:?}"), "Aes192Cmac(portable)");
    assert_eq!(format!("{:?}", key.stream()), "CmacStream(Aes192Cmac(portable))");
}
