//! The command against other programs, on forms of fragments that few writers make: what it encrypts and
//! decrypts, ffmpeg and Shaka Packager read.

use crate::{
    peers::{Expectations, Job, Reading, shaka_all},
    support::{
        Dir, KEY, Read, SCHEMES, attempt, boxes, compare, decrypt, encrypt, lanelock, packets,
        pair, shaka_keys, stderr,
    },
};
use lanelock_testkit::{
    demo_clip, ffmpeg,
    fragments::{FragmentForm, OffsetBase, refragmented},
    shaka_packager, skip,
};
use std::fs;
use std::process::Command;

const BASES: [OffsetBase; 4] =
    [OffsetBase::Moof, OffsetBase::Mdat, OffsetBase::File, OffsetBase::Previous];

/// Fragments with each of the bases, under each scheme.
fn forms(trafs: usize) {
    let Some(ffmpeg) = ffmpeg() else { return };
    let clear = packets(&ffmpeg, &demo_clip(), Read::File, None, "0").unwrap();
    let dir = Dir::new();
    let input = dir.file("in.mp4");
    let mut expected = Expectations::default();
    let mut names = Vec::new();
    for base in BASES {
        let form = FragmentForm { trafs, ..FragmentForm::new(base) };
        fs::write(&input, refragmented(&fs::read(demo_clip()).unwrap(), form)).unwrap();
        for scheme in SCHEMES {
            let name = format!("{base:?} {trafs} {scheme}");
            let [encrypted, back] = ["encrypted", "back"].map(|n| dir.file(&format!("{n} {name}")));
            encrypt(&input, &encrypted, scheme);
            // The partial block at the end of a sample is another matter under cens.
            for (map, stream) in [("0:v", 0), ("0:a", 1)] {
                if trafs > 1 {
                    skip("ffmpeg reads senc of the first track fragment of a track alone");
                } else if (scheme, stream) != ("cens", 1) {
                    let theirs = Reading::sealed(&encrypted, Read::Pipe).with_map(map);
                    let clear = clear[stream..=stream].to_vec();
                    expected.same(format!("{name} {map}: ffmpeg"), [theirs], &clear);
                }
            }
            decrypt(&encrypted, &back, &pair());
            let ours = [Reading::plain(&back, Read::File)];
            expected.same(format!("{name}: we decrypt"), ours, &clear);
            names.push((name, encrypted));
        }
    }
    if let Some(packager) = shaka_packager() {
        let jobs: Vec<_> = names
            .iter()
            .map(|(name, input)| Job { dir: &dir, name, input, streams: vec!["video"] })
            .collect();
        let keys = shaka_keys();
        let args = ["--enable_raw_key_decryption", "--keys", &keys];
        for ((name, _), theirs) in names.iter().zip(shaka_all(&packager, &jobs, &args)) {
            let what = format!("{name}: Shaka");
            match theirs {
                Ok(theirs) => {
                    let theirs = [Reading::plain(&theirs[0], Read::File)];
                    expected.same(what, theirs, &clear[..1].to_vec());
                }
                Err(why) => expected.judge(what, Err(why)),
            }
        }
    }
    expected.assert(&ffmpeg);
}

#[test]
fn bases_of_data_offsets() {
    forms(1);
}

#[test]
fn several_track_fragments_of_a_track() {
    forms(2);
}

/// A film with one sync sample is cut elsewhere, with a warning, and ffmpeg reads what it has read before.
#[test]
fn one_sync_sample() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let [input, output] = ["in.mp4", "out.mp4"].map(|name| dir.file(name));
    let mut command = Command::new(&ffmpeg);
    command.args(["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:duration=40"]);
    command.args(["-c:v", "libx264", "-preset", "ultrafast", "-g", "999"]).arg(&input);
    if attempt(&mut command).is_err() {
        skip("ffmpeg has no libx264");
        return;
    }
    let clear = packets(&ffmpeg, &input, Read::File, None, "0").unwrap();
    for scheme in SCHEMES {
        let mut command = lanelock();
        command.arg("encrypt").args([&input, &output]).args(["--scheme", scheme, "--key", &pair()]);
        let run = command.output().unwrap();
        assert!(run.status.success(), "{}", stderr(&run));
        assert_eq!(stderr(&run).matches("sync samples are too far apart").count(), 1);
        assert_eq!(boxes(&fs::read(&output).unwrap(), *b"moof").len(), 20);
        let theirs = packets(&ffmpeg, &output, Read::File, Some(KEY), "0").unwrap();
        compare(&theirs, &clear).unwrap();
    }
}
