//! What of crypto_mb's C interface is used here. Each call works on eight lanes, and returns four bits of status for
//! each of them, which are zero if all is well.

use std::ffi::{c_char, c_int, c_void};

/// Pointers for eight lanes. Numbers are little-endian words, strings of bytes are big-endian.
pub type In<T> = *const [*const T; 8];
pub type Out = *const [*mut u8; 8];

/// `mbxVersion`.
#[repr(C)]
pub struct Version {
    pub numbers: [c_int; 3],
    pub processor: [c_char; 4],
    pub name: *const c_char,
    pub build_date: *const c_char,
    pub text: *const c_char,
}

/// Shared secrets: private keys, and public keys as coordinates, of which the third may be null.
pub type Agree = unsafe extern "C" fn(Out, In<u64>, In<u64>, In<u64>, In<u64>, *mut u8) -> u32;
/// Both numbers of signatures: digests, nonces, private keys.
pub type Sign = unsafe extern "C" fn(Out, Out, In<u8>, In<u64>, In<u64>, *mut u8) -> u32;
/// Both numbers of signatures, digests, public keys as coordinates.
pub type Verify =
    unsafe extern "C" fn(In<u8>, In<u8>, In<u8>, In<u64>, In<u64>, In<u64>, *mut u8) -> u32;

unsafe extern "C" {
    pub fn mbx_getversion() -> *const Version;

    pub fn mbx_RSA_private_crt_Method(bits: c_int) -> *const c_void;
    pub fn mbx_RSA_pub65537_Method(bits: c_int) -> *const c_void;
    pub fn mbx_RSA_Method_BufSize(method: *const c_void) -> c_int;
    pub fn mbx_rsa_private_crt_mb8(
        from: In<u8>,
        to: Out,
        p: In<u64>,
        q: In<u64>,
        dp: In<u64>,
        dq: In<u64>,
        inverse: In<u64>,
        bits: c_int,
        method: *const c_void,
        buffer: *mut u8,
    ) -> u32;
    pub fn mbx_rsa_public_mb8(
        from: In<u8>,
        to: Out,
        modulus: In<u64>,
        bits: c_int,
        method: *const c_void,
        buffer: *mut u8,
    ) -> u32;

    pub fn mbx_nistp256_ecdh_mb8(
        secret: Out,
        key: In<u64>,
        x: In<u64>,
        y: In<u64>,
        z: In<u64>,
        buffer: *mut u8,
    ) -> u32;
    pub fn mbx_nistp384_ecdh_mb8(
        secret: Out,
        key: In<u64>,
        x: In<u64>,
        y: In<u64>,
        z: In<u64>,
        buffer: *mut u8,
    ) -> u32;
    pub fn mbx_nistp256_ecdsa_sign_mb8(
        r: Out,
        s: Out,
        digest: In<u8>,
        nonce: In<u64>,
        key: In<u64>,
        buffer: *mut u8,
    ) -> u32;
    pub fn mbx_nistp384_ecdsa_sign_mb8(
        r: Out,
        s: Out,
        digest: In<u8>,
        nonce: In<u64>,
        key: In<u64>,
        buffer: *mut u8,
    ) -> u32;
    pub fn mbx_nistp256_ecdsa_verify_mb8(
        r: In<u8>,
        s: In<u8>,
        digest: In<u8>,
        x: In<u64>,
        y: In<u64>,
        z: In<u64>,
        buffer: *mut u8,
    ) -> u32;
    pub fn mbx_nistp384_ecdsa_verify_mb8(
        r: In<u8>,
        s: In<u8>,
        digest: In<u8>,
        x: In<u64>,
        y: In<u64>,
        z: In<u64>,
        buffer: *mut u8,
    ) -> u32;

    pub fn mbx_x25519_mb8(secret: Out, key: In<u8>, other: In<u8>) -> u32;
    pub fn mbx_x25519_public_key_mb8(public: Out, key: In<u8>) -> u32;
    pub fn mbx_ed25519_public_key_mb8(public: Out, key: In<u8>) -> u32;
    pub fn mbx_ed25519_sign_mb8(
        r: Out,
        s: Out,
        message: In<u8>,
        length: *const [u32; 8],
        key: In<u8>,
        public: In<u8>,
    ) -> u32;
    pub fn mbx_ed25519_verify_mb8(
        r: In<u8>,
        s: In<u8>,
        message: In<u8>,
        length: *const [u32; 8],
        public: In<u8>,
    ) -> u32;
}
