//! Decryption of a file.

use std::{ops::Range, path::Path, sync::Arc, time::Instant};

use lanelock::AesLevel;
use lanelock_cenc::{AccessUnit, Cipher, Scheme, map::Subsample};
use lanelock_mp4::{
    AuxCursor, EncryptionRuns, Fragment, Movie, Pssh, SampleAux, Track, TrackEncryption,
    TrackFragment,
    edit::{FragmentEdit, KeepPssh, unprotect_movie},
};

use crate::{
    DecryptOptions, Error, Key, KeyReport, Observer, Place, Summary, Times, TrackSummary,
    UnclaimedMedia,
    claims::Claims,
    encrypt::{check_shared, outside, within},
    evidence::{KeyCheck, KeyChecks, Name, checksums},
    io::{Input, Output},
    keys::kid_text,
    pipeline::{CryptStage, Map, Pipeline, Target, workers},
    place::Placement,
    plan::{Fragments, Stretches},
    skeleton::{MediaRanges, Skeleton},
    task::{Bytes, StretchSample, Task, TaskKind},
    tracks::{Mapped, TRUNCATED_RUNS, fail, has_truncated_runs},
};

/// Decrypts `input` to `output`: all its protected tracks, in the layout that it has. What protection
/// has put into the file goes, `pssh` boxes included; all else keeps its bytes. `output` appears
/// when it is complete, or not at all.
pub fn decrypt(
    input: &Path,
    output: &Path,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let input = Input::open(input)?;
    let output = Output::create(output, &input)?;
    let run = DecryptRun::new(&input, options, observer)?;
    let done = run.go(Target::Output(&output), KeyChecks::new(options.check_keys, true))?;
    done.placement.write_indexes(&input, &output)?;
    for warning in done.keys.iter().filter_map(KeyReport::warning) {
        observer.warn(&warning);
    }
    input.check_unchanged()?;
    output.finish(options.sync)?;
    Ok(Summary {
        bytes_in: input.len(),
        bytes_out: done.placement.end(),
        fragments: done.fragments,
        access_units: done.tracks.iter().map(|track| track.access_units).sum(),
        tracks: done.tracks,
        unclaimed: done.unclaimed,
        keys: done.keys,
        level: run.level.to_string(),
        workers: run.workers,
        seconds: start.elapsed().as_secs_f64(),
        times: done.times,
    })
}

/// Says of each track and KID of `input` whether the key fits, as far as that can be seen in what it
/// decrypts: [`decrypt`] without output, and without an end at the first wrong or missing key.
pub fn check_keys(
    input: &Path,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Vec<KeyReport>, Error> {
    let input = Input::open(input)?;
    let run = DecryptRun::new(&input, options, observer)?;
    Ok(run.go(Target::Look, KeyChecks::new(true, false))?.keys)
}

/// A file to decrypt.
struct DecryptRun<'a> {
    input: &'a Input,
    skeleton: Skeleton,
    options: &'a DecryptOptions,
    observer: &'a dyn Observer,
    level: AesLevel,
    workers: usize,
}

/// What a run has done.
struct DecryptDone {
    placement: Placement,
    fragments: u64,
    tracks: Vec<TrackSummary>,
    unclaimed: UnclaimedMedia,
    keys: Vec<KeyReport>,
    times: Times,
}

impl<'a> DecryptRun<'a> {
    fn new(
        input: &'a Input,
        options: &'a DecryptOptions,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let level = AesLevel::best()?;
        let skeleton = Skeleton::read(input)?;
        if !skeleton.movie.tracks.iter().any(Track::is_protected) {
            return Err(input.unsuitable("no track is encrypted: there is nothing to decrypt"));
        }
        Ok(Self { input, skeleton, options, observer, level, workers: workers(options.workers) })
    }

    fn go(&self, target: Target<'_>, key_checks: KeyChecks) -> Result<DecryptDone, Error> {
        let Self { input, options, observer, level, workers, .. } = *self;
        let Skeleton { movie, media, .. } = &self.skeleton;
        let container = |error| input.container(error);
        if movie.fragmented {
            self.skeleton.refuse_items(input)?;
        }
        let mut encryptions =
            movie.tracks.iter().flat_map(|track| &track.entries).filter_map(|entry| {
                entry.protection.as_ref().and_then(|protection| protection.encryption.as_ref())
            });
        if encryptions.any(has_truncated_runs) {
            observer.warn(TRUNCATED_RUNS);
        }
        let pipeline =
            Pipeline { input, target, direction: CryptStage::Decrypt, observer, workers };
        let clear = unprotect_movie(movie, None, KeepPssh::No).map_err(container)?;
        let mut keyring = Keyring::new(input, media, movie, options, level, key_checks);
        keyring.may_miss = matches!(target, Target::Look);
        keyring.checksums(&movie.pssh)?;
        // Of a fragmented movie there is none here: its samples are in the fragments.
        let aux = movie
            .tracks
            .iter()
            .map(|track| movie.aux_info(track, &input.source))
            .collect::<Result<Vec<_>, _>>()
            .map_err(container)?;
        let (placement, claims) = (Placement::new(0), Claims::of(input, &self.skeleton)?);
        let (placement, claims, fragments, keyring, times) = if movie.fragmented {
            let plan = Fragments::new(input, clear);
            let mapper = FragmentDecryptor { keyring, placement, claims, fragments: 0 };
            let (done, times) = pipeline.run(plan, mapper)?;
            (done.placement, done.claims, done.fragments, done.keyring, times)
        } else {
            let replaced = self.skeleton.replacements(input, clear)?;
            let progress = movie.tracks.iter().zip(&aux);
            let progress = progress.map(|(track, aux)| Progress::new(movie, track, aux.cursor()));
            let progress = progress.collect();
            let mapper = StretchDecryptor { keyring, placement, claims, progress };
            let plan = Stretches::new(input, movie, replaced)?;
            let (done, times) = pipeline.run(plan, mapper)?;
            (done.placement, done.claims, 0, done.keyring, times)
        };
        // Without output nothing is passed on as it is.
        let unclaimed = match target {
            Target::Output(_) => {
                keyring.check_all_decrypted()?;
                claims.finish(options.unclaimed)?
            }
            _ => UnclaimedMedia::default(),
        };
        let (tracks, keys) = (keyring.summary(), keyring.reports()?);
        Ok(DecryptDone { placement, fragments, tracks, unclaimed, keys, times })
    }
}

/// The keys, and what has been decrypted with them.
struct Keyring<'a> {
    input: &'a Input,
    media: &'a MediaRanges,
    movie: &'a Movie,
    options: &'a DecryptOptions,
    level: AesLevel,
    /// Access units, the encrypted ones among them, and the first KID, for each track.
    seen: Vec<(u64, u64, Option<[u8; 16]>)>,
    /// What looks for wrong keys.
    key_checks: KeyChecks,
    /// Whether what has no key is passed over.
    may_miss: bool,
    /// Tracks and KIDs that have no key.
    missing: Vec<(usize, [u8; 16])>,
}

/// The ciphers of a piece, and what each is for.
#[derive(Default)]
struct CipherList {
    list: Vec<Cipher>,
    names: Vec<Name>,
    key_checks: Vec<Arc<KeyCheck>>,
    /// The number of the check of each cipher.
    numbers: Vec<usize>,
}

impl CipherList {
    fn hand_over(self, task: &mut Task) {
        task.ciphers = self.list.into();
        task.key_checks = self.key_checks.into();
    }
}

/// A sample of the input that may be encrypted.
struct Encrypted<'b> {
    track: usize,
    description_index: u32,
    scheme: Option<Scheme>,
    encryption: Option<&'b TrackEncryption>,
    offset: u64,
    start: usize,
    size: usize,
}

impl<'a> Keyring<'a> {
    fn new(
        input: &'a Input,
        media: &'a MediaRanges,
        movie: &'a Movie,
        options: &'a DecryptOptions,
        level: AesLevel,
        key_checks: KeyChecks,
    ) -> Self {
        Self {
            input,
            media,
            movie,
            options,
            level,
            seen: vec![(0, 0, None); movie.tracks.len()],
            key_checks,
            may_miss: false,
            missing: Vec::new(),
        }
    }

    /// Compares the keys with the checksums in PlayReady headers.
    fn checksums(&mut self, boxes: &[Pssh]) -> Result<(), Error> {
        if !self.key_checks.is_enabled() {
            return Ok(());
        }
        for checksum in checksums(boxes) {
            for key in self.options.keys.iter().filter(|key| key.kid == checksum.kid) {
                let fits = checksum.fits(key, self.level);
                self.key_checks.checksum(checksum, fits, &self.input.path)?;
            }
        }
        Ok(())
    }

    /// What was done, unless a key proved wrong.
    /// What was found out about the keys, by track.
    fn reports(&self) -> Result<Vec<KeyReport>, Error> {
        let mut reports = self.key_checks.finish(&self.input.path)?;
        for (track, kid) in &self.missing {
            reports.push(KeyReport::missing(&self.movie.tracks[*track], kid));
        }
        Ok(reports)
    }

    /// The scheme of a sample entry; none if it is clear.
    fn scheme(&self, track: usize, description_index: u32) -> Result<Option<Scheme>, Error> {
        let track = &self.movie.tracks[track];
        let Some(entry) = track.entry(description_index) else {
            let reason = format!("there is no sample entry number {description_index}");
            return Err(fail(self.input, track, reason));
        };
        let Some(protection) = &entry.protection else { return Ok(None) };
        let code = protection.scheme_type;
        let scheme = Scheme::from_fourcc(code.0).filter(|_| protection.encryption.is_some());
        scheme.map(Some).ok_or_else(|| {
            let reason = format!(
                "it is encrypted with the scheme {code}, which is not supported; supported are cenc, \
                 cens, cbc1 and cbcs"
            );
            fail(self.input, track, reason)
        })
    }

    /// Adds a sample to the units of a piece, if it is encrypted.
    fn unit(
        &mut self,
        sample: &Encrypted<'_>,
        aux: &mut AuxCursor<'_>,
        ciphers: &mut CipherList,
        task: &mut Mapped<'_>,
    ) -> Result<(), Error> {
        let track = &self.movie.tracks[sample.track];
        let (count, ..) = &mut self.seen[sample.track];
        *count += 1;
        let size = u32::try_from(sample.size).unwrap_or(u32::MAX);
        let next = |aux: &mut AuxCursor<'_>, iv_size| -> Result<(), Error> {
            aux.next_sample(iv_size, size).map(drop).map_err(|error| self.input.container(error))
        };
        let Some(encryption) = sample.encryption.filter(|encryption| encryption.is_protected)
        else {
            return next(aux, 0);
        };
        let Some(scheme) = sample.scheme else {
            let reason =
                "a sample group says that samples are encrypted, its sample entry says not";
            return Err(fail(self.input, track, reason.into()));
        };
        let SampleAux { iv, subsamples, .. } = aux
            .next_sample(encryption.iv_size, size)
            .map_err(|error| self.input.container(error))?;
        let iv = match &encryption.constant_iv {
            Some(constant) if encryption.iv_size == 0 => constant.to_block(),
            _ => {
                let mut block = [0; 16];
                block[..iv.len()].copy_from_slice(iv);
                block
            }
        };
        let number = *count;
        let name = Name::new(sample.track, sample.description_index, scheme, encryption);
        let Some(cipher) = self.cipher(name, number, ciphers)? else { return Ok(()) };
        let (_, decrypted, first_kid) = &mut self.seen[sample.track];
        *decrypted += 1;
        first_kid.get_or_insert(encryption.kid);
        let place = Place { track: track.id, access_unit: number, offset: sample.offset };
        self.media.check(self.input, place, sample.size as u64)?;
        let first = task.subsamples.len();
        task.subsamples.extend(
            subsamples
                .into_iter()
                .flatten()
                .map(|s| Subsample { clear: s.clear, protected: s.protected }),
        );
        self.key_checks.count(ciphers.numbers[cipher], number, &task.subsamples[first..]);
        task.units.push(AccessUnit {
            range: sample.start..sample.start + sample.size,
            subsamples: first..task.subsamples.len(),
            iv,
            cipher,
        });
        task.places.push(place);
        Ok(())
    }

    /// The index of a cipher in the list of the piece, whose first access unit may be `number`; none
    /// if there is no key for it, and that is no error.
    fn cipher(
        &mut self,
        name: Name,
        number: u64,
        ciphers: &mut CipherList,
    ) -> Result<Option<usize>, Error> {
        if let Some(index) = ciphers.names.iter().position(|other| *other == name) {
            return Ok(Some(index));
        }
        let Name { track, kid, scheme, pattern: (crypt_blocks, skip_blocks), .. } = name;
        let Some(key) = self.options.keys.iter().find(|key: &&Key| key.kid == kid) else {
            if self.may_miss {
                if !self.missing.contains(&(track, kid)) {
                    self.missing.push((track, kid));
                }
                return Ok(None);
            }
            let kid = kid_text(&kid);
            let reason = format!("there is no key for its KID {kid}; add --key {kid}:KEY");
            return Err(fail(self.input, &self.movie.tracks[track], reason));
        };
        let mut cipher = Cipher::new(scheme, key.expand(self.level));
        if scheme.has_pattern() {
            cipher = cipher.with_pattern(crypt_blocks, skip_blocks);
        }
        if self.options.encrypt_truncated_runs {
            cipher = cipher.encrypt_truncated_runs();
        }
        let key_check = self.key_checks.key_check(name, &self.movie.tracks[track], number);
        ciphers.list.push(cipher);
        ciphers.names.push(name);
        ciphers.key_checks.push(self.key_checks.get(key_check));
        ciphers.numbers.push(key_check);
        Ok(Some(ciphers.list.len() - 1))
    }

    /// Refuses a protected track none of whose access units was decrypted: they would be passed on as
    /// they are, under sample entries that call them clear.
    fn check_all_decrypted(&self) -> Result<(), Error> {
        for (track, (count, decrypted, _)) in self.movie.tracks.iter().zip(&self.seen) {
            if track.is_protected() && *count > 0 && *decrypted == 0 {
                let reason = format!(
                    "it has a protected sample entry, yet none of its {count} access units is said to \
                     be encrypted: either nothing is to be decrypted, or the file is damaged"
                );
                return Err(fail(self.input, track, reason));
            }
        }
        Ok(())
    }

    fn summary(&self) -> Vec<TrackSummary> {
        let tracks = self.movie.tracks.iter().zip(&self.seen);
        tracks
            .map(|(track, (_, decrypted, kid))| TrackSummary {
                id: track.id,
                codec: track.codec(),
                scheme: kid.and_then(|_| {
                    let entry = track.entries.iter().find_map(|entry| entry.protection.as_ref())?;
                    Some(entry.scheme_type.to_string())
                }),
                kid: kid.as_ref().map(kid_text),
                access_units: *decrypted,
            })
            .collect()
    }
}

/// The map stage for fragmented files.
struct FragmentDecryptor<'a> {
    keyring: Keyring<'a>,
    placement: Placement,
    claims: Claims<'a>,
    fragments: u64,
}

impl Map for FragmentDecryptor<'_> {
    fn map(&mut self, task: &mut Task, _: &mut Bytes<'_>) -> Result<(), Error> {
        let Task { kind, spans, units, subsamples, places, head, .. } = task;
        let mut ciphers = CipherList::default();
        if let TaskKind::Fragment { at, moof } = kind {
            let input = self.keyring.input;
            let container = |error| input.container(error);
            let fragment = Fragment::parse(moof, *at, self.keyring.movie, input.len());
            let fragment = fragment.map_err(container)?;
            self.claims.fragment(&fragment)?;
            let tracks = &self.keyring.movie.tracks;
            check_shared(input, &fragment, |track| tracks[track].is_protected())?;
            self.keyring.checksums(&fragment.pssh)?;
            let mut to = Mapped { units, subsamples, places };
            for traf in &fragment.tracks {
                self.track(*at, traf, &spans[0], &mut ciphers, &mut to)?;
            }
            let moved = self.placement.moved(*at);
            let edit = FragmentEdit::new(&fragment).unprotect(KeepPssh::No);
            *head = edit.finish(moved).map_err(container)?;
            self.fragments += 1;
        }
        ciphers.hand_over(task);
        self.placement.place(task);
        Ok(())
    }
}

impl FragmentDecryptor<'_> {
    fn track(
        &mut self,
        at: u64,
        traf: &TrackFragment<'_>,
        body: &Range<u64>,
        ciphers: &mut CipherList,
        to: &mut Mapped<'_>,
    ) -> Result<(), Error> {
        let (input, movie) = (self.keyring.input, self.keyring.movie);
        let container = |error| input.container(error);
        let track = traf.track_index;
        let description_index = traf.description_index;
        let scheme = self.keyring.scheme(track, description_index)?;
        let aux = traf.aux_info(&input.source).map_err(container)?;
        let mut cursor = aux.cursor();
        let mut samples = traf.samples();
        for (count, encryption) in traf.encryption_runs(movie) {
            for sample in samples.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                let offset = sample.offset;
                let (start, size) = within(body, offset, sample.size)
                    .ok_or_else(|| outside(input, at, traf.track_id, offset))?;
                let sample =
                    Encrypted { track, description_index, scheme, encryption, offset, start, size };
                self.keyring.unit(&sample, &mut cursor, ciphers, to)?;
            }
        }
        if scheme.is_some() { cursor.finish().map_err(container) } else { Ok(()) }
    }
}

/// The map stage for progressive files.
struct StretchDecryptor<'a> {
    keyring: Keyring<'a>,
    placement: Placement,
    claims: Claims<'a>,
    /// Parallel to the tracks of the movie.
    progress: Vec<Progress<'a>>,
}

/// How far a track of a progressive file is.
struct Progress<'a> {
    aux: AuxCursor<'a>,
    /// For each sample entry, the parameters if a sample uses that one.
    runs: Vec<ParameterRuns<'a>>,
}

/// Parameters, sample by sample.
struct ParameterRuns<'a> {
    rest: EncryptionRuns<'a>,
    current: Option<&'a TrackEncryption>,
    left: u64,
}

impl<'a> Progress<'a> {
    fn new(movie: &'a Movie, track: &'a Track, aux: AuxCursor<'a>) -> Self {
        let runs = (1..).zip(&track.entries).map(|(index, _)| ParameterRuns {
            rest: movie.encryption_runs(track, index),
            current: None,
            left: 0,
        });
        Self { aux, runs: runs.collect() }
    }

    /// The parameters of the next sample.
    fn next(&mut self, description_index: u32) -> Option<&'a TrackEncryption> {
        for runs in &mut self.runs {
            if runs.left == 0
                && let Some((left, current)) = runs.rest.next()
            {
                (runs.left, runs.current) = (left, current);
            }
            runs.left = runs.left.saturating_sub(1);
        }
        let index = usize::try_from(description_index).ok()?.checked_sub(1)?;
        self.runs.get(index)?.current
    }
}

impl Map for StretchDecryptor<'_> {
    fn map(&mut self, task: &mut Task, _: &mut Bytes<'_>) -> Result<(), Error> {
        let Task { kind, spans, units, subsamples, places, .. } = task;
        let mut ciphers = CipherList::default();
        if let TaskKind::Stretch(samples) = kind {
            let mut to = Mapped { units, subsamples, places };
            for &StretchSample { track, description_index, offset, size } in &*samples {
                self.claims.claim(offset..offset.saturating_add(size.into()))?;
                let progress = &mut self.progress[track];
                let encryption = progress.next(description_index);
                let scheme = self.keyring.scheme(track, description_index)?;
                let (start, size) = within(&spans[0], offset, size).ok_or_else(|| {
                    let id = self.keyring.movie.tracks[track].id;
                    outside(self.keyring.input, spans[0].start, id, offset)
                })?;
                let sample =
                    Encrypted { track, description_index, scheme, encryption, offset, start, size };
                self.keyring.unit(&sample, &mut progress.aux, &mut ciphers, &mut to)?;
            }
        }
        ciphers.hand_over(task);
        self.placement.place(task);
        Ok(())
    }
}
