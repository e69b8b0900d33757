//! Watching a run: progress, warnings, interruption.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanelock_packager::Observer;

use crate::{args::CommonArgs, failure::Failure, hide::without_keys};

/// The observer of the command.
pub(crate) struct Watch {
    bar: ProgressBar,
    quiet: bool,
    json: bool,
    interrupted: Arc<AtomicBool>,
}

impl Watch {
    /// Shows a bar if standard error is a terminal, and turns SIGINT and SIGTERM into an orderly end.
    pub(crate) fn new(args: &CommonArgs) -> Result<Self, Failure> {
        let CommonArgs { quiet, json, no_progress, .. } = *args;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, interrupted.clone())
                .map_err(|error| Failure::Io { what: "cannot watch for signals".into(), error })?;
        }
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
