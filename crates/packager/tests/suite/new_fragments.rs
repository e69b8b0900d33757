//! Where the fragments begin that progressive files are cut into.

use std::time::Duration;

use std::sync::Arc;

use crate::support::*;
use lanelock_packager::{
    EncryptOptions, IndexPolicy, MoviePlan, PlanOptions, Quiet, Scheme, Selector, io::MemorySource,
};
use lanelock_testkit::boxes::{all, find, full, grow, word};

const AUDIO: Trak =
    Trak { handler: b"soun", format: b"Opus", config: b"", sample: &[7; 40], count: 20 };
const VIDEO: Trak =
    Trak { handler: b"vide", format: b"jpeg", config: b"", sample: &[8; 40], count: 20 };
const SLIDES: Trak = Trak { handler: b"pict", ..VIDEO };
const COVER: Trak = Trak { count: 1, ..SLIDES };

fn options_of_cuts() -> EncryptOptions {
    options(Scheme::Cenc)
        .with_clear(vec![Selector::Video])
        .with_fragment_duration(Duration::from_millis(700))
}

/// How many samples of that track each fragment has.
fn cut(tracks: &[Trak], id: u32) -> Vec<u32> {
    let (encrypted, _) = Place::new().encrypt(&progressive(tracks), &options_of_cuts()).unwrap();
    runs(&encrypted, id)
}

fn runs(encrypted: &[u8], id: u32) -> Vec<u32> {
    let runs = all(encrypted, *b"traf").into_iter().filter_map(|traf| {
        let tfhd = all(traf, *b"tfhd")[0];
        (word(tfhd, 4) == id).then(|| word(all(traf, *b"trun")[0], 4))
    });
    runs.collect()
}

/// A picture of the whole film says nothing about where to cut the rest.
#[test]
fn covers_do_not_say_where_fragments_begin() {
    assert_eq!(cut(&[AUDIO], 1), [7, 7, 6]);
    assert_eq!(cut(&[AUDIO, COVER], 1), [7, 7, 6]);
    assert_eq!(cut(&[VIDEO, COVER, AUDIO], 1), [7, 7, 6]);
    assert_eq!(cut(&[COVER, VIDEO, AUDIO], 2), [7, 7, 6]);
    assert_eq!(cut(&[COVER, VIDEO, AUDIO], 3), [7, 7, 6]);
    assert_eq!(cut(&[COVER, SLIDES, AUDIO], 2), [7, 7, 6]);
    assert_eq!(cut(&[COVER, AUDIO], 2), [7, 7, 6]);
}

/// Video of so many samples of 100 ms, of which these are sync samples, and audio beside it.
fn with_syncs(count: u32, syncs: &[u32]) -> Vec<u8> {
    let mut bytes = progressive(&[Trak { count, ..VIDEO }, Trak { count, ..AUDIO }]);
    let at = find(&bytes, b"stts");
    let stss = full(b"stss", &[&[0, u32::try_from(syncs.len()).unwrap()], syncs].concat());
    grow(&mut bytes, &[b"moov", b"trak", b"mdia", b"minf", b"stbl"], stss.len());
    bytes.splice(at..at, stss);
    bytes
}

/// Fragments of the video, and what is said of them.
fn cut_at(count: u32, syncs: &[u32]) -> (Vec<u32>, Vec<String>) {
    let (place, warnings) = (Place::new(), Warnings::default());
    let clip = with_syncs(count, syncs);
    let (encrypted, _) = place.watched(&clip, &options_of_cuts(), &warnings).unwrap();
    let runs = runs(&encrypted, 1);
    assert_eq!(runs.iter().sum::<u32>(), count);
    let warned = warnings.take();
    // A service is warned of the same, once, and makes the same fragments, without the index.
    let plan = PlanOptions::new().with_fragment_duration(Duration::from_millis(700));
    let source = Arc::new(MemorySource::new("memory", clip));
    let planned = MoviePlan::new(source, &plan, &warnings).unwrap();
    assert_eq!(warnings.take(), warned);
    let counts: Vec<_> = planned.segments().iter().map(|s| s.tracks[0].samples).collect();
    assert_eq!(counts, runs.iter().map(|&run| u64::from(run)).collect::<Vec<_>>());
    (runs, warned)
}

/// What has a sync sample within half a minute of the asked duration waits for it.
#[test]
fn near_sync_samples_are_waited_for() {
    for (count, syncs, expected) in [
        (20, &[1][..], vec![20]),
        (307, &[1], vec![307]),
        (614, &[1, 308], vec![307, 307]),
        (20, &[1, 4, 8, 15], vec![7, 7, 6]),
    ] {
        assert_eq!(cut_at(count, syncs), (expected, Vec::new()), "{count} {syncs:?}");
    }
}

/// Without a sync sample within reach, fragments end at other samples, and there is a warning.
#[test]
fn far_sync_samples_are_not_waited_for() {
    for (count, syncs, expected) in [
        (308, &[1][..], [vec![7; 44]].concat()),
        (310, &[1], [vec![7; 44], vec![2]].concat()),
        (320, &[1, 309], [vec![7; 44], vec![12]].concat()),
        (330, &[1, 311, 321], [vec![7; 44], vec![2, 10, 10]].concat()),
        // None but the first.
        (700, &[1], vec![7; 100]),
    ] {
        let (runs, warned) = cut_at(count, syncs);
        assert_eq!(runs, expected, "{count} {syncs:?}");
        assert_eq!(warned.len(), 1, "{warned:?}");
        for words in ["track 1", "at 0.7 s", "begin to play at sync samples alone"] {
            assert!(warned[0].contains(words), "{warned:?}");
        }
    }
}

/// Fragments that begin with another sample say so, in `trun` and in the index.
#[test]
fn fragments_without_a_sync_sample_say_so() {
    let place = Place::new();
    let clip = with_syncs(330, &[1, 311, 321]);
    let (encrypted, _) = place.watched(&clip, &options_of_cuts(), &Quiet).unwrap();
    let firsts: Vec<bool> = fragments(&encrypted).iter().map(|flags| flags[0]).collect();
    let expected: Vec<bool> = (0..47).map(|number| [0, 45, 46].contains(&number)).collect();
    assert_eq!(firsts, expected);
    assert_eq!(fragments(&encrypted).concat().iter().filter(|sync| **sync).count(), 3);
    // Starts with a stream access point, and its type: the third word of a reference.
    let sidx = all(&encrypted, *b"sidx")[0];
    let fields = if sidx[0] == 0 { 24 } else { 32 };
    let references = sidx[fields..].chunks_exact(12).map(|reference| word(reference, 8) >> 28);
    let stated: Vec<bool> = references.map(|sap| sap == 0b1001).collect();
    assert_eq!(stated, expected);
    assert!(sidx[fields..].chunks_exact(12).all(|r| matches!(word(r, 8) >> 28, 0 | 0b1001)));
    let options = options_of_cuts().with_index(IndexPolicy::Drop);
    let (without, _) = place.encrypt(&clip, &options).unwrap();
    assert_eq!(runs(&without, 1), runs(&encrypted, 1));
}

/// Of each fragment, whether the samples of the video are sync samples.
fn fragments(bytes: &[u8]) -> Vec<Vec<bool>> {
    let movie = movie(bytes);
    let moofs = lanelock_mp4::top_level(bytes).map(Result::unwrap).filter(|h| h.kind == b"moof");
    let fragments = moofs.map(|header| {
        let moof = lanelock_mp4::load(bytes, &header).unwrap();
        let len = bytes.len() as u64;
        let fragment = lanelock_mp4::Fragment::parse(&moof, header.offset, &movie, len).unwrap();
        fragment.tracks[0].samples().map(|sample| sample.sync).collect()
    });
    fragments.collect()
}
