//! Folders for the files that a test writes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// An empty folder of its own for each test, in memory where that is possible;
/// it goes away with the value.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new folder.
    ///
    /// # Panics
    /// If it cannot be made.
    #[expect(clippy::new_without_default, reason = "it does more than to choose a value")]
    #[must_use]
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.into() } else { env::temp_dir() };
        let path = base.join(format!("lanelock-test-{}-{number}", process::id()));
        fs::create_dir_all(&path).expect("a folder for temporary files can be made");
        Self(path)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names in it, sorted.
    ///
    /// # Panics
    /// If the folder cannot be read.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder is there");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry.expect("an entry can be read"))).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A left-over folder among temporary files is no reason to fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_apart_and_go_away() {
        let (one, two) = (Scratch::new(), Scratch::new());
        assert_ne!(one.path(), two.path());
        fs::write(one.file("b"), "").expect("the folder takes a file");
        fs::write(one.file("a"), "").expect("the folder takes a file");
        assert_eq!(one.names(), ["a", "b"]);
        let path = one.path().to_path_buf();
        drop(one);
        assert!(!path.exists() && two.path().is_dir());
    }
}
