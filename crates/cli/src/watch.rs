//! Watching a run: progress, warnings, interruption.

use std::{
    collections::HashSet,
    fs,
    io::{self, IsTerminal, Write},
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanelock_packager::Observer;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
    flag,
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::{
    failure::Failure,
    hide::without_keys,
    run_args::RunArgs,
    terminal::{self, Label, printable_json},
};

/// The observer of the command.
pub(crate) struct Watch {
    bar: ProgressBar,
    quiet: bool,
    json: bool,
    interrupted: Arc<AtomicBool>,
    /// Bytes of the inputs before this one, and of this one.
    before: AtomicU64,
    current: AtomicU64,
    /// What was warned of already: several inputs may have the same peculiarities.
    said: Mutex<HashSet<String>>,
}

impl Watch {
    /// Shows a bar for `total` bytes if standard error is a terminal, and turns signals into an orderly
    /// end. `total` is none if it is not known.
    pub(crate) fn new(
        args: &RunArgs,
        total: Option<u64>,
        to_stdout: bool,
    ) -> Result<Self, Failure> {
        let RunArgs { quiet, json, no_progress, .. } = *args;
        let interrupted = Arc::new(AtomicBool::new(false));
        watch_signals(&interrupted, to_stdout.then_some(json))
            .map_err(|error| Failure::Io { what: "cannot watch for signals".into(), error })?;
        Ok(Self::of(bar(quiet || no_progress, total), quiet, json, interrupted))
    }

    /// Shows no bar, and leaves signals to their default (ending the process): for what has no
    /// output.
    pub(crate) fn plain(json: bool) -> Self {
        Self::of(ProgressBar::hidden(), false, json, Arc::default())
    }

    fn of(bar: ProgressBar, quiet: bool, json: bool, interrupted: Arc<AtomicBool>) -> Self {
        let (before, current) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { bar, quiet, json, interrupted, before, current, said: Mutex::default() }
    }

    /// What a signal sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    /// The next input begins, of `len` bytes.
    pub(crate) fn begins(&self, len: u64) {
        let before = self.current.swap(len, Ordering::Relaxed);
        self.before.fetch_add(before, Ordering::Relaxed);
    }

    /// There are so many bytes.
    pub(crate) fn expect(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// Prints without the bar in between.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for `total` bytes, if standard error is a terminal and it is not to be hidden.
pub(crate) fn bar(hidden: bool, total: Option<u64>) -> ProgressBar {
    if hidden || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10));
    let template = if total.is_some() {
        "{bar:20} {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta} left"
    } else {
        "{decimal_bytes}  {decimal_bytes_per_sec}"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

impl Observer for Watch {
    fn progress(&self, done: u64, _: u64) {
        self.bar.set_position(self.before.load(Ordering::Relaxed) + done);
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn warn(&self, message: &str) {
        if self.quiet {
            return;
        }
        let message = without_keys(message);
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.insert(message.clone()) {
            return;
        }
        drop(said);
        // A warning that cannot be printed is no reason to stop.
        let _ = self.bar.suspend(|| {
            let mut stderr = terminal::stderr();
            if self.json {
                let json = serde_json::json!({ "warning": message }).to_string();
                writeln!(stderr, "{}", printable_json(&json))
            } else {
                Label::Warning.write(&mut stderr, &message)
            }
        });
    }
}

/// Writing beyond the limit for file sizes is an error then, like a full disk, and ends no process.
pub(crate) fn survive_file_size_limits() {
    // No handler is a signal more that may end the process, which leaves nothing false.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Lets signals set `interrupted`. A run that waits for the reader of standard output (`to_stdout`: whether
/// errors are JSON) does not see that, and is ended a little later: it has nothing to clean up.
fn watch_signals(interrupted: &Arc<AtomicBool>, to_stdout: Option<bool>) -> io::Result<()> {
    let signals = ending_signals();
    for signal in signals.clone() {
        flag::register(signal, interrupted.clone())?;
    }
    if let Some(json) = to_stdout {
        let mut signals = Signals::new(signals)?;
        let wait = move || {
            if signals.forever().next().is_some() {
                thread::sleep(Duration::from_secs(1));
                let failure = Failure::InterruptedOutput;
                failure.print(json);
                process::exit(failure.code().into());
            }
        };
        thread::Builder::new().spawn(wait)?;
    }
    Ok(())
}

/// Calls `write` to its end: cut short it would leave a temporary file, and there may be keys in it. A signal that
/// ends the process does so then.
pub(crate) fn delay_signals<T>(write: impl FnOnce() -> T) -> io::Result<T> {
    let (pending, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let mut signals = ending_signals();
    for signal in signals.clone() {
        flag::register_conditional_default(signal, over.clone())?;
        flag::register_usize(signal, pending.clone(), number(signal))?;
    }
    let result = write();
    over.store(true, Ordering::SeqCst);
    let pending = pending.load(Ordering::SeqCst);
    if let Some(signal) = signals.find(|signal| number(*signal) == pending) {
        // There is no error: it does not come back.
        let _ = emulate_default_handler(signal);
    }
    Ok(result)
}

fn number(signal: i32) -> usize {
    signal.unsigned_abs() as usize
}

/// The signals that end the command.
fn ending_signals() -> impl Iterator<Item = i32> + Clone {
    // `nohup` ignores it, and so do we then.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup)
}

/// Whether a signal is ignored: what started the command wanted it so.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use std::{env, os::unix::process::ExitStatusExt as _, process::Command};

    use lanelock_testkit::Scratch;

    use super::*;

    /// Set in the process that gets a signal.
    const MARK: &str = "LANELOCK_TEST_SIGNALLED";

    /// A signal that comes while something is written ends the process behind it.
    #[test]
    fn signals_wait_for_what_is_written() {
        if let Some(mark) = env::var_os(MARK) {
            let result = delay_signals(|| {
                signal_hook::low_level::raise(SIGTERM).unwrap();
                fs::write(&mark, "whole").unwrap();
            });
            panic!("it goes on: {result:?}");
        }
        let scratch = Scratch::new();
        let mark = scratch.file("mark");
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", "watch::tests::signals_wait_for_what_is_written"]);
        let ended = again.env(MARK, &mark).output().unwrap();
        assert_eq!(ended.status.signal(), Some(SIGTERM), "{ended:?}");
        assert_eq!(fs::read_to_string(mark).unwrap(), "whole");
    }
}
