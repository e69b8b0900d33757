//! Vectors of AES-OCB3 (RFC 7253).

use super::aead::{self, AeadCase};
use super::fixture::{AEAD, cases};

const STANDARDS: &str = include_str!("../../vectors/standards/ocb3.rsp");

/// A result of the iterated test of RFC 7253, appendix A, which is printed
/// there in pseudo-code: it seals 3 × 128 strings of up to 127 zeros under a key
/// of zeros that ends in the length of the tag in bits, and then all results as
/// additional data.
#[derive(Clone, Debug)]
pub struct OcbIterated {
    /// 128, 192 or 256.
    pub key_bits: usize,
    /// 64, 96 or 128.
    pub tag_bits: usize,
    /// The last tag.
    pub tag: Vec<u8>,
}

/// The samples of RFC 7253, appendix A: sixteen with a tag of 128 bits and one
/// with 96, all of AES-128.
#[must_use]
pub fn rfc7253() -> Vec<AeadCase> {
    let mut list = aead::read("RFC 7253", &AEAD, "ocb3-rfc7253");
    list.extend(aead::read("RFC 7253", STANDARDS, "rfc7253-taglen96"));
    list
}

/// The results of the iterated test of RFC 7253, appendix A, for all nine
/// named algorithms.
#[must_use]
pub fn rfc7253_iterated() -> Vec<OcbIterated> {
    cases(STANDARDS, "rfc7253-iterated")
        .iter()
        .map(|case| OcbIterated {
            key_bits: case.number("KEY_BITS"),
            tag_bits: case.number("TAG_BITS"),
            tag: case.bytes("TAG"),
        })
        .collect()
}

/// The samples of RFC 7253 with nonces of 104, 112 and 120 bits (ocb-test-vectors
/// by D. K. Gillmor).
#[must_use]
pub fn long_nonces() -> Vec<AeadCase> {
    aead::read("ocb-test-vectors", &AEAD, "ocb3-test-vector")
}

/// OpenSSL's own OCB cases: messages of 6 to 16 blocks.
#[must_use]
pub fn openssl() -> Vec<AeadCase> {
    aead::read("OpenSSL", &AEAD, "ocb3-openssl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        assert_eq!(aead::count(&rfc7253()), (17, 0));
        assert_eq!(aead::count(&long_nonces()), (48, 0));
        assert_eq!(aead::count(&openssl()), (7, 0));
        assert!((12..=15).all(|length| {
            rfc7253().iter().chain(&long_nonces()).any(|case| case.nonce.len() == length)
        }));
    }

    #[test]
    fn the_iterated_test_has_a_result_for_every_algorithm() {
        let results = rfc7253_iterated();
        assert_eq!(results.len(), 9);
        for (key_bits, tag_bits) in
            [128, 192, 256].into_iter().flat_map(|k| [64, 96, 128].map(|t| (k, t)))
        {
            let found = results.iter().find(|r| r.key_bits == key_bits && r.tag_bits == tag_bits);
            assert_eq!(found.expect("one for each").tag.len() * 8, tag_bits);
        }
    }
}
