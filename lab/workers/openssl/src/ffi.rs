//! What of libcrypto's C interface is used here.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

pub enum CipherCtx {}
pub enum Cipher {}
pub enum Mac {}
pub enum MacCtx {}
pub enum Digest {}
pub enum DigestCtx {}

/// `OSSL_PARAM`.
#[repr(C)]
pub struct Param {
    key: *const c_char,
    data_type: u32,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

/// `EVP_CTRL_AEAD_...`
pub const SET_IVLEN: c_int = 0x9;
pub const GET_TAG: c_int = 0x10;
pub const SET_TAG: c_int = 0x11;
pub const TLS1_AAD: c_int = 0x16;
pub const SET_MAC_KEY: c_int = 0x17;

unsafe extern "C" {
    pub fn OpenSSL_version(kind: c_int) -> *const c_char;

    pub fn EVP_CIPHER_fetch(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut Cipher;
    pub fn EVP_CIPHER_CTX_new() -> *mut CipherCtx;
    pub fn EVP_CIPHER_CTX_set_padding(context: *mut CipherCtx, padding: c_int) -> c_int;
    pub fn EVP_CIPHER_CTX_ctrl(
        context: *mut CipherCtx,
        kind: c_int,
        number: c_int,
        pointer: *mut c_void,
    ) -> c_int;
    pub fn EVP_CipherInit_ex2(
        context: *mut CipherCtx,
        cipher: *mut Cipher,
        key: *const c_uchar,
        iv: *const c_uchar,
        encrypt: c_int,
        parameters: *const Param,
    ) -> c_int;
    pub fn EVP_CipherUpdate(
        context: *mut CipherCtx,
        out: *mut c_uchar,
        written: *mut c_int,
        data: *const c_uchar,
        length: c_int,
    ) -> c_int;
    pub fn EVP_CipherFinal_ex(
        context: *mut CipherCtx,
        out: *mut c_uchar,
        written: *mut c_int,
    ) -> c_int;

    pub fn EVP_MAC_fetch(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut Mac;
    pub fn EVP_MAC_CTX_new(mac: *mut Mac) -> *mut MacCtx;
    pub fn EVP_MAC_init(
        context: *mut MacCtx,
        key: *const c_uchar,
        length: usize,
        parameters: *const Param,
    ) -> c_int;
    pub fn EVP_MAC_update(context: *mut MacCtx, data: *const c_uchar, length: usize) -> c_int;
    pub fn EVP_MAC_final(
        context: *mut MacCtx,
        out: *mut c_uchar,
        written: *mut usize,
        room: usize,
    ) -> c_int;

    pub fn EVP_MD_fetch(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut Digest;
    pub fn EVP_MD_CTX_new() -> *mut DigestCtx;
    pub fn EVP_DigestInit_ex2(
        context: *mut DigestCtx,
        digest: *mut Digest,
        parameters: *const Param,
    ) -> c_int;
    pub fn EVP_DigestUpdate(context: *mut DigestCtx, data: *const c_void, length: usize) -> c_int;
    pub fn EVP_DigestFinal_ex(
        context: *mut DigestCtx,
        out: *mut c_uchar,
        written: *mut c_uint,
    ) -> c_int;
    pub fn EVP_DigestFinalXOF(context: *mut DigestCtx, out: *mut c_uchar, length: usize) -> c_int;
    pub fn PKCS5_PBKDF2_HMAC(
        password: *const c_char,
        password_length: c_int,
        salt: *const c_uchar,
        salt_length: c_int,
        iterations: c_int,
        digest: *const Digest,
        key_length: c_int,
        key: *mut c_uchar,
    ) -> c_int;

    pub fn OSSL_PARAM_construct_utf8_string(
        key: *const c_char,
        text: *mut c_char,
        size: usize,
    ) -> Param;
    pub fn OSSL_PARAM_construct_end() -> Param;
}
