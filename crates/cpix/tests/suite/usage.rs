//! From usage rules to the keys of tracks, in files and packages.

use std::{sync::Arc, time::Duration};

use lanelock_cpix::{Document, ReadOptions};
use lanelock_mp4::TrackKind;
use lanelock_packager::{
    EncryptOptions, Iv, KeyPeriods, Quiet, Scheme,
    drm::System,
    encrypt,
    io::{MemoryFolder, MemorySink, MemorySource},
    package::{Package, PackageOptions, TrackRule},
};

const CLIP: &[u8] = include_bytes!("../../../packager/tests/fixtures/avc_aac.mp4");
const FRAGMENTS: &[u8] = include_bytes!("../../../packager/tests/fixtures/avc_aac.frag.mp4");

/// A document with the keys 1, 2, ..., and rules of (number of the key, filters).
fn document(rules: &[(u8, &str)]) -> Document {
    with(rules, "")
}

fn with(rules: &[(u8, &str)], periods: &str) -> Document {
    let kid = |number: u8| format!("{:08x}-0000-0000-0000-000000000000", u32::from(number));
    let mut keys: Vec<u8> = rules.iter().map(|(number, _)| *number).collect();
    keys.sort_unstable();
    keys.dedup();
    let keys: Vec<String> = keys
        .iter()
        .map(|number| {
            // The key is 15 times 1, then its number, of which base64 shows the last byte alone.
            let last = ["AQ", "Ag", "Aw", "BA", "BQ", "Bg"][usize::from(*number - 1)];
            let secret = format!("AAAAAAAAAAAAAAAAAAAA{last}==");
            format!(
                "<ContentKey kid=\"{}\"><Data><p:Secret><p:PlainValue>{secret}</p:PlainValue></p:Secret>\
                 </Data></ContentKey>",
                kid(*number)
            )
        })
        .collect();
    let rules: Vec<String> = rules
        .iter()
        .map(|(number, filters)| {
            format!("<ContentKeyUsageRule kid=\"{}\">{filters}</ContentKeyUsageRule>", kid(*number))
        })
        .collect();
    let (keys, rules) = (keys.concat(), rules.concat());
    let xml = format!(
        "<CPIX xmlns=\"urn:dashif:org:cpix\" xmlns:p=\"urn:ietf:params:xml:ns:keyprov:pskc\">\
         <ContentKeyList>{keys}</ContentKeyList>{periods}\
         <ContentKeyUsageRuleList>{rules}</ContentKeyUsageRuleList></CPIX>"
    );
    Document::read(xml.as_bytes(), &ReadOptions::default()).unwrap()
}

fn options(document: &Document) -> EncryptOptions {
    let plan = document.key_plan(Scheme::Cbcs).unwrap();
    EncryptOptions::new(Scheme::Cbcs, plan.keys)
        .with_iv(Iv::Given(vec![7; 16]))
        .with_drm(vec![System::ClearKey])
}

/// The number of a key in its KID.
fn number(kid: Option<&String>) -> u8 {
    kid.map_or(0, |kid| u8::from_str_radix(&kid[6..8], 16).unwrap())
}

/// The keys of the tracks of a file.
fn of_file(clip: &[u8], document: &Document) -> Result<Vec<u8>, String> {
    let options = options(document).with_drm(vec![System::Common]);
    let source = MemorySource::new("in.mp4", clip.to_vec());
    let done = encrypt(&source, Box::new(MemorySink::new()), &options, &Quiet);
    let done = done.map_err(|error| error.to_string())?;
    Ok(done.tracks.iter().map(|track| number(track.kid.as_ref())).collect())
}

/// The keys of the tracks of a package, whose video has a label.
fn of_package(
    clip: &[u8],
    label: &str,
    set: impl FnOnce(EncryptOptions) -> EncryptOptions,
    document: &Document,
) -> Result<Vec<Vec<u8>>, String> {
    let rules = [TrackKind::Video, TrackKind::Audio].map(|kind| {
        let mut rule = TrackRule::default();
        rule.kind = Some(kind);
        rule.properties.label = (kind == TrackKind::Video).then(|| label.into());
        rule
    });
    let options = PackageOptions::new()
        .with_protection(Some(set(options(document))))
        .with_segment_duration(Duration::from_millis(100))
        .with_tracks(rules.into());
    let package =
        Package::new(vec![Arc::new(MemorySource::new("in.mp4", clip.to_vec()))], options, &Quiet);
    let package = package.map_err(|error| error.to_string())?;
    let done = package.write(Box::new(MemoryFolder::new()), &Quiet);
    let done = done.map_err(|error| error.to_string())?;
    let kids = |kids: &Vec<String>| kids.iter().map(|kid| number(Some(kid))).collect();
    Ok(done.tracks.iter().map(|track| kids(&track.kids)).collect())
}

fn unlabelled(clip: &[u8], document: &Document) -> Result<Vec<Vec<u8>>, String> {
    of_package(clip, "Main", |options| options, document)
}

/// ffprobe has 44.8 kbit/s and 25 frames per second for the video, and one channel for the audio.
const TOLD_APART: [[(u8, &str); 4]; 3] = [
    [
        (1, "<VideoFilter/><BitrateFilter maxBitrate=\"43000\"/>"),
        (2, "<VideoFilter/><BitrateFilter minBitrate=\"43001\" maxBitrate=\"46000\"/>"),
        (3, "<VideoFilter/><BitrateFilter minBitrate=\"46001\"/>"),
        (4, "<AudioFilter/>"),
    ],
    [
        (1, "<VideoFilter maxFps=\"24\"/>"),
        (2, "<VideoFilter minFps=\"24\" maxFps=\"25\"/>"),
        (3, "<VideoFilter minFps=\"25\"/>"),
        (4, "<AudioFilter maxChannels=\"2\"/>"),
    ],
    [
        (1, "<VideoFilter hdr=\"true\"/>"),
        (2, "<VideoFilter hdr=\"false\" wcg=\"false\"/>"),
        (3, "<AudioFilter minChannels=\"2\"/>"),
        (4, "<AudioFilter maxChannels=\"1\"/>"),
    ],
];

#[test]
fn what_tells_tracks_apart() {
    for rules in &TOLD_APART {
        let document = document(rules);
        assert_eq!(of_file(CLIP, &document), Ok(vec![2, 4]), "{rules:?}");
        assert_eq!(unlabelled(CLIP, &document), Ok(vec![vec![2], vec![4]]), "{rules:?}");
        assert_eq!(unlabelled(FRAGMENTS, &document), Ok(vec![vec![2], vec![4]]), "{rules:?}");
    }
    // Bit rates and frame rates of fragments are not known before these are read.
    for (rules, asked) in TOLD_APART.iter().zip(["the bit rate", "the frame rate"]) {
        let error = of_file(FRAGMENTS, &document(rules)).unwrap_err();
        for part in ["track 1 (avc1)", "usage rule 1 (KID 00000001-", asked, "lanelock package"] {
            assert!(error.contains(part), "{error}");
        }
    }
    assert_eq!(of_file(FRAGMENTS, &document(&TOLD_APART[2])), Ok(vec![2, 4]));
}

#[test]
fn labels_are_those_of_a_package() {
    let document = document(&[
        (1, "<LabelFilter label=\"Main\"/><VideoFilter/>"),
        (2, "<LabelFilter label=\"Other\"/><LabelFilter label=\"Sign\"/>"),
        (3, "<AudioFilter/>"),
    ]);
    let of_label = |label| of_package(CLIP, label, |options| options, &document);
    assert_eq!(of_label("Main"), Ok(vec![vec![1], vec![3]]));
    assert_eq!(of_label("Sign"), Ok(vec![vec![2], vec![3]]));
    assert!(of_label("main").unwrap_err().contains("there is no key for it"));
    let error = of_file(CLIP, &document).unwrap_err();
    assert!(error.contains("usage rule 1") && error.contains("the label"), "{error}");
}

#[test]
fn a_track_has_one_key() {
    let video = "<VideoFilter/>";
    let slow = "<BitrateFilter maxBitrate=\"1000000\"/>";
    let document = document(&[(1, video), (2, slow), (3, "<AudioFilter/>")]);
    for error in [of_file(CLIP, &document).unwrap_err(), unlabelled(CLIP, &document).unwrap_err()] {
        let both = "usage rule 1 (KID 00000001-0000-0000-0000-000000000000) and usage rule 2 (KID ";
        assert!(error.contains("track 1 (avc1)") && error.contains(both), "{error}");
    }
    let same = self::document(&[(1, video), (1, slow)]);
    assert_eq!(of_file(CLIP, &same), Ok(vec![1, 1]));
}

#[test]
fn key_periods() {
    let periods = "<ContentKeyPeriodList><ContentKeyPeriod id=\"a\" index=\"1\"/>\
                   <ContentKeyPeriod id=\"b\" index=\"2\"/></ContentKeyPeriodList>";
    let [a, b] = ["a", "b"].map(|id| format!("<KeyPeriodFilter periodId=\"{id}\"/>"));
    let slow = "<VideoFilter maxFps=\"30\"/>";
    let (first, second) = (format!("{a}{slow}"), format!("{b}{slow}"));
    let rotate = |options: EncryptOptions| {
        options.with_key_periods(KeyPeriods::From(vec![Duration::from_hours(1)]))
    };
    let changing = with(&[(1, &first), (2, &second), (3, "<AudioFilter/>")], periods);
    let places: Vec<_> =
        changing.key_plan(Scheme::Cbcs).unwrap().keys.entries().map(|line| line.period).collect();
    assert_eq!(places, [Some(0), Some(1), None]);
    assert_eq!(of_package(CLIP, "x", rotate, &changing), Ok(vec![vec![1], vec![3]]));
    // One for all time meets each of the others, and not the next one alone.
    let meeting = with(&[(1, slow), (1, &first), (2, &second), (3, "<AudioFilter/>")], periods);
    let error = of_package(CLIP, "x", rotate, &meeting).unwrap_err();
    assert!(error.contains("usage rule 1 ") && error.contains("usage rule 3 "), "{error}");
    assert!(error.contains("in key period 1"), "{error}");
}
