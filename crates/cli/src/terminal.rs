//! What is printed for people and for programs: labels in colour where a terminal shows them, and nothing
//! in the names of files that a terminal would act on.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use clap::builder::styling::{AnsiColor, Style};

/// What a message is. Colours are clap's.
#[derive(Clone, Copy)]
pub(crate) enum Label {
    Error,
    Warning,
    Hint,
}

impl Label {
    /// Writes a line with the label in front.
    pub(crate) fn write(self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        let (name, style) = match self {
            Self::Error => ("error:", AnsiColor::Red.on_default().bold()),
            Self::Warning => ("warning:", AnsiColor::Yellow.on_default().bold()),
            Self::Hint => ("hint:", AnsiColor::Green.on_default()),
        };
        writeln!(out, "{style}{name}{style:#} {}", printable(text))
    }
}

/// A title.
pub(crate) const TITLE: Style = Style::new().bold();

/// Standard error. Colours are left out if it is no terminal, or as the environment says (`NO_COLOR`,
/// `TERM=dumb`).
pub(crate) fn stderr() -> impl Write {
    anstream::stderr().lock()
}

/// Standard output, likewise.
pub(crate) fn stdout() -> impl Write {
    anstream::stdout().lock()
}

/// `text` with escapes in the place of control characters and of those that change the direction of
/// writing: a name may hold any.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            printable.extend(c.escape_default());
        } else if is_format(c) {
            printable.extend(c.escape_unicode());
        } else {
            printable.push(c);
        }
    }
    printable
}

/// The same for JSON, whose value stays what it is. Such characters are in its strings alone.
pub(crate) fn printable_json(json: &str) -> String {
    let mut printable = String::with_capacity(json.len());
    for c in json.chars() {
        if is_format(c) || c.is_control() && c != '\n' {
            // Writing to a string does not fail.
            let _ = write!(printable, "\\u{:04x}", u32::from(c));
        } else {
            printable.push(c);
        }
    }
    printable
}

/// Characters that turn the direction of what follows, or begin a line. All of them have four digits.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "a\u{1b}[31m\n\t\u{9b}\u{7f}\u{202e}4pm\u{2066}\u{61c}é—\\.mp4";

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        let text = printable(NAME);
        let expected = r"a\u{1b}[31m\n\t\u{9b}\u{7f}\u{202e}4pm\u{2066}\u{61c}é—\.mp4";
        assert_eq!(text, expected);
        assert_eq!(printable(&text), text);
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ NAME: [NAME, 1] });
        let text = printable_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && !is_format(c)), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
