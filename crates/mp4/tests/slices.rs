//! What a progressive file says of single samples is in the fragments as well: a reader that knows
//! nothing of the library expands the boxes of both, and they must say the same.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::trivially_copy_pass_by_ref,
    reason = "test helpers fail by panicking, say what they skip, and take box types as literals"
)]

use lanelock_mp4::{
    Error, FourCc, Fragment, Movie, Result, Sample,
    compose::{NewSample, NewTrackFragment, moof},
    edit::{SampleInfoSlicer, fragment_movie},
};
use lanelock_testkit::{
    Rng,
    boxes::{boxed, full, words},
};

/// A movie of one track with `samples` samples of a byte each, and `more` in `stbl`.
fn movie(samples: u32, component: &[u8; 4], more: &[u8]) -> Movie {
    let entry = boxed(b"avc1", &[&[0; 78]]);
    let stsd = boxed(b"stsd", &[&words(&[0, 1]), &entry]);
    let tables = [
        full(b"stts", &[0, 1, samples, 10]),
        full(b"stss", &[0, 2, 1, 5]),
        full(b"stsc", &[0, 1, 1, samples, 1]),
        full(b"stsz", &[0, 1, samples]),
        full(b"stco", &[0, 1, 8]),
    ];
    let stbl = boxed(b"stbl", &[&stsd, &tables.concat(), more]);
    let mdhd = full(b"mdhd", &[0, 0, 0, 1000, 20, 0x55c4_0000]);
    let hdlr = boxed(b"hdlr", &[&[0; 4], component, b"vide", &[0; 13]]);
    let mdia = boxed(b"mdia", &[&mdhd, &hdlr, &boxed(b"minf", &[&stbl])]);
    let tkhd = boxed(b"tkhd", &[&words(&[0, 0, 0, 1]), &[0; 68]]);
    let mvhd = boxed(b"mvhd", &[&words(&[0, 0, 0, 1000, 20]), &[0; 80]]);
    let trak = boxed(b"trak", &[&tkhd, &mdia]);
    Movie::parse(boxed(b"moov", &[&mvhd, &trak]), 0).unwrap()
}

/// The fragments with `lengths` samples each: their `moof` boxes.
fn cut(movie: &Movie, lengths: &[u32]) -> Vec<Vec<u8>> {
    let track = &movie.tracks[0];
    let samples: Result<Vec<Sample>> = movie.samples(track, 1 << 20).unwrap().collect();
    let samples: Vec<NewSample> = samples.unwrap().into_iter().map(NewSample::from).collect();
    let mut slicer = SampleInfoSlicer::new(movie, track).unwrap();
    let mut rest = &samples[..];
    let moofs = lengths.iter().map(|&length| {
        let (own, later) = rest.split_at(length as usize);
        rest = later;
        let mut boxes = Vec::new();
        let position = slicer.position();
        slicer.slice(length, &mut boxes);
        // Going on from a position is the same.
        let (before, mut again) = (slicer.position(), Vec::new());
        slicer = SampleInfoSlicer::resume(movie, track, position).unwrap();
        slicer.slice(length, &mut again);
        assert!(again == boxes && slicer.position() == before);
        let traf = NewTrackFragment::new(1, 0, own, 8).with_boxes(&boxes);
        moof(1, &[traf], &[]).unwrap()
    });
    let moofs = moofs.collect();
    assert!(rest.is_empty());
    moofs
}

/// Boxes below the containers of a `moov` or `moof`: type and payload.
fn leaves(bytes: &[u8]) -> Vec<([u8; 4], &[u8])> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let (this, later) = rest.split_at(size);
        let kind: [u8; 4] = this[4..8].try_into().unwrap();
        match &kind {
            b"moov" | b"trak" | b"mdia" | b"minf" | b"stbl" | b"moof" | b"traf" => {
                out.extend(leaves(&this[8..]));
            }
            _ => out.push((kind, &this[8..])),
        }
        rest = later;
    }
    out
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// What is said of one sample: for each `sbgp`, by its head, the group; for each `subs`, by its
/// head, the entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    groups: Vec<(Vec<u8>, u32)>,
    subsamples: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Expands the boxes of a `moov` or `moof` with `samples` samples. Group 0 says nothing, unless
/// `zeros`.
fn said(bytes: &[u8], samples: u32, zeros: bool) -> Vec<Said> {
    let mut out = vec![Said::default(); samples as usize];
    for (kind, payload) in leaves(bytes) {
        match &kind {
            b"sbgp" => {
                let head = if payload[0] == 1 { 12 } else { 8 };
                let mut next = 0;
                for run in payload[head + 4..].chunks_exact(8) {
                    for _ in 0..word(run, 0) {
                        if zeros || word(run, 4) != 0 {
                            out[next].groups.push((payload[..head].to_vec(), word(run, 4)));
                        }
                        next += 1;
                    }
                }
                assert_eq!(payload[head + 4..].len(), word(payload, head) as usize * 8);
            }
            b"subs" => {
                let width = if payload[0] == 1 { 10 } else { 8 };
                let (mut at, mut sample) = (8, 0);
                for _ in 0..word(payload, 4) {
                    sample += word(payload, at) as usize;
                    let count = usize::from(u16::from_be_bytes([payload[at + 4], payload[at + 5]]));
                    let entry = payload[at + 4..at + 6 + count * width].to_vec();
                    out[sample - 1].subsamples.push((payload[..4].to_vec(), entry));
                    at += 6 + count * width;
                }
                assert_eq!(at, payload.len());
            }
            _ => {}
        }
    }
    out
}

fn sbgp(kind: &[u8; 4], parameter: Option<u32>, runs: &[[u32; 2]]) -> Vec<u8> {
    let version = u32::from(parameter.is_some()) << 24;
    let parameter = parameter.map(|parameter| words(&[parameter])).unwrap_or_default();
    let count = words(&[u32::try_from(runs.len()).unwrap()]);
    boxed(b"sbgp", &[&words(&[version]), kind, &parameter, &count, &words(runs.as_flattened())])
}

fn subs(version: u32, flags: u32, entries: &[(u32, u16)]) -> Vec<u8> {
    let mut payload = words(&[version << 24 | flags, u32::try_from(entries.len()).unwrap()]);
    for (number, &(delta, count)) in entries.iter().enumerate() {
        payload.extend_from_slice(&words(&[delta]));
        payload.extend_from_slice(&count.to_be_bytes());
        let byte = u8::try_from(number % 251).unwrap();
        let width = if version == 1 { 10 } else { 8 };
        payload.extend(std::iter::repeat_n(byte, usize::from(count) * width));
    }
    boxed(b"subs", &[&payload])
}

/// The movie of the fragments, which says nothing of single samples, and describes the groups as before.
fn init(movie: &Movie) -> Movie {
    let init = Movie::parse(fragment_movie(movie).unwrap(), 0).unwrap();
    let count = |movie: &Movie, kinds: &[&[u8; 4]]| {
        leaves(movie.bytes()).into_iter().filter(|(kind, _)| kinds.contains(&kind)).count()
    };
    assert_eq!(count(&init, &[b"sbgp", b"subs", b"sdtp", b"padb", b"stdp", b"stss"]), 0);
    assert_eq!(count(&init, &[b"sgpd"]), count(movie, &[b"sgpd"]));
    init
}

/// Checks that fragments of these lengths say what the movie says.
fn check(movie: &Movie, lengths: &[u32], zeros: bool) {
    let expected = said(movie.bytes(), lengths.iter().sum(), zeros);
    let moofs = cut(movie, lengths);
    let found: Vec<Said> =
        moofs.iter().zip(lengths).flat_map(|(moof, &length)| said(moof, length, zeros)).collect();
    assert_eq!(found, expected, "{lengths:?}");
    let init = init(movie);
    for moof in &moofs {
        Fragment::parse(moof, 0, &init, 1 << 20).unwrap();
    }
}

#[test]
fn groups_and_subsamples_are_cut() {
    let more = [
        sbgp(b"roll", None, &[[10, 1], [2, 0], [8, 2]]),
        sbgp(b"sync", None, &[[1, 1], [0, 7], [3, 0], [1, 1]]),
        sbgp(b"prol", Some(5), &[[20, 65_536]]),
        sbgp(b"prol", Some(6), &[[19, 3]]),
        subs(0, 0, &[(1, 2), (1, 0), (3, 1), (0, 4), (15, 3)]),
        subs(1, 0, &[(20, 1)]),
        subs(0, 9, &[(7, 300)]),
    ]
    .concat();
    let movie = movie(20, &[0; 4], &more);
    for lengths in [&[20][..], &[7, 7, 6], &[10, 10], &[11, 9], &[1; 20], &[19, 1], &[4, 3, 13]] {
        check(&movie, lengths, false);
    }
    // Samples without any of it have no boxes.
    let cut = cut(&movie, &[5, 1, 14]);
    let plain: Vec<_> = leaves(&cut[1]).iter().map(|leaf| FourCc(leaf.0).to_string()).collect();
    assert_eq!(plain, ["mfhd", "tfhd", "tfdt", "trun", "sbgp", "sbgp", "sbgp"]);
}

#[test]
fn tables_by_chance() {
    let mut rng = Rng::from_env("tables_by_chance");
    for _ in 0..200 {
        let samples = u32::try_from(1 + rng.below(40)).unwrap();
        let mut more = Vec::new();
        for kind in [b"roll", b"rap ", b"tele"] {
            let (mut left, mut runs) = (samples, Vec::new());
            while left > 0 && rng.below(8) > 0 {
                let run = u32::try_from(rng.below(left as usize + 1)).unwrap();
                runs.push([run, u32::try_from(rng.below(3)).unwrap()]);
                left -= run;
            }
            more.extend(sbgp(kind, None, &runs));
        }
        let (mut last, mut entries) = (0, Vec::new());
        while last < samples && rng.below(8) > 0 {
            let delta = 1 + u32::try_from(rng.below((samples - last) as usize)).unwrap();
            entries.push((delta, u16::try_from(rng.below(3)).unwrap()));
            last += delta;
        }
        more.extend(subs(1, 3, &entries));
        let movie = movie(samples, &[0; 4], &more);
        let (mut left, mut lengths) = (samples, Vec::new());
        while left > 0 {
            let length = 1 + u32::try_from(rng.below(left as usize)).unwrap();
            lengths.push(length);
            left -= length;
        }
        check(&movie, &lengths, false);
    }
}

/// With a default group, "in no group" is not the same as "not said".
#[test]
fn no_group_is_said_where_there_is_a_default() {
    let more = |version: u32, default: u32| {
        let sgpd = boxed(b"sgpd", &[&words(&[version << 24]), b"roll", &words(&[2, default, 0])]);
        [sgpd, sbgp(b"roll", None, &[[8, 0], [4, 1]])].concat()
    };
    check(&movie(20, &[0; 4], &more(2, 1)), &[5, 5, 5, 5], true);
    for (version, default) in [(1, 1), (2, 0)] {
        let moofs = cut(&movie(20, &[0; 4], &more(version, default)), &[5, 5, 5, 5]);
        let has = |moof: &Vec<u8>| moof.windows(4).any(|window| window == b"sbgp");
        assert_eq!(moofs.iter().map(has).collect::<Vec<_>>(), [false, true, true, false]);
    }
}

#[test]
fn flags_of_samples() {
    let dependencies: [u8; 6] = [0x20, 0x18, 0x55, 0x10, 0x24, 0xff];
    let sdtp = boxed(b"sdtp", &[&[0; 4], &dependencies]);
    let padb = boxed(b"padb", &[&words(&[0, 6]), &[0x12, 0x30, 0x07]]);
    let stdp = boxed(b"stdp", &[&[0; 4], &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0xff, 0xff]]);
    let flags = |component, more: &[&[u8]]| -> Vec<u32> {
        let movie = movie(6, component, &more.concat());
        let init = init(&movie);
        let moofs = cut(&movie, &[2, 4]);
        let flags = moofs.iter().flat_map(|moof| {
            let fragment = Fragment::parse(moof, 0, &init, 1 << 20).unwrap();
            fragment.tracks[0].samples().map(|sample| sample.flags).collect::<Vec<_>>()
        });
        flags.collect()
    };
    // Samples 1 and 5 are sync samples.
    let plain = [0x0200_0000, 0x0101_0000, 0x0101_0000, 0x0101_0000, 0x0200_0000, 0x0101_0000];
    assert_eq!(flags(&[0; 4], &[]), plain);
    let depend = [0x0200_0000, 0x0181_0000, 0x0551_0000, 0x0101_0000, 0x0240_0000, 0x0ff1_0000];
    assert_eq!(flags(&[0; 4], &[&sdtp]), depend);
    // QuickTime has another meaning for the bits of leading samples.
    let quicktime = [0x0200_0000, 0x0181_0000, 0x0151_0000, 0x0101_0000, 0x0240_0000, 0x03f1_0000];
    assert_eq!(flags(b"mhlr", &[&sdtp]), quicktime);
    let all = [0x0202_0001, 0x0185_0002, 0x0557_0003, 0x0101_0004, 0x0240_0005, 0x0fff_ffff];
    assert_eq!(flags(&[0; 4], &[&sdtp, &padb, &stdp]), all);
}

fn refused(more: &[u8]) -> String {
    let movie = movie(6, &[0; 4], more);
    let error: Error = fragment_movie(&movie).unwrap_err();
    assert!(SampleInfoSlicer::new(&movie, &movie.tracks[0]).is_err());
    error.to_string()
}

#[test]
fn damaged_tables_are_refused() {
    for (more, what) in [
        (sbgp(b"roll", None, &[[7, 1]]), "samples covered by `sbgp`: expected 6, found 7"),
        (sbgp(b"roll", None, &[[3, 65_537]]), "group_description_index is 65537"),
        (boxed(b"sbgp", &[&[0; 4], b"roll", &words(&[9])]), "sample groups: 9 entries"),
        (boxed(b"csgp", &[&[0; 4], b"roll", &words(&[0, 0])]), "compact sample groups"),
        (full(b"subs", &[0, 0]).repeat(1002), "more than a thousand boxes"),
        (subs(0, 0, &[(0, 1)]), "sample 0: sub-samples of a sample that does not exist"),
        (subs(0, 0, &[(7, 1)]), "sample 7: sub-samples of a sample that does not exist"),
        (subs(0, 0, &[(1, 1), (u32::MAX, 1)]), "sample 4294967296: sub-samples"),
        (full(b"subs", &[0, u32::MAX]), "sample_delta needs 4 bytes"),
        (full(b"subs", &[0, 1, 1, 0x7fff_0000]), "sub-samples needs"),
        (boxed(b"sdtp", &[&[0; 9]]), "samples in `sdtp`: expected 6, found 5"),
        (boxed(b"stdp", &[&[0; 15]]), "samples in `stdp`: expected 6, found 5"),
        (boxed(b"padb", &[&[0; 10]]), "samples in `padb`: expected 6, found 4"),
    ] {
        let text = refused(&more);
        assert!(text.contains(what), "{text}");
    }
    // Such tables matter to fragments only.
    let short = movie(6, &[0; 4], &boxed(b"sdtp", &[&[]]));
    assert_eq!(short.samples(&short.tracks[0], 1 << 20).unwrap().count(), 6);
}

#[test]
fn positions_of_other_tracks_and_movies() {
    let long =
        movie(20, &[0; 4], &[sbgp(b"roll", None, &[[10, 1]; 2]), subs(0, 0, &[(20, 9)])].concat());
    let slicer = SampleInfoSlicer::new(&long, &long.tracks[0]).unwrap();
    let mut other = long.tracks[0].clone();
    other.id = 2;
    let error = SampleInfoSlicer::resume(&long, &other, slicer.position()).unwrap_err();
    assert!(error.to_string().contains("belongs to another track"), "{error}");
    // A `moov` that ends before the tables do.
    let short = movie(1, &[0; 4], &[]);
    let mut slicer = SampleInfoSlicer::resume(&short, &short.tracks[0], slicer.position()).unwrap();
    let mut boxes = Vec::new();
    slicer.slice(20, &mut boxes);
    assert!(boxes.is_empty());
}

/// Groups of protection belong to the progressive file, and are dropped.
#[test]
fn seig_is_left_out() {
    let entry = [&[0, 0, 1, 8][..], &[7; 16]].concat();
    let sgpd = boxed(b"sgpd", &[&words(&[1 << 24]), b"seig", &words(&[20, 1]), &entry]);
    let movie = movie(6, &[0; 4], &[sgpd, sbgp(b"seig", None, &[[6, 1]])].concat());
    let moofs = cut(&movie, &[6]);
    assert!(!moofs[0].windows(4).any(|window| window == b"sbgp"));
    let init = fragment_movie(&movie).unwrap();
    assert!(!init.windows(4).any(|window| window == b"sbgp"));
    assert!(init.windows(4).any(|window| window == b"mvex"));
}

/// Whatever a damaged byte says, the result is an error or boxes that can be read.
#[test]
fn mutants() {
    let more = [
        sbgp(b"roll", None, &[[3, 1], [2, 0], [1, 2]]),
        sbgp(b"prol", Some(5), &[[6, 1]]),
        subs(0, 0, &[(1, 2), (1, 0), (3, 1)]),
        subs(1, 0, &[(2, 1), (4, 2)]),
        boxed(b"sdtp", &[&[0; 10]]),
        boxed(b"padb", &[&words(&[0, 6]), &[0; 3]]),
        boxed(b"stdp", &[&[0; 16]]),
    ];
    let intact = movie(6, &[0; 4], &more.concat());
    let mut slicer = SampleInfoSlicer::new(&intact, &intact.tracks[0]).unwrap();
    let positions = [0, 1, 1, 2, 2].map(|length| {
        slicer.slice(length, &mut Vec::new());
        slicer.position()
    });
    let bytes = intact.bytes().to_vec();
    let mut taken = 0;
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
            let mut mutant = bytes.clone();
            mutant[at] = value;
            let Ok(movie) = Movie::parse(mutant, 0) else { continue };
            let Some(track) = movie.tracks.first() else { continue };
            // Positions that were taken in another movie.
            for position in &positions {
                let resumed = SampleInfoSlicer::resume(&movie, track, position.clone());
                let Ok(mut slicer) = resumed else { continue };
                for length in [1, 3, u32::MAX, u32::MAX] {
                    slicer.slice(length, &mut Vec::new());
                }
            }
            let samples = movie.samples(track, 1 << 20).map(Iterator::count);
            let Ok(mut slicer) = SampleInfoSlicer::new(&movie, track) else { continue };
            // More samples than there are do no harm.
            for length in [2, 0, 3, 9, u32::MAX] {
                let mut boxes = Vec::new();
                slicer.slice(length, &mut boxes);
                leaves(&boxes);
            }
            taken += usize::from(samples.is_ok());
        }
    }
    assert!(taken > 500, "{taken}");
}
