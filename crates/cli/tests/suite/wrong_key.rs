//! Wrong keys: an error without output where the codec shows them, a warning where it may, and nothing
//! of either with the right ones.

use crate::support::{
    Dir, KEY, KID, OTHER_KEY, OTHER_KID, SCHEMES, encrypt_with, ffmpeg_makes, lanelock, other_pair,
    pair, stderr, succeed,
};
use lanelock_testkit::{codec_clip, ffmpeg, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const WRONG: &str = "1f1e2d3c4b5a69788796a5b4c3d2e1f0";
const AUDIO: [&str; 5] = ["aac.mp4", "ac3.mp4", "eac3.mp4", "flac.mp4", "opus.mp4"];
const VIDEO: [&str; 3] = ["avc.mp4", "avc_slices.mp4", "hevc.mp4"];

/// A clip, or a visible skip.
fn clip(name: &str) -> Option<PathBuf> {
    let clip = codec_clip(name);
    if clip.is_none() {
        skip(&format!("{name} is absent"));
    }
    clip
}

/// Encrypted with an IV that makes the test the same every time.
fn sealed(dir: &Dir, input: &Path, scheme: &str, layout: &str) -> PathBuf {
    let sealed = dir.file("sealed.mp4");
    let iv = "000102030405060708090a0b0c0d0e0f";
    let iv = if matches!(scheme, "cenc" | "cens") { &iv[..16] } else { iv };
    let args = ["--key", &pair(), "--iv", iv, "--layout", layout];
    encrypt_with(input, &sealed, scheme, &args);
    sealed
}

/// `lanelock decrypt` with keys from a file, which nothing warns of.
fn decrypt(dir: &Dir, input: &Path, pairs: &[&str], args: &[&str]) -> Output {
    let (keys, output) = (key_file(dir, pairs), dir.file("out.mp4"));
    let _ = fs::remove_file(&output);
    let mut command = lanelock();
    command.arg("decrypt").args([input, &output]).arg("--key-file").arg(keys).args(args);
    command.output().unwrap()
}

fn inspect(dir: &Dir, input: &Path, pairs: &[&str], args: &[&str]) -> Output {
    let keys = key_file(dir, pairs);
    let _ = fs::remove_file(dir.file("out.mp4"));
    lanelock().arg("inspect").arg(input).arg("--key-file").arg(keys).args(args).output().unwrap()
}

fn key_file(dir: &Dir, pairs: &[&str]) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let keys = dir.file("keys.txt");
    fs::write(&keys, pairs.join("\n")).unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    keys
}

fn wrong() -> String {
    format!("{KID}:{WRONG}")
}

/// Fails with exit code 1, says these words and no key, and leaves no output.
fn refused(dir: &Dir, run: &Output, words: &[&str]) {
    let text = stderr(run);
    assert_eq!(run.status.code(), Some(1), "{text}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
    for key in [KEY, OTHER_KEY, WRONG] {
        assert!(!text.contains(key), "a key in: {text}");
    }
    assert!(!dir.names().iter().any(|name| name == "out.mp4" || name.contains("part")));
}

#[test]
fn right_keys_are_never_doubted() {
    let dir = Dir::new();
    for name in AUDIO.iter().chain(&VIDEO).chain(&["avc_aac.mp4"]) {
        let Some(clip) = clip(name) else { return };
        for scheme in SCHEMES {
            for layout in ["fragmented", "keep"] {
                // Two tracks must not share IVs.
                if *name == "avc_aac.mp4" && scheme != "cbcs" {
                    continue;
                }
                let sealed = sealed(&dir, &clip, scheme, layout);
                let run = decrypt(&dir, &sealed, &[&pair()], &["--json"]);
                assert!(run.status.success(), "{name} {scheme} {layout}: {}", stderr(&run));
                assert_eq!(stderr(&run), "", "{name} {scheme} {layout}");
                let summary: Value = serde_json::from_slice(&run.stdout).unwrap();
                let keys = summary["keys"].as_array().unwrap();
                assert!(!keys.is_empty());
                for key in keys {
                    assert_eq!(key["failed_units"], 0, "{name} {scheme} {layout}: {key}");
                    assert_eq!(key["impossible"], 0, "{name} {scheme} {layout}: {key}");
                    let audio = !matches!(key["codec"].as_str(), Some("avc1" | "hvc1"));
                    let expected = if audio { "fits" } else { "unknown" };
                    assert_eq!(key["verdict"], expected, "{name} {scheme} {layout}: {key}");
                }
            }
        }
    }
}

#[test]
fn wrong_keys_of_audio_are_errors() {
    let dir = Dir::new();
    for name in AUDIO {
        let Some(clip) = clip(name) else { return };
        for scheme in SCHEMES {
            for layout in ["fragmented", "keep"] {
                let sealed = sealed(&dir, &clip, scheme, layout);
                let kid = "00112233-4455-6677-8899-aabbccddeeff";
                let words = ["track ", kid, "is wrong", "access units", "hint: ", "--no-key-check"];
                refused(&dir, &decrypt(&dir, &sealed, &[&wrong()], &[]), &words);
                refused(&dir, &inspect(&dir, &sealed, &[&wrong()], &[]), &["track ", kid, "wrong"]);
            }
        }
        let sealed = sealed(&dir, &clip, "cbcs", "keep");
        let run = decrypt(&dir, &sealed, &[&wrong()], &["--no-key-check"]);
        assert!(run.status.success(), "{}", stderr(&run));
        assert!(dir.file("out.mp4").exists());
    }
}

/// Two thousand slices, of which a wrong key gives itself away in one of 256: it leaves no trace once
/// in 2500 runs, and what it leaves is the same in every run.
#[test]
fn wrong_keys_of_long_video_are_warned_of() {
    let Some(ffmpeg) = ffmpeg() else { return skip("ffmpeg is not installed") };
    let dir = Dir::new();
    for (name, option, slices) in [
        ("libx264", "-x264-params", "slices=4:cabac=1"),
        ("libx265", "-x265-params", "slices=4:ctu=16:log-level=none"),
    ] {
        // Noise, so that no two slices are alike and few are too short to be encrypted.
        let source = Path::new("testsrc2=size=128x96:rate=25,noise=alls=30:allf=t+u");
        let long = dir.file("long.mp4");
        let args = ["-frames:v", "600", "-c:v", name, "-preset", "ultrafast", option, slices];
        let args = [&args[..], &["-crf", "32", "-g", "50", "-pix_fmt", "yuv420p"]].concat();
        ffmpeg_makes(&ffmpeg, &["-f", "lavfi"], source, &args, &long);
        // Under cens, the ends of most slices are clear, and few ranges begin with slice data.
        for scheme in ["cenc", "cbc1", "cbcs"] {
            let sealed = sealed(&dir, &long, scheme, "fragmented");
            let right = decrypt(&dir, &sealed, &[&pair()], &[]);
            assert!(right.status.success() && !stderr(&right).contains("warning"));
            let run = decrypt(&dir, &sealed, &[&wrong()], &["--json"]);
            let text = stderr(&run);
            assert!(run.status.success(), "{name} {scheme}: {text}");
            assert!(text.contains("warning") && text.contains("wrong"), "{name} {scheme}: {text}");
            let summary: Value = serde_json::from_slice(&run.stdout).unwrap();
            let key = &summary["keys"][0];
            assert!(key["impossible"].as_u64().unwrap() > 0, "{key}");
            assert_eq!(key["verdict"], "wrong", "{name} {scheme}: {key}");
            refused(&dir, &inspect(&dir, &sealed, &[&wrong()], &[]), &["track 1", "is wrong"]);
            let run = inspect(&dir, &sealed, &[&pair()], &["--json"]);
            let report: Value = serde_json::from_slice(&run.stdout).unwrap();
            assert_eq!(report["keys"][0]["verdict"], "fits", "{name} {scheme}: {report}");
        }
    }
}

#[test]
fn one_wrong_key_of_two() {
    let Some(clip) = clip("avc_aac.mp4") else { return };
    let dir = Dir::new();
    for scheme in SCHEMES {
        let sealed = dir.file("sealed.mp4");
        let (video, audio) = (format!("video={}", pair()), format!("audio={}", other_pair()));
        encrypt_with(&clip, &sealed, scheme, &["--key", &video, "--key", &audio]);
        let wrong_audio = format!("{OTHER_KID}:{WRONG}");
        let run = decrypt(&dir, &sealed, &[&pair(), &wrong_audio], &[]);
        refused(&dir, &run, &["track 2 (mp4a)", "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf", "wrong"]);

        let run = inspect(&dir, &sealed, &[&pair(), &wrong_audio], &["--json"]);
        assert_eq!(run.status.code(), Some(1));
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        let verdicts: Vec<_> =
            report["keys"].as_array().unwrap().iter().map(|key| &key["verdict"]).collect();
        assert_eq!(verdicts, ["unknown", "wrong"], "{scheme}: {report}");

        let run = inspect(&dir, &sealed, &[&other_pair()], &[]);
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status.success(), "{}", stderr(&run));
        assert!(text.contains("fits, for KID a0a1a2a3"), "{text}");
        assert!(text.contains("is not given, for KID 00112233"), "{text}");
    }
}

/// A PlayReady box of version 4.0 for that KID (bytes of the GUID, in base64) with that checksum.
fn playready(kid: &str, checksum: &str) -> Vec<u8> {
    let xml = format!(
        "<WRMHEADER version=\"4.0.0.0\"><DATA><PROTECTINFO><KEYLEN>16</KEYLEN><ALGID>AESCTR</ALGID>\
         </PROTECTINFO><KID>{kid}</KID><CHECKSUM>{checksum}</CHECKSUM></DATA></WRMHEADER>"
    );
    let text: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let len = u16::try_from(text.len()).unwrap();
    let mut object = (u32::from(len) + 10).to_le_bytes().to_vec();
    object.extend_from_slice(&[1, 0, 1, 0]);
    object.extend_from_slice(&len.to_le_bytes());
    object.extend_from_slice(&text);
    let system = 0x9a04_f079_9840_4286_ab92_e65b_e088_5f95_u128.to_be_bytes();
    lanelock_mp4::Pssh::new(system, &[], &object).raw
}

/// KID, key and checksum of web-platform-tests. Short video is no evidence for or against a key: the
/// checksum is.
#[test]
fn checksums_of_playready() {
    let Some(clip) = clip("avc.mp4") else { return };
    let dir = Dir::new();
    let kid = "ad13f9ea2be698b875f504a8e3ccea64";
    let (right, wrong) =
        (format!("{kid}:be7df8a3667a6a8fd564d0ed81339a95"), format!("{kid}:{WRONG}"));
    let pssh = dir.file("pssh.bin");
    fs::write(&pssh, playready("6vkTreYruJh19QSo48zqZA==", "jYFNf0yf4is=")).unwrap();
    let pssh = format!("@{}", pssh.display());
    let output = dir.file("out.mp4");
    for layout in ["fragmented", "keep"] {
        let run = lanelock()
            .arg("encrypt")
            .args([&clip, &output])
            .args(["--scheme", "cenc", "--pssh", &pssh, "--layout", layout, "--key", &wrong])
            .output()
            .unwrap();
        refused(
            &dir,
            &run,
            &["pssh number 1", "ad13f9ea-2be6-98b8-75f5-04a8e3ccea64", "PlayReady"],
        );

        let sealed = dir.file("sealed.mp4");
        let args = ["--pssh", &pssh, "--layout", layout, "--key", &right];
        encrypt_with(&clip, &sealed, "cenc", &args);
        let run = decrypt(&dir, &sealed, &[&wrong], &[]);
        refused(&dir, &run, &["ad13f9ea-2be6-98b8-75f5-04a8e3ccea64", "PlayReady", "checksum"]);
        refused(&dir, &inspect(&dir, &sealed, &[&wrong], &[]), &["track 1 (avc1)", "is wrong"]);
        let run = inspect(&dir, &sealed, &[&right], &[]);
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status.success() && text.contains("fits"), "{text}");
        assert!(decrypt(&dir, &sealed, &[&right], &[]).status.success());
        assert!(decrypt(&dir, &sealed, &[&wrong], &["--no-key-check"]).status.success());
        fs::remove_file(&output).unwrap();
    }
}

/// Whatever place a key is given in by mistake, no message repeats it.
#[test]
fn keys_in_the_wrong_place_are_not_repeated() {
    let dir = Dir::new();
    let input = dir.file("in.mp4");
    fs::write(&input, b"no MP4").unwrap();
    let input = input.to_str().unwrap();
    let out = dir.file("out.mp4");
    let out = out.to_str().unwrap();
    let uuid = "00112233-4455-6677-8899-aabbccddeeff";
    let dashed = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
    for (key, secret) in [
        (KEY.to_owned(), KEY),
        (format!("{KID}:{KEY}"), KEY),
        (format!("{uuid}:{KEY}"), KEY),
        (format!("{uuid}:{dashed}"), dashed),
    ] {
        let (key, video) = (&key[..], format!("video={key}"));
        let in_pssh = format!("@{key}");
        let good = pair();
        let encrypt = ["encrypt", "--scheme", "cenc", "--key", &good];
        let mut lines: Vec<Vec<&str>> = vec![
            [&encrypt[..], &[key, out]].concat(),
            [&encrypt[..], &[&video, out]].concat(),
            [&encrypt[..], &[input, out, key]].concat(),
            [&encrypt[..], &[input, out, "--pssh", key]].concat(),
            [&encrypt[..], &[input, out, "--pssh", &in_pssh]].concat(),
            [&encrypt[..], &[input, out, "--clear", key]].concat(),
            [&encrypt[..], &[input, out, "--pattern", key]].concat(),
            [&encrypt[..], &[input, out, "--workers", key]].concat(),
            [&encrypt[..], &[input, out, "--kye", key]].concat(),
            vec!["encrypt", input, out, "--scheme", key],
            vec!["encrypt", input, out, "--scheme", "cbcs", "--key-file", key],
            vec!["decrypt", key, out, "--key", &good],
            vec!["decrypt", input, out, "--key-file", key],
            vec!["inspect", key],
            vec!["inspect", input, "--key-file", key],
            vec![key],
        ];
        let json: Vec<_> = lines.iter().map(|line| [&line[..], &["--json"]].concat()).collect();
        lines.extend(json);
        for line in lines {
            let run = lanelock().args(&line).output().unwrap();
            let text = stderr(&run) + &String::from_utf8_lossy(&run.stdout);
            assert!(!run.status.success(), "{line:?}");
            assert!(!text.contains(secret), "{line:?}: {text}");
        }
    }
    // And a file that is named like a key is no reason to fail.
    let Some(clip) = clip("aac.mp4") else { return };
    let named = dir.file(KEY);
    let mut command = lanelock();
    command.arg("encrypt").arg(&clip).arg(&named).args(["--scheme", "cbcs", "--key", &pair()]);
    succeed(&mut command);
    assert!(!stderr(&command.output().unwrap()).contains(KEY));
}
