//! The peers: each encrypts or decrypts `streams` buffers in place.

use openssl::cipher::Cipher;
use openssl::cipher_ctx::CipherCtx;

use crate::{KEY, Mode};

/// Encrypts or decrypts all streams, which have the same length.
type Run = Box<dyn Fn(&mut [Vec<u8>])>;

/// A library.
pub struct Peer {
    pub name: String,
    make: fn(Mode) -> Option<Run>,
}

impl Peer {
    /// How it runs `mode`, if it can.
    pub fn run(&self, mode: Mode) -> Option<Run> {
        (self.make)(mode)
    }
}

/// The peers that are here.
pub fn all() -> Vec<Peer> {
    let mut peers = vec![Peer { name: "OpenSSL".into(), make: openssl_run }];
    println!("OpenSSL: {}", openssl::version::version());
    peers.extend(ipsec_mb::peer());
    peers
}

fn openssl_run(mode: Mode) -> Option<Run> {
    let (cipher, encrypt) = match mode {
        Mode::Ctr => (Cipher::aes_128_ctr(), true),
        Mode::Cbc => (Cipher::aes_128_cbc(), true),
        Mode::CbcDecrypt => (Cipher::aes_128_cbc(), false),
        Mode::Cbcs | Mode::CbcsDecrypt => return None,
    };
    let context = std::cell::RefCell::new(CipherCtx::new().expect("a context"));
    {
        let mut c = context.borrow_mut();
        if encrypt {
            c.encrypt_init(Some(cipher), Some(&KEY), Some(&[0; 16]))
        } else {
            c.decrypt_init(Some(cipher), Some(&KEY), Some(&[0; 16]))
        }
        .expect("init");
        c.set_padding(false);
    }
    // Out of place: the crate's in-place call wants room for a block more than it writes.
    let output = std::cell::RefCell::new(Vec::new());
    Some(Box::new(move |data| {
        let mut c = context.borrow_mut();
        let mut output = output.borrow_mut();
        for unit in data {
            output.resize(unit.len() + 16, 0);
            if encrypt {
                c.encrypt_init(None, None, Some(&[0; 16]))
            } else {
                c.decrypt_init(None, None, Some(&[0; 16]))
            }
            .expect("init");
            c.cipher_update(unit, Some(&mut output)).expect("update");
        }
    }))
}

#[cfg(ipsec_mb)]
mod ipsec_mb {
    use super::{Mode, Peer, Run};
    use crate::KEY;
    use std::ffi::{CStr, c_char, c_int};

    unsafe extern "C" {
        fn lab_ipsec_mb_init(key: *const u8) -> c_int;
        fn lab_ipsec_mb_version() -> *const c_char;
        fn lab_ipsec_mb_run(
            mode: c_int,
            data: *const *mut u8,
            count: usize,
            length: usize,
            iv: *const u8,
        ) -> c_int;
    }

    pub fn peer() -> Option<Peer> {
        // SAFETY: the key has 16 bytes.
        if unsafe { lab_ipsec_mb_init(KEY.as_ptr()) } != 0 {
            return None;
        }
        // SAFETY: the library returns a static string.
        let version = unsafe { CStr::from_ptr(lab_ipsec_mb_version()) }.to_string_lossy();
        println!("ipsec-mb: {version}");
        Some(Peer { name: "ipsec-mb".into(), make: run })
    }

    fn run(mode: Mode) -> Option<Run> {
        let mode = match mode {
            Mode::Cbc => 0,
            Mode::Cbcs => 1,
            Mode::Ctr => 2,
            Mode::CbcDecrypt | Mode::CbcsDecrypt => return None,
        };
        Some(Box::new(move |data| {
            let length = data[0].len();
            assert!(data.iter().all(|unit| unit.len() == length));
            let buffers: Vec<*mut u8> = data.iter_mut().map(|unit| unit.as_mut_ptr()).collect();
            // SAFETY: each of the buffers has `length` bytes; the IV has 16.
            let done = unsafe {
                lab_ipsec_mb_run(mode, buffers.as_ptr(), buffers.len(), length, [0_u8; 16].as_ptr())
            };
            assert_eq!(done as usize, buffers.len(), "every job completed");
        }))
    }
}

#[cfg(not(ipsec_mb))]
mod ipsec_mb {
    pub fn peer() -> Option<super::Peer> {
        println!("ipsec-mb: not installed (Debian: libipsec-mb-dev)");
        None
    }
}
