//! What may or may not be there: the repository around the crate, other
//! programs, extra media; and how a test reports that it could not run. Each
//! function that looks for something reports its absence itself, so no test can
//! return without a report because something is missing.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

/// Says that the calling test, or a part of it, cannot run here, and why. The
/// test returns then, or goes on with the next part:
///
/// ```
/// # fn test() {
/// # let processor_has_it = false;
/// if !processor_has_it {
///     return lanelock_testkit::skip("the processor has no AES");
/// }
/// # }
/// ```
///
/// What this crate is asked for and cannot find is listed already:
///
/// ```
/// # fn test() {
/// let Some(ffmpeg) = lanelock_testkit::ffmpeg() else { return };
/// # let _ = ffmpeg; }
/// ```
///
/// The line goes to stderr and to the file named by `LANELOCK_SKIPS`; `make
/// test` sets the variable and shows the file at the end, because the test
/// harness hides what passing tests print.
///
/// # Panics
/// If that file cannot be written: the test would count as passed.
pub fn skip(reason: &str) {
    let current = thread::current();
    let line = format!("{}: {reason}\n", current.name().unwrap_or("a test"));
    eprint!("SKIPPED: {line}");
    if let Some(path) = env::var_os("LANELOCK_SKIPS") {
        append(Path::new(&path), &line).expect("the file named by LANELOCK_SKIPS takes a line");
    }
}

/// The root of the repository.
///
/// # Panics
/// Never in a checkout: the crate is one folder below the root.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in a folder of the repository")
        .to_path_buf()
}

/// The folder of extra media that are too big or too foreign to be committed:
/// `LANELOCK_SHARED`, or `shared` beside the repository.
#[must_use]
pub fn shared_dir() -> Option<PathBuf> {
    let path = match env::var_os("LANELOCK_SHARED") {
        Some(path) => PathBuf::from(path),
        None => repository().parent()?.join("shared"),
    };
    path.is_dir().then_some(path)
}

/// The folder that an environment variable names, for tests of input that
/// somebody brings along. Listed as a skip where the variable is not set.
///
/// # Panics
/// If it names no folder.
#[must_use]
pub fn folder_named_by(variable: &str) -> Option<PathBuf> {
    let Some(path) = env::var_os(variable).map(PathBuf::from) else {
        skip(&format!("{variable} names no folder"));
        return None;
    };
    assert!(path.is_dir(), "{variable}={} is no folder", path.display());
    Some(path)
}

/// Shaka Packager: the file named by `SHAKA_PACKAGER` (set by `make test`),
/// else the one that `tools/setup test` put into `.cache`, else one on the
/// search path. Its absence is listed as a skip.
#[must_use]
pub fn shaka_packager() -> Option<PathBuf> {
    let found = named_by("SHAKA_PACKAGER").or_else(|| {
        let cached = repository().join(".cache/bin/packager");
        if cached.is_file() { Some(cached) } else { on_search_path("packager") }
    });
    listed(found, "Shaka Packager")
}

/// The `ffmpeg` named by `FFMPEG`, or the one on the search path. Its absence is
/// listed as a skip.
#[must_use]
pub fn ffmpeg() -> Option<PathBuf> {
    listed(named_by("FFMPEG").or_else(|| on_search_path("ffmpeg")), "ffmpeg")
}

/// The `ffprobe` named by `FFPROBE`, or the one on the search path. Its absence
/// is listed as a skip.
#[must_use]
pub fn ffprobe() -> Option<PathBuf> {
    listed(named_by("FFPROBE").or_else(|| on_search_path("ffprobe")), "ffprobe")
}

/// `moto_server`, which plays S3: the file named by `MOTO_SERVER`, else the one that `tools/setup long` put
/// into `.cache`, else one on the search path. Its absence is listed as a skip.
#[must_use]
pub fn moto_server() -> Option<PathBuf> {
    let found = named_by("MOTO_SERVER").or_else(|| {
        let cached = repository().join(".cache/venv/bin/moto_server");
        if cached.is_file() { Some(cached) } else { on_search_path("moto_server") }
    });
    listed(found, "moto (PyPI moto[server])")
}

/// `script` of util-linux, which gives a program a terminal. Its absence is listed as a skip.
#[must_use]
pub fn script() -> Option<PathBuf> {
    listed(on_search_path("script"), "script (util-linux)")
}

/// Whether this is a run of `make long`, which sets `LANELOCK_LONG`: tests with
/// a long and a short form go through all of their cases then.
#[must_use]
pub fn is_long() -> bool {
    env::var_os("LANELOCK_LONG").is_some_and(|value| !value.is_empty())
}

/// Whether this test runs under qemu-user, valgrind or another emulator of user programs, whose memory is counted as
/// that of the test.
///
/// The emulator answers for `/proc/self/exe` in the name of the program; under the thread's name the kernel does.
#[must_use]
pub fn is_emulated() -> bool {
    let link = |path| std::fs::read_link(path).ok();
    let thread = link("/proc/thread-self/exe");
    thread.is_some() && thread != link("/proc/self/exe")
}

/// Whether a test takes fewer cases: every instruction is emulated (qemu-user, valgrind), and this is no
/// [long run](is_long).
#[must_use]
pub fn takes_fewer() -> bool {
    is_emulated() && !is_long()
}

/// What was found; if nothing was, a skip is reported: `what` is not installed.
pub(crate) fn listed<T>(found: Option<T>, what: &str) -> Option<T> {
    if found.is_none() {
        skip(&format!("{what} is not installed"));
    }
    found
}

/// The file that the environment variable names. A name that leads nowhere is
/// a mistake of the caller, not a missing tool.
fn named_by(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(variable).filter(|value| !value.is_empty())?);
    assert!(path.is_file(), "{variable}={} is no file", path.display());
    Some(path)
}

/// One write of one line: appends of parallel tests do not mix.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(line.as_bytes())
}

pub(crate) fn on_search_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(program)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_holds_this_crate() {
        assert!(repository().join("testkit/Cargo.toml").is_file());
    }

    #[test]
    fn skips_are_appended() {
        let path = env::temp_dir().join(format!("lanelock-skips-{}", std::process::id()));
        append(&path, "one\n").expect("the folder for temporary files can be written to");
        append(&path, "two\n").expect("the file can be extended");
        let text = std::fs::read_to_string(&path).expect("the file is there");
        std::fs::remove_file(&path).expect("the file is ours");
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn programs_are_found_on_the_search_path() {
        assert!(on_search_path("cargo").is_some());
        assert!(on_search_path("no such program").is_none());
    }
}
