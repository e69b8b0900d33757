//! `ftyp` (ISO/IEC 14496-12, 4.3).

use crate::{
    FourCc,
    writer::{put_box, put32},
};

/// Builds a file type box.
pub fn ftyp(major: FourCc, minor_version: u32, brands: &[FourCc]) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + 4 * brands.len());
    put_box(&mut out, *b"ftyp", |out| {
        out.extend_from_slice(&major.0);
        put32(out, minor_version);
        for brand in brands {
            out.extend_from_slice(&brand.0);
        }
    });
    out
}
