//! What `package` says of pictures at which decoding can begin.

use std::{collections::BTreeMap, fs, process::Command, sync::Arc, time::Duration};

use crate::support::{AVC, HEVC, Place, Warnings};
use lanelock_packager::{
    io::{MemoryFolder, MemorySource, Source},
    package::{Package, PackageOptions, Storage},
};
use lanelock_testkit::{
    boxes::{all, word},
    ffmpeg, skip,
};

/// The types of the stream access points in the index, what the manifests say, and the warnings.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    index: Vec<u32>,
    dash: u32,
    independent: bool,
    warnings: usize,
}

fn package(file: &[u8], options: PackageOptions) -> (BTreeMap<String, Vec<u8>>, Vec<String>) {
    let warnings = Warnings::default();
    let source: Arc<dyn Source> = Arc::new(MemorySource::new("in.mp4", file.to_vec()));
    let folder = MemoryFolder::new();
    let options = options.with_segment_duration(Duration::from_millis(100));
    let package = Package::new(vec![source], options, &warnings).unwrap();
    package.write(Box::new(folder.clone()), &warnings).unwrap();
    (folder.into_objects().unwrap(), warnings.take())
}

fn said(file: &[u8]) -> Said {
    let text = |objects: &BTreeMap<String, Vec<u8>>, name| {
        String::from_utf8(objects[name].clone()).unwrap()
    };
    let (objects, warnings) = package(file, PackageOptions::new().with_storage(Storage::Single));
    let media = objects.iter().find(|(path, _)| path.ends_with("mp4")).unwrap().1;
    let sidx = all(media, *b"sidx")[0];
    assert_eq!(sidx[0], 1);
    let index = (0..word(sidx, 28) as usize & 0xffff).map(|number| {
        let sap = word(sidx, 32 + number * 12 + 8);
        assert_eq!(sap >> 31, 1);
        sap >> 28 & 7
    });
    let mpd = text(&objects, "manifest.mpd");
    let dash = (1..7).find(|sap| mpd.contains(&format!("subsegmentStartsWithSAP=\"{sap}\"")));
    let independent = text(&objects, "main.m3u8").contains("#EXT-X-INDEPENDENT-SEGMENTS");
    for warning in &warnings {
        assert!(warning.contains("track 1 (hvc1) has open GOPs") || warning.contains("(avc1)"));
    }
    let mpd = text(&package(file, PackageOptions::new()).0, "manifest.mpd");
    assert!(mpd.contains(&format!("startWithSAP=\"{}\"", dash.unwrap())), "{mpd}");
    Said { index: index.collect(), dash: dash.unwrap(), independent, warnings: warnings.len() }
}

/// x265 makes open groups of pictures unless it is told not to: its second key frame is a CRA picture,
/// with RASL pictures behind it. With another name of the picture it is a closed group.
#[test]
fn hevc() {
    let open = Said { index: vec![1, 3], dash: 3, independent: false, warnings: 1 };
    assert_eq!(said(HEVC), open);
    let at = HEVC.windows(2).enumerate().filter(|(_, head)| *head == [21 << 1, 1]);
    // In the sample, not in the arrays of `hvcC`.
    let at = at.map(|(at, _)| at).find(|at| *at > 340).unwrap();
    for (kind, sap_type) in [(16, 3), (17, 2), (18, 2), (19, 2), (20, 2), (21, 3), (1, 3)] {
        let mut file = HEVC.to_vec();
        file[at] = kind << 1;
        let independent = sap_type < 3;
        let warnings = usize::from(!independent);
        let expected = Said { index: vec![1, sap_type], dash: sap_type, independent, warnings };
        assert_eq!(said(&file), expected, "{kind}");
    }
}

#[test]
fn avc() {
    let closed = Said { index: vec![1, 1], dash: 1, independent: true, warnings: 0 };
    assert_eq!(said(AVC), closed);
    let Some(ffmpeg) = ffmpeg() else { return };
    let place = Place::new();
    // With keys every 12 frames, an open group has two B frames that are presented before its key frame.
    for (open, sap_type) in [(0, 1), (1, 3)] {
        let file = place.file("x264.mp4");
        let made = Command::new(&ffmpeg)
            .args(["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1"])
            .args(["-c:v", "libx264", "-bf", "2", "-x264-params"])
            .arg(format!("open-gop={open}:keyint=12:min-keyint=12:scenecut=0:b-adapt=0"))
            .arg(&file)
            .status()
            .unwrap();
        if !made.success() {
            return skip("ffmpeg has no libx264");
        }
        let said = said(&fs::read(file).unwrap());
        assert_eq!(said.index, [1, sap_type, sap_type], "{open}");
        assert_eq!((said.dash, said.independent), (sap_type, sap_type < 3));
        assert_eq!(said.warnings, usize::from(open == 1));
    }
}
