//! Damaged files through `inspect`, `encrypt` and `decrypt`: no panic, no hang, no hunger for memory,
//! and where a run fails, no output and nothing left beside it.
//!
//! `LANELOCK_SEED` repeats a run, `LANELOCK_MUTANTS` sets how many mutants there are.
#![allow(clippy::unwrap_used, reason = "tests")]

use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, Iv, Key, KeyMap, Layout, Quiet, Scheme, Selector,
    decrypt_file, encrypt_file, inspect_file,
};
use lanelock_testkit::{Mutator, Rng, Scratch, Watchdog, hex, mutants, skip};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

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
    let (input, output) = (scratch.file("in.mp4"), scratch.file("out.mp4"));
    for (name, bytes) in CLIPS {
        fs::write(&input, bytes).unwrap();
        let layouts: &[Layout] = if name.contains('.') {
            &[Layout::Fragmented]
        } else {
            &[Layout::Fragmented, Layout::Keep]
        };
        for scheme in Scheme::ALL {
            for &layout in layouts {
                encrypt_file(&input, &output, &encrypt_options(scheme, layout, 1), &Quiet)
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
    let [input, output, back] = ["in.mp4", "out.mp4", "back.mp4"].map(|name| scratch.file(name));
    fs::write(&input, bytes).unwrap();
    let workers = 1 + rng.below(2);
    if call("inspect", scratch, "", || inspect_file(&input))? {
        counts.inspected.fetch_add(1, Ordering::Relaxed);
    }
    if seed.encrypted || rng.one_in(8) {
        let options = decrypt_options(workers);
        if call("decrypt", scratch, "out.mp4", || decrypt_file(&input, &output, &options, &Quiet))?
        {
            counts.decrypted.fetch_add(1, Ordering::Relaxed);
            fs::remove_file(&output).unwrap();
        }
    }
    if !seed.encrypted || rng.one_in(8) {
        let layout = *rng.pick(&[Layout::Fragmented, Layout::Keep]);
        let scheme = *rng.pick(&Scheme::ALL);
        let options = encrypt_options(scheme, layout, workers);
        let what = format!("encrypt {scheme} {layout:?}");
        if call(&what, scratch, "out.mp4", || encrypt_file(&input, &output, &options, &Quiet))? {
            counts.encrypted.fetch_add(1, Ordering::Relaxed);
            // What was encrypted can be decrypted, whatever else is wrong with it. Access units of
            // wrong sizes are no AAC, which would pass for a wrong key.
            let options = decrypt_options(workers).with_check_keys(false);
            let result = catch_unwind(|| decrypt_file(&output, &back, &options, &Quiet));
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
    let total = mutants(MUTANTS);
    let rng = Rng::from_env("packager_mutants");
    let seeds = seeds(&Scratch::new());
    let mutators: Vec<_> = seeds.iter().map(|seed| Mutator::of_boxes(&seed.bytes)).collect();
    let counts = Counts::default();
    let next = AtomicUsize::new(0);
    let bad = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let (scratch, watchdog) = (Scratch::new(), Watchdog::new());
                loop {
                    let mutant = next.fetch_add(1, Ordering::Relaxed);
                    if mutant >= total || bad.lock().unwrap().len() >= 20 {
                        break;
                    }
                    let mut rng = rng.fork(mutant as u64);
                    let which = rng.below(seeds.len());
                    let seed = &seeds[which];
                    let bytes = mutators[which].mutant(&mut rng);
                    watchdog.begins(format!("mutant {mutant} of {}", seed.name));
                    if let Err(what) = judge(seed, &bytes, &mut rng, &scratch, &counts) {
                        let keep = env::temp_dir().join(format!("lanelock-mutant-{mutant}.mp4"));
                        fs::write(&keep, &bytes).unwrap();
                        for name in scratch.names() {
                            fs::remove_file(scratch.file(&name)).unwrap();
                        }
                        let name = &seed.name;
                        let line = format!(
                            "mutant {mutant} of {name}: {what}; kept as {}",
                            keep.display()
                        );
                        bad.lock().unwrap().push(line);
                    }
                    counts.done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let bad = bad.into_inner().unwrap();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    let [done, encrypted, decrypted, inspected] =
        [&counts.done, &counts.encrypted, &counts.decrypted, &counts.inspected]
            .map(|count| count.load(Ordering::Relaxed));
    eprintln!(
        "{done} mutants: {inspected} inspected, {encrypted} encrypted, {decrypted} decrypted"
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
    let scratch = Scratch::new();
    let [input, output, back] = ["in.mp4", "out.mp4", "back.mp4"].map(|name| scratch.file(name));
    for (name, bytes) in CLIPS {
        fs::write(&input, bytes).unwrap();
        for scheme in Scheme::ALL {
            let layout = if name.contains('.') { Layout::Fragmented } else { Layout::Keep };
            encrypt_file(&input, &output, &encrypt_options(scheme, layout, 2), &Quiet).unwrap();
            assert_ne!(fs::read(&output).unwrap(), bytes);
            decrypt_file(&output, &back, &decrypt_options(2), &Quiet).unwrap();
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
