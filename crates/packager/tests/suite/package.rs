//! Packages: every sample comes back as it was, whatever the inputs, layouts and schemes; renditions that
//! do not fit together are refused.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names are as they are written"
)]
#![allow(clippy::cast_precision_loss, reason = "times of short clips")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::support::{
    AAC, AVC, AVC_AAC, AVC_AAC_FRAGMENTS, AVC_FRAGMENTS, HEVC, HEVC_FRAGMENTS, Warnings, joined,
};
use lanelock_mp4::{Fragment, Movie, Sample, load, top_level};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Iv, Key, KeyMap, Quiet, Scheme, Selector, decrypt, encrypt,
    io::{MemoryFolder, MemorySink, MemorySource, Source},
    package::{Package, PackageOptions, PackageSummary, Storage, TrackProperties, TrackRule},
};
use lanelock_testkit::{
    boxes::{all, boxed, word, words},
    fragments::{FragmentForm, OffsetBase, refragmented},
    small_clip,
};

const KEYS: [([u8; 16], [u8; 16]); 2] = [([1; 16], [2; 16]), ([3; 16], [4; 16])];

fn protection(scheme: Scheme) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, Key::new(KEYS[0].0, KEYS[0].1)).unwrap();
    keys.insert(Selector::Audio, Key::new(KEYS[1].0, KEYS[1].1)).unwrap();
    EncryptOptions::new(scheme, keys)
}

fn source(name: &str, bytes: &[u8]) -> Arc<dyn Source> {
    Arc::new(MemorySource::new(name, bytes.to_vec()))
}

/// Shorter than the small clips, whose key frames are half a second apart.
fn options(scheme: Scheme) -> PackageOptions {
    PackageOptions::new()
        .with_protection(Some(protection(scheme)))
        .with_segment_duration(Duration::from_millis(400))
}

type Objects = BTreeMap<String, Vec<u8>>;

fn package(
    inputs: &[(&str, &[u8])],
    options: PackageOptions,
) -> Result<(Objects, PackageSummary), String> {
    let sources = inputs.iter().map(|(name, bytes)| source(name, bytes)).collect();
    let folder = MemoryFolder::new();
    let package = Package::new(sources, options, &Quiet).map_err(|error| error.to_string())?;
    let summary = package.write(Box::new(folder.clone()), &Quiet);
    let summary = summary.map_err(|error| error.to_string())?;
    Ok((folder.into_objects().unwrap(), summary))
}

fn refusal(inputs: &[(&str, &[u8])], options: PackageOptions) -> String {
    let message = package(inputs, options).map(|_| ()).unwrap_err();
    assert!(message.len() < 600, "{message}");
    message
}

fn decrypted(file: &[u8]) -> Vec<u8> {
    let keys = KEYS.iter().map(|(kid, key)| Key::new(*kid, *key)).collect();
    let sink = MemorySink::new();
    let source = MemorySource::new("joined.mp4", file.to_vec());
    decrypt(&source, Box::new(sink.clone()), &DecryptOptions::new(keys), &Quiet).unwrap();
    sink.into_bytes().unwrap()
}

/// The samples of a track, with their bytes: presentation time without edit list, duration, sync.
fn samples(file: &[u8], codec: &str) -> Vec<(i64, u64, bool, Vec<u8>)> {
    let mut movie = None;
    let mut found: Vec<Sample> = Vec::new();
    let mut track = 0;
    for header in top_level(file) {
        let header = header.unwrap();
        if header.kind == b"moov" {
            let parsed = Movie::parse(load(file, &header).unwrap(), header.offset).unwrap();
            track = parsed.tracks.iter().position(|track| track.codec() == codec).unwrap();
            if !parsed.fragmented {
                let of_track = parsed.samples(&parsed.tracks[track], file.len() as u64).unwrap();
                found.extend(of_track.map(Result::unwrap));
            }
            movie = Some(parsed);
        } else if header.kind == b"moof" {
            let moof = load(file, &header).unwrap();
            let movie = movie.as_ref().unwrap();
            let fragment = Fragment::parse(&moof, header.offset, movie, file.len() as u64).unwrap();
            let of_track = fragment.tracks.iter().filter(|traf| traf.track_index == track);
            found.extend(of_track.flat_map(|traf| traf.samples().collect::<Vec<_>>()));
        }
    }
    let bytes = |sample: &Sample| {
        let start = usize::try_from(sample.offset).unwrap();
        file[start..start + sample.size as usize].to_vec()
    };
    let time = |sample: &Sample| {
        i64::try_from(sample.decode_time).unwrap() + i64::from(sample.composition_offset)
    };
    let describe = |sample: &Sample| (time(sample), sample.decode_time, sample.sync, bytes(sample));
    found.iter().map(describe).collect()
}

#[test]
fn samples_come_back_as_they_were() {
    let files: [(&[u8], &[&str]); 7] = [
        (AVC, &["avc1"]),
        (AVC_FRAGMENTS, &["avc1"]),
        (HEVC, &["hvc1"]),
        (HEVC_FRAGMENTS, &["hvc1"]),
        (AAC, &["mp4a"]),
        (AVC_AAC, &["avc1", "mp4a"]),
        (AVC_AAC_FRAGMENTS, &["avc1", "mp4a"]),
    ];
    for (file, codecs) in files {
        for scheme in [Scheme::Cenc, Scheme::Cbcs] {
            for storage in [Storage::Segments, Storage::Single] {
                for fragment in [None, Some(Duration::from_millis(100))] {
                    let options =
                        options(scheme).with_storage(storage).with_fragment_duration(fragment);
                    let (objects, summary) = package(&[("in.mp4", file)], options).unwrap();
                    assert_eq!(summary.tracks.len(), codecs.len());
                    for (codec, track) in codecs.iter().zip(&summary.tracks) {
                        let made = joined(&objects, &track.name);
                        let was = samples(file, codec);
                        assert!(!was.is_empty());
                        let shown = format!("{codec} {scheme} {storage:?} {fragment:?}");
                        assert!(samples(&made, codec) != was, "{shown}: nothing is encrypted");
                        assert!(samples(&decrypted(&made), codec) == was, "{shown}");
                    }
                }
            }
        }
    }
}

/// A progressive file with fragments of 300 ms or more.
fn fragmented(file: &[u8]) -> Vec<u8> {
    let options = protection(Scheme::Cenc).with_fragment_duration(Duration::from_millis(300));
    let sink = MemorySink::new();
    let source = MemorySource::new("in.mp4", file.to_vec());
    encrypt(&source, Box::new(sink.clone()), &options, &Quiet).unwrap();
    decrypted(&sink.into_bytes().unwrap())
}

/// The same samples give the same segments, whether the input is progressive or has fragments, and
/// however many workers there are.
#[test]
fn forms_and_workers_make_no_difference() {
    let made = |file: &[u8], workers| {
        let protection = protection(Scheme::Cbcs).with_iv(Iv::Given(vec![7; 16]));
        let options = options(Scheme::Cbcs)
            .with_protection(Some(protection))
            .with_workers(workers)
            .with_memory(1);
        let (objects, _) = package(&[("in.mp4", file)], options).unwrap();
        let media = objects.into_iter().filter(|(path, _)| path.ends_with(".m4s"));
        media.collect::<Objects>()
    };
    let progressive = small_clip("avc_aac.mp4").read();
    let one = made(&progressive, 1);
    assert!(one.len() > 3, "{:?}", one.keys());
    // Sample groups go along.
    assert!(one["audio/1.m4s"].windows(8).any(|word| word == b"\0\0\0\0roll"));
    assert!(one == made(&progressive, 4));
    let fragments = fragmented(&progressive);
    assert!(one == made(&fragments, 1));
    assert!(one == made(&fragments, 4));
}

/// Video that is cut short by some samples, so that its key frames are elsewhere.
#[test]
fn misaligned_renditions_are_refused() {
    let other = small_clip("avc.mp4").read();
    let message = refusal(&[("b.mp4", &other), ("a.mp4", AVC)], options(Scheme::Cbcs));
    assert!(message.contains("a.mp4: track 1"), "{message}");
    assert!(message.contains("video-") && message.contains(" s"), "{message}");
}

/// Renditions of one video end together, whichever comes first; audio may go on, in segments like the others.
#[test]
fn tracks_that_end_early() {
    let long = small_clip("avc.mp4").read();
    let inputs: [(&str, &[u8]); 2] = [("long.mp4", &long), ("short.mp4", AVC)];
    for inputs in [inputs, [inputs[1], inputs[0]]] {
        let message = refusal(&inputs, options(Scheme::Cbcs));
        assert!(message.contains("ends at") || message.contains("none from there on"), "{message}");
    }
    let audio = small_clip("avc_aac.mp4").read();
    let only =
        |file: &str, kind| rule(|rule| (rule.file, rule.kind) = (Some(file.into()), Some(kind)));
    let tracks = vec![
        only("v.mp4", lanelock_mp4::TrackKind::Video),
        only("a.mp4", lanelock_mp4::TrackKind::Audio),
    ];
    let options = options(Scheme::Cbcs).with_tracks(tracks);
    let (_, summary) = package(&[("v.mp4", AVC), ("a.mp4", &audio)], options).unwrap();
    assert!(summary.tracks[1].segments > 1, "{:?}", summary.tracks[1]);
    assert!(summary.tracks[1].longest_segment < 0.7, "{:?}", summary.tracks[1]);
}

/// Codecs of their own are sets of their own, which need not be aligned.
#[test]
fn codecs_are_sets() {
    let (_, summary) =
        package(&[("a.mp4", AVC), ("b.mp4", HEVC), ("c.mp4", AAC)], options(Scheme::Cbcs)).unwrap();
    let sets: Vec<usize> = summary.tracks.iter().map(|track| track.set).collect();
    assert_eq!(sets, [0, 1, 2]);
    let names: Vec<&str> = summary.tracks.iter().map(|track| track.name.as_str()).collect();
    assert_eq!(names[2], "audio");
    assert!(names[0] != names[1] && names[0].ends_with("avc1") && names[1].ends_with("hvc1"));
}

fn rule(change: impl FnOnce(&mut TrackRule)) -> TrackRule {
    let mut rule = TrackRule::default();
    change(&mut rule);
    rule
}

fn named(file: &str, name: &str) -> TrackRule {
    rule(|rule| {
        rule.file = Some(file.into());
        rule.properties.name = Some(name.into());
    })
}

#[test]
fn names_are_unique() {
    let inputs: [(&str, &[u8]); 2] = [("dir/a.mp4", AVC), ("dir/b.mp4", AAC)];
    let with = |a: &str, b: &str| {
        options(Scheme::Cbcs).with_tracks(vec![named("a.mp4", a), named("dir/b.mp4", b)])
    };
    let (objects, _) = package(&inputs, with("one", "two")).unwrap();
    assert!(objects.contains_key("one/1.m4s") && objects.contains_key("two/1.m4s"));
    let message = refusal(&inputs, with("same", "same"));
    assert!(message.contains("its name same is that of track 1 of dir/a.mp4"), "{message}");
    for wrong in ["", "a/b", "..", "a b", "manifest", "main"] {
        let message = refusal(&inputs, with(wrong, "two"));
        assert!(message.contains("dir/a.mp4: track 1"), "{wrong}: {message}");
    }
    // Without names they are told apart.
    let (objects, _) = package(&[("a.mp4", AVC), ("b.mp4", AVC)], options(Scheme::Cbcs)).unwrap();
    let inits: Vec<_> = objects.keys().filter(|path| path.ends_with("init.mp4")).collect();
    assert_eq!(inits.len(), 2, "{inits:?}");
}

#[test]
fn rules_choose_and_describe() {
    let inputs: [(&str, &[u8]); 1] = [("in.mp4", AVC_AAC)];
    let audio = rule(|rule| {
        rule.kind = Some(lanelock_mp4::TrackKind::Audio);
        rule.properties = TrackProperties::default();
        rule.properties.language = Some("de-AT".into());
        rule.properties.label = Some("Deutsch & mehr".into());
    });
    let (objects, summary) =
        package(&inputs, options(Scheme::Cbcs).with_tracks(vec![audio.clone()])).unwrap();
    assert_eq!(summary.tracks.len(), 1);
    assert_eq!(summary.tracks[0].name, "audio-de-AT");
    let mpd = String::from_utf8(objects["manifest.mpd"].clone()).unwrap();
    assert!(mpd.contains("lang=\"de-AT\"") && mpd.contains("Deutsch &amp; mehr"), "{mpd}");
    let idle = rule(|rule| rule.language = Some("fr".into()));
    let message = refusal(&inputs, options(Scheme::Cbcs).with_tracks(vec![audio, idle]));
    assert!(message.contains("--track number 2 (language=fr) selects no track"), "{message}");
}

#[test]
fn what_would_not_protect_is_refused() {
    let inputs: [(&str, &[u8]); 2] = [("a.mp4", AVC), ("b.mp4", AAC)];
    // A track without key.
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, Key::new([1; 16], [2; 16])).unwrap();
    let lacking = EncryptOptions::new(Scheme::Cbcs, keys.clone());
    let message = refusal(&inputs, options(Scheme::Cbcs).with_protection(Some(lacking)));
    assert!(message.contains("b.mp4: track 1 (mp4a): there is no key for it"), "{message}");
    // Everything clear under a scheme.
    let clear = EncryptOptions::new(Scheme::Cbcs, KeyMap::new()).with_clear(vec![Selector::All]);
    let message = refusal(&inputs, options(Scheme::Cbcs).with_protection(Some(clear)));
    assert!(message.contains("nothing would be protected"), "{message}");
    // Schemes that streams do not have.
    for scheme in [Scheme::Cens, Scheme::Cbc1] {
        let message = refusal(&inputs, options(scheme));
        assert!(message.contains("streams are protected by cbcs or cenc"), "{message}");
    }
    // One IV for two tracks under one key of cenc.
    let mut one = KeyMap::new();
    one.insert(Selector::All, Key::new([1; 16], [2; 16])).unwrap();
    let repeated = |scheme| {
        let protection = EncryptOptions::new(scheme, one.clone()).with_iv(Iv::Given(vec![1; 8]));
        options(scheme).with_protection(Some(protection))
    };
    let message = refusal(&inputs, repeated(Scheme::Cenc));
    assert!(message.contains("must not repeat an IV under one key"), "{message}");
    package(&inputs, repeated(Scheme::Cbcs)).unwrap();
    // What is encrypted already.
    let (objects, summary) = package(&inputs, options(Scheme::Cbcs)).unwrap();
    let made = joined(&objects, &summary.tracks[0].name);
    let message = refusal(&[("a.mp4", &made)], options(Scheme::Cbcs));
    assert!(message.contains("encrypted already") && message.contains("rewrap"), "{message}");
}

/// Clear streams are made without a scheme, and hold what the inputs have.
#[test]
fn clear_streams() {
    let options = options(Scheme::Cbcs).with_protection(None);
    let (objects, summary) = package(&[("in.mp4", AVC_AAC)], options).unwrap();
    assert!(summary.scheme.is_none());
    for (codec, track) in ["avc1", "mp4a"].iter().zip(&summary.tracks) {
        assert!(samples(&joined(&objects, &track.name), codec) == samples(AVC_AAC, codec));
    }
    let mpd = String::from_utf8(objects["manifest.mpd"].clone()).unwrap();
    assert!(!mpd.contains("ContentProtection"));
}

/// The presentation times of segments, as index and manifests state them, are those of their samples.
#[test]
fn indexes_tell_times_and_places() {
    let options = options(Scheme::Cenc).with_storage(Storage::Single);
    let (objects, summary) = package(&[("in.mp4", AVC_AAC)], options).unwrap();
    for track in &summary.tracks {
        let file = &objects[&format!("{}.mp4", track.name)];
        let boxes: Vec<_> = top_level(file).map(Result::unwrap).collect();
        let sidx = boxes.iter().find(|header| header.kind == b"sidx").unwrap();
        let sidx_bytes = load(file, sidx).unwrap();
        let index = lanelock_mp4::edit::parse_sidx(&sidx_bytes, sidx.offset).unwrap();
        let moofs: Vec<u64> =
            boxes.iter().filter(|header| header.kind == b"moof").map(|moof| moof.offset).collect();
        let starts: Vec<u64> = index.references.iter().map(|range| range.range.start).collect();
        assert_eq!(starts, moofs);
        assert_eq!(index.references.last().unwrap().range.end, file.len() as u64);
        assert_eq!(index.references.len(), track.segments);
        let total: u64 = index.references.iter().map(|range| u64::from(range.duration)).sum();
        let seconds = total as f64 / f64::from(index.timescale);
        assert!((seconds - summary.duration).abs() < 0.1, "{seconds} {}", summary.duration);
    }
}

/// The sample groups of AAC (`roll`) are those of the input, in fragments of any length.
#[test]
fn fragments_keep_their_groups() {
    let file = small_clip("avc_aac.mp4").read();
    for fragment in [None, Some(Duration::from_millis(100))] {
        let warnings = Warnings::default();
        let sources = vec![source("in.mp4", &fragmented(&file))];
        let options = options(Scheme::Cbcs).with_fragment_duration(fragment);
        let folder = MemoryFolder::new();
        let package = Package::new(sources, options, &warnings).unwrap();
        package.write(Box::new(folder.clone()), &warnings).unwrap();
        assert_eq!(warnings.take(), [""; 0]);
        let made = joined(&folder.into_objects().unwrap(), "audio");
        let runs = |bytes: &[u8]| {
            let sbgps = all(bytes, *b"sbgp");
            let runs = sbgps.into_iter().map(|sbgp| {
                assert_eq!((&sbgp[4..8], word(sbgp, 8), word(sbgp, 16)), (&b"roll"[..], 1, 1));
                word(sbgp, 12)
            });
            runs.collect::<Vec<_>>()
        };
        let (was, made) = (runs(&file), runs(&made));
        assert!(made.len() > 1 && was.iter().sum::<u32>() == made.iter().sum::<u32>(), "{made:?}");
    }
}

/// Puts a box in front of each `moof`.
fn with_boxes(file: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for header in top_level(file) {
        let header = header.unwrap();
        if header.kind == b"moof" {
            out.extend_from_slice(new);
        }
        out.extend(load(file, &header).unwrap());
    }
    out
}

#[test]
fn events_are_left_out_with_a_warning() {
    let emsg = boxed(b"emsg", &[&[0; 4], b"urn:x\0\0", &words(&[1, 0, 0, 1])]);
    let prft = boxed(b"prft", &[&words(&[0, 1, 0, 0, 0])]);
    let file = with_boxes(AVC_AAC_FRAGMENTS, &[emsg, prft].concat());
    let warnings = Warnings::default();
    Package::new(vec![source("in.mp4", &file)], options(Scheme::Cbcs), &warnings).unwrap();
    let told = warnings.take();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("in.mp4: its emsg boxes") && told[1].contains("its prft boxes"));
    assert!(told.iter().all(|told| told.contains("track 1 (avc1), track 2 (mp4a)")), "{told:?}");
}

/// Two track fragments of each fragment, with descriptions of their own, become one.
#[test]
fn descriptions_of_fragments_go_along() {
    let groups = |samples: u32| {
        let entries = [0, 0, 0, 1, 0, u8::try_from(samples).unwrap()];
        let sgpd = boxed(b"sgpd", &[&words(&[1 << 24]), b"roll", &words(&[2, 3]), &entries]);
        let runs = words(&[2, 1, 0x1_0002, samples - 1, 0x1_0003]);
        [sgpd, boxed(b"sbgp", &[&[0; 4], b"roll", &runs])].concat()
    };
    let form = FragmentForm { trafs: 2, boxes: groups, ..FragmentForm::new(OffsetBase::Moof) };
    let file = refragmented(AVC_AAC_FRAGMENTS, form);
    let options = options(Scheme::Cbcs).with_segment_duration(Duration::from_secs(6));
    let (objects, _) = package(&[("in.mp4", &file)], options).unwrap();
    let made = joined(&objects, "audio");
    let expand = |moof: &[u8]| {
        let [sgpd, sbgp] = [*b"sgpd", *b"sbgp"].map(|kind| all(moof, kind));
        assert_eq!((sgpd.len(), sbgp.len()), (1, 1));
        let entries: Vec<u8> = sgpd[0][16..].chunks_exact(2).map(|entry| entry[1]).collect();
        let runs = sbgp[0][12..].chunks_exact(8).map(|run| (word(run, 0), word(run, 4) - 0x1_0001));
        runs.flat_map(|(count, index)| vec![entries[index as usize]; count as usize]).collect()
    };
    let found: Vec<u8> = expand(&made);
    let traf = |samples: u8| [vec![1], vec![samples; usize::from(samples) - 1]].concat();
    // 3 samples and 12, each in halves.
    assert_eq!(found, [traf(2), traf(1), traf(6), traf(6)].concat());
}
