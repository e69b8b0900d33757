//! `--pssh`: whole boxes in hexadecimal, in base64, or in a file.

use std::{fmt::Display, fs};

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use lanelock_mp4::{Pssh, top_level};

use crate::failure::Failure;

/// The boxes of all values.
pub(crate) fn boxes(values: &[String]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut boxes = Vec::new();
    for value in values {
        let bytes = match value.strip_prefix('@') {
            Some(path) => file(path)?,
            None => decode(value).ok_or_else(|| wrong("neither base64 nor hexadecimal digits"))?,
        };
        split(&bytes, &mut boxes)?;
    }
    Ok(boxes)
}

/// The content of a file: boxes, or text that stands for boxes.
fn file(path: &str) -> Result<Vec<u8>, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::Io { what: format!("cannot read {path}"), error })?;
    if bytes.get(4..8) == Some(b"pssh") {
        return Ok(bytes);
    }
    let text = String::from_utf8(bytes).ok();
    text.and_then(|text| decode(&text)).ok_or_else(|| {
        wrong(format!("{path} holds neither boxes nor base64 nor hexadecimal digits"))
    })
}

/// Adds the boxes of `bytes`, which follow one another.
fn split(bytes: &[u8], boxes: &mut Vec<Vec<u8>>) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Err(wrong("it is empty"));
    }
    for header in top_level(bytes) {
        let header = header.map_err(|error| wrong(error.to_string()))?;
        // The walk has shown that both lie in the bytes.
        let range = usize::try_from(header.offset).ok().zip(usize::try_from(header.end()).ok());
        let found = range.and_then(|(start, end)| bytes.get(start..end)).unwrap_or_default();
        let pssh = Pssh::parse(found).map_err(|error| wrong(error.to_string()))?;
        boxes.push(pssh.raw);
    }
    Ok(())
}

fn wrong(why: impl Display) -> Failure {
    let hint = "give whole boxes, header included, as base64, hexadecimal digits or @FILE";
    Failure::usage(format!("--pssh: {why}"), hint)
}

/// Hexadecimal digits or base64. A box begins with the high byte of its size, 00, so the digits of
/// one are never taken for the other.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    if text.starts_with("00") { unhex(&text) } else { unbase64(&text) }
}

/// Pairs of hexadecimal digits.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    base16ct::mixed::decode_vec(text).ok()
}

/// Base64 (RFC 4648), of the usual or the URL alphabet, padded or not.
fn unbase64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    if text.contains(['-', '_']) {
        Base64UrlUnpadded::decode_vec(text).ok()
    } else {
        Base64Unpadded::decode_vec(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(unbase64(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(unbase64("-_-_"), unbase64("+/+/"));
        assert_eq!(unbase64("Zm9v*"), None);
        assert_eq!(unbase64("Zm9vY"), None);
    }

    #[test]
    fn boxes_one_after_the_other() {
        let (a, b) = (Pssh::common(&[[1; 16]]), Pssh::new([3; 16], &[], b"payload"));
        let hex = lanelock_testkit::hex(&[a.raw.as_slice(), &b.raw].concat()).to_uppercase();
        // The common box for one KID of 01 bytes.
        let base64 = "AAAANHBzc2gBAAAAEHfv7MCyTQKs4zweUuL7SwAAAAEBAQEBAQEBAQEBAQEBAQEBAAAAAA==";
        let all = boxes(&[hex.clone(), base64.to_owned()]);
        assert_eq!(all.ok(), Some(vec![a.raw.clone(), b.raw, a.raw]));
        for wrong in [&hex[..hex.len() - 2], "0000000866726565", "AAAA", "!", ""] {
            assert!(boxes(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
