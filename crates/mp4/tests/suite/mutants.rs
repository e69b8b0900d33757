//! Seeded mutants of real boxes through parsing, iteration and every edit: no panic and no hang.
//! `LANELOCK_SEED` chooses another seed, `LANELOCK_MUTANTS` another number.

use crate::common::{moofs, movie, vector};
use lanelock_mp4::{
    FourCc, Fragment, Movie, Pssh, SampleAuxTable, SubsampleMode, TrackEncryption,
    edit::{
        FragmentEdit, KeepPssh, Protect, ProtectTrack, RunOffsets, WriteAux, fragment_movie,
        patch_mfra, patch_sidx, protect_movie, relocate_movie, unprotect_movie,
    },
    load, top_level,
};
use lanelock_testkit::{Clip, Mutator, Rng, Watchdog, clips, mutants, protected_clips, repository};

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
            let _ = (entry.video(), entry.audio(), entry.dolby_vision());
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
    let protected = |fragment: &Fragment<'_>| FragmentEdit::new(fragment).protect(&plans).finish(0);
    if let Ok(bytes) = protected(&fragment) {
        let new = Fragment::parse(&bytes, offset, movie, u64::MAX).expect("still a fragment");
        if fragment.pssh.is_empty() {
            let back = FragmentEdit::new(&new).unprotect(KeepPssh::No).finish(0);
            let back = back.expect("still a fragment");
            // Runs keep the data offsets that protection has made explicit.
            let explicit = FragmentEdit::new(&fragment).with_run_offsets(RunOffsets::Explicit);
            assert_eq!(back, explicit.finish(0).expect("as when it was protected"));
        }
    }
    for moved in [0, -1000, 1 << 40, i64::MAX, i64::MIN] {
        let edit = FragmentEdit::new(&fragment);
        let explicit = edit.with_run_offsets(RunOffsets::Explicit).finish(moved);
        let clear = edit.unprotect(KeepPssh::No).finish(moved);
        if let (0, Ok(clear)) = (moved, clear) {
            let clear = Fragment::parse(&clear, offset, movie, u64::MAX);
            let clear = clear.expect("still a fragment");
            let again = edit.unprotect(KeepPssh::No).protect(&plans).finish(0);
            if let Ok(two) = protected(&clear) {
                let again = again.expect("what two edits can do, one can");
                assert_eq!(two.len(), again.len());
                Fragment::parse(&again, offset, movie, u64::MAX).expect("still a fragment");
            }
        }
        drop(explicit);
    }
    true
}

fn run(rng: &mut Rng, watchdog: &Watchdog, clip: &Clip, count: usize) {
    let name = clip.path.display();
    let file = clip.read();
    let movie = movie(&file);
    let moofs = moofs(&file);
    let of_movie = Mutator::of_boxes(movie.bytes());
    let of_moofs: Vec<_> =
        moofs.iter().map(|(offset, moof)| (*offset, Mutator::of_boxes(moof))).collect();
    let mut parsed = 0;
    for number in 0..count {
        watchdog.begins(format!("{name}, mutant {number}"));
        let ok = if of_moofs.is_empty() || rng.one_in(3) {
            exercise_movie(of_movie.mutant(rng), movie.offset(), &file)
        } else {
            let (offset, mutator) = rng.pick(&of_moofs);
            exercise_fragment(&mutator.mutant(rng), *offset, &movie, &file)
        };
        parsed += usize::from(ok);
    }
    eprintln!("{name}: {count} mutants, {parsed} parsed");
    assert!(parsed > count / 50 && parsed < count, "{name}: too damaged, or hardly");
}

#[test]
fn boxes_of_clips() {
    let mut rng = Rng::from_env("boxes_of_clips");
    let watchdog = Watchdog::new();
    let clear = ["avc_aac.mp4", "hevc.mp4", "flac.mp4"].into_iter().flat_map(clips);
    let piff = ["avc_aac.piff-ctr.mp4", "avc_aac.piff-cbc.mp4"].map(|name| {
        let path = repository().join("crates/packager/tests/fixtures").join(name);
        Clip { name: name.into(), path }
    });
    let protected = protected_clips().into_iter().map(|protected| protected.clip);
    for clip in clear.chain(protected).chain(piff) {
        run(&mut rng, &watchdog, &clip, mutants(2000));
    }
}

#[test]
fn top_level_and_indexes() {
    let file = vector("prog_8s_enc_dashinit.mp4");
    let sidx = top_level(&file).filter_map(Result::ok).find(|header| header.kind == b"sidx");
    let sidx = load(&file, &sidx.unwrap()).unwrap();
    let entries = [(0, 1000), (10, 2000)];
    let track = lanelock_mp4::compose::MfraTrack::new(1, &entries);
    let mfra = lanelock_mp4::compose::mfra(&[track]).unwrap();
    let pssh = Pssh::common(&[[1; 16], [2; 16]]).raw;
    let [head, sidx, mfra, pssh] = [&file[..4096], &sidx, &mfra, &pssh].map(Mutator::of_boxes);
    let mut rng = Rng::from_env("top_level_and_indexes");
    let watchdog = Watchdog::new();
    for number in 0..mutants(3000) {
        watchdog.begins(format!("mutant {number}"));
        let head = head.mutant(&mut rng);
        for header in top_level(&head) {
            let Ok(header) = header else { break };
            assert!(header.end() <= head.len() as u64);
        }
        let _ = patch_sidx(&sidx.mutant(&mut rng), 1000, 900, |at| at.checked_sub(100));
        let _ = patch_mfra(&mfra.mutant(&mut rng), 1000, |at| at.checked_add(1 << 31));
        let _ = Pssh::parse(&pssh.mutant(&mut rng));
    }
}
