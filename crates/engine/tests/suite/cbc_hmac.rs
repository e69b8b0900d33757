//! AES-CBC with HMAC as JSON Web Encryption has it (RFC 7518, 5.2), made of the engine's parts: Wycheproof's vectors
//! have CBC and HMAC in this form alone.

use lanelock::{
    Aes128, Aes192, Aes256, AesLevel, Block,
    hash::{
        HmacKey, Levels,
        algorithm::{Algorithm, Sha256, Sha384, Sha512},
    },
};
use wycheproof::{
    TestResult,
    aead::{TestName, TestSet},
};

/// The text of an authentic message; nothing of any other.
fn open<A: Algorithm>(
    mac: &HmacKey<A>,
    decrypt: impl Fn(&mut Block, &mut [u8]),
    [iv, aad, sealed, tag]: [&[u8]; 4],
) -> Option<Vec<u8>> {
    let bits = (aad.len() as u64 * 8).to_be_bytes();
    let expected = mac.tag(&[aad, iv, sealed, &bits].concat());
    let (mut iv, mut text) = (*iv.first_chunk().filter(|_| iv.len() == 16)?, sealed.to_vec());
    if expected.as_ref()[..expected.as_ref().len() / 2] != *tag || !text.len().is_multiple_of(16) {
        return None;
    }
    decrypt(&mut iv, &mut text);
    let padding = usize::from(*text.last()?);
    let content = text.len().checked_sub(padding).filter(|_| (1..=16).contains(&padding))?;
    let right = text[content..].iter().all(|byte| usize::from(*byte) == padding);
    text.truncate(content);
    right.then_some(text)
}

macro_rules! sets {
    ($($test:ident: $name:ident, $aes:ident of $bytes:literal, $hash:ident;)+) => {
        $(
            #[test]
            fn $test() {
                let set = TestSet::load(TestName::$name).unwrap();
                let mut count = 0;
                for aes in AesLevel::available() {
                    for levels in Levels::available() {
                        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
                            let (mac, key) = test.key.split_at(test.key.len() - $bytes);
                            let mac = HmacKey::<$hash>::with_levels(levels, mac);
                            let key = $aes::with_level(key.try_into().unwrap(), aes);
                            let found = open(
                                &mac,
                                |iv, text| key.cbc_decrypt(iv, text).unwrap(),
                                [&test.nonce, &test.aad, &test.ct, &test.tag],
                            );
                            let expected = match test.result {
                                TestResult::Invalid => None,
                                _ => Some(test.pt.to_vec()),
                            };
                            assert_eq!(found, expected, "{aes} {levels:?} {}", test.tc_id);
                            count += 1;
                        }
                    }
                }
                assert!(count > 100);
            }
        )+
    };
}

sets! {
    a128cbc_hs256: Aes128CbcHmacSha256, Aes128 of 16, Sha256;
    a192cbc_hs384: Aes192CbcHmacSha384, Aes192 of 24, Sha384;
    a256cbc_hs512: Aes256CbcHmacSha512, Aes256 of 32, Sha512;
}
