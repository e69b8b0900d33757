//! Packages with keys that change, clear leads and keys by the size of pictures: what manifests say of a segment is
//! what the segment says, and all samples come back.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names are as they are written"
)]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::support::joined;
use base64ct::{Base64, Encoding as _};
use lanelock_packager::{
    ClearLead, DecryptOptions, EncryptOptions, Key, KeyLine, KeyMap, KeyPeriods, PictureClass,
    PictureLimits, Quiet, Scheme, Selector, decrypt,
    drm::System,
    io::{MemoryFolder, MemorySink, MemorySource, Source},
    package::{Package, PackageOptions, PackageSummary, Storage},
};
use lanelock_testkit::{
    boxes::{all, child, children, descend, media},
    dash_rules, gop_clip, hls_rules,
};

type Objects = BTreeMap<String, Vec<u8>>;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn key(period: u8, kind: u8) -> Key {
    Key::new([kind << 4 | period; 16], [0x80 | kind << 4 | period; 16])
}

fn keys(periods: u8) -> KeyMap {
    let mut keys = KeyMap::new();
    for period in 0..periods {
        for (selector, kind) in [(Selector::Video, 1), (Selector::Audio, 2)] {
            keys.add(KeyLine { selector, period: Some(period.into()), key: key(period, kind) })
                .unwrap();
        }
    }
    keys
}

/// Keys change at 400 ms and at 800 ms.
fn rotating(scheme: Scheme) -> EncryptOptions {
    EncryptOptions::new(scheme, keys(3))
        .with_key_periods(KeyPeriods::From(vec![ms(400), ms(800)]))
        .with_drm(vec![System::ClearKey, System::Common])
}

fn options(protection: EncryptOptions) -> PackageOptions {
    PackageOptions::new().with_protection(Some(protection)).with_segment_duration(ms(200))
}

fn package(
    clips: &[&[u8]],
    options: PackageOptions,
) -> Result<(Objects, PackageSummary), lanelock_packager::Error> {
    let sources = clips.iter().enumerate().map(|(number, bytes)| {
        let name = format!("{number}.mp4");
        Arc::new(MemorySource::new(&name, bytes.to_vec())) as Arc<dyn Source>
    });
    let folder = MemoryFolder::new();
    let package = Package::new(sources.collect(), options, &Quiet)?;
    let summary = package.write(Box::new(folder.clone()), &Quiet)?;
    let objects = folder.into_objects().unwrap();
    let text = |path: &str| String::from_utf8(objects.get(path)?.clone()).ok();
    let size = |path: &str| objects.get(path).map(|bytes| bytes.len() as u64);
    let broken = dash_rules(&text("manifest.mpd").unwrap(), &size);
    assert!(broken.is_empty(), "{broken:#?}");
    let broken = hls_rules("main.m3u8", &text, &size);
    assert!(broken.is_empty(), "{broken:#?}");
    Ok((objects, summary))
}

/// The KID of each segment of a playlist, by its KEY lines of Clear Key; none if it is clear.
fn playlist_kids(objects: &Objects, name: &str) -> Vec<Option<Vec<u8>>> {
    let text = String::from_utf8(objects[&format!("{name}.m3u8")].clone()).unwrap();
    let (mut kid, mut kids) = (None, Vec::new());
    for line in text.lines() {
        if line.starts_with("#EXT-X-KEY:METHOD=NONE") {
            kid = None;
        } else if line.starts_with("#EXT-X-KEY") && line.contains("org.w3.clearkey") {
            let base64 = line.split("base64,").nth(1).unwrap().split('"').next().unwrap();
            kid = Some(Base64::decode_vec(base64).unwrap());
        } else if !line.starts_with('#') && !line.is_empty() {
            kids.push(kid.clone());
        }
    }
    kids
}

/// What segments say of their KID: by a group, by a clear sample entry, or by none, so that `tenc` counts.
fn segment_kids(file: &[u8]) -> Vec<Option<Vec<u8>>> {
    let boxes: Vec<_> = children(file).collect();
    let moov = boxes.iter().find(|(kind, _)| kind == b"moov").unwrap().1;
    let tenc_at = moov.windows(4).position(|kind| kind == b"tenc").unwrap();
    // Version and flags, reserved, pattern, isProtected, IV size.
    let tenc = moov[tenc_at + 12..tenc_at + 28].to_vec();
    let moofs = boxes.iter().filter(|(kind, _)| kind == b"moof");
    moofs
        .map(|(_, moof)| {
            let traf = child(moof, *b"traf").unwrap();
            let tfhd = descend(traf, &[b"tfhd"]).unwrap();
            if tfhd[3] & 2 != 0 && tfhd[8..12] == [0, 0, 0, 2] {
                return None;
            }
            let group = all(traf, *b"sgpd").into_iter().find(|sgpd| sgpd[4..8] == *b"seig");
            match group {
                Some(group) if group[18] == 0 => None,
                Some(group) => Some(group[20..36].to_vec()),
                None => Some(tenc.clone()),
            }
        })
        .collect()
}

fn unlock(file: &[u8], keys: &KeyMap) -> Vec<u8> {
    let sink = MemorySink::new();
    let source = MemorySource::new("joined.mp4", file.to_vec());
    let options = DecryptOptions::new(keys.keys().cloned().collect());
    decrypt(&source, Box::new(sink.clone()), &options, &Quiet).unwrap();
    sink.into_bytes().unwrap()
}

#[test]
fn manifests_say_what_segments_say() {
    let Some(clip) = gop_clip("192x108") else { return };
    let clear = PackageOptions::new().with_segment_duration(ms(200));
    for storage in [Storage::Segments, Storage::Single] {
        let (clear, _) = package(&[&clip], clear.clone().with_storage(storage)).unwrap();
        for scheme in [Scheme::Cenc, Scheme::Cbcs] {
            for (lead, form) in [
                (0, ClearLead::SampleEntry),
                (100, ClearLead::SampleEntry),
                (100, ClearLead::SampleGroup),
                // Period 0 is never used: `tenc` names period 1.
                (600, ClearLead::SampleEntry),
            ] {
                let protection = rotating(scheme).with_clear_lead(ms(lead));
                let protection = protection.with_clear_lead_form(form);
                let with = options(protection).with_storage(storage).with_trick_play(true);
                let (objects, summary) = package(&[&clip], with).unwrap();
                for (track, kind) in summary.tracks.iter().zip([1, 2, 1]) {
                    let file = joined(&objects, &track.name);
                    let found = segment_kids(&file);
                    let clear_ones = usize::try_from(lead.div_ceil(200)).unwrap();
                    let expected: Vec<_> = (0..found.len())
                        .map(|at| {
                            let period = u8::try_from(at / 2).unwrap().min(2);
                            (at >= clear_ones).then(|| key(period, kind).kid.to_vec())
                        })
                        .collect();
                    assert_eq!(found, expected, "{scheme} {lead} {form:?} {}", track.name);
                    assert_eq!(track.clear_segments, clear_ones);
                    assert_eq!(track.kids.len(), if lead == 600 { 2 } else { 3 });
                    if track.name.ends_with("key-frames") {
                        continue;
                    }
                    assert_eq!(playlist_kids(&objects, &track.name), found, "{}", track.name);
                    let mpd = String::from_utf8(objects["manifest.mpd"].clone()).unwrap();
                    let kid = track.kid.as_ref().unwrap();
                    assert!(mpd.contains(&format!("default_KID=\"{kid}\"")), "{mpd}");
                    let back = unlock(&file, &keys(3));
                    assert_eq!(media(&back), media(&joined(&clear, &track.name)));
                }
            }
        }
    }
}

#[test]
fn each_size_of_picture_has_its_key() {
    let (Some(small), Some(large)) = (gop_clip("192x108"), gop_clip("384x216")) else { return };
    let mut map = KeyMap::new();
    map.insert(Selector::Picture(PictureClass::Sd), key(0, 1)).unwrap();
    map.insert(Selector::Picture(PictureClass::Hd), key(0, 3)).unwrap();
    map.insert(Selector::Audio, key(0, 2)).unwrap();
    let protection = EncryptOptions::new(Scheme::Cbcs, map.clone())
        .with_picture_limits(PictureLimits::new(192 * 108, 384 * 216, 1 << 20).unwrap());
    let (objects, summary) = package(&[&large, &small], options(protection)).unwrap();
    let kids: BTreeMap<_, _> =
        summary.tracks.iter().map(|track| (track.name.as_str(), track.kid.clone())).collect();
    assert_eq!(kids["video-108p"], Some(key(0, 1).kid_text()));
    assert_eq!(kids["video-216p"], Some(key(0, 3).kid_text()));
    let mpd = String::from_utf8(objects["manifest.mpd"].clone()).unwrap();
    assert_eq!(mpd.matches("contentType=\"video\"").count(), 2);
    assert_eq!(mpd.matches("urn:mpeg:dash:adaptation-set-switching:2016").count(), 2);
    for track in &summary.tracks {
        let found = segment_kids(&joined(&objects, &track.name));
        assert_eq!(playlist_kids(&objects, &track.name), found);
        unlock(&joined(&objects, &track.name), &map);
    }
}

#[test]
fn periods_without_keys_and_leads_without_end() {
    let Some(clip) = gop_clip("192x108") else { return };
    let refusal = |protection: EncryptOptions| {
        package(&[&clip], options(protection)).map(|_| ()).unwrap_err().to_string()
    };
    let periods = KeyPeriods::From(vec![ms(400), ms(800)]);
    let error = refusal(EncryptOptions::new(Scheme::Cbcs, keys(1)).with_key_periods(periods));
    assert!(error.contains("key period 2, which begins at 0.8 s"), "{error}");
    assert!(error.contains("--periods 3"), "{error}");
    let error = refusal(rotating(Scheme::Cenc).with_clear_lead(ms(1100)));
    assert!(error.contains("within the clear lead"), "{error}");
}
