//! The input file, and an output that appears whole or not at all.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use lanelock_mp4::{ErrorKind, FileSource, ReadAt};
use tempfile::NamedTempFile;

use crate::Error;

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) source: FileSource,
    opened: Version,
}

/// What changes when a file is written to, or replaced by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    device: u64,
    inode: u64,
    len: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
}

impl Version {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let fail = |source| Error::Read { path: path.into(), source };
        // The type of the file is checked before opening: to open a FIFO blocks until there is a writer.
        if !fs::metadata(path).map_err(fail)?.is_file() {
            return Err(Error::NotAFile { path: path.into() });
        }
        let file = fs::File::open(path).map_err(fail)?;
        let opened = Version::of(&file.metadata().map_err(fail)?);
        let source = FileSource::new(file).map_err(fail)?;
        Ok(Self { path: path.into(), source, opened })
    }

    /// Refuses a file that was written to or replaced since it was opened: parts of it that were read
    /// at different times may not belong together.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        let fail = |source| Error::Read { path: self.path.clone(), source };
        let open = Version::of(&self.source.file().metadata().map_err(fail)?);
        let named = fs::metadata(&self.path).map(|metadata| Version::of(&metadata));
        let how = if open.len != self.opened.len {
            format!("its size went from {} to {} bytes", self.opened.len, open.len)
        } else if open != self.opened {
            "it was written to".to_owned()
        } else {
            match named {
                Ok(named) if named == self.opened => return Ok(()),
                Ok(_) => "another file took its place".to_owned(),
                Err(_) => "it was removed or renamed".to_owned(),
            }
        };
        Err(self.unsuitable(format!(
            "it changed while it was read: {how}; wait until it is complete, then start again"
        )))
    }

    pub(crate) fn len(&self) -> u64 {
        self.source.len()
    }

    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.source
            .read_exact_at(buffer, offset)
            .map_err(|source| Error::Read { path: self.path.clone(), source })
    }

    /// An error of the container, with the file's name.
    pub(crate) fn container(&self, source: lanelock_mp4::Error) -> Error {
        match source.kind() {
            ErrorKind::Io(error) => {
                let source = io::Error::new(error.kind(), error.to_string());
                Error::Read { path: self.path.clone(), source }
            }
            _ => Error::Container { path: self.path.clone(), source },
        }
    }

    /// The file is not one that can be processed.
    pub(crate) fn unsuitable(&self, reason: impl Into<String>) -> Error {
        Error::Unsuitable { path: self.path.clone(), reason: reason.into() }
    }
}

/// A temporary file beside the output. Dropped, it is removed.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: NamedTempFile,
    /// Held while writing. The kernel lets one thread at a time write to a file (the lock of its
    /// inode), and the others spin: to wait here instead takes a third off the CPU time, at the same
    /// speed.
    writing: Mutex<()>,
}

impl Output {
    pub(crate) fn create(path: &Path, input: &Input) -> Result<Self, Error> {
        let fail = |source| Error::Write { path: path.into(), source };
        if let Ok(existing) = fs::metadata(path) {
            let same = input.source.file().metadata().map_err(fail)?;
            if (existing.dev(), existing.ino()) == (same.dev(), same.ino()) {
                return Err(Error::SameFile { path: path.into() });
            }
            let kind = existing.file_type();
            if kind.is_dir() {
                return Err(fail(io::Error::other("it is a directory; name a file in it")));
            }
            if !kind.is_file() || kind.is_char_device() {
                let what =
                    "it is not a regular file, and the output must be complete before it appears";
                return Err(fail(io::Error::other(what)));
            }
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new()
            .prefix(".lanelock-")
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666)) // less the umask, like any new file
            .tempfile_in(directory)
            // Only the kind of the error: its text names the temporary file, which the user did not choose.
            .map_err(|error| fail(error.kind().into()))?;
        Ok(Self { path: path.into(), file, writing: Mutex::new(()) })
    }

    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.file.as_file().write_all_at(bytes, offset).map_err(|source| self.error(source))
    }

    /// Puts the output in place under its name.
    pub(crate) fn finish(self, sync: bool) -> Result<(), Error> {
        if sync {
            self.file.as_file().sync_all().map_err(|source| self.error(source))?;
        }
        let Self { path, file, .. } = self;
        match file.persist(&path) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Write { path, source: error.error }),
        }
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}
