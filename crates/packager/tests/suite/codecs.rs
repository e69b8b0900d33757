//! Codecs that are protected by the rules of another one, and those whose rules need frames before.

use std::sync::Arc;

use crate::support::*;
use lanelock_packager::{
    EncryptOptions, Iv, Key, MoviePlan, PlanOptions, Protection, Quiet, Scheme, Selector, encrypt,
    inspect,
    io::{MemorySink, MemorySource},
};
use lanelock_testkit::{EXPERIMENTAL_CLIPS, boxes::boxed, small_clip};

fn given(scheme: Scheme) -> EncryptOptions {
    options(scheme).with_iv(Iv::Given(vec![7; 16]))
}

/// The samples of Dolby Vision are those of the codec it is based on.
#[test]
fn dolby_vision_has_the_rules_of_its_base() {
    let place = Place::new();
    let av1 = small_clip("av1_tiles.mp4").read();
    for (clip, base, entries) in [
        (AVC, "avc1", ["dva1", "dvav"]),
        (HEVC, "hvc1", ["dvh1", "dvhe"]),
        (&av1, "av01", ["dav1", "dav1"]),
    ] {
        for scheme in [Scheme::Cenc, Scheme::Cbcs] {
            let (as_base, _) = place.encrypt(clip, &given(scheme)).unwrap();
            for entry in entries {
                let dolby = renamed(clip, base, entry);
                let (encrypted, summary) = place.encrypt(&dolby, &given(scheme)).unwrap();
                assert!(summary.access_units > 0);
                assert_eq!(renamed(&encrypted, entry, base), as_base, "{entry} {scheme}");
                let (back, _) = place.decrypt(&encrypted, &keys()).unwrap();
                assert_eq!(samples(&back), samples(clip), "{entry} {scheme}");
            }
        }
    }
}

/// `esds` of an object type, with the first bytes of its decoder specific info.
fn esds(object_type: u8, specific: [u8; 2]) -> Vec<u8> {
    let config = [&[4, 17, object_type, 0x15][..], &[0; 11], &[5, 2], &specific].concat();
    boxed(b"esds", &[&[0, 0, 0, 0, 3, 22, 0, 1, 0], &config])
}

/// MP3 and xHE-AAC are protected whole, and nothing in them tells a wrong key from the right one.
#[test]
fn audio_of_every_kind_is_protected_whole() {
    let place = Place::new();
    // MPEG-1 and MPEG-2 audio; MPEG-4 audio of the object type 42, 11111 001010.
    for (object_type, specific) in [(0x6b, [0; 2]), (0x69, [0; 2]), (0x40, [0xf9, 0x46])] {
        let config = esds(object_type, specific).leak();
        let sample = &[0x5a; 100];
        let track = Trak { handler: b"soun", format: b"mp4a", config, sample, count: 20 };
        let clear = progressive(&[track]);
        assert!(movie(&clear).tracks[0].entries[0].config.is_some());
        for scheme in Scheme::ALL {
            let (encrypted, summary) = place.encrypt(&clear, &given(scheme)).unwrap();
            assert_eq!(summary.access_units, 20);
            let blocks = if scheme == Scheme::Cenc { 100 } else { 96 };
            for unit in samples(&encrypted) {
                assert!(unit[..blocks] != sample[..blocks] && unit[..16] != sample[..16]);
            }
            let (back, _) = place.decrypt(&encrypted, &keys()).unwrap();
            assert_eq!(samples(&back), samples(&clear), "{object_type} {scheme}");
        }
    }
}

/// VVC and AC-4: there and back in every scheme, with a notice for each track. The table of contents of AC-4
/// stays clear, and patterns are as for video.
#[test]
fn experimental_codecs() {
    let place = Place::new();
    // One presentation of one group of one stereo substream, of 150 bytes.
    let frame = [&AC4_CONTENTS[..], &[0x5a; 150]].concat().leak();
    let ac4 = Trak { handler: b"soun", format: b"ac-4", config: &[], sample: frame, count: 20 };
    let ac4 = progressive(&[ac4]);
    let vvc = EXPERIMENTAL_CLIPS.map(|name| (name, small_clip(name).read()));
    for (name, clear) in vvc.into_iter().chain([("ac-4", ac4)]) {
        let report = inspect(&MemorySource::new(name, clear.clone())).unwrap();
        assert!(report.tracks[0].experimental, "{name}");
        for scheme in Scheme::ALL {
            let warnings = Warnings::default();
            let (encrypted, _) = place.watched(&clear, &given(scheme), &warnings).unwrap();
            let told = warnings.take();
            let notices = told.iter().filter(|told| told.starts_with("experimental: "));
            assert_eq!(notices.count(), 1, "{told:?}");
            for (unit, before) in samples(&encrypted).iter().zip(samples(&clear)) {
                assert!(name != "ac-4" || unit[..11] == before[..11] && unit[..] != before[..]);
            }
            let tenc = &movie(&encrypted).tracks[0].entries[0].protection;
            let tenc = tenc.as_ref().unwrap().encryption.as_ref().unwrap();
            let pattern = if scheme.has_pattern() { (1, 9) } else { (0, 0) };
            assert_eq!((tenc.crypt_blocks, tenc.skip_blocks), pattern, "{name} {scheme}");
            let (back, _) = place.decrypt(&encrypted, &keys()).unwrap();
            assert_eq!(samples(&back), samples(&clear), "{name} {scheme}");
        }
    }
}

/// `ac4_toc()` (ETSI TS 103 190-2, clause 6.2.1.1).
const AC4_CONTENTS: [u8; 11] = [0x80, 0x07, 0x72, 0x00, 0x10, 0x00, 0x00, 0xb8, 0x06, 0x25, 0x80];

/// Text in MP4 stays clear: with a notice, unless that was said; a key for it in particular is an error.
#[test]
fn text_stays_clear() {
    let place = Place::new();
    for (handler, format, config) in [(b"text", b"wvtt", &b""[..]), (b"subt", b"stpp", b"ns\0\0\0")]
    {
        let text = Trak { handler, format, config, sample: b"\0\0\0\x08vtte", count: 20 };
        let clip = progressive(&[
            text,
            Trak { handler: b"soun", format: b"mha1", config: &[], sample: &[7; 100], count: 20 },
        ]);
        let named = given(Scheme::Cbcs).with_clear(vec![Selector::Text]);
        for (options, notices) in [(given(Scheme::Cbcs), 1), (named.clone(), 0)] {
            let warnings = Warnings::default();
            let (encrypted, summary) = place.watched(&clip, &options, &warnings).unwrap();
            assert_eq!(summary.tracks[0].scheme, None);
            let told = warnings.take();
            let notice = |told: &&String| told.contains("track 1") && told.contains("stays clear");
            assert_eq!(told.iter().filter(notice).count(), notices, "{told:?}");
            let (back, _) = place.decrypt(&encrypted, &keys()).unwrap();
            assert_eq!(samples(&back), samples(&clip));
        }
        let mut of_text = named.keys.clone();
        of_text.insert(Selector::Track(1), Key::new([9; 16], [8; 16])).unwrap();
        let options = EncryptOptions::new(Scheme::Cbcs, of_text);
        says(place.encrypt(&clip, &options), &["track 1", "cannot be encrypted"]);
    }
}

/// Frames of AV1 and VP9 refer to frames before them; a segment begins with a key frame, and is the same
/// by itself as in the whole file.
#[test]
fn segments_of_av1_and_vp9() {
    for name in ["av1.mp4", "av1_tiles.mp4", "vp9.mp4"] {
        let clip = lanelock_testkit::clips(name).pop().unwrap().read();
        let source = || Arc::new(MemorySource::new(name, clip.clone()));
        for scheme in [Scheme::Cenc, Scheme::Cbcs] {
            let sink = MemorySink::new();
            encrypt(&*source(), Box::new(sink.clone()), &given(scheme), &Quiet).unwrap();
            let whole = sink.into_bytes().unwrap();
            let plan = MoviePlan::new(source(), &PlanOptions::new(), &Quiet).unwrap();
            let protection = Protection::new(&plan, given(scheme), &Quiet).unwrap();
            let mut segments: Vec<_> = (0..plan.len()).rev().collect();
            segments.sort_by_key(|number| number % 2);
            for number in segments {
                let segment = protection.segment(number).unwrap();
                let found = whole.windows(segment.len()).any(|window| window == segment);
                assert!(found, "{name} {scheme}: segment {number} is not in the whole file");
            }
        }
    }
}

/// A frame that does not fit its headers names the place.
#[test]
fn damaged_frames_are_refused() {
    let place = Place::new();
    for (name, damage, words) in [
        ("av1_tiles.mp4", 0x42, ["track 1", "access unit 1", "OBU 0 at byte 0", "tile list"]),
        ("vp9.mp4", 0x42, ["track 1", "access unit 1", "frame 0 at byte 0", "frame_marker"]),
    ] {
        let mut clip = small_clip(name).read();
        let first = samples(&clip).swap_remove(0);
        let at = clip.windows(first.len()).position(|window| window == first).unwrap();
        clip[at] = damage;
        says(place.encrypt(&clip, &given(Scheme::Cbcs)), &words);
    }
}
