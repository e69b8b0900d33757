//! From cuts to fragments in their objects.

use std::{ops::Range, sync::Arc};

use lanelock_mp4::{
    compose::{NewSample, SidxReference},
    edit::SampleInfoSlicer,
};

use super::{
    cuts::{FragmentCut, Segment, Segments},
    source::{SamplesOfFragments, SourceTrack, TrackSamples},
};
use crate::{
    Error,
    encrypt::Encryptor,
    io::{Input, Object, Objects},
    piece::{Bytes, Direction, Mapped, NewTrack, PartKind, Planned, Stage, Write},
    pipeline::{Map, Plan},
    schedule::KeySpan,
};

/// The fragments of a track, in order.
pub(super) struct FragmentPlan<'a> {
    source: &'a SourceTrack,
    /// The samples that are still to come. One reader for all fragments sees what the cutting saw, and
    /// reads each fragment of the source once, into however many it is cut.
    samples: TrackSamples<'a>,
    segments: std::slice::Iter<'a, Segment>,
    fragments: std::slice::Iter<'a, FragmentCut>,
    /// What becomes of composition offsets: an edit list that the output does not have.
    shift: i64,
    groups: GroupSource<'a>,
}

/// Where sample groups and sub-samples come from.
enum GroupSource<'a> {
    /// There are none, or they are not wanted: key frames alone need none.
    None,
    Table(Box<SampleInfoSlicer<'a>>),
    Fragments,
}

impl<'a> FragmentPlan<'a> {
    pub(super) fn new(
        source: &'a SourceTrack,
        segments: &'a Segments,
        shift: i64,
    ) -> Result<Self, Error> {
        let movie = source.file.movie();
        let groups = if source.only_sync || movie.fragmented && !segments.has_groups {
            GroupSource::None
        } else if movie.fragmented {
            GroupSource::Fragments
        } else {
            let slicer = SampleInfoSlicer::new(movie, source.track());
            let mut slicer = slicer.map_err(|error| source.file.input().container(error))?;
            // A sample table has at most 2^32 - 1 samples.
            slicer.slice(u32::try_from(source.left_out()).unwrap_or(u32::MAX), &mut Vec::new());
            GroupSource::Table(Box::new(slicer))
        };
        let samples = source.samples()?;
        let segments = segments.list.iter();
        Ok(Self { source, samples, segments, fragments: [].iter(), shift, groups })
    }
}

impl Plan for FragmentPlan<'_> {
    fn next(&mut self) -> Result<Option<Planned>, Error> {
        let cut = loop {
            if let Some(cut) = self.fragments.next() {
                break cut;
            }
            let Some(segment) = self.segments.next() else { return Ok(None) };
            self.fragments = segment.fragments.iter();
        };
        let source = self.source;
        let count = cut.samples as usize;
        let mut new = NewTrack {
            track: 0,
            description_index: cut.description_index,
            decode_time: cut.decode_time,
            samples: Vec::with_capacity(count),
            offsets: Vec::with_capacity(count),
            boxes: Vec::new(),
        };
        let mut taken = SamplesOfFragments::new();
        let mut spans: Vec<Range<u64>> = Vec::new();
        for _ in 0..count {
            let Some((place, sample)) = self.samples.next()? else {
                return Err(source.fail("it has fewer samples than when it was planned"));
            };
            if matches!(self.groups, GroupSource::Fragments) {
                match taken.last_mut() {
                    Some((last, range)) if *last == place.fragment => range.end = place.at + 1,
                    _ => taken.push((place.fragment, place.at..place.at + 1)),
                }
            }
            let end = sample.offset + u64::from(sample.size);
            match spans.last_mut() {
                Some(last) if last.end == sample.offset => last.end = end,
                _ if sample.size == 0 => {}
                _ => spans.push(sample.offset..end),
            }
            let offset = i64::from(sample.composition_offset) + self.shift;
            let composition_offset = i32::try_from(offset).map_err(|_| {
                source.fail("its composition offsets would not fit 32 bits without an edit list")
            })?;
            new.samples.push(NewSample { composition_offset, ..sample.into() });
            new.offsets.push(sample.offset);
        }
        match &mut self.groups {
            GroupSource::None => {}
            GroupSource::Table(slicer) => slicer.slice(cut.samples, &mut new.boxes),
            GroupSource::Fragments => new.boxes = source.join_groups(&taken)?,
        }
        Ok(Some(Planned::gathered(PartKind::NewFragment(vec![new]), spans)))
    }
}

/// Where the segments of a track go.
pub(super) enum Target {
    /// Each to an object of its own: paths with `$Number$` in them.
    Numbered(String),
    /// One behind the other to one object.
    Single(Arc<Object>),
}

/// A track that is written.
#[derive(Default)]
pub(super) struct Packed {
    /// Of the CMAF track; none if there is none.
    pub(super) segments: Vec<PackedSegment>,
    /// Sizes of segments of WebVTT.
    pub(super) webvtt: Vec<u64>,
    /// Size of the text file beside the others.
    pub(super) whole: u64,
    /// For [`Storage::Single`]: bytes of the initialization segment and of the index.
    pub(super) init: Range<u64>,
    pub(super) index: Range<u64>,
}

impl Packed {
    /// Bytes of all its files.
    pub(super) fn bytes(&self) -> u64 {
        let media: u64 = self.segments.iter().map(|s| s.bytes.end - s.bytes.start).sum();
        let metadata = self.init.end - self.init.start + self.index.end - self.index.start;
        metadata + media + self.webvtt.iter().sum::<u64>() + self.whole
    }
}

/// A segment that has its place.
#[derive(Debug)]
pub(super) struct PackedSegment {
    /// Its bytes in its object.
    pub(super) bytes: Range<u64>,
    /// Of each fragment that begins with a sync sample: presentation time, and where its metadata and
    /// that sample are.
    pub(super) key_frames: Vec<(i64, Range<u64>)>,
}

/// A version of a track that is written: clear, or encrypted with one of the schemes.
pub(super) struct Version<'a> {
    pub(super) encryptor: Encryptor<'a>,
    pub(super) target: Target,
    /// What holds for each segment.
    pub(super) spans: &'a [KeySpan],
    /// That of the segment that is written.
    object: Option<Arc<Object>>,
    pub(super) packed: Vec<PackedSegment>,
}

impl<'a> Version<'a> {
    pub(super) fn new(encryptor: Encryptor<'a>, target: Target, spans: &'a [KeySpan]) -> Self {
        Self { encryptor, target, spans, object: None, packed: Vec::with_capacity(spans.len()) }
    }

    /// Goes on with the segment of this index, and gives the object of the last one away.
    fn begin(&mut self, index: usize, objects: &Objects<'_>) -> Result<(), Error> {
        self.close()?;
        if let Some(span) = self.spans.get(index) {
            let Encryptor { input, movie, protector, .. } = &mut self.encryptor;
            protector.begin_span(input, movie, *span)?;
        }
        self.object = Some(match &self.target {
            Target::Single(object) => object.clone(),
            Target::Numbered(path) => objects.create(&numbered(path, index))?,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        self.object.take().map_or(Ok(()), Object::release)
    }

    /// Maps a fragment, which may begin a segment.
    fn map(
        &mut self,
        tracks: &[NewTrack],
        buffer: &Range<usize>,
        (cut, begins): (&FragmentCut, bool),
        bytes: &mut Bytes<'_>,
        to: &mut Mapped,
    ) -> Result<(), Error> {
        let styp = match &self.target {
            Target::Numbered(_) if begins => STYP,
            _ => &[],
        };
        let len = buffer.len() as u64;
        let moof = self.encryptor.new_fragment(tracks, len, bytes, &mut to.stage)?;
        let head = [styp, &moof[..]].concat();
        let size = head.len() as u64 + len;
        let Some(of_segment) = &self.object else { return Ok(()) };
        let out = of_segment.extend(size);
        (to.out, to.object) = (out, Some(of_segment.clone()));
        if begins {
            self.packed.push(PackedSegment { bytes: out..out + size, key_frames: Vec::new() });
        }
        if let Some(segment) = self.packed.last_mut() {
            segment.bytes.end = out + size;
            if cut.sync {
                let first = tracks.first().and_then(|new| new.samples.first());
                let first = first.map_or(0, |sample| u64::from(sample.size));
                let start = out + styp.len() as u64;
                segment.key_frames.push((cut.presented, start..out + head.len() as u64 + first));
            }
        }
        to.writes.push(Write { head, body: buffer.clone() });
        Ok(())
    }
}

/// Maps the fragments of a track, for each of its versions, and gives them their objects.
pub(super) struct Packer<'a> {
    pub(super) versions: Vec<Version<'a>>,
    objects: &'a Objects<'a>,
    segments: std::iter::Enumerate<std::slice::Iter<'a, Segment>>,
    /// The fragments of the segment that are still to come.
    fragments: std::slice::Iter<'a, FragmentCut>,
}

impl<'a> Packer<'a> {
    pub(super) fn new(
        versions: Vec<Version<'a>>,
        segments: &'a Segments,
        objects: &'a Objects<'a>,
    ) -> Self {
        let segments = segments.list.iter().enumerate();
        Self { versions, objects, segments, fragments: [].iter() }
    }

    /// The next fragment; whether it begins a segment, whose objects are then there.
    fn fragment(&mut self) -> Result<Option<(&'a FragmentCut, bool)>, Error> {
        if let Some(cut) = self.fragments.next() {
            return Ok(Some((cut, false)));
        }
        let Some((index, segment)) = self.segments.next() else { return Ok(None) };
        self.fragments = segment.fragments.iter();
        for version in &mut self.versions {
            version.begin(index, self.objects)?;
        }
        Ok(self.fragments.next().map(|cut| (cut, true)))
    }

    /// Gives the objects of the last segment away.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        self.versions.iter_mut().try_for_each(Version::close)
    }
}

/// The path of the segment with this index; numbers count from 1.
pub(super) fn numbered(path: &str, index: usize) -> String {
    path.replace("$Number$", &(index + 1).to_string())
}

impl Map for Packer<'_> {
    fn map(&mut self, piece: Planned, bytes: &mut Bytes<'_>) -> Result<Mapped, Error> {
        let nothing = |version: &Version<'_>| Mapped {
            stage: Stage::new(Direction::Encrypt, version.encryptor.protector.ciphers.clone()),
            writes: Vec::with_capacity(1),
            out: 0,
            object: None,
            others: Vec::new(),
        };
        let mut all: Vec<Mapped> = self.versions.iter().map(nothing).collect();
        for part in piece.parts {
            let PartKind::NewFragment(tracks) = &part.kind else { continue };
            let Some(cut) = self.fragment()? else { continue };
            for (version, mapped) in self.versions.iter_mut().zip(&mut all) {
                version.map(tracks, &part.buffer, cut, bytes, mapped)?;
            }
        }
        let mapped = all.pop().map(|last| Mapped { others: all, ..last });
        mapped.ok_or_else(|| Error::Options("a track has no version to write".into()))
    }
}

/// `styp` of a CMAF segment that is a DASH segment as well (ISO/IEC 23000-19, 7.3.3.1; ISO/IEC 23009-1,
/// 6.3.4.2).
const STYP: &[u8] = b"\0\0\0\x18stypmsdh\0\0\0\0msdhcmfs";

/// What a segment index says of the segments.
pub(super) fn references(
    input: &Input<'_>,
    segments: &Segments,
    packed: &[PackedSegment],
) -> Result<Vec<SidxReference>, Error> {
    let times = segments.times();
    let all = segments.list.iter().zip(packed).zip(times);
    all.map(|((segment, packed), (_, duration))| {
        let size = packed.bytes.end - packed.bytes.start;
        let reference = SidxReference::of_range(size, duration);
        let reference = reference.map_err(|error| {
            input.unsuitable(format!(
                "a segment of {size} bytes and {duration} units does not fit the index of one file for \
                 each track ({error}); make segments shorter (--segment), or files of them (--layout \
                 segments)"
            ))
        })?;
        Ok(match segment.sap_type {
            0 => reference,
            sap_type => reference.with_sap(sap_type),
        })
    })
    .collect()
}
