//! Copies files the way the packager moves them, without parsing and encrypting: the floor of a whole
//! run, which `cp` is not.
//!
//! A file goes in pieces of 1 MiB, each read and written at its place by one of several threads. On
//! disk, the file system is asked for all blocks before the first write (the size of the input, a
//! 512th of it for metadata, and 1 MiB), and what is left over is cut off in the end; in tmpfs that
//! gains nothing and is left out. The copy is a temporary file until it is complete.
//!
//! A folder of files goes the way of `lanelock package`: the threads take the pieces of one file after
//! the other, and the copy is a temporary folder until it is complete.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use rustix::fs::{FallocateFlags, fallocate, fstatfs};

const HELP: &str = "\
Copies files the way the packager moves them, without encryption.

    lanelock-lab-copier [OPTIONS] IN OUT
    lanelock-lab-copier [OPTIONS] IN... -o DIR
    lanelock-lab-copier [--threads N] -r DIR NEWDIR

    --threads N   threads for a file (2)
    --turns       one write at a time
    --sync        the copy is on the disk before it appears under its name";

/// What a thread moves at once.
const PIECE: u64 = 1 << 20;

/// What `statfs` calls tmpfs (`TMPFS_MAGIC`).
const TMPFS: i128 = 0x0102_1994;

struct Options {
    folder: bool,
    threads: u64,
    turns: bool,
    sync: bool,
}

fn main() -> ExitCode {
    match parse(env::args_os().skip(1)).and_then(|(options, files)| {
        let copy = if options.folder { copy_folder } else { copy };
        files.iter().try_for_each(|(input, output)| {
            copy(input, output, &options)
                .map_err(|error| format!("{} to {}: {error}", input.display(), output.display()))
        })
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The options, and each input with its output.
fn parse(
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<(Options, Vec<(PathBuf, PathBuf)>), String> {
    let mut options = Options { folder: false, threads: 2, turns: false, sync: false };
    let (mut paths, mut folder) = (Vec::new(), None);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--threads") => {
                let count = arguments.next().and_then(|n| n.to_str()?.parse().ok());
                options.threads = count.filter(|n| *n > 0).ok_or("--threads needs a number")?;
            }
            Some("-r") => options.folder = true,
            Some("--turns") => options.turns = true,
            Some("--sync") => options.sync = true,
            Some("-o") => {
                folder = Some(PathBuf::from(arguments.next().ok_or("-o needs a folder")?))
            }
            Some(other) if other.starts_with('-') => return Err(HELP.into()),
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let files = match (folder, &mut paths[..]) {
        (None, [input, output]) => vec![(std::mem::take(input), std::mem::take(output))],
        (Some(folder), [_, ..]) => paths
            .into_iter()
            .map(|input| {
                let output = folder.join(input.file_name().unwrap_or_default());
                (input, output)
            })
            .collect(),
        _ => return Err(HELP.into()),
    };
    Ok((options, files))
}

fn copy(input: &Path, output: &Path, options: &Options) -> io::Result<()> {
    let source = File::open(input)?;
    let len = source.metadata()?.len();
    let part = Part::create(output)?;
    let preallocated = preallocate(&part.file, len)?;
    // Threads take the next piece when they are done with one.
    let (next, turn) = (AtomicU64::new(0), Mutex::new(()));
    let work = || -> io::Result<()> {
        let mut buffer = vec![0; PIECE.min(len) as usize];
        loop {
            let start = next.fetch_add(PIECE, Ordering::Relaxed);
            if start >= len {
                return Ok(());
            }
            let piece = &mut buffer[..PIECE.min(len - start) as usize];
            source.read_exact_at(piece, start)?;
            let _turn = options.turns.then(|| turn.lock().unwrap_or_else(PoisonError::into_inner));
            part.file.write_all_at(piece, start)?;
        }
    };
    on_threads(options.threads.min(len.div_ceil(PIECE)), work)?;
    if preallocated {
        part.file.set_len(len)?;
    }
    if options.sync {
        part.file.sync_all()?;
    }
    part.rename(output)
}

/// Does the work on this thread and as many others as make `threads`.
fn on_threads(threads: u64, work: impl Fn() -> io::Result<()> + Sync) -> io::Result<()> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let own = work();
        others.into_iter().fold(own, |result, thread| {
            result.and(thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked"))))
        })
    })
}

/// Copies a folder with the files and folders in it.
fn copy_folder(input: &Path, output: &Path, options: &Options) -> io::Result<()> {
    let part = Part::folder(output)?;
    let mut files = Vec::new();
    list(input, &part.path, &mut files)?;
    // The file whose pieces are handed out, which is closed with its last piece.
    let state = Mutex::new((files.into_iter(), None));
    let take = || -> io::Result<Option<(Arc<Pair>, u64)>> {
        let (files, current) = &mut *state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((pair, next)) =
                current.take_if(|(pair, next): &mut (Arc<Pair>, _)| *next < pair.len)
            {
                *current = Some((pair.clone(), next + PIECE));
                return Ok(Some((pair, next)));
            }
            let Some((input, output)) = files.next() else { return Ok(None) };
            *current = Some((Arc::new(Pair::open(&input, &output)?), 0));
        }
    };
    on_threads(options.threads, || {
        let mut buffer = vec![0; PIECE as usize];
        while let Some((pair, start)) = take()? {
            let piece = &mut buffer[..PIECE.min(pair.len - start) as usize];
            pair.source.read_exact_at(piece, start)?;
            pair.copy.write_all_at(piece, start)?;
        }
        Ok(())
    })?;
    part.rename(output)
}

/// Makes the folders, and lists each file with its copy.
fn list(input: &Path, output: &Path, files: &mut Vec<(PathBuf, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(input)? {
        let entry = entry?;
        let (from, to) = (entry.path(), output.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            list(&from, &to, files)?;
        } else {
            files.push((from, to));
        }
    }
    Ok(())
}

/// A file and its copy.
struct Pair {
    source: File,
    copy: File,
    len: u64,
}

impl Pair {
    fn open(input: &Path, output: &Path) -> io::Result<Self> {
        let source = File::open(input)?;
        let len = source.metadata()?.len();
        Ok(Self { source, copy: File::create_new(output)?, len })
    }
}

/// Asks for the blocks of the copy; says whether there are any to cut off later.
fn preallocate(file: &File, len: u64) -> io::Result<bool> {
    if i128::from(fstatfs(file)?.f_type) == TMPFS {
        return Ok(false);
    }
    // A file system that cannot do it, or has no room for that much, may still have room for the copy.
    Ok(fallocate(file, FallocateFlags::KEEP_SIZE, 0, len + len / 512 + (1 << 20)).is_ok())
}

/// A temporary file or folder beside the copy. Dropped before it has its name, it is removed.
struct Part<T> {
    path: PathBuf,
    file: T,
}

impl Part<File> {
    fn create(output: &Path) -> io::Result<Self> {
        let path = temporary(output);
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(Self { path, file })
    }
}

impl Part<()> {
    fn folder(output: &Path) -> io::Result<Self> {
        let path = temporary(output);
        fs::create_dir(&path)?;
        Ok(Self { path, file: () })
    }
}

fn temporary(output: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(output.file_name().unwrap_or(OsStr::new("copy")));
    name.push(format!(".{}.part", std::process::id()));
    output.with_file_name(name)
}

impl<T> Part<T> {
    fn rename(mut self, output: &Path) -> io::Result<()> {
        fs::rename(&self.path, output)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl<T> Drop for Part<T> {
    fn drop(&mut self) {
        if self.path != Path::new("") {
            // The error that led here says more than this one could.
            let _ = fs::remove_file(&self.path).or_else(|_| fs::remove_dir_all(&self.path));
        }
    }
}
