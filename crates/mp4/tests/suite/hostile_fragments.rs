//! The part of `hostile.rs` about movie fragments and the protection boxes in them.

use crate::common::{clip, movie};
use lanelock_mp4::{
    Error, ErrorKind, Fragment, Movie, Result,
    edit::{FragmentEdit, KeepPssh, fragment_movie},
};
use lanelock_testkit::{
    Watchdog,
    boxes::{boxed as mk, find, full, words},
};

const AVC: &str = "avc.mp4";

fn renamed(mut bytes: Vec<u8>, from: &[u8; 4], to: &[u8; 4]) -> Vec<u8> {
    let at = find(&bytes, from) + 4;
    bytes[at..at + 4].copy_from_slice(to);
    bytes
}

/// A fragment of the one video track of the clip, and what parsing it gives.
fn fragment_error(traf: &[u8]) -> Error {
    let init = init();
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), traf]);
    let result = Fragment::parse(&moof, 1000, &init, 100_000);
    result.map(|_| ()).unwrap_err()
}

fn init() -> Movie {
    let init = fragment_movie(&movie(&clip(AVC))).unwrap();
    Movie::parse(init, 0).unwrap()
}

/// default-base-is-moof, default duration 10 and size 100.
const TFHD: [u32; 4] = [0x2_0018, 1, 10, 100];

fn traf(children: &[&[u8]]) -> Vec<u8> {
    mk(b"traf", &[&full(b"tfhd", &TFHD), &children.concat()])
}

#[test]
fn tfhd_renamed_doubled_or_of_another_track() {
    let init = init();
    let tfhd = full(b"tfhd", &TFHD);
    for (traf, kind) in [
        (mk(b"traf", &[&renamed(tfhd.clone(), b"tfhd", b"free")]), "missing"),
        (mk(b"traf", &[&tfhd, &tfhd]), "second"),
        (mk(b"traf", &[&full(b"tfhd", &[0x2_0000, 77])]), "no track with id 77"),
        (mk(b"traf", &[&full(b"tfhd", &[0x2_0002, 1, 0])]), "sample_description_index is 0"),
        (mk(b"traf", &[&full(b"tfhd", &[0x2_0002, 1, 2])]), "sample_description_index is 2"),
        (mk(b"traf", &[&full(b"tfhd", &[0x2_003b, 1])]), "needs"),
    ] {
        let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf]);
        let error = Fragment::parse(&moof, 0, &init, 1 << 20).unwrap_err();
        assert!(error.to_string().contains(kind), "{error}");
        assert!(error.path().starts_with("moof/traf"), "{error}");
    }
}

#[test]
fn moof_without_mfhd() {
    let init = init();
    let error = Fragment::parse(&mk(b"moof", &[]), 0, &init, 100).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Missing { .. }));
    let error = Fragment::parse(&mk(b"moov", &[]), 0, &init, 100).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Missing { .. }));
}

#[test]
fn trun_count_beyond_the_box() {
    for count in [1 << 31, u32::MAX, 1 << 28, 2] {
        for fields in [0xf01, 0x201, 0x101] {
            let trun = full(b"trun", &[fields, count, 0, 100]);
            let error = fragment_error(&traf(&[&trun]));
            assert_eq!(error.path(), "moof/traf/trun");
            assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
        }
    }
}

#[test]
fn trun_count_without_table() {
    // Nothing per sample in the box: bounded by the file through the default size.
    let error = fragment_error(&traf(&[&full(b"trun", &[1, 1 << 31, 500])]));
    assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
    // Samples of no bytes: bounded by a limit.
    let tfhd = full(b"tfhd", &[0x2_0018, 1, 10, 0]);
    let empty = mk(b"traf", &[&tfhd, &full(b"trun", &[1, 1 << 31, 500])]);
    let error = fragment_error(&empty);
    assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "{error}");
}

#[test]
fn trun_offset_before_the_file() {
    let trun = full(b"trun", &[1, 1, (-1001_i32).cast_unsigned()]);
    let error = fragment_error(&traf(&[&trun]));
    assert_eq!(error.path(), "moof/traf/trun");
    // The base is at 1000, so this is the first byte of the file.
    let trun = full(b"trun", &[1, 1, (-1000_i32).cast_unsigned()]);
    let init = init();
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf(&[&trun])]);
    let fragment = Fragment::parse(&moof, 1000, &init, 100_000).unwrap();
    assert_eq!(fragment.tracks[0].samples().next().unwrap().offset, 0);
}

#[test]
fn trun_data_beyond_the_file() {
    for values in [&[1, 1, 99_000][..], &[0x201, 1, 0, u32::MAX]] {
        let error = fragment_error(&traf(&[&full(b"trun", values)]));
        assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
    }
}

#[test]
fn base_near_the_end_of_64_bits() {
    let tfhd = full(b"tfhd", &[0x19, 1, u32::MAX, u32::MAX, 10, 100]);
    let traf = mk(b"traf", &[&tfhd, &full(b"trun", &[1, 1, 100])]);
    let error = fragment_error(&traf);
    assert_eq!(error.path(), "moof/traf/trun");
}

#[test]
fn decode_time_near_the_end_of_64_bits() {
    let tfdt = full(b"tfdt", &[1 << 24, u32::MAX, u32::MAX]);
    let error = fragment_error(&traf(&[&tfdt, &full(b"trun", &[1, 1, 100])]));
    assert!(matches!(error.kind(), ErrorKind::Overflow { .. }), "{error}");
}

#[test]
fn data_over_the_moof_is_not_edited() {
    let init = init();
    // The first run has no data offset, so its data would begin where the `moof` does.
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf(&[&full(b"trun", &[0, 1])])]);
    let fragment = Fragment::parse(&moof, 1000, &init, 100_000).unwrap();
    let error = FragmentEdit::new(&fragment).finish(1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DataInMoof { .. }), "{error}");
}

// Protection boxes of fragments.

/// Two samples of 100 bytes and these boxes.
fn protected(children: &[&[u8]]) -> Result<Vec<Option<usize>>> {
    let init = init();
    let trun = full(b"trun", &[1, 2, 500]);
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf(&[&trun, &children.concat()])]);
    let mut file = vec![0; 1000];
    file.extend_from_slice(&moof);
    file.resize(3000, 0);
    let fragment = Fragment::parse(&moof, 1000, &init, 3000)?;
    let track = &fragment.tracks[0];
    let aux = track.aux_info(&file)?;
    let mut cursor = aux.cursor();
    let mut found = Vec::new();
    for sample in track.samples() {
        let aux = cursor.next_sample(0, sample.size)?;
        found.push(aux.subsamples.map(|subsamples| subsamples.len()));
    }
    cursor.finish()?;
    Ok(found)
}

#[test]
fn senc_counts() {
    for count in [1, 3, u32::MAX] {
        let result = protected(&[&full(b"senc", &[0, count])]);
        assert_eq!(result.unwrap_err().path(), "moof/traf/senc");
    }
    // None at all is a form in use for constant IVs.
    assert_eq!(protected(&[&full(b"senc", &[0, 0])]).unwrap(), [None, None]);
}

#[test]
fn senc_subsample_sums() {
    let senc = |clear: u16, protected: u32| {
        let one = [&[0, 1][..], &clear.to_be_bytes(), &protected.to_be_bytes()].concat();
        mk(b"senc", &[&words(&[2, 2]), &one, &one])
    };
    let result = protected(&[&senc(10, 90)]);
    assert_eq!(result.unwrap(), [Some(1), Some(1)]);
    for (clear, bytes) in [(10, 91), (10, 89), (0, 0), (100, u32::MAX), (101, u32::MAX)] {
        let error = protected(&[&senc(clear, bytes)]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::SubsampleSum { number: 1, .. }), "{error}");
        assert_eq!(error.path(), "moof/traf/senc");
    }
}

#[test]
fn no_subsamples_are_a_whole_sample() {
    let senc = mk(b"senc", &[&words(&[2, 2]), &[0; 2 + 2]]);
    assert_eq!(protected(&[&senc]).unwrap(), [None, None]);
}

#[test]
fn senc_subsample_count_beyond_the_box() {
    let senc = mk(b"senc", &[&words(&[2, 2]), &[0xff, 0xff, 0, 0, 0, 0]]);
    let result = protected(&[&senc]);
    assert!(matches!(result.unwrap_err().kind(), ErrorKind::Short { what: "subsamples", .. }));
    let senc = mk(b"senc", &[&words(&[2, u32::MAX]), &[0; 8]]);
    let error = protected(&[&senc]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
}

#[test]
fn piff_senc() {
    let piff = 0xa239_4f52_5a9b_4f14_a244_6c42_7c64_8df4_u128.to_be_bytes();
    let one = [0, 1, 0, 10, 0, 0, 0, 90];
    let uuid = mk(b"uuid", &[&piff, &words(&[2, 2]), &one, &one]);
    let result = protected(&[&uuid]);
    assert_eq!(result.unwrap(), [Some(1), Some(1)]);
    let other = mk(b"uuid", &[&[7; 16], &words(&[2, 2]), &one, &one]);
    assert_eq!(protected(&[&other]).unwrap(), [None, None], "a `uuid` box of someone else");
    // Parameters of its own: algorithm and IV size.
    let over = |algorithm, iv_size| {
        let fields = [&[0, 0, algorithm, iv_size][..], &[7; 16]].concat();
        mk(b"uuid", &[&piff, &words(&[3]), &fields, &words(&[2]), &one, &one])
    };
    assert_eq!(protected(&[&over(0, 0)]).unwrap(), [Some(1), Some(1)]);
    for (algorithm, iv_size) in [(1, 0), (1, 7), (2, 8), (3, 16)] {
        let error = protected(&[&over(algorithm, iv_size)]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "{error}");
    }
}

#[test]
fn saiz_counts() {
    for count in [3_u32, u32::MAX] {
        let saiz = mk(b"saiz", &[&words(&[0]), &[8], &words(&[count])]);
        let result = protected(&[&saiz]);
        assert_eq!(result.unwrap_err().path(), "moof/traf/saiz");
    }
    let saiz = mk(b"saiz", &[&words(&[0]), &[0], &words(&[u32::MAX])]);
    let error = protected(&[&saiz]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
}

#[test]
fn samples_behind_the_last_in_saiz_have_no_information() {
    let saiz = mk(b"saiz", &[&words(&[0]), &[2], &words(&[1])]);
    let result = protected(&[&saiz, &full(b"saio", &[0, 1, 1500])]);
    assert_eq!(result.unwrap(), [None, None]);
}

#[test]
fn saio_past_the_end_or_empty() {
    let saiz = mk(b"saiz", &[&words(&[0]), &[8], &words(&[2])]);
    for offset in [3000, u32::MAX] {
        let result = protected(&[&saiz, &full(b"saio", &[0, 1, offset])]);
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutsideFile { .. }), "{error}");
        assert_eq!(error.path(), "moof/traf/saio");
    }
    for values in [&[0, 0][..], &[0, 2, 100, 200], &[1 << 24, 1, u32::MAX, u32::MAX]] {
        let error = protected(&[&saiz, &full(b"saio", values)]).unwrap_err();
        assert_eq!(error.path(), "moof/traf/saio");
    }
    let error = protected(&[&saiz, &full(b"saio", &[0, u32::MAX])]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Count { .. }), "{error}");
}

#[test]
fn saio_of_version_1_and_one_entry_per_run() {
    let init = init();
    let one = [0, 1, 0, 10, 0, 0, 0, 90];
    let two = [0, 2, 0, 10, 0, 0, 0, 30, 0, 20, 0, 0, 0, 40];
    let saiz = mk(b"saiz", &[&words(&[0]), &[0], &words(&[2]), &[8, 14]]);
    let runs = [full(b"trun", &[1, 1, 500]), full(b"trun", &[1, 1, 900])].concat();
    // Two runs, the information of each at its own place.
    for saio in [full(b"saio", &[0, 2, 1500, 1600]), full(b"saio", &[1 << 24, 2, 0, 1500, 0, 1600])]
    {
        let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf(&[&runs, &saiz, &saio])]);
        let mut file = vec![0; 4000];
        file[2500..2508].copy_from_slice(&one);
        file[2600..2614].copy_from_slice(&two);
        let fragment = Fragment::parse(&moof, 1000, &init, 4000).unwrap();
        let aux = fragment.tracks[0].aux_info(&file).unwrap();
        let mut cursor = aux.cursor();
        for (sample, count) in fragment.tracks[0].samples().zip(1..) {
            let aux = cursor.next_sample(0, sample.size).unwrap();
            assert_eq!(aux.subsamples.unwrap().len(), count);
        }
        cursor.finish().unwrap();
        assert_eq!(fragment.tracks[0].aux_ranges(4000).unwrap(), [2500..2508, 2600..2614]);
    }
    // Information of another type has sizes of its own, and without them no place.
    for (kind, file_len, found) in
        [(b"abcd", 4000, Some(3000..3010)), (b"abcd", 3009, None), (b"efgh", 4000, None)]
    {
        let saiz = mk(b"saiz", &[&words(&[1]), kind, &words(&[0]), &[5], &words(&[2])]);
        let saio = mk(b"saio", &[&words(&[1]), b"abcd", &words(&[0, 1, 2000])]);
        let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &traf(&[&runs, &saiz, &saio])]);
        let fragment = Fragment::parse(&moof, 1000, &init, 4000).unwrap();
        let ranges = fragment.tracks[0].aux_ranges(file_len).unwrap();
        assert_eq!(ranges, Vec::from_iter(found));
    }
}

fn sgpd(version: u32, content: &[u32], entry: &[u8]) -> Vec<u8> {
    mk(b"sgpd", &[&words(&[version << 24]), b"seig", &words(content), entry])
}

fn sbgp(index: u32) -> Vec<u8> {
    mk(b"sbgp", &[&words(&[0]), b"seig", &words(&[1, 2, index])])
}

/// Not protected, no IV.
const CLEAR_ENTRY: [u8; 20] = [0; 20];

#[test]
fn sgpd_without_entries_or_lengths() {
    let result = protected(&[&sgpd(1, &[20, 0], &[])]);
    result.unwrap();
    let entry = [&words(&[20])[..], &CLEAR_ENTRY].concat();
    for (sgpd, ok) in [
        (sgpd(1, &[20, 1], &CLEAR_ENTRY), true),
        (sgpd(1, &[0, 1], &entry), true),
        (sgpd(0, &[1], &CLEAR_ENTRY), true),
        (sgpd(2, &[20, 0, 1], &CLEAR_ENTRY), true),
        (sgpd(2, &[20, 2, 1], &CLEAR_ENTRY), false),
        (sgpd(1, &[19, 1], &CLEAR_ENTRY), false),
        (sgpd(1, &[21, 1], &CLEAR_ENTRY), false),
        (sgpd(1, &[u32::MAX, 1], &CLEAR_ENTRY), false),
        (sgpd(1, &[20, u32::MAX], &CLEAR_ENTRY), false),
        (sgpd(1, &[0, 1], &words(&[u32::MAX, 0, 0, 0, 0, 0])), false),
        (mk(b"sgpd", &[&words(&[0])]), true), // no grouping type: not ours
    ] {
        assert_eq!(protected(&[&sgpd]).is_ok(), ok, "{sgpd:02x?}");
    }
}

#[test]
fn sbgp_indices() {
    let local = sgpd(1, &[20, 1], &CLEAR_ENTRY);
    for (index, ok) in [
        (0, true),
        (0x1_0001, true),
        (0x1_0000, false),
        (0x1_0002, false),
        (1, false),
        (u32::MAX, false),
    ] {
        let result = protected(&[&local, &sbgp(index)]);
        assert_eq!(result.is_ok(), ok, "index {index:#x}");
    }
    // More samples than there are, and a count beyond the box.
    let long = mk(b"sbgp", &[&words(&[0]), b"seig", &words(&[1, 3, 0x1_0001])]);
    assert!(protected(&[&local, &long]).is_err());
    let long = mk(b"sbgp", &[&words(&[0]), b"seig", &words(&[u32::MAX, 3, 0x1_0001])]);
    assert!(protected(&[&local, &long]).is_err());
    let compact = mk(b"csgp", &[&words(&[0]), b"seig", &words(&[0])]);
    let error = protected(&[&compact]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

#[test]
fn many_boxes_are_linear_work() {
    // 100,000 `traf` in one `moof`, each edited: quadratic work would take hours.
    let init = init();
    let one = traf(&[&full(b"trun", &[1, 1, 10_000_000]), &full(b"senc", &[0, 0])]);
    let moof = mk(b"moof", &[&full(b"mfhd", &[0, 1]), &one.repeat(100_000)]);
    let watchdog = Watchdog::new();
    watchdog.begins("100,000 traf");
    let fragment = Fragment::parse(&moof, 0, &init, u64::MAX).unwrap();
    let clear = FragmentEdit::new(&fragment).unprotect(KeepPssh::No).finish(0).unwrap();
    assert_eq!(clear.len(), moof.len() - 1_600_000);
}
