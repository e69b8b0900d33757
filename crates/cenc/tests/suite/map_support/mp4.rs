//! The least of MP4 that the tests need: samples of a progressive file and `senc` of a fragmented
//! one. It trusts its input.

use lanelock_cenc::map::Subsample;
use lanelock_testkit::boxes::{child, children, descend, word};
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Codec {
    Avc,
    Hevc,
    Av1,
    Vp9,
    Vvc,
    Ac4,
}

impl Codec {
    fn of_entry(kind: [u8; 4]) -> Option<(Self, [u8; 4])> {
        match &kind {
            b"avc1" | b"avc3" => Some((Self::Avc, *b"avcC")),
            b"hvc1" | b"hev1" => Some((Self::Hevc, *b"hvcC")),
            b"av01" => Some((Self::Av1, *b"av1C")),
            b"vp09" => Some((Self::Vp9, *b"vpcC")),
            b"vvc1" | b"vvi1" => Some((Self::Vvc, *b"vvcC")),
            _ => None,
        }
    }
}

/// The video track of a progressive file.
#[derive(Debug)]
pub(crate) struct Clip {
    pub(crate) codec: Codec,
    /// Payload of `avcC`, `hvcC`, `av1C`, `vpcC` or `vvcC`.
    pub(crate) configuration: Vec<u8>,
    pub(crate) units: Vec<Vec<u8>>,
}

impl Clip {
    pub(crate) fn read(path: &Path) -> Self {
        let file = std::fs::read(path).expect("the clip can be read");
        let moov = child(&file, *b"moov").expect("moov");
        let (stbl, codec, configuration) = children(moov)
            .filter(|(kind, _)| kind == b"trak")
            .find_map(|(_, trak)| {
                let stbl = descend(trak, &[b"mdia", b"minf", b"stbl"])?;
                let (kind, entry) = children(&child(stbl, *b"stsd")?[8..]).next()?;
                let (codec, configuration) = Codec::of_entry(kind)?;
                Some((stbl, codec, child(&entry[78..], configuration)?))
            })
            .expect("a track of a codec with subsamples");
        let units = samples(&file, stbl);
        Self { codec, configuration: configuration.to_vec(), units }
    }
}

/// The `senc` maps of all fragments of a file, in order. IVs must be constant.
pub(crate) fn senc_maps(path: &Path) -> Vec<Vec<Subsample>> {
    let file = std::fs::read(path).expect("the file can be read");
    let mut maps = Vec::new();
    for (_, moof) in children(&file).filter(|(kind, _)| kind == b"moof") {
        let senc = descend(moof, &[b"traf", b"senc"]).expect("senc");
        assert_eq!(senc[3] & 2, 2, "subsamples are present");
        let mut rest = &senc[8..];
        for _ in 0..word(senc, 4) {
            let entries = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
            let (map, after) = rest[2..].split_at(6 * entries);
            rest = after;
            maps.push(
                map.chunks_exact(6)
                    .map(|entry| Subsample {
                        clear: u16::from_be_bytes([entry[0], entry[1]]),
                        protected: word(entry, 2),
                    })
                    .collect(),
            );
        }
    }
    maps
}

fn samples(file: &[u8], stbl: &[u8]) -> Vec<Vec<u8>> {
    let stsz = child(stbl, *b"stsz").expect("stsz");
    let stsc = child(stbl, *b"stsc").expect("stsc");
    let (offsets, width) = match (child(stbl, *b"stco"), child(stbl, *b"co64")) {
        (Some(stco), _) => (stco, 4),
        (_, Some(co64)) => (co64, 8),
        _ => panic!("no chunk offsets"),
    };
    let runs: Vec<_> = stsc[8..].chunks_exact(12).map(|run| (word(run, 0), word(run, 4))).collect();
    let count = word(stsz, 8) as usize;
    let size = |i: usize| match word(stsz, 4) {
        0 => word(stsz, 12 + 4 * i) as usize,
        size => size as usize,
    };
    let mut units = Vec::with_capacity(count);
    for (chunk, offset) in (1..).zip(offsets[8..].chunks_exact(width)) {
        let mut at = word(offset, width - 4) as usize;
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
