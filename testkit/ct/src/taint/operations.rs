//! What the engine does with secrets, from the keys on.

use std::array;

use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap, Aes192Xts,
    Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, AesLevel, Cmac, CounterBits, CtrStream, Error,
    InOut, Key, KeyWrap, Pattern, SizedCipher, Xts,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, Opener, Sealer, Stream,
        batch::{self, Batch, Message, Operation, OwnedMessage},
    },
    hash::{Ghash, Polyval},
    lanes::{self, Job, MacJob, Order, OwnedJob, OwnedMacJob, Scheduler},
};

use super::{Extent, carried, secret, secret_text};
use crate::client::reveal;

type Run = fn(AesLevel, Extent);

/// Does something with a key of each type, expanded from a secret.
macro_rules! each_key {
    ($level:expr, $($type:ident)*, |$key:ident| $work:expr) => {{
        $({
            let $key = &$type::with_level(&secret(), $level);
            $work;
        })*
    }};
}

/// As [`each_key`], with the key at each length of tags.
macro_rules! each_tag {
    ($level:expr, $lengths:expr, $($type:ident)*, |$key:ident| $work:expr) => {{
        $(for bytes in $lengths {
            let $key = $type::with_level(&secret(), $level);
            let $key = &$key.with_tag_length(bytes).expect("a length of tags");
            $work;
        })*
    }};
}

pub(super) const OPERATIONS: &[(&str, Run)] = &[
    ("key set-up", key_set_up),
    ("ECB", |level, extent| each_key!(level, Aes128 Aes192 Aes256, |key| ecb(key, extent))),
    ("CBC", |level, extent| each_key!(level, Aes128 Aes192 Aes256, |key| cbc(key, extent))),
    ("CBCS", |level, extent| each_key!(level, Aes128 Aes192 Aes256, |key| cbcs(key, extent))),
    ("CTR", |level, extent| each_key!(level, Aes128 Aes192 Aes256, |key| ctr(key, extent))),
    (
        "CTR in pieces",
        |level, extent| each_key!(level, Aes128 Aes192 Aes256, |key| ctr_stream(key, extent)),
    ),
    ("XTS", |level, extent| {
        xts(&Aes128Xts::with_level(&secret(), level).expect("keys that differ"), extent);
        xts(&Aes192Xts::with_level(&secret(), level).expect("keys that differ"), extent);
        xts(&Aes256Xts::with_level(&secret(), level).expect("keys that differ"), extent);
    }),
    ("XTS, equal keys", |level, _| {
        let key: [u8; 16] = secret();
        let key: [u8; 32] = array::from_fn(|at| key[at % 16]);
        assert!(matches!(Aes128Xts::with_level(&key, level), Err(Error::EqualKeys)));
    }),
    (
        "CMAC",
        |level, extent| each_key!(level, Aes128Cmac Aes192Cmac Aes256Cmac, |key| cmac(key, extent)),
    ),
    ("KW, KWP", |level, extent| {
        each_key!(level, Aes128KeyWrap Aes192KeyWrap Aes256KeyWrap, |key| key_wrap(key, extent));
    }),
    ("KWP, wrong paddings", wrong_paddings),
    ("GHASH, POLYVAL", |level, extent| {
        for &length in extent.lengths() {
            let text = secret_text(length);
            let mut ghash = Ghash::with_level(&secret(), level);
            let mut polyval = Polyval::with_level(&secret(), level);
            for piece in pieces(&text, 1) {
                ghash.update(piece);
                polyval.update(piece);
            }
            if length > 0 {
                carried(&mut ghash.finish());
                carried(&mut polyval.finish());
            }
        }
    }),
    ("GCM", |level, extent| {
        each_tag!(level, [12, 13, 14, 15, 16], Aes128Gcm, |key| aead(key, &[12], extent));
        each_key!(level, Aes192Gcm Aes256Gcm, |key| aead(key, &[1, 12, 16], extent));
    }),
    ("GMAC", |level, extent| {
        let key = Aes128Gcm::with_level(&secret(), level);
        for &length in extent.lengths() {
            let text = secret_text(length);
            mac(
                extent,
                |tag| key.mac(&[1; 12], &text, tag),
                |tag| key.verify(&[1; 12], &text, tag),
            );
        }
    }),
    ("GCM-SIV", |level, extent| {
        each_key!(level, Aes128GcmSiv Aes256GcmSiv, |key| aead(key, &[12], extent));
    }),
    ("CCM", |level, extent| {
        each_tag!(level, [4, 6, 8, 10, 12, 14, 16], Aes128Ccm, |key| aead(key, &[13], extent));
        each_key!(level, Aes192Ccm Aes256Ccm, |key| aead(key, &[7, 13], extent));
    }),
    ("OCB3", |level, extent| {
        each_tag!(level, [8, 12, 16], Aes128Ocb3, |key| aead(key, &[12], extent));
        each_key!(level, Aes192Ocb3 Aes256Ocb3, |key| aead(key, &[1, 15], extent));
    }),
    ("AEGIS", |level, extent| {
        each_tag!(level, [16, 32], Aegis128L Aegis128X2 Aegis128X4, |key| aead(key, &[16], extent));
        each_tag!(level, [16, 32], Aegis256 Aegis256X2 Aegis256X4, |key| aead(key, &[32], extent));
    }),
    ("AEGISMAC", |level, extent| {
        let key = Aegis128X2::with_level(&secret(), level);
        for &length in extent.lengths() {
            let text = secret_text(length);
            let verify = |tag: &[u8]| key.verify_mac(&[1; 16], &text, tag);
            mac(extent, |tag| key.mac(&[1; 16], &text, tag), verify);
            let in_pieces = || {
                let mut stream = key.mac_stream(&[1; 16]).expect("a nonce");
                for piece in pieces(&text, 1) {
                    stream.update(piece).expect("a short message");
                }
                stream
            };
            mac(extent, |tag| in_pieces().finish(tag), |tag| in_pieces().verify(tag));
        }
    }),
    ("GCM in pieces", |level, extent| {
        let key = Aes128Gcm::with_level(&secret(), level);
        let nonce = &[1; 12];
        in_pieces(
            extent,
            1,
            |_| key.sealer(nonce).expect("12"),
            |_| key.opener(nonce).expect("12"),
        );
    }),
    ("CCM in pieces", |level, extent| {
        let key = Aes128Ccm::with_level(&secret(), level);
        let sealer = |text| key.sealer(&[1; 12], AAD as u64, text as u64).expect("12");
        in_pieces(extent, 1, sealer, |text| {
            key.opener(&[1; 12], AAD as u64, text as u64).expect("12")
        });
    }),
    ("OCB3 in pieces", |level, extent| {
        let key = Aes128Ocb3::with_level(&secret(), level);
        let nonce = &[1; 12];
        in_pieces(
            extent,
            16,
            |_| key.sealer(nonce).expect("12"),
            |_| key.opener(nonce).expect("12"),
        );
    }),
    ("AEGIS in pieces", |level, extent| {
        let key = Aegis128L::with_level(&secret(), level).with_tag_length(16).expect("16");
        let nonce = &[1; 16];
        in_pieces(
            extent,
            1,
            |_| key.sealer(nonce).expect("16"),
            |_| key.opener(nonce).expect("16"),
        );
        let key = Aegis256X4::with_level(&secret(), level).with_tag_length(16).expect("16");
        let nonce = &[1; 32];
        in_pieces(
            extent,
            1,
            |_| key.sealer(nonce).expect("32"),
            |_| key.opener(nonce).expect("32"),
        );
    }),
    ("batches of GCM", |level, extent| {
        messages(&array::from_fn(|_| Aes128Gcm::with_level(&secret(), level)), 12, extent);
        messages(&array::from_fn(|_| Aes256Gcm::with_level(&secret(), level)), 12, extent);
    }),
    ("batches of GCM-SIV", |level, extent| {
        messages(&array::from_fn(|_| Aes128GcmSiv::with_level(&secret(), level)), 12, extent);
        messages(&array::from_fn(|_| Aes256GcmSiv::with_level(&secret(), level)), 12, extent);
    }),
    ("batches of CCM", |level, extent| {
        messages(&array::from_fn(|_| Aes128Ccm::with_level(&secret(), level)), 12, extent);
        messages(&array::from_fn(|_| Aes256Ccm::with_level(&secret(), level)), 12, extent);
    }),
    ("batches of OCB3", |level, extent| {
        messages(&array::from_fn(|_| Aes128Ocb3::with_level(&secret(), level)), 12, extent);
        messages(&array::from_fn(|_| Aes256Ocb3::with_level(&secret(), level)), 12, extent);
    }),
    ("lanes of CBC", |level, _| chains(level, Pattern::ALL)),
    ("lanes of CBCS", |level, _| chains(level, Pattern::new(1, 9))),
    ("lanes of CMAC", mac_lanes),
    ("scheduler", scheduler),
];

/// Messages of a batch, and chains in lanes: more than lanes at the widest level.
const MANY: usize = 37;

/// Bytes of additional data.
const AAD: usize = 21;

const IV: [u8; 16] = [0x5c; 16];

/// A key of every type is made, does one thing, and is dropped.
fn key_set_up(level: AesLevel, _: Extent) {
    macro_rules! used {
        ($($key:ident)*, |$made:ident, $block:ident| $use:expr) => {
            $({
                let $made = $key::with_level(&secret(), level);
                let mut $block = [0; 16];
                $use;
                carried(&mut $block);
            })*
        };
    }
    used!(Aes128 Aes192 Aes256, |key, block| key.encrypt_block(&mut block));
    used!(Aes128 Aes192 Aes256, |key, block| key.decrypt_block(&mut block));
    used!(Aes128Cmac Aes192Cmac Aes256Cmac, |key, block| block.copy_from_slice(&key.mac(b"")));
    used!(Aes128KeyWrap Aes192KeyWrap Aes256KeyWrap, |key, block| {
        key.wrap_padded_to(&[1; 8], &mut block).expect("8 bytes");
    });
    used!(Aes128Xts Aes192Xts Aes256Xts, |key, block| {
        key.expect("keys that differ").encrypt(&IV, &mut block).expect("a block");
    });
    used!(Aes128Gcm Aes192Gcm Aes256Gcm Aes128GcmSiv Aes256GcmSiv, |key, block| {
        key.seal(&[1; 12], b"", &mut block, &mut [0; 16]).expect("a nonce");
    });
    used!(Aes128Ccm Aes192Ccm Aes256Ccm Aes128Ocb3 Aes192Ocb3 Aes256Ocb3, |key, block| {
        key.seal(&[1; 12], b"", &mut block, &mut [0; 16]).expect("a nonce");
    });
    used!(Aegis128L Aegis128X2 Aegis128X4, |key, block| {
        key.seal(&[1; 16], b"", &mut block, &mut [0; 32]).expect("a nonce");
    });
    used!(Aegis256 Aegis256X2 Aegis256X4, |key, block| {
        key.seal(&[1; 32], b"", &mut block, &mut [0; 32]).expect("a nonce");
    });
    used!(Ghash Polyval, |key, block| {
        let mut key = key;
        key.update(&[1]);
        block.copy_from_slice(&key.finish());
    });
}

/// Lengths that are whole blocks.
fn block_lengths(extent: Extent) -> impl Iterator<Item = usize> {
    extent.lengths().iter().map(|length| length / 16 * 16)
}

fn ecb<C: SizedCipher>(key: &Key<C>, extent: Extent) {
    for length in block_lengths(extent) {
        let mut text = secret_text(length);
        key.ecb_encrypt(&mut text).expect("whole blocks");
        carried(&mut text);
        key.ecb_decrypt(&mut text).expect("whole blocks");
        carried(&mut text);
    }
}

fn cbc<C: SizedCipher>(key: &Key<C>, extent: Extent) {
    for length in block_lengths(extent) {
        let (mut text, mut iv) = (secret_text(length), IV);
        key.cbc_encrypt(&mut iv, &mut text).expect("whole blocks");
        carried(&mut text);
        key.cbc_decrypt(&mut IV.clone(), &mut text).expect("whole blocks");
        carried(&mut text);
    }
}

fn cbcs<C: SizedCipher>(key: &Key<C>, extent: Extent) {
    let patterns = [
        Pattern::new(1, 9),
        Pattern::new(5, 5).encrypt_truncated_runs(),
        Pattern::new(10, 0),
        Pattern::ALL,
    ];
    for &length in extent.lengths() {
        for pattern in patterns {
            let mut text = secret_text(length);
            key.cbcs_encrypt(&mut IV.clone(), pattern, &mut text);
            // What the pattern leaves clear was secret before.
            carried(&mut text);
            key.cbcs_decrypt(&mut IV.clone(), pattern, &mut text);
            reveal(&mut text);
        }
    }
}

fn ctr<C: SizedCipher>(key: &Key<C>, extent: Extent) {
    for &length in extent.lengths() {
        for bits in [CounterBits::Bits32, CounterBits::Bits64, CounterBits::Bits128] {
            let mut text = secret_text(length);
            key.ctr(bits, &IV, &mut text).expect("few blocks");
            carried(&mut text);
            key.ctr(bits, &IV, &mut text).expect("few blocks");
            carried(&mut text);
        }
    }
}

fn ctr_stream<C: SizedCipher>(key: &Key<C>, extent: Extent) {
    for &length in extent.lengths() {
        let mut stream = CtrStream::new(key, CounterBits::Bits64, IV);
        for piece in pieces_mut(&mut secret_text(length), 1) {
            stream.apply(piece).expect("few blocks");
            carried(piece);
        }
        stream.seek(0).expect("the beginning");
        let mut text = secret_text(length);
        stream.apply_pattern(Pattern::new(1, 9), &mut text).expect("few blocks");
        carried(&mut text);
    }
}

fn xts<C: SizedCipher>(key: &Xts<C>, extent: Extent) {
    for &length in extent.lengths().iter().filter(|&&length| length >= 16) {
        let mut text = secret_text(length);
        key.encrypt(&IV, &mut text).expect("a data unit");
        carried(&mut text);
        key.decrypt(&IV, &mut text).expect("a data unit");
        carried(&mut text);
        let mut sectors = secret_text(5 * length);
        key.encrypt_sectors(7, length, &mut sectors).expect("sectors");
        carried(&mut sectors);
        key.decrypt_sectors(7, length, &mut sectors).expect("sectors");
        carried(&mut sectors);
    }
}

fn cmac<C: SizedCipher>(key: &Cmac<C>, extent: Extent) {
    for &length in extent.lengths() {
        let text = secret_text(length);
        let in_pieces = || {
            let mut stream = key.stream();
            pieces(&text, 1).for_each(|piece| stream.update(piece));
            stream
        };
        let mut mac = key.mac(&text);
        carried(&mut mac);
        key.verify(&text, &mac).expect("the MAC");
        carried(&mut in_pieces().finish());
        in_pieces().verify(&mac).expect("the MAC");
        for place in extent.places(16) {
            let mut wrong = mac;
            wrong[place] ^= 1;
            assert_eq!(key.verify(&text, &wrong), Err(Error::Authentication));
            assert_eq!(in_pieces().verify(&wrong), Err(Error::Authentication));
            if let Some((wrong, _)) = wrong.split_first_chunk::<8>() {
                assert_eq!(key.verify_truncated(&text, wrong).is_ok(), place >= 8);
            }
        }
    }
}

/// A MAC of 16 or 32 bytes, and its check.
fn mac(
    extent: Extent,
    compute: impl Fn(&mut [u8]) -> Result<(), Error>,
    verify: impl Fn(&[u8]) -> Result<(), Error>,
) {
    let mut tag = vec![0; 32];
    if compute(&mut tag).is_err() {
        tag.truncate(16);
        compute(&mut tag).expect("a tag of 16 bytes");
    }
    carried(&mut tag);
    verify(&tag).expect("the MAC");
    for place in extent.places(tag.len()) {
        let mut wrong = tag.clone();
        wrong[place] ^= 0x80;
        assert_eq!(verify(&wrong), Err(Error::Authentication));
    }
}

fn key_wrap<C: SizedCipher>(key: &KeyWrap<C>, extent: Extent) {
    for length in [16, 24, 32, 64] {
        let mut wrapped = key.wrap(&secret_text(length)).expect("a length of keys");
        carried(&mut wrapped);
        carried(&mut key.unwrap(&wrapped).expect("a wrapped key"));
        for place in extent.places(wrapped.len()) {
            let mut wrong = wrapped.clone();
            wrong[place] ^= 1;
            assert!(key.unwrap(&wrong).is_err());
        }
    }
    for length in 1..=33 {
        let mut wrapped = key.wrap_padded(&secret_text(length)).expect("a length of keys");
        carried(&mut wrapped);
        carried(&mut key.unwrap_padded(&wrapped).expect("a wrapped key"));
        for place in extent.places(wrapped.len()) {
            let mut wrong = wrapped.clone();
            wrong[place] ^= 1;
            assert!(key.unwrap_padded(&wrong).is_err());
        }
    }
}

/// What unwraps to the check value, and is wrong in its length or in its padding.
fn wrong_paddings(level: AesLevel, _: Extent) {
    let key = secret();
    let (cipher, wrapper) =
        (Aes128::with_level(&key, level), Aes128KeyWrap::with_level(&key, level));
    for length in (0..=17).chain([1 << 31, u32::MAX]) {
        for other in 8..16 {
            let mut block = [0; 16];
            block[..4].copy_from_slice(&[0xa6, 0x59, 0x59, 0xa6]);
            block[4..8].copy_from_slice(&length.to_be_bytes());
            block[other] = 1;
            cipher.encrypt_block(&mut block);
            carried(&mut block);
            let right = (1..=8).contains(&length) && other < 8 + length as usize;
            assert_eq!(wrapper.unwrap_padded(&block).is_ok(), right);
        }
    }
}

/// A message goes there and back, and does not where a byte of its tag is wrong.
pub(super) fn aead<A: Aead>(key: &A, nonces: &[usize], extent: Extent) {
    for nonce in nonces {
        let nonce = &vec![1; *nonce];
        for &length in extent.lengths() {
            let aad = &secret_text(length % AAD);
            let (mut text, mut tag) = (secret_text(length), vec![0; key.tag_length()]);
            key.seal(nonce, aad, &mut text, &mut tag).expect("lengths");
            carried(&mut text);
            carried(&mut tag);
            let sealed = text.clone();
            key.open(nonce, aad, &mut text, &tag).expect("the tag");
            carried(&mut text);
            for place in extent.places(tag.len()) {
                let mut wrong = tag.clone();
                wrong[place] ^= 1;
                let output = InOut::new(&sealed, &mut text).expect("one length");
                assert_eq!(key.open_inout(nonce, aad, output, &wrong), Err(Error::Authentication));
                assert!(text.iter().all(|&byte| byte == 0));
            }
        }
    }
}

/// A message in pieces, as [`aead`]. Pieces but the last are multiples of `grain` bytes.
pub(super) fn in_pieces<S: Stream, O: Stream>(
    extent: Extent,
    grain: usize,
    sealer: impl Fn(usize) -> Sealer<S>,
    opener: impl Fn(usize) -> Opener<O>,
) {
    for &length in extent.lengths() {
        let aad = secret_text(AAD);
        let (mut text, mut tag) = (secret_text(length), [0; 16]);
        let mut sealer = sealer(length);
        for piece in pieces(&aad, 1) {
            sealer.aad(piece).expect("AAD first");
        }
        for piece in pieces_mut(&mut text, grain) {
            sealer.update(piece).expect("a short message");
        }
        sealer.finish(&mut tag).expect("16 bytes");
        carried(&mut text);
        carried(&mut tag);
        let open = |tag: &[u8]| {
            let mut opener = opener(length);
            for piece in pieces(&aad, 1) {
                opener.aad(piece).expect("AAD first");
            }
            for piece in pieces(&text, grain) {
                opener.update(piece).expect("a short message");
            }
            opener.finish(tag)
        };
        carried(&mut open(&tag).expect("the tag"));
        for place in extent.places(16) {
            let mut wrong = tag;
            wrong[place] ^= 1;
            assert_eq!(open(&wrong), Err(Error::Authentication));
        }
    }
}

/// Messages side by side, with one key and with three by turns; then one of them has a wrong tag.
pub(super) fn messages<A: Batch>(keys: &[A; 3], nonce: usize, extent: Extent) {
    for different_keys in [1, 3] {
        // Long ones for CCM, whose lanes are for them. GCM goes side by side with the widest vectors alone, OCB3 also at the
        // portable level: their kernels are followed by `trace`.
        let lengths = [
            [0; MANY],
            [32; MANY],
            [717; MANY],
            array::from_fn(|at| at * 5),
            array::from_fn(|at| at * 5 % 64),
        ];
        for length in &lengths {
            let aads: [_; MANY] = array::from_fn(|at| secret_text((at + 1) % 3 * 8));
            let mut texts = length.map(secret_text);
            let mut tags = [[0; 16]; MANY];
            let run = |texts: &mut [Vec<u8>], tags: &mut [[u8; 16]], seal: bool| {
                let parts = texts.iter_mut().zip(tags).zip(&aads).enumerate();
                let mut messages: Vec<_> = parts
                    .map(|(at, ((text, tag), aad))| {
                        Message::new(&keys[at % different_keys], &[1; 24][..nonce], aad, text, tag)
                    })
                    .collect();
                let result =
                    if seal { batch::seal(&mut messages) } else { batch::open(&mut messages) };
                (result, messages.iter().filter(|message| message.result.is_err()).count())
            };
            assert_eq!(run(&mut texts, &mut tags, true), (Ok(()), 0));
            for text in &mut texts {
                carried(text);
            }
            carried(tags.as_flattened_mut());
            let sealed = texts.clone();
            assert_eq!(run(&mut texts, &mut tags, false), (Ok(()), 0));
            for text in &mut texts {
                carried(text);
            }
            for message in [0, 1, MANY / 2, MANY - 1] {
                for place in extent.places(16) {
                    let (mut texts, mut tags) = (sealed.clone(), tags);
                    tags[message][place] ^= 1;
                    let one = (Err(Error::Authentication), 1);
                    assert_eq!(run(&mut texts, &mut tags, false), one);
                    assert!(texts[message].iter().all(|&byte| byte == 0));
                }
            }
        }
    }
}

/// Chains in lanes: with one key, with several of a size, and with two sizes.
fn chains(level: AesLevel, pattern: Pattern) {
    let small: [_; 3] = array::from_fn(|_| Aes128::with_level(&secret(), level));
    let large = Aes256::with_level(&secret(), level);
    for (different_keys, others) in [(1, MANY), (3, MANY), (3, 4)] {
        let mut texts: [_; MANY] = array::from_fn(|at| secret_text(at * 13));
        let jobs = texts.iter_mut().enumerate().map(|(at, text)| match at % others {
            3 => Job::new(&large, IV, pattern, text),
            _ => Job::new(&small[at % different_keys], IV, pattern, text),
        });
        lanes::encrypt(&mut jobs.collect::<Vec<_>>());
        for text in &mut texts {
            carried(text);
        }
    }
}

fn mac_lanes(level: AesLevel, _: Extent) {
    let small: [_; 3] = array::from_fn(|_| Aes128Cmac::with_level(&secret(), level));
    let large = Aes256Cmac::with_level(&secret(), level);
    for (different_keys, others) in [(1, MANY), (3, MANY), (3, 4)] {
        let texts: [_; MANY] = array::from_fn(|at| secret_text(at * 13));
        let jobs = texts.iter().enumerate().map(|(at, text)| match at % others {
            3 => MacJob::new(&large, text),
            _ => MacJob::new(&small[at % different_keys], text),
        });
        let mut jobs: Vec<_> = jobs.collect();
        lanes::mac(&mut jobs);
        for job in &mut jobs {
            carried(&mut job.mac);
        }
    }
}

/// Jobs of all kinds that come one by one, and messages with a wrong tag among them.
fn scheduler(level: AesLevel, _: Extent) {
    let key = Aes128::with_level(&secret(), level);
    let mut chains = Scheduler::new(Order::Finished);
    for at in 0..MANY {
        let job = OwnedJob::new(&key, IV, Pattern::new(1, 9), secret_text(at * 13), ());
        chains.submit(job).expect("buffers that stay");
    }
    chains.flush().expect("buffers that stay");
    while let Some(mut done) = chains.completed() {
        carried(&mut done.data);
    }
    let key = Aes128Cmac::with_level(&secret(), level);
    let mut macs = Scheduler::new(Order::Submitted);
    for at in 0..MANY {
        macs.submit(OwnedMacJob::new(&key, secret_text(at * 13), ())).expect("buffers that stay");
    }
    macs.flush().expect("buffers that stay");
    while let Some(mut done) = macs.completed() {
        carried(&mut done.mac);
    }
    let key = Aes128Gcm::with_level(&secret(), level);
    let mut messages = Scheduler::new(Order::Submitted);
    for at in 0..MANY {
        let mut sealed = key.seal_vec(&[1; 12], b"", &secret_text(at)).expect("lengths");
        carried(&mut sealed);
        sealed[at] ^= u8::from(at % 5 == 0);
        let message = OwnedMessage::new(&key, Operation::Open, [1; 12], [], sealed, at);
        messages.submit(message).expect("buffers that stay");
    }
    messages.flush().expect("buffers that stay");
    while let Some(done) = messages.completed() {
        assert_eq!(done.result.is_err(), done.tag % 5 == 0);
    }
}

/// Pieces that begin and end within blocks and vectors, but at multiples of `grain`.
fn pieces(text: &[u8], grain: usize) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    lengths_of_pieces(text.len(), grain).map(move |length| {
        let (piece, later) = rest.split_at(length);
        rest = later;
        piece
    })
}

/// As [`pieces`].
fn pieces_mut(text: &mut [u8], grain: usize) -> impl Iterator<Item = &mut [u8]> {
    let lengths = lengths_of_pieces(text.len(), grain);
    let mut rest = text;
    lengths.map(move |length| {
        let (piece, later) = std::mem::take(&mut rest).split_at_mut(length);
        rest = later;
        piece
    })
}

/// A third, a half of the rest, and the rest.
fn lengths_of_pieces(text: usize, grain: usize) -> impl Iterator<Item = usize> {
    let first = text / 3 / grain * grain;
    let second = (text - first) / 2 / grain * grain;
    [first, second, text - first - second].into_iter()
}
