//! What the operating system gives: the only module that names one.

use std::{
    fs::{File, Metadata, Permissions},
    io::{self, IoSlice},
    os::unix::fs::{FileExt, MetadataExt, PermissionsExt},
};

use rustix::fs::{FallocateFlags, fallocate};

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

/// Takes room for a file of about `len` bytes, where that makes writing faster; its length stays. A
/// file system that cannot do it goes without.
pub(crate) fn reserve(file: &File, len: u64) {
    const TMPFS: rustix::fs::FsWord = 0x0102_1994; // TMPFS_MAGIC of linux/magic.h
    match rustix::fs::fstatfs(file) {
        // Its pages are zeroed first and written then: twice the work.
        Ok(system) if system.f_type == TMPFS => return,
        Ok(_) => {}
        Err(_) => return,
    }
    // Without room for an estimate there may be room for the file.
    let _ = fallocate(file, FallocateFlags::KEEP_SIZE, 0, len);
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
