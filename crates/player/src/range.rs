//! Which bytes of a file a request asks for.

/// What `Range` asks for (RFC 9110, 14).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of it: there is no range, or one that a server may leave unheeded (several, other units, no syntax).
    Whole,
    /// Bytes from `from`, `len` of them, at least one.
    Part { from: u64, len: u64 },
    /// The range lies outside of the file.
    Outside,
}

impl Wanted {
    /// Reads the value of `Range` for a file of `size` bytes.
    pub(crate) fn of(value: Option<&str>, size: u64) -> Self {
        let Some(range) = value.and_then(|value| value.trim().strip_prefix("bytes=")) else {
            return Self::Whole;
        };
        let Some((from, to)) = range.split_once('-') else { return Self::Whole };
        let part = match (number(from), number(to)) {
            (Some(Some(from)), Some(to)) => {
                let to = to.unwrap_or(u64::MAX);
                if to < from {
                    return Self::Whole;
                }
                (from < size).then(|| (from, to.min(size - 1) - from + 1))
            }
            (Some(None), Some(Some(last))) => {
                let len = last.min(size);
                (len > 0).then(|| (size - len, len))
            }
            _ => return Self::Whole,
        };
        part.map_or(Self::Outside, |(from, len)| Self::Part { from, len })
    }
}

/// A number, or none where there is no text. Digits alone count; one beyond 64 bits is beyond every file.
#[expect(clippy::option_option, reason = "no number, an absent one, and one")]
fn number(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::Wanted::{self, Outside, Part, Whole};

    /// Forms and outcomes of RFC 9110, 14.1.2, for its file of 10 000 bytes.
    #[test]
    fn ranges_are_those_of_the_rfc() {
        let cases = [
            ("bytes=0-499", Part { from: 0, len: 500 }),
            ("bytes=500-999", Part { from: 500, len: 500 }),
            ("bytes=-500", Part { from: 9500, len: 500 }),
            ("bytes=9500-", Part { from: 9500, len: 500 }),
            ("bytes=0-0", Part { from: 0, len: 1 }),
            ("bytes=-1", Part { from: 9999, len: 1 }),
            ("bytes=9999-20000", Part { from: 9999, len: 1 }),
            ("bytes=0-99999999999999999999999", Part { from: 0, len: 10_000 }),
            ("bytes=-20000", Part { from: 0, len: 10_000 }),
            ("bytes=10000-", Outside),
            ("bytes=99999999999999999999999-", Outside),
            ("bytes=-0", Outside),
            ("bytes=500-499", Whole),
            ("bytes=0-0,-1", Whole),
            ("bytes=-", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=a-b", Whole),
            ("lines=0-1", Whole),
            ("", Whole),
        ];
        for (value, wanted) in cases {
            assert_eq!(Wanted::of(Some(value), 10_000), wanted, "{value}");
        }
        assert_eq!(Wanted::of(None, 10), Whole);
        assert_eq!(Wanted::of(Some("bytes=0-"), 0), Outside);
        assert_eq!(Wanted::of(Some("bytes=-5"), 0), Outside);
    }
}
