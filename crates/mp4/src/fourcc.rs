//! Four-character codes.

use std::{fmt, str::FromStr};

/// A four-character code: box type, brand, handler, sample entry format or scheme.
///
/// Unprintable bytes are shown as `\xNN`, so a damaged code can go into a message as it is.
///
/// ```
/// # use lanelock_mp4::FourCc;
/// assert_eq!(FourCc(*b"\xa9nam").to_string(), r"\xa9nam");
/// assert_eq!("moov".parse(), Ok(FourCc(*b"moov")));
/// ```
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

/// Reads what [`Display`](fmt::Display) writes: four bytes, unprintable ones as `\xNN`.
impl FromStr for FourCc {
    type Err = FourCcError;

    fn from_str(text: &str) -> Result<Self, FourCcError> {
        // Four bytes stand for themselves, so a printable code that begins with `\x` does too.
        let code = match text.as_bytes().try_into() {
            Ok(code) => Some(code),
            Err(_) => unescaped(text.as_bytes()),
        };
        let printable =
            |code: &[u8; 4]| text.len() > 4 || code.iter().all(|b| matches!(b, 0x20..=0x7e));
        code.filter(printable).map(Self).ok_or_else(|| FourCcError { text: text.to_owned() })
    }
}

/// The four bytes of a code with `\xNN` in it.
fn unescaped(mut text: &[u8]) -> Option<[u8; 4]> {
    let mut code = [0; 4];
    for byte in &mut code {
        let hex = match text {
            [b'\\', b'x', high, low, ..] => {
                let digit = |&digit: &u8| char::from(digit).to_digit(16);
                digit(high)
                    .zip(digit(low))
                    .and_then(|(high, low)| u8::try_from(high << 4 | low).ok())
            }
            _ => None,
        };
        let len = if hex.is_some() { 4 } else { 1 };
        let (taken, rest) = text.split_at_checked(len)?;
        if hex.is_none() && !matches!(taken[0], 0x20..=0x7e) {
            return None;
        }
        *byte = hex.unwrap_or(taken[0]);
        text = rest;
    }
    text.is_empty().then_some(code)
}

/// A text is not a four-character code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FourCcError {
    text: String,
}

impl fmt::Display for FourCcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text } = self;
        write!(
            f,
            "{text:?} is not a four-character code (four printable ASCII characters, others as \\xNN)"
        )
    }
}

impl std::error::Error for FourCcError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_damaged_codes() {
        assert_eq!(FourCc::new(b"moov").to_string(), "moov");
        assert_eq!(FourCc([0, b'a', 0xff, b' ']).to_string(), "\\x00a\\xff ");
    }

    #[test]
    fn reads_what_it_prints() {
        let bytes = [0, b' ', b'\\', b'x', b'4', b'a', 0x7f, 0xa9, 0xff];
        let pick = |i: usize| bytes[i % bytes.len()];
        for i in 0..bytes.len().pow(4) {
            let code = FourCc([pick(i), pick(i / 9), pick(i / 81), pick(i / 729)]);
            assert_eq!(code.to_string().parse(), Ok(code), "{code}");
        }
    }

    #[test]
    fn refuses_other_texts() {
        for text in
            ["", "moo", "moovs", "mo\u{f6}", "m\u{f6}ov", "abc\n", "\\x0", "\\x00abcd", "\\xg0abc"]
        {
            let error = text.parse::<FourCc>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{text:?} is not a four-character code")),
                "{error}"
            );
        }
    }
}
