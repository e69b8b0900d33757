//! Packages with both schemes: each has the files that a package with it alone has, from one read.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::support::{AVC, AVC_AAC, HEVC_FRAGMENTS};
use lanelock_mp4::ReadAt;
use lanelock_packager::{
    EncryptOptions, Iv, Key, KeyMap, Quiet, Scheme, Selector,
    drm::System,
    io::{MemoryFolder, MemorySource, Source},
    package::{Package, PackageOptions, PackageSummary, Storage},
};
use lanelock_testkit::{dash_rules, hls_rules, unhex};

/// Counts the bytes that are read of it.
struct Counted {
    source: MemorySource,
    read: Arc<AtomicU64>,
}

impl Source for Counted {
    fn name(&self) -> String {
        self.source.name()
    }
}

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        self.source.read_exact_at(buf, offset)
    }
}

fn options(scheme: Scheme) -> PackageOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, Key::new([1; 16], [2; 16])).unwrap();
    keys.insert(Selector::Audio, Key::new([3; 16], [4; 16])).unwrap();
    let protection = EncryptOptions::new(scheme, keys);
    PackageOptions::new()
        .with_protection(Some(protection))
        .with_segment_duration(Duration::from_millis(400))
}

fn with_iv(options: PackageOptions, iv: &[u8]) -> PackageOptions {
    let protection = options.protection.clone().unwrap();
    options.with_protection(Some(protection.with_iv(Iv::Given(iv.to_vec()))))
}

type Objects = BTreeMap<String, Vec<u8>>;

fn package(
    input: &[u8],
    options: PackageOptions,
) -> Result<(Objects, PackageSummary, u64), String> {
    let read = Arc::new(AtomicU64::new(0));
    let source = MemorySource::new("in.mp4", input.to_vec());
    let source = Counted { source, read: read.clone() };
    let folder = MemoryFolder::new();
    let package = Package::new(vec![Arc::new(source)], options, &Quiet);
    let package = package.map_err(|error| error.to_string())?;
    let planned = read.load(Ordering::Relaxed);
    let summary = package.write(Box::new(folder.clone()), &Quiet);
    let summary = summary.map_err(|error| error.to_string())?;
    let read = read.load(Ordering::Relaxed) - planned;
    Ok((folder.into_objects().unwrap(), summary, read))
}

/// The files of a track, by their names within it.
fn files_of(objects: &Objects, track: &str) -> Objects {
    let of_track = objects.iter().filter_map(|(path, bytes)| {
        let rest = path.strip_prefix(track)?;
        let rest = rest.strip_prefix('/').or(Some(rest).filter(|rest| *rest == ".mp4"))?;
        Some((rest.to_owned(), bytes.clone()))
    });
    of_track.collect()
}

#[test]
fn each_scheme_has_the_files_that_it_has_alone() {
    for (input, storage) in [
        (AVC, Storage::Segments),
        (AVC, Storage::Single),
        (HEVC_FRAGMENTS, Storage::Segments),
        (HEVC_FRAGMENTS, Storage::Single),
    ] {
        let with = |scheme| options(scheme).with_storage(storage);
        let iv = [7; 16];
        let both = with_iv(with(Scheme::Cbcs).with_second_scheme(Some(Scheme::Cenc)), &iv);
        let (both, summary, read) = package(input, both).unwrap();
        let (cbcs, alone, read_alone) = package(input, with_iv(with(Scheme::Cbcs), &iv)).unwrap();
        assert_eq!(read, read_alone, "one read for both");
        assert_eq!(summary.bytes_in, alone.bytes_in);
        assert_eq!(summary.scheme.as_deref(), Some("cbcs,cenc"));
        let track = |summary: &PackageSummary, index: usize| summary.tracks[index].clone();
        let [first, second] = [0, 1].map(|index| track(&summary, index));
        let base = track(&alone, 0).name;
        assert_eq!([&first.name, &second.name], [&format!("{base}-cbcs"), &format!("{base}-cenc")]);
        assert_eq!(first.iv.as_deref(), Some("07070707070707070707070707070707"));
        // The IV of cenc is random. With it, the scheme alone gives the same.
        let iv = unhex(second.iv.as_deref().unwrap());
        assert_eq!(iv.len(), 8);
        let (cenc, ..) = package(input, with_iv(with(Scheme::Cenc), &iv)).unwrap();
        for (alone, name) in [(&cbcs, first.name), (&cenc, second.name)] {
            let own = files_of(&both, &name);
            assert!(!own.is_empty());
            assert!(own == files_of(alone, &base), "{name} {storage:?}");
        }
    }
}

#[test]
fn clear_tracks_are_there_once() {
    let clear = |scheme| {
        let mut keys = KeyMap::new();
        keys.insert(Selector::Video, Key::new([1; 16], [2; 16])).unwrap();
        let protection = EncryptOptions::new(scheme, keys).with_clear(vec![Selector::Audio]);
        options(scheme).with_protection(Some(protection))
    };
    let both = clear(Scheme::Cbcs).with_second_scheme(Some(Scheme::Cenc));
    let (objects, summary, _) = package(AVC_AAC, both.with_trick_play(true)).unwrap();
    let names: Vec<_> = summary.tracks.iter().map(|track| track.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "video-64p-cbcs",
            "video-64p-cenc",
            "audio",
            "video-64p-key-frames-cbcs",
            "video-64p-key-frames-cenc"
        ]
    );
    let schemes: Vec<_> = summary.tracks.iter().map(|track| track.scheme.as_deref()).collect();
    assert_eq!(schemes, [Some("cbcs"), Some("cenc"), None, Some("cbcs"), Some("cenc")]);
    assert_eq!(summary.manifests, ["manifest.mpd", "main-cbcs.m3u8", "main-cenc.m3u8"]);
    let text = |path: &str| objects.get(path).map(|text| String::from_utf8(text.clone()).unwrap());
    let size = |path: &str| objects.get(path).map(|bytes| bytes.len() as u64);
    assert_eq!(dash_rules(&text("manifest.mpd").unwrap(), &size), [""; 0]);
    for scheme in ["cbcs", "cenc"] {
        let name = format!("main-{scheme}.m3u8");
        assert_eq!(hls_rules(&name, &text, &size), [""; 0], "{name}");
        let main = text(&name).unwrap();
        let other = if scheme == "cbcs" { "cenc" } else { "cbcs" };
        assert!(
            main.contains("URI=\"audio.m3u8\"") && !main.contains(&format!("-{other}")),
            "{main}"
        );
    }
    // Each set of key frames is for the set with its scheme.
    let mpd = text("manifest.mpd").unwrap();
    assert!(mpd.contains("trickmode\" value=\"1\"") && mpd.contains("trickmode\" value=\"2\""));
    assert!(!mpd.contains("adaptation-set-switching"), "players do not switch between schemes");
}

#[test]
fn what_both_schemes_cannot_be_is_refused() {
    let fails = |options: PackageOptions, part: &str| {
        let message = package(AVC, options).map(drop).unwrap_err();
        assert!(message.contains(part), "{message}");
    };
    let both = || options(Scheme::Cbcs).with_second_scheme(Some(Scheme::Cenc));
    fails(options(Scheme::Cbcs).with_second_scheme(Some(Scheme::Cbcs)), "cbcs is there twice");
    fails(options(Scheme::Cbcs).with_second_scheme(Some(Scheme::Cens)), "not by cens");
    fails(both().with_protection(None), "there is no first one");
    let drm = |systems: Vec<System>| {
        let protection = both().protection.unwrap().with_drm(systems);
        both().with_protection(Some(protection)).with_skd(Some("skd://{kid}".into()))
    };
    fails(drm(vec![System::FairPlay]), "no player would have the tracks of cenc");
    // With another system, FairPlay is in the playlists of cbcs alone.
    let (objects, ..) = package(AVC, drm(vec![System::FairPlay, System::Widevine])).unwrap();
    let has_skd = |path: &str| String::from_utf8_lossy(&objects[path]).contains("skd://");
    assert!(has_skd("main-cbcs.m3u8") && !has_skd("main-cenc.m3u8"));
}
