//! Keys, and which tracks they are for.

use core::fmt::{self, Write as _};

use lanelock::{Aes128, AesLevel};
use thiserror::Error;
use zeroize::Zeroizing;

/// A content key with its identifier.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The key identifier (KID).
    pub kid: [u8; 16],
    key: Zeroizing<[u8; 16]>,
}

impl Key {
    /// A key.
    pub fn new(kid: [u8; 16], key: [u8; 16]) -> Self {
        Self { kid, key: Zeroizing::new(key) }
    }

    /// Reads `KID:KEY`, both of 32 hexadecimal digits; the KID may have the dashes of a UUID.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (kid, key) = text.split_once(':').ok_or(KeyError::Separator)?;
        let kid = sixteen_bytes(kid).ok_or(KeyError::Kid)?;
        let key = Zeroizing::new(sixteen_bytes(key).ok_or(KeyError::Key)?);
        Ok(Self { kid, key })
    }

    /// Whether both are the same key, whatever their KIDs.
    pub(crate) fn is_same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }

    pub(crate) fn expand(&self, level: AesLevel) -> Aes128 {
        Aes128::with_level(&self.key, level)
    }
}

impl fmt::Debug for Key {
    /// Shows the KID, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", kid_text(&self.kid))
    }
}

/// A KID as people write it: lower-case hexadecimal digits, grouped like a UUID.
pub(crate) fn kid_text(kid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in kid.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
    }
    text
}

/// 32 hexadecimal digits, dashes ignored. Not constant in time over *where* a digit is wrong, which
/// tells nothing about a well-formed key.
fn sixteen_bytes(text: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut digits = text.bytes().filter(|byte| *byte != b'-');
    for byte in &mut bytes {
        for _ in 0..2 {
            let digit = char::from(digits.next()?).to_digit(16)?;
            *byte = *byte << 4 | u8::try_from(digit).ok()?;
        }
    }
    digits.next().is_none().then_some(bytes)
}

/// Which tracks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Every track.
    All,
    /// Video tracks.
    Video,
    /// Audio tracks.
    Audio,
    /// Text, subtitle and caption tracks.
    Text,
    /// The track with this ID.
    Track(u32),
}

impl Selector {
    /// Reads `all`, `video`, `audio`, `text` or a track ID.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        match text {
            "all" => Ok(Self::All),
            "video" => Ok(Self::Video),
            "audio" => Ok(Self::Audio),
            "text" => Ok(Self::Text),
            id => id.parse().map(Self::Track).map_err(|_| KeyError::Selector),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Video => f.write_str("video"),
            Self::Audio => f.write_str("audio"),
            Self::Text => f.write_str("text"),
            Self::Track(id) => write!(f, "{id}"),
        }
    }
}

/// Keys for tracks. The most particular selector wins: a track ID, then a kind, then `all`.
#[derive(Clone, Debug, Default)]
pub struct KeyMap {
    entries: Vec<(Selector, Key)>,
}

impl KeyMap {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key.
    ///
    /// # Errors
    /// The selector has a key already, or the KID stands for another key.
    pub fn insert(&mut self, selector: Selector, key: Key) -> Result<(), KeyError> {
        if self.entries.iter().any(|(other, _)| *other == selector) {
            return Err(KeyError::Twice(selector.to_string()));
        }
        if self.entries.iter().any(|(_, other)| other.kid == key.kid && *other != key) {
            return Err(KeyError::KidTwice(kid_text(&key.kid)));
        }
        self.entries.push((selector, key));
        Ok(())
    }

    /// Reads `[SELECTOR=]KID:KEY` and adds it.
    pub fn parse_insert(&mut self, text: &str) -> Result<(), KeyError> {
        let (selector, key) = match text.split_once('=') {
            Some((selector, key)) => (Selector::parse(selector)?, key),
            None => (Selector::All, text),
        };
        self.insert(selector, Key::parse(key)?)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in the order of insertion.
    pub fn entries(&self) -> impl Iterator<Item = (&Selector, &Key)> {
        self.entries.iter().map(|(selector, key)| (selector, key))
    }
}

/// What is wrong with the text of a key. It never repeats the text: part of it may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is no colon.
    #[error("a key is KID:KEY, and there is no colon in it")]
    Separator,
    /// The KID is not 16 bytes.
    #[error("the KID must be 32 hexadecimal digits (dashes allowed)")]
    Kid,
    /// The key is not 16 bytes.
    #[error("the key must be 32 hexadecimal digits")]
    Key,
    /// The selector is unknown.
    #[error("the selector before the \"=\" is not all, video, audio, text or a track ID")]
    Selector,
    /// Two keys for the same selector.
    #[error("two keys for \"{0}\"")]
    Twice(String),
    /// Two different keys with the same KID.
    #[error("two different keys have the KID {0}")]
    KidTwice(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read() {
        let key =
            Key::parse("00112233-4455-6677-8899-aabbccddeeff:000102030405060708090a0b0c0d0e0f");
        let key = key.unwrap();
        assert_eq!(kid_text(&key.kid), "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(key.key[15], 15);
        assert_eq!(format!("{key:?}"), "Key(00112233-4455-6677-8899-aabbccddeeff)");
        let sixteen = "000102030405060708090a0b0c0d0e0f";
        assert_eq!(Key::parse(sixteen), Err(KeyError::Separator));
        assert_eq!(Key::parse(&format!("12:{sixteen}")), Err(KeyError::Kid));
        assert_eq!(Key::parse(&format!("{sixteen}:{sixteen}0")), Err(KeyError::Key));
        assert_eq!(Key::parse(&format!("{sixteen}:{}", "x".repeat(32))), Err(KeyError::Key));
    }

    #[test]
    fn one_kid_has_one_key() {
        let mut map = KeyMap::new();
        let (kid, a, b) = ("11".repeat(16), "22".repeat(16), "33".repeat(16));
        map.parse_insert(&format!("video={kid}:{a}")).unwrap();
        map.parse_insert(&format!("audio={kid}:{a}")).unwrap();
        assert!(matches!(map.parse_insert(&format!("7={kid}:{b}")), Err(KeyError::KidTwice(_))));
        assert!(matches!(map.parse_insert(&format!("video={b}:{b}")), Err(KeyError::Twice(_))));
        assert!(matches!(map.parse_insert(&format!("vide={b}:{b}")), Err(KeyError::Selector)));
    }
}
