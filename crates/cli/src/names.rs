//! Names of files as lists hold them: bytes in any encoding, where the system has such names.

use std::ffi::{OsStr, OsString};

/// The bytes of a name, and the mark in front of its line if they are not as they are: as GNU writes them.
pub(crate) fn escaped(name: &OsStr) -> (&'static str, Vec<u8>) {
    let name = name.as_encoded_bytes();
    if !name.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r')) {
        return ("", name.to_vec());
    }
    let mut escaped = Vec::with_capacity(name.len() + 2);
    for byte in name {
        match byte {
            b'\\' => escaped.extend(b"\\\\"),
            b'\n' => escaped.extend(b"\\n"),
            b'\r' => escaped.extend(b"\\r"),
            byte => escaped.push(*byte),
        }
    }
    ("\\", escaped)
}

/// The inverse of [`escaped`] without the mark; nothing if a backslash stands before another letter.
pub(crate) fn unescaped(name: &[u8]) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::with_capacity(name.len()), name.iter());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            byte => *byte,
        });
    }
    Some(bytes)
}

/// The name that has these bytes; nothing if the system has none.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have names in UTF-8 alone")]
pub(crate) fn from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

/// The name that has these bytes; nothing if the system has none.
#[cfg(not(unix))]
pub(crate) fn from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}
