//! What the tests of the command share.

pub(crate) use lanelock_testkit::Scratch as Dir;
pub(crate) use lanelock_testkit::boxes::all as boxes;
use lanelock_testkit::{
    boxes::{boxed, children},
    demo_clip,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

pub(crate) const KID: &str = "00112233445566778899aabbccddeeff";
pub(crate) const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
pub(crate) const OTHER_KID: &str = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";
pub(crate) const OTHER_KEY: &str = "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf";
pub(crate) const SCHEMES: [&str; 4] = ["cenc", "cens", "cbc1", "cbcs"];

/// `KID:KEY`.
pub(crate) fn pair() -> String {
    format!("{KID}:{KEY}")
}

/// `OTHER_KID:OTHER_KEY`.
pub(crate) fn other_pair() -> String {
    format!("{OTHER_KID}:{OTHER_KEY}")
}

/// The command, without what the environment could add.
pub(crate) fn lanelock() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanelock"));
    command.env_remove("LANELOCK_KEYS").stdin(Stdio::null());
    command
}

/// The text that a command wrote to stderr.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs to success, and gives what it wrote to stdout.
pub(crate) fn succeed(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, stderr(&output));
    output.stdout
}

/// `lanelock encrypt INPUT OUTPUT --scheme SCHEME ARGS`.
pub(crate) fn encrypt_with(input: &Path, output: &Path, scheme: &str, args: &[&str]) {
    let mut command = lanelock();
    command.arg("encrypt").args([input, output]).args(["--quiet", "--scheme", scheme]).args(args);
    succeed(&mut command);
}

/// The same with one key for all tracks.
pub(crate) fn encrypt(input: &Path, output: &Path, scheme: &str) {
    encrypt_with(input, output, scheme, &["--key", &pair()]);
}

/// `lanelock decrypt INPUT OUTPUT --key KID:KEY`.
pub(crate) fn decrypt(input: &Path, output: &Path, pair: &str) {
    succeed(lanelock().arg("decrypt").args([input, output]).args(["--quiet", "--key", pair]));
}

/// Sizes and digests of the packets of a file, as ffmpeg sees them: of each stream, in order.
pub(crate) type Packets = Vec<Vec<String>>;

/// How ffmpeg reads a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// From the file.
    File,
    /// As from a pipe: ffmpeg 5.1 loses the `senc` of all fragments but the first when it can seek.
    Pipe,
}

/// The packets of the streams that `map` selects (`0`, `0:v`, `0:a`), decrypted if there is a key.
pub(crate) fn packets(
    ffmpeg: &Path,
    path: &Path,
    read: Read,
    key: Option<&str>,
    map: &str,
) -> Result<Packets, String> {
    let mut command = Command::new(ffmpeg);
    command.args(["-v", "error"]);
    read_arguments(&mut command, path, read, key);
    command.args(["-map", map, "-c", "copy", "-f", "framemd5", "-"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    if !output.status.success() {
        return Err(stderr(&output));
    }
    Ok(packets_in(&String::from_utf8(output.stdout).unwrap()))
}

/// The arguments by which ffmpeg reads a file as [`packets`] does.
pub(crate) fn read_arguments(command: &mut Command, path: &Path, read: Read, key: Option<&str>) {
    // Edit lists would drop packets.
    command.args(["-ignore_editlist", "1"]);
    if read == Read::Pipe {
        command.args(["-seekable", "0"]);
    }
    if let Some(key) = key {
        command.args(["-decryption_key", key]);
    }
    command.arg("-i").arg(path);
}

/// The packets in the output of ffmpeg's `framemd5`.
pub(crate) fn packets_in(text: &str) -> Packets {
    let mut streams: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<_> = line.split(',').map(str::trim).collect();
        if let (false, [stream, _, _, _, size, digest, ..]) = (line.starts_with('#'), &fields[..]) {
            let packets = streams.entry(stream.parse().unwrap()).or_default();
            packets.push(format!("{size} {digest}"));
        }
    }
    streams.into_values().collect()
}

/// Whether packets are the same, or where they begin to differ.
pub(crate) fn compare(ours: &Packets, theirs: &Packets) -> Result<(), String> {
    if ours.len() != theirs.len() {
        return Err(format!("{} streams, and not {}", ours.len(), theirs.len()));
    }
    for (stream, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        if let Some(at) = ours.iter().zip(theirs).position(|(a, b)| a != b) {
            return Err(format!("stream {stream}: packet {at} of {} differs", theirs.len()));
        }
        if ours.len() != theirs.len() {
            let (ours, theirs) = (ours.len(), theirs.len());
            return Err(format!("stream {stream}: {ours} packets, and not {theirs}"));
        }
    }
    Ok(())
}

/// Runs `command` to success, or gives its stderr.
pub(crate) fn attempt(command: &mut Command) -> Result<(), String> {
    let output = command.output().unwrap();
    if output.status.success() { Ok(()) } else { Err(stderr(&output)) }
}

/// The `senc` entries of all fragments, joined, without IVs if there are none.
pub(crate) fn senc_entries(bytes: &[u8]) -> Vec<u8> {
    boxes(bytes, *b"senc").into_iter().flat_map(|senc| senc[8..].to_vec()).collect()
}

/// Runs ffmpeg to success.
pub(crate) fn ffmpeg_makes(
    ffmpeg: &Path,
    before: &[&str],
    input: &Path,
    args: &[&str],
    output: &Path,
) {
    let mut command = Command::new(ffmpeg);
    command.args(["-v", "error", "-y"]).args(before).arg("-i").arg(input).args(args).arg(output);
    succeed(command.stdin(Stdio::null()));
}

pub(crate) const FRAGMENTED: &str = "+frag_keyframe+empty_moov+default_base_moof";

/// A fragmented file cut into its initialization segment and its media segments, without indexes.
pub(crate) fn segments(file: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut init, mut media): (Vec<u8>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    for (kind, payload) in children(file) {
        let whole = boxed(&kind, &[payload]);
        match (&kind, media.last_mut()) {
            (b"mfra" | b"sidx", _) => {}
            (b"moof", _) => media.push(whole),
            (_, None) => init.extend(whole),
            (_, Some(last)) => last.extend(whole),
        }
    }
    (init, media)
}

/// The demo without indexes: pipes give the same bytes for it as files.
pub(crate) fn without_indexes() -> Vec<u8> {
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    [init, media.concat()].concat()
}

/// Runs `command` with what `feed` writes to its standard input.
pub(crate) fn with_stdin(command: &mut Command, feed: impl FnOnce(ChildStdin) + Send) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| feed(stdin));
        child.wait_with_output().unwrap()
    })
}

/// Waits until a process has a handler for SIGTERM.
pub(crate) fn wait_for_handler(child: &Child) {
    const SIGTERM: u32 = 15;
    let status = format!("/proc/{}/status", child.id());
    for _ in 0..10_000 {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
        if mask >> (SIGTERM - 1) & 1 == 1 {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("no handler for SIGTERM");
}

/// A file system of its own, where this user may mount one.
pub(crate) struct Mounted(pub(crate) PathBuf);

impl Mounted {
    /// A file system in memory.
    pub(crate) fn tmpfs(dir: &Dir, size: &str) -> Option<Self> {
        Self::mount(dir, &["-t", "tmpfs", "-o", size, "lanelock-test"])
    }

    /// ext4 in a file of that many KiB.
    pub(crate) fn ext4(dir: &Dir, kib: usize) -> Option<Self> {
        let image = dir.file("image");
        fs::write(&image, vec![0; kib << 10]).unwrap();
        let image = image.to_str().unwrap();
        let make = format!("mkfs.ext4 -q -O ^has_journal -m 0 {image}");
        let made = Command::new("sh").args(["-c", &make]).output().unwrap().status.success();
        made.then(|| Self::mount(dir, &["-t", "ext4", "-o", "loop", image])).flatten()
    }

    fn mount(dir: &Dir, args: &[&str]) -> Option<Self> {
        let path = dir.file("mounted");
        fs::create_dir_all(&path).unwrap();
        let mount = Command::new("mount").args(args).arg(&path).output();
        mount.is_ok_and(|mount| mount.status.success()).then_some(Self(path))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.0.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name != "lost+found").collect()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

/// `sh -c SCRIPT` in front of the command, which is `"$@"` in it.
pub(crate) fn under(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_lanelock")]);
    command.env_remove("LANELOCK_KEYS").stdin(Stdio::null());
    command
}

/// A file that takes a while.
pub(crate) fn big(ffmpeg: &Path, dir: &Dir) -> PathBuf {
    looped(ffmpeg, dir, "400")
}

/// The video of the demo, again and again.
pub(crate) fn looped(ffmpeg: &Path, dir: &Dir, times: &str) -> PathBuf {
    let big = dir.file("big.mp4");
    let copy = ["-map", "0:v", "-c", "copy", "-movflags", FRAGMENTED];
    ffmpeg_makes(ffmpeg, &["-stream_loop", times], &demo_clip(), &copy, &big);
    big
}

/// Runs a command on the file `input`, and acts when something else in `dir` is open: then the run is under
/// way, and signals are watched.
pub(crate) fn once_it_writes(
    dir: &Dir,
    mut command: Command,
    input: &Path,
    act: impl FnOnce(&Child),
) -> Output {
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let descriptors = format!("/proc/{}/fd", child.id());
    let is_open = || {
        let open = fs::read_dir(&descriptors).into_iter().flatten().flatten();
        let mut paths = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        paths.any(|path| path.starts_with(dir.path()) && path != input)
    };
    let start = Instant::now();
    while !is_open() && start.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_micros(200));
    }
    act(&child);
    loop {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// What every call of Shaka Packager takes. A cache of 32 MiB for each output, the default, is most of its time for
/// a clip. Without any, version 3.8 hangs once in twenty runs.
pub(crate) const SHAKA_QUICKLY: [&str; 3] = ["--quiet", "--io_cache_size", "1048576"];

/// Shaka Packager's packaging of `input`, clear or not; one output for each of the `streams` (`video`,
/// `audio`), whose names begin with `name`.
pub(crate) fn shaka(
    packager: &Path,
    dir: &Dir,
    input: &Path,
    name: &str,
    streams: &[&str],
    args: &[&str],
) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new(packager);
    let outputs = shaka_descriptors(&mut command, dir, input, name, streams);
    command.args(args).args(SHAKA_QUICKLY).arg(format!("--temp_dir={}", dir.path().display()));
    attempt(&mut command).map(|()| outputs)
}

/// The arguments that tell Shaka Packager of a file and its outputs, which are returned.
pub(crate) fn shaka_descriptors(
    command: &mut Command,
    dir: &Dir,
    input: &Path,
    name: &str,
    streams: &[&str],
) -> Vec<PathBuf> {
    let mut outputs = Vec::new();
    for stream in streams {
        let output = dir.file(&format!("{name}.shaka.{stream}.mp4"));
        let (from, to) = (input.display(), output.display());
        command.arg(format!("in={from},stream={stream},output={to}"));
        outputs.push(output);
    }
    outputs
}

/// The key of [`pair`] for all tracks, as Shaka Packager takes it.
pub(crate) fn shaka_keys() -> String {
    format!("label=:key_id={KID}:key={KEY}")
}
