//! VVC: slice header lengths as FFmpeg finds them, in committed clips and in streams of a folder.

use crate::map_support::mp4::Clip;
use crate::map_support::{bits::unit, map, mapper};
use lanelock_cenc::map::{Alignment, Mapper};
use lanelock_testkit::{EXPERIMENTAL_CLIPS, Scratch, ffmpeg, folder_named_by, skip, small_clip};
use std::path::Path;
use std::process::Command;

/// Bytes of the RBSP of every slice's NAL unit up to the end of its header, as `trace_headers` of
/// FFmpeg 8.1.2 has them.
const HEADERS: [(&str, &[usize]); 2] = [
    ("vvc.mp4", &[8, 10, 12, 12, 11, 12, 11, 9, 10, 11]),
    ("vvc_tiles.mp4", &[18, 17, 17, 16, 15, 16, 14, 11, 18, 17, 17, 16, 13, 15, 12, 11, 13]),
];

#[test]
fn headers_of_clips() {
    assert_eq!(HEADERS.map(|(name, _)| name), EXPERIMENTAL_CLIPS);
    for (name, expected) in HEADERS {
        let clip = Clip::read(&small_clip(name).path);
        let mut mapper = mapper(&clip);
        let units = clip.units.iter().flat_map(|unit| headers(&mut mapper, unit));
        assert_eq!(units.collect::<Vec<_>>(), expected, "{name}");
    }
}

/// Streams (Annex B, `.bit` or `.266`) in the folder that `LANELOCK_VVC_STREAMS` names, such as the
/// conformance streams of ITU-T H.266.1, against `trace_headers` of FFmpeg 7.1 or later. Access units with
/// layers above the base are refused.
#[test]
fn named_streams() {
    let Some(folder) = folder_named_by("LANELOCK_VVC_STREAMS") else { return };
    let Some(ffmpeg) = ffmpeg() else { return };
    for file in std::fs::read_dir(folder).expect("LANELOCK_VVC_STREAMS is a folder") {
        let path = file.expect("an entry").path();
        let stream = std::fs::read(&path).expect("a stream");
        let units = access_units(&stream);
        if units.iter().flatten().any(|nal| is_slice(nal) && nal[0] != 0) {
            skip(&format!("{}: it has several layers", path.display()));
            continue;
        }
        let Some(theirs) = traced(&ffmpeg, &path) else { continue };
        let record = [0, 0, 0, 0, 0xfe, 0]; // four-byte lengths, no parameter sets
        let mut mapper = Mapper::vvc(&record).expect("a record").with_max_entries(usize::MAX);
        let units = units.iter().flat_map(|nals| headers(&mut mapper, &unit(nals)));
        assert_eq!(units.collect::<Vec<_>>(), theirs, "{}", path.display());
    }
}

fn is_slice(nal: &[u8]) -> bool {
    nal[1] >> 3 <= 11
}

/// The lengths of the slice headers of an access unit, NAL unit headers included and emulation
/// prevention not. All of a slice behind its header is protected.
fn headers(mapper: &mut Mapper, unit: &[u8]) -> Vec<usize> {
    let entries = map(mapper, unit, Alignment::Exact).expect("a good unit");
    let (mut at, mut starts) = (0, Vec::new());
    for entry in &entries {
        at += usize::from(entry.clear);
        starts.extend((entry.protected > 0).then_some(at));
        at += entry.protected as usize;
    }
    let mut lengths = Vec::new();
    let mut rest = unit;
    while let Some((length, after)) = rest.split_first_chunk() {
        let start = unit.len() - after.len();
        let nal = &after[..u32::from_be_bytes(*length) as usize];
        rest = &after[nal.len()..];
        let mut own = starts.iter().filter(|&&at| (start..start + nal.len()).contains(&at));
        if is_slice(nal) {
            // A slice of nothing but its header ends with it.
            let clear = own.next().map_or(nal.len(), |at| at - start);
            lengths.push(unescaped(&nal[..clear]));
        }
        assert_eq!(own.next(), None, "one range for each slice, and none elsewhere");
    }
    lengths
}

fn unescaped(nal: &[u8]) -> usize {
    let (mut zeros, mut len) = (0, 0);
    for &byte in nal {
        if zeros >= 2 && byte == 3 {
            zeros = 0;
            continue;
        }
        len += 1;
        zeros = if byte == 0 { zeros + 1 } else { 0 };
    }
    len
}

/// The NAL units of a byte stream (Annex B), by access unit: one begins with what can stand only
/// before the slices of a picture.
fn access_units(stream: &[u8]) -> Vec<Vec<&[u8]>> {
    let codes = stream.windows(3).enumerate().filter(|(_, bytes)| *bytes == [0, 0, 1]);
    let starts: Vec<usize> = codes.map(|(at, _)| at + 3).collect();
    let mut units = vec![Vec::new()];
    let mut has_slice = false;
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).map_or(stream.len(), |next| next - 3);
        let zeros = stream[start..end].iter().rev().take_while(|&&byte| byte == 0).count();
        let nal = &stream[start..end - zeros];
        let first = matches!(nal[1] >> 3, 12..=17 | 19 | 20 | 23) && nal[0] == 0
            || is_slice(nal) && nal[2] & 0x80 != 0; // it holds its picture header
        if has_slice && first {
            units.push(Vec::new());
            has_slice = false;
        }
        has_slice |= is_slice(nal);
        units.last_mut().expect("at least one").push(nal);
    }
    units
}

/// Where FFmpeg's trace of the headers ends, slice by slice.
fn traced(ffmpeg: &Path, stream: &Path) -> Option<Vec<usize>> {
    let scratch = Scratch::new();
    let run = Command::new(ffmpeg)
        .args(["-v", "info", "-nostats", "-nostdin", "-f", "vvc", "-framerate", "25", "-i"])
        .arg(stream)
        .args(["-c", "copy", "-bsf:v", "trace_headers", "-f", "null"])
        .arg(scratch.file("nothing"))
        .output()
        .expect("ffmpeg runs");
    if !run.status.success() {
        skip("this ffmpeg does not read VVC (7.1 and later do)");
        return None;
    }
    let text = String::from_utf8_lossy(&run.stderr);
    let lines = text.lines().filter_map(|line| line.strip_prefix("[trace_headers @ "));
    let mut lengths = Vec::new();
    let mut end = None;
    for line in lines.filter_map(|line| Some(line.split_once("] ")?.1)) {
        let mut words = line.split_whitespace();
        match words.next().map(str::parse::<usize>) {
            // Position, name, bits, "=", value.
            Some(Ok(position)) if end.is_some() => {
                let bits = words.nth(1).expect("the bits of a field").len();
                end = Some(position + bits);
            }
            Some(Err(_)) => {
                lengths.extend(end.take().map(|bits: usize| bits.div_ceil(8)));
                end = (line == "Slice Header").then_some(0);
            }
            _ => {}
        }
    }
    lengths.extend(end.map(|bits| bits.div_ceil(8)));
    Some(lengths)
}
