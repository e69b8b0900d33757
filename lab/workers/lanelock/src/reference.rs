//! The engine's results on the data of the lab, one message at a time: what the peers' results are
//! compared with.

use std::num::NonZeroU32;

use lanelock::{
    Aes, Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap,
    Aes192Xts, Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, AesLevel, Block, CounterBits, InOut,
    Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, ChaCha20Poly1305,
    },
    hash::{
        Crc32, Crc32c, Crc64Nvme, Crc64Xz, Ghash, HmacKey, Kt128, Pbkdf2Job, Polyval, Sha1,
        Sha3_256, Sha256, Sha512, Shake128, Sm3, algorithm, pbkdf2_all,
    },
    record::{CbcHmac, MacOrder},
};
use lanelock_lab_common::{Data, ITERATIONS, Prepared, Row, call};
use lanelock_speed::workload::{hash_levels, record_header};

/// The call of `row`; `None` where there is nothing to compare.
pub fn prepare(row: &Row, data: &Data, level: AesLevel) -> Prepared {
    match row.key_bits {
        128 if row.algorithm == "ghash" => each(blocks(data), move |key, data, i| {
            let mut hash = Ghash::with_level(key, level);
            hash.update(&data.input[i]);
            data.tags[i] = hash.finish();
        }),
        128 if row.algorithm == "polyval" => each(blocks(data), move |key, data, i| {
            let mut hash = Polyval::with_level(key, level);
            hash.update(&data.input[i]);
            data.tags[i] = hash.finish();
        }),
        128 | 256 if row.algorithm.starts_with("aegis") => aegis(row, data, level),
        128 if row.algorithm == "gcm-siv" => {
            aead(keys(data, |key| Aes128GcmSiv::with_level(key, level)), row, 12)
        }
        256 if row.algorithm == "gcm-siv" => {
            aead(keys(data, |key| Aes256GcmSiv::with_level(key, level)), row, 12)
        }
        256 if row.algorithm == "chacha20-poly1305" => {
            let level = hash_levels(level).lanes;
            aead(keys(data, |key| ChaCha20Poly1305::with_level(key, level)), row, 12)
        }
        256 if row.algorithm == "hmac-sha-256" => {
            let key =
                |key: &[u8; 32]| HmacKey::<algorithm::Sha256>::with_levels(hash_levels(level), key);
            each(keys(data, key), |key, data, i| {
                data.tags[i].copy_from_slice(&key.tag(&data.input[i])[..16]);
            })
        }
        128 if row.algorithm == "cbc-hmac-sha-1" => records::<algorithm::Sha1>(row, data, level),
        128 if row.algorithm == "cbc-hmac-sha-256" => {
            records::<algorithm::Sha256>(row, data, level)
        }
        128 => aes_128(row, data, level),
        192 => aes_192(row, data, level),
        256 => aes_256(row, data, level),
        _ => sum(row, level).or_else(|| hash(row, level)),
    }
}

/// Hashes, and what is made of them; what is compared are 16 bytes.
fn hash(row: &Row, level: AesLevel) -> Prepared {
    let levels = hash_levels(level);
    macro_rules! hash {
        ($hash:ident) => {
            call(move |data| {
                for (message, tag) in data.input.iter().zip(&mut data.tags) {
                    let mut hash = $hash::with_level(levels.one);
                    hash.update(message);
                    tag.copy_from_slice(&hash.finish()[..16]);
                }
            })
        };
    }
    match &row.algorithm[..] {
        "sha-1" => hash!(Sha1),
        "sha-256" => hash!(Sha256),
        "sha-512" => hash!(Sha512),
        "sha3-256" => hash!(Sha3_256),
        "shake128" => hash!(Shake128),
        "sm3" => hash!(Sm3),
        "kt128" => call(move |data| {
            for (message, tag) in data.input.iter().zip(&mut data.tags) {
                let mut hash = Kt128::with_levels(levels);
                hash.update(message);
                hash.finish(b"").read(tag);
            }
        }),
        "pbkdf2-sha-256" => call(move |data| {
            for i in 0..data.output.len() {
                let (password, salt, key) = data.password(i);
                let iterations = NonZeroU32::new(ITERATIONS).expect("more than none");
                let mut jobs = [Pbkdf2Job { password, salt, iterations, key }];
                pbkdf2_all::<algorithm::Sha256>(levels, &mut jobs);
            }
        }),
        _ => None,
    }
}

/// Records whose MAC is encrypted.
fn records<A: algorithm::MerkleDamgard>(row: &Row, data: &Data, level: AesLevel) -> Prepared {
    let size = row.size;
    let key = |bytes: &Vec<u8>| {
        let (cipher, mac) = bytes.split_first_chunk().expect("two keys");
        let order = MacOrder::MacThenEncrypt;
        CbcHmac::<Aes<128>, A>::with_levels(order, (cipher, level), (mac, hash_levels(level)))
    };
    each(data.keys.iter().map(key).collect(), move |key, data, i| {
        let iv = iv(data, i);
        key.seal(record_header(i), &iv, &mut data.output[i], size).expect("room");
    })
}

fn aegis(row: &Row, data: &Data, level: AesLevel) -> Prepared {
    macro_rules! aegis {
        ($type:ident, $nonce:expr) => {
            aead(
                keys(data, |key| {
                    let key = $type::with_level(key, level).with_tag_length(16);
                    key.expect("a length that AEGIS has")
                }),
                row,
                $nonce,
            )
        };
    }
    match &row.algorithm[..] {
        "aegis-128l" => aegis!(Aegis128L, 16),
        "aegis-128x2" => aegis!(Aegis128X2, 16),
        "aegis-128x4" => aegis!(Aegis128X4, 16),
        "aegis-256" => aegis!(Aegis256, 32),
        "aegis-256x2" => aegis!(Aegis256X2, 32),
        "aegis-256x4" => aegis!(Aegis256X4, 32),
        _ => None,
    }
}

fn sum(row: &Row, level: AesLevel) -> Prepared {
    macro_rules! sum {
        ($crc:ident) => {
            call(move |data| {
                for (message, tag) in data.input.iter().zip(&mut data.tags) {
                    let mut sum = $crc::with_level(level);
                    sum.update(message);
                    tag[..8].copy_from_slice(&u64::from(sum.finish()).to_le_bytes());
                }
            })
        };
    }
    match &row.algorithm[..] {
        "crc-32" => sum!(Crc32),
        "crc-32c" => sum!(Crc32c),
        "crc-64-nvme" => sum!(Crc64Nvme),
        "crc-64-xz" => sum!(Crc64Xz),
        _ => None,
    }
}

/// Keys of one block.
fn blocks(data: &Data) -> Vec<Block> {
    keys(data, |key: &Block| *key)
}

/// The calls of a key size.
macro_rules! calls {
    ($name:ident, $aes:ident, $gcm:ident, $ocb3:ident, $ccm:ident, $xts:ident, $cmac:ident, $wrap:ident) => {
        fn $name(row: &Row, data: &Data, level: AesLevel) -> Prepared {
            let encrypt = row.operation == "encrypt";
            let aes = || keys(data, |key| $aes::with_level(key, level));
            let gcm = || keys(data, |key| $gcm::with_level(key, level));
            let wrap = || keys(data, |key| $wrap::with_level(key, level));
            match &row.algorithm[..] {
                "ecb" => each(aes(), move |key, data, i| {
                    let buffer = &mut data.output[i];
                    let done =
                        if encrypt { key.ecb_encrypt(buffer) } else { key.ecb_decrypt(buffer) };
                    done.expect("whole blocks");
                }),
                "ctr" => each(aes(), |key, data, i| {
                    let counter = iv(data, i);
                    key.ctr(CounterBits::Bits64, &counter, &mut data.output[i])
                        .expect("fewer blocks than the counter has values");
                }),
                "cbc" | "cbcs" => {
                    let pattern =
                        if row.algorithm == "cbc" { Pattern::ALL } else { Pattern::new(1, 9) };
                    each(aes(), move |key, data, i| {
                        let (mut iv, buffer) = (iv(data, i), &mut data.output[i]);
                        if encrypt {
                            key.cbcs_encrypt(&mut iv, pattern, buffer);
                        } else {
                            key.cbcs_decrypt(&mut iv, pattern, buffer);
                        }
                    })
                }
                "gcm" => aead(gcm(), row, 12),
                "ocb3" => aead(keys(data, |key| $ocb3::with_level(key, level)), row, 12),
                "ccm" => aead(keys(data, |key| $ccm::with_level(key, level)), row, 13),
                "xts" => {
                    let xts = |key: &_| $xts::with_level(key, level).expect("two keys");
                    each(keys(data, xts), move |key, data, i| {
                        let (tweak, buffer) = (iv(data, i), &mut data.output[i]);
                        let done = if encrypt {
                            key.encrypt(&tweak, buffer)
                        } else {
                            key.decrypt(&tweak, buffer)
                        };
                        done.expect("a block or more");
                    })
                }
                "cmac" => each(keys(data, |key| $cmac::with_level(key, level)), |key, data, i| {
                    data.tags[i] = key.mac(&data.input[i]);
                }),
                "kw" if encrypt => each(wrap(), |key, data, i| {
                    key.wrap_to(&data.input[i], &mut data.output[i]).expect("room");
                }),
                "kw" => each(wrap(), |key, data, i| {
                    let bytes = data.input[i].len() - 8;
                    key.unwrap_to(&data.input[i], &mut data.output[i][..bytes])
                        .expect("a wrapped key");
                }),
                "kwp" if encrypt => each(wrap(), |key, data, i| {
                    key.wrap_padded_to(&data.input[i], &mut data.output[i]).expect("room");
                }),
                "kwp" => each(wrap(), |key, data, i| {
                    let bytes = key.unwrap_padded(&data.input[i]).expect("a wrapped key");
                    data.output[i][..bytes.len()].copy_from_slice(&bytes);
                }),
                "gmac" => each(gcm(), |key, data, i| {
                    let (nonce, message) = (&data.nonces[i][..12], &data.input[i]);
                    key.mac(nonce, message, &mut data.tags[i]).expect("a short message");
                }),
                _ => None,
            }
        }
    };
}

calls!(aes_128, Aes128, Aes128Gcm, Aes128Ocb3, Aes128Ccm, Aes128Xts, Aes128Cmac, Aes128KeyWrap);
calls!(aes_192, Aes192, Aes192Gcm, Aes192Ocb3, Aes192Ccm, Aes192Xts, Aes192Cmac, Aes192KeyWrap);
calls!(aes_256, Aes256, Aes256Gcm, Aes256Ocb3, Aes256Ccm, Aes256Xts, Aes256Cmac, Aes256KeyWrap);

fn aead<A: Aead + 'static>(keys: Vec<A>, row: &Row, nonce: usize) -> Prepared {
    match &row.operation[..] {
        "seal" => each(keys, move |key, data, i| {
            let (nonce, length) = (&data.nonces[i][..nonce], data.length(i));
            let text = &mut data.output[i][..length];
            key.seal(nonce, &data.aad, text, &mut data.tags[i]).expect("a short message");
        }),
        operation => {
            let good = operation == "open";
            each(keys, move |key, data, i| {
                let nonce = &data.nonces[i][..nonce];
                let buffer = InOut::new(&data.input[i], &mut data.output[i]).expect("one length");
                let opened = key.open_inout(nonce, &data.aad, buffer, &data.tags[i]);
                assert_eq!(opened.is_ok(), good);
            })
        }
    }
}

/// `f` for each message, with its key.
fn each<K: 'static>(keys: Vec<K>, f: impl Fn(&K, &mut Data, usize) + 'static) -> Prepared {
    call(move |data| {
        for i in 0..data.output.len() {
            f(&keys[data.key_index(i)], data, i);
        }
    })
}

fn keys<const N: usize, K>(data: &Data, new: impl Fn(&[u8; N]) -> K) -> Vec<K> {
    data.keys.iter().map(|key| new(key[..].try_into().expect("a key of its size"))).collect()
}

fn iv(data: &Data, i: usize) -> Block {
    *data.nonces[i].first_chunk().expect("32 bytes")
}
