//! `ContentProtectionData`: XML for `ContentProtection` of a DASH manifest (CPIX 2.4, 4.3.8). It is not copied: what
//! is known is read, and anything else is an error.

use base64ct::{Base64, Encoding as _};
use quick_xml::{
    NsReader,
    escape::resolve_xml_entity,
    events::{BytesStart, Event},
    name::ResolveResult,
};

use crate::xml::is_space;

/// What a descriptor holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// `cenc:pssh`
    pub(crate) pssh: Option<Vec<u8>>,
    /// `mspr:pro`
    pub(crate) playready_object: Option<Vec<u8>>,
    /// `dashif:Laurl`
    pub(crate) license_url: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Pssh,
    PlayReadyObject,
    LicenseUrl,
}

/// Of any descriptor; boxes have some kilobytes.
const MOST_BYTES: usize = 1 << 18;

const KNOWN: [(&str, &str, &str, Field); 4] = [
    ("urn:mpeg:cenc:2013", "cenc", "pssh", Field::Pssh),
    ("urn:microsoft:playready", "mspr", "pro", Field::PlayReadyObject),
    ("https://dashif.org/CPS", "dashif", "Laurl", Field::LicenseUrl),
    ("http://dashif.org/guidelines/clearKey", "clearkey", "Laurl", Field::LicenseUrl),
];

const ONLY: &str = "it has more than cenc:pssh, mspr:pro and dashif:Laurl, which alone are written into manifests; take it out";

/// Reads elements one after the other. Prefixes that are bound nowhere are the usual ones: in a manifest they
/// would be.
pub(crate) fn read(xml: &str) -> Result<Descriptor, String> {
    if xml.len() > MOST_BYTES {
        return Err(format!("it has more than {} KiB", MOST_BYTES >> 10));
    }
    let mut reader = NsReader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut descriptor = Descriptor::default();
    let mut open: Option<(Field, String)> = None;
    loop {
        let (namespace, event) =
            reader.read_resolved_event().map_err(|_| String::from("it is not well-formed XML"))?;
        match event {
            Event::Start(start) if open.is_none() => {
                let field = field(&namespace, &start).ok_or(ONLY)?;
                open = Some((field, String::new()));
            }
            Event::End(_) => {
                let Some((field, text)) = open.take() else { return Err(ONLY.into()) };
                descriptor.take(field, text.trim_matches(is_space))?;
            }
            Event::Text(text) => {
                let text = text.xml10_content().map_err(|_| String::from("it is not UTF-8"))?;
                match &mut open {
                    Some((_, value)) => value.push_str(&text),
                    None if text.trim_matches(is_space).is_empty() => {}
                    None => return Err(ONLY.into()),
                }
            }
            Event::GeneralRef(reference) => {
                let name = reference.decode().unwrap_or_default();
                let text = resolve_xml_entity(&name);
                match (&mut open, text) {
                    (Some((_, value)), Some(text)) => value.push_str(text),
                    _ => return Err("it has a reference to an entity that is refused".into()),
                }
            }
            Event::Comment(_) => {}
            Event::Eof if open.is_none() => return Ok(descriptor),
            _ => return Err(ONLY.into()),
        }
    }
}

fn field(namespace: &ResolveResult<'_>, start: &BytesStart<'_>) -> Option<Field> {
    let name = start.local_name();
    let name = core::str::from_utf8(name.as_ref()).ok()?;
    let is = |(uri, prefix, local, _): &&(&str, &str, &str, Field)| {
        *local == name
            && match namespace {
                ResolveResult::Bound(bound) => bound.as_ref() == uri.as_bytes(),
                ResolveResult::Unknown(unbound) => unbound == prefix.as_bytes(),
                ResolveResult::Unbound => false,
            }
    };
    KNOWN.iter().find(is).map(|(.., field)| *field)
}

impl Descriptor {
    fn take(&mut self, field: Field, text: &str) -> Result<(), String> {
        let bytes = |text: &str| {
            // Long boxes have line ends in them.
            let text: String = text.split(is_space).collect();
            Base64::decode_vec(&text).map_err(|_| String::from("a value is not base64"))
        };
        let twice = match field {
            Field::Pssh => self.pssh.replace(bytes(text)?).is_some(),
            Field::PlayReadyObject => self.playready_object.replace(bytes(text)?).is_some(),
            Field::LicenseUrl if text.contains(|c: char| c.is_control() || c == ' ') => {
                return Err(
                    "the URL of the licence server has a space or a control character".into()
                );
            }
            Field::LicenseUrl if !is_http(text) => {
                return Err(
                    "the URL of the licence server does not begin with https:// or http://".into(),
                );
            }
            Field::LicenseUrl => self.license_url.replace(text.into()).is_some(),
        };
        if twice { Err("it has an element twice".into()) } else { Ok(()) }
    }
}

fn is_http(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_and_nothing_else() {
        let read_all = read(
            "<cenc:pssh>AA\nEC</cenc:pssh>\n<pro xmlns=\"urn:microsoft:playready\">AwQ=</pro><!-- x -->\
             <d:Laurl xmlns:d=\"https://dashif.org/CPS\">https://a.example/?b&amp;c</d:Laurl>",
        )
        .unwrap();
        assert_eq!(read_all.pssh.as_deref(), Some(&[0, 1, 2][..]));
        assert_eq!(read_all.playready_object.as_deref(), Some(&[3, 4][..]));
        assert_eq!(read_all.license_url.as_deref(), Some("https://a.example/?b&c"));
        assert_eq!(read(" \n"), Ok(Descriptor::default()));
        for bad in [
            "<script>alert(1)</script>",
            "<pssh>AAEC</pssh>",
            "<x:pssh>AAEC</x:pssh>",
            "<cenc:pssh xmlns:cenc=\"urn:other\">AAEC</cenc:pssh>",
            "<cenc:pssh>AAEC",
            "<cenc:pssh>AAEC</cenc:pssh></ContentProtection><script/>",
            "<cenc:pssh><script/></cenc:pssh>",
            "<cenc:pssh>AAEC</cenc:pssh><cenc:pssh>AAEC</cenc:pssh>",
            "<cenc:pssh>!</cenc:pssh>",
            "<!DOCTYPE x [<!ENTITY a \"b\">]><cenc:pssh>AAEC</cenc:pssh>",
            "<cenc:pssh>&a;</cenc:pssh>",
            "<cenc:pssh><![CDATA[AAEC]]></cenc:pssh>",
            "<dashif:Laurl>javascript:alert(1)</dashif:Laurl>",
            "<dashif:Laurl>https://a.example/ b</dashif:Laurl>",
            "text",
            "<?xml-stylesheet href=\"x\"?>",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&" ".repeat(MOST_BYTES + 1)).unwrap_err().contains("KiB"));
    }
}
