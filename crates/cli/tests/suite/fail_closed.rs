//! Whatever goes wrong: a failure by its exit code, words that name the file and the place, no
//! output, nothing left beside it, and an output that was there before stays as it was.

use crate::support::{
    Dir, FRAGMENTED, KEY, KID, Mounted, OTHER_KEY, OTHER_KID, SCHEMES, big, decrypt, encrypt,
    encrypt_with, ffmpeg_makes, lanelock, once_it_writes, other_pair, pair, stderr, succeed, under,
};
use lanelock_testkit::{demo_clip, ffmpeg, longest_clip as clip, skip};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BEFORE: &[u8] = b"what was there before";

/// Runs `lanelock VERB INPUT OUTPUT ARGS`, once where there is no output file and once where there is
/// one, and makes sure that it fails closed.
fn fails(dir: &Dir, verb: &str, input: &Path, args: &[&str], code: i32, words: &[&str]) {
    let output = dir.file("out.mp4");
    for existing in [false, true] {
        let _ = fs::remove_file(&output);
        if existing {
            fs::write(&output, BEFORE).unwrap();
        }
        let before = dir.names();
        let mut command = lanelock();
        command.arg(verb).args([input, &output]).args(args);
        let run = command.output().unwrap();
        let text = stderr(&run);
        assert_eq!(run.status.code(), Some(code), "{command:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{command:?}: no {word:?} in: {text}");
        }
        for secret in [KEY, OTHER_KEY] {
            assert!(!text.contains(secret), "a key in: {text}");
        }
        assert_eq!(dir.names(), before, "{command:?}");
        if existing {
            assert_eq!(fs::read(&output).unwrap(), BEFORE, "{command:?}");
        }
    }
    let _ = fs::remove_file(&output);
}

/// Encryption in all schemes and, where that makes a difference, both layouts.
fn encryption_fails(dir: &Dir, input: &Path, words: &[&str]) {
    let name = input.display().to_string();
    let words = [&[&name[..]], words].concat();
    for scheme in SCHEMES {
        for layout in ["fragmented", "keep"] {
            let args = ["--scheme", scheme, "--key", &pair(), "--layout", layout];
            fails(dir, "encrypt", input, &args, 1, &words);
        }
    }
}

fn decryption_fails(dir: &Dir, input: &Path, words: &[&str]) {
    let name = input.display().to_string();
    fails(dir, "decrypt", input, &["--key", &pair()], 1, &[&[&name[..]], words].concat());
}

/// Where the box of that type begins, the first of its kind, found by its type.
fn find(bytes: &[u8], kind: [u8; 4]) -> usize {
    bytes.windows(4).position(|window| window == kind).unwrap() - 4
}

/// The clip in fragments, written with ffmpeg.
fn fragmented(dir: &Dir, path: &Path) -> Option<PathBuf> {
    let ffmpeg = ffmpeg()?;
    let output = dir.file("fragmented.mp4");
    ffmpeg_makes(
        &ffmpeg,
        &[],
        path,
        &["-map", "0", "-c", "copy", "-movflags", FRAGMENTED],
        &output,
    );
    Some(output)
}

#[test]
fn truncated_fragmented_input() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let Some(whole) = fragmented(&dir, &path) else { return };
    let sealed = dir.file("sealed.mp4");
    encrypt(&whole, &sealed, "cenc");
    let cut = dir.file("cut.mp4");
    for (source, encrypted) in [(&whole, false), (&sealed, true)] {
        let bytes = fs::read(source).unwrap();
        let (moov, moof, mdat) =
            (find(&bytes, *b"moov"), find(&bytes, *b"moof"), find(&bytes, *b"mdat"));
        let places = [
            (moov + 3, "at byte"),
            (moov + 7, "at byte"),
            (moov + 400, "moov"),
            (moof + 30, "moof"),
            (moof + 4, "at byte"),
            (mdat + 5, "at byte"),
            (mdat + 500, "mdat"),
            (bytes.len() - 1, "at byte"),
        ];
        for (len, word) in places {
            fs::write(&cut, &bytes[..len]).unwrap();
            if encrypted {
                decryption_fails(&dir, &cut, &[word]);
            } else {
                encryption_fails(&dir, &cut, &[word]);
            }
        }
        // Before moov there is no file yet.
        for len in [0, 5, moov] {
            fs::write(&cut, &bytes[..len]).unwrap();
            decryption_fails(&dir, &cut, &[]);
            encryption_fails(&dir, &cut, &[]);
        }
    }
}

#[test]
fn truncated_progressive_input() {
    let path = clip("avc_aac.mp4");
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let whole = dir.file("faststart.mp4");
    let args = ["-map", "0", "-c", "copy", "-movflags", "+faststart"];
    ffmpeg_makes(&ffmpeg, &[], &path, &args, &whole);
    let cut = dir.file("cut.mp4");
    let sealed = dir.file("sealed.mp4");
    encrypt_with(&whole, &sealed, "cbcs", &["--key", &pair(), "--layout", "keep"]);
    for (source, encrypted) in [(&path, false), (&whole, false), (&sealed, true)] {
        let bytes = fs::read(source).unwrap();
        let (moov, mdat) = (find(&bytes, *b"moov"), find(&bytes, *b"mdat"));
        for len in [moov + 6, moov + 500, mdat + 6, mdat + 6_000, bytes.len() - 1] {
            fs::write(&cut, &bytes[..len]).unwrap();
            if encrypted {
                decryption_fails(&dir, &cut, &[]);
            } else {
                encryption_fails(&dir, &cut, &[]);
            }
        }
    }
    // The box headers of a file without its last fragment are whole: nothing can be said.
}

#[test]
fn truncated_inspection_and_what_is_no_mp4() {
    let path = clip("avc.mp4");
    let dir = Dir::new();
    let cut = dir.file("cut.mp4");
    let bytes = fs::read(&path).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let run = lanelock().arg("inspect").arg(&cut).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    assert!(stderr(&run).contains(&cut.display().to_string()), "{}", stderr(&run));
    let text = dir.file("text.mp4");
    fs::write(&text, "This is not an MP4 file, although it has its name.\n").unwrap();
    encryption_fails(&dir, &text, &[]);
    decryption_fails(&dir, &text, &[]);
    fs::write(&text, "").unwrap();
    encryption_fails(&dir, &text, &["the file is empty"]);
}

#[test]
fn a_track_without_key() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let key = format!("video={}", pair());
    let name = path.display().to_string();
    for scheme in SCHEMES {
        let words = [&name[..], "track 2", "mp4a", "--key audio=", "--clear audio"];
        fails(&dir, "encrypt", &path, &["--scheme", scheme, "--key", &key], 1, &words);
    }
    // A key for a track that is to stay clear; nothing to encrypt; a key for a track that is not
    // there.
    let args = ["--scheme", "cbcs", "--key", &key, "--clear", "video", "--clear", "audio"];
    fails(&dir, "encrypt", &path, &args, 1, &[&name, "track 1"]);
    let track = format!("9={}", pair());
    let args = ["--scheme", "cbcs", "--key", &track, "--clear", "all"];
    fails(&dir, "encrypt", &path, &args, 1, &[&name]);
}

#[test]
fn encrypted_input_is_not_encrypted_again() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let sealed = dir.file("sealed.mp4");
    for scheme in SCHEMES {
        for layout in ["fragmented", "keep"] {
            encrypt_with(&path, &sealed, scheme, &["--key", &pair(), "--layout", layout]);
            let words = ["track 1", "encrypted already", "lanelock decrypt"];
            encryption_fails(&dir, &sealed, &words);
        }
        // One track of two.
        encrypt_with(&path, &sealed, scheme, &["--key", &pair(), "--clear", "video"]);
        encryption_fails(&dir, &sealed, &["track 2", "encrypted already"]);
    }
}

#[test]
fn wrong_and_missing_kid() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let sealed = dir.file("sealed.mp4");
    let name = sealed.display().to_string();
    let dashes = "00112233-4455-6677-8899-aabbccddeeff";
    for scheme in SCHEMES {
        for layout in ["fragmented", "keep"] {
            encrypt_with(&path, &sealed, scheme, &["--key", &pair(), "--layout", layout]);
            let words = [&name[..], "track", dashes, "--key"];
            fails(&dir, "decrypt", &sealed, &["--key", &other_pair()], 1, &words);
        }
        // The key of one track of two.
        let keys = [format!("video={}", other_pair()), format!("audio={}", pair())];
        encrypt_with(&path, &sealed, scheme, &["--key", &keys[0], "--key", &keys[1]]);
        let words = [&name[..], "track 2", "mp4a", dashes];
        fails(&dir, "decrypt", &sealed, &["--key", &other_pair()], 1, &words);
    }
    // No key at all.
    fails(&dir, "decrypt", &sealed, &[], 2, &["key"]);
    fails(&dir, "encrypt", &path, &["--scheme", "cbcs"], 2, &["key"]);
}

#[test]
fn a_clear_file_is_not_decrypted() {
    let dir = Dir::new();
    for name in ["avc_aac.mp4", "hevc.mp4", "aac.mp4"] {
        let path = clip(name);
        decryption_fails(&dir, &path, &["nothing to decrypt"]);
        let Some(fragments) = fragmented(&dir, &path) else { continue };
        decryption_fails(&dir, &fragments, &["nothing to decrypt"]);
    }
}

#[test]
fn output_that_is_the_input() {
    let path = clip("avc.mp4");
    let dir = Dir::new();
    let input = dir.file("in.mp4");
    fs::copy(&path, &input).unwrap();
    let bytes = fs::read(&path).unwrap();
    let [soft, hard, dots] = ["soft.mp4", "hard.mp4", "./in.mp4"].map(|name| dir.file(name));
    symlink("in.mp4", &soft).unwrap();
    fs::hard_link(&input, &hard).unwrap();
    let before = dir.names();
    for (from, to) in [
        (&input, &input),
        (&input, &dots),
        (&input, &soft),
        (&soft, &input),
        (&input, &hard),
        (&hard, &soft),
    ] {
        for verb in ["encrypt", "decrypt"] {
            let mut command = lanelock();
            command.arg(verb).args([from, to]).args(["--key", &pair()]);
            if verb == "encrypt" {
                command.args(["--scheme", "cbcs"]);
            }
            let run = command.output().unwrap();
            assert_eq!(run.status.code(), Some(2), "{command:?}: {}", stderr(&run));
            let text = stderr(&run);
            assert!(text.contains("same file"), "{command:?}: {text}");
            assert!(text.contains(&to.display().to_string()), "{command:?}: {text}");
            assert_eq!(dir.names(), before, "{command:?}");
            assert!(fs::symlink_metadata(&soft).unwrap().is_symlink());
            assert!(fs::read(&input).unwrap() == bytes, "{command:?}: the input has changed");
        }
    }
}

/// Disks that are full at the first byte, at the last one, and between them: an output that fits is
/// there, also when the room that is taken in advance is not, and another one leaves nothing.
#[test]
fn full_disk() {
    let path = demo_clip();
    let dir = Dir::new();
    let sealed = dir.file("sealed.mp4");
    encrypt_with(&path, &sealed, "cbcs", &["--key", &pair(), "--layout", "keep"]);
    let runs: [(&Path, &[&str]); 3] = [
        (&path, &["encrypt", "--scheme", "cbcs", "--layout", "fragmented"]),
        (&path, &["encrypt", "--scheme", "cenc", "--layout", "keep"]),
        (&sealed, &["decrypt"]),
    ];
    let whole = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap() >> 10;
    for kind in ["tmpfs", "ext4"] {
        let (mut good, mut bad) = (0, 0);
        for kib in [64, whole / 2, whole - 64, whole + 192, whole + 512, whole + 4096] {
            let mounted = match kind {
                "ext4" => Mounted::ext4(&dir, kib.max(256)),
                _ => Mounted::tmpfs(&dir, &format!("size={kib}k")),
            };
            let Some(mounted) = mounted else {
                skip("only root can mount a small file system to fill, and ext4 needs mkfs.ext4");
                break;
            };
            let output = mounted.0.join("out.mp4");
            for (input, args) in runs {
                for existing in [true, false] {
                    let _ = fs::remove_file(&output);
                    if existing {
                        fs::write(&output, BEFORE).unwrap();
                    }
                    let mut command = lanelock();
                    command.args(args).args([input, &output]).args(["--key", &pair()]);
                    let run = command.output().unwrap();
                    let text = stderr(&run);
                    if run.status.success() {
                        good += 1;
                        assert_eq!(mounted.names(), ["out.mp4"], "{kind} of {kib} KiB");
                        // It is whole.
                        if args[0] == "encrypt" {
                            decrypt(&output, &dir.file("back.mp4"), &pair());
                        } else {
                            assert!(fs::read(&output).unwrap() == fs::read(&path).unwrap());
                        }
                        continue;
                    }
                    bad += 1;
                    assert_eq!(run.status.code(), Some(3), "{kind} of {kib} KiB: {text}");
                    for word in [&output.display().to_string()[..], "No space left", "hint"] {
                        assert!(text.contains(word), "no {word:?} in: {text}");
                    }
                    let left: &[&str] = if existing { &["out.mp4"] } else { &[] };
                    assert_eq!(mounted.names(), left, "{kind} of {kib} KiB: something is left");
                    if existing {
                        assert_eq!(fs::read(&output).unwrap(), BEFORE);
                    }
                }
            }
        }
        assert!(good == bad || good.min(bad) > 5, "{kind}: {good} fit and {bad} do not");
    }
}

/// A file that may not be so large: an error of the write, no signal that ends the process.
#[test]
fn file_size_limit() {
    let path = demo_clip();
    let dir = Dir::new();
    let output = dir.file("out.mp4");
    let blocks = fs::metadata(&path).unwrap().len() / 512;
    for limit in [0, 1, 16, blocks / 2, blocks - 1] {
        for workers in ["1", "3"] {
            for layout in ["fragmented", "keep"] {
                let mut command = under(&format!("ulimit -f {limit} && exec \"$@\""));
                command.arg("encrypt").args([&path, &output]).args(["--scheme", "cbcs"]);
                command.args(["--key", &pair(), "--layout", layout, "--workers", workers]);
                let run = command.output().unwrap();
                let text = stderr(&run);
                assert_eq!(run.status.code(), Some(3), "{:?} {text}", run.status);
                for word in ["out.mp4", "File too large"] {
                    assert!(text.contains(word), "no {word:?} in: {text}");
                }
                assert_eq!(dir.names(), [""; 0]);
            }
        }
    }
}

/// A limit for open files, from too few to enough: what the system says is passed on.
#[test]
fn few_open_files() {
    let path = clip("avc_aac.mp4");
    let (mut good, mut bad) = (0, 0);
    for limit in 4..12 {
        for verb in ["encrypt", "package"] {
            let dir = Dir::new();
            let mut command = under(&format!("ulimit -n {limit} && exec \"$@\""));
            command.current_dir(dir.path()).arg(verb).arg(&path).args(["-o", "out"]);
            let run = command.args(["--scheme", "cbcs", "--key", &pair()]).output().unwrap();
            let text = stderr(&run);
            if run.status.success() {
                good += 1;
                assert_eq!(dir.names(), ["out"]);
                continue;
            }
            bad += 1;
            assert_eq!(run.status.code(), Some(3), "{verb} with {limit}: {text}");
            assert!(text.contains("Too many open files"), "{verb} with {limit}: {text}");
            assert_eq!(dir.names(), [""; 0], "{verb} with {limit}");
        }
    }
    assert!(good > 0 && bad > 0, "{good} and {bad}");
}

/// Threads that cannot start are workers less.
#[test]
fn no_threads() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let [command_copy, input, output, back] =
        ["lanelock", "in.mp4", "out.mp4", "back.mp4"].map(|name| dir.file(name));
    // Root has no such limit; the user `nobody` has no other process.
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Not by this process: a program that is open for writing, in a child of another test, does not run.
    succeed(
        Command::new("sh")
            .args(["-c", "cp \"$@\"", "sh", env!("CARGO_BIN_EXE_lanelock")])
            .arg(&command_copy),
    );
    fs::copy(&path, &input).unwrap();
    fs::set_permissions(&input, fs::Permissions::from_mode(0o644)).unwrap();
    let nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \
                  prlimit --nproc=1 \"$@\"";
    let run = |args: &[&std::ffi::OsStr]| {
        let mut command = Command::new("sh");
        command.args(["-c", nobody, "sh"]).arg(&command_copy).args(args);
        command.env_remove("LANELOCK_KEYS").stdin(Stdio::null()).output().unwrap()
    };
    if !run(&["--version".as_ref()]).status.success() {
        return skip("only root can become a user without processes of his own (setpriv, prlimit)");
    }
    let pair = pair();
    let mut args = ["encrypt", "IN", "OUT", "--scheme", "cbcs", "--workers", "8", "--key", &pair]
        .map(std::ffi::OsStr::new);
    (args[1], args[2]) = (input.as_os_str(), output.as_os_str());
    let run = run(&args);
    assert!(run.status.success(), "{:?} {}", run.status, stderr(&run));
    decrypt(&output, &back, &pair);
}

/// Without /proc a file without name gets one in another way.
#[test]
fn no_proc() {
    let path = clip("avc.mp4");
    let dir = Dir::new();
    let output = dir.file("out.mp4");
    let hidden = "mount -t tmpfs lanelock-test /proc && test ! -e /proc/self && exec \"$@\"";
    let script = format!("exec unshare -m sh -c '{hidden}' sh \"$@\"");
    if !under(&script).arg("--version").output().unwrap().status.success() {
        return skip("only root can hide /proc");
    }
    for existing in [false, true] {
        assert_eq!(output.exists(), existing);
        let mut command = under(&script);
        command.arg("encrypt").args([&path, &output]);
        succeed(command.args(["--scheme", "cbcs", "--key", &pair()]));
        assert_eq!(dir.names(), ["out.mp4"]);
        decrypt(&output, &dir.file("back.mp4"), &pair());
        fs::remove_file(dir.file("back.mp4")).unwrap();
    }
}

/// A limit for the size of files is as good a reason for an error as a full disk.
#[test]
fn limit_for_file_sizes() {
    let dir = Dir::new();
    let output = dir.file("out.mp4");
    for layout in ["fragmented", "keep"] {
        fs::write(&output, BEFORE).unwrap();
        let before = dir.names();
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 100; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_lanelock")]);
        command.arg("encrypt").args([&demo_clip(), &output]).stdin(Stdio::null());
        command.args(["--scheme", "cbcs", "--key", &pair(), "--layout", layout]);
        let run = command.output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
        assert!(stderr(&run).contains(&output.display().to_string()), "{}", stderr(&run));
        assert_eq!(dir.names(), before);
        assert_eq!(fs::read(&output).unwrap(), BEFORE);
    }
}

#[test]
fn outputs_that_cannot_be() {
    let path = clip("avc.mp4");
    let dir = Dir::new();
    let folder = dir.file("folder");
    fs::create_dir(&folder).unwrap();
    let pipe = dir.file("pipe");
    succeed(Command::new("mkfifo").arg(&pipe));
    let before = dir.names();
    for output in [&folder, &dir.file("no/such/folder.mp4"), &pipe, Path::new("/dev/full")] {
        let mut command = lanelock();
        command.arg("encrypt").args([&path, output]).args(["--scheme", "cbcs", "--key", &pair()]);
        let run = command.output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{command:?}: {}", stderr(&run));
        assert!(stderr(&run).contains(&output.display().to_string()), "{}", stderr(&run));
        assert_eq!(dir.names(), before);
        assert!(folder.read_dir().unwrap().next().is_none());
    }
}

#[test]
fn inputs_that_cannot_be_read() {
    let dir = Dir::new();
    let folder = dir.file("folder");
    fs::create_dir(&folder).unwrap();
    let pipe = dir.file("pipe");
    succeed(Command::new("mkfifo").arg(&pipe));
    let absent = dir.file("absent.mp4");
    let (loops, forbidden) = (dir.file("loop"), dir.file("forbidden.mp4"));
    symlink("loop", &loops).unwrap();
    fs::write(&forbidden, "").unwrap();
    fs::set_permissions(&forbidden, fs::Permissions::from_mode(0o000)).unwrap();
    let mut inputs = vec![&*folder, &pipe, &absent, &loops, Path::new("/dev/zero")];
    if fs::File::open(&forbidden).is_err() {
        inputs.push(&forbidden);
    } else {
        skip("root may read what is forbidden");
    }
    for input in inputs {
        let words = [&input.display().to_string()[..]];
        fails(&dir, "encrypt", input, &["--scheme", "cenc", "--key", &pair()], 3, &words);
        fails(&dir, "decrypt", input, &["--key", &pair()], 3, &words);
        let run = lanelock().arg("inspect").arg(input).output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
    }
}

/// Encrypts a big file, and sends `signal` when the output is open: then the run is under way and the
/// signals are watched.
fn signalled(dir: &Dir, mut command: Command, big: &Path, output: &Path, signal: &str) -> Output {
    command.arg("encrypt").args([big, output]);
    command.args(["--scheme", "cbc1", "--key", &pair(), "--workers", "1"]);
    once_it_writes(dir, command, big, |child| {
        succeed(Command::new("kill").args([signal, &child.id().to_string()]));
    })
}

#[test]
fn interrupt() {
    let dir = Dir::new();
    let Some(ffmpeg) = ffmpeg() else { return };
    let big = big(&ffmpeg, &dir);
    let output = dir.file("out.mp4");
    for (signal, existing) in [("-INT", true), ("-TERM", false), ("-HUP", true), ("-HUP", false)] {
        let _ = fs::remove_file(&output);
        if existing {
            fs::write(&output, BEFORE).unwrap();
        }
        let before = dir.names();
        let mut interrupted = false;
        // The machine may be faster than we are.
        for _ in 0..20 {
            let run = signalled(&dir, lanelock(), &big, &output, signal);
            if run.status.success() {
                fs::remove_file(&output).unwrap();
                if existing {
                    fs::write(&output, BEFORE).unwrap();
                }
                continue;
            }
            assert_eq!(dir.names(), before, "something is left");
            assert_eq!(run.status.code(), Some(130), "{}", stderr(&run));
            assert!(stderr(&run).contains("interrupted"), "{}", stderr(&run));
            if existing {
                assert_eq!(fs::read(&output).unwrap(), BEFORE);
            }
            interrupted = true;
            break;
        }
        assert!(interrupted, "twenty runs were over before {signal}");
    }
}

/// `nohup` has a command ignore that its terminal goes away.
#[test]
fn hang_up_that_is_ignored() {
    let dir = Dir::new();
    let Some(ffmpeg) = ffmpeg() else { return };
    let big = big(&ffmpeg, &dir);
    let output = dir.file("out.mp4");
    let run = signalled(&dir, under("trap '' HUP; exec \"$@\""), &big, &output, "-HUP");
    assert!(run.status.success(), "{:?} {}", run.status, stderr(&run));
    assert_eq!(dir.names(), ["big.mp4", "out.mp4"]);
}

/// Whoever is killed cannot clean up: there is nothing to clean up.
#[test]
fn kill() {
    let dir = Dir::new();
    let Some(ffmpeg) = ffmpeg() else { return };
    let big = big(&ffmpeg, &dir);
    let output = dir.file("out.mp4");
    for existing in [false, true] {
        let _ = fs::remove_file(&output);
        if existing {
            fs::write(&output, BEFORE).unwrap();
        }
        let before = dir.names();
        let run = signalled(&dir, lanelock(), &big, &output, "-KILL");
        if run.status.success() {
            skip("the run was over before it could be killed");
            continue;
        }
        let left = dir.names();
        if left.iter().any(|name| name.starts_with(".lanelock-")) {
            return skip("a file system without O_TMPFILE");
        }
        assert_eq!(left, before);
        if existing {
            assert_eq!(fs::read(&output).unwrap(), BEFORE);
        }
    }
}

/// Damage in the media itself: the message has the track, the number of the access unit and its
/// place in the file.
#[test]
fn nal_length_beyond_the_access_unit() {
    for name in ["avc.mp4", "hevc.mp4"] {
        let path = clip(name);
        let dir = Dir::new();
        for fragments in [false, true] {
            let source = if fragments { fragmented(&dir, &path) } else { Some(path.clone()) };
            let Some(source) = source else { continue };
            let mut bytes = fs::read(&source).unwrap();
            // The first access unit begins the first mdat, and its first NAL unit has a length of
            // four bytes.
            let first = find(&bytes, *b"mdat") + 8;
            bytes[first] = 0x7f;
            let bad = dir.file("bad.mp4");
            fs::write(&bad, &bytes).unwrap();
            let place = format!("access unit 1 at file offset {first}");
            encryption_fails(&dir, &bad, &["track 1", &place, "NAL unit 0"]);
        }
    }
}

#[test]
fn samples_that_overlap() {
    let path = clip("avc.mp4");
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    // A second track that is the first one again, and then has its place, too.
    let twice = dir.file("twice.mp4");
    let args = ["-map", "0:v", "-map", "0:v", "-c", "copy"];
    ffmpeg_makes(&ffmpeg, &[], &path, &args, &twice);
    let mut bytes = fs::read(&twice).unwrap();
    let tables: Vec<_> = (4..bytes.len() - 4).filter(|&at| &bytes[at..at + 4] == b"stco").collect();
    assert_eq!(tables.len(), 2);
    let count = |at: usize| u32::from_be_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
    assert_eq!(count(tables[0]), count(tables[1]), "both have as many chunks");
    let len = 4 * count(tables[0]);
    bytes.copy_within(tables[0] + 12..tables[0] + 12 + len, tables[1] + 12);
    let bad = dir.file("bad.mp4");
    fs::write(&bad, &bytes).unwrap();
    let name = bad.display().to_string();
    // In place, they would be encrypted twice; in fragments of their own they may be.
    for scheme in SCHEMES {
        let args = ["--scheme", scheme, "--key", &pair(), "--layout", "keep"];
        fails(&dir, "encrypt", &bad, &args, 1, &[&name, "track 2", "offset"]);
    }
}

/// A box between moof and mdat that the offsets in moof do not account for: the first samples would
/// lie on the headers of boxes, which encryption would overwrite.
#[test]
fn samples_on_box_headers() {
    let path = clip("aac.mp4");
    let dir = Dir::new();
    let Some(source) = fragmented(&dir, &path) else { return };
    let mut bytes = fs::read(&source).unwrap();
    let mdat = find(&bytes, *b"mdat");
    let free = [&[0, 0, 0, 200][..], b"free", &[0; 192]].concat();
    bytes.splice(mdat..mdat, free);
    let bad = dir.file("bad.mp4");
    fs::write(&bad, &bytes).unwrap();
    let name = bad.display().to_string();
    for scheme in SCHEMES {
        let args = ["--scheme", scheme, "--key", &pair()];
        fails(&dir, "encrypt", &bad, &args, 1, &[&name, "track 1", "offset"]);
    }
}

/// The same IV and the same key for two tracks would be the same key stream twice; and chains would show
/// where they begin alike.
#[test]
fn an_iv_for_two_tracks() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let name = path.display().to_string();
    let [video, audio] = ["video", "audio"].map(|track| format!("{track}={}", pair()));
    for scheme in ["cenc", "cens", "cbc1"] {
        let ivs = ["00112233445566778899aabbccddeeff", "0011223344556677"];
        for iv in &ivs[..if scheme == "cbc1" { 1 } else { 2 }] {
            for keys in [vec![pair()], vec![video.clone(), audio.clone()]] {
                let mut args = vec!["--scheme", scheme, "--iv", iv];
                for key in &keys {
                    args.extend(["--key", key]);
                }
                fails(&dir, "encrypt", &path, &args, 1, &[&name, "track 2", "IV", "--iv"]);
            }
        }
    }
    // Two keys are fine, and so is one track.
    let other = format!("audio={}", other_pair());
    let iv = ["--iv", "0011223344556677"];
    let output = dir.file("out.mp4");
    encrypt_with(&path, &output, "cenc", &[&iv[..], &["--key", &video, "--key", &other]].concat());
    encrypt_with(
        &path,
        &output,
        "cenc",
        &[&iv[..], &["--key", &video, "--clear", "audio"]].concat(),
    );
    encrypt_with(&path, &output, "cbcs", &["--key", &pair(), "--iv", KID]);
    // cbc1 has no IV of 8 bytes.
    let args = ["--scheme", "cbc1", "--key", &pair(), "--iv", "0011223344556677"];
    fails(&dir, "encrypt", &path, &args, 1, &["cbc1", "16 bytes"]);
}

/// The same key under another KID is the same key.
#[test]
fn an_iv_for_two_tracks_with_one_key_under_two_kids() {
    let path = clip("avc_aac.mp4");
    let dir = Dir::new();
    let keys = [format!("video={}", pair()), format!("audio={OTHER_KID}:{KEY}")];
    for scheme in ["cenc", "cens"] {
        let args = ["--scheme", scheme, "--iv", "0011223344556677"];
        let args = [&args[..], &["--key", &keys[0], "--key", &keys[1]]].concat();
        fails(&dir, "encrypt", &path, &args, 1, &["track 2", "IV"]);
    }
}

/// Auxiliary information that does not fit its samples.
#[test]
fn damaged_protection() {
    let path = clip("avc.mp4");
    let dir = Dir::new();
    let [sealed, bad] = ["sealed.mp4", "bad.mp4"].map(|name| dir.file(name));
    for scheme in SCHEMES {
        for layout in ["fragmented", "keep"] {
            encrypt_with(&path, &sealed, scheme, &["--key", &pair(), "--layout", layout]);
            let bytes = fs::read(&sealed).unwrap();
            let senc = find(&bytes, *b"senc");
            // Clear bytes of the first subsample, the number of subsamples, the number of samples.
            let iv = match scheme {
                "cbc1" => 16,
                "cbcs" => 0,
                _ => 8,
            };
            for at in [senc + 16 + iv + 3, senc + 16 + iv + 1, senc + 15] {
                let mut broken = bytes.clone();
                broken[at] = broken[at].wrapping_add(1);
                fs::write(&bad, broken).unwrap();
                decryption_fails(&dir, &bad, &["senc", "at byte"]);
            }
        }
    }
}
