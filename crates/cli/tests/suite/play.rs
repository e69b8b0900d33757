//! `lanelock play`: what the command adds to the server, which has its own tests.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use crate::support::{Dir, KEY, KID, OTHER_KID, lanelock, pair, stderr};
use serde_json::Value;

struct Playing {
    child: Child,
    address: String,
    token: String,
}

impl Playing {
    fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        let (address, token) = url.strip_prefix("http://").unwrap().split_once("/#").unwrap();
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { child, address, token }
    }

    fn ask(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, len) = (&self.address, body.len());
        write!(stream, "{head} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len}\r\n\r\n{body}")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// Ends it by a signal: the exit code, and what it wrote to stderr.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (code, text)
    }
}

fn stream() -> Dir {
    let folder = Dir::new();
    fs::write(folder.file("manifest.mpd"), "<MPD/>").unwrap();
    folder
}

#[test]
fn it_serves_until_a_signal_ends_it() {
    let folder = stream();
    for signal in ["INT", "TERM"] {
        let playing = Playing::start(lanelock().arg("play").arg(folder.path()).arg("--json"));
        assert!(playing.address.starts_with("127.0.0.1:"));
        assert!(playing.ask("GET /", "").contains("<title>lanelock play</title>"));
        assert!(playing.ask("GET /stream/manifest.mpd", "").ends_with("<MPD/>"));
        assert_eq!(playing.end(signal), (Some(0), String::new()), "{signal}");
    }
}

#[test]
fn keys_come_as_for_other_commands_and_missing_ones_are_told() {
    let folder = stream();
    let keys = Dir::new();
    fs::write(keys.file("keys.txt"), format!("video={}\n", pair())).unwrap();
    Command::new("sh")
        .args(["-c", "chmod 600 \"$0\""])
        .arg(keys.file("keys.txt"))
        .status()
        .unwrap();
    let file = keys.file("keys.txt");
    let mut by_environment = lanelock();
    by_environment.env("LANELOCK_KEYS", pair());
    let mut by_file = lanelock();
    by_file.args(["play", "--json"]).arg("--key-file").arg(&file).arg(folder.path());
    by_environment.args(["play", "--json"]).arg(folder.path());
    for command in [&mut by_file, &mut by_environment] {
        let playing = Playing::start(command);
        let asked = format!("POST /licence?{}", playing.token);
        // KID and KEY in base64url, as `basenc --base64url` writes them.
        let answer = playing.ask(&asked, r#"{"kids":["ABEiM0RVZneImaq7zN3u_w"]}"#);
        assert!(answer.contains(r#""k":"Dx4tPEtaaXiHlqW0w9Lh8A""#), "{answer}");
        let answer = playing.ask(&asked, r#"{"kids":["oKGio6SlpqeoqaqrrK2urw"]}"#);
        assert!(
            answer.starts_with("HTTP/1.1 404 ") && answer.contains("no key is given"),
            "{answer}"
        );
        let (code, said) = playing.end("INT");
        assert_eq!(code, Some(0));
        let warning: Value = serde_json::from_str(said.trim()).unwrap();
        let kid = warning["warning"].as_str().unwrap().replace('-', "");
        assert!(kid.contains(OTHER_KID), "{said}");
        assert!(!said.contains(KEY) && !said.contains(KID), "{said}");
    }
}

#[test]
fn what_cannot_be_played_says_why() {
    let folder = Dir::new();
    let clip = lanelock_testkit::small_clip("avc_aac.mp4").path;
    fs::write(folder.file("a.txt"), "").unwrap();
    for (stream, code, words) in [
        (folder.path().to_str().unwrap(), 1, "lanelock package"),
        (folder.file("a.txt").to_str().unwrap(), 1, "neither a manifest"),
        (folder.file("absent").to_str().unwrap(), 3, "cannot read"),
        (clip.to_str().unwrap(), 1, "progressive"),
        ("ftp://example.com/a.mpd", 2, "not the URL of a manifest"),
    ] {
        let output = lanelock().args(["play", stream]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{stream}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{stream}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
    let folder = stream();
    let with = |option: &[&str]| {
        let output = lanelock().arg("play").arg(folder.path()).args(option).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let (code, said) = with(&["--key", "0011:2233"]);
    assert!(code == Some(2) && said.contains("--key") && !said.contains("2233"), "{said}");
    for origin in ["example.com", "https://example.com/", "https://", "*"] {
        let (code, said) = with(&["--allow-origin", origin]);
        assert!(code == Some(2) && said.contains("an origin is https://HOST"), "{origin}: {said}");
    }
    let taken = Playing::start(lanelock().arg("play").arg(folder.path()).arg("--json"));
    let (code, said) = with(&["--port", taken.address.rsplit(':').next().unwrap()]);
    assert!(code == Some(3) && said.contains("cannot listen on 127.0.0.1:"), "{said}");
    taken.end("INT");
}
