//! Damaged files through `inspect`, `encrypt`, `decrypt` and `rewrap`, from memory and from pipes, to
//! memory and in order: no panic, no hang, no hunger for memory, the same result in every way, and
//! where a run fails, no output. Some of them are files, too, beside which nothing may be left.
//!
//! `LANELOCK_SEED` repeats a run, `LANELOCK_MUTANTS` sets how many mutants there are.

use crate::io_support::{CLIPS, Fault, PIFF, TestSink, Verb, clip, with_sinf};
use lanelock_packager::io::{FileSink, FileSource, MemorySource, PipeSource, WriteOrder};
use lanelock_packager::{Error, Layout, Scheme, inspect};
use lanelock_testkit::boxes::{boxed, words};
use lanelock_testkit::fragments::{FragmentForm, OffsetBase, refragmented};
use lanelock_testkit::{Mutator, Rng, Scratch, Watchdog, alone, hex, is_emulated, mutants, skip};
use std::io::{self, Read};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

const MUTANTS: usize = 20_000;
const MEMORY_MIB: u64 = 300;

/// A file that mutants are made of.
struct Seed {
    name: String,
    bytes: Vec<u8>,
    encrypted: bool,
}

fn layouts(name: &str) -> &'static [Layout] {
    if name.contains('.') { &[Layout::Keep] } else { &[Layout::Fragmented, Layout::Keep] }
}

/// The clips, and what encryption makes of them.
fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, bytes) in CLIPS {
        for scheme in Scheme::ALL {
            for &layout in layouts(name) {
                let sealed = Verb::Encrypt(scheme, layout).in_memory(bytes, 1);
                let bytes = sealed.unwrap_or_else(|error| panic!("{name} {scheme}: {error}"));
                let name = format!("{name} {scheme} {layout:?}");
                seeds.push(Seed { name, bytes, encrypted: true });
            }
        }
        // As often as all that was made of it.
        for _ in 0..4 * layouts(name).len() {
            seeds.push(Seed { name: name.into(), bytes: bytes.to_vec(), encrypted: false });
        }
    }
    seeds.extend(rare_seeds());
    seeds
}

/// Forms that few writers make: PIFF, two `sinf` in a sample entry, other bases of data offsets, two track
/// fragments of a track, boxes that an earlier protection has left.
fn rare_seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, bytes) in PIFF {
        seeds.push(Seed { name: name.into(), bytes: bytes.to_vec(), encrypted: true });
    }
    let seal = |bytes: &[u8], scheme| {
        let sealed = Verb::Encrypt(scheme, Layout::Keep).in_memory(bytes, 1);
        sealed.unwrap_or_else(|error| panic!("{scheme}: {error}"))
    };
    for (scheme, other) in [(Scheme::Cbcs, *b"abcd"), (Scheme::Cenc, *b"piff")] {
        let bytes = with_sinf(&seal(clip("avc.frag"), scheme), *b"encv", other, true);
        seeds.push(Seed {
            name: format!("avc.frag {scheme} {}", other.escape_ascii()),
            bytes,
            encrypted: true,
        });
    }
    let leftovers =
        |samples: u32| boxed(b"senc", &[&words(&[0, samples]), &vec![9; samples as usize]]);
    for (base, boxes) in [
        (OffsetBase::Mdat, None),
        (OffsetBase::Previous, None),
        (OffsetBase::Moof, Some(leftovers as fn(u32) -> Vec<u8>)),
    ] {
        let name = format!("avc_aac.frag {base:?} {}", boxes.is_some());
        let form = FragmentForm { trafs: 2, ..FragmentForm::new(base) };
        let form = FragmentForm { boxes: boxes.unwrap_or(form.boxes), ..form };
        let bytes = refragmented(clip("avc_aac.frag"), form);
        for scheme in [Scheme::Cenc, Scheme::Cbcs] {
            let (name, bytes) = (format!("{name} {scheme}"), seal(&bytes, scheme));
            seeds.push(Seed { name, bytes, encrypted: true });
        }
        seeds.push(Seed { name, bytes, encrypted: false });
    }
    seeds
}

#[derive(Default)]
struct Counts {
    done: AtomicUsize,
    encrypted: AtomicUsize,
    decrypted: AtomicUsize,
    rewrapped: AtomicUsize,
    inspected: AtomicUsize,
    piped: AtomicUsize,
}

impl Counts {
    fn count(count: &AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// A pipe that gives some bytes at a time.
struct Portions<'a>(&'a [u8], usize);

impl Read for Portions<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(self.1);
        self.0.read(&mut buf[..len])
    }
}

/// Calls; a panic is what went wrong, and so is an error without words.
fn call<T>(what: &str, f: impl FnOnce() -> Result<T, Error>) -> Result<Result<T, Error>, String> {
    let result = catch_unwind(AssertUnwindSafe(f)).map_err(|_| format!("{what}: panic"))?;
    match result {
        Err(error) if error.to_string().is_empty() => Err(format!("{what}: no words")),
        result => Ok(result),
    }
}

/// A mutant and what belongs to it.
struct Case<'a> {
    seed: &'a Seed,
    bytes: &'a [u8],
    scratch: &'a Scratch,
    counts: &'a Counts,
}

impl Case<'_> {
    /// Takes the mutant through everything.
    fn judge(&self, rng: &mut Rng) -> Result<(), String> {
        let Self { seed, bytes, counts, .. } = *self;
        if call("inspect", || inspect(&MemorySource::new("memory", bytes)))?.is_ok() {
            Counts::count(&counts.inspected);
        }
        if seed.encrypted || rng.one_in(8) {
            // Wrong keys are looked for; what is no media, and then taken for a wrong key, is not.
            if self.run(Verb::Decrypt, rng)?.is_some() {
                Counts::count(&counts.decrypted);
            }
            self.rewrap(rng)?;
        }
        if !seed.encrypted || rng.one_in(8) {
            let layout = *rng.pick(&[Layout::Fragmented, Layout::Keep]);
            let verb = Verb::Encrypt(*rng.pick(&Scheme::ALL), layout);
            if let Some(sealed) = self.run(verb, rng)? {
                Counts::count(&counts.encrypted);
                // What was encrypted can be decrypted, whatever else is wrong with it.
                call("decrypt", || Verb::DecryptRaw.in_memory(&sealed, 1))?
                    .map_err(|error| format!("{verb:?}, then decrypt: {error}"))?;
            }
        }
        Ok(())
    }

    /// In memory, and by other ways, which must end alike. Gives the bytes, if it succeeds.
    fn run(&self, verb: Verb, rng: &mut Rng) -> Result<Option<Vec<u8>>, String> {
        let Self { bytes, counts, .. } = *self;
        let workers = 1 + rng.below(2);
        let memory = call(&format!("{verb:?}"), || verb.in_memory(bytes, workers))?;
        let source = MemorySource::new("memory", bytes);
        if rng.one_in(4) {
            let what = format!("{verb:?} in order");
            let sink = TestSink::new(WriteOrder::Sequential, Fault::None);
            let result = call(&what, || verb.run(&source, Box::new(sink.clone()), workers))?;
            let log = sink.log.lock().unwrap();
            same(&what, &memory, &result.map(|_| log.bytes.clone()))?;
        }
        if rng.one_in(4) {
            let portion = *rng.pick(&[1, 13, 500, 1 << 16]);
            let what = format!("{verb:?} from a pipe, {portion} bytes at a time");
            let pipe = PipeSource::new("pipe", Portions(bytes, portion));
            let piped = call(&what, || verb.from(&pipe, workers))?;
            match (&memory, &piped) {
                (Ok(_), Err(error)) if refused_of_pipes(error) => {}
                // They see other pieces, and so other places that an index may refer to.
                (Err(error), Ok(_)) if is_about_an_index(error) => {}
                _ => {
                    Counts::count(&counts.piped);
                    // Of an index that does not match, memory knows before the first byte is written.
                    let others = |bytes: &[u8]| without(bytes, &[*b"sidx", *b"mfra", *b"free"]);
                    match (&memory, &piped) {
                        (Ok(memory), Ok(piped)) if others(memory) == others(piped) => {}
                        _ => same(&what, &memory, &piped)?,
                    }
                }
            }
        }
        if rng.one_in(4) {
            self.through_pipes(verb, workers)?;
        }
        if rng.one_in(8) {
            self.by_files(verb, workers, &memory)?;
        }
        Ok(memory.ok())
    }

    /// From a pipe in order: if it succeeds, it gives what memory gives of a file without indexes.
    fn through_pipes(&self, verb: Verb, workers: usize) -> Result<(), String> {
        let what = format!("{verb:?} from a pipe in order");
        let sink = TestSink::new(WriteOrder::Sequential, Fault::None);
        let pipe = PipeSource::new("pipe", self.bytes);
        if call(&what, || verb.run(&pipe, Box::new(sink.clone()), workers))?.is_err() {
            return Ok(());
        }
        let memory = call(&what, || verb.in_memory(&without_indexes(self.bytes), workers))?;
        let log = sink.log.lock().unwrap();
        same(&what, &memory, &Ok(log.bytes.clone()))
    }

    /// From file to file: nothing is left where it fails.
    fn by_files(
        &self,
        verb: Verb,
        workers: usize,
        memory: &Result<Vec<u8>, Error>,
    ) -> Result<(), String> {
        let what = format!("{verb:?} by files");
        let [input, output] = ["in.mp4", "out.mp4"].map(|name| self.scratch.file(name));
        fs::write(&input, self.bytes).unwrap();
        let result = call(&what, || {
            let source = FileSource::open(&input)?;
            let sink = FileSink::create(&output, &[&source])?;
            verb.run(&source, Box::new(sink), workers)
        })?;
        let names = self.scratch.names();
        let expected: &[&str] = if result.is_ok() { &["in.mp4", "out.mp4"] } else { &["in.mp4"] };
        if names != expected {
            return Err(format!("{what}: {names:?} in the folder, and not {expected:?}"));
        }
        same(&what, memory, &result.map(|_| fs::read(&output).unwrap()))?;
        let _ = fs::remove_file(output);
        fs::remove_file(input).unwrap();
        Ok(())
    }

    /// What is encrypted anew decrypts to what the mutant itself decrypts to; and where audio was
    /// encrypted, it is again.
    fn rewrap(&self, rng: &mut Rng) -> Result<(), String> {
        let scheme = *rng.pick(&Scheme::ALL);
        let verb = Verb::Rewrap(scheme);
        let Some(anew) = self.run(verb, rng)? else { return Ok(()) };
        Counts::count(&self.counts.rewrapped);
        let back = call("decrypt anew", || Verb::DecryptAnew.in_memory(&anew, 1))?
            .map_err(|error| format!("{verb:?}, then decrypt: {error}"))?;
        let clear = call("decrypt", || Verb::DecryptRaw.in_memory(self.bytes, 1))?
            .map_err(|error| format!("{verb:?} is done, and decrypt says: {error}"))?;
        if back != clear {
            // Encryption says of each run where it begins; the mutant may leave that open.
            let explicit = Verb::Encrypt(scheme, Layout::Keep).in_memory(&clear, 1);
            let explicit = explicit.and_then(|sealed| Verb::DecryptRaw.in_memory(&sealed, 1));
            if explicit.ok().as_ref() != Some(&back) {
                let at = back.iter().zip(&clear).position(|(a, b)| a != b);
                let (back, clear) = (back.len(), clear.len());
                return Err(format!(
                    "{verb:?}, then decrypt: {back} bytes, {clear} by decrypt, they differ from {at:?}"
                ));
            }
        }
        if scheme.is_ctr() && self.seed.name.starts_with("aac") {
            let [sealed, clear, anew] = [self.bytes, &clear, &anew].map(media);
            if sealed.len() == clear.len() && clear.len() == anew.len() {
                // A last block that is not whole stays clear under cens.
                let shown = |at: &usize| clear[*at] == anew[*at] && clear[*at] != sealed[*at];
                if (0..clear.len()).collect::<Vec<_>>().windows(16).any(|w| w.iter().all(shown)) {
                    return Err(format!("{verb:?}: clear media in the output"));
                }
            }
        }
        Ok(())
    }
}

/// The payloads of all `mdat`.
fn media(bytes: &[u8]) -> Vec<u8> {
    let boxes = lanelock_mp4::top_level(bytes).map_while(Result::ok);
    let media = boxes.filter(|found| &found.kind.0 == b"mdat");
    media.flat_map(|mdat| slice(bytes, mdat.payload_offset()..mdat.end())).copied().collect()
}

/// All boxes but `sidx` and `mfra`.
fn without_indexes(bytes: &[u8]) -> Vec<u8> {
    without(bytes, &[*b"sidx", *b"mfra"])
}

/// All boxes but those of these types.
fn without(bytes: &[u8], kinds: &[[u8; 4]]) -> Vec<u8> {
    let boxes = lanelock_mp4::top_level(bytes).map_while(Result::ok);
    let others = boxes.filter(|found| !kinds.contains(&found.kind.0));
    others.flat_map(|found| slice(bytes, found.offset..found.end())).copied().collect()
}

fn slice(bytes: &[u8], range: Range<u64>) -> &[u8] {
    &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
}

/// Both fail, or both give the same bytes.
fn same(
    what: &str,
    memory: &Result<Vec<u8>, Error>,
    other: &Result<Vec<u8>, Error>,
) -> Result<(), String> {
    match (memory, other) {
        (Ok(memory), Ok(other)) if memory == other => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (Ok(_), Ok(_)) => Err(format!("{what}: other bytes than in memory")),
        (Ok(_), Err(error)) => Err(format!("{what}: {error}; in memory it is done")),
        (Err(error), Ok(_)) => Err(format!("{what}: done; in memory: {error}")),
    }
}

/// What cannot be read in order.
fn refused_of_pipes(error: &Error) -> bool {
    let error = error.to_string();
    ["a pipe cannot go back", "a pipe needs", "through a pipe"]
        .iter()
        .any(|words| error.contains(words))
}

fn is_about_an_index(error: &Error) -> bool {
    let error = error.to_string();
    ["sidx", "mfra"].iter().any(|kind| error.contains(kind))
}

#[test]
fn mutants_do_no_harm() {
    if !alone(module_path!(), "mutants_do_no_harm") {
        return;
    }
    let total = mutants(MUTANTS);
    let rng = Rng::from_env("packager_mutants");
    let seeds = seeds();
    let mutators: Vec<_> = seeds.iter().map(|seed| Mutator::of_boxes(&seed.bytes)).collect();
    let counts = Counts::default();
    let next = AtomicUsize::new(0);
    let bad = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let (mut scratch, watchdog) = (Scratch::new(), Watchdog::new());
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
                    let case = Case { seed, bytes: &bytes, scratch: &scratch, counts: &counts };
                    if let Err(what) = case.judge(&mut rng) {
                        let keep = env::temp_dir().join(format!("lanelock-mutant-{mutant}.mp4"));
                        fs::write(&keep, &bytes).unwrap();
                        scratch = Scratch::new();
                        let (name, keep) = (&seed.name, keep.display());
                        let line = format!("mutant {mutant} of {name}: {what}; kept as {keep}");
                        bad.lock().unwrap().push(line);
                    }
                    Counts::count(&counts.done);
                }
            });
        }
    });
    let bad = bad.into_inner().unwrap();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    let Counts { done, encrypted, decrypted, rewrapped, inspected, piped } = counts;
    let [done, encrypted, decrypted, rewrapped, inspected, piped] =
        [done, encrypted, decrypted, rewrapped, inspected, piped].map(AtomicUsize::into_inner);
    eprintln!(
        "{done} mutants: {inspected} inspected, {encrypted} encrypted, {decrypted} decrypted, \
         {rewrapped} encrypted anew, {piped} times from a pipe"
    );
    assert_eq!(done, total);
    // Neither all dead nor all unharmed.
    let least = encrypted.min(decrypted).min(inspected).min(rewrapped).min(piped);
    assert!(least > total / 50 && inspected < total, "the mutants are too sick, or too well");
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

/// The seeds themselves are sound: they come back byte for byte, also by way of other keys.
#[test]
fn unharmed_files_come_back() {
    for (name, bytes) in CLIPS {
        for scheme in Scheme::ALL {
            let sealed = Verb::Encrypt(scheme, Layout::Keep).in_memory(bytes, 2).unwrap();
            assert!(sealed != bytes);
            let back = Verb::Decrypt.in_memory(&sealed, 2).unwrap();
            let at = back.iter().zip(bytes).position(|(a, b)| a != b);
            assert!(
                back == bytes,
                "{name} {scheme}: {} of {} bytes, differ from {at:?}: {}",
                back.len(),
                bytes.len(),
                hex(&back[at.unwrap_or(0)..][..16])
            );
            for to in Scheme::ALL {
                let anew = Verb::Rewrap(to).in_memory(&sealed, 2).unwrap();
                let back = Verb::DecryptAnew.in_memory(&anew, 2).unwrap();
                assert!(back == bytes, "{name} {scheme}, then {to}");
            }
        }
    }
}
