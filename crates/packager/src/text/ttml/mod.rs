//! TTML (W3C TTML1 and TTML2) and its profiles IMSC 1 and EBU-TT-D, read as far as segments need it:
//! which profile, which language, and when each paragraph is shown.

mod reader;
mod time;

use std::ops::Range;

use quick_xml::{NsReader, events::Event};

use super::{unsuitable, utf8};
use crate::Error;

use reader::{IMAGES, KnownNamespace, TtmlReader};
pub(super) use reader::{NAMESPACE, Paragraph};
pub(super) use time::Shown;

/// The most namespaces that one element may declare.
const MAX_DECLARATIONS: usize = 64;

/// A TTML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ttml {
    /// Name of the file, for errors.
    pub(crate) name: String,
    /// `xml:lang` of the document, if it says one.
    pub(crate) language: Option<String>,
    /// Its profile by the W3C registry of TTML profiles, such as `im1t`, if it says a known one.
    pub(crate) profile: Option<&'static str>,
    /// When the last text ends, in milliseconds; none if some text has no end.
    pub(crate) end: Option<u64>,
    pub(super) text: String,
    pub(super) paragraphs: Vec<Paragraph>,
}

impl Ttml {
    /// Parses a file.
    ///
    /// Refused are images (IMSC image profile, SMPTE-TT) and times that do not count from the start of
    /// the presentation (`ttp:timeBase`).
    pub(crate) fn parse(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let text = utf8(name, bytes)?;
        let mut reader = NsReader::from_str(text);
        reader.resolver_mut().set_max_declarations_per_element(MAX_DECLARATIONS);
        let mut state = TtmlReader::default();
        loop {
            let from = position(&reader);
            let fault = |at: usize, what: &str| {
                let line =
                    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
                unsuitable(name, format!("line {line}: {what}"))
            };
            let (namespace, event) = match reader.read_resolved_event() {
                Ok((namespace, event)) => (KnownNamespace::of(&namespace), event),
                Err(error) => {
                    let at = usize::try_from(reader.error_position()).unwrap_or(from);
                    let what = format!("it is not well-formed XML: {error}; correct it");
                    return Err(fault(at, &what));
                }
            };
            let is_empty = matches!(event, Event::Empty(_));
            let step = match event {
                Event::Start(start) | Event::Empty(start) => {
                    state.open(&reader, namespace, &start, from).and_then(|()| {
                        if is_empty { state.close(position(&reader), text) } else { Ok(()) }
                    })
                }
                Event::End(_) => state.close(position(&reader), text),
                Event::Text(inside) => state.characters(&inside, true),
                Event::CData(inside) => state.characters(&inside, true),
                Event::GeneralRef(reference) => {
                    let known = reference.is_char_ref()
                        || matches!(&*reference, b"amp" | b"lt" | b"gt" | b"quot" | b"apos");
                    if known {
                        state.characters(b"&", false)
                    } else {
                        let entity = String::from_utf8_lossy(&reference).into_owned();
                        Err(format!(
                            "the entity &{entity}; is not defined; write the character itself"
                        ))
                    }
                }
                Event::Decl(declaration) => match declaration.encoding() {
                    Some(Ok(encoding)) if !is_utf8(&encoding) => {
                        let encoding = String::from_utf8_lossy(&encoding).into_owned();
                        Err(format!(
                            "the XML declaration says that the encoding is {encoding}, and the text is \
                             UTF-8; write UTF-8 there, or convert the file (iconv -f {encoding} -t UTF-8)"
                        ))
                    }
                    _ => Ok(()),
                },
                Event::DocType(_) => {
                    Err("document type declarations are not supported by players; \
                                          remove it"
                        .into())
                }
                Event::Comment(_) | Event::PI(_) => Ok(()),
                Event::Eof => break,
            };
            step.map_err(|what| fault(from, &what))?;
        }
        if !state.is_complete() {
            let reason =
                "it is not well-formed XML: it ends inside of an element; is it cut short?";
            return Err(unsuitable(name, reason));
        }
        let TtmlReader { language, profiles, end, paragraphs, .. } = state;
        let text = text.to_owned();
        let profile = profile(&profiles).map_err(|reason| unsuitable(name, reason))?;
        Ok(Self { name: name.into(), language, profile, end, text, paragraphs })
    }

    /// What is not in a paragraph, in pieces: the index of the paragraph that each is in front of.
    pub(super) fn skeleton(&self) -> Vec<(usize, Range<usize>)> {
        let mut at = 0;
        let mut pieces = Vec::new();
        let ends = self.paragraphs.iter().map(|paragraph| &paragraph.bytes);
        for (index, next) in ends.chain([&(self.text.len()..self.text.len())]).enumerate() {
            if at < next.start {
                pieces.push((index, at..next.start));
            }
            at = next.end;
        }
        pieces
    }
}

/// The registered name of the first known profile. Those of images are refused.
fn profile(designators: &[String]) -> Result<Option<&'static str>, String> {
    // W3C TTML Media Type Definition and Profile Registry. EBU-TT-D last: most of it is IMSC, too.
    const KNOWN: [(&str, &str); 4] = [
        ("http://www.w3.org/ns/ttml/profile/imsc1/text", "im1t"),
        ("http://www.w3.org/ns/ttml/profile/imsc1.1/text", "im2t"),
        ("urn:ebu:tt:distribution:2014-01", "etd1"),
        ("urn:ebu:tt:distribution:2018-04", "etd2"),
    ];
    let is_image = |name: &&String| {
        name.starts_with("http://www.w3.org/ns/ttml/profile/imsc") && name.ends_with("/image")
    };
    if let Some(image) = designators.iter().find(is_image) {
        return Err(format!("its profile is {image}: {IMAGES}"));
    }
    let says = |known: &str| designators.iter().any(|name| name == known);
    Ok(KNOWN.iter().find(|(known, _)| says(known)).map(|(_, registered)| *registered))
}

fn is_utf8(encoding: &[u8]) -> bool {
    [&b"utf-8"[..], b"utf8", b"us-ascii"].iter().any(|known| encoding.eq_ignore_ascii_case(known))
}

fn position(reader: &NsReader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}
