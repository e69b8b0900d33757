//! `lanelock package` against other programs: what it encrypts, Shaka Packager and ffmpeg decrypt; ffmpeg reads
//! its manifests; and they say of the tracks what those of Shaka Packager say.

use crate::support::{
    Dir, KEY, Packets, Read, attempt, boxes, compare, ffmpeg_makes, lanelock, packets, pair, shaka,
    shaka_keys, succeed,
};
use lanelock_testkit::{
    dash_rules, demo_clip, ffmpeg, hls_rules, is_long, shaka_packager, skip, small_clip,
};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A clip of each codec, and whether it is video.
const CODECS: [(&str, bool); 8] = [
    ("avc", true),
    ("hevc", true),
    ("av1", true),
    ("vp9", true),
    ("aac", false),
    ("opus", false),
    ("ac3", false),
    ("eac3", false),
];

fn clip(name: &str) -> PathBuf {
    small_clip(&format!("{name}.mp4")).path
}

/// Packages inputs, and gives the summary.
fn package(inputs: &[PathBuf], output: &Path, args: &[&str]) -> serde_json::Value {
    let mut command = lanelock();
    command.arg("package").args(inputs).arg("-o").arg(output).arg("--json").args(args);
    serde_json::from_slice(&succeed(command.env("LANELOCK_KEYS", pair()))).unwrap()
}

/// The names of the tracks that were packaged.
fn names(summary: &serde_json::Value) -> Vec<String> {
    let tracks = summary["tracks"].as_array().unwrap().iter();
    tracks.map(|track| track["name"].as_str().unwrap().into()).collect()
}

/// All of a track as one file: its segments joined, or the file that it is.
fn joined(stream: &Path, name: &str, to: &Path) {
    let single = stream.join(format!("{name}.mp4"));
    if single.exists() {
        fs::copy(single, to).unwrap();
        return;
    }
    let segment = |name: String| fs::read(stream.join(name));
    let mut bytes = segment(format!("{name}/init.mp4")).unwrap();
    for number in 1.. {
        let Ok(segment) = segment(format!("{name}/{number}.m4s")) else { break };
        bytes.extend(segment);
    }
    fs::write(to, bytes).unwrap();
}

/// Whether the manifests keep the rules of their standards.
fn check_rules(stream: &Path, what: &str) {
    let size = |path: &str| fs::metadata(stream.join(path)).ok().map(|file| file.len());
    let text = |path: &str| fs::read_to_string(stream.join(path)).ok();
    let broken = dash_rules(&text("manifest.mpd").unwrap(), &size);
    assert!(broken.is_empty(), "{what}: {broken:#?}");
    let broken = hls_rules("main.m3u8", &text, &size);
    assert!(broken.is_empty(), "{what}: {broken:#?}");
}

/// Every codec, scheme and layout: both decrypters give the packets of the clear clip. A change meets each
/// codec in both schemes, in one layout; `make long` in both.
fn decrypted_by_others(scheme: &str, layout: &str) {
    let Some(ffmpeg) = ffmpeg() else { return };
    let packager = shaka_packager();
    let mut wrong = Vec::new();
    let meets = |index: usize| is_long() || index.is_multiple_of(2) == (layout == "single");
    for (index, (name, is_video)) in CODECS.into_iter().enumerate() {
        if !meets(index) {
            continue;
        }
        let dir = Dir::new();
        let (input, stream, whole) = (clip(name), dir.file("stream"), dir.file("whole.mp4"));
        let args = ["--scheme", scheme, "--layout", layout, "--segment", "100ms"];
        let tracks = names(&package(std::slice::from_ref(&input), &stream, &args));
        check_rules(&stream, &format!("{name} {scheme} {layout}"));
        joined(&stream, &tracks[0], &whole);
        let clear = packets(&ffmpeg, &input, Read::File, None, "0").unwrap();
        let mut judge = |what: &str, result: Result<Packets, String>| {
            if let Err(why) = result.and_then(|theirs| compare(&theirs, &clear)) {
                wrong.push(format!("{name} {scheme} {layout}: {what}: {}", why.trim()));
            }
        };
        // Clear samples would be changed by those who decrypt them.
        assert_eq!(boxes(&fs::read(&whole).unwrap(), *b"tenc").len(), 1, "{name}: it is clear");
        judge("ffmpeg", packets(&ffmpeg, &whole, Read::Pipe, Some(KEY), "0"));
        if let Some(packager) = &packager {
            let args = ["--enable_raw_key_decryption", "--keys", &shaka_keys()];
            let kind = if is_video { "video" } else { "audio" };
            let theirs = shaka(packager, &dir, &whole, name, &[kind], &args);
            let read = |paths: Vec<PathBuf>| packets(&ffmpeg, &paths[0], Read::File, None, "0");
            judge("Shaka Packager", theirs.and_then(read));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn cbcs_segments() {
    decrypted_by_others("cbcs", "segments");
}

#[test]
fn cbcs_single() {
    decrypted_by_others("cbcs", "single");
}

#[test]
fn cenc_segments() {
    decrypted_by_others("cenc", "segments");
}

#[test]
fn cenc_single() {
    decrypted_by_others("cenc", "single");
}

/// Times in seconds and digests of the packets of each stream, in the order of presentation.
type Timed = Vec<Vec<(f64, String)>>;

/// What ffmpeg reads from a file or a manifest, of video or audio.
fn timed(ffmpeg: &Path, path: &Path, map: &str) -> Timed {
    let mut command = Command::new(ffmpeg);
    // Segments have names that ffmpeg does not expect of HLS.
    if path.extension().is_some_and(|extension| extension == "m3u8") {
        command.args(["-allowed_extensions", "ALL"]);
    }
    command.args(["-v", "error", "-copyts", "-i"]).arg(path);
    command.args(["-map", map, "-c", "copy", "-f", "framemd5", "-"]);
    let text = String::from_utf8(succeed(&mut command)).unwrap();
    let mut units: BTreeMap<usize, f64> = BTreeMap::new();
    let mut streams: BTreeMap<usize, Vec<(f64, String)>> = BTreeMap::new();
    for line in text.lines() {
        if let Some((stream, base)) = line.strip_prefix("#tb ").and_then(|it| it.split_once(": ")) {
            let (numerator, denominator) = base.split_once('/').unwrap();
            let number = |text: &str| text.trim().parse::<f64>().unwrap();
            units.insert(stream.parse().unwrap(), number(numerator) / number(denominator));
        }
        let fields: Vec<_> = line.split(',').map(str::trim).collect();
        if let (false, [stream, _, pts, _, _, digest, ..]) = (line.starts_with('#'), &fields[..]) {
            let stream = stream.parse().unwrap();
            let seconds = pts.parse::<f64>().unwrap() * units[&stream];
            streams.entry(stream).or_default().push((seconds, (*digest).to_owned()));
        }
    }
    let mut streams: Timed = streams.into_values().collect();
    for packets in &mut streams {
        packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    streams
}

/// ffmpeg reads all packets of clear streams by their manifests, at their times.
#[test]
fn manifests_lead_to_all_packets() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let formats = succeed(Command::new(&ffmpeg).args(["-v", "error", "-demuxers"]));
    let has_dash = String::from_utf8(formats).unwrap().lines().any(|line| line.contains(" dash "));
    let inputs = CODECS.map(|(name, is_video)| (clip(name), is_video));
    let demo = [(demo_clip(), true), (demo_clip(), false)];
    for (input, is_video) in inputs.into_iter().chain(demo) {
        let map = if is_video { "0:v:0" } else { "0:a:0" };
        let theirs = timed(&ffmpeg, &input, map);
        for layout in ["segments", "single"] {
            let dir = Dir::new();
            let stream = dir.file("stream");
            let args = ["--clear", "all", "--layout", layout, "--segment", "500ms"];
            package(std::slice::from_ref(&input), &stream, &args);
            check_rules(&stream, &input.display().to_string());
            for manifest in ["manifest.mpd", "main.m3u8"] {
                if manifest == "manifest.mpd" && !has_dash {
                    skip("this ffmpeg reads no DASH");
                    continue;
                }
                let ours = timed(&ffmpeg, &stream.join(manifest), map);
                let what = format!("{} {layout} {manifest}", input.display());
                assert_eq!((ours.len(), theirs.len()), (1, 1), "{what}");
                assert_eq!(ours[0].len(), theirs[0].len(), "{what}");
                for (ours, theirs) in ours[0].iter().zip(&theirs[0]) {
                    // Times are rounded to those of containers.
                    assert!((ours.0 - theirs.0).abs() < 0.002, "{what}: {ours:?} {theirs:?}");
                    assert_eq!(ours.1, theirs.1, "{what}: at {} s", ours.0);
                }
            }
        }
    }
}

/// What a manifest says of a track; what it does not say is empty.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    codecs: String,
    size: String,
    /// In thousandths.
    rate: Option<u64>,
    channels: String,
    sampling: String,
}

/// Without differences of spelling: `Opus` and `opus`, the hexadecimal digits of `avc1.64001F`.
fn codec(text: &str) -> String {
    text.to_lowercase()
}

/// How many channels a configuration has: a number or, in Dolby's scheme, a bit for each of those that the clips
/// have (ETSI TS 102 366, I.1.2.1).
fn channels(configuration: Node<'_, '_>) -> String {
    let value = configuration.attribute("value").unwrap();
    if configuration.attribute("schemeIdUri").unwrap().starts_with("tag:dolby.com") {
        return u16::from_str_radix(value, 16).unwrap().count_ones().to_string();
    }
    value.into()
}

fn thousandths(rate: &str) -> Option<u64> {
    let (numerator, denominator) = rate.split_once('/').unwrap_or((rate, "1"));
    let number = |text: &str| text.parse::<f64>().ok();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, above 0")]
    Some((number(numerator)? / number(denominator)? * 1000.0).round() as u64)
}

/// What the representations of an MPD are, in order.
fn said_by_dash(mpd: &Path) -> Vec<Said> {
    let text = fs::read_to_string(mpd).unwrap();
    let document = Document::parse(&text).unwrap();
    let all = document.descendants().filter(|node| node.has_tag_name("Representation"));
    let said = |node: Node<'_, '_>| {
        let set = node.parent_element().unwrap();
        let attribute = |name: &str| node.attribute(name).or_else(|| set.attribute(name));
        let mut parts = node.children().chain(set.children());
        let configuration = parts.find(|part| part.has_tag_name("AudioChannelConfiguration"));
        let (width, height) = (attribute("width"), attribute("height"));
        Said {
            codecs: codec(attribute("codecs").unwrap()),
            size: width.zip(height).map(|(w, h)| format!("{w}x{h}")).unwrap_or_default(),
            rate: attribute("frameRate").and_then(thousandths),
            channels: configuration.map(channels).unwrap_or_default(),
            sampling: attribute("audioSamplingRate").unwrap_or_default().into(),
        }
    };
    let mut all: Vec<Said> = all.map(said).collect();
    all.sort();
    all
}

/// The attributes of the tags `#EXT-X-TAG` of a playlist.
fn attributes(playlist: &Path, tag: &str) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(playlist).unwrap();
    let lists = text
        .lines()
        .filter_map(|line| line.strip_prefix("#")?.strip_prefix(tag)?.strip_prefix(":"));
    lists.map(split_attributes).collect()
}

fn split_attributes(list: &str) -> BTreeMap<String, String> {
    let mut quoted = false;
    let parts = list.split(|c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    let pairs = parts.filter_map(|part| part.split_once('='));
    pairs.map(|(name, value)| (name.into(), value.trim_matches('"').into())).collect()
}

/// Codecs, sizes and rates of the variants of a multivariant playlist, and the channels of its audio.
fn said_by_hls(playlist: &Path) -> (Vec<Said>, Vec<String>) {
    let said = |stream: BTreeMap<String, String>| {
        let get = |name: &str| stream.get(name).map(String::as_str).unwrap_or_default();
        let mut codecs: Vec<String> = get("CODECS").split(',').map(codec).collect();
        codecs.sort();
        Said {
            codecs: codecs.join(","),
            size: get("RESOLUTION").into(),
            rate: thousandths(get("FRAME-RATE")),
            ..Said::default()
        }
    };
    let mut variants: Vec<Said> =
        attributes(playlist, "EXT-X-STREAM-INF").into_iter().map(said).collect();
    variants.sort();
    let media = attributes(playlist, "EXT-X-MEDIA").into_iter();
    let mut channels: Vec<String> =
        media.filter_map(|mut media| media.remove("CHANNELS")).collect();
    channels.sort();
    (variants, channels)
}

/// Shaka Packager's stream of the same inputs.
fn shaka_streams(packager: &Path, inputs: &[(PathBuf, bool)], to: &Path) -> Result<(), String> {
    fs::create_dir(to).unwrap();
    let mut command = Command::new(packager);
    for (number, (input, is_video)) in inputs.iter().enumerate() {
        let kind = if *is_video { "video" } else { "audio" };
        let group =
            if *is_video { String::new() } else { ",hls_group_id=audio,hls_name=audio".into() };
        command.arg(format!(
            "in={},stream={kind},output={}/{number}.mp4,playlist_name={number}.m3u8{group}",
            input.display(),
            to.display()
        ));
    }
    command.arg("--mpd_output").arg(to.join("manifest.mpd"));
    command.arg("--hls_master_playlist_output").arg(to.join("main.m3u8"));
    command.arg("--quiet").arg(format!("--temp_dir={}", to.display()));
    attempt(&mut command)
}

/// Codecs, sizes, frame rates and channels are those that Shaka Packager says.
#[test]
fn manifests_say_what_shaka_packager_says() {
    let (Some(packager), Some(ffmpeg)) = (shaka_packager(), ffmpeg()) else { return };
    let dir = Dir::new();
    let ladder = [("320", "high.mp4"), ("160", "low.mp4")].map(|(width, name)| {
        let (path, scale) = (dir.file(name), format!("scale={width}:-2"));
        let args = ["-an", "-c:v", "libx264", "-preset", "ultrafast", "-t", "2", "-vf", &scale];
        ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &args, &path);
        (path, true)
    });
    let mut cases: Vec<(String, Vec<(PathBuf, bool)>)> = CODECS
        .map(|(name, is_video)| (name.into(), vec![(clip(name), is_video)]))
        .into_iter()
        .collect();
    let sound = dir.file("sound.mp4");
    ffmpeg_makes(&ffmpeg, &[], &demo_clip(), &["-vn", "-c", "copy", "-t", "2"], &sound);
    cases.push(("ladder".into(), [&ladder[..], &[(sound, false)]].concat()));
    let mut wrong = Vec::new();
    for (what, inputs) in cases {
        let (theirs, ours) = (dir.file(&format!("{what}.shaka")), dir.file(&what));
        if let Err(why) = shaka_streams(&packager, &inputs, &theirs) {
            wrong.push(format!("{what}: Shaka Packager: {why}"));
            continue;
        }
        let files: Vec<PathBuf> = inputs.iter().map(|(path, _)| path.clone()).collect();
        package(&files, &ours, &["--clear", "all", "--segment", "60s"]);
        check_rules(&ours, &what);
        let dash = [&ours, &theirs].map(|folder| said_by_dash(&folder.join("manifest.mpd")));
        if dash[0] != dash[1] {
            wrong.push(format!("{what}, DASH: {dash:#?}"));
        }
        let hls = [&ours, &theirs].map(|folder| said_by_hls(&folder.join("main.m3u8")));
        if hls[0] != hls[1] {
            wrong.push(format!("{what}, HLS: {hls:#?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
