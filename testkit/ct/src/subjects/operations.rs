//! What is measured, with secrets that differ.

use std::{array, hint::black_box, num::NonZeroU32};

use lanelock::{
    Aes, Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes256, Aes256Cmac, Aes256KeyWrap,
    Aes256Xts, AesLevel, CounterBits, InOut, Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X4, Aegis256, Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3,
        Aes192Gcm, Aes256Ccm, Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, ChaCha20Poly1305,
        batch::{self, Batch, Message},
    },
    hash::{
        Ghash, HmacJob, HmacKey, Levels, Pbkdf2Job, Polyval,
        algorithm::{MerkleDamgard, Sha1, Sha256, Sha384, Sha512},
        hmac_all, pbkdf2_all,
    },
    lanes::{self, Job, MacJob},
    record::{CbcHmac, ContentType, Header, MacOrder, Version},
};

use super::{Subject, change, fixed_or_random, wrong_first_or_last, wrong_first_or_later};
use crate::rng::Rng;

type Make = fn(AesLevel) -> Subject;
type MakeHash = fn(Levels) -> Subject;

/// The set-up of a key of `$bytes` bytes: zeros, or random ones.
macro_rules! set_up {
    ($key:ident, $bytes:literal) => {
        |level| {
            Subject::new($bytes, fixed_or_random(), move |key| {
                if let Some(key) = key.first_chunk() {
                    black_box($key::with_level(key, level));
                }
            })
        }
    };
}

pub(super) const HASHES: &[(&str, MakeHash)] = &[
    ("key set-up, HMAC", |levels| {
        Subject::new(32, fixed_or_random(), move |key| {
            black_box(HmacKey::<Sha256>::with_levels(levels, key));
        })
    }),
    ("HMAC, wrong tag", |levels| {
        let key = HmacKey::<Sha512>::with_levels(levels, &[7; 32]);
        let tag = key.tag(&[1; 100]);
        Subject::new(64, wrong_first_or_last(tag), move |tag| {
            let _ = black_box(key.verify(&[1; 100], tag));
        })
    }),
    ("HMAC in lanes", |levels| {
        let key = HmacKey::<Sha256>::with_levels(levels, &[7; 32]);
        Subject::new(32 * 64, fixed_or_random(), move |texts| {
            let mut jobs: Vec<_> = texts.chunks(64).map(|text| HmacJob::new(&key, text)).collect();
            hmac_all(&mut jobs);
            black_box(jobs);
        })
    }),
    ("ChaCha20-Poly1305, sealing", |levels| {
        sealing(ChaCha20Poly1305::with_level(&key(), levels.lanes), 12)
    }),
    ("ChaCha20-Poly1305, wrong tag", |levels| {
        opening(ChaCha20Poly1305::with_level(&key(), levels.lanes), 12, 48)
    }),
    ("batch of ChaCha20-Poly1305, one wrong tag", |levels| {
        one_wrong(ChaCha20Poly1305::with_level(&key(), levels.lanes), SHORT)
    }),
    ("CBC-HMAC-SHA-1, shortest or longest padding", padding::<Sha1>),
    ("CBC-HMAC-SHA-256, shortest or longest padding", padding::<Sha256>),
    ("CBC-HMAC-SHA-384, shortest or longest padding", padding::<Sha384>),
    ("PBKDF2", |levels| {
        Subject::new(16 * 32, fixed_or_random(), move |passwords| {
            let mut keys = [[0; 32]; 16];
            let jobs = passwords.chunks(32).zip(&mut keys).map(|(password, key)| Pbkdf2Job {
                password,
                salt: b"a salt",
                iterations: NonZeroU32::MIN,
                key,
            });
            pbkdf2_all::<Sha256>(levels, &mut jobs.collect::<Vec<_>>());
            black_box(keys);
        })
    }),
];

/// Records with a wrong MAC: class 0 with the shortest padding, class 1 with the longest. Who tells them apart can
/// decrypt (Lucky Thirteen).
fn padding<A: MerkleDamgard>(levels: Levels) -> Subject {
    const TEXT: usize = 512;
    let cipher = Aes128::with_level(&key(), AesLevel::fastest());
    let record = CbcHmac::<Aes<128>, A>::with_levels(
        MacOrder::MacThenEncrypt,
        (&key(), AesLevel::fastest()),
        (&[7; 32], levels),
    );
    let fill = move |class: usize, rng: &mut Rng, fragment: &mut [u8]| {
        rng.fill(fragment);
        let padding = if class == 0 { 0 } else { 255_u8 };
        let (iv, text) = fragment.split_at_mut(16);
        let start = text.len() - usize::from(padding) - 1;
        text[start..].fill(padding);
        let mut iv: [u8; 16] = array::from_fn(|at| iv[at]);
        cipher.cbc_encrypt(&mut iv, text).expect("blocks");
    };
    Subject::new(16 + TEXT, fill, move |fragment| {
        let header = Header::new(1, ContentType::APPLICATION_DATA, Version::TLS_1_2);
        let _ = black_box(record.open(header, fragment));
    })
}

pub(super) const OPERATIONS: &[(&str, Make)] = &[
    ("key set-up, AES-128", set_up!(Aes128, 16)),
    ("key set-up, AES-192", set_up!(Aes192, 24)),
    ("key set-up, AES-256", set_up!(Aes256, 32)),
    ("key set-up, AES-128, cold cache", |level| (set_up!(Aes128, 16))(level).cold()),
    ("key set-up, CMAC", set_up!(Aes256Cmac, 32)),
    ("key set-up, XTS", |level| {
        let fill = |class, rng: &mut Rng, key: &mut [u8]| {
            fixed_or_random()(class, rng, key);
            key[0] = !key[32]; // equal halves are refused
        };
        Subject::new(64, fill, move |key| {
            if let Some(key) = key.first_chunk() {
                let _ = black_box(Aes256Xts::with_level(key, level));
            }
        })
    }),
    ("key set-up, GCM", set_up!(Aes128Gcm, 16)),
    ("key set-up, GCM 256", set_up!(Aes256Gcm, 32)),
    ("key set-up, GCM-SIV", set_up!(Aes128GcmSiv, 16)),
    ("key set-up, CCM", set_up!(Aes128Ccm, 16)),
    ("key set-up, OCB3", set_up!(Aes128Ocb3, 16)),
    ("key set-up, GHASH", set_up!(Ghash, 16)),
    ("AES-128, a block", |level| {
        let key = Aes128::with_level(&key(), level);
        Subject::new(16, fixed_or_random(), move |text| {
            if let Some(block) = text.first_chunk_mut() {
                key.encrypt_block(block);
            }
        })
    }),
    ("AES-128, a block, cold cache", |level| {
        let key = Aes128::with_level(&key(), level);
        let work = move |text: &mut [u8]| {
            if let Some(block) = text.first_chunk_mut() {
                key.encrypt_block(block);
            }
        };
        Subject::new(16, fixed_or_random(), work).cold()
    }),
    ("AES-128, a block decrypted, cold cache", |level| {
        let key = Aes128::with_level(&key(), level);
        let work = move |text: &mut [u8]| {
            if let Some(block) = text.first_chunk_mut() {
                key.decrypt_block(block);
            }
        };
        Subject::new(16, fixed_or_random(), work).cold()
    }),
    ("ECB", |level| {
        let key = Aes256::with_level(&key(), level);
        Subject::new(512, fixed_or_random(), move |text| key.ecb_encrypt(text).expect("blocks"))
    }),
    ("CBC", |level| {
        let key = Aes128::with_level(&key(), level);
        Subject::new(64, fixed_or_random(), move |text| {
            key.cbc_encrypt(&mut [0; 16], text).expect("blocks");
        })
    }),
    ("CTR", |level| {
        let key = Aes128::with_level(&key(), level);
        Subject::new(100, fixed_or_random(), move |text| {
            key.ctr(CounterBits::Bits64, &[0; 16], text).expect("few blocks");
        })
    }),
    ("XTS", |level| {
        let key = Aes128Xts::with_level(&key(), level).expect("keys that differ");
        Subject::new(100, fixed_or_random(), move |text| {
            key.encrypt(&[0; 16], text).expect("a data unit");
        })
    }),
    ("lanes of CBCS, key each", |level| {
        let keys: [_; 16] =
            array::from_fn(|at| Aes128::with_level(&[at.to_le_bytes()[0]; 16], level));
        Subject::new(16 * 64, fixed_or_random(), move |texts| {
            let jobs = texts.chunks_mut(64).zip(&keys);
            let jobs = jobs.map(|(text, key)| Job::new(key, [0; 16], Pattern::new(1, 1), text));
            lanes::encrypt(&mut jobs.collect::<Vec<_>>());
        })
    }),
    ("lanes of CMAC, key each", |level| {
        let keys: [_; 16] =
            array::from_fn(|at| Aes128Cmac::with_level(&[at.to_le_bytes()[0]; 16], level));
        Subject::new(16 * 64, fixed_or_random(), move |texts| {
            let jobs = texts.chunks_mut(64).zip(&keys);
            let mut jobs: Vec<_> = jobs.map(|(text, key)| MacJob::new(key, text)).collect();
            lanes::mac(&mut jobs);
            black_box(&jobs);
        })
    }),
    ("GHASH", |level| {
        Subject::new(100, fixed_or_random(), move |text| {
            let mut hash = Ghash::with_level(&[7; 16], level);
            hash.update(text);
            black_box(hash.finish());
        })
    }),
    ("POLYVAL", |level| {
        Subject::new(100, fixed_or_random(), move |text| {
            let mut hash = Polyval::with_level(&[7; 16], level);
            hash.update(text);
            black_box(hash.finish());
        })
    }),
    ("GCM, sealing", |level| sealing(Aes128Gcm::with_level(&key(), level), 12)),
    ("GCM-SIV, sealing", |level| sealing(Aes128GcmSiv::with_level(&key(), level), 12)),
    ("CCM, sealing", |level| sealing(Aes128Ccm::with_level(&key(), level), 12)),
    ("OCB3, sealing", |level| sealing(Aes128Ocb3::with_level(&key(), level), 12)),
    ("AEGIS-128L, sealing", |level| sealing(Aegis128L::with_level(&key(), level), 16)),
    ("GCM, wrong tag", |level| opening(Aes128Gcm::with_level(&key(), level), 12, 48)),
    ("GCM, wrong tag, no text", |level| opening(Aes256Gcm::with_level(&key(), level), 12, 0)),
    ("GCM, wrong tag of 12", |level| {
        opening(Aes192Gcm::with_level(&key(), level).with_tag_length(12).expect("12"), 12, 48)
    }),
    ("GCM, tag wrong anywhere", |level| anywhere(Aes128Gcm::with_level(&key(), level), 12)),
    ("GMAC, wrong tag", |level| {
        let key = Aes128Gcm::with_level(&key(), level);
        let mut tag = [0; 16];
        key.mac(&[1; 12], &[2; 32], &mut tag).expect("lengths");
        Subject::new(16, wrong_first_or_last(tag), move |tag| {
            let _ = black_box(key.verify(&[1; 12], &[2; 32], tag));
        })
    }),
    ("GCM in pieces, wrong tag", |level| {
        let key = Aes128Gcm::with_level(&key(), level);
        let sealed = key.seal_vec(&[1; 12], b"", &[2; 48]).expect("lengths");
        let (text, tag) = sealed.split_at(48);
        let (text, tag) = (text.to_vec(), tag.to_vec());
        Subject::new(16, wrong_first_or_last(tag), move |tag| {
            let mut opener = key.opener(&[1; 12]).expect("a nonce");
            opener.update(&text).expect("a short message");
            let _ = black_box(opener.finish(tag));
        })
    }),
    ("GCM-SIV, wrong tag", |level| opening(Aes128GcmSiv::with_level(&key(), level), 12, 48)),
    ("GCM-SIV, tag wrong anywhere", |level| anywhere(Aes256GcmSiv::with_level(&key(), level), 12)),
    ("CCM, wrong tag", |level| opening(Aes128Ccm::with_level(&key(), level), 12, 48)),
    ("CCM, wrong tag of 4", |level| {
        opening(Aes256Ccm::with_level(&key(), level).with_tag_length(4).expect("4"), 12, 48)
    }),
    ("CCM, tag wrong anywhere", |level| anywhere(Aes128Ccm::with_level(&key(), level), 12)),
    ("OCB3, wrong tag", |level| opening(Aes128Ocb3::with_level(&key(), level), 12, 48)),
    ("OCB3, wrong tag of 8", |level| {
        opening(Aes256Ocb3::with_level(&key(), level).with_tag_length(8).expect("8"), 12, 48)
    }),
    ("OCB3, tag wrong anywhere", |level| anywhere(Aes128Ocb3::with_level(&key(), level), 12)),
    ("AEGIS-128L, wrong tag of 32", |level| opening(Aegis128L::with_level(&key(), level), 16, 48)),
    ("AEGIS-128X4, wrong tag of 16", |level| {
        opening(Aegis128X4::with_level(&key(), level).with_tag_length(16).expect("16"), 16, 48)
    }),
    ("AEGIS-256, tag wrong anywhere", |level| anywhere(Aegis256::with_level(&key(), level), 32)),
    ("CMAC, wrong MAC", |level| {
        let key = Aes128Cmac::with_level(&key(), level);
        let mac = key.mac(&[2; 32]);
        Subject::new(16, wrong_first_or_last(mac), move |mac| {
            if let Some(mac) = mac.first_chunk() {
                let _ = black_box(key.verify(&[2; 32], mac));
            }
        })
    }),
    ("AEGISMAC, wrong MAC", |level| {
        let key = Aegis128L::with_level(&key(), level);
        let mut mac = [0; 32];
        key.mac(&[1; 16], &[2; 32], &mut mac).expect("lengths");
        Subject::new(32, wrong_first_or_last(mac), move |mac| {
            let _ = black_box(key.verify_mac(&[1; 16], &[2; 32], mac));
        })
    }),
    ("batch of GCM, one wrong tag", |level| one_wrong(Aes128Gcm::with_level(&key(), level), SHORT)),
    ("batch of GCM-SIV, one wrong tag", |level| {
        one_wrong(Aes128GcmSiv::with_level(&key(), level), SHORT)
    }),
    ("batch of CCM, one wrong tag", |level| one_wrong(Aes128Ccm::with_level(&key(), level), LONG)),
    ("batch of OCB3, one wrong tag", |level| {
        one_wrong(Aes128Ocb3::with_level(&key(), level), SHORT)
    }),
    ("KW, what does not unwrap", |level| {
        let key = Aes256KeyWrap::with_level(&key(), level);
        let wrapped = key.wrap(&[2; 32]).expect("a length of keys");
        Subject::new(40, wrong_first_or_last(wrapped), move |wrapped| {
            let _ = black_box(key.unwrap(wrapped));
        })
    }),
    ("KW, check value wrong in a bit or in all", |level| {
        unwrapping(level, [[0xa7, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6], [0x59; 8]], false)
    }),
    ("KWP, check value or length wrong", |level| {
        let wrong_length = [0xa6, 0x59, 0x59, 0xa6, 0, 0, 0, 99];
        unwrapping(level, [[0xa7, 0x59, 0x59, 0xa6, 0, 0, 0, 13], wrong_length], true)
    }),
    ("KWP, check value or padding wrong", |level| {
        // Of 16 bytes, the last three are no zeros: see `unwrapping`.
        let wrong_padding = [0xa6, 0x59, 0x59, 0xa6, 0, 0, 0, 13];
        unwrapping(level, [[0xa7, 0x59, 0x59, 0xa6, 0, 0, 0, 13], wrong_padding], true)
    }),
    ("KWP, padding wrong or far too long", |level| {
        let wrong_padding = [0xa6, 0x59, 0x59, 0xa6, 0, 0, 0, 13];
        unwrapping(level, [wrong_padding, [0xa6, 0x59, 0x59, 0xa6, 0xff, 0xff, 0xff, 0xff]], true)
    }),
];

/// Messages of a batch: so many that they go side by side, where the algorithm has a kernel for the level.
const MESSAGES: usize = 24;

/// Bytes of the text of each; for CCM, whose lanes are for long ones.
const SHORT: usize = 32;
const LONG: usize = 448;

/// Any key; its halves differ, as XTS demands.
fn key<const N: usize>() -> [u8; N] {
    array::from_fn(|at| (at * 3 + 1).to_le_bytes()[0])
}

/// Seals zeros, or a random text.
fn sealing<A: Aead + 'static>(key: A, nonce: usize) -> Subject {
    Subject::new(48, fixed_or_random(), move |text| {
        let mut tag = [0; 32];
        key.seal(&[1; 32][..nonce], b"", text, &mut tag[..key.tag_length()]).expect("lengths");
        black_box(tag);
    })
}

/// Opens a message whose tag is wrong in its first or in its last byte.
fn opening<A: Aead + 'static>(key: A, nonce: usize, length: usize) -> Subject {
    let [text, tag] = sealed(&key, nonce, length);
    Subject::new(tag.len(), wrong_first_or_last(tag), open(key, nonce, text))
}

/// Opens a message whose tag is wrong in its first byte or in any other.
fn anywhere<A: Aead + 'static>(key: A, nonce: usize) -> Subject {
    let [text, tag] = sealed(&key, nonce, 32);
    Subject::new(tag.len(), wrong_first_or_later(tag), open(key, nonce, text))
}

fn sealed<A: Aead>(key: &A, nonce: usize, length: usize) -> [Vec<u8>; 2] {
    let mut text = vec![2; length];
    let mut tag = vec![0; key.tag_length()];
    key.seal(&[1; 32][..nonce], b"header", &mut text, &mut tag).expect("lengths");
    [text, tag]
}

fn open<A: Aead>(key: A, nonce: usize, text: Vec<u8>) -> impl FnMut(&mut [u8]) {
    let mut output = vec![0; text.len()];
    move |tag| {
        let data = InOut::new(&text, &mut output).expect("one length");
        let _ = black_box(key.open_inout(&[1; 32][..nonce], b"header", data, tag));
    }
}

/// Opens a batch in which the tag of one message, any, is wrong in its first or in its last byte.
fn one_wrong<A: Batch + 'static>(key: A, text: usize) -> Subject {
    let message = key.seal_vec(&[1; 12], b"header", &vec![2; text]).expect("lengths");
    let sealed = message.repeat(MESSAGES);
    let fill = move |class, rng: &mut Rng, input: &mut [u8]| {
        input.copy_from_slice(&sealed);
        let message = rng.below(MESSAGES) * (text + 16);
        input[message + text + 15 * class] ^= change(rng);
    };
    Subject::new(MESSAGES * (text + 16), fill, move |input| {
        let messages = input.chunks_mut(text + 16).map(|message| {
            let (text, tag) = message.split_at_mut(text);
            Message::new(&key, &[1; 12], b"header", text, tag)
        });
        let _ = black_box(batch::open(&mut messages.collect::<Vec<_>>()));
    })
}

/// Unwraps what has one of these check values before a key of 16 random bytes, the last of which are not zero.
fn unwrapping(level: AesLevel, heads: [[u8; 8]; 2], padded: bool) -> Subject {
    let (cipher, wrapper) =
        (Aes128::with_level(&key(), level), Aes128KeyWrap::with_level(&key(), level));
    let fill = move |class: usize, rng: &mut Rng, state: &mut [u8]| {
        rng.fill(state);
        state[..8].copy_from_slice(&heads[class]);
        state[16..].iter_mut().for_each(|byte| *byte |= 1);
        wrapping_function(&cipher, state);
    };
    Subject::new(24, fill, move |wrapped| {
        let unwrapped =
            if padded { wrapper.unwrap_padded(wrapped) } else { wrapper.unwrap(wrapped) };
        let _ = black_box(unwrapped);
    })
}

/// W (SP 800-38F, 6.1): what wraps, with any check value.
fn wrapping_function(cipher: &Aes128, state: &mut [u8]) {
    let halves = state.len() / 8 - 1;
    for step in 0..6 * halves {
        let half = 8 * (1 + step % halves);
        let mut block = [0; 16];
        block[..8].copy_from_slice(&state[..8]);
        block[8..].copy_from_slice(&state[half..][..8]);
        cipher.encrypt_block(&mut block);
        block[7] ^= (step + 1).to_le_bytes()[0];
        state[..8].copy_from_slice(&block[..8]);
        state[half..][..8].copy_from_slice(&block[8..]);
    }
}
