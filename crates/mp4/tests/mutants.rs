//! Seeded mutants of real boxes through parsing, iteration and every edit: no panic, and work
//! and memory stay near the input. `LANELOCK_SEED` chooses another seed, `LANELOCK_MUTANTS`
//! another number.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::trivially_copy_pass_by_ref,
    reason = "test helpers fail by panicking, say what they skip, and take box types as literals"
)]

mod common;

use std::time::{Duration, Instant};

use common::{clip, moofs, movie};
use lanelock_mp4::{
    FourCc, Fragment, Movie, Pssh, SampleAuxTable, SubsampleMode, TrackEncryption,
    edit::{
        KeepPssh, Protect, ProtectTrack, RunOffsets, WriteAux, fragment_movie, patch_mfra,
        patch_sidx, protect_fragment, protect_movie, relocate_fragment, relocate_movie,
        unprotect_fragment, unprotect_movie,
    },
    load, top_level,
};

struct Random(u64);

impl Random {
    /// xorshift64*
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % limit
    }

    /// One to six changes: a byte, a word of an edge value, or a piece removed or repeated.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        const EDGES: [u32; 8] = [0, 1, 7, 8, 0x7fff_ffff, 0x8000_0000, 0xffff_fff8, u32::MAX];
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len());
            match self.below(8) {
                0..4 => bytes[at] = self.next().to_le_bytes()[0],
                4 | 5 => {
                    let edge = EDGES[self.below(8)].to_be_bytes();
                    let len = edge.len().min(bytes.len() - at);
                    bytes[at..at + len].copy_from_slice(&edge[..len]);
                }
                6 => bytes[at] ^= 1 << self.below(8),
                _ => {
                    let end = (at + 1 + self.below(40)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    if self.below(2) == 0 && bytes.len() > piece.len() + 16 {
                        bytes.drain(at..end);
                    } else {
                        bytes.splice(at..at, piece);
                    }
                    // Often right, so that the change gets past the first check.
                    if self.below(4) > 0 {
                        let size = u32::try_from(bytes.len()).unwrap();
                        bytes[..4].copy_from_slice(&size.to_be_bytes());
                    }
                }
            }
        }
    }
}

fn encryption() -> TrackEncryption {
    TrackEncryption::per_sample([0; 16], 8)
}

/// Does everything that can be done with a movie; gives how far it got.
fn exercise_movie(bytes: Vec<u8>, offset: u64, file: &[u8]) -> bool {
    let Ok(movie) = Movie::parse(bytes, offset) else { return false };
    let len = file.len() as u64;
    let mut tables = Vec::new();
    for track in &movie.tracks {
        let mut table = SampleAuxTable::new(8, SubsampleMode::Absent);
        let aux = movie.aux_info(track, file);
        let mut cursor = aux.as_ref().ok().map(lanelock_mp4::AuxInfo::cursor);
        for sample in movie.samples(track, len).into_iter().flatten() {
            let Ok(sample) = sample else { break };
            assert!(sample.offset + u64::from(sample.size) <= len);
            table.push(&[0; 8], &[]).unwrap();
            if let Some(cursor) = &mut cursor {
                let _ = cursor.next_sample(8, sample.size);
            }
        }
        let runs: u64 = movie.encryption_runs(track, 1).map(|(count, _)| count).sum();
        assert_eq!(runs, u64::from(track.sample_count()));
        tables.push(table);
        for entry in &track.entries {
            let _ = (entry.codec_string(), entry.nal_length_size());
            let _ = entry.config.as_ref().map(lanelock_mp4::CodecConfig::esds);
        }
    }
    let plans: Vec<_> = movie
        .tracks
        .iter()
        .zip(&tables)
        .map(|(track, table)| {
            let plan = ProtectTrack::new(track.id, FourCc::new(b"cenc"), encryption());
            if movie.fragmented { plan } else { plan.with_aux(table) }
        })
        .collect();
    let pssh = Pssh::common(&[]);
    if let Ok(bytes) = protect_movie(&movie, &plans, &[&pssh.raw]) {
        let new = Movie::parse(bytes, offset).expect("an edited movie is a movie");
        if !movie.tracks.is_empty() {
            let back = unprotect_movie(&new, None, KeepPssh::No).expect("a protected movie");
            assert!(!movie.pssh.is_empty() || back == movie.bytes());
        }
    }
    if let Ok(bytes) = unprotect_movie(&movie, None, KeepPssh::No) {
        Movie::parse(bytes, offset).expect("an edited movie is a movie");
    }
    if let Ok(bytes) = fragment_movie(&movie) {
        Movie::parse(bytes, offset).expect("an edited movie is a movie");
    }
    let map = |at: u64, _| at.checked_add(0xf000_0000);
    if let Ok(bytes) = relocate_movie(&movie, 0, map) {
        Movie::parse(bytes, 0).expect("an edited movie is a movie");
    }
    true
}

fn exercise_fragment(bytes: &[u8], offset: u64, movie: &Movie, file: &[u8]) -> bool {
    let len = file.len() as u64;
    let Ok(fragment) = Fragment::parse(bytes, offset, movie, len) else { return false };
    let mut tables = Vec::new();
    for track in &fragment.tracks {
        let mut table = SampleAuxTable::new(8, SubsampleMode::Absent);
        let aux = track.aux_info(file);
        let mut cursor = aux.as_ref().ok().map(lanelock_mp4::AuxInfo::cursor);
        let mut size = 0;
        for sample in track.samples() {
            assert!(sample.size == 0 || sample.offset + u64::from(sample.size) <= len);
            size += u64::from(sample.size);
            table.push(&[0; 8], &[]).unwrap();
            if let Some(cursor) = &mut cursor {
                let _ = cursor.next_sample(8, sample.size);
            }
        }
        assert_eq!((size, table.len() as u64), (track.data_size, track.sample_count));
        let runs: u64 = track.encryption_runs(movie).map(|(count, _)| count).sum();
        assert_eq!(runs, track.sample_count);
        tables.push(table);
    }
    let encryption = encryption();
    let plans: Vec<_> = tables
        .iter()
        .enumerate()
        .map(|(index, table)| Protect::new(index, WriteAux::Full(table)).with_seig(&encryption))
        .collect();
    let protected =
        |fragment: &Fragment<'_>| protect_fragment(fragment, &plans, &[], RunOffsets::Keep, 0);
    if let Ok(bytes) = protected(&fragment) {
        let new = Fragment::parse(&bytes, offset, movie, u64::MAX).expect("still a fragment");
        if fragment.pssh.is_empty() {
            let back = unprotect_fragment(&new, None, KeepPssh::No, 0).expect("still a fragment");
            assert_eq!(back, fragment.bytes());
        }
    }
    for moved in [0, -1000, 1 << 40, i64::MAX, i64::MIN] {
        let explicit = relocate_fragment(&fragment, RunOffsets::Explicit, moved);
        let clear = unprotect_fragment(&fragment, None, KeepPssh::No, moved);
        if let (0, Ok(clear)) = (moved, clear) {
            let clear = Fragment::parse(&clear, offset, movie, u64::MAX);
            let clear = clear.expect("still a fragment");
            let _ = protected(&clear);
        }
        drop(explicit);
    }
    true
}

fn run(name: &str, seed: u64, count: u32) {
    let Some(file) = clip(name) else { return };
    let movie = movie(&file);
    let moofs = moofs(&file);
    let mut random = Random(seed);
    let (mut parsed, mut slowest) = (0, Duration::ZERO);
    for _ in 0..count {
        let start = Instant::now();
        let ok = if moofs.is_empty() || random.below(3) == 0 {
            let mut bytes = movie.bytes().to_vec();
            random.mutate(&mut bytes);
            exercise_movie(bytes, movie.offset(), &file)
        } else {
            let (offset, moof) = &moofs[random.below(moofs.len())];
            let mut bytes = moof.clone();
            random.mutate(&mut bytes);
            exercise_fragment(&bytes, *offset, &movie, &file)
        };
        parsed += u32::from(ok);
        slowest = slowest.max(start.elapsed());
    }
    println!("{name}: seed {seed:#x}, {count} mutants, {parsed} parsed, slowest {slowest:?}");
    assert!(slowest < Duration::from_secs(5), "{name} with seed {seed:#x}: {slowest:?}");
}

#[test]
fn boxes_of_clips() {
    let variable = |name: &str| std::env::var(name).ok()?.parse().ok();
    let seed = variable("LANELOCK_SEED").unwrap_or(0x9e37_79b9_7f4a_7c15);
    let count = variable("LANELOCK_MUTANTS").unwrap_or(2000);
    println!("LANELOCK_SEED={seed}");
    for name in [
        "codecs/avc_aac.mp4",
        "codecs/hevc.mp4",
        "codecs/flac.mp4",
        "vectors/cbcs.mp4",
        "vectors/cbcs_audio.mp4",
        "vectors/prog_8s_enc_dashinit.mp4",
    ] {
        run(name, seed, u32::try_from(count).unwrap());
    }
}

#[test]
fn top_level_and_indexes() {
    let Some(file) = clip("vectors/prog_8s_enc_dashinit.mp4") else { return };
    let sidx = top_level(&file).filter_map(Result::ok).find(|header| header.kind == b"sidx");
    let sidx = load(&file, &sidx.unwrap()).unwrap();
    let entries = [(0, 1000), (10, 2000)];
    let track = lanelock_mp4::compose::MfraTrack::new(1, &entries);
    let mfra = lanelock_mp4::compose::mfra(&[track]).unwrap();
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..3000 {
        let mut head = file[..4096].to_vec();
        random.mutate(&mut head);
        for header in top_level(&head) {
            let Ok(header) = header else { break };
            assert!(header.end() <= head.len() as u64);
        }
        let mut bytes = sidx.clone();
        random.mutate(&mut bytes);
        let _ = patch_sidx(&bytes, 1000, 900, |at| at.checked_sub(100));
        let mut bytes = mfra.clone();
        random.mutate(&mut bytes);
        let _ = patch_mfra(&bytes, 1000, |at| at.checked_add(1 << 31));
        let mut bytes = Pssh::common(&[[1; 16], [2; 16]]).raw;
        random.mutate(&mut bytes);
        let _ = Pssh::parse(&bytes);
    }
}
