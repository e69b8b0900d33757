//! Four-character codes.

use std::fmt;

/// A four-character code: box type, brand, handler, sample entry format or scheme.
///
/// Unprintable bytes are shown as `\xNN`, so a damaged code can go into a message as it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FourCc(pub [u8; 4]);

impl FourCc {
    /// Makes a code from a literal such as `b"moov"`.
    pub const fn new(code: &[u8; 4]) -> Self {
        Self(*code)
    }
}

impl From<[u8; 4]> for FourCc {
    fn from(code: [u8; 4]) -> Self {
        Self(code)
    }
}

impl From<u32> for FourCc {
    fn from(code: u32) -> Self {
        Self(code.to_be_bytes())
    }
}

impl PartialEq<[u8; 4]> for FourCc {
    fn eq(&self, other: &[u8; 4]) -> bool {
        self.0 == *other
    }
}

impl PartialEq<&[u8; 4]> for FourCc {
    fn eq(&self, other: &&[u8; 4]) -> bool {
        self.0 == **other
    }
}

impl fmt::Display for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            match byte {
                0x20..=0x7e => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_damaged_codes() {
        assert_eq!(FourCc::new(b"moov").to_string(), "moov");
        assert_eq!(FourCc([0, b'a', 0xff, b' ']).to_string(), "\\x00a\\xff ");
    }
}
