//! `--drm`: the boxes of protection systems, beside those of Shaka Packager.

use std::{fs, process::Command};

use crate::support::{
    Dir, KEY, KID, OTHER_KEY, OTHER_KID, boxes, encrypt_with, lanelock, other_pair, pair, stderr,
    succeed,
};
use lanelock_testkit::{self as testkit, boxes::boxed, demo_clip};
use serde_json::Value;

#[test]
fn the_boxes_of_shaka_packager() {
    let Some(shaka) = testkit::shaka_packager() else { return };
    let dir = Dir::new();
    let (ours, theirs) = (dir.file("ours.mp4"), dir.file("theirs.mp4"));
    for scheme in ["cenc", "cbcs"] {
        let key = format!("video={}", pair());
        let systems = "widevine,playready,common";
        encrypt_with(
            &demo_clip(),
            &ours,
            scheme,
            &["--key", &key, "--clear", "audio", "--drm", systems],
        );
        let input =
            format!("in={},stream=video,output={}", demo_clip().display(), theirs.display());
        let key = format!("label=:key_id={KID}:key={KEY}");
        let mut command = Command::new(&shaka);
        command.args([&*input, "--enable_raw_key_encryption", "--keys", &key, "--clear_lead", "0"]);
        command.args(["--protection_scheme", scheme]);
        succeed(command.args(["--protection_systems", "Widevine,PlayReady,CommonSystem"]));
        let (ours, theirs) = (fs::read(&ours).unwrap(), fs::read(&theirs).unwrap());
        let (ours, mut theirs) = (boxes(&ours, *b"pssh"), boxes(&theirs, *b"pssh"));
        assert_eq!((ours.len(), theirs.len()), (3, 3));
        for made in ours {
            let at = theirs.iter().position(|known| *known == made);
            theirs.remove(at.unwrap_or_else(|| panic!("{scheme}: {made:02x?}")));
        }
    }
}

#[test]
fn boxes_name_the_keys_in_use() {
    let dir = Dir::new();
    let out = dir.file("out.mp4");
    let keys = [format!("video={}", pair()), format!("audio={}", other_pair())];
    let keys = ["--key", &keys[0], "--key", &keys[1]];
    let run = |drm: &[&str]| {
        encrypt_with(&demo_clip(), &out, "cbcs", &[&keys, drm].concat());
        let report = succeed(lanelock().args(["inspect", "--json"]).arg(&out));
        let report: Value = serde_json::from_slice(&report).unwrap();
        report["pssh"].as_array().unwrap().clone()
    };
    let made = run(&["--drm", "clearkey,widevine,playready,common"]);
    let systems: Vec<_> = made.iter().map(|pssh| pssh["system"].as_str().unwrap()).collect();
    assert_eq!(systems, ["Clear Key", "Widevine", "PlayReady", "common (W3C)"]);
    for pssh in &made {
        let kids = pssh["kids"].as_array().unwrap().iter();
        let kids: Vec<_> = kids.map(|kid| kid.as_str().unwrap().replace('-', "")).collect();
        assert_eq!(kids, [KID, OTHER_KID]);
    }
    assert_eq!(run(&[]).len(), 1);
    assert_eq!(run(&["--no-pssh"]).len(), 0);
    // A box that is given stands before those that are made.
    let given = boxed(b"pssh", &[&[0; 4], &[7; 16], &[0; 4]]);
    let both = run(&["--pssh", &testkit::hex(&given)]);
    assert_eq!((both.len(), both[0]["system"].as_str()), (2, None));
    assert!(!fs::read(&out).unwrap().windows(8).any(|window| window == OTHER_KEY.as_bytes()));
}

#[test]
fn boxes_without_a_file() {
    let dir = Dir::new();
    let keys = dir.file("keys");
    fs::write(&keys, pair()).unwrap();
    let make = |more: &[&str]| {
        let mut command = lanelock();
        command.args(["keys", "pssh", "--scheme", "cbcs", "--key-file"]).arg(&keys);
        String::from_utf8(succeed(command.args(more))).unwrap()
    };
    let lines = make(&["--drm", "widevine,playready,clearkey,common"]);
    let mut systems = Vec::new();
    for line in lines.lines() {
        let (system, made) = line.split_once(' ').unwrap();
        systems.push(system);
        let text = succeed(lanelock().args(["keys", "pssh", "--read", made]));
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("00112233-4455-6677-8899-aabbccddeeff"), "{text}");
        // What is made goes into a file as it is.
        let out = dir.file("out.mp4");
        encrypt_with(&demo_clip(), &out, "cbcs", &["--key", &pair(), "--no-pssh", "--pssh", made]);
        let made = succeed(lanelock().args(["keys", "pssh", "--json", "--read", made]));
        let made: Value = serde_json::from_slice(&made).unwrap();
        assert_eq!(made[0]["kids"][0], "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(boxes(&fs::read(&out).unwrap(), *b"pssh").len(), 1);
    }
    assert_eq!(systems, ["widevine", "playready", "clearkey", "common"]);
    assert!(!lines.contains(KEY) && !make(&["--json"]).contains(KEY));
    for (arguments, words) in [
        (&["keys", "pssh"][..], "--scheme"),
        (&["keys", "pssh", "--scheme", "cenc"], "no keys"),
        (&["keys", "pssh", "--read", "AAAA"], "pssh"),
        (&["keys", "pssh", "--read", "AAAA", "--scheme", "cenc"], "--read"),
    ] {
        let output = lanelock().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn what_has_no_box_is_an_error() {
    let dir = Dir::new();
    for (scheme, systems, code, words) in [
        ("cbcs", "fairplay", 2, "skd://"),
        ("cens", "playready", 2, "cenc and cbcs, and not cens"),
        ("cbcs", "marlin", 2, "widevine"),
    ] {
        let mut command = lanelock();
        command.arg("encrypt").args([demo_clip(), dir.file("out.mp4")]);
        command.args(["--scheme", scheme, "--key", &pair(), "--drm", systems]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(dir.names().is_empty(), "{:?}", dir.names());
    }
}

/// What a manifest needs is in the JSON of a file.
#[test]
fn json_has_the_boxes_in_base64() {
    let dir = Dir::new();
    let out = dir.file("out.mp4");
    encrypt_with(&demo_clip(), &out, "cbcs", &["--key", &pair()]);
    let report = succeed(lanelock().args(["inspect", "--json"]).arg(&out));
    let report: Value = serde_json::from_slice(&report).unwrap();
    let made = report["pssh"][0]["box"].as_str().unwrap();
    let read = succeed(lanelock().args(["keys", "pssh", "--json", "--read", made]));
    let read: Value = serde_json::from_slice(&read).unwrap();
    assert_eq!(read[0]["kids"], report["pssh"][0]["kids"]);
}
