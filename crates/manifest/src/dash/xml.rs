//! A small tree of XML elements, written with indentation.

use crate::Error;

/// An element with attributes, and either elements or text inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Self>,
    text: Option<String>,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), children: Vec::new(), text: None }
    }

    /// With text inside.
    pub(super) fn with_text(name: &'static str, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::new(name) }
    }

    /// A descriptor (ISO/IEC 23009-1, 5.8.2).
    pub(super) fn descriptor(name: &'static str, scheme: &str, value: impl ToString) -> Self {
        Self::new(name).attribute("schemeIdUri", scheme).attribute("value", value)
    }

    #[allow(clippy::needless_pass_by_value, reason = "numbers and texts are written in place")]
    pub(super) fn attribute(mut self, name: &'static str, value: impl ToString) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    pub(super) fn optional(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.attribute(name, value),
            None => self,
        }
    }

    pub(super) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether one of the elements inside has a name or an attribute with this prefix.
    pub(super) fn uses(&self, prefix: &str) -> bool {
        let has = |name: &str| name.split_once(':').is_some_and(|(of, _)| of == prefix);
        has(self.name)
            || self.attributes.iter().any(|(name, _)| has(name))
            || self.children.iter().any(|child| child.uses(prefix))
    }

    /// The document of which this is the root.
    pub(super) fn document(&self) -> Result<String, Error> {
        self.check()?;
        let mut document = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write(&mut document, 0);
        Ok(document)
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        out.extend([&indent, "<", self.name]);
        for (name, value) in &self.attributes {
            out.extend([" ", name, "=\"", &escaped(value), "\""]);
        }
        match &self.text {
            Some(text) => out.extend([">", &escaped(text), "</", self.name, ">\n"]),
            None if self.children.is_empty() => out.push_str("/>\n"),
            None => {
                out.push_str(">\n");
                self.children.iter().for_each(|child| child.write(out, depth + 1));
                out.extend([&indent, "</", self.name, ">\n"]);
            }
        }
    }

    /// Of the characters that XML 1.0 cannot express (2.2), and those that attributes would lose (3.3.3),
    /// no text has one.
    fn check(&self) -> Result<(), Error> {
        let attributes = self.attributes.iter().map(|(name, value)| (*name, value));
        for (what, text) in attributes.chain(self.text.iter().map(|text| (self.name, text))) {
            if text.contains(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) {
                return Err(Error::Text {
                    what: format!("{what} in the MPD"),
                    text: text.clone(),
                    reason: "it must not have control characters",
                });
            }
        }
        self.children.iter().try_for_each(Self::check)
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}
