//! Keys that change, clear leads and keys by the size of pictures, on the command line.

use std::{fs, path::PathBuf};

use crate::support::{Dir, lanelock, pair, stderr, succeed};
use lanelock_testkit::demo_clip;
use serde_json::Value;

/// A new file with keys for so many periods of video and audio.
fn keys(dir: &Dir, name: &str, periods: &str) -> PathBuf {
    let path = dir.file(name);
    succeed(
        lanelock().args(["keys", "new", "--periods", periods, "video", "audio", "-o"]).arg(&path),
    );
    path
}

#[test]
fn keys_for_periods_encrypt_and_decrypt() {
    let dir = Dir::new();
    let keys = keys(&dir, "keys.txt", "3");
    let text = fs::read_to_string(&keys).unwrap();
    let places: Vec<&str> = text.lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(places, ["video@0", "video@1", "video@2", "audio@0", "audio@1", "audio@2"]);
    let kids: Vec<&str> = text.lines().map(|l| l.split(['=', ':']).nth(1).unwrap()).collect();
    let (encrypted, clear) = (dir.file("out.mp4"), dir.file("clear.mp4"));
    for scheme in ["cenc", "cbcs"] {
        for form in ["entry", "group"] {
            let json = succeed(
                lanelock()
                    .arg("encrypt")
                    .args([&demo_clip(), &encrypted])
                    .args(["--json", "--scheme", scheme, "--rotate", "2s", "--key-file"])
                    .arg(&keys)
                    .args(["--clear-lead", "1s", "--clear-lead-form", form]),
            );
            let summary: Value = serde_json::from_slice(&json).unwrap();
            for (track, kids) in summary["tracks"].as_array().unwrap().iter().zip(kids.chunks(3)) {
                let found = track["kids"].as_array().unwrap().iter();
                let found: Vec<String> =
                    found.map(|kid| kid.as_str().unwrap().replace('-', "")).collect();
                assert_eq!(found, kids);
                assert!(track["clear_access_units"].as_u64().unwrap() > 0);
            }
            succeed(
                lanelock()
                    .arg("decrypt")
                    .args([&encrypted, &clear])
                    .args(["-q", "--key-file"])
                    .arg(&keys),
            );
            let is_the_input = fs::read(&clear).unwrap() == fs::read(demo_clip()).unwrap();
            // The clear sample entries stay beside those that were decrypted.
            assert_eq!(is_the_input, form == "group");
        }
    }
}

#[test]
fn what_makes_no_sense_is_told() {
    let dir = Dir::new();
    let two = keys(&dir, "two.txt", "2").display().to_string();
    let (three, one) = (keys(&dir, "three.txt", "3").display().to_string(), pair());
    let cases: [(&[&str], i32, &str); 10] = [
        (&["--key-file", &two, "--rotate", "2s"], 1, "key period 2, which begins at 4 s"),
        (&["--key-file", &two, "--rotate", "2s"], 1, "--periods 3"),
        (&["--key-file", &two], 1, "--rotate"),
        (&["--key", &one, "--rotate", "2s"], 2, "all keys are for all time"),
        (&["--key", &one, "--rotate", "10ms"], 2, "at least 1 s"),
        (&["--key", &one, "--rotate", "0"], 2, "duration"),
        (&["--key", &one, "--clear-lead", "1h"], 1, "nothing would be protected"),
        (&["--key", &one, "--clear-lead-form", "group"], 2, "--clear-lead"),
        (&["--key", &one, "--picture-limits", "sd=2x2,hd=1x1"], 2, "do not rise"),
        (
            &["--key-file", &three, "--key", &one, "--picture-limits", "4k=1x1"],
            2,
            "sd, hd and uhd1",
        ),
    ];
    for (args, code, text) in cases {
        let output = dir.file("out.mp4");
        let mut command = lanelock();
        command.arg("encrypt").args([&demo_clip(), &output]).args(["-q", "--scheme", "cbcs"]);
        let run = command.args(args).output().unwrap();
        let said = stderr(&run);
        assert_eq!(run.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(text), "{args:?}: {said}");
        assert!(!output.exists());
    }
    let run = lanelock().args(["keys", "new", "5", "--periods", "2"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("name the tracks"));
}

#[test]
fn keys_by_the_size_of_pictures() {
    let dir = Dir::new();
    let path = dir.file("keys.txt");
    succeed(lanelock().args(["keys", "new", "sd", "hd", "uhd", "audio", "-o"]).arg(&path));
    let text = fs::read_to_string(&path).unwrap();
    let kid = |number: usize| text.lines().nth(number).unwrap().split(['=', ':']).nth(1).unwrap();
    let output = dir.file("out.mp4");
    let encrypt = |args: &[&str]| -> String {
        let json = succeed(
            lanelock()
                .arg("encrypt")
                .args([&demo_clip(), &output])
                .args(["--json", "--scheme", "cbcs", "--key-file"])
                .arg(&path)
                .args(args),
        );
        let summary: Value = serde_json::from_slice(&json).unwrap();
        summary["tracks"][0]["kid"].as_str().unwrap().replace('-', "")
    };
    // 640 x 360.
    assert_eq!(encrypt(&[]), kid(0));
    assert_eq!(encrypt(&["--picture-limits", "sd=640x359"]), kid(1));
    assert_eq!(encrypt(&["--picture-limits", "sd=1x1,hd=230399"]), kid(2));
}

/// A player that asks for a licence once, with the box of the initialization segment, gets all keys.
#[test]
fn the_initialization_segments_of_a_package_name_the_keys_of_all_periods() {
    let dir = Dir::new();
    let keys = keys(&dir, "keys.txt", "3");
    let stream = dir.file("stream");
    succeed(
        lanelock()
            .arg("package")
            .arg(demo_clip())
            .arg("-o")
            .arg(&stream)
            .args([
                "--quiet",
                "--scheme",
                "cbcs",
                "--rotate",
                "2s",
                "--segment",
                "1s",
                "--key-file",
            ])
            .arg(&keys),
    );
    let text = fs::read_to_string(&keys).unwrap();
    let kids: Vec<&str> = text.lines().map(|l| l.split(['=', ':']).nth(1).unwrap()).collect();
    let folders = fs::read_dir(&stream).unwrap().map(|entry| entry.unwrap().path());
    let inits: Vec<PathBuf> =
        folders.map(|folder| folder.join("init.mp4")).filter(|init| init.exists()).collect();
    assert_eq!(inits.len(), 2);
    for init in inits {
        let json = succeed(lanelock().args(["inspect", "--json"]).arg(init));
        let said: Value = serde_json::from_slice(&json).unwrap();
        let found = said["pssh"][0]["kids"].as_array().unwrap().iter();
        let found: Vec<String> = found.map(|kid| kid.as_str().unwrap().replace('-', "")).collect();
        assert_eq!(found, kids);
    }
}
