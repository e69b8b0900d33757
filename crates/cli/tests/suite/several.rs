//! Several inputs in one call.

use crate::support::{
    Dir, decrypt, lanelock, other_pair, pair, segments, stderr, succeed, wait_for_handler,
};
use lanelock_testkit::{demo_clip, longest_clip, skip};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

/// Three inputs, the second of which is none.
fn inputs(dir: &Dir) -> [std::path::PathBuf; 3] {
    let paths = ["a.mp4", "b.mp4", "c.mp4"].map(|name| dir.file(name));
    fs::copy(demo_clip(), &paths[0]).unwrap();
    fs::write(&paths[1], "This is not an MP4 file at all.").unwrap();
    fs::copy(longest_clip("avc_aac.mp4"), &paths[2]).unwrap();
    paths
}

fn names(path: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn one_fails_and_the_others_finish() {
    let dir = Dir::new();
    let inputs = inputs(&dir);
    let out = dir.file("out");
    let arguments = ["--scheme", "cbcs", "--key", &pair()];
    for json in [false, true] {
        let mut command = lanelock();
        command.arg("encrypt").args(&inputs).arg("-o").arg(&out).args(arguments).arg("-q");
        if json {
            command.arg("--json");
        }
        let run = command.output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
        assert_eq!(names(&out), ["a.mp4", "c.mp4"]);
        if json {
            let all: Value = serde_json::from_slice(&run.stdout).unwrap();
            for (object, input) in all.as_array().unwrap().iter().zip(&inputs) {
                assert_eq!(object["input"], input.to_str().unwrap());
                let output = out.join(input.file_name().unwrap());
                assert_eq!(object["output"], output.to_str().unwrap());
            }
            assert_eq!(all[0]["summary"]["tracks"][0]["scheme"], "cbcs");
            assert!(all[2]["summary"]["bytes_out"].as_u64() > Some(0) && all[2]["error"].is_null());
            assert!(all[1]["error"].as_str().unwrap().contains("b.mp4"), "{all}");
            assert!(all[1]["summary"].is_null() && all[1]["hint"].is_string());
        } else {
            let text = stderr(&run);
            assert_eq!(text.lines().filter(|line| line.starts_with("error: ")).count(), 1);
            assert!(text.contains("b.mp4") && run.stdout.is_empty(), "{text}");
        }
    }
    // Back; the folder of the output is that of the inputs' names.
    let clear = dir.file("clear/");
    let mut command = lanelock();
    command.arg("decrypt").args([out.join("a.mp4"), out.join("c.mp4")]).arg("-o").arg(&clear);
    succeed(command.args(["-q", "--key", &pair()]));
    assert!(fs::read(clear.join("a.mp4")).unwrap() == fs::read(demo_clip()).unwrap());
    // Rewrap, and a second failure: the code is that of the first one.
    let anew = dir.file("anew");
    let mut command = lanelock();
    command.arg("rewrap").arg(out.join("a.mp4")).arg(dir.file("absent.mp4")).arg(&inputs[1]);
    command.args(["--scheme", "cenc", "--key", &pair(), "--to-key", &other_pair(), "-q", "-o"]);
    let run = command.arg(&anew).output().unwrap();
    assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
    assert_eq!(stderr(&run).lines().filter(|line| line.starts_with("error: ")).count(), 2);
    decrypt(&anew.join("a.mp4"), &dir.file("back.mp4"), &other_pair());
    assert!(fs::read(dir.file("back.mp4")).unwrap() == fs::read(demo_clip()).unwrap());
    // All fail: no empty folder stays.
    let none = dir.file("none");
    let mut command = lanelock();
    command.arg("encrypt").args([&inputs[1], &dir.file("absent.mp4")]).arg("-o").arg(&none);
    assert_eq!(command.args(arguments).output().unwrap().status.code(), Some(1));
    assert!(!none.exists());
}

/// Folders of segments may be among them.
#[test]
fn folders_among_them() {
    let dir = Dir::new();
    let folder = dir.file("segments");
    fs::create_dir(&folder).unwrap();
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    fs::write(folder.join("init.mp4"), &init).unwrap();
    fs::write(folder.join("1.m4s"), &media[0]).unwrap();
    let out = dir.file("out");
    let mut command = lanelock();
    command.arg("encrypt").arg(&folder).arg(demo_clip()).arg("-o").arg(&out);
    succeed(command.args(["-q", "--scheme", "cenc", "--key", &pair()]));
    assert_eq!(names(&out), ["demo.mp4", "segments"]);
    let mut command = lanelock();
    command.arg("decrypt").arg(out.join("segments")).arg("-o").arg(dir.file("back"));
    succeed(command.args(["-q", "--key", &pair()]));
    assert!(fs::read(dir.file("back/1.m4s")).unwrap() == media[0]);
}

#[test]
fn one_input_with_o() {
    let dir = Dir::new();
    let arguments = ["-q", "--scheme", "cbcs", "--key", &pair()];
    fs::create_dir(dir.file("there")).unwrap();
    for (output, file) in [
        ("file.mp4", "file.mp4"),
        ("there", "there/demo.mp4"),
        ("new/", "new/demo.mp4"),
        ("there/again.mp4", "there/again.mp4"),
    ] {
        let mut command = lanelock();
        command.arg("encrypt").arg("-o").arg(dir.file(output)).arg(demo_clip());
        succeed(command.args(arguments));
        decrypt(&dir.file(file), &dir.file("back.mp4"), &pair());
        assert!(fs::read(dir.file("back.mp4")).unwrap() == fs::read(demo_clip()).unwrap());
    }
}

/// Found before any work.
#[test]
fn names_that_clash() {
    let dir = Dir::new();
    let [a, b, c] = inputs(&dir);
    for folder in ["one", "two", "out"] {
        fs::create_dir(dir.file(folder)).unwrap();
    }
    let (one, two) = (dir.file("one/x.mp4"), dir.file("two/x.mp4"));
    fs::copy(&a, &one).unwrap();
    fs::copy(&c, &two).unwrap();
    let out = dir.file("out");
    symlink(&one, out.join("a.mp4")).unwrap();
    let refused = |paths: &[&std::path::Path], output: &std::path::Path, words: &[&str]| {
        let mut command = lanelock();
        command.arg("encrypt").args(paths).arg("-o").arg(output);
        let run = command.args(["--scheme", "cbcs", "--key", &pair()]).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
        for word in words {
            assert!(stderr(&run).contains(word), "no {word} in {}", stderr(&run));
        }
        assert_eq!(names(&out), ["a.mp4"]);
        assert!(!dir.file("new").exists());
    };
    refused(&[&c, &one, &two], &out, &["two inputs", "x.mp4"]);
    refused(&[&a, &a], &dir.file("new"), &["two inputs"]);
    // An output that is an input, its own or another's, by a link too.
    refused(&[&a, &b, &c], dir.path(), &["same file"]);
    refused(&[&a, &one], &out, &["same file"]);
    refused(&[&a, &c], &b, &["is not a folder"]);
    assert!(fs::read(&one).unwrap() == fs::read(&a).unwrap());
    for (paths, word) in [(vec![&a], "no output"), (vec![&a, &b, &c], "-o FOLDER")] {
        let mut command = lanelock();
        command.arg("encrypt").args(paths).args(["--scheme", "cbcs", "--key", &pair()]);
        let run = command.output().unwrap();
        assert_eq!(run.status.code(), Some(2));
        assert!(stderr(&run).contains(word), "{}", stderr(&run));
    }
}

#[test]
fn a_signal_ends_all_of_them() {
    let dir = Dir::new();
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    let long = [init, media.concat().repeat(300)].concat();
    let paths: Vec<_> = (0..4).map(|n| dir.file(&format!("{n}.mp4"))).collect();
    for path in &paths {
        fs::write(path, &long).unwrap();
    }
    for json in [false, true] {
        // The machine may be faster than we are.
        let ended = (0..20).any(|_| {
            let out = dir.file("out");
            let _ = fs::remove_dir_all(&out);
            let mut command = lanelock();
            command.arg("encrypt").args(&paths).arg("-o").arg(&out).args(["--workers", "1"]);
            command.args(["-q", "--scheme", "cbc1", "--key", &pair()]);
            if json {
                command.arg("--json");
            }
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait_for_handler(&child);
            succeed(Command::new("kill").args(["-INT", &child.id().to_string()]));
            let run = child.wait_with_output().unwrap();
            if run.status.success() {
                return false;
            }
            assert_eq!(run.status.code(), Some(130), "{}", stderr(&run));
            if json {
                let all: Value = serde_json::from_slice(&run.stdout).unwrap();
                assert_eq!(all.as_array().unwrap().len(), 4);
                assert!(all[3]["error"].as_str().unwrap().contains("interrupted"), "{all}");
            } else {
                assert_eq!(stderr(&run).matches("interrupted").count(), 1, "{}", stderr(&run));
            }
            // Those that were finished, and nothing else.
            let left = if out.exists() { names(&out) } else { Vec::new() };
            assert!(left.len() < 4 && left.iter().all(|name| !name.starts_with('.')), "{left:?}");
            true
        });
        if !ended {
            skip("twenty runs were over before the signal");
        }
    }
}

/// One IV for several inputs would be the same key stream several times.
#[test]
fn one_iv_for_several_inputs() {
    let dir = Dir::new();
    let [a, _, c] = inputs(&dir);
    let out = dir.file("out");
    for scheme in ["cenc", "cens", "cbc1", "cbcs"] {
        let mut command = lanelock();
        command.arg("encrypt").args([&a, &c]).arg("-o").arg(&out).args(["-q", "--scheme", scheme]);
        let video = format!("video={}", pair());
        let audio = format!("audio={}", other_pair());
        command.args(["--key", &video, "--key", &audio, "--iv"]);
        let run = command.arg("00112233445566778899aabbccddeeff").output().unwrap();
        let good = scheme == "cbcs";
        assert_eq!(run.status.code(), Some(if good { 0 } else { 2 }), "{scheme} {}", stderr(&run));
        assert!(good || stderr(&run).contains("same IVs") && !out.exists());
    }
}

/// What is written into a folder of segments would be taken for one of them.
#[test]
fn outputs_in_input_folders() {
    let dir = Dir::new();
    let [a, ..] = inputs(&dir);
    let folder = dir.file("segments");
    fs::create_dir(&folder).unwrap();
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    fs::write(folder.join("init.mp4"), init).unwrap();
    fs::write(folder.join("1.m4s"), &media[0]).unwrap();
    symlink(&folder, dir.file("link")).unwrap();
    let mut command = lanelock();
    command.arg("encrypt").args([&dir.file("link"), &a]).arg("-o").arg(&folder);
    let run = command.args(["--scheme", "cbcs", "--key", &pair()]).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
    assert!(stderr(&run).contains("is in the input folder"), "{}", stderr(&run));
    assert_eq!(names(&folder), ["1.m4s", "init.mp4"]);
}

/// Names of files that are there are no keys.
#[test]
fn names_like_keys_are_shown_of_files() {
    let dir = Dir::new();
    let name = dir.file(&format!("{}.mp4", "d41d8cd98f00b204".repeat(2)));
    fs::copy(demo_clip(), &name).unwrap();
    let mut command = lanelock();
    command.args(["encrypt", "--json", "--scheme", "cbcs", "--key", &pair(), "-o"]);
    let run = command.arg(dir.file("out/")).arg(&name).output().unwrap();
    assert!(run.status.success(), "{}", stderr(&run));
    let all: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(all[0]["input"], name.to_str().unwrap());
}
