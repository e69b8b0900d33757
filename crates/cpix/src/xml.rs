//! XML as far as CPIX needs it: a tree of elements in known namespaces, of bounded size.
//!
//! The whole document is in memory twice (as text and as a tree); `MOST_BYTES` and `MOST_ELEMENTS` bound
//! both. There is no document type declaration, so no entity but the five of XML itself, and nothing
//! outside of the document is ever read.

use core::fmt;

use quick_xml::{
    NsReader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesRef, BytesStart, Event},
    name::ResolveResult,
};
use zeroize::Zeroizing;

use crate::{
    error::{CpixError, Place},
    text::MOST_BYTES,
};

/// The most elements: five for each of a few thousand keys, with room to spare.
const MOST_ELEMENTS: usize = 200_000;
/// The deepest element. Signatures go deepest: `CPIX/Signature/KeyInfo/X509Data/X509IssuerSerial/...`.
const MOST_DEPTH: usize = 32;
/// The most attributes of an element; the schema has at most eight.
const MOST_ATTRIBUTES: usize = 64;

/// The namespaces that have a meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespace {
    /// DASH-IF CPIX.
    Cpix,
    /// RFC 6030.
    Pskc,
    /// XML Signature.
    Dsig,
    /// XML Encryption.
    Xenc,
    /// Any other: an extension.
    Other,
    /// None.
    None,
}

pub(crate) const CPIX: &str = "urn:dashif:org:cpix";
pub(crate) const PSKC: &str = "urn:ietf:params:xml:ns:keyprov:pskc";
const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
const XENC: &str = "http://www.w3.org/2001/04/xmlenc#";

impl Namespace {
    fn of(result: &ResolveResult<'_>) -> Self {
        match result {
            ResolveResult::Bound(namespace) => match namespace.as_ref() {
                uri if uri == CPIX.as_bytes() => Self::Cpix,
                uri if uri == PSKC.as_bytes() => Self::Pskc,
                uri if uri == DSIG.as_bytes() => Self::Dsig,
                uri if uri == XENC.as_bytes() => Self::Xenc,
                _ => Self::Other,
            },
            ResolveResult::Unbound | ResolveResult::Unknown(_) => Self::None,
        }
    }

    /// What it is called in messages.
    fn prefix(self) -> &'static str {
        match self {
            Self::Cpix | Self::Other | Self::None => "",
            Self::Pskc => "pskc:",
            Self::Dsig => "ds:",
            Self::Xenc => "xenc:",
        }
    }
}

/// An element. Its text may be a key: it is wiped, and not shown.
pub(crate) struct Element {
    pub(crate) namespace: Namespace,
    pub(crate) name: String,
    /// Those without a prefix. Others (`xml:lang`, `xsi:schemaLocation`) mean nothing here.
    pub(crate) attributes: Vec<(String, Zeroizing<String>)>,
    pub(crate) children: Vec<Self>,
    /// All of its own text.
    pub(crate) text: Zeroizing<String>,
    /// Where it begins in the document.
    pub(crate) offset: usize,
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Element").field(&self.title()).finish()
    }
}

impl Element {
    /// Its name, as messages have it.
    pub(crate) fn title(&self) -> String {
        format!("{}{}", self.namespace.prefix(), self.name)
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, namespace: Namespace, name: &str) -> bool {
        self.namespace == namespace && self.name == name
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The child of this name, if there is one.
    pub(crate) fn child(&self, namespace: Namespace, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.is(namespace, name))
    }
}

/// Reads a document to its root element.
pub(crate) fn parse(text: &str) -> Result<Element, CpixError> {
    if text.len() > MOST_BYTES {
        return Err(CpixError::TooLarge);
    }
    if let Some(at) = text.find(is_forbidden) {
        let what = "there is a control character, which XML does not allow".into();
        return Err(CpixError::Xml { place: Place::of(text, at), what });
    }
    Parser { text, count: 0, open: Vec::new(), root: None }.run()
}

struct Parser<'a> {
    text: &'a str,
    count: usize,
    open: Vec<Element>,
    root: Option<Element>,
}

impl Parser<'_> {
    fn run(mut self) -> Result<Element, CpixError> {
        // A byte order mark is no part of the text.
        let marked = usize::from(self.text.starts_with('\u{feff}')) * 3;
        let mut reader = NsReader::from_str(&self.text[marked..]);
        reader.config_mut().expand_empty_elements = true;
        reader.config_mut().check_comments = true;
        loop {
            let offset = marked + usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let (namespace, event) = match reader.read_resolved_event() {
                Ok((namespace, event)) => (Namespace::of(&namespace), event),
                Err(error) => {
                    let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                    return Err(self.fault(marked.saturating_add(at), malformed(&error)));
                }
            };
            match event {
                Event::Start(start) => self.start(namespace, &start, &reader, offset)?,
                Event::End(_) => self.end(),
                Event::Text(text) => {
                    let text = text.xml10_content();
                    let text = text.map_err(|_| self.fault(offset, "the text is not UTF-8"))?;
                    self.add_text(&text, offset)?;
                }
                Event::CData(data) => {
                    let text = data.xml10_content();
                    let text = text.map_err(|_| self.fault(offset, "the text is not UTF-8"))?;
                    self.add_text(&text, offset)?;
                }
                Event::GeneralRef(reference) => self.reference(&reference, offset)?,
                Event::Decl(declaration) => {
                    if let Some(encoding) = declaration.encoding() {
                        let utf8 = encoding.is_ok_and(|name| name.eq_ignore_ascii_case(b"utf-8"));
                        if !utf8 {
                            let what =
                                "the declared encoding is not UTF-8; save the document in UTF-8";
                            return Err(self.fault(offset, what));
                        }
                    }
                }
                Event::DocType(_) => {
                    let what = "a document type declaration (DOCTYPE), with which a document can define \
                                entities, is refused; remove it";
                    return Err(self.fault(offset, what));
                }
                Event::Comment(_) | Event::PI(_) => {}
                Event::Empty(_) => return Err(self.fault(offset, "unexpected empty element")),
                Event::Eof => break,
            }
        }
        if let Some(open) = self.open.last() {
            let what = format!("{} is not closed: the document is cut short", open.title());
            return Err(self.fault(open.offset, what));
        }
        self.root
            .take()
            .ok_or_else(|| self.fault(0, "there is no element: this is no XML document"))
    }

    fn start(
        &mut self,
        namespace: Namespace,
        start: &BytesStart<'_>,
        reader: &NsReader<&[u8]>,
        offset: usize,
    ) -> Result<(), CpixError> {
        if self.root.is_some() {
            return Err(self.fault(offset, "there is a second root element"));
        }
        self.count += 1;
        if self.count > MOST_ELEMENTS {
            return Err(self.fault(offset, format!("there are more than {MOST_ELEMENTS} elements")));
        }
        if self.open.len() >= MOST_DEPTH {
            return Err(
                self.fault(offset, format!("elements are nested more than {MOST_DEPTH} deep"))
            );
        }
        let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
        let mut attributes: Vec<(String, Zeroizing<String>)> = Vec::new();
        for (number, attribute) in start.attributes().with_checks(false).enumerate() {
            if number >= MOST_ATTRIBUTES {
                let what = format!("an element has more than {MOST_ATTRIBUTES} attributes");
                return Err(self.fault(offset, what));
            }
            let Ok(attribute) = attribute else {
                return Err(self.fault(offset, format!("an attribute of {name} is malformed")));
            };
            let key = attribute.key;
            let value = attribute.normalized_value(XmlVersion::default());
            let Ok(value) = value.map(|value| Zeroizing::new(value.into_owned())) else {
                let what = format!(
                    "an attribute of {name} has a reference to an entity that XML does not have itself"
                );
                return Err(self.fault(offset, what));
            };
            if value.contains(is_forbidden) {
                return Err(
                    self.fault(offset, format!("an attribute of {name} has a control character"))
                );
            }
            if key.as_namespace_binding().is_some() {
                continue;
            }
            if key.prefix().is_some() {
                if matches!(reader.resolver().resolve_attribute(key).0, ResolveResult::Unknown(_)) {
                    return Err(
                        self.fault(offset, format!("an attribute of {name} has an unknown prefix"))
                    );
                }
                continue;
            }
            let key = String::from_utf8_lossy(key.as_ref()).into_owned();
            if attributes.iter().any(|(other, _)| *other == key) {
                return Err(self.fault(offset, format!("{name} has the attribute {key} twice")));
            }
            attributes.push((key, value));
        }
        let (children, text) = (Vec::new(), Zeroizing::default());
        self.open.push(Element { namespace, name, attributes, children, text, offset });
        Ok(())
    }

    fn end(&mut self) {
        // The reader has checked that it is the end of what was opened last.
        let Some(element) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
    }

    fn add_text(&mut self, text: &str, offset: usize) -> Result<(), CpixError> {
        match self.open.last_mut() {
            Some(element) => push(&mut element.text, text),
            None if text.trim_matches(is_space).is_empty() => {}
            None => return Err(self.fault(offset, "there is text outside of the root element")),
        }
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>, offset: usize) -> Result<(), CpixError> {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            if is_forbidden(character) {
                let what = "there is a reference to a control character, which XML does not allow";
                return Err(self.fault(offset, what));
            }
            return self.add_text(character.encode_utf8(&mut [0; 4]), offset);
        }
        let name = reference.decode().unwrap_or_default();
        if let Some(text) = resolve_xml_entity(&name) {
            return self.add_text(text, offset);
        }
        Err(self.fault(offset, "a reference to an entity that XML does not have itself is refused"))
    }

    fn fault(&self, offset: usize, what: impl Into<String>) -> CpixError {
        CpixError::Xml { place: Place::of(self.text, offset), what: what.into() }
    }
}

/// Appends to text that is wiped. A string that grows by itself would leave its old bytes in memory.
pub(crate) fn push(text: &mut Zeroizing<String>, more: &str) {
    let len = text.len() + more.len();
    if len > text.capacity() {
        let mut larger = Zeroizing::new(String::with_capacity(len.max(2 * text.capacity())));
        larger.push_str(text);
        *text = larger;
    }
    text.push_str(more);
}

/// Whether XML 1.0 does not have the character (production 2).
fn is_forbidden(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// White space of XML.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// What the reader says of an error, without the text that it found.
fn malformed(error: &quick_xml::Error) -> String {
    use quick_xml::{Error, errors::IllFormedError};
    match error {
        Error::Syntax(error) => format!("this is not well-formed XML: {error}"),
        Error::IllFormed(IllFormedError::MismatchedEndTag { .. }) => {
            "this is not well-formed XML: an end tag does not match its start tag".into()
        }
        Error::Namespace(_) => "a namespace is bound in a way that is not allowed".into(),
        _ => "this is not well-formed XML".into(),
    }
}
