//! Help, and what is wrong with the command line.
//!
//! clap quotes unknown arguments in its messages, and a key may be among them.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::{failure::Failure, hide::without_keys, terminal::printable};

/// Prints help, or the error without what may be a key or what a terminal would act on, and gives the exit code.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let rendered = error.render().to_string();
    let lines = rendered.split('\n').map(|line| printable(&without_keys(line)));
    let hidden = lines.collect::<Vec<_>>().join("\n");
    if !error.use_stderr() || hidden == rendered {
        // The reader of a pipe may close it early, like `head`: that is no failure.
        let failed = error.print().err().filter(|e| e.kind() != io::ErrorKind::BrokenPipe);
        return match (failed, error.use_stderr()) {
            (Some(error), false) => {
                let failure = Failure::Print(error);
                failure.print(false);
                ExitCode::from(failure.code())
            }
            (None, false) => ExitCode::SUCCESS,
            (_, true) => ExitCode::from(2),
        };
    }
    // If standard error cannot be written either, only the exit code is left to report the failure.
    let _ = io::stderr().lock().write_all(hidden.as_bytes());
    ExitCode::from(2)
}
