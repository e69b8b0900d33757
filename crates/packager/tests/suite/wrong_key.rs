//! Wrong keys through the library: the error and what is in it, the reports of `check_keys`, and what
//! observers hear.

use crate::support::{AVC, Trak, Warnings, movie, progressive, renamed};
use lanelock_mp4::{Fragment, Movie, Pssh, edit::FragmentEdit, load, top_level};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, Iv, Key, KeyMap, KeyVerdict, Layout, Quiet, Scheme,
    Selector, check_keys, decrypt_file, encrypt_file, io::FileSource,
};
use lanelock_testkit::Scratch;
use std::fs;
use std::path::{Path, PathBuf};

const AAC: &[u8] = include_bytes!("../fixtures/aac.mp4");
const AAC_FRAGMENTED: &[u8] = include_bytes!("../fixtures/aac.frag.mp4");
const AVC_AAC: &[u8] = include_bytes!("../fixtures/avc_aac.mp4");
const VIDEO: [u8; 16] = [0x11; 16];
const AUDIO: [u8; 16] = [0x33; 16];

/// `clip`, encrypted with a key for video and another one for audio.
fn sealed(scratch: &Scratch, clip: &[u8], scheme: Scheme, layout: Layout) -> PathBuf {
    let (input, sealed) = (scratch.file("in.mp4"), scratch.file("sealed.mp4"));
    fs::write(&input, clip).unwrap();
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, Key::new(VIDEO, [0x22; 16])).unwrap();
    keys.insert(Selector::Audio, Key::new(AUDIO, [0x44; 16])).unwrap();
    let mut options = EncryptOptions::new(scheme, keys);
    options.layout = layout;
    options.iv = Iv::Given(vec![0x55; if scheme.is_ctr() { 8 } else { 16 }]);
    encrypt_file(&input, &sealed, &options, &Quiet).unwrap();
    sealed
}

fn options(video: u8, audio: u8) -> DecryptOptions {
    DecryptOptions::new(vec![Key::new(VIDEO, [video; 16]), Key::new(AUDIO, [audio; 16])])
}

fn verdicts(sealed: &Path, options: &DecryptOptions) -> Vec<KeyVerdict> {
    check_keys(&FileSource::open(sealed).unwrap(), options, &Quiet)
        .unwrap()
        .iter()
        .map(|key| key.verdict)
        .collect()
}

#[test]
fn a_wrong_audio_key_is_an_error() {
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    for clip in [AAC, AAC_FRAGMENTED] {
        for scheme in Scheme::ALL {
            for layout in [Layout::Fragmented, Layout::Keep] {
                let sealed = sealed(&scratch, clip, scheme, layout);
                let warnings = Warnings::default();
                let summary =
                    decrypt_file(&sealed, &output, &options(0x22, 0x44), &warnings).unwrap();
                assert_eq!(summary.keys.len(), 1);
                assert_eq!(summary.keys[0].verdict, KeyVerdict::Fits, "{:?}", summary.keys);
                assert_eq!(warnings.take(), [""; 0]);
                fs::remove_file(&output).unwrap();

                let error =
                    decrypt_file(&sealed, &output, &options(0x22, 0x45), &warnings).unwrap_err();
                let text = error.to_string();
                assert!(!text.contains("4545"), "{text}");
                let Error::WrongKey { kid, codec, failed, checked, .. } = error else {
                    panic!("{text}")
                };
                assert_eq!((&kid[..8], &codec[..]), ("33333333", "mp4a"));
                assert!(failed * 2 > checked, "{failed} of {checked}");
                assert!(!output.exists());
                assert_eq!(verdicts(&sealed, &options(0x22, 0x45)), [KeyVerdict::Wrong]);

                let unchecked = options(0x22, 0x45).with_check_keys(false);
                let summary = decrypt_file(&sealed, &output, &unchecked, &Quiet).unwrap();
                assert!(summary.keys.is_empty());
            }
        }
    }
}

#[test]
fn each_track_has_its_report() {
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    for scheme in Scheme::ALL {
        for layout in [Layout::Fragmented, Layout::Keep] {
            let sealed = sealed(&scratch, AVC_AAC, scheme, layout);
            let before = fs::read_dir(scratch.path()).unwrap().count();
            let (unknown, fits) = (KeyVerdict::Unknown, KeyVerdict::Fits);
            // A few slices tell nothing about the video's key.
            assert_eq!(verdicts(&sealed, &options(0x22, 0x44)), [unknown, fits]);
            assert_eq!(verdicts(&sealed, &options(0x22, 0x45)), [unknown, KeyVerdict::Wrong]);
            let one = DecryptOptions::new(vec![Key::new(AUDIO, [0x44; 16])]);
            let reports = check_keys(&FileSource::open(&sealed).unwrap(), &one, &Quiet).unwrap();
            let missing = reports.iter().find(|key| key.verdict == KeyVerdict::Missing).unwrap();
            assert_eq!((missing.track, &missing.kid[..8]), (1, "11111111"));
            assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), before, "nothing is written");
            assert!(decrypt_file(&sealed, &output, &options(0x22, 0x45), &Quiet).is_err());
            assert!(!output.exists());
        }
    }
}

/// Whoever looks at which piece, the result is the same.
#[test]
fn workers_make_no_difference() {
    let scratch = Scratch::new();
    let sealed = sealed(&scratch, AAC_FRAGMENTED, Scheme::Cenc, Layout::Fragmented);
    let mut texts = Vec::new();
    for workers in [1, 2, 7] {
        let options = options(0x22, 0x46).with_workers(workers);
        let error = decrypt_file(&sealed, &scratch.file("out.mp4"), &options, &Quiet).unwrap_err();
        texts.push(error.to_string());
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

/// Codecs that no clip is needed for: what their access units begin with is enough.
#[test]
fn audio_codecs_show_wrong_keys() {
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    let codecs: [(&[u8; 4], &[u8]); 5] = [
        (b"ac-3", b"\x0b\x77\x01\x02\x14\x40a frame of AC-3"),
        (b"ec-3", b"\x0b\x77\x01\x02\xff\x80a frame of Enhanced AC-3"),
        (b"fLaC", b"\xff\xf8\xc9\x18\0a frame of FLAC"),
        (b"alac", b"\x20\0\x12\0an element of ALAC"),
        (b"mhm1", b"\x40\x06packet\x40\x07another"),
    ];
    for (format, sample) in codecs {
        let clip =
            progressive(&[Trak { handler: b"soun", format, config: b"", sample, count: 80 }]);
        let name = String::from_utf8_lossy(format).into_owned();
        let sealed = sealed(&scratch, &clip, Scheme::Cbcs, Layout::Keep);
        let summary = decrypt_file(&sealed, &output, &options(0x22, 0x44), &Quiet).unwrap();
        assert_eq!(summary.keys[0].verdict, KeyVerdict::Fits, "{name}");
        assert!(fs::read(&output).unwrap() == clip, "{name}");
        fs::remove_file(&output).unwrap();
        let error = decrypt_file(&sealed, &output, &options(0x22, 0x45), &Quiet).unwrap_err();
        let Error::WrongKey { checked, .. } = error else { panic!("{name}: {error}") };
        // After the first 64 access units it ends.
        assert_eq!(checked, 64, "{name}");
        assert_eq!(verdicts(&sealed, &options(0x22, 0x45)), [KeyVerdict::Wrong], "{name}");
    }
}

/// One packet of Opus says little: a few that cannot be are no proof.
#[test]
fn a_few_packets_of_opus_prove_nothing() {
    let scratch = Scratch::new();
    let config = b"\0\0\0\x13dOps\0\x02\x01\x38\0\0\xbb\x80\0\0\0";
    for (count, verdict) in [(3, KeyVerdict::Unknown), (4, KeyVerdict::Wrong)] {
        // 140 ms.
        let sample = b"\xff\x07 and more";
        let clip =
            progressive(&[Trak { handler: b"soun", format: b"Opus", config, sample, count }]);
        let sealed = sealed(&scratch, &clip, Scheme::Cenc, Layout::Keep);
        assert_eq!(verdicts(&sealed, &options(0x22, 0x44)), [verdict], "{count}");
        let result = decrypt_file(&sealed, &scratch.file("out.mp4"), &options(0x22, 0x44), &Quiet);
        assert_eq!(result.is_err(), count == 4);
    }
}

/// Some packagers protect access units of video whole; then a wrong key leaves no lengths of NAL units.
#[test]
fn video_that_is_protected_whole_shows_wrong_keys() {
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    // The first such word is a brand. Under the name of a codec of audio, no subsamples are made.
    let named = |clip: &[u8], name: &[u8; 4]| {
        let mut clip = clip.to_vec();
        let entry = clip.windows(4).rposition(|word| word == b"avc1").unwrap();
        clip[entry..entry + 4].copy_from_slice(name);
        clip
    };
    for scheme in Scheme::ALL {
        let sealed = sealed(&scratch, &named(AVC, b"mp4a"), scheme, Layout::Keep);
        let bytes = renamed(&fs::read(&sealed).unwrap(), "mp4a", "avc1");
        fs::write(&sealed, bytes).unwrap();
        assert_eq!(verdicts(&sealed, &options(0x22, 0x44)), [KeyVerdict::Fits], "{scheme}");
        assert_eq!(verdicts(&sealed, &options(0x23, 0x44)), [KeyVerdict::Wrong], "{scheme}");
        let error = decrypt_file(&sealed, &output, &options(0x23, 0x44), &Quiet).unwrap_err();
        assert!(error.to_string().contains("NAL units behind their lengths"), "{error}");
        decrypt_file(&sealed, &output, &options(0x22, 0x44), &Quiet).unwrap();
        assert!(fs::read(&output).unwrap() == AVC, "{scheme}");
    }
}

/// A slice that comes again is the same noise under a wrong key, if the IV is constant: 2500 copies tell no
/// more than one, though noise of their own would leave 12 places.
#[test]
fn loops_are_no_evidence() {
    let scratch = Scratch::new();
    let track = &movie(AVC).tracks[0];
    let config = AVC.windows(4).position(|word| word == b"avcC").unwrap() - 4;
    let config = &AVC[config..config + AVC[config + 3] as usize];
    let first = movie(AVC).samples(track, AVC.len() as u64).unwrap().next().unwrap().unwrap();
    let start = usize::try_from(first.offset).unwrap();
    let sample = &AVC[start..start + first.size as usize];
    let clip =
        progressive(&[Trak { handler: b"vide", format: b"avc1", config, sample, count: 2500 }]);
    let report = |sealed: &Path, key: u8| {
        let source = FileSource::open(sealed).unwrap();
        check_keys(&source, &options(key, 0), &Quiet).unwrap().remove(0)
    };
    let constant = sealed(&scratch, &clip, Scheme::Cbcs, Layout::Fragmented);
    // Noise of one slice seldom has a place that cannot be.
    let mut clean = 0;
    for key in 0x23..0x33 {
        let report = report(&constant, key);
        assert_ne!(report.verdict, KeyVerdict::Fits, "{key}: {report:?}");
        assert!(report.impossible_if_wrong < 1.0, "{report:?}");
        clean += usize::from(report.impossible == 0);
    }
    assert!(clean > 1, "{clean}");
    // Where each access unit has an IV, copies are encrypted differently.
    let many = sealed(&scratch, &clip, Scheme::Cenc, Layout::Fragmented);
    assert_eq!(report(&many, 0x22).verdict, KeyVerdict::Fits);
    assert_eq!(report(&many, 0x23).verdict, KeyVerdict::Wrong);
}

/// Each KID that has no key is reported once, however often it changes.
#[test]
fn missing_keys_are_reported_once() {
    let scratch = Scratch::new();
    for clip in [AVC_AAC, AAC_FRAGMENTED] {
        let sealed = sealed(&scratch, clip, Scheme::Cenc, Layout::Fragmented);
        let tracks = movie(clip).tracks.len();
        let none = DecryptOptions::new(Vec::new());
        let reports = check_keys(&FileSource::open(&sealed).unwrap(), &none, &Quiet).unwrap();
        let found: Vec<_> = reports.iter().map(|key| (key.track, &key.kid[..8])).collect();
        let all = [(1, "11111111"), (2, "33333333")];
        let wanted: &[_] = if tracks == 2 { &all } else { &[(1, "33333333")] };
        assert_eq!(found, wanted);
        assert!(reports.iter().all(|key| key.verdict == KeyVerdict::Missing));
    }
}

/// A PlayReady box with the checksum of the key of audio, made with OpenSSL: the KID, whose bytes are all
/// alike, encrypted as one block.
fn playready() -> Pssh {
    let xml = "<WRMHEADER version=\"4.0.0.0\"><DATA><PROTECTINFO><KEYLEN>16</KEYLEN>\
               <ALGID>AESCTR</ALGID></PROTECTINFO><KID>MzMzMzMzMzMzMzMzMzMzMw==</KID>\
               <CHECKSUM>7xiziAt7kkM=</CHECKSUM></DATA></WRMHEADER>";
    let text: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let len = u16::try_from(text.len()).unwrap();
    let mut object = (u32::from(len) + 10).to_le_bytes().to_vec();
    object.extend_from_slice(&[1, 0, 1, 0]);
    object.extend_from_slice(&len.to_le_bytes());
    object.extend_from_slice(&text);
    Pssh::new(0x9a04_f079_9840_4286_ab92_e65b_e088_5f95_u128.to_be_bytes(), &[], &object)
}

/// Files with several keys one after the other say of them in their fragments.
#[test]
fn checksums_in_fragments() {
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    let sealed = sealed(&scratch, AVC_AAC, Scheme::Cenc, Layout::Fragmented);
    let mut bytes = fs::read(&sealed).unwrap();
    let header = |kind: &[u8; 4]| {
        let mut boxes = top_level(&bytes[..]).map(Result::unwrap);
        boxes.find(|header| header.kind == kind).unwrap()
    };
    let (moov, moof) = (header(b"moov"), header(b"moof"));
    let movie = Movie::parse(load(&bytes[..], &moov).unwrap(), moov.offset).unwrap();
    let head = load(&bytes[..], &moof).unwrap();
    let fragment = Fragment::parse(&head, moof.offset, &movie, bytes.len() as u64).unwrap();
    let new = FragmentEdit::new(&fragment).with_pssh(&[&playready().raw]).finish(0).unwrap();
    let start = usize::try_from(moof.offset).unwrap();
    bytes.splice(start..start + head.len(), new);
    fs::write(&sealed, bytes).unwrap();

    decrypt_file(&sealed, &output, &options(0x22, 0x44), &Quiet).unwrap();
    let reports =
        check_keys(&FileSource::open(&sealed).unwrap(), &options(0x22, 0x44), &Quiet).unwrap();
    assert_eq!(reports.iter().map(|key| key.checksum).collect::<Vec<_>>(), [None, Some(true)]);
    let error = decrypt_file(&sealed, &output, &options(0x22, 0x45), &Quiet).unwrap_err();
    assert!(matches!(error, Error::KeyChecksum { .. }), "{error}");
    let reports =
        check_keys(&FileSource::open(&sealed).unwrap(), &options(0x22, 0x45), &Quiet).unwrap();
    assert_eq!(reports.iter().map(|key| key.checksum).collect::<Vec<_>>(), [None, Some(false)]);
}
