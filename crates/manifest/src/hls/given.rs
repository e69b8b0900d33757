//! Lines with keys that others made, which are written as they are: so they must be what they are said to be.

/// `KEYFORMAT` and `URI` of a line with this tag; or what is wrong with it (RFC 8216bis, 4.2 and 4.4.4.4).
pub(super) fn key(tag: &str, line: &str, is_cbcs: bool) -> Result<(String, String), String> {
    if line.len() > LONGEST {
        return Err(format!("a line of HLS is longer than {LONGEST} bytes"));
    }
    if line.contains(char::is_control) {
        return Err("a line of HLS has a control character, such as the end of a line".into());
    }
    let list = line.strip_prefix('#').and_then(|line| line.strip_prefix(tag));
    let Some(mut rest) = list.and_then(|list| list.strip_prefix(':')) else {
        return Err(format!(
            "a line of HLS does not begin with #{tag}:, and no other may be there"
        ));
    };
    let mut known: Vec<(&str, &str)> = Vec::new();
    loop {
        let count = known.len();
        let malformed = || format!("the attributes of {tag} are malformed behind {count} of them");
        let (name, value) = rest.split_once('=').ok_or_else(malformed)?;
        let is_name = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'-');
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(malformed());
        }
        let end = match value.strip_prefix('"') {
            Some(quoted) => quoted.find('"').ok_or_else(malformed)? + 2,
            None => value.find(',').unwrap_or(value.len()),
        };
        let (value, after) = value.split_at(end);
        if value.is_empty() || (!value.starts_with('"') && value.contains(['"', ' '])) {
            return Err(malformed());
        }
        if known.iter().any(|(other, _)| *other == name) {
            return Err(format!("{tag} has the attribute {name} twice"));
        }
        known.push((name, value));
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => break,
            None => return Err(malformed()),
        }
    }
    let value =
        |wanted: &str| known.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let quoted = |name: &str| {
        let value = value(name)?;
        value.strip_prefix('"')?.strip_suffix('"').map(ToOwned::to_owned)
    };
    let method = if is_cbcs { "SAMPLE-AES" } else { "SAMPLE-AES-CTR" };
    if value("METHOD") != Some(method) {
        let scheme = if is_cbcs { "cbcs" } else { "cenc" };
        return Err(format!("{tag} has not METHOD={method}, which is that of {scheme}"));
    }
    let uri = quoted("URI").ok_or_else(|| format!("{tag} has no URI in double quotes"))?;
    let format = match value("KEYFORMAT") {
        None => "identity".into(),
        Some(_) => quoted("KEYFORMAT")
            .ok_or_else(|| format!("KEYFORMAT of {tag} is not in double quotes"))?,
    };
    Ok((format, uri))
}

/// Far more than a URI with a `pssh` box takes.
const LONGEST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_they_are_said_to_be() {
        let read = |line: &str| key("EXT-X-KEY", line, true);
        let good = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://a,b\",KEYFORMAT=\"com.x\",IV=0x12";
        assert_eq!(read(good), Ok(("com.x".into(), "skd://a,b".into())));
        let plain = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"";
        assert_eq!(read(plain), Ok(("identity".into(), "k".into())));
        for bad in [
            "",
            "#EXTM3U",
            "segment.m4s",
            "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"k\"",
            "#EXT-X-KEY:",
            "#EXT-X-KEY:METHOD=NONE",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI=\"k\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=k",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"x",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",URI=\"l\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=x",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXT-X-ENDLIST",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\r",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
        let huge = format!("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"{}\"", "k".repeat(LONGEST));
        assert!(read(&huge).unwrap_err().contains("longer than"));
        assert!(key("EXT-X-KEY", &plain.replace("AES,", "AES-CTR,"), false).is_ok());
    }
}
