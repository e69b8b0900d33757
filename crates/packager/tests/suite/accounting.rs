//! Every byte of the media data is accounted for: what may refer to it, what may not share it, and what
//! is kept on request.

use std::fs;

use crate::support::*;
use lanelock_mp4::{
    Sample,
    compose::{NewSample, NewTrackFragment, moof},
};
use lanelock_packager::{Layout, Quiet, Scheme, Selector, UnclaimedPolicy, check_keys};
use lanelock_testkit::boxes::{boxed, find, full, grow, word, words};

/// What stands in the media data beside samples.
const MORE: &[u8] = b"thirty bytes of something else";

/// `AVC`, whose `moov` comes last, with `tail` behind the samples, and `more` at the end of the box that
/// `path` leads to.
fn with_more(tail: &[u8], path: &[&[u8; 4]], more: &[u8]) -> Vec<u8> {
    let mut bytes = AVC.to_vec();
    if let Some(last) = path.last() {
        let end = end_of(&bytes, **last);
        bytes.splice(end..end, more.iter().copied());
        grow(&mut bytes, path, more.len());
    }
    let moov = find(&bytes, b"moov");
    bytes.splice(moov..moov, tail.iter().copied());
    grow(&mut bytes, &[b"mdat"], tail.len());
    bytes
}

/// Where the first box of a type ends.
fn end_of(bytes: &[u8], kind: [u8; 4]) -> usize {
    let start = find(bytes, &kind);
    start + word(bytes, start) as usize
}

/// Where `MORE` begins.
fn place_of_more(bytes: &[u8]) -> u32 {
    let at = bytes.windows(MORE.len()).position(|window| window == MORE);
    u32::try_from(at.unwrap()).unwrap()
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

const STBL: [&[u8; 4]; 5] = [b"moov", b"trak", b"mdia", b"minf", b"stbl"];

/// `saiz` and `saio` of a type that is not the protection's: five bytes for each of six samples.
fn aux(saio_kind: [u8; 4], offset: u32) -> Vec<u8> {
    let saiz = boxed(b"saiz", &[&words(&[1]), b"abcd", &words(&[0]), &[5], &words(&[6])]);
    let saio = boxed(b"saio", &[&words(&[1]), &saio_kind, &words(&[0, 1, offset])]);
    [saiz, saio].concat()
}

#[test]
fn auxiliary_information_of_tables_has_its_bytes() {
    let place = Place::new();
    let at = place_of_more(&with_more(MORE, &[], &[]));
    let bytes = with_more(MORE, &STBL, &aux(*b"abcd", at));
    let (encrypted, summary) =
        place.encrypt(&bytes, &options(Scheme::Cbcs).with_layout(Layout::Keep)).unwrap();
    assert_eq!(summary.unclaimed.ranges, 0);
    assert_eq!(place.decrypt(&encrypted, &keys()).unwrap().0, bytes);
    assert_eq!(place.encrypt(&bytes, &options(Scheme::Cbcs)).unwrap().1.unclaimed.ranges, 0);
    // Without the sizes, nobody knows how much it is.
    let other = with_more(MORE, &STBL, &aux(*b"efgh", at));
    for layout in [Layout::Keep, Layout::Fragmented] {
        let options = options(Scheme::Cbcs).with_layout(layout);
        says(place.encrypt(&other, &options), &["30 bytes of media data at file offset", "text"]);
    }
}

/// A file of two tracks with one fragment. Each track has samples of these sizes from this place of the
/// payload on; `boxes` go to the first track fragment, made for the place of the payload in the `moof`.
fn one_fragment(
    tracks: [(u64, &[u32]); 2],
    boxes: impl Fn(u32) -> Vec<u8>,
    payload: &[u8],
) -> Vec<u8> {
    let init = &AVC_AAC_FRAGMENTS[..find(AVC_AAC_FRAGMENTS, b"moof")];
    let ids: Vec<_> = movie(AVC_AAC_FRAGMENTS).tracks.iter().map(|track| track.id).collect();
    let samples = tracks.map(|(_, sizes)| {
        let flags = Sample::SYNC;
        let sample = |&size| NewSample { size, duration: 512, flags, composition_offset: 0 };
        sizes.iter().map(sample).collect::<Vec<_>>()
    });
    let build = |boxes: &[u8]| {
        let parts = [0, 1].map(|at| {
            let track = NewTrackFragment::new(ids[at], 0, &samples[at], 8 + tracks[at].0);
            if at == 0 { track.with_boxes(boxes) } else { track }
        });
        let used: Vec<_> = parts.into_iter().filter(|part| !part.samples.is_empty()).collect();
        moof(1, &used, &[]).unwrap()
    };
    let len = build(&boxes(0)).len();
    let head = build(&boxes(u32::try_from(len).unwrap() + 8));
    [init, &head, &boxed(b"mdat", &[payload])].concat()
}

#[test]
fn auxiliary_information_of_fragments_has_its_bytes() {
    let place = Place::new();
    // An access unit of AVC, and six of its auxiliary information behind it.
    let unit = samples(AVC_AAC_FRAGMENTS).swap_remove(0);
    let len = u32::try_from(unit.len()).unwrap();
    let payload = [&unit[..], &MORE[..5]].concat();
    let clip = |kind: &'static [u8; 4]| {
        let boxes = move |start: u32| {
            let saiz = boxed(b"saiz", &[&words(&[1]), b"abcd", &words(&[0]), &[5], &words(&[1])]);
            let saio = boxed(b"saio", &[&words(&[1]), kind, &words(&[0, 1, start + len])]);
            [saiz, saio].concat()
        };
        let payload = [&payload[..], b"and more"].concat();
        one_fragment([(0, &[len]), (0, &[])], boxes, &payload)
    };
    let words = ["8 bytes of media data", "text"];
    let clear = options(Scheme::Cenc).with_clear(vec![Selector::Audio]);
    says(place.encrypt(&clip(b"abcd"), &clear), &words);
    says(place.encrypt(&clip(b"efgh"), &clear), &["13 bytes of media data"]);
}

/// Whichever comes first, and however much of it: what is encrypted has no bytes of a clear track.
#[test]
fn fragments_share_no_bytes_with_clear_tracks() {
    let place = Place::new();
    let payload = samples(AVC_AAC_FRAGMENTS).swap_remove(0);
    let len = u32::try_from(payload.len()).unwrap();
    let half = u64::from(len / 2);
    for (video, audio) in [
        ((0, &[len][..]), (0, &[len][..])),
        ((0, &[len]), (half, &[len - len / 2])),
        ((0, &[len]), (half, &[1])),
    ] {
        let bytes = one_fragment([video, audio], |_| Vec::new(), &payload);
        for clear in [Selector::Audio, Selector::Video] {
            let options = options(Scheme::Cenc).with_clear(vec![clear]);
            says(place.encrypt(&bytes, &options), &["share bytes with others"]);
        }
    }
    // The clear one first.
    let bytes = one_fragment([(half, &[1]), (0, &[len])], |_| Vec::new(), &payload);
    let options = options(Scheme::Cenc).with_clear(vec![Selector::Audio]);
    says(place.encrypt(&bytes, &options), &["share bytes with others"]);
}

/// A damaged size lets an index or metadata swallow media, as any other box does.
#[test]
fn indexes_and_metadata_that_swallow_the_rest_are_errors() {
    let place = Place::new();
    let clip = renamed(AVC_AAC_FRAGMENTS, "mfra", "free");
    let second = clip.windows(4).rposition(|word| word == b"moof").unwrap() - 4;
    let mut index = clip.clone();
    index.splice(second..second, *b"\0\0\0\0mfra");
    says(place.encrypt(&index, &options(Scheme::Cenc)), &["mfra box", "type moof", "damaged"]);
    let hdlr = boxed(b"hdlr", &[&[0; 8], b"pict", &[0; 13]]);
    let mut meta = clip;
    let head = [&words(&[0])[..], b"meta", &[0; 4], &hdlr].concat();
    meta.splice(second..second, head);
    says(place.encrypt(&meta, &options(Scheme::Cenc)), &["meta box", "type moof", "damaged"]);
}

/// What is kept is listed: the first hundred ranges, and how much all are.
#[test]
fn many_ranges_are_counted() {
    let place = Place::new();
    for (number, more) in [
        (1, ""),
        (2, " (and one more range, 32 bytes in all)"),
        (150, " (and 149 more ranges, 2400 bytes in all)"),
    ] {
        let gap = boxed(b"mdat", &[b"sixteen letters."]);
        let bytes = [AVC_AAC, &gap.repeat(number)].concat();
        let kept = options(Scheme::Cenc).with_unclaimed(UnclaimedPolicy::Keep);
        for layout in [Layout::Keep, Layout::Fragmented] {
            let kept = kept.clone().with_layout(layout);
            let (_, summary) = place.encrypt(&bytes, &kept).unwrap();
            let unclaimed = summary.unclaimed;
            assert_eq!((unclaimed.ranges, unclaimed.bytes), (number as u64, 16 * number as u64));
            assert_eq!(unclaimed.listed.len(), number.min(100));
            let refused = kept.with_unclaimed(UnclaimedPolicy::Refuse);
            says(place.encrypt(&bytes, &refused), &[&format!("text{more}. They would not")]);
        }
    }
}

#[test]
fn items_of_the_movie_and_of_tracks_are_known() {
    let place = Place::new();
    let at = place_of_more(&with_more(MORE, &[], &[]));
    let len = u32::try_from(MORE.len()).unwrap();
    for path in [&[b"moov"][..], &[b"moov", b"trak"]] {
        let bytes = with_more(MORE, path, &meta(at, len));
        for scheme in Scheme::ALL {
            let keep = options(scheme).with_layout(Layout::Keep);
            let (encrypted, summary) = place.encrypt(&bytes, &keep).unwrap();
            assert_eq!(summary.unclaimed.ranges, 0);
            assert_eq!(place.decrypt(&encrypted, &keys()).unwrap().0, bytes, "{scheme}");
            let words = ["a meta box has items in the media data", "--layout keep"];
            says(place.encrypt(&bytes, &options(scheme)), &words);
        }
    }
}

/// A `moov` in front of the media data moves them when it grows.
#[test]
fn items_of_the_movie_move_with_their_bytes() {
    let place = Place::new();
    let mut bytes = with_tail(MORE);
    let item = meta(0, u32::try_from(MORE.len()).unwrap());
    let end = end_of(&bytes, *b"moov");
    bytes.splice(end..end, item.iter().copied());
    grow(&mut bytes, &[b"moov"], item.len());
    let tables: Vec<_> =
        bytes.windows(4).enumerate().filter(|(_, word)| *word == b"stco").collect();
    let tables: Vec<usize> = tables.into_iter().map(|(at, _)| at).collect();
    assert_eq!(tables.len(), 2);
    for table in tables {
        for chunk in 0..word(&bytes, table + 8) as usize {
            let at = table + 12 + 4 * chunk;
            let moved = word(&bytes, at) + u32::try_from(item.len()).unwrap();
            put(&mut bytes, at, moved);
        }
    }
    // Behind the offset of the extent comes its length, and that is all.
    let (field, at) = (end_of(&bytes, *b"iloc") - 8, place_of_more(&bytes));
    put(&mut bytes, field, at);
    for scheme in Scheme::ALL {
        let keep = options(scheme).with_layout(Layout::Keep);
        let (encrypted, _) = place.encrypt(&bytes, &keep).unwrap();
        assert_ne!(encrypted.len(), bytes.len());
        let moved = movie(&encrypted).item_extents().unwrap();
        let [item] = &moved[..] else { panic!("one item") };
        let [start, end] = [item.start, item.end].map(|at| usize::try_from(at).unwrap());
        assert_eq!(&encrypted[start..end], MORE, "{scheme}");
        assert_eq!(place.decrypt(&encrypted, &keys()).unwrap().0, bytes, "{scheme}");
    }
}

/// Fragments move, and items in them would be lost.
#[test]
fn items_of_fragmented_files_are_refused() {
    let place = Place::new();
    let first = AVC_AAC_FRAGMENTS.windows(4).position(|word| word == b"mdat").unwrap();
    let at = u32::try_from(first).unwrap() + 4;
    let item = meta(at, 9);
    let words = ["a meta box has items in the media data (9 bytes", "take them out first"];
    let clip = [AVC_AAC_FRAGMENTS, &item].concat();
    for layout in [Layout::Keep, Layout::Fragmented] {
        says(place.encrypt(&clip, &options(Scheme::Cbcs).with_layout(layout)), &words);
    }
    let (encrypted, _) = place.encrypt(AVC_AAC_FRAGMENTS, &options(Scheme::Cbcs)).unwrap();
    says(place.decrypt(&[&encrypted[..], &item].concat(), &keys()), &words);
}

/// Whether a key is right has nothing to do with media that are passed on as they are.
#[test]
fn keys_are_checked_whatever_is_unclaimed() {
    let place = Place::new();
    let kept = options(Scheme::Cbcs).with_unclaimed(UnclaimedPolicy::Keep);
    let kept = kept.with_layout(Layout::Keep);
    let (encrypted, _) = place.encrypt(&with_tail(MORE), &kept).unwrap();
    says(place.decrypt(&encrypted, &keys()), &["30 bytes of media data"]);
    let path = place.file("in.mp4");
    fs::write(&path, &encrypted).unwrap();
    assert_eq!(
        check_keys(&lanelock_packager::io::FileSource::open(&path).unwrap(), &keys(), &Quiet)
            .unwrap()
            .len(),
        2
    );
}

/// A track without samples has nothing to decrypt, and that is no damage.
#[test]
fn tracks_without_samples_are_decrypted() {
    let place = Place::new();
    let init = &AVC_AAC_FRAGMENTS[..find(AVC_AAC_FRAGMENTS, b"moof")];
    let (encrypted, _) = place.encrypt(init, &options(Scheme::Cenc)).unwrap();
    assert_eq!(place.decrypt(&encrypted, &keys()).unwrap().0, init);
}

/// A track whose sample entries are protected in different ways has no table for both.
#[test]
fn entries_with_and_without_subsamples_are_refused() {
    let place = Place::new();
    // The first such word is a brand.
    let entry = AVC.windows(4).rposition(|word| word == b"avc1").unwrap() - 4;
    let end = entry + word(AVC, entry) as usize;
    let mut second = AVC[entry..end].to_vec();
    second[4..8].copy_from_slice(b"mp4a");
    let mut bytes = AVC.to_vec();
    bytes.splice(end..end, second.iter().copied());
    let path = [&STBL[..], &[b"stsd"]].concat();
    grow(&mut bytes, &path, second.len());
    let count = find(&bytes, b"stsd") + 12;
    put(&mut bytes, count, 2);
    for layout in [Layout::Keep, Layout::Fragmented] {
        let options = options(Scheme::Cbcs).with_layout(layout);
        says(place.encrypt(&bytes, &options), &["track 1", "by subsamples and others whole"]);
    }
}

/// Samples that no plan visits, or that lie where no media are.
#[test]
fn samples_in_odd_places_are_refused() {
    let place = Place::new();
    let keep = options(Scheme::Cenc).with_layout(Layout::Keep);
    let (encrypted, _) = place.encrypt(AVC, &keep).unwrap();
    let outside = ["track 1", "is not inside an mdat box"];
    says(place.decrypt(&renamed(&encrypted, "mdat", "free"), &keys()), &outside);
    says(place.encrypt(&renamed(AVC, "mdat", "free"), &keep), &outside);

    let mvex = boxed(b"mvex", &[&full(b"trex", &[0, 1, 1, 0, 0, 0])]);
    let both = with_more(b"", &[b"moov"], &mvex);
    says(place.encrypt(&both, &keep), &["track 1 has samples in moov and in fragments"]);
    let neither = renamed(AVC_FRAGMENTS, "mvex", "free");
    says(place.encrypt(&neither, &keep), &["moof boxes, but no mvex in moov"]);
    let moov = find(AVC, b"moov");
    let twice = [AVC, &AVC[moov..end_of(AVC, *b"moov")]].concat();
    says(place.encrypt(&twice, &keep), &["a second moov at file offset"]);
}
