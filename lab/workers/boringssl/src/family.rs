//! BoringSSL and AWS-LC, which have the same interface: `AES_*` for the modes, `CMAC_*`, and
//! `EVP_AEAD_CTX_*` with keys kept and buffers in place. Both libraries document these as the direct
//! way to their assembly.

use std::{mem::MaybeUninit, ptr::null, ptr::null_mut};

use lanelock_lab_common::{Data, ITERATIONS, Prepared, Row, call};

use super::sys;

/// The call of `row`, if the library has it.
pub fn prepare(row: &Row, data: &Data) -> Prepared {
    match (&row.algorithm[..], &row.operation[..]) {
        ("ctr", _) => ctr(data),
        ("cbc", operation) => cbc(data, operation == "encrypt"),
        ("ecb", operation) => ecb(row, data, operation == "encrypt"),
        ("cmac", _) => cmac(row, data),
        ("kw", operation) => wrap(row, data, operation == "encrypt"),
        ("kwp", operation) => wrap_padded(row, data, operation == "encrypt"),
        ("gmac", _) => gmac(row, data),
        ("key-expansion", _) => call(|data| {
            let key = std::hint::black_box(&data.keys[0]);
            let mut schedules = [const { MaybeUninit::<sys::AES_KEY>::uninit() }; 2];
            // SAFETY: a key of the size that is given, and places for schedules.
            unsafe {
                sys::AES_set_encrypt_key(key.as_ptr(), bits(key), schedules[0].as_mut_ptr());
                sys::AES_set_decrypt_key(key.as_ptr(), bits(key), schedules[1].as_mut_ptr());
            }
            std::hint::black_box(&schedules);
        }),
        ("sha-1", _) => hash(sys::SHA1),
        ("sha-256", _) => hash(sys::SHA256),
        ("sha-512", _) => hash(sys::SHA512),
        ("hmac-sha-256", _) => hmac(data),
        ("pbkdf2-sha-256", _) => pbkdf2(),
        (_, "seal") => seal(row, data),
        (_, "open") => open(row, data),
        _ => None,
    }
}

type Keys = Vec<Box<sys::AES_KEY>>;

fn encrypt_key(key: &[u8]) -> Box<sys::AES_KEY> {
    let mut schedule = Box::new(MaybeUninit::uninit());
    // SAFETY: a key of the size that is given; the call initialises the schedule.
    unsafe {
        assert_eq!(sys::AES_set_encrypt_key(key.as_ptr(), bits(key), schedule.as_mut_ptr()), 0);
        schedule.assume_init()
    }
}

fn decrypt_key(key: &[u8]) -> Box<sys::AES_KEY> {
    let mut schedule = Box::new(MaybeUninit::uninit());
    // SAFETY: as above.
    unsafe {
        assert_eq!(sys::AES_set_decrypt_key(key.as_ptr(), bits(key), schedule.as_mut_ptr()), 0);
        schedule.assume_init()
    }
}

fn bits(key: &[u8]) -> std::ffi::c_uint {
    std::ffi::c_uint::try_from(key.len() * 8).expect("a short key")
}

fn keys(data: &Data, encrypt: bool) -> Keys {
    let expand = if encrypt { encrypt_key } else { decrypt_key };
    data.keys.iter().map(|key| expand(key)).collect()
}

fn ctr(data: &Data) -> Prepared {
    let keys = keys(data, true);
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &*keys[data.key_index(i)];
            let (mut iv, mut rest, mut used) = ([0; 16], [0; 16], 0);
            iv.copy_from_slice(&data.nonces[i][..16]);
            let buffer = &mut data.output[i];
            let pointer = buffer.as_mut_ptr();
            // SAFETY: in place in a buffer of that length.
            unsafe {
                sys::AES_ctr128_encrypt(
                    pointer,
                    pointer,
                    buffer.len(),
                    key,
                    iv.as_mut_ptr(),
                    rest.as_mut_ptr(),
                    &mut used,
                );
            }
        }
    })
}

fn cbc(data: &Data, encrypt: bool) -> Prepared {
    let keys = keys(data, encrypt);
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &*keys[data.key_index(i)];
            let mut iv = [0; 16];
            iv.copy_from_slice(&data.nonces[i][..16]);
            let buffer = &mut data.output[i];
            let pointer = buffer.as_mut_ptr();
            // SAFETY: in place in a buffer of that length.
            unsafe {
                sys::AES_cbc_encrypt(
                    pointer,
                    pointer,
                    buffer.len(),
                    key,
                    iv.as_mut_ptr(),
                    encrypt.into(),
                );
            }
        }
    })
}

/// By `EVP_CIPHER`: `AES_ecb_encrypt` takes one block.
fn ecb(row: &Row, data: &Data, encrypt: bool) -> Prepared {
    // SAFETY: static tables.
    let cipher = unsafe {
        match row.key_bits {
            128 => sys::EVP_aes_128_ecb(),
            256 => sys::EVP_aes_256_ecb(),
            _ => return None,
        }
    };
    let contexts = ciphers(cipher, data, encrypt);
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            update(context, &mut data.output[i]);
        }
    })
}

/// Contexts with their keys, one for each key, which live as long as the process.
pub fn ciphers(
    cipher: *const sys::EVP_CIPHER,
    data: &Data,
    encrypt: bool,
) -> Vec<*mut sys::EVP_CIPHER_CTX> {
    let context = |key: &Vec<u8>| {
        // SAFETY: a static table, and a key of its size.
        unsafe {
            let context = sys::EVP_CIPHER_CTX_new();
            let engine = null_mut();
            let encrypt = encrypt.into();
            let done =
                sys::EVP_CipherInit_ex(context, cipher, engine, key.as_ptr(), null(), encrypt);
            assert_eq!(done, 1);
            sys::EVP_CIPHER_CTX_set_padding(context, 0);
            context
        }
    };
    data.keys.iter().map(context).collect()
}

/// In place.
pub fn update(context: *mut sys::EVP_CIPHER_CTX, data: &mut [u8]) {
    let (pointer, mut written) = (data.as_mut_ptr(), 0);
    // SAFETY: a live context without padding, in place in a buffer of that length.
    let done =
        unsafe { sys::EVP_CipherUpdate(context, pointer, &mut written, pointer, data.len() as _) };
    assert_eq!(done, 1);
}

fn cmac(row: &Row, data: &Data) -> Prepared {
    // SAFETY: static tables; then contexts that live as long as the process.
    let contexts: Vec<_> = unsafe {
        let cipher = match row.key_bits {
            128 => sys::EVP_aes_128_cbc(),
            256 => sys::EVP_aes_256_cbc(),
            _ => return None,
        };
        let context = |key: &Vec<u8>| {
            let context = sys::CMAC_CTX_new();
            assert_eq!(
                sys::CMAC_Init(context, key.as_ptr().cast(), key.len(), cipher, null_mut()),
                1
            );
            context
        };
        data.keys.iter().map(context).collect()
    };
    call(move |data| {
        for i in 0..data.input.len() {
            let (context, message) = (contexts[data.key_index(i)], &data.input[i]);
            let mut length = 0;
            // SAFETY: a live context, a message of that length, room for a block.
            unsafe {
                sys::CMAC_Reset(context);
                sys::CMAC_Update(context, message.as_ptr(), message.len());
                sys::CMAC_Final(context, data.tags[i].as_mut_ptr(), &mut length);
            }
        }
    })
}

fn wrap(row: &Row, data: &Data, encrypt: bool) -> Prepared {
    let (keys, size) = (keys(data, encrypt), row.size);
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &*keys[data.key_index(i)];
            let (input, output) = (data.input[i].as_ptr(), data.output[i].as_mut_ptr());
            // SAFETY: the wrapped buffer has eight bytes more than the other.
            let written = unsafe {
                if encrypt {
                    sys::AES_wrap_key(key, null(), output, input, size)
                } else {
                    sys::AES_unwrap_key(key, null(), output, input, size + 8)
                }
            };
            assert!(written > 0);
        }
    })
}

fn wrap_padded(row: &Row, data: &Data, encrypt: bool) -> Prepared {
    let (keys, size) = (keys(data, encrypt), row.size);
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &*keys[data.key_index(i)];
            let (input, output) = (data.input[i].as_ptr(), &mut data.output[i]);
            let (room, output) = (output.len(), output.as_mut_ptr());
            let mut written = 0;
            // SAFETY: the wrapped buffer has eight bytes more than the other.
            let done = unsafe {
                if encrypt {
                    sys::AES_wrap_key_padded(key, output, &mut written, room, input, size)
                } else {
                    sys::AES_unwrap_key_padded(key, output, &mut written, room, input, size + 8)
                }
            };
            assert_eq!(done, 1);
        }
    })
}

/// The contexts, one for each key, and the length of the nonce.
fn aeads(row: &Row, data: &Data) -> Option<(Vec<*mut sys::EVP_AEAD_CTX>, usize)> {
    // SAFETY: static tables.
    let aead = unsafe {
        match (&row.algorithm[..], row.key_bits) {
            ("gcm" | "gmac", 128) => sys::EVP_aead_aes_128_gcm(),
            ("gcm" | "gmac", 192) => sys::EVP_aead_aes_192_gcm(),
            ("gcm" | "gmac", 256) => sys::EVP_aead_aes_256_gcm(),
            ("gcm-siv", 128) => sys::EVP_aead_aes_128_gcm_siv(),
            ("gcm-siv", 256) => sys::EVP_aead_aes_256_gcm_siv(),
            ("chacha20-poly1305", _) => sys::EVP_aead_chacha20_poly1305(),
            // With nonces of 13 bytes and tags of 16.
            ("ccm", 128) => sys::EVP_aead_aes_128_ccm_matter(),
            _ => return None,
        }
    };
    let context = |key: &Vec<u8>| {
        // SAFETY: a key of that length; the context lives as long as the process.
        let context = unsafe { sys::EVP_AEAD_CTX_new(aead, key.as_ptr(), key.len(), 16) };
        assert!(!context.is_null());
        context
    };
    // SAFETY: a static table.
    let nonce = unsafe { sys::EVP_AEAD_nonce_length(aead) };
    Some((data.keys.iter().map(context).collect(), nonce))
}

fn seal(row: &Row, data: &Data) -> Prepared {
    let (contexts, nonce) = aeads(row, data)?;
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            let buffer = &mut data.output[i];
            let (pointer, mut length) = (buffer.as_mut_ptr(), 0);
            // SAFETY: in place in a buffer of that length, with room for the tag.
            let done = unsafe {
                sys::EVP_AEAD_CTX_seal_scatter(
                    context,
                    pointer,
                    data.tags[i].as_mut_ptr(),
                    &mut length,
                    16,
                    data.nonces[i].as_ptr(),
                    nonce,
                    pointer,
                    buffer.len(),
                    null(),
                    0,
                    null(),
                    0,
                )
            };
            assert_eq!(done, 1);
        }
    })
}

fn open(row: &Row, data: &Data) -> Prepared {
    let (contexts, nonce) = aeads(row, data)?;
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            let input = &data.input[i];
            // SAFETY: two buffers of the same length.
            let done = unsafe {
                sys::EVP_AEAD_CTX_open_gather(
                    context,
                    data.output[i].as_mut_ptr(),
                    data.nonces[i].as_ptr(),
                    nonce,
                    input.as_ptr(),
                    input.len(),
                    data.tags[i].as_ptr(),
                    16,
                    null(),
                    0,
                )
            };
            assert_eq!(done, 1);
        }
    })
}

/// A hash in one call.
type Hash = unsafe extern "C" fn(*const u8, usize, *mut u8) -> *mut u8;

fn hash(function: Hash) -> Prepared {
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            let mut digest = [0; 64];
            // SAFETY: a message of that length, and room for any digest.
            unsafe { function(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
            tag.copy_from_slice(&digest[..16]);
        }
    })
}

/// Contexts that keep their keys.
fn hmac(data: &Data) -> Prepared {
    let context = |key: &Vec<u8>| {
        // SAFETY: a static table, a key of that length; the context lives as long as the process.
        unsafe {
            let context = sys::HMAC_CTX_new();
            let (bytes, digest) = (key.as_ptr().cast(), sys::EVP_sha256());
            assert_eq!(sys::HMAC_Init_ex(context, bytes, key.len() as _, digest, null_mut()), 1);
            context
        }
    };
    let contexts: Vec<_> = data.keys.iter().map(context).collect();
    call(move |data| {
        for i in 0..data.input.len() {
            let (context, message) = (contexts[data.key_index(i)], &data.input[i]);
            let (mut tag, mut length) = ([0; 64], 0);
            // SAFETY: a live context, a message of that length, room for the tag.
            unsafe {
                sys::HMAC_Init_ex(context, null(), 0, null(), null_mut());
                sys::HMAC_Update(context, message.as_ptr(), message.len());
                sys::HMAC_Final(context, tag.as_mut_ptr(), &mut length);
            }
            data.tags[i].copy_from_slice(&tag[..16]);
        }
    })
}

fn pbkdf2() -> Prepared {
    call(move |data| {
        for i in 0..data.output.len() {
            let (password, salt, key) = data.password(i);
            // SAFETY: buffers of these lengths.
            let done = unsafe {
                sys::PKCS5_PBKDF2_HMAC(
                    password.as_ptr().cast(),
                    password.len() as _,
                    salt.as_ptr(),
                    salt.len() as _,
                    ITERATIONS as _,
                    sys::EVP_sha256(),
                    key.len() as _,
                    key.as_mut_ptr(),
                )
            };
            assert_eq!(done, 1);
        }
    })
}

fn gmac(row: &Row, data: &Data) -> Prepared {
    let (contexts, nonce) = aeads(row, data)?;
    call(move |data| {
        for i in 0..data.input.len() {
            let context = contexts[data.key_index(i)];
            let (message, mut length) = (&data.input[i], 0);
            // SAFETY: an empty plaintext, and room for the tag.
            let done = unsafe {
                sys::EVP_AEAD_CTX_seal_scatter(
                    context,
                    null_mut(),
                    data.tags[i].as_mut_ptr(),
                    &mut length,
                    16,
                    data.nonces[i].as_ptr(),
                    nonce,
                    null(),
                    0,
                    null(),
                    0,
                    message.as_ptr(),
                    message.len(),
                )
            };
            assert_eq!(done, 1);
        }
    })
}
