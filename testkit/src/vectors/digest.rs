//! Vectors of hashes: NIST's short and long messages, Monte Carlo and variable output, and what the authors of
//! SM3 and BLAKE2 publish in their place.
//!
//! Names of algorithms are those of NIST's files: `SHA1`, `SHA512_256`, `SHA3_224`, `SHAKE128`; `SM3`, `BLAKE2B`,
//! `BLAKE2S`.

use std::{fs, path::Path, sync::LazyLock};

use super::fixture::inflate;
use crate::unhex;

/// A message and its digest, or as much of the output as the case gives.
#[derive(Clone, Debug)]
pub struct DigestCase {
    /// File and number of the case, for messages.
    pub name: String,
    /// The message.
    pub message: Vec<u8>,
    /// The digest.
    pub digest: Vec<u8>,
}

/// A test of Monte Carlo: 100 times 1000 messages, each made of the digests before it.
#[derive(Clone, Debug)]
pub struct MonteCase {
    /// The file, for messages.
    pub name: String,
    /// What it begins with: a digest; of SHAKE a message of 16 bytes.
    pub seed: Vec<u8>,
    /// The digest behind each thousand.
    pub digests: Vec<Vec<u8>>,
    /// Of SHAKE the fewest and the most bytes of an output.
    pub range: Option<(usize, usize)>,
}

/// Where vectors come from.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The name and the text of each file.
    files: Vec<(String, String)>,
}

impl Suite {
    /// Those that stand in the repository: some of each set, see `testkit/vectors/README.md`.
    #[must_use]
    pub fn committed() -> &'static Self {
        static SUITE: LazyLock<Suite> = LazyLock::new(|| {
            let text = inflate(include_bytes!("../../vectors/digest.rsp.gz"));
            let files = text.split("## file: ").skip(1).filter_map(|file| file.split_once('\n'));
            Suite { files: files.map(|(name, text)| (name.to_owned(), text.to_owned())).collect() }
        });
        &SUITE
    }

    /// All response files of a folder and of those in it: `cryptography_vectors/hashes` of the PyPI package
    /// `cryptography-vectors`.
    ///
    /// # Panics
    /// If one cannot be read.
    #[must_use]
    pub fn of_folder(folder: &Path) -> Self {
        let mut suite = Self { files: Vec::new() };
        suite.add_folder(folder);
        suite
    }

    fn add_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder of vectors") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                self.add_folder(&path);
            } else if path.extension().is_some_and(|extension| extension == "rsp") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                self.files.push((name, fs::read_to_string(&path).expect("a response file")));
            }
        }
    }

    /// All messages of an algorithm with their digests.
    #[must_use]
    pub fn messages(&self, algorithm: &str) -> Vec<DigestCase> {
        let of_algorithm = self.files.iter().filter(|(name, _)| {
            name.strip_prefix(algorithm).is_some_and(|kind| MESSAGES.contains(&kind))
        });
        of_algorithm.flat_map(|(name, text)| messages(name, text)).collect()
    }

    /// The test of Monte Carlo of an algorithm that has one.
    ///
    /// # Panics
    /// If there is none, or it is not whole.
    #[must_use]
    pub fn monte(&self, algorithm: &str) -> MonteCase {
        let file = format!("{algorithm}Monte.rsp");
        let (name, text) =
            self.files.iter().find(|(name, _)| *name == file).expect("the file of Monte Carlo");
        monte(name, text)
    }
}

/// The files of messages, behind the name of the algorithm.
const MESSAGES: [&str; 5] =
    ["ShortMsg.rsp", "LongMsg.rsp", "VariableOut.rsp", "Examples.rsp", "Kat.rsp"];

/// The fields of a file, one a line; brackets are around those that hold for all of it.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.trim_matches(['[', ']']).split_once('='));
    fields.map(|(name, value)| (name.trim(), value.trim()))
}

/// A number of bits as whole bytes.
fn bytes_of(bits: &str) -> usize {
    let bits: usize = bits.parse().expect("a number of bits");
    assert!(bits.is_multiple_of(8), "{bits} bits are no whole bytes");
    bits / 8
}

fn messages(file: &str, text: &str) -> Vec<DigestCase> {
    let (mut cases, mut message, mut length, mut digest_length) =
        (Vec::new(), Vec::new(), None, None);
    for (name, value) in fields(text) {
        match name {
            "Len" | "Input Length" => length = Some(bytes_of(value)),
            "Outputlen" => digest_length = Some(bytes_of(value)),
            "Msg" => {
                message = unhex(value);
                // An empty one is written as a byte.
                message.truncate(length.unwrap_or(usize::MAX));
                assert!(length.is_none_or(|length| length == message.len()), "{file}: {length:?}");
            }
            "MD" | "Output" => {
                let (name, digest) = (format!("{file} {}", cases.len()), unhex(value));
                assert!(digest_length.is_none_or(|length| length == digest.len()), "{name}");
                cases.push(DigestCase { name, message: message.clone(), digest });
            }
            _ => {}
        }
    }
    cases
}

fn monte(file: &str, text: &str) -> MonteCase {
    let (mut seed, mut digests, mut range) = (Vec::new(), Vec::new(), (0, 0));
    for (name, value) in fields(text) {
        match name {
            "Seed" | "Msg" => seed = unhex(value),
            "MD" | "Output" => digests.push(unhex(value)),
            "Minimum Output Length (bits)" => range.0 = bytes_of(value),
            "Maximum Output Length (bits)" => range.1 = bytes_of(value),
            _ => {}
        }
    }
    assert_eq!(digests.len(), 100, "{file}");
    assert!(!seed.is_empty(), "{file}");
    MonteCase { name: file.to_owned(), seed, digests, range: (range.1 > 0).then_some(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_sets_are_whole() {
        let counts = [
            ("SHA1", 68),
            ("SHA224", 68),
            ("SHA256", 68),
            ("SHA384", 50),
            ("SHA512", 50),
            ("SHA512_224", 50),
            ("SHA512_256", 50),
            ("SHA3_224", 54),
            ("SHA3_256", 52),
            ("SHA3_384", 44),
            ("SHA3_512", 36),
            ("SHAKE128", 114),
            ("SHAKE256", 136),
            ("SM3", 6),
            ("BLAKE2B", 256),
            ("BLAKE2S", 256),
        ];
        for (algorithm, count) in counts {
            let cases = Suite::committed().messages(algorithm);
            assert_eq!(cases.len(), count, "{algorithm}");
            assert!(cases.iter().any(|case| case.message.is_empty()), "{algorithm}");
            assert!(cases.iter().any(|case| case.message.len() > 135), "{algorithm}");
            if !["SM3", "BLAKE2B", "BLAKE2S"].contains(&algorithm) {
                let monte = Suite::committed().monte(algorithm);
                assert_eq!(monte.range.is_some(), algorithm.starts_with("SHAKE"));
            }
        }
    }

    #[test]
    fn empty_messages_are_empty() {
        let text = "[L = 20]\n# why\nLen = 0\nMsg = 00\nMD = 0a\nLen = 8\nMsg = 00\nMD = 0b\n";
        let cases = messages("a.rsp", text);
        assert_eq!((cases[0].message.len(), cases[1].message.len()), (0, 1));
        assert_eq!((cases[1].name.as_str(), &cases[1].digest[..]), ("a.rsp 1", &[0x0b][..]));
    }

    #[test]
    #[should_panic(expected = "a.rsp 0")]
    fn a_digest_that_is_cut_short_is_noticed() {
        let _ = messages("a.rsp", "[Outputlen = 16]\nLen = 8\nMsg = 00\nOutput = 0a\n");
    }
}
