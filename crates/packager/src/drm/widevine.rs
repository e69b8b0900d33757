//! Widevine's data: a protobuf message, `WidevinePsshData`, of which a player needs two fields. Widevine
//! publishes the message in its documentation of DRM integration.

use lanelock_mp4::FourCc;

use super::contents::{Contents, DAMAGED};
use crate::{Scheme, keys::hex_text};

// Field numbers.
const KEY_ID: u64 = 2;
const PROTECTION_SCHEME: u64 = 9;

// Wire types of protobuf.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

/// The message: a `key_id` for each KID, and the `protection_scheme` as the number that its four
/// characters make.
pub(super) fn data(kids: &[[u8; 16]], scheme: Scheme) -> Vec<u8> {
    let mut data = Vec::with_capacity(18 * kids.len() + 6);
    for kid in kids {
        put_varint(&mut data, KEY_ID << 3 | BYTES);
        put_varint(&mut data, 16);
        data.extend_from_slice(kid);
    }
    put_varint(&mut data, PROTECTION_SCHEME << 3 | VARINT);
    put_varint(&mut data, u32::from_be_bytes(scheme.fourcc()).into());
    data
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [byte, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(byte);
        }
        out.push(byte | 0x80);
    }
}

/// Adds what a message says.
pub(super) fn read(data: &[u8], contents: &mut Contents) {
    let mut rest = data;
    while !rest.is_empty() {
        let Some((number, value)) = field(&mut rest) else {
            return contents.detail("data", DAMAGED);
        };
        let text = |bytes: &[u8]| match str::from_utf8(bytes) {
            Ok(text) if !text.contains(char::is_control) => text.to_owned(),
            _ => hex_text(bytes),
        };
        match (number, value) {
            (KEY_ID, Value::Bytes(kid)) => match kid.try_into() {
                Ok(kid) => contents.kid(kid),
                Err(_) => contents.detail("key ID", hex_text(kid)),
            },
            (3, Value::Bytes(provider)) => contents.detail("provider", text(provider)),
            (4, Value::Bytes(id)) => contents.detail("content ID", text(id)),
            (6, Value::Bytes(policy)) => contents.detail("policy", text(policy)),
            (7, Value::Number(index)) => contents.detail("crypto period", index.to_string()),
            (PROTECTION_SCHEME, Value::Number(scheme)) => {
                let scheme = u32::try_from(scheme).unwrap_or(0).to_be_bytes();
                contents.detail("scheme", FourCc(scheme).to_string());
            }
            (10, Value::Number(seconds)) => {
                contents.detail("crypto period", format!("{seconds} s"));
            }
            // Deprecated, for licence servers alone, or newer than this.
            _ => {}
        }
    }
}

enum Value<'d> {
    Number(u64),
    Bytes(&'d [u8]),
}

/// The next field: its number and value.
fn field<'d>(rest: &mut &'d [u8]) -> Option<(u64, Value<'d>)> {
    let key = varint(rest)?;
    let mut take = |len: u64| {
        let (value, later) = rest.split_at_checked(usize::try_from(len).ok()?)?;
        *rest = later;
        Some(value)
    };
    let value = match key & 7 {
        VARINT => Value::Number(varint(rest)?),
        1 => Value::Bytes(take(8)?),
        BYTES => {
            let len = varint(rest)?;
            let (value, later) = rest.split_at_checked(usize::try_from(len).ok()?)?;
            *rest = later;
            Value::Bytes(value)
        }
        5 => Value::Bytes(take(4)?),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, later) = rest.split_first()?;
        *rest = later;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
