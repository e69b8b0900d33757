//! Vectors of GHASH (NIST SP 800-38D, 6.4) and POLYVAL (RFC 8452, section 3).

use super::fixture::cases;

const STANDARDS: &str = include_str!("../../vectors/standards/hash.rsp");

/// One known answer of a keyed hash.
#[derive(Clone, Debug)]
pub struct HashCase {
    /// The publication, such as `RFC 8452`.
    pub source: &'static str,
    /// File and number of the case, for messages.
    pub name: String,
    /// The hash key, H.
    pub key: [u8; 16],
    /// The input: whole blocks, so no padding and no lengths are added.
    pub message: Vec<u8>,
    /// The output.
    pub digest: [u8; 16],
}

/// POLYVAL: the worked example of RFC 8452, appendix A, then input and result
/// of every AEAD vector of appendix C.
#[must_use]
pub fn polyval() -> Vec<HashCase> {
    read("RFC 8452", "polyval")
}

/// GHASH: RFC 8452, appendix A, then the intermediate values of test cases 2
/// and 3 of McGrew and Viega's specification of GCM, appendix B.
#[must_use]
pub fn ghash() -> Vec<HashCase> {
    read("RFC 8452, GCM", "ghash")
}

fn read(source: &'static str, prefix: &str) -> Vec<HashCase> {
    cases(STANDARDS, prefix)
        .iter()
        .map(|case| HashCase {
            source,
            name: case.name(),
            key: case.blocks("KEY")[0],
            message: case.blocks("MESSAGE").concat(),
            digest: case.blocks("DIGEST")[0],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The field of POLYVAL: bit i of the little-endian number is the
    /// coefficient of x^i, modulo x^128 + x^127 + x^126 + x^121 + 1. `dot` is
    /// a * b * x^-128 (RFC 8452, section 3).
    fn dot(a: u128, b: u128) -> u128 {
        let times_x_inverse = |v: u128| if v & 1 == 1 { v >> 1 ^ 0xe1 << 120 } else { v >> 1 };
        // Horner from the lowest coefficient of b: sum b_i a x^(i - 128).
        (0..128).fold(0, |sum, i| times_x_inverse(sum ^ if b >> i & 1 == 1 { a } else { 0 }))
    }

    fn polyval_of(key: u128, blocks: impl Iterator<Item = u128>) -> u128 {
        blocks.fold(0, |sum, block| dot(sum ^ block, key))
    }

    fn little_endian(message: &[u8]) -> impl Iterator<Item = u128> {
        message.as_chunks().0.iter().map(|block| u128::from_le_bytes(*block))
    }

    #[test]
    fn polyval_holds_by_definition() {
        let cases = polyval();
        assert_eq!(cases.len(), 51);
        for case in &cases {
            let digest = polyval_of(u128::from_le_bytes(case.key), little_endian(&case.message));
            assert_eq!(digest.to_le_bytes(), case.digest, "{}", case.name);
        }
    }

    /// GHASH(H, X) = `ByteReverse(POLYVAL(mulX(ByteReverse(H)), ByteReverse(X)))`
    /// (RFC 8452, appendix A).
    #[test]
    fn ghash_holds_by_polyval() {
        let cases = ghash();
        assert_eq!(cases.len(), 8);
        for case in &cases {
            let key = u128::from_be_bytes(case.key);
            let key = key << 1 ^ if key >> 127 == 1 { (0xc2 << 120) | 1 } else { 0 };
            let blocks = case.message.as_chunks().0.iter().map(|block| u128::from_be_bytes(*block));
            assert_eq!(polyval_of(key, blocks).to_be_bytes(), case.digest, "{}", case.name);
        }
    }
}
