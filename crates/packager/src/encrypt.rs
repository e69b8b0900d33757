//! Encryption of a file.

use std::{ops::Range, path::Path, time::Instant};

use lanelock::AesLevel;
use lanelock_cenc::Scheme;
use lanelock_mp4::{
    FourCc, Fragment, Movie, Pssh,
    compose::{NewTrackFragment, moof},
    edit::{
        FragmentEdit, Protect, ProtectTrack, RunOffsets, SampleInfoSlicer, WriteAux,
        fragment_movie, iso_ftyp, iso_movie, protect_movie,
    },
};

use crate::{
    EncryptOptions, Error, Iv, Layout, Observer, Summary, Times,
    claims::{Claims, refuse_shared},
    evidence::check_pssh,
    io::{Input, Output},
    pipeline::{CryptStage, Map, Pipeline, Target, workers},
    place::Placement,
    plan::{Fragments, NewFragments, Stretches},
    skeleton::Skeleton,
    task::{Bytes, NewTrack, StretchSample, Task, TaskKind},
    tracks::{Mapped, Protector, TRUNCATED_RUNS, UnitToMap},
};

/// Encrypts `input` to `output`.
///
/// Fragmented input keeps its fragments; progressive input becomes what
/// [`EncryptOptions::layout`] says. `output` appears when it is complete, or not at all.
pub fn encrypt(
    input: &Path,
    output: &Path,
    options: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let level = AesLevel::best()?;
    let input = Input::open(input)?;
    let output = Output::create(output, &input)?;
    let skeleton = Skeleton::read(&input)?;
    let movie = &skeleton.movie;
    // Before keys and codecs are looked at: what has no ISO form is told how to get one.
    let iso = iso_head(&input, &skeleton, options.layout)?;
    let protector = Protector::new(&input, &skeleton.media, movie, options, level)?;
    if movie.fragmented || options.layout == Layout::Fragmented {
        skeleton.refuse_items(&input)?;
    }
    if !movie.fragmented {
        refuse_shared(&input, &skeleton, |track| protector.tracks[track].is_some())?;
    }
    let alone = movie.fragmented && skeleton.fragments == 0 && skeleton.media.is_empty();
    if alone && options.scheme == Scheme::Cbcs && options.iv == Iv::Random {
        return Err(input.unsuitable(
            "this is an initialization segment alone: under cbcs it holds the IV, which its segments \
             must share; give it with --iv, or join the segments to it first (cat init.mp4 *.m4s)",
        ));
    }
    if options.scheme == Scheme::Cens {
        observer.warn("players differ in how they read cens; cbcs and cenc play everywhere");
    }
    if protector.has_truncated_runs() {
        observer.warn(TRUNCATED_RUNS);
    }
    let workers = workers(options.workers);
    let run = EncryptRun {
        pipeline: Pipeline {
            input: &input,
            target: Target::Output(&output),
            direction: CryptStage::Encrypt,
            observer,
            workers,
        },
        input: &input,
        skeleton: &skeleton,
        pssh: pssh(options, &protector, level)?,
        options,
    };
    let (done, times) = match iso {
        iso if movie.fragmented => run.fragmented(protector, iso)?,
        Some(iso) => run.new_fragments(protector, iso)?,
        None => run.keep(protector)?,
    };
    let unclaimed = done.claims.finish(options.unclaimed)?;
    let tracks = done.protector.summary(movie);
    if !alone && tracks.iter().all(|track| track.access_units == 0) {
        let reason = "none of the tracks to encrypt has an access unit: nothing would be protected";
        return Err(input.unsuitable(reason));
    }
    done.placement.write_indexes(&input, &output)?;
    let summary = Summary {
        bytes_in: input.len(),
        bytes_out: done.placement.end(),
        fragments: done.fragments,
        access_units: tracks.iter().map(|track| track.access_units).sum(),
        tracks,
        unclaimed,
        keys: Vec::new(),
        level: level.to_string(),
        workers,
        seconds: 0.0,
        times,
    };
    input.check_unchanged()?;
    output.finish(options.sync)?;
    Ok(Summary { seconds: start.elapsed().as_secs_f64(), ..summary })
}

/// The `pssh` boxes to add: those given, then the common one.
fn pssh(
    options: &EncryptOptions,
    protector: &Protector<'_>,
    level: AesLevel,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut boxes = options.pssh.clone();
    for (number, bytes) in (1..).zip(&boxes) {
        let pssh = Pssh::parse(bytes).map_err(|error| {
            Error::Options(format!("pssh number {number} is not a pssh box: {error}"))
        })?;
        let keys = options.keys.entries().map(|(_, key)| key);
        check_pssh(&pssh, keys, level, || format!("pssh number {number}"))?;
    }
    if options.common_pssh {
        boxes.push(Pssh::common(&protector.kids()).raw);
    }
    Ok(boxes)
}

/// `ftyp` and `moov` in the place of the input's: those of an ISO file with fragments. None where
/// the input's stay.
fn iso_head(input: &Input, skeleton: &Skeleton, layout: Layout) -> Result<Option<Head>, Error> {
    let Skeleton { movie, ftyp, .. } = skeleton;
    let head = match layout {
        Layout::Keep => Ok(None),
        Layout::Fragmented if movie.fragmented => iso_movie(movie, ftyp.as_deref()),
        Layout::Fragmented => {
            iso_ftyp(ftyp.as_deref()).and_then(|ftyp| Ok(Some((ftyp, fragment_movie(movie)?))))
        }
    };
    head.and_then(|head| {
        head.map(|(ftyp, moov)| Ok((ftyp, Movie::parse(moov, movie.offset())?))).transpose()
    })
    .map_err(|error| input.container(error))
}

/// `ftyp` and `moov`.
type Head = (Vec<u8>, Movie);

struct EncryptRun<'a> {
    pipeline: Pipeline<'a>,
    input: &'a Input,
    skeleton: &'a Skeleton,
    pssh: Vec<Vec<u8>>,
    options: &'a EncryptOptions,
}

impl<'a> EncryptRun<'a> {
    fn fragmented(
        &self,
        protector: Protector<'a>,
        iso: Option<Head>,
    ) -> Result<(Encryptor<'a>, Times), Error> {
        let plan = match iso {
            Some((ftyp, moov)) => {
                Fragments::new(self.input, self.protect(&moov, &protector)?).with_ftyp(ftyp)
            }
            None => Fragments::new(self.input, self.protect(&self.skeleton.movie, &protector)?),
        };
        self.pipeline.run(plan, self.encryptor(protector, Placement::new(0))?)
    }

    fn new_fragments(
        &self,
        protector: Protector<'a>,
        (mut head, init): Head,
    ) -> Result<(Encryptor<'a>, Times), Error> {
        let Skeleton { movie, metas, .. } = self.skeleton;
        let container = |error| self.input.container(error);
        let moov = self.protect(&init, &protector)?;
        head.extend_from_slice(&moov);
        for (header, meta) in metas {
            let start = head.len();
            head.extend_from_slice(meta);
            if header.open_ended {
                // Its size was "to the end of the file", where it is no longer.
                let size = u32::try_from(meta.len()).unwrap_or(0);
                head[start..start + 4].copy_from_slice(&size.to_be_bytes());
            }
        }
        self.pipeline.target.write(&head, 0)?;
        let plan = NewFragments::new(self.input, movie, self.options.fragment_duration)?;
        let mut encryptor = self.encryptor(protector, Placement::new(head.len() as u64))?;
        let slicers = movie.tracks.iter().map(|track| SampleInfoSlicer::new(movie, track));
        encryptor.slicers = slicers.collect::<Result<_, _>>().map_err(container)?;
        self.pipeline.run(plan, encryptor)
    }

    /// Two passes: `moov` holds the subsamples of all samples and may come first, so its size must
    /// be known before anything has a place.
    fn keep(&self, protector: Protector<'a>) -> Result<(Encryptor<'a>, Times), Error> {
        let movie = &self.skeleton.movie;
        let second = protector.again();
        let first = Pipeline { target: Target::Map, ..self.pipeline };
        let same = self.skeleton.replacements(self.input, movie.bytes().to_vec())?;
        let plan = Stretches::new(self.input, movie, same)?;
        let (mapped, mut times) = first.run(plan, self.encryptor(protector, Placement::new(0))?)?;
        let moov = self.protect(movie, &mapped.protector)?;
        let replaced = self.skeleton.replacements(self.input, moov)?;
        let plan = Stretches::new(self.input, movie, replaced)?;
        let (done, more) = self.pipeline.run(plan, self.encryptor(second, Placement::new(0))?)?;
        times.add(more);
        Ok((done, times))
    }

    fn encryptor(
        &self,
        protector: Protector<'a>,
        placement: Placement,
    ) -> Result<Encryptor<'a>, Error> {
        let (input, movie) = (self.input, &self.skeleton.movie);
        let claims = Claims::of(input, self.skeleton)?;
        let slicers = Vec::new();
        Ok(Encryptor { input, movie, protector, claims, slicers, placement, fragments: 0 })
    }

    /// Protects the tracks of a `moov`; samples that are mapped already get their auxiliary
    /// information in it.
    fn protect(&self, movie: &Movie, protector: &Protector<'_>) -> Result<Vec<u8>, Error> {
        let tracks: Vec<_> = protector
            .tracks
            .iter()
            .flatten()
            .map(|track| {
                let scheme = FourCc(track.scheme.fourcc());
                let plan = ProtectTrack::new(track.id, scheme, track.encryption);
                if track.needs_aux() && !track.aux.is_empty() {
                    plan.with_aux(&track.aux)
                } else {
                    plan
                }
            })
            .collect();
        let pssh: Vec<&[u8]> = self.pssh.iter().map(Vec::as_slice).collect();
        protect_movie(movie, &tracks, &pssh).map_err(|error| self.input.container(error))
    }
}

/// The map stage of encryption.
struct Encryptor<'a> {
    input: &'a Input,
    movie: &'a Movie,
    protector: Protector<'a>,
    claims: Claims<'a>,
    /// For new fragments, parallel to the tracks of the movie.
    slicers: Vec<SampleInfoSlicer<'a>>,
    placement: Placement,
    fragments: u64,
}

impl Map for Encryptor<'_> {
    fn map(&mut self, task: &mut Task, bytes: &mut Bytes<'_>) -> Result<(), Error> {
        task.ciphers = self.protector.ciphers.clone();
        let len = task.len();
        let Task { kind, spans, units, subsamples, places, head, .. } = task;
        let mut to = Mapped { units, subsamples, places };
        match kind {
            TaskKind::Fragment { at, moof } => {
                *head = self.fragment(*at, moof, &spans[0], bytes, &mut to)?;
                self.fragments += 1;
            }
            TaskKind::NewFragment(tracks) => {
                *head = self.new_fragment(tracks, len, bytes, &mut to)?;
            }
            TaskKind::Stretch(samples) => self.stretch(samples, &spans[0], bytes, &mut to)?,
            TaskKind::Copy | TaskKind::Replace { .. } | TaskKind::Index { .. } => {}
        }
        self.placement.place(task);
        Ok(())
    }
}

impl Encryptor<'_> {
    /// Gives the new `moof` at `at` for the boxes behind it, which are at `body`.
    fn fragment(
        &mut self,
        at: u64,
        moof: &[u8],
        body: &Range<u64>,
        bytes: &mut Bytes<'_>,
        to: &mut Mapped<'_>,
    ) -> Result<Vec<u8>, Error> {
        let container = |error| self.input.container(error);
        let fragment =
            Fragment::parse(moof, at, self.movie, self.input.len()).map_err(container)?;
        self.claims.fragment(&fragment)?;
        check_shared(self.input, &fragment, |track| self.protector.tracks[track].is_some())?;
        for track in self.protector.tracks.iter_mut().flatten() {
            track.aux.clear();
        }
        let mut seen = vec![false; self.movie.tracks.len()];
        let mut plans = Vec::with_capacity(fragment.tracks.len());
        for (index, traf) in fragment.tracks.iter().enumerate() {
            let track = traf.track_index;
            if traf.has_protection_boxes() {
                return Err(self.input.unsuitable(format!(
                    "the fragment at file offset {at} is encrypted already (track {}); decrypt the \
                     file first (lanelock decrypt)",
                    traf.track_id
                )));
            }
            // Also of tracks that stay clear: what is in another fragment moves otherwise.
            for run in traf.runs().iter().filter(|run| run.data_size > 0) {
                if run.offset < body.start || run.end() > body.end {
                    return Err(outside(self.input, at, traf.track_id, run.offset));
                }
            }
            if self.protector.tracks[track].is_none() || traf.sample_count == 0 {
                continue;
            }
            if std::mem::replace(&mut seen[track], true) {
                return Err(self.input.unsuitable(format!(
                    "the fragment at file offset {at} has two track fragments of track {}, which is \
                     not supported; merge them first",
                    traf.track_id
                )));
            }
            for sample in traf.samples() {
                let (offset, description_index) = (sample.offset, traf.description_index);
                let (start, size) = within(body, offset, sample.size)
                    .ok_or_else(|| outside(self.input, at, traf.track_id, offset))?;
                let bytes = bytes.at(self.input, start, offset, size)?;
                let unit = UnitToMap { track, description_index, offset, start, bytes };
                self.protector.unit(&unit, to)?;
            }
            plans.push((index, track));
        }
        let plans: Vec<_> = plans
            .into_iter()
            .map(|(index, track)| {
                let aux = match &self.protector.tracks[track] {
                    Some(track) => track.write_aux(),
                    None => WriteAux::Nothing,
                };
                Protect::new(index, aux)
            })
            .collect();
        let moved = self.placement.moved(at);
        let edit = FragmentEdit::new(&fragment).protect(&plans);
        edit.with_run_offsets(RunOffsets::Explicit).finish(moved).map_err(container)
    }

    /// Gives `moof` and the header of `mdat` for the samples in the buffer.
    fn new_fragment(
        &mut self,
        tracks: &[NewTrack],
        len: u64,
        bytes: &mut Bytes<'_>,
        to: &mut Mapped<'_>,
    ) -> Result<Vec<u8>, Error> {
        let mut start = 0;
        let mut starts = Vec::with_capacity(tracks.len());
        for new in tracks {
            if let Some(track) = &mut self.protector.tracks[new.track] {
                track.aux.clear();
            }
            starts.push(start as u64);
            for (sample, &offset) in new.samples.iter().zip(&new.offsets) {
                let size = sample.size as usize;
                self.claims.claim(offset..offset.saturating_add(sample.size.into()))?;
                let unit = UnitToMap {
                    track: new.track,
                    description_index: new.description_index,
                    offset,
                    start,
                    bytes: bytes.at(self.input, start, offset, size)?,
                };
                self.protector.unit(&unit, to)?;
                start += size;
            }
        }
        let mut boxes = vec![Vec::new(); tracks.len()];
        for (new, boxes) in tracks.iter().zip(&mut boxes) {
            // A sample table has at most 2^32 - 1 samples.
            let samples = u32::try_from(new.samples.len()).unwrap_or(u32::MAX);
            if let Some(slicer) = self.slicers.get_mut(new.track) {
                slicer.slice(samples, boxes);
            }
        }
        let trafs: Vec<_> = tracks
            .iter()
            .zip(starts)
            .zip(&boxes)
            .map(|((new, start), boxes)| {
                let id = self.movie.tracks[new.track].id;
                let mut traf = NewTrackFragment::new(id, new.decode_time, &new.samples, 8 + start)
                    .with_boxes(boxes);
                if new.description_index != 1 {
                    traf = traf.with_description_index(new.description_index);
                }
                match &self.protector.tracks[new.track] {
                    Some(track) => traf.with_aux(track.write_aux()),
                    None => traf,
                }
            })
            .collect();
        self.fragments += 1;
        let too_large = |_| {
            let reason = format!("fragment {} would be larger than 4 GiB", self.fragments);
            self.input.unsuitable(reason)
        };
        let sequence = u32::try_from(self.fragments).map_err(too_large)?;
        let mut head = moof(sequence, &trafs, &[]).map_err(|error| self.input.container(error))?;
        let size = u32::try_from(len + 8).map_err(too_large)?;
        head.extend_from_slice(&size.to_be_bytes());
        head.extend_from_slice(b"mdat");
        Ok(head)
    }

    fn stretch(
        &mut self,
        samples: &[StretchSample],
        stretch: &Range<u64>,
        bytes: &mut Bytes<'_>,
        to: &mut Mapped<'_>,
    ) -> Result<(), Error> {
        for &StretchSample { track, description_index, offset, size } in samples {
            self.claims.claim(offset..offset.saturating_add(size.into()))?;
            let id = self.movie.tracks[track].id;
            let (start, size) = within(stretch, offset, size)
                .ok_or_else(|| outside(self.input, stretch.start, id, offset))?;
            let bytes = bytes.at(self.input, start, offset, size)?;
            let unit = UnitToMap { track, description_index, offset, start, bytes };
            self.protector.unit(&unit, to)?;
        }
        Ok(())
    }
}

/// Refuses a run whose bytes are also those of a track that is encrypted, or encrypted otherwise.
pub(crate) fn check_shared(
    input: &Input,
    fragment: &Fragment<'_>,
    is_encrypted: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    let mut runs: Vec<_> = fragment
        .tracks
        .iter()
        .flat_map(|traf| traf.runs().iter().map(move |run| (run.offset, run.data_size, traf)))
        .filter(|(_, size, _)| *size > 0)
        .collect();
    runs.sort_by_key(|(offset, ..)| *offset);
    let mut end = (0, false);
    for (offset, size, traf) in runs {
        let encrypted = is_encrypted(traf.track_index);
        if offset < end.0 && (encrypted || end.1) {
            return Err(input.unsuitable(format!(
                "track {}: the samples at file offset {offset} share bytes with others, and some of \
                 them are encrypted; remux the file first (ffmpeg -i IN -c copy OUT)",
                traf.track_id
            )));
        }
        let run_end = offset.saturating_add(size);
        if run_end > end.0 {
            end = (run_end, encrypted || (offset < end.0 && end.1));
        }
    }
    Ok(())
}

/// Where a sample is in a piece that is `range` of the file, and its size; none if it leaves it.
pub(crate) fn within(range: &Range<u64>, offset: u64, size: u32) -> Option<(usize, usize)> {
    let start = offset.checked_sub(range.start)?;
    let end = offset.checked_add(size.into())?;
    (end <= range.end).then_some((usize::try_from(start).ok()?, usize::try_from(size).ok()?))
}

pub(crate) fn outside(input: &Input, fragment: u64, track: u32, offset: u64) -> Error {
    input.unsuitable(format!(
        "track {track}: the sample at file offset {offset} is outside of the boxes behind its moof at \
         file offset {fragment}, which is not supported; remux the file first (for example \
         ffmpeg -i IN -c copy OUT)"
    ))
}
