//! Watching a run: progress, warnings, interruption.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanelock_packager::Observer;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::{args::CommonArgs, failure::Failure, hide::without_keys};

/// The observer of the command.
pub(crate) struct Watch {
    bar: ProgressBar,
    quiet: bool,
    json: bool,
    interrupted: Arc<AtomicBool>,
}

impl Watch {
    /// Shows a bar if standard error is a terminal, and turns SIGINT, SIGTERM and SIGHUP into an orderly
    /// end. A file that outgrows the limit of the process (SIGXFSZ) is an error of the write.
    pub(crate) fn new(args: &CommonArgs) -> Result<Self, Failure> {
        let CommonArgs { quiet, json, no_progress, .. } = *args;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            watch_for(signal, &interrupted)?;
        }
        // Under nohup it stays ignored.
        if !is_ignored(SIGHUP) {
            watch_for(SIGHUP, &interrupted)?;
        }
        // What counts is that there is a handler: without one the signal ends the process.
        watch_for(SIGXFSZ, &Arc::default())?;
        let bar = if quiet || no_progress || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let template = "{bar:32} {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        };
        Ok(Self { bar, quiet, json, interrupted })
    }

    /// Shows no bar, and leaves signals to their default (ending the process): for what has no
    /// output.
    pub(crate) fn plain(json: bool) -> Self {
        Self { bar: ProgressBar::hidden(), quiet: false, json, interrupted: Arc::default() }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Sets `flag` at each `signal`.
fn watch_for(signal: i32, flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    signal_hook::flag::register(signal, flag.clone())
        .map(drop)
        .map_err(|error| Failure::Io { what: "cannot watch for signals".into(), error })
}

/// Whether whoever started the command has it ignore `signal`.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal - 1) & 1 == 1)
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

impl Observer for Watch {
    fn progress(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn warn(&self, message: &str) {
        if self.quiet {
            return;
        }
        let message = without_keys(message);
        let text = if self.json {
            serde_json::json!({ "warning": message }).to_string()
        } else {
            format!("warning: {message}")
        };
        // A warning that cannot be printed is no reason to stop.
        let _ = self.bar.suspend(|| writeln!(io::stderr().lock(), "{text}"));
    }
}
