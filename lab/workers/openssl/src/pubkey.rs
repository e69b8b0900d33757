//! Public keys in OpenSSL: `EVP_PKEY` with contexts that are kept. Public keys that are new in each handshake, of the
//! other party in an agreement, come as bytes; they are checked as `EVP_PKEY_derive_set_peer` does.

use std::{
    ffi::{CStr, c_char, c_int, c_long, c_uchar, c_void},
    ptr::{null, null_mut},
};

use lanelock_lab_common::{Buffer, Data, Prepared, Row, call, keys};

use crate::ffi::{Digest, DigestCtx, EVP_MD_CTX_new, EVP_MD_fetch};

enum Pkey {}
enum PkeyCtx {}

unsafe extern "C" {
    fn d2i_AutoPrivateKey(
        key: *mut *mut Pkey,
        from: *mut *const c_uchar,
        length: c_long,
    ) -> *mut Pkey;
    fn EVP_PKEY_new() -> *mut Pkey;
    fn EVP_PKEY_free(key: *mut Pkey);
    fn EVP_PKEY_new_raw_private_key_ex(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
        bytes: *const c_uchar,
        length: usize,
    ) -> *mut Pkey;
    fn EVP_PKEY_get_raw_public_key(
        key: *const Pkey,
        bytes: *mut c_uchar,
        length: *mut usize,
    ) -> c_int;
    fn EVP_PKEY_copy_parameters(to: *mut Pkey, from: *const Pkey) -> c_int;
    fn EVP_PKEY_set1_encoded_public_key(
        key: *mut Pkey,
        bytes: *const c_uchar,
        length: usize,
    ) -> c_int;

    fn EVP_PKEY_CTX_new_from_pkey(
        library: *mut c_void,
        key: *mut Pkey,
        properties: *const c_char,
    ) -> *mut PkeyCtx;
    fn EVP_PKEY_CTX_new_from_name(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut PkeyCtx;
    fn EVP_PKEY_CTX_set_rsa_padding(context: *mut PkeyCtx, padding: c_int) -> c_int;
    fn EVP_PKEY_CTX_set_rsa_keygen_bits(context: *mut PkeyCtx, bits: c_int) -> c_int;
    fn EVP_PKEY_CTX_set_signature_md(context: *mut PkeyCtx, digest: *const Digest) -> c_int;
    fn EVP_PKEY_sign_init(context: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_sign(
        context: *mut PkeyCtx,
        signature: *mut c_uchar,
        length: *mut usize,
        digest: *const c_uchar,
        size: usize,
    ) -> c_int;
    fn EVP_PKEY_verify_init(context: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_verify(
        context: *mut PkeyCtx,
        signature: *const c_uchar,
        length: usize,
        digest: *const c_uchar,
        size: usize,
    ) -> c_int;
    fn EVP_PKEY_derive_init(context: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_derive_set_peer(context: *mut PkeyCtx, other: *mut Pkey) -> c_int;
    fn EVP_PKEY_derive(context: *mut PkeyCtx, secret: *mut c_uchar, length: *mut usize) -> c_int;
    fn EVP_PKEY_keygen_init(context: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_generate(context: *mut PkeyCtx, key: *mut *mut Pkey) -> c_int;

    fn EVP_DigestSignInit(
        context: *mut DigestCtx,
        key_context: *mut *mut PkeyCtx,
        digest: *const Digest,
        engine: *mut c_void,
        key: *mut Pkey,
    ) -> c_int;
    fn EVP_DigestSign(
        context: *mut DigestCtx,
        signature: *mut c_uchar,
        length: *mut usize,
        message: *const c_uchar,
        size: usize,
    ) -> c_int;
    fn EVP_DigestVerifyInit(
        context: *mut DigestCtx,
        key_context: *mut *mut PkeyCtx,
        digest: *const Digest,
        engine: *mut c_void,
        key: *mut Pkey,
    ) -> c_int;
    fn EVP_DigestVerify(
        context: *mut DigestCtx,
        signature: *const c_uchar,
        length: usize,
        message: *const c_uchar,
        size: usize,
    ) -> c_int;
    fn EVP_Digest(
        message: *const c_void,
        length: usize,
        digest: *mut c_uchar,
        size: *mut u32,
        kind: *const Digest,
        engine: *mut c_void,
    ) -> c_int;
}

/// `RSA_PKCS1_PADDING`
const PKCS_1: c_int = 1;

/// The call of `row`, if it is about public keys.
pub fn prepare(row: &Row, data: &Data) -> Prepared {
    let signed = || keys::signatures(row, prepare);
    match row.kind() {
        ("rsa" | "ecdsa", "sign", _) => sign(row),
        ("rsa" | "ecdsa", "verify", _) => verify(row, signed()?),
        ("rsa", "generate", bits) => rsa_generate(bits),
        ("ecdh", "agree", bits) => agree(parsed(keys::curve(bits)?.der), keys::others(bits)),
        ("x25519", "agree", _) => {
            let others = data.nonces.iter().map(|other| other.to_vec()).collect();
            agree(raw(c"X25519", data), others)
        }
        ("x25519", "generate", _) => x25519_generate(),
        ("ed25519", "sign", _) => ed25519_sign(data),
        ("ed25519", "verify", _) => ed25519_verify(data, signed()?),
        _ => None,
    }
}

/// A key that lives as long as the process.
fn parsed(der: &[u8]) -> *mut Pkey {
    let mut at = der.as_ptr();
    // SAFETY: so many bytes.
    let key = unsafe { d2i_AutoPrivateKey(null_mut(), &mut at, der.len() as _) };
    assert!(!key.is_null());
    key
}

/// The same of 32 bytes.
fn raw(name: &CStr, data: &Data) -> *mut Pkey {
    let seed = keys::seed(data);
    // SAFETY: a C string and so many bytes.
    let key = unsafe {
        EVP_PKEY_new_raw_private_key_ex(null_mut(), name.as_ptr(), null(), seed.as_ptr(), 32)
    };
    assert!(!key.is_null());
    key
}

/// A context that lives as long as the process, after its first call.
fn context(key: *mut Pkey, init: unsafe extern "C" fn(*mut PkeyCtx) -> c_int) -> *mut PkeyCtx {
    // SAFETY: a live key, and a context of it.
    unsafe {
        let context = EVP_PKEY_CTX_new_from_pkey(null_mut(), key, null());
        assert_eq!(init(context), 1);
        context
    }
}

/// The context of a signature, and its digest.
fn signing(
    row: &Row,
    init: unsafe extern "C" fn(*mut PkeyCtx) -> c_int,
) -> Option<(*mut PkeyCtx, *mut Digest)> {
    let rsa = row.algorithm == "rsa";
    let der = if rsa { keys::rsa(row.key_bits)?.der } else { keys::curve(row.key_bits)?.der };
    let context = context(parsed(der), init);
    let name = if row.key_bits == 384 { c"SHA384" } else { c"SHA256" };
    // SAFETY: a C string and a live context.
    unsafe {
        let digest = EVP_MD_fetch(null_mut(), name.as_ptr(), null());
        if rsa {
            assert_eq!(EVP_PKEY_CTX_set_rsa_padding(context, PKCS_1), 1);
        }
        assert_eq!(EVP_PKEY_CTX_set_signature_md(context, digest), 1);
        Some((context, digest))
    }
}

fn digest(kind: *const Digest, message: &[u8]) -> ([u8; 64], usize) {
    let (mut digest, mut size) = ([0; 64], 0);
    let (from, to) = (message.as_ptr().cast(), digest.as_mut_ptr());
    // SAFETY: a message of that length, and room for any digest.
    let done = unsafe { EVP_Digest(from, message.len(), to, &mut size, kind, null_mut()) };
    assert_eq!(done, 1);
    (digest, size as usize)
}

fn sign(row: &Row) -> Prepared {
    let (context, kind) = signing(row, EVP_PKEY_sign_init)?;
    call(move |data| {
        for (message, output) in data.input.iter().zip(&mut data.output) {
            let (digest, size) = digest(kind, message);
            let mut length = output.len();
            let to = output.as_mut_ptr();
            // SAFETY: a live context, a digest of that size, and so much room.
            let done = unsafe { EVP_PKEY_sign(context, to, &mut length, digest.as_ptr(), size) };
            assert_eq!(done, 1);
        }
    })
}

fn verify(row: &Row, signatures: Vec<Buffer>) -> Prepared {
    let (context, kind) = signing(row, EVP_PKEY_verify_init)?;
    let rsa = row.algorithm == "rsa";
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            let (digest, size) = digest(kind, message);
            // DER: a byte for the type, one for the length of the rest.
            let length = if rsa { signature.len() } else { 2 + usize::from(signature[1]) };
            let from = signature.as_ptr();
            // SAFETY: a live context, a digest of that size, and a signature of that length.
            let valid = unsafe { EVP_PKEY_verify(context, from, length, digest.as_ptr(), size) };
            tag[0] = (valid == 1).into();
        }
    })
}

/// A context that generates keys.
fn generator(name: &CStr) -> *mut PkeyCtx {
    // SAFETY: a C string; the context lives as long as the process.
    unsafe {
        let context = EVP_PKEY_CTX_new_from_name(null_mut(), name.as_ptr(), null());
        assert_eq!(EVP_PKEY_keygen_init(context), 1);
        context
    }
}

fn rsa_generate(bits: usize) -> Prepared {
    let context = generator(c"RSA");
    // SAFETY: a live context.
    assert_eq!(unsafe { EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits as _) }, 1);
    call(move |_| {
        let mut key = null_mut();
        // SAFETY: a live context, and a new key that is freed again.
        unsafe {
            assert_eq!(EVP_PKEY_generate(context, &mut key), 1);
            EVP_PKEY_free(key);
        }
    })
}

fn x25519_generate() -> Prepared {
    let context = generator(c"X25519");
    call(move |data| {
        for output in &mut data.output {
            let (mut key, mut length) = (null_mut(), output.len());
            // SAFETY: a live context, a new key that is freed again, and so much room.
            unsafe {
                assert_eq!(EVP_PKEY_generate(context, &mut key), 1);
                EVP_PKEY_get_raw_public_key(key, output.as_mut_ptr(), &mut length);
                EVP_PKEY_free(key);
            }
        }
    })
}

fn agree(key: *mut Pkey, others: Vec<impl AsRef<[u8]> + 'static>) -> Prepared {
    let context = context(key, EVP_PKEY_derive_init);
    // SAFETY: live keys.
    let peer = unsafe {
        let peer = EVP_PKEY_new();
        assert_eq!(EVP_PKEY_copy_parameters(peer, key), 1);
        peer
    };
    call(move |data| {
        for (other, output) in others.iter().zip(&mut data.output) {
            let (other, mut length) = (other.as_ref(), output.len());
            // SAFETY: live objects, a public key of that length, and so much room.
            unsafe {
                let parsed = EVP_PKEY_set1_encoded_public_key(peer, other.as_ptr(), other.len());
                assert_eq!(parsed, 1);
                assert_eq!(EVP_PKEY_derive_set_peer(context, peer), 1);
                assert_eq!(EVP_PKEY_derive(context, output.as_mut_ptr(), &mut length), 1);
            }
        }
    })
}

fn ed25519_sign(data: &Data) -> Prepared {
    let key = raw(c"ED25519", data);
    // SAFETY: a context that lives as long as the process.
    let context = unsafe { EVP_MD_CTX_new() };
    call(move |data| {
        for (message, output) in data.input.iter().zip(&mut data.output) {
            let (to, mut length) = (output.as_mut_ptr(), output.len());
            // SAFETY: live objects, a message of that length, and so much room.
            let done = unsafe {
                EVP_DigestSignInit(context, null_mut(), null(), null_mut(), key);
                EVP_DigestSign(context, to, &mut length, message.as_ptr(), message.len())
            };
            assert_eq!(done, 1);
        }
    })
}

fn ed25519_verify(data: &Data, signatures: Vec<Buffer>) -> Prepared {
    let key = raw(c"ED25519", data);
    // SAFETY: a context that lives as long as the process.
    let context = unsafe { EVP_MD_CTX_new() };
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            let (from, length) = (signature.as_ptr(), signature.len());
            // SAFETY: live objects, a message and a signature of these lengths.
            let valid = unsafe {
                EVP_DigestVerifyInit(context, null_mut(), null(), null_mut(), key);
                EVP_DigestVerify(context, from, length, message.as_ptr(), message.len())
            };
            tag[0] = (valid == 1).into();
        }
    })
}
