//! Reads the fixtures of `testkit/vectors`: response files in the one form that
//! `tools/make-vectors` describes, several in one text.
//!
//! `## file: NAME` begins a file, `COUNT = ...` a case; then come its fields in
//! any order, `NAME = HEX`, and `FAIL` if the case has to be refused. Other
//! lines with `#` are comments.

use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::GzDecoder;

use crate::unhex;

/// GCM, GCM-SIV, CCM and OCB3 from `cryptography-vectors`.
pub(crate) static AEAD: LazyLock<String> =
    LazyLock::new(|| inflate(include_bytes!("../../vectors/aead.rsp.gz")));

/// XTS, CMAC and key wrap from `cryptography-vectors`.
pub(crate) static MODES: LazyLock<String> =
    LazyLock::new(|| inflate(include_bytes!("../../vectors/modes.rsp.gz")));

/// One case of a fixture.
#[derive(Debug)]
pub(crate) struct Case {
    file: &'static str,
    count: &'static str,
    fields: Vec<(&'static str, &'static str)>,
    /// Whether an implementation has to accept the case.
    pub(crate) valid: bool,
}

impl Case {
    /// File and number, for messages.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.file, self.count)
    }

    /// The value of a field as it is written.
    pub(crate) fn text(&self, field: &str) -> &'static str {
        match self.fields.iter().find(|(name, _)| *name == field) {
            Some((_, value)) => value,
            None => panic!("{}: no field {field}", self.name()),
        }
    }

    /// The value of a field.
    pub(crate) fn bytes(&self, field: &str) -> Vec<u8> {
        unhex(self.text(field))
    }

    /// The value of a field that is one or more blocks.
    pub(crate) fn blocks(&self, field: &str) -> Vec<[u8; 16]> {
        let bytes = self.bytes(field);
        let (blocks, rest) = bytes.as_chunks();
        assert!(rest.is_empty(), "{}: {field} is not whole blocks", self.name());
        blocks.to_vec()
    }

    /// The value of a field that is a decimal number.
    pub(crate) fn number(&self, field: &str) -> usize {
        self.text(field).parse().expect("a number in decimal digits")
    }
}

/// The cases of all files whose name starts with `prefix`.
pub(crate) fn cases(text: &'static str, prefix: &str) -> Vec<Case> {
    text.split("## file: ")
        .skip(1)
        .filter(|file| file.starts_with(prefix))
        .flat_map(parse)
        .collect()
}

/// The text in a gzip stream.
pub(crate) fn inflate(gzip: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(gzip).read_to_string(&mut text).expect("the archive is whole");
    text
}

/// Reads one file whose first line is its name.
fn parse(text: &'static str) -> Vec<Case> {
    let mut lines = text.lines();
    let file = lines.next().unwrap_or_default();
    let mut cases: Vec<Case> = Vec::new();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let (name, value) = (name.trim(), value.trim());
        if name == "COUNT" {
            cases.push(Case { file, count: value, fields: Vec::new(), valid: true });
            continue;
        }
        let case = cases.last_mut().expect("a field comes after its COUNT");
        match name {
            "FAIL" => case.valid = false,
            _ => case.fields.push((name, value)),
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# head\n## file: a-1\nCOUNT = 0\nKEY = 0a\nAAD =\n\
                        COUNT = 1\n# why\nKEY = 0B\nFAIL\n## file: b-1\nCOUNT = 0\nBITS = 96\n";

    #[test]
    fn cases_are_read() {
        let a = cases(TEXT, "a-");
        assert_eq!(a.len(), 2);
        assert_eq!(
            (a[0].name(), a[0].bytes("KEY"), a[0].bytes("AAD")),
            ("a-1 0".to_owned(), vec![10], vec![])
        );
        assert_eq!((a[0].valid, a[1].valid), (true, false));
        assert_eq!(cases(TEXT, "b-")[0].number("BITS"), 96);
        assert_eq!(cases(TEXT, "").len(), 3);
    }

    #[test]
    #[should_panic(expected = "a-1 1: no field AAD")]
    fn missing_fields_are_noticed() {
        let _ = cases(TEXT, "a-")[1].bytes("AAD");
    }
}
