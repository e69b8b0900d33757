//! A run of encryption: plan, pipeline, and what is to be said of it.

use std::time::Instant;

use lanelock_cenc::Scheme;
use lanelock_core::AesLevel;
use lanelock_mp4::{
    FourCc, Movie, Pssh,
    edit::{ProtectTrack, SampleInfoSlicer, fragment_movie, iso_ftyp, iso_movie, protect_movie},
};

use super::{
    encryptor::Encryptor,
    fragment_pssh::{self, FragmentPssh},
    remarks::Remarks,
};
use crate::{
    ClearLead, EncryptOptions, Error, IndexPolicy, KeyReport, Layout, Observer, Summary, Times,
    UnclaimedPolicy, choices,
    claims::{Claims, refuse_shared},
    codec::notice_of_experiment,
    decrypt::Decryption,
    evidence::check_pssh,
    index::NewIndex,
    io::{Input, Output, Sink},
    keys::kid_text,
    pipeline::{Pipeline, Plan, Target, workers},
    place::Placement,
    plan::{Cuts, Fragments, Indexes, NO_INDEXES, NewFragments, Stretches},
    selection::notice_of_text,
    skeleton::Skeleton,
    tracks::{Protector, TRUNCATED_RUNS},
};

/// What is encrypted, and how.
pub(crate) struct Job<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) skeleton: &'a Skeleton,
    /// The movie without protection: that of the skeleton, unless it is encrypted anew.
    pub(crate) clear: &'a Movie,
    /// How it is decrypted first, where it is encrypted anew.
    pub(crate) decryption: Option<&'a Decryption<'a>>,
    pub(crate) options: &'a EncryptOptions,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) start: Instant,
}

impl Job<'_> {
    /// Refuses a whole file of which nothing was protected.
    pub(crate) fn check_protected(&self, summary: &Summary) -> Result<(), Error> {
        if summary.tracks.iter().any(|track| track.clear_access_units > 0)
            && summary.access_units == 0
        {
            return Err(self.input.unsuitable(ALL_LEAD));
        }
        if summary.access_units == 0 && !self.is_init(summary.fragments) {
            return Err(self.input.unsuitable(NOTHING));
        }
        Ok(())
    }

    /// Whether it is an initialization segment alone, if it has so many fragments.
    pub(crate) fn is_init(&self, fragments: u64) -> bool {
        self.skeleton.movie.fragmented && fragments == 0 && self.skeleton.media.is_empty()
    }

    /// `ftyp` and `moov` in the place of the input's: those of an ISO file with fragments. None where
    /// the input's stay.
    pub(crate) fn iso_head(&self) -> Result<Option<Head>, Error> {
        let Skeleton { ftyp, .. } = self.skeleton;
        let movie = self.clear;
        let head = match self.options.layout {
            Layout::Keep => Ok(None),
            Layout::Fragmented if movie.fragmented => iso_movie(movie, ftyp.as_deref()),
            Layout::Fragmented => {
                iso_ftyp(ftyp.as_deref()).and_then(|ftyp| Ok(Some((ftyp, fragment_movie(movie)?))))
            }
        };
        head.and_then(|head| {
            head.map(|(ftyp, moov)| Ok((ftyp, Movie::parse(moov, movie.offset())?))).transpose()
        })
        .map_err(|error| self.input.container(error))
    }

    /// Refuses what would be spoilt or give bytes away, and warns of what others read differently.
    pub(super) fn check(&self, protector: &Protector) -> Result<(), Error> {
        let Self { input, skeleton, options, observer, .. } = *self;
        let movie = &skeleton.movie;
        choices::of_encryption(self.clear, options)?;
        if !protector.schedule.is_constant() && !movie.fragmented && options.layout == Layout::Keep
        {
            return Err(input.unsuitable(NO_FRAGMENTS));
        }
        if movie.fragmented || options.layout == Layout::Fragmented {
            skeleton.refuse_items(input)?;
        }
        if !movie.fragmented {
            refuse_shared(input, skeleton, |track| protector.tracks[track].is_some())?;
        }
        for (track, protected) in self.clear.tracks.iter().zip(&protector.tracks) {
            if let Some(notice) = notice_of_text(track, options).filter(|_| protected.is_none()) {
                observer.warn(&notice);
            }
            if let Some(notice) = notice_of_experiment(track).filter(|_| protected.is_some()) {
                observer.warn(&notice);
            }
        }
        if options.scheme == Scheme::Cens {
            observer.warn("players differ in how they read cens; cbcs and cenc play everywhere");
        }
        if options.scheme == Scheme::Cbcs
            && let Some(kid) = protector.shared_kid(movie)
        {
            let kid = kid_text(&kid);
            observer.warn(&format!(
                "video and audio have one key (KID {kid}): Shaka Packager 3.8 decrypts the audio of such a \
                 cbcs file wrongly; keys of their own avoid that, or files of their own"
            ));
        }
        if protector.has_truncated_runs() {
            observer.warn(TRUNCATED_RUNS);
        }
        Ok(())
    }

    /// Encrypts to `sink`, which is finished if `accept` has no objection. Gives the summary, and the
    /// protector as it is behind the last access unit.
    pub(crate) fn to_sink(
        &self,
        protector: Protector,
        sink: Box<dyn Sink>,
        accept: impl FnOnce(&Summary) -> Result<(), Error>,
    ) -> Result<(Summary, Protector), Error> {
        let Self { input, skeleton, options, observer, start, .. } = *self;
        let level = AesLevel::best()?;
        let iso = self.iso_head()?;
        let movie = &skeleton.movie;
        self.check(&protector)?;
        let workers = workers(options.workers, input);
        let output = Output::new(sink, options.writes);
        output.expect(input.expected_output());
        let target = Target::Output(&output);
        let memory = options.memory;
        let run = EncryptRun {
            pipeline: Pipeline { input, target, observer, workers, memory },
            input,
            skeleton,
            clear: self.clear,
            decryption: self.decryption,
            pssh: pssh(options, &protector, level)?,
            options,
        };
        let (mut done, times) = match iso {
            iso if movie.fragmented => run.fragmented(protector, iso)?,
            Some(iso) => run.new_fragments(protector, iso)?,
            None => run.keep(protector)?,
        };
        if !movie.fragmented {
            done.claims.settle_all()?;
        }
        let unclaimed = done.claims.finish(options.unclaimed)?;
        let keys = match &done.decryptor {
            Some(decryptor) => {
                decryptor.keyring.check_all_decrypted()?;
                decryptor.keyring.reports()?
            }
            None => Vec::new(),
        };
        let tracks = done.protector.summary(self.clear);
        let summary = Summary {
            bytes_in: 0,
            bytes_out: done.placement.end(),
            fragments: done.fragments,
            access_units: tracks.iter().map(|track| track.access_units).sum(),
            tracks,
            unclaimed,
            unused: choices::of_encryption(self.clear, options)?,
            keys,
            level: level.to_string(),
            workers,
            seconds: 0.0,
            times,
        };
        accept(&summary)?;
        done.remarks.warn(self.clear, observer);
        for warning in summary.keys.iter().filter_map(KeyReport::warning) {
            observer.warn(&warning);
        }
        done.placement.settle(input, observer)?;
        done.placement.write_indexes(&output)?;
        let protector = done.protector;
        input.check_unchanged()?;
        output.finish(summary.bytes_out, options.sync)?;
        let (bytes_in, seconds) = (input.len(), start.elapsed().as_secs_f64());
        Ok((Summary { bytes_in, seconds, ..summary }, protector))
    }
}

/// Why a clear lead is refused.
const ALL_LEAD: &str = "all fragments begin within the clear lead, so that nothing would be protected; make it \
    shorter (--clear-lead)";

/// Why a progressive file keeps its keys.
const NO_FRAGMENTS: &str = "its output is progressive: keys change, and a clear lead ends, from one fragment \
    to the next; leave out --rotate and --clear-lead, or encrypt it as fragments (not --layout keep)";

/// Why a file without samples is refused.
pub(super) const NOTHING: &str =
    "none of the tracks to encrypt has an access unit: nothing would be protected";

/// The `pssh` boxes to add: those given, then those of the systems.
pub(crate) fn pssh(
    options: &EncryptOptions,
    protector: &Protector,
    level: AesLevel,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut boxes = options.pssh.clone();
    for (number, bytes) in (1..).zip(&boxes) {
        let pssh = Pssh::parse(bytes).map_err(|error| {
            Error::Options(format!("pssh number {number} is not a pssh box: {error}"))
        })?;
        let keys = options.keys.keys();
        check_pssh(&pssh, keys, level, || format!("pssh number {number}"))?;
    }
    for given in &options.given {
        let Some(bytes) = &given.pssh else { continue };
        let of = || {
            let (id, kid) = (kid_text(&given.id), kid_text(&given.kid));
            format!("the pssh box that is given for the system {id} and the KID {kid}")
        };
        let pssh = Pssh::parse(bytes)
            .map_err(|error| Error::Options(format!("{} is none: {error}", of())))?;
        if pssh.system_id != given.id {
            let id = kid_text(&pssh.system_id);
            return Err(Error::Options(format!("{} is for the system {id}", of())));
        }
        check_pssh(&pssh, options.keys.keys(), level, of)?;
    }
    boxes.extend(fragment_pssh::boxes(options, &options.drm, &protector.kids())?);
    Ok(boxes)
}

/// `ftyp` and `moov`.
pub(crate) type Head = (Vec<u8>, Movie);

/// The pipelines of a job.
struct EncryptRun<'a> {
    pipeline: Pipeline<'a>,
    input: &'a Input<'a>,
    skeleton: &'a Skeleton,
    clear: &'a Movie,
    decryption: Option<&'a Decryption<'a>>,
    pssh: Vec<Vec<u8>>,
    options: &'a EncryptOptions,
}

impl<'a> EncryptRun<'a> {
    fn fragmented(
        &self,
        protector: Protector,
        iso: Option<Head>,
    ) -> Result<(Encryptor<'a>, Times), Error> {
        let head = match iso {
            Some((ftyp, moov)) => (self.protect(&moov, &protector)?, Some(ftyp)),
            None => (self.protect(self.clear, &protector)?, None),
        };
        let Self { input, skeleton, options, .. } = *self;
        let observer = self.pipeline.observer;
        let indexes = Indexes::new(input, skeleton, options.index, observer)?;
        let plan = || {
            let plan = Fragments::new(input, skeleton, head.0.clone(), &indexes);
            let plan = match head.1.clone() {
                Some(ftyp) => plan.with_ftyp(ftyp),
                None => plan,
            };
            if input.is_sequential() && self.is_sequential() {
                Ok(plan.without_indexes(observer, NO_INDEXES))
            } else {
                Ok(plan)
            }
        };
        let new_index = indexes.new_index(skeleton);
        let placement = Placement::new().with_new_index(new_index);
        let encryptor =
            |protector, placement, only_map| self.encryptor(protector, placement, only_map);
        self.in_passes(indexes.count(), protector, placement, plan, encryptor)
    }

    /// One pass; two if the sink needs that, because there are indexes, which stand in front of what they
    /// refer to.
    fn in_passes<P: Plan>(
        &self,
        indexes: usize,
        protector: Protector,
        mut placement: Placement,
        plan: impl Fn() -> Result<P, Error>,
        encryptor: impl Fn(Protector, Placement, bool) -> Result<Encryptor<'a>, Error>,
    ) -> Result<(Encryptor<'a>, Times), Error> {
        let mut before = Times::default();
        let output = self.pipeline.target.output();
        let two_passes = output.is_some_and(|output| output.needs_two_passes(indexes));
        if two_passes && !self.input.is_sequential() {
            let wanted = protector.wants_bytes();
            let first = Pipeline { target: Target::Map(&wanted), ..self.pipeline };
            let mapper = encryptor(protector.clone(), placement, true)?;
            let (mut mapped, times) = first.run(plan()?, mapper)?;
            mapped.placement.settle(self.input, self.pipeline.observer)?;
            (placement, before) = (Placement::again(mapped.placement), times);
        }
        let (done, mut times) =
            self.pipeline.run(plan()?, encryptor(protector, placement, false)?)?;
        times.add(before);
        Ok((done, times))
    }

    /// Whether every byte must be right when it is written.
    fn is_sequential(&self) -> bool {
        self.pipeline.target.output().is_some_and(Output::is_sequential)
    }

    fn new_fragments(
        &self,
        protector: Protector,
        (mut head, init): Head,
    ) -> Result<(Encryptor<'a>, Times), Error> {
        let movie = &self.skeleton.movie;
        let container = |error| self.input.container(error);
        head.extend_from_slice(&self.protect(&init, &protector)?);
        append_metas(self.skeleton, &mut head);
        let cuts = || Cuts::new(self.input, movie, self.options.fragment_duration);
        let mut counted = cuts()?;
        let fragments = counted.count()?;
        if let Some(warning) = counted.warning(movie) {
            self.pipeline.observer.warn(&warning);
        }
        let new_index = match self.options.index {
            IndexPolicy::Drop => None,
            IndexPolicy::Keep | IndexPolicy::Build => Some(NewIndex::new(movie, fragments)),
        };
        let room = new_index.as_ref().map(NewIndex::room);
        let plan = || Ok(NewFragments::new(self.input, movie, cuts()?, head.clone(), room));
        let slicers =
            movie.tracks.iter().map(|track| SampleInfoSlicer::new(movie, track).map(Some));
        let slicers = slicers.collect::<Result<Vec<_>, _>>().map_err(container)?;
        let encryptor = |protector, placement, only_map| {
            let encryptor = self.encryptor(protector, placement, only_map)?;
            Ok(Encryptor { slicers: slicers.clone(), ..encryptor })
        };
        let placement = Placement::new().with_new_index(new_index);
        self.in_passes(usize::from(room.is_some()), protector, placement, plan, encryptor)
    }

    /// Two passes: `moov` holds the subsamples of all samples and may come first, so its size must
    /// be known before anything has a place.
    fn keep(&self, protector: Protector) -> Result<(Encryptor<'a>, Times), Error> {
        let movie = &self.skeleton.movie;
        let second = protector.clone();
        let wanted = protector.wants_bytes();
        let first = Pipeline { target: Target::Map(&wanted), ..self.pipeline };
        let same = self.skeleton.replacements(self.input, movie.bytes().to_vec())?;
        let plan = Stretches::new(self.input, movie, same)?;
        let (mapped, mut times) =
            first.run(plan, self.encryptor(protector, Placement::new(), true)?)?;
        let moov = self.protect(self.clear, &mapped.protector)?;
        let replaced = self.skeleton.replacements(self.input, moov)?;
        let plan = Stretches::new(self.input, movie, replaced)?;
        let (done, more) =
            self.pipeline.run(plan, self.encryptor(second, Placement::new(), false)?)?;
        times.add(more);
        Ok((done, times))
    }

    fn encryptor(
        &self,
        protector: Protector,
        placement: Placement,
        only_map: bool,
    ) -> Result<Encryptor<'a>, Error> {
        let Skeleton { movie, media, .. } = self.skeleton;
        let refuse = self.options.unclaimed == UnclaimedPolicy::Refuse;
        let claims = Claims::of(self.input, self.skeleton)?
            .with_refusal_at_once(refuse && self.is_sequential());
        let decryptor = self.decryption.map(|decryption| decryption.decryptor(only_map));
        let remarks = Remarks::of(self.input, self.clear, &protector)?;
        Ok(Encryptor {
            decryptor: decryptor.transpose()?,
            input: self.input,
            movie,
            media,
            protector,
            claims,
            slicers: Vec::new(),
            placement,
            fragments: 0,
            remarks,
            pssh: FragmentPssh::new(Some(self.options), self.options.drm.clone()),
        })
    }

    fn protect(&self, movie: &Movie, protector: &Protector) -> Result<Vec<u8>, Error> {
        protect(self.input, movie, protector, &self.pssh)
    }
}

/// Protects the tracks of a `moov`; samples that are mapped already get their auxiliary information in
/// it.
pub(crate) fn protect(
    input: &Input<'_>,
    movie: &Movie,
    protector: &Protector,
    pssh: &[Vec<u8>],
) -> Result<Vec<u8>, Error> {
    let tracks: Vec<_> = protector
        .tracks
        .iter()
        .flatten()
        .map(|track| {
            let scheme = FourCc(track.scheme.fourcc());
            let mut plan = ProtectTrack::new(track.id, scheme, track.encryption);
            if track.lead == Some(ClearLead::SampleEntry) {
                plan = plan.with_clear_entries();
            }
            if track.needs_aux() && !track.aux.is_empty() {
                plan.with_aux(&track.aux)
            } else {
                plan
            }
        })
        .collect();
    let pssh: Vec<&[u8]> = pssh.iter().map(Vec::as_slice).collect();
    protect_movie(movie, &tracks, &pssh).map_err(|error| input.container(error))
}

/// Appends the file-level `meta` boxes of a progressive file, which stand behind `moov` in a fragmented
/// one.
pub(super) fn append_metas(skeleton: &Skeleton, head: &mut Vec<u8>) {
    for (header, meta) in &skeleton.metas {
        let start = head.len();
        head.extend_from_slice(meta);
        if header.open_ended {
            // Its size was "to the end of the file", where it is no longer.
            let size = u32::try_from(meta.len()).unwrap_or(0);
            head[start..start + 4].copy_from_slice(&size.to_be_bytes());
        }
    }
}
