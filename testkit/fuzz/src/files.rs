//! Whole files, from memory to memory: what is encrypted decrypts to the samples that there were, what is
//! encrypted anew decrypts to what the file itself decrypts to, and none of it panics, whatever the file says.

use lanelock_mp4::{Fragment, Movie, load, top_level};
use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, IndexPolicy, Iv, Key, KeyMap, Layout, Quiet, Scheme,
    Selector, UnclaimedPolicy, decrypt, encrypt, inspect,
    io::{MemorySink, MemorySource, Source},
    rewrap,
};

/// The target: the last byte says how, the others are the file.
pub fn files(data: &[u8]) {
    let Some((&how, file)) = data.split_last() else { return };
    let way = Way::of(how);
    let source = MemorySource::new("memory", file);
    let report = inspect(&source);
    let clear = way.decrypt(&source, &keys(false));
    if let Ok(sealed) = way.encrypt(&source, Layout::Keep) {
        assert!(report.is_ok(), "what can be encrypted can be looked at: {report:?}");
        let back = way.decrypt(&memory(&sealed), &keys(false)).expect("it was encrypted here");
        let (before, after) = (samples(file), samples(&back));
        if let (Some(before), Some(after)) = (before, after) {
            assert!(before == after, "{way:?}: encrypted and decrypted: other samples");
        }
    }
    if let Ok(sealed) = way.encrypt(&source, Layout::Fragmented) {
        let back = way.decrypt(&memory(&sealed), &keys(false)).expect("it was encrypted here");
        if let (Some(before), Some(after)) = (samples(file), samples(&back)) {
            assert!(before == after, "{way:?}: fragmented and decrypted: other samples");
        }
    }
    let anew = way.rewrap(&source);
    if let Ok(anew) = anew {
        let back = way.decrypt(&memory(&anew), &keys(true)).expect("it was encrypted here");
        let clear = clear.expect("what can be encrypted anew can be decrypted");
        if let (Some(before), Some(after)) = (samples(&clear), samples(&back)) {
            assert!(before == after, "{way:?}: encrypted anew and decrypted: other samples");
        }
    }
}

/// What can be chosen.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) scheme: Scheme,
    index: IndexPolicy,
    unclaimed: UnclaimedPolicy,
    workers: usize,
}

impl Way {
    pub(crate) fn of(how: u8) -> Self {
        let indexes = [IndexPolicy::Keep, IndexPolicy::Keep, IndexPolicy::Build, IndexPolicy::Drop];
        Self {
            scheme: Scheme::ALL[usize::from(how & 3)],
            index: indexes[usize::from(how >> 2 & 3)],
            unclaimed: if how & 0x10 == 0 {
                UnclaimedPolicy::Refuse
            } else {
                UnclaimedPolicy::Keep
            },
            workers: 1 + usize::from(how >> 7),
        }
    }

    fn encrypt_options(&self, keys: [Key; 2], layout: Layout) -> EncryptOptions {
        let [video, audio] = keys;
        let mut map = KeyMap::new();
        map.insert(Selector::Video, video).expect("the first key");
        map.insert(Selector::Audio, audio).expect("another key");
        EncryptOptions::new(self.scheme, map)
            .with_iv(Iv::Given(vec![0x33; 16]))
            .with_layout(layout)
            .with_index(self.index)
            .with_unclaimed(self.unclaimed)
            .with_workers(self.workers)
    }

    fn decrypt_options(&self, keys: &[Key; 2]) -> DecryptOptions {
        DecryptOptions::new(keys.to_vec())
            .with_check_keys(false) // media that are none are taken for a wrong key
            .with_unclaimed(self.unclaimed)
            .with_workers(self.workers)
    }

    pub(crate) fn encrypt(&self, source: &dyn Source, layout: Layout) -> Result<Vec<u8>, Error> {
        let options = self.encrypt_options(keys(false), layout);
        written(|sink| encrypt(source, Box::new(sink), &options, &Quiet).map(drop))
    }

    fn decrypt(&self, source: &dyn Source, keys: &[Key; 2]) -> Result<Vec<u8>, Error> {
        let options = self.decrypt_options(keys);
        written(|sink| decrypt(source, Box::new(sink), &options, &Quiet).map(drop))
    }

    fn rewrap(&self, source: &dyn Source) -> Result<Vec<u8>, Error> {
        let (from, to) =
            (self.decrypt_options(&keys(false)), self.encrypt_options(keys(true), Layout::Keep));
        written(|sink| rewrap(source, Box::new(sink), &from, &to, &Quiet).map(drop))
    }
}

/// The keys of video and audio.
fn keys(anew: bool) -> [Key; 2] {
    let anew = u8::from(anew);
    [0x10, 0x20].map(|track| Key::new([track | anew; 16], [0x80 | track | anew; 16]))
}

fn memory(bytes: &[u8]) -> MemorySource {
    MemorySource::new("memory", bytes)
}

/// There is an output if there is no error, and an error has words.
fn written(run: impl FnOnce(MemorySink) -> Result<(), Error>) -> Result<Vec<u8>, Error> {
    let sink = MemorySink::new();
    let result = run(sink.clone());
    let bytes = sink.into_bytes();
    assert_eq!(bytes.is_some(), result.is_ok(), "output, and {result:?}");
    result.map(|()| bytes.expect("as was just seen")).inspect_err(|error| {
        assert!(!error.to_string().is_empty(), "an error without words");
    })
}

/// The ID of a track, and the bytes of its samples.
type TrackSamples<'a> = (u32, Vec<&'a [u8]>);

/// The bytes of all samples, by track; nothing if the file cannot be read to its end.
fn samples(file: &[u8]) -> Option<Vec<TrackSamples<'_>>> {
    let slice = |offset: u64, size: u32| {
        let start = usize::try_from(offset).ok()?;
        file.get(start..start.checked_add(size as usize)?)
    };
    let (mut movie, mut tracks) = (None, Vec::<TrackSamples<'_>>::new());
    for header in top_level(file) {
        let header = header.ok()?;
        match (&header.kind.0, &movie) {
            (b"moov", None) => {
                let parsed = Movie::parse(load(file, &header).ok()?, header.offset).ok()?;
                for track in &parsed.tracks {
                    let mut list = Vec::new();
                    for sample in parsed.samples(track, file.len() as u64).ok()? {
                        let sample = sample.ok()?;
                        list.push(slice(sample.offset, sample.size)?);
                    }
                    tracks.push((track.id, list));
                }
                movie = Some(parsed);
            }
            (b"moof", Some(movie)) => {
                let moof = load(file, &header).ok()?;
                let fragment =
                    Fragment::parse(&moof, header.offset, movie, file.len() as u64).ok()?;
                for part in &fragment.tracks {
                    let (_, list) = tracks.get_mut(part.track_index)?;
                    for sample in part.samples() {
                        list.push(slice(sample.offset, sample.size)?);
                    }
                }
            }
            _ => {}
        }
    }
    Some(tracks)
}
