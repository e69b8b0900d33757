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
    /// What else there is, in words: name and value, both without control characters.
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
        let detail = (name, value.into().chars().map(printable).collect());
        if !self.details.contains(&detail) {
            self.details.push(detail);
        }
    }

    /// The KIDs as text, grouped like a UUID.
    pub fn kid_texts(&self) -> Vec<String> {
        self.kids.iter().map(kid_text).collect()
    }
}

/// What a detail says of data that cannot be read.
pub(super) const DAMAGED: &str = "it cannot be read: damaged, or of a newer form";
