//! Help, and what is wrong with the command line.
//!
//! clap repeats arguments that it does not know, and a key may be among them: a forgotten `--key`, a
//! misspelt one, a key in another option's place.

use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Prints help, or the error without what may be a key, and gives the exit code.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let rendered = error.render().to_string();
    let hidden = without_keys(&rendered);
    if !error.use_stderr() || hidden == rendered {
        // Whoever read our output may have heard enough.
        let failed = error.print().err().filter(|e| e.kind() != io::ErrorKind::BrokenPipe);
        return match (failed, error.use_stderr()) {
            (Some(_), false) => ExitCode::from(3),
            (_, false) => ExitCode::SUCCESS,
            (_, true) => ExitCode::from(2),
        };
    }
    // Standard error is the last place to complain: if it is gone, the exit code must do.
    let _ = io::stderr().lock().write_all(hidden.as_bytes());
    ExitCode::from(2)
}

/// `text` without the words that have 16 hexadecimal digits or more. Besides keys, only KIDs, IVs and
/// `pssh` boxes have as many.
fn without_keys(text: &str) -> String {
    let hide = |word: &str| word.bytes().filter(u8::is_ascii_hexdigit).count() >= 16;
    text.split_inclusive(char::is_whitespace)
        .map(|word| {
            let blank = &word[word.trim_end().len()..];
            if hide(word) { format!("(hidden: it may be a key){blank}") } else { word.to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hidden() {
        let key = "00112233445566778899aabbccddeeff";
        let hidden = without_keys(&format!("unexpected argument 'a:{key}' found\n\n  Usage: b\n"));
        assert_eq!(hidden, "unexpected argument (hidden: it may be a key) found\n\n  Usage: b\n");
        let other = "unexpected argument '--kye' found";
        assert_eq!(without_keys(other), other);
    }
}
