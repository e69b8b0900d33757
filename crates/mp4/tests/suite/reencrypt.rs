//! Taking protection away and protecting anew in one edit gives what two edits give one after the
//! other.

use crate::common::{clip, fragmented, moofs, movie};
use lanelock_mp4::{
    ErrorKind, Fragment, Movie, Pssh, SampleAuxTable, StoredIv, Subsample, SubsampleMode,
    TrackEncryption,
    edit::{FragmentEdit, KeepPssh, Protect, RunOffsets, WriteAux, fragment_movie},
};
use lanelock_testkit::{
    Rng, all_clips,
    boxes::{boxed as mk, full, words},
    protected_clips,
};

/// What a second encryption writes.
struct Plan {
    tables: Vec<SampleAuxTable>,
    rotated: TrackEncryption,
    pssh: Pssh,
}

impl Plan {
    fn new(fragment: &Fragment<'_>, iv_size: u8) -> Self {
        let table = |samples: u64| {
            let mut table = SampleAuxTable::new(iv_size, SubsampleMode::Present);
            for number in 0..samples {
                let iv = vec![u8::try_from(number % 251).unwrap(); usize::from(iv_size)];
                let subsample = Subsample { clear: 1, protected: 99 };
                table.push(&iv, &[subsample; 2][..=usize::from(number % 3 == 0)]).unwrap();
            }
            table
        };
        let tables = fragment.tracks.iter().map(|traf| table(traf.sample_count)).collect();
        let iv = StoredIv::new(&[5; 16]).unwrap();
        let rotated = TrackEncryption::constant([8; 16], iv).with_pattern(1, 9);
        Self { tables, rotated, pssh: Pssh::common(&[[8; 16]]) }
    }

    /// Plans for the track fragments that `named` accepts; every second one gets a `seig` group.
    fn protect(&self, named: impl Fn(usize) -> bool) -> Vec<Protect<'_>> {
        let tables = self.tables.iter().enumerate().filter(|(index, _)| named(*index));
        let plan = |(index, table)| {
            let plan = Protect::new(index, WriteAux::Full(table));
            if index % 2 == 0 { plan.with_seig(&self.rotated) } else { plan }
        };
        tables.map(plan).collect()
    }
}

/// Both ways for the track fragments `named`, to be unprotected and protected; whether it worked.
fn same(fragment: &Fragment<'_>, movie: &Movie, named: &[usize], offsets: RunOffsets) -> bool {
    let (first, second) = (4711, -100);
    let mut worked = false;
    for (keep, iv_size) in [(KeepPssh::No, 8), (KeepPssh::Yes, 0)] {
        let plan = Plan::new(fragment, iv_size);
        let plans = plan.protect(|index| named.contains(&index));
        let pssh = [&plan.pssh.raw[..]];
        let edit = FragmentEdit::new(fragment).unprotect_tracks(named, keep);
        let Ok(clear) = edit.finish(first) else { continue };
        let at = fragment.offset().checked_add_signed(first).unwrap();
        let clear = Fragment::parse(&clear, at, movie, u64::MAX).unwrap();
        assert!(named.iter().all(|&index| !clear.tracks[index].has_protection_boxes()));
        let again = |edit: FragmentEdit<'_>, moved| {
            edit.protect(&plans).with_pssh(&pssh).with_run_offsets(offsets).finish(moved)
        };
        let two = again(FragmentEdit::new(&clear), second);
        let one = again(edit, first + second);
        match (two, one) {
            (Ok(two), Ok(one)) => {
                assert!(one == two, "{} and {} bytes", one.len(), two.len());
                Fragment::parse(&one, at.checked_add_signed(second).unwrap(), movie, u64::MAX)
                    .unwrap();
                worked = true;
            }
            (two, one) => assert_eq!(two.is_ok(), one.is_ok(), "{two:?}\n{one:?}"),
        }
    }
    worked
}

fn all(fragment: &Fragment<'_>) -> Vec<usize> {
    (0..fragment.tracks.len()).collect()
}

#[test]
fn clips_encrypted_twice() {
    for clip in all_clips() {
        let file = fragmented(&clip.read());
        let movie = movie(&file);
        for (offset, moof) in moofs(&file) {
            let clear = Fragment::parse(&moof, offset, &movie, u64::MAX).unwrap();
            let plan = Plan::new(&clear, 8);
            let (plans, pssh) = (plan.protect(|_| true), [&plan.pssh.raw[..]; 2]);
            let edit = FragmentEdit::new(&clear).protect(&plans).with_pssh(&pssh);
            let moof = edit.finish(0).unwrap();
            let protected = Fragment::parse(&moof, offset, &movie, u64::MAX).unwrap();
            for offsets in [RunOffsets::Keep, RunOffsets::Explicit] {
                assert!(same(&clear, &movie, &all(&clear), offsets));
                assert!(same(&protected, &movie, &all(&protected), offsets));
                assert!(same(&protected, &movie, &[0], offsets));
            }
            // What was there at first is gone.
            let again = FragmentEdit::new(&protected).unprotect(KeepPssh::No);
            assert_eq!(again.protect(&plans).with_pssh(&pssh).finish(0).unwrap(), moof);
        }
    }
}

#[test]
fn vectors_encrypted_anew() {
    for vector in protected_clips() {
        let file = vector.clip.read();
        let movie = movie(&file);
        for (offset, moof) in moofs(&file) {
            let fragment = Fragment::parse(&moof, offset, &movie, u64::MAX).unwrap();
            assert!(same(&fragment, &movie, &all(&fragment), RunOffsets::Keep));
        }
    }
}

/// Boxes of one `traf`, protection in any order and place among them.
fn random_traf(rng: &mut Rng, first: bool) -> Vec<u8> {
    let id = 1 + u32::from(rng.one_in(2));
    // Default duration and size; a base by chance.
    let tfhd = match rng.below(4) {
        0 => full(b"tfhd", &[0x19, id, 0, 1000, 10, 100]),
        1 if !first => full(b"tfhd", &[0x18, id, 10, 100]),
        _ => full(b"tfhd", &[0x2_0018, id, 10, 100]),
    };
    let mut samples = 0;
    let mut rest = Vec::new();
    let mut offset = 40_000;
    for run in 0..=rng.below(3) {
        let count = u32::try_from(rng.below(4)).unwrap();
        samples += count;
        if run > 0 && rng.one_in(2) {
            rest.push(full(b"trun", &[0, count]));
        } else {
            rest.push(full(b"trun", &[1, count, offset]));
        }
        offset += 10_000;
    }
    let saiz = |kind: &[u8]| {
        let flags = words(&[u32::from(!kind.is_empty())]);
        mk(b"saiz", &[&flags, kind, &[4], &words(&[samples])])
    };
    let saio = |kind: &[u8], offset: u32| {
        let flags = words(&[u32::from(!kind.is_empty())]);
        mk(b"saio", &[&flags, kind, &words(&[1, offset])])
    };
    // In another place than `senc`: behind the `moof`.
    let elsewhere = u32::try_from(30_000 + rng.below(5000)).unwrap();
    match rng.below(4) {
        0 => {}
        1 => rest.push(full(b"senc", &[0, 0])),
        2 => rest.extend([saiz(b""), saio(b"", elsewhere)]),
        _ => {
            let kind = [&b"cenc"[..], &[0; 4]].concat();
            let ivs = vec![7; samples as usize * 8];
            rest.push(mk(b"senc", &[&words(&[0, samples]), &ivs]));
            rest.extend([saiz(&kind), saio(&kind, elsewhere)]);
        }
    }
    if rng.one_in(2) {
        let seig = [&[0, 0, 1, 8][..], &[7; 16]].concat();
        rest.push(mk(b"sgpd", &[&words(&[1 << 24]), b"seig", &words(&[20, 1]), &seig]));
        rest.push(mk(b"sbgp", &[&words(&[0]), b"seig", &words(&[1, samples, 0x1_0001])]));
    }
    if rng.one_in(2) {
        let other = [&b"abcd"[..], &[0; 4]].concat();
        rest.extend([saiz(&other), saio(&other, elsewhere)]);
        rest.push(mk(b"sbgp", &[&words(&[0]), b"roll", &words(&[1, samples, 1])]));
    }
    if rng.one_in(3) {
        rest.push(mk(b"free", &[&rng.bytes(3)]));
    }
    // Runs keep their order, as a run without offset speaks of the one before.
    let (runs, mut others): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|child| &child[4..8] == b"trun");
    rng.shuffle(&mut others);
    for run in runs.into_iter().rev() {
        let at = if rng.one_in(2) { 0 } else { rng.below(others.len() + 1) };
        let at =
            others.iter().position(|child| &child[4..8] == b"trun").map_or(at, |next| at.min(next));
        others.insert(at, run);
    }
    mk(b"traf", &[&tfhd, &others.concat()])
}

#[test]
fn fragments_by_chance() {
    let mut rng = Rng::from_env("fragments_by_chance");
    let movie = Movie::parse(fragment_movie(&movie(&clip("avc_aac.mp4"))).unwrap(), 0).unwrap();
    let mut worked = 0;
    for _ in 0..2000 {
        let mut children = vec![full(b"mfhd", &[0, 1])];
        for traf in 0..=rng.below(4) {
            if rng.one_in(3) {
                children.push(Pssh::common(&[[3; 16]]).raw);
            }
            children.push(random_traf(&mut rng, traf == 0));
        }
        if rng.one_in(3) {
            children.push(Pssh::common(&[]).raw);
        }
        let moof = mk(b"moof", &[&children.concat()]);
        let fragment = Fragment::parse(&moof, 1000, &movie, u64::MAX).unwrap();
        let named: Vec<_> = all(&fragment).into_iter().filter(|_| !rng.one_in(3)).collect();
        for offsets in [RunOffsets::Keep, RunOffsets::Explicit] {
            worked += usize::from(same(&fragment, &movie, &named, offsets));
        }
    }
    assert!(worked > 1000, "{worked}");
}

#[test]
fn protection_has_to_go_first() {
    let movie = Movie::parse(fragment_movie(&movie(&clip("avc_aac.mp4"))).unwrap(), 0).unwrap();
    let tfhd = full(b"tfhd", &[0x2_0018, 1, 10, 100]);
    let traf = mk(b"traf", &[&tfhd, &full(b"trun", &[1, 1, 500]), &full(b"senc", &[0, 0])]);
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf, &traf]);
    let fragment = Fragment::parse(&moof, 0, &movie, 10_000).unwrap();
    let plan = [Protect::new(1, WriteAux::EmptySenc)];
    let edit = FragmentEdit::new(&fragment).protect(&plan);
    for edit in [edit, edit.unprotect_tracks(&[0], KeepPssh::No)] {
        let error = edit.finish(0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::AlreadyProtected), "{error}");
        assert_eq!(error.path(), "moof/traf[1]");
    }
    assert_eq!(edit.unprotect_tracks(&[1], KeepPssh::No).finish(0).unwrap(), moof);
    let error = edit.unprotect_tracks(&[1, 2], KeepPssh::No).finish(0).unwrap_err();
    assert!(error.to_string().contains("track fragment index"), "{error}");
}
