//! Packages of thousands of segments take no more memory and no more descriptors than those of few:
//! 1,000 here, 10,000 in `make long`.
//!
//! The test runs in a process of its own, since memory is that of the process.

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use lanelock_packager::{
    EncryptOptions, Key, KeyMap, Quiet, Scheme, Selector,
    io::{FileFolder, FileSource, Folder, Sink},
    package::{Package, PackageOptions},
};
use lanelock_testkit::{Scratch, alone, ffmpeg, is_emulated, is_long, skip};

/// The most memory that the process may ever hold, in KiB.
const MOST: usize = 64 << 10;

/// The most files that may be open at once.
const MOST_OPEN: usize = 16;

/// What may be kept of a segment until the manifests are written, in bytes: sizes and times. Its media
/// is 5,000.
const OF_A_SEGMENT: usize = 256;

#[test]
fn memory_and_descriptors_do_not_grow() {
    if !alone(module_path!(), "memory_and_descriptors_do_not_grow") {
        return;
    }
    let Some(ffmpeg) = ffmpeg() else { return };
    if memory("VmRSS").is_none() {
        return skip("/proc/self/status is not there: memory is not measured");
    }
    if is_emulated() {
        return skip("the processor is emulated: memory is that of the emulator too");
    }
    let count = if is_long() { 10_000 } else { 1_000 };
    let scratch = Scratch::new();
    let [seed, input] = ["seed.mp4", "in.mp4"].map(|name| scratch.file(name));
    // Ten seconds with a key frame each half a second, over and over.
    let encode = "-f lavfi -i testsrc=s=128x72:r=24:d=10 -c:v libx264 -preset ultrafast -g 12";
    make(Command::new(&ffmpeg).args(encode.split(' ')).args(["-pix_fmt", "yuv420p"]).arg(&seed));
    let mut looped = Command::new(&ffmpeg);
    looped.args(["-stream_loop", &(count / 20 - 1).to_string(), "-i"]).arg(&seed);
    make(looped.args(["-c", "copy"]).arg(&input));

    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, Key::new([1; 16], [2; 16])).unwrap();
    let options = PackageOptions::new()
        .with_protection(Some(EncryptOptions::new(Scheme::Cbcs, keys)))
        .with_segment_duration(Duration::from_millis(500));
    let source = Arc::new(FileSource::open(&input).unwrap());
    let package = Package::new(vec![source], options, &Quiet).unwrap();
    let marks = Marks::default();
    let folder = FileFolder::create(&scratch.file("out")).unwrap();
    let folder = Watched { folder, below: scratch.path().into(), marks: marks.clone() };
    let summary = package.write(Box::new(folder), &Quiet).unwrap();
    assert_eq!(summary.tracks[0].segments, count);

    let marks = marks.lock().unwrap();
    let open = marks.iter().map(|mark| mark.open).max().unwrap();
    assert!((2..=MOST_OPEN).contains(&open), "{open} files are open at once");
    // The initialization segment, the segments, and then the manifests, which hang on their number.
    let of_segments = &marks[count / 10..=count];
    let early = of_segments[0].memory;
    let late = of_segments.iter().map(|mark| mark.memory).max().unwrap();
    let allowed = early + 1024 + count * OF_A_SEGMENT / 1024;
    assert!(late <= allowed, "memory grows from {early} KiB to {late} KiB");
    let most = memory("VmHWM").unwrap().max(late);
    assert!(most <= MOST, "{most} KiB of memory at most");
    eprintln!(
        "{count} segments: {open} files open; {early} to {late} KiB while writing, {most} at most"
    );
}

fn make(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A figure of this process in KiB, from `/proc/self/status`.
fn memory(name: &str) -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// What the process holds when an object is created.
struct Mark {
    memory: usize,
    /// Open files below the folder of the test.
    open: usize,
}

type Marks = Arc<Mutex<Vec<Mark>>>;

struct Watched {
    folder: FileFolder,
    below: Box<Path>,
    marks: Marks,
}

impl Folder for Watched {
    fn name(&self) -> String {
        self.folder.name()
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Sink>> {
        let sink = self.folder.create(path)?;
        let links = fs::read_dir("/proc/self/fd")?
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        let open = links.filter(|link| link.starts_with(&self.below)).count();
        let memory = memory("VmRSS").ok_or(io::ErrorKind::NotFound)?;
        self.marks.lock().unwrap().push(Mark { memory, open });
        Ok(sink)
    }

    fn finish(self: Box<Self>, sync: bool) -> io::Result<()> {
        Box::new(self.folder).finish(sync)
    }
}
