//! What a box says.

use super::system::System;
use crate::keys::kid_text;

/// What a box says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contents {
    /// The system, if it is known.
    pub system: Option<System>,
    /// The KIDs, of the box itself and of its data.
    pub kids: Vec<[u8; 16]>,
    /// What else there is, in words: name and value, both without control characters, long values cut.
    pub details: Vec<(&'static str, String)>,
}

impl Contents {
    pub(super) fn kid(&mut self, kid: [u8; 16]) {
        if !self.kids.contains(&kid) {
            self.kids.push(kid);
        }
    }

    pub(super) fn detail(&mut self, name: &'static str, value: impl Into<String>) {
        let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let value: String = value.into();
        let mut text: String = value.chars().take(LONGEST).map(printable).collect();
        let rest = value.chars().skip(LONGEST).count();
        if rest > 0 {
            text = format!("{text}… ({} characters)", LONGEST + rest);
        }
        let detail = (name, text);
        if !self.details.contains(&detail) {
            self.details.push(detail);
        }
    }

    /// The KIDs as text, grouped like a UUID.
    pub fn kid_texts(&self) -> Vec<String> {
        self.kids.iter().map(kid_text).collect()
    }
}

/// Characters of a value that are kept: boxes may have megabytes.
const LONGEST: usize = 200;

/// What a detail says of data that cannot be read.
pub(super) const DAMAGED: &str = "it cannot be read: damaged, or of a newer form";
