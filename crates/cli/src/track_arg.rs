//! `--track`: which tracks of the inputs are packaged, and what is said of them.

use std::{fmt, str::FromStr};

use lanelock_mp4::TrackKind;
use lanelock_packager::package::{Accessibility, Role, TrackProperties, TrackRule};
use serde::{Deserialize, Serialize};

use crate::values::Text;

/// Which tracks, and what is said of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct TrackArg {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<Text<Kind>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "SetArg::is_empty")]
    set: SetArg,
}

/// What is said of tracks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct SetArg {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    role: Vec<Text<RoleName>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accessibility: Vec<Text<AccessibilityName>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<bool>,
}

impl SetArg {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A value by a name of a list.
macro_rules! named {
    ($name:ident, $type:ty, $what:literal, [$($text:literal => $value:expr),* $(,)?]) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct $name($type);

        impl $name {
            const ALL: &[(&str, $type)] = &[$(($text, $value)),*];
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let found = Self::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
                found.map(|(_, value)| Self(*value)).ok_or_else(|| {
                    let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
                    format!("{text:?} is no {}: there are {}", $what, names.join(", "))
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let found = Self::ALL.iter().find(|(_, value)| *value == self.0);
                f.write_str(found.map_or("", |(name, _)| name))
            }
        }
    };
}

named!(Kind, TrackKind, "type of tracks", [
    "video" => TrackKind::Video,
    "audio" => TrackKind::Audio,
    "text" => TrackKind::Text,
]);
named!(RoleName, Role, "role", [
    "main" => Role::Main,
    "alternate" => Role::Alternate,
    "supplementary" => Role::Supplementary,
    "commentary" => Role::Commentary,
    "dub" => Role::Dub,
    "subtitle" => Role::Subtitle,
    "caption" => Role::Caption,
    "forced-subtitle" => Role::ForcedSubtitle,
]);
named!(AccessibilityName, Accessibility, "accessibility", [
    "captions" => Accessibility::Captions,
    "sdh" => Accessibility::Sdh,
    "description" => Accessibility::AudioDescription,
]);

impl FromStr for TrackArg {
    type Err = String;

    /// Reads `file=a.mp4,type=audio,language=de,id=2:label=Deutsch,role=dub`.
    fn from_str(text: &str) -> Result<Self, String> {
        // A colon may be part of a file name: the last one that a name follows divides.
        let names = ["name", "label", "language", "role", "accessibility", "default"];
        let divides = |at: &usize| {
            let rest = &text[at + 1..];
            names
                .iter()
                .any(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
        };
        // What is misspelt behind one is told as that.
        let may_divide = |at: &usize| {
            let name = text[at + 1..].split_once('=').map_or("", |(name, _)| name);
            !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        let colons = || text.match_indices(':').map(|(at, _)| at);
        let at = colons().find(divides).or_else(|| colons().find(may_divide));
        let (select, set) = at.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
        let mut this = Self::default();
        for (name, value) in pairs(select)? {
            match name {
                "file" => this.file = Some(value),
                "type" => this.kind = Some(value.parse()?),
                "language" => this.language = Some(value),
                "id" => {
                    let id = value.parse().map_err(|_| format!("{value:?} is no track ID"))?;
                    this.id = Some(id);
                }
                _ => {
                    return Err(format!(
                        "{name:?} selects no tracks: file, type, language and id do; what is set stands \
                         behind a colon"
                    ));
                }
            }
        }
        for (name, value) in pairs(set)? {
            let set = &mut this.set;
            match name {
                "name" => set.name = Some(value),
                "label" => set.label = Some(value),
                "language" => set.language = Some(value),
                "role" => set.role.push(value.parse()?),
                "accessibility" => set.accessibility.push(value.parse()?),
                "default" => {
                    set.default = Some(match value.as_str() {
                        "yes" | "true" => true,
                        "no" | "false" => false,
                        _ => return Err(format!("default is yes or no, and not {value:?}")),
                    });
                }
                _ => {
                    return Err(format!("{name:?} cannot be set: {} can", names.join(", ")));
                }
            }
        }
        Ok(this)
    }
}

/// `NAME=VALUE` with commas between them; what has no name belongs to the value before it.
fn pairs(text: &str) -> Result<Vec<(&str, String)>, String> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let name = part.split_once('=').filter(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        });
        match (name, pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name, value.into())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(part);
            }
            (None, None) => return Err(format!("{part:?} is not NAME=VALUE")),
        }
    }
    Ok(pairs)
}

impl From<TrackArg> for TrackRule {
    fn from(arg: TrackArg) -> Self {
        let TrackArg { file, kind, language, id, set } = arg;
        let mut properties = TrackProperties::default();
        properties.name = set.name;
        properties.label = set.label;
        properties.language = set.language;
        properties.roles = set.role.into_iter().map(|role| role.0.0).collect();
        properties.accessibility = set.accessibility.into_iter().map(|a| a.0.0).collect();
        properties.is_default = set.default;
        let mut rule = Self::default();
        rule.file = file;
        rule.kind = kind.map(|kind| kind.0.0);
        rule.language = language;
        rule.id = id;
        rule.properties = properties;
        rule
    }
}
