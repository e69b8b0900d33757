//! Shared by the test files: media, loading, and small box builders.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::{path::PathBuf, process::Command};

use lanelock_mp4::{
    BoxHeader, Fragment, Movie, Result, Sample,
    build::{self, NewSample, NewTrackFragment},
    edit::{WriteAux, fragment_movie, fragmented_ftyp},
    load, top_level,
};

/// Progressive clips, relative to the media directory.
pub(crate) const CLIPS: [&str; 13] = [
    "bigbuckbunny.mp4",
    "codecs/aac.mp4",
    "codecs/ac3.mp4",
    "codecs/av1.mp4",
    "codecs/av1_tiles.mp4",
    "codecs/avc.mp4",
    "codecs/avc_aac.mp4",
    "codecs/avc_slices.mp4",
    "codecs/eac3.mp4",
    "codecs/flac.mp4",
    "codecs/hevc.mp4",
    "codecs/opus.mp4",
    "codecs/vp9.mp4",
];

/// Fragmented, protected.
pub(crate) const VECTORS: [&str; 3] =
    ["vectors/cbcs.mp4", "vectors/cbcs_audio.mp4", "vectors/prog_8s_enc_dashinit.mp4"];

pub(crate) fn media_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/media").join(name)
}

/// The bytes of a clip; says so and gives `None` where the media directory is absent.
pub(crate) fn clip(name: &str) -> Option<Vec<u8>> {
    let path = media_path(name);
    match std::fs::read(&path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            println!("SKIPPED: {}: {error}", path.display());
            None
        }
    }
}

/// Whether a program runs; says so if not.
pub(crate) fn have(program: &str) -> bool {
    let ok = Command::new(program).arg("-version").output().is_ok();
    if !ok {
        println!("SKIPPED: {program} is not installed");
    }
    ok
}

pub(crate) fn boxes(file: &[u8]) -> Vec<BoxHeader> {
    top_level(file).collect::<Result<_>>().unwrap()
}

pub(crate) fn bytes_of(file: &[u8], header: &BoxHeader) -> Vec<u8> {
    load(file, header).unwrap()
}

pub(crate) fn movie(file: &[u8]) -> Movie {
    let header = boxes(file).into_iter().find(|header| header.kind == b"moov").unwrap();
    Movie::parse(bytes_of(file, &header), header.offset).unwrap()
}

/// All `moof` boxes: offset and bytes.
pub(crate) fn moofs(file: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let moofs = boxes(file).into_iter().filter(|header| header.kind == b"moof");
    moofs.map(|header| (header.offset, bytes_of(file, &header))).collect()
}

pub(crate) fn each_fragment(file: &[u8], mut body: impl FnMut(&Movie, Fragment<'_>)) {
    let movie = movie(file);
    for (offset, bytes) in moofs(file) {
        body(&movie, Fragment::parse(&bytes, offset, &movie, file.len() as u64).unwrap());
    }
}

/// A box around a payload.
pub(crate) fn mk(kind: &[u8; 4], payload: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(kind);
    for part in payload {
        out.extend_from_slice(part);
    }
    let size = u32::try_from(out.len()).unwrap();
    out[..4].copy_from_slice(&size.to_be_bytes());
    out
}

/// Big-endian words.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A full box of words: version and flags first.
pub(crate) fn full(kind: &[u8; 4], content: &[u32]) -> Vec<u8> {
    mk(kind, &[&words(content)])
}

/// Offset of the first occurrence of a box type, at its size field.
pub(crate) fn find(bytes: &[u8], kind: &[u8; 4]) -> usize {
    bytes.windows(4).position(|window| window == kind).unwrap() - 4
}

/// An initialization segment and moofs of up to 40 samples a track, of a progressive clip.
pub(crate) fn fragmented(file: &[u8]) -> Vec<u8> {
    let movie = movie(file);
    let ftyp = bytes_of(file, &boxes(file)[0]);
    let mut out = fragmented_ftyp(&ftyp, &[]).unwrap();
    out.extend_from_slice(&fragment_movie(&movie).unwrap());
    let tracks: Vec<Vec<Sample>> = movie
        .tracks
        .iter()
        .map(|track| {
            let samples = movie.samples(track, file.len() as u64).unwrap();
            samples.collect::<Result<_>>().unwrap()
        })
        .collect();
    let count = tracks.iter().map(Vec::len).max().unwrap();
    for (sequence, first) in (0..count).step_by(40).enumerate() {
        let chunks: Vec<Vec<NewSample>> = tracks
            .iter()
            .map(|samples| {
                samples.iter().skip(first).take(40).map(|&sample| sample.into()).collect()
            })
            .collect();
        let mut payload_offset = 8;
        let mut trafs = Vec::new();
        for ((track, samples), chunk) in movie.tracks.iter().zip(&tracks).zip(&chunks) {
            let Some(sample) = samples.get(first) else { continue };
            trafs.push(NewTrackFragment {
                track_id: track.id,
                decode_time: sample.decode_time,
                description_index: None,
                samples: chunk,
                payload_offset,
                boxes: &[],
                aux: WriteAux::Nothing,
                seig: None,
            });
            payload_offset += chunk.iter().map(|sample| u64::from(sample.size)).sum::<u64>();
        }
        let sequence = u32::try_from(sequence).unwrap() + 1;
        out.extend_from_slice(&build::moof(sequence, &trafs, &[]).unwrap());
        let mut payload = Vec::new();
        for samples in &tracks {
            for sample in samples.iter().skip(first).take(40) {
                let start = usize::try_from(sample.offset).unwrap();
                payload.extend_from_slice(&file[start..start + sample.size as usize]);
            }
        }
        out.extend_from_slice(&mk(b"mdat", &[&payload]));
    }
    out
}
