//! What a text file is, by its first bytes.

use super::{UTF16, unsuitable};
use crate::Error;

/// A format of text that can be packaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// WebVTT.
    WebVtt,
    /// TTML.
    Ttml,
}

/// Tells a text file from others by its first bytes: 1 KiB is enough.
///
/// The name decides for text that says nothing, so that the parser says what it lacks. Formats that
/// ffmpeg can convert are an error that says how.
pub(crate) fn kind(head: &[u8], name: &str) -> Result<Option<TextKind>, Error> {
    let utf16 = match head {
        [0xff, 0xfe, first, 0, ..] | [0xfe, 0xff, 0, first, ..] => is_first(*first),
        _ => false,
    };
    if utf16 {
        return Err(unsuitable(name, UTF16));
    }
    // Boxes and streams have such a byte in their first sizes.
    if head.contains(&0) {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with("WEBVTT") {
        return Ok(Some(TextKind::WebVtt));
    }
    if let Some(element) = root_element(text) {
        return Ok((element == "tt").then_some(TextKind::Ttml));
    }
    let other = if is_srt(text) {
        Some("a SubRip file (SRT)")
    } else if text.starts_with("[Script Info]") {
        Some("a SubStation Alpha file (ASS)")
    } else if text.starts_with("Scenarist_SCC") {
        Some("a file of Scenarist closed captions (SCC)")
    } else {
        None
    };
    if let Some(what) = other {
        let todo = "make a WebVTT file of it (ffmpeg -i IN OUT.vtt)";
        return Err(unsuitable(name, format!("it is {what}; {todo}")));
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    Ok(match extension.to_ascii_lowercase().as_str() {
        "vtt" | "webvtt" => Some(TextKind::WebVtt),
        "ttml" | "dfxp" | "imsc" | "imsc1" => Some(TextKind::Ttml),
        _ => None,
    })
}

/// The first characters of a text file that is of use here.
fn is_first(byte: u8) -> bool {
    matches!(byte, b'W' | b'<' | b'[' | b'0'..=b'9' | b'\r' | b'\n' | b' ')
}

/// Whether text begins as SubRip: a number, and a timing with commas in the next line.
pub(super) fn is_srt(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(mut line) = lines.next() else { return false };
    if line.bytes().all(|byte| byte.is_ascii_digit()) {
        line = lines.next().unwrap_or_default();
    }
    has_comma_timing(line)
}

/// Whether a line is a timing of SubRip: `00:00:01,000 --> 00:00:02,000`.
pub(super) fn has_comma_timing(line: &str) -> bool {
    let has_comma = |time: &str| {
        let time = time.trim().split(' ').next().unwrap_or_default();
        time.contains(':')
            && time.bytes().all(|byte| byte.is_ascii_digit() || b":,".contains(&byte))
            && time.contains(',')
    };
    line.split_once("-->").is_some_and(|(start, end)| has_comma(start) && has_comma(end))
}

/// The local name of an XML document's root element, or what there is of it in its first bytes.
fn root_element(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        let rest = text.strip_prefix('<')?;
        let end = match rest.as_bytes().first()? {
            b'?' => "?>",
            b'!' if rest.starts_with("!--") => "-->",
            b'!' => ">",
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "/>".contains(c));
                let name = &rest[..end.unwrap_or(rest.len())];
                return Some(name.rsplit_once(':').map_or(name, |(_, local)| local));
            }
        };
        // A comment that goes on behind what is known.
        let Some((_, behind)) = rest.split_once(end) else {
            return Some(if text.contains("http://www.w3.org/ns/ttml") { "tt" } else { "" });
        };
        text = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_first_bytes() {
        let cases: [(&[u8], Option<TextKind>); 12] = [
            (b"WEBVTT\n", Some(TextKind::WebVtt)),
            (b"\xef\xbb\xbfWEBVTT - title\r\n", Some(TextKind::WebVtt)),
            (
                b"<?xml version='1.0'?>\n<!-- a > b --><tt xmlns='http://www.w3.org/ns/ttml'>",
                Some(TextKind::Ttml),
            ),
            (b"<tt:tt xmlns:tt=\"http://www.w3.org/ns/ttml\">", Some(TextKind::Ttml)),
            (b"<tt>", Some(TextKind::Ttml)),
            (b"<?xml version='1.0'?><MPD>", None),
            (b"<?xml version='1.0'?><!-- cut", None),
            (b"<!DOCTYPE html><html>", None),
            (b"\0\0\0\x18ftypiso6", None),
            (b"#EXTM3U", None),
            (b"", None),
            (b"<", None),
        ];
        for (head, expected) in cases {
            assert_eq!(kind(head, "in").unwrap(), expected, "{}", head.escape_ascii());
        }
        assert_eq!(kind(b"Webvtt", "a.VTT").unwrap(), Some(TextKind::WebVtt));
    }

    #[test]
    fn what_can_be_converted_says_how() {
        let cases: [(&[u8], &str, &str); 6] = [
            (b"1\r\n00:00:01,000 --> 00:00:02,000\r\nText\r\n", "SRT", "ffmpeg -i IN OUT.vtt"),
            (b"\xef\xbb\xbf\n00:00:01,000 --> 00:00:02,000\n", "SRT", "ffmpeg -i IN OUT.vtt"),
            (b"[Script Info]\n", "ASS", "ffmpeg"),
            (b"Scenarist_SCC V1.0\n", "SCC", "ffmpeg"),
            (b"\xff\xfeW\0E\0B\0", "UTF-16", "iconv"),
            (b"\xfe\xff\0<\0?", "UTF-16", "iconv"),
        ];
        for (head, what, todo) in cases {
            let message = kind(head, "in.txt").unwrap_err().to_string();
            assert!(message.contains(what) && message.contains(todo), "{message}");
        }
    }
}
