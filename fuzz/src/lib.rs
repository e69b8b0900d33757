//! What the fuzzers have besides their targets: changes that keep boxes whole, and OpenSSL as another
//! implementation to compare with.

#![forbid(unsafe_code)]

use lanelock_fuzz_targets::{Shape, aead, modes};
use openssl::{
    cipher::{Cipher, CipherRef},
    cipher_ctx::CipherCtx,
    error::ErrorStack,
};

/// Changes the first `size` bytes of `data`; gives the new size. Half of the changes are libFuzzer's own; the
/// others keep what an input of that shape says of its lengths, and change by libFuzzer what is within.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32, shape: Shape) -> usize {
    if seed % 2 == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let new = lanelock_fuzz_targets::mutate(&data[..size], shape, seed, &mut |part| {
        let old = part.len();
        part.resize(old + ROOM, 0);
        let new = libfuzzer_sys::fuzzer_mutate(part, old, old + ROOM);
        part.truncate(new);
    });
    if new.len() > most {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    data[..new.len()].copy_from_slice(&new);
    new.len()
}

/// The bytes by which a change may make a part longer.
const ROOM: usize = 64;

/// Seals by OpenSSL: GCM, CCM and OCB3.
pub fn sealed(question: &aead::Question<'_>) -> Option<Vec<u8>> {
    let cipher = match (question.algorithm, question.key.len()) {
        ("GCM", 16) => Cipher::aes_128_gcm(),
        ("GCM", 24) => Cipher::aes_192_gcm(),
        ("GCM", 32) => Cipher::aes_256_gcm(),
        ("CCM", 16) => Cipher::aes_128_ccm(),
        ("CCM", 24) => Cipher::aes_192_ccm(),
        ("CCM", 32) => Cipher::aes_256_ccm(),
        ("OCB3", 16) => Cipher::aes_128_ocb(),
        ("OCB3", 24) => Cipher::aes_192_ocb(),
        ("OCB3", 32) => Cipher::aes_256_ocb(),
        _ => return None,
    };
    // It takes no AAD of CCM without a text, and no nonces of GCM above 128 bytes.
    if question.algorithm == "CCM" && question.text.is_empty() {
        return None;
    }
    Some(seal(cipher, question).expect("OpenSSL takes what is taken here"))
}

fn seal(cipher: &CipherRef, question: &aead::Question<'_>) -> Result<Vec<u8>, ErrorStack> {
    let aead::Question { algorithm, key, nonce, aad, text, tag_length } = *question;
    let mut context = CipherCtx::new()?;
    context.encrypt_init(Some(cipher), None, None)?;
    context.set_iv_length(nonce.len())?;
    if algorithm != "GCM" {
        context.set_tag_length(tag_length)?;
    }
    context.encrypt_init(None, Some(key), Some(nonce))?;
    let mut sealed = Vec::new();
    if algorithm == "CCM" {
        context.set_data_len(text.len())?;
    }
    context.cipher_update(aad, None)?;
    context.cipher_update_vec(text, &mut sealed)?;
    context.cipher_final_vec(&mut sealed)?;
    let mut tag = vec![0; tag_length];
    context.tag(&mut tag)?;
    sealed.extend(tag);
    Ok(sealed)
}

/// Encrypts by OpenSSL: CBC without padding, CTR and XTS.
pub fn encrypted(question: &modes::Question<'_>) -> Option<Vec<u8>> {
    let cipher = match (question.mode, question.key.len()) {
        ("CBC", 16) => Cipher::aes_128_cbc(),
        ("CBC", 24) => Cipher::aes_192_cbc(),
        ("CBC", 32) => Cipher::aes_256_cbc(),
        ("CTR", 16) => Cipher::aes_128_ctr(),
        ("CTR", 24) => Cipher::aes_192_ctr(),
        ("CTR", 32) => Cipher::aes_256_ctr(),
        ("XTS", 32) => Cipher::aes_128_xts(),
        ("XTS", 64) => Cipher::aes_256_xts(),
        _ => return None,
    };
    Some(encrypt(cipher, question).expect("OpenSSL takes what is taken here"))
}

fn encrypt(cipher: &CipherRef, question: &modes::Question<'_>) -> Result<Vec<u8>, ErrorStack> {
    let mut context = CipherCtx::new()?;
    context.encrypt_init(Some(cipher), Some(question.key), Some(&question.iv))?;
    context.set_padding(false);
    let mut encrypted = Vec::new();
    context.cipher_update_vec(question.text, &mut encrypted)?;
    context.cipher_final_vec(&mut encrypted)?;
    Ok(encrypted)
}
