//! Sample tables and fragments against ffprobe's packets: position, size, times, sync.

use std::{fs, path::Path, process::Command};

use crate::common::{each_fragment, movie};
use lanelock_mp4::Sample;
use lanelock_testkit as testkit;
use testkit::{FILM, ProtectedClip, Scratch, all_clips, protected_clips};

/// What both sides say of a sample.
#[derive(Debug, PartialEq, Eq)]
struct Packet {
    offset: u64,
    size: u32,
    dts: i64,
    cts: i64,
    sync: bool,
}

impl From<Sample> for Packet {
    fn from(sample: Sample) -> Self {
        let dts = i64::try_from(sample.decode_time).unwrap();
        Self {
            offset: sample.offset,
            size: sample.size,
            dts,
            cts: dts + i64::from(sample.composition_offset),
            sync: sample.sync,
        }
    }
}

/// As `assert_eq`, showing the first difference only.
fn same(ours: &[Packet], theirs: &[Packet], name: &str) {
    for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "{name} sample {}", number + 1);
    }
    assert_eq!(ours.len(), theirs.len(), "{name}");
}

/// The packets of each of `count` streams.
fn ffprobe(program: &Path, path: &Path, count: usize) -> Vec<Vec<Packet>> {
    let output = Command::new(program)
        .args(["-v", "quiet", "-ignore_editlist", "1"])
        .args(["-show_entries", "packet=stream_index,pts,dts,size,pos,flags", "-of", "csv=p=0"])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut packets: Vec<_> = (0..count).map(|_| Vec::new()).collect();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<_> = line.split(',').collect();
        packets[fields[0].parse::<usize>().unwrap()].push(Packet {
            dts: fields[2].parse().unwrap(),
            cts: fields[1].parse().unwrap_or(i64::MIN),
            size: fields[3].parse().unwrap(),
            offset: fields[4].parse().unwrap(),
            sync: fields[5].starts_with('K'),
        });
    }
    packets
}

#[test]
fn progressive_clips() {
    let Some(program) = testkit::ffprobe() else { return };
    for clip in all_clips() {
        let (name, file) = (clip.path.display(), clip.read());
        let movie = movie(&file);
        let theirs = ffprobe(&program, &clip.path, movie.tracks.len());
        for (index, (track, theirs)) in movie.tracks.iter().zip(&theirs).enumerate() {
            let samples = movie.samples(track, file.len() as u64).unwrap();
            let ours: Vec<Packet> = samples.map(|sample| sample.unwrap().into()).collect();
            assert!(!ours.is_empty());
            same(&ours, theirs, &format!("{name} track {index}"));
        }
    }
}

fn fragmented(program: &Path, path: &Path, file: &[u8], name: &str, may_stop_early: bool) {
    let count = movie(file).tracks.len();
    let mut ours: Vec<Vec<Packet>> = (0..count).map(|_| Vec::new()).collect();
    each_fragment(file, |_, fragment| {
        for track in &fragment.tracks {
            ours[track.track_index].extend(track.samples().map(Packet::from));
        }
    });
    let theirs = ffprobe(program, path, count);
    for (index, (ours, mut theirs)) in ours.iter_mut().zip(theirs).enumerate() {
        // ffmpeg lifts presentation times so that no composition offset is negative.
        let lift = ours.iter().map(|ours| ours.dts - ours.cts).max().unwrap_or(0).max(0);
        let captions = movie(file).tracks[index].handler == b"clcp";
        for (ours, theirs) in ours.iter_mut().zip(&mut theirs) {
            // It takes caption samples apart.
            if captions {
                theirs.size = ours.size;
            }
            theirs.cts = theirs.cts.wrapping_sub(lift);
            // It gives no presentation time of protected video it cannot parse.
            if theirs.cts == i64::MIN.wrapping_sub(lift) {
                theirs.cts = ours.cts;
            }
        }
        assert!(!theirs.is_empty());
        if may_stop_early {
            ours.truncate(theirs.len());
        }
        same(ours, &theirs, &format!("{name} track {index}"));
    }
}

#[test]
fn fragmented_vectors() {
    let Some(program) = testkit::ffprobe() else { return };
    for ProtectedClip { clip, .. } in protected_clips() {
        let (name, file) = (clip.name.clone(), clip.read());
        // ffmpeg 5.1 loses `senc` after the first fragment of a file it can seek in.
        fragmented(&program, &clip.path, &file, &name, true);
    }
}

#[test]
fn fragmented_by_ffmpeg() {
    let (Some(ffprobe), Some(ffmpeg)) = (testkit::ffprobe(), testkit::ffmpeg()) else { return };
    let dir = Scratch::new();
    let clips = ["avc_aac.mp4", "hevc.mp4", "opus.mp4"].into_iter().flat_map(testkit::clips);
    let clips: Vec<_> = clips.map(|clip| clip.path).chain(testkit::codec_clip(FILM)).collect();
    for clip in clips {
        let name = clip.display();
        let flags = [
            "+frag_keyframe+empty_moov+default_base_moof",
            "+frag_keyframe+empty_moov",
            "+frag_every_frame+empty_moov+omit_tfhd_offset",
            "+frag_keyframe+empty_moov+default_base_moof+negative_cts_offsets",
        ];
        let outputs = flags.map(|flags| (flags, dir.file(&format!("{flags}.mp4"))));
        let mut command = Command::new(&ffmpeg);
        command.args(["-v", "error", "-y", "-i"]).arg(&clip);
        for (flags, path) in &outputs {
            command.args(["-c", "copy", "-frag_duration", "500000", "-movflags", flags]).arg(path);
        }
        assert!(command.status().unwrap().success());
        for (flags, path) in &outputs {
            let file = fs::read(path).unwrap();
            fragmented(&ffprobe, path, &file, &format!("{name} {flags}"), false);
        }
    }
}

/// Times, size and hash of every packet, as ffmpeg's demuxer gives them.
fn packets(ffmpeg: &Path, path: &Path) -> String {
    let output = Command::new(ffmpeg)
        .args(["-v", "error", "-ignore_editlist", "1", "-i"])
        .arg(path)
        .args(["-map", "0", "-c", "copy", "-copyts", "-f", "framemd5", "-"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields: Vec<_> = line.split(',').collect();
        // The duration: ffmpeg guesses that of the last packet in a fragmented file.
        fields.remove(3);
        lines.push(fields.join(","));
    }
    // Interleaving differs; what is in each stream may not.
    lines.sort_unstable();
    assert!(lines.len() > 2, "{}", String::from_utf8_lossy(&output.stderr));
    lines.join("\n")
}

#[test]
fn fragmented_by_us() {
    let Some(ffmpeg) = testkit::ffmpeg() else { return };
    let dir = Scratch::new();
    let path = dir.file("fragmented.mp4");
    for clip in all_clips() {
        let (name, file) = (clip.path.display(), clip.read());
        fs::write(&path, crate::common::fragmented(&file)).unwrap();
        assert!(packets(&ffmpeg, &path) == packets(&ffmpeg, &clip.path), "{name}");
    }
}
