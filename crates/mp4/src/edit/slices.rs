//! What `stbl` says of single samples in boxes of its own, cut into the pieces for new fragments:
//! `sbgp` (ISO/IEC 14496-12, 8.9.2) and `subs` (8.7.7).

use crate::{
    BoxRef, ErrorKind, Movie, Result, Track,
    protection::is_seig,
    source::{be16, be32},
    writer::{put_box, put32},
};

/// Cuts the sample groups and sub-samples of a progressive track into boxes for its fragments.
///
/// It reads the tables once, from the first sample to the last, and keeps no more than its place
/// in each. A track without such boxes costs nothing.
#[derive(Clone, Debug)]
pub struct SampleInfoSlicer<'a> {
    groups: Vec<Groups<'a>>,
    subsamples: Vec<SubsampleTable<'a>>,
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
        let mut this = Self { groups: Vec::new(), subsamples: Vec::new() };
        let mut defaults = Vec::new();
        for child in stbl.children() {
            let child = child?;
            if this.groups.len() + this.subsamples.len() + defaults.len() > MOST_BOXES {
                let what = "more than a thousand boxes of sample groups and sub-samples";
                return Err(child.error(ErrorKind::Unsupported(what)));
            }
            match &child.kind().0 {
                b"sbgp" if !is_seig(&child) => {
                    this.groups.push(Groups::new(&child, samples)?);
                }
                b"sgpd" => defaults.extend(default_of(&child)?),
                b"subs" => this.subsamples.push(SubsampleTable::new(&child, samples)?),
                b"csgp" => {
                    let what = "compact sample groups (`csgp`) in a file that becomes fragmented; \
                                it can be protected as a progressive file";
                    return Err(child.error(ErrorKind::Unsupported(what)));
                }
                _ => {}
            }
        }
        for groups in &mut this.groups {
            groups.has_default = defaults.contains(&groups.kind);
        }
        Ok(this)
    }

    /// Appends the boxes for the next `samples` samples of the track: `sbgp` and `subs` of a
    /// `traf`. Samples that no box speaks of give nothing.
    pub fn slice(&mut self, samples: u32, out: &mut Vec<u8>) {
        for groups in &mut self.groups {
            groups.slice(samples, out);
        }
        for subsamples in &mut self.subsamples {
            subsamples.slice(samples, out);
        }
    }
}

/// One `sbgp`.
#[derive(Clone, Debug)]
struct Groups<'a> {
    /// Version, flags, grouping type and its parameter.
    head: &'a [u8],
    /// Grouping type.
    kind: u32,
    /// Runs that are not begun: pairs of sample count and group index.
    runs: &'a [u8],
    /// What is left of the run that is begun.
    left: u32,
    index: u32,
    /// Samples that are said to be in no group would otherwise be in the default group.
    has_default: bool,
}

impl<'a> Groups<'a> {
    fn new(sbgp: &BoxRef<'a>, samples: u64) -> Result<Self> {
        let mut reader = sbgp.reader();
        let (version, _) = reader.version_upto(1)?;
        let kind = reader.u32("grouping_type")?;
        if version == 1 {
            reader.u32("grouping_type_parameter")?;
        }
        let head = reader.position() - sbgp.payload_range().start;
        let count = reader.u32("entry_count")?;
        let records = reader.records(count, 8, "sample groups")?;
        let len = records.count as usize * 8;
        let runs = &sbgp.source.bytes[records.at..records.at + len];
        let mut found = 0_u64;
        for (number, run) in runs.chunks_exact(8).enumerate() {
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
        let head = &sbgp.payload()[..head];
        Ok(Self { head, kind, runs, left: 0, index: 0, has_default: false })
    }

    fn slice(&mut self, samples: u32, out: &mut Vec<u8>) {
        let start = out.len();
        let (mut left, mut count, mut member) = (samples, 0, false);
        put_box(out, *b"sbgp", |out| {
            out.extend_from_slice(self.head);
            let count_at = out.len();
            put32(out, 0);
            while left > 0 && self.enter_run() {
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
    fn enter_run(&mut self) -> bool {
        while self.left == 0 {
            let Some((run, rest)) = self.runs.split_first_chunk::<8>() else { return false };
            (self.left, self.index) = (be32(run, 0), be32(run, 4));
            self.runs = rest;
        }
        true
    }
}

/// The grouping type of an `sgpd` that has a default group, for samples that no `sbgp` covers.
fn default_of(sgpd: &BoxRef<'_>) -> Result<Option<u32>> {
    let mut reader = sgpd.reader();
    let (version, _) = reader.version_flags()?;
    let kind = reader.u32("grouping_type")?;
    if version < 2 {
        return Ok(None);
    }
    reader.u32("default_length")?;
    Ok(Some(kind).filter(|_| reader.u32("default_group_description_index").is_ok_and(|at| at != 0)))
}

/// One `subs`.
#[derive(Clone, Debug)]
struct SubsampleTable<'a> {
    /// Version and flags.
    head: [u8; 4],
    /// Entries that are not taken.
    entries: &'a [u8],
    /// Bytes of one sub-sample in an entry.
    width: usize,
    /// Sample that the last entry taken is about, from 1.
    entry_sample: u64,
    /// Samples that are behind.
    passed: u64,
}

impl<'a> SubsampleTable<'a> {
    fn new(subs: &BoxRef<'a>, samples: u64) -> Result<Self> {
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
        let entries = &subs.source.bytes[start..reader.position()];
        Ok(Self { head, entries, width, entry_sample: 0, passed: 0 })
    }

    fn slice(&mut self, samples: u32, out: &mut Vec<u8>) {
        let start = out.len();
        let end = self.passed + u64::from(samples);
        let (mut count, mut previous) = (0, self.passed);
        put_box(out, *b"subs", |out| {
            out.extend_from_slice(&self.head);
            let count_at = out.len();
            put32(out, 0);
            while !self.entries.is_empty() {
                let sample = self.entry_sample + u64::from(be32(self.entries, 0));
                if sample > end {
                    break;
                }
                // At most `samples`, since no entry before the first sample is left.
                put32(out, u32::try_from(sample - previous).unwrap_or(u32::MAX));
                let len = 6 + usize::from(be16(self.entries, 4)) * self.width;
                let (entry, rest) = self.entries.split_at(len);
                out.extend_from_slice(&entry[4..]);
                self.entries = rest;
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
}

/// The highest index of a description in `moov` as seen from a fragment.
const LAST_GLOBAL: u32 = 0x1_0000;

/// The most boxes: one for each type and parameter is usual, and each is asked for each fragment.
const MOST_BOXES: usize = 1000;
