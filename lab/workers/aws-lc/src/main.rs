//! AWS-LC, as the crate `aws-lc-sys` builds it.

#[path = "../../boringssl/src/family.rs"]
mod family;
#[path = "../../boringssl/src/pubkey.rs"]
mod pubkey;

use std::{
    ffi::CStr,
    ptr::{null, null_mut},
};

use aws_lc_sys as sys;
use lanelock_lab_common::{Data, Library, Prepared, Row, call, serve, version_of};

struct AwsLc;

impl Library for AwsLc {
    fn version(&self) -> String {
        let number = CStr::from_bytes_with_nul(sys::AWSLC_VERSION_NUMBER_STRING);
        let number = number.expect("a C string").to_string_lossy();
        format!("AWS-LC {number} (aws-lc-sys {})", version_of("aws-lc-sys"))
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        match row.kind() {
            ("xts", operation, 256) => xts(data, operation == "encrypt"),
            // SAFETY: a static table.
            ("sha3-256", ..) => hash(unsafe { sys::EVP_sha3_256() }),
            _ => pubkey::prepare(row, data).or_else(|| family::prepare(row, data)),
        }
    }
}

/// Only with keys of 256 bits.
fn xts(data: &Data, encrypt: bool) -> Prepared {
    // SAFETY: a static table.
    let contexts = family::ciphers(unsafe { sys::EVP_aes_256_xts() }, data, encrypt);
    call(move |data| {
        for i in 0..data.output.len() {
            let context = contexts[data.key_index(i)];
            let tweak = data.nonces[i].as_ptr();
            // SAFETY: a live context, whose key and direction stay; a tweak of 16 bytes.
            unsafe { sys::EVP_CipherInit_ex(context, null(), null_mut(), null(), tweak, -1) };
            family::update(context, &mut data.output[i]);
        }
    })
}

fn hash(digest: *const sys::EVP_MD) -> Prepared {
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            let (mut out, mut length) = ([0; 64], 0);
            let (from, to) = (message.as_ptr().cast(), out.as_mut_ptr());
            // SAFETY: a message of that length, and room for any digest.
            let done = unsafe {
                sys::EVP_Digest(from, message.len(), to, &mut length, digest, null_mut())
            };
            assert_eq!(done, 1);
            tag.copy_from_slice(&out[..16]);
        }
    })
}

fn main() {
    serve(&AwsLc);
}
