//! Inputs of `package` with tracks that streams do not have, and options that cannot be: what is left out is
//! told, and all else is refused before anything is written.
#![allow(clippy::trivially_copy_pass_by_ref, reason = "helpers take box types as literals")]

use std::{collections::BTreeMap, sync::Arc};

use crate::support::{AAC, AVC, Trak, Warnings, progressive};
use lanelock_mp4::TrackKind;
use lanelock_packager::{
    io::{MemoryFolder, MemorySource, Source},
    package::{Package, PackageOptions, Storage, TrackProperties, TrackRule},
};
use lanelock_testkit::boxes::{find, grow, word};

type Objects = BTreeMap<String, Vec<u8>>;

/// What is made of clear inputs, or the error of the plan; and the warnings.
fn package(
    inputs: &[(&str, &[u8])],
    options: PackageOptions,
) -> (Result<Objects, String>, Vec<String>) {
    let warnings = Warnings::default();
    let source = |(name, bytes): &(&str, &[u8])| -> Arc<dyn Source> {
        Arc::new(MemorySource::new(*name, bytes.to_vec()))
    };
    let planned = Package::new(inputs.iter().map(source).collect(), options, &warnings);
    let made = planned.map_err(|error| error.to_string()).map(|package| {
        let folder = MemoryFolder::new();
        // What has a plan is written.
        package.write(Box::new(folder.clone()), &warnings).unwrap();
        folder.into_objects().unwrap()
    });
    (made, warnings.take())
}

fn refusal(inputs: &[(&str, &[u8])], options: PackageOptions, words: &[&str]) {
    let message = package(inputs, options).0.map(|_| ()).unwrap_err();
    for word in words {
        assert!(message.contains(word), "no {word:?} in: {message}");
    }
    assert!(message.len() < 600 && !message.contains("  "), "{message}");
}

/// Sound, and a track of this kind and codec beside it.
fn beside(handler: &'static [u8; 4], format: &'static [u8; 4], count: u32) -> Vec<u8> {
    let sound =
        Trak { handler: b"soun", format: b"fLaC", config: &[], sample: b"sound", count: 20 };
    // `tx3g` has 30 bytes behind the fields of all sample entries (3GPP TS 26.245, 5.16).
    let config: &[u8] = if format == b"tx3g" { &[0; 30] } else { &[] };
    progressive(&[sound, Trak { handler, format, config, sample: b"other", count }])
}

fn rule(kind: TrackKind) -> TrackRule {
    let mut rule = TrackRule::default();
    rule.kind = Some(kind);
    rule
}

/// hls.js refuses a whole stream for a codec of text that it does not know.
#[test]
fn only_text_of_streams_is_taken() {
    for code in [b"tx3g", b"text", b"c608"] {
        let file = beside(b"text", code, 20);
        let name = String::from_utf8_lossy(code).into_owned();
        let (made, warnings) = package(&[("in.mp4", &file)], PackageOptions::new());
        let made = made.unwrap();
        for text in [&made["manifest.mpd"], &made["main.m3u8"]] {
            assert!(!String::from_utf8_lossy(text).contains(&name));
        }
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        let hint = "ffmpeg -i IN -map 0:s:0 OUT.vtt";
        assert!(warning.contains(&format!("in.mp4: track 2 ({name}) is left out")), "{warning}");
        assert!(warning.contains(hint), "{warning}");
        let options = PackageOptions::new().with_tracks(vec![rule(TrackKind::Text)]);
        refusal(&[("in.mp4", &file)], options, &["in.mp4: track 2", &name, hint]);
        // What is not chosen is not told of.
        let options = PackageOptions::new().with_tracks(vec![rule(TrackKind::Audio)]);
        let (made, warnings) = package(&[("in.mp4", &file)], options);
        made.unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

/// Clear or not, players take what they know: a cover picture is left out, and all else has to be encoded.
#[test]
fn codecs_that_no_player_takes() {
    for code in [b"jpeg", b"png "] {
        let name = String::from_utf8_lossy(code).into_owned();
        let file = beside(b"vide", code, 1);
        let (made, warnings) = package(&[("in.mp4", &file)], PackageOptions::new());
        assert!(!String::from_utf8_lossy(&made.unwrap()["manifest.mpd"]).contains("video"));
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains(&format!("in.mp4: track 2 ({name}) is left out")), "{warning}");
        let options = PackageOptions::new().with_tracks(vec![rule(TrackKind::Video)]);
        refusal(&[("in.mp4", &file)], options, &["in.mp4: track 2", &name, "picture"]);
    }
    let video = [b"jpeg", b"apcn", b"apch", b"ap4h", b"mp4v", b"mp4a"].map(|code| (b"vide", code));
    let audio = [b"sowt", b"twos", b"lpcm", b"samr", b"avc1"].map(|code| (b"soun", code));
    for (handler, code) in video.into_iter().chain(audio) {
        let file = beside(handler, code, 20);
        let name = String::from_utf8_lossy(code).into_owned();
        let encoder = if handler == b"vide" { "-c:v libx264" } else { "-c:a aac" };
        let words = ["in.mp4: track 2", &name, encoder, "--track"];
        refusal(&[("in.mp4", &file)], PackageOptions::new(), &words);
    }
    for code in [b"ac-4", b"dtsc", b"mhm1", b"alac"] {
        package(&[("in.mp4", &beside(b"soun", code, 20))], PackageOptions::new()).0.unwrap();
    }
}

/// Players are told of one codec, size and sampling rate.
#[test]
fn sample_entries_that_differ() {
    let (ours, theirs) = (b"fLaC", b"Opus");
    for (second, rate) in [(ours, 48_000_u32), (ours, 44_100), (theirs, 48_000)] {
        let mut file = beside(b"soun", ours, 20);
        let at = find(&file, ours);
        let len = word(&file, at) as usize;
        let mut entry = file[at..at + len].to_vec();
        entry[4..8].copy_from_slice(second);
        entry[32..36].copy_from_slice(&(rate << 16).to_be_bytes());
        grow(&mut file, &[b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd"], len);
        let count = find(&file, b"stsd") + 12;
        file[count..count + 4].copy_from_slice(&2_u32.to_be_bytes());
        file.splice(at + len..at + len, entry);
        if (second, rate) == (ours, 48_000) {
            package(&[("in.mp4", &file)], PackageOptions::new()).0.unwrap();
            continue;
        }
        let other =
            format!("number 2 is {}, {rate} Hz, 2 channels", String::from_utf8_lossy(second));
        let words = ["in.mp4: track 1", "number 1 is fLaC, 48000 Hz, 2 channels", &other];
        refusal(&[("in.mp4", &file)], PackageOptions::new(), &words);
    }
}

fn named(file: &str, change: impl FnOnce(&mut TrackProperties)) -> TrackRule {
    let mut rule = TrackRule::default();
    rule.file = Some(file.into());
    change(&mut rule.properties);
    rule
}

/// What manifests cannot say is found with the plan, of which `--dry-run` is made.
#[test]
fn manifests_are_checked_before_media_are_written() {
    let inputs: [(&str, &[u8]); 2] = [("a.mp4", AVC), ("b.mp4", AAC)];
    let with = |a: TrackRule, b: TrackRule| PackageOptions::new().with_tracks(vec![a, b]);
    let quoted = named("b.mp4", |it| it.label = Some("the \"best\"".into()));
    refusal(&inputs, with(named("a.mp4", |_| ()), quoted), &["the \\\"best\\\""]);
    for (a, b, word) in [
        ("a", "a-iframes", "a-iframes.m3u8"),
        ("a", "A-iframes", "iframes.m3u8"),
        ("a", "A", "its name A is that of track 1 of a.mp4"),
        ("Main", "b", "its name Main is that of a manifest"),
        ("a", "MANIFEST", "its name MANIFEST is that of a manifest"),
    ] {
        for storage in [Storage::Segments, Storage::Single] {
            let a = named("a.mp4", |it| it.name = Some(a.into()));
            let b = named("b.mp4", |it| it.name = Some(b.into()));
            refusal(&inputs, with(a, b).with_storage(storage), &[word]);
        }
    }
    // Names that are made are told apart.
    let languages = |a: &str, b: &str| {
        let rule = |file, language: &str| named(file, |it| it.language = Some(language.into()));
        with(rule("a.mp4", a), rule("b.mp4", b))
    };
    let inputs: [(&str, &[u8]); 2] = [("a.mp4", AAC), ("b.mp4", AAC)];
    let made = package(&inputs, languages("de-AT", "de-at")).0.unwrap();
    assert!(made.contains_key("audio-de-AT.m3u8") && made.contains_key("audio-de-at-2.m3u8"));
}

#[test]
fn languages_are_tags() {
    let inputs: [(&str, &[u8]); 1] = [("a.mp4", AAC)];
    for wrong in ["", "de_AT", "d\u{e9}", "en--GB", "-en", "muchtoolong", "en\"", "en GB"] {
        let rule = named("a.mp4", |it| it.language = Some(wrong.into()));
        let options = PackageOptions::new().with_tracks(vec![rule]);
        refusal(&inputs, options, &["--track number 1", &format!("{wrong:?}"), "BCP 47"]);
    }
    let subtitles = |language: &str| {
        format!(
            "<tt xmlns=\"http://www.w3.org/ns/ttml\" xml:lang=\"{language}\"><body><div><p begin=\"0s\" \
             end=\"1s\">Hello</p></div></body></tt>"
        )
    };
    for (language, expected) in [("zh-Hant-TW", Some("lang=\"zh-Hant-TW\"")), ("en_GB", None)] {
        let text = subtitles(language);
        let inputs: [(&str, &[u8]); 2] = [("a.mp4", AVC), ("b.ttml", text.as_bytes())];
        let (made, warnings) = package(&inputs, PackageOptions::new());
        let mpd = String::from_utf8(made.unwrap()["manifest.mpd"].clone()).unwrap();
        match (expected, &warnings[..]) {
            (Some(expected), []) => assert!(mpd.contains(expected), "{mpd}"),
            (None, [warning]) => {
                assert!(warning.contains("b.ttml: its language (xml:lang) \"en_GB\""), "{warning}");
                assert!(!mpd.contains("en_GB"), "{mpd}");
            }
            _ => panic!("{language}: {warnings:?}"),
        }
    }
}

/// No player switches between sampling rates without a break.
#[test]
fn sampling_rates_are_sets() {
    let slow = {
        let mut file = AAC.to_vec();
        let at = find(&file, b"mdhd") + 20;
        file[at..at + 4].copy_from_slice(&44_100_u32.to_be_bytes());
        file
    };
    let inputs: [(&str, &[u8]); 3] = [("a.mp4", AAC), ("b.mp4", &slow), ("c.mp4", AAC)];
    let made = package(&inputs, PackageOptions::new()).0.unwrap();
    let mpd = String::from_utf8(made["manifest.mpd"].clone()).unwrap();
    assert_eq!(mpd.matches("<AdaptationSet").count(), 2, "{mpd}");
}
