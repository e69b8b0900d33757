//! Keys, and which tracks they are for.

use core::{fmt, str::FromStr};

use lanelock_core::{Aes128, AesLevel};
use zeroize::Zeroizing;

use crate::{
    KeyError, Selector, SelectorError, codec,
    key_text::{self, ShakaKey},
};

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

    /// A new key with a new KID, from the random generator of the system.
    pub fn random() -> Result<Self, KeyError> {
        let (mut kid, mut key) = ([0; 16], Zeroizing::new([0; 16]));
        for bytes in [&mut kid, &mut *key] {
            getrandom::fill(bytes).map_err(|error| KeyError::Random(error.to_string()))?;
        }
        Ok(Self { kid, key })
    }

    /// The KID as people write it: lower-case hexadecimal digits, grouped like a UUID.
    pub fn kid_text(&self) -> String {
        kid_text(&self.kid)
    }

    /// `KID:KEY`, which is secret.
    pub fn secret_text(&self) -> Zeroizing<String> {
        let [kid, key] = [&self.kid, &*self.key].map(|bytes| Zeroizing::new(hex_text(bytes)));
        let mut text = Zeroizing::new(String::with_capacity(65));
        for part in [kid.as_str(), ":", &key] {
            text.push_str(part);
        }
        text
    }

    /// Whether both are the same key, whatever their KIDs.
    pub(crate) fn is_same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Whether the key is just these bytes.
    pub(crate) fn is_of_bytes(&self, bytes: &[u8]) -> bool {
        self.key[..] == *bytes
    }

    pub(crate) fn expand(&self, level: AesLevel) -> Aes128 {
        Aes128::with_level(&self.key, level)
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads `KID:KEY`, both of 32 hexadecimal digits. The KID may have the dashes and braces of a GUID,
    /// both may have `0x` before them, and the key may be in base64.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        if text.contains(',') {
            return Err(KeyError::Several);
        }
        let (kid, key) = text.split_once(':').ok_or(KeyError::Separator)?;
        Ok(Self { kid: key_text::kid(kid)?, key: key_text::key(key)? })
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

/// Keys for tracks, and for key periods where there are some ([`KeyPeriods`](crate::KeyPeriods)). The most
/// particular selector wins: a track ID, then a codec, then a filter, then a class of pictures, then a kind,
/// then `other`, then `all`. Filters that select one track must give it one key for each key period.
///
/// ```
/// use lanelock_packager::{Key, KeyError, KeyMap, Selector};
///
/// # fn main() -> Result<(), KeyError> {
/// let mut keys = KeyMap::new();
/// keys.insert(Selector::Video, Key::new([1; 16], [2; 16]))?; // KID and key
/// keys.parse_insert("audio=00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
/// assert!(keys.parse_insert("video=0011:0f1e").is_err()); // 16 bytes each
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyMap {
    entries: Vec<KeyLine>,
}

impl KeyMap {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key for all time.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn insert(&mut self, selector: Selector, key: Key) -> Result<(), KeyError> {
        self.add(KeyLine { selector, period: None, key })
    }

    /// Adds a key.
    ///
    /// # Errors
    /// The selector has a key already (for that key period, or for all time), or is a codec that cannot be
    /// encrypted, or the KID stands for another key, or a key is a KID as well.
    pub fn add(&mut self, line: KeyLine) -> Result<(), KeyError> {
        let KeyLine { selector, period, key } = &line;
        check(selector)?;
        for other in self.entries.iter().filter(|other| other.selector == *selector) {
            if other.period == *period {
                return Err(KeyError::Twice(line.place()));
            }
            if other.period.is_none() || period.is_none() {
                return Err(KeyError::Mixed(selector.to_string()));
            }
        }
        if self.entries.iter().any(|other| other.key.kid == key.kid && other.key != *key) {
            return Err(KeyError::KidTwice(kid_text(&key.kid)));
        }
        // KIDs are published.
        let is_kid = |other: &&Key| key.is_of_bytes(&other.kid) || other.is_of_bytes(&key.kid);
        if self.keys().chain([key]).any(|other| is_kid(&other)) {
            return Err(KeyError::IsKid(kid_text(&key.kid)));
        }
        self.entries.push(line);
        Ok(())
    }

    /// Reads a [`KeyLine`] and adds it.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if the text is not of that form.
    pub fn parse_insert(&mut self, text: &str) -> Result<(), KeyError> {
        self.add(text.parse()?)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in the order of insertion.
    pub fn entries(&self) -> impl Iterator<Item = &KeyLine> {
        self.entries.iter()
    }

    /// The keys, in the order of insertion; one that is for several tracks or key periods as often as
    /// that.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.entries.iter().map(|line| &line.key)
    }
}

/// A key as people write it: a line of a key file. That is `[SELECTOR[@PERIOD]=]KID:KEY`, for all tracks if
/// there is no selector and for all time if there is no key period; or `label=LABEL:key_id=KID:key=KEY` as for
/// Shaka Packager, with the labels `AUDIO`, `VIDEO`, `SD`, `HD`, `UHD1` and `UHD2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLine {
    /// The tracks it is for.
    pub selector: Selector,
    /// The number of the key period that it is for, from 0; none if it is for all time.
    pub period: Option<u32>,
    /// The key.
    pub key: Key,
}

impl KeyLine {
    /// What is written before the key: `video`, `video@0`.
    pub fn place(&self) -> String {
        let Self { selector, period, .. } = self;
        period.map_or_else(|| selector.to_string(), |period| format!("{selector}@{period}"))
    }
}

impl FromStr for KeyLine {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if let Some(shaka) = ShakaKey::of(text) {
            let ShakaKey { selector, kid, key } = shaka?;
            let (kid, key) = (key_text::kid(kid)?, key_text::key(key)?);
            return Ok(Self { selector, period: None, key: Key { kid, key } });
        }
        // The padding of base64 ends no selector.
        let padded = text.split_once(':').is_some_and(|(kid, _)| kid.ends_with('='));
        let (place, key) = match text.split_once('=').filter(|_| !padded) {
            // What follows a colon belongs to a key.
            Some((place, key)) if !place.contains(':') => (place.trim(), key),
            _ => ("all", text),
        };
        let (selector, period) = match place.split_once('@') {
            Some((selector, period)) => {
                let is_number = !period.is_empty() && period.bytes().all(|b| b.is_ascii_digit());
                let period = period.parse().ok().filter(|_| is_number);
                (selector, Some(period.ok_or(KeyError::Period)?))
            }
            None => (place, None),
        };
        let selector = selector.parse()?;
        check(&selector)?;
        Ok(Self { selector, period, key: key.trim().parse()? })
    }
}

/// Refuses a key for a codec that has no rules: it would never be used.
fn check(selector: &Selector) -> Result<(), KeyError> {
    match selector {
        Selector::Codec(code) if !codec::is_known(*code) => Err(SelectorError.into()),
        _ => Ok(()),
    }
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
        assert_eq!(parse(&format!("12ab:{sixteen}")), Err(KeyError::Kid));
        assert_eq!(parse(&format!("{sixteen}:{sixteen}0")), Err(KeyError::Key));
        assert_eq!(parse(&format!("{sixteen}:{}", "x".repeat(32))), Err(KeyError::Key));
    }

    #[test]
    fn new_keys_are_new_and_read_again() {
        let (a, b) = (Key::random().unwrap(), Key::random().unwrap());
        assert!(a.kid != b.kid && a.key != b.key && a.kid != *a.key);
        assert_eq!(a.secret_text().parse(), Ok(a));
    }

    #[test]
    fn lines_in_the_form_of_shaka_packager() {
        let (kid, key) = ("11".repeat(16), "22".repeat(16));
        let line = format!("label=AUDIO:key_id={kid}:key={key}").parse::<KeyLine>().unwrap();
        assert_eq!(line, format!("audio={kid}:{key}").parse().unwrap());
        let line = format!("label=AUDIO:key_id={kid}:key=3").parse::<KeyLine>();
        assert_eq!(line, Err(KeyError::Key));
    }

    #[test]
    fn one_kid_has_one_key() {
        let mut map = KeyMap::new();
        let (kid, a, b) = ("11".repeat(16), "22".repeat(16), "33".repeat(16));
        map.parse_insert(&format!("video={kid}:{a}")).unwrap();
        map.parse_insert(&format!("audio={kid}:{a}")).unwrap();
        assert!(matches!(map.parse_insert(&format!("7={kid}:{b}")), Err(KeyError::KidTwice(_))));
        assert!(matches!(map.parse_insert(&format!("video={b}:{b}")), Err(KeyError::Twice(_))));
        for wrong in ["vide", "tmcd", ""] {
            let line = format!("{wrong}={b}:{b}");
            assert_eq!(map.parse_insert(&line), Err(KeyError::Selector), "{wrong}");
        }
        map.parse_insert(&format!("hvc1 = {b}:{a}")).unwrap();
    }

    #[test]
    fn a_key_is_no_kid() {
        let (a, b, c) = ("11".repeat(16), "22".repeat(16), "33".repeat(16));
        let mut map = KeyMap::new();
        let itself = map.parse_insert(&format!("video={a}:{a}"));
        assert!(matches!(itself, Err(KeyError::IsKid(_))));
        map.parse_insert(&format!("video@0={a}:{b}")).unwrap();
        let next = map.parse_insert(&format!("video@1={b}:{c}"));
        assert!(matches!(next, Err(KeyError::IsKid(_))));
    }

    #[test]
    fn keys_of_periods() {
        let (kid, key) = ("11".repeat(16), "22".repeat(16));
        let line = format!("HD@12={kid}:{key}").parse::<KeyLine>().unwrap();
        assert_eq!((line.place().as_str(), line.period), ("hd@12", Some(12)));
        for period in ["", "-1", "+1", "x", "4294967296", "1@2"] {
            let line = format!("video@{period}={kid}:{key}").parse::<KeyLine>();
            assert_eq!(line, Err(KeyError::Period), "{period}");
        }
        let mut map = KeyMap::new();
        for line in ["video@0", "video@1", "audio"] {
            map.parse_insert(&format!("{line}={kid}:{key}")).unwrap();
        }
        let add = |line: &str| map.clone().parse_insert(&format!("{line}={kid}:{key}"));
        assert_eq!(add("video@1"), Err(KeyError::Twice("video@1".into())));
        assert_eq!(add("video"), Err(KeyError::Mixed("video".into())));
        assert_eq!(add("audio@0"), Err(KeyError::Mixed("audio".into())));
    }
}
