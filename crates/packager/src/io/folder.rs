//! Many objects that appear together: a folder of files, memory.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{self, IoSlice},
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    Finish, MemorySink, Sink,
    file::{is_gone, of_folder},
    sys,
};
use crate::Error;

/// Objects with names, which appear together when [`Folder::finish`] has returned; one that is dropped
/// before leaves nothing behind.
///
/// An implementation for an object store makes each object visible when it is finished, or some time
/// later: manifests are written last, and [`Folder::settle`] is called before each of them, so that what
/// they name is there.
pub trait Folder: Send + Sync {
    /// What the user calls it: for errors.
    fn name(&self) -> String;

    /// A new object. `path` is relative, of plain names with `/` between them.
    fn create(&self, path: &str) -> io::Result<Box<dyn Sink>>;

    /// Returns when the objects that were finished so far are there, or says why one is not. What is created
    /// next may name them.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }

    /// Makes all objects appear; each of them is finished. With `sync`, they must be safe from a loss of
    /// power first.
    fn finish(self: Box<Self>, sync: bool) -> io::Result<()>;
}

/// A folder of files that is written under a temporary name beside its place.
#[derive(Debug)]
pub struct FileFolder {
    path: PathBuf,
    temporary: PathBuf,
    made: Mutex<Made>,
}

/// What is in a folder, as paths below its temporary name. To take it away by them needs no open file, of
/// which there may be none left.
#[derive(Debug, Default)]
struct Made {
    /// Each behind the one that it is in.
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl FileFolder {
    /// A folder to be at `path`, where there must be none, or an empty one: the new one takes its place, so
    /// that it can be neither the current folder nor one where a file system is mounted.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |error| Error::Write { name: path.display().to_string(), error };
        // A link to a folder stays one.
        let (real, existing) = match fs::canonicalize(path) {
            Ok(real) => {
                let existing = fs::metadata(&real).map_err(fail)?;
                (real, Some(existing))
            }
            Err(error) if is_gone(&error) => (path.into(), None),
            Err(error) => return Err(fail(error)),
        };
        if let Some(existing) = &existing {
            if !existing.is_dir() {
                return Err(fail(io::Error::other("it is there, and is not a folder")));
            }
            if sys::read_dir(&real).map_err(fail)?.next().transpose().map_err(fail)?.is_some() {
                let what = "it is a folder with files in it; name a new or an empty one";
                return Err(fail(io::Error::other(what)));
            }
            refuse_fixed(&real).map_err(fail)?;
        } else if let Ok(target) = fs::read_link(&real) {
            let what = format!("it is a link to {}, which does not exist", target.display());
            return Err(fail(io::Error::new(io::ErrorKind::NotFound, what)));
        }
        let parent = match real.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = temporary_folder(parent).map_err(|error| fail(of_folder(&real, error)))?;
        let this = Self { path: real, temporary, made: Mutex::default() };
        if let Some(existing) = existing {
            fs::set_permissions(&this.temporary, existing.permissions()).map_err(fail)?;
        }
        Ok(this)
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a file into it, as `name`.
    pub fn copy(&self, from: &Path, name: &Path) -> io::Result<()> {
        let path = self.temporary.join(name);
        self.made().files.push(path.clone());
        fs::copy(from, path).map(drop)
    }

    /// A new file in it.
    pub fn file(&self, name: &Path) -> io::Result<FolderFile> {
        let path = self.temporary.join(name);
        let mut made = self.made();
        let mut folders: Vec<_> = path.ancestors().skip(1).collect();
        folders.truncate(name.components().count() - 1);
        for folder in folders.into_iter().rev() {
            if !made.folders.iter().any(|known| known == folder) {
                fs::create_dir(folder)?;
                made.folders.push(folder.into());
            }
        }
        let file = File::options().write(true).create_new(true).open(&path)?;
        made.files.push(path);
        Ok(FolderFile { name: self.path.join(name).display().to_string(), file })
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folder for FileFolder {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Sink>> {
        Ok(Box::new(self.file(Path::new(path))?))
    }

    fn finish(self: Box<Self>, sync: bool) -> io::Result<()> {
        if sync {
            sync_folders(&self.temporary)?;
        }
        fs::rename(&self.temporary, &self.path)?;
        *self.made() = Made::default();
        Ok(())
    }
}

impl Drop for FileFolder {
    fn drop(&mut self) {
        let Made { folders, files } = std::mem::take(&mut *self.made());
        for file in files {
            let _ = fs::remove_file(file);
        }
        for folder in folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
        // It is there no longer when it has got its name.
        let _ = fs::remove_dir(&self.temporary);
    }
}

/// A file of a [`FileFolder`], which appears with it.
#[derive(Debug)]
pub struct FolderFile {
    name: String,
    file: File,
}

impl Sink for FolderFile {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn expect(&self, bytes: u64) {
        sys::reserve(&self.file, bytes);
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        sys::write_all_at(&self.file, parts, offset)
    }

    fn finish(self: Box<Self>, finish: Finish) -> io::Result<()> {
        if self.file.metadata()?.len() != finish.len {
            self.file.set_len(finish.len)?;
        }
        if finish.sync { self.file.sync_all() } else { Ok(()) }
    }
}

/// Refuses a folder that no other can take the place of, or not without harm.
fn refuse_fixed(folder: &Path) -> io::Result<()> {
    let refuse = |what: &str| {
        Err(io::Error::other(format!(
            "{what}, and a new folder would take its place; name a folder in it, such as {}",
            folder.join("stream").display()
        )))
    };
    // The shell would be left in a folder that is there no longer.
    match fs::canonicalize(".") {
        Ok(current) if current == folder => return refuse("it is the current folder"),
        Ok(_) => {}
        // The current folder has no name any more.
        Err(error) if is_gone(&error) => {}
        Err(error) => return Err(error),
    }
    let is_mounted = match folder.parent() {
        Some(parent) => sys::device(folder)? != sys::device(parent)?,
        None => true,
    };
    if is_mounted { refuse("a file system is mounted there") } else { Ok(()) }
}

/// Makes a folder with a name that no other has.
fn temporary_folder(parent: &Path) -> io::Result<PathBuf> {
    let mut number: u32 = 0;
    loop {
        let path = parent.join(format!(".lanelock-{}-{number}.part", process::id()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the entries of a folder, and of those in it, safe from a loss of power.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in sys::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// A folder in memory. Clones share it: keep one to take the objects out.
#[derive(Clone, Default)]
pub struct MemoryFolder {
    objects: Arc<Mutex<BTreeMap<String, MemorySink>>>,
    finished: Arc<Mutex<bool>>,
}

impl MemoryFolder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the objects out, by their paths; none as long as they are not complete.
    pub fn into_objects(self) -> Option<BTreeMap<String, Vec<u8>>> {
        if !*self.finished.lock().unwrap_or_else(PoisonError::into_inner) {
            return None;
        }
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let objects = std::mem::take(&mut *objects).into_iter();
        objects.map(|(path, sink)| Some((path, sink.into_bytes()?))).collect()
    }
}

impl fmt::Debug for MemoryFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryFolder").finish_non_exhaustive()
    }
}

impl Folder for MemoryFolder {
    fn name(&self) -> String {
        "memory".into()
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Sink>> {
        let sink = MemorySink::new();
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.insert(path.into(), sink.clone()).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Box::new(sink))
    }

    fn finish(self: Box<Self>, _sync: bool) -> io::Result<()> {
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Ok(())
    }
}
