//! OpenSSL 4, built from its source. Algorithms are fetched once, contexts and keys are kept, a message
//! sets its IV, data is in place: what the manual pages recommend.

mod ffi;
mod pubkey;

use std::{
    ffi::{CStr, CString},
    ptr::{null, null_mut},
};

use ffi::{CipherCtx, MacCtx};
use lanelock_lab_common::{
    Data, ITERATIONS, Library, Prepared, Row, call, mac_bytes, record_header, serve, version_of,
};

struct OpenSsl;

impl Library for OpenSsl {
    fn version(&self) -> String {
        // SAFETY: a static string.
        let version = unsafe { CStr::from_ptr(ffi::OpenSSL_version(0)) }.to_string_lossy();
        format!("{version} (openssl-src {})", version_of("openssl-src"))
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        let encrypt = matches!(&row.operation[..], "encrypt" | "seal" | "mac" | "expand");
        match &row.algorithm[..] {
            "ecb" | "ctr" | "cbc" | "xts" => cipher(row, data, encrypt),
            "kw" | "kwp" => wrap(row, data, encrypt),
            "cmac" => cmac(row, data),
            "gmac" => gmac(row, data),
            "gcm" | "gcm-siv" | "ocb3" | "ccm" | "chacha20-poly1305" if encrypt => seal(row, data),
            "gcm" | "gcm-siv" | "ocb3" | "ccm" | "chacha20-poly1305" => open(row, data),
            "cbc-hmac-sha-1" => records(row, data, "CBC-HMAC-SHA1"),
            "cbc-hmac-sha-256" => records(row, data, "CBC-HMAC-SHA256"),
            "key-expansion" => expansion(row, data),
            "sha-1" => hash(c"SHA1", false),
            "sha-256" => hash(c"SHA256", false),
            "sha-512" => hash(c"SHA512", false),
            "sha3-256" => hash(c"SHA3-256", false),
            "shake128" => hash(c"SHAKE128", true),
            "sm3" => hash(c"SM3", false),
            "hmac-sha-256" => mac(data, c"HMAC", c"digest", c"SHA256"),
            "pbkdf2-sha-256" => pbkdf2(),
            _ => pubkey::prepare(row, data),
        }
    }
}

fn main() {
    serve(&OpenSsl);
}

/// Contexts with their keys, one for each key; `None` if the library lacks the cipher.
fn contexts(row: &Row, name: &str, data: &Data, encrypt: bool) -> Option<Vec<*mut CipherCtx>> {
    let name = match name {
        "ChaCha20-Poly1305" => name.to_owned(),
        _ => format!("AES-{}-{name}", row.key_bits),
    };
    let name = CString::new(name).expect("no zero byte");
    // SAFETY: C strings and keys of the cipher's size; all objects live as long as the process.
    unsafe {
        let cipher = ffi::EVP_CIPHER_fetch(null_mut(), name.as_ptr(), null());
        if cipher.is_null() {
            return None;
        }
        let context = |key: &Vec<u8>| {
            let context = ffi::EVP_CIPHER_CTX_new();
            let init = |cipher, key| {
                let encrypt = encrypt.into();
                assert_eq!(
                    ffi::EVP_CipherInit_ex2(context, cipher, key, null(), encrypt, null()),
                    1
                );
            };
            init(cipher, null());
            if row.algorithm == "ccm" {
                ffi::EVP_CIPHER_CTX_ctrl(context, ffi::SET_IVLEN, 13, null_mut());
                ffi::EVP_CIPHER_CTX_ctrl(context, ffi::SET_TAG, 16, null_mut());
            }
            init(null_mut(), key.as_ptr());
            if let Some(length) = mac_bytes(row) {
                // Behind the key of the cipher.
                let key = key[row.key_bits / 8..].as_ptr().cast_mut().cast();
                ffi::EVP_CIPHER_CTX_ctrl(context, ffi::SET_MAC_KEY, length as _, key);
            }
            ffi::EVP_CIPHER_CTX_set_padding(context, 0);
            context
        };
        Some(data.keys.iter().map(context).collect())
    }
}

/// Sets the IV; key and direction stay.
fn start(context: *mut CipherCtx, iv: &[u8; 32]) {
    // SAFETY: a live context, and no cipher has a longer IV.
    let done =
        unsafe { ffi::EVP_CipherInit_ex2(context, null_mut(), null(), iv.as_ptr(), -1, null()) };
    assert_eq!(done, 1);
}

/// In place.
fn update(context: *mut CipherCtx, data: &mut [u8]) {
    let (pointer, mut written) = (data.as_mut_ptr(), 0);
    // SAFETY: a live context without padding, in place in a buffer of that length.
    let done =
        unsafe { ffi::EVP_CipherUpdate(context, pointer, &mut written, pointer, data.len() as _) };
    assert_eq!(done, 1);
}

fn cipher(row: &Row, data: &Data, encrypt: bool) -> Prepared {
    let contexts = contexts(row, &row.algorithm.to_uppercase(), data, encrypt)?;
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            start(context, &data.nonces[i]);
            update(context, &mut data.output[i]);
        }
    })
}

fn seal(row: &Row, data: &Data) -> Prepared {
    let contexts = contexts(row, aead_name(row), data, true)?;
    let ccm = row.algorithm == "ccm";
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            start(context, &data.nonces[i]);
            if ccm {
                announce(context, data.output[i].len());
            }
            update(context, &mut data.output[i]);
            finish(context);
            // SAFETY: room for the tag.
            unsafe {
                ffi::EVP_CIPHER_CTX_ctrl(
                    context,
                    ffi::GET_TAG,
                    16,
                    data.tags[i].as_mut_ptr().cast(),
                );
            }
        }
    })
}

fn open(row: &Row, data: &Data) -> Prepared {
    let contexts = contexts(row, aead_name(row), data, false)?;
    let ccm = row.algorithm == "ccm";
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            let (input, output) = (&data.input[i], &mut data.output[i]);
            let mut written = 0;
            start(context, &data.nonces[i]);
            // SAFETY: a tag of 16 bytes, which is only read; two buffers of the same length.
            unsafe {
                ffi::EVP_CIPHER_CTX_ctrl(
                    context,
                    ffi::SET_TAG,
                    16,
                    data.tags[i].as_mut_ptr().cast(),
                );
                if ccm {
                    announce(context, input.len());
                }
                let (from, to) = (input.as_ptr(), output.as_mut_ptr());
                let length = input.len() as _;
                assert_eq!(ffi::EVP_CipherUpdate(context, to, &mut written, from, length), 1);
            }
            if !ccm {
                finish(context);
            }
        }
    })
}

/// The library takes the explicit IV of a record for the first block of its text: what the cipher turns into that IV.
fn records(row: &Row, data: &Data, name: &str) -> Prepared {
    let contexts = contexts(row, name, data, true)?;
    let ecb = self::contexts(row, "ECB", data, false)?;
    let first = |i: usize| {
        let mut block: [u8; 16] = *data.nonces[i].first_chunk().expect("32 bytes");
        update(ecb[data.key_index(i)], &mut block);
        block
    };
    let blocks: Vec<_> = (0..row.streams).map(first).collect();
    let length = row.size + 16;
    call(move |data| {
        for (i, block) in blocks.iter().enumerate() {
            let context = contexts[data.key_index(i)];
            let mut header = record_header(i, length);
            data.output[i][..16].copy_from_slice(block);
            start(context, &[0; 32]);
            // SAFETY: a live context, and 13 bytes.
            unsafe {
                let header = header.as_mut_ptr().cast();
                ffi::EVP_CIPHER_CTX_ctrl(context, ffi::TLS1_AAD, 13, header);
            }
            update(context, &mut data.output[i]);
        }
    })
}

fn aead_name(row: &Row) -> &str {
    match &row.algorithm[..] {
        "gcm" => "GCM",
        "gcm-siv" => "GCM-SIV",
        "ocb3" => "OCB",
        "chacha20-poly1305" => "ChaCha20-Poly1305",
        _ => "CCM",
    }
}

/// CCM needs the length before the text: it is part of the first block.
fn announce(context: *mut CipherCtx, length: usize) {
    let mut written = 0;
    // SAFETY: the documented call without buffers.
    unsafe { ffi::EVP_CipherUpdate(context, null_mut(), &mut written, null(), length as _) };
}

fn finish(context: *mut CipherCtx) {
    let (mut rest, mut written) = ([0; 16], 0);
    // SAFETY: room for a block.
    let done = unsafe { ffi::EVP_CipherFinal_ex(context, rest.as_mut_ptr(), &mut written) };
    assert_eq!(done, 1);
}

/// The message is associated data.
fn gmac(row: &Row, data: &Data) -> Prepared {
    let contexts = contexts(row, "GCM", data, true)?;
    call(move |data| {
        for i in 0..data.input.len() {
            let context = contexts[data.key_index(i)];
            let (message, mut written) = (&data.input[i], 0);
            start(context, &data.nonces[i]);
            // SAFETY: a message of that length, and room for the tag.
            unsafe {
                let length = message.len() as _;
                ffi::EVP_CipherUpdate(context, null_mut(), &mut written, message.as_ptr(), length);
                finish(context);
                ffi::EVP_CIPHER_CTX_ctrl(
                    context,
                    ffi::GET_TAG,
                    16,
                    data.tags[i].as_mut_ptr().cast(),
                );
            }
        }
    })
}

fn wrap(row: &Row, data: &Data, encrypt: bool) -> Prepared {
    let name = if row.algorithm == "kw" { "WRAP" } else { "WRAP-PAD" };
    let contexts = contexts(row, name, data, encrypt)?;
    let length = row.size + if encrypt { 0 } else { 8 };
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            let (from, to) = (data.input[i].as_ptr(), data.output[i].as_mut_ptr());
            let mut written = 0;
            // SAFETY: a live context; null for the default IV; the wrapped buffer has eight bytes more.
            unsafe {
                ffi::EVP_CipherInit_ex2(context, null_mut(), null(), null(), -1, null());
                assert_eq!(ffi::EVP_CipherUpdate(context, to, &mut written, from, length as _), 1);
            }
        }
    })
}

fn cmac(row: &Row, data: &Data) -> Prepared {
    let name = CString::new(format!("AES-{}-CBC", row.key_bits)).expect("no zero byte");
    mac(data, c"CMAC", c"cipher", &name)
}

/// A MAC of which one parameter says what it is made of.
fn mac(data: &Data, name: &CStr, parameter: &CStr, value: &CStr) -> Prepared {
    let context = |key: &Vec<u8>| -> *mut MacCtx {
        // SAFETY: C strings, a key of its size; all objects live as long as the process.
        unsafe {
            let mac = ffi::EVP_MAC_fetch(null_mut(), name.as_ptr(), null());
            let context = ffi::EVP_MAC_CTX_new(mac);
            let text = value.as_ptr().cast_mut();
            let parameters = [
                ffi::OSSL_PARAM_construct_utf8_string(parameter.as_ptr(), text, 0),
                ffi::OSSL_PARAM_construct_end(),
            ];
            assert_eq!(ffi::EVP_MAC_init(context, key.as_ptr(), key.len(), parameters.as_ptr()), 1);
            context
        }
    };
    let contexts: Vec<_> = data.keys.iter().map(context).collect();
    call(move |data| {
        for i in 0..data.input.len() {
            let context = contexts[data.key_index(i)];
            let (message, mut length) = (&data.input[i], 0);
            let mut tag = [0; 64];
            // SAFETY: a message of that length, and room for the tag; the key stays.
            unsafe {
                ffi::EVP_MAC_init(context, null(), 0, null());
                ffi::EVP_MAC_update(context, message.as_ptr(), message.len());
                ffi::EVP_MAC_final(context, tag.as_mut_ptr(), &mut length, tag.len());
            }
            data.tags[i].copy_from_slice(&tag[..16]);
        }
    })
}

fn digest(name: &CStr) -> Option<*mut ffi::Digest> {
    // SAFETY: a C string; the object lives as long as the process.
    let digest = unsafe { ffi::EVP_MD_fetch(null_mut(), name.as_ptr(), null()) };
    (!digest.is_null()).then_some(digest)
}

/// A hash, whose context is kept; of one with output of any length 32 bytes.
fn hash(name: &CStr, extendable: bool) -> Prepared {
    let digest = digest(name)?;
    // SAFETY: a context that lives as long as the process.
    let context = unsafe { ffi::EVP_MD_CTX_new() };
    // SAFETY: a live context and digest.
    assert_eq!(unsafe { ffi::EVP_DigestInit_ex2(context, digest, null()) }, 1);
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            let (mut out, mut length) = ([0; 64], 0);
            // SAFETY: a live context, a message of that length, room for any digest.
            let done = unsafe {
                ffi::EVP_DigestInit_ex2(context, null_mut(), null());
                ffi::EVP_DigestUpdate(context, message.as_ptr().cast(), message.len());
                if extendable {
                    ffi::EVP_DigestFinalXOF(context, out.as_mut_ptr(), 32)
                } else {
                    ffi::EVP_DigestFinal_ex(context, out.as_mut_ptr(), &mut length)
                }
            };
            assert_eq!(done, 1);
            tag.copy_from_slice(&out[..16]);
        }
    })
}

fn pbkdf2() -> Prepared {
    let digest = digest(c"SHA256")?;
    call(move |data| {
        for i in 0..data.output.len() {
            let (password, salt, key) = data.password(i);
            // SAFETY: buffers of these lengths.
            let done = unsafe {
                ffi::PKCS5_PBKDF2_HMAC(
                    password.as_ptr().cast(),
                    password.len() as _,
                    salt.as_ptr(),
                    salt.len() as _,
                    ITERATIONS as _,
                    digest,
                    key.len() as _,
                    key.as_mut_ptr(),
                )
            };
            assert_eq!(done, 1);
        }
    })
}

/// A new key for a context, by its public interface.
fn expansion(row: &Row, data: &Data) -> Prepared {
    // A context has the schedule of one direction; a key of ours has both.
    let [encrypt, decrypt] =
        [contexts(row, "ECB", data, true)?[0], contexts(row, "ECB", data, false)?[0]];
    call(move |data| {
        let key = std::hint::black_box(&data.keys[0]).as_ptr();
        for (context, direction) in [(encrypt, 1), (decrypt, 0)] {
            // SAFETY: a live context, a key of its size.
            let done = unsafe {
                ffi::EVP_CipherInit_ex2(context, null_mut(), key, null(), direction, null())
            };
            debug_assert_eq!(done, 1);
        }
    })
}
