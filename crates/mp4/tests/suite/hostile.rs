//! Inputs that have broken other packagers, one test each (those in fragments are in
//! `hostile_fragments.rs`): they must give an error that names
//! the box, or be read right; never a panic, a hang or an allocation beyond the input.

use crate::common::{boxes, clip, moofs, movie, vector};
use lanelock_mp4::{
    BoxRef, Error, ErrorKind, FourCc, Fragment, MAX_DEPTH, Movie, Result, Sample,
    edit::{KeepPssh, fragment_movie, unprotect_movie},
    top_level,
};
use lanelock_testkit::boxes::{boxed as mk, find, full, grow, words};

const AVC: &str = "avc.mp4";
const CENC: &str = "prog_8s_enc_dashinit.mp4";

/// `moov` of a clip with the words after the header of the first `kind` box replaced, from
/// word `from` on (0 is version and flags).
fn patched(name: &str, kind: &[u8; 4], from: usize, values: &[u32]) -> Vec<u8> {
    let mut bytes = movie(&clip(name)).into_bytes();
    let at = find(&bytes, kind) + 8 + 4 * from;
    let values = words(values);
    bytes[at..at + values.len()].copy_from_slice(&values);
    bytes
}

fn renamed(mut bytes: Vec<u8>, from: &[u8; 4], to: &[u8; 4]) -> Vec<u8> {
    let at = find(&bytes, from) + 4;
    bytes[at..at + 4].copy_from_slice(to);
    bytes
}

/// Runs through everything a movie can be asked for.
fn exhaust(bytes: Vec<u8>, file_len: u64) -> Result<usize> {
    let movie = Movie::parse(bytes, 0)?;
    let mut count = 0;
    for track in &movie.tracks {
        for sample in movie.samples(track, file_len)? {
            sample?;
            count += 1;
        }
    }
    Ok(count)
}

fn expect_error(bytes: Vec<u8>, path: &str) -> Error {
    let error = exhaust(bytes, 1 << 20).unwrap_err();
    assert_eq!(error.path(), path, "{error}");
    error
}

const STBL: &str = "moov/trak/mdia/minf/stbl";

fn init() -> Movie {
    let init = fragment_movie(&movie(&clip(AVC))).unwrap();
    Movie::parse(init, 0).unwrap()
}

// Box sizes.

#[test]
fn size_0_inside_a_container() {
    let bytes = mk(b"moov", &[b"\0\0\0\0trak....."]);
    let error = Movie::parse(bytes, 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OpenSize { .. }));
    assert_eq!((error.path(), error.offset()), ("moov/trak", 8));
}

#[test]
fn size_0_at_top_level_runs_to_the_end() {
    let mut bytes = movie(&clip(AVC)).into_bytes();
    bytes[..4].fill(0);
    assert_eq!(exhaust(bytes, 1 << 20).unwrap(), 50);
}

#[test]
fn size_1_without_64_bit_size() {
    let error = Movie::parse(mk(b"moov", &[b"\0\0\0\x01trak"]), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::HeaderTruncated { available: 8 }));
}

#[test]
fn size_below_the_header() {
    for size in 2..8 {
        let error = Movie::parse(mk(b"moov", &[&words(&[size]), b"trak"]), 0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::SizeTooSmall { .. }));
    }
    let error = Movie::parse(mk(b"moov", &[&words(&[1]), b"trak", &[0; 8]]), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::SizeTooSmall { header: 16, .. }));
}

#[test]
fn size_beyond_the_parent() {
    let error = Movie::parse(mk(b"moov", &[&words(&[0x7fff_ffff]), b"trak"]), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Overrun { available: 8, .. }));
}

#[test]
fn size_of_64_bits_that_wraps() {
    for size in [u64::MAX, u64::MAX - 7, 1 << 63] {
        let trak = [&words(&[1])[..], b"trak", &size.to_be_bytes()].concat();
        let error = Movie::parse(mk(b"moov", &[&trak]), 0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Overrun { .. }));
        let file = [&mk(b"free", &[])[..], &trak].concat();
        let error = top_level(&file).nth(1).unwrap().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }));
    }
}

#[test]
fn size_of_64_bits_that_is_right() {
    let bytes = movie(&clip(AVC)).into_bytes();
    let size = bytes.len() as u64 + 8;
    let wide = [&words(&[1])[..], b"moov", &size.to_be_bytes(), &bytes[8..]].concat();
    let movie = Movie::parse(wide, 0).unwrap();
    assert_eq!(movie.tracks[0].sample_count(), 50);
}

#[test]
fn boxes_nested_too_deep() {
    let mut bytes = mk(b"moov", &[]);
    for _ in 0..=MAX_DEPTH {
        bytes = mk(b"moov", &[&bytes]);
    }
    let mut inner = BoxRef::root(&bytes, 0).unwrap();
    let error = loop {
        match inner.child(b"moov") {
            Ok(child) => inner = child.unwrap(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::TooDeep { limit: MAX_DEPTH }));
}

#[test]
fn trailing_garbage_at_top_level() {
    let file = [&mk(b"free", &[])[..], b"junk"].concat();
    let error = top_level(&file).nth(1).unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::HeaderTruncated { available: 4 }));
    assert_eq!(error.offset(), 8);
}

#[test]
fn truncated_mdat() {
    let mut file = vector(CENC);
    file.truncate(file.len() - 10);
    let error = top_level(&file).find_map(Result::err).unwrap();
    assert!(matches!(error.kind(), ErrorKind::Truncated { missing: 10, .. }));
    assert_eq!(error.path(), "mdat");
}

#[test]
fn several_and_empty_mdat_before_moov() {
    let file = clip(AVC);
    let empty = mk(b"mdat", &[]);
    let file = [&empty[..], &empty, &file].concat();
    assert_eq!(boxes(&file).iter().filter(|header| header.kind == b"mdat").count(), 3);
    assert_eq!(movie(&file).tracks.len(), 1);
}

// Movie and tracks.

#[test]
fn required_boxes_renamed() {
    let file = clip(AVC);
    for (kind, path) in [
        (b"mvhd", "moov"),
        (b"tkhd", "moov/trak"),
        (b"mdia", "moov/trak"),
        (b"mdhd", "moov/trak/mdia"),
        (b"hdlr", "moov/trak/mdia"),
        (b"stsd", STBL),
        (b"stts", STBL),
        (b"stsc", STBL),
        (b"stco", STBL),
    ] {
        let error = expect_error(renamed(movie(&file).into_bytes(), kind, b"free"), path);
        assert!(matches!(error.kind(), ErrorKind::Missing { .. }), "{error}");
    }
}

#[test]
fn protection_boxes_renamed_or_doubled() {
    let file = vector(CENC);
    let sinf = "moov/trak[0]/mdia/minf/stbl/stsd/encv/sinf";
    for kind in [b"frma", b"schm", b"schi", b"tenc"] {
        let error = expect_error(renamed(movie(&file).into_bytes(), kind, b"free"), sinf);
        assert!(matches!(error.kind(), ErrorKind::Missing { .. }), "{error}");
    }
    let entry = "moov/trak[0]/mdia/minf/stbl/stsd/encv";
    let error = expect_error(renamed(movie(&file).into_bytes(), b"sinf", b"free"), entry);
    assert!(matches!(error.kind(), ErrorKind::Missing { .. }), "{error}");
    // `schm` becomes a second `frma`, `frma` a second `schm`.
    let error = expect_error(
        renamed(movie(&file).into_bytes(), b"schm", b"frma"),
        &format!("{sinf}/frma[1]"),
    );
    assert!(matches!(error.kind(), ErrorKind::Duplicate { .. }), "{error}");
    // What is no `sinf` inside.
    let bytes = renamed(movie(&file).into_bytes(), b"btrt", b"sinf");
    assert!(Movie::parse(bytes, 0).unwrap_err().path().contains("stsd/encv/sinf[0]"));
}

#[test]
fn original_format_that_is_a_protected_one() {
    let mut bytes = movie(&vector(CENC)).into_bytes();
    let at = find(&bytes, b"frma") + 8;
    bytes[at..at + 4].copy_from_slice(b"encv");
    let error = expect_error(bytes, "moov/trak[0]/mdia/minf/stbl/stsd/encv/sinf");
    assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "{error}");
}

#[test]
fn doubled_tenc() {
    let file = vector(CENC);
    // `schm` has 20 bytes, too few for a `tenc`, but doubling is noticed first.
    let mut bytes = movie(&file).into_bytes();
    let at = find(&bytes, b"schi");
    let tenc = bytes[at + 8..at + 40].to_vec();
    let extra = [tenc.as_slice(), &tenc].concat();
    bytes.splice(at + 8..at + 40, extra);
    grow(
        &mut bytes,
        &[b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"encv", b"sinf", b"schi"],
        32,
    );
    let path = "moov/trak[0]/mdia/minf/stbl/stsd/encv/sinf/schi/tenc[1]";
    let error = expect_error(bytes, path);
    assert!(matches!(error.kind(), ErrorKind::Duplicate { .. }), "{error}");
}

#[test]
fn two_tracks_of_one_id() {
    let file = clip("avc_aac.mp4");
    let mut bytes = movie(&file).into_bytes();
    let second = bytes.windows(4).rposition(|window| window == b"tkhd").unwrap();
    bytes[second + 19] = 1;
    let error = expect_error(bytes, "moov");
    assert!(matches!(error.kind(), ErrorKind::DuplicateTrack { id: 1 }));
}

#[test]
fn unknown_sample_entry() {
    let file = clip(AVC);
    let bytes = renamed(movie(&file).into_bytes(), b"avc1", b"\0\xffzz");
    let movie = Movie::parse(bytes, 0).unwrap();
    assert_eq!(movie.tracks[0].entries[0].format, FourCc(*b"\0\xffzz"));
    assert!(unprotect_movie(&movie, None, KeepPssh::No).is_err());
}

#[test]
fn sample_entry_cut_short() {
    let stsd = full(b"stsd", &[0, 1]);
    let entry = mk(b"avc1", &[&[0; 20]]);
    let stsd = mk(b"stsd", &[&stsd[8..], &entry]);
    let hdlr = mk(b"hdlr", &[&words(&[0, 0]), b"vide", &[0; 13]]);
    let mdia = mk(
        b"mdia",
        &[&full(b"mdhd", &[0, 0, 0, 1, 0, 0]), &hdlr, &mk(b"minf", &[&mk(b"stbl", &[&stsd])])],
    );
    let trak = mk(b"trak", &[&mk(b"tkhd", &[&words(&[0, 0, 0, 1]), &[0; 68]]), &mdia]);
    let mvhd = mk(b"mvhd", &[&[0; 100]]);
    let error = expect_error(mk(b"moov", &[&mvhd, &trak]), "moov/trak/mdia/minf/stbl/stsd/avc1");
    assert!(matches!(error.kind(), ErrorKind::Short { .. }), "{error}");
}

#[test]
fn stsd_count_beyond_the_box_or_wrong() {
    let bytes = patched(AVC, b"stsd", 1, &[u32::MAX]);
    let error = expect_error(bytes, &format!("{STBL}/stsd"));
    assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
    for count in [0, 2] {
        let bytes = patched(AVC, b"stsd", 1, &[count]);
        let error = expect_error(bytes, &format!("{STBL}/stsd"));
        assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }), "{error}");
    }
}

#[test]
fn several_sample_entries() {
    let file = vector(CENC);
    let movie = movie(&file);
    let stbl = movie.root().unwrap().children().filter_map(Result::ok);
    let trak = stbl.into_iter().find(|child| child.kind() == b"trak").unwrap();
    let stbl =
        [b"mdia", b"minf", b"stbl"].iter().fold(trak, |parent, kind| parent.require(kind).unwrap());
    let stsd = stbl.require(b"stsd").unwrap();
    let entry = stsd.children().next().unwrap().unwrap();
    // A second, clear entry behind the protected one.
    let clear = renamed(entry.bytes().to_vec(), b"encv", b"avc1");
    let clear = renamed(clear, b"sinf", b"free");
    let mut bytes = movie.bytes().to_vec();
    bytes.splice(stsd.range().end..stsd.range().end, clear.iter().copied());
    grow(&mut bytes, &[b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd"], clear.len());
    let at = find(&bytes, b"stsd") + 12;
    bytes[at + 3] = 2;
    let both = Movie::parse(bytes, 0).unwrap();
    let entries = &both.tracks[0].entries;
    assert_eq!(entries.len(), 2);
    assert!(entries[0].protection.is_some() && entries[1].protection.is_none());
    assert!(both.tracks[0].encryption(1).is_some() && both.tracks[0].encryption(2).is_none());
    assert!(both.tracks[0].entry(0).is_none() && both.tracks[0].entry(3).is_none());
    let clear = Movie::parse(unprotect_movie(&both, None, KeepPssh::No).unwrap(), 0).unwrap();
    assert!(clear.tracks[0].entries.iter().all(|entry| entry.format == b"avc1"));
}

// Sample tables.

#[test]
fn table_counts_beyond_the_box() {
    for (kind, word) in
        [(b"stts", 1), (b"ctts", 1), (b"stss", 1), (b"stsc", 1), (b"stsz", 2), (b"stco", 1)]
    {
        for count in [u32::MAX, 1 << 31, 1 << 30, 1 << 29] {
            let bytes = patched(AVC, kind, word, &[count]);
            let name = String::from_utf8(kind.to_vec()).unwrap();
            let error = expect_error(bytes, &format!("{STBL}/{name}"));
            assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
        }
    }
}

#[test]
fn stz2_and_co64_counts_beyond_the_box() {
    let file = clip(AVC);
    for (from, to, values) in [
        (b"stsz", b"stz2", &[0, 4, u32::MAX][..]),
        (b"stsz", b"stz2", &[0, 16, 1 << 31]),
        (b"stsz", b"stz2", &[0, 8, 0x8000_0001]),
        (b"stco", b"co64", &[0, u32::MAX]),
        (b"stco", b"co64", &[0, 1 << 29]),
    ] {
        let mut bytes = renamed(movie(&file).into_bytes(), from, to);
        let at = find(&bytes, to) + 8;
        let values = words(values);
        bytes[at..at + values.len()].copy_from_slice(&values);
        let name = String::from_utf8(to.to_vec()).unwrap();
        let error = expect_error(bytes, &format!("{STBL}/{name}"));
        assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
    }
    let mut bytes = renamed(movie(&file).into_bytes(), b"stsz", b"stz2");
    let at = find(&bytes, b"stz2") + 12;
    bytes[at..at + 4].copy_from_slice(&words(&[5]));
    let error = expect_error(bytes, &format!("{STBL}/stz2"));
    assert!(matches!(error.kind(), ErrorKind::InvalidValue { value: 5, .. }), "{error}");
}

#[test]
fn stz2_of_every_width() {
    // Samples 1, 2, 3 in one chunk at 100.
    for (bits, table) in [(4, &b"\x12\x30"[..]), (8, b"\x01\x02\x03"), (16, b"\0\x01\0\x02\0\x03")]
    {
        let stz2 = mk(b"stz2", &[&words(&[0, bits, 3]), table]);
        let bytes = with_tables(&stz2, 3);
        let movie = Movie::parse(bytes, 0).unwrap();
        let samples: Vec<Sample> =
            movie.samples(&movie.tracks[0], 106).unwrap().collect::<Result<_>>().unwrap();
        let places: Vec<_> = samples.iter().map(|sample| (sample.offset, sample.size)).collect();
        assert_eq!(places, [(100, 1), (101, 2), (103, 3)]);
        let error = movie.samples(&movie.tracks[0], 105).unwrap().find_map(Result::err).unwrap();
        assert!(matches!(error.kind(), ErrorKind::OutsideFile { number: 3, .. }), "{error}");
    }
}

/// A movie of the clip's video track with these sizes, in one chunk at 100.
fn with_tables(sizes: &[u8], count: u32) -> Vec<u8> {
    let init = init();
    let bytes = init.bytes();
    let trak = init.root().unwrap().require(b"trak").unwrap();
    let stsd = trak.require(b"mdia").unwrap().require(b"minf").unwrap();
    let stsd = stsd.require(b"stbl").unwrap().require(b"stsd").unwrap();
    let stbl = mk(
        b"stbl",
        &[
            stsd.bytes(),
            &full(b"stts", &[0, 1, count, 10]),
            &full(b"stsc", &[0, 1, 1, count, 1]),
            sizes,
            &full(b"stco", &[0, 1, 100]),
        ],
    );
    let at = |kind| {
        let at = find(bytes, kind);
        let size = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        &bytes[at..at + size as usize]
    };
    let mdia = mk(b"mdia", &[at(b"mdhd"), at(b"hdlr"), &mk(b"minf", &[&stbl])]);
    mk(b"moov", &[at(b"mvhd"), &mk(b"trak", &[at(b"tkhd"), &mdia])])
}

#[test]
fn sample_count_times_size_overflows() {
    let bytes = with_tables(&full(b"stsz", &[0, u32::MAX, u32::MAX]), u32::MAX);
    let error = expect_error(bytes, &format!("{STBL}/stsz"));
    assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
    // 2^32 - 1 samples of one byte that cost nothing in the table, in a small file.
    let bytes = with_tables(&full(b"stsz", &[0, 1, u32::MAX]), u32::MAX);
    let error = expect_error(bytes, &format!("{STBL}/stsz"));
    assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
}

#[test]
fn huge_stsz_entry() {
    let bytes = patched(AVC, b"stsz", 3, &[u32::MAX]);
    let error = expect_error(bytes, &format!("{STBL}/stco"));
    assert!(matches!(error.kind(), ErrorKind::OutsideFile { number: 1, .. }), "{error}");
}

#[test]
fn sums_that_disagree() {
    for (kind, values) in [
        (b"stts", &[0, 1, 49, 512][..]),
        (b"stts", &[0, 1, u32::MAX, 512]),
        (b"ctts", &[0, 23, 3, 1024]),
        (b"ctts", &[0, 23, u32::MAX, 1024]),
        (b"stsz", &[0, 0, 49]),
    ] {
        let bytes = patched(AVC, kind, 0, values);
        let error = exhaust(bytes, 1 << 20).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }), "{error}");
    }
}

#[test]
fn huge_ctts_value_is_just_a_number() {
    let bytes = patched(AVC, b"ctts", 3, &[u32::MAX]);
    assert_eq!(exhaust(bytes, 1 << 20).unwrap(), 50);
}

#[test]
fn stsc_out_of_order() {
    let name = "avc_aac.mp4";
    // The video track has entries (1, 2, 1) and (2, 1, 1) for 49 chunks.
    for values in [
        &[0, 2, 0, 2, 1][..],
        &[0, 2, 2, 2, 1],
        &[0, 2, 1, 2, 1, 1],
        &[0, 2, 1, 2, 1, 50],
        &[0, 2, 1, 2, 1, u32::MAX],
        &[0, 2, 1, 2, 0],
        &[0, 2, 1, 2, 2],
        &[0, 2, 1, 2, u32::MAX],
    ] {
        let bytes = patched(name, b"stsc", 0, values);
        let error = expect_error(bytes, "moov/trak[0]/mdia/minf/stbl/stsc");
        assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "{error}");
    }
    for samples in [0, 1, 3, u32::MAX] {
        let bytes = patched(name, b"stsc", 0, &[0, 2, 1, samples]);
        let error = expect_error(bytes, "moov/trak[0]/mdia/minf/stbl/stsc");
        assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }), "{error}");
    }
}

#[test]
fn chunk_offset_beyond_the_file() {
    for offset in [u32::MAX, 1 << 20] {
        let bytes = patched(AVC, b"stco", 2, &[offset]);
        let error = expect_error(bytes, &format!("{STBL}/stco"));
        assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
    }
    // As `co64`, near the end of what 64 bits hold.
    let bytes = with_tables(&full(b"stsz", &[0, 100, 1]), 1);
    let mut bytes = renamed(bytes, b"stco", b"co64");
    let end = bytes.len();
    bytes.splice(end - 4.., words(&[u32::MAX, u32::MAX]));
    grow(&mut bytes, &[b"moov", b"trak", b"mdia", b"minf", b"stbl", b"co64"], 4);
    let error = expect_error(bytes, &format!("{STBL}/co64"));
    assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
}

#[test]
fn stss_out_of_order() {
    for values in [&[0, 2, 0, 26][..], &[0, 2, 26, 1], &[0, 2, 1, 1]] {
        let bytes = patched(AVC, b"stss", 0, values);
        let error = expect_error(bytes, &format!("{STBL}/stss"));
        assert!(matches!(error.kind(), ErrorKind::Sample { .. }), "{error}");
    }
}

#[test]
fn every_truncation_of_a_moov_and_a_moof_is_an_error() {
    let file = vector(CENC);
    let movie = movie(&file);
    let resize = |bytes: &[u8], len: usize| {
        let mut cut = bytes[..len].to_vec();
        if len >= 4 {
            cut[..4].copy_from_slice(&u32::try_from(len).unwrap().to_be_bytes());
        }
        cut
    };
    let whole = movie.bytes();
    for len in 0..whole.len() {
        // With the old size, and with the size set right: cut between boxes it may be whole.
        assert!(Movie::parse(whole[..len].to_vec(), 0).is_err());
        let _ = Movie::parse(resize(whole, len), 0);
    }
    let (offset, moof) = moofs(&file).swap_remove(0);
    for len in 0..moof.len() {
        assert!(Fragment::parse(&moof[..len], offset, &movie, 1 << 20).is_err());
        let _ = Fragment::parse(&resize(&moof, len), offset, &movie, 1 << 20);
    }
}
