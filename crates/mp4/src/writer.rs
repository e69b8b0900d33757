//! Writing boxes into a byte vector, sizes filled in afterwards.

/// Appends a box of `kind` whose payload `body` writes; the 32-bit size is set at the end.
///
/// Only used for boxes this crate builds itself; all are far below 4 GiB, since their
/// content is bounded by 32-bit counts checked by the callers.
pub(crate) fn put_box(out: &mut Vec<u8>, kind: [u8; 4], body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&kind);
    body(out);
    let size = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

/// As [`put_box`] for a full box (ISO/IEC 14496-12, 4.2).
pub(crate) fn put_full_box(
    out: &mut Vec<u8>,
    kind: [u8; 4],
    version: u8,
    flags: u32,
    body: impl FnOnce(&mut Vec<u8>),
) {
    put_box(out, kind, |out| {
        put32(out, u32::from(version) << 24 | flags & 0x00ff_ffff);
        body(out);
    });
}

pub(crate) fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_be_bytes());
}
