//! isa-l_crypto 2.25 or newer: XTS with expanded keys, GCM in one call, CBC of one chain, many hashes by its
//! multi-buffer managers.

use std::ffi::c_int;

use lanelock_lab_common::{Data, Library, Prepared, Row, call, serve};

/// Room for the structures of the library, with the alignment that it requires.
#[repr(C, align(64))]
struct Room<const N: usize>([u8; N]);

/// `isal_cbc_key_data` and the like: round keys of both directions.
#[repr(C, align(64))]
struct Schedule {
    encrypt: [u8; 240],
    decrypt: [u8; 240],
}

type Expand = unsafe extern "C" fn(*const u8, *mut u8, *mut u8) -> c_int;
type Xts = unsafe extern "C" fn(*const u8, *const u8, *const u8, u64, *const u8, *mut u8) -> c_int;
type Cbc = unsafe extern "C" fn(*const u8, *const u8, *const u8, *mut u8, u64) -> c_int;
type Precompute = unsafe extern "C" fn(*const u8, *mut Room<2048>) -> c_int;
type Gcm = unsafe extern "C" fn(
    *const Room<2048>,
    *mut Room<256>,
    *mut u8,
    *const u8,
    u64,
    *const u8,
    *const u8,
    u64,
    *mut u8,
    u64,
) -> c_int;

unsafe extern "C" {
    fn isal_crypto_get_version_str() -> *const std::ffi::c_char;
    fn isal_aes_keyexp_128(key: *const u8, encrypt: *mut u8, decrypt: *mut u8) -> c_int;
    fn isal_aes_keyexp_192(key: *const u8, encrypt: *mut u8, decrypt: *mut u8) -> c_int;
    fn isal_aes_keyexp_256(key: *const u8, encrypt: *mut u8, decrypt: *mut u8) -> c_int;
}

/// Of `shim.c`: messages of one length, and how many were hashed.
type HashAll = unsafe extern "C" fn(*const *const u8, usize, usize, *mut [u8; 16]) -> usize;

unsafe extern "C" {
    fn lab_sha1(input: *const *const u8, length: usize, count: usize, tags: *mut [u8; 16])
    -> usize;
    fn lab_sha256(
        input: *const *const u8,
        length: usize,
        count: usize,
        tags: *mut [u8; 16],
    ) -> usize;
    fn lab_sha512(
        input: *const *const u8,
        length: usize,
        count: usize,
        tags: *mut [u8; 16],
    ) -> usize;
    fn lab_sm3(input: *const *const u8, length: usize, count: usize, tags: *mut [u8; 16]) -> usize;
}

/// Declares functions of one type.
macro_rules! functions {
    ($($name:ident($($type:ty),*);)*) => {
        unsafe extern "C" { $(fn $name($(_: $type),*) -> c_int;)* }
    };
}

functions! {
    isal_aes_xts_enc_128_expanded_key(*const u8, *const u8, *const u8, u64, *const u8, *mut u8);
    isal_aes_xts_dec_128_expanded_key(*const u8, *const u8, *const u8, u64, *const u8, *mut u8);
    isal_aes_xts_enc_256_expanded_key(*const u8, *const u8, *const u8, u64, *const u8, *mut u8);
    isal_aes_xts_dec_256_expanded_key(*const u8, *const u8, *const u8, u64, *const u8, *mut u8);
    isal_aes_cbc_enc_128(*const u8, *const u8, *const u8, *mut u8, u64);
    isal_aes_cbc_dec_128(*const u8, *const u8, *const u8, *mut u8, u64);
    isal_aes_cbc_enc_192(*const u8, *const u8, *const u8, *mut u8, u64);
    isal_aes_cbc_dec_192(*const u8, *const u8, *const u8, *mut u8, u64);
    isal_aes_cbc_enc_256(*const u8, *const u8, *const u8, *mut u8, u64);
    isal_aes_cbc_dec_256(*const u8, *const u8, *const u8, *mut u8, u64);
    isal_aes_gcm_pre_128(*const u8, *mut Room<2048>);
    isal_aes_gcm_pre_256(*const u8, *mut Room<2048>);
    isal_aes_gcm_enc_128(*const Room<2048>, *mut Room<256>, *mut u8, *const u8, u64, *const u8, *const u8, u64, *mut u8, u64);
    isal_aes_gcm_dec_128(*const Room<2048>, *mut Room<256>, *mut u8, *const u8, u64, *const u8, *const u8, u64, *mut u8, u64);
    isal_aes_gcm_enc_256(*const Room<2048>, *mut Room<256>, *mut u8, *const u8, u64, *const u8, *const u8, u64, *mut u8, u64);
    isal_aes_gcm_dec_256(*const Room<2048>, *mut Room<256>, *mut u8, *const u8, u64, *const u8, *const u8, u64, *mut u8, u64);
}

struct IsaLCrypto;

impl Library for IsaLCrypto {
    fn version(&self) -> String {
        // SAFETY: a static C string.
        let version = unsafe { std::ffi::CStr::from_ptr(isal_crypto_get_version_str()) };
        format!("isa-l_crypto {}", version.to_string_lossy())
    }

    fn takes_any_traffic(&self) -> bool {
        true
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        match row.kind() {
            ("xts", "encrypt", 128) => xts(data, isal_aes_xts_enc_128_expanded_key, true),
            ("xts", "decrypt", 128) => xts(data, isal_aes_xts_dec_128_expanded_key, false),
            ("xts", "encrypt", 256) => xts(data, isal_aes_xts_enc_256_expanded_key, true),
            ("xts", "decrypt", 256) => xts(data, isal_aes_xts_dec_256_expanded_key, false),
            ("cbc", "encrypt", 128) => cbc(data, isal_aes_cbc_enc_128, true),
            ("cbc", "decrypt", 128) => cbc(data, isal_aes_cbc_dec_128, false),
            ("cbc", "encrypt", 192) => cbc(data, isal_aes_cbc_enc_192, true),
            ("cbc", "decrypt", 192) => cbc(data, isal_aes_cbc_dec_192, false),
            ("cbc", "encrypt", 256) => cbc(data, isal_aes_cbc_enc_256, true),
            ("cbc", "decrypt", 256) => cbc(data, isal_aes_cbc_dec_256, false),
            ("gcm", "seal", 128) => seal(data, isal_aes_gcm_pre_128, isal_aes_gcm_enc_128),
            ("gcm", "open", 128) => open(data, isal_aes_gcm_pre_128, isal_aes_gcm_dec_128),
            ("gcm", "seal", 256) => seal(data, isal_aes_gcm_pre_256, isal_aes_gcm_enc_256),
            ("gcm", "open", 256) => open(data, isal_aes_gcm_pre_256, isal_aes_gcm_dec_256),
            ("key-expansion", ..) => call(|data| {
                std::hint::black_box(&schedule(std::hint::black_box(&data.keys[0])));
            }),
            ("sha-1", "hash", _) => hash(lab_sha1),
            ("sha-256", "hash", _) => hash(lab_sha256),
            ("sha-512", "hash", _) => hash(lab_sha512),
            ("sm3", "hash", _) => hash(lab_sm3),
            _ => None,
        }
    }
}

fn main() {
    serve(&IsaLCrypto);
}

fn schedule(key: &[u8]) -> Schedule {
    let expand: Expand = match key.len() {
        16 => isal_aes_keyexp_128,
        24 => isal_aes_keyexp_192,
        _ => isal_aes_keyexp_256,
    };
    let mut schedule = Schedule { encrypt: [0; 240], decrypt: [0; 240] };
    // SAFETY: a key of that size, and room for 15 round keys twice.
    let status = unsafe {
        expand(key.as_ptr(), schedule.encrypt.as_mut_ptr(), schedule.decrypt.as_mut_ptr())
    };
    assert_eq!(status, 0);
    schedule
}

fn xts(data: &Data, function: Xts, encrypt: bool) -> Prepared {
    let pair = |key: &Vec<u8>| {
        let (first, second) = key.split_at(key.len() / 2);
        (schedule(first), schedule(second))
    };
    let keys: Vec<_> = data.keys.iter().map(pair).collect();
    call(move |data| {
        for i in 0..data.output.len() {
            let (first, second) = &keys[data.key_index(i)];
            let first = if encrypt { &first.encrypt } else { &first.decrypt };
            let (length, buffer) = (data.output[i].len() as u64, data.output[i].as_mut_ptr());
            let tweak = data.nonces[i].as_ptr();
            // SAFETY: expanded keys, a tweak of 16 bytes, in place in a buffer of that length.
            let status = unsafe {
                function(second.encrypt.as_ptr(), first.as_ptr(), tweak, length, buffer, buffer)
            };
            assert_eq!(status, 0);
        }
    })
}

fn cbc(data: &Data, function: Cbc, encrypt: bool) -> Prepared {
    let keys: Vec<_> = data.keys.iter().map(|key| schedule(key)).collect();
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &keys[data.key_index(i)];
            let key = if encrypt { &key.encrypt } else { &key.decrypt };
            let (length, buffer) = (data.output[i].len() as u64, data.output[i].as_mut_ptr());
            // SAFETY: an expanded key, an aligned IV, in place in a buffer of that length.
            let status =
                unsafe { function(buffer, data.nonces[i].as_ptr(), key.as_ptr(), buffer, length) };
            assert_eq!(status, 0);
        }
    })
}

fn gcm_keys(data: &Data, precompute: Precompute) -> Vec<Box<Room<2048>>> {
    let key = |key: &Vec<u8>| {
        let mut room = Box::new(Room([0; 2048]));
        // SAFETY: a key of that size, and more room than the structure takes.
        assert_eq!(unsafe { precompute(key.as_ptr(), &mut *room) }, 0);
        room
    };
    data.keys.iter().map(key).collect()
}

fn seal(data: &Data, precompute: Precompute, function: Gcm) -> Prepared {
    let keys = gcm_keys(data, precompute);
    let mut context = Room([0; 256]);
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &*keys[data.key_index(i)];
            let (length, buffer) = (data.length(i) as u64, data.output[i].as_mut_ptr());
            let (aad, aad_length) = (data.aad.as_ptr(), data.aad.len() as u64);
            let (nonce, tag) = (data.nonces[i].as_ptr(), data.tags[i].as_mut_ptr());
            // SAFETY: in place in a buffer of that length, with room for the tag.
            let status = unsafe {
                function(key, &mut context, buffer, buffer, length, nonce, aad, aad_length, tag, 16)
            };
            assert_eq!(status, 0);
        }
    })
}

/// The library gives the tag; comparing it is the caller's part.
fn open(data: &Data, precompute: Precompute, function: Gcm) -> Prepared {
    let keys = gcm_keys(data, precompute);
    let mut context = Room([0; 256]);
    call(move |data| {
        for i in 0..data.output.len() {
            let key = &*keys[data.key_index(i)];
            let (from, to) = (data.input[i].as_ptr(), data.output[i].as_mut_ptr());
            let (length, nonce) = (data.length(i) as u64, data.nonces[i].as_ptr());
            let (aad, aad_length) = (data.aad.as_ptr(), data.aad.len() as u64);
            let mut tag = [0; 16];
            // SAFETY: two buffers of that length, and room for the tag.
            let status = unsafe {
                let tag = tag.as_mut_ptr();
                function(key, &mut context, to, from, length, nonce, aad, aad_length, tag, 16)
            };
            assert!(status == 0 && tag == data.tags[i]);
        }
    })
}

/// All messages have one length.
fn hash(function: HashAll) -> Prepared {
    let mut pointers = Vec::new();
    call(move |data| {
        if pointers.is_empty() {
            pointers.extend(data.input.iter().map(|message| message.as_ptr()));
        }
        let (length, tags) = (data.input[0].len(), data.tags.as_mut_ptr());
        // SAFETY: so many messages of that length, which stay where they are, and as many tags.
        let done = unsafe { function(pointers.as_ptr(), length, pointers.len(), tags) };
        assert_eq!(done, pointers.len());
    })
}
