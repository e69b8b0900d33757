//! Maps of real streams against two independent readers: `cros-codecs` for slice header lengths,
//! Shaka Packager for whole `senc` boxes (`cbcs`).
//!
//! The streams: the clips of the test kit, what ffmpeg makes here with the coding tools that shape slice
//! headers, and the clips in the folder named by `LANELOCK_MAP_CLIPS`.

use crate::map_support::bits::Bits;
use crate::map_support::mp4::{Clip, Codec};
use crate::map_support::opinion::Opinion;
use crate::map_support::{map, mapper, shaka};
use lanelock_cenc::map::{self, Alignment, Subsample};
use lanelock_testkit::{
    FILM, Scratch, clips, codec_clip, ffmpeg, folder_named_by, is_long, shaka_packager, skip,
};
use std::path::Path;
use std::process::Command;

/// Every change meets some of the streams that are made here, and `make long` all of them.
fn step() -> usize {
    if is_long() { 1 } else { 5 }
}

#[test]
fn real_clips() {
    let names = [
        "avc.mp4",
        "avc_slices.mp4",
        "avc_aac.mp4",
        "hevc.mp4",
        "av1.mp4",
        "av1_tiles.mp4",
        "vp9.mp4",
    ];
    let clips = names.into_iter().flat_map(clips).map(|clip| clip.path);
    for clip in clips.chain(codec_clip(FILM)) {
        check(&clip, Peers::One);
    }
}

#[test]
fn named_clips() {
    let Some(folder) = folder_named_by("LANELOCK_MAP_CLIPS") else { return };
    for file in std::fs::read_dir(folder).expect("LANELOCK_MAP_CLIPS is a folder") {
        check(&file.expect("an entry").path(), Peers::Any);
    }
}

#[test]
fn made_avc() {
    // x264 options; the fade makes explicit weights, 8 references and B-pyramids make list
    // modifications and reference marking commands.
    for (name, format, options) in [
        ("mbaff", "yuv420p", "interlaced=1:tff=1:weightp=0"),
        ("fake-interlaced", "yuv420p", "fake-interlaced=1"),
        ("weights", "yuv420p", "weightp=2:weightb=1:ref=8:bframes=3"),
        ("weights-slices", "yuv420p", "weightp=2:slices=5:ref=4"),
        ("pyramid", "yuv420p", "ref=16:bframes=8:b-pyramid=normal:b-adapt=0:keyint=250"),
        ("strict-pyramid", "yuv420p", "ref=4:bframes=5:b-pyramid=strict:b-adapt=0"),
        ("cavlc", "yuv420p", "cabac=0:weightp=2"),
        ("no-bframes", "yuv420p", "bframes=0:ref=3"),
        ("slice-size", "yuv420p", "slice-max-size=300"),
        ("cavlc-slices", "yuv420p", "cabac=0:slice-max-mbs=7"),
        ("many-tiny-slices", "yuv420p", "cabac=0:slice-max-mbs=4"),
        ("intra-refresh", "yuv420p", "intra-refresh=1:keyint=20"),
        ("open-gop", "yuv420p", "open-gop=1:keyint=10:bframes=3:b-adapt=0"),
        ("in-band", "yuv420p", "repeat-headers=1:keyint=10:aud=1"),
        ("scaling-lists", "yuv420p", "cqm=jvt"),
        ("deblock", "yuv420p", "deblock=2,-3"),
        ("no-deblock", "yuv420p", "no-deblock=1"),
        ("hrd", "yuv420p", "nal-hrd=vbr:vbv-maxrate=500:vbv-bufsize=500:pic-struct=1"),
        ("lossless", "yuv420p", "qp=0"),
        ("high-444", "yuv444p", "weightp=2"),
        ("high-422-10", "yuv422p10le", "weightp=2"),
        ("gray", "gray", "weightp=2"),
        ("multi-pps", "yuv420p", "stitchable=1:sps-id=5:weightp=2"),
    ]
    .into_iter()
    .step_by(step())
    {
        made("avc", name, &["-c:v", "libx264", "-pix_fmt", format, "-x264-params", options]);
    }
}

#[test]
fn made_hevc() {
    for (name, format, options) in [
        ("wavefronts", "yuv420p", "wpp=1"),
        ("no-wavefronts", "yuv420p", "wpp=0"),
        ("slices", "yuv420p", "slices=4:wpp=1:ctu=16"),
        ("small-blocks", "yuv420p", "ctu=16:min-cu-size=8"),
        ("weights", "yuv420p", "weightp=1:weightb=1:ref=5:bframes=4"),
        ("pyramid", "yuv420p", "ref=6:bframes=8:b-adapt=0:b-pyramid=1:keyint=250"),
        ("partitions", "yuv420p", "amp=1:rect=1"),
        ("in-band", "yuv420p", "repeat-headers=1:keyint=10:aud=1"),
        ("scaling-lists", "yuv420p", "scaling-list=default"),
        ("open-gop", "yuv420p", "open-gop=1:keyint=10"),
        ("intra-refresh", "yuv420p", "intra-refresh=1"),
        ("hrd", "yuv420p", "hrd=1:vbv-maxrate=500:vbv-bufsize=500:repeat-headers=1"),
        ("no-sao", "yuv420p", "sao=0"),
        ("no-deblock", "yuv420p", "deblock=0:sao=0"),
        ("deblock", "yuv420p", "deblock=-2,3"),
        ("no-temporal-mvp", "yuv420p", "temporal-mvp=0"),
        ("transform-skip", "yuv420p", "tskip=1:sign-hide=1:cbqpoffs=3"),
        ("lossless", "yuv420p", "lossless=1"),
        ("interlace", "yuv420p", "interlace=tff"),
        ("temporal-layers", "yuv420p", "temporal-layers=2:bframes=3:b-adapt=0"),
        ("order-bits", "yuv420p", "log2-max-poc-lsb=16"),
        ("lists-in-pps", "yuv420p", "opt-ref-list-length-pps=1:repeat-headers=1"),
        ("qp-in-pps", "yuv420p", "opt-qp-pps=1:repeat-headers=1:keyint=10"),
        ("sets-from-pass", "yuv420p", "uhd-bd=0:hist-scenecut=0:fades=1"),
        ("main-444", "yuv444p", "weightb=1"),
        ("main-422-10", "yuv422p10le", "weightb=1"),
        ("main-444-12", "yuv444p12le", "weightb=1"),
        ("gray", "gray", "weightb=1"),
    ]
    .into_iter()
    .step_by(step())
    {
        let options = format!("log-level=error:{options}");
        made(
            "hevc",
            name,
            &["-c:v", "libx265", "-tag:v", "hvc1", "-pix_fmt", format, "-x265-params", &options],
        );
    }
}

#[test]
fn made_av1() {
    let aom: &[(&str, &str, &[&str])] = &[
        ("one-tile", "160x96", &["-usage", "realtime", "-cpu-used", "8"]),
        ("tiles", "512x320", &["-tiles", "4x2", "-usage", "realtime", "-cpu-used", "8"]),
        ("tiles-odd", "455x301", &["-tiles", "2x2", "-usage", "realtime", "-cpu-used", "8"]),
        (
            "groups",
            "512x320",
            &["-tiles", "2x2", "-threads", "1", "-aom-params", "num-tile-groups=3"],
        ),
        ("uneven", "640x384", &["-aom-params", "tile-width=1,3:tile-height=2,1:sb-size=64"]),
        ("resilient", "192x128", &["-aom-params", "error-resilient=1"]),
        ("grain", "192x128", &["-aom-params", "film-grain-test=1"]),
        ("grain-444", "192x128", &["-pix_fmt", "yuv444p", "-aom-params", "film-grain-test=12"]),
        ("hidden", "192x128", &["-lag-in-frames", "25", "-auto-alt-ref", "1"]),
        ("screen", "192x128", &["-aom-params", "tune-content=screen"]),
        ("segments", "192x128", &["-aom-params", "aq-mode=1"]),
        ("cyclic", "192x128", &["-usage", "realtime", "-aom-params", "aq-mode=3"]),
        ("deltas", "192x128", &["-aom-params", "deltaq-mode=1:delta-lf-mode=1"]),
        ("lossless", "192x128", &["-aom-params", "lossless=1"]),
        ("matrices", "192x128", &["-aom-params", "enable-qm=1"]),
        ("mono", "192x128", &["-pix_fmt", "gray"]),
        ("ten-bits", "192x128", &["-pix_fmt", "yuv420p10le"]),
        ("422-twelve-bits", "192x128", &["-pix_fmt", "yuv422p12le"]),
        ("420-twelve-bits", "192x128", &["-pix_fmt", "yuv420p12le"]),
        ("no-order-hints", "192x128", &["-aom-params", "enable-order-hint=0"]),
        ("no-filters", "192x128", &["-aom-params", "enable-cdef=0:enable-restoration=0"]),
        ("large-superblocks", "320x192", &["-aom-params", "sb-size=128"]),
        ("timing", "192x128", &["-aom-params", "timing-info=model"]),
        ("still", "192x128", &["-frames:v", "1", "-still-picture", "1"]),
        ("parallel", "192x128", &["-aom-params", "frame-parallel=1"]),
    ];
    for (name, size, options) in aom.iter().step_by(step()) {
        let options =
            [&["-c:v", "libaom-av1", "-cpu-used", "8", "-b:v", "200k"], *options].concat();
        made_of("av1", name, size, &options);
    }
    for (name, size, params) in [
        ("svt", "256x144", "preset=10"),
        ("svt-tiles", "512x320", "tile-rows=1:tile-columns=1:preset=10"),
        ("svt-grain", "256x144", "film-grain=8:preset=10"),
        ("svt-low-delay", "256x144", "pred-struct=1:preset=10"),
        ("svt-superres", "256x144", "superres-mode=1:superres-denom=12:preset=10"),
        ("svt-screen", "256x144", "scm=1:preset=10"),
    ]
    .into_iter()
    .step_by(step())
    {
        made_of("av1", name, size, &["-c:v", "libsvtav1", "-svtav1-params", params]);
    }
}

#[test]
fn made_vp9() {
    let vpx: &[(&str, &str, &[&str])] = &[
        ("plain", "160x96", &[]),
        ("odd", "171x99", &[]),
        ("hidden", "192x128", &["-auto-alt-ref", "1", "-lag-in-frames", "25"]),
        ("layers", "192x128", &["-auto-alt-ref", "6", "-lag-in-frames", "25"]),
        ("tiles", "1024x192", &["-tile-columns", "2", "-tile-rows", "2"]),
        ("resilient", "192x128", &["-error-resilient", "default"]),
        ("serial", "192x128", &["-frame-parallel", "0"]),
        ("parallel", "192x128", &["-frame-parallel", "1"]),
        ("segments", "192x128", &["-aq-mode", "2"]),
        ("cyclic", "192x128", &["-deadline", "realtime", "-aq-mode", "3"]),
        ("lossless", "192x128", &["-lossless", "1"]),
        ("screen", "192x128", &["-tune-content", "screen"]),
        ("444", "192x128", &["-pix_fmt", "yuv444p"]),
        ("rgb", "192x128", &["-pix_fmt", "gbrp"]),
        ("ten-bits", "192x128", &["-pix_fmt", "yuv420p10le"]),
        ("444-twelve-bits", "192x128", &["-pix_fmt", "yuv444p12le"]),
        ("440", "192x128", &["-pix_fmt", "yuv440p"]),
        ("keys", "192x128", &["-g", "5"]),
    ];
    for (name, size, options) in vpx.iter().step_by(step()) {
        let options =
            [&["-c:v", "libvpx-vp9", "-cpu-used", "5", "-b:v", "200k"], *options].concat();
        made_of("vp9", name, size, &options);
    }
}

/// What the encoders were told of the transfer characteristics, in all that stands in front of it: scaling
/// lists, fields, cropping, pixel aspect ratios.
#[test]
fn transfer_characteristics() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let scratch = Scratch::new();
    let path = scratch.file("made.mp4");
    let pq: &[&str] = &["-color_trc", "smpte2084"];
    let hlg: &[&str] = &["-color_trc", "arib-std-b67"];
    for (encoder, options, colour, expected) in [
        ("libx264", &["-x264-params", "log=0"][..], pq, Some(16)),
        ("libx264", &["-x264-params", "interlaced=1:cqm=jvt"], hlg, Some(18)),
        ("libx264", &["-vf", "setsar=40/33", "-profile:v", "baseline"], hlg, Some(18)),
        ("libx264", &["-x264-params", "overscan=show"], &[], None),
        ("libx265", &["-x265-params", "log-level=error:scaling-list=default"], pq, Some(16)),
        (
            "libx265",
            &["-x265-params", "log-level=error:hrd=1:vbv-maxrate=500:vbv-bufsize=500"],
            hlg,
            Some(18),
        ),
        ("libx265", &["-x265-params", "log-level=error:sar=200,123"], pq, Some(16)),
        ("libx265", &["-x265-params", "log-level=error"], &[], None),
    ] {
        let run = Command::new(&ffmpeg)
            .args([
                "-v",
                "error",
                "-y",
                "-f",
                "lavfi",
                "-i",
                "testsrc2=size=170x90",
                "-frames:v",
                "3",
            ])
            .args(["-pix_fmt", "yuv420p", "-c:v", encoder])
            .args(options)
            .args(colour)
            .arg(&path)
            .output()
            .expect("ffmpeg runs");
        if !run.status.success() {
            let why = String::from_utf8_lossy(&run.stderr);
            skip(&format!("{encoder} {options:?}: this ffmpeg cannot make it: {}", why.trim()));
            continue;
        }
        let clip = Clip::read(&path);
        let codec = match clip.codec {
            Codec::Avc => map::Codec::Avc,
            _ => map::Codec::Hevc,
        };
        let transfer = codec.transfer_characteristics(&clip.configuration);
        assert_eq!(transfer, expected, "{encoder} {options:?}");
        for len in 0..clip.configuration.len() {
            let cut = codec.transfer_characteristics(&clip.configuration[..len]);
            assert!(cut.is_none() || cut == expected, "{encoder} {options:?}, {len} bytes");
        }
    }
}

/// No encoder at hand makes emulation prevention inside slice headers, so these slices are written:
/// `frame_num` of 16 zeros runs into an `idr_pic_id` that begins with 15.
#[test]
fn emulation_prevention_in_headers() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let mut sps = Bits::new();
    sps.u(8, 77).u(8, 0).u(8, 30).ues(&[0, 12, 2, 1]).u(1, 0).ues(&[19, 11]);
    let sps = sps.flags(&[1, 1, 0, 0]).stop().nal(&[0x67], &[]);
    let mut pps = Bits::new();
    pps.ues(&[0, 0]).flags(&[1, 0]).ues(&[0, 0, 0]).u(3, 0).se(0).se(0).se(0);
    let pps = pps.flags(&[0, 0, 0]).stop().nal(&[0x68], &[]);
    let mut stream = Vec::new();
    for id in 0..8 {
        let mut slice = Bits::new();
        slice.ues(&[0, 7, 0]).u(16, 0).ue(40_000 + id).u(2, 0).se(0);
        let slice = slice.ones().nal(&[0x65], &[0x5a; 99]);
        assert!(slice[..9].windows(3).any(|bytes| bytes == [0, 0, 3]));
        for nal in [&sps, &pps, &slice] {
            stream.extend([0, 0, 0, 1]);
            stream.extend(nal);
        }
    }
    let scratch = Scratch::new();
    let [raw, clip] = ["written.h264", "written.mp4"].map(|name| scratch.file(name));
    std::fs::write(&raw, stream).expect("the scratch folder takes a file");
    let run = Command::new(ffmpeg)
        .args(["-v", "fatal", "-f", "h264", "-i"])
        .arg(raw)
        .args(["-c", "copy"])
        .arg(&clip)
        .status();
    assert!(run.expect("ffmpeg runs").success(), "ffmpeg muxes the written stream");
    assert_eq!(Clip::read(&clip).units.len(), 8);
    check(&clip, Peers::One);
}

/// The same in another size, which is what divides pictures of AV1 and VP9 into tiles.
fn made_of(codec: &str, name: &str, size: &str, options: &[&str]) {
    make(codec, name, size, &[&["-frames:v", "25"], options, &["-strict", "-2"]].concat());
}

fn made(codec: &str, name: &str, options: &[&str]) {
    make(codec, name, "320x176", &[&["-preset", "fast"], options].concat());
}

/// Encodes a moving picture that fades in, and checks the maps of the result.
fn make(codec: &str, name: &str, size: &str, options: &[&str]) {
    let Some(ffmpeg) = ffmpeg() else { return };
    let scratch = Scratch::new();
    let clip = scratch.file("made.mp4");
    let source = format!("testsrc2=size={size}:rate=25,fade=in:0:40");
    let run = Command::new(ffmpeg)
        .args(["-v", "error", "-f", "lavfi", "-i", &source, "-frames:v", "40"])
        .args(options)
        .arg(&clip)
        .output()
        .expect("ffmpeg runs");
    if !run.status.success() {
        let why = String::from_utf8_lossy(&run.stderr);
        return skip(&format!("{codec} {name}: this ffmpeg cannot make it: {}", why.trim()));
    }
    eprintln!("{codec} {name}");
    check(&clip, Peers::One);
}

/// Whether the peers must be able to read a clip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Peers {
    /// One at least, and whoever reads it agrees.
    One,
    /// Whoever reads it agrees.
    Any,
}

/// Compares the maps of a clip with both peers, and the rules with each other.
fn check(path: &Path, peers: Peers) {
    let name = path.display();
    let clip = Clip::read(path);
    let mut exact = mapper(&clip);
    let mut blocks = mapper(&clip);
    let mut ours = Vec::new();
    for (i, unit) in clip.units.iter().enumerate() {
        let [exact, blocks] = [(&mut exact, Alignment::Exact), (&mut blocks, Alignment::Blocks)]
            .map(|(mapper, rule)| {
                map(mapper, unit, rule).unwrap_or_else(|e| panic!("{name} unit {i}: {e}"))
            });
        check_blocks(&exact, &blocks, unit.len(), clip.codec == Codec::Vp9);
        ours.push(exact);
    }
    let entries: usize = ours.iter().map(Vec::len).sum();
    eprintln!("{name}: {} units, {entries} entries", ours.len());

    let cros = Opinion::new(&clip)
        .and_then(|mut cros| clip.units.iter().map(|unit| cros.map(unit)).collect());
    let scratch = Scratch::new();
    let shaka = shaka_packager().map(|packager| shaka::cbcs_maps(&packager, path, scratch.path()));
    let mut agreed = 0;
    for (peer, theirs) in [("cros-codecs", Some(cros)), ("Shaka Packager", shaka)] {
        match theirs {
            Some(Ok(theirs)) => {
                assert_same(&format!("{name}: {peer} (right)"), &ours, &theirs);
                agreed += 1;
            }
            Some(Err(why)) => eprintln!("{name}: {peer} refuses: {}", why.trim()),
            None => {}
        }
    }
    assert!(agreed > 0 || peers == Peers::Any, "{name}: no peer can read it");
}

fn assert_same(who: &str, ours: &[Vec<Subsample>], theirs: &[Vec<Subsample>]) {
    assert_eq!(ours.len(), theirs.len(), "{who}: units");
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "{who}, unit {i}");
    }
}

/// Both maps cover the unit; the aligned one protects the same ranges, shortened at their starts
/// to whole blocks.
///
/// Those of VP9 are whole blocks already, and move to the ends of the frames.
fn check_blocks(exact: &[Subsample], aligned: &[Subsample], len: usize, vp9: bool) {
    let ranges = |map: &[Subsample]| {
        let mut at = 0;
        let mut ranges = Vec::new();
        for entry in map {
            let start = at + usize::from(entry.clear);
            at = start + entry.protected as usize;
            if at > start {
                ranges.push((start, at));
            }
        }
        assert_eq!(at, len, "a map covers its unit");
        ranges
    };
    if vp9 {
        let (exact, aligned) = (ranges(exact), ranges(aligned));
        assert_eq!(exact.len(), aligned.len());
        for ((start, end), moved) in exact.into_iter().zip(aligned) {
            assert!((start..start + 16).contains(&moved.0) && moved.1 - moved.0 == end - start);
            assert_eq!((end - start) % 16, 0);
        }
        return;
    }
    let shortened: Vec<_> = ranges(exact)
        .into_iter()
        .map(|(start, end)| (start + (end - start) % 16, end))
        .filter(|(start, end)| start < end)
        .collect();
    assert_eq!(shortened, ranges(aligned));
}
