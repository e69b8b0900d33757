//! Errors as they are printed: what is wrong, what to do, and the exit code.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lanelock_mp4::ErrorKind;
use lanelock_packager::Error;

use crate::hide::without_keys;

/// Why the command failed.
pub(crate) enum Failure {
    /// The packager's reason.
    Packager(Error),
    /// The command line is wrong.
    Usage { what: String, hint: String },
    /// A file other than input and output.
    Io { what: String, error: io::Error },
    /// Keys do not fit.
    WrongKeys(String),
    /// Standard output cannot be written.
    Print(io::Error),
}

impl Failure {
    pub(crate) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    /// Prints the error, and gives the exit code.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        let (text, hint, code) = match self {
            Self::Packager(error) => {
                let (text, todo) = split(&error);
                (text, todo.or_else(|| hint(&error)), code(&error))
            }
            Self::Usage { what, hint } => (what, Some(hint), 2),
            Self::Io { what, error } => (format!("{what}: {error}"), None, 3),
            Self::WrongKeys(text) => (text, None, 1),
            Self::Print(error) => (format!("cannot write to standard output: {error}"), None, 3),
        };
        let (text, hint) = (without_keys(&text), hint.as_deref().map(without_keys));
        // If standard error cannot be written either, only the exit code is left to report the
        // failure.
        let mut stderr = io::stderr().lock();
        let _ = if json {
            writeln!(stderr, "{}", serde_json::json!({ "error": text, "hint": hint }))
        } else {
            let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            writeln!(stderr, "error: {text}{hint}")
        };
        ExitCode::from(code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Packager(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Print(error)
    }
}

fn code(error: &Error) -> u8 {
    match error {
        Error::Read { .. } | Error::Write { .. } | Error::NotAFile { .. } => 3,
        Error::SameFile { .. } | Error::Options(_) | Error::Level(_) => 2,
        Error::Interrupted => 130,
        _ => 1,
    }
}

/// What is wrong, and what to do: the packager's reasons join the two with "; ".
fn split(error: &Error) -> (String, Option<String>) {
    let mut text = error.to_string();
    let reason = match error {
        // Paths come before the reason, and may hold anything.
        Error::Track { reason, .. } | Error::Unsuitable { reason, .. } => reason.len(),
        Error::Container { source, .. } if is_sound(source.kind()) => {
            source.kind().to_string().len()
        }
        Error::NotAFile { .. } => "; copy it to one first".len(),
        Error::Options(_) | Error::Level(_) => text.len(),
        _ => return (text, None),
    };
    let start = text.len().saturating_sub(reason);
    let Some(at) = text[start..].find("; ") else { return (text, None) };
    let todo = text.split_off(start + at);
    (text, todo.strip_prefix("; ").map(Into::into))
}

/// What to do, where the error does not say it itself.
fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            "the disk is full: free some space, or write to another one"
        }
        Error::Write { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            "make the folder first"
        }
        Error::Container { source, .. } if source.offset() == 0 && !is_code(source.path()) => {
            "this seems to be no MP4 file at all"
        }
        Error::Container { source, .. } if is_sound(source.kind()) => return None,
        Error::Container { .. } => {
            "the file is damaged or cut short; fetch or make it again, or try to repair it \
             (ffmpeg -i IN -c copy OUT)"
        }
        Error::WrongKey { .. } => {
            "give the key that the file was encrypted with; if the key is right, the stream is not what \
             its sample entry says: --no-key-check decrypts all the same"
        }
        Error::KeyChecksum { .. } => {
            "give the key that belongs to the KID; if the key is right, the header is \
             wrong (decrypt has --no-key-check for that)"
        }
        Error::Map { .. } => {
            "which bytes of the video may be encrypted is not certain, so nothing was encrypted; if \
             players play the file, please report it"
        }
        _ => return None,
    };
    Some(hint.into())
}

/// Whether the file is sound as far as an error shows, and only has something that is not supported.
fn is_sound(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NoIsoForm { .. } | ErrorKind::Unsupported(_) | ErrorKind::Version { .. }
    )
}

/// Whether the path of a box is the code of a top-level one, as no text begins with.
fn is_code(path: &str) -> bool {
    path.len() == 4 && path.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_becomes_the_hint() {
        let (name, reason) = ("a; b.mp4".into(), "it is odd; make it even; or leave it".into());
        let (text, todo) = split(&Error::Unsuitable { name, reason });
        assert_eq!(text, "a; b.mp4: it is odd");
        assert_eq!(todo.as_deref(), Some("make it even; or leave it"));
        let (text, todo) = split(&Error::NotAFile { name: "/dev/zero".into() });
        assert_eq!(text, "/dev/zero is not a regular file");
        assert_eq!(todo.as_deref(), Some("copy it to one first"));
        assert_eq!(split(&Error::Interrupted).1, None);
    }
}
