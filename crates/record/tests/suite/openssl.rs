//! Records as OpenSSL writes them: `sessions.txt`, made by `tools/make-tls-records`.

use lanelock_core::{Aes, AesLevel, Error};
use lanelock_digest::{
    Levels,
    algorithm::{MerkleDamgard, Sha1, Sha256, Sha384},
};
use lanelock_record::{CbcHmac, ContentType, Header, MacOrder, Version};
use lanelock_testkit::unhex;

const SESSIONS: &str = include_str!("sessions.txt");

/// The words of the lines that begin with `kind`, without it.
fn lines(kind: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = SESSIONS.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    lines.filter(move |words| words[0] == kind).map(|words| words[1..].to_vec())
}

/// A record of CBC and HMAC.
struct Case {
    order: MacOrder,
    key: Vec<u8>,
    mac_key: Vec<u8>,
    header: Header,
    content: Vec<u8>,
    fragment: Vec<u8>,
}

impl Case {
    fn check<A: MerkleDamgard>(&self) {
        for level in AesLevel::available() {
            for levels in Levels::available() {
                match self.key.len() {
                    16 => self.check_with(&CbcHmac::<Aes<128>, A>::with_levels(
                        self.order,
                        (self.key[..].try_into().unwrap(), level),
                        (&self.mac_key, levels),
                    )),
                    _ => self.check_with(&CbcHmac::<Aes<256>, A>::with_levels(
                        self.order,
                        (self.key[..].try_into().unwrap(), level),
                        (&self.mac_key, levels),
                    )),
                }
            }
        }
    }

    fn check_with<C, A>(&self, key: &CbcHmac<C, A>)
    where
        C: lanelock_core::SizedCipher<Cipher: lanelock_core::lanes::LaneCipher>,
        A: MerkleDamgard,
    {
        let Self { header, content, fragment, .. } = self;
        let mut opened = fragment.clone();
        let result = key.open(*header, &mut opened);
        assert_eq!(result, Ok(&mut content.clone()[..]), "{key:?} {}", content.len());
        let iv = fragment.first_chunk().unwrap();
        let mut sealed = vec![0; fragment.len()];
        sealed[16..16 + content.len()].copy_from_slice(content);
        key.seal(*header, iv, &mut sealed, content.len()).unwrap();
        assert_eq!(sealed, *fragment, "{key:?} {}", content.len());
        let other = Header::new(header.sequence + 1, header.content_type, header.version);
        assert_eq!(key.open(other, &mut sealed), Err(Error::Authentication));
    }
}

#[test]
fn cbc_hmac() {
    let mut count = 0;
    for words in lines("cbc") {
        let [order, _, hash, key, mac_key, sequence, kind, version, content, fragment] = words[..]
        else {
            panic!("{words:?}")
        };
        let order = match order {
            "mac-then-encrypt" => MacOrder::MacThenEncrypt,
            "encrypt-then-mac" => MacOrder::EncryptThenMac,
            _ => panic!("{order}"),
        };
        let header = Header::new(
            sequence.parse().unwrap(),
            ContentType(kind.parse().unwrap()),
            Version(version.parse().unwrap()),
        );
        let [key, mac_key, content, fragment] = [key, mac_key, content, fragment].map(unhex);
        let case = Case { order, key, mac_key, header, content, fragment };
        match hash {
            "sha1" => case.check::<Sha1>(),
            "sha256" => case.check::<Sha256>(),
            "sha384" => case.check::<Sha384>(),
            _ => panic!("{hash}"),
        }
        count += 1;
    }
    assert_eq!(count, 6 * 2 * 6);
}
