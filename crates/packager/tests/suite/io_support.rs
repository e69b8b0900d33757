//! What tests of sources and sinks share.

use lanelock_packager::io::{Finish, MemorySink, MemorySource, Sink, Source, WriteOrder};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, Iv, Key, KeyMap, Layout, Quiet, Scheme, Selector,
    Summary, decrypt, encrypt, rewrap,
};
use lanelock_testkit::boxes::{find, grow, word};
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex};

/// Clips in both layouts; `fixtures/README.md` says how they were made.
pub(crate) const CLIPS: [(&str, &[u8]); 9] = [
    ("avc", include_bytes!("../fixtures/avc.mp4")),
    ("hevc", include_bytes!("../fixtures/hevc.mp4")),
    ("aac", include_bytes!("../fixtures/aac.mp4")),
    ("avc_aac", include_bytes!("../fixtures/avc_aac.mp4")),
    ("avc.frag", include_bytes!("../fixtures/avc.frag.mp4")),
    ("hevc.frag", include_bytes!("../fixtures/hevc.frag.mp4")),
    ("aac.frag", include_bytes!("../fixtures/aac.frag.mp4")),
    ("avc_aac.frag", include_bytes!("../fixtures/avc_aac.frag.mp4")),
    ("avc_aac.sidx", include_bytes!("../fixtures/avc_aac.sidx.mp4")),
];

/// What Bento4 makes of the last but one of them: AES-CTR and AES-CBC.
pub(crate) const PIFF: [(&str, &[u8]); 2] = [
    ("avc_aac.piff-ctr", include_bytes!("../fixtures/avc_aac.piff-ctr.mp4")),
    ("avc_aac.piff-cbc", include_bytes!("../fixtures/avc_aac.piff-cbc.mp4")),
];

pub(crate) fn clip(name: &str) -> &'static [u8] {
    CLIPS.iter().find(|(clip, _)| *clip == name).unwrap().1
}

/// The keys of video and audio, before and after [`Verb::Rewrap`].
fn keys(anew: bool) -> [Key; 2] {
    let anew = u8::from(anew);
    [0x10, 0x20].map(|track| Key::new([track | anew; 16], [0x80 | track | anew; 16]))
}

/// Repeatable: each track has a key of its own, so that they may have the same IV.
pub(crate) fn encrypt_options(scheme: Scheme, layout: Layout, workers: usize) -> EncryptOptions {
    options_with(keys(false), scheme, layout, workers)
}

fn options_with(
    [video, audio]: [Key; 2],
    scheme: Scheme,
    layout: Layout,
    workers: usize,
) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::Video, video).unwrap();
    keys.insert(Selector::Audio, audio).unwrap();
    EncryptOptions::new(scheme, keys)
        .with_iv(Iv::Given(vec![0x33; 16]))
        .with_layout(layout)
        .with_workers(workers)
}

pub(crate) fn decrypt_options(workers: usize) -> DecryptOptions {
    DecryptOptions::new(keys(false).into()).with_workers(workers)
}

/// What to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Encrypt(Scheme, Layout),
    Decrypt,
    /// Whatever comes out: the media are no media.
    DecryptRaw,
    Rewrap(Scheme),
    /// Decrypts what [`Self::Rewrap`] has made.
    DecryptAnew,
}

impl Verb {
    pub(crate) fn run(
        self,
        source: &dyn Source,
        sink: Box<dyn Sink>,
        workers: usize,
    ) -> Result<Summary, Error> {
        let from = decrypt_options(workers);
        match self {
            Self::Encrypt(scheme, layout) => {
                encrypt(source, sink, &encrypt_options(scheme, layout, workers), &Quiet)
            }
            Self::Decrypt => decrypt(source, sink, &from, &Quiet),
            Self::DecryptRaw => decrypt(source, sink, &from.with_check_keys(false), &Quiet),
            Self::Rewrap(scheme) => {
                let to = options_with(keys(true), scheme, Layout::Keep, workers);
                rewrap(source, sink, &from.with_check_keys(false), &to, &Quiet)
            }
            Self::DecryptAnew => {
                let from = DecryptOptions::new(keys(true).into()).with_workers(workers);
                decrypt(source, sink, &from.with_check_keys(false), &Quiet)
            }
        }
    }

    /// From memory to memory.
    pub(crate) fn in_memory(self, bytes: &[u8], workers: usize) -> Result<Vec<u8>, Error> {
        self.from(&MemorySource::new("memory", bytes), workers)
    }

    /// From `source` to memory. What fails has not finished.
    pub(crate) fn from(self, source: &dyn Source, workers: usize) -> Result<Vec<u8>, Error> {
        let sink = MemorySink::new();
        let result = self.run(source, Box::new(sink.clone()), workers);
        let bytes = sink.into_bytes();
        assert_eq!(bytes.is_some(), result.is_ok(), "{self:?}: finished, and {result:?}");
        result.map(|_| bytes.unwrap())
    }
}

/// Every clip with all that is done to it, for one scheme each: clear and encrypted files.
pub(crate) fn cases() -> Vec<(String, Vec<u8>, Verb)> {
    let mut cases = Vec::new();
    for (number, (name, bytes)) in CLIPS.into_iter().enumerate() {
        let layouts: &[Layout] =
            if name.contains('.') { &[Layout::Keep] } else { &[Layout::Fragmented, Layout::Keep] };
        for (other, &layout) in layouts.iter().enumerate() {
            let scheme = |shift| Scheme::ALL[(number + other + shift) % 4];
            let verb = Verb::Encrypt(scheme(0), layout);
            let sealed = verb.in_memory(bytes, 1).unwrap();
            cases.push((format!("{name} {verb:?}"), bytes.to_vec(), verb));
            for verb in [Verb::Decrypt, Verb::Rewrap(scheme(2))] {
                cases.push((format!("{name} {} {verb:?}", scheme(0)), sealed.clone(), verb));
            }
        }
    }
    cases
}

/// When a [`TestSink`] fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// That write fails, and those after it do not: it is for the run to end.
    Write(usize),
    Finish,
}

/// A sink that keeps account.
#[derive(Clone)]
pub(crate) struct TestSink {
    order: WriteOrder,
    fault: Fault,
    pub(crate) log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) bytes: Vec<u8>,
    pub(crate) writes: usize,
    pub(crate) finished: bool,
    /// Writes after one that failed.
    pub(crate) late: usize,
    failed: bool,
    /// Where writes began and ended.
    ranges: Vec<(usize, usize)>,
}

impl TestSink {
    pub(crate) fn new(order: WriteOrder, fault: Fault) -> Self {
        Self { order, fault, log: Arc::default() }
    }
}

impl Sink for TestSink {
    fn name(&self) -> String {
        "the test sink".into()
    }

    fn order(&self) -> WriteOrder {
        self.order
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut log = self.log.lock().unwrap();
        assert!(!log.finished, "a write after the end");
        let number = log.writes;
        log.writes += 1;
        log.late += usize::from(log.failed);
        if self.fault == Fault::Write(number) {
            log.failed = true;
            return Err(io::Error::other("no more"));
        }
        let at = usize::try_from(offset).unwrap();
        if self.order == WriteOrder::Sequential && !log.failed {
            assert_eq!(at, log.bytes.len(), "write {number} is not where the last one ended");
        }
        let parts = parts.iter().flat_map(|part| part.iter().copied()).collect::<Vec<_>>();
        let end = at + parts.len();
        if self.order == WriteOrder::Once {
            let again = log.ranges.iter().find(|(start, stop)| at < *stop && *start < end);
            assert_eq!(again, None, "write {number}, {at} to {end}, writes over another");
            log.ranges.push((at, end));
        }
        if log.bytes.len() < end {
            log.bytes.resize(end, 0);
        }
        log.bytes[at..end].copy_from_slice(&parts);
        Ok(())
    }

    fn finish(self: Box<Self>, finish: Finish) -> io::Result<()> {
        let mut log = self.log.lock().unwrap();
        assert_eq!(finish.len, log.bytes.len() as u64);
        assert!(!log.failed, "finished, although a write failed");
        if self.fault == Fault::Finish {
            return Err(io::Error::other("no end"));
        }
        log.finished = true;
        Ok(())
    }
}

/// The file with another `sinf` in its one sample entry: a copy with this scheme, in front of the one
/// that is there or behind it. Offsets that count from the start of the file do not follow.
pub(crate) fn with_sinf(bytes: &[u8], entry: [u8; 4], scheme: [u8; 4], in_front: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = find(&bytes, b"sinf");
    let mut sinf = bytes[at..at + word(&bytes, at) as usize].to_vec();
    let schm = find(&sinf, b"schm") + 12;
    sinf[schm..schm + 4].copy_from_slice(&scheme);
    grow(&mut bytes, &[b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", &entry], sinf.len());
    let at = if in_front { at } else { at + sinf.len() };
    bytes.splice(at..at, sinf);
    bytes
}
