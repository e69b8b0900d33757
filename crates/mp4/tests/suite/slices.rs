//! What a progressive file says of single samples is in the fragments as well: a reader that knows
//! nothing of the library expands the boxes of both, and they must say the same.

use lanelock_mp4::{
    Error, FourCc, Fragment, Movie, Result, Sample,
    compose::{NewSample, NewTrackFragment, moof},
    edit::{SampleInfoJoiner, SampleInfoSlicer, fragment_movie},
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

/// The samples of `moofs`, which have `old` samples each, in new fragments of `new` samples each: the boxes
/// of each.
fn join(init: &Movie, moofs: &[Vec<u8>], old: &[u32], new: &[u32]) -> Result<Vec<Vec<u8>>> {
    let mut start = 0;
    let boxes = new.iter().map(|&length| {
        let end = start + u64::from(length);
        let mut joiner = SampleInfoJoiner::new(init, &init.tracks[0])?;
        let mut first = 0;
        for (moof, &length) in moofs.iter().zip(old) {
            let last = first + u64::from(length);
            let own = start.max(first)..end.min(last);
            if !own.is_empty() {
                let fragment = Fragment::parse(moof, 0, init, 1 << 20)?;
                joiner.push(&fragment.tracks[0], own.start - first..own.end - first)?;
            }
            first = last;
        }
        start = end;
        Ok(joiner.finish())
    });
    boxes.collect()
}

/// The boxes of the progressive way.
fn sliced(movie: &Movie, lengths: &[u32]) -> Vec<Vec<u8>> {
    let mut slicer = SampleInfoSlicer::new(movie, &movie.tracks[0]).unwrap();
    let slices = lengths.iter().map(|&length| {
        let mut boxes = Vec::new();
        slicer.slice(length, &mut boxes);
        boxes
    });
    slices.collect()
}

/// Fragments that are cut anew have the boxes that the progressive file would have given.
#[test]
fn fragments_are_joined_as_if_they_had_not_been_cut() {
    let more = [
        sbgp(b"roll", None, &[[10, 1], [2, 3], [8, 2]]),
        sbgp(b"prol", Some(5), &[[20, 65_536]]),
        sbgp(b"prol", Some(6), &[[19, 3]]),
        subs(0, 0, &[(1, 2), (1, 0), (3, 1), (1, 4), (14, 3)]),
        subs(1, 9, &[(1, 2), (6, 300), (13, 1)]),
    ]
    .concat();
    let movie = movie(20, &[0; 4], &more);
    let init = init(&movie);
    let all = [&[20][..], &[7, 7, 6], &[10, 10], &[11, 9], &[1; 20], &[19, 1], &[4, 3, 13]];
    for old in all {
        let moofs = cut(&movie, old);
        for new in all {
            let joined = join(&init, &moofs, old, new).unwrap();
            assert!(joined == sliced(&movie, new), "{old:?} to {new:?}");
        }
    }
}

#[test]
fn fragments_are_joined_by_chance() {
    let mut rng = Rng::from_env("fragments_are_joined_by_chance");
    let lengths = |rng: &mut Rng, mut left: u32| {
        let mut lengths = Vec::new();
        while left > 0 {
            lengths.push(1 + u32::try_from(rng.below(left as usize)).unwrap());
            left -= lengths.last().unwrap();
        }
        lengths
    };
    for round in 0..300 {
        let samples = u32::try_from(1 + rng.below(40)).unwrap();
        // Every other time a default group, with which "no group" must be said.
        let has_default = round % 2 == 0;
        let mut more = Vec::new();
        if has_default {
            more = boxed(b"sgpd", &[&words(&[2 << 24]), b"roll", &words(&[2, 1, 0])]);
        }
        for kind in [b"roll", b"rap "] {
            let (mut left, mut runs) = (samples, Vec::new());
            while left > 0 && rng.below(8) > 0 {
                let run = u32::try_from(rng.below(left as usize + 1)).unwrap();
                runs.push([run, u32::try_from(rng.below(3)).unwrap()]);
                left -= run;
            }
            more.extend(sbgp(kind, None, &runs));
        }
        let movie = movie(samples, &[0; 4], &more);
        let [old, new] = [lengths(&mut rng, samples), lengths(&mut rng, samples)];
        let joined = join(&init(&movie), &cut(&movie, &old), &old, &new).unwrap();
        // What no box speaks of is in group 1 of `roll`.
        let described = |boxes: &[Vec<u8>]| {
            let all = boxes.iter().zip(&new).flat_map(|(boxes, &length)| said(boxes, length, true));
            all.map(|mut said| {
                let is_roll = |head: &[u8]| &head[4..8] == b"roll";
                if has_default && !said.groups.iter().any(|(head, _)| is_roll(head)) {
                    said.groups.push((b"\0\0\0\0roll".to_vec(), 1));
                }
                said.groups.retain(|(head, group)| *group != 0 || has_default && is_roll(head));
                said.groups.sort();
                said
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(described(&joined), described(&sliced(&movie, &new)), "{old:?} to {new:?}");
    }
}

/// A fragment of `samples` samples with these boxes.
fn fragment_with(samples: usize, boxes: &[u8]) -> Vec<u8> {
    let sample = NewSample { size: 1, duration: 10, flags: 0, composition_offset: 0 };
    let samples = vec![sample; samples];
    moof(1, &[NewTrackFragment::new(1, 0, &samples, 8).with_boxes(boxes)], &[]).unwrap()
}

fn sgpd(version: u32, kind: &[u8; 4], fields: &[u32], entries: &[u8]) -> Vec<u8> {
    boxed(b"sgpd", &[&words(&[version << 24]), kind, &words(fields), entries])
}

const LOCAL: u32 = 0x1_0000;

/// Descriptions of fragments go along under new indices, equal ones once.
#[test]
fn descriptions_of_fragments_go_along() {
    let init = init(&movie(20, &[0; 4], &[]));
    let local = |entries: &[u8], runs: &[[u32; 2]]| {
        let count = u32::try_from(entries.len() / 2).unwrap();
        let sgpd = sgpd(1, b"roll", &[2, count], entries);
        fragment_with(4, &[sgpd, sbgp(b"roll", None, runs)].concat())
    };
    let moofs = [
        local(&[0, 9, 0, 1, 0, 2], &[[1, LOCAL + 2], [2, LOCAL + 3], [1, 7]]),
        local(&[0, 2, 0, 4], &[[2, LOCAL + 1], [1, 0], [1, LOCAL + 2]]),
    ];
    let joined = join(&init, &moofs, &[4, 4], &[8]).unwrap();
    let expected = [
        sgpd(1, b"roll", &[2, 3], &[0, 1, 0, 2, 0, 4]),
        sbgp(
            b"roll",
            None,
            &[[1, LOCAL + 1], [2, LOCAL + 2], [1, 7], [2, LOCAL + 2], [1, 0], [1, LOCAL + 3]],
        ),
    ];
    assert_eq!(joined, [expected.concat()]);
    // One into several: each has the descriptions that it uses.
    let joined = join(&init, &moofs, &[4, 4], &[1, 3, 4]).unwrap();
    let expected = [sgpd(1, b"roll", &[2, 1], &[0, 1]), sbgp(b"roll", None, &[[1, LOCAL + 1]])];
    assert_eq!(joined[0], expected.concat());
    let expected =
        [sgpd(1, b"roll", &[2, 1], &[0, 2]), sbgp(b"roll", None, &[[2, LOCAL + 1], [1, 7]])];
    assert_eq!(joined[1], expected.concat());
    // Other versions: lengths that follow from the type; lengths of each; a default; an essential group.
    let of =
        |sgpd: Vec<u8>, runs| join(&init, &[fragment_with(2, &[sgpd, runs].concat())], &[2], &[2]);
    let index = |number| sbgp(b"roll", None, &[[2, LOCAL + number]]);
    let expected = [sgpd(1, b"roll", &[2, 1], &[0, 2]), index(1)].concat();
    let joined = of(sgpd(0, b"roll", &[2], &[0, 1, 0, 2]), index(2)).unwrap();
    assert_eq!(joined, [&expected[..]]);
    let lengths = [0, 0, 0, 1, 5, 0, 0, 0, 2, 0, 2];
    let joined = of(sgpd(1, b"roll", &[0, 2], &lengths), index(2)).unwrap();
    assert_eq!(joined, [&expected[..]]);
    let joined = of(sgpd(2, b"roll", &[2, 1, 1], &[0, 2]), Vec::new()).unwrap();
    assert_eq!(joined, [&expected[..]]);
    let joined = of(sgpd(3, b"roll", &[2, 0, 1], &[0, 2]), index(1)).unwrap();
    assert_eq!(joined, [[sgpd(3, b"roll", &[2, 0, 1], &[0, 2]), index(1)].concat()]);
    // `seig` stays out.
    let entry = [&[0, 0, 1, 8][..], &[7; 16]].concat();
    let seig = sgpd(1, b"seig", &[20, 1], &entry);
    let joined = of(seig, sbgp(b"seig", None, &[[2, LOCAL + 1]])).unwrap();
    assert_eq!(joined, [[0; 0]]);
}

/// Sizes of sub-samples of 16 bits become such of 32 where others have them.
#[test]
fn subsamples_of_both_versions() {
    let init = init(&movie(20, &[0; 4], &[]));
    let moofs =
        [fragment_with(2, &subs(0, 5, &[(2, 1)])), fragment_with(2, &subs(1, 5, &[(1, 1)]))];
    let joined = join(&init, &moofs, &[2, 2], &[4]).unwrap();
    let mut expected = words(&[1 << 24 | 5, 2, 2]);
    expected.extend([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend(words(&[1]));
    expected.extend([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(joined, [boxed(b"subs", &[&expected])]);
}

#[test]
fn damaged_boxes_of_fragments_are_refused() {
    let init = init(&movie(20, &[0; 4], &[]));
    let index = |index| sbgp(b"roll", None, &[[2, index]]);
    for (boxes, what) in [
        (sbgp(b"roll", None, &[[3, 1]]), "samples covered by `sbgp`: expected 2, found 3"),
        (sbgp(b"roll", None, &[[u32::MAX, 1]; 3]), "samples covered by `sbgp`"),
        (index(LOCAL + 1), "group_description_index is 65537"),
        ([sgpd(1, b"roll", &[2, 1], &[0, 1]), index(LOCAL + 2)].concat(), "is 65538"),
        ([sgpd(1, b"roll", &[2, 1], &[0, 1]), index(u32::MAX)].concat(), "is 4294967295"),
        (sgpd(1, b"roll", &[2, 1], &[0, 1]).repeat(2), "second `sgpd` box"),
        (index(1).repeat(2), "second `sbgp` box"),
        (subs(0, 0, &[(1, 1)]).repeat(2), "second `subs` box"),
        (sgpd(1, b"roll", &[2, u32::MAX], &[0, 1]), "group descriptions: 4294967295 entries"),
        (sgpd(1, b"roll", &[0, u32::MAX], &[0, 1]), "group descriptions: 4294967295 entries"),
        (sgpd(0, b"roll", &[u32::MAX], &[]), "group descriptions: 4294967295 entries"),
        (sgpd(0, b"roll", &[2], &[1, 2, 3]), "entries of several lengths"),
        (sgpd(1, b"roll", &[0, 1], &[0, 0, 1, 0]), "group description needs"),
        (sgpd(2, b"roll", &[2, 2, 1], &[0, 1]), "default_group_description_index is 2"),
        (boxed(b"sbgp", &[&[0; 4], b"roll", &words(&[9])]), "sample groups: 9 entries"),
        (boxed(b"csgp", &[&[0; 4], b"roll", &words(&[0, 0])]), "compact sample groups"),
        (full(b"subs", &[0, 0]).repeat(1002), "more than a thousand boxes"),
        (subs(0, 0, &[(0, 1)]), "sample 0: sub-samples of a sample that does not exist"),
        (subs(0, 0, &[(3, 1)]), "sample 3: sub-samples of a sample that does not exist"),
        (full(b"subs", &[0, u32::MAX]), "sample_delta needs 4 bytes"),
    ] {
        let error = join(&init, &[fragment_with(2, &boxes)], &[2], &[2]).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// Whatever a damaged byte says, the result is an error or boxes that can be read.
#[test]
fn mutants_of_fragments() {
    let init = init(&movie(20, &[0; 4], &[]));
    let boxes = [
        sgpd(1, b"roll", &[2, 2], &[0, 1, 0, 2]),
        sgpd(3, b"prol", &[0, 1, 1], &[0, 0, 0, 2, 0, 2]),
        sbgp(b"roll", None, &[[3, LOCAL + 1], [2, 0], [1, LOCAL + 2]]),
        sbgp(b"prol", Some(5), &[[5, 1]]),
        subs(0, 0, &[(1, 2), (1, 0), (3, 1)]),
        subs(1, 1, &[(2, 1), (4, 2)]),
    ];
    let bytes = fragment_with(6, &boxes.concat());
    let mut taken = 0;
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
            let mut mutant = bytes.clone();
            mutant[at] = value;
            let Ok(fragment) = Fragment::parse(&mutant, 0, &init, 1 << 20) else { continue };
            let mut joiner = SampleInfoJoiner::new(&init, &init.tracks[0]).unwrap();
            let pushed = fragment.tracks.iter().all(|traf| {
                let all = traf.sample_count;
                [0..all, all.min(2)..all, 0..all.min(3)]
                    .into_iter()
                    .all(|range| joiner.push(traf, range).is_ok())
            });
            if pushed {
                let boxes = joiner.finish();
                leaves(&boxes);
                taken += 1;
            }
        }
    }
    assert!(taken > 500, "{taken}");
}
