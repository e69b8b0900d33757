//! A file while it is written: without a name where that is possible, under a temporary one elsewhere.

use std::{
    fs::{File, Permissions},
    io::{self, Seek},
    path::{Path, PathBuf},
};

use tempfile::{Builder, TempPath};

use super::sys;

/// A file that has its name when it is finished. Dropped before, it leaves nothing; when the process is
/// killed, neither does one without a name.
#[derive(Debug)]
pub(super) struct Unfinished {
    folder: PathBuf,
    file: File,
    /// Where file systems have no files without names (NFS, some FUSE): the temporary one.
    name: Option<TempPath>,
}

impl Unfinished {
    /// An empty file in `folder`.
    pub(super) fn new(folder: &Path, permissions: &Permissions) -> io::Result<Self> {
        match sys::unnamed_file(folder, permissions) {
            Ok(file) => Ok(Self { folder: folder.into(), file, name: None }),
            // Whatever the reason is: if it is none of the file system, it comes again.
            Err(_) => Self::named(folder, permissions),
        }
    }

    fn named(folder: &Path, permissions: &Permissions) -> io::Result<Self> {
        // Not `tempfile_in`: its errors tell of the name, which the user did not choose, and hide the system's.
        let named = temporary_name().make_in(folder, |name| sys::named_file(name, permissions))?;
        let (file, name) = named.into_parts();
        Ok(Self { folder: folder.into(), file, name: Some(name) })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives it the name `path`, in its folder, also when another file has that name already. If it
    /// is to be on the disk before (`sync`), it is.
    pub(super) fn persist(self, path: &Path, sync: bool) -> io::Result<()> {
        if sync {
            self.file.sync_all()?;
        }
        if let Some(name) = self.name {
            return name.persist(path).map_err(|error| error.error);
        }
        match sys::link(&self.file, path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return self.copy()?.persist(path, sync),
        }
        // A link cannot take the place of a file, but a file with a name can.
        match temporary_name().make_in(&self.folder, |name| sys::link(&self.file, name)) {
            Ok(linked) => linked.into_temp_path().persist(path).map_err(|error| error.error),
            Err(_) => self.copy()?.persist(path, sync),
        }
    }

    /// Gives it the name `path`, in its folder, if no other file has it. It is on the disk before.
    pub(super) fn persist_new(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        if let Some(name) = self.name {
            return name.persist_noclobber(path).map_err(|error| error.error);
        }
        match sys::link(&self.file, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                self.copy()?.persist_new(path)
            }
            result => result,
        }
    }

    /// The same under a temporary name: for a system that takes files without names, and then gives
    /// them none.
    fn copy(mut self) -> io::Result<Self> {
        let copy = Self::named(&self.folder, &self.file.metadata()?.permissions())?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut copy.file())?;
        // The user's mask has no part in it: it had one already, or the file is a replaced one.
        copy.file.set_permissions(self.file.metadata()?.permissions())?;
        Ok(copy)
    }
}

fn temporary_name() -> Builder<'static, 'static> {
    let mut name = Builder::new();
    name.prefix(".lanelock-").suffix(".part");
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_testkit::{Scratch, skip};
    use std::{
        fs,
        io::{Read, Write},
    };

    const NEW: &[u8] = b"what is there then";

    fn write(mut unfinished: Unfinished) -> Unfinished {
        unfinished.file.write_all(NEW).unwrap();
        unfinished
    }

    /// With and without a name, and copied from one to the other: all of them take a new name and that
    /// of a file, and leave nothing else.
    #[test]
    fn every_way_to_a_name() {
        type Make = fn(&Path) -> Option<Unfinished>;
        let named: Make = |folder| Unfinished::named(folder, &sys::new_file()).ok();
        let unnamed: Make = |folder| {
            let made = Unfinished::new(folder, &sys::new_file()).ok();
            made.filter(|made| made.name.is_none())
        };
        for (make, copy) in [(named, false), (unnamed, false), (unnamed, true)] {
            let scratch = Scratch::new();
            let path = scratch.file("out.mp4");
            for before in [None, Some("what was there")] {
                if let Some(before) = before {
                    fs::write(&path, before).unwrap();
                }
                let Some(unfinished) = make(scratch.path()) else {
                    skip("a file system without O_TMPFILE");
                    continue;
                };
                let mut unfinished = write(unfinished);
                if copy {
                    unfinished = unfinished.copy().unwrap();
                    assert!(unfinished.name.is_some());
                }
                unfinished.persist(&path, true).unwrap();
                assert_eq!(fs::read(&path).unwrap(), NEW);
                assert_eq!(scratch.names(), ["out.mp4"]);
            }
            drop(make(scratch.path()).map(write));
            assert_eq!(scratch.names(), ["out.mp4"], "dropped, it leaves something");
        }
    }

    /// Where a file is, `persist_new` leaves it, and nothing else.
    #[test]
    fn new_files_replace_none() {
        type Make = fn(&Path) -> io::Result<Unfinished>;
        let named: Make = |folder| Unfinished::named(folder, &sys::private_file());
        let any: Make = |folder| Unfinished::new(folder, &sys::private_file());
        for (make, copy) in [(named, false), (any, false), (any, true)] {
            let scratch = Scratch::new();
            let path = scratch.file("keys.txt");
            for before in [None, Some("what was there")] {
                if let Some(before) = before {
                    fs::write(&path, before).unwrap();
                }
                let mut unfinished = write(make(scratch.path()).unwrap());
                if copy {
                    unfinished = unfinished.copy().unwrap();
                }
                let result = unfinished.persist_new(&path);
                assert_eq!(scratch.names(), ["keys.txt"]);
                let there = fs::read(&path).unwrap();
                match before {
                    None => assert_eq!(there, NEW, "{result:?}"),
                    Some(before) => {
                        assert_eq!(there, before.as_bytes());
                        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
                    }
                }
            }
        }
    }

    #[test]
    fn a_copy_has_the_permissions() {
        let scratch = Scratch::new();
        let path = scratch.file("out.mp4");
        let unfinished = write(Unfinished::new(scratch.path(), &sys::new_file()).unwrap());
        let mut read_only = unfinished.file().metadata().unwrap().permissions();
        read_only.set_readonly(true);
        unfinished.file().set_permissions(read_only.clone()).unwrap();
        unfinished.copy().unwrap().persist(&path, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions(), read_only);
        let mut bytes = Vec::new();
        File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, NEW);
    }

    #[test]
    fn a_folder_that_went_away() {
        let scratch = Scratch::new();
        let folder = scratch.file("folder");
        fs::create_dir(&folder).unwrap();
        let unfinished = write(Unfinished::new(&folder, &sys::new_file()).unwrap());
        fs::remove_dir_all(&folder).unwrap();
        let error = unfinished.persist(&folder.join("out.mp4"), false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
    }
}
