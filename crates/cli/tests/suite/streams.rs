//! Standard input and output as input and output.

use crate::support::{
    Dir, KEY, Read, SCHEMES, compare, lanelock, other_pair, packets, pair, segments, stderr,
    succeed, wait_for_handler, with_stdin, without_indexes,
};
use lanelock_testkit::{Rng, Watchdog, demo_clip, ffmpeg, longest_clip, script, skip};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const IV: &str = "5a000000000000000000000000000001";

/// Keys and IV that make the output the same every time.
fn fixed(scheme: &str) -> Vec<String> {
    let keys = [format!("video={}", pair()), format!("audio={}", other_pair())];
    let arguments = ["-q", "--scheme", scheme, "--iv", IV, "--key", &keys[0], "--key", &keys[1]];
    arguments.map(str::to_owned).to_vec()
}

/// The new keys, as fixed as the old ones.
fn to_keys() -> Vec<String> {
    let keys = [(1, "video"), (2, "audio")].map(|(digit, track)| {
        let digits = |digit: u8| digit.to_string().repeat(32);
        format!("{track}={}:{}", digits(digit), digits(digit + 2))
    });
    ["--to-key", &keys[0], "--to-key", &keys[1]].map(str::to_owned).to_vec()
}

/// How a pipe gives its bytes.
#[derive(Clone, Copy, Debug)]
enum Pace {
    AtOnce,
    /// Single bytes where the boxes begin, with pauses; then pieces of any size.
    Slowly,
}

fn feed(mut pipe: impl Write, bytes: &[u8], pace: Pace) {
    let mut rng = Rng::from_env("feed");
    let mut rest = bytes;
    while !rest.is_empty() {
        let done = bytes.len() - rest.len();
        let piece = match pace {
            Pace::AtOnce => rest.len(),
            Pace::Slowly if done < 3000 || rest.len() < 1000 => 1,
            Pace::Slowly => 1 + rng.below(20_000.min(rest.len())),
        };
        // Whoever reads may have seen enough.
        if pipe.write_all(&rest[..piece]).and_then(|()| pipe.flush()).is_err() {
            return;
        }
        if matches!(pace, Pace::Slowly) && (piece > 1 || done.is_multiple_of(100)) {
            thread::sleep(Duration::from_millis(1));
        }
        rest = &rest[piece..];
    }
}

/// Runs `lanelock VERB - - ARGS`.
fn through(verb: &str, args: &[String], input: &[u8], pace: Pace) -> Vec<u8> {
    let mut command = lanelock();
    command.args([verb, "-", "-"]).args(args);
    let output = with_stdin(&mut command, |pipe| feed(pipe, input, pace));
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    output.stdout
}

/// Runs `lanelock VERB INPUT OUTPUT ARGS` with files.
fn with_files(dir: &Dir, verb: &str, args: &[String], input: &[u8]) -> Vec<u8> {
    let [from, to] = ["from.mp4", "to.mp4"].map(|name| dir.file(name));
    fs::write(&from, input).unwrap();
    succeed(lanelock().arg(verb).args([&from, &to]).args(args));
    fs::read(&to).unwrap()
}

#[test]
fn pipes_give_what_files_give() {
    let watchdog = Watchdog::new();
    let dir = Dir::new();
    let clear = without_indexes();
    let keys = ["-q", "--key", &pair(), "--key", &other_pair()].map(str::to_owned);
    for scheme in SCHEMES {
        let encrypt = fixed(scheme);
        let sealed = with_files(&dir, "encrypt", &encrypt, &clear);
        let rewrap = [fixed("cbc1"), to_keys()].concat();
        let anew = with_files(&dir, "rewrap", &rewrap, &sealed);
        for pace in [Pace::AtOnce, Pace::Slowly] {
            watchdog.begins(format!("{scheme} {pace:?}"));
            assert!(through("encrypt", &encrypt, &clear, pace) == sealed, "{scheme} {pace:?}");
            assert!(through("decrypt", &keys, &sealed, pace) == clear, "{scheme} {pace:?}");
            assert!(through("rewrap", &rewrap, &sealed, pace) == anew, "{scheme} {pace:?}");
        }
    }
}

/// A random IV under cbcs, several threads and one, turns and little memory: all decrypt to the input.
#[test]
fn every_way_of_running() {
    let dir = Dir::new();
    let clear = without_indexes();
    for options in [
        &[][..],
        &["--workers", "1"],
        &["--workers", "7"],
        &["--memory", "1"],
        &["--memory", "1", "--workers", "3"],
    ] {
        let options = options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>();
        let keys = ["-q", "--key", &pair()].map(str::to_owned);
        let arguments = [&options[..], &keys].concat();
        for scheme in SCHEMES {
            let encrypt = [&arguments[..], &["--scheme".into(), scheme.into()]].concat();
            let sealed = through("encrypt", &encrypt, &clear, Pace::AtOnce);
            assert!(sealed != clear);
            let back = through("decrypt", &arguments, &sealed, Pace::AtOnce);
            assert!(back == clear, "{scheme} {options:?}");
            let turns = [&encrypt[..], &["--write-turns".into()]].concat();
            let sealed = with_files(&dir, "encrypt", &turns, &clear);
            let turns = [&arguments[..], &["--write-turns".into()]].concat();
            assert!(with_files(&dir, "decrypt", &turns, &sealed) == clear, "{scheme} {options:?}");
        }
    }
}

/// A file in the place of a pipe is read as a file: progressive ones, and indexes stay.
#[test]
fn redirected_files_are_files() {
    let dir = Dir::new();
    let output = dir.file("out.mp4");
    for path in [demo_clip(), longest_clip("avc_aac.mp4")] {
        for layout in ["fragmented", "keep"] {
            let args = [fixed("cbcs"), vec!["--layout".into(), layout.into()]].concat();
            let named = dir.file("named.mp4");
            succeed(lanelock().arg("encrypt").args([&path, &named]).args(&args));
            let redirected = || {
                let mut command = lanelock();
                command.arg("encrypt").arg("-").stdin(File::open(&path).unwrap());
                command
            };
            succeed(redirected().arg(&output).args(&args));
            assert!(fs::read(&output).unwrap() == fs::read(&named).unwrap(), "{layout}");
            let written = succeed(redirected().arg("-").args(&args));
            assert!(written == fs::read(&named).unwrap(), "{layout}, to standard output");
        }
    }
    // One that is read from the middle is not.
    let path = longest_clip("avc_aac.mp4");
    let mut file = File::open(&path).unwrap();
    file.seek(SeekFrom::Start(1)).unwrap();
    let mut command = lanelock();
    command.args(["encrypt", "-", "-"]).args(fixed("cbcs")).stdin(file);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    // The output is the file that is read.
    let input = dir.file("in.mp4");
    fs::copy(&path, &input).unwrap();
    let mut command = lanelock();
    command.args(["encrypt", "-"]).arg(&input).args(fixed("cbcs"));
    let run = command.stdin(File::open(&input).unwrap()).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("same file"), "{}", stderr(&run));
}

#[test]
fn pipes_need_fragments() {
    let dir = Dir::new();
    let bytes = fs::read(longest_clip("avc_aac.mp4")).unwrap();
    for output in ["-", dir.file("out.mp4").to_str().unwrap()] {
        let mut command = lanelock();
        command.args(["encrypt", "-", output]).args(fixed("cbcs"));
        let run = with_stdin(&mut command, |pipe| feed(pipe, &bytes, Pace::AtOnce));
        assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
        assert!(stderr(&run).contains("frag_keyframe+empty_moov"), "{}", stderr(&run));
        assert!(run.stdout.is_empty() && dir.names().is_empty());
    }
}

#[test]
fn pipes_that_are_cut_short() {
    let watchdog = Watchdog::new();
    let dir = Dir::new();
    let clear = without_indexes();
    let sealed = with_files(&dir, "encrypt", &fixed("cenc"), &clear);
    let output = dir.file("out.mp4");
    let before = dir.names();
    let keys = ["-q", "--key", &pair(), "--key", &other_pair()].map(str::to_owned);
    let rewrap = [fixed("cbcs"), to_keys()].concat();
    for (verb, args, bytes) in [
        ("encrypt", &fixed("cbcs")[..], &clear),
        ("decrypt", &keys, &sealed),
        ("rewrap", &rewrap, &sealed),
    ] {
        let (init, media) = segments(bytes);
        let first = init.len() + media[0].len();
        for len in [
            0,
            5,
            init.len() - 1,
            init.len() + 4,
            init.len() + 100,
            first - 1,
            first + 3,
            first + 12,
            bytes.len() - 1,
        ] {
            watchdog.begins(format!("{verb} {len}"));
            for to in ["-", output.to_str().unwrap()] {
                let mut command = lanelock();
                command.args([verb, "-", to]).args(args);
                let run = with_stdin(&mut command, |pipe| feed(pipe, &bytes[..len], Pace::AtOnce));
                assert_eq!(run.status.code(), Some(1), "{verb} {len}: {}", stderr(&run));
                assert!(stderr(&run).contains("standard input"), "{}", stderr(&run));
                assert_eq!(dir.names(), before);
                assert!(run.stdout.len() < bytes.len() + 3000);
            }
        }
    }
}

/// A signal ends a run that waits for more, and one whose output nobody reads.
#[test]
fn signals_end_runs_that_wait() {
    let watchdog = Watchdog::new();
    let dir = Dir::new();
    let clear = without_indexes();
    let output = dir.file("out.mp4");
    let keys = ["--key".to_owned(), pair()];
    for signal in ["-TERM", "-INT", "-HUP"] {
        for to in ["-", output.to_str().unwrap()] {
            for len in [0, 10, 100_000] {
                watchdog.begins(format!("{signal} {to} {len}"));
                let mut command = lanelock();
                command.args(["encrypt", "-", to, "--scheme", "cenc"]).args(&keys);
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                let mut child = command.spawn().unwrap();
                let mut pipe = child.stdin.take().unwrap();
                pipe.write_all(&clear[..len]).unwrap();
                wait_for_handler(&child);
                succeed(Command::new("kill").args([signal, &child.id().to_string()]));
                let run = child.wait_with_output().unwrap();
                drop(pipe);
                assert_eq!(run.status.code(), Some(130), "{signal} {to}: {}", stderr(&run));
                assert!(stderr(&run).contains("interrupted"), "{}", stderr(&run));
                assert!(dir.names().is_empty());
            }
        }
    }
    watchdog.begins("nobody reads");
    let (init, media) = segments(&clear);
    let long = [init, media.concat().repeat(20)].concat();
    let input = dir.file("in.mp4");
    fs::write(&input, long).unwrap();
    let mut command = lanelock();
    command.arg("encrypt").arg(&input).args(["-", "--scheme", "cenc"]).args(&keys);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut [0; 100]).unwrap();
    succeed(Command::new("kill").args(["-TERM", &child.id().to_string()]));
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(130), "{}", stderr(&run));
    assert!(stderr(&run).contains("not complete"), "{}", stderr(&run));
}

/// `nohup` ignores SIGHUP, and what it starts goes on.
#[test]
fn a_hangup_that_is_ignored() {
    let watchdog = Watchdog::new();
    watchdog.begins("nohup");
    let clear = without_indexes();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_lanelock")]);
    command.args(["encrypt", "-", "-"]).args(fixed("cenc"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait_for_handler(&child);
    succeed(Command::new("kill").args(["-HUP", &child.id().to_string()]));
    let pipe = child.stdin.take().unwrap();
    let run = thread::scope(|scope| {
        scope.spawn(|| feed(pipe, &clear, Pace::AtOnce));
        child.wait_with_output().unwrap()
    });
    assert!(run.status.success(), "{}", stderr(&run));
    assert!(run.stdout.len() > clear.len());
}

#[test]
fn a_reader_that_goes_away() {
    let watchdog = Watchdog::new();
    let clear = without_indexes();
    let dir = Dir::new();
    let sealed = with_files(&dir, "encrypt", &fixed("cbcs"), &clear);
    let keys = ["-q", "--key", &pair(), "--key", &other_pair()].map(str::to_owned);
    for (verb, args, bytes) in
        [("encrypt", &fixed("cbcs")[..], &clear), ("decrypt", &keys, &sealed)]
    {
        watchdog.begins(verb);
        let mut command = lanelock();
        command.args([verb, "-", "-"]).args(args);
        // The reader is gone before any other test's process can inherit it for a moment: all of the
        // output fits into a pipe.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        feed(child.stdin.take().unwrap(), bytes, Pace::AtOnce);
        let run = child.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
        let text = stderr(&run);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("error: cannot write standard output"), "{text}");
    }
}

#[test]
fn summaries_go_to_standard_error() {
    let clear = without_indexes();
    let mut command = lanelock();
    command.args(["encrypt", "-", "-", "--scheme", "cenc", "--json"]);
    command.env("LANELOCK_KEYS", pair());
    let run = with_stdin(&mut command, |pipe| feed(pipe, &clear, Pace::AtOnce));
    let summary: serde_json::Value = serde_json::from_str(&stderr(&run)).unwrap();
    assert_eq!(summary["bytes_in"], clear.len());
    assert_eq!(summary["bytes_out"], run.stdout.len());
    assert_eq!(summary["fragments"], 5);
    let mut command = lanelock();
    command.args(["encrypt", "-", "-", "--scheme", "cenc"]).env("LANELOCK_KEYS", pair());
    let run = with_stdin(&mut command, |pipe| feed(pipe, &clear, Pace::AtOnce));
    assert!(stderr(&run).contains("standard output: "), "{}", stderr(&run));
    // The clip with its index: a warning, and no index.
    let mut command = lanelock();
    command.args(["encrypt", "-", "-", "--scheme", "cenc"]).env("LANELOCK_KEYS", pair());
    let clip = fs::read(demo_clip()).unwrap();
    let run = with_stdin(&mut command, |pipe| feed(pipe, &clip, Pace::AtOnce));
    assert!(stderr(&run).contains("warning: indexes"), "{}", stderr(&run));
}

#[test]
fn inspection_of_a_pipe() {
    let dir = Dir::new();
    let clear = without_indexes();
    let sealed = with_files(&dir, "encrypt", &fixed("cenc"), &clear);
    let file = dir.file("in.mp4");
    for bytes in [&clear, &sealed, &fs::read(demo_clip()).unwrap()] {
        fs::write(&file, bytes).unwrap();
        let of_file = succeed(lanelock().arg("inspect").arg(&file).arg("--json"));
        for pace in [Pace::AtOnce, Pace::Slowly] {
            let mut command = lanelock();
            command.args(["inspect", "-", "--json"]);
            let run = with_stdin(&mut command, |pipe| feed(pipe, bytes, pace));
            assert!(run.status.success(), "{}", stderr(&run));
            assert!(run.stdout == of_file);
        }
        let (init, media) = segments(bytes);
        for len in [3, init.len() - 1, init.len() + media[0].len() - 1, init.len() + 20] {
            let mut command = lanelock();
            command.args(["inspect", "-"]);
            let run = with_stdin(&mut command, |pipe| feed(pipe, &bytes[..len], Pace::AtOnce));
            assert_eq!(run.status.code(), Some(1), "{len}: {}", stderr(&run));
        }
    }
    let mut command = lanelock();
    command.args(["inspect", "-", "--key", &pair()]);
    let run = with_stdin(&mut command, |pipe| feed(pipe, &sealed, Pace::AtOnce));
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("write it to a file first"), "{}", stderr(&run));
    let mut command = lanelock();
    command.args(["inspect", "-", "--json", "--key", &pair(), "--key", &other_pair()]);
    fs::write(&file, &sealed).unwrap();
    let json = succeed(command.stdin(File::open(&file).unwrap()));
    let report: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(report["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn wrong_command_lines() {
    let dir = Dir::new();
    let clip = demo_clip().to_str().unwrap().to_owned();
    let out = dir.file("out.mp4").to_str().unwrap().to_owned();
    let folder = format!("{}/", dir.file("out").display());
    let key = pair();
    for (arguments, word) in [
        (&["-", &out, "--key-file", "-"][..], "two things"),
        (&[&clip, "-", "--key", &key, "--sync"], "--sync"),
        (&[&clip, "-", "--key", &key, "--write-turns"], "--write-turns"),
        (&[&clip, "-", "-o", &folder, "--key", &key], "no name"),
        (&[&clip, &clip, "-o", "-", "--key", &key], "not a folder"),
        (&["-", "-o", &folder, "--key", &key], "no name"),
    ] {
        let run =
            lanelock().args(["encrypt", "--scheme", "cbcs"]).args(arguments).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", stderr(&run));
        assert!(stderr(&run).contains(word), "{}", stderr(&run));
        assert!(dir.names().is_empty() && run.stdout.is_empty());
    }
    let run = lanelock()
        .args(["rewrap", &clip, &out, "--scheme", "cbcs", "--key-file", "-", "--to-key-file", "-"])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
}

#[test]
fn terminals_are_refused() {
    let Some(script) = script() else { return };
    let dir = Dir::new();
    let clip = demo_clip();
    let program = env!("CARGO_BIN_EXE_lanelock");
    for (paths, word) in [
        (format!("'{}' -", clip.display()), "standard output is a terminal"),
        (format!("- '{}'", dir.file("out.mp4").display()), "standard input is a terminal"),
    ] {
        let line = format!("'{program}' encrypt {paths} --scheme cbcs --key {}", pair());
        let mut command = Command::new(&script);
        let run = command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.status.code(), Some(2), "{text}");
        assert!(text.contains(word), "{text}");
        assert!(text.len() < 1000 && dir.names().is_empty());
    }
}

/// A file system that is full is as good a reason for an error as for a file.
#[test]
fn standard_output_that_is_full() {
    let full = Path::new("/dev/full");
    let Ok(full) = File::options().write(true).open(full) else {
        return skip("there is no /dev/full");
    };
    let mut command = lanelock();
    command.arg("encrypt").arg(demo_clip()).arg("-").args(fixed("cbcs")).stdout(full);
    let run = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
    assert!(stderr(&run).contains("No space left"), "{}", stderr(&run));
    let open = || File::options().write(true).open("/dev/full").unwrap();
    for args in [&["--help"][..], &["--version"], &["man"], &["cpu", "--json"]] {
        let mut command = lanelock();
        let run = command.args(args).stdout(open()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{args:?}: {}", stderr(&run));
        assert!(
            stderr(&run).contains("standard output: No space left"),
            "{args:?}: {}",
            stderr(&run)
        );
    }
}

/// What is there is there: a summary for people that nobody can read is no failure, one for programs is.
#[test]
fn summaries_that_cannot_be_printed() {
    let full = || File::options().write(true).open("/dev/full");
    if full().is_err() {
        return skip("there is no /dev/full");
    }
    for (verb, output) in [("encrypt", "out.mp4"), ("package", "out")] {
        for (more, code) in [(&[][..], 0), (&["--json"], 3)] {
            let dir = Dir::new();
            let mut command = lanelock();
            command.arg(verb).arg(demo_clip()).arg("-o").arg(dir.file(output));
            command.args(fixed("cbcs").iter().filter(|argument| *argument != "-q")).args(more);
            let run = match code {
                0 => command.stderr(full().unwrap()).output().unwrap(),
                _ => command.stdout(full().unwrap()).output().unwrap(),
            };
            assert_eq!(run.status.code(), Some(code), "{verb}: {}", stderr(&run));
            assert_eq!(dir.names(), [output], "{verb}");
            assert!(code == 0 || stderr(&run).contains("standard output: No space left"));
        }
    }
}

/// Between two programs, as the help shows it.
#[test]
fn between_two_ffmpegs() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let watchdog = Watchdog::new();
    for name in ["avc", "hevc", "avc_aac"] {
        let clip = longest_clip(&format!("{name}.mp4"));
        let wanted = packets(&ffmpeg, &clip, Read::File, None, "0:v").unwrap();
        for scheme in SCHEMES {
            watchdog.begins(format!("{name} {scheme}"));
            let mut first = Command::new(&ffmpeg);
            first.args(["-v", "error", "-i"]).arg(&clip).args(["-map", "0", "-c", "copy"]);
            first.args(["-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "-"]);
            first.stdin(Stdio::null()).stdout(Stdio::piped());
            let mut first = first.spawn().unwrap();
            let mut ours = lanelock();
            ours.args(["encrypt", "-", "-", "-q", "--scheme", scheme, "--key", &pair()]);
            ours.stdin(first.stdout.take().unwrap()).stdout(Stdio::piped());
            let mut ours = ours.spawn().unwrap();
            let dir = Dir::new();
            let sealed = dir.file("sealed.mp4");
            let mut bytes = Vec::new();
            ours.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
            assert!(first.wait().unwrap().success() && ours.wait().unwrap().success());
            fs::write(&sealed, bytes).unwrap();
            let theirs = packets(&ffmpeg, &sealed, Read::Pipe, Some(KEY), "0:v").unwrap();
            assert_eq!(compare(&theirs, &wanted), Ok(()), "{name} {scheme}");
        }
    }
}

/// To read a file and to write behind it, or over it, ends never or in ruin.
#[test]
fn standard_output_is_no_input() {
    let dir = Dir::new();
    let path = dir.file("a.mp4");
    fs::copy(demo_clip(), &path).unwrap();
    for from in ["path", "-"] {
        let output = File::options().append(true).open(&path).unwrap();
        let mut command = lanelock();
        command.arg("encrypt").args(["--scheme", "cbcs", "--key", &pair()]);
        if from == "-" {
            command.arg("-").stdin(File::open(&path).unwrap());
        } else {
            command.arg(&path);
        }
        let run = command.arg("-").stdout(output).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
        assert!(stderr(&run).contains("same file"), "{}", stderr(&run));
        assert!(fs::read(&path).unwrap() == fs::read(demo_clip()).unwrap());
    }
}
