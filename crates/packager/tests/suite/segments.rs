//! Segments of a planned movie: the bytes that the whole file has, in any order, from many threads, at
//! the cost of each alone.

use std::{
    io,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use lanelock_mp4::{BoxHeader, ReadAt, top_level};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, IndexPolicy, Iv, Key, KeyMap, MoviePlan, Observer,
    PlanOptions, Protection, Quiet, Scheme, Selector, UnclaimedPolicy, decrypt, decrypt_segment,
    encrypt,
    io::{MemorySink, MemorySource, Source},
};
use lanelock_testkit::{
    Mutator, Rng, Watchdog,
    boxes::{boxed, children, media, word},
    mutants, small_clip,
};

const SCHEMES: [Scheme; 4] = [Scheme::Cenc, Scheme::Cens, Scheme::Cbc1, Scheme::Cbcs];
const AVC_AAC_FRAGMENTS: &[u8] = include_bytes!("../fixtures/avc_aac.frag.mp4");
const AVC_AAC_SIDX: &[u8] = include_bytes!("../fixtures/avc_aac.sidx.mp4");
const HEVC_FRAGMENTS: &[u8] = include_bytes!("../fixtures/hevc.frag.mp4");

const fn is_shared<T: Send + Sync + 'static>() {}
const _: () = is_shared::<MoviePlan>();
const _: () = is_shared::<Protection>();

/// Shorter than the small clips.
const SHORT: Duration = Duration::from_millis(300);

fn options(scheme: Scheme, iv: usize) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, Key::new([1; 16], [2; 16])).unwrap();
    keys.insert(Selector::Audio, Key::new([3; 16], [4; 16])).unwrap();
    // The low half is about to run over.
    let iv = (0..iv).map(|at| if at < 7 { 0xff } else { 0xfe }).collect();
    EncryptOptions::new(scheme, keys).with_iv(Iv::Given(iv)).with_fragment_duration(SHORT)
}

fn all_options() -> Vec<EncryptOptions> {
    let ivs = |scheme: Scheme| if scheme == Scheme::Cbc1 { &[16][..] } else { &[8, 16] };
    let of = |scheme| ivs(scheme).iter().map(move |&iv| options(scheme, iv));
    SCHEMES.into_iter().flat_map(of).collect()
}

fn source(bytes: &[u8]) -> Arc<dyn Source> {
    Arc::new(MemorySource::new("in.mp4", bytes.to_vec()))
}

fn plan(bytes: &[u8]) -> Result<MoviePlan, Error> {
    MoviePlan::new(source(bytes), &PlanOptions::new().with_fragment_duration(SHORT), &Quiet)
}

fn protection(bytes: &[u8], options: &EncryptOptions) -> Result<Protection, Error> {
    Protection::new(&plan(bytes)?, options.clone(), &Quiet)
}

/// All of it, one behind the other.
fn joined(protection: &Protection) -> Result<Vec<u8>, Error> {
    let mut all = protection.init().to_vec();
    for number in 0..protection.plan().len() {
        all.extend(protection.segment(number)?);
    }
    Ok(all)
}

fn encrypted(bytes: &[u8], options: &EncryptOptions) -> Result<Vec<u8>, Error> {
    let sink = MemorySink::new();
    encrypt(&*source(bytes), Box::new(sink.clone()), options, &Quiet)?;
    Ok(sink.into_bytes().unwrap())
}

fn boxes(bytes: &[u8]) -> Vec<BoxHeader> {
    top_level(bytes).map(Result::unwrap).collect()
}

fn slice<'b>(bytes: &'b [u8], header: &BoxHeader) -> &'b [u8] {
    let [start, end] = [header.offset, header.end()].map(|at| usize::try_from(at).unwrap());
    &bytes[start..end]
}

fn without_mfra(bytes: &[u8]) -> Vec<u8> {
    let kept = boxes(bytes).into_iter().filter(|header| header.kind != b"mfra");
    kept.flat_map(|header| slice(bytes, &header).to_vec()).collect()
}

/// The clip with boxes in front of each `moof`, and one behind all.
fn with_segment_heads(clip: &[u8]) -> Vec<u8> {
    let styp = boxed(b"styp", &[b"msdh\0\0\0\0msdhmsix"]);
    let free = boxed(b"free", &[&[7; 9]]);
    let prft = boxed(b"prft", &[&[0; 24]]);
    let mut out = Vec::new();
    for header in boxes(&without_mfra(clip)) {
        if header.kind == b"moof" {
            out.extend([&styp[..], &free, &prft].concat());
        }
        out.extend_from_slice(slice(clip, &header));
    }
    [out, styp].concat()
}

#[test]
fn segments_are_those_of_the_file() {
    let clips = ["avc.mp4", "avc_aac.mp4", "avc_slices.mp4", "hevc.mp4", "opus.mp4", "aac.mp4"];
    let mut inputs: Vec<_> = clips.into_iter().map(|name| small_clip(name).read()).collect();
    inputs.extend([AVC_AAC_FRAGMENTS, AVC_AAC_SIDX, HEVC_FRAGMENTS].map(<[u8]>::to_vec));
    inputs.push(with_segment_heads(AVC_AAC_FRAGMENTS));
    for (number, input) in inputs.iter().enumerate() {
        for options in all_options() {
            let whole = encrypted(input, &options.clone().with_index(IndexPolicy::Drop)).unwrap();
            let protection = protection(input, &options).unwrap();
            assert!(protection.plan().len() > 1 || input.len() < 3000, "{number}");
            assert!(
                joined(&protection).unwrap() == without_mfra(&whole),
                "input {number}, {} {:?}",
                options.scheme,
                options.iv
            );
        }
    }
}

#[test]
fn segments_are_files_of_their_own() {
    let keys = DecryptOptions::new(vec![Key::new([1; 16], [2; 16]), Key::new([3; 16], [4; 16])]);
    // The fragments of the second have data offsets that count from the start of the file.
    for (input, is_absolute) in [(small_clip("avc_aac.mp4").read(), false), (absolute(), true)] {
        let options = options(Scheme::Cenc, 8);
        let protection = protection(&input, &options).unwrap();
        let init = source(protection.init());
        let mut clear = Vec::new();
        for number in 0..protection.plan().len() {
            let segment = source(&protection.segment(number).unwrap());
            let sink = MemorySink::new();
            decrypt_segment(&*init, &*segment, Box::new(sink.clone()), &keys, &Quiet).unwrap();
            clear.extend(media(&sink.into_bytes().unwrap()));
        }
        let sink = MemorySink::new();
        let whole = source(&encrypted(&input, &options).unwrap());
        decrypt(&*whole, Box::new(sink.clone()), &keys, &Quiet).unwrap();
        assert!(media(&sink.into_bytes().unwrap()) == clear);
        assert_eq!(media(&input) == clear, is_absolute);
    }
}

/// The fragmented clip without `default-base-is-moof`: with `base_data_offset` instead.
fn absolute() -> Vec<u8> {
    let mut out = Vec::new();
    for header in boxes(&without_mfra(AVC_AAC_FRAGMENTS)) {
        let mut one = slice(AVC_AAC_FRAGMENTS, &header).to_vec();
        if header.kind == b"moof" {
            one = with_bases(&one, out.len() as u64);
        }
        out.extend(one);
    }
    out
}

/// A `moof` with a base in each `tfhd`: the start of the `moof`, which is at `at`.
fn with_bases(moof: &[u8], at: u64) -> Vec<u8> {
    let trafs = children(&moof[8..]).filter(|(kind, _)| kind == b"traf").count();
    let growth = u32::try_from(8 * trafs).unwrap();
    let parts = children(&moof[8..]).map(|(kind, payload)| {
        if kind != *b"traf" {
            return boxed(&kind, &[payload]);
        }
        let parts = children(payload).map(|(kind, payload)| match &kind {
            b"tfhd" => {
                let flags = (word(payload, 0) & !0x2_0000 | 1).to_be_bytes();
                boxed(&kind, &[&flags, &payload[4..8], &at.to_be_bytes(), &payload[8..]])
            }
            b"trun" => {
                let offset = (word(payload, 8) + growth).to_be_bytes();
                boxed(&kind, &[&payload[..8], &offset, &payload[12..]])
            }
            _ => boxed(&kind, &[payload]),
        });
        boxed(&kind, &[&parts.collect::<Vec<_>>().concat()])
    });
    boxed(b"moof", &[&parts.collect::<Vec<_>>().concat()])
}

#[test]
fn plans_know_their_times() {
    let plan = plan(&small_clip("avc_aac.mp4").read()).unwrap();
    let mut end = Duration::ZERO;
    let mut samples = [0; 2];
    for segment in plan.segments() {
        assert_eq!(segment.start, end);
        assert!(segment.bytes > 0 && !segment.duration.is_zero());
        end += segment.duration;
        for (track, samples) in segment.tracks.iter().zip(&mut samples) {
            *samples += track.samples;
            assert!(track.duration > 0 && track.timescale > 0);
        }
    }
    assert_eq!((end.as_millis(), samples), (2000, [50, 95]));
}

#[test]
fn many_threads() {
    let watchdog = Watchdog::new();
    watchdog.begins("eight threads");
    for (name, iv) in [("aac.mp4", 8), ("aac.mp4", 16), ("avc_aac.mp4", 16)] {
        let planning = PlanOptions::new().with_fragment_duration(Duration::from_millis(20));
        let plan = MoviePlan::new(source(&small_clip(name).read()), &planning, &Quiet).unwrap();
        let protection = Protection::new(&plan, options(Scheme::Cenc, iv), &Quiet).unwrap();
        let segments: Vec<_> = (0..plan.len()).map(|n| protection.segment(n).unwrap()).collect();
        assert!(segments.len() > 1);
        let (protection, segments) = (&protection, &segments);
        thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    let mut rng = Rng::from_env(&format!("many_threads {thread}"));
                    for _ in 0..100 {
                        let number = rng.below(segments.len());
                        assert!(protection.segment(number).unwrap() == segments[number]);
                    }
                });
            }
        });
    }
}

/// Counts what is read.
struct Counting {
    bytes: Vec<u8>,
    reads: Mutex<Vec<Range<u64>>>,
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.lock().unwrap().push(offset..offset + buf.len() as u64);
        ReadAt::read_exact_at(&self.bytes[..], buf, offset)
    }
}

impl Source for Counting {
    fn name(&self) -> String {
        "counted".into()
    }
}

#[test]
fn a_segment_reads_its_own_bytes_alone() {
    for input in [small_clip("avc_aac.mp4").read(), with_segment_heads(AVC_AAC_FRAGMENTS)] {
        let counting = Arc::new(Counting { bytes: input, reads: Mutex::default() });
        let planning = PlanOptions::new().with_fragment_duration(SHORT);
        let plan = MoviePlan::new(counting.clone(), &planning, &Quiet).unwrap();
        let planned: u64 =
            counting.reads.lock().unwrap().iter().map(|range| range.end - range.start).sum();
        assert!(planned > 0);
        let protection = Protection::new(&plan, options(Scheme::Cenc, 16), &Quiet).unwrap();
        let mut all = Vec::new();
        for (number, segment) in plan.segments().iter().enumerate().rev() {
            counting.reads.lock().unwrap().clear();
            protection.segment(number).unwrap();
            let reads = std::mem::take(&mut *counting.reads.lock().unwrap());
            let read: u64 = reads.iter().map(|range| range.end - range.start).sum();
            assert_eq!(read, segment.bytes, "segment {number}");
            all.extend(reads);
        }
        all.sort_by_key(|range| range.start);
        assert!(all.windows(2).all(|pair| pair[0].end <= pair[1].start), "no byte is read twice");
    }
}

/// Interrupts at a certain question.
struct At(AtomicUsize);

impl Observer for At {
    fn interrupted(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}

#[test]
fn callers_can_stop_and_cap_memory() {
    let input = small_clip("avc_aac.mp4").read();
    let planning = PlanOptions::new().with_fragment_duration(SHORT);
    for question in 0..2 {
        let observer = At(question.into());
        let result = MoviePlan::new(source(&input), &planning, &observer).map(|_| ());
        assert!(matches!(result, Err(Error::Interrupted)));
        let protection = protection(&input, &options(Scheme::Cbcs, 16)).unwrap();
        let result = protection.segment_watched(1, &At(question.into()));
        assert!(matches!(result, Err(Error::Interrupted)));
    }
    let largest = plan(&input).unwrap().segments().iter().map(|segment| segment.bytes).max();
    for (memory, fits) in [(largest.unwrap(), true), (largest.unwrap() - 1, false)] {
        let protection =
            protection(&input, &options(Scheme::Cbcs, 16).with_memory(memory)).unwrap();
        assert_eq!(joined(&protection).is_ok(), fits);
    }
    let protection = protection(&input, &options(Scheme::Cbcs, 16)).unwrap();
    let error = protection.segment(protection.plan().len()).unwrap_err();
    assert!(error.to_string().contains("there is no segment"), "{error}");
}

#[test]
fn what_encryption_refuses_is_not_planned() {
    // Media data that nothing refers to.
    let hidden = boxed(b"mdat", &[b"nothing refers to what stands here"]);
    for clip in [small_clip("avc.mp4").read(), without_mfra(AVC_AAC_FRAGMENTS)] {
        let input = [&clip[..], &hidden].concat();
        let error = plan(&input).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("belong to no sample"), "{error}");
        let keep =
            PlanOptions::new().with_fragment_duration(SHORT).with_unclaimed(UnclaimedPolicy::Keep);
        let kept = MoviePlan::new(source(&input), &keep, &Quiet).unwrap();
        assert_eq!(kept.unclaimed().ranges, 1);
        let options = options(Scheme::Cenc, 8)
            .with_unclaimed(UnclaimedPolicy::Keep)
            .with_index(IndexPolicy::Drop);
        let protection = Protection::new(&kept, options.clone(), &Quiet).unwrap();
        assert!(joined(&protection).unwrap() == encrypted(&input, &options).unwrap());
    }
    // What is encrypted already, or has no key.
    let clip = small_clip("avc.mp4").read();
    let once = encrypted(&clip, &options(Scheme::Cbcs, 16)).unwrap();
    let error = protection(&once, &options(Scheme::Cbcs, 16)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("encrypted already"), "{error}");
    let options = EncryptOptions::new(Scheme::Cbcs, KeyMap::new());
    assert!(protection(&clip, &options).is_err());
}

/// What the whole file is refused for, no segment is made of.
#[test]
fn damaged_movies() {
    let watchdog = Watchdog::new();
    let mut rng = Rng::from_env("damaged_movies");
    let mut good = 0;
    for (name, input) in
        [("progressive", small_clip("avc_aac.mp4").read()), ("fragments", AVC_AAC_FRAGMENTS.into())]
    {
        let mutator = Mutator::of_boxes(&input);
        for number in 0..mutants(1000) {
            watchdog.begins(format!("{name}, mutant {number}"));
            let mutant = mutator.mutant(&mut rng);
            let options = options(Scheme::Cenc, 16);
            let Ok(segments) = protection(&mutant, &options).and_then(|it| joined(&it)) else {
                continue;
            };
            match encrypted(&mutant, &options.with_index(IndexPolicy::Drop)) {
                Ok(whole) => {
                    assert!(segments == without_mfra(&whole), "{name}, mutant {number}");
                    good += 1;
                }
                // The only box that segments do not have.
                Err(error) => assert!(error.to_string().contains(": mfra/"), "{error}"),
            }
        }
    }
    assert!(good > 0);
}
