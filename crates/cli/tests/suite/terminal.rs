//! What is printed: colours where a terminal shows them, no control character of a file's name, and no more
//! than was asked for.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{Dir, lanelock, pair, stderr, succeed};
use lanelock_testkit::{demo_clip, script};
use serde_json::Value;

/// The demo under a name with a colour, a new line, a C1 control and characters that turn the direction of
/// writing.
const NAME: &str = "a\u{1b}[31m\n\u{9b}\u{202e}4pm\u{2066}.mp4";
const SHOWN: &str = r"a\u{1b}[31m\n\u{9b}\u{202e}4pm\u{2066}.mp4";

/// Whether a terminal would act on something in the text.
fn is_harmless(text: &str) -> bool {
    let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().all(|c| c == '\n' || !c.is_control() && !turns(c))
}

/// What a command prints on a terminal.
fn on_terminal(script: &Path, variables: &[(&str, &str)], arguments: &str) -> String {
    let line = format!("'{}' {arguments}", env!("CARGO_BIN_EXE_lanelock"));
    let mut command = Command::new(script);
    command.args(["-qc", &line, "/dev/null"]).stdin(Stdio::null());
    // On a build server (CI) colours are taken for wanted.
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "LANELOCK_KEYS"] {
        command.env_remove(name);
    }
    let run = command.env("TERM", "xterm").envs(variables.iter().copied()).output().unwrap();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn colours_are_for_terminals() {
    let Some(script) = script() else { return };
    let dir = Dir::new();
    let clip = demo_clip();
    let (clip, absent) = (clip.display(), dir.file("absent.mp4"));
    let fails = format!("decrypt --no-progress '{clip}' '{}'", absent.display());
    let inspects = format!("inspect '{clip}'");
    let warns = format!("{fails} --key {}", pair());
    let red = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    let green = "\u{1b}[32mhint:\u{1b}[0m ";
    let yellow = "\u{1b}[1m\u{1b}[33mwarning:\u{1b}[0m ";
    let text = on_terminal(&script, &[], &fails);
    assert!(text.contains(red) && text.contains(green), "{text:?}");
    let text = on_terminal(&script, &[], &warns);
    assert!(text.contains(yellow), "{text:?}");
    let text = on_terminal(&script, &[], &inspects);
    assert!(text.starts_with("\u{1b}[1m"), "{text:?}");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for arguments in [&fails, &warns, &inspects] {
            let text = on_terminal(&script, &[variable], arguments);
            assert!(!text.is_empty() && !text.contains('\u{1b}'), "{variable:?}: {text:?}");
        }
    }
    // Nor in a pipe.
    let run = lanelock().args(["decrypt", "in.mp4", "out.mp4"]).output().unwrap();
    assert!(stderr(&run).starts_with("error: ") && stderr(&run).contains("\nhint: "));
}

#[test]
fn names_are_escaped_in_every_message() {
    let dir = Dir::new();
    let (input, output) = (dir.file(NAME), dir.file(&format!("out {NAME}")));
    fs::copy(demo_clip(), &input).unwrap();
    let encrypt = |args: &[&str]| {
        let mut command = lanelock();
        command.arg("encrypt").args([&input, &output]).args(["--scheme", "cbcs"]).args(args);
        command
    };
    let key = ["--key", &pair()];
    // A summary, an error, a warning and an error of the command line.
    let mut said = vec![
        (encrypt(&key).output().unwrap(), 0),
        (encrypt(&["--key", &format!("video={}", pair())]).output().unwrap(), 1),
        (lanelock().arg("inspect").arg(dir.file(&format!("no {NAME}"))).output().unwrap(), 3),
        (lanelock().args(["inspect", "x.mp4", NAME]).output().unwrap(), 2),
    ];
    fs::write(dir.file(&format!("keys {NAME}")), pair()).unwrap();
    let mut command = lanelock();
    command.arg("decrypt").args([&output, &dir.file("back")]).arg("--key-file");
    said.push((command.arg(dir.file(&format!("keys {NAME}"))).output().unwrap(), 0));
    said.push((lanelock().arg("inspect").arg(&input).output().unwrap(), 0));
    for (number, (run, code)) in said.iter().enumerate() {
        let text = format!("{}{}", stderr(run), String::from_utf8_lossy(&run.stdout));
        assert_eq!(run.status.code(), Some(*code), "{text}");
        assert!(is_harmless(&text), "{number}: {text:?}");
        // clap leaves the colour out, not only its escape.
        assert!(text.contains(SHOWN) || number == 3 && text.contains(r"\u{202e}4pm"), "{text}");
    }
}

/// In JSON the value is the name itself, and the text is harmless.
#[test]
fn json_has_the_names_as_they_are() {
    let dir = Dir::new();
    let (input, folder) = (dir.file(NAME), dir.file("out"));
    fs::copy(demo_clip(), &input).unwrap();
    let mut command = lanelock();
    command.arg("encrypt").arg(&input).arg("-o").arg(format!("{}/", folder.display()));
    let json = succeed(command.args(["--scheme", "cbcs", "--json", "--key", &pair()]));
    let json = String::from_utf8(json).unwrap();
    assert!(is_harmless(&json), "{json:?}");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value[0]["input"], input.to_str().unwrap());
    let absent = dir.file(&format!("no {NAME}"));
    let mut command = lanelock();
    command.arg("decrypt").args([&absent, &dir.file("x")]).args(["--json", "-q", "--key", &pair()]);
    let text = stderr(&command.output().unwrap());
    assert!(is_harmless(&text), "{text:?}");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(value["error"].as_str().unwrap().contains(absent.to_str().unwrap()));
}

#[test]
fn stages_are_for_those_who_ask() {
    let dir = Dir::new();
    let encrypt = |args: &[&str]| {
        let mut command = lanelock();
        command.arg("encrypt").args([&demo_clip(), &dir.file("out.mp4")]);
        command.args(["--scheme", "cbcs", "--key", &pair()]).args(args).output().unwrap()
    };
    let text = stderr(&encrypt(&[]));
    assert!(text.contains("out.mp4: ") && !text.contains(" %"), "{text}");
    // A rate of a small file has digits that count.
    let rate = text.rsplit(" at ").next().unwrap();
    assert!(rate.ends_with("B/s\n") && !rate.starts_with("0.0"), "{text}");
    for verbose in ["-v", "--verbose"] {
        let text = stderr(&encrypt(&[verbose]));
        assert!(text.contains(": plan ") && text.contains(" %, write "), "{text}");
    }
    for other in ["--quiet", "--json"] {
        let run = encrypt(&["--verbose", other]);
        assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
    }
}
