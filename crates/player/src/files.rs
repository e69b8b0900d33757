//! The files of a stream.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::{
    answer::{Answer, Status},
    range::Wanted,
};

/// What is served, by the end of its name, and its type: of the registrations, of RFC 8216 and of DASH-IF;
/// what has another end is not a part of a stream.
const TYPES: &[(&str, &str)] = &[
    ("mpd", "application/dash+xml"),
    ("m3u8", "application/vnd.apple.mpegurl"),
    ("mp4", "video/mp4"),
    ("m4v", "video/mp4"),
    ("m4a", "audio/mp4"),
    ("m4s", "video/iso.segment"),
    ("cmfv", "video/mp4"),
    ("cmfa", "audio/mp4"),
    ("cmft", "application/mp4"),
    ("vtt", "text/vtt; charset=utf-8"),
    ("ttml", "application/ttml+xml"),
];

/// The type of a file that is served.
pub(crate) fn media_type(path: &Path) -> Option<&'static str> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    TYPES.iter().find(|(other, _)| *other == end).map(|(_, kind)| *kind)
}

/// A file below `root`, which is canonical, or the part of it that `range` asks for. `path` is that of the
/// URL, with escapes.
pub(crate) fn media(root: &Path, path: &str, range: Option<&str>) -> Answer {
    let absent = |say: &str| Answer::words(Status::NOT_FOUND, say);
    let Some(relative) = relative(path) else {
        return Answer::words(Status::BAD_REQUEST, "this path does not stay in the folder");
    };
    let Some(kind) = media_type(&relative) else {
        return absent("manifests, media and captions are served, and nothing else");
    };
    // Symbolic links are followed, and what they find must be below, too.
    let whole = match root.join(&relative).canonicalize() {
        Ok(whole) if !whole.starts_with(root) => {
            return absent("a symbolic link leads out of the folder");
        }
        Ok(whole) => whole,
        Err(_) => return absent("there is no such file"),
    };
    // What a link leads to has to be such a file as well, and no hidden one.
    let below = whole.strip_prefix(root).unwrap_or(&whole);
    let hidden = below.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    if hidden || media_type(below).is_none() {
        return absent("a symbolic link leads to what is not served");
    }
    // A pipe would be waited for when it is opened.
    if whole.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return absent("this is not a file");
    }
    let opened = File::open(&whole).and_then(|file| Ok((file.metadata()?, file)));
    let (size, file) = match opened {
        Ok((metadata, file)) if metadata.is_file() => (metadata.len(), file),
        Ok(_) => return absent("this is not a file"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Answer::words(Status::FORBIDDEN, "this file cannot be read");
        }
        Err(_) => return absent("there is no such file"),
    };
    let answer = match Wanted::of(range, size) {
        Wanted::Whole => Answer::file(Status::OK, file, 0, size),
        Wanted::Part { from, len } => Answer::file(Status::PARTIAL, file, from, len)
            .with("Content-Range", format!("bytes {from}-{}/{size}", from + len - 1)),
        Wanted::Outside => {
            let answer = Answer::words(Status::OUTSIDE, "the range is outside of the file");
            return answer.with("Content-Range", format!("bytes */{size}"));
        }
    };
    answer.with("Content-Type", kind).with("Accept-Ranges", "bytes")
}

/// The path below the folder that a URL's path names. None if it leaves it, or names what is hidden.
fn relative(path: &str) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for part in path.split('/') {
        let name = unescape(part)?;
        // Empty names, `.`, `..` and hidden files begin with a dot or with nothing.
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            return None;
        }
        relative.push(name);
    }
    Some(relative)
}

/// Text with its escapes (RFC 3986, 2.1) resolved, once.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let mut byte = [0];
            base16ct::mixed::decode(tail.get(..2)?, &mut byte).ok()?;
            bytes.push(byte[0]);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// `text` as a part of a URL's path.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            escaped.push_str(&base16ct::upper::encode_string(&[byte]));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder() {
        let good = [("a.mp4", "a.mp4"), ("a/b%20c.m4s", "a/b c.m4s"), ("%C3%A9.mpd", "é.mpd")];
        for (path, wanted) in good {
            assert_eq!(relative(path), Some(wanted.into()), "{path}");
        }
        let bad = [
            "",
            "/a",
            "a//b",
            "..",
            "../a.mp4",
            "a/../b.mp4",
            "%2e%2e/a.mp4",
            "%2E./a.mp4",
            "a%2fb.mp4",
            "..%2fa.mp4",
            "..%5ca.mp4",
            "a%00.mp4",
            ".hidden.mp4",
            "a/./b.mp4",
            "%",
            "%4",
            "%zz",
            "%ff.mp4",
        ];
        for path in bad {
            assert_eq!(relative(path), None, "{path}");
        }
        // Resolved once: what is left is a name.
        assert_eq!(relative("%252e%252e"), Some("%2e%2e".into()));
    }

    #[test]
    fn names_are_escaped_as_they_are_read() {
        for name in ["a b.mpd", "é%2f.mpd", "a?b#c.mpd", "x&y;<z>.m3u8"] {
            let escaped = escape(name);
            assert!(
                escaped
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~%".contains(&byte))
            );
            assert_eq!(relative(&escaped), Some(name.into()));
        }
    }
}
