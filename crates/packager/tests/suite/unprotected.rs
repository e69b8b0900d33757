//! Nothing leaves unprotected: tracks of every handler, media data that nothing refers to, input that
//! changes, initialization segments alone.

use std::{
    fs,
    io::Write as _,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use crate::support::*;
use lanelock_mp4::{BoxRef, item_extents, load, top_level};
use lanelock_packager::{
    EncryptOptions, Iv, KeyMap, Layout, Observer, Quiet, Scheme, SegmentEncryptor, Selector,
    UnclaimedPolicy, decrypt_file, encrypt_file, encrypt_segment, inspect_file,
    io::{FileSource, MemorySink, MemorySource, Source as _},
};

/// Image sequences and auxiliary video are encrypted like any video of their codec.
#[test]
fn every_handler_of_video_has_subsamples_and_pattern() {
    let place = Place::new();
    for handler in ["vide", "pict", "auxv"] {
        for (clip, layout) in [
            (HEVC, Layout::Fragmented),
            (HEVC, Layout::Keep),
            (HEVC_FRAGMENTS, Layout::Fragmented),
            (AVC, Layout::Fragmented),
            (AVC, Layout::Keep),
            (AVC_FRAGMENTS, Layout::Fragmented),
        ] {
            for scheme in Scheme::ALL {
                let what = format!("{handler} {scheme} {layout:?}");
                let clip = renamed(clip, "vide", handler);
                // The output of `vide` differs from it in the handler alone.
                let iv = Iv::Given(vec![7; 16]);
                let options = options(scheme).with_layout(layout).with_iv(iv);
                let (encrypted, summary) = place.encrypt(&clip, &options).unwrap();
                let vide = renamed(&clip, handler, "vide");
                let (as_video, _) = place.encrypt(&vide, &options).unwrap();
                assert_eq!(renamed(&as_video, "vide", handler), encrypted, "{what}");
                assert!(summary.access_units > 0);

                fs::write(place.file("in.mp4"), &encrypted).unwrap();
                let report = inspect_file(&place.file("in.mp4")).unwrap();
                let protection = report.tracks[0].protection.as_ref().unwrap();
                assert_eq!(protection.with_subsamples, summary.access_units, "{what}");
                let pattern = scheme.has_pattern().then(|| "1:9".to_owned());
                assert_eq!(protection.pattern, pattern, "{what}");

                let (back, _) = place.decrypt(&encrypted, &keys()).unwrap();
                assert_eq!(samples(&back), samples(&clip), "{what}");
                if layout == Layout::Keep || samples(&clip).is_empty() {
                    assert_eq!(back, clip, "{what}");
                }
            }
        }
    }
}

/// A key for video is one for them as well.
#[test]
fn every_handler_of_video_is_selected_as_video() {
    let place = Place::new();
    for handler in ["vide", "pict", "auxv"] {
        let mut keys = KeyMap::new();
        keys.insert(Selector::Video, key()).unwrap();
        let options = EncryptOptions::new(Scheme::Cbcs, keys);
        let (_, summary) = place.encrypt(&renamed(AVC, "vide", handler), &options).unwrap();
        assert_eq!(summary.access_units, 6, "{handler}");
    }
}

/// Only the protected ranges of video are ciphertext, and `inspect` counts it.
#[test]
fn inspect_counts_ciphertext() {
    let place = Place::new();
    for (scheme, pattern) in [
        (Scheme::Cenc, (0, 0)),
        (Scheme::Cbcs, (1, 9)),
        (Scheme::Cbcs, (10, 0)),
        (Scheme::Cens, (5, 5)),
    ] {
        let mut options = options(scheme).with_layout(Layout::Keep);
        if scheme.has_pattern() {
            options = options.with_pattern(pattern.0, pattern.1);
        }
        let (encrypted, _) = place.encrypt(AVC, &options).unwrap();
        fs::write(place.file("in.mp4"), &encrypted).unwrap();
        let report = inspect_file(&place.file("in.mp4")).unwrap();
        let protection = report.tracks[0].protection.as_ref().unwrap();
        // A block that encryption leaves as it was has a probability of 2^-128.
        let (before, after) = (samples(AVC).concat(), samples(&encrypted).concat());
        let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count() as u64;
        let counted = protection.ciphertext_bytes;
        // One byte in 256 is the same by chance.
        assert!(
            changed <= counted && counted - changed < counted / 20 + 16,
            "{scheme} {pattern:?}: {counted} counted, {changed} changed"
        );
        if pattern == (10, 0) {
            assert!(protection.protected_bytes - counted < 16 * protection.subsamples);
        }
    }
}

/// Of what is protected whole, `cenc` encrypts the last, partial block too.
#[test]
fn inspect_counts_partial_blocks() {
    let place = Place::new();
    for scheme in Scheme::ALL {
        let options = options(scheme).with_layout(Layout::Keep);
        let (encrypted, _) = place.encrypt(AAC, &options).unwrap();
        fs::write(place.file("in.mp4"), &encrypted).unwrap();
        let report = inspect_file(&place.file("in.mp4")).unwrap();
        let protection = report.tracks[0].protection.as_ref().unwrap();
        let sizes = samples(AAC).into_iter().map(|sample| sample.len() as u64);
        let whole = |size| if scheme == Scheme::Cenc { size } else { size / 16 * 16 };
        assert_eq!(protection.ciphertext_bytes, sizes.map(whole).sum::<u64>(), "{scheme}");
    }
}

/// A `moof` whose type is damaged leaves its samples undescribed.
#[test]
fn a_fragment_that_is_not_described_is_an_error() {
    let place = Place::new();
    let mfra = renamed(AVC_AAC_FRAGMENTS, "mfra", "free");
    let damaged = renamed_one(&mfra, 1, "moof", "moog");
    let mdat = damaged.windows(4).rposition(|word| word == b"mdat").unwrap() + 4;
    let len = u32::from_be_bytes(damaged[mdat - 8..mdat - 4].try_into().unwrap()) - 8;
    let words = [&format!("{len} bytes of media data at file offset {mdat}"), "NAL units"];
    for scheme in Scheme::ALL {
        says(place.encrypt(&damaged, &options(scheme)), &words.map(|word| word as &str));
    }
    let kept = options(Scheme::Cbcs).with_unclaimed(UnclaimedPolicy::Keep);
    let (encrypted, summary) = place.encrypt(&damaged, &kept).unwrap();
    assert_eq!((summary.unclaimed.ranges, summary.unclaimed.bytes), (1, len.into()));
    assert_eq!(summary.unclaimed.listed[0].offset, mdat as u64);
    let tail = &damaged[mdat..][..len as usize];
    assert!(encrypted.windows(tail.len()).any(|bytes| bytes == tail));
    // The same on the way back.
    says(place.decrypt(&encrypted, &keys()), &["bytes of media data at file offset"]);
    let kept = keys().with_unclaimed(UnclaimedPolicy::Keep);
    let (back, summary) = place.decrypt(&encrypted, &kept).unwrap();
    assert_eq!(back, damaged);
    assert_eq!(summary.unclaimed.bytes, u64::from(len));
}

/// A track that no `trak` box describes is an error too: its bytes belong to no sample.
#[test]
fn a_hidden_track_is_an_error() {
    let place = Place::new();
    for number in 0..2 {
        let hidden = renamed_one(AVC_AAC, number, "trak", "trai");
        for layout in [Layout::Keep, Layout::Fragmented] {
            let options = options(Scheme::Cbcs).with_layout(layout);
            says(place.encrypt(&hidden, &options), &["belong to no sample and no item"]);
            let options = options.with_unclaimed(UnclaimedPolicy::Keep);
            let (_, summary) = place.encrypt(&hidden, &options).unwrap();
            let all: usize = samples(AVC_AAC).iter().map(Vec::len).sum();
            let seen: usize = samples(&hidden).iter().map(Vec::len).sum();
            assert_eq!(summary.unclaimed.bytes, (all - seen) as u64);
        }
    }
    // In fragments, the track fragments of such a track have no track.
    let hidden = renamed_one(AVC_AAC_FRAGMENTS, 1, "trak", "trai");
    says(place.encrypt(&hidden, &options(Scheme::Cbcs)), &["moov/mvex/trex"]);
}

/// A damaged size lets one box swallow all that follows, media data and all.
#[test]
fn a_box_that_swallows_the_rest_is_an_error() {
    let place = Place::new();
    let clip = renamed(AVC_AAC_FRAGMENTS, "mfra", "free");
    let box_at = |bytes: &[u8], number: usize, kind: &[u8]| {
        let words = bytes.windows(4).enumerate().filter(|(_, word)| *word == kind);
        words.map(|(at, _)| at - 4).nth(number).unwrap()
    };
    // The size field is 0, which means "to the end of the file".
    for kind in ["styp", "free", "prft", "ABCD"] {
        for number in 0..2 {
            let mut bytes = clip.clone();
            let at = box_at(&clip, number, b"moof");
            let open = [&[0; 4], kind.as_bytes(), b"msdh\0\0\0\0"].concat();
            bytes.splice(at..at, open);
            let len = bytes.len() - at - 8;
            let words = [&format!("{len} bytes"), &format!("a {kind} box whose size is damaged")];
            for scheme in Scheme::ALL {
                let options = options(scheme).with_iv(Iv::Given(vec![9; 16]));
                let options = options.with_clear(vec![Selector::Audio]);
                says(place.encrypt(&bytes, &options), &words.map(|word| word as &str));
            }
            let kept = options(Scheme::Cbcs).with_unclaimed(UnclaimedPolicy::Keep);
            if number == 1 {
                let (encrypted, summary) = place.encrypt(&bytes, &kept).unwrap();
                assert_eq!((summary.unclaimed.ranges, summary.unclaimed.bytes), (1, len as u64));
                says(place.decrypt(&encrypted, &keys()), &words.map(|word| word as &str));
            }
        }
    }
    // Padding may go on to the end.
    let mut padded = clip.clone();
    padded.extend([0, 0, 0, 0, b'f', b'r', b'e', b'e', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let (encrypted, _) = place.encrypt(&padded, &options(Scheme::Cbcs)).unwrap();
    assert_eq!(place.decrypt(&encrypted, &keys()).unwrap().0, padded);
    // Without fragments, the file would pass for an initialization segment.
    for size in [0, 1] {
        let mut bytes = clip.clone();
        let at = box_at(&clip, 0, b"moov");
        let first = u32::try_from(box_at(&clip, 1, b"moof") - at).unwrap() * size;
        bytes[at..at + 4].copy_from_slice(&first.to_be_bytes());
        says(place.encrypt(&bytes, &options(Scheme::Cenc)), &["moov box", "type moof", "damaged"]);
    }
}

/// Where the bytes of an encrypted track are also those of a clear one, it would give them away.
#[test]
fn shared_bytes_stay_protected() {
    let place = Place::new();
    let clear = |layout| {
        options(Scheme::Cenc)
            .with_layout(layout)
            .with_clear(vec![Selector::Audio])
            .with_unclaimed(UnclaimedPolicy::Keep)
    };
    let nth = |bytes: &[u8], number: usize, kind: &[u8]| {
        let words = bytes.windows(4).enumerate().filter(|(_, word)| *word == kind);
        words.map(|(at, _)| at).nth(number).unwrap()
    };
    // All chunks of the audio lie where the first of the video does.
    let mut bytes = AVC_AAC.to_vec();
    let [video, audio] = [0, 1].map(|number| nth(AVC_AAC, number, b"stco"));
    let chunks = usize::from(bytes[audio + 11]);
    for chunk in 0..chunks {
        bytes.copy_within(video + 12..video + 16, audio + 12 + 4 * chunk);
    }
    for layout in [Layout::Keep, Layout::Fragmented] {
        says(place.encrypt(&bytes, &clear(layout)), &["track 1", "shares bytes with a track"]);
    }
    // An item that is made of a sample would be spoilt.
    let first = bytes[video + 12..video + 16].try_into().unwrap();
    let shared = [AVC_AAC, &meta(u32::from_be_bytes(first), 20)[..]].concat();
    says(place.encrypt(&shared, &clear(Layout::Keep)), &["track 1", "or with an item"]);

    // In fragments: the audio of the second lies where the video of the first does.
    let mut bytes = AVC_AAC_FRAGMENTS.to_vec();
    let moofs = [0, 1].map(|number| nth(&bytes, number, b"moof"));
    let first = nth(&bytes, 0, b"trun") + 12;
    let second = bytes.windows(4).rposition(|word| word == b"trun").unwrap() + 12;
    let offset = i32::from_be_bytes(bytes[first..first + 4].try_into().unwrap());
    let back = offset - i32::try_from(moofs[1] - moofs[0]).unwrap();
    bytes[second..second + 4].copy_from_slice(&back.to_be_bytes());
    says(place.encrypt(&bytes, &clear(Layout::Keep)), &["track 2", "outside of the boxes behind"]);
    // Decrypted twice is encrypted again.
    let (mut encrypted, _) = place.encrypt(AVC_AAC_FRAGMENTS, &options(Scheme::Cenc)).unwrap();
    let [first, audio] = [0, 1].map(|number| nth(&encrypted, number, b"trun") + 12);
    encrypted.copy_within(first..first + 4, audio);
    let kept = keys().with_unclaimed(UnclaimedPolicy::Keep);
    says(place.decrypt(&encrypted, &kept), &["share bytes with others"]);
}

#[test]
fn gaps_of_zeros_and_short_ones_are_fine() {
    let place = Place::new();
    for layout in [Layout::Keep, Layout::Fragmented] {
        let options = options(Scheme::Cenc).with_layout(layout);
        for tail in [&vec![0; 100_000][..], &[7; 7], &[0; 1]] {
            let (_, summary) = place.encrypt(&with_tail(tail), &options).unwrap();
            assert_eq!(summary.unclaimed.ranges, 0);
        }
        for (tail, looks) in [
            (&b"\0\0\0\x10moof12345678"[..], "a box of type moof"),
            (b"\xff\xf1\x50\x80\x02\x1f\xfc\x01", "AAC in ADTS"),
            (b"\x0b\x77\x50\x80\x02\x1f\xfc\x01", "AC-3"),
            (b"<?xpacket begin", "text"),
            (b"\x80\x81\x82\x83\x84\x85\x86\x87\x88", "80 81 82 83 84 85 86 87"),
            // Zeros alone are padding, and this is not zeros alone.
            (&[&vec![0; 70_000][..], &[1]].concat(), "00 00 00 00"),
        ] {
            says(place.encrypt(&with_tail(tail), &options), &[looks, "--keep-unclaimed"]);
        }
    }
}

#[test]
fn nothing_to_encrypt_or_to_decrypt_is_an_error() {
    let place = Place::new();
    // The audio has no fragments; its samples are kept as they are, and the video is to stay clear.
    let mut bytes = renamed(AVC_AAC_FRAGMENTS, "mfra", "free");
    for fragment in 0..2 {
        bytes = renamed_one(&bytes, fragment + 1, "traf", "free");
    }
    let nothing = options(Scheme::Cenc)
        .with_clear(vec![Selector::Video])
        .with_unclaimed(UnclaimedPolicy::Keep);
    says(place.encrypt(&bytes, &nothing), &["nothing would be protected"]);
    // A protected entry that says of itself that it protects nothing.
    let (mut encrypted, _) = place.encrypt(AVC_AAC, &options(Scheme::Cbcs)).unwrap();
    let tenc = encrypted.windows(4).position(|word| word == b"tenc").unwrap();
    encrypted[tenc + 10] = 0; // default_isProtected
    says(place.decrypt(&encrypted, &keys()), &["track 1 (avc1)", "none of its 6 access units"]);
}

/// Audio that starts late: one of the segments may have nothing to protect, all of them may not.
#[test]
fn segments_without_anything_to_encrypt() {
    let bytes = renamed(AVC_AAC_FRAGMENTS, "mfra", "free");
    let late = renamed_one(&bytes, 1, "traf", "free");
    let never = renamed_one(&late, 2, "traf", "free");
    let options = options(Scheme::Cbcs)
        .with_clear(vec![Selector::Video])
        .with_iv(Iv::Given(vec![7; 16]))
        .with_unclaimed(UnclaimedPolicy::Keep);
    for (clip, units) in [(late, [0, 12]), (never, [0, 0])] {
        let starts: Vec<_> = top_level(&clip[..])
            .map(Result::unwrap)
            .filter(|header| header.kind == b"moof")
            .map(|header| usize::try_from(header.offset).unwrap())
            .collect();
        let init = MemorySource::new("init.mp4", clip[..starts[0]].to_vec());
        let mut encryptor = SegmentEncryptor::new(&init, options.clone()).unwrap();
        let head = MemorySink::new();
        encryptor.init(Box::new(head.clone()), &Quiet).unwrap();
        let mut found = Vec::new();
        for range in [starts[0]..starts[1], starts[1]..clip.len()] {
            let segment = MemorySource::new("segment.m4s", clip[range].to_vec());
            let [together, alone] = [MemorySink::new(), MemorySink::new()];
            let summary = encryptor.segment(&segment, Box::new(together.clone()), &Quiet).unwrap();
            encrypt_segment(&init, &segment, Box::new(alone.clone()), &options, &Quiet).unwrap();
            assert!(together.into_bytes() == alone.into_bytes());
            found.push(summary.access_units);
        }
        assert_eq!(found, units);
        let result = encryptor.finish().map_err(|error| error.to_string());
        match units {
            [0, 0] => assert!(result.unwrap_err().contains("nothing would be protected")),
            _ => result.unwrap(),
        }
    }
}

/// Calls the function at the first sign of progress.
struct Meddler<'f> {
    once: AtomicBool,
    meddle: &'f (dyn Fn() + Sync),
}

impl Observer for Meddler<'_> {
    fn progress(&self, _: u64, _: u64) {
        if !self.once.swap(true, Ordering::Relaxed) {
            (self.meddle)();
        }
    }
}

/// Input that grows, is written to, or is replaced while it is read.
#[test]
fn changing_input_is_an_error() {
    let place = Place::new();
    let (input, output) = (place.file("input.mp4"), place.file("output.mp4"));
    let other = place.file("other.mp4");
    let open = || fs::OpenOptions::new().append(true).open(&input).unwrap();
    let set_time = |time| open().set_times(fs::FileTimes::new().set_modified(time)).unwrap();
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let grow = || open().write_all(b"\0\0\0\x08free").unwrap();
    let touch = || set_time(SystemTime::UNIX_EPOCH);
    // Within the second in which it was written last.
    let touch_soon = || set_time(start + Duration::from_nanos(5));
    // By one that is as long and as old.
    let replace = || {
        fs::copy(&input, &other).unwrap();
        fs::rename(&other, &input).unwrap();
        set_time(start);
    };
    let remove = || fs::remove_file(&input).unwrap();
    let meddlers: [(&(dyn Fn() + Sync), &str); 5] = [
        (&grow, "its size went from"),
        (&touch, "it was written to"),
        (&touch_soon, "it was written to"),
        (&replace, "another file took its place"),
        (&remove, "it was removed"),
    ];
    let options = options(Scheme::Cbcs).with_workers(1);
    let encrypted = place.encrypt(AVC_AAC, &options).unwrap().0;
    for (meddle, word) in meddlers {
        for bytes in [AVC_AAC, &encrypted] {
            fs::write(&input, bytes).unwrap();
            set_time(start);
            let observer = Meddler { once: AtomicBool::new(false), meddle };
            let result = if bytes == encrypted {
                decrypt_file(&input, &output, &keys().with_workers(1), &observer)
            } else {
                encrypt_file(&input, &output, &options, &observer)
            };
            let text = result.map(|_| ()).unwrap_err().to_string();
            assert!(text.contains(word) && text.contains("changed while it was read"), "{text}");
            assert!(!output.exists());
        }
    }
}

/// That an input cannot be looked at does not mean that it is gone.
#[test]
fn inputs_that_cannot_be_looked_at() {
    let place = Place::new();
    let folder = place.file("folder");
    fs::create_dir(&folder).unwrap();
    let input = folder.join("in.mp4");
    fs::write(&input, AVC_AAC).unwrap();
    let source = FileSource::open(&input).unwrap();
    assert_eq!(source.change().unwrap(), None);
    fs::rename(&folder, place.file("elsewhere")).unwrap();
    assert!(source.change().unwrap().unwrap().contains("it was removed"));
    // A link that leads to itself.
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let error = source.change().unwrap_err();
    assert!(error.raw_os_error().is_some(), "{error}");
}

/// Under `cbcs` the IV is in the initialization segment, which its segments must share.
#[test]
fn an_initialization_segment_alone_needs_an_iv() {
    let place = Place::new();
    let moof = AVC_FRAGMENTS.windows(4).position(|word| word == b"moof").unwrap() - 4;
    let init = &AVC_FRAGMENTS[..moof];
    says(place.encrypt(init, &options(Scheme::Cbcs)), &["initialization segment alone", "--iv"]);
    let given = options(Scheme::Cbcs).with_iv(Iv::Given(vec![9; 16]));
    let (alone, _) = place.encrypt(init, &given).unwrap();
    let (whole, _) = place.encrypt(AVC_FRAGMENTS, &given).unwrap();
    assert_eq!(alone, whole[..alone.len()], "the segments share what the segment alone says");
    // The other schemes have the IVs in the segments.
    for scheme in [Scheme::Cenc, Scheme::Cens, Scheme::Cbc1] {
        place.encrypt(init, &options(scheme)).unwrap();
    }
}

/// Items stay with their bytes, or the file is refused.
#[test]
fn items_move_with_their_bytes() {
    let place = Place::new();
    let picture = b"\xff\xd8\xffthe bytes of a picture";
    let clip = with_tail(picture);
    let item = |bytes: &[u8], meta: &[u8], at: u64| {
        let [range] = &item_extents(&BoxRef::root(meta, at).unwrap()).unwrap()[..] else {
            panic!("one item")
        };
        let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap());
        bytes[start..end].to_vec()
    };
    let file_level = |bytes: &[u8]| {
        let header = top_level(bytes).map(Result::unwrap).find(|h| h.kind == b"meta").unwrap();
        item(bytes, &load(bytes, &header).unwrap(), header.offset)
    };
    let len = u32::try_from(picture.len()).unwrap();
    let start = u32::try_from(clip.len()).unwrap() - len;
    let with_items = |meta: &[u8]| [&clip[..], meta].concat();
    let own = with_items(&meta(start, len));
    assert_eq!(file_level(&own), picture);
    for scheme in Scheme::ALL {
        let keep = options(scheme).with_layout(Layout::Keep);
        let (encrypted, summary) = place.encrypt(&own, &keep).unwrap();
        assert_eq!(summary.unclaimed.ranges, 0);
        assert_ne!(encrypted.len(), own.len());
        assert_eq!(file_level(&encrypted), picture, "{scheme}");
        assert_eq!(place.decrypt(&encrypted, &keys()).unwrap().0, own, "{scheme}");
        let words = ["a meta box has items in the media data", "--layout keep"];
        says(place.encrypt(&own, &options(scheme)), &words);
    }
    // Inside of moov, bytes are added in front of it.
    let moov = clip.windows(4).position(|word| word == b"moov").unwrap();
    let inside = with_items(&meta(u32::try_from(moov).unwrap() + 20, 8));
    let keep = options(Scheme::Cbcs).with_layout(Layout::Keep);
    says(place.encrypt(&inside, &keep), &["an item inside of the moov box (8 bytes"]);
    // Without items in the file, a file-level meta goes along.
    let idat = with_tail(b"");
    let elsewhere = renamed(&meta(0, 0), "iloc", "free");
    let (encrypted, _) =
        place.encrypt(&[&idat[..], &elsewhere].concat(), &options(Scheme::Cbcs)).unwrap();
    assert!(encrypted.windows(elsewhere.len()).any(|bytes| bytes == elsewhere));
    let mut open = elsewhere.clone();
    open[..4].fill(0);
    let (encrypted, _) =
        place.encrypt(&[&idat[..], &open].concat(), &options(Scheme::Cbcs)).unwrap();
    assert!(
        encrypted.windows(elsewhere.len()).any(|bytes| bytes == elsewhere),
        "its size is given"
    );
}

/// Decrypters differ in patterns with truncated runs, and there is a warning.
#[test]
fn patterns_that_are_read_differently_are_warned_of() {
    let place = Place::new();
    for ((crypt, skip), warned) in
        [((1, 9), 0), ((10, 0), 0), ((1, 0), 0), ((5, 5), 1), ((2, 3), 1)]
    {
        let warnings = Warnings::default();
        let options = options(Scheme::Cbcs).with_pattern(crypt, skip);
        let (encrypted, _) = place.watched(AVC, &options, &warnings).unwrap();
        assert_eq!(warnings.take().len(), warned, "{crypt}:{skip}");
        let (input, output) = (place.file("in.mp4"), place.file("back.mp4"));
        fs::write(&input, encrypted).unwrap();
        decrypt_file(&input, &output, &keys(), &warnings).unwrap();
        assert_eq!(warnings.take().len(), warned, "{crypt}:{skip}");
    }
}

#[test]
fn impossible_patterns_are_refused() {
    let place = Place::new();
    for scheme in [Scheme::Cbcs, Scheme::Cens] {
        for (crypt, skip) in [(0, 0), (0, 9), (16, 0), (1, 16)] {
            let options = options(scheme).with_pattern(crypt, skip);
            let words = [&format!("the pattern {crypt}:{skip} is not possible"), "track 1"];
            says(place.encrypt(AVC, &options), &words.map(|word| word as &str));
        }
        // Audio has none, and so no wrong one.
        let options = options(scheme).with_pattern(0, 9).with_layout(Layout::Keep);
        let (encrypted, _) = place.encrypt(AAC, &options).unwrap();
        fs::write(place.file("in.mp4"), &encrypted).unwrap();
        let report = inspect_file(&place.file("in.mp4")).unwrap();
        assert_eq!(report.tracks[0].protection.as_ref().unwrap().pattern, None);
    }
}

/// Either reading of truncated runs is undone by itself alone.
#[test]
fn truncated_runs_are_read_in_both_ways() {
    let place = Place::new();
    for scheme in [Scheme::Cbcs, Scheme::Cens] {
        let options = options(scheme).with_pattern(3, 2).with_iv(Iv::Given(vec![9; 16]));
        let both = [false, true].map(|encrypted| {
            let options = options.clone().with_encrypted_truncated_runs(encrypted);
            place.encrypt(AVC, &options).unwrap().0
        });
        assert!(both[0] != both[1], "{scheme}");
        for (runs, encrypted) in both.iter().enumerate() {
            for read in 0..2 {
                let keys = keys().with_encrypted_truncated_runs(read == 1);
                let (back, _) = place.decrypt(encrypted, &keys).unwrap();
                assert_eq!(samples(&back) == samples(AVC), runs == read, "{scheme} {runs} {read}");
            }
        }
    }
}
