//! Checksums of keys in PlayReady headers.
//!
//! A header may give each KID the checksum of its key: see [`crate::drm::playready`]. What cannot be
//! read is passed over: the header is for licence servers, and a key may be right whatever it says.

use lanelock_core::AesLevel;
use lanelock_mp4::Pssh;

use crate::{
    Error, Key,
    drm::{
        System,
        playready::{guid, headers, keys},
    },
    keys::kid_text,
};

/// What a header says about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum {
    /// As everywhere but in PlayReady.
    pub(crate) kid: [u8; 16],
    checksum: [u8; 8],
}

impl Checksum {
    /// Whether `key`, which has that KID, is the key.
    pub(crate) fn fits(&self, key: &Key, level: AesLevel) -> bool {
        let mut block = guid(self.kid);
        key.expand(level).encrypt_block(&mut block);
        block[..8] == self.checksum
    }

    /// The error for a key that does not fit; `origin` is where the header is.
    pub(crate) fn error(&self, origin: String) -> Error {
        Error::KeyChecksum { origin, kid: kid_text(&self.kid) }
    }
}

/// All checksums in `boxes`.
pub(crate) fn checksums<'p>(boxes: impl IntoIterator<Item = &'p Pssh>) -> Vec<Checksum> {
    let mut found = Vec::new();
    for pssh in boxes.into_iter().filter(|pssh| pssh.system_id == System::PlayReady.id()) {
        for key in headers(&pssh.data).iter().flat_map(|header| keys(header)) {
            if let (Some("AESCTR"), Some(checksum)) = (key.algorithm.as_deref(), key.checksum) {
                found.push(Checksum { kid: key.kid, checksum });
            }
        }
    }
    found
}

/// Refuses keys that do not have the checksums in a box; `origin` says which box that is.
pub(crate) fn check_pssh<'k>(
    pssh: &Pssh,
    keys: impl Iterator<Item = &'k Key>,
    level: AesLevel,
    origin: impl Fn() -> String,
) -> Result<(), Error> {
    let checksums = checksums([pssh]);
    for key in keys {
        let mut of = checksums.iter().filter(|checksum| checksum.kid == key.kid);
        if let Some(checksum) = of.find(|checksum| !checksum.fits(key, level)) {
            return Err(checksum.error(origin()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_testkit::Rng;

    /// KIDs and keys of web-platform-tests (`encrypted-media/content/content-metadata.js`), with the
    /// KIDs and checksums of the headers there.
    const KNOWN: [(&str, &str, &str, &str); 4] = [
        (
            "ad13f9ea2be698b875f504a8e3ccea64",
            "be7df8a3667a6a8fd564d0ed81339a95",
            "6vkTreYruJh19QSo48zqZA==",
            "jYFNf0yf4is=",
        ),
        (
            "558ee541b90ab2f3950d00ade3760d45",
            "91039263016da635770d57db92f98bd0",
            "QeWOVQq587KVDQCt43YNRQ==",
            "YiO/16Ls96E=",
        ),
        (
            "13a75306d118917b47a6c1836442516f",
            "8aaad8c4dbdeaccdad2676a1ed38952e",
            "BlOnExjRe5FHpsGDZEJRbw==",
            "IDRtPgUI/bI=",
        ),
        (
            "ee73564ec8a890f078ef6871fa4be18b",
            "e44fe1457c5ebcd83eaddcd62caf5518",
            "TlZz7qjI8JB472hx+kvhiw==",
            "xDKAY0vZhUU=",
        ),
    ];

    fn object(xml: &str) -> Pssh {
        let text: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let len = u16::try_from(text.len()).unwrap();
        let mut object = Vec::new();
        object.extend_from_slice(&(u32::from(len) + 10 + 6).to_le_bytes());
        // An embedded licence store before the header.
        object.extend_from_slice(&[2, 0, 3, 0, 2, 0, 9, 9, 1, 0]);
        object.extend_from_slice(&len.to_le_bytes());
        object.extend_from_slice(&text);
        Pssh::new(System::PlayReady.id(), &[], &object)
    }

    fn version_4_0(kid: &str, checksum: &str) -> String {
        format!(
            "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" \
             version=\"4.0.0.0\"><DATA><PROTECTINFO><KEYLEN>16</KEYLEN><ALGID>AESCTR</ALGID>\
             </PROTECTINFO><KID>{kid}</KID><CHECKSUM>{checksum}</CHECKSUM></DATA></WRMHEADER>"
        )
    }

    #[test]
    fn published_checksums() {
        let level = AesLevel::best().unwrap();
        let list = KNOWN.map(|(_, _, kid, sum)| {
            format!("<KID ALGID=\"AESCTR\" CHECKSUM='{sum}' VALUE=\"{kid}\"></KID>")
        });
        let list = list.concat();
        let several = object(&format!(
            "<WRMHEADER version=\"4.2.0.0\"><DATA><PROTECTINFO><KIDS>{list}</KIDS></PROTECTINFO>\
             </DATA></WRMHEADER>"
        ));
        assert_eq!(checksums([&several]).len(), 4);
        for (at, (kid, key, stored, sum)) in KNOWN.into_iter().enumerate() {
            let key = format!("{kid}:{key}").parse::<Key>().unwrap();
            let other = format!("{kid}:{kid}").parse::<Key>().unwrap();
            let one = checksums([&object(&version_4_0(stored, sum))]);
            for found in [one[0], checksums([&several])[at]] {
                assert_eq!(found.kid, key.kid);
                assert!(found.fits(&key, level));
                assert!(!found.fits(&other, level));
            }
            assert_eq!(one.len(), 1);
        }
    }

    /// A header of another algorithm, damaged, or in a comment, says nothing.
    #[test]
    fn what_is_passed_over() {
        let (_, _, kid, sum) = KNOWN[0];
        let good = version_4_0(kid, sum);
        for xml in [
            good.replace("AESCTR", "COCKTAIL"),
            good.replace("<ALGID>AESCTR</ALGID>", ""),
            good.replace("==", ""),
            good.replace(sum, "AAAA"),
            format!("<!--{good}-->"),
            format!("<CUSTOMATTRIBUTES xmlns=\"\">{good}</CUSTOMATTRIBUTES>"),
            "<KID ALGID=\"AESCTR\" CHECKSUM=\"".into(),
            "<KID =\"\"><KID a='>".into(),
            String::new(),
        ] {
            assert_eq!(checksums([&object(&xml)]), [], "{xml}");
        }
        let other = Pssh::new([1; 16], &[], &object(&good).data);
        assert_eq!(checksums([&other]), []);
    }

    #[test]
    fn damage_is_no_panic() {
        let mut rng = Rng::from_env("damage_is_no_panic");
        let (_, _, kid, sum) = KNOWN[1];
        let one = format!("<KID ALGID=\"AESCTR\" CHECKSUM=\"{sum}\" VALUE=\"{kid}\"></KID>");
        for good in [object(&version_4_0(kid, sum)), object(&one)] {
            for _ in 0..4000 {
                let mut data = good.data.clone();
                for _ in 0..=rng.below(4) {
                    let at = rng.below(data.len());
                    data[at] = rng.bytes(1)[0];
                }
                data.truncate(rng.below(data.len() + 1));
                let _ = checksums([&Pssh::new(System::PlayReady.id(), &[], &data)]);
            }
        }
    }
}
