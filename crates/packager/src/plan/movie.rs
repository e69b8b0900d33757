//! A movie that is planned once, and whose segments can be made in any order.

use std::{fmt, ops::Range, sync::Arc, time::Duration};

use lanelock_mp4::{
    Fragment, Movie, Track,
    edit::{SampleInfoPosition, SampleInfoSlicer},
};

use super::{
    Cuts, Fragments, Indexes,
    cuts::{Cut, duration, rank},
};
use crate::{
    Error, Observer, PlanOptions, UnclaimedMedia,
    claims::Claims,
    io::{Input, Source},
    piece::{Bytes, Heads, Part, PartKind, Planned},
    skeleton::{MediaRanges, Skeleton},
    tracks::SamplesBefore,
};

/// A clear movie that is planned: where its segments are, and what comes before each of them.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use lanelock_packager::{
///     EncryptOptions, KeyMap, MoviePlan, PlanOptions, Protection, Quiet, Scheme, io::MemorySource,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = "tests/fixtures/avc_aac.mp4";
/// let movie = std::fs::read(path)?;
/// let source = Arc::new(MemorySource::new("movie.mp4", movie)); // or a `FileSource`
/// let options = PlanOptions::new().with_fragment_duration(Duration::from_millis(100));
/// let plan = MoviePlan::new(source, &options, &Quiet)?;
///
/// // For a client, or for all: the IVs are chosen here, and every segment follows from them.
/// let mut keys = KeyMap::new();
/// keys.parse_insert("00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
/// let protection = Protection::new(&plan, EncryptOptions::new(Scheme::Cbcs, keys), &Quiet)?;
/// let init = protection.init();
/// let last = protection.segment(plan.len() - 1)?; // none before it is needed
/// assert!(init[4..8] == *b"ftyp" && !last.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// [`Protection`](crate::Protection) makes the segments. A plan has read the metadata of the whole
/// file and none of its media, but for what nothing refers to; all checks of the file that `encrypt`
/// makes on its way are done. Clones share it.
///
/// Fragmented input has a segment for each `moof`, with the boxes that belong to it. Progressive input
/// is cut at sync samples, or elsewhere where these are more than half a minute apart.
#[derive(Clone)]
pub struct MoviePlan {
    shared: Arc<Shared>,
}

impl fmt::Debug for MoviePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.shared.source.name();
        f.debug_struct("MoviePlan").field("source", &name).finish_non_exhaustive()
    }
}

struct Shared {
    source: Arc<dyn Source>,
    skeleton: Skeleton,
    segments: Vec<PlannedSegment>,
    unclaimed: UnclaimedMedia,
}

/// A segment of a [`MoviePlan`].
#[derive(Debug)]
#[non_exhaustive]
pub struct PlannedSegment {
    /// Decoding time of its first sample, in the leading track: video before all others.
    pub start: Duration,
    /// Duration of its samples in the leading track.
    pub duration: Duration,
    /// Bytes of it in the input.
    pub bytes: u64,
    /// The tracks that have samples in it.
    pub tracks: Vec<SegmentTrack>,
    content: Content,
}

/// What a track has in a segment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmentTrack {
    /// The track ID.
    pub track_id: u32,
    /// Units per second of the times here.
    pub timescale: u32,
    /// Decoding time of the first sample.
    pub decode_time: u64,
    /// Duration of all samples.
    pub duration: u64,
    /// How many samples.
    pub samples: u64,
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) before: SamplesBefore,
}

/// Where a segment comes from.
#[derive(Debug)]
enum Content {
    /// Samples of a progressive file, and where these are in the tables of groups and sub-samples, for
    /// each of the tracks of the segment.
    Cut(Cut, Vec<SampleInfoPosition>),
    /// Boxes of a fragmented file.
    Boxes(Vec<(PartKind, Range<u64>)>),
}

impl MoviePlan {
    /// Plans a movie. The source must not change as long as segments are made of it.
    ///
    /// # Errors
    /// What [`encrypt`](crate::encrypt) says of a file that it cannot take.
    pub fn new(
        source: Arc<dyn Source>,
        options: &PlanOptions,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let input = Input::new(&*source);
        if input.is_sequential() {
            return Err(input.unsuitable(
                "it is a pipe, which cannot go back: segments are made in any order; write it to a \
                 file first",
            ));
        }
        let skeleton = Skeleton::read(&input)?;
        skeleton.refuse_items(&input)?;
        let planning = Planning {
            input: &input,
            movie: &skeleton.movie,
            observer,
            before: vec![SamplesBefore::default(); skeleton.movie.tracks.len()],
            claims: Claims::of(&input, &skeleton)?,
            segments: Vec::new(),
        };
        let (segments, claims) = if skeleton.movie.fragmented {
            planning.fragments(&skeleton)?
        } else {
            planning.cuts(options.fragment_duration)?
        };
        let unclaimed = claims.finish(options.unclaimed)?;
        input.check_unchanged()?;
        Ok(Self { shared: Arc::new(Shared { source, skeleton, segments, unclaimed }) })
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.segments().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.segments().is_empty()
    }

    /// The segments, in order.
    pub fn segments(&self) -> &[PlannedSegment] {
        &self.shared.segments
    }

    /// Media data that no sample refers to: in segments of fragmented input they are as they were.
    pub fn unclaimed(&self) -> &UnclaimedMedia {
        &self.shared.unclaimed
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input::new(&*self.shared.source)
    }

    pub(crate) fn skeleton(&self) -> &Skeleton {
        &self.shared.skeleton
    }
}

impl PlannedSegment {
    /// What to read, and what it is.
    pub(crate) fn piece(&self, input: &Input<'_>, movie: &Movie) -> Result<Planned, Error> {
        match &self.content {
            Content::Cut(cut, _) => cut.planned(input, movie),
            Content::Boxes(parts) => {
                let mut piece = Planned::default();
                for (kind, range) in parts {
                    piece.push(kind.clone(), range.clone());
                }
                Ok(piece)
            }
        }
    }

    /// What cuts the tables of groups and sub-samples, parallel to the tracks of the movie.
    pub(crate) fn slicers<'m>(
        &self,
        movie: &'m Movie,
    ) -> Result<Vec<Option<SampleInfoSlicer<'m>>>, lanelock_mp4::Error> {
        let mut slicers = vec![None; movie.tracks.len()];
        if let Content::Cut(_, positions) = &self.content {
            for (track, position) in self.tracks.iter().zip(positions) {
                let of_movie = &movie.tracks[track.track];
                let slicer = SampleInfoSlicer::resume(movie, of_movie, position.clone())?;
                slicers[track.track] = Some(slicer);
            }
        }
        Ok(slicers)
    }

    /// Adds a box behind the others of a fragmented file.
    fn add(&mut self, kind: PartKind, range: Range<u64>) {
        if let Content::Boxes(boxes) = &mut self.content {
            self.bytes += range.end - range.start;
            boxes.push((kind, range));
        }
    }
}

/// A movie while it is planned.
struct Planning<'a> {
    input: &'a Input<'a>,
    movie: &'a Movie,
    observer: &'a dyn Observer,
    /// Parallel to the tracks of the movie.
    before: Vec<SamplesBefore>,
    claims: Claims<'a>,
    segments: Vec<PlannedSegment>,
}

/// The segments, and what refers to the media data.
type Segments<'a> = (Vec<PlannedSegment>, Claims<'a>);

impl<'a> Planning<'a> {
    /// Segments of a progressive file.
    fn cuts(mut self, duration: Duration) -> Result<Segments<'a>, Error> {
        let Self { input, movie, .. } = self;
        let slicers = movie.tracks.iter().map(|track| SampleInfoSlicer::new(movie, track));
        let slicers = slicers.collect::<Result<Vec<_>, _>>();
        let mut slicers = slicers.map_err(|error| input.container(error))?;
        let mut cuts = Cuts::new(input, movie, duration)?;
        let mut unwanted = Vec::new();
        while let Some(cut) = cuts.next()? {
            self.check_interrupted()?;
            let (mut tracks, mut positions, mut bytes) = (Vec::new(), Vec::new(), 0);
            for cut in &cut.tracks {
                let mut of_track = self.track(cut.track, cut.decode_time());
                for sample in cut.samples(input, movie)? {
                    let sample = sample?;
                    let end = sample.offset.saturating_add(sample.size.into());
                    self.claims.claim(sample.offset..end)?;
                    self.before[cut.track].push(sample.size);
                    // Below the length of the file: `Cuts` holds that.
                    bytes += u64::from(sample.size);
                    of_track.duration = of_track.duration.saturating_add(sample.duration.into());
                    of_track.samples += 1;
                }
                tracks.push(of_track);
                let slicer = &mut slicers[cut.track];
                positions.push(slicer.position());
                slicer.slice(cut.count(), &mut unwanted);
                unwanted.clear();
            }
            self.push(tracks, bytes, Content::Cut(cut, positions));
        }
        if let Some(warning) = cuts.warning(movie) {
            self.observer.warn(&warning);
        }
        self.claims.settle_all()?;
        Ok((self.segments, self.claims))
    }

    /// Segments of a fragmented file.
    fn fragments(mut self, skeleton: &Skeleton) -> Result<Segments<'a>, Error> {
        let indexes = Indexes::none();
        let mut fragments = Fragments::new(self.input, skeleton, Vec::new(), &indexes);
        let mut boxes = Vec::new();
        while let Some((kind, range)) = fragments.part()? {
            self.check_interrupted()?;
            let mut tracks = None;
            match &kind {
                PartKind::Fragment(moof, media) => {
                    tracks = Some(self.fragment(range.start, *moof)?);
                    self.settle(&kind, &range, media)?;
                }
                PartKind::Copy(media) => self.settle(&kind, &range, media)?,
                PartKind::SegmentHead => {}
                _ => continue,
            }
            // What comes before the first segment belongs to the initialization segment.
            let is_of_segment = !boxes.is_empty() || !matches!(kind, PartKind::Copy(_));
            match self.segments.last_mut() {
                _ if is_of_segment => boxes.push((kind, range)),
                Some(last) => last.add(kind, range),
                None => {}
            }
            if let Some(tracks) = tracks {
                let bytes = boxes.iter().map(|(_, range)| range.end - range.start).sum();
                self.push(tracks, bytes, Content::Boxes(std::mem::take(&mut boxes)));
            }
        }
        if let Some(last) = self.segments.last_mut() {
            for (kind, range) in boxes {
                last.add(kind, range);
            }
        }
        Ok((self.segments, self.claims))
    }

    /// What the tracks have in the fragment at `at`, whose `moof` has so many bytes.
    fn fragment(&mut self, at: u64, moof: usize) -> Result<Vec<SegmentTrack>, Error> {
        let Self { input, movie, .. } = *self;
        let mut bytes = vec![0; moof];
        input.read(&mut bytes, at)?;
        let fragment = Fragment::parse(&bytes, at, movie, input.len());
        let fragment = fragment.map_err(|error| input.container(error))?;
        self.claims.fragment(&fragment)?;
        let mut tracks: Vec<SegmentTrack> = Vec::new();
        for traf in &fragment.tracks {
            let track = traf.track_index;
            let Some(first) = traf.samples().next() else { continue };
            let known = tracks.iter().position(|of_track| of_track.track == track);
            let index = known.unwrap_or_else(|| {
                tracks.push(self.track(track, first.decode_time));
                tracks.len() - 1
            });
            let of_track = &mut tracks[index];
            of_track.duration = of_track.duration.saturating_add(traf.duration);
            of_track.samples += traf.sample_count;
            for sample in traf.samples() {
                self.before[track].push(sample.size);
            }
        }
        tracks.sort_by_key(|of_track| of_track.track);
        Ok(tracks)
    }

    /// Looks at the media data of a part.
    fn settle(
        &mut self,
        kind: &PartKind,
        range: &Range<u64>,
        media: &MediaRanges,
    ) -> Result<(), Error> {
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let part = Part { kind: kind.clone(), at: range.start, buffer: 0..len };
        let mut buffer = Vec::new();
        self.claims.settle(&part, media, &mut Bytes::File(&[], &Heads::default(), &mut buffer))
    }

    /// A track at its next sample.
    fn track(&self, index: usize, decode_time: u64) -> SegmentTrack {
        let Track { id, timescale, .. } = self.movie.tracks[index];
        SegmentTrack {
            track_id: id,
            timescale,
            decode_time,
            duration: 0,
            samples: 0,
            track: index,
            before: self.before[index],
        }
    }

    fn push(&mut self, tracks: Vec<SegmentTrack>, bytes: u64, content: Content) {
        let leader = tracks.iter().min_by_key(|track| rank(&self.movie.tracks[track.track]));
        let time = |of: fn(&SegmentTrack) -> u64| {
            leader.map_or(Duration::ZERO, |track| duration(of(track), track.timescale.into()))
        };
        let (start, duration) = (time(|track| track.decode_time), time(|track| track.duration));
        self.segments.push(PlannedSegment { start, duration, bytes, tracks, content });
    }

    fn check_interrupted(&self) -> Result<(), Error> {
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
