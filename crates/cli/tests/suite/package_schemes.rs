//! `lanelock package --scheme cbcs,cenc`: streams with both schemes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{
    Dir, KEY, Read, compare, lanelock, packets, pair, shaka, shaka_keys, stderr, succeed,
};
use lanelock_testkit::{dash_rules, ffmpeg, hls_rules, shaka_packager, small_clip};

fn clip(name: &str) -> PathBuf {
    small_clip(name).path
}

/// `lanelock package INPUT... -o OUTPUT ARGS`.
fn package(inputs: &[&Path], output: &Path, args: &[&str]) -> Command {
    let mut command = lanelock();
    command.arg("package").args(inputs).arg("-o").arg(output).args(["--segment", "500ms"]);
    command.args(args).env("LANELOCK_KEYS", pair());
    command
}

/// All of a track as one file.
fn joined(stream: &Path, name: &str, to: &Path) {
    let mut bytes = fs::read(stream.join(format!("{name}/init.mp4"))).unwrap();
    for number in 1.. {
        let Ok(segment) = fs::read(stream.join(format!("{name}/{number}.m4s"))) else { break };
        bytes.extend(segment);
    }
    fs::write(to, bytes).unwrap();
}

#[test]
fn other_programs_decrypt_both() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let packager = shaka_packager();
    for name in ["avc.mp4", "aac.mp4"] {
        decrypted_by_others(&clip(name), &ffmpeg, packager.as_deref());
    }
}

fn decrypted_by_others(input: &Path, ffmpeg: &Path, packager: Option<&Path>) {
    let dir = Dir::new();
    let stream = dir.file("stream");
    let args = ["--scheme", "cbcs,cenc", "--drm", "clearkey,common", "--json"];
    let summary: serde_json::Value =
        serde_json::from_slice(&succeed(&mut package(&[input], &stream, &args))).unwrap();
    assert_eq!(summary["scheme"], "cbcs,cenc");
    let manifests = ["manifest.mpd", "main-cbcs.m3u8", "main-cenc.m3u8"];
    assert_eq!(summary["manifests"], serde_json::json!(manifests));
    let size = |path: &str| fs::metadata(stream.join(path)).ok().map(|file| file.len());
    let text = |path: &str| fs::read_to_string(stream.join(path)).ok();
    assert_eq!(dash_rules(&text("manifest.mpd").unwrap(), &size), [""; 0]);
    for main in &manifests[1..] {
        assert_eq!(hls_rules(main, &text, &size), [""; 0], "{main}");
    }
    let tracks = summary["tracks"].as_array().unwrap();
    assert_eq!(tracks.len(), 2);
    for track in tracks {
        let (name, scheme) = (track["name"].as_str().unwrap(), track["scheme"].as_str().unwrap());
        assert!(name.ends_with(&format!("-{scheme}")), "{name}");
        let kind = track["kind"].as_str().unwrap();
        let clear = packets(ffmpeg, input, Read::File, None, "0").unwrap();
        let whole = dir.file(&format!("{name}.mp4"));
        joined(&stream, name, &whole);
        let theirs = packets(ffmpeg, &whole, Read::Pipe, Some(KEY), "0").unwrap();
        compare(&theirs, &clear).unwrap_or_else(|why| panic!("{name}: ffmpeg: {why}"));
        if let Some(packager) = packager {
            let args = ["--enable_raw_key_decryption", "--keys", &shaka_keys()];
            let files = shaka(packager, &dir, &whole, name, &[kind], &args).unwrap();
            let theirs = packets(ffmpeg, &files[0], Read::File, None, "0").unwrap();
            compare(&theirs, &clear).unwrap_or_else(|why| panic!("{name}: Shaka Packager: {why}"));
        }
    }
}

#[test]
fn jobs_have_one_scheme_or_several() {
    let dir = Dir::new();
    let (input, output, file) = (clip("avc.mp4"), dir.file("stream"), dir.file("job.toml"));
    for (schemes, line, manifests) in
        [("cbcs", "scheme = \"cbcs\"", 2), ("cenc,cbcs", "scheme = [\"cenc\", \"cbcs\"]", 3)]
    {
        let args = ["--scheme", schemes, "--print-job"];
        let mut job = succeed(&mut package(&[&input], &output, &args));
        let text = String::from_utf8(job.clone()).unwrap();
        // The array may stand on several lines.
        let flat = text.replace("\n    ", " ").replace(",\n]", "]").replace("[ ", "[");
        assert!(flat.contains(line), "{text}");
        job.extend(b"");
        fs::write(&file, job).unwrap();
        let mut command = lanelock();
        command.args(["package", "--dry-run", "--json", "--job"]).arg(&file);
        let plan = succeed(command.env("LANELOCK_KEYS", pair()));
        let plan: serde_json::Value = serde_json::from_slice(&plan).unwrap();
        assert_eq!(plan["scheme"], schemes);
        assert_eq!(plan["manifests"].as_array().unwrap().len(), manifests);
        assert!(!output.exists());
    }
    fs::write(&file, "scheme = [\"cbcs\", \"cens\"]\n").unwrap();
    let output = lanelock().args(["package", "--job"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("line 1") && said.contains("`cens`") && said.contains("`cenc`"),
        "{said}"
    );
}

#[test]
fn what_both_schemes_cannot_be_is_told() {
    let dir = Dir::new();
    let (input, stream) = (clip("avc.mp4"), dir.file("stream"));
    let fails = |command: &mut Command, parts: &[&str]| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        for part in parts {
            assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
        }
    };
    fails(&mut package(&[&input], &stream, &["--scheme", "cbcs,cbcs"]), &["twice"]);
    fails(&mut package(&[&input], &stream, &["--scheme", "cbcs,cens"]), &["cens", "cbcs, cenc"]);
    let args = ["--scheme", "cbcs,cenc", "--drm", "fairplay", "--skd", "skd://a"];
    fails(&mut package(&[&input], &stream, &args), &["FairPlay", "add a system"]);
    // One file has one scheme.
    let mut encrypt = lanelock();
    encrypt.arg("encrypt").args([&input, &dir.file("out.mp4")]).args(["--scheme", "cbcs,cenc"]);
    fails(encrypt.args(["--key", &pair()]), &["one scheme", "lanelock package"]);
    // The given IV is the one of cbcs.
    let args = ["--scheme", "cbcs,cenc", "--iv", "0102030405060708090a0b0c0d0e0f10", "--json"];
    let summary = succeed(&mut package(&[&input], &stream, &args));
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["tracks"][0]["iv"], "0102030405060708090a0b0c0d0e0f10");
    assert_eq!(summary["tracks"][1]["iv"].as_str().unwrap().len(), 16);
}
