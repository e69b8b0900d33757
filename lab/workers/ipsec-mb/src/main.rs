//! ipsec-mb, in three ways: by jobs (default), by bursts (argument `burst`), and by the direct functions
//! (`direct`). The functions that do not check their arguments are timed, as recommended for speed.

use std::ffi::{CStr, c_char, c_int};

use lanelock_lab_common::{Data, Library, Prepared, Row, call, mac_bytes, serve};

enum Key {}

/// As in `shim.c`.
#[repr(C)]
struct Request {
    mode: c_int,
    path: c_int,
    keys: *const Key,
    keys_count: usize,
    key_bytes: usize,
    messages: usize,
    aad_length: usize,
    lengths: *const usize,
    aad: *const u8,
    input: *const *mut u8,
    output: *const *mut u8,
    nonces: *const [u8; 32],
    tags: *mut [u8; 16],
}

unsafe extern "C" {
    fn lab_start() -> *const c_char;
    fn lab_expand(bytes: *const u8, count: usize);
    fn lab_gcm_key(bytes: *const u8, count: usize);
    fn lab_keys(bytes: *const *const u8, keys: usize, count: usize, mac: usize) -> *const Key;
    fn lab_run(request: *const Request, check: c_int) -> usize;
}

struct IpsecMb {
    version: String,
    path: Path,
}

#[derive(Clone, Copy, PartialEq)]
enum Path {
    Jobs,
    Burst,
    Direct,
}

impl Library for IpsecMb {
    fn version(&self) -> String {
        format!("ipsec-mb {}", self.version)
    }

    fn takes_any_traffic(&self) -> bool {
        true
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        match &row.algorithm[..] {
            "key-expansion" => return self.set_up(lab_expand),
            "gcm-key" => return self.set_up(lab_gcm_key),
            _ => {}
        }
        let mode =
            MODES.iter().position(|mode| *mode == (&row.algorithm[..], &row.operation[..]))?;
        let hash = matches!(&row.algorithm[..], "ghash" | "cmac" | "ccm");
        if row.key_bits == 192 && hash {
            return None;
        }
        if row.algorithm == "ghash" && row.key_bits != 128 {
            return None;
        }
        let keys: Vec<*const u8> = data.keys.iter().map(|key| key.as_ptr()).collect();
        let bytes = row.key_bits / 8;
        let keys = match bytes {
            0 => std::ptr::null(),
            // SAFETY: so many keys of that size, with that of a MAC behind it.
            _ => unsafe {
                lab_keys(keys.as_ptr(), keys.len(), bytes, mac_bytes(row).unwrap_or_default())
            },
        };
        let mut request = Request {
            mode: mode as c_int,
            path: self.path as c_int,
            keys,
            keys_count: data.keys.len(),
            key_bytes: bytes,
            messages: row.streams,
            aad_length: row.aad,
            lengths: std::ptr::null(),
            aad: std::ptr::null(),
            input: std::ptr::null(),
            output: std::ptr::null(),
            nonces: std::ptr::null(),
            tags: std::ptr::null_mut(),
        };
        let mut pointers = Pointers::default();
        if !matches!(&row.operation[..], "open" | "reject") {
            // Whether it is there, by the functions that check, on other data.
            let mut other = Data::new(row);
            pointers.set(&mut request, &mut other);
            // SAFETY: buffers and tags for all messages.
            if unsafe { lab_run(&request, 1) } != row.streams {
                return None;
            }
        }
        let mut known = std::ptr::null();
        call(move |data| {
            // Once for all calls, if the buffers stay where they are.
            if data.output[0].as_ptr() != known {
                known = data.output[0].as_ptr();
                pointers.set(&mut request, data);
            }
            request.lengths = data.lengths().as_ptr();
            // SAFETY: buffers and tags for all messages.
            let done = unsafe { lab_run(&request, 0) };
            assert_eq!(done, request.messages);
        })
    }
}

impl IpsecMb {
    fn set_up(&self, expand: unsafe extern "C" fn(*const u8, usize)) -> Prepared {
        if self.path != Path::Direct {
            return None;
        }
        call(move |data| {
            let key = std::hint::black_box(&data.keys[0]);
            // SAFETY: a key of that size.
            unsafe { expand(key.as_ptr(), key.len()) };
        })
    }
}

/// Where the messages are.
#[derive(Default)]
struct Pointers {
    input: Vec<*mut u8>,
    output: Vec<*mut u8>,
}

impl Pointers {
    fn set(&mut self, request: &mut Request, data: &mut Data) {
        self.input.clear();
        self.input.extend(data.input.iter_mut().map(|bytes| bytes.as_mut_ptr()));
        self.output.clear();
        self.output.extend(data.output.iter_mut().map(|bytes| bytes.as_mut_ptr()));
        request.lengths = data.lengths().as_ptr();
        request.aad = data.aad.as_ptr();
        request.input = self.input.as_ptr();
        request.output = self.output.as_ptr();
        request.nonces = data.nonces.as_ptr();
        request.tags = data.tags.as_mut_ptr();
    }
}

fn main() {
    // SAFETY: the first call to the library.
    let version = unsafe { lab_start() };
    assert!(!version.is_null(), "the library does not start");
    // SAFETY: a static C string.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned();
    let path = match std::env::args().nth(2).as_deref() {
        Some("burst") => Path::Burst,
        Some("direct") => Path::Direct,
        _ => Path::Jobs,
    };
    serve(&IpsecMb { version, path });
}

/// In the order of `shim.c`.
const MODES: [(&str, &str); 25] = [
    ("ecb", "encrypt"),
    ("ecb", "decrypt"),
    ("ctr", "encrypt"),
    ("cbc", "encrypt"),
    ("cbc", "decrypt"),
    ("cbcs", "encrypt"),
    ("cbcs", "decrypt"),
    ("cmac", "mac"),
    ("gmac", "mac"),
    ("ghash", "hash"),
    ("gcm", "seal"),
    ("gcm", "open"),
    ("gcm", "reject"),
    ("ccm", "seal"),
    ("ccm", "open"),
    ("crc-32", "hash"),
    ("sha-1", "hash"),
    ("sha-256", "hash"),
    ("sha-512", "hash"),
    ("sm3", "hash"),
    ("hmac-sha-256", "mac"),
    ("chacha20-poly1305", "seal"),
    ("chacha20-poly1305", "open"),
    ("cbc-hmac-sha-1", "seal"),
    ("cbc-hmac-sha-256", "seal"),
];
