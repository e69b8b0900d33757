//! What the operating system gives: the only module that names one.

use std::{
    fs::{self, File, Metadata, Permissions, ReadDir},
    io::{self, IoSlice},
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    },
    path::Path,
};

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, fallocate, linkat};

/// The file system that a file is on.
pub(crate) fn device(path: &Path) -> io::Result<u64> {
    Ok(fs::metadata(path)?.dev())
}

/// The entries of a folder. Other than [`fs::read_dir`], it goes on when it is interrupted.
pub(crate) fn read_dir(folder: &Path) -> io::Result<ReadDir> {
    loop {
        match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// What changes when a file is written to, or replaced by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    device: u64,
    inode: u64,
    pub(crate) len: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
}

impl Version {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Whether both are the same file, whatever is in it.
    pub(crate) fn is_same_file(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Permissions of a new file, less what the user's mask takes away.
pub(crate) fn new_file() -> Permissions {
    Permissions::from_mode(0o666)
}

/// Permissions of a file that only its owner may read.
pub(crate) fn private_file() -> Permissions {
    Permissions::from_mode(0o600)
}

/// Gives a file the permissions of the one that it is to replace, and its owner and group if the
/// process may. Nobody gets more than there was: without the group, its members are as all others.
pub(crate) fn keep_permissions(file: &File, replaced: &Metadata) -> io::Result<()> {
    let (owner, group) = (replaced.uid(), replaced.gid());
    if fchown(file, Some(owner), Some(group)).is_err() {
        let _ = fchown(file, None, Some(group));
    }
    let mut mode = replaced.mode() & 0o777;
    if file.metadata()?.gid() != group {
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    match file.set_permissions(Permissions::from_mode(mode)) {
        // Some file systems have the same permissions for all files, and change none.
        Err(error) if is_refused(&error) && file.metadata()?.mode() & 0o777 & !mode == 0 => Ok(()),
        result => result,
    }
}

/// Whether the system does not do such a thing, or not for this process.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

/// A file without a name, in the file system of `folder` (`O_TMPFILE`).
pub(crate) fn unnamed_file(folder: &Path, permissions: &Permissions) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(permissions.mode());
    Ok(rustix::fs::open(folder, flags, mode)?.into())
}

/// A new file with this name.
pub(crate) fn named_file(path: &Path, permissions: &Permissions) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).mode(permissions.mode()).open(path)
}

/// Gives a file without a name this one, if no other file has it.
pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW) {
        // Without /proc. Before Linux 6.10 it takes a privilege.
        Err(error) if error != rustix::io::Errno::EXIST => {
            Ok(linkat(file, "", CWD, path, AtFlags::EMPTY_PATH)?)
        }
        result => Ok(result?),
    }
}

/// Standard input, to be closed apart from it.
pub(crate) fn standard_input() -> io::Result<File> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Standard output, to be closed apart from it.
pub(crate) fn standard_output() -> io::Result<File> {
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

pub(crate) fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buf, offset)
}

/// The most parts that one call takes (`IOV_MAX`).
const MOST_PARTS: usize = 1024;

/// Writes the parts one behind the other.
pub(crate) fn write_all_at(
    file: &File,
    mut parts: &mut [IoSlice<'_>],
    mut offset: u64,
) -> io::Result<()> {
    IoSlice::advance_slices(&mut parts, 0); // takes empty parts away
    while !parts.is_empty() {
        let some = &parts[..parts.len().min(MOST_PARTS)];
        match rustix::io::pwritev(file, some, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                offset += written as u64;
                IoSlice::advance_slices(&mut parts, written);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Takes room for an empty file that gets about `len` bytes, where that makes writing faster; its length stays. A
/// file system that cannot do it goes without.
pub(crate) fn reserve(file: &File, len: u64) {
    const TMPFS: rustix::fs::FsWord = 0x0102_1994; // TMPFS_MAGIC of linux/magic.h
    match rustix::fs::fstatfs(file) {
        // Its pages are zeroed first and written then: twice the work.
        Ok(system) if system.f_type == TMPFS => return,
        Ok(_) => {}
        Err(_) => return,
    }
    // Without room for an estimate there may be room for the file. Some file systems have taken what
    // there was: others need it meanwhile.
    if fallocate(file, FallocateFlags::KEEP_SIZE, 0, len).is_err() {
        let _ = file.set_len(0);
    }
}

/// Where a file is read next; none for what has no place.
pub(crate) fn position(file: &File) -> Option<u64> {
    rustix::fs::tell(file).ok()
}

/// Waits a little for bytes to read; the end of a pipe counts as such.
pub(crate) fn is_readable(file: &File) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 })) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Makes a pipe hold more: fewer switches between the two who use it. The limit of the system may say
/// no, and other things than pipes do.
pub(crate) fn widen_pipe(file: &File) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, 1 << 20);
}
