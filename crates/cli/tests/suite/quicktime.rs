//! QuickTime files: what is encrypted into fragments is an ISO file that other readers take, with
//! the source's packets in it. The structure of every form is tested in
//! `crates/mp4/tests/suite/quicktime.rs`, here with files of ffmpeg and a small one that is built.
#![allow(clippy::trivially_copy_pass_by_ref, reason = "helpers take box types as literals")]

use std::{fs, path::Path, process::Command};

use crate::peers::{Expectations, Job, Reading, shaka_all};
use crate::support::{
    Dir, KEY, KID, Read, SCHEMES, boxes, decrypt, encrypt, encrypt_with, ffmpeg_makes, lanelock,
    packets, pair, stderr,
};
use lanelock_testkit::{
    boxes::{boxed, media, words},
    ffmpeg, shaka_packager, skip,
};

/// How a small file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// QuickTime without `ftyp`, sound entry of version 1.
    QuickTime,
    /// ISO.
    Iso,
    /// ISO, and `moov`, which is the last box, has size 0.
    OpenMoov,
}

const SAMPLES: u32 = 20;

/// A progressive file of AAC: 20 samples of 40 bytes and 100 ms; `more` goes to `stbl`.
fn small(form: Form, more: &[u8]) -> Vec<u8> {
    let quicktime = form == Form::QuickTime;
    let esds = boxed(
        b"esds",
        &[&[0; 4], &[3, 21, 0, 0, 0, 4, 13, 0x40, 0x15], &[0; 11], &[5, 2, 0x11, 0x90]],
    );
    let version = u8::from(quicktime);
    let fields: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 1, 0, version, 0, 0, 0, 0, 0, 0, 0, 2, 0, 16];
    let rate = words(&[0, 48_000 << 16]);
    let entry = if quicktime {
        let wave = [boxed(b"frma", &[b"mp4a"]), esds, boxed(&[0; 4], &[])].concat();
        boxed(b"mp4a", &[fields, &rate, &words(&[1024, 0, 0, 2]), &boxed(b"wave", &[&wave])])
    } else {
        boxed(b"mp4a", &[fields, &rate, &esds])
    };
    let ftyp = if quicktime { Vec::new() } else { boxed(b"ftyp", &[b"isom\0\0\0\0isom"]) };
    let media: Vec<u8> = (0..SAMPLES * 40).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let mdat = boxed(b"mdat", &[&media]);
    let first = u32::try_from(ftyp.len()).unwrap() + 8;
    let stbl = [
        boxed(b"stsd", &[&words(&[0, 1]), &entry]),
        boxed(b"stts", &[&words(&[0, 1, SAMPLES, 100])]),
        boxed(b"stsc", &[&words(&[0, 1, 1, SAMPLES, 1])]),
        boxed(b"stsz", &[&words(&[0, 40, SAMPLES])]),
        boxed(b"stco", &[&words(&[0, 1, first])]),
        more.to_vec(),
    ];
    let dref = boxed(b"dref", &[&words(&[0, 1]), &boxed(b"url ", &[&words(&[1])])]);
    let minf =
        [boxed(b"smhd", &[&[0; 8]]), boxed(b"dinf", &[&dref]), boxed(b"stbl", &[&stbl.concat()])];
    let (component, name) = if quicktime { (b"mhlr", "\x05sound") } else { (&[0; 4], "sound\0") };
    let mdia = [
        boxed(b"mdhd", &[&words(&[0, 0, 0, 1000, SAMPLES * 100, 0x55c4_0000])]),
        boxed(b"hdlr", &[&[0; 4], component, b"soun", &[0; 12], name.as_bytes()]),
        boxed(b"minf", &[&minf.concat()]),
    ];
    let matrix = words(&[1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30]);
    let tkhd = [&words(&[3, 0, 0, 1, 0, SAMPLES * 100])[..], &[0; 16], &matrix, &[0; 8]].concat();
    let trak = boxed(b"trak", &[&boxed(b"tkhd", &[&tkhd]), &boxed(b"mdia", &[&mdia.concat()])]);
    let mvhd = [
        &words(&[0, 0, 0, 1000, SAMPLES * 100, 1 << 16])[..],
        &[1, 0],
        &[0; 10],
        &matrix,
        &[0; 24],
        &words(&[2]),
    ]
    .concat();
    let mut moov = boxed(b"moov", &[&boxed(b"mvhd", &[&mvhd]), &trak]);
    if form == Form::OpenMoov {
        moov[..4].fill(0);
    }
    [ftyp, mdat, moov].concat()
}

/// The types of the top-level boxes; the sizes must fill the file.
fn top_level(bytes: &[u8]) -> Vec<String> {
    let (mut rest, mut kinds) = (bytes, Vec::new());
    while !rest.is_empty() {
        kinds.push(String::from_utf8(rest[4..8].to_vec()).unwrap());
        let size = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        rest = if size == 0 { &[] } else { &rest[size..] };
    }
    kinds
}

#[test]
fn a_small_quicktime_file_becomes_iso() {
    let dir = Dir::new();
    let (input, output, clear) = (dir.file("in.mov"), dir.file("out.mp4"), dir.file("clear.mp4"));
    fs::write(&input, small(Form::QuickTime, &[])).unwrap();
    for scheme in SCHEMES {
        encrypt(&input, &output, scheme);
        let bytes = fs::read(&output).unwrap();
        assert_eq!(bytes[..20], *b"\0\0\0\x14ftypiso6\0\0\0\0iso6");
        assert_eq!(top_level(&bytes)[..4], ["ftyp", "moov", "sidx", "moof"]);
        for gone in [&b"wave"[..], b"mhlr", b"qt  "] {
            assert!(!bytes.windows(4).any(|window| window == gone), "{gone:?}");
        }
        decrypt(&output, &clear, &pair());
        assert_eq!(media(&fs::read(&clear).unwrap()), media(&fs::read(&input).unwrap()));
    }
}

#[test]
fn keep_keeps_quicktime() {
    let dir = Dir::new();
    let (input, output, clear) = (dir.file("in.mov"), dir.file("out.mov"), dir.file("clear.mov"));
    fs::write(&input, small(Form::QuickTime, &[])).unwrap();
    encrypt_with(&input, &output, "cbcs", &["--key", &pair(), "--layout", "keep"]);
    assert!(fs::read(&output).unwrap().windows(4).any(|window| window == b"wave"));
    decrypt(&output, &clear, &pair());
    assert_eq!(fs::read(&clear).unwrap(), fs::read(&input).unwrap());
}

/// A `moov` of size 0 reaches to the end of the file. In front it would swallow all.
#[test]
fn moov_of_size_0() {
    let dir = Dir::new();
    let (input, output, clear) = (dir.file("in.mp4"), dir.file("out.mp4"), dir.file("clear.mp4"));
    let file = small(Form::OpenMoov, &[]);
    fs::write(&input, &file).unwrap();
    for scheme in SCHEMES {
        for layout in ["fragmented", "keep"] {
            encrypt_with(&input, &output, scheme, &["--key", &pair(), "--layout", layout]);
            let bytes = fs::read(&output).unwrap();
            if layout == "fragmented" {
                assert_eq!(top_level(&bytes)[..4], ["ftyp", "moov", "sidx", "moof"]);
            } else {
                assert_eq!(top_level(&bytes), ["ftyp", "mdat", "moov"]);
            }
            decrypt(&output, &clear, &pair());
            let bytes = fs::read(&clear).unwrap();
            assert_eq!(media(&bytes), media(&file), "{scheme} {layout}");
            let Some(ffmpeg) = ffmpeg() else { continue };
            let packets = packets(&ffmpeg, &clear, Read::File, None, "0").unwrap();
            assert_eq!(packets[0].len(), SAMPLES as usize, "{scheme} {layout}");
        }
    }
}

/// Groups are cut where fragments begin.
#[test]
fn groups_are_in_the_fragments() {
    let dir = Dir::new();
    let (input, output) = (dir.file("in.mp4"), dir.file("out.mp4"));
    let sgpd = boxed(b"sgpd", &[&words(&[1 << 24]), b"roll", &words(&[2, 1]), &[0xff, 0xff]]);
    let sbgp = boxed(b"sbgp", &[&[0; 4], b"roll", &words(&[3, 10, 0, 9, 1, 1, 0])]);
    let sdtp = boxed(b"sdtp", &[&[0; 4], &[0x24; SAMPLES as usize]]);
    fs::write(&input, small(Form::Iso, &[sgpd, sbgp, sdtp].concat())).unwrap();
    let args = ["--key", &pair(), "--fragment-duration", "0.7"];
    encrypt_with(&input, &output, "cbcs", &args);
    let bytes = fs::read(&output).unwrap();
    // Seven, seven and six samples: the group lies across the last two.
    let group = |runs: &[u32]| [&[0; 4][..], b"roll", &words(runs)].concat();
    assert_eq!(boxes(&bytes, *b"sbgp"), [group(&[2, 3, 0, 4, 1]), group(&[2, 5, 1, 1, 0])]);
    let tfhds = boxes(&bytes, *b"tfhd");
    assert_eq!(tfhds.len(), 3);
    // The flags of all samples are in `tfhd`: they are last in it.
    assert!(tfhds.iter().all(|tfhd| tfhd.ends_with(&0x0240_0000_u32.to_be_bytes())));
}

/// Makes a QuickTime file; false if this ffmpeg cannot.
fn make(ffmpeg: &Path, output: &Path, args: &[&str]) -> bool {
    let mut command = Command::new(ffmpeg);
    command.args(["-v", "error", "-y"]).args(args).args(["-f", "mov"]).arg(output);
    command.output().unwrap().status.success()
}

/// Reads a file as strictly as ffmpeg can, decoding what has pictures and sound.
fn strictly(ffmpeg: &Path, input: &Path) {
    let mut command = Command::new(ffmpeg);
    command.args(["-v", "warning", "-strict", "strict", "-err_detect", "explode", "-xerror", "-i"]);
    command.arg(input).args(["-map", "0:v?", "-map", "0:a?", "-f", "null", "-"]);
    let output = command.output().unwrap();
    let text = stderr(&output);
    assert!(output.status.success() && text.is_empty(), "{}: {text}", input.display());
}

#[test]
fn files_of_ffmpeg() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let video = ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=1", "-pix_fmt", "yuv420p"];
    let sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=1"];
    let avc = [
        "-c:v",
        "libx264",
        "-g",
        "20",
        "-color_primaries",
        "bt709",
        "-colorspace",
        "bt709",
        "-color_trc",
        "bt709",
    ];
    let hevc = ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=10", "-tag:v", "hvc1"];
    let cases: &[(&str, &[&[&str]])] = &[
        ("avc", &[&video, &avc]),
        ("hevc", &[&video, &hevc]),
        ("avc+aac", &[&sound, &video, &avc, &["-c:a", "aac", "-ar", "48000", "-ac", "2"]]),
        ("aac 44100 mono", &[&sound, &["-c:a", "aac", "-ar", "44100", "-ac", "1"]]),
        ("aac 96000", &[&sound, &["-c:a", "aac", "-ar", "96000", "-ac", "2"]]),
        ("aac 5.1", &[&sound, &["-c:a", "aac", "-ar", "48000", "-ac", "6"]]),
        ("alac 48000", &[&sound, &["-c:a", "alac", "-ar", "48000", "-ac", "2"]]),
        ("alac 96000", &[&sound, &["-c:a", "alac", "-ar", "96000", "-ac", "2"]]),
        ("ac3 5.1", &[&sound, &["-c:a", "ac3", "-ar", "48000", "-ac", "6"]]),
        ("eac3", &[&sound, &["-c:a", "eac3", "-ar", "48000", "-ac", "2"]]),
    ];
    let dir = Dir::new();
    let mut expected = Expectations::default();
    let mut for_shaka = Vec::new();
    for (name, args) in cases {
        // The head is converted in the same way, so two say enough.
        let also_fragmented = matches!(*name, "avc+aac" | "alac 96000");
        for fragmented in [false, true].into_iter().take(1 + usize::from(also_fragmented)) {
            let mut args = args.concat();
            if fragmented {
                args.extend(["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]);
            }
            let input = dir.file("in.mov");
            if !make(&ffmpeg, &input, &args) {
                skip(&format!("this ffmpeg cannot make {name}"));
                continue;
            }
            let source = packets(&ffmpeg, &input, Read::File, None, "0").unwrap();
            // The head is the same under all schemes but for `sinf`.
            let schemes: &[&str] = if *name == "avc+aac" { &SCHEMES } else { &["cenc", "cbcs"] };
            for scheme in schemes {
                let what = format!("{name} {scheme} {fragmented}");
                let [output, clear] = ["out", "clear"].map(|n| dir.file(&format!("{n} {what}")));
                encrypt(&input, &output, scheme);
                let bytes = fs::read(&output).unwrap();
                assert_eq!(bytes[8..12], *b"iso6", "{name}");
                decrypt(&output, &clear, &pair());
                strictly(&ffmpeg, &clear);
                expected.same(&*what, [Reading::plain(&clear, Read::File)], &source);
                // Of two tracks with one key, it decrypts the second with the pattern of the first.
                if !name.contains('+') {
                    let stream = if name.contains("vc") { "video" } else { "audio" };
                    for_shaka.push((what, output, stream, source.clone()));
                }
            }
        }
    }
    if let Some(shaka) = shaka_packager() {
        let jobs: Vec<_> = for_shaka
            .iter()
            .map(|(name, input, stream, _)| Job { dir: &dir, name, input, streams: vec![stream] })
            .collect();
        let keys = format!("key_id={KID}:key={KEY}");
        let args = ["--enable_raw_key_decryption", "--keys", &keys];
        for ((what, .., source), theirs) in for_shaka.iter().zip(shaka_all(&shaka, &jobs, &args)) {
            let theirs = theirs.unwrap_or_else(|why| panic!("Shaka, {what}: {why}"));
            let theirs = [Reading::plain(&theirs[0], Read::File)];
            expected.same(format!("Shaka, {what}"), theirs, source);
        }
    }
    expected.assert(&ffmpeg);
}

#[test]
fn what_cannot_be_iso_is_refused_with_the_way_out() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let (input, output) = (dir.file("in.mov"), dir.file("out.mp4"));
    let sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=1", "-ar", "96000"];
    assert!(make(&ffmpeg, &input, &[&sound[..], &["-c:a", "pcm_s24le"]].concat()));
    let encrypted = |input: &Path| {
        let mut command = lanelock();
        command.arg("encrypt").args([input, &output]).args(["--scheme", "cbcs", "--key", &pair()]);
        command.output().unwrap()
    };
    let refused = encrypted(&input);
    let text = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    for part in ["track 1: `lpcm`", "\nhint: make an ISO file first (ffmpeg -i IN -c copy -c:a aac"]
    {
        assert!(text.contains(part), "{text}");
    }
    // What the error says works.
    let iso = dir.file("iso.mp4");
    ffmpeg_makes(&ffmpeg, &[], &input, &["-c", "copy", "-c:a", "aac"], &iso);
    assert!(encrypted(&iso).status.success());
}
