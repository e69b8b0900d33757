//! Decryption of a file.

use std::{ops::Range, path::Path, time::Instant};

use lanelock::AesLevel;
use lanelock_cenc::{AccessUnit, Cipher, Scheme, map::Subsample};
use lanelock_mp4::{
    AuxCursor, EncryptionRuns, Fragment, Movie, SampleAux, Track, TrackEncryption, TrackFragment,
    edit::{KeepPssh, unprotect_fragment, unprotect_movie},
};

use crate::{
    DecryptOptions, Error, Key, Observer, Place, Summary, TrackSummary,
    claims::Claims,
    encrypt::{outside, within},
    io::{Input, Output},
    keys::kid_text,
    pipeline::{CryptStage, Map, Pipeline, workers},
    place::Placement,
    plan::{Fragments, Stretches},
    skeleton::{MediaRanges, Skeleton},
    task::{Bytes, StretchSample, Task, TaskKind},
    tracks::{Mapped, TRUNCATED_RUNS, codec, fail, has_truncated_runs},
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
    let level = AesLevel::best()?;
    let input = Input::open(input)?;
    let output = Output::create(output, &input)?;
    let skeleton = Skeleton::read(&input)?;
    let Skeleton { movie, media, .. } = &skeleton;
    if !movie.tracks.iter().any(Track::is_protected) {
        return Err(input.unsuitable("no track is encrypted: there is nothing to decrypt"));
    }
    let container = |error| input.container(error);
    if movie.fragmented {
        skeleton.refuse_items(&input)?;
    }
    let mut encryptions =
        movie.tracks.iter().flat_map(|track| &track.entries).filter_map(|entry| {
            entry.protection.as_ref().and_then(|protection| protection.encryption.as_ref())
        });
    if encryptions.any(has_truncated_runs) {
        observer.warn(TRUNCATED_RUNS);
    }
    let workers = workers(options.workers);
    let pipeline = Pipeline {
        input: &input,
        output: Some(&output),
        direction: CryptStage::Decrypt,
        observer,
        workers,
    };
    let clear = unprotect_movie(movie, None, KeepPssh::No).map_err(container)?;
    let keyring = Keyring::new(&input, media, movie, options, level);
    // Of a fragmented movie there is none here: its samples are in the fragments.
    let aux = movie
        .tracks
        .iter()
        .map(|track| movie.aux_info(track, &input.source))
        .collect::<Result<Vec<_>, _>>()
        .map_err(container)?;
    let (placement, claims) = (Placement::new(0), Claims::of(&input, &skeleton)?);
    let (placement, claims, fragments, keyring, times) = if movie.fragmented {
        let plan = Fragments::new(&input, clear);
        let mapper = FragmentDecryptor { keyring, placement, claims, fragments: 0 };
        let (done, times) = pipeline.run(plan, mapper)?;
        (done.placement, done.claims, done.fragments, done.keyring, times)
    } else {
        let replaced = skeleton.replacements(&input, clear)?;
        let progress = movie.tracks.iter().zip(&aux);
        let progress = progress.map(|(track, aux)| Progress::new(movie, track, aux.cursor()));
        let mapper = StretchDecryptor { keyring, placement, claims, progress: progress.collect() };
        let plan = Stretches::new(&input, movie, replaced)?;
        let (done, times) = pipeline.run(plan, mapper)?;
        (done.placement, done.claims, 0, done.keyring, times)
    };
    let unclaimed = claims.finish(options.unclaimed)?;
    keyring.check_all_decrypted()?;
    let tracks = keyring.summary();
    placement.write_indexes(&input, &output)?;
    input.check_unchanged()?;
    output.finish(options.sync)?;
    Ok(Summary {
        bytes_in: input.len(),
        bytes_out: placement.end(),
        fragments,
        access_units: tracks.iter().map(|track| track.access_units).sum(),
        tracks,
        unclaimed,
        level: level.to_string(),
        workers,
        seconds: start.elapsed().as_secs_f64(),
        times,
    })
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
}

/// The ciphers of a piece, and what each is for.
#[derive(Default)]
struct CipherList {
    list: Vec<Cipher>,
    names: Vec<([u8; 16], Scheme, u8, u8)>,
}

/// A sample of the input that may be encrypted.
struct Encrypted<'b> {
    track: usize,
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
    ) -> Self {
        Self { input, media, movie, options, level, seen: vec![(0, 0, None); movie.tracks.len()] }
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
        let (count, decrypted, first_kid) = &mut self.seen[sample.track];
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
        *decrypted += 1;
        first_kid.get_or_insert(encryption.kid);
        let place = Place { track: track.id, access_unit: *count, offset: sample.offset };
        self.media.check(self.input, place, sample.size as u64)?;
        let first = task.subsamples.len();
        task.subsamples.extend(
            subsamples
                .into_iter()
                .flatten()
                .map(|s| Subsample { clear: s.clear, protected: s.protected }),
        );
        let cipher = self.cipher(scheme, encryption, sample.track, ciphers)?;
        task.units.push(AccessUnit {
            range: sample.start..sample.start + sample.size,
            subsamples: first..task.subsamples.len(),
            iv,
            cipher,
        });
        task.places.push(place);
        Ok(())
    }

    /// The index of a cipher in the list of the piece.
    fn cipher(
        &self,
        scheme: Scheme,
        encryption: &TrackEncryption,
        track: usize,
        ciphers: &mut CipherList,
    ) -> Result<usize, Error> {
        let TrackEncryption { kid, crypt_blocks, skip_blocks, .. } = *encryption;
        let name = (kid, scheme, crypt_blocks, skip_blocks);
        if let Some(index) = ciphers.names.iter().position(|other| *other == name) {
            return Ok(index);
        }
        let Some(key) = self.options.keys.iter().find(|key: &&Key| key.kid == kid) else {
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
        ciphers.list.push(cipher);
        ciphers.names.push(name);
        Ok(ciphers.list.len() - 1)
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
                codec: codec(track),
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
            let mut to = Mapped { units, subsamples, places };
            for traf in &fragment.tracks {
                self.track(*at, traf, &spans[0], &mut ciphers, &mut to)?;
            }
            let moved = self.placement.moved(*at);
            *head = unprotect_fragment(&fragment, None, KeepPssh::No, moved).map_err(container)?;
            self.fragments += 1;
        }
        task.ciphers = ciphers.list.into();
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
        let scheme = self.keyring.scheme(track, traf.description_index)?;
        let aux = traf.aux_info(&input.source).map_err(container)?;
        let mut cursor = aux.cursor();
        let mut samples = traf.samples();
        for (count, encryption) in traf.encryption_runs(movie) {
            for sample in samples.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                let offset = sample.offset;
                let (start, size) = within(body, offset, sample.size)
                    .ok_or_else(|| outside(input, at, traf.track_id, offset))?;
                let sample = Encrypted { track, scheme, encryption, offset, start, size };
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
                let sample = Encrypted { track, scheme, encryption, offset, start, size };
                self.keyring.unit(&sample, &mut progress.aux, &mut ciphers, &mut to)?;
            }
        }
        task.ciphers = ciphers.list.into();
        self.placement.place(task);
        Ok(())
    }
}
