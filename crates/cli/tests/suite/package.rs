//! `lanelock package`: it fails closed, and a job is what its command line is.

use crate::support::{
    Dir, KEY, Mounted, OTHER_KEY, big, boxes, encrypt, ffmpeg_makes, lanelock, once_it_writes,
    other_pair, pair, stderr, succeed, under,
};
use lanelock_testkit::{demo_clip, ffmpeg, skip, small_clip};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const IV: &str = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";
const VTT: &str = "WEBVTT\n\n00:00.000 --> 00:01.500\nHello, world\n";

/// The committed clip of that name.
fn clip(name: &str) -> PathBuf {
    small_clip(name).path
}

/// `lanelock package INPUTS -o OUTPUT`.
fn package<P: AsRef<OsStr>>(inputs: &[P], output: &Path) -> Command {
    let mut command = lanelock();
    command.arg("package").args(inputs).arg("-o").arg(output);
    command
}

/// The files in a folder and in those in it, by their paths.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = tree(&path).into_iter();
            files.extend(inner.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

/// Whether words are in what a failed run said, and keys are not.
fn says(command: &Command, run: &Output, code: i32, words: &[&str]) {
    let text = stderr(run);
    assert_eq!(run.status.code(), Some(code), "{command:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{command:?}: no {word:?} in: {text}");
    }
    for secret in [KEY, OTHER_KEY] {
        assert!(!text.contains(secret), "a key in: {text}");
    }
}

/// Runs the command with an output that does not exist, and with one that is an empty folder, and makes sure
/// that it fails and leaves all as it was.
fn fails<P: AsRef<OsStr>>(dir: &Dir, inputs: &[P], args: &[&str], code: i32, words: &[&str]) {
    let output = dir.file("stream");
    for existing in [false, true] {
        let _ = fs::remove_dir(&output);
        if existing {
            fs::create_dir(&output).unwrap();
            fs::set_permissions(&output, fs::Permissions::from_mode(0o750)).unwrap();
        }
        let before = dir.names();
        let mut command = package(inputs, &output);
        command.args(args);
        let run = command.output().unwrap();
        says(&command, &run, code, words);
        assert!(run.stdout.is_empty(), "{command:?}");
        assert_eq!(dir.names(), before, "{command:?}");
        if existing {
            assert_eq!(fs::read_dir(&output).unwrap().count(), 0, "{command:?}");
            assert_eq!(mode(&output), 0o750, "{command:?}");
        }
    }
    fs::remove_dir(&output).unwrap();
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension() == Some(OsStr::new(extension))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn protected() -> [String; 4] {
    ["--scheme".into(), "cbcs".into(), "--key".into(), pair()]
}

#[test]
fn misaligned_ladder() {
    let dir = Dir::new();
    let Some(ffmpeg) = ffmpeg() else { return };
    let [every, other] = ["every.mp4", "other.mp4"].map(|name| dir.file(name));
    for (output, distance) in [(&every, "12"), (&other, "15")] {
        let args = ["-an", "-c:v", "libx264", "-preset", "ultrafast", "-g", distance];
        let args =
            [&args[..], &["-keyint_min", distance, "-sc_threshold", "0", "-t", "3"]].concat();
        ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &args, output);
    }
    let name = other.display().to_string();
    let words = [&name[..], "track 1", "video-", "sync sample", " s"];
    fails(&dir, &[&every, &other], &["--clear", "all", "--segment", "1s"], 1, &words);
    // As long as all is one segment, there is nothing to align.
    let output = dir.file("stream");
    succeed(package(&[&every, &other], &output).args(["--clear", "all", "--segment", "60s", "-q"]));
}

#[test]
fn another_timescale_in_a_ladder() {
    let dir = Dir::new();
    let path = dir.file("other.mp4");
    let mut bytes = fs::read(clip("avc.mp4")).unwrap();
    let mdhd = bytes.windows(4).position(|kind| kind == b"mdhd").unwrap();
    // Version and flags, two times; then units per second.
    let timescale = mdhd + 4 + 12..mdhd + 4 + 16;
    let units = u32::from_be_bytes(bytes[timescale.clone()].try_into().unwrap());
    bytes[timescale].copy_from_slice(&(units + 1).to_be_bytes());
    fs::write(&path, bytes).unwrap();
    let name = path.display().to_string();
    let (own, other) = (units.to_string(), (units + 1).to_string());
    let words =
        [&name[..], "track 1 (avc1)", &own, &other, "units per second", "-video_track_timescale"];
    fails(&dir, &[clip("avc.mp4"), path], &["--clear", "all"], 1, &words);
}

/// Players do not switch between codecs, so each of them is a set of its own.
#[test]
fn another_codec_is_another_set() {
    let dir = Dir::new();
    let output = dir.file("stream");
    let mut command = package(&[clip("avc.mp4"), clip("hevc.mp4")], &output);
    let json = succeed(command.args(["--clear", "all", "--json"]));
    let summary: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        (&summary["tracks"][0]["set"], &summary["tracks"][1]["set"]),
        (&0.into(), &1.into())
    );
}

/// That nothing is protected must be said, and so must what is left out of the protection.
#[test]
fn tracks_without_scheme_or_key() {
    let dir = Dir::new();
    let path = clip("avc_aac.mp4");
    let name = path.display().to_string();
    let video = format!("video={}", pair());
    let text = dir.file("en.vtt");
    fs::write(&text, VTT).unwrap();
    let run = |args: &[&str], code, words: &[&str]| fails(&dir, &[&path], args, code, words);
    run(&[], 2, &["no protection scheme", "--scheme", "--clear all"]);
    run(&["--clear", "audio"], 2, &["no protection scheme"]);
    run(&["--key", &pair()], 2, &["--key is given, and no protection scheme"]);
    run(&["--clear", "all", "--drm", "widevine"], 2, &["--drm is given, and no protection scheme"]);
    run(&["--scheme", "cbcs"], 2, &["key"]);
    run(&["--scheme", "cbcs", "--key", &video], 1, &[&name, "track 2 (mp4a)", "--clear audio"]);
    run(
        &["--scheme", "cbcs", "--key", &pair(), "--clear", "all"],
        1,
        &[&name, "track 1 (avc1)", "it has a key and is to stay clear"],
    );
    run(
        &["--scheme", "cbcs", "--key", &pair(), "--clear", "hvc1"],
        2,
        &["hvc1", "selects no track"],
    );
    run(&["--scheme", "cens", "--key", &pair()], 2, &["cens", "--scheme", "cbcs, cenc"]);
    run(&["--scheme", "none", "--key", &pair()], 2, &["none", "--scheme"]);
    let pattern = ["--scheme", "cenc", "--key", &pair(), "--pattern", "1:9"];
    run(&pattern, 2, &["--pattern is for cbcs"]);
    fails(&dir, &[&text], &["--clear", "all"], 1, &["en.vtt", "text alone is no stream"]);
}

#[test]
fn protection_systems_that_cannot_be() {
    let dir = Dir::new();
    let path = [clip("avc.mp4")];
    let run = |more: &[&str], code, words: &[&str]| {
        let own = protected();
        let args: Vec<&str> = own.iter().map(String::as_str).chain(more.iter().copied()).collect();
        fails(&dir, &path, &args, code, words);
    };
    run(&["--drm", "widevin"], 2, &["'widevin'", "--drm", "widevine, playready, fairplay"]);
    run(&["--drm", "fairplay"], 2, &["FairPlay", "--skd"]);
    run(&["--drm", "fairplay", "--skd", "https://a"], 2, &["https://a", "skd://"]);
    run(&["--skd", "skd://a"], 2, &["--skd", "--drm"]);
    run(&["--laurl", "widevin=https://a"], 2, &["--laurl", "widevine, playready"]);
    run(&["--laurl", "https://a"], 2, &["--laurl", "clearkey=https://"]);
    run(
        &["--laurl", "widevine=https://a"],
        2,
        &["--laurl is for widevine", "--drm", "add widevine"],
    );
    run(&["--laurl", "widevine=a"], 2, &["\"a\" is no URL"]);
    run(&["--iv", KEY], 1, &["the IV is one of the keys", "--iv"]);
    run(&["--iv", "00"], 2, &["--iv", "16 or 32"]);
    let cenc = ["--scheme", "cenc", "--key", &pair(), "--drm", "fairplay", "--skd", "skd://a"];
    fails(&dir, &path, &cenc, 2, &["FairPlay plays cbcs alone"]);
}

/// What has been encrypted before is not packaged: the message names what can be done.
#[test]
fn encrypted_input() {
    let dir = Dir::new();
    let sealed = dir.file("sealed.mp4");
    for scheme in ["cbcs", "cenc"] {
        encrypt(&clip("avc_aac.mp4"), &sealed, scheme);
        let args = ["--scheme", "cbcs", "--key", &other_pair()];
        let words = [
            "sealed.mp4: track 1 (avc1)",
            "encrypted already",
            "lanelock decrypt",
            "lanelock rewrap",
        ];
        fails(&dir, &[&sealed], &args, 1, &words);
        fails(&dir, &[&sealed], &["--clear", "all"], 1, &words);
    }
}

#[test]
fn text_that_is_not_utf8() {
    let dir = Dir::new();
    let [vtt, ttml] = ["en.vtt", "en.ttml"].map(|name| dir.file(name));
    fs::write(&vtt, [VTT.as_bytes(), b"\n00:02.000 --> 00:03.000\ncaf\xe9\n"].concat()).unwrap();
    let start = b"<?xml version=\"1.0\"?><tt xmlns=\"http://www.w3.org/ns/ttml\"><body><div><p>caf";
    fs::write(&ttml, [&start[..], b"\xe9</p></div></body></tt>"].concat()).unwrap();
    for path in [vtt, ttml] {
        let name = path.display().to_string();
        let inputs = [clip("avc.mp4"), path];
        fails(&dir, &inputs, &["--clear", "all"], 1, &[&name, "UTF-8"]);
    }
}

#[test]
fn names_of_tracks_and_selections() {
    let dir = Dir::new();
    let inputs = [clip("avc.mp4"), clip("aac.mp4")];
    let first = inputs[0].display().to_string();
    let run = |args: &[&str], code, words: &[&str]| {
        fails(&dir, &inputs, &[&["--clear", "all"], args].concat(), code, words);
    };
    let two = ["--track", "type=video:name=one", "--track", "file=aac.mp4:name=one"];
    run(&two, 1, &["aac.mp4: track", "its name one is that of track 1 of", &first, "name=NAME"]);
    run(&["--track", ":name=a/b"], 1, &[&first, "\"a/b\" is no name"]);
    run(&["--track", "type=video:name=main"], 1, &["its name main is that of a manifest"]);
    run(&["--track", "type=video", "--track", "language=fr"], 2, &["number 2 (language=fr)"]);
    run(&["--track", "file=no.mp4"], 2, &["(file=no.mp4)", "lanelock inspect"]);
    run(&["--track", "id=9"], 2, &["(id=9)"]);
    run(&["--track", "id=x"], 2, &["\"x\" is no track ID"]);
    run(&["--track", "type=film"], 2, &["\"film\" is no type of tracks", "video, audio, text"]);
    run(&["--track", "kind=video"], 2, &["\"kind\" selects no tracks"]);
    run(&["--track", "type=video:colour=red"], 2, &["\"colour\""]);
    run(&["--track", "type=video:role=x"], 2, &["\"x\" is no role", "commentary"]);
    run(&["--dash", "none", "--hls", "none"], 2, &["at least one manifest"]);
    run(&["--dash", "../a.mpd"], 2, &["\"../a.mpd\" is no name of a manifest"]);
    run(&["--hls", "a.mpd"], 2, &["\"a.mpd\"", ".m3u8"]);
    run(&["--segment", "0"], 2, &["--segment", "above 0"]);
    run(&["--segment", "1ms"], 2, &["100 ms"]);
    run(&["--fragment", "9s"], 2, &["--fragment must be shorter"]);
}

/// Inputs that are no files of tracks: pictures of a stream that is made elsewhere, or live.
#[test]
fn inputs_that_are_out() {
    let dir = Dir::new();
    let made = dir.file("made");
    succeed(package(&[clip("avc.mp4")], &made).args(["--clear", "all", "-q"]));
    let transport = dir.file("a.ts");
    let packet = [&[0x47, 0x40, 0, 0x10][..], &[0xff; 184]].concat();
    fs::write(&transport, packet.repeat(4)).unwrap();
    let run = |input: &Path, code, words: &[&str]| {
        let name = input.display().to_string();
        fails(&dir, &[input], &["--clear", "all"], code, &[&[&name[..]], words].concat());
    };
    run(&transport, 1, &["MPEG transport stream", "ffmpeg"]);
    run(&made.join("manifest.mpd"), 1, &["it is a DASH manifest"]);
    run(&made.join("main.m3u8"), 1, &["it is an HLS playlist"]);
    run(&made.join("video-36p/1.m4s"), 1, &["media segment", "cat init.mp4"]);
    run(&made, 3, &["it is a folder", "nothing can be appended"]);
    run(Path::new("rtmp://a.example/live"), 2, &["is a URL", "fetch it first", "live"]);
    run(&dir.file("absent.mp4"), 3, &["cannot read"]);
    run(Path::new("/dev/zero"), 3, &["no regular file", "copy it"]);
    run(Path::new("-"), 2, &["standard input"]);
    let pipe = dir.file("pipe");
    succeed(Command::new("mkfifo").arg(&pipe));
    run(&pipe, 3, &["no regular file"]);
    let help = String::from_utf8(succeed(lanelock().args(["package", "--help"]))).unwrap();
    assert!(help.contains("Live streams, appending to a stream and MPEG-TS are not supported"));
}

#[test]
fn outputs_that_cannot_be() {
    let dir = Dir::new();
    let inner = dir.file("inner");
    fs::create_dir(&inner).unwrap();
    let (input, keys) = (inner.join("in.mp4"), inner.join("keys.txt"));
    fs::copy(clip("avc.mp4"), &input).unwrap();
    fs::write(&keys, pair()).unwrap();
    let link = dir.file("link");
    symlink("nowhere", &link).unwrap();
    let before = dir.names();
    let run = |output: &Path, words: &[&str]| {
        let mut command = package(&[&input], output);
        command.args(["--scheme", "cbcs", "--key-file"]).arg(&keys);
        let run = command.output().unwrap();
        let name = output.display().to_string();
        says(&command, &run, 3, &[&[&name[..]], words].concat());
        assert_eq!(dir.names(), before);
    };
    // Keys and inputs are safe: a folder that has them is not empty.
    run(&inner, &["a folder with files in it", "a new or an empty one"]);
    run(&input, &["not a folder"]);
    run(&input.join("stream"), &[]);
    run(&dir.file("no/such"), &["does not exist", "make the folder first"]);
    run(&link, &["it is a link to nowhere"]);
    run(Path::new("/dev/full"), &["not a folder"]);
    fs::remove_file(&link).unwrap();
    assert!(tree(&inner).len() == 2);
    let mut command = package(&[&input], Path::new("-"));
    let run = command.args(["--clear", "all"]).output().unwrap();
    says(&command, &run, 2, &["standard output (-) takes no stream"]);
    let mut command = lanelock();
    let run = command.arg("package").arg(&input).args(["--clear", "all"]).output().unwrap();
    says(&command, &run, 2, &["no output is given", "-o DIR"]);
    let mut command = lanelock();
    let run = command.args(["package", "-o", "x", "--clear", "all"]).output().unwrap();
    says(&command, &run, 2, &["no input is given"]);
}

/// A folder that is empty is taken, and stays what it was; a new one beside the inputs is fine, too.
#[test]
fn an_empty_folder_is_taken() {
    let dir = Dir::new();
    let output = dir.file("stream");
    fs::create_dir(&output).unwrap();
    fs::set_permissions(&output, fs::Permissions::from_mode(0o750)).unwrap();
    let link = dir.file("link");
    symlink("stream", &link).unwrap();
    succeed(package(&[clip("avc_aac.mp4")], &link).args(["--clear", "all", "-q", "--sync"]));
    assert_eq!(mode(&output), 0o750);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(dir.names(), ["link", "stream"]);
    assert!(tree(&output).contains_key("manifest.mpd"));
    // Manifests are the last files.
    let written = |name: &str| fs::metadata(output.join(name)).unwrap().modified().unwrap();
    let (media, manifests): (Vec<_>, Vec<_>) = tree(&output)
        .into_keys()
        .partition(|name| !has_extension(name, "mpd") && !has_extension(name, "m3u8"));
    let last = media.iter().map(|name| written(name)).max().unwrap();
    assert!(manifests.iter().all(|name| written(name) >= last));
    let mut command = package(&[clip("avc.mp4")], &output);
    let run = command.args(["--clear", "all"]).output().unwrap();
    says(&command, &run, 3, &["a folder with files in it"]);
}

/// A new folder takes the place of an empty one: where that cannot be, or would leave a shell in no folder, it
/// is found at once.
#[test]
fn folders_that_none_can_replace() {
    let dir = Dir::new();
    let output = dir.file("current");
    fs::create_dir(&output).unwrap();
    let names = [".", output.to_str().unwrap()];
    for name in names {
        let mut command = package(&[Path::new("no-such-file.mp4")], Path::new(name));
        let run = command.current_dir(&output).args(["--clear", "all"]).output().unwrap();
        let inner = output.join("stream").display().to_string();
        says(&command, &run, 3, &["it is the current folder", "name a folder in it", &inner]);
    }
    assert!(tree(&output).is_empty() && dir.names() == ["current"]);
    let Some(mounted) = Mounted::tmpfs(&dir, "size=1m") else {
        return skip("only root can mount a file system");
    };
    let mut command = package(&[Path::new("no-such-file.mp4")], &mounted.0);
    let run = command.args(["--clear", "all"]).output().unwrap();
    let inner = mounted.0.join("stream");
    let words = ["a file system is mounted there", "name a folder in it", inner.to_str().unwrap()];
    says(&command, &run, 3, &words);
    succeed(package(&[clip("avc.mp4")], &inner).args(["--clear", "all", "-q"]));
    assert!(tree(&inner).contains_key("manifest.mpd"));
}

/// Disks that are full at the first byte, in the middle and in the last manifest.
#[test]
fn full_disk() {
    let dir = Dir::new();
    let input = demo_clip();
    let whole = dir.file("whole");
    let args = ["--scheme", "cbcs", "--key", &pair(), "--iv", IV, "--quiet"];
    succeed(package(&[&input], &whole).args(args));
    let whole = tree(&whole);
    // tmpfs counts pages of files and of folders.
    let pages: usize = whole.values().map(|bytes| bytes.len().div_ceil(4096)).sum();
    for layout in ["segments", "single"] {
        let (mut good, mut bad) = (0, 0);
        for kib in [8, 64, 4 * pages / 2, 4 * pages - 8, 4 * pages + 512] {
            let Some(mounted) = Mounted::tmpfs(&dir, &format!("size={kib}k")) else {
                return skip("only root can mount a small file system to fill");
            };
            let output = mounted.0.join("stream");
            let mut command = package(&[&input], &output);
            command.args(args).args(["--layout", layout]);
            let run = command.output().unwrap();
            if run.status.success() {
                good += 1;
                assert!(layout == "single" || tree(&output) == whole);
                continue;
            }
            bad += 1;
            let name = output.display().to_string();
            says(&command, &run, 3, &["cannot write", &name, "No space left", "the disk is full"]);
            assert_eq!(mounted.names(), [""; 0], "{layout}, {kib} KiB");
        }
        assert!(good > 0 && bad > 2, "{layout}: {good} fit, {bad} do not");
    }
}

/// Of all files, the MPD is the largest: where only that is too large, all the media are written before.
#[test]
fn a_manifest_that_cannot_be_written() {
    let dir = Dir::new();
    let output = dir.file("stream");
    let inputs = [clip("aac.mp4"), clip("opus.mp4")];
    let args = ["--scheme", "cbcs", "--key", &pair(), "--segment", "100ms"];
    succeed(package(&inputs, &output).args(args).arg("--quiet"));
    let files = tree(&output);
    let largest = files.iter().filter(|(name, _)| *name != "manifest.mpd");
    let largest = largest.map(|(_, bytes)| bytes.len()).max().unwrap();
    let limit = largest.div_ceil(512);
    assert!(files["manifest.mpd"].len() > 512 * limit, "{largest}");
    fs::remove_dir_all(&output).unwrap();
    let before = dir.names();
    let mut command = under(&format!("ulimit -f {limit} && exec \"$@\""));
    command.arg("package").args(&inputs).arg("-o").arg(&output).args(args);
    let run = command.output().unwrap();
    says(&command, &run, 3, &["stream/manifest.mpd", "File too large"]);
    assert_eq!(dir.names(), before);
}

#[test]
fn interrupt() {
    let dir = Dir::new();
    let Some(ffmpeg) = ffmpeg() else { return };
    let big = big(&ffmpeg, &dir);
    let output = dir.file("stream");
    let before = dir.names();
    for (signal, layout) in [("-INT", "segments"), ("-TERM", "single"), ("-HUP", "segments")] {
        let mut interrupted = false;
        // The machine may be faster than we are.
        for _ in 0..20 {
            let mut command = package(&[&big], &output);
            command.args(protected()).args(["--workers", "1", "--layout", layout]);
            let run = once_it_writes(&dir, command, &big, |child| {
                succeed(Command::new("kill").args([signal, &child.id().to_string()]));
            });
            if run.status.success() {
                fs::remove_dir_all(&output).unwrap();
                continue;
            }
            assert_eq!(dir.names(), before, "something is left");
            assert_eq!(run.status.code(), Some(130), "{}", stderr(&run));
            assert!(stderr(&run).contains("interrupted"), "{}", stderr(&run));
            interrupted = true;
            break;
        }
        assert!(interrupted, "twenty runs were over before {signal}");
    }
}

#[test]
fn input_that_changes() {
    let dir = Dir::new();
    let Some(ffmpeg) = ffmpeg() else { return };
    let big = big(&ffmpeg, &dir);
    let output = dir.file("stream");
    let before = dir.names();
    let mut refused = false;
    // The machine may be faster than we are.
    for _ in 0..20 {
        let mut command = package(&[&big], &output);
        command.args(protected()).args(["--workers", "1"]);
        let run = once_it_writes(&dir, command, &big, |_| {
            let file = fs::File::options().append(true).open(&big).unwrap();
            std::io::Write::write_all(&mut &file, &[0, 0, 0, 8, b'f', b'r', b'e', b'e']).unwrap();
        });
        if run.status.success() {
            fs::remove_dir_all(&output).unwrap();
            continue;
        }
        assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
        let text = stderr(&run);
        let name = big.display().to_string();
        for word in [&name[..], "changed while it was read", "wait until it is complete"] {
            assert!(text.contains(word), "no {word:?} in: {text}");
        }
        assert_eq!(dir.names(), before);
        refused = true;
        break;
    }
    assert!(refused, "twenty runs were over before the input changed");
}

/// Inputs, keys and a job in `dir`, and all the options that a job may have but for `--job`.
fn everything(dir: &Dir) -> Vec<String> {
    fs::copy(clip("avc_aac.mp4"), dir.file("in.mp4")).unwrap();
    fs::write(dir.file("en.vtt"), VTT).unwrap();
    fs::write(dir.file("keys.txt"), format!("video={}\naudio={}\n", pair(), other_pair())).unwrap();
    let args = [
        "in.mp4 en.vtt -o stream --scheme cbcs --key-file keys.txt --pattern 1:9 --skd skd://a/{kid}",
        "--drm common,widevine,playready,fairplay,clearkey --laurl clearkey=https://a.example/k?a=b",
        "--laurl widevine=https://w.example/ --layout single --segment 1s --fragment 500ms --cmf2",
        "--trick-play --dash stream.mpd --hls all.m3u8 --dash-times timeline --text file --clear text",
        "--track type=video:name=film --track type=audio,id=2:language=de-AT,role=main,role=dub,default=yes",
        "--track file=en.vtt:language=en,label=English,accessibility=sdh,default=no --iv",
        IV,
    ];
    args.iter().flat_map(|line| line.split(' ')).map(Into::into).collect()
}

#[test]
fn a_job_is_its_command_line() {
    let dir = Dir::new();
    let args = everything(&dir);
    let run = |args: &[&str]| {
        let mut command = lanelock();
        succeed(command.current_dir(dir.path()).arg("package").args(args))
    };
    let own: Vec<&str> = args.iter().map(String::as_str).collect();
    run(&[&own[..], &["--quiet"]].concat());
    let made = tree(&dir.file("stream"));
    assert!(made.contains_key("stream.mpd") && made.contains_key("film.mp4"), "{:?}", made.keys());
    let before = dir.names();
    let job = run(&[&own[..], &["--print-job"]].concat());
    assert_eq!(dir.names(), before);
    let text = String::from_utf8(job.clone()).unwrap();
    fs::write(dir.file("job.toml"), &job).unwrap();
    assert_eq!(String::from_utf8(run(&["--job", "job.toml", "--print-job"])).unwrap(), text);
    // Paths are relative to the job: from elsewhere it is the same.
    fs::remove_dir_all(dir.file("stream")).unwrap();
    succeed(lanelock().args(["package", "--quiet", "--job"]).arg(dir.file("job.toml")));
    assert!(tree(&dir.file("stream")) == made);
    // The command line goes over the job.
    fs::remove_dir_all(dir.file("stream")).unwrap();
    run(&["--job", "job.toml", "-o", "other", "--dash", "other.mpd", "--quiet"]);
    let other = tree(&dir.file("other"));
    assert!(other["other.mpd"] == made["stream.mpd"] && other.len() == made.len());
    assert!(!dir.file("stream").exists());
}

#[test]
fn jobs_that_are_wrong() {
    let dir = Dir::new();
    let job = dir.file("job.toml");
    let name = job.display().to_string();
    let run = |text: &str, code, words: &[&str]| {
        fs::write(&job, text).unwrap();
        let mut command = lanelock();
        let run = command.args(["package", "--job"]).arg(&job).output().unwrap();
        says(&command, &run, code, &[&[&name[..]], words].concat());
        assert_eq!(stderr(&run).lines().count(), 2, "{}", stderr(&run));
        assert_eq!(dir.names(), ["job.toml"]);
    };
    let pair = pair();
    run("scheme = \"cbcs\"\nkye-file = \"x\"\n", 2, &["line 2", "`kye-file`", "`key-file`"]);
    run("input = 5\n", 2, &["line 1", "integer `5`"]);
    run("\n\nscheme = \"xxxx\"\n", 2, &["line 3", "`xxxx`"]);
    run("drm = [\"widevin\"]\n", 2, &["line 1", "playready"]);
    run("segment = \"long\"\n", 2, &["line 1", "a duration is"]);
    run("cmf2 = \"yes\"\n", 2, &["line 1", "expected a boolean"]);
    run("[laurl]\nx = \"https://a\"\n", 2, &["line 1", "playready"]);
    run("[[track]]\ntype = \"video\"\n[[track]]\nid = \"x\"\n", 2, &["line 4", "\"x\""]);
    run("[[track]]\n[track.set]\ncolour = \"red\"\n", 2, &["line 3", "`colour`"]);
    run("input = [\"a.mp4\"\n", 2, &["line"]);
    // Keys have no place in it.
    run(&format!("key = \"{pair}\"\n"), 2, &["line 1", "`key`"]);
    run(&format!("scheme = \"{KEY}\"\n"), 2, &["line 1"]);
    run(&format!("[laurl]\nclearkey = \"{KEY}\"\n"), 2, &["is no URL"]);
    run(&format!("[[track]]\n{KEY} = 1\n"), 2, &["line 2"]);
    let mut command = lanelock();
    let run = command.args(["package", "--job"]).arg(dir.file("absent.toml")).output().unwrap();
    says(&command, &run, 3, &["absent.toml"]);
    fs::write(&job, b"\xff").unwrap();
    let run = command.args(["package", "--job"]).arg(&job).output().unwrap();
    assert_ne!(run.status.code(), Some(0));
}

/// Keys stay hidden wherever they are given.
#[test]
fn keys_in_the_wrong_place() {
    let dir = Dir::new();
    let input = clip("avc.mp4");
    let output = dir.file("stream");
    let pair = pair();
    let wrong = [
        ["--laurl", &pair],
        ["--laurl", &format!("clearkey={pair}")],
        ["--track", &pair],
        ["--track", &format!("file={pair}")],
        ["--track", &format!(":name={pair}")],
        ["--track", &format!("language={KEY}")],
        ["--skd", &pair],
        ["--drm", &pair],
        ["--clear", &pair],
        ["--dash", &pair],
        ["--segment", KEY],
        ["--iv", &pair],
        ["--pssh", KEY],
        ["--key-file", &pair],
        ["--kye", &pair],
        ["--job", &pair],
    ];
    for args in wrong.iter().map(<[&str; 2]>::as_slice).chain([&[&pair[..]][..]]) {
        for more in [&[][..], &["--print-job"], &["--json"]] {
            let mut command = package(&[&input], &output);
            command.args(args).args(["--scheme", "cbcs"]).args(more);
            let run = command.env("LANELOCK_KEYS", other_pair()).output().unwrap();
            let all = [stderr(&run), String::from_utf8(run.stdout.clone()).unwrap()].concat();
            assert!(!run.status.success(), "{command:?}: {all}");
            assert!(!all.contains(KEY) && !all.contains(OTHER_KEY), "{command:?}: {all}");
            assert_eq!(dir.names(), [""; 0], "{command:?}");
        }
    }
    // In the right place they are not in the job either, which says so.
    let mut command = package(&[&input], &output);
    command.args(["--scheme", "cbcs", "--key", &pair, "--print-job"]);
    let job = String::from_utf8(succeed(&mut command)).unwrap();
    assert!(!job.contains(KEY) && job.contains("# key-file ="), "{job}");
}

/// Everything in a JSON object, by its names.
fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The names are what programs of others rely on: new ones may come, and none goes.
#[test]
fn json_and_dry_run() {
    let dir = Dir::new();
    let input = dir.file("in.mp4");
    fs::copy(clip("avc_aac.mp4"), &input).unwrap();
    let output = dir.file("stream");
    let json = |args: &[&str]| -> Value {
        let mut command = package(&[&input], &output);
        command.args(["--scheme", "cbcs", "--json", "--segment", "500ms"]).args(args);
        serde_json::from_slice(&succeed(command.env("LANELOCK_KEYS", pair()))).unwrap()
    };
    let planned = json(&["--dry-run"]);
    assert_eq!(dir.names(), ["in.mp4"]);
    let made = json(&[]);
    assert_eq!(
        names(&made),
        [
            "bytes_in",
            "bytes_out",
            "duration",
            "level",
            "manifests",
            "scheme",
            "seconds",
            "times",
            "tracks",
            "workers"
        ]
    );
    assert_eq!(
        names(&made["tracks"][0]),
        [
            "bitrate",
            "clear_segments",
            "codecs",
            "input",
            "iv",
            "kid",
            "kids",
            "kind",
            "label",
            "language",
            "longest_segment",
            "name",
            "scheme",
            "segments",
            "set",
            "track"
        ]
    );
    let files = tree(&output);
    let bytes: usize = files.values().map(Vec::len).sum();
    assert_eq!(made["bytes_out"], bytes);
    for (index, track) in made["tracks"].as_array().unwrap().iter().enumerate() {
        let name = track["name"].as_str().unwrap();
        let media = files.keys().filter(|path| path.starts_with(&format!("{name}/")));
        let media = media.filter(|path| has_extension(path, "m4s")).count();
        assert_eq!(track["segments"], media, "{name}");
        // The IV of the run is that of the initialization segment; a plan has none.
        let tenc = boxes(&files[&format!("{name}/init.mp4")], *b"tenc").remove(0);
        let iv = lanelock_testkit::hex(&tenc[tenc.len() - 16..]);
        assert_eq!(track["iv"], iv);
        assert_eq!(planned["tracks"][index]["iv"], Value::Null);
        for same in ["name", "segments", "codecs", "bitrate", "kid", "set", "longest_segment"] {
            assert_eq!(planned["tracks"][index][same], track[same], "{same}");
        }
    }
    assert_eq!(planned["manifests"], made["manifests"]);
    assert_eq!(json_of_dry_run_of_garbage(&dir, &input)["tracks"], planned["tracks"]);
}

/// A dry run reads no media: it does not find that they are garbage, which the run itself does.
fn json_of_dry_run_of_garbage(dir: &Dir, input: &Path) -> Value {
    let mut bytes = fs::read(input).unwrap();
    let mdat = bytes.windows(4).position(|kind| kind == b"mdat").unwrap();
    let size = u32::from_be_bytes(bytes[mdat - 4..mdat].try_into().unwrap()) as usize;
    bytes[mdat + 4..mdat - 4 + size].fill(0xff);
    fs::write(input, bytes).unwrap();
    let output = dir.file("garbage");
    let before = dir.names();
    let mut command = package(&[input], &output);
    command.args(["--scheme", "cbcs", "--segment", "500ms", "--json"]).env("LANELOCK_KEYS", pair());
    let run = command.output().unwrap();
    says(&command, &run, 1, &["access unit 1 at file offset", "NAL unit 0"]);
    let error: Value = serde_json::from_str(&stderr(&run)).unwrap();
    assert_eq!(names(&error), ["error", "hint"]);
    assert_eq!(dir.names(), before);
    let planned = succeed(command.arg("--dry-run"));
    assert_eq!(dir.names(), before);
    serde_json::from_slice(&planned).unwrap()
}

#[test]
fn quiet_and_verbose() {
    let dir = Dir::new();
    let output = dir.file("stream");
    let run = |args: &[&str]| {
        let _ = fs::remove_dir_all(&output);
        let mut command = package(&[clip("avc_aac.mp4")], &output);
        command.args(["--scheme", "cbcs"]).args(args).env("LANELOCK_KEYS", pair());
        let run = command.output().unwrap();
        assert!(run.status.success() && run.stdout.is_empty(), "{}", stderr(&run));
        stderr(&run)
    };
    assert_eq!(run(&["--quiet"]), "");
    let text = run(&[]);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("manifest.mpd and main.m3u8"), "{text}");
    let text = run(&["--verbose"]);
    let last = text.lines().last().unwrap();
    for word in ["worker", "plan ", "read ", "map ", "AES (", "write "] {
        assert!(last.contains(word), "no {word:?} in: {last}");
    }
    assert!(!last.contains("key check"), "{last}");
    let text = run(&["--dry-run", "--verbose"]);
    assert!(text.contains("nothing was written (--dry-run)"), "{text}");
    assert_eq!(dir.names(), [""; 0]);
}
