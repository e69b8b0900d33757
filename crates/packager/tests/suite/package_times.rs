//! Times of inputs of `package` at the borders of what fields hold: beyond 32 bits, odd timescales, samples
//! without duration, gaps between fragments.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names are as they are written"
)]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "helpers take box types as literals")]

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::support::{AAC, AVC_AAC, AVC_AAC_FRAGMENTS, Place, Trak, Warnings, keys, progressive};
use lanelock_packager::{
    Scheme,
    io::{MemoryFolder, MemorySource, ReadAt, Source},
    package::{Package, PackageOptions, Storage},
};
use lanelock_testkit::{
    boxes::{all, find, full, word},
    small_clip,
};

/// Units of a second of the tracks in the fixtures.
const VIDEO: u64 = 0x3200;
const AUDIO: u64 = 0xbb80;

type Objects = BTreeMap<String, Vec<u8>>;

fn options() -> PackageOptions {
    PackageOptions::new().with_segment_duration(Duration::from_millis(100))
}

/// What is made, or the error; and the warnings.
fn package(file: &[u8], options: PackageOptions) -> (Result<Objects, String>, Vec<String>) {
    let warnings = Warnings::default();
    let source: Arc<dyn Source> = Arc::new(MemorySource::new("in.mp4", file.to_vec()));
    let folder = MemoryFolder::new();
    let made = Package::new(vec![source], options, &warnings)
        .and_then(|package| package.write(Box::new(folder.clone()), &warnings))
        .map(|_| folder.into_objects().unwrap())
        .map_err(|error| error.to_string());
    (made, warnings.take())
}

fn long(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().unwrap())
}

/// The start of each fragment of the track whose name begins so, from `tfdt` of version 1.
fn starts(objects: &Objects, name: &str) -> Vec<u64> {
    // Numbers of one digit sort as they should.
    let is_media = |path: &str| path.ends_with(".m4s") || path.ends_with(".mp4");
    let of_track = objects.iter().filter(|(path, _)| path.starts_with(name) && is_media(path));
    let segments = of_track.map(|(_, segment)| segment);
    let starts = segments.flat_map(|segment| {
        let tfdts = all(segment, *b"tfdt");
        tfdts.into_iter().map(|tfdt| long(&tfdt[4..])).collect::<Vec<_>>()
    });
    starts.collect()
}

/// The fragmented fixture, of whose track fragments each begins later by `later` of its number and what it
/// says itself. Numbers are 0 and 2 for video, 1 and 3 for audio.
fn moved(later: impl Fn(usize, u64) -> u64) -> Vec<u8> {
    let mut file = AVC_AAC_FRAGMENTS.to_vec();
    let places = AVC_AAC_FRAGMENTS.windows(4).enumerate().filter(|(_, word)| *word == b"tfdt");
    for (number, (at, _)) in places.enumerate() {
        let field = at + 8..at + 16;
        let start = long(&file[field.clone()]);
        file[field].copy_from_slice(&(start + later(number, start)).to_be_bytes());
    }
    file
}

/// A replacement for a word at `at` bytes behind the type of the box with this number.
fn patched(file: &[u8], kind: &[u8; 4], number: usize, at: usize, value: u32) -> Vec<u8> {
    let mut file = file.to_vec();
    let mut places = file.windows(4).enumerate().filter(|(_, word)| word == kind);
    let place = places.nth(number).unwrap().0 + at;
    file[place..place + 4].copy_from_slice(&value.to_be_bytes());
    file
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn times_beyond_32_bits() {
    // The last sample in front of it lasts as long as a sample can.
    let file = moved(|number, start| if number == 2 { (1 << 32) - start } else { 0 });
    let options = || options().with_segment_duration(Duration::from_millis(100));
    let (made, _) = package(&file, options());
    let made = made.unwrap();
    assert_eq!(starts(&made, "video"), [0, 1 << 32]);
    let mpd = String::from_utf8(made["manifest.mpd"].clone()).unwrap();
    // The first picture is presented 0x400 units after it is decoded.
    assert!(mpd.contains("t=\"1024\" d=\"4294967296\""), "{mpd}");
    // An index says times in 64 bits, and durations in 32.
    let message = package(&file, options().with_storage(Storage::Single)).0.unwrap_err();
    assert!(message.contains("subsegment_duration"), "{message}");
}

/// What was recorded begins anywhere; a stream begins at 0, and its tracks keep their distance.
#[test]
fn late_inputs_begin_at_0() {
    const SECONDS: u64 = 1_000_000;
    let file = moved(|number, _| SECONDS * if number % 2 == 0 { VIDEO } else { AUDIO });
    let (made, warnings) = package(&file, options());
    let made = made.unwrap();
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("begin at 1000000.000 s"), "{warning}");
    assert_eq!(starts(&made, "video"), [0, 0x600]);
    assert_eq!(starts(&made, "audio")[0], 0);
    let (unmoved, _) = package(AVC_AAC_FRAGMENTS, options());
    assert_eq!(unmoved.unwrap()["manifest.mpd"].len(), made["manifest.mpd"].len());
}

/// What an edit list cuts off is in no stream: at the end, whole groups of pictures at the start; a start
/// within a group cannot be said.
#[test]
fn edit_lists_that_cut() {
    let file = small_clip("avc_aac.mp4").read();
    let made = |file: &[u8]| package(file, options().with_segment_duration(SECOND)).0;
    let duration = |made: &Objects| {
        let mpd = String::from_utf8(made["manifest.mpd"].clone()).unwrap();
        let (_, rest) = mpd.split_once("mediaPresentationDuration=\"PT").unwrap();
        rest.split_once('S').unwrap().0.parse::<f64>().unwrap()
    };
    let whole = duration(&made(&file).unwrap());
    assert!(whole > 1.9, "{whole}");
    // Both tracks end after a second; the fields are in thousandths.
    let ends = patched(&patched(&file, b"elst", 0, 12, 1000), b"elst", 1, 12, 1000);
    let end = duration(&made(&ends).unwrap());
    assert!((0.99..1.1).contains(&end), "{end}");
    // Both begin with the second key frame.
    let starts = patched(&file, b"elst", 0, 16, u32::try_from(VIDEO).unwrap() + 0x400);
    let starts = patched(&starts, b"elst", 1, 16, u32::try_from(AUDIO).unwrap() + 1024);
    let end = duration(&made(&starts).unwrap());
    assert!((whole - 1.1..whole - 0.9).contains(&end), "{end}");
    let inside = patched(&file, b"elst", 0, 16, u32::try_from(VIDEO).unwrap() / 2);
    let message = made(&inside).unwrap_err();
    assert!(message.contains("behind a sync sample"), "{message}");
}

/// Where a segment lasts longer than an index can say, there is an error that says so; segments in files of
/// their own need no index.
#[test]
fn durations_beyond_an_index() {
    let later = |number: usize, _| if number < 2 { 0 } else { 0xfff0_0000 };
    let long = |fragments: &dyn Fn(usize, u64) -> u64| {
        let file = moved(fragments);
        let options = options().with_segment_duration(Duration::from_secs(10_000_000));
        let single = package(&file, options.clone().with_storage(Storage::Single)).0;
        (single.map(|_| ()), package(&file, options).0.map(|_| ()))
    };
    let (single, segments) = long(&later);
    assert_eq!((single, segments), (Ok(()), Ok(())));
    let (single, segments) =
        long(&|number, start| later(number, start) + 0xf_fa00 * (number as u64 / 2));
    let message = single.unwrap_err();
    assert!(message.contains("sidx") && message.contains("subsegment_duration"), "{message}");
    assert!(message.contains("--layout segments"), "{message}");
    assert_eq!(segments, Ok(()));
    // One sample lasts longer than a trun can say.
    let (single, segments) = long(&|number, _| if number < 2 { 0 } else { 1 << 32 });
    for message in [single.unwrap_err(), segments.unwrap_err()] {
        assert!(message.contains("there is a gap of years"), "{message}");
    }
}

#[test]
fn odd_timescales() {
    // Pictures of 512 s, or of a quarter of a microsecond.
    for timescale in [1, 1 << 31, u32::MAX] {
        let file = patched(AVC_AAC_FRAGMENTS, b"mdhd", 0, 16, timescale);
        for storage in [Storage::Segments, Storage::Single] {
            let (made, _) = package(&file, options().with_storage(storage));
            let made = made.unwrap();
            let expected = if timescale == 1 { vec![0, 0x600] } else { vec![0] };
            assert_eq!(starts(&made, "video"), expected);
            let mpd = String::from_utf8(made["manifest.mpd"].clone()).unwrap();
            assert!(mpd.contains(&format!("timescale=\"{timescale}\"")), "{mpd}");
        }
    }
    for file in [AVC_AAC, AVC_AAC_FRAGMENTS] {
        let message = package(&patched(file, b"mdhd", 0, 16, 0), options()).0.unwrap_err();
        assert!(message.contains("timescale"), "{message}");
    }
}

/// A sample without duration in the middle is refused; at the end it is as long as the one before.
#[test]
fn samples_without_duration() {
    let message = package(&patched(AAC, b"stts", 0, 16, 0), options()).0.unwrap_err();
    for words in ["track 1", "has no duration", "remux it first"] {
        assert!(message.contains(words), "{message}");
    }
    let (made, _) = package(&patched(AAC, b"stts", 0, 24, 0), options());
    let made = made.unwrap();
    let last = (1..).map_while(|number| made.get(&format!("audio/{number}.m4s"))).last().unwrap();
    // All samples have the duration of the first one, which tfhd says for all.
    let tfhd = all(last, *b"tfhd")[0];
    assert_eq!((word(tfhd, 0) & 0x8, word(tfhd, 8)), (0x8, 0x400));
}

/// So it is if the one before is in another segment, and manifests say the same.
#[test]
fn a_last_sample_without_duration_in_a_segment_of_its_own() {
    let file = patched(AAC, b"stts", 0, 24, 0);
    let mut alone = 0;
    for frames in 1..60 {
        // One nanosecond more, since durations are rounded down to units.
        let segment = Duration::from_nanos(frames * 0x400 * 1_000_000_000 / AUDIO + 1);
        let Ok(made) = package(&file, options().with_segment_duration(segment)).0 else { continue };
        let segments = (1..).map_while(|number| made.get(&format!("audio/{number}.m4s")));
        let last = segments.last().unwrap();
        let (tfhd, trun) = (all(last, *b"tfhd")[0], all(last, *b"trun")[0]);
        if word(trun, 4) != 1 {
            continue;
        }
        alone += 1;
        assert_eq!((word(tfhd, 0) & 0x8, word(tfhd, 8)), (0x8, 0x400));
        let mpd = String::from_utf8(made["manifest.mpd"].clone()).unwrap();
        assert!(mpd.contains(" d=\"1024\""), "{mpd}");
    }
    assert!(alone > 0);
}

/// Keeps where it is read.
struct Watched {
    bytes: Vec<u8>,
    reads: Mutex<Vec<u64>>,
}

impl ReadAt for Watched {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.lock().unwrap().push(offset);
        ReadAt::read_exact_at(&self.bytes[..], buf, offset)
    }
}

impl Source for Watched {
    fn name(&self) -> String {
        "in.mp4".into()
    }
}

/// However many segments a fragment of the input becomes, it is not read once for each.
#[test]
fn a_fragment_in_many_segments_is_read_once() {
    let clip = Trak { handler: b"soun", format: b"Opus", config: b"", sample: &[7], count: 300 };
    let place = Place::new();
    let long =
        crate::support::options(Scheme::Cenc).with_fragment_duration(Duration::from_secs(1000));
    let (file, _) = place.encrypt(&progressive(&[clip]), &long).unwrap();
    let (file, _) = place.decrypt(&file, &keys()).unwrap();
    assert_eq!(all(&file, *b"trun").len(), 1);
    let moof = find(&file, b"moof") as u64;
    let reads = |segment| {
        let source = Arc::new(Watched { bytes: file.clone(), reads: Mutex::default() });
        let options = options().with_segment_duration(segment);
        let warnings = Warnings::default();
        let package = Package::new(vec![source.clone()], options, &warnings).unwrap();
        let folder = MemoryFolder::new();
        package.write(Box::new(folder.clone()), &warnings).unwrap();
        let reads = source.reads.lock().unwrap().iter().filter(|at| **at == moof).count();
        (folder.into_objects().unwrap().len(), reads)
    };
    let (few, once) = reads(Duration::from_secs(1000));
    let (many, again) = reads(Duration::from_millis(100));
    assert_eq!(many - few, 299);
    assert!((1..5).contains(&once) && once == again, "{once} and {again}");
}

/// A gap between fragments is told, and what follows keeps its time; less than a sample is rounding.
#[test]
fn gaps_between_fragments() {
    let gap = |units| move |number: usize, _| if number == 2 { units } else { 0 };
    let (made, warnings) = package(&moved(gap(0x400)), options());
    assert_eq!(starts(&made.unwrap(), "video"), [0, 0xa00]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    // 1536 units of 12800 in a second are 0.12 s.
    let words = "in.mp4: track 1 (avc1) has no samples from 0.120 s to 0.200 s";
    assert!(warnings[0].contains(words), "{warnings:?}");
    for units in [0, 1, 0x1ff] {
        let (made, warnings) = package(&moved(gap(units)), options());
        assert_eq!(starts(&made.unwrap(), "video"), [0, 0x600 + units]);
        assert_eq!(warnings, [""; 0], "{units}");
    }
    // A frame that is missing is a gap; the track of key frames does not tell it again.
    let (_, warnings) = package(&moved(gap(0x200)), options().with_trick_play(true));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    // Backwards is an error.
    let file = patched(AVC_AAC_FRAGMENTS, b"tfdt", 2, 12, 0x3ff);
    let message = package(&file, options()).0.unwrap_err();
    assert!(message.contains("its times run backwards"), "{message}");
}

/// An edit list that begins after longer than there are numbers for, and one with more entries than bytes.
#[test]
fn long_edit_lists() {
    let edits = |entries: &[u32], count: u32| {
        let clip =
            Trak { handler: b"soun", format: b"Opus", config: b"", sample: &[7; 40], count: 20 };
        let mut file = progressive(&[clip]);
        let elst = full(b"elst", &[&[1 << 24, count], entries].concat());
        let edts = lanelock_testkit::boxes::boxed(b"edts", &[&elst]);
        let at = find(&file, b"mdia");
        lanelock_testkit::boxes::grow(&mut file, &[b"moov", b"trak"], edts.len());
        file.splice(at..at, edts);
        package(&file, options()).0
    };
    let empty = |high: u32| [high, 0, !0, !0, 1 << 16];
    let media = [0, 1000, 0, 0, 1 << 16];
    assert!(edits(&[empty(0), media].concat(), 2).is_ok());
    let longest = [empty(1 << 31), media].concat();
    let many = [empty(1 << 29).repeat(9), media.to_vec()].concat();
    for (entries, count) in [(&longest[..], 2), (&many, 10)] {
        let message = edits(entries, count).unwrap_err();
        assert!(message.contains("begins after longer than there are numbers for"), "{message}");
    }
    let message = edits(&media, u32::MAX).unwrap_err();
    assert!(message.contains("4294967295 entries"), "{message}");
}

/// Samples of few bytes, or none, cost a file little, and would cost memory.
#[test]
fn numbers_of_samples_are_limited() {
    let clip = |count| {
        let clip = Trak { handler: b"soun", format: b"Opus", config: b"", sample: &[7], count };
        progressive(&[clip])
    };
    // They last 100 ms.
    let long = options().with_segment_duration(Duration::from_secs(1_000_000));
    let file = clip((1 << 22) + 1);
    let message = package(&file, long).0.unwrap_err();
    assert!(message.contains("more than 4194304 samples"), "{message}");
    let message = package(&file, options()).0.unwrap_err();
    assert!(message.contains("more than 1048576 segments and fragments"), "{message}");
}
