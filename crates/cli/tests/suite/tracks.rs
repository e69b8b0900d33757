//! Which tracks get which key, and which stay clear: what an error offers is enough for the next run, and
//! options that make no difference are errors.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::{
    Dir, FRAGMENTED, ffmpeg_makes, lanelock, other_pair, pair, segments, stderr, succeed,
};
use lanelock_testkit::{demo_clip, ffmpeg};
use serde_json::Value;

/// The demo, a fragmented file of AVC and AAC, with bytes replaced.
fn demo(dir: &Dir, name: &str, changes: &[(&[u8; 4], &[u8; 4])]) -> PathBuf {
    let mut bytes = fs::read(demo_clip()).unwrap();
    for (from, to) in changes {
        let at: Vec<_> = (0..bytes.len() - 3).filter(|&at| bytes[at..at + 4] == from[..]).collect();
        for at in at {
            bytes[at..at + 4].copy_from_slice(&to[..]);
        }
    }
    let path = dir.file(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The demo with a timecode track in the place of audio.
fn timecode(dir: &Dir) -> PathBuf {
    demo(dir, "timecode.mp4", &[(b"soun", b"tmcd"), (b"mp4a", b"tmcd")])
}

/// Runs `lanelock encrypt INPUT OUTPUT --scheme cbcs ARGS`: the exit code and what was said.
fn encrypt(dir: &Dir, input: &Path, args: &[&str]) -> (i32, String) {
    let output = dir.file("out.mp4");
    let _ = fs::remove_file(&output);
    let mut command = lanelock();
    command.arg("encrypt").args([input, &output]).args(["-q", "--scheme", "cbcs"]).args(args);
    let run = command.output().unwrap();
    assert_eq!(output.exists(), run.status.success());
    (run.status.code().unwrap(), stderr(&run))
}

/// The schemes of the tracks of the last output.
fn schemes(dir: &Dir) -> Vec<Option<String>> {
    let json = succeed(lanelock().args(["inspect", "--json"]).arg(dir.file("out.mp4")));
    let report: Value = serde_json::from_slice(&json).unwrap();
    let tracks = report["tracks"].as_array().unwrap().iter();
    tracks.map(|track| track["protection"]["scheme"].as_str().map(Into::into)).collect()
}

fn key_file(dir: &Dir, lines: &str) -> String {
    let path = dir.file("keys.txt");
    fs::write(&path, lines).unwrap();
    path.display().to_string()
}

#[test]
fn the_error_of_a_track_names_the_option() {
    let dir = Dir::new();
    let input = timecode(&dir);
    let (code, text) = encrypt(&dir, &input, &["--key", &pair()]);
    assert_eq!(code, 1);
    for part in ["track 2 (tmcd)", "cannot be encrypted", "\nhint: leave it clear with --clear 2\n"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    for selector in ["2", "other", "OTHER", "tmcd"] {
        let (code, text) = encrypt(&dir, &input, &["--key", &pair(), "--clear", selector]);
        assert_eq!((code, &*text), (0, ""), "{selector}");
        assert_eq!(schemes(&dir), [Some("cbcs".into()), None]);
    }
    // A key for the track itself outranks all but its ID.
    let own = format!("tmcd={}", other_pair());
    let (code, text) = encrypt(&dir, &input, &["--key", &pair(), "--key", &own]);
    assert!(code == 2 && text.contains("a codec that can be encrypted"), "{text}");
}

/// `other` never leaves video or audio clear, whatever their codec.
#[test]
fn video_and_audio_of_unknown_codecs_are_not_other() {
    let dir = Dir::new();
    let input = demo(&dir, "mpeg4.mp4", &[(b"avc1", b"mp4v")]);
    let audio = demo(&dir, "pcm.mp4", &[(b"mp4a", b"sowt")]);
    for args in [&["--key", &pair()][..], &["--key", &pair(), "--clear", "other"]] {
        for (input, track, clear) in
            [(&input, "track 1 (mp4v)", "--clear 1,"), (&audio, "track 2 (sowt)", "--clear 2,")]
        {
            let (code, text) = encrypt(&dir, input, args);
            assert_eq!(code, 1);
            assert!(text.contains(track) && text.contains(clear), "{text}");
        }
    }
    let (code, text) = encrypt(&dir, &input, &["--key", &pair(), "--clear", "mp4v"]);
    assert_eq!((code, &*text), (0, ""));
    assert_eq!(schemes(&dir), [None, Some("cbcs".into())]);
}

#[test]
fn one_rerun_is_enough_for_many_tracks() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let (chapters, subtitles, input) =
        (dir.file("chapters"), dir.file("s.srt"), dir.file("many.mp4"));
    let chapter = "[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=one\n";
    fs::write(&chapters, format!(";FFMETADATA1\n{chapter}")).unwrap();
    fs::write(&subtitles, "1\n00:00:00,000 --> 00:00:01,000\nHello.\n").unwrap();
    let more = ["-i", subtitles.to_str().unwrap(), "-i", chapters.to_str().unwrap()];
    let map = ["-map", "0", "-map", "1", "-map_chapters", "2", "-c", "copy", "-c:s", "mov_text"];
    let timecode = ["-timecode", "00:00:00:00", "-t", "2"];
    ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &[&more[..], &map, &timecode].concat(), &input);
    let (code, text) = encrypt(&dir, &input, &["--key", &pair()]);
    assert_eq!(code, 1);
    let what = "tracks 3 (tx3g), 4 (text) and 5 (tmcd) cannot be encrypted\n";
    assert!(text.contains(what) && text.contains(": --clear other\n"), "{text}");
    let video = format!("video={}", pair());
    let (code, text) = encrypt(&dir, &input, &["--key", &video]);
    assert!(code == 1 && text.contains("track 2 (mp4a) has no key, tracks 3 (tx3g)"), "{text}");
    assert!(text.contains("--clear audio;") && text.contains(": --clear other\n"), "{text}");
    let (code, text) =
        encrypt(&dir, &input, &["--key", &video, "--clear", "audio", "--clear", "other"]);
    assert_eq!((code, &*text), (0, ""));
    let clear = [None, None, None, None];
    assert_eq!(schemes(&dir), [&[Some("cbcs".to_owned())][..], &clear].concat());
    // With a key of their own they are not the others any more.
    let text_key = format!("text={}", pair());
    let (code, text) = encrypt(&dir, &input, &["--key", &pair(), "--key", &text_key]);
    assert!(code == 1 && text.contains(": --clear 3 --clear 4 --clear 5\n"), "{text}");
    let clear = ["--clear", "3", "--clear", "4", "--clear", "5"];
    let keys = ["--key", &pair(), "--key", &text_key];
    assert_eq!(encrypt(&dir, &input, &[&keys[..], &clear].concat()), (0, String::new()));
}

#[test]
fn tracks_without_key_by_their_kinds() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let input = dir.file("four.mp4");
    ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &["-map", "0", "-map", "0", "-c", "copy"], &input);
    let keys = key_file(&dir, &format!("hvc1={}", pair()));
    let (code, text) = encrypt(&dir, &input, &["--key-file", &keys]);
    assert_eq!(code, 1);
    for part in [
        "tracks 1 (avc1), 2 (mp4a), 3 (avc1) and 4 (mp4a) have no key\n",
        "add --key audio=KID:KEY --key video=KID:KEY, or --clear audio --clear video\n",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn keys_by_codec() {
    let dir = Dir::new();
    let (avc, aac) = (format!("avc1={}", pair()), format!("mp4a={}", other_pair()));
    let (code, text) = encrypt(&dir, &demo_clip(), &["--key", &avc, "--key", &aac]);
    assert_eq!((code, &*text), (0, ""));
    // More particular than a kind.
    let video = format!("video={}", other_pair());
    let args = ["--key", &video, "--key", &avc, "--clear", "audio", "--json"];
    let mut command = lanelock();
    command.arg("encrypt").args([&demo_clip(), &dir.file("out.mp4")]);
    let json = succeed(command.args(["--scheme", "cbcs"]).args(args));
    let summary: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(summary["tracks"][0]["kid"], "00112233-4455-6677-8899-aabbccddeeff");
}

/// An option that selects nothing is a mistake; a key file may serve many inputs.
#[test]
fn selectors_that_select_nothing() {
    let dir = Dir::new();
    let demo = demo_clip();
    let hevc = format!("hvc1={}", other_pair());
    for (args, what) in [
        (["--clear", "text"], "--clear text selects no track"),
        (["--clear", "9"], "--clear 9 selects no track"),
        (["--clear", "tmcd"], "--clear tmcd selects no track"),
        (["--key", &hevc], "the key for hvc1 selects no track"),
    ] {
        let (code, text) = encrypt(&dir, &demo, &[&["--key", &pair()][..], &args].concat());
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(what), "no {what} in {text}");
        let tracks = "\nhint: the input has tracks 1 (avc1) and 2 (mp4a)\n";
        assert!(text.contains(tracks), "{text}");
    }
    let keys = key_file(&dir, &format!("{}\n{hevc}\n", pair()));
    assert_eq!(encrypt(&dir, &demo, &["--key-file", &keys]), (0, String::new()));
    // New keys, likewise.
    let (out, new) = (dir.file("out.mp4"), dir.file("new.mp4"));
    let mut command = lanelock();
    command.arg("rewrap").args([&out, &new]).args(["--scheme", "cenc", "--key-file", &keys]);
    let run = command.args(["--to-key", &other_pair(), "--to-key", &hevc]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("the key for hvc1 selects no track"), "{}", stderr(&run));
}

#[test]
fn options_without_effect() {
    let dir = Dir::new();
    let demo = demo_clip();
    let key = ["--key", &pair()];
    let with = |args: &[&str]| encrypt(&dir, &demo, &[&key[..], args].concat());
    let (code, text) = with(&["--fragment-duration", "4"]);
    assert!(code == 2 && text.contains("leave out --fragment-duration"), "{text}");
    for args in [&["--truncated-runs", "encrypt"][..], &["--truncated-runs", "clear"]] {
        for pattern in [&[][..], &["--pattern", "1:9"], &["--pattern", "10:0"]] {
            let (code, text) = with(&[args, pattern].concat());
            assert!(code == 2 && text.contains("--truncated-runs has no effect"), "{text}");
        }
        assert_eq!(with(&[args, &["--pattern", "5:5"]].concat()).0, 0);
    }
    let Some(ffmpeg) = ffmpeg() else { return };
    let progressive = dir.file("progressive.mp4");
    ffmpeg_makes(&ffmpeg, &[], &demo, &["-c", "copy"], &progressive);
    let args = [&key[..], &["--layout", "keep", "--sidx", "build"]].concat();
    let (code, text) = encrypt(&dir, &progressive, &args);
    assert!(code == 2 && text.contains("leave out --sidx build"), "{text}");
    // Nor when it is decrypted.
    assert_eq!(encrypt(&dir, &progressive, &args[..4]), (0, String::new()));
    let mut command = lanelock();
    command.arg("decrypt").args([&dir.file("out.mp4"), &dir.file("back.mp4")]);
    let run = command.args(key).args(["--sidx", "build"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("leave out --sidx build"), "{}", stderr(&run));
    let fragmented = dir.file("fragmented.mp4");
    ffmpeg_makes(&ffmpeg, &[], &demo, &["-c", "copy", "-movflags", FRAGMENTED], &fragmented);
    assert_eq!(encrypt(&dir, &fragmented, &args).0, 0);
}

/// Of several inputs an option may be for some; it is an error if it is for none.
#[test]
fn options_for_some_of_several_inputs() {
    let dir = Dir::new();
    let (input, out) = (timecode(&dir), dir.file("out"));
    let run = |args: &[&str]| {
        let mut command = lanelock();
        command.arg("encrypt").args([&demo_clip(), &input]).arg("-o").arg(&out).arg("-q");
        let run = command.args(["--scheme", "cbcs", "--key", &pair()]).args(args).output();
        let run = run.unwrap();
        (run.status.code().unwrap(), stderr(&run))
    };
    assert_eq!(run(&["--clear", "other"]), (0, String::new()));
    let (code, text) = run(&["--clear", "other", "--clear", "wvtt"]);
    assert_eq!(code, 2);
    assert!(text.contains("--clear wvtt has no effect on any of the inputs"), "{text}");
    // One of them fails: it may be the one that the option is for.
    let (code, text) = run(&["--clear", "wvtt"]);
    assert_eq!(code, 1);
    assert!(text.contains("--clear 2") && !text.contains("wvtt"), "{text}");
}

/// A folder of segments is one input.
#[test]
fn selectors_for_folders_of_segments() {
    let dir = Dir::new();
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    let (input, output) = (dir.file("in"), dir.file("out"));
    fs::create_dir(&input).unwrap();
    fs::write(input.join("init.mp4"), init).unwrap();
    for (number, segment) in media.iter().enumerate() {
        fs::write(input.join(format!("{number}.m4s")), segment).unwrap();
    }
    for (clear, code) in [("text", 2), ("audio", 0)] {
        let mut command = lanelock();
        command.arg("encrypt").args([&input, &output]).args(["--scheme", "cbcs", "-q"]);
        let run = command.args(["--key", &pair(), "--clear", clear]).output().unwrap();
        assert_eq!(run.status.code(), Some(code), "{}", stderr(&run));
        assert_eq!(output.exists(), code == 0);
    }
}

/// A more particular key outranks `--clear`, which then leaves nothing clear: that is not what was asked.
#[test]
fn clear_that_every_key_outranks_is_an_error() {
    let dir = Dir::new();
    let keys = [format!("video={}", pair()), format!("audio={}", pair())];
    let keys = ["--key", &keys[0], "--key", &keys[1]];
    let (code, text) = encrypt(&dir, &demo_clip(), &[&keys[..], &["--clear", "all"]].concat());
    assert!(code == 2 && text.contains("--clear all has no effect"), "{text}");
    let one = ["--key", keys[1], "--clear", "all"];
    assert_eq!(encrypt(&dir, &demo_clip(), &one).0, 0);
}

/// A handler that lies about its track does not take the track out of what is encrypted.
#[test]
fn a_codec_with_rules_is_never_other() {
    let dir = Dir::new();
    for handler in ["data", "text", "meta"] {
        let input = dir.file("lies.mp4");
        let mut bytes = fs::read(demo_clip()).unwrap();
        let at = bytes.windows(4).position(|word| word == b"vide").unwrap();
        bytes[at..at + 4].copy_from_slice(handler.as_bytes());
        fs::write(&input, bytes).unwrap();
        for clear in ["other", "text"] {
            let (code, text) = encrypt(&dir, &input, &["--key", &pair(), "--clear", clear]);
            assert!(code != 0 && text.contains("error: "), "{handler}: {text}");
            assert!(dir.names() == ["lies.mp4"], "{handler}: {:?}", dir.names());
        }
    }
}
