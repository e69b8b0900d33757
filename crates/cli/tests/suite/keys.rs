//! Keys: made, in the forms of other programs, and what a key server is told.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use crate::support::{
    Dir, KEY, KID, OTHER_KEY, OTHER_KID, SCHEMES, encrypt_with, ffmpeg_makes, lanelock, other_pair,
    pair, segments, stderr, succeed, under,
};
use lanelock_testkit::{demo_clip, ffmpeg};
use serde_json::Value;

fn new_keys(args: &[&str]) -> Command {
    let mut command = lanelock();
    command.args(["keys", "new"]).args(args);
    command
}

/// The exit code of a command, and what was said. No key of these tests is in it, in any form.
fn run(command: &mut Command) -> (i32, String) {
    let run = command.output().unwrap();
    let text = stderr(&run);
    for secret in [KEY, OTHER_KEY, BASE64_KEY, BASE64_KEY.trim_end_matches('=')] {
        assert!(!text.to_lowercase().contains(&secret.to_lowercase()), "a key in: {text}");
    }
    (run.status.code().unwrap(), text)
}

/// [`KEY`] and [`KID`] in base64; the KID in the byte order of a KID and of a GUID of PlayReady.
const BASE64_KEY: &str = "Dx4tPEtaaXiHlqW0w9Lh8A==";
const BASE64_KIDS: [&str; 2] = ["ABEiM0RVZneImaq7zN3u/w==", "MyIRAFVEd2aImaq7zN3u/w=="];

#[test]
fn new_keys_work_and_are_private() {
    let dir = Dir::new();
    let (file, out, back) = (dir.file("keys.txt"), dir.file("out.mp4"), dir.file("back.mp4"));
    let keys = file.to_str().unwrap();
    let (code, text) = run(&mut new_keys(&["video", "audio", "-o", keys]));
    assert!(code == 0 && text.contains("keys.txt: 2 keys, for you alone to read"), "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let lines = fs::read_to_string(&file).unwrap();
    let starts: Vec<_> = lines.lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(starts, ["video", "audio"]);
    let mut command = lanelock();
    command.arg("encrypt").args([&demo_clip(), &out]).args(["--scheme", "cbcs", "-q"]);
    // It would be warned of a file that others can read.
    assert_eq!(run(command.args(["--key-file", keys])), (0, String::new()));
    let mut command = lanelock();
    command.arg("decrypt").args([&out, &back]).args(["-q", "--key-file", keys]);
    assert_eq!(run(&mut command), (0, String::new()));
    assert!(fs::read(&back).unwrap() == fs::read(demo_clip()).unwrap());
    // Keys that may be in use are never replaced.
    let (code, text) = run(&mut new_keys(&["-o", keys]));
    assert!(code == 3 && text.contains("it is there already"), "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap(), lines);
    assert_eq!(dir.names(), ["back.mp4", "keys.txt", "out.mp4"]);
}

/// A file of keys is there whole or not at all: half a key would be taken for one that is wrong.
#[test]
fn new_keys_that_cannot_be_written() {
    let dir = Dir::new();
    let (file, keys) = (dir.file("new.txt"), dir.file("keys.txt"));
    fs::write(&keys, pair()).unwrap();
    for args in [&["new", "2"][..], &["cpix", "--any-scheme", "--key-file", "keys.txt"]] {
        // No byte more than none.
        let mut command = under("ulimit -f 0 && exec \"$@\"");
        command.current_dir(dir.path()).arg("keys").args(args).args(["-o", "new.txt"]);
        let (code, text) = run(&mut command);
        assert_eq!(code, 3, "{text}");
        assert!(text.contains("new.txt") && text.contains("File too large"), "{text}");
        assert!(!file.exists(), "{args:?}");
        assert_eq!(dir.names(), ["keys.txt"]);
    }
}

#[test]
fn new_keys_on_standard_output() {
    for (args, selectors) in [
        (&[][..], vec![""]),
        (&["-o", "-"], vec![""]),
        (&["3"], vec![""; 3]),
        (&["hvc1", "mp4a", "other"], vec!["hvc1=", "mp4a=", "other="]),
    ] {
        let text = String::from_utf8(succeed(&mut new_keys(args))).unwrap();
        let keys: Vec<_> = text.lines().collect();
        assert_eq!(keys.len(), selectors.len(), "{args:?}");
        for (line, selector) in keys.iter().zip(selectors) {
            let pair = line.strip_prefix(selector).unwrap();
            let (kid, key) = pair.split_once(':').unwrap();
            assert!([kid, key].iter().all(|part| part.len() == 32), "{args:?}");
            assert!(kid != key && text.matches(kid).count() == 1 && text.matches(key).count() == 1);
        }
        let json = succeed(&mut new_keys(&[args, &["--json"]].concat()));
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json.as_array().unwrap().len(), keys.len());
        assert_eq!(json[0]["kid"].as_str().unwrap().len(), 36);
        assert_eq!(json[0]["key"].as_str().unwrap().len(), 32);
    }
    for args in
        [&["0"][..], &["10001"], &["video", "video"], &["vidio"], &["tmcd"], &["video", "2"]]
    {
        let (code, text) = run(&mut new_keys(args));
        assert_eq!(code, 2, "{args:?}: {text}");
    }
}

/// With a file, the keys are in it alone.
#[test]
fn json_beside_a_file_has_no_key() {
    let dir = Dir::new();
    let file = dir.file("keys.txt");
    let json = succeed(&mut new_keys(&["video", "--json", "-o", file.to_str().unwrap()]));
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json[0]["selector"], "video");
    assert_eq!(json[0]["key"], Value::Null);
    let kid = json[0]["kid"].as_str().unwrap().replace('-', "");
    assert!(fs::read_to_string(&file).unwrap().starts_with(&format!("video={kid}:")));
    let nowhere = dir.file("nope/keys.txt");
    let (code, text) = run(&mut new_keys(&["-o", nowhere.to_str().unwrap()]));
    assert!(code == 3 && text.contains("nope/keys.txt"), "{text}");
}

/// Keys as other programs write them: the same bytes come out.
#[test]
fn forms_of_other_programs() {
    let dir = Dir::new();
    let (out, expected) = (dir.file("out.mp4"), dir.file("expected.mp4"));
    let iv = ["--iv", "000102030405060708090a0b0c0d0e0f"];
    encrypt_with(&demo_clip(), &expected, "cbcs", &[&["--key", &pair()], &iv[..]].concat());
    let guid = "00112233-4455-6677-8899-AABBCCDDEEFF";
    for key in [
        format!("0x{KID}:0x{KEY}"),
        format!("{{{guid}}}:{KEY}"),
        format!("{guid}:{BASE64_KEY}"),
        format!("all={KID}:{BASE64_KEY}"),
        format!("label=:key_id={KID}:key={KEY}"),
        format!("label=:key_id={KID}:key={BASE64_KEY}"),
    ] {
        encrypt_with(&demo_clip(), &out, "cbcs", &[&["--key", &key], &iv[..]].concat());
        assert!(fs::read(&out).unwrap() == fs::read(&expected).unwrap(), "{key}");
    }
    let shaka = [
        format!("label=SD:key_id={KID}:key={KEY}"),
        format!("label=AUDIO:key_id={OTHER_KID}:key={OTHER_KEY}"),
    ];
    let keys = [format!("video={}", pair()), format!("audio={}", other_pair())];
    let args = |keys: &[String; 2]| ["--key".to_owned(), keys.join(",")];
    let file = dir.file("keys.txt");
    fs::write(&file, format!("{}\n", shaka.join(","))).unwrap();
    let from_file = ["--key-file".to_owned(), file.display().to_string()];
    encrypt_with(
        &demo_clip(),
        &expected,
        "cbcs",
        &[&["--key", &keys[0], "--key", &keys[1]], &iv[..]].concat(),
    );
    for args in [args(&shaka), args(&keys), from_file] {
        encrypt_with(&demo_clip(), &out, "cbcs", &[&[&*args[0], &args[1]], &iv[..]].concat());
        assert!(fs::read(&out).unwrap() == fs::read(&expected).unwrap(), "{args:?}");
    }
}

/// What has two meanings or none is refused by its form, in messages without the key.
#[test]
fn forms_that_are_refused() {
    let dir = Dir::new();
    for (key, words) in [
        (format!("{}:{KEY}", BASE64_KIDS[0]), "base64, which does not say in which order"),
        (format!("{}:{KEY}", BASE64_KIDS[1]), "base64, which does not say in which order"),
        (format!("1:{KEY}"), "a small number in the place of the KID"),
        (format!("label=1:key_id={KID}:key={KEY}"), "only the labels AUDIO"),
        (format!("label=SD:key_id={KID}:key={KEY}:iv={KID}"), "Shaka Packager"),
        (format!("{},{}", pair(), other_pair()), "two keys for \"all\""),
        (format!("{},", pair()), "no colon in it"),
        (String::new(), "no colon in it"),
        (format!("{KID}:{}", &BASE64_KEY[..20]), "the key must be"),
    ] {
        let mut command = lanelock();
        command.arg("encrypt").args([&demo_clip(), &dir.file("out.mp4")]);
        let (code, text) = run(command.args(["--scheme", "cbcs", "--key", &key]));
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(words), "no {words} in {text}");
    }
    // In the wrong place.
    for key in [BASE64_KEY.to_owned(), format!("{KID}:{BASE64_KEY}")] {
        for args in [["--memory", &key], ["--kye", &key], ["--clear", &key], ["-o", &key]] {
            let mut command = lanelock();
            command.args(["encrypt", "in.mp4", "out.mp4", "--scheme", "cbcs"]).args(args);
            assert_ne!(run(&mut command).0, 0);
        }
    }
}

/// What `--json` says of the IV is what the file has.
#[test]
fn summaries_have_the_iv() {
    let dir = Dir::new();
    let out = dir.file("out.mp4");
    for scheme in SCHEMES {
        let mut command = lanelock();
        command.arg("encrypt").args([&demo_clip(), &out]).args(["--scheme", scheme, "--json"]);
        let json = succeed(command.args(["--key", &pair()]));
        let summary: Value = serde_json::from_slice(&json).unwrap();
        let json = succeed(lanelock().args(["inspect", "--json"]).arg(&out));
        let report: Value = serde_json::from_slice(&json).unwrap();
        let field = if scheme == "cbcs" { "constant_iv" } else { "first_iv" };
        for track in 0..2 {
            let iv = &summary["tracks"][track]["iv"];
            assert!(iv.is_string(), "{scheme}: {summary}");
            assert_eq!(*iv, report["tracks"][track]["protection"][field], "{scheme}");
        }
    }
    // Of a folder it is the first one of all segments.
    let (input, output) = (dir.file("in"), dir.file("sealed"));
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    fs::create_dir(&input).unwrap();
    fs::write(input.join("init.mp4"), init).unwrap();
    for (number, segment) in media.iter().enumerate() {
        fs::write(input.join(format!("{number}.m4s")), segment).unwrap();
    }
    let mut command = lanelock();
    command.arg("encrypt").args([&input, &output]).args(["--scheme", "cenc", "--json"]);
    let args = ["--key", &pair(), "--clear", "audio"];
    let summary: Value = serde_json::from_slice(&succeed(command.args(args))).unwrap();
    let mut command = lanelock();
    command.args(["inspect", "--json"]).arg(output.join("0.m4s")).arg("--init");
    let report = succeed(command.arg(output.join("init.mp4")));
    let report: Value = serde_json::from_slice(&report).unwrap();
    let iv = &report["tracks"][0]["protection"]["first_iv"];
    assert!(iv.is_string() && summary["tracks"][0]["iv"] == *iv, "{summary} {report}");
    assert_eq!(summary["tracks"][1]["iv"], Value::Null);
}

/// Shaka Packager 3.8 decrypts the audio of a muxed `cbcs` file wrongly if its key is that of video.
#[test]
fn one_key_for_video_and_audio_of_a_cbcs_file() {
    let dir = Dir::new();
    let said = |command: &mut Command| {
        let (code, text) = run(command);
        assert_eq!(code, 0, "{text}");
        text.matches("Shaka Packager 3.8").count()
    };
    let encrypt = |inputs: &[&std::path::Path], scheme: &str, keys: &str| {
        let mut command = lanelock();
        command.arg("encrypt").args(inputs).args(["--scheme", scheme]).env("LANELOCK_KEYS", keys);
        command
    };
    let (demo, out) = (demo_clip(), dir.file("out.mp4"));
    let both = format!("video={} audio={}", pair(), other_pair());
    assert_eq!(said(&mut encrypt(&[&demo, &out], "cbcs", &pair())), 1);
    assert_eq!(said(&mut encrypt(&[&demo, &out], "cenc", &pair())), 0);
    assert_eq!(said(&mut encrypt(&[&demo, &out], "cbcs", &both)), 0);
    assert_eq!(said(encrypt(&[&demo, &out], "cbcs", &pair()).args(["--clear", "audio"])), 0);
    // Once for several files; not at all for video and audio in files of their own.
    let copy = dir.file("copy.mp4");
    fs::copy(&demo, &copy).unwrap();
    let folder = dir.file("folder");
    assert_eq!(said(encrypt(&[&demo, &copy], "cbcs", &pair()).arg("-o").arg(&folder)), 1);
    let Some(ffmpeg) = ffmpeg() else { return };
    let (video, audio) = (dir.file("video.mp4"), dir.file("audio.mp4"));
    ffmpeg_makes(&ffmpeg, &[], &demo, &["-an", "-c", "copy"], &video);
    ffmpeg_makes(&ffmpeg, &[], &demo, &["-vn", "-c", "copy"], &audio);
    assert_eq!(said(encrypt(&[&video, &audio], "cbcs", &pair()).arg("-o").arg(&folder)), 0);
}

/// What is encrypted by keys that are gone can never be decrypted.
#[test]
fn no_output_replaces_the_keys() {
    let dir = Dir::new();
    let keys = dir.file("keys.txt");
    fs::write(&keys, pair()).unwrap();
    let (clip, sealed) = (demo_clip(), dir.file("sealed.mp4"));
    encrypt_with(&clip, &sealed, "cbcs", &["--key", &pair()]);
    let commands: [&[&str]; 3] = [
        &["encrypt", "--scheme", "cbcs", "--key-file"],
        &["decrypt", "--key-file"],
        &["rewrap", "--scheme", "cenc", "--key", &pair(), "--to-key-file"],
    ];
    for (command, input) in commands.iter().zip([&clip, &sealed, &sealed]) {
        let paths = [keys.as_path(), input, keys.as_path()];
        let output = lanelock().args(*command).args(paths).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("is the file of keys"), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(&keys).unwrap(), pair());
    }
}
