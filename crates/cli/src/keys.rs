//! Reading keys: from options, files and the environment. What is wrong is said without repeating
//! the text, part of which may be secret.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use lanelock_packager::{Key, KeyError, KeyLine, KeyMap, Observer, Selector};
use zeroize::Zeroizing;

use crate::{
    failure::Failure,
    key_args::{KeyArgs, ToKeyArgs},
    values::Secret,
    watch::delay_signals,
};

/// The keys by tracks, for encryption.
pub(crate) fn by_track(args: &KeyArgs, observer: &dyn Observer) -> Result<KeyMap, Failure> {
    let mut keys = KeyMap::new();
    read(&Origin::of(args), observer, |line| keys.add(line))?;
    Ok(keys)
}

/// The selectors among keys that were given on the command line itself. Files and the environment may
/// hold keys for other inputs; an option is meant for these.
pub(crate) fn selectors(keys: &[Secret]) -> impl Iterator<Item = Selector> {
    let keys = keys.iter().flat_map(|key| key.text().split(','));
    keys.filter_map(|key| Some(key.parse::<KeyLine>().ok()?.selector))
}

/// The new keys by tracks, for encryption anew.
pub(crate) fn new_by_track(
    args: &ToKeyArgs,
    old: &[Key],
    observer: &dyn Observer,
) -> Result<KeyMap, Failure> {
    let mut keys = KeyMap::new();
    read(&Origin::of_new(args), observer, |line| keys.add(line))?;
    for new in keys.keys() {
        if old.iter().any(|old| old.kid == new.kid && old != new) {
            let what = "the KID of a new key is that of an old one, which is another key: players find \
                        keys by KID, and would take the old one for the new file";
            return Err(Failure::usage(what, "give the new key a KID of its own"));
        }
    }
    Ok(keys)
}

/// The keys by KID, for decryption. Selectors are read, so that one key file does for both, and make
/// no difference.
pub(crate) fn by_kid(args: &KeyArgs, observer: &dyn Observer) -> Result<Vec<Key>, Failure> {
    // A map that refuses different keys with one KID, and takes the same one twice.
    let mut known = KeyMap::new();
    let mut keys: Vec<Key> = Vec::new();
    read(&Origin::of(args), observer, |KeyLine { key, .. }| {
        if !keys.contains(&key) {
            // A selector must be given but makes no difference here; a counter serves as track ID.
            let number = u32::try_from(keys.len()).unwrap_or(u32::MAX);
            known.insert(Selector::Track(number), key.clone())?;
            keys.push(key);
        }
        Ok(())
    })?;
    Ok(keys)
}

/// Where keys come from, and what that is called.
struct Origin<'a> {
    keys: &'a [Secret],
    files: &'a [PathBuf],
    option: &'static str,
    variable: &'static str,
    what: &'static str,
}

impl<'a> Origin<'a> {
    fn of(args: &'a KeyArgs) -> Self {
        let KeyArgs { keys, files } = args;
        Self { keys, files, option: "--key", variable: "LANELOCK_KEYS", what: "keys" }
    }

    fn of_new(args: &'a ToKeyArgs) -> Self {
        let ToKeyArgs { to_keys, to_files } = args;
        let (option, variable) = ("--to-key", "LANELOCK_TO_KEYS");
        Self { keys: to_keys, files: to_files, option, variable, what: "new keys" }
    }
}

/// Reads all keys and gives them to `add`.
fn read(
    origin: &Origin<'_>,
    observer: &dyn Observer,
    mut add: impl FnMut(KeyLine) -> Result<(), KeyError>,
) -> Result<(), Failure> {
    let mut take = |place: &str, text: &str| {
        text.parse()
            .and_then(&mut add)
            .map_err(|error| Failure::usage(format!("{place}: {error}"), FORM))
    };
    let mut any = false;
    let Origin { keys, files, option, variable, what } = *origin;
    if !keys.is_empty() {
        observer.warn(&format!(
            "other users of this machine can see a key on the command line; {option}-file or \
             {variable} keep it to yourself",
        ));
    }
    for (number, key) in (1..).zip(keys) {
        let place =
            if keys.len() == 1 { option.into() } else { format!("{option} number {number}") };
        for key in key.text().split(',') {
            take(&place, key)?;
        }
        any = true;
    }
    for path in files {
        let (name, text) = read_file(path, MOST_BYTES, observer)?;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                let place = format!("{name}, line {number}");
                for key in line.split(',') {
                    take(&place, key)?;
                }
                any = true;
            }
        }
    }
    if keys.is_empty() && files.is_empty() {
        let text = std::env::var_os(variable).unwrap_or_default().into_string();
        let text =
            text.map_err(|_| Failure::usage(format!("{variable} is not UTF-8 text"), FORM))?;
        let text = Zeroizing::new(text);
        let items = text.split(|c: char| c.is_whitespace() || c == ',');
        for (number, item) in (1..).zip(items.filter(|item| !item.is_empty())) {
            take(&format!("{variable}, key {number}"), item)?;
            any = true;
        }
    }
    if any {
        return Ok(());
    }
    let message = match files.first() {
        Some(path) => format!("there is no key in {}", path.display()),
        None => format!("no {what} are given"),
    };
    let hint =
        format!("give {option}-file FILE (- for stdin), set {variable}, or give {option} KID:KEY");
    Err(Failure::usage(message, hint))
}

/// The name to show and the text of a key file.
pub(crate) fn read_file(
    path: &Path,
    most: usize,
    observer: &dyn Observer,
) -> Result<(String, Zeroizing<String>), Failure> {
    let fail = |error| Failure::Io { what: format!("cannot read {}", path.display()), error };
    let (name, bytes) = if path == Path::new("-") {
        let read = read_all(&mut io::stdin().lock(), most);
        let fail = |error| Failure::Io { what: "cannot read standard input".into(), error };
        ("stdin".to_owned(), read.map_err(fail)?)
    } else {
        let mut file = File::open(path).map_err(fail)?;
        warn_if_open_to_others(path, &file, observer);
        (path.display().to_string(), read_all(&mut file, most).map_err(fail)?)
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(Failure::usage(format!("{name} is not UTF-8 text"), FORM));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok((name, Zeroizing::new(text.to_owned())))
}

/// Reads all there is into memory that is wiped, the smaller piece of it before a larger one too.
fn read_all(from: &mut impl Read, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; 4096]);
    let mut len = 0;
    loop {
        if len > most {
            return Err(io::Error::other("it is too long for a file of keys"));
        }
        if len == bytes.len() {
            let mut larger = Zeroizing::new(vec![0; (2 * len).min(most + 1)]);
            larger[..len].copy_from_slice(&bytes);
            bytes = larger;
        }
        match from.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(len);
    Ok(bytes)
}

#[cfg(unix)]
fn warn_if_open_to_others(path: &Path, file: &File, observer: &dyn Observer) {
    use std::os::unix::fs::PermissionsExt as _;
    // Not of pipes: a shell makes them for its own use, <(like this).
    let Some(metadata) = file.metadata().ok().filter(fs::Metadata::is_file) else { return };
    if metadata.permissions().mode() & 0o044 != 0 {
        let path = path.display();
        observer.warn(&format!(
            "other users of this machine can read {path}; chmod 600 {path} keeps it to yourself"
        ));
    }
}

/// Writes a new file that its owner alone may read, which is complete or not there, whatever ends the process.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |error: io::Error| {
        let error = match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::other(
                "it is there already, and its keys may be in use; name another file, or remove it first",
            ),
            _ => error,
        };
        Failure::Io { what: format!("cannot write {}", path.display()), error }
    };
    delay_signals(|| lanelock_packager::io::write_private(path, bytes))
        .map_err(|error| Failure::Io { what: "cannot watch for signals".into(), error })?
        .map_err(fail)
}

#[cfg(not(unix))]
fn warn_if_open_to_others(_: &Path, _: &File, _: &dyn Observer) {}

const MOST_BYTES: usize = 1 << 20;
const FORM: &str = "a key is [SELECTOR=]KID:KEY, KID and KEY of 32 hexadecimal digits each; lanelock keys new makes \
    some";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_no_part_of_a_key() {
        let (kid, key) = ("ab".repeat(16), "cd".repeat(16));
        for text in [
            format!("{kid}:{key}=audio"),
            format!("{key}=audio"),
            format!("{kid}:zz{}", &key[2..]),
            format!("{kid}{key}"),
            format!("video={kid}:{key}0"),
            format!("vide={kid}:{key}"),
            "cdcdcdcdcdcd".into(),
        ] {
            let message = text.parse::<KeyLine>().unwrap_err().to_string();
            assert!(!message.contains("cdcd") && !message.contains("abab"), "{message}");
        }
        assert!(format!("audio = {kid}:{key}").parse::<KeyLine>().is_ok());
    }

    #[test]
    fn long_files_are_refused() {
        for len in [0, 4095, 4096, 4097, 100_000, 1 << 20] {
            assert_eq!(
                read_all(&mut io::repeat(b' ').take(len), MOST_BYTES).unwrap().len() as u64,
                len
            );
        }
        assert!(read_all(&mut io::repeat(b' ').take((1 << 20) + 1), MOST_BYTES).is_err());
        assert!(read_all(&mut io::repeat(b' '), MOST_BYTES).is_err());
    }
}
