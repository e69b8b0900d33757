//! Keys, and which tracks they are for.

use core::{fmt, str::FromStr};

use lanelock::{Aes128, AesLevel};
use thiserror::Error;
use zeroize::Zeroizing;

/// A content key with its identifier: 16 bytes each.
///
/// ```
/// # use lanelock_packager::{Key, KeyError};
/// let key: Key = "00112233-4455-6677-8899-aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0".parse()?;
/// assert_eq!(key.kid[..2], [0x00, 0x11]);
/// assert_eq!(format!("{key:?}"), "Key(00112233-4455-6677-8899-aabbccddeeff)"); // no secret
/// # Ok::<(), KeyError>(())
/// ```
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

    /// Whether both are the same key, whatever their KIDs.
    pub(crate) fn is_same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }

    pub(crate) fn expand(&self, level: AesLevel) -> Aes128 {
        Aes128::with_level(&self.key, level)
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads `KID:KEY`, both of 32 hexadecimal digits; the KID may have the dashes of a UUID.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (kid, key) = text.split_once(':').ok_or(KeyError::Separator)?;
        let kid = sixteen_bytes(kid).ok_or(KeyError::Kid)?;
        let key = Zeroizing::new(sixteen_bytes(key).ok_or(KeyError::Key)?);
        Ok(Self { kid, key })
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
    let mut text = hex_text(kid);
    // From the end, so that the places in front stay.
    for at in [20, 16, 12, 8] {
        text.insert(at, '-');
    }
    text
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex_text(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// 32 hexadecimal digits, dashes ignored.
fn sixteen_bytes(text: &str) -> Option<[u8; 16]> {
    let digits = Zeroizing::new(text.replace('-', ""));
    let mut bytes = [0; 16];
    let whole = base16ct::mixed::decode(digits.as_str(), &mut bytes).ok()?.len() == 16;
    whole.then_some(bytes)
}

/// Which tracks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl FromStr for Selector {
    type Err = KeyError;

    /// Reads `all`, `video`, `audio`, `text` or a track ID.
    fn from_str(text: &str) -> Result<Self, KeyError> {
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
///
/// ```
/// use lanelock_packager::{Key, KeyError, KeyMap, Selector};
///
/// # fn main() -> Result<(), KeyError> {
/// let mut keys = KeyMap::new();
/// keys.insert(Selector::Video, Key::new([1; 16], [2; 16]))?; // KID and key
/// keys.parse_insert("audio=00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
/// assert_eq!(keys.parse_insert("video=0011:0f1e"), Err(KeyError::Kid));
/// # Ok(())
/// # }
/// ```
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
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and if the text is not of that form.
    pub fn parse_insert(&mut self, text: &str) -> Result<(), KeyError> {
        let (selector, key) = match text.split_once('=') {
            Some((selector, key)) => (selector.parse()?, key),
            None => (Selector::All, text),
        };
        self.insert(selector, key.parse()?)
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
        let parse = str::parse::<Key>;
        let key = parse("00112233-4455-6677-8899-aabbccddeeff:000102030405060708090a0b0c0d0e0f");
        let key = key.unwrap();
        assert_eq!(kid_text(&key.kid), "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(key.key[15], 15);
        assert_eq!(format!("{key:?}"), "Key(00112233-4455-6677-8899-aabbccddeeff)");
        let sixteen = "000102030405060708090a0b0c0d0e0f";
        assert_eq!(parse(sixteen), Err(KeyError::Separator));
        assert_eq!(parse(&format!("12:{sixteen}")), Err(KeyError::Kid));
        assert_eq!(parse(&format!("{sixteen}:{sixteen}0")), Err(KeyError::Key));
        assert_eq!(parse(&format!("{sixteen}:{}", "x".repeat(32))), Err(KeyError::Key));
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
