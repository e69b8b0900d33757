//! Errors of services, in words for users.

use std::{error::Error as _, io};

use object_store::Error;

/// The most bytes of an answer that are shown.
const MOST_SHOWN: usize = 300;

/// An error of a service as one of input or output. It does not name the object: who reports it does.
pub(crate) fn explain(error: &Error) -> io::Error {
    let (kind, what) = match error {
        Error::NotFound { .. } => {
            (io::ErrorKind::NotFound, "there is no such object, or no such bucket (404)".to_owned())
        }
        Error::PermissionDenied { .. } => (
            io::ErrorKind::PermissionDenied,
            "the server refuses it (403); see whether the credentials are right and may do that"
                .into(),
        ),
        Error::Unauthenticated { .. } => (
            io::ErrorKind::PermissionDenied,
            "the server wants credentials (401); docs/cloud.md says which variables have them"
                .into(),
        ),
        Error::Precondition { .. } => (io::ErrorKind::InvalidData, CHANGED.into()),
        Error::AlreadyExists { .. } => (io::ErrorKind::AlreadyExists, THERE.into()),
        Error::NotSupported { source } if source.to_string().contains("ange") => {
            (io::ErrorKind::Unsupported, NO_RANGES.into())
        }
        Error::Generic { .. } => {
            let text = innermost(error);
            if text.contains("non-partial") {
                (io::ErrorKind::Unsupported, NO_RANGES.into())
            } else if text.contains("Requested") && text.contains("got") {
                (
                    io::ErrorKind::InvalidData,
                    format!("the server sends other bytes than were asked for: {text}"),
                )
            } else if text.starts_with("the server answers 416") {
                // It had the range when it was opened.
                (io::ErrorKind::InvalidData, CHANGED.into())
            } else {
                (kind(error), text)
            }
        }
        _ => (io::ErrorKind::Other, innermost(error)),
    };
    io::Error::new(kind, what)
}

pub(crate) const CHANGED: &str = "it changed while it was read: the server has another version; wait until it is complete, then start \
     again";

pub(crate) const THERE: &str =
    "there is an object of that name, which this run has not made; name a new prefix";

const NO_RANGES: &str =
    "the server does not give ranges of bytes, which are needed; fetch the file first";

/// An error as it is kept for several readers.
pub(crate) fn copy(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

fn kind(error: &Error) -> io::ErrorKind {
    let text = chain(error).join(" ");
    if text.contains("timed out") || text.contains("timeout") {
        io::ErrorKind::TimedOut
    } else {
        io::ErrorKind::Other
    }
}

fn chain(error: &Error) -> Vec<String> {
    let mut texts = Vec::new();
    let mut next = error.source();
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts
}

/// What is said at the end of the chain of errors, which the others only introduce; and how often it was
/// tried.
fn innermost(error: &Error) -> String {
    let texts = chain(error);
    let retries = texts.iter().find_map(|text| {
        let (_, behind) = text.split_once(", after ")?;
        let (count, _) = behind.split_once(" retries")?;
        count.parse::<u32>().ok()
    });
    // The words of an answer are no error of their own.
    let last = texts.iter().rfind(|text| !text.is_empty()).cloned();
    let text = last.unwrap_or_else(|| error.to_string());
    let text = text.replace("Server returned non-2xx status code: ", "the server answers ");
    let mut text = without_secrets(text.trim_end_matches([':', ' ']));
    if text.len() > MOST_SHOWN {
        let end = (0..=MOST_SHOWN).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    match retries {
        Some(retries) => format!("{text} (tried {} times)", retries + 1),
        None => text,
    }
}

/// URLs in a text, without user, password and query.
fn without_secrets(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host.rsplit('@').next().unwrap_or_default();
        format!("{scheme}://{host}/{path}")
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lose_their_secrets() {
        let text = without_secrets("GET http://me:pass@host/a?sig=SECRET failed");
        assert_eq!(text, "GET http://host/a failed");
    }
}
