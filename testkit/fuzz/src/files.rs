//! Whole files, from memory to memory: what is encrypted decrypts to the samples that there were, what is
//! encrypted anew decrypts to what the file itself decrypts to, and none of it panics, whatever the file says.

use std::time::Duration;

use lanelock_mp4::{Fragment, Movie, load, top_level};
use lanelock_packager::{
    ClearLead, DecryptOptions, EncryptOptions, Error, IndexPolicy, Iv, Key, KeyLine, KeyMap,
    KeyPeriods, Layout, Quiet, Scheme, SegmentEncryptor, Selector, UnclaimedPolicy, check_keys,
    decrypt, decrypt_segment,
    drm::System,
    encrypt, inspect,
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
    if way.more {
        // What keys are is guessed: of damaged media, right ones may be called wrong.
        let _ = check_keys(&source, &way.decrypt_options(&keys(false)), &Quiet);
        way.in_segments(file);
    }
    let anew = way.rewrap(&source);
    if let Ok(anew) = anew {
        let back = way.decrypt(&memory(&anew), &keys(true)).expect("it was encrypted here");
        // A broken index that is left out or built anew is no error, but it is for decryption, which keeps it.
        assert!(
            clear.is_ok() || way.index != IndexPolicy::Keep,
            "what can be encrypted anew: {clear:?}"
        );
        if let (Some(before), Some(after)) =
            (clear.ok().as_deref().and_then(samples), samples(&back))
        {
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
    /// Also checks keys, takes segments one by one, and has boxes for protection systems.
    more: bool,
    /// With a clear lead and several key periods.
    scheduled: bool,
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
            more: how & 0x20 != 0,
            scheduled: how & 0x40 != 0,
            workers: 1 + usize::from(how >> 7),
        }
    }

    fn encrypt_options(&self, keys: &[Key], layout: Layout) -> EncryptOptions {
        let mut map = KeyMap::new();
        for (keys, selector) in
            keys.chunks(PERIODS.len() + 1).zip([Selector::Video, Selector::Audio])
        {
            if !self.scheduled {
                map.insert(selector, keys[0].clone()).expect("other keys than before");
                continue;
            }
            for (period, key) in (0..).zip(keys) {
                let (selector, period, key) = (selector.clone(), Some(period), key.clone());
                map.add(KeyLine { selector, period, key }).expect("other keys than before");
            }
        }
        let mut options = EncryptOptions::new(self.scheme, map);
        if self.scheduled {
            let forms = [ClearLead::SampleEntry, ClearLead::SampleGroup];
            options = options
                .with_key_periods(KeyPeriods::From(PERIODS.to_vec()))
                .with_clear_lead(PERIODS[0])
                .with_clear_lead_form(forms[usize::from(self.more)])
                .with_fragment_duration(PERIODS[0]);
        }
        if self.more && matches!(self.scheme, Scheme::Cenc | Scheme::Cbcs) {
            options = options.with_drm(vec![System::Common, System::Widevine, System::PlayReady]);
        }
        options
            .with_iv(Iv::Given(vec![0x33; 16]))
            .with_layout(layout)
            .with_index(self.index)
            .with_unclaimed(self.unclaimed)
            .with_workers(self.workers)
    }

    fn decrypt_options(&self, keys: &[Key]) -> DecryptOptions {
        DecryptOptions::new(keys.to_vec())
            .with_check_keys(false) // media that are none are taken for a wrong key
            .with_unclaimed(self.unclaimed)
            .with_workers(self.workers)
    }

    pub(crate) fn encrypt(&self, source: &dyn Source, layout: Layout) -> Result<Vec<u8>, Error> {
        let options = self.encrypt_options(&keys(false), layout);
        written(|sink| encrypt(source, Box::new(sink), &options, &Quiet).map(drop))
    }

    fn decrypt(&self, source: &dyn Source, keys: &[Key]) -> Result<Vec<u8>, Error> {
        let options = self.decrypt_options(keys);
        written(|sink| decrypt(source, Box::new(sink), &options, &Quiet).map(drop))
    }

    fn rewrap(&self, source: &dyn Source) -> Result<Vec<u8>, Error> {
        let (from, to) =
            (self.decrypt_options(&keys(false)), self.encrypt_options(&keys(true), Layout::Keep));
        written(|sink| rewrap(source, Box::new(sink), &from, &to, &Quiet).map(drop))
    }

    /// The boxes up to the first fragment, and the others, as segments: encrypted and decrypted they are what
    /// they were.
    fn in_segments(&self, file: &[u8]) {
        let fragments = [b"moof", b"styp", b"sidx"];
        let mut boxes = top_level(file).map_while(Result::ok);
        let Some(first) = boxes.find(|header| fragments.contains(&&header.kind.0)) else { return };
        let at = usize::try_from(first.offset).expect("a short file");
        let (init, segment) = (memory(&file[..at]), memory(&file[at..]));
        let options = self.encrypt_options(&keys(false), Layout::Keep);
        let Ok(mut encryptor) = SegmentEncryptor::new(&init, options) else { return };
        let new_init = written(|sink| encryptor.init(Box::new(sink), &Quiet).map(drop));
        let sealed = written(|sink| encryptor.segment(&segment, Box::new(sink), &Quiet).map(drop));
        let (Ok(new_init), Ok(sealed)) = (new_init, sealed) else { return };
        let (new_init, sealed) = (memory(&new_init), memory(&sealed));
        let options = self.decrypt_options(&keys(false));
        let mut back = self.decrypt(&new_init, &keys(false)).expect("it was encrypted here");
        back.extend(
            written(|sink| {
                decrypt_segment(&new_init, &sealed, Box::new(sink), &options, &Quiet).map(drop)
            })
            .expect("it was encrypted here"),
        );
        if let (Some(before), Some(after)) = (samples(file), samples(&back)) {
            assert!(before == after, "{self:?}: in segments: other samples");
        }
    }
}

/// When the second key period begins, and the third. The clear lead ends with the first.
const PERIODS: [Duration; 2] = [Duration::from_millis(70), Duration::from_millis(150)];

/// The keys of video and audio, of each period.
fn keys(anew: bool) -> Vec<Key> {
    let key = |number: u8| Key::new([number; 16], [0x80 | number; 16]);
    let periods = 0..=u8::try_from(PERIODS.len()).expect("a few");
    let of_track = |track: u8| periods.clone().map(move |period| track | period << 1);
    [0x10, 0x20].into_iter().flat_map(of_track).map(|number| key(number | u8::from(anew))).collect()
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
