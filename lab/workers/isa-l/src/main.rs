//! ISA-L's checksums, called directly.

use std::ffi::{c_int, c_uint};

use lanelock_lab_common::{Data, Library, Prepared, Row, call, serve};

unsafe extern "C" {
    fn crc32_iscsi(data: *const u8, length: c_int, initial: c_uint) -> c_uint;
    fn crc32_gzip_refl(initial: u32, data: *const u8, length: u64) -> u32;
    fn crc64_ecma_refl(initial: u64, data: *const u8, length: u64) -> u64;
}

struct IsaL;

impl Library for IsaL {
    fn version(&self) -> String {
        format!("ISA-L {}", env!("ISAL_VERSION"))
    }

    fn prepare(&self, row: &Row, _: &Data) -> Prepared {
        match &row.algorithm[..] {
            // SAFETY: in each, a buffer of that length.
            "crc-32c" => each(|m| {
                let crc = unsafe { crc32_iscsi(m.as_ptr(), m.len() as c_int, !0) };
                u64::from(!crc)
            }),
            // SAFETY: as above.
            "crc-32" => each(|m| unsafe { crc32_gzip_refl(0, m.as_ptr(), m.len() as u64) }.into()),
            // SAFETY: as above.
            "crc-64-xz" => each(|m| unsafe { crc64_ecma_refl(0, m.as_ptr(), m.len() as u64) }),
            _ => None,
        }
    }
}

fn each(checksum: impl Fn(&[u8]) -> u64 + 'static) -> Prepared {
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            tag[..8].copy_from_slice(&checksum(message).to_le_bytes());
        }
    })
}

fn main() {
    serve(&IsaL);
}
