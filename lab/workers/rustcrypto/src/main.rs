//! The crates of RustCrypto. Built twice: as anyone gets them, and with `-C target-cpu=native`, which
//! some of their authors recommend.

mod pubkey;

use aes::{
    Aes128, Aes192, Aes256, Block,
    cipher::{
        BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InOutBuf,
        InnerIvInit, KeyInit, StreamCipher, StreamCipherCoreWrapper, consts,
    },
};
use aes_gcm::aead::AeadInOut;
use cmac::{Cmac, Mac};
use ctr::{CtrCore, flavors::Ctr64BE};
use hmac::digest::{Digest, ExtendableOutput, Update};
use lanelock_lab_common::{Data, ITERATIONS, Library, Prepared, Row, call, serve, version_of};
use polyval::universal_hash::UniversalHash;

struct RustCrypto;

impl Library for RustCrypto {
    fn version(&self) -> String {
        let crates = ["aes", "ctr", "cbc", "xts-mode", "aes-gcm", "aes-gcm-siv", "ccm", "ocb3"];
        let more =
            ["cmac", "aes-kw", "ghash", "polyval", "sha1", "sha2", "sha3", "shake", "sm3", "k12"];
        let public = ["rsa", "p256", "p384", "x25519-dalek", "ed25519-dalek"];
        let named = crates
            .iter()
            .chain(&more)
            .chain(&public)
            .map(|name| format!("{name} {}", version_of(name)));
        let native = if cfg!(target_feature = "vaes") { ", for this processor" } else { "" };
        format!("RustCrypto ({}){native}", named.collect::<Vec<_>>().join(", "))
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        match row.kind() {
            ("sha-1", ..) => digest::<sha1::Sha1>(),
            ("sha-256", ..) => digest::<sha2::Sha256>(),
            ("sha-512", ..) => digest::<sha2::Sha512>(),
            ("sha3-256", ..) => digest::<sha3::Sha3_256>(),
            ("sm3", ..) => digest::<sm3::Sm3>(),
            ("shake128", ..) => extendable(shake::Shake128::default),
            ("kt128", ..) => extendable(k12::Kt128::default),
            ("hmac-sha-256", ..) => hmac(data),
            ("pbkdf2-sha-256", ..) => call(|data| {
                for i in 0..data.output.len() {
                    let (password, salt, key) = data.password(i);
                    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(password, salt, ITERATIONS, key);
                }
            }),
            ("ghash", _, 128) => hash::<ghash::GHash>(data),
            ("polyval", _, 128) => hash::<polyval::Polyval>(data),
            ("gcm-siv", _, 128) => aead(keys::<aes_gcm_siv::Aes128GcmSiv>(data), row),
            ("gcm-siv", _, 256) => aead(keys::<aes_gcm_siv::Aes256GcmSiv>(data), row),
            ("chacha20-poly1305", ..) => {
                aead(keys::<chacha20poly1305::ChaCha20Poly1305>(data), row)
            }
            ("rsa" | "ecdsa" | "ecdh" | "x25519" | "ed25519", ..) => pubkey::prepare(row, data),
            (_, _, 128) => aes_128(row, data),
            (_, _, 192) => aes_192(row, data),
            (_, _, 256) => aes_256(row, data),
            _ => None,
        }
    }
}

fn main() {
    serve(&RustCrypto);
}

/// The calls of a key size.
macro_rules! calls {
    ($name:ident, $aes:ty) => {
        fn $name(row: &Row, data: &Data) -> Prepared {
            let encrypt = row.operation == "encrypt";
            match (&row.algorithm[..], encrypt) {
                ("ecb", true) => each(keys::<$aes>(data), |key, data, i| {
                    key.encrypt_blocks_inout(blocks(&mut data.output[i]));
                }),
                ("ecb", false) => each(keys::<$aes>(data), |key, data, i| {
                    key.decrypt_blocks_inout(blocks(&mut data.output[i]));
                }),
                ("ctr", _) => each(keys::<$aes>(data), |key, data, i| {
                    let core = CtrCore::<_, Ctr64BE>::inner_iv_init(key, &iv(data, i));
                    StreamCipherCoreWrapper::from_core(core).apply_keystream(&mut data.output[i]);
                }),
                ("cbc", true) => each(keys::<$aes>(data), |key, data, i| {
                    cbc::Encryptor::inner_iv_init(key, &iv(data, i))
                        .encrypt_blocks_inout(blocks(&mut data.output[i]));
                }),
                ("cbc", false) => each(keys::<$aes>(data), |key, data, i| {
                    cbc::Decryptor::inner_iv_init(key, &iv(data, i))
                        .decrypt_blocks_inout(blocks(&mut data.output[i]));
                }),
                ("xts", _) => {
                    let pair = |key: &Vec<u8>| {
                        let (first, second) = key.split_at(key.len() / 2);
                        xts_mode::Xts128::new(one::<$aes>(first), one::<$aes>(second))
                    };
                    each(data.keys.iter().map(pair).collect(), move |key, data, i| {
                        let tweak = iv(data, i);
                        if encrypt {
                            key.encrypt_sector(&mut data.output[i], tweak);
                        } else {
                            key.decrypt_sector(&mut data.output[i], tweak);
                        }
                    })
                }
                ("gcm", _) => aead(keys::<aes_gcm::AesGcm<$aes, consts::U12>>(data), row),
                ("gmac", _) => {
                    each(keys::<aes_gcm::AesGcm<$aes, consts::U12>>(data), |key, data, i| {
                        let nonce = data.nonces[i].first_chunk::<12>().expect("32 bytes");
                        let tag = key.encrypt_inout_detached(
                            nonce.into(),
                            &data.input[i],
                            InOutBuf::from(&mut [][..]),
                        );
                        data.tags[i] = tag.expect("a short message").into();
                    })
                }
                ("ccm", _) => aead(keys::<ccm::Ccm<$aes, consts::U16, consts::U13>>(data), row),
                ("ocb3", _) => aead(keys::<ocb3::Ocb3<$aes>>(data), row),
                ("cmac", _) => each_mut(keys::<Cmac<$aes>>(data), |mac, data, i| {
                    Mac::update(mac, &data.input[i]);
                    data.tags[i] = mac.finalize_reset().into_bytes().into();
                }),
                ("kw", true) => each(keys::<aes_kw::AesKw<$aes>>(data), |key, data, i| {
                    key.wrap_key(&data.input[i], &mut data.output[i]).expect("room");
                }),
                ("kw", false) => each(keys::<aes_kw::AesKw<$aes>>(data), |key, data, i| {
                    key.unwrap_key(&data.input[i], &mut data.output[i]).expect("a wrapped key");
                }),
                ("kwp", true) => each(keys::<aes_kw::AesKwp<$aes>>(data), |key, data, i| {
                    key.wrap_key(&data.input[i], &mut data.output[i]).expect("room");
                }),
                ("kwp", false) => each(keys::<aes_kw::AesKwp<$aes>>(data), |key, data, i| {
                    key.unwrap_key(&data.input[i], &mut data.output[i]).expect("a wrapped key");
                }),
                ("key-expansion", _) => call(|data| {
                    std::hint::black_box(&one::<$aes>(std::hint::black_box(&data.keys[0])));
                }),
                _ => None,
            }
        }
    };
}

calls!(aes_128, Aes128);
calls!(aes_192, Aes192);
calls!(aes_256, Aes256);

fn aead<A: AeadInOut + 'static>(keys: Vec<A>, row: &Row) -> Prepared {
    if row.operation == "seal" {
        each(keys, |key, data, i| {
            let nonce = nonce::<A>(&data.nonces[i]);
            let buffer = InOutBuf::from(&mut data.output[i][..]);
            let tag = key.encrypt_inout_detached(nonce, &[], buffer).expect("a short message");
            data.tags[i].copy_from_slice(&tag);
        })
    } else {
        each(keys, |key, data, i| {
            let nonce = nonce::<A>(&data.nonces[i]);
            let buffer = InOutBuf::new(&data.input[i], &mut data.output[i]).expect("one length");
            let tag = (&data.tags[i][..]).try_into().expect("16 bytes");
            key.decrypt_inout_detached(nonce, &[], buffer, tag).expect("a good tag");
        })
    }
}

fn digest<D: Digest>() -> Prepared {
    call(|data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            tag.copy_from_slice(&D::digest(&message[..])[..16]);
        }
    })
}

fn extendable<X: Update + ExtendableOutput>(new: impl Fn() -> X + 'static) -> Prepared {
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            let mut hash = new();
            hash.update(message);
            let mut digest = [0; 32];
            hash.finalize_xof_into(&mut digest);
            tag.copy_from_slice(&digest[..16]);
        }
    })
}

fn hmac(data: &Data) -> Prepared {
    each(keys::<hmac::Hmac<sha2::Sha256>>(data), |key, data, i| {
        let mut mac = key.clone();
        Mac::update(&mut mac, &data.input[i]);
        data.tags[i].copy_from_slice(&mac.finalize().into_bytes()[..16]);
    })
}

fn hash<H: UniversalHash + KeyInit + Clone + 'static>(data: &Data) -> Prepared {
    each(keys::<H>(data), |key, data, i| {
        let mut hash = key.clone();
        hash.update_padded(&data.input[i]);
        data.tags[i].copy_from_slice(&hash.finalize());
    })
}

/// `f` for each message, with its key.
fn each<K: 'static>(keys: Vec<K>, f: impl Fn(&K, &mut Data, usize) + 'static) -> Prepared {
    call(move |data| {
        for i in 0..data.output.len() {
            f(&keys[data.key_index(i)], data, i);
        }
    })
}

/// The same for objects that change.
fn each_mut<K: 'static>(
    mut keys: Vec<K>,
    f: impl Fn(&mut K, &mut Data, usize) + 'static,
) -> Prepared {
    call(move |data| {
        for i in 0..data.output.len() {
            f(&mut keys[data.key_index(i)], data, i);
        }
    })
}

fn keys<K: KeyInit>(data: &Data) -> Vec<K> {
    data.keys.iter().map(|key| one(key)).collect()
}

fn one<K: KeyInit>(key: &[u8]) -> K {
    K::new_from_slice(key).expect("a key of its size")
}

fn blocks(data: &mut [u8]) -> InOutBuf<'_, '_, Block> {
    InOutBuf::from(Block::slice_as_chunks_mut(data).0)
}

fn iv(data: &Data, i: usize) -> Block {
    (*data.nonces[i].first_chunk::<16>().expect("32 bytes")).into()
}

fn nonce<A: AeadInOut>(bytes: &[u8; 32]) -> &aes_gcm::aead::Nonce<A> {
    let length = aes_gcm::aead::Nonce::<A>::default().len();
    (&bytes[..length]).try_into().expect("a nonce of its size")
}
