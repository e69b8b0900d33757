//! Media segments that are files of their own, and folders of them.

use crate::support::{
    Dir, KEY, Read, SCHEMES, compare, lanelock, other_pair, packets, pair, segments, stderr,
    succeed, wait_for_handler, with_stdin, without_indexes,
};
use lanelock_testkit::{
    boxes::{boxed, full},
    demo_clip, ffmpeg, skip,
};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const IV: &str = "5a000000000000000000000000000001";
/// In the order of their numbers, which is not that of the alphabet.
const NAMES: [&str; 5] = ["s-8.m4s", "s-9.m4s", "s-10.m4s", "s-11.m4s", "s-100.m4s"];

/// A folder of the demo's segments.
fn folder(dir: &Dir, name: &str) -> PathBuf {
    let path = dir.file(name);
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    fs::create_dir(&path).unwrap();
    fs::write(path.join("init.mp4"), init).unwrap();
    assert_eq!(media.len(), NAMES.len());
    for (name, segment) in NAMES.iter().zip(media) {
        fs::write(path.join(name), segment).unwrap();
    }
    path
}

/// What `cat` makes of a folder.
fn joined(folder: &Path) -> Vec<u8> {
    let names = ["init.mp4"].iter().chain(&NAMES);
    names.flat_map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Keys and IV that make the output the same every time.
fn fixed(scheme: &str) -> Vec<String> {
    let keys = [format!("video={}", pair()), format!("audio={}", other_pair())];
    let arguments = ["-q", "--scheme", scheme, "--iv", IV, "--key", &keys[0], "--key", &keys[1]];
    arguments.map(str::to_owned).to_vec()
}

fn keys() -> Vec<String> {
    ["-q", "--key", &pair(), "--key", &other_pair()].map(str::to_owned).to_vec()
}

#[test]
fn a_folder_is_encrypted_as_one_file() {
    let ffmpeg = ffmpeg();
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let file = dir.file("clear.mp4");
    fs::write(&file, without_indexes()).unwrap();
    let [sealed, back, sealed_file] = ["sealed", "back", "sealed.mp4"].map(|name| dir.file(name));
    for scheme in SCHEMES {
        succeed(lanelock().arg("encrypt").args([&file, &sealed_file]).args(fixed(scheme)));
        succeed(lanelock().arg("encrypt").args([&clear, &sealed]).args(fixed(scheme)));
        assert!(joined(&sealed) == fs::read(&sealed_file).unwrap(), "{scheme}");
        succeed(lanelock().arg("decrypt").args([&sealed, &back]).args(keys()));
        assert_eq!(names(&back), names(&clear));
        for name in names(&clear) {
            let same = fs::read(back.join(&name)).unwrap() == fs::read(clear.join(&name)).unwrap();
            assert!(same, "{scheme} {name}");
        }
        for folder in [&sealed, &back] {
            fs::remove_dir_all(folder).unwrap();
        }
        // A random IV, one key.
        let scheme_and_key = ["-q", "--scheme", scheme, "--key", &pair()];
        succeed(lanelock().arg("encrypt").args([&clear, &sealed]).args(scheme_and_key));
        fs::write(&sealed_file, joined(&sealed)).unwrap();
        if let Some(ffmpeg) = &ffmpeg {
            let map = if scheme == "cens" { "0:v" } else { "0" };
            let wanted = packets(ffmpeg, &file, Read::Pipe, None, map).unwrap();
            let theirs = packets(ffmpeg, &sealed_file, Read::Pipe, Some(KEY), map).unwrap();
            assert_eq!(compare(&theirs, &wanted), Ok(()), "{scheme}: ffmpeg decrypts");
        }
        succeed(lanelock().arg("decrypt").args([&sealed, &back]).args(keys()));
        assert!(joined(&back) == without_indexes(), "{scheme}");
        for folder in [&sealed, &back] {
            fs::remove_dir_all(folder).unwrap();
        }
    }
}

#[test]
fn the_summary_of_a_folder_is_that_of_a_file() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let [file, keys] = ["clear.mp4", "keys.txt"].map(|name| dir.file(name));
    fs::write(&file, without_indexes()).unwrap();
    let of_periods = ["keys", "new", "--periods", "3", "video", "audio", "-o"];
    succeed(lanelock().args(of_periods).arg(&keys));
    let tracks = |input: &Path, output: &str| {
        let json = succeed(
            lanelock()
                .arg("encrypt")
                .args([input, &dir.file(output)])
                .args(["--json", "--scheme", "cbcs", "--iv", IV, "--clear-lead", "1s"])
                .args(["--rotate", "2s", "--key-file"])
                .arg(&keys),
        );
        let summary: serde_json::Value = serde_json::from_slice(&json).unwrap();
        summary["tracks"].clone()
    };
    let of_file = tracks(&file, "sealed.mp4");
    assert_eq!(of_file[0]["kids"].as_array().unwrap().len(), 3);
    assert_eq!(tracks(&clear, "sealed"), of_file);
}

#[test]
fn lone_segments_are_those_of_a_file() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let [file, sealed_file] = ["clear.mp4", "sealed.mp4"].map(|name| dir.file(name));
    fs::write(&file, without_indexes()).unwrap();
    succeed(lanelock().arg("encrypt").args([&file, &sealed_file]).args(fixed("cbcs")));
    let sealed = dir.file("sealed");
    fs::create_dir(&sealed).unwrap();
    let init = clear.join("init.mp4");
    let sealed_init = sealed.join("init.mp4");
    succeed(lanelock().arg("encrypt").args([&init, &sealed_init]).args(fixed("cbcs")));
    for name in NAMES {
        let mut command = lanelock();
        command.arg("encrypt").args([clear.join(name), sealed.join(name)]);
        succeed(command.arg("--init").arg(&init).args(fixed("cbcs")));
    }
    assert!(joined(&sealed) == fs::read(&sealed_file).unwrap());
    for name in NAMES {
        let back = dir.file("back.m4s");
        let mut command = lanelock();
        command.arg("decrypt").args([&sealed.join(name), &back]);
        succeed(command.arg("--init").arg(&sealed_init).args(keys()));
        assert!(fs::read(&back).unwrap() == fs::read(clear.join(name)).unwrap(), "{name}");
        // Through pipes.
        let mut command = lanelock();
        command.args(["encrypt", "-", "-", "--init"]).arg(&init).args(fixed("cbcs"));
        let run = with_stdin(&mut command, |mut pipe| {
            std::io::Write::write_all(&mut pipe, &fs::read(clear.join(name)).unwrap()).unwrap();
        });
        assert!(run.status.success(), "{}", stderr(&run));
        assert!(run.stdout == fs::read(sealed.join(name)).unwrap(), "{name}");
    }
    // Several of them into a folder.
    let several = dir.file("several");
    let mut command = lanelock();
    command.arg("decrypt").args(NAMES.map(|name| sealed.join(name))).arg("-o").arg(&several);
    succeed(command.arg("--init").arg(&sealed_init).args(keys()));
    for name in NAMES {
        assert!(fs::read(several.join(name)).unwrap() == fs::read(clear.join(name)).unwrap());
    }
    // The other schemes have IVs of their own in each segment.
    for scheme in ["cenc", "cens", "cbc1"] {
        let [one, back] = ["one.m4s", "back.m4s"].map(|name| dir.file(name));
        let arguments = ["-q", "--scheme", scheme, "--key", &pair()];
        let mut command = lanelock();
        command.arg("encrypt").args([&init, &sealed_init]).args(arguments);
        succeed(&mut command);
        let mut command = lanelock();
        command.arg("encrypt").args([&clear.join(NAMES[3]), &one]).arg("--init").arg(&init);
        succeed(command.args(arguments));
        let mut command = lanelock();
        command.arg("decrypt").args([&one, &back]).arg("--init").arg(&sealed_init);
        succeed(command.args(keys()));
        assert!(fs::read(&back).unwrap() == fs::read(clear.join(NAMES[3])).unwrap(), "{scheme}");
    }
}

#[test]
fn inspection_of_segments() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let sealed = dir.file("sealed");
    succeed(lanelock().arg("encrypt").args([&clear, &sealed]).args(fixed("cenc")));
    let json = |path: &Path, more: &[&str]| {
        let mut command = lanelock();
        command.arg("inspect").arg(path).arg("--json").args(more);
        serde_json::from_slice::<serde_json::Value>(&succeed(&mut command)).unwrap()
    };
    let whole = json(&demo_clip(), &[]);
    let units = |report: &serde_json::Value, track: usize| {
        report["tracks"][track]["access_units"].as_u64().unwrap()
    };
    for folder in [&clear, &sealed] {
        let init = folder.join("init.mp4");
        let init = ["--init", init.to_str().unwrap()];
        let reports = NAMES.map(|name| json(&folder.join(name), &init));
        for track in 0..2 {
            let sum: u64 = reports.iter().map(|report| units(report, track)).sum();
            assert_eq!(sum, units(&whole, track));
        }
        for (report, name) in reports.iter().zip(NAMES) {
            assert_eq!(report["bytes"], fs::metadata(folder.join(name)).unwrap().len());
            assert_eq!(report["fragments"]["count"], 1);
            assert!((report["duration"].as_f64().unwrap() - 1.0).abs() < 0.2);
            let scheme = &report["tracks"][0]["protection"]["scheme"];
            assert_eq!(scheme.as_str(), (folder == &sealed).then_some("cenc"));
        }
    }
    let init = sealed.join("init.mp4");
    let [key, other] = [pair(), other_pair()];
    let init = ["--init", init.to_str().unwrap(), "--key", &key, "--key", &other];
    let report = json(&sealed.join(NAMES[1]), &init);
    assert_eq!(report["keys"][1]["verdict"], "fits");
    // Through a pipe.
    let mut command = lanelock();
    command.args(["inspect", "-", "--json", init[0], init[1]]);
    let run = with_stdin(&mut command, |mut pipe| {
        std::io::Write::write_all(&mut pipe, &fs::read(sealed.join(NAMES[1])).unwrap()).unwrap();
    });
    let of_pipe: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(of_pipe, json(&sealed.join(NAMES[1]), &init[..2]));
    // Without it, the message names the option.
    let run = lanelock().arg("inspect").arg(sealed.join(NAMES[1])).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("--init"), "{}", stderr(&run));
}

#[test]
fn manifests_are_copied_with_a_warning() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    fs::write(clear.join("stream.mpd"), "<MPD/>").unwrap();
    fs::write(clear.join("list.M3U8"), "#EXTM3U").unwrap();
    let sealed = dir.file("sealed");
    // One that is there and empty is as good as none.
    fs::create_dir(&sealed).unwrap();
    let mut command = lanelock();
    command.arg("encrypt").args([&clear, &sealed]).args(["--scheme", "cbcs", "--sync"]);
    let run = command.env("LANELOCK_KEYS", pair()).output().unwrap();
    assert!(run.status.success(), "{}", stderr(&run));
    assert!(stderr(&run).contains("stream.mpd is copied as it is"), "{}", stderr(&run));
    assert!(stderr(&run).contains("5 fragments"), "{}", stderr(&run));
    assert_eq!(fs::read_to_string(sealed.join("stream.mpd")).unwrap(), "<MPD/>");
    assert_eq!(names(&sealed), names(&clear));
    let mut command = lanelock();
    command.arg("decrypt").args([&sealed, &dir.file("back")]).arg("--json");
    let summary = succeed(command.env("LANELOCK_KEYS", pair()));
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    let units = summary["tracks"].as_array().unwrap().iter();
    let units: u64 = units.map(|track| track["access_units"].as_u64().unwrap()).sum();
    assert_eq!(summary["access_units"], units);
    assert_eq!(summary["fragments"], 5);
    assert_eq!(summary["keys"].as_array().unwrap().len(), 2);
}

/// Everything that is wrong leaves nothing behind, and names what it is about.
#[test]
fn folders_that_are_refused() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let output = dir.file("out");
    let before = dir.names();
    let refused = |input: &Path, output: &Path, args: &[&str], code: i32, words: &[&str]| {
        let mut command = lanelock();
        command.args(["encrypt", "--scheme", "cbcs"]).args([input, output]).args(args);
        let run = command.env("LANELOCK_KEYS", pair()).output().unwrap();
        assert_eq!(run.status.code(), Some(code), "{command:?}: {}", stderr(&run));
        for word in words {
            assert!(stderr(&run).contains(word), "no {word} in {}", stderr(&run));
        }
        assert_eq!(dir.names(), before);
    };
    let with = |name: &str, bytes: &[u8], words: &[&str]| {
        let file = clear.join(name);
        fs::write(&file, bytes).unwrap();
        refused(&clear, &output, &[], 1, &[&[name][..], words].concat());
        fs::remove_file(file).unwrap();
    };
    let init = fs::read(clear.join("init.mp4")).unwrap();
    let segment = fs::read(clear.join(NAMES[0])).unwrap();
    with("notes.txt", b"what to do", &["take it out of the folder"]);
    with(".DS_Store", b"", &["take it out of the folder"]);
    with("init-2.mp4", &init, &["several initialization segments", "init.mp4"]);
    with("whole.mp4", &[&init[..], &segment].concat(), &["a whole file"]);
    with("s-12.m4s", &segment[..segment.len() - 1], &["mdat"]);
    with("s-12.m4s", &segment[..100], &["moof"]);
    fs::create_dir(clear.join("inner")).unwrap();
    refused(&clear, &output, &[], 1, &["inner", "take it out"]);
    fs::remove_dir(clear.join("inner")).unwrap();
    refused(&clear, &clear.join("inner"), &[], 2, &["inside"]);
    let mut command = lanelock();
    command.args(["encrypt", "--scheme", "cbcs", ".", "inner"]).current_dir(&clear);
    let run = command.env("LANELOCK_KEYS", pair()).output().unwrap();
    assert!(run.status.code() == Some(2) && stderr(&run).contains("inside"), "{}", stderr(&run));
    assert!(!clear.join("inner").exists());
    refused(&clear, &clear, &[], 3, &["with files in it"]);
    let file = clear.join("init.mp4");
    refused(&clear, &file, &[], 3, &["not a folder"]);
    refused(&clear, &dir.file("no/such/place"), &[], 3, &["no/such/place"]);
    refused(&clear, &output, &["--init", file.to_str().unwrap()], 2, &["--init", "is a folder"]);
    refused(&clear, &output, &["--layout", "keep"], 2, &["--layout"]);
    refused(&clear, &output, &["--fragment-duration", "3"], 2, &["--fragment-duration"]);
    refused(&clear, Path::new("-"), &[], 2, &["is a folder"]);
    let init_and = |option: &'static [&'static str]| {
        [&["--init", file.to_str().unwrap()][..], option].concat()
    };
    for option in [&["--no-pssh"][..], &["--layout", "keep"], &["--fragment-duration", "1"]] {
        refused(&clear.join(NAMES[0]), &output, &init_and(option), 2, &[option[0]]);
    }
    // Under cbcs a lone segment needs the IV; under the others it must not have it.
    refused(&clear.join(NAMES[0]), &output, &init_and(&[]), 1, &["--iv", NAMES[0]]);
    // A whole file needs no --init; an init is none if it has media.
    refused(&demo_clip(), &output, &init_and(&["--iv", IV]), 1, &["moov", "whole file"]);
    let segment_as_init = clear.join(NAMES[1]);
    let args = ["--init", segment_as_init.to_str().unwrap(), "--iv", IV];
    refused(&clear.join(NAMES[0]), &output, &args, 1, &[NAMES[1], "no initialization segment"]);
    // A track without key.
    let mut command = lanelock();
    command.args(["encrypt", "--scheme", "cbcs"]).args([&clear, &output]);
    command.args(["--key", &format!("video={}", pair())]).stdin(Stdio::null());
    let run = command.output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(dir.names(), before);
    // Without initialization segment, or without any other.
    fs::remove_file(&file).unwrap();
    refused(&clear, &output, &[], 1, &["no initialization segment"]);
    for name in NAMES {
        fs::remove_file(clear.join(name)).unwrap();
    }
    fs::write(&file, init).unwrap();
    refused(&clear, &output, &[], 1, &["no media segment"]);
    // Rewrap takes files.
    let mut command = lanelock();
    command.args(["rewrap", "--scheme", "cbcs", "--key", &pair(), "--to-key", &other_pair()]);
    let run = command.args([&folder(&dir, "second"), &output]).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
    assert!(!output.exists());
}

#[test]
fn a_segment_without_samples() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let traf = |id| boxed(b"traf", &[&full(b"tfhd", &[0x2_0000, id])]);
    let empty = boxed(b"moof", &[&full(b"mfhd", &[0, 1]), &traf(1), &traf(2)]);
    fs::write(clear.join("s-7.m4s"), &empty).unwrap();
    let output = dir.file("out");
    succeed(lanelock().arg("encrypt").args([&clear, &output]).args(fixed("cbcs")));
    assert!(fs::read(output.join("s-7.m4s")).unwrap() == empty);
    let back = dir.file("back");
    succeed(lanelock().arg("decrypt").args([&output, &back]).args(keys()));
    assert!(joined(&back) == joined(&clear));
    // Nothing else.
    for name in NAMES {
        fs::remove_file(clear.join(name)).unwrap();
    }
    let (before, again) = (dir.names(), dir.file("again"));
    let mut command = lanelock();
    let run = command.arg("encrypt").args([&clear, &again]).args(fixed("cbcs")).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("nothing would be protected"), "{}", stderr(&run));
    assert_eq!(dir.names(), before);
}

#[test]
fn a_signal_leaves_no_folder() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let segment = fs::read(clear.join(NAMES[0])).unwrap();
    for number in 1000..3000 {
        fs::write(clear.join(format!("s-{number}.m4s")), &segment).unwrap();
    }
    let (output, before) = (dir.file("out"), dir.names());
    // The machine may be faster than we are.
    let ended = (0..20).any(|_| {
        let mut command = lanelock();
        command.arg("encrypt").args([&clear, &output]).args(["--scheme", "cbc1"]);
        command.args(["--workers", "1", "--key", &pair()]).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_for_handler(&child);
        succeed(Command::new("kill").args(["-TERM", &child.id().to_string()]));
        let run = child.wait_with_output().unwrap();
        if run.status.success() {
            fs::remove_dir_all(&output).unwrap();
            return false;
        }
        assert_eq!(run.status.code(), Some(130), "{}", stderr(&run));
        assert_eq!(dir.names(), before);
        true
    });
    if !ended {
        skip("twenty runs were over before the signal");
    }
}

/// A new folder has the permissions of new folders, and one that was there keeps its own.
#[test]
fn permissions_of_folders() {
    let dir = Dir::new();
    let clear = folder(&dir, "clear");
    let [new, private, plain] = ["new", "private", "plain"].map(|name| dir.file(name));
    fs::create_dir(&plain).unwrap();
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    for output in [&new, &private] {
        succeed(lanelock().arg("encrypt").args([&clear, output]).args(fixed("cbcs")));
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&private), 0o700);
    assert_eq!(mode(&new), mode(&plain));
    assert_eq!(mode(&new.join(NAMES[0])), mode(&clear.join(NAMES[0])));
}

/// To open a FIFO would wait for a writer for ever.
#[test]
fn a_manifest_is_a_file() {
    let dir = Dir::new();
    let path = folder(&dir, "in");
    let made = Command::new("mkfifo").arg(path.join("a.mpd")).status().unwrap();
    assert!(made.success());
    let mut command = lanelock();
    command.arg("encrypt").arg(&path).arg(dir.file("out")).args(fixed("cbcs"));
    let run = command.output().unwrap();
    assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
    assert!(stderr(&run).contains("a.mpd is not a regular file"), "{}", stderr(&run));
    assert!(!dir.file("out").exists());
}
