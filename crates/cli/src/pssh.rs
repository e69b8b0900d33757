//! `--pssh`: whole boxes in hexadecimal, in base64, or in a file.

use std::{fmt::Display, fs};

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use lanelock_mp4::{Pssh, top_level};

use lanelock_packager::drm::{self, System};

use crate::failure::Failure;

/// The boxes of all values.
pub(crate) fn boxes(values: &[String]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut boxes = Vec::new();
    for value in values {
        let bytes = match value.strip_prefix('@') {
            Some(path) => file(path)?,
            None => text(value)?.ok_or_else(|| wrong("neither base64 nor hexadecimal digits"))?,
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
    if let Some(data) = SystemData::of(&bytes) {
        return Err(data.failure(&bytes));
    }
    let decoded = String::from_utf8(bytes).ok().map(|digits| text(&digits)).transpose()?;
    decoded.flatten().ok_or_else(|| {
        wrong(format!("{path} holds neither boxes nor base64 nor hexadecimal digits"))
    })
}

/// What text stands for, if it is base64 or hexadecimal digits.
fn text(text: &str) -> Result<Option<Vec<u8>>, Failure> {
    let digits: String = text.split_ascii_whitespace().collect();
    for bytes in [Some(text.as_bytes().to_vec()), unhex(&digits), unbase64(&digits)] {
        if let Some((data, bytes)) = bytes.and_then(|b| Some((SystemData::of(&b)?, b))) {
            return Err(data.failure(&bytes));
        }
    }
    Ok(decode(&digits))
}

/// The data of a protection system without the box that they belong in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SystemData {
    /// Widevine's `WidevineCencHeader`, a message of Protocol Buffers.
    Widevine,
    /// A `PlayReady` object.
    PlayReady,
    /// The XML document in such an object.
    PlayReadyHeader,
}

impl SystemData {
    fn of(bytes: &[u8]) -> Option<Self> {
        let utf16: Vec<u8> = b"<WRMHEADER".iter().flat_map(|byte| [*byte, 0]).collect();
        let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
        let object = bytes.first_chunk().map(|len| u32::from_le_bytes(*len) as usize);
        if bytes.get(4..8) == Some(b"pssh") {
            None
        } else if bytes.starts_with(b"<WRMHEADER") || bytes.starts_with(&utf16) {
            Some(Self::PlayReadyHeader)
        } else if object == Some(bytes.len()) && has(&utf16) {
            Some(Self::PlayReady)
        } else {
            is_widevine(bytes).then_some(Self::Widevine)
        }
    }

    /// Says what it is, and how the box is made. It does not repeat the data.
    fn failure(self, data: &[u8]) -> Failure {
        let (what, system) = match self {
            Self::Widevine => ("Widevine's data", "edef8ba979d64ace a3c827dcd51d21ed"),
            Self::PlayReady => ("a PlayReady object", "9a04f07998404286 ab92e65be0885f95"),
            Self::PlayReadyHeader => {
                return Failure::usage(
                    "--pssh: this is a PlayReady header without the PlayReady object and the pssh box \
                     around it",
                    "give the whole box, as the key server or the PlayReady tools write it",
                );
            }
        };
        let len = data.len();
        Failure::usage(
            format!("--pssh: this is {what} without the pssh box around it"),
            format!(
                "give the whole box in hexadecimal digits: {:08x} 70737368 00000000 {system} {len:08x}, \
                 then the digits of the data; or as the key server writes it. --drm makes boxes from keys alone",
                len + 32
            ),
        )
    }
}

/// Whether bytes are a message of Widevine's that names a KID, a provider or a content ID.
fn is_widevine(bytes: &[u8]) -> bool {
    let contents = drm::contents(&Pssh::new(System::Widevine.id(), &[], bytes));
    let names = |name: &str| contents.details.iter().any(|(known, _)| *known == name);
    let names_content = !contents.kids.is_empty() || names("provider") || names("content ID");
    names_content && !names("data")
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
fn decode(digits: &str) -> Option<Vec<u8>> {
    if digits.starts_with("00") { unhex(digits) } else { unbase64(digits) }
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
    fn data_without_a_box() {
        // Algorithm, KID, provider and content ID; a KID alone; the scheme at the end.
        let kid = [5; 16];
        let whole = [&b"\x08\x01\x12\x10"[..], &kid, b"\x1a\x04prov\x22\x02id"].concat();
        let alone = [&b"\x12\x10"[..], &kid].concat();
        let scheme = [&alone[..], b"\x48\xe3\xdc\x95\x9b\x06"].concat();
        for data in [&whole, &alone, &scheme] {
            assert_eq!(SystemData::of(data), Some(SystemData::Widevine));
            for cut in 1..data.len() {
                let cut = &data[..cut];
                assert!(SystemData::of(cut).is_none() || is_widevine(cut));
            }
        }
        let xml = "<WRMHEADER version=\"4.0.0.0\"></WRMHEADER>";
        let utf16: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let len = u32::try_from(utf16.len() + 10).unwrap().to_le_bytes();
        let object = [&len[..], &[1, 0, 1, 0, 0, 0], &utf16].concat();
        assert_eq!(SystemData::of(&object), Some(SystemData::PlayReady));
        for header in [xml.as_bytes(), &utf16] {
            assert_eq!(SystemData::of(header), Some(SystemData::PlayReadyHeader));
        }
        for other in [&b""[..], &kid, b"\x08\x01", &Pssh::common(&[kid]).raw] {
            assert_eq!(SystemData::of(other), None);
        }
        // The header that the hint gives makes a box of the data.
        for data in [&whole, &object] {
            let Failure::Usage { hint, .. } = SystemData::of(data).unwrap().failure(data) else {
                panic!()
            };
            let digits = hint.split_once(": ").unwrap().1.split_once(',').unwrap().0;
            let header = unhex(&digits.replace(' ', "")).unwrap();
            let pssh = Pssh::parse(&[&header[..], data].concat()).unwrap();
            assert_eq!(&pssh.data, data);
        }
    }

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
