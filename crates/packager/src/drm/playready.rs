//! PlayReady's data: the PlayReady Object, records of which one is the header, XML in UTF-16LE
//! (Microsoft, "PlayReady Header Specification").
//!
//! A header names KIDs as GUIDs, whose first three numbers are little-endian, and up to version 4.2 may
//! give each the checksum of its key.

use base64ct::{Base64, Encoding as _};
use lanelock_core::AesLevel;

use super::contents::{Contents, DAMAGED};
use crate::Key;

/// The only record that is written, the header.
const HEADER: u16 = 1;

/// The object for these keys: the header of `cbcs` (AES-CBC, version 4.3), or of `cenc`, for one key
/// (4.0) or several (4.2). None if the lengths of a record cannot say how long it is.
pub(super) fn object(keys: &[&Key], cbc: bool) -> Option<Vec<u8>> {
    let base64 = Base64::encode_string;
    let kid = |key: &Key| base64(&guid(key.kid));
    let (version, data) = match keys {
        [key] if !cbc => {
            let (kid, checksum) = (kid(key), base64(&checksum(key)));
            let info = "<PROTECTINFO><KEYLEN>16</KEYLEN><ALGID>AESCTR</ALGID></PROTECTINFO>";
            ("4.0.0.0", format!("{info}<KID>{kid}</KID><CHECKSUM>{checksum}</CHECKSUM>"))
        }
        keys => {
            // Attributes in alphabetical order, no empty tags: readers exist that need both.
            let element = |key: &&Key| {
                let (kid, checksum) = (kid(key), base64(&checksum(key)));
                if cbc {
                    format!("<KID ALGID=\"AESCBC\" VALUE=\"{kid}\"></KID>")
                } else {
                    format!("<KID ALGID=\"AESCTR\" CHECKSUM=\"{checksum}\" VALUE=\"{kid}\"></KID>")
                }
            };
            let list: String = keys.iter().map(element).collect();
            let version = if cbc { "4.3.0.0" } else { "4.2.0.0" };
            (version, format!("<PROTECTINFO><KIDS>{list}</KIDS></PROTECTINFO>"))
        }
    };
    let header = format!(
        "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" \
         version=\"{version}\"><DATA>{data}</DATA></WRMHEADER>"
    );
    let header: Vec<u8> = header.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let len = u16::try_from(header.len()).ok()?;
    let mut object = Vec::with_capacity(10 + header.len());
    object.extend_from_slice(&(u32::from(len) + 10).to_le_bytes());
    object.extend_from_slice(&1_u16.to_le_bytes());
    object.extend_from_slice(&HEADER.to_le_bytes());
    object.extend_from_slice(&len.to_le_bytes());
    object.extend_from_slice(&header);
    Some(object)
}

/// The first 8 bytes of the KID, as a GUID in memory, encrypted with the key.
fn checksum(key: &Key) -> [u8; 8] {
    let mut block = guid(key.kid);
    key.expand(AesLevel::fastest()).encrypt_block(&mut block);
    let [checksum, _] = block.as_chunks().0 else { return [0; 8] };
    *checksum
}

/// Adds what an object says.
pub(super) fn read(object: &[u8], contents: &mut Contents) {
    let headers = headers(object);
    if headers.is_empty() {
        contents.detail("data", DAMAGED);
    }
    for header in headers {
        if let Some(version) =
            header.split_once("<WRMHEADER").and_then(|(_, tag)| attribute(tag, "version"))
        {
            contents.detail("header", format!("version {version}"));
        }
        for key in keys(&header) {
            contents.kid(key.kid);
            if let Some(algorithm) = key.algorithm {
                contents.detail("algorithm", algorithm);
            }
        }
        if let Some(url) = text(&header, "LA_URL") {
            contents.detail("licence server", url.replace("&amp;", "&"));
        }
    }
}

/// What a header says about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderKey {
    /// As everywhere but in PlayReady.
    pub(crate) kid: [u8; 16],
    pub(crate) algorithm: Option<String>,
    pub(crate) checksum: Option<[u8; 8]>,
}

/// The headers in a PlayReady Object: its length (4 bytes) and the number of records (2), then the
/// records: type (2), length (2), value. All little-endian.
pub(crate) fn headers(object: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = object.get(6..).unwrap_or_default();
    while let [kind_low, kind_high, len_low, len_high, tail @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*len_low, *len_high]));
        let Some((value, later)) = tail.split_at_checked(len) else { break };
        if [*kind_low, *kind_high] == [1, 0] {
            let units = value.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
            found.push(
                char::decode_utf16(units)
                    .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect(),
            );
        }
        rest = later;
    }
    found
}

/// The keys of a header.
pub(crate) fn keys(header: &str) -> Vec<HeaderKey> {
    // Both may hold anything, what looks like a KID included.
    let header = without(header, "<!--", "-->");
    let header = without(&header, "<CUSTOMATTRIBUTES", "</CUSTOMATTRIBUTES>");
    let mut found = Vec::new();
    let mut add = |algorithm: Option<&str>, kid: Option<&str>, checksum: Option<&str>| {
        if let Some(kid) = kid.and_then(decode) {
            let (algorithm, checksum) = (algorithm.map(str::to_owned), checksum.and_then(decode));
            found.push(HeaderKey { kid: guid(kid), algorithm, checksum });
        }
    };
    // Version 4.0: one KID, in elements.
    add(text(&header, "ALGID"), text(&header, "KID"), text(&header, "CHECKSUM"));
    // From version 4.1 on: attributes.
    for tag in header.split("<KID").skip(1) {
        if let Some((attributes, _)) = tag.split_once('>')
            && attributes.starts_with(char::is_whitespace)
        {
            let value = |name| attribute(attributes, name);
            add(value("ALGID"), value("VALUE"), value("CHECKSUM"));
        }
    }
    found
}

/// The text of the first element of that name, if it has no attributes.
fn text<'t>(xml: &'t str, name: &str) -> Option<&'t str> {
    let (_, tail) = xml.split_once(&format!("<{name}>"))?;
    Some(tail.split_once('<')?.0.trim())
}

/// The value of an attribute.
fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = attributes;
    loop {
        let (before, tail) = rest.split_once('=')?;
        let tail = tail.trim_start();
        let quote = tail.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, later) = tail[1..].split_once(quote)?;
        if before.trim() == name {
            return Some(value.trim());
        }
        rest = later;
    }
}

/// `text` without what stands from `open` to `close`.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once(open) {
        kept.push_str(before);
        rest = tail.split_once(close).map_or("", |(_, later)| later);
    }
    kept.push_str(rest);
    kept
}

/// Exactly `N` bytes in base64.
fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; 24];
    Base64::decode(text, &mut bytes).ok()?.try_into().ok()
}

/// From the bytes of a UUID to those of a GUID in memory, or back: its first three numbers are
/// little-endian.
pub(crate) fn guid(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}
