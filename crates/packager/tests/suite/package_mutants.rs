//! Damaged inputs of `package`: no panic, no hang, no hunger for memory; where it succeeds, the decrypted
//! samples are those of the damaged input, as its metadata say.
//!
//! `LANELOCK_SEED` repeats a run, `LANELOCK_MUTANTS` sets how many mutants there are.

use std::{
    collections::BTreeMap,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crate::support::{AVC_AAC, AVC_AAC_FRAGMENTS};
use lanelock_mp4::{Fragment, Movie, Sample, load, top_level};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Key, KeyMap, Quiet, Scheme, Selector, decrypt,
    io::{MemoryFolder, MemorySink, MemorySource, Source},
    package::{Package, PackageOptions, PackageSummary, Storage},
};
use lanelock_testkit::{
    Mutator, Rng, Watchdog, alone,
    boxes::{boxed, words},
    fragments::{FragmentForm, OffsetBase, refragmented},
    is_emulated, mutants, skip,
};

const MUTANTS: usize = 8_000;
const MEMORY_MIB: u64 = 400;

const VTT: &[u8] = b"WEBVTT\n\nSTYLE\n::cue { color: red }\n\n\
    1\n00:00.000 --> 00:00.150 line:0 align:start\n<v Bob>One &amp; <i>two</i>\n\n\
    00:00:00.100 --> 00:00:00.250\nThree\nlines\nhere\n\nNOTE end\n";
const TTML: &[u8] = br#"<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xml:lang="de"
 ttp:frameRate="25" ttp:timeBase="media"><head><styling><style xml:id="s" /></styling></head>
<body begin="0s"><div><p begin="0.05s" end="00:00:00.150">One &amp; two</p>
<p begin="00:00:00:03" dur="2f">Three<br/>four</p></div></body></tt>
"#;

type Objects = BTreeMap<String, Vec<u8>>;
type Outcome = Result<(Objects, PackageSummary), String>;

struct Seed {
    name: &'static str,
    bytes: Vec<u8>,
    is_text: bool,
}

/// The fixtures; fragments with sample groups, descriptions and sub-samples of their own; text.
fn seeds() -> [Seed; 5] {
    let groups = |samples: u32| {
        let sgpd = boxed(b"sgpd", &[&words(&[1 << 24]), b"roll", &words(&[2, 2]), &[0, 1, 0, 2]]);
        let runs = words(&[2, 1, 0x1_0002, samples - 1, 0x1_0001]);
        let sbgp = boxed(b"sbgp", &[&[0; 4], b"roll", &runs]);
        let subs = boxed(b"subs", &[&words(&[0, 1, samples]), &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]);
        [sgpd, sbgp, subs].concat()
    };
    let form = FragmentForm { trafs: 2, boxes: groups, ..FragmentForm::new(OffsetBase::Moof) };
    let seed = |name, bytes: &[u8]| Seed {
        name,
        bytes: bytes.to_vec(),
        is_text: bytes.get(4..8) != Some(b"ftyp"),
    };
    [
        seed("progressive.mp4", AVC_AAC),
        seed("fragmented.mp4", AVC_AAC_FRAGMENTS),
        seed("groups.mp4", &refragmented(AVC_AAC_FRAGMENTS, form)),
        seed("text.vtt", VTT),
        seed("text.ttml", TTML),
    ]
}

fn key() -> Key {
    Key::new([1; 16], [2; 16])
}

fn options(rng: &mut Rng) -> PackageOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::All, key()).unwrap();
    let scheme = *rng.pick(&[Scheme::Cenc, Scheme::Cbcs]);
    let protection = Some(EncryptOptions::new(scheme, keys)).filter(|_| !rng.one_in(4));
    PackageOptions::new()
        .with_protection(protection)
        .with_segment_duration(Duration::from_millis(*rng.pick(&[100, 110, 6000])))
        .with_fragment_duration(Some(Duration::from_millis(50)).filter(|_| rng.one_in(2)))
        .with_storage(*rng.pick(&[Storage::Segments, Storage::Single]))
        .with_trick_play(rng.one_in(4))
        .with_workers(1 + rng.below(2))
}

fn package(inputs: Vec<(&str, Vec<u8>)>, options: PackageOptions) -> Outcome {
    let sources = inputs
        .into_iter()
        .map(|(name, bytes)| -> Arc<dyn Source> { Arc::new(MemorySource::new(name, bytes)) });
    let folder = MemoryFolder::new();
    let package =
        Package::new(sources.collect(), options, &Quiet).map_err(|error| error.to_string())?;
    package.summary();
    let summary = package.write(Box::new(folder.clone()), &Quiet);
    let summary = summary.map_err(|error| error.to_string())?;
    Ok((folder.into_objects().ok_or("no objects")?, summary))
}

/// A copy in which one to three fields of boxes have other values, mostly at the borders of what there are
/// numbers for; the boxes keep their sizes.
fn with_fields(good: &[u8], rng: &mut Rng) -> Vec<u8> {
    const KINDS: [[u8; 4]; 21] = [
        *b"tfdt", *b"tfhd", *b"trun", *b"trex", *b"mehd", *b"mvhd", *b"mdhd", *b"tkhd", *b"elst",
        *b"stts", *b"ctts", *b"stss", *b"stsc", *b"stsz", *b"stco", *b"sbgp", *b"sgpd", *b"hdlr",
        *b"stsd", *b"avcC", *b"subs",
    ];
    const VALUES: [u32; 12] =
        [0, 1, 2, 3, 0xff, 0x1_0000, 1 << 30, 0x7fff_ffff, 1 << 31, (1 << 31) + 1, !0 - 1, !0];
    let mut bytes = good.to_vec();
    for _ in 0..=rng.below(3) {
        let kind = rng.pick(&KINDS);
        let places = good.windows(4).enumerate().filter(|(_, word)| word == kind);
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        let Some(at) = (!places.is_empty()).then(|| *rng.pick(&places)) else { continue };
        let size = u32::from_be_bytes(good[at - 4..at].try_into().unwrap()) as usize;
        let field = at + 4 + 4 * rng.below((size / 4).clamp(3, 20) - 2);
        let Some(field) = bytes.get_mut(field..field + 4) else { continue };
        let old = u32::from_be_bytes((&*field).try_into().unwrap());
        let new = match rng.below(3) {
            0 => old.wrapping_add(*rng.pick(&[1, 2, !0, !1])),
            1 => old ^ 1 << rng.below(32),
            _ => *rng.pick(&VALUES),
        };
        field.copy_from_slice(&new.to_be_bytes());
    }
    bytes
}

/// A copy in which one or two characters are others, that may mean something.
fn with_characters(good: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=rng.below(2) {
        let at = 7 + rng.below(bytes.len() - 7);
        let new = *rng.pick(b"0123456789:.-> \n<>&/\"'sfhm%=;#x");
        if rng.one_in(2) {
            bytes[at] = new;
        } else {
            bytes.insert(at, new);
        }
    }
    bytes
}

fn decrypted(file: &[u8]) -> Result<Vec<u8>, String> {
    let sink = MemorySink::new();
    let source = MemorySource::new("joined.mp4", file.to_vec());
    let options = DecryptOptions::new(vec![key()]).with_check_keys(false);
    decrypt(&source, Box::new(sink.clone()), &options, &Quiet)
        .map_err(|error| format!("decrypt: {error}"))?;
    sink.into_bytes().ok_or_else(|| "nothing decrypted".into())
}

/// Decoding time from the first sample on, composition offset, whether it is a sync sample, and its bytes.
type Told<'a> = Vec<(u64, i32, bool, &'a [u8])>;

/// The samples of a track as its metadata have them.
fn samples(file: &[u8], id: u32) -> Result<Told<'_>, lanelock_mp4::Error> {
    let len = file.len() as u64;
    let boxes: Vec<_> = top_level(file).map_while(Result::ok).collect();
    let moov = boxes.iter().find(|header| header.kind == b"moov").unwrap();
    let movie = Movie::parse(load(file, moov)?, moov.offset)?;
    let track = movie.track(id).unwrap();
    let index = movie.track_index(id).unwrap();
    let mut found: Vec<Sample> = Vec::new();
    if movie.fragmented {
        for header in boxes.iter().filter(|header| header.kind == b"moof") {
            let moof = load(file, header)?;
            let fragment = Fragment::parse(&moof, header.offset, &movie, len)?;
            for traf in fragment.tracks.iter().filter(|traf| traf.track_index == index) {
                let before =
                    found.last().map_or(0, |last| last.decode_time + u64::from(last.duration));
                let start = if traf.decode_time.is_some() { 0 } else { before };
                found.extend(traf.samples().map(|sample| {
                    let decode_time = sample.decode_time + start;
                    Sample { decode_time, ..sample }
                }));
            }
        }
    } else {
        found = movie.samples(track, len)?.collect::<Result<_, _>>()?;
    }
    let first = found.first().map_or(0, |first| first.decode_time);
    let told = |sample: &Sample| {
        let start = usize::try_from(sample.offset).unwrap();
        let bytes = &file[start..start + sample.size as usize];
        (sample.decode_time - first, sample.composition_offset, sample.sync, bytes)
    };
    Ok(found.iter().map(told).collect())
}

/// Compares what came out with what the input says. Gives whether there was something to compare.
fn judge(seed: &Seed, mutant: &[u8], outcome: &Outcome) -> Result<bool, String> {
    let (objects, summary) = match outcome {
        Ok(outcome) => outcome,
        Err(message) if message.is_empty() => return Err("an error without words".into()),
        Err(_) => return Ok(false),
    };
    for track in &summary.tracks {
        if track.kind == "text" {
            continue;
        }
        let made = crate::support::joined(objects, &track.name);
        let back = if track.kid.is_some() { decrypted(&made)? } else { made };
        let movie = crate::support::movie(&back);
        let back = samples(&back, movie.tracks[0].id).map_err(|error| error.to_string())?;
        let input = if track.input == seed.name { mutant } else { AVC_AAC };
        let mut was = samples(input, track.track).map_err(|error| error.to_string())?;
        if track.name.ends_with("-key-frames") {
            was.retain(|sample| sample.2);
        }
        // What an edit list cuts off at either end is left out.
        let of_input = crate::support::movie(input);
        let is_edited = of_input.track(track.track).is_some_and(|track| !track.edits.is_empty());
        let is_part = is_edited && {
            let mut parts = was.windows(back.len().max(1));
            parts.any(|part| {
                let first = part.first().map_or(0, |sample| sample.0);
                let shifted = part.iter().map(|was| (was.0 - first, was.1, was.2, was.3));
                shifted.eq(back.iter().copied())
            })
        };
        if was != back && !is_part {
            let at = was.iter().zip(&back).position(|(was, back)| was != back);
            let at = at.unwrap_or(was.len().min(back.len()));
            return Err(format!(
                "{}: {} samples, not {}; number {at}: {:?} was {:?}",
                track.name,
                back.len(),
                was.len(),
                back.get(at).map(|sample| (sample.0, sample.1, sample.2, sample.3.len())),
                was.get(at).map(|sample| (sample.0, sample.1, sample.2, sample.3.len())),
            ));
        }
    }
    Ok(true)
}

#[test]
fn mutants_do_no_harm() {
    if !alone(module_path!(), "mutants_do_no_harm") {
        return;
    }
    let total = mutants(MUTANTS);
    let rng = Rng::from_env("package_mutants");
    let next = AtomicUsize::new(0);
    let seeds = seeds();
    let done = [const { AtomicUsize::new(0) }; 5];
    let bad = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let watchdog = Watchdog::new();
                let mutators = seeds.each_ref().map(|seed| {
                    if seed.is_text {
                        Mutator::of_head(&seed.bytes, seed.bytes.len())
                    } else {
                        Mutator::of_boxes(&seed.bytes)
                    }
                });
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= total || bad.lock().unwrap().len() >= 20 {
                        break;
                    }
                    let mut rng = rng.fork(number as u64);
                    let which = if rng.one_in(8) { 3 + rng.below(2) } else { rng.below(3) };
                    let seed = &seeds[which];
                    let mutant = match rng.below(4) {
                        0 => mutators[which].mutant(&mut rng),
                        _ if !seed.is_text => with_fields(&seed.bytes, &mut rng),
                        _ => with_characters(&seed.bytes, &mut rng),
                    };
                    watchdog.begins(format!("mutant {number} of {}", seed.name));
                    let mut inputs = vec![(seed.name, mutant.clone())];
                    if seed.is_text {
                        inputs.push(("whole.mp4", AVC_AAC.to_vec()));
                    }
                    let options = options(&mut rng);
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        let outcome = package(inputs, options);
                        judge(seed, &mutant, &outcome)
                    }));
                    let wrong = match outcome {
                        Ok(Ok(succeeded)) => {
                            done[which].fetch_add(usize::from(succeeded), Ordering::Relaxed);
                            continue;
                        }
                        Ok(Err(wrong)) => wrong,
                        Err(_) => "panic".into(),
                    };
                    let keep = format!("lanelock-package-mutant-{number}-{}", seed.name);
                    let keep = env::temp_dir().join(keep);
                    fs::write(&keep, &mutant).unwrap();
                    let line = format!("mutant {number}: {wrong}; kept as {}", keep.display());
                    bad.lock().unwrap().push(line);
                }
            });
        }
    });
    let bad = bad.into_inner().unwrap();
    assert!(bad.is_empty(), "{} are bad:\n{}", bad.len(), bad.join("\n"));
    let done = done.map(AtomicUsize::into_inner);
    eprintln!("{total} mutants, of which were packaged, by seed: {done:?}");
    // Neither all dead nor all unharmed.
    assert!(done.iter().all(|done| *done > total / 100), "the mutants are too sick: {done:?}");
    assert!(done.iter().sum::<usize>() < total * 9 / 10, "the mutants are too well: {done:?}");
    match peak_mib() {
        Some(_) if is_emulated() => skip("emulated: memory is that of the emulator too"),
        Some(peak) => assert!(peak < MEMORY_MIB, "{peak} MiB at most"),
        None => skip("/proc/self/status has no VmHWM: memory is not watched"),
    }
}

/// The most memory that this process ever had, in MiB.
fn peak_mib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}
