//! Removes from messages what may be a key that was typed in the wrong place: as a path, to another
//! option, or behind a misspelt one. Error messages quote the command line, so all of them pass this.

/// `text` without what looks like a key: letters, digits, dashes and colons in a row with 24
/// hexadecimal digits or more among them, and few other letters (a key may be misspelt); or base64 of 16
/// bytes, if it is padded or follows a KID. A KID in the form of a UUID, as messages show it, stays.
pub(crate) fn without_keys(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':');
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, tail) = rest.split_at(start);
        let end = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        // Punctuation that follows is not part of it.
        let end = tail[..end].trim_end_matches(':').len().max(1);
        let digits = looks_like_key(&tail[..end]).then_some(end);
        let secret = base64_end(tail).or(digits);
        let (word, later) = tail.split_at(secret.unwrap_or(end));
        let hide = secret.is_some();
        hidden.push_str(before);
        hidden.push_str(if hide { "(hidden: it may be a key)" } else { word });
        rest = later;
    }
    hidden.push_str(rest);
    hidden
}

fn looks_like_key(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_hexdigit).count();
    let others = word.bytes().filter(u8::is_ascii_alphanumeric).count() - digits;
    digits >= 24 && others <= 4 && !is_uuid(word.strip_suffix(":KEY").unwrap_or(word))
}

/// Where base64 ends with which the text begins: of 16 bytes and padded, or behind a KID and a colon.
fn base64_end(text: &str) -> Option<usize> {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let run = |text: &str| text.find(|c| !is_base64(c)).unwrap_or(text.len());
    let len = run(text);
    // A slash or a plus in front is not seen as a part of it.
    if (20..=22).contains(&len) && text[len..].starts_with("==") {
        return Some(len + 2);
    }
    let (kid, key) = text.split_once(':')?;
    let digits = kid.bytes().filter(u8::is_ascii_hexdigit).count();
    let is_kid = digits >= 24 && kid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let len = run(key);
    let is_hex =
        key.bytes().take_while(|&byte| byte.is_ascii_hexdigit() || byte == b'-').count() >= 24;
    let padding = key[len..].bytes().take_while(|byte| *byte == b'=').count();
    (is_kid && !is_hex && len >= 20).then_some(kid.len() + 1 + len + padding)
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
            format!("{UUID}:ABEiM0RVZneImaq7zN3u_w=="),
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

    #[test]
    fn base64_behind_a_kid_is_hidden() {
        for kid in [KEY, UUID] {
            for key in
                ["ABEiM0RVZneImaq7zN3u/w", "AB/iM0RVZneImaq7zN3u+w", "+++iM0RVZneImaq7zN3u+w=="]
            {
                let hidden = without_keys(&format!("/a/{kid}:{key}.mp4"));
                assert_eq!(hidden, "/a/(hidden: it may be a key).mp4");
            }
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
