//! Forms of fragments that few writers make: bases of data offsets, several track fragments of a track in
//! one `moof`, and boxes of protection that clear tracks have left.

use crate::io_support::Verb;
use crate::support::{AAC, AVC_AAC_FRAGMENTS, Place, Warnings, keys, options, samples, says};
use lanelock_mp4::top_level;
use lanelock_packager::{
    IndexPolicy, Layout, MoviePlan, PlanOptions, Protection, Scheme, SegmentEncryptor, Selector,
    decrypt_segment, inspect,
    io::{MemorySink, MemorySource, PipeSource},
};
use lanelock_testkit::{
    boxes::{boxed, find, full, grow, media, word, words},
    fragments::{FragmentForm, OffsetBase, refragmented, segments},
};
use std::sync::Arc;

const BASES: [OffsetBase; 4] =
    [OffsetBase::Moof, OffsetBase::Mdat, OffsetBase::File, OffsetBase::Previous];

/// Through encryption, encryption anew and decryption, from memory and from a pipe: the samples come
/// back, and `inspect` sees all of them protected.
fn round_trip(clip: &[u8], what: &str) {
    let expected = samples(clip);
    let inspected = |bytes: &[u8]| inspect(&MemorySource::new("memory", bytes)).unwrap();
    for scheme in Scheme::ALL {
        let encrypt = Verb::Encrypt(scheme, Layout::Keep);
        let other = Scheme::ALL[(scheme as usize + 1) % 4];
        let sealed = encrypt.in_memory(clip, 2).unwrap();
        assert!(samples(&sealed) != expected);
        for (before, after) in inspected(clip).tracks.iter().zip(inspected(&sealed).tracks) {
            let protection = after.protection.unwrap();
            assert_eq!(protection.protected_access_units, before.access_units, "{what} {scheme}");
        }
        let anew = Verb::Rewrap(other).in_memory(&sealed, 2).unwrap();
        assert!(samples(&anew) != samples(&sealed));
        for (verb, bytes) in [(Verb::Decrypt, &sealed), (Verb::DecryptAnew, &anew)] {
            let back = verb.in_memory(bytes, 2).unwrap();
            assert_eq!(samples(&back), expected, "{what} {scheme} {verb:?}");
            assert_eq!(
                inspected(&back).tracks.iter().filter(|t| t.protection.is_some()).count(),
                0
            );
        }
        for (verb, bytes) in
            [(encrypt, clip), (Verb::Decrypt, &sealed), (Verb::Rewrap(other), &sealed)]
        {
            let pipe = PipeSource::new("pipe", bytes);
            let memory = verb.in_memory(bytes, 1).unwrap();
            assert!(verb.from(&pipe, 1).unwrap() == memory, "{what} {scheme} {verb:?} from a pipe");
        }
    }
}

#[test]
fn every_base_of_data_offsets() {
    for base in BASES {
        let clip = refragmented(AVC_AAC_FRAGMENTS, FragmentForm::new(base));
        assert_eq!(samples(&clip), samples(AVC_AAC_FRAGMENTS));
        round_trip(&clip, &format!("{base:?}"));
    }
}

#[test]
fn several_track_fragments_of_a_track() {
    for base in BASES {
        for trafs in [2, 3] {
            let form = FragmentForm { trafs, ..FragmentForm::new(base) };
            let clip = refragmented(AVC_AAC_FRAGMENTS, form);
            round_trip(&clip, &format!("{base:?} {trafs}"));
        }
    }
}

/// One warning for each such track: some decrypters do not read them.
#[test]
fn several_track_fragments_are_warned_of() {
    let (place, warnings) = (Place::new(), Warnings::default());
    for (trafs, expected) in [(1, 0), (2, 2)] {
        let form = FragmentForm { trafs, ..FragmentForm::new(OffsetBase::Moof) };
        let clip = refragmented(AVC_AAC_FRAGMENTS, form);
        place.watched(&clip, &options(Scheme::Cbcs), &warnings).unwrap();
        let warned = warnings.take();
        let warned = warned.iter().filter(|what| what.contains("several track fragments")).count();
        assert_eq!(warned, expected, "{warned:?}");
    }
}

/// The index that is built has one entry for a fragment, however many track fragments a track has in it:
/// it begins with a stream access point if the first one does.
#[test]
fn the_index_of_several_track_fragments() {
    let place = Place::new();
    let sidx = |trafs| {
        let form = FragmentForm { trafs, ..FragmentForm::new(OffsetBase::Moof) };
        let mut clip = refragmented(AVC_AAC_FRAGMENTS, form);
        // The first fragment has its sync sample last of three.
        let runs = clip.windows(4).enumerate().filter(|(_, word)| *word == b"trun");
        let runs: Vec<usize> = runs.map(|(at, _)| at + 24).take(3).collect();
        let flags = if trafs == 1 { [runs[0], runs[0] + 32] } else { [runs[0], runs[2]] };
        let [first, last] = flags.map(|at| word(&clip, at).to_be_bytes());
        assert_eq!([first[1] & 1, last[1] & 1], [0, 1], "a sync sample, and another");
        clip[flags[0]..flags[0] + 4].copy_from_slice(&last);
        clip[flags[1]..flags[1] + 4].copy_from_slice(&first);
        let options = options(Scheme::Cbcs).with_index(IndexPolicy::Build);
        let (bytes, _) = place.encrypt(&clip, &options).unwrap();
        let found = top_level(&bytes[..]).map(Result::unwrap).filter(|h| h.kind == b"sidx");
        let mut boxes = Vec::new();
        for header in found {
            let at = usize::try_from(header.offset).unwrap();
            let mut sidx = bytes[at..at + usize::try_from(header.size).unwrap()].to_vec();
            // Sizes differ: the second word of three in each reference.
            let fields = if sidx[8] == 0 { 32 } else { 40 };
            for reference in sidx[fields..].chunks_mut(12) {
                reference[..4].fill(0);
            }
            boxes.push(sidx);
        }
        boxes
    };
    assert_eq!(sidx(1).len(), 2);
    assert_eq!(sidx(1), sidx(3));
}

/// Segments that are files of their own, whose bases count from their own beginning.
#[test]
fn bases_in_segments() {
    let quiet = &lanelock_packager::Quiet;
    for base in BASES {
        let form = FragmentForm { trafs: 2, ..FragmentForm::new(base) };
        let (init, segments) = segments(AVC_AAC_FRAGMENTS, form);
        let init = MemorySource::new("init", init);
        for scheme in Scheme::ALL {
            let mut encryptor = SegmentEncryptor::new(&init, options(scheme)).unwrap();
            let sink = MemorySink::new();
            encryptor.init(Box::new(sink.clone()), quiet).unwrap();
            let sealed_init = MemorySource::new("sealed init", sink.into_bytes().unwrap());
            for segment in &segments {
                let sink = MemorySink::new();
                let source = MemorySource::new("segment", &segment[..]);
                encryptor.segment(&source, Box::new(sink.clone()), quiet).unwrap();
                let sealed = sink.into_bytes().unwrap();
                assert!(media(&sealed) != media(segment));
                let (sink, source) = (MemorySink::new(), MemorySource::new("sealed", sealed));
                decrypt_segment(&sealed_init, &source, Box::new(sink.clone()), &keys(), quiet)
                    .unwrap();
                let back = sink.into_bytes().unwrap();
                assert!(media(&back) == media(segment), "{base:?} {scheme}");
            }
        }
    }
}

/// What an earlier protection leaves in a fragment: `senc` with IVs and empty lists of subsamples, `saiz`
/// and `saio`.
fn leftovers(samples: u32) -> Vec<u8> {
    let ivs = [9, 9, 9, 9, 9, 9, 9, 9, 0, 0].repeat(samples as usize);
    [
        boxed(b"saiz", &[&[0; 4], &[10], &words(&[samples])]),
        full(b"saio", &[0, 1, 100]),
        boxed(b"senc", &[&words(&[2, samples]), &ivs]),
    ]
    .concat()
}

/// A group that says of all samples whether they are encrypted.
fn seig(samples: u32, is_protected: u8) -> Vec<u8> {
    let entry = [&[0, 0, is_protected, 8 * is_protected][..], &[7; 16]].concat();
    [
        boxed(b"sgpd", &[&words(&[1 << 24]), b"seig", &words(&[20, 1]), &entry]),
        boxed(b"sbgp", &[&words(&[0]), b"seig", &words(&[1, samples, 0x1_0001])]),
    ]
    .concat()
}

/// The same in `stbl`.
fn global_seig(samples: u32) -> Vec<u8> {
    let mut boxes = seig(samples, 0);
    let index = boxes.len() - 4;
    boxes[index..].copy_from_slice(&words(&[1]));
    boxes
}

/// A progressive clip with that in `stbl`; its `moov` stands behind the media.
fn progressive(more: fn(u32) -> Vec<u8>) -> Vec<u8> {
    let mut bytes = AAC.to_vec();
    let at = find(&bytes, b"stsz");
    let more = more(word(&bytes, at + 16));
    grow(&mut bytes, &[b"moov", b"trak", b"mdia", b"minf", b"stbl"], more.len());
    bytes.splice(at..at, more);
    bytes
}

/// Clear clips that something is left over in.
fn with_leftovers() -> [(Vec<u8>, &'static [u8]); 4] {
    let form = |boxes| FragmentForm { boxes, ..FragmentForm::new(OffsetBase::Moof) };
    [
        (refragmented(AVC_AAC_FRAGMENTS, form(leftovers)), AVC_AAC_FRAGMENTS),
        (refragmented(AVC_AAC_FRAGMENTS, form(|samples| seig(samples, 0))), AVC_AAC_FRAGMENTS),
        (progressive(leftovers), AAC),
        (progressive(|samples| [leftovers(samples), global_seig(samples)].concat()), AAC),
    ]
}

/// Boxes of an earlier protection are replaced, with a warning for each track, and are gone when the file is decrypted.
#[test]
fn leftovers_of_clear_tracks_are_replaced() {
    let place = Place::new();
    let warnings = Warnings::default();
    for (clip, clean) in with_leftovers() {
        let report = inspect(&MemorySource::new("memory", &clip[..])).unwrap();
        assert!(report.tracks.iter().all(|track| track.leftovers && track.protection.is_none()));
        for scheme in Scheme::ALL {
            for layout in [Layout::Keep, Layout::Fragmented] {
                let options = options(scheme).with_layout(layout);
                let (sealed, _) = place.watched(&clip, &options, &warnings).unwrap();
                let warned = warnings.take();
                let of_leftovers = warned.iter().filter(|what| what.contains("earlier protection"));
                assert_eq!(of_leftovers.count(), report.tracks.len(), "{warned:?}");
                let (back, _) = place.decrypt(&sealed, &keys()).unwrap();
                assert_eq!(samples(&back), samples(clean), "{scheme} {layout:?}");
                for kind in [b"senc", b"saiz", b"saio", b"seig"] {
                    assert!(!back.windows(4).any(|word| word == kind), "{scheme} {layout:?}");
                }
            }
        }
        says(place.decrypt(&clip, &keys()), &["by its sample entries", "nothing to decrypt"]);
    }
}

/// A track that is to stay clear keeps them, and they are no matter when the others are decrypted.
#[test]
fn leftovers_of_other_tracks_are_no_matter() {
    let place = Place::new();
    let warnings = Warnings::default();
    let (clip, clean) = &with_leftovers()[0];
    for scheme in Scheme::ALL {
        let options = options(scheme).with_clear(vec![Selector::Audio]);
        let (sealed, _) = place.watched(clip, &options, &warnings).unwrap();
        assert_eq!(
            warnings.take().iter().filter(|what| what.contains("earlier protection")).count(),
            1
        );
        let report = inspect(&MemorySource::new("memory", &sealed[..])).unwrap();
        assert_eq!(
            report.tracks.iter().map(|track| track.leftovers).collect::<Vec<_>>(),
            [false, true]
        );
        let (back, _) = place.decrypt(&sealed, &keys()).unwrap();
        assert_eq!(samples(&back), samples(clean), "{scheme}");
    }
}

/// A service is warned of such boxes where they are: in `moov`, or in a segment.
#[test]
fn leftovers_of_planned_movies() {
    let warnings = Warnings::default();
    let planning = PlanOptions::new();
    for ((clip, clean), of_movie) in with_leftovers().into_iter().zip([0, 0, 1, 1]) {
        let plan =
            MoviePlan::new(Arc::new(MemorySource::new("memory", clip)), &planning, &warnings);
        let plan = plan.unwrap();
        assert!(warnings.take().is_empty());
        let protection = Protection::new(&plan, options(Scheme::Cbcs), &warnings).unwrap();
        let left_over = || {
            let warnings = warnings.take();
            warnings.iter().filter(|what| what.contains("earlier protection")).count()
        };
        assert_eq!(left_over(), of_movie);
        let mut whole = protection.init().to_vec();
        for (number, planned) in plan.segments().iter().enumerate() {
            whole.extend(protection.segment_watched(number, &warnings).unwrap());
            let expected = if of_movie == 0 { planned.tracks.len() } else { 0 };
            assert_eq!(left_over(), expected);
        }
        let (back, _) = Place::new().decrypt(&whole, &keys()).unwrap();
        assert_eq!(samples(&back), samples(clean));
    }
}

/// A clear sample entry whose samples are encrypted, by their groups, is not believed.
#[test]
fn groups_that_contradict_a_clear_entry_are_refused() {
    let place = Place::new();
    let form =
        FragmentForm { boxes: |samples| seig(samples, 1), ..FragmentForm::new(OffsetBase::Moof) };
    let clip = refragmented(AVC_AAC_FRAGMENTS, form);
    let words = ["track 1", "encrypted already, its sample entry says not"];
    says(place.encrypt(&clip, &options(Scheme::Cbcs)), &words);
}

/// All samples are clear by their groups: a clear lead, or a segment of one. It is decrypted to what it
/// says that it is.
#[test]
fn samples_that_groups_call_clear_are_passed_on() {
    let place = Place::new();
    for scheme in Scheme::ALL {
        let init = Verb::Encrypt(scheme, Layout::Keep).in_memory(AVC_AAC_FRAGMENTS, 1).unwrap();
        let head = |bytes: &[u8]| {
            let moof = top_level(bytes).map(Result::unwrap).find(|h| h.kind == b"moof").unwrap();
            usize::try_from(moof.offset).unwrap()
        };
        let form = FragmentForm {
            boxes: |samples| seig(samples, 0),
            ..FragmentForm::new(OffsetBase::Moof)
        };
        let clear = refragmented(AVC_AAC_FRAGMENTS, form);
        let lead = [&init[..head(&init)], &clear[head(&clear)..]].concat();
        let back = Verb::Decrypt.in_memory(&lead, 1).unwrap();
        assert_eq!(samples(&back), samples(AVC_AAC_FRAGMENTS));
        assert!(!back.windows(4).any(|word| word == b"seig"));
        // Without the groups, the sample entry speaks: there is no IV, or the media are ciphertext.
        let bare = [&init[..head(&init)], &AVC_AAC_FRAGMENTS[head(AVC_AAC_FRAGMENTS)..]].concat();
        assert!(place.decrypt(&bare, &keys()).is_err(), "{scheme}");
    }
}
