//! What may or may not be there: the repository around the crate, other
//! programs, extra media; and how a test says that it could not run.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

/// Says that the calling test cannot run here, and why. The test returns then:
///
/// ```
/// # fn test() {
/// let Some(ffmpeg) = lanelock_testkit::ffmpeg() else {
///     return lanelock_testkit::skip("ffmpeg is not installed");
/// };
/// # let _ = ffmpeg; }
/// ```
///
/// The line goes to stderr and to the file named by `LANELOCK_SKIPS`; `make
/// test` sets the variable and shows the file at the end, because the test
/// harness hides what passing tests print.
///
/// # Panics
/// If that file cannot be written: a skip nobody hears of is worse.
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

/// The folder of extra media and vectors that are too big or too foreign to be
/// committed: `LANELOCK_SHARED`, or `shared` beside the repository.
#[must_use]
pub fn shared_dir() -> Option<PathBuf> {
    let path = match env::var_os("LANELOCK_SHARED") {
        Some(path) => PathBuf::from(path),
        None => repository().parent()?.join("shared"),
    };
    path.is_dir().then_some(path)
}

/// A short clip called `name`, such as `hevc.mp4`, or the source of them all,
/// `bigbuckbunny.mp4`: from the folder `.cache/media/codecs` that
/// `tools/make-test-media` fills, else from [`shared_dir`].
#[must_use]
pub fn codec_clip(name: &str) -> Option<PathBuf> {
    [
        Some(repository().join(".cache/media/codecs")),
        shared_dir().map(|dir| dir.join("media/codecs")),
        shared_dir().map(|dir| dir.join("media")),
    ]
    .into_iter()
    .flatten()
    .map(|dir| dir.join(name))
    .find(|path| path.is_file())
}

/// Shaka Packager: the file named by `SHAKA_PACKAGER` (set by `make test`),
/// else the one that `tools/setup test` put into `.cache`, else one on the
/// search path.
#[must_use]
pub fn shaka_packager() -> Option<PathBuf> {
    named_by("SHAKA_PACKAGER").or_else(|| {
        let cached = repository().join(".cache/bin/packager");
        if cached.is_file() { Some(cached) } else { on_search_path("packager") }
    })
}

/// The `ffmpeg` named by `FFMPEG`, or the one on the search path.
#[must_use]
pub fn ffmpeg() -> Option<PathBuf> {
    named_by("FFMPEG").or_else(|| on_search_path("ffmpeg"))
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

    #[test]
    fn clips_that_are_not_there_are_none() {
        assert!(codec_clip("no such clip.mp4").is_none());
    }
}
