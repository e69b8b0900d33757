//! The command as a user meets it: help, keys, output, exit codes.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use lanelock_testkit::{Scratch, demo_clip as clip};
use serde_json::Value;

const KID: &str = "00112233445566778899aabbccddeeff";
const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn lanelock() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanelock"));
    command.env_remove("LANELOCK_KEYS").env_remove("LANELOCK_LEVEL").stdin(Stdio::null());
    command
}

/// Runs a command, and makes sure that it never prints the key.
fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    for text in [&stdout, &stderr] {
        assert!(!text.to_lowercase().contains(KEY), "the key was printed: {text}");
    }
    (status.code().unwrap(), stdout, stderr)
}

fn encrypt(output: &Path) -> Command {
    let mut command = lanelock();
    command.arg("encrypt").arg(clip()).arg(output).args(["--scheme", "cbcs"]);
    command
}

#[test]
fn help_shows_examples_and_exit_codes() {
    let (code, out, _) = run(lanelock().arg("--help"));
    assert_eq!(code, 0);
    assert!(out.contains("Exit codes:") && out.contains("encrypt"), "{out}");
    for command in ["encrypt", "decrypt", "rewrap", "inspect", "keys new"] {
        let (code, out, _) = run(lanelock().args(command.split(' ')).arg("--help"));
        assert_eq!(code, 0);
        assert!(out.contains("Examples:"), "{command}: {out}");
    }
}

#[test]
fn wrong_command_lines_end_with_2() {
    let folder = Scratch::new();
    let out = folder.file("out.mp4");
    for args in [
        &["--key", "12:34"][..],
        &["--key", "no colon"],
        &["--key", &format!("vidio={KID}:{KEY}")],
        &["--key", &format!("{KID}:{KEY}"), "--key", &format!("{KID}:{KEY}")],
        &["--key", &format!("{KID}:{KEY}"), "--pattern", "16:0"],
        &["--key", &format!("{KID}:{KEY}"), "--iv", "123"],
        &["--key", &format!("{KID}:{KEY}"), "--pssh", "!!!"],
        &["--key", &format!("{KID}:{KEY}"), "--pssh", "00112233"],
        &["--key", &format!("{KID}:{KEY}"), "--fragment-duration", "-1"],
        &["--no-such-option"],
        &[],
    ] {
        let (code, _, err) = run(encrypt(&out).args(args));
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains("error"), "{args:?}: {err}");
        assert!(!out.exists());
    }
}

#[test]
fn keys_come_from_everywhere() {
    let folder = Scratch::new();
    let key = format!("{KID}:{KEY}");
    let file = folder.file("keys");
    fs::write(&file, format!("# a comment\n\n  all={key}  \n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();

    let (code, _, err) = run(encrypt(&folder.file("a")).args(["--key", &key]));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: other users") && err.contains("--key-file"), "{err}");

    let (code, _, err) = run(encrypt(&folder.file("b")).arg("--key-file").arg(&file));
    assert_eq!(code, 0, "{err}");
    assert!(!err.contains("warning: other users"), "{err}");

    let (code, _, err) = run(encrypt(&folder.file("c")).env("LANELOCK_KEYS", &key));
    assert_eq!(code, 0, "{err}");
    assert!(!err.contains("warning: other users"), "{err}");

    let mut child = encrypt(&folder.file("d"))
        .args(["--key-file", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(key.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());

    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (_, _, err) = run(encrypt(&folder.file("b")).arg("--key-file").arg(&file));
    assert!(err.contains("chmod 600"), "{err}");
    for name in ["a", "b", "c", "d"] {
        let mut back = lanelock();
        back.arg("decrypt").arg(folder.file(name)).arg(folder.file("clear"));
        let (code, _, err) = run(back.env("LANELOCK_KEYS", &key));
        assert_eq!(code, 0, "{err}");
        assert!(fs::read(folder.file("clear")).unwrap() == fs::read(clip()).unwrap(), "{name}");
    }
}

#[test]
fn summaries_are_json_on_request() {
    let folder = Scratch::new();
    let keys = format!("{KID}:{KEY}");
    let mut command = encrypt(&folder.file("out.mp4"));
    let (code, out, _) = run(command.arg("--json").env("LANELOCK_KEYS", &keys));
    assert_eq!(code, 0);
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["bytes_in"], fs::metadata(clip()).unwrap().len());
    assert_eq!(summary["bytes_out"], fs::metadata(folder.file("out.mp4")).unwrap().len());
    assert_eq!(summary["tracks"][0]["scheme"], "cbcs");
    assert_eq!(summary["tracks"][0]["kid"], "00112233-4455-6677-8899-aabbccddeeff");
    let units = |track: &Value| track["access_units"].as_u64().unwrap();
    let tracks = summary["tracks"].as_array().unwrap();
    assert_eq!(summary["access_units"].as_u64().unwrap(), tracks.iter().map(units).sum::<u64>());
    for stage in ["plan", "read", "map", "crypto", "write"] {
        assert!(summary["times"][stage].is_number(), "{stage}");
    }

    let (code, out, err) = run(lanelock()
        .args(["decrypt", "--json", "--quiet"])
        .args([folder.file("out.mp4"), folder.file("clear.mp4")])
        .env("LANELOCK_KEYS", format!("{KEY}:{KID}").replace(KEY, &"9".repeat(32))));
    assert_eq!((code, out.as_str()), (1, ""));
    let error: Value = serde_json::from_str(&err).unwrap();
    assert!(error["error"].as_str().unwrap().contains("no key for its KID"), "{err}");
}

#[test]
fn quiet_prints_nothing() {
    let folder = Scratch::new();
    let mut command = encrypt(&folder.file("out.mp4"));
    let (code, out, err) = run(command.args(["--quiet", "--key", &format!("{KID}:{KEY}")]));
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
}

#[test]
fn cpu_names_the_levels() {
    let at = |value: Option<&str>| -> Value {
        let mut command = lanelock();
        command.args(["cpu", "--json"]);
        let (code, out, _) = run(command.envs(value.map(|value| ("LANELOCK_LEVEL", value))));
        assert_eq!(code, 0, "{value:?}");
        serde_json::from_str(&out).unwrap()
    };
    let cpu = at(None);
    let names: Vec<_> = array(&cpu["families"]).map(|family| text(&family["name"])).collect();
    assert_eq!(names, ["aes", "hash", "sha", "limb"]);
    assert_eq!(cpu["policy"]["max_bits"], 512);
    for (i, name) in names.iter().enumerate() {
        let available = available(&cpu["families"][i]);
        assert_eq!(available[0], "portable");
        assert_eq!(cpu["families"][i]["chosen"], *available.last().unwrap());
        for level in &available {
            let chosen = &at(Some(&format!("{name}={level}")))["families"];
            assert_eq!(chosen[i]["chosen"], **level);
            assert!(text(&chosen[i]["why"]).contains("LANELOCK_LEVEL"), "{chosen}");
            for other in (0..names.len()).filter(|other| *other != i) {
                assert_eq!(chosen[other], cpu["families"][other], "the others are as they were");
            }
        }
    }
    // A name alone is a level of AES.
    for level in available(&cpu["families"][0]) {
        assert_eq!(at(Some(&level))["families"], at(Some(&format!("aes={level}")))["families"]);
    }
    // A limit holds for every family.
    for (max, most) in [("max=128", 128), ("max=256", 256), ("max=512", 512)] {
        let limited = at(Some(max));
        assert_eq!(limited["policy"]["max_bits"], most);
        for family in array(&limited["families"]) {
            let wider =
                |level: &&Value| level["available"] == true && level["bits"].as_u64() > Some(most);
            let within = array(&family["levels"])
                .rfind(|level| level["available"] == true && !wider(level))
                .unwrap();
            assert_eq!(family["chosen"], within["name"], "{max}");
            let policy = text(&family["why"]).contains("policy");
            assert_eq!(policy, array(&family["levels"]).any(|level| wider(&level)), "{max}");
        }
    }
    let folder = Scratch::new();
    for command in [
        lanelock().arg("cpu"),
        encrypt(&folder.file("out")).env("LANELOCK_KEYS", format!("{KID}:{KEY}")),
    ] {
        for (value, what) in [
            ("sse9", "\"sse9\""),
            ("aes=sse9", "\"aes=sse9\""),
            ("hash=sse9", "\"hash=sse9\""),
            ("aes=portable,hash=aesni", "\"hash=aesni\""),
            ("aes=portable,aes=portable", "given twice"),
            ("sums=portable", "there are aes hash sha limb, max"),
            ("portable,", "entry 2 is empty"),
            ("max=300", "there are 128 256 512"),
            ("processor=z80", "there are zen4 zen5 intel arm unknown"),
        ] {
            let (code, _, err) = run(command.env("LANELOCK_LEVEL", value));
            assert_eq!(code, 2, "{value}");
            assert!(err.contains(what), "{err}");
            assert!(!value.contains("sse9") || err.contains("portable"), "{err}");
        }
    }
}

#[test]
fn cpu_says_the_same_in_words() {
    let value = "hash=portable,max=128,processor=zen5";
    let (code, out, _) = run(lanelock().arg("cpu").env("LANELOCK_LEVEL", value));
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "aes");
    let hash = lines.iter().position(|line| *line == "hash").unwrap();
    assert_eq!(lines[hash + 1], "  portable   in use     requires nothing");
    assert!(out.contains("\n  portable is in use: LANELOCK_LEVEL names it.\n"), "{out}");
    assert!(out.contains("\nVectors have at most 128 bits: LANELOCK_LEVEL says so.\n"), "{out}");
    assert!(out.ends_with("fast on zen5 are taken: LANELOCK_LEVEL says so.\n"), "{out}");
}

/// Every level that the processor has is tested, and the others are named.
#[cfg(feature = "engine")]
#[test]
fn selftest_covers_the_levels_of_this_processor() {
    let (code, out, _) = run(lanelock().args(["cpu", "--json"]));
    assert_eq!(code, 0);
    let cpu: Value = serde_json::from_str(&out).unwrap();
    let available = ["aes", "hash"].map(|name| {
        let mut families = array(&cpu["families"]);
        let levels = available(families.find(|family| family["name"] == name).unwrap());
        levels.into_iter().map(move |level| format!("{name} {level}"))
    });
    let available: Vec<_> = available.into_iter().flatten().collect();

    let (code, out, err) = run(lanelock().args(["selftest", "--json"]));
    assert_eq!(code, 0, "{err}");
    let levels: Value = serde_json::from_str(&out).unwrap();
    let tested = array(&levels["levels"]).filter(|level| level["available"] == true);
    let tested: Vec<_> = tested
        .map(|level| {
            let least = if level["family"] == "aes" { 40 } else { 15 };
            assert!(level["algorithms"].as_u64().unwrap() > least, "{level}");
            format!("{} {}", text(&level["family"]), text(&level["name"]))
        })
        .collect();
    assert_eq!(tested, available);

    let (code, out, _) = run(lanelock().arg("selftest"));
    assert_eq!(code, 0);
    assert_eq!(out.matches("algorithms answer as they should").count(), available.len(), "{out}");
    assert_eq!(out.lines().count(), array(&levels["levels"]).len(), "{out}");
}

/// What has every kernel compiled is optional, and a build without it says how to get it.
#[cfg(not(feature = "engine"))]
#[test]
fn a_build_without_the_engine_says_so() {
    for (arguments, json) in [
        (&["speed"][..], false),
        (&["speed", "gcm", "--size", "1k", "--json"], true),
        (&["selftest"], false),
        (&["selftest", "--json"], true),
    ] {
        let (code, out, err) = run(lanelock().args(arguments));
        assert_eq!((code, &*out), (2, ""), "{arguments:?}");
        assert!(err.contains(&format!("this build has no lanelock {}", arguments[0])), "{err}");
        assert!(err.contains("--features engine"), "{err}");
        assert_eq!(err.starts_with('{'), json, "{err}");
    }
}

fn array(value: &Value) -> std::slice::Iter<'_, Value> {
    value.as_array().unwrap().iter()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The levels of a family that this processor has.
fn available(family: &Value) -> Vec<String> {
    let here = array(&family["levels"]).filter(|level| level["available"] == true);
    here.map(|level| text(&level["name"]).to_owned()).collect()
}

/// The same file at every level: what is written does not depend on the processor.
#[test]
fn every_level_writes_the_same() {
    let folder = Scratch::new();
    let (_, out, _) = run(lanelock().args(["cpu", "--json"]));
    let cpu: Value = serde_json::from_str(&out).unwrap();
    for scheme in ["cenc", "cens", "cbc1", "cbcs"] {
        let mut first: Option<Vec<u8>> = None;
        for level in &available(&cpu["families"][0]) {
            let output = folder.file("out.mp4");
            let mut command = lanelock();
            command.arg("encrypt").arg(clip()).arg(&output).args(["--scheme", scheme]);
            command.args(["--iv", &"a5".repeat(16)]).env("LANELOCK_LEVEL", level);
            let other = ["8".repeat(32), "9".repeat(32)].join(":");
            let keys = format!("video={KID}:{KEY} audio={other}");
            let (code, _, err) = run(command.arg("--quiet").env("LANELOCK_KEYS", keys));
            assert_eq!(code, 0, "{err}");
            let bytes = fs::read(&output).unwrap();
            assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{scheme} at {level}");
        }
    }
}
