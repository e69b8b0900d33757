//! Segments of a planned movie, made one by one.

use std::{fmt, time::Instant};

use lanelock_core::AesLevel;

use super::{
    encryptor::Encryptor,
    fragment_pssh::FragmentPssh,
    remarks::Remarks,
    run::{Job, NOTHING, append_metas, protect, pssh},
};
use crate::{
    EncryptOptions, Error, Layout, MoviePlan, Observer, Quiet,
    claims::Claims,
    io::Input,
    piece::{Bytes, PartKind},
    pipeline::{Map, apply, read_spans},
    place::Placement,
    plan::{Fragments, Indexes},
    selection::Purpose,
    tracks::Protector,
};

/// The protection of a planned movie: keys and first IVs are chosen, and any segment can be made, by any
/// number of threads, in any order, and any number of times.
///
/// The initialization segment and all segments, one behind the other, are the file that
/// [`encrypt`](crate::encrypt) makes with the same options and IV, without its indexes. (Offsets that
/// a `moof` of the input counts from the start of the file are counted from the start of the segment.)
/// IVs follow from the plan, so a segment costs no more than its own bytes.
///
/// Parameter sets are those of the sample entry and of the segment itself: one that an earlier segment
/// brings along is not known here. A stream that can be tuned in to at each segment has them there.
///
/// [`MoviePlan`] has an example.
///
/// Of the options, those of the plan count (`fragment_duration`, `unclaimed`), and those of a run mean
/// nothing (`index`, `workers`, `sync`, `writes`).
pub struct Protection {
    plan: MoviePlan,
    options: EncryptOptions,
    /// As it is in front of the first access unit.
    protector: Protector,
    init: Vec<u8>,
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = &self.options.scheme;
        f.debug_struct("Protection")
            .field("plan", &self.plan)
            .field("scheme", scheme)
            .finish_non_exhaustive()
    }
}

impl Protection {
    /// Chooses keys and IVs, and refuses what cannot be protected.
    ///
    /// # Errors
    /// A track has no key and is not to stay clear, or its codec has no rules here.
    pub fn new(
        plan: &MoviePlan,
        options: EncryptOptions,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let (input, skeleton) = (plan.input(), plan.skeleton());
        let movie = &skeleton.movie;
        if options.layout == Layout::Keep && !movie.fragmented {
            return Err(Error::Options(
                "a progressive file has no segments: they are made with Layout::Fragmented".into(),
            ));
        }
        let job = Job {
            input: &input,
            skeleton,
            clear: movie,
            decryption: None,
            options: &options,
            observer,
            start: Instant::now(),
        };
        let head = job.iso_head()?;
        let level = AesLevel::best()?;
        let mut protector = Protector::new(&input, movie, &options, level, Purpose::Encrypt)?;
        protector.origin = plan.segments().first().map(|first| first.start);
        job.check(&protector)?;
        Remarks::of(&input, movie, &protector)?.warn(movie, observer);
        let mut tracks = plan.segments().iter().flat_map(|segment| &segment.tracks);
        if !tracks.any(|track| protector.tracks[track.track].is_some()) {
            return Err(input.unsuitable(NOTHING));
        }
        let pssh = pssh(&options, &protector, level)?;
        let (ftyp, clear) = match &head {
            Some((ftyp, moov)) => (Some(ftyp), moov),
            None => (None, movie),
        };
        let moov = protect(&input, clear, &protector, &pssh)?;
        let init = if movie.fragmented {
            let indexes = Indexes::none();
            let boxes = Fragments::new(&input, skeleton, moov, &indexes);
            front(
                &input,
                ftyp.into_iter().fold(boxes, |boxes, ftyp| boxes.with_ftyp(ftyp.clone())),
            )?
        } else {
            let mut init = [ftyp.map_or(&[][..], Vec::as_slice), &moov].concat();
            append_metas(skeleton, &mut init);
            init
        };
        Ok(Self { plan: plan.clone(), options, protector, init })
    }

    /// The plan.
    pub fn plan(&self) -> &MoviePlan {
        &self.plan
    }

    /// The initialization segment.
    pub fn init(&self) -> &[u8] {
        &self.init
    }

    /// Segment `number` of the plan, from 0. It is an error if it has more bytes than
    /// [`EncryptOptions::memory`].
    pub fn segment(&self, number: usize) -> Result<Vec<u8>, Error> {
        self.segment_watched(number, &Quiet)
    }

    /// [`Self::segment`], which ends early if `observer` says so.
    pub fn segment_watched(
        &self,
        number: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<u8>, Error> {
        let check_interrupted =
            || if observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) };
        let (input, skeleton) = (self.plan.input(), self.plan.skeleton());
        let movie = &skeleton.movie;
        let Some(planned) = self.plan.segments().get(number) else {
            let len = self.plan.len();
            return Err(Error::Options(format!(
                "there is no segment {number}: the movie has {len}, counted from 0"
            )));
        };
        let (bytes, most) = (planned.bytes, self.options.memory);
        if bytes > most {
            return Err(input.unsuitable(format!(
                "segment {number} has {bytes} bytes, and at most {most} may be in memory"
            )));
        }
        check_interrupted()?;
        let piece = planned.piece(&input, movie)?;
        let len = piece.buffer_len();
        let mut buffer = Vec::new();
        read_spans(&input, &piece.spans, &mut buffer, false)?;
        check_interrupted()?;
        let mut protector = self.protector.clone();
        for track in &planned.tracks {
            if let Some(protected) = &mut protector.tracks[track.track] {
                protected.begin(track.before);
            }
        }
        let mut encryptor = Encryptor {
            input: &input,
            movie,
            media: &skeleton.media,
            decryptor: None,
            protector,
            // The plan has accounted for all media data.
            claims: Claims::of_part(&input, skeleton),
            slicers: planned.slicers(movie).map_err(|error| input.container(error))?,
            placement: Placement::new(),
            fragments: number as u64,
            // Of `moov` all is said.
            remarks: Remarks::none(movie),
            pssh: FragmentPssh::new(Some(&self.options), self.options.drm.clone()),
        };
        let mapped = encryptor.map(piece, &mut Bytes::Buffer(&buffer[..len]))?;
        encryptor.remarks.warn(movie, observer);
        check_interrupted()?;
        apply(&input, &mapped.stage, &mut buffer[..len])?;
        input.check_unchanged()?;
        let slices = mapped.slices(&buffer[..len]);
        let mut segment = Vec::with_capacity(slices.iter().map(|slice| slice.len()).sum());
        for slice in &slices {
            segment.extend_from_slice(slice);
        }
        Ok(segment)
    }
}

/// What stands in front of the first fragment.
fn front(input: &Input<'_>, mut boxes: Fragments<'_>) -> Result<Vec<u8>, Error> {
    let mut front = Vec::new();
    let mut is_front = true;
    while let Some((kind, range)) = boxes.part()? {
        match kind {
            PartKind::Replace(bytes) => front.extend(bytes),
            PartKind::Copy(_) if is_front => {
                let mut bytes = Vec::new();
                read_spans(input, &[range], &mut bytes, false)?;
                front.extend(bytes);
            }
            PartKind::Fragment(..) => break,
            _ => is_front = false,
        }
    }
    Ok(front)
}
