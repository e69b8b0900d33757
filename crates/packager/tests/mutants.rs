//! Damaged files through `inspect`, `encrypt` and `decrypt`: no panic, no hang, no hunger for memory,
//! and where a run fails, no output and nothing left beside it.
//!
//! `LANELOCK_SEED` repeats a run, `LANELOCK_MUTANTS` sets how many mutants there are.
#![allow(clippy::unwrap_used, reason = "tests")]

use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, Iv, Key, KeyMap, Layout, Quiet, Scheme, Selector,
    decrypt, encrypt, inspect,
};
use lanelock_testkit::{Rng, hex, skip};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// Clips in both layouts; `fixtures/README.md` says how they were made.
const CLIPS: [(&str, &[u8]); 9] = [
    ("avc", include_bytes!("fixtures/avc.mp4")),
    ("hevc", include_bytes!("fixtures/hevc.mp4")),
    ("aac", include_bytes!("fixtures/aac.mp4")),
    ("avc_aac", include_bytes!("fixtures/avc_aac.mp4")),
    ("avc.frag", include_bytes!("fixtures/avc.frag.mp4")),
    ("hevc.frag", include_bytes!("fixtures/hevc.frag.mp4")),
    ("aac.frag", include_bytes!("fixtures/aac.frag.mp4")),
    ("avc_aac.frag", include_bytes!("fixtures/avc_aac.frag.mp4")),
    ("avc_aac.sidx", include_bytes!("fixtures/avc_aac.sidx.mp4")),
];

const MUTANTS: usize = 20_000;
/// A run that takes longer than this hangs; the files have a few thousand bytes.
const PATIENCE: Duration = Duration::from_secs(8);
const MEMORY_MIB: u64 = 300;

fn key() -> Key {
    Key::new([0x11; 16], [0x22; 16])
}

fn encrypt_options(scheme: Scheme, layout: Layout, workers: usize) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::All, key()).unwrap();
    let mut options = EncryptOptions::new(scheme, keys);
    // Repeatable where it is allowed: two tracks must not share a key stream.
    if !scheme.is_ctr() {
        options.iv = Iv::Given(vec![0x33; 16]);
    }
    options.layout = layout;
    options.workers = workers;
    options
}

fn decrypt_options(workers: usize) -> DecryptOptions {
    DecryptOptions::new(vec![key()]).with_workers(workers)
}

/// A file that mutants are made of.
struct Seed {
    name: String,
    bytes: Vec<u8>,
    encrypted: bool,
}

/// The clips, and what encryption makes of them.
fn seeds(scratch: &Scratch) -> Vec<Seed> {
    let mut seeds = Vec::new();
    let (input, output) = (scratch.0.join("in.mp4"), scratch.0.join("out.mp4"));
    for (name, bytes) in CLIPS {
        fs::write(&input, bytes).unwrap();
        let layouts: &[Layout] = if name.contains('.') {
            &[Layout::Fragmented]
        } else {
            &[Layout::Fragmented, Layout::Keep]
        };
        for scheme in Scheme::ALL {
            for &layout in layouts {
                encrypt(&input, &output, &encrypt_options(scheme, layout, 1), &Quiet)
                    .unwrap_or_else(|error| panic!("{name} {scheme} {layout:?}: {error}"));
                let bytes = fs::read(&output).unwrap();
                seeds.push(Seed {
                    name: format!("{name} {scheme} {layout:?}"),
                    bytes,
                    encrypted: true,
                });
                fs::remove_file(&output).unwrap();
            }
        }
        // As often as all that was made of it.
        for _ in 0..4 * layouts.len() {
            seeds.push(Seed { name: name.into(), bytes: bytes.to_vec(), encrypted: false });
        }
    }
    seeds
}

/// Where the bytes of metadata are: all but the payload of `mdat`.
fn metadata(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut places) = (0, Vec::new());
    while at + 8 <= bytes.len() {
        let size = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let size = if size < 8 { bytes.len() - at } else { size.min(bytes.len() - at) };
        let head = if &bytes[at + 4..at + 8] == b"mdat" { 8 } else { size };
        places.extend(at..at + head);
        at += size;
    }
    places
}

/// Where the types of boxes are, nested ones included (and what looks like them).
fn types(bytes: &[u8]) -> Vec<usize> {
    const KINDS: [&[u8; 4]; 40] = [
        b"moov", b"moof", b"mdat", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"stsz", b"stsc",
        b"stco", b"stts", b"ctts", b"stss", b"traf", b"tfhd", b"trun", b"tfdt", b"senc", b"saiz",
        b"saio", b"sgpd", b"sbgp", b"tenc", b"sinf", b"schi", b"schm", b"frma", b"avcC", b"hvcC",
        b"avc1", b"encv", b"enca", b"mp4a", b"mvex", b"trex", b"pssh", b"sidx", b"mfra", b"hdlr",
    ];
    (4..bytes.len().saturating_sub(4))
        .filter(|&at| KINDS.iter().any(|kind| bytes[at..].starts_with(*kind)))
        .collect()
}

fn mutate(rng: &mut Rng, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let (metadata, types) = (metadata(seed), types(seed));
    for _ in 0..=rng.below(4) {
        let place = match rng.below(8) {
            0 => rng.below(seed.len()),
            // A size field, or the first field of a full box.
            1 | 2 => (*rng.pick(&types) + 12).saturating_sub(16 - 4 * rng.below(5)),
            _ => *rng.pick(&metadata),
        };
        let place = place.min(bytes.len().saturating_sub(1));
        let room = bytes.len() - place;
        match rng.below(14) {
            0..=2 => bytes[place] ^= 1 << rng.below(8),
            3 | 4 => bytes[place] = *rng.pick(&[0, 1, 0x7f, 0x80, 0xfe, 0xff]),
            5 => bytes[place] = rng.array::<1>()[0],
            6 | 7 if room >= 4 => {
                let old = u32::from_be_bytes(bytes[place..place + 4].try_into().unwrap());
                let len = u32::try_from(bytes.len()).unwrap();
                let value = *rng.pick(&[
                    0,
                    1,
                    7,
                    8,
                    len,
                    len - 1,
                    i32::MAX.cast_unsigned(),
                    1 << 31,
                    u32::MAX,
                    u32::MAX - 7,
                    old.wrapping_add(1),
                    old.wrapping_sub(1),
                    old.wrapping_mul(2),
                    1_000_000,
                ]);
                bytes[place..place + 4].copy_from_slice(&value.to_be_bytes());
            }
            8 if room >= 8 => {
                let value = *rng.pick(&[u64::MAX, 1 << 63, u64::from(u32::MAX) + 1, 0, 1]);
                bytes[place..place + 8].copy_from_slice(&value.to_be_bytes());
            }
            9 => {
                // One type for another.
                let (to, from) = (*rng.pick(&types), *rng.pick(&types));
                if to + 4 <= bytes.len() {
                    bytes[to..to + 4].copy_from_slice(&seed[from..from + 4]);
                }
            }
            10 => bytes.truncate(place + 1),
            11 => {
                // A whole box twice.
                let at = *rng.pick(&types) - 4;
                let size = u32::from_be_bytes(seed[at..at + 4].try_into().unwrap()) as usize;
                if let Some(copy) = seed.get(at..at.saturating_add(size))
                    && at <= bytes.len()
                {
                    bytes.splice(at..at, copy.to_vec());
                }
            }
            12 => {
                let len = room.min(1 + rng.below(40));
                bytes.drain(place..place + len);
            }
            _ => {
                let new = 1 + rng.below(40);
                let new = rng.bytes(new);
                bytes.splice(place..place, new);
            }
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

/// A folder of its own, in memory where that is possible.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.into() } else { env::temp_dir() };
        let path = base.join(format!("lanelock-mutants-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The names in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A left-over folder in the temporary directory is no reason to fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a thread is at, for the one that watches.
type Watched = Arc<Mutex<(String, Instant)>>;

#[derive(Default)]
struct Counts {
    done: AtomicUsize,
    encrypted: AtomicUsize,
    decrypted: AtomicUsize,
    inspected: AtomicUsize,
}

/// Calls, and says what went wrong in the call, if anything: a panic, or traces of a failure.
fn call<T>(
    what: &str,
    scratch: &Scratch,
    output: &str,
    f: impl FnOnce() -> Result<T, Error>,
) -> Result<bool, String> {
    let before = scratch.names();
    let result = catch_unwind(AssertUnwindSafe(f)).map_err(|_| format!("{what}: panic"))?;
    let mut expected = before;
    if result.is_ok() && !output.is_empty() {
        expected.push(output.into());
        expected.sort();
    }
    let names = scratch.names();
    if names != expected {
        return Err(format!("{what}: {names:?} in the folder, and not {expected:?}"));
    }
    if let Err(error) = &result
        && error.to_string().is_empty()
    {
        return Err(format!("{what}: an error without words"));
    }
    Ok(result.is_ok())
}

/// Takes one mutant through everything.
fn judge(
    seed: &Seed,
    bytes: &[u8],
    rng: &mut Rng,
    scratch: &Scratch,
    counts: &Counts,
) -> Result<(), String> {
    let [input, output, back] = ["in.mp4", "out.mp4", "back.mp4"].map(|name| scratch.0.join(name));
    fs::write(&input, bytes).unwrap();
    let workers = 1 + rng.below(2);
    if call("inspect", scratch, "", || inspect(&input))? {
        counts.inspected.fetch_add(1, Ordering::Relaxed);
    }
    if seed.encrypted || rng.one_in(8) {
        let options = decrypt_options(workers);
        if call("decrypt", scratch, "out.mp4", || decrypt(&input, &output, &options, &Quiet))? {
            counts.decrypted.fetch_add(1, Ordering::Relaxed);
            fs::remove_file(&output).unwrap();
        }
    }
    if !seed.encrypted || rng.one_in(8) {
        let layout = *rng.pick(&[Layout::Fragmented, Layout::Keep]);
        let scheme = *rng.pick(&Scheme::ALL);
        let options = encrypt_options(scheme, layout, workers);
        let what = format!("encrypt {scheme} {layout:?}");
        if call(&what, scratch, "out.mp4", || encrypt(&input, &output, &options, &Quiet))? {
            counts.encrypted.fetch_add(1, Ordering::Relaxed);
            // What was encrypted can be decrypted, whatever else is wrong with it.
            let options = decrypt_options(workers);
            let result = catch_unwind(|| decrypt(&output, &back, &options, &Quiet));
            match result {
                Err(_) => return Err(format!("{what}, then decrypt: panic")),
                Ok(Err(error)) => return Err(format!("{what}, then decrypt: {error}")),
                Ok(Ok(_)) => fs::remove_file(&back).unwrap(),
            }
            fs::remove_file(&output).unwrap();
        }
    }
    fs::remove_file(&input).unwrap();
    Ok(())
}

#[test]
fn mutants_do_no_harm() {
    let total = env::var("LANELOCK_MUTANTS")
        .map_or(MUTANTS, |n| n.parse().expect("LANELOCK_MUTANTS is a number"));
    let rng = Rng::from_env("packager_mutants");
    let start = Instant::now();
    let seeds = seeds(&Scratch::new("seeds"));
    let counts = Counts::default();
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let bad = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    let watched: Vec<Watched> =
        (0..threads).map(|_| Arc::new(Mutex::new((String::new(), Instant::now())))).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = watched
            .iter()
            .enumerate()
            .map(|(number, watched)| {
                let (seeds, counts, next, bad, rng) = (&seeds, &counts, &next, &bad, &rng);
                scope.spawn(move || {
                    let scratch = Scratch::new(&number.to_string());
                    loop {
                        let mutant = next.fetch_add(1, Ordering::Relaxed);
                        if mutant >= total || bad.lock().unwrap().len() >= 20 {
                            return;
                        }
                        // A generator for each, so that the order of threads does not matter.
                        let salt = (mutant as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                        let mut rng = Rng::new(rng.clone().next_u64() ^ salt);
                        let seed = rng.pick(seeds);
                        let bytes = mutate(&mut rng, &seed.bytes);
                        *watched.lock().unwrap() =
                            (format!("mutant {mutant} of {}", seed.name), Instant::now());
                        if let Err(what) = judge(seed, &bytes, &mut rng, &scratch, counts) {
                            let keep =
                                env::temp_dir().join(format!("lanelock-mutant-{mutant}.mp4"));
                            fs::write(&keep, &bytes).unwrap();
                            for name in scratch.names() {
                                fs::remove_file(scratch.0.join(name)).unwrap();
                            }
                            let line = format!(
                                "mutant {mutant} of {}: {what}; kept as {}",
                                seed.name,
                                keep.display()
                            );
                            bad.lock().unwrap().push(line);
                        }
                        counts.done.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let watch = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                for watched in &watched {
                    let (what, since) = &*watched.lock().unwrap();
                    if since.elapsed() > PATIENCE && !over.load(Ordering::Relaxed) {
                        eprintln!("hangs: {what}");
                        process::abort();
                    }
                }
            }
        });
        for worker in workers {
            worker.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        watch.join().unwrap();
    });
    let bad = bad.into_inner().unwrap();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    let [done, encrypted, decrypted, inspected] =
        [&counts.done, &counts.encrypted, &counts.decrypted, &counts.inspected]
            .map(|count| count.load(Ordering::Relaxed));
    eprintln!(
        "{done} mutants in {:.1} s: {inspected} inspected, {encrypted} encrypted, {decrypted} decrypted",
        start.elapsed().as_secs_f64()
    );
    assert_eq!(done, total);
    // Neither all dead nor all unharmed.
    let least = encrypted.min(decrypted).min(inspected);
    assert!(least > total / 50 && inspected < total, "the mutants are too sick, or too well");
    match peak_mib() {
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

/// The seeds themselves are sound: fragmented ones come back byte for byte.
#[test]
fn unharmed_files_come_back() {
    let scratch = Scratch::new("unharmed");
    let [input, output, back] = ["in.mp4", "out.mp4", "back.mp4"].map(|name| scratch.0.join(name));
    for (name, bytes) in CLIPS {
        fs::write(&input, bytes).unwrap();
        for scheme in Scheme::ALL {
            let layout = if name.contains('.') { Layout::Fragmented } else { Layout::Keep };
            encrypt(&input, &output, &encrypt_options(scheme, layout, 2), &Quiet).unwrap();
            assert_ne!(fs::read(&output).unwrap(), bytes);
            decrypt(&output, &back, &decrypt_options(2), &Quiet).unwrap();
            let back = fs::read(&back).unwrap();
            let at = back.iter().zip(bytes).position(|(a, b)| a != b);
            assert!(
                back == bytes,
                "{name} {scheme}: {} of {} bytes, differ from {at:?}: {}",
                back.len(),
                bytes.len(),
                hex(&back[at.unwrap_or(0)..][..16])
            );
        }
    }
}
