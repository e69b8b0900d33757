//! The least of MP4 that the tests need: samples of a progressive file and `senc` of a fragmented
//! one. It trusts its input.

use lanelock_cenc::map::Subsample;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Codec {
    Avc,
    Hevc,
}

/// The video track of a progressive file.
#[derive(Debug)]
pub(crate) struct Clip {
    pub(crate) codec: Codec,
    /// Payload of `avcC` or `hvcC`.
    pub(crate) configuration: Vec<u8>,
    pub(crate) units: Vec<Vec<u8>>,
}

impl Clip {
    pub(crate) fn read(path: &Path) -> Self {
        let file = std::fs::read(path).expect("the clip can be read");
        let moov = find(&file, *b"moov").expect("moov");
        let (stbl, entry) = children(moov)
            .filter(|(kind, _)| kind == b"trak")
            .find_map(|(_, trak)| {
                let stbl = find_path(trak, &[b"mdia", b"minf", b"stbl"])?;
                let (kind, entry) = children(&find(stbl, *b"stsd")?[8..]).next()?;
                [*b"avc1", *b"avc3", *b"hvc1", *b"hev1"].contains(&kind).then_some((stbl, entry))
            })
            .expect("a track of AVC or HEVC");
        let boxes = &entry[78..];
        let (codec, configuration) = match (find(boxes, *b"avcC"), find(boxes, *b"hvcC")) {
            (Some(avcc), _) => (Codec::Avc, avcc),
            (_, Some(hvcc)) => (Codec::Hevc, hvcc),
            _ => panic!("no codec configuration"),
        };
        let units = samples(&file, stbl);
        Self { codec, configuration: configuration.to_vec(), units }
    }
}

/// The `senc` maps of all fragments of a file, in order. IVs must be constant.
pub(crate) fn senc_maps(path: &Path) -> Vec<Vec<Subsample>> {
    let file = std::fs::read(path).expect("the file can be read");
    let mut maps = Vec::new();
    for (_, moof) in children(&file).filter(|(kind, _)| kind == b"moof") {
        let senc = find_path(moof, &[b"traf", b"senc"]).expect("senc");
        assert_eq!(senc[3] & 2, 2, "subsamples are present");
        let mut rest = &senc[8..];
        for _ in 0..u32_at(senc, 4) {
            let entries = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
            let (map, after) = rest[2..].split_at(6 * entries);
            rest = after;
            maps.push(
                map.chunks_exact(6)
                    .map(|entry| Subsample {
                        clear: u16::from_be_bytes([entry[0], entry[1]]),
                        protected: u32_at(entry, 2),
                    })
                    .collect(),
            );
        }
    }
    maps
}

fn samples(file: &[u8], stbl: &[u8]) -> Vec<Vec<u8>> {
    let stsz = find(stbl, *b"stsz").expect("stsz");
    let stsc = find(stbl, *b"stsc").expect("stsc");
    let (offsets, width) = match (find(stbl, *b"stco"), find(stbl, *b"co64")) {
        (Some(stco), _) => (stco, 4),
        (_, Some(co64)) => (co64, 8),
        _ => panic!("no chunk offsets"),
    };
    let runs: Vec<_> =
        stsc[8..].chunks_exact(12).map(|run| (u32_at(run, 0), u32_at(run, 4))).collect();
    let count = u32_at(stsz, 8) as usize;
    let size = |i: usize| match u32_at(stsz, 4) {
        0 => u32_at(stsz, 12 + 4 * i) as usize,
        size => size as usize,
    };
    let mut units = Vec::with_capacity(count);
    for (chunk, offset) in (1..).zip(offsets[8..].chunks_exact(width)) {
        let mut at = u32_at(offset, width - 4) as usize;
        let run = runs.iter().rev().find(|run| run.0 <= chunk).expect("stsc covers the chunk");
        for _ in 0..run.1 {
            if units.len() < count {
                let end = at + size(units.len());
                units.push(file[at..end].to_vec());
                at = end;
            }
        }
    }
    assert_eq!(units.len(), count);
    units
}

fn find_path<'a>(boxes: &'a [u8], path: &[&[u8; 4]]) -> Option<&'a [u8]> {
    path.iter().try_fold(boxes, |boxes, kind| find(boxes, **kind))
}

fn find(boxes: &[u8], wanted: [u8; 4]) -> Option<&[u8]> {
    children(boxes).find(|(kind, _)| *kind == wanted).map(|(_, payload)| payload)
}

/// Boxes with 32-bit sizes, and one with size 1 or 0.
fn children(mut rest: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let kind = [*rest.get(4)?, rest[5], rest[6], rest[7]];
        let (head, size) = match u32_at(rest, 0) {
            0 => (8, rest.len()),
            1 => (16, u32_at(rest, 12) as usize),
            size => (8, size as usize),
        };
        let payload = &rest[head..size];
        rest = &rest[size..];
        Some((kind, payload))
    })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
