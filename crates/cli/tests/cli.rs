//! The command where users and scripts are careless: keys in the wrong place, options that do not go
//! together, files that are none.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use lanelock_testkit::repository;

const KID: &str = "11112222333344445555666677778888";
const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn lanelock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanelock"));
    command.env_remove("LANELOCK_KEYS").env_remove("LANELOCK_LEVEL").stdin(Stdio::null());
    command.args(arguments);
    command
}

/// The exit code, what was printed, and what was said about it.
fn end(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    for text in [&out, &err] {
        // A piece of the key is too much as well.
        for piece in KEY.as_bytes().chunks(8).map(|piece| str::from_utf8(piece).unwrap()) {
            assert!(!text.to_lowercase().contains(piece), "a key is shown: {text}");
        }
    }
    (output.status.code(), out, err)
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    end(&lanelock(arguments).output().unwrap())
}

fn with_stdin(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut command = lanelock(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may have heard enough before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input);
    end(&child.wait_with_output().unwrap())
}

fn demo() -> String {
    repository().join("media/demo.mp4").to_str().unwrap().into()
}

/// A folder that goes with the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().into()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn help_tells_of_every_option() {
    let keys = ["--key", "--key-file", "LANELOCK_KEYS"];
    let running = ["--truncated-runs", "--workers", "--sync", "--json", "--quiet"];
    let encrypt = [
        "--scheme",
        "--clear",
        "--pattern",
        "--iv",
        "--pssh",
        "--no-pssh",
        "--layout",
        "--fragment-duration",
        "cbcs",
        "1:9",
    ];
    for (command, words) in [
        ("encrypt", [&keys[..], &running, &encrypt].concat()),
        ("decrypt", [&keys[..], &running].concat()),
        ("inspect", vec!["--json"]),
        ("cpu", vec!["--json", "LANELOCK_LEVEL"]),
    ] {
        for arguments in [["help", command], [command, "--help"]] {
            let (code, out, _) = run(&arguments);
            assert_eq!(code, Some(0));
            for word in &words {
                assert!(out.contains(word), "{arguments:?} does not tell of {word}");
            }
        }
    }
}

#[test]
fn wrong_keys_are_not_repeated() {
    let encrypt = ["encrypt", "in.mp4", "out.mp4", "--scheme", "cbcs"];
    let decrypt = ["decrypt", "in.mp4", "out.mp4"];
    for wrong in [
        format!("{KID}{KEY}"),
        format!("{KID}:{KEY}0"),
        format!("{KID}:{}", &KEY[1..]),
        format!("{KID}:{KEY}=video"),
        format!("{KEY}=video"),
        format!("{KID}:{KEY}=="),
        format!("vide={KID}:{KEY}"),
    ] {
        for command in [&encrypt[..], &decrypt] {
            let (code, _, err) = run(&[command, &["--key", &wrong]].concat());
            assert_eq!(code, Some(2), "{err}");
            let mut from_environment = lanelock(command);
            let output = from_environment.env("LANELOCK_KEYS", &wrong).output().unwrap();
            let (code, _, err) = end(&output);
            assert_eq!(code, Some(2), "{err}");
            let lines = format!("# one\n\n{wrong}\n");
            let (code, _, err) =
                with_stdin(&[command, &["--key-file", "-"]].concat(), lines.as_bytes());
            assert_eq!(code, Some(2), "{err}");
            assert!(err.contains("stdin, line 3"), "{err}");
        }
    }
}

#[test]
fn keys_in_the_wrong_place_are_not_repeated() {
    let key = format!("{KID}:{KEY}");
    let as_option = format!("--{KID}:{KEY}");
    let encrypt = ["encrypt", "in.mp4", "out.mp4", "--scheme", "cbcs"];
    for arguments in [
        &["--key", &key, &key][..],
        &["--kye", &key],
        &["--clear", &key],
        &["--pattern", &key],
        &["--iv", &key],
        &["--workers", &key],
        &["--pssh", &key, "--key", &key],
        &[&as_option],
    ] {
        let (code, _, err) = run(&[&encrypt, arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
    }
    assert_eq!(run(&[&key]).0, Some(2));
}

#[test]
fn keys_for_decryption_do_not_contradict_one_another() {
    let keys = format!("{KID}:{KEY} {KID}:{}", "7".repeat(32));
    let mut command = lanelock(&["decrypt", "in.mp4", "out.mp4"]);
    let (code, _, err) = end(&command.env("LANELOCK_KEYS", keys).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(err.contains("two different keys") && err.contains("key 2"), "{err}");
}

#[test]
fn key_files_have_an_end() {
    let decrypt = ["decrypt", "in.mp4", "out.mp4", "--key-file"];
    let long = [format!("{KID}:{KEY}\n").as_bytes(), &vec![b' '; 1 << 20]].concat();
    let (code, _, err) = with_stdin(&[&decrypt[..], &["-"]].concat(), &long);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("too long"), "{err}");
    let (code, _, err) = run(&[&decrypt[..], &["no such file"]].concat());
    assert_eq!(code, Some(3));
    assert!(err.contains("no such file"), "{err}");
}

#[test]
fn several_key_files_with_comments_at_the_ends_of_lines() {
    let folder = Folder::new("several-key-files");
    let (first, second) = (folder.file("first"), folder.file("second"));
    fs::write(&first, format!("video={KID}:{KEY} # picture\r\n")).unwrap();
    fs::write(&second, format!("\u{feff}audio={}:{KEY}\n", "8".repeat(32))).unwrap();
    let (source, out, clear) = (demo(), folder.file("out.mp4"), folder.file("clear.mp4"));
    let files = ["--key-file", &first, "--key-file", &second, "-q"];
    let (code, _, err) =
        run(&[&["encrypt", &source, &out, "--scheme", "cbcs"], &files[..]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (code, _, err) = run(&[&["decrypt", &out, &clear], &files[..]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(fs::read(&clear).unwrap() == fs::read(&source).unwrap());
}
