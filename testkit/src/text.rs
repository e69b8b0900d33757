//! Bytes as text and back.

/// The bytes as lower-case hexadecimal digits without separators.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// The bytes written as hexadecimal digits; blanks between digits are skipped.
///
/// # Panics
/// On anything but hexadecimal digits and blanks, and on half a byte: input
/// comes from test files, where a silent repair would hide a broken vector.
#[must_use]
pub fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match base16ct::mixed::decode_vec(&digits) {
        Ok(bytes) => bytes,
        Err(base16ct::Error::InvalidLength) => panic!("half a byte at the end of {text:?}"),
        Err(error) => panic!("no hexadecimal digit in {text:?}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_and_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unhex(&hex(&all)), all);
        assert_eq!(hex(&[0, 0x0f, 0xf0]), "000ff0");
        assert_eq!(unhex("0A 0b\n0C"), [10, 11, 12]);
        assert!(unhex("").is_empty());
    }

    #[test]
    #[should_panic(expected = "half a byte")]
    fn odd_digits_are_refused() {
        let _ = unhex("abc");
    }

    #[test]
    #[should_panic(expected = "no hexadecimal digit")]
    fn other_characters_are_refused() {
        let _ = unhex("0x00");
    }
}
