//! Errors as they are printed: what is wrong, what to do, and the exit code.

use std::{
    io::{self, Write},
    path::Path,
};

#[cfg(feature = "engine")]
use lanelock::self_test::SelfTestError;
use lanelock_mp4::ErrorKind;
use lanelock_packager::Error;

use crate::{
    hide::without_keys,
    terminal::{self, Label, printable_json},
    urls::url,
};

/// Why the command failed.
pub(crate) enum Failure {
    /// The packager's reason.
    Packager(Error),
    /// A signal ended the run while standard output was written.
    InterruptedOutput,
    /// The command line is wrong.
    Usage { what: String, hint: String },
    /// A file other than input and output.
    Io { what: String, error: io::Error },
    /// Keys do not fit.
    WrongKeys(String),
    /// The engine gave a wrong answer.
    #[cfg(feature = "engine")]
    SelfTest(SelfTestError),
    /// Standard output cannot be written.
    Print(io::Error),
}

impl Failure {
    pub(crate) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: hint.into() }
    }

    /// An input that cannot be processed.
    pub(crate) fn unsuitable(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Packager(Error::Unsuitable { name: name.into(), reason: reason.into() })
    }

    /// What is to be said of it, without what may be a key.
    fn words(&self) -> Words {
        let (text, hint) = match self {
            Self::Packager(Error::Write { name, error })
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                (format!("cannot write {name}: its reader has ended before the output"), None)
            }
            Self::Packager(Error::NotAFile { name }) if Path::new(name).is_dir() => {
                (format!("{name} is a folder, not a file"), Some("name a file".into()))
            }
            Self::Packager(error @ Error::NotAFile { name }) => {
                let todo = if matches!(name.as_str(), "/dev/stdin" | "/dev/fd/0") {
                    "write - to read standard input".into()
                } else {
                    format!("copy it to one first, or read it as a pipe (lanelock ... - < {name})")
                };
                (split(error).0, Some(todo))
            }
            Self::Packager(error) => {
                let (text, todo) = split(error);
                (text, todo.or_else(|| hint(error)))
            }
            Self::InterruptedOutput => {
                ("interrupted: standard output is not complete".to_owned(), None)
            }
            Self::Usage { what, hint } => (what.clone(), Some(hint.clone())),
            Self::Io { what, error } => (format!("{what}: {error}"), None),
            Self::WrongKeys(text) => (text.clone(), None),
            #[cfg(feature = "engine")]
            Self::SelfTest(error) => {
                let hint = "use nothing that this machine encrypts; another level may be sound \
                            (LANELOCK_LEVEL, lanelock cpu)";
                (error.to_string(), Some(hint.to_owned()))
            }
            Self::Print(error) => (format!("cannot write to standard output: {error}"), None),
        };
        Words { text: without_keys(&text), hint: hint.as_deref().map(without_keys) }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Packager(error) => code(error),
            Self::InterruptedOutput => 130,
            Self::Usage { .. } => 2,
            Self::Io { .. } | Self::Print(_) => 3,
            Self::WrongKeys(_) => 1,
            #[cfg(feature = "engine")]
            Self::SelfTest(_) => 1,
        }
    }

    /// Whether a signal asked for the end.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Self::Packager(Error::Interrupted) | Self::InterruptedOutput)
    }

    /// Adds what JSON says of it to an object.
    pub(crate) fn add_to(&self, object: &mut serde_json::Value) {
        let Words { text, hint } = self.words();
        object["error"] = text.into();
        object["hint"] = hint.into();
    }

    /// Prints the error.
    pub(crate) fn print(&self, json: bool) {
        self.words().print(json);
    }

    /// Prints the error with the name of the input that it is about, if it does not have it.
    pub(crate) fn print_about(&self, input: &str) {
        let mut words = self.words();
        let input = without_keys(input);
        if !words.text.contains(&input) {
            words.text = format!("{input}: {}", words.text);
        }
        words.print(false);
    }
}

/// An error as it is printed.
struct Words {
    text: String,
    hint: Option<String>,
}

impl Words {
    /// If standard error cannot be written either, only the exit code is left to report the failure.
    fn print(&self, json: bool) {
        let Self { text, hint } = self;
        let mut stderr = terminal::stderr();
        let _ = if json {
            let json = serde_json::json!({ "error": text, "hint": hint }).to_string();
            writeln!(stderr, "{}", printable_json(&json))
        } else {
            let error = Label::Error.write(&mut stderr, text);
            let hint = hint.as_ref().map(|hint| Label::Hint.write(&mut stderr, hint));
            error.and(hint.unwrap_or(Ok(())))
        };
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
        // A pipe that is cut short.
        Error::Read { error, .. } if error.kind() == io::ErrorKind::UnexpectedEof => 1,
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
        Error::Container { error, .. } if is_sound(error.kind()) => error.kind().to_string().len(),
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
        Error::Write { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
            "the disk is full: free some space, or write to another one"
        }
        Error::Read { error, .. } if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the program that writes it has ended too early: see what it says"
        }
        Error::Write { name, error }
            if error.kind() == io::ErrorKind::NotFound && url(Path::new(name)).is_none() =>
        {
            "make the folder first"
        }
        Error::Container { error, .. } if error.offset() == 0 && !is_code(error.path()) => {
            "this seems to be no MP4 file at all"
        }
        Error::Container { error, .. } if is_sound(error.kind()) => return None,
        Error::Container { error, .. } if is_unknown_track(error.kind()) => {
            "its moov has other tracks: an initialization segment must be that of the same file"
        }
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

/// Whether a fragment is of a track that is not in `moov`.
fn is_unknown_track(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnknownTrack { .. })
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
