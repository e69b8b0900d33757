//! Shared by the test files: loading, and fragments of progressive clips.

use lanelock_mp4::{
    BoxHeader, Fragment, Movie, Result, Sample,
    compose::{self, NewSample, NewTrackFragment},
    edit::{fragment_movie, fragmented_ftyp},
    load, top_level,
};
use lanelock_testkit::{boxes::boxed as mk, protected_clip, small_clip};

/// The bytes of a committed clip.
pub(crate) fn clip(name: &str) -> Vec<u8> {
    small_clip(name).read()
}

/// The bytes of a published protected file.
pub(crate) fn vector(name: &str) -> Vec<u8> {
    protected_clip(name).read()
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
            let time = sample.decode_time;
            trafs.push(NewTrackFragment::new(track.id, time, chunk, payload_offset));
            payload_offset += chunk.iter().map(|sample| u64::from(sample.size)).sum::<u64>();
        }
        let sequence = u32::try_from(sequence).unwrap() + 1;
        out.extend_from_slice(&compose::moof(sequence, &trafs, &[]).unwrap());
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
