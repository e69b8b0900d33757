//! The command against other programs, on forms of fragments that few writers make: what it encrypts and
//! decrypts, ffmpeg and Shaka Packager read.

use crate::support::{
    Dir, KEY, KID, Packets, Read, SCHEMES, attempt, boxes, compare, decrypt, encrypt, lanelock,
    packets, pair, stderr,
};
use lanelock_testkit::{
    demo_clip, ffmpeg,
    fragments::{FragmentForm, OffsetBase, refragmented},
    shaka_packager, skip,
};
use std::fs;
use std::path::Path;
use std::process::Command;

const BASES: [OffsetBase; 4] =
    [OffsetBase::Moof, OffsetBase::Mdat, OffsetBase::File, OffsetBase::Previous];

/// The packets of one stream as Shaka Packager decrypts it.
fn shaka(packager: &Path, ffmpeg: &Path, dir: &Dir, input: &Path) -> Result<Packets, String> {
    let output = dir.file("shaka.mp4");
    let (from, to) = (input.display(), output.display());
    let mut command = Command::new(packager);
    command.arg(format!("in={from},stream=video,output={to}"));
    command.args(["--enable_raw_key_decryption", "--keys"]);
    command.arg(format!("label=:key_id={KID}:key={KEY}")).arg("--quiet");
    attempt(command.arg(format!("--temp_dir={}", dir.path().display())))?;
    packets(ffmpeg, &output, Read::File, None, "0")
}

fn form(base: OffsetBase, trafs: usize) {
    let Some(ffmpeg) = ffmpeg() else { return };
    let packager = shaka_packager();
    let clear = packets(&ffmpeg, &demo_clip(), Read::File, None, "0").unwrap();
    let dir = Dir::new();
    let [input, encrypted, back] = ["in.mp4", "encrypted.mp4", "back.mp4"].map(|n| dir.file(n));
    let form = FragmentForm { trafs, ..FragmentForm::new(base) };
    fs::write(&input, refragmented(&fs::read(demo_clip()).unwrap(), form)).unwrap();
    let mut wrong = Vec::new();
    for scheme in SCHEMES {
        let mut judge = |what: &str, result: Result<(), String>| {
            if let Err(why) = result {
                wrong.push(format!("{base:?} {trafs} {scheme}: {what}: {}", why.trim()));
            }
        };
        encrypt(&input, &encrypted, scheme);
        // The partial block at the end of a sample is another matter under cens.
        for (map, stream) in [("0:v", 0), ("0:a", 1)] {
            if trafs > 1 {
                skip("ffmpeg reads senc of the first track fragment of a track alone");
            } else if (scheme, stream) != ("cens", 1) {
                let theirs = packets(&ffmpeg, &encrypted, Read::Pipe, Some(KEY), map);
                let clear = vec![clear[stream].clone()];
                judge("ffmpeg", theirs.and_then(|theirs| compare(&theirs, &clear)));
            }
        }
        if let Some(packager) = &packager {
            let theirs = shaka(packager, &ffmpeg, &dir, &encrypted);
            judge("Shaka", theirs.and_then(|theirs| compare(&theirs, &clear[..1].to_vec())));
        }
        decrypt(&encrypted, &back, &pair());
        let ours = packets(&ffmpeg, &back, Read::File, None, "0").unwrap();
        judge("we decrypt", compare(&ours, &clear));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn bases_of_data_offsets() {
    for base in BASES {
        form(base, 1);
    }
}

#[test]
fn several_track_fragments_of_a_track() {
    for base in BASES {
        form(base, 2);
    }
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
