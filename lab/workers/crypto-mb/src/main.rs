//! Intel's crypto_mb: eight operations side by side. One operation takes as long as eight.
//!
//! It has no hashes, no padding, no nonces and no source of random bytes: digests and padding are computed here in
//! each call, nonces and new private keys are given. Its private operation of RSA is bare: no blinding, and the
//! result is not checked.

mod ffi;

use std::{
    ffi::{CStr, c_int, c_void},
    iter::zip,
    ops::DerefMut,
    ptr::{null, null_mut},
};

use ffi::{Agree, Sign, Verify};
use lanelock_lab_common::{Buffer, Data, Library, Prepared, Row, call, keys, serve};
use sha2::{Digest, Sha256, Sha384};

struct CryptoMb;

impl Library for CryptoMb {
    fn version(&self) -> String {
        // SAFETY: a static structure and C string.
        let text = unsafe { CStr::from_ptr((*ffi::mbx_getversion()).text) };
        text.to_string_lossy().trim().to_owned()
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        if row.streams > 8 {
            return None;
        }
        let signed = || keys::signatures(row, |row, data| self.prepare(row, data));
        match row.kind() {
            ("rsa", "sign", bits) => rsa_sign(bits),
            ("rsa", "verify", bits) => rsa_verify(bits, signed()?),
            ("ecdsa", "sign", 256) => ecdsa_sign(256, ffi::mbx_nistp256_ecdsa_sign_mb8),
            ("ecdsa", "sign", 384) => ecdsa_sign(384, ffi::mbx_nistp384_ecdsa_sign_mb8),
            ("ecdsa", "verify", 256) => {
                ecdsa_verify(256, signed()?, ffi::mbx_nistp256_ecdsa_verify_mb8)
            }
            ("ecdsa", "verify", 384) => {
                ecdsa_verify(384, signed()?, ffi::mbx_nistp384_ecdsa_verify_mb8)
            }
            ("ecdh", "agree", 256) => ecdh(256, ffi::mbx_nistp256_ecdh_mb8),
            ("ecdh", "agree", 384) => ecdh(384, ffi::mbx_nistp384_ecdh_mb8),
            ("x25519", "agree", _) => x25519(data),
            ("x25519", "generate", _) => x25519_generate(),
            ("ed25519", "sign", _) => ed25519_sign(data),
            ("ed25519", "verify", _) => ed25519_verify(data, signed()?),
            _ => None,
        }
    }
}

fn main() {
    serve(&CryptoMb);
}

/// A pointer for each lane: if there are fewer messages than lanes, the last one's again.
fn lanes<T>(messages: &[impl AsRef<[T]>]) -> [*const T; 8] {
    std::array::from_fn(|lane| messages[lane.min(messages.len() - 1)].as_ref().as_ptr())
}

/// The same in all lanes.
fn all<T>(value: &[T]) -> [*const T; 8] {
    [value.as_ptr(); 8]
}

/// Where lanes write: so many bytes behind the beginning of the output of their message. What lanes without a
/// message write nobody reads.
fn outputs(
    output: &mut [impl DerefMut<Target = [u8]>],
    from: usize,
    rest: &mut Rest,
) -> [*mut u8; 8] {
    let mut lanes = rest.each_mut().map(|bytes| bytes.as_mut_ptr());
    for (lane, bytes) in zip(&mut lanes, output) {
        *lane = bytes[from..].as_mut_ptr();
    }
    lanes
}

type Rest = [[u8; 512]; 8];

const REST: Rest = [[0; 512]; 8];

/// A number of so many bits as words, from big-endian bytes.
fn words(bytes: &[u8], bits: usize) -> Vec<u64> {
    let mut little: Vec<u8> = bytes.iter().rev().copied().collect();
    little.resize(bits / 8, 0);
    little.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()
}

/// Notes which lanes have no error.
fn note(status: u32, tags: &mut [[u8; 16]]) {
    for (lane, tag) in tags.iter_mut().enumerate() {
        tag[0] = (status >> (4 * lane) & 15 == 0).into();
    }
}

/// What of PKCS#1 v1.5 is before a digest of SHA-256.
const SHA_256: [u8; 19] = [48, 49, 48, 13, 6, 9, 96, 134, 72, 1, 101, 3, 4, 2, 1, 5, 0, 4, 32];

/// Digests of the messages, padded.
fn padded(data: &Data, bits: usize) -> Vec<Vec<u8>> {
    let pad = |message: &[u8]| {
        let mut block = vec![255; bits / 8];
        let zero = bits / 8 - 32 - SHA_256.len() - 1;
        (block[0], block[1], block[zero]) = (0, 1, 0);
        block[zero + 1..][..SHA_256.len()].copy_from_slice(&SHA_256);
        block[bits / 8 - 32..].copy_from_slice(&Sha256::digest(message));
        block
    };
    data.input.iter().map(|message| pad(message)).collect()
}

/// A method, and the memory that it works in.
fn method(method: *const c_void) -> (*const c_void, Vec<u8>) {
    // SAFETY: a static method.
    let bytes = unsafe { ffi::mbx_RSA_Method_BufSize(method) };
    (method, vec![0; bytes.try_into().expect("a size")])
}

fn rsa_sign(bits: usize) -> Prepared {
    let key = keys::rsa(bits)?.numbers;
    let numbers = [key.prime1, key.prime2, key.exponent1, key.exponent2, key.coefficient];
    let numbers = numbers.map(|number| words(number.as_bytes(), bits / 2));
    let bits = c_int::try_from(bits).ok()?;
    // SAFETY: a static method.
    let (method, mut buffer) = method(unsafe { ffi::mbx_RSA_private_crt_Method(bits) });
    let mut rest = REST;
    call(move |data| {
        let blocks = padded(data, bits as usize);
        let to = outputs(&mut data.output, 0, &mut rest);
        let [p, q, dp, dq, inverse] = numbers.each_ref().map(|number| all(number));
        let (from, buffer) = (lanes(&blocks), buffer.as_mut_ptr());
        // SAFETY: eight pointers each, to numbers of that size and room for a signature.
        let status = unsafe {
            ffi::mbx_rsa_private_crt_mb8(
                &from, &to, &p, &q, &dp, &dq, &inverse, bits, method, buffer,
            )
        };
        assert_eq!(status, 0);
    })
}

fn rsa_verify(bits: usize, signatures: Vec<Buffer>) -> Prepared {
    let modulus = words(keys::rsa(bits)?.numbers.modulus.as_bytes(), bits);
    let bits = c_int::try_from(bits).ok()?;
    // SAFETY: a static method.
    let (method, mut buffer) = method(unsafe { ffi::mbx_RSA_pub65537_Method(bits) });
    let mut blocks = REST;
    call(move |data| {
        let to = blocks.each_mut().map(|bytes| bytes.as_mut_ptr());
        let (from, n, buffer) = (lanes(&signatures), all(&modulus), buffer.as_mut_ptr());
        // SAFETY: eight pointers each, to numbers of that size and room for another.
        let status = unsafe { ffi::mbx_rsa_public_mb8(&from, &to, &n, bits, method, buffer) };
        assert_eq!(status, 0);
        let wanted = padded(data, bits as usize);
        for ((block, wanted), tag) in zip(zip(&blocks, &wanted), &mut data.tags) {
            tag[0] = (block[..wanted.len()] == wanted[..]).into();
        }
    })
}

/// Digests of the messages, as long as a number of the curve.
fn digests(data: &Data, bits: usize) -> Vec<Vec<u8>> {
    let digest = |message: &[u8]| match bits {
        256 => Sha256::digest(message).to_vec(),
        _ => Sha384::digest(message).to_vec(),
    };
    data.input.iter().map(|message| digest(message)).collect()
}

/// Coordinates of points.
fn coordinates(points: &[&[u8]], bits: usize) -> [Vec<Vec<u64>>; 2] {
    let size = bits / 8;
    [1, 1 + size].map(|from| points.iter().map(|p| words(&p[from..][..size], bits)).collect())
}

fn ecdsa_sign(bits: usize, sign: Sign) -> Prepared {
    let key = words(keys::curve(bits)?.scalar, bits);
    // Any numbers below the order.
    let nonce = |lane: u8| {
        let mut nonce = Sha384::digest([lane]);
        nonce[0] &= 127;
        words(&nonce[..bits / 8], bits)
    };
    let nonces: Vec<_> = (0..8).map(nonce).collect();
    let mut rest = [REST; 2];
    call(move |data| {
        let digests = digests(data, bits);
        let [r, s] = &mut rest;
        let r = outputs(&mut data.output, 0, r);
        let s = outputs(&mut data.output, bits / 8, s);
        let (digest, nonce, key) = (lanes(&digests), lanes(&nonces), all(&key));
        // SAFETY: eight pointers each, to numbers of that size and room for others.
        let status = unsafe { sign(&r, &s, &digest, &nonce, &key, null_mut()) };
        note(status, &mut data.tags);
    })
}

fn ecdsa_verify(bits: usize, signatures: Vec<Buffer>, verify: Verify) -> Prepared {
    let [x, y] = coordinates(&[keys::curve(bits)?.point], bits);
    call(move |data| {
        let digests = digests(data, bits);
        let r = lanes(&signatures);
        let s = r.map(|r| r.wrapping_add(bits / 8));
        let (digest, x, y) = (lanes(&digests), lanes(&x), lanes(&y));
        // SAFETY: eight pointers each, to numbers of that size; null for points that are affine.
        let status = unsafe { verify(&r, &s, &digest, &x, &y, null(), null_mut()) };
        note(status, &mut data.tags);
    })
}

fn ecdh(bits: usize, agree: Agree) -> Prepared {
    let key = words(keys::curve(bits)?.scalar, bits);
    let others = keys::others(bits);
    let mut rest = REST;
    call(move |data| {
        let [x, y] = coordinates(&others, bits);
        let secret = outputs(&mut data.output, 0, &mut rest);
        let (key, x, y) = (all(&key), lanes(&x), lanes(&y));
        // SAFETY: eight pointers each, to numbers of that size; null for points that are affine.
        let status = unsafe { agree(&secret, &key, &x, &y, null(), null_mut()) };
        assert_eq!(status, 0);
    })
}

fn x25519(data: &Data) -> Prepared {
    let key = keys::seed(data);
    let mut rest = REST;
    call(move |data| {
        let secret = outputs(&mut data.output, 0, &mut rest);
        // SAFETY: eight pointers each, to 32 bytes.
        let status = unsafe { ffi::mbx_x25519_mb8(&secret, &all(&key), &lanes(&data.nonces)) };
        assert_eq!(status, 0);
    })
}

fn x25519_generate() -> Prepared {
    let mut rest = REST;
    call(move |data| {
        let public = outputs(&mut data.output, 0, &mut rest);
        // SAFETY: eight pointers each, to 32 bytes.
        let status = unsafe { ffi::mbx_x25519_public_key_mb8(&public, &lanes(&data.nonces)) };
        assert_eq!(status, 0);
    })
}

/// The public key of a private one.
fn ed25519_public(key: &[u8; 32]) -> [u8; 32] {
    let mut public = REST;
    let to = public.each_mut().map(|bytes| bytes.as_mut_ptr());
    // SAFETY: eight pointers each, to 32 bytes.
    assert_eq!(unsafe { ffi::mbx_ed25519_public_key_mb8(&to, &all(key)) }, 0);
    *public[0].first_chunk().expect("32 bytes")
}

fn ed25519_sign(data: &Data) -> Prepared {
    let key = keys::seed(data);
    let public = ed25519_public(&key);
    let length = [u32::try_from(data.length(0)).ok()?; 8];
    let mut rest = [REST; 2];
    call(move |data| {
        let [r, s] = &mut rest;
        let (r, s) = (outputs(&mut data.output, 0, r), outputs(&mut data.output, 32, s));
        let (message, key, public) = (lanes(&data.input), all(&key), all(&public));
        // SAFETY: eight pointers each, to messages of that length and to 32 bytes.
        let status = unsafe { ffi::mbx_ed25519_sign_mb8(&r, &s, &message, &length, &key, &public) };
        assert_eq!(status, 0);
    })
}

fn ed25519_verify(data: &Data, signatures: Vec<Buffer>) -> Prepared {
    let public = ed25519_public(&keys::seed(data));
    let length = [u32::try_from(data.length(0)).ok()?; 8];
    call(move |data| {
        let r = lanes(&signatures);
        let s = r.map(|r| r.wrapping_add(32));
        let (message, public) = (lanes(&data.input), all(&public));
        // SAFETY: eight pointers each, to messages of that length and to 32 bytes.
        let status = unsafe { ffi::mbx_ed25519_verify_mb8(&r, &s, &message, &length, &public) };
        note(status, &mut data.tags);
    })
}
