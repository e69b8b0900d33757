//! Pipes as sources and sinks: slow ones, ones that end anywhere, ones whose other end goes away. What
//! comes out is what comes out of memory.

use crate::io_support::{CLIPS, Fault, TestSink, Verb, clip, encrypt_options};
use lanelock_packager::io::{
    FileSink, MemorySink, MemorySource, PipeSink, PipeSource, Source, WriteOrder,
};
use lanelock_packager::{Error, Iv, Layout, Quiet, Scheme, encrypt};
use lanelock_testkit::{Rng, Scratch, Watchdog, boxes, is_long};
use std::fs;
use std::io::{self, Read, Write};
use std::thread;

/// A reader that gives some bytes at a time.
struct Slow<'a> {
    bytes: &'a [u8],
    most: usize,
    /// Every other read is interrupted by a signal.
    signals: bool,
    interrupted: bool,
    /// What comes behind the bytes.
    end: Result<usize, &'static str>,
}

impl<'a> Slow<'a> {
    fn new(bytes: &'a [u8], most: usize) -> Self {
        Self { bytes, most, signals: false, interrupted: false, end: Ok(0) }
    }
}

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.interrupted = self.signals && !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.bytes.is_empty() {
            return self.end.map_err(io::Error::other);
        }
        let len = buf.len().min(self.most).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(len);
        buf[..len].copy_from_slice(now);
        self.bytes = later;
        Ok(len)
    }
}

fn pipe<R: Read + Send>(reader: R) -> PipeSource<R> {
    PipeSource::new("the pipe", reader)
}

/// Fragmented files and what is done to them: clear ones are encrypted, encrypted ones decrypted and
/// encrypted anew.
fn cases() -> Vec<(String, Vec<u8>, Verb)> {
    crate::io_support::cases().into_iter().filter(|(name, ..)| name.contains('.')).collect()
}

/// To memory, indexes are kept; only from a pipe to an ordered sink they are not.
#[test]
fn slow_pipes_give_the_same_bytes() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in cases() {
        for workers in [1, 3] {
            let whole = verb.in_memory(&bytes, workers).unwrap();
            for most in [1, 2, 7, 64, 4096] {
                for signals in [false, true] {
                    watchdog.begins(format!("{name}, {most} bytes at a time"));
                    let source = pipe(Slow { signals, ..Slow::new(&bytes, most) });
                    let piped = verb.from(&source, workers);
                    let piped = piped.unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!(piped == whole, "{name}, {most} bytes at a time, {workers} workers");
                }
            }
        }
    }
}

/// Every place inside of a box, and every end of one: either the file may end there, and then memory
/// gives the same, or the pipe says where it ended.
#[test]
fn pipes_that_end_anywhere() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in cases() {
        let step = if is_long() { 1 } else { 5 };
        let mut good = 0;
        for len in (0..bytes.len()).step_by(step).chain(ends(&bytes)) {
            watchdog.begins(format!("{name}, {len} bytes"));
            let cut = &bytes[..len];
            let workers = 1 + len % 3;
            let memory = verb.in_memory(cut, workers);
            let piped = verb.from(&pipe(Slow::new(cut, 1000)), workers);
            match (memory, piped) {
                (Ok(memory), Ok(piped)) => {
                    good += 1;
                    // An index that refers to what is missing: memory knows that before, and builds it
                    // anew; a pipe finds out in the end, and leaves it out.
                    let misfit = name.contains("sidx") && len < bytes.len();
                    assert!(misfit || memory == piped, "{name}, {len} bytes");
                }
                (Err(_), Err(error)) => {
                    let text = error.to_string();
                    assert!(text.contains("the pipe"), "{name}, {len} bytes: {text}");
                }
                // Both words are about the same bytes.
                (memory, piped) => panic!(
                    "{name}, {len} of {} bytes: memory {:?}, pipe {:?}",
                    bytes.len(),
                    memory.map(|bytes| bytes.len()),
                    piped.map(|bytes| bytes.len())
                ),
            }
        }
        assert!(good > 0, "{name} may end behind each fragment");
    }
}

/// Where the boxes of a file end.
fn ends(bytes: &[u8]) -> Vec<usize> {
    let mut end = 0;
    boxes::children(bytes)
        .map(|(_, content)| {
            end += 8 + content.len();
            end
        })
        .collect()
}

/// Sizes that a pipe cannot be asked about: what does not come takes no memory and no time.
#[test]
fn boxes_that_claim_more_than_comes() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in cases() {
        for kind in [b"free", b"mdat", b"moof", b"sidx", b"mfra", b"uuid", b"moov"] {
            for size in [1 << 31, 1 << 40, 1 << 50, 1 << 62, u64::MAX >> 1, u64::MAX] {
                for at in [0].into_iter().chain(ends(&bytes)) {
                    watchdog.begins(format!("{name}, {kind:?} of {size} bytes at {at}"));
                    let size = [&boxes::words(&[1])[..], kind, &size.to_be_bytes()].concat();
                    let hostile = [&bytes[..at], &size, &bytes[at..]].concat();
                    for order in [WriteOrder::Any, WriteOrder::Sequential] {
                        let sink = TestSink::new(order, Fault::None);
                        let source = pipe(Slow::new(&hostile, 1000));
                        verb.run(&source, Box::new(sink.clone()), 2).unwrap_err();
                        assert!(!sink.log.lock().unwrap().finished);
                    }
                    verb.in_memory(&hostile, 2).unwrap_err();
                }
            }
        }
    }
}

#[test]
fn pipes_that_fail() {
    for (name, bytes, verb) in cases() {
        for len in (0..=bytes.len()).step_by(11) {
            let end = Err("the other end has gone mad");
            let source = pipe(Slow { end, ..Slow::new(&bytes[..len], 100) });
            match verb.from(&source, 1 + len % 3) {
                Err(Error::Read { name, error: source }) => {
                    assert_eq!(name, "the pipe");
                    assert!(source.to_string().contains("gone mad"), "{source}");
                }
                other => panic!("{name}, {len} bytes: {other:?}"),
            }
        }
    }
}

/// A pipe of the system whose writer goes away, early and late.
#[test]
fn writers_that_go_away() {
    let watchdog = Watchdog::new();
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    for (name, bytes, verb) in cases() {
        for len in [0, 100, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
            watchdog.begins(format!("{name}, {len} bytes"));
            let (reader, mut writer) = io::pipe().unwrap();
            let result = thread::scope(|scope| {
                let bytes = &bytes;
                scope.spawn(move || writer.write_all(&bytes[..len]).unwrap());
                let sink = FileSink::create(&output, &[]).unwrap();
                verb.run(&pipe(reader), Box::new(sink), 2)
            });
            if len == bytes.len() {
                result.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(fs::read(&output).unwrap() == verb.in_memory(&bytes, 1).unwrap());
                fs::remove_file(&output).unwrap();
            } else {
                result.unwrap_err();
                assert_eq!(scratch.names(), [""; 0], "{name}, {len} bytes");
            }
        }
    }
}

/// A pipe of the system whose reader goes away.
#[test]
fn readers_that_go_away() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in crate::io_support::cases() {
        for len in [0, 1, 500, 1500] {
            watchdog.begins(format!("{name}, {len} bytes"));
            let (mut reader, writer) = io::pipe().unwrap();
            // Small writes: what a pipe holds would take all of it.
            let sink = PipeSink::new("the way out", Portions(writer));
            let result = thread::scope(|scope| {
                let reads = move || {
                    let mut some = vec![0; len];
                    reader.read_exact(&mut some).unwrap();
                    drop(reader);
                };
                // Gone before the first write, or at some time of the run.
                if len == 0 {
                    reads();
                } else {
                    scope.spawn(reads);
                }
                verb.run(&MemorySource::new("memory", &bytes[..]), Box::new(sink), 3)
            });
            match result {
                Err(Error::Write { name, error: source }) => {
                    assert_eq!(name, "the way out");
                    assert_eq!(source.kind(), io::ErrorKind::BrokenPipe);
                }
                // What the pipe holds was all of it, and the reader had not gone yet.
                Ok(_) if len > 0 => {}
                other => panic!("{name}, {len} bytes: {other:?}"),
            }
        }
    }
}

/// Passes some bytes at a time on.
struct Portions<W>(W);

impl<W: Write> Write for Portions<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        thread::yield_now();
        self.0.write(&buf[..buf.len().min(100)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// An ordered sink gets every byte once, in order, whatever the number of workers: the sink looks.
/// Indexes are as in a file.
#[test]
fn ordered_sinks_get_what_files_get() {
    let watchdog = Watchdog::new();
    let scratch = Scratch::new();
    let output = scratch.file("out.mp4");
    for (name, bytes, verb) in crate::io_support::cases() {
        let source = MemorySource::new("memory", &bytes[..]);
        let sink = FileSink::create(&output, &[]).unwrap();
        verb.run(&source, Box::new(sink), 2).unwrap();
        let file = fs::read(&output).unwrap();
        for workers in 1..=8 {
            watchdog.begins(format!("{name}, {workers} workers"));
            let sink = TestSink::new(WriteOrder::Sequential, Fault::None);
            verb.run(&source, Box::new(sink.clone()), workers).unwrap();
            assert!(sink.log.lock().unwrap().bytes == file, "{name}, {workers} workers");
            let mut piped = Vec::new();
            let (mut reader, writer) = io::pipe().unwrap();
            thread::scope(|scope| {
                scope.spawn(|| reader.read_to_end(&mut piped).unwrap());
                let sink = PipeSink::new("the way out", Portions(writer));
                verb.run(&source, Box::new(sink), workers).unwrap();
            });
            assert!(piped == file, "{name}, {workers} workers, through a pipe");
        }
    }
}

/// From a pipe to a pipe, a file is without the indexes, and else as it would be.
#[test]
fn pipes_on_both_sides() {
    let watchdog = Watchdog::new();
    for (name, bytes, verb) in cases() {
        let without = without_indexes(&bytes);
        let expected = verb.in_memory(&without, 1).unwrap();
        for workers in 1..=8 {
            for most in [1, 100, 4096] {
                watchdog.begins(format!("{name}, {workers} workers"));
                let sink = TestSink::new(WriteOrder::Sequential, Fault::None);
                let source = pipe(Slow::new(&bytes, most));
                verb.run(&source, Box::new(sink.clone()), workers).unwrap();
                let log = sink.log.lock().unwrap();
                assert!(log.finished && log.bytes == expected, "{name}, {workers} workers");
            }
        }
    }
}

/// What a pipe brings is counted as it comes: a file that has fragments is no initialization segment,
/// which would need a given IV.
#[test]
fn a_random_iv_for_what_comes_through_a_pipe() {
    for (name, bytes) in CLIPS.into_iter().filter(|(name, _)| name.contains('.')) {
        let moofs = boxes::children(bytes).filter(|(kind, _)| kind == b"moof").count() as u64;
        let options = encrypt_options(Scheme::Cbcs, Layout::Keep, 2).with_iv(Iv::Random);
        let sources: [&dyn Source; 2] = [&pipe(bytes), &MemorySource::new("memory", bytes)];
        for source in sources {
            let sink = MemorySink::new();
            let summary = encrypt(source, Box::new(sink.clone()), &options, &Quiet);
            let summary = summary.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(summary.fragments, moofs, "{name}");
            assert_eq!(summary.bytes_in, bytes.len() as u64, "{name}");
            let back = Verb::Decrypt.in_memory(&sink.into_bytes().unwrap(), 1).unwrap();
            assert!(back == bytes, "{name}");
        }
        // One it is, as it ends in front of the first fragment.
        let init = &bytes[..ends(bytes)[1]];
        let error = encrypt(&pipe(init), Box::new(MemorySink::new()), &options, &Quiet);
        assert!(error.unwrap_err().to_string().contains("--iv"), "{name}");
    }
}

fn without_indexes(bytes: &[u8]) -> Vec<u8> {
    let boxes = boxes::children(bytes).filter(|(kind, _)| ![*b"sidx", *b"mfra"].contains(kind));
    boxes.flat_map(|(kind, content)| boxes::boxed(&kind, &[content])).collect()
}

/// What cannot be read in order is refused, and the words say so.
#[test]
fn progressive_files_do_not_come_through_pipes() {
    for (name, bytes) in CLIPS.into_iter().filter(|(name, _)| !name.contains('.')) {
        for layout in [Layout::Fragmented, Layout::Keep] {
            let verb = Verb::Encrypt(Scheme::Cbcs, layout);
            let error = verb.from(&pipe(bytes), 2).unwrap_err().to_string();
            assert!(error.contains("the pipe"), "{name}: {error}");
        }
    }
}

/// Fragments of `units` access units of `size` bytes each, more than fit into a buffer.
fn large_fragments(fragments: usize, units: usize, size: u32) -> Vec<u8> {
    let clip = clip("aac.frag");
    let mut file = Vec::new();
    for (kind, content) in
        boxes::children(clip).filter(|(kind, _)| [*b"ftyp", *b"moov"].contains(kind))
    {
        file.extend(boxes::boxed(&kind, &[content]));
    }
    let mut rng = Rng::new(5);
    for number in 0..fragments {
        let duration = u32::try_from(1024 * units * number).unwrap();
        let moof = |offset: usize| {
            let count = u32::try_from(units).unwrap();
            let mut run = vec![0x0000_0201, count, u32::try_from(offset).unwrap()];
            run.extend((0..units).map(|_| size));
            let traf = [
                boxes::full(b"tfhd", &[0x0002_0008, 1, 1024]),
                boxes::full(b"tfdt", &[0, duration]),
                boxes::full(b"trun", &run),
            ];
            let traf = boxes::boxed(b"traf", &[&traf.concat()]);
            let number = u32::try_from(number + 1).unwrap();
            boxes::boxed(b"moof", &[&boxes::full(b"mfhd", &[0, number]), &traf])
        };
        file.extend(moof(moof(0).len() + 8));
        let media = rng.bytes(units * size as usize);
        file.extend(boxes::boxed(b"mdat", &[&media]));
    }
    file
}

/// Large fragments go on in parts, between which ordered sinks wait: for one another never.
#[test]
fn large_fragments_and_many_workers() {
    let watchdog = Watchdog::new();
    let bytes = large_fragments(3, 24, 250_000);
    // Rewrapping goes from it to `cenc`.
    let schemes = if is_long() { &[Scheme::Cbcs, Scheme::Cenc][..] } else { &[Scheme::Cbcs] };
    for &scheme in schemes {
        let encrypt = Verb::Encrypt(scheme, Layout::Keep);
        let sealed = encrypt.in_memory(&bytes, 1).unwrap();
        for (verb, bytes) in
            [(encrypt, &bytes), (Verb::DecryptRaw, &sealed), (Verb::Rewrap(Scheme::Cenc), &sealed)]
        {
            let whole = verb.in_memory(bytes, 1).unwrap();
            let workers: &[usize] =
                if is_long() { &[1, 2, 3, 4, 5, 6, 7, 8, 64] } else { &[1, 3, 8] };
            for &workers in workers {
                watchdog.begins(format!("{verb:?}, {workers} workers"));
                for order in [WriteOrder::Sequential, WriteOrder::Any] {
                    let sink = TestSink::new(order, Fault::None);
                    let source = MemorySource::new("memory", &bytes[..]);
                    verb.run(&source, Box::new(sink.clone()), workers).unwrap();
                    assert!(sink.log.lock().unwrap().bytes == whole, "{verb:?}, {workers} workers");
                    let sink = TestSink::new(order, Fault::None);
                    let source = pipe(Slow::new(bytes, 64 << 10));
                    verb.run(&source, Box::new(sink.clone()), workers).unwrap();
                    assert!(sink.log.lock().unwrap().bytes == whole, "{verb:?}, {workers} workers");
                }
                for fault in 0..4 {
                    let sink = TestSink::new(WriteOrder::Sequential, Fault::Write(fault));
                    let source = MemorySource::new("memory", &bytes[..]);
                    verb.run(&source, Box::new(sink.clone()), workers).unwrap_err();
                    let log = sink.log.lock().unwrap();
                    assert!(!log.finished && log.late == 0, "{verb:?}, {workers} workers");
                }
            }
        }
    }
}

/// What stands in front of `moov` is held in memory: not without end.
#[test]
fn much_in_front_of_moov_is_refused() {
    let free = [&[0x7f, 0, 0, 0], &b"free"[..]].concat();
    let source = pipe(free.chain(io::repeat(0)));
    let options = encrypt_options(Scheme::Cenc, Layout::Keep, 1);
    let error = encrypt(&source, Box::new(MemorySink::new()), &options, &Quiet).unwrap_err();
    assert!(error.to_string().contains("write it to a file first"), "{error}");
}
