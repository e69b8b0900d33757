//! Segment indexes made for a file: they read back, they say where the fragments are, and ffmpeg
//! takes them for complete.

use std::{fs, iter, path::Path, process::Command};

use crate::common::{boxes, bytes_of, fragmented, moofs, movie, vector};
use lanelock_mp4::{
    BoxHeader, ErrorKind, FourCc, Fragment, SampleAuxTable, Subsample, SubsampleMode,
    TrackEncryption,
    compose::{IndexedTrack, SegmentIndex, SidxReference},
    edit::{FragmentEdit, Protect, ProtectTrack, WriteAux, parse_sidx, patch_sidx, protect_movie},
};
use lanelock_testkit::{self as testkit, Mutator, Rng, Scratch, Watchdog, clips, mutants};

/// The `sidx` boxes one behind the other in `bytes`, at `offset` of the file.
fn views(bytes: &[u8], offset: u64) -> Vec<lanelock_mp4::edit::SidxView> {
    let view = |header: &BoxHeader| {
        assert_eq!(header.kind, FourCc::new(b"sidx"));
        parse_sidx(&bytes_of(bytes, header), offset + header.offset).unwrap()
    };
    boxes(bytes).iter().map(view).collect()
}

#[test]
fn what_is_made_reads_back() {
    let video = [SidxReference::new(1000, 50).with_sap(1), SidxReference::new(70, 0)];
    let audio = [SidxReference::new(1000, 900), SidxReference::new(70, 8)];
    let tracks = [
        IndexedTrack::new(1, 25, &video).with_earliest_presentation_time(7),
        IndexedTrack::new(2, 1000, &[]),
        IndexedTrack::new(3, 48_000, &audio),
    ];
    let bytes = SegmentIndex::new(&tracks).bytes(5).unwrap();
    assert_eq!(bytes.len(), SegmentIndex::len_for([2, 0, 2]));
    let first = 400 + bytes.len() as u64 + 5;
    let views = views(&bytes, 400);
    let said: Vec<_> = views
        .iter()
        .map(|view| (view.reference_id, view.timescale, view.earliest_presentation_time))
        .collect();
    assert_eq!(said, [(1, 25, 7), (3, 48_000, 0)]);
    for view in &views {
        let ranges: Vec<_> = view.references.iter().map(|range| range.range.clone()).collect();
        assert_eq!(ranges, [first..first + 1000, first + 1000..first + 1070]);
        assert!(view.references.iter().all(|range| !range.is_index));
    }
    let durations = |index: usize| views[index].references.iter().map(|range| range.duration);
    assert!(durations(0).eq([50, 0]) && durations(1).eq([900, 8]));
    let starts: Vec<_> = views[0].references.iter().map(|range| range.starts_with_sap).collect();
    assert_eq!(starts, [true, false]);
}

#[test]
fn more_references_than_a_box_has() {
    let of = |count: usize| vec![SidxReference::new(100, 3); count];
    let (many, few) = (of(140_000), of(65_535));
    let edge = of(65_536);
    let tracks = [&many, &few, &edge].map(|references| IndexedTrack::new(1, 10, references));
    let bytes = SegmentIndex::new(&tracks).bytes(0).unwrap();
    assert_eq!(bytes.len(), SegmentIndex::len_for([140_000, 65_535, 65_536]));
    let views = views(&bytes, 1000);
    let counts: Vec<_> = views.iter().map(|view| view.references.len()).collect();
    assert_eq!(counts, [65_535, 65_535, 8930, 65_535, 65_535, 1]);
    // The boxes of a track go on where those before them ended.
    for views in [&views[..3], &views[3..4], &views[4..]] {
        let (mut time, mut at) = (0, 1000 + bytes.len() as u64);
        for view in views {
            assert_eq!(view.earliest_presentation_time, time);
            for range in &view.references {
                assert_eq!(range.range.start, at);
                (at, time) = (range.range.end, time + u64::from(range.duration));
            }
        }
    }
}

#[test]
fn lengths_that_have_no_field() {
    let limit = u64::from(u32::MAX >> 1);
    let reference = SidxReference::of_range(limit, u64::from(u32::MAX)).unwrap();
    assert_eq!(reference, SidxReference::new(u32::MAX >> 1, u32::MAX));
    for (size, duration) in [(limit + 1, 1), (1 << 32, 1), (1, 1 << 32)] {
        let error = SidxReference::of_range(size, duration).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Overflow { .. }), "{error}");
    }
    let large = [SidxReference::new(1 << 31, 1)];
    let tracks = [IndexedTrack::new(1, 10, &large)];
    let error = SegmentIndex::new(&tracks).bytes(0).unwrap_err();
    assert!(error.to_string().contains("referenced_size"), "{error}");
    let one = [reference];
    let late = [IndexedTrack::new(1, 10, &one).with_earliest_presentation_time(u64::MAX)];
    assert!(SegmentIndex::new(&late).bytes(0).is_err());
    let tracks = [IndexedTrack::new(1, 10, &one)];
    assert!(SegmentIndex::new(&tracks).bytes(u64::MAX).is_err());
}

/// A file of fragments, protected without a byte of its samples being encrypted, in three parts:
/// what is before the fragments, the indexes, the fragments. Decrypting it with any key gives the
/// samples of `clear`.
fn protected_and_indexed(clear: &[u8]) -> [Vec<u8>; 3] {
    let old = movie(clear);
    let plan = |id| {
        let encryption = TrackEncryption::per_sample([1; 16], 8);
        ProtectTrack::new(id, FourCc::new(b"cenc"), encryption)
    };
    let plans: Vec<_> = old.tracks.iter().map(|track| plan(track.id)).collect();
    let mut head = bytes_of(clear, &boxes(clear)[0]);
    head.extend_from_slice(&protect_movie(&old, &plans, &[]).unwrap());
    let mut media = Vec::new();
    let mut references = vec![Vec::new(); old.tracks.len()];
    let mut first_times = vec![None; old.tracks.len()];
    for (offset, moof) in moofs(clear) {
        let fragment = Fragment::parse(&moof, offset, &old, clear.len() as u64).unwrap();
        let tables: Vec<_> = fragment.tracks.iter().map(all_clear).collect();
        let tables = tables.iter().enumerate();
        let plans: Vec<_> =
            tables.map(|(index, table)| Protect::new(index, WriteAux::Full(table))).collect();
        let start = media.len();
        media.extend_from_slice(&FragmentEdit::new(&fragment).protect(&plans).finish(0).unwrap());
        let mdat =
            boxes(clear).into_iter().find(|header| header.offset >= offset + moof.len() as u64);
        media.extend_from_slice(&bytes_of(clear, &mdat.unwrap()));
        for (index, track) in old.tracks.iter().enumerate() {
            let traf = fragment.tracks.iter().find(|traf| traf.track_id == track.id);
            let duration = traf.map_or(0, |traf| traf.duration);
            let size = (media.len() - start) as u64;
            references[index].push(SidxReference::of_range(size, duration).unwrap().with_sap(1));
            if let Some(first) = traf.and_then(|traf| traf.samples().next()) {
                first_times[index].get_or_insert(first.decode_time);
            }
        }
    }
    let tracks = iter::zip(iter::zip(&old.tracks, &references), first_times);
    let tracks: Vec<_> = tracks
        .map(|((track, references), time)| {
            let track = IndexedTrack::new(track.id, track.timescale, references);
            track.with_earliest_presentation_time(time.unwrap_or(0))
        })
        .collect();
    [head, SegmentIndex::new(&tracks).bytes(0).unwrap(), media]
}

fn all_clear(traf: &lanelock_mp4::TrackFragment<'_>) -> SampleAuxTable {
    let mut table = SampleAuxTable::new(8, SubsampleMode::Present);
    for sample in traf.samples() {
        let mut left = sample.size;
        let mut subsamples = Vec::new();
        while left > 0 {
            let clear = u16::try_from(left).unwrap_or(u16::MAX);
            subsamples.push(Subsample { clear, protected: 0 });
            left -= u32::from(clear);
        }
        table.push(&[7; 8], &subsamples).unwrap();
    }
    table
}

#[test]
fn indexes_match_the_file() {
    let clip = clips("avc_aac.mp4").remove(0);
    let [head, index, media] = protected_and_indexed(&fragmented(&clip.read()));
    let file = [&head[..], &index, &media].concat();
    let all = boxes(&file);
    let views = views(&index, head.len() as u64);
    assert_eq!(views.len(), 2);
    for view in &views {
        assert!(view.references.len() > 1 && view.matches(&all));
        assert_eq!(view.references.last().unwrap().range.end, file.len() as u64);
        // Something else before a fragment, a range too short, a file too short.
        let mut moved = view.clone();
        moved.references[1].range.start -= 1;
        assert!(!moved.matches(&all));
        let mut short = view.clone();
        short.references.last_mut().unwrap().range.end -= 1;
        assert!(!short.matches(&all));
        assert!(!view.matches(&all[..all.len() - 2]));
    }
    // Patched for a file in which everything lies 100 bytes later.
    for header in all.iter().filter(|header| header.kind == b"sidx") {
        let old = bytes_of(&file, header);
        let later = patch_sidx(&old, header.offset, header.offset + 100, |at| Some(at + 100));
        assert_eq!(later.unwrap(), old);
        // The index itself stays in its place.
        let apart = patch_sidx(&old, header.offset, header.offset, |at| Some(at + 100)).unwrap();
        let (a, b) = (parse_sidx(&old, 0).unwrap(), parse_sidx(&apart, 0).unwrap());
        for (a, b) in a.references.iter().zip(&b.references) {
            assert_eq!(a.range.start + 100..a.range.end + 100, b.range);
        }
    }
}

#[test]
fn indexes_of_others() {
    let file = vector("prog_8s_enc_dashinit.mp4");
    let all = boxes(&file);
    let header = all.iter().find(|header| header.kind == b"sidx").unwrap();
    let view = parse_sidx(&bytes_of(&file, header), header.offset).unwrap();
    assert!(view.matches(&all));
    // An index of one fragment; the next has its own.
    let moofs = moofs(&file);
    assert_eq!((view.references.len(), moofs.len()), (1, 2));
    assert_eq!(view.references[0].range.start, moofs[0].0);
    assert!(view.references[0].range.end < moofs[1].0);
}

#[test]
fn damaged_indexes() {
    let references = [SidxReference::new(100, 7).with_sap(2), SidxReference::new(50, 7)];
    let tracks = [IndexedTrack::new(1, 10, &references)];
    let intact = SegmentIndex::new(&tracks).bytes(0).unwrap();
    let mutator = Mutator::of_boxes(&intact);
    let mut rng = Rng::from_env("damaged_indexes");
    let watchdog = Watchdog::new();
    let all = boxes(&fragmented(&clips("avc_aac.mp4").remove(0).read()));
    let mut parsed = 0;
    for number in 0..mutants(3000) {
        watchdog.begins(format!("mutant {number}"));
        let mutant = mutator.mutant(&mut rng);
        let offset = *rng.pick(&[0, 1000, u64::MAX - 200, u64::MAX]);
        if let Ok(view) = parse_sidx(&mutant, offset) {
            let _ = view.matches(&all);
            let ranges = view.references.iter().map(|reference| &reference.range);
            assert!(ranges.clone().zip(ranges.skip(1)).all(|(a, b)| a.end == b.start));
            // What can be read can be patched without a change.
            let _ = patch_sidx(&mutant, offset, offset, Some);
            parsed += 1;
        }
    }
    assert!(parsed > 0);
    for len in 0..intact.len() {
        assert!(parse_sidx(&intact[..len], 0).is_err());
    }
    for at in [8, 9] {
        let mut version = intact.clone();
        version[8] = at;
        assert!(parse_sidx(&version, 0).is_err());
    }
    let mut index = intact;
    index[40] |= 0x80;
    let view = parse_sidx(&index, 0).unwrap();
    assert_eq!(
        view.references.iter().map(|range| range.is_index).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(view.references[0].range.end - view.references[0].range.start, 100);
}

/// Stream, size and hash of every packet, sorted.
fn packets(ffmpeg: &Path, path: &Path) -> Vec<String> {
    let output = Command::new(ffmpeg)
        .args(["-v", "error", "-decryption_key", &"00".repeat(16), "-i"])
        .arg(path)
        .args(["-map", "0", "-c", "copy", "-f", "framemd5", "-"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut packets: Vec<_> = lines
        .map(|line| {
            let fields: Vec<_> = line.split(',').map(str::trim).collect();
            [fields[0], fields[4], fields[5]].join(" ")
        })
        .collect();
    packets.sort_unstable();
    packets
}

/// Without an index, `FFmpeg` 5.1 loses the `senc` of all fragments but the first of a file that it
/// can seek in, and then gives no packets of them.
#[test]
fn ffmpeg_finds_the_senc_of_every_fragment() {
    let Some(ffmpeg) = testkit::ffmpeg() else { return };
    let dir = Scratch::new();
    let path = dir.file("file.mp4");
    for name in ["avc_aac.mp4", "avc.mp4", "opus.mp4"] {
        for clip in clips(name) {
            let clear = fragmented(&clip.read());
            fs::write(&path, &clear).unwrap();
            let expected = packets(&ffmpeg, &path);
            assert!(expected.len() > 2);
            let parts = protected_and_indexed(&clear);
            fs::write(&path, parts.concat()).unwrap();
            assert_eq!(packets(&ffmpeg, &path), expected, "{name}");
        }
    }
}
