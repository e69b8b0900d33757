//! Where keys come from: the command line, a file, or the environment.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

use lanelock_packager::{Key, KeyMap, Observer};
use zeroize::Zeroizing;

use crate::failure::Failure;

/// The environment variable with keys.
const VARIABLE: &str = "LANELOCK_KEYS";

/// The most bytes of a key file: some thousand keys.
const LONGEST_FILE: u64 = 1 << 20;

/// The texts of the keys, each `[SELECTOR=]KID:KEY`.
pub(crate) struct KeyTexts(Vec<Zeroizing<String>>);

impl KeyTexts {
    /// Collects them, and warns where others can read them.
    pub(crate) fn read(
        arguments: &[String],
        file: Option<&Path>,
        observer: &dyn Observer,
    ) -> Result<Self, Failure> {
        let mut texts: Vec<_> = arguments.iter().cloned().map(Zeroizing::new).collect();
        if !texts.is_empty() {
            observer.warn(
                "other users of this machine can see a key on the command line; --key-file or \
                 LANELOCK_KEYS keep it to yourself",
            );
        }
        if let Some(path) = file {
            let content = read_file(path, observer)?;
            let lines = content.lines().map(str::trim);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            texts.extend(lines.map(|line| Zeroizing::new(line.to_owned())));
        }
        if texts.is_empty()
            && file.is_none()
            && let Some(value) = std::env::var_os(VARIABLE)
        {
            let value = value.into_string().map_err(|_| not_text(VARIABLE))?;
            let value = Zeroizing::new(value);
            let words = value.split(|c: char| c.is_whitespace() || c == ',');
            texts.extend(
                words.filter(|word| !word.is_empty()).map(|word| Zeroizing::new(word.to_owned())),
            );
        }
        if texts.is_empty() {
            return Err(Failure::usage(
                "no key is given",
                "give one with --key-file FILE, in the environment variable LANELOCK_KEYS, or with \
                 --key KID:KEY",
            ));
        }
        Ok(Self(texts))
    }

    /// Keys with the tracks that they are for.
    pub(crate) fn map(&self) -> Result<KeyMap, Failure> {
        let mut map = KeyMap::new();
        for (number, text) in (1..).zip(&self.0) {
            map.parse_insert(text).map_err(|error| wrong(number, &error))?;
        }
        Ok(map)
    }

    /// Keys by their KIDs alone. A selector, as encryption has it, does no harm.
    pub(crate) fn list(&self) -> Result<Vec<Key>, Failure> {
        (1..)
            .zip(&self.0)
            .map(|(number, text)| {
                let key = text.split_once('=').map_or(text.as_str(), |(_, key)| key);
                Key::parse(key).map_err(|error| wrong(number, &error))
            })
            .collect()
    }
}

fn read_file(path: &Path, observer: &dyn Observer) -> Result<Zeroizing<String>, Failure> {
    let fail = |error| Failure::Io { what: format!("cannot read {}", path.display()), error };
    let mut content = Zeroizing::new(String::new());
    if path == Path::new("-") {
        io::stdin().take(LONGEST_FILE).read_to_string(&mut content).map_err(fail)?;
        return Ok(content);
    }
    let file = fs::File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if metadata.is_file() && metadata.mode() & 0o044 != 0 {
        observer.warn(&format!(
            "other users of this machine can read {0}; chmod 600 {0} keeps it to yourself",
            path.display()
        ));
    }
    file.take(LONGEST_FILE).read_to_string(&mut content).map_err(fail)?;
    Ok(content)
}

fn wrong(number: usize, error: &lanelock_packager::KeyError) -> Failure {
    Failure::usage(
        format!("key number {number}: {error}"),
        "a key is [SELECTOR=]KID:KEY, for example \
         video=00112233445566778899aabbccddeeff:<32 hexadecimal digits>",
    )
}

fn not_text(what: &str) -> Failure {
    Failure::usage(format!("{what} is not UTF-8 text"), "it holds keys of hexadecimal digits")
}
