//! What `stbl` says of single samples in boxes of its own, cut into the pieces for new fragments:
//! `sbgp` (ISO/IEC 14496-12, 8.9.2) and `subs` (8.7.7).

use std::ops::Range;

use crate::{
    BoxRef, ErrorKind, FourCc, Movie, Result, Track,
    protection::is_seig,
    source::be32,
    writer::{put_box, put32},
};

/// Cuts the sample groups and sub-samples of a progressive track into boxes for its fragments.
///
/// It reads the tables once, from the first sample to the last, and keeps no more than its place
/// in each. A track without such boxes costs nothing.
#[derive(Clone, Debug)]
pub struct SampleInfoSlicer<'a> {
    moov: &'a [u8],
    at: SampleInfoPosition,
}

/// A place between two samples of a progressive track in its sample groups and sub-samples, to go
/// on from by [`SampleInfoSlicer::resume`]. Its size is that of a few words for each box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleInfoPosition {
    track_id: u32,
    groups: Vec<Groups>,
    subsamples: Vec<SubsampleTable>,
}

impl<'a> SampleInfoSlicer<'a> {
    /// Finds the boxes of a track of `movie` and checks their counts, also those of the tables that
    /// [`Sample::flags`](crate::Sample::flags) are made of.
    ///
    /// Groups of type `seig` are left out: they belong to the protection of the progressive file.
    /// Compact sample groups (`csgp`) are not supported.
    pub fn new(movie: &'a Movie, track: &Track) -> Result<Self> {
        let (stbl, samples) = (movie.stbl(track)?, u64::from(track.sample_count()));
        track.tables.check_flags(stbl.source)?;
        let mut at =
            SampleInfoPosition { track_id: track.id, groups: Vec::new(), subsamples: Vec::new() };
        let mut defaults = Vec::new();
        for child in stbl.children() {
            let child = child?;
            if at.groups.len() + at.subsamples.len() + defaults.len() > MOST_BOXES {
                let what = "more than a thousand boxes of sample groups and sub-samples";
                return Err(child.error(ErrorKind::Unsupported(what)));
            }
            match &child.kind().0 {
                b"sbgp" if !is_seig(&child) => {
                    at.groups.push(Groups::new(&child, samples)?);
                }
                b"sgpd" => defaults.extend(default_of(&child)?),
                b"subs" => at.subsamples.push(SubsampleTable::new(&child, samples)?),
                b"csgp" => {
                    let what = "compact sample groups (`csgp`) in a file that becomes fragmented; \
                                it can be protected as a progressive file";
                    return Err(child.error(ErrorKind::Unsupported(what)));
                }
                _ => {}
            }
        }
        for groups in &mut at.groups {
            groups.has_default = defaults.iter().any(|(kind, _)| *kind == groups.kind);
        }
        Ok(Self { moov: movie.bytes(), at })
    }

    /// Goes on at a [`Self::position`] of the same track, at no cost that depends on where it is or on
    /// the size of the tables.
    ///
    /// The tables were checked when the position was taken. One that was taken in another movie gives
    /// boxes of no meaning.
    pub fn resume(movie: &'a Movie, track: &Track, position: SampleInfoPosition) -> Result<Self> {
        if position.track_id != track.id {
            let what = "a position of sample groups that belongs to another track";
            return Err(movie.root()?.error(ErrorKind::Invalid(what)));
        }
        Ok(Self { moov: movie.bytes(), at: position })
    }

    /// The place behind the samples that were taken.
    pub fn position(&self) -> SampleInfoPosition {
        self.at.clone()
    }

    /// Appends the boxes for the next `samples` samples of the track: `sbgp` and `subs` of a
    /// `traf`. Samples that no box speaks of give nothing.
    pub fn slice(&mut self, samples: u32, out: &mut Vec<u8>) {
        for groups in &mut self.at.groups {
            groups.slice(self.moov, samples, out);
        }
        for subsamples in &mut self.at.subsamples {
            subsamples.slice(self.moov, samples, out);
        }
    }
}

/// A place in one `sbgp`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Groups {
    /// Version, flags, grouping type and its parameter: their place in `moov`.
    head: Range<usize>,
    /// Grouping type.
    kind: FourCc,
    /// Runs that are not begun: pairs of sample count and group index.
    runs: Range<usize>,
    /// What is left of the run that is begun.
    left: u32,
    index: u32,
    /// Samples that are said to be in no group would otherwise be in the default group.
    has_default: bool,
}

impl Groups {
    fn new(sbgp: &BoxRef<'_>, samples: u64) -> Result<Self> {
        let mut reader = sbgp.reader();
        let (version, _) = reader.version_upto(1)?;
        let kind = FourCc(reader.array("grouping_type")?);
        if version == 1 {
            reader.u32("grouping_type_parameter")?;
        }
        let head = reader.position() - sbgp.payload_range().start;
        let count = reader.u32("entry_count")?;
        let records = reader.records(count, 8, "sample groups")?;
        let len = records.count as usize * 8;
        let runs = records.at..records.at + len;
        let mut found = 0_u64;
        for (number, run) in sbgp.source.bytes[runs.clone()].chunks_exact(8).enumerate() {
            found += u64::from(be32(run, 0));
            let index = be32(run, 4);
            if index > LAST_GLOBAL {
                // In a fragment it would mean a description in the fragment.
                let (what, value) = ("group_description_index", u64::from(index));
                let at = records.at + number * 8 + 4;
                return Err(sbgp.error_at(at, ErrorKind::InvalidValue { what, value }));
            }
        }
        if found > samples {
            let what = "samples covered by `sbgp`";
            return Err(sbgp.error(ErrorKind::Mismatch { what, expected: samples, found }));
        }
        let start = sbgp.payload_range().start;
        let head = start..start + head;
        Ok(Self { head, kind, runs, left: 0, index: 0, has_default: false })
    }

    fn slice(&mut self, moov: &[u8], samples: u32, out: &mut Vec<u8>) {
        let start = out.len();
        let (mut left, mut count, mut member) = (samples, 0, false);
        put_box(out, *b"sbgp", |out| {
            out.extend_from_slice(moov.get(self.head.clone()).unwrap_or_default());
            let count_at = out.len();
            put32(out, 0);
            while left > 0 && self.enter_run(moov) {
                let run = left.min(self.left);
                put32(out, run);
                put32(out, self.index);
                left -= run;
                self.left -= run;
                count += 1;
                member |= self.index != 0;
            }
            out[count_at..count_at + 4].copy_from_slice(&u32::to_be_bytes(count));
        });
        if count == 0 || !(member || self.has_default) {
            out.truncate(start);
        }
    }

    /// Goes on to the next run if there is nothing left of this; false behind the last.
    fn enter_run(&mut self, moov: &[u8]) -> bool {
        while self.left == 0 {
            let runs = moov.get(self.runs.clone()).unwrap_or_default();
            let Some(run) = runs.first_chunk::<8>() else { return false };
            (self.left, self.index) = (be32(run, 0), be32(run, 4));
            self.runs.start += run.len();
        }
        true
    }
}

/// The grouping type of an `sgpd` that has a default group, for samples that no `sbgp` covers, and the
/// index of that group.
pub(super) fn default_of(sgpd: &BoxRef<'_>) -> Result<Option<(FourCc, u32)>> {
    let mut reader = sgpd.reader();
    let (version, _) = reader.version_flags()?;
    let kind = FourCc(reader.array("grouping_type")?);
    if version < 2 {
        return Ok(None);
    }
    reader.u32("default_length")?;
    let index = reader.u32("default_group_description_index");
    Ok(index.ok().filter(|index| *index != 0).map(|index| (kind, index)))
}

/// A place in one `subs`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SubsampleTable {
    /// Version and flags.
    head: [u8; 4],
    /// Entries that are not taken: their place in `moov`.
    entries: Range<usize>,
    /// Bytes of one sub-sample in an entry.
    width: usize,
    /// Sample that the last entry taken is about, from 1.
    entry_sample: u64,
    /// Samples that are behind.
    passed: u64,
}

impl SubsampleTable {
    fn new(subs: &BoxRef<'_>, samples: u64) -> Result<Self> {
        let mut reader = subs.reader();
        let head = reader.clone().array("version and flags")?;
        let (version, _) = reader.version_upto(1)?;
        let width = if version == 1 { 10 } else { 8 };
        let count = reader.u32("entry_count")?;
        let start = reader.position();
        let mut number = 0_u64;
        for _ in 0..count {
            number += u64::from(reader.u32("sample_delta")?);
            let subsamples = usize::from(reader.u16("subsample_count")?);
            reader.bytes(subsamples * width, "sub-samples")?;
            if number == 0 || number > samples {
                let what = "sub-samples of a sample that does not exist";
                return Err(reader.error(ErrorKind::Sample { number, what }));
            }
        }
        let entries = start..reader.position();
        Ok(Self { head, entries, width, entry_sample: 0, passed: 0 })
    }

    fn slice(&mut self, moov: &[u8], samples: u32, out: &mut Vec<u8>) {
        let start = out.len();
        let end = self.passed.saturating_add(u64::from(samples));
        let (mut count, mut previous) = (0, self.passed);
        put_box(out, *b"subs", |out| {
            out.extend_from_slice(&self.head);
            let count_at = out.len();
            put32(out, 0);
            while let Some((delta, entry)) = self.entry(moov) {
                let sample = self.entry_sample.saturating_add(u64::from(delta));
                if sample > end {
                    break;
                }
                // At most `samples`, since no entry before the first sample is left.
                put32(out, u32::try_from(sample.saturating_sub(previous)).unwrap_or(u32::MAX));
                out.extend_from_slice(entry);
                self.entries.start += 4 + entry.len();
                (self.entry_sample, previous) = (sample, sample);
                count += 1;
            }
            out[count_at..count_at + 4].copy_from_slice(&u32::to_be_bytes(count));
        });
        self.passed = end;
        if count == 0 {
            out.truncate(start);
        }
    }

    /// The next entry: distance from the sample of the entry before it, and what follows that field.
    /// All of them were checked, so none ends early in the movie that they were found in.
    fn entry<'m>(&self, moov: &'m [u8]) -> Option<(u32, &'m [u8])> {
        let (delta, rest) = moov.get(self.entries.clone())?.split_first_chunk::<4>()?;
        let count = rest.first_chunk::<2>()?;
        let len = 2 + usize::from(u16::from_be_bytes(*count)) * self.width;
        Some((u32::from_be_bytes(*delta), rest.get(..len)?))
    }
}

/// The highest index of a description in `moov` as seen from a fragment.
pub(super) const LAST_GLOBAL: u32 = 0x1_0000;

/// The most boxes: one for each type and parameter is usual, and each is asked for each fragment.
pub(super) const MOST_BOXES: usize = 1000;
