//! What fragments say of single samples in boxes of their own, joined for new fragments: `sbgp`
//! (ISO/IEC 14496-12, 8.9.2), `sgpd` (8.9.3) and `subs` (8.7.7) of `traf`.

use std::{collections::BTreeMap, ops::Range};

use super::slices::{LAST_GLOBAL, MOST_BOXES, default_of};
use crate::{
    BoxRef, ErrorKind, FourCc, Movie, Result, Track, TrackFragment,
    protection::is_seig,
    source::be32,
    writer::{put_full_box, put16, put32},
};

/// Joins the sample groups and sub-samples of several fragments of a track to boxes for one new
/// fragment: one `sbgp` for each grouping type and parameter, one `subs` for each value of its flags,
/// and one `sgpd` for each grouping type of which the fragments bring descriptions that are in use.
///
/// Descriptions of the fragments get new indices, above 0x10000 (8.9.4); equal ones are written once.
/// A [`SampleInfoSlicer`](super::SampleInfoSlicer) does the same for a progressive track.
#[derive(Clone, Debug, Default)]
pub struct SampleInfoJoiner {
    /// Of grouping types with a default group in `moov`: its index.
    defaults: BTreeMap<FourCc, u32>,
    groups: Vec<JoinedGroups>,
    descriptions: BTreeMap<FourCc, JoinedDescriptions>,
    subsamples: Vec<JoinedSubsamples>,
    /// Samples that are joined.
    samples: u64,
}

/// One `sbgp` of the new fragment.
#[derive(Clone, Debug)]
struct JoinedGroups {
    kind: FourCc,
    parameter: Option<u32>,
    /// Sample count and index; samples that no box speaks of have none.
    runs: Vec<(u64, Option<u32>)>,
    samples: u64,
}

/// One `sgpd` of the new fragment.
#[derive(Clone, Debug, Default)]
struct JoinedDescriptions {
    /// Version 3: who does not know the grouping type must not process the samples.
    is_essential: bool,
    list: Vec<Vec<u8>>,
    /// Index of each description.
    known: BTreeMap<Vec<u8>, u32>,
}

/// One `subs` of the new fragment.
#[derive(Clone, Debug)]
struct JoinedSubsamples {
    flags: u32,
    /// Whether sizes need 32 bits (version 1).
    is_wide: bool,
    /// Samples, counted from 0, whether sizes have 32 bits, and the sub-samples as they are.
    entries: Vec<(u64, bool, Vec<u8>)>,
}

impl SampleInfoJoiner {
    /// For new fragments of this track.
    pub fn new(movie: &Movie, track: &Track) -> Result<Self> {
        let mut this = Self::default();
        for child in movie.stbl(track)?.children() {
            let child = child?;
            if child.kind() == b"sgpd"
                && let Some((kind, index)) = default_of(&child)?
            {
                this.defaults.insert(kind, index);
            }
        }
        Ok(this)
    }

    /// Appends what a track fragment says of some of its samples, which are counted from 0 and exist.
    ///
    /// Groups of type `seig` are left out: they belong to protection. Compact sample groups (`csgp`) are
    /// not supported.
    pub fn push(&mut self, traf: &TrackFragment<'_>, samples: Range<u64>) -> Result<()> {
        let mut locals: BTreeMap<FourCc, Locals<'_>> = BTreeMap::new();
        let mut sbgps = Vec::new();
        for (number, child) in traf.boxed().children().enumerate() {
            let child = child?;
            if number > MOST_BOXES {
                let what = "more than a thousand boxes in a track fragment";
                return Err(child.error(ErrorKind::Unsupported(what)));
            }
            match &child.kind().0 {
                _ if is_seig(&child) => {}
                b"sgpd" => {
                    let (kind, found) = Locals::read(&child)?;
                    if locals.insert(kind, found).is_some() {
                        return Err(child.error(ErrorKind::Duplicate { kind: child.kind() }));
                    }
                }
                b"sbgp" => sbgps.push(child),
                b"subs" => self.take_subsamples(&child, traf.sample_count, &samples)?,
                b"csgp" => {
                    let what = "compact sample groups (`csgp`) in a fragment whose samples become part \
                                of another one";
                    return Err(child.error(ErrorKind::Unsupported(what)));
                }
                _ => {}
            }
        }
        for sbgp in &sbgps {
            self.take_groups(sbgp, &locals, traf.sample_count, &samples)?;
        }
        // A default group of the fragment is the group of all samples that no box speaks of.
        for (&kind, of_kind) in locals.iter().filter(|(_, of_kind)| of_kind.default != 0) {
            let index = self.local(kind, of_kind, of_kind.default - 1);
            let Some(index) = index else { continue };
            if !self.groups.iter().any(|groups| groups.kind == kind) {
                self.groups.push(JoinedGroups::new(kind, None));
            }
            for groups in self.groups.iter_mut().filter(|groups| groups.kind == kind) {
                groups.fill(self.samples, None);
                let more = samples.end - samples.start;
                let left = (self.samples + more).saturating_sub(groups.samples);
                groups.push(left, Some(index));
            }
        }
        self.samples += samples.end - samples.start;
        Ok(())
    }

    fn take_groups(
        &mut self,
        sbgp: &BoxRef<'_>,
        locals: &BTreeMap<FourCc, Locals<'_>>,
        in_fragment: u64,
        samples: &Range<u64>,
    ) -> Result<()> {
        let mut reader = sbgp.reader();
        let (version, _) = reader.version_upto(1)?;
        let kind = FourCc(reader.array("grouping_type")?);
        let parameter =
            if version == 1 { Some(reader.u32("grouping_type_parameter")?) } else { None };
        let count = reader.u32("entry_count")?;
        let records = reader.records(count, 8, "sample groups")?;
        let runs = &sbgp.source.bytes[records.at..][..records.count as usize * 8];
        let found = self.groups.iter().position(|g| g.kind == kind && g.parameter == parameter);
        let at = found.unwrap_or(self.groups.len());
        if found.is_none() {
            if at == MOST_BOXES {
                let what = "more than a thousand kinds of sample groups";
                return Err(sbgp.error(ErrorKind::Unsupported(what)));
            }
            self.groups.push(JoinedGroups::new(kind, parameter));
        }
        if self.groups[at].samples > self.samples {
            return Err(sbgp.error(ErrorKind::Duplicate { kind: sbgp.kind() }));
        }
        self.groups[at].fill(self.samples, None);
        let local = locals.get(&kind);
        let mut first = 0_u64;
        for (number, run) in runs.chunks_exact(8).enumerate() {
            let end = first + u64::from(be32(run, 0));
            let own = first.max(samples.start)..end.min(samples.end);
            first = end;
            if own.is_empty() {
                continue;
            }
            let mut index = be32(run, 4);
            if let Some(own) = index.checked_sub(LAST_GLOBAL + 1) {
                let new = local.and_then(|local| self.local(kind, local, own));
                index = new.ok_or_else(|| {
                    let (what, value) = ("group_description_index", u64::from(index));
                    let at = records.at + number * 8 + 4;
                    sbgp.error_at(at, ErrorKind::InvalidValue { what, value })
                })?;
            }
            // A gap before the samples that are wanted cannot be: runs are side by side.
            self.groups[at].push(own.end - own.start, Some(index));
        }
        if first > in_fragment {
            let what = "samples covered by `sbgp`";
            let kind = ErrorKind::Mismatch { what, expected: in_fragment, found: first };
            return Err(sbgp.error(kind));
        }
        Ok(())
    }

    /// The new index of a description of a fragment, counted from 0 there.
    fn local(&mut self, kind: FourCc, locals: &Locals<'_>, number: u32) -> Option<u32> {
        let description = *locals.entries.get(number as usize)?;
        let joined = self.descriptions.entry(kind).or_default();
        joined.is_essential |= locals.is_essential;
        if let Some(&index) = joined.known.get(description) {
            return Some(index);
        }
        joined.list.push(description.to_vec());
        let index = u32::try_from(joined.list.len()).ok()?.checked_add(LAST_GLOBAL)?;
        joined.known.insert(description.to_vec(), index);
        Some(index)
    }

    fn take_subsamples(
        &mut self,
        subs: &BoxRef<'_>,
        in_fragment: u64,
        samples: &Range<u64>,
    ) -> Result<()> {
        let mut reader = subs.reader();
        let (version, flags) = reader.version_upto(1)?;
        let is_wide = version == 1;
        let count = reader.u32("entry_count")?;
        let mut number = 0_u64;
        for _ in 0..count {
            let delta = reader.u32("sample_delta")?;
            number += u64::from(delta);
            let subsamples = usize::from(reader.u16("subsample_count")?);
            let width = if is_wide { 10 } else { 8 };
            let entry = reader.bytes(subsamples * width, "sub-samples")?;
            if delta == 0 || number > in_fragment {
                let what = "sub-samples of a sample that does not exist";
                return Err(reader.error(ErrorKind::Sample { number, what }));
            }
            let Some(sample) = (number - 1).checked_sub(samples.start) else { continue };
            if number > samples.end {
                continue;
            }
            let sample = self.samples + sample;
            let found = self.subsamples.iter().position(|joined| joined.flags == flags);
            let at = found.unwrap_or(self.subsamples.len());
            if found.is_none() {
                if at == MOST_BOXES {
                    let what = "more than a thousand kinds of sub-samples";
                    return Err(subs.error(ErrorKind::Unsupported(what)));
                }
                self.subsamples.push(JoinedSubsamples { flags, is_wide, entries: Vec::new() });
            }
            let joined = &mut self.subsamples[at];
            joined.is_wide |= is_wide;
            if joined.entries.last().is_some_and(|last| last.0 >= sample) {
                return Err(subs.error(ErrorKind::Duplicate { kind: subs.kind() }));
            }
            joined.entries.push((sample, is_wide, entry.to_vec()));
        }
        Ok(())
    }

    /// The boxes of the new `traf`, whose samples are those that were pushed. Samples that no box speaks
    /// of give nothing.
    pub fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, descriptions) in &self.descriptions {
            descriptions.put(*kind, &mut out);
        }
        for groups in self.groups {
            let default = self.defaults.get(&groups.kind).copied();
            groups.put(default, &mut out);
        }
        for subsamples in &self.subsamples {
            subsamples.put(&mut out);
        }
        out
    }
}

impl JoinedGroups {
    fn new(kind: FourCc, parameter: Option<u32>) -> Self {
        Self { kind, parameter, runs: Vec::new(), samples: 0 }
    }

    fn push(&mut self, samples: u64, index: Option<u32>) {
        match self.runs.last_mut() {
            _ if samples == 0 => {}
            Some((count, last)) if *last == index => *count += samples,
            _ => self.runs.push((samples, index)),
        }
        self.samples += samples;
    }

    /// Up to that sample there is this index.
    fn fill(&mut self, samples: u64, index: Option<u32>) {
        self.push(samples.saturating_sub(self.samples), index);
    }

    fn put(self, default: Option<u32>, out: &mut Vec<u8>) {
        let Self { kind, parameter, mut runs, .. } = self;
        runs.pop_if(|(_, index)| index.is_none());
        let is_member = runs.iter().any(|(_, index)| index.is_some_and(|index| index != 0));
        if runs.is_empty() || !(is_member || default.is_some()) {
            return;
        }
        // What no box speaks of is in the default group; in front of other samples that has to be said.
        let mut said = Self::new(kind, parameter);
        for (samples, index) in runs {
            said.push(samples, Some(index.or(default).unwrap_or(0)));
        }
        put_full_box(out, *b"sbgp", u8::from(parameter.is_some()), 0, |out| {
            out.extend_from_slice(&kind.0);
            if let Some(parameter) = parameter {
                put32(out, parameter);
            }
            put32(out, narrow(said.runs.len() as u64));
            for (samples, index) in said.runs {
                put32(out, narrow(samples));
                put32(out, index.unwrap_or(0));
            }
        });
    }
}

impl JoinedDescriptions {
    fn put(&self, kind: FourCc, out: &mut Vec<u8>) {
        let Some(first) = self.list.first() else { return };
        let is_fixed =
            !first.is_empty() && self.list.iter().all(|entry| entry.len() == first.len());
        let version = if self.is_essential { 3 } else { 1 };
        put_full_box(out, *b"sgpd", version, 0, |out| {
            out.extend_from_slice(&kind.0);
            put32(out, if is_fixed { narrow(first.len() as u64) } else { 0 });
            if self.is_essential {
                put32(out, 0);
            }
            put32(out, narrow(self.list.len() as u64));
            for entry in &self.list {
                if !is_fixed {
                    put32(out, narrow(entry.len() as u64));
                }
                out.extend_from_slice(entry);
            }
        });
    }
}

impl JoinedSubsamples {
    fn put(&self, out: &mut Vec<u8>) {
        put_full_box(out, *b"subs", u8::from(self.is_wide), self.flags, |out| {
            put32(out, narrow(self.entries.len() as u64));
            let mut behind = 0;
            for (sample, is_wide, entry) in &self.entries {
                put32(out, narrow(sample + 1 - behind));
                behind = sample + 1;
                let width = if *is_wide { 10 } else { 8 };
                put16(out, u16::try_from(entry.len() / width).unwrap_or(u16::MAX));
                for one in entry.chunks_exact(width) {
                    if self.is_wide && !is_wide {
                        put16(out, 0);
                    }
                    out.extend_from_slice(one);
                }
            }
        });
    }
}

/// The descriptions in a fragment, of one grouping type.
#[derive(Default)]
struct Locals<'a> {
    is_essential: bool,
    /// Index of the default group, from 1; 0 is none.
    default: u32,
    entries: Vec<&'a [u8]>,
}

impl<'a> Locals<'a> {
    fn read(sgpd: &BoxRef<'a>) -> Result<(FourCc, Self)> {
        let mut reader = sgpd.reader();
        let (version, _) = reader.version_upto(3)?;
        let kind = FourCc(reader.array("grouping_type")?);
        let mut fixed = if version >= 1 { reader.u32("default_length")? as usize } else { 0 };
        let default =
            if version >= 2 { reader.u32("default_group_description_index")? } else { 0 };
        let count = reader.u32("entry_count")? as usize;
        if count == 0 {
            return Ok((kind, Self::default()));
        }
        let has_lengths = version >= 1 && fixed == 0;
        if version == 0 {
            // Lengths follow from the grouping type; all that are known have one for all entries.
            if !reader.left().is_multiple_of(count) {
                let what = "a group description box of version 0 with entries of several lengths";
                return Err(sgpd.error(ErrorKind::Unsupported(what)));
            }
            fixed = reader.left() / count;
        }
        let width = if has_lengths { 4 } else { fixed };
        if width == 0 || count > reader.left() / width {
            let (count, width, available) = (count as u64, width as u64, reader.left() as u64);
            let what = "group descriptions";
            return Err(sgpd.error(ErrorKind::Count { what, count, width, available }));
        }
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            let len = if has_lengths { reader.u32("description_length")? as usize } else { fixed };
            entries.push(reader.bytes(len, "group description")?);
        }
        if default as usize > count {
            let (what, value) = ("default_group_description_index", u64::from(default));
            return Err(sgpd.error(ErrorKind::InvalidValue { what, value }));
        }
        Ok((kind, Self { is_essential: version == 3, default, entries }))
    }
}

/// A number of samples or bytes of a fragment, which a `trun` or a box size has counted in 32 bits.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
