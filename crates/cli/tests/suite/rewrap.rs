//! `lanelock rewrap`: another scheme and other keys, without clear bytes in between.

use crate::peers::{Expectations, Reading};
use crate::support::{
    Dir, FRAGMENTED, OTHER_KEY, OTHER_KID, Read, SCHEMES, attempt, boxes, compare, decrypt,
    encrypt_with, ffmpeg_makes, lanelock, other_pair, packets, pair, stderr, succeed,
};
use lanelock_testkit::{
    ProtectedClip, boxes::media, demo_clip, ffmpeg, fingerprint, hex, longest_clip,
    protected_clips, shaka_packager,
};
use std::fs;
use std::path::Path;
use std::process::Command;

/// `lanelock rewrap INPUT OUTPUT --scheme SCHEME --key OLD --to-key NEW ARGS`.
fn rewrap(input: &Path, output: &Path, scheme: &str, args: &[&str]) {
    let mut command = lanelock();
    command.arg("rewrap").args([input, output]).args(["-q", "--scheme", scheme]);
    succeed(command.args(["--key", &pair(), "--to-key", &other_pair()]).args(args));
}

/// Runs of the clear media that are longer than what any pattern leaves clear.
fn clear_runs(clear: &[u8]) -> Vec<Vec<u8>> {
    let media = media(clear);
    (1..8).map(|part| media[media.len() / 9 * part..][..600].to_vec()).collect()
}

fn assert_hidden(runs: &[Vec<u8>], file: &[u8], what: &str) {
    for run in runs {
        assert!(!file.windows(run.len()).any(|window| window == run), "{what}: clear bytes");
    }
}

/// Every pair of schemes, fragmented and progressive.
#[test]
fn every_pair_of_schemes() {
    let ffmpeg = ffmpeg();
    let dir = Dir::new();
    let mut expected = Expectations::default();
    for (clip, layout) in [(demo_clip(), "fragmented"), (longest_clip("avc_aac.mp4"), "keep")] {
        let clear = fs::read(&clip).unwrap();
        let runs = clear_runs(&clear);
        let read = if layout == "keep" { Read::File } else { Read::Pipe };
        let streams = ["0:v", "0:a"];
        let wanted = streams.map(|map| {
            ffmpeg.as_ref().map(|ffmpeg| packets(ffmpeg, &clip, read, None, map).unwrap())
        });
        for from in SCHEMES {
            let [sealed, back] = ["sealed.mp4", "back.mp4"].map(|name| dir.file(name));
            encrypt_with(&clip, &sealed, from, &["--key", &pair(), "--layout", layout]);
            for to in SCHEMES {
                let what = format!("{from} to {to}, {layout}");
                let anew = dir.file(&what);
                rewrap(&sealed, &anew, to, &[]);
                let bytes = fs::read(&anew).unwrap();
                assert_hidden(&runs, &bytes, &what);
                // As if the clear file had been encrypted so.
                decrypt(&anew, &back, &other_pair());
                assert!(fs::read(&back).unwrap() == clear, "{what}");
                for tenc in boxes(&bytes, *b"tenc") {
                    assert_eq!(hex(&tenc[8..24]), OTHER_KID, "{what}");
                }
                let pssh = boxes(&bytes, *b"pssh");
                assert_eq!(pssh.len(), 1, "{what}");
                assert!(hex(pssh[0]).contains(OTHER_KID), "{what}");
                let run = lanelock()
                    .arg("decrypt")
                    .args([&anew, &back])
                    .args(["--key", &pair()])
                    .output()
                    .unwrap();
                assert_eq!(run.status.code(), Some(1), "{what}: the old key: {}", stderr(&run));
                for (map, wanted) in streams.iter().zip(&wanted) {
                    // ffmpeg encrypts the last, partial block of whole samples under cens.
                    if to == "cens" && *map == "0:a" {
                        continue;
                    }
                    let Some(wanted) = wanted else { continue };
                    let theirs = Reading::sealed(&anew, read).with_key(OTHER_KEY).with_map(map);
                    expected.same(format!("{what}, {map}"), [theirs], wanted);
                }
            }
        }
    }
    if let Some(ffmpeg) = &ffmpeg {
        expected.assert(ffmpeg);
    }
}

/// Shaka Packager reads what becomes of its scheme.
#[test]
fn shaka_decrypts() {
    let (Some(ffmpeg), Some(packager)) = (ffmpeg(), shaka_packager()) else { return };
    for name in ["avc", "hevc"] {
        let clip = longest_clip(&format!("{name}.mp4"));
        let dir = Dir::new();
        let [clear, sealed, anew, theirs] =
            ["clear.mp4", "sealed.mp4", "anew.mp4", "theirs.mp4"].map(|name| dir.file(name));
        ffmpeg_makes(&ffmpeg, &[], &clip, &["-c", "copy", "-movflags", FRAGMENTED], &clear);
        let wanted = packets(&ffmpeg, &clip, Read::File, None, "0").unwrap();
        for (from, to) in [
            ("cbcs", "cenc"),
            ("cenc", "cbcs"),
            ("cenc", "cbc1"),
            ("cbc1", "cens"),
            ("cens", "cbcs"),
            ("cbcs", "cbcs"),
        ] {
            encrypt_with(&clear, &sealed, from, &["--key", &pair()]);
            rewrap(&sealed, &anew, to, &[]);
            let mut command = Command::new(&packager);
            command.arg(format!("in={},stream=video,output={}", anew.display(), theirs.display()));
            command.args(["--quiet", "--enable_raw_key_decryption", "--keys"]);
            command.arg(format!("label=:key_id={OTHER_KID}:key={OTHER_KEY}"));
            command.arg(format!("--temp_dir={}", dir.path().display()));
            assert_eq!(attempt(&mut command), Ok(()), "{name} {from} {to}");
            let ours = packets(&ffmpeg, &theirs, Read::File, None, "0").unwrap();
            assert_eq!(compare(&ours, &wanted), Ok(()), "{name} {from} {to}");
        }
    }
}

/// Files of other packagers.
#[test]
fn published_files() {
    for ProtectedClip { clip, key, clear_media } in protected_clips() {
        let dir = Dir::new();
        let [anew, back] = ["anew.mp4", "back.mp4"].map(|name| dir.file(name));
        let bytes = clip.read();
        let mut kids: Vec<_> =
            boxes(&bytes, *b"tenc").into_iter().map(|tenc| hex(&tenc[8..24])).collect();
        kids.sort();
        kids.dedup();
        for scheme in SCHEMES {
            let mut command = lanelock();
            command.arg("rewrap").args([&clip.path, &anew]).args(["-q", "--scheme", scheme]);
            for kid in &kids {
                command.args(["--key", &format!("{kid}:{key}")]);
            }
            succeed(command.args(["--to-key", &other_pair()]));
            decrypt(&anew, &back, &other_pair());
            let bytes = media(&fs::read(&back).unwrap());
            assert_eq!(fingerprint(&bytes), clear_media, "{} {scheme}", clip.name);
        }
    }
}

#[test]
fn options_of_both_sides() {
    let dir = Dir::new();
    let [sealed, anew, back] = ["sealed.mp4", "anew.mp4", "back.mp4"].map(|name| dir.file(name));
    let clear = fs::read(demo_clip()).unwrap();
    let odd = ["--pattern", "5:5", "--truncated-runs", "encrypt"];
    encrypt_with(&demo_clip(), &sealed, "cbcs", &[&["--key", &pair()][..], &odd].concat());
    let iv = "5a000000000000000000000000000001";
    let to = ["--truncated-runs", "encrypt", "--pattern", "3:7", "--iv", iv, "--no-pssh"];
    rewrap(&sealed, &anew, "cbcs", &to);
    let bytes = fs::read(&anew).unwrap();
    assert!(boxes(&bytes, *b"pssh").is_empty());
    let tenc = boxes(&bytes, *b"tenc");
    assert!(hex(tenc[0]).ends_with(iv), "the constant IV");
    decrypt(&anew, &back, &other_pair());
    assert!(fs::read(&back).unwrap() == clear);
    rewrap(&sealed, &anew, "cbcs", &[&to[..], &["--to-truncated-runs", "encrypt"]].concat());
    let mut command = lanelock();
    command.arg("decrypt").args([&anew, &back]).args(["-q", "--truncated-runs", "encrypt"]);
    succeed(command.args(["--key", &other_pair()]));
    assert!(fs::read(&back).unwrap() == clear);
    // Clear audio stays clear, whatever keys there are.
    encrypt_with(&demo_clip(), &sealed, "cenc", &["--key", &pair(), "--clear", "audio"]);
    rewrap(&sealed, &anew, "cbcs", &["--write-turns", "--memory", "1", "--workers", "3"]);
    assert_eq!(boxes(&fs::read(&anew).unwrap(), *b"tenc").len(), 1);
    decrypt(&anew, &back, &other_pair());
    assert!(fs::read(&back).unwrap() == clear);
    // New keys from a file and from the environment.
    let file = dir.file("new.txt");
    fs::write(&file, format!("{}\n", other_pair())).unwrap();
    let plain = || {
        let mut command = lanelock();
        command.arg("rewrap").args([&sealed, &anew]).args(["-q", "--scheme", "cenc"]);
        command
    };
    succeed(plain().args(["--key", &pair()]).arg("--to-key-file").arg(&file));
    decrypt(&anew, &back, &other_pair());
    succeed(plain().env("LANELOCK_KEYS", pair()).env("LANELOCK_TO_KEYS", other_pair()));
    decrypt(&anew, &back, &other_pair());
    // The same key is not another one: a new IV, another scheme.
    succeed(plain().args(["--key", &pair(), "--to-key", &pair()]));
    decrypt(&anew, &back, &pair());
    assert!(fs::read(&back).unwrap() == clear);
}

#[test]
fn what_is_refused() {
    let dir = Dir::new();
    let [sealed, anew] = ["sealed.mp4", "anew.mp4"].map(|name| dir.file(name));
    encrypt_with(&demo_clip(), &sealed, "cbcs", &["--key", &pair()]);
    let before = dir.names();
    let (kid, key) = (&pair()[..32], "7".repeat(32));
    let same_kid = format!("{kid}:{key}");
    let (video, wrong) = (format!("video={}", other_pair()), format!("{kid}:{OTHER_KEY}"));
    let (old, new, clip) = (pair(), other_pair(), demo_clip());
    for (input, args, code, words) in [
        (&sealed, &["--key", &old, "--to-key", &same_kid][..], 2, &["KID", "of its own"][..]),
        (&sealed, &["--key", &old], 2, &["no new keys", "--to-key"]),
        (&sealed, &["--to-key", &new], 2, &["no keys", "--key"]),
        (&sealed, &["--key", &old, "--to-key", &video], 1, &["track 2", "--to-key audio="]),
        (&sealed, &["--key", &new, "--to-key", &new], 1, &["no key for its KID"]),
        (&sealed, &["--key", &wrong, "--to-key", &old.replace(kid, OTHER_KID)], 1, &["wrong"]),
        (&clip, &["--key", &old, "--to-key", &new], 1, &["no track is encrypted"]),
        (&sealed, &["--key", &old, "--to-key", &new, "--layout", "keep"], 2, &["--layout"]),
    ] {
        let mut command = lanelock();
        command.arg("rewrap").args([input, &anew]).args(["-q", "--scheme", "cenc"]).args(args);
        let run = command.output().unwrap();
        assert_eq!(run.status.code(), Some(code), "{command:?}: {}", stderr(&run));
        for word in words {
            assert!(stderr(&run).contains(word), "no {word} in {}", stderr(&run));
        }
        assert!(!stderr(&run).contains("leave it clear"), "{}", stderr(&run));
        assert_eq!(dir.names(), before);
    }
    let mut command = lanelock();
    command.arg("rewrap").args([&sealed, &anew]).args(["--scheme", "cenc", "--pattern", "1:9"]);
    let run = command.args(["--key", &pair(), "--to-key", &other_pair()]).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
}
