//! Protecting and unprotecting gives the bytes one began with, and what lies between reads
//! back as it was written.

use crate::common::{clip, each_fragment, fragmented, movie};
use lanelock_mp4::{
    Base, FourCc, Fragment, Movie, Pssh, Sample, SampleAuxTable, StoredIv, Subsample,
    SubsampleMode, TrackEncryption,
    edit::{
        FragmentEdit, KeepPssh, Protect, ProtectTrack, RunOffsets, WriteAux, fragment_movie,
        protect_movie, relocate_movie, unprotect_movie,
    },
};
use lanelock_testkit::{
    FILM, ProtectedClip, all_clips,
    boxes::{boxed as mk, find, full, words},
    clips, codec_clip, protected_clips,
};

fn cbcs() -> TrackEncryption {
    TrackEncryption::constant(*b"0123456789abcdef", StoredIv::new(&[3; 16]).unwrap())
        .with_pattern(1, 9)
}

fn cenc() -> TrackEncryption {
    TrackEncryption::per_sample(*b"0123456789abcdef", 8)
}

/// One subsample over each sample, two for even ones.
fn table(samples: impl Iterator<Item = Sample>, iv_size: u8) -> SampleAuxTable {
    let mut table = SampleAuxTable::new(iv_size, SubsampleMode::Present);
    for (number, sample) in samples.enumerate() {
        let iv = vec![u8::try_from(number % 251).unwrap(); usize::from(iv_size)];
        let clear = sample.size.min(7);
        let whole =
            Subsample { clear: u16::try_from(clear).unwrap(), protected: sample.size - clear };
        let subsamples = [whole, Subsample::default()];
        table.push(&iv, &subsamples[..=(number + 1) % 2]).unwrap();
    }
    table
}

fn protection<'a>(movie: &Movie, scheme: &[u8; 4], e: TrackEncryption) -> Vec<ProtectTrack<'a>> {
    let plan = |id| ProtectTrack::new(id, FourCc::new(scheme), e);
    movie.tracks.iter().map(|track| plan(track.id)).collect()
}

#[test]
fn built_fragments_read_back() {
    for clip in all_clips() {
        let (name, file) = (clip.path.display(), clip.read());
        let clear = movie(&file);
        let out = fragmented(&file);
        let mut read: Vec<Vec<Sample>> = vec![Vec::new(); clear.tracks.len()];
        each_fragment(&out, |movie, fragment| {
            assert!(movie.fragmented);
            for track in &fragment.tracks {
                read[track.track_index].extend(track.samples());
            }
        });
        for (track, read) in clear.tracks.iter().zip(read) {
            let samples = clear.samples(track, file.len() as u64).unwrap();
            let old: Vec<Sample> =
                samples.map(|sample| Sample { offset: 0, ..sample.unwrap() }).collect();
            let new: Vec<Sample> =
                read.into_iter().map(|sample| Sample { offset: 0, ..sample }).collect();
            assert_eq!(old, new, "{name}");
        }
    }
}

#[test]
fn fragment_movie_keeps_the_rest() {
    let file = clip("avc_aac.mp4");
    let old = movie(&file);
    let new = Movie::parse(fragment_movie(&old).unwrap(), 0).unwrap();
    assert!(new.fragmented);
    assert_eq!((new.duration, new.fragment_duration), (0, Some(old.duration)));
    for (old, new) in old.tracks.iter().zip(&new.tracks) {
        assert_eq!((new.sample_count(), new.duration), (0, 0));
        assert_eq!(new.edits, old.edits);
        assert_eq!(new.entries[0].config, old.entries[0].config);
        assert_eq!(new.entries[0].codec_string(), old.entries[0].codec_string());
        assert_eq!(new.defaults.unwrap().description_index, 1);
    }
    for kind in [b"udta", b"pasp", b"btrt", b"sgpd"] {
        let (a, b) = (find(old.bytes(), kind), find(new.bytes(), kind));
        assert_eq!(old.bytes()[a..a + 8], new.bytes()[b..b + 8]);
    }
    assert!(!new.bytes().windows(4).any(|window| window == b"stss" || window == b"sbgp"));
    assert!(fragment_movie(&new).is_err());
}

#[test]
fn movies() {
    let pssh = Pssh::common(&[*b"0123456789abcdef"]);
    for clip in all_clips() {
        let (name, file) = (clip.path.display(), clip.read());
        let old = movie(&file);
        for (scheme, encryption) in [(b"cbcs", cbcs()), (b"cenc", cenc())] {
            let plans = protection(&old, scheme, encryption);
            let bytes = protect_movie(&old, &plans, &[&pssh.raw, &pssh.raw]).unwrap();
            let new = Movie::parse(bytes, old.offset()).unwrap();
            for (old, new) in old.tracks.iter().zip(&new.tracks) {
                assert!(new.is_protected());
                assert_eq!(new.entries[0].original_format, old.entries[0].format);
                assert_eq!(new.encryption(1), Some(&encryption));
                assert_eq!(new.entries[0].config, old.entries[0].config);
            }
            assert_eq!(new.pssh, [pssh.clone(), pssh.clone()]);
            assert!(protect_movie(&new, &plans, &[]).is_err(), "already protected");
            let back = unprotect_movie(&new, None, KeepPssh::No).unwrap();
            assert_eq!(back, old.bytes(), "{name}");
            let kept = unprotect_movie(&new, None, KeepPssh::Yes).unwrap();
            assert_eq!(kept.len(), back.len() + 2 * pssh.raw.len());
        }
        assert!(unprotect_movie(&old, None, KeepPssh::No).is_err(), "not protected");
    }
}

#[test]
fn one_track_of_two() {
    let file = clip("avc_aac.mp4");
    let old = movie(&file);
    let plans = &protection(&old, b"cenc", cenc())[1..];
    let new = Movie::parse(protect_movie(&old, plans, &[]).unwrap(), old.offset()).unwrap();
    assert_eq!(
        new.tracks.iter().map(lanelock_mp4::Track::is_protected).collect::<Vec<_>>(),
        [false, true]
    );
    assert!(unprotect_movie(&new, Some(&[1]), KeepPssh::No).is_err());
    assert_eq!(unprotect_movie(&new, Some(&[2]), KeepPssh::No).unwrap(), old.bytes());
}

#[test]
fn text_entries() {
    // The children of `enct` have to be found without knowing the original format.
    let text = |format: &[u8; 4], fields: &[u8]| {
        let entry = mk(format, &[&[0, 0, 0, 0, 0, 0, 0, 1], fields, &full(b"btrt", &[0, 1, 2])]);
        let stsd = mk(b"stsd", &[&words(&[0, 1]), &entry]);
        let stbl = mk(b"stbl", &[&stsd]);
        let hdlr = mk(b"hdlr", &[&words(&[0, 0]), b"text", &[0; 13]]);
        let mdhd = full(b"mdhd", &[0, 0, 0, 1000, 0, 0x55c4_0000]);
        let mdia = mk(b"mdia", &[&mdhd, &hdlr, &mk(b"minf", &[&stbl])]);
        let tkhd = mk(b"tkhd", &[&words(&[0, 0, 0, 1]), &[0; 68]]);
        let mvhd = mk(b"mvhd", &[&words(&[0, 0, 0, 1000]), &[0; 84]]);
        mk(b"moov", &[&mvhd, &mk(b"trak", &[&tkhd, &mdia])])
    };
    for bytes in [text(b"wvtt", &[]), text(b"stpp", b"ns\0loc\0\0"), text(b"sbtt", b"\0m\0")] {
        let old = Movie::parse(bytes, 0).unwrap();
        let plans = protection(&old, b"cenc", cenc());
        let new = Movie::parse(protect_movie(&old, &plans, &[]).unwrap(), 0).unwrap();
        assert_eq!(new.tracks[0].entries[0].format, FourCc::new(b"enct"));
        assert_eq!(new.tracks[0].entries[0].original_format, old.tracks[0].entries[0].format);
        assert_eq!(unprotect_movie(&new, None, KeepPssh::No).unwrap(), old.bytes());
    }
}

/// Protects every track of every fragment and checks all there is to check.
fn protect_all(file: &[u8], explicit: RunOffsets, moved: i64) {
    let pssh = Pssh::common(&[*b"0123456789abcdef"]);
    let mut rotation = cbcs();
    rotation.kid = [9; 16];
    each_fragment(file, |movie, fragment| {
        for (seig, iv_size) in [(None, 8), (Some(&rotation), 0)] {
            let tables: Vec<_> =
                fragment.tracks.iter().map(|track| table(track.samples(), iv_size)).collect();
            let plans: Vec<_> = tables
                .iter()
                .enumerate()
                .map(|(index, table)| {
                    let plan = Protect::new(index, WriteAux::Full(table));
                    seig.map_or(plan, |seig| plan.with_seig(seig))
                })
                .collect();
            let pssh_boxes = [&pssh.raw[..]];
            let edit = FragmentEdit::new(&fragment).protect(&plans).with_pssh(&pssh_boxes);
            let bytes = edit.with_run_offsets(explicit).finish(moved).unwrap();
            let offset = fragment.offset().checked_add_signed(moved).unwrap();
            let growth = bytes.len() - fragment.bytes().len();
            // The protected fragment in a file of holes: only offsets are looked at.
            let len = file.len() as u64 + offset + growth as u64;
            let new = Fragment::parse(&bytes, offset, movie, len).unwrap();
            assert_eq!(new.pssh, std::slice::from_ref(&pssh));
            let behind = moved + i64::try_from(growth).unwrap();
            for ((old, new), table) in fragment.tracks.iter().zip(&new.tracks).zip(&tables) {
                let shift = |sample: Sample| Sample {
                    offset: sample.offset.checked_add_signed(behind).unwrap(),
                    ..sample
                };
                assert!(old.samples().map(shift).eq(new.samples()));
                check_aux(&bytes, offset, new, table, iv_size);
                if seig.is_some() {
                    let runs: Vec<_> = new.encryption_runs(movie).collect();
                    assert_eq!(runs, [(new.sample_count, Some(&rotation))]);
                }
            }
            let again = FragmentEdit::new(&new).protect(&plans).finish(0);
            assert!(again.is_err(), "already protected");
            let back = FragmentEdit::new(&new).unprotect(KeepPssh::No).finish(-moved).unwrap();
            if explicit == RunOffsets::Keep {
                assert_eq!(back, fragment.bytes());
            }
        }
    });
}

/// `senc`, and the bytes `saio` points to, say what the table says.
fn check_aux(
    moof: &[u8],
    offset: u64,
    track: &lanelock_mp4::TrackFragment<'_>,
    table: &SampleAuxTable,
    iv_size: u8,
) {
    let aux = track.aux_info(&[][..]).unwrap();
    let mut cursor = aux.cursor();
    for (number, sample) in track.samples().enumerate() {
        let aux = cursor.next_sample(iv_size, sample.size).unwrap();
        assert_eq!(aux.subsamples.unwrap().len(), 1 + (number + 1) % 2);
        assert!(aux.iv.iter().all(|&byte| usize::from(byte) == number % 251));
    }
    cursor.finish().unwrap();
    let traf = track.boxed();
    let saio = traf.require(b"saio").unwrap().payload();
    let stated = u32::from_be_bytes(saio[8..12].try_into().unwrap());
    let at = track.base_offset + u64::from(stated) - offset;
    let mut senc = Vec::new();
    table.put_senc(&mut senc);
    let entries = &senc[SampleAuxTable::SENC_ENTRIES..];
    assert_eq!(&moof[usize::try_from(at).unwrap()..][..entries.len()], entries);
}

#[test]
fn fragments() {
    for clip in all_clips() {
        let file = fragmented(&clip.read());
        protect_all(&file, RunOffsets::Keep, 0);
        protect_all(&file, RunOffsets::Keep, 123_456);
        protect_all(&file, RunOffsets::Explicit, -11);
    }
}

#[test]
fn fragments_of_vectors_in_the_clear() {
    for ProtectedClip { clip, .. } in protected_clips() {
        let file = clip.read();
        let movie = movie(&file);
        for (offset, moof) in crate::common::moofs(&file) {
            let fragment = Fragment::parse(&moof, offset, &movie, file.len() as u64).unwrap();
            let clear = FragmentEdit::new(&fragment).unprotect(KeepPssh::No).finish(7).unwrap();
            let new = offset + 7;
            let shrunk = (moof.len() - clear.len()) as u64;
            assert!(shrunk > 0);
            let clear = Fragment::parse(&clear, new, &movie, file.len() as u64 + 7).unwrap();
            for (old, new) in fragment.tracks.iter().zip(&clear.tracks) {
                assert!(!new.has_protection_boxes());
                let shift = |s: Sample| Sample { offset: s.offset + 7 - shrunk, ..s };
                assert!(old.samples().map(shift).eq(new.samples()));
            }
        }
        let clear = unprotect_movie(&movie, None, KeepPssh::No).unwrap();
        let clear = Movie::parse(clear, movie.offset()).unwrap();
        assert!(clear.pssh.is_empty());
        assert!(clear.tracks.iter().all(|track| !track.is_protected()));
    }
}

/// `moov` of one video track of a clip, fragmented, to go with hand-made moofs.
fn init() -> Movie {
    let file = clip("avc.mp4");
    Movie::parse(fragment_movie(&movie(&file)).unwrap(), 0).unwrap()
}

fn hand_made(tfhd: &[u32], runs: &[&[u32]]) -> Vec<u8> {
    let runs: Vec<u8> = runs.iter().flat_map(|run| full(b"trun", run)).collect();
    let traf = mk(b"traf", &[&full(b"tfhd", tfhd), &runs]);
    mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf])
}

/// tfhd flags: default duration and size; 0x20000 is default-base-is-moof.
const DEFAULTS: u32 = 0x18;

#[test]
fn second_run_without_data_offset_continues_the_first() {
    let movie = init();
    let tfhd = [0x2_0000 | DEFAULTS, 1, 10, 100];
    let moof = hand_made(&tfhd, &[&[1, 2, 500], &[0, 3], &[1, 1, 400], &[0, 1]]);
    let offsets = |fragment: &Fragment<'_>| -> Vec<u64> {
        fragment.tracks[0].samples().map(|sample| sample.offset).collect()
    };
    let old = Fragment::parse(&moof, 1000, &movie, 10_000).unwrap();
    assert_eq!(offsets(&old), [1500, 1600, 1700, 1800, 1900, 1400, 1500]);
    let table = table(old.tracks[0].samples(), 8);
    for explicit in [RunOffsets::Keep, RunOffsets::Explicit] {
        let plan = [Protect::new(0, WriteAux::Full(&table))];
        let edit = FragmentEdit::new(&old).protect(&plan).with_run_offsets(explicit);
        let bytes = edit.finish(50).unwrap();
        let new = Fragment::parse(&bytes, 1050, &movie, 10_000).unwrap();
        let shift = (bytes.len() - moof.len()) as u64 + 50;
        let expected: Vec<u64> = offsets(&old).iter().map(|offset| offset + shift).collect();
        assert_eq!(offsets(&new), expected);
        check_aux(&bytes, 1050, &new.tracks[0], &table, 8);
    }
    let grown = FragmentEdit::new(&old).with_run_offsets(RunOffsets::Explicit).finish(0).unwrap();
    assert_eq!(grown.len(), moof.len() + 8);
    assert_eq!(FragmentEdit::new(&old).finish(0).unwrap(), moof);
}

#[test]
fn bases_of_several_track_fragments() {
    let file = clip("avc_aac.mp4");
    let progressive = movie(&file);
    let movie = Movie::parse(fragment_movie(&progressive).unwrap(), 0).unwrap();
    let traf =
        |tfhd: &[u32], trun: &[u32]| mk(b"traf", &[&full(b"tfhd", tfhd), &full(b"trun", trun)]);
    // No base at all: the second `traf` counts from the end of the data of the first.
    let first = traf(&[DEFAULTS, 1, 10, 100], &[1, 2, 500]);
    let second = traf(&[DEFAULTS, 2, 10, 50], &[1, 2, 30]);
    let third = traf(&[DEFAULTS, 2, 10, 50], &[0, 1]);
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &first, &second, &third]);
    let old = Fragment::parse(&moof, 1000, &movie, 10_000).unwrap();
    let starts = |fragment: &Fragment<'_>| -> Vec<u64> {
        fragment.tracks.iter().map(|track| track.runs()[0].offset).collect()
    };
    assert_eq!(starts(&old), [1500, 1730, 1830]);
    let pssh = Pssh::common(&[]);
    let plan = [Protect::new(1, WriteAux::EmptySenc)];
    let pssh = [&pssh.raw[..]];
    let bytes = FragmentEdit::new(&old).protect(&plan).with_pssh(&pssh).finish(5).unwrap();
    let new = Fragment::parse(&bytes, 1005, &movie, 10_000).unwrap();
    let shift = 5 + (bytes.len() - moof.len()) as u64;
    assert_eq!(starts(&new), [1500 + shift, 1730 + shift, 1830 + shift]);
    assert_eq!(FragmentEdit::new(&new).unprotect(KeepPssh::No).finish(-5).unwrap(), moof);
    // Such a base is out of reach of an unsigned `saio` offset: it becomes the `moof`.
    let tables = [1, 2].map(|index| table(old.tracks[index].samples(), 8));
    let plan = [1, 2].map(|index| Protect::new(index, WriteAux::Full(&tables[index - 1])));
    let bytes = FragmentEdit::new(&old).protect(&plan).finish(5).unwrap();
    let new = Fragment::parse(&bytes, 1005, &movie, 10_000).unwrap();
    let shift = 5 + (bytes.len() - moof.len()) as u64;
    assert_eq!(starts(&new), [1500 + shift, 1730 + shift, 1830 + shift]);
    for (index, table) in [1, 2].into_iter().zip(&tables) {
        assert_eq!(new.tracks[index].base, Base::Moof);
        check_aux(&bytes, 1005, &new.tracks[index], table, 8);
    }
}

#[test]
fn explicit_bases_before_and_behind() {
    let movie = init();
    // Base at the `moof`, base in the data behind it, base and data before it.
    for (base, offset, behind) in [(1000, 500, true), (1500, 0, true), (100, 20, false)] {
        let tfhd = [1 | DEFAULTS, 1, 0, base, 10, 100];
        let moof = hand_made(&tfhd, &[&[1, 2, offset]]);
        let old = Fragment::parse(&moof, 1000, &movie, 10_000).unwrap();
        let start = u64::from(base + offset);
        assert_eq!(old.tracks[0].runs()[0].offset, start);
        let plan = [Protect::new(0, WriteAux::EmptySenc)];
        let bytes = FragmentEdit::new(&old).protect(&plan).finish(50).unwrap();
        let new = Fragment::parse(&bytes, 1050, &movie, 10_000).unwrap();
        let growth = if behind { (bytes.len() - moof.len()) as u64 } else { 0 };
        assert_eq!(new.tracks[0].runs()[0].offset, start + 50 + growth);
        assert_eq!(FragmentEdit::new(&new).unprotect(KeepPssh::No).finish(-50).unwrap(), moof);
        // A base in front of the `moof` stays where it is, even if all moves in front of it.
        let moves = match base {
            100 => 0,
            1000 => 50,
            _ => 50 + growth,
        };
        assert_eq!(new.tracks[0].base_offset, u64::from(base) + moves);
        // With `saio`, they count from the `moof`.
        let table = table(old.tracks[0].samples(), 8);
        let plan = [Protect::new(0, WriteAux::Full(&table))];
        let bytes = FragmentEdit::new(&old).protect(&plan).finish(50).unwrap();
        let new = Fragment::parse(&bytes, 1050, &movie, 10_000).unwrap();
        let growth = if behind { (bytes.len() - moof.len()) as u64 } else { 0 };
        assert_eq!(new.tracks[0].runs()[0].offset, start + 50 + growth);
        assert_eq!((new.tracks[0].base, new.tracks[0].base_offset), (Base::Explicit, 1050));
        check_aux(&bytes, 1050, &new.tracks[0], &table, 8);
    }
    // A base in front of the `moof` stays where it is, however far the rest moves towards it.
    let moof = hand_made(&[1 | DEFAULTS, 1, 0, 100, 10, 100], &[&[1, 2, 1500]]);
    let old = Fragment::parse(&moof, 1000, &movie, 10_000).unwrap();
    let bytes = FragmentEdit::new(&old).finish(-500).unwrap();
    let new = Fragment::parse(&bytes, 500, &movie, 10_000).unwrap();
    assert_eq!((new.tracks[0].base_offset, new.tracks[0].runs()[0].offset), (100, 1100));
}

#[test]
fn foreign_boxes_and_aux_types_stay() {
    let movie = init();
    // `saiz` and `saio` of another type, the latter pointing to a box in the same `traf`.
    let tfhd = full(b"tfhd", &[0x2_0000 | DEFAULTS, 1, 10, 100]);
    let trun = full(b"trun", &[1, 1, 500]);
    let saiz = mk(b"saiz", &[&words(&[1]), b"abcd", &words(&[0]), &[4, 0, 0, 0, 1]]);
    let data_at = 24 + 8 + tfhd.len() + trun.len() + saiz.len() + 24 + 8;
    let saio =
        mk(b"saio", &[&words(&[1]), b"abcd", &words(&[0, 1, u32::try_from(data_at).unwrap()])]);
    let saiz_len_fixed = saiz.len();
    assert_eq!(saiz_len_fixed, 25);
    let unknown = mk(b"abcd", &[b"data"]);
    let first = mk(b"traf", &[&tfhd, &trun]);
    let second = mk(b"traf", &[&tfhd, &trun, &saiz, &saio, &unknown]);
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &first, &second]);
    let old = Fragment::parse(&moof, 1000, &movie, 10_000).unwrap();
    assert!(!old.tracks[1].has_protection_boxes());
    let plan = [Protect::new(0, WriteAux::EmptySenc)];
    let bytes = FragmentEdit::new(&old).protect(&plan).finish(0).unwrap();
    let (a, b) = (find(&moof, b"saio"), find(&bytes, b"saio"));
    let value =
        |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at + 24..at + 28].try_into().unwrap());
    // The first `traf` grew by an empty `senc`; what `saio` points to moved with it.
    assert_eq!(value(&bytes, b), value(&moof, a) + 16);
    assert_eq!(b, a + 16);
    let new = Fragment::parse(&bytes, 1000, &movie, 10_000).unwrap();
    assert_eq!(FragmentEdit::new(&new).unprotect(KeepPssh::No).finish(0).unwrap(), moof);
}

#[test]
fn progressive_layout() {
    let clips = ["avc_aac.mp4", "flac.mp4"].into_iter().flat_map(clips).map(|clip| clip.path);
    for path in clips.chain(codec_clip(FILM)) {
        let file = std::fs::read(path).unwrap();
        let old = movie(&file);
        let len = file.len() as u64;
        let samples = |movie: &Movie, index: usize, len: u64| -> Vec<Sample> {
            movie.samples(&movie.tracks[index], len).unwrap().collect::<Result<_, _>>().unwrap()
        };
        let tables: Vec<_> = (0..old.tracks.len())
            .map(|index| table(samples(&old, index, len).into_iter(), 8))
            .collect();
        let mut plans = protection(&old, b"cenc", cenc());
        for (plan, table) in plans.iter_mut().zip(&tables) {
            plan.aux = Some(table);
        }
        let grown = protect_movie(&old, &plans, &[]).unwrap();
        let grown = Movie::parse(grown, old.offset()).unwrap();
        // `moov` to the front of a file whose media is beyond 4 GiB.
        let far = 5_u64 << 30;
        let mapped = std::cell::Cell::new(0);
        let map = |at: u64, moov_len: u64| {
            mapped.set(moov_len);
            Some(at + far + moov_len)
        };
        let moved = relocate_movie(&grown, 40, map).unwrap();
        let shift = far + mapped.get();
        assert_eq!(mapped.get(), moved.len() as u64);
        let new = Movie::parse(moved, 40).unwrap();
        let mut image = vec![0; 40];
        image.extend_from_slice(new.bytes());
        for index in 0..old.tracks.len() {
            let (a, b) = (samples(&old, index, len), samples(&new, index, len + shift));
            assert!(a.iter().map(|s| Sample { offset: s.offset + shift, ..*s }).eq(b));
            let aux = new.aux_info(&new.tracks[index], &image).unwrap();
            let mut cursor = aux.cursor();
            for sample in samples(&old, index, len) {
                cursor.next_sample(8, sample.size).unwrap();
            }
            cursor.finish().unwrap();
            let runs: Vec<_> = new.encryption_runs(&new.tracks[index], 1).collect();
            assert_eq!(runs, [(a.len() as u64, Some(&cenc()))]);
        }
        // Without `senc` the bytes `saio` points to are read; they must be the same.
        let mut hidden = new.bytes().to_vec();
        for at in 0..hidden.len() - 4 {
            if &hidden[at..at + 4] == b"senc" {
                hidden[at..at + 4].copy_from_slice(b"free");
            }
        }
        let hidden = Movie::parse(hidden, 40).unwrap();
        for index in 0..old.tracks.len() {
            let aux = hidden.aux_info(&hidden.tracks[index], &image).unwrap();
            let mut cursor = aux.cursor();
            for sample in samples(&old, index, len) {
                cursor.next_sample(8, sample.size).unwrap();
            }
            cursor.finish().unwrap();
        }
        // Back again without moving: identical.
        let back = unprotect_movie(&grown, None, KeepPssh::No).unwrap();
        assert_eq!(back, old.bytes());
        assert_eq!(relocate_movie(&old, old.offset(), |at, _| Some(at)).unwrap(), old.bytes());
    }
}
