//! Removes from messages what may be a key that was typed in the wrong place: as a path, to another
//! option, or behind a misspelt one. Error messages quote the command line, so all of them pass this.

/// `text` without what looks like a key: base64 of 16 bytes, padded or behind `:` or `=`; and letters,
/// digits, dashes and colons in a row with 24 hexadecimal digits or more among them, and few other letters
/// (a key may be misspelt). A KID in the form of a UUID, as messages show it, stays.
pub(crate) fn without_keys(text: &str) -> String {
    without_hex(&without_base64(text))
}

const HIDDEN: &str = "(hidden: it may be a key)";

fn without_base64(text: &str) -> String {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_base64) {
        let (before, tail) = rest.split_at(start);
        let len = tail.find(|c| !is_base64(c)).unwrap_or(tail.len());
        let (run, later) = tail.split_at(len);
        hidden.push_str(before);
        let behind = hidden.ends_with([':', '=']) && !is_hex(run);
        let (kept, later) = match later.strip_prefix("==") {
            // A folder in front of it has the same letters.
            Some(later) if is_hex(run) && len >= 20 => (Some(0), later),
            Some(later) if len >= 20 => (Some(len.saturating_sub(22)), later),
            _ if behind && (20..=22).contains(&len) => (Some(0), later),
            _ => (None, later),
        };
        hidden.push_str(&run[..kept.unwrap_or(len)]);
        if kept.is_some() {
            hidden.push_str(HIDDEN);
        }
        rest = later;
    }
    hidden.push_str(rest);
    hidden
}

fn is_hex(run: &str) -> bool {
    run.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn without_hex(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':');
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, tail) = rest.split_at(start);
        let end = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        // Punctuation that follows is not part of it.
        let end = tail[..end].trim_end_matches(':').len().max(1);
        let (word, later) = tail.split_at(end);
        hidden.push_str(before);
        let in_front = &text[..text.len() - tail.len()];
        let hide = looks_like_key(word, in_front.ends_with("key="));
        hidden.push_str(if hide { HIDDEN } else { word });
        rest = later;
    }
    hidden.push_str(rest);
    hidden
}

/// A word in the place of a key (`key=`) is one, even if it has the form of a UUID.
fn looks_like_key(word: &str, key_is_here: bool) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_hexdigit).count();
    let others = word.bytes().filter(u8::is_ascii_alphanumeric).count() - digits;
    let is_kid = !key_is_here && is_uuid(word.strip_suffix(":KEY").unwrap_or(word));
    digits >= 24 && others <= 4 && !is_kid
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "00112233445566778899aabbccddeeff";
    const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";

    #[test]
    fn keys_are_hidden() {
        for secret in [
            KEY.to_owned(),
            KEY.to_uppercase(),
            format!("{KEY}:{KEY}"),
            format!("{UUID}:{KEY}"),
            format!("{UUID}:{UUID}"),
            format!("{KEY}0"),
            format!("{UUID}0"),
            KEY[1..].to_owned(),
            "ABEiM0RVZneImaq7zN3u/w==".to_owned(),
            KEY.replace('0', "o"),
        ] {
            for (before, after) in [
                ("cannot read ", ": gone"),
                ("'--kye=", "' found"),
                ("/a/b/", "/c"),
                ("video=", ""),
            ] {
                let hidden = without_keys(&format!("{before}{secret}{after}"));
                assert_eq!(hidden, format!("{before}(hidden: it may be a key){after}"));
            }
        }
    }

    /// In each form that `--key` takes, and cut off: no run of the key's letters stays.
    #[test]
    fn keys_of_all_forms_are_hidden() {
        let kids = [KEY.into(), UUID.into(), format!("0x{KEY}"), format!("{{{UUID}}}")];
        let keys = ["ABEiM0RVZneImaq7zN3u/w", "AB/iM0RVZneImaq7zN3u+w", "++/77/vv++/77/vv++/77w"];
        for kid in &kids {
            for key in keys.into_iter().chain([KEY, UUID]) {
                for padding in ["", "=="] {
                    for text in [
                        format!("/a/{kid}:{key}{padding}.mp4"),
                        format!("label=:key_id={kid}:key={key}{padding}"),
                        format!("label=AUDIO:key={key}{padding}:key_id={kid}"),
                        format!("cannot read {kid}:{key}{padding}: No such file"),
                    ] {
                        let hidden = without_keys(&text);
                        let shows = |at: usize| hidden.contains(&key[at..at + 12]);
                        // A KID stays where it is told from a key.
                        let is_kid = key == KEY || key == UUID;
                        let places = (0..=key.len() - 12).any(shows);
                        let stays =
                            is_kid && hidden.matches(UUID).count() == 1 && kid.contains(UUID);
                        assert!(!places || stays, "{text}: {hidden}");
                    }
                }
            }
        }
        for alone in ["++/77/vv++/77/vv++/77w==", "ABEiM0RVZneImaq7zN3u/w=="] {
            assert_eq!(without_keys(alone), HIDDEN);
        }
    }

    #[test]
    fn other_words_stay() {
        for text in [
            format!("there is no key for its KID {UUID}; add --key {UUID}:KEY"),
            format!("track 1 (mp4a): the key for its KID {UUID} is wrong: 64 of 64"),
            "unexpected argument '--kye' found\n\n  Usage: é — \"x\"".into(),
            "cannot read /tmp/a-decade-of-faded-facades/2026-11-22T05:00:00.mp4".into(),
            "in.mp4: trak/mdia/minf/stbl/stsd at byte 1234567890123456".into(),
            String::new(),
        ] {
            assert_eq!(without_keys(&text), text);
        }
    }
}
