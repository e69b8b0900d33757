//! Tags with attribute lists (RFC 8216bis, 4.2).

use std::fmt::Display;

use crate::Error;

/// A tag under construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    name: &'static str,
    line: String,
}

impl Tag {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, line: format!("#{name}:") }
    }

    /// A number or an enumerated string.
    #[allow(clippy::needless_pass_by_value, reason = "numbers and texts are written in place")]
    pub(super) fn word(mut self, attribute: &str, value: impl Display) -> Self {
        let comma = if self.line.ends_with(':') { "" } else { "," };
        self.line.extend([comma, attribute, "=", &value.to_string()]);
        self
    }

    /// # Errors
    /// If a quoted string cannot express the value: nothing in it can be escaped.
    pub(super) fn quoted(self, attribute: &str, value: &str) -> Result<Self, Error> {
        if value.contains(|c: char| c == '"' || c.is_control()) {
            return Err(Error::Text {
                what: format!("{attribute} of {} in HLS", self.name),
                text: value.into(),
                reason: "it must not have double quotes or control characters",
            });
        }
        Ok(self.word(attribute, format_args!("\"{value}\"")))
    }

    /// As it is if there is no value.
    pub(super) fn optional(self, attribute: &str, value: Option<&str>) -> Result<Self, Error> {
        match value {
            Some(value) => self.quoted(attribute, value),
            None => Ok(self),
        }
    }

    pub(super) fn into_line(self) -> String {
        self.line
    }
}
