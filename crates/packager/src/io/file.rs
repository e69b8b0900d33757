//! Files: read at offsets, and written so that they appear whole or not at all.

use std::{
    fs::{self, File},
    io::{self, IoSlice},
    path::{Path, PathBuf},
};

use lanelock_mp4::ReadAt;

use super::{
    Finish, Sink, Source,
    sys::{self, Version},
    unfinished::Unfinished,
};
use crate::Error;

/// A regular file, open for reading.
#[derive(Debug)]
pub struct FileSource {
    name: String,
    /// Where it was opened; none if it was open already.
    path: Option<PathBuf>,
    file: File,
    opened: Version,
}

impl FileSource {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = || path.display().to_string();
        let fail = |error| Error::Read { name: name(), error: of_link(path, error) };
        // The type of the file is checked before opening: to open a FIFO blocks until there is a writer.
        if !fs::metadata(path).map_err(fail)?.is_file() {
            return Err(Error::NotAFile { name: name() });
        }
        let file = File::open(path).map_err(fail)?;
        let opened = Version::of(&file.metadata().map_err(fail)?);
        Ok(Self { name: name(), path: Some(path.into()), file, opened })
    }

    /// A file that is open already, under a name for errors.
    pub fn of(file: File, name: String) -> io::Result<Self> {
        let opened = Version::of(&file.metadata()?);
        Ok(Self { name, path: None, file, opened })
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.opened.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        sys::read_exact_at(&self.file, buf, offset)
    }
}

impl Source for FileSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn change(&self) -> io::Result<Option<String>> {
        let open = Version::of(&self.file.metadata()?);
        let named = match &self.path {
            Some(path) => fs::metadata(path).map(|metadata| Version::of(&metadata)),
            None => Ok(self.opened),
        };
        Ok(Some(if open.len != self.opened.len {
            format!("its size went from {} to {} bytes", self.opened.len, open.len)
        } else if open != self.opened {
            "it was written to".to_owned()
        } else {
            match named {
                Ok(named) if named == self.opened => return Ok(None),
                Ok(_) => "another file took its place".to_owned(),
                Err(error) if is_gone(&error) => "it was removed or renamed".to_owned(),
                Err(error) => return Err(error),
            }
        }))
    }
}

/// A file that appears under its name when it is finished, in place of the one that has it; then it
/// keeps the permissions of that one. A symbolic link stays, and the file it leads to is replaced or
/// made. Dropped before, it leaves nothing.
#[derive(Debug)]
pub struct FileSink {
    name: String,
    /// Where `name` leads.
    path: PathBuf,
    file: Unfinished,
}

impl FileSink {
    /// A file to be at `path`. It must not be one of `sources`, which are read meanwhile.
    pub fn create(path: &Path, sources: &[&FileSource]) -> Result<Self, Error> {
        let name = path.display().to_string();
        let fail = |error| Error::Write { name: path.display().to_string(), error };
        let replaced = match fs::metadata(path) {
            Ok(replaced) => Some(replaced),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(fail(of_folder(path, error))),
        };
        let path = follow(path).map_err(fail)?;
        if let Some(replaced) = &replaced {
            let version = Version::of(replaced);
            if sources.iter().any(|source| source.opened.is_same_file(version)) {
                return Err(Error::SameFile { name });
            }
            if replaced.is_dir() {
                return Err(fail(io::Error::other("it is a directory; name a file in it")));
            }
            if !replaced.is_file() {
                let what =
                    "it is not a regular file, and the output must be complete before it appears";
                return Err(fail(io::Error::other(what)));
            }
            // Links of /proc lead to open files, which may have lost their names.
            let found = match fs::symlink_metadata(&path) {
                Ok(found) => Some(Version::of(&found)),
                Err(error) if is_gone(&error) => None,
                Err(error) => return Err(fail(error)),
            };
            if !found.is_some_and(|found| found.is_same_file(version)) {
                let what = "it is an open file that has no name any more";
                return Err(fail(io::Error::other(what)));
            }
        }
        let permissions = if replaced.is_some() { sys::private_file() } else { sys::new_file() };
        let file = Unfinished::new(folder(&path), &permissions)
            .map_err(|error| fail(of_folder(&path, error)))?;
        if let Some(replaced) = &replaced {
            sys::keep_permissions(file.file(), replaced).map_err(fail)?;
        }
        Ok(Self { name, path, file })
    }
}

/// Writes a new file that its owner alone may read, for keys. It is there whole, and safe from a loss of
/// power, or not at all; one that is there already is not replaced.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Where there is one, keys are not even written to a temporary file.
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let file = Unfinished::new(folder(path), &sys::private_file())?;
    sys::write_all_at(file.file(), &mut [IoSlice::new(bytes)], 0)?;
    file.persist_new(path)
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// An error of the system that is about the folder of a file, in words that name it.
pub(super) fn of_folder(path: &Path, error: io::Error) -> io::Error {
    let (kind, folder) = (error.kind(), folder(path).display().to_string());
    match kind {
        io::ErrorKind::NotFound => {
            io::Error::new(kind, format!("the folder {folder} does not exist"))
        }
        io::ErrorKind::NotADirectory => io::Error::new(kind, format!("{folder} is not a folder")),
        _ => error,
    }
}

/// Whether an error says that there is nothing of a name.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The error of a link whose target is gone says so.
fn of_link(path: &Path, error: io::Error) -> io::Error {
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!("it is a link to {}, which does not exist", target.display());
            io::Error::new(error.kind(), what)
        }
        _ => error,
    }
}

/// The most symbolic links that one leads through, as in Linux.
const MOST_LINKS: usize = 40;

/// Where a name leads through symbolic links; there may be nothing yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            // It is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput || is_gone(&error) => {
                return Ok(path);
            }
            // It may be one, which must not be replaced itself.
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

impl Sink for FileSink {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn expect(&self, bytes: u64) {
        sys::reserve(self.file.file(), bytes);
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        sys::write_all_at(self.file.file(), parts, offset)
    }

    fn finish(self: Box<Self>, finish: Finish) -> io::Result<()> {
        let Self { path, file, .. } = *self;
        // Gives back the room behind it that was taken in advance.
        file.file().set_len(finish.len)?;
        file.persist(&path, finish.sync)
    }
}
