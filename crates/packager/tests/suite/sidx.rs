//! Segment indexes: made with new fragments, kept, rebuilt and left out for fragmented input.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use lanelock_mp4::{
    BoxHeader, FourCc, Fragment, Movie, ReadAt,
    compose::{self, MfraTrack, SidxReference, sidx},
    edit::{SidxView, parse_sidx},
    load, top_level,
};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, IndexPolicy, Iv, Key, KeyMap, Observer, Quiet, Scheme,
    Selector, decrypt, encrypt, encrypt_file,
    io::{Finish, MemorySink, MemorySource, Sink, Source, WriteOrder},
};
use lanelock_testkit::{
    Scratch,
    boxes::{boxed, children, full, word},
    clips, ffmpeg, small_clip,
};

const SCHEMES: [Scheme; 4] = [Scheme::Cenc, Scheme::Cens, Scheme::Cbc1, Scheme::Cbcs];
const AVC_AAC_FRAGMENTS: &[u8] = include_bytes!("../fixtures/avc_aac.frag.mp4");
const AVC_AAC_SIDX: &[u8] = include_bytes!("../fixtures/avc_aac.sidx.mp4");
const KEY: [u8; 16] = [2; 16];

fn options(scheme: Scheme) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::All, key()).unwrap();
    EncryptOptions::new(scheme, keys)
}

/// The same each time.
fn constant(scheme: Scheme) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, key()).unwrap();
    keys.insert(Selector::Audio, Key::new([3; 16], [4; 16])).unwrap();
    let iv = if scheme == Scheme::Cenc { vec![5; 8] } else { vec![6; 16] };
    EncryptOptions::new(scheme, keys).with_iv(Iv::Given(iv))
}

fn key() -> Key {
    Key::new([1; 16], KEY)
}

fn keys() -> DecryptOptions {
    DecryptOptions::new(vec![key(), Key::new([3; 16], [4; 16])])
}

/// What was warned of.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn warn(&self, message: &str) {
        self.0.lock().unwrap().push(message.into());
    }
}

impl Warnings {
    fn of_indexes(&self) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let of_indexes = |text: &&String| text.contains("sidx") || text.contains("mfra");
        all.iter().filter(of_indexes).cloned().collect()
    }
}

fn encrypted(bytes: &[u8], options: &EncryptOptions) -> Vec<u8> {
    watched(bytes, options, &Quiet).unwrap()
}

fn watched(
    bytes: &[u8],
    options: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Vec<u8>, Error> {
    let sink = MemorySink::new();
    let source = MemorySource::new("in.mp4", bytes.to_vec());
    encrypt(&source, Box::new(sink.clone()), options, observer)?;
    Ok(sink.into_bytes().unwrap())
}

fn decrypted(bytes: &[u8], options: &DecryptOptions) -> Vec<u8> {
    let sink = MemorySink::new();
    let source = MemorySource::new("in.mp4", bytes.to_vec());
    decrypt(&source, Box::new(sink.clone()), options, &Quiet).unwrap();
    sink.into_bytes().unwrap()
}

/// Memory that takes bytes in order alone.
#[derive(Clone, Default)]
struct InOrder(Arc<Mutex<Vec<u8>>>);

impl Sink for InOrder {
    fn name(&self) -> String {
        "ordered memory".into()
    }

    fn order(&self) -> WriteOrder {
        WriteOrder::Sequential
    }

    fn write_all_at(&self, parts: &mut [std::io::IoSlice<'_>], offset: u64) -> std::io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        assert_eq!(bytes.len() as u64, offset);
        for part in parts.iter() {
            bytes.extend_from_slice(part);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: Finish) -> std::io::Result<()> {
        Ok(())
    }
}

fn boxes(bytes: &[u8]) -> Vec<BoxHeader> {
    top_level(bytes).map(Result::unwrap).collect()
}

fn count(bytes: &[u8], kind: [u8; 4]) -> usize {
    boxes(bytes).iter().filter(|header| header.kind == kind).count()
}

/// The indexes of a file, each of which must match it.
fn indexes(bytes: &[u8]) -> Vec<SidxView> {
    let all = boxes(bytes);
    let of = all.iter().filter(|header| header.kind == b"sidx").map(|header| {
        let view = parse_sidx(&load(bytes, header).unwrap(), header.offset).unwrap();
        assert!(view.matches(&all), "{view:?}");
        view
    });
    of.collect()
}

fn movie(bytes: &[u8]) -> Movie {
    let header = boxes(bytes).into_iter().find(|header| header.kind == b"moov").unwrap();
    Movie::parse(load(bytes, &header).unwrap(), header.offset).unwrap()
}

/// Track, samples and duration of each track fragment, fragment by fragment.
fn fragments(bytes: &[u8]) -> Vec<Vec<(u32, u64)>> {
    let movie = movie(bytes);
    let moofs = boxes(bytes).into_iter().filter(|header| header.kind == b"moof");
    let trafs = moofs.map(|header| {
        let moof = load(bytes, &header).unwrap();
        let fragment = Fragment::parse(&moof, header.offset, &movie, bytes.len() as u64).unwrap();
        fragment.tracks.iter().map(|traf| (traf.track_id, traf.duration)).collect()
    });
    trafs.collect()
}

/// Every fragment is in the index of every track, and the last one ends with the file.
fn check_whole(bytes: &[u8]) {
    let (indexes, fragments) = (indexes(bytes), fragments(bytes));
    assert!(!indexes.is_empty());
    let end = boxes(bytes).iter().find(|header| header.kind == b"mfra").map(|mfra| mfra.offset);
    for index in indexes {
        assert_eq!(index.references.len(), fragments.len());
        let last = index.references.last().unwrap();
        assert_eq!(last.range.end, end.unwrap_or(bytes.len() as u64));
        for (reference, trafs) in index.references.iter().zip(&fragments) {
            let of_track = trafs.iter().filter(|(id, _)| *id == index.reference_id);
            assert_eq!(u64::from(reference.duration), of_track.map(|(_, time)| time).sum::<u64>());
        }
    }
}

fn without(bytes: &[u8], kinds: &[&[u8; 4]]) -> Vec<u8> {
    let kept = boxes(bytes).into_iter().filter(|header| !kinds.contains(&&header.kind.0));
    kept.flat_map(|header| load_any(bytes, &header)).collect()
}

fn load_any(bytes: &[u8], header: &BoxHeader) -> Vec<u8> {
    let [start, end] = [header.offset, header.end()].map(|at| usize::try_from(at).unwrap());
    bytes[start..end].to_vec()
}

#[test]
fn new_fragments_are_indexed() {
    for (name, tracks) in [("avc.mp4", 1), ("avc_aac.mp4", 2), ("opus.mp4", 1), ("hevc.mp4", 1)] {
        for scheme in SCHEMES {
            for seconds in [0.0, 0.3, 2.0] {
                let options =
                    constant(scheme).with_fragment_duration(Duration::from_secs_f64(seconds));
                let clip = small_clip(name).read();
                let bytes = encrypted(&clip, &options);
                assert_eq!(indexes(&bytes).len(), tracks, "{name}");
                check_whole(&bytes);
                // The same without an index, but for the places, which are relative.
                let plain = encrypted(&clip, &options.clone().with_index(IndexPolicy::Drop));
                assert_eq!(count(&plain, *b"sidx"), 0);
                assert_eq!(without(&bytes, &[b"sidx"]), plain);
                // The same to a sink that takes bytes in order.
                let sink = InOrder::default();
                let source = MemorySource::new("in.mp4", clip.clone());
                encrypt(&source, Box::new(sink.clone()), &options, &Quiet).unwrap();
                assert!(*sink.0.lock().unwrap() == bytes, "{name} {scheme}");
            }
        }
    }
}

#[test]
fn fragmented_input_keeps_builds_or_drops() {
    for clip in [AVC_AAC_FRAGMENTS, AVC_AAC_SIDX] {
        for scheme in SCHEMES {
            let options = constant(scheme);
            let kept = encrypted(clip, &options);
            assert_eq!(indexes(&kept).len(), count(clip, *b"sidx"));
            assert!(decrypted(&kept, &keys()) == clip, "gives back the file that it was");
            let built = encrypted(clip, &options.clone().with_index(IndexPolicy::Build));
            check_whole(&built);
            assert_eq!(indexes(&built).len(), 2);
            let all = boxes(&built);
            let moov = all.iter().position(|header| header.kind == b"moov").unwrap();
            assert_eq!(all[moov + 1].kind, FourCc::new(b"sidx"));
            let dropped = encrypted(clip, &options.clone().with_index(IndexPolicy::Drop));
            assert_eq!(count(&dropped, *b"sidx"), 0);
            assert_eq!(without(&built, &[b"sidx", b"mfra"]), without(&dropped, &[b"mfra"]));
            assert_eq!(without(&kept, &[b"sidx", b"mfra"]), without(&dropped, &[b"mfra"]));
            // Decryption has the same choice.
            let back = decrypted(&dropped, &keys().with_index(IndexPolicy::Build));
            check_whole(&back);
            let again = decrypted(&built, &keys().with_index(IndexPolicy::Drop));
            assert_eq!(without(&again, &[b"mfra"]), without(clip, &[b"sidx", b"mfra"]));
            for policy in [IndexPolicy::Keep, IndexPolicy::Build, IndexPolicy::Drop] {
                let sink = InOrder::default();
                let source = MemorySource::new("in.mp4", clip.to_vec());
                let options = options.clone().with_index(policy);
                encrypt(&source, Box::new(sink.clone()), &options, &Quiet).unwrap();
                assert!(*sink.0.lock().unwrap() == encrypted(clip, &options));
            }
        }
    }
}

/// The first two indexes say of their first range that it is longer than it is.
fn mismatching(clip: &[u8]) -> Vec<u8> {
    let mut bytes = clip.to_vec();
    for at in (0..2).map(|number| find_nth(&bytes, *b"sidx", number)).collect::<Vec<_>>() {
        let first = if bytes[at + 4] == 0 { at + 28 } else { at + 36 };
        let size = word(&bytes, first) + 1;
        bytes[first..first + 4].copy_from_slice(&size.to_be_bytes());
    }
    bytes
}

/// Where the type of a box is.
fn find_nth(bytes: &[u8], kind: [u8; 4], number: usize) -> usize {
    let found = bytes.windows(4).enumerate().filter(|(_, word)| **word == kind);
    found.map(|(at, _)| at).nth(number).unwrap()
}

#[test]
fn an_index_of_the_file_that_does_not_match_is_rebuilt() {
    let encrypted_clip = encrypted(AVC_AAC_FRAGMENTS, &constant(Scheme::Cenc));
    let clip = decrypted(&encrypted_clip, &keys().with_index(IndexPolicy::Build));
    check_whole(&clip);
    let wrong = mismatching(&clip);
    let warnings = Warnings::default();
    let bytes = watched(&wrong, &constant(Scheme::Cenc), &warnings).unwrap();
    check_whole(&bytes);
    let warned = warnings.of_indexes();
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(warned[0].contains("does not match its file: it is built anew"), "{warned:?}");
    assert!(bytes == encrypted(&clip, &constant(Scheme::Cenc)));
    // Nobody asked for it: nothing to warn of.
    let warnings = Warnings::default();
    let options = constant(Scheme::Cenc).with_index(IndexPolicy::Drop);
    watched(&wrong, &options, &warnings).unwrap();
    assert!(warnings.of_indexes().is_empty());
}

#[test]
fn an_index_of_a_segment_that_does_not_match_is_left_out() {
    // Each fragment has its own: those of the second stay.
    let warnings = Warnings::default();
    let bytes = watched(&mismatching(AVC_AAC_SIDX), &constant(Scheme::Cenc), &warnings).unwrap();
    assert_eq!((indexes(&bytes).len(), warnings.of_indexes().len()), (2, 2));
    let all = boxes(AVC_AAC_FRAGMENTS);
    let second = all.iter().filter(|header| header.kind == b"moof").nth(1).unwrap();
    let at = usize::try_from(second.offset).unwrap();
    let bad = sidx(1, 1000, 0, 3, &[SidxReference::new(100, 10)]).unwrap();
    let styp = boxed(b"styp", &[b"msdh\0\0\0\0msdhmsix"]);
    let (front, back) = AVC_AAC_FRAGMENTS.split_at(at);
    let front = without(front, &[b"mfra"]);
    let back = without(back, &[b"mfra"]);
    let clip = [&front[..], &styp, &bad, &back].concat();
    let warnings = Warnings::default();
    let bytes = watched(&clip, &constant(Scheme::Cbcs), &warnings).unwrap();
    assert!(warnings.of_indexes()[0].ends_with("it is left out"), "{:?}", warnings.of_indexes());
    let clean = [&front[..], &styp, &back].concat();
    assert!(bytes == encrypted(&clean, &constant(Scheme::Cbcs)));
    // Built for a file with `styp`: that belongs to the range of the fragment behind it.
    check_whole(&encrypted(&clip, &constant(Scheme::Cbcs).with_index(IndexPolicy::Build)));
    // A pipe shows what matches when all of it has come: there, the place stays.
    let warnings = Warnings::default();
    let sink = MemorySink::new();
    let source = Sequential(MemorySource::new("in.mp4", clip));
    encrypt(&source, Box::new(sink.clone()), &constant(Scheme::Cbcs), &warnings).unwrap();
    let piped = sink.into_bytes().unwrap();
    assert!(warnings.of_indexes()[0].ends_with("it is left out"));
    assert_eq!(
        (count(&piped, *b"sidx"), count(&piped, *b"free")),
        (0, 1 + count(&bytes, *b"free"))
    );
    assert!(without(&piped, &[b"free"]) == without(&bytes, &[b"free"]));
}

/// A source that is read from its first byte to its last.
struct Sequential(MemorySource);

impl ReadAt for Sequential {
    fn len(&self) -> u64 {
        ReadAt::len(&self.0)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.0.read_exact_at(buf, offset)
    }
}

impl Source for Sequential {
    fn name(&self) -> String {
        self.0.name()
    }

    fn is_sequential(&self) -> bool {
        true
    }
}

#[test]
fn indexes_are_not_built_of_pipes_and_segments() {
    let options = constant(Scheme::Cenc).with_index(IndexPolicy::Build);
    let pipe = Sequential(MemorySource::new("in.mp4", AVC_AAC_FRAGMENTS.to_vec()));
    let error = encrypt(&pipe, Box::new(MemorySink::new()), &options, &Quiet).unwrap_err();
    assert!(error.to_string().contains("--sidx build"), "{error}");
}

#[test]
fn mfra() {
    let clean = without(AVC_AAC_FRAGMENTS, &[b"mfra"]);
    let moofs: Vec<_> = boxes(&clean)
        .iter()
        .filter(|header| header.kind == b"moof")
        .map(|header| (header.offset, header.offset))
        .collect();
    let with = |entries: &[(u64, u64)]| {
        [&clean[..], &compose::mfra(&[MfraTrack::new(1, entries)]).unwrap()].concat()
    };
    let options = constant(Scheme::Cenc);
    let warnings = Warnings::default();
    let kept = watched(&with(&moofs), &options, &warnings).unwrap();
    assert_eq!((count(&kept, *b"mfra"), warnings.of_indexes().len()), (1, 0));
    assert!(decrypted(&kept, &keys()) == with(&moofs));
    check_whole(&encrypted(&with(&moofs), &options.clone().with_index(IndexPolicy::Build)));
    let wrong = with(&[(0, moofs[0].1 + 1)]);
    let left_out = watched(&wrong, &options, &warnings).unwrap();
    assert_eq!((count(&left_out, *b"mfra"), warnings.of_indexes().len()), (0, 1));
    assert!(left_out == encrypted(&clean, &options));
    // In front of the fragments it is no segment index either.
    let at = usize::try_from(moofs[0].0).unwrap();
    let front = [&clean[..at], &wrong[clean.len()..], &clean[at..]].concat();
    assert!(encrypted(&front, &options) == encrypted(&clean, &options));
}

/// What becomes of a box.
type Change<'c> = &'c dyn Fn(&[u8; 4]) -> Option<Vec<u8>>;

/// Boxes, each changed.
fn rebuilt(boxes: &[u8], change: Change<'_>) -> Vec<u8> {
    let of_one = |(kind, payload): ([u8; 4], &[u8])| match change(&kind) {
        Some(new) => new,
        None if [b"moov", b"trak", b"mdia", b"minf", b"stbl"].contains(&&kind) => {
            boxed(&kind, &[&rebuilt(payload, change)])
        }
        None => boxed(&kind, &[payload]),
    };
    children(boxes).flat_map(of_one).collect()
}

/// A progressive file of `samples` samples of 20 bytes.
fn long(samples: u32) -> Vec<u8> {
    let clip = small_clip("opus.mp4").read();
    let header = boxes(&clip).into_iter().find(|header| header.kind == b"moov").unwrap();
    let (ftyp, moov) = (load_any(&clip, &boxes(&clip)[0]), load_any(&clip, &header));
    let make = |media: u32| {
        rebuilt(&moov, &|kind| {
            let content: &[u32] = match kind {
                b"stts" => &[0, 1, samples, 960],
                b"stsz" => &[0, 20, samples],
                b"stsc" => &[0, 1, 1, samples, 1],
                b"stco" => &[0, 1, media],
                b"sgpd" | b"sbgp" => return Some(Vec::new()),
                _ => return None,
            };
            Some(full(kind, content))
        })
    };
    let len = u32::try_from(ftyp.len() + make(0).len() + 8).unwrap();
    let media: Vec<u8> = (0..samples * 20).map(|at| at.to_le_bytes()[1]).collect();
    [ftyp, make(len), boxed(b"mdat", &[&media])].concat()
}

#[test]
fn more_fragments_than_one_box_can_hold() {
    let clip = long(70_000);
    let options = constant(Scheme::Cenc).with_fragment_duration(Duration::from_nanos(1));
    let bytes = encrypted(&clip, &options);
    assert_eq!(count(&bytes, *b"moof"), 70_000);
    let indexes = indexes(&bytes);
    let lengths: Vec<_> = indexes.iter().map(|index| index.references.len()).collect();
    assert_eq!(lengths, [65_535, 70_000 - 65_535]);
    assert_eq!(indexes[0].references[65_534].range.end, indexes[1].references[0].range.start);
    assert_eq!(indexes[1].references.last().unwrap().range.end, bytes.len() as u64);
    assert_eq!(
        indexes[1].earliest_presentation_time,
        indexes[0].earliest_presentation_time + 65_535 * 960
    );
    let sink = InOrder::default();
    let source = MemorySource::new("in.mp4", clip);
    encrypt(&source, Box::new(sink.clone()), &options, &Quiet).unwrap();
    assert!(*sink.0.lock().unwrap() == bytes);
}

#[test]
fn times_are_those_of_the_presentation() {
    // B-frames: the edit list takes the delay of the composition times out again.
    for (name, seconds) in [("avc.mp4", 0.3), ("avc_aac.mp4", 0.3), ("hevc.mp4", 2.0)] {
        let clip = small_clip(name).read();
        let movie = movie(&clip);
        let options =
            constant(Scheme::Cbcs).with_fragment_duration(Duration::from_secs_f64(seconds));
        for index in indexes(&encrypted(&clip, &options)) {
            let track = movie.track(index.reference_id).unwrap();
            assert_eq!(index.timescale, track.timescale);
            let samples = movie.samples(track, clip.len() as u64).unwrap().map(Result::unwrap);
            let first = samples
                .map(|sample| {
                    sample.decode_time.cast_signed() + i64::from(sample.composition_offset)
                })
                .min();
            let media_time = track.edits.first().map_or(0, |edit| edit.media_time);
            let expected = (first.unwrap() - media_time).max(0);
            assert_eq!(index.earliest_presentation_time.cast_signed(), expected, "{name}");
            assert!(index.references.iter().all(|reference| reference.starts_with_sap));
        }
    }
}

/// Size and digest of the packets of each stream, as ffmpeg reads them from a file that it can seek in.
fn packets(ffmpeg: &Path, path: &Path, key: &[&str], map: &str) -> BTreeMap<String, Vec<String>> {
    let output = Command::new(ffmpeg)
        .args(["-v", "error", "-ignore_editlist", "1"])
        .args(key)
        .arg("-i")
        .arg(path)
        .args(["-map", map, "-c", "copy", "-f", "framemd5", "-"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut streams = BTreeMap::<_, Vec<_>>::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let fields: Vec<_> = line.split(',').map(str::trim).collect();
        if let (false, [stream, _, _, _, size, digest, ..]) = (line.starts_with('#'), &fields[..]) {
            streams.entry(stream.to_string()).or_default().push(format!("{size} {digest}"));
        }
    }
    streams
}

#[test]
fn ffmpeg_decrypts_a_file_that_it_can_seek_in() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Scratch::new();
    let (input, output) = (dir.file("in.mp4"), dir.file("out.mp4"));
    for clip in ["avc.mp4", "avc_aac.mp4", "aac.mp4"].into_iter().flat_map(clips) {
        fs::write(&input, clip.read()).unwrap();
        for scheme in SCHEMES {
            // The last block of a whole sample under cens is clear here, and encrypted for ffmpeg.
            let map = match (scheme, clip.name.as_str()) {
                (Scheme::Cens, "aac.mp4") => continue,
                (Scheme::Cens, _) => "0:v",
                _ => "0",
            };
            let options = options(scheme).with_fragment_duration(Duration::from_millis(300));
            encrypt_file(&input, &output, &options, &Quiet).unwrap();
            assert!(count(&fs::read(&output).unwrap(), *b"moof") > 1);
            let clear = packets(&ffmpeg, &input, &[], map);
            let key = lanelock_testkit::hex(&KEY);
            let decrypted = packets(&ffmpeg, &output, &["-decryption_key", &key], map);
            assert!(decrypted == clear, "{} {scheme}", clip.path.display());
        }
    }
}
