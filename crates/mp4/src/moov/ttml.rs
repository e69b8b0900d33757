//! Profiles of TTML in sample entries.

/// What stands behind `stpp.` for a sample entry with these strings (ISO/IEC 14496-30, 5): the TTML
/// profile in the names of the W3C's registry ("TTML Media Type Definition and Profile Registry").
///
/// A `mime` box says it. Else CMAF allows the text and image profiles of IMSC alone (ISO/IEC 23000-19,
/// clause 11), and image documents name the types of their images.
pub(super) fn profile(payload: &[u8], mime: Option<&str>) -> Option<String> {
    let mut strings = payload.get(8..)?.split(|&byte| byte == 0);
    let mut next = || strings.next().map(String::from_utf8_lossy).unwrap_or_default();
    let (namespaces, schemas, images) = (next(), next(), next());
    if !namespaces.contains("http://www.w3.org/ns/ttml") {
        return None;
    }
    if let Some(profile) = mime.and_then(mime_codecs) {
        return Some(format!("ttml.{profile}"));
    }
    let is_image = [namespaces, schemas].iter().any(|names| names.contains("/imsc1/image"))
        || images.split(' ').any(|kind| kind.starts_with("image/"));
    Some(if is_image { "ttml.im1i" } else { "ttml.im1t" }.into())
}

/// The `codecs` of a MIME type, if it can be a part of another.
fn mime_codecs(mime: &str) -> Option<&str> {
    let value = mime.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("codecs").then(|| value.trim().trim_matches('"'))
    })?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'|' | b'-' | b'.');
    (!value.is_empty() && value.bytes().all(fits)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_of_ttml() {
        let entry = |strings: &str| [&[0; 8], strings.as_bytes()].concat();
        let plain = entry("http://www.w3.org/ns/ttml\0\0\0");
        assert_eq!(profile(&plain, None).unwrap(), "ttml.im1t");
        assert_eq!(
            profile(&entry("http://www.w3.org/ns/ttml\0\0image/png\0"), None).unwrap(),
            "ttml.im1i"
        );
        let mime = "application/ttml+xml;charset=utf-8; codecs=\"im2t|etd1\"";
        assert_eq!(profile(&plain, Some(mime)).unwrap(), "ttml.im2t|etd1");
        assert_eq!(
            profile(&plain, Some("application/ttml+xml;codecs=\"<\"")).unwrap(),
            "ttml.im1t"
        );
        assert_eq!(profile(&entry("http://www.smpte-ra.org/schemas\0\0\0"), None), None);
        assert_eq!(profile(&[0; 8], None), None);
        assert_eq!(profile(&[0; 4], None), None);
    }
}
