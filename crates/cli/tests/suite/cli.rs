//! The command where users and scripts are careless: keys in the wrong place, options that do not go
//! together, files that are none.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use lanelock_testkit::{Scratch, demo_clip};

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
    // The command may end before it has read all: then the pipe is closed and this write fails.
    let _ = child.stdin.take().unwrap().write_all(input);
    end(&child.wait_with_output().unwrap())
}

fn demo() -> String {
    demo_clip().to_str().unwrap().into()
}

/// The path of a file in the folder, as an argument.
fn argument(folder: &Scratch, name: &str) -> String {
    folder.file(name).to_str().unwrap().into()
}

#[test]
fn help_tells_of_every_option() {
    let keys = ["--key", "--key-file", "LANELOCK_KEYS"];
    let running = [
        "--output",
        "--truncated-runs",
        "--keep-unclaimed",
        "--workers",
        "--memory",
        "--write-turns",
        "--sync",
        "--json",
        "--quiet",
        "--no-progress",
        "--verbose",
    ];
    let protection = ["--scheme", "--pattern", "--iv", "--pssh", "--no-pssh", "cbcs", "1:9"];
    let encrypt = ["--clear", "--layout", "--fragment-duration", "--init"];
    let rewrap = ["--to-key", "--to-key-file", "LANELOCK_TO_KEYS", "--to-truncated-runs"];
    for (command, words) in [
        ("encrypt", [&keys[..], &running, &protection, &encrypt].concat()),
        ("decrypt", [&keys[..], &running, &["--init", "--no-key-check"]].concat()),
        ("rewrap", [&keys[..], &running, &protection, &rewrap, &["--no-key-check"]].concat()),
        ("inspect", vec!["--json", "--init"]),
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
        // Too short to look like a key.
        KEY[..16].to_owned(),
        format!("video={}", &KEY[..16]),
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
        &["-o", &key, "--key", "x"],
        &["--init", &key, "--layout", "keep"],
        &["--memory", &key],
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

/// Nor is one that has become the name of a file.
#[test]
fn keys_in_the_names_of_files_are_not_repeated() {
    let folder = Scratch::new();
    let (input, output) = (argument(&folder, KEY), argument(&folder, &format!("{KID}:{KEY}.mp4")));
    fs::copy(demo_clip(), &input).unwrap();
    let key = format!("{KID}:{KEY}");
    let encrypt = ["encrypt", &input, &output, "--scheme", "cbcs", "--key", &key];
    assert_eq!(run(&encrypt).0, Some(0));
    for file in [&input, &output] {
        let (code, text, _) = run(&["inspect", file]);
        assert!(code == Some(0) && text.contains("hidden: it may be a key"), "{text}");
        assert_eq!(run(&["inspect", file, "--json"]).0, Some(0));
    }
    // Nor by a warning: this file can be read by all.
    let keys = argument(&folder, &format!("{KEY}.keys"));
    fs::write(&keys, &key).unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, _, err) = run(&["decrypt", &output, &input, "--key-file", &keys]);
    assert!(code == Some(0) && err.contains("warning: other users"), "{err}");
}

/// Nor is one in another form, of which nothing but its place says what it is.
#[test]
fn values_of_pssh_are_not_repeated() {
    // Neither base64 nor digits, base64 of something else, digits of something else.
    for value in ["Dx4tPEtaaXiHlqW0w9Lh8A=!", "Dx4tPEtaaXiHlqW0w9Lh8A==", "000f1e2d3c4b"] {
        let key = format!("{KID}:{KEY}");
        let encrypt = ["encrypt", "in.mp4", "out.mp4", "--scheme", "cbcs", "--key", &key];
        let (code, _, err) = run(&[&encrypt[..], &["--pssh", value]].concat());
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("--pssh: ") && !err.contains(value), "{err}");
    }
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
    let folder = Scratch::new();
    let (first, second) = (argument(&folder, "first"), argument(&folder, "second"));
    fs::write(&first, format!("video={KID}:{KEY} # picture\r\n")).unwrap();
    fs::write(&second, format!("\u{feff}audio={}:{KEY}\n", "8".repeat(32))).unwrap();
    let (source, out, clear) =
        (demo(), argument(&folder, "out.mp4"), argument(&folder, "clear.mp4"));
    let files = ["--key-file", &first, "--key-file", &second, "-q"];
    let (code, _, err) =
        run(&[&["encrypt", &source, &out, "--scheme", "cbcs"], &files[..]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (code, _, err) = run(&[&["decrypt", &out, &clear], &files[..]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(fs::read(&clear).unwrap() == fs::read(&source).unwrap());
}

/// What no sample refers to is an error unless it is asked for, and then the summary says so.
#[test]
fn unclaimed_media_are_named_or_kept_on_request() {
    let folder = Scratch::new();
    let (source, out, clear) =
        (argument(&folder, "in.mp4"), argument(&folder, "out.mp4"), argument(&folder, "clear.mp4"));
    let start = fs::metadata(demo_clip()).unwrap().len() + 8;
    let key = ["--key", &format!("{KID}:{KEY}")];
    let encrypt =
        [&["encrypt", &source, &out, "--scheme", "cbcs", "--layout", "keep"], &key[..]].concat();
    let decrypt = [&["decrypt", &out, &clear], &key[..]].concat();
    for (number, more) in [(1, None), (5, Some("... and 2 more such ranges, 80 bytes in all"))] {
        // Boxes of media data behind the clip.
        let gap = lanelock_testkit::boxes::boxed(b"mdat", &[b"sixteen letters."]);
        fs::write(&source, [fs::read(demo_clip()).unwrap(), gap.repeat(number)].concat()).unwrap();
        for (command, verb) in [(&encrypt, "not encrypted"), (&decrypt, "not decrypted")] {
            let (code, _, err) = run(command);
            assert_eq!(code, Some(1), "{err}");
            assert!(err.contains("16 bytes of media data at") && err.contains("--keep-unclaimed"));
            let (code, _, err) = run(&[&command[..], &["--keep-unclaimed"]].concat());
            assert_eq!(code, Some(0), "{err}");
            let lines: Vec<_> = err.lines().filter(|line| line.contains(verb)).collect();
            assert_eq!(lines.len(), number.min(3), "{err}");
            for line in lines {
                assert!(line.contains("16 bytes at file offset") && line.contains("text"), "{err}");
            }
            assert!(more.is_none_or(|more| err.contains(more)), "{err}");
            let (_, json, _) = run(&[&command[..], &["--keep-unclaimed", "--json"]].concat());
            let summary: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(summary["unclaimed"]["ranges"], number);
            assert_eq!(summary["unclaimed"]["listed"][0]["bytes"], 16);
            if command == &encrypt {
                assert_eq!(summary["unclaimed"]["listed"][0]["offset"], start);
            }
        }
        assert!(fs::read(&clear).unwrap() == fs::read(&source).unwrap());
    }
}

#[test]
fn options_that_do_not_go_together() {
    let folder = Scratch::new();
    let (source, out, key) = (demo(), argument(&folder, "out.mp4"), format!("{KID}:{KEY}"));
    let encrypt = ["encrypt", &source, &out, "-q", "--key", &key];
    for (arguments, word) in [
        (&["--scheme", "cenc", "--pattern", "5:5"][..], "--scheme cbcs"),
        (&["--scheme", "cbcs", "--fragment-duration", "0"], "above 0"),
        (&["--scheme", "cbcs", "--fragment-duration", "3", "--layout", "keep"], "no effect"),
        (&["--scheme", "cbcs", "--memory", "0"], "MIB"),
    ] {
        let (code, _, err) = run(&[&encrypt, arguments].concat());
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(word), "{err}");
        assert!(!Path::new(&out).exists());
    }
    let (code, _, err) = run(&["inspect", &source, "--truncated-runs", "encrypt"]);
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn errors_come_with_hints() {
    let folder = Scratch::new();
    let (source, out, key) = (demo(), argument(&folder, "out.mp4"), format!("video={KID}:{KEY}"));
    let encrypt = ["encrypt", &source, &out, "--scheme", "cbcs", "-q", "--key", &key];
    let (code, _, err) = run(&encrypt);
    assert_eq!(code, Some(1));
    assert!(err.contains("\nhint: add --key audio=KID:KEY"), "{err}");
    let (code, out, err) = run(&[&encrypt[..], &["--json"]].concat());
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let error: serde_json::Value = serde_json::from_str(&err).unwrap();
    assert!(error["error"].as_str().unwrap().contains("track 2 (mp4a)"));
    assert!(error["hint"].as_str().unwrap().contains("--clear audio"));
    let text = argument(&folder, "text");
    fs::write(&text, "Once upon a time there was a text.").unwrap();
    let (code, _, err) = run(&["decrypt", &text, "clear.mp4", "-q", "--key", &key]);
    assert_eq!(code, Some(1));
    assert!(err.contains("no MP4 file"), "{err}");
}

#[test]
fn pssh_boxes_in_every_form() {
    let folder = Scratch::new();
    let (source, out, key) = (demo(), argument(&folder, "out.mp4"), format!("{KID}:{KEY}"));
    // A version 0 box of an unknown system, with two bytes of data.
    let hex = format!("00000022{}00000000{}00000002abcd", "70737368", "5".repeat(32));
    let bytes = lanelock_testkit::unhex(&hex);
    let (raw, text) = (argument(&folder, "raw"), argument(&folder, "text"));
    fs::write(&raw, &bytes).unwrap();
    fs::write(&text, "AAAAInBzc2gAAAAAVVVVVVVVVVVVVVVVVVVVVQAA\nAAKrzQ==\n").unwrap();
    let (raw, text) = (format!("@{raw}"), format!("@{text}"));
    for value in [&hex, &raw, &text] {
        let (code, _, err) = run(&[
            "encrypt", &source, &out, "--scheme", "cbcs", "-q", "--key", &key, "--pssh", value,
        ]);
        assert_eq!(code, Some(0), "{err}");
        let file = fs::read(&out).unwrap();
        assert!(file.windows(bytes.len()).any(|window| window == bytes), "{value}");
    }
}

#[test]
fn reports_for_people_have_the_numbers_of_those_for_machines() {
    let folder = Scratch::new();
    let (source, out, key) = (demo(), argument(&folder, "out.mp4"), format!("{KID}:{KEY}"));
    let (code, _, err) = run(&["encrypt", &source, &out, "--scheme", "cbcs", "-q", "--key", &key]);
    assert_eq!(code, Some(0), "{err}");
    for file in [&source, &out] {
        let (_, json, _) = run(&["inspect", file, "--json"]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let (code, text, err) = run(&["inspect", file]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(!text.contains('\x1b'), "colours in a pipe");
        assert!(text.contains(report["layout"].as_str().unwrap()));
        for track in report["tracks"].as_array().unwrap() {
            for word in [
                format!("track {}: {}", track["id"], track["kind"].as_str().unwrap()),
                track["codec"].as_str().unwrap().to_owned(),
                format!("{} access units", track["access_units"]),
            ] {
                assert!(text.contains(&word), "{word} is not in {text}");
            }
            // Of video, the pattern leaves most of the protected bytes clear.
            let protection = &track["protection"];
            if track["kind"] == "video" && protection.is_object() {
                let bytes = protection["ciphertext_bytes"].as_u64().unwrap();
                assert!(bytes > 0 && bytes < protection["protected_bytes"].as_u64().unwrap());
                assert!(text.contains("\n  ciphertext"), "{text}");
            }
            let kid = track["protection"]["kids"][0].as_str().unwrap_or("protection  none");
            assert!(text.contains(kid), "{kid} is not in {text}");
        }
    }
}
