//! What a TTML file says, element by element.

use std::ops::Range;

use quick_xml::{
    NsReader, XmlVersion,
    events::BytesStart,
    name::{Namespace, ResolveResult},
};

use super::time::{Clock, Shown};

/// The namespace of TTML.
pub(in crate::text) const NAMESPACE: &str = "http://www.w3.org/ns/ttml";
/// Parameters of TTML.
const PARAMETER: &str = "http://www.w3.org/ns/ttml#parameter";
/// Metadata of EBU-TT, which says the profile of EBU-TT-D.
const EBU_METADATA: &str = "urn:ebu:tt:metadata";
/// `xml:lang`.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// What the namespaces of SMPTE-TT begin with.
const SMPTE: &str = "http://www.smpte-ra.org/schemas/2052-1/";

/// What to tell about images.
pub(super) const IMAGES: &str = "subtitles that are images cannot be packaged; make text of them";

/// The most elements inside of one another: documents have about ten.
const MAX_NESTING: usize = 100;
/// The most attributes of an element.
const MAX_ATTRIBUTES: usize = 256;

/// An element `p` with the white space behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::text) struct Paragraph {
    pub(in crate::text) bytes: Range<usize>,
    pub(in crate::text) shown: Shown,
}

/// The namespaces that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownNamespace {
    None,
    Tt,
    Parameter,
    Xml,
    Ebu,
    Smpte,
    Other,
}

impl KnownNamespace {
    pub(super) fn of(resolved: &ResolveResult<'_>) -> Self {
        match resolved {
            ResolveResult::Unbound => Self::None,
            ResolveResult::Bound(Namespace(name)) if *name == NAMESPACE.as_bytes() => Self::Tt,
            ResolveResult::Bound(Namespace(name)) if *name == PARAMETER.as_bytes() => {
                Self::Parameter
            }
            ResolveResult::Bound(Namespace(name)) if *name == XML.as_bytes() => Self::Xml,
            ResolveResult::Bound(Namespace(name)) if *name == EBU_METADATA.as_bytes() => Self::Ebu,
            ResolveResult::Bound(Namespace(name)) if name.starts_with(SMPTE.as_bytes()) => {
                Self::Smpte
            }
            _ => Self::Other,
        }
    }
}

/// What was read so far.
#[derive(Debug)]
pub(super) struct TtmlReader {
    pub(super) language: Option<String>,
    pub(super) profiles: Vec<String>,
    clock: Clock,
    /// When the last text ends, and none if one has no end.
    pub(super) end: Option<u64>,
    pub(super) paragraphs: Vec<Paragraph>,
    open: Vec<OpenElement>,
    had_root: bool,
}

impl Default for TtmlReader {
    fn default() -> Self {
        Self {
            language: None,
            profiles: Vec::new(),
            clock: Clock::default(),
            end: Some(0),
            paragraphs: Vec::new(),
            open: Vec::new(),
            had_root: false,
        }
    }
}

/// An element that has not ended.
#[derive(Debug)]
struct OpenElement {
    kind: ElementKind,
    /// Where it begins.
    at: usize,
    shown: Shown,
    /// Whether its children follow one another (`timeContainer="seq"`): their times are not computed.
    is_sequence: bool,
    /// The ends of the text in it: the last one, or none if one is not known.
    text_end: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementKind {
    /// A paragraph, `p`.
    Paragraph,
    /// `body` and what is in it.
    Content,
    /// `ebuttm:conformsToStandard` or `ebuttm:documentEbuttVersion`, whose text is a profile.
    Standard,
    /// `tt`, `head` and what is in it.
    Other,
}

impl TtmlReader {
    pub(super) fn open(
        &mut self,
        reader: &NsReader<&[u8]>,
        namespace: KnownNamespace,
        start: &BytesStart<'_>,
        at: usize,
    ) -> Result<(), String> {
        let local = start.local_name();
        let local = local.as_ref();
        let mut attributes = Vec::new();
        for attribute in start.attributes().with_checks(false) {
            if attributes.len() == MAX_ATTRIBUTES {
                return Err(format!("an element has more than {MAX_ATTRIBUTES} attributes"));
            }
            let malformed = |error: &dyn std::fmt::Display| {
                format!("it is not well-formed XML: {error}; correct it")
            };
            let attribute = attribute.map_err(|error| malformed(&error))?;
            let (resolved, key) = reader.resolver().resolve_attribute(attribute.key);
            let value = attribute.normalized_value(XmlVersion::default());
            let value = value.map_err(|error| malformed(&error))?.into_owned();
            attributes.push((KnownNamespace::of(&resolved), key.as_ref().to_vec(), value));
        }
        let find = |namespace, name: &str| {
            let is = |(n, k, _): &&(KnownNamespace, Vec<u8>, String)| {
                *n == namespace && k == name.as_bytes()
            };
            attributes.iter().find(is).map(|(.., value)| value.as_str())
        };
        let Some(parent) = self.open.last() else {
            return self.open_root(namespace, local, at, &find);
        };
        if self.open.len() >= MAX_NESTING {
            return Err(format!("more than {MAX_NESTING} elements are inside of one another"));
        }
        let is_image = (namespace == KnownNamespace::Smpte || namespace == KnownNamespace::Tt)
            && local == b"image"
            || find(KnownNamespace::Smpte, "backgroundImage").is_some();
        if is_image {
            return Err(IMAGES.into());
        }
        // The older form of the attribute of `tt`.
        if (namespace, local) == (KnownNamespace::Parameter, b"profile") {
            self.profiles.extend(find(KnownNamespace::None, "use").map(str::to_owned));
        }
        let in_body = matches!(parent.kind, ElementKind::Content | ElementKind::Paragraph);
        let kind = match (namespace, local) {
            (KnownNamespace::Tt, b"p") if in_body => ElementKind::Paragraph,
            (KnownNamespace::Tt, b"body") => ElementKind::Content,
            (KnownNamespace::Ebu, b"conformsToStandard" | b"documentEbuttVersion") => {
                ElementKind::Standard
            }
            // Metadata and foreign elements are not shown.
            (KnownNamespace::Tt, local) if in_body && local != b"metadata" => ElementKind::Content,
            _ => ElementKind::Other,
        };
        let mut shown = parent.shown;
        if matches!(kind, ElementKind::Content | ElementKind::Paragraph)
            && namespace == KnownNamespace::Tt
            && !parent.is_sequence
        {
            let time = |name| {
                let Some(value) = find(KnownNamespace::None, name) else { return Ok(None) };
                let parsed = self.clock.parse(value);
                parsed.map(Some).ok_or(format!(
                    "{name}=\"{value}\" is no time; write one such as 00:00:01.500 or 1.5s"
                ))
            };
            shown = parent.shown.child(time("begin")?, time("end")?, time("dur")?);
        }
        let is_sequence = parent.is_sequence
            || find(KnownNamespace::None, "timeContainer").is_some_and(|kind| kind == "seq");
        self.open.push(OpenElement { kind, at, shown, is_sequence, text_end: Some(0) });
        Ok(())
    }

    fn open_root<'v>(
        &mut self,
        namespace: KnownNamespace,
        local: &[u8],
        at: usize,
        find: &dyn Fn(KnownNamespace, &str) -> Option<&'v str>,
    ) -> Result<(), String> {
        if self.had_root {
            return Err("it is not well-formed XML: a second element is behind the first".into());
        }
        if namespace != KnownNamespace::Tt || local != b"tt" {
            return Err(format!(
                "it is no TTML file: its element is not `tt` in the namespace {NAMESPACE}"
            ));
        }
        self.had_root = true;
        let language = find(KnownNamespace::Xml, "lang").map(str::trim);
        self.language = language.filter(|language| !language.is_empty()).map(str::to_owned);
        for attribute in ["profile", "contentProfiles"] {
            let value = find(KnownNamespace::Parameter, attribute).unwrap_or_default();
            self.profiles.extend(value.split_ascii_whitespace().map(str::to_owned));
        }
        if let Some(base) =
            find(KnownNamespace::Parameter, "timeBase").filter(|base| *base != "media")
        {
            return Err(format!(
                "its times are of the time base {base}; convert it to IMSC 1, whose times count from the \
                 start of the film (ttp:timeBase=\"media\")"
            ));
        }
        let parameter = |name| find(KnownNamespace::Parameter, name);
        self.clock = Clock::new(
            parameter("frameRate"),
            parameter("frameRateMultiplier"),
            parameter("subFrameRate"),
            parameter("tickRate"),
        )?;
        let shown = Shown::default();
        self.open.push(OpenElement {
            kind: ElementKind::Other,
            at,
            shown,
            is_sequence: false,
            text_end: Some(0),
        });
        Ok(())
    }

    /// Text; `may_be_space` if it may be nothing but white space.
    pub(super) fn characters(&mut self, text: &[u8], may_be_space: bool) -> Result<(), String> {
        if may_be_space && text.trim_ascii().is_empty() {
            return Ok(());
        }
        let Some(element) = self.open.last_mut() else {
            return Err("it is not well-formed XML: text is outside of its element".into());
        };
        match element.kind {
            ElementKind::Standard => {
                self.profiles.push(String::from_utf8_lossy(text.trim_ascii()).into_owned());
            }
            ElementKind::Content | ElementKind::Paragraph => {
                element.text_end = later(element.text_end, element.shown.end);
                self.end = later(self.end, element.shown.end);
            }
            ElementKind::Other => {}
        }
        Ok(())
    }

    pub(super) fn close(&mut self, at: usize, text: &str) -> Result<(), String> {
        let Some(element) = self.open.pop() else {
            return Err("it is not well-formed XML: an element ends that has not begun".into());
        };
        if let Some(parent) = self.open.last_mut() {
            parent.text_end = later(parent.text_end, element.text_end);
        }
        // A paragraph in another one is none; it stays with the outer one.
        let is_inside = self.open.iter().any(|open| open.kind == ElementKind::Paragraph);
        if element.kind == ElementKind::Paragraph && !is_inside {
            let rest = text.get(at..).unwrap_or_default();
            let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let end = element.shown.end.or(element.text_end);
            let shown = Shown { end, ..element.shown };
            self.paragraphs.push(Paragraph { bytes: element.at..at + space, shown });
        }
        Ok(())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.had_root && self.open.is_empty()
    }
}

/// The later of two ends, none if one is not known.
fn later(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.max(b?))
}
