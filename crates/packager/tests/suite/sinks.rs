//! Sinks and sources that fail, in every place: an error that names them, no output, nothing left
//! beside it; and what a file keeps when it is replaced.

use crate::io_support::{Fault, TestSink, Verb, cases, clip, decrypt_options, encrypt_options};
use lanelock_mp4::top_level;
use lanelock_packager::io::{
    FileFolder, FileSink, Finish, MemorySink, MemorySource, Sink, Source, WriteOrder,
};
use lanelock_packager::{
    Error, Layout, Observer, Quiet, Scheme, decrypt_file, decrypt_segment, encrypt_file,
    encrypt_segment,
};
use lanelock_testkit::{Scratch, Watchdog, is_long, skip};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const ORDERS: [WriteOrder; 3] = [WriteOrder::Any, WriteOrder::Sequential, WriteOrder::Once];

/// Each write fails once, and so does the end. Nothing is finished then, and an ordered sink gets no
/// write behind the hole.
#[test]
fn every_write_may_fail() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in cases() {
        let whole = verb.in_memory(&bytes, 1).unwrap();
        let source = MemorySource::new("memory", bytes);
        for order in ORDERS {
            for workers in [1, 3] {
                let case = format!("{name}, {order:?}, {workers} workers");
                watchdog.begins(case.clone());
                let good = TestSink::new(order, Fault::None);
                verb.run(&source, Box::new(good.clone()), workers)
                    .unwrap_or_else(|error| panic!("{case}: {error}"));
                let good = good.log.lock().unwrap();
                assert!(good.finished && good.bytes == whole, "{case}");
                let faults = (0..good.writes).map(Fault::Write).chain([Fault::Finish]);
                for fault in faults {
                    let sink = TestSink::new(order, fault);
                    let result = verb.run(&source, Box::new(sink.clone()), workers);
                    let log = sink.log.lock().unwrap();
                    let error = result.expect_err(&case);
                    assert!(matches!(error, Error::Write { .. }), "{case}, {fault:?}: {error}");
                    assert!(error.to_string().contains("the test sink: no "), "{case}: {error}");
                    assert!(!log.finished, "{case}, {fault:?}");
                    if order == WriteOrder::Sequential {
                        assert_eq!(log.late, 0, "{case}, {fault:?}");
                        assert!(whole.starts_with(&log.bytes), "{case}, {fault:?}");
                    }
                }
            }
        }
    }
}

/// Bytes in memory that cannot be read from an offset on.
struct BadSector<'a> {
    bytes: &'a [u8],
    bad: u64,
}

impl lanelock_mp4::ReadAt for BadSector<'_> {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if (offset..offset + buf.len() as u64).contains(&self.bad) {
            return Err(io::Error::other("bad sector"));
        }
        self.bytes.read_exact_at(buf, offset)
    }
}

impl Source for BadSector<'_> {
    fn name(&self) -> String {
        "the test source".into()
    }
}

/// A byte that cannot be read ends the run with an error, unless nothing of the output depends on it.
#[test]
fn every_read_may_fail() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in cases() {
        let whole = verb.in_memory(&bytes, 1).unwrap();
        let mut failed = 0;
        let step = if is_long() { 1 } else { 7 };
        for bad in (0..bytes.len()).step_by(step) {
            let workers = 1 + bad / step % 3;
            watchdog.begins(format!("{name}, byte {bad}"));
            let source = BadSector { bytes: &bytes, bad: bad as u64 };
            match verb.from(&source, workers) {
                Ok(output) => assert!(output == whole, "{name}: byte {bad} is not read"),
                Err(error) => {
                    failed += 1;
                    assert!(matches!(error, Error::Read { .. }), "{name}, byte {bad}: {error}");
                    let text = error.to_string();
                    assert!(text.contains("the test source: bad sector"), "{name}: {text}");
                }
            }
        }
        assert!(failed * step > bytes.len() * 3 / 4, "{name}: {failed} of {} bytes", bytes.len());
    }
}

/// Changes the source when the first piece is through.
struct Meddler<'a> {
    path: &'a Path,
    how: fn(&Path),
    done: AtomicBool,
}

impl Observer for Meddler<'_> {
    fn progress(&self, _: u64, _: u64) {
        if !self.done.swap(true, Ordering::Relaxed) {
            (self.how)(self.path);
        }
    }
}

#[test]
fn sources_that_change_while_they_are_read() {
    type How = fn(&Path);
    let hows: [(&str, How); 5] = [
        ("shrinks", |path| {
            OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap();
        }),
        ("by one byte", |path| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        }),
        ("grows", |path| {
            let mut file = OpenOptions::new().append(true).open(path).unwrap();
            file.write_all(b"more").unwrap();
        }),
        ("goes", |path| fs::remove_file(path).unwrap()),
        ("is replaced", |path| {
            let other = path.with_extension("other");
            fs::copy(path, &other).unwrap();
            fs::rename(other, path).unwrap();
        }),
    ];
    let scratch = Scratch::new();
    let [input, output] = ["in.mp4", "out.mp4"].map(|name| scratch.file(name));
    for name in ["avc_aac", "avc_aac.frag", "avc_aac.sidx"] {
        for (what, how) in hows {
            for layout in [Layout::Fragmented, Layout::Keep] {
                for workers in [1, 3] {
                    fs::write(&input, clip(name)).unwrap();
                    let meddler = Meddler { path: &input, how, done: AtomicBool::new(false) };
                    let options = encrypt_options(Scheme::Cbcs, layout, workers);
                    let error = encrypt_file(&input, &output, &options, &meddler).unwrap_err();
                    assert!(meddler.done.into_inner(), "{error}");
                    let text = error.to_string();
                    assert!(text.contains("in.mp4"), "{name} {what}: {text}");
                    let _ = fs::remove_file(&input);
                    assert_eq!(scratch.names(), [""; 0], "{name} {what}");
                }
            }
        }
    }
}

/// An initialization segment that has another version at the end, or of which that is not known.
struct Unsteady {
    init: MemorySource,
    change: Change,
}

type Change = fn() -> io::Result<Option<String>>;

impl lanelock_mp4::ReadAt for Unsteady {
    fn len(&self) -> u64 {
        self.init.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.init.read_exact_at(buf, offset)
    }
}

impl Source for Unsteady {
    fn name(&self) -> String {
        self.init.name()
    }

    fn change(&self) -> io::Result<Option<String>> {
        (self.change)()
    }
}

/// The segment is not finished then.
#[test]
fn initialization_segments_that_change_meanwhile() {
    let options = encrypt_options(Scheme::Cbcs, Layout::Keep, 1);
    let clear = clip("avc_aac.frag");
    let sealed = Verb::Encrypt(Scheme::Cbcs, Layout::Keep).in_memory(clear, 1).unwrap();
    let changes: [(Change, Option<&str>); 3] = [
        (|| Ok(None), None),
        (|| Ok(Some("it was written to".into())), Some("it was written to")),
        (|| Err(io::Error::other("no answer")), Some("no answer")),
    ];
    for (file, is_clear) in [(clear, true), (&sealed, false)] {
        let header = |kind| top_level(file).map(Result::unwrap).find(|header| header.kind == kind);
        let at = |offset| usize::try_from(offset).unwrap();
        let start = at(header(b"moof").unwrap().offset);
        let end = at(header(b"mdat").unwrap().end());
        let segment = MemorySource::new("1.m4s", &file[start..end]);
        for (change, expected) in changes {
            let init = Unsteady { init: MemorySource::new("init.mp4", &file[..start]), change };
            let sink = MemorySink::new();
            let boxed = Box::new(sink.clone());
            let result = if is_clear {
                encrypt_segment(&init, &segment, boxed, &options, &Quiet)
            } else {
                decrypt_segment(&init, &segment, boxed, &decrypt_options(1), &Quiet)
            };
            assert_eq!(sink.into_bytes().is_some(), expected.is_none(), "{result:?}");
            let said = result.err().map(|error| error.to_string());
            let fits =
                |said: &String| said.contains("init.mp4") && said.contains(expected.unwrap());
            assert_eq!(said.as_ref().map(fits), expected.map(|_| true), "{said:?}");
        }
    }
}

/// What cannot be looked at is not taken for a place that is free.
#[test]
fn a_folder_that_cannot_be_looked_at() {
    let scratch = Scratch::new();
    let circle = scratch.file("circle");
    symlink(&circle, &circle).unwrap();
    let error = FileFolder::create(&circle).unwrap_err().to_string();
    assert!(error.contains("circle") && error.contains("symbolic links"), "{error}");
    assert_eq!(scratch.names(), ["circle"]);
}

/// How many descriptors of this process are of files below a folder, with or without names.
fn open_below(folder: &Path) -> Option<usize> {
    let open = fs::read_dir("/proc/self/fd").ok()?;
    let paths = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    Some(paths.filter(|path| path.starts_with(folder)).count())
}

/// Interrupts before a piece.
struct Interrupt(AtomicUsize);

impl Observer for Interrupt {
    fn interrupted(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_err()
    }
}

/// A thousand runs, good and bad, leave no descriptor open and no file behind.
#[test]
fn a_thousand_runs_leave_nothing() {
    let watchdog = Watchdog::new();
    let scratch = Scratch::new();
    if open_below(scratch.path()).is_none() {
        return skip("/proc/self/fd is not there: open descriptors are not counted");
    }
    let [input, output, damaged] = ["in.mp4", "out.mp4", "damaged.mp4"].map(|n| scratch.file(n));
    fs::write(&input, clip("avc_aac.frag")).unwrap();
    fs::write(&damaged, &clip("avc_aac.frag")[..3000]).unwrap();
    let folder = scratch.file("folder");
    fs::create_dir(&folder).unwrap();
    for run in 0..1000 {
        watchdog.begins(format!("run {run}"));
        let options = encrypt_options(Scheme::ALL[run / 8 % 4], Layout::Keep, 1 + run / 8 % 3);
        let quiet = &Quiet;
        let good = match run % 8 {
            0 | 1 => encrypt_file(&input, &output, &options, quiet).is_ok(),
            2 => encrypt_file(&damaged, &output, &options, quiet).is_ok(),
            3 => decrypt_file(&input, &output, &decrypt_options(1), quiet).is_ok(),
            4 => encrypt_file(&input, &folder, &options, quiet).is_ok(),
            5 => encrypt_file(&input, &input, &options, quiet).is_ok(),
            6 => encrypt_file(&scratch.file("absent"), &output, &options, quiet).is_ok(),
            _ => {
                let interrupt = Interrupt(AtomicUsize::new(run / 8 % 3));
                let result = encrypt_file(&input, &output, &options, &interrupt);
                assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
                false
            }
        };
        assert_eq!(good, run % 8 < 2, "run {run}");
        if run % 100 == 99 {
            assert_eq!(open_below(scratch.path()), Some(0), "after run {run}");
            assert_eq!(scratch.names(), ["damaged.mp4", "folder", "in.mp4", "out.mp4"]);
        }
    }
}

/// A file with `bytes` by way of a sink.
fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let sink = FileSink::create(path, &[])?;
    sink.expect(1 << 20);
    sink.write_all_at(&mut [IoSlice::new(bytes)], 0).unwrap();
    let name = sink.name();
    Box::new(sink)
        .finish(Finish::new(bytes.len() as u64, false))
        .map_err(|error| Error::Write { name, error })
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn permissions_of_a_replaced_file_stay() {
    let scratch = Scratch::new();
    let path = scratch.file("out.mp4");
    let plain = scratch.file("plain");
    File::create(&plain).unwrap();
    put(&path, b"new").unwrap();
    assert_eq!(mode(&path), mode(&plain), "a new file is like any other");
    for wanted in [0o600, 0o640, 0o644, 0o666, 0o400, 0o755, 0o000] {
        fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
        put(&path, b"newer").unwrap();
        assert_eq!(mode(&path), wanted);
        assert_eq!(fs::metadata(&path).unwrap().len(), 5);
    }
    // Who runs what is replaced, runs it as himself.
    fs::set_permissions(&path, Permissions::from_mode(0o4755)).unwrap();
    put(&path, b"new").unwrap();
    assert_eq!(mode(&path), 0o755);
}

#[test]
fn symbolic_links_stay() {
    let scratch = Scratch::new();
    let [links, files] = ["links", "files"].map(|name| scratch.file(name));
    fs::create_dir(&links).unwrap();
    fs::create_dir(&files).unwrap();
    let (first, second, file) = (links.join("first"), links.join("second"), files.join("out.mp4"));
    symlink("second", &first).unwrap();
    symlink("../files/out.mp4", &second).unwrap();
    let names = |folder: &Path| {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect::<Vec<_>>()
    };
    // It leads to nothing, to a file, and to one that only its owner may read.
    for round in 0..3 {
        if round == 2 {
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        }
        put(&first, &[round; 9]).unwrap();
        for (link, to) in [(&first, "second"), (&second, "../files/out.mp4")] {
            assert_eq!(fs::read_link(link).unwrap(), Path::new(to));
        }
        assert_eq!(fs::read(&file).unwrap(), [round; 9]);
        assert_eq!(names(&files), ["out.mp4"]);
        assert_eq!(names(&links).len(), 2);
    }
    assert_eq!(mode(&file), 0o600);
    // By way of a link to the folder, and from a folder that is linked.
    let there = scratch.file("there");
    symlink("links", &there).unwrap();
    put(&there.join("first"), b"again").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"again");
    for (name, to) in [("loop", "loop"), ("nowhere", "no/such/folder"), ("folder", "../files")] {
        let path = links.join(name);
        symlink(to, &path).unwrap();
        let error = put(&path, b"").unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
    let [one, two] = ["one", "two"].map(|name| links.join(name));
    symlink("two", &one).unwrap();
    symlink("one", &two).unwrap();
    put(&one, b"").unwrap_err();
    assert_eq!(names(&files), ["out.mp4"]);
}

/// An open file that has lost its name.
#[test]
fn a_link_to_a_file_without_name() {
    let scratch = Scratch::new();
    let path = scratch.file("gone.mp4");
    let file = File::create(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
    if !Path::new(&link).exists() {
        return skip("/proc/self/fd is not there");
    }
    let error = put(Path::new(&link), b"new").unwrap_err();
    assert!(error.to_string().contains("no name"), "{error}");
    assert_eq!(scratch.names(), [""; 0]);
}

/// Names that come and go between the beginning and the end.
#[test]
fn names_that_change_meanwhile() {
    let scratch = Scratch::new();
    let path = scratch.file("out.mp4");
    let begin = || {
        let sink = FileSink::create(&path, &[]).unwrap();
        sink.write_all_at(&mut [IoSlice::new(b"new")], 0).unwrap();
        Box::new(sink)
    };
    let sink = begin();
    fs::write(&path, "another one was quicker").unwrap();
    sink.finish(Finish::new(3, false)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let sink = begin();
    fs::remove_file(&path).unwrap();
    sink.finish(Finish::new(3, false)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    fs::remove_file(&path).unwrap();
    let sink = begin();
    fs::create_dir(&path).unwrap();
    sink.finish(Finish::new(3, false)).unwrap_err();
    assert_eq!(scratch.names(), ["out.mp4"]);
}

/// As long as it is not finished there is no name: nobody has to clean up after kill -9.
#[test]
fn a_new_file_has_no_name_before_it_is_complete() {
    let scratch = Scratch::new();
    let sink = FileSink::create(&scratch.file("out.mp4"), &[]).unwrap();
    sink.write_all_at(&mut [IoSlice::new(b"new")], 0).unwrap();
    if !scratch.names().is_empty() {
        return skip("a file system without O_TMPFILE");
    }
    drop(sink);
    assert_eq!(scratch.names(), [""; 0]);
}
