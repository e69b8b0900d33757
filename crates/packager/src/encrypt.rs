//! Encryption of a file.

use std::{ops::Range, path::Path, time::Instant};

use lanelock::AesLevel;
use lanelock_cenc::Scheme;
use lanelock_mp4::{
    FourCc, Fragment, Movie, Pssh,
    build::{NewTrackFragment, moof},
    edit::{
        Protect, ProtectTrack, RunOffsets, WriteAux, fragment_movie, fragmented_ftyp,
        protect_fragment, protect_movie,
    },
};

use crate::{
    EncryptOptions, Error, Layout, Observer, Summary, Times,
    evidence::check_pssh,
    io::{Input, Output},
    pipeline::{Direction, Map, Pipeline, Target, workers},
    place::Placement,
    plan::{Fragments, NewFragments, Stretches},
    skeleton::Skeleton,
    task::{Bytes, Kind, NewTrack, StretchSample, Task},
    tracks::{Mapped, Protector, Unit},
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
    let protector = Protector::new(&input, &skeleton.media, movie, options, level)?;
    if options.scheme == Scheme::Cens {
        observer.warn("players differ in how they read cens; cbcs and cenc play everywhere");
    }
    let workers = workers(options.workers);
    let run = Run {
        pipeline: Pipeline {
            input: &input,
            target: Target::Output(&output),
            direction: Direction::Encrypt,
            observer,
            workers,
        },
        input: &input,
        skeleton: &skeleton,
        pssh: pssh(options, &protector, level)?,
        options,
    };
    let (done, times) = if movie.fragmented {
        run.fragmented(protector)?
    } else if options.layout == Layout::Fragmented {
        run.new_fragments(protector)?
    } else {
        run.keep(protector)?
    };
    done.placement.write_indexes(&input, &output)?;
    let tracks = done.protector.summary(movie);
    let summary = Summary {
        bytes_in: input.len(),
        bytes_out: done.placement.end(),
        fragments: done.fragments,
        access_units: tracks.iter().map(|track| track.access_units).sum(),
        tracks,
        keys: Vec::new(),
        level: level.to_string(),
        workers,
        seconds: 0.0,
        times,
    };
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

struct Run<'a> {
    pipeline: Pipeline<'a>,
    input: &'a Input,
    skeleton: &'a Skeleton,
    pssh: Vec<Vec<u8>>,
    options: &'a EncryptOptions,
}

impl<'a> Run<'a> {
    fn fragmented(&self, protector: Protector<'a>) -> Result<(Encryptor<'a>, Times), Error> {
        let moov = self.protect(&self.skeleton.movie, &protector)?;
        let plan = Fragments::new(self.input, moov);
        self.pipeline.run(plan, self.encryptor(protector, Placement::new(0)))
    }

    fn new_fragments(&self, protector: Protector<'a>) -> Result<(Encryptor<'a>, Times), Error> {
        let Skeleton { movie, ftyp, .. } = self.skeleton;
        let container = |error| self.input.container(error);
        let init = fragment_movie(movie).map_err(container)?;
        let init = Movie::parse(init, movie.offset()).map_err(container)?;
        let moov = self.protect(&init, &protector)?;
        let mut head = match ftyp {
            Some(ftyp) => fragmented_ftyp(ftyp, &[]).map_err(container)?,
            None => lanelock_mp4::build::ftyp(FourCc::new(b"iso6"), 0, &[FourCc::new(b"iso6")]),
        };
        head.extend_from_slice(&moov);
        self.pipeline.target.write(&head, 0)?;
        let plan = NewFragments::new(self.input, movie, self.options.fragment_duration)?;
        let placement = Placement::new(head.len() as u64);
        self.pipeline.run(plan, self.encryptor(protector, placement))
    }

    /// Two passes: `moov` holds the subsamples of all samples and may come first, so its size must
    /// be known before anything has a place.
    fn keep(&self, protector: Protector<'a>) -> Result<(Encryptor<'a>, Times), Error> {
        let movie = &self.skeleton.movie;
        let second = protector.again();
        let first = Pipeline { target: Target::Map, ..self.pipeline };
        let plan = Stretches::new(self.input, movie, None)?;
        let (mapped, mut times) = first.run(plan, self.encryptor(protector, Placement::new(0)))?;
        let bytes = self.protect(movie, &mapped.protector)?;
        let bytes = self.skeleton.replace_moov(self.input, bytes)?;
        let plan = Stretches::new(self.input, movie, Some(bytes))?;
        let (done, more) = self.pipeline.run(plan, self.encryptor(second, Placement::new(0)))?;
        times.add(more);
        Ok((done, times))
    }

    fn encryptor(&self, protector: Protector<'a>, placement: Placement) -> Encryptor<'a> {
        let movie = &self.skeleton.movie;
        Encryptor { input: self.input, movie, protector, placement, fragments: 0 }
    }

    /// Protects the tracks of a `moov`; samples that are mapped already get their auxiliary
    /// information in it.
    fn protect(&self, movie: &Movie, protector: &Protector<'_>) -> Result<Vec<u8>, Error> {
        let tracks: Vec<_> = protector
            .tracks
            .iter()
            .flatten()
            .map(|track| ProtectTrack {
                track_id: track.id,
                scheme: FourCc(track.scheme.fourcc()),
                encryption: track.encryption,
                aux: (track.needs_aux() && !track.aux.is_empty()).then_some(&track.aux),
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
            Kind::Fragment { at, moof } => {
                *head = self.fragment(*at, moof, &spans[0], bytes, &mut to)?;
                self.fragments += 1;
            }
            Kind::NewFragment(tracks) => {
                *head = self.new_fragment(tracks, len, bytes, &mut to)?;
            }
            Kind::Stretch(samples) => self.stretch(samples, &spans[0], bytes, &mut to)?,
            Kind::Copy | Kind::Replace { .. } | Kind::Index { .. } => {}
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
                let unit = Unit { track, description_index, offset, start, bytes };
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
                Protect { index, aux, seig: None }
            })
            .collect();
        let moved = self.placement.moved(at);
        protect_fragment(&fragment, &plans, &[], RunOffsets::Explicit, moved).map_err(container)
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
                let unit = Unit {
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
        let trafs: Vec<_> = tracks
            .iter()
            .zip(starts)
            .map(|(new, start)| NewTrackFragment {
                track_id: self.movie.tracks[new.track].id,
                decode_time: new.decode_time,
                description_index: (new.description_index != 1).then_some(new.description_index),
                samples: &new.samples,
                payload_offset: 8 + start,
                aux: match &self.protector.tracks[new.track] {
                    Some(track) => track.write_aux(),
                    None => WriteAux::Nothing,
                },
                seig: None,
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
            let id = self.movie.tracks[track].id;
            let (start, size) = within(stretch, offset, size)
                .ok_or_else(|| outside(self.input, stretch.start, id, offset))?;
            let bytes = bytes.at(self.input, start, offset, size)?;
            let unit = Unit { track, description_index, offset, start, bytes };
            self.protector.unit(&unit, to)?;
        }
        Ok(())
    }
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
