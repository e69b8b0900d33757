//! `lanelock sum` beside the commands of GNU: the same lists, read by one another.

use std::{
    fs,
    process::{Command, Stdio},
};

use lanelock_testkit::{Rng, Scratch, skip};

const SHA256SUM: &str = "sha256sum";

fn lanelock(folder: &Scratch) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanelock"));
    command
        .arg("sum")
        .env_remove("LANELOCK_LEVEL")
        .current_dir(folder.file(""))
        .stdin(Stdio::null());
    command
}

/// Exit code, standard output, standard error.
fn run(command: &mut Command) -> (i32, String, String) {
    let (code, out, err) = run_bytes(command);
    (code, String::from_utf8(out).unwrap(), err)
}

/// The same, where names of files need not be text.
fn run_bytes(command: &mut Command) -> (i32, Vec<u8>, String) {
    let output = command.output().unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// Files of many lengths, more than are read at once.
fn files(folder: &Scratch) -> Vec<String> {
    let mut rng = Rng::from_env("files of sum");
    let lengths = [0, 1, 63, 64, 65, 111, 112, 128 << 10, (128 << 10) + 1, 700_001];
    (0..50)
        .map(|number| {
            let name = match number {
                7 => "a name\nof two lines".into(),
                8 => "a\\b".into(),
                _ => format!("file {number}"),
            };
            let length = if number < lengths.len() { lengths[number] } else { rng.below(10_000) };
            fs::write(folder.file(&name), rng.bytes(length)).unwrap();
            name
        })
        .collect()
}

#[test]
fn lists_are_those_of_gnu() {
    let folder = Scratch::new();
    let files = files(&folder);
    for (option, program) in [
        (None, "sha256sum"),
        (Some("--sha256"), "sha256sum"),
        (Some("--sha1"), "sha1sum"),
        (Some("--sha224"), "sha224sum"),
        (Some("--sha384"), "sha384sum"),
        (Some("--sha512"), "sha512sum"),
        (Some("--blake2b"), "b2sum"),
    ] {
        let mut gnu = Command::new(program);
        gnu.args(&files).current_dir(folder.file(""));
        if gnu.output().is_err() {
            skip(&format!("{program} is not here"));
            continue;
        }
        let (code, expected, _) = run(&mut gnu);
        assert_eq!(code, 0);
        for level in ["", "hash=avx2", "hash=portable,sha=portable"] {
            let mut command = lanelock(&folder);
            command.args(option).args(&files).env("LANELOCK_LEVEL", level);
            let (code, found, err) = run(&mut command);
            if code == 2 && level == "hash=avx2" {
                skip(&format!("level hash=avx2: {err}"));
                continue;
            }
            assert_eq!((code, err.as_str()), (0, ""), "{option:?} {level}");
            assert!(found == expected, "{option:?} {level}:\n{found}\n{expected}");
        }
        fs::write(folder.file("sums"), &expected).unwrap();
        let (code, found, err) = run(lanelock(&folder).args(option).args(["--check", "sums"]));
        assert_eq!((code, err.as_str()), (0, ""));
        let (_, expected, _) = run(Command::new(program)
            .args(["--check", "sums"])
            .env("LC_ALL", "C")
            .current_dir(folder.file("")));
        assert_eq!(found, expected);
        let tagged =
            run(Command::new(program).arg("--tag").args(&files).current_dir(folder.file(""))).1;
        fs::write(folder.file("tagged"), tagged).unwrap();
        let (code, found, err) = run(lanelock(&folder).args(option).args(["-c", "tagged", "-q"]));
        assert_eq!((code, found.as_str(), err.as_str()), (0, "", ""), "{option:?}");
    }
}

/// Names in any encoding, with what a list escapes, in lists that both commands write and read.
#[cfg(unix)]
#[test]
fn names_that_are_not_text() {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt};
    let folder = Scratch::new();
    let names: [&[u8]; 8] = [
        b"plain",
        b"\xff\xfe",
        b"caf\xe9 \xa4",
        b"\xc3\x28\\n",
        b"two\nlines\xff",
        b"\\\xf0\x9f",
        b"\xe2\x82(a) = b",
        b" *\xff ",
    ];
    let names = names.map(|name| OsString::from_vec(name.to_vec()));
    for (name, length) in names.iter().zip(0..) {
        if let Err(error) = fs::write(folder.file("").join(name), vec![7; length]) {
            return skip(&format!("a file system of names in UTF-8 alone: {error}"));
        }
    }
    let gnu = |arguments: &[&str], files: &[OsString]| {
        let mut command = Command::new(SHA256SUM);
        command.args(arguments).args(files).env("LC_ALL", "C").current_dir(folder.file(""));
        command
    };
    if gnu(&["--version"], &[]).output().is_err() {
        return skip(&format!("{SHA256SUM} is not here"));
    }
    let (code, list, err) = run_bytes(lanelock(&folder).args(&names));
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = run_bytes(&mut gnu(&[], &names)).1;
    assert_eq!(list.escape_ascii().to_string(), expected.escape_ascii().to_string());
    let tagged = run_bytes(&mut gnu(&["--tag"], &names)).1;
    for (name, list) in [("sums", &list), ("tagged", &tagged)] {
        fs::write(folder.file(name), list).unwrap();
        let ours = run_bytes(lanelock(&folder).args(["--check", name]));
        let theirs = run_bytes(&mut gnu(&["--check", name], &[]));
        assert_eq!((ours.0, ours.2.as_str()), (0, ""), "{name}");
        assert_eq!(ours.1.escape_ascii().to_string(), theirs.1.escape_ascii().to_string());
    }
    fs::write(folder.file("").join(&names[1]), "changed").unwrap();
    let (code, out, _) = run_bytes(lanelock(&folder).args(["--check", "sums", "--quiet"]));
    assert_eq!((code, out.as_slice()), (1, &b"\xff\xfe: FAILED\n"[..]));
    let (code, json, _) = run(lanelock(&folder).args(["--check", "sums", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, json["files"][1]["path"].as_str()), (1, Some("\u{fffd}\u{fffd}")));
}

/// The examples of NIST for SHA-3, and that of GB/T 32905: of "abc".
#[test]
fn hashes_that_gnu_has_no_command_for() {
    let folder = Scratch::new();
    fs::write(folder.file("abc"), "abc").unwrap();
    for (option, expected) in [
        ("--sha3-256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            "--sha3-512",
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
             10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
        ("--sm3", "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
    ] {
        let (code, found, _) = run(lanelock(&folder).args([option, "abc"]));
        assert_eq!((code, found), (0, format!("{expected}  abc\n")), "{option}");
    }
}

/// RFC 9861, 5: KT128 of the pattern of 17^5 bytes, with 32 bytes of output.
#[test]
fn a_tree() {
    let folder = Scratch::new();
    let pattern: Vec<u8> = (0..=0xfa).cycle().take(17_usize.pow(5)).collect();
    fs::write(folder.file("pattern"), &pattern).unwrap();
    let (code, out, err) = run(lanelock(&folder).args(["--k12", "pattern"]));
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "844d610933b1b9963cbdeb5ae3b6b05cc7cbd67ceedf883eb678a0a8e0371682  pattern\n");
}

#[test]
fn what_does_not_match_is_named() {
    let folder = Scratch::new();
    for name in ["a", "b", "c"] {
        fs::write(folder.file(name), name).unwrap();
    }
    let sums = run(lanelock(&folder).args(["a", "b", "c"])).1;
    fs::write(folder.file("sums"), &sums).unwrap();
    fs::write(folder.file("b"), "B").unwrap();
    let (code, out, err) = run(lanelock(&folder).args(["--check", "sums"]));
    assert_eq!((code, out.as_str()), (1, "a: OK\nb: FAILED\nc: OK\n"));
    assert!(err.contains("1 of 3 digests do not match"), "{err}");
    let (code, out, _) = run(lanelock(&folder).args(["--check", "sums", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["files"][1]["ok"]), (1, &false.into()));
    fs::remove_file(folder.file("c")).unwrap();
    fs::write(folder.file("b"), "b").unwrap();
    let (code, out, err) = run(lanelock(&folder).args(["--check", "sums"]));
    assert_eq!((code, out.as_str()), (3, "a: OK\nb: OK\nc: FAILED open or read\n"));
    assert!(err.contains("cannot read c") && err.contains("1 of 3 files"), "{err}");
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Scratch::new();
    fs::write(folder.file("a"), "a").unwrap();
    let (code, out, err) = run(lanelock(&folder).args(["missing", "a", "."]));
    assert_eq!((code, out.lines().count()), (3, 1));
    assert!(err.contains("cannot read missing") && err.contains("folder"), "{err}");
    let (code, _, err) = run(lanelock(&folder).args(["--check", "a"]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("not a line of SHA256"), "{err}");
    fs::write(folder.file("empty"), "").unwrap();
    let (code, _, err) = run(lanelock(&folder).args(["--check", "empty"]));
    assert_eq!(code, 1, "{err}");
    let (code, _, _) = run(lanelock(&folder).args(["--sha1", "--sha256", "a"]));
    assert_eq!(code, 2);
    let (code, _, err) = run(lanelock(&folder).arg("a").env("LANELOCK_LEVEL", "hash=sse9"));
    assert!(code == 2 && err.contains("sse9"), "{err}");
}
