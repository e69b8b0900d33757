//! What `inspect` says of known files: clips, published vectors, and files that are wrong.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use lanelock_mp4::{
    FourCc, Movie, Pssh, SampleAuxTable, StoredIv, Subsample, SubsampleMode, TrackEncryption,
    compose::{NewSample, NewTrackFragment, ftyp, moof},
    edit::{ProtectTrack, WriteAux, fragment_movie, protect_movie},
    load, top_level,
};
use lanelock_packager::{
    EncryptOptions, Error, Iv, KeyMap, Layout, Quiet, Report, Scheme, TrackReport, encrypt_file,
    inspect_file,
};
use lanelock_testkit::{FILM, clips, codec_clip, ffprobe, protected_clip};
use tempfile::TempDir;

/// Name, access units of the small clip and of the longer one, and the strings of the codec.
const CLIPS: [(&str, [u64; 2], [&str; 2]); 11] = [
    ("avc.mp4", [50, 50], ["avc1.64000A", "avc1.64001E"]),
    ("avc_slices.mp4", [50, 50], ["avc1.64000A", "avc1.64001E"]),
    ("hevc.mp4", [50, 50], ["hvc1.1.6.L30.90", "hvc1.1.6.L63.90"]),
    ("av1.mp4", [10, 50], ["av01.0.00M.08", "av01.0.01M.08"]),
    ("av1_tiles.mp4", [3, 25], ["av01.0.00M.08", "av01.0.05M.08"]),
    ("vp9.mp4", [10, 50], ["vp09.00.10.08.00.02.02.02.00", "vp09.00.21.08.00.02.02.02.00"]),
    ("aac.mp4", [9, 142], ["mp4a.40.2"; 2]),
    ("ac3.mp4", [7, 94], ["ac-3"; 2]),
    ("eac3.mp4", [7, 94], ["ec-3"; 2]),
    ("flac.mp4", [7, 32], ["fLaC"; 2]),
    ("opus.mp4", [26, 151], ["Opus"; 2]),
];

const KID: &str = "00112233-4455-6677-8899-aabbccddeeff";
const KEY: &str = "000102030405060708090a0b0c0d0e0f";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A box of a type in upper case, with a size of 64 bits, begins like a start code of H.264.
#[test]
fn boxes_that_begin_like_a_start_code() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("in.mp4");
    let clip = fs::read(fixture("avc.mp4")).unwrap();
    for kind in [b"FREE", b"free", b"gM@d", b"skiP"] {
        let wide = [&[0, 0, 0, 1], &kind[..], &16_u64.to_be_bytes()].concat();
        fs::write(&path, [&wide[..], &clip].concat()).unwrap();
        inspect_file(&path).unwrap();
    }
    // Main profile, level 6.2: printable, and no box.
    fs::write(&path, [b"\0\0\0\x01gM@>".as_slice(), &clip].concat()).unwrap();
    let error = inspect_file(&path).unwrap_err().to_string();
    assert!(error.contains("a raw H.264 stream"), "{error}");
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// Sizes of the packets of a stream.
fn packets(ffprobe: &Path, path: &Path, stream: usize) -> Vec<u64> {
    let output = Command::new(ffprobe)
        .args(["-v", "quiet", "-ignore_editlist", "1", "-select_streams", &stream.to_string()])
        .args(["-show_entries", "packet=size", "-of", "csv=p=0"])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let sizes = text.lines().filter_map(|line| line.split(',').next().filter(|s| !s.is_empty()));
    sizes.map(|size| size.parse().unwrap()).collect()
}

fn against_ffprobe(path: &Path, report: &Report) {
    let Some(ffprobe) = ffprobe() else { return };
    for (index, track) in report.tracks.iter().enumerate() {
        let packets = packets(&ffprobe, path, index);
        assert_eq!(track.access_units, packets.len() as u64, "{} {index}", path.display());
        assert_eq!(track.bytes, packets.iter().sum::<u64>(), "{} {index}", path.display());
    }
}

#[test]
fn real_clips() {
    for (name, access_units, codecs) in CLIPS {
        for (clip, (access_units, codec)) in
            clips(name).into_iter().zip(access_units.into_iter().zip(codecs))
        {
            let (path, name) = (clip.path, format!("{name} of {access_units}"));
            let report = inspect_file(&path).unwrap();
            assert_eq!(report.bytes, fs::metadata(&path).unwrap().len());
            assert_eq!(report.layout, "progressive");
            assert_eq!(report.brands[..2], ["isom", "isom"], "{name}");
            assert!(report.fragments.is_none() && report.pssh.is_empty());
            let [track] = &report.tracks[..] else { panic!("{name}") };
            assert_eq!((track.access_units, &track.codec[..]), (access_units, codec), "{name}");
            assert_eq!(track.sample_entries, [&codec[..4]], "{name}");
            if name == "avc.mp4 of 50" {
                assert!([(64, 36), (640, 360)].contains(&(track.width, track.height)));
            }
            assert!(track.protection.is_none());
            against_ffprobe(&path, &report);
        }
    }
}

#[test]
fn video_and_audio() {
    let Some(path) = codec_clip(FILM) else { return };
    let report = inspect_file(&path).unwrap();
    assert_eq!(report.brands, ["isom", "isom", "iso2", "avc1", "mp41"]);
    assert!(near(report.duration, 5.312), "{}", report.duration);
    let [video, audio] = &report.tracks[..] else { panic!() };
    assert_eq!((video.id, &video.kind[..], &video.language[..]), (1, "video", "und"));
    assert_eq!((video.width, video.height, video.timescale), (1280, 720, 12_800));
    assert!(near(video.duration, 5.28), "{}", video.duration);
    assert_eq!((video.access_units, audio.access_units), (132, 249));
    assert_eq!((audio.id, &audio.kind[..], audio.timescale), (2, "audio", 48_000));
    assert_eq!((audio.width, audio.height), (0, 0));
    against_ffprobe(&path, &report);
}

#[test]
fn cbcs_video_vector() {
    let path = protected_clip("cbcs.mp4").path;
    let report = inspect_file(&path).unwrap();
    assert_eq!(report.layout, "fragmented");
    assert_eq!(report.brands, ["iso5", "isom", "iso5", "hlsf"]);
    let video = &report.tracks[0];
    assert_eq!(video.sample_entries, ["encv"]);
    assert!(video.codec.starts_with("avc1."), "{}", video.codec);
    assert_eq!((video.access_units, video.width, video.height), (182, 508, 254));
    let protection = video.protection.as_ref().unwrap();
    assert_eq!(protection.scheme, "cbcs");
    assert_eq!(protection.pattern.as_deref(), Some("1:9"));
    assert_eq!(protection.kids, ["00000000-0000-0000-0000-000000000000"]);
    assert_eq!(protection.constant_iv.as_deref(), Some("cbe3327da85a1e7a74496db552dfe6d0"));
    assert_eq!((protection.iv_size, &protection.first_iv), (0, &None));
    assert_eq!(protection.protected_access_units, 182);
    assert_eq!((protection.with_subsamples, protection.subsamples), (182, 182));
    assert_eq!(protection.most_subsamples, 1);
    assert_eq!((protection.clear_bytes, protection.protected_bytes), (6509, 22_424));
    assert_eq!(video.bytes, 6509 + 22_424);
    let captions = &report.tracks[1];
    assert_eq!((&captions.kind[..], &captions.codec[..]), ("text", "c608"));
    assert!(captions.protection.is_none());
    let fragments = report.fragments.unwrap();
    assert!(fragments.count > 0 && fragments.smallest <= fragments.largest);
    assert!(0.0 < fragments.shortest && fragments.shortest <= fragments.longest);
    assert!(fragments.longest <= video.duration);
}

#[test]
fn cbcs_audio_vector() {
    let path = protected_clip("cbcs_audio.mp4").path;
    let report = inspect_file(&path).unwrap();
    let [audio] = &report.tracks[..] else { panic!() };
    assert_eq!((&audio.kind[..], audio.access_units), ("audio", 468));
    let protection = audio.protection.as_ref().unwrap();
    assert_eq!((&protection.scheme[..], &protection.pattern), ("cbcs", &None));
    assert_eq!(protection.protected_access_units, 468);
    // One subsample in each; those of less than a block are clear.
    assert_eq!((protection.with_subsamples, protection.most_subsamples), (468, 1));
    assert_eq!((protection.clear_bytes, protection.protected_bytes), (319, 168_413));
    assert_eq!(audio.bytes, 168_732);
    against_ffprobe(&path, &report);
}

#[test]
fn cenc_vector() {
    let path = protected_clip("prog_8s_enc_dashinit.mp4").path;
    let report = inspect_file(&path).unwrap();
    assert!(near(report.duration, 8.0), "{}", report.duration);
    let units: Vec<_> = report.tracks.iter().map(|track| track.access_units).collect();
    assert_eq!(units, [240, 375]);
    let video = report.tracks[0].protection.as_ref().unwrap();
    assert_eq!((video.clear_bytes, video.protected_bytes), (5314, 128_768));
    assert_eq!(
        (video.subsamples, report.tracks[1].protection.as_ref().unwrap().subsamples),
        (240, 0)
    );
    for track in &report.tracks {
        let protection = track.protection.as_ref().unwrap();
        assert_eq!((&protection.scheme[..], protection.iv_size), ("cenc", 8));
        assert_eq!((&protection.pattern, &protection.constant_iv), (&None, &None));
        assert_eq!(protection.kids, ["cd7eb9ff-88f3-4cae-b061-85b00024e4c2"]);
        assert_eq!(protection.first_iv.as_ref().unwrap().len(), 16);
        assert_eq!(protection.protected_access_units, track.access_units);
        assert_eq!(protection.clear_bytes + protection.protected_bytes, track.bytes);
    }
    against_ffprobe(&path, &report);
}

/// Encrypts a clip, and inspects the result.
fn encrypted(options: &EncryptOptions) -> (Report, Report) {
    let path = fixture("avc_aac.mp4");
    let dir = TempDir::new().unwrap();
    let output = dir.path().join("out.mp4");
    encrypt_file(&path, &output, options, &Quiet).unwrap();
    (inspect_file(&path).unwrap(), inspect_file(&output).unwrap())
}

fn keys() -> KeyMap {
    let mut keys = KeyMap::new();
    keys.parse_insert(&format!("{KID}:{KEY}")).unwrap();
    keys
}

#[test]
fn own_output_in_both_layouts() {
    for scheme in [Scheme::Cenc, Scheme::Cens, Scheme::Cbc1, Scheme::Cbcs] {
        for layout in [Layout::Fragmented, Layout::Keep] {
            let options = EncryptOptions::new(scheme, keys()).with_layout(layout);
            let (clear, report) = encrypted(&options);
            assert_eq!(report.fragments.is_some(), layout == Layout::Fragmented);
            for (clear, track) in clear.tracks.iter().zip(&report.tracks) {
                let protection = track.protection.as_ref().unwrap();
                assert_eq!(protection.scheme, scheme.to_string());
                let same = |t: &TrackReport| {
                    (t.access_units, t.bytes, t.codec.clone(), t.width, t.language.clone())
                };
                assert_eq!(same(track), same(clear));
                assert!(near(track.duration, clear.duration), "{}", track.duration);
                assert_eq!(protection.protected_access_units, track.access_units);
                assert_eq!(protection.clear_bytes + protection.protected_bytes, track.bytes);
                let is_video = track.kind == "video";
                let pattern = (is_video && scheme.has_pattern()).then_some("1:9");
                assert_eq!(protection.pattern.as_deref(), pattern);
                assert_eq!(protection.with_subsamples > 0, is_video);
                assert_eq!(protection.first_iv.is_some(), protection.iv_size > 0);
                assert_eq!(protection.kids, [KID]);
            }
            let [pssh] = &report.pssh[..] else { panic!() };
            assert_eq!(pssh.system_id, "1077efec-c0b2-4d02-ace3-3c1e52e2fb4b");
            assert_eq!(pssh.system.as_deref(), Some("common (W3C)"));
            assert_eq!((pssh.version, &pssh.kids[..], pssh.data_bytes), (1, &[KID.into()][..], 0));
        }
    }
}

#[test]
fn the_first_iv_is_the_given_one() {
    let iv = Iv::Given((0xf0..0xf8).collect());
    let clear = vec![lanelock_packager::Selector::Audio];
    let options = EncryptOptions::new(Scheme::Cenc, keys()).with_iv(iv).with_clear(clear);
    let (_, report) = encrypted(&options);
    let protection = report.tracks[0].protection.as_ref().unwrap();
    assert_eq!(protection.first_iv.as_deref(), Some("f0f1f2f3f4f5f6f7"));
    assert!(report.tracks[1].protection.is_none());
}

/// The `moov` of a small file, ready for fragments, its first track protected with `encryption`.
fn protected_moov(scheme: [u8; 4], encryption: TrackEncryption) -> Vec<u8> {
    let file = fs::read(fixture("avc.mp4")).unwrap();
    let moov = top_level(&file).map(Result::unwrap).find(|header| header.kind == b"moov").unwrap();
    let movie = Movie::parse(load(&file, &moov).unwrap(), moov.offset).unwrap();
    let movie = Movie::parse(fragment_movie(&movie).unwrap(), 0).unwrap();
    let track = ProtectTrack::new(movie.tracks[0].id, FourCc(scheme), encryption);
    let widevine = Pssh::new(WIDEVINE, &[], b"data");
    protect_movie(&movie, &[track], &[&widevine.raw]).unwrap()
}

const WIDEVINE: [u8; 16] = [
    0xed, 0xef, 0x8b, 0xa9, 0x79, 0xd6, 0x4a, 0xce, 0xa3, 0xc8, 0x27, 0xdc, 0xd5, 0x1d, 0x21, 0xed,
];

fn cenc(kid: u8) -> TrackEncryption {
    TrackEncryption::per_sample([kid; 16], 8)
}

/// A fragmented file with fragments of two samples of 100 and 50 bytes; `seig` of each.
fn built(moov: Vec<u8>, fragments: &[Option<TrackEncryption>]) -> Vec<u8> {
    let mut file = ftyp(FourCc::new(b"iso6"), 7, &[FourCc::new(b"dash")]);
    file.extend(moov);
    let size = |size| NewSample { size, duration: 6400, flags: 0, composition_offset: 0 };
    let samples = [size(100), size(50)];
    for (number, seig) in (1..).zip(fragments) {
        let clear = seig.is_some_and(|seig| !seig.is_protected);
        let mut aux = SampleAuxTable::new(if clear { 0 } else { 8 }, SubsampleMode::Present);
        let iv: &[u8] = if clear { &[] } else { &[number; 8] };
        let subsample = |clear, protected| Subsample { clear, protected };
        aux.push(iv, &[subsample(10, 40), subsample(5, 45)]).unwrap();
        aux.push(iv, &[]).unwrap();
        let mut traf = NewTrackFragment::new(1, 0, &samples, 0).with_aux(WriteAux::Full(&aux));
        if let Some(seig) = seig {
            traf = traf.with_seig(seig);
        }
        let rotated = Pssh::common(&[seig.map_or([1; 16], |seig| seig.kid)]);
        file.extend(moof(number.into(), &[traf], &[&rotated.raw]).unwrap());
        file.extend([0, 0, 0, 158]);
        file.extend(b"mdat");
        file.extend([0; 150]);
    }
    file
}

fn inspect_bytes(bytes: &[u8]) -> Result<Report, Error> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("in.mp4");
    fs::write(&path, bytes).unwrap();
    inspect_file(&path)
}

#[test]
fn rotated_keys_and_clear_groups() {
    let moov = protected_moov(*b"cenc", cenc(1));
    let clear = TrackEncryption::default();
    let file = built(moov, &[Some(cenc(3)), None, Some(clear), Some(cenc(2)), Some(cenc(3))]);
    let report = inspect_bytes(&file).unwrap();
    assert_eq!(report.brands, ["iso6", "dash"]);
    let [track] = &report.tracks[..] else { panic!() };
    let protection = track.protection.as_ref().unwrap();
    let kid = |byte: u8| {
        let byte = format!("{byte:02x}");
        [4, 2, 2, 2, 6].map(|count| byte.repeat(count)).join("-")
    };
    assert_eq!(protection.kids, [kid(1), kid(3), kid(2)]);
    assert_eq!(protection.first_iv.as_deref(), Some("0101010101010101"));
    assert_eq!((track.access_units, track.bytes), (10, 750));
    assert_eq!(protection.protected_access_units, 8);
    assert_eq!((protection.with_subsamples, protection.subsamples), (4, 8));
    assert_eq!(protection.most_subsamples, 2);
    // Of four fragments, the second sample is protected whole.
    assert_eq!((protection.clear_bytes, protection.protected_bytes), (4 * 15, 4 * (85 + 50)));
    // Widevine of moov, then KIDs 3, 1, 0 (of the clear group), 2; the second 3 is known.
    let names: Vec<_> = report.pssh.iter().map(|pssh| pssh.system.as_deref().unwrap()).collect();
    let common = "common (W3C)";
    assert_eq!(names, ["Widevine", common, common, common, common]);
    assert_eq!(report.pssh[0].data_bytes, 4);
    assert_eq!(report.pssh[1].kids, [kid(3)]);
    let fragments = report.fragments.unwrap();
    assert_eq!(fragments.count, 5);
    assert!(near(fragments.shortest, 1.0) && near(fragments.longest, 1.0));
    assert!(fragments.smallest < fragments.largest && fragments.smallest > 150);
    assert!(near(track.duration, 5.0), "{}", track.duration);
}

#[test]
fn constant_iv_of_a_group() {
    let moov = protected_moov(*b"cbcs", TrackEncryption::default());
    let iv = StoredIv::new(&[0xab; 16]).unwrap();
    let group = TrackEncryption::constant([9; 16], iv).with_pattern(5, 5);
    let mut file = ftyp(FourCc::new(b"iso6"), 7, &[]);
    file.extend(moov);
    let samples = [NewSample { size: 32, duration: 1, flags: 0, composition_offset: 0 }];
    let traf =
        NewTrackFragment::new(1, 0, &samples, 0).with_aux(WriteAux::EmptySenc).with_seig(&group);
    file.extend(moof(1, &[traf], &[]).unwrap());
    file.extend(b"\0\0\0\x28mdat");
    file.extend([0; 32]);
    let report = inspect_bytes(&file).unwrap();
    let protection = report.tracks[0].protection.as_ref().unwrap();
    // The KID of a `tenc` that protects nothing is none.
    assert_eq!(protection.kids, ["09090909-0909-0909-0909-090909090909"]);
    assert_eq!(protection.pattern.as_deref(), Some("5:5"));
    assert_eq!(protection.constant_iv.as_deref(), Some(&*"ab".repeat(16)));
    assert_eq!((protection.protected_access_units, protection.protected_bytes), (1, 32));
}

#[test]
fn unknown_scheme_has_no_statistics() {
    let mut moov = protected_moov(*b"cenc", cenc(1));
    let at = moov.windows(4).position(|window| window == b"schm").unwrap() + 8;
    moov[at..at + 4].copy_from_slice(b"xyzw");
    let report = inspect_bytes(&built(moov, &[None])).unwrap();
    let track = &report.tracks[0];
    assert_eq!(track.access_units, 2);
    let protection = track.protection.as_ref().unwrap();
    assert_eq!(protection.scheme, "xyzw");
    assert_eq!((protection.protected_access_units, protection.protected_bytes), (0, 0));
}

#[test]
fn unreadable_aux_info_is_an_error() {
    let moov = protected_moov(*b"cenc", cenc(1));
    let mut file = built(moov, &[None]);
    let at = file.windows(4).position(|window| window == b"senc").unwrap();
    // Flags, count and IV, the count of subsamples, 10 clear bytes.
    assert_eq!(file[at + 22..at + 24], [0, 10]);
    file[at + 23] = 11;
    let error = inspect_bytes(&file).unwrap_err();
    assert!(matches!(error, Error::Container { .. }));
    assert!(error.to_string().contains("subsamples cover 101 bytes"), "{error}");
}

#[test]
fn init_segment_alone() {
    let moov = protected_moov(*b"cenc", cenc(1));
    let report = inspect_bytes(&built(moov, &[])).unwrap();
    assert_eq!(report.layout, "fragmented");
    assert_eq!(report.tracks[0].access_units, 0);
    assert_eq!(report.fragments.unwrap().count, 0);
    assert_eq!(report.pssh.len(), 1);
}

#[test]
fn media_segment_alone() {
    let moov = protected_moov(*b"cenc", cenc(1));
    let file = built(moov, &[None]);
    let at = file.windows(4).position(|window| window == b"moof").unwrap() - 4;
    let error = inspect_bytes(&file[at..]).unwrap_err();
    assert!(matches!(error, Error::Unsuitable { .. }));
    assert!(error.to_string().contains("give its initialization segment with --init"), "{error}");
}

#[test]
fn truncated_file() {
    let moov = protected_moov(*b"cenc", cenc(1));
    let file = built(moov, &[None, None]);
    let mdat = file.len() - 158;
    let error = inspect_bytes(&file[..file.len() - 7]).unwrap_err();
    assert!(matches!(error, Error::Container { .. }));
    let text = error.to_string();
    assert!(text.contains(&format!("mdat at byte {mdat}: truncated file")), "{text}");
    assert!(text.contains("misses 7 bytes"), "{text}");
}

#[test]
fn not_mp4() {
    let error = inspect_bytes(b"\0\0\0\x10freeabcdefgh").unwrap_err();
    assert!(error.to_string().contains("this is not an MP4 file"), "{error}");
    inspect_bytes(b"#!/bin/sh\n").unwrap_err();
    inspect_bytes(b"").unwrap_err();
    assert!(matches!(inspect_file(Path::new("/")), Err(Error::NotAFile { .. })));
}
