//! Keys and KIDs as other programs write them.
//!
//! What has one meaning is read: hexadecimal digits, with `0x` before them or in the forms of a UUID; keys
//! in base64. A KID in base64 has two: `PlayReady` writes the bytes of a GUID in another order than all
//! others do, and nothing in the text says which it is.

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{Selector, SelectorError, codec, selector::PictureClass};

/// What is wrong with the text of a key. It never repeats the text: part of it may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is no colon.
    #[error("a key is KID:KEY, and there is no colon in it")]
    Separator,
    /// There are several keys in one text.
    #[error("there are several keys in one; give each an option or a line of its own")]
    Several,
    /// The KID is not 16 bytes.
    #[error("the KID must be 32 hexadecimal digits (dashes, braces or 0x before them are allowed)")]
    Kid,
    /// The KID is in base64.
    #[error(
        "the KID seems to be base64, which does not say in which order its bytes are (PlayReady has \
         another one than all others): give its 32 hexadecimal digits"
    )]
    KidBase64,
    /// There is a track ID in the place of a KID.
    #[error(
        "there is a small number in the place of the KID: give the KID, and a track ID before it if need \
         be (1=KID:KEY)"
    )]
    KidNumber,
    /// The key is not 16 bytes.
    #[error("the key must be 32 hexadecimal digits, or 16 bytes in base64")]
    Key,
    /// The selector is unknown.
    #[error(
        "what is before the \"=\" is not all, video, audio, text, other, sd, hd, uhd, uhd1, uhd2, a track \
         ID or a codec that can be encrypted ({}), with or without a key period behind it (video@0)",
        codec::known()
    )]
    Selector,
    /// A key in the form of Shaka Packager has other fields.
    #[error(
        "this looks like a key for Shaka Packager, label=LABEL:key_id=KID:key=KEY, and has other fields \
         than these, or lacks one"
    )]
    Shaka,
    /// A label of Shaka Packager that names no tracks.
    #[error(
        "only the labels AUDIO, VIDEO, SD, HD, UHD1, UHD2 and none say which tracks a key is for: write \
         SELECTOR=KID:KEY"
    )]
    Label,
    /// Two keys for the same selector and key period.
    #[error("two keys for \"{0}\"")]
    Twice(String),
    /// A selector has keys for key periods, and one for all of them.
    #[error(
        "\"{0}\" has a key for all time, and others for key periods ({0}@0, {0}@1, ...): give either the one \
         or the others"
    )]
    Mixed(String),
    /// The number of a key period is none.
    #[error("a key period is a number from 0, behind the selector: video@0")]
    Period,
    /// Two different keys with the same KID.
    #[error("two different keys have the KID {0}")]
    KidTwice(String),
    /// A key is the KID of one.
    #[error(
        "a key is also a KID, and would stand in the output for all to read (at the key with the KID {0}); KIDs \
         and keys have to be chosen apart"
    )]
    IsKid(String),
    /// There are no random numbers.
    #[error("the system gives no random numbers for a key ({0})")]
    Random(String),
}

impl From<SelectorError> for KeyError {
    fn from(_: SelectorError) -> Self {
        Self::Selector
    }
}

/// Reads a KID.
pub(crate) fn kid(text: &str) -> Result<[u8; 16], KeyError> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    match digits(inner) {
        Some(kid) => Ok(*kid),
        None if base64(text).is_some() => Err(KeyError::KidBase64),
        None if text.len() <= 10 && text.parse::<u32>().is_ok() => Err(KeyError::KidNumber),
        None => Err(KeyError::Kid),
    }
}

/// Reads a key.
pub(crate) fn key(text: &str) -> Result<Zeroizing<[u8; 16]>, KeyError> {
    digits(text).or_else(|| base64(text)).ok_or(KeyError::Key)
}

/// The fields of a key in the form of Shaka Packager.
pub(crate) struct ShakaKey<'a> {
    pub(crate) selector: Selector,
    pub(crate) kid: &'a str,
    pub(crate) key: &'a str,
}

impl<'a> ShakaKey<'a> {
    /// Reads `label=LABEL:key_id=KID:key=KEY`, the fields in any order; none if it is another form.
    pub(crate) fn of(text: &'a str) -> Option<Result<Self, KeyError>> {
        let is_shaka = ["label=", "key_id="].iter().any(|field| text.starts_with(field));
        is_shaka.then(|| Self::read(text))
    }

    fn read(text: &'a str) -> Result<Self, KeyError> {
        if text.contains(',') {
            return Err(KeyError::Several);
        }
        let (mut label, mut kid, mut key) = (None, None, None);
        for field in text.split(':') {
            let (name, value) = field.split_once('=').ok_or(KeyError::Shaka)?;
            let slot = match name {
                "label" => &mut label,
                "key_id" => &mut kid,
                "key" => &mut key,
                _ => return Err(KeyError::Shaka),
            };
            if slot.replace(value).is_some() {
                return Err(KeyError::Shaka);
            }
        }
        let selector = match label.unwrap_or_default().to_ascii_uppercase().as_str() {
            "" => Selector::All,
            "AUDIO" => Selector::Audio,
            "VIDEO" => Selector::Video,
            "SD" => Selector::Picture(PictureClass::Sd),
            "HD" => Selector::Picture(PictureClass::Hd),
            "UHD1" => Selector::Picture(PictureClass::Uhd1),
            "UHD2" => Selector::Picture(PictureClass::Uhd2),
            _ => return Err(KeyError::Label),
        };
        let (kid, key) = kid.zip(key).ok_or(KeyError::Shaka)?;
        Ok(Self { selector, kid, key })
    }
}

/// 32 hexadecimal digits, dashes ignored.
fn digits(text: &str) -> Option<Zeroizing<[u8; 16]>> {
    let text = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let digits = Zeroizing::new(text.replace('-', ""));
    let mut bytes = Zeroizing::new([0; 16]);
    let whole = base16ct::mixed::decode(digits.as_str(), &mut *bytes).ok()?.len() == 16;
    whole.then_some(bytes)
}

/// 16 bytes in base64 (RFC 4648), of either alphabet, padded or not. Text of hexadecimal digits alone is
/// not meant so: some of them are missing.
fn base64(text: &str) -> Option<Zeroizing<[u8; 16]>> {
    let inner = text.strip_suffix("==").unwrap_or(text);
    if inner.len() != 22 || inner.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = Zeroizing::new([0; 16]);
    let whole = if inner.contains(['-', '_']) {
        Base64UrlUnpadded::decode(inner, &mut *bytes).ok()?.len()
    } else {
        Base64Unpadded::decode(inner, &mut *bytes).ok()?.len()
    };
    (whole == 16).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 16] = *b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff";

    #[test]
    fn forms_with_one_meaning() {
        for text in [
            "00112233445566778899aabbccddeeff",
            "00112233445566778899AABBCCDDEEFF",
            "0x00112233445566778899aabbccddeeff",
            "0X00112233-4455-6677-8899-AABBCCDDEEFF",
            "00112233-4455-6677-8899-aabbccddeeff",
        ] {
            assert_eq!(kid(text), Ok(BYTES), "{text}");
            assert_eq!(key(text).as_deref(), Ok(&BYTES), "{text}");
        }
        assert_eq!(kid("{00112233-4455-6677-8899-AABBCCDDEEFF}"), Ok(BYTES));
        assert_eq!(kid("{00112233445566778899aabbccddeeff}"), Ok(BYTES));
        for text in ["ABEiM0RVZneImaq7zN3u/w==", "ABEiM0RVZneImaq7zN3u/w", "ABEiM0RVZneImaq7zN3u_w"]
        {
            assert_eq!(key(text).as_deref(), Ok(&BYTES), "{text}");
        }
    }

    #[test]
    fn forms_with_several_meanings_or_none() {
        for (text, error) in [
            // PlayReady's of these bytes is MyIRAFVEd2aImaq7zN3u/w==.
            ("ABEiM0RVZneImaq7zN3u/w==", KeyError::KidBase64),
            ("1", KeyError::KidNumber),
            ("", KeyError::Kid),
            ("{00112233445566778899aabbccddeeff", KeyError::Kid),
            ("00112233445566778899aabbccddeef", KeyError::Kid),
            // As base64 it would be 16 bytes.
            ("00112233445566778899AA", KeyError::Kid),
            ("00112233445566778899AA==", KeyError::Kid),
        ] {
            assert_eq!(kid(text), Err(error), "{text}");
        }
        for text in ["", "00112233445566778899AA", "ABEiM0RVZneImaq7zN3u/x==", "ABEiM0RVZneI="] {
            assert_eq!(key(text), Err(KeyError::Key), "{text}");
        }
    }

    #[test]
    fn keys_of_shaka_packager() {
        for (text, selector) in [
            ("label=:key_id=1:key=2", Ok(Selector::All)),
            ("key_id=1:key=2", Ok(Selector::All)),
            ("label=audio:key_id=1:key=2", Ok(Selector::Audio)),
            ("label=UHD1:key=2:key_id=1", Ok(Selector::Picture(PictureClass::Uhd1))),
            ("label=other:key_id=1:key=2", Err(KeyError::Label)),
            ("label=AUDIO:key_id=1", Err(KeyError::Shaka)),
            ("label=AUDIO:key_id=1:key=2:iv=3", Err(KeyError::Shaka)),
            ("label=AUDIO:key_id=1:key=2:key=3", Err(KeyError::Shaka)),
            ("label=AUDIO:key_id=1:key=2,label=SD:key_id=1:key=2", Err(KeyError::Several)),
        ] {
            let found = ShakaKey::of(text).unwrap().map(|key| {
                assert_eq!((key.kid, key.key), ("1", "2"));
                key.selector
            });
            assert_eq!(found, selector, "{text}");
        }
        assert!(ShakaKey::of("audio=1:2").is_none());
    }
}
