//! Public keys in BoringSSL and AWS-LC, which have the same interface: `RSA_*`, `ECDSA_*`, `ECDH_*`, `X25519` and
//! `ED25519_*`, with private and public keys kept. Those that are new in each handshake, of the other party in an
//! agreement, come as bytes.

use std::ptr::null_mut;

use lanelock_lab_common::{Buffer, Data, Prepared, Row, call, keys};

use super::sys;

/// The call of `row`, if it is about public keys.
pub fn prepare(row: &Row, data: &Data) -> Prepared {
    let signed = || keys::signatures(row, prepare);
    match row.kind() {
        ("rsa", "sign", bits) => rsa_sign(bits),
        ("rsa", "verify", bits) => rsa_verify(bits, signed()?),
        ("rsa", "generate", bits) => rsa_generate(bits),
        ("ecdsa", "sign", bits) => ecdsa_sign(bits),
        ("ecdsa", "verify", bits) => ecdsa_verify(bits, signed()?),
        ("ecdh", "agree", bits) => ecdh(bits),
        ("x25519", "agree", _) => x25519(data),
        ("x25519", "generate", _) => x25519_generate(),
        ("ed25519", "sign", _) => ed25519_sign(data),
        ("ed25519", "verify", _) => ed25519_verify(data, signed()?),
        _ => None,
    }
}

fn rsa(bits: usize) -> Option<*mut sys::RSA> {
    let der = keys::rsa(bits)?.der;
    let mut at = der.as_ptr();
    // SAFETY: so many bytes; the key lives as long as the process.
    let key = unsafe { sys::d2i_RSAPrivateKey(null_mut(), &mut at, der.len() as _) };
    assert!(!key.is_null());
    Some(key)
}

fn curve(bits: usize) -> Option<*mut sys::EC_KEY> {
    let der = keys::curve(bits)?.der;
    let mut at = der.as_ptr();
    // SAFETY: so many bytes; the key lives as long as the process.
    let key = unsafe { sys::d2i_ECPrivateKey(null_mut(), &mut at, der.len() as _) };
    assert!(!key.is_null());
    Some(key)
}

/// SHA-256, for P-384 SHA-384.
fn digest(message: &[u8], bits: usize) -> ([u8; 48], usize) {
    let mut digest = [0; 48];
    // SAFETY: a message of that length, and room for the digest.
    unsafe {
        match bits {
            384 => sys::SHA384(message.as_ptr(), message.len(), digest.as_mut_ptr()),
            _ => sys::SHA256(message.as_ptr(), message.len(), digest.as_mut_ptr()),
        }
    };
    (digest, if bits == 384 { 48 } else { 32 })
}

fn rsa_sign(bits: usize) -> Prepared {
    let key = rsa(bits)?;
    call(move |data| {
        for (message, output) in data.input.iter().zip(&mut data.output) {
            let (digest, size) = digest(message, 256);
            let (to, mut length) = (output.as_mut_ptr(), 0);
            // SAFETY: a live key, a digest of that size, and room for a signature.
            let done = unsafe {
                sys::RSA_sign(
                    sys::NID_sha256 as _,
                    digest.as_ptr(),
                    size as _,
                    to,
                    &mut length,
                    key,
                )
            };
            assert_eq!(done, 1);
        }
    })
}

fn rsa_verify(bits: usize, signatures: Vec<Buffer>) -> Prepared {
    let key = rsa(bits)?;
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            let (digest, size) = digest(message, 256);
            let (nid, from, length) = (sys::NID_sha256, signature.as_ptr(), signature.len());
            // SAFETY: a live key, a digest of that size, and a signature of that length.
            let valid = unsafe {
                sys::RSA_verify(nid as _, digest.as_ptr(), size as _, from, length as _, key)
            };
            tag[0] = (valid == 1).into();
        }
    })
}

fn rsa_generate(bits: usize) -> Prepared {
    // SAFETY: objects that live as long as the process.
    let exponent = unsafe {
        let exponent = sys::BN_new();
        sys::BN_set_word(exponent, 65537);
        exponent
    };
    call(move |_| {
        // SAFETY: a new key, which is freed again.
        unsafe {
            let key = sys::RSA_new();
            assert_eq!(sys::RSA_generate_key_ex(key, bits as _, exponent, null_mut()), 1);
            sys::RSA_free(key);
        }
    })
}

fn ecdsa_sign(bits: usize) -> Prepared {
    let key = curve(bits)?;
    call(move |data| {
        for (message, output) in data.input.iter().zip(&mut data.output) {
            let (digest, size) = digest(message, bits);
            let (to, mut length) = (output.as_mut_ptr(), 0);
            // SAFETY: a live key, a digest of that size, and room for a signature.
            let done =
                unsafe { sys::ECDSA_sign(0, digest.as_ptr(), size as _, to, &mut length, key) };
            assert_eq!(done, 1);
        }
    })
}

fn ecdsa_verify(bits: usize, signatures: Vec<Buffer>) -> Prepared {
    let key = curve(bits)?;
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            let (digest, size) = digest(message, bits);
            // DER: a byte for the type, one for the length of the rest.
            let (from, length) = (signature.as_ptr(), 2 + usize::from(signature[1]));
            // SAFETY: a live key, a digest of that size, and a signature of that length.
            let valid =
                unsafe { sys::ECDSA_verify(0, digest.as_ptr(), size as _, from, length as _, key) };
            tag[0] = (valid == 1).into();
        }
    })
}

fn ecdh(bits: usize) -> Prepared {
    let key = curve(bits)?;
    let others = keys::others(bits);
    // SAFETY: a live key; the point lives as long as the process.
    let (group, point) = unsafe {
        let group = sys::EC_KEY_get0_group(key);
        (group, sys::EC_POINT_new(group))
    };
    call(move |data| {
        for (other, output) in others.iter().zip(&mut data.output) {
            let (from, to) = (other.as_ptr(), output.as_mut_ptr());
            // SAFETY: live objects, a point of that length, and room for a secret.
            let written = unsafe {
                assert_eq!(sys::EC_POINT_oct2point(group, point, from, other.len(), null_mut()), 1);
                sys::ECDH_compute_key(to.cast(), bits / 8, point, key, None)
            };
            assert_eq!(written as usize, bits / 8);
        }
    })
}

fn x25519(data: &Data) -> Prepared {
    let key = keys::seed(data);
    call(move |data| {
        for (other, output) in data.nonces.iter().zip(&mut data.output) {
            let to = output.as_mut_ptr();
            // SAFETY: three times 32 bytes.
            assert_eq!(unsafe { sys::X25519(to, key.as_ptr(), other.as_ptr()) }, 1);
        }
    })
}

fn x25519_generate() -> Prepared {
    call(|data| {
        for output in &mut data.output {
            let mut key = [0; 32];
            // SAFETY: twice 32 bytes.
            unsafe { sys::X25519_keypair(output.as_mut_ptr(), key.as_mut_ptr()) };
        }
    })
}

/// Both keys of Ed25519.
fn ed25519(data: &Data) -> ([u8; 32], [u8; 64]) {
    let (seed, mut public, mut private) = (keys::seed(data), [0; 32], [0; 64]);
    let (first, second) = (public.as_mut_ptr(), private.as_mut_ptr());
    // SAFETY: 32, 64 and 32 bytes.
    unsafe { sys::ED25519_keypair_from_seed(first, second, seed.as_ptr()) };
    (public, private)
}

fn ed25519_sign(data: &Data) -> Prepared {
    let (_, key) = ed25519(data);
    call(move |data| {
        for (message, output) in data.input.iter().zip(&mut data.output) {
            let (from, to) = (message.as_ptr(), output.as_mut_ptr());
            // SAFETY: a message of that length, a key of 64 bytes and as much room.
            assert_eq!(unsafe { sys::ED25519_sign(to, from, message.len(), key.as_ptr()) }, 1);
        }
    })
}

fn ed25519_verify(data: &Data, signatures: Vec<Buffer>) -> Prepared {
    let (key, _) = ed25519(data);
    call(move |data| {
        for ((message, signature), tag) in data.input.iter().zip(&signatures).zip(&mut data.tags) {
            let (from, signature) = (message.as_ptr(), signature.as_ptr());
            // SAFETY: a message of that length, 64 and 32 bytes.
            let valid =
                unsafe { sys::ED25519_verify(from, message.len(), signature, key.as_ptr()) };
            tag[0] = (valid == 1).into();
        }
    })
}
