//! Decryption.

mod decryptor;
mod keyring;

pub(crate) use decryptor::Decryptor;

use std::{path::Path, time::Instant};

use lanelock_core::AesLevel;
use lanelock_mp4::{
    AuxInfo, Track,
    edit::{KeepPssh, unprotect_movie},
};

use self::{decryptor::Unprotector, keyring::Keyring};
use crate::{
    DecryptOptions, Error, KeyReport, Observer, Summary, Times, TrackSummary, UnclaimedMedia,
    UnclaimedPolicy, choices,
    claims::Claims,
    evidence::KeyChecks,
    io::{FileSink, FileSource, Input, Output, Sink, Source},
    pipeline::{Pipeline, Target, workers},
    place::Placement,
    plan::{Fragments, Indexes, NO_INDEXES, Stretches},
    skeleton::Skeleton,
    tracks::{TRUNCATED_RUNS, has_truncated_runs},
};

/// Decrypts the file `input` to the file `output`: all its protected tracks, in the layout that it
/// has. What protection has put into the file goes, `pssh` boxes included; all else keeps its bytes.
/// `output` appears when it is complete, or not at all.
pub fn decrypt_file(
    input: &Path,
    output: &Path,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let source = FileSource::open(input)?;
    let sink = FileSink::create(output, &[&source])?;
    decrypt(&source, Box::new(sink), options, observer)
}

/// [`decrypt_file`] from any source to any sink.
pub fn decrypt(
    source: &dyn Source,
    sink: Box<dyn Sink>,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let input = Input::new(source);
    let run = DecryptRun::new(&input, Skeleton::read(&input)?, options, observer)?;
    run.to_sink(sink, start, || Ok(()))
}

/// Decrypts a media segment that stands alone, and whose `moov` is in the initialization segment
/// `init`. What `init` becomes, [`decrypt`] makes of it.
pub fn decrypt_segment(
    init: &dyn Source,
    segment: &dyn Source,
    sink: Box<dyn Sink>,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let (init, input) = (Input::new(init), Input::new(segment));
    let skeleton = Skeleton::of_segment(&init, &input)?;
    let run = DecryptRun::new(&input, skeleton, options, observer)?;
    run.to_sink(sink, start, || init.check_unchanged())
}

/// Says of each track and KID of `source` whether the key fits, as far as that can be seen in what it
/// decrypts: [`decrypt`] without output, and without an end at the first wrong or missing key.
///
/// ```
/// use lanelock_packager::{DecryptOptions, KeyVerdict, Quiet, check_keys, io::MemorySource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = "../../testkit/media/protected/prog_8s_enc_dashinit.mp4";
/// let source = MemorySource::new("cenc.mp4", std::fs::read(path)?);
/// let wrong = "cd7eb9ff-88f3-4cae-b061-85b00024e4c2:00000000000000000000000000000000";
/// let options = DecryptOptions::new(vec![wrong.parse()?]);
/// let reports = check_keys(&source, &options, &Quiet)?;
/// assert!(reports.iter().any(|report| report.verdict == KeyVerdict::Wrong));
/// # Ok(())
/// # }
/// ```
pub fn check_keys(
    source: &dyn Source,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Vec<KeyReport>, Error> {
    let input = Input::new(source);
    let run = DecryptRun::new(&input, Skeleton::read(&input)?, options, observer)?;
    Ok(run.go(Target::Look, KeyChecks::new(true, false))?.keys)
}

/// [`check_keys`] for a media segment that stands alone, and whose `moov` is in the initialization segment
/// `init`.
pub fn check_segment_keys(
    init: &dyn Source,
    segment: &dyn Source,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Vec<KeyReport>, Error> {
    let (init, input) = (Input::new(init), Input::new(segment));
    let skeleton = Skeleton::of_segment(&init, &input)?;
    let run = DecryptRun::new(&input, skeleton, options, observer)?;
    Ok(run.go(Target::Look, KeyChecks::new(true, false))?.keys)
}

/// A file to decrypt.
struct DecryptRun<'a> {
    input: &'a Input<'a>,
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
        input: &'a Input<'a>,
        skeleton: Skeleton,
        options: &'a DecryptOptions,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let level = AesLevel::best()?;
        if !skeleton.movie.tracks.iter().any(Track::is_protected) {
            return Err(input.unsuitable(
                "no track is encrypted, by its sample entries: there is nothing to decrypt",
            ));
        }
        Ok(Self {
            input,
            skeleton,
            options,
            observer,
            level,
            workers: workers(options.workers, input),
        })
    }

    /// Decrypts to `sink`, which is finished if `accept` has no objection.
    fn to_sink(
        &self,
        sink: Box<dyn Sink>,
        start: Instant,
        accept: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let Self { input, options, observer, .. } = *self;
        let output = Output::new(sink, options.writes);
        output.expect(input.expected_output());
        let mut done =
            self.go(Target::Output(&output), KeyChecks::new(options.check_keys, true))?;
        done.placement.settle(input, observer)?;
        done.placement.write_indexes(&output)?;
        for warning in done.keys.iter().filter_map(KeyReport::warning) {
            observer.warn(&warning);
        }
        accept()?;
        input.check_unchanged()?;
        output.finish(done.placement.end(), options.sync)?;
        Ok(Summary {
            bytes_in: input.len(),
            bytes_out: done.placement.end(),
            fragments: done.fragments,
            access_units: done.tracks.iter().map(|track| track.access_units).sum(),
            tracks: done.tracks,
            unused: choices::of_decryption(&self.skeleton.movie, options)?,
            unclaimed: done.unclaimed,
            keys: done.keys,
            level: self.level.to_string(),
            workers: self.workers,
            seconds: start.elapsed().as_secs_f64(),
            times: done.times,
        })
    }

    fn go(&self, target: Target<'_>, key_checks: KeyChecks) -> Result<DecryptDone, Error> {
        let Self { input, options, observer, workers, .. } = *self;
        let movie = &self.skeleton.movie;
        choices::of_decryption(movie, options)?;
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
        let memory = options.memory;
        let pipeline = Pipeline { input, target, observer, workers, memory };
        let to_pipe = target.output().is_some_and(Output::is_sequential);
        let clear = unprotect_movie(movie, None, KeepPssh::No).map_err(container)?;
        let decryption = Decryption::new(input, &self.skeleton, options)?;
        let decryptor = |key_checks| {
            let mut decryptor = decryption.decryptor_with(key_checks)?;
            decryptor.keyring.may_miss = matches!(target, Target::Look);
            Ok::<_, Error>(decryptor)
        };
        let refuse = options.unclaimed == UnclaimedPolicy::Refuse;
        let mapper = |key_checks, placement| {
            let claims = Claims::of(input, &self.skeleton)?;
            let claims = claims.with_refusal_at_once(refuse && to_pipe);
            Ok::<_, Error>(Unprotector {
                decryptor: decryptor(key_checks)?,
                placement,
                claims,
                fragments: 0,
            })
        };
        let (Unprotector { decryptor, placement, mut claims, fragments }, times) = if movie
            .fragmented
        {
            let indexes = match target {
                Target::Output(_) => Indexes::new(input, &self.skeleton, options.index, observer)?,
                _ => Indexes::ignored(),
            };
            let plan = || {
                let plan = Fragments::new(input, &self.skeleton, clear.clone(), &indexes);
                if input.is_sequential() && to_pipe {
                    plan.without_indexes(observer, NO_INDEXES)
                } else {
                    plan
                }
            };
            let new_index = indexes.new_index(&self.skeleton);
            let mut placement = Placement::new().with_new_index(new_index);
            let output = target.output();
            let two_passes = output.is_some_and(|output| output.needs_two_passes(indexes.count()));
            if two_passes && !input.is_sequential() {
                // Indexes stand in front of what they refer to: where that will be is found first.
                let first = mapper(KeyChecks::new(false, false), placement)?;
                let only_map = Pipeline { target: Target::Map(&[]), ..pipeline };
                let mut first = only_map.run(plan(), first)?.0.placement;
                first.settle(input, observer)?;
                placement = Placement::again(first);
            }
            pipeline.run(plan(), mapper(key_checks, placement)?)?
        } else {
            let replaced = self.skeleton.replacements(input, clear)?;
            let plan = Stretches::new(input, movie, replaced)?;
            pipeline.run(plan, mapper(key_checks, Placement::new())?)?
        };
        let keyring = decryptor.keyring;
        // Without output nothing is passed on as it is.
        let unclaimed = match target {
            Target::Output(_) => {
                keyring.check_all_decrypted()?;
                if !movie.fragmented {
                    claims.settle_all()?;
                }
                claims.finish(options.unclaimed)?
            }
            _ => UnclaimedMedia::default(),
        };
        let (tracks, keys) = (keyring.summary(), keyring.reports()?);
        Ok(DecryptDone { placement, fragments, tracks, unclaimed, keys, times })
    }
}

/// What decryption needs of a file.
pub(crate) struct Decryption<'a> {
    input: &'a Input<'a>,
    skeleton: &'a Skeleton,
    options: &'a DecryptOptions,
    level: AesLevel,
    /// The auxiliary information in `moov`, parallel to the tracks. Of a fragmented movie there is none:
    /// its samples are in the fragments.
    aux: Vec<AuxInfo<'a>>,
}

impl<'a> Decryption<'a> {
    pub(crate) fn new(
        input: &'a Input<'a>,
        skeleton: &'a Skeleton,
        options: &'a DecryptOptions,
    ) -> Result<Self, Error> {
        let movie = &skeleton.movie;
        let aux = movie.tracks.iter().map(|track| {
            // What a clear track has is left over.
            let is_protected = track.is_protected();
            if is_protected {
                movie.aux_info(track, input)
            } else {
                movie.root().map(AuxInfo::absent)
            }
        });
        let aux = aux.collect::<Result<_, _>>().map_err(|error| input.container(error))?;
        Ok(Self { input, skeleton, options, level: AesLevel::best()?, aux })
    }

    /// What decrypts from the first access unit on. It does not look for wrong keys if it only maps.
    pub(crate) fn decryptor(&self, only_map: bool) -> Result<Decryptor<'_>, Error> {
        self.decryptor_with(KeyChecks::new(self.options.check_keys && !only_map, true))
    }

    fn decryptor_with(&self, key_checks: KeyChecks) -> Result<Decryptor<'_>, Error> {
        let Self { input, options, level, .. } = *self;
        let Skeleton { movie, media, .. } = self.skeleton;
        let mut keyring = Keyring::new(input, movie, options, level, key_checks);
        keyring.checksums(&movie.pssh)?;
        Ok(Decryptor::new(keyring, media, &self.aux))
    }
}
