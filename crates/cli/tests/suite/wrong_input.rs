//! What is given in the place of an MP4 file, of a folder, of a pssh box or of a value: the error says what
//! it is, and what to do.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{Dir, ffmpeg_makes, lanelock, pair, segments, stderr, with_stdin};
use lanelock_testkit::{boxes::boxed, demo_clip, ffmpeg, hex};

/// The exit code of a command, and what was said.
fn run(command: &mut Command) -> (i32, String) {
    let run = command.output().unwrap();
    (run.status.code().unwrap(), stderr(&run))
}

fn encrypt(paths: &[&Path], args: &[&str]) -> (i32, String) {
    let mut command = lanelock();
    command.arg("encrypt").args(paths).args(["-q", "--scheme", "cbcs", "--key", &pair()]);
    run(command.args(args))
}

const COPY: &str = "(ffmpeg -i IN -c copy OUT.mp4)";
const ENCODE: &str = "(ffmpeg -i IN -c:v libx264 -c:a aac OUT.mp4)";

/// Every kind by its first bytes.
#[test]
fn other_kinds_of_file() {
    let dir = Dir::new();
    let packet = |size: usize, at: usize| {
        let mut packet = vec![0xff; size];
        packet[at] = 0x47;
        packet.repeat(3)
    };
    let ebml = |kind: &[u8]| [&b"\x1a\x45\xdf\xa3\xa3\x42\x82"[..], kind].concat();
    let (webm, matroska, ts, m2ts) =
        (ebml(b"\x84webm"), ebml(b"\x88matroska"), packet(188, 0), packet(192, 4));
    for (bytes, what, todo) in [
        (&webm[..], "a WebM file", ENCODE),
        (&matroska, "a Matroska file", COPY),
        (&ts, "an MPEG transport stream,", COPY),
        (&m2ts, "an MPEG transport stream with time codes (M2TS)", COPY),
        (b"\0\0\x01\xba\x44\0\x04\0", "an MPEG program stream", ENCODE),
        (b"RIFF\0\0\x01\0AVI LIST", "an AVI file", ENCODE),
        (b"RIFF\0\0\x01\0WAVEfmt ", "a WAVE file", "ffmpeg -i IN -c:a aac"),
        (b"FLV\x01\x05\0\0\0\x09", "a Flash video", COPY),
        (b"OggS\0\x02\0\0\0\0\0\0\0\0OpusHead", "an Ogg file", COPY),
        (b"OggS\0\x02\0\0\0\0\0\0\0\0\x01vorbis", "an Ogg file", ENCODE),
        (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9", "a Windows Media file", ENCODE),
        (b"DKIF\0\0\x20\0VP80", "an IVF file", ENCODE),
        (b"\0\0\0\x01\x67\x64\0\x1f", "a raw H.264 stream", "-framerate"),
        (b"\0\0\x01\x09\xf0\0\0", "a raw H.264 stream", "MP4Box -add IN"),
        // Main profile, level 4: all of it printable.
        (b"\0\0\0\x01\x67\x4d\x40\x28", "a raw H.264 stream", "MP4Box -add IN"),
        (b"\0\0\0\x01\x40\x01\x0c\x01", "a raw H.265 stream", "-framerate"),
        (b"\xff\xf1\x4c\x80\x01\xbf\xfc", "raw AAC (ADTS)", COPY),
        (b"\xff\xfb\x90\x64\0\0\0\0", "an MP3 file", ENCODE),
        (b"ID3\x04\0\0\0\0\0\0", "an MP3 file", ENCODE),
        (b"\x0b\x77\x3f\x72\x14\x40\x43\xe1", "raw AC-3", COPY),
        (b"fLaC\0\0\0\x22", "a FLAC file", "-c copy -strict -2"),
        (b"#EXTM3U\n#EXT-X-VERSION:6\n", "an HLS playlist", "ffmpeg -i URL -c copy"),
        (b"<?xml version=\"1.0\"?>\n<MPD xmlns=\"\">", "a DASH manifest", "ffmpeg -i URL"),
        (b"\xef\xbb\xbf<SmoothStreamingMedia/>", "a Smooth Streaming manifest", "the media"),
        (b"\r\n<!DOCTYPE html>\n<html>", "an HTML page", "fetch the file again"),
        (b"<HTML><head>", "an HTML page", "fetch the file again"),
        (b"WEBVTT\n\n00:00.000", "a WebVTT file", "serve it as it is"),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "a ZIP archive", "unpack"),
        (b"\x1f\x8b\x08\0", "compressed with gzip", "gunzip"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture (JPEG)", "give the video"),
        (b"\x89PNG\r\n\x1a\n", "a picture (PNG)", "give the video"),
    ] {
        let file = dir.file("file");
        fs::write(&file, bytes).unwrap();
        let piped = with_stdin(lanelock().args(["inspect", "-"]), |mut pipe| {
            let _ = pipe.write_all(bytes);
        });
        for (code, text) in [
            encrypt(&[&file, &dir.file("out")], &[]),
            run(lanelock().arg("inspect").arg(&file)),
            (piped.status.code().unwrap(), stderr(&piped)),
        ] {
            assert_eq!(code, 1, "{text}");
            for part in [&format!("it is {what}")[..], ", not an MP4 file\nhint: ", todo] {
                assert!(text.contains(part), "no {part} in {text}");
            }
        }
        assert_eq!(dir.names(), ["file"]);
    }
    // Also where the file is an initialization segment, or the segment of one.
    let (init, segment) = (dir.file("init.mp4"), dir.file("1.m4s"));
    fs::write(&init, segments(&fs::read(demo_clip()).unwrap()).0).unwrap();
    fs::write(&segment, &ts).unwrap();
    for (segment, init) in [(&segment, &init), (&init, &segment)] {
        let (code, text) = run(lanelock().arg("inspect").arg(segment).arg("--init").arg(init));
        assert!(code == 1 && text.contains("it is an MPEG transport stream"), "{text}");
    }
}

/// Boxes whose headers begin like something else: a size that is a start code of H.264, and one of 64 bits.
#[test]
fn boxes_are_nothing_else() {
    let dir = Dir::new();
    let (file, demo) = (dir.file("file.mp4"), fs::read(demo_clip()).unwrap());
    let small = boxed(b"what", &[&[0; 0x107 - 8]]);
    let mut wide = boxed(b"free", &[&[0, 0, 0, 0, 0, 0, 0, 24], &[0; 8]]);
    wide[3] = 1;
    for first in [small, wide] {
        fs::write(&file, [first, demo.clone()].concat()).unwrap();
        let (code, text) = run(lanelock().arg("inspect").arg(&file));
        assert_eq!((code, &*text), (0, ""));
    }
}

#[test]
fn files_without_a_movie() {
    let dir = Dir::new();
    let (file, media) = (dir.file("file"), boxed(b"mdat", &[b"picture"]));
    for (bytes, what) in [
        (Vec::new(), "the file is empty"),
        ([boxed(b"ftyp", &[b"heic\0\0\0\0mif1heic"]), media.clone()].concat(), "this is a picture"),
        ([boxed(b"ftyp", &[b"isom\0\0\0\0isom"]), media.clone()].concat(), "is not complete"),
        (media, "this is not an MP4 file"),
    ] {
        fs::write(&file, bytes).unwrap();
        let (code, text) = run(lanelock().arg("inspect").arg(&file));
        assert!(code == 1 && text.contains(what), "no {what} in {text}");
    }
}

/// The lines that are offered make a file that can be encrypted.
#[test]
fn what_is_offered_works() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    for name in ["a.mkv", "a.ts", "a.flv", "a.aac"] {
        let (input, mp4) = (dir.file(name), dir.file("a.mp4"));
        ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &["-c", "copy"], &input);
        ffmpeg_makes(&ffmpeg, &[], &input, &["-c", "copy"], &mp4);
        assert_eq!(encrypt(&[&mp4, &dir.file("out.mp4")], &[]), (0, String::new()), "{name}");
    }
}

#[test]
fn folders_that_are_not_there() {
    let dir = Dir::new();
    let (demo, file, nope) = (demo_clip(), dir.file("file"), dir.file("nope"));
    let (dangling, other) = (dir.file("dangling"), dir.file("other.mp4"));
    fs::write(&file, "").unwrap();
    fs::copy(&demo, &other).unwrap();
    symlink("nowhere", &dangling).unwrap();
    let with = |path: &Path, end: &str| format!("{}{end}", path.display());
    for (args, code, words) in [
        (vec![with(&demo, ""), with(&nope, "/out.mp4")], 3, "nope does not exist"),
        (vec![with(&demo, ""), with(&file, "/out.mp4")], 3, "file is not a folder"),
        (vec![with(&demo, ""), with(&nope, "/")], 2, "give the folder with -o"),
        (vec![with(&demo, ""), "-o".into(), with(&nope, "/a/")], 3, "nope does not exist"),
        (vec![with(&demo, ""), "-o".into(), with(&file, "/")], 3, "is not a folder"),
        (
            vec![with(&demo, ""), with(&other, ""), "-o".into(), with(&dangling, "")],
            3,
            "it is a link to nowhere, which does not exist",
        ),
        (vec![with(&dangling, ""), with(&dir.file("out"), "")], 3, "it is a link to nowhere"),
        (vec![with(&nope, "/"), with(&dir.file("out"), "")], 3, "cannot read"),
    ] {
        let paths: Vec<&Path> = args.iter().map(Path::new).collect();
        let (found, text) = encrypt(&paths, &[]);
        assert_eq!(found, code, "{args:?}: {text}");
        assert!(text.contains(words), "{args:?}: no {words} in {text}");
        assert!(!text.contains("os error") || words == "cannot read", "{text}");
    }
    assert_eq!(dir.names(), ["dangling", "file", "other.mp4"]);
}

/// Folders of segments into such folders; a folder where a file belongs.
#[test]
fn folders_of_segments_and_folders_for_files() {
    let dir = Dir::new();
    let (input, dangling) = (dir.file("in"), dir.file("dangling"));
    let (init, media) = segments(&fs::read(demo_clip()).unwrap());
    fs::create_dir(&input).unwrap();
    fs::write(input.join("init.mp4"), init).unwrap();
    fs::write(input.join("1.m4s"), &media[0]).unwrap();
    symlink("nowhere", &dangling).unwrap();
    let (code, text) = encrypt(&[&input, &dir.file("nope/out")], &[]);
    assert!(code == 3 && text.contains("nope does not exist"), "{text}");
    let (code, text) = encrypt(&[&input, &dangling], &[]);
    assert!(code == 3 && text.contains("a link to nowhere, which does not exist"), "{text}");
    let (code, text) = run(lanelock().arg("inspect").arg(&input));
    assert!(code == 3 && text.contains("in is a folder, not a file\nhint: name a file"), "{text}");
    assert_eq!(dir.names(), ["dangling", "in"]);
}

#[test]
fn an_initialization_segment_of_another_file() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let (video, init, segment) = (dir.file("v.mp4"), dir.file("init.mp4"), dir.file("1.m4s"));
    let args = ["-an", "-c", "copy", "-movflags", crate::support::FRAGMENTED];
    ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &args, &video);
    fs::write(&init, segments(&fs::read(&video).unwrap()).0).unwrap();
    fs::write(&segment, &segments(&fs::read(demo_clip()).unwrap()).1[0]).unwrap();
    let (code, text) = run(lanelock().arg("inspect").arg(&segment).arg("--init").arg(&init));
    assert!(code == 1 && text.contains("no track with id 2"), "{text}");
    assert!(text.contains("\nhint: ") && text.contains("must be that of the same file"), "{text}");
}

#[test]
fn standard_input_by_its_path() {
    let mut command = lanelock();
    command.args(["inspect", "/dev/stdin"]).stdin(Stdio::piped());
    let (code, text) = run(&mut command);
    assert!(code == 3 && text.contains("write - to read standard input"), "{text}");
}

#[test]
fn values_in_other_forms() {
    let dir = Dir::new();
    let (demo, out) = (demo_clip(), dir.file("out.mp4"));
    let (code, text) = encrypt(&[&demo, &out], &["--workers", "0"]);
    assert!(code == 2 && text.contains("a number from 1 on"), "{text}");
    let mut command = lanelock();
    command.arg("encrypt").args([&demo, &out]).args(["-q", "--key", &pair(), "--scheme", "CBCS"]);
    let more = ["--layout", "KEEP", "--sidx", "Drop", "--pattern", "5:5"];
    command.args(more).args(["--truncated-runs", "Encrypt"]);
    assert_eq!(run(&mut command), (0, String::new()));
}

/// The data of a protection system, of which the box is missing, and how to make it. The data are not
/// repeated.
#[test]
fn pssh_data_without_a_box() {
    let dir = Dir::new();
    let (demo, out, raw) = (demo_clip(), dir.file("out.mp4"), dir.file("raw"));
    let widevine = [&b"\x08\x01\x12\x10"[..], &[0x5a; 16], b"\x1a\x04prov"].concat();
    fs::write(&raw, &widevine).unwrap();
    let file = format!("@{}", raw.display());
    let digits = hex(&widevine);
    for value in [&digits, "CAESEFpaWlpaWlpaWlpaWlpaWloaBHByb3Y=", &file] {
        let (code, text) = encrypt(&[&demo, &out], &["--pssh", value]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("this is Widevine's data without the pssh box"), "{text}");
        assert!(text.contains("0000003a 70737368 00000000 edef8ba979d64ace"), "{text}");
        assert!(!text.contains("5a5a5a") && !text.contains("WlpaWl"), "{text}");
    }
    let system = "edef8ba979d64acea3c827dcd51d21ed";
    let whole = format!("0000003a7073736800000000{system}0000001a{digits}");
    assert_eq!(encrypt(&[&demo, &out], &["--pssh", &whole]), (0, String::new()));
    let xml = "<WRMHEADER version=\"4.0.0.0\"><DATA></DATA></WRMHEADER>";
    let (code, text) = encrypt(&[&demo, &out], &["--pssh", xml]);
    assert!(code == 2 && text.contains("this is a PlayReady header without"), "{text}");
    let utf16: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let len = u32::try_from(utf16.len() + 10).unwrap().to_le_bytes();
    let object = [&len[..], &[1, 0, 1, 0, 0, 0], &utf16].concat();
    let (code, text) = encrypt(&[&demo, &out], &["--pssh", &hex(&object)]);
    assert!(code == 2 && text.contains("this is a PlayReady object without"), "{text}");
}
