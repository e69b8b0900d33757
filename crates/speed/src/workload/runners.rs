//! How each algorithm is called, as a program would: buffers and keys are there, nonces are made anew.
//!
//! Sealing works in place; opening goes from one buffer to another, since opening in place would leave
//! nothing to open for the next call.

use std::hint::black_box;

use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap, Aes192Xts,
    Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, AesLevel, CounterBits, Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, ChaCha20Poly1305,
        batch::{self, Batch, Message},
    },
    hash::{Crc32, Crc32c, Crc64Nvme, Crc64Xz, Ghash, Polyval},
    lanes::{self, Job, MacJob},
};

use super::{Buffer, Keys, Runner, Workload, hash_levels, traffic};

/// Why a call that was set up here cannot fail.
const FITS: &str = "nonce, tag and message have lengths that the algorithm takes";

/// The bytes of key number `i`.
fn key<const N: usize>(i: usize) -> [u8; N] {
    let mut key = *b"0123456789abcdef0123456789abcdef";
    key[0] = i.to_le_bytes()[0];
    *key.first_chunk().expect("a key has at most 32 bytes")
}

/// `$body` with the type that goes with the workload's key size.
macro_rules! by_key {
    ($workload:expr, $type:ident = $of128:ty, $of192:ty, $of256:ty => $body:expr) => {
        match $workload.key_bits {
            128 => {
                type $type = $of128;
                $body
            }
            192 => {
                type $type = $of192;
                $body
            }
            _ => {
                type $type = $of256;
                $body
            }
        }
    };
}

/// Sealing or opening with `cipher`.
fn aead(workload: &Workload, nonce: usize, cipher: impl Aead + 'static) -> Runner {
    let (nonce, aad) = (vec![0x24; nonce], vec![0x3c; workload.aad]);
    let copies = if workload.traffic.cold { traffic::copies(workload.size) } else { 1 };
    let mut i = 0;
    let mut next = move || {
        i = if copies == 1 { 0 } else { traffic::next_copy(i, copies) };
        i
    };
    let mut texts: Vec<Buffer> = (0..copies).flat_map(|_| workload.buffers()).collect();
    let mut tag = vec![0; cipher.tag_length()];
    if workload.operation == "seal" {
        return Runner::new(move || {
            let text = &mut texts[next()];
            cipher.seal(black_box(&nonce), &aad, text, &mut tag).expect(FITS);
        });
    }
    let mut sealed = cipher.seal_vec(&nonce, &aad, &texts[0]).expect(FITS);
    let good = workload.operation == "open";
    if !good {
        sealed[workload.size] ^= 1;
    }
    let sealed = vec![sealed; copies];
    Runner::new(move || {
        let i = next();
        let opened = cipher.open_to(black_box(&nonce), &aad, &sealed[i], &mut texts[i]);
        assert_eq!(opened.is_ok(), good);
    })
}

fn pattern(workload: &Workload) -> Pattern {
    if workload.algorithm == "cbcs" { Pattern::new(1, 9) } else { Pattern::ALL }
}

/// Sealing or opening one message, or a batch of them.
fn many<A: Batch + 'static>(
    workload: &Workload,
    nonce: usize,
    cipher: impl Fn(usize) -> A,
) -> Runner {
    if workload.streams == 1 {
        return aead(workload, nonce, cipher(0));
    }
    if workload.operation == "seal" {
        return seal_many(workload, nonce, cipher);
    }
    let keys = if workload.keys == Keys::Each { workload.streams } else { 1 };
    // Leaked on purpose: the messages borrow keys and nonces, and stay from call to call.
    let keys: &'static [A] = Vec::leak((0..keys).map(cipher).collect());
    let nonces: &'static [Vec<u8>] = Vec::leak(
        (0..workload.streams).map(|i| vec![i.to_le_bytes()[0]; nonce]).collect::<Vec<_>>(),
    );
    let aad: &'static [u8] = Vec::leak(vec![0x3c; workload.aad]);
    let mut messages: Vec<Message<'static, A>> = workload
        .buffers()
        .into_iter()
        .zip(nonces)
        .zip(keys.iter().cycle())
        .map(|((text, nonce), key)| {
            let text: &'static mut Buffer = Box::leak(Box::new(text));
            Message::new(key, nonce, aad, text, Vec::leak(vec![0; key.tag_length()]))
        })
        .collect();
    let set_nonces = move |messages: &mut [Message<'static, A>]| {
        for (message, nonce) in messages.iter_mut().zip(black_box(nonces)) {
            message.nonce = nonce;
        }
    };
    // A batch is opened in place, and there must be something to open again. With a stream cipher the
    // text that was opened is itself the ciphertext of what it was opened from; only tags change.
    let texts = |messages: &[Message<'static, A>]| -> Vec<_> {
        messages.iter().map(|message| message.data.to_vec()).collect()
    };
    let tags = |messages: &[Message<'static, A>]| -> Vec<[u8; 16]> {
        messages.iter().map(|message| *message.tag.first_chunk().expect("16 bytes")).collect()
    };
    let plain = texts(&messages);
    batch::seal(&mut messages).expect(FITS);
    let (sealed, sealed_tags) = (texts(&messages), tags(&messages));
    batch::seal(&mut messages).expect(FITS);
    let again = texts(&messages) != plain;
    let first_tags = if again { sealed_tags.clone() } else { tags(&messages) };
    let mut turns = [first_tags, sealed_tags];
    Runner::new(move || {
        if again {
            for (message, sealed) in messages.iter_mut().zip(&sealed) {
                message.data.copy_from_slice(sealed);
            }
        }
        for (message, tag) in messages.iter_mut().zip(&turns[0]) {
            if let Some(to) = message.tag.first_chunk_mut() {
                *to = *tag;
            }
        }
        turns.swap(0, 1);
        set_nonces(&mut messages);
        batch::open(&mut messages).expect("the right tags");
    })
}

/// Sealing messages in one batch, which is made in each call as by most callers, or one by one.
fn seal_many<A: Batch + 'static>(
    workload: &Workload,
    nonce: usize,
    cipher: impl Fn(usize) -> A,
) -> Runner {
    let own_keys = usize::from(workload.keys == Keys::Each);
    let keys: Vec<A> = (0..=own_keys * (workload.streams - 1)).map(cipher).collect();
    let nonces: Vec<_> = (0..workload.streams).map(|i| [i.to_le_bytes()[0]; 32]).collect();
    let aad = vec![0x3c; workload.aad];
    let mut buffers = workload.buffers();
    let mut tags = vec![[0; 16]; workload.streams];
    let (mut lengths, one_by_one) = (workload.lengths(), workload.traffic.one_by_one);
    Runner::new(move || {
        lengths.advance();
        let texts =
            buffers.iter_mut().zip(lengths.now()).map(|(text, length)| &mut text[..*length]);
        let nonces = black_box(&nonces).iter().map(|bytes| &bytes[..nonce]);
        let parts = texts.zip(nonces).zip(&mut tags).enumerate();
        if one_by_one {
            for (i, ((text, nonce), tag)) in parts {
                keys[i * own_keys].seal(nonce, &aad, text, tag).expect(FITS);
            }
        } else {
            let mut messages: Vec<_> = parts
                .map(|(i, ((text, nonce), tag))| {
                    Message::new(&keys[i * own_keys], nonce, &aad, text, tag)
                })
                .collect();
            batch::seal(&mut messages).expect(FITS);
        }
    })
}

pub(super) fn ecb(workload: &Workload, level: AesLevel) -> Runner {
    let mut data = vec![0x5a; workload.size];
    let encrypt = workload.operation == "encrypt";
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let key = Aes::with_level(&key(0), level);
        Runner::new(move || {
            let done =
                if encrypt { key.ecb_encrypt(&mut data) } else { key.ecb_decrypt(&mut data) };
            done.expect("whole blocks");
        })
    })
}

pub(super) fn ctr(workload: &Workload, level: AesLevel) -> Runner {
    let mut data = vec![0x5a; workload.size];
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let key = Aes::with_level(&key(0), level);
        Runner::new(move || {
            key.ctr(CounterBits::Bits64, &[0; 16], &mut data).expect("fewer blocks than counters");
        })
    })
}

pub(super) fn cbc_encrypt(workload: &Workload, level: AesLevel) -> Runner {
    let mut buffers = workload.buffers();
    let (pattern, one_by_one) = (pattern(workload), workload.traffic.one_by_one);
    let own_keys = usize::from(workload.keys == Keys::Each);
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let keys = 0..=own_keys * (workload.streams - 1);
        let keys: Vec<_> = keys.map(|i| Aes::with_level(&key(i), level)).collect();
        Runner::new(move || match &mut buffers[..] {
            [data] => keys[0].cbcs_encrypt(&mut [0; 16], pattern, data),
            many if one_by_one => {
                for (i, data) in many.iter_mut().enumerate() {
                    keys[i * own_keys].cbcs_encrypt(&mut [0; 16], pattern, data);
                }
            }
            many => {
                let mut jobs: Vec<_> = many
                    .iter_mut()
                    .enumerate()
                    .map(|(i, data)| Job::new(&keys[i * own_keys], [0; 16], pattern, data))
                    .collect();
                lanes::encrypt(&mut jobs);
            }
        })
    })
}

pub(super) fn cbc_decrypt(workload: &Workload, level: AesLevel) -> Runner {
    let mut buffers = workload.buffers();
    let pattern = pattern(workload);
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let key = Aes::with_level(&key(0), level);
        Runner::new(move || {
            for data in &mut buffers {
                key.cbcs_decrypt(&mut [0; 16], pattern, data);
            }
        })
    })
}

/// One data unit, or as many sectors as there are streams in one call.
pub(super) fn xts(workload: &Workload, level: AesLevel) -> Runner {
    let (size, streams) = (workload.size, workload.streams);
    let encrypt = workload.operation == "encrypt";
    let mut data = vec![0x5a; workload.bytes()];
    by_key!(workload, Xts = Aes128Xts, Aes192Xts, Aes256Xts => {
        let mut bytes = [0; _];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = i.to_le_bytes()[0];
        }
        let key = Xts::with_level(&bytes, level).expect("the halves differ");
        Runner::new(move || {
            let done = match (streams, encrypt) {
                (1, true) => key.encrypt(black_box(&[0; 16]), &mut data),
                (1, false) => key.decrypt(black_box(&[0; 16]), &mut data),
                (_, true) => key.encrypt_sectors(black_box(0), size, &mut data),
                (_, false) => key.decrypt_sectors(black_box(0), size, &mut data),
            };
            done.expect(FITS);
        })
    })
}

pub(super) fn cmac(workload: &Workload, level: AesLevel) -> Runner {
    let buffers = workload.buffers();
    let own_keys = usize::from(workload.keys == Keys::Each);
    by_key!(workload, Cmac = Aes128Cmac, Aes192Cmac, Aes256Cmac => {
        let keys = 0..=own_keys * (workload.streams - 1);
        let keys: Vec<_> = keys.map(|i| Cmac::with_level(&key(i), level)).collect();
        Runner::new(move || match &buffers[..] {
            [data] => {
                black_box(keys[0].mac(black_box(data)));
            }
            many => {
                let mut jobs: Vec<_> = many
                    .iter()
                    .enumerate()
                    .map(|(i, data)| MacJob::new(&keys[i * own_keys], data))
                    .collect();
                lanes::mac(&mut jobs);
                black_box(&jobs);
            }
        })
    })
}

pub(super) fn ccm(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Ccm = Aes128Ccm, Aes192Ccm, Aes256Ccm => {
        many(workload, 12, |i| Ccm::with_level(&key(i), level))
    })
}

pub(super) fn expansion(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let bytes = key(0);
        Runner::new(move || {
            black_box(&Aes::with_level(black_box(&bytes), level));
        })
    })
}

pub(super) fn gcm_key(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Gcm = Aes128Gcm, Aes192Gcm, Aes256Gcm => {
        let bytes = key(0);
        Runner::new(move || {
            black_box(&Gcm::with_level(black_box(&bytes), level));
        })
    })
}

pub(super) fn kw(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    let encrypt = workload.operation == "encrypt";
    by_key!(workload, KeyWrap = Aes128KeyWrap, Aes192KeyWrap, Aes256KeyWrap => {
        let key = KeyWrap::with_level(&key(0), level);
        let mut wrapped = key.wrap(&data).expect(FITS);
        let mut unwrapped = vec![0; workload.size];
        Runner::new(move || {
            if encrypt {
                key.wrap_to(&data, &mut wrapped).expect(FITS);
            } else {
                key.unwrap_to(black_box(&wrapped), &mut unwrapped).expect("what was wrapped");
            }
        })
    })
}

pub(super) fn kwp(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    let encrypt = workload.operation == "encrypt";
    by_key!(workload, KeyWrap = Aes128KeyWrap, Aes192KeyWrap, Aes256KeyWrap => {
        let key = KeyWrap::with_level(&key(0), level);
        let mut wrapped = key.wrap_padded(&data).expect(FITS);
        Runner::new(move || {
            if encrypt {
                key.wrap_padded_to(&data, &mut wrapped).expect(FITS);
            } else {
                black_box(key.unwrap_padded(&wrapped).expect("what was wrapped"));
            }
        })
    })
}

pub(super) fn gcm(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Gcm = Aes128Gcm, Aes192Gcm, Aes256Gcm => {
        many(workload, 12, |i| Gcm::with_level(&key(i), level))
    })
}

pub(super) fn gcm_siv(workload: &Workload, level: AesLevel) -> Runner {
    match workload.key_bits {
        128 => many(workload, 12, |i| Aes128GcmSiv::with_level(&key(i), level)),
        _ => many(workload, 12, |i| Aes256GcmSiv::with_level(&key(i), level)),
    }
}

pub(super) fn ocb3(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Ocb3 = Aes128Ocb3, Aes192Ocb3, Aes256Ocb3 => {
        many(workload, 12, |i| Ocb3::with_level(&key(i), level))
    })
}

pub(super) fn chacha20_poly1305(workload: &Workload, level: AesLevel) -> Runner {
    let level = hash_levels(level).lanes;
    many(workload, 12, |i| ChaCha20Poly1305::with_level(&key(i), level))
}

pub(super) fn aegis(workload: &Workload, level: AesLevel) -> Runner {
    let (short, long) = (key(0), key(0));
    match workload.algorithm {
        "aegis-128l" => aead(workload, 16, Aegis128L::with_level(&short, level)),
        "aegis-128x2" => aead(workload, 16, Aegis128X2::with_level(&short, level)),
        "aegis-128x4" => aead(workload, 16, Aegis128X4::with_level(&short, level)),
        "aegis-256" => aead(workload, 32, Aegis256::with_level(&long, level)),
        "aegis-256x2" => aead(workload, 32, Aegis256X2::with_level(&long, level)),
        _ => aead(workload, 32, Aegis256X4::with_level(&long, level)),
    }
}

pub(super) fn gmac(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    by_key!(workload, Gcm = Aes128Gcm, Aes192Gcm, Aes256Gcm => {
        let key = Gcm::with_level(&key(0), level);
        let mut tag = [0; 16];
        Runner::new(move || key.mac(black_box(&[0x24; 12]), &data, &mut tag).expect(FITS))
    })
}

// The hashes take more and more bytes: a program has one for each key and message.

pub(super) fn ghash(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    let mut hash = Ghash::with_level(&key(0), level);
    Runner::new(move || hash.update(black_box(&data)))
}

pub(super) fn polyval(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    let mut hash = Polyval::with_level(&key(0), level);
    Runner::new(move || hash.update(black_box(&data)))
}

pub(super) fn crc(workload: &Workload, level: AesLevel) -> Runner {
    macro_rules! crc {
        ($crc:ty) => {{
            let data = vec![0x5a; workload.size];
            Runner::new(move || {
                let mut crc = <$crc>::with_level(level);
                crc.update(black_box(&data));
                black_box(crc.finish());
            })
        }};
    }
    match workload.algorithm {
        "crc-32" => crc!(Crc32),
        "crc-32c" => crc!(Crc32c),
        "crc-64-nvme" => crc!(Crc64Nvme),
        _ => crc!(Crc64Xz),
    }
}
