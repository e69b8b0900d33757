//! What several test files share: clips, and the way from their bytes to those of the output.

use std::{collections::BTreeMap, fs, mem, path::PathBuf, sync::Mutex};

use lanelock_mp4::{Fragment, Movie, load, top_level};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, Key, KeyMap, Observer, Quiet, Scheme, Selector, Summary,
    decrypt_file, encrypt_file,
};
use lanelock_testkit::boxes::{boxed, full, words};
use tempfile::TempDir;

/// Clips in both layouts; `../fixtures/README.md` says how they were made.
pub(crate) const AAC: &[u8] = include_bytes!("../fixtures/aac.mp4");
pub(crate) const AVC: &[u8] = include_bytes!("../fixtures/avc.mp4");
pub(crate) const AVC_FRAGMENTS: &[u8] = include_bytes!("../fixtures/avc.frag.mp4");
pub(crate) const HEVC: &[u8] = include_bytes!("../fixtures/hevc.mp4");
pub(crate) const HEVC_FRAGMENTS: &[u8] = include_bytes!("../fixtures/hevc.frag.mp4");
pub(crate) const AVC_AAC: &[u8] = include_bytes!("../fixtures/avc_aac.mp4");
pub(crate) const AVC_AAC_FRAGMENTS: &[u8] = include_bytes!("../fixtures/avc_aac.frag.mp4");

/// Keeps the warnings of a run.
#[derive(Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn warn(&self, message: &str) {
        self.0.lock().unwrap().push(message.into());
    }
}

impl Warnings {
    /// Those since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        mem::take(&mut self.0.lock().unwrap())
    }
}

pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn encrypt(
        &self,
        bytes: &[u8],
        options: &EncryptOptions,
    ) -> Result<(Vec<u8>, Summary), Error> {
        self.watched(bytes, options, &Quiet)
    }

    pub(crate) fn watched(
        &self,
        bytes: &[u8],
        options: &EncryptOptions,
        observer: &dyn Observer,
    ) -> Result<(Vec<u8>, Summary), Error> {
        let (input, output) = (self.file("in.mp4"), self.file("out.mp4"));
        fs::write(&input, bytes).unwrap();
        let _ = fs::remove_file(&output);
        let summary = encrypt_file(&input, &output, options, observer);
        assert_eq!(output.exists(), summary.is_ok());
        Ok((fs::read(&output).unwrap_or_default(), summary?))
    }

    pub(crate) fn decrypt(
        &self,
        bytes: &[u8],
        options: &DecryptOptions,
    ) -> Result<(Vec<u8>, Summary), Error> {
        let (input, output) = (self.file("in.mp4"), self.file("back.mp4"));
        fs::write(&input, bytes).unwrap();
        let _ = fs::remove_file(&output);
        let summary = decrypt_file(&input, &output, options, &Quiet);
        assert_eq!(output.exists(), summary.is_ok());
        Ok((fs::read(&output).unwrap_or_default(), summary?))
    }
}

pub(crate) fn options(scheme: Scheme) -> EncryptOptions {
    let mut keys = KeyMap::new();
    keys.insert(Selector::All, key()).unwrap();
    EncryptOptions::new(scheme, keys)
}

pub(crate) fn key() -> Key {
    Key::new([1; 16], [2; 16])
}

pub(crate) fn keys() -> DecryptOptions {
    DecryptOptions::new(vec![key()])
}

/// The bytes with every box of type `from` called `to`.
pub(crate) fn renamed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let places: Vec<_> =
        bytes.windows(4).enumerate().filter(|(_, word)| *word == from.as_bytes()).collect();
    let places: Vec<usize> = places.into_iter().map(|(at, _)| at).collect();
    for at in places {
        bytes[at..at + 4].copy_from_slice(to.as_bytes());
    }
    bytes
}

/// The same for one of them.
pub(crate) fn renamed_one(bytes: &[u8], number: usize, from: &str, to: &str) -> Vec<u8> {
    let at = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, word)| *word == from.as_bytes())
        .nth(number)
        .unwrap()
        .0;
    let mut bytes = bytes.to_vec();
    bytes[at..at + 4].copy_from_slice(to.as_bytes());
    bytes
}

pub(crate) fn movie(bytes: &[u8]) -> Movie {
    let header = top_level(bytes).map(Result::unwrap).find(|h| h.kind == b"moov").unwrap();
    Movie::parse(load(bytes, &header).unwrap(), header.offset).unwrap()
}

/// The samples of all tracks, in the order of fragments or tables.
pub(crate) fn samples(bytes: &[u8]) -> Vec<Vec<u8>> {
    let movie = movie(bytes);
    let mut samples = Vec::new();
    let mut push = |offset: u64, size: u32| {
        let start = usize::try_from(offset).unwrap();
        samples.push(bytes[start..start + size as usize].to_vec());
    };
    for track in &movie.tracks {
        for sample in movie.samples(track, bytes.len() as u64).unwrap() {
            let sample = sample.unwrap();
            push(sample.offset, sample.size);
        }
    }
    for header in top_level(bytes).map(Result::unwrap).filter(|h| h.kind == b"moof") {
        let moof = load(bytes, &header).unwrap();
        let fragment = Fragment::parse(&moof, header.offset, &movie, bytes.len() as u64).unwrap();
        for sample in fragment.tracks.iter().flat_map(|traf| traf.samples().collect::<Vec<_>>()) {
            push(sample.offset, sample.size);
        }
    }
    samples
}

/// What must be in an error, and must not: keys.
pub(crate) fn says(result: Result<(Vec<u8>, Summary), Error>, words: &[&str]) {
    let text = result.map(|_| ()).unwrap_err().to_string();
    for word in words {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
}

/// A clip whose `mdat` goes on behind the samples: `tail` stands there.
pub(crate) fn with_tail(tail: &[u8]) -> Vec<u8> {
    let mut bytes = AVC_AAC.to_vec();
    let mdat = bytes.windows(4).position(|word| word == b"mdat").unwrap() - 4;
    bytes.extend_from_slice(tail);
    let size = u32::try_from(bytes.len() - mdat).unwrap();
    bytes[mdat..mdat + 4].copy_from_slice(&size.to_be_bytes());
    bytes
}

/// `meta` with an item of `len` bytes at `offset` of the file.
pub(crate) fn meta(offset: u32, len: u32) -> Vec<u8> {
    let mut iloc = b"\0\0\0\0iloc\0\0\0\0\x44\0\0\x01\0\x01\0\0\0\x01".to_vec();
    iloc.extend(offset.to_be_bytes());
    iloc.extend(len.to_be_bytes());
    iloc[3] = u8::try_from(iloc.len()).unwrap();
    let mut meta =
        b"\0\0\0\0meta\0\0\0\0\0\0\0\x21hdlr\0\0\0\0\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0"
            .to_vec();
    meta.extend(iloc);
    meta[3] = u8::try_from(meta.len()).unwrap();
    meta
}

/// A track whose samples are all alike, sync samples of 100 ms.
pub(crate) struct Trak {
    pub(crate) handler: &'static [u8; 4],
    pub(crate) format: &'static [u8; 4],
    /// The boxes of the sample entry.
    pub(crate) config: &'static [u8],
    pub(crate) sample: &'static [u8],
    pub(crate) count: u32,
}

impl Trak {
    /// `trak`, with all samples in one chunk.
    fn bytes(&self, id: u32, chunk: u32) -> Vec<u8> {
        let Self { handler, format, config, sample, count } = *self;
        let entry = if handler == b"soun" {
            let fields = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 16];
            boxed(format, &[&fields, &words(&[0, 48_000 << 16]), config])
        } else {
            let visual: &[u8] = if matches!(handler, b"text" | b"subt") { &[] } else { &[0; 70] };
            boxed(format, &[&[0, 0, 0, 0, 0, 0, 0, 1], visual, config])
        };
        let stbl = [
            boxed(b"stsd", &[&words(&[0, 1]), &entry]),
            full(b"stts", &[0, 1, count, 100]),
            full(b"stsc", &[0, 1, 1, count, 1]),
            full(b"stsz", &[0, u32::try_from(sample.len()).unwrap(), count]),
            full(b"stco", &[0, 1, chunk]),
        ];
        let mdia = [
            full(b"mdhd", &[0, 0, 0, 1000, count * 100, 0x55c4_0000]),
            boxed(b"hdlr", &[&[0; 8], handler, &[0; 13]]),
            boxed(b"minf", &[&boxed(b"stbl", &[&stbl.concat()])]),
        ];
        let tkhd = boxed(b"tkhd", &[&words(&[3, 0, 0, id]), &[0; 68]]);
        boxed(b"trak", &[&tkhd, &boxed(b"mdia", &[&mdia.concat()])])
    }
}

/// A progressive file of these tracks, one behind the other.
pub(crate) fn progressive(tracks: &[Trak]) -> Vec<u8> {
    let ftyp = boxed(b"ftyp", &[b"isom\0\0\0\0isom"]);
    let (mut media, mut traks) = (Vec::new(), Vec::new());
    for (id, track) in (1..).zip(tracks) {
        traks.extend(track.bytes(id, u32::try_from(ftyp.len() + 8 + media.len()).unwrap()));
        media.extend(track.sample.repeat(track.count as usize));
    }
    let mvhd = boxed(b"mvhd", &[&words(&[0, 0, 0, 1000, 2000]), &[0; 80]]);
    [ftyp, boxed(b"mdat", &[&media]), boxed(b"moov", &[&mvhd, &traks])].concat()
}

/// The file of a track: its initialization segment and all of its segments.
pub(crate) fn joined(objects: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<u8> {
    if let Some(single) = objects.get(&format!("{name}.mp4")) {
        return single.clone();
    }
    let mut all = objects[&format!("{name}/init.mp4")].clone();
    let segments = (1..).map_while(|number| objects.get(&format!("{name}/{number}.m4s")));
    segments.for_each(|segment| all.extend_from_slice(segment));
    all
}
